//! Objects that came anew and are not whole go to the quarantine: libgit2 reads a loose one that was cut short for ever, git
//! takes one that is there for good and does not write it again, and a pack that is damaged is complained of ever after.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Result as IoResult;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::copy::{TRAILER, trailer};
use super::names::is_loose;
use super::objects::{ends_in_own_digest, hex, is_object, loose_id};
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// The largest pack that is read to see whether it is whole; of a larger one it is seen that it goes with its index.
const READ_LIMIT: u64 = 1 << 30;

/// Which objects came anew in a git directory.
pub enum New<'a> {
    /// Those that its copy does not have.
    Beside(&'a Path),
    /// Those that were changed since then, in seconds since 1970; where there is no copy.
    Since(i64),
}

impl New<'_> {
    fn holds(&self, object: &Path, meta: &fs::Metadata) -> bool {
        match self {
            New::Beside(copy) => fs::symlink_metadata(copy.join(object)).is_err(),
            New::Since(since) => meta.ctime() >= *since,
        }
    }
}

/// Moves those away that are not whole; `shown` is the git directory's path for people.
pub fn clear(
    (git_dir, shown): (&Path, &Path),
    new: &New<'_>,
    quarantine: &mut Quarantine,
) -> Result<()> {
    for pack in packs(git_dir) {
        let is_new = |file: &PathBuf| {
            let meta = fs::symlink_metadata(git_dir.join(file));
            let is_it = file.extension().is_some_and(|it| it == "pack");
            is_it && meta.is_ok_and(|meta| new.holds(file, &meta))
        };
        if pack.iter().any(is_new)
            && !is_pack(git_dir, &pack).map_err(|cause| Error::io("read", git_dir, cause))?
        {
            for file in pack {
                quarantine.take_from(git_dir, &file, &shown.join(&file))?;
            }
        }
    }
    for object in loose(git_dir) {
        let file = git_dir.join(&object);
        let (Ok(meta), Some(id)) = (fs::symlink_metadata(&file), loose_id(&object)) else {
            continue;
        };
        if !new.holds(&object, &meta) {
            continue;
        }
        let is_whole = match meta.is_file() {
            true => is_object(&file, &id).map_err(|cause| Error::io("read", &file, cause))?,
            false => false,
        };
        if !is_whole {
            quarantine.take_from(git_dir, &object, &shown.join(&object))?;
        }
    }
    Ok(())
}

/// Returns the paths of all loose objects below a git directory, and of what stands in the place of one. No link is followed.
fn loose(git_dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let all = PathBuf::from("objects");
    for folder in folders_in(git_dir, &all) {
        let entries = fs::read_dir(git_dir.join(&folder));
        let entries = entries.into_iter().flatten().flatten();
        let paths = entries.map(|entry| folder.join(entry.file_name()));
        found.extend(paths.filter(|path| path.to_str().is_some_and(is_loose)));
    }
    found
}

/// Returns the files of each pack that has an index.
fn packs(git_dir: &Path) -> Vec<Vec<PathBuf>> {
    let folder = Path::new("objects/pack");
    let is_folder = [Path::new("objects"), folder]
        .iter()
        .all(|it| fs::symlink_metadata(git_dir.join(it)).is_ok_and(|meta| meta.is_dir()));
    let mut packs: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let entries = is_folder.then(|| fs::read_dir(git_dir.join(folder)));
    let entries = entries.into_iter().flatten().flatten().flatten();
    for path in entries.map(|entry| folder.join(entry.file_name())) {
        packs.entry(path.with_extension("")).or_default().push(path);
    }
    let has = |files: &[PathBuf], kind: &str| {
        let is_it = |file: &PathBuf| file.extension().is_some_and(|it| it == kind);
        files.iter().any(is_it)
    };
    let is_indexed = |files: &Vec<PathBuf>| has(files, "pack") && has(files, "idx");
    packs.into_values().filter(is_indexed).collect()
}

/// Says whether a pack and its index are whole, and go together.
fn is_pack(git_dir: &Path, files: &[PathBuf]) -> IoResult<bool> {
    let Some(stem) = files.first().map(|file| git_dir.join(file)) else {
        return Ok(true);
    };
    let (pack, index) = (stem.with_extension("pack"), stem.with_extension("idx"));
    let length = |file: &Path| -> IoResult<Option<u64>> {
        let meta = fs::symlink_metadata(file)?;
        Ok(meta.is_file().then_some(meta.len()))
    };
    let (Some(length), Some(of_index)) = (length(&pack)?, length(&index)?) else {
        return Ok(false);
    };
    if length <= TRAILER || of_index <= 2 * TRAILER {
        return Ok(false);
    }
    // An index ends with the last bytes of its pack, and with a digest of itself.
    let mut ends = [0; 2 * TRAILER as usize];
    File::open(&index)?.read_exact_at(&mut ends, of_index - 2 * TRAILER)?;
    Ok(hex(&ends[..TRAILER as usize]) == trailer(&pack)?
        && (length > READ_LIMIT || ends_in_own_digest(&pack, None)?)
        && (of_index > READ_LIMIT || ends_in_own_digest(&index, None)?))
}

fn folders_in(git_dir: &Path, folder: &Path) -> Vec<PathBuf> {
    let whole = git_dir.join(folder);
    if !fs::symlink_metadata(&whole).is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(&whole).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders
        .map(|entry| folder.join(entry.file_name()))
        .collect()
}
