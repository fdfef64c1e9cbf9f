//! Where the programs that checks call are found.

use std::collections::BTreeMap;
use std::path::Path;

use crate::model::check;
use crate::model::goals::Goals;

/// Returns the path of each program that the checks of `goals` look for in PATH, as far as it is found; folders of PATH that
/// are relative are below `root`, where checks run.
pub fn found(goals: &Goals, root: &Path) -> BTreeMap<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).map(|folder| root.join(folder));
    let Ok(path) = std::env::join_paths(folders) else {
        return BTreeMap::new();
    };
    let programs = goals
        .goals
        .iter()
        .flat_map(|goal| check::programs(&goal.check));
    programs
        .filter_map(|program| {
            let place = which::which_in(&program, Some(&path), root).ok()?;
            Some((program, place.display().to_string()))
        })
        .collect()
}
