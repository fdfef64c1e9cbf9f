//! Looks at the tree once more between the first measurement of a cycle and its agent.

use std::collections::BTreeSet;
use std::path::Path;

use super::status::{Status, list_untracked};
use super::{Start, Stock, WayOut, Workspace};
use crate::effects::keep::Kept;
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::text;

impl Workspace<'_> {
    /// Refuses tracked changes that came since the cycle began, naming them (exit 3). Untracked files that came since are as little
    /// the agent's as those that were there. Returns the tracked files that were touched since.
    pub fn look_again(&self, start: &mut Start, way_out: WayOut) -> Result<BTreeSet<String>> {
        self.look_through()?;
        let (status, hidden, _) = self.look()?;
        status.refuse_dirty(&hidden.names(), true, way_out)?;
        start
            .kept
            .add_late(status.untracked.iter().chain(&status.within));
        self.touched_in(&status, start)
    }

    /// Adds the untracked files that came since these were listed, while nothing but checks ran. Returns the tracked files that were
    /// touched since a start.
    pub fn note_came(&self, start: &Start, kept: &mut Kept) -> Result<BTreeSet<String>> {
        self.look_through()?;
        let (status, ..) = self.look()?;
        kept.add_late(status.untracked.iter().chain(&status.within));
        self.touched_in(&status, start)
    }

    /// Returns the tracked files that were touched since a start, by what was seen in a look.
    fn touched_in(&self, status: &Status, start: &Start) -> Result<BTreeSet<String>> {
        let Some(dated) = start.dated else {
            return Ok(BTreeSet::new());
        };
        let touched = |paths: &[Vec<u8>]| self.touched_since(dated.moment, paths);
        Ok(match &status.unlike {
            Some(paths) => touched(paths),
            None => touched(&self.unlike_index()?),
        })
    }

    /// Returns the untracked files that came since stock was taken, but for those that were named as left out then. To be asked when no
    /// pipe is in git's way.
    pub fn came_since_stock(&self, start: &Start, stock: &Stock) -> Result<Vec<Vec<u8>>> {
        let mut status = Status::default();
        status.add_untracked(&list_untracked(&self.repo.git)?);
        let is_named = |path: &Vec<u8>| stock.left_out.contains(&text::path(path));
        let known = |path: &Vec<u8>| {
            start.kept.was_there(path) || stock.nested.contains(path) || is_named(path)
        };
        status.untracked.retain(|path| !known(path));
        Ok(status.untracked)
    }

    /// Looks again in a tree in which only checks were: tracked changes are taken back, by way of the quarantine in `private`.
    /// Returns their paths, for people.
    pub fn clear_again(&self, start: &mut Start, private: &Path) -> Result<Vec<String>> {
        let mut quarantine = Quarantine::of(private, &start.session, start.cycle);
        self.clear_pipes_into(&mut quarantine)?;
        let (mut status, ..) = self.look()?;
        let mut changed = Vec::new();
        if !status.dirty.is_empty() {
            changed = self.put_back_tracked(&mut quarantine)?;
            // What checks had only staged is untracked again.
            status = self.look()?.0;
        }
        start
            .kept
            .add(status.untracked.iter().chain(&status.within));
        Ok(changed)
    }
}
