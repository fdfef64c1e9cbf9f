//! One living `evolve` per work tree: a lock file in the private directory.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use fs2::{FileExt, TryLockError};

use crate::effects::proc_table;
use crate::error::{Error, Kind, Result};

/// How long the remains of a dead `evolve` are waited for.
const REMAINS: Duration = Duration::from_secs(30);

/// How long a turn at the shared files is waited for.
const TURN: Duration = Duration::from_secs(10);

/// The held lock; released when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Who holds the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// When that process was started, in ticks since boot.
    pub start_time: Option<u64>,
    /// When it took the lock, RFC 3339.
    pub since: String,
}

impl Holder {
    fn parse(text: &str) -> Option<Holder> {
        let mut words = text.split_ascii_whitespace();
        Some(Holder {
            pid: words.next()?.parse().ok()?,
            start_time: words.next()?.parse().ok(),
            since: words.next().unwrap_or_default().to_owned(),
        })
    }

    fn is_alive(&self) -> bool {
        proc_table::is_alive(self.pid, self.start_time)
    }
}

/// Takes the lock at `path`. Fails at once if a living `evolve` holds it (exit 5).
pub async fn take(path: &Path, since: &str) -> Result<Lock> {
    let file = open(path)?;
    let began = Instant::now();
    loop {
        match FileExt::try_lock(&file) {
            Ok(()) => return write_holder(file, path, since),
            Err(TryLockError::WouldBlock) => {
                let holder = read_holder(&file);
                let is_alive = holder.as_ref().is_some_and(Holder::is_alive);
                if is_alive || began.elapsed() > REMAINS {
                    return Err(held(holder));
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(TryLockError::Error(cause)) => return Err(Error::io("lock", path, cause)),
        }
    }
}

/// Waits for the turn to write to the files that `evolve`'s own processes share. It is held for as long as a line takes to
/// be written; who does not get it in time is told so.
pub fn turn(private: &Path) -> Result<Lock> {
    std::fs::create_dir_all(private).map_err(|cause| Error::io("create", private, cause))?;
    let path = private.join("turn");
    let file = open(&path)?;
    let began = Instant::now();
    loop {
        match FileExt::try_lock(&file) {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) if began.elapsed() < TURN => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                let what = format!("another process keeps {} locked", path.display());
                return Err(Error::new(Kind::Locked, what).hint("try again when it has ended"));
            }
            Err(TryLockError::Error(cause)) => return Err(Error::io("lock", &path, cause)),
        }
    }
}

/// Returns the living `evolve` that holds the lock at `path`, without taking it.
pub fn holder(path: &Path) -> Option<Holder> {
    let file = File::open(path).ok()?;
    match FileExt::try_lock_shared(&file) {
        Ok(()) => None,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {
            read_holder(&file).filter(Holder::is_alive)
        }
    }
}

fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options
        .open(path)
        .map_err(|cause| Error::io("open the lock", path, cause))
}

fn write_holder(mut file: File, path: &Path, since: &str) -> Result<Lock> {
    let pid = std::process::id();
    let started = proc_table::start_time(pid).unwrap_or(0);
    let write = |file: &mut File| {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(format!("{pid} {started} {since}\n").as_bytes())
    };
    write(&mut file).map_err(|cause| Error::io("write the lock", path, cause))?;
    Ok(Lock { _file: file })
}

fn read_holder(mut file: &File) -> Option<Holder> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(200).read_to_string(&mut text).ok()?;
    Holder::parse(&text)
}

fn held(holder: Option<Holder>) -> Error {
    let who = match &holder {
        Some(holder) => format!("process {} since {}", holder.pid, holder.since),
        None => "an unknown process".to_owned(),
    };
    Error::new(
        Kind::Locked,
        format!("another evolve is at work in this repository: {who}"),
    )
    .hint("wait for it, look at it with `evolve status`, or end it with `evolve stop`")
}
