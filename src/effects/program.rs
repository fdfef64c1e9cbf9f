//! Where programs are. Those that `evolve` itself runs are found once, before any agent is called, and never in a folder that
//! an agent could have filled. Those that checks call are looked for again and again, to see that no other one got in front.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::effects::watch;
use crate::model::check::{self, Front, Packaged};
use crate::model::goals::Goals;
use crate::model::text;

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

/// Returns `ao`, if it is installed.
pub fn ao() -> Option<&'static Path> {
    static AO: OnceLock<Option<PathBuf>> = OnceLock::new();
    AO.get_or_init(|| find("ao")).as_deref()
}

/// Returns why the shell cannot read a command, if it cannot; nothing of it is run.
pub fn shell_problem(command: &str) -> Option<String> {
    let mut shell = Command::new(shell());
    shell.args(["-n", "-c", command]).stdin(Stdio::null());
    let output = shell.output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| !line.trim().is_empty());
    let line = text::clean_line(line.unwrap_or("it says no more"));
    // Where it lies is nobody's business.
    let called = format!("{}: ", Path::new(self::shell()).display());
    let line = match line.strip_prefix(&called) {
        Some(rest) => format!("sh: {rest}"),
        None => line,
    };
    (!output.status.success()).then_some(line)
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

/// Says whether a program of this name is found on the PATH.
pub fn is_found(name: &str) -> bool {
    which::which_global(name).is_ok()
}

/// Returns the folders of the PATH in which an agent at work in `tree` could put programs.
pub fn folders_within(tree: &Path) -> Vec<PathBuf> {
    let Some(path) = std::env::var_os("PATH") else {
        return Vec::new();
    };
    std::env::split_paths(&path)
        .filter(|folder| !is_outside(&tree.join(folder), Some(tree)))
        .collect()
}

/// Says whether a path below the root is there where goals are measured.
type IsMeasured<'a> = &'a dyn Fn(&str) -> bool;

/// Returns the path of each program that the checks of `goals` look for in PATH, as far as it is found, and of those that package
/// managers of Node's look for in node_modules before; folders of PATH that are relative are below `root`, where checks run.
pub fn called_by_checks(
    goals: &Goals,
    packaged: &BTreeSet<Packaged>,
    is_measured: IsMeasured<'_>,
    root: &Path,
) -> BTreeMap<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).map(|folder| root.join(folder));
    let folders: Vec<PathBuf> = folders.collect();
    let in_path = goals.commands().flat_map(check::programs);
    let in_path = in_path.filter_map(|program| {
        let place = found_in(&program, &folders, root).next()?;
        Some((program, place.display().to_string()))
    });
    let is_there = |place: &PathBuf| {
        let below = place.strip_prefix(root).ok().and_then(Path::to_str);
        below.is_none_or(is_measured)
    };
    let behind = packaged.iter().filter_map(|one| {
        let from = one
            .folders
            .iter()
            .flat_map(|folder| bins(&root.join(folder)));
        let all: Vec<PathBuf> = from.chain(folders.iter().cloned()).collect();
        let place = found_in(&one.program, &all, root).find(is_there)?;
        Some((one.to_string(), place.display().to_string()))
    });
    in_path.chain(behind).collect()
}

/// Returns the programs of this name in these folders.
fn found_in(name: &str, folders: &[PathBuf], root: &Path) -> impl Iterator<Item = PathBuf> {
    let path = std::env::join_paths(folders).ok();
    let all = path.and_then(|path| which::which_in_all(name, Some(path), root).ok());
    all.into_iter().flatten()
}

/// Returns the folders in which they look for programs, seen from `folder`.
fn bins(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors();
    above.map(|folder| folder.join(check::BIN)).collect()
}

/// Returns what tells the programs found in `places` below `root` from other versions, by their paths below it.
pub fn versions(
    places: &BTreeMap<String, String>,
    root: &Path,
) -> BTreeMap<String, Option<String>> {
    let below = places
        .values()
        .filter_map(|place| Path::new(place).strip_prefix(root).ok());
    let below = below.filter_map(Path::to_str);
    below
        .map(|path| (path.to_owned(), watch::digest_of(&root.join(path))))
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
