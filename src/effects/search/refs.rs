//! The refs that hold the commits of a search's attempts. Nobody but `evolve` writes in their folder, by the search's lock. What
//! else is there is in the way, a lock that a crash left or what an agent put there, and is removed.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::store::Store;
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::effects::workspace::locks::lasting;
use crate::error::{Error, Result};
use crate::model::search::lineage::Id;

/// Why a ref is written, in its reflog.
const NOTE: &str = "evolve: an attempt of a search";

/// Sets the ref of an attempt.
pub fn set(repo: &Repo, store: &Store, id: Id, commit: &str) -> Result<()> {
    let name = store.attempt_ref(id);
    let set = || repo.set_ref(&name, commit, NOTE);
    // To look at all of them each time would take longer with each attempt.
    if is_free(repo, &name) && set().is_ok() {
        return Ok(());
    }
    make_way(repo, store)?;
    set()
}

/// Removes all refs of a search.
pub fn remove(repo: &Repo, store: &Store) -> Result<()> {
    make_way(repo, store)?;
    let prefix = store.attempt_ref_prefix();
    let all = repo.all_refs()?;
    for name in all.keys().filter(|name| name.starts_with(&prefix)) {
        repo.remove_ref(name)?;
    }
    // One that is gone, or in which another working tree begins a search, is fine.
    let _ = fs::remove_dir(repo.common_path(&prefix));
    Ok(())
}

/// Removes what keeps the refs of a search from being read and written.
pub fn make_way(repo: &Repo, store: &Store) -> Result<()> {
    let prefix = store.attempt_ref_prefix();
    for folder in folders_of(&prefix) {
        files::remove_unless_folder(&repo.common_path(folder))?;
    }
    let mut locks = Vec::new();
    for entry in fs::read_dir(repo.common_path(&prefix))
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = entry.path();
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        match name.to_str().filter(|name| name.parse::<Id>().is_ok()) {
            Some(id) if is_file => repo.remove_broken_ref(&format!("{prefix}{id}"))?,
            Some(_) | None if path.extension() == Some(OsStr::new("lock")) => locks.push(path),
            Some(_) | None => remove_all(&path)?,
        }
    }
    for lock in lasting(locks) {
        remove_all(&lock)?;
    }
    // Those that are packed are in the way, too.
    let is_above = |name: &str| folders_of(&prefix).any(|folder| folder == name);
    let is_below = |name: &str| {
        let id = name.strip_prefix(&prefix);
        id.is_some_and(|id| id.contains('/'))
    };
    let all = repo.all_refs()?;
    for name in all.keys().filter(|name| is_above(name) || is_below(name)) {
        repo.remove_ref(name)?;
    }
    Ok(())
}

/// Says whether nothing is in the way of a ref, as far as that can be seen without looking at others.
fn is_free(repo: &Repo, name: &str) -> bool {
    let there = |name: &str| fs::symlink_metadata(repo.common_path(name)).ok();
    folders_of(name).all(|folder| there(folder).is_none_or(|meta| meta.is_dir()))
        && there(name).is_none_or(|meta| meta.is_file())
        && there(&format!("{name}.lock")).is_none()
}

/// Returns the folders of `evolve`'s own that a ref is in.
fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices('/').map(|(end, _)| end);
    ends.skip(1).map(|end| &name[..end])
}

fn remove_all(path: &Path) -> Result<()> {
    files::remove_all(path).map_err(|cause| Error::io("remove", path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_evolves_own() {
        let of = |name| folders_of(name).collect::<Vec<_>>();
        let own = ["refs/evolve", "refs/evolve/search", "refs/evolve/search/1"];
        assert_eq!(of("refs/evolve/search/1/"), own);
        assert_eq!(of("refs/evolve/search/1/4"), own);
    }
}
