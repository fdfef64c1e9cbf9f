//! What leads Python to a slot's code, where an environment would have it run the checkout's.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Slot, remove_all};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::leads::python;

impl Slot {
    /// Writes it anew beside the slot: whoever was at work there may have changed it.
    pub(super) fn lead_python(&self, user: &Repo) -> Result<()> {
        let folders = user.leads().modules();
        if folders.is_empty() {
            return Ok(());
        }
        let mut led = Vec::new();
        for folder in folders {
            // What git does not have no copy has either.
            if is_tracked(user, folder)? {
                let theirs = user.home.join(folder);
                let theirs = theirs.canonicalize().unwrap_or(theirs);
                led.push((theirs, self.root.join(folder)));
            }
        }
        let script = python::script(&led);
        let beside = python::folder_beside(&self.root);
        let place = beside.join(python::FILE);
        let is_alone = fs::read_dir(&beside).is_ok_and(|entries| entries.count() == 1);
        let is_same = is_alone && fs::read(&place).is_ok_and(|bytes| bytes == script.as_bytes());
        if is_same {
            return Ok(());
        }
        remove_all(&beside)?;
        files::make_folder(&beside)?;
        files::replace_unsynced(&place, script.as_bytes())
    }
}

/// Says whether the checkout's commit has a folder.
fn is_tracked(user: &Repo, folder: &Path) -> Result<bool> {
    let folder = folder.as_os_str().as_bytes();
    Ok(match user.head()?.commit {
        Some(commit) => folder.is_empty() || user.is_folder(&user.tree_of(&commit)?, folder)?,
        None => false,
    })
}
