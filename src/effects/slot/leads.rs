//! What leads Python to a slot's code, where an environment would have it run the checkout's.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Slot, remove_all};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::leads::python::{self, Told};
use crate::model::leads::within;

impl Slot {
    /// Writes it anew beside the slot, whatever who was at work there made of it: nothing that stands in its place is read.
    pub(super) fn lead_python(&self, user: &Repo) -> Result<()> {
        let leads = user.leads();
        let folders = leads.modules();
        let Some(commit) = user.head()?.commit.filter(|_| !folders.is_empty()) else {
            return Ok(());
        };
        let tree = user.tree_of(&commit)?;
        let mut led = Vec::new();
        for folder in folders {
            let theirs = user.home.join(folder);
            let theirs = theirs.canonicalize().unwrap_or(theirs);
            // What git does not have no copy has either: it stays where it is, also below a folder that leads to the copy.
            let ours = match is_tracked(user, &tree, folder)? {
                true => self.root.join(folder),
                false => theirs.clone(),
            };
            led.push((theirs, ours));
        }
        let beside = python::folder_beside(&self.root);
        remove_all(&beside)?;
        files::make_folder(&beside)?;
        let added = leads.added().iter();
        let script = python::script(&Told {
            led,
            added: added.map(|folder| within(&self.root, folder)).collect(),
            packages: leads.packages().to_vec(),
        });
        files::replace_unsynced(&beside.join(python::FILE), script.as_bytes())
    }
}

/// Says whether a tree has a folder, which may be the root.
fn is_tracked(repo: &Repo, tree: &str, folder: &Path) -> Result<bool> {
    let folder = folder.as_os_str().as_bytes();
    Ok(folder.is_empty() || repo.is_folder(tree, folder)?)
}
