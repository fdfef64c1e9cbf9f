//! What an agent moved of the user's goes back to where it was, before anything is committed of what the agent left: at another name
//! git would take it for new, and its bytes would be published.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::strays::Left;
use crate::effects::files::{self, is_beneath};
use crate::effects::keep;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::{Error, Result};
use crate::model::{ledger, text};

impl Workspace<'_> {
    /// Puts back what was moved to where a commit has it, or would. A link that stands in its old place and leads to where it went goes to
    /// the quarantine; where anything else does, what was moved goes there itself. `tip` is the agent's newest commit.
    pub(in crate::effects::workspace) fn bring_back(
        &self,
        start: &Start,
        tip: &str,
        left: &mut Left,
    ) -> Result<()> {
        let astray = start.kept.astray(&self.repo.root);
        if astray.is_empty() {
            return Ok(());
        }
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let root = &self.repo.root;
        let (mut back, mut aside) = (Vec::new(), Vec::new());
        for (place, home) in self.find(start, tip, left, &astray)? {
            let said = format!("{} (as {})", text::path(&home), text::path(&place));
            let real = |path: &[u8]| root.join(OsStr::from_bytes(path)).canonicalize().ok();
            if is_beneath(root, &home) && real(&home).is_some_and(|to| real(&place) == Some(to)) {
                quarantine.take(root, &home)?;
            }
            if keep::is_free(root, &home) {
                self.move_home(&place, &home)?;
                back.push(said);
            } else {
                quarantine.take(root, &place)?;
                aside.push(said);
            }
            left.moved.push(place);
        }
        for (what, said) in [
            ("was moved, and put back", &back),
            ("was moved, and something else stands in its place", &aside),
        ] {
            if !said.is_empty() {
                left.notes.push(format!("{what}: {}", some_of(said)));
            }
        }
        if !(back.is_empty() && aside.is_empty()) {
            left.notes.extend(quarantine.notes());
            left.status = self.state()?;
        }
        Ok(())
    }

    /// Finds where in a commit, or where it would come into one, what is `astray` stands now: the way there and where it belongs.
    fn find(
        &self,
        start: &Start,
        tip: &str,
        left: &Left,
        astray: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let differences = self
            .repo
            .differences(&start.tree, &self.repo.tree_of(tip)?)?;
        let committed = differences.into_iter().filter(|one| one.old.is_none());
        let committed = committed.map(|one| one.path);
        let uncommitted = left.status.untracked.iter().chain(&left.status.dirty);
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for path in committed.chain(uncommitted.cloned()) {
            let path = path.strip_suffix(b"/").unwrap_or(&path);
            if ledger::is_ledger_path(path) || !is_beneath(&self.repo.root, path) {
                continue;
            }
            // The folders around it first: one that was moved as a whole goes back as a whole.
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let around = slashes.map(|(index, _)| &path[..index]);
            for place in around.chain([path]) {
                if !seen.insert(place.to_vec()) {
                    continue;
                }
                let meta = fs::symlink_metadata(self.repo.root.join(OsStr::from_bytes(place)));
                let home = meta
                    .ok()
                    .and_then(|meta| astray.get(&keep::identity(&meta)));
                if let Some(home) = home {
                    found.push((place.to_vec(), home.clone()));
                    break;
                }
            }
        }
        Ok(found)
    }

    fn move_home(&self, place: &[u8], home: &[u8]) -> Result<()> {
        let at = |path: &[u8]| self.repo.root.join(OsStr::from_bytes(path));
        let (from, to) = (at(place), at(home));
        let failed = |cause| Error::io("put back", &to, cause);
        let folder = to.parent().unwrap_or(&self.repo.root);
        fs::create_dir_all(folder).map_err(failed)?;
        fs::rename(&from, &to).map_err(failed)?;
        for parent in [from.parent().unwrap_or(&self.repo.root), folder] {
            files::sync_folder(parent).map_err(failed)?;
        }
        Ok(())
    }
}
