//! Lines of files that others append to.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::effects::files;
use crate::model::exact;

/// Returns the whole lines with which a file begins, in so many bytes; nothing of what is no plain file.
pub(super) fn beginning(path: &Path, limit: u64) -> String {
    let is_plain = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    let mut bytes = Vec::new();
    let read = match is_plain {
        true => files::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
        false => Ok(0),
    };
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(end.map_or(0, |end| end + 1));
    match read {
        Ok(_) => exact::decode(&bytes),
        Err(_) => String::new(),
    }
}

/// Makes sure that a line can follow.
pub(super) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
