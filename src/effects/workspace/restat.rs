//! Has git look anew at what somebody may have changed. Git takes a file for unchanged whose time and size are those that its
//! index has noted, and whoever can write the index can note those of another content. The time of the last change of state
//! (`ctime`) cannot be set: what is older than the cycle is as it was then, and what is not is read again.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::{Start, Workspace};
use crate::effects::modes::{Done, Folders};
use crate::error::Result;

/// How many seconds a file may be older than the cycle and still be read again: file systems count coarser than clocks.
pub(super) const SLACK: i64 = 2;

impl Workspace<'_> {
    /// Forgets what the index has noted of files that changed since the start, so that git compares their content. To be done
    /// before git is asked what an agent changed. Files that git is told not to look at are compared elsewhere (`hidden`).
    /// Those that were shut by a mode since are open to their owner then. Says whether the index had to be made anew, and what was
    /// done.
    pub fn distrust_index(&self, start: &Start) -> Result<(bool, Vec<String>)> {
        let arguments = ["ls-files", "-v", "--stage", "-z"];
        let (mut notes, listed) = match self.repo.git.run(&arguments) {
            Ok(listed) => (Vec::new(), listed),
            Err(cause) => match self.mend_index(start)? {
                notes if notes.is_empty() => return Err(cause),
                notes => (notes, self.repo.git.run(&arguments)?),
            },
        };
        let is_mended = !notes.is_empty();
        let (known, _) = start.guarded.folders(&self.repo.own_places());
        let mut doubtful = Vec::new();
        let mut opened = Vec::new();
        // As in `H 100644 <id> 0<tab>path`.
        for line in listed.split(|byte| *byte == 0) {
            let Some(entry) = line.strip_prefix(b"H ") else {
                continue;
            };
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let is_file = entry.starts_with(b"1") && !entry.starts_with(b"16");
            let is_merged = entry[..tab].ends_with(b" 0");
            let path = OsStr::from_bytes(&entry[tab + 1..]);
            let meta = fs::symlink_metadata(self.repo.root.join(path));
            let is_new = meta.is_ok_and(|meta| meta.ctime() + SLACK >= start.since);
            let is_shut = is_new && !known.has_file(path.as_ref());
            if is_shut && self.open_tracked(path.as_ref(), &entry[..6]) {
                opened.push(PathBuf::from(path));
            }
            if is_file && is_merged && is_new {
                doubtful.extend_from_slice(entry);
                doubtful.push(0);
            }
        }
        if !doubtful.is_empty() {
            let anew = ["update-index", "-z", "--index-info"];
            self.repo.git.run_with(&anew, &doubtful)?;
        }
        let mut done = Done::default();
        done.note("", &Folders::default(), (opened, Vec::new()));
        notes.extend(done.notes());
        Ok((is_mended, notes))
    }
}
