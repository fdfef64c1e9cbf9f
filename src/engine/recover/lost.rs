//! An agent can remove `evolve`'s private directory, and with it what tells of the cycle that it works in. The journal outside
//! tells it, too, and the copy of the git directory has the rest.

use std::fs;
use std::path::Path;

use crate::effects::gitfile;
use crate::effects::journal::JournalFile;
use crate::effects::mirror::{Mirror, linked};
use crate::effects::places::Places;
use crate::error::{Error, Result};

/// Gets back what leads to the git directory of the working tree around `folder`, or that itself, where an agent moved or removed it before
/// its session was cut short. Opens no repository.
pub fn give_git_back(folder: &Path) -> Result<()> {
    gitfile::move_folder_back(folder, linked::is_copied_one)?;
    gitfile::give_back(folder)?;
    give_back_linked(folder)
}

/// Gets back the git directory of a linked working tree that an agent removed as a whole, so that the repository around `folder` is
/// found again and its cycle is settled. Refuses where that session lives.
fn give_back_linked(folder: &Path) -> Result<()> {
    let Some(places) = linked::give_back(folder)? else {
        return Ok(());
    };
    JournalFile::of(&places).refuse_living()?;
    make_private(&places)?;
    Mirror::of(&places)?.lend_private()
}

/// Says whether a cycle was never settled of which the private directory does not tell any more, though the copy does.
pub fn has_lost_private(places: &Places) -> bool {
    matches!(JournalFile::of(places).lost(), Ok(Some(_)))
}

/// Gets back what the private directory has lost, so that the cycle is settled like any other. Opens no repository. To be
/// done under the lock.
pub fn give_back_private(places: &Places) -> Result<()> {
    let journal_file = JournalFile::of(places);
    let Some(mut journal) = journal_file.lost()? else {
        return Ok(());
    };
    // Before it is written anew: the note of an end is one of an earlier journal.
    journal_file.note_end(&mut journal)?;
    if let Ok(mirror) = Mirror::of(places)
        && mirror.private().is_some()
    {
        mirror.lend_private()?;
    }
    journal_file.write(&journal)
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
