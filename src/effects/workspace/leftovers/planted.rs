//! Repositories that an agent made in folders with files of this one: git would take such a folder for the other repository,
//! and whoever goes there would run what its settings name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::strays::Left;
use crate::effects::files::{is_beneath, is_within};
use crate::effects::guard::modules::submodules;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::status::ignored_in;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::exact;

/// Whose folder it is in which something called `.git` came anew.
enum Folder {
    /// One with files that are tracked, or that the user had there.
    Ours,
    /// A submodule's, or one that git ignores.
    Others,
    /// A new one.
    New,
}

impl Workspace<'_> {
    /// Moves what is called `.git` and came anew out of folders with files of this repository: they are measured and committed
    /// like all others then. Returns those in new folders.
    pub(in crate::effects::workspace) fn clear_planted(
        &self,
        start: &Start,
        repositories: Vec<String>,
        left: &mut Left,
    ) -> Result<Vec<Vec<u8>>> {
        let Some(before) = &start.repositories else {
            return Ok(Vec::new());
        };
        let before: BTreeSet<&String> = before.iter().collect();
        let is_new = |one: &String| !before.contains(one);
        let root = &self.repo.root;
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut planted = Vec::new();
        for name in repositories.into_iter().filter(is_new) {
            let path = exact::encode(&name);
            let Some(folder) = path.strip_suffix(b"/.git") else {
                continue;
            };
            match self.kind_of(start, folder)? {
                Folder::Ours if is_beneath(root, &path) => {
                    quarantine.take(root, &path)?;
                    let shown = exact::shown(&name);
                    left.notes.push(format!(
                        "{shown} was added and would have hidden what else is in that folder"
                    ));
                }
                Folder::New => planted.push(path),
                Folder::Ours | Folder::Others => {}
            }
        }
        left.notes.extend(quarantine.notes());
        Ok(planted)
    }

    fn kind_of(&self, start: &Start, folder: &[u8]) -> Result<Folder> {
        // As the start had it: an agent may have told the index that the user's folder is a submodule.
        if self.repo.is_folder(&start.tree, folder)? || start.kept.is_ousted_by(folder) {
            return Ok(Folder::Ours);
        }
        let (git, below) = self.around(folder);
        // A submodule's place is no folder of files, nor is what lies in it.
        let arguments = ["ls-files", "--stage", "-z"];
        let is_around = |module: &Vec<u8>| is_within(below, module);
        if submodules(&git.run(&arguments)?).iter().any(is_around) {
            return Ok(Folder::Others);
        }
        let path = OsStr::from_bytes(below);
        let arguments = ["ls-files", "-z", "--"].map(OsStr::new);
        let tracked = git.run(&[&arguments[..], &[path]].concat())?;
        if !tracked.is_empty() {
            return Ok(Folder::Ours);
        }
        match ignored_in(&git, &[path])?.is_empty() {
            true => Ok(Folder::New),
            false => Ok(Folder::Others),
        }
    }
}
