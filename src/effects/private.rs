//! What stands in the private directory, and in `evolve`'s folder outside of repositories, in the place of one of `evolve`'s own
//! files and is of another kind: a folder, a link or a pipe where a file belongs, or anything else where a folder does. Nobody could
//! write there, and every later session would fail. It goes to the quarantine, whatever it is, and is told; then the place is empty.
//!
//! Files that are files are never touched, be they unreadable or nonsense: those who read them judge that. Nor is the loop's lock: one
//! that cannot be taken may be somebody's. In the place of the anchor something is moved only where the copy of the git directory tells
//! what was there before the agent, which is put back: else a history of which lines were taken would be believed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::lock;
use crate::effects::mirror::Mirror;
use crate::effects::places::{self, Places};
use crate::effects::quarantine::Quarantine;
use crate::error::Result;

/// The files of the private directory.
const FILES: &[&str] = &[
    ANCHOR,
    "durable.config",
    "excludes",
    "exchanged-programs.json",
    "journal.json",
    "last-session.json",
    "report.html",
    "search-report.html",
    "search.session",
    lock::SEARCH,
    "search/excludes",
    "session.json",
    "strangers",
    "turn",
];
/// The folders of the private directory. What stands in the place of the quarantine is removed by that.
const FOLDERS: &[&str] = &[
    "asked",
    "guard",
    "keep",
    "links",
    "logs",
    "search",
    "sweep-target",
    "users",
];
/// The file that says where history ended.
const ANCHOR: &str = "anchor";
/// More bytes than an anchor has.
const ANCHOR_LIMIT: u64 = 100;
/// The files outside, by their kind.
const OUTSIDE: &[&str] = &["journal", "programs", "session", "applying"];
/// The folder of the quarantine for what stood outside.
const STATE: &str = "state";

/// Something that stands where it does not belong.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Misplaced {
    /// The folder in which it stands.
    folder: PathBuf,
    name: PathBuf,
    is_outside: bool,
}

/// Returns the paths of what stands in the place of another kind of thing.
pub fn misplaced(places: &Places) -> Vec<PathBuf> {
    let all = look(places).into_iter();
    all.map(|one| one.folder.join(one.name)).collect()
}

/// Moves such things to the quarantine. To be done by who holds the lock.
pub fn clear(places: &Places, quarantine: &mut Quarantine) -> Result<()> {
    for Misplaced {
        folder,
        name,
        is_outside,
    } in look(places)
    {
        let below = if is_outside { STATE } else { "" };
        let is_anchor = name == Path::new(ANCHOR);
        let kept = is_anchor.then(|| kept_anchor(places)).flatten().flatten();
        quarantine.take_from(&folder, &name, &Path::new(below).join(&name))?;
        if let Some(bytes) = kept {
            files::replace(&folder.join(&name), &bytes)?;
        }
    }
    Ok(())
}

/// Returns the anchor as it was right before an agent, if there was one; an outer none is that nobody knows.
fn kept_anchor(places: &Places) -> Option<Option<Vec<u8>>> {
    let mirror = Mirror::of(places).ok()?;
    mirror.file_before(ANCHOR, ANCHOR_LIMIT)
}

/// Clears as `clear` does before a session begins; returns what is to be told.
pub fn clear_for(places: &Places, session: &str) -> Result<Vec<String>> {
    let mut quarantine = Quarantine::of(&places.private, session, 0);
    clear(places, &mut quarantine)?;
    Ok(quarantine.notes().collect())
}

/// Moves what stands in the place of one file of the private directory away; returns what is to be told. For a file that is written
/// without a lock, and for a lock that is to be taken: what is no file is nobody's lock.
pub fn make_way(file: &Path, session: &str) -> Result<Vec<String>> {
    let (Some(private), Some(name)) = (file.parent(), file.file_name()) else {
        return Ok(Vec::new());
    };
    let mut quarantine = Quarantine::of(private, session, 0);
    if is_other(file, false) {
        quarantine.take_from(private, Path::new(name), Path::new(name))?;
    }
    Ok(quarantine.notes().collect())
}

/// Says whether something stands at a path that is no folder, where one belongs, or no file.
fn is_other(path: &Path, is_folder: bool) -> bool {
    let kind = fs::symlink_metadata(path).map(|meta| meta.file_type());
    kind.is_ok_and(|kind| match is_folder {
        true => !kind.is_dir(),
        false => !kind.is_file(),
    })
}

fn look(places: &Places) -> Vec<Misplaced> {
    let files = FILES.iter().map(|name| (name, false));
    let inside = files.chain(FOLDERS.iter().map(|name| (name, true)));
    let inside = inside
        .filter(|(name, _)| files::is_beneath(&places.private, name.as_bytes()))
        .filter(|(name, is_folder)| is_other(&places.private.join(name), *is_folder))
        .filter(|(name, _)| **name != ANCHOR || kept_anchor(places).is_some())
        .map(|(name, _)| Misplaced {
            folder: places.private.clone(),
            name: name.into(),
            is_outside: false,
        });
    let outside = OUTSIDE.iter().filter_map(|kind| {
        let path = places::outside(places, kind).filter(|path| is_other(path, false))?;
        Some(Misplaced {
            folder: path.parent()?.to_owned(),
            name: path.file_name().map(OsStr::to_owned)?.into(),
            is_outside: true,
        })
    });
    inside.chain(outside).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use nix::sys::stat::Mode;

    use super::*;

    #[test]
    fn what_is_of_another_kind_goes_to_the_quarantine_and_all_else_stays() {
        let root = tempfile::tempdir().unwrap();
        let git_dir = root.path().join("git");
        let private = git_dir.join("evolve");
        fs::create_dir_all(private.join("anchor")).unwrap();
        fs::create_dir_all(private.join("excludes/deep")).unwrap();
        fs::write(private.join("excludes/deep/file"), "text").unwrap();
        fs::write(private.join("guard"), "a file").unwrap();
        symlink("/nowhere", private.join("session.json")).unwrap();
        nix::unistd::mkfifo(&private.join("durable.config"), Mode::S_IRWXU).unwrap();
        fs::create_dir(private.join("asked")).unwrap();
        fs::create_dir(private.join("lock")).unwrap();
        fs::create_dir(root.path().join("theirs")).unwrap();
        symlink(
            root.path().join("excludes"),
            root.path().join("theirs/excludes"),
        )
        .unwrap();
        symlink(root.path().join("theirs"), private.join("search")).unwrap();
        fs::create_dir(private.join("search.lock")).unwrap();
        fs::write(private.join("turn"), "nonsense").unwrap();
        let places = Places {
            git_dir: git_dir.clone(),
            common: git_dir,
            private: private.clone(),
        };
        assert_eq!(misplaced(&places).len(), 6);
        let notes = clear_for(&places, "s").unwrap();
        assert_eq!(notes.len(), 6, "{notes:?}");
        assert_eq!(misplaced(&places), [] as [PathBuf; 0]);
        let there = private.join("quarantine/s-0");
        let text = fs::read_to_string(there.join("excludes/deep/file"));
        assert_eq!(text.unwrap(), "text");
        assert!(fs::symlink_metadata(there.join("session.json")).is_ok());
        // What lies behind a link is another's.
        assert!(fs::symlink_metadata(root.path().join("theirs/excludes")).is_ok());
        // Without a copy of the anchor what stands in its place tells that there was one.
        for kept in ["anchor", "asked", "lock", "turn"] {
            assert!(private.join(kept).exists(), "{kept}");
        }
        assert!(clear_for(&places, "s").unwrap().is_empty());
    }
}
