//! Folders with nothing in them but such folders: no commit holds one, a check can ask for it, and no undo of commits reaches
//! it. Those that came since the start are removed, those that were there come back. What is ignored is left alone.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::workspace::status::ignored_in;
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;
use crate::model::text;

impl Workspace<'_> {
    /// Removes hollow folders that were not there before the agent, or that had files which `tip` no longer holds; says which.
    /// `seen` are all folders of the tree, `left` the paths of files that are gone since the start.
    pub(in crate::effects::workspace) fn clear_hollow(
        &self,
        start: &Start,
        seen: Vec<PathBuf>,
        left: &[Vec<u8>],
        tip: &str,
    ) -> Result<Option<String>> {
        let (known, _) = start.guarded.folders(&self.repo.own_places());
        if !self.repo.is_slot && !known.has(Path::new("")) {
            // Which are the user's own cannot be told.
            return Ok(None);
        }
        let is_new = |folder: &PathBuf| !known.has(folder);
        let emptied = left.iter().flat_map(|path| {
            let above = Path::new(OsStr::from_bytes(path)).ancestors().skip(1);
            above.map(Path::to_owned).collect::<Vec<_>>()
        });
        let looked_at: BTreeSet<_> = seen.into_iter().filter(is_new).chain(emptied).collect();
        // Of those in each other the innermost comes first.
        let mut hollow = HashSet::new();
        for folder in looked_at.into_iter().rev() {
            if self.may_be_cleared(start, &folder, tip) && self.is_hollow(&folder, &hollow) {
                hollow.insert(folder);
            }
        }
        let is_outermost =
            |folder: &&PathBuf| folder.parent().is_none_or(|above| !hollow.contains(above));
        let outermost: Vec<_> = hollow.iter().filter(is_outermost).collect();
        let names: Vec<_> = outermost.iter().map(|it| it.as_os_str()).collect();
        let ignored = ignored_in(&self.repo.git, &names)?;
        let mut removed = Vec::new();
        for folder in outermost {
            let name = [folder.as_os_str().as_bytes(), b"/"].concat();
            // Git lists also what only has ignored things in it; libgit2 alone goes by settings that may be the agent's.
            let is_listed = ignored.iter().any(|around| name.starts_with(around));
            if is_listed && self.repo.is_ignored(&String::from_utf8_lossy(&name)) {
                continue;
            }
            let mut within: Vec<_> = hollow.iter().filter(|it| it.starts_with(folder)).collect();
            within.sort();
            let is_gone = within.iter().rev().all(|it| self.remove_hollow(it));
            removed.extend(is_gone.then(|| text::clean_line(&folder.to_string_lossy())));
        }
        removed.sort();
        Ok((!removed.is_empty()).then(|| {
            format!(
                "empty folders, which no commit holds, were removed: {}",
                some_of(&removed)
            )
        }))
    }

    /// Says whether a folder is neither a place of git's or `evolve`'s nor of the user's, nor one that `tip` holds.
    fn may_be_cleared(&self, start: &Start, folder: &Path, tip: &str) -> bool {
        let Some(name) = folder.to_str().filter(|name| !name.is_empty()) else {
            return false;
        };
        let is_within = |above: &Path| !above.as_os_str().is_empty() && self.has_git(above);
        let is_its_own = folder.starts_with(".agents")
            || folder.components().any(|part| part.as_os_str() == ".git")
            || folder.ancestors().any(is_within);
        !is_its_own
            && !start.kept.was_ignored(format!("{name}/").as_bytes())
            && matches!(self.repo.id_at(tip, name), Ok(None))
    }

    fn has_git(&self, folder: &Path) -> bool {
        fs::symlink_metadata(self.repo.root.join(folder).join(".git")).is_ok()
    }

    fn is_hollow(&self, folder: &Path, hollow: &HashSet<PathBuf>) -> bool {
        let full = self.repo.root.join(folder);
        let is_folder = fs::symlink_metadata(&full).is_ok_and(|meta| meta.is_dir());
        let Some(mut entries) = fs::read_dir(&full).ok().filter(|_| is_folder) else {
            return false;
        };
        entries
            .all(|entry| entry.is_ok_and(|entry| hollow.contains(&folder.join(entry.file_name()))))
    }

    fn remove_hollow(&self, folder: &Path) -> bool {
        fs::remove_dir(self.repo.root.join(folder)).is_ok()
    }

    /// Makes the folders again that were there before the agent, are gone, and held no file of the start's commit.
    pub fn give_hollow_back(&self, start: &Start) {
        let (known, _) = start.guarded.folders(&self.repo.own_places());
        known.make_missing(&self.repo.root, &|folder| {
            let name = folder.to_str();
            name.is_some_and(|name| matches!(self.repo.id_at(&start.tree, name), Ok(None)))
        });
    }
}
