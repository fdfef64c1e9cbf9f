//! What a recorded cycle changed, as git still has it.

use crate::effects::ledger::Ledger;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::figures;
use crate::model::ledger as names;
use crate::model::record::{CycleResult, Record, TakenBack, commits_taken_back};
use crate::model::snapshot::Snapshot;

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
        let to = match record.is_undone() {
            true => record
                .work_ref()
                .and_then(|work| repo.resolve(&work).ok().flatten())
                .or_else(|| undone_in_history(repo, record)),
            false => Some(record.commit_sha.clone()),
        };
        let is_there = |id: &String| repo.is_commit(id);
        Ok(to
            .filter(is_there)
            .filter(|to| *to != from)
            .map(|to| Changed { from, to }))
    }

    /// Says why a cycle that was not undone has no change.
    pub fn why_none(repo: &Repo, ledger: &Ledger, record: &Record) -> Result<&'static str> {
        let start = start_of(repo, ledger, record)?;
        let is_without = matches!(record.result, CycleResult::Idle | CycleResult::Failed);
        Ok(match start {
            _ if is_without => "it changed nothing",
            Some(start) if start == record.commit_sha => "it changed nothing",
            Some(_) => "git no longer has the commit that it came to",
            None => "git no longer has the commit that it started from",
        })
    }
}

/// Returns the work that the commit of an undo took back: that came to the branch, and is there where its ref is not, as in a clone.
fn undone_in_history(repo: &Repo, record: &Record) -> Option<String> {
    let undo = record.own_commit()?;
    let is_of_cycle = repo.message(undo).is_ok_and(|message| {
        message.starts_with("revert: evolve cycle ")
            && message
                .lines()
                .any(|line| line == format!("Evolve-Cycle: {}", record.cycle))
    });
    let parents = is_of_cycle.then(|| repo.parents_of(undo).ok()).flatten()?;
    parents.into_iter().next()
}

/// Returns which cycles were taken back. Where several of one number left a change, the undo's commit tells which it was.
pub fn taken_back(repo: &Repo, records: &[Record]) -> TakenBack {
    TakenBack::told(records, |undo| {
        let message = repo.message(&undo.commit_sha).unwrap_or_default();
        commits_taken_back(&message)
    })
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
    let before = snapshots(repo, ledger, record).before;
    if let Some(start) = before.and_then(|snapshot| snapshot.cycle_start_sha) {
        return Ok(Some(start).filter(is_there));
    }
    // Without the commit that its record came with, one of several of its number would be given another one's start.
    let exactly = is_doubled(ledger, record);
    let before = committed_with(repo, record, exactly)?.before;
    let start = before.and_then(|snapshot| snapshot.cycle_start_sha);
    Ok(start.filter(is_there))
}

/// Says whether another cycle has the number of this one.
fn is_doubled(ledger: &Ledger, record: &Record) -> bool {
    let is_it = |other: &&Record| other.cycle == record.cycle;
    ledger.history.records.iter().filter(is_it).count() > 1
}

/// The snapshots of a cycle, as far as they are there.
#[derive(Clone, Debug, Default)]
pub struct Snapshots {
    /// The one before it.
    pub before: Option<Snapshot>,
    /// The one after it.
    pub after: Option<Snapshot>,
    /// What the files say otherwise than the record: then these are what was committed with the record, or none.
    pub doubt: Option<String>,
}

impl Snapshots {
    fn contradiction(&self, record: &Record) -> Option<String> {
        figures::contradiction(record, self.before.as_ref(), self.after.as_ref())
    }

    /// Returns what is known of the repository since that cycle.
    pub fn newest(self, record: &Record) -> Option<Snapshot> {
        match record.is_undone() {
            true => self
                .before
                .map(|before| figures::known_since(record, &before)),
            false => self.after.or(self.before),
        }
    }
}

/// Returns the snapshots of a cycle. Where two branches gave the same number to a cycle each, the files are those of one of them: what
/// counts is what was committed with the record.
pub fn snapshots(repo: &Repo, ledger: &Ledger, record: &Record) -> Snapshots {
    match is_doubled(ledger, record) {
        true => committed_with(repo, record, true).unwrap_or_default(),
        false => believed(repo, ledger, record),
    }
}

/// Returns the snapshots of a cycle as the files of its number have them, if they are what it recorded; else those that were committed
/// with its record.
pub fn believed(repo: &Repo, ledger: &Ledger, record: &Record) -> Snapshots {
    let found = Snapshots {
        before: ledger.snapshot(repo, &names::snapshot(record.cycle)),
        after: ledger.snapshot(repo, &names::post_snapshot(record.cycle)),
        doubt: None,
    };
    let Some(why) = found.contradiction(record) else {
        return found;
    };
    let is_good = |it: &Snapshots| it.before.is_some() && it.contradiction(record).is_none();
    let of = |exactly| committed_with(repo, record, exactly).ok().filter(is_good);
    let recorded = of(true).or_else(|| of(false));
    if is_doubled(ledger, record) {
        // They may be the other's.
        return recorded.unwrap_or(found);
    }
    let told = match recorded {
        Some(_) => "told is what was committed with its record",
        None => "told is its record alone",
    };
    Snapshots {
        doubt: Some(format!(
            "the snapshots of cycle {} are not what it recorded: {why}; {told}, and `evolve audit` says more",
            record.cycle
        )),
        ..recorded.unwrap_or_default()
    }
}

/// Returns the snapshots that came with the commit that brought a record; `exactly` that one whose parent the record names.
fn committed_with(repo: &Repo, record: &Record, exactly: bool) -> Result<Snapshots> {
    let Some(tree) = recorded_in(repo, record, exactly)? else {
        return Ok(Snapshots::default());
    };
    Ok(Snapshots {
        before: snapshot_in(repo, &tree, &names::snapshot(record.cycle))?,
        after: snapshot_in(repo, &tree, &names::post_snapshot(record.cycle))?,
        doubt: None,
    })
}

fn snapshot_in(repo: &Repo, tree: &str, name: &str) -> Result<Option<Snapshot>> {
    let bytes = repo.file(tree, name)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Returns the tree of the commit that brought a record; `exactly` of that one whose parent the record names.
fn recorded_in(repo: &Repo, record: &Record, exactly: bool) -> Result<Option<String>> {
    let Some(head) = repo.head()?.commit else {
        return Ok(None);
    };
    let past = repo.past(&head)?;
    let subject = format!("evolve: cycle {} — ", record.cycle);
    let records = |place: &usize| {
        let of_commit = past.message(*place).and_then(|text| text.lines().next());
        let mut parents = past.parents(*place).iter().map(|it| past.id(*it));
        of_commit.is_some_and(|it| it.starts_with(&subject))
            && (!exactly || parents.any(|id| id == record.commit_sha))
    };
    let place = (0..past.len()).find(records);
    Ok(place.map(|place| past.tree(place)))
}
