//! What is going on right now, written down before it begins, so that the next start can settle what a crash left.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effects::workspace::{Landing, Plan, Start};
use crate::effects::{files, ledger, proc_table};
use crate::error::{Error, Result};
use crate::model::record::Record;
use crate::model::slot::Provisions;
use crate::model::snapshot::FORMAT;

/// How far a cycle had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Checks run; nothing was changed yet.
    Measuring,
    /// A sweep's programs run, which may change tracked files.
    Sweeping,
    /// The agent runs, or its change is being measured.
    Agent,
    /// The change is being taken back.
    Undoing,
    /// The cycle is settled, and its record is being written.
    Recording,
    /// All cycles are recorded, and the session's summary is being completed.
    Closing,
}

/// The cycle in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// Version of the format.
    pub format: u32,
    /// The session.
    pub session: String,
    /// The cycle's number.
    pub cycle: u64,
    /// How far it had come.
    pub phase: Phase,
    /// Which boot of which machine, and which private directory: in a copy of the repository, or after a reboot, nothing that
    /// runs here is the session's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Where it started; absent while measuring.
    pub start: Option<Start>,
    /// What will be recorded if the cycle is cut short here, or is being recorded.
    pub record: Option<Record>,
    /// The undo that is being carried out.
    pub plan: Option<Plan>,
    /// What the slot is given in which the agent works; then nothing of the user's tree is the agent's doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Provisions>,
    /// The move of the user's branch to a change that was kept in a slot, which is being carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
    /// The ledger's files that the record's commit will take in, as blobs: what stands in the tree an agent may have changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ledger: BTreeMap<String, String>,
}

impl Journal {
    /// A cycle that is being measured.
    pub fn measuring(session: &str, cycle: u64) -> Journal {
        Journal {
            format: FORMAT,
            session: session.to_owned(),
            cycle,
            phase: Phase::Measuring,
            place: String::new(),
            start: None,
            record: None,
            plan: None,
            slot: None,
            landing: None,
            ledger: BTreeMap::new(),
        }
    }

    /// Says whether a cycle is in progress that would have to be settled.
    pub fn is_unsettled(&self) -> bool {
        match self.phase {
            Phase::Sweeping | Phase::Agent | Phase::Undoing | Phase::Recording => true,
            Phase::Measuring | Phase::Closing => false,
        }
    }

    /// Writes the journal in one step.
    pub fn write(&self, private: &Path) -> Result<()> {
        let mut journal = self.clone();
        journal.place = here(private);
        let text = ledger::line("journal", &journal)?;
        files::replace(&path(private), text.as_bytes())
    }

    /// Reads the journal that a dead session left; none if it ended in order.
    pub fn read(private: &Path) -> Result<Option<Journal>> {
        let path = path(private);
        let Some(bytes) = files::read_bounded(&path, 1 << 30)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|cause| {
            Error::unsafe_repo(format!("{} cannot be understood: {cause}", path.display()))
                .hint("a session was cut short and cannot be settled by itself: look at `git log` and `git status`, put the tree in order, then remove that file")
        })
    }

    /// Says whether a session left one, be it still at work.
    pub fn is_there(private: &Path) -> bool {
        fs::symlink_metadata(path(private)).is_ok()
    }

    /// Says whether it was written on this machine since it was booted, and in this very directory.
    pub fn is_of(&self, private: &Path) -> bool {
        self.place.is_empty() || self.place == here(private)
    }

    /// Removes the journal: nothing is in progress.
    pub fn clear(private: &Path) -> Result<()> {
        files::remove(&path(private))?;
        files::sync_folder(private).map_err(|cause| Error::io("sync", private, cause))
    }
}

fn here(private: &Path) -> String {
    let directory = fs::metadata(private).map(|meta| (meta.dev(), meta.ino()));
    let (device, inode) = directory.unwrap_or_default();
    format!("{} {device} {inode}", proc_table::boot_id())
}

fn path(private: &Path) -> PathBuf {
    private.join("journal.json")
}
