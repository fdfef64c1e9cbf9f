//! Untracked files of the user's that an agent's change made git ignore: they are no build outputs, and copied as before.

use std::collections::BTreeSet;

use super::copy::{Copy, Output};
use super::{Kept, from_hex, slashes, to_hex};

impl Kept {
    /// Returns the files with a copy that no check builds, and the folders with a repository of their own, that are among these ignored ones or lie in
    /// an ignored folder.
    pub fn among(&self, ignored: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
        let is_ignored = |path: &Vec<u8>| {
            ignored.contains(path)
                || slashes(path).any(|(index, _)| ignored.contains(&path[..=index]))
        };
        let is_users = |entry: &Copy| entry.is_kept() && entry.output != Some(Output::Built);
        let has_copy = |path: &Vec<u8>| {
            let entry = self.untracked.get(&to_hex(path));
            path.ends_with(b"/") || entry.is_some_and(is_users)
        };
        let paths = self.listed_paths();
        paths
            .filter(|path| has_copy(path) && is_ignored(path))
            .collect()
    }

    /// Returns the ignored files and folders.
    pub fn ignored_paths(&self) -> BTreeSet<Vec<u8>> {
        self.ignored.iter().map(|name| from_hex(name)).collect()
    }
}
