//! Commands that measure and change nothing: `measure`, and the loop's `--dry-run`. They take no lock, write no file and need
//! no agent.

use std::collections::HashMap;

use crate::cli::bounds::effective_sandbox;
use crate::cli::ci::Audience;
use crate::cli::config::user_config;
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::{Global, RunOptions};
use crate::cli::place;
use crate::cli::print::{print, print_document};
use crate::cli::start::{self, block_on, effective_jobs};
use crate::cli::watch::{Log, Watched, Watcher, watch};
use crate::cli::written::Before;
use crate::cycle::refuse_unmeasurable;
use crate::effects::clock;
use crate::effects::journal::JournalFile;
use crate::effects::ledger::Ledger;
use crate::effects::lock;
use crate::effects::measure::Measurer;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{Ground, Profile, Sandbox};
use crate::effects::search::lent;
use crate::effects::stop::{self, Halt, Stop};
use crate::effects::sweep::Plan;
use crate::effects::workspace::{Workspace, some_of};
use crate::engine::add_unwired;
use crate::error::{Error, Kind, Result};
use crate::event::{Event, Events, Planned};
use crate::model::goals::{Goal, Goals, Settings, longest_id, nearest_id};
use crate::model::ledger as names;
use crate::model::mask;
use crate::model::sandbox::Mode;
use crate::model::schema;
use crate::model::select::{self, Choice, Seen, Stuck, Task};
use crate::model::snapshot::Snapshot;
use crate::model::sweep::{self, Part};
use crate::model::text;
use crate::session::{GoalsFile, Progress};
use crate::view::junit::Why;
use crate::view::plain::EACH_TOLD;
use crate::view::{tables, width};

/// Runs checks once and prints what they say.
pub fn measure(
    global: &Global,
    run: &RunOptions,
    ids: &[String],
    as_json: bool,
    gate: bool,
) -> Result<u8> {
    let audience = Audience::of(run.report.junit.as_deref(), &current_dir()?);
    // What is told in the end is masked and checked; until then this program mostly waits.
    let prepare = move || {
        mask::prepare();
        if as_json {
            schema::prepare("snapshot");
        }
    };
    let _ = std::thread::Builder::new().spawn(prepare);
    audience.reporting(global, as_json, || {
        measure_for(global, &audience, run, ids, as_json, gate)
    })
}

fn measure_for(
    global: &Global,
    audience: &Audience,
    run: &RunOptions,
    ids: &[String],
    as_json: bool,
    gate: bool,
) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    let (goals, warnings) = file.load()?;
    let chosen = pick(&goals, ids)?;
    audience.refuse_kept(global, &repo, as_json)?;
    audience.refuse_undeliverable()?;
    global.point_out(&warnings);
    let watched = watch(global, Watcher::Person(run.progress.progress), Log::Bare)?;
    let before = Before::look(&repo, &chosen);
    let measured = block_on(measure_now(
        global,
        &repo,
        &goals,
        &chosen,
        run,
        of_each_check(as_json, &watched),
        EACH_TOLD,
    ));
    let is_told = is_each_told(global, &watched) && !as_json;
    watched.end();
    let (snapshot, halt) = before.told(global, &repo, &chosen, measured)?;
    let rows = || match is_told {
        true => String::new(),
        false => tables::goals_table(&snapshot, width::of_terminal()),
    };
    if let Some(halt) = halt {
        if !as_json {
            let outputs = tables::outputs(&snapshot, width::of_terminal());
            global.say(&format!("{}{outputs}", rows()));
        }
        return Err(interrupted(&halt, &snapshot, chosen.len()));
    }
    refuse_unmeasurable(&snapshot, &goals)?;
    file.refuse_failed_unread(&goals, &snapshot)?;
    match as_json {
        true => print_document("snapshot", &snapshot)?,
        false => {
            let result = tables::result(&snapshot, goals.goals.len(), width::of_terminal());
            global.say(&format!("{}{result}", rows()));
        }
    }
    let place = audience.place_of(&file);
    audience.tell(global, &snapshot, &goals, &place, !as_json);
    audience.report(Some(&snapshot), None)?;
    match gate && snapshot.goals_passing < snapshot.goals_total {
        true => Ok(Kind::Failing.exit_code()),
        false => Ok(0),
    }
}

/// Measures these goals of a repository once, for a command that goes by their numbers.
pub fn snapshot_of(
    global: &Global,
    run: &RunOptions,
    repo: &Repo,
    goals: &Goals,
    chosen: &[&Goal],
) -> Result<Snapshot> {
    let watched = watch(global, Watcher::Person(run.progress.progress), Log::Bare)?;
    let events = of_each_check(false, &watched);
    let before = Before::look(repo, chosen);
    let measured = block_on(measure_now(
        global, repo, goals, chosen, run, events, "ratchet",
    ));
    watched.end();
    whole(before.told(global, repo, chosen, measured)?)
}

/// Returns a measurement of which everything is needed.
fn whole((snapshot, halt): (Snapshot, Option<Halt>)) -> Result<Snapshot> {
    halt.map_or(Ok(snapshot), |halt| Err(cut_short(&halt)))
}

/// Returns the error of a measurement that was cut short, with how much of it there is.
fn interrupted(halt: &Halt, snapshot: &Snapshot, all: usize) -> Error {
    let error = cut_short(halt);
    let done = snapshot.goals.len();
    Error {
        message: format!("interrupted: {done} of {all} measured ({})", error.message),
        ..error
    }
}

/// Says whether each goal is told as its check ends: where what goes on is drawn, or each check is wanted.
fn is_each_told(global: &Global, watched: &Watched) -> bool {
    watched.is_live || global.verbose > 0
}

/// Returns where to tell of each check, for people.
fn of_each_check(as_json: bool, watched: &Watched) -> Events {
    match as_json {
        true => Events::default(),
        false => watched.events.clone(),
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
        let known: Vec<&str> = goals.goals.iter().map(|goal| &*goal.id).collect();
        match nearest_id(id, &known) {
            Some(nearest) => error.hint(format!("did you mean {nearest}?")),
            None => error.hint("`evolve validate` lists the goals"),
        }
    })
}

/// Measures without writing a file; the snapshot belongs to no cycle. Where something ended it, that is told with what was
/// measured until then.
async fn measure_now(
    global: &Global,
    repo: &Repo,
    goals: &Goals,
    chosen: &[&Goal],
    run: &RunOptions,
    events: Events,
    purpose: &'static str,
) -> Result<(Snapshot, Option<Halt>)> {
    warn_of_left(global, repo);
    let stop = Stop::watch(Vec::new())?;
    let user = user_config()?;
    let ground = repo.ground();
    let sandbox = sandbox_of_checks(global, run, &goals.settings, &user, repo, &ground)?;
    let measurer = Measurer {
        supervisor: Supervisor::new(stop.clone(), &repo.root)?,
        stop,
        events,
        root: repo.root.clone(),
        jobs: effective_jobs(run, &goals.settings, &user),
        session: clock::session_id(),
        fence: sandbox.fence(Profile::Checks, &ground)?,
    };
    let file = goals_file(global, repo)?;
    let progress = Ledger::look(repo).map(|ledger| Progress::new(repo, ledger));
    let expected = progress.map_or_else(
        |_| HashMap::new(),
        |progress| progress.expected_durations(repo, &file, goals),
    );
    measurer.events.send(Event::MeasureStarted {
        checks: chosen.len(),
        longest_id: longest_id(chosen),
        purpose,
    });
    let (measurements, halt) = measurer.as_far(goals, chosen, &expected, None).await;
    let head = match &halt {
        Some(_) => None,
        None => repo.head()?.commit,
    };
    let digest = goals.digest.clone();
    let snapshot = Snapshot::new(None, clock::timestamp(), head, digest, measurements);
    Ok((snapshot, halt))
}

/// Warns of what an agent of a search that was killed made of files that checks may run. Who only looks puts nothing back.
pub fn warn_of_left(global: &Global, repo: &Repo) {
    let left = lent::left_by_agents(repo);
    if !left.is_empty() {
        global.warn(&format!(
            "a search was killed while its agent was at work, and this is as that agent left it, so that no check that runs it is to be believed: {}; `evolve search resume`, `evolve search discard` and the loop put it back",
            some_of(&left)
        ));
    }
}

/// Returns the sandbox in which checks run where no agent does. `ground` is where they run.
pub fn sandbox_of_checks(
    global: &Global,
    run: &RunOptions,
    file: &Settings,
    user: &Settings,
    repo: &Repo,
    ground: &Ground,
) -> Result<Sandbox> {
    let mut wish = effective_sandbox(run, file, user);
    if run.sandbox.is_none() && !run.require_sandbox && wish.checks != Some(true) {
        // Only the agent would be held back, and none runs.
        wish.mode = Some(Mode::None);
        wish.require = None;
    }
    let (sandbox, warnings) = Sandbox::choose(&wish, ground)?;
    for warning in warnings {
        global.warn(&warning);
    }
    sandbox.open(&repo.private)
}

/// Returns the error of a measurement that was cut short.
pub fn cut_short(halt: &Halt) -> Error {
    let kind = halt.signal().map_or(Kind::Internal, Kind::Signal);
    Error::new(kind, halt.reason())
}

/// Measures and says what would be worked on, and why.
pub fn dry_run(global: &Global, run: &RunOptions) -> Result<u8> {
    let audience = Audience::of(run.report.junit.as_deref(), &current_dir()?);
    audience.reporting(global, run.json, || dry_run_for(global, &audience, run))
}

fn dry_run_for(global: &Global, audience: &Audience, run: &RunOptions) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    if let Some(note) = stopping_note(&repo)? {
        audience.refuse_kept(global, &repo, run.json)?;
        audience.report(None, Some(&Why::said(0, &note)))?;
        match run.json {
            true => print_event(&Event::note(note)),
            false => {
                let line = format!("dry run: nothing would be done: {note}\n");
                global.say(&width::page(&line, width::of_terminal()));
            }
        }
        return Ok(0);
    }
    repo.ready_head()?;
    repo.refuse_damaged()?;
    let file = goals_file(global, &repo)?;
    let (goals, warnings) = file.load()?;
    audience.refuse_kept(global, &repo, run.json)?;
    audience.refuse_undeliverable()?;
    let links = place::links(run, &goals.settings);
    let missing = place::refuse_tracked_links(&repo, links)?;
    if place::makes_copies(place::is_isolated(run, &file)?, &goals.settings) {
        place::refuse_led_back(&repo, links)?;
    }
    global.point_out(&warnings);
    missing.iter().for_each(|warning| global.warn(warning));
    let watched = watch(global, Watcher::Person(run.progress.progress), Log::Bare)?;
    let all: Vec<_> = goals.goals.iter().collect();
    let before = Before::look(&repo, &all);
    let measured = block_on(measure_now(
        global,
        &repo,
        &goals,
        &all,
        run,
        of_each_check(run.json, &watched),
        EACH_TOLD,
    ));
    let is_told = is_each_told(global, &watched);
    watched.end();
    let mut snapshot = whole(before.told(global, &repo, &all, measured)?)?;
    refuse_unmeasurable(&snapshot, &goals)?;
    file.refuse_failed_unread(&goals, &snapshot)?;
    let at = audience.place_of(&file);
    audience.tell(global, &snapshot, &goals, &at, !run.json);
    audience.report(Some(&snapshot), None)?;
    let mut progress = Progress::new(&repo, Ledger::look(&repo)?);
    if let Some(earlier) = &progress.newest {
        snapshot.tolerate(earlier, &goals);
    }
    let parts = sweep_parts(&goals)?;
    add_unwired(&repo.root, &parts, &goals, &mut progress.ledger.queue);
    progress.ledger.foresee_waking(&repo, &goals.goals)?;
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
    let idle = select::nothing_to_do(queue, &repository);
    let sweep = sweep_note(&repo, &goals, &choice, &progress.ledger)?;
    // That of a session at work is not settled yet.
    let is_at_work = lock::holder(&repo.private.join("lock")).is_some();
    let unsettled = JournalFile::of(&repo.own_places())
        .look()?
        .filter(|journal| journal.is_unsettled() && !is_at_work)
        .map(|journal| {
            format!(
                "cycle {} of a session that died is unsettled; a run would undo it first, and tells what you changed here since from it",
                journal.cycle
            )
        });
    let dirty = match &choice {
        Choice::Work(_) if !place::is_isolated(run, &file)? => dirty_note(&repo)?,
        Choice::Work(_) | Choice::Nothing | Choice::HumanNeeded(_) => None,
    };
    let refused = refusals(&repo, &file)?;
    let agent = match &choice {
        Choice::Work(_) => Some(start::agent(&goals, run, &repo.root)),
        Choice::Nothing | Choice::HumanNeeded(_) => None,
    };
    if run.json {
        measured_events(&snapshot).iter().for_each(print_event);
        print_event(&choice_event(&choice, &goals, agent, &idle));
        let notes = sweep.into_iter().chain(unsettled).chain(dirty);
        let notes = notes.chain(refused);
        notes.for_each(|message| print_event(&Event::note(message)));
        return Ok(0);
    }
    let width = width::of_terminal();
    let say = |page: &str| global.say(&width::page(page, width));
    global.say(&match is_told {
        true => tables::result(&snapshot, all.len(), width),
        false => tables::measure_table(&snapshot, all.len(), width),
    });
    say(&format!("\n{}", planned(&choice, &goals, &idle)));
    if let Some(agent) = agent {
        let words = agent.unwrap_or_else(|why| format!("{why}; `evolve doctor` looks closer"));
        say(&format!("  agent:       {words}\n"));
    }
    if let Some(note) = sweep {
        say(&format!("{note}\n"));
    }
    for note in unsettled.into_iter().chain(dirty).chain(refused) {
        say(&format!("{note}\n"));
    }
    let (open, set_aside) = (queue.open(&repository), queue.set_aside(&repository));
    if !open.is_empty() || !set_aside.is_empty() {
        global.say(&format!(
            "\nqueue for {repository}:\n{}",
            tables::work_table(&open, &set_aside, width)
        ));
    }
    Ok(0)
}

/// Says why a run would refuse to begin that a dry run does without: it settles nothing, and commits nothing.
fn refusals(repo: &Repo, file: &GoalsFile) -> Result<Vec<String>> {
    let (_, commit) = repo.ready_head()?;
    let workspace = Workspace { repo };
    let looks = [
        workspace.refuse_conflicts(),
        file.refuse_uncommitted(repo, &repo.tree_of(&commit)?),
        workspace.refuse_converted(),
    ];
    let said = |error: Error| {
        let words = [vec![error.message], error.hints].concat();
        let words = text::clean_line(&words.join("; "));
        format!("a run would not begin: {words}")
    };
    Ok(looks
        .into_iter()
        .filter_map(Result::err)
        .map(said)
        .collect())
}

/// Says that a run would refuse to begin in this tree.
fn dirty_note(repo: &Repo) -> Result<Option<String>> {
    let dirty = Workspace { repo }.dirty_files()?;
    Ok((!dirty.is_empty()).then(|| {
        let verb = if dirty.len() == 1 { "has" } else { "have" };
        format!(
            "a run would not begin: {} {verb} uncommitted changes ({}); commit or stash them first",
            text::count(dirty.len(), "tracked file"),
            text::clean_line(&some_of(&dirty))
        )
    }))
}

/// Says that a sweep is due, where a run would look for work before it chooses.
fn sweep_note(
    repo: &Repo,
    goals: &Goals,
    choice: &Choice,
    ledger: &Ledger,
) -> Result<Option<String>> {
    let has_failing_goal = match choice {
        Choice::Nothing => false,
        Choice::Work(selection) => matches!(selection.task, Task::Goal(_)),
        Choice::HumanNeeded(_) => true,
    };
    if has_failing_goal || !sweep::is_due(&ledger.last_sweep(repo), None, clock::now()) {
        return Ok(None);
    }
    let plan = Plan::of(repo, &sweep_parts(goals)?)?;
    let names = plan.names();
    Ok((!plan.is_empty()).then(|| {
        format!("a sweep is due ({names}): a run would look for new work before it chooses")
    }))
}

/// Returns what a run would look for new work with.
fn sweep_parts(goals: &Goals) -> Result<Vec<Part>> {
    let of_user = user_config()?.sweep;
    Ok(sweep::parts(
        goals.settings.sweep.as_deref(),
        of_user.as_deref(),
    ))
}

/// Returns what tells of a measurement that is over: each goal, and all of them.
fn measured_events(snapshot: &Snapshot) -> Vec<Event> {
    let each = snapshot.goals.iter().map(|goal| Event::CheckFinished {
        measurement: goal.clone(),
    });
    each.chain([Event::measured(snapshot, EACH_TOLD)]).collect()
}

/// Returns what tells what a run would work on, and with which agent; `idle` says why it would do nothing, where it would.
fn choice_event(
    choice: &Choice,
    goals: &Goals,
    agent: Option<Result<String, String>>,
    idle: &str,
) -> Event {
    let selection = match choice {
        Choice::Work(selection) => selection,
        Choice::Nothing => {
            return Event::note(format!("nothing to do: {idle}"));
        }
        Choice::HumanNeeded(stuck) => {
            let each = |one: &Stuck| format!("{} ({}): {}", one.goal_id, one.standing, one.reason);
            let each: Vec<_> = stuck.iter().map(each).collect();
            return Event::note(format!("a human is needed: {}", each.join("; ")));
        }
    };
    let goal = match &selection.task {
        Task::Goal(id) => goals.find(id),
        Task::Item(_) => None,
    };
    let of_item = match &selection.task {
        Task::Goal(_) => None,
        Task::Item(item) => item.description.clone(),
    };
    let (agent, no_agent) = match agent {
        Some(Ok(agent)) => (Some(agent), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    Event::Selected {
        goal_id: selection.task.goal_id(),
        reason: selection.reason.clone(),
        planned: Some(Box::new(Planned {
            weight: goal.map(|goal| goal.weight),
            description: goal.map(|goal| goal.description.clone()).or(of_item),
            check: goal.map(|goal| goal.check.clone()),
            agent,
            no_agent,
        })),
    }
}

fn print_event(event: &Event) {
    print(&format!("{}\n", event.line(&clock::timestamp())));
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
    Ok(words.map(|words| crate::session::Ending::stopped(repo, &words).reason))
}

/// Says what a run would do; `idle` says why it would do nothing, where it would.
fn planned(choice: &Choice, goals: &Goals, idle: &str) -> String {
    match choice {
        Choice::Nothing => format!("dry run: nothing to do — {idle}\n"),
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
                            text::clean_line(&text::on_one_line(&goal.check))
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
