//! HEAD and the branch after an agent: where one of them leads to what git cannot read, because the agent damaged or removed
//! what it had committed, or wrote something else there, the branch is put back on the commit that it started from. What
//! stands in the tree is the agent's work then.

use super::{Start, Workspace};
use crate::effects::files;
use crate::effects::repo::Standing;
use crate::error::Result;

impl Workspace<'_> {
    /// Puts back what is broken; says what that was, and what else was done for it. To be done before git is called. A slot that
    /// is broken is made anew instead.
    pub fn mend_place(&self, start: &Start) -> Result<Vec<String>> {
        if self.repo.is_slot {
            return Ok(Vec::new());
        }
        let is_broken = |name: &str| -> Result<bool> {
            Ok(self.repo.standing(name, &start.commit)? == Standing::Broken)
        };
        let (head, branch) = (is_broken("HEAD")?, is_broken(&start.branch)?);
        if !head && !branch {
            return Ok(Vec::new());
        }
        let locks = self.clear_locks(start)?;
        let short = start.branch.trim_start_matches("refs/heads/");
        let mut said = "HEAD was left where git cannot read".to_owned();
        if branch {
            let to = self.newest_whole(start)?;
            self.repo.remove_broken_ref(&start.branch)?;
            self.repo.set_ref(&start.branch, &to, &start.mark())?;
            said = format!("{short} was left where git cannot read, and put back on {to}");
        }
        if head && self.repo.standing("HEAD", &start.commit)? == Standing::Broken {
            let text = format!("ref: {}\n", start.branch);
            files::replace(&self.repo.git_dir().join("HEAD"), text.as_bytes())?;
        }
        for name in ["HEAD", &start.branch] {
            self.repo
                .drop_broken_movements(name, &[&start.mark()], &start.commit)?;
        }
        Ok([said].into_iter().chain(locks).collect())
    }

    /// Returns where the branch goes back to: to the start, or to the newest commit on it that is not certain to be the agent's.
    fn newest_whole(&self, start: &Start) -> Result<String> {
        if self.movements_by_others(start)?.words.is_empty() {
            return Ok(start.commit.clone());
        }
        for movement in self.repo.movements(&start.branch) {
            if movement.new == start.commit {
                break;
            }
            let is_whole = self.repo.is_whole(&movement.new, &start.commit)?;
            if is_whole && self.repo.descends(&movement.new, &start.commit)? {
                return Ok(movement.new);
            }
        }
        Ok(start.commit.clone())
    }
}
