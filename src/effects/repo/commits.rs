//! Commits: how one goes on from another, and making new ones.

use std::collections::BTreeSet;

use git2::{ObjectType, Sort};

use super::failure::{broken, oid, refused};
use super::{Commit, Repo};
use crate::error::{Error, Result};
use crate::model::{mask, text};

impl Repo {
    /// Returns the id of a commit's tree.
    pub fn tree_of(&self, commit: &str) -> Result<String> {
        Ok(self.commit(commit)?.tree_id().to_string())
    }

    pub(super) fn commit(&self, id: &str) -> Result<git2::Commit<'_>> {
        self.inner
            .find_commit(oid(id)?)
            .map_err(broken("read a commit"))
    }

    pub(super) fn tree(&self, id: &str) -> Result<git2::Tree<'_>> {
        self.inner
            .find_tree(oid(id)?)
            .map_err(broken("read a tree"))
    }

    /// Says whether `ancestor` is `commit` or an ancestor of it.
    pub fn descends(&self, commit: &str, ancestor: &str) -> Result<bool> {
        let (commit, ancestor) = (oid(commit)?, oid(ancestor)?);
        let descends = || self.inner.graph_descendant_of(commit, ancestor);
        Ok(commit == ancestor || descends().map_err(broken("compare commits"))?)
    }

    /// Returns the first line of a commit's message.
    pub fn subject(&self, commit: &str) -> Result<String> {
        let commit = self.inner.find_commit(oid(commit)?);
        let commit = commit.map_err(broken("read a commit"))?;
        let subject = commit.summary_bytes().unwrap_or_default();
        Ok(String::from_utf8_lossy(subject).into_owned())
    }

    /// Returns a commit's message.
    pub fn message(&self, commit: &str) -> Result<String> {
        let commit = self.inner.find_commit(oid(commit)?);
        let commit = commit.map_err(broken("read a commit"))?;
        Ok(String::from_utf8_lossy(commit.message_bytes()).into_owned())
    }

    /// Returns the commits of `tip` that `start` does not have, newest first, and at most `limit` of them.
    pub fn commits_since(&self, start: &str, tip: &str, limit: usize) -> Result<Vec<Commit>> {
        let what = "list commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(broken(what))?;
        walk.push(oid(tip)?).map_err(broken(what))?;
        walk.hide(oid(start)?).map_err(broken(what))?;
        let mut commits = Vec::new();
        for id in walk.take(limit) {
            let commit = self
                .inner
                .find_commit(id.map_err(broken(what))?)
                .map_err(broken(what))?;
            let subject = commit.summary_bytes().unwrap_or_default();
            commits.push(Commit {
                id: commit.id().to_string(),
                subject: String::from_utf8_lossy(subject).into_owned(),
            });
        }
        Ok(commits)
    }

    /// Returns the paths wanted that any commit of `tip` brought which `start` does not have, be it a merge or one that a later
    /// commit took back: a history that is published is published whole. Of one commit nothing is returned: its tree tells.
    pub fn brought_since(
        &self,
        start: &str,
        tip: &str,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<BTreeSet<Vec<u8>>> {
        let what = "list commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        walk.push(oid(tip)?).map_err(broken(what))?;
        walk.hide(oid(start)?).map_err(broken(what))?;
        let ids: Vec<_> = walk.collect::<Result<_, _>>().map_err(broken(what))?;
        let mut brought = BTreeSet::new();
        if ids.len() < 2 {
            return Ok(brought);
        }
        for id in ids {
            let commit = self.inner.find_commit(id).map_err(broken(what))?;
            let before: Vec<_> = commit.parents().map(|it| Some(it.tree_id())).collect();
            let before = if before.is_empty() {
                vec![None]
            } else {
                before
            };
            for tree in before {
                let mut found = Vec::new();
                match self.compare(&mut found, &[], tree, Some(commit.tree_id())) {
                    // What was fetched may lie elsewhere; what was made here is here.
                    Err(_) if self.is_partial() => continue,
                    compared => compared?,
                }
                let new = found.into_iter().filter(|it| it.old.is_none());
                brought.extend(new.map(|it| it.path).filter(|path| is_wanted(path)));
            }
        }
        Ok(brought)
    }

    /// Stores a commit without moving any ref. Its message may hold words of others: what a terminal would act on is left
    /// out, and what looks like a secret is masked.
    pub fn store_commit(&self, tree: &str, parent: &str, message: &str) -> Result<String> {
        let tree = self.tree(tree)?;
        if tree.is_empty() {
            // Git knows the empty tree without storing it, and misses it all the same when it checks its objects.
            let empty = self.inner.treebuilder(None).and_then(|tree| tree.write());
            empty.map_err(self.cannot("store a tree"))?;
        }
        let parent = self.commit(parent)?;
        self.write_commit(&tree, &[&parent], message)
    }

    pub(super) fn write_commit(
        &self,
        tree: &git2::Tree<'_>,
        parents: &[&git2::Commit<'_>],
        message: &str,
    ) -> Result<String> {
        let message = mask::secrets(&text::clean(message));
        let [author, committer] = self.signatures()?;
        let text = self
            .inner
            .commit_create_buffer(&author, &committer, &message, tree, parents)
            .map_err(broken("make a commit"))?;
        // Not `Repository::commit`: where the disk is full that returns the id of nothing, and no error.
        let odb = self.inner.odb();
        let stored = odb.and_then(|odb| twice(|| odb.write(ObjectType::Commit, &text)));
        let id = stored.map_err(self.cannot("store a commit"))?;
        // With it, what was stored for it.
        self.share_objects();
        Ok(id.to_string())
    }

    /// Turns a failure to write into an error that says what was tried, and where.
    pub(super) fn cannot(&self, what: &str) -> impl Fn(git2::Error) -> Error {
        let what = format!("{what} in {}", self.inner.path().display());
        move |cause| refused(&what, &cause)
    }
}

/// Stores something, once more where that failed: somebody's git may have removed a folder of objects that had become empty.
pub(super) fn twice<T>(
    mut store: impl FnMut() -> std::result::Result<T, git2::Error>,
) -> std::result::Result<T, git2::Error> {
    store().or_else(|_| store())
}
