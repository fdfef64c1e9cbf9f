//! Moves a slot from one commit to another, many times over: only what differs is written. What git knows of the files lies
//! in an index beside the slot, which counts only as this process wrote it; the slot's own `.git` is made anew each time, so
//! that nothing that an agent or a command left there is believed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::checkout::has_filters;
use super::{Base, Ignored, Slot, remove_all, settings};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};

impl Slot {
    /// Puts the slot on a commit. Of what git does not track only what is lent and what `prepare` made is there then; the latter
    /// is to be looked after by `make_clean`.
    pub fn go_to(&self, user: &Repo, base: Base<'_>) -> Result<Repo> {
        let is_known = self.written.has(&self.index()) && self.written.has(&self.refs());
        // What was at work here may have changed what programs of filters read, and git looks only for what differs by itself.
        let depends = self.is_led || has_filters(user)?;
        if is_known
            && !depends
            && self.is_in_place()
            && let Ok(repo) = self.try_to_go_to(user, base)
        {
            return Ok(repo);
        }
        // What stands there instead, a link, say, is somebody's.
        if self.is_in_place() {
            self.open_folders();
        }
        match is_known && depends {
            true => {
                // What `prepare` made is kept beside.
                remove_all(&self.lent())?;
                remove_all(&self.root)?;
                fs::create_dir(&self.root)
                    .map_err(|cause| Error::io("create", &self.root, cause))?;
                self.forget()?;
            }
            false => self.remove()?,
        }
        let repo = self.renew(user, base, Ignored::Stay)?;
        copy(&self.root.join(".git/packed-refs"), &self.refs())?;
        self.written.note(self.refs());
        self.remember()?;
        Ok(repo)
    }

    fn try_to_go_to(&self, user: &Repo, base: Base<'_>) -> Result<Repo> {
        let repo = self.with_git_dir_anew(user, base)?;
        // Before git writes files: an attributes file that somebody left would lead it.
        self.clear_unlisted(user)?;
        self.sweep(&repo)?;
        // It may be cut off half way: then nothing is known of the files.
        let index = self.index();
        fs::remove_file(&index).map_err(|cause| Error::io("remove", &index, cause))?;
        repo.git.run(&["read-tree", "--reset", "-u", base.commit])?;
        self.lend(user, &repo)?;
        self.remember()?;
        Ok(repo)
    }

    /// Makes the git directory anew after somebody was at work, on the commit that the slot was put on; the files stay as they
    /// are, and what git knew of them is as it was before.
    pub fn with_git_dir_anew(&self, user: &Repo, base: Base<'_>) -> Result<Repo> {
        if !self.is_in_place() {
            let root = self.root.display();
            return Err(
                Error::unsafe_repo(format!("{root} was removed or replaced meanwhile"))
                    .hint("it is a copy, nothing of yours is lost; run evolve again"),
            );
        }
        let git_dir = self.root.join(".git");
        remove_all(&git_dir)?;
        settings::write_refs(&git_dir, base)?;
        copy(&self.refs(), &git_dir.join("packed-refs"))?;
        copy(&self.index(), &git_dir.join("index"))?;
        self.write_settings(user)?;
        let mut repo = Repo::open_slot(&self.root, user)?;
        repo.git = repo.git.passing();
        Ok(repo)
    }

    fn remember(&self) -> Result<()> {
        copy(&self.root.join(".git/index"), &self.index())?;
        self.written.note(self.index());
        Ok(())
    }

    /// Returns the file with what git knows of the slot's files.
    fn index(&self) -> PathBuf {
        self.root.with_extension("index")
    }

    /// Returns the file with the refs that the slot is given.
    fn refs(&self) -> PathBuf {
        self.root.with_extension("refs")
    }

    /// Removes what is known of a slot.
    pub(super) fn forget(&self) -> Result<()> {
        remove_all(&self.index())?;
        remove_all(&self.refs())
    }
}

/// Copies a file with its time: git tells by that of an index which files may have changed since without its showing, and
/// looks into those. A younger index would vouch for them. What stands where the copy goes may be a name of somebody's file: it
/// is removed, not written to.
fn copy(from: &Path, to: &Path) -> Result<()> {
    remove_all(to)?;
    let copied = || {
        let mut from = files::open_plain(from)?;
        let time = from.metadata()?.modified()?;
        let mut to = File::create_new(to)?;
        std::io::copy(&mut from, &mut to)?;
        to.set_modified(time)
    };
    copied().map_err(|cause| Error::io("copy", from, cause))
}
