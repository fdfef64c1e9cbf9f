//! One living `evolve` per work tree: a lock file in the private directory.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fs2::{FileExt, TryLockError};

use crate::effects::{files, proc_table};
use crate::error::{Error, Kind, Result};

/// How long the remains of a dead `evolve` are waited for.
const REMAINS: Duration = Duration::from_secs(30);

/// How long a holder must have been seen that seems to be at work: between a kill and its first trace in the kernel's table lies a
/// moment.
const SEEN: Duration = Duration::from_millis(100);
/// How long a turn at the shared files is waited for.
const TURN: Duration = Duration::from_secs(10);
/// How many numbered places there are to choose from.
const PLACES: u32 = 64;
/// The name of the lock that a running search holds.
pub const SEARCH: &str = "search.lock";
/// How often they are looked at.
const POLL: Duration = Duration::from_millis(20);

/// The held lock; released when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
    /// The folder in which it was taken.
    folder: Option<Id>,
    again: Arc<Again>,
}

/// The lock that was put in the place of one that somebody removed.
#[derive(Debug, Default)]
struct Again {
    file: Mutex<Option<File>>,
    /// The supervising process has yet to get it.
    is_new: AtomicBool,
}

impl Again {
    fn file(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file or folder, as device and inode.
type Id = (u64, u64);

impl Lock {
    fn of(file: File, path: &Path) -> Lock {
        let folder = path
            .parent()
            .and_then(|folder| std::fs::symlink_metadata(folder).ok());
        Lock {
            file,
            folder: folder.map(id),
            again: Arc::default(),
        }
    }

    /// Says whether the held lock is still the file at `path`.
    fn is_at(&self, path: &Path) -> bool {
        let held = self.file.metadata().map(id).ok();
        held.is_some() && held == std::fs::symlink_metadata(path).map(id).ok()
    }

    /// Says whether this is still the folder that the lock was taken in: not if it was removed or replaced.
    pub fn is_in(&self, folder: &Path) -> bool {
        let now = std::fs::symlink_metadata(folder).map(id).ok();
        now.is_some() && now == self.folder
    }

    /// Makes the file at `path` the held lock again where somebody removed or replaced it; says whether that was so. Refuses
    /// where another `evolve` has taken the lock since (exit 5).
    pub fn put_back(&self, path: &Path) -> Result<bool> {
        let mut again = self.again.file();
        let held = again.as_ref().unwrap_or(&self.file).metadata();
        let there = std::fs::symlink_metadata(path);
        if held.is_ok_and(|held| {
            there
                .as_ref()
                .is_ok_and(|there| id_of(&held) == id_of(there))
        }) {
            return Ok(false);
        }
        if there.is_ok_and(|there| !there.is_file()) {
            files::remove_all(path).map_err(|cause| Error::io("remove", path, cause))?;
        }
        let file = open(path)?;
        match FileExt::try_lock(&file) {
            Ok(()) => {
                let since = read_holder(&self.file).unwrap_or_default().since;
                *again = Some(write_holder(file, path, &since)?.file);
                self.again.is_new.store(true, Ordering::SeqCst);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Err(held_by(read_holder(&file), path)),
            Err(TryLockError::Error(cause)) => Err(Error::io("lock", path, cause)),
        }
    }
}

fn id(meta: Metadata) -> Id {
    id_of(&meta)
}

fn id_of(meta: &Metadata) -> Id {
    (meta.dev(), meta.ino())
}

/// Who holds the lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    fn is_at_work(&self) -> bool {
        proc_table::is_at_work(self.pid, self.start_time)
    }
}

impl Lock {
    /// Returns another handle of the lock: it stays held as long as any of them is open in any process.
    pub fn handle(&self) -> Result<Handle> {
        let copy = self.file.try_clone();
        let copy =
            copy.map_err(|cause| Error::internal(format!("cannot hand on the lock: {cause}")))?;
        Ok(Handle {
            file: copy,
            again: Arc::clone(&self.again),
        })
    }
}

/// A handle of a held lock, for the supervising process.
#[derive(Debug)]
pub struct Handle {
    file: File,
    again: Arc<Again>,
}

impl Handle {
    /// Says whether another lock was put in the place of the one that was handed on last.
    pub fn is_new(&self) -> bool {
        self.again.is_new.load(Ordering::SeqCst)
    }

    /// Hands on the lock that is held now. Who has it then is written down, so that the next `evolve` can say what it waits for.
    pub fn hand_on(
        &self,
        pid: u32,
        hold: impl FnOnce(BorrowedFd<'_>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let again = self.again.file();
        let mut file = again.as_ref().unwrap_or(&self.file);
        hold(file.as_fd())?;
        self.again.is_new.store(false, Ordering::SeqCst);
        let started = proc_table::start_time(pid).unwrap_or(0);
        // Only a message depends on it.
        let _ = file.seek(SeekFrom::End(0));
        let _ = file.write_all(format!("{pid} {started}\n").as_bytes());
        Ok(())
    }
}

/// Takes the lock at `path`, whose folder is made if need be. Fails if a living `evolve` holds it (exit 5); one that was killed is
/// waited for.
pub async fn take(path: &Path, since: &str) -> Result<Lock> {
    path.parent().map_or(Ok(()), files::make_folder)?;
    let file = open(path)?;
    let began = Instant::now();
    loop {
        match FileExt::try_lock(&file) {
            Ok(()) => return write_holder(file, path, since),
            Err(TryLockError::WouldBlock) => {
                let holder = read_holder(&file);
                let is_at_work = holder.as_ref().is_some_and(Holder::is_at_work);
                if is_at_work && began.elapsed() > SEEN {
                    return Err(held_by(holder, path));
                }
                if began.elapsed() > REMAINS {
                    return Err(remains(&file));
                }
                tokio::time::sleep(POLL).await;
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
            Ok(()) => return Ok(Lock::of(file, &path)),
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

/// Takes the first of the places with the numbers 0, 1, … that nobody holds, so that what a killed process left in one is found
/// by the next. `open` makes and opens what is locked there; a place that is none of ours has nothing to open.
pub fn first_free(
    place: impl Fn(u32) -> PathBuf,
    open: impl Fn(&Path) -> std::io::Result<Option<File>>,
) -> Result<(PathBuf, Lock)> {
    for number in 0..PLACES {
        let path = place(number);
        // Whoever held it may have removed it in the meantime.
        for _ in 0..2 {
            let opened = open(&path).map_err(|cause| cannot_open(&path, cause))?;
            let Some(file) = opened else { break };
            match FileExt::try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(cause)) => return Err(Error::io("lock", &path, cause)),
            }
            let lock = Lock::of(file, &path);
            if lock.is_at(&path) {
                return Ok((path, lock));
            }
        }
    }
    let last = place(PLACES - 1);
    let what = format!("{} and all places before it are taken", last.display());
    Err(Error::internal(what).hint("remove those that are nobody's"))
}

/// Returns the living `evolve` that holds the lock at `path`, without taking it.
pub fn holder(path: &Path) -> Option<Holder> {
    let file = files::open(path).ok()?;
    match FileExt::try_lock_shared(&file) {
        Ok(()) => None,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {
            read_holder(&file).filter(Holder::is_alive)
        }
    }
}

/// Refuses where a living `evolve` holds the lock at `path` (exit 5), without taking it.
pub fn refuse_held(path: &Path) -> Result<()> {
    match holder(path) {
        Some(holder) => Err(held_by(Some(holder), path)),
        None => Ok(()),
    }
}

/// Refuses where something else than a lock stands at `path`, as `take` would, without making one.
pub fn refuse_other(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => Err(cannot_open(path, files::no_plain_file())),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns whoever holds the lock at `path`, the supervising processes included.
pub fn holders(path: &Path) -> Vec<Holder> {
    if holder(path).is_none() {
        return Vec::new();
    }
    let lines = files::open(path).ok().and_then(|file| read_lines(&file));
    let lines = lines.unwrap_or_default();
    let named = lines.lines().filter_map(Holder::parse);
    named.filter(Holder::is_alive).collect()
}

fn open(path: &Path) -> Result<File> {
    open_or_make(path).map_err(|cause| cannot_open(path, cause))
}

fn cannot_open(path: &Path, cause: std::io::Error) -> Error {
    let error = Error::io("open the lock", path, cause);
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => error.hint("move it away: a lock's own file belongs there"),
        Ok(_) | Err(_) => error,
    }
}

/// Opens a file to lock it, made if need be. A link is not followed: behind it lies somebody else's file.
pub fn open_or_make(path: &Path) -> std::io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(files::no_plain_file());
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    // A pipe can be opened like this, and nobody be told from it.
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(files::no_plain_file()),
    }
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
    Ok(Lock::of(file, path))
}

fn read_holder(file: &File) -> Option<Holder> {
    Holder::parse(read_lines(file)?.lines().next()?)
}

/// Reads who holds the lock: an `evolve`, and a line for each supervising process it started.
fn read_lines(mut file: &File) -> Option<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(1000).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The error of a dead `evolve` whose processes do not go: the lock is held by the one that tries to end them.
fn remains(file: &File) -> Error {
    let lines = read_lines(file).unwrap_or_default();
    let supervisors = lines.lines().skip(1).filter_map(Holder::parse);
    let living = supervisors.filter(Holder::is_alive);
    let left: Vec<u32> = living
        .flat_map(|one| proc_table::children_of(one.pid))
        .collect();
    let limit = humantime::format_duration(REMAINS);
    Error::unsafe_repo(format!(
        "processes of a dead session cannot be ended, and were waited for {limit}: {left:?}"
    ))
    .hint("end them by hand, then run evolve again; what sleeps uninterruptibly waits for a device or a file system")
}

fn held_by(holder: Option<Holder>, path: &Path) -> Error {
    let who = match &holder {
        Some(holder) => format!("process {} since {}", holder.pid, holder.since),
        None => "an unknown process".to_owned(),
    };
    let (what, of) = match path.ends_with(SEARCH) {
        true => ("a search", " search"),
        false => ("another evolve", ""),
    };
    Error::new(
        Kind::Locked,
        format!("{what} is at work in this repository: {who}"),
    )
    .hint(format!(
        "wait for it, look at it with `evolve{of} status`, or end it with `evolve{of} stop`"
    ))
}
