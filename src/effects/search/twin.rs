//! A second copy of a lineage, outside of the repository, where an agent in a sandbox cannot write. Each entry is written there
//! first. An agent that changes the lineage and then ends `evolve` is found out by it.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::places::{self, Places};
use crate::error::{Error, Result};

/// How the names of such copies end, before the number of the search.
const KIND: &str = "search-";

/// The copy of one lineage.
#[derive(Clone, Debug)]
pub struct Twin {
    /// None where there is no place for it.
    path: Option<PathBuf>,
}

/// What a lineage is beside its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The same, or there is no copy.
    Sound,
    /// A crash kept the last entry from it.
    Behind,
    /// Somebody else changed it.
    Changed,
    /// The copy is of another search, or of less of this one: it was gone on with under another state folder, or somebody made
    /// something up.
    Other,
}

impl Twin {
    /// Names the copy for a search of the repository with this private directory.
    pub fn of(private: &Path, number: u64) -> Twin {
        Twin {
            path: outside(private, &format!("{KIND}{number}")),
        }
    }

    /// Lists the numbers of the searches of a repository that there are copies of.
    pub fn numbers(private: &Path) -> Vec<u64> {
        let Some(first) = outside(private, KIND) else {
            return Vec::new();
        };
        let (Some(folder), Some(name)) = (first.parent(), first.file_name()) else {
            return Vec::new();
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        let rest = names.filter_map(|found| {
            let rest = found.as_bytes().strip_prefix(name.as_bytes())?;
            std::str::from_utf8(rest).ok()?.parse().ok()
        });
        rest.collect()
    }

    /// Says whether there is one.
    pub fn is_there(&self) -> bool {
        self.path
            .as_deref()
            .and_then(len)
            .is_some_and(|len| len > 0)
    }

    /// Adds a line to the copy, which holds `before` so far. Where that cannot be done there is none any more: what it lacks would
    /// be taken for a forgery. Returns why, then.
    pub fn append(&self, before: &[u8], line: &str) -> Result<Option<Error>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let len = len(path).unwrap_or(0);
        let written = match len == before.len() as u64 && len > 0 {
            true => files::append(path, line),
            false => files::replace(path, &[before, line.as_bytes()].concat()),
        };
        match written {
            Ok(()) => Ok(None),
            Err(cause) => self.remove().map(|()| Some(cause)),
        }
    }

    /// Returns the whole lines of the copy; none where there is none.
    pub fn read(&self, limit: u64) -> Result<Option<Vec<u8>>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        if len(path).is_none() {
            return Ok(None);
        }
        let bytes = files::read_bounded(path, limit)?;
        Ok(bytes.map(whole_lines).filter(|bytes| !bytes.is_empty()))
    }

    /// Removes the copy.
    pub fn remove(&self) -> Result<()> {
        match &self.path {
            Some(path) => files::remove_all(path).map_err(|cause| Error::io("remove", path, cause)),
            None => Ok(()),
        }
    }
}

/// Returns the path of a file of searches outside of the repository with this private directory; none where there is no place.
pub fn outside(private: &Path, kind: &str) -> Option<PathBuf> {
    let git_dir = private.parent().unwrap_or(private).to_owned();
    let places = Places {
        common: git_dir.clone(),
        git_dir,
        private: private.to_owned(),
    };
    places::outside(&places, kind).filter(|path| path.parent().is_some_and(can_be_folder))
}

/// Returns how many bytes a copy has. A folder or a link is none of ours.
fn len(path: &Path) -> Option<u64> {
    let meta = std::fs::symlink_metadata(path).ok();
    meta.filter(std::fs::Metadata::is_file)
        .map(|meta| meta.len())
}

/// Says whether a folder is there, or could be made.
fn can_be_folder(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(meta) => meta.is_dir(),
        Err(cause) => cause.kind() == ErrorKind::NotFound,
    }
}

/// Holds the whole lines of a lineage against those of its copy.
pub fn beside(lineage: &[u8], copy: &[u8]) -> Beside {
    if lineage == copy {
        return Beside::Sound;
    }
    let is_other = began(lineage).is_some_and(|when| began(copy) != Some(when));
    if is_other || lineage.starts_with(copy) {
        return Beside::Other;
    }
    let lacks = copy.strip_prefix(lineage);
    let is_one = |rest: &[u8]| rest.iter().filter(|byte| **byte == b'\n').count() == 1;
    match lacks {
        Some(rest) if is_one(rest) => Beside::Behind,
        _ => Beside::Changed,
    }
}

/// Returns when the search of a lineage began, which tells one from another.
fn began(lineage: &[u8]) -> Option<String> {
    let header = lineage.split(|byte| *byte == b'\n').next()?;
    let header: serde_json::Value = serde_json::from_slice(header).ok()?;
    let began = header.pointer("/header/request/started")?;
    began.as_str().map(str::to_owned)
}

/// Cuts off the line that a crash left unfinished.
pub fn whole_lines(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(end.map_or(0, |last| last + 1));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lineage_is_what_its_copy_is_or_lacks_its_last_line() {
        let header =
            |when: &str| format!("{{\"header\":{{\"request\":{{\"started\":\"{when}\"}}}}}}\n");
        let of = |rest: &str| format!("{}{rest}", header("1")).into_bytes();
        let copy = of("a\nb\n");
        for (lineage, expected) in [
            (of("a\nb\n"), Beside::Sound),
            (of("a\n"), Beside::Behind),
            (of(""), Beside::Changed),
            (of("a\nB\n"), Beside::Changed),
            (of("a\nb\nc\n"), Beside::Other),
            (format!("{}a\nb\n", header("2")).into_bytes(), Beside::Other),
            (Vec::new(), Beside::Changed),
            (b"another header\na\nb\n".to_vec(), Beside::Changed),
        ] {
            assert_eq!(beside(&lineage, &copy), expected, "{lineage:?}");
        }
    }
}
