//! What the index says is in the working tree.

use std::collections::BTreeSet;

use super::{Repo, SUBMODULE};
use crate::error::Result;

/// The folders of a working tree that hold something of git's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// Each folder in which there is a tracked file, or a folder with one, but the root.
    pub folders: BTreeSet<Vec<u8>>,
    /// Each submodule.
    pub modules: Vec<Vec<u8>>,
}

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
}
