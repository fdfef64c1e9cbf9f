//! Whether a pack holds what its index says. Git asks each object of a pack by its place alone and takes the id for granted:
//! an index can give any id any content.

use std::ffi::OsString;
use std::fs;
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{cannot_start, foreign, was_ended, without_foreign};
use crate::effects::process::{self, Ending, Job, Named, Stdout, Supervisor};
use crate::effects::program;
use crate::error::Result;

/// How long reading a pack may take, and how much longer for each MiB of it: several times what a slow disk needs.
const LEAST: Duration = Duration::from_secs(60);
const PER_MIB: Duration = Duration::from_secs(2);

/// Where there is neither a repository nor a setting.
const NOWHERE: &str = "/dev/null";
/// What keeps git from any repository and anybody's settings. Versions before 2.32 know the home folder alone.
const ALONE: [(&str, &str); 6] = [
    ("GIT_DIR", NOWHERE),
    ("GIT_CONFIG_GLOBAL", NOWHERE),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("HOME", NOWHERE),
    ("XDG_CONFIG_HOME", NOWHERE),
    ("LC_ALL", "C"),
];

/// Who supervises these calls, and their mark. A process has one supervisor at a time, and whoever looks at packs has no
/// repository open yet that could name it.
static SUPERVISED: Mutex<Option<(Named, String)>> = Mutex::new(None);

/// Has every later call run under this supervisor, as long as that is there: then nothing of it outlives this process, and
/// what ends a session ends it.
pub fn supervise(supervisor: &Supervisor, session: &str) {
    let named = (supervisor.named(), format!("{session}/git"));
    *SUPERVISED.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
}

fn supervised() -> Option<(Supervisor, String)> {
    let named = SUPERVISED.lock().unwrap_or_else(PoisonError::into_inner);
    let (named, mark) = named.as_ref()?;
    Some((named.get()?, mark.clone()))
}

/// Says whether a pack and its index are whole, and each object in it has the id that the index gives it. Asks no repository
/// and no settings, and writes nothing. A pack that takes too long is none to rely on. Where everything is being ended,
/// nothing is known of it, and that is an error.
pub fn is_true(pack: &Path) -> Result<bool> {
    // What failed for a reason of the machine's does not fail twice.
    Ok(is_verified(pack, &[])? || is_verified(pack, &["--threads=1"])?)
}

fn is_verified(pack: &Path, more: &[&str]) -> Result<bool> {
    let mib = fs::metadata(pack).map_or(0, |meta| meta.len() >> 20);
    let limit = LEAST + PER_MIB * u32::try_from(mib).unwrap_or(u32::MAX);
    let words = ["index-pack", "--verify"]
        .into_iter()
        .chain(more.iter().copied());
    let mut arguments: Vec<OsString> = words.map(OsString::from).collect();
    arguments.push(pack.into());
    match supervised() {
        Some((supervisor, mark)) => {
            let job = job(arguments, limit, mark);
            let call = format!("`git index-pack --verify {}`", pack.display());
            is_verified_by(&supervisor, &job, &call)
        }
        None => ends_well(command(arguments), limit).map_err(cannot_start),
    }
}

fn is_verified_by(supervisor: &Supervisor, job: &Job, call: &str) -> Result<bool> {
    match supervisor.run_now(job).map_err(cannot_start)?.ending {
        // What `env` says of itself; git never does.
        Ending::Exited(125..=127) => Err(cannot_start(ErrorKind::NotFound.into())),
        Ending::Exited(code) => Ok(code == 0),
        // What ends a session may have slowed it down.
        Ending::TimedOut if supervisor.halt().is_some() => Err(was_ended(supervisor, call)),
        Ending::Signalled(_) | Ending::TimedOut => Ok(false),
        Ending::NotStarted(_) if program::find("git").is_none() => {
            Err(cannot_start(ErrorKind::NotFound.into()))
        }
        Ending::NotStarted(why) => Err(cannot_start(IoError::other(why))),
        Ending::Stopped | Ending::Idle => Err(was_ended(supervisor, call)),
    }
}

fn job(arguments: Vec<OsString>, timeout: Duration, mark: String) -> Job {
    let mut argv = without_foreign(&[]);
    argv.push(program::git().to_owned());
    argv.extend(arguments);
    Job {
        argv,
        folder: Some("/".into()),
        env: ALONE
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
        stdin: None,
        log: None,
        log_limit: 0,
        timeout,
        idle_timeout: None,
        tail_limit: 0,
        stdout: Stdout::End,
        mark,
    }
}

/// The same for who has no supervisor: nothing is at work in a repository then.
fn command(arguments: Vec<OsString>) -> Command {
    let mut command = Command::new(program::git());
    for name in foreign() {
        command.env_remove(name);
    }
    command
        .envs(ALONE)
        .args(arguments)
        .current_dir("/")
        // A key that interrupts evolve says nothing of the pack.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Says whether a command ends in its time and in success.
fn ends_well(command: Command, limit: Duration) -> IoResult<bool> {
    let ended = process::run_alone(command, limit)?;
    Ok(ended.is_some_and(|status| status.success()))
}
