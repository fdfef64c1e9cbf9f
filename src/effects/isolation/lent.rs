//! What a slot is lent from the user's checkout and `protect` names: the agent reaches it there, so there it is held against what it
//! was, and put back. What the user's own hand did to it meanwhile cannot be told apart, and goes to the quarantine.

use std::collections::BTreeSet;

use super::Isolation;
use crate::effects::files::is_within;
use crate::effects::keep::{self, Kept};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::yardstick::Protection;

impl Isolation {
    /// Copies the protected files that are lent, right before an agent runs; a copy that `last` made is used again.
    pub fn keep_lent(&self, protection: &Protection, last: Option<&Kept>) -> Result<Kept> {
        let links = &self.slot.provisions.link;
        if links.is_empty() || protection.is_empty() {
            return Ok(Kept::default());
        }
        let user = Workspace { repo: &self.user };
        let found = user.ignored_and_protected(protection)?;
        let is_lent = |path: &Vec<u8>| {
            let mut links = links.iter();
            links.any(|link| is_within(path, link.as_bytes()))
        };
        let files = found.files.into_iter().filter(is_lent).collect();
        let folder = keep::folder(&self.user.private);
        let mut kept = Kept::make(&self.user.root, &folder, (files, Vec::new()), last)?;
        // Nothing is measured there.
        kept.note_protected(protection, &BTreeSet::new(), found.is_cut);
        Ok(kept)
    }
}

/// Returns those of the files that are not what they were.
pub fn changed(user: &Repo, start: &Start) -> Vec<String> {
    let changed = start.lent.changed_protected(&user.root);
    let shown = changed.iter().map(|path| String::from_utf8_lossy(path));
    shown.map(|path| path.into_owned()).collect()
}

/// Puts them back in the user's checkout; says which.
pub fn put_back(user: &Repo, start: &Start) -> Result<Vec<String>> {
    let mut quarantine = Quarantine::of(&user.private, &start.session, start.cycle);
    let folders = keep::folders(&user.own_places());
    let put_back = start.lent.put_back(&user.root, &folders, &mut quarantine)?;
    let mut notes = put_back.notes();
    notes.extend(quarantine.notes());
    Ok(notes)
}
