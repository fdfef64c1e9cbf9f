//! Repositories of submodules that an agent made or changed: which they are is remembered from one session to the next, until
//! one is as git itself makes them. `evolve` goes into it again then, because what the user does there has to be protected.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::settings::Setting;
use crate::effects::files;
use crate::error::Result;
use crate::model::exact;
use crate::model::git::config;

/// The file with the paths of repositories that an agent made or changed, each ended by a NUL.
pub const FILE: &str = "strangers";
/// The most bytes of that file, and of a setting that is read.
const LIMIT: u64 = 1 << 20;
/// Settings that git makes with a repository, and that lead nowhere.
const SHALLOW: &str = "shallow";
const EXCLUDE: &str = "info/exclude";

/// Reads which they are.
pub fn read(private: &Path) -> BTreeSet<String> {
    let lines = files::read_exactly(&private.join(FILE), LIMIT).unwrap_or_default();
    lines.split_terminator('\0').map(str::to_owned).collect()
}

/// Remembers which they are.
pub fn write(private: &Path, strangers: &BTreeSet<String>) -> Result<()> {
    let lines: String = strangers.iter().map(|path| format!("{path}\0")).collect();
    let file = private.join(FILE);
    match files::read_exactly(&file, LIMIT).unwrap_or_default() == lines {
        true => Ok(()),
        false => files::replace(&file, &exact::encode(&lines)),
    }
}

/// Says what in a git directory is not as git itself makes it for a submodule in this folder; nothing if all is. Reads files alone.
pub fn oddity(
    git_dir: &Path,
    folder: &Path,
    settings: &BTreeMap<String, Setting>,
) -> Option<String> {
    settings.iter().find_map(|(name, setting)| {
        let is_plain = |text: &str| {
            text.lines()
                .all(|line| line.trim().is_empty() || line.starts_with('#'))
        };
        let text = || {
            files::read_text(&git_dir.join(path_of(name)), LIMIT).unwrap_or_else(|_| "?".to_owned())
        };
        let is_file = matches!(setting, Setting::File(..));
        match &name[..] {
            "config" if is_file => odd_setting(git_dir, folder, &text()),
            SHALLOW if is_file => None,
            // It hides files from git.
            EXCLUDE if is_file && is_plain(&text()) => None,
            sample if is_file && sample.starts_with("hooks/") && sample.ends_with(".sample") => {
                None
            }
            _ => Some(name.clone()),
        }
    })
}

fn odd_setting(git_dir: &Path, folder: &Path, text: &str) -> Option<String> {
    let is_elsewhere = |path: &String| {
        let place = git_dir.join(path).canonicalize().ok();
        place.is_none() || place != folder.canonicalize().ok()
    };
    let odd = config::not_plain(text).or_else(|| {
        let named = config::worktrees(text);
        named
            .iter()
            .any(is_elsewhere)
            .then(|| "core.worktree".to_owned())
    });
    odd.map(|name| format!("config ({name})"))
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&exact::encode(name)))
}
