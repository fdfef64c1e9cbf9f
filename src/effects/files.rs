//! Files and folders: they are made, copied, brought to the disk and removed here, written and read in the parts.

mod moment;
mod read;
mod write;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};

use crate::error::{Error, Result};

pub use moment::{Dated, Moment, Stamp, dated_in, is_settled, moment_of, seconds_of};
pub use read::{
    LARGEST, TOO_LARGE, begin_of, is_same, no_plain_file, open, open_plain, read, read_bounded,
    read_end, read_exactly, read_followed, read_text, room_for,
};
pub use write::{
    append, deliver, refuse_undeliverable, remove_temporaries, remove_temporaries_of, replace,
    replace_unsynced, rewrite, temporary_name,
};

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
