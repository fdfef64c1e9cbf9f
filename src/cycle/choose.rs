//! The first half of a cycle: load the goals, measure, choose what to work on.

use std::os::unix::ffi::OsStrExt;

use crate::cycle::{by_checks, by_name, lack, sweep};
use crate::effects::watch::Watch;
use crate::effects::workspace::Start;
use crate::effects::{clock, exchanged};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::model::emptied;
use crate::model::goals::{Goals, Where};
use crate::model::ledger as names;
use crate::model::output;
use crate::model::select::{self, Choice, Seen, Selection, Task};
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::model::strikes;
use crate::model::text;
use crate::model::yardstick::{self, Exchanged};
use crate::session::{Carried, Cut, Ending, Errand, Progress, Session};

/// How many files are named.
const NAMED: usize = 10;

/// Loads the goals as they are in the tree; refuses a goals file that git does not track (exit 3).
pub fn load_goals(session: &Session, start: &Start) -> Result<Goals> {
    session
        .goals_file
        .refuse_uncommitted(&session.repo, &start.tree)?;
    Ok(Goals {
        prepare: session.options.provisions.prepare.clone(),
        ..session.goals_file.load()?.0
    })
}

/// Looks where the programs are that checks call. One that is found elsewhere than when the session first looked was put in
/// front of the other by somebody: no undo reaches it, and nothing that checks say could be believed.
pub fn look_for_programs(
    session: &Session,
    progress: &mut Progress,
    goals: &Goals,
) -> Result<Option<Ending>> {
    let is_file = |path: &str| session.workspace().has_file_on_disk(path.as_bytes());
    let yardstick = session.workspace().yardstick(goals, &is_file);
    let now = by_name::programs(session, goals, &yardstick);
    let list = exchanged::List::of(&session.home().own_places());
    let standing = list.standing(&now)?;
    if !standing.is_empty() {
        let way_out = format!(
            "an agent put that there; take it away, or, if it is meant to be there, remove {}",
            list.shown()
        );
        return Ok(Some(exchange(&standing, &way_out)));
    }
    let moved = yardstick::put_in_front(&progress.programs, &now);
    for (program, place) in now {
        progress.programs.entry(program).or_insert(place);
    }
    let way_out = "take it away, or run evolve again if it is meant to be there";
    Ok((!moved.is_empty()).then(|| exchange(&moved, way_out)))
}

fn exchange(moved: &[Exchanged], way_out: &str) -> Ending {
    let moved: Vec<_> = moved.iter().map(ToString::to_string).collect();
    let moved = moved.join(", ");
    let reason = format!("programs that checks call were exchanged: {moved} — {way_out}");
    Ending::human_needed(reason, Vec::new())
}

/// Measures every goal for the cycle's first snapshot, or takes over the one that was just made of the same content.
pub async fn measure_first(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    goals: &Goals,
) -> Result<Snapshot, Cut> {
    let cycle = start.cycle;
    session.events.send(Event::CycleStarted {
        cycle,
        start: start.commit.clone(),
    });
    let snapshot = match progress
        .carried
        .take()
        .filter(|carried| serves(carried, start, goals))
    {
        Some(carried) => Snapshot {
            cycle: Some(cycle),
            cycle_start_sha: Some(start.commit.clone()),
            taken_from: carried.file.rsplit('/').next().map(str::to_owned),
            session: None,
            ..carried.snapshot
        },
        None => {
            let mut snapshot = measure_before(session, progress, start, goals, "before").await?;
            if let Some(earlier) = &progress.newest {
                snapshot.tolerate(earlier, goals);
            }
            session.tell_measured(&snapshot, "before");
            by_checks::clear(session, progress, start)?;
            lack::warn(session, progress, goals, &snapshot, cycle).await?;
            snapshot
        }
    };
    refuse_unmeasurable(&snapshot, goals)?;
    session.goals_file.refuse_failed_unread(goals, &snapshot)?;
    progress
        .ledger
        .write_snapshot(&names::snapshot(cycle), &snapshot)?;
    Ok(snapshot)
}

/// Says whether a snapshot may stand for a measurement: same content, same goals, and something in it to work on.
fn serves(carried: &Carried, start: &Start, goals: &Goals) -> bool {
    carried.content == start.content
        && carried.snapshot.goals_digest == goals.digest
        && !select::failing_goals(&carried.snapshot).is_empty()
}

/// Names the tracked files that have changes where a measurement before an agent was cut short. There were none when it began,
/// and as there is nothing to undo, nothing is put back.
fn tell_of_written(session: &Session) {
    let changed = match session.isolation {
        None => session.workspace().tracked_changes().unwrap_or_default(),
        Some(_) => return,
    };
    let names: Vec<String> = changed.iter().map(text::path).collect();
    if !names.is_empty() {
        session.events.note(format!(
            "while the checks ran, {} changed: {}; look at them with `git diff`",
            text::count(names.len(), "tracked file"),
            text::some_of(&names, NAMED)
        ));
    }
}

/// Measures every goal before an agent is called, and notes what checks themselves do to the files that they run.
pub async fn measure_before(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    goals: &Goals,
    purpose: &'static str,
) -> Result<Snapshot, Cut> {
    if goals.settings.measure == Where::Here {
        session.link_untracked(start)?;
    }
    let is_file = |path: &str| session.workspace().has_file_on_disk(path.as_bytes());
    let yardstick = session.workspace().yardstick_alone(goals, &is_file);
    let protected = || -> Result<Vec<String>> {
        let workspace = session.workspace();
        let found = workspace.ignored_and_protected(&yardstick.protected)?;
        let files = found.files.into_iter().map(String::from_utf8);
        Ok(files.flatten().collect())
    };
    let there = protected()?;
    let watched = [yardstick.frozen.clone(), there.clone()].concat();
    let mut watch = Watch::lightly_over(watched).and_tracked();
    let mut tops = session.tops(goals);
    let measured = measure_all(session, progress, start, goals, purpose, &mut watch).await;
    let lost = tops.look_again(&session.home().root);
    if let Some(note) = emptied::lost_words(emptied::BY_CHECKS, &lost)
        && progress.note_found(&note)
    {
        session.events.warn(note);
    }
    let snapshot = measured.inspect_err(|_| tell_of_written(session))?;
    progress.touched.extend(watch.touched().cloned());
    let tracked = watch.tracked.take().unwrap_or_default();
    let new = tracked.written.difference(&progress.written);
    let new: Vec<String> = new.cloned().collect();
    if let Some(note) = output::written_in_copy(&new) {
        progress.note_found(&note);
        session.events.warn(note);
    }
    progress.written.extend(new);
    progress.written.extend(tracked.rewritten);
    let made = protected()?
        .into_iter()
        .filter(|file| there.binary_search(file).is_err());
    progress.touched.extend(made);
    progress.is_measured = true;
    keep_start(session, progress, start)?;
    Ok(snapshot)
}

/// Keeps what the cycle started from where somebody, or a check, took it out of the branch while goals were measured. In a slot
/// the change is brought together with that later, or not.
pub fn keep_start(session: &Session, progress: &mut Progress, start: &Start) -> Result<()> {
    if session.isolation.is_some() {
        return Ok(());
    }
    if let Some(kept) = session.workspace().keep_start(start)? {
        let said = format!("while the goals were measured the branch lost commits: {kept}");
        if progress.note_found(&said) {
            session.events.warn(said);
        }
    }
    Ok(())
}

/// Measures every goal.
pub async fn measure_all(
    session: &Session,
    progress: &Progress,
    start: &Start,
    goals: &Goals,
    purpose: &'static str,
    watch: &mut Watch,
) -> Result<Snapshot, Cut> {
    let all: Vec<_> = goals.goals.iter().collect();
    let expected = progress.expected_durations(&session.repo, &session.goals_file, goals);
    let measurements = session
        .measure_watched(goals, &all, &expected, start.cycle, purpose, watch)
        .await?;
    Ok(Snapshot::new(
        Some(start.cycle),
        clock::timestamp(),
        Some(start.commit.clone()),
        goals.digest.clone(),
        measurements,
    ))
}

/// Refuses to go on where no goal could be measured at all: nothing would be known (rule 7).
pub fn refuse_unmeasurable(snapshot: &Snapshot, goals: &Goals) -> Result<()> {
    if snapshot
        .goals
        .iter()
        .any(|goal| goal.result != CheckResult::Skip)
    {
        return Ok(());
    }
    let each: String = snapshot
        .goals
        .iter()
        .map(|goal| {
            let check = goals
                .find(&goal.id)
                .map_or("", |goal| goal.check.lines().next().unwrap_or_default());
            format!(
                "\n  {}: {} — {}",
                goal.id,
                check,
                goal.reason.as_deref().unwrap_or("skipped")
            )
        })
        .collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = text::path(path.as_bytes());
    Err(
        Error::usage(format!("no goal can be measured:{each}")).hint(format!(
            "install what is missing or mend the checks; PATH is {path}"
        )),
    )
}

/// Chooses what to work on; where no goal fails, a sweep that is due looks for work first. A choice that is in doubt is
/// measured once more, alone, before an agent is paid for it.
pub async fn choose(
    session: &Session,
    progress: &mut Progress,
    start: &mut Start,
    goals: &Goals,
    mut before: Snapshot,
) -> Result<(Choice, Snapshot), Cut> {
    progress.ledger.refresh_queue()?;
    progress.ledger.refresh_lessons()?;
    for said in progress.ledger.judge_retries(session.home())? {
        session.events.warn(said);
    }
    wake_declined(session, progress, start, goals)?;
    if let Some(errand) = &session.options.errand {
        progress.note_snapshot(&before);
        return Ok((Choice::Work(given(session, errand)), before));
    }
    let repository = session.home().name();
    let mut doubts = 0;
    let choice = loop {
        let choice = select::select(&Seen {
            goals,
            before: &before,
            earlier: progress.newest.as_ref(),
            records: &progress.ledger.history.records,
            retries: &progress.ledger.retries,
            queue: &progress.ledger.queue,
            repository: &repository,
        });
        match &choice {
            Choice::Work(Selection {
                task: Task::Goal(id),
                needs_recheck: true,
                ..
            }) => {
                recheck(session, progress, start, goals, &mut before, id).await?;
                if let Some(earlier) = &progress.newest {
                    before.tolerate(earlier, goals);
                }
                doubts += 1;
            }
            Choice::Work(Selection {
                task: Task::Item(_),
                ..
            })
            | Choice::Nothing => {
                if !sweep::sweep_if_due(session, progress, start, goals, &before).await? {
                    break choice;
                }
            }
            Choice::Work(_) | Choice::HumanNeeded(_) => break choice,
        }
    };
    if doubts > 0 {
        progress.is_measured = true;
        by_checks::clear(session, progress, start)?;
        progress
            .ledger
            .write_snapshot(&names::snapshot(start.cycle), &before)?;
    }
    progress.note_snapshot(&before);
    if let Choice::Work(selection) = &choice {
        session.events.send(Event::Selected {
            goal_id: selection.task.goal_id(),
            reason: selection.reason.clone(),
            planned: None,
        });
    }
    Ok((choice, before))
}

/// Returns the choice of what a person asks for.
fn given(session: &Session, errand: &Errand) -> Selection {
    let selection = Selection {
        task: Task::Item(Box::new(errand.item.clone())),
        reason: errand.reason.clone(),
        needs_recheck: false,
    };
    session.events.send(Event::Selected {
        goal_id: selection.task.goal_id(),
        reason: selection.reason.clone(),
        planned: None,
    });
    selection
}

/// Measures one goal again, alone; if it passes now it is flaky and no work.
async fn recheck(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    goals: &Goals,
    before: &mut Snapshot,
    id: &str,
) -> Result<(), Cut> {
    if goals.settings.measure == Where::Here {
        session.link_untracked(start)?;
    }
    let goal: Vec<_> = goals.find(id).into_iter().collect();
    let measured = session
        .measure(goals, &goal, &Default::default(), start.cycle, "recheck")
        .await?;
    for mut measurement in measured {
        measurement.attempts = 2;
        measurement.flaky = measurement.result == CheckResult::Pass;
        if measurement.flaky {
            progress.note_for_record(&measurement.flaky_words());
        }
        before.replace(measurement);
    }
    Ok(())
}

/// Lets declined goals be worked on again when somebody else changed the content since the newest record (rule 4). It is
/// written down, because the next record will already have the new content.
fn wake_declined(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    goals: &Goals,
) -> Result<()> {
    let woken = strikes::woken(
        &goals.goals,
        &progress.ledger.history,
        &progress.ledger.retries,
        &start.content,
        &clock::timestamp(),
    );
    progress.ledger.allow_again(session.home(), woken)
}
