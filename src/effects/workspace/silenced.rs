//! What a change silences, by the texts of its files before and after it.

use super::Workspace;
use crate::effects::repo::{Difference, Entry};
use crate::error::Result;
use crate::model::ledger::is_ledger_path;
use crate::model::silenced::{Silenced, is_looked_at};

/// How many files of a change are looked at, and how many bytes one has at most.
const MOST_FILES: usize = 500;
const LARGEST: usize = 1 << 20;
const PLAIN: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

impl Workspace<'_> {
    /// Returns what is to be told of what a change has tools look away from, and of tests that are gone.
    pub(super) fn silenced(&self, differences: &[Difference]) -> Result<Vec<String>> {
        let mut silenced = Silenced::default();
        let code = differences.iter().filter(|one| !is_ledger_path(&one.path));
        let code = code.filter_map(|one| Some((std::str::from_utf8(&one.path).ok()?, one)));
        let code = code.filter(|(path, _)| is_looked_at(path));
        for (path, one) in code.take(MOST_FILES) {
            let texts = (
                self.text_of(one.old.as_ref())?,
                self.text_of(one.new.as_ref())?,
            );
            if let (Some(before), Some(after)) = texts {
                silenced.look(path, &before, &after);
            }
        }
        Ok(silenced.words())
    }

    /// Returns the text of a file as it is committed, which is empty where there is none; nothing where it is no text, or very long.
    fn text_of(&self, entry: Option<&Entry>) -> Result<Option<String>> {
        let Some(entry) = entry.filter(|entry| entry.mode & KIND == PLAIN) else {
            return Ok(Some(String::new()));
        };
        if self.repo.blob_size(&entry.id)? > LARGEST {
            return Ok(None);
        }
        Ok(String::from_utf8(self.repo.blob(&entry.id)?).ok())
    }
}
