//! Ends what is left of a dead session's commands and agents: they carry its mark.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{MARK, send};
use crate::effects::proc_table;
use crate::error::{Error, Result};

/// How long the processes of a dead session may take to go away.
const LIMIT: Duration = Duration::from_secs(20);
/// How often it is looked whether they have.
const POLL: Duration = Duration::from_millis(20);

/// Ends all that carries a session's mark, and waits until it is gone.
pub fn end(session: &str) -> Result<()> {
    let mark = format!("{MARK}={session}/");
    let began = Instant::now();
    loop {
        let own = std::process::id();
        // With its start a pid names one process for ever.
        let left_of = |pid: u32| {
            let started = proc_table::start_time(pid)?;
            let is_left = pid != own
                && proc_table::has_variable_prefix(pid, &mark)
                && proc_table::is_alive(pid, Some(started));
            is_left.then_some((pid, started))
        };
        let left = proc_table::all().into_iter().filter_map(left_of);
        let left: Vec<(u32, u64)> = left.collect();
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > LIMIT {
            let pids: Vec<u32> = left.into_iter().map(|(pid, _)| pid).collect();
            return Err(Error::unsafe_repo(format!(
                "processes of a dead session cannot be ended: {pids:?}"
            ))
            .hint("end them by hand, then run evolve again"));
        }
        for (pid, started) in left {
            if proc_table::is_alive(pid, Some(started)) {
                send(pid, Signal::SIGKILL)?;
            }
        }
        std::thread::sleep(POLL);
    }
}
