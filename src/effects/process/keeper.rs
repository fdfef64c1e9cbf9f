//! `evolve __keep COMMAND…`: a process around one command, whose orphans become its children. Where several jobs run at once,
//! what escaped from one of them, with neither its session nor its mark, is known by that, and is ended with it.
//!
//! Its command, in the same group and with the same files, ends before it does; then it ends what is left, and ends in the
//! same way. Where whoever supervises it goes away, it ends everything.

use std::collections::HashSet;
use std::ffi::{CString, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, raise};

use super::{SWEEP_LIMIT, tree};
use crate::effects::proc_table::Children;

/// The hidden command.
pub const KEEP: &str = "__keep";
/// What it is sent when the supervising process goes away.
const DESERTED: Signal = Signal::SIGUSR2;
/// How often what was killed is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Returns the command line that has a command kept, where there is a way to be the reaper of orphans.
pub fn around(command: Vec<OsString>) -> Vec<OsString> {
    if !cfg!(target_os = "linux") {
        return command;
    }
    // Whoever starts it is an `evolve`, too.
    let keeper = ["/proc/self/exe", KEEP].map(OsString::from);
    keeper.into_iter().chain(command).collect()
}

/// Says whether a command line is one that `around` made.
pub fn is_around(argv: &[CString]) -> bool {
    let second = argv.get(1);
    second.is_some_and(|word| word.to_bytes() == KEEP.as_bytes())
}

/// Runs a command and ends all that it left; returns its exit code, or what a shell makes of a signal's.
pub fn main(mut command: impl Iterator<Item = OsString>) -> u8 {
    let _ = SigSet::all().thread_block();
    become_reaper();
    let Some(program) = command.next() else {
        eprintln!("error: `{KEEP}` is for evolve itself");
        return crate::error::Kind::Usage.exit_code();
    };
    // It blocks no signals.
    let started = Command::new(&program).args(command).spawn();
    let ended = match started {
        Ok(mut child) => wait(&mut child),
        Err(cause) => {
            eprintln!("cannot start {}: {cause}", program.display());
            return 127;
        }
    };
    end_all();
    match ended {
        Some(status) => end_like(status),
        None => 1,
    }
}

#[cfg(target_os = "linux")]
fn become_reaper() {
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let _ = nix::sys::prctl::set_pdeathsig(DESERTED);
    let _ = nix::sys::prctl::set_name(c"evolve");
}

#[cfg(not(target_os = "linux"))]
fn become_reaper() {}

/// Waits until the command has ended; none where nobody is there any more who wants to know.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.add(DESERTED);
    loop {
        // A signal of a child's end that came before this waits.
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => {}
            Err(_) => return None,
        }
        match signals.wait() {
            Ok(DESERTED) => return None,
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// Kills what is left. What cannot be ended passes on to whoever supervises.
fn end_all() {
    let children = Children::open();
    let until = Instant::now() + SWEEP_LIMIT;
    while !tree::kill_orphans(&children, &HashSet::new(), |_| true).is_empty() {
        if Instant::now() >= until {
            return;
        }
        std::thread::sleep(POLL);
    }
}

/// Ends this process as a command has ended.
fn end_like(status: ExitStatus) -> u8 {
    let Some(number) = status.signal() else {
        return status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1);
    };
    if let Ok(signal) = Signal::try_from(number) {
        let _ = raise(signal);
        let mut one = SigSet::empty();
        one.add(signal);
        let _ = one.thread_unblock();
    }
    // It is ignored here.
    u8::try_from(128 + number).unwrap_or(1)
}
