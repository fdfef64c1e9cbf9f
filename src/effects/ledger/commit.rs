//! Commits the ledger: what is in memory becomes a commit on its branch, and its files in the tree what was committed.

use std::collections::BTreeMap;

use super::{Ledger, anchor};
use crate::effects::files;
use crate::effects::repo::{Entry, Head, Repo};
use crate::effects::workspace::{LockedIndex, Workspace};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::ledger as names;
use crate::model::text;

/// How often a ledger commit is built again because somebody else committed in between.
const COMMIT_TRIES: usize = 20;

impl Ledger {
    /// Stores what was written since the last commit, and the queue as it is in memory, so that it can be had back whatever
    /// becomes of the files; returns the blobs' ids.
    pub fn stored(&self, repo: &Repo) -> Result<BTreeMap<String, String>> {
        let written = self.pending.iter();
        let mut stored = written
            .filter_map(|(name, bytes)| Some((name, bytes.as_ref()?)))
            .map(|(name, bytes)| Ok((name.clone(), repo.store(bytes)?)))
            .collect::<Result<BTreeMap<_, _>>>()?;
        let queue = self.queue.to_text();
        if !queue.is_empty() {
            let id = repo.store(&exact::encode_all(queue))?;
            stored.insert(names::QUEUE.to_owned(), id);
        }
        Ok(stored)
    }

    /// Commits the ledger on top of whatever HEAD's branch is at: that content, the ledger of `base` (the last commit
    /// whose ledger is `evolve`'s own), and what was written since. The index was locked before that was written. Returns the commit.
    pub fn commit(
        &mut self,
        workspace: &Workspace<'_>,
        index: LockedIndex,
        base: &str,
        message: &str,
    ) -> Result<String> {
        let repo = workspace.repo;
        let branch = match &self.branch {
            Some(branch) => branch.clone(),
            None => branch_of(repo)?,
        };
        let mut files: BTreeMap<String, Entry> = repo
            .ledger_files(&repo.tree_of(base)?)?
            .into_iter()
            .collect();
        for (name, bytes) in &self.pending {
            match bytes {
                Some(bytes) => {
                    let entry = Entry {
                        id: repo.store(bytes)?,
                        mode: 0o100_644,
                    };
                    files.insert(name.clone(), entry);
                }
                None => {
                    files.remove(name);
                }
            }
        }
        files.retain(|name, _| !names::is_private(name));
        let files: Vec<_> = files.into_iter().collect();
        if let Some(other) = repo.stands_for(&branch) {
            return Err(only_stands_for(&branch, &other));
        }
        for _ in 0..COMMIT_TRIES {
            let head = repo
                .resolve(&branch)?
                .ok_or_else(|| branch_is_gone(&branch))?;
            let head_tree = repo.tree_of(&head)?;
            let tree = repo.with_ledger(&head_tree, &files)?;
            if tree == head_tree {
                self.bring_along(workspace, index, &branch, &files)?;
                self.committed_at(repo, &head, tree)?;
                return Ok(head);
            }
            let commit = repo.store_commit(&tree, &head, message)?;
            let note = message.lines().next().unwrap_or_default();
            // An index that could not follow would take the ledger away with the user's next commit.
            workspace.refuse_other_locks(&branch)?;
            if repo.move_ref(&branch, &head, &commit, note)? {
                self.bring_along(workspace, index, &branch, &files)?;
                self.committed_at(repo, &commit, tree)?;
                return Ok(commit);
            }
        }
        Err(Error::internal(format!(
            "{branch} kept moving while the ledger was committed"
        )))
    }

    /// Makes the ledger's files in the working tree what was committed, or, where another branch is checked out by now, what
    /// that one has.
    fn bring_along(
        &self,
        workspace: &Workspace<'_>,
        index: LockedIndex,
        branch: &str,
        files: &[(String, Entry)],
    ) -> Result<()> {
        let repo = workspace.repo;
        let head = repo.head()?;
        if head.branch.as_deref() == Some(branch) {
            return workspace.sync_ledger(index, files);
        }
        let theirs = match &head.commit {
            Some(commit) => repo.ledger_files(&repo.tree_of(commit)?)?,
            None => Vec::new(),
        };
        for (name, bytes) in &self.pending {
            let path = self.root.join(name);
            let is_theirs = theirs.iter().any(|(known, _)| known == name);
            let is_as_written = || {
                let now = files::read_bounded(&path, names::most_bytes(name))
                    .ok()
                    .flatten();
                now.as_ref() == bytes.as_ref()
            };
            if !is_theirs && is_as_written() {
                files::remove(&path)?;
            }
        }
        workspace.sync_ledger(index, &theirs)
    }

    /// Notes that everything is in a commit.
    fn committed_at(&mut self, repo: &Repo, commit: &str, tree: String) -> Result<()> {
        self.pending.clear();
        self.is_joined = false;
        self.merged_queues.clear();
        self.tree = Some(tree);
        anchor::write(repo, commit)
    }
}

fn branch_is_gone(branch: &str) -> Error {
    let short = branch.trim_start_matches("refs/heads/");
    Error::unsafe_repo(format!("the branch {short} is gone")).hint(
        "run evolve again: the cycle is recorded on the branch that is checked out, if that goes on from it",
    )
}

/// The error of a branch that somebody made another name of one since the cycle began on it.
fn only_stands_for(branch: &str, other: &str) -> Error {
    let error = format!(
        "the branch {} is only another name of {} now, and nothing can be recorded there",
        exact::shown_branch(branch),
        exact::shown_branch(other)
    );
    Error::unsafe_repo(error).hint(format!(
        "make it a branch of its own again, and run evolve again: `git symbolic-ref --delete {0} && git update-ref {0} {1}`",
        text::shell_word(branch),
        text::shell_word(other)
    ))
}

fn branch_of(repo: &Repo) -> Result<String> {
    match repo.head()? {
        Head {
            branch: Some(branch),
            commit: Some(_),
        } => Ok(branch),
        _ => Err(Error::unsafe_repo(
            "HEAD no longer names a branch, so the ledger cannot be committed",
        )),
    }
}
