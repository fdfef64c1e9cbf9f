//! What a cycle adds to the ledger: its record and lessons; and what gets too long and leaves.

use std::collections::BTreeSet;

use super::segments::unmoved;
use super::{Ledger, line};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::ledger as names;
use crate::model::lesson::Lesson;
use crate::model::record::{History, Record};
use crate::model::schema;

impl Ledger {
    /// Appends a record to the history, and moves its oldest lines to a segment when there are too many. A cycle of this
    /// session that is already recorded is not recorded again.
    pub fn record(&mut self, repo: &Repo, record: &Record) -> Result<()> {
        let value = serde_json::to_value(record)
            .map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
        schema::check("record", &value)
            .map_err(|why| Error::internal(format!("BUG: the record is invalid: {why}")))?;
        let is_there =
            |known: &Record| known.cycle == record.cycle && known.session == record.session;
        if !self.history.records.iter().any(is_there) {
            if !self.history_text.is_empty() && !self.history_text.ends_with('\n') {
                self.history_text.push('\n');
            }
            self.history_text.push_str(&format!("{value}\n"));
            self.history.records.push(record.clone());
        }
        let known = self.file_names(repo)?;
        self.rotate(repo, &known)?;
        let bytes = exact::encode(&self.history_text);
        self.write(names::HISTORY, bytes)?;
        self.prune_snapshots(known, record.cycle)
    }

    /// Returns the names of the files that it has: as git and memory have them, and not the tree, in which another branch may be
    /// checked out; but for a ledger that git does not have yet.
    fn file_names(&self, repo: &Repo) -> Result<BTreeSet<String>> {
        let mut known: BTreeSet<String> = match &self.tree {
            Some(tree) => repo
                .ledger_files(tree)?
                .into_iter()
                .map(|(name, _)| name)
                .collect(),
            None => files::plain_names_in(&self.root, names::FOLDER)
                .into_iter()
                .collect(),
        };
        for (name, bytes) in &self.pending {
            match bytes {
                Some(_) => known.insert(name.clone()),
                None => known.remove(name),
            };
        }
        Ok(known)
    }

    /// Moves the oldest lines to a segment when there are too many; those that a segment has already only leave the active file.
    fn rotate(&mut self, repo: &Repo, known: &BTreeSet<String>) -> Result<()> {
        let moving = names::lines_to_move(&self.history_text);
        if moving == 0 {
            return Ok(());
        }
        let number = (1..)
            .find(|number| !known.contains(&names::segment(*number)))
            .unwrap_or(1);
        let cut: usize = self
            .history_text
            .split_inclusive('\n')
            .take(moving)
            .map(str::len)
            .sum();
        let rest = self.history_text.split_off(cut);
        let mut oldest = std::mem::replace(&mut self.history_text, rest);
        let segments = (1..number).rev().map(|number| {
            let bytes = self.committed(repo, &names::segment(number))?;
            Ok(exact::decode_all(bytes.unwrap_or_default()))
        });
        if let Some((unmoved, _)) = unmoved(&oldest, segments)? {
            oldest = unmoved;
        }
        if !oldest.is_empty() {
            self.write(&names::segment(number), exact::encode_all(oldest))?;
        }
        let problems = std::mem::take(&mut self.history.problems);
        self.history = History::parse(&self.history_text);
        self.history.problems = problems;
        Ok(())
    }

    /// Removes the snapshots of all but the newest cycles; older ones live in git.
    fn prune_snapshots(&mut self, known: BTreeSet<String>, cycle: u64) -> Result<()> {
        let Some(oldest) = cycle.checked_sub(names::SNAPSHOTS_KEPT) else {
            return Ok(());
        };
        for name in known {
            if names::cycle_of_snapshot(&name).is_some_and(|cycle| 0 < cycle && cycle <= oldest) {
                files::remove(&self.root.join(&name))?;
                self.pending.insert(name, None);
            }
        }
        Ok(())
    }

    /// Takes in lessons.
    pub fn learn(&mut self, lessons: Vec<Lesson>) -> Result<()> {
        if lessons.is_empty() {
            return Ok(());
        }
        if !self.lessons_text.is_empty() && !self.lessons_text.ends_with('\n') {
            self.lessons_text.push('\n');
        }
        for lesson in &lessons {
            self.lessons_text.push_str(&line("lesson", lesson)?);
        }
        self.lessons.extend(lessons);
        let bytes = exact::encode(&self.lessons_text);
        self.write(names::LESSONS, bytes)
    }
}
