//! Looks at many files, one after the other: most lie in the folder of the one before, and the way to that is gone once.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::effects::files::Moment;

/// The part of a mode that says what a file is.
const KIND: u32 = 0o170_000;

/// What is known of a file: of a link itself, not of what it leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its kind and mode.
    pub mode: u32,
    /// Whose it is.
    pub owner: u32,
    /// Its group.
    pub group: u32,
    /// How many bytes it has.
    pub size: u64,
    /// When its content was last changed.
    pub modified: Moment,
    /// When its state was last changed.
    pub changed: Moment,
    /// Its device and inode.
    pub place: (u64, u64),
}

/// Files below one root.
pub struct Near<'r> {
    root: &'r Path,
    /// The folder that was looked into last; none open where it cannot be.
    last: Option<(Vec<u8>, Option<OwnedFd>)>,
}

impl Seen {
    /// Takes it from what is known of a file.
    pub fn of(meta: &Metadata) -> Seen {
        Seen {
            mode: meta.mode(),
            owner: meta.uid(),
            group: meta.gid(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            place: (meta.dev(), meta.ino()),
        }
    }

    /// Says whether it is a plain file.
    pub fn is_file(self) -> bool {
        const FILE: u32 = 0o100_000;
        self.mode & KIND == FILE
    }

    /// Says whether it is a link.
    pub fn is_link(self) -> bool {
        const LINK: u32 = 0o120_000;
        self.mode & KIND == LINK
    }
}

impl<'r> Near<'r> {
    /// Looks at files below this root.
    pub fn below(root: &'r Path) -> Near<'r> {
        Near { root, last: None }
    }

    /// Returns what is known of the file at a path below the root; nothing where there is none.
    pub fn look(&mut self, path: &[u8]) -> Option<Seen> {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let (folder, name) = path.split_at(slash.map_or(0, |at| at + 1));
        if self.last.as_ref().is_none_or(|(last, _)| last != folder) {
            let opened = open(&self.root.join(OsStr::from_bytes(folder)));
            self.last = Some((folder.to_vec(), opened));
        }
        match &self.last {
            Some((_, Some(folder))) => look_in(folder, OsStr::from_bytes(name)),
            Some((_, None)) | None => {
                let meta = fs::symlink_metadata(self.root.join(OsStr::from_bytes(path)));
                meta.ok().map(|meta| Seen::of(&meta))
            }
        }
    }
}

/// Opens a folder to go on from, which takes no more than going through it; none where the system knows no such thing.
#[cfg(target_os = "linux")]
fn open(folder: &Path) -> Option<OwnedFd> {
    use nix::fcntl::OFlag;
    let way = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    nix::fcntl::open(folder, way, nix::sys::stat::Mode::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open(_: &Path) -> Option<OwnedFd> {
    None
}

#[cfg(target_os = "linux")]
fn look_in(folder: &OwnedFd, name: &OsStr) -> Option<Seen> {
    use nix::fcntl::AtFlags;
    let link = AtFlags::AT_SYMLINK_NOFOLLOW;
    let stat = nix::sys::stat::fstatat(folder, name, link).ok()?;
    Some(Seen {
        mode: stat.st_mode,
        owner: stat.st_uid,
        group: stat.st_gid,
        size: stat.st_size.cast_unsigned(),
        modified: (stat.st_mtime, stat.st_mtime_nsec),
        changed: (stat.st_ctime, stat.st_ctime_nsec),
        place: (stat.st_dev, stat.st_ino),
    })
}

#[cfg(not(target_os = "linux"))]
fn look_in(_: &OwnedFd, _: &OsStr) -> Option<Seen> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_seen_is_what_a_look_by_the_whole_path_says() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for name in ["top", "a/one", "a/b/two"] {
            fs::write(root.join(name), name).unwrap();
        }
        symlink("b", root.join("a/link")).unwrap();
        symlink("nowhere", root.join("a/broken")).unwrap();
        let mut near = Near::below(root);
        for path in [
            "top",
            "a",
            "a/one",
            "a/b",
            "a/b/two",
            "a/link",
            "a/link/two",
            "a/broken",
            "a/broken/x",
            "a/one/x",
            "a/none",
            "none/x",
            "top",
        ] {
            let meta = fs::symlink_metadata(root.join(path)).ok();
            let wanted = meta.map(|meta| Seen::of(&meta));
            assert_eq!(near.look(path.as_bytes()), wanted, "{path}");
        }
        assert!(near.look(b"a/one").is_some_and(Seen::is_file));
        assert!(!near.look(b"a/link").is_some_and(Seen::is_file));
    }
}
