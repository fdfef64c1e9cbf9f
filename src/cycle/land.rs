//! Takes a kept change from a slot to the user's branch. Somebody else may have committed there meanwhile: then both are brought
//! together in the slot, measured and judged again, and only what passes lands.

use crate::cycle::attempt::Attempt;
use crate::effects::isolation::Isolation;
use crate::effects::journal::Phase;
use crate::effects::repo::Merged;
use crate::effects::workspace::{Landed, Landing, Start, Stock, Workspace, some_of};
use crate::error::Result;
use crate::model::gate::{self, Fate, Verdict};
use crate::model::ledger as names;
use crate::model::record::{CycleResult, START_IS_GONE};
use crate::session::{Cut, Ending, Progress, Session};

/// How often a change is brought together with new commits of others before it is given up.
const TRIES: usize = 5;

/// What taking a change to the branch came to.
type Outcome = (Verdict, Option<Ending>);

/// Takes a kept change to the user's branch, if it was made in a slot. Returns the verdict as it is then, and an ending where
/// a person has to make room for the change first.
pub async fn land(
    session: &Session,
    progress: &mut Progress,
    (start, stock): (&Start, &mut Stock),
    (attempt, verdict): (&mut Attempt<'_>, Verdict),
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
    for _ in 0..TRIES {
        if verdict.fate != Fate::Keep || !stock.change.is_made {
            return Ok((verdict, None));
        }
        note(
            (session, progress),
            (start, stock),
            (attempt, &verdict),
            &landing,
        )?;
        let now = match (Workspace {
            repo: &isolation.user,
        })
        .land(&landing)?
        {
            Landed::Done => {
                isolation.forget_work(start)?;
                return Ok((verdict, None));
            }
            Landed::InTheWay(what) => return Ok(make_room(start, verdict, &what)),
            Landed::Moved(now) => now,
        };
        let joined = match now {
            Some(now) => join(isolation, start, stock, &now)?,
            None => Err("the branch is gone".to_owned()),
        };
        match joined {
            Err(why) => return Ok((dropped(verdict, why), None)),
            Ok(from) => landing.from = from,
        }
        landing.to.clone_from(&stock.tip);
        verdict = judge_again(session, progress, (start, stock), (attempt, &landing.from)).await?;
    }
    let why = format!("somebody else committed {TRIES} times while it was measured");
    Ok((dropped(verdict, why), None))
}

/// Writes down what is about to happen, with the record that it will have and the snapshot from which that takes its figures.
fn note(
    (session, progress): (&Session, &Progress),
    (start, stock): (&Start, &Stock),
    (attempt, verdict): (&Attempt<'_>, &Verdict),
    landing: &Landing,
) -> Result<()> {
    let settled = Isolation::kept(start, stock);
    let mut journal = session.journal(start.cycle)?;
    journal.phase = Phase::Recording;
    journal.record = Some(attempt.record(session, (start, stock), (verdict, &settled))?);
    journal.landing = Some(landing.clone());
    let second = names::post_snapshot(start.cycle);
    let stored = progress
        .ledger
        .stored(session.home())?
        .remove_entry(&second);
    journal.ledger.extend(stored);
    session.diary.write(&journal)
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
            stock.notes.push(format!(
                "brought together with what somebody else committed meanwhile, up to {now}"
            ));
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
    (start, stock): (&Start, &Stock),
    (attempt, others): (&mut Attempt<'_>, &str),
) -> Result<Verdict, Cut> {
    session
        .events
        .note("somebody else committed meanwhile: measured again together with that");
    attempt.measure_again(session, progress, start).await;
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

/// The verdict on a change that something of the user's is in the way of, and the session's ending.
fn make_room(start: &Start, verdict: Verdict, what: &[String]) -> Outcome {
    let work = start.work_ref();
    let why = format!(
        "the change is good, but in the way of it is what is not committed here: {}; it stays under {work}",
        some_of(what)
    );
    let way_out = format!(
        "{why} — commit or put away what is in the way, then `git merge {work}`, or run evolve again"
    );
    let ending = Ending::human_needed(way_out, Vec::new());
    (dropped(verdict, why), Some(ending))
}
