//! Takes files of a commit to the user's working tree while the user may save some of them. What is written is made ready aside, and
//! changes places with what stands there; what that was is looked at only then, when nobody writes to it by its name any more, and
//! where it is not what it should have been it goes back. The index is locked from before the last look until it has what the files
//! have: nobody commits half of it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Result as IoResult};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Access, CWD, RenameFlags, access, renameat_with};
use rustix::io::Errno;

use crate::effects::files::{self, is_beneath};
use crate::effects::git::{Git, may_refuse};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Difference, Entry, hash_blob, hash_file};
use crate::effects::workspace::undo::put_back::Changed;
use crate::effects::workspace::{Workspace, ended};
use crate::error::{Error, Result};

/// The folder in the private one in which files are made ready.
const FOLDER: &str = "landing";
/// Where new files lie ready in it, each at its path, and what they changed places with afterwards.
const READY: &str = "ready";
/// Where what went lies.
const GONE: &str = "gone";
/// How long the lock of another git on the index is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a file is tried to be put where another one comes and goes.
const TRIES: usize = 5;

/// Files of a commit that are ready to take their places.
pub struct Placing<'a> {
    workspace: &'a Workspace<'a>,
    /// What of the content changes, without submodules.
    content: Vec<Difference>,
    /// The folder of all that follows.
    folder: PathBuf,
    /// Taken once the files are ready: a filter may need its time for them.
    lock: Option<IndexLock>,
    /// Something of the user's may lie in the folder.
    has_begun: bool,
}

/// What making ready came to.
pub enum Begun<'a> {
    /// All is ready.
    Ready(Placing<'a>),
    /// Another git holds this lock.
    Locked(PathBuf),
    /// These paths have something else in the index by now, or lie where this user may not write.
    InTheWay(Vec<Vec<u8>>),
}

/// The lock on the index, as git has it.
struct IndexLock(PathBuf);

impl IndexLock {
    /// Takes the lock; the path of it where another git does not let go of it.
    fn take(git_dir: &Path) -> Result<std::result::Result<IndexLock, PathBuf>> {
        let lock = git_dir.join("index.lock");
        let until = Instant::now() + PATIENCE;
        loop {
            match OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Ok(IndexLock(lock))),
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                    return Err(Error::io("create", &lock, cause));
                }
                Err(_) if Instant::now() >= until => return Ok(Err(lock)),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Placing<'_> {
    fn drop(&mut self) {
        if !self.has_begun {
            let _ = self.clear();
        }
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl<'a> Placing<'a> {
    /// Makes the files ready that a commit has of these; nothing in the tree changes yet.
    pub fn begin(
        workspace: &'a Workspace<'a>,
        to: &str,
        mut content: Vec<Difference>,
        quarantine: &mut Quarantine,
    ) -> Result<Begun<'a>> {
        let is_module = |entry: &Option<Entry>| entry.as_ref().is_some_and(|it| !it.is_file());
        content.retain(|one| !is_module(&one.old) && !is_module(&one.new));
        let repo = workspace.repo;
        let folder = repo.private.join(FOLDER);
        let mut placing = Placing {
            workspace,
            content,
            folder,
            lock: None,
            has_begun: false,
        };
        placing.rescue(quarantine)?;
        placing.make_ready(to)?;
        placing.lock = match IndexLock::take(repo.git_dir())? {
            Ok(lock) => Some(lock),
            Err(held) => return Ok(Begun::Locked(held)),
        };
        let git = &repo.git;
        let mut in_the_way = staged_otherwise(git, &placing.content)?;
        in_the_way.extend(placing.shut());
        if !in_the_way.is_empty() {
            return Ok(Begun::InTheWay(in_the_way));
        }
        // Somebody may have staged something else meanwhile.
        placing.make_index()?;
        Ok(Begun::Ready(placing))
    }

    fn ready(&self, path: &[u8]) -> PathBuf {
        self.folder.join(READY).join(OsStr::from_bytes(path))
    }

    /// Returns the folder, and in it the place, of what stood at a path once it has moved.
    fn stood(&self, one: &Difference) -> (PathBuf, PathBuf) {
        let name = if one.new.is_some() { READY } else { GONE };
        let folder = self.folder.join(name);
        let place = folder.join(OsStr::from_bytes(&one.path));
        (folder, place)
    }

    fn target(&self, path: &[u8]) -> PathBuf {
        self.workspace.repo.root.join(OsStr::from_bytes(path))
    }

    /// Returns git with the index as it will be.
    fn git(&self) -> Git {
        let index = self.folder.join("index");
        self.workspace.repo.git.with("GIT_INDEX_FILE", &index)
    }

    /// Returns the paths that lie in folders to which this user may not write.
    fn shut(&self) -> impl Iterator<Item = Vec<u8>> {
        let is_shut = |one: &&Difference| {
            let file = self.target(&one.path);
            let around = file.ancestors().skip(1).find(|folder| folder.exists());
            around.is_some_and(|folder| access(folder, Access::WRITE_OK).is_err())
        };
        let shut = self.content.iter().filter(is_shut);
        shut.map(|one| one.path.clone())
    }

    /// Takes what a crash left in the folder away: what is in no object of git may be somebody's only copy.
    fn rescue(&self, quarantine: &mut Quarantine) -> Result<()> {
        let all = [READY, GONE].map(|name| self.folder.join(name));
        let mut folders = all.to_vec();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(meta) = path.symlink_metadata() else {
                    continue;
                };
                if meta.is_dir() {
                    folders.push(path);
                } else if let Some(id) = raw_id(&path)
                    && !self.workspace.repo.find_object(&id)?
                {
                    let mut around = all.iter().filter(|all| path.starts_with(all));
                    let folder = around.next().unwrap_or(&folder);
                    let below = path.strip_prefix(folder).unwrap_or(&path);
                    quarantine.take_from(folder, below, below)?;
                }
            }
        }
        self.clear()
    }

    fn clear(&self) -> Result<()> {
        match files::remove_all(&self.folder) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &self.folder, cause))
            }
            _ => Ok(()),
        }
    }

    /// Makes the index what it will be. Returns git with it.
    fn make_index(&self) -> Result<Git> {
        let index = self.workspace.repo.git_dir().join("index");
        if index.exists() {
            files::copy_unsynced(&index, &self.folder.join("index"))
                .map_err(|cause| Error::io("copy", &index, cause))?;
        }
        let git = self.git();
        self.workspace.set_entries(&git, &self.content)?;
        Ok(git)
    }

    /// Writes the files aside.
    fn make_ready(&self, to: &str) -> Result<()> {
        files::make_folder(&self.folder)?;
        let mut git = self.make_index()?;
        // Git goes by those in the tree, which are not those of the commit yet.
        let is_attributes = |one: &Difference| {
            one.path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes")
        };
        if self.content.iter().any(is_attributes) {
            git = git.with("GIT_ATTR_SOURCE", Path::new(to));
        }
        let wanted = self.content.iter().filter(|one| one.new.is_some());
        let wanted: Vec<Vec<u8>> = wanted.map(|one| one.path.clone()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let mut prefix = OsStr::new("--prefix=").to_owned();
        prefix.push(self.ready(b""));
        let arguments = ["checkout-index", "-z", "--stdin"].map(OsStr::new);
        let arguments = [&arguments[..], &[&prefix]].concat();
        git.run_with(&arguments, &ended(&wanted)).map(drop)
    }

    /// Has the files take their places, and the index with them. Returns the paths at which somebody's own stood by then, which stays;
    /// what only git's filters hid of others is in the quarantine.
    pub fn carry_out(mut self, from: &str, quarantine: &mut Quarantine) -> Result<Vec<Vec<u8>>> {
        self.has_begun = true;
        let mut theirs = Vec::new();
        let mut displaced = Vec::new();
        let (gone, new): (Vec<_>, Vec<_>) = self.content.iter().partition(|one| one.new.is_none());
        for one in gone.into_iter().chain(new) {
            let moved = match &one.new {
                None => self.take_away(one)?,
                Some(_) => self.put(one)?,
            };
            match moved {
                Moved::Nothing => {}
                Moved::Displaced(ours) => displaced.push((one, ours)),
                Moved::Kept => theirs.push(one.path.clone()),
            }
        }
        for (one, ours) in displaced {
            if self.is_known(one, from)? {
                continue;
            }
            if self.is_seen_alike(one)? {
                self.keep(one, quarantine)?;
            } else {
                self.give_back((one, ours), quarantine)?;
                theirs.push(one.path.clone());
            }
        }
        // It says by its exit that a file is not what the index has, as somebody's own is not.
        may_refuse(self.git().run(&["update-index", "-q", "--refresh"]))?;
        let (made, index) = (
            self.folder.join("index"),
            self.workspace.repo.git_dir().join("index"),
        );
        fs::rename(&made, &index).map_err(|cause| Error::io("write", &index, cause))?;
        self.clear()?;
        Ok(theirs)
    }

    /// Moves a file aside that the change removes.
    fn take_away(&self, one: &Difference) -> Result<Moved> {
        let (target, (_, aside)) = (self.target(&one.path), self.stood(one));
        let is_file = fs::symlink_metadata(&target).is_ok_and(|meta| !meta.is_dir());
        if !is_file || !is_beneath(&self.workspace.repo.root, &one.path) {
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
        let (target, ready) = (self.target(&one.path), self.ready(&one.path));
        if !self.make_way(&one.path)? {
            return Ok(Moved::Kept);
        }
        let is_folder = fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_dir());
        if is_folder && fs::remove_dir(&target).is_err() {
            return Ok(Moved::Kept);
        }
        let ours = identity(&ready);
        // Somebody may make it or remove it in between.
        for _ in 0..TRIES {
            match place(&ready, &target) {
                Ok(()) => return Ok(Moved::Nothing),
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(Error::io("write", &target, cause)),
            }
            match exchange(&ready, &target) {
                Ok(()) => return Ok(Moved::Displaced(ours)),
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) => return Err(Error::io("write", &target, cause)),
            }
        }
        Ok(Moved::Kept)
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

    /// Says whether what stood there is a version of the change, be it as a checkout of the first one writes it.
    fn is_known(&self, one: &Difference, from: &str) -> Result<bool> {
        let (_, stood) = self.stood(one);
        let id = raw_id(&stood);
        let is = |entry: &Entry| Some(&entry.id) == id.as_ref();
        if one.old.as_ref().is_some_and(is) || one.new.as_ref().is_some_and(is) {
            return Ok(true);
        }
        let is_file = fs::symlink_metadata(&stood).is_ok_and(|meta| meta.is_file());
        if one.old.is_none() || !is_file {
            return Ok(false);
        }
        let name = [from.as_bytes(), b":", &one.path].concat();
        let arguments = ["cat-file", "--filters"].map(OsStr::new);
        let arguments = [&arguments[..], &[OsStr::from_bytes(&name)]].concat();
        let written = may_refuse(self.workspace.repo.git.run(&arguments))?;
        Ok(written.is_some_and(|bytes| Some(hash_blob(&bytes)) == id))
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
        let id = may_refuse(self.workspace.repo.git.run(&arguments))?;
        Ok(id.is_some_and(|id| String::from_utf8_lossy(&id).trim() == old.id))
    }

    /// Moves what stood there to the quarantine.
    fn keep(&self, one: &Difference, quarantine: &mut Quarantine) -> Result<()> {
        let path = Path::new(OsStr::from_bytes(&one.path));
        quarantine.take_from(&self.stood(one).0, path, path)
    }

    /// Puts somebody's own back to where it was. Where they saved it once more meanwhile, that stays, and the one before is kept.
    fn give_back(
        &self,
        (one, ours): (&Difference, Option<Identity>),
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let (target, (_, stood)) = (self.target(&one.path), self.stood(one));
        let Some(ours) = ours else {
            let parent = target.parent().unwrap_or(&target);
            let _ = fs::create_dir_all(parent);
            return match place(&stood, &target) {
                Ok(()) => Ok(()),
                Err(_) => self.keep(one, quarantine),
            };
        };
        if exchange(&stood, &target).is_err() {
            return match place(&stood, &target) {
                Ok(()) => Ok(()),
                Err(_) => self.keep(one, quarantine),
            };
        }
        if identity(&stood) != Some(ours) {
            let _ = exchange(&stood, &target);
            return self.keep(one, quarantine);
        }
        Ok(())
    }
}

/// Returns the paths of which the index has neither what a change begins with nor what it makes of them.
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
    Ok(other.map(|one| one.path.clone()).collect())
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
        false => hash_file(file).filter(|_| meta.is_file()),
    }
}

/// Moves a file to where nothing is.
fn place(from: &Path, to: &Path) -> IoResult<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(cause) if is_unsupported(cause) => {
            if fs::symlink_metadata(to).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            carry(from, to)
        }
        done => Ok(done?),
    }
}

/// Has two files change places; where the file system cannot do that at once, the second is away for a moment.
fn exchange(ready: &Path, target: &Path) -> IoResult<()> {
    match renameat_with(CWD, ready, CWD, target, RenameFlags::EXCHANGE) {
        Err(cause) if is_unsupported(cause) => {}
        done => return Ok(done?),
    }
    let beside = |end: &str| {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(end);
        target.with_file_name(name)
    };
    let (mine, aside) = (beside(".evolve-new"), beside(".evolve-was"));
    carry(ready, &mine)?;
    fs::rename(target, &aside)?;
    fs::rename(&mine, target)?;
    carry(&aside, ready)
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::effects::workspace::land::Landing;

    /// A repository on the commit before a change, and the change.
    struct Yard {
        all: tempfile::TempDir,
        repo: crate::effects::repo::Repo,
        landing: Landing,
    }

    impl Yard {
        fn new(before: &[(&str, &str)], change: &str) -> Yard {
            let all = tempfile::tempdir().unwrap();
            let root = all.path().join("tree");
            fs::create_dir(&root).unwrap();
            let sh = |script: &str| {
                let mut command = Command::new("sh");
                command.args(["-ec", script]).current_dir(&root);
                command.env("GIT_CONFIG_GLOBAL", "/dev/null");
                let output = command.output().unwrap();
                assert!(output.status.success(), "{script}: {output:?}");
                String::from_utf8(output.stdout).unwrap().trim().to_owned()
            };
            sh("git init -q -b main; git config user.name u; git config user.email u");
            for (path, text) in before {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), text).unwrap();
            }
            let commit = "git add -A; git commit -qm c; git rev-parse HEAD";
            let from = sh(commit);
            let to = sh(&format!("{change}; {commit}"));
            sh(&format!("git reset -q --hard {from}"));
            let landing = Landing {
                branch: "refs/heads/main".to_owned(),
                from,
                to,
            };
            let repo = crate::effects::repo::Repo::discover(&root).unwrap();
            Yard { all, repo, landing }
        }

        fn file(&self, path: &str) -> PathBuf {
            self.all.path().join("tree").join(path)
        }

        fn read(&self, path: &str) -> Option<String> {
            fs::read_to_string(self.file(path)).ok()
        }

        /// Lets a person do something between the moment at which all is ready and the one at which it takes its place.
        fn place(&self, quarantine: &mut Quarantine, meanwhile: impl FnOnce(&Yard)) -> Vec<String> {
            let workspace = Workspace { repo: &self.repo };
            let content = workspace.landed_content(&self.landing).unwrap();
            let begun = Placing::begin(&workspace, &self.landing.to, content, quarantine).unwrap();
            let Begun::Ready(placing) = begun else {
                panic!("not ready");
            };
            assert!(self.file(".git/index.lock").exists());
            meanwhile(self);
            let stayed = placing.carry_out(&self.landing.from, quarantine).unwrap();
            assert!(!self.file(".git/index.lock").exists());
            assert!(!self.repo.private.join(FOLDER).exists());
            stayed
                .iter()
                .map(|path| String::from_utf8_lossy(path).into_owned())
                .collect()
        }
    }

    const CHANGE: &str = "echo theirs >edited; echo theirs >new; git rm -q gone other/gone; mkdir deep; echo theirs >deep/new";

    fn yard() -> Yard {
        let before = ["edited", "gone", "other/gone"].map(|path| (path, "old\n"));
        Yard::new(&before, CHANGE)
    }

    #[test]
    fn files_take_their_places_with_the_index() {
        let yard = yard();
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        assert!(yard.place(&mut quarantine, |_| {}).is_empty());
        let theirs = Some("theirs\n".to_owned());
        for path in ["edited", "new", "deep/new"] {
            assert_eq!(yard.read(path), theirs, "{path}");
        }
        assert!(!yard.file("gone").exists() && !yard.file("other").exists());
        let listed = yard.repo.git.run(&["ls-files"]).unwrap();
        assert_eq!(listed, b"deep/new\nedited\nnew\n");
        let changed = yard.repo.git.run(&["diff-files", "--name-only"]).unwrap();
        assert!(changed.is_empty());
        assert!(quarantine.notes().next().is_none());
    }

    #[test]
    fn what_somebody_saved_meanwhile_stays_whatever_the_change_makes_of_it() {
        let yard = yard();
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        let saved = ["edited", "gone", "other/gone", "new", "deep/new"];
        let mut stayed = yard.place(&mut quarantine, |yard| {
            fs::create_dir(yard.file("deep")).unwrap();
            for path in saved {
                fs::write(yard.file(path), "hours of work\n").unwrap();
            }
        });
        for path in saved {
            let text = yard.read(path);
            assert_eq!(text.as_deref(), Some("hours of work\n"), "{path}");
        }
        stayed.sort();
        assert_eq!(stayed, ["deep/new", "edited", "gone", "new", "other/gone"]);
        let listed = yard.repo.git.run(&["ls-files"]).unwrap();
        assert_eq!(
            listed, b"deep/new\nedited\nnew\n",
            "the index has the change"
        );
        assert!(quarantine.notes().next().is_none());
    }

    #[test]
    fn what_stands_where_a_folder_has_to_be_or_leads_elsewhere_stays() {
        let yard = yard();
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        let elsewhere = yard.all.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let stayed = yard.place(&mut quarantine, |yard| {
            std::os::unix::fs::symlink(&elsewhere, yard.file("deep")).unwrap();
        });
        assert_eq!(stayed, ["deep/new"]);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        assert!(yard.file("deep").is_symlink());
    }

    #[test]
    fn what_a_crash_left_half_way_and_no_object_has_goes_to_the_quarantine() {
        let yard = yard();
        let ready = yard.repo.private.join(FOLDER).join("ready");
        fs::create_dir_all(ready.join("d")).unwrap();
        fs::write(ready.join("d/mine"), "hours of work\n").unwrap();
        fs::write(ready.join("edited"), "old\n").unwrap();
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        yard.place(&mut quarantine, |_| {});
        let moved: Vec<_> = quarantine.moved.iter().map(|(name, _)| &**name).collect();
        assert_eq!(moved, ["d/mine"]);
    }

    #[test]
    fn while_another_git_holds_the_index_or_has_staged_something_else_nothing_begins() {
        let yard = yard();
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        let workspace = Workspace { repo: &yard.repo };
        let mut begin = || {
            let content = workspace.landed_content(&yard.landing).unwrap();
            Placing::begin(&workspace, &yard.landing.to, content, &mut quarantine).unwrap()
        };
        fs::write(yard.file("edited"), "staged\n").unwrap();
        yard.repo.git.run(&["add", "edited"]).unwrap();
        assert!(matches!(begin(), Begun::InTheWay(paths) if paths == [b"edited"]));
        fs::write(yard.file(".git/index.lock"), "").unwrap();
        assert!(matches!(begin(), Begun::Locked(_)));
        assert!(yard.file(".git/index.lock").exists());
    }
}
