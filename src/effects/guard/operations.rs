//! Operations in progress in other working trees, such as a rebase: what git notes of one is kept where it is gone, and so are the
//! commits that only this led to, an autostash above all. It is not put back: a person may have ended the operation, and would be
//! told that it still goes on.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::refs;
use super::way::Way;
use crate::effects::files;
use crate::effects::mirror::Tree;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::exact;

/// What says that an operation is in progress.
const STATES: [&str; 8] = [
    "BISECT_LOG",
    "CHERRY_PICK_HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "REVERT_HEAD",
    "rebase-apply",
    "rebase-merge",
    "sequencer",
];
/// How the names of what else git notes of one begin.
const BESIDE: [&str; 2] = ["BISECT_", "MERGE_"];
/// Where commits are named to which nothing else may lead, no reflog either.
const COMMITS: [&str; 8] = [
    "BISECT_HEAD",
    "CHERRY_PICK_HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "REBASE_HEAD",
    "REVERT_HEAD",
    "rebase-apply/autostash",
    "rebase-merge/autostash",
];
/// The most bytes of a list of commits.
const LIST: u64 = 64 << 10;

/// Keeps what is gone of operations in one of these trees; says what, but for what goes to the quarantine.
pub fn keep(tree: &Tree, way: &mut Way<'_>) -> Result<Vec<String>> {
    keep_files(tree, way)?;
    let mut notes = Vec::new();
    for path in COMMITS {
        let (was, is) = (
            commits(way.repo, &tree.copy, path)?,
            commits(way.repo, &tree.live, path)?,
        );
        let gone = was.iter().filter(|commit| !is.contains(commit));
        for (index, commit) in gone.enumerate() {
            if !refs::is_lost(way.repo, commit, None)? {
                continue;
            }
            let end = match index {
                0 => String::new(),
                index => format!("-{}", index + 1),
            };
            let name = format!("refs/operations/{}/{path}{end}", tree.name);
            let kept = way.whose.kept_as(&name);
            refs::write(way, &kept, commit)?;
            notes.push(format!(
                "{}: {path} is gone; the commit that only it led to is {}",
                tree.shown,
                exact::shown(&kept)
            ));
        }
    }
    Ok(notes)
}

/// Copies what git noted of an operation that is in progress no more to the quarantine.
fn keep_files(tree: &Tree, way: &mut Way<'_>) -> Result<()> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let is_gone =
        |name: &OsStr| is_there(&tree.copy.join(name)) && !is_there(&tree.live.join(name));
    if !STATES.iter().any(|name| is_gone(OsStr::new(name))) {
        return Ok(());
    }
    let failed = |cause| Error::io("list", &tree.copy, cause);
    for entry in fs::read_dir(&tree.copy).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if is_of_operation(&name) && is_gone(&name) {
            let shown = tree.path.join(&name);
            way.quarantine.keep_copy(&tree.copy.join(&name), &shown)?;
        }
    }
    Ok(())
}

fn is_of_operation(name: &OsStr) -> bool {
    let begins = |begin: &&str| name.as_bytes().starts_with(begin.as_bytes());
    STATES.iter().any(|one| name == *one) || BESIDE.iter().any(begins)
}

/// Returns the commits that a file names, one a line, as far as they are there.
fn commits(repo: &Repo, git_dir: &Path, path: &str) -> Result<Vec<String>> {
    let text = files::read_text(&git_dir.join(path), LIST).unwrap_or_default();
    let mut commits = Vec::new();
    for line in text.lines() {
        if repo.find_commit(line.trim())? {
            commits.push(line.trim().to_owned());
        }
    }
    Ok(commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_notes_of_an_operation_is_told_from_all_else() {
        for (name, expected) in [
            ("rebase-merge", true),
            ("MERGE_AUTOSTASH", true),
            ("MERGE_MSG", true),
            ("BISECT_NAMES", true),
            ("CHERRY_PICK_HEAD", true),
            ("ORIG_HEAD", false),
            ("index", false),
            ("HEAD", false),
        ] {
            assert_eq!(is_of_operation(OsStr::new(name)), expected, "{name}");
        }
    }
}
