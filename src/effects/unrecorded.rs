//! The note of the newest session that recorded nothing, in `evolve`'s private directory.

use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::error::Result;
use crate::model::record::Record;
use crate::model::unrecorded::Unrecorded;

/// The most bytes of a note.
const LIMIT: u64 = 4 << 20;

fn place(private: &Path) -> PathBuf {
    private.join("last-session.json")
}

/// Notes how a session ended that recorded nothing.
pub fn note(private: &Path, ended: &Unrecorded) -> Result<()> {
    let line = serde_json::to_string(ended).expect("BUG: a note is no JSON") + "\n";
    files::replace_unsynced(&place(private), line.as_bytes())
}

/// Forgets it: a later session has a record.
pub fn forget(private: &Path) -> Result<()> {
    files::remove(&place(private))
}

/// Returns the note, if there is one that can be read and nothing was recorded since; `newest` is the newest record.
pub fn read(private: &Path, newest: Option<&Record>) -> Option<Unrecorded> {
    let text = files::read_bounded(&place(private), LIMIT).ok()??;
    let note: Unrecorded = serde_json::from_slice(&text).ok()?;
    note.is_newest(newest).then_some(note)
}
