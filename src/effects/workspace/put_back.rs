//! Puts tracked files back that a program changed which had no business to.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::{Workspace, ended};
use crate::effects::files::is_beneath;
use crate::effects::keep;
use crate::effects::pipes;
use crate::effects::quarantine::Quarantine;
use crate::error::Result;

impl Workspace<'_> {
    /// Makes tracked files and the index what HEAD has; what the files had become goes to the quarantine, because it may be
    /// somebody's work. Returns the paths, for people. Folders of submodules stay as they are.
    pub fn put_back_tracked(&self, quarantine: &mut Quarantine) -> Result<Vec<String>> {
        self.put_back_those(&|_| true, quarantine)
    }

    /// Does the same with those of the changed files that are `meant`.
    pub fn put_back_those(
        &self,
        meant: &dyn Fn(&[u8]) -> bool,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let repo = self.repo;
        pipes::clear(&repo.root, &mut |_| {}, quarantine)?;
        let mut dirty = self.state()?;
        dirty.dirty.retain(|path| meant(path));
        let mut paths = Vec::new();
        for path in &dirty.dirty {
            let file = repo.root.join(OsStr::from_bytes(path));
            match fs::symlink_metadata(&file) {
                Ok(meta) if meta.is_dir() => continue,
                Ok(_) if is_beneath(&repo.root, path) => {
                    quarantine.take(&repo.root, path)?;
                }
                Ok(_) | Err(_) => keep::clear_way(&repo.root, path, quarantine)?,
            }
            paths.push(path.clone());
        }
        if !paths.is_empty() {
            let arguments = [
                "restore",
                "--source=HEAD",
                "--staged",
                "--worktree",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
            ];
            repo.git.run_with(&arguments, &ended(&paths))?;
        }
        Ok(dirty.dirty_files())
    }
}
