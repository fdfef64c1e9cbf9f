//! What persons leave for a search that runs: notes and the like (`notes.jsonl` in its folder), and the wish that it stop.

use std::path::PathBuf;

use super::store::Store;
use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::search::lineage::Word;

/// What persons write while a search runs.
const INBOX: &str = "notes.jsonl";
/// The most bytes of it that are read.
const INBOX_LIMIT: u64 = 16 << 20;
/// It is there where the search is to stop.
const STOP: &str = "stop";

impl Store {
    /// Leaves a word of a person's for the search, which took in `taken` so far; it is on the disk when this returns. To be called by
    /// whoever has the turn.
    pub fn leave(&self, word: &Word, taken: usize) -> Result<()> {
        let there = files::read_text(&self.inbox(), INBOX_LIMIT)?;
        // Words that somebody removed would be counted off from those that come.
        let lacking = taken.saturating_sub(there.lines().count());
        let line = serde_json::to_string(word).expect("BUG: a word is always JSON");
        files::append(&self.inbox(), &format!("{}{line}\n", "\n".repeat(lacking)))
    }

    /// Returns the words that persons left after the first `taken`. What is no word is passed over, and counts.
    pub fn left(&self, taken: usize) -> Result<Vec<Option<Word>>> {
        let text = files::read_text(&self.inbox(), INBOX_LIMIT)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let words = whole.lines().skip(taken);
        let word = |line| serde_json::from_str(line).ok();
        // Limits are adjusted at the terminal alone.
        let is_left = |word: &Word| !matches!(word, Word::Adjust(_));
        Ok(words.map(|line| word(line).filter(is_left)).collect())
    }

    /// Returns the file of what persons write.
    fn inbox(&self) -> PathBuf {
        self.folder.join(INBOX)
    }

    /// Asks the search to propose nothing more.
    pub fn ask_to_stop(&self) -> Result<()> {
        files::replace(&self.folder.join(STOP), b"")
    }

    /// Says whether somebody asked for that.
    pub fn is_asked_to_stop(&self) -> bool {
        self.folder.join(STOP).exists()
    }

    /// Takes that back.
    pub(super) fn forget_stop(&self) -> Result<()> {
        let stop = self.folder.join(STOP);
        files::remove_all(&stop).map_err(|cause| Error::io("remove", &stop, cause))
    }
}
