//! Paths below the root of a repository, as code writes them. Pure.

/// What a path below the root begins with that does not depend on the current folder.
pub const ROOT: char = '\u{2}';

/// The most bytes that a path may have, as for the kernel (PATH_MAX).
pub const LONGEST: usize = 4096;

/// Returns `path`, seen from `dir`, without `.` and `..`; `None` if it lies outside the repository, or is longer than any can be.
pub fn join(dir: &str, path: &str) -> Option<String> {
    let (dir, path) = match path.strip_prefix(ROOT) {
        Some(path) => ("", path),
        None => (dir, path),
    };
    let is_too_long = dir.len() + path.len() > LONGEST;
    if is_too_long || path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the word that names a file in a folder below the root, wherever it is used.
pub fn word_in(folder: &str, name: &str) -> String {
    match folder {
        "" => format!("{ROOT}./{name}"),
        folder => format!("{ROOT}{folder}/{name}"),
    }
}
