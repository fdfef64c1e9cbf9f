//! What protects whom in a running session, as it tells those who look.

use std::path::Path;

use crate::effects::{files, ledger};
use crate::error::Result;
use crate::model::sandbox::{Protections, Told};
use crate::model::snapshot::FORMAT;

/// The file in which a session says what protects whom.
const TOLD: &str = "session.json";
/// The most bytes that are read of it.
const TOLD_LIMIT: u64 = 1 << 20;

/// Notes what protects whom in the session of this process.
pub fn tell(private: &Path, protections: &Protections) -> Result<()> {
    let told = Told {
        format: FORMAT,
        pid: std::process::id(),
        protections: protections.clone(),
    };
    let text = ledger::line("session", &told)?;
    files::replace(&private.join(TOLD), text.as_bytes())
}

/// Returns what protects whom in the session of the process `pid`, if it said so.
pub fn told(private: &Path, pid: u32) -> Option<Protections> {
    let text = files::read_text(&private.join(TOLD), TOLD_LIMIT).ok()?;
    let told: Told = serde_json::from_str(&text).ok()?;
    (told.pid == pid).then_some(told.protections)
}
