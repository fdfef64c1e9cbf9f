//! What git, libgit2 or `evolve` would wait for without end, or read without end, where a plain file belongs: pipes, devices,
//! and links to them. Found without opening anything.
//!
//! Git opens `.gitignore` and its like in each folder that it looks through, of which an agent can make as many as it likes;
//! and what lies below `.git`. There a link, a folder or a file that stands where git has another kind of thing is in the way,
//! too (`stands`).

mod plain;
mod served;
mod stands;

use std::fs::{self, FileType, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::places::Places;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::text;

use plain::{entries, is_opened};
use stands::{Part, Wanted, Wrong};

pub use plain::Plain;
pub use served::is_served;
pub use stands::Stood;

/// The file that says what git ignores.
const IGNORING: &str = ".gitignore";
/// What git opens in a working tree by itself.
const OPENED: [&str; 4] = [IGNORING, ".gitattributes", ".gitmodules", ".mailmap"];
/// The most bytes that git reads of one of these (`PATTERN_MAX_FILE_SIZE`, `ATTR_MAX_FILE_SIZE`); older versions read on.
const LARGEST: u64 = 100 << 20;
/// `evolve`'s private directory, which it opens with care.
const PRIVATE: &str = "evolve";
/// How long the text of a file may be that leads to a git directory.
const LEAD: u64 = 1 << 16;
/// How many bytes the path of a folder may have so that each file in it can be named (`PATH_MAX` less `NAME_MAX`).
const DEEPEST: usize = 4096 - 256;

/// What is found on one way through a working tree, by paths relative to its root.
#[derive(Debug, Default)]
struct Found {
    in_the_way: Vec<PathBuf>,
    met: Met,
}

/// What is met on the way through a working tree and is in nobody's way, by paths relative to its root.
#[derive(Debug, Default)]
pub struct Met {
    /// What is called `.git`, be it a repository's or not, without the working tree's own.
    pub repositories: Vec<PathBuf>,
    /// What is called `.gitignore`.
    pub ignoring: Vec<PathBuf>,
    /// Pipes, sockets and devices, which git lists nowhere, and folders too deep for it to look into.
    pub unlisted: Vec<PathBuf>,
}

/// Moves all of it out of the way that is below the root of a working tree; folders known to be plain are not looked into. `enter`
/// is called with each folder, before that is looked into.
pub fn clear(
    root: &Path,
    plain: &Plain,
    enter: &mut dyn FnMut(&Path),
    quarantine: &mut Quarantine,
) -> Result<Met> {
    let found = in_tree(root, plain, enter);
    for path in found.in_the_way {
        quarantine.take_from(root, &path, &path)?;
    }
    Ok(found.met)
}

/// Returns what is met on the way through a working tree.
pub fn met(root: &Path, plain: &Plain) -> Met {
    in_tree(root, plain, &mut |_| {}).met
}

/// What was in the way in git directories, by whole paths.
#[derive(Debug, Default)]
pub struct Cleared {
    /// What git could not read, or would have been led elsewhere by.
    pub misplaced: Vec<PathBuf>,
}

impl Cleared {
    /// Says in words why the cycle cannot stand; none where nothing was misplaced.
    pub fn reason(&self, common: &Path) -> Option<String> {
        const SHOWN: usize = 3;
        let root = common.parent().unwrap_or(common);
        let name = |path: &PathBuf| {
            let below = path.strip_prefix(root).unwrap_or(path);
            text::path(below.as_os_str().as_bytes())
        };
        let names: Vec<_> = self.misplaced.iter().map(name).collect();
        let names = text::some_of(&names, SHOWN);
        (!self.misplaced.is_empty())
            .then(|| format!("what git keeps was replaced by what git cannot use: {names}"))
    }
}

/// The same for the git directory of a working tree and the one that it shares, and those of submodules that lie `around` it. There
/// goes, too, what is of another kind than what git has there, unless it `stood` there before.
pub fn clear_git(
    places: &Places,
    plain: &Plain,
    stood: &Stood,
    around: &[PathBuf],
    quarantine: &mut Quarantine,
) -> Result<Cleared> {
    let common = &places.common;
    let mut folders = vec![common.clone()];
    folders.extend((!places.git_dir.starts_with(common)).then(|| places.git_dir.clone()));
    folders.extend_from_slice(around);
    let mut cleared = Cleared::default();
    for folder in &folders {
        let shown = match folder == common || *folder == places.git_dir {
            true => Path::new(".git"),
            false => common
                .parent()
                .and_then(|root| folder.strip_prefix(root).ok())
                .unwrap_or(Path::new(".git")),
        };
        for (path, wrong) in misplaced(common, folder, stood, plain) {
            let (full, shown) = (folder.join(&path), shown.join(&path));
            match wrong {
                Some(Wrong::Size(bytes)) => quarantine.drop_oversize(&full, &shown, bytes)?,
                Some(Wrong::Kind) | None => quarantine.take_from(folder, &path, &shown)?,
            }
            cleared.misplaced.extend(wrong.map(|_| full));
        }
    }
    for (link, target) in stood.lost_links(common) {
        let below = link.strip_prefix(common).unwrap_or(&link);
        if fs::symlink_metadata(&link).is_ok() && link.starts_with(common) {
            quarantine.take_from(common, below, &Path::new(".git").join(below))?;
        }
        let made = files::make_folder(link.parent().unwrap_or(&link));
        made.and_then(|()| {
            symlink(&target, &link).map_err(|cause| Error::io("write", &link, cause))
        })?;
    }
    Ok(cleared)
}

/// Moves what whoever reads it waits for, and nothing else, out of the git directory of a working tree and the one that it shares.
pub fn clear_waiting(places: &Places, plain: &Plain, quarantine: &mut Quarantine) -> Result<()> {
    let own = Some(&places.git_dir).filter(|own| !own.starts_with(&places.common));
    for git_dir in own.into_iter().chain([&places.common]) {
        for path in in_git_dir(git_dir, plain, &mut |_| {}) {
            quarantine.take_from(git_dir, &path, &Path::new(".git").join(&path))?;
        }
    }
    Ok(())
}

/// Lists what is in the way in a git directory, relative to it, and what is wrong with it; nothing where whoever reads it waits.
fn misplaced(
    common: &Path,
    git_dir: &Path,
    stood: &Stood,
    plain: &Plain,
) -> Vec<(PathBuf, Option<Wrong>)> {
    let mut found = Vec::new();
    let mut folders = vec![(PathBuf::new(), Part::GitDir)];
    while let Some((folder, part)) = folders.pop() {
        let full = git_dir.join(&folder);
        let part = part.seen(&full);
        let listed = match part {
            // Any file may be there.
            Part::Other => plain.others_in(&full),
            _ => entries(&full).flatten().collect(),
        };
        for (name, kind) in listed {
            let (wanted, below) = part.child(name.as_bytes());
            if kind.is_file() && wanted == Wanted::Anything {
                continue;
            }
            let path = folder.join(&name);
            if kind.is_dir() && is_private(&path) {
                continue;
            }
            if is_endless(git_dir, &path, kind) {
                found.push((path, None));
            } else if let Some(wrong) = stood.wrong(common, git_dir, &path, kind, wanted) {
                found.push((path, Some(wrong)));
            } else if kind.is_dir() {
                folders.push((path, below));
            }
        }
    }
    found
}

/// Refuses a working tree in which git would wait. `enter` is called with each folder.
pub fn refuse(root: &Path, plain: &Plain, enter: &mut dyn FnMut(&Path)) -> Result<()> {
    refuse_any(root, &in_tree(root, plain, enter).in_the_way)
}

/// Refuses the repository around a folder, should opening it be waiting for something. A repository that is none, or none
/// that can be found this way, is left to who opens it.
pub fn refuse_git_above(folder: &Path, plain: &Plain) -> Result<()> {
    let Some(git_dir) = git_dir_above(folder) else {
        return Ok(());
    };
    refuse_any(&git_dir, &in_git_dir(&git_dir, plain, &mut |_| {}))?;
    match common_of(&git_dir) {
        Some(common) => refuse_any(&common, &in_git_dir(&common, plain, &mut |_| {})),
        None => Ok(()),
    }
}

/// Says whether even looking for the repository around a folder would be waiting.
pub fn hides_git(folder: &Path) -> bool {
    git_dir_above(folder).is_some_and(|git_dir| {
        let place = Path::new("commondir");
        let kind = fs::symlink_metadata(git_dir.join(place)).map(|meta| meta.file_type());
        kind.is_ok_and(|kind| is_endless(&git_dir, place, kind))
    })
}

fn refuse_any(folder: &Path, found: &[PathBuf]) -> Result<()> {
    match found.first() {
        None => Ok(()),
        Some(path) => Err(Error::unsafe_repo(format!(
            "{} is no plain file: whoever reads it waits for ever",
            folder.join(path).display()
        ))
        .hint("look what made it, and remove it or put a plain file in its place")),
    }
}

/// Returns the git directory of the repository whose working tree holds a folder.
fn git_dir_above(folder: &Path) -> Option<PathBuf> {
    let places = folder.ancestors().map(|above| above.join(".git"));
    let place = places.into_iter().find(|place| place.exists())?;
    if place.is_dir() {
        return Some(place);
    }
    let text = files::read_text(&place, LEAD).ok()?;
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(place.parent()?.join(path))
}

/// Returns the git directory that a working tree's own shares with others, if it does.
fn common_of(git_dir: &Path) -> Option<PathBuf> {
    let text = files::read_text(&git_dir.join("commondir"), LEAD).ok()?;
    let path = text.trim_end();
    (!path.is_empty()).then(|| git_dir.join(path))
}

/// Lists what is in the way below the root of a working tree, git directories included, relative to it,
/// and the repositories there.
fn in_tree(root: &Path, plain: &Plain, enter: &mut dyn FnMut(&Path)) -> Found {
    let mut found = Found::default();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        enter(&folder);
        for (name, kind) in plain.others_in(&root.join(&folder)) {
            let path = folder.join(&name);
            if name == ".git" && !folder.as_os_str().is_empty() {
                found.met.repositories.push(path.clone());
            }
            if name == ".git" && kind.is_dir() {
                let mut enter = |it: &Path| enter(&path.join(it));
                let within = in_git_dir(&root.join(&path), plain, &mut enter);
                let within = within.into_iter().map(|one| path.join(one));
                found.in_the_way.extend(within);
            } else if kind.is_dir() {
                match root.as_os_str().len() + path.as_os_str().len() < DEEPEST {
                    true => folders.push(path),
                    false => found.met.unlisted.push(path),
                }
            } else if is_opened(&name) {
                if name == IGNORING {
                    found.met.ignoring.push(path.clone());
                }
                let is_bad = kind.is_socket() || is_endless(root, &path, kind);
                let is_in_the_way = is_bad || is_too_large(root, &path);
                found.in_the_way.extend(is_in_the_way.then_some(path));
            } else if is_unlisted(kind) {
                found.met.unlisted.push(path);
            }
        }
    }
    found
}

/// Lists what is in the way in a git directory, relative to it.
fn in_git_dir(git_dir: &Path, plain: &Plain, enter: &mut dyn FnMut(&Path)) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        enter(&folder);
        for (name, kind) in plain.others_in(&git_dir.join(&folder)) {
            if kind.is_file() {
                continue;
            }
            let path = folder.join(&name);
            if kind.is_dir() {
                if !is_private(&path) {
                    folders.push(path);
                }
            } else if is_endless(git_dir, &path, kind) {
                found.push(path);
            }
        }
    }
    found
}

fn is_unlisted(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device()
}

/// Says whether a folder of a git directory is the private one of its working tree or of a linked one.
pub fn is_private(path: &Path) -> bool {
    let is_linked = || path.starts_with("worktrees") && path.components().count() == 3;
    path == Path::new(PRIVATE) || (path.ends_with(PRIVATE) && is_linked())
}

/// Says whether a file, or what a link leads to, is a pipe or a device other than the one that is always empty.
fn is_endless(root: &Path, path: &Path, kind: FileType) -> bool {
    if kind.is_file() {
        return false;
    }
    let is_it = |meta: &Metadata| {
        let kind = meta.file_type();
        kind.is_fifo() || kind.is_block_device() || (kind.is_char_device() && !is_null(meta))
    };
    fs::metadata(root.join(path)).is_ok_and(|meta| is_it(&meta))
}

fn is_null(meta: &Metadata) -> bool {
    fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev())
}

fn is_too_large(root: &Path, path: &Path) -> bool {
    fs::metadata(root.join(path)).is_ok_and(|meta| meta.is_file() && meta.len() > LARGEST)
}
