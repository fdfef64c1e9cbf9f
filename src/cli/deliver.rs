//! Brings a page for people where they want it: to stdout, to a file of theirs, or to its own place in the private directory.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::arguments::Global;
use super::print::print;
use super::start::current_dir;
use crate::effects::{files, report as sources};
use crate::error::{Error, Result};
use crate::model::text;

/// Where a page goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Stdout,
    /// What stands there is the user's.
    Theirs(PathBuf),
    /// What stands there may be an agent's.
    Own(PathBuf),
}

/// Returns the place that somebody named; none where nobody did.
pub fn named(out: Option<&Path>, opens: bool) -> Result<Option<Place>> {
    match out {
        Some(path) if path.as_os_str() == "-" && opens => Err(Error::usage(
            "--open needs a file, and `--out -` makes none",
        )),
        Some(path) if path.as_os_str() == "-" => Ok(Some(Place::Stdout)),
        Some(path) => Ok(Some(Place::Theirs(current_dir()?.join(path)))),
        None => Ok(None),
    }
}

/// Writes a page, says where it is with some `words` before, and opens it if that is asked for.
pub fn deliver(
    global: &Global,
    (page, words): (&str, &str),
    place: &Place,
    opens: bool,
) -> Result<()> {
    let path = match place {
        Place::Stdout => {
            print(page);
            return Ok(());
        }
        Place::Theirs(path) => files::deliver(path, page.as_bytes()).map(|()| path)?,
        Place::Own(path) => files::replace(path, page.as_bytes()).map(|()| path)?,
    };
    let path = path
        .canonicalize()
        .map_err(|cause| Error::io("open", path, cause))?;
    let shown = text::path(path.as_os_str().as_bytes());
    global.say(&format!("{words}{shown}\n"));
    match opens {
        true => sources::open(&path),
        false => Ok(()),
    }
}
