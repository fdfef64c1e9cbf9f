//! Where slots lie: `$XDG_CACHE_HOME/evolve/<name>-<digest of the git directory's path>/`. Never below the repository, and
//! never below a folder named `.git`, in which some tools look for nothing.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

use crate::effects::files;
use crate::effects::places::{self, folder_name};
use crate::effects::repo::Repo;
use crate::error::{Error, Result};

/// The file that says whose slots a folder holds.
const OWNER: &str = "owner";
/// The mode of a folder that its owner alone can enter, and the bits that let others.
const PRIVATE: u32 = 0o700;
const OTHERS: u32 = 0o077;
/// How long after their last use slots stay whose repository is nowhere: it may be on a drive that is not there today, and what
/// an agent committed before a crash is in no other place.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Refuses a place for slots that would lie in the user's working tree.
pub fn refuse_within(root: &Path) -> Result<()> {
    places::refuse_within(root, &all()?, "copies of the repository", "XDG_CACHE_HOME")
}

/// Returns the folder of the slots of a repository, made if need be.
pub fn of(user: &Repo) -> Result<PathBuf> {
    refuse_within(&user.root)?;
    let git_dir = user.git_dir();
    let all = all()?;
    make_private(&all)?;
    let all = all
        .canonicalize()
        .map_err(|cause| Error::io("open", &all, cause))?;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| remove_orphans(&all));
    let git_dir = git_dir
        .canonicalize()
        .map_err(|cause| Error::io("open", git_dir, cause))?;
    let folder = all.join(folder_name(&git_dir));
    // An agent may have put a link there.
    if fs::symlink_metadata(&folder).is_ok_and(|meta| !meta.is_dir()) {
        files::remove(&folder)?;
    }
    make_private(&folder)?;
    // One of an earlier version; the repository may lie where nobody else can go.
    if fs::symlink_metadata(&folder).is_ok_and(|meta| meta.mode() & OTHERS != 0) {
        let shut = fs::set_permissions(&folder, fs::Permissions::from_mode(PRIVATE));
        shut.map_err(|cause| Error::io("shut", &folder, cause))?;
    }
    note_owner(&folder.join(OWNER), git_dir.as_os_str().as_bytes())?;
    Ok(folder)
}

/// Makes a folder, and those above it that are missing, for its owner alone.
fn make_private(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(PRIVATE).create(folder);
    made.map_err(|cause| Error::io("create", folder, cause))
}

/// Says whether the folder of the slot at a root still has the note whose it is.
pub fn is_owned(root: &Path) -> bool {
    let note = root.with_file_name(OWNER);
    fs::symlink_metadata(note).is_ok_and(|meta| meta.is_file())
}

/// Returns the git directory that the slot at a root was made for; none where no slot is.
pub fn owner_of(root: &Path) -> Option<PathBuf> {
    let folder = root.parent()?;
    let noted = files::read_bounded(&folder.join(OWNER), 1 << 16);
    let owner = PathBuf::from(std::ffi::OsStr::from_bytes(&noted.ok()??));
    let is_named_so = folder.file_name()? == folder_name(&owner).as_str();
    is_named_so.then_some(owner)
}

/// Notes whose slots these are, and that they are used.
fn note_owner(file: &Path, owner: &[u8]) -> Result<()> {
    let noted = files::read_bounded(file, 1 << 16).ok().flatten();
    let is_noted = noted.as_deref() == Some(owner);
    let now = SystemTime::now();
    match is_noted && fs::File::open(file).is_ok_and(|file| file.set_modified(now).is_ok()) {
        true => Ok(()),
        false => files::replace(file, owner),
    }
}

/// Returns the folder in which the slots of all repositories lie.
fn all() -> Result<PathBuf> {
    let cache = places::of_user("XDG_CACHE_HOME", ".cache");
    cache.map(|cache| cache.join("evolve")).ok_or_else(|| {
        Error::internal("cannot tell where a copy of the repository could lie")
            .hint("set HOME, or XDG_CACHE_HOME to an absolute path")
    })
}

/// Removes the slots of repositories that have been gone for long.
fn remove_orphans(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let folder = entry.path();
        let owner = files::read_bounded(&folder.join(OWNER), 1 << 16);
        let Ok(Some(owner)) = owner else { continue };
        let owner = Path::new(std::ffi::OsStr::from_bytes(&owner));
        let is_gone = owner.is_absolute()
            && fs::symlink_metadata(owner)
                .is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound);
        if is_gone
            && is_old(&folder.join(OWNER))
            && let Err(error) = super::remove_all(&folder)
        {
            tracing::warn!("{error}");
        }
    }
}

/// Says whether this file, which is written whenever the slots beside it are used, is older than they are kept.
fn is_old(owner: &Path) -> bool {
    let modified = fs::symlink_metadata(owner).and_then(|meta| meta.modified());
    let age = modified.ok().and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age > KEPT)
}
