//! The temporary folder of those who are held back.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::lock::{self, Lock};
use crate::error::{Error, Result};
use crate::model::digest;

/// The temporary folder of a session or a measurement, outside every repository; gone with it. What a killed one left is emptied
/// by the next of the same repository.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Held as long as the folder is in use.
    _lock: Lock,
}

impl Temporary {
    /// Makes the folder; `private` is the private directory of its repository.
    pub fn make(private: &Path) -> Result<Temporary> {
        let name = format!("evolve-{}", digest::short(&[&private.to_string_lossy()]));
        let place = |number| std::env::temp_dir().join(format!("{name}-{number}"));
        let open = |path: &Path| match fs::DirBuilder::new().mode(0o700).create(path) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(cause),
            Err(_) if !is_own_folder(path) => Ok(None),
            Ok(()) | Err(_) => File::open(path).map(Some),
        };
        let (path, lock) = lock::first_free(place, open).map_err(|error| {
            error.hint(
                "the sandbox needs a temporary folder: make room, or set TMPDIR to another one",
            )
        })?;
        let entries = fs::read_dir(&path).map_err(|cause| Error::io("list", &path, cause))?;
        for entry in entries.flatten() {
            let left = entry.path();
            files::remove_all(&left).map_err(|cause| Error::io("remove", &left, cause))?;
        }
        Ok(Temporary { path, _lock: lock })
    }

    /// Returns a folder in it, made if need be.
    pub fn folder(&self, name: impl AsRef<Path>) -> Result<PathBuf> {
        let path = self.path.join(name);
        match fs::create_dir(&path) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                Err(Error::io("create", &path, cause))
            }
            Ok(()) | Err(_) => Ok(path),
        }
    }

    /// Returns such a folder with nothing in it.
    pub fn empty(&self, name: impl AsRef<Path>) -> Result<PathBuf> {
        self.remove(name.as_ref());
        self.folder(name)
    }

    /// Removes a folder in it; what cannot be removed goes with the whole.
    pub fn remove(&self, name: impl AsRef<Path>) {
        let _ = files::remove_all(&self.path.join(name));
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = files::remove_all(&self.path);
    }
}

/// Says whether a path is a folder of this user's, no link to one: anybody may have made it.
fn is_own_folder(path: &Path) -> bool {
    let own = nix::unistd::Uid::effective().as_raw();
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == own)
}
