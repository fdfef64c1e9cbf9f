//! What a running session tells those who look: what protects whom in it, and what it waits for.

use std::path::Path;

use crate::effects::{files, ledger};
use crate::error::Result;
use crate::model::sandbox::Protections;
use crate::model::snapshot::FORMAT;
use crate::model::told::{Told, Waiting};

/// The file in which a session says it.
const TOLD: &str = "session.json";
/// The most bytes that are read of it.
const TOLD_LIMIT: u64 = 1 << 20;

/// Notes what protects whom in the session of this process.
pub fn tell(private: &Path, protections: &Protections) -> Result<()> {
    write(
        private,
        &Told {
            format: FORMAT,
            pid: std::process::id(),
            protections: protections.clone(),
            waiting: None,
        },
    )
}

/// Notes what the session of this process waits for, or that it waits no more. What else it said must still be there.
pub fn tell_waiting(private: &Path, waiting: Option<Waiting>) -> Result<()> {
    match told(private, std::process::id()) {
        Some(told) => write(private, &Told { waiting, ..told }),
        None => Ok(()),
    }
}

/// Returns what the session of the process `pid` said of itself, if it did.
pub fn told(private: &Path, pid: u32) -> Option<Told> {
    let text = files::read_text(&private.join(TOLD), TOLD_LIMIT).ok()?;
    let told: Told = serde_json::from_str(&text).ok()?;
    (told.pid == pid).then_some(told)
}

fn write(private: &Path, told: &Told) -> Result<()> {
    let text = ledger::line("session", told)?;
    files::replace(&private.join(TOLD), text.as_bytes())
}
