//! Submodules of which git sees no change though their files are another's: one that is no longer checked out, one whose
//! repository is the agent's now, and one that was never set up. No commit holds such files, so that what was measured of them
//! would count for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::strays::Left;
use super::{Start, Workspace, some_of};
use crate::effects::files;
use crate::effects::guard::modules::{self, Module, submodules};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Entry, Repo, SUBMODULE, hash_blob};
use crate::error::Result;
use crate::model::exact;

/// The mode of a file that can be executed.
const EXECUTABLE: u32 = 0o100_755;
/// The largest file that is compared, in bytes.
const LARGEST: u64 = 1 << 30;

impl Workspace<'_> {
    /// Lists the files in the folders of those of these submodules that are not set up: git looks at none of them.
    pub(super) fn in_unset(&self, listed: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let known = self.repo.modules.known();
        let mut found = Vec::new();
        for path in listed {
            let folder = self.repo.root.join(OsStr::from_bytes(path));
            let dot_git = [&path[..], b"/.git"].concat();
            let is_plain = files::is_beneath(&self.repo.root, &dot_git);
            if !is_plain
                || is_there(&folder.join(".git"))
                || known.contains_key(&exact::decode(path))
            {
                continue;
            }
            let mut note = |below: &Path, meta: &fs::Metadata| {
                if !meta.is_dir() {
                    found.push([path, &b"/"[..], below.as_os_str().as_bytes()].concat());
                }
                true
            };
            look_through(&folder, &mut note);
        }
        found
    }

    /// Moves what an agent put into such folders to the quarantine: no commit can hold it. One that it set up goes there with an
    /// undo.
    pub(super) fn clear_unset(&self, start: &Start, left: &mut Left) -> Result<()> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        for path in self.in_unset(&left.submodules) {
            if !start.kept.was_there(&path) {
                quarantine.take(&self.repo.root, &path)?;
            }
        }
        left.notes.extend(quarantine.notes());
        let known = self.repo.modules.known();
        for path in &left.submodules {
            let dot_git = [&path[..], b"/.git"].concat();
            let is_set_up = is_there(&self.repo.root.join(OsStr::from_bytes(&dot_git)));
            let was_set_up = known.contains_key(&exact::decode(path));
            if is_set_up && !was_set_up && self.repo.id_at(&start.tree, path)?.is_some() {
                left.nested.push([&path[..], b"/"].concat());
            }
        }
        Ok(())
    }

    /// Sets submodules up again that are no longer checked out though the index has them, as a `git submodule deinit` leaves them,
    /// or a checkout of a commit that has them not: to git that is no change. Says which.
    pub(super) fn fill_emptied(&self, start: &Start) -> Result<Vec<String>> {
        let mut filled = Vec::new();
        // The outer ones first.
        for name in start.guarded.modules().keys() {
            let path = exact::encode(name);
            let folder = self.repo.root.join(OsStr::from_bytes(&path));
            let is_emptied = is_there(&folder) && !is_there(&folder.join(".git"));
            if !is_emptied || self.link_of(&path)?.is_none() {
                continue;
            }
            if !self.repo.modules.make_dot_git(self.ground(), &path)? {
                continue;
            }
            let Some(git) = self.inside(&path) else {
                continue;
            };
            // What is there was changed without git; what is not is checked out.
            for arguments in [
                &["read-tree", "--reset", "HEAD"][..],
                &["checkout-index", "--all", "--quiet"],
            ] {
                match git.run(arguments) {
                    Err(cause) if cause.is_halt() || cause.is_of_machine() => return Err(cause),
                    Err(cause) => tracing::debug!("{cause}"),
                    Ok(_) => {}
                }
            }
            filled.push(exact::shown(name));
        }
        let said = "submodules that were emptied are checked out again";
        Ok(match filled.is_empty() {
            true => Vec::new(),
            false => vec![format!("{said}: {}", some_of(&filled))],
        })
    }

    /// Says which submodules do not hold the files of the commit that the index has of them, though to git that is no change;
    /// `listed` are those of the index.
    pub(super) fn replaced(&self, start: &Start, listed: &[Vec<u8>]) -> Result<Vec<String>> {
        if self.repo.is_slot {
            return Ok(Vec::new());
        }
        let known = start.guarded.modules();
        let listed = listed.iter().map(|path| exact::decode(path));
        let all: BTreeSet<String> = known.keys().cloned().chain(listed).collect();
        let mut replaced = Vec::new();
        for name in all {
            let path = exact::encode(&name);
            let folder = self.repo.root.join(OsStr::from_bytes(&path));
            if !is_there(&folder) || self.repo.modules.is_open(&self.repo.root, &path) {
                continue;
            }
            let Some(id) = self.link_of(&path)? else {
                continue;
            };
            let known = known.get(&name);
            let name = exact::shown(&name);
            if !is_there(&folder.join(".git")) {
                let emptied = || format!("the submodule {name} was emptied");
                replaced.extend(known.map(|_| emptied()));
                continue;
            }
            let there = modules::git_dir_at(&self.repo.root, &path);
            let places = known.map(Module::git_dir).into_iter().chain(there);
            let commits = places.filter_map(|place| {
                let repo = Repo::open_git_dir(&place);
                repo.and_then(|repo| repo.files_of(&id)).ok()
            });
            let holds = |files| holds(start, (&path, &folder), files);
            if !commits.into_iter().next().is_some_and(holds) {
                replaced.push(format!(
                    "the submodule {name} has a repository of the agent's, and not just the files of its commit"
                ));
            }
        }
        Ok(replaced)
    }

    /// Returns the commit that the index around a submodule has of it; none if it has none any more.
    fn link_of(&self, path: &[u8]) -> Result<Option<String>> {
        let (git, below) = self.around(path);
        let list = ["ls-files", "--stage", "-z", "--"].map(OsStr::new);
        let listed = git.run(&[&list[..], &[OsStr::from_bytes(below)]].concat())?;
        let is_it = submodules(&listed).iter().any(|it| it == below);
        // As in `160000 <id> 0<tab>path`.
        let words = String::from_utf8_lossy(&listed).into_owned();
        let id = words.split(' ').nth(1).map(str::to_owned);
        Ok(id.filter(|_| is_it))
    }
}

fn is_there(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

/// Says whether a folder holds the files of a commit, byte for byte, and no others but the user's. An object is what its id says,
/// whoever keeps it; nothing is run of the repository that is there.
fn holds(start: &Start, (path, folder): (&[u8], &Path), files: Vec<(Vec<u8>, Entry)>) -> bool {
    let mut files: BTreeMap<Vec<u8>, Entry> = files.into_iter().collect();
    let mut is_as_listed = true;
    let mut look = |below: &Path, meta: &fs::Metadata| {
        let name = below.as_os_str().as_bytes();
        match files.remove(name) {
            // What is in one within is looked at by itself.
            Some(entry) if entry.mode == SUBMODULE => {
                is_as_listed &= meta.is_dir();
                return false;
            }
            Some(entry) => is_as_listed &= is_as_in(&folder.join(below), meta, &entry),
            None if name == b".git" => return false,
            None if meta.is_dir() => {}
            None => is_as_listed &= start.kept.was_there(&[path, b"/", name].concat()),
        }
        is_as_listed
    };
    look_through(folder, &mut look)
        && is_as_listed
        && files.values().all(|one| one.mode == SUBMODULE)
}

/// Calls `each` with everything below a folder; into a folder for which it says no nobody goes. Says whether all could be seen.
fn look_through(root: &Path, each: &mut dyn FnMut(&Path, &fs::Metadata) -> bool) -> bool {
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&below)) else {
            return false;
        };
        for entry in entries {
            let Ok((entry, meta)) =
                entry.and_then(|entry| entry.metadata().map(|meta| (entry, meta)))
            else {
                return false;
            };
            let below = below.join(entry.file_name());
            if each(&below, &meta) && meta.is_dir() {
                folders.push(below);
            }
        }
    }
    true
}

/// Says whether a file is what a tree has of it.
fn is_as_in(file: &Path, meta: &fs::Metadata, entry: &Entry) -> bool {
    if entry.is_link() {
        let target = fs::read_link(file);
        return target.is_ok_and(|target| hash_blob(target.as_os_str().as_bytes()) == entry.id);
    }
    let is_executable = meta.mode() & 0o100 != 0;
    let is_plain = meta.is_file() && is_executable == (entry.mode == EXECUTABLE);
    let bytes = files::read_bounded(file, LARGEST).ok().flatten();
    is_plain && bytes.is_some_and(|bytes| hash_blob(&bytes) == entry.id)
}
