//! Everything that `evolve` keeps in the repository: reads it once, holds it in memory while agents run, writes it back
//! and commits it. What is in memory wins over what an agent did to the files meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

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
use crate::model::strikes::Retry;
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
    /// The branch that it is committed to, whatever is checked out; none for the one that is.
    pub branch: Option<String>,
    /// The records.
    pub history: History,
    history_text: String,
    /// The queue of harvested work.
    pub queue: Queue,
    /// Goals asked for again.
    pub retries: Vec<Retry>,
    /// What agents learned.
    pub lessons: Vec<Lesson>,
    lessons_text: String,
    /// Files written since the last commit; none stands for a removed one.
    pending: BTreeMap<String, Option<Vec<u8>>>,
}

impl Ledger {
    /// Reads the ledger below `root`, to write to it. Refuses one that a newer program wrote, and folders that lead
    /// elsewhere.
    pub fn load(root: &Path) -> Result<Ledger> {
        let ledger = Ledger::look(root)?;
        refuse_newer(|name| files::read_exactly(&root.join(name), names::most_bytes(name)))?;
        Ok(ledger)
    }

    /// Reads the ledger below `root`, to show it: as much of it as can be understood.
    pub fn look(root: &Path) -> Result<Ledger> {
        refuse_links(root)?;
        let read = |name: &str| files::read_exactly(&root.join(name), names::most_bytes(name));
        let mut ledger = Ledger::parse(root, read)?;
        for name in STANDING {
            ledger.take_up(name)?;
        }
        Ok(ledger)
    }

    /// Reads the ledger as a commit has it, with the files that were `written` since: what an agent did to the files of the
    /// tree meanwhile does not count. Work that was queued and goals that were allowed again in the meantime are taken in,
    /// because a person may have done that.
    pub fn load_at(
        repo: &Repo,
        commit: &str,
        written: &BTreeMap<String, String>,
    ) -> Result<Ledger> {
        let root = &repo.root;
        refuse_links(root)?;
        let tree = repo.tree_of(commit)?;
        let read = |name: &str| {
            let bytes = match written.get(name) {
                Some(id) => repo.blob(id)?,
                None => repo.file(&tree, name)?.unwrap_or_default(),
            };
            Ok(exact::decode(&bytes))
        };
        refuse_newer(read)?;
        let mut ledger = Ledger::parse(root, read)?;
        for (name, id) in written {
            let bytes = repo.blob(id)?;
            // What a person added to these meanwhile is read from the files themselves, below.
            let has_grown = || {
                files::read_bounded(&root.join(name), names::most_bytes(name))
                    .is_ok_and(|now| now.is_some_and(|now| now.starts_with(&bytes)))
            };
            match name.as_str() {
                names::QUEUE => {}
                names::RETRIES if has_grown() => {}
                _ => ledger.write(name, &bytes)?,
            }
        }
        ledger.write_queue()?;
        ledger.refresh_retries()?;
        Ok(ledger)
    }

    fn parse(root: &Path, read: impl Fn(&str) -> Result<String>) -> Result<Ledger> {
        let read = |name: &str| {
            let text = read(name)?;
            match names::refusal(name, &text) {
                None => Ok(text),
                Some(why) => Err(Error::internal(why).hint(files::TOO_LARGE)),
            }
        };
        let history_text = read(names::HISTORY)?;
        let retries = read(names::RETRIES)?;
        let lessons_text = read(names::LESSONS)?;
        Ok(Ledger {
            root: root.to_owned(),
            branch: None,
            history: History::parse(&history_text),
            history_text,
            queue: Queue::parse(&read(names::QUEUE)?),
            retries: retries
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
            lessons: lesson::parse(&lessons_text),
            lessons_text,
            pending: BTreeMap::new(),
        })
    }

    /// Returns what could not be understood of the history and the queue, with file and line.
    pub fn problems(&self) -> Vec<String> {
        let of = |name: &str, problems: &[String]| -> Vec<String> {
            let placed = problems.iter().map(|problem| format!("{name}, {problem}"));
            placed.collect()
        };
        let mut problems = of(names::HISTORY, &self.history.problems);
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

    /// Makes a file that is there, left by a dead session, part of the next commit.
    pub fn take_up(&mut self, name: &str) -> Result<()> {
        if let Some(bytes) = files::read_bounded(&self.root.join(name), names::most_bytes(name))? {
            self.pending.insert(name.to_owned(), Some(bytes));
        }
        Ok(())
    }

    /// Reads a snapshot of an earlier cycle; none if it is not there or not to be understood.
    pub fn snapshot(&self, name: &str) -> Option<Snapshot> {
        let text = files::read_text(&self.root.join(name), names::most_bytes(name)).ok()?;
        serde_json::from_str(&text).ok()
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

    /// Lets goals be worked on again.
    pub fn allow_again(&mut self, retries: Vec<Retry>) -> Result<()> {
        if retries.is_empty() {
            return Ok(());
        }
        let mut text = files::read_exactly(
            &self.root.join(names::RETRIES),
            names::most_bytes(names::RETRIES),
        )?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for retry in &retries {
            text.push_str(&line("retry", retry)?);
        }
        self.retries.extend(retries);
        self.write(names::RETRIES, &exact::encode(&text))
    }

    /// Reads the retries again: `evolve retry` may have been run meanwhile.
    pub fn refresh_retries(&mut self) -> Result<()> {
        let text = files::read_exactly(
            &self.root.join(names::RETRIES),
            names::most_bytes(names::RETRIES),
        )?;
        self.retries = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if !text.is_empty() {
            self.pending
                .insert(names::RETRIES.to_owned(), Some(exact::encode(&text)));
        }
        Ok(())
    }

    /// Takes in items that were added to the queue's file meanwhile.
    pub fn refresh_queue(&mut self) -> Result<()> {
        let text = files::read_exactly(
            &self.root.join(names::QUEUE),
            names::most_bytes(names::QUEUE),
        )?;
        self.queue.merge_from(&text);
        Ok(())
    }

    /// Returns what stands in the file with the date of the last sweep; empty if there is none, or it is no plain file.
    pub fn last_sweep(&self) -> String {
        files::read_text(
            &self.root.join(names::LAST_SWEEP),
            names::most_bytes(names::LAST_SWEEP),
        )
        .unwrap_or_default()
    }

    /// Writes the queue, if there is one, with what somebody else added to its file meanwhile.
    pub fn write_queue(&mut self) -> Result<()> {
        self.refresh_queue()?;
        let text = self.queue.to_text();
        if text.is_empty() && !self.has(names::QUEUE) {
            return Ok(());
        }
        self.write(names::QUEUE, &exact::encode(&text))
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
                .ok_or_else(|| Error::unsafe_repo(format!("{branch} is gone")))?;
            let head_tree = repo.tree_of(&head)?;
            let tree = repo.with_ledger(&head_tree, &files)?;
            if tree == head_tree {
                self.bring_along(workspace, &branch, &files)?;
                self.pending.clear();
                return Ok(head);
            }
            let commit = repo.store_commit(&tree, &head, message)?;
            let note = message.lines().next().unwrap_or_default();
            if repo.move_ref(&branch, &head, &commit, note)? {
                self.bring_along(workspace, &branch, &files)?;
                self.pending.clear();
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

    /// Acknowledges a kill, beside the ledger.
    pub fn acknowledge_kill(root: &Path, cycle: u64, reason: &str, at: &str) -> Result<()> {
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
pub fn whole_history(root: &Path) -> Result<String> {
    let mut text = String::new();
    for number in 1.. {
        let path = root.join(names::segment(number));
        if fs::symlink_metadata(&path).is_err() {
            break;
        }
        text.push_str(&files::read_text(&path, names::most_bytes(names::HISTORY))?);
    }
    text.push_str(&files::read_text(
        &root.join(names::HISTORY),
        names::most_bytes(names::HISTORY),
    )?);
    Ok(text)
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
