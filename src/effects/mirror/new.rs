//! What came anew in a git directory while somebody was at work there.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::MirroredDir;
use super::copy::{self, Noted};
use crate::effects::files::{Moment, is_beneath};

/// What came anew in a git directory.
pub enum New<'a> {
    /// What its copy does not have; what is derived from objects counts as new where it changed since then, too.
    Beside(&'a MirroredDir, &'a Noted, Moment),
    /// What was changed since then; where there is no copy.
    Since(Moment),
    /// All of it.
    All,
}

impl New<'_> {
    /// Says whether an object, or a file of a pack, is new.
    pub fn holds(&self, object: &Path, meta: &fs::Metadata) -> bool {
        match self {
            New::Beside(place, noted, _) => {
                !noted.store.has_bytes_alone(&place.name_of(object))
                    && fs::symlink_metadata(place.copy.join(object)).is_err()
            }
            New::Since(since) => is_changed(meta, *since),
            New::All => true,
        }
    }

    /// Says whether nothing in a folder of objects can be new: what nobody changed since it was copied.
    pub fn has_none_in(&self, git_dir: &Path, folder: &Path) -> bool {
        let New::Beside(place, noted, _) = self else {
            return false;
        };
        let meta = |root: &Path| fs::symlink_metadata(root.join(folder)).ok();
        let live = meta(git_dir);
        let is_as_noted = |live| noted.store.is_of_folder(&place.name_of(folder), live);
        if live.as_ref().is_some_and(is_as_noted) {
            return true;
        }
        let both = live.zip(meta(&place.copy));
        both.is_some_and(|(live, copy)| {
            live.is_dir() && copy.is_dir() && copy::is_as_copied(&live, &copy)
        })
    }

    /// Says whether something is new or was changed. Its bytes are not asked: an agent may know what the copy holds.
    pub fn has_changed(&self, git_dir: &Path, path: &Path) -> bool {
        let name = path.as_os_str().as_encoded_bytes();
        let Ok(meta) = fs::symlink_metadata(git_dir.join(path)) else {
            return false;
        };
        if !is_beneath(git_dir, name) {
            return false;
        }
        match self {
            New::Beside(place, noted, since) => match fs::symlink_metadata(place.copy.join(path)) {
                Ok(copy) => {
                    let is_link = (meta.dev(), meta.ino()) == (copy.dev(), copy.ino());
                    let is_as_noted = is_link && noted.linked.is_of(&place.name_of(path), &meta);
                    is_changed(&meta, *since) && !is_as_noted
                }
                Err(_) => true,
            },
            New::Since(_) | New::All => self.holds(path, &meta),
        }
    }

    /// Says whether a link was there before.
    pub fn has_link(&self, git_dir: &Path, path: &Path) -> bool {
        let leads_to = |folder: &Path| fs::read_link(folder.join(path)).ok();
        match self {
            New::Beside(place, ..) => leads_to(&place.copy) == leads_to(git_dir),
            New::Since(since) => {
                let meta = fs::symlink_metadata(git_dir.join(path));
                meta.is_ok_and(|meta| !is_changed(&meta, *since))
            }
            New::All => false,
        }
    }
}

/// Says whether the state of a file was changed since a moment. Some file systems count whole seconds.
fn is_changed(meta: &fs::Metadata, since: Moment) -> bool {
    let changed = (meta.ctime(), meta.ctime_nsec());
    changed >= since || (changed.1 == 0 && changed.0 >= since.0)
}
