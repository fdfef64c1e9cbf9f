//! Repositories that a change made part of the tree: a commit of this one holds only which commit they are on. What they
//! hold counts where somebody else can get it, and the files that were tracked here may not go into one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::effects::files;
use crate::effects::git::may_refuse;
use crate::effects::guard::modules;
use crate::effects::repo::{Difference, Entry, SUBMODULE};
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::exact;

/// The file that says where submodules come from.
const GITMODULES: &str = ".gitmodules";
/// The settings in it that say so.
const NAMED: &str = r"^submodule\..*\.(path|url)$";
/// Where git keeps what a repository's origin has.
const OF_ORIGIN: [&str; 2] = ["refs/remotes", "refs/tags"];
/// The most bytes of a file with refs, and the most entries of their folders that are looked at.
const REFS_LIMIT: (u64, usize) = (16 << 20, 10_000);

impl Workspace<'_> {
    /// Says what of the work is in no commit that the user can have: files of the start that lie in a repository of the agent's
    /// now, a repository that nobody knows an origin of, and a commit in a slot's submodule that is nowhere else.
    pub(in crate::effects::workspace) fn unheld(
        &self,
        tip: &str,
        differences: &[Difference],
        start: &Start,
    ) -> Result<Vec<String>> {
        let is_module = |entry: &Option<Entry>| {
            let entry = entry.as_ref().filter(|entry| entry.mode == SUBMODULE);
            entry.map(|entry| entry.id.clone())
        };
        let changed: Vec<_> = differences
            .iter()
            .filter_map(|one| Some((one, is_module(&one.new)?)))
            .collect();
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let (of_start, files): (Vec<_>, Vec<_>) = differences
            .iter()
            .filter(|one| one.old.is_some())
            .partition(|one| is_module(&one.old).is_some());
        let files: BTreeSet<&[u8]> = files.iter().map(|one| &one.path[..]).collect();
        let known: BTreeSet<String> = of_start
            .iter()
            .filter_map(|one| is_module(&one.old))
            .collect();
        let named = self.named_modules(tip)?;
        let mut found = Vec::new();
        for (one, id) in changed {
            let path = &one.path;
            let shown = String::from_utf8_lossy(path);
            let below = [path, &b"/"[..]].concat();
            let inside = files.range(&below[..]..).next();
            // In a submodule of the start there may be files that only the user knows of.
            let is_in_place_of_files =
                is_module(&one.old).is_none() && start.kept.is_ousted_by(path);
            let held_files = files.contains(&path[..])
                || inside.is_some_and(|file| file.starts_with(&below))
                || is_in_place_of_files;
            if held_files {
                found.push(format!(
                    "files of this repository were put into one of the agent's: {shown}"
                ));
            } else if one.old.is_none() && !named.contains(path) {
                found.push(format!(
                    "{shown} is a repository of the agent's, and {GITMODULES} names no url for it"
                ));
            } else if self.repo.is_slot && !known.contains(&id) && !self.is_of_origin(path, &id) {
                found.push(format!(
                    "the commit of {shown} lies only in the copy that the agent worked in"
                ));
            }
        }
        Ok(found)
    }

    /// Says which submodules that are set up here a change moves: their git directories, which are put back, name the old folders, so
    /// that git could not go into them any more. A slot is left behind.
    pub(in crate::effects::workspace) fn moved_modules(
        &self,
        start: &Start,
        tip: &str,
    ) -> Result<Vec<String>> {
        if self.repo.is_slot || start.guarded.modules().is_empty() {
            return Ok(Vec::new());
        }
        let before = self.module_paths(&start.commit)?;
        let tree = self.repo.tree_of(tip)?;
        let mut moved = Vec::new();
        for (name, to) in self.module_paths(tip)? {
            let Some(from) = before.get(&name).filter(|from| **from != to) else {
                continue;
            };
            let is_set_up = start.guarded.modules().contains_key(&exact::decode(from));
            if is_set_up && self.repo.id_at(&tree, &to)?.is_some() {
                let [from, to] = [from, &to].map(|path| exact::shown(&exact::decode(path)));
                moved.push(format!(
                    "the move of a submodule, which evolve cannot follow: {from} → {to}"
                ));
            }
        }
        Ok(moved)
    }

    /// Returns the paths of submodules by their names in the `.gitmodules` of a commit.
    fn module_paths(&self, commit: &str) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let mut settings = self.module_settings(commit)?;
        settings.retain(|(name, _)| name.ends_with(b".path"));
        Ok(settings.into_iter().collect())
    }

    /// Returns the paths and urls of submodules in the `.gitmodules` of a commit, as in `submodule.name.path`. There may be none, it
    /// may name none, or it cannot be read.
    fn module_settings(&self, commit: &str) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let blob = format!("--blob={commit}:{GITMODULES}");
        let arguments = ["config", "-z", &blob, "--get-regexp", NAMED];
        let listed = may_refuse(self.repo.git.run(&arguments))?.unwrap_or_default();
        let settings = listed.split(|byte| *byte == 0);
        let pair = |setting: &[u8]| {
            let end = setting.iter().position(|byte| *byte == b'\n')?;
            Some((setting[..end].to_vec(), setting[end + 1..].to_vec()))
        };
        Ok(settings.filter_map(pair).collect())
    }

    /// Returns the paths that `.gitmodules` names a url for in a commit.
    fn named_modules(&self, tip: &str) -> Result<BTreeSet<Vec<u8>>> {
        let (mut paths, mut with_url) = (Vec::new(), BTreeSet::new());
        for (name, value) in self.module_settings(tip)? {
            if let Some(name) = name.strip_suffix(b".path") {
                paths.push((name.to_vec(), value));
            } else if let Some(name) = name.strip_suffix(b".url")
                && !value.trim_ascii().is_empty()
            {
                with_url.insert(name.to_vec());
            }
        }
        paths.retain(|(name, _)| with_url.contains(name));
        Ok(paths.into_iter().map(|(_, path)| path).collect())
    }

    /// Says whether a submodule's repository has this commit from its origin: a branch or tag there is on it. Reads files
    /// alone: git does not go into a repository that an agent made.
    fn is_of_origin(&self, path: &[u8], id: &str) -> bool {
        let Some(git_dir) = modules::git_dir_at(&self.repo.root, path) else {
            return false;
        };
        let packed = files::read_bounded(&git_dir.join("packed-refs"), REFS_LIMIT.0);
        let packed = exact::decode(&packed.ok().flatten().unwrap_or_default());
        let is_of_origin = |name: &str| OF_ORIGIN.iter().any(|folder| name.starts_with(folder));
        let is_packed = packed.lines().any(|line| match line.split_once(' ') {
            Some((value, name)) => value == id && is_of_origin(name),
            // What a tag leads to.
            None => line.strip_prefix('^') == Some(id),
        });
        is_packed
            || OF_ORIGIN
                .iter()
                .any(|it| is_ref_below(&git_dir.join(it), id))
    }
}

/// Says whether a file below a folder of refs holds this id.
fn is_ref_below(folder: &Path, id: &str) -> bool {
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > REFS_LIMIT.1 {
                return false;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                continue;
            }
            let held = files::read_bounded(&entry.path(), 1024).ok().flatten();
            if held.is_some_and(|held| held.trim_ascii() == id.as_bytes()) {
                return true;
            }
        }
    }
    false
}
