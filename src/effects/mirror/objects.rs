//! Objects that somebody damaged or removed since they were copied are whole again afterwards. What git packed anew is not
//! lost, and what was touched without a change is left alone.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Result as IoResult};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use sha1::{Digest, Sha1};

use super::copy::{self, Noted, TRAILER};
use super::lend::{lend_bytes, lend_file};
use super::names::{self, OBJECTS};
use super::{MirroredDir, store};
use crate::effects::files;
use crate::effects::git;
use crate::effects::modes;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::objects::Objects;
use crate::error::{Error, Result};

/// The largest file, and the most objects in one, that are read to see whether another pack has them; what is larger is put
/// back without asking.
const ASKED_BYTES: u64 = 64 << 20;
const ASKED_OBJECTS: usize = 20_000;
/// The mode of an object where nothing is masked.
const MODE: u32 = 0o444;
/// The file with the process that has a damaged pack in its memory, and how long it can be.
const MAPPED: &str = "mapped";
const NOTE_LIMIT: u64 = 1 << 16;
/// The most bytes of an index of so many objects.
const INDEX_LIMIT: u64 = 16 << 20;

/// The objects of one git directory and of large files beside them, and their copies.
pub struct Keeper<'a> {
    place: &'a MirroredDir,
    noted: &'a Noted,
    /// Where the copies lie.
    folder: &'a Path,
}

/// What is not as it was copied, by its path below the git directory.
#[derive(Debug, Default)]
struct Found {
    gone: Vec<PathBuf>,
    touched: Vec<PathBuf>,
    /// Stands where a folder belongs.
    in_the_way: Vec<PathBuf>,
    /// Was a link, and leads there no more.
    unlinked: Vec<PathBuf>,
}

impl<'a> Keeper<'a> {
    /// Names what is to be looked after.
    pub fn of(place: &'a MirroredDir, noted: &'a Noted, folder: &'a Path) -> Keeper<'a> {
        Keeper {
            place,
            noted,
            folder,
        }
    }

    /// Makes everything whole that is not; returns how many files that were. Can be done again wherever it was cut short. Refuses to go
    /// on where something has no good copy (exit 3), when all else is whole.
    pub fn give_back(&self, quarantine: &mut Quarantine) -> Result<usize> {
        let mut found = Found::default();
        for folder in [OBJECTS, "lfs"] {
            self.look(Path::new(folder), true, &mut found)
                .map_err(|cause| Error::io("look at", &self.place.live.join(folder), cause))?;
        }
        self.look_at_bytes(&mut found);
        for path in &found.in_the_way {
            self.move_away(path, quarantine)?;
        }
        let (mut lent, mut without_copy) = (0, Vec::new());
        for path in &found.unlinked {
            self.link_again(path, quarantine)?;
            lent += 1;
        }
        for path in found.touched {
            let is_damaged = match self.is_damaged(&path) {
                // Somebody's git packed it anew meanwhile.
                Err(_) if !files::is_there(&self.place.live.join(&path)).unwrap_or(true) => {
                    found.gone.push(path);
                    continue;
                }
                is_damaged => is_damaged?,
            };
            if is_damaged && !self.has_sound_copy(&path)? {
                without_copy.push(path);
            } else if is_damaged {
                if is_in_pack(&path) {
                    self.note_mapped(&path)?;
                }
                self.move_away(&path, quarantine)?;
                self.lend(&path)?;
                lent += 1;
            }
        }
        self.refuse_mapped()?;
        let objects = Objects::at(&self.place.live.join(OBJECTS));
        for path in self.lost(found.gone, objects.ok().as_ref()) {
            if self.has_sound_copy(&path)? {
                self.lend(&path)?;
                lent += 1;
            } else {
                without_copy.push(path);
            }
        }
        match without_copy.split_first() {
            Some((first, others)) => Err(self.no_copy_of(first, others.len())),
            None => Ok(lent),
        }
    }

    /// Compares a folder of copies with its original.
    fn look(&self, below: &Path, may_be_there: bool, found: &mut Found) -> IoResult<()> {
        // What the user has behind a link is another repository's.
        if fs::symlink_metadata(self.place.copy.join(below)).is_ok_and(|it| it.is_symlink()) {
            return Ok(());
        }
        let entries = match fs::read_dir(self.place.copy.join(below)) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
            Err(cause) => return Err(cause),
        };
        let folder = fs::symlink_metadata(self.place.live.join(below)).ok();
        let is_there = may_be_there && folder.as_ref().is_some_and(Metadata::is_dir);
        if may_be_there && folder.is_some() && !is_there {
            found.in_the_way.push(below.to_owned());
        }
        for entry in entries {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if self.kept(&path).is_some() {
                continue;
            }
            if entry.file_type()?.is_dir() {
                // In there is nothing that git could not make anew, and what was set by the user is looked after elsewhere.
                if !path.ends_with("objects/info") {
                    self.look(&path, is_there, found)?;
                }
                continue;
            }
            if entry.file_type()?.is_symlink() {
                let is_as_it_was = is_there && self.leads_where_it_led(&path);
                found.unlinked.extend((!is_as_it_was).then_some(path));
                continue;
            }
            let live = match is_there {
                true => fs::symlink_metadata(self.place.live.join(&path)).ok(),
                false => None,
            };
            match live {
                None => found.gone.push(path),
                Some(live) => {
                    let name = self.place.name_of(&path);
                    if !self.noted.is_as_copied(&name, &live, &entry.metadata()?) {
                        found.touched.push(path);
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares loose objects of which only the bytes are kept with these.
    fn look_at_bytes(&self, found: &mut Found) {
        let meta = |path: &Path| fs::symlink_metadata(self.place.live.join(path)).ok();
        let is_there = meta(Path::new(OBJECTS)).is_some_and(|meta| meta.is_dir());
        let (mut folder, mut is_folder) = (PathBuf::new(), false);
        let begin = self.place.name_of(Path::new(OBJECTS)) + "/";
        for name in self.noted.store.names_of_bytes(&begin) {
            let path = Path::new(OBJECTS).join(&name[begin.len()..]);
            let parent = path.parent().unwrap_or(&path);
            if parent != folder {
                folder = parent.to_owned();
                let now = meta(parent).filter(|_| is_there);
                is_folder = now.as_ref().is_some_and(Metadata::is_dir);
                if now.is_some() && !is_folder {
                    found.in_the_way.push(folder.clone());
                }
            }
            match meta(&path).filter(|_| is_folder) {
                None => found.gone.push(path),
                Some(live) if live.is_file() && self.noted.store.is_of(name, &live) => {}
                Some(_) => found.touched.push(path),
            }
        }
    }

    /// Returns the name under which the bytes of an object are kept, if nothing else of it is.
    fn kept(&self, path: &Path) -> Option<String> {
        let name = self.place.name_of(path);
        Some(name).filter(|name| self.noted.store.has_bytes_alone(name))
    }

    /// Says whether a file that somebody touched no longer holds what its name stands for. Where only the copy is bad it is
    /// not.
    fn is_damaged(&self, path: &Path) -> Result<bool> {
        let name = self.place.name_of(path);
        if !names::is_named_by_content(&name) {
            return Ok(false);
        }
        let (live, kept) = (self.place.live.join(path), self.place.copy.join(path));
        let failed = |cause| Error::io("look at", &live, cause);
        let look = || -> IoResult<Option<bool>> {
            let is = fs::symlink_metadata(&live)?;
            if !is.is_file() {
                return Ok(Some(true));
            }
            modes::open_object(&live, MODE);
            if let Some(name) = self.kept(path) {
                let kept = self.noted.store.bytes_of(&name)?;
                let is_same =
                    kept.is_some_and(|(kept, _)| store::is_held(&live, &kept).unwrap_or(false));
                return Ok(Some(!is_same && !self.is_sound(&live, path)?));
            }
            modes::open_object(&kept, MODE);
            if !self.is_linked(path) && files::is_same(&live, &kept)? {
                copy::note_unchanged(&kept, &is)?;
                return Ok(Some(false));
            }
            let is_sound = self.is_sound(&live, path)?;
            let says_all = self.is_linked(path) || !is_in_pack(path);
            Ok((says_all || !is_sound).then_some(!is_sound))
        };
        if let Some(is_damaged) = look().map_err(failed)? {
            return Ok(is_damaged);
        }
        // Well-formed, and not what its copy is: an index can say of its pack what it likes.
        Ok(self.is_sound(&kept, path).map_err(failed)?
            || !git::pack::is_true(&live.with_extension("pack"))?)
    }

    /// Says whether the copy and the original are one file.
    fn is_linked(&self, path: &Path) -> bool {
        let id = |folder: &Path| {
            let meta = fs::symlink_metadata(folder.join(path)).ok()?;
            Some((meta.dev(), meta.ino()))
        };
        id(&self.place.live) == id(&self.place.copy)
    }

    /// Of files that are gone, returns those whose objects are not all there in other files.
    fn lost(&self, gone: Vec<PathBuf>, objects: Option<&Objects>) -> Vec<PathBuf> {
        let mut lost = Vec::new();
        let mut packs: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for path in gone {
            let ids = match is_in_pack(&path) {
                true => {
                    packs.entry(path.with_extension("")).or_default().push(path);
                    continue;
                }
                false => loose_id(&path).map(|id| vec![id]),
            };
            if !self.has_all(objects, ids, &path) {
                lost.push(path);
            }
        }
        for (pack, mut files) in packs {
            let has = |kind: &str| {
                files
                    .iter()
                    .any(|file| file.extension().is_some_and(|it| it == kind))
            };
            // The others are made anew from these.
            if !has("pack") && !has("idx") {
                continue;
            }
            let index = self.place.copy.join(pack.with_extension("idx"));
            if !self.has_all(objects, ids_of(&index), &pack.with_extension("pack")) {
                // Without its index git does not look at a pack.
                files.sort_by_key(|file| file.extension().is_some_and(|it| it == "idx"));
                lost.extend(files);
            }
        }
        lost
    }

    /// Says whether these objects are there in whole; reads each one.
    fn has_all(&self, objects: Option<&Objects>, ids: Option<Vec<String>>, path: &Path) -> bool {
        let size = match self.kept(path) {
            Some(name) => self.noted.store.length_of(&name),
            None => fs::symlink_metadata(self.place.copy.join(path)).map_or(0, |it| it.len()),
        };
        match (objects, ids) {
            (Some(objects), Some(ids)) if size <= ASKED_BYTES && ids.len() <= ASKED_OBJECTS => {
                ids.iter().all(|id| objects.hold(id))
            }
            (Some(_) | None, _) => false,
        }
    }

    /// Says whether the copy of something lost holds what its name stands for, or what was there before: of bytes it is known that they
    /// are those that were kept.
    fn has_sound_copy(&self, path: &Path) -> Result<bool> {
        let kept = self.place.copy.join(path);
        let is_sound = match self.kept(path) {
            Some(name) => self.noted.store.bytes_of(&name).map(|kept| kept.is_some()),
            // It may be one file with the original.
            None => {
                modes::open_object(&kept, MODE);
                self.is_sound(&kept, path)
            }
        };
        is_sound.map_err(|cause| Error::io("read", &kept, cause))
    }

    /// The error where something has no good copy, and more of it.
    fn no_copy_of(&self, path: &Path, others: usize) -> Error {
        let shown = self.place.shown(path);
        let (what, it) = match others {
            0 => (format!("{shown} was"), "it"),
            more => (format!("{shown} and {more} more were"), "them"),
        };
        Error::unsafe_repo(format!(
            "{what} damaged or removed while an agent worked, and there is no good copy of {it}"
        ))
        .hint(format!(
            "nothing was judged; put {it} back from a backup or another clone, then run evolve again; to go on without {it}, remove what is left of the copy of .git: `rm -rf {}`",
            super::way_back::quoted(self.folder)
        ))
    }

    /// Says whether a file holds what the name `path` stands for.
    fn is_sound(&self, file: &Path, path: &Path) -> IoResult<bool> {
        let name = self.place.name_of(path);
        if !names::is_named_by_content(&name) {
            return Ok(true);
        }
        if is_in_pack(path) {
            let noted = self
                .noted
                .linked
                .of(&name)
                .map(|note| note.trailer.as_str());
            return ends_in_own_digest(file, noted);
        }
        match loose_id(path) {
            Some(id) => is_object(file, &id),
            // A large file beside git's objects.
            None => is_sha256(file, path),
        }
    }

    /// Notes that this process has a damaged pack mapped into its memory, where it goes on being read.
    fn note_mapped(&self, path: &Path) -> Result<()> {
        let is_file = |meta: Metadata| meta.is_file();
        if !fs::symlink_metadata(self.place.live.join(path)).is_ok_and(is_file) {
            return Ok(());
        }
        let note = format!("{} {}", std::process::id(), self.place.shown(path));
        files::replace(&self.folder.join(MAPPED), note.as_bytes())
    }

    /// Refuses to go on in a process that has a damaged pack mapped (exit 3): to read it there can end the process.
    fn refuse_mapped(&self) -> Result<()> {
        let note = files::read_text(&self.folder.join(MAPPED), NOTE_LIMIT)?;
        match note.split_once(' ') {
            Some((pid, pack)) if pid == std::process::id().to_string() => Err(Error::unsafe_repo(
                format!("{pack} was damaged while an agent worked; it is whole again"),
            )
            .hint("nothing was judged; run evolve again: it settles the cycle first")),
            Some(_) | None => Ok(()),
        }
    }

    /// Says whether something is a link as its copy is.
    fn leads_where_it_led(&self, path: &Path) -> bool {
        let leads_to = |folder: &Path| fs::read_link(folder.join(path)).ok();
        leads_to(&self.place.live) == leads_to(&self.place.copy)
    }

    /// Makes a link of the user's again.
    fn link_again(&self, path: &Path, quarantine: &mut Quarantine) -> Result<()> {
        let live = self.place.live.join(path);
        if fs::symlink_metadata(&live).is_ok() {
            self.move_away(path, quarantine)?;
        }
        files::make_folder(live.parent().unwrap_or(&live))?;
        let target = fs::read_link(self.place.copy.join(path));
        target
            .and_then(|target| symlink(target, &live))
            .map_err(|cause| Error::io("restore", &live, cause))
    }

    fn move_away(&self, path: &Path, quarantine: &mut Quarantine) -> Result<()> {
        quarantine.take_from(&self.place.live, path, Path::new(&self.place.shown(path)))
    }

    fn lend(&self, path: &Path) -> Result<()> {
        let (from, to) = (self.place.copy.join(path), self.place.live.join(path));
        let kept = self.kept(path).map(|name| self.noted.store.bytes_of(&name));
        let lent = match kept.transpose().map(Option::flatten) {
            Ok(Some((bytes, mode))) => lend_bytes(&bytes, mode, &to),
            Ok(None) => lend_file(&from, &to),
            Err(cause) => Err(cause),
        };
        lent.map_err(|cause| Error::io("restore", &to, cause))
    }
}

/// Says whether a file is a pack or belongs to one.
fn is_in_pack(path: &Path) -> bool {
    let folder = path.parent();
    folder.is_some_and(|folder| folder.ends_with("objects/pack"))
}

/// Returns the id that a loose object's path stands for.
pub fn loose_id(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    if !folder.parent()?.ends_with("objects")
        || folder.components().any(|it| it.as_os_str() == "lfs")
    {
        return None;
    }
    Some(format!(
        "{}{}",
        folder.file_name()?.to_str()?,
        path.file_name()?.to_str()?
    ))
}

/// Returns the ids that an index of a pack lists; none where it is too large, of another version, or broken.
fn ids_of(index: &Path) -> Option<Vec<String>> {
    const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
    const FIRST: usize = 8 + 256 * 4;
    const LENGTH: usize = TRAILER as usize;
    let bytes = files::read_bounded(index, INDEX_LIMIT).ok()??;
    let count = bytes
        .get(FIRST - 4..FIRST)
        .filter(|_| bytes.starts_with(&MAGIC))?;
    let count = u32::from_be_bytes(count.try_into().ok()?) as usize;
    let ids = bytes.get(FIRST..FIRST + count.checked_mul(LENGTH)?)?;
    Some(ids.chunks_exact(LENGTH).map(hex).collect())
}

/// Says whether a loose object holds what its id stands for.
pub fn is_object(file: &Path, id: &str) -> IoResult<bool> {
    let file = File::open(file)?;
    let length = file.metadata()?.len();
    let mut digest = Sha1::new();
    let mut unpacked = ZlibDecoder::new(file);
    match read_in_parts(&mut unpacked, |part| digest.update(part)) {
        // Git reads none that has anything behind its end.
        Ok(()) => Ok(hex(&digest.finalize()) == id && unpacked.total_in() == length),
        Err(cause) => match cause.kind() {
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                Ok(false)
            }
            _ => Err(cause),
        },
    }
}

/// Says whether a file ends in the digest of all that is before, and in the one that was noted.
fn ends_in_own_digest(file: &Path, noted: Option<&str>) -> IoResult<bool> {
    let length = fs::metadata(file)?.len();
    if length <= TRAILER {
        return Ok(false);
    }
    let mut digest = Sha1::new();
    read_in_parts(File::open(file)?.take(length - TRAILER), |part| {
        digest.update(part)
    })?;
    let digest = hex(&digest.finalize());
    Ok(digest == copy::trailer(file)? && noted.is_none_or(|noted| noted == digest))
}

/// Says whether the name at the end of `path` is the SHA-256 of a file's bytes.
pub fn is_sha256(file: &Path, path: &Path) -> IoResult<bool> {
    let mut digest = sha2::Sha256::new();
    read_in_parts(File::open(file)?, |part| digest.update(part))?;
    let digest = hex(&digest.finalize());
    Ok(path.file_name().is_some_and(|name| name == digest.as_str()))
}

/// Writes bytes in hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_in_parts(mut from: impl Read, mut take: impl FnMut(&[u8])) -> IoResult<()> {
    let mut part = vec![0; 1 << 18];
    loop {
        match from.read(&mut part)? {
            0 => return Ok(()),
            read => take(&part[..read]),
        }
    }
}
