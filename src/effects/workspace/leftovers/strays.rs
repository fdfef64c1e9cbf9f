//! What an agent may leave that no commit of this repository can hold, put out of the way before stock is taken: links
//! among the ledger's files, changes inside submodules, folders with a repository of their own.

use std::fs;

use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::status::Status;
use crate::effects::workspace::{Start, Workspace, some_of};
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
    /// What checks run and the agent made: it was taken away.
    pub unbuilt: Vec<String>,
    /// What tools made, and was left out of the commit.
    pub left_out: Vec<String>,
    /// What is new and loosely protected: it was taken away.
    pub loose: Vec<String>,
    /// What no commit can hold, and was put away, in words.
    pub unheld: Vec<String>,
    /// What was done to protected files that git does not track, in words.
    pub goalposts: Vec<String>,
    /// Where files and folders of the user's stood that were moved, and are back.
    pub moved: Vec<Vec<u8>>,
    /// The submodules that the index lists.
    pub submodules: Vec<Vec<u8>>,
    /// What the index lists since it was written last, where that is known.
    pub listed: Option<Vec<u8>>,
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

    /// Notes what is called `.git` and came anew, unless it goes with such a folder.
    pub fn note_planted(&mut self, planted: Vec<Vec<u8>>) {
        for path in planted {
            if self.nested.iter().any(|folder| path.starts_with(folder)) {
                continue;
            }
            let name = String::from_utf8_lossy(&path).into_owned();
            self.notes
                .push(format!("{name} was added: no commit can hold it"));
            self.nested.push(path);
        }
    }
}

impl Workspace<'_> {
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
        let (status, hidden, submodules) = self.look()?;
        left.status = status;
        left.submodules = submodules;
        let was_told = self.take_back_flags(start, &hidden)?;
        let names = hidden.names();
        if !names.is_empty() {
            left.notes
                .push(format!("changes hidden from git: {}", some_of(&names)));
        }
        if !was_told {
            return Ok(());
        }
        left.status = self.state()?;
        Ok(())
    }

    /// Puts away what the agent changed inside submodules without a commit there, and names those that nobody looks into.
    pub fn clear_submodules(&self, start: &Start, left: &mut Left) -> Result<()> {
        self.clear_locks_within(start)?;
        let ground = self.ground();
        let there = left.submodules.clone();
        let strangers = self.repo.modules.note_strangers(ground, there)?;
        left.notes.extend(strangers.iter().map(|path| {
            format!(
                "{path} has a repository that an agent made or changed: only its commit counts, and what is uncommitted in it was not looked at"
            )
        }));
        let stashed = self.stash_in_submodules(start, &left.status)?;
        if !stashed.notes.is_empty() || !stashed.unheld.is_empty() {
            left.notes.extend(stashed.notes);
            left.unheld.extend(stashed.unheld);
            left.status = self.state()?;
        }
        Ok(())
    }
}
