//! What an agent left in its slot becomes an attempt: its parent's tree with the editable files as they are now. Nothing
//! else that it changed is in it, and of the slot's `.git` nothing is asked but what the agent called its last commit.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;

use crate::effects::files::{self, is_within};
use crate::effects::pipes;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Entry, Repo};
use crate::effects::slot::{Base, Slot, lfs};
use crate::effects::workspace::is_outside;
use crate::error::{Error, Result};
use crate::model::search::editable::Editable;

/// The most bytes of a file that becomes part of an attempt.
const LARGEST: u64 = 64 << 20;

/// What was found in a slot after an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The tree of the attempt.
    pub tree: String,
    /// The editable files that differ from the parent's.
    pub changed: Vec<String>,
    /// What else was changed; it is in no attempt.
    pub left_out: Vec<String>,
    /// The subject of the agent's own last commit, if it made one.
    pub subject: Option<String>,
}

/// Takes over what an agent left in a slot that was put on `base`.
pub fn take_over(user: &Repo, slot: &Slot, base: Base<'_>, editable: &Editable) -> Result<Found> {
    slot.open_folders();
    let subject = own_subject(user, slot);
    // Git would wait for who writes to a pipe.
    let mut quarantine = Quarantine::of(&user.private, "search", 0);
    pipes::clear(&slot.root, &user.plain, &mut |_| {}, &mut quarantine)?;
    let (repo, touched) = stock(user, slot, base)?;
    let modules = repo.tracked_folders()?.modules;
    let mut changed = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    for path in touched {
        let is_module = modules.contains(&path);
        if slot.is_lent_below(user, &path) || is_module {
            continue;
        }
        match editable.has(&String::from_utf8_lossy(&path)) {
            true => changed.push(path),
            false => left_out.push(shown(&path)),
        }
    }
    let changed_modules = slot.changed_modules(&modules)?;
    left_out.extend(
        changed_modules
            .iter()
            .map(|path| format!("{}/", shown(path))),
    );
    let mut entries = Vec::new();
    for (path, entry) in hashed(&repo, changed)? {
        match entry {
            Version::File(entry) => {
                let bytes = repo.blob(&entry.id)?;
                user.store(&bytes)?;
                entries.push((path, Some(entry)));
            }
            // What stands for it there is in no commit, such as what an agent left in its copy.
            Version::Link(target) if is_outside(&path, &target) => left_out.push(shown(&path)),
            Version::Link(target) => {
                let id = user.store(&target)?;
                let mode = 0o120_000;
                entries.push((path, Some(Entry { id, mode })));
            }
            Version::Gone => entries.push((path, None)),
            Version::Other => left_out.push(shown(&path)),
        }
    }
    lfs::take_over(user, &repo)?;
    left_out.extend(displacing(&mut entries, &left_out, &modules));
    let parent = user.tree_of(base.commit)?;
    let changed = entries.iter().map(|(path, _)| shown(path)).collect();
    let tree = match entries.is_empty() {
        true => parent,
        false => user.with_changes(&parent, &entries)?,
    };
    Ok(Found {
        tree,
        changed,
        left_out,
        subject,
    })
}

/// Returns the subject of the commit that an agent left its slot on; none where that is one of the user's, or of an attempt.
fn own_subject(user: &Repo, slot: &Slot) -> Option<String> {
    let repo = slot.reclaim(user).ok()??;
    let tip = repo.head().ok()?.commit?;
    let is_own = !user.has_object(&tip);
    repo.subject(&tip).ok().filter(|_| is_own)
}

/// Takes away what stands where something is that stays in an attempt: a file where a folder with files of these is, or a folder
/// where such a file is. Returns the paths.
fn displacing(
    entries: &mut Vec<(Vec<u8>, Option<Entry>)>,
    stays: &[String],
    modules: &[Vec<u8>],
) -> Vec<String> {
    let stays: Vec<&[u8]> = stays
        .iter()
        .map(|path| path.trim_end_matches('/').as_bytes())
        .chain(modules.iter().map(Vec::as_slice))
        .collect();
    let displaces = |(path, entry): &mut (Vec<u8>, Option<Entry>)| {
        let mut stays = stays.iter();
        entry.is_some() && stays.any(|other| is_within(path, other) || is_within(other, path))
    };
    let gone = entries.extract_if(.., displaces);
    gone.map(|(path, _)| shown(&path)).collect()
}

/// Opens the slot's repository, and lists the paths that differ from the commit. What is kept of the slot beside it may be
/// broken: then all files are looked into.
fn stock(user: &Repo, slot: &Slot, base: Base<'_>) -> Result<(Repo, BTreeSet<Vec<u8>>)> {
    let listed = |repo: Repo| touched(&repo).map(|touched| (repo, touched));
    let first = slot.with_git_dir_anew(user, base);
    first
        .and_then(listed)
        .or_else(|cause| match cause.is_halt() {
            true => Err(cause),
            false => slot.remake_git_dir(user, base).and_then(listed),
        })
}

/// What stands at a path now.
enum Version {
    File(Entry),
    Link(Vec<u8>),
    Gone,
    /// A folder, a pipe, or too large a file.
    Other,
}

/// Lists the paths that differ from the commit, without those that git ignores.
fn touched(repo: &Repo) -> Result<BTreeSet<Vec<u8>>> {
    let listed = repo.git.run(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
    ])?;
    let entries = listed.split(|byte| *byte == 0);
    let paths = entries.filter_map(|entry| entry.get(3..));
    Ok(paths.map(<[u8]>::to_vec).collect())
}

/// Finds out what stands at each path; files are stored in the slot's repository as git would commit them.
fn hashed(repo: &Repo, paths: Vec<Vec<u8>>) -> Result<Vec<(Vec<u8>, Version)>> {
    let mut found = Vec::new();
    let mut plain = Vec::new();
    for path in paths {
        let place = repo.root.join(OsStr::from_bytes(&path));
        let version = match fs::symlink_metadata(&place) {
            Err(_) => Version::Gone,
            // Behind a link, or where a folder is no folder any more, is nothing that git knows.
            Ok(_) if !files::is_beneath(&repo.root, &path) => Version::Gone,
            Ok(meta) if meta.is_symlink() => fs::read_link(&place)
                .map_or(Version::Gone, |target| {
                    Version::Link(target.into_os_string().into_vec())
                }),
            Ok(meta) if meta.is_file() && meta.len() <= LARGEST => {
                let mode = if mode_of(&meta) & 0o100 == 0 {
                    0o100_644
                } else {
                    0o100_755
                };
                if mode_of(&meta) & 0o400 == 0 {
                    // Where that is denied, too, git says so.
                    let readable = fs::Permissions::from_mode(mode_of(&meta) | 0o400);
                    let _ = fs::set_permissions(&place, readable);
                }
                plain.push((path, mode));
                continue;
            }
            // Git names another repository in the tree with a slash at its end, and else only files.
            Ok(meta) if meta.is_dir() && !path.ends_with(b"/") => Version::Gone,
            Ok(_) => Version::Other,
        };
        found.push((path, version));
    }
    // Its input is a path a line.
    let (lines, odd): (Vec<_>, Vec<_>) = plain.into_iter().partition(|(path, _)| is_plain(path));
    let input: Vec<u8> = lines
        .iter()
        .flat_map(|(path, _)| [path, &b"\n"[..]].concat())
        .collect();
    let ids = match lines.is_empty() {
        true => Vec::new(),
        false => repo
            .git
            .run_with(&["hash-object", "-w", "--stdin-paths"], &input)?,
    };
    let ids = String::from_utf8_lossy(&ids).into_owned();
    let ids: Vec<&str> = ids.lines().collect();
    if ids.len() != lines.len() {
        return Err(Error::internal("git stored not all files of an attempt"));
    }
    let with_id = |((path, mode), id): ((Vec<u8>, u32), &str)| {
        let id = id.to_owned();
        (path, Version::File(Entry { id, mode }))
    };
    found.extend(lines.into_iter().zip(ids).map(with_id));
    for (path, mode) in odd {
        let words = [
            OsStr::new("hash-object"),
            OsStr::new("-w"),
            OsStr::new("--"),
            OsStr::from_bytes(&path),
        ];
        let id = String::from_utf8_lossy(&repo.git.run(&words)?)
            .trim()
            .to_owned();
        found.push((path, Version::File(Entry { id, mode })));
    }
    Ok(found)
}

fn mode_of(meta: &fs::Metadata) -> u32 {
    meta.permissions().mode()
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Says whether a path can stand on a line of git's input as it is.
fn is_plain(path: &[u8]) -> bool {
    !path.contains(&b'\n') && !path.starts_with(b"\"") && !path.ends_with(b"\r")
}
