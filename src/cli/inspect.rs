//! Commands that look and change nothing: they take no lock, write no file and need no agent.

use std::collections::HashMap;

use crate::cli::start::{block_on, current_dir, effective_jobs, goals_file, listen, user_config};
use crate::cli::{Global, RunOptions, print};
use crate::cycle::refuse_unmeasurable;
use crate::effects::clock;
use crate::effects::journal::Journal;
use crate::effects::ledger::{self, Ledger};
use crate::effects::lock;
use crate::effects::measure::Measurer;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::stop::{self, Halt, Stop};
use crate::engine::add_unwired;
use crate::error::{Error, Kind, Result};
use crate::event::{Event, Events};
use crate::model::goals::{Goal, Goals};
use crate::model::ledger as names;
use crate::model::record::{History, Record};
use crate::model::select::{self, Choice, Seen, Task};
use crate::model::snapshot::{FORMAT, Snapshot};
use crate::model::status::{QueueCounts, Running, Status};
use crate::model::strikes::{self, Standing};
use crate::model::yardstick::Yardstick;
use crate::model::{schema, text};
use crate::session::Progress;
use crate::view::{json, status, tables};

/// Runs checks once and prints what they say.
pub fn measure(
    global: &Global,
    run: &RunOptions,
    ids: &[String],
    (as_json, gate): (bool, bool),
) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    let (goals, warnings) = file.load()?;
    let chosen = pick(&goals, ids)?;
    let (events, listener) = listen(global, false);
    for warning in warnings {
        events.warn(warning);
    }
    let measured = block_on(measure_now(
        &repo,
        (&goals, &chosen),
        run,
        quiet_unless_verbose(global, as_json, &events),
    ));
    drop(events);
    let _ = listener.join();
    let snapshot = measured?;
    refuse_unmeasurable(&snapshot, &goals)?;
    match as_json {
        true => print(&ledger::checked("snapshot", &snapshot)?),
        false => global.say(&tables::measure_table(&snapshot)),
    }
    match gate && snapshot.goals_passing < snapshot.goals_total {
        true => Ok(Kind::Failing.exit_code()),
        false => Ok(0),
    }
}

fn quiet_unless_verbose(global: &Global, as_json: bool, events: &Events) -> Events {
    match global.verbose > 0 && !as_json {
        true => events.clone(),
        false => Events::default(),
    }
}

/// Returns the goals with these ids, in the file's order; all of them if none is named.
fn pick<'a>(goals: &'a Goals, ids: &[String]) -> Result<Vec<&'a Goal>> {
    for id in ids {
        find_goal(goals, id)?;
    }
    Ok(goals
        .goals
        .iter()
        .filter(|goal| ids.is_empty() || ids.contains(&goal.id))
        .collect())
}

/// Returns the goal called `id`; an unknown one is an error that names the nearest.
pub fn find_goal<'a>(goals: &'a Goals, id: &str) -> Result<&'a Goal> {
    goals.find(id).ok_or_else(|| {
        let error = Error::usage(format!("there is no goal {id}"));
        let distance = |goal: &&Goal| strsim::damerau_levenshtein(&goal.id, id);
        match goals
            .goals
            .iter()
            .min_by_key(distance)
            .filter(|goal| distance(goal) <= 1 + id.len() / 3)
        {
            Some(nearest) => error.hint(format!("did you mean {}", nearest.id)),
            None => error.hint("`evolve validate` lists the goals"),
        }
    })
}

/// Measures without writing a file; the snapshot belongs to no cycle.
async fn measure_now(
    repo: &Repo,
    (goals, chosen): (&Goals, &[&Goal]),
    run: &RunOptions,
    events: Events,
) -> Result<Snapshot> {
    let stop = Stop::watch(Vec::new())?;
    let measurer = Measurer {
        supervisor: Supervisor::new(stop.clone(), &repo.root)?,
        stop,
        events,
        root: repo.root.clone(),
        jobs: effective_jobs(run, &goals.settings, &user_config()?),
        session: clock::session_id(),
    };
    let newest = Ledger::look(&repo.root)
        .ok()
        .and_then(|ledger| Progress::new(ledger).newest);
    let durations = newest.iter().flat_map(|snapshot| &snapshot.goals);
    let expected: HashMap<_, _> = durations
        .map(|goal| (goal.id.clone(), goal.duration_s))
        .collect();
    let measured = measurer.measure(goals, chosen, &expected, None).await;
    let measurements = measured.map_err(|halt| cut_short(&halt))?;
    let head = repo.head()?.commit;
    Ok(Snapshot::new(
        None,
        clock::timestamp(),
        head,
        goals.digest.clone(),
        measurements,
    ))
}

fn cut_short(halt: &Halt) -> Error {
    let kind = match halt {
        Halt::Signal(number) => Kind::Signal(*number),
        Halt::Kill(..) | Halt::MaxTime(_) => Kind::Internal,
    };
    Error::new(kind, halt.reason())
}

/// Measures and says what would be worked on, and why.
pub fn dry_run(global: &Global, run: &RunOptions) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    if let Some(note) = stopping_note(&repo)? {
        match run.json {
            true => print_event(&Event::Note { message: note }),
            false => global.say(&format!("dry run: nothing would be done: {note}\n")),
        }
        return Ok(0);
    }
    let (_, commit) = repo.ready_head()?;
    let (goals, warnings) = goals_file(global, &repo)?.load()?;
    let (events, listener) = listen(global, false);
    for warning in warnings {
        events.warn(warning);
    }
    let all: Vec<_> = goals.goals.iter().collect();
    let measured = block_on(measure_now(
        &repo,
        (&goals, &all),
        run,
        quiet_unless_verbose(global, run.json, &events),
    ));
    drop(events);
    let _ = listener.join();
    let mut snapshot = measured?;
    refuse_unmeasurable(&snapshot, &goals)?;
    let mut progress = Progress::new(Ledger::look(&repo.root)?);
    if let Some(earlier) = &progress.newest {
        snapshot.tolerate(earlier, &goals);
    }
    foresee(&repo, &goals, &commit, &mut progress.ledger)?;
    let repository = repo.name();
    let choice = select::select(&Seen {
        goals: &goals,
        before: &snapshot,
        earlier: progress.newest.as_ref(),
        records: &progress.ledger.history.records,
        retries: &progress.ledger.retries,
        queue: &progress.ledger.queue,
        repository: &repository,
    });
    let queue = &progress.ledger.queue;
    if run.json {
        let event = match &choice {
            Choice::Work(selection) => Event::Selected {
                goal_id: selection.task.goal_id(),
                reason: selection.reason.clone(),
            },
            Choice::Nothing => Event::Note {
                message: "nothing to do".to_owned(),
            },
            Choice::HumanNeeded(stuck) => {
                let ids: Vec<_> = stuck.iter().map(|stuck| stuck.goal_id.as_str()).collect();
                Event::Note {
                    message: format!("a human is needed: {}", ids.join(", ")),
                }
            }
        };
        print_event(&event);
        return Ok(0);
    }
    global.say(&tables::measure_table(&snapshot));
    global.say(&format!("\n{}", planned(&choice, &goals)));
    if let Some(journal) = Journal::read(&repo.private)?.filter(|journal| journal.is_unsettled()) {
        global.say(&format!(
            "cycle {} of a session that died is unsettled; a run would undo it first\n",
            journal.cycle
        ));
    }
    let (open, set_aside) = (queue.open(&repository), queue.set_aside(&repository));
    if !open.is_empty() || !set_aside.is_empty() {
        global.say(&format!(
            "\nqueue for {repository}:\n{}",
            tables::work_table(&open, &set_aside)
        ));
    }
    Ok(0)
}

fn print_event(event: &Event) {
    print(&format!("{}\n", json::line(event, &clock::timestamp())));
}

/// Does in memory what a run would do to its ledger before it selects: queue unwired scripts, wake declined goals.
fn foresee(repo: &Repo, goals: &Goals, commit: &str, ledger: &mut Ledger) -> Result<()> {
    add_unwired(&repo.root, goals, &mut ledger.queue);
    let content = repo.content(&repo.tree_of(commit)?)?;
    let woken = strikes::woken(
        &goals.goals,
        &ledger.history,
        &ledger.retries,
        &content,
        &clock::timestamp(),
    );
    ledger.retries.extend(woken);
    Ok(())
}

/// Says what keeps a run from starting, if a KILL or STOP file does.
fn stopping_note(repo: &Repo) -> Result<Option<String>> {
    let kill = stop::kill_files()?
        .into_iter()
        .find_map(|path| stop::stop_file(&path).map(|words| (path, words)));
    if let Some((path, words)) = kill {
        return Ok(Some(Halt::Kill(path, words).reason()));
    }
    let words = stop::stop_file(&repo.root.join(names::STOP));
    Ok(words.map(|words| crate::engine::stopped(&words).reason))
}

fn planned(choice: &Choice, goals: &Goals) -> String {
    match choice {
        Choice::Nothing => {
            "dry run: nothing to do — no goal fails and the queue is empty\n".to_owned()
        }
        Choice::HumanNeeded(stuck) => {
            let each: String = stuck
                .iter()
                .map(|stuck| {
                    format!(
                        "  {} ({}): {}\n",
                        stuck.goal_id,
                        stuck.standing,
                        text::clean_line(&stuck.reason)
                    )
                })
                .collect();
            format!("dry run: a human is needed, every failing goal is struck or declined\n{each}")
        }
        Choice::Work(selection) => {
            let mut page = format!(
                "dry run: would work on {}\n  reason:      {}\n",
                text::clean_line(&selection.task.goal_id()),
                text::clean_line(&selection.reason)
            );
            match &selection.task {
                Task::Goal(id) => {
                    if let Some(goal) = goals.find(id) {
                        page.push_str(&format!(
                            "  weight:      {}\n  description: {}\n  check:       {}\n",
                            goal.weight,
                            text::clean_line(&goal.description),
                            text::clean_line(goal.check.trim())
                        ));
                    }
                }
                Task::Item(item) => {
                    let description = item.description.as_deref().unwrap_or_default();
                    page.push_str(&format!(
                        "  description: {}\n",
                        text::clean_line(description)
                    ));
                }
            }
            page
        }
    }
}

/// Checks the goals file.
pub fn validate(global: &Global) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    let (goals, warnings) = file.load()?;
    for warning in &warnings {
        global.warn(warning);
    }
    let on_disk =
        |path: &str| std::fs::metadata(repo.root.join(path)).is_ok_and(|meta| meta.is_file());
    let yardstick = Yardstick::of(&goals, &on_disk);
    global.say(&format!(
        "{}: {}, no problems\n",
        file.shown,
        text::count(goals.goals.len(), "goal")
    ));
    for goal in &goals.goals {
        global.say(&format!("  {} (weight {})\n", goal.id, goal.weight));
    }
    if !yardstick.frozen.is_empty() {
        global.say(&format!(
            "frozen while a cycle runs: {}\n",
            yardstick.frozen.join(", ")
        ));
    }
    if !yardstick.leaned_on.is_empty() {
        let quoted: Vec<_> = yardstick
            .leaned_on
            .iter()
            .map(|path| format!("\"{path}\""))
            .collect();
        global.say(&format!(
            "hint: checks lean on {} without running it directly; to freeze it too, add under `evolve:`\n  protect: [{}]\n",
            yardstick.leaned_on.join(", "),
            quoted.join(", ")
        ));
    }
    if !goals.settings.protect.is_empty() {
        global.say(&format!(
            "protected, new files included: {} — with --test-first an agent can add no test there\n",
            goals.settings.protect.join(", ")
        ));
    }
    Ok(0)
}

/// Prints where things stand.
pub fn status(global: &Global, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let goals = goals_file(global, &repo)?
        .load()
        .ok()
        .map(|(goals, _)| goals);
    let progress = Progress::new(Ledger::look(&repo.root)?);
    let ledger = &progress.ledger;
    let head = repo.head()?;
    let standing = |wanted: &str| -> Vec<String> {
        let goals = goals.iter().flat_map(|goals| &goals.goals);
        goals
            .filter(|goal| {
                match strikes::standing(goal, &ledger.history.records, &ledger.retries) {
                    Standing::Open => false,
                    Standing::Struck(_) => wanted == "struck",
                    Standing::Declined(_) => wanted == "declined",
                }
            })
            .map(|goal| goal.id.clone())
            .collect()
    };
    let journal = Journal::read(&repo.private).ok().flatten();
    let session = lock::holder(&repo.private.join("lock"));
    let counts = ledger.queue.counts(&repo.name());
    let document = Status {
        format: FORMAT,
        repository: repo.root.display().to_string(),
        branch: head.branch,
        head: head.commit,
        goals_total: goals.as_ref().map(|goals| goals.goals.len()),
        interrupted_cycle: journal
            .filter(|journal| session.is_none() && journal.is_unsettled())
            .map(|journal| journal.cycle),
        session: session.map(|holder| Running {
            pid: holder.pid,
            started_at: holder.since,
        }),
        kill: stop::kill_files()?
            .into_iter()
            .find(|path| stop::stop_file(path).is_some())
            .map(|path| path.display().to_string()),
        stop: stop::stop_file(&repo.root.join(names::STOP)),
        cycles: whole_history()?.records.len(),
        newest: ledger
            .history
            .newest()
            .filter(|record| is_valid(record))
            .cloned(),
        score: progress.newest.as_ref().map(|snapshot| snapshot.score),
        baseline_score: ledger
            .snapshot(names::BASELINE)
            .map(|snapshot| snapshot.score),
        struck: standing("struck"),
        declined: standing("declined"),
        queue: QueueCounts {
            open: counts.open,
            set_aside: counts.set_aside,
            consumed: counts.consumed,
        },
        problems: ledger.problems(),
    };
    match as_json {
        true => print(&ledger::checked("status", &document)?),
        false => global.say(&status::page(&document)),
    }
    Ok(0)
}

/// Prints every cycle so far, segments included.
pub fn history(global: &Global, as_json: bool) -> Result<u8> {
    let history = whole_history()?;
    for problem in &history.problems {
        global.warn(&format!("{}, {problem}", names::HISTORY));
    }
    match as_json {
        true => {
            let records: Vec<_> = history
                .records
                .iter()
                .filter(|record| is_valid(record))
                .collect();
            let document = serde_json::json!({"format": FORMAT, "records": records});
            print(&ledger::checked("history", &document)?);
        }
        false => global.say(&tables::history_table(&history.records)),
    }
    Ok(0)
}

/// Says whether a record is what this program would write: only such ones go into a document.
fn is_valid(record: &Record) -> bool {
    serde_json::to_value(record).is_ok_and(|value| schema::check("record", &value).is_ok())
}

fn whole_history() -> Result<History> {
    let repo = Repo::discover(&current_dir()?)?;
    Ok(History::parse(&ledger::whole_history(&repo.root)?))
}

/// Prints one cycle.
pub fn show(global: &Global, cycle: u64) -> Result<u8> {
    let history = whole_history()?;
    let Some(record) = history
        .records
        .iter()
        .rev()
        .find(|record| record.cycle == cycle)
    else {
        let known = match history.next_cycle() - 1 {
            0 => "no cycle is recorded yet".to_owned(),
            last => format!("the newest is {last}; `evolve history` lists them"),
        };
        return Err(Error::usage(format!("there is no cycle {cycle}")).hint(known));
    };
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo.root)?;
    let (before, after) = (
        ledger.snapshot(&names::snapshot(cycle)),
        ledger.snapshot(&names::post_snapshot(cycle)),
    );
    global.say(&tables::show_record(
        record,
        before.as_ref(),
        after.as_ref(),
    ));
    Ok(0)
}

/// Prints the queue.
pub fn work_list(global: &Global) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo.root)?;
    for problem in ledger.queue.problems() {
        global.warn(&format!("{}, {problem}", names::QUEUE));
    }
    let name = repo.name();
    let (open, set_aside) = (ledger.queue.open(&name), ledger.queue.set_aside(&name));
    match open.is_empty() && set_aside.is_empty() {
        true => global.say(&format!(
            "nothing is queued for {}\n",
            text::clean_line(&name)
        )),
        false => global.say(&tables::work_table(&open, &set_aside)),
    }
    Ok(0)
}

/// Prints a schema, or the names of all.
pub fn schema(name: Option<&str>) -> Result<u8> {
    match name {
        None => print(
            &schema::names()
                .map(|name| format!("{name}\n"))
                .collect::<String>(),
        ),
        Some(name) => match schema::text(name) {
            Some(text) => print(text),
            None => {
                let names: Vec<_> = schema::names().collect();
                return Err(Error::usage(format!("there is no schema {name}"))
                    .hint(format!("there are {}", names.join(", "))));
            }
        },
    }
    Ok(0)
}
