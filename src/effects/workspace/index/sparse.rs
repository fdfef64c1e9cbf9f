//! What a checkout holds that an agent made to hold less, where a missing file that git was told to leave out is no change to it, and what
//! an undo writes that a sparse one leaves out.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::effects::files;
use crate::effects::git::may_refuse;
use crate::effects::workspace::{Start, Workspace, ended, some_of};
use crate::error::Result;
use crate::model::ledger::is_ledger_path;

impl Workspace<'_> {
    /// Checks out the tracked files again that were there when the cycle began, are gone, and are marked as left out in the index
    /// as it is `listed` (`Repo::listing`). Says which.
    pub(in crate::effects::workspace) fn bring_in(
        &self,
        start: &Start,
        listed: &[u8],
    ) -> Result<Option<String>> {
        let Some(whereabouts) = &start.whereabouts else {
            return Ok(None);
        };
        let mut place_of = whereabouts.places_in_turn();
        let mut gone = Vec::new();
        for line in listed.split(|byte| *byte == 0) {
            let is_left_out = matches!(line.first(), Some(b'S' | b's'));
            let tab = line.iter().position(|byte| *byte == b'\t');
            let Some(tab) = tab.filter(|_| is_left_out) else {
                continue;
            };
            let path = &line[tab + 1..];
            let file = self.repo.root.join(OsStr::from_bytes(path));
            let was_there = place_of(path).is_some() && !is_ledger_path(path);
            if was_there && fs::symlink_metadata(file).is_err() {
                gone.push(path.to_vec());
            }
        }
        // Where the agent made the checkout sparse, its settings for that are gone by now: the marks count by themselves.
        if gone.is_empty() {
            return Ok(None);
        }
        self.hold_again(&gone)?;
        let names = gone.iter().map(|path| String::from_utf8_lossy(path));
        let names: Vec<String> = names.map(|name| name.into_owned()).collect();
        Ok(Some(format!(
            "files that git was told to leave out of the checkout are checked out again: {}",
            some_of(&names)
        )))
    }

    /// Takes out of the tree again what was not there when the cycle began and a sparse checkout leaves out.
    pub fn keep_sparse(&self, start: &Start) -> Result<()> {
        match self.has_sparse_patterns() && self.is_sparse() {
            true => self.take_out_again(start, &self.repo.ready_head()?.1, None),
            false => Ok(()),
        }
    }

    /// Takes what the checkout leaves out and an undo has `written` out of the tree again: the agent's index may have lost that. Where
    /// that is not said, it is all that was not there when the cycle began, which the agent may have had the checkout hold, too.
    /// What was there then stays, and so does the ledger that `commit` has, wherever the patterns draw their line.
    pub(in crate::effects::workspace) fn take_out_again(
        &self,
        start: &Start,
        commit: &str,
        written: Option<&HashSet<&[u8]>>,
    ) -> Result<()> {
        let git = &self.repo.git;
        let is_there = |path: &[u8]| {
            let file = self.repo.root.join(OsStr::from_bytes(path));
            fs::symlink_metadata(file).is_ok()
        };
        let ledger = self.repo.ledger_files(&self.repo.tree_of(commit)?)?;
        let ledger = ledger.into_iter();
        let records: Vec<_> = ledger.filter(|one| is_there(one.0.as_bytes())).collect();
        let listed = self.repo.listing()?;
        let whereabouts = start.whereabouts.as_ref();
        let mut place_of = whereabouts.map(|all| all.places_in_turn());
        let mut staying = Vec::new();
        for line in listed.split(|byte| *byte == 0) {
            let tab = line.iter().position(|byte| *byte == b'\t');
            let Some(tab) = tab.filter(|_| matches!(line.first(), Some(b'H' | b'h'))) else {
                continue;
            };
            let path = &line[tab + 1..];
            let was_there = place_of.as_mut().is_some_and(|of| of(path).is_some());
            let stays = was_there || written.is_some_and(|written| !written.contains(path));
            if stays && !is_ledger_path(path) && is_there(path) {
                staying.push(path.to_vec());
            }
        }
        let _ = git.leaving_folders().run(&["sparse-checkout", "reapply"]);
        staying.retain(|path| !is_there(path));
        if !staying.is_empty() {
            self.hold_again(&staying)?;
        }
        for (path, entry) in &records {
            if !is_there(path.as_bytes()) {
                files::replace(&self.repo.root.join(path), &self.repo.blob(&entry.id)?)?;
            }
        }
        let records: Vec<_> = records
            .into_iter()
            .map(|(path, _)| path.into_bytes())
            .collect();
        if records.is_empty() {
            return Ok(());
        }
        let arguments = ["update-index", "--no-skip-worktree", "-z", "--stdin"];
        git.run_with(&arguments, &ended(&records)).map(|_| ())
    }

    /// Checks out files that are gone and marked as left out in the index.
    fn hold_again(&self, gone: &[Vec<u8>]) -> Result<()> {
        self.set_flags(&["--no-skip-worktree"], gone)?;
        // Writes over nothing. What is not brought in is a change that git sees, now that it looks.
        let check_out = ["checkout-index", "--index", "-z", "--stdin"];
        may_refuse(self.repo.git.run_with(&check_out, &ended(gone))).map(|_| ())
    }
}
