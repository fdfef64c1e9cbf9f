//! Looks through what copies are lent for what leads back into the checkout, or into another copy. Only names that tell are
//! looked at, and not more than so many: what is lent can be as large as it likes.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::Slot;
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::model::lent::{self, Bounds, Led};

/// The most names that are looked at in one thing that is lent.
const MOST: usize = 100_000;
/// The most bytes of a file that tells.
const READ_LIMIT: u64 = 8 << 20;

/// Finds what of these paths of a checkout leads back into it, if anything does.
pub fn in_checkout(root: &Path, links: &[String]) -> Option<Led> {
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    find(root, &links, None)
}

/// Returns where else in a checkout a path of it leads, if it does.
pub fn to_another(root: &Path, path: &str) -> Option<String> {
    let (root, real) = (
        root.canonicalize().ok()?,
        root.join(path).canonicalize().ok()?,
    );
    let to = real.strip_prefix(&root).ok()?;
    (to != Path::new(path)).then(|| to.to_string_lossy().into_owned())
}

/// Says where these commands, each with what it is called, would run a checkout's code though they run in a copy: in an environment
/// that PATH leads to, or by a variable. `is_prepared` says that copies are made ready, and may have one of their own.
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
    let mut told: Vec<String> = lent::VARIABLES
        .iter()
        .filter_map(|variable| {
            let paths = env::var_os(variable)?;
            let absolute = env::split_paths(&paths).filter(|path| path.is_absolute());
            let mut real = absolute.filter_map(|path| path.canonicalize().ok());
            Some(lent::by_variable(
                variable,
                &real.find(|to| bounds.forbid(to))?,
            ))
        })
        .collect();
    let commands = commands.iter();
    let commands: Vec<_> = commands
        .filter(|(_, command)| !lent::has_its_own(command))
        .collect();
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    folders.dedup();
    for folder in folders.iter().filter(|folder| folder.ends_with("bin")) {
        let Some(home) = folder.parent().filter(|home| home.is_absolute()) else {
            continue;
        };
        let has = |name: &str| home.join(name).exists();
        let is_environment = has("pyvenv.cfg") || has("conda-meta");
        // A folder of programs of the repository itself is none.
        let real = home.canonicalize();
        if !is_environment && real.is_ok_and(|real| real.starts_with(&bounds.checkout)) {
            continue;
        }
        let top = Folder {
            path: home.join("lib"),
            shown: home.join("lib").to_string_lossy().into_owned(),
            depth: 1,
        };
        let Some((file, to)) = through(top, &bounds) else {
            continue;
        };
        let is_there = |program: &str| {
            let found = which::which(program);
            found.is_ok_and(|found| found.parent() == Some(folder.as_path()))
        };
        let calling = commands
            .iter()
            .filter(|(_, command)| lent::calls(command, &is_there));
        let calling: Vec<&str> = calling.map(|(name, _)| name.as_str()).collect();
        if !calling.is_empty() || is_environment && !is_prepared && !commands.is_empty() {
            told.push(lent::by_environment(&calling, &file, &to));
        }
    }
    told
}

impl Slot {
    /// Finds what of all that is lent here leads back into the checkout, or into another copy.
    pub(super) fn led(&self, user: &Repo) -> Option<Led> {
        let links = self.provisions.link.iter().map(String::as_str);
        let links: Vec<&str> = links.filter(|link| self.is_lent(user, link)).collect();
        find(&user.root, &links, Some(&self.root))
    }
}

fn find(root: &Path, links: &[&str], copy: Option<&Path>) -> Option<Led> {
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

/// Returns the first file or link in a folder that leads where it must not, with where that is.
fn through(top: Folder, bounds: &Bounds) -> Option<(String, PathBuf)> {
    let mut left = MOST;
    let mut open = VecDeque::from([top]);
    while let Some(folder) = open.pop_front() {
        for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
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
            let to = match kind.is_symlink() {
                true => path.canonicalize().ok().filter(|to| bounds.forbid(to)),
                false if kind.is_file() => told(&folder, &name, bounds),
                false => None,
            };
            if let Some(to) = to {
                return Some((shown, to));
            }
        }
    }
    None
}

/// Returns where a file tells of that it must not lead to.
fn told(folder: &Folder, name: &str, bounds: &Bounds) -> Option<PathBuf> {
    let form = lent::form(folder.name(), name)?;
    let bytes = files::read_bounded(&folder.path.join(name), READ_LIMIT).ok()??;
    let paths = lent::paths(form, &String::from_utf8_lossy(&bytes));
    let mut real = paths
        .iter()
        .filter_map(|path| folder.path.join(path).canonicalize().ok());
    real.find(|to| bounds.forbid(to))
}
