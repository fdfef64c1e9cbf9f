//! Where a working tree's git directory lies elsewhere, its `.git` is a file or a link that leads there: in a linked working tree, in
//! a submodule, and after `git clone --separate-git-dir`. An agent can remove or replace it, and the repository would be none. And it
//! can make one: where the git directory lies in the tree itself it can move it away and leave what leads there.
//!
//! While a session runs, what a file or a link held lies in `$XDG_STATE_HOME/evolve/<name and digest of its path>.gitfile`, too: after a crash
//! nothing else tells where the git directory is.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::places::{self, folder_name};
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::text;

/// How it is called.
const NAME: &str = ".git";
/// What it begins with where it is a file, as git writes it.
const MARK: &[u8] = b"gitdir: ";
/// The most bytes of one.
const LIMIT: u64 = 1 << 16;

/// The `.git` of a working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gitfile {
    root: PathBuf,
    held: Held,
}

/// What it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    File(Vec<u8>),
    Link(PathBuf),
    /// The git directory itself, by its device and inode.
    Folder(u64, u64),
}

impl Held {
    fn at(path: &Path) -> Option<Held> {
        let meta = fs::symlink_metadata(path).ok()?;
        if meta.is_symlink() {
            return fs::read_link(path).ok().map(Held::Link);
        }
        if meta.is_dir() {
            return Some(Held::Folder(meta.dev(), meta.ino()));
        }
        let bytes = files::read_bounded(path, LIMIT).ok().flatten();
        bytes.filter(|_| meta.is_file()).map(Held::File)
    }

    /// Returns the path that it leads to.
    fn target(&self) -> &Path {
        match self {
            Held::Folder(..) => Path::new(NAME),
            Held::File(bytes) => {
                let target = bytes.strip_prefix(MARK).unwrap_or(bytes);
                Path::new(OsStr::from_bytes(target.trim_ascii_end()))
            }
            Held::Link(target) => target,
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        match self {
            Held::File(bytes) => files::replace(path, bytes),
            Held::Link(target) => {
                symlink(target, path).map_err(|cause| Error::io("create", path, cause))
            }
            Held::Folder(..) => Ok(()),
        }
    }
}

impl Gitfile {
    /// Remembers the one in a working tree.
    pub fn of(root: &Path) -> Option<Gitfile> {
        let root = root.to_owned();
        Held::at(&root.join(NAME)).map(|held| Gitfile { root, held })
    }

    /// Writes down what it holds, outside of the repository, if it leads elsewhere. Where there is no place for that nothing is written.
    pub fn store(&self) -> Result<()> {
        let Some(stored) = self.stored() else {
            return Ok(());
        };
        if Held::at(&stored).as_ref() == Some(&self.held) {
            return Ok(());
        }
        files::make_folder(stored.parent().unwrap_or(&stored))?;
        files::remove(&stored)?;
        self.held.write(&stored)
    }

    /// Forgets what was written down.
    pub fn drop_stored(&self) -> Result<()> {
        let stored = self.stored().filter(|stored| Held::at(stored).is_some());
        stored.map_or(Ok(()), |stored| files::remove(&stored))
    }

    fn stored(&self) -> Option<PathBuf> {
        let is_git_dir = matches!(self.held, Held::Folder(..));
        stored(&self.root).filter(|_| !is_git_dir)
    }

    /// Makes it what it was, if the git directory is there to which it leads; what is in its place goes to the quarantine there. Says
    /// what was done.
    pub fn put_back(&self, session: &str, cycle: u64) -> Result<Vec<String>> {
        let path = self.root.join(NAME);
        if let Held::Folder(..) = self.held {
            let is_it = |moved: &Path| Held::at(moved).as_ref() == Some(&self.held);
            return move_back(&path, is_it).map(|note| note.into_iter().collect());
        }
        let private = self.root.join(self.held.target()).join("evolve");
        if Held::at(&path).as_ref() == Some(&self.held) || !private.is_dir() {
            return Ok(Vec::new());
        }
        let mut quarantine = Quarantine::of(&private, session, cycle);
        if files::is_there(&path).map_err(|cause| Error::io("look at", &path, cause))? {
            quarantine.take_from(&self.root, Path::new(NAME), Path::new(NAME))?;
        }
        self.held.write(&path)?;
        let words = ".git, which leads to the git directory, was removed or replaced and is back";
        Ok([words.to_owned()]
            .into_iter()
            .chain(quarantine.notes())
            .collect())
    }
}

/// Returns where the `.git` of a working tree leads, if it is none itself.
fn lead(path: &Path) -> Option<PathBuf> {
    let lead = Held::at(path).filter(|now| !matches!(now, Held::Folder(..)))?;
    let root = path.parent().unwrap_or(path);
    root.join(lead.target()).canonicalize().ok()
}

/// Moves a git directory back to its `path` from where that leads now, which goes; says so if it was the one.
fn move_back(path: &Path, is_it: impl Fn(&Path) -> bool) -> Result<Option<String>> {
    let Some(moved) = lead(path).filter(|moved| is_it(moved)) else {
        return Ok(None);
    };
    files::remove(path)?;
    fs::rename(&moved, path).map_err(|cause| Error::io("move back", &moved, cause))?;
    let root = path.parent().unwrap_or(path);
    files::sync_folder(root).map_err(|cause| Error::io("sync", root, cause))?;
    Ok(Some(format!(
        ".git was moved to {}, to which something in its place led, and is back",
        moved.display()
    )))
}

/// Moves the git directory of the working tree that holds `folder` back, where what leads to it is all that is there since a session was
/// cut short. `is_it` says of the place of one, and of another one, whether the session had worked with that. To be done before the
/// repository is looked for.
pub fn move_folder_back(folder: &Path, is_it: impl Fn(&Path, &Path) -> bool) -> Result<()> {
    let Ok(folder) = folder.canonicalize() else {
        return Ok(());
    };
    let mut places = folder.ancestors().map(|root| root.join(NAME));
    places.try_for_each(|path| move_back(&path, |moved| is_it(&path, moved)).map(drop))
}

/// Puts it back in the working tree that holds `folder`, if it is missing there since a session was cut short. To be done before the
/// repository is looked for.
pub fn give_back(folder: &Path) -> Result<()> {
    let Ok(folder) = folder.canonicalize() else {
        return Ok(());
    };
    let lost = folder.ancestors().find_map(|root| {
        let stored = stored(root)?;
        let held = Held::at(&stored)?;
        Some((root.join(NAME), held, stored))
    });
    let Some((path, held, stored)) = lost else {
        return Ok(());
    };
    match files::is_there(&path) {
        Ok(false) => held.write(&path),
        Ok(true) if Held::at(&path).as_ref() == Some(&held) => Ok(()),
        // Shut by a mode: that is told by who opens the repository.
        Err(_) => Ok(()),
        Ok(true) => {
            let shown = path.display();
            let aside = places::aside(&path);
            let [stored, path, aside] =
                [&stored, &path, &aside].map(|it| text::shell_word(it.as_os_str().as_bytes()));
            Err(Error::unsafe_repo(format!(
                "{shown} is not the one that a session of evolve worked with when it was cut short: that one led to {}",
                held.target().display()
            ))
            .hint(format!(
                "if you made it yourself, remove what is noted of the old one: `rm {stored}`"
            ))
            .hint(format!(
                "if not, move it away and run evolve again, which makes the old one anew: `mv {path} {aside}`"
            )))
        }
    }
}

/// Returns the git directory to which the `.git` of the working tree that holds `folder` leads, if it does.
pub fn git_dir(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let is_root = |root: &&Path| fs::symlink_metadata(root.join(NAME)).is_ok();
    let root = folder.ancestors().find(is_root)?;
    let held = Held::at(&root.join(NAME))?;
    Some(root.join(held.target()))
}

/// Returns where what it holds is written down.
fn stored(root: &Path) -> Option<PathBuf> {
    let folder = places::state()?;
    let name = format!("{}.gitfile", folder_name(&root.join(NAME)));
    (!folder.starts_with(root)).then(|| folder.join(name))
}
