//! The goals that snapshots were taken of, looked for among the files of the commits that they were taken from.

use std::collections::HashMap;
use std::rc::Rc;

use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::digest;
use crate::model::goals::{self, Goals};

/// Where goals were found: the file's path, and what it says.
pub type Found = (String, Rc<Goals>);

/// Larger files are no goals files, in bytes.
const LARGEST: usize = 1 << 20;

/// Goals files that were read, by what they are asked for.
#[derive(Debug, Default)]
pub struct GoalsFiles {
    /// What a blob says.
    read: HashMap<String, Option<Rc<Goals>>>,
    /// What a blob says if its bytes, as a checkout may write them, have this digest.
    measured: HashMap<(String, String), Option<Rc<Goals>>>,
    /// Where a digest was found last.
    places: HashMap<String, String>,
}

impl GoalsFiles {
    /// Finds the file of a tree that has this digest: at its usual place, where it was found before, or anywhere.
    pub fn find(
        &mut self,
        repo: &Repo,
        tree: &str,
        usual: Option<&str>,
        digest: &str,
    ) -> Result<Option<Found>> {
        let before = self.places.get(digest).cloned();
        for path in usual.map(str::to_owned).into_iter().chain(before) {
            if let Some(id) = repo.file_id(tree, &path)?
                && let Some(goals) = self.as_measured(repo, id, digest)?
            {
                return Ok(Some((path, goals)));
            }
        }
        for (path, id) in repo.files_like_goals(tree)? {
            if let Some(goals) = self.as_measured(repo, id, digest)? {
                self.places.insert(digest.to_owned(), path.clone());
                return Ok(Some((path, goals)));
            }
        }
        Ok(None)
    }

    /// Returns what the goals file of a tree says, if there is one that can be read.
    pub fn at(&mut self, repo: &Repo, tree: &str, path: &str) -> Result<Option<Rc<Goals>>> {
        let Some(id) = repo.file_id(tree, path)? else {
            return Ok(None);
        };
        if let Some(known) = self.read.get(&id) {
            return Ok(known.clone());
        }
        let goals = read(&repo.blob(&id)?);
        self.read.insert(id, goals.clone());
        Ok(goals)
    }

    fn as_measured(&mut self, repo: &Repo, id: String, digest: &str) -> Result<Option<Rc<Goals>>> {
        let key = (id, digest.to_owned());
        if let Some(known) = self.measured.get(&key) {
            return Ok(known.clone());
        }
        let goals = match repo.blob_size(&key.0)? <= LARGEST {
            true => with_digest(repo.blob(&key.0)?, digest),
            false => None,
        };
        self.measured.insert(key, goals.clone());
        Ok(goals)
    }
}

fn read(bytes: &[u8]) -> Option<Rc<Goals>> {
    let (goals, _) = goals::read_goals("GOALS.yaml", bytes).ok()?;
    Some(Rc::new(goals))
}

/// Reads a blob's bytes if they have the digest, as they are or with the line ends that a checkout may give them.
fn with_digest(bytes: Vec<u8>, digest: &str) -> Option<Rc<Goals>> {
    if digest::full(&bytes) == digest {
        return read(&bytes);
    }
    let other = match String::from_utf8(bytes).ok()? {
        text if text.contains("\r\n") => text.replace("\r\n", "\n"),
        text => text.replace('\n', "\r\n"),
    };
    match digest::full(other.as_bytes()) == digest {
        true => read(other.as_bytes()),
        false => None,
    }
}
