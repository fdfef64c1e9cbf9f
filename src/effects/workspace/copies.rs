//! The copies of what git does not track, made right before an agent.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::{Start, Workspace, named, some_of, status};
use crate::effects::files::is_beneath;
use crate::effects::keep::{self, Kept};
use crate::effects::pipes;
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::text;
use crate::model::yardstick::Protection;

/// The file that says what git ignores.
const IGNORE: &[u8] = b".gitignore";

/// What is copied of what git ignores.
#[derive(Debug)]
pub struct Held<'a> {
    /// What checks run.
    pub frozen: &'a [String],
    /// What checks run and may have built.
    pub built: &'a [String],
    /// What `protect` names.
    pub protection: &'a Protection,
    /// What came while goals were measured in this session, in hex.
    pub came: &'a BTreeSet<String>,
    /// When the session began; none where an agent of it ran.
    pub began: Option<SystemTime>,
}

impl Workspace<'_> {
    /// Copies the user's untracked files, right before an agent runs. Of the ignored ones only those that are `held`: a check that runs one could not be trusted again if it were not put back.
    pub fn keep_untracked(
        &self,
        start: &mut Start,
        held: &Held<'_>,
        last: Option<&Kept>,
    ) -> Result<()> {
        let (frozen, built) = (held.frozen, held.built);
        let protected = self.ignored_and_protected(held.protection)?;
        let root = &self.repo.root;
        let folder = keep::folder(&self.repo.private);
        let is_ignored = |path: &&[u8]| start.kept.was_ignored(path) && is_beneath(root, path);
        let programs = frozen.iter().map(String::as_bytes).filter(is_ignored);
        // The first measurement may have built it.
        let is_new = |path: &&String| {
            let path = path.as_bytes();
            !start.kept.is_listed(path) && is_beneath(root, path)
        };
        let built_ignored: Vec<_> = built.iter().filter(is_new).collect();
        let small = built_ignored
            .iter()
            .filter(|path| keep::is_small(root, path));
        let ignored_since = match last {
            Some(last) => self.ignored_since(start, last)?,
            None => Vec::new(),
        };
        let all: BTreeSet<_> = start
            .kept
            .untracked_paths()
            .chain(programs.map(<[u8]>::to_vec))
            .chain(small.map(|path| path.as_bytes().to_vec()))
            .chain(protected.files.iter().cloned())
            .chain(ignored_since)
            .collect();
        let ignored = start.kept.ignored.iter();
        let mut ignored: Vec<_> = ignored.map(|name| keep::from_hex(name)).collect();
        let is_new = |path: &&&String| !start.kept.was_ignored(path.as_bytes());
        let new = built_ignored.iter().filter(is_new);
        ignored.extend(new.map(|path| path.as_bytes().to_vec()));
        let shut = start.folders.without(&ignored);
        let mut kept = Kept::make(root, &folder, (all.into_iter().collect(), ignored), last)?;
        kept.note_outputs(root, last, &start.kept, frozen);
        kept.note_built(built);
        kept.note_protected(held.protection, &protected.files, protected.is_cut);
        match self.repo.is_slot {
            true => kept.note_slot(),
            false => kept.note_of_checks(held.began, last),
        }
        kept.note_snapshots(root, held.came);
        start.kept = kept;
        let shown = |path: &std::path::PathBuf| format!("{}/", path.display());
        start.kept.unreadable.extend(shut.shut().iter().map(shown));
        if start.repositories.is_none() {
            let met = pipes::met(root, &self.repo.plain);
            start.repositories = Some(named(met.repositories));
            start.ignoring = Some(met.ignoring.into_iter().collect::<BTreeSet<_>>().into());
            start.unlisted = Some(met.unlisted.into_iter().collect::<BTreeSet<_>>().into());
        }
        Ok(())
    }

    /// Returns the user's files that had a copy last and that git ignores by now: by a change of an agent's, for one.
    fn ignored_since(&self, start: &Start, last: &Kept) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        for path in last.among(&start.kept.ignored_paths()) {
            let is_there = !start.kept.is_listed(&path) && is_beneath(&self.repo.root, &path);
            if is_there && self.repo.id_at(&start.tree, &path)?.is_none() {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Puts the user's untracked files back before the goals are measured on a change, but for those that others write to, too: they
    /// are part of no change, and what an agent made of them would be measured and be gone. Says what was done.
    pub fn put_back_untracked(&self, start: &Start, tip: &str) -> Result<Vec<String>> {
        let root = &self.repo.root;
        let tree = self.repo.tree_of(tip)?;
        // What cannot be told is a commit's.
        let is_held = |path: &[u8]| self.repo.id_at(&tree, path).map_or(true, |id| id.is_some());
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let folders = keep::folders(&self.repo.own_places());
        let kept = start.kept.without_outputs(root, &is_held);
        let was_opened = self.open_shut(start);
        let put_back = kept.put_back(root, &folders, &mut quarantine)?;
        let mut notes = put_back.notes();
        if was_opened || !notes.is_empty() {
            self.shut_again(start);
        }
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Names the user's files that a kept change makes git ignore: to a later session they are build outputs like others.
    pub(super) fn note_ignored_by(&self, start: &Start, commit: &str) -> Result<Option<String>> {
        let changed = self
            .repo
            .differences(&start.tree, &self.repo.tree_of(commit)?)?;
        let is_of_ignoring = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(IGNORE);
        if !changed.iter().any(|one| is_of_ignoring(&one.path)) {
            return Ok(None);
        }
        let now = status::read(&self.repo.git, true)?.ignored;
        let before: BTreeSet<_> = start
            .kept
            .among(&start.kept.ignored_paths())
            .into_iter()
            .collect();
        let mut new = start.kept.among(&now.into_iter().collect());
        new.retain(|path| !before.contains(path));
        let new: Vec<_> = new.iter().map(text::path).collect();
        Ok((!new.is_empty()).then(|| {
            format!(
                "the change makes git ignore files of yours that it does not track, so later sessions make no copies of them: {}",
                some_of(&new)
            )
        }))
    }
}
