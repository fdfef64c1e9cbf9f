//! What a recorded cycle changed, as git still has it.

use crate::effects::ledger::Ledger;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::ledger as names;
use crate::model::record::Record;

/// The change of a recorded cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The commit that it started from.
    pub from: String,
    /// The commit that it came to; of an undone one, the work that the agent left.
    pub to: String,
}

impl Changed {
    /// Finds the change of a cycle; none if it made none, or what it was cannot be told any more.
    pub fn of(repo: &Repo, ledger: &Ledger, record: &Record) -> Result<Option<Changed>> {
        let Some(from) = start_of(repo, ledger, record)? else {
            return Ok(None);
        };
        let to = match (&record.session, record.is_undone()) {
            (Some(session), true) => {
                let work = format!("refs/evolve/{session}/{}", record.cycle);
                repo.resolve(&work).ok().flatten()
            }
            (None, true) => None,
            (_, false) => Some(record.commit_sha.clone()),
        };
        let is_there = |id: &String| repo.is_commit(id);
        Ok(to
            .filter(is_there)
            .filter(|to| *to != from)
            .map(|to| Changed { from, to }))
    }
}

/// Returns the commit that a cycle started from; where its change was brought together with commits of others, the last of these.
fn start_of(repo: &Repo, ledger: &Ledger, record: &Record) -> Result<Option<String>> {
    let is_there = |id: &String| repo.is_commit(id);
    if let Some(others) = record.brought_together_with() {
        return Ok(Some(others.to_owned()).filter(is_there));
    }
    if let Some(start) = record.reverted_to.clone().filter(is_there) {
        return Ok(Some(start));
    }
    let snapshot = ledger.snapshot(repo, &names::snapshot(record.cycle));
    if let Some(start) = snapshot.and_then(|snapshot| snapshot.cycle_start_sha) {
        return Ok(Some(start).filter(is_there));
    }
    start_in_history(repo, record.cycle)
}

/// Returns the start of a cycle whose snapshot is no longer in the tree, from the commit that brought its record.
fn start_in_history(repo: &Repo, cycle: u64) -> Result<Option<String>> {
    let Some(head) = repo.head()?.commit else {
        return Ok(None);
    };
    let past = repo.past(&head)?;
    let records = |place: &usize| {
        let subject = past.message(*place).and_then(|text| text.lines().next());
        subject.is_some_and(|subject| subject.starts_with(&format!("evolve: cycle {cycle} — ")))
    };
    let Some(place) = (0..past.len()).find(records) else {
        return Ok(None);
    };
    let bytes = repo.file(&past.tree(place), &names::snapshot(cycle))?;
    let snapshot: Option<crate::model::snapshot::Snapshot> =
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let start = snapshot.and_then(|snapshot| snapshot.cycle_start_sha);
    Ok(start.filter(|id| repo.is_commit(id)))
}
