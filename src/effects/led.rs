//! Looks through what copies are lent, and through the environments in PATH, for what leads back into the checkout, or into another
//! copy. Only names that tell are looked at, and not more than so many: what is lent can be as large as it likes.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::effects::{files, program};
use crate::model::check::{self, Front};
use crate::model::leads::{Leads, Place};
use crate::model::lent::{self, Bounds, Form, Led};

/// The most names that are looked at in one thing that is lent.
const MOST: usize = 100_000;
/// How files end that say to Python where something lies, without having it take modules from there.
const TOLD: [&str; 2] = [".egg-link", "-nspkg.pth"];
/// The most bytes of a file that tells.
const READ_LIMIT: u64 = 8 << 20;

/// Finds what of these paths of a checkout leads back into it, if anything does.
pub fn in_checkout(root: &Path, links: &[String]) -> Option<Led> {
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    find(root, &links, None)
}

/// Returns where else in a checkout a path of it leads, if it does.
pub fn to_another(root: &Path, path: &str) -> Option<String> {
    let to = below(root, &root.join(path))?;
    (to != Path::new(path)).then(|| to.to_string_lossy().into_owned())
}

/// Returns how variables lead what runs in a copy of a checkout to the copy's code.
pub fn by_variables(root: &Path) -> Leads {
    let place = |path: PathBuf| match path.is_absolute().then(|| below(root, &path)).flatten() {
        Some(below) => Place::Within(below),
        None => Place::Elsewhere(path),
    };
    Leads::of(|variable| {
        let paths = env::var_os(variable).filter(|paths| !paths.is_empty());
        // An empty one stands for the folder in which something runs.
        let paths = paths.iter().flat_map(env::split_paths);
        paths.map(place).collect()
    })
}

/// Returns how variables and environments of Python's do.
pub fn leads(root: &Path) -> Leads {
    let bounds = bounds(root, &[], None);
    let found = bounds.iter().flat_map(environments);
    let found = found.flat_map(|environment| environment.found);
    let taken =
        found.filter_map(|one| Some((below(root, &one.taken?)?, one.within.canonicalize().ok()?)));
    by_variables(root).with_modules(taken.collect())
}

/// Returns the path below a checkout's root of one that leads there.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let (root, real) = (root.canonicalize().ok()?, path.canonicalize().ok()?);
    real.strip_prefix(&root).ok().map(Path::to_owned)
}

/// Says where these commands, each with what it is called, would run a checkout's code though they run in a copy: in an environment
/// that PATH leads to, and that does not ask PYTHONPATH first, or where a command says otherwise; and by a folder of the checkout in
/// PATH. `is_prepared` says that copies are made ready, and may have an environment of their own.
pub fn in_environment(
    root: &Path,
    links: &[String],
    commands: &[(String, String)],
    is_prepared: bool,
) -> Vec<String> {
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let Some(bounds) = bounds(root, &links, None) else {
        return Vec::new();
    };
    let by_tox = settings_of_tox(root);
    let calling = |is_there: &dyn Fn(&Path) -> bool, is_meant: &dyn Fn(&str) -> bool| {
        let is_there = |program: &str| which::which(program).is_ok_and(|found| is_there(&found));
        let is_by_tox = |command: &str| {
            let mut programs = lent::tox::programs(command, &by_tox).into_iter();
            programs.any(|program| is_there(&program))
        };
        let calls = |command: &str| is_meant(command) && lent::calls(command, &is_there);
        let calling = commands
            .iter()
            .filter(|(_, command)| calls(command) || is_by_tox(command));
        calling.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
    };
    let is_alone = |command: &str| !lent::has_its_own(command);
    let is_any_alone = commands.iter().any(|(_, command)| is_alone(command));
    let mut told = Vec::new();
    for environment in environments(&bounds) {
        let is_there = |found: &Path| found.parent() == Some(environment.programs.as_path());
        match environment.leads_for_good() {
            Some((file, to)) => {
                let calling = calling(&is_there, &is_alone);
                let any_may = environment.is_marked && !is_prepared && is_any_alone;
                if !calling.is_empty() || any_may {
                    told.push(lent::by_environment(&calling, file, to));
                }
            }
            None => {
                let taken = environment.found.iter().filter_map(|it| it.taken.as_ref());
                let folders: Vec<String> = taken
                    .filter_map(|it| below(root, it)?.to_str().map(str::to_owned))
                    .collect();
                let is_undone = |command: &str| lent::leads_elsewhere(command, &folders);
                let calling = calling(&is_there, &is_undone);
                let first = environment.found.first();
                if let Some(first) = first.filter(|_| !calling.is_empty()) {
                    told.push(lent::by_environment(&calling, &first.shown, &first.to));
                }
            }
        }
    }
    // A program that is installed for itself is a link into an environment of its own.
    for home in homes(commands) {
        let is_there = |found: &Path| home_of(found).as_deref() == Some(&home);
        let calling = calling(&is_there, &is_alone);
        let environment = Environment::at(home.join("bin"), &bounds);
        let first = environment.as_ref().and_then(|it| it.found.first());
        if let Some(first) = first.filter(|_| !calling.is_empty()) {
            told.push(lent::by_environment(&calling, &first.shown, &first.to));
        }
    }
    for folder in in_path().filter(|folder| folder.is_absolute()) {
        let is_forbidden = folder.canonicalize().is_ok_and(|real| bounds.forbid(&real));
        if !is_forbidden || below(root, &folder).is_none_or(|it| lent::is_of_tools(&it)) {
            continue;
        }
        let calling = calling(&|found| found.parent() == Some(&folder), &|_| true);
        if !calling.is_empty() {
            told.push(lent::by_folder(&calling, &folder));
        }
    }
    told
}

/// Returns what tox is told in the form of `tox.ini`: there, in `setup.cfg`, or within `pyproject.toml`.
fn settings_of_tox(root: &Path) -> String {
    let files = ["pyproject.toml", "setup.cfg", "tox.ini"];
    let texts =
        files.map(|file| files::read_text(&root.join(file), READ_LIMIT).unwrap_or_default());
    texts.join("\n")
}

/// Returns the environments behind links in PATH that commands call.
fn homes(commands: &[(String, String)]) -> BTreeSet<PathBuf> {
    let programs = commands
        .iter()
        .flat_map(|(_, command)| check::programs(command));
    let found = programs.filter_map(|program| which::which(program).ok());
    found.filter_map(|found| home_of(&found)).collect()
}

/// Returns the environment into which a link in PATH leads.
fn home_of(found: &Path) -> Option<PathBuf> {
    let real = found.canonicalize().ok()?;
    let home = real.parent()?.parent()?;
    let is_elsewhere = found.parent()?.canonicalize().ok()? != real.parent()?;
    (is_elsewhere && home.join("pyvenv.cfg").exists()).then(|| home.to_owned())
}

/// Returns the folders in PATH.
fn in_path() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    folders.dedup();
    folders.into_iter()
}

/// An environment whose programs PATH has.
struct Environment {
    programs: PathBuf,
    /// It says itself that it is one.
    is_marked: bool,
    /// What of it leads into a checkout.
    found: Vec<Found>,
}

impl Environment {
    /// Returns what leads to a checkout whatever PYTHONPATH has: a file, and where to.
    fn leads_for_good(&self) -> Option<(&str, &Path)> {
        let taken: Vec<&PathBuf> = self
            .found
            .iter()
            .filter_map(|one| one.taken.as_ref())
            .collect();
        let is_taken = |one: &Found| {
            let is_told = || {
                let mut taken = taken.iter();
                taken.any(|folder| folder.starts_with(&one.to) || one.to.starts_with(folder))
            };
            one.taken.is_some() || one.is_told && is_told()
        };
        let one = self.found.iter().find(|one| !is_taken(one))?;
        Some((&one.shown, &one.to))
    }
}

/// Returns the environments in PATH that lead to what `bounds` forbid.
fn environments(bounds: &Bounds) -> Vec<Environment> {
    let folders = in_path().filter(|folder| folder.ends_with("bin"));
    let all = folders.filter_map(|programs| Environment::at(programs, bounds));
    all.filter(|environment| !environment.found.is_empty())
        .collect()
}

impl Environment {
    /// Looks at the one whose programs lie in this folder.
    fn at(programs: PathBuf, bounds: &Bounds) -> Option<Environment> {
        let home = programs.parent().filter(|home| home.is_absolute())?;
        let has = |name: &str| home.join(name).exists();
        let is_marked = has("pyvenv.cfg") || has("conda-meta");
        // A folder of programs of the repository itself is none.
        let real = home.canonicalize().ok();
        let is_own = |real: &PathBuf| real.starts_with(&bounds.checkout);
        if !is_marked && real.as_ref().is_some_and(is_own) {
            return None;
        }
        let lib = home.join("lib");
        let top = Folder {
            shown: lib.to_string_lossy().into_owned(),
            path: lib,
            depth: 1,
        };
        let mut bounds = bounds.clone();
        // What it has of its own; of a folder of the system (`/usr`), the checkout may be a part.
        bounds
            .lent
            .extend(real.filter(|real| !bounds.checkout.starts_with(real)));
        Some(Environment {
            is_marked,
            found: all_through(top, &bounds),
            programs,
        })
    }
}

/// Finds what of these paths of a checkout leads back into it, or into another copy than this, if anything does.
pub fn find(root: &Path, links: &[&str], copy: Option<&Path>) -> Option<Led> {
    if links.is_empty() {
        return None;
    }
    let bounds = bounds(root, links, copy)?;
    links.iter().find_map(|link| {
        let top = Folder {
            path: root.join(link).canonicalize().ok()?,
            shown: (*link).to_owned(),
            depth: 0,
        };
        let (shown, to) = through(top, &bounds)?;
        Some(Led {
            link: (*link).to_owned(),
            file: shown,
            to,
        })
    })
}

fn bounds(root: &Path, links: &[&str], copy: Option<&Path>) -> Option<Bounds> {
    let real = |link: &&str| root.join(link).canonicalize().ok();
    Some(Bounds {
        checkout: root.canonicalize().ok()?,
        lent: links.iter().filter_map(real).collect(),
        copies: copy.and_then(Path::parent).map(Path::to_owned),
        copy: copy.map(Path::to_owned),
    })
}

/// A folder that is looked into.
struct Folder {
    path: PathBuf,
    /// The path by which it is known to the user.
    shown: String,
    /// How far it is from where the look began.
    depth: usize,
}

impl Folder {
    fn name(&self) -> &str {
        self.shown.rsplit('/').next().unwrap_or(&self.shown)
    }
}

/// What leads where it must not.
struct Found {
    /// The file or link.
    shown: String,
    /// The folder in which it lies.
    within: PathBuf,
    /// It only tells of an installation, and takes no effect by itself.
    is_told: bool,
    /// Where it leads.
    to: PathBuf,
    /// The folder from which Python takes modules because of it, behind those of PYTHONPATH.
    taken: Option<PathBuf>,
}

/// Returns the first file or link in a folder that leads where it must not, with where that is.
fn through(top: Folder, bounds: &Bounds) -> Option<(String, PathBuf)> {
    let mut first = None;
    look_through(top, bounds, &mut |found| {
        first = Some((found.shown, found.to));
        ControlFlow::Break(())
    });
    first
}

/// Returns all that leads where it must not.
fn all_through(top: Folder, bounds: &Bounds) -> Vec<Found> {
    let mut all = Vec::new();
    look_through(top, bounds, &mut |found| {
        all.push(found);
        ControlFlow::Continue(())
    });
    all
}

fn look_through(top: Folder, bounds: &Bounds, tell: &mut dyn FnMut(Found) -> ControlFlow<()>) {
    let mut left = MOST;
    let mut open = VecDeque::from([top]);
    while let Some(folder) = open.pop_front() {
        for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
            if left == 0 {
                return;
            }
            left -= 1;
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let shown = format!("{}/{name}", folder.shown);
            if kind.is_dir() && lent::leads_on(folder.name(), &name, folder.depth) {
                let is_way = lent::is_way(&name);
                let below = Folder {
                    path,
                    shown,
                    depth: folder.depth + 1,
                };
                match is_way {
                    true => open.push_front(below),
                    false => open.push_back(below),
                }
                continue;
            }
            let found = match kind.is_symlink() {
                true => linked(&folder, &path, shown, bounds).into_iter().collect(),
                false if kind.is_file() => told(&folder, &name, &shown, bounds),
                false => Vec::new(),
            };
            for one in found {
                if tell(one).is_break() {
                    return;
                }
            }
        }
    }
}

/// Returns where a link leads that must not.
fn linked(folder: &Folder, path: &Path, shown: String, bounds: &Bounds) -> Option<Found> {
    let to = path.canonicalize().ok().filter(|to| bounds.forbid(to))?;
    let is_package = lent::has_packages(folder.name()) && to.file_name() == path.file_name();
    Some(Found {
        shown,
        within: folder.path.clone(),
        is_told: false,
        taken: to
            .parent()
            .filter(|folder| is_package && !comes_in_front(folder))
            .map(Path::to_owned),
        to,
    })
}

/// Says whether a folder has modules that Python would take in place of its own, were it in PYTHONPATH.
fn comes_in_front(folder: &Path) -> bool {
    !program::taken_for_own(&[Front::of(String::new())], folder).is_empty()
}

/// Returns where a file tells of that it must not lead to.
fn told(folder: &Folder, name: &str, shown: &str, bounds: &Bounds) -> Vec<Found> {
    let Some(form) = lent::form(folder.name(), name) else {
        return Vec::new();
    };
    let bytes = files::read_bounded(&folder.path.join(name), READ_LIMIT);
    let Some(bytes) = bytes.ok().flatten() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let real = |path: &String| folder.path.join(path).canonicalize().ok();
    let taken = lent::taken_from(name, &text);
    let found = lent::paths(form, &text).into_iter().filter_map(|path| {
        let to = real(&path).filter(|to| bounds.forbid(to))?;
        let from = taken.iter().find(|(known, _)| *known == path);
        Some(Found {
            shown: shown.to_owned(),
            within: folder.path.clone(),
            is_told: form == Form::Url || TOLD.iter().any(|end| name.ends_with(end)),
            taken: from
                .and_then(|(_, folder)| real(folder))
                .filter(|folder| !lent::is_built(folder) && !comes_in_front(folder)),
            to,
        })
    });
    found.collect()
}
