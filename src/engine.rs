//! A whole session: recover what a dead one left, then cycle after cycle while there is reason to go on, then the ending.

mod open;
mod recover;
pub mod search;

use std::future::Future;
use std::time::Duration;

use crate::cycle::{Step, cycle, summary, until_free};
use crate::effects::clock;
use crate::effects::journal::{Journal, Phase};
use crate::effects::ledger::{Arrived, Ledger};
use crate::effects::logs;
use crate::effects::mirror::Mirror;
use crate::effects::process::GRACE;
use crate::effects::repo::Repo;
use crate::effects::stop::Halt;
use crate::effects::unrecorded;
use crate::effects::workspace::Workspace;
use crate::error::{Error, Kind, Result};
use crate::event::Event;
use crate::model::ledger as names;
use crate::model::limit;
use crate::model::mask;
use crate::model::record::Record;
use crate::model::text;
use crate::session::{Cut, Ending, Progress, Session};

/// What ends sooner than this is not told of.
const SOON: Duration = Duration::from_secs(1);

/// Why a loop rests between idle cycles, and what gives it something to do.
const IDLE: &str =
    "nothing to do, until `evolve work add`, `evolve retry` or a commit brings something";

/// The longest reason of an error that is told at the end, in characters.
const LONGEST_REASON: usize = 2_000;

pub use open::add_unwired;
pub use recover::{
    Recovered, give_back_private, give_git_back, has_lost_private, lost_places, make_private,
    open_shut, put_back_settings, recover, settle_lent, settle_links,
};

/// Runs cycles until there is a reason to end, and ends in order. Returns the ending; an error that ended the session is
/// returned after everything that could be settled was settled.
pub async fn run(session: &Session, progress: &mut Progress) -> Result<Ending> {
    let work = telling_of_stop(session, async {
        tell_recovered(session, progress).await;
        open::open(session, progress).await?;
        cycles(session, progress).await
    });
    let ran = telling_of_waits(session, work);
    let ran = match ran.await {
        Err(cut) => Err(session.cause_of(cut).await),
        ran => ran,
    };
    let (ending, error) = match ran {
        Ok(ending) => (ending, None),
        Err(Cut::Over(ending)) => (ending, None),
        Err(Cut::Halt(halt)) => (halted(session, progress, &halt), None),
        Err(Cut::Failed(error)) => match (error.is_halt(), session.stop.halt()) {
            // A call of its own git that was ended by it.
            (true, Some(halt)) => {
                session.events.warn(error.message);
                (halted(session, progress, &halt), None)
            }
            _ => (of_error(&error), Some(error)),
        },
        Err(Cut::Unprepared(why)) => {
            let error = why.error();
            (of_error(&error), Some(error))
        }
    };
    if let Some(error) = &error {
        hand_over(session.home(), error);
    }
    // Without a look at any object: an agent may have damaged what is in this process's memory.
    if let (None, Ok(Some(branch))) = (&error, session.home().symbolic_head()) {
        // What is cut short here was cut short before, and is closed all the same.
        let _ = until_free(session, &branch).await;
    }
    for said in progress.untold.drain(..) {
        session.events.warn(said);
    }
    let closed = close(session, progress, &ending);
    let (ended, error) = match (closed, error) {
        (Ok(ended), error) => (ended, error),
        // What ended the session says more than what came of it.
        (Err(after), Some(error)) => {
            session.events.warn(after.message);
            (session.tell_end(progress, &ending, None), Some(error))
        }
        (Err(after), None) => {
            let ended = session.tell_end(progress, &of_error(&after), None);
            (ended, Some(after))
        }
    };
    if !matches!(session.stop.halt(), Some(Halt::Kill(..))) {
        session.tell_ending(&ended);
    }
    match error {
        Some(error) => Err(error),
        None => Ok(ending),
    }
}

/// Has `on_cycle` told of the cycle that this start recorded for a session that died.
async fn tell_recovered(session: &Session, progress: &Progress) {
    let of_cycle = |record: &&Record| Some(record.cycle) == progress.recovered;
    let mut records = progress.ledger.history.records.iter().rev();
    if let Some(record) = records.find(of_cycle) {
        session.tell_cycle(record).await;
    }
}

/// Leaves the quarantine to the user where he is told to look through it: what he removes there stays removed.
fn hand_over(repo: &Repo, error: &Error) {
    if error.kind == Kind::Human
        && let Ok(mirror) = Mirror::of(&repo.own_places())
    {
        // It is given back otherwise, and he is told again.
        let _ = mirror.hand_over_quarantine();
    }
}

/// Does the work of a session, and tells at once when it is asked to end after the running cycle: that may take an hour.
async fn telling_of_stop<T>(session: &Session, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let words = tokio::select! {
        biased;
        done = &mut work => return done,
        words = session.stop.stop_seen() => words,
    };
    let words = match words.is_empty() {
        true => words,
        false => format!(": {}", text::clean_line(&words)),
    };
    session.events.note(format!(
        "a STOP file was seen{words}; this session ends with the running cycle, and at once with `evolve stop --now`"
    ));
    work.await
}

/// Does the work of a session, and tells where its end takes long: what runs is asked to end, and may be deaf.
async fn telling_of_waits<T>(session: &Session, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let is_long = async {
        session.stop.halted().await;
        tokio::time::sleep(SOON).await;
    };
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = is_long => {}
    }
    let way_out = match session.stop.halt() {
        // It acts within a moment.
        None | Some(Halt::Kill(..)) => None,
        Some(halt @ Halt::Signal(2)) => Some((
            halt.reason(),
            "; a second Ctrl-C leaves at once, and the next start settles the cycle",
        )),
        Some(halt) => Some((halt.reason(), "")),
    };
    if let Some((reason, way_out)) = way_out {
        let grace = humantime::format_duration(GRACE);
        session.events.note(format!(
            "{reason}: what runs was asked to end, and is killed {grace} after that{way_out}"
        ));
    }
    work.await
}

/// Returns the ending of a session that something outside ended.
fn halted(session: &Session, progress: &Progress, halt: &Halt) -> Ending {
    acknowledge(session, progress, halt);
    Ending::of_halt(halt)
}

/// Acknowledges a kill, if that was not possible the moment it was seen.
fn acknowledge(session: &Session, progress: &Progress, halt: &Halt) {
    let cycle = progress.ledger.history.next_cycle() - 1;
    if matches!(halt, Halt::Kill(..)) && !progress.ledger.has(names::KILLED) {
        let root = &session.home().root;
        if let Err(error) =
            Ledger::acknowledge_kill(root, cycle, &halt.reason(), &clock::timestamp())
        {
            session.events.warn(error.to_string());
        }
    }
}

async fn cycles(session: &Session, progress: &mut Progress) -> Result<Ending, Cut> {
    loop {
        if let Some(ending) = reason_to_end(session, progress)? {
            return Ok(ending);
        }
        let recorded = progress.recorded.tally().len();
        let rests = !session.options.idle_wait.is_zero();
        let arrived = rests.then(|| Arrived::since_now(session.home()));
        let step = cycle(session, progress).await;
        // One that was cut short may be recorded all the same.
        for record in progress.recorded.after(recorded) {
            session.tell_cycle(record).await;
            // The command may have been running for a while.
            if let Some(kill @ Halt::Kill(..)) = session.stop.look_for_kill() {
                return Err(kill.into());
            }
        }
        let step = step?;
        logs::drop_old_cycles(&session.logs(), progress.recorded.tally().len());
        match step {
            Step::Next => {}
            Step::Idle => {
                if let Some(ending) = rest(session, progress, arrived).await? {
                    return Ok(ending);
                }
            }
            Step::End(ending) => return Ok(ending),
        }
    }
}

/// Rests after an idle cycle until something arrives; where no cycle can follow the rest, the session ends instead.
async fn rest(
    session: &Session,
    progress: &Progress,
    arrived: Option<Arrived>,
) -> Result<Option<Ending>, Cut> {
    if let Some(ending) = reason_to_end(session, progress)? {
        return Ok(Some(ending));
    }
    let rest = session.options.idle_wait;
    let limit = session.options.limits.max_time.unwrap_or_default();
    if session.stop.remaining().is_some_and(|left| left < rest) {
        let reason = format!(
            "nothing to do; a rest of {} takes longer than --max-time {} leaves",
            humantime::format_duration(rest),
            humantime::format_duration(limit)
        );
        return Ok(Some(Ending::fine("limit", reason)));
    }
    let Some(mut arrived) = arrived else {
        return Ok(None);
    };
    let home = session.home();
    arrived.look_at_commit(home);
    let still = || arrived.news(home).is_none();
    // A STOP that ends the rest is seen again by the next look.
    session.rest_while(rest, IDLE, still).await?;
    if let Some(news) = arrived.news(home) {
        session.events.note(format!("the wait is over: {news}"));
    }
    Ok(None)
}

/// Looks for a reason to end before a cycle begins.
fn reason_to_end(session: &Session, progress: &Progress) -> Result<Option<Ending>, Cut> {
    if let Some(halt) = session.stop.look_for_kill() {
        return Err(halt.into());
    }
    if let Some(words) = session.stop_file() {
        return Ok(Some(Ending::stopped(session.home(), &words)));
    }
    if let (Some(errand), Some(record)) = (&session.options.errand, progress.recorded.last()) {
        return Ok(Some(errand.ending(record)));
    }
    let done = progress.recorded.tally().len() as u64;
    let reached = limit::reached(&session.options.limits, done, &progress.spent);
    Ok(reached.map(|reason| Ending::fine("limit", reason)))
}

fn of_error(error: &Error) -> Ending {
    let reason = mask::line(&error.message, LONGEST_REASON);
    Ending::failed(error.kind.exit_code(), reason)
}

/// Ends the session: completes the summary with one more commit if anything was recorded or joined to the ledger, and says
/// why it ended. Returns what was said.
fn close(session: &Session, progress: &mut Progress, ending: &Ending) -> Result<Event> {
    if !session.has_git_dir() {
        // Nothing can be settled, and nothing is written into what is there now.
        return Ok(session.tell_end(progress, ending, None));
    }
    // Of a measurement that was cut short.
    for note in session.settle_links(progress.ledger.history.next_cycle())? {
        session.events.warn(note);
    }
    let is_settled = drop_unrecorded(session, progress)?;
    let mut told = None;
    let has_records = !progress.recorded.tally().is_empty();
    if is_settled && (has_records || progress.ledger.is_joined) {
        session.journal_file.write(&Journal {
            phase: Phase::Closing,
            start: progress.start.clone(),
            ..Journal::measuring(&session.id, progress.ledger.history.next_cycle() - 1)
        })?;
        let home = session.home();
        // A commit that somebody made right after the record's may have taken the ledger away: theirs had the index of before.
        for said in progress.ledger.follow(home)? {
            session.events.warn(said);
        }
        let workspace = Workspace { repo: home };
        let index = workspace.lock_index()?;
        if has_records {
            summary::write(session, progress, Some(ending))?;
        }
        let tip = match &progress.ledger.branch {
            Some(branch) => home.resolve(branch)?,
            None => session.tip()?,
        };
        if let Some(commit) = tip {
            let message = names::end_message(&session.id, ending.word, &ending.reason);
            progress
                .ledger
                .commit(&workspace, index, &commit, &message)?;
        }
        session.clear_journal()?;
    }
    if progress.newest.is_some() {
        told = Some(
            summary::trajectory(
                progress,
                &progress.ledger.snapshot(session.home(), names::BASELINE),
            )
            .one_line(),
        );
    }
    if is_settled {
        crate::cycle::drop_copies(session)?;
        if let Some(isolation) = &session.isolation {
            isolation.leave()?;
        }
    }
    let private = &session.home().private;
    let newest = progress.ledger.history.next_cycle() - 1;
    let noted = match has_records {
        true => unrecorded::forget(private),
        false => {
            let measured = progress.newest.clone().filter(|_| progress.first.is_some());
            unrecorded::note(private, &ending.unrecorded(&session.id, newest, measured))
        }
    };
    if let Err(error) = noted {
        // The session ended as it did all the same.
        session.events.warn(error.message);
    }
    Ok(session.tell_end(progress, ending, told))
}

/// Drops what a cycle that was cut short before its agent had written; says whether nothing is left in progress.
fn drop_unrecorded(session: &Session, progress: &mut Progress) -> Result<bool> {
    match session.journal_file.now()?.map(|journal| journal.phase) {
        Some(Phase::Sweeping | Phase::Agent | Phase::Undoing | Phase::Recording) => {
            return Ok(false);
        }
        Some(Phase::Measuring | Phase::Closing) => session.clear_journal()?,
        None => {}
    }
    let next = progress.ledger.history.next_cycle();
    progress.ledger.unwrite(&names::snapshot(next))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_secret_where_an_errors_reason_is_cut_no_half_is_told() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let front = "x".repeat(LONGEST_REASON - 20);
        let ending = of_error(&Error::usage(format!("{front} {token} more")));
        assert_eq!(ending.reason, format!("{front} *** more"));
    }
}
