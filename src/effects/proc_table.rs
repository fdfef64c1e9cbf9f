//! Reads the kernel's table of processes (`/proc`). Where there is none, nothing is found and only process groups are
//! ended.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use nix::unistd::{Pid, getsid};

/// The kernel's list of the children that this process's first thread has. Orphans are handed to the first thread of their reaper
/// that lives (`find_new_reaper` in the kernel's exit.c), so that the others need no look. It stays open: it is read after each
/// job, and has to be when no more files can be opened. None where the kernel has no such list.
#[derive(Debug)]
pub struct Children(Option<File>);

impl Children {
    /// Opens the list.
    pub fn open() -> io::Result<Children> {
        let pid = std::process::id();
        match File::open(format!("/proc/self/task/{pid}/children")) {
            Ok(file) => Ok(Children(Some(file))),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Children(None)),
            Err(cause) => Err(cause),
        }
    }

    /// Returns who is on it now.
    pub fn read(&self) -> io::Result<Vec<u32>> {
        let mut listed = vec![0; 1024];
        let mut length = 0;
        while let Some(file) = &self.0 {
            let count = file.read_at(&mut listed[length..], length as u64)?;
            length += count;
            // The kernel gives whole entries only, so what is not nearly full was the end.
            if count == 0 || length < listed.len() / 2 {
                break;
            }
            listed.resize(2 * listed.len(), 0);
        }
        Ok(pids(&String::from_utf8_lossy(&listed[..length])))
    }
}

/// Returns the children of a process, whichever of its threads started them.
pub fn children_of(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let children = |thread: fs::DirEntry| listed(&format!("{}/children", thread.path().display()));
    threads.flatten().flat_map(children).collect()
}

fn listed(file: &str) -> Vec<u32> {
    pids(&fs::read_to_string(file).unwrap_or_default())
}

fn pids(listed: &str) -> Vec<u32> {
    let pids = listed.split_ascii_whitespace();
    pids.filter_map(|pid| pid.parse().ok()).collect()
}

/// Returns who started a process, or took it over.
pub fn parent(pid: u32) -> Option<u32> {
    field(pid, 1)
}

/// Returns the process group that a process belongs to.
pub fn group(pid: u32) -> Option<u32> {
    field(pid, 2)
}

/// Returns the session that a process belongs to. Not read: what is told of a job is not to depend on a free descriptor.
pub fn session(pid: u32) -> Option<u32> {
    let session = getsid(Some(Pid::from_raw(i32::try_from(pid).ok()?)));
    session.ok().map(|session| session.as_raw().unsigned_abs())
}

/// Returns the moment a process was started, in clock ticks since boot: with the pid it names one process for ever.
pub fn start_time(pid: u32) -> Option<u64> {
    field(pid, 19)
}

/// Says whether a process has this `NAME=value` in its environment.
pub fn has_entry(pid: u32, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|one| one == entry))
}

/// Says whether a process has a variable in its environment that starts with `NAME=value…`.
pub fn has_variable_prefix(pid: u32, start: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
        environ
            .split(|byte| *byte == 0)
            .any(|entry| entry.starts_with(start.as_bytes()))
    })
}

/// Returns every process on the machine.
pub fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.flatten().filter_map(pid).collect()
}

/// Says whether a program of this name runs anywhere at or below `folder`.
pub fn works_in(name: &str, folder: &Path) -> bool {
    all().into_iter().any(|pid| is_at(pid, name, folder))
}

/// Says whether a git runs anywhere at or below `folder` that was called with this command, as in `git -C there commit`.
pub fn runs_git(command: &str, folder: &Path) -> bool {
    all().into_iter().any(|pid| {
        is_at(pid, "git", folder) && {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = words.split(|byte| *byte == 0).skip(1);
            let mut next = words.next();
            while let Some(word) = next.filter(|word| word.starts_with(b"-")) {
                // These two are followed by a word of their own.
                next = match word {
                    b"-c" | b"-C" => words.nth(1),
                    _ => words.next(),
                };
            }
            next == Some(command.as_bytes())
        }
    })
}

fn is_at(pid: u32, name: &str, folder: &Path) -> bool {
    let is_called = fs::read_to_string(format!("/proc/{pid}/comm"));
    let cwd = || fs::read_link(format!("/proc/{pid}/cwd"));
    is_called.is_ok_and(|found| found.trim_end() == name)
        && cwd().is_ok_and(|cwd| cwd.starts_with(folder))
        && is_alive(pid, None)
}

/// Says whether a process has the file with this device and inode open to write to it, as far as the user may look.
pub fn is_written_to(file: (u64, u64)) -> bool {
    let mut open = all().into_iter().flat_map(open_to_write);
    open.any(|open| open == file)
}

/// The files that processes have open to write to them, as far as the user may look: looked for once, when it is first asked. Of each,
/// whether another process than this one has it open.
#[derive(Debug, Default)]
pub struct WrittenTo(OnceCell<HashMap<(u64, u64), bool>>);

impl WrittenTo {
    /// Says whether the file with this device and inode is among them.
    pub fn has(&self, file: (u64, u64)) -> bool {
        self.all().contains_key(&file)
    }

    /// Says whether another process than this one has it open.
    pub fn has_of_others(&self, file: (u64, u64)) -> bool {
        self.all().get(&file).is_some_and(|of_others| *of_others)
    }

    fn all(&self) -> &HashMap<(u64, u64), bool> {
        let look = || {
            let mut found = HashMap::new();
            for pid in all() {
                for file in open_to_write(pid) {
                    *found.entry(file).or_default() |= pid != std::process::id();
                }
            }
            found
        };
        self.0.get_or_init(look)
    }
}

/// Returns the files that a process has open to write to them.
fn open_to_write(pid: u32) -> impl Iterator<Item = (u64, u64)> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.into_iter().flatten().flatten();
    open.filter_map(move |one| {
        let meta = fs::metadata(one.path()).ok()?;
        let is_meant = meta.is_file() && is_to_write(pid, &one.file_name().to_string_lossy());
        is_meant.then(|| (meta.dev(), meta.ino()))
    })
}

/// Says whether an open file of a process was opened to write to it.
fn is_to_write(pid: u32, number: &str) -> bool {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // The lowest two bits: 0 reads, 1 writes, 2 does both (fcntl.h).
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// Returns an id of the running kernel, so that a pid from before a reboot is not taken for a living process.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// Says whether the process `pid` that was started at `started` still lives (a zombie does not).
pub fn is_alive(pid: u32, started: Option<u64>) -> bool {
    let Some(stat) = stat(pid) else {
        return false;
    };
    !stat.starts_with('Z') && (started.is_none() || start_time(pid) == started)
}

/// Says whether a process has ended with all its threads, so that nothing is its child any more, though its status was not taken.
pub fn has_ended(pid: u32) -> bool {
    // The first thread may end before the others.
    stat(pid).is_some_and(|stat| stat.starts_with('Z')) && field(pid, 17) == Some(1)
}

/// Says whether a process is stopped, by a signal or a tracer.
pub fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.starts_with(['T', 't']))
}

/// Says whether a process was stopped by a signal.
pub fn is_suspended(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.starts_with('T'))
}

/// Says whether a process has a terminal and is not in the foreground there: a shell takes the terminal back as soon as what
/// it runs is suspended.
pub fn is_in_background(pid: u32) -> bool {
    let (terminal, foreground): (Option<i64>, Option<i64>) = (field(pid, 4), field(pid, 5));
    terminal.is_some_and(|number| number != 0) && foreground != group(pid).map(i64::from)
}

/// Says whether a process lives, as `is_alive` does, and nothing has begun to end it: one that was killed is there for as long as what it waits for takes.
pub fn is_at_work(pid: u32, started: Option<u64>) -> bool {
    is_alive(pid, started) && !is_ending(pid)
}

/// Says whether a process is about to end: SIGKILL waits for it (signal 9 is bit 8 of what is pending), or it is exiting already
/// (`PF_EXITING` of the kernel's sched.h).
fn is_ending(pid: u32) -> bool {
    const KILL: u64 = 1 << 8;
    const EXITING: u64 = 0x4;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = status
        .lines()
        .filter_map(|line| {
            line.strip_prefix("SigPnd:")
                .or(line.strip_prefix("ShdPnd:"))
        })
        .filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let flags: u64 = field(pid, 6).unwrap_or(0);
    pending.into_iter().any(|mask| mask & KILL != 0) || flags & EXITING != 0
}

/// Returns field number `index` of `/proc/<pid>/stat`, counted from 0 at the state, which follows the name in brackets.
fn field<T: std::str::FromStr>(pid: u32, index: usize) -> Option<T> {
    stat(pid)?.split_ascii_whitespace().nth(index)?.parse().ok()
}

fn stat(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may itself hold brackets and blanks, so the last bracket counts.
    Some(stat.rsplit_once(')')?.1.trim_start().to_owned())
}
