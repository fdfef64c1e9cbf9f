//! What a slot is lent from the user's checkout and `protect` names, or checks run: the agent reaches it there, so there it is held
//! against what it was, and put back. What the user's own hand did to it meanwhile cannot be told apart, and goes to the quarantine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Isolation;
use crate::effects::files::{self, is_within};
use crate::effects::keep::{self, Kept};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::slot::lend::is_tracked;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::yardstick::Protection;

impl Isolation {
    /// Copies the protected files that are lent, and those that checks `run`, right before an agent runs; a copy that `last` made is
    /// used again. `began` says when the session did; none where an agent of it ran.
    pub fn keep_lent(
        &self,
        protection: &Protection,
        run: &[String],
        last: Option<&Kept>,
        began: Option<SystemTime>,
    ) -> Result<Kept> {
        let links = &self.slot.provisions.link;
        if links.is_empty() || protection.is_empty() && run.is_empty() {
            return Ok(Kept::default());
        }
        let user = Workspace { repo: &self.user };
        let found = user.ignored_and_protected(protection)?;
        let run = run.iter().cloned();
        let run: Vec<String> = run
            .filter(|file| keep::is_small(&self.user.root, file))
            .collect();
        let mut files = found.files;
        files.retain(|path| is_lent(links, path));
        files.extend(run.iter().map(|file| file.clone().into_bytes()));
        let files = files.into_iter().collect();
        let folder = keep::folder(&self.user.private);
        let mut kept = Kept::make(&self.user.root, &folder, (files, Vec::new()), last)?;
        kept.note_built(&run);
        // Whoever works in the slot has no business there: none is loose.
        kept.note_protected(protection, &BTreeSet::new(), found.is_cut);
        kept.note_of_checks_lent(began, last);
        kept.note_lent();
        Ok(kept)
    }
}

impl Isolation {
    /// Returns what the slot has a link to.
    pub fn links(&self) -> Vec<String> {
        let links = self.slot.provisions.link.iter();
        let links = links.filter(|path| self.slot.is_lent(&self.user, path));
        links.cloned().collect()
    }

    /// Links to `path` again where something else has its place, unless the slot's commit has that. What it is can be made anew and
    /// goes, but to the quarantine if the checkout lost something: it may have come from there. Says whether there was something.
    pub fn lend_again(
        &self,
        repo: &Repo,
        path: &str,
        has_lost: bool,
        quarantine: &mut Quarantine,
    ) -> Result<bool> {
        let root = &self.slot.root;
        let is_beneath = files::is_beneath(root, path.as_bytes());
        let was_there = is_beneath && fs::symlink_metadata(root.join(path)).is_ok();
        if was_there && has_lost && !is_tracked(repo, path)? {
            quarantine.take(root, path.as_bytes())?;
        }
        let is_lent = self.slot.lend_one(&self.user, repo, path)?;
        Ok(was_there && is_lent)
    }
}

/// Says whether a path is one of these links, or lies in the folder of one.
pub fn is_lent(links: &[String], path: &[u8]) -> bool {
    let mut links = links.iter();
    links.any(|link| is_within(path, link.as_bytes()))
}

/// Returns those of the files that are not what they were.
pub fn changed(user: &Repo, start: &Start) -> Vec<String> {
    let changed = start.lent.changed_protected(&user.root);
    let shown = changed.iter().map(|path| String::from_utf8_lossy(path));
    shown.map(|path| path.into_owned()).collect()
}

/// Returns those that `protect` names, with the paths by which the slot has them, too: while goals are measured, nobody may change them.
/// What a wildcard alone protects checks may write.
pub fn named(start: &Start) -> impl Iterator<Item = String> {
    let protection = start.lent.protection();
    let paths = start.lent.protected_paths().map(String::from_utf8);
    paths
        .flatten()
        .filter(move |path| protection.is_named(path))
}

/// Puts them back in the user's checkout, what checks built there, too; says which.
pub fn put_back(user: &Repo, start: &Start) -> Result<Vec<String>> {
    put_back_by(user, start, |kept, root, folders, quarantine| {
        let built = kept.put_back_all_built(root, folders, quarantine)?;
        let mut notes = kept.put_back(root, folders, quarantine)?.notes();
        notes.extend(keep::put_back_words(&built));
        Ok(notes)
    })
}

/// Puts back what was removed there, after a change that is not undone. What is changed may be the checks' doing, or the user's, and
/// stays; the earlier version goes to the quarantine.
pub fn put_back_missing(user: &Repo, start: &Start) -> Result<Vec<String>> {
    put_back_by(user, start, |kept, root, folders, quarantine| {
        let put_back = kept.put_back_missing(root, folders, quarantine)?;
        Ok(put_back.notes())
    })
}

type PutsBack = fn(&Kept, &Path, &[PathBuf], &mut Quarantine) -> Result<Vec<String>>;

fn put_back_by(user: &Repo, start: &Start, puts_back: PutsBack) -> Result<Vec<String>> {
    let mut quarantine = Quarantine::of(&user.private, &start.session, start.cycle);
    let folders = keep::folders(&user.own_places());
    let mut notes = puts_back(&start.lent, &user.root, &folders, &mut quarantine)?;
    notes.extend(quarantine.notes());
    Ok(notes)
}
