//! What changed between two trees, for people. Pure.

use serde::Serialize;

/// What changed in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Its path; of one that was moved also the earlier one, as in `old → new`.
    pub path: String,
    /// How many lines came.
    pub added: usize,
    /// How many lines went.
    pub removed: usize,
    /// It is no text, so that no lines are counted.
    #[serde(rename = "binary")]
    pub is_binary: bool,
}

/// What changed, file by file, and as a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The files, in git's order.
    pub files: Vec<FileChange>,
    /// The patch, as far as it was asked for.
    pub text: String,
    /// The patch is longer than what is shown of one.
    pub is_cut: bool,
}

impl Patch {
    /// Returns how many lines came and went in all.
    pub fn lines(&self) -> (usize, usize) {
        let sum = |of: fn(&FileChange) -> usize| self.files.iter().map(of).sum();
        (sum(|file| file.added), sum(|file| file.removed))
    }
}
