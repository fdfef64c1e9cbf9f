//! What checks put among git's objects while no agent is there.

use crate::effects::workspace::Start;
use crate::error::Result;
use crate::session::{Progress, Session};

/// Moves away what checks, which run what earlier agents left, may have put among git's objects: says so, and notes it for the
/// next record. To be done before the objects are asked or copied.
pub fn clear(session: &Session, progress: &mut Progress, start: &Start) -> Result<()> {
    for note in session.clear_objects(start)? {
        session.events.warn(note.clone());
        progress.found.push(note);
    }
    Ok(())
}
