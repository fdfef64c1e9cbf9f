//! What an index file stages that nothing else holds: where the index is replaced, that is lost with it.

use std::collections::HashSet;
use std::path::Path;

use git2::{Index, IndexEntry};

use super::{Entry, Repo, SUBMODULE};
use crate::error::Result;

/// Where the stage of an entry stands in its flags.
const STAGE: (u16, u16) = (12, 0b11);

impl Repo {
    /// Returns the files that an index has in versions which neither another index nor any of these commits has. An index that
    /// cannot be read has none.
    pub fn staged_alone(
        &self,
        index: &Path,
        other: &Path,
        commits: &[&str],
    ) -> Result<Vec<(Vec<u8>, Entry)>> {
        let read = |file: &Path| -> Vec<IndexEntry> {
            let index = Index::open(file).ok();
            index.map_or_else(Vec::new, |index| index.iter().collect())
        };
        let mut staged = read(index);
        let elsewhere: HashSet<_> = read(other).iter().map(|entry| entry.id).collect();
        staged.retain(|entry| entry.mode != SUBMODULE && !elsewhere.contains(&entry.id));
        if staged.is_empty() {
            return Ok(Vec::new());
        }
        let mut committed = HashSet::new();
        for commit in commits {
            committed.extend(self.files_of(commit)?.into_iter().map(|(_, file)| file.id));
        }
        let mut alone = Vec::new();
        for entry in staged {
            let id = entry.id.to_string();
            if committed.contains(&id) || !self.find_object(&id)? {
                continue;
            }
            let mut path = entry.path;
            let stage = entry.flags >> STAGE.0 & STAGE.1;
            if stage > 0 {
                // The sides of a conflict, which have the same path.
                path.extend(format!(".stage-{stage}").bytes());
            }
            let mode = entry.mode;
            alone.push((path, Entry { id, mode }));
        }
        Ok(alone)
    }
}
