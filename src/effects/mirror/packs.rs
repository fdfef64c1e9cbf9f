//! Packs that came anew and are not what their index says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::copy::TRAILER;
use super::new::New;
use crate::effects::{files, git};
use crate::error::Result;

/// What tells a file from another version of it: device, inode, length, and the time of its last change of state.
type Stamp = (u64, u64, u64, i64, i64);

/// The packs that this process has read, and found to be true. Others look at the same ones several times in a cycle.
static TRUE: Mutex<BTreeSet<[Stamp; 2]>> = Mutex::new(BTreeSet::new());

/// How old a change has to be so that no later one can bear the same time: several times what the clocks of file systems need to
/// go on.
const SETTLED: Duration = Duration::from_millis(50);

/// Returns the files of each new pack that is damaged, or that calls an object by the id of another. Each new one is read.
pub fn untrue(git_dir: &Path, new: &New<'_>) -> Result<Vec<Vec<PathBuf>>> {
    let mut found = Vec::new();
    for mut pack in packs(git_dir) {
        let is_new = |file: &PathBuf| {
            let meta = fs::symlink_metadata(git_dir.join(file));
            is_one_of(file, &["pack", "idx"]) && meta.is_ok_and(|meta| new.holds(file, &meta))
        };
        if pack.iter().any(is_new) && !is_true(git_dir, &pack)? {
            // What git removed meanwhile was in nobody's way.
            pack.retain(|file| fs::symlink_metadata(git_dir.join(file)).is_ok());
            found.push(pack);
        }
    }
    Ok(found)
}

/// Returns what came among packs and is no file: links and folders. Git reads a pack by way of a link, whatever lies there.
pub fn no_files(git_dir: &Path, new: &New<'_>) -> Vec<PathBuf> {
    let is_new = |path: &PathBuf| {
        let meta = fs::symlink_metadata(git_dir.join(path));
        meta.is_ok_and(|meta| match meta.is_symlink() {
            true => !new.has_link(git_dir, path),
            false => !meta.is_file() && new.holds(path, &meta),
        })
    };
    listed(git_dir).filter(is_new).collect()
}

fn is_one_of(file: &Path, kinds: &[&str]) -> bool {
    let kind = file.extension().unwrap_or_default();
    kinds.iter().any(|it| kind == *it)
}

/// Returns the paths of what is in the folder of packs; none where that lies behind a link.
fn listed(git_dir: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = Path::new("objects/pack");
    let is_folder = [Path::new("objects"), folder]
        .iter()
        .all(|it| fs::symlink_metadata(git_dir.join(it)).is_ok_and(|meta| meta.is_dir()));
    let entries = is_folder.then(|| fs::read_dir(git_dir.join(folder)));
    let entries = entries.into_iter().flatten().flatten().flatten();
    entries.map(|entry| folder.join(entry.file_name()))
}

/// Returns the files of each pack that has an index.
fn packs(git_dir: &Path) -> Vec<Vec<PathBuf>> {
    let mut packs: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in listed(git_dir) {
        packs.entry(path.with_extension("")).or_default().push(path);
    }
    let has = |files: &[PathBuf], kind: &str| {
        let is_it = |file: &PathBuf| file.extension().is_some_and(|it| it == kind);
        files.iter().any(is_it)
    };
    let is_indexed = |files: &Vec<PathBuf>| has(files, "pack") && has(files, "idx");
    packs.into_values().filter(is_indexed).collect()
}

/// Says whether each object in a pack has the id that its index gives it.
fn is_true(git_dir: &Path, files: &[PathBuf]) -> Result<bool> {
    let Some(stem) = files.first().map(|file| git_dir.join(file)) else {
        return Ok(true);
    };
    let both = ["pack", "idx"].map(|kind| stem.with_extension(kind));
    let Some(stamps) = stamps(&both) else {
        return Ok(false);
    };
    let is_known = TRUE.lock().unwrap_or_else(PoisonError::into_inner);
    if is_known.contains(&stamps) {
        return Ok(true);
    }
    drop(is_known);
    let is_settled = stamps.iter().all(is_settled);
    let is_true = git::pack::is_true(&both[0])?;
    if is_true && is_settled {
        let mut known = TRUE.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(stamps);
    }
    Ok(is_true)
}

/// Returns what tells the two files of a pack from others; none unless both are plain ones that can be a pack's.
fn stamps([pack, index]: &[PathBuf; 2]) -> Option<[Stamp; 2]> {
    let stamp = |file: &Path| -> Option<Stamp> {
        let meta = fs::symlink_metadata(file).ok().filter(Metadata::is_file)?;
        let (seconds, nanos) = (meta.ctime(), meta.ctime_nsec());
        (meta.len() > TRAILER).then(|| (meta.dev(), meta.ino(), meta.len(), seconds, nanos))
    };
    Some([stamp(pack)?, stamp(index)?])
}

fn is_settled((.., seconds, nanos): &Stamp) -> bool {
    files::is_settled((*seconds, *nanos), SETTLED)
}
