//! Where slots lie: `$XDG_CACHE_HOME/evolve/<name>-<digest of the git directory's path>/`. Never below the repository, and
//! never below a folder named `.git`, in which some tools look for nothing.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::digest;

/// How many hex digits of the digest are in a folder's name.
const DIGITS: usize = 12;
/// The file that says whose slots a folder holds.
const OWNER: &str = "owner";

/// Returns the folder of the slots of the repository with this git directory, made if need be.
pub fn of(git_dir: &Path) -> Result<PathBuf> {
    let all = cache()?.join("evolve");
    fs::create_dir_all(&all).map_err(|cause| Error::io("create", &all, cause))?;
    let all = all
        .canonicalize()
        .map_err(|cause| Error::io("open", &all, cause))?;
    remove_orphans(&all);
    let git_dir = git_dir
        .canonicalize()
        .map_err(|cause| Error::io("open", git_dir, cause))?;
    let folder = all.join(name(&git_dir));
    // An agent may have put a link there.
    if fs::symlink_metadata(&folder).is_ok_and(|meta| !meta.is_dir()) {
        files::remove(&folder)?;
    }
    fs::create_dir_all(&folder).map_err(|cause| Error::io("create", &folder, cause))?;
    files::replace(&folder.join(OWNER), git_dir.as_os_str().as_bytes())?;
    Ok(folder)
}

/// Returns the folder's name: that of the repository's folder, made harmless, and a digest.
pub fn name(git_dir: &Path) -> String {
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

fn cache() -> Result<PathBuf> {
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let of_home = || std::env::home_dir().map(|home| home.join(".cache"));
    set.filter(|folder| folder.is_absolute())
        .or_else(of_home)
        .filter(|folder| folder.is_absolute())
        .ok_or_else(|| {
            Error::internal("cannot tell where a copy of the repository could lie")
                .hint("set HOME, or XDG_CACHE_HOME to an absolute path")
        })
}

/// Removes the slots of repositories that are gone.
fn remove_orphans(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let folder = entry.path();
        let owner = files::read_bounded(&folder.join(OWNER), 1 << 16);
        let Ok(Some(owner)) = owner else { continue };
        let owner = Path::new(std::ffi::OsStr::from_bytes(&owner));
        let is_gone = owner.is_absolute()
            && fs::symlink_metadata(owner)
                .is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound);
        if is_gone && let Err(error) = super::remove_all(&folder) {
            tracing::warn!("{error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_slots_is_named_after_the_repository_and_told_apart_by_its_path() {
        let first = name(Path::new("/home/me/my project/.git"));
        assert!(first.starts_with("myproject-"), "{first}");
        assert_eq!(first.len(), "myproject-".len() + DIGITS);
        assert_ne!(first, name(Path::new("/home/you/my project/.git")));
        let linked = name(Path::new("/home/me/project/.git/worktrees/second"));
        assert!(linked.starts_with("second-"), "{linked}");
        assert!(!name(Path::new("/.git")).contains('/'));
    }
}
