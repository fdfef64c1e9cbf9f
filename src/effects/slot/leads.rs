//! What leads Python to a slot's code, where an environment would have it run the checkout's.

use std::fs;

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
        let led = folders.iter().map(|folder| {
            let theirs = user.home.join(folder);
            (
                theirs.canonicalize().unwrap_or(theirs),
                self.root.join(folder),
            )
        });
        let script = python::script(&led.collect::<Vec<_>>());
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
