//! Tracked files that checks write to, and what they only touch: in a copy of the repository all of that is nobody's, in the user's own
//! working tree it is put back elsewhere (`undo/beside`).

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use super::Workspace;
use crate::effects::clock;
use crate::effects::files::{self, Moment, is_beneath};
use crate::effects::git::{Listed, each_indexed};
use crate::effects::near::{Near, Seen};
use crate::effects::quarantine::{FOLDER, Quarantine};
use crate::effects::watch::Done;
use crate::error::{Error, Result};
use crate::model::ledger::is_ledger_path;
use crate::model::text;

/// The files of a git directory by which it is told what is tracked and what differs.
const FILES: [&str; 3] = ["HEAD", "index", "config"];

/// What git has noted in a copy before checks run there. What these have it note (a commit, a setting, a mark by which git looks away)
/// counts for nothing.
#[derive(Debug)]
pub struct Noted {
    /// The branch (`refs/heads/…`).
    pub branch: String,
    /// Its commit.
    pub commit: String,
    /// The bytes of the files that say so.
    files: Vec<(&'static str, Vec<u8>)>,
    /// The moment, as files are dated.
    since: Moment,
}

impl Workspace<'_> {
    /// Returns what git has noted by now; none where it has no branch with a commit.
    pub fn noted(&self) -> Result<Option<Noted>> {
        let head = self.repo.head()?;
        let (Some(branch), Some(commit)) = (head.branch, head.commit) else {
            return Ok(None);
        };
        let read = |name| {
            let bytes = fs::read(self.repo.git_dir().join(name));
            bytes.ok().map(|bytes| (name, bytes))
        };
        Ok(Some(Noted {
            branch,
            commit,
            files: FILES.into_iter().filter_map(read).collect(),
            since: now(),
        }))
    }

    /// Has git note that again. To be done only where the git directory is the copy's own.
    pub fn note_again(&self, noted: &Noted) -> Result<()> {
        let folder = self.repo.git_dir();
        for (name, bytes) in &noted.files {
            let file = folder.join(name);
            // All that ran there has ended: nobody holds it.
            files::remove(&file.with_extension("lock"))?;
            if fs::read(&file).ok().as_ref() != Some(bytes) {
                files::replace_unsynced(&file, bytes)?;
            }
        }
        let reason = "evolve: as it was before checks ran";
        self.repo.set_ref(&noted.branch, &noted.commit, reason)
    }

    /// Returns the tracked files, but for evolve's own, to which something was done since: what git's conversions let differ from the
    /// first was written to by no check. Those of submodules are put back at once; the checkout at `lender` may have their commits.
    pub fn written_in_copy(&self, noted: &Noted, lender: &Path) -> Result<Done> {
        // Git would wait at a pipe that a check left.
        let mut quarantine = self.quarantine_of_copy();
        self.clear_pipes_into(&mut quarantine)?;
        let touched = self.touched_since(noted.since, &self.unlike_index()?);
        let mut written: Vec<_> = self.tracked_changes()?.into_iter().collect();
        self.retain_written_since(noted.since, &mut written);
        let written: BTreeSet<_> = written.iter().map(text::path).collect();
        let mut rewritten = self.folders_moved_since(noted.since)?;
        rewritten.extend(touched.difference(&written).cloned());
        let mut done = Done { written, rewritten };
        done.add(self.put_back_in_modules(lender, noted.since)?);
        Ok(done)
    }

    /// Returns those of these files, but for evolve's own, that are there and to which something was done since.
    pub(in crate::effects::workspace) fn touched_since(
        &self,
        since: Moment,
        paths: &[Vec<u8>],
    ) -> BTreeSet<String> {
        let mut near = Near::below(&self.repo.root);
        let is_touched = |path: &&Vec<u8>| {
            let seen = near.look(path);
            // A submodule's folder is none of them.
            let seen = seen.filter(|seen| seen.is_file() || seen.is_link());
            !is_ledger_path(path) && seen.is_some_and(|seen| seen.changed >= since)
        };
        let touched = paths.iter().filter(is_touched);
        touched.map(text::path).collect()
    }

    /// Returns the folders with tracked files that were moved since and are back, each with a slash at the end: what stood in their place
    /// meanwhile changes nothing of the files in them. Who moves a folder changes its state after what it lists.
    pub(in crate::effects::workspace) fn folders_moved_since(
        &self,
        since: Moment,
    ) -> Result<BTreeSet<String>> {
        let tracked = self.repo.tracked_folders()?;
        let mut folders = tracked.folders;
        folders.extend(tracked.modules);
        folders.retain(|folder| !is_ledger_path(&[&folder[..], b"/"].concat()));
        let mut moved = self.moved_of(folders.iter(), since);
        let root = fs::symlink_metadata(&self.repo.root);
        if root.is_ok_and(|root| is_moved(Seen::of(&root), since)) {
            moved.insert(".".to_owned());
        }
        Ok(moved)
    }

    /// Returns those of these folders to which that was done.
    pub(in crate::effects::workspace) fn moved_of<'f>(
        &self,
        folders: impl Iterator<Item = &'f Vec<u8>>,
        since: Moment,
    ) -> BTreeSet<String> {
        let mut near = Near::below(&self.repo.root);
        let moved =
            folders.filter(|folder| near.look(folder).is_some_and(|seen| is_moved(seen, since)));
        let shown = moved.map(|folder| text::path([folder, &b"/"[..]].concat()));
        shown.collect()
    }

    /// Keeps of these files, but for evolve's own, those to which something was done since, or that are gone, behind a link, or others.
    pub(in crate::effects::workspace) fn retain_written_since(
        &self,
        since: Moment,
        paths: &mut Vec<Vec<u8>>,
    ) {
        let mut near = Near::below(&self.repo.root);
        let mut is_old = |path: &Vec<u8>| {
            let seen = near.look(path);
            seen.is_some_and(|seen| seen.changed < since) && is_beneath(&self.repo.root, path)
        };
        let old: HashSet<Vec<u8>> = paths.iter().filter(|path| is_old(path)).cloned().collect();
        let exchanged = self.exchanged(&old);
        let is_written = |path: &Vec<u8>| !old.contains(path) || exchanged.contains(path);
        paths.retain(|path| !is_ledger_path(path) && is_written(path));
    }

    /// Returns those of these files that are others than git noted: in a folder that was moved there they may be older than that.
    fn exchanged(&self, paths: &HashSet<Vec<u8>>) -> HashSet<Vec<u8>> {
        let mut found = HashSet::new();
        let index = self.repo.index().filter(|_| !paths.is_empty());
        let mut near = Near::below(&self.repo.root);
        let note = |one: &Listed<'_>| {
            // Of what git is to compare anew it has none.
            let inode = u64::from(one.noted.inode);
            let is_noted = |seen: Seen| seen.place.1 & u64::from(u32::MAX) == inode;
            if inode != 0 && paths.contains(one.path) && !near.look(one.path).is_some_and(is_noted)
            {
                found.insert(one.path.to_vec());
            }
        };
        match index.map(|index| each_indexed(&index.bytes, note)) {
            Some(Some(())) => found,
            Some(None) | None => HashSet::new(),
        }
    }

    /// Makes tracked files what is committed, but for evolve's own; what they had become is gone.
    pub fn drop_written(&self) -> Result<()> {
        let mut quarantine = self.quarantine_of_copy();
        self.put_back_those(&|path| !is_ledger_path(path), &mut quarantine)?;
        let all = self.repo.private.join(FOLDER);
        files::remove_all(&all).map_err(|cause| Error::io("remove", &all, cause))
    }

    /// Puts files of submodules back to which something was done since.
    pub fn drop_in_modules(&self, noted: &Noted, lender: &Path) -> Result<()> {
        self.put_back_in_modules(lender, noted.since).map(drop)
    }

    /// Does both.
    pub fn drop_written_since(&self, noted: &Noted, lender: &Path) -> Result<()> {
        self.drop_in_modules(noted, lender)?;
        self.drop_written()
    }

    /// Returns a quarantine within the copy, which goes with it.
    fn quarantine_of_copy(&self) -> Quarantine {
        Quarantine::of(&self.repo.private, "measured", 0)
    }
}

/// Says whether a folder was moved since, by what is seen of it.
fn is_moved(seen: Seen, since: Moment) -> bool {
    seen.changed >= since && seen.changed > seen.modified
}

/// Returns the present moment, as files are dated.
pub(in crate::effects::workspace) fn now() -> Moment {
    files::moment_of(clock::file_time()).unwrap_or_default()
}
