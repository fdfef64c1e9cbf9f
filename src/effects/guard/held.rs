//! Git's settings around calls of `evolve`'s own git that may run a filter of the user's: it may load what an agent wrote, and
//! what it changes of them does not stay.

use crate::effects::guard::Guarded;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::error::Result;

/// Does some `work` with git in a repository, and makes its settings what they were; what they had become goes to the quarantine of
/// this cycle of a session. Returns what the work came to, and says what had changed.
pub fn hold<T>(
    repo: &Repo,
    (session, cycle): (&str, u64),
    work: impl FnOnce() -> Result<T>,
) -> Result<(T, Vec<String>)> {
    let before = Guarded::take_settings(repo)?;
    let done = work();
    let mut quarantine = Quarantine::of(&repo.private, session, cycle);
    let mut notes = before.put_back_settings(&repo.own_places(), "git", &mut quarantine)?;
    notes.extend(quarantine.notes());
    Ok((done?, notes))
}
