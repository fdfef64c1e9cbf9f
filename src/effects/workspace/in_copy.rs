//! Tracked files that checks write to in a copy of the repository: there they are nobody's.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Workspace;
use crate::effects::files::{self, Stamp};
use crate::effects::pipes;
use crate::effects::quarantine::{FOLDER, Quarantine};
use crate::error::{Error, Result};
use crate::model::ledger::is_ledger_path;
use crate::model::text;

impl Workspace<'_> {
    /// Returns the tracked files, but for evolve's own, that differ from HEAD and to which something was done since a moment, as files
    /// are dated, for people: what git's conversions let differ from the first was written to by no check.
    pub fn written_in_copy(&self, since: SystemTime) -> Result<BTreeSet<String>> {
        let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = (since.as_secs().cast_signed(), since.subsec_nanos().into());
        let is_since = |path: &[u8]| {
            let stamp = Stamp::at(&self.repo.root.join(OsStr::from_bytes(path)));
            stamp.is_none_or(|stamp| stamp.changed >= since)
        };
        // Git would wait at a pipe that a check left.
        let mut quarantine = self.quarantine_of_copy();
        pipes::clear(
            &self.repo.root,
            &self.repo.plain,
            &mut |_| {},
            &mut quarantine,
        )?;
        let changed = self.tracked_changes()?.into_iter();
        let written = changed.filter(|path| !is_ledger_path(path) && is_since(path));
        Ok(written.map(text::path).collect())
    }

    /// Makes tracked files what HEAD has, but for evolve's own. What they had become is gone.
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
