//! What is changed in the tree beside an undone cycle: by what checks ran of it, or by the user while they ran. Nobody can tell
//! which, so it goes to the quarantine, and the tree is as it was.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::put_back::Changed;
use crate::effects::files::{Moment, Stamp};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::attributes::FILE;
use crate::effects::repo::listed_in;
use crate::effects::watch::Done;
use crate::effects::workspace::status::{self, Status};
use crate::effects::workspace::{Start, Workspace, in_copy, some_of};
use crate::error::Result;
use crate::model::exact;

/// What is put back of tracked files that were written to while the goals of one cycle were measured, however often that is.
#[derive(Debug)]
pub struct Written {
    quarantine: Quarantine,
    beside: Beside,
    /// Those that were gone.
    removed: BTreeSet<String>,
    /// What was known before checks ran; none where nobody asks what they only touched.
    before: Option<Before>,
    touched: BTreeSet<String>,
}

/// What is known before checks run.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// The moment, as files are dated.
    moment: Moment,
    /// The index.
    index: Option<Stamp>,
}

impl Written {
    /// Returns the tracked files that were touched and are what is committed, and forgets them.
    pub fn take_touched(&mut self) -> Done {
        Done {
            rewritten: std::mem::take(&mut self.touched),
            ..Done::default()
        }
    }

    /// Says whether a file was found gone.
    pub fn was_removed(&self, file: &str) -> bool {
        self.removed.contains(file)
    }

    /// Says what was done, for the record: of each file once.
    pub fn notes(&self) -> Vec<String> {
        let beside = self.beside.notes();
        beside.into_iter().chain(self.quarantine.notes()).collect()
    }
}

/// What was put back.
#[derive(Debug, Default)]
pub(in crate::effects::workspace) struct Beside {
    /// The files.
    names: Vec<String>,
    /// Those that still have changes.
    left: Vec<String>,
    /// Attributes by which git converts files were among it.
    pub has_attributes: bool,
}

impl Beside {
    /// Says what was done, for the record.
    pub fn notes(&self) -> Vec<String> {
        let put_back =
            "changed by a check, or by somebody while the goals were measured, and put back";
        let left = "tracked files still have changes beside the undone cycle's";
        let said = [(put_back, &self.names), (left, &self.left)].into_iter();
        let said = said.filter(|(_, files)| !files.is_empty());
        said.map(|(what, files)| format!("{what}: {}", some_of(files)))
            .collect()
    }

    /// Adds what was put back later.
    fn add(&mut self, later: Beside) {
        self.names.extend(later.names);
        self.names.sort();
        self.names.dedup();
        self.left = later.left;
        self.has_attributes |= later.has_attributes;
    }
}

impl Workspace<'_> {
    /// Makes tracked files and the index what HEAD has, hidden changes and those inside submodules included. Looks once where there
    /// is nothing to do. A merge or the like that is in progress is nobody's but the user's, and stays.
    pub(in crate::effects::workspace) fn put_back_beside(
        &self,
        start: &Start,
        quarantine: &mut Quarantine,
    ) -> Result<Beside> {
        let mut beside = Beside::default();
        let mut status = self.look_at_hidden(start)?;
        if status.dirty.is_empty() || self.repo.ready_head().is_err() {
            return Ok(beside);
        }
        let mut names = status.dirty_files();
        let mut attributes = status.dirty.clone();
        attributes.retain(|path| is_attributes(path));
        if !attributes.is_empty() {
            // By what they say other files may look changed, and others unchanged.
            beside.has_attributes = true;
            let changed = Changed::of_root(&self.repo.git, &attributes);
            self.put_back_changed(&changed, quarantine)?;
            self.distrust_index(start)?;
            status = self.state()?;
            names.retain(|name| name.ends_with(FILE));
            names.extend(status.dirty_files());
        }
        self.put_back_changed(&Changed::of_root(&self.repo.git, &status.dirty), quarantine)?;
        self.put_back_inside(quarantine)?;
        if self.is_sparse() {
            let written = attributes.iter().chain(&status.dirty);
            // After a crash nobody knows what was not there.
            let written = written.filter(|_| start.whereabouts.is_some());
            let written: HashSet<_> = written.map(Vec::as_slice).collect();
            self.take_out_again(start, &self.repo.ready_head()?.1, Some(&written))?;
        }
        beside.names = names;
        beside.left = self.dirty_files()?;
        Ok(beside)
    }

    /// Returns that nothing was written to yet.
    pub fn unwritten(&self, start: &Start) -> Written {
        Written {
            quarantine: Quarantine::of(&self.repo.private, &start.session, start.cycle),
            beside: Beside::default(),
            removed: BTreeSet::new(),
            before: None,
            touched: BTreeSet::new(),
        }
    }

    /// Notes what is known before checks run, so that what they do to tracked files is found, be it gone by their end or hidden from git.
    pub fn note_unwritten(&self, written: &mut Written) {
        written.before = Some(Before {
            moment: in_copy::now(),
            index: self.index_stamp(),
        });
    }

    /// Puts tracked files back that were written to since they were last known to be HEAD's, and returns their paths; what they held
    /// is in the quarantine.
    pub fn put_back_written(&self, start: &Start, written: &mut Written) -> Result<Vec<String>> {
        let before = written.before.take();
        let quarantine = &mut written.quarantine;
        // Git would wait at a pipe that a check left.
        self.clear_pipes_into(quarantine)?;
        // Looks at no more than the files that the index lists.
        let mut listed = self.unlike_index()?;
        let is_written_since = |before: &Before| before.index != self.index_stamp();
        let files = match before.filter(is_written_since) {
            Some(before) => {
                let files = self.written_behind_git(before.moment, &listed)?;
                listed = self.tracked_files()?;
                files
            }
            None if listed.is_empty() => Vec::new(),
            None => {
                let mut state = self.state()?;
                // What an agent left inside a submodule and cannot be put back is no check's.
                let known: HashSet<_> = listed.iter().collect();
                state.dirty.retain(|path| known.contains(path));
                state.dirty_files()
            }
        };
        if let Some(before) = before {
            let mut touched = self.touched_since(before.moment, &listed);
            touched.retain(|file| !files.contains(file));
            written.touched.extend(touched);
            written
                .touched
                .extend(self.folders_moved_since(before.moment)?);
        }
        if !files.is_empty() {
            let removed = files.iter().filter(|file| self.is_gone(file));
            written.removed.extend(removed.cloned());
            let beside = self.put_back_beside(start, quarantine)?;
            written.beside.add(beside);
        }
        Ok(files)
    }

    /// Returns the files that were written to where checks had git write its index: it may call what they wrote unchanged, or was told to
    /// look away. Beside those that are `unlike` the index they are the ones of HEAD to which something was done since.
    fn written_behind_git(&self, since: Moment, unlike: &[Vec<u8>]) -> Result<Vec<String>> {
        let Some(commit) = self.repo.head()?.commit else {
            return Ok(Vec::new());
        };
        let tree = self.repo.tree_of(&commit)?;
        let (mut status, hidden, _) = self.look()?;
        status.dirty.extend(hidden.changes);
        let mut since_then = status.dirty.clone();
        self.retain_written_since(since, &mut since_then);
        since_then.retain(|path| self.repo.may_have_file(&tree, &exact::decode(path)));
        let known: HashSet<_> = since_then.iter().chain(unlike).collect();
        status.dirty.retain(|path| known.contains(path));
        Ok(status.dirty_files())
    }

    fn index_stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.repo.git_dir().join("index"))
    }

    /// Lists the files that the index has, be they hidden from git.
    fn tracked_files(&self) -> Result<Vec<Vec<u8>>> {
        let listed = self.repo.listing()?;
        let lines = listed.split(|byte| *byte == 0).filter_map(listed_in);
        let files = lines.filter(|(_, is_module)| !is_module);
        Ok(files.map(|(path, _)| path.to_vec()).collect())
    }

    /// Lists the tracked files that are not as the index has them.
    pub(in crate::effects::workspace) fn unlike_index(&self) -> Result<Vec<Vec<u8>>> {
        let arguments = ["diff-files", "--name-only", "--ignore-submodules", "-z"];
        let listed = match self.unlike_noted(self.repo.index().as_ref()) {
            Some(paths) if paths.is_empty() => return Ok(Vec::new()),
            Some(paths) => {
                let arguments = arguments.into_iter().chain(["--"]).map(OsStr::new);
                let paths = paths.iter().map(|path| OsStr::from_bytes(path));
                let asked: Vec<_> = arguments.chain(paths).collect();
                self.repo.git.run(&asked)?
            }
            None => self.repo.git.run(&arguments)?,
        };
        let paths = listed.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        Ok(paths.map(<[u8]>::to_vec).collect())
    }

    /// Reads the state of the tree; git is let see again what it was told not to look at since the start.
    fn look_at_hidden(&self, start: &Start) -> Result<Status> {
        let (status, hidden, _) = self.look()?;
        match self.take_back_flags(start, &hidden)? {
            true => self.state(),
            false => Ok(status),
        }
    }

    /// Does the same inside submodules.
    fn put_back_inside(&self, quarantine: &mut Quarantine) -> Result<()> {
        for home in self.homes_within() {
            let found = status::read_inside(&home.git, false)?;
            let changed = Changed {
                git: &home.git,
                folder: &home.folder,
                paths: &found.dirty,
            };
            self.put_back_changed(&changed, quarantine)?;
        }
        Ok(())
    }
}

/// Says whether a path is a file with the attributes of a folder.
pub(in crate::effects::workspace) fn is_attributes(path: &[u8]) -> bool {
    path.ends_with(FILE.as_bytes())
}
