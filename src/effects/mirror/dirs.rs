//! What a copy has the parts of: git directories, and the private parts of working trees.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The private part of a working tree, and its copy.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What git calls it: `main-worktree` or `worktrees/<id>`.
    pub name: String,
    /// The folder in the git directory.
    pub live: PathBuf,
    /// Its copy.
    pub copy: PathBuf,
    /// Its name for people.
    pub shown: String,
    /// The path of the folder for people.
    pub path: PathBuf,
}

/// A git directory and its copy.
#[derive(Debug)]
pub struct MirroredDir {
    /// Where it is in use.
    pub live: PathBuf,
    /// Its copy.
    pub copy: PathBuf,
    /// Its path below the one that was copied as a whole.
    pub below: PathBuf,
    /// Its path for people.
    pub shown: PathBuf,
    /// Where that copy and its notes lie.
    pub folder: PathBuf,
}

impl MirroredDir {
    /// Says whether no part of the path below the one that was copied as a whole leads elsewhere.
    pub fn is_in_place(&self) -> bool {
        let depth = self.below.components().count();
        let way = self.live.ancestors().take(depth);
        way.into_iter()
            .all(|it| fs::symlink_metadata(it).is_ok_and(|meta| meta.is_dir()))
    }

    /// Returns the name by which a path below this git directory is noted.
    pub fn name_of(&self, path: &Path) -> String {
        self.below.join(path).to_string_lossy().into_owned()
    }

    /// Returns the bytes of a path below this git directory, as it is called for people.
    pub fn bytes_of(&self, path: &Path) -> Vec<u8> {
        self.shown.join(path).into_os_string().into_vec()
    }

    /// Returns a path below this git directory, for people.
    pub fn shown(&self, path: &Path) -> String {
        let whole = self.shown.join(path);
        whole.display().to_string().trim_end_matches('/').to_owned()
    }
}
