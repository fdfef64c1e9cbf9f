//! `evolve doctor`: everything that a run needs, looked at without changing anything. It answers outside of a repository, too.

mod looks;

use std::path::{Path, PathBuf};

use crate::cli::bounds::effective_sandbox;
use crate::cli::config::user_config;
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::{Global, RunOptions};
use crate::cli::place::{refuse_led_back, refuse_tracked_links};
use crate::cli::print::print_document;
use crate::effects::doctor::{Asker, Look};
use crate::effects::journal::{Journal, JournalFile};
use crate::effects::ledger::Ledger;
use crate::effects::places::Places;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Ground;
use crate::effects::workspace::Workspace;
use crate::effects::{files, lock, private, stop};
use crate::error::{Error, Kind, Result, Spot};
use crate::model::agent::Entry;
use crate::model::doctor::{Diagnosis, Finding, RepositorySeen};
use crate::model::goals::{AgentSpec, Goal, Goals, Settings};
use crate::model::sandbox::Wish;
use crate::model::snapshot::CheckResult;
use crate::model::strikes::{self, Standing};
use crate::model::{exact, ledger as names};
use crate::session::Progress;
use crate::view::{doctor as pages, width};

use looks::Looks;

/// Prints what was found; exit 10 where the loop could not run.
pub fn doctor(global: &Global, run: &RunOptions, as_json: bool) -> Result<u8> {
    let here = current_dir()?;
    let findings = examine(global, run, &here)?;
    let diagnosis = Diagnosis::new(here.display().to_string(), findings);
    match as_json {
        true => print_document("doctor", &diagnosis)?,
        false => global.say(&pages::page(&diagnosis, width::of_terminal())),
    }
    Ok(match diagnosis.can_run {
        true => 0,
        false => Kind::Failing.exit_code(),
    })
}

/// Looks at the repository first, which says where its programs and settings are, then at all the rest at once.
fn examine(global: &Global, run: &RunOptions, here: &Path) -> Result<Vec<Finding>> {
    let config = Look::begin(user_config);
    let (of_global, of_here) = (global.clone(), here.to_owned());
    let seen = Seen {
        repository: Look::begin(move || Known::look(&of_global, &of_here)).end(),
        config: config.end(),
    };
    let root = seen.known().map_or(here, |known| known.root.as_path());
    let asker = Asker::new(root)?;
    let plan = Plan::of(run, &seen);
    Ok(Looks::begin(&asker, root, &seen, &plan).end(&seen))
}

/// What was seen first; none where it took too long.
struct Seen {
    repository: Option<Result<Known>>,
    config: Option<Result<Settings>>,
}

impl Seen {
    fn known(&self) -> Option<&Known> {
        self.repository.as_ref()?.as_ref().ok()
    }

    fn goals(&self) -> Option<&Goals> {
        let (goals, _) = self.known()?.goals.as_ref().ok()?;
        Some(goals)
    }

    /// Says whether there is a file that may name an agent and could not be read.
    fn is_any_unread(&self) -> bool {
        let known = self.known();
        !matches!(self.config, Some(Ok(_)))
            || known.is_some_and(|known| known.goals.is_err() && known.has_goals_file)
    }
}

/// What is known of the repository, its goals among it.
struct Known {
    root: PathBuf,
    places: Places,
    ground: Ground,
    seen: RepositorySeen,
    goals_file: String,
    has_goals_file: bool,
    goals: Result<(Goals, Vec<String>)>,
    /// Why a run would refuse goals that can be read.
    refused: Option<Error>,
    /// The failing goals that a run leaves to a person.
    stuck: Vec<String>,
}

impl Known {
    fn look(global: &Global, here: &Path) -> Result<Known> {
        let repo = Repo::discover(here)?;
        let file = goals_file(global, &repo)?;
        let head = repo.head();
        let tree = match &head {
            Ok(head) => head.commit.as_deref().map(|commit| repo.tree_of(commit)),
            Err(_) => None,
        };
        let is_committed = || match tree {
            Some(Ok(tree)) => file.refuse_uncommitted(&repo, &tree),
            Some(Err(_)) | None => Ok(()),
        };
        let goals = file.load().and_then(|read| {
            file.refuse_unread(&read.0)?;
            Ok(read)
        });
        let links = goals.as_ref().map(|(goals, _)| &goals.settings.link[..]);
        let links = links.unwrap_or_default();
        let linked = refuse_tracked_links(&repo, links);
        let led_back = refuse_led_back(&repo, links);
        let stuck = goals.as_ref().map(|(goals, _)| stuck(&repo, goals));
        Ok(Known {
            stuck: stuck.unwrap_or_default(),
            goals: goals.map(|(goals, spots)| {
                let spots = spots.iter().map(Spot::in_words);
                let missing = linked.iter().flatten().cloned();
                (goals, spots.chain(missing).collect())
            }),
            refused: is_committed().err().or(linked.err()).or(led_back.err()),
            goals_file: file.shown.clone(),
            has_goals_file: files::is_there(&file.path).unwrap_or(true),
            root: repo.root.clone(),
            places: repo.own_places(),
            ground: repo.ground(),
            seen: state_of(&repo, head.ok().and_then(|head| head.branch)),
        })
    }
}

/// Returns the goals that failed when they were last measured and were struck or declined, as far as the ledger can be read.
fn stuck(repo: &Repo, goals: &Goals) -> Vec<String> {
    let Ok(ledger) = Ledger::look(repo) else {
        return Vec::new();
    };
    let Progress {
        mut ledger, newest, ..
    } = Progress::new(repo, ledger);
    if ledger.foresee_waking(repo, &goals.goals).is_err() {
        return Vec::new();
    }
    let failing = newest
        .iter()
        .flat_map(|newest| newest.with(CheckResult::Fail));
    let failing = failing.filter_map(|one| goals.find(&one.id));
    let is_stuck = |goal: &&Goal| {
        strikes::standing(goal, &ledger.history.records, &ledger.retries) != Standing::Open
    };
    failing
        .filter(is_stuck)
        .map(|goal| goal.id.clone())
        .collect()
}

fn state_of(repo: &Repo, branch: Option<String>) -> RepositorySeen {
    let holder = lock::holder(&repo.private.join("lock"));
    let journal = JournalFile::of(&repo.own_places()).look().ok().flatten();
    let in_progress = journal.filter(Journal::is_unsettled);
    let is_worked_in = in_progress.as_ref().is_some_and(|it| it.slot.is_none());
    let unsettled = in_progress.filter(|_| holder.is_none());
    let misplaced = match holder {
        // Whoever is at work looks after it.
        Some(_) => Vec::new(),
        None => private::misplaced(&repo.own_places()),
    };
    RepositorySeen {
        unreadable: match holder {
            Some(_) => None,
            None => unreadable(repo, misplaced.is_empty()),
        },
        misplaced: misplaced
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        root: repo.root.display().to_string(),
        branch: branch.as_deref().map(exact::shown),
        refused: refused(repo).err(),
        unsettled: unsettled.map(|journal| journal.cycle),
        is_worked_in,
        holder: holder.map(|holder| (holder.pid, holder.since)),
        searcher: lock::holder(&repo.private.join(lock::SEARCH))
            .map(|holder| (holder.pid, holder.since)),
        stop: stop::stop_file(&repo.root.join(names::STOP)),
    }
}

/// Refuses what a run would.
fn refused(repo: &Repo) -> Result<()> {
    repo.ready_head()?;
    repo.refuse_damaged()?;
    Workspace { repo }.refuse_converted()
}

/// Returns the error with which a run would fail at one of `evolve`'s own files; what stands in a wrong place is moved before.
fn unreadable(repo: &Repo, is_all_in_place: bool) -> Option<Error> {
    let journal = || match is_all_in_place {
        true => JournalFile::of(&repo.own_places()).look().map(drop),
        false => Ok(()),
    };
    let anchor = || Ledger::look(repo).map(drop);
    let lock = || lock::refuse_other(&repo.private.join("lock"));
    lock()
        .and_then(|()| journal())
        .and_then(|()| anchor())
        .err()
}

/// How a run would be settled here: flag beats file, GOALS.yaml beats the user's configuration.
struct Plan {
    agent: Option<AgentSpec>,
    entries: [Vec<Entry>; 2],
    wish: Wish,
    is_isolated: bool,
}

impl Plan {
    fn of(run: &RunOptions, seen: &Seen) -> Plan {
        let file = seen.goals().map(|goals| goals.settings.clone());
        let file = file.unwrap_or_default();
        let user = seen.config.as_ref().and_then(|read| read.as_ref().ok());
        let user = user.cloned().unwrap_or_default();
        let flag = run.agent.agent.clone().map(AgentSpec::Line);
        Plan {
            wish: effective_sandbox(run, &file, &user),
            is_isolated: file.isolate.or(user.isolate).unwrap_or_default(),
            agent: flag.or(file.agent).or(user.agent),
            entries: [user.agents, file.agents],
        }
    }
}
