//! What lies in an untracked folder with a repository of its own, which git lists as one path: the user's files like any
//! others, that repository's own among them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The most files that are looked for in all such folders of a cycle.
pub const MOST: usize = 10_000;

/// Lists the files and links below a folder, the path of which ends with a slash, and its empty folders, with a slash at the
/// end, at most `most`; says whether these are all. Pipes, sockets and devices hold nothing that could be kept. What the
/// repository itself holds comes first.
pub fn list(root: &Path, folder: &[u8], most: usize) -> (Vec<Vec<u8>>, bool) {
    let mut found = Vec::new();
    let own = [folder, b".git/"].concat();
    let mut folders = vec![folder.to_vec()];
    if fs::symlink_metadata(root.join(OsStr::from_bytes(&own))).is_ok_and(|meta| meta.is_dir()) {
        // The last one is looked into first.
        folders.push(own.clone());
    }
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(OsStr::from_bytes(&folder))) else {
            return (found, false);
        };
        let mut is_empty = true;
        for entry in entries.flatten() {
            is_empty = false;
            let path = [&folder[..], entry.file_name().as_bytes()].concat();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let path = [&path[..], b"/"].concat();
                    if path != own {
                        folders.push(path);
                    }
                }
                Ok(kind) if kind.is_file() || kind.is_symlink() => found.push(path),
                Ok(_) | Err(_) => {}
            }
        }
        if is_empty {
            found.push(folder);
        }
        if found.len() > most {
            found.truncate(most);
            return (found, false);
        }
    }
    (found, true)
}
