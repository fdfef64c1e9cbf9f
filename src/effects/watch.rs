//! Watches the files that checks run, while checks run: these call what an agent wrote, and that may change what judges it.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::effects::files::{self, LARGEST, Stamp};
use crate::model::digest;

/// How much of a file is read at once.
const PART: usize = 1 << 18;

/// The tracked files to which something was done while checks ran, for people.
#[derive(Debug, Default)]
pub struct Done {
    /// Those that are not what is committed.
    pub written: BTreeSet<String>,
    /// Those that are, again.
    pub rewritten: BTreeSet<String>,
}

impl Done {
    /// Adds what was done later.
    pub fn add(&mut self, later: Done) {
        self.written.extend(later.written);
        self.rewritten.extend(later.rewritten);
    }
}

/// Files that are looked at before checks run and after.
#[derive(Debug, Default)]
pub struct Watch {
    /// Paths from the root of the tree in which the checks run.
    files: Vec<String>,
    is_light: bool,
    changed: BTreeSet<String>,
    touched: BTreeSet<String>,
    /// What checks did to tracked files, in the user's own working tree for a moment only; none where that is not looked for.
    pub tracked: Option<Done>,
}

/// What a file was like before checks ran.
#[derive(Debug)]
pub struct Look {
    stamps: [Option<Stamp>; 2],
    digest: Option<String>,
}

impl Watch {
    /// Watches these files.
    pub fn over(files: Vec<String>) -> Watch {
        Watch {
            files,
            ..Watch::default()
        }
    }

    /// Looks for tracked files, too, to which checks write.
    #[must_use]
    pub fn and_tracked(self) -> Watch {
        Watch {
            tracked: Some(Done::default()),
            ..self
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
                stamps: stamps(&path, leads_on),
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
            if stamps(&path, leads_on) == before.stamps {
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

/// Returns the stamps of what is at a path, and of what that leads to, if it counts.
fn stamps(path: &Path, leads_on: bool) -> [Option<Stamp>; 2] {
    let behind = leads_on.then(|| fs::metadata(path).ok()).flatten();
    [Stamp::at(path), behind.as_ref().map(Stamp::of)]
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

/// Returns the digest of a file's bytes as they are on disk, behind a link too; none if there is no plain file. One that is too large
/// to be read is told by its size, and by when and where it was written.
pub fn digest_of(path: &Path) -> Option<String> {
    // Reading a pipe would wait for ever.
    let meta = fs::metadata(path).ok().filter(Metadata::is_file)?;
    if meta.len() > LARGEST {
        let (bytes, inode) = (meta.len(), meta.ino());
        let (seconds, nanos) = (meta.ctime(), meta.ctime_nsec());
        return Some(format!("{bytes} bytes of {seconds}.{nanos} in {inode}"));
    }
    let mut file = files::open(path).ok()?.take(LARGEST);
    let mut digest = digest::Parts::default();
    let mut part = vec![0; PART];
    loop {
        match file.read(&mut part) {
            Ok(0) => return Some(digest.full()),
            Ok(count) => digest.add(&part[..count]),
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
