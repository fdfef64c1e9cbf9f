//! The programs in the working tree that settings of git name: filters, text converters, merge drivers. Git runs them for
//! `evolve`, so they are made what they were before the agent before git is called again.
//!
//! Remembered is every path in a tree that such a setting calls, be it there or not, with the links that lead to it, the
//! interpreter that its first line names, and what shell scripts run or scripts import of the tree. What such a program takes
//! from elsewhere in the tree (packages of Python's or Node's) is not found here; a sandbox holds it back.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Bytes, keep};
use crate::effects::files;
use crate::effects::program;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::check::Used;
use crate::model::git::config;
use crate::model::{check, digest, exact};

/// The most bytes of a program that is put back; of a larger one the digest is remembered.
const LIMIT: u64 = 4 << 20;
/// The most bytes of one that is looked at at all.
const LARGEST: u64 = 1 << 30;
/// The most places that are remembered.
const MOST: usize = 500;
/// The most links on the way to one.
const MOST_LINKS: usize = 40;

/// What stands in the place of a program. A folder is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// A file, with the digest of its bytes and its mode.
    File(String, u32),
    /// A file too large to be put back, with its digest and its mode.
    Large(String, u32),
    /// A link, with where it leads.
    Link(String),
    /// A pipe or the like.
    Other,
}

/// The programs of working trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs {
    /// The working trees.
    roots: Vec<String>,
    /// What stood in each place; paths stand for their bytes exactly.
    places: BTreeMap<String, Option<Program>>,
}

/// What was put back.
#[derive(Clone, Debug, Default)]
pub struct PutBack {
    /// The programs, for people.
    pub programs: Vec<String>,
    /// What a reader of the record should know.
    pub notes: Vec<String>,
}

impl Programs {
    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Says whether a path is one of the places.
    pub fn has(&self, path: &Path) -> bool {
        self.places
            .contains_key(&exact::decode(path.as_os_str().as_bytes()))
    }

    /// Remembers what these texts of git's configuration name in the working trees `roots`, called from each of `folders`; and what
    /// lies in the same place of the first tree, from where it may come to the others.
    pub fn take(
        texts: &[String],
        roots: &[PathBuf],
        folders: &[PathBuf],
        bytes: &mut Bytes,
    ) -> Result<Programs> {
        let commands = texts.iter().flat_map(|text| config::commands(text));
        let mut search = Search {
            roots,
            ..Search::default()
        };
        for command in commands {
            for folder in folders {
                search.command(folder, &command);
            }
        }
        let mut found = search.found;
        let others = roots.iter().skip(1);
        let same = others.flat_map(|other| {
            found
                .iter()
                .filter_map(move |it| it.strip_prefix(other).ok())
        });
        let same: Vec<_> = same.map(|below| roots[0].join(below)).collect();
        found.extend(same);
        let mut places = BTreeMap::new();
        for path in found {
            let program = look_at(&path, bytes)?;
            places.insert(exact::decode(path.as_os_str().as_bytes()), program);
        }
        let roots = match places.is_empty() {
            true => Vec::new(),
            false => roots
                .iter()
                .map(|root| exact::decode(root.as_os_str().as_bytes()))
                .collect(),
        };
        Ok(Programs { roots, places })
    }

    /// Makes the programs what they were; what they had become goes to the quarantine. `wanted` returns the bytes with a digest.
    /// Fails if one is not what it was that is too large to be put back.
    pub fn put_back(
        &self,
        wanted: &dyn Fn(&str) -> Result<Vec<u8>>,
        quarantine: &mut Quarantine,
    ) -> Result<PutBack> {
        let mut changed = Vec::new();
        for (name, before) in &self.places {
            let path = path_of(name);
            let Some((root, below)) = self.place(&path) else {
                continue;
            };
            let is_elsewhere = clear_way(&root, &below, before.is_some(), quarantine)?;
            if !is_elsewhere && look_at(&path, &mut Bytes::new())? == *before {
                continue;
            }
            let shown = below.display().to_string();
            let is_there = fs::symlink_metadata(&path).is_ok();
            if is_there && matches!(before, Some(Program::Large(..))) {
                return Err(too_large(&shown));
            }
            if is_there {
                quarantine.take_from(&root, &below, &below)?;
            }
            put(&path, before.as_ref(), wanted)?;
            changed.push(shown);
        }
        changed.dedup();
        let notes = match changed.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "programs that git runs changed while the agent ran and are as before: {}",
                changed.join(", ")
            )],
        };
        Ok(PutBack {
            programs: changed,
            notes,
        })
    }

    /// Returns the innermost tree that a path lies in, and the path below it; none if the tree is gone, or a link leads elsewhere
    /// from its place.
    fn place(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let roots = self.roots.iter().map(|root| path_of(root));
        let is_there = |root: &PathBuf| {
            let real = root.canonicalize();
            real.is_ok_and(|real| real == *root && real.is_dir())
        };
        let around = roots.filter(|root| path.starts_with(root) && is_there(root));
        let root = around.max_by_key(|root| root.as_os_str().len())?;
        let below = path.strip_prefix(&root).ok()?.to_owned();
        Some((root, below))
    }
}

/// Puts what stood in a place there again.
fn put(
    path: &Path,
    before: Option<&Program>,
    wanted: &dyn Fn(&str) -> Result<Vec<u8>>,
) -> Result<()> {
    let cannot = |cause| Error::io("write", path, cause);
    match before {
        Some(Program::File(digest, mode)) => {
            files::replace(path, &wanted(digest)?)?;
            fs::set_permissions(path, Permissions::from_mode(*mode)).map_err(cannot)
        }
        Some(Program::Link(target)) => {
            files::make_folder(path.parent().unwrap_or(path))?;
            symlink(path_of(target), path).map_err(cannot)
        }
        Some(Program::Large(..) | Program::Other) | None => Ok(()),
    }
}

fn too_large(shown: &str) -> Error {
    Error::unsafe_repo(format!(
        "{shown}, which git runs, changed while an agent or a check ran, and is too large to be put back: git is not called"
    ))
    .hint("put it back as it was, or move it away, then run evolve again: it settles the rest")
}

/// Moves away what stands where a folder on the way to a place belongs, if that was a folder before or leads to a program now.
/// Says whether something did.
fn clear_way(
    root: &Path,
    below: &Path,
    is_wanted: bool,
    quarantine: &mut Quarantine,
) -> Result<bool> {
    let mut parents: Vec<&Path> = below.ancestors().skip(1).collect();
    parents.reverse();
    for parent in parents.into_iter().filter(|it| !it.as_os_str().is_empty()) {
        let Ok(meta) = fs::symlink_metadata(root.join(parent)) else {
            return Ok(false);
        };
        if !meta.is_dir() {
            let is_in_way = is_wanted || fs::metadata(root.join(below)).is_ok();
            if is_in_way {
                quarantine.take_from(root, parent, parent)?;
            }
            return Ok(is_in_way);
        }
    }
    Ok(false)
}

/// Looks at what stands in a place; keeps its bytes.
fn look_at(path: &Path, bytes: &mut Bytes) -> Result<Option<Program>> {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(None);
    };
    let mode = meta.mode() & 0o7777;
    if meta.is_dir() {
        return Ok(None);
    }
    if meta.is_symlink() {
        let target = fs::read_link(path).map_err(|cause| Error::io("read", path, cause))?;
        let target = exact::decode(target.as_os_str().as_bytes());
        return Ok(Some(Program::Link(target)));
    }
    if !meta.is_file() {
        return Ok(Some(Program::Other));
    }
    let limit = match meta.len() > LIMIT {
        true => LARGEST,
        false => LIMIT,
    };
    let read = files::read_bounded(path, limit)?;
    Ok(read.map(|read| match limit {
        LIMIT => Program::File(keep(bytes, &read), mode),
        _ => Program::Large(digest::full(&read), mode),
    }))
}

/// Looks for what commands run.
#[derive(Default)]
struct Search<'a> {
    roots: &'a [PathBuf],
    found: Vec<PathBuf>,
}

impl Search<'_> {
    /// Adds what a command runs that is called in `folder`.
    fn command(&mut self, folder: &Path, command: &str) {
        for path in check::called_paths(command) {
            let path = match (path.strip_prefix("~/"), std::env::home_dir()) {
                (Some(below), Some(home)) => home.join(below),
                (Some(_) | None, _) => folder.join(path),
            };
            self.program(folder, &path);
        }
        let roots = self.roots;
        let within = roots.iter().flat_map(|root| {
            let folders = program::folders_within(root).into_iter();
            folders.map(move |folder| root.join(folder))
        });
        for place in within.collect::<Vec<_>>() {
            for name in check::programs(command) {
                self.program(folder, &place.join(name));
            }
        }
    }

    /// Adds a program, and what it names itself.
    fn program(&mut self, folder: &Path, path: &Path) {
        let Some(path) = self.place(path) else {
            return;
        };
        if self.found.contains(&path) || self.found.len() >= MOST {
            return;
        }
        self.found.push(path.clone());
        let Ok(text) = files::read_text(&path, LIMIT) else {
            return;
        };
        if let Some(interpreter) = text.lines().next().and_then(|it| it.strip_prefix("#!")) {
            self.command(folder, interpreter);
        }
        let is_file = |below: &str| folder.join(below).is_file();
        let Ok(below) = path.strip_prefix(folder) else {
            return;
        };
        let name = below.to_string_lossy();
        let run = match check::is_shells(&name, &text) {
            true => check::runs(&text, &is_file),
            false => Vec::new(),
        };
        let used = Used::of(name.clone().into_owned());
        let imported = check::imported(&used, &text);
        let imported = imported.into_iter().filter(|below| is_file(below));
        for below in run.into_iter().chain(imported).collect::<Vec<_>>() {
            self.program(folder, &folder.join(below));
        }
    }

    /// Follows the links on the way to a path, and adds those in the trees. None if it leads out of them.
    fn place(&mut self, path: &Path) -> Option<PathBuf> {
        let mut place = PathBuf::from("/");
        let mut waiting = parts(path);
        let mut links = 0;
        while let Some(part) = waiting.pop() {
            match Path::new(&part).components().next() {
                Some(Component::Normal(name)) => place.push(name),
                Some(Component::ParentDir) => {
                    place.pop();
                }
                Some(Component::RootDir) => place = PathBuf::from("/"),
                Some(Component::CurDir | Component::Prefix(_)) | None => {}
            }
            if let Ok(target) = fs::read_link(&place) {
                links += 1;
                if links > MOST_LINKS {
                    return None;
                }
                if self.is_within(&place) && !self.found.contains(&place) {
                    self.found.push(place.clone());
                }
                place.pop();
                waiting.extend(parts(&target));
            }
        }
        self.is_within(&place).then_some(place)
    }

    fn is_within(&self, path: &Path) -> bool {
        let is_below = |root: &PathBuf| path != root && path.starts_with(root);
        self.roots.iter().any(is_below)
    }
}

/// Returns the parts of a path, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().map(|part| part.as_os_str().to_owned());
    parts.rev().collect()
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&exact::encode(name)))
}
