//! The files and pipes that this process writes to by descriptors that it was started with: its stdout above all.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::text;

const STDOUT: u32 = 1;
const STDERR: u32 = 2;
/// Lists the descriptors of the process that looks.
const FOLDER: &str = "/dev/fd";
/// By this bit of its mode a descriptor that is listed says that it is open for writing.
const WRITABLE: u32 = 0o200;

/// Says whether what is written to a path comes to where stdout goes, under whatever name.
pub fn is_stdout(path: &Path) -> bool {
    descriptor_of(path) == Some(STDOUT)
}

/// Refuses a file that this process writes to already: another in its place would take what whoever started it has it write.
pub fn refuse_open(path: &Path) -> Result<()> {
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let Some(descriptor) = descriptor_of(path).filter(|_| is_file) else {
        return Ok(());
    };
    let what = match descriptor {
        STDOUT => "stdout goes there".to_owned(),
        STDERR => "stderr goes there".to_owned(),
        other => format!("descriptor {other} goes there"),
    };
    let shown = text::path(path.as_os_str().as_encoded_bytes());
    Err(Error::usage(format!("{shown} is not written over: {what}")).hint("name another file"))
}

/// Returns the first descriptor, from stdout on, by which this process writes to what is at a path; none for the null device, where
/// everybody may.
fn descriptor_of(path: &Path) -> Option<u32> {
    let there = fs::metadata(path).ok()?;
    let null = fs::metadata("/dev/null").ok();
    if there.file_type().is_char_device() && null.is_some_and(|null| null.rdev() == there.rdev()) {
        return None;
    }
    let entries = fs::read_dir(FOLDER).ok()?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let leads_there = |descriptor: &u32| {
        let entry = format!("{FOLDER}/{descriptor}");
        let is_same = |meta: fs::Metadata| (meta.dev(), meta.ino()) == (there.dev(), there.ino());
        *descriptor >= STDOUT
            && fs::symlink_metadata(&entry).is_ok_and(|meta| meta.mode() & WRITABLE != 0)
            && fs::metadata(&entry).is_ok_and(is_same)
    };
    numbers.filter(leads_there).min()
}
