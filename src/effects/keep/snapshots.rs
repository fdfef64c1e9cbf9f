//! Snapshots that a test runner wrote while goals were measured: they are nobody's handiwork. An agent may renew, remove and commit them
//! as if they were of its own cycle; what they held goes to the quarantine.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::copy::{Copy, Output, is_unchanged};
use super::outputs::keep_in;
use super::{Kept, from_hex, to_hex};
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::output;

impl Kept {
    /// Notes which of the files are such: among those that `came` while goals were measured in this session, in hex. What checks run
    /// and what `protect` names is none.
    pub fn note_snapshots(&mut self, root: &Path, came: &BTreeSet<String>) {
        let frozen = &self.measured.frozen;
        for (name, entry) in &mut self.untracked {
            let may_be = came.contains(name)
                && entry.copy.is_some()
                && !entry.is_protected
                && entry.output != Some(Output::Built)
                && !frozen.contains(name);
            if may_be && is_snapshot(root, &from_hex(name)) {
                entry.output = Some(Output::Snapshot);
            }
        }
    }

    /// Says whether a path was there, and is none that an agent may change.
    pub fn is_users(&self, path: &[u8]) -> bool {
        self.was_there(path) && !self.is_snapshot(path)
    }

    /// Says whether a path that was there is as it was, or none that an agent may change.
    pub fn is_left_alone(&self, root: &Path, path: &[u8]) -> bool {
        let entry = self.untracked.get(&to_hex(path));
        match entry.filter(|entry| is_open(entry)) {
            Some(entry) => is_unchanged(root, path, entry),
            None => self.was_there(path),
        }
    }

    pub(super) fn is_snapshot(&self, path: &[u8]) -> bool {
        self.untracked.get(&to_hex(path)).is_some_and(is_open)
    }

    /// Keeps in the quarantine what they held that are not what they were.
    pub fn keep_snapshots(
        &self,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let snapshots = self.untracked.iter().filter(|(_, entry)| is_open(entry));
        for (name, entry) in snapshots {
            let path = from_hex(name);
            if is_unchanged(root, &path, entry) {
                continue;
            }
            if let Some(source) = entry.source(folders) {
                keep_in(quarantine, root, &path, &source, entry)?;
            }
        }
        Ok(())
    }

    /// Forgets them: they stay as they are now.
    pub fn without_snapshots(mut self) -> Kept {
        self.untracked.retain(|_, entry| !is_open(entry));
        self
    }
}

fn is_open(entry: &Copy) -> bool {
    entry.output == Some(Output::Snapshot)
}

fn is_snapshot(root: &Path, path: &[u8]) -> bool {
    let file = root.join(OsStr::from_bytes(path));
    let begin = files::begin_of(&file, output::TELLING_OF_SNAPSHOT);
    output::is_snapshot(&String::from_utf8_lossy(path), &begin)
}
