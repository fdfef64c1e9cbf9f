//! Everything that `evolve` keeps in the repository: reads it once, holds it in memory while agents run, writes it back
//! and commits it. What is in memory wins over what an agent did to the files meanwhile.
//!
//! It is read from git (`chain`), as far as the anchor says; what the files of the tree say otherwise is put right
//! (`mend`). Two files belong to others as well, the queue and the retries: what they hold at a cycle's start is taken in,
//! what appears in them while an agent runs is judged (`shared`).

mod anchor;
mod arrived;
mod asked;
mod beside;
mod chain;
mod closed;
mod commit;
mod dropped;
mod foreseen;
mod grow;
mod lines;
mod mend;
mod merged;
mod read;
mod segments;
mod shared;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;

pub use arrived::Arrived;
use chain::Chain;
pub use closed::{close, closings};
pub use dropped::drop_lesson;
pub use read::refuse_links;
pub use read::whole_history;
use read::{read, read_file, read_history, read_written, refuse_newer};
pub use shared::{Found, append};

use crate::effects::repo::Repo;
use crate::effects::{files, lock};
use crate::error::{Error, Result};
use crate::model::ledger as names;
use crate::model::lesson::{self, Lesson};
use crate::model::record::History;
use crate::model::schema;
use crate::model::snapshot::Snapshot;
use crate::model::strikes::{self, Retry};
use crate::model::work::{Queue, Side};

/// Files that are committed whenever they are there, whoever wrote them last.
const STANDING: [&str; 9] = [
    names::HISTORY,
    names::BASELINE,
    names::BASELINE_REPORT,
    names::LESSONS,
    names::RETRIES,
    names::LAST_SWEEP,
    names::QUEUE,
    names::SUMMARY,
    names::DELTA,
];

/// The ledger of a repository, in memory.
#[derive(Debug)]
pub struct Ledger {
    root: PathBuf,
    private: PathBuf,
    /// The branch that it is committed to, whatever is checked out; none for the one that is.
    pub branch: Option<String>,
    /// The tree whose ledger this is; none where git has no ledger yet, so that the files count.
    tree: Option<String>,
    /// What is to be said of how it was found.
    reports: Vec<String>,
    /// The records.
    pub history: History,
    history_text: String,
    /// The queue of harvested work.
    pub queue: Queue,
    /// What merges made of the queue since the last commit.
    merged_queues: Vec<Side>,
    /// Goals asked for again.
    pub retries: Vec<Retry>,
    retries_text: String,
    /// What agents learned.
    pub lessons: Vec<Lesson>,
    lessons_text: String,
    /// Files written since the last commit; none stands for a removed one.
    pending: BTreeMap<String, Option<Vec<u8>>>,
    /// What merges left out was joined to it, and is in no commit yet.
    pub is_joined: bool,
    /// When the files of the tree were last held against memory.
    verified: Option<SystemTime>,
}

impl Ledger {
    /// Reads the ledger to write to it, and puts right what the files of the tree say otherwise. Refuses one that a newer
    /// program wrote, and folders that lead elsewhere.
    ///
    /// It is the one of `branch`, if given, whatever is checked out.
    pub fn open(repo: &Repo, branch: Option<String>) -> Result<Ledger> {
        refuse_links(&repo.root)?;
        let chain = Chain::of(repo, branch.as_deref())?;
        // What git does not have is read from files that others may be appending to.
        let turn = chain.is_none().then(|| lock::turn(&repo.private));
        let mut ledger = Ledger::parse(repo, chain.as_ref())?;
        ledger.refuse_newer(repo, chain.as_ref())?;
        ledger.branch = branch;
        match chain {
            // A ledger that git never had: the user's own, brought along, or of a first session that recorded nothing.
            None => {
                for name in STANDING {
                    ledger.take_up(name)?;
                }
                ledger.refresh_closed()?;
                drop(turn);
            }
            Some(chain) => {
                ledger.write_joined(repo, &chain)?;
                for (name, bytes) in chain.restored {
                    ledger.pending.insert(name, Some(bytes));
                }
                let mended = ledger.put_right(repo)?;
                ledger.reports.extend(mended);
                ledger.rejoin_queue();
                ledger.take_in_shared(repo)?;
                ledger.settle_dropped()?;
            }
        }
        Ok(ledger)
    }

    /// Reads the ledger to show it: as much of it as can be understood, with what a cycle's start would take in.
    pub fn look(repo: &Repo) -> Result<Ledger> {
        refuse_links(&repo.root)?;
        let chain = Chain::of(repo, None)?;
        let mut ledger = Ledger::parse(repo, chain.as_ref())?;
        if let Some(chain) = chain {
            let snapshots = chain.restored.into_iter();
            let snapshots = snapshots.filter(|(name, _)| names::is_snapshot(name));
            let snapshots = snapshots.map(|(name, bytes)| (name, Some(bytes)));
            ledger.pending.extend(snapshots);
            ledger.rejoin_queue();
            ledger.see_shared();
        }
        ledger.take_in_closed()?;
        ledger.see_dropped()?;
        Ok(ledger)
    }

    /// Reads the ledger again if somebody committed to it since it was read or committed: a pull between two cycles. Returns
    /// what is to be said of it.
    pub fn follow(&mut self, repo: &Repo) -> Result<Vec<String>> {
        let Some(head) = chain::tip(repo, self.branch.as_deref())? else {
            return Ok(Vec::new());
        };
        let now = repo.ledger_ids(&repo.tree_of(&head)?)?;
        let known = self.tree.as_ref().map(|tree| repo.ledger_ids(tree));
        let known = known.transpose()?;
        let is_same = now == known.unwrap_or_default();
        if is_same && (self.is_joined || !chain::has_merge(repo, &head)?) {
            return Ok(Vec::new());
        }
        let now = Ledger::open(repo, self.branch.clone())?;
        let before = std::mem::replace(self, now);
        for (name, bytes) in before.pending {
            self.pending.entry(name).or_insert(bytes);
        }
        Ok(self.reports.clone())
    }

    /// Reads the ledger as a commit has it, with the files that were `written` since: what an agent did to the files of the
    /// tree meanwhile does not count. Returns the names of those of which nothing is left, too.
    pub fn load_at(
        repo: &Repo,
        commit: &str,
        written: &BTreeMap<String, String>,
    ) -> Result<(Ledger, Vec<String>)> {
        refuse_links(&repo.root)?;
        let mut chain = Chain::at(repo, commit)?;
        let mut gone = Vec::new();
        for (name, id) in written {
            match read_written(repo, name, id)? {
                Some(bytes) => chain.restored.push((name.clone(), bytes)),
                None => gone.push(name.clone()),
            }
        }
        let mut ledger = Ledger::parse(repo, Some(&chain))?;
        ledger.refuse_newer(repo, Some(&chain))?;
        for (name, bytes) in chain.restored {
            match [names::QUEUE, names::RETRIES].contains(&name.as_str()) {
                // What was appended to these since is judged first.
                true => drop(ledger.pending.insert(name, Some(bytes))),
                false => ledger.write(&name, bytes)?,
            }
        }
        for name in [names::BASELINE, names::BASELINE_REPORT, names::LAST_SWEEP] {
            if !repo.has_file(&chain.tree, name)? {
                ledger.take_up(name)?;
            }
        }
        Ok((ledger, gone))
    }

    fn parse(repo: &Repo, chain: Option<&Chain>) -> Result<Ledger> {
        let text = |name: &str| read(repo, chain, name);
        let (history_text, history) = read_history(repo, chain)?;
        let retries_text = text(names::RETRIES)?;
        let lessons_text = text(names::LESSONS)?;
        Ok(Ledger {
            root: repo.root.clone(),
            private: repo.private.clone(),
            branch: None,
            tree: chain.map(|chain| chain.tree.clone()),
            reports: chain.map_or(Vec::new(), |chain| chain.said.clone()),
            history,
            history_text,
            queue: Queue::parse(&text(names::QUEUE)?),
            merged_queues: chain.map_or(Vec::new(), |chain| chain.queues.clone()),
            retries: strikes::parse(&retries_text),
            retries_text,
            lessons: lesson::parse(&lessons_text),
            lessons_text,
            pending: BTreeMap::new(),
            is_joined: chain.is_some_and(|chain| !chain.joined.is_empty()),
            verified: None,
        })
    }

    /// Refuses to write beside what a newer program wrote.
    fn refuse_newer(&self, repo: &Repo, chain: Option<&Chain>) -> Result<()> {
        refuse_newer(|name| {
            Ok(match name {
                names::HISTORY => Cow::Borrowed(&self.history_text),
                names::RETRIES => Cow::Borrowed(&self.retries_text),
                names::LESSONS => Cow::Borrowed(&self.lessons_text),
                name => Cow::Owned(read(repo, chain, name)?),
            })
        })
    }

    /// Adds to what is to be said of how it was found.
    pub fn report(&mut self, found: Option<String>) {
        self.reports.extend(found);
    }

    /// Returns what could not be understood of the history and the queue, with file and line.
    pub fn problems(&self) -> Vec<String> {
        let of = |name: &str, problems: &[String]| -> Vec<String> {
            let placed = problems.iter().map(|problem| format!("{name}, {problem}"));
            placed.collect()
        };
        let mut problems = self.reports.clone();
        problems.extend(of(names::HISTORY, &self.history.problems));
        problems.extend(of(names::QUEUE, &self.queue.problems()));
        problems
    }

    /// Writes a file of the ledger; it becomes part of the next commit.
    pub fn write(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        files::replace(&self.root.join(name), &bytes)?;
        self.pending.insert(name.to_owned(), Some(bytes));
        Ok(())
    }

    /// Writes a snapshot, checked against its schema before anything else happens.
    pub fn write_snapshot(&mut self, name: &str, snapshot: &Snapshot) -> Result<()> {
        let text = checked("snapshot", snapshot)?;
        self.write(name, text.into_bytes())
    }

    /// Takes back a file that was written since the last commit.
    pub fn unwrite(&mut self, name: &str) -> Result<()> {
        self.pending.remove(name);
        files::remove(&self.root.join(name))
    }

    /// Makes a file that is there, left by a dead session, part of the next commit; what is known of it already counts more.
    fn take_up(&mut self, name: &str) -> Result<()> {
        if self.pending.contains_key(name) {
            return Ok(());
        }
        if let Some(bytes) = files::read_bounded(&self.root.join(name), names::most_bytes(name))? {
            self.pending.insert(name.to_owned(), Some(bytes));
        }
        Ok(())
    }

    /// Reads a snapshot of an earlier cycle; none if it is not there or not to be understood.
    pub fn snapshot(&self, repo: &Repo, name: &str) -> Option<Snapshot> {
        let bytes = self.committed(repo, name).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Reads a file as memory and git have it; where git has no ledger yet, as it stands in the tree.
    fn committed(&self, repo: &Repo, name: &str) -> Result<Option<Vec<u8>>> {
        match (self.pending.get(name), &self.tree) {
            (Some(written), _) => Ok(written.clone()),
            (None, Some(tree)) => repo.file(tree, name),
            (None, None) => files::read_bounded(&self.root.join(name), names::most_bytes(name)),
        }
    }

    /// Says whether git has a ledger yet.
    pub fn is_in_git(&self) -> bool {
        self.tree.is_some()
    }

    /// Says whether a file of the ledger is there.
    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.root.join(name)).is_ok()
    }

    /// Returns the newest session's summary; empty if there is none.
    pub fn summary(&self, repo: &Repo) -> String {
        let bytes = self.committed(repo, names::SUMMARY);
        let bytes = bytes.ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns when a sweep ran last, as it was written down; empty if it was not.
    pub fn last_sweep(&self, repo: &Repo) -> String {
        let bytes = self.committed(repo, names::LAST_SWEEP);
        let bytes = bytes.ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Returns a document as indented JSON, after checking it against its schema.
pub fn checked<T: Serialize>(name: &str, document: &T) -> Result<String> {
    let value =
        serde_json::to_value(document).map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    schema::check(name, &value)
        .map_err(|why| Error::internal(format!("the {name} is invalid: {why}")))?;
    Ok(format!("{value:#}\n"))
}

/// Returns a document as one line of JSON, after checking it against its schema.
pub fn line<T: Serialize>(name: &str, document: &T) -> Result<String> {
    let value =
        serde_json::to_value(document).map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    schema::check(name, &value)
        .map_err(|why| Error::internal(format!("the {name} is invalid: {why}")))?;
    Ok(format!("{value}\n"))
}
