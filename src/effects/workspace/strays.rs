//! What an agent may leave that no commit of this repository can hold, put out of the way before stock is taken: links
//! among the ledger's files, folders with a repository of their own.

use std::fs;

use super::{Start, Workspace};
use crate::effects::quarantine::Quarantine;
use crate::error::Result;
use crate::model::ledger;

/// What else the agent left, beside commits.
pub struct Left {
    /// For the record.
    pub notes: Vec<String>,
    /// Folders with a repository of their own.
    pub nested: Vec<Vec<u8>>,
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
}
