//! An agent can remove `evolve`'s private directory, and with it what tells of the cycle that it works in. The copy of the git
//! directory outside tells it, too.

use std::fs;

use crate::effects::journal::Journal;
use crate::effects::mirror::Mirror;
use crate::effects::places::Places;
use crate::error::{Error, Result};

/// Says whether a cycle was never settled of which the private directory does not tell any more, though the copy does.
pub fn has_lost_private(places: &Places) -> bool {
    find(places).is_some()
}

/// Gets back what the private directory has lost, so that the cycle is settled like any other. Opens no repository. To be
/// done under the lock.
pub fn give_back_private(places: &Places) -> Result<()> {
    let Some((mirror, journal)) = find(places) else {
        return Ok(());
    };
    mirror.lend_private()?;
    // Anew, since it names the directory that it lies in.
    journal.write(&places.private)
}

/// Makes the private directory a folder, where the agent left none or a link that leads elsewhere.
pub fn make_private(places: &Places) -> Result<()> {
    let private = &places.private;
    let make = || match fs::symlink_metadata(private) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => fs::remove_file(private).and_then(|()| fs::create_dir(private)),
        Err(_) => fs::create_dir(private),
    };
    make().map_err(|cause| Error::io("create", private, cause))
}

fn find(places: &Places) -> Option<(Mirror, Journal)> {
    let mirror = Mirror::of(places).ok()?;
    let journal = Journal::read(&mirror.private()?).ok()??;
    let own = Journal::read(&places.private).ok().flatten();
    let is_told = own.is_some_and(|own| own.session == journal.session);
    (journal.is_unsettled() && !is_told).then_some((mirror, journal))
}
