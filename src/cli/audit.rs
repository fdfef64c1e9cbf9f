//! `evolve audit`: proves a history from git alone. Takes no lock and writes nothing in the repository.

use crate::cli::start::{current_dir, goals_file};
use crate::cli::{Global, print};
use crate::effects::ledger;
use crate::effects::repo::Repo;
use crate::error::{Kind, Result};
use crate::view;

/// Holds the history of HEAD against git, and says what does not agree.
pub fn audit(global: &Global, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let goals = goals_file(global, &repo)?;
    let (audit, _) = crate::effects::audit::audit(&repo, goals.in_repo.as_deref(), 0)?;
    match as_json {
        true => print(&ledger::checked("audit", &audit)?),
        false => global.say(&view::audit::page(&audit)),
    }
    match audit.disagreements.is_empty() {
        true => Ok(0),
        false => Ok(Kind::Failing.exit_code()),
    }
}
