//! Beginning a search and going on with one: everything that is looked at, in order, before the first command runs.

use std::rc::Rc;
use std::time::Duration;

use super::look;
use super::options::{Bound, RunningOptions, SearchOptions, StrategyName};
use crate::cli::arguments::Global;
use crate::cli::config::user_config;
use crate::cli::start::{block_on, current_dir};
use crate::cli::watch::{Log, Watcher, watch};
use crate::effects::agent::Agent;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Sandbox;
use crate::effects::search::store::{FORMAT, Store};
use crate::effects::slot::Slot;
use crate::effects::stop::{self, Stop};
use crate::effects::workspace::Workspace;
use crate::effects::{clock, git, lock, places};
use crate::engine::search::{self, Ended};
use crate::error::{Error, Kind, Result};
use crate::event::Events;
use crate::model::editable::Editable;
use crate::model::goals::{AgentSpec, Goals, Settings};
use crate::model::ledger as names;
use crate::model::lineage::{
    Entry, Lineage, Measure, Outcome, Plan, Population, Request, Strategy, Why,
};
use crate::model::sandbox::Wish;
use crate::model::{lens, text};
use crate::search::dice;
use crate::session::{Cut, Ending, Searching, Site};

/// How long a command may take unless said otherwise.
pub(super) const TIMEOUT: Duration = Duration::from_secs(600);

/// Begins a search.
pub fn begin(global: &Global, options: &SearchOptions) -> Result<u8> {
    let fitness = options.fitness.clone().ok_or_else(|| {
        Error::usage("there is no fitness command to search with").hint(
            "name the command that prints the number, as in `evolve search './bench.sh' --files 'src/**'`",
        )
    })?;
    if options.files.is_empty() {
        return Err(
            Error::usage("it is not said which files attempts may change")
                .hint("name them, as in --files 'src/**/*.rs'"),
        );
    }
    refuse_of_others(options)?;
    run(global, &options.running, |place| {
        place.plan(options, &fitness)
    })
}

/// Goes on with the newest search.
pub fn resume(global: &Global, running: &RunningOptions) -> Result<u8> {
    run(global, running, |place| {
        let Some((store, mut lineage)) = Store::newest(&place.repo.private)? else {
            return Err(
                Error::usage("there is no search to resume").hint("begin one with `evolve search`")
            );
        };
        store.mend()?;
        store.go_on()?;
        match &lineage.end {
            Some(end) if end.why != Why::Stopped => {
                return Err(Error::usage(format!(
                    "search {} is over: {}",
                    store.number,
                    look::words(end.why)
                ))
                .hint("begin another one with `evolve search`"));
            }
            Some(_) => {
                let entry = Entry::Resumed {
                    at: clock::timestamp(),
                };
                store.append(&entry)?;
                lineage.take(entry).map_err(Error::internal)?;
            }
            None => {}
        }
        Ok((store, lineage))
    })
}

/// Gives the newest search up.
pub fn discard(global: &Global) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let Some((store, _)) = Store::newest(&repo.private)? else {
        return Err(Error::usage("there is no search to discard"));
    };
    if let Some(holder) = lock::holder(&lock_file(&repo)) {
        return Err(Error::new(
            Kind::Locked,
            format!("the search is running (process {})", holder.pid),
        )
        .hint("`evolve stop` ends it"));
    }
    let of_search = store.attempt_ref_prefix();
    for name in repo
        .all_refs()?
        .keys()
        .filter(|name| name.starts_with(&of_search))
    {
        repo.remove_ref(name)?;
    }
    Slot::remove_all_of(&repo, "search-")?;
    store.remove()?;
    global.say(&format!("search {} is discarded\n", store.number));
    Ok(0)
}

/// Refuses options of another strategy.
fn refuse_of_others(options: &SearchOptions) -> Result<()> {
    let of_population = [
        ("-k", options.k.is_some()),
        ("-g", options.generations.is_some()),
    ];
    match of_population.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if options.strategy != StrategyName::Population => Err(Error::usage(
            format!("{option} is an option of the strategy population"),
        )
        .hint("add --strategy population, or leave it out")),
        _ => Ok(()),
    }
}

/// Returns the lock that a running search holds.
pub(super) fn lock_file(repo: &Repo) -> std::path::PathBuf {
    repo.private.join("search.lock")
}

/// What is known before a search's plan is.
struct Place<'a> {
    repo: &'a Repo,
    events: &'a Events,
    user: Settings,
}

fn run(
    global: &Global,
    running: &RunningOptions,
    open: impl FnOnce(&Place<'_>) -> Result<(Store, Lineage)>,
) -> Result<u8> {
    let watcher = match running.json {
        true => Watcher::Program,
        false => Watcher::Person(running.progress),
    };
    let watched = watch(global, watcher, Log::Timed)?;
    let ended = block_on(start(running, &watched.events, open));
    watched.end();
    let (lineage, code, words) = ended?;
    if !running.json {
        global.say(&look::ended(&lineage, &words));
    }
    Ok(code)
}

async fn start(
    running: &RunningOptions,
    events: &Events,
    open: impl FnOnce(&Place<'_>) -> Result<(Store, Lineage)>,
) -> Result<(Lineage, u8, String)> {
    let mut repo = Repo::discover(&current_dir()?)?;
    let kill_files = stop::kill_files()?;
    stop::prepare(&kill_files);
    let stop = Stop::watch(kill_files)?;
    stop.watch_for_stop(&repo.root.join(names::STOP));
    places::refuse_state_within(&repo.root)?;
    std::fs::create_dir_all(&repo.private)
        .map_err(|cause| Error::io("create", &repo.private, cause))?;
    let id = clock::session_id();
    let lock = lock::take(&lock_file(&repo), &clock::timestamp()).await?;
    repo.make_durable()?;
    Repo::hold_no_objects();
    let supervisor = Supervisor::with_lock(stop.clone(), &repo.root, &lock, Vec::new())?;
    git::pack::supervise(&supervisor, &id);
    repo.git = repo.git.supervised(&supervisor, &id);
    repo.git.refuse_old()?;
    Slot::refuse_within(&repo)?;
    let user = user_config()?;
    let place = Place {
        repo: &repo,
        events,
        user,
    };
    let (store, mut lineage) = open(&place)?;
    let user = place.user;
    let request = lineage.plan.request.clone();
    let spec = running.agent.clone().map(AgentSpec::Line);
    let spec = spec.or_else(|| {
        Some(request.agent.clone())
            .filter(|agent| !agent.is_empty())
            .map(AgentSpec::Line)
    });
    let entries = [user.agents.clone(), Vec::new()];
    let agent = Agent::resolve(spec.as_ref().or(user.agent.as_ref()), &entries, &repo.root)?;
    let wish = Wish {
        mode: running.sandbox.or(user.sandbox.mode),
        require: running
            .require_sandbox
            .then_some(true)
            .or(user.sandbox.require),
        ..user.sandbox.clone()
    };
    let ground = repo.ground();
    let (sandbox, warnings) = Sandbox::choose(&wish, &ground)?;
    let sandbox = sandbox.open(&repo.private)?;
    warnings
        .into_iter()
        .for_each(|warning| events.warn(warning));
    let max_time = running
        .max_time
        .or(request.max_time_s.map(Duration::from_secs_f64));
    if let Some(limit) = max_time {
        stop.after(limit);
    }
    let editable =
        Editable::of(&request.files, &request.frozen, &request.protect).map_err(Error::usage)?;
    let site = Site {
        id,
        user: repo,
        store,
        request: Request {
            max_cost: running.max_cost.or(request.max_cost),
            ..request
        },
        supervisor,
        sandbox,
        stop,
        events: events.clone(),
    };
    let session = Rc::new(Searching {
        site,
        editable,
        agent,
        lock,
    });
    events.note(format!(
        "search {} · {} · {} agent · seed {}",
        session.site.store.number,
        lineage.plan.strategy.word(),
        lineage.plan.agents,
        lineage.plan.seed
    ));
    let (code, words) = match search::run(&session, &mut lineage).await? {
        Ended::Over(Why::NoBaseline) => {
            let error = no_baseline(&lineage);
            session.site.store.remove()?;
            return Err(error);
        }
        Ended::Over(Why::EnvironmentChanged) => (
            Kind::Human.exit_code(),
            look::words(Why::EnvironmentChanged).to_owned(),
        ),
        Ended::Over(why) => (0, look::words(why).to_owned()),
        Ended::Cut(Cut::Halt(halt)) => {
            let ending = Ending::of_halt(&halt);
            (ending.exit_code, ending.reason)
        }
        Ended::Cut(Cut::Failed(error)) => return Err(error),
        Ended::Cut(Cut::Unprepared(why)) => return Err(Error::usage(why)),
    };
    Ok((lineage, code, words))
}

/// Says why the untouched code has no score (exit 2).
fn no_baseline(lineage: &Lineage) -> Error {
    let baseline = lineage.attempt(0);
    let bad = |what: &Measure| match &baseline.measurement(*what)?.outcome {
        Outcome::Scored { .. } => None,
        Outcome::GateFailed(why) => Some(format!("a gate does not pass: {why}")),
        Outcome::Invalid(why) => Some(format!("there is no score: {why}")),
    };
    let why = [Measure::First, Measure::HoldOut].iter().find_map(bad);
    let why = why.unwrap_or_default();
    Error::usage(format!("the untouched code cannot be measured in a copy of its commit: {why}")).hint(
        "what git ignores is not in the copy: make it with --prepare CMD, or lend it with --link PATH",
    )
}

impl Place<'_> {
    /// Resolves what was asked for, and begins the search.
    fn plan(&self, options: &SearchOptions, fitness: &str) -> Result<(Store, Lineage)> {
        let repo = self.repo;
        if let Some((store, lineage)) = Store::newest(&repo.private)?
            && lineage
                .end
                .as_ref()
                .is_none_or(|end| end.why == Why::Stopped)
        {
            return Err(
                Error::usage(format!("search {} is unfinished", store.number)).hint(
                    "go on with `evolve search resume`, or give it up with `evolve search discard`",
                ),
            );
        }
        let (branch, base) = repo.ready_head()?;
        let tree = repo.tree_of(&base)?;
        let mut commands = options.gate.clone();
        commands.push(fitness.to_owned());
        commands.extend(options.holdout.clone());
        let frozen = self.frozen(&commands, &tree);
        let seed = options
            .seed
            .unwrap_or_else(|| dice::roll(0, 0, &clock::session_id(), 0) % 1_000_000);
        let (strategy, stale) = match options.strategy {
            StrategyName::Climb => (Strategy::Climb, 20),
            StrategyName::Population => {
                let population = Population {
                    k: options.k.unwrap_or(4),
                    generations: options.generations.unwrap_or(10),
                };
                (Strategy::Population(population), 3)
            }
        };
        let named: Vec<String> = frozen
            .iter()
            .filter(|path| options.files.contains(path))
            .cloned()
            .collect();
        for path in &named {
            self.events.warn(format!(
                "{path} is what the number is measured with, and --files names it: attempts can change the yardstick"
            ));
        }
        let frozen: Vec<String> = frozen
            .into_iter()
            .filter(|path| !named.contains(path))
            .collect();
        let editable = Editable::of(&options.files, &frozen, &[]).map_err(Error::usage)?;
        let touched = self.refuse_dirty(&editable)?;
        if !touched.is_empty() {
            self.events.note(format!(
                "not committed, so not in the copies: {}",
                text::some_of(&touched, 5)
            ));
        }
        if !repo
            .git
            .run(&["ls-tree", "-r", "--name-only", "-z", &base])?
            .split(|byte| *byte == 0)
            .any(|path| editable.has(&String::from_utf8_lossy(path)))
        {
            return Err(Error::usage(format!(
                "no file of {} is one that attempts may change: {}",
                text::some_of(&[branch.trim_start_matches("refs/heads/").to_owned()], 1),
                options.files.join(" ")
            ))
            .hint("patterns are relative to the repository's root, as in 'src/**/*.rs'; what the commands run is never editable"));
        }
        let mut lenses = match options.lens.is_empty() {
            true => lens::built_in(options.objective.as_deref().unwrap_or(fitness)),
            false => options.lens.clone(),
        };
        dice::shuffle(seed, &mut lenses);
        let plan = Plan {
            format: FORMAT,
            strategy,
            direction: options.direction.unwrap_or_default(),
            repeats: options.repeats.unwrap_or(3),
            agents: options.agents.unwrap_or(1),
            until: options.until,
            seed,
            stale: options.stale.unwrap_or(Bound::At(stale)).number(),
            max_attempts: options.max_attempts.and_then(Bound::number),
            lenses,
            has_holdout: options.holdout.is_some(),
            content: tree,
            request: Request {
                started: clock::timestamp(),
                branch,
                base,
                fitness: fitness.to_owned(),
                objective: options.objective.clone(),
                files: options.files.clone(),
                frozen,
                protect: Vec::new(),
                gates: options.gate.clone(),
                holdout: options.holdout.clone(),
                benchmarks: options.benchmarks.unwrap_or(1),
                timeout_s: options.timeout.unwrap_or(TIMEOUT).as_secs_f64(),
                prepare: options.prepare.clone(),
                link: options.link.clone(),
                agent: options.running.agent.clone().unwrap_or_default(),
                max_cost: options.running.max_cost,
                max_time_s: options.running.max_time.map(|limit| limit.as_secs_f64()),
            },
        };
        Store::create(&repo.private, plan)
    }

    /// Returns the files that the commands run.
    fn frozen(&self, commands: &[String], tree: &str) -> Vec<String> {
        let goals = Goals::of_commands(commands);
        let is_file = |path: &str| self.repo.has_file(tree, path);
        let workspace = Workspace { repo: self.repo };
        workspace.yardstick(&goals, &is_file).frozen
    }

    /// Refuses uncommitted changes of files that count; returns the others.
    fn refuse_dirty(&self, editable: &Editable) -> Result<Vec<String>> {
        let listed = self.repo.git.run(&[
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
        ])?;
        let entries = listed.split(|byte| *byte == 0);
        let paths = entries.filter_map(|entry| entry.get(3..));
        let paths = paths.map(|path| String::from_utf8_lossy(path).into_owned());
        let counts = |path: &String| editable.has(path) || editable.is_frozen(path);
        let (counting, others): (Vec<_>, Vec<_>) = paths.partition(counts);
        match counting.is_empty() {
            true => Ok(others),
            false => Err(Error::unsafe_repo(format!(
                "files that the search is about have changes that are not committed: {}",
                text::some_of(&counting, 5)
            ))
            .hint("commit or stash them; a search starts from a commit")),
        }
    }
}
