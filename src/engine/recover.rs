//! Settles what a dead session left: ends its processes, undoes its half-done cycle, records it as interrupted.

mod aftermath;
mod isolated;
mod lost;
mod recorded;
mod shut;

use crate::effects::isolation::Isolation;
use crate::effects::journal::{Journal, JournalFile, Phase};
use crate::effects::keep::Links;
use crate::effects::ledger::Ledger;
use crate::effects::mirror::Mirror;
use crate::effects::pipes::Plain;
use crate::effects::places::Places;
use crate::effects::process::leftovers;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::search::lent;
use crate::effects::workspace::{Plan, Settled, Start, When, Workspace, some_of};
use crate::effects::{clock, files, lock};
use crate::error::{Error, Result};
use crate::event::Events;
use crate::model::gate::{Fate, Suspect};
use crate::model::ledger as names;
use crate::model::record::{CycleResult, History, Record};
use crate::session::Ending;

pub use lost::{give_back_private, give_git_back, has_lost_private, make_private};
use recorded::Standing;
pub use shut::{lost_places, open_shut};

/// What was settled of a session that died.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The cycle whose record was written down or completed: nobody was told of it.
    pub cycle: Option<u64>,
    /// A person has to look before another session begins: the half-done cycle could not be undone without undoing somebody else's
    /// commits.
    pub ending: Option<Ending>,
}

/// Settles what the journal tells of, if there is one, and says so in one sentence.
pub fn recover(repo: &Repo, journal_file: &JournalFile, events: &Events) -> Result<Recovered> {
    for words in Isolation::tidy(repo)? {
        events.note(words);
    }
    let Some(mut journal) = journal_file.now()? else {
        return Ok(Recovered::default());
    };
    if journal.is_of(&repo.own_places()) {
        leftovers::end(&journal.session)?;
    }
    journal_file.note_end(&mut journal)?;
    open_again(repo, &mut journal, events);
    mend_place(repo, &mut journal)?;
    refuse_recorded(repo, journal_file, &journal)?;
    files::remove_temporaries(&repo.private.join("logs").join(&journal.session));
    hold_users(repo, &mut journal)?;
    clear_way(repo, journal_file, &mut journal, events)?;
    let cycle = journal.record.as_ref().map(|_| journal.cycle);
    let settled = settle(repo, journal_file, journal, events);
    let (said, ending) = settled.inspect_err(|error| super::hand_over(repo, error))?;
    // The copy first: a cycle that is settled must not be found there again.
    if let Ok(mirror) = Mirror::of(&repo.own_places()) {
        mirror.note_settled()?;
    }
    journal_file.clear()?;
    events.note(said);
    Ok(Recovered { cycle, ending })
}

/// Opens what an agent shut by its modes, and says so.
fn open_again(repo: &Repo, journal: &mut Journal, events: &Events) {
    let (Some(start), None) = (&journal.start, &journal.slot) else {
        return;
    };
    let opened = start.open(&repo.own_places(), &repo.root);
    for note in &opened {
        events.note(note.clone());
    }
    if let (Some(record), Phase::Agent | Phase::Undoing) = (&mut journal.record, journal.phase) {
        record.notes.extend(opened);
    }
}

/// Puts back what git keeps for the user beside the branch, and has git work as he has it set.
fn hold_users(repo: &Repo, journal: &mut Journal) -> Result<()> {
    let Some(start) = &journal.start else {
        return Ok(());
    };
    let changed = start.hold_users(repo)?;
    if let (Some(record), Phase::Agent) = (&mut journal.record, journal.phase) {
        let is_new = |note: &String| !record.notes.contains(note);
        let changed: Vec<_> = changed.into_iter().filter(is_new).collect();
        record.notes.extend(changed);
    }
    if !start.users.is_empty() {
        let _ = repo.users.set(start.users.clone());
    }
    if journal.slot.is_none() {
        let workspace = Workspace { repo };
        let modules = start.guarded.modules();
        repo.modules.know(workspace.ground(), modules);
    }
    Ok(())
}

/// Takes pipes out of git's way, and puts aside what came later than the dead session.
fn clear_way(
    repo: &Repo,
    journal_file: &JournalFile,
    journal: &mut Journal,
    events: &Events,
) -> Result<()> {
    let (Some(start), None) = (&journal.start, &journal.slot) else {
        return Ok(());
    };
    let mut notes = Workspace { repo }.clear_pipes(start)?;
    notes.extend(aftermath::keep_apart(repo, journal_file, journal)?);
    match (&mut journal.record, journal.phase) {
        (Some(record), Phase::Agent | Phase::Undoing) => record.notes.extend(notes),
        _ => notes.into_iter().for_each(|note| events.note(note)),
    }
    Ok(())
}

/// Settles the cycle of the journal by how far it had come. Returns that in one sentence, and an ending if a person has to look.
fn settle(
    repo: &Repo,
    journal_file: &JournalFile,
    mut journal: Journal,
    events: &Events,
) -> Result<(String, Option<Ending>)> {
    let workspace = Workspace { repo };
    let mut ending = None;
    let said = match (journal.phase, &journal.start, &journal.record) {
        (Phase::Agent | Phase::Undoing | Phase::Recording, Some(start), Some(record))
            if journal.slot.is_some() =>
        {
            let (start, record) = (start.clone(), record.clone());
            let (record, said) =
                isolated::settle(repo, journal_file, &start, &record, &mut journal)?;
            match isolated::place_of(repo, &start, &record)? {
                Some(branch) => {
                    let start = Start { branch, ..start };
                    write_down(&workspace, events, &start, &record, &journal)?;
                    tell_notes(&record, events);
                    said
                }
                None => isolated::forget(repo, &start, &journal)?,
            }
        }
        (Phase::Agent | Phase::Undoing, Some(start), Some(record)) => {
            let (record, left) = undo(
                &workspace,
                journal_file,
                start,
                record,
                journal.plan.as_ref(),
            )?;
            let start = start.clone();
            // From here on the cycle is settled: a crash of this start must not settle it again.
            journal.phase = Phase::Recording;
            journal.record = Some(record.clone());
            journal_file.write(&journal)?;
            write_down(&workspace, events, &start, &record, &journal)?;
            tell_notes(&record, events);
            if let Some(suspect) = left {
                ending = Some(Ending::somebody_else(&record, suspect));
            }
            let reason = record.reason.unwrap_or_default();
            let work = match &record.reverted_to {
                Some(_) => format!("its change was undone and stays under {}", start.work_ref()),
                None => reason,
            };
            format!(
                "cycle {} of a session that died was settled as interrupted: {work}",
                journal.cycle
            )
        }
        (Phase::Recording, Some(start), Some(record)) => {
            clear_locks(&workspace, events, start)?;
            write_down(&workspace, events, start, record, &journal)?;
            format!(
                "the record of cycle {}, whose session died, was completed",
                journal.cycle
            )
        }
        (Phase::Sweeping, Some(start), _) => put_back_swept(&workspace, start)?,
        (Phase::Closing, start, _) => {
            if let Some(start) = start {
                clear_locks(&workspace, events, start)?;
            }
            let (_, head) = repo.ready_head()?;
            let committed = repo.ledger_files(&repo.tree_of(&head)?)?;
            workspace.sync_ledger(workspace.lock_index()?, &committed)?;
            format!(
                "a session died right after cycle {}, when all was recorded",
                journal.cycle
            )
        }
        (
            Phase::Measuring | Phase::Sweeping | Phase::Agent | Phase::Undoing | Phase::Recording,
            _,
            _,
        ) => {
            let what = match journal.cycle {
                0 => "the baseline".to_owned(),
                cycle => format!("cycle {cycle}"),
            };
            format!("{what} of a session that died had changed nothing yet; it is done again")
        }
    };
    Ok((said, ending))
}

/// Gives untracked files back that checks of a dead session removed. To be done when none of them runs any more.
pub fn settle_links(repo: &Repo, session: &str, events: &Events) -> Result<()> {
    let mut quarantine = Quarantine::of(&repo.private, session, 0);
    let notes = Links::of(repo).settle(&mut quarantine)?;
    notes.into_iter().for_each(|note| events.warn(note));
    Ok(())
}

/// Puts back what agents of a search that died made of files in the checkout that checks may run, and keeps what its commands wrote
/// over. To be done before anything is measured. What a search that is at work does there is its own business.
pub async fn settle_lent(repo: &Repo, session: &str, events: &Events) -> Result<()> {
    let lock_file = repo.private.join(lock::SEARCH);
    if !lent::is_left(&repo.private) || lock::holder(&lock_file).is_some() {
        return Ok(());
    }
    let _searching = lock::take(&lock_file, &clock::timestamp()).await?;
    let notes = lent::put_back_left(repo, session)?;
    notes.into_iter().for_each(|note| events.warn(note));
    Ok(())
}

/// Tells where files went, and which are gone: that is for the user to know at once.
fn tell_notes(record: &Record, events: &Events) {
    for note in &record.notes {
        events.note(note.clone());
    }
}

/// Makes git's settings what they were before the agent of a dead session, once that is ended. Opens no repository: the
/// settings could lead it astray.
pub fn put_back_settings(places: &Places) -> Result<()> {
    let journal_file = JournalFile::of(places);
    let Some(mut journal) = journal_file.now()? else {
        return Ok(());
    };
    if journal.start.is_none() {
        return Ok(());
    }
    if journal.is_of(places) {
        leftovers::end(&journal.session)?;
    }
    journal_file.note_end(&mut journal)?;
    let Some(start) = &journal.start else {
        return Ok(());
    };
    let is_in_slot = journal.slot.is_some();
    let mut notes = match is_in_slot {
        true => Vec::new(),
        false => start.open_git_dir(places).notes(),
    };
    if journal.phase == Phase::Agent {
        if !is_in_slot {
            notes.extend(start.put_back_settings(places, &Plain::default())?.notes);
        }
        notes.extend(start.put_back_programs(places)?.notes);
    }
    // A record that is written already stays as it is.
    let is_open = matches!(journal.phase, Phase::Agent | Phase::Undoing) && !notes.is_empty();
    if let (Some(record), true) = (&mut journal.record, is_open) {
        record.notes.extend(notes);
        journal_file.write(&journal)?;
    }
    Ok(())
}

/// Puts back what the programs of a dead session's sweep changed.
fn put_back_swept(workspace: &Workspace<'_>, start: &Start) -> Result<String> {
    let repo = workspace.repo;
    workspace.clear_locks(start)?;
    repo.ready_head()?;
    let mut quarantine = Quarantine::of(&repo.private, &start.session, start.cycle);
    let changed = workspace.put_back_tracked(&mut quarantine)?;
    let mut said = format!("a session died in the sweep of cycle {}", start.cycle);
    if !changed.is_empty() {
        let notes: Vec<_> = quarantine.notes().collect();
        said.push_str(&format!(
            "; tracked files that had changes were put back: {}; {}",
            some_of(&changed),
            some_of(&notes)
        ));
    }
    Ok(said)
}

/// Takes back the change of the dead session's cycle; going on with an undo that had begun. It is left as it is where
/// commits are in the way that are not, or may not be, the agent's: then it is returned who else may have made them.
fn undo(
    workspace: &Workspace<'_>,
    journal_file: &JournalFile,
    start: &Start,
    record: &Record,
    plan: Option<&Plan>,
) -> Result<(Record, Option<Suspect>)> {
    let mut left = None;
    let mut record = record.clone();
    record.timestamp = clock::timestamp();
    record.result = CycleResult::Interrupted;
    record.reason = Some("the session died in mid-cycle".to_owned());
    let settled = match plan {
        Some(plan) => finish(workspace, start, plan)?,
        None => {
            let stock = workspace.take_stock(start)?;
            record.notes.extend(stock.notes.iter().cloned());
            if !stock.change.by_others.is_empty() {
                record.reason = Some(stock.change.others());
                left = Some(stock.change.suspect);
                workspace.settle(start, &stock, Fate::Leave, None)?
            } else {
                let subject = format!("revert: evolve cycle {} interrupted", start.cycle);
                let plan = workspace.plan_undo(
                    start,
                    &stock,
                    &subject,
                    "The session died in mid-cycle.",
                )?;
                note_plan(journal_file, plan.as_ref())?;
                let settled = workspace.settle(start, &stock, Fate::Undo, plan.as_ref())?;
                let held = start.hold_settings(&workspace.repo.own_places())?;
                let is_new = |note: &String| !record.notes.contains(note);
                record
                    .notes
                    .extend(held.into_iter().filter(is_new).collect::<Vec<_>>());
                let fetched = &stock.compared.fetched;
                record
                    .notes
                    .extend(workspace.give_fetched_back(start, fetched)?);
                settled
            }
        }
    };
    if settled.was_outrun {
        left = Some(Suspect::Nobody);
        record.reason = Some("somebody else committed after the session had died".to_owned());
    }
    let content = workspace
        .repo
        .content(&workspace.repo.tree_of(&settled.commit)?)?;
    // Not by the content alone: whoever took the agent's work back himself made no commit of `evolve`'s.
    record.reverted_to = settled.was_undone.then(|| start.commit.clone());
    record.commit_sha = settled.commit;
    record.content = Some(content);
    record.notes.extend(settled.notes);
    record.note_lost_start(workspace.keep_start(start)?);
    Ok((record, left))
}

fn note_plan(journal_file: &JournalFile, plan: Option<&Plan>) -> Result<()> {
    if let (Some(plan), Some(mut journal)) = (plan, journal_file.now()?) {
        journal.phase = Phase::Undoing;
        journal.plan = Some(plan.clone());
        journal_file.write(&journal)?;
    }
    Ok(())
}

fn finish(workspace: &Workspace<'_>, start: &Start, plan: &Plan) -> Result<Settled> {
    let repo = workspace.repo;
    workspace.clear_locks(start)?;
    let mut quarantine = Quarantine::of(&repo.private, &start.session, start.cycle);
    workspace.open_shut(start);
    let carried_out = workspace.carry_out(start, plan, &mut quarantine)?;
    let was_outrun = carried_out.is_none();
    // Nobody remembers who wrote what since the agent.
    let after = start.kept.look_after_agent(&repo.root);
    let fate = if was_outrun { Fate::Leave } else { Fate::Undo };
    let put_back = workspace.put_untracked_right(start, &after, fate, &mut quarantine)?;
    let unread = workspace.lost_unread(start);
    if !was_outrun {
        workspace.give_hollow_back(start);
    }
    workspace.shut_again(start);
    let mut notes = carried_out.unwrap_or_default();
    notes.extend(put_back.notes());
    notes.extend(unread);
    notes.extend(workspace.lost(start));
    notes.extend(quarantine.notes());
    workspace.give_flags_back(start)?;
    let held = workspace.hold_compared(start, &plan.tip, When::Measured)?;
    notes.extend(held.notes);
    notes.extend(workspace.give_fetched_back(start, &held.fetched)?);
    let head = repo.head()?.commit.unwrap_or_else(|| start.commit.clone());
    Ok(Settled {
        commit: head,
        was_undone: !was_outrun,
        was_outrun,
        made: Vec::new(),
        notes,
    })
}

/// Removes the lock files that the dead session left, and says so.
fn clear_locks(workspace: &Workspace<'_>, events: &Events, start: &Start) -> Result<()> {
    for removed in workspace.clear_locks(start)? {
        events.note(removed);
    }
    Ok(())
}

/// Appends the record and commits the ledger, unless that was done.
fn write_down(
    workspace: &Workspace<'_>,
    events: &Events,
    start: &Start,
    record: &Record,
    journal: &Journal,
) -> Result<()> {
    let repo = workspace.repo;
    let record = &record.clone().kept();
    let is_checked_out = repo.head()?.branch.as_ref() == Some(&start.branch);
    // Another branch may be checked out by now.
    let elsewhere = match journal.slot.is_some() || !is_checked_out {
        true => repo.resolve(&start.branch)?,
        false => None,
    };
    let is_elsewhere = elsewhere.is_some();
    let head = match (elsewhere, journal.slot.is_some()) {
        (Some(tip), _) => tip,
        (None, true) => return Err(Error::unsafe_repo(format!("{} is gone", start.branch))),
        (None, false) => repo.ready_head()?.1,
    };
    let tree = repo.tree_of(&head)?;
    let standing = recorded::standing(repo, start, &head, record)?;
    if standing == Standing::Recorded {
        return match is_checked_out || !is_elsewhere {
            true => workspace.sync_ledger(workspace.lock_index()?, &repo.ledger_files(&tree)?),
            false => Ok(()),
        };
    }
    let is_taken_along = standing == Standing::TakenAlong;
    // The line counts only in the commit that records it.
    let anew = is_taken_along.then(|| recorded::anew(record));
    let record = anew.as_ref().unwrap_or(record);
    let (mut ledger, gone) = Ledger::load_at(repo, &start.commit, &journal.ledger)?;
    if !gone.is_empty() {
        events.warn(format!(
            "git removed what the session that died had noted of its cycle, and the files are gone, too: {}",
            some_of(&gone)
        ));
    }
    ledger.branch = is_elsewhere.then(|| start.branch.clone());
    let post = names::post_snapshot(record.cycle);
    if !journal.ledger.contains_key(&post) {
        // Measured too late to be written down, or not measured at all and the agent's own.
        ledger.unwrite(&post)?;
    }
    let found = ledger.judge_files(repo, record.cycle, &clock::timestamp())?;
    for said in found.wrong {
        events.warn(said);
    }
    for said in found.added {
        events.note(said);
    }
    let index = workspace.lock_index()?;
    if is_taken_along {
        // The summary that came with it says the same.
        for name in [names::SUMMARY, names::DELTA] {
            if let Some(bytes) = repo.file(&tree, name)? {
                ledger.write(name, bytes)?;
            }
        }
    }
    ledger.record(repo, record)?;
    ledger.commit(workspace, index, &start.commit, &record.message())?;
    Ok(())
}

/// Puts branch and HEAD back where the dead session's agent left them where git cannot read, and makes an index anew that git
/// cannot read, be that the agent's doing or a power loss's.
fn mend_place(repo: &Repo, journal: &mut Journal) -> Result<()> {
    let (Some(start), None) = (&journal.start, &journal.slot) else {
        return Ok(());
    };
    let workspace = Workspace { repo };
    let mut broken = Vec::new();
    if journal.phase == Phase::Agent {
        broken.extend(workspace.clear_names(start)?);
        broken.extend(workspace.mend_place(start)?);
    }
    broken.extend(workspace.mend_index(start)?);
    if let Some(record) = &mut journal.record {
        record.notes.extend(broken);
    }
    Ok(())
}

/// Refuses to settle a cycle that is recorded already, under another user's settings for one: it would be undone for the
/// second time, with all that came after it.
fn refuse_recorded(repo: &Repo, journal_file: &JournalFile, journal: &Journal) -> Result<()> {
    let is_open = matches!(journal.phase, Phase::Agent | Phase::Undoing);
    let (true, Some(head)) = (is_open, repo.head()?.commit) else {
        return Ok(());
    };
    let history = repo.file(&repo.tree_of(&head)?, names::HISTORY)?;
    let history = History::parse(&String::from_utf8_lossy(&history.unwrap_or_default()));
    let is_its_own = |record: &Record| {
        record.cycle == journal.cycle && record.session.as_ref() == Some(&journal.session)
    };
    if !history.records.iter().any(is_its_own) {
        return Ok(());
    }
    Err(Error::unsafe_repo(format!(
        "cycle {} was cut short, and yet the history has a record of it: it was settled from elsewhere, or its agent wrote that",
        journal.cycle
    ))
    .hint(format!(
        "look at `git log` and `evolve show {}`, put the tree in order, then remove {}",
        journal.cycle,
        journal_file.shown()
    )))
}
