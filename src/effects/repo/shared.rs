//! A repository that several users share: what libgit2 wrote gets the modes that git would have given it, which libgit2 leaves to
//! the umask. Else nobody but its owner could add an object to a folder that was made here.

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use nix::unistd::geteuid;

use super::Repo;
use crate::model::git::sharing::Sharing;

/// The bits of a mode that are permissions.
const MODES: u32 = 0o7777;

impl Repo {
    /// Returns how it is shared; asked for once, before any agent.
    pub(super) fn sharing(&self) -> Sharing {
        *self.sharing.get_or_init(|| {
            // A slot is nobody else's.
            if self.is_slot {
                return Sharing::Umask;
            }
            let config = self.inner.config().and_then(|mut config| config.snapshot());
            let Ok(config) = config else {
                return Sharing::Umask;
            };
            match config.get_entry("core.sharedrepository") {
                Err(_) => Sharing::Umask,
                Ok(entry) if !entry.has_value() => Sharing::read(None),
                Ok(entry) => Sharing::read(entry.value().ok()),
            }
        })
    }

    /// Shares the loose objects, and the folders they are in.
    pub(super) fn share_objects(&self) {
        if self.sharing() == Sharing::Umask {
            return;
        }
        let objects = self.common_path("objects");
        for number in 0..=u8::MAX {
            let folder = objects.join(format!("{number:02x}"));
            if !fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir()) {
                continue;
            }
            self.share(&folder);
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                self.share(&entry.path());
            }
        }
    }

    /// Shares the file of a ref and that of its log, and the folders they are in.
    pub(super) fn share_ref(&self, path: &Path) {
        if self.sharing() == Sharing::Umask {
            return;
        }
        for git_dir in [self.git_dir().to_owned(), self.common_path("")] {
            let Ok(name) = path.strip_prefix(&git_dir) else {
                continue;
            };
            for place in [path.to_owned(), git_dir.join("logs").join(name)] {
                let below = place.ancestors().take_while(|path| **path != git_dir);
                below.for_each(|path| self.share(path));
            }
        }
    }

    /// Gives a file or folder of this user's the mode that git would. What is another's has it from there.
    pub(super) fn share(&self, path: &Path) {
        let Ok(meta) = fs::symlink_metadata(path) else {
            return;
        };
        let is_own = |meta: &Metadata| meta.uid() == geteuid().as_raw();
        if !(meta.is_file() || meta.is_dir()) || !is_own(&meta) {
            return;
        }
        let mode = meta.mode() & MODES;
        let wanted = self.sharing().mode(mode, meta.is_dir());
        if wanted != mode {
            let set = fs::set_permissions(path, Permissions::from_mode(wanted));
            if let Err(cause) = set {
                tracing::debug!("cannot share {}: {cause}", path.display());
            }
        }
    }
}
