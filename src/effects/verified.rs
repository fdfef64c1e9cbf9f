//! The moment from which on tracked files may hold what git was kept from seeing: remembered from one session to the next, as
//! the checks of a session's last cycle run after its last look. Outside the repository, where a check in a sandbox cannot
//! write; where there is no place for it, in the private directory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::effects::files::{self, Dated};
use crate::effects::places::{self, Places};
use crate::error::Result;
use crate::model::snapshot::FORMAT;

/// The most bytes of the file.
const LIMIT: u64 = 4096;

/// A moment, as this machine tells it and as a file system dates what is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// In seconds since 1970.
    pub seconds: i64,
    /// The same by the file system of `evolve`'s own files; none where that is not known.
    pub dated: Option<Dated>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: u32,
    since: Since,
}

/// Returns the moment that the last session left; none if there was none. Where that cannot be read every file is to be looked at.
pub fn read(places: &Places) -> Option<Since> {
    let file = files_of(places)
        .into_iter()
        .find(|file| files::is_there(file).unwrap_or(true))?;
    let bytes = files::read_bounded(&file, LIMIT).ok().flatten();
    let document = bytes.and_then(|bytes| serde_json::from_slice::<Document>(&bytes).ok());
    let known = document.filter(|document| document.format == FORMAT);
    Some(known.map_or_else(Since::default, |document| document.since))
}

/// Leaves a moment to the next session.
pub fn write(places: &Places, since: Since) -> Result<()> {
    let document = Document {
        format: FORMAT,
        since,
    };
    let text = serde_json::to_string(&document).expect("BUG: a moment can be written as JSON");
    let mut done = Ok(());
    for file in files_of(places) {
        // One that a crash of the machine leaves empty has everything looked at.
        done = files::replace_unsynced(&file, text.as_bytes());
        if done.is_ok() {
            break;
        }
    }
    done
}

/// Where it may lie, the best place first.
fn files_of(places: &Places) -> Vec<PathBuf> {
    let outside = places::outside(places, "verified");
    let inside = places.private.join("verified.json");
    outside.into_iter().chain([inside]).collect()
}
