//! Starts a program as the leader of a session of its own.
//!
//! `posix_spawn` is used because it does not copy this process first: for short checks that copy costs more than the check.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::Pid;

/// What `git rev-parse --local-env-vars` prints: variables that tie a command to one repository.
const LOCAL_ENV_VARS: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// What else changes what git believes of a repository, for an agent and checks as well.
const MISLEADING: [&str; 9] = [
    "GIT_ATTR_SOURCE",
    "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_QUARANTINE_PATH",
];

/// What `POSIX_SPAWN_SETSID` is on the platforms that have it; the crate does not name it.
#[cfg(target_os = "linux")]
const SETSID: i32 = 0x80;
#[cfg(not(target_os = "linux"))]
const SETSID: i32 = 0x400;

/// The environment that every job starts from: this process's own, without the variables that would mislead git or a nested
/// run.
#[derive(Clone, Debug)]
pub struct Environment(Vec<CString>);

impl Environment {
    /// Takes over this process's environment.
    pub fn inherited() -> Environment {
        let is_wanted = |name: &OsStr| {
            let mut for_git = LOCAL_ENV_VARS.iter().chain(&MISLEADING);
            let is_git = for_git.any(|variable| name == *variable);
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
    pub fn with<'a>(&'a self, own: &'a [CString]) -> Vec<&'a CStr> {
        let is_replaced = |entry: &&CString| own.iter().any(|other| name(other) == name(entry));
        let kept = self.0.iter().filter(|entry| !is_replaced(entry));
        own.iter().chain(kept).map(CString::as_c_str).collect()
    }
}

fn name(entry: &CStr) -> &[u8] {
    let bytes = entry.to_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    &bytes[..end.unwrap_or(bytes.len())]
}

/// Returns `NAME=value`.
pub fn entry(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let bytes = [name.as_bytes(), b"=", value.as_bytes()].concat();
    text(&bytes, "a variable")
}

/// Returns text for a system call; `what` it is says the error where it cannot be.
pub fn text(bytes: &[u8], what: &str) -> io::Result<CString> {
    let why = || io::Error::new(io::ErrorKind::InvalidInput, format!("a NUL byte in {what}"));
    CString::new(bytes).map_err(|_| why())
}

/// What is to be executed: which file, with which arguments and which environment.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// A path, or a name that is looked for on the PATH.
    pub file: &'a CStr,
    /// Its name and arguments.
    pub argv: &'a [CString],
    /// Its whole environment.
    pub env: &'a [&'a CStr],
}

/// Starts a program with these as its first descriptors: a session of its own (a terminal prompt then fails at once instead of
/// stopping it), default signal handling, and only these signals blocked. Returns its pid.
pub fn spawn(
    program: Program<'_>,
    files: [BorrowedFd<'_>; 3],
    blocked: &SigSet,
) -> io::Result<u32> {
    let mut actions = PosixSpawnFileActions::init()?;
    for (file, place) in files.iter().zip(0..) {
        actions.add_dup2(file.as_raw_fd(), place)?;
    }
    let pid = start(program, &actions, &attributes(blocked, SETSID)?)?;
    Ok(pid.as_raw().unsigned_abs())
}

/// Starts a program in this process's own session and group, with its files, default signal handling and no signal blocked.
pub fn spawn_beside(program: Program<'_>) -> io::Result<Pid> {
    let actions = PosixSpawnFileActions::init()?;
    start(program, &actions, &attributes(&SigSet::empty(), 0)?)
}

fn start(
    program: Program<'_>,
    actions: &PosixSpawnFileActions,
    attributes: &PosixSpawnAttr,
) -> io::Result<Pid> {
    let pid = posix_spawnp(program.file, actions, attributes, program.argv, program.env)?;
    Ok(pid)
}

fn attributes(blocked: &SigSet, more: i32) -> Result<PosixSpawnAttr, Errno> {
    let mut attributes = PosixSpawnAttr::init()?;
    let signals = PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK;
    attributes.set_flags(signals | PosixSpawnFlags::from_bits_retain(more))?;
    // Rust ignores SIGPIPE, which a pipeline relies on, and without SIGCHLD nobody's end could be waited for; an ignored SIGHUP (nohup)
    // is the user's wish and stays.
    attributes.set_sigdefault(&SigSet::from_iter([
        Signal::SIGCHLD,
        Signal::SIGPIPE,
        Signal::SIGINT,
        Signal::SIGTERM,
    ]))?;
    attributes.set_sigmask(blocked)?;
    Ok(attributes)
}
