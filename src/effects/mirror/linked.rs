//! The git directory of a linked working tree lies in that of its repository, and an agent can remove it alone.

use std::fs;
use std::path::Path;

use super::way_back::state;
use super::{Mirror, Place, identity, worktrees};
use crate::effects::places::{Places, folder_name};
use crate::effects::quarantine::Quarantine;
use crate::effects::{files, gitfile};
use crate::error::Result;

/// Makes the git directory of the linked working tree that holds `folder` anew, without `evolve`'s private directory, if it is gone
/// since a session was cut short there; returns its places then. Opens no repository. What else is missing is given back when the
/// cycle is settled.
pub fn give_back(folder: &Path) -> Result<Option<Places>> {
    let Some(mirror) = gitfile::git_dir(folder).and_then(|git_dir| lost(&git_dir)) else {
        return Ok(None);
    };
    let noted = mirror.mended()?;
    let is_own = |place: &Place| place.live == mirror.git_dir && noted.contains_key(&place.folder);
    let private = mirror.git_dir.join("evolve");
    for place in mirror.git_dirs().into_iter().filter(is_own) {
        worktrees::give_back(&place, &mut Quarantine::of(&private, "", 0))?;
    }
    Ok(Some(Places {
        git_dir: mirror.git_dir,
        common: mirror.common,
        private,
    }))
}

/// Says whether the git directory that lay at `path` when it was copied is the one that lies at `now`.
pub fn is_copied_one(path: &Path, now: &Path) -> bool {
    let copy = state().map(|state| state.join("evolve").join(folder_name(path)));
    let of = copy.and_then(|copy| files::read_text(&copy.join("of"), 4096));
    of.is_ok_and(|of| !of.is_empty() && Some(of) == identity(now))
}

/// Returns the copy that has a linked working tree's git directory, where that is gone and its repository is still the same.
fn lost(git_dir: &Path) -> Option<Mirror> {
    let is_gone = fs::symlink_metadata(git_dir).is_err();
    let folder = git_dir
        .parent()
        .filter(|folder| is_gone && folder.ends_with("worktrees"))?;
    let common = folder.parent()?.canonicalize().ok()?;
    let git_dir = common.join("worktrees").join(git_dir.file_name()?);
    let folder = state().ok()?.join("evolve").join(folder_name(&git_dir));
    let mirror = Mirror {
        folder,
        common,
        git_dir,
    };
    (mirror.has_copy() && mirror.is_of_same()).then_some(mirror)
}
