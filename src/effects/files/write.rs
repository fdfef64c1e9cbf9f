//! Writes files so that a crash leaves either the old or the new content.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{make_folder, sync_folder};
use crate::effects::{descriptors, proc_table};
use crate::error::{Error, Result};

/// How long somebody who is to read from a pipe is waited for.
const READER_PATIENCE: Duration = Duration::from_secs(5);

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
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last[0] == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

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
