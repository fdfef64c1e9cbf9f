//! Starts a program as the leader of a session of its own and waits for it.
//!
//! `posix_spawn` is used because it does not copy this process first: for short checks that copy costs more than the check.
//! It starts everything in the working directory of this process, which `Supervisor::new` sets; a job with a folder of its
//! own is started between two changes of it.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, chdir, fchdir};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

use super::{Ending, Job, MARK, Stdout};
use crate::effects::git;

/// What `POSIX_SPAWN_SETSID` is on the platforms that have it; the crate does not name it.
#[cfg(target_os = "linux")]
const SETSID: i32 = 0x80;
#[cfg(not(target_os = "linux"))]
const SETSID: i32 = 0x400;

/// A program that was started.
#[derive(Debug)]
pub struct Child {
    /// Its process, its group and its session.
    pub pid: Pid,
    /// Its standard input, if the job has any.
    pub stdin: Option<Sender>,
    ended: Option<Ending>,
    changes: Signals,
}

/// What a program prints.
#[derive(Debug)]
pub struct Streams {
    /// Its standard output.
    pub stdout: Receiver,
    /// Its standard error, unless that is merged into the former.
    pub stderr: Option<Receiver>,
}

/// The environment that every job starts from: this process's own, without the variables that would mislead git or a nested
/// run.
#[derive(Clone, Debug)]
pub struct Environment(Vec<CString>);

impl Environment {
    /// Takes over this process's environment.
    pub fn inherited() -> Environment {
        let is_wanted = |name: &OsStr| {
            let is_git = git::LOCAL_ENV_VARS.iter().any(|variable| name == *variable);
            !is_git && !name.as_bytes().starts_with(b"EVOLVE_")
        };
        let variables = std::env::vars_os().filter(|(name, _)| is_wanted(name));
        Environment(
            variables
                .filter_map(|(name, value)| entry(&name, &value).ok())
                .collect(),
        )
    }

    /// Returns the environment of a job, whose own variables are these.
    fn with<'a>(&'a self, own: &'a [CString]) -> Vec<&'a CStr> {
        let is_replaced = |entry: &&CString| own.iter().any(|other| name(other) == name(entry));
        let kept = self.0.iter().filter(|entry| !is_replaced(entry));
        own.iter().chain(kept).map(CString::as_c_str).collect()
    }
}

/// Returns the variables of a job itself.
fn own_variables(job: &Job) -> io::Result<Vec<CString>> {
    let mut own = vec![entry(OsStr::new(MARK), OsStr::new(&job.mark))?];
    for (name, value) in &job.env {
        own.push(entry(name, value)?);
    }
    Ok(own)
}

fn name(entry: &CStr) -> &[u8] {
    let bytes = entry.to_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    &bytes[..end.unwrap_or(bytes.len())]
}

fn entry(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let bytes = [name.as_bytes(), b"=", value.as_bytes()].concat();
    CString::new(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in a variable"))
}

/// Starts the job's program: a session of its own (a terminal prompt then fails at once instead of stopping it), default
/// signal handling, nothing blocked.
pub fn start(job: &Job, environment: &Environment) -> io::Result<(Child, Streams)> {
    let changes = signal(SignalKind::child())?;
    let arguments = job
        .argv
        .iter()
        .map(|word| CString::new(word.as_bytes()))
        .collect::<Result<Vec<_>, _>>();
    let arguments = arguments.map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "a NUL byte in the command line",
        )
    })?;
    let program = arguments
        .first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an empty command line"))?;
    let (stdout, to_stdout) = io::pipe()?;
    let (stderr, to_stderr) = match &job.stdout {
        Stdout::Merged => (None, to_stdout.try_clone()?),
        Stdout::End | Stdout::Start(_) | Stdout::Sent(_) => {
            let (stderr, to_stderr) = io::pipe()?;
            (Some(stderr), to_stderr)
        }
    };
    let mut files = PosixSpawnFileActions::init()?;
    let (input, stdin) = match job.stdin {
        Some(_) => {
            let (input, stdin) = io::pipe()?;
            (OwnedFd::from(input), Some(stdin))
        }
        None => (OwnedFd::from(File::open("/dev/null")?), None),
    };
    files.add_dup2(input.as_raw_fd(), 0)?;
    files.add_dup2(to_stdout.as_raw_fd(), 1)?;
    files.add_dup2(to_stderr.as_raw_fd(), 2)?;
    let (attributes, own) = (attributes()?, own_variables(job)?);
    let spawn = || {
        let environment = environment.with(&own);
        Ok(posix_spawnp(
            program,
            &files,
            &attributes,
            &arguments,
            &environment,
        )?)
    };
    let pid = match &job.folder {
        Some(folder) => inside(folder, spawn)?,
        None => spawn()?,
    };
    drop((input, to_stdout, to_stderr));
    let stdin = stdin
        .map(|stdin| Sender::from_owned_fd(OwnedFd::from(stdin)))
        .transpose()?;
    let streams = Streams {
        stdout: Receiver::from_owned_fd(OwnedFd::from(stdout))?,
        stderr: stderr
            .map(|stderr| Receiver::from_owned_fd(OwnedFd::from(stderr)))
            .transpose()?,
    };
    Ok((
        Child {
            pid,
            stdin,
            ended: None,
            changes,
        },
        streams,
    ))
}

/// Does something in a folder and comes back; nothing else runs in this thread meanwhile.
fn inside<T>(folder: &Path, action: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let home = File::open(".")?;
    chdir(folder).map_err(|cause| {
        let why = format!("cannot enter {}: {}", folder.display(), cause.desc());
        io::Error::new(io::Error::from(cause).kind(), why)
    })?;
    let done = action();
    fchdir(&home)?;
    done
}

fn attributes() -> Result<PosixSpawnAttr, Errno> {
    let mut attributes = PosixSpawnAttr::init()?;
    let signals = PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK;
    attributes.set_flags(signals | PosixSpawnFlags::from_bits_retain(SETSID))?;
    // Rust ignores SIGPIPE, which a pipeline relies on; an ignored SIGHUP (nohup) is the user's wish and stays.
    attributes.set_sigdefault(&SigSet::from_iter([
        Signal::SIGPIPE,
        Signal::SIGINT,
        Signal::SIGTERM,
    ]))?;
    attributes.set_sigmask(&SigSet::empty())?;
    Ok(attributes)
}

impl Child {
    /// Waits until the program has ended. May be dropped and called again.
    pub async fn wait(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.has_ended() {
                return ending;
            }
            if self.changes.recv().await.is_none() {
                return Ending::NotStarted("its end cannot be waited for".to_owned());
            }
        }
    }

    fn has_ended(&mut self) -> Option<Ending> {
        if self.ended.is_none() {
            self.ended = match waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(_, code)) => Some(Ending::Exited(code)),
                Ok(WaitStatus::Signaled(_, signal, _)) => Some(Ending::Signalled(signal as i32)),
                Ok(_) | Err(Errno::EINTR) => None,
                Err(cause) => Some(Ending::NotStarted(format!(
                    "its end cannot be waited for: {cause}"
                ))),
            };
        }
        self.ended.clone()
    }
}
