//! Whether a pack holds what its index says. Git asks each object of a pack by its place alone and takes the id for granted:
//! an index can give any id any content.

use std::fs;
use std::io::Result as IoResult;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::{cannot_start, foreign};
use crate::effects::process;
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

/// Says whether a pack and its index are whole, and each object in it has the id that the index gives it. Asks no repository
/// and no settings, and writes nothing. A pack that takes too long is none to rely on.
pub fn is_true(pack: &Path) -> Result<bool> {
    // What failed for a reason of the machine's does not fail twice.
    Ok(is_verified(pack, &[])? || is_verified(pack, &["--threads=1"])?)
}

fn is_verified(pack: &Path, more: &[&str]) -> Result<bool> {
    let mib = fs::metadata(pack).map_or(0, |meta| meta.len() >> 20);
    let limit = LEAST + PER_MIB * u32::try_from(mib).unwrap_or(u32::MAX);
    let mut command = Command::new(program::git());
    for name in foreign() {
        command.env_remove(name);
    }
    command
        .envs(ALONE)
        .args(["index-pack", "--verify"])
        .args(more)
        .arg(pack)
        .current_dir("/")
        // A key that interrupts evolve says nothing of the pack.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    ends_well(command, limit).map_err(cannot_start)
}

/// Says whether a command ends in its time and in success.
fn ends_well(mut command: Command, limit: Duration) -> IoResult<bool> {
    let mut child = command.spawn()?;
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::Builder::new().spawn(move || {
        let _ = sender.send(child.wait());
    });
    let ended = waiting.map(|_| receiver.recv_timeout(limit));
    match ended {
        Ok(Ok(status)) => Ok(status?.success()),
        Ok(Err(_)) => {
            let _ = process::send(pid, Signal::SIGKILL);
            Ok(false)
        }
        Err(cause) => {
            let _ = process::send(pid, Signal::SIGKILL);
            Err(cause)
        }
    }
}
