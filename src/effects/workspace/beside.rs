//! What is changed in the tree beside an undone cycle: by what checks ran of it, or by the user while they ran. Nobody can tell
//! which, so it goes to the quarantine, and the tree is as it was.

use std::collections::HashSet;

use super::put_back::Changed;
use super::status::{self, Status};
use super::{Start, Workspace, some_of};
use crate::effects::pipes;
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::exact;

/// Tracked files that were written to while goals were measured.
#[derive(Debug, Default)]
pub struct Written {
    /// Their paths.
    pub files: Vec<String>,
    /// For the record.
    pub notes: Vec<String>,
}

/// What was put back.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// For the record.
    pub notes: Vec<String>,
    /// Attributes by which git converts files were among it.
    pub has_attributes: bool,
}

impl Workspace<'_> {
    /// Makes tracked files and the index what HEAD has, hidden changes and those inside submodules included. Looks once where there
    /// is nothing to do. A merge or the like that is in progress is nobody's but the user's, and stays.
    pub(super) fn put_back_beside(
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
            names.retain(|name| name.ends_with(ATTRIBUTES));
            names.extend(status.dirty_files());
        }
        self.put_back_changed(&Changed::of_root(&self.repo.git, &status.dirty), quarantine)?;
        self.put_back_inside(quarantine)?;
        if self.is_sparse() {
            self.reapply_sparse(&self.repo.ready_head()?.1)?;
        }
        beside.notes.push(format!(
            "changed by a check, or by somebody while the goals were measured, and put back: {}",
            some_of(&names)
        ));
        let left = self.dirty_files()?;
        if !left.is_empty() {
            let left = some_of(&left);
            let note =
                format!("tracked files still have changes beside the undone cycle's: {left}");
            beside.notes.push(note);
        }
        Ok(beside)
    }

    /// Puts tracked files back that were written to since they were last known to be HEAD's; what they held is in the quarantine.
    pub fn put_back_written(&self, start: &Start) -> Result<Written> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        // Git would wait at a pipe that a check left.
        pipes::clear(self.repo.working_tree(), &mut |_| {}, &mut quarantine)?;
        // Looks at no more than the files that the index lists.
        let arguments = ["diff-files", "--name-only", "--ignore-submodules", "-z"];
        let listed = self.repo.git.run(&arguments)?;
        let files = match listed.is_empty() {
            true => Vec::new(),
            false => self.dirty_files()?,
        };
        // What an agent left inside a submodule and cannot be put back is no check's.
        let listed = listed.split(|byte| *byte == 0);
        let listed: HashSet<_> = listed.map(String::from_utf8_lossy).collect();
        let is_listed = |file: &String| listed.contains(file.as_str());
        let files: Vec<_> = files.into_iter().filter(is_listed).collect();
        if files.is_empty() {
            return Ok(Written {
                notes: quarantine.notes().collect(),
                ..Written::default()
            });
        }
        let mut notes = self.put_back_beside(start, &mut quarantine)?.notes;
        notes.extend(quarantine.notes());
        Ok(Written { files, notes })
    }

    /// Reads the state of the tree; git is let see again what it was told not to look at since the start.
    fn look_at_hidden(&self, start: &Start) -> Result<Status> {
        let (status, hidden, _) = self.look()?;
        self.take_back_flags(start, &hidden)?;
        match hidden.changes.is_empty() {
            true => Ok(status),
            false => self.state(),
        }
    }

    /// Does the same inside submodules.
    fn put_back_inside(&self, quarantine: &mut Quarantine) -> Result<()> {
        for name in self.repo.modules.known().into_keys() {
            let path = exact::encode(&name);
            let Some(git) = self.inside(&path) else {
                continue;
            };
            let found = status::read_inside(&git)?;
            let changed = Changed {
                git: &git,
                folder: &[&path[..], b"/"].concat(),
                paths: &found.dirty,
            };
            self.put_back_changed(&changed, quarantine)?;
        }
        Ok(())
    }
}

/// The name of the file with the attributes of a folder.
const ATTRIBUTES: &str = ".gitattributes";

/// Says whether a path is such a file.
pub(super) fn is_attributes(path: &[u8]) -> bool {
    path.ends_with(ATTRIBUTES.as_bytes())
}
