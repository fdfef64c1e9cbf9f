//! `.gitignore` files of an agent's that name themselves, too: git shows neither them nor what they hide, so no commit would hold what
//! a goal may be met by.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::strays::Left;
use crate::effects::files::is_beneath;
use crate::effects::git::Git;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::status::ignored_in;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::{output, text};

/// What a folder may hold to be moved away, in bytes and in files and folders; with more a tool filled it, an environment perhaps.
const LIMIT: (u64, usize) = (1 << 20, 1_000);

impl Workspace<'_> {
    /// Moves what came anew and hides itself out of the way: a folder of the agent's as a whole, and in one that was there before the
    /// `.gitignore` alone, so that what it hid is committed like all else. What tools fill stays.
    pub(in crate::effects::workspace) fn clear_hiding(
        &self,
        start: &Start,
        ignoring: Vec<PathBuf>,
        left: &mut Left,
    ) -> Result<()> {
        let Some(before) = &start.ignoring else {
            return Ok(());
        };
        let is_new = |path: &PathBuf| {
            let is_of_tools = output::is_of_tools(&text::path(path.as_os_str().as_bytes()));
            !before.contains(path) && !is_of_tools
        };
        let new: Vec<PathBuf> = ignoring.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        let root = &self.repo.root;
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        // The outer ones first: with such a folder goes what is in it.
        for path in self.hidden_by_themselves(&new)? {
            let name = path.as_os_str().as_bytes();
            if fs::symlink_metadata(root.join(&path)).is_err() || !is_beneath(root, name) {
                continue;
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            let shown = text::path(name);
            if self.is_shared(start, folder)? {
                quarantine.take(root, name)?;
                left.notes.push(format!(
                    "{shown} hid itself and other files from git, and is not among them any more"
                ));
            } else if is_within_limit(&root.join(folder)) {
                quarantine.take(root, folder.as_os_str().as_bytes())?;
                left.notes.push(format!(
                    "{shown} hid that folder from git, and no commit would have held it"
                ));
            } else {
                left.notes.push(format!(
                    "{shown} hides that folder from git: no commit holds it, and goals may be met by it"
                ));
            }
        }
        left.notes.extend(quarantine.notes());
        Ok(())
    }

    /// Returns those of these files that git ignores by no pattern for a folder around them, in order.
    fn hidden_by_themselves(&self, files: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
        let mut homes: BTreeMap<&[u8], (Git, Vec<&OsStr>)> = BTreeMap::new();
        for file in files {
            let path = file.as_os_str().as_bytes();
            let (git, below) = self.around(path);
            let home = &path[..path.len() - below.len()];
            let (_, asked) = homes.entry(home).or_insert((git, Vec::new()));
            asked.push(OsStr::from_bytes(below));
        }
        let mut found = BTreeSet::new();
        for (home, (git, asked)) in homes {
            let ignored: BTreeSet<_> = ignored_in(&git, &asked)?.into_iter().collect();
            let hidden = asked.iter().filter(|it| ignored.contains(it.as_bytes()));
            let whole = hidden.map(|it| Path::new(OsStr::from_bytes(home)).join(it));
            found.extend(whole);
        }
        Ok(found)
    }

    /// Says whether a folder was there before the agent, or holds files that git tracks.
    fn is_shared(&self, start: &Start, folder: &Path) -> Result<bool> {
        let name = folder.as_os_str().as_bytes();
        if name.is_empty() || start.folders.has(folder) || start.kept.is_ousted_by(name) {
            return Ok(true);
        }
        let (git, below) = self.around(name);
        let arguments = ["ls-files", "-z", "--"].map(OsStr::new);
        let tracked = git.run(&[&arguments[..], &[OsStr::from_bytes(below)]].concat())?;
        Ok(!tracked.is_empty())
    }
}

/// Says whether a folder holds no more than is moved away.
fn is_within_limit(folder: &Path) -> bool {
    let (mut bytes, mut count) = LIMIT;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else {
                continue;
            };
            let size = if meta.is_dir() { 0 } else { meta.len() };
            match (bytes.checked_sub(size), count.checked_sub(1)) {
                (Some(left), Some(others)) => (bytes, count) = (left, others),
                _ => return false,
            }
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    true
}
