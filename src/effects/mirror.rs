//! A copy of the git directory outside the repository while an agent works, for the one thing that nothing else survives:
//! an agent that removes or replaces `.git`. Objects are hard links, so that it takes hardly any space; all else (refs,
//! reflogs, settings, hooks, index, journal) is copied. Refreshed right before each agent, at the cost of what changed;
//! removed when the session has ended in order.
//!
//! It lies in `$XDG_STATE_HOME/evolve/<name and digest of the git directory's path>/git`. Where objects cannot be linked,
//! because that is another file system, they are copied up to a limit; above it there is no copy, and that is said.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::effects::files;
use crate::effects::places::{self, Places, folder_name};
use crate::error::{Error, Result};
use crate::model::text;

/// How many bytes of objects are copied where they cannot be linked.
const COPY_LIMIT: u64 = 256 << 20;
/// A time of change that is not older than that may be shared by two versions.
const FRESH: Duration = Duration::from_secs(2);
/// What only the running program needs.
const LEFT_OUT: [&str; 2] = ["evolve/lock", "evolve/logs"];
/// Folders whose files are never changed once they are written.
const LINKED: [&str; 3] = ["objects", "lfs", "evolve/quarantine"];

/// Where the copy of one git directory lies.
#[derive(Clone, Debug)]
pub struct Mirror {
    folder: PathBuf,
    /// The git directory that all working trees share.
    common: PathBuf,
    /// The git directory of the working tree.
    git_dir: PathBuf,
}

impl Mirror {
    /// Names the copy of a git directory; it is made by the first `refresh`.
    pub fn of(places: &Places) -> Result<Mirror> {
        let real = |path: &Path| {
            let real = path.canonicalize();
            real.map_err(|cause| Error::io("open", path, cause))
        };
        let git_dir = real(&places.git_dir)?;
        Ok(Mirror {
            folder: state()?.join("evolve").join(folder_name(&git_dir)),
            common: real(&places.common)?,
            git_dir,
        })
    }

    fn copy(&self) -> PathBuf {
        self.folder.join("git")
    }

    /// Brings the copy up to date. What refers to objects goes before the objects, so that none is missing that somebody
    /// stores meanwhile.
    pub fn refresh(&self) -> Result<()> {
        if self.folder.starts_with(&self.common) || self.common.starts_with(&self.folder) {
            return Err(Error::internal(format!(
                "{} lies in the repository itself",
                self.folder.display()
            ))
            .hint("set XDG_STATE_HOME to a folder outside the repository"));
        }
        let mut work = Work::default();
        let done = make_folder(&self.folder).and_then(|()| {
            // First of all: what is cut short here is still a copy of this one.
            fs::write(
                self.folder.join("of"),
                identity(&self.common).unwrap_or_default(),
            )?;
            work.copy_folder(&self.common, &self.copy(), "", false)?;
            let mut later = std::mem::take(&mut work.later);
            while let Some((from, to, name)) = later.pop() {
                work.copy_folder(&from, &to, &name, true)?;
                later.append(&mut work.later);
            }
            Ok(())
        });
        done.map_err(|cause| {
            let _ = self.remove();
            Error::io("copy .git to", &self.copy(), cause)
        })
    }

    /// Gives the git directory back the objects that it has lost; says whether there were any.
    pub fn lend_objects(&self) -> Result<bool> {
        let (from, to) = (self.copy().join("objects"), self.common.join("objects"));
        if !from.is_dir() {
            return Ok(false);
        }
        lend(&from, &to).map_err(|cause| Error::io("restore objects in", &to, cause))
    }

    /// Returns the command that puts the git directory back; none if there is no copy.
    pub fn way_back(&self) -> Option<String> {
        let copy = self.copy();
        let is_whole = copy.join("HEAD").is_file() && copy.join("objects").is_dir();
        if !is_whole {
            return None;
        }
        let (copy, common) = (quoted(&copy), quoted(&self.common));
        let mut aside = self.common.clone().into_os_string();
        aside.push("-of-the-agent");
        let aside = quoted(Path::new(&aside));
        let put_back = format!("cp -a {copy} {common}");
        Some(match fs::symlink_metadata(&self.common) {
            Ok(_) => format!("mv {common} {aside} && {put_back}"),
            Err(_) => put_back,
        })
    }

    /// Returns the copy of the private directory, if a whole copy is there and the git directory is still the one that was
    /// copied.
    pub fn private(&self) -> Option<PathBuf> {
        self.way_back()?;
        self.is_of_same().then(|| self.evolve_in(&self.copy()))
    }

    /// Gives the private directory back what it has lost; copies of the user's files and settings, and the journal, as they
    /// were before the agent. What else is there stays.
    pub fn lend_private(&self) -> Result<()> {
        let (from, to) = (self.evolve_in(&self.copy()), self.evolve_in(&self.common));
        let old = ["keep", "guard", "journal.json"];
        let done = old
            .iter()
            .try_for_each(|name| files::remove_all(&to.join(name)));
        done.and_then(|()| lend(&from, &to).map(|_| ()))
            .map_err(|cause| Error::io("restore", &to, cause))
    }

    /// Notes that the cycle is settled that the copy was made for: there is nothing to go back to.
    pub fn note_settled(&self) -> Result<()> {
        let folder = self.evolve_in(&self.copy());
        if !self.is_unsettled() {
            return Ok(());
        }
        files::remove(&folder.join("journal.json"))?;
        files::sync_folder(&folder).map_err(|cause| Error::io("sync", &folder, cause))
    }

    /// Says whether the copy was made for a cycle that was not settled yet.
    pub fn is_unsettled(&self) -> bool {
        let folder = self.evolve_in(&self.copy());
        fs::symlink_metadata(folder.join("journal.json")).is_ok()
    }

    fn is_of_same(&self) -> bool {
        fs::read_to_string(self.folder.join("of")).ok() == identity(&self.common)
    }

    /// Returns the private directory in a shared git directory.
    fn evolve_in(&self, common: &Path) -> PathBuf {
        let below = self.git_dir.strip_prefix(&self.common);
        common.join(below.unwrap_or(Path::new(""))).join("evolve")
    }

    /// Refuses a git directory that is not the one that was copied, nor the copy put back: going on would lose the copy.
    pub fn refuse_another(&self) -> Result<()> {
        let is_same = self.is_of_same();
        let journal =
            |git_dir: &Path| files::read(&self.evolve_in(git_dir).join("journal.json")).ok();
        let (copied, journal) = (journal(&self.copy()), journal(&self.common));
        match self.way_back() {
            Some(way_back) if !is_same && copied != journal => Err(Error::unsafe_repo(format!(
                "{} is not the one that a session of evolve worked in when it was cut short",
                self.common.display()
            ))
            .hint(format!(
                "put that one back with `{way_back}`, or remove the copy of it: `rm -rf {}`",
                quoted(&self.folder)
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the command that puts back a git directory that was in `dir` or above; none if there is no copy of one.
    pub fn way_back_in(dir: &Path) -> Option<String> {
        let state = state().ok()?;
        let of = |folder: &Path| {
            let common = folder.join(".git");
            let mirror = Mirror {
                folder: state.join("evolve").join(folder_name(&common)),
                git_dir: common.clone(),
                common,
            };
            mirror.way_back()
        };
        dir.ancestors().find_map(of)
    }

    /// Removes the copy. It gives up its name first: what a failure leaves of it is no copy any more.
    pub fn remove(&self) -> Result<()> {
        if !fs::symlink_metadata(&self.folder).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        let failed = |cause| Error::io("remove", &self.folder, cause);
        let going = self.folder.join("going");
        files::remove_all(&going).map_err(failed)?;
        if fs::symlink_metadata(self.copy()).is_ok() {
            fs::rename(self.copy(), going).map_err(failed)?;
        }
        fs::remove_dir_all(&self.folder).map_err(failed)
    }
}

/// Makes a folder that only the user can look into.
fn make_folder(folder: &Path) -> IoResult<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// Says which git directory this is: a new one in the same place is another.
fn identity(common: &Path) -> Option<String> {
    let meta = fs::metadata(common).ok()?;
    let born = meta
        .created()
        .ok()
        .and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    Some(format!("{} {} {born:?}", meta.dev(), meta.ino()))
}

fn state() -> Result<PathBuf> {
    places::of_user("XDG_STATE_HOME", ".local/state").ok_or_else(|| {
        Error::internal("cannot tell where a copy of .git could lie")
            .hint("set HOME, or XDG_STATE_HOME to an absolute path")
    })
}

/// One refresh.
#[derive(Default)]
struct Work {
    /// Folders of objects, which come last: from, to, name.
    later: Vec<(PathBuf, PathBuf, String)>,
    /// How many bytes were copied that should have been linked.
    copied: u64,
}

impl Work {
    /// Makes `to` what `from` is. `name` is the path below the git directory.
    fn copy_folder(&mut self, from: &Path, to: &Path, name: &str, is_linked: bool) -> IoResult<()> {
        let meta = fs::symlink_metadata(from)?;
        if !fs::symlink_metadata(to).is_ok_and(|meta| meta.is_dir()) {
            files::remove_all(to)?;
            fs::create_dir(to)?;
        } else if is_linked && is_same_time(&meta, &fs::symlink_metadata(to)?) {
            // No file came or went, and files of such folders do not change.
            return match has_folders(name) {
                true => self.copy_folders_in(from, to, name),
                false => Ok(()),
            };
        }
        let mut there = HashSet::new();
        for entry in fs::read_dir(from)? {
            let file = entry?.file_name();
            let below = match name.is_empty() {
                true => file.to_string_lossy().into_owned(),
                false => format!("{name}/{}", file.to_string_lossy()),
            };
            if is_left_out(&below) {
                continue;
            }
            let (from, to) = (from.join(&file), to.join(&file));
            match self.copy_entry(&from, &to, &below, is_linked) {
                // Git removes temporary files at any time.
                Err(cause) if cause.kind() == ErrorKind::NotFound && !from.exists() => continue,
                Err(cause) => return Err(cause),
                Ok(()) => {}
            }
            there.insert(file);
        }
        remove_others(to, &there)?;
        keep_time(to, &meta)
    }

    /// Goes on with the folders in one whose files are as they were.
    fn copy_folders_in(&mut self, from: &Path, to: &Path, name: &str) -> IoResult<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let file = entry.file_name();
                let below = format!("{name}/{}", file.to_string_lossy());
                self.copy_entry(&entry.path(), &to.join(&file), &below, true)?;
            }
        }
        Ok(())
    }

    fn copy_entry(&mut self, from: &Path, to: &Path, name: &str, is_linked: bool) -> IoResult<()> {
        let meta = fs::symlink_metadata(from)?;
        if meta.is_dir() {
            if !is_linked && is_of_objects(name) {
                self.later
                    .push((from.to_owned(), to.to_owned(), name.to_owned()));
                return Ok(());
            }
            // In there are files that git adds to in place.
            let is_linked = is_linked && !name.ends_with("objects/info");
            return self.copy_folder(from, to, name, is_linked);
        }
        if meta.is_symlink() {
            files::remove_all(to)?;
            return symlink(fs::read_link(from)?, to);
        }
        match (meta.is_file(), is_linked) {
            (false, _) => Ok(()),
            (true, false) => copy_file(from, to, &meta),
            (true, true) => self.link_file(from, to, &meta),
        }
    }

    fn link_file(&mut self, from: &Path, to: &Path, meta: &Metadata) -> IoResult<()> {
        match fs::symlink_metadata(to) {
            Ok(there) if there.ino() == meta.ino() && there.dev() == meta.dev() => return Ok(()),
            // Copied before, where it cannot be linked; objects do not change.
            Ok(there) if there.dev() != meta.dev() && there.len() == meta.len() => {
                return Ok(());
            }
            Ok(_) => files::remove_all(to)?,
            Err(_) => {}
        }
        match fs::hard_link(from, to) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                self.copied += meta.len();
                match self.copied <= COPY_LIMIT {
                    true => copy_file(from, to, meta),
                    false => Err(IoError::other(format!(
                        "its objects cannot be linked there ({cause}), and they are more than {} MiB",
                        COPY_LIMIT >> 20
                    ))),
                }
            }
            done => done,
        }
    }
}

fn is_left_out(name: &str) -> bool {
    ends_with_one_of(name, &LEFT_OUT) || name.ends_with(".lock")
}

fn is_of_objects(name: &str) -> bool {
    ends_with_one_of(name, &LINKED)
}

fn ends_with_one_of(name: &str, paths: &[&str]) -> bool {
    let ends = |path: &&str| {
        name.strip_suffix(*path)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    paths.iter().any(ends)
}

/// Says whether a folder of unchanging files may have folders in it: not those by the first digits of objects' names.
fn has_folders(name: &str) -> bool {
    let parent = name.rsplit_once('/').map(|(parent, _)| parent);
    let is_of_git =
        |parent: &str| ends_with_one_of(parent, &["objects"]) && !parent.contains("lfs/");
    !parent.is_some_and(is_of_git)
}

fn is_same_time(one: &Metadata, other: &Metadata) -> bool {
    (one.mtime(), one.mtime_nsec()) == (other.mtime(), other.mtime_nsec())
}

/// Copies a file unless the copy is of the same size and time.
fn copy_file(from: &Path, to: &Path, meta: &Metadata) -> IoResult<()> {
    if let Ok(there) = fs::symlink_metadata(to) {
        if there.is_file() && there.len() == meta.len() && is_same_time(&there, meta) {
            return Ok(());
        }
        files::remove_all(to)?;
    }
    fs::copy(from, to)?;
    keep_time(to, meta)
}

/// Notes when the original was changed, unless that is so fresh that a later change could bear the same time.
fn keep_time(to: &Path, meta: &Metadata) -> IoResult<()> {
    let changed = meta.modified()?;
    let age = SystemTime::now().duration_since(changed);
    let noted = match age.is_ok_and(|age| age > FRESH) {
        true => changed,
        false => UNIX_EPOCH,
    };
    File::open(to)?.set_modified(noted)
}

fn remove_others(folder: &Path, there: &HashSet<OsString>) -> IoResult<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !there.contains(&entry.file_name()) {
            files::remove_all(&entry.path())?;
        }
    }
    Ok(())
}

/// Links or copies what is missing; packs before their indexes, without which git does not look at them.
fn lend(from: &Path, to: &Path) -> IoResult<bool> {
    let mut found = false;
    let mut entries: Vec<_> = fs::read_dir(from)?.collect::<IoResult<_>>()?;
    let is_index = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("idx"));
    entries.sort_by_key(|entry| is_index(&entry.file_name()));
    // A link that stands there would lead elsewhere.
    if !fs::symlink_metadata(to).is_ok_and(|meta| meta.is_dir()) {
        files::remove_all(to)?;
        fs::create_dir_all(to)?;
    }
    for entry in entries {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found |= lend(&from, &to)?;
        } else if kind.is_file() && fs::symlink_metadata(&to).is_err() {
            fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ()))?;
            found = true;
        }
    }
    Ok(found)
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    text::shell_word(path.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn make(root: &Path) -> Mirror {
        let common = root.join("repo/.git");
        for (name, text) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("config", "[core]\n"),
            ("logs/HEAD", "one\n"),
            ("objects/ab/cdef", "object"),
            ("objects/pack/p.pack", "pack"),
            ("objects/info/alternates", "/elsewhere\n"),
            ("modules/sm/objects/12/34", "of a submodule"),
            ("lfs/objects/ab/cd/abcd", "large"),
            ("evolve/lock", "1"),
            ("evolve/quarantine/s-1/a/b", "precious"),
        ] {
            write(&common.join(name), text);
        }
        symlink("config", common.join("link")).unwrap();
        Mirror {
            folder: root.join("state"),
            git_dir: common.clone(),
            common,
        }
    }

    fn write(file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Every file below a folder with its bytes.
    fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let name = path.strip_prefix(folder).unwrap().to_owned();
                        found.insert(name, fs::read(&path).unwrap());
                    }
                }
            }
        }
        found.remove(Path::new("evolve/lock"));
        found
    }

    #[test]
    fn a_refreshed_copy_is_what_the_original_is_whatever_came_and_went() {
        let root = tempfile::tempdir().unwrap();
        let mirror = make(root.path());
        mirror.refresh().unwrap();
        assert_eq!(files(&mirror.copy()), files(&mirror.common));
        assert!(!mirror.copy().join("evolve/lock").exists());
        let common = &mirror.common;
        write(&common.join("config"), "[user]\n");
        write(&common.join("objects/ab/new"), "new");
        write(&common.join("objects/cd/other"), "other");
        write(&common.join("lfs/objects/ab/cd/more"), "more");
        write(&common.join("evolve/quarantine/s-1/a/c"), "more");
        fs::remove_file(common.join("objects/pack/p.pack")).unwrap();
        fs::remove_dir_all(common.join("modules")).unwrap();
        fs::remove_file(common.join("logs/HEAD")).unwrap();
        write(&common.join("logs/HEAD/below"), "a folder now\n");
        mirror.refresh().unwrap();
        assert_eq!(files(&mirror.copy()), files(common));
    }

    #[test]
    fn what_git_adds_to_in_place_is_copied_and_only_objects_are_linked() {
        let root = tempfile::tempdir().unwrap();
        let mirror = make(root.path());
        mirror.refresh().unwrap();
        for name in ["config", "logs/HEAD", "objects/info/alternates"] {
            fs::write(mirror.common.join(name), "changed in place").unwrap();
            let copy = fs::read_to_string(mirror.copy().join(name)).unwrap();
            assert_ne!(copy, "changed in place", "{name}");
        }
        let inode = |folder: &Path| fs::metadata(folder.join("objects/ab/cdef")).unwrap().ino();
        assert_eq!(inode(&mirror.common), inode(&mirror.copy()));
    }

    #[test]
    fn objects_that_were_lost_are_lent() {
        let root = tempfile::tempdir().unwrap();
        let mirror = make(root.path());
        mirror.refresh().unwrap();
        let before = files(&mirror.common);
        fs::remove_dir_all(mirror.common.join("objects/ab")).unwrap();
        fs::remove_file(mirror.common.join("objects/pack/p.pack")).unwrap();
        assert!(mirror.lend_objects().unwrap());
        assert_eq!(files(&mirror.common), before);
        assert!(!mirror.lend_objects().unwrap());
    }
}
