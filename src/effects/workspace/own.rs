//! Evolve's own files in the tree that is measured after an agent: what it made of them is not kept, so it is not measured either.

use super::{Start, Stock, Workspace, ended};
use crate::effects::files;
use crate::effects::repo::Entry;
use crate::error::Result;
use crate::model::ledger;

impl Workspace<'_> {
    /// Makes evolve's own files in a copy what the cycle's start has, in the index and in the tree.
    pub fn restore_ledger(&self, start: &Start) -> Result<()> {
        let wanted = self.repo.ledger_files(&start.tree)?;
        self.remove_unknown(&wanted)?;
        let index = self.repo.git_dir().join("index");
        if self.follow_ledger(&self.repo.git, &index, &wanted)? {
            return Ok(());
        }
        self.reset_ledger_index(&wanted)?;
        let paths = wanted.iter().map(|(path, _)| path.as_bytes().to_vec());
        let paths = ended(&paths.collect::<Vec<_>>());
        let arguments = ["checkout-index", "--force", "-z", "--stdin"];
        self.repo.git.run_with(&arguments, &paths).map(drop)
    }

    /// Makes the index what the cycle's start has where the ledger lies, if the agent committed anything there.
    pub fn restore_ledger_index(&self, start: &Start, stock: &Stock) -> Result<()> {
        let now = self.repo.ledger_ids(&self.repo.tree_of(&stock.tip)?)?;
        match now == self.repo.ledger_ids(&start.tree)? {
            true => Ok(()),
            false => self.reset_ledger_index(&self.repo.ledger_files(&start.tree)?),
        }
    }

    fn remove_unknown(&self, wanted: &[(String, Entry)]) -> Result<()> {
        let root = &self.repo.root;
        let there = files::plain_names_in(root, ledger::FOLDER).into_iter();
        for path in there.chain([ledger::QUEUE.to_owned()]) {
            let is_known = wanted.iter().any(|(known, _)| *known == path);
            if !is_known && !ledger::is_private(&path) {
                files::remove(&root.join(&path))?;
            }
        }
        Ok(())
    }
}
