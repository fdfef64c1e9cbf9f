//! Where a search is begun, and the lock that keeps others from it.

use std::path::PathBuf;

use crate::effects::lock;
use crate::effects::repo::Repo;
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
