//! The user's own configuration of git, which lies outside any repository: `~/.gitconfig`, its like for the whole machine,
//! what these include, and the attributes and excludes that they name. It is the user's to change and an agent's to reach, so
//! `evolve` writes to none of it; but its git goes by what stood there before the session's first agent. Where something is
//! different afterwards, all of it as it was is written to the private directory, from memory and each time anew, and git is
//! told to go by that.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::settings::included_by;
use crate::effects::files;
use crate::effects::git::Git;
use crate::effects::places::{self, Places};
use crate::error::{Error, Result};
use crate::model::git::config::{self, Setting};
use crate::model::{digest, exact};

/// The most bytes of one of these files.
const LIMIT: u64 = 16 << 20;
/// The oldest git that can be told to go by other files of the user's.
const OLDEST: (u32, u32) = (2, 32);
/// The folder of what git is told to go by, below the private directory.
const FOLDER: &str = "users";
/// What stands for a file that is not there, and for what is no file.
const MISSING: &str = "missing";
const OTHER: &str = "other";

/// What the user's configuration was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// The places where git looks for it, and a digest of what stood in each; a path stands for its bytes exactly.
    files: BTreeMap<String, String>,
    /// All settings, in git's words.
    config: String,
    /// All attributes.
    attributes: String,
    /// The excludes.
    excludes: String,
}

impl Users {
    /// Says whether nothing was read yet.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Reads all of it as git does. `git` is at work in the tree whose places these are.
    pub fn read(git: &Git, root: &Path, places: &Places) -> Result<Users> {
        let listed = git.run(&["config", "--list", "--show-origin", "-z"])?;
        let entries = entries(&listed);
        let own = places.common.join("config").canonicalize().ok();
        let is_own = |entry: &&Entry| {
            let origin = entry.origin.as_ref().map(|origin| root.join(origin));
            origin.is_none_or(|origin| origin.canonicalize().ok() == own)
        };
        let end = entries.iter().position(|entry| is_own(&entry));
        let users = &entries[..end.unwrap_or(entries.len())];
        let mut config: Vec<PathBuf> = users
            .iter()
            .filter_map(|entry| entry.origin.clone())
            .collect();
        config.extend(config_places());
        config.extend(included_by(config.clone()));
        let named = |key: &str, default: &str| {
            let named = entries.iter().rev().find(|entry| entry.setting.0 == key);
            match named.and_then(|entry| entry.setting.1.as_ref()) {
                Some(path) => Some(root.join(in_home(path))),
                None => {
                    places::of_user("XDG_CONFIG_HOME", ".config").map(|folder| folder.join(default))
                }
            }
        };
        let attributes = named("core.attributesfile", "git/attributes");
        let excludes = named("core.excludesfile", "git/ignore");
        let attributes: Vec<_> = system("attributes").into_iter().chain(attributes).collect();
        let digests = config.iter().chain(&attributes).chain(&excludes);
        let digests =
            digests.map(|path| (exact::decode(path.as_os_str().as_bytes()), digest_of(path)));
        let settings: Vec<Setting> = users
            .iter()
            .map(|entry| entry.setting.clone())
            .filter(|(name, _)| !name.starts_with("include.") && !name.starts_with("includeif."))
            .collect();
        let text = |path: &PathBuf| {
            let bytes = bytes_of(path).unwrap_or_default();
            exact::decode(&bytes) + "\n"
        };
        Ok(Users {
            files: digests.collect(),
            config: config::written(&settings),
            attributes: attributes.iter().map(text).collect(),
            excludes: excludes.iter().map(text).collect(),
        })
    }

    /// Returns all settings in git's words.
    pub fn config(&self) -> &str {
        &self.config
    }

    /// Has git go by what was read, if something else stands there now; says so.
    pub fn hold(&self, git: &Git, private: &Path) -> Result<Option<String>> {
        let is_changed =
            |(path, digest): &(&String, &String)| digest_of(&path_of(path)) != **digest;
        let changed: Vec<_> = self.files.iter().filter(is_changed).collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let changed: Vec<PathBuf> = changed.iter().map(|(path, _)| path_of(path)).collect();
        refuse_pipes()?;
        let folder = private.join(FOLDER);
        files::remove_unless_folder(&folder)?;
        for (name, text) in [
            ("config", &self.config),
            ("attributes", &self.attributes),
            ("excludes", &self.excludes),
        ] {
            files::replace(&folder.join(name), &exact::encode(text))?;
        }
        git.go_by(&folder);
        let names: Vec<_> = changed.iter().map(|path| shown(path)).collect();
        let names = names.join(", ");
        if git.version()? < OLDEST {
            return Err(Error::unsafe_repo(format!(
                "{names} changed while an agent ran, and this git cannot be told to go by what it was"
            ))
            .hint("look at it, put it in order, and run evolve again; git 2.32 or later can be told"));
        }
        Ok(Some(format!(
            "your own settings of git changed while the agent ran: {names}; evolve's git goes by what they were, and the files are as they were left"
        )))
    }
}

/// Refuses a pipe or the like in the place of one of these files, or among what they include: whoever opens it waits for ever,
/// libgit2 inside this program, too.
pub fn refuse_pipes() -> Result<()> {
    let places = config_places();
    let all = included_by(places.clone()).into_iter().chain(places);
    let is_pipe = |path: &PathBuf| {
        let kind = fs::metadata(path).map(|meta| meta.file_type());
        kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket() || kind.is_char_device())
            && path != Path::new("/dev/null")
    };
    match all.into_iter().find(is_pipe) {
        None => Ok(()),
        Some(path) => Err(Error::unsafe_repo(format!(
            "{} is among your settings of git and is no file: any git would wait for it for ever",
            shown(&path)
        ))
        .hint("remove it, or put your settings in order (an agent may have changed them), then run evolve again")),
    }
}

/// One line of `git config --list --show-origin`.
struct Entry {
    /// The file that it stands in; none for the command line.
    origin: Option<PathBuf>,
    setting: Setting,
}

fn entries(listed: &[u8]) -> Vec<Entry> {
    let mut parts = listed.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
        let origin = origin
            .strip_prefix(b"file:")
            .map(|path| PathBuf::from(OsStr::from_bytes(path)));
        let setting = exact::decode(setting);
        let setting = match setting.split_once('\n') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (setting, None),
        };
        found.push(Entry { origin, setting });
    }
    found
}

/// Returns the files in which git looks for the user's and the machine's settings.
fn config_places() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let global = match variable("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => {
            let folder = places::of_user("XDG_CONFIG_HOME", ".config");
            let home = std::env::home_dir();
            let files = [
                folder.map(|folder| folder.join("git/config")),
                home.map(|home| home.join(".gitconfig")),
            ];
            files.into_iter().flatten().collect()
        }
    };
    let is_set = std::env::var_os("GIT_CONFIG_NOSYSTEM")
        .is_some_and(|said| config::is_true(said.as_bytes()));
    let of_machine = match is_set {
        true => None,
        false => variable("GIT_CONFIG_SYSTEM").or_else(|| system("config")),
    };
    of_machine.into_iter().chain(global).collect()
}

/// Returns the file of the machine's with this name.
fn system(name: &str) -> Option<PathBuf> {
    Some(Path::new("/etc").join(format!("git{name}")))
}

/// Returns the path that one stands for as it is set: below the home directory where it begins with `~/`.
pub fn in_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(path_of(below)),
        (Some(_) | None, _) => path_of(path),
    }
}

/// Reads a file of the user's, be it behind a link; none if it is no plain file or cannot be read.
fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    files::read_followed(path, LIMIT).ok().flatten()
}

fn digest_of(path: &Path) -> String {
    match (bytes_of(path), fs::metadata(path)) {
        (Some(bytes), _) => digest::full(&bytes),
        (None, Ok(_)) => OTHER.to_owned(),
        (None, Err(_)) => MISSING.to_owned(),
    }
}

/// Returns a file's name for people.
fn shown(path: &Path) -> String {
    let home = std::env::home_dir();
    let below = home.as_ref().and_then(|home| path.strip_prefix(home).ok());
    match below {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&exact::encode(name)))
}
