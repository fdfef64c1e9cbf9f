//! The git directory of a slot: a few small files, written by hand so that nothing in it is somebody else's.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Base, remove_all, take_over};
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::git::config;
use crate::model::slot;

/// What only leads astray in a slot: hooks, settings beside the one file, refs and files that stand for other objects, notes
/// of movements.
const UNWANTED: [&str; 7] = [
    "hooks",
    "config.worktree",
    "refs/replace",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/http-alternates",
    "logs",
];

/// Makes a git directory with its refs, on a branch.
pub fn write_git_dir(git_dir: &Path, user: &Repo, base: Base<'_>) -> Result<()> {
    write_refs(git_dir, base)?;
    let mut refs = String::new();
    for (name, id) in user.copied_refs()? {
        if name != base.branch {
            let _ = writeln!(refs, "{id} {name}");
        }
    }
    write(git_dir, "packed-refs", refs.as_bytes())
}

/// Makes a git directory that has one branch, on a commit.
pub fn write_refs(git_dir: &Path, base: Base<'_>) -> Result<()> {
    let Base { branch, commit } = base;
    for folder in ["objects/info", "objects/pack", "refs/heads", "info"] {
        create(&git_dir.join(folder))?;
    }
    write(git_dir, "HEAD", format!("ref: {branch}\n").as_bytes())?;
    if let Some(folder) = git_dir.join(branch).parent() {
        create(folder)?;
    }
    write(git_dir, branch, format!("{commit}\n").as_bytes())
}

/// Writes what decides how git reads and runs things in a slot.
pub fn write_settings(git_dir: &Path, user: &Repo, lent: &[String]) -> Result<()> {
    for name in UNWANTED {
        remove_all(&git_dir.join(name))?;
    }
    for folder in ["objects/info", "info"] {
        create(&git_dir.join(folder))?;
    }
    let objects = user.common_path("objects");
    let objects = objects
        .canonicalize()
        .map_err(|cause| Error::io("open", &objects, cause))?;
    let objects = objects.as_os_str().as_bytes();
    if objects.contains(&b'\n') || objects.starts_with(b"\"") {
        return Err(Error::unsafe_repo(
            "the repository's path has a line break in it, so no copy of it can be made",
        )
        .hint("move the repository, or run without --isolate and `measure: clean`"));
    }
    write(
        git_dir,
        "objects/info/alternates",
        &[objects, b"\n"].concat(),
    )?;
    write(git_dir, "config", config(user)?.as_bytes())?;
    for name in ["info/exclude", "info/attributes", "shallow"] {
        remove_all(&git_dir.join(name))?;
        take_over(&user.common_path(name), &git_dir.join(name))?;
    }
    let lent: String = lent
        .iter()
        .map(|path| format!("{}\n", slot::pattern(path)))
        .collect();
    let exclude = git_dir.join("info/exclude");
    let file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&exclude);
    file.and_then(|mut file| file.write_all(lent.as_bytes()))
        .map_err(|cause| Error::io("write", &exclude, cause))
}

/// An index in two parts libgit2 does not read, whatever the user's own settings ask for.
fn config(user: &Repo) -> Result<String> {
    let mut text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n\tsplitIndex = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n".to_owned();
    text.push_str(&config::written(&user.copied_settings()?));
    Ok(text)
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))
}

/// Writes a file anew: what stood there may be a name of another file, too.
fn write(git_dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = git_dir.join(name);
    remove_all(&path)?;
    fs::write(&path, bytes).map_err(|cause| Error::io("write", &path, cause))
}
