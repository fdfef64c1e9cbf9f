//! The lock on git's index, as git has it, and the index that is made ready under it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::effects::files;
use crate::effects::git::Git;
use crate::effects::repo::Repo;
use crate::effects::stop::Uncut;
use crate::effects::workspace::Workspace;
use crate::error::{Error, Result};

/// How long the lock of another git on the index is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the index is made anew because somebody removed the lock.
const TRIES: usize = 5;
/// What `evolve`'s own lock holds.
const MARK: &[u8] = b"evolve\n";
/// What is made ready is called beside the index, in the git directory: there git may write in a sandbox, too.
const ASIDE: &str = "evolve-index";

/// The lock on the index, as git has it.
struct IndexLock {
    path: PathBuf,
    file: File,
}

impl IndexLock {
    /// Says whether it is still this lock that lies there: people remove what seems to be left behind.
    fn is_held(&self) -> bool {
        inode(&self.path).is_some_and(|now| Some(now) == inode_of(&self.file))
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if !self.is_held() {
            return;
        }
        // With one that is left nobody can commit: a disk that failed once is asked again.
        if fs::remove_file(&self.path).is_err()
            && let Err(cause) = files::remove(&self.path)
        {
            tracing::warn!(
                "{cause}: until it is gone nobody can commit; the next start of evolve removes it"
            );
        }
    }
}

/// The user's index, locked: nobody else writes it or commits meanwhile. Git changes a copy, which takes its place at once.
pub struct LockedIndex {
    git: Git,
    index: PathBuf,
    copy: PathBuf,
    /// The index as it was copied, and the copy until git has written it anew; both open: else their numbers could be those of later ones.
    copied: (Option<File>, Option<File>),
    lock: IndexLock,
    _uncut: Uncut,
}

impl Workspace<'_> {
    /// Locks the index. One that another git does not let go of is an error (exit 3).
    pub fn lock_index(&self) -> Result<LockedIndex> {
        LockedIndex::take(self.repo)?.map_err(|held| in_the_way(&held))
    }

    /// Removes the lock on the index that an `evolve` left which died, or whose disk did not let it: nobody could commit. To be
    /// done by who holds the lock of `evolve`.
    pub fn remove_own_lock(&self) -> Result<()> {
        remove_dead(&lock_of(&index_of(self.repo))).map(|_| ())
    }

    /// Puts an index that is ready in its place, which stays locked. Where somebody removed the lock meanwhile it is made anew from what
    /// they made of it.
    pub(in crate::effects::workspace) fn publish_index(
        &self,
        mut index: LockedIndex,
        make_anew: impl Fn(&LockedIndex) -> Result<()>,
    ) -> Result<LockedIndex> {
        for _ in 0..TRIES {
            if index.publish()? {
                return Ok(index);
            }
            drop(index);
            index = self.lock_index()?;
            make_anew(&index)?;
        }
        let lock = index.lock.path.display();
        Err(
            Error::unsafe_repo(format!("somebody keeps removing {lock}"))
                .hint("let that end, then run evolve again: it goes on where it stopped"),
        )
    }
}

impl LockedIndex {
    /// Takes the lock; the path of it where another git does not let go of it.
    pub(in crate::effects::workspace) fn take(
        repo: &Repo,
    ) -> Result<std::result::Result<LockedIndex, PathBuf>> {
        let index = index_of(repo);
        let path = lock_of(&index);
        let until = Instant::now() + PATIENCE;
        let (lock, uncut) = loop {
            let uncut = Uncut::begin();
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    // Without its mark a lock is waited for like any other.
                    let _ = file.write_all(MARK);
                    break (IndexLock { path, file }, uncut);
                }
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                    return Err(Error::io("create", &path, cause));
                }
                Err(_) if remove_dead(&path)? => {}
                Err(_) if Instant::now() >= until => return Ok(Err(path)),
                Err(_) => {
                    drop(uncut);
                    thread::sleep(Duration::from_millis(20));
                }
            }
        };
        let copy = beside(&index, OsStr::new(ASIDE));
        // Whoever holds the lock is alone: what lies there a crash left.
        for left in [copy.clone(), lock_of(&copy)] {
            files::remove_all(&left).map_err(|cause| Error::io("remove", &left, cause))?;
        }
        let mut locked = LockedIndex {
            git: repo.git.with_index(&copy),
            copied: (files::open(&index).ok(), None),
            index,
            copy,
            lock,
            _uncut: uncut,
        };
        locked.copy_anew(repo)?;
        Ok(Ok(locked))
    }

    /// The same index, still locked, to be changed once more.
    pub(in crate::effects::workspace) fn copied_again(
        mut self,
        repo: &Repo,
    ) -> Result<LockedIndex> {
        self.copied.0 = files::open(&self.index).ok();
        self.copy_anew(repo)?;
        Ok(self)
    }

    fn copy_anew(&mut self, repo: &Repo) -> Result<()> {
        files::remove(&self.copy)?;
        copy_index(repo, &self.copy)?;
        self.copied.1 = files::open(&self.copy).ok();
        Ok(())
    }

    /// The git that reads and writes the copy.
    pub(in crate::effects::workspace) fn git(&self) -> &Git {
        &self.git
    }

    /// Where the copy lies.
    pub(in crate::effects::workspace) fn file(&self) -> &Path {
        &self.copy
    }

    /// Puts what git made of the index in its place, which stays locked. Says whether it did: not where somebody removed the lock, and
    /// may have written the index since.
    pub(in crate::effects::workspace) fn publish(&self) -> Result<bool> {
        let [before, copy] =
            [&self.copied.0, &self.copied.1].map(|file| file.as_ref().and_then(inode_of));
        if !self.lock.is_held() || inode(&self.index) != before {
            return Ok(false);
        }
        if inode(&self.copy) == copy {
            return Ok(true);
        }
        let moved = fs::rename(&self.copy, &self.index);
        let git_dir = self.index.parent().unwrap_or(&self.index);
        let synced = moved.and_then(|()| files::sync_folder(git_dir));
        synced.map_err(|cause| Error::io("write", &self.index, cause))?;
        Ok(true)
    }
}

/// Returns the path of another file beside one.
fn beside(file: &Path, name: &OsStr) -> PathBuf {
    file.with_file_name(name)
}

/// Returns the index that git writes: what it leads to where it is a link.
fn index_of(repo: &Repo) -> PathBuf {
    let index = repo.git_dir().join("index");
    index.canonicalize().unwrap_or(index)
}

/// Returns the lock that git makes to write a file.
fn lock_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    beside(file, &name)
}

/// Removes the lock of an `evolve` that died; says whether it was one. To be done by who holds the lock of `evolve`: no other lives.
fn remove_dead(lock: &Path) -> Result<bool> {
    let found = files::read_bounded(lock, MARK.len() as u64);
    let is_own = found.is_ok_and(|found| found.as_deref() == Some(MARK));
    if is_own {
        files::remove(lock)?;
    }
    Ok(is_own)
}

/// Returns the number of the file at a path; none if there is none.
fn inode(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|meta| meta.ino())
}

fn inode_of(file: &File) -> Option<u64> {
    file.metadata().ok().map(|meta| meta.ino())
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

/// Returns the error of a lock that another git does not let go of.
pub(in crate::effects::workspace) fn in_the_way(lock: &Path) -> Error {
    Error::unsafe_repo(format!("{} is in the way", lock.display()))
        .hint("another git is at work here: let it end, or remove that file if none is; then run evolve again: it goes on where it stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with a staged file.
    fn repository() -> (tempfile::TempDir, Repo) {
        let folder = tempfile::tempdir().unwrap();
        let script = "git init -q; echo mine >mine; git add mine";
        let mut sh = std::process::Command::new("sh");
        sh.args(["-ec", script]).current_dir(folder.path());
        assert!(sh.status().unwrap().success());
        let repo = Repo::discover(folder.path()).unwrap();
        (folder, repo)
    }

    fn add(git: &Git, name: &str) {
        let input = format!("100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t{name}\0");
        let arguments = ["update-index", "-z", "--index-info"];
        git.run_with(&arguments, input.as_bytes()).unwrap();
    }

    fn staged(repo: &Repo) -> String {
        let listed = repo.git.run(&["ls-files"]).unwrap();
        String::from_utf8(listed).unwrap().replace('\n', " ")
    }

    #[test]
    fn the_lock_of_an_evolve_that_died_is_taken_at_once_and_that_of_a_git_is_not() {
        let (folder, repo) = repository();
        let path = folder.path().join(".git/index.lock");
        fs::write(&path, MARK).unwrap();
        fs::write(folder.path().join(".git/evolve-index"), "half").unwrap();
        fs::write(folder.path().join(".git/evolve-index.lock"), "").unwrap();
        let index = LockedIndex::take(&repo)
            .unwrap()
            .unwrap_or_else(|held| panic!("{held:?}"));
        add(index.git(), "ours");
        assert_eq!(staged(&repo), "mine ");
        assert!(index.publish().unwrap());
        assert!(path.exists());
        drop(index);
        assert!(!path.exists());
        assert_eq!(staged(&repo), "mine ours ");

        fs::write(&path, "").unwrap();
        assert!(LockedIndex::take(&repo).unwrap().is_err());
        assert!(path.exists());
    }

    #[test]
    fn what_somebody_staged_who_removed_the_lock_stays_staged() {
        let (folder, repo) = repository();
        let workspace = Workspace { repo: &repo };
        let path = folder.path().join(".git/index.lock");
        let is_first = std::cell::Cell::new(true);
        let make = |index: &LockedIndex| {
            add(index.git(), "ours");
            if is_first.take() {
                fs::remove_file(&path).unwrap();
                add(&repo.git, "theirs");
            }
            Ok(())
        };
        let index = workspace.lock_index().unwrap();
        make(&index).unwrap();
        drop(workspace.publish_index(index, make).unwrap());
        assert_eq!(staged(&repo), "mine ours theirs ");
        assert!(!path.exists());
    }

    #[test]
    fn the_lock_that_somebody_else_has_by_then_stays() {
        let (folder, repo) = repository();
        let path = folder.path().join(".git/index.lock");
        let index = Workspace { repo: &repo }.lock_index().unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(!index.publish().unwrap());
        assert!(index.file().exists());
        drop(index);
        assert!(!folder.path().join(".git").join(ASIDE).exists());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn the_lock_of_a_git_that_ends_soon_is_waited_for() {
        let (folder, repo) = repository();
        let path = folder.path().join(".git/index.lock");
        fs::write(&path, "").unwrap();
        let theirs = path.clone();
        let ending = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            fs::remove_file(theirs).unwrap();
        });
        let taken = LockedIndex::take(&repo).unwrap();
        assert!(taken.is_ok_and(|index| index.lock.is_held()));
        ending.join().unwrap();
    }

    #[test]
    fn where_no_lock_can_be_made_and_where_the_index_cannot_be_read_is_an_error() {
        let (folder, repo) = repository();
        let index = folder.path().join(".git/index");
        fs::remove_file(&index).unwrap();
        fs::create_dir(&index).unwrap();
        let error = LockedIndex::take(&repo).err().unwrap();
        assert!(error.message.contains("copy"), "{error:?}");
        assert!(!folder.path().join(".git/index.lock").exists());
        fs::remove_dir(&index).unwrap();
        std::os::unix::fs::symlink("/proc/version", &index).unwrap();
        let error = LockedIndex::take(&repo).err().unwrap();
        assert!(error.message.contains("create"), "{error:?}");
    }

    #[test]
    fn an_index_that_is_not_there_yet_is_locked_and_written() {
        let (folder, repo) = repository();
        fs::remove_file(folder.path().join(".git/index")).unwrap();
        let index = Workspace { repo: &repo }.lock_index().unwrap();
        add(index.git(), "ours");
        assert!(index.publish().unwrap());
        drop(index);
        assert_eq!(staged(&repo), "ours ");
    }

    #[test]
    fn an_index_that_is_a_link_is_locked_and_written_where_it_leads() {
        let (folder, repo) = repository();
        let [link, real] = [".git/index", ".git/real.idx"].map(|name| folder.path().join(name));
        fs::rename(&link, &real).unwrap();
        std::os::unix::fs::symlink("real.idx", &link).unwrap();
        let index = Workspace { repo: &repo }.lock_index().unwrap();
        assert!(folder.path().join(".git/real.idx.lock").exists());
        add(index.git(), "ours");
        assert!(index.publish().unwrap());
        drop(index);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(staged(&repo), "mine ours ");
    }
}
