//! Whether what a ref leads to is there in whole: an agent can damage or remove the objects that it has made, and write
//! anything into HEAD and refs.

use std::collections::HashSet;

use git2::{ErrorCode, Oid};

use super::failure::{broken, oid};
use super::{Repo, SUBMODULE};
use crate::error::{Error, Result};

/// The largest object that is read to see whether it is whole; of a larger one it is seen that it is there.
const READ_LIMIT: usize = 64 << 20;

/// What a ref leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: there is no such ref, or HEAD is on a branch without a commit.
    Nowhere,
    /// A commit that is there with all that came with it.
    Whole(String),
    /// Nothing that git could read.
    Broken,
}

impl Repo {
    /// Says what a ref leads to. Of what `since` has nothing is read.
    pub fn standing(&self, name: &str, since: &str) -> Result<Standing> {
        let is_head = name == "HEAD";
        let found = match self.inner.find_reference(name) {
            Ok(found) => found,
            Err(cause) if cause.code() == ErrorCode::NotFound && !is_head => {
                return Ok(Standing::Nowhere);
            }
            Err(cause) => return broken_unless_machine(broken("read a ref")(cause)),
        };
        let leads_to = found.symbolic_target_bytes();
        if leads_to.is_some_and(|target| !target.starts_with(b"refs/")) {
            return Ok(Standing::Broken);
        }
        match found.peel_to_commit() {
            Ok(commit) => {
                let commit = commit.id().to_string();
                Ok(match self.is_whole(&commit, since)? {
                    true => Standing::Whole(commit),
                    false => Standing::Broken,
                })
            }
            Err(_) if is_head && self.is_unborn() => Ok(Standing::Nowhere),
            Err(cause) => broken_unless_machine(broken("read a ref")(cause)),
        }
    }

    fn is_unborn(&self) -> bool {
        let head = self.inner.head();
        head.is_err_and(|cause| cause.code() == ErrorCode::UnbornBranch)
    }

    /// Says whether an object is there and a commit.
    pub fn is_commit(&self, id: &str) -> bool {
        oid(id).is_ok_and(|id| self.inner.find_commit(id).is_ok())
    }

    /// Says whether a commit is there with all that it and those before it brought that `since` does not have.
    pub fn is_whole(&self, commit: &str, since: &str) -> Result<bool> {
        is_read(self.read_new(commit, since))
    }

    fn read_new(&self, commit: &str, since: &str) -> Result<()> {
        let what = "read new commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        walk.push(oid(commit)?).map_err(broken(what))?;
        walk.hide(oid(since)?).map_err(broken(what))?;
        let is_partial = self.is_partial();
        let mut known = HashSet::new();
        for id in walk {
            let commit = self.inner.find_commit(id.map_err(broken(what))?);
            let commit = commit.map_err(broken(what))?;
            if is_partial {
                // Its trees and files may lie elsewhere.
                continue;
            }
            let before = commit.parent(0).ok().map(|parent| parent.tree_id());
            self.read_changed(before, commit.tree_id(), &mut known)?;
        }
        Ok(())
    }

    /// Reads what one tree has that another has not, but for what is known.
    fn read_changed(
        &self,
        before: Option<Oid>,
        tree: Oid,
        known: &mut HashSet<String>,
    ) -> Result<()> {
        let mut found = Vec::new();
        self.compare(&mut found, &[], before, Some(tree))?;
        for difference in found {
            let new = difference.new.filter(|new| new.mode != SUBMODULE);
            if let Some(new) = new
                && known.insert(new.id.clone())
            {
                self.read_object(oid(&new.id)?)?;
            }
        }
        Ok(())
    }

    /// Returns an error unless all is there that a tree has and another has not.
    pub fn require_whole(&self, tree: &str, before: &str) -> Result<()> {
        match self.is_partial() {
            true => Ok(()),
            false => self.read_changed(Some(oid(before)?), oid(tree)?, &mut HashSet::new()),
        }
    }

    fn read_object(&self, id: Oid) -> Result<()> {
        let what = "read an object";
        let odb = self.inner.odb().map_err(broken(what))?;
        let (length, _) = odb.read_header(id).map_err(broken(what))?;
        if length <= READ_LIMIT {
            odb.read(id).map_err(broken(what))?;
        }
        Ok(())
    }
}

fn is_read(read: Result<()>) -> Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(cause) if cause.is_of_machine() => Err(cause),
        Err(_) => Ok(false),
    }
}

fn broken_unless_machine(cause: Error) -> Result<Standing> {
    match cause.is_of_machine() {
        true => Err(cause),
        false => Ok(Standing::Broken),
    }
}
