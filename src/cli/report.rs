//! `evolve report`: joins what the ledger, git and the logs tell into one page. Takes no lock and writes that page alone.

use std::os::unix::ffi::OsStrExt;

use crate::cli::commands::ReportOptions;
use crate::cli::deliver::{Place, deliver, named};
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::Global;
use crate::effects::journal::JournalFile;
use crate::effects::ledger::{self, Ledger};
use crate::effects::repo::Repo;
use crate::effects::{changed, clock, files, lock, report as sources, stop, unrecorded};
use crate::engine;
use crate::error::{Error, Result};
use crate::model::goals::Goals;
use crate::model::ledger as names;
use crate::model::record::History;
use crate::model::report::{CYCLES, Material, NoGoals, Report, Seen, State};
use crate::model::{digest, exact, summary, text};
use crate::session::Progress;
use crate::view;

/// The page's name in the private directory.
const FILE: &str = "report.html";

/// Writes the report, says where it is, and opens it if that is asked for.
pub fn report(global: &Global, options: &ReportOptions) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let report = gather(global, &repo)?;
    let page = match options.md {
        true => view::report::markdown(&report),
        false => view::report::html(&report),
    };
    let place = place(global, &repo, options)?;
    let words = format!("{}\n", report.verdict.words);
    deliver(global, &page, &words, &place, options.open)?;
    Ok(0)
}

/// Returns where the page goes. Unless somebody says otherwise, it is kept where git does not see it.
fn place(global: &Global, repo: &Repo, options: &ReportOptions) -> Result<Place> {
    if let Some(place) = named(global, repo, options.out.as_deref(), options.open)? {
        return Ok(place);
    }
    if options.md {
        return Ok(Place::Stdout);
    }
    if engine::has_lost_private(&repo.own_places()) {
        let private = text::path(repo.private.as_os_str().as_bytes());
        return Err(Error::unsafe_repo(format!(
            "{private} was removed while a cycle ran, and the next run gives it back first"
        ))
        .hint("name another place, as in `evolve report --out report.html`"));
    }
    Ok(Place::Own(repo.private.join(FILE)))
}

/// Reads all that a report tells.
fn gather(global: &Global, repo: &Repo) -> Result<Report> {
    let text = ledger::whole_history(repo)?;
    let history = History::parse(&text);
    let mut progress = Progress::to_look_at(repo, Ledger::look(repo)?);
    let file = goals_file(global, repo)?;
    let goals = file.load().map(|(goals, _)| goals);
    if let Ok(goals) = &goals {
        progress.ledger.foresee_waking(repo, &goals.goals)?;
    }
    let ledger = &progress.ledger;
    let goals = goals.as_ref().map_err(|error| NoGoals {
        why: &error.message,
        is_there: files::is_there(&file.path).unwrap_or(true),
    });
    let name = repo.name();
    let queue = &ledger.queue;
    let summary = ledger.summary(repo);
    let unrecorded = unrecorded::read(&repo.private, history.records.last());
    let ended = unrecorded.map_or_else(|| summary::ended(&summary), |one| Some(one.ended()));
    let taken_back = changed::taken_back(repo, &history.records);
    Ok(Report::new(&Material {
        name: &name,
        records: &history.records,
        seen: &newest(repo, ledger, &history),
        baseline: ledger.snapshot(repo, names::BASELINE).as_ref(),
        newest: progress.newest.as_ref(),
        goals,
        retries: &ledger.retries,
        open: &queue.open(&name),
        set_aside: &queue.set_aside(&name),
        taken_back: &taken_back,
        counts: queue.counts(&name, &taken_back),
        ended: ended.as_ref(),
        state: state(repo)?,
        problems: &ledger.problems(),
        provenance: &provenance(repo, goals.ok(), &text, &history, &progress)?,
    }))
}

/// Returns the newest cycles with what is known of them, oldest first.
fn newest(repo: &Repo, ledger: &Ledger, history: &History) -> Vec<Seen> {
    let first = history.records.len().saturating_sub(CYCLES);
    let seen = history.records[first..].iter();
    seen.map(|record| sources::seen(repo, ledger, record))
        .collect()
}

/// Returns what stands in the loop's way, or is under way.
fn state(repo: &Repo) -> Result<State> {
    let session = lock::holder(&repo.private.join("lock"));
    let journal = JournalFile::of(&repo.own_places()).look().ok().flatten();
    Ok(State {
        interrupted_cycle: journal
            .filter(|journal| session.is_none() && journal.is_unsettled())
            .map(|journal| journal.cycle),
        running_since: session.map(|holder| holder.since),
        kill: stop::kill_file()?,
        stop: stop::stop_file(&repo.root.join(names::STOP)),
    })
}

/// Returns versions and hashes: what made this page, and of what.
fn provenance(
    repo: &Repo,
    goals: Option<&Goals>,
    text: &str,
    history: &History,
    progress: &Progress,
) -> Result<Vec<(&'static str, String)>> {
    let (first, second) = repo.git.version()?;
    let head = repo.head()?;
    let branch = head.branch.as_deref().map(exact::shown);
    let branch = branch.as_deref().map_or("detached HEAD", |branch| {
        branch.strip_prefix("refs/heads/").unwrap_or(branch)
    });
    let digest = |digest: Option<&String>| digest.map_or("unknown".to_owned(), String::clone);
    let newest = progress.newest.as_ref();
    let platform = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    Ok(vec![
        ("Made at", clock::timestamp()),
        ("evolve", env!("CARGO_PKG_VERSION").to_owned()),
        ("git", format!("{first}.{second}")),
        ("Platform", platform),
        ("Branch", branch.to_owned()),
        (
            "HEAD",
            head.commit.unwrap_or_else(|| "no commit yet".to_owned()),
        ),
        (
            "SHA-256 of the goals file",
            digest(goals.map(|goals| &goals.digest)),
        ),
        (
            "The same when measured last",
            digest(newest.map(|newest| &newest.goals_digest)),
        ),
        (
            "Measured last",
            newest.map_or("never".to_owned(), |newest| newest.timestamp.clone()),
        ),
        ("Records", history.records.len().to_string()),
        ("SHA-256 of the history", digest::full(text.as_bytes())),
    ])
}
