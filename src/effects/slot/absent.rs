//! What stands for modules that the commit of a slot lacks, where an environment would find them in the checkout.

use super::{Slot, remove_all};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::leads::absent;

impl Slot {
    /// Has Python miss the modules that the checkout's commit has and this one, on which the slot is, has not.
    pub(super) fn stand_in(&self, user: &Repo, commit: &str) -> Result<()> {
        let folders = user.leads().modules();
        if folders.is_empty() {
            return Ok(());
        }
        let beside = absent::folder_beside(&self.root);
        remove_all(&beside)?;
        let (Some(theirs), Some(shown)) = (user.head()?.commit, beside.to_str()) else {
            return Ok(());
        };
        let changed = user.differences(&user.tree_of(&theirs)?, &user.tree_of(commit)?)?;
        let gone = changed.iter().filter(|one| one.new.is_none());
        let gone: Vec<&str> = gone
            .filter_map(|one| std::str::from_utf8(&one.path).ok())
            .collect();
        let is_there = |path: &str| self.root.join(path).exists();
        for folder in folders {
            let theirs = user.home.join(folder);
            let (Some(folder), Some(theirs)) = (folder.to_str(), theirs.to_str()) else {
                continue;
            };
            for module in absent::modules(folder, gone.iter().copied(), &is_there) {
                let place = beside.join(format!("{module}.py"));
                place.parent().map_or(Ok(()), files::make_folder)?;
                files::replace_unsynced(&place, absent::stand_in(shown, theirs).as_bytes())?;
            }
        }
        Ok(())
    }
}
