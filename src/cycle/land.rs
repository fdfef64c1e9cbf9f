//! Takes a kept change from a slot to the user's branch. Somebody else may have committed there meanwhile: then both are brought
//! together in the slot, measured and judged again, and only what passes lands.

use std::time::Duration;

use crate::cycle::attempt::Attempt;
use crate::effects::isolation::Isolation;
use crate::effects::journal::Phase;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Merged;
use crate::effects::workspace::{Hindrance, Landed, Landing, Start, Stock, Workspace, some_of};
use crate::error::Result;
use crate::model::gate::{self, Fate, Verdict};
use crate::model::ledger as names;
use crate::model::record::{CycleResult, IS_GOOD, KEPT_OFF, START_IS_GONE, TOGETHER};
use crate::session::{Cut, Ending, Progress, Session};

/// How long is waited, in milliseconds, before a change is brought together once more with new commits of others: somebody who
/// commits in a burst is soon done, somebody who goes on for ever is not waited for.
const PAUSES: [u64; 8] = [0, 0, 0, 0, 500, 1_000, 2_000, 4_000];
/// After so many cycles in a row whose good change somebody else's commits kept from the branch the session ends: each of them
/// paid an agent.
const MOST_KEPT_OFF: usize = 3;
/// How long another git is waited for that holds the index or rebases the branch: somebody writes the message of a commit.
const LOCKED: Duration = Duration::from_secs(10 * 60);

/// What taking a change to the branch came to.
type Outcome = (Verdict, Option<Ending>);

/// Takes a kept change to the user's branch, if it was made in a slot. Returns the verdict as it is then, and an ending where
/// a person has to make room for the change first.
pub async fn land(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    stock: &mut Stock,
    attempt: &mut Attempt<'_>,
    verdict: Verdict,
) -> Result<Outcome, Cut> {
    let Some(isolation) = &session.isolation else {
        return Ok((verdict, None));
    };
    let mut verdict = verdict;
    let mut landing = Landing {
        branch: start.branch.clone(),
        from: start.commit.clone(),
        to: stock.tip.clone(),
    };
    let mut pauses = PAUSES.into_iter();
    loop {
        if verdict.fate != Fate::Keep || !stock.change.is_made {
            progress.kept_off.clear();
            return Ok((verdict, None));
        }
        note(session, progress, start, stock, attempt, &verdict, &landing)?;
        let user = Workspace {
            repo: &isolation.user,
        };
        let mut quarantine = Quarantine::of(&isolation.user.private, &start.session, start.cycle);
        let land = || user.land(&landing, &mut quarantine);
        match session.with_settings_held(start.cycle, land)? {
            Landed::Done(notes) => {
                stock.notes.extend(notes);
                progress.kept_off.clear();
                isolation.forget_work(start)?;
                return Ok((verdict, None));
            }
            Landed::Hindered(Hindrance::Files(what)) => {
                let what = some_of(&what);
                let why = format!("what is not committed here is in the way of it: {what}");
                let way_out = "commit or put away what is in the way";
                return Ok(make_room(start, verdict, &why, way_out));
            }
            Landed::Hindered(Hindrance::Busy(why)) => {
                return Ok(make_room(start, verdict, &why, "end that"));
            }
            Landed::Hindered(Hindrance::Unwritable(why)) => {
                progress.kept_off.clear();
                return Ok((unwritable(verdict, &why), None));
            }
            Landed::Hindered(Hindrance::Locked(what)) => {
                match until_free(session, &start.branch).await {
                    Ok(true) => continue,
                    Ok(false) => {
                        let why = format!("another git is at work here: {}", some_of(&what));
                        let way_out = "let it end, or remove what it left";
                        return Ok(make_room(start, verdict, &why, way_out));
                    }
                    Err(cut) => return Ok((attempt.cut_short(cut, &stock.change), None)),
                }
            }
            Landed::Moved(_) => {}
        }
        let Some(pause) = pauses.next() else {
            return Ok(kept_off(progress, start, verdict));
        };
        let pause = Duration::from_millis(pause);
        // A STOP ends the pause alone: what is paid for is not thrown away.
        let rested = session.rest(pause, "somebody else goes on committing");
        if let Err(cut) = rested.await {
            return Ok((attempt.cut_short(cut, &stock.change), None));
        }
        let joined = match isolation.user.resolve(&start.branch)? {
            Some(now) => join(isolation, start, stock, &now)?,
            None => Err("the branch is gone".to_owned()),
        };
        match joined {
            Err(why) => return Ok((dropped(verdict, why), None)),
            Ok(from) => landing.from = from,
        }
        landing.to.clone_from(&stock.tip);
        verdict = judge_again(session, progress, start, stock, attempt, &landing.from).await?;
    }
}

/// Waits until no other git holds the user's index or rebases the branch, where the user may be at work in it; says whether none does.
/// KILL and signals cut it short, STOP ends it.
pub async fn until_free(session: &Session, branch: &str) -> Result<bool, Cut> {
    let Some(isolation) = &session.isolation else {
        return Ok(true);
    };
    let user = Workspace {
        repo: &isolation.user,
    };
    if let Some(why) = user.held_by(branch) {
        let is_held = || user.held_by(branch).is_some();
        session.rest_while(LOCKED, &why, is_held).await?;
    }
    Ok(user.held_by(branch).is_none())
}

/// The verdict on a good change that somebody else's commits kept from the branch, and the session's ending where that was so
/// for several in a row.
fn kept_off(progress: &mut Progress, start: &Start, verdict: Verdict) -> Outcome {
    progress.kept_off.push(start.work_ref());
    let times = PAUSES.len() + 1;
    let why = format!(
        "{KEPT_OFF}{times} times while it was measured; {IS_GOOD} and stays under {}",
        start.work_ref()
    );
    let ending = (progress.kept_off.len() >= MOST_KEPT_OFF).then(|| {
        let kept = progress.kept_off.join(", ");
        Ending::human_needed(
            format!(
                "a human is needed: the good changes of {MOST_KEPT_OFF} cycles in a row never reached {}, because somebody else went on committing while they were measured; they stay under {kept} — `git merge` them, or run evolve again when less is committed",
                start.branch.trim_start_matches("refs/heads/")
            ),
            Vec::new(),
        )
    });
    (dropped(verdict, why), ending)
}

/// Writes down what is about to happen, with the record that it will have and the snapshot from which that takes its figures.
fn note(
    session: &Session,
    progress: &Progress,
    start: &Start,
    stock: &Stock,
    attempt: &Attempt<'_>,
    verdict: &Verdict,
    landing: &Landing,
) -> Result<()> {
    let settled = Isolation::kept(start, stock);
    let mut journal = session.journal(start.cycle)?;
    journal.phase = Phase::Recording;
    journal.record = Some(attempt.record(session, start, stock, verdict, &settled)?);
    journal.landing = Some(landing.clone());
    let second = names::post_snapshot(start.cycle);
    let stored = progress
        .ledger
        .stored(session.home())?
        .remove_entry(&second);
    journal.ledger.extend(stored);
    session.journal_file.write(&journal)
}

/// Brings the change together with the commit that the branch is on now, and puts the slot on the result. Returns the branch's
/// commit, or why it cannot be done.
fn join(
    isolation: &Isolation,
    start: &Start,
    stock: &mut Stock,
    now: &str,
) -> Result<Result<String, String>> {
    let user = &isolation.user;
    if !user.descends(now, &start.commit)? {
        return Ok(Err(START_IS_GONE.to_owned()));
    }
    let message = format!(
        "evolve: cycle {}, brought together with what was committed meanwhile\n\nEvolve-Cycle: {}\n",
        start.cycle, start.cycle
    );
    match user.merge(now, &stock.tip, &message)? {
        Merged::Conflict(paths) => Ok(Err(format!(
            "conflicts with what was committed meanwhile: {}",
            some_of(&paths)
        ))),
        Merged::Clean(merge) => {
            isolation.put_on(&merge)?;
            // Of several times the last says it all.
            stock.notes.retain(|note| !note.starts_with(TOGETHER));
            stock.notes.push(format!("{TOGETHER}{now}"));
            stock.tip = merge;
            Ok(Ok(now.to_owned()))
        }
    }
}

/// Measures and judges the change again, together with the commits of others up to `others`. What fails with those alone, too,
/// is not the change's doing, but nothing lands on it.
async fn judge_again(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    stock: &mut Stock,
    attempt: &mut Attempt<'_>,
    others: &str,
) -> Result<Verdict, Cut> {
    session
        .events
        .note("somebody else committed meanwhile: measured again together with that");
    attempt.measure_again(session, progress, start).await;
    attempt.look_at_watched(session, start, stock)?;
    let verdict = gate::judge(&attempt.evidence(&stock.change));
    if verdict.newly_failing.is_empty() || attempt.cut.is_some() {
        return Ok(verdict);
    }
    if let Some(isolation) = &session.isolation {
        isolation.put_on(others)?;
    }
    let still = attempt
        .still_failing(session, start, &verdict.newly_failing)
        .await;
    let still = match still {
        Ok(still) => still,
        Err(cut) => return Ok(attempt.cut_short(cut, &stock.change)),
    };
    let failing = verdict.newly_failing.join(", ");
    Ok(match still.is_empty() {
        true => Verdict {
            reason: Some(format!(
                "together with what was committed meanwhile it breaks {failing}"
            )),
            ..verdict
        },
        false => {
            let why = format!("what was committed meanwhile breaks {}", still.join(", "));
            dropped(verdict, why)
        }
    })
}

/// The verdict on a change that cannot land through no fault of its own.
fn dropped(verdict: Verdict, why: String) -> Verdict {
    Verdict {
        fate: Fate::Undo,
        result: CycleResult::Interrupted,
        reason: Some(why),
        newly_failing: Vec::new(),
        newly_passing: verdict.newly_passing,
    }
}

/// The verdict on a change that cannot be checked out where it was to come: as for any other repository, it is none to keep.
fn unwritable(verdict: Verdict, why: &str) -> Verdict {
    let why = format!("git cannot write its files into the working tree: {why}");
    Verdict {
        result: CycleResult::Regressed,
        ..dropped(verdict, why)
    }
}

/// The verdict on a change that cannot be taken to the branch because of something here, and the session's ending.
fn make_room(start: &Start, verdict: Verdict, obstacle: &str, first: &str) -> Outcome {
    let work = start.work_ref();
    let why = format!("{IS_GOOD}, but {obstacle}; it stays under {work}");
    let way_out = format!("{why} — {first}, then `git merge {work}`, or run evolve again");
    let ending = Ending::human_needed(way_out, Vec::new());
    (dropped(verdict, why), Some(ending))
}
