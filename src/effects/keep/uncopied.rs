//! Untracked files that have no copy, because they are too large or cannot be read: nothing brings them back, but it can be told what
//! became of them.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::copy::{Copy, stamp};
use super::{Kept, from_hex};
use crate::effects::proc_table;
use crate::model::text;

impl Kept {
    /// Returns the folders that are gone and could not be read, so that nothing of what they held has a copy.
    pub fn gone_unread(&self, root: &Path) -> Vec<String> {
        let is_folder = |name: &&String| {
            // The name is for people: one that is no text leads nowhere.
            name.ends_with('/') && !name.contains(char::REPLACEMENT_CHARACTER)
        };
        let is_gone = |name: &&String| {
            let there = fs::symlink_metadata(root.join(name.trim_end_matches('/')));
            there.is_err_and(|cause| cause.kind() == ErrorKind::NotFound)
        };
        let gone = self.unreadable.iter().filter(is_folder).filter(is_gone);
        gone.cloned().collect()
    }

    /// Returns those that are there and were written to, by their size and time. What checks write anew, or a program is writing to, is
    /// none of them.
    pub fn changed_uncopied(&self, root: &Path) -> Vec<String> {
        let without = self.untracked.iter().filter(|(_, entry)| {
            !entry.is_kept() && entry.output.is_none() && !entry.stamp.is_empty()
        });
        let paths = without.map(|(name, entry)| (from_hex(name), entry));
        let changed = paths.filter(|(path, entry)| is_changed(root, path, entry));
        changed.map(|(path, _)| text::path(&path)).collect()
    }
}

fn is_changed(root: &Path, path: &[u8], entry: &Copy) -> bool {
    // A folder with a repository of its own: its files are told of each.
    if path.ends_with(b"/") {
        return false;
    }
    let Ok(meta) = fs::symlink_metadata(root.join(OsStr::from_bytes(path))) else {
        return false;
    };
    size_and_time(&stamp(&meta)) != size_and_time(&entry.stamp)
        && !proc_table::is_written_to((meta.dev(), meta.ino()))
}

/// Returns what of a stamp changes whenever somebody writes.
fn size_and_time(stamp: &str) -> (Option<&str>, Option<&str>) {
    let mut words = stamp.split(' ');
    (words.next(), words.nth(1))
}
