//! Opens what an agent or a check shut by a mode: the working tree and the git directory, before anything is read in them,
//! and the folders that the user keeps shut while files in them are put back.

use std::cell::LazyCell;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Start, Workspace};
use crate::effects::files::is_beneath;
use crate::effects::guard;
use crate::effects::mirror::Mirror;
use crate::effects::modes::{self, Done, Folders};
use crate::effects::pipes;
use crate::effects::places::Places;
use crate::error::Result;
use crate::model::ledger;

/// The git directory at the root of a working tree, which is looked after apart from it.
const GIT_DIR: &str = ".git";

impl Start {
    /// Gives the git directory the modes back that it had, and its owner what is needed of the rest of it.
    pub fn open_git_dir(&self, places: &Places) -> Done {
        let mut done = Done::default();
        if self.guarded.is_empty() {
            return done;
        }
        if let Ok(mirror) = Mirror::of(places) {
            mirror.open(self.since);
        }
        // What was noted may lie in a folder that was shut.
        let mut opened = open_way(places);
        let (_, of_git) = self.guarded.folders(places);
        opened.extend(modes::open_git_dir(&places.common, &of_git, self.since));
        // That of a linked working tree may be named by a path of its own.
        if !places.git_dir.starts_with(&places.common) {
            let none = Folders::default();
            opened.extend(modes::open_git_dir(&places.git_dir, &none, self.since));
        }
        let changed = of_git.give_back(&places.common);
        done.note(GIT_DIR, &of_git, opened, changed);
        done
    }

    /// The same for the working tree as well: its folders, and the user's files that git does not track. Tracked files follow when
    /// git has told which these are. Says what was done. Comes before all else after an agent.
    pub fn open(&self, places: &Places, root: &Path) -> Vec<String> {
        let is_shut = modes::open_folder(root);
        let mut done = self.open_git_dir(places);
        let (tree, _) = self.guarded.folders(places);
        let mut changed = tree.give_back(root);
        changed.extend(self.kept.give_modes_back(root));
        let mut opened = open_ledger(root);
        opened.extend(is_shut.then(PathBuf::new));
        done.note("", &tree, opened, changed);
        done.notes()
    }
}

impl Start {
    /// Opens the way into a slot to its owner; what is in it is opened where it is looked at.
    pub fn open_slot(&self, root: &Path) -> Vec<String> {
        let mut done = Done::default();
        let mut opened = Vec::from_iter(modes::open_folder(root).then(PathBuf::new));
        opened.extend(open_ledger(root));
        done.note("", &Folders::default(), opened, Vec::new());
        done.notes()
    }
}

impl Workspace<'_> {
    /// Looks through all folders of the tree, and notes their modes. Refuses one in which git would wait.
    pub(super) fn look_through(&self) -> Result<Folders> {
        let root = &self.repo.root;
        let mut folders = Folders::default();
        let mut note = |folder: &Path| {
            if !folder.starts_with(GIT_DIR) {
                folders.note(root, folder);
            }
        };
        pipes::refuse(&self.repo.root, &self.repo.plain, &mut note)?;
        Ok(folders)
    }

    /// Returns what opens a new folder to its owner right before it is looked into. What was there before is as it was then, and
    /// so stays what is ignored.
    pub(super) fn way_in(&self, start: &Start) -> impl FnMut(&Path) {
        let root = &self.repo.root;
        let tree = LazyCell::new(|| start.guarded.folders(&self.repo.own_places()).0);
        move |folder| {
            let is_known = folder.starts_with(GIT_DIR) || tree.has(folder);
            let full = root.join(folder);
            if is_known || !modes::is_shut(&full) {
                return;
            }
            let path = [folder.as_os_str().as_bytes(), b"/"].concat();
            if !start.kept.was_ignored(&path) {
                modes::open_folder(&full);
            }
        }
    }

    /// Opens the folders that the user keeps shut, so that files in them can be put back; `shut_again` is to follow. Says whether
    /// there are any.
    pub fn open_shut(&self, start: &Start) -> bool {
        let (tree, _) = start.guarded.folders(&self.repo.own_places());
        tree.open(&self.repo.root)
    }

    /// Gives the folders of the tree their modes back, those that were made anew among them.
    pub fn shut_again(&self, start: &Start) {
        let (tree, _) = start.guarded.folders(&self.repo.own_places());
        tree.give_back(&self.repo.root);
    }

    /// Lets the owner read and write a tracked file of which the index has noted this mode, as git shows it; says whether that was denied.
    pub(super) fn open_tracked(&self, path: &Path, mode: &[u8]) -> bool {
        let usual = match mode {
            b"100755" => 0o777,
            _ => 0o666,
        };
        modes::open_to_write(&self.repo.root.join(path), usual)
    }
}

/// Opens the way to what is remembered of a git directory, and that; returns what was shut.
fn open_way(places: &Places) -> Vec<PathBuf> {
    let mut opened = Vec::new();
    let remembered = guard::folder(&places.private);
    for folder in [
        &places.common,
        &places.git_dir,
        &places.private,
        &remembered,
    ] {
        let below = folder.strip_prefix(&places.common).ok();
        if let Some(below) = below
            && modes::open_folder(folder)
        {
            opened.push(below.to_owned());
        }
    }
    for entry in fs::read_dir(&remembered).into_iter().flatten().flatten() {
        modes::open_to_read(&entry.path(), 0o666);
    }
    opened
}

/// Opens `evolve`'s folders in a working tree, and the files in them; returns what was shut.
fn open_ledger(root: &Path) -> Vec<PathBuf> {
    let mut opened = Vec::new();
    // Outermost first.
    for folder in ledger::FOLDERS.into_iter().chain([ledger::OUTBOX]) {
        let inside = format!("{folder}/");
        if modes::open_folder(&root.join(folder)) {
            opened.push(PathBuf::from(folder));
        }
        if !is_beneath(root, inside.as_bytes()) {
            continue;
        }
        for entry in fs::read_dir(root.join(folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = Path::new(folder).join(entry.file_name());
            if folder != ".agents" && modes::open_to_write(&root.join(&path), 0o666) {
                opened.push(path);
            }
        }
    }
    opened
}
