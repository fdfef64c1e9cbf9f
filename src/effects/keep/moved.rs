//! What files and folders of the user's are known by, wherever somebody moves them: `git mv` of a folder takes along what lies in it
//! untracked, and what was ignored by the name of the old place is ignored no longer at the new one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::{Kept, from_hex};

/// What tells a file or folder from all others, under whatever name and with whatever bytes: device, inode, and its birth, because the
/// inode of a removed file is soon used again. Where a file system knows no birth, size and modification time stand for it: a file
/// that was moved and written to is not known again then.
pub fn identity(meta: &Metadata) -> String {
    let born = meta.created().ok();
    let born = born.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    match born {
        Some(born) => format!("{} {} {}", meta.dev(), meta.ino(), born.as_nanos()),
        None => format!(
            "{} {} {} {}.{}",
            meta.dev(),
            meta.ino(),
            meta.len(),
            meta.mtime(),
            meta.mtime_nsec()
        ),
    }
}

impl Kept {
    /// Notes by what ignored files, and folders that are ignored as a whole, are known again.
    pub(super) fn note_ignored(&mut self, root: &Path) {
        let known = self.ignored.iter().filter_map(|name| {
            let file = root.join(OsStr::from_bytes(&from_hex(name)));
            let meta = fs::symlink_metadata(file).ok()?;
            Some((name.clone(), identity(&meta)))
        });
        self.identities.extend(known);
    }

    /// Returns where those were that are there no more, by what they are known by; a folder without a slash at the end. What an agent may
    /// move is none of them.
    pub fn astray(&self, root: &Path) -> BTreeMap<String, Vec<u8>> {
        let all = self.identities.iter();
        let users = all.filter(|(name, _)| !self.is_snapshot(&from_hex(name)));
        let astray = users.filter_map(|(name, known)| {
            let mut path = from_hex(name);
            if path.ends_with(b"/") {
                path.pop();
            }
            let now = fs::symlink_metadata(root.join(OsStr::from_bytes(&path)));
            let is_there = now.is_ok_and(|meta| identity(&meta) == *known);
            (!is_there).then(|| (known.clone(), path))
        });
        astray.collect()
    }
}
