//! Puts tracked files back that a program changed which had no business to.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use crate::effects::files::{self, is_beneath};
use crate::effects::git::Git;
use crate::effects::keep;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::hash_blob;
use crate::effects::workspace::{Workspace, ended};
use crate::error::Result;

/// How many paths are asked about at once.
const AT_ONCE: usize = 500;
/// The modes of a submodule and of a file that can be executed, as git shows them.
const SUBMODULE: &str = "160000";
const EXECUTABLE: &str = "100755";

/// A version of a file that git knows.
#[derive(Debug)]
pub(in crate::effects::workspace) struct Version {
    pub mode: String,
    pub id: String,
}

/// Versions by path; of one that is in conflict there are several.
pub(in crate::effects::workspace) type Versions = HashMap<Vec<u8>, Vec<Version>>;

/// A repository with changed files: this one, or a submodule.
pub(in crate::effects::workspace) struct Changed<'a> {
    /// Its git.
    pub git: &'a Git,
    /// Its folder below the root of the working tree, with a slash at the end; empty for the root itself.
    pub folder: &'a [u8],
    /// Paths in it that differ from HEAD, in the index or on disk.
    pub paths: &'a [Vec<u8>],
}

impl Workspace<'_> {
    /// Makes tracked files and the index what HEAD has; what the files had become goes to the quarantine, because it may be
    /// somebody's work. Returns the paths, for people. Folders of submodules stay as they are.
    pub fn put_back_tracked(&self, quarantine: &mut Quarantine) -> Result<Vec<String>> {
        self.put_back_those(&|_| true, quarantine)
    }

    /// Does the same with those of the changed files that are `meant`.
    pub fn put_back_those(
        &self,
        meant: &dyn Fn(&[u8]) -> bool,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        self.clear_pipes_into(quarantine)?;
        let mut dirty = self.state()?;
        dirty.dirty.retain(|path| meant(path));
        self.put_back_changed(&Changed::of_root(&self.repo.git, &dirty.dirty), quarantine)?;
        Ok(dirty.dirty_files())
    }

    /// Makes these paths what HEAD has. What was only staged is kept, too; a file that HEAD does not have is taken out of the index
    /// and stays, and so does a folder of a submodule.
    pub(in crate::effects::workspace) fn put_back_changed(
        &self,
        changed: &Changed<'_>,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let (git, root) = (changed.git, &self.repo.root);
        let committed = changed.committed()?;
        let staged = changed.staged()?;
        let (mut back, mut unstaged, mut submodules) = (Vec::new(), Vec::new(), Vec::new());
        for path in changed.paths {
            let whole = changed.whole(path);
            let head = committed.get(path).and_then(|all| all.first());
            let versions = staged.get(path).map_or(&[][..], Vec::as_slice);
            for version in versions {
                if head.is_none_or(|head| head.id != version.id) {
                    self.keep_staged(changed, path, version, quarantine)?;
                }
            }
            if head.is_none() || versions.len() > 1 {
                unstaged.push(path.clone());
            }
            let Some(head) = head else {
                continue;
            };
            let there = fs::symlink_metadata(root.join(OsStr::from_bytes(&whole)));
            let is_submodule = head.mode == SUBMODULE;
            match there {
                Ok(_) if !is_beneath(root, &whole) => keep::clear_way(root, &whole, quarantine)?,
                Err(_) => keep::clear_way(root, &whole, quarantine)?,
                Ok(meta) if is_submodule && meta.is_dir() => {}
                Ok(_) if !is_submodule && self.is_as_checked_out(changed, path, head)? => {}
                Ok(_) => quarantine.take(root, &whole)?,
            }
            match is_submodule {
                true => submodules.push(path.clone()),
                false => back.push(path.clone()),
            }
        }
        if !unstaged.is_empty() {
            let remove = ["update-index", "--force-remove", "-z", "--stdin"];
            git.run_with(&remove, &ended(&unstaged))?;
        }
        restore(git, &["--staged", "--worktree"], &back)?;
        restore(git, &["--staged"], &submodules)?;
        for path in &submodules {
            let whole = changed.whole(path);
            let is_gone = !root.join(OsStr::from_bytes(&whole)).exists();
            if is_gone && self.repo.modules.may_be_checked_out(root, &whole) {
                self.update_submodule(&whole);
            }
        }
        Ok(())
    }

    /// Keeps what was staged of a file, unless the file has it, too, or git has lost it.
    fn keep_staged(
        &self,
        changed: &Changed<'_>,
        path: &[u8],
        version: &Version,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        if version.mode == SUBMODULE
            || self.id_on_disk(changed, path).as_deref() == Some(&version.id)
        {
            return Ok(());
        }
        match changed.git.run(&["cat-file", "blob", &version.id]) {
            // There is nothing in it, be it that it was only announced (`git add --intent-to-add`).
            Ok(bytes) if bytes.is_empty() => Ok(()),
            Ok(bytes) => quarantine.keep_staged(&changed.whole(path), &bytes),
            Err(cause) if cause.is_of_machine() || cause.is_halt() => Err(cause),
            Err(cause) => {
                tracing::debug!("what was staged is not there: {cause}");
                Ok(())
            }
        }
    }

    /// Returns the id that the file would have in a commit.
    fn id_on_disk(&self, changed: &Changed<'_>, path: &[u8]) -> Option<String> {
        let whole = changed.whole(path);
        let file = self.repo.root.join(OsStr::from_bytes(&whole));
        let meta = fs::symlink_metadata(&file).ok()?;
        if !is_beneath(&self.repo.root, &whole) {
            return None;
        }
        if meta.is_symlink() {
            let target = fs::read_link(&file).ok()?;
            return Some(hash_blob(target.as_os_str().as_bytes()));
        }
        let arguments = ["hash-object", "--"].map(OsStr::new);
        let arguments = [&arguments[..], &[OsStr::from_bytes(path)]].concat();
        let id = changed
            .git
            .run(&arguments)
            .ok()
            .filter(|_| meta.is_file())?;
        Some(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Says whether a file holds what a checkout of this version writes, or its very bytes: then only git calls it changed, as it
    /// does where a filter gives other bytes each time.
    fn is_as_checked_out(
        &self,
        changed: &Changed<'_>,
        path: &[u8],
        version: &Version,
    ) -> Result<bool> {
        let file = self.repo.root.join(OsStr::from_bytes(&changed.whole(path)));
        let meta = fs::symlink_metadata(&file);
        let is_plain = |meta: &fs::Metadata| {
            let is_executable = meta.mode() & 0o100 != 0;
            meta.is_file() && is_executable == (version.mode == EXECUTABLE)
        };
        if !meta.is_ok_and(|meta| is_plain(&meta)) {
            return Ok(false);
        }
        let Ok(Some(bytes)) = files::read_bounded(&file, files::LARGEST) else {
            return Ok(false);
        };
        if hash_blob(&bytes) == version.id {
            return Ok(true);
        }
        let name = [b"HEAD:", path].concat();
        let arguments = ["cat-file", "--filters"].map(OsStr::new);
        let arguments = [&arguments[..], &[OsStr::from_bytes(&name)]].concat();
        Ok(changed.git.run(&arguments).is_ok_and(|it| it == bytes))
    }
}

impl<'a> Changed<'a> {
    /// Changed files of the repository itself.
    pub fn of_root(git: &'a Git, paths: &'a [Vec<u8>]) -> Changed<'a> {
        Changed {
            git,
            folder: b"",
            paths,
        }
    }

    fn whole(&self, path: &[u8]) -> Vec<u8> {
        [self.folder, path].concat()
    }

    /// What HEAD has: lines as in `100644 blob <id><tab>path`.
    fn committed(&self) -> Result<Versions> {
        self.versions(&["ls-tree", "-z", "--full-tree", "HEAD", "--"], 2)
    }

    /// What the index has: lines as in `100644 <id> 0<tab>path`.
    pub fn staged(&self) -> Result<Versions> {
        self.versions(&["ls-files", "--stage", "-z", "--"], 1)
    }

    fn versions(&self, list: &[&str], place_of_id: usize) -> Result<Versions> {
        let mut found = Versions::new();
        for some in self.paths.chunks(AT_ONCE) {
            let list = list.iter().map(OsStr::new);
            let paths = some.iter().map(|path| OsStr::from_bytes(path));
            let listed = self.git.run(&list.chain(paths).collect::<Vec<_>>())?;
            for line in listed.split(|byte| *byte == 0) {
                let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                    continue;
                };
                let words = String::from_utf8_lossy(&line[..tab]).into_owned();
                let words: Vec<&str> = words.split(' ').collect();
                if let (Some(mode), Some(id)) = (words.first(), words.get(place_of_id)) {
                    let version = Version {
                        mode: (*mode).to_owned(),
                        id: (*id).to_owned(),
                    };
                    let path = line[tab + 1..].to_vec();
                    found.entry(path).or_default().push(version);
                }
            }
        }
        Ok(found)
    }
}

/// Makes these paths what HEAD has, in the index or on disk.
fn restore(git: &Git, places: &[&str], paths: &[Vec<u8>]) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let from_stdin = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    let arguments = [&["restore", "--source=HEAD"], places, &from_stdin].concat();
    git.run_with(&arguments, &ended(paths)).map(|_| ())
}
