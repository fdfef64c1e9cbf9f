//! Taking a change back in memory: which tree there would be without it, and whose later commits stand in the way.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::{AttrCheckFlags, FileFavor, Index, MergeOptions};

use super::failure::{broken, oid};
use super::{Commit, Entry, Repo};
use crate::effects::changed::Changed;
use crate::error::Result;

/// How many later commits are looked at.
const LATER: usize = 5_000;

/// What taking a change back comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Without {
    /// The tree without the change.
    Tree(String),
    /// Nothing of the change is left.
    Nothing,
    /// These paths were changed again since, by these commits, newest first.
    Changed(Vec<String>, Vec<Commit>),
}

impl Repo {
    /// Says what the tree of `now` would be without a change. Nothing but objects is written, and the ledger stays as it is.
    pub fn without(&self, now: &str, change: &Changed) -> Result<Without> {
        let tree = self.tree_of(now)?;
        let sides = self.sides(&tree, change)?;
        let mut index = self.merged(&sides.to, &tree, &sides.from, None)?;
        let mut paths = paths_of(&index)?;
        paths.extend(self.unions(&sides, &tree)?);
        if !paths.is_empty() {
            let commits = self.in_the_way(now, change, &paths)?;
            return Ok(Without::Changed(paths, commits));
        }
        let without = self.write_tree(&mut index)?;
        Ok(match without == tree {
            true => Without::Nothing,
            false => Without::Tree(without),
        })
    }

    /// Stores what an index holds as a tree; of a partial clone, also where what it names is elsewhere.
    fn write_tree(&self, index: &mut Index) -> Result<String> {
        if self.is_partial() {
            git2::opts::strict_object_creation(false);
        }
        let tree = index.write_tree_to(&self.inner);
        Ok(tree.map_err(broken("store a tree"))?.to_string())
    }

    /// Returns the paths that the change and somebody after it changed, and of which git would keep both sides' lines
    /// (`merge=union`) where they are the same.
    fn unions(&self, sides: &Changed, tree: &str) -> Result<Vec<String>> {
        let later = self.differences(&sides.to, tree)?;
        let later: HashSet<Vec<u8>> = later.into_iter().map(|one| one.path).collect();
        let changed = self.differences(&sides.from, &sides.to)?;
        let both = changed.into_iter().filter(|one| later.contains(&one.path));
        let is_union = |path: &[u8]| {
            let path = Path::new(OsStr::from_bytes(path));
            let flags = AttrCheckFlags::FILE_THEN_INDEX;
            let driver = self.inner.get_attr_bytes(path, "merge", flags);
            driver.is_ok_and(|driver| driver == Some(b"union".as_slice()))
        };
        let unions = both.filter(|one| is_union(&one.path));
        Ok(unions
            .map(|one| String::from_utf8_lossy(&one.path).into_owned())
            .collect())
    }

    /// Says whether a tree has another commit of a submodule than a commit has.
    pub fn changes_submodule(&self, commit: &str, tree: &str) -> Result<bool> {
        let changed = self.differences(&self.tree_of(commit)?, tree)?;
        let is_module =
            |entry: &Option<Entry>| entry.as_ref().is_some_and(|it| it.mode == 0o160_000);
        Ok(changed
            .iter()
            .any(|one| is_module(&one.old) || is_module(&one.new)))
    }

    /// Returns the later commits that changed what the change changed.
    fn in_the_way(&self, now: &str, change: &Changed, paths: &[String]) -> Result<Vec<Commit>> {
        let mut found = Vec::new();
        for commit in self.commits_since(&change.to, now, LATER)? {
            if self.is_in_the_way(&commit.id, change, paths)? {
                found.push(commit);
            }
        }
        Ok(found)
    }

    /// Says whether a commit changed lines that the change, as far as it was left then, had changed.
    fn is_in_the_way(&self, commit: &str, change: &Changed, paths: &[String]) -> Result<bool> {
        let (tree, parents) = (self.tree_of(commit)?, self.parents_of(commit)?);
        let [parent] = parents.as_slice() else {
            return Ok(false);
        };
        let before = self.tree_of(parent)?;
        let touched = self.differences(&before, &tree)?;
        let is_one = |path: &[u8]| paths.iter().any(|one| one.as_bytes() == path);
        if !touched.iter().any(|one| is_one(&one.path)) {
            return Ok(false);
        }
        let sides = self.sides(&before, change)?;
        let mut without = self.merged(&sides.to, &before, &sides.from, Some(FileFavor::Ours))?;
        if without.has_conflicts() {
            return Ok(true);
        }
        let without = self.write_tree(&mut without)?;
        let ledger = self.ledger_files(&before)?;
        let tree = self.with_ledger(&tree, &ledger)?;
        Ok(self.merged(&before, &tree, &without, None)?.has_conflicts())
    }

    /// Returns both ends of a change with the ledger that a tree has, so that it is no part of the change.
    fn sides(&self, tree: &str, change: &Changed) -> Result<Changed> {
        let ledger = self.ledger_files(tree)?;
        let with_ledger = |commit: &str| self.with_ledger(&self.tree_of(commit)?, &ledger);
        Ok(Changed {
            from: with_ledger(&change.from)?,
            to: with_ledger(&change.to)?,
        })
    }

    /// Brings three trees together: what both sides have in common, this side, and the other.
    fn merged(
        &self,
        base: &str,
        ours: &str,
        theirs: &str,
        favor: Option<FileFavor>,
    ) -> Result<Index> {
        let mut options = MergeOptions::new();
        if let Some(favor) = favor {
            options.file_favor(favor);
        }
        let (base, ours, theirs) = (self.tree(base)?, self.tree(ours)?, self.tree(theirs)?);
        self.inner
            .merge_trees(&base, &ours, &theirs, Some(&options))
            .map_err(broken("bring trees together"))
    }

    /// Returns the parents of a commit.
    pub fn parents_of(&self, commit: &str) -> Result<Vec<String>> {
        let commit = self.inner.find_commit(oid(commit)?);
        let commit = commit.map_err(broken("read a commit"))?;
        Ok(commit.parent_ids().map(|id| id.to_string()).collect())
    }
}

fn paths_of(index: &Index) -> Result<Vec<String>> {
    let conflicts = index.conflicts().map_err(broken("read what conflicts"))?;
    let path = |one: git2::IndexConflict| {
        let entry = one.our.or(one.their).or(one.ancestor)?;
        Some(String::from_utf8_lossy(&entry.path).into_owned())
    };
    let mut paths: Vec<String> = conflicts.flatten().filter_map(path).collect();
    paths.dedup();
    Ok(paths)
}
