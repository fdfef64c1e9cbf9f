//! Settles a cycle whose agent worked in a slot: the user's branch has all of its change or nothing of it.

use std::os::unix::ffi::OsStrExt;

use crate::effects::files;
use crate::effects::files::is_beneath;
use crate::effects::isolation::{Isolation, lent};
use crate::effects::journal::{Journal, JournalFile, Phase};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Repo, hash_blob};
use crate::effects::workspace::{Start, Workspace};
use crate::error::{Kind, Result};
use crate::model::ledger as names;
use crate::model::record::{CycleResult, History, Record};
use crate::model::slot::Provisions;
use crate::model::text;

/// Finds out what became of the change, and completes a landing that had begun. Returns the record, and says what was done.
pub fn settle(
    repo: &Repo,
    journal_file: &JournalFile,
    start: &Start,
    record: &Record,
    journal: &mut Journal,
) -> Result<(Record, String)> {
    let removed = Workspace { repo }.clear_locks(start)?;
    let cycle = journal.cycle;
    let is_decided = journal.phase == Phase::Recording;
    let mut record = record.clone();
    if !is_decided {
        // One that is decided may be in the history as it is.
        record.notes.extend(removed);
    }
    let has_landed = match &journal.landing {
        Some(landing) => {
            let mut quarantine = Quarantine::of(&repo.private, &start.session, start.cycle);
            let landed = Workspace { repo }.complete_landing(landing, &mut quarantine)?;
            record.notes.extend(landed.iter().flatten().cloned());
            if landed.is_some() {
                record.notes.extend(lent::put_back_missing(repo, start)?);
            }
            landed.is_some()
        }
        None => is_decided,
    };
    if has_landed {
        if journal.landing.is_some() {
            repo.remove_ref(&start.work_ref())?;
        }
        let said = format!("the record of cycle {cycle}, whose session died, was completed");
        return Ok((record, said));
    }
    let provisions = journal.slot.clone().unwrap_or_default();
    let (work, notes) = rescue(repo, start, provisions)?;
    record.notes.extend(notes);
    record.timestamp = crate::effects::clock::timestamp();
    record.result = CycleResult::Interrupted;
    record.reason = Some("the session died in mid-cycle".to_owned());
    record.commit_sha.clone_from(&start.commit);
    record.content = Some(start.content.clone());
    record.goals_added = 0;
    record.reverted_to = work.is_kept().then(|| start.commit.clone());
    record.note_lost_start(Workspace { repo }.keep_start(start)?);
    // From here on the cycle is settled: a crash of this start must not settle it again.
    journal.phase = Phase::Recording;
    journal.landing = None;
    journal.record = Some(record.clone());
    journal_file.write(journal)?;
    let what = match work {
        Work::Kept(work) => format!("its change never reached the branch and stays under {work}"),
        Work::None => "it had changed nothing".to_owned(),
        Work::Gone => "its copy was removed, and with it what the agent had done".to_owned(),
    };
    let said = format!("cycle {cycle} of a session that died was settled as interrupted: {what}");
    Ok((record, said))
}

/// What is left of an agent's work.
enum Work {
    /// The ref that has it.
    Kept(String),
    /// It had changed nothing, or nothing that can be read.
    None,
    /// Its copy is gone.
    Gone,
}

impl Work {
    fn is_kept(&self) -> bool {
        matches!(self, Work::Kept(_))
    }
}

/// Puts back what the checkout lent, and takes over what the agent had done so far; says what was put back. What cannot be looked at
/// now, or has no room where it has to go, has to wait.
fn rescue(repo: &Repo, start: &Start, provisions: Provisions) -> Result<(Work, Vec<String>)> {
    // First: these are the user's, whatever became of the slot.
    let mut notes = lent::put_back(repo, start)?;
    let name = start.work_ref();
    let is_there = || repo.resolve(&name).ok().flatten().is_some();
    // All of it was taken over before the session died then, and the slot may be half made anew since.
    let was_there = is_there();
    let mut place = None;
    let rescued = Isolation::after_a_crash(repo, start, provisions).and_then(|isolation| {
        place = Some(isolation.slot.root.clone());
        if isolation.refuse_gone().is_err() {
            return Ok(None);
        }
        if !was_there {
            isolation.take_stock(start)?;
        }
        isolation.undo(start).map(Some)
    });
    match rescued {
        Err(error) if error.is_shortage() => {
            let Some(root) = place else {
                return Err(error);
            };
            let copy = text::path(root.as_os_str().as_bytes());
            return Err(error.advised().hint(format!(
                "where it is the copy that the agent filled: remove {copy} (what it did not commit there is gone then), and run evolve again"
            )));
        }
        Err(error) if error.is_of_machine() || error.is_halt() || error.kind == Kind::Human => {
            return Err(error);
        }
        Err(error) => {
            tracing::warn!("what the agent of the dead session did cannot be taken over: {error}");
        }
        Ok(None) if !was_there => return Ok((Work::Gone, notes)),
        Ok(undone) => notes.extend(undone.into_iter().flatten()),
    }
    let work = match is_there() {
        true => Work::Kept(name),
        false => Work::None,
    };
    Ok((work, notes))
}

/// Returns the branch that a cycle is recorded on: its own, or, where that was renamed or removed, the one that is checked out
/// if it goes on from the cycle. None if no branch does.
pub fn place_of(repo: &Repo, start: &Start, record: &Record) -> Result<Option<String>> {
    if repo.resolve(&start.branch)?.is_some() {
        return Ok(Some(start.branch.clone()));
    }
    let (branch, tip) = repo.ready_head()?;
    let goes_on = repo.descends(&tip, &start.commit)? && repo.descends(&tip, &record.commit_sha)?;
    Ok(goes_on.then_some(branch))
}

/// Removes what a cycle wrote that is recorded nowhere: its branch is gone. Says so.
pub fn forget(repo: &Repo, start: &Start, journal: &Journal) -> Result<String> {
    let (_, head) = repo.ready_head()?;
    let committed = repo.ledger_files(&repo.tree_of(&head)?)?;
    for (name, id) in &journal.ledger {
        let file = repo.root.join(name);
        let is_committed = committed.iter().any(|(known, _)| known == name);
        let is_as_written = is_beneath(&repo.root, name.as_bytes())
            && files::read_bounded(&file, names::most_bytes(name))
                .is_ok_and(|bytes| bytes.is_some_and(|bytes| hash_blob(&bytes) == *id));
        if !is_committed && is_as_written {
            files::remove(&file)?;
        }
    }
    let history = repo.root.join(names::HISTORY);
    let is_committed = committed.iter().any(|(known, _)| known == names::HISTORY);
    if !is_committed && is_beneath(&repo.root, names::HISTORY.as_bytes()) {
        let text = files::read_text(&history, names::most_bytes(names::HISTORY))?;
        let records = History::parse(&text).records;
        let is_of_session = |one: &Record| one.session.as_ref() == Some(&journal.session);
        if records.iter().all(is_of_session) {
            files::remove(&history)?;
        }
    }
    let workspace = Workspace { repo };
    workspace.sync_ledger(workspace.lock_index()?, &committed)?;
    Ok(format!(
        "cycle {} of a session that died is recorded nowhere: its branch {} is gone, and the one that is checked out does not go on from it",
        journal.cycle,
        start.branch.trim_start_matches("refs/heads/")
    ))
}
