//! What changed between two trees, as people read it. The ledger is no part of it.

use git2::{Delta, DiffDelta, DiffFindOptions, DiffFormat, Index, Patch as Lines, Repository};

use super::Repo;
use super::failure::{broken, oid};
use crate::error::Result;
use crate::model::git::patch::{FileChange, Patch};
use crate::model::ledger::is_ledger_path;

impl Repo {
    /// Returns what changed from one tree to another outside the ledger, and so many bytes of the patch, in whole lines.
    pub fn patch(&self, old: &str, new: &str, most: usize) -> Result<Patch> {
        let what = "compare two trees";
        let inner = self.without_index().map_err(broken(what))?;
        let tree = |id: &str| inner.find_tree(oid(id)?).map_err(broken(what));
        let (old, new) = (tree(old)?, tree(new)?);
        let diff = inner.diff_tree_to_tree(Some(&old), Some(&new), None);
        let mut diff = diff.map_err(broken(what))?;
        diff.find_similar(Some(DiffFindOptions::new().renames(true)))
            .map_err(broken(what))?;
        let mut patch = Patch::default();
        for (index, delta) in diff.deltas().enumerate() {
            if is_content(&delta) {
                let lines = Lines::from_diff(&diff, index).map_err(broken(what))?;
                let counted = lines.map(|lines| lines.line_stats()).transpose();
                let (_, added, removed) = counted.map_err(broken(what))?.unwrap_or_default();
                patch.files.push(FileChange {
                    path: path_of(&delta),
                    added,
                    removed,
                    is_binary: delta.flags().is_binary(),
                });
            }
        }
        if most == 0 {
            return Ok(patch);
        }
        diff.print(DiffFormat::Patch, |delta, _, line| {
            if !is_content(&delta) || patch.is_cut {
                return true;
            }
            let content = String::from_utf8_lossy(line.content());
            if patch.text.len() + content.len() > most {
                patch.is_cut = true;
                return true;
            }
            if matches!(line.origin(), '+' | '-' | ' ') {
                patch.text.push(line.origin());
            }
            patch.text.push_str(&content);
            true
        })
        .map_err(broken(what))?;
        Ok(patch)
    }
}

impl Repo {
    /// Opens the repository once more, with an index that has nothing: libgit2 looks for attributes there, and cannot read one that
    /// is split or sparse.
    fn without_index(&self) -> Result<Repository, git2::Error> {
        let inner = Repository::open(self.inner.path())?;
        if let Some(root) = self.inner.workdir() {
            inner.set_workdir(root, false)?;
        }
        inner.set_index(&mut Index::new()?)?;
        Ok(inner)
    }
}

/// Says whether a change concerns more than the ledger.
fn is_content(delta: &DiffDelta<'_>) -> bool {
    let files = [delta.old_file(), delta.new_file()];
    let mut paths = files.iter().filter_map(git2::DiffFile::path_bytes);
    paths.any(|path| !is_ledger_path(path))
}

fn path_of(delta: &DiffDelta<'_>) -> String {
    let path = |file: git2::DiffFile<'_>| {
        String::from_utf8_lossy(file.path_bytes().unwrap_or_default()).into_owned()
    };
    let (old, new) = (path(delta.old_file()), path(delta.new_file()));
    match delta.status() {
        Delta::Renamed => format!("{old} → {new}"),
        Delta::Deleted => old,
        _ => new,
    }
}
