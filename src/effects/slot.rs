//! A slot: a working tree with a repository of its own, beside the user's, in which an agent works or checks run. It borrows
//! the user's objects (`objects/info/alternates`) and has its own refs, settings, index and stash, so that whatever is done to
//! it, the user's repository does not notice.
//!
//! Nothing in a slot's `.git` is believed after somebody was at work in it: before git is called there, `reclaim` looks for
//! what would lead git elsewhere and writes the settings anew, and `renew` makes all of it anew. Slots may be deleted at any
//! time; the next use makes them again.

mod checkout;
pub mod emptied;
mod leads;
pub mod lend;
pub mod lfs;
mod made;
mod modes;
mod moved;
mod place;
mod prepare;
mod settings;

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::effects::files::{self, Stamp};
use crate::effects::lock::{self, Lock};
use crate::effects::pipes;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::leads::python;
use crate::model::ledger::STOP;
use crate::model::slot::Provisions;

pub use prepare::{Preparation, Prepared};

/// The most bytes of a small file of the user's git directory that are taken over.
const READ_LIMIT: u64 = 64 << 20;

/// What a slot is put on.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The branch (`refs/heads/…`).
    pub branch: &'a str,
    /// Its commit.
    pub commit: &'a str,
}

/// A place where an agent works or checks run.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The root of its working tree; no part of the path is a link.
    pub root: PathBuf,
    /// What it is given beside its commit.
    pub provisions: Provisions,
    /// What this process wrote beside this slot and others.
    pub written: Written,
    /// Commits that it is put on may differ in how git writes files of theirs that are the same.
    pub is_led: bool,
}

/// The files beside slots as this process wrote them: what somebody else changed since is not believed.
#[derive(Clone, Debug, Default)]
pub struct Written(Arc<Mutex<HashMap<PathBuf, Stamp>>>);

impl Written {
    /// Remembers a file as it is now.
    fn note(&self, path: PathBuf) {
        let stamp = Stamp::at(&path);
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stamp {
            Some(stamp) => files.insert(path, stamp),
            None => files.remove(&path),
        };
    }

    /// Says whether a file is as it was then.
    fn has(&self, path: &Path) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = files.get(path);
        stamp.is_some() && stamp == Stamp::at(path).as_ref()
    }
}

/// What becomes of the ignored files of a slot that is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// They stay: what was built once need not be built again.
    Stay,
    /// They go.
    Go,
}

impl Slot {
    /// Names the slot for `purpose` of a repository; it is made at its first use.
    pub fn of(user: &Repo, purpose: &str, provisions: Provisions) -> Result<Slot> {
        Ok(Slot {
            root: place::of(user)?.join(purpose),
            provisions,
            written: Written::default(),
            is_led: false,
        })
    }

    /// Returns the working tree, or git directory, that the slot at a root is a copy of, whoever asks; none where no slot is.
    pub fn copied_from(root: &Path) -> Option<PathBuf> {
        let mut from = place::owner_of(root)?;
        if from.ends_with(".git") {
            from.pop();
        }
        Some(from)
    }

    /// Refuses a repository in whose working tree its slots would lie.
    pub fn refuse_within(user: &Repo) -> Result<()> {
        place::refuse_within(&user.root)
    }

    /// Takes a slot for `purpose` that no other process uses; `remove` and let go of the lock when done. What a killed one left is
    /// used again.
    pub fn claim(user: &Repo, purpose: &str) -> Result<(Slot, Lock)> {
        let folder = place::of(user)?;
        let place = |number| folder.join(format!("{purpose}-{number}.lock"));
        let open = |path: &Path| lock::open_or_make(path).map(Some);
        let (path, lock) = lock::first_free(place, open)?;
        let slot = Slot {
            root: path.with_extension(""),
            provisions: Provisions::default(),
            written: Written::default(),
            is_led: false,
        };
        slot.remove()?;
        Ok((slot, lock))
    }

    /// Removes a slot that was claimed, and lets go of it.
    pub fn give_up(&self, lock: Lock) -> Result<()> {
        self.remove()?;
        files::remove(&self.root.with_extension("lock"))?;
        drop(lock);
        Ok(())
    }

    /// Puts the slot on a commit of the user's repository, on a branch of the same name, with a clean tree and a git directory
    /// made anew. Files that are as the commit has them are not touched, so that builds need not start over.
    pub fn renew(&self, user: &Repo, base: Base<'_>, ignored: Ignored) -> Result<Repo> {
        let first = self.try_to_renew(user, base, ignored);
        first.or_else(|cause| {
            tracing::debug!("{} is made from nothing: {cause}", self.root.display());
            self.remove()?;
            self.try_to_renew(user, base, ignored)
        })
    }

    fn try_to_renew(&self, user: &Repo, base: Base<'_>, ignored: Ignored) -> Result<Repo> {
        let repo = self.remake_git_dir(user, base)?;
        checkout::check_out(&repo, user, base.commit)?;
        let what = match ignored {
            Ignored::Stay => "-ffdq",
            Ignored::Go => "-ffdxq",
        };
        if ignored == Ignored::Go {
            // What it was made ready with goes, too.
            files::remove(&self.stamp())?;
        }
        repo.git.run(&["clean", what])?;
        self.clear_unlisted(user)?;
        self.remove_stop()?;
        self.lend(user, &repo)?;
        Ok(repo)
    }

    /// Removes a STOP file: one that is there later is the word of somebody who works here from now on.
    fn remove_stop(&self) -> Result<()> {
        match files::is_beneath(&self.root, STOP.as_bytes()) {
            true => remove_all(&self.root.join(STOP)),
            false => Ok(()),
        }
    }

    /// Removes pipes, sockets, devices and what lies too deep: who was at work here left them, and git, which cleans, does not see them.
    fn clear_unlisted(&self, user: &Repo) -> Result<()> {
        let unlisted = pipes::met(&self.root, &user.plain).unlisted;
        let mut places = unlisted.iter().map(|path| self.root.join(path));
        places.try_for_each(|place| remove_all(&place))
    }

    /// Makes the git directory anew, on a commit; the files stay as they are.
    pub fn remake_git_dir(&self, user: &Repo, base: Base<'_>) -> Result<Repo> {
        if !self.is_in_place() {
            self.remove()?;
            fs::create_dir_all(&self.root)
                .map_err(|cause| Error::io("create", &self.root, cause))?;
        }
        let git_dir = self.root.join(".git");
        remove_all(&git_dir)?;
        settings::write_git_dir(&git_dir, user, base)?;
        self.write_settings(user)?;
        let git = user.git.elsewhere(&self.root);
        git.run(&["read-tree", base.commit])?;
        // They are run to see what has changed.
        checkout::write_programs(&git, &checkout::programs_of_filters(user, base.commit)?)?;
        // It fails where a file differs from the index, which is no failure here.
        let _ = git.run(&["update-index", "-q", "--refresh"]);
        Repo::open_slot(&self.root, user)
    }

    /// Opens the slot after somebody was at work in it, with its settings written anew. None if its git directory is gone or
    /// holds what git never puts there, such as a link that leads into another repository.
    pub fn reclaim(&self, user: &Repo) -> Result<Option<Repo>> {
        if !self.has_own_git_dir() {
            return Ok(None);
        }
        self.write_settings(user)?;
        Ok(Repo::open_slot(&self.root, user).ok())
    }

    /// Says whether git can be let in after somebody was at work, or checks ran: what is called `.git` is whole and the slot's own, and
    /// leads into no other repository.
    pub fn has_own_git_dir(&self) -> bool {
        if !self.is_whole() {
            return false;
        }
        let git_dir = self.root.join(".git");
        // What is denied from here on is not their doing.
        unlock(&git_dir);
        is_sound(&git_dir)
    }

    /// Writes what decides how git reads and runs things here.
    fn write_settings(&self, user: &Repo) -> Result<()> {
        settings::write_settings(&self.root.join(".git"), user, &self.provisions.link)
    }

    /// Says whether the root is a folder, and no part of the path to it leads elsewhere.
    pub fn is_in_place(&self) -> bool {
        self.root
            .canonicalize()
            .is_ok_and(|real| real == self.root && real.is_dir())
    }

    /// Says whether nobody began to remove it: who removes copies removes what lies beside them, too.
    pub fn is_left(&self) -> bool {
        self.is_in_place() && place::is_owned(&self.root)
    }

    /// Says whether it is still a copy in which git can be asked.
    fn is_whole(&self) -> bool {
        let git_dir = self.root.join(".git");
        self.is_in_place() && fs::symlink_metadata(git_dir).is_ok_and(|meta| meta.is_dir())
    }

    /// Removes the slot, whatever stands in its place.
    pub fn remove(&self) -> Result<()> {
        remove_all(&self.stamp())?;
        remove_all(&self.made())?;
        remove_all(&self.lent())?;
        remove_all(&python::folder_beside(&self.root))?;
        remove_all(&self.root)?;
        self.forget()?;
        remove_all(&self.used())
    }

    /// Removes all slots of a repository whose purposes begin so, with what is kept beside them.
    pub fn remove_all_of(user: &Repo, purpose: &str) -> Result<()> {
        let folder = place::of(user)?;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(purpose) {
                remove_all(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Notes that somebody is at work in the slot from now on; says whether somebody was since it was made from nothing.
    pub fn note_use(&self) -> Result<bool> {
        match fs::File::create_new(self.used()) {
            Ok(_) => Ok(false),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(true),
            Err(cause) => Err(Error::io("create", &self.used(), cause)),
        }
    }

    /// Returns the file that says what the slot was made ready from.
    fn stamp(&self) -> PathBuf {
        self.root.with_extension("prepared")
    }

    /// Returns the folder with a copy of what `prepare` made.
    fn made(&self) -> PathBuf {
        self.root.with_extension("made")
    }

    /// Returns the file that says that somebody was at work in the slot.
    fn used(&self) -> PathBuf {
        self.root.with_extension("used")
    }

    /// Returns the file that says what was lent to the slot.
    fn lent(&self) -> PathBuf {
        self.root.with_extension("lent")
    }
}

/// Says whether a git directory is a folder of plain files and folders, and a whole one: no link and no file of git's that
/// leads elsewhere.
fn is_sound(git_dir: &Path) -> bool {
    let leads_elsewhere = |name: &str| fs::symlink_metadata(git_dir.join(name)).is_ok();
    is_plain(git_dir)
        && ["objects", "refs", "HEAD"]
            .iter()
            .all(|name| git_dir.join(name).exists())
        && !["commondir", "gitdir"].into_iter().any(leads_elsewhere)
        && is_of_its_own(&git_dir.join("logs"))
}

/// Says whether no file in a folder has a second name: git writes on in its logs of refs, and so in another repository's.
fn is_of_its_own(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().all(|entry| {
        let meta = entry.metadata();
        meta.is_ok_and(|meta| match meta.is_dir() {
            true => is_of_its_own(&entry.path()),
            false => meta.nlink() == 1,
        })
    })
}

/// Says whether `path` is a folder in which there are only plain files and such folders.
fn is_plain(path: &Path) -> bool {
    let Ok(entries) = fs::symlink_metadata(path).and_then(|meta| match meta.is_dir() {
        true => fs::read_dir(path),
        false => Err(ErrorKind::NotADirectory.into()),
    }) else {
        return false;
    };
    entries.into_iter().all(|entry| {
        let kind = entry.and_then(|entry| Ok((entry.file_type()?, entry.path())));
        kind.is_ok_and(|(kind, path)| kind.is_file() || (kind.is_dir() && is_plain(&path)))
    })
}

/// Removes a file or a folder with all that is in it, without following links; what is not there is fine.
fn remove_all(path: &Path) -> Result<()> {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let removed = match meta.is_dir() {
        true => fs::remove_dir_all(path).or_else(|_| {
            unlock(path);
            fs::remove_dir_all(path)
        }),
        false => fs::remove_file(path),
    };
    removed.map_err(|cause| {
        Error::io("remove", path, cause).hint("remove it by hand; it is a copy, nothing is lost")
    })
}

/// Makes every folder below `path`, and that itself, one that its owner may change, and every file there one that the owner
/// may read.
fn unlock(path: &Path) {
    allow(path, 0o700);
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => unlock(&entry.path()),
            Ok(kind) if kind.is_file() => allow(&entry.path(), 0o400),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Adds what a file or folder may be used for; what cannot be changed is found out by whoever needs it.
fn allow(path: &Path, wanted: u32) {
    let mode = fs::symlink_metadata(path).map(|meta| meta.permissions().mode());
    if let Ok(mode) = mode
        && mode & wanted != wanted
    {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode | wanted));
    }
}

/// Copies a small file of a git directory, if it is there.
fn take_over(from: &Path, to: &Path) -> Result<()> {
    if let Some(bytes) = files::read_bounded(from, READ_LIMIT)? {
        fs::write(to, bytes).map_err(|cause| Error::io("write", to, cause))?;
    }
    Ok(())
}
