//! Beginning a search and going on with one: everything that is looked at, in order, before the first command runs.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

use super::options::{ResumeOptions, RunningOptions, SearchOptions};
use super::place::{Place, take_lock};
use super::plan::{self, Planned};
use super::steer::{heed_words_left, strange};
use super::{agent, ask, baseline, tell};
use crate::cli::config::user_config;
use crate::cli::here::{current_dir, to_steer};
use crate::cli::options::Global;
use crate::cli::place::refuse_led_back;
use crate::cli::start::block_on;
use crate::cli::watch::{Log, Watcher, watch};
use crate::effects::led;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{Ground, Sandbox};
use crate::effects::search::lent::Lent;
use crate::effects::search::store::Store;
use crate::effects::search::{papers, refs};
use crate::effects::slot::{Slot, Written};
use crate::effects::stop::{self, Stop};
use crate::effects::{clock, git, lock, places, within};
use crate::engine::search::{self, Between, Ended, Nobody};
use crate::error::{Error, Kind, Result};
use crate::event::Events;
use crate::model::goals::{Goals, Limits};
use crate::model::ledger as names;
use crate::model::limit;
use crate::model::sandbox::Wish;
use crate::model::search::editable::Editable;
use crate::model::search::lineage::{
    Adjustment, Entry, Id, Lineage, Measure, Note, Request, Why, Word,
};
use crate::model::text;
use crate::search::overview;
use crate::session::{Blamed, Cut, Ending, Searching, Site, Slots, Unready};
use crate::view;

/// How many lent paths are named.
const LENT: usize = 5;

/// Begins a search.
pub fn begin(global: &Global, options: &SearchOptions) -> Result<u8> {
    let running = &options.running;
    let repo = to_steer()?;
    let mut given = plan::given(&repo, options)?;
    ask::refuse_alone(global, running, given.asked.strategy().0)?;
    if given.asked.files.is_empty() {
        given.asked.files = ask::files(global, &repo, &given.asked)?;
    }
    run(global, running, |place| {
        let Planned { store, plan, goals } = plan::plan(place, &given)?;
        Ok(Opened {
            store,
            lineage: Lineage::new(plan),
            is_new: true,
            goals,
        })
    })
}

/// Goes on with the newest search.
pub fn resume(global: &Global, options: &ResumeOptions) -> Result<u8> {
    let running = &options.running;
    within::refuse(&Repo::discover(&current_dir()?)?.private)?;
    run(global, running, |place| {
        if let Some(store) = Store::last(place.repo) {
            search::put_right_since(&store, place.events)?;
        }
        let Some((store, lineage)) = Store::newest(place.repo)? else {
            return Err(
                Error::usage("there is no search to resume").hint("begin one with `evolve search`")
            );
        };
        let number = store.number;
        if let Some(named) = options.which.number.filter(|named| *named != number) {
            return Err(Error::usage(format!(
                "search {named} is not the newest, and only that goes on: it is search {number}"
            )));
        }
        if let (Some(words), None) = (strange(&store), options.which.number) {
            return Err(Error::unsafe_repo(words).hint(format!(
                "look at it with `evolve search board`; `evolve search resume --search {number}` goes on with it all the same, and \
                 takes it for evolve's from then on; `evolve search discard` gives it up"
            )));
        }
        if let Some(end) = lineage.end.as_ref().filter(|end| !end.why.can_go_on()) {
            // One that was killed at its very end left its copies.
            Slot::remove_all_of(place.repo, "search-")?;
            return Err(Error::usage(format!(
                "search {} is over: {}",
                store.number,
                end.why.words()
            ))
            .hint("begin another one with `evolve search`"));
        }
        ask::refuse_alone(global, running, lineage.plan.strategy)?;
        if let Some(gone) = search::lost::of_search(place.repo, &store, &lineage) {
            return Err(gone);
        }
        Ok(Opened {
            store,
            lineage,
            is_new: false,
            goals: None,
        })
    })
}

/// Writes down that a search goes on, which nothing refuses any more, and what it may cost from now on if that is another sum.
fn go_on(store: &Store, lineage: &mut Lineage, max_cost: Option<f64>) -> Result<()> {
    store.go_on()?;
    let resumed = lineage.end.is_some().then(|| Entry::Resumed {
        at: clock::timestamp(),
    });
    let now = lineage.adjusted(Id::MAX).max_cost;
    let now = now.or(lineage.plan.request.max_cost);
    let adjusted = max_cost.filter(|most| now != Some(*most)).map(|most| {
        let change = Adjustment {
            max_cost: Some(most),
            ..Adjustment::default()
        };
        let after = lineage.newest();
        let word = Word::Adjust(change);
        Entry::Note(Note { after, word })
    });
    for entry in resumed.into_iter().chain(adjusted) {
        store.append(&entry)?;
        lineage.take(entry).map_err(Error::internal)?;
    }
    Ok(())
}

/// Gives the newest search up.
pub fn discard(global: &Global) -> Result<u8> {
    let mut repo = Repo::discover(&current_dir()?)?;
    within::refuse(&repo.private)?;
    let Some(store) = Store::last(&repo) else {
        return Err(Error::usage("there is no search to discard"));
    };
    let kept = Store::newest(&repo).ok().flatten();
    // What somebody made up has no winner.
    let kept = kept.filter(|(store, _)| strange(store).is_none());
    let winner = kept.and_then(|(store, lineage)| {
        let best = plan::winner_alone(&repo, &store, &lineage)?;
        Some((best, search::commit(&lineage, best).to_owned()))
    });
    let words = block_on(async {
        let (since, id) = (clock::timestamp(), clock::session_id());
        let (_searching, mut words) = take_lock(&repo, &id, &since).await?;
        // Something of it may be being applied.
        let _applying = lock::take(&repo.private.join("lock"), &since).await?;
        Store::end_leftovers(&repo.private, &id)?;
        repo.make_durable()?;
        words.extend(search::apply::recover(&repo)?.words);
        remove(&repo, &store)?;
        Ok(words)
    })?;
    for words in words {
        global.tell(&format!("{words}\n"));
    }
    global.tell(&discarded(&store));
    if let Some((best, commit)) = winner {
        global.tell(&format!(
            "its winner, attempt {best}, is on no branch: `git branch NAME {commit}` keeps it, until git clears away what nothing refers to\n"
        ));
    }
    Ok(0)
}

/// Removes everything of a search.
fn remove(repo: &Repo, store: &Store) -> Result<()> {
    refs::remove(repo, store)?;
    Slot::remove_all_of(repo, "search-")?;
    store.remove()
}

fn discarded(store: &Store) -> String {
    format!("search {} is discarded\n", store.number)
}

/// A search that is to run.
struct Opened {
    store: Store,
    lineage: Lineage,
    /// Nothing of it is written yet.
    is_new: bool,
    /// The goals of which those that pass become gates.
    goals: Option<Goals>,
}

fn run(
    global: &Global,
    running: &RunningOptions,
    open: impl FnOnce(&Place<'_>) -> Result<Opened>,
) -> Result<u8> {
    let watcher = match running.json {
        true => Watcher::Program,
        false => Watcher::Person(running.progress),
    };
    let watched = watch(global, watcher, Log::Timed)?;
    let ended = block_on(start(running, &watched.events, open));
    watched.end();
    let (words, code) = ended?;
    if !running.json {
        global.tell(&words);
    }
    Ok(code)
}

async fn start(
    running: &RunningOptions,
    events: &Events,
    open: impl FnOnce(&Place<'_>) -> Result<Opened>,
) -> Result<(String, u8)> {
    let mut repo = Repo::discover(&current_dir()?)?;
    let kill_files = stop::kill_files()?;
    stop::prepare(&kill_files);
    let stop = Stop::watch(kill_files)?;
    if let Some(halt) = stop.look_for_kill() {
        return Ok(not_begun(running, events, Ending::of_halt(&halt)));
    }
    stop.watch_for_stop(&repo.root.join(names::STOP));
    places::refuse_state_within(&repo.root)?;
    std::fs::create_dir_all(&repo.private)
        .map_err(|cause| Error::io("create", &repo.private, cause))?;
    let id = clock::session_id();
    let (lock, notes) = take_lock(&repo, &id, &clock::timestamp()).await?;
    for words in notes {
        events.note(words);
    }
    Store::end_leftovers(&repo.private, &id)?;
    repo.make_durable()?;
    Repo::hold_no_objects();
    let supervisor = Supervisor::with_lock(stop.clone(), &repo.root, &lock, Vec::new())?;
    git::pack::supervise(&supervisor, &id);
    repo.git = repo.git.supervised(&supervisor, &id);
    repo.git.refuse_old()?;
    Slot::refuse_within(&repo)?;
    if let Some(words) = stop.asked_to_stop() {
        return Ok(not_begun(running, events, Ending::stopped(&repo, &words)));
    }
    complete_apply(&repo, events).await?;
    let user = user_config()?;
    let repo_and_events = Place {
        repo: &repo,
        events,
    };
    let opened = open(&repo_and_events)?;
    let (store, mut lineage) = (opened.store, opened.lineage);
    let request = lineage.plan.request.clone();
    let lent = lent(&repo_and_events, &request)?;
    let own = Some(request.agent.clone()).filter(|agent| !agent.is_empty());
    let named = running.agent.clone().or(own);
    let agent = agent::resolve(&repo_and_events, named, &user)?;
    let wish = wished(running).or(&request.sandbox).or(&user.sandbox);
    let sandbox = shut_in(&repo_and_events, &wish, &lent)?;
    // What git runs in a copy, an agent may have written.
    repo.git.hold_back(&sandbox, &repo.root, repo.ground());
    let (max_time, max_cost) = limits(running, &lineage, &request);
    stop.after(max_time);
    let editable =
        Editable::of(&request.files, &request.frozen, &request.protect).map_err(Error::usage)?;
    let mut site = Site {
        id,
        user: repo,
        store,
        request: Request {
            max_cost,
            ..request
        },
        supervisor,
        sandbox,
        stop,
        events: events.clone(),
        written: Written::default(),
    };
    if opened.is_new {
        match begun(&mut site, lineage, opened.goals.as_ref()).await {
            Ok(begun) => lineage = begun,
            Err(cut) => {
                Slot::remove_all_of(&site.user, "search-")?;
                site.store.remove()?;
                let ending = cut_short(cut)?;
                return Ok((format!("{}\n", ending.reason), ending.exit_code));
            }
        }
    } else {
        go_on(&site.store, &mut lineage, running.max_cost)?;
    }
    let lent = Lent::of(&site.user, &site.store.folder, &site.id, &site.request)?;
    if let Some(words) = lent.uncopied() {
        site.events.warn(words);
    }
    let session = Rc::new(Searching {
        lent,
        site,
        editable,
        goalposts: OnceCell::new(),
        goalposts_of_holdout: OnceCell::new(),
        agent,
        lock,
    });
    let mut seen = lineage.clone();
    heed_words_left(&session.site.store, &mut seen)?;
    tell::began(&session, &seen, max_time.map(|time| time.as_secs_f64()));
    let mut person = ask::Person {
        session: Rc::clone(&session),
    };
    let between: &mut dyn Between = match running.yes {
        true => &mut Nobody,
        false => &mut person,
    };
    let ended = search::run(&session, &mut lineage, between).await?;
    conclude(&session, &lineage, ended).await
}

/// Says what became of a search that has ended, and removes what need not stay.
async fn conclude(session: &Searching, lineage: &Lineage, ended: Ended) -> Result<(String, u8)> {
    let ending = match ended {
        Ended::Over(Why::NoBaseline) => {
            let error = baseline::missing(session, lineage).await;
            remove(&session.site.user, &session.site.store)?;
            return Err(error?);
        }
        Ended::Discarded => {
            remove(&session.site.user, &session.site.store)?;
            return Ok((discarded(&session.site.store), 0));
        }
        Ended::Over(why) => {
            if !why.can_go_on() {
                session.site.remove_slots(&Slots::OF_SEARCH);
            }
            over(&session.site, lineage, why)
        }
        Ended::Cut(cut) => {
            // Before anything is known, there is nothing to go on with.
            if lineage.attempt(0).measurement(Measure::First).is_none() {
                remove(&session.site.user, &session.site.store)?;
                if let Cut::Unprepared(unready) = cut {
                    return Err(unready_at_all(unready));
                }
                let ending = cut_short(cut)?;
                tell::ended(session, lineage, &ending);
                let words = format!(
                    "{}; the untouched code was not measured yet, so nothing of the search stays\n",
                    ending.reason
                );
                return Ok((words, ending.exit_code));
            }
            cut_short(cut)?
        }
    };
    let mut overview = tell::ended(session, lineage, &ending);
    let failed = overview.failed_throughout();
    overview.failed_log = failed.and_then(|newest| log_of(&session.site, newest.id));
    let width = view::width::of_terminal();
    let page = view::search::ended::page(&overview, &ending.reason, ending.exit_code, width);
    Ok((page, ending.exit_code))
}

/// Returns the log of an attempt's last agent, as its user would write it.
fn log_of(site: &Site, id: Id) -> Option<String> {
    let path = papers::of(&site.store.folder, id).log?.path;
    let path = path.strip_prefix(&site.user.root).unwrap_or(&path);
    Some(path.display().to_string())
}

/// Returns which of the paths that were asked for are lent to copies, and says why the others are not. Refuses to lend what leads
/// back, and warns of an environment that does.
fn lent(place: &Place<'_>, request: &Request) -> Result<Vec<String>> {
    let mut lent = request.link.clone();
    for path in &request.link {
        if let Some(why) = not_lent(place.repo, &request.base, path)? {
            let shown = text::clean_line(path);
            place.events.warn(format!("{shown} is not lent: {why}"));
            lent.retain(|other| other != path);
        }
    }
    refuse_led_back(place.repo, &lent)?;
    let fitness = ("the fitness command".to_owned(), request.fitness.clone());
    let gates = request
        .gates
        .iter()
        .map(|gate| (gate.clone(), gate.clone()));
    let commands: Vec<_> = std::iter::once(fitness).chain(gates).collect();
    let is_prepared = request.prepare.is_some();
    if let Some(words) = place.repo.leads().words() {
        place.events.note(words);
    }
    for words in led::in_environment(&place.repo.root, &lent, &commands, is_prepared) {
        place.events.warn(text::clean_line(&words));
    }
    Ok(lent)
}

/// Returns what this command was told of the sandbox.
fn wished(running: &RunningOptions) -> Wish {
    Wish {
        mode: running.sandbox,
        require: running.require_sandbox.then_some(true),
        ..Wish::default()
    }
}

/// Opens the sandbox: agents and commands work in copies, and nowhere else.
fn shut_in(place: &Place<'_>, wish: &Wish, lent: &[String]) -> Result<Sandbox> {
    let (sandbox, warnings) = Sandbox::choose(wish, &Ground::of_slot(&place.repo.root))?;
    let mut sandbox = sandbox.open(&place.repo.private)?;
    sandbox.protections.isolated = true;
    for warning in warnings {
        place.events.warn(warning);
    }
    if !lent.is_empty() && !sandbox.is_on() {
        place.events.note(format!(
            "{} of your checkout is lent as it is: what an agent writes there stays, but for what the commands run; --sandbox holds it back",
            text::clean_line(&text::some_of(lent, LENT))
        ));
    }
    Ok(sandbox)
}

/// Returns how long this session may take and what the search may cost, by the command, what was said since, or the plan.
fn limits(
    running: &RunningOptions,
    lineage: &Lineage,
    request: &Request,
) -> (Option<Duration>, Option<f64>) {
    let adjusted = lineage.adjusted(Id::MAX);
    let max_time_s = adjusted.max_time_s.or(request.max_time_s);
    let of_search = max_time_s.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
    let max_cost = running.max_cost.or(adjusted.max_cost);
    let max_cost = max_cost
        .or(request.max_cost)
        .filter(|most| *most < f64::MAX);
    (running.max_time.or(of_search), max_cost)
}

/// Completes an `apply` that was killed: what it left half done looks like changes of the user's.
async fn complete_apply(repo: &Repo, events: &Events) -> Result<()> {
    if !Store::applying(&repo.private).exists() {
        return Ok(());
    }
    // One that is at work holds it.
    let _lock = lock::take(&repo.private.join("lock"), &clock::timestamp()).await?;
    for words in search::apply::recover(repo)?.words {
        events.note(words);
    }
    Ok(())
}

/// Says in one line why a session did not begin.
fn not_begun(running: &RunningOptions, events: &Events, ending: Ending) -> (String, u8) {
    if running.json {
        events.note(&*ending.reason);
    }
    (format!("{}\n", ending.reason), ending.exit_code)
}

/// Says why copies of a commit are not lent a path of the checkout, where they are not.
fn not_lent(repo: &Repo, commit: &str, path: &str) -> Result<Option<&'static str>> {
    let tree = repo.tree_of(commit)?;
    if repo.has_file(&tree, path)? || repo.is_folder(&tree, path.as_bytes())? {
        return Ok(Some("git tracks it, so the copies have their own"));
    }
    let is_there = std::fs::symlink_metadata(repo.root.join(path)).is_ok();
    Ok((!is_there).then_some("it is not there"))
}

/// Writes the plan down, with the goals that pass among its gates.
async fn begun(site: &mut Site, lineage: Lineage, goals: Option<&Goals>) -> Result<Lineage, Cut> {
    let mut plan = lineage.plan;
    site.store.make_folder()?;
    if let Some(goals) = goals {
        search::add_goals(site, &mut plan.request, goals).await?;
        site.request.gates.clone_from(&plan.request.gates);
        let limits = &plan.request.gate_timeouts_s;
        site.request.gate_timeouts_s.clone_from(limits);
    }
    // Whatever becomes of the branch: what attempts are made from stays.
    refs::make_way(&site.user, &site.store)?;
    let base = site.store.attempt_ref(0);
    let note = "evolve: the untouched code of a search";
    let claimed = site.user.make_ref(&base, &plan.request.base, note);
    claimed.map_err(|cause| match site.user.target_of(&base) {
        Some(_) => Error::new(
            Kind::Locked,
            "another working tree of this repository began a search at the same moment",
        )
        .hint("run it again"),
        None => cause,
    })?;
    if let Err(cause) = site.store.begin(&plan) {
        site.user.remove_ref(&base)?;
        return Err(cause.into());
    }
    Ok(Lineage::new(plan))
}

/// Says how a search ended; a STOP file that had it stop is named, and a limit of cost.
fn over(site: &Site, lineage: &Lineage, why: Why) -> tell::Ending {
    let by_file = site
        .stop
        .asked_to_stop()
        .filter(|_| why == Why::Stopped)
        .map(|words| Ending::stopped(&site.user, &words).reason);
    let limits = Limits {
        max_cost: lineage.adjusted(Id::MAX).max_cost.or(site.request.max_cost),
        ..Limits::default()
    };
    let by_cost = limit::reached(&limits, 0, &lineage.spent())
        .filter(|_| why == Why::MaxCost)
        .map(|words| format!("stopped: {words}"));
    tell::Ending {
        word: why.word(),
        reason: by_file
            .or(by_cost)
            .unwrap_or_else(|| why.words().to_owned()),
        exit_code: match why {
            Why::EnvironmentChanged => Kind::Human.exit_code(),
            Why::Stopped | Why::MaxCost => 0,
            // An agent that failed each time tried nothing.
            _ => match overview::of(lineage, site.store.number).failed_throughout() {
                Some(_) => Kind::Agent.exit_code(),
                None => 0,
            },
        },
    }
}

/// The error of a search that does not begin for it: nothing of it stays, its logs neither.
fn unready_at_all(unready: Unready) -> Error {
    match unready.by {
        Blamed::Command(_) => {
            Error::usage(unready.why).hint("run the command in a clone to see all that it says")
        }
        Blamed::Lent(_) => unready.error(),
    }
}

/// Says how a search was cut short.
fn cut_short(cut: Cut) -> Result<tell::Ending> {
    let ending = match cut {
        Cut::Halt(halt) => Ending::of_halt(&halt),
        Cut::Over(ending) => ending,
        Cut::Failed(error) => return Err(error),
        Cut::Unprepared(unready) => return Err(unready.error()),
    };
    Ok(tell::Ending {
        word: ending.word,
        reason: ending.reason,
        exit_code: ending.exit_code,
    })
}
