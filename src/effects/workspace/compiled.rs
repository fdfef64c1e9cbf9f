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
        if self
            .repo
            .index()
            .is_some_and(|index| !may_list_python(&index.bytes))
        {
            return Ok(());
        }
        let listed = self.repo.git.run(&["ls-files", "-z"])?;
        let tracked = listed.split(|byte| *byte == 0);
        let of_kind = |kind| tracked.clone().filter(move |path| path.ends_with(kind));
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
}

/// Says whether an index may list sources of Python. Each path ends with a NUL; version 4 leaves out what it has in common with the one
/// before.
fn may_list_python(index: &[u8]) -> bool {
    let is_compressed = index.get(7).is_none_or(|version| *version >= 4);
    is_compressed
        || index
            .split(|byte| *byte == 0)
            .any(|path| path.ends_with(b".py"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_tells_whether_there_is_python_in_it() {
        let index = |version: u8, path: &str| {
            let begin = [b"DIRC\0\0\0".as_slice(), &[version], b"\0\0\0\x01 stat"];
            [&begin.concat(), path.as_bytes(), b"\0\0"].concat()
        };
        for (index, expected) in [
            (index(2, "src/a.py"), true),
            (index(2, "src/a.pyx"), false),
            (index(2, "py"), false),
            (index(4, "y"), true),
            (Vec::new(), true),
        ] {
            assert_eq!(may_list_python(&index), expected);
        }
    }
}
