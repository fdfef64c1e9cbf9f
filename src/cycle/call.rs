//! The call of the agent for what was chosen, again and again while it cannot run for a reason that passes by itself: a rate
//! limit, a quota, an overload (rule 12). None of these calls leaves a record.

use std::collections::BTreeSet;

use chrono::Local;

use crate::cycle::Step;
use crate::cycle::attempt::Attempt;
use crate::cycle::choose;
use crate::effects::clock;
use crate::effects::repo::Head;
use crate::effects::workspace::{Start, Stock, some_of};
use crate::error::Result;
use crate::model::agent::{CannotRun, wait};
use crate::model::goals::{Goals, Where};
use crate::model::limit;
use crate::model::select::Task;
use crate::model::snapshot::Snapshot;
use crate::session::{Cut, Ending, Progress, Session, resting};

/// How often in a row a cycle begins anew because the branch was moved while the goals were measured.
const TRIES: u32 = 3;

/// What calling the agent came to.
#[derive(Debug)]
pub enum Called<'a> {
    /// An attempt to be judged.
    Attempted(Box<Attempt<'a>>, Box<Stock>),
    /// It could not run, nothing was changed, and this follows.
    Over(Step),
}

/// Calls the agent until it could run, or until waiting makes no sense.
pub async fn call<'a>(
    session: &Session,
    progress: &mut Progress,
    start: &mut Start,
    goals: &'a Goals,
    before: &'a Snapshot,
    task: &'a Task,
) -> Result<Called<'a>, Cut> {
    if let Some(step) = outrun(session, progress, start)? {
        return Ok(Called::Over(step));
    }
    if std::mem::take(&mut progress.is_measured) {
        let earlier = start.kept.clone();
        let touched = look_again(session, goals, start)?;
        progress.written.extend(touched);
        progress.note_came(&earlier, &start.kept);
    }
    loop {
        let mut attempt = Attempt::new(goals, before, task);
        attempt.prepare(session, progress, start).await?;
        attempt.carry_out(session, progress, start).await;
        if let Some(error) = attempt.unended() {
            return Err(error.into());
        }
        let stock = attempt.take_stock(session, start)?;
        let Some(refusal) = attempt.refusal(&stock) else {
            progress.refusals = 0;
            return Ok(Called::Attempted(Box::new(attempt), Box::new(stock)));
        };
        let commit = attempt.give_back(session, progress, start, &stock)?;
        if let Some(step) = wait_out(session, progress, &refusal).await? {
            return Ok(Called::Over(step));
        }
        let now = session.begin(start.cycle, progress.verified)?;
        if Some(&now.commit) != commit.as_ref() || now.branch != start.branch {
            // Somebody worked on during the wait, or a fetch moved what checks compare with: the cycle begins anew, on what is there
            // now.
            return Ok(Called::Over(Step::Next));
        }
        *start = now;
    }
}

/// Looks whether the branch is where the cycle began. Where somebody committed while the goals were measured the cycle begins
/// anew, on what is there now: before an agent is paid for work that could not be told from theirs.
fn outrun(session: &Session, progress: &mut Progress, start: &Start) -> Result<Option<Step>, Cut> {
    let began = Head {
        branch: Some(start.branch.clone()),
        commit: Some(start.commit.clone()),
    };
    if session.isolation.is_some() || session.repo.head()? == began {
        progress.outrun_in_a_row = 0;
        return Ok(None);
    }
    progress.outrun_in_a_row += 1;
    choose::keep_start(session, progress, start)?;
    let what = "the branch was moved, or another one checked out, while the goals were measured";
    if progress.outrun_in_a_row < TRIES {
        session
            .events
            .note(format!("{what}: the cycle begins anew"));
        return Ok(Some(Step::Next));
    }
    let reason = format!(
        "a human is needed: {TRIES} times in a row {what} — see `git reflog`; if a check commits, it has to stop that; then run evolve again"
    );
    Ok(Some(Step::End(Ending::human_needed(reason, Vec::new()))))
}

/// Looks at the tree once more right before the agent, where goals were measured since: what came meanwhile is the user's, or of
/// checks, and never the agent's. Tracked changes are refused as at a cycle's start; in a slot, where only checks were, they are
/// taken back. Returns those that were touched where the goals were measured, in the user's own working tree.
fn look_again(session: &Session, goals: &Goals, start: &mut Start) -> Result<BTreeSet<String>> {
    let workspace = session.workspace();
    let is_clean = goals.settings.measure == Where::Clean;
    if session.isolation.is_none() {
        let cycle = start.cycle;
        let look = || workspace.look_again(start, session.way_out());
        let touched = session.with_settings_held(cycle, look)?;
        return Ok(if is_clean { BTreeSet::new() } else { touched });
    }
    if is_clean {
        return Ok(BTreeSet::new());
    }
    let changed = workspace.clear_again(start, &session.home().private)?;
    if !changed.is_empty() {
        let changed = some_of(&changed);
        session.events.note(format!(
            "checks changed tracked files of the copy; they were put back: {changed}"
        ));
    }
    Ok(BTreeSet::new())
}

/// Waits until the agent may be called again; returns what follows instead if it will not be.
async fn wait_out(
    session: &Session,
    progress: &mut Progress,
    refusal: &CannotRun,
) -> Result<Option<Step>, Cut> {
    progress.refusals += 1;
    let now = clock::now().with_timezone(&Local);
    let Some(rest) = wait(refusal.kind, &refusal.message, progress.refusals, now) else {
        return Err(resting::cannot_run(refusal, &session.agent.name).into());
    };
    if let Some(reason) = limit::used_up(&session.options.limits, &progress.spent) {
        return Ok(Some(Step::End(Ending::fine("limit", reason))));
    }
    if let Some(ending) = resting::too_long(&session.stop, refusal, rest) {
        return Ok(Some(Step::End(ending)));
    }
    let stopped = session.rest(rest, &resting::shown(refusal)).await?;
    Ok(stopped.map(|words| Step::End(Ending::stopped(session.home(), &words))))
}
