//! What programs beside git keep in a git directory (`annex`, `svn`, `rr-cache`), and whatever else nobody looks after by its name: what
//! an agent removed of it is there again, as it may be somebody's only copy. What was changed there stays as it is, unless it is of
//! another kind now.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{ErrorKind, Result as IoResult};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::MirroredDir;
use super::lend::lend_file;
use crate::effects::modes;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::text;

/// What is looked after elsewhere.
const ELSEWHERE: [&str; 17] = [
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "evolve",
    "gitdir",
    "hooks",
    "info",
    "lfs",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "refs",
    "reftable",
    "locked",
    "worktrees",
];
/// What git, or `evolve`, removes when it is done with it: put back, it would stand for something that is over.
const PASSING: [&str; 13] = [
    "ADD_EDIT.patch",
    "EDIT_DESCRIPTION",
    "GITGUI_EDITMSG",
    "GITGUI_MSG",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "addp-hunk-edit.diff",
    "gc.log",
    "gc.pid",
    "rebase-apply",
    "rebase-merge",
    "sequencer",
    "shallow",
];
/// How the names of such things begin, of parts of an index, and of what git's watcher of files has.
const PASSING_BEGIN: [&str; 11] = [
    "AUTO_MERGE",
    "BISECT_",
    "CHERRY_PICK_HEAD",
    "MERGE_",
    "NOTES_",
    "REBASE_HEAD",
    "REVERT_HEAD",
    "evolve-",
    "fsmonitor",
    "index",
    "sharedindex.",
];
/// How many things are named that were put back.
const NAMED: usize = 5;

/// Puts back what was removed; returns what that was, for people.
pub fn give_back(place: &MirroredDir, quarantine: &mut Quarantine) -> Result<Option<String>> {
    let mut lent: Vec<(String, usize)> = Vec::new();
    let failed = |cause| Error::io("look at", &place.copy, cause);
    let entries = match fs::read_dir(&place.copy) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        if !is_left(&name) {
            let count = lend(place, Path::new(&name), quarantine)?;
            if count > 0 {
                lent.push((place.shown(Path::new(&name)), count));
            }
        }
    }
    lent.sort();
    let named: Vec<String> = lent
        .into_iter()
        .map(|(shown, count)| match count {
            1 => shown,
            count => format!("{shown} ({})", text::count(count, "file")),
        })
        .collect();
    Ok((!named.is_empty()).then(|| text::some_of(&named, NAMED)))
}

/// Says whether something of a git directory is left alone here.
fn is_left(name: &OsStr) -> bool {
    let is_one = |names: &[&str]| names.iter().any(|one| name == *one);
    let begins = |begin: &&str| name.as_bytes().starts_with(begin.as_bytes());
    is_one(&ELSEWHERE) || is_one(&PASSING) || PASSING_BEGIN.iter().any(begins)
}

/// Puts back what is missing at a path; returns how many files that were.
fn lend(place: &MirroredDir, path: &Path, quarantine: &mut Quarantine) -> Result<usize> {
    let (from, to) = (place.copy.join(path), place.live.join(path));
    let failed = |cause| Error::io("restore", &to, cause);
    let Ok(kept) = fs::symlink_metadata(&from) else {
        return Ok(0);
    };
    let there = fs::symlink_metadata(&to).ok();
    if !kept.is_dir() {
        match &there {
            Some(there) if is_same_kind(&kept, there) => return Ok(0),
            Some(_) => move_away(place, path, quarantine)?,
            None => {}
        }
        open_above(&to);
        let put_back = match kept.is_symlink() {
            true => fs::read_link(&from).and_then(|target| symlink(target, &to)),
            false => lend_file(&from, &to),
        };
        return put_back.map(|()| 1).map_err(failed);
    }
    if there.as_ref().is_some_and(|there| !there.is_dir()) {
        // Through a link it would come to lie elsewhere.
        move_away(place, path, quarantine)?;
    }
    if !there.as_ref().is_some_and(Metadata::is_dir) {
        open_above(&to);
        fs::create_dir_all(&to).map_err(failed)?;
    }
    let names = fs::read_dir(&from)
        .and_then(|entries| {
            let names = entries.map(|entry| Ok(entry?.file_name()));
            names.collect::<IoResult<Vec<_>>>()
        })
        .map_err(failed)?;
    let below = names.iter().map(|name| path.join(name));
    below
        .collect::<Vec<PathBuf>>()
        .iter()
        .map(|path| lend(place, path, quarantine))
        .sum()
}

/// Says whether both are files or both are links: what somebody changed there stays, but what a link in the place of a file leads to is
/// another's.
fn is_same_kind(one: &Metadata, other: &Metadata) -> bool {
    (one.is_file(), one.is_symlink()) == (other.is_file(), other.is_symlink())
}

fn move_away(place: &MirroredDir, path: &Path, quarantine: &mut Quarantine) -> Result<()> {
    quarantine.take_from(&place.live, path, Path::new(&place.shown(path)))
}

/// Opens a folder to its owner in which something is put back: git-annex shuts those of its contents.
fn open_above(path: &Path) {
    if let Some(folder) = path.parent() {
        modes::open_folder(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_is_done_with_and_what_others_look_after_is_left_alone() {
        for (name, is_left_alone) in [
            ("annex", false),
            ("svn", false),
            ("rr-cache", false),
            ("ORIG_HEAD", false),
            ("description", false),
            ("objects", true),
            ("MERGE_HEAD", true),
            ("BISECT_LOG", true),
            ("index", true),
            ("index.stash.7", true),
            ("sharedindex.ab", true),
            ("shallow", true),
            ("gc.log", true),
            ("TAG_EDITMSG", true),
            ("evolve-index", true),
        ] {
            assert_eq!(is_left(OsStr::new(name)), is_left_alone, "{name}");
        }
    }
}
