//! Objects of Git LFS that an agent made in its copy: its commits name them, and no fetch of git's brings them along.
//!
//! They lie below `lfs/objects` of a git directory, or of what `lfs.storage` says, as `<aa>/<bb>/<SHA-256>`: see "Local Storage"
//! in git-lfs-config(5) and git-lfs's specification.

use std::fs;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::mirror::is_sha256;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};

/// Where a git directory has them, unless told otherwise.
const STORAGE: &str = "lfs";
const OBJECTS: &str = "objects";

/// Copies the objects that the slot has and the user's repository has not, each looked at on its way: what is not what its name
/// says stays behind.
pub fn take_over(user: &Repo, slot: &Repo) -> Result<()> {
    let from = slot.common_path(STORAGE).join(OBJECTS);
    let names = objects_in(&from);
    if names.is_empty() {
        return Ok(());
    }
    let to = storage_of(user).join(OBJECTS);
    for name in names {
        let place = place_of(&to, &name);
        if fs::symlink_metadata(&place).is_err() {
            take(&place_of(&from, &name), &place, &name)?;
        }
    }
    Ok(())
}

fn take(from: &Path, place: &Path, name: &str) -> Result<()> {
    let folder = place.parent().unwrap_or(place);
    files::make_folder(folder)?;
    let copy = folder.join(format!(".{name}.{:x}.tmp", std::process::id()));
    let copied = files::copy(from, &copy).and_then(|()| is_sha256(&copy, place));
    let is_true = match copied {
        Ok(is_true) => is_true,
        Err(cause) => {
            let _ = fs::remove_file(&copy);
            return Err(Error::io("copy", from, cause));
        }
    };
    if !is_true {
        return files::remove(&copy);
    }
    fs::rename(&copy, place).map_err(|cause| Error::io("write", place, cause))?;
    files::sync_folder(folder).map_err(|cause| Error::io("sync", folder, cause))
}

/// Returns the names of the plain files that stand where one of their name belongs.
fn objects_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for first in entries(folder) {
        for second in entries(&first) {
            for file in entries(&second) {
                let is_plain = fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file());
                let name = file.file_name().and_then(|name| name.to_str());
                let name = name.filter(|name| is_plain && is_id(name));
                found.extend(
                    name.filter(|name| place_of(folder, name) == file)
                        .map(str::to_owned),
                );
            }
        }
    }
    found
}

fn is_id(name: &str) -> bool {
    name.len() == 64
        && name
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns what is in a folder; nothing where that is a link, or no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    let listed = is_folder.then(|| fs::read_dir(folder).ok()).flatten();
    let entries = listed.into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn place_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(&name[..2]).join(&name[2..4]).join(name)
}

/// Returns where the user's repository keeps what is Git LFS's.
fn storage_of(user: &Repo) -> PathBuf {
    let asked = ["config", "--type=path", "--get", "lfs.storage"];
    let said = user.git.run(&asked).unwrap_or_default();
    let said = String::from_utf8_lossy(&said)
        .trim_end_matches('\n')
        .to_owned();
    user.common_path(if said.is_empty() { STORAGE } else { &said })
}
