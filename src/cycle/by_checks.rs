//! What checks do while no agent is there: they run what earlier agents left.

use crate::effects::workspace::Start;
use crate::error::Result;
use crate::session::{Progress, Session};

/// Moves away what checks may have put among git's objects, and gives untracked files back that they removed: says so, and notes
/// it for the next record. To be done before the objects are asked, and before anything is copied.
pub fn clear(session: &Session, progress: &mut Progress, start: &Start) -> Result<()> {
    let mut notes = session.clear_objects(start)?;
    notes.extend(session.settle_links(start.cycle)?);
    for note in notes {
        if progress.note_found(&note) {
            session.events.warn(note);
        }
    }
    Ok(())
}
