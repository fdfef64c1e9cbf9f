//! Files with several names: a mode is of the file, whatever it is called, and by another name it may be somebody's elsewhere, over
//! which an agent made a hard link.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Result as IoResult};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::{BITS, READ};
use crate::effects::files;

/// What becomes of a file with several names that is to be opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// It is opened under all of them: the others are `evolve`'s own, in its copy of the git directory.
    AsOne,
    /// It becomes a file of its own, as if it were written anew.
    Anew,
    /// It becomes a file of its own, of which others may do no more than before.
    ForOwner,
}

/// Makes a file of several names one of its own, with this mode; the other names keep theirs. Says whether that could be done.
pub fn part(file: &Path, mode: u32) -> bool {
    let temporary = file.with_file_name(files::temporary_name(file));
    // What a crashed run left under this name is not ours to write to.
    let _ = fs::remove_file(&temporary);
    let done = copy(file, &temporary, mode).and_then(|()| fs::rename(&temporary, file));
    if done.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    done.is_ok()
}

fn copy(file: &Path, to: &Path, mode: u32) -> IoResult<()> {
    let mut from = open(file)?;
    let mut options = File::options();
    let mut to = options.write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(from.metadata()?.modified()?)?;
    to.set_permissions(Permissions::from_mode(mode))?;
    to.sync_all()
}

/// Opens a file to read from. One that its owner may not read is lent to him for that moment.
fn open(file: &Path) -> IoResult<File> {
    match files::open_plain(file) {
        Err(cause) if cause.kind() == ErrorKind::PermissionDenied => {
            let mode = fs::symlink_metadata(file)?.permissions().mode() & BITS;
            if !super::set(file, mode | READ) {
                return Err(cause);
            }
            let opened = files::open_plain(file);
            super::set(file, mode);
            opened
        }
        opened => opened,
    }
}
