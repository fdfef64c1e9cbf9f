//! Folders that hold nothing but plain files, of which only that matters. What an entry of a folder is cannot change without a
//! change of the folder's own state, the time of which (`ctime`) nobody can set: as long as that is what it was nothing else can
//! have come.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io::Result as IoResult;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::OPENED;
use crate::effects::files::{self, Moment};

/// How old a change has to be so that no later one can bear the same time.
const SETTLED: Duration = Duration::from_secs(2);

/// The most folders that are remembered; all others are looked into each time.
const REMEMBERED: usize = 100_000;

/// A name in a folder and what stands there.
pub type Entry = (OsString, FileType);

/// What tells a folder from another: device and inode.
type Place = (u64, u64);

/// What tells a folder from another, and from what it was: the time of its last change of state.
type Stamp = (Place, Moment);

/// The folders that were found to hold nothing else, with the time of their last change then.
#[derive(Debug, Default)]
pub struct Plain(Mutex<HashMap<Place, Moment>>);

impl Plain {
    /// Returns what is in a folder but for plain files of which nothing else counts; a folder that is known to hold no more than
    /// such, and that nobody changed since, is not looked into.
    pub fn others_in(&self, folder: &Path) -> Vec<Entry> {
        // Of before it is looked into.
        let stamp = stamp(folder);
        if self.has(stamp) {
            return Vec::new();
        }
        let others = entries(folder).filter(|entry| !entry.as_ref().is_some_and(is_any_file));
        let others: Vec<_> = others.collect();
        self.note(stamp.filter(|_| others.is_empty()));
        others.into_iter().flatten().collect()
    }

    /// Says whether a folder was found to be one of them and nobody changed it since.
    fn has(&self, stamp: Option<Stamp>) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stamp.is_some_and(|(place, changed)| known.get(&place) == Some(&changed))
    }

    /// Notes that a folder is one of them.
    fn note(&self, stamp: Option<Stamp>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((place, changed)) = stamp.filter(|_| known.len() < REMEMBERED) {
            known.insert(place, changed);
        }
    }
}

/// Returns what tells a folder from what it is later; none where its last change may have the time of a later one.
fn stamp(folder: &Path) -> Option<Stamp> {
    let meta = fs::symlink_metadata(folder).ok()?;
    let changed = (meta.ctime(), meta.ctime_nsec());
    let is_settled = meta.is_dir() && files::is_settled(changed, SETTLED);
    is_settled.then_some(((meta.dev(), meta.ino()), changed))
}

/// Returns the names in a folder with their kinds; none for what cannot be told, be that the whole folder.
pub fn entries(folder: &Path) -> impl Iterator<Item = Option<Entry>> {
    let known = |entry: IoResult<DirEntry>| {
        let entry = entry.ok()?;
        Some((entry.file_name(), entry.file_type().ok()?))
    };
    let listed = fs::read_dir(folder);
    let is_unknown = listed.is_err().then_some(None);
    is_unknown
        .into_iter()
        .chain(listed.into_iter().flatten().map(known))
}

/// Says whether something is a plain file, of which nothing else counts wherever it lies: not its size, nor what it leads to.
fn is_any_file((name, kind): &Entry) -> bool {
    kind.is_file() && name != ".git" && !is_opened(name)
}

/// Says whether git opens a file of this name by itself.
pub fn is_opened(name: &OsStr) -> bool {
    OPENED.iter().any(|opened| name == *opened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_that_was_just_changed_is_looked_into_again() {
        let folder = tempfile::tempdir().unwrap();
        let plain = Plain::default();
        plain.note(stamp(folder.path()));
        assert!(!plain.has(stamp(folder.path())));
    }

    #[test]
    fn a_folder_is_known_as_long_as_nobody_changed_it() {
        let old = Path::new("/");
        let plain = Plain::default();
        let known = stamp(old);
        assert!(known.is_some() && !plain.has(known));
        plain.note(known);
        assert!(plain.has(known));
        let ((device, inode), (seconds, nanos)) = known.unwrap();
        for other in [
            ((device + 1, inode), (seconds, nanos)),
            ((device, inode + 1), (seconds, nanos)),
            ((device, inode), (seconds + 1, nanos)),
            ((device, inode), (seconds, nanos + 1)),
        ] {
            assert!(!plain.has(Some(other)));
        }
    }

    #[test]
    fn what_git_opens_and_what_leads_elsewhere_is_looked_at_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let names = [
            "a",
            ".git",
            ".gitignore",
            ".gitattributes",
            ".gitmodules",
            ".mailmap",
        ];
        for name in names {
            fs::write(root.join(name), "").unwrap();
        }
        fs::create_dir(root.join("folder")).unwrap();
        symlink("a", root.join("link")).unwrap();
        let found = entries(root).flatten();
        let plain = found.filter(is_any_file);
        let plain: Vec<_> = plain.map(|(name, _)| name).collect();
        assert_eq!(plain, ["a"]);
        let none = root.join("none");
        assert!(entries(&none).all(|entry| entry.is_none()));
        assert_eq!(entries(&none).count(), 1);
    }
}
