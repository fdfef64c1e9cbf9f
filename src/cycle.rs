//! One cycle, told in order: measure, select, brief, agent, measure, judge, settle, record.

mod attempt;
mod by_checks;
mod by_name;
mod call;
mod choose;
mod elsewhere;
mod lack;
mod land;
mod own_records;
mod settle;
pub mod summary;
mod sweep;
mod unignored;

use crate::effects::journal::Journal;
use crate::effects::workspace::{Start, Stock};
use crate::error::Result;
use crate::model::gate::{self, Fate, Verdict};
use crate::model::goals::Goals;
use crate::model::ledger as names;
use crate::model::record::{BASELINE_IS_ADRIFT, Record};
use crate::model::select::{Choice, Task};
use crate::model::snapshot::{Measurement, Snapshot};
use crate::session::{Cut, Ending, Progress, Session};

use attempt::Attempt;
use call::Called;

pub use attempt::drop_copies;
pub use by_checks::clear as clear_after_checks;
pub use choose::{load_goals, measure_before, refuse_unmeasurable};
pub use elsewhere::warn as warn_of_elsewhere;
pub use lack::warn as warn_of_lack;
pub use land::until_free;

/// What follows a cycle.
#[derive(Debug)]
pub enum Step {
    /// Another cycle, if nothing speaks against it.
    Next,
    /// Another one after a rest: there was nothing to do.
    Idle,
    /// The end of the session.
    End(Ending),
}

impl Progress {
    /// Says whether a task is once more what agents left, after too many cycles in a row that worked on such.
    fn is_kept_at_work(&self, task: &Task) -> bool {
        is_left_by_agent(task) && self.found_in_a_row >= settle::MOST_FOUND_IN_A_ROW
    }

    /// Counts the recorded cycles in a row that worked on what agents left.
    fn count_found(&mut self, task: &Task) {
        self.found_in_a_row = match is_left_by_agent(task) {
            true => self.found_in_a_row + 1,
            false => 0,
        };
    }
}

fn is_left_by_agent(task: &Task) -> bool {
    matches!(task, Task::Item(item) if item.is_left_by_agent)
}

/// Runs one cycle and settles whatever comes of it.
pub async fn cycle(session: &Session, progress: &mut Progress) -> Result<Step, Cut> {
    let mut start = begin(session, progress)?;
    let number = start.cycle;
    let goals = choose::load_goals(session, &start)?;
    if let Some(ending) = choose::look_for_programs(session, progress, &goals)? {
        return Ok(Step::End(ending));
    }
    session
        .journal_file
        .write(&Journal::measuring(&session.id, number))?;
    let before = choose::measure_first(session, progress, &start, &goals).await?;
    for words in own_records::told(progress, &goals, &before) {
        progress.note_for_record(&words);
    }
    let (choice, before) = choose::choose(session, progress, &mut start, &goals, before).await?;
    let selection = match choice {
        Choice::Work(selection) => selection,
        Choice::Nothing => {
            progress.found_in_a_row = 0;
            land::until_free(session, &start.branch).await?;
            return settle::idle(session, progress, &start, &before);
        }
        Choice::HumanNeeded(stuck) => {
            return settle::leave_to_a_person(session, progress, number, stuck);
        }
    };
    if progress.is_kept_at_work(&selection.task) {
        return settle::leave_to_agents_no_more(session, progress, number);
    }
    let task = &selection.task;
    let called = call::call(session, progress, &mut start, &goals, &before, task);
    let (mut attempt, mut stock) = match called.await? {
        Called::Attempted(attempt, stock) => (*attempt, *stock),
        Called::Over(step) => return Ok(step),
    };
    attempt.look_again(session, progress, &start, &mut stock)?;
    let mut verdict = gate::judge(&attempt.evidence(&stock.change));
    if verdict.fate == Fate::Undo
        && attempt.cut.is_none()
        && let Some(error) = session.look_for_removal().await
    {
        verdict = attempt.cut_short(error.into(), &stock.change);
    }
    let (verdict, in_the_way) =
        land::land(session, progress, &start, &mut stock, &mut attempt, verdict).await?;
    // The record is committed whatever comes of this.
    let _ = land::until_free(session, &start.branch).await;
    let judged = Judged {
        start: &start,
        stock: &stock,
        goals: &goals,
        before: &before,
        verdict,
    };
    let (record, verdict) = conclude(session, progress, judged, &mut attempt).await?;
    progress.count_found(task);
    match (attempt.cut, in_the_way) {
        (Some(cut), _) => Err(cut),
        (None, Some(ending)) => Ok(Step::End(ending)),
        (None, None) => Ok(settle::step_after(&record, &verdict, &stock.change)),
    }
}

/// Follows what others committed to the ledger, and looks at the tree that the cycle begins on.
fn begin(session: &Session, progress: &mut Progress) -> Result<Start> {
    // The last record may have gone to another branch than the one that a person went to.
    let branch = session.isolation.as_ref().map(|it| it.branch.clone());
    progress.ledger.branch = branch;
    for said in progress.ledger.follow(session.home())? {
        session.events.warn(said);
    }
    let number = progress.ledger.history.next_cycle();
    let mut start = match progress.opened.take() {
        Some(start) => start.of_cycle(number),
        None => session.begin(number, progress.verified)?,
    };
    let last = progress.kept.as_ref();
    start.kept.look(&session.repo.root, last);
    progress.is_measured = false;
    unignored::warn(session, progress, &start);
    if progress.ledger.history.records.is_empty() {
        note_baseline_adrift(session, progress, &start)?;
    }
    Ok(start)
}

/// Has the first record tell where somebody took the commit out of the branch meanwhile that this session's baseline was measured on.
fn note_baseline_adrift(session: &Session, progress: &mut Progress, start: &Start) -> Result<()> {
    let home = session.home();
    let baseline = progress.ledger.snapshot(home, names::BASELINE);
    let own = baseline.filter(|baseline| baseline.session.as_ref() == Some(&session.id));
    if let Some(commit) = own.and_then(|baseline| baseline.cycle_start_sha)
        && !home.descends(&start.commit, &commit)?
    {
        progress.note_for_record(BASELINE_IS_ADRIFT);
    }
    Ok(())
}

/// A cycle whose change was judged.
struct Judged<'a> {
    start: &'a Start,
    stock: &'a Stock,
    goals: &'a Goals,
    before: &'a Snapshot,
    verdict: Verdict,
}

/// Carries out the verdict, records what the cycle came to, and keeps what was measured for the next one. Returns the record, and the
/// verdict as it turned out.
async fn conclude(
    session: &Session,
    progress: &mut Progress,
    judged: Judged<'_>,
    attempt: &mut Attempt<'_>,
) -> Result<(Record, Verdict), Cut> {
    let Judged {
        start,
        stock,
        goals,
        before,
        verdict,
    } = judged;
    let (verdict, mut settled) =
        settle::settle(session, start, stock, verdict, goals.settings.measure)?;
    if let Some(kept) = &mut progress.kept {
        kept.know_made(&settled.made);
    }
    let verdict = settle::blame(session, start, stock, attempt, verdict, &mut settled).await?;
    settle::hold_settings(session, start, stock, &mut settled)?;
    let fetched = session.give_fetched_back(start, stock)?;
    settled.notes.extend(fetched.iter().cloned());
    let mut record = attempt.record(session, start, stock, &verdict, &settled)?;
    if let Ok(after) = &attempt.after {
        let flaky = after.goals.iter().filter(|goal| goal.flaky);
        record.notes.extend(flaky.map(Measurement::flaky_words));
        let told = own_records::told(progress, goals, after);
        record.notes.extend(told);
    }
    let record = settle::record(session, progress, start, attempt, record)?;
    let after = attempt.after.as_ref().ok();
    progress.carry(
        &record,
        after.filter(|_| verdict.fate == Fate::Keep),
        before,
    );
    // What was measured was compared with what no longer is.
    if !fetched.is_empty() {
        progress.carried = None;
    }
    Ok((record, verdict))
}
