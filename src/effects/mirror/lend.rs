//! How what is missing in a git directory is given from its copy: in one step, and for good.

use std::ffi::OsString;
use std::fs;
use std::io::{Result as IoResult, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::MirroredDir;
use crate::effects::files;
use crate::error::{Error, Result};

/// Lends one file if it is missing and there is a copy.
pub fn lend_missing(place: &MirroredDir, path: &Path) -> Result<()> {
    let (from, to) = (place.copy.join(path), place.live.join(path));
    let is_file = |meta: fs::Metadata| meta.is_file();
    match fs::symlink_metadata(&from).is_ok_and(is_file) && fs::symlink_metadata(&to).is_err() {
        true => lend_file(&from, &to).map_err(|cause| Error::io("restore", &to, cause)),
        false => Ok(()),
    }
}

/// Copies a file to where none is, with all folders above it: in one step, and for good.
pub fn lend_file(from: &Path, to: &Path) -> IoResult<()> {
    lend_by(to, |temporary| files::copy(from, temporary))
}

/// Writes a file to where none is in the same way.
pub fn lend_bytes(bytes: &[u8], mode: u32, to: &Path) -> IoResult<()> {
    lend_by(to, |temporary| {
        let mut file = fs::File::create_new(temporary)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()
    })
}

fn lend_by(to: &Path, make: impl FnOnce(&Path) -> IoResult<()>) -> IoResult<()> {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder)?;
    let mut name = OsString::from("tmp_obj_evolve_");
    name.push(to.file_name().unwrap_or_default());
    let temporary = folder.join(name);
    files::remove_all(&temporary)?;
    make(&temporary)?;
    fs::rename(&temporary, to)?;
    files::sync_folder(folder)
}

/// Copies what is missing; returns how many files that were.
pub fn lend(from: &Path, to: &Path) -> IoResult<usize> {
    // A link that stands there would lead elsewhere.
    if !fs::symlink_metadata(to).is_ok_and(|meta| meta.is_dir()) {
        files::remove_all(to)?;
        fs::create_dir_all(to)?;
    }
    let mut lent = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            lent += lend(&from, &to)?;
        } else if kind.is_file() && fs::symlink_metadata(&to).is_err() {
            lend_file(&from, &to)?;
            lent += 1;
        }
    }
    Ok(lent)
}
