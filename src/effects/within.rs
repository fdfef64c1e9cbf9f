//! Whether this process is of what an `evolve` at work in a repository started: an agent, a command, or whatever these left.

use std::path::Path;

use crate::effects::process::MARK;
use crate::effects::search::store::Store;
use crate::effects::{lock, proc_table};
use crate::error::{Error, Kind, Result};

/// How far back it is looked who started whom.
const MOST: usize = 1_000;

/// Refuses what such a process may not ask for: only a person steers, from outside (exit 5).
pub fn refuse(private: &Path) -> Result<()> {
    let locks = ["lock", lock::SEARCH].map(|name| private.join(name));
    let at_work: Vec<u32> = locks
        .iter()
        .flat_map(|lock| lock::holders(lock))
        .map(|holder| holder.pid)
        .collect();
    // Who has lost its parent has become a child of the supervising process.
    let parents = std::iter::successors(Some(std::process::id()), |pid| proc_table::parent(*pid));
    let is_below = parents.skip(1).take(MOST).any(|pid| at_work.contains(&pid));
    if is_below || is_marked(private)? {
        let what = "another evolve is at work in this repository, and this is run by what it started: an agent or a command";
        return Err(Error::new(Kind::Locked, what)
            .hint("only a person steers a search, from outside; what an agent found out goes where its brief says"));
    }
    Ok(())
}

/// Says whether the environment names the session of the newest search: from inside a sandbox, no other process may show.
fn is_marked(private: &Path) -> Result<bool> {
    let mark = std::env::var(MARK).unwrap_or_default();
    let session = Store::session(private)?;
    let is_of_it = mark.split('/').next() == Some(session.trim());
    Ok(is_of_it && !mark.is_empty())
}
