//! Lines of files that others append to.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::exact;

/// Returns the whole lines with which a file begins, in so many bytes; nothing of what is no plain file. One that the machine cannot
/// read just now is an error: what it says would be taken for never said.
pub(super) fn beginning(path: &Path, limit: u64) -> Result<String> {
    let mut bytes = Vec::new();
    let read = fs::symlink_metadata(path).and_then(|meta| match meta.is_file() {
        true => files::open(path)?.take(limit).read_to_end(&mut bytes),
        false => Ok(0),
    });
    let error = read.err().map(|cause| Error::io("read", path, cause));
    if let Some(error) = error {
        return match error.is_of_machine() {
            true => Err(error),
            false => Ok(String::new()),
        };
    }
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(end.map_or(0, |end| end + 1));
    Ok(exact::decode(&bytes))
}

/// Makes sure that a line can follow.
pub(super) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_machine_cannot_read_is_an_error_and_what_is_none_says_nothing() {
        let read = |path: &str| beginning(Path::new(path), 99);
        // Nothing lies at its start.
        let error = read("/proc/self/mem").expect_err("an I/O error");
        assert!(error.is_of_machine(), "{}", error.message);
        for path in [
            "/proc/self/none",
            "/proc/self/mem/none",
            "/proc/self",
            "/proc/self/cwd",
        ] {
            assert_eq!(read(path).expect("nothing"), "", "{path}");
        }
    }
}
