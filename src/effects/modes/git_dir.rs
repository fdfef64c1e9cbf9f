//! The modes in a git directory: those of its folders, and of the files that their owner may not write to, are noted before an
//! agent; what was shut since is opened afterwards. What was shut before stays so.

use std::fs::{self, DirEntry, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::shared::Shared;
use super::{FILE, Folders, READ, SLACK, is_own, open_file, open_folder};

/// What the owner needs of a folder of objects that another program than git keeps.
const LOOK: u32 = 0o500;

/// What a folder of a git directory holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All of a repository.
    Git,
    /// Something else of git's or of another program's, repositories of submodules perhaps.
    Other,
    /// Nothing but plain folders and files, whatever they are called: refs and their logs may be called like anything.
    Plain,
    /// Git's folders of objects.
    Objects,
    /// Git's objects.
    Store,
    /// Objects of another program, such as git-lfs or git-annex, which shuts them by itself.
    Foreign,
    /// What `evolve` keeps for itself.
    Private,
    /// `evolve`'s copies of the user's untracked files, with their modes.
    Copies,
    /// What was moved away from where it was, session by session.
    Quarantine,
    /// That of one session.
    Moved,
}

impl Kind {
    /// Returns the kind of a folder, by what the one is that it lies in.
    fn of(within: Kind, folder: &Path) -> Kind {
        let name = folder.file_name().unwrap_or_default();
        let name = name.to_str().unwrap_or_default();
        match (within, name) {
            (Kind::Git, "objects") => Kind::Objects,
            (Kind::Git, "refs" | "logs") => Kind::Plain,
            (Kind::Git, "evolve") => Kind::Private,
            (Kind::Private, "keep") => Kind::Copies,
            (Kind::Private, "quarantine") => Kind::Quarantine,
            (Kind::Quarantine | Kind::Moved, _) => Kind::Moved,
            (Kind::Objects | Kind::Store, _) => Kind::Store,
            (Kind::Other, "objects") => Kind::Foreign,
            (Kind::Git | Kind::Other, _) => match folder.join("HEAD").is_file() {
                true => Kind::Git,
                false => Kind::Other,
            },
            (Kind::Plain | Kind::Foreign | Kind::Private | Kind::Copies, _) => within,
        }
    }

    /// Says whether objects lie there, which are only ever read.
    fn is_of_objects(self) -> bool {
        matches!(self, Kind::Store | Kind::Foreign)
    }

    /// Returns the mode of a file there where nothing is masked, and what its owner needs of it.
    fn of_file(self) -> (u32, u32) {
        match self {
            // Git begins objects beside their folders.
            Kind::Store | Kind::Foreign | Kind::Objects => (0o444, READ),
            Kind::Copies => (0o666, READ),
            _ => (0o666, FILE),
        }
    }

    /// Returns what becomes of a file there that has several names. Objects, refs and reflogs are one file with their copies.
    fn shared(self) -> Shared {
        match self {
            Kind::Objects | Kind::Store | Kind::Foreign | Kind::Plain | Kind::Copies => {
                Shared::AsOne
            }
            Kind::Git | Kind::Other | Kind::Private | Kind::Quarantine | Kind::Moved => {
                Shared::Anew
            }
        }
    }
}

impl Folders {
    /// Notes all folders of a git directory but those of `evolve`'s quarantine, and the files that are shut to their owner;
    /// returns the links there, too. There is nothing to note in folders of objects.
    pub fn of_git_dir(git_dir: &Path) -> (Folders, Vec<PathBuf>) {
        let (mut found, mut links) = (Folders::default(), Vec::new());
        let mut folders = vec![(PathBuf::new(), Kind::Git)];
        while let Some((folder, kind)) = folders.pop() {
            found.note(git_dir, &folder);
            if kind == Kind::Moved || kind.is_of_objects() {
                continue;
            }
            for entry in entries(&git_dir.join(&folder)) {
                let path = folder.join(entry.file_name());
                match entry.file_type() {
                    Ok(is) if is.is_dir() => {
                        folders.push((path, Kind::of(kind, &entry.path())));
                    }
                    Ok(is) if is.is_file() && !matches!(kind, Kind::Private | Kind::Copies) => {
                        found.note_file(git_dir, &path);
                    }
                    Ok(is) if is.is_symlink() => links.push(path),
                    Ok(_) | Err(_) => {}
                }
            }
        }
        (found, links)
    }
}

/// Opens a git directory to its owner, `evolve`'s private one in it, too; returns what was shut, but for `evolve`'s own copies, and
/// leaves what is as it is `known`. Objects are looked at one by one only in folders that were changed since then, in seconds since
/// 1970: those that were there before are looked at elsewhere.
pub fn open_git_dir(git_dir: &Path, known: &Folders, since: i64) -> Vec<PathBuf> {
    open_all(git_dir, Kind::Git, known, since)
}

/// Opens a folder of copies of git directories to its owner.
pub fn open_copies(folder: &Path, since: i64) {
    open_all(folder, Kind::Copies, &Folders::default(), since);
}

fn open_all(root: &Path, top: Kind, known: &Folders, since: i64) -> Vec<PathBuf> {
    let mut opened = Vec::new();
    let mut folders = vec![(PathBuf::new(), None)];
    while let Some((folder, within)) = folders.pop() {
        let full = root.join(&folder);
        let is_as_it_was = known.is_as_noted(root, &folder);
        let is_left = within == Some(Kind::Foreign) && may_look(&full);
        if !is_as_it_was && !is_left && open_folder(&full) {
            opened.push(folder.clone());
        }
        // A folder that was shut tells only now what it holds.
        let kind = within.map_or(top, |within| Kind::of(within, &full));
        let is_old = |meta: Metadata| meta.ctime() + SLACK < since;
        let is_unchanged = || fs::symlink_metadata(&full).is_ok_and(is_old);
        let is_pack = kind == Kind::Store && folder.ends_with("objects/pack");
        if kind == Kind::Moved || (kind.is_of_objects() && !is_pack && is_unchanged()) {
            continue;
        }
        for entry in entries(&full) {
            let path = folder.join(entry.file_name());
            let (usual, needed) = kind.of_file();
            match entry.file_type() {
                Ok(is) if is.is_dir() => folders.push((path, Some(kind))),
                Ok(is) if is.is_file() && !known.has_file(&path) => {
                    let was_shut = open_file(&root.join(&path), usual, needed, kind.shared());
                    if was_shut && kind != Kind::Copies {
                        opened.push(path);
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    opened
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Says whether a folder may be looked into by its owner, if that is this user.
fn may_look(folder: &Path) -> bool {
    let may = |meta: Metadata| !is_own(&meta) || meta.mode() & LOOK == LOOK;
    fs::symlink_metadata(folder).is_ok_and(may)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::modes::BITS;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & BITS
    }

    fn shut(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn file(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        shut(path, mode);
    }

    #[test]
    fn a_git_directory_is_opened_but_for_the_quarantine_and_old_objects() {
        let place = tempfile::tempdir().unwrap();
        let git_dir = place.path();
        for folder in ["objects/ab", "evolve/quarantine/s-1/theirs", "refs/heads"] {
            fs::create_dir_all(git_dir.join(folder)).unwrap();
        }
        let (object, head) = (git_dir.join("objects/ab/cd"), git_dir.join("HEAD"));
        for path in [&object, &head] {
            file(path, 0);
        }
        let theirs = git_dir.join("evolve/quarantine/s-1/theirs");
        shut(&theirs, 0);
        // As another git begins an object.
        file(&git_dir.join("objects/tmp_object_git2_1"), 0o444);
        shut(&git_dir.join("refs"), 0o500);
        let (far, none) = (i64::MAX, Folders::default());
        let opened = open_git_dir(git_dir, &none, far);
        assert_eq!(opened.len(), 2, "{opened:?}");
        assert_eq!((mode(&object), mode(&theirs)), (0, 0));
        assert_eq!(mode(&git_dir.join("refs")), 0o700);
        assert_eq!(mode(&head) & FILE, FILE);
        let opened = open_git_dir(git_dir, &none, 0);
        assert_eq!(opened, [PathBuf::from("objects/ab/cd")]);
        assert_eq!(mode(&object) & !0o444, 0);
        shut(&theirs, 0o700);
    }

    #[test]
    fn a_branch_may_be_called_like_a_folder_of_objects() {
        let place = tempfile::tempdir().unwrap();
        let git_dir = place.path();
        file(&git_dir.join("HEAD"), 0o644);
        file(&git_dir.join("modules/m/HEAD"), 0o644);
        let refs = [
            "refs/heads/objects/a/b",
            "logs/refs/heads/objects/a/b",
            "modules/m/refs/heads/objects/ab/c",
        ];
        for path in refs {
            file(&git_dir.join(path), 0);
        }
        file(&git_dir.join("modules/m/objects/ab/c"), 0);
        let opened = open_git_dir(git_dir, &Folders::default(), i64::MAX);
        assert_eq!(opened.len(), refs.len(), "{opened:?}");
        for path in refs {
            assert_eq!(mode(&git_dir.join(path)) & FILE, FILE, "{path}");
        }
    }

    #[test]
    fn what_was_shut_before_stays_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let git_dir = place.path();
        let modes = [
            ("config", 0o400),
            ("credentials", 0o400),
            ("hooks/pre-push", 0o555),
            ("lfs/objects/aa/bb/aabb", 0o444),
            ("annex/objects/a/b/K/K", 0o444),
            ("evolve/keep/1", 0o444),
        ];
        for (path, mode) in modes {
            file(&git_dir.join(path), mode);
        }
        let folders = [("annex/objects/a/b/K", 0o555), ("hooks", 0o555)];
        for (path, mode) in folders {
            shut(&git_dir.join(path), mode);
        }
        let known = Folders::from_bytes(&Folders::of_git_dir(git_dir).0.to_bytes());
        assert!(open_git_dir(git_dir, &known, 0).is_empty());
        assert!(known.give_back(git_dir).is_empty());
        for (path, was) in modes.into_iter().chain(folders) {
            assert_eq!(mode(&git_dir.join(path)), was, "{path}");
        }
        for path in ["config", "credentials", "evolve/keep/1"] {
            shut(&git_dir.join(path), 0);
        }
        assert!(open_git_dir(git_dir, &known, 0).is_empty());
        let changed = known.give_back(git_dir);
        assert_eq!(changed, ["config", "credentials"].map(PathBuf::from));
        assert_eq!(mode(&git_dir.join("credentials")), 0o400);
        assert_eq!(mode(&git_dir.join("evolve/keep/1")) & READ, READ);
        for (path, _) in folders {
            shut(&git_dir.join(path), 0o755);
        }
    }
}
