//! Where a repository lies on the machine, as far as checks may tell by their words.

use std::path::{Path, PathBuf};

use crate::effects::workspace::Workspace;
use crate::model::check::Root;
use crate::model::goals::Goals;

/// What ends a path in shell text.
const ENDS: &str = " \t\r\n\"'`;&|()<>=:,{}$*?[";

impl Workspace<'_> {
    /// Returns the names of this tree's root, and those of the user's where this is a copy: those that are known of it, and those in
    /// the checks of `goals` that lead there by way of links.
    pub(in crate::effects::workspace) fn root_as_named(&self, goals: &Goals) -> Root {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let mut names = Vec::new();
        for root in [&self.repo.root, &self.repo.home] {
            let real = root.canonicalize().ok();
            let of_home = home.as_deref().zip(real.as_deref());
            let of_home = of_home.and_then(|(home, real)| by_way_of(home, real));
            names.extend([Some(root.clone()), real, of_home].into_iter().flatten());
        }
        let real = names.clone();
        for command in goals.commands() {
            names.extend(named_in(command, home.as_deref(), &real));
        }
        names.sort();
        names.dedup();
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        let names: Vec<String> = names.iter().filter_map(text).collect();
        // Elsewhere it is nothing that is known of a path.
        let home = home.as_ref().and_then(text);
        let home = home.filter(|home| names.iter().any(|name| Path::new(name).starts_with(home)));
        Root::of(&names, home.as_deref()).with_modules(self.repo.module_folders())
    }
}

/// Returns the path to `real` that begins with a folder, which may be named by way of a link.
fn by_way_of(folder: &Path, real: &Path) -> Option<PathBuf> {
    let below = real.strip_prefix(folder.canonicalize().ok()?).ok()?;
    Some(folder.join(below))
}

/// Returns the beginnings of absolute paths in shell text that lead to one of these folders.
fn named_in(command: &str, home: Option<&Path>, real: &[PathBuf]) -> Vec<PathBuf> {
    let mut text = command.to_owned();
    if let Some(home) = home.and_then(Path::to_str) {
        for variable in ["${HOME}", "$HOME", "~"] {
            text = text.replace(variable, home);
        }
    }
    let words = text.split(|c| ENDS.contains(c));
    let paths = words.filter(|word| word.starts_with('/')).map(Path::new);
    let above = paths.flat_map(Path::ancestors);
    let is_there = |path: &&Path| path.canonicalize().is_ok_and(|path| real.contains(&path));
    above.filter(is_there).map(Path::to_owned).collect()
}
