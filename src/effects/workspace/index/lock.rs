//! The lock on git's index, as git has it, and the index that is made ready under it.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::effects::files;
use crate::effects::git::Git;
use crate::effects::repo::Repo;
use crate::effects::workspace::{Workspace, locks};
use crate::error::{Error, Result};

/// How long the lock of another git on the index is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Where in the git directory the index is made ready: there git may write in a sandbox, too.
const ASIDE: &str = "evolve-index";

/// The lock on the index, as git has it.
struct IndexLock(PathBuf);

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The user's index, locked: nobody else writes it or commits meanwhile. Git changes a copy, which takes its place at once.
pub struct LockedIndex {
    git: Git,
    index: PathBuf,
    copy: PathBuf,
    /// The copy until git has written it anew, open: else its number could be that of a later one.
    unchanged: Option<File>,
    _lock: IndexLock,
}

impl Workspace<'_> {
    /// Locks the index. One that another git does not let go of is an error (exit 3).
    pub fn lock_index(&self) -> Result<LockedIndex> {
        LockedIndex::take(self.repo)?.map_err(|held| locks::in_the_way(&held))
    }
}

impl LockedIndex {
    /// Takes the lock; the path of it where another git does not let go of it.
    pub(in crate::effects::workspace) fn take(
        repo: &Repo,
    ) -> Result<std::result::Result<LockedIndex, PathBuf>> {
        let git_dir = repo.git_dir();
        let path = git_dir.join("index.lock");
        let until = Instant::now() + PATIENCE;
        let lock = loop {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => break IndexLock(path),
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                    return Err(Error::io("create", &path, cause));
                }
                Err(_) if Instant::now() >= until => return Ok(Err(path)),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        let copy = git_dir.join(ASIDE);
        files::remove_all(&copy).map_err(|cause| Error::io("remove", &copy, cause))?;
        copy_index(repo, &copy)?;
        Ok(Ok(LockedIndex {
            git: repo.git.with_index(&copy),
            index: git_dir.join("index"),
            unchanged: files::open(&copy).ok(),
            copy,
            _lock: lock,
        }))
    }

    /// The git that reads and writes the copy.
    pub(in crate::effects::workspace) fn git(&self) -> &Git {
        &self.git
    }

    /// Where the copy lies.
    pub(in crate::effects::workspace) fn file(&self) -> &Path {
        &self.copy
    }

    /// Puts what git made of the index in its place, which stays locked.
    pub(in crate::effects::workspace) fn publish(&self) -> Result<()> {
        let unchanged = self.unchanged.as_ref().map(File::metadata);
        let unchanged = unchanged.and_then(|meta| meta.ok()).map(|meta| meta.ino());
        let now = fs::symlink_metadata(&self.copy).ok().map(|meta| meta.ino());
        if now == unchanged {
            return Ok(());
        }
        let moved = fs::rename(&self.copy, &self.index);
        let git_dir = self.index.parent().unwrap_or(&self.index);
        let synced = moved.and_then(|()| files::sync_folder(git_dir));
        synced.map_err(|cause| Error::io("write", &self.index, cause))
    }
}

impl Drop for LockedIndex {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.copy);
    }
}

/// Copies the index, if there is one, with its time: by that git tells which files may have been written to since.
pub(in crate::effects::workspace) fn copy_index(repo: &Repo, copy: &Path) -> Result<()> {
    let index = repo.git_dir().join("index");
    let copied = files::copy_unsynced(&index, copy).and_then(|()| {
        let modified = fs::metadata(&index)?.modified()?;
        files::open(copy)?.set_modified(modified)
    });
    match copied {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::io("copy", &index, cause)),
        _ => Ok(()),
    }
}
