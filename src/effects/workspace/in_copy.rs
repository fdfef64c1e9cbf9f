//! Tracked files that checks write to in a copy of the repository: there they are nobody's.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Workspace;
use crate::effects::clock;
use crate::effects::files::{self, Stamp};
use crate::effects::quarantine::{FOLDER, Quarantine};
use crate::error::{Error, Result};
use crate::model::ledger::is_ledger_path;
use crate::model::text;

/// The files of a git directory by which it is told what is tracked and what differs.
const FILES: [&str; 3] = ["HEAD", "index", "config"];

/// What git has noted in a copy before checks run there. What these have it note (a commit, a setting, a mark by which git looks away)
/// counts for nothing.
#[derive(Debug)]
pub struct Noted {
    /// The branch (`refs/heads/…`).
    pub branch: String,
    /// Its commit.
    pub commit: String,
    /// The bytes of the files that say so.
    files: Vec<(&'static str, Vec<u8>)>,
    /// The moment, as files are dated.
    since: SystemTime,
}

/// The tracked files to which something was done while checks ran in a copy, for people.
#[derive(Debug, Default)]
pub struct InCopy {
    /// Those that are not what is committed.
    pub written: BTreeSet<String>,
    /// Those that are, again.
    pub rewritten: BTreeSet<String>,
}

impl InCopy {
    /// Adds what was done later.
    pub fn add(&mut self, later: InCopy) {
        self.written.extend(later.written);
        self.rewritten.extend(later.rewritten);
    }
}

impl Workspace<'_> {
    /// Returns what git has noted by now; none where it has no branch with a commit.
    pub fn noted(&self) -> Result<Option<Noted>> {
        let head = self.repo.head()?;
        let (Some(branch), Some(commit)) = (head.branch, head.commit) else {
            return Ok(None);
        };
        let read = |name| {
            let bytes = fs::read(self.repo.git_dir().join(name));
            bytes.ok().map(|bytes| (name, bytes))
        };
        Ok(Some(Noted {
            branch,
            commit,
            files: FILES.into_iter().filter_map(read).collect(),
            since: clock::file_time(),
        }))
    }

    /// Has git note that again. To be done only where the git directory is the copy's own.
    pub fn note_again(&self, noted: &Noted) -> Result<()> {
        let folder = self.repo.git_dir();
        for (name, bytes) in &noted.files {
            let file = folder.join(name);
            // All that ran there has ended: nobody holds it.
            files::remove(&file.with_extension("lock"))?;
            if fs::read(&file).ok().as_ref() != Some(bytes) {
                files::replace_unsynced(&file, bytes)?;
            }
        }
        let reason = "evolve: as it was before checks ran";
        self.repo.set_ref(&noted.branch, &noted.commit, reason)
    }

    /// Returns the tracked files, but for evolve's own, to which something was done since: what git's conversions let differ from the
    /// first was written to by no check.
    pub fn written_in_copy(&self, noted: &Noted) -> Result<InCopy> {
        let since = noted.since;
        let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = (since.as_secs().cast_signed(), since.subsec_nanos().into());
        let is_meant = |path: &Vec<u8>| {
            let stamp = Stamp::at(&self.repo.root.join(OsStr::from_bytes(path)));
            !is_ledger_path(path) && stamp.is_none_or(|stamp| stamp.changed >= since)
        };
        // Git would wait at a pipe that a check left.
        let mut quarantine = self.quarantine_of_copy();
        self.clear_pipes_into(&mut quarantine)?;
        let touched = self.unlike_index()?;
        let touched = touched.split(|byte| *byte == 0).map(<[u8]>::to_vec);
        let written = self.tracked_changes()?.into_iter();
        let shown = |path: Vec<u8>| text::path(&path);
        let written: BTreeSet<_> = written.filter(is_meant).map(shown).collect();
        let touched = touched.filter(|path| !path.is_empty() && is_meant(path));
        let touched = touched.map(shown);
        Ok(InCopy {
            rewritten: touched.filter(|path| !written.contains(path)).collect(),
            written,
        })
    }

    /// Makes tracked files what is committed, but for evolve's own; what they had become is gone.
    pub fn drop_written(&self) -> Result<()> {
        let mut quarantine = self.quarantine_of_copy();
        self.put_back_those(&|path| !is_ledger_path(path), &mut quarantine)?;
        let all = self.repo.private.join(FOLDER);
        files::remove_all(&all).map_err(|cause| Error::io("remove", &all, cause))
    }

    /// Returns a quarantine within the copy, which goes with it.
    fn quarantine_of_copy(&self) -> Quarantine {
        Quarantine::of(&self.repo.private, "measured", 0)
    }
}
