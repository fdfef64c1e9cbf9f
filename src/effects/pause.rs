//! Ctrl-Z at the terminal: what is done before this program is stopped, and after it goes on.

use std::fs;

use nix::sys::signal::{Signal, raise};
use tokio::signal::unix::{SignalKind, signal};

use crate::effects::proc_table;

/// The place of SIGTSTP in the masks of `/proc`, which begin with signal 1.
const IGNORED: u64 = 1 << (Signal::SIGTSTP as u64 - 1);

/// Has something done before this program is stopped from the terminal, and something after it goes on. Where nobody could have it
/// go on, such as in a terminal of its own without a shell, it is not stopped, as the kernel has it (POSIX: orphaned groups).
pub fn around(before: fn(), after: fn()) {
    if is_ignored() {
        return;
    }
    let stops = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        // Without it Ctrl-Z stops the program all the same, and a frame stays.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut asked) = signal(SignalKind::from_raw(Signal::SIGTSTP as i32)) else {
                return;
            };
            while asked.recv().await.is_some() {
                if is_orphaned() {
                    continue;
                }
                before();
                let _ = raise(Signal::SIGSTOP);
                after();
            }
        });
    };
    let _ = std::thread::Builder::new().spawn(stops);
}

/// Says whether whoever started this program has it ignore Ctrl-Z.
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & IGNORED != 0)
}

/// Says whether no process of the same session, but of another group, has started this one's group: a shell that could continue it.
fn is_orphaned() -> bool {
    let me = std::process::id();
    let (group, session) = (proc_table::group(me), proc_table::session(me));
    let mut parent = proc_table::parent(me);
    while let Some(pid) = parent.filter(|pid| *pid > 1) {
        if proc_table::session(pid) != session {
            return true;
        }
        if proc_table::group(pid) != group {
            return false;
        }
        parent = proc_table::parent(pid);
    }
    true
}
