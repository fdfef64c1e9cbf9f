//! Where a repository and its user keep things, and how a folder elsewhere that stands for a repository is called.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model::digest;

/// How many hex digits of the digest are in a folder's name.
const DIGITS: usize = 12;

/// Where a repository keeps things.
#[derive(Clone, Debug)]
pub struct Places {
    /// The git directory of the working tree.
    pub git_dir: PathBuf,
    /// The git directory that all working trees share.
    pub common: PathBuf,
    /// `evolve`'s private directory.
    pub private: PathBuf,
}

/// Returns a folder of the user's by the rules of the XDG base directories: the one that the variable names, if that is
/// absolute, else the one below the home directory; none if there is neither.
pub fn of_user(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from);
    let of_home = || std::env::home_dir().map(|home| home.join(below_home));
    set.filter(|folder| folder.is_absolute())
        .or_else(of_home)
        .filter(|folder| folder.is_absolute())
}

/// Returns the folder in which `evolve` keeps what must not lie in a repository.
pub fn state() -> Option<PathBuf> {
    Some(of_user("XDG_STATE_HOME", ".local/state")?.join("evolve"))
}

/// Refuses the folder of `state` where it would lie in a working tree.
pub fn refuse_state_within(root: &Path) -> Result<()> {
    let folder = state().unwrap_or_default();
    refuse_within(
        root,
        &folder,
        "its journal and a copy of .git",
        "XDG_STATE_HOME",
    )
}

/// Refuses a folder of `evolve`'s that would lie in a working tree, also by a link: what is in it would count as what an agent
/// left there, and be committed. `kept` says what is kept in it, `variable` is what names another one.
pub fn refuse_within(root: &Path, folder: &Path, kept: &str, variable: &str) -> Result<()> {
    let (root, folder) = (landing(root), landing(folder));
    if !folder.starts_with(&root) {
        return Ok(());
    }
    Err(Error::unsafe_repo(format!(
        "evolve keeps {kept} in {}, which lies in this repository and would be committed with it",
        folder.display()
    ))
    .hint(format!(
        "name a folder outside of {}: `{variable}=/somewhere/else evolve …`",
        root.display()
    )))
}

/// Returns where a path leads, as far as anything is there.
fn landing(path: &Path) -> PathBuf {
    let real = |above: &Path| {
        let rest = path.strip_prefix(above).ok()?;
        Some(above.canonicalize().ok()?.join(rest).components().collect())
    };
    path.ancestors()
        .find_map(real)
        .unwrap_or_else(|| path.to_owned())
}

/// Returns the path of a file that is kept for a working tree outside of its repository, where an agent in a sandbox cannot
/// write: `$XDG_STATE_HOME/evolve/<name and digest of the git directory's path>.<kind>`. None where that would be in the
/// repository itself, or nowhere.
pub fn outside(places: &Places, kind: &str) -> Option<PathBuf> {
    let git_dir = real(&places.git_dir)?;
    let common = real(&places.common)?;
    let folder = state()?;
    let name = format!("{}.{kind}", folder_name(&git_dir));
    (!folder.starts_with(common)).then(|| folder.join(name))
}

/// Returns the path of a folder without links in it, also where the one that it lies in cannot be looked into.
fn real(folder: &Path) -> Option<PathBuf> {
    match folder.canonicalize() {
        Err(cause) if cause.kind() == ErrorKind::PermissionDenied => {
            let above = folder.parent()?.canonicalize().ok()?;
            Some(above.join(folder.file_name()?))
        }
        real => real.ok(),
    }
}

/// Returns where something called `.git` can be moved out of the way: beside the working tree, as in it it would be taken for an agent's.
pub fn aside(git: &Path) -> PathBuf {
    let root = git.parent().filter(|_| git.ends_with(".git"));
    let beside = root.filter(|root| root.file_name().is_some());
    let mut aside = beside.unwrap_or(git).as_os_str().to_owned();
    aside.push(match beside {
        Some(_) => ".git-of-the-agent",
        None => "-of-the-agent",
    });
    PathBuf::from(aside)
}

/// Returns the name of a folder of `evolve`'s that stands for a repository: that of the repository's folder, made harmless, and a digest.
pub fn folder_name(git_dir: &Path) -> String {
    let is_name = |part: &&Path| part.file_name().is_some_and(|name| name != ".git");
    let folder = git_dir.ancestors().find(is_name);
    let name = folder.and_then(Path::file_name).unwrap_or_default();
    let is_harmless = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    let name: String = name
        .to_string_lossy()
        .chars()
        .filter(is_harmless)
        .take(40)
        .collect();
    let digest = digest::full(git_dir.as_os_str().as_bytes());
    format!(
        "{}-{}",
        name.trim_start_matches('.'),
        digest.get(..DIGITS).unwrap_or(&digest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_after_the_repository_and_told_apart_by_its_path() {
        let first = folder_name(Path::new("/home/me/my project/.git"));
        assert!(first.starts_with("myproject-"), "{first}");
        assert_eq!(first.len(), "myproject-".len() + DIGITS);
        assert_ne!(first, folder_name(Path::new("/home/you/my project/.git")));
        let linked = folder_name(Path::new("/home/me/project/.git/worktrees/second"));
        assert!(linked.starts_with("second-"), "{linked}");
        assert!(!folder_name(Path::new("/.git")).contains('/'));
    }
}
