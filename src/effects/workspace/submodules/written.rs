//! Files of submodules that checks write to in a copy: git does not work there, so they are put back from the submodule's own objects.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::copied::Copied;
use super::inside::joined;
use crate::effects::files::{self, Moment};
use crate::effects::near::Near;
use crate::effects::repo::{Entry, Repo, SUBMODULE};
use crate::effects::watch::Done;
use crate::effects::workspace::Workspace;
use crate::error::{Error, Result};
use crate::model::text;

impl Workspace<'_> {
    /// Makes the files of submodules' commits in a copy what these have of them again, as far as something was done to one since and the
    /// checkout at `lender`, or what is there, has it. Says to which. What is beside them is what checks build.
    pub(in crate::effects::workspace) fn put_back_in_modules(
        &self,
        lender: &Path,
        since: Moment,
    ) -> Result<Done> {
        let mut done = Done::default();
        for module in self.copied(lender)? {
            let folders = folders_of(&module);
            let moved = self.moved_of(folders.iter(), since);
            done.rewritten.extend(moved);
            // What lies behind a link that stands in the place of one may be older.
            let is_led = folders.iter().any(|folder| !self.is_real_folder(folder));
            let mut near = Near::below(&self.repo.root);
            for (below, entry) in &module.files {
                let path = joined(&module.path, below);
                let seen = near.look(&path);
                let is_old = seen.is_some_and(|seen| seen.changed < since);
                if entry.mode == SUBMODULE || is_old && !is_led {
                    continue;
                }
                match self.is_as_in(&path, entry)? {
                    true => done.rewritten.insert(text::path(&path)),
                    false => {
                        self.put_back_in(&module, &path, entry)?;
                        done.written.insert(text::path(&path))
                    }
                };
            }
        }
        Ok(done)
    }

    fn is_real_folder(&self, path: &[u8]) -> bool {
        let meta = fs::symlink_metadata(self.repo.root.join(OsStr::from_bytes(path)));
        meta.is_ok_and(|meta| meta.is_dir())
    }

    fn put_back_in(&self, module: &Copied, path: &[u8], entry: &Entry) -> Result<()> {
        let root = &self.repo.root;
        let bytes = Repo::open_git_dir(&module.place)?.blob(&entry.id)?;
        // What stands in the place of a folder goes, be it a link to another.
        for at in (0..path.len()).filter(|at| path[*at] == b'/') {
            files::make_own_folder(&root.join(OsStr::from_bytes(&path[..at])))?;
        }
        let file = root.join(OsStr::from_bytes(path));
        let write = || {
            files::remove_all(&file)?;
            match entry.is_link() {
                true => symlink(OsStr::from_bytes(&bytes), &file),
                false => {
                    fs::write(&file, &bytes)?;
                    fs::set_permissions(&file, Permissions::from_mode(entry.mode & 0o777))
                }
            }
        };
        write().map_err(|cause| Error::io("write", &file, cause))
    }
}

/// Returns the folders in which a submodule's commit has files.
fn folders_of(module: &Copied) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for (below, _) in &module.files {
        let ends = (0..below.len()).filter(|at| below[*at] == b'/');
        found.extend(ends.map(|at| joined(&module.path, &below[..at])));
    }
    found
}
