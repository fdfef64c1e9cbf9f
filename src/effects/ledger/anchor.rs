//! The anchor: the commit of `evolve`'s last ledger, kept in the private directory. The ledger's files can be written by
//! everybody and HEAD can be moved by everybody; this says where the chain of ledgers ended.
//!
//! It is written after the commit. A crash in between leaves an older one, from which the newer commit descends and to
//! which it only adds: nothing is to be settled. Where it is missing, as in a fresh clone, HEAD's ledger is believed.
//! Removing it is how a person says that a ledger was rewritten on purpose.

use std::path::PathBuf;

use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::Result;

/// More bytes than any id of a commit has.
const LIMIT: u64 = 100;
/// Its name, below the private directory.
const NAME: &str = "anchor";

/// Returns the anchor's commit; none if there is no anchor, or none that names a commit of this repository. One that is there and
/// cannot be read is an error: without it, a ledger of which lines were taken would be believed.
pub fn read(repo: &Repo) -> Result<Option<String>> {
    let path = path(repo);
    let bytes = files::read_bounded(&path, LIMIT).map_err(|error| {
        let path = path.display();
        error.hint(format!(
            "{path} says which ledger evolve wrote last; if it cannot be mended, remove it, and what HEAD has is believed"
        ))
    })?;
    let Some(bytes) = bytes else {
        return Ok(None);
    };
    let commit = String::from_utf8_lossy(&bytes).trim().to_owned();
    Ok(repo.find_commit(&commit)?.then_some(commit))
}

/// Notes the commit of the newest ledger.
pub fn write(repo: &Repo, commit: &str) -> Result<()> {
    match read(repo)?.as_deref() == Some(commit) {
        true => Ok(()),
        false => files::replace(&path(repo), format!("{commit}\n").as_bytes()),
    }
}

fn path(repo: &Repo) -> PathBuf {
    repo.private.join(NAME)
}
