//! Where a search is begun, and the lock that keeps others from it.

use std::path::PathBuf;

use crate::effects::lock::{self, Lock};
use crate::effects::private;
use crate::effects::repo::Repo;
use crate::effects::search::lent;
use crate::error::Result;
use crate::event::Events;

/// What is known before a search's plan is.
pub struct Place<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// Who is told.
    pub events: &'a Events,
}

/// Returns the lock that a running search holds.
pub fn lock_file(repo: &Repo) -> PathBuf {
    repo.private.join(lock::SEARCH)
}

/// Takes that lock for a session, and moves what stands in the place of files of `evolve`'s away. Returns what is to be told, too.
pub async fn take_lock(repo: &Repo, session: &str, since: &str) -> Result<(Lock, Vec<String>)> {
    let file = lock_file(repo);
    let mut notes = private::make_way(&file, session)?;
    let lock = lock::take(&file, since).await?;
    notes.extend(private::clear_for(&repo.own_places(), session)?);
    notes.extend(lent::put_back_left(repo, session)?);
    Ok((lock, notes))
}
