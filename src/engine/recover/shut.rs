//! An agent can shut the working tree or its git directory by a mode, so that not even the journal inside is found. Where the one
//! outside tells of a dead session, as much is opened as it takes to find the repository; the rest follows under the lock.

use std::fs;
use std::path::{Path, PathBuf};

use crate::effects::modes;
use crate::effects::places::{self, Places};

/// What stands in the private directory that is needed first.
const FIRST: [&str; 2] = ["lock", "journal.json"];

/// Opens the way to the repository around a folder to its owner, if a session in it was cut short.
pub fn open_shut(folder: &Path) {
    open_journals();
    let repos = folder.ancestors().map(|above| above.join(".git"));
    let Some(git_dir) = repos.into_iter().find(|git_dir| was_cut_short(git_dir)) else {
        return;
    };
    let private = git_dir.join("evolve");
    let way = git_dir.parent().into_iter().chain([&*git_dir, &*private]);
    for folder in way {
        if fs::symlink_metadata(folder).is_ok_and(|meta| !meta.is_dir()) {
            return;
        }
        modes::open_folder(folder);
    }
    for name in FIRST {
        modes::open_to_write(&private.join(name), 0o666);
    }
}

/// Opens the journals outside of repositories, which are `evolve`'s own.
fn open_journals() {
    let Some(state) = places::state() else {
        return;
    };
    modes::open_folder(&state);
    let entries = fs::read_dir(&state).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|end| end == "journal");
    for journal in paths.filter(is_journal) {
        modes::open_to_write(&journal, 0o666);
    }
}

/// Returns the places of the repository around a folder that nobody takes for one any more, if a session in it was cut short
/// and its private directory tells of it: without its HEAD it is none to git.
pub fn lost_places(folder: &Path) -> Option<Places> {
    let repos = folder.ancestors().map(|above| above.join(".git"));
    let git_dir = repos.into_iter().find(|git_dir| was_cut_short(git_dir))?;
    let places = places_of(&git_dir.canonicalize().ok()?);
    let is_there = |name: &str| fs::symlink_metadata(places.private.join(name)).is_ok();
    is_there("journal.json").then_some(places)
}

fn was_cut_short(git_dir: &Path) -> bool {
    places::outside(&places_of(git_dir), "journal").is_some_and(|journal| journal.is_file())
}

fn places_of(git_dir: &Path) -> Places {
    Places {
        git_dir: git_dir.to_owned(),
        common: git_dir.to_owned(),
        private: git_dir.join("evolve"),
    }
}
