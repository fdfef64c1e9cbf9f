//! The files by which a repository decides what git runs and believes: `config`, hooks, `info/`, alternates, shallow
//! commits; those of its submodules too, because git asks these for their state.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Bytes, LIMIT, Places, keep};
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::exact;

/// Files of a git directory that are settings.
const FILES: [&str; 5] = [
    "config",
    "config.worktree",
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

/// Lists the settings in these git directories; keeps their bytes.
pub fn list(
    places: &Places,
    folders: &[String],
    bytes: &mut Bytes,
) -> Result<BTreeMap<String, Setting>> {
    let mut found = BTreeMap::new();
    for folder in folders {
        let folder = path_of(folder);
        for name in FILES {
            look_at(places, &folder.join(name), &mut found, bytes)?;
        }
        for name in FOLDERS {
            let mut paths = vec![folder.join(name)];
            while let Some(path) = paths.pop() {
                let is_folder = |meta: fs::Metadata| meta.is_dir();
                let full = places.common.join(&path);
                if path.ends_with(DERIVED) {
                    continue;
                }
                if !fs::symlink_metadata(&full).is_ok_and(is_folder) {
                    look_at(places, &path, &mut found, bytes)?;
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

fn look_at(
    places: &Places,
    path: &Path,
    found: &mut BTreeMap<String, Setting>,
    bytes: &mut Bytes,
) -> Result<()> {
    let full = places.common.join(path);
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

/// Makes the settings that are `now` what they were `before`; what they had become goes to the quarantine.
pub fn put_back(
    places: &Places,
    (before, now): (&BTreeMap<String, Setting>, &BTreeMap<String, Setting>),
    wanted: impl Fn(&str) -> Vec<u8>,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (name, setting) in now {
        if before.get(name) != Some(setting) {
            let path = path_of(name);
            quarantine.take_from(&places.common, &path, &Path::new(".git").join(&path))?;
            changed.push(name);
        }
    }
    for (name, setting) in before {
        if now.get(name) == Some(setting) {
            continue;
        }
        let path = places.common.join(path_of(name));
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
    let names: Vec<_> = changed
        .into_iter()
        .map(|name| format!(".git/{name}"))
        .collect();
    Ok(match names.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "settings of git changed while the agent ran and are as before: {}",
            names.join(", ")
        )],
    })
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&exact::encode(name)))
}
