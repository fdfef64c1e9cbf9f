//! What libgit2 refuses, as errors that say what was tried.

use git2::{ErrorCode, Oid};

use crate::error::{Error, Result};

/// Reads an object's id.
pub fn oid(id: &str) -> Result<Oid> {
    Oid::from_str(id).map_err(broken("read an object id"))
}

/// Turns a failure of libgit2 into an error that says what was tried.
pub fn broken(what: &'static str) -> impl Fn(git2::Error) -> Error {
    move |cause| refused(what, &cause)
}

/// Says that something could not be done, and why.
pub fn refused(what: &str, cause: &git2::Error) -> Error {
    let error = Error::internal(format!("cannot {what}: {}", cause.message()));
    match cause.code() {
        ErrorCode::Locked => {
            error.hint("another git is at work here; if none is, remove the lock file it names")
        }
        _ => error.advised().of_damage(),
    }
}
