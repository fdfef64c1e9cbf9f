//! One untracked file: what told it from another version when it was copied, its copy, and putting it back.

use std::ffi::OsStr;
use std::fs::{self, Metadata, Permissions};
use std::io::{ErrorKind, Result as IoResult};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::effects::files::{self, is_beneath};
use crate::error::{Error, Result};
use crate::model::digest;

/// The largest file that is copied, in bytes.
pub(super) const FILE_LIMIT: u64 = 10 << 20;

/// How a file is written to by others than agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// Something was added to it: what it held stays in it.
    Grown,
    /// It was made anew, and more than once: nobody relies on what it held.
    Rewritten,
    /// Checks may have built it before: they run it, or `protect` matches it by a wildcard alone.
    Built,
    /// A test runner wrote it while goals were measured: an agent may renew, remove and commit it.
    Snapshot,
}

/// What is known of one untracked file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// What told it from another version when it was copied: size, mode, modification and change time, inode.
    pub stamp: String,
    /// The name of the copy; none for a link, a folder with a repository of its own, and what is too large.
    pub copy: Option<String>,
    /// Where a symbolic link points, in hex.
    pub link: Option<String>,
    /// An empty folder in one with a repository of its own: git wants to see some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_folder: bool,
    /// The digest of the copy's bytes: an agent can write to the copy, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How it was written to while no agent ran, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Output>,
    /// It came, or was written to once or with the same bytes, while goals were measured: checks make it, or it is somebody's.
    #[serde(skip)]
    pub(super) is_doubtful: bool,
    /// It is an output, and what stood in it before it was left as it was written since an agent is in the quarantine.
    #[serde(skip)]
    pub(super) is_earlier_kept: bool,
    /// `protect` names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_protected: bool,
    /// `protect` matches it by a wildcard alone, and git ignores it: checks may write it anew, and nobody else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_loose: bool,
    /// Checks wrote to it before any agent of the session ran: they may well do so again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_of_checks: bool,
    /// It lies in a slot, where nobody has files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_nobodys: bool,
    /// It lies in the user's checkout and is lent to a slot: what became of it meanwhile may be the user's own doing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_lent: bool,
    /// What tells the copy from one that was written to since.
    #[serde(skip)]
    pub(super) copy_stamp: String,
}

impl Copy {
    /// Remembers what the copy is like that was just made.
    pub(super) fn note_copy(&mut self, copy: &Path) -> Result<()> {
        let unreadable = |cause| Error::io("read", copy, cause);
        self.copy_stamp = stamp(&fs::symlink_metadata(copy).map_err(unreadable)?);
        self.digest = digest_of(copy);
        Ok(())
    }

    /// Says whether the copy is there and nobody wrote to it.
    pub(super) fn has_unchanged_copy(&self, folder: &Path) -> bool {
        let meta = self
            .copy
            .as_ref()
            .map(|copy| folder.join(copy).symlink_metadata());
        meta.and_then(|meta| meta.ok())
            .is_some_and(|meta| stamp(&meta) == self.copy_stamp)
    }

    /// Returns the first copy that is as it was made. A link needs none, and any path will do.
    pub(super) fn source(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        let needs_none = self.link.is_some() || self.is_folder;
        let Some(copy) = self.copy.as_ref().filter(|_| !needs_none) else {
            return needs_none.then(PathBuf::new);
        };
        let is_good = |file: &PathBuf| match &self.digest {
            Some(digest) => digest_of(file).as_ref() == Some(digest),
            // Copied by a version that noted none.
            None => file.is_file(),
        };
        folders.iter().map(|folder| folder.join(copy)).find(is_good)
    }

    /// Returns how many bytes the file had when it was copied.
    pub(super) fn size(&self) -> u64 {
        let size = self.stamp.split(' ').next();
        size.and_then(|size| size.parse().ok()).unwrap_or(0)
    }

    /// Says whether what is known of a file is of the very one that was copied, whatever became of it.
    pub(super) fn is_of(&self, meta: &Metadata) -> bool {
        self.stamp.rsplit(' ').next() == Some(meta.ino().to_string().as_str())
    }

    /// Returns the file's mode when it was copied.
    pub(super) fn mode(&self) -> Option<u32> {
        u32::from_str_radix(self.stamp.split(' ').nth(1)?, 8).ok()
    }

    /// Returns when the file was written to last, before it was copied.
    fn modified(&self) -> Option<SystemTime> {
        self.moment(2)
    }

    /// Says whether the file was written to after a moment, before it was copied. Both its times say so: anybody can set one of them.
    pub(super) fn is_written_after(&self, moment: SystemTime) -> bool {
        [2, 3]
            .into_iter()
            .all(|part| self.moment(part).is_some_and(|it| it > moment))
    }

    /// Returns the time that stands at a place of the stamp.
    fn moment(&self, part: usize) -> Option<SystemTime> {
        let (seconds, nanos) = self.stamp.split(' ').nth(part)?.split_once('.')?;
        let since = Duration::new(seconds.parse().ok()?, nanos.parse().ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    /// Says whether the file could be put back.
    pub(super) fn is_kept(&self) -> bool {
        self.copy.is_some() || self.link.is_some() || self.is_folder
    }

    /// An entry for a file of which nothing is kept.
    pub fn unknown() -> Copy {
        Copy {
            stamp: String::new(),
            copy: None,
            link: None,
            is_folder: false,
            digest: None,
            output: None,
            is_doubtful: false,
            is_earlier_kept: false,
            is_protected: false,
            is_loose: false,
            is_of_checks: false,
            is_nobodys: false,
            is_lent: false,
            copy_stamp: String::new(),
        }
    }
}

/// Says whether a file that is kept is what it was.
pub(super) fn is_unchanged(root: &Path, path: &[u8], entry: &Copy) -> bool {
    let file = root.join(OsStr::from_bytes(path));
    let Ok(meta) = fs::symlink_metadata(&file) else {
        return false;
    };
    if !is_beneath(root, path) {
        return false;
    }
    if entry.is_folder {
        return meta.is_dir();
    }
    if stamp(&meta) == entry.stamp {
        return true;
    }
    if let Some(digest) = &entry.digest {
        let has_mode = meta.mode() == entry.mode().unwrap_or(meta.mode());
        return meta.is_file() && has_mode && digest_of(&file).as_ref() == Some(digest);
    }
    entry.link.as_ref().is_some_and(|link| {
        fs::read_link(&file).is_ok_and(|target| to_hex(target.as_os_str().as_bytes()) == *link)
    })
}

/// Says whether a file belongs to somebody who does not let this user read it.
pub(super) fn may_not_be_read(file: &Path) -> bool {
    files::open(file).is_err_and(|cause| cause.kind() == ErrorKind::PermissionDenied)
}

/// Returns how much room a copy of so many bytes leaves, where there is room for it and it is not too large.
pub(super) fn room_after(room: u64, bytes: u64) -> Option<u64> {
    let left = room.checked_sub(bytes);
    left.filter(|_| bytes <= FILE_LIMIT)
}

pub(super) fn copy_into(folder: &Path, file: &Path, number: usize) -> Result<String> {
    files::make_folder(folder)?;
    let mut name = number.to_string();
    let mut again = 0;
    while folder.join(&name).exists() {
        again += 1;
        name = format!("{number}-{again}");
    }
    files::copy_unsynced(file, &folder.join(&name))
        .map_err(|cause| Error::io("copy", file, cause))?;
    Ok(name)
}

pub(super) fn write(source: &Path, entry: &Copy, target: &Path) -> Result<()> {
    let done = match &entry.link {
        None if entry.is_folder => fs::create_dir(target),
        Some(link) => std::os::unix::fs::symlink(OsStr::from_bytes(&from_hex(link)), target),
        None => write_file(source, entry, target),
    };
    let done = done.and_then(|()| match target.parent() {
        Some(parent) => files::sync_folder(parent),
        None => Ok(()),
    });
    done.map_err(|cause| Error::io("put back", target, cause))
}

/// Writes a file with its mode, and what checks may have made with the time of its bytes: older than the sources that changed since, it
/// is made anew. Anything else is newer than what may have been made of another version of it.
fn write_file(source: &Path, entry: &Copy, target: &Path) -> IoResult<()> {
    files::copy(source, target)?;
    let is_made = entry.output == Some(Output::Built) || entry.is_doubtful;
    if let Some(modified) = entry.modified().filter(|_| is_made) {
        files::open(target)?.set_modified(modified)?;
    }
    match entry.mode() {
        Some(mode) => fs::set_permissions(target, Permissions::from_mode(mode & 0o7777)),
        None => Ok(()),
    }
}

pub(super) fn stamp(meta: &Metadata) -> String {
    format!(
        "{} {:o} {}.{} {}.{} {}",
        meta.len(),
        meta.mode(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
        meta.ino()
    )
}

/// Returns bytes as hex, so that any path fits into JSON.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes of a hex text; what is no hex is left out.
pub fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// Returns the digest of a file as small as one that is copied; none if it cannot be read.
pub(super) fn digest_of(file: &Path) -> Option<String> {
    let bytes = files::read_bounded(file, FILE_LIMIT).ok().flatten();
    bytes.map(|bytes| digest::full(&bytes))
}
