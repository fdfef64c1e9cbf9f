//! Items of the queue that a person closes by hand. What is in the memory of a running loop wins over its file, so a person's word
//! is noted aside, and the loop takes it in with what else was asked for; where none runs, the file says so at once.

use std::path::Path;

use super::lines::beginning;
use super::read::refuse_too_large;
use super::{Ledger, asked, refuse_links};
use crate::effects::repo::Repo;
use crate::effects::{files, lock};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::ledger as names;
use crate::model::work::Closing;

/// The file below the folder of what was asked for.
const NAME: &str = "closed-work.jsonl";
/// The most bytes of it that are read.
const MOST: u64 = 1 << 20;

/// Closes items. Says whether a loop at work will take that in; else it is done.
pub fn close(repo: &Repo, closings: &[Closing]) -> Result<bool> {
    refuse_links(&repo.root)?;
    let line = |closing: &Closing| {
        let line = serde_json::to_string(closing);
        line.map(|line| line + "\n")
            .map_err(|cause| Error::internal(format!("BUG: {cause}")))
    };
    let lines: Vec<String> = closings.iter().map(line).collect::<Result<_>>()?;
    let _turn = lock::turn(&repo.private)?;
    asked::note(&repo.private, NAME, &lines.concat())?;
    let is_at_work = || lock::holder(&repo.private.join("lock")).is_some();
    if is_at_work() {
        return Ok(true);
    }
    let mut ledger = Ledger::look(repo)?;
    for closing in closings {
        ledger.queue.close(closing);
    }
    let text = ledger.queue.to_text();
    refuse_too_large(names::QUEUE, &text)?;
    files::replace(&repo.root.join(names::QUEUE), &exact::encode_all(text))?;
    if !is_at_work() {
        // One that has begun meanwhile may have read the file as it was.
        forget(&repo.private)?;
    }
    Ok(false)
}

/// Returns what a person closed and the queue's file may not say yet.
pub fn closings(repo: &Repo) -> Result<Vec<Closing>> {
    noted(&repo.private)
}

fn noted(private: &Path) -> Result<Vec<Closing>> {
    let noted = beginning(&asked::place(private, NAME), MOST)?;
    let closings = noted.lines().map(serde_json::from_str);
    Ok(closings.flatten().collect())
}

/// Forgets what was closed, once the queue's file says so.
pub(super) fn forget(private: &Path) -> Result<()> {
    files::remove(&asked::place(private, NAME))
}

impl Ledger {
    /// Makes the items done that a person closed; returns how many were open.
    pub(super) fn take_in_closed(&mut self) -> Result<usize> {
        let closings = noted(&self.private)?.into_iter();
        Ok(closings.map(|closing| self.queue.close(&closing)).sum())
    }
}
