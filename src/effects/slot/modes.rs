//! The modes of a slot's folders: git knows of none, and whoever was at work there may have changed them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;

use super::{Slot, allow, remove_all};
use crate::effects::repo::Tracked;
use crate::error::{Error, Result};

/// All bits of a mode that can be set.
const ALL: u32 = 0o7777;

impl Slot {
    /// Gives the folders that the commit has the mode that new ones have.
    pub(super) fn reset_modes(&self, tracked: &Tracked) -> Result<()> {
        let mode = mode_of_new(&self.root)?;
        let below = tracked.folders.iter().chain(&tracked.modules);
        let places = below.map(|path| self.root.join(OsStr::from_bytes(path)));
        for place in [self.root.clone()].into_iter().chain(places) {
            let Ok(meta) = fs::symlink_metadata(&place) else {
                continue;
            };
            if meta.is_dir() && meta.mode() & ALL != mode {
                fs::set_permissions(&place, fs::Permissions::from_mode(mode))
                    .map_err(|cause| Error::io("change the mode of", &place, cause))?;
            }
        }
        Ok(())
    }

    /// Opens the folders that somebody locked, so that git sees what is in them.
    pub fn open_folders(&self) {
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            allow(&folder, 0o700);
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
    }
}

/// Returns the mode of a new folder beside a slot.
fn mode_of_new(root: &Path) -> Result<u32> {
    static MODE: OnceLock<u32> = OnceLock::new();
    if let Some(mode) = MODE.get() {
        return Ok(*mode);
    }
    let folder = root.with_extension("new");
    remove_all(&folder)?;
    let made = fs::create_dir(&folder).and_then(|()| fs::symlink_metadata(&folder));
    let meta = made.map_err(|cause| Error::io("create", &folder, cause))?;
    remove_all(&folder)?;
    Ok(*MODE.get_or_init(|| meta.mode() & ALL))
}
