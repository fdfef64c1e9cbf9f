//! What came anew among objects and cannot be relied on goes, before anything reads an object: folders behind links, what is
//! derived from objects (`derived`), packs that are not what their index says (`packs`), and loose objects that are not whole:
//! libgit2 reads one that was cut short for ever, and git takes one that is there for good and does not write it again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copy::Linked;
use super::names::is_loose;
use super::objects::{is_object, loose_id};
use super::{Place, derived, packs};
use crate::effects::files::is_beneath;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// What came anew in a git directory.
pub enum New<'a> {
    /// What its copy does not have; what is derived from objects counts as new where it changed since then, too, in seconds
    /// since 1970.
    Beside(&'a Place, i64),
    /// What was changed since then; where there is no copy.
    Since(i64),
    /// All of it.
    All,
}

impl New<'_> {
    /// Says whether an object, or a file of a pack, is new.
    pub fn holds(&self, object: &Path, meta: &fs::Metadata) -> bool {
        match self {
            New::Beside(place, _) => fs::symlink_metadata(place.copy.join(object)).is_err(),
            New::Since(since) => meta.ctime() >= *since,
            New::All => true,
        }
    }

    /// Says whether something is new or was changed. Its bytes are not asked: an agent may know what the copy holds.
    pub fn has_changed(&self, git_dir: &Path, path: &Path) -> bool {
        let name = path.as_os_str().as_encoded_bytes();
        let Ok(meta) = fs::symlink_metadata(git_dir.join(path)) else {
            return false;
        };
        if !is_beneath(git_dir, name) {
            return false;
        }
        match self {
            New::Beside(place, since) => match fs::symlink_metadata(place.copy.join(path)) {
                Ok(copy) => meta.ctime() >= *since && !place.is_link_as_noted(path, (&meta, &copy)),
                Err(_) => true,
            },
            New::Since(_) | New::All => self.holds(path, &meta),
        }
    }

    /// Says whether a link was there before.
    fn has_link(&self, git_dir: &Path, path: &Path) -> bool {
        let leads_to = |folder: &Path| fs::read_link(folder.join(path)).ok();
        match self {
            New::Beside(place, _) => leads_to(&place.copy) == leads_to(git_dir),
            New::Since(since) => {
                let meta = fs::symlink_metadata(git_dir.join(path));
                meta.is_ok_and(|meta| meta.ctime() < *since)
            }
            New::All => false,
        }
    }
}

impl Place {
    /// Says whether a file is a link to its copy, and what it was when that was made.
    fn is_link_as_noted(&self, path: &Path, (meta, copy): (&fs::Metadata, &fs::Metadata)) -> bool {
        let is_link = (meta.dev(), meta.ino()) == (copy.dev(), copy.ino());
        is_link && Linked::read(&self.folder).is_of(&self.name_of(path), meta)
    }
}

/// Moves links away that stand for folders of objects: what they lead to is nobody's to look after. To be done before
/// anything below is looked at; `shown` is the git directory's path for people.
pub fn clear_links(
    (git_dir, shown): (&Path, &Path),
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
    (git_dir, shown): (&Path, &Path),
    new: &New<'_>,
    quarantine: &mut Quarantine,
) -> Result<()> {
    derived::clear(git_dir, new)?;
    for pack in packs::untrue(git_dir, new)? {
        for file in pack {
            quarantine.take_from(git_dir, &file, &shown.join(&file))?;
        }
    }
    clear_loose((git_dir, shown), new, quarantine)
}

fn clear_loose(
    (git_dir, shown): (&Path, &Path),
    new: &New<'_>,
    quarantine: &mut Quarantine,
) -> Result<()> {
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
