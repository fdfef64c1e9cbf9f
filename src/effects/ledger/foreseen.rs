//! What the next cycle would do to the ledger before it chooses, in memory only: for those who look and write nothing.

use super::Ledger;
use crate::effects::clock;
use crate::effects::journal::{Journal, JournalFile};
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::goals::Goal;
use crate::model::strikes;

impl Ledger {
    /// Lets declined goals be worked on again where the next cycle would do so: somebody else changed the content. What a cycle
    /// that is under way, or waits to be undone, did to it wakes none.
    pub fn foresee_waking(&mut self, repo: &Repo, goals: &[Goal]) -> Result<()> {
        let journal = JournalFile::of(&repo.own_places()).look();
        let is_settled = journal.is_ok_and(|it| !it.as_ref().is_some_and(Journal::is_unsettled));
        let Some(commit) = repo.head()?.commit.filter(|_| is_settled) else {
            return Ok(());
        };
        let content = repo.content(&repo.tree_of(&commit)?)?;
        let now = clock::timestamp();
        let woken = strikes::woken(goals, &self.history, &self.retries, &content, &now);
        self.retries.extend(woken);
        Ok(())
    }
}
