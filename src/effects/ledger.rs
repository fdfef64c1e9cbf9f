//! Everything that `evolve` keeps in the repository: reads it once, holds it in memory while agents run, writes it back
//! and commits it. What is in memory wins over what an agent did to the files meanwhile.
//!
//! It is read from git (`chain`), as far as the anchor says; what the files of the tree say otherwise is put right
//! (`mend`). Two files belong to others as well, the queue and the retries: what they hold at a cycle's start is taken in,
//! what appears in them while an agent runs is judged (`shared`).

mod anchor;
mod chain;
mod mend;
mod shared;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::json;

use chain::Chain;
pub use shared::append;

use crate::effects::files;
use crate::effects::repo::{Entry, Repo};
use crate::effects::workspace::Workspace;
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::ledger as names;
use crate::model::lesson::{self, Lesson};
use crate::model::record::{History, Record};
use crate::model::schema;
use crate::model::snapshot::{FORMAT, Snapshot};
use crate::model::strikes::{self, Retry};
use crate::model::work::Queue;

/// The most bytes of git's own list of excluded files that are read.
const EXCLUDE_LIMIT: u64 = 16 << 20;
/// How often a ledger commit is built again because somebody else committed in between.
const COMMIT_TRIES: usize = 20;
/// What stands in `info/exclude`, because it is never committed.
const EXCLUDED: [&str; 3] = [
    "/.agents/evolve/STOP",
    "/.agents/evolve/KILLED.json",
    "/.agents/evolve/outbox/",
];
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
    /// Goals asked for again.
    pub retries: Vec<Retry>,
    retries_text: String,
    /// What agents learned.
    pub lessons: Vec<Lesson>,
    lessons_text: String,
    /// Files written since the last commit; none stands for a removed one.
    pending: BTreeMap<String, Option<Vec<u8>>>,
    /// When the files of the tree were last held against memory.
    verified: Option<SystemTime>,
}

fn branch_is_gone(branch: &str) -> Error {
    let short = branch.trim_start_matches("refs/heads/");
    Error::unsafe_repo(format!("the branch {short} is gone")).hint(
        "run evolve again: the cycle is recorded on the branch that is checked out, if that goes on from it",
    )
}

impl Ledger {
    /// Reads the ledger to write to it, and puts right what the files of the tree say otherwise. Refuses one that a newer
    /// program wrote, and folders that lead elsewhere.
    ///
    /// It is the one of `branch`, if given, whatever is checked out.
    pub fn open(repo: &Repo, branch: Option<String>) -> Result<Ledger> {
        refuse_links(&repo.root)?;
        let chain = Chain::of(repo, branch.as_deref())?;
        refuse_newer(|name| read(repo, chain.as_ref(), name))?;
        let mut ledger = Ledger::parse(repo, chain.as_ref())?;
        ledger.branch = branch;
        match chain {
            // A ledger that git never had: the user's own, brought along, or of a first session that recorded nothing.
            None => {
                for name in STANDING {
                    ledger.take_up(name)?;
                }
            }
            Some(chain) => {
                for (name, bytes) in chain.restored {
                    ledger.pending.insert(name, Some(bytes));
                }
                let mended = ledger.put_right(repo)?;
                ledger.reports.extend(mended);
                ledger.take_in_shared(repo)?;
            }
        }
        Ok(ledger)
    }

    /// Reads the ledger to show it: as much of it as can be understood, with what a cycle's start would take in.
    pub fn look(repo: &Repo) -> Result<Ledger> {
        refuse_links(&repo.root)?;
        let chain = Chain::of(repo, None)?;
        let mut ledger = Ledger::parse(repo, chain.as_ref())?;
        if chain.is_some() {
            ledger.see_shared();
        }
        Ok(ledger)
    }

    /// Reads the ledger again if somebody committed to it since it was read or committed: a pull between two cycles. Returns
    /// what is to be said of it.
    pub fn follow(&mut self, repo: &Repo) -> Result<Vec<String>> {
        let Some(head) = chain::tip(repo, self.branch.as_deref())? else {
            return Ok(Vec::new());
        };
        let now = repo.ledger_ids(&repo.tree_of(&head)?);
        let known = self.tree.as_ref().map(|tree| repo.ledger_ids(tree));
        if now == known.unwrap_or_default() {
            return Ok(Vec::new());
        }
        let pending = std::mem::take(&mut self.pending);
        *self = Ledger::open(repo, self.branch.take())?;
        for (name, bytes) in pending {
            self.pending.entry(name).or_insert(bytes);
        }
        Ok(self.reports.clone())
    }

    /// Reads the ledger as a commit has it, with the files that were `written` since: what an agent did to the files of the
    /// tree meanwhile does not count.
    pub fn load_at(
        repo: &Repo,
        commit: &str,
        written: &BTreeMap<String, String>,
    ) -> Result<Ledger> {
        refuse_links(&repo.root)?;
        let mut chain = Chain::at(repo, commit)?;
        for (name, id) in written {
            chain.restored.push((name.clone(), repo.blob(id)?));
        }
        refuse_newer(|name| read(repo, Some(&chain), name))?;
        let mut ledger = Ledger::parse(repo, Some(&chain))?;
        for (name, bytes) in chain.restored {
            match [names::QUEUE, names::RETRIES].contains(&name.as_str()) {
                // What was appended to these since is judged first.
                true => drop(ledger.pending.insert(name, Some(bytes))),
                false => ledger.write(&name, &bytes)?,
            }
        }
        for name in [names::BASELINE, names::BASELINE_REPORT, names::LAST_SWEEP] {
            if !repo.has_file(&chain.tree, name) {
                ledger.take_up(name)?;
            }
        }
        Ok(ledger)
    }

    fn parse(repo: &Repo, chain: Option<&Chain>) -> Result<Ledger> {
        let text = |name: &str| read(repo, chain, name);
        let history_text = text(names::HISTORY)?;
        let retries_text = text(names::RETRIES)?;
        let lessons_text = text(names::LESSONS)?;
        Ok(Ledger {
            root: repo.root.clone(),
            private: repo.private.clone(),
            branch: None,
            tree: chain.map(|chain| chain.tree.clone()),
            reports: chain.map_or(Vec::new(), |chain| chain.said.clone()),
            history: History::parse(&history_text),
            history_text,
            queue: Queue::parse(&text(names::QUEUE)?),
            retries: strikes::parse(&retries_text),
            retries_text,
            lessons: lesson::parse(&lessons_text),
            lessons_text,
            pending: BTreeMap::new(),
            verified: None,
        })
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
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        files::replace(&self.root.join(name), bytes)?;
        self.pending.insert(name.to_owned(), Some(bytes.to_vec()));
        Ok(())
    }

    /// Writes a snapshot, checked against its schema before anything else happens.
    pub fn write_snapshot(&mut self, name: &str, snapshot: &Snapshot) -> Result<()> {
        let text = checked("snapshot", snapshot)?;
        self.write(name, text.as_bytes())
    }

    /// Takes back a file that was written since the last commit.
    pub fn unwrite(&mut self, name: &str) -> Result<()> {
        self.pending.remove(name);
        files::remove(&self.root.join(name))
    }

    /// Makes a file that is there, left by a dead session, part of the next commit; what is known of it already counts more.
    pub fn take_up(&mut self, name: &str) -> Result<()> {
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

    /// Says whether a file of the ledger is there.
    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.root.join(name)).is_ok()
    }

    /// Appends a record to the history, and moves its oldest lines to a segment when there are too many. A cycle of this
    /// session that is already recorded is not recorded again.
    pub fn record(&mut self, record: &Record) -> Result<()> {
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
        self.rotate()?;
        let bytes = exact::encode(&self.history_text);
        self.write(names::HISTORY, &bytes)?;
        self.prune_snapshots(record.cycle)
    }

    fn rotate(&mut self) -> Result<()> {
        let moving = names::lines_to_move(&self.history_text);
        if moving == 0 {
            return Ok(());
        }
        let number = (1..)
            .find(|number| !self.has(&names::segment(*number)))
            .unwrap_or(1);
        let cut: usize = self
            .history_text
            .split_inclusive('\n')
            .take(moving)
            .map(str::len)
            .sum();
        let rest = self.history_text.split_off(cut);
        let oldest = std::mem::replace(&mut self.history_text, rest);
        self.write(&names::segment(number), &exact::encode(&oldest))?;
        let problems = std::mem::take(&mut self.history.problems);
        self.history = History::parse(&self.history_text);
        self.history.problems = problems;
        Ok(())
    }

    /// Removes the snapshots of all but the newest cycles; older ones live in git.
    fn prune_snapshots(&mut self, cycle: u64) -> Result<()> {
        let Some(oldest) = cycle.checked_sub(names::SNAPSHOTS_KEPT) else {
            return Ok(());
        };
        let folder = self.root.join(names::FOLDER);
        let entries = fs::read_dir(&folder).map_err(|cause| Error::io("list", &folder, cause))?;
        for entry in entries.flatten() {
            let name = format!("{}/{}", names::FOLDER, entry.file_name().to_string_lossy());
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
        self.write(names::LESSONS, &bytes)
    }

    /// Returns when a sweep ran last, as it was written down; empty if it was not.
    pub fn last_sweep(&self, repo: &Repo) -> String {
        let bytes = self.committed(repo, names::LAST_SWEEP);
        let bytes = bytes.ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Stores what was written since the last commit, and the queue as it is in memory, so that it can be had back whatever
    /// becomes of the files; returns the blobs' ids.
    pub fn stored(&self, repo: &Repo) -> Result<BTreeMap<String, String>> {
        let written = self.pending.iter();
        let mut stored = written
            .filter_map(|(name, bytes)| Some((name, bytes.as_ref()?)))
            .map(|(name, bytes)| Ok((name.clone(), repo.store(bytes)?)))
            .collect::<Result<BTreeMap<_, _>>>()?;
        let queue = self.queue.to_text();
        if !queue.is_empty() {
            let id = repo.store(&exact::encode(&queue))?;
            stored.insert(names::QUEUE.to_owned(), id);
        }
        Ok(stored)
    }

    /// Commits the ledger on top of whatever HEAD's branch is at: that content, the ledger of `base` (the last commit
    /// whose ledger is `evolve`'s own), and what was written since. Returns the commit.
    pub fn commit(
        &mut self,
        workspace: &Workspace<'_>,
        base: &str,
        message: &str,
    ) -> Result<String> {
        let repo = workspace.repo;
        let branch = match &self.branch {
            Some(branch) => branch.clone(),
            None => branch_of(repo)?,
        };
        let mut files: BTreeMap<String, Entry> = repo
            .ledger_files(&repo.tree_of(base)?)?
            .into_iter()
            .collect();
        for (name, bytes) in &self.pending {
            match bytes {
                Some(bytes) => {
                    let entry = Entry {
                        id: repo.store(bytes)?,
                        mode: 0o100_644,
                    };
                    files.insert(name.clone(), entry);
                }
                None => {
                    files.remove(name);
                }
            }
        }
        files.retain(|name, _| !names::is_private(name));
        let files: Vec<_> = files.into_iter().collect();
        for _ in 0..COMMIT_TRIES {
            let head = repo
                .resolve(&branch)?
                .ok_or_else(|| branch_is_gone(&branch))?;
            let head_tree = repo.tree_of(&head)?;
            let tree = repo.with_ledger(&head_tree, &files)?;
            if tree == head_tree {
                self.bring_along(workspace, &branch, &files)?;
                self.committed_at(repo, &head, tree)?;
                return Ok(head);
            }
            let commit = repo.store_commit(&tree, &head, message)?;
            let note = message.lines().next().unwrap_or_default();
            if repo.move_ref(&branch, &head, &commit, note)? {
                self.bring_along(workspace, &branch, &files)?;
                self.committed_at(repo, &commit, tree)?;
                return Ok(commit);
            }
        }
        Err(Error::internal(format!(
            "{branch} kept moving while the ledger was committed"
        )))
    }

    /// Makes the ledger's files in the working tree what was committed, or, where another branch is checked out by now, what
    /// that one has.
    fn bring_along(
        &self,
        workspace: &Workspace<'_>,
        branch: &str,
        files: &[(String, Entry)],
    ) -> Result<()> {
        let repo = workspace.repo;
        let head = repo.head()?;
        let Some(commit) = head
            .commit
            .filter(|_| head.branch.as_deref() != Some(branch))
        else {
            return workspace.sync_ledger(files);
        };
        let theirs = repo.ledger_files(&repo.tree_of(&commit)?)?;
        for (name, bytes) in &self.pending {
            let path = self.root.join(name);
            let is_theirs = theirs.iter().any(|(known, _)| known == name);
            let is_as_written = || {
                let now = files::read_bounded(&path, names::most_bytes(name))
                    .ok()
                    .flatten();
                now.as_ref() == bytes.as_ref()
            };
            if !is_theirs && is_as_written() {
                files::remove(&path)?;
            }
        }
        workspace.sync_ledger(&theirs)
    }

    /// Notes that everything is in a commit.
    fn committed_at(&mut self, repo: &Repo, commit: &str, tree: String) -> Result<()> {
        self.pending.clear();
        self.tree = Some(tree);
        anchor::write(repo, commit)
    }

    /// Acknowledges a kill, beside the ledger. Not where its folder was made something else, which is done away with later.
    pub fn acknowledge_kill(root: &Path, cycle: u64, reason: &str, at: &str) -> Result<()> {
        refuse_links(root)?;
        let killed = json!({"format": FORMAT, "killed_at": at, "cycle": cycle, "reason": reason});
        files::replace(
            &root.join(names::KILLED),
            line("killed", &killed)?.as_bytes(),
        )
    }

    /// Tells git to leave alone what is never committed: the ledger's private files, and what an agent leaves for itself.
    pub fn exclude_private_files(repo: &Repo, of_agent: &[String]) -> Result<()> {
        let path = repo.common_path("info/exclude");
        let text = files::read_text(&path, EXCLUDE_LIMIT)?;
        let of_agent = of_agent.iter().map(String::as_str);
        let missing: Vec<_> = EXCLUDED
            .into_iter()
            .chain(of_agent)
            .filter(|line| !text.lines().any(|known| known == *line))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let lines: String = missing.iter().map(|line| format!("{line}\n")).collect();
        files::append(&path, &lines)
    }
}

fn branch_of(repo: &Repo) -> Result<String> {
    match repo.head()? {
        crate::effects::repo::Head {
            branch: Some(branch),
            commit: Some(_),
        } => Ok(branch),
        _ => Err(Error::unsafe_repo(
            "HEAD no longer names a branch, so the ledger cannot be committed",
        )),
    }
}

/// Refuses to write beside what a newer program wrote: a document, or any line of one.
fn refuse_newer(read: impl Fn(&str) -> Result<String>) -> Result<()> {
    for name in [
        names::HISTORY,
        names::BASELINE,
        names::RETRIES,
        names::LESSONS,
    ] {
        let newest = newest_format(&read(name)?);
        if newest > u64::from(FORMAT) {
            return Err(Error::unsafe_repo(format!(
                "{name} was written by a newer evolve (format {newest}, this one writes {FORMAT})"
            ))
            .hint("update evolve; an older one would spoil what the newer one wrote"));
        }
    }
    Ok(())
}

/// Returns the highest format of a text that is one document, or one a line.
fn newest_format(text: &str) -> u64 {
    /// The one field of a document that is of interest; the rest is passed over without being kept.
    #[derive(Deserialize)]
    struct Marked {
        format: u64,
    }
    let format = |text: &str| {
        let marked: Option<Marked> = serde_json::from_str(text).ok();
        marked.map(|marked| marked.format)
    };
    let each = std::iter::once(text).chain(text.lines());
    // A list is no document, and would be taken for one.
    each.filter(|text| text.trim_start().starts_with('{'))
        .filter_map(format)
        .max()
        .unwrap_or_default()
}

/// Refuses folders of the ledger that are links: writing through them would write elsewhere.
fn refuse_links(root: &Path) -> Result<()> {
    for folder in names::FOLDERS {
        match fs::symlink_metadata(root.join(folder)) {
            Ok(meta) if !meta.is_dir() => {
                return Err(
                    Error::unsafe_repo(format!("{folder} is not a plain folder"))
                        .hint("evolve writes its files there and follows no links; move it away"),
                );
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Returns the text of the whole history: its segments, oldest first, and the active file.
pub fn whole_history(repo: &Repo) -> Result<String> {
    match chain::whole_history(repo)? {
        Some(text) => Ok(text),
        None => files::read_text(
            &repo.root.join(names::HISTORY),
            names::most_bytes(names::HISTORY),
        ),
    }
}

/// Reads a text of the ledger as git has it; where git has no ledger yet, as it stands in the tree.
fn read(repo: &Repo, chain: Option<&Chain>, name: &str) -> Result<String> {
    match chain {
        Some(chain) => {
            let text = chain.read(repo, name)?.unwrap_or_default();
            refuse_too_large(name, &text)?;
            Ok(text)
        }
        None => read_file(&repo.root, name),
    }
}

/// Reads a text of the ledger as it stands in the tree.
fn read_file(root: &Path, name: &str) -> Result<String> {
    let text = files::read_exactly(&root.join(name), names::most_bytes(name))?;
    refuse_too_large(name, &text)?;
    Ok(text)
}

fn refuse_too_large(name: &str, text: &str) -> Result<()> {
    match names::refusal(name, text) {
        None => Ok(()),
        Some(why) => Err(Error::internal(why).hint(files::TOO_LARGE)),
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
