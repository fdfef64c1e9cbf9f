//! When files were changed, as file systems tell it.

use std::fs::{self, Metadata, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};

/// A moment as file systems tell it: seconds since 1970, and nanoseconds.
pub type Moment = (i64, i64);

/// Returns a time of the system's as file systems tell it; none before 1970.
pub fn moment_of(time: SystemTime) -> Option<Moment> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some((since.as_secs().cast_signed(), since.subsec_nanos().into()))
}

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

/// Returns when a file was written last, in seconds since 1970.
pub fn seconds_of(path: &Path) -> Result<i64> {
    let meta = fs::symlink_metadata(path).map_err(|cause| Error::io("look at", path, cause))?;
    Ok(meta.mtime())
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
