//! What git holds beside a record: the summary that came with it, the snapshot that it took over, files that do not belong there,
//! keys that nobody reads.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::Auditor;
use crate::error::Result;
use crate::model::audit::{self, Disagreement, Sight, Trailers};
use crate::model::ledger as names;
use crate::model::record::{Record, read_record};
use crate::model::schema;
use crate::model::snapshot::Snapshot;
use crate::model::text;

/// How the summary names its session.
const SESSION: &str = "- session: ";
/// How many unknown keys are named.
const SHOWN: usize = 20;

impl Auditor<'_> {
    /// Returns the session that the summary names which came with a record; none if none came with it, as when another session
    /// completed the record of a dead one.
    pub(super) fn session_beside(&self, recorder: usize) -> Result<Option<String>> {
        let id = |place: usize| {
            let tree = self.past.tree(place);
            self.repo.file_id(&tree, names::SUMMARY)
        };
        let Some(mine) = id(recorder)? else {
            return Ok(None);
        };
        for parent in self.past.parents(recorder) {
            if id(*parent)?.as_ref() == Some(&mine) {
                return Ok(None);
            }
        }
        if self.repo.blob_size(&mine)? as u64 > names::most_bytes(names::SUMMARY) {
            return Ok(None);
        }
        let summary = self.repo.blob(&mine)?;
        let summary = String::from_utf8_lossy(&summary);
        let named = summary.lines().find_map(|line| line.strip_prefix(SESSION));
        Ok(named.map(str::to_owned))
    }

    /// Returns the snapshot that a first one says it was taken over from, as it lay beside it. Where two branches each wrote one of
    /// that name, which it was cannot be seen.
    pub(super) fn origin(
        &mut self,
        recorder: Option<usize>,
        before: Option<&Snapshot>,
    ) -> Result<Sight<Result<Snapshot, String>>> {
        let name = before.and_then(|before| before.taken_from.as_ref());
        let (Some(place), Some(name)) = (recorder, name) else {
            return Ok(Sight::Unseen);
        };
        let path = format!("{}/{name}", names::FOLDER);
        if self.repeated.contains(&path) {
            return Ok(Sight::Unseen);
        }
        self.snapshot_at(Some(place), &path)
    }

    /// Finds commits of the ledger that change files outside of it. They are made of what their parent has and the ledger: what
    /// somebody committed before, or brought in, is in the parent. `recorders` are the commits that recorded something.
    pub(super) fn more_than_the_ledger(
        &self,
        recorders: &HashSet<&str>,
        of_agents: &HashSet<usize>,
    ) -> Result<Vec<Disagreement>> {
        let mut found = Vec::new();
        for place in (0..self.past.len()).filter(|place| !of_agents.contains(place)) {
            let Some(message) = self.past.message(place) else {
                continue;
            };
            let cycle = Trailers::of(message).records();
            if cycle.is_none() && !names::is_end_message(message) || self.past.is_cut(place) {
                continue;
            }
            let commit = self.past.id(place);
            // A merge may quote the message of what it brings in.
            let is_alone = self.past.parents(place).len() == 1;
            if is_alone || recorders.contains(&commit[..]) {
                let others = self.beside_the_ledger(place)?;
                found.extend(audit::of_ledger_commit(&commit, cycle, &others));
            }
        }
        Ok(found)
    }

    /// Returns the paths outside the ledger in which a commit differs from the parent that it differs least from. What stood in
    /// the way of the ledger's folders is none of them.
    fn beside_the_ledger(&self, place: usize) -> Result<Vec<String>> {
        let content = self.repo.content(&self.past.tree(place))?;
        let mut least: Option<Vec<String>> = None;
        for parent in self.past.parents(place) {
            if self.repo.content(&self.past.tree(*parent))? == content {
                return Ok(Vec::new());
            }
            let differs = self.differences(&self.past.tree(*parent), &self.past.tree(place))?;
            if least
                .as_ref()
                .is_none_or(|least| differs.len() < least.len())
            {
                least = Some(differs);
            }
        }
        Ok(least.unwrap_or_default())
    }

    /// Says which commits of `evolve`'s, and which of those in which something disagrees, were made again, and by whom: what they
    /// were called before stands in the records.
    pub(super) fn rewritten(&self, disagreements: &[Disagreement]) -> Option<String> {
        let is_ours = |place: &usize| self.past.message(*place).is_some();
        let ours = (0..self.past.len()).filter(is_ours);
        let odd = disagreements.iter().filter_map(|one| one.commit.clone());
        let commits: BTreeSet<String> = ours.map(|place| self.past.id(place)).chain(odd).collect();
        let by = |id: &String| {
            let who = text::clean_line(&self.repo.rewriter(id)?);
            Some(format!("{id} by {who}"))
        };
        let all: Vec<String> = commits.iter().filter_map(by).collect();
        (!all.is_empty()).then(|| {
            format!(
                "made again, as by `git commit --amend` or `git rebase`: {}",
                text::some_of(&all, SHOWN)
            )
        })
    }

    /// Notes the keys of a document that nothing here reads.
    pub(super) fn note_unknown(&mut self, schema: &str, what: &str, bytes: &[u8]) {
        if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
            let found = schema::unknown_keys(schema, &value);
            let named = found
                .iter()
                .map(|key| format!("{} of {what}", text::clean_line(key)));
            self.unknown.extend(named);
        }
    }

    /// Says which keys nothing here reads: those of a newer version, or nobody's.
    pub(super) fn unknown_keys(&mut self, lines: &[String]) -> Option<String> {
        for line in lines.iter() {
            let Ok(Record { cycle, .. }) = read_record(line) else {
                continue;
            };
            self.note_unknown(
                "record",
                &format!("the record of cycle {cycle}"),
                line.as_bytes(),
            );
        }
        let found = Vec::from_iter(&self.unknown);
        (!found.is_empty()).then(|| {
            let owned: Vec<String> = found.into_iter().cloned().collect();
            format!(
                "{} that this version does not know and does not look at: {}",
                text::count(owned.len(), "key"),
                text::some_of(&owned, SHOWN)
            )
        })
    }
}
