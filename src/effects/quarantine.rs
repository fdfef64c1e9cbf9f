//! Where files go that are in the way of an undo or a restore: moved, never overwritten, never dropped.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::error::{Error, Result};

/// The quarantine of one cycle.
#[derive(Debug)]
pub struct Quarantine {
    folder: PathBuf,
    /// What was moved there, as `path → where`.
    pub moved: Vec<String>,
    /// What stayed where it is and has an earlier version there, as `path → where`.
    pub earlier: Vec<String>,
}

impl Quarantine {
    /// Opens the quarantine for a cycle of a session; nothing is created before something is moved.
    pub fn of(private: &Path, session: &str, cycle: u64) -> Quarantine {
        Quarantine {
            folder: private
                .join("quarantine")
                .join(format!("{session}-{cycle}")),
            moved: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// Moves a file or folder of the working tree away.
    pub fn take(&mut self, root: &Path, path: &[u8]) -> Result<()> {
        let from = root.join(OsStr::from_bytes(path));
        let to = self.free_name(path);
        let folder = to.parent().unwrap_or(&self.folder);
        files::make_folder(folder)?;
        if fs::rename(&from, &to).is_err() {
            // Another file system: copied first, removed only when the copy is complete.
            copy(&from, &to).map_err(|cause| Error::io("move to the quarantine", &from, cause))?;
            files::sync_folder(folder).map_err(|cause| Error::io("sync", folder, cause))?;
            remove(&from).map_err(|cause| Error::io("remove", &from, cause))?;
        }
        files::sync_folder(folder).map_err(|cause| Error::io("sync", folder, cause))?;
        self.moved.push(format!(
            "{} → {}",
            String::from_utf8_lossy(path),
            to.display()
        ));
        Ok(())
    }

    /// Returns a place for an earlier version of a file that stays where it is.
    pub fn place_for(&mut self, path: &[u8]) -> PathBuf {
        let place = self.free_name(path);
        self.earlier.push(format!(
            "{} → {}",
            String::from_utf8_lossy(path),
            place.display()
        ));
        place
    }

    /// Says what was done, for the record.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let moved = self.moved.iter();
        let earlier = self.earlier.iter();
        moved
            .map(|what| format!("moved out of the way: {what}"))
            .chain(earlier.map(|what| format!("as it was before the agent: {what}")))
    }

    fn free_name(&self, path: &[u8]) -> PathBuf {
        let wanted = self.folder.join(OsStr::from_bytes(path));
        let mut name = wanted.clone();
        let mut number = 1;
        while fs::symlink_metadata(&name).is_ok() || !parents_are_folders(&self.folder, &name) {
            number += 1;
            name = self
                .folder
                .join(format!("again-{number}"))
                .join(OsStr::from_bytes(path));
        }
        name
    }
}

fn parents_are_folders(base: &Path, path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .take_while(|parent| parent.starts_with(base))
        .all(|parent| fs::symlink_metadata(parent).map_or(true, |meta| meta.is_dir()))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    if meta.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    } else if meta.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, to)
    } else {
        files::copy(from, to)
    }
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
