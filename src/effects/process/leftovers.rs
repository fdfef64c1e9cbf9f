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
        let is_left = |pid: &u32| {
            *pid != own
                && proc_table::has_variable_prefix(*pid, &mark)
                && proc_table::is_alive(*pid, None)
        };
        let left: Vec<u32> = proc_table::all().into_iter().filter(is_left).collect();
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > LIMIT {
            return Err(Error::unsafe_repo(format!(
                "processes of a dead session cannot be ended: {left:?}"
            ))
            .hint("end them by hand, then run evolve again"));
        }
        for pid in left {
            send(pid, Signal::SIGKILL)?;
        }
        std::thread::sleep(POLL);
    }
}
