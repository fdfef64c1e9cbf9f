//! The way back to a git directory that is gone or was replaced: the command that copies it back.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::store::Store;
use crate::effects::files;
use crate::effects::places::{self, folder_name};
use crate::error::{Error, Result};
use crate::model::{exact, text};

/// Returns the folder in which the copy of a git directory lies.
pub fn folder_of(git_dir: &Path) -> Result<PathBuf> {
    let state = places::state().ok_or_else(|| {
        Error::internal("cannot tell where a copy of .git could lie")
            .hint("set HOME, or XDG_STATE_HOME to an absolute path")
    })?;
    Ok(state.join(folder_name(git_dir)))
}

/// Says whether there is a copy in a folder.
pub fn has_copy(folder: &Path) -> bool {
    let copy = folder.join("git");
    copy.join("HEAD").is_file() && copy.join("objects").is_dir()
}

/// Returns each git directory that was copied as a whole, with the folder of its copy, if the first copy is in `folder`.
pub fn copied(whole: &Path, common: &Path) -> Vec<(PathBuf, PathBuf)> {
    let folder = whole.join("around");
    let names = files::read(&folder.join("paths")).unwrap_or_default();
    let names: Vec<String> = serde_json::from_slice(&names).unwrap_or_default();
    let around = names.iter().map(|name| {
        let path = PathBuf::from(OsString::from_vec(exact::encode(name)));
        let folder = folder.join(folder_name(&path));
        (path, folder)
    });
    // What stands behind a link is another repository's.
    let is_beneath = |path: &Path| {
        let root = common.parent().unwrap_or(common);
        let below = path.ancestors().take_while(|it| *it != root);
        below
            .into_iter()
            .all(|it| fs::symlink_metadata(it).map_or(true, |meta| meta.is_dir()))
    };
    let around = around.filter(|(path, _)| is_beneath(path));
    [(common.to_owned(), whole.to_owned())]
        .into_iter()
        .chain(around)
        .collect()
}

/// Returns the command that puts the git directory back, in backticks, or what has to be done first; none if there is no copy. What
/// it copies is mended first, and made whole.
pub fn command(folder: &Path, common: &Path) -> Option<String> {
    if !has_copy(folder) {
        return None;
    }
    for (_, folder) in copied(folder, common) {
        let copy = folder.join("git");
        let made = Store::read(&folder).and_then(|store| {
            // Another session may be at work; it writes down itself what was only touched.
            store.replace_changed(&copy)?;
            store.make_files(&copy)
        });
        if let Err(cause) = made {
            return Some(format!(
                "its copy in {} cannot be made whole ({cause}): make room there, then run evolve again",
                folder.display()
            ));
        }
    }
    let copy = folder.join("git");
    let aside = quoted(&places::aside(common));
    let (copy, put_in) = (quoted(&copy), quoted(common));
    let put_back = format!("cp -a {copy} {put_in}");
    Some(match fs::symlink_metadata(common) {
        Ok(_) => format!("`mv {put_in} {aside} && {put_back}`"),
        Err(_) => format!("`{put_back}`"),
    })
}

/// Returns the same for a git directory that was in `dir` or above.
pub fn way_back_in(dir: &Path) -> Option<String> {
    let of = |folder: &Path| {
        let common = folder.join(".git");
        command(&folder_of(&common).ok()?, &common)
    };
    dir.ancestors().find_map(of)
}

/// Quotes a path for a shell.
pub fn quoted(path: &Path) -> String {
    text::shell_word(path.as_os_str().as_bytes())
}
