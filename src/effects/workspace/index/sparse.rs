//! A sparse checkout that an agent made to hold less: a missing file that git was told to leave out is no change to it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::effects::git::may_refuse;
use crate::effects::workspace::{Start, Workspace, ended, some_of};
use crate::error::Result;
use crate::model::ledger::is_ledger_path;

impl Workspace<'_> {
    /// Checks out the tracked files again that were there when the cycle began, are gone, and are marked as left out in the index
    /// as it is `listed` (`restat::LISTING`). Says which.
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
        // Elsewhere such a mark hides that a file was removed.
        if gone.is_empty() || !self.is_sparse() {
            return Ok(None);
        }
        self.set_flags(&["--no-skip-worktree"], &gone)?;
        // Writes over nothing. What is not brought in is a change that git sees, now that it looks.
        let check_out = ["checkout-index", "--index", "-z", "--stdin"];
        may_refuse(self.repo.git.run_with(&check_out, &ended(&gone)))?;
        let names = gone.iter().map(|path| String::from_utf8_lossy(path));
        let names: Vec<String> = names.map(|name| name.into_owned()).collect();
        Ok(Some(format!(
            "files that were taken out of the sparse checkout are checked out again: {}",
            some_of(&names)
        )))
    }
}
