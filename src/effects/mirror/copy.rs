//! Makes and refreshes the copy. The good bytes stay there when somebody writes to an object in place. Of loose objects only the
//! bytes are kept, beside the copy (`store`); refs and reflogs, of which there may be thousands, too, are hard links with their
//! bytes beside, and so are the objects of submodules, whose copies are opened as repositories. Where they cannot be linked they
//! are copies, like all else. Packs are clones that share their blocks where the file system can, else plain copies, from the
//! smallest up. What is beyond a limit is a hard link without its bytes, which takes no space.
//!
//! A copy of an object bears the time of the original's last change of state (`ctime`, which nobody can set) as its time of
//! modification, and so tells whether anybody touched the original since. For bytes and links that is noted beside. The same
//! holds for a folder of objects: as long as it bears that time, whatever is in the original has its copy.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::names::{
    OBJECTS, has_folders, in_order, is_left_out, is_loose, is_named_by_content, is_of_loose,
    is_of_objects, is_of_refs, is_own_loose,
};
use super::store::{self, Store};
use crate::effects::files;

/// How many bytes one refresh copies of objects that cannot be cloned, and of small files; what is beyond that is linked.
const COPY_LIMIT: u64 = 256 << 20;
/// From how many bytes on those of links are written anew: by then most are of files that are gone.
const STORE_LIMIT: u64 = 2 * COPY_LIMIT;
/// A time of change that is not older than that may be shared by two versions.
const FRESH: Duration = Duration::from_secs(2);
/// How many bytes a digest has with which packs and their indexes end.
pub const TRAILER: u64 = 20;

/// What was noted of originals that are linked and not copied, nor their bytes, by their path below the git directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Linked(BTreeMap<String, Note>);

/// What told a linked original from another version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Size, inode and time of the last change of state.
    stamp: String,
    /// The last bytes, in hex: for a pack or an index they are a digest of all others.
    pub trailer: String,
}

impl Linked {
    /// Reads the notes of a copy; none if there are none.
    pub fn read(folder: &Path) -> Linked {
        let text = files::read(&folder.join("linked")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write(&self, folder: &Path) -> IoResult<()> {
        fs::write(folder.join("linked"), serde_json::to_vec(self)?)
    }

    /// Returns what was noted of one file.
    pub fn of(&self, name: &str) -> Option<&Note> {
        self.0.get(name)
    }

    /// Says whether a linked original is what it was when that was noted.
    pub fn is_of(&self, name: &str, original: &Metadata) -> bool {
        self.of(name)
            .is_some_and(|note| note.stamp == stamp(original))
    }
}

/// All that is noted beside one copy.
#[derive(Debug)]
pub struct Noted {
    /// Of links.
    pub linked: Linked,
    /// The bytes of links.
    pub store: Store,
}

impl Noted {
    /// Reads what stands beside a copy.
    pub fn read(folder: &Path) -> IoResult<Noted> {
        Ok(Noted {
            linked: Linked::read(folder),
            store: Store::read(folder)?,
        })
    }

    /// Says whether nobody touched an original since its copy was made.
    pub fn is_as_copied(&self, name: &str, original: &Metadata, copy: &Metadata) -> bool {
        if is_one_file(original, copy) {
            return self.store.is_of(name, original) || self.linked.is_of(name, original);
        }
        original.is_file() && original.len() == copy.len() && is_as_copied(original, copy)
    }
}

/// Says whether nobody changed an original since its copy was made, by its last change of state.
pub fn is_as_copied(original: &Metadata, copy: &Metadata) -> bool {
    (original.ctime(), original.ctime_nsec()) == (copy.mtime(), copy.mtime_nsec())
}

fn is_one_file(one: &Metadata, other: &Metadata) -> bool {
    (one.ino(), one.dev()) == (other.ino(), other.dev())
}

fn stamp(meta: &Metadata) -> String {
    let (seconds, rest) = (meta.ctime(), meta.ctime_nsec());
    format!("{} {} {seconds}.{rest}", meta.len(), meta.ino())
}

/// Returns the last bytes of a file in hex.
pub fn trailer(file: &Path) -> IoResult<String> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRAILER)))?;
    let mut bytes = Vec::new();
    file.take(TRAILER).read_to_end(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a git directory is copied for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// To give back from it.
    ToLend,
    /// To be opened as a repository, too.
    ToOpen,
}

/// Brings the copy `to` of the git directory `common` up to date; notes of links lie in `folder`. What refers to objects goes
/// before the objects, so that none is missing that somebody stores meanwhile.
pub fn refresh(common: &Path, to: &Path, folder: &Path, purpose: Purpose) -> IoResult<()> {
    let mut noted = Noted::read(folder)?;
    if noted.store.length() > STORE_LIMIT {
        noted.store.clear()?;
    }
    let linked = noted.linked.clone();
    let mut work = Work {
        noted,
        purpose,
        later: Vec::new(),
        copied: 0,
        cannot_clone: false,
        cannot_link: false,
    };
    work.copy_folder(common, to, "", false)?;
    let mut later = std::mem::take(&mut work.later);
    while let Some((from, to, name)) = later.pop() {
        work.copy_folder(&from, &to, &name, true)?;
        later.append(&mut work.later);
    }
    work.noted.store.finish()?;
    if work.noted.linked != linked {
        work.noted.linked.0.retain(|name, _| to.join(name).exists());
        work.noted.linked.write(folder)?;
    }
    Ok(())
}

/// Notes when the state of an object, or of a folder of them, was last changed as the time of its copy.
pub fn note_unchanged(copy: &Path, original: &Metadata) -> IoResult<()> {
    let seconds = u64::try_from(original.ctime()).unwrap_or(0);
    let nanos = u32::try_from(original.ctime_nsec()).unwrap_or(0);
    note_time(copy, UNIX_EPOCH + Duration::new(seconds, nanos))
}

/// One refresh.
struct Work {
    purpose: Purpose,
    /// Folders of objects, which come last: from, to, name.
    later: Vec<(PathBuf, PathBuf, String)>,
    /// How many bytes were copied that count.
    copied: u64,
    /// The file system does not clone files.
    cannot_clone: bool,
    /// Nor can files be linked there.
    cannot_link: bool,
    noted: Noted,
}

impl Work {
    /// Makes `to` what `from` is. `name` is the path below the git directory.
    fn copy_folder(
        &mut self,
        from: &Path,
        to: &Path,
        name: &str,
        is_unchanging: bool,
    ) -> IoResult<()> {
        let meta = fs::symlink_metadata(from)?;
        if self.purpose == Purpose::ToLend && is_of_loose(name) {
            return self.keep_loose(from, &meta, to, name);
        }
        let is_new = !fs::symlink_metadata(to).is_ok_and(|meta| meta.is_dir());
        if is_new {
            files::remove_all(to)?;
            fs::create_dir_all(to)?;
        } else if is_unchanging
            && !self.noted.store.is_torn()
            && is_as_copied(&meta, &fs::symlink_metadata(to)?)
        {
            // No file came or went, and files of such folders do not change.
            if has_folders(name) {
                self.copy_folders_in(from, to, name)?;
                // A folder may have been made in it.
                note_unchanged(to, &meta)?;
            }
            return Ok(());
        }
        let there = self.copy_entries(from, to, name, is_unchanging)?;
        if !is_new {
            remove_others(to, &there)?;
        }
        // The time says that all is there.
        self.noted.store.flush()?;
        match is_unchanging {
            true => note_unchanged(to, &meta),
            false => keep_time(to, &meta),
        }
    }

    /// Keeps the loose objects of one folder. The copy has such a folder only for what is too large to be kept as bytes.
    fn keep_loose(&mut self, from: &Path, meta: &Metadata, to: &Path, name: &str) -> IoResult<()> {
        let store = &self.noted.store;
        if !store.is_torn() && store.is_of_folder(name, meta) {
            return Ok(());
        }
        let there = self.copy_entries(from, to, name, true)?;
        if fs::symlink_metadata(to).is_ok_and(|meta| meta.is_dir()) {
            remove_others(to, &there)?;
        }
        let store = &mut self.noted.store;
        store.forget_gone(name, |file| there.contains(OsStr::new(file)))?;
        match files::is_settled((meta.ctime(), meta.ctime_nsec()), FRESH) {
            true => store.note_folder(name, meta),
            false => Ok(()),
        }
    }

    /// Copies what is in a folder; returns the names.
    fn copy_entries(
        &mut self,
        from: &Path,
        to: &Path,
        name: &str,
        is_unchanging: bool,
    ) -> IoResult<HashSet<OsString>> {
        let mut there = HashSet::new();
        for file in in_order(from, name)? {
            let below = match name.is_empty() {
                true => file.to_string_lossy().into_owned(),
                false => format!("{name}/{}", file.to_string_lossy()),
            };
            if is_left_out(&below) {
                continue;
            }
            let (from, to) = (from.join(&file), to.join(&file));
            match self.copy_entry(&from, &to, &below, is_unchanging) {
                // Git removes temporary files at any time.
                Err(cause) if cause.kind() == ErrorKind::NotFound && !from.exists() => {
                    files::remove_all(&to)?;
                    continue;
                }
                Err(cause) => return Err(cause),
                Ok(()) => {}
            }
            there.insert(file);
        }
        if self.purpose == Purpose::ToLend && name == OBJECTS {
            let is_there = |folder: &str| there.contains(OsStr::new(folder));
            self.noted.store.forget_gone(name, is_there)?;
        }
        Ok(there)
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

    fn copy_entry(
        &mut self,
        from: &Path,
        to: &Path,
        name: &str,
        is_unchanging: bool,
    ) -> IoResult<()> {
        let meta = fs::symlink_metadata(from)?;
        if meta.is_dir() {
            if !is_unchanging && is_of_objects(name) {
                self.later
                    .push((from.to_owned(), to.to_owned(), name.to_owned()));
                return Ok(());
            }
            // In there are files that git adds to in place.
            let is_unchanging = is_unchanging && !name.ends_with("objects/info");
            return self.copy_folder(from, to, name, is_unchanging);
        }
        if meta.is_symlink() {
            files::remove_all(to)?;
            self.noted.store.forget_gone(name, |_| false)?;
            fs::create_dir_all(to.parent().unwrap_or(to))?;
            return symlink(fs::read_link(from)?, to);
        }
        match (meta.is_file(), is_unchanging) {
            (false, _) => Ok(()),
            (true, false) => self.copy_file(from, &meta, to, name),
            (true, true) => self.keep_file(from, &meta, to, name),
        }
    }

    /// Copies a file unless the copy is of the same version. Small ones of which there may be thousands are linked at first;
    /// what changes becomes a copy.
    fn copy_file(&mut self, from: &Path, meta: &Metadata, to: &Path, name: &str) -> IoResult<()> {
        match fs::symlink_metadata(to) {
            Ok(there) if is_one_file(&there, meta) => {
                if self.noted.store.is_of(name, meta) {
                    return Ok(());
                }
            }
            Ok(there) => {
                let is_same = there.is_file() && there.len() == meta.len();
                if is_same && is_same_time(&there, meta) {
                    return Ok(());
                }
            }
            Err(_) if is_of_refs(name) && self.link(from, meta, to, name)? => return Ok(()),
            Err(_) => {}
        }
        self.noted.store.forget(name)?;
        files::remove_all(to)?;
        fs::copy(from, to)?;
        keep_time(to, meta)
    }

    /// Copies a file that does not change once it is written. A copy that is there stays: it is what was there first.
    fn keep_file(&mut self, from: &Path, meta: &Metadata, to: &Path, name: &str) -> IoResult<()> {
        let is_of_bytes = self.purpose == Purpose::ToLend && is_own_loose(name);
        if is_of_bytes && self.keep_bytes(from, meta, to, name)? {
            return Ok(());
        }
        match fs::symlink_metadata(to) {
            Ok(there) if self.noted.is_as_copied(name, meta, &there) => return Ok(()),
            Ok(there) if there.is_file() && is_named_by_content(name) => {
                return self.note_again(from, to, name);
            }
            Ok(_) => files::remove_all(to)?,
            // A folder of loose objects is made for the first that has to be a file.
            Err(_) => fs::create_dir_all(to.parent().unwrap_or(to))?,
        }
        if is_loose(name) && self.link(from, meta, to, name)? {
            return Ok(());
        }
        self.noted.store.forget(name)?;
        if self.clone_file(from, to)? {
            return note_unchanged(to, meta);
        }
        if self.copied + meta.len() <= COPY_LIMIT {
            self.copied += meta.len();
            fs::copy(from, to)?;
            return note_unchanged(to, meta);
        }
        match fs::hard_link(from, to) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Err(cause),
            Err(cause) => {
                return Err(IoError::other(format!(
                    "its objects cannot be linked there ({cause}), and they are more than {} MiB",
                    COPY_LIMIT >> 20
                )));
            }
        }
        // A link more is a change of state.
        let note = Note {
            stamp: stamp(&fs::symlink_metadata(from)?),
            trailer: trailer(from)?,
        };
        self.noted.linked.0.insert(name.to_owned(), note);
        Ok(())
    }

    /// Keeps the bytes of a loose object; false where it is a file in the copy, or has to be one. Bytes that are there stay: they are
    /// what was there first.
    fn keep_bytes(
        &mut self,
        from: &Path,
        meta: &Metadata,
        to: &Path,
        name: &str,
    ) -> IoResult<bool> {
        if self.noted.store.has_bytes_alone(name) {
            if !self.noted.store.is_of(name, meta) {
                self.noted.store.note_touched(name, from)?;
            }
            return Ok(true);
        }
        if !self.has_room(meta.len()) || fs::symlink_metadata(to).is_ok() {
            return Ok(false);
        }
        self.copied += self.noted.store.add_bytes_alone(name, from)?;
        Ok(true)
    }

    /// Notes what is missing about a copy of an object that is there.
    fn note_again(&mut self, from: &Path, to: &Path, name: &str) -> IoResult<()> {
        let (meta, there) = (fs::symlink_metadata(from)?, fs::symlink_metadata(to)?);
        if !is_one_file(&meta, &there) {
            return match files::is_same(from, to)? {
                true => note_unchanged(to, &meta),
                false => Ok(()),
            };
        }
        // A refresh was cut short after the link was made, or what it wrote was lost.
        let has_note = self.noted.store.has(name) || self.noted.linked.of(name).is_some();
        if !has_note && self.has_room(meta.len()) {
            self.copied += self.noted.store.add(name, to)?;
        }
        Ok(())
    }

    /// Links a small file and keeps its bytes; false where that cannot be.
    fn link(&mut self, from: &Path, meta: &Metadata, to: &Path, name: &str) -> IoResult<bool> {
        let is_exact = !name.contains(char::REPLACEMENT_CHARACTER);
        if self.cannot_link || !is_exact || !self.has_room(meta.len()) {
            return Ok(false);
        }
        match fs::hard_link(from, to) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Err(cause),
            Err(_) => {
                self.cannot_link = true;
                return Ok(false);
            }
        }
        self.copied += self.noted.store.add(name, to)?;
        Ok(true)
    }

    fn has_room(&self, length: u64) -> bool {
        length <= store::FILE_LIMIT && self.copied + length <= COPY_LIMIT
    }

    /// Makes a copy that shares its blocks with the original until either is written to; false where that cannot be.
    fn clone_file(&mut self, from: &Path, to: &Path) -> IoResult<bool> {
        if self.cannot_clone {
            return Ok(false);
        }
        let original = File::open(from)?;
        let copy = File::create_new(to)?;
        if !shares_blocks(&copy, &original) {
            self.cannot_clone = true;
            fs::remove_file(to)?;
            return Ok(false);
        }
        copy.set_permissions(original.metadata()?.permissions())?;
        Ok(true)
    }
}

#[cfg(target_os = "linux")]
fn shares_blocks(copy: &File, original: &File) -> bool {
    rustix::fs::ioctl_ficlone(copy, original).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}

fn is_same_time(one: &Metadata, other: &Metadata) -> bool {
    (one.mtime(), one.mtime_nsec()) == (other.mtime(), other.mtime_nsec())
}

/// Notes when the original was changed.
fn keep_time(to: &Path, meta: &Metadata) -> IoResult<()> {
    note_time(to, meta.modified()?)
}

/// Notes a time of change, unless that is so fresh that a later change could bear the same time.
fn note_time(to: &Path, changed: SystemTime) -> IoResult<()> {
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
