//! The undo: one commit whose content is the start's, and a working tree that follows it. Whatever stands in the way and
//! is neither the agent's nor the start's version goes to the quarantine.

pub mod beside;
pub mod later;
pub(super) mod put_back;
mod python;
mod spread;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::index::hidden::is_sparse;
use super::index::lock::LockedIndex;
use super::index::restat::Untouched;
use super::submodules::EDITED;
use super::{Start, Stock, Workspace, ended, note_removed, status};
use crate::effects::files;
use crate::effects::files::is_beneath;
use crate::effects::git::Git;
use crate::effects::guard::held;
use crate::effects::keep::{clear_way, from_hex, to_hex};
use crate::effects::parallel::side_by_side;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Commit, Difference, Entry, SUBMODULE, hash_blob};
use crate::error::{Error, Result};
use crate::model::ledger::{self, is_ledger_path};
use crate::model::{mask, text};
use beside::is_attributes;

/// An undo that has been decided and is carried out step by step; in the journal before the first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The commit with the agent's work, whose files are in the tree now.
    pub tip: String,
    /// Where the branch is before the undo; none if the agent deleted it.
    pub branch_was: Option<String>,
    /// The undo commit.
    pub undo: String,
    /// Folders of the agent's with a repository of their own, in hex: out of the way before any file is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    /// The goals were measured in this tree: what else is changed there may be the checks' doing, and is put back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_measured_here: bool,
}

/// How many undone commits an undo names, and how much of each subject, in characters.
const COMMITS_NAMED: usize = 100;
const SUBJECT_CHARS: usize = 200;
/// The most bytes of a ledger file that are compared; what is larger is not `evolve`'s.
const LEDGER_LIMIT: u64 = 1 << 30;

impl Workspace<'_> {
    /// Prepares the undo of what was taken stock of: keeps the agent's work reachable and stores the undo commit. None if
    /// there is nothing to undo.
    pub fn plan_undo(
        &self,
        start: &Start,
        stock: &Stock,
        subject: &str,
        reason: &str,
    ) -> Result<Option<Plan>> {
        // Not where they are by now: what somebody else committed since is not to be undone.
        let position = stock
            .position
            .clone()
            .map_or_else(|| self.position(start), Ok)?;
        let branch_was = position.branch;
        let is_on_branch = position.head.branch.as_ref() == Some(&start.branch);
        if is_on_branch && branch_was.as_ref() == Some(&start.commit) && stock.tip == start.commit {
            return Ok(None);
        }
        self.repo.set_ref(
            &start.work_ref(),
            &stock.tip,
            "evolve: the work of an undone cycle",
        )?;
        // What the agent committed on the branch before it left HEAD elsewhere would otherwise be lost with the branch.
        if let Some(was) = &branch_was
            && !self.repo.descends(&stock.tip, was)?
        {
            let work_ref = format!("{}-branch", start.work_ref());
            self.repo
                .set_ref(&work_ref, was, "evolve: the branch of an undone cycle")?;
        }
        let parent = match stock.change.rewritten {
            // Where the start is no ancestor any more, the branch is put back on it.
            Some(_) => &start.commit,
            None => &stock.tip,
        };
        let (reason, undone) = (text::clean_line(reason), undone(&stock.commits));
        let message = format!(
            "{subject}\n\n{reason}\n\nThe content is again that of {}.\n{undone}The work stays under {}.\n\nEvolve-Cycle: {}\n",
            start.commit,
            start.work_ref(),
            start.cycle
        );
        let undo = self.repo.store_commit(&start.tree, parent, &message)?;
        Ok(Some(Plan {
            tip: stock.tip.clone(),
            branch_was,
            undo,
            nested: stock.nested.iter().map(|path| to_hex(path)).collect(),
            is_measured_here: false,
        }))
    }

    /// Carries out an undo, wherever a crash left it; says what was done beside it. None if somebody else moved the branch: then
    /// nothing was touched.
    pub fn carry_out(
        &self,
        start: &Start,
        plan: &Plan,
        quarantine: &mut Quarantine,
    ) -> Result<Option<Vec<String>>> {
        let act = || self.carry_out_once(start, plan, quarantine);
        let (notes, aside) = self.despite_attributes(start, act)?;
        let aside = aside.into_iter().flatten();
        Ok(notes.map(|notes| notes.into_iter().chain(aside).collect()))
    }

    fn carry_out_once(
        &self,
        start: &Start,
        plan: &Plan,
        quarantine: &mut Quarantine,
    ) -> Result<Option<Vec<String>>> {
        if !self.move_branch(start, plan)? {
            return Ok(None);
        }
        self.repo.attach_head(&start.branch, &start.mark())?;
        let from = self.repo.tree_of(&plan.tip)?;
        let to = self.repo.tree_of(&plan.undo)?;
        let (ledger, content): (Vec<_>, Vec<_>) = self
            .repo
            .differences(&from, &to)?
            .into_iter()
            .partition(|one| is_ledger_path(&one.path));
        let nested: Vec<_> = plan.nested.iter().map(|path| from_hex(path)).collect();
        self.move_away(start, &nested, quarantine)?;
        python::outlast(&self.repo.root, &content);
        let removed = self.clear_files(start, &content, quarantine)?;
        let is_sparse = match content.is_empty() {
            true => false,
            false => {
                let git = &self.repo.git;
                let write = || self.write_files(&plan.undo, &content);
                side_by_side(|| Ok(is_sparse(git)), write)?.0
            }
        };
        let mut notes = self.undo_submodules(start, &content, quarantine)?;
        notes.extend(note_removed(start, &removed));
        self.reset_index(&self.repo.git, &ledger)?;
        if is_sparse {
            // After a crash nobody knows what was there; what the agent had, was.
            let written = content.iter().filter(|one| one.old.is_none());
            let written: HashSet<_> = written.map(|one| one.path.as_slice()).collect();
            let written = Some(&written).filter(|_| start.whereabouts.is_none());
            self.take_out_again(start, &plan.undo, written)?;
        }
        if content.iter().any(|one| one.path.ends_with(b".gitignore")) {
            self.move_unignored(start, quarantine)?;
        }
        let distrusted = self.distrust_index(start)?;
        let mut untouched = distrusted.untouched;
        // Nothing but the times in the index is changed since.
        let mut listed = Some(distrusted.listed);
        let mut has_attributes = content.iter().any(|one| is_attributes(&one.path));
        if has_attributes {
            // Files that git wrote by the attributes that are gone again; in the undo's commits they are the same.
            self.put_back_tracked(quarantine)?;
        }
        if plan.is_measured_here {
            listed = None;
            let beside = self.put_back_beside(start, quarantine)?;
            notes.extend(beside.notes());
            has_attributes |= beside.has_attributes;
        }
        if has_attributes {
            untouched = Untouched::default();
            listed = None;
        }
        notes.extend(self.write_converted(start, &untouched, &BTreeSet::new(), listed)?);
        notes.extend(self.note_spread(start, &plan.tip)?);
        Ok(Some(notes))
    }

    /// Moves away what only an undone `.gitignore` had ignored: left in place it would be taken for the user's.
    fn move_unignored(&self, start: &Start, quarantine: &mut Quarantine) -> Result<()> {
        let is_users = |path: &Vec<u8>| start.kept.was_there(path);
        let folders = status::read_folders(&self.repo.git)?;
        let (whole, shared): (Vec<_>, Vec<_>) = folders.into_iter().partition(|path| {
            let name = path.strip_suffix(b"/").unwrap_or(path);
            !path.starts_with(b".agents/") && !start.kept.is_ousted_by(name)
        });
        let single = match shared.is_empty() {
            true => Vec::new(),
            false => status::read(&self.repo.git, false)?.untracked,
        };
        let is_shared = |path: &Vec<u8>| shared.iter().any(|folder| path.starts_with(folder));
        let single = single.into_iter().filter(is_shared);
        for path in whole
            .into_iter()
            .chain(single)
            .filter(|path| !is_users(path))
        {
            let path = path.strip_suffix(b"/").unwrap_or(&path);
            if is_beneath(&self.repo.root, path) {
                quarantine.take(&self.repo.root, path)?;
                self.remove_empty_folders(path);
            }
        }
        Ok(())
    }

    fn move_branch(&self, start: &Start, plan: &Plan) -> Result<bool> {
        let now = self.repo.resolve(&start.branch)?;
        if now.as_ref() == Some(&plan.undo) {
            return Ok(true);
        }
        match (now, &plan.branch_was) {
            // Not where it is elsewhere by now.
            (Some(_), Some(was)) => {
                self.repo
                    .move_ref(&start.branch, was, &plan.undo, &start.mark())
            }
            (None, None) => self
                .repo
                .set_ref(&start.branch, &plan.undo, &start.mark())
                .map(|()| true),
            (Some(_), None) | (None, Some(_)) => Ok(false),
        }
    }

    /// Removes the agent's new files, which it returns, and moves to the quarantine what is in the way and nobody's known version.
    fn clear_files(
        &self,
        start: &Start,
        content: &[Difference],
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let edited = self.edited_since_stock()?;
        let root = &self.repo.root;
        let mut removed = Vec::new();
        // What became another kind of thing is removed, and back at once.
        let back = content.iter().filter(|one| one.new.is_some());
        let back: HashSet<_> = back.map(|one| &one.path).collect();
        for one in content.iter().filter(|one| one.new.is_none()) {
            // The user's own file, which the agent had taken into a commit, stays where it is.
            if start.kept.was_there(&one.path) || !is_beneath(root, &one.path) {
                continue;
            }
            let file = root.join(OsStr::from_bytes(&one.path));
            match fs::symlink_metadata(&file) {
                Err(_) => continue,
                Ok(meta) if meta.is_dir() => quarantine.take(root, &one.path)?,
                Ok(_) if edited.contains(&one.path) => quarantine.take(root, &one.path)?,
                Ok(_) => {
                    fs::remove_file(&file).map_err(|cause| Error::io("remove", &file, cause))?;
                    if !back.contains(&one.path) {
                        removed.push(String::from_utf8_lossy(&one.path).into_owned());
                    }
                }
            }
            self.remove_empty_folders(&one.path);
        }
        for one in content {
            let Some(wanted) = &one.new else {
                continue;
            };
            clear_way(root, &one.path, quarantine)?;
            if wanted.mode != SUBMODULE && self.is_in_the_way(one, wanted, &edited)? {
                quarantine.take(root, &one.path)?;
            }
        }
        Ok(removed)
    }

    /// Says whether a file that is to be written over is neither the agent's committed nor the start's version.
    fn is_in_the_way(
        &self,
        one: &Difference,
        wanted: &Entry,
        edited: &HashSet<Vec<u8>>,
    ) -> Result<bool> {
        let file = self.repo.root.join(OsStr::from_bytes(&one.path));
        let Ok(meta) = fs::symlink_metadata(&file) else {
            return Ok(false);
        };
        if !meta.is_file() && !meta.is_symlink() {
            return Ok(true);
        }
        if one.old.is_some() && !edited.contains(&one.path) {
            return Ok(false);
        }
        Ok(self.hash_of_file(&one.path, meta.is_symlink())? != wanted.id)
    }

    /// Returns the id that a file of the working tree would have as a blob, filters applied.
    pub fn hash_of_file(&self, path: &[u8], is_link: bool) -> Result<String> {
        let file = self.repo.root.join(OsStr::from_bytes(path));
        if is_link {
            let target = fs::read_link(&file).map_err(|cause| Error::io("read", &file, cause))?;
            return Ok(hash_blob(target.as_os_str().as_bytes()));
        }
        let arguments = [
            OsStr::new("hash-object"),
            OsStr::new("--"),
            OsStr::from_bytes(path),
        ];
        let id = self.repo.git.run(&arguments)?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Returns the tracked files that were edited after stock was taken: by a check, or by somebody else.
    pub(super) fn edited_since_stock(&self) -> Result<HashSet<Vec<u8>>> {
        let output = self.repo.git.run(&EDITED)?;
        Ok(output
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(<[u8]>::to_vec)
            .collect())
    }

    pub(super) fn write_files(&self, undo: &str, content: &[Difference]) -> Result<()> {
        let git = &self.repo.git;
        let path = |one: &Difference| one.path.clone();
        let gone: Vec<_> = content
            .iter()
            .filter(|one| one.new.is_none())
            .map(path)
            .collect();
        if !gone.is_empty() {
            git.run_with(
                &["update-index", "--force-remove", "-z", "--stdin"],
                &ended(&gone),
            )?;
        }
        let wanted: Vec<_> = content
            .iter()
            .filter(|one| one.new.is_some())
            .map(path)
            .collect();
        if !wanted.is_empty() {
            let source = format!("--source={undo}");
            let from_stdin = ["--pathspec-from-file=-", "--pathspec-file-nul"];
            let arguments = [
                "restore",
                &source,
                "--staged",
                "--worktree",
                from_stdin[0],
                from_stdin[1],
            ];
            git.run_with(&arguments, &ended(&wanted))?;
        }
        Ok(())
    }

    /// Sets the index entries of these paths to what the new tree has, without touching the files.
    pub(super) fn reset_index(&self, git: &Git, differences: &[Difference]) -> Result<()> {
        let entries = differences
            .iter()
            .map(|one| (&one.path[..], one.new.as_ref()));
        self.set_entries(git, entries)
    }

    /// Sets these entries in the index that this git has; takes out those of which there is none.
    pub(super) fn set_entries<'e>(
        &self,
        git: &Git,
        entries: impl Iterator<Item = (&'e [u8], Option<&'e Entry>)>,
    ) -> Result<()> {
        let mut input = Vec::new();
        for (path, entry) in entries {
            let line = match entry {
                Some(entry) => format!("{:o} {}\t", entry.mode, entry.id),
                None => format!("0 {}\t", "0".repeat(40)),
            };
            input.extend_from_slice(line.as_bytes());
            input.extend_from_slice(path);
            input.push(0);
        }
        if input.is_empty() {
            return Ok(());
        }
        git.run_with(&["update-index", "-z", "--index-info"], &input)
            .map(|_| ())
    }

    /// Removes the folders above a removed file, as far up as they are empty.
    pub fn remove_empty_folders(&self, path: &[u8]) {
        let mut folder = OsStr::from_bytes(path).as_ref() as &Path;
        while let Some(parent) = folder
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            if fs::remove_dir(self.repo.root.join(parent)).is_err() {
                return;
            }
            folder = parent;
        }
    }

    /// Makes index and files of the ledger paths what HEAD has, so that `git status` is clean and the user's next commit
    /// takes nothing away. The queue's and the retries' files are left alone where they are there: a person may have added a
    /// line just now. Git writes none of the files: it would empty each before it fills it.
    pub fn sync_ledger(&self, index: LockedIndex, wanted: &[(String, Entry)]) -> Result<()> {
        let make = |index: &LockedIndex| {
            // Git looks at what was changed just now through its filter when it writes the index.
            let sync = || self.sync_ledger_files(index, wanted);
            let ((), changed) = held::hold(self.repo, ("ledger", 0), sync)?;
            changed.iter().for_each(|note| tracing::warn!("{note}"));
            Ok(())
        };
        make(&index)?;
        self.publish_index(index, make).map(drop)
    }

    fn sync_ledger_files(&self, index: &LockedIndex, wanted: &[(String, Entry)]) -> Result<()> {
        if self.follow_ledger(index.git(), index.file(), wanted)? {
            return Ok(());
        }
        let git = index.git();
        let arguments = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=no",
            "--no-renames",
            "--ignore-submodules=dirty",
            "--",
        ];
        let output = git.run(&[&arguments[..], &[ledger::FOLDER, ledger::QUEUE]].concat())?;
        let committed: HashMap<&[u8], &Entry> = wanted
            .iter()
            .map(|(path, entry)| (path.as_bytes(), entry))
            .collect();
        let mut stale = Vec::new();
        let mut quarantine = Quarantine::of(&self.repo.private, "ledger", 0);
        for entry in output
            .split(|byte| *byte == 0)
            .filter(|entry| entry.len() > 3)
        {
            let path = &entry[3..];
            let entry = committed.get(path).copied();
            if let Some(entry) = entry {
                self.sync_ledger_file(path, entry, &mut quarantine)?;
            }
            stale.push(Difference {
                path: path.to_vec(),
                old: None,
                new: entry.cloned(),
            });
        }
        self.reset_index(git, &stale)?;
        let there = stale.into_iter().filter(|one| one.new.is_some());
        let there: Vec<_> = there.map(|one| one.path).collect();
        if !there.is_empty() {
            // Else each status would have to read them again.
            let from_stdin = ["--pathspec-from-file=-", "--pathspec-file-nul"];
            git.run_with(
                &["add", "--refresh", from_stdin[0], from_stdin[1]],
                &ended(&there),
            )?;
        }
        for note in quarantine.notes() {
            tracing::warn!("a file of evolve's was changed by somebody else: {note}");
        }
        Ok(())
    }

    /// Makes a file of the ledger what HEAD has, in one step; what somebody made of it goes to the quarantine.
    fn sync_ledger_file(
        &self,
        path: &[u8],
        entry: &Entry,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let root = &self.repo.root;
        let file = root.join(OsStr::from_bytes(path));
        let shared = [ledger::QUEUE, ledger::RETRIES].map(str::as_bytes);
        clear_way(root, path, quarantine)?;
        match files::read_bounded(&file, LEDGER_LIMIT) {
            Ok(Some(_)) if shared.contains(&path) => return Ok(()),
            Ok(Some(bytes)) if hash_blob(&bytes) == entry.id => return Ok(()),
            Ok(None) => {}
            // A person may have edited it, too.
            Ok(Some(_)) | Err(_) => quarantine.take(root, path)?,
        }
        files::replace(&file, &self.repo.blob(&entry.id)?)
    }

    /// Takes out of the index whatever an agent staged below the ledger paths, conflicts included, and puts these entries
    /// there instead. No file is touched.
    pub fn reset_ledger_index(&self, files: &[(String, Entry)]) -> Result<()> {
        let (extra, stale) = self.ledger_index_differences(files)?;
        let removed = extra.into_iter().map(|path| Difference {
            path,
            old: None,
            new: None,
        });
        let set = stale.into_iter().map(|(path, entry)| Difference {
            path: path.into_bytes(),
            old: None,
            new: Some(entry),
        });
        self.reset_index(&self.repo.git, &removed.chain(set).collect::<Vec<_>>())
    }

    /// Compares the index with what the ledger should be there: paths that are too many, and entries that are missing,
    /// different or in conflict.
    fn ledger_index_differences(&self, files: &[(String, Entry)]) -> Result<LedgerIndex> {
        let places = [ledger::FOLDER, ledger::QUEUE];
        let listed = self
            .repo
            .git
            .run(&["ls-files", "--stage", "-z", "--", places[0], places[1]])?;
        let mut indexed = HashMap::new();
        for line in listed.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            // "mode id stage"; a path in conflict has a line for each stage but 0.
            let words = String::from_utf8_lossy(&line[..tab]).into_owned();
            let mut words = words.split(' ').skip(1);
            let id = words.next().unwrap_or_default().to_owned();
            let is_merged = words.next() == Some("0");
            indexed.insert(line[tab + 1..].to_vec(), is_merged.then_some(id));
        }
        let wanted: HashSet<&[u8]> = files.iter().map(|(path, _)| path.as_bytes()).collect();
        let extra = indexed
            .keys()
            .filter(|path| !wanted.contains(path.as_slice()))
            .cloned()
            .collect();
        let is_there = |(path, entry): &&(String, Entry)| {
            indexed.get(path.as_bytes()) == Some(&Some(entry.id.clone()))
        };
        let stale = files
            .iter()
            .filter(|file| !is_there(file))
            .cloned()
            .collect();
        Ok((extra, stale))
    }
}

/// Ledger paths that are too many in the index, and entries that should be there.
type LedgerIndex = (Vec<Vec<u8>>, Vec<(String, Entry)>);

/// Names the commits of an undone cycle; of very many the first.
fn undone(commits: &[Commit]) -> String {
    let line = |commit: &Commit| {
        // A secret that is cut is none to recognise any more.
        let subject = mask::secrets(&text::clean_line(&commit.subject));
        let subject = text::cut(&subject, SUBJECT_CHARS);
        format!("Undoes {} {subject}\n", commit.id)
    };
    let mut lines: String = commits.iter().take(COMMITS_NAMED).map(line).collect();
    match commits.len().saturating_sub(COMMITS_NAMED) {
        0 => {}
        more => lines.push_str(&format!("And {more} more.\n")),
    }
    lines
}
