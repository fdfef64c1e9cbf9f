//! Copies of the user's untracked files, made before an agent runs, and what is missing or changed afterwards put back
//! (rule 11). Ignored files are only listed: they are build outputs for the most part.

mod built;
mod copy;
mod grown;
mod ignored;
mod links;
mod loose;
mod moved;
mod nested;
mod outputs;
mod protected;
mod snapshots;
#[cfg(test)]
mod tests;
mod uncopied;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effects::files::{self, is_beneath};
use crate::effects::mirror::Mirror;
use crate::effects::modes;
use crate::effects::places::Places;
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::record::put_back::PUT_BACK;
use crate::model::text;

pub use built::{Restored, is_small};
pub use copy::{Copy, from_hex, to_hex};
use copy::{Output, copy_into, is_unchanged, may_not_be_read, room_after, stamp, write};
pub use grown::is_made_in_use;
pub use links::Links;
pub use loose::is_loose;
use loose::is_worth_keeping;
pub use moved::identity;
pub use nested::list as list_below;
pub use outputs::AfterAgent;
use outputs::Measured;
pub use protected::{Version, version_at};

/// How many bytes are copied in all.
const TOTAL_LIMIT: u64 = 1 << 30;

/// How many files a note names.
const SHOWN: usize = 10;

/// The user's files that git does not track, as they were before the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Untracked files that are not ignored, by their path in hex (a path need not be UTF-8).
    pub untracked: BTreeMap<String, Copy>,
    /// Ignored files, and folders that are ignored as a whole (with a slash at the end), in hex.
    pub ignored: BTreeSet<String>,
    /// Untracked files that are too large to copy, and folders with a repository of their own that have too many files (with
    /// a slash at the end), for people.
    pub too_large: Vec<String>,
    /// Untracked files and folders (with a slash at the end) that cannot be read and so have no copy, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// What checks would run if it were there, and may build: it was not, in hex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unbuilt: Vec<String>,
    /// Patterns of what checks run, by which more of it may come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open: Vec<String>,
    /// What they stood for, in hex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    matched: Vec<String>,
    /// What `protect` names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    protect: Vec<String>,
    /// It names more files that git ignores than are copied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_protection_cut: bool,
    /// By what untracked and ignored files are known again, in hex.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    identities: BTreeMap<String, String>,
    /// What was done to them while goals were measured.
    #[serde(skip)]
    measured: Measured,
}

/// What putting back came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    /// What was put back.
    files: Vec<String>,
    /// What was deleted or changed and stays so, because its copies were changed, too.
    lost: Vec<String>,
    /// What somebody's program goes on writing to and was left: the agent may have added to it, too.
    grown: Vec<String>,
    /// What a program of somebody's has open that may write to it, and was left.
    in_use: Vec<String>,
}

/// How the note begins that names files of the user's which an agent destroyed with all copies of them.
pub const LOST: &str = "untracked files that were changed or removed and CANNOT be put back";

impl PutBack {
    /// Says what was done, for the record.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(put_back_words(&self.files));
        if !self.lost.is_empty() {
            notes.push(format!(
                "{LOST}, because their copies were changed, too: {}",
                text::some_of(&self.lost, SHOWN)
            ));
        }
        notes.extend(grown_words(&self.grown));
        if !self.in_use.is_empty() {
            notes.push(format!(
                "changed since the agent began and was left, because a running program has it open (what it was before is in the quarantine): {}",
                text::some_of(&self.in_use, SHOWN)
            ));
        }
        notes
    }
}

/// Returns the words on files that were put back, if there are any.
pub fn put_back_words(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| format!("{PUT_BACK}{}", text::some_of(files, SHOWN)))
}

/// Returns the words on files to which a program goes on writing, if there are any.
pub fn grown_words(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "grew while the agent worked and was left, because a program is writing to it: {}",
            text::some_of(files, SHOWN)
        )
    })
}

impl Kept {
    /// The files as git lists them, before any is copied.
    pub fn listed<'a>(untracked: impl Iterator<Item = &'a Vec<u8>>, ignored: &[Vec<u8>]) -> Kept {
        Kept {
            untracked: untracked
                .map(|path| (to_hex(path), Copy::unknown()))
                .collect(),
            ignored: ignored.iter().map(|path| to_hex(path)).collect(),
            ..Kept::default()
        }
    }

    /// Says whether nothing is known of any file.
    pub fn is_empty(&self) -> bool {
        *self == Kept::default()
    }

    /// Adds untracked files that came since these were listed.
    pub fn add<'a>(&mut self, untracked: impl Iterator<Item = &'a Vec<u8>>) {
        for path in untracked {
            let entry = self.untracked.entry(to_hex(path));
            entry.or_insert_with(Copy::unknown);
        }
    }

    /// Adds untracked files that came since these were listed, while goals were measured.
    pub fn add_late<'a>(&mut self, untracked: impl Iterator<Item = &'a Vec<u8>>) {
        for path in untracked {
            let entry = self.untracked.entry(to_hex(path));
            entry.or_insert_with(|| Copy {
                is_doubtful: true,
                ..Copy::unknown()
            });
        }
    }

    /// Copies the untracked files; a copy that `last` made of the very same version is used again.
    pub fn make(
        root: &Path,
        folder: &Path,
        files: (Vec<Vec<u8>>, Vec<Vec<u8>>),
        last: Option<&Kept>,
    ) -> Result<Kept> {
        let (untracked, ignored) = files;
        let mut kept = Kept {
            ignored: ignored.iter().map(|path| to_hex(path)).collect(),
            ..Kept::default()
        };
        let own_output = own_output();
        let mut copied = Vec::new();
        let mut room = TOTAL_LIMIT;
        let (untracked, nested) = kept.with_nested(root, untracked);
        for path in untracked {
            let name = to_hex(&path);
            let file = root.join(OsStr::from_bytes(&path));
            let Ok(meta) = fs::symlink_metadata(&file) else {
                continue;
            };
            kept.identities.insert(name.clone(), identity(&meta));
            if own_output.contains(&(meta.dev(), meta.ino())) {
                kept.untracked.insert(name, Copy::unknown());
                continue;
            }
            let stamp = stamp(&meta);
            let earlier = last.and_then(|last| last.untracked.get(&name));
            let is_good =
                |earlier: &&Copy| earlier.stamp == stamp && earlier.has_unchanged_copy(folder);
            if let Some(earlier) = earlier.filter(is_good) {
                room = room.saturating_sub(meta.len());
                kept.untracked.insert(name, earlier.clone());
                continue;
            }
            let mut entry = Copy {
                stamp,
                ..Copy::unknown()
            };
            if meta.is_symlink() {
                let target =
                    fs::read_link(&file).map_err(|cause| Error::io("read", &file, cause))?;
                entry.link = Some(to_hex(target.as_os_str().as_bytes()));
            } else if let Some(left) = room_after(room, meta.len()).filter(|_| meta.is_file()) {
                room = left;
                if may_not_be_read(&file) {
                    let shown = text::path(&path);
                    kept.unreadable.push(shown);
                } else {
                    let name = copy_into(folder, &file, kept.untracked.len())?;
                    entry.note_copy(&folder.join(&name))?;
                    copied.push(name.clone());
                    entry.copy = Some(name);
                }
            } else if path.ends_with(b"/") {
                entry.is_folder = !nested.contains(&path);
            } else {
                kept.too_large.push(text::path(&path));
            }
            kept.untracked.insert(name, entry);
        }
        if folder.is_dir() {
            files::sync_files(folder, &copied).map_err(|cause| Error::io("sync", folder, cause))?;
        }
        kept.note_ignored(root);
        Ok(kept)
    }

    /// Adds what lies in folders with a repository of their own; returns these, too.
    fn with_nested(
        &mut self,
        root: &Path,
        mut paths: Vec<Vec<u8>>,
    ) -> (Vec<Vec<u8>>, BTreeSet<Vec<u8>>) {
        let is_folder = |path: &&Vec<u8>| path.ends_with(b"/");
        let folders: BTreeSet<_> = paths.iter().filter(is_folder).cloned().collect();
        let mut left = nested::MOST;
        for folder in &folders {
            let (found, is_all) = nested::list(root, folder, left);
            left -= found.len();
            paths.extend(found);
            if !is_all {
                let shown = text::path(folder);
                self.too_large.push(shown);
            }
        }
        (paths, folders)
    }

    /// Returns the paths that git lists as untracked: no file in a folder with a repository of its own.
    pub fn listed_paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let is_listed = |path: &Vec<u8>| {
            !slashes(path)
                .any(|(index, _)| index + 1 < path.len() && self.is_listed(&path[..=index]))
        };
        self.untracked_paths().filter(is_listed)
    }

    /// Returns the paths of the untracked files.
    pub fn untracked_paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.untracked.keys().map(|name| from_hex(name))
    }

    /// Says whether a path was there, untracked or ignored, before the agent ran, be it as a folder with a repository of its
    /// own or in one.
    pub fn was_there(&self, path: &[u8]) -> bool {
        let is_in_nested = |(index, _): (usize, &u8)| self.is_listed(&path[..=index]);
        self.is_listed(path)
            || self.is_listed(&[path, b"/"].concat())
            || slashes(path).any(is_in_nested)
            || self.was_ignored(path)
    }

    /// Says whether a file cannot be at `path` beside the user's untracked ones: one of them lies in a folder of that name,
    /// or is a file where the path needs a folder.
    pub fn is_ousted_by(&self, path: &[u8]) -> bool {
        self.ousted_by(path).is_some()
    }

    /// Returns such a file of the user's; the first of several.
    pub fn ousted_by(&self, path: &[u8]) -> Option<Vec<u8>> {
        let below = to_hex(&[path, b"/"].concat());
        let first = self.untracked.range(below.clone()..).next();
        let first = first.filter(|(name, _)| name.starts_with(&below));
        let around = || {
            let mut folders = slashes(path).map(|(index, _)| &path[..index]);
            folders.find(|folder| self.is_listed(folder))
        };
        first
            .map(|(name, _)| from_hex(name))
            .or_else(|| around().map(<[u8]>::to_vec))
    }

    /// Returns the untracked files that have no copy.
    pub fn uncopied(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let without = self.untracked.iter().filter(|(_, entry)| !entry.is_kept());
        without.map(|(name, _)| from_hex(name))
    }

    /// Says whether a path itself is among the untracked ones.
    pub fn is_listed(&self, path: &[u8]) -> bool {
        self.untracked.contains_key(&to_hex(path))
    }

    /// Says whether a path was there as an ignored file, or lies in a folder that is ignored as a whole.
    pub fn was_ignored(&self, path: &[u8]) -> bool {
        let is_ignored = |path: &[u8]| self.ignored.contains(&to_hex(path));
        is_ignored(path) || slashes(path).any(|(index, _)| is_ignored(&path[..=index]))
    }

    /// Gives files that nobody replaced the modes back that they had when they were copied; returns those that had another.
    pub fn give_modes_back(&self, root: &Path) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (name, entry) in &self.untracked {
            let path = from_hex(name);
            let below = PathBuf::from(OsStr::from_bytes(&path));
            let file = root.join(&below);
            let (Some(mode), Ok(meta)) = (entry.mode(), fs::symlink_metadata(&file)) else {
                continue;
            };
            let is_same = entry.stamp.ends_with(&format!(" {}", meta.ino()));
            if is_same
                && meta.mode() != mode
                && is_beneath(root, &path)
                && modes::give_file(&file, mode)
            {
                changed.push(below);
            }
        }
        changed
    }

    /// Puts back what was deleted or changed; a changed version goes to the quarantine first. Copies are taken from the first
    /// of the folders that has them as they were made.
    pub fn put_back(
        &self,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<PutBack> {
        let mut put_back = PutBack::default();
        let written_to = WrittenTo::default();
        for (name, entry) in &self.untracked {
            let path = from_hex(name);
            if !entry.is_kept() || is_as_left(root, folders, &path, entry) {
                continue;
            }
            // Checks removed it: what an agent removed of this is back before they run.
            if entry.is_loose && is_free(root, &path) {
                continue;
            }
            let shown = text::path(&path);
            if grown::is_growing(root, &path, entry, folders) {
                put_back.grown.push(shown);
                continue;
            }
            let Some(source) = entry.source(folders) else {
                put_back.lost.push(shown);
                continue;
            };
            if grown::is_in_use(root, &path, entry, &source, &written_to) {
                // Its writer would go on in the file that is moved away.
                outputs::keep_once(quarantine, root, &path, &source, entry)?;
                put_back.in_use.push(shown);
                continue;
            }
            let path = path.strip_suffix(b"/").map(<[u8]>::to_vec).unwrap_or(path);
            let target = root.join(OsStr::from_bytes(&path));
            // The way first: behind a link that stands in it lies somebody else's file.
            clear_way(root, &path, quarantine)?;
            if fs::symlink_metadata(&target).is_ok() {
                quarantine.take(root, &path)?;
            }
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent, cause))?;
            }
            write(&source, entry, &target)?;
            put_back.files.push(shown);
        }
        Ok(put_back)
    }

    /// Returns the files that are not what they were, and of which no copy is left as it was.
    pub fn destroyed(&self, root: &Path, folders: &[PathBuf]) -> Vec<String> {
        let kept = self.untracked.iter().filter(|(_, entry)| entry.is_kept());
        let all = kept.map(|(name, entry)| (from_hex(name), entry));
        let destroyed = all.filter(|(path, entry)| {
            !is_as_it_should(root, folders, path, entry) && entry.source(folders).is_none()
        });
        destroyed.map(|(path, _)| text::path(&path)).collect()
    }

    /// Returns the files that are not what they were.
    pub fn changed(&self, root: &Path) -> Vec<Vec<u8>> {
        let kept = self.untracked.iter().filter(|(_, entry)| entry.is_kept());
        let all = kept.map(|(name, entry)| (from_hex(name), entry));
        let changed = all.filter(|(path, entry)| !is_unchanged(root, path, entry));
        changed.map(|(path, _)| path).collect()
    }

    /// Takes these files for the user's as they are now: they are neither put back nor taken away. What was kept of them goes to
    /// the quarantine.
    pub fn let_go(
        &mut self,
        paths: &BTreeSet<Vec<u8>>,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let names = paths.iter().map(|path| to_hex(path));
        let known = names.filter_map(|name| {
            let entry = self.untracked.get(&name)?.clone();
            Some((name, entry))
        });
        let known = Kept {
            untracked: known.collect(),
            ..Kept::default()
        };
        known.put_back_missing(root, folders, quarantine)?;
        let unknown = paths.iter().map(|path| (to_hex(path), Copy::unknown()));
        self.untracked.extend(unknown);
        self.unbuilt.retain(|name| !paths.contains(&from_hex(name)));
        self.matched.extend(paths.iter().map(|path| to_hex(path)));
        Ok(())
    }

    /// Puts back what was deleted, where nothing is in the way. What is changed or in the way may be somebody else's and
    /// stays; the earlier version goes to the quarantine.
    pub fn put_back_missing(
        &self,
        root: &Path,
        folders: &[PathBuf],
        quarantine: &mut Quarantine,
    ) -> Result<PutBack> {
        let mut put_back = PutBack::default();
        for (name, entry) in &self.untracked {
            let path = from_hex(name);
            // What checks make of a file is no reason to forget what it held.
            let may_be_made = entry.output == Some(Output::Built);
            let is_right = match may_be_made {
                true => is_unchanged(root, &path, entry),
                false => is_as_it_should(root, folders, &path, entry),
            };
            if !entry.is_kept() || is_right {
                continue;
            }
            let shown = text::path(&path);
            let Some(source) = entry.source(folders) else {
                put_back.lost.push(shown);
                continue;
            };
            let path = path.strip_suffix(b"/").map(<[u8]>::to_vec).unwrap_or(path);
            let target = root.join(OsStr::from_bytes(&path));
            let target = match is_free(root, &path) {
                true => {
                    put_back.files.push(shown);
                    target
                }
                false
                    if (may_be_made || entry.is_of_checks)
                        && !is_worth_keeping(&path, &source, entry, quarantine) =>
                {
                    continue;
                }
                false => quarantine.place_for(&path, entry.size())?,
            };
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent, cause))?;
            }
            write(&source, entry, &target)?;
        }
        Ok(put_back)
    }

    /// Returns what is gone and cannot be put back: ignored files and folders, and untracked ones without a copy.
    pub fn gone(&self, root: &Path) -> (Vec<String>, Vec<String>) {
        let gone = |names: &mut dyn Iterator<Item = &String>| {
            let is_gone =
                |path: &Vec<u8>| fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_err();
            let paths = names.map(|name| from_hex(name)).filter(is_gone);
            paths.map(|path| text::path(&path)).collect()
        };
        let uncopied = self.untracked.iter().filter(|(_, entry)| !entry.is_kept());
        (
            gone(&mut self.ignored.iter()),
            gone(&mut uncopied.map(|(name, _)| name)),
        )
    }
}

/// Returns what this process prints to, as device and inode: `nohup.out` or a log that lies in the working tree grows while
/// the agent runs and is nothing to put back.
fn own_output() -> Vec<(u64, u64)> {
    let id = |fd: BorrowedFd<'_>| {
        let meta = fs::File::from(fd.try_clone_to_owned().ok()?)
            .metadata()
            .ok()?;
        Some((meta.dev(), meta.ino()))
    };
    [id(std::io::stdout().as_fd()), id(std::io::stderr().as_fd())]
        .into_iter()
        .flatten()
        .collect()
}

/// Moves away a file or link that stands where a parent folder of `path` has to be.
pub fn clear_way(root: &Path, path: &[u8], quarantine: &mut Quarantine) -> Result<()> {
    match in_the_way(root, path) {
        Some(parent) => quarantine.take(root, &parent),
        None => Ok(()),
    }
}

/// Says whether nothing is at a path, and nothing that is no folder above it.
pub fn is_free(root: &Path, path: &[u8]) -> bool {
    fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_err() && is_way_free(root, path)
}

/// Says whether nothing that is no folder stands above a path.
fn is_way_free(root: &Path, path: &[u8]) -> bool {
    in_the_way(root, path).is_none()
}

/// Returns what stands above a path and is no folder.
fn in_the_way(root: &Path, path: &[u8]) -> Option<Vec<u8>> {
    let mut parents = slashes(path).map(|(index, _)| &path[..index]);
    let found = parents.find(|parent| {
        let parent = root.join(OsStr::from_bytes(parent));
        fs::symlink_metadata(parent).is_ok_and(|meta| !meta.is_dir())
    });
    found.map(<[u8]>::to_vec)
}

fn slashes(path: &[u8]) -> impl Iterator<Item = (usize, &u8)> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/')
}

/// Says whether a file is what it was, or what checks made of it.
fn is_as_left(root: &Path, folders: &[PathBuf], path: &[u8], entry: &Copy) -> bool {
    is_unchanged(root, path, entry) || outputs::is_output(root, path, entry, folders)
}

/// Says whether there is nothing to put back of a file.
fn is_as_it_should(root: &Path, folders: &[PathBuf], path: &[u8], entry: &Copy) -> bool {
    is_as_left(root, folders, path, entry) || grown::is_growing(root, path, entry, folders)
}

/// Returns the folder of the copies below the private directory.
pub fn folder(private: &Path) -> PathBuf {
    private.join("keep")
}

/// Returns the folders in which copies are looked for, the best first: the private directory's, and the copy of it that is
/// outside the repository.
pub fn folders(places: &Places) -> Vec<PathBuf> {
    let mirrored = Mirror::of(places).ok().and_then(|mirror| mirror.private());
    let private = [Some(places.private.clone()), mirrored];
    private.iter().flatten().map(|it| folder(it)).collect()
}
