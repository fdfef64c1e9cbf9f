//! Changes that git was told not to look at: files marked assume-unchanged or skip-worktree that differ all the same. A
//! status does not show them, and an undo would write over them.

use std::cell::LazyCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::thread;

use super::{Workspace, status};
use crate::effects::keep::is_beneath;
use crate::error::Result;

/// How many files are hashed by one call of git.
const AT_ONCE: usize = 200;

/// An entry of the index that git does not look at.
struct Marked {
    path: Vec<u8>,
    id: String,
    /// Missing on disk by design: a sparse checkout leaves it out.
    may_be_missing: bool,
}

impl Workspace<'_> {
    /// Reads the state of the tree and what is hidden from it, side by side: in a large tree each takes its time.
    pub fn look(&self, with_ignored: bool) -> Result<(status::Status, Vec<Vec<u8>>)> {
        let git = &self.repo.git;
        thread::scope(|scope| {
            let status = scope.spawn(|| status::read(git, with_ignored));
            let hidden = self.hidden_changes();
            let status = status.join().expect("BUG: reading the status panicked");
            Ok((status?, hidden?))
        })
    }

    /// Returns the marked files whose content on disk is not that of the index.
    pub fn hidden_changes(&self) -> Result<Vec<Vec<u8>>> {
        let mut changed = Vec::new();
        let mut to_hash = Vec::new();
        for marked in self.marked()? {
            let file = self.repo.root.join(OsStr::from_bytes(&marked.path));
            match fs::symlink_metadata(&file) {
                Ok(meta) if !is_beneath(&self.repo.root, &marked.path) || meta.is_dir() => {
                    changed.push(marked.path);
                }
                Ok(meta) if meta.is_symlink() => {
                    if self.hash_of_file(&marked.path, true)? != marked.id {
                        changed.push(marked.path);
                    }
                }
                Ok(meta) if meta.is_file() => to_hash.push(marked),
                Ok(_) => changed.push(marked.path),
                Err(_) if marked.may_be_missing => {}
                Err(_) => changed.push(marked.path),
            }
        }
        for some in to_hash.chunks(AT_ONCE) {
            let mut arguments = vec![OsStr::new("hash-object"), OsStr::new("--")];
            arguments.extend(some.iter().map(|marked| OsStr::from_bytes(&marked.path)));
            let ids = self.repo.git.run(&arguments)?;
            let ids = String::from_utf8_lossy(&ids).into_owned();
            let differs = some
                .iter()
                .zip(ids.lines())
                .filter(|(marked, id)| marked.id != *id);
            changed.extend(differs.map(|(marked, _)| marked.path.clone()));
        }
        Ok(changed)
    }

    fn marked(&self) -> Result<Vec<Marked>> {
        const SUBMODULE: &str = "160000";
        let listed = self.repo.git.run(&["ls-files", "-v", "--stage", "-z"])?;
        // Asked at the first such entry: most repositories have none.
        let sparse = ["config", "--type=bool", "--get", "core.sparseCheckout"];
        let is_sparse =
            LazyCell::new(|| self.repo.git.run(&sparse).is_ok_and(|is| is == b"true\n"));
        let mut marked = Vec::new();
        for line in listed.split(|byte| *byte == 0) {
            // As in `h 100644 <id> 0<tab>path`: a small letter is assume-unchanged, an S skip-worktree.
            let (tag, tab) = match (line.first(), line.iter().position(|byte| *byte == b'\t')) {
                (Some(tag), Some(tab)) if tag.is_ascii_lowercase() || *tag == b'S' => (*tag, tab),
                (Some(_) | None, _) => continue,
            };
            let words = String::from_utf8_lossy(&line[..tab]).into_owned();
            let mut words = words.split(' ').skip(1);
            let (mode, id) = (words.next(), words.next());
            if mode != Some(SUBMODULE) {
                marked.push(Marked {
                    path: line[tab + 1..].to_vec(),
                    id: id.unwrap_or_default().to_owned(),
                    may_be_missing: tag.eq_ignore_ascii_case(&b'S') && *is_sparse,
                });
            }
        }
        Ok(marked)
    }
}
