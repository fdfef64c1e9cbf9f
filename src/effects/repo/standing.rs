//! Files of the user's that git does not know and that stand where a tree would put its own.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Repo;
use crate::error::Result;

impl Repo {
    /// Returns what stands in the way of the new files of a tree, where `now` is what the working tree holds: relative to the
    /// root, each once.
    pub fn standing_in_the_way(&self, now: &str, tree: &str) -> Result<Vec<PathBuf>> {
        let changed = self.differences(now, tree)?;
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let goes = changed.iter().filter(|one| one.old.is_some());
        let goes = goes.filter(|one| one.new.is_none());
        let going: HashSet<PathBuf> = goes.map(|one| path(&one.path)).collect();
        let comes = changed.iter().filter(|one| one.old.is_none());
        let mut found = Vec::new();
        for one in comes {
            if let Some(standing) = standing(&self.root, &path(&one.path), &going)
                && !found.contains(&standing)
            {
                found.push(standing);
            }
        }
        Ok(found)
    }
}

/// Returns what stands where a file is to come: something else than a folder on the way to it, itself, or a file below it.
fn standing(root: &Path, path: &Path, going: &HashSet<PathBuf>) -> Option<PathBuf> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.retain(|it| !it.as_os_str().is_empty());
    for folder in above.into_iter().rev() {
        match fs::symlink_metadata(root.join(folder)) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return (!going.contains(folder)).then(|| folder.to_owned()),
            Err(_) => return None,
        }
    }
    left_of(root, path, going)
}

/// Returns what of a file or folder is not among what goes.
fn left_of(root: &Path, path: &Path, going: &HashSet<PathBuf>) -> Option<PathBuf> {
    let meta = fs::symlink_metadata(root.join(path)).ok()?;
    if !meta.is_dir() {
        return (!going.contains(path)).then(|| path.to_owned());
    }
    let entries = fs::read_dir(root.join(path)).ok()?;
    let mut entries = entries.flatten();
    entries.find_map(|entry| left_of(root, &path.join(entry.file_name()), going))
}
