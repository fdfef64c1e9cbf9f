//! What an agent may leave that no commit of this repository can hold, put out of the way before stock is taken: links
//! among the ledger's files, changes inside submodules, folders with a repository of their own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::status::{self, Status};
use super::{Start, Workspace, some_of};
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::ledger;

/// What else the agent left, beside commits.
#[derive(Default)]
pub struct Left {
    /// The state of the tree.
    pub status: Status,
    /// For the record.
    pub notes: Vec<String>,
    /// Folders with a repository of their own.
    pub nested: Vec<Vec<u8>>,
}

impl Left {
    /// Notes a folder with a repository of its own; its path ends with a slash.
    pub fn note_nested(&mut self, path: Vec<u8>) {
        let name = String::from_utf8_lossy(&path).into_owned();
        self.notes.push(format!(
            "{name} has a repository of its own and was left uncommitted"
        ));
        self.nested.push(path);
    }
}

impl Workspace<'_> {
    /// Says whether a folder has a repository of its own without a commit, which git refuses to add.
    pub fn is_empty_repository(&self, path: &[u8]) -> bool {
        let folder = self.repo.root.join(OsStr::from_bytes(path));
        let is_repository = fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir())
            && fs::symlink_metadata(folder.join(".git")).is_ok();
        let head = ["rev-parse", "--quiet", "--verify", "HEAD"];
        is_repository && self.repo.git.elsewhere(&folder).run(&head).is_err()
    }

    /// Moves out of the ledger's places what an agent put there and is no plain file or folder: a link would lead elsewhere
    /// what is written there.
    pub fn clear_ledger(&self, start: &Start, left: &mut Left) -> Result<()> {
        let root = &self.repo.root;
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        for folder in ledger::FOLDERS.into_iter().chain([ledger::OUTBOX]) {
            match fs::symlink_metadata(root.join(folder)) {
                Ok(meta) if !meta.is_dir() => quarantine.take(root, folder.as_bytes())?,
                Ok(_) | Err(_) => {}
            }
        }
        let mut files = vec![ledger::QUEUE.to_owned()];
        if let Ok(entries) = fs::read_dir(root.join(ledger::FOLDER)) {
            let names = entries.flatten().map(|entry| entry.file_name());
            let paths = names.map(|name| format!("{}/{}", ledger::FOLDER, name.to_string_lossy()));
            files.extend(paths.filter(|path| !ledger::is_private(path)));
        }
        for file in files {
            match fs::symlink_metadata(root.join(&file)) {
                Ok(meta) if !meta.is_file() => quarantine.take(root, file.as_bytes())?,
                Ok(_) | Err(_) => {}
            }
        }
        left.notes.extend(quarantine.notes());
        Ok(())
    }

    /// Reads the state of the tree; git is let see again what the agent told it not to look at.
    pub fn read_state(&self, start: &Start, left: &mut Left) -> Result<()> {
        let (status, hidden) = self.look()?;
        left.status = status;
        self.take_back_flags(start, &hidden)?;
        if hidden.changes.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = hidden
            .changes
            .iter()
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        left.notes
            .push(format!("changes hidden from git: {}", some_of(&names)));
        left.status = status::read(&self.repo.git, false)?;
        Ok(())
    }

    /// Puts away what the agent changed inside a submodule without a commit there: no commit of this repository can hold it,
    /// so it may neither be measured nor stay.
    pub fn stash_in_submodules(&self, start: &Start, left: &mut Left) -> Result<()> {
        let root = &self.repo.root;
        let mut was_stashed = false;
        let is_folder = |path: &&Vec<u8>| {
            let folder = root.join(OsStr::from_bytes(path));
            fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir())
        };
        for path in left.status.unstaged.iter().filter(is_folder) {
            let git = self.repo.git.elsewhere(&root.join(OsStr::from_bytes(path)));
            // Without a repository of its own, git would be at work in the one around it.
            let is_own = git
                .run(&["rev-parse", "--show-prefix"])
                .is_ok_and(|prefix| prefix.trim_ascii().is_empty());
            if !is_own || git.run(&["status", "--porcelain"])?.is_empty() {
                continue;
            }
            let words = format!("evolve: cycle {}, what the agent left", start.cycle);
            let stash = [
                "-c",
                "user.name=evolve",
                "-c",
                "user.email=evolve@localhost",
            ];
            let push = ["stash", "push", "--include-untracked", "--message", &words];
            let name = String::from_utf8_lossy(path);
            was_stashed = true;
            left.notes
                .push(match git.run(&[&stash[..], &push].concat()) {
                    Ok(_) => format!("uncommitted changes inside {name} are in its stash"),
                    Err(cause) => format!("uncommitted changes inside {name} stay: {cause}"),
                });
        }
        if was_stashed {
            left.status = status::read(&self.repo.git, false)?;
        }
        Ok(())
    }
}
