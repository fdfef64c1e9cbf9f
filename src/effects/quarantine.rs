//! Where files go that are in the way of an undo or a restore: moved there, and never written over. What was moved there before with
//! the same bytes is kept once, and a file larger than any of its kind is removed; both are told.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;

use crate::effects::files;
use crate::error::{Error, Kind, Result};
use crate::model::output::MOVED;
use crate::model::text;

/// The folder of the private directory in which it lies.
pub const FOLDER: &str = "quarantine";
/// How many bytes the quarantine of a repository holds, over all cycles.
const LIMIT: u64 = 1 << 30;
/// The bytes up to which it takes what can be made again.
const LIMIT_OF_MADE: u64 = LIMIT / 8;
/// The most bytes of a file that is held against an earlier one.
const COMPARED: u64 = 16 << 20;
/// How many files of a kind are named.
const SHOWN: usize = 20;
/// The longest path, in bytes, that something is moved to under its own name.
const LONGEST: usize = 3_800;

/// The quarantine of one cycle.
#[derive(Debug)]
pub struct Quarantine {
    folder: PathBuf,
    /// How many bytes all quarantines hold; looked at before the first move.
    held: Option<u64>,
    /// What was moved there, and where it is.
    pub moved: Vec<(String, PathBuf)>,
    /// Where what was moved under a name is.
    places: HashMap<String, Vec<PathBuf>>,
    /// What stayed where it is and has an earlier version there, as `path → where`.
    pub earlier: Vec<String>,
    /// What was removed because no file of its kind is that large.
    dropped: Vec<String>,
}

impl Quarantine {
    /// Opens the quarantine for a cycle of a session; nothing is created before something is moved.
    pub fn of(private: &Path, session: &str, cycle: u64) -> Quarantine {
        Quarantine {
            folder: private.join(FOLDER).join(format!("{session}-{cycle}")),
            held: None,
            moved: Vec::new(),
            places: HashMap::new(),
            earlier: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Moves a file or folder of the working tree away.
    pub fn take(&mut self, root: &Path, path: &[u8]) -> Result<()> {
        let path = Path::new(OsStr::from_bytes(path));
        self.take_from(root, path, path)
    }

    /// Moves a file or folder below `root` away, under another name. Of a file that was moved with the same bytes before, one is kept.
    pub fn take_from(&mut self, root: &Path, path: &Path, name: &Path) -> Result<()> {
        let from = root.join(path);
        self.make_own()?;
        self.require_room(size(&from), name)?;
        let to = self.free_name(name.as_os_str().as_bytes());
        let folder = to.parent().unwrap_or(&self.folder);
        files::make_folder(folder)?;
        if fs::rename(&from, &to).is_err() {
            // Another file system: copied first, removed only when the copy is complete.
            copy(&from, &to).map_err(|cause| Error::io("move to the quarantine", &from, cause))?;
            files::sync_folder(folder).map_err(|cause| Error::io("sync", folder, cause))?;
            remove(&from).map_err(|cause| Error::io("remove", &from, cause))?;
        }
        files::sync_folder(folder).map_err(|cause| Error::io("sync", folder, cause))?;
        let name = shown(name);
        let mut earlier = self.places.get(&name).into_iter().flatten();
        if earlier.any(|place| is_same(place, &to)) {
            // Compared only here, where nobody writes to it by its name any more.
            files::remove(&to)?;
            self.remove_empty(folder);
            return Ok(());
        }
        let places = self.places.entry(name.clone()).or_default();
        places.push(to.clone());
        self.moved.push((name, to));
        Ok(())
    }

    /// Removes a file that has more bytes than any of its kind has: whatever it is, nobody could read it there, and here it would
    /// leave no room for anything else.
    pub fn drop_oversize(&mut self, file: &Path, name: &Path, bytes: u64) -> Result<()> {
        files::remove(file)?;
        let words = format!("{} ({} MiB)", shown(name), bytes >> 20);
        self.dropped.push(words);
        Ok(())
    }

    /// Says whether a file can be taken that is not worth what room there is for others: it can be made again.
    pub fn has_room_for(&mut self, file: &Path) -> bool {
        let all = self.folder.parent().unwrap_or(&self.folder);
        let held = *self.held.get_or_insert_with(|| size(all));
        held + size(file) <= LIMIT_OF_MADE
    }

    /// Refuses what does not fit any more. Nothing is dropped to make room: what lies there may be somebody's only copy.
    fn require_room(&mut self, bytes: u64, name: &Path) -> Result<()> {
        let all = self.folder.parent().unwrap_or(&self.folder);
        let held = self.held.unwrap_or_else(|| size(all)) + bytes;
        if held > LIMIT {
            let error = format!(
                "{} is in the way and does not fit into the quarantine any more: {} MiB in {} are the limit",
                shown(name),
                LIMIT >> 20,
                shown(all)
            );
            return Err(Error::new(Kind::Human, error).hint(
                "look through that folder, remove what you do not need, and run evolve again: the cycle that was under way is settled first",
            ));
        }
        self.held = Some(held);
        Ok(())
    }

    /// Keeps the bytes of a file that nothing can be put in the place of, unless they are there from before.
    pub fn keep_bytes(&mut self, path: &[u8], bytes: &[u8]) -> Result<()> {
        let kept = self.folder.join(OsStr::from_bytes(path));
        if files::read_bounded(&kept, bytes.len() as u64)
            .is_ok_and(|it| it.as_deref() == Some(bytes))
        {
            return Ok(());
        }
        let place = self.place_for(path, bytes.len() as u64)?;
        files::replace(&place, bytes)
    }

    /// Says whether something lies here under a path already.
    pub fn holds(&self, path: &[u8]) -> bool {
        fs::symlink_metadata(self.folder.join(OsStr::from_bytes(path))).is_ok()
    }

    /// Says whether a file lies here under a path already, byte for byte.
    pub fn has(&self, path: &[u8], file: &Path) -> bool {
        is_same(&self.folder.join(OsStr::from_bytes(path)), file)
    }

    /// Keeps a copy of a file or folder that is gone from its place, unless one is there from before.
    pub fn keep_copy(&mut self, from: &Path, name: &Path) -> Result<()> {
        self.make_own()?;
        if fs::symlink_metadata(self.folder.join(name)).is_ok() {
            return Ok(());
        }
        let place = self.place_for(name.as_os_str().as_bytes(), size(from))?;
        // One that is cut short is not taken for it.
        let coming = self.folder.join("coming");
        files::remove_all(&coming).map_err(|cause| Error::io("remove", &coming, cause))?;
        files::make_folder(&self.folder)?;
        files::make_folder(place.parent().unwrap_or(&self.folder))?;
        let copied = copy(from, &coming).and_then(|()| fs::rename(&coming, &place));
        copied.map_err(|cause| Error::io("copy to the quarantine", from, cause))
    }

    /// Keeps what was staged of a file, which may be nowhere else.
    pub fn keep_staged(&mut self, path: &[u8], bytes: &[u8]) -> Result<()> {
        self.make_own()?;
        let name = Path::new(OsStr::from_bytes(path));
        self.require_room(bytes.len() as u64, name)?;
        let place = self.free_name(path);
        files::replace(&place, bytes)?;
        let name = format!("{}, as it was staged", shown(name));
        self.moved.push((name, place));
        Ok(())
    }

    /// Returns a place for an earlier version of a file, of so many bytes, that stays where it is.
    pub fn place_for(&mut self, path: &[u8], bytes: u64) -> Result<PathBuf> {
        self.make_own()?;
        self.require_room(bytes, Path::new(OsStr::from_bytes(path)))?;
        let place = self.free_name(path);
        self.earlier
            .push(format!("{} → {}", text::path(path), shown(&place)));
        Ok(place)
    }

    /// Removes what an agent put where the quarantine's folders belong, a link to elsewhere above all.
    fn make_own(&self) -> Result<()> {
        let all = self.folder.parent().unwrap_or(&self.folder);
        for folder in [all, &self.folder] {
            files::remove_unless_folder(folder)?;
        }
        Ok(())
    }

    /// Removes folders of this quarantine that hold nothing, from one upwards.
    fn remove_empty(&self, folder: &Path) {
        let own = folder.ancestors().take_while(|one| **one != self.folder);
        own.map_while(|folder| fs::remove_dir(folder).ok()).count();
    }

    /// Says what was done, for the record: each path once, with all places that it was moved to.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let mut places: HashMap<&str, Vec<String>> = HashMap::new();
        for (name, place) in &self.moved {
            places.entry(name).or_default().push(shown(place));
        }
        let names = self.moved.iter().map(|(name, _)| name.as_str());
        let moved = names.filter_map(move |name| {
            let places = places.remove(name)?;
            Some(format!("{name} → {}", places.join(", ")))
        });
        let earlier = self.earlier.iter();
        let dropped = self.dropped.iter();
        let moved = moved.map(|what| format!("{MOVED}{what}"));
        let earlier = earlier.map(|what| format!("as it was before the agent: {what}"));
        let dropped = dropped
            .map(|what| format!("removed, because no file of its kind is that large: {what}"));
        let few = |notes| few(notes, &self.folder);
        few(moved.collect())
            .chain(few(earlier.collect()))
            .chain(dropped)
    }

    fn free_name(&self, path: &[u8]) -> PathBuf {
        let mut path = Path::new(OsStr::from_bytes(path));
        if self.folder.as_os_str().len() + path.as_os_str().len() > LONGEST {
            // The note says where it came from.
            path = Path::new(path.file_name().unwrap_or_default());
        }
        let mut name = self.folder.join(path);
        let mut number = 1;
        while fs::symlink_metadata(&name).is_ok() || !parents_are_folders(&self.folder, &name) {
            number += 1;
            name = self.folder.join(format!("again-{number}")).join(path);
        }
        name
    }
}

/// Returns as many notes of a kind as are read, and how many more there are in the quarantine.
fn few(mut notes: Vec<String>, folder: &Path) -> impl Iterator<Item = String> {
    let more = notes.len().saturating_sub(SHOWN);
    notes.truncate(SHOWN);
    let more = (more > 0).then(|| format!("and {more} more, in {}", shown(folder)));
    notes.into_iter().chain(more)
}

/// Says whether two files are the same, byte for byte, as far as they are small enough to be read.
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(first), Ok(second)) = (fs::symlink_metadata(one), fs::symlink_metadata(other)) else {
        return false;
    };
    let is_alike = first.is_file()
        && second.is_file()
        && first.len() <= COMPARED
        && first.permissions() == second.permissions();
    is_alike && files::is_same(one, other).unwrap_or(false)
}

/// Returns how many bytes a file or a folder has.
pub fn size(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(&entry.path())).sum()
}

fn parents_are_folders(base: &Path, path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .take_while(|parent| parent.starts_with(base))
        .all(|parent| fs::symlink_metadata(parent).map_or(true, |meta| meta.is_dir()))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    if meta.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    } else if meta.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, to)
    } else if meta.is_file() {
        files::copy(from, to)
    } else {
        // There is nothing in a pipe, a socket or a device that could be lost: one pipe tells that something was there.
        Ok(nix::unistd::mkfifo(to, Mode::S_IRUSR)?)
    }
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

fn shown(path: &Path) -> String {
    text::path(path.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    use super::*;

    fn bytes_of(path: &Path) -> Vec<u8> {
        path.as_os_str().as_bytes().to_vec()
    }

    /// Makes a file in a fresh root and moves it to the quarantine; returns where it is now.
    fn moved(quarantine: &mut Quarantine, root: &Path, name: &Path, text: &str) -> PathBuf {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        quarantine.take(root, &bytes_of(name)).unwrap();
        assert!(!file.exists());
        quarantine.moved.last().unwrap().1.clone()
    }

    #[test]
    fn what_has_the_name_of_something_else_gets_a_place_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let private = root.path().join("private");
        let mut quarantine = Quarantine::of(&private, "s", 1);
        let mut places = Vec::new();
        for (name, text) in [
            ("a", "1"),
            ("a", "2"),
            ("a/b", "3"),
            ("a/b", "4"),
            ("a", "5"),
        ] {
            let place = moved(
                &mut quarantine,
                &root.path().join("tree"),
                Path::new(name),
                text,
            );
            fs::remove_dir_all(root.path().join("tree")).unwrap();
            places.push((place, text));
        }
        for (place, text) in &places {
            assert_eq!(&fs::read_to_string(place).unwrap(), text);
        }
    }

    #[test]
    fn what_was_moved_before_with_the_same_bytes_is_kept_once_and_each_path_is_told_once() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        let mut quarantine = Quarantine::of(&root.path().join("private"), "s", 1);
        for text in ["one", "one", "two", "one", "two"] {
            moved(&mut quarantine, &tree, Path::new("d/a"), text);
        }
        moved(&mut quarantine, &tree, Path::new("b"), "one");
        let place = root.path().join("private/quarantine/s-1");
        let at = |name: &str| place.join(name).display().to_string();
        assert_eq!(
            quarantine.notes().collect::<Vec<_>>(),
            [
                format!(
                    "moved out of the way: d/a → {}, {}",
                    at("d/a"),
                    at("again-2/d/a")
                ),
                format!("moved out of the way: b → {}", at("b")),
            ]
        );
        assert!(!place.join("again-3").exists());
    }

    #[test]
    fn the_longest_names_and_paths_find_a_place() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        let mut quarantine = Quarantine::of(&root.path().join("private"), "s", 1);
        let longest = "n".repeat(255);
        let place = moved(&mut quarantine, &tree, Path::new(&longest), "name");
        assert_eq!(fs::read_to_string(place).unwrap(), "name");
        let folder = PathBuf::from("d".repeat(200));
        let place = moved(&mut quarantine, &tree, &folder.join("file"), "folder");
        assert!(place.ends_with(folder.join("file")), "{place:?}");
        // As long as the system takes it there, and too long for the quarantine.
        let mut deep = tree.clone();
        while deep.as_os_str().len() < 4_090 - 2 * 100 {
            deep.push("d".repeat(100));
        }
        deep.push("f".repeat(4_090 - deep.as_os_str().len() - 1));
        let deep = deep.strip_prefix(&tree).unwrap();
        for text in ["one", "two"] {
            let place = moved(&mut quarantine, &tree, deep, text);
            assert_eq!(fs::read_to_string(place).unwrap(), text);
        }
    }

    #[test]
    fn the_same_bytes_with_another_mode_or_behind_a_link_are_another_version() {
        let root = tempfile::tempdir().unwrap();
        let (file, other) = (root.path().join("file"), root.path().join("other"));
        let mut quarantine = Quarantine::of(&root.path().join("private"), "s", 1);
        for mode in [0o644, 0o777, 0o644] {
            fs::write(&file, "text").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            quarantine.take(root.path(), b"file").unwrap();
        }
        fs::write(&other, "text").unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        quarantine.take(root.path(), b"file").unwrap();
        let mode = |place: &PathBuf| fs::symlink_metadata(place).unwrap().permissions().mode();
        let kept = quarantine.moved.iter().map(|(_, it)| mode(it));
        assert_eq!(kept.collect::<Vec<_>>(), [0o100_644, 0o100_777, 0o120_777]);
    }

    #[test]
    fn a_full_quarantine_takes_nothing_and_drops_nothing() {
        let root = tempfile::tempdir().unwrap();
        let (tree, private) = (root.path().join("tree"), root.path().join("private"));
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join("small"), "small").unwrap();
        let earlier = private.join("quarantine/earlier-1");
        fs::create_dir_all(&earlier).unwrap();
        // A file with nothing in it but its size.
        let large = fs::File::create(earlier.join("large")).unwrap();
        large.set_len(LIMIT - 4).unwrap();
        let error = Quarantine::of(&private, "s", 1).take(&tree, b"small");
        let error = error.unwrap_err();
        assert_eq!(error.kind, Kind::Human);
        assert!(error.message.starts_with("small is in the way"), "{error}");
        assert_eq!(fs::read_to_string(tree.join("small")).unwrap(), "small");
        large.set_len(LIMIT - 5).unwrap();
        Quarantine::of(&private, "s", 1)
            .take(&tree, b"small")
            .unwrap();
    }

    #[test]
    fn what_lies_on_another_file_system_is_there_as_it_was_and_gone_where_it_was() {
        let memory = Path::new("/dev/shm");
        let elsewhere = match memory.is_dir() {
            true => tempfile::tempdir_in(memory).unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        let private = tempfile::tempdir().unwrap();
        let folder = elsewhere.path().join("folder");
        fs::create_dir_all(folder.join("deep/empty")).unwrap();
        fs::write(folder.join("deep/file"), "text").unwrap();
        let run = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("deep/file"), run).unwrap();
        std::os::unix::fs::symlink("deep/file", folder.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("broken")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe"), Mode::S_IRWXU).unwrap();
        fs::write(elsewhere.path().join("file"), "alone").unwrap();
        let mut quarantine = Quarantine::of(private.path(), "s", 1);
        quarantine.take(elsewhere.path(), b"folder").unwrap();
        quarantine.take(elsewhere.path(), b"file").unwrap();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        let place = private.path().join("quarantine/s-1");
        assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "alone");
        let place = place.join("folder");
        assert_eq!(fs::read_to_string(place.join("link")).unwrap(), "text");
        let mode = fs::metadata(place.join("deep/file")).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o755);
        assert!(place.join("deep/empty").is_dir());
        assert_eq!(
            fs::read_link(place.join("broken")).unwrap(),
            Path::new("nowhere")
        );
        let pipe = fs::symlink_metadata(place.join("pipe")).unwrap();
        assert!(pipe.file_type().is_fifo());
    }
}
