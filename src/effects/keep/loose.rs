//! What only a wildcard of `protect` matches and git ignores is loose: tests build and write such files, so that what checks write anew is
//! theirs, as it is of what they run and may have built. What it held before may be somebody's, unless tools make it anew.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::copy::{Copy, Output, is_unchanged};
use super::outputs::{AfterAgent, is_made_anew, keep_in, place};
use super::{Kept, from_hex, grown, to_hex};
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::text;
use crate::model::yardstick::Protection;

/// Says whether a protected file that git ignores is so by a wildcard alone: then checks may write it. One whose path is no text
/// never is.
pub fn is_loose(protection: &Protection, path: &[u8]) -> bool {
    std::str::from_utf8(path).is_ok_and(|path| !protection.is_named(path))
}

/// Says whether what a file holds, or a copy of it, is to be kept in the quarantine: it may be somebody's. What checks wrote to before
/// has to leave room there, and so has what is lent and made anew by tools, which the user may have installed meanwhile.
pub(super) fn is_worth_keeping(
    path: &[u8],
    file: &Path,
    entry: &Copy,
    quarantine: &mut Quarantine,
) -> bool {
    let is_made = is_made_anew(&text::path(path), file, entry);
    !entry.is_nobodys
        && (!is_made || entry.is_lent)
        && (!(is_made || entry.is_of_checks) || quarantine.has_room_for(file))
}

impl Kept {
    /// Returns the loosely protected files that are not what they were.
    pub fn changed_loose(&self, root: &Path) -> Vec<String> {
        let loose = self.untracked.iter().filter(|(_, entry)| entry.is_loose);
        let all = loose.map(|(name, entry)| (from_hex(name), entry));
        let changed = all.filter(|(path, entry)| !is_unchanged(root, path, entry));
        let paths = changed.map(|(path, _)| String::from_utf8(path));
        paths.flatten().collect()
    }

    /// Notes that all of it lies in a slot.
    pub fn note_slot(&mut self) {
        self.untracked
            .values_mut()
            .for_each(|entry| entry.is_nobodys = true);
    }

    /// Notes that all of it is lent to a slot.
    pub fn note_lent(&mut self) {
        self.untracked
            .values_mut()
            .for_each(|entry| entry.is_lent = true);
    }

    /// Notes to which of the files that checks may make they wrote since `began`, before any agent of the session ran; none where one did.
    /// What `last` tells of the session's earlier cycles stands.
    pub fn note_of_checks(&mut self, began: Option<SystemTime>, last: Option<&Kept>) {
        let is_made = |_: &[u8], entry: &Copy| entry.output == Some(Output::Built);
        self.note_of_checks_among(&is_made, began, last);
    }

    /// Notes it of those that are lent to a slot and that a wildcard protects.
    pub fn note_of_checks_lent(&mut self, began: Option<SystemTime>, last: Option<&Kept>) {
        let protection = self.protection();
        let may_be = |path: &[u8], _: &Copy| is_loose(&protection, path);
        self.note_of_checks_among(&may_be, began, last);
    }

    fn note_of_checks_among(
        &mut self,
        may_be: &dyn Fn(&[u8], &Copy) -> bool,
        began: Option<SystemTime>,
        last: Option<&Kept>,
    ) {
        for (name, entry) in &mut self.untracked {
            let known = last.and_then(|last| last.untracked.get(name));
            entry.is_of_checks = may_be(&from_hex(name), entry)
                && (known.is_some_and(|known| known.is_of_checks)
                    || began.is_some_and(|began| entry.is_written_after(began)));
        }
    }

    /// Says whether checks wrote to a file before any agent of the session ran.
    pub fn is_of_checks(&self, path: &[u8]) -> bool {
        let entry = self.untracked.get(&to_hex(path));
        entry.is_some_and(|entry| entry.is_of_checks)
    }

    /// Keeps in the quarantine, once a session, what such files held before the agent that are written to since, or gone: checks may make
    /// them anew, or remove them, and so may what they run. What they only add to holds it still. Returns which these are, in hex.
    pub fn keep_made(
        &self,
        root: &Path,
        folders: &[PathBuf],
        after: &AfterAgent,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let mut kept = Vec::new();
        let may_be_lost =
            |entry: &Copy| entry.output == Some(Output::Built) && !entry.is_earlier_kept;
        for (name, entry) in self.untracked.iter().filter(|(_, one)| may_be_lost(one)) {
            let path = from_hex(name);
            if !after.is_changed_since(root, name) || is_unchanged(root, &path, entry) {
                continue;
            }
            let Some(source) = entry.source(folders) else {
                continue;
            };
            let is_grown = || grown::begins_like(&place(root, name), &source);
            if !is_grown() && is_worth_keeping(&path, &source, entry, quarantine) {
                keep_in(quarantine, root, &path, &source, entry)?;
                kept.push(name.clone());
            }
        }
        Ok(kept)
    }
}
