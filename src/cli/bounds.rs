//! What holds back `evolve`'s own git before a session has its sandbox: while what a dead one left is settled, and while a
//! copy is made anew in which an agent was at work.

use super::config::user_config;
use super::place;
use crate::cli::options::RunOptions;
use crate::effects::journal::JournalFile;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Sandbox;
use crate::effects::workspace::Start;
use crate::error::Result;
use crate::model::goals::{self, Settings};
use crate::model::sandbox::{Mode, Wish};
use crate::session::GoalsFile;

/// Has the repository's git held back by the sandbox that this run is to have, if there is anything of an agent's to settle or
/// to start from. A run without one that is required ends here. Warnings are for later, when the session's own is chosen.
pub fn hold_back(
    repo: &Repo,
    run: &RunOptions,
    goals_file: &GoalsFile,
    journal_file: &JournalFile,
) -> Result<()> {
    if !journal_file.is_there() && !place::is_isolated(run, goals_file).unwrap_or(false) {
        return Ok(());
    }
    let user = match run.ignores_config {
        true => Settings::default(),
        false => user_config()?,
    };
    let start = journal_file.now()?.and_then(|journal| journal.start);
    let file = match (start, &goals_file.in_repo) {
        // What cannot be told may have been a sandbox.
        (Some(start), Some(path)) => before_agent(repo, &start, path).unwrap_or_else(|| Settings {
            sandbox: Wish {
                mode: Some(Mode::Auto),
                ..Wish::default()
            },
            ..Settings::default()
        }),
        (None, _) | (_, None) => goals_file
            .load()
            .map(|(goals, _)| goals.settings)
            .unwrap_or_default(),
    };
    let ground = repo.ground();
    let (sandbox, _) = Sandbox::choose(&effective_sandbox(run, &file, &user), &ground)?;
    let sandbox = sandbox.open(&repo.private)?;
    repo.git.hold_back(&sandbox, &repo.root, ground);
    Ok(())
}

/// Returns what the goals file said before the agent of a dead session, which may have changed it.
fn before_agent(repo: &Repo, start: &Start, path: &str) -> Option<Settings> {
    let bytes = repo.file(&repo.tree_of(&start.commit).ok()?, path).ok()??;
    let (goals, _) = goals::read_goals(path, &bytes).ok()?;
    Some(goals.settings)
}

/// Returns how agent and checks are to be held back.
pub fn effective_sandbox(run: &RunOptions, file: &Settings, user: &Settings) -> Wish {
    let flags = Wish {
        mode: run.sandbox,
        require: run.require_sandbox.then_some(true),
        ..Wish::default()
    };
    flags.or(&file.sandbox).or(&user.sandbox)
}
