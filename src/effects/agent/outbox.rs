//! The outbox: three files in which an agent may leave words for `evolve`.

use std::fs;
use std::path::{Path, PathBuf};

use super::REASON_CHARS;
use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::{ledger, mask, text};

/// The most bytes of an outbox file that are read.
const OUTBOX_LIMIT: u64 = 1 << 20;

/// The files that an agent may write, below the working directory.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// `EVOLVE_GIVE_UP`.
    pub give_up: PathBuf,
    /// `EVOLVE_NEXT_WORK`.
    pub next_work: PathBuf,
    /// `EVOLVE_LESSONS`.
    pub lessons: PathBuf,
    folder: PathBuf,
}

impl Outbox {
    /// Names the files of the outbox.
    pub fn below(root: &Path) -> Outbox {
        let folder = root.join(ledger::OUTBOX);
        Outbox {
            give_up: folder.join("give-up"),
            next_work: folder.join("next-work.jsonl"),
            lessons: folder.join("lessons"),
            folder,
        }
    }

    /// Makes the outbox anew, empty.
    pub(super) fn empty(root: &Path) -> Result<Outbox> {
        let outbox = Outbox::below(root);
        let removed = match fs::symlink_metadata(&outbox.folder) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&outbox.folder),
            Ok(_) => fs::remove_file(&outbox.folder),
            Err(_) => Ok(()),
        };
        removed
            .and_then(|()| fs::create_dir_all(&outbox.folder))
            .map_err(|cause| Error::io("empty", &outbox.folder, cause))?;
        Ok(outbox)
    }

    /// Returns why the agent gave up. A file that is there and says nothing is giving up without a reason.
    pub(super) fn gave_up(&self) -> Option<String> {
        fs::symlink_metadata(&self.give_up)
            .ok()
            .filter(fs::Metadata::is_file)?;
        let words = text::clean_line(read(&self.give_up).trim());
        let words: String = mask::secrets(&words).chars().take(REASON_CHARS).collect();
        Some(if words.is_empty() {
            "no reason given".to_owned()
        } else {
            words
        })
    }
}

/// Reads a file that an agent wrote: bounded, without following a link; what cannot be read is nothing.
pub(super) fn read(path: &Path) -> String {
    files::read_text(path, OUTBOX_LIMIT).unwrap_or_default()
}
