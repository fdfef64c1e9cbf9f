//! Starting the loop: everything that is looked at, in order, before the first check runs.

mod enter;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::cli::bounds::effective_sandbox;
use crate::cli::ci::Audience;
use crate::cli::config::user_config;
use crate::cli::here::current_dir;
use crate::cli::options::{Global, RunOptions};
use crate::cli::place::{self, Place};
use crate::cli::undo::{self, Undo};
use crate::cli::watch::{Log, Watcher, watch};
use crate::effects::agent::Agent;
use crate::effects::gitfile::Gitfile;
use crate::effects::isolation::Isolation;
use crate::effects::ledger::Ledger;
use crate::effects::measure::Measurer;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{self, Profile, Sandbox};
use crate::effects::slot::Slot;
use crate::effects::workspace::Workspace;
use crate::effects::{files, logs, program};
use crate::engine;
use crate::error::{Error, Result};
use crate::event::{Event, Events};
use crate::model::agent::Entry;
use crate::model::goals::{AgentSpec, Goals, Limits, Settings, Where};
use crate::model::mask;
use crate::model::sandbox::Wish;
use crate::model::snapshot::Snapshot;
use crate::model::sweep::Part;
use crate::model::text;
use crate::model::usage::Spent;
use crate::session::{Ending, GoalsFile, Hooks, Options, Progress, Session};
use crate::view::junit::Why;

use enter::Entered;

/// Runs the loop in the repository of the working directory.
pub fn run_loop(global: &Global, run: &RunOptions) -> Result<u8> {
    let watcher = match run.json {
        true => Watcher::Program,
        false => Watcher::Person(run.progress.progress),
    };
    let audience = Audience::of(run.report.junit.as_deref(), &current_dir()?);
    let log = match audience.is_github {
        true => Log::Grouped,
        false => Log::Timed,
    };
    let watched = watch(global, watcher, log)?;
    // Whatever is told is masked; until then this program mostly waits for git.
    let _ = std::thread::Builder::new().spawn(mask::prepare);
    let ended = block_on(async {
        let cwd = current_dir()?;
        let repo = enter::open(&cwd, &watched.events).await?;
        audience.refuse_kept(global, &repo, run.json)?;
        start(global, run, repo, &watched.events).await
    });
    watched.end();
    let ended = ended.inspect_err(|error| audience.report_error(global, run.json, error))?;
    if let Some((snapshot, goals, file)) = &ended.measured {
        let place = audience.place_of(file);
        audience.tell(global, snapshot, goals, &place, !run.json);
    }
    let snapshot = ended.measured.as_ref().map(|(snapshot, ..)| snapshot);
    // How the loop ended is what whoever started it goes by.
    if let Err(error) = audience.report(snapshot, ended.why().as_ref()) {
        global.warn(&error.message);
    }
    Ok(ended.exit_code)
}

/// Takes the change of a cycle back: one cycle of the loop, with that as its task.
pub fn undo(global: &Global, run: &RunOptions, cycle: u64) -> Result<u8> {
    run_loop(
        global,
        &RunOptions {
            undo: Some(cycle),
            max_cycles: Some(1),
            skip_baseline: true,
            ..run.clone()
        },
    )
}

/// Looks at everything in order and runs the session.
async fn start(global: &Global, run: &RunOptions, repo: Repo, events: &Events) -> Result<Ended> {
    let entered = match enter::enter(global, run, repo, events).await? {
        ControlFlow::Continue(entered) => entered,
        ControlFlow::Break(ending) => return Ok(Ended::before_it_began(events, run, ending)),
    };
    let recovered = entered.recovered;
    let Equipped {
        session,
        ledger,
        goals,
        undo,
    } = equip(run, entered, events)?;
    if undo.is_none() {
        // What brought such attributes can be taken back.
        let repo = session.home();
        Workspace { repo }.refuse_converted()?;
    }
    let mut progress = Progress::new(session.home(), ledger);
    progress.recovered = recovered;
    let ending = engine::run(&session, &mut progress).await?;
    let ending = match &undo {
        Some(undo) => {
            let commit = Some((session.home(), &*undo.commit));
            let not_done = &*undo.errand.not_done;
            undo::ending(not_done, commit, ending, progress.recorded.last(), events)
        }
        None => ending,
    };
    let file = session.goals_file.clone();
    Ok(Ended {
        exit_code: ending.exit_code,
        reason: ending.reason,
        measured: progress.newest.map(|newest| (newest, goals, file)),
    })
}

/// All that a session runs with.
struct Equipped {
    session: Session,
    ledger: Ledger,
    goals: Goals,
    /// What is taken back, if that is the task.
    undo: Option<Undo>,
}

/// Settles where the session works, for which goals, by whom and within what.
fn equip(run: &RunOptions, entered: Entered, events: &Events) -> Result<Equipped> {
    let Entered {
        id,
        started,
        repo,
        goals_file,
        mirror,
        journal_file,
        stop,
        supervisor,
        lock,
        recovered: _,
    } = entered;
    let Place {
        repo,
        goals_file,
        mut isolation,
    } = place::of(goals_file, run, repo)?;
    let (goals, warnings) = goals_file.load()?;
    // Whoever takes a change back has no eye on the goals.
    for warning in warnings.iter().filter(|_| run.undo.is_none()) {
        events.warn(warning.in_words());
    }
    let settings = settings(&goals, run)?;
    let home = home_of(isolation.as_ref(), &repo);
    let undo = match run.undo {
        Some(cycle) => Some(undo::prepare(home, cycle)?),
        None => None,
    };
    let agent = match &undo {
        Some(undo) => undo.agent.clone(),
        None => Agent::resolve(settings.agent.as_ref(), &settings.entries, &repo.root)?,
    };
    let ground = repo.ground();
    let (sandbox, warnings) = Sandbox::choose(&settings.sandbox, &ground)?;
    let mut sandbox = sandbox.open(&repo.private)?;
    if goals.settings.measure == Where::Clean {
        Slot::refuse_within(home)?;
    }
    home.git.hold_back(&sandbox, &home.root, home.ground());
    sandbox.protections.isolated = isolation.is_some();
    sandbox.protections.clean = goals.settings.measure == Where::Clean;
    sandbox::tell(&repo.private, &sandbox.protections)?;
    for warning in warnings.into_iter().chain(hazards_of_path(&repo.root)) {
        events.warn(warning);
    }
    if settings.limits.max_cost.is_some() && !agent.tells_cost() && undo.is_none() {
        events.warn(format!(
            "{} does not say what its calls cost, so that --max-cost ends the session after the first one; --max-cycles, --max-time or --max-tokens may hold",
            agent.name
        ));
    }
    if let Some(limit) = settings.limits.max_time {
        stop.after(Some(limit));
    }
    logs::drop_links(&repo.private, &id, 0)?;
    logs::drop_old_sessions(&repo.private);
    let provisions = place::provisions(run, &goals.settings, isolation.as_ref(), home, events)?;
    if let Some(isolation) = &mut isolation {
        isolation.slot.provisions = provisions.clone();
    }
    let home = home_of(isolation.as_ref(), &repo);
    let branch = isolation.as_ref().map(|isolation| isolation.branch.clone());
    let ledger = Ledger::open(home, branch)?;
    events.send(Event::SessionStarted {
        session: id.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        goals: goals.goals.len(),
        agent: Some(agent.name.clone()),
        agent_found: agent.is_found,
        jobs: settings.jobs,
        protections: sandbox.protections.clone(),
        limits: settings.limits.clone(),
    });
    let measurer = Measurer {
        supervisor,
        stop: stop.clone(),
        events: events.clone(),
        root: repo.root.clone(),
        jobs: settings.jobs,
        session: id.clone(),
        fence: sandbox.fence(Profile::Checks, &ground)?,
    };
    let options = Options {
        limits: settings.limits,
        idle_wait: run.idle_wait.unwrap_or_default(),
        skip_baseline: run.skip_baseline,
        test_first: run.test_first,
        sweep: settings.sweep,
        provisions,
        hooks: settings.hooks,
        errand: undo.as_ref().map(|undo| undo.errand.clone()),
    };
    let gitfile = Gitfile::of(&repo.root).filter(|_| isolation.is_none());
    if let Some(Err(error)) = gitfile.as_ref().map(Gitfile::store) {
        events.warn(format!(
            "after a crash nothing would tell where the git directory is, if an agent had removed .git: {}",
            error.message
        ));
    }
    let session = Session {
        id,
        started,
        repo,
        gitfile,
        mirror: mirror.filter(|_| isolation.is_none()),
        isolation,
        goals_file,
        agent,
        measurer,
        sandbox,
        stop,
        events: events.clone(),
        options,
        journal_file,
        lock,
    };
    Ok(Equipped {
        session,
        ledger,
        goals,
        undo,
    })
}

/// The user's repository, wherever the session works.
fn home_of<'a>(isolation: Option<&'a Isolation>, repo: &'a Repo) -> &'a Repo {
    isolation.map_or(repo, |isolation| &isolation.user)
}

/// Warns of folders of PATH that lie in the repository.
fn hazards_of_path(root: &Path) -> Vec<String> {
    let shown = |folder: &PathBuf| {
        // An empty entry stands for the folder where a command runs.
        let shown = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        format!(
            "PATH leads into the repository, to {}: an agent can put programs there that checks would run",
            shown.display()
        )
    };
    program::folders_within(root).iter().map(shown).collect()
}

/// How a session ended.
struct Ended {
    exit_code: u8,
    /// In words.
    reason: String,
    /// What counts at its end, with the goals and the name of their file; none where nothing was measured.
    measured: Option<(Snapshot, Goals, GoalsFile)>,
}

impl Ended {
    fn before_it_began(events: &Events, run: &RunOptions, ending: Ending) -> Ended {
        let ending = match run.undo {
            Some(cycle) => {
                let not_done = format!("the change of cycle {cycle} stays");
                undo::ending(&not_done, None, ending, None, events)
            }
            None => ending,
        };
        let ending = tell(events, ending);
        Ended {
            exit_code: ending.exit_code,
            reason: ending.reason,
            measured: None,
        }
    }

    /// Says why what was measured is not all, if it is not.
    fn why(&self) -> Option<Why> {
        let is_all = self.exit_code == 0 && self.measured.is_some();
        (!is_all).then(|| Why::said(self.exit_code, &self.reason))
    }
}

/// What was settled of how this session runs: flag beats file, GOALS.yaml beats the user's configuration.
struct Settled {
    agent: Option<AgentSpec>,
    /// The entries of `agents:`; a later list beats an earlier one.
    entries: [Vec<Entry>; 2],
    jobs: usize,
    limits: Limits,
    sandbox: Wish,
    sweep: Option<Vec<Part>>,
    hooks: Hooks,
}

fn settings(goals: &Goals, run: &RunOptions) -> Result<Settled> {
    let file = &goals.settings;
    let user = match run.ignores_config {
        true => Settings::default(),
        false => user_config()?,
    };
    let agent = run.agent.agent.clone().map(AgentSpec::Line);
    Ok(Settled {
        agent: agent
            .or_else(|| file.agent.clone())
            .or_else(|| user.agent.clone()),
        entries: [user.agents.clone(), file.agents.clone()],
        jobs: effective_jobs(run, file, &user),
        limits: Limits {
            max_time: run.max_time,
            max_cycles: run.max_cycles,
            max_cost: run.max_cost,
            max_tokens: run.max_tokens,
        }
        .or(&file.limits)
        .or(&user.limits),
        sandbox: effective_sandbox(run, file, &user),
        sweep: user.sweep,
        hooks: Hooks {
            on_cycle: file.on_cycle.clone(),
            on_end: file.on_end.clone(),
        },
    })
}

/// Returns the agent that a run with these goals and options would call, or why there is none.
pub fn agent(goals: &Goals, run: &RunOptions, root: &Path) -> Result<String, String> {
    let found =
        settings(goals, run).and_then(|it| Agent::resolve(it.agent.as_ref(), &it.entries, root));
    match found {
        Ok(agent) => Ok(text::clean_line(&agent.in_words())),
        Err(error) => {
            let why = error.message.lines().next().unwrap_or_default();
            // What comes of it is said to those who start a run.
            let why = why.split(", so ").next().unwrap_or_default();
            Err(text::clean_line(why))
        }
    }
}

/// Returns how many checks run at once.
pub fn effective_jobs(run: &RunOptions, file: &Settings, user: &Settings) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    run.checks
        .jobs
        .or(file.jobs)
        .or(user.jobs)
        .unwrap_or_else(cores)
}

/// Runs a future on a runtime of this thread.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    files::refuse_few_descriptors()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| Error::internal(format!("cannot start the runtime: {cause}")).advised())?;
    runtime.block_on(future)
}

/// Tells why a session that never began has ended.
fn tell(events: &Events, ending: Ending) -> Ending {
    events.send(Event::SessionEnded {
        reason: ending.reason.clone(),
        ending: ending.word,
        cycles: 0,
        exit_code: ending.exit_code,
        has_stuck: !ending.stuck.is_empty(),
        trajectory: None,
        spent: Spent::default(),
    });
    ending
}
