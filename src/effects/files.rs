//! Writes files so that a crash leaves either the old or the new content, and reads them within bounds.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit};

use crate::effects::{descriptors, proc_table};
use crate::error::{Error, Result};
use crate::model::exact;

/// How long somebody who is to read from a pipe is waited for.
const READER_PATIENCE: Duration = Duration::from_secs(5);
/// What to do about a file that is larger than what is read of it.
pub const TOO_LARGE: &str =
    "evolve makes none that large: look at what stands in it, and move it away or make it smaller";

/// The largest file that is read to be compared, in bytes: an agent can make one of any size.
pub const LARGEST: u64 = 1 << 30;

/// Replaces a file in one step: a temporary file in the same folder, synced, renamed over it, and the folder synced.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_and(path, bytes, (File::sync_all, sync_folder), None)
}

/// The same for what is written anew after a crash of the machine: nobody waits for the disk.
pub fn replace_unsynced(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_and(path, bytes, (|_| Ok(()), |_| Ok(())), None)
}

/// How a file and then its folder are brought to the disk.
type Syncs = (
    fn(&File) -> std::io::Result<()>,
    fn(&Path) -> std::io::Result<()>,
);

/// Replaces a file, and gives the new one a mode where there is one to give: at no moment may more people read it.
fn replace_and(
    path: &Path,
    bytes: &[u8],
    (sync_file, sync_folder): Syncs,
    mode: Option<Permissions>,
) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let temporary = folder.join(temporary_name(path));
    let write = || {
        // What a crashed run left under this name is not ours to append to.
        let _ = fs::remove_file(&temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if let Some(mode) = &mode {
            options.mode(mode.mode() & 0o777);
        }
        let mut file = options.open(&temporary)?;
        file.write_all(bytes)?;
        if let Some(mode) = mode.clone() {
            file.set_permissions(mode)?;
        }
        sync_file(&file)?;
        fs::rename(&temporary, path)?;
        sync_folder(folder)
    };
    write().map_err(|cause| {
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, cause)
    })
}

/// Returns how the temporary file is called that is to take a file's place: after it, as far as a name may be that long.
pub fn temporary_name(path: &Path) -> String {
    temporary_of(path, std::process::id())
}

/// Returns how the temporary file of a process is called.
fn temporary_of(path: &Path, process: u32) -> String {
    const LONGEST: usize = 255;
    let end = format!(".{process:x}.tmp");
    let mut name = format!(
        ".{}",
        path.file_name().unwrap_or_default().to_string_lossy()
    );
    while name.len() + end.len() > LONGEST {
        name.pop();
    }
    name + &end
}

/// Says whether two files hold the same bytes.
pub fn is_same(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = (open(one)?, open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    const AT_ONCE: u64 = 1 << 16;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    loop {
        a.clear();
        b.clear();
        (&mut one).take(AT_ONCE).read_to_end(&mut a)?;
        (&mut other).take(AT_ONCE).read_to_end(&mut b)?;
        if a != b {
            return Ok(false);
        }
        if a.is_empty() {
            return Ok(true);
        }
    }
}

/// Replaces a file of the user's in one step, with the mode that it had; a link to it stays one.
pub fn rewrite(path: &Path, bytes: &[u8]) -> Result<()> {
    let told = |cause| Error::io("write", path, cause);
    let real = path.canonicalize().map_err(told)?;
    let mode = fs::metadata(&real).map_err(told)?.permissions();
    replace_and(&real, bytes, (File::sync_all, sync_folder), Some(mode))
}

/// Writes to where the user wants it: a file in one step, with the mode that it had, and a link to one stays a link, be that file
/// there yet or not; a device or a pipe is written to. Refuses a file that this process writes to already.
pub fn deliver(path: &Path, bytes: &[u8]) -> Result<()> {
    descriptors::refuse_open(path)?;
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => rewrite(path, bytes),
        Ok(meta) => {
            let told = |cause| Error::io("write", path, cause);
            // Opened at once where somebody reads, and held until it is opened for good.
            let _read = match meta.file_type().is_fifo() {
                true => Some(read_pipe(path)?),
                false => None,
            };
            let file = OpenOptions::new().write(true).open(path);
            file.and_then(|mut file| file.write_all(bytes))
                .map_err(told)
        }
        Err(_) => replace(&end_of_link(path)?, bytes),
    }
}

/// Returns where a path that has no file leads to: itself, or by way of links to a place in a folder that is there. A link that leads
/// nowhere else is somebody's, too.
fn end_of_link(path: &Path) -> Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let folder = |at: &Path| at.parent().unwrap_or(Path::new("")).to_owned();
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&at) {
            Ok(next) => at = folder(&at).join(next),
            Err(_) if at == path || folder(&at).is_dir() => return Ok(at),
            Err(_) => break,
        }
    }
    Err(lost_link(path))
}

/// Opens a pipe from which somebody reads, or who begins to soon: to open one from which nobody reads would wait for ever.
fn read_pipe(path: &Path) -> Result<File> {
    let began = Instant::now();
    loop {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(nix::libc::O_NONBLOCK);
        match options.open(path) {
            Err(cause) if cause.raw_os_error() == Some(nix::libc::ENXIO) => {
                if began.elapsed() > READER_PATIENCE {
                    let path = path.display();
                    return Err(Error::internal(format!(
                        "cannot write {path}: it is a pipe from which nobody reads"
                    ))
                    .hint("begin to read from it first, or name a file"));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            opened => return opened.map_err(|cause| Error::io("write", path, cause)),
        }
    }
}

/// Refuses a place where `deliver` could not write, as far as that can be told without writing there: its folder is made.
pub fn refuse_undeliverable(path: &Path) -> Result<()> {
    let told = |cause| Error::io("write", path, cause);
    let real = match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            return Err(told(std::io::Error::from(ErrorKind::IsADirectory)));
        }
        Ok(meta) if !meta.is_file() => return Ok(()),
        Ok(_) => path.canonicalize().map_err(told)?,
        Err(_) => end_of_link(path)?,
    };
    let folder = real.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(told)?;
    let probe = folder.join(format!(".evolve.{:x}.tmp", std::process::id()));
    let probed = OpenOptions::new().write(true).create_new(true).open(&probe);
    probed.map_err(told)?;
    fs::remove_file(&probe).map_err(told)
}

fn lost_link(path: &Path) -> Error {
    let path = path.display();
    Error::internal(format!(
        "cannot write {path}: it is a link that leads nowhere"
    ))
    .hint("name another file, or take the link away")
}

/// Removes the temporary files that dead processes left in a folder.
pub fn remove_temporaries(folder: &Path) {
    remove_left(folder, |_, _| true);
}

/// Removes those alone that were to take the place of one file: in its folder others have theirs.
pub fn remove_temporaries_of(path: &Path) {
    let folder = path.parent().unwrap_or(Path::new("."));
    remove_left(folder, |name, process| name == temporary_of(path, process));
}

/// Removes temporary files of dead processes of which the name, and the process, are wanted.
fn remove_left(folder: &Path, is_wanted: impl Fn(&str, u32) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let is_left = |name: &str| {
        let middle = name.strip_prefix('.')?.strip_suffix(".tmp")?;
        let pid = u32::from_str_radix(middle.rsplit_once('.')?.1, 16).ok()?;
        (is_wanted(name, pid) && !proc_table::is_alive(pid, None)).then_some(())
    };
    for entry in entries.flatten() {
        if entry.file_name().to_str().and_then(is_left).is_some() {
            // One that cannot be removed is only in the way of tidiness.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Adds whole lines to the end of a file in one write, and syncs it. A last line without an end gets one first.
pub fn append(path: &Path, lines: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let write = || {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let text = match ends_a_line(&mut file)? {
            true => lines.to_owned(),
            false => format!("\n{lines}"),
        };
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|cause: std::io::Error| Error::io("append to", path, cause))
}

fn ends_a_line(file: &mut File) -> std::io::Result<bool> {
    use std::io::{Seek, SeekFrom};
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last[0] == b'\n')
}

/// Returns how a plain file begins, with at most so many bytes; nothing where it cannot be read.
pub fn begin_of(path: &Path, bytes: u64) -> Vec<u8> {
    let mut begin = Vec::new();
    if let Ok(file) = open_plain(path) {
        // What was read until then is how it begins.
        let _ = file.take(bytes).read_to_end(&mut begin);
    }
    begin
}

/// Reads a plain file of at most `limit` bytes without following a link; none if there is no such file.
pub fn read_bounded(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::io("read", path, cause)),
    };
    if !meta.is_file() {
        return Err(
            Error::internal(format!("{} is no plain file", path.display()))
                .hint("move it away; evolve follows no links there"),
        );
    }
    let too_large = |length: u64| {
        let path = path.display();
        Error::internal(format!(
            "{path} has {length} bytes, more than the {limit} that are read"
        ))
        .hint(TOO_LARGE)
    };
    if meta.len() > limit {
        return Err(too_large(meta.len()));
    }
    let read = || -> std::io::Result<_> {
        let mut bytes = Vec::with_capacity(room_for(meta.len() + 1));
        let mut file = open_plain(path)?;
        (&mut file).take(limit + 1).read_to_end(&mut bytes)?;
        let length = file.metadata()?.len().max(bytes.len() as u64);
        Ok((bytes, length))
    };
    let (bytes, length) = match read() {
        Ok(read) => read,
        // It may be gone since it was looked at, and may have grown.
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::io("read", path, cause)),
    };
    match bytes.len() as u64 > limit {
        true => Err(too_large(length)),
        false => Ok(Some(bytes)),
    }
}

/// Reads the last `most` bytes of a plain file without following a link, from the beginning of a line; none if there is no such file.
pub fn read_end(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let failed = |cause| Error::io("read", path, cause);
    let mut file = match open_plain(path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(failed(cause)),
    };
    let length = file.metadata().map_err(failed)?.len();
    let skipped = length.saturating_sub(most);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(skipped)).map_err(failed)?;
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    if skipped > 0 {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        bytes.drain(..end.map_or(0, |end| end + 1));
    }
    Ok(Some(bytes))
}

/// A moment as file systems tell it: seconds since 1970, and nanoseconds.
pub type Moment = (i64, i64);

/// Says whether something was changed so long ago that no later change can bear the same time.
pub fn is_settled((seconds, nanos): Moment, after: Duration) -> bool {
    let since = || {
        let (seconds, nanos) = (u64::try_from(seconds).ok()?, u64::try_from(nanos).ok()?);
        let changed = UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanos);
        SystemTime::now().duration_since(changed).ok()
    };
    since().is_some_and(|age| age > after)
}

/// The present moment as one file system dates what is changed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dated {
    /// The file system's device.
    pub device: u64,
    /// The moment.
    pub moment: Moment,
}

/// Returns the present moment as the file system of a folder dates what is changed there now: its clock may be another than this
/// machine's. None where nothing can be made there.
pub fn dated_in(folder: &Path) -> Option<Dated> {
    let file = folder.join(format!(".moment.{:x}.tmp", std::process::id()));
    let _ = fs::remove_file(&file);
    let made = OpenOptions::new().write(true).create_new(true).open(&file);
    let meta = made.and_then(|made| made.metadata());
    let _ = fs::remove_file(&file);
    let meta = meta.ok()?;
    Some(Dated {
        device: meta.dev(),
        moment: (meta.ctime(), meta.ctime_nsec()),
    })
}

/// Returns for how many bytes a place is made at once, of so many that are expected; nobody has to have that many.
pub fn room_for(expected: u64) -> usize {
    const AT_ONCE: usize = 16 << 20;
    usize::try_from(expected).map_or(AT_ONCE, |expected| expected.min(AT_ONCE))
}

/// Opens a file that is to be a plain one: a link that stands there is not followed, a pipe not waited for.
pub fn open_plain(path: &Path) -> std::io::Result<File> {
    open_with(path, nix::libc::O_NOFOLLOW)
}

/// Opens a plain file, or one that a link leads to; a pipe is not waited for.
pub fn open(path: &Path) -> std::io::Result<File> {
    open_with(path, 0)
}

/// Reads all of a plain file, or of one that a link leads to.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_with(path: &Path, way: i32) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let way = way | nix::libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(way).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(no_plain_file()),
    }
}

/// The error of reading what is something else.
pub fn no_plain_file() -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidInput, "it is no plain file")
}

/// Reads a plain file of at most `limit` bytes, be it behind links, as dotfiles of the user's are; none if there is no such file.
pub fn read_followed(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match path.canonicalize() {
        Ok(real) => read_bounded(&real, limit),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::io("read", path, cause)),
    }
}

/// Reads a text file of at most `limit` bytes; empty if there is none. Bytes that are no UTF-8 are replaced.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    let bytes = read_bounded(path, limit)?.unwrap_or_default();
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Reads a file of at most `limit` bytes as text that stands for its bytes exactly; empty if there is none.
pub fn read_exactly(path: &Path, limit: u64) -> Result<String> {
    let bytes = read_bounded(path, limit)?;
    Ok(exact::decode_all(bytes.unwrap_or_default()))
}

/// Returns the paths of the files right in a folder below `root`, seen from there; those whose names are text.
pub fn names_in(root: &Path, folder: &str) -> Vec<String> {
    names_of(root, folder, Path::is_file)
}

/// Returns the same without links.
pub fn plain_names_in(root: &Path, folder: &str) -> Vec<String> {
    let is_plain = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    names_of(root, folder, is_plain)
}

/// Returns the paths, below `root`, of the folders right in a folder below it; none in one that is not there.
pub fn folders_in(root: &Path, folder: &str) -> Vec<String> {
    names_of(root, folder, Path::is_dir)
}

fn names_of(root: &Path, folder: &str, is_kind: fn(&Path) -> bool) -> Vec<String> {
    let entries = fs::read_dir(root.join(folder))
        .into_iter()
        .flatten()
        .flatten();
    let found = entries.filter(|entry| is_kind(&entry.path()));
    let names = found.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .map(|name| {
            format!("{folder}/{name}")
                .trim_start_matches('/')
                .to_owned()
        })
        .collect()
}

/// Makes a folder and those above it, unless they are there; each one that is new stays after a crash.
pub fn make_folder(folder: &Path) -> Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let new: Vec<_> = folder.ancestors().take_while(is_missing).collect();
    let make = || {
        fs::create_dir_all(folder)?;
        new.iter()
            .filter_map(|folder| folder.parent())
            .try_for_each(sync_folder)
    };
    make().map_err(|cause| Error::io("create", folder, cause))
}

/// Makes a folder of `evolve`'s own where an agent may have written: what else stands in its place is removed, be it a link, by which
/// files would come to lie elsewhere, or go there.
pub fn make_own_folder(folder: &Path) -> Result<()> {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        remove_all(folder).map_err(|cause| Error::io("remove", folder, cause))?;
    }
    make_folder(folder)
}

/// The same of one in which there is nothing.
pub fn make_empty_folder(folder: &Path) -> Result<()> {
    remove_all(folder).map_err(|cause| Error::io("remove", folder, cause))?;
    make_folder(folder)
}

/// Begins a file of `evolve`'s own, with nothing in it, whatever an agent left in its place: a pipe would be waited for.
pub fn begin(path: &Path) -> Result<()> {
    let begun = remove_all(path).and_then(|()| File::create_new(path).map(drop));
    begun.map_err(|cause| Error::io("write", path, cause))
}

/// Copies a file with its mode and syncs the copy, so that the original may go; its folder is the caller's to sync.
pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    copy_unsynced(from, to)?;
    File::open(to)?.sync_all()
}

/// The same, to be synced later with others: see [`sync_files`].
pub fn copy_unsynced(from: &Path, to: &Path) -> std::io::Result<()> {
    open(from)?;
    fs::copy(from, to).map(drop)
}

/// Syncs files of a folder and the folder. So many files that each of them would cost its own turn of the disk are synced with
/// all of their file system.
pub fn sync_files(folder: &Path, names: &[String]) -> std::io::Result<()> {
    const ALL_AT_ONCE: usize = 256;
    if names.len() < ALL_AT_ONCE || !sync_file_system(folder)? {
        for name in names {
            File::open(folder.join(name))?.sync_all()?;
        }
    }
    sync_folder(folder)
}

/// Syncs all of the file system that a folder is on; says whether that can be done here.
#[cfg(target_os = "linux")]
fn sync_file_system(folder: &Path) -> std::io::Result<bool> {
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_folder: &Path) -> std::io::Result<bool> {
    Ok(false)
}

/// Syncs a folder: what was made, renamed or removed in it stays so after a crash.
pub fn sync_folder(folder: &Path) -> std::io::Result<()> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    use std::os::unix::fs::OpenOptionsExt;
    let folder = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_DIRECTORY)
        .open(folder)?;
    folder.sync_all()
}

/// Refuses to run where fewer files may be open at once than a run may need: libraries break down without one, and where
/// checks cannot be started nothing is learned of their goals.
pub fn refuse_few_descriptors() -> Result<()> {
    const NEEDED: u64 = 64;
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((limit, _)) if limit < NEEDED => Err(Error::internal(format!(
            "only {limit} files may be open at once, and evolve may need {NEEDED}"
        ))
        .hint("let it open more files (`ulimit -n`), then run evolve again")),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Removes what is where a folder belongs and is none: a link would lead elsewhere.
pub fn remove_unless_folder(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(meta) if !meta.is_dir() => remove(folder),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns when a file was written last, in seconds since 1970.
pub fn seconds_of(path: &Path) -> Result<i64> {
    let meta = fs::symlink_metadata(path).map_err(|cause| Error::io("look at", path, cause))?;
    Ok(std::os::unix::fs::MetadataExt::mtime(&meta))
}

/// Says whether a file is there. It is not where its folder cannot be one, or is nobody's business here.
pub fn is_there(path: &Path) -> std::io::Result<bool> {
    const NOT_THERE: [ErrorKind; 3] = [
        ErrorKind::NotFound,
        ErrorKind::NotADirectory,
        ErrorKind::PermissionDenied,
    ];
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(cause) if NOT_THERE.contains(&cause.kind()) => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Removes a file; one that is not there is fine.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(Error::io("remove", path, cause)),
    }
}

/// Removes a file, or a folder with all that is in it, without following links; what is not there is fine.
pub fn remove_all(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// What tells one state of a file from another, and nobody can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The file's number.
    pub inode: u64,
    /// When something was last done to it (ctime), in seconds and nanoseconds.
    pub changed: (i64, i64),
}

impl Stamp {
    /// Returns that of a file that was looked at.
    pub fn of(meta: &Metadata) -> Stamp {
        Stamp {
            inode: meta.ino(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Returns that of what is at a path, be it a link; none where nothing is.
    pub fn at(path: &Path) -> Option<Stamp> {
        fs::symlink_metadata(path).ok().as_ref().map(Stamp::of)
    }
}

/// Says whether a path is a folder's, or of something in it. Both are relative to one root, as git writes them.
pub fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Says whether all folders above a path are real folders, so that the path leads to nowhere else.
pub fn is_beneath(root: &Path, path: &[u8]) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.into_iter().all(|(index, _)| {
        let parent = root.join(OsStr::from_bytes(&path[..index]));
        fs::symlink_metadata(parent).is_ok_and(|meta| meta.is_dir())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_has_grown_since_it_was_looked_at_is_too_large_and_not_cut() {
        // Its length is 0 as long as nobody reads it.
        let path = Path::new("/proc/self/status");
        let error = read_bounded(path, 10).expect_err("too large");
        assert!(error.message.contains("more than the 10"), "{error:?}");
        assert!(read_bounded(path, 1 << 20).is_ok_and(|bytes| bytes.is_some()));
    }

    #[test]
    fn a_file_is_replaced_under_the_longest_name_there_is() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["n".repeat(255), "é".repeat(127)] {
            let path = folder.path().join(name);
            replace(&path, b"text").expect("written");
            assert_eq!(fs::read(&path).expect("text"), b"text");
        }
        let longest = temporary_name(Path::new(&"é".repeat(127)));
        assert!(longest.len() <= 255 && longest.ends_with(".tmp"));
    }

    #[test]
    fn a_rewritten_file_has_the_mode_that_it_had() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for mode in [0o600, 0o666, 0o755, 0o400] {
            fs::write(&path, "old").expect("a file");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
            rewrite(&path, b"new").expect("written");
            let meta = fs::metadata(&path).expect("a file");
            assert_eq!(meta.permissions().mode() & 0o7777, mode, "{mode:o}");
            assert_eq!(fs::read(&path).expect("text"), b"new");
            fs::remove_file(&path).expect("removed");
        }
    }
}
