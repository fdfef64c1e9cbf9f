//! Watches the files that checks run, while checks run: these call what an agent wrote, and that may change what judges it.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::effects::files;
use crate::model::digest;

/// Files that are looked at before checks run and after.
#[derive(Debug, Default)]
pub struct Watch {
    /// Paths from the root of the tree in which the checks run.
    files: Vec<String>,
    is_light: bool,
    changed: BTreeSet<String>,
    touched: BTreeSet<String>,
}

/// What a file was like before checks ran.
#[derive(Debug)]
pub struct Look {
    stats: [Option<Stat>; 2],
    digest: Option<String>,
}

/// What nobody can set: a file's number, and when something was last done to it, in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    inode: u64,
    changed: (i64, i64),
}

impl Stat {
    fn of(meta: &Metadata) -> Stat {
        Stat {
            inode: meta.ino(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Of what is at a path, and of what that leads to, if it counts.
    fn both(path: &Path, leads_on: bool) -> [Option<Stat>; 2] {
        let behind = leads_on.then(|| fs::metadata(path).ok()).flatten();
        let stats = [fs::symlink_metadata(path).ok(), behind];
        stats.map(|meta| meta.as_ref().map(Stat::of))
    }
}

impl Watch {
    /// Watches these files.
    pub fn over(files: Vec<String>) -> Watch {
        Watch {
            files,
            ..Watch::default()
        }
    }

    /// Watches only whether anything is done to these files: nobody reads them.
    pub fn lightly_over(files: Vec<String>) -> Watch {
        Watch {
            is_light: true,
            ..Watch::over(files)
        }
    }

    /// Looks at the files in a tree, right before checks run there.
    pub fn look(&self, root: &Path) -> Vec<Look> {
        let look = |file: &String| {
            let path = root.join(file);
            let leads_on = leads_outside(root, &path);
            Look {
                stats: Stat::both(&path, leads_on),
                digest: self.digest_of(&path, leads_on),
            }
        };
        self.files.iter().map(look).collect()
    }

    /// Looks again, when these checks have ended.
    pub fn compare(&mut self, root: &Path, before: &[Look]) {
        for (file, before) in self.files.iter().zip(before) {
            let path = root.join(file);
            let leads_on = leads_outside(root, &path);
            if Stat::both(&path, leads_on) == before.stats {
                continue;
            }
            let has_changed = self.digest_of(&path, leads_on) != before.digest;
            match has_changed {
                true => self.changed.insert(file.clone()),
                false => self.touched.insert(file.clone()),
            };
        }
    }

    fn digest_of(&self, path: &Path, leads_on: bool) -> Option<String> {
        match (self.is_light, leads_on) {
            (true, _) => None,
            (false, true) => digest_of(path),
            (false, false) => version_of(path),
        }
    }

    /// Returns the files that have other bytes than before the checks.
    pub fn changed(&self) -> impl Iterator<Item = &String> {
        self.changed.iter()
    }

    /// Returns the files that are what they were before the checks, as far as they were read, and that something was done to:
    /// they were exchanged and put back, or written again, or have another mode.
    pub fn touched(&self) -> impl Iterator<Item = &String> {
        self.touched.iter()
    }
}

/// Says whether a path is a link that leads out of the tree: what lies behind any other is watched as a file of its own, or is built.
fn leads_outside(root: &Path, path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
        && path.canonicalize().is_ok_and(|real| {
            let root = root.canonicalize();
            root.is_ok_and(|root| !real.starts_with(root))
        })
}

/// Returns what tells a file from another version: where a link leads, or the digest of the bytes; none if there is neither.
pub fn version_of(path: &Path) -> Option<String> {
    match fs::read_link(path) {
        Ok(target) => Some(format!("→ {}", target.display())),
        Err(_) => digest_of(path),
    }
}

/// Returns the digest of a file's bytes as they are on disk, behind a link too; none if there is no plain file.
pub fn digest_of(path: &Path) -> Option<String> {
    // Reading a pipe would wait for ever.
    fs::metadata(path).ok().filter(Metadata::is_file)?;
    files::read(path).ok().map(|bytes| digest::full(&bytes))
}
