//! What a slot holds beside its commit and what it is lent: what `prepare` made, as it made it. A copy of that is kept beside
//! the slot. Before the next agent or measurement comes, whatever else the one before left there goes, ignored or not, and
//! what it removed or wrote over comes back.
//!
//! Whether a file is as it was is told by its inode and the time of its last change (ctime), which nobody can set back.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;

use super::{Base, Slot, allow, remove_all};
use crate::effects::files::{self, Stamp, is_beneath, is_within};
use crate::effects::repo::Repo;
use crate::error::{Error, Result};

/// The most bytes of the list of what `prepare` made.
const LIST_LIMIT: u64 = 1 << 30;

/// What `prepare` made.
#[derive(Debug, Default)]
struct Made {
    /// What git does not track, the topmost folder or file of each.
    tops: Vec<Vec<u8>>,
    /// Each plain file below, as it is known in the slot.
    files: HashMap<Vec<u8>, Stamp>,
    /// Something of it was put back; what a crash keeps from the list is put back once more.
    is_changed: bool,
}

impl Slot {
    /// Removes what neither the commit that it is on nor `prepare` made, and puts back what is changed of the latter.
    pub(super) fn sweep(&self, repo: &Repo) -> Result<()> {
        let mut made = self.read_list()?.unwrap_or_default();
        for path in self.own(repo)? {
            self.match_up(&path, &mut made)?;
        }
        match made.is_changed {
            true => self.write_list(&made),
            false => Ok(()),
        }
    }

    /// Puts back what is missing of what `prepare` made, where the slot has been swept and is on this commit now. False where
    /// that cannot be done: then the slot has to be emptied and made ready anew.
    pub fn put_back(&self, user: &Repo, commit: &str) -> Result<bool> {
        let Some(mut made) = self.read_list()? else {
            return Ok(false);
        };
        let tree = user.tree_of(commit)?;
        for top in made.tops.clone() {
            let is_there = fs::symlink_metadata(self.at(&top)).is_ok();
            // The commit has something where `prepare` had, or on the way there.
            let is_taken = user.id_at(&tree, &top)?.is_some() && !user.is_folder(&tree, &top)?;
            if is_taken || !is_there && !self.is_free(&top)? {
                return Ok(false);
            }
            if !is_there {
                self.copy_in(&top, &mut made)?;
            }
        }
        if made.is_changed {
            self.write_list(&made)?;
        }
        Ok(true)
    }

    /// Removes all that the commit does not have but what is lent, and forgets what `prepare` made.
    pub fn empty(&self, repo: &Repo) -> Result<()> {
        files::remove(&self.stamp())?;
        remove_all(&self.made())?;
        let mut nothing = Made::default();
        for path in self.own(repo)? {
            self.match_up(&path, &mut nothing)?;
        }
        Ok(())
    }

    /// Keeps a copy of what `prepare` made.
    pub fn keep_made(&self, repo: &Repo) -> Result<()> {
        remove_all(&self.made())?;
        let mut made = Made {
            tops: self.own(repo)?,
            ..Made::default()
        };
        made.tops.retain(|top| !self.is_lent_path(top));
        for top in made.tops.clone() {
            let (from, to) = (self.at(&top), self.kept(&top));
            make_parent(&to)?;
            self.copy(&top, &from, &to, &mut |path, from, _| {
                made.files.insert(path.to_vec(), Stamp::of(from));
            })?;
        }
        self.write_list(&made)
    }

    /// Counts the bytes of what somebody left here and goes before the next one comes.
    pub fn leavings(&self, user: &Repo, base: Base<'_>) -> Result<u64> {
        let repo = self.with_git_dir_anew(user, base)?;
        let mut bytes = 0;
        let mut open = self.own(&repo)?;
        while let Some(path) = open.pop() {
            let Ok(meta) = fs::symlink_metadata(self.at(&path)) else {
                continue;
            };
            if meta.is_dir() {
                open.extend(children(&self.at(&path), &path)?);
            } else if meta.is_file() && fs::symlink_metadata(self.kept(&path)).is_err() {
                bytes += meta.len();
            }
        }
        Ok(bytes)
    }

    /// Lists those of the submodules in which something is not as `prepare` made it: no attempt holds what is in them.
    pub fn changed_modules<'a>(&self, modules: &'a [Vec<u8>]) -> Result<Vec<&'a [u8]>> {
        if modules.is_empty() {
            return Ok(Vec::new());
        }
        let made = self.read_list()?.unwrap_or_default();
        let modules = modules.iter().map(Vec::as_slice);
        Ok(modules
            .filter(|module| self.is_changed(module, &made))
            .collect())
    }

    /// Says whether something in a folder is not as `prepare` made it.
    fn is_changed(&self, folder: &[u8], made: &Made) -> bool {
        if !is_beneath(&self.root, &[folder, &b"/"[..]].concat()) {
            return true;
        }
        let listed = |place: PathBuf| children(&place, folder).unwrap_or_default();
        let was_there = listed(self.kept(folder));
        let is_gone = |path: &Vec<u8>| fs::symlink_metadata(self.at(path)).is_err();
        was_there.iter().any(is_gone) || {
            let mut is_there = listed(self.at(folder)).into_iter();
            is_there.any(|path| self.differs(&path, made))
        }
    }

    fn differs(&self, path: &[u8], made: &Made) -> bool {
        let metas = [self.at(path), self.kept(path)].map(fs::symlink_metadata);
        match metas {
            _ if self.is_lent_path(path) => false,
            [Ok(is), Ok(was)] if is.is_dir() && was.is_dir() => self.is_changed(path, made),
            [Ok(is), Ok(was)] => !self.is_as_it_was(path, &is, &was, made),
            [Ok(is), Err(_)] if is.is_dir() && self.is_above_lent(path) => {
                self.is_changed(path, made)
            }
            [Err(_), _] | [_, Err(_)] => true,
        }
    }

    /// Lists what is there that the commit does not hold, ignored or not: files, and folders as a whole. What is in a submodule
    /// is nothing that the commit holds. Git looks past what has a `.git`, so these go first where files are tracked, and the
    /// folders there get the modes of new ones.
    fn own(&self, repo: &Repo) -> Result<Vec<Vec<u8>>> {
        let tracked = repo.tracked_folders()?;
        self.reset_modes(&tracked)?;
        for folder in tracked.folders {
            // A folder may have become a link, to where a `.git` is somebody's.
            let hidden = [&folder, &b"/.git"[..]].concat();
            if is_beneath(&self.root, &hidden) {
                remove_all(&self.at(&hidden))?;
            }
        }
        let mut found = untracked(repo)?;
        for module in tracked.modules {
            // Its folder alone is the commit's.
            if is_beneath(&self.root, &[&module, &b"/"[..]].concat()) {
                found.extend(children(&self.at(&module), &module)?);
            }
        }
        Ok(found)
    }

    /// Makes what is at a path what `prepare` made there: nothing, where it made nothing.
    fn match_up(&self, path: &[u8], made: &mut Made) -> Result<()> {
        if self.is_lent_path(path) {
            return Ok(());
        }
        let (place, kept) = (self.at(path), self.kept(path));
        let Ok(is) = fs::symlink_metadata(&place) else {
            return Ok(());
        };
        let was = fs::symlink_metadata(&kept).ok();
        let leads_to_lent = is.is_dir() && self.is_above_lent(path);
        match was {
            Some(was) if is.is_dir() && was.is_dir() => self.match_folder(path, &is, &was, made),
            None if leads_to_lent => {
                for child in children(&place, path)? {
                    self.match_up(&child, made)?;
                }
                Ok(())
            }
            Some(was) if self.is_as_it_was(path, &is, &was, made) => Ok(()),
            was => {
                remove_all(&place)?;
                match was {
                    Some(_) => self.copy_in(path, made),
                    None => Ok(()),
                }
            }
        }
    }

    fn match_folder(
        &self,
        path: &[u8],
        is: &Metadata,
        was: &Metadata,
        made: &mut Made,
    ) -> Result<()> {
        let place = self.at(path);
        allow(&place, 0o700);
        for child in children(&place, path)? {
            self.match_up(&child, made)?;
        }
        for child in children(&self.kept(path), path)? {
            if fs::symlink_metadata(self.at(&child)).is_err() {
                self.copy_in(&child, made)?;
            }
        }
        if is.mode() != was.mode() || is.mode() & 0o700 != 0o700 {
            set_mode(&place, was)?;
        }
        Ok(())
    }

    /// Says whether a file or link is what it was.
    fn is_as_it_was(&self, path: &[u8], is: &Metadata, was: &Metadata, made: &Made) -> bool {
        if was.is_symlink() {
            let leads = |place: PathBuf| fs::read_link(place).ok();
            return is.is_symlink() && leads(self.at(path)) == leads(self.kept(path));
        }
        if is_pipe(was) {
            return is_pipe(is) && is.mode() == was.mode();
        }
        is.is_file() && was.is_file() && made.files.get(path) == Some(&Stamp::of(is))
    }

    /// Copies what is kept of a path to where it belongs.
    fn copy_in(&self, path: &[u8], made: &mut Made) -> Result<()> {
        let (from, to) = (self.kept(path), self.at(path));
        make_parent(&to)?;
        made.is_changed = true;
        self.copy(path, &from, &to, &mut |path, _, to| {
            made.files.insert(path.to_vec(), Stamp::of(to));
        })
    }

    /// Copies a file, a link, a pipe, or a folder with all that is in it but what is lent; tells of each plain file, as it is
    /// there and here. What is none of these is left out.
    fn copy(
        &self,
        path: &[u8],
        from: &Path,
        to: &Path,
        copied: &mut dyn FnMut(&[u8], &Metadata, &Metadata),
    ) -> Result<()> {
        if self.is_lent_path(path) {
            return Ok(());
        }
        let failed = |cause| Error::io("copy", from, cause);
        let meta = fs::symlink_metadata(from).map_err(failed)?;
        if meta.is_symlink() {
            let target = fs::read_link(from).map_err(failed)?;
            return symlink(target, to).map_err(|cause| Error::io("link", to, cause));
        }
        if meta.is_file() {
            let of_copy = copy_file(from, &meta, to).map_err(failed)?;
            copied(path, &meta, &of_copy);
        }
        if is_pipe(&meta) {
            let made = nix::unistd::mkfifo(to, Mode::S_IRWXU);
            made.map_err(|cause| Error::io("create", to, cause))?;
            set_mode(to, &meta)?;
        }
        if meta.is_dir() {
            fs::create_dir(to).map_err(|cause| Error::io("create", to, cause))?;
            for child in children(from, path)? {
                let name = OsStr::from_bytes(last(&child));
                self.copy(&child, &from.join(name), &to.join(name), copied)?;
            }
            set_mode(to, &meta)?;
        }
        Ok(())
    }

    /// Says whether a path can be made: all above it is a folder or not there.
    fn is_free(&self, path: &[u8]) -> Result<bool> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (index, _) in slashes {
            match fs::symlink_metadata(self.at(&path[..index])) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Ok(false),
                Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(true),
                Err(cause) => return Err(Error::io("look at", &self.at(path), cause)),
            }
        }
        Ok(true)
    }

    fn is_lent_path(&self, path: &[u8]) -> bool {
        let mut links = self.provisions.link.iter();
        links.any(|link| link.as_bytes() == path)
    }

    fn is_above_lent(&self, path: &[u8]) -> bool {
        let mut links = self.provisions.link.iter();
        links.any(|link| is_within(link.as_bytes(), path))
    }

    fn at(&self, path: &[u8]) -> PathBuf {
        self.root.join(OsStr::from_bytes(path))
    }

    fn kept(&self, path: &[u8]) -> PathBuf {
        self.made().join("files").join(OsStr::from_bytes(path))
    }

    fn list(&self) -> PathBuf {
        self.made().join("list")
    }

    /// Reads the list of what `prepare` made; none where this process wrote none, or somebody changed it since.
    fn read_list(&self) -> Result<Option<Made>> {
        if !self.written.has(&self.list()) {
            return Ok(None);
        }
        let Some(bytes) = files::read_bounded(&self.list(), LIST_LIMIT)? else {
            return Ok(None);
        };
        let mut made = Made::default();
        let lines = bytes.split(|byte| *byte == 0);
        for line in lines.filter(|line| !line.is_empty()) {
            match line {
                [b'/', top @ ..] => made.tops.push(top.to_vec()),
                line => match file_of(line) {
                    Some((path, stamp)) => {
                        made.files.insert(path, stamp);
                    }
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(made))
    }

    fn write_list(&self, made: &Made) -> Result<()> {
        let mut bytes = Vec::new();
        for top in &made.tops {
            bytes.extend([b"/", &top[..], b"\0"].concat());
        }
        for (path, stamp) in &made.files {
            let (seconds, nanos) = stamp.changed;
            let head = format!("{} {seconds} {nanos} ", stamp.inode);
            bytes.extend([head.as_bytes(), path, b"\0"].concat());
        }
        files::make_folder(&self.made())?;
        files::replace_unsynced(&self.list(), &bytes)?;
        self.written.note(self.list());
        Ok(())
    }
}

/// Reads a file's line of the list.
fn file_of(line: &[u8]) -> Option<(Vec<u8>, Stamp)> {
    let mut parts = line.splitn(4, |byte| *byte == b' ');
    let mut number = || std::str::from_utf8(parts.next()?).ok();
    let stamp = Stamp {
        inode: number()?.parse().ok()?,
        changed: (number()?.parse().ok()?, number()?.parse().ok()?),
    };
    Some((parts.next()?.to_vec(), stamp))
}

/// Lists what git does not track, ignored or not: files, and folders as a whole.
fn untracked(repo: &Repo) -> Result<Vec<Vec<u8>>> {
    let listed = repo
        .git
        .run(&["ls-files", "-z", "--others", "--directory"])?;
    let paths = listed.split(|byte| *byte == 0);
    let paths = paths.map(|path| path.strip_suffix(b"/").unwrap_or(path));
    Ok(paths
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}

/// Lists what is in a folder, with the folder's path before the names.
fn children(folder: &Path, path: &[u8]) -> Result<Vec<Vec<u8>>> {
    let failed = |cause| Error::io("read", folder, cause);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let below = |name: &OsStr| [path, b"/", name.as_bytes()].concat();
    entries
        .map(|entry| entry.map(|entry| below(&entry.file_name())).map_err(failed))
        .collect()
}

/// Copies a file with its mode and the time when it was written, which builds go by.
fn copy_file(from: &Path, meta: &Metadata, to: &Path) -> std::io::Result<Metadata> {
    fs::copy(from, to)?;
    fs::File::open(to)?.set_modified(meta.modified()?)?;
    fs::symlink_metadata(to)
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent, cause))
}

fn set_mode(path: &Path, like: &Metadata) -> Result<()> {
    fs::set_permissions(path, like.permissions())
        .map_err(|cause| Error::io("change the mode of", path, cause))
}

fn is_pipe(meta: &Metadata) -> bool {
    meta.file_type().is_fifo()
}

fn last(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
