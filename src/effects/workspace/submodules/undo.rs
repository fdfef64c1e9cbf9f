//! Submodules in an undo: each has HEAD, branches and files again as they were at the start. Nothing is fetched.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::inside::joined;
use crate::effects::files::is_beneath;
use crate::effects::git::Git;
use crate::effects::guard::submodules::{self, Pair};
use crate::effects::mirror::Mirror;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Difference, SUBMODULE};
use crate::effects::workspace::{Start, Workspace, locks, status};
use crate::effects::{files, proc_table};
use crate::error::Result;
use crate::model::exact;

/// Checks out the commit that the index has of a submodule, which may have to be set up again.
const UPDATE: [&str; 8] = [
    "-c",
    "protocol.allow=never",
    "submodule",
    "update",
    "--init",
    "--no-fetch",
    "--force",
    "--",
];
/// Lists files that differ from the index.
pub(in crate::effects::workspace) const EDITED: [&str; 7] = [
    "diff",
    "--name-only",
    "-z",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--ignore-submodules",
];

/// Lists what commits bring, merges included, each path ended by a NUL.
const BROUGHT: [&str; 9] = [
    "diff-tree",
    "--stdin",
    "-m",
    "-r",
    "--root",
    "--no-commit-id",
    "--no-renames",
    "--diff-filter=A",
    "-z",
];

/// Returns the paths that commits brought which HEAD leads to and `was`, where it is known and still there, does not.
fn brought(git: &Git, was: Option<String>) -> Result<Vec<u8>> {
    let Some(was) = was else {
        return Ok(Vec::new());
    };
    let new = git.run(&["rev-list", "HEAD", &format!("^{was}")]);
    let new = new.or_else(|_| git.run(&["rev-list", "HEAD"]));
    match new.unwrap_or_default() {
        new if new.is_empty() => Ok(Vec::new()),
        new => git.run_with(&[&BROUGHT[..], &["--name-only"]].concat(), &new),
    }
}

/// What the agent did to a submodule, beside its commits.
#[derive(Clone, Copy)]
struct Met {
    /// Its `.git` was not as before the agent, and was put back.
    is_back: bool,
    /// The cycle brings another commit of it, or its `.git` was put back.
    is_changed: bool,
}

impl Workspace<'_> {
    /// Makes submodules what they were at the start: HEAD, branches and files, those within others too. `content` is what the
    /// undo changes in this repository. Says what was done.
    pub(in crate::effects::workspace) fn undo_submodules(
        &self,
        start: &Start,
        content: &[Difference],
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let known = start.guarded.modules();
        if known.is_empty() {
            return Ok(Vec::new());
        }
        self.clear_locks_within(start)?;
        let mirror = Mirror::of(&self.repo.own_places());
        let pairs = mirror.map(|mirror| submodules::pairs(&mirror));
        let pairs: BTreeMap<PathBuf, Pair> = pairs
            .unwrap_or_default()
            .into_iter()
            .map(|pair| (pair.live.clone(), pair))
            .collect();
        let mut notes = Vec::new();
        // The outer ones first: they hold the `.git` of those within.
        for (name, module) in known {
            let path = exact::encode(name);
            let modules = &self.repo.modules;
            let is_back = modules.put_back_dot_git(self.ground(), &path, quarantine)?;
            if is_back {
                notes.push(format!(
                    "{}/.git is as before the agent",
                    exact::shown(name)
                ));
            }
            match pairs.get(&module.git_dir()) {
                Some(pair) => {
                    let is_changed = is_back || !of_path(content, &path).is_empty();
                    let met = Met {
                        is_back,
                        is_changed,
                    };
                    let found = self.undo_submodule(start, &path, pair, met, quarantine)?;
                    let name = exact::shown(name);
                    notes.extend(found.into_iter().map(|note| format!("{name}: {note}")));
                }
                // Without a copy nobody knows which branch it was on.
                None => self.update_submodules(of_path(content, &path))?,
            }
        }
        Ok(notes)
    }

    /// Removes lock files that dead processes of the cycle left in submodules, as in the repository itself.
    pub(in crate::effects::workspace) fn clear_locks_within(&self, start: &Start) -> Result<()> {
        for (name, module) in start.guarded.modules() {
            let (root, path) = (&self.repo.root, exact::encode(name));
            if !self.repo.modules.may_be_checked_out(root, &path) {
                continue;
            }
            let git_dir = module.git_dir();
            let mut locks = locks::all_locks(&git_dir, &git_dir);
            locks.retain(|lock| !locks::is_older(lock, start.since));
            let folder = root.join(OsStr::from_bytes(&path));
            for lock in locks::lasting(locks) {
                if !proc_table::works_in("git", &folder) {
                    files::remove(&lock)?;
                }
            }
        }
        Ok(())
    }

    fn undo_submodule(
        &self,
        start: &Start,
        path: &[u8],
        pair: &Pair,
        met: Met,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let root = &self.repo.root;
        if !self.repo.modules.may_be_checked_out(root, path) {
            return Ok(Vec::new());
        }
        let dot_git = root.join(OsStr::from_bytes(path)).join(".git");
        let is_gone = fs::symlink_metadata(dot_git).is_err();
        if is_gone {
            self.update_submodule(path);
        }
        let Some(git) = self.inside(path) else {
            return Ok(Vec::new());
        };
        let mut follow = |commit: &str| {
            self.clear_edited(path, &git, quarantine)?;
            self.unstage_users(start, path, &git, commit)?;
            check_out(&git, commit)
        };
        let mut in_the_way = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let whose = start.whose();
        let mut notes =
            submodules::undo(pair, &whose, met.is_changed, &mut follow, &mut in_the_way)?;
        notes.extend(in_the_way.notes());
        if met.is_back || is_gone {
            self.clear_added(start, path, &git, quarantine)?;
        }
        Ok(notes)
    }

    /// Moves files to the quarantine that came into a submodule while git could not look into it.
    fn clear_added(
        &self,
        start: &Start,
        path: &[u8],
        git: &Git,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        for below in status::read_inside(git, false)?.untracked {
            let file = joined(path, below.strip_suffix(b"/").unwrap_or(&below));
            if !start.kept.was_there(&file) && is_beneath(&self.repo.root, &file) {
                quarantine.take(&self.repo.root, &file)?;
            }
        }
        Ok(())
    }

    /// Moves files of a submodule to the quarantine that were edited since stock was taken: by a check, or by somebody else.
    fn clear_edited(&self, path: &[u8], git: &Git, quarantine: &mut Quarantine) -> Result<()> {
        let root = &self.repo.root;
        let edited = git.run(&EDITED).unwrap_or_default();
        for file in edited.split(|byte| *byte == 0).filter(|it| !it.is_empty()) {
            let file = [path, b"/", file].concat();
            let there = fs::symlink_metadata(root.join(OsStr::from_bytes(&file)));
            if there.is_ok_and(|meta| !meta.is_dir()) && is_beneath(root, &file) {
                quarantine.take(root, &file)?;
            }
        }
        Ok(())
    }

    /// Returns the user's untracked files in submodules that are tracked there by now, or that a new commit there has brought,
    /// for people.
    pub(in crate::effects::workspace) fn taken_in_submodules(
        &self,
        start: &Start,
    ) -> Result<Vec<String>> {
        let mut taken = Vec::new();
        for name in start.guarded.modules().keys() {
            let path = exact::encode(name);
            let within = |one: Vec<u8>| {
                let below = one.strip_prefix(&path[..])?.strip_prefix(b"/")?;
                Some(below.to_vec())
            };
            let untracked: HashSet<_> = start.kept.untracked_paths().filter_map(within).collect();
            let Some(git) = self.inside(&path).filter(|_| !untracked.is_empty()) else {
                continue;
            };
            let was = self.repo.id_at(&start.tree, &path)?;
            let tracked = [git.run(&["ls-files", "-z"])?, brought(&git, was)?].concat();
            let tracked = tracked.split(|byte| *byte == 0);
            let files: BTreeSet<_> = tracked.filter(|it| untracked.contains(*it)).collect();
            taken.extend(files.into_iter().map(|below| {
                let below = String::from_utf8_lossy(below);
                format!("{}/{below}", exact::shown(name))
            }));
        }
        Ok(taken)
    }

    /// Checks out the commits that the index has of these submodules.
    pub(in crate::effects::workspace) fn update_submodules(
        &self,
        content: &[Difference],
    ) -> Result<()> {
        let is_submodule =
            |one: &&Difference| one.new.as_ref().is_some_and(|new| new.mode == SUBMODULE);
        for one in content.iter().filter(is_submodule) {
            let modules = &self.repo.modules;
            if modules.may_be_checked_out(&self.repo.root, &one.path) {
                self.update_submodule(&one.path);
            }
        }
        Ok(())
    }

    /// Returns git in the innermost repository around a path that it may go into, and the path below its root.
    pub(in crate::effects::workspace) fn around<'p>(&self, path: &'p [u8]) -> (Git, &'p [u8]) {
        let known = self.repo.modules.known().into_keys().rev();
        let mut around = known.filter_map(|name| {
            let outer = exact::encode(&name);
            let below = path.strip_prefix(&outer[..])?.strip_prefix(b"/")?;
            Some((self.inside(&outer)?, below))
        });
        let outermost = || (self.repo.git.clone(), path);
        around.next().unwrap_or_else(outermost)
    }

    /// Checks out the commit that the index has of a submodule, be it that of the submodule around it.
    pub(in crate::effects::workspace) fn update_submodule(&self, path: &[u8]) {
        let (git, below) = self.around(path);
        let arguments = UPDATE.map(OsStr::new).into_iter();
        let arguments: Vec<_> = arguments.chain([OsStr::from_bytes(below)]).collect();
        // A submodule whose commit is not here stays for the user to update; the index is right.
        if let Err(cause) = git.run(&arguments) {
            tracing::warn!("{cause}");
        }
    }
}

/// Makes index and files of a submodule what a commit has, wherever HEAD is; says what it could not do.
fn check_out(git: &Git, commit: &str) -> Result<Vec<String>> {
    match git.run(&["read-tree", "--reset", "-u", commit]) {
        Ok(_) => Ok(Vec::new()),
        Err(cause) if cause.is_halt() || cause.is_of_machine() => Err(cause),
        Err(cause) => Ok(vec![format!("its files could not be put back: {cause}")]),
    }
}

/// Returns the difference in a submodule's commit, if there is one.
fn of_path<'a>(content: &'a [Difference], path: &[u8]) -> &'a [Difference] {
    match content.iter().position(|one| one.path == path) {
        Some(place) => &content[place..=place],
        None => &[],
    }
}
