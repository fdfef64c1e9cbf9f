//! The two files of the ledger that others write too: the queue and the retries. A person may append to them at any time,
//! also while the loop runs, and so may other programs; all of `evolve` takes turns under a lock, so that a rewrite loses
//! nothing that is appended meanwhile.
//!
//! What stands in them at a cycle's start is the user's and taken in as it is. What appears while an agent runs may be the
//! agent's: nothing tells its lines from a person's, for both run as the same user. So additions are kept, but rewritten to
//! what an item may say for itself, marked with the cycle, and limited in number; nothing that was there can be taken away,
//! and what is no item goes to the quarantine.

use super::asked::{self, Asked};
use super::lines::{beginning, end_line};
use super::read::refuse_too_large;
use super::{Ledger, closed, line, read_file, refuse_links};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::{files, lock};
use crate::error::Result;
use crate::model::exact;
use crate::model::growth::Growth;
use crate::model::ledger as names;
use crate::model::strikes::{self, Judged, Retry};
use crate::model::text;
use crate::model::work::{Queue, Rejoined};

/// How many items may appear in the queue while one agent runs.
const APPEARED: usize = 1_000;

/// Appends a line to one of the shared files, unless `make` has none to add to its present text. Says whether one was added.
/// While a session lives it is noted aside, too.
pub fn append(
    repo: &Repo,
    name: &'static str,
    make: impl FnOnce(&str) -> Result<Option<String>>,
) -> Result<bool> {
    refuse_links(&repo.root)?;
    let chain = super::Chain::of(repo, None)?;
    super::refuse_newer(|name| Ok(super::read(repo, chain.as_ref(), name)?.into()))?;
    let path = repo.root.join(name);
    let _turn = lock::turn(&repo.private)?;
    let present = read_file(&repo.root, name)?;
    let known = Asked::look(&repo.private, name, &[&present])?.joined(&present);
    let Some(line) = make(&known)? else {
        return Ok(false);
    };
    refuse_too_large(name, &[&known, &*line].concat())?;
    if lock::holder(&repo.private.join("lock")).is_some() {
        asked::note(&repo.private, name, &line)?;
    }
    files::append(&path, &line)?;
    Ok(true)
}

/// What was found in the files of the ledger after an agent, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What is wrong with them.
    pub wrong: Vec<String>,
    /// What anybody may add at any time, and somebody did.
    pub added: Vec<String>,
}

impl Found {
    /// Returns all of it that is not `known` yet.
    pub fn beyond(self, known: &Found) -> Found {
        let new = |mut words: Vec<String>, known: &[String]| {
            words.retain(|one| !known.contains(one));
            words
        };
        Found {
            wrong: new(self.wrong, &known.wrong),
            added: new(self.added, &known.added),
        }
    }
}

fn is_or_are(count: usize) -> &'static str {
    match count {
        1 => "is",
        _ => "are",
    }
}

impl Ledger {
    /// Takes in the shared files as they stand before a cycle. What git has of them and they have not is put back.
    pub(super) fn take_in_shared(&mut self, repo: &Repo) -> Result<()> {
        if !self.is_checked_out(repo)? {
            return Ok(());
        }
        self.take_in_queue()?;
        let said = self.judge_retries(repo)?;
        self.reports.extend(said);
        Ok(())
    }

    /// Puts right what merges made of the queue.
    pub(super) fn rejoin_queue(&mut self) {
        let Rejoined { taken, doubled } = self.queue.rejoin(&self.merged_queues);
        if taken + doubled == 0 {
            self.merged_queues.clear();
            return;
        }
        self.note_queue();
        self.is_joined = true;
        if taken > 0 {
            let words = match taken {
                1 => "it is",
                _ => "they are",
            };
            self.reports.push(format!(
                "{}: a merge left out {} that one side had added or done, and {words} taken in again",
                names::QUEUE,
                text::count(taken, "item")
            ));
        }
        if doubled > 0 {
            self.reports.push(format!(
                "{}: a merge doubled {} that both sides had, and that is put right",
                names::QUEUE,
                text::count(doubled, "item")
            ));
        }
    }

    fn take_in_queue(&mut self) -> Result<()> {
        let turn = lock::turn(&self.private);
        let known = self.queue.to_text();
        let (put_back, asked) = self.join_queue()?;
        let closed = self.take_in_closed()?;
        if self.queue.to_text() != known {
            self.note_queue();
        }
        let is_more = closed > 0 || !asked.lines.is_empty() || !self.merged_queues.is_empty();
        if put_back > 0 || is_more {
            self.write_queue_in_turn()?;
        }
        self.reports.extend(asked.note());
        if put_back > 0 {
            let words = match put_back {
                1 => "was gone, and is put back",
                _ => "were gone, and are put back",
            };
            self.reports.push(format!(
                "{}: {} that git has {words} (to drop one, commit the queue without it)",
                names::QUEUE,
                text::count(put_back, "item")
            ));
        }
        if turn.is_ok() {
            let said = asked.forget(&self.private, 0)?;
            self.reports.extend(said);
            closed::forget(&self.private)?;
        }
        Ok(())
    }

    /// Sees the shared files as a cycle's start would take them in, and writes nothing.
    pub(super) fn see_shared(&mut self) {
        match self.join_queue() {
            Ok((0, _)) => {}
            Ok((gone, _)) => {
                let words = match gone {
                    1 => "is gone, and a run would put it back",
                    _ => "are gone, and a run would put them back",
                };
                let items = text::count(gone, "item");
                let report = format!("{}: {items} that git has {words}", names::QUEUE);
                self.reports.push(report);
            }
            Err(error) => self.reports.push(error.message),
        }
        match read_file(&self.root, names::RETRIES) {
            Ok(now) => match Asked::look(&self.private, names::RETRIES, &[&now]) {
                Ok(asked) => drop(self.believe_retries(&asked.joined(&now))),
                Err(error) => self.reports.push(error.message),
            },
            Err(error) => self.reports.push(error.message),
        }
    }

    /// Makes the queue in memory what its file has, with what git has of it beside, and what is noted aside; returns how many
    /// items only git has, and what is noted.
    fn join_queue(&mut self) -> Result<(usize, Asked)> {
        let present = read_file(&self.root, names::QUEUE)?;
        let known = self.queue.to_text();
        let asked = Asked::look(&self.private, names::QUEUE, &[&present, &known])?;
        let mut put_back = 0;
        if known != present {
            let known = std::mem::replace(&mut self.queue, Queue::parse(&present));
            self.queue.rejoin(&self.merged_queues);
            put_back = self.queue.put_back(&known);
        }
        self.queue.merge_from(&asked.lines);
        Ok((put_back, asked))
    }

    /// Makes the retries in memory what is believed of this text of their file.
    fn believe_retries(&mut self, now: &str) -> Judged {
        let judged = strikes::judge(&self.retries_text, now, self.history.next_cycle() - 1);
        self.retries = strikes::parse(&judged.text);
        self.retries_text.clone_from(&judged.text);
        judged
    }

    /// Takes in items that were added to the queue's file before an agent runs, as they are.
    pub fn refresh_queue(&mut self) -> Result<()> {
        // Who reads while a line is appended may see its beginning alone.
        let _turn = lock::turn(&self.private);
        self.refresh_queue_in_turn()
    }

    fn refresh_queue_in_turn(&mut self) -> Result<()> {
        let text = read_file(&self.root, names::QUEUE)?;
        let added = self.queue.merge_from(&text);
        if added + self.take_in_closed()? > 0 {
            self.note_queue();
        }
        Ok(())
    }

    /// Takes in what people closed of a queue that git does not have yet.
    pub(super) fn refresh_closed(&mut self) -> Result<()> {
        if self.take_in_closed()? > 0 {
            self.note_queue();
        }
        Ok(())
    }

    /// Makes the queue as it is in memory part of the next commit.
    fn note_queue(&mut self) {
        let bytes = exact::encode_all(self.queue.to_text());
        self.pending.insert(names::QUEUE.to_owned(), Some(bytes));
    }

    /// Judges every file of the ledger after the agent of a cycle has ended: what is `evolve`'s alone is put right, what
    /// appeared in the others is taken in as far as it goes. Returns what a reader of the record should know.
    pub fn judge_files(&mut self, repo: &Repo, cycle: u64, at: &str) -> Result<Found> {
        if !self.is_checked_out(repo)? {
            return Ok(Found::default());
        }
        let mut found = Found {
            wrong: self.put_right(repo)?,
            added: Vec::new(),
        };
        if let Some(tip) = repo.head()?.commit {
            let files = repo.ledger_files(&repo.tree_of(&tip)?)?.into_iter();
            let tracked: Vec<_> = files
                .map(|(name, _)| name)
                .filter(|name| names::is_private(name))
                .collect();
            if !tracked.is_empty() {
                found.wrong.push(format!(
                    "{}: was committed, and is taken out again",
                    tracked.join(", ")
                ));
            }
        }
        self.judge_queue(repo, cycle, at, &mut found)?;
        found.wrong.extend(self.judge_retries(repo)?);
        Ok(found)
    }

    fn judge_queue(&mut self, repo: &Repo, cycle: u64, at: &str, found: &mut Found) -> Result<()> {
        let turn = lock::turn(&self.private);
        let mut notes = Vec::new();
        let mut now = match read_file(&self.root, names::QUEUE) {
            Ok(text) => text,
            // It may be a plain file of which nothing is wrong.
            Err(error) if error.is_shortage() => return Err(error),
            // No plain file, or longer than any queue. What a person added stands before a flood that came later.
            Err(_) => {
                let path = self.root.join(names::QUEUE);
                let beginning = beginning(&path, names::most_bytes(names::QUEUE));
                let beginning = beginning.unwrap_or_default();
                let mut quarantine = Quarantine::of(&repo.private, "ledger", cycle);
                quarantine.take(&self.root, names::QUEUE.as_bytes())?;
                notes.push(format!(
                    "{} was no plain file or too long while the agent ran; what its beginning says is looked at",
                    names::QUEUE
                ));
                notes.extend(quarantine.notes());
                beginning
            }
        };
        let before = self.queue.to_text();
        let asked = Asked::look(&self.private, names::QUEUE, &[&now, &before])?;
        // What a person asked for comes before what may be a flood.
        now.insert_str(0, &asked.lines);
        notes.extend(asked.note());
        let is_looked_at = now != before || !notes.is_empty();
        found.wrong.append(&mut notes);
        if is_looked_at {
            self.take_appeared(repo, &before, &now, cycle, at, found)?;
        }
        if self.take_in_closed()? > 0 {
            self.write(names::QUEUE, exact::encode_all(self.queue.to_text()))?;
        }
        if turn.is_ok() {
            found.wrong.extend(asked.forget(&self.private, cycle)?);
        }
        Ok(())
    }

    /// Takes over what appeared in the queue's text, and writes it.
    fn take_appeared(
        &mut self,
        repo: &Repo,
        before: &str,
        now: &str,
        cycle: u64,
        at: &str,
        found: &mut Found,
    ) -> Result<()> {
        if let Growth::Rewritten { missing, .. } = Growth::of(before, now) {
            let lines = text::count(missing, "line");
            let words = match missing {
                1 => "was changed or gone while the agent ran, and is put back",
                _ => "were changed or gone while the agent ran, and are put back",
            };
            found
                .wrong
                .push(format!("{}: {lines} {words}", names::QUEUE));
        }
        let first = self.queue.items().len();
        let appeared = self.queue.take_appeared(now, cycle, at, APPEARED);
        // What a person added and took off again is no news.
        self.take_in_closed()?;
        let items = self.queue.items();
        let added = items[first..].iter().filter(|it| !it.is_consumed()).count();
        if added > 0 {
            found.added.push(format!(
                "{} came into the queue while the agent ran, from it or from somebody else, and {} open: see `evolve work list`",
                text::count(added, "item"),
                is_or_are(added)
            ));
        }
        if !appeared.refused.is_empty() {
            let mut quarantine = Quarantine::of(&repo.private, "ledger", cycle);
            let refused = exact::encode_all(appeared.refused.concat());
            let name = names::QUEUE.as_bytes();
            let place = quarantine.place_for(name, refused.len() as u64)?;
            files::replace(&place, &refused)?;
            found.wrong.push(format!(
                "{}: left out, as no items or too many: {} that appeared while the agent ran: {}",
                names::QUEUE,
                text::count(appeared.refused.len(), "line"),
                place.display()
            ));
        }
        self.write(names::QUEUE, exact::encode_all(self.queue.to_text()))
    }

    /// Writes the queue, if there is one, with what somebody else added to its file meanwhile.
    pub fn write_queue(&mut self) -> Result<()> {
        let _turn = lock::turn(&self.private);
        self.write_queue_in_turn()
    }

    fn write_queue_in_turn(&mut self) -> Result<()> {
        self.refresh_queue_in_turn()?;
        let text = self.queue.to_text();
        if text.is_empty() && !self.has(names::QUEUE) {
            return Ok(());
        }
        self.write(names::QUEUE, exact::encode_all(text))
    }

    /// Lets goals be worked on again.
    pub fn allow_again(&mut self, repo: &Repo, retries: Vec<Retry>) -> Result<()> {
        if retries.is_empty() {
            return Ok(());
        }
        let turn = lock::turn(&self.private);
        self.judge_in_turn(repo, turn.is_ok())?;
        end_line(&mut self.retries_text);
        for retry in &retries {
            self.retries_text.push_str(&line("retry", retry)?);
        }
        self.retries.extend(retries);
        self.write_retries()
    }

    /// Reads the retries again: `evolve retry` may have been run meanwhile. A line counts only if it asks for what a
    /// person can ask for: that the cycles so far no longer count, never those to come. Returns what was wrong, in words.
    pub fn judge_retries(&mut self, repo: &Repo) -> Result<Vec<String>> {
        let turn = lock::turn(&self.private);
        self.judge_in_turn(repo, turn.is_ok())
    }

    fn judge_in_turn(&mut self, repo: &Repo, is_turn: bool) -> Result<Vec<String>> {
        let found = match read_file(&self.root, names::RETRIES) {
            Err(error) if error.is_shortage() => return Err(error),
            found => found,
        };
        let known = [found.as_deref().unwrap_or_default(), &self.retries_text];
        let asked = Asked::look(&self.private, names::RETRIES, &known)?;
        let mut said = self.judge_text(repo, found.ok(), &asked)?;
        said.extend(asked.note());
        if is_turn {
            said.extend(asked.forget(&self.private, 0)?);
        }
        Ok(said)
    }

    /// Judges the retries with what is noted aside; `found` is the file's text, none if it is no plain file.
    fn judge_text(
        &mut self,
        repo: &Repo,
        found: Option<String>,
        asked: &Asked,
    ) -> Result<Vec<String>> {
        let is_plain = found.is_some();
        let now = found.unwrap_or_default();
        if is_plain && now == self.retries_text && asked.lines.is_empty() {
            return Ok(Vec::new());
        }
        let judged = self.believe_retries(&asked.joined(&now));
        let mut said = Vec::new();
        let gone = match judged.missing {
            1 => "was gone, and is put back",
            _ => "were gone, and are put back",
        };
        let refused = format!(
            "that `evolve retry` would not have written {} left out",
            is_or_are(judged.refused)
        );
        for (count, what) in [(judged.missing, gone), (judged.refused, refused.as_str())] {
            if count > 0 {
                let lines = text::count(count, "line");
                said.push(format!("{}: {lines} {what}", names::RETRIES));
            }
        }
        if is_plain && now == self.retries_text {
            let bytes = exact::encode(&now);
            self.pending.insert(names::RETRIES.to_owned(), Some(bytes));
            return Ok(said);
        }
        if (judged.refused > 0 || !is_plain) && self.has(names::RETRIES) {
            let mut quarantine = Quarantine::of(&repo.private, "ledger", 0);
            quarantine.take(&self.root, names::RETRIES.as_bytes())?;
        }
        self.write_retries()?;
        Ok(said)
    }

    fn write_retries(&mut self) -> Result<()> {
        let bytes = exact::encode(&self.retries_text);
        self.write(names::RETRIES, bytes)
    }
}
