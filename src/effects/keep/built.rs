//! What checks build before they run it: ignored by git, or no text. It changes with the sources, in a cycle that is kept and in one
//! that is undone; what an agent makes of it itself is taken back, with the time it had, so that a build tool sees what is older.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::copy::{FILE_LIMIT, Output, is_unchanged, write};
use super::outputs::{is_made_anew, keep_once};
use super::{Kept, clear_way, from_hex, grown, is_way_free, is_worth_keeping, to_hex};
use crate::effects::files;
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::{text, yardstick};

/// Says whether a file is small enough to be copied.
pub fn is_small(root: &Path, path: &str) -> bool {
    let meta = fs::symlink_metadata(root.join(path));
    meta.is_ok_and(|meta| meta.is_symlink() || meta.len() <= FILE_LIMIT)
}

/// What came of putting a built file back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// It is what it was, or has no copy.
    Left,
    /// It was put back.
    Back,
    /// A program goes on adding to it.
    Grows,
    /// A program has it open to be written, and it holds something else than before.
    InUse,
    /// The way to it leads elsewhere now.
    LedAway,
    /// Its copies were changed, too.
    Lost,
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

    /// Notes what checks would run if it were there, and by which patterns more may come than is there now.
    pub fn note_unbuilt(&mut self, root: &Path, unbuilt: &[String], open: &[String]) {
        let hex = |path: &String| to_hex(path.as_bytes());
        self.unbuilt = unbuilt.iter().map(hex).collect();
        self.open = open.to_vec();
        self.matched = matching(root, open).iter().map(hex).collect();
    }

    /// Returns what checks would have run if it had been there, and what is there now.
    pub fn unbuilt(&self, root: &Path) -> Vec<Vec<u8>> {
        let is_there =
            |path: &Vec<u8>| fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_ok();
        let all = self.unbuilt.iter().map(|name| from_hex(name));
        let mut found: Vec<_> = all.filter(is_there).collect();
        let come = matching(root, &self.open)
            .into_iter()
            .map(String::into_bytes);
        found.extend(come.filter(|path| !self.matched.contains(&to_hex(path))));
        found.sort();
        found.dedup();
        found
    }

    /// Puts all built files that changed back, after an undo; returns which, for people.
    pub fn put_back_all_built(
        &self,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let mut files = Vec::new();
        let written_to = WrittenTo::default();
        let is_built = |name: &&String| self.untracked[*name].output == Some(Output::Built);
        for name in self.untracked.keys().filter(is_built) {
            let path = from_hex(name);
            // A link that stands in the way now would go on leading elsewhere.
            clear_way(root, &path, quarantine)?;
            let restored = self.put_back_built(root, &path, (folders, &written_to), quarantine)?;
            if restored == Restored::Lost
                && fs::symlink_metadata(root.join(OsStr::from_bytes(&path))).is_ok()
            {
                // Better none than the agent's: what is missing is built anew.
                quarantine.take(root, &path)?;
            }
            if restored == Restored::Back {
                files.push(text::path(&path));
            }
        }
        Ok(files)
    }

    /// Takes away what checks run and was not there, after an undo: it was built from what is undone.
    pub fn take_unbuilt(&self, root: &Path, quarantine: &mut Quarantine) -> Result<()> {
        let found = self.unbuilt(root).into_iter();
        let mut found = found.filter(|path| is_way_free(root, path));
        found.try_for_each(|path| quarantine.take(root, &path))
    }

    /// Puts one built file back, if it changed and has a copy. The changed version goes to the quarantine only where somebody may have
    /// saved it: of what is built there is a new one in each cycle. What a running program has open is left, and what it was goes there.
    pub fn put_back_built(
        &self,
        root: &Path,
        path: &[u8],
        (folders, written_to): (&[PathBuf], &WrittenTo),
        quarantine: &mut Quarantine,
    ) -> Result<Restored> {
        if !is_way_free(root, path) {
            return Ok(Restored::LedAway);
        }
        let entry = self.untracked.get(&to_hex(path));
        let Some(entry) = entry.filter(|entry| entry.is_kept()) else {
            return Ok(Restored::Left);
        };
        if is_unchanged(root, path, entry) {
            return Ok(Restored::Left);
        }
        let may_be_open = entry.is_loose || entry.is_lent;
        if may_be_open && grown::is_growing(root, path, entry, folders) {
            return Ok(Restored::Grows);
        }
        let Some(source) = entry.source(folders) else {
            return Ok(Restored::Lost);
        };
        if may_be_open && grown::is_in_use(root, path, entry, &source, written_to) {
            // What it was is nowhere else.
            keep_once(quarantine, root, path, &source, entry)?;
            return Ok(Restored::InUse);
        }
        let target = root.join(OsStr::from_bytes(path));
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent, cause))?;
            open(parent);
        }
        match fs::symlink_metadata(&target) {
            Ok(meta) if meta.is_dir() || is_worth_keeping(path, &target, entry, quarantine) => {
                quarantine.take(root, path)?;
            }
            // Not written over: a build tool may have made it one file with another.
            Ok(_) => files::remove(&target)?,
            Err(_) => {}
        }
        write(&source, entry, &target)?;
        Ok(Restored::Back)
    }
}

impl Kept {
    /// Keeps what a built file was in the quarantine, if it changed and that may be somebody's; says whether it is text that changed, and
    /// that no tool's folder has.
    pub fn keep_written(
        &self,
        root: &Path,
        path: &[u8],
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<bool> {
        let entry = self.untracked.get(&to_hex(path));
        let Some(entry) = entry.filter(|entry| entry.is_kept()) else {
            return Ok(false);
        };
        let Some(source) = entry.source(folders) else {
            return Ok(false);
        };
        if is_unchanged(root, path, entry) || is_made_anew(&text::path(path), &source, entry) {
            return Ok(false);
        }
        // What the session found is kept in any case; what commands made of it since, as long as there is room.
        if !quarantine.holds(path) || quarantine.has_room_for(&source) {
            keep_once(quarantine, root, path, &source, entry)?;
        }
        Ok(true)
    }

    /// Says whether a file that is listed and has no copy, as it is too large or cannot be read, was written to since.
    pub fn is_changed_uncopied(&self, root: &Path, path: &[u8]) -> bool {
        let entry = self.untracked.get(&to_hex(path));
        entry.is_some_and(|entry| !entry.is_kept() && !is_unchanged(root, path, entry))
    }

    /// Returns the built files of which there are copies, if their paths are text.
    pub fn built_paths(&self) -> impl Iterator<Item = String> + '_ {
        let built = |entry: &&super::Copy| entry.output == Some(Output::Built);
        let all = self.untracked.iter();
        let built = all.filter(move |(_, entry)| built(entry));
        built.filter_map(|(name, _)| String::from_utf8(from_hex(name)).ok())
    }
}

/// Lets its owner write to a folder: some build tools shut what they have built.
fn open(folder: &Path) {
    const OWNER: u32 = 0o700;
    if let Ok(meta) = fs::metadata(folder)
        && meta.mode() & OWNER != OWNER
    {
        let _ = fs::set_permissions(folder, Permissions::from_mode(meta.mode() | OWNER));
    }
}

/// Returns what patterns stand for, by real places: all of it, since something may be hidden behind many others.
fn matching(root: &Path, patterns: &[String]) -> Vec<String> {
    let names = (
        &|folder: &str| files::names_in(root, folder),
        &|folder: &str| files::folders_in(root, folder),
    );
    let mut found: Vec<_> = patterns
        .iter()
        .flat_map(|pattern| yardstick::matching(pattern, names.0, names.1, usize::MAX))
        .collect();
    found = found.iter().filter_map(|path| real(root, path)).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns where below the root the folder of a path really is, and its name there; none if that is elsewhere.
fn real(root: &Path, path: &str) -> Option<String> {
    if is_way_free(root, path.as_bytes()) {
        return Some(path.to_owned());
    }
    let path = Path::new(path);
    let folder = root.join(path.parent()?).canonicalize().ok()?;
    let below = folder.strip_prefix(root.canonicalize().ok()?).ok()?;
    Some(below.join(path.file_name()?).to_str()?.to_owned())
}
