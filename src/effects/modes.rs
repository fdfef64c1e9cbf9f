//! Modes by which files and folders are shut: whoever runs an agent as a normal user is shut out himself where it takes the
//! rights of the owner away. They are given back before anything else is looked at: folders that were there before the agent, and
//! files that were shut before it, get exactly the mode that they had, everything else what its owner needs. Only what belongs to this user is touched, and no
//! link is followed.

mod git_dir;
mod shared;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};
use nix::unistd::{AccessFlags, access, geteuid};

use crate::effects::files::is_beneath;
use crate::effects::near::Seen;
use crate::error::{Error, Result};
use crate::model::text;

pub use git_dir::{open_copies, open_git_dir};
use shared::Shared;

/// What the owner needs of a folder.
pub const FOLDER: u32 = 0o700;
/// What the owner needs of a file that is written to in place.
const FILE: u32 = 0o600;
/// What the owner needs of a file that is only read.
const READ: u32 = 0o400;
/// The bits of a mode.
const BITS: u32 = 0o7777;
/// What tells a file from a folder where both are written down (`S_IFREG`).
const IS_FILE: u32 = 0o100_000;
/// How many seconds a change of state may seem to be older than it is: file systems count coarser than clocks.
const SLACK: i64 = 2;
/// How many names a note lists.
const SHOWN: usize = 5;

/// Folders below a root, that itself among them, with their modes, and the files there that are shut to their owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// By path in bytes, which are compared faster than paths are; a folder comes before what is in it.
    modes: BTreeMap<Vec<u8>, u32>,
    /// By which inodes they were folders. A device may have another number when the machine starts again.
    inodes: BTreeMap<Vec<u8>, u64>,
    /// Files that their owner may not read or not write to, with their modes.
    files: BTreeMap<Vec<u8>, u32>,
    /// Those that cannot be looked into.
    shut: Vec<PathBuf>,
}

impl Folders {
    /// Notes the mode of one of them.
    pub fn note(&mut self, root: &Path, path: &Path) {
        let full = root.join(path);
        let Ok(meta) = fs::symlink_metadata(&full) else {
            return;
        };
        let mode = meta.mode() & BITS;
        let is_usual = is_own(&meta) && mode & FOLDER == FOLDER;
        if !is_usual && access(&full, AccessFlags::R_OK | AccessFlags::X_OK).is_err() {
            self.shut.push(path.to_owned());
        }
        let path = path.as_os_str().as_bytes();
        self.modes.insert(path.to_vec(), mode);
        self.inodes.insert(path.to_vec(), meta.ino());
    }

    /// Notes the mode of a file, if that keeps its owner from reading it or writing to it.
    pub fn note_file(&mut self, root: &Path, path: &Path) {
        let meta = fs::symlink_metadata(root.join(path));
        if let Ok(meta) = meta {
            self.note_seen(path.as_os_str().as_bytes(), Seen::of(&meta));
        }
    }

    /// Does the same, by what was seen of it.
    pub fn note_seen(&mut self, path: &[u8], seen: Seen) {
        let is_own = || seen.owner == geteuid().as_raw();
        if seen.is_file() && seen.mode & FILE != FILE && is_own() {
            self.files.insert(path.to_vec(), seen.mode & BITS);
        }
    }

    /// Returns those that are not in one of the folders `ignored`, whose names end with a slash.
    pub fn without(&self, ignored: &[Vec<u8>]) -> Folders {
        let ignored: HashSet<&[u8]> = ignored
            .iter()
            .filter_map(|path| path.strip_suffix(b"/"))
            .collect();
        let counts = |path: &[u8]| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut above = slashes.map(|(index, _)| &path[..index]).chain([path]);
            ignored.is_empty() || !above.any(|it| ignored.contains(it))
        };
        let modes = self.modes.iter().filter(|(path, _)| counts(path));
        let inodes = self.inodes.iter().filter(|(path, _)| counts(path));
        let shut = self.shut.iter();
        Folders {
            inodes: inodes.map(|(path, inode)| (path.clone(), *inode)).collect(),
            modes: modes.map(|(path, mode)| (path.clone(), *mode)).collect(),
            files: self.files.clone(),
            shut: shut
                .filter(|it| counts(it.as_os_str().as_bytes()))
                .cloned()
                .collect(),
        }
    }

    /// Returns those that cannot be looked into.
    pub fn shut(&self) -> &[PathBuf] {
        &self.shut
    }

    /// Says whether a folder is one of them.
    pub fn has(&self, path: &Path) -> bool {
        self.modes.contains_key(path.as_os_str().as_bytes())
    }

    /// Says whether a file is one of those that were shut.
    pub fn has_file(&self, path: &Path) -> bool {
        self.files.contains_key(path.as_os_str().as_bytes())
    }

    /// Says whether a folder below a root has the mode that was noted.
    pub fn is_as_noted(&self, root: &Path, path: &Path) -> bool {
        let noted = self.modes.get(path.as_os_str().as_bytes());
        noted.is_some_and(|noted| {
            fs::symlink_metadata(root.join(path)).is_ok_and(|meta| meta.mode() & BITS == *noted)
        })
    }

    /// Returns what says of one file below a root after the other whether a folder on the way to it is another one than was noted, or
    /// was not noted; of none where no inode is known.
    pub fn exchanged(&self, root: &Path) -> impl FnMut(&[u8]) -> bool {
        let mut known: HashMap<Vec<u8>, bool> = HashMap::new();
        move |file| {
            let slashes = file.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut above = slashes.map(|(index, _)| &file[..index]);
            let mut is_other = |folder: &[u8]| {
                if let Some(is_other) = known.get(folder) {
                    return *is_other;
                }
                let now = fs::symlink_metadata(root.join(OsStr::from_bytes(folder)));
                let is_other = self.inodes.get(folder) != now.ok().map(|meta| meta.ino()).as_ref();
                known.insert(folder.to_vec(), is_other);
                is_other
            };
            !self.inodes.is_empty() && above.any(&mut is_other)
        }
    }

    /// Returns them as bytes: a mode in octal digits, of a folder its inode behind a colon, and a path for each, ended by a NUL.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let files = self.files.iter().map(|(path, mode)| (path, mode | IS_FILE));
        let folders = self.modes.iter().map(|(path, mode)| (path, *mode));
        let mut inodes = self.inodes.iter().peekable();
        for (path, mode) in folders.chain(files) {
            bytes.extend_from_slice(format!("{mode:o}").as_bytes());
            // Both are in the same order.
            if let Some((_, inode)) = inodes.next_if(|(one, _)| *one == path) {
                bytes.extend_from_slice(format!(":{inode}").as_bytes());
            }
            bytes.push(b' ');
            bytes.extend_from_slice(path);
            bytes.push(0);
        }
        bytes
    }

    /// Reads them from bytes.
    pub fn from_bytes(bytes: &[u8]) -> Folders {
        let entry = |entry: &[u8]| {
            let space = entry.iter().position(|byte| *byte == b' ')?;
            let digits = std::str::from_utf8(&entry[..space]).ok()?;
            // An older evolve noted no inode.
            let (mode, inode) = digits.split_once(':').unwrap_or((digits, ""));
            let path = entry[space + 1..].to_vec();
            let mode = u32::from_str_radix(mode, 8).ok()?;
            Some((path, mode, inode.parse().ok()))
        };
        let mut folders = Folders::default();
        for (path, mode, inode) in bytes.split(|byte| *byte == 0).filter_map(entry) {
            if mode & IS_FILE != 0 {
                folders.files.insert(path, mode & BITS);
                continue;
            }
            if let Some(inode) = inode {
                folders.inodes.insert(path.clone(), inode);
            }
            folders.modes.insert(path, mode);
        }
        folders
    }

    /// Gives each one that is there its mode back; returns those that had another.
    pub fn give_back(&self, root: &Path) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        let mut gone = Gone::default();
        for (path, mode) in &self.modes {
            if gone.is_above(path) {
                continue;
            }
            let below = Path::new(OsStr::from_bytes(path));
            let full = root.join(below);
            match fs::symlink_metadata(&full) {
                Ok(meta) if meta.is_dir() => {
                    let is_changed = meta.mode() & BITS != *mode && is_own(&meta);
                    if is_changed && set(&full, *mode) {
                        changed.push(below.to_owned());
                    }
                }
                // What lies behind a link is somebody else's.
                Ok(_) | Err(_) if path.is_empty() => break,
                Ok(_) | Err(_) => gone.add(path),
            }
        }
        changed.extend(self.give_files_back(root));
        changed
    }

    /// Gives the files that were shut their modes back. A change of who may run one is left to git, unless the file cannot be read.
    fn give_files_back(&self, root: &Path) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, mode) in &self.files {
            let below = Path::new(OsStr::from_bytes(path));
            let file = root.join(below);
            let Ok(meta) = fs::symlink_metadata(&file) else {
                continue;
            };
            let may_run = |mode: u32| mode & 0o111 != 0;
            let is_unreadable = meta.mode() & READ < mode & READ;
            let is_meant = is_unreadable || may_run(meta.mode()) == may_run(*mode);
            if is_meant && is_beneath(root, path) && give_own(&file, *mode) {
                changed.push(below.to_owned());
            }
        }
        changed
    }

    /// Makes those again that are gone, and that are `wanted`, with the modes that they had.
    pub fn make_missing(&self, root: &Path, wanted: &dyn Fn(&Path) -> bool) {
        let mut gone = Gone::default();
        for (path, mode) in &self.modes {
            if gone.is_above(path) {
                continue;
            }
            let below = Path::new(OsStr::from_bytes(path));
            let full = root.join(below);
            let is_there = fs::symlink_metadata(&full).map(|meta| meta.is_dir());
            let is_made = || wanted(below) && fs::create_dir(&full).is_ok() && set(&full, *mode);
            match is_there {
                Ok(true) => {}
                Err(_) if is_made() => {}
                // Nothing is made behind a link, nor below a folder that is left away.
                Ok(false) | Err(_) => gone.add(path),
            }
        }
    }

    /// Opens those to their owner that were shut before, so that files in them can be put back; says whether there are any.
    pub fn open(&self, root: &Path) -> bool {
        let shut = self
            .modes
            .iter()
            .filter(|(_, mode)| *mode & FOLDER != FOLDER);
        let mut is_any = false;
        for (path, _) in shut {
            let path = Path::new(OsStr::from_bytes(path));
            let above = path.ancestors().skip(1);
            let mut way = above.filter(|it| !it.as_os_str().is_empty());
            let is_folder =
                |it: &Path| fs::symlink_metadata(root.join(it)).is_ok_and(|it| it.is_dir());
            is_any |= way.all(is_folder) && open_folder(&root.join(path));
        }
        is_any
    }
}

/// Folders that are gone, and all below them with them.
#[derive(Default)]
struct Gone<'a>(BTreeSet<&'a [u8]>);

impl<'a> Gone<'a> {
    fn add(&mut self, path: &'a [u8]) {
        self.0.insert(path);
    }

    fn is_above(&self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes
            .into_iter()
            .any(|(index, _)| self.0.contains(&path[..index]))
    }
}

/// What was done to modes, by names for people.
#[derive(Debug, Default)]
pub struct Done {
    /// What has exactly the mode again that it had.
    as_before: BTreeSet<String>,
    /// What was shut, and is open to its owner.
    opened: BTreeSet<String>,
}

impl Done {
    /// Notes what was opened below a place and what has its mode again; the name of the place is empty for the root of the tree.
    /// What was `known` there has its mode again, too.
    pub fn note(
        &mut self,
        place: &str,
        known: &Folders,
        opened: Vec<PathBuf>,
        changed: Vec<PathBuf>,
    ) {
        let shown = |path: PathBuf| {
            let shown = Path::new(place).join(path);
            let shown = text::clean_line(&shown.to_string_lossy());
            match shown.trim_end_matches('/') {
                "" => ".".to_owned(),
                shown => shown.to_owned(),
            }
        };
        let (again, opened): (Vec<_>, Vec<_>) = opened.into_iter().partition(|it| known.has(it));
        self.opened.extend(opened.into_iter().map(shown));
        let changed = again.into_iter().chain(changed);
        self.as_before.extend(changed.map(shown));
    }

    /// Says it, for record and screen.
    pub fn notes(&self) -> Vec<String> {
        let opened: Vec<_> = self.opened.iter().cloned().collect();
        let as_before: Vec<_> = self.as_before.iter().cloned().collect();
        let lists = [
            ("file modes were changed and are as before", as_before),
            (
                "what was shut to its owner by its mode is open again",
                opened,
            ),
        ];
        let said = lists.iter().filter(|(_, list)| !list.is_empty());
        said.map(|(what, list)| format!("{what}: {}", text::some_of(list, SHOWN)))
            .collect()
    }
}

/// Opens a folder to its owner; says whether it was shut.
pub fn open_folder(folder: &Path) -> bool {
    is_shut(folder)
        && fs::symlink_metadata(folder).is_ok_and(|meta| set(folder, meta.mode() & BITS | FOLDER))
}

/// Says whether a folder is one's own and lacks what its owner needs.
pub fn is_shut(folder: &Path) -> bool {
    let shut = |meta: Metadata| meta.is_dir() && is_own(&meta) && meta.mode() & FOLDER != FOLDER;
    fs::symlink_metadata(folder).is_ok_and(shut)
}

/// Lets the owner read a file; says whether that was denied. `usual` is the mode of such files where nothing is masked.
pub fn open_to_read(file: &Path, usual: u32) -> bool {
    open_file(file, usual, READ, Shared::ForOwner)
}

/// The same for a file of git's objects or in `evolve`'s copy of them, which may be one file.
pub fn open_object(file: &Path, usual: u32) -> bool {
    open_file(file, usual, READ, Shared::AsOne)
}

/// Lets the owner read a file and write to it; says whether that was denied.
pub fn open_to_write(file: &Path, usual: u32) -> bool {
    open_file(file, usual, FILE, Shared::ForOwner)
}

/// Opens a file to its owner, if that lacks what is needed, with the mode that it would have if it were written anew: what
/// was masked then is taken from its folder.
fn open_file(file: &Path, usual: u32, needed: u32, shared: Shared) -> bool {
    let shut = |meta: &Metadata| meta.is_file() && is_own(meta) && meta.mode() & needed != needed;
    let Some(meta) = fs::symlink_metadata(file).ok().filter(shut) else {
        return false;
    };
    let folder = file.parent().map(fs::symlink_metadata);
    let mask = folder
        .and_then(|meta| meta.ok())
        .map_or(FILE, |meta| meta.mode());
    let anew = usual & mask | needed;
    match (is_shared(&meta), shared) {
        (false, _) | (true, Shared::AsOne) => set(file, anew),
        (true, Shared::Anew) => shared::part(file, anew),
        (true, Shared::ForOwner) => shared::part(file, meta.mode() & BITS | needed),
    }
}

/// Gives a file of one's own exactly this mode, under all its names; says whether it had another.
pub fn give_file(file: &Path, mode: u32) -> bool {
    differing(file, mode).is_some() && set(file, mode & BITS)
}

/// Does the same for a file that may be another than the one that had this mode: its other names keep theirs.
fn give_own(file: &Path, mode: u32) -> bool {
    differing(file, mode).is_some_and(|meta| match is_shared(&meta) {
        true => shared::part(file, mode & BITS),
        false => set(file, mode & BITS),
    })
}

/// Returns what is known of a file of one's own, if it has another mode.
fn differing(file: &Path, mode: u32) -> Option<Metadata> {
    let differs =
        |meta: &Metadata| meta.is_file() && is_own(meta) && meta.mode() & BITS != mode & BITS;
    fs::symlink_metadata(file).ok().filter(differs)
}

/// Says whether a file has more names than one.
fn is_shared(meta: &Metadata) -> bool {
    meta.nlink() > 1
}

/// Refuses a folder that cannot be looked into, or one above it or its git directory (exit 3): whether there is a repository
/// cannot be told.
pub fn refuse_shut(folder: &Path) -> Result<()> {
    match shut_above(folder) {
        None => Ok(()),
        Some(shut) => {
            let mode = fs::symlink_metadata(&shut).map_or(0, |meta| meta.mode() & BITS);
            let shown = text::shell_word(shut.as_os_str().as_bytes());
            Err(Error::unsafe_repo(format!(
                "{} cannot be looked into: its mode is {mode:03o}",
                shut.display()
            ))
            .hint(format!("open it to its owner: `chmod u+rwx {shown}`")))
        }
    }
}

/// Returns the folder that keeps from looking for a repository around `folder`, or from looking into its git directory.
fn shut_above(folder: &Path) -> Option<PathBuf> {
    let is_denied = |cause: &std::io::Error| cause.kind() == ErrorKind::PermissionDenied;
    for above in folder.ancestors() {
        let git_dir = above.join(".git");
        match fs::symlink_metadata(&git_dir) {
            Err(cause) if is_denied(&cause) => {
                // The outermost one that can be looked at is what shuts the others.
                let is_seen = |it: &&Path| fs::symlink_metadata(it).is_ok();
                return above.ancestors().find(is_seen).map(Path::to_owned);
            }
            Err(_) => {}
            Ok(meta) => {
                let is_shut = || {
                    fs::symlink_metadata(git_dir.join("HEAD")).is_err_and(|cause| is_denied(&cause))
                };
                return (meta.is_dir() && is_shut()).then_some(git_dir);
            }
        }
    }
    None
}

fn is_own(meta: &Metadata) -> bool {
    meta.uid() == geteuid().as_raw()
}

/// Sets a mode; where that is denied, whoever needs the file finds out.
fn set(path: &Path, mode: u32) -> bool {
    let bits = Mode::from_bits_truncate(mode);
    fchmodat(AT_FDCWD, path, bits, FchmodatFlags::NoFollowSymlink).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & BITS
    }

    fn shut(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn folders_get_exactly_their_modes_back_and_what_is_behind_a_link_stays() {
        let place = tempfile::tempdir().unwrap();
        let (root, other) = (place.path().join("root"), place.path().join("other"));
        for folder in ["root/a/b", "root/c/d", "other/d"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        shut(&root.join("a/b"), 0o2555);
        shut(&root.join("c/d"), 0o750);
        let mut noted = Folders::default();
        for path in ["", "a", "a/b", "c", "c/d"] {
            noted.note(&root, Path::new(path));
        }
        let noted = Folders::from_bytes(&noted.to_bytes());
        let before = mode(&root.join("a"));
        assert!(noted.give_back(&root).is_empty());
        assert!(noted.open(&root));
        assert_eq!(mode(&root.join("a/b")), 0o2755);
        shut(&root.join("a"), 0o000);
        fs::remove_dir_all(root.join("c")).unwrap();
        symlink(&other, root.join("c")).unwrap();
        let theirs = mode(&other.join("d"));
        let changed = noted.give_back(&root);
        assert!(changed.contains(&PathBuf::from("a")), "{changed:?}");
        assert_eq!(mode(&root.join("a")), before);
        assert_eq!(mode(&root.join("a/b")), 0o2555);
        assert_eq!(mode(&other.join("d")), theirs);
        shut(&root.join("a/b"), 0o755);
    }

    #[test]
    fn folders_that_were_exchanged_are_known_by_what_was_written_down() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for folder in ["a/in", "b/in", "c"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let mut noted = Folders::default();
        for path in ["", "a", "a/in", "b", "b/in", "c"] {
            noted.note(root, Path::new(path));
        }
        let bytes = noted.to_bytes();
        let noted = Folders::from_bytes(&bytes);
        assert_eq!(noted.to_bytes(), bytes);
        let files = ["a/in/f", "b/f", "c/f", "f"];
        let exchanged = |noted: &Folders| {
            let mut is_other = noted.exchanged(root);
            files.map(|file| is_other(file.as_bytes()))
        };
        assert_eq!(exchanged(&noted), [false; 4]);
        for (from, to) in [("a", "x"), ("b", "a"), ("x", "b")] {
            fs::rename(root.join(from), root.join(to)).unwrap();
        }
        assert_eq!(exchanged(&noted), [true, true, false, false]);
        // As an older evolve wrote it.
        let older = Folders::from_bytes(b"755 \x00755 a\x00");
        assert_eq!(exchanged(&older), [false; 4]);
        assert!(older.has(Path::new("a")));
    }

    #[test]
    fn what_is_ignored_does_not_count() {
        let mut noted = Folders::default();
        let root = tempfile::tempdir().unwrap();
        for path in ["build/deep", "src"] {
            fs::create_dir_all(root.path().join(path)).unwrap();
        }
        for path in ["", "build", "build/deep", "src"] {
            noted.note(root.path(), Path::new(path));
        }
        let left = noted.without(&[b"build/".to_vec(), b"src".to_vec()]);
        let paths: Vec<_> = left.modes.keys().collect();
        assert_eq!(paths, [&b""[..], b"src"]);
    }
}
