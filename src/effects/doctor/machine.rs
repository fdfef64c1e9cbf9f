//! Where programs are found by schedulers, what may be written, how much room there is, which kill files are there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};

use super::{Asker, Look};
use crate::effects::places::{self, Places};
use crate::effects::{program, stop};
use crate::model::check;
use crate::model::doctor::{Answer, CRON, Folder, Kills, Need, Room, SYSTEMD, Scheduler, Unfound};

/// How systemd says what PATH it gives to services of the user's.
const TOLD: &str = "PATH=";

/// Begins to find out what schedulers would not find of these programs, as far as they are found here.
pub fn schedulers(programs: BTreeSet<String>, asker: &Asker) -> Look<Vec<Scheduler>> {
    let systemd = which::which("systemctl").ok().map(|program| {
        let words = ["--user", "show-environment"].map(Into::into);
        let argv = std::iter::once(program.into()).chain(words).collect();
        asker.ask(argv, Vec::new())
    });
    Look::begin(move || {
        let told = match systemd.and_then(Look::end) {
            Some(Answer::Said(environment)) => path_in(&environment),
            Some(Answer::Failed(_) | Answer::Silent) | None => None,
        };
        let needs: Vec<Need> = programs
            .iter()
            .filter_map(|program| found(program))
            .collect();
        let scheduler = |name, setting, path: String| Scheduler {
            name,
            setting,
            lacks: lacks(&needs, &path),
            path,
        };
        vec![
            scheduler(
                "cron",
                "write before the command of the crontab line: PATH=",
                CRON.to_owned(),
            ),
            scheduler(
                "systemd",
                "write into the service: Environment=PATH=",
                told.unwrap_or_else(|| SYSTEMD.to_owned()),
            ),
        ]
    })
}

/// Begins to look for the programs that the checks of goals call.
pub fn unfound(goals: Vec<(String, String)>) -> Look<Vec<Unfound>> {
    Look::begin(move || {
        let of_goal = |(goal, check): (String, String)| {
            let programs = check::unfound(&check, &program::is_found);
            Unfound {
                goal,
                has_none: check::begins_with(&check, &programs),
                programs,
            }
        };
        let goals = goals.into_iter().map(of_goal);
        goals.filter(|one| !one.programs.is_empty()).collect()
    })
}

fn path_in(environment: &str) -> Option<String> {
    let path = environment
        .lines()
        .find_map(|line| line.strip_prefix(TOLD))?;
    (!path.is_empty()).then(|| path.to_owned())
}

fn found(program: &str) -> Option<Need> {
    let path = which::which(program).ok()?;
    Some(Need {
        program: program.to_owned(),
        folder: path.parent()?.display().to_string(),
    })
}

fn lacks(needs: &[Need], path: &str) -> Vec<Need> {
    let is_lacking = |need: &&Need| which::which_in(&need.program, Some(path), "/").is_err();
    needs.iter().filter(is_lacking).cloned().collect()
}

/// Says which folders cannot be written to, of those that a run writes to in this repository, if there is one.
pub fn folders(repository: Option<(&Path, &Places)>) -> Vec<Folder> {
    let folder = |holds, path: PathBuf, is_needed| Folder {
        holds,
        denied: denied(&path),
        path: path.display().to_string(),
        is_needed,
    };
    let mut all = Vec::new();
    if let Some((root, places)) = repository {
        all.push(folder("the working tree", root.to_owned(), true));
        all.push(folder("git's own", places.common.clone(), true));
        all.push(folder("lock, journal, logs", places.private.clone(), true));
    }
    if let Some(state) = places::state() {
        let mut state = folder("journal and copies", state, false);
        let within = repository.map(|(root, _)| places::refuse_state_within(root));
        if let Some(Err(error)) = within {
            state.denied = Some(error.message);
            state.is_needed = true;
        }
        all.push(state);
    }
    if let Some(config) = places::of_user("XDG_CONFIG_HOME", ".config") {
        let config = config.join("evolve");
        all.push(folder("configuration and KILL file", config, false));
    }
    all
}

/// Returns why a folder cannot be written to, or could not be made below the nearest one that is there.
fn denied(folder: &Path) -> Option<String> {
    let nearest = folder
        .ancestors()
        .find(|above| std::fs::symlink_metadata(above).is_ok())?;
    if !nearest.is_dir() {
        return Some(format!("{} is no folder", nearest.display()));
    }
    let may = access(nearest, Access::WRITE_OK | Access::EXEC_OK);
    let cause = std::io::Error::from(may.err()?);
    Some(match nearest == folder {
        true => cause.to_string(),
        false => format!("{cause}: {}", nearest.display()),
    })
}

/// Returns how much room there is where a run writes, each file system once.
pub fn rooms(root: &Path) -> Vec<Room> {
    let first = root.to_owned();
    let others = [places::state(), Some(std::env::temp_dir())];
    let mut known = BTreeSet::new();
    let mut rooms = Vec::new();
    for path in std::iter::once(first).chain(others.into_iter().flatten()) {
        let there = path.ancestors().find(|above| above.exists());
        let Some(there) = there else { continue };
        let Ok(of) = statvfs(there) else { continue };
        if known.insert((of.f_fsid, of.f_blocks)) {
            rooms.push(Room {
                path: there.display().to_string(),
                free: of.f_bavail.saturating_mul(of.f_frsize),
            });
        }
    }
    rooms
}

/// Returns the kill files that are there.
pub fn kills() -> Kills {
    let words = |path: PathBuf| Some((path.display().to_string(), stop::stop_file(&path)?));
    let files = stop::kill_files()?;
    Ok(files.into_iter().filter_map(words).collect())
}
