//! What merges brought to a branch, and the commits of ledgers among what came with them.

use git2::Sort;

use super::Repo;
use super::failure::{broken, oid};
use crate::error::Result;
use crate::model::audit::Trailers;
use crate::model::ledger;

/// A commit that brings branches together, and one side of it whose ledger is not that of the merge.
#[derive(Clone, Debug)]
pub struct Side {
    /// The tree of the merge.
    pub merge: String,
    /// The tree of the side's newest commit.
    pub tree: String,
    /// The trees of the other sides' newest commits.
    pub others: Vec<String>,
    /// The tree of the newest commit that this side and the other have in common, if they have one.
    pub base: Option<String>,
}

/// A commit that says that it records a cycle, and touches nothing but the ledger.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The cycle.
    pub cycle: u64,
    /// Its tree.
    pub tree: String,
    /// That of its parent.
    pub before: String,
}

/// What came to a branch since a commit, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Merges {
    /// The sides of merges that did not take over their ledger as it was.
    pub sides: Vec<Side>,
    /// The commits of ledgers.
    pub recordings: Vec<Recording>,
}

impl Repo {
    /// Returns what came to `tip` since `start`. Where there is no merge with a ledger of its own, nothing is looked at.
    pub fn merges_since(&self, start: &str, tip: &str) -> Result<Merges> {
        let what = "list commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        let order = Sort::TOPOLOGICAL | Sort::REVERSE;
        walk.set_sorting(order).map_err(broken(what))?;
        walk.push(oid(tip)?).map_err(broken(what))?;
        walk.hide(oid(start)?).map_err(broken(what))?;
        let mut merges = Merges::default();
        let mut marked = Vec::new();
        for id in walk {
            let id = id.map_err(broken(what))?;
            let commit = self.inner.find_commit(id).map_err(broken(what))?;
            if commit.parent_count() > 1 {
                self.sides_of(&commit, &mut merges.sides)?;
            } else if let (Some(cycle), Ok(before)) = (recorded_by(&commit), commit.parent(0)) {
                marked.push(Recording {
                    cycle,
                    tree: commit.tree_id().to_string(),
                    before: before.tree_id().to_string(),
                });
            }
        }
        if merges.sides.is_empty() {
            return Ok(merges);
        }
        for recording in marked {
            if self.touches_the_ledger_alone(&recording)? {
                merges.recordings.push(recording);
            }
        }
        Ok(merges)
    }

    fn sides_of(&self, merge: &git2::Commit<'_>, sides: &mut Vec<Side>) -> Result<()> {
        let tree = merge.tree_id().to_string();
        let whole = self.ledger_ids(&tree)?;
        let parents: Vec<_> = merge.parent_ids().collect();
        for parent in merge.parents() {
            let side = parent.tree_id().to_string();
            if self.ledger_ids(&side)? == whole {
                continue;
            }
            let others = parents.iter().filter(|other| **other != parent.id());
            let base = others.clone().next();
            let base = base.and_then(|other| self.inner.merge_base(parent.id(), *other).ok());
            let base = base.map(|base| self.tree_of(&base.to_string()));
            let others = others.map(|other| self.tree_of(&other.to_string()));
            sides.push(Side {
                merge: tree.clone(),
                others: others.collect::<Result<_>>()?,
                tree: side,
                base: base.transpose()?,
            });
        }
        Ok(())
    }

    fn touches_the_ledger_alone(&self, recording: &Recording) -> Result<bool> {
        let mut differences = self
            .differences(&recording.before, &recording.tree)?
            .into_iter();
        Ok(differences.all(|one| ledger::is_ledger_path(&one.path)))
    }
}

/// Returns the cycle that a commit says it records.
fn recorded_by(commit: &git2::Commit<'_>) -> Option<u64> {
    Trailers::of(commit.message().ok()?).records()
}
