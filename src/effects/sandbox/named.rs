//! The paths that the user and presets name to be written: which of them are there to be, and why the others are not.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Ground, Sandbox};
use crate::error::{Error, Result};
use crate::model::sandbox::expand;

/// A path that is named.
enum Named {
    /// It may be written. A folder may have to be made first.
    Granted(PathBuf),
    /// It may not, and why.
    LeftOut(String),
}

impl Sandbox {
    /// Returns those of the user's paths that may be written where `ground` is the place of work, and a warning for each other.
    pub(super) fn granted(&self, ground: &Ground) -> (Vec<String>, Vec<String>) {
        let (mut granted, mut warnings) = (Vec::new(), Vec::new());
        let kept = self.kept(ground);
        for entry in &self.wish.write {
            match self.look_at(entry, &kept) {
                Named::Granted(_) => granted.push(entry.clone()),
                Named::LeftOut(why) => {
                    warnings.push(format!("sandbox: write: {entry} is left out: {why}"));
                }
            }
        }
        (granted, warnings)
    }

    /// Returns the paths that the user and a preset name, as they are on this machine; makes the folders among them that are
    /// missing.
    pub(super) fn named(&self, own: &[String], ground: &Ground) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        let kept = self.kept(ground);
        for entry in self.wish.write.iter().chain(own) {
            let Named::Granted(path) = self.look_at(entry, &kept) else {
                continue;
            };
            if is_folder(entry) {
                fs::create_dir_all(&path).map_err(|cause| Error::io("create", &path, cause))?;
            }
            paths.push(path);
        }
        Ok(paths)
    }

    fn look_at(&self, entry: &str, kept: &[PathBuf]) -> Named {
        let path = match expand(entry, &self.home) {
            Ok(Some(path)) => real(&path),
            Ok(None) => {
                let name = entry.split('/').next().unwrap_or_default();
                return Named::LeftOut(format!("{name} is not set to an absolute path"));
            }
            Err(why) => return Named::LeftOut(why),
        };
        if kept.iter().any(|kept| path.starts_with(kept)) {
            let why = "git's hooks and settings and evolve's own files are never granted";
            return Named::LeftOut(why.to_owned());
        }
        if !is_folder(entry) && !path.exists() {
            let why = "nothing is there; a / at its end has a folder made";
            return Named::LeftOut(why.to_owned());
        }
        Named::Granted(path)
    }

    /// Returns what is never granted, without links.
    fn kept(&self, ground: &Ground) -> Vec<PathBuf> {
        let own = self.own_folders();
        ground.keep.iter().chain(&own).map(|it| real(it)).collect()
    }
}

/// Says whether an entry names a folder that is made where it is missing.
fn is_folder(entry: &str) -> bool {
    entry.ends_with('/')
}

/// Returns a path without links, as far as there is something.
fn real(path: &Path) -> PathBuf {
    let there = |above: &&Path| above.exists();
    let Some(above) = path.ancestors().find(there) else {
        return path.to_owned();
    };
    let below = path.strip_prefix(above).unwrap_or(Path::new(""));
    let above = above.canonicalize().unwrap_or_else(|_| above.to_owned());
    match below.as_os_str().is_empty() {
        true => above,
        false => above.join(below),
    }
}
