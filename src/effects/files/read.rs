//! Reads files within bounds.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::exact;

/// What to do about a file that is larger than what is read of it.
pub const TOO_LARGE: &str =
    "evolve makes none that large: look at what stands in it, and move it away or make it smaller";

/// The largest file that is read to be compared, in bytes: an agent can make one of any size.
pub const LARGEST: u64 = 1 << 30;

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
}
