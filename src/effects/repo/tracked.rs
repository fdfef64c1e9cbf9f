//! What the index says is in the working tree.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use git2::Oid;

use super::failure::broken;
use super::{Entry, Repo, SUBMODULE};
use crate::effects::files::{self, Moment};
use crate::effects::git::{Listed, each_indexed, is_index, listing};
use crate::error::{Error, INDEX_WAY_OUT, Result};
use crate::model::text;

/// Has git list an index as `Repo::listing` does.
pub const LISTING: [&str; 4] = ["ls-files", "-v", "--stage", "-z"];

/// Returns the path in a line of such a list, and whether it is a submodule's.
pub fn listed_in(line: &[u8]) -> Option<(&[u8], bool)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    Some((&line[tab + 1..], line[1..].starts_with(b" 160000 ")))
}

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

/// An index as it was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When that was.
    pub written: Moment,
}

/// The most bytes of an index that is read here.
const LARGEST: u64 = 1 << 30;

impl Tracked {
    fn note(&mut self, path: &[u8], is_module: bool) {
        if is_module {
            self.modules.push(path.to_vec());
        }
        let mut path = path;
        while let Some(end) = path.iter().rposition(|byte| *byte == b'/') {
            path = &path[..end];
            // What is above a folder came with it.
            if self.folders.contains(path) {
                break;
            }
            self.folders.insert(path.to_vec());
        }
    }
}

impl Repo {
    /// Lists the folders in which the index has something.
    pub fn tracked_folders(&self) -> Result<Tracked> {
        let mut tracked = Tracked::default();
        let note = |one: &Listed<'_>| tracked.note(one.path, one.mode == SUBMODULE);
        let bytes = read(&self.git_dir().join("index"));
        if bytes.and_then(|bytes| each_indexed(&bytes, note)).is_some() {
            return Ok(tracked);
        }
        // A split or a sparse one git itself has to read.
        let listed = self.git.run(&LISTING)?;
        let mut tracked = Tracked::default();
        let lines = listed.split(|byte| *byte == 0);
        for (path, is_module) in lines.filter_map(listed_in) {
            tracked.note(path, is_module);
        }
        Ok(tracked)
    }

    /// Refuses a repository that is damaged where every cycle looks: in its index, or in what HEAD has. To be called when no
    /// cycle waits to be settled, as that puts right what an agent did.
    pub fn refuse_damaged(&self) -> Result<()> {
        self.refuse_broken_index()?;
        let Some(commit) = self.head()?.commit else {
            return Ok(());
        };
        self.tree(&self.tree_of(&commit)?)?;
        self.refuse_lacking(&commit)?;
        // A shallow clone lacks parents rightly.
        if !self.inner.is_shallow() {
            let commit = self.commit(&commit)?;
            for number in 0..commit.parent_count() {
                let parent = commit.parent(number);
                parent.map_err(broken("read the parent of HEAD"))?;
            }
        }
        Ok(())
    }

    /// Refuses an index that is none: neither git nor `evolve` could tell a change by it.
    fn refuse_broken_index(&self) -> Result<()> {
        let file = self.git_dir().join("index");
        match files::read_bounded(&file, LARGEST)? {
            Some(bytes) if !is_index(&bytes) => Err(Error::unsafe_repo(format!(
                "{} is no whole index of git's ({})",
                file.display(),
                text::count(bytes.len(), "byte")
            ))
            .hint(INDEX_WAY_OUT)),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the entries of the index at or below these paths, as `indexed_in` does.
    pub fn indexed_below(&self, places: &[&str]) -> Option<Vec<Indexed>> {
        indexed_in(&self.git_dir().join("index"), places)
    }

    /// Returns the index as it is by now; nothing where git itself is to say what becomes of it.
    pub fn index(&self) -> Option<Written> {
        let file = self.git_dir().join("index");
        let stamp = || {
            let meta = fs::metadata(&file).ok()?;
            Some((meta.ino(), (meta.mtime(), meta.mtime_nsec())))
        };
        let before = stamp()?;
        let bytes = read(&file)?;
        let written = before.1;
        (stamp() == Some(before)).then_some(Written { bytes, written })
    }

    /// Says whether libgit2 takes longer to read the index than git's own process does for all: it adds up its digest.
    pub(super) fn has_large_index(&self) -> bool {
        const LARGE: u64 = 1 << 20;
        let meta = fs::metadata(self.git_dir().join("index"));
        meta.is_ok_and(|meta| meta.len() > LARGE)
    }

    /// Lists the index as it is by now, as in `H 100644 <id> 0<tab>path`, each ended by a NUL: a small letter is assume-unchanged, an S
    /// skip-worktree, an M a side of a conflict.
    pub fn listing(&self) -> Result<Vec<u8>> {
        self.listing_of(read(&self.git_dir().join("index")).as_deref())
    }

    /// Does the same of an index whose bytes are known.
    pub fn listing_of(&self, index: Option<&[u8]>) -> Result<Vec<u8>> {
        match index.and_then(listing) {
            Some(listed) => Ok(listed),
            None => self.git.run(&LISTING),
        }
    }
}

/// Returns the entries of an index at or below these paths, as the file has them by now; nothing where git itself is to be asked.
pub fn indexed_in(file: &Path, places: &[&str]) -> Option<Vec<Indexed>> {
    let is_below = |path: &[u8]| {
        let within = |place: &&str| {
            let rest = path.strip_prefix(place.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        };
        places.iter().any(within)
    };
    let mut found = Vec::new();
    each_indexed(&read(file)?, |one| {
        if is_below(one.path)
            && let Ok(id) = Oid::from_bytes(one.id)
        {
            found.push(Indexed {
                path: one.path.to_vec(),
                entry: Entry {
                    id: id.to_string(),
                    mode: one.mode,
                },
                is_merged: one.stage == 0,
            });
        }
    })?;
    Some(found)
}

/// Reads an index; nothing where git itself is to say what becomes of it.
fn read(file: &Path) -> Option<Vec<u8>> {
    files::read_followed(file, LARGEST).ok()?
}
