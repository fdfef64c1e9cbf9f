//! What the index says is in the working tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use git2::{Index, IndexEntry};

use super::{Entry, Repo, SUBMODULE};
use crate::error::Result;

/// The folders of a working tree that hold something of git's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// Each folder in which there is a tracked file, or a folder with one, but the root.
    pub folders: BTreeSet<Vec<u8>>,
    /// Each submodule.
    pub modules: Vec<Vec<u8>>,
}

/// One entry of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// Its path.
    pub path: Vec<u8>,
    /// What it holds.
    pub entry: Entry,
    /// It is no side of a conflict.
    pub is_merged: bool,
}

/// The most bytes of an index that is read here: libgit2 takes longer to add up the digest of a larger one than git's own process
/// does for all.
const SMALL: u64 = 1 << 20;
/// The bits of an entry's flags that say which side of a conflict it is.
const STAGE: u16 = 0x3000;

impl Repo {
    /// Lists the folders in which the index has something.
    pub fn tracked_folders(&self) -> Result<Tracked> {
        let index = self.inner.index().map_err(self.cannot("read the index"))?;
        let mut tracked = Tracked::default();
        for entry in index.iter() {
            if entry.mode == SUBMODULE {
                tracked.modules.push(entry.path.clone());
            }
            let mut path = &entry.path[..];
            while let Some(end) = path.iter().rposition(|byte| *byte == b'/') {
                path = &path[..end];
                // What is above a folder came with it.
                if tracked.folders.contains(path) {
                    break;
                }
                tracked.folders.insert(path.to_vec());
            }
        }
        Ok(tracked)
    }

    /// Returns the entries of the index at or below these paths, as `indexed_in` does.
    pub fn indexed_below(&self, places: &[&str]) -> Option<Vec<Indexed>> {
        indexed_in(&self.git_dir().join("index"), places)
    }
}

/// Returns the entries of an index at or below these paths, as the file has them by now; nothing where git itself is to be asked: of a
/// large index, or of one that libgit2 cannot read.
pub fn indexed_in(file: &Path, places: &[&str]) -> Option<Vec<Indexed>> {
    let meta = fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > SMALL {
        return None;
    }
    let index = Index::open(file).ok()?;
    let is_below = |entry: &IndexEntry| {
        let within = |place: &&str| {
            let rest = entry.path.strip_prefix(place.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        };
        places.iter().any(within)
    };
    let read = |entry: IndexEntry| Indexed {
        entry: Entry {
            id: entry.id.to_string(),
            mode: entry.mode,
        },
        is_merged: entry.flags & STAGE == 0,
        path: entry.path,
    };
    Some(index.iter().filter(is_below).map(read).collect())
}
