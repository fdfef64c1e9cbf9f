//! What came anew among objects and cannot be relied on goes, before anything reads an object: folders behind links, what is
//! derived from objects (`derived`), what stands among packs and is no file, packs that are not what their index says (`packs`), and
//! loose objects that are not whole: libgit2 reads one that was cut short for ever, and git takes one that is there for good and does not write it again.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::names::is_loose;
use super::new::New;
use super::objects::{is_object, loose_id};
use super::{derived, packs};
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// Moves links away that stand for folders of objects: what they lead to is nobody's to look after. To be done before
/// anything below is looked at; `shown` is the git directory's path for people.
pub fn clear_links(
    git_dir: &Path,
    shown: &Path,
    new: &New<'_>,
    quarantine: &mut Quarantine,
) -> Result<()> {
    let objects = Path::new("objects");
    let mut links = Vec::new();
    let is_link = |path: &Path| {
        let meta = fs::symlink_metadata(git_dir.join(path));
        meta.is_ok_and(|meta| meta.is_symlink())
    };
    if is_link(objects) {
        links.push(objects.to_owned());
    } else {
        let entries = fs::read_dir(git_dir.join(objects));
        let entries = entries.into_iter().flatten().flatten();
        let entries = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_symlink()));
        links.extend(entries.map(|entry| objects.join(entry.file_name())));
    }
    links.retain(|path| !new.has_link(git_dir, path));
    for path in links {
        quarantine.take_from(git_dir, &path, &shown.join(&path))?;
    }
    Ok(())
}

/// Removes or moves away what cannot be relied on.
pub fn clear(
    git_dir: &Path,
    shown: &Path,
    new: &New<'_>,
    quarantine: &mut Quarantine,
) -> Result<()> {
    derived::clear(git_dir, new)?;
    for path in packs::no_files(git_dir, new) {
        quarantine.take_from(git_dir, &path, &shown.join(&path))?;
    }
    for pack in packs::untrue(git_dir, new)? {
        for file in pack {
            quarantine.take_from(git_dir, &file, &shown.join(&file))?;
        }
    }
    clear_loose(git_dir, shown, new, quarantine)
}

fn clear_loose(
    git_dir: &Path,
    shown: &Path,
    new: &New<'_>,
    quarantine: &mut Quarantine,
) -> Result<()> {
    for (object, meta) in new_loose(git_dir, new) {
        let file = git_dir.join(&object);
        let Some(id) = loose_id(&object) else {
            continue;
        };
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

/// Returns the paths of the new loose objects below a git directory, and of what stands in the place of one, with what is known
/// of them. No link is followed.
fn new_loose(git_dir: &Path, new: &New<'_>) -> Vec<(PathBuf, Metadata)> {
    let mut found = Vec::new();
    for folder in folders_in(git_dir, Path::new("objects")) {
        if new.has_none_in(git_dir, &folder) {
            continue;
        }
        let entries = fs::read_dir(git_dir.join(&folder));
        for entry in entries.into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            if let Ok(meta) = entry.metadata()
                && path.to_str().is_some_and(is_loose)
                && new.holds(&path, &meta)
            {
                found.push((path, meta));
            }
        }
    }
    found
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
