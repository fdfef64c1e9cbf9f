//! Files that an agent took out of git and left where they are: git ignores them now. No commit holds what is measured of them, so that a
//! goal which they meet would fail in every clone. In the user's own tree they are again as they were before the agent, as what git ignores
//! is there else; in a copy they go, as they do from the checkout to which the change comes. They are named.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;

use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Difference, Entry, hash_blob, hash_file};
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::{Error, Result};
use crate::model::ledger::is_ledger_path;
use crate::model::text;

const LINK: u32 = 0o120_000;
const EXECUTABLE: u32 = 0o100_755;

impl Workspace<'_> {
    /// Makes files of the start that a change no longer has, but the tree does, what they were, or removes them from a copy; returns what is
    /// to be told. What the agent made of them goes to the quarantine.
    pub(in crate::effects::workspace) fn clear_dropped(
        &self,
        start: &Start,
        differences: &[Difference],
    ) -> Result<Vec<String>> {
        let root = &self.repo.root;
        let mut dropped = Vec::new();
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        // Where the case of letters says nothing, one may be there by another name.
        let new = differences.iter().filter(|one| one.new.is_some());
        let new_names: HashSet<_> = new.map(|one| one.path.to_ascii_lowercase()).collect();
        for Difference { path, old, new } in differences {
            let Some(old) = old.as_ref().filter(|old| new.is_none() && is_file(old)) else {
                continue;
            };
            let place = root.join(OsStr::from_bytes(path));
            let meta = fs::symlink_metadata(&place);
            let is_any = |meta: fs::Metadata| meta.is_file() || meta.is_symlink();
            let is_there = meta.is_ok_and(is_any) && files::is_beneath(root, path);
            if !is_there || is_ledger_path(path) || new_names.contains(&path.to_ascii_lowercase()) {
                continue;
            }
            dropped.push(text::path(path));
            let was = match is_as_committed(&place, old) {
                true => None,
                false => Some(self.checked_out(path, old)?),
            };
            let changed_from = was.filter(|was| !holds(&place, old, was));
            match (&changed_from, self.repo.is_slot) {
                (None, false) => {}
                (None, true) => files::remove(&place)?,
                (Some(_), true) => quarantine.take(root, path)?,
                (Some(was), false) => {
                    quarantine.take(root, path)?;
                    let written = write(&place, old, was);
                    written.map_err(|cause| Error::io("write", &place, cause))?;
                }
            }
        }
        let mut notes = Vec::new();
        if !dropped.is_empty() {
            let how = match self.repo.is_slot {
                true => {
                    "no longer tracked, ignored and still there, which the change takes from your checkout"
                }
                false => "no longer tracked, ignored and still there, as before the agent",
            };
            notes.push(format!("{how}: {}", some_of(&dropped)));
        }
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Returns what a checkout of the start writes there, or where a link leads.
    fn checked_out(&self, path: &[u8], old: &Entry) -> Result<Vec<u8>> {
        let converted = std::str::from_utf8(path).ok().and_then(|path| {
            let asked = ["cat-file", "--filters", &format!("--path={path}"), &old.id];
            self.repo.git.run(&asked).ok()
        });
        match converted.filter(|_| old.mode != LINK) {
            Some(bytes) => Ok(bytes),
            None => self.repo.blob(&old.id),
        }
    }
}

/// Writes a file where nothing is.
fn write(place: &Path, old: &Entry, bytes: &[u8]) -> std::io::Result<()> {
    if old.mode == LINK {
        return symlink(OsStr::from_bytes(bytes), place);
    }
    let mode = if old.mode == EXECUTABLE { 0o777 } else { 0o666 };
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(place)?;
    file.write_all(bytes)
}

/// Says whether a plain file holds exactly these bytes.
fn holds(place: &Path, old: &Entry, bytes: &[u8]) -> bool {
    let meta = fs::symlink_metadata(place);
    let is_alike = |meta: fs::Metadata| meta.is_file() && meta.len() == bytes.len() as u64;
    old.mode != LINK
        && meta.is_ok_and(is_alike)
        && fs::read(place).is_ok_and(|found| found == bytes)
}

fn is_file(entry: &Entry) -> bool {
    entry.mode == LINK || entry.mode & 0o170_000 == 0o100_000
}

/// Says whether what stands at a place is, byte for byte, what was committed.
fn is_as_committed(place: &Path, old: &Entry) -> bool {
    let is_link = fs::symlink_metadata(place).is_ok_and(|meta| meta.is_symlink());
    if is_link != (old.mode == LINK) {
        return false;
    }
    match is_link {
        true => fs::read_link(place).is_ok_and(|to| hash_blob(to.as_os_str().as_bytes()) == old.id),
        false => {
            let is_plain = fs::symlink_metadata(place).is_ok_and(|meta| meta.is_file());
            is_plain && hash_file(place).as_ref() == Some(&old.id)
        }
    }
}
