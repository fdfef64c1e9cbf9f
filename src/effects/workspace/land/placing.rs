//! Takes files of a commit to the user's working tree while the user may save some of them. What is written is made ready aside, and
//! changes places with what stands there; what that was is looked at only then, when nobody writes to it by its name any more, and
//! where it is not what it should have been it goes back. The index is locked from before the last look until all is in its place:
//! nobody commits half of it.
//!
//! All that is made ready lies in a folder of its own in the git directory, where git may write in a sandbox, too.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Result as IoResult};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with};
use rustix::io::Errno;

use super::access;
use crate::effects::files::{self, is_beneath, is_within};
use crate::effects::git::{Git, may_refuse};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Difference, Entry, Repo, hash_blob, hash_file};
use crate::effects::workspace::index::lock::{LockedIndex, copy_index};
use crate::effects::workspace::undo::beside::is_attributes;
use crate::effects::workspace::undo::put_back::Changed;
use crate::effects::workspace::{Hindrance, Landing, Workspace, ended};
use crate::error::{Error, Result};
use crate::model::{mask, text};

/// The folder in the git directory in which files are made ready.
const FOLDER: &str = "evolve-landing";
/// Where new files lie ready in it, each at its path, and what they changed places with afterwards.
const READY: &str = "ready";
/// Where what went lies.
const GONE: &str = "gone";
/// Where files lie as a checkout of the commit before writes them, of which that is not what it holds.
const WAS: &str = "was";
/// How the names of files end that are on their way to another file system.
const ON_THE_WAY: [&str; 2] = [".evolve-new", ".evolve-was"];
/// How many paths are named.
const SHOWN: usize = 10;
/// How much is shown of what git says, in characters.
const SAID: usize = 300;
/// How often a file is tried to be put where another one comes and goes.
const TRIES: usize = 5;

/// Files of a commit that are ready to take their places.
pub struct Placing<'a> {
    workspace: &'a Workspace<'a>,
    /// The commit before, by which what stood there is told.
    from: &'a str,
    /// What of the content changes, without submodules.
    content: Vec<Difference>,
    /// What of the submodules changes, where the index has what the change begins with: their entries follow, and no more.
    modules: Vec<Difference>,
    /// The folder of all that follows.
    folder: PathBuf,
    /// The ids that a file may have as it is and be nobody's own.
    known: HashMap<Vec<u8>, HashSet<String>>,
    /// Locked once the files are ready: a filter may need its time for them.
    index: Option<LockedIndex>,
    /// Something of the user's may lie in the folder.
    is_precious: bool,
}

impl Drop for Placing<'_> {
    fn drop(&mut self) {
        if !self.is_precious {
            let _ = self.clear();
        }
    }
}

/// Moves what a crash left half way to the quarantine, where it may be somebody's only copy, and what was beside files of this content.
pub fn rescue(repo: &Repo, content: &[Difference], quarantine: &mut Quarantine) -> Result<()> {
    let all = [READY, GONE].map(|name| repo.git_dir().join(FOLDER).join(name));
    for all in &all {
        let mut folders = vec![all.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                match path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                    true => folders.push(path),
                    false => {
                        let below = path.strip_prefix(all).unwrap_or(&path);
                        keep_unknown(repo, all, below, quarantine)?;
                    }
                }
            }
        }
    }
    for one in content {
        let path = Path::new(OsStr::from_bytes(&one.path));
        for end in ON_THE_WAY {
            let beside = beside(path, end);
            if is_beneath(&repo.root, one.path.as_slice()) && repo.root.join(&beside).exists() {
                quarantine.take_from(&repo.root, &beside, path)?;
            }
        }
    }
    clear(&repo.git_dir().join(FOLDER))
}

/// Moves a file to the quarantine that is in no object of git.
fn keep_unknown(
    repo: &Repo,
    folder: &Path,
    below: &Path,
    quarantine: &mut Quarantine,
) -> Result<()> {
    let is_known = match raw_id(&folder.join(below)) {
        Some(id) => repo.find_object(&id)?,
        None => false,
    };
    match is_known {
        true => Ok(()),
        false => quarantine.take_from(folder, below, below),
    }
}

/// Returns what git said at last of why it failed: `n.bin: smudge filter lfs failed`.
fn git_words(error: &Error) -> String {
    let last = error.message.lines().rfind(|line| !line.trim().is_empty());
    let last = text::clean_line(last.unwrap_or_default());
    let said = last.trim_start_matches("fatal: ");
    mask::line(said, SAID)
}

fn clear(folder: &Path) -> Result<()> {
    files::remove_all(folder).map_err(|cause| Error::io("remove", folder, cause))
}

impl<'a> Placing<'a> {
    /// Makes the files ready that a commit has of these; nothing in the tree changes yet. What a crash left is rescued first. Returns
    /// what is in the way, where something is.
    pub fn begin(
        workspace: &'a Workspace<'a>,
        landing: &'a Landing,
        content: Vec<Difference>,
        quarantine: &mut Quarantine,
    ) -> Result<std::result::Result<Placing<'a>, Hindrance>> {
        let is_module = |entry: &Option<Entry>| entry.as_ref().is_some_and(|it| !it.is_file());
        let (modules, content): (Vec<_>, Vec<_>) = content
            .into_iter()
            .partition(|one| is_module(&one.old) || is_module(&one.new));
        let repo = workspace.repo;
        rescue(repo, &content, quarantine)?;
        let mut placing = Placing {
            workspace,
            from: &landing.from,
            content,
            modules,
            folder: repo.git_dir().join(FOLDER),
            known: HashMap::new(),
            index: None,
            is_precious: false,
        };
        let shut = placing.shut();
        if !shut.is_empty() {
            let why = "the folders of these files may not be written to: ";
            return Ok(Err(Hindrance::Busy(
                why.to_owned() + &text::some_of(&shut, SHOWN),
            )));
        }
        if let Err(error) = placing.make_ready(&landing.to) {
            let why = git_words(&error);
            may_refuse::<()>(Err(error))?;
            return Ok(Err(Hindrance::Unwritable(why)));
        }
        let index = match LockedIndex::take(repo)? {
            Ok(index) => index,
            Err(held) => return Ok(Err(Hindrance::Locked(vec![held.display().to_string()]))),
        };
        // Somebody may have staged something meanwhile.
        let other = staged_otherwise(&repo.git, &placing.content)?;
        if !other.is_empty() {
            return Ok(Err(Hindrance::Files(
                other.iter().map(text::path).collect(),
            )));
        }
        let other = staged_otherwise(&repo.git, &placing.all())?;
        placing.modules.retain(|one| !other.contains(&one.path));
        placing.set_versions(index.git(), |_| true, |one| one.new.as_ref())?;
        placing.index = Some(index);
        Ok(Ok(placing))
    }

    fn all(&self) -> Vec<Difference> {
        [&self.content[..], &self.modules].concat()
    }

    fn in_folder(&self, name: &str, path: &[u8]) -> PathBuf {
        self.folder.join(name).join(OsStr::from_bytes(path))
    }

    /// Returns the folder, and in it the place, of what stood at a path once it has moved.
    fn stood(&self, one: &Difference) -> (PathBuf, PathBuf) {
        let name = if one.new.is_some() { READY } else { GONE };
        (self.folder.join(name), self.in_folder(name, &one.path))
    }

    fn target(&self, path: &[u8]) -> PathBuf {
        self.workspace.repo.root.join(OsStr::from_bytes(path))
    }

    /// Returns the paths that lie in folders to which this user may not write.
    fn shut(&self) -> Vec<String> {
        let is_shut = |one: &&Difference| {
            let file = self.target(&one.path);
            let around = file.ancestors().skip(1).find(|folder| folder.exists());
            around.is_some_and(|folder| access(folder, Access::WRITE_OK).is_err())
        };
        let shut = self.content.iter().filter(is_shut);
        shut.map(|one| text::path(&one.path)).collect()
    }

    fn clear(&self) -> Result<()> {
        clear(&self.folder)
    }

    /// Copies the index, and gives these paths the entries of a version there. Returns git with it.
    fn make_index<'e>(
        &'e self,
        name: &str,
        version: impl Fn(&'e Difference) -> Option<&'e Entry>,
    ) -> Result<Git> {
        let repo = self.workspace.repo;
        let copy = self.folder.join(name);
        copy_index(repo, &copy)?;
        let git = repo.git.with_index(&copy);
        self.set_versions(&git, |_| true, version)?;
        Ok(git)
    }

    /// Gives the paths that are meant the entries of a version in the index that this git has.
    fn set_versions<'e>(
        &'e self,
        git: &Git,
        is_meant: impl Fn(&[u8]) -> bool,
        version: impl Fn(&'e Difference) -> Option<&'e Entry>,
    ) -> Result<()> {
        let mut entries: BTreeMap<&[u8], Option<&Entry>> = BTreeMap::new();
        // What is of another kind now is there twice.
        for one in self.content.iter().chain(&self.modules) {
            let entry = entries.entry(&one.path).or_default();
            *entry = entry.or(version(one));
        }
        let entries = entries.into_iter().filter(|(path, _)| is_meant(path));
        self.workspace.set_entries(git, entries)
    }

    /// Writes the files aside, and what a checkout wrote of those that are not as their commit has them: by the attributes that still
    /// are in the tree.
    fn make_ready(&mut self, to: &str) -> Result<()> {
        files::make_folder(&self.folder)?;
        let mut converted = Vec::new();
        for one in &self.content {
            let ids = [&one.old, &one.new].into_iter().flatten();
            let ids: HashSet<String> = ids.map(|entry| entry.id.clone()).collect();
            let now = raw_id(&self.target(&one.path));
            let is_known = now.is_none_or(|now| ids.contains(&now));
            if !is_known && one.old.is_some() {
                converted.push(one.path.clone());
            }
            self.known.entry(one.path.clone()).or_default().extend(ids);
        }
        if !converted.is_empty() {
            let git = self.make_index("index-was", |one| one.old.as_ref())?;
            // Of what it cannot write nothing is known then.
            may_refuse(self.check_out(&git, WAS, &converted))?;
        }
        let wanted = self.content.iter().filter(|one| one.new.is_some());
        let wanted: Vec<Vec<u8>> = wanted.map(|one| one.path.clone()).collect();
        if !wanted.is_empty() {
            let mut git = self.make_index("index-ready", |one| one.new.as_ref())?;
            // Git goes by those in the tree, which are not those of the commit yet.
            if self.content.iter().any(|one| is_attributes(&one.path)) {
                git = git.with("GIT_ATTR_SOURCE", Path::new(to));
            }
            self.check_out(&git, READY, &wanted)?;
        }
        for (name, paths) in [(WAS, converted), (READY, wanted)] {
            for path in paths {
                let id = raw_id(&self.in_folder(name, &path));
                self.known.entry(path).or_default().extend(id);
            }
        }
        Ok(())
    }

    fn check_out(&self, git: &Git, name: &str, paths: &[Vec<u8>]) -> Result<()> {
        let mut prefix = OsStr::new("--prefix=").to_owned();
        prefix.push(self.in_folder(name, b""));
        let arguments = ["checkout-index", "-z", "--stdin"].map(OsStr::new);
        let arguments = [&arguments[..], &[&prefix]].concat();
        git.run_with(&arguments, &ended(paths)).map(drop)
    }

    /// Has the index, and then the files, take their places. Returns the paths at which somebody's own stood by then, which stays; what
    /// only git's filters hid of others is in the quarantine. Goes on after a failure, which is returned at the end: what lies in the
    /// folder then is rescued by the next one.
    pub fn carry_out(mut self, quarantine: &mut Quarantine) -> Result<Vec<Vec<u8>>> {
        let repo = self.workspace.repo;
        if let Some(index) = self.index.take() {
            // Where somebody removed the lock, what they staged is theirs.
            let make_anew = |index: &LockedIndex| {
                let other = staged_otherwise(index.git(), &self.all())?;
                let is_ours = |path: &[u8]| !other.iter().any(|theirs| is_within(theirs, path));
                self.set_versions(index.git(), is_ours, |one| one.new.as_ref())
            };
            self.index = Some(self.workspace.publish_index(index, make_anew)?);
        }
        self.is_precious = true;
        let mut theirs = Vec::new();
        let mut displaced = Vec::new();
        let mut failure = None;
        let (gone, new): (Vec<_>, Vec<_>) = self.content.iter().partition(|one| one.new.is_none());
        for one in gone.into_iter().chain(new) {
            let moved = match &one.new {
                None => self.take_away(one),
                Some(_) => self.put(one),
            };
            match moved {
                Ok(Moved::Nothing) => {}
                Ok(Moved::Displaced(ours)) => displaced.push((one, ours)),
                Ok(Moved::Kept) => theirs.push(one.path.clone()),
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
        for (one, ours) in displaced {
            match self.judge(one, ours, quarantine) {
                Ok(true) => {}
                Ok(false) => theirs.push(one.path.clone()),
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
        for one in self.modules.iter().filter(|one| one.new.is_some()) {
            if let Err(error) = self.make_room(&one.path) {
                failure.get_or_insert(error);
            }
        }
        if let Some(index) = self.index.take() {
            let index = index.copied_again(repo)?;
            // It says by its exit that a file is not what the index has, as somebody's own is not.
            may_refuse(index.git().run(&["update-index", "-q", "--refresh"]))?;
            index.publish()?;
        }
        match failure {
            Some(error) => Err(error),
            None => {
                self.is_precious = false;
                self.clear()?;
                Ok(theirs)
            }
        }
    }

    /// Settles what stood at a path; says whether it was nobody's own.
    fn judge(
        &self,
        one: &Difference,
        ours: Option<Identity>,
        quarantine: &mut Quarantine,
    ) -> Result<bool> {
        let (folder, stood) = self.stood(one);
        let id = raw_id(&stood);
        let is_known = |id: String| {
            self.known
                .get(&one.path)
                .is_some_and(|ids| ids.contains(&id))
        };
        if id.is_some_and(is_known) {
            return Ok(true);
        }
        let path = Path::new(OsStr::from_bytes(&one.path));
        if self.is_seen_alike(one)? {
            quarantine.take_from(&folder, path, path)?;
            return Ok(true);
        }
        match self.give_back(one, ours) {
            true => Ok(false),
            // They saved it once more meanwhile.
            false => quarantine.take_from(&folder, path, path).map(|()| false),
        }
    }

    /// Moves a file aside that the change removes.
    fn take_away(&self, one: &Difference) -> Result<Moved> {
        let (target, (_, aside)) = (self.target(&one.path), self.stood(one));
        let is_folder = fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_dir());
        if is_folder || !is_beneath(&self.workspace.repo.root, &one.path) {
            return Ok(Moved::Nothing);
        }
        files::make_folder(aside.parent().unwrap_or(&aside))?;
        match place(&target, &aside) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Moved::Nothing),
            Err(cause) => return Err(Error::io("remove", &target, cause)),
        }
        self.workspace.remove_empty_folders(&one.path);
        Ok(Moved::Displaced(None))
    }

    /// Has a new version change places with what stands there.
    fn put(&self, one: &Difference) -> Result<Moved> {
        let (target, ready) = (self.target(&one.path), self.in_folder(READY, &one.path));
        if !self.make_way(&one.path)? {
            return Ok(Moved::Kept);
        }
        let is_folder = fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_dir());
        if is_folder && fs::remove_dir(&target).is_err() {
            return Ok(Moved::Kept);
        }
        let is_executable = one
            .new
            .as_ref()
            .is_some_and(|entry| entry.mode & 0o111 != 0);
        let mode = if is_executable { 0o777 } else { 0o666 };
        access::inherit(target.parent().unwrap_or(&target), &ready, mode);
        // Somebody may make it or remove it in between.
        for _ in 0..TRIES {
            match place(&ready, &target) {
                Ok(()) => return Ok(Moved::Nothing),
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(Error::io("write", &target, cause)),
            }
            match exchange(&ready, &target) {
                Ok(ours) => return Ok(Moved::Displaced(ours)),
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) => return Err(Error::io("write", &target, cause)),
            }
        }
        Ok(Moved::Kept)
    }

    /// Makes the empty folder that a submodule has before it is set up, where nothing stands.
    fn make_room(&self, path: &[u8]) -> Result<()> {
        let folder = self.target(path);
        if fs::symlink_metadata(&folder).is_ok() || !self.make_way(path)? {
            return Ok(());
        }
        match fs::create_dir(&folder) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                Err(Error::io("create", &folder, cause))
            }
            _ => Ok(()),
        }
    }

    /// Makes the folders above a path; says whether nothing else stands in their places.
    fn make_way(&self, path: &[u8]) -> Result<bool> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (index, _) in slashes {
            let folder = self.target(&path[..index]);
            match fs::symlink_metadata(&folder) {
                Ok(meta) if meta.is_dir() => continue,
                Ok(_) => return Ok(false),
                Err(_) => {}
            }
            match fs::create_dir(&folder) {
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                    return Err(Error::io("create", &folder, cause));
                }
                _ => {}
            }
        }
        Ok(is_beneath(&self.workspace.repo.root, path))
    }

    /// Says whether git takes what stood there for the version that the change begins with: what filters keep out of commits differs.
    fn is_seen_alike(&self, one: &Difference) -> Result<bool> {
        let (_, stood) = self.stood(one);
        let is_file = fs::symlink_metadata(&stood).is_ok_and(|meta| meta.is_file());
        let Some(old) = one.old.as_ref().filter(|_| is_file) else {
            return Ok(false);
        };
        let mut path = OsStr::new("--path=").to_owned();
        path.push(OsStr::from_bytes(&one.path));
        let arguments = [
            OsStr::new("hash-object"),
            &path,
            OsStr::new("--"),
            stood.as_os_str(),
        ];
        let mut git = self.workspace.repo.git.clone();
        if self.content.iter().any(|one| is_attributes(&one.path)) {
            git = git.with("GIT_ATTR_SOURCE", Path::new(self.from));
        }
        let id = may_refuse(git.run(&arguments))?;
        Ok(id.is_some_and(|id| String::from_utf8_lossy(&id).trim() == old.id))
    }

    /// Puts somebody's own back to where it was; says whether it is there. What they saved once more meanwhile stays instead.
    fn give_back(&self, one: &Difference, ours: Option<Identity>) -> bool {
        let (target, (_, stood)) = (self.target(&one.path), self.stood(one));
        let is_ours = ours.is_some() && identity(&target) == ours;
        if !is_ours {
            let _ = fs::create_dir_all(target.parent().unwrap_or(&target));
            return place(&stood, &target).is_ok();
        }
        let made = raw_id(&target);
        if exchange(&stood, &target).is_err() {
            return false;
        }
        // What came out has to be ours: they may have saved it in this very moment.
        if raw_id(&stood) == made {
            return true;
        }
        let _ = exchange(&stood, &target);
        false
    }
}

/// Returns the paths of which the index has neither what a change begins with nor what it makes of them, and those below a file to be.
pub fn staged_otherwise(git: &Git, content: &[Difference]) -> Result<Vec<Vec<u8>>> {
    let paths: Vec<Vec<u8>> = content.iter().map(|one| one.path.clone()).collect();
    let staged = Changed::of_root(git, &paths).staged()?;
    let mut known: HashMap<&[u8], Vec<Option<&str>>> = HashMap::new();
    // What is of another kind now is there twice: as gone, and as new.
    for one in content {
        let versions = [&one.old, &one.new];
        let ids = versions.map(|entry| entry.as_ref().map(|entry| &*entry.id));
        known.entry(&one.path).or_default().extend(ids);
    }
    let is_known = |one: &&Difference| {
        let versions = staged.get(&one.path).map_or(&[][..], Vec::as_slice);
        let now = versions.first().map(|version| &*version.id);
        versions.len() < 2 && known[&*one.path].contains(&now)
    };
    let other = content.iter().filter(|one| !is_known(one));
    let other = other.map(|one| one.path.clone());
    let below = staged.keys().filter(|path| !known.contains_key(&path[..]));
    Ok(other.chain(below.cloned()).collect())
}

/// What tells a file from another: device and inode.
type Identity = (u64, u64);

/// What became of what stood at a path.
enum Moved {
    /// Nothing stood there.
    Nothing,
    /// It is where the new file was ready; the new file, if there is one, is known by this.
    Displaced(Option<Identity>),
    /// It is there still: nothing could take its place.
    Kept,
}

fn identity(file: &Path) -> Option<Identity> {
    let meta = fs::symlink_metadata(file).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Returns the id that a file, or where a link points, has as it is, without any filter.
fn raw_id(file: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(file).ok()?;
    match meta.is_symlink() {
        true => {
            let target = fs::read_link(file).ok()?;
            Some(hash_blob(target.as_os_str().as_bytes()))
        }
        false => meta.is_file().then(|| hash_file(file))?,
    }
}

/// Moves a file to where nothing is.
fn place(from: &Path, to: &Path) -> IoResult<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(cause) if is_unsupported(cause) => {}
        done => return Ok(done?),
    }
    if fs::symlink_metadata(to).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    carry(from, to)
}

/// Has two files change places; returns by what the first one is known at its new place. From another file system a file comes by way
/// of one beside its place.
fn exchange(ready: &Path, target: &Path) -> IoResult<Option<Identity>> {
    let ours = identity(ready);
    match renameat_with(CWD, ready, CWD, target, RenameFlags::EXCHANGE) {
        Err(cause) if is_unsupported(cause) => {}
        done => return Ok(done.map(|()| ours)?),
    }
    let [mine, was] = ON_THE_WAY.map(|end| beside(target, end));
    if [&mine, &was]
        .into_iter()
        .any(|it| it.is_symlink() || it.exists())
    {
        return Err(ErrorKind::AlreadyExists.into());
    }
    fs::symlink_metadata(target)?;
    carry(ready, &mine)?;
    let ours = identity(&mine);
    if renameat_with(CWD, &mine, CWD, target, RenameFlags::EXCHANGE).is_ok() {
        carry(&mine, ready)?;
        return Ok(ours);
    }
    fs::rename(target, &was)?;
    fs::rename(&mine, target)?;
    carry(&was, ready)?;
    Ok(ours)
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(end);
    file.with_file_name(name)
}

/// Moves a file, to another file system, too.
fn carry(from: &Path, to: &Path) -> IoResult<()> {
    match fs::rename(from, to) {
        Err(cause) if cause.kind() == ErrorKind::CrossesDevices => {}
        done => return done,
    }
    match fs::symlink_metadata(from)?.is_symlink() {
        true => std::os::unix::fs::symlink(fs::read_link(from)?, to)?,
        false => files::copy(from, to)?,
    }
    fs::remove_file(from)
}

/// Says whether a file system does not know such a move, or two are meant.
fn is_unsupported(cause: Errno) -> bool {
    [Errno::XDEV, Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&cause)
}
