//! What is changed in the tree beside an undone cycle: by what checks ran of it, or by the user while they ran. Nobody can tell
//! which, so it goes to the quarantine, and the tree is as it was.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::put_back::Changed;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::attributes::FILE;
use crate::effects::workspace::status::{self, Status};
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;

/// What is put back of tracked files that were written to while the goals of one cycle were measured, however often that is.
#[derive(Debug)]
pub struct Written {
    quarantine: Quarantine,
    beside: Beside,
    /// Those that were gone.
    removed: BTreeSet<String>,
}

impl Written {
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
        }
    }

    /// Puts tracked files back that were written to since they were last known to be HEAD's, and returns their paths; what they held
    /// is in the quarantine.
    pub fn put_back_written(&self, start: &Start, written: &mut Written) -> Result<Vec<String>> {
        let quarantine = &mut written.quarantine;
        // Git would wait at a pipe that a check left.
        self.clear_pipes_into(quarantine)?;
        // Looks at no more than the files that the index lists.
        let listed = self.unlike_index()?;
        let files = match listed.is_empty() {
            true => Vec::new(),
            false => self.dirty_files()?,
        };
        // What an agent left inside a submodule and cannot be put back is no check's.
        let listed = listed.split(|byte| *byte == 0);
        let listed: HashSet<_> = listed.map(String::from_utf8_lossy).collect();
        let is_listed = |file: &String| listed.contains(file.as_str());
        let files: Vec<_> = files.into_iter().filter(is_listed).collect();
        if !files.is_empty() {
            let removed = files.iter().filter(|file| self.is_gone(file));
            written.removed.extend(removed.cloned());
            let beside = self.put_back_beside(start, quarantine)?;
            written.beside.add(beside);
        }
        Ok(files)
    }

    /// Lists the tracked files that are not as the index has them, each ended by a NUL.
    pub(in crate::effects::workspace) fn unlike_index(&self) -> Result<Vec<u8>> {
        let arguments = ["diff-files", "--name-only", "--ignore-submodules", "-z"];
        let paths = match self.unlike_noted(self.repo.index().as_ref()) {
            Some(paths) if paths.is_empty() => return Ok(Vec::new()),
            Some(paths) => paths,
            None => return self.repo.git.run(&arguments),
        };
        let arguments = arguments.into_iter().chain(["--"]).map(OsStr::new);
        let paths = paths.iter().map(|path| OsStr::from_bytes(path));
        self.repo
            .git
            .run(&arguments.chain(paths).collect::<Vec<_>>())
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
