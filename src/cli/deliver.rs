//! Brings a page for people where they want it: to stdout, to a file of theirs, or to its own place in the private directory.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::here::{current_dir, goals_file};
use super::options::Global;
use super::print::print;
use crate::effects::repo::Repo;
use crate::effects::{clock, descriptors, files, private, report as sources};
use crate::error::{Error, Result};
use crate::model::search::file::NAME as SEARCH_FILE;
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

/// What stands for stdout in the place of a file.
const STDOUT: &str = "-";

impl Place {
    /// Returns the place that somebody named, from the folder `from`: stdout under whatever name it has.
    pub fn of(path: &Path, from: &Path) -> Place {
        let there = from.join(path);
        match path.as_os_str() == STDOUT || descriptors::is_stdout(&there) {
            true => Place::Stdout,
            false => Place::Theirs(there),
        }
    }
}

/// Returns the place that somebody named and that may be written over; none where nobody named one.
pub fn named(
    global: &Global,
    repo: &Repo,
    out: Option<&Path>,
    opens: bool,
) -> Result<Option<Place>> {
    let Some(path) = out else {
        return Ok(None);
    };
    let place = Place::of(path, &current_dir()?);
    match &place {
        Place::Stdout if opens => Err(Error::usage("--open needs a file, and stdout is none")),
        Place::Stdout => Ok(Some(place)),
        Place::Theirs(path) | Place::Own(path) => {
            refuse_kept(global, repo, path)?;
            Ok(Some(place))
        }
    }
}

/// Refuses a place that no page may be written over (exit 2): the goals in use, what a search is told by, whatever git and `evolve`
/// keep, and what this process writes to already.
pub fn refuse_kept(global: &Global, repo: &Repo, path: &Path) -> Result<()> {
    descriptors::refuse_open(path)?;
    let real = real(path);
    let below_root = real.strip_prefix(&repo.root).unwrap_or(&real);
    let of_git = below_root.iter().any(|name| name == ".git")
        || repo
            .private
            .parent()
            .is_some_and(|git| real.starts_with(git));
    let goals = goals_file(global, repo)?.path;
    let what = if of_git {
        "it is git's"
    } else if below_root.starts_with(".agents") && below_root != real {
        "what is below .agents is evolve's"
    } else if real == self::real(&goals) {
        "the goals are there"
    } else if real == repo.root.join(SEARCH_FILE) {
        "it says what to search for"
    } else {
        return Ok(());
    };
    let shown = text::path(path.as_os_str().as_bytes());
    Err(Error::usage(format!("{shown} is not written over: {what}")).hint("name another file"))
}

/// Returns where a path leads, as far as it is there.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(folder), Some(Component::Normal(name))) => real(folder).join(name),
        // Where there is nothing, nothing can be a link.
        (Some(folder), Some(Component::ParentDir)) => {
            let below = real(folder);
            below.parent().map_or(below.clone(), Path::to_path_buf)
        }
        (Some(_) | None, _) => path.to_owned(),
    }
}

/// Writes a page, says where it is with some `words` before, and opens it if that is asked for.
pub fn deliver(global: &Global, page: &str, words: &str, place: &Place, opens: bool) -> Result<()> {
    let path = match place {
        Place::Stdout => {
            print(page);
            return Ok(());
        }
        Place::Theirs(path) => files::deliver(path, page.as_bytes()).map(|()| path)?,
        Place::Own(path) => {
            for words in private::make_way(path, &clock::session_id())? {
                global.warn(&words);
            }
            files::replace(path, page.as_bytes()).map(|()| path)?
        }
    };
    let path = path
        .canonicalize()
        .map_err(|cause| Error::io("open", path, cause))?;
    let shown = text::path(path.as_os_str().as_bytes());
    global.tell(&format!("{words}{shown}\n"));
    match opens {
        true => sources::open(&path),
        false => Ok(()),
    }
}
