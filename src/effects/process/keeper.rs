//! `evolve __keep COMMAND…`: a process around one command, whose orphans become its children. Where several jobs run at once,
//! what escaped from one of them, with neither its session nor its mark, is known by that, and is ended with it.
//!
//! Its command, in the same group and with the same files, ends before it does; then it ends what is left, and ends in the
//! same way. Where whoever supervises it goes away, it ends everything.

use std::collections::HashSet;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::spawn::{self, Program};
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
    // Opened first: where there is no way to see what the command leaves, it is not started.
    let started = Children::open().and_then(|children| Ok((start(&program, command)?, children)));
    let (child, children) = match started {
        Ok(started) => started,
        Err(cause) => {
            eprintln!("cannot start {}: {cause}", program.display());
            return 127;
        }
    };
    let ended = wait(child);
    end_all(&children);
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

/// Starts the command, with this process's environment. This process blocks signals, the command is not to.
fn start(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> io::Result<Pid> {
    let text = |word: &OsStr| spawn::text(word.as_bytes(), "a command line");
    let mut argv = vec![text(program)?];
    for argument in arguments {
        argv.push(text(&argument)?);
    }
    let variables = std::env::vars_os();
    let env: io::Result<Vec<CString>> = variables
        .map(|(name, value)| spawn::entry(&name, &value))
        .collect();
    let env = env?;
    spawn::spawn_beside(Program {
        file: &argv[0],
        argv: &argv,
        env: &env.iter().map(CString::as_c_str).collect::<Vec<_>>(),
    })
}

/// Waits until the command has ended; none where nobody is there any more who wants to know.
fn wait(child: Pid) -> Option<WaitStatus> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.add(DESERTED);
    loop {
        // A signal of a child's end that came before this waits.
        match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            Ok(status) => return Some(status),
            Err(_) => return None,
        }
        match signals.wait() {
            Ok(DESERTED) => return None,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// Kills what is left. What cannot be ended passes on to whoever supervises.
fn end_all(children: &Children) {
    let until = Instant::now() + SWEEP_LIMIT;
    while !tree::is_childless() {
        tree::kill_orphans(children, &HashSet::new(), |_| true);
        if Instant::now() >= until {
            return;
        }
        std::thread::sleep(POLL);
    }
}

/// Ends this process as a command has ended.
fn end_like(status: WaitStatus) -> u8 {
    let WaitStatus::Signaled(_, signal, _) = status else {
        let WaitStatus::Exited(_, code) = status else {
            return 1;
        };
        return u8::try_from(code).unwrap_or(1);
    };
    let _ = raise(signal);
    let mut one = SigSet::empty();
    one.add(signal);
    let _ = one.thread_unblock();
    // It is ignored here.
    u8::try_from(128 + signal as i32).unwrap_or(1)
}
