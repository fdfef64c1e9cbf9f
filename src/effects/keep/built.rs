//! What checks build before they run it: ignored by git, or no text. It changes with the sources, in a cycle that is kept and in one
//! that is undone; what an agent makes of it itself is taken back, with the time it had, so that a build tool sees what is older.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::copy::{FILE_LIMIT, Output, is_unchanged, write};
use super::{Kept, from_hex, slashes, to_hex};
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// Says whether a file is small enough to be copied.
pub fn is_small(root: &Path, path: &str) -> bool {
    let meta = fs::symlink_metadata(root.join(path));
    meta.is_ok_and(|meta| meta.is_symlink() || meta.len() <= FILE_LIMIT)
}

impl Kept {
    /// Notes which of the files checks may have built.
    pub fn note_built(&mut self, built: &[String]) {
        for path in built {
            if let Some(entry) = self.untracked.get_mut(&to_hex(path.as_bytes())) {
                entry.output = Some(Output::Built);
            }
        }
    }

    /// Puts all built files that changed back, after an undo.
    pub fn put_back_all_built(
        &self,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let is_built = |name: &&String| self.untracked[*name].output == Some(Output::Built);
        for name in self.untracked.keys().filter(is_built) {
            self.put_back_built(root, &from_hex(name), (folders, quarantine))?;
        }
        Ok(())
    }

    /// Puts one built file back, if it changed and has a copy. The changed version goes to the quarantine unless git ignores it: of
    /// outputs there is a new one in each cycle. Says whether the way to it leads where it did.
    pub fn put_back_built(
        &self,
        root: &Path,
        path: &[u8],
        (folders, quarantine): (&[PathBuf], &mut Quarantine),
    ) -> Result<bool> {
        let is_folder = |(index, _): (usize, &u8)| {
            let parent = root.join(OsStr::from_bytes(&path[..index]));
            fs::symlink_metadata(parent).map_or(true, |meta| meta.is_dir())
        };
        if !slashes(path).all(is_folder) {
            return Ok(false);
        }
        let entry = self.untracked.get(&to_hex(path));
        let Some(entry) = entry.filter(|entry| entry.is_kept()) else {
            return Ok(true);
        };
        if is_unchanged(root, folders, path, entry) {
            return Ok(true);
        }
        let Some(source) = entry.source(folders) else {
            return Ok(true);
        };
        let target = root.join(OsStr::from_bytes(path));
        match fs::symlink_metadata(&target) {
            // Not written over: a build tool may have made it one file with another.
            Ok(meta) if !meta.is_dir() && self.was_ignored(path) => files::remove(&target)?,
            Ok(_) => quarantine.take(root, path)?,
            Err(_) => {}
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent, cause))?;
        }
        write(&source, entry, &target)?;
        Ok(true)
    }
}
