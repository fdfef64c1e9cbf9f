//! Files that git does not track and that `protect` names: they are held against what they were before the agent, and put back.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::copy::{Copy, is_unchanged, stamp};
use super::{Kept, PutBack, from_hex};
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::yardstick::Protection;

impl Kept {
    /// Notes which of the files are protected; `is_cut` says that there are more than are copied.
    pub fn note_protected(&mut self, protection: &Protection, is_cut: bool) {
        self.protect = protection.patterns().to_vec();
        self.is_protection_cut = is_cut;
        for (name, entry) in &mut self.untracked {
            entry.is_protected = protection.is_match(Path::new(OsStr::from_bytes(&from_hex(name))));
            if entry.is_protected {
                // Nobody writes it anew: its earlier version is put back.
                entry.output = None;
            }
        }
    }

    /// Returns what `protect` names.
    pub fn protection(&self) -> Protection {
        Protection::of(&self.protect)
    }

    fn protected(&self) -> impl Iterator<Item = (Vec<u8>, &Copy)> + '_ {
        let all = self.untracked.iter();
        let protected = all.filter(|(_, entry)| entry.is_protected);
        protected.map(|(name, entry)| (from_hex(name), entry))
    }

    /// Returns the protected files.
    pub fn protected_paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.protected().map(|(path, _)| path)
    }

    /// Returns the protected links.
    pub fn protected_links(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let links = self.protected().filter(|(_, entry)| entry.link.is_some());
        links.map(|(path, _)| path)
    }

    /// Returns the protected files that are not what they were; of one without a copy every touch counts.
    pub fn changed_protected(&self, root: &Path) -> Vec<Vec<u8>> {
        let is_as_it_was = |path: &[u8], entry: &Copy| match entry.is_kept() {
            true => is_unchanged(root, path, entry),
            false => {
                let meta = fs::symlink_metadata(root.join(OsStr::from_bytes(path)));
                entry.stamp.is_empty() || meta.is_ok_and(|meta| stamp(&meta) == entry.stamp)
            }
        };
        let changed = self
            .protected()
            .filter(|(path, entry)| !is_as_it_was(path, entry));
        changed.map(|(path, _)| path).collect()
    }

    /// Puts back the protected files alone.
    pub fn put_back_protected(
        &self,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<PutBack> {
        let all = self.untracked.iter();
        let protected = all.filter(|(_, entry)| entry.is_protected);
        let alone = Kept {
            untracked: protected
                .map(|(name, entry)| (name.clone(), entry.clone()))
                .collect(),
            ..Kept::default()
        };
        alone.put_back(root, folders, quarantine)
    }
}
