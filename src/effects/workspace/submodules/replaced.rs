//! Submodules of which git sees no change though their files are another's: one that is no longer checked out, one whose
//! repository is the agent's now, and one that was never set up. No commit holds such files, so that what was measured of them
//! would count for nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::inside::joined;
use crate::effects::files;
use crate::effects::git::may_refuse;
use crate::effects::guard::modules::{self, Module, submodules};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Entry, Repo, SUBMODULE, hash_blob};
use crate::effects::workspace::leftovers::strays::Left;
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;
use crate::model::exact;

/// The mode of a file that can be executed.
const EXECUTABLE: u32 = 0o100_755;

/// What of a folder git would ignore.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rules<'a> {
    /// What the `.gitignore` files there name, whoever wrote them.
    OfFolder,
    /// What these lines name, as in a `.gitignore` of the folder itself.
    These(&'a [u8]),
}

impl Workspace<'_> {
    /// Lists the files in the folders of those of these submodules that are not set up: git looks at none of them.
    pub(in crate::effects::workspace) fn in_unset(&self, listed: &[Vec<u8>]) -> Vec<Vec<u8>> {
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
            let below = files_in(&folder).into_iter();
            found.extend(below.map(|below| joined(path, below.as_os_str().as_bytes())));
        }
        found
    }

    /// Moves what an agent put into such folders to the quarantine: no commit can hold it. One that it set up goes there with an
    /// undo.
    pub(in crate::effects::workspace) fn clear_unset(
        &self,
        start: &Start,
        left: &mut Left,
    ) -> Result<()> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        for path in self.in_unset(&left.submodules) {
            if !start.kept.was_there(&path) {
                quarantine.take(&self.repo.root, &path)?;
            }
        }
        left.notes.extend(quarantine.notes());
        let known = self.repo.modules.known();
        for path in &left.submodules {
            let folder = self.repo.root.join(OsStr::from_bytes(path));
            let is_set_up = is_there(&folder.join(".git"));
            let was_set_up = known.contains_key(&exact::decode(path));
            if is_set_up && !was_set_up && self.was_submodule(start, path)? {
                left.nested.push([&path[..], b"/"].concat());
            }
        }
        Ok(())
    }

    /// Says whether a path stood for a submodule when the cycle began; of one within another, whether it does now.
    pub(in crate::effects::workspace) fn was_submodule(
        &self,
        start: &Start,
        path: &[u8],
    ) -> Result<bool> {
        let mut known = start.guarded.modules().keys();
        let is_nested = known.any(|name| {
            let outer = [&exact::encode(name)[..], b"/"].concat();
            path.starts_with(&outer)
        });
        match is_nested {
            true => Ok(self.link_of(path)?.is_some()),
            false => Ok(self.repo.id_at(&start.tree, path)?.is_some()),
        }
    }

    /// Sets submodules up again that are no longer checked out though the index has them, as a `git submodule deinit` leaves them,
    /// or a checkout of a commit that has them not: to git that is no change. Says which.
    pub(in crate::effects::workspace) fn fill_emptied(&self, start: &Start) -> Result<Vec<String>> {
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
                may_refuse(git.run(arguments))?;
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
    pub(in crate::effects::workspace) fn replaced(
        &self,
        start: &Start,
        listed: &[Vec<u8>],
    ) -> Result<Vec<String>> {
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
            let known = known.get(&name);
            let name = exact::shown(&name);
            if !is_there(&folder) {
                continue;
            }
            if self.repo.modules.is_open(&self.repo.root, &path) {
                let Some(module) = known else {
                    continue;
                };
                // Of one without a commit git says nothing in the repository around it.
                let Some(head) = head_of(&module.git_dir()) else {
                    replaced.push(on_no_commit(&name));
                    continue;
                };
                // What is uncommitted in the one around it was put away, but for this.
                let is_nested = self.around(&path).1 != path;
                if is_nested && self.link_of(&path)?.is_some_and(|link| link != head) {
                    replaced.push(format!(
                        "the submodule around {name} does not have the commit that it is on"
                    ));
                }
                continue;
            }
            let Some(id) = self.link_of(&path)? else {
                continue;
            };
            if !is_there(&folder.join(".git")) {
                let emptied = || format!("the submodule {name} was emptied");
                replaced.extend(known.map(|_| emptied()));
                continue;
            }
            let there = modules::git_dir_at(&self.repo.root, &path);
            if there.as_deref().and_then(head_of).is_none() {
                replaced.push(on_no_commit(&name));
                continue;
            }
            let places = known.map(Module::git_dir).into_iter().chain(there);
            let mut commits = places.filter_map(|place| files_of(&place, &id));
            let holds = match commits.next() {
                Some(files) => self.holds(start, &path, &folder, &files)?,
                None => false,
            };
            if !holds {
                replaced.push(format!(
                    "the submodule {name} has a repository of the agent's, and not just the files of its commit"
                ));
            }
        }
        Ok(replaced)
    }

    /// Says whether a folder holds the files of a commit, and no others but the user's and what the commit's own `.gitignore` names. An
    /// object is what its id says, whoever keeps it; nothing is run, or believed, of the repository that is there.
    fn holds(
        &self,
        start: &Start,
        path: &[u8],
        folder: &Path,
        files: &[(Vec<u8>, Entry)],
    ) -> Result<bool> {
        let mut listed = BTreeSet::new();
        for (below, entry) in files {
            listed.insert(&below[..]);
            if !self.is_as_in(&joined(path, below), entry)? {
                return Ok(false);
            }
        }
        let is_known = |below: &[u8]| {
            let below = below.strip_suffix(b"/").unwrap_or(below);
            listed.contains(below) || start.kept.was_there(&joined(path, below))
        };
        let Some(others) = may_refuse(self.not_ignored_in(folder, Rules::OfFolder))? else {
            return Ok(false);
        };
        let mut others = others.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        Ok(others.all(is_known))
    }

    /// Lists the files of a folder that these rules of git's do not name, each ended by a NUL; a repository there is one name that
    /// ends in a slash. Asks by way of an empty repository: what is called `.git` in the folder has no say in it.
    pub(super) fn not_ignored_in(&self, folder: &Path, rules: Rules<'_>) -> Result<Vec<u8>> {
        const LIST: [&str; 4] = ["--work-tree=.", "ls-files", "--others", "-z"];
        let empty = self.repo.private.join("empty.git");
        files::make_empty_folder(&empty)?;
        for part in ["objects", "refs"] {
            files::make_folder(&empty.join(part))?;
        }
        files::replace_unsynced(&empty.join("HEAD"), b"ref: refs/heads/none\n")?;
        let with = |option: &str, file: &Path| {
            let mut word = OsStr::new(option).to_owned();
            word.push(file);
            word
        };
        let excludes = match rules {
            Rules::OfFolder => with("--exclude-per-directory=", Path::new(".gitignore")),
            Rules::These(rules) => {
                let file = empty.join("rules");
                files::replace_unsynced(&file, rules)?;
                with("--exclude-from=", &file)
            }
        };
        let place = with("--git-dir=", &empty);
        let git = self.repo.git.elsewhere(folder);
        let words = [&[&*place], &LIST.map(OsStr::new)[..], &[&*excludes]].concat();
        let listed = git.run(&words);
        let _ = fs::remove_dir_all(&empty);
        listed
    }

    /// Says whether a file is what a tree has of it, or becomes that when git takes it in.
    pub(super) fn is_as_in(&self, path: &[u8], entry: &Entry) -> Result<bool> {
        let file = self.repo.root.join(OsStr::from_bytes(path));
        let Ok(meta) = fs::symlink_metadata(&file) else {
            // What is in one within is looked at by itself, and may not be set up.
            return Ok(entry.mode == SUBMODULE);
        };
        if entry.mode == SUBMODULE || !files::is_beneath(&self.repo.root, path) {
            return Ok(entry.mode == SUBMODULE && meta.is_dir());
        }
        let is_link = meta.is_symlink();
        let is_executable = !is_link && meta.mode() & 0o100 != 0;
        if is_link != entry.is_link()
            || is_executable != (entry.mode == EXECUTABLE)
            || !(is_link || meta.is_file())
        {
            return Ok(false);
        }
        let is_raw = || {
            let bytes = files::read_bounded(&file, files::LARGEST).ok().flatten();
            bytes.is_some_and(|bytes| hash_blob(&bytes) == entry.id)
        };
        if !is_link && is_raw() {
            return Ok(true);
        }
        let id = may_refuse(self.hash_of_file(path, is_link))?;
        Ok(id.as_ref() == Some(&entry.id))
    }

    /// Returns the commit that the index around a submodule has of it; none if it has none any more.
    pub(super) fn link_of(&self, path: &[u8]) -> Result<Option<String>> {
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

/// Lists the files of a commit, where a git directory has it.
pub(super) fn files_of(git_dir: &Path, commit: &str) -> Option<Vec<(Vec<u8>, Entry)>> {
    let repo = Repo::open_git_dir(git_dir);
    repo.and_then(|repo| repo.files_of(commit)).ok()
}

fn on_no_commit(name: &str) -> String {
    format!("HEAD of the submodule {name} is on no commit")
}

/// Returns the commit that HEAD of a submodule is on; none if it is on none.
fn head_of(git_dir: &Path) -> Option<String> {
    let repo = Repo::open_git_dir(git_dir).ok()?;
    let head = repo.resolve("HEAD").ok().flatten()?;
    repo.is_commit(&head).then_some(head)
}

fn is_there(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

/// Lists everything but folders below a folder, as far as that can be read.
pub(super) fn files_in(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).into_iter().flatten();
        for entry in entries.flatten() {
            let below = folder.join(entry.file_name());
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => folders.push(below),
                false => found.push(below),
            }
        }
    }
    found
}
