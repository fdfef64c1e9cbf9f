//! The files by which a repository decides what git runs and believes: `config` and what it includes, hooks, `info/`,
//! alternates, shallow commits, what it shares with another; those of its submodules too, because git asks these for their
//! state.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Bytes, LIMIT, Places, keep};
use crate::effects::files;
use crate::effects::files::is_beneath;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::git::config;

/// Files of a git directory that are settings.
const FILES: [&str; 6] = [
    "config",
    "config.worktree",
    "commondir",
    "shallow",
    "objects/info/alternates",
    "objects/info/http-alternates",
];
/// Folders of a git directory in which everything is a setting.
const FOLDERS: [&str; 2] = ["hooks", "info"];
/// What lies there, and git makes anew by itself.
const DERIVED: &str = "info/refs";
/// The most files below one of these folders that are looked at.
const MOST: usize = 10_000;
/// How deep submodules' git directories are looked for.
const DEPTH: usize = 8;
/// How a path begins that lies in the working tree around the git directory.
const AROUND: &str = "../";
/// The most files that settings include.
const INCLUDED: usize = 100;

/// What stands at the place of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// A file, with the digest of its bytes and its mode.
    File(String, u32),
    /// A link, with where it leads.
    Link(String),
    /// A folder, a pipe or the like, or a file too large to be a setting.
    Other,
}

/// Returns the git directories of a repository whose settings count, as paths below the shared one.
pub fn folders(places: &Places) -> Vec<String> {
    let mut found = vec![String::new()];
    if let Ok(below) = places.git_dir.strip_prefix(&places.common)
        && !below.as_os_str().is_empty()
    {
        found.push(exact::decode(below.as_os_str().as_bytes()));
    }
    let mut folders = vec![(places.common.join("modules"), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if folder.join("HEAD").is_file()
            && let Ok(below) = folder.strip_prefix(&places.common)
        {
            found.push(exact::decode(below.as_os_str().as_bytes()));
        }
        if depth < DEPTH {
            let is_module = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default();
                ![
                    OsStr::new("objects"),
                    OsStr::new("refs"),
                    OsStr::new("logs"),
                ]
                .contains(&name)
                    && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
            };
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let below = entries.map(|entry| entry.path()).filter(is_module);
            folders.extend(below.map(|path| (path, depth + 1)));
        }
    }
    found
}

/// Returns the name among `folders` of a git directory that lies in the working tree, as old submodules have it; none where
/// the shared one does not lie there.
pub fn folder_around(common: &Path, root: &Path, git_dir: &Path) -> Option<String> {
    let below = git_dir.strip_prefix(root).ok()?;
    let is_around = common.parent() == Some(root) && !git_dir.starts_with(common);
    is_around.then(|| format!("{AROUND}{}", exact::decode(below.as_os_str().as_bytes())))
}

/// Returns those of the folders that lie in the working tree.
pub fn around(common: &Path, folders: &[String]) -> Vec<PathBuf> {
    let root = common.parent().unwrap_or(common);
    let below = folders.iter().filter_map(|it| it.strip_prefix(AROUND));
    below.map(|below| root.join(path_of(below))).collect()
}

/// Returns those of the folders that are still folders, and no part of the path to them leads elsewhere.
pub fn still_there(common: &Path, folders: &[String]) -> Vec<String> {
    let is_there = |folder: &&String| {
        let root = match folder.strip_prefix(AROUND) {
            Some(_) => common.parent().unwrap_or(common),
            None => common,
        };
        let below = exact::encode(folder.strip_prefix(AROUND).unwrap_or(folder));
        is_beneath(root, &[&below[..], b"/"].concat()) || below.is_empty()
    };
    folders.iter().filter(is_there).cloned().collect()
}

/// Returns the files that the settings in these git directories include, whether they are there or not, and what those
/// include; where a condition decides it, too.
pub fn included(common: &Path, folders: &[String]) -> Vec<String> {
    let configs = folders.iter().flat_map(|folder| {
        let folder = common.join(path_of(folder));
        [folder.join("config"), folder.join("config.worktree")]
    });
    let found = included_by(configs.collect());
    let name = |path: &PathBuf| exact::decode(path.as_os_str().as_bytes());
    found.iter().map(name).collect()
}

/// Returns the files that these files of git's configuration include, and what those include.
pub fn included_by(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    let home = std::env::home_dir().unwrap_or_default();
    let mut found = Vec::new();
    while let Some(file) = files.pop() {
        // What a link leads to decides as well.
        let is_link = fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_symlink());
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if is_link && !found.contains(&real) {
            found.push(real.clone());
        }
        let text = files::read_text(&real, LIMIT).unwrap_or_default();
        let folder = file.parent().unwrap_or(&file);
        for path in config::included(&text) {
            let path = match path.strip_prefix("~/") {
                Some(below) => home.join(below),
                None => folder.join(path),
            };
            if found.len() < INCLUDED && !found.contains(&path) {
                found.push(path.clone());
                files.push(path);
            }
        }
    }
    found
}

/// Lists the settings in these git directories, and these files that they include; keeps their bytes.
pub fn list(
    common: &Path,
    folders: &[String],
    included: &[String],
    bytes: &mut Bytes,
) -> Result<BTreeMap<String, Setting>> {
    let mut found = BTreeMap::new();
    for file in included {
        look_at(common, &path_of(file), &mut found, bytes)?;
    }
    for folder in folders {
        let folder = path_of(folder);
        for name in FILES {
            look_at(common, &folder.join(name), &mut found, bytes)?;
        }
        for name in FOLDERS {
            let mut paths = vec![folder.join(name)];
            while let Some(path) = paths.pop() {
                let is_folder = |meta: fs::Metadata| meta.is_dir();
                let full = common.join(&path);
                if path.ends_with(DERIVED) {
                    continue;
                }
                if !fs::symlink_metadata(&full).is_ok_and(is_folder) {
                    look_at(common, &path, &mut found, bytes)?;
                    continue;
                }
                let entries =
                    fs::read_dir(&full).map_err(|cause| Error::io("list", &full, cause))?;
                paths.extend(entries.flatten().map(|entry| path.join(entry.file_name())));
                if found.len() + paths.len() > MOST {
                    return Err(Error::unsafe_repo(format!(
                        "{} has more files than settings ever have",
                        full.display()
                    ))
                    .hint("look at what is in there, and remove what does not belong there"));
                }
            }
        }
    }
    Ok(found)
}

/// Returns those settings that are in one of these folders, or are one of these included files.
pub fn of_folders(
    settings: &BTreeMap<String, Setting>,
    folders: &[String],
    included: &[String],
) -> BTreeMap<String, Setting> {
    let is_in = |name: &str, folder: &str| {
        let below = match folder {
            "" => Some(name),
            folder => name
                .strip_prefix(folder)
                .and_then(|rest| rest.strip_prefix('/')),
        };
        below.is_some_and(|below| {
            let is_in_folder = |folder: &&str| below.split('/').next() == Some(folder);
            FILES.contains(&below) || FOLDERS.iter().any(is_in_folder)
        })
    };
    let is_wanted =
        |name: &String| included.contains(name) || folders.iter().any(|folder| is_in(name, folder));
    let wanted = settings.iter().filter(|(name, _)| is_wanted(name));
    wanted
        .map(|(name, setting)| (name.clone(), setting.clone()))
        .collect()
}

/// Reads what stands at one place below the git directory, if anything does.
pub fn at(common: &Path, path: &Path) -> Result<Option<Setting>> {
    let mut found = BTreeMap::new();
    look_at(common, path, &mut found, &mut Bytes::new())?;
    Ok(found.into_values().next())
}

fn look_at(
    common: &Path,
    path: &Path,
    found: &mut BTreeMap<String, Setting>,
    bytes: &mut Bytes,
) -> Result<()> {
    let full = common.join(path);
    let Ok(meta) = fs::symlink_metadata(&full) else {
        return Ok(());
    };
    let setting = if meta.is_symlink() {
        let target = fs::read_link(&full).map_err(|cause| Error::io("read", &full, cause))?;
        Setting::Link(exact::decode(target.as_os_str().as_bytes()))
    } else if meta.is_file() && meta.len() <= LIMIT {
        match files::read_bounded(&full, LIMIT)? {
            Some(read) => Setting::File(keep(bytes, &read), meta.mode() & 0o7777),
            None => return Ok(()),
        }
    } else {
        Setting::Other
    };
    found.insert(exact::decode(path.as_os_str().as_bytes()), setting);
    Ok(())
}

/// Makes the settings that are `now` what they were `before`; what they had become goes to the quarantine. Returns the names, for
/// people, of those that had changed.
pub fn put_back(
    common: &Path,
    before: &BTreeMap<String, Setting>,
    now: &BTreeMap<String, Setting>,
    wanted: impl Fn(&str) -> Vec<u8>,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (name, setting) in now {
        if before.get(name) != Some(setting) {
            move_away(common, name, quarantine)?;
            changed.push(name);
        }
    }
    for (name, setting) in before {
        if now.get(name) == Some(setting) {
            continue;
        }
        let path = common.join(path_of(name));
        if !matches!(setting, Setting::Other) {
            clear_folder(common, name, quarantine)?;
        }
        match setting {
            Setting::File(digest, mode) => {
                files::replace(&path, &wanted(digest))?;
                fs::set_permissions(&path, Permissions::from_mode(*mode))
                    .map_err(|cause| Error::io("write", &path, cause))?;
            }
            Setting::Link(target) => {
                symlink(path_of(target), &path).map_err(|cause| Error::io("write", &path, cause))?
            }
            Setting::Other => continue,
        }
        changed.push(name);
    }
    changed.sort();
    changed.dedup();
    Ok(changed.into_iter().map(|name| shown(name)).collect())
}

/// Clears a folder away that stands in the place of a setting. What it held that is new among settings was moved before.
fn clear_folder(common: &Path, name: &str, quarantine: &mut Quarantine) -> Result<()> {
    let path = common.join(path_of(name));
    let is_folder = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir());
    match is_folder && fs::remove_dir(&path).is_err() {
        true => move_away(common, name, quarantine),
        false => Ok(()),
    }
}

fn move_away(common: &Path, name: &str, quarantine: &mut Quarantine) -> Result<()> {
    let place = shown(name);
    let place = Path::new(place.trim_start_matches(['~', '/']));
    quarantine.take_from(common, &path_of(name), place)
}

/// Returns a setting's name for people.
fn shown(name: &str) -> String {
    let home = std::env::home_dir().map(|home| format!("{}/", home.display()));
    let of_home = home.and_then(|home| name.strip_prefix(&home));
    match (name.strip_prefix(AROUND), of_home, name.strip_prefix('/')) {
        (Some(below), _, _) => below.to_owned(),
        (None, Some(below), _) => format!("~/{below}"),
        (None, None, Some(_)) => name.to_owned(),
        (None, None, None) => format!(".git/{name}"),
    }
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&exact::encode(name)))
}
