//! Lock files of git: those that another git holds, and those that dead processes left.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::index::lock::in_the_way;
use super::{Start, Workspace};
use crate::effects::{files, proc_table};
use crate::error::{Error, Result};

/// How long a lock file of git is waited for before it counts as left behind.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);

impl Workspace<'_> {
    /// Removes lock files that dead processes of the cycle left: of the index, of any ref, of whatever git writes. One that
    /// is older than the cycle is not ours, and none is ours while a git is at work here.
    pub fn clear_locks(&self, start: &Start) -> Result<Vec<String>> {
        self.clear_locks_of(&[&start.branch, &start.work_ref()], start.since)
    }

    /// The same for whoever began at a moment, in seconds since 1970, and writes these refs.
    pub fn clear_locks_of(&self, refs: &[&str], since: i64) -> Result<Vec<String>> {
        self.remove_own_lock()?;
        let mut locks = self.locks_of(&[&["HEAD"], refs].concat());
        let is_new = |lock: &PathBuf| !is_older(lock, since) && !locks.contains(lock);
        let others: Vec<_> = all_locks(self.repo.git_dir(), &self.repo.common_path(""))
            .into_iter()
            .filter(is_new)
            .collect();
        locks.extend(others);
        let left = lasting(locks);
        let mut removed = Vec::new();
        for lock in left {
            if is_older(&lock, since) || self.is_git_at_work() {
                return Err(in_the_way(&lock));
            }
            files::remove(&lock)?;
            removed.push(format!(
                "removed a lock that was left behind: {}",
                lock.display()
            ));
        }
        Ok(removed)
    }

    /// Says whether a git is at work in any working tree of the repository: they share refs and objects.
    fn is_git_at_work(&self) -> bool {
        let mut trees = self.repo.working_trees();
        trees.any(|tree| proc_table::works_in("git", &tree))
    }

    /// Refuses a repository in which another git is at work, or was left: the agent's and our own would fail (exit 3).
    pub fn refuse_locks(&self, branch: &str) -> Result<()> {
        self.refuse_rebase(branch)?;
        let locks = self.lasting_locks(&["HEAD", branch]);
        locks.first().map_or(Ok(()), |lock| Err(in_the_way(lock)))
    }

    /// The same while the index is locked by this process.
    pub fn refuse_other_locks(&self, branch: &str) -> Result<()> {
        self.refuse_rebase(branch)?;
        let locks = lasting(self.locks_of_refs(&["HEAD", branch]));
        locks.first().map_or(Ok(()), |lock| Err(in_the_way(lock)))
    }

    fn refuse_rebase(&self, branch: &str) -> Result<()> {
        let rebase = self.rebase_of(branch);
        rebase.map_or(Ok(()), |rebase| {
            Err(Error::unsafe_repo(rebase).hint(
                "finish it with `git rebase --continue`, or end it with `git rebase --abort`, then run evolve again: it goes on where it stopped",
            ))
        })
    }

    /// Says in words which other git holds the index, HEAD or a branch just now, if one does.
    pub fn held_by(&self, branch: &str) -> Option<String> {
        let mut locks = self.locks_of(&["HEAD", branch]).into_iter();
        let held = locks.find(|lock| fs::symlink_metadata(lock).is_ok());
        let lock = held.map(|lock| {
            let common = self.repo.common_path("");
            let below = [self.repo.git_dir(), &common].map(|folder| lock.strip_prefix(folder).ok());
            let shown = below.into_iter().flatten().next().unwrap_or(&lock);
            format!(
                "another git is at work here, as its {} says",
                shown.display()
            )
        });
        self.awaited(branch).or(lock)
    }

    /// Says in words which work of a person's on a branch is in progress here that no lock tells of: a rebase, or a commit whose
    /// message is still written. Git holds the index meanwhile only where it commits more than what was staged.
    pub(super) fn awaited(&self, branch: &str) -> Option<String> {
        let is_committing = || proc_table::runs_git("commit", &self.repo.root);
        let commit = || is_committing().then(|| "somebody writes a commit here".to_owned());
        self.rebase_of(branch).or_else(commit)
    }

    /// Names a rebase of a branch that is in progress here.
    fn rebase_of(&self, branch: &str) -> Option<String> {
        let name = branch.trim_start_matches("refs/heads/");
        let is_rebased = self.repo.is_rebased(branch);
        is_rebased.then(|| format!("a rebase of {name} is in progress here"))
    }

    /// Returns the lock files of the index and of these refs that do not go away.
    pub(super) fn lasting_locks(&self, refs: &[&str]) -> Vec<PathBuf> {
        lasting(self.locks_of(refs))
    }

    /// Returns the lock files that the index and these refs have while they are written.
    fn locks_of(&self, refs: &[&str]) -> Vec<PathBuf> {
        let mut locks = vec![self.repo.git_dir().join("index.lock")];
        locks.extend(self.locks_of_refs(refs));
        locks
    }

    fn locks_of_refs(&self, refs: &[&str]) -> Vec<PathBuf> {
        let lock = |name: &&str| match *name {
            "HEAD" => self.repo.git_dir().join("HEAD.lock"),
            name => self.repo.common_path(&format!("{name}.lock")),
        };
        refs.iter().map(lock).collect()
    }
}

/// Returns every lock file that is there in the places of a repository where git makes any, but for those that only the main
/// working tree has where this is a linked one.
pub(super) fn all_locks(git_dir: &Path, common: &Path) -> Vec<PathBuf> {
    let mut folders = vec![git_dir.to_owned()];
    folders.extend(["", "info", "objects/info", "objects/pack"].map(|name| common.join(name)));
    let mut deep = vec![common.join("refs")];
    let mut found = Vec::new();
    let is_of_main = |folder: &Path, name: &OsStr| {
        let bytes = name.as_bytes();
        // As in `HEAD.lock` and `MERGE_HEAD.lock`.
        let is_of_tree =
            bytes == b"index.lock" || bytes.first().is_some_and(u8::is_ascii_uppercase);
        folder == common && common != git_dir && is_of_tree
    };
    while let Some((folder, is_deep)) = folders
        .pop()
        .map(|folder| (folder, false))
        .or_else(|| deep.pop().map(|folder| (folder, true)))
    {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(_) if is_of_main(&folder, &entry.file_name()) => {}
                Ok(kind) if kind.is_dir() && is_deep => deep.push(path),
                Ok(kind) if kind.is_file() && path.extension() == Some(OsStr::new("lock")) => {
                    found.push(path);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the lock files that do not go away.
pub fn lasting(mut locks: Vec<PathBuf>) -> Vec<PathBuf> {
    let began = Instant::now();
    loop {
        locks.retain(|lock| fs::symlink_metadata(lock).is_ok());
        if locks.is_empty() || began.elapsed() > LOCK_PATIENCE {
            return locks;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Says whether a file was written before this moment, in seconds since 1970.
pub(super) fn is_older(file: &Path, since: i64) -> bool {
    let modified = fs::symlink_metadata(file).and_then(|meta| meta.modified());
    let modified = modified.unwrap_or(SystemTime::now());
    let age = modified.duration_since(UNIX_EPOCH);
    let seconds = age.map_or(0, |age| age.as_secs());
    i64::try_from(seconds).unwrap_or(0) + 1 < since
}
