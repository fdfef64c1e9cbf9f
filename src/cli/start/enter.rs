//! The way into a repository: KILL is looked for first, the lock is taken, and what earlier sessions left is settled.

use std::ops::ControlFlow;
use std::path::Path;

use crate::cli::bounds;
use crate::cli::here::{goals_file, refuse_in_copy};
use crate::cli::options::{Global, RunOptions};
use crate::effects::journal::JournalFile;
use crate::effects::ledger::{Ledger, refuse_links};
use crate::effects::lock::{self, Lock};
use crate::effects::mirror::Mirror;
use crate::effects::parallel::side_by_side;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::stop::{self, Stop};
use crate::effects::workspace::Workspace;
use crate::effects::{clock, files, git, guard, places, private};
use crate::engine::{self, Recovered};
use crate::error::{Error, Result};
use crate::event::Events;
use crate::model::ledger as names;
use crate::session::{Ending, GoalsFile};

/// A repository in which this session alone works from here on.
pub struct Entered {
    /// The session.
    pub id: String,
    /// When it started.
    pub started: String,
    /// The user's repository.
    pub repo: Repo,
    /// The goals file in the user's checkout, or elsewhere.
    pub goals_file: GoalsFile,
    /// The copy of the git directory; none where there can be none.
    pub mirror: Option<Mirror>,
    /// Where the session's journal is written.
    pub journal_file: JournalFile,
    /// What stops the session.
    pub stop: Stop,
    /// Starts and ends all processes.
    pub supervisor: Supervisor,
    /// Held as long as anything of the session runs.
    pub lock: Lock,
    /// The cycle that was recorded for a session that died, of which nobody was told.
    pub recovered: Option<u64>,
}

/// Opens the repository, after settings that the agent of a dead session may have planted are as they were: they could lead
/// astray whoever opens it. Refuses a copy.
pub async fn open(cwd: &Path, events: &Events) -> Result<Repo> {
    engine::give_git_back(cwd)?;
    engine::open_shut(cwd);
    if let Some(places) = Repo::places(cwd).or_else(|| engine::lost_places(cwd)) {
        let lock = places.private.join("lock");
        let is_lost = engine::has_lost_private(&places);
        if (is_lost || JournalFile::of(&places).is_there()) && lock::holder(&lock).is_none() {
            if is_lost {
                engine::make_private(&places)?;
            }
            let lock = lock::take(&lock, &clock::timestamp()).await?;
            // What is run here ends with this process, too.
            let supervisor = Supervisor::with_lock(Stop::unwatched(), cwd, &lock, Vec::new())?;
            let id = clock::session_id();
            git::pack::supervise(&supervisor, &id);
            for words in private::clear_for(&places, &id)? {
                events.note(words);
            }
            engine::give_back_private(&places)?;
            engine::put_back_settings(&places)?;
        }
    }
    let repo = Repo::discover(cwd)?;
    refuse_in_copy(&repo.root)?;
    Ok(repo)
}

/// Enters a repository; an ending where the session is over before it begins.
pub async fn enter(
    global: &Global,
    run: &RunOptions,
    mut repo: Repo,
    events: &Events,
) -> Result<ControlFlow<Ending, Entered>> {
    let kill_files = stop::kill_files()?;
    stop::prepare(&kill_files);
    let stop = Stop::watch(kill_files)?;
    stop.watch_for_stop(&repo.root.join(names::STOP));
    let id = clock::session_id();
    let started = clock::timestamp();
    let journal_file = JournalFile::of(&repo.own_places());
    acknowledge_kills(&repo, &journal_file, &stop)?;
    if let Some(halt) = stop.look_for_kill() {
        return Ok(ControlFlow::Break(Ending::of_halt(&halt)));
    }
    places::refuse_state_within(&repo.root)?;
    std::fs::create_dir_all(&repo.private)
        .map_err(|cause| Error::io("create", &repo.private, cause))?;
    // Relative to where the caller is, so found before anybody goes anywhere.
    let goals_file = goals_file(global, &repo)?;
    let lock = lock::take(&repo.private.join("lock"), &started).await?;
    Repo::hold_no_objects();
    let supervisor = Supervisor::with_lock(stop.clone(), &repo.root, &lock, journal_file.files())?;
    git::pack::supervise(&supervisor, &id);
    repo.git = repo.git.supervised(&supervisor, &id);
    for words in private::clear_for(&repo.own_places(), &id)? {
        events.note(words);
    }
    let git = repo.git.clone();
    side_by_side(move || git.refuse_old(), || repo.make_durable())?;
    for folder in [
        repo.root.join(names::FOLDER),
        repo.root.join(".agents/rpi"),
        repo.private.clone(),
        guard::folder(&repo.private),
    ] {
        files::remove_temporaries(&folder);
    }
    files::remove_temporaries_of(&goals_file.path);
    (Workspace { repo: &repo }).remove_own_lock()?;
    let mirror = Mirror::of(&repo.own_places()).ok();
    if let Some(mirror) = &mirror {
        mirror.refuse_another()?;
    }
    engine::give_back_private(&repo.own_places())?;
    for words in engine::search::apply::recover(&repo)?.words {
        events.note(words);
    }
    bounds::hold_back(&repo, run, &goals_file, &journal_file)?;
    let Recovered { cycle, ending } = engine::recover(&repo, &journal_file, events)?;
    if let Some(ending) = ending {
        return Ok(ControlFlow::Break(ending));
    }
    engine::settle_links(&repo, &id, events)?;
    engine::settle_lent(&repo, &id, events).await?;
    if let Some(mirror) = &mirror {
        mirror.remove()?;
    }
    // In such a place no STOP file can be looked for.
    refuse_links(&repo.root)?;
    if let Some(words) = stop.asked_to_stop() {
        let ending = Ending::stopped(&repo, &words);
        return Ok(ControlFlow::Break(ending));
    }
    repo.ready_head()?;
    repo.refuse_damaged()?;
    Workspace { repo: &repo }.refuse_conflicts()?;
    Ok(ControlFlow::Continue(Entered {
        id,
        started,
        repo,
        goals_file,
        mirror,
        journal_file,
        stop,
        supervisor,
        lock,
        recovered: cycle,
    }))
}

/// Writes `KILLED.json` the moment a KILL file is seen, with the cycle that runs then or ran last.
fn acknowledge_kills(repo: &Repo, journal_file: &JournalFile, stop: &Stop) -> Result<()> {
    let (root, journal_file) = (repo.root.clone(), journal_file.clone());
    Ledger::exclude_private_files(repo, &[])?;
    stop.on_kill(move |halt| {
        let running = journal_file
            .look()
            .ok()
            .flatten()
            .map(|journal| journal.cycle);
        let ledger = || Ledger::look(&Repo::discover(&root)?);
        let newest = || ledger().map_or(0, |ledger| ledger.history.next_cycle() - 1);
        let cycle = running.unwrap_or_else(newest);
        if let Err(error) =
            Ledger::acknowledge_kill(&root, cycle, &halt.reason(), &clock::timestamp())
        {
            tracing::warn!("{error}");
        }
    });
    Ok(())
}
