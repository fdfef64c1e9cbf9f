//! Where programs are. Those that `evolve` itself runs are found once, before any agent is called, and never in a folder that
//! an agent could have filled. Those that checks call are looked for again and again, to see that no other one got in front.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::model::check::{self, Front};
use crate::model::goals::Goals;

/// Returns git, as an absolute path where there is one.
pub fn git() -> &'static OsStr {
    static GIT: OnceLock<OsString> = OnceLock::new();
    GIT.get_or_init(|| found("git"))
}

/// Returns the program that starts another one without some variables, as an absolute path where there is one.
pub fn env() -> &'static OsStr {
    static ENV: OnceLock<OsString> = OnceLock::new();
    ENV.get_or_init(|| found("env"))
}

/// Returns the shell that runs checks and agents, as an absolute path where there is one.
pub fn shell() -> &'static OsStr {
    static SHELL: OnceLock<OsString> = OnceLock::new();
    SHELL.get_or_init(|| found("sh"))
}

fn found(name: &str) -> OsString {
    find(name).map_or_else(|| name.into(), PathBuf::into_os_string)
}

/// Returns the first program called `name` on the PATH, passing by what is relative or lies in the work tree of a git
/// repository around the working directory.
pub fn find(name: &str) -> Option<PathBuf> {
    let place = std::env::current_dir().ok()?;
    let mut programs = which::which_in_all(name, std::env::var_os("PATH"), &place).ok()?;
    let tree = work_tree(&place);
    programs.find(|program| is_outside(program, tree.as_deref()))
}

/// Returns the folders of the PATH in which an agent at work in `tree` could put programs.
pub fn folders_within(tree: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| !is_outside(&tree.join(folder), Some(tree)))
        .collect()
}

/// Returns the path of each program that the checks of `goals` look for in PATH, as far as it is found; folders of PATH that
/// are relative are below `root`, where checks run.
pub fn called_by_checks(goals: &Goals, root: &Path) -> BTreeMap<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).map(|folder| root.join(folder));
    let Ok(path) = std::env::join_paths(folders) else {
        return BTreeMap::new();
    };
    let programs = goals.commands().flat_map(check::programs);
    programs
        .filter_map(|program| {
            let place = which::which_in(&program, Some(&path), root).ok()?;
            Some((program, place.display().to_string()))
        })
        .collect()
}

/// Returns what lies in folders from which Python takes modules first, and would be taken in place of its own; paths below
/// `root`, each of a file or a folder.
pub fn taken_for_own(fronts: &[Front], root: &Path) -> Vec<String> {
    let is_module = |path: &Path| {
        let inits = ["__init__.py", "__init__.pyc"];
        path.is_file() || inits.iter().any(|init| path.join(init).is_file())
    };
    let mut found = Vec::new();
    for front in fronts {
        let entries = std::fs::read_dir(root.join(&front.folder));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            if let Some(name) = name.to_str().filter(|name| front.taken_for(name).is_some())
                && is_module(&entry.path())
            {
                found.push(
                    format!("{}/{name}", front.folder)
                        .trim_start_matches('/')
                        .to_owned(),
                );
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn is_outside(path: &Path, tree: Option<&Path>) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    tree.is_none_or(|tree| !path.starts_with(tree) && !real.starts_with(tree))
}

fn work_tree(place: &Path) -> Option<PathBuf> {
    let place = place.canonicalize().ok()?;
    let root = place
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    root.map(Path::to_owned)
}
