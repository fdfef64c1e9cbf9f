//! The last part of a cycle: carry out the verdict, find out whose fault a regression was, write the record and commit it.

use crate::cycle::Step;
use crate::cycle::attempt::Attempt;
use crate::cycle::summary;
use crate::effects::clock;
use crate::effects::journal::Phase;
use crate::effects::keep::LOST;
use crate::effects::workspace::{Settled, Start, Stock, Workspace, some_of};
use crate::error::Result;
use crate::event::Event;
use crate::model::emptied;
use crate::model::figures;
use crate::model::gate::{Change, Fate, Verdict};
use crate::model::goals::{Goals, Where};
use crate::model::installed;
use crate::model::ledger as names;
use crate::model::lesson;
use crate::model::record::{self, CycleResult, Record, is_offered, put_back};
use crate::model::select::{self, Stuck, Task};
use crate::model::snapshot::{CheckResult, FORMAT, Measurement, Snapshot};
use crate::model::strikes;
use crate::model::sweep;
use crate::model::text;
use crate::model::work::BY_AGENT;
use crate::session::{Carried, Cut, Ending, Progress, Session};

/// How many idle cycles in a row on the same content are dormancy.
const DORMANT_AFTER: usize = 3;
/// How many cycles of a session in a row may work on what agents left: each may leave more, and it would never end.
pub const MOST_FOUND_IN_A_ROW: usize = 20;
/// How many findings an agent may leave in one cycle.
const FINDINGS: usize = 10;

/// Carries out the verdict. If somebody else moved the branch meanwhile nothing is undone, and the verdict says so.
pub fn settle(
    session: &Session,
    start: &Start,
    stock: &Stock,
    verdict: Verdict,
    measured: Where,
) -> Result<(Verdict, Settled)> {
    if let Some(isolation) = &session.isolation {
        let settled = isolation.settle(start, stock, verdict.fate)?;
        let work = start.work_ref();
        // An agent that only broke its copy left nothing to keep.
        if settled.was_undone && session.home().resolve(&work)?.is_some() {
            let is_offered = is_offered(verdict.result, verdict.reason.as_deref());
            session.events.note_behind(match is_offered {
                // No record may tell of it before the next session: what kept it from the branch may keep that, too.
                true => format!(
                    "the good change stays under {work}: `git merge {work}` takes it in once nothing is in its way"
                ),
                false => kept_under(session, &work),
            });
        }
        return Ok((verdict, settled));
    }
    // Checks ran what the agent wrote.
    let put_back = session.guard(start)?;
    let workspace = session.workspace();
    let plan = match verdict.fate {
        Fate::Keep | Fate::Leave => None,
        Fate::Undo => {
            let subject = undo_subject(start.cycle, &verdict);
            let mut plan = workspace.plan_undo(
                start,
                stock,
                &subject,
                verdict.reason.as_deref().unwrap_or_default(),
            )?;
            if let Some(plan) = &mut plan {
                plan.is_measured_here = measured != Where::Clean;
                let mut journal = session.journal(start.cycle)?;
                journal.phase = Phase::Undoing;
                journal.plan = Some(plan.clone());
                session.journal_file.write(&journal)?;
            }
            plan
        }
    };
    let mut settled = workspace.settle(start, stock, verdict.fate, plan.as_ref())?;
    let is_new = |note: &String| !stock.notes.contains(note);
    settled.notes.extend(put_back.into_iter().filter(is_new));
    if settled.was_outrun {
        let reason =
            Some("somebody else committed while the change was about to be undone".to_owned());
        let verdict = Verdict {
            fate: Fate::Leave,
            result: CycleResult::Interrupted,
            reason,
            ..verdict
        };
        return Ok((verdict, settled));
    }
    if verdict.fate == Fate::Undo {
        workspace.verify_undone(start)?;
        if !plan.as_ref().is_some_and(|plan| plan.is_measured_here) {
            warn_of_changes(session)?;
        }
        if plan.is_some() {
            let words = kept_under(session, &start.work_ref());
            session.events.note_behind(words);
        }
    }
    Ok((verdict, settled))
}

/// Says where what was undone can be found. The commit of an undo may take a change back or bring it back.
fn kept_under(session: &Session, work: &str) -> String {
    let what = match session.options.errand {
        Some(_) => "the commit of the undo",
        None => "the undone work",
    };
    format!("{what} stays under {work}")
}

/// Warns of tracked changes that are not the cycle's: where none was undone, or no check ran in the tree, they are the user's.
fn warn_of_changes(session: &Session) -> Result<()> {
    let dirty = session.workspace().dirty_files()?;
    if !dirty.is_empty() {
        session.events.warn(format!(
            "tracked files have changes beside the undone cycle's: {}",
            some_of(&dirty)
        ));
    }
    Ok(())
}

/// Looks at git's settings and objects once more: what git and the checks ran since may have loaded what the agent wrote.
pub fn hold_settings(
    session: &Session,
    start: &Start,
    stock: &Stock,
    settled: &mut Settled,
) -> Result<()> {
    let mut held = session.hold_settings(start)?;
    held.extend(session.clear_objects(start)?);
    let is_new = |note: &String| !stock.notes.contains(note) && !settled.notes.contains(note);
    let held: Vec<_> = held.into_iter().filter(is_new).collect();
    settled.notes.extend(held);
    Ok(())
}

/// Returns the first line of an undo commit.
fn undo_subject(cycle: u64, verdict: &Verdict) -> String {
    let goals = verdict.newly_failing.join(", ");
    match (verdict.result, goals.is_empty()) {
        (CycleResult::Regressed, false) => {
            format!("revert: evolve cycle {cycle} regression in {goals}")
        }
        (CycleResult::Regressed, true) => {
            let why = verdict.reason.as_deref().unwrap_or_default();
            format!(
                "revert: evolve cycle {cycle}, {}",
                why.split(':').next().unwrap_or_default()
            )
        }
        (CycleResult::Interrupted, _) => format!("revert: evolve cycle {cycle} interrupted"),
        (CycleResult::Failed, _) => format!("revert: evolve cycle {cycle} declined"),
        (result, _) => format!("revert: evolve cycle {cycle} {}", result.word()),
    }
}

/// Measures the regressed goals again after the undo. If they still fail, the change was not to blame: the environment
/// changed. Where they could not be measured nothing is blamed: the cycle was cut short. What the checks do to the user's files is
/// put right as in the first measurement.
pub async fn blame(
    session: &Session,
    start: &Start,
    stock: &Stock,
    attempt: &mut Attempt<'_>,
    verdict: Verdict,
    settled: &mut Settled,
) -> Result<Verdict> {
    let is_regression = verdict.fate == Fate::Undo && verdict.result == CycleResult::Regressed;
    if !is_regression || verdict.newly_failing.is_empty() {
        return Ok(verdict);
    }
    session.link_untracked(start)?;
    let still = attempt
        .still_failing(session, start, &verdict.newly_failing)
        .await;
    settled.notes.extend(session.settle_links(start.cycle)?);
    attempt.put_back_after_undo(session, start)?;
    let still = match still {
        Ok(still) => still,
        Err(cut) => return Ok(attempt.cut_short(cut, &stock.change)),
    };
    if still.is_empty() {
        return Ok(verdict);
    }
    settled.notes.extend(installed::again(&stock.files));
    Ok(Verdict {
        reason: Some(record::environment_changed(&still)),
        ..verdict
    })
}

/// Writes down what the cycle came to, takes in what the agent left, and commits the ledger.
pub fn record(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    attempt: &Attempt<'_>,
    record: Record,
) -> Result<Record> {
    let mut record = record;
    // What somebody else mended since the last record is forgiven its strikes too.
    for id in &progress.mended {
        if !record.newly_passing.contains(id) {
            record.newly_passing.push(id.clone());
        }
    }
    let home = session.home();
    if home.head()?.branch.as_ref() != Some(&start.branch) && home.resolve(&start.branch)?.is_some()
    {
        // A person went to another branch meanwhile, on which the record has no business.
        progress.ledger.branch = Some(start.branch.clone());
    }
    let found = progress
        .ledger
        .judge_files(session.home(), start.cycle, &clock::timestamp())?;
    let found = found.beyond(&attempt.own_found);
    for what in &found.wrong {
        session.events.warn(what.clone());
    }
    let known = attempt.own_found.clone();
    let said = [known.wrong, found.wrong, known.added, found.added];
    record.notes.extend(said.concat());
    record.note_lost_start(Workspace { repo: home }.keep_start(start)?);
    take_in(session, progress, start, attempt, &record)?;
    write_down(session, progress, start, &record, Some(attempt.goals))?;
    Ok(record)
}

/// Takes in lessons and findings, and lets go of the work item.
fn take_in(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    attempt: &Attempt<'_>,
    record: &Record,
) -> Result<()> {
    let now = clock::timestamp();
    let ledger = &mut progress.ledger;
    if let Task::Item(item) = attempt.task {
        let by = format!("evolve cycle {}", start.cycle);
        match record.result {
            CycleResult::Harvested => {
                ledger.queue.consume(item.key, &by, &now);
                let is_of_sweep = |source: &str| source.starts_with(sweep::SOURCE);
                if item.source.as_deref().is_some_and(is_of_sweep) {
                    progress.unproven.insert(start.cycle);
                }
            }
            CycleResult::Interrupted => ledger.queue.release(item.key),
            CycleResult::Regressed if record.is_environment_change() => {
                ledger.queue.release(item.key)
            }
            CycleResult::Improved
            | CycleResult::Unchanged
            | CycleResult::Regressed
            | CycleResult::Failed
            | CycleResult::Idle => ledger.queue.fail(item.key, &now),
        }
    }
    if let Some(run) = attempt
        .run
        .as_ref()
        .filter(|_| record.result != CycleResult::Interrupted)
    {
        let source = format!("{BY_AGENT}{}", start.cycle);
        let (added, problems) = ledger.queue.take_found(&run.found, &source, &now, FINDINGS);
        if added > 0 {
            session.events.note(format!(
                "the agent found and left {added} more to do: see `evolve work list`"
            ));
        }
        for problem in problems {
            session
                .events
                .warn(format!("a finding of the agent's is left out: {problem}"));
        }
        let goal_id = attempt.task.goal_id();
        ledger.learn(lesson::taken_in(
            &run.lessons,
            &ledger.lessons,
            &goal_id,
            start.cycle,
            &now,
        ))?;
    }
    ledger.write_queue()
}

/// Appends the record, rewrites the session's summary and commits the ledger. Where the cycle worked on one of `goals`, and that will be
/// passed over from now on, it is told.
fn write_down(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    record: &Record,
    goals: Option<&Goals>,
) -> Result<()> {
    let mut record = record.clone();
    record.notes.splice(..0, progress.found.drain(..));
    progress.untold.clear();
    record.notes = put_back::named_once(record.notes);
    let record = &record.kept();
    let mut journal = session.journal(start.cycle)?;
    journal.phase = Phase::Recording;
    journal.landing = None;
    journal.start = Some(start.clone());
    journal.record = Some(record.clone());
    let home = session.home();
    journal.ledger = progress.ledger.stored(home)?;
    session.journal_file.write(&journal)?;
    let workspace = Workspace { repo: home };
    // A commit of the user's would take the record with it from the moment when it is in the tree.
    let index = workspace.lock_index()?;
    progress.ledger.record(home, record)?;
    progress.recorded.add(record.clone());
    progress.start = Some(start.clone());
    let written = summary::write(session, progress, None).and_then(|()| {
        let ledger = &mut progress.ledger;
        ledger.commit(&workspace, index, &start.commit, &record.message())
    });
    if let Err(error) = written {
        // The next start records it; this session cannot say that it is done.
        progress.recorded.take_back();
        return Err(error);
    }
    progress.mended.clear();
    session.clear_journal()?;
    let goal = goals.zip(record.goal_id.as_deref());
    if let Some(goal) = goal.and_then(|(goals, id)| goals.find(id)) {
        let ledger = &progress.ledger;
        let standing = strikes::standing(goal, &ledger.history.records, &ledger.retries);
        if let Some(words) = standing.words(&goal.id) {
            session.events.note_behind(words);
        }
    }
    session.events.send(Event::CycleFinished {
        record: Box::new(record.clone()),
    });
    Ok(())
}

/// Records a cycle with nothing to do; the third in a row on the same content is dormancy. A repository that was already
/// dormant gets no new record.
pub fn idle(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    before: &Snapshot,
) -> Result<Step, Cut> {
    let skipped: Vec<_> = before
        .with(CheckResult::Skip)
        .map(|goal| {
            format!(
                "{} ({})",
                goal.id,
                goal.reason.as_deref().unwrap_or("skipped")
            )
        })
        .collect();
    let mut reason = select::nothing_to_do(&progress.ledger.queue, &session.home().name());
    let swept = progress.swept_in(start.cycle);
    if let Some(told) = swept {
        reason.push_str(&format!("; {told}"));
    }
    if !skipped.is_empty() {
        reason.push_str(&format!("; not measured: {}", skipped.join(", ")));
    }
    let missing = match before.goals.iter().any(Measurement::cannot_run) {
        true => {
            " (`evolve measure` shows what each check says, `evolve doctor` which programs are missing)"
        }
        false => "",
    };
    let streak = progress.ledger.history.idle_streak(&start.content);
    // The date of a sweep is committed like all else, so its cycle is recorded.
    if streak >= DORMANT_AFTER && swept.is_none() {
        progress.ledger.unwrite(&names::snapshot(start.cycle))?;
        session.clear_journal()?;
        let reason = format!("still nothing to do: {reason}{missing}");
        return Ok(Step::End(Ending::fine("dormant", reason)));
    }
    let record = Record {
        format: FORMAT,
        cycle: start.cycle,
        goal_id: None,
        result: CycleResult::Idle,
        commit_sha: start.commit.clone(),
        reverted_to: None,
        goals_passing: before.goals_passing,
        goals_total: before.goals_total,
        goals_added: 0,
        timestamp: clock::timestamp(),
        score_before: Some(before.score),
        score_after: Some(before.score),
        newly_failing: Vec::new(),
        newly_passing: progress.mended.clone(),
        reason: Some(reason.clone()),
        definition: None,
        content: Some(start.content.clone()),
        session: Some(session.id.clone()),
        agent: None,
        notes: Vec::new(),
    };
    write_down(session, progress, start, &record, None)?;
    match streak + 1 >= DORMANT_AFTER {
        true => Ok(Step::End(Ending::fine("dormant", reason + missing))),
        false => Ok(Step::Idle),
    }
}

/// Ends the session because every failing goal is struck or declined; nothing is recorded.
pub fn leave_to_a_person(
    session: &Session,
    progress: &mut Progress,
    cycle: u64,
    stuck: Vec<Stuck>,
) -> Result<Step, Cut> {
    progress.ledger.unwrite(&names::snapshot(cycle))?;
    session.clear_journal()?;
    let each: Vec<_> = stuck
        .iter()
        .map(|stuck| format!("{} ({}: {})", stuck.goal_id, stuck.standing, stuck.reason))
        .collect();
    let waiting = progress.ledger.queue.open(&session.home().name()).len();
    let verb = if waiting == 1 { "waits" } else { "wait" };
    let items = text::count(waiting, "item");
    let waiting = match waiting {
        0 => String::new(),
        _ => format!("; {items} {verb} in the queue, which is worked on when no goal fails"),
    };
    let reason = format!("a human is needed: {}{waiting}", each.join("; "));
    Ok(Step::End(Ending::human_needed(reason, stuck)))
}

/// Ends the session where agents have kept it at work for long with what they left themselves; nothing is recorded.
pub fn leave_to_agents_no_more(
    session: &Session,
    progress: &mut Progress,
    cycle: u64,
) -> Result<Step, Cut> {
    progress.ledger.unwrite(&names::snapshot(cycle))?;
    session.clear_journal()?;
    let reason = format!(
        "a human is needed: the last {MOST_FOUND_IN_A_ROW} cycles all worked on what agents had left to do themselves; look through `evolve work list`, then run evolve again"
    );
    Ok(Step::End(Ending::human_needed(reason, Vec::new())))
}

/// Says what follows a recorded cycle.
pub fn step_after(record: &Record, verdict: &Verdict, change: &Change) -> Step {
    if verdict.fate == Fate::Leave {
        return Step::End(Ending::somebody_else(record, change.suspect));
    }
    // Whoever destroys what is a person's, its copies with it, is not called again before that person knows.
    let is_lost = |note: &&String| note.starts_with(LOST) || note.starts_with(emptied::BY_AGENT);
    if let Some(lost) = record.notes.iter().find(is_lost) {
        let reason = format!("a human is needed: {lost}");
        return Step::End(Ending::human_needed(reason, Vec::new()));
    }
    if record.is_environment_change() {
        let mut reason = record.reason.clone().unwrap_or_default();
        let mut notes = record.notes.iter();
        if let Some(note) = notes.find(|note| note.starts_with(installed::AGAIN)) {
            reason = format!("{reason}; {note}");
        }
        return Step::End(Ending::human_needed(reason, Vec::new()));
    }
    Step::Next
}

impl Progress {
    /// Notes what the cycle left measured: after a kept change its second snapshot, after an undone one its first.
    pub fn carry(&mut self, record: &Record, kept: Option<&Snapshot>, before: &Snapshot) {
        let Some(after) = kept else {
            self.newest = Some(figures::known_since(record, before));
            return;
        };
        self.newest = Some(after.clone());
        self.carried = record.content.clone().map(|content| Carried {
            snapshot: after.clone(),
            file: names::post_snapshot(record.cycle),
            content,
        });
    }
}
