//! Which session works, or worked last, on a search: noted in the private directory and outside of it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::store::Store;
use super::twin::outside;
use crate::effects::files;
use crate::effects::process::leftovers;
use crate::error::Result;
use crate::model::digest;

/// It names the session that works, or worked, on a search.
const SESSION: &str = "search.session";
/// The end of its name outside of the repository.
const SESSION_OUTSIDE: &str = "session";
/// The most bytes of it.
const SESSION_LIMIT: u64 = 1 << 10;

impl Store {
    /// Ends what a session that was killed left at work, and notes which one works from now on. To be called by who holds the lock.
    pub fn end_leftovers(private: &Path, session: &str) -> Result<()> {
        Store::end_left(private)?;
        if let Some(note) = outside(private, SESSION_OUTSIDE)
            && let Err(cause) = files::replace(&note, session.as_bytes())
        {
            tracing::debug!("a session is noted in the repository alone: {cause}");
            // An older one would be believed.
            if fs::symlink_metadata(&note).is_ok() {
                files::remove(&note)?;
            }
        }
        // A copy of the repository has this note, too, and is not where that session works.
        let note = format!("{session}\n{}\n", place_of(private));
        files::replace(&private.join(SESSION), note.as_bytes())
    }

    /// Ends what the last session left at work, if it was killed. To be called by who holds the lock.
    pub fn end_left(private: &Path) -> Result<()> {
        let last = Store::session(private)?;
        match last.trim() {
            "" => Ok(()),
            last => leftovers::end(last),
        }
    }

    /// Returns the session that works, or worked last, on a search; empty where none ever did. What stands outside of the repository
    /// is believed, where an agent in a sandbox cannot write, but maybe not read either.
    pub fn session(private: &Path) -> Result<String> {
        let note = outside(private, SESSION_OUTSIDE);
        let noted = note.map(|note| read(&note));
        match noted.transpose()?.filter(|noted| !noted.is_empty()) {
            Some(noted) => Ok(noted),
            None => {
                let note = read(&private.join(SESSION))?;
                let (session, place) = note.split_once('\n').unwrap_or_default();
                Ok(match place.trim_end() == place_of(private) {
                    true => session.to_owned(),
                    false => String::new(),
                })
            }
        }
    }
}

/// Returns the text of a note; that of what is no file is empty, and whoever takes the lock moves it away.
fn read(note: &Path) -> Result<String> {
    match fs::symlink_metadata(note).is_ok_and(|meta| meta.is_file()) {
        true => files::read_text(note, SESSION_LIMIT),
        false => Ok(String::new()),
    }
}

/// Returns the name of a private directory in the note of a session.
fn place_of(private: &Path) -> String {
    let whole = private.canonicalize();
    digest::full(whole.as_deref().unwrap_or(private).as_os_str().as_bytes())
}
