//! The git directory of a linked working tree lies in that of its repository, and an agent can remove it alone.

use std::fs;
use std::path::Path;

use super::{Mirror, MirroredDir, is_of, way_back, worktrees};
use crate::effects::gitfile;
use crate::effects::places::Places;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// Makes the git directory of the linked working tree that holds `folder` anew, without `evolve`'s private directory, if it is gone
/// since a session was cut short there; returns its places then. Opens no repository. What else is missing is given back when the
/// cycle is settled.
pub fn give_back(folder: &Path) -> Result<Option<Places>> {
    let Some(mirror) = gitfile::git_dir(folder).and_then(|git_dir| lost(&git_dir)) else {
        return Ok(None);
    };
    let noted = mirror.mended()?;
    let is_own =
        |place: &MirroredDir| place.live == mirror.git_dir && noted.contains_key(&place.folder);
    let private = mirror.git_dir.join("evolve");
    for place in mirror.git_dirs().into_iter().filter(is_own) {
        worktrees::give_back(&place, &mut Quarantine::of(&private, "", 0))?;
    }
    mirror
        .note_tree()
        .map_err(|cause| Error::io("write to", &mirror.folder, cause))?;
    Ok(Some(Places {
        git_dir: mirror.git_dir,
        common: mirror.common,
        private,
    }))
}

/// Says whether the git directory that lay at `path` when it was copied is the one that lies at `now`.
pub fn is_copied_one(path: &Path, now: &Path) -> bool {
    way_back::folder_of(path).is_ok_and(|folder| is_of(&folder, now))
}

/// Returns the copy that has a linked working tree's git directory, where that is gone and its repository is still the same.
fn lost(git_dir: &Path) -> Option<Mirror> {
    let is_gone = fs::symlink_metadata(git_dir).is_err();
    let folder = git_dir
        .parent()
        .filter(|folder| is_gone && folder.ends_with("worktrees"))?;
    let common = folder.parent()?.canonicalize().ok()?;
    let git_dir = common.join("worktrees").join(git_dir.file_name()?);
    let mirror = Mirror {
        folder: way_back::folder_of(&git_dir).ok()?,
        common,
        git_dir,
    };
    (mirror.has_copy() && mirror.is_of_same()).then_some(mirror)
}
