//! Folders that hold nothing but plain files, of which only that matters. What an entry of a folder is cannot change without a change of
//! the folder's own state, the time of which (`ctime`) nobody can set: as long as that is what it was nothing else can have come.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How old a change has to be so that no later one can bear the same time.
const SETTLED: Duration = Duration::from_secs(2);

/// The most folders that are remembered; all others are looked into each time.
const REMEMBERED: usize = 100_000;

/// What tells a folder from another, and from what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode.
    place: (u64, u64),
    /// The time of its last change of state, in seconds and nanoseconds.
    changed: (i64, i64),
}

/// The folders that were found to hold nothing else, with the time of their last change then.
#[derive(Debug, Default)]
pub struct Plain(Mutex<HashMap<(u64, u64), (i64, i64)>>);

impl Plain {
    /// Says whether a folder was found to be one of them and nobody changed it since.
    pub fn has(&self, stamp: Option<Stamp>) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stamp.is_some_and(|stamp| known.get(&stamp.place) == Some(&stamp.changed))
    }

    /// Notes that a folder is one of them; `stamp` is of before it was looked into.
    pub fn note(&self, stamp: Option<Stamp>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stamp) = stamp.filter(|_| known.len() < REMEMBERED) {
            known.insert(stamp.place, stamp.changed);
        }
    }
}

impl Stamp {
    /// Looks at a folder, before that is looked into; none where its last change may have the time of a later one.
    pub fn of(folder: &Path) -> Option<Stamp> {
        let meta = fs::symlink_metadata(folder).ok()?;
        let (seconds, nanos) = (meta.ctime(), meta.ctime_nsec());
        let since = Duration::new(seconds.try_into().ok()?, nanos.try_into().ok()?);
        let age = SystemTime::now().duration_since(UNIX_EPOCH + since).ok()?;
        let is_settled = meta.is_dir() && age > SETTLED;
        is_settled.then_some(Stamp {
            place: (meta.dev(), meta.ino()),
            changed: (seconds, nanos),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_just_changed_is_looked_into_again() {
        let folder = tempfile::tempdir().unwrap();
        let plain = Plain::default();
        plain.note(Stamp::of(folder.path()));
        assert!(!plain.has(Stamp::of(folder.path())));
    }

    #[test]
    fn a_folder_is_known_as_long_as_nobody_changed_it() {
        let old = Path::new("/");
        let plain = Plain::default();
        let stamp = Stamp::of(old);
        assert!(stamp.is_some() && !plain.has(stamp));
        plain.note(stamp);
        assert!(plain.has(stamp));
        let stamp = stamp.unwrap();
        let ((device, inode), (seconds, nanos)) = (stamp.place, stamp.changed);
        for (place, changed) in [
            ((device + 1, inode), stamp.changed),
            ((device, inode + 1), stamp.changed),
            (stamp.place, (seconds + 1, nanos)),
            (stamp.place, (seconds, nanos + 1)),
        ] {
            assert!(!plain.has(Some(Stamp { place, changed })));
        }
    }
}
