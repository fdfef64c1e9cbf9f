//! Second names for the user's untracked files while goals are measured before an agent: checks run what earlier agents left,
//! and what they remove has lost only one of its names. A copy would cost as much as the files are large, each time.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::copy::FILE_LIMIT;
use super::{is_free, nested};
use crate::effects::files::{self, is_beneath};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::output;
use crate::model::record::put_back::BY_CHECKS;
use crate::model::text;

/// The second names, each at its file's path below a folder of the private directory.
#[derive(Clone, Debug)]
pub struct Links {
    root: PathBuf,
    folder: PathBuf,
}

impl Links {
    /// The second names of files in a repository's working tree.
    pub fn of(repo: &Repo) -> Links {
        Links {
            root: repo.root.clone(),
            folder: repo.private.join("links"),
        }
    }

    /// Gives each of these untracked files a second name, unless that was done and has not been settled. Where the file system
    /// gives none a small file is copied.
    pub fn make(&self, untracked: Vec<Vec<u8>>) -> Result<()> {
        if untracked.is_empty() || self.folder.exists() {
            return Ok(());
        }
        let is_folder = |path: &Vec<u8>| path.ends_with(b"/");
        let (folders, files): (Vec<_>, Vec<_>) = untracked.into_iter().partition(is_folder);
        let mut left = nested::MOST;
        let mut made = BTreeSet::new();
        for path in files {
            self.link(&path, &mut made)?;
        }
        for folder in folders {
            let (found, _) = nested::list(&self.root, &folder, left);
            left -= found.len();
            for path in found {
                self.link(&path, &mut made)?;
            }
        }
        // One for all: a file system that keeps a journal keeps the order of names.
        match made.is_empty() {
            true => Ok(()),
            false => files::sync_folder(&self.folder)
                .map_err(|cause| Error::io("sync", &self.folder, cause)),
        }
    }

    /// Links one path; `made` has the folders that are there already.
    fn link(&self, path: &[u8], made: &mut BTreeSet<PathBuf>) -> Result<()> {
        let below = Path::new(OsStr::from_bytes(path));
        let (file, link) = (self.root.join(below), self.folder.join(below));
        let folder = match path.ends_with(b"/") {
            true => &link,
            false => link.parent().unwrap_or(&self.folder),
        };
        if made.insert(folder.to_owned()) {
            fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))?;
        }
        if path.ends_with(b"/") {
            return Ok(());
        }
        let linked = match fs::hard_link(&file, &link) {
            // Listed twice: as itself, and as what is in a folder with a repository of its own.
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(_) => copy_small(&file, &link),
            Ok(()) => Ok(()),
        };
        match linked {
            // Gone since it was listed, somebody else's, or its second name is too long for one.
            Err(cause) if is_passed_over(&cause) => {
                self.drop_empty(folder, made);
                Ok(())
            }
            linked => linked.map_err(|cause| Error::io("keep a link to", &file, cause)),
        }
    }

    /// Removes a folder of links, and those above it, where they are empty: one that stays stands for an empty folder.
    fn drop_empty(&self, folder: &Path, made: &mut BTreeSet<PathBuf>) {
        let below = |folder: &&Path| *folder != self.folder;
        for folder in folder.ancestors().take_while(below) {
            if fs::remove_dir(folder).is_err() {
                return;
            }
            made.remove(folder);
        }
    }

    /// Gives the files that are gone their first name back, or a place in the quarantine where something is in its way, and
    /// takes the second names away; says what was done. To be done when no check runs any more.
    pub fn settle(&self, quarantine: &mut Quarantine) -> Result<Vec<String>> {
        files::remove_unless_folder(&self.folder)?;
        let mut put_back = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(below) = folders.pop() {
            let folder = self.folder.join(&below);
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(cause) if cause.kind() == ErrorKind::NotFound => break,
                Err(cause) => return Err(Error::io("read", &folder, cause)),
            };
            let mut is_empty = true;
            for entry in entries {
                let entry = entry.map_err(|cause| Error::io("read", &folder, cause))?;
                is_empty = false;
                let below = below.join(entry.file_name());
                match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    true => folders.push(below),
                    false => self.put_back(&below, quarantine, &mut put_back)?,
                }
            }
            if is_empty && !below.as_os_str().is_empty() {
                self.put_back(&below, quarantine, &mut put_back)?;
            }
        }
        files::remove_all(&self.folder)
            .map_err(|cause| Error::io("remove", &self.folder, cause))?;
        put_back.sort();
        let mut notes = Vec::new();
        if !put_back.is_empty() {
            const SHOWN: usize = 10;
            notes.push(format!("{BY_CHECKS}{}", text::some_of(&put_back, SHOWN)));
        }
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    fn put_back(
        &self,
        below: &Path,
        quarantine: &mut Quarantine,
        put_back: &mut Vec<String>,
    ) -> Result<()> {
        let (link, file) = (self.folder.join(below), self.root.join(below));
        let path = below.as_os_str().as_bytes();
        if is_beneath(&self.root, path) && fs::symlink_metadata(&file).is_ok() {
            return Ok(());
        }
        if output::is_of_one_run(&text::path(path)) {
            return Ok(());
        }
        if !is_free(&self.root, path) {
            return quarantine.take_from(&self.folder, below, below);
        }
        let folder = file.parent().unwrap_or(&self.root);
        files::make_folder(folder)?;
        // A copy may be on another file system; what is left of it goes with all links.
        let moved = fs::rename(&link, &file).or_else(|_| files::copy(&link, &file));
        let moved = moved.and_then(|()| files::sync_folder(folder));
        moved.map_err(|cause| Error::io("put back", &file, cause))?;
        put_back.push(text::path(path));
        Ok(())
    }
}

/// Copies a plain file that is not too large; what is none holds nothing that could be lost.
fn copy_small(file: &Path, link: &Path) -> std::io::Result<()> {
    let meta = fs::symlink_metadata(file)?;
    match meta.is_file() && meta.len() <= FILE_LIMIT {
        true => files::copy(file, link),
        false => Ok(()),
    }
}

fn is_passed_over(cause: &std::io::Error) -> bool {
    matches!(
        cause.kind(),
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::InvalidFilename
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A working tree with these files, and the second names of its files.
    fn links(files: &[&str]) -> (tempfile::TempDir, Links, Quarantine) {
        let all = tempfile::tempdir().unwrap();
        let links = Links {
            root: all.path().join("root"),
            folder: all.path().join("private/links"),
        };
        fs::create_dir(&links.root).unwrap();
        for name in files {
            let file = links.root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, name).unwrap();
        }
        let quarantine = Quarantine::of(&all.path().join("private"), "s", 1);
        (all, links, quarantine)
    }

    fn paths(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn a_file_that_is_listed_twice_keeps_its_bytes() {
        let (_all, links, mut quarantine) = links(&["n/a"]);
        links.make(paths(&["n/a", "n/"])).unwrap();
        assert_eq!(fs::read(links.root.join("n/a")).unwrap(), b"n/a");
        fs::remove_file(links.root.join("n/a")).unwrap();
        assert_eq!(links.settle(&mut quarantine).unwrap().len(), 1);
        assert_eq!(fs::read(links.root.join("n/a")).unwrap(), b"n/a");
        assert!(links.settle(&mut quarantine).unwrap().is_empty());
    }

    #[test]
    fn of_a_file_that_is_gone_no_folder_comes_back() {
        let (_all, links, mut quarantine) = links(&["x/b"]);
        links.make(paths(&["x/y/gone", "x/b", "z/gone"])).unwrap();
        fs::remove_dir_all(links.root.join("x")).unwrap();
        let notes = links.settle(&mut quarantine).unwrap();
        assert_eq!(
            notes,
            ["untracked files that checks removed, put back: x/b"]
        );
        assert!(links.root.join("x/b").is_file() && !links.root.join("x/y").exists());
        assert!(!links.root.join("z").exists());
    }

    #[test]
    fn what_was_linked_stays_linked_until_it_is_settled() {
        let (_all, links, mut quarantine) = links(&["a", "b"]);
        links.make(paths(&["a"])).unwrap();
        links.make(paths(&["b"])).unwrap();
        fs::remove_file(links.root.join("b")).unwrap();
        assert!(links.settle(&mut quarantine).unwrap().is_empty());
        assert!(!links.root.join("b").exists());
    }

    #[test]
    fn that_second_names_cannot_be_looked_for_is_said_and_where_there_are_none_all_is_well() {
        let (_all, mut links, mut quarantine) = links(&["a"]);
        assert!(links.settle(&mut quarantine).unwrap().is_empty());
        // No folder can be there.
        links.folder = links.root.join("a/links");
        assert!(links.settle(&mut quarantine).is_err());
    }

    #[test]
    fn where_there_is_no_second_name_a_small_file_is_copied_or_it_is_said() {
        let (_all, mut links, _) = links(&[]);
        links.root = PathBuf::from("/proc");
        links.make(paths(&["version"])).unwrap();
        let copied = fs::read(links.folder.join("version")).unwrap();
        assert_eq!(copied, fs::read("/proc/version").unwrap());
        fs::remove_dir_all(&links.folder).unwrap();
        // Its first page cannot be read.
        assert!(links.make(paths(&["self/mem"])).is_err());
    }

    #[test]
    fn of_folders_with_a_repository_of_their_own_so_many_files_are_linked() {
        let half = nested::MOST / 2;
        let names = |folder| (0..=half).map(move |number| format!("{folder}/{number}"));
        let files: Vec<_> = names("one").chain(names("two")).collect();
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        let (_all, links, _) = links(&files);
        links.make(paths(&["one/", "two/"])).unwrap();
        let linked = |name| fs::read_dir(links.folder.join(name)).unwrap().count();
        assert_eq!(linked("one") + linked("two"), nested::MOST);
    }
}
