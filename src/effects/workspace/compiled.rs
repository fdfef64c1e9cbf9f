//! What Python compiled of sources in the tree, and would run for another version of them: a verdict never comes from that.

use std::collections::{BTreeSet, HashSet};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Workspace;
use crate::effects::files::{self, is_beneath};
use crate::effects::git::{Listed, each_indexed};
use crate::error::Result;
use crate::model::compiled::{self, Dated};

/// The folder beside sources where Python keeps what it compiled.
const FOLDER: &str = "__pycache__";
/// Names a folder where it keeps all of that instead.
const ELSEWHERE: &str = "PYTHONPYCACHEPREFIX";

impl Workspace<'_> {
    /// Removes what Python compiled of sources within the second in which they were written: it is made anew by whoever needs it. What is
    /// tracked stays. To be done before goals are measured, when git can be asked.
    pub fn drop_doubtful_compiled(&self) -> Result<()> {
        let root = &self.repo.root;
        let listed = self.python_listed()?;
        let of_kind = |kind| listed.iter().filter(move |path| path.ends_with(kind));
        let compiled: HashSet<PathBuf> = of_kind(b".pyc".as_slice())
            .map(|path| root.join(as_path(path)))
            .collect();
        let folders: BTreeSet<&Path> = of_kind(b".py".as_slice())
            .filter_map(|path| as_path(path).parent())
            .collect();
        let elsewhere = env::var_os(ELSEWHERE).filter(|prefix| !prefix.is_empty());
        let is_doubtful = |file: &PathBuf| !compiled.contains(file);
        for folder in folders {
            let sources = root.join(folder);
            let beside = folder.join(FOLDER);
            // What is behind a link is not this tree's.
            let is_own = is_beneath(root, beside.join("x").as_os_str().as_bytes());
            let beside = is_own.then(|| root.join(beside));
            let prefixed = elsewhere.as_ref().map(|prefix| below(prefix, &sources));
            for place in beside.iter().chain(&prefixed) {
                let found = doubtful(&sources, place);
                found.filter(is_doubtful).for_each(drop_compiled);
            }
        }
        Ok(())
    }

    /// Returns the tracked files that are Python's, sources or compiled. Git is asked only where it is the one to read the index.
    fn python_listed(&self) -> Result<Vec<Vec<u8>>> {
        let is_python = |path: &[u8]| path.ends_with(b".py") || path.ends_with(b".pyc");
        let mut found = Vec::new();
        let note = |one: &Listed<'_>| {
            if is_python(one.path) {
                found.push(one.path.to_vec());
            }
        };
        let index = self.repo.index();
        if index
            .and_then(|index| each_indexed(&index.bytes, note))
            .is_some()
        {
            return Ok(found);
        }
        let listed = self.repo.git.run(&["ls-files", "-z"])?;
        let paths = listed.split(|byte| *byte == 0);
        Ok(paths
            .filter(|path| is_python(path))
            .map(<[u8]>::to_vec)
            .collect())
    }
}

/// Returns what was compiled in a folder of the sources in another, and may be of another version of them.
fn doubtful(sources: &Path, place: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = compiled::source_of(entry.file_name().to_str()?)?;
        let source = dated(&fs::symlink_metadata(sources.join(name)).ok()?);
        let compiled = entry.metadata().ok().filter(Metadata::is_file)?;
        let file = entry.path();
        let is_doubtful = compiled::may_be_of_another(compiled.mtime(), source)
            && compiled::is_taken_for(&files::begin_of(&file, compiled::HEAD), source);
        is_doubtful.then_some(file)
    })
}

fn drop_compiled(file: PathBuf) {
    if let Err(cause) = files::remove(&file) {
        // Another user's, say: whoever may not write there made none of it.
        tracing::debug!("{cause}");
    }
}

fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

fn dated(meta: &Metadata) -> Dated {
    Dated {
        seconds: meta.mtime(),
        size: meta.size().cast_signed(),
    }
}

/// Returns where below a prefix Python keeps what it compiled of the sources in a folder.
fn below(prefix: &OsStr, folder: &Path) -> PathBuf {
    let mut place = PathBuf::from(prefix);
    place.extend(folder.strip_prefix("/"));
    place
}
