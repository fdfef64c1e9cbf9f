//! What merges since the last ledger left out: git keeps one side of a file where both sides wrote to its end, if it is told
//! to, and the ledger's files are written to by whoever ran on a branch.

use std::collections::HashSet;

use super::segments::whole;
use crate::effects::repo::{Merges, Repo};
use crate::error::Result;
use crate::model::ledger as names;
use crate::model::record::read_record;
use crate::model::work::{Queue, Side};
use crate::model::{exact, growth};

/// The merges that did not take over a side's ledger as it was, with all that came with them.
#[derive(Debug, Default)]
pub(super) struct Merged(Merges);

impl Merged {
    /// Finds the merges since the anchor; none where HEAD does not go on from it.
    pub(super) fn since(repo: &Repo, anchor: &str, descends: bool, head: &str) -> Result<Merged> {
        match descends {
            true => repo.merges_since(anchor, head).map(Merged),
            false => Ok(Merged::default()),
        }
    }

    /// Says whether a merge did not take over a side's ledger as it was.
    pub(super) fn has_sides(&self) -> bool {
        !self.0.sides.is_empty()
    }

    /// Says whether no merge can have left out a line that was recorded since.
    pub(super) fn is_empty(&self) -> bool {
        self.0.sides.is_empty() || self.0.recordings.is_empty()
    }

    /// Returns the texts of a growing file that the sides have, each version of it once.
    pub(super) fn texts(&self, repo: &Repo, name: &str) -> Result<Vec<String>> {
        let mut known = HashSet::new();
        let mut texts = Vec::new();
        for tree in self.0.sides.iter().map(|side| &side.tree) {
            if known.insert(repo.id_at(tree, name)?) {
                texts.push(whole(repo, tree, name, None)?);
            }
        }
        Ok(texts)
    }

    /// Returns what the merges made of the queue where a side had changed it otherwise. One that is larger than any is left out.
    pub(super) fn queues(&self, repo: &Repo) -> Result<Vec<Side>> {
        let read = |tree: Option<&String>| -> Result<Option<Queue>> {
            let bytes = match tree {
                Some(tree) => repo.file(tree, names::QUEUE)?,
                None => None,
            };
            let text = exact::decode(&bytes.unwrap_or_default());
            let is_refused = names::refusal(names::QUEUE, &text).is_some();
            Ok((!is_refused).then(|| Queue::parse(&text)))
        };
        let mut queues = Vec::new();
        for side in &self.0.sides {
            let id = |tree: &str| repo.id_at(tree, names::QUEUE);
            let before = side.base.as_deref().map(id).transpose()?.flatten();
            let now = id(&side.tree)?;
            if now == before || now == id(&side.merge)? {
                continue;
            }
            let others = side.others.iter().map(|tree| read(Some(tree)));
            let others: Vec<_> = others.collect::<Result<_>>()?;
            let versions = [Some(&side.tree), side.base.as_ref(), Some(&side.merge)];
            let [side, base, merge] = versions.map(read);
            if let (Some(side), Some(base), Some(merge), Some(others)) =
                (side?, base?, merge?, others.into_iter().collect())
            {
                queues.push(Side {
                    side,
                    others,
                    base,
                    merge,
                });
            }
        }
        Ok(queues)
    }

    /// Returns the lines of a growing file that a commit of the ledger added since the anchor: in the history the record of its
    /// cycle. What an agent or anybody else wrote there is not among them, as long as their commit does not pretend to be one.
    pub(super) fn recorded(&self, repo: &Repo, name: &str) -> Result<HashSet<String>> {
        let mut recorded = HashSet::new();
        for recording in &self.0.recordings {
            let (tree, before) = (&recording.tree, &recording.before);
            if repo.id_at(tree, name)? == repo.id_at(before, name)? {
                continue;
            }
            let now = whole(repo, tree, name, Some(before))?;
            let earlier = whole(repo, before, name, Some(tree))?;
            let is_its_own = |line: &&str| {
                name != names::HISTORY
                    || read_record(line).is_ok_and(|record| record.cycle == recording.cycle)
            };
            let added = growth::beyond(&now, &earlier).filter(is_its_own);
            recorded.extend(added.map(str::to_owned));
        }
        Ok(recorded)
    }

    /// Says whether a commit of the ledger that came with the merges wrote a file in this version.
    pub(super) fn has_recorded(&self, repo: &Repo, name: &str, id: &str) -> Result<bool> {
        for recording in &self.0.recordings {
            let [now, before] =
                [&recording.tree, &recording.before].map(|tree| repo.id_at(tree, name));
            let (now, before) = (now?, before?);
            if now.as_deref() == Some(id) && before != now {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
