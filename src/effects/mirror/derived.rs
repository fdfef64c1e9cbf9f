//! What git derives from objects and believes more than these: which commit is whose parent (`commit-graph`), which pack has an
//! object, and where (`multi-pack-index`), which objects lead to which (`.bitmap`), and how old they are (`.mtimes`). All of it
//! is made anew by git's own maintenance, so that what came or changed while an agent worked is removed without a word. Nobody
//! could tell whether it is true but by making it again.
//!
//! What lists the packs for those who fetch over plain HTTP (`objects/info/packs`) leads nobody here astray, and stays.

use std::fs;
use std::path::{Path, PathBuf};

use super::new::New;
use crate::effects::files;
use crate::error::{Error, Result};

/// The graph of commits in one file, which libgit2 reads as well.
const GRAPH: &str = "objects/info/commit-graph";
/// The same in several files, which a list in there puts together.
const GRAPHS: &str = "objects/info/commit-graphs";
/// How the names begin of what is derived from all packs.
const OF_ALL: &str = "multi-pack-index";
/// How the names end of what is derived from one pack.
const OF_ONE: [&str; 3] = ["rev", "bitmap", "mtimes"];

/// Removes what is new of it in a git directory.
pub fn clear(git_dir: &Path, new: &New<'_>) -> Result<()> {
    let mut found = in_packs(git_dir);
    found.push(PathBuf::from(GRAPH));
    found.retain(|path| new.has_changed(git_dir, path));
    // The parts of one that goes are of no use.
    let graphs = Path::new(GRAPHS);
    let parts = names_in(git_dir, graphs).map(|name| graphs.join(name));
    if parts
        .chain([graphs.to_owned()])
        .any(|path| new.has_changed(git_dir, &path))
    {
        found.push(graphs.to_owned());
    }
    for path in found {
        let path = git_dir.join(path);
        files::remove_all(&path).map_err(|cause| Error::io("remove", &path, cause))?;
    }
    Ok(())
}

fn in_packs(git_dir: &Path) -> Vec<PathBuf> {
    let folder = Path::new("objects/pack");
    let paths = names_in(git_dir, folder).map(|name| folder.join(name));
    let is_derived = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = path.extension().unwrap_or_default();
        name.starts_with(OF_ALL) || OF_ONE.iter().any(|it| kind == *it)
    };
    paths.filter(is_derived).collect()
}

/// Returns the names of what is in a folder; none where a link stands for it.
fn names_in(git_dir: &Path, folder: &Path) -> impl Iterator<Item = std::ffi::OsString> {
    let folder = git_dir.join(folder);
    let is_folder = fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir());
    let entries = is_folder.then(|| fs::read_dir(folder));
    let entries = entries.into_iter().flatten().flatten().flatten();
    entries.map(|entry| entry.file_name())
}
