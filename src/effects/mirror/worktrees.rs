//! The private parts of other working trees, and git directories of submodules. What was lost is there again; what
//! somebody changed there meanwhile stays, for people work in them while an agent works elsewhere.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Result as IoResult};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::MirroredDir;
use super::lend::lend_file;
use crate::effects::files;
use crate::effects::git::is_index;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// What a linked working tree's part cannot do without.
const NEEDED: [&str; 4] = ["commondir", "gitdir", "HEAD", "index"];
/// What of that the main one has, too, and others do not share with it.
const OF_MAIN: [&str; 2] = ["HEAD", "index"];
/// What of that leads elsewhere: to the git directory that all share, and to the `.git` of the working tree.
const WAYS: [&str; 2] = ["commondir", "gitdir"];
/// The most bytes of such a way: the longest path that there is, and the end of a line.
const LONGEST_WAY: u64 = 4097;
/// The most bytes of a HEAD.
const HEAD: u64 = 64 << 10;
/// The most bytes of an index.
const LIMIT: u64 = 1 << 30;

/// Gives one git directory back what it lost; says whether that was anything. Objects and reflogs are looked after elsewhere.
pub fn give_back(place: &MirroredDir, quarantine: &mut Quarantine) -> Result<bool> {
    let failed = |cause| Error::io("restore", &place.live, cause);
    if !place.live.join("HEAD").is_file() {
        if fs::symlink_metadata(&place.live).is_ok_and(|meta| !meta.is_dir()) {
            quarantine.take_from(
                &place.live,
                Path::new(""),
                Path::new(&place.shown(Path::new(""))),
            )?;
        }
        lend_missing(place, Path::new("")).map_err(failed)?;
        make_folders(place)?;
        // Last: that it is there says that all else is.
        return lend_one(place, Path::new("HEAD"))
            .map(|_| true)
            .map_err(failed);
    }
    let mut is_lent = false;
    move_broken_away(place, quarantine)?;
    for name in WAYS {
        if leads_nowhere(place, name) {
            let shown = place.shown(Path::new(name));
            quarantine.take_from(&place.live, Path::new(name), Path::new(&shown))?;
        }
    }
    for name in NEEDED {
        is_lent |= lend_one(place, Path::new(name)).map_err(failed)?;
    }
    make_folders(place)?;
    Ok(is_lent)
}

/// Gives the main working tree back what it lost; returns the names. All else in its git directory is everybody's.
pub fn give_main_back(
    place: &MirroredDir,
    quarantine: &mut Quarantine,
) -> Result<Vec<&'static str>> {
    let mut lent = Vec::new();
    move_broken_away(place, quarantine)?;
    for name in OF_MAIN {
        let failed = |cause| Error::io("restore", &place.live, cause);
        if lend_one(place, Path::new(name)).map_err(failed)? {
            lent.push(name);
        }
    }
    make_folders(place)?;
    Ok(lent)
}

/// Moves away what git would take neither for a HEAD nor for an index, where the copy is one.
fn move_broken_away(place: &MirroredDir, quarantine: &mut Quarantine) -> Result<()> {
    let is_broken: [fn(&Path) -> bool; 2] = [is_no_head, is_broken];
    for (name, is_broken) in OF_MAIN.into_iter().zip(is_broken) {
        let (live, copy) = (place.live.join(name), place.copy.join(name));
        if !is_same_version(&live, &copy) && is_broken(&live) && !is_broken(&copy) {
            let shown = place.shown(Path::new(name));
            quarantine.take_from(&place.live, Path::new(name), Path::new(&shown))?;
        }
    }
    Ok(())
}

/// Makes the folders that git wants to see in a git directory.
pub fn make_folders(place: &MirroredDir) -> Result<()> {
    if !place.live.join("HEAD").exists() {
        lend_one(place, Path::new("HEAD"))
            .map_err(|cause| Error::io("restore", &place.live, cause))?;
    }
    for name in ["objects", "refs"] {
        let folder = place.live.join(name);
        if place.copy.join(name).is_dir() {
            fs::create_dir_all(&folder).map_err(|cause| Error::io("create", &folder, cause))?;
        }
    }
    Ok(())
}

/// Says whether a file was not written since it was copied.
fn is_same_version(live: &Path, copy: &Path) -> bool {
    let version = |file: &Path| {
        let meta = fs::symlink_metadata(file)
            .ok()
            .filter(fs::Metadata::is_file)?;
        Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
    };
    version(live).is_some() && version(live) == version(copy)
}

/// Says whether a file is there that git would not take for a HEAD: it names a ref, or the id of a commit. A link is looked after elsewhere.
fn is_no_head(head: &Path) -> bool {
    let is_file = fs::symlink_metadata(head).is_ok_and(|meta| meta.is_file());
    is_file && !files::read_text(head, HEAD).is_ok_and(|text| is_head(&text))
}

fn is_head(text: &str) -> bool {
    let id = text.split_ascii_whitespace().next().unwrap_or_default();
    let is_id = [40, 64].contains(&id.len()) && id.bytes().all(|digit| digit.is_ascii_hexdigit());
    let name = text.strip_prefix("ref:").map(str::trim_start);
    name.map_or(is_id, |name| name.starts_with("refs/"))
}

/// Says whether something is there that git would not take for an index: it begins with a mark and ends in a digest of all else,
/// or in zeros where the user has git leave that out.
fn is_broken(index: &Path) -> bool {
    match fs::symlink_metadata(index) {
        Ok(meta) if meta.is_file() => {
            let bytes = files::read_bounded(index, LIMIT).ok().flatten();
            !bytes.is_some_and(|bytes| is_index(&bytes))
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Says whether such a way leads to what is not there, though it was copied as one that leads to what is: git would prune the working
/// tree. One that somebody moved meanwhile is where its new way leads.
fn leads_nowhere(place: &MirroredDir, name: &str) -> bool {
    let way = |folder: &Path| {
        let text = files::read_bounded(&folder.join(name), LONGEST_WAY).ok()??;
        let end = text.trim_ascii_end().to_vec();
        // Where it lies counts, not where its copy does.
        Some(place.live.join(OsString::from_vec(end)))
    };
    let is_there = |way: Option<PathBuf>| way.is_some_and(|way| fs::symlink_metadata(way).is_ok());
    fs::symlink_metadata(place.live.join(name)).is_ok()
        && !is_there(way(&place.live))
        && is_there(way(&place.copy))
}

fn lend_one(place: &MirroredDir, path: &Path) -> IoResult<bool> {
    let (from, to) = (place.copy.join(path), place.live.join(path));
    let is_missing =
        || fs::symlink_metadata(&to).is_err_and(|cause| cause.kind() == ErrorKind::NotFound);
    let is_lent = fs::symlink_metadata(&from).is_ok_and(|meta| meta.is_file()) && is_missing();
    if is_lent {
        lend_file(&from, &to)?;
    }
    Ok(is_lent)
}

/// Lends every file that is missing below a folder, but for HEAD, what has a place of its own, and what is made anew.
fn lend_missing(place: &MirroredDir, folder: &Path) -> IoResult<()> {
    const LEFT_OUT: [&str; 6] = ["HEAD", "objects", "lfs", "modules", "worktrees", "evolve"];
    let live = place.live.join(folder);
    if fs::symlink_metadata(&live).is_ok_and(|meta| !meta.is_dir()) {
        files::remove_all(&live)?;
    }
    fs::create_dir_all(&live)?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(place.copy.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if LEFT_OUT.iter().any(|name| path == Path::new(name)) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => lend_missing(place, &path)?,
            false => files.push(path),
        }
    }
    files
        .iter()
        .try_for_each(|path| lend_one(place, path).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::is_head;

    #[test]
    fn a_head_names_a_ref_or_a_commit() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for (text, expected) in [
            ("ref: refs/heads/main\n", true),
            ("ref:refs/heads/none\n", true),
            (&format!("{id}\n"), true),
            (id, true),
            (&id[1..], false),
            ("ref: heads/main\n", false),
            ("main\n", false),
            ("", false),
        ] {
            assert_eq!(is_head(text), expected, "{text}");
        }
    }
}
