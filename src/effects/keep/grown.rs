//! Logs that somebody else's program writes to: what `nohup.out` of a development server has got in the meantime is neither the
//! agent's nor to be taken back, and its writer goes on in this very file.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copy::{Copy, FILE_LIMIT};
use crate::effects::files::{Moment, is_beneath};
use crate::effects::proc_table::WrittenTo;
use crate::effects::{files, proc_table};

/// Says whether a file is the very one that was copied, begins with what it held, and is being written to. All that the
/// agent started has ended by now, so that this tells what a log's own writer adds from what an agent added.
pub fn is_growing(root: &Path, path: &[u8], entry: &Copy, folders: &[PathBuf]) -> bool {
    let file = root.join(OsStr::from_bytes(path));
    let Ok(meta) = fs::symlink_metadata(&file) else {
        return false;
    };
    meta.is_file()
        && entry.is_of(&meta)
        && entry.mode() == Some(meta.mode())
        && is_beneath(root, path)
        && entry
            .source(folders)
            .is_some_and(|copy| begins_like(&file, &copy))
        && proc_table::is_written_to((meta.dev(), meta.ino()))
}

/// Says whether a program has a file open that it may write to, and this is the very file that was copied, or one that the program made
/// since. All that the agent started has ended by now; what it linked there is neither, nor what it moved there that was made before.
pub fn is_in_use(
    root: &Path,
    path: &[u8],
    entry: &Copy,
    copy: &Path,
    written_to: &WrittenTo,
) -> bool {
    let is_it = fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_ok_and(|meta| {
        meta.is_file() && entry.is_of(&meta) && written_to.has((meta.dev(), meta.ino()))
    });
    let copied = || born(&fs::symlink_metadata(copy).ok()?);
    is_it || copied().is_some_and(|copied| is_made_in_use(root, path, copied, written_to))
}

/// Says whether a file was made since by a program of somebody else's that still has it open to write to it.
pub fn is_made_in_use(root: &Path, path: &[u8], since: Moment, written_to: &WrittenTo) -> bool {
    fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_ok_and(|meta| {
        meta.is_file()
            && meta.nlink() == 1
            && born(&meta).is_some_and(|born| born > since)
            && written_to.has_of_others((meta.dev(), meta.ino()))
    })
}

/// Returns when a file was made; none where the file system does not know.
fn born(meta: &fs::Metadata) -> Option<Moment> {
    files::moment_of(meta.created().ok()?)
}

/// Says whether a file's first bytes are those of its copy.
pub(super) fn begins_like(file: &Path, copy: &Path) -> bool {
    let begins = || {
        let copy = files::read_bounded(copy, FILE_LIMIT).ok()??;
        let mut bytes = Vec::new();
        let open = files::open(file).ok()?;
        open.take(copy.len() as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes == copy)
    };
    begins().unwrap_or(false)
}
