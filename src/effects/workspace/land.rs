//! Landing: a change that was kept in a slot is taken to the user's branch, and to the user's working tree if that branch is
//! checked out there. The branch moves first, by compare-and-swap, then the files follow; each step can be done again after
//! a crash. Nothing that the user has not committed is written over: where it is in the way, nothing moves at all, and what comes while
//! the files follow stays (`placing`).

mod access;
mod placing;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};

use super::Workspace;
use super::undo::put_back::Changed;
use crate::effects::files::{self, is_beneath};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Difference, Entry};
use crate::error::{Error, Result};
use crate::model::ledger::is_ledger_path;
use crate::model::text;
use placing::Placing;

/// A move of the user's branch that has been decided; in the journal before the first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// The branch (`refs/heads/…`).
    pub branch: String,
    /// Where it is.
    pub from: String,
    /// Where it goes: a descendant of `from` that was measured and judged.
    pub to: String,
}

/// What a landing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landed {
    /// The change is on the branch. What of the user's stayed, or is in the quarantine, is told.
    Done(Vec<String>),
    /// Somebody moved the branch in the meantime; nothing was done. None if it is gone.
    Moved(Option<String>),
    /// Something is in the way; nothing was done.
    Hindered(Hindrance),
}

/// What keeps a change from coming to the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// These files, which no commit holds as they are.
    Files(Vec<String>),
    /// This, in words: a merge in progress, say.
    Busy(String),
    /// Another git that is at work here, as these lock files say.
    Locked(Vec<String>),
    /// Git cannot write the change's own files here, in its words: a filter fails on one of them.
    Unwritable(String),
}

impl Workspace<'_> {
    /// Takes a change to its branch, and the working tree along if the branch is checked out here.
    pub fn land(&self, landing: &Landing, quarantine: &mut Quarantine) -> Result<Landed> {
        let now = self.repo.resolve(&landing.branch)?;
        if now.as_ref() != Some(&landing.from) {
            return Ok(Landed::Moved(now));
        }
        if let Some(what) = self.awaited(&landing.branch) {
            return Ok(Landed::Hindered(Hindrance::Locked(vec![what])));
        }
        let is_checked_out = self.is_checked_out(&landing.branch)?;
        if is_checked_out {
            let locks = self.lasting_locks(&["HEAD", &landing.branch]);
            if !locks.is_empty() {
                let shown = locks.iter().map(|lock| lock.display().to_string());
                return Ok(Landed::Hindered(Hindrance::Locked(shown.collect())));
            }
            if let Err(error) = self.repo.ready_head() {
                return Ok(Landed::Hindered(Hindrance::Busy(error.message)));
            }
            let in_the_way = self.in_the_way_of(landing)?;
            if !in_the_way.is_empty() {
                return Ok(Landed::Hindered(Hindrance::Files(in_the_way)));
            }
        } else if let Some(elsewhere) = self.checked_out_elsewhere(&landing.branch)? {
            return Ok(Landed::Hindered(Hindrance::Busy(format!(
                "the branch is checked out in {elsewhere}"
            ))));
        }
        let move_ref = || {
            let note = "evolve: a kept change";
            let repo = self.repo;
            repo.move_ref(&landing.branch, &landing.from, &landing.to, note)
        };
        if !is_checked_out {
            return match move_ref()? {
                true => Ok(Landed::Done(Vec::new())),
                false => Ok(Landed::Moved(self.repo.resolve(&landing.branch)?)),
            };
        }
        let content = self.landed_content(landing)?;
        let placing = match Placing::begin(self, landing, content.clone(), quarantine)? {
            Ok(placing) => placing,
            Err(hindrance) => return Ok(Landed::Hindered(hindrance)),
        };
        // Somebody may have gone to another branch before the index was locked.
        if !self.is_checked_out(&landing.branch)? {
            return Ok(Landed::Hindered(Hindrance::Busy(
                "another branch was just checked out".to_owned(),
            )));
        }
        if !move_ref()? {
            return Ok(Landed::Moved(self.repo.resolve(&landing.branch)?));
        }
        let stayed = placing.carry_out(quarantine)?;
        self.update_submodules(&content)?;
        Ok(Landed::Done(told(&stayed, quarantine)))
    }

    /// Completes a landing after a crash, if the branch had been moved; says whether it had, and returns what is to be told then. What
    /// the user changed since stays as it is.
    pub fn complete_landing(
        &self,
        landing: &Landing,
        quarantine: &mut Quarantine,
    ) -> Result<Option<Vec<String>>> {
        let now = self.repo.resolve(&landing.branch)?;
        // A branch that has a commit keeps it: one that is gone never was on it.
        let is_there = self.repo.find_object(&landing.to)?;
        let is_on = |now: &String| Ok(is_there && self.repo.descends(now, &landing.to)?);
        let has_landed = now.as_ref().map_or(Ok(false), is_on)?;
        let Some(now) = now.filter(|_| has_landed) else {
            placing::rescue(self.repo, &[], quarantine)?;
            return Ok(None);
        };
        if !self.is_checked_out(&landing.branch)? {
            placing::rescue(self.repo, &[], quarantine)?;
            return Ok(Some(told(&[], quarantine)));
        }
        let since = self.changed_since(landing, &now)?;
        let (mut content, mut edited) = (Vec::new(), Vec::new());
        let mut folders = Vec::new();
        for one in self.landed_content(landing)? {
            if since.contains(&one.path) {
                continue;
            }
            match self.is_folder(&one.path) && one.new.as_ref().is_some_and(Entry::is_file) {
                true => folders.push(one),
                false if self.is_as_known(&one)? => content.push(one),
                false => edited.push(one),
            }
        }
        // One whose files all go makes room.
        let going = going(&content);
        let makes_room = |one: &Difference| self.holds_only(&one.path, &going);
        let (free, held): (Vec<_>, Vec<_>) = folders.into_iter().partition(makes_room);
        content.extend(free);
        edited.extend(held);
        let (content, staged): (Vec<_>, Vec<_>) = self.with_entries_of(content)?;
        // What the user made of it is theirs, and a change of what has landed: the next commit would take it back.
        self.stage_as_landed(edited)?;
        let begun = Placing::begin(self, landing, content.clone(), quarantine)?;
        let placing = begun.map_err(|hindrance| cannot_follow(&hindrance))?;
        let mut stayed = placing.carry_out(quarantine)?;
        self.update_submodules(&content)?;
        stayed.extend(staged.into_iter().map(|one| one.path));
        Ok(Some(told(&stayed, quarantine)))
    }

    /// Parts those whose index entries are of the change from those of which somebody has staged something else since.
    fn with_entries_of(
        &self,
        content: Vec<Difference>,
    ) -> Result<(Vec<Difference>, Vec<Difference>)> {
        let other = placing::staged_otherwise(&self.repo.git, &content)?;
        Ok(content
            .into_iter()
            .partition(|one| !other.contains(&one.path)))
    }

    /// Makes the index entries of these paths what has landed, where they are still what was there before; the files stay.
    fn stage_as_landed(&self, edited: Vec<Difference>) -> Result<()> {
        if edited.is_empty() {
            return Ok(());
        }
        let paths: Vec<Vec<u8>> = edited.iter().map(|one| one.path.clone()).collect();
        let staged = Changed::of_root(&self.repo.git, &paths).staged()?;
        let is_untouched = |one: &Difference| {
            let versions = staged.get(&one.path).map_or(&[][..], Vec::as_slice);
            match (&one.old, versions) {
                (None, []) => true,
                (Some(old), [version]) => version.id == old.id,
                _ => false,
            }
        };
        let stale: Vec<Difference> = edited.into_iter().filter(is_untouched).collect();
        self.reset_index(&self.repo.git, &stale)
    }

    /// Returns the paths that have been committed otherwise since: of these the working tree has what somebody wanted.
    fn changed_since(&self, landing: &Landing, now: &str) -> Result<HashSet<Vec<u8>>> {
        let (landed, now) = (self.repo.tree_of(&landing.to)?, self.repo.tree_of(now)?);
        let since = self.repo.differences(&landed, &now)?;
        Ok(since.into_iter().map(|one| one.path).collect())
    }

    fn is_checked_out(&self, branch: &str) -> Result<bool> {
        Ok(self.repo.head()?.branch.as_deref() == Some(branch))
    }

    /// Returns the other working tree that a branch is checked out in.
    fn checked_out_elsewhere(&self, branch: &str) -> Result<Option<String>> {
        let arguments = ["for-each-ref", "--format=%(worktreepath)", branch];
        let listed = self.repo.git.run(&arguments)?;
        let tree = String::from_utf8_lossy(&listed).trim().to_owned();
        Ok(Some(tree).filter(|tree| !tree.is_empty()))
    }

    /// Returns what of the content changes; the ledger's files are brought along with the record.
    fn landed_content(&self, landing: &Landing) -> Result<Vec<Difference>> {
        let (from, to) = (
            self.repo.tree_of(&landing.from)?,
            self.repo.tree_of(&landing.to)?,
        );
        let mut content = self.repo.differences(&from, &to)?;
        content.retain(|one| !is_ledger_path(&one.path));
        Ok(content)
    }

    /// Says what of the user's is in the way of a landing.
    fn in_the_way_of(&self, landing: &Landing) -> Result<Vec<String>> {
        let content = self.landed_content(landing)?;
        let (status, hidden, _) = self.look()?;
        let unstaged: HashSet<Vec<u8>> = status.unstaged.into_iter().collect();
        let dirty: HashSet<Vec<u8>> = status.dirty.into_iter().chain(hidden.changes).collect();
        let going = going(&content);
        let mut found = Vec::new();
        for one in &content {
            let is_free = match dirty.contains(&one.path) {
                true => unstaged.contains(&one.path) && self.is_already(one)?,
                false => one.old.is_some() || self.is_free(one, &going)?,
            };
            if !is_free {
                found.push(String::from_utf8_lossy(&one.path).into_owned());
            }
        }
        found.dedup();
        Ok(found)
    }

    /// Says whether a new file can be written where nothing tracked is: nothing is there, or the very same.
    fn is_free(&self, one: &Difference, going: &HashSet<&[u8]>) -> Result<bool> {
        if going.contains(one.path.as_slice()) {
            // Something of another kind goes from there with this very change.
            return Ok(true);
        }
        let root = &self.repo.root;
        let slashes = one.path.iter().enumerate();
        for (index, _) in slashes.filter(|(_, byte)| **byte == b'/') {
            let above = &one.path[..index];
            match fs::symlink_metadata(root.join(OsStr::from_bytes(above))) {
                Ok(meta) if meta.is_dir() => {}
                // A file that goes with this very change makes room for a folder.
                Ok(_) => return Ok(going.contains(above)),
                // So does nothing at all.
                Err(cause) => return Ok(cause.kind() == ErrorKind::NotFound),
            }
        }
        match fs::symlink_metadata(root.join(OsStr::from_bytes(&one.path))) {
            Err(_) => Ok(true),
            Ok(meta) if meta.is_dir() => Ok(self.holds_only(&one.path, going)),
            Ok(_) => self.is_already(one),
        }
    }

    /// Says whether a folder of the working tree itself stands at a path.
    fn is_folder(&self, path: &[u8]) -> bool {
        let file = self.repo.root.join(OsStr::from_bytes(path));
        let is_folder = fs::symlink_metadata(file).is_ok_and(|meta| meta.is_dir());
        is_folder && is_beneath(&self.repo.root, path)
    }

    /// Says whether all files below a folder go with the change.
    fn holds_only(&self, folder: &[u8], going: &HashSet<&[u8]>) -> bool {
        let Ok(entries) = fs::read_dir(self.repo.root.join(OsStr::from_bytes(folder))) else {
            return false;
        };
        entries.into_iter().all(|entry| {
            entry.is_ok_and(|entry| {
                let path = [folder, b"/", entry.file_name().as_bytes()].concat();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                going.contains(path.as_slice()) || (is_folder && self.holds_only(&path, going))
            })
        })
    }

    /// Says whether the file on disk is what the change makes of it.
    fn is_already(&self, one: &Difference) -> Result<bool> {
        Ok(self.standing(one)? == one.new.as_ref().map(|new| new.id.clone()))
    }

    /// Says whether the file on disk is a version that the change knows, or missing.
    fn is_as_known(&self, one: &Difference) -> Result<bool> {
        let id = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.id.clone());
        let is_module = |entry: &Option<Entry>| entry.as_ref().is_some_and(|it| !it.is_file());
        if is_module(&one.old) || is_module(&one.new) {
            return Ok(false);
        }
        let now = self.standing(one)?;
        Ok(now.is_none()
            || now == id(&one.old)
            || now == id(&one.new)
            || self.is_half_written(one)?)
    }

    /// Says whether the file on disk is the start of the version that the change makes: git was ended while it wrote it. Nothing
    /// in it is not in that version, too.
    fn is_half_written(&self, one: &Difference) -> Result<bool> {
        let Some(new) = one.new.as_ref().filter(|new| new.is_file()) else {
            return Ok(false);
        };
        let whole = self.repo.blob(&new.id)?;
        let file = self.repo.root.join(OsStr::from_bytes(&one.path));
        let half = files::read_bounded(&file, whole.len() as u64);
        Ok(half.is_ok_and(|half| half.is_some_and(|half| whole.starts_with(&half))))
    }

    /// Returns the id that what stands at a path has as a blob; none if nothing does. A folder has none of a file's.
    fn standing(&self, one: &Difference) -> Result<Option<String>> {
        let file = self.repo.root.join(OsStr::from_bytes(&one.path));
        if !is_beneath(&self.repo.root, &one.path) {
            return Ok(None);
        }
        match fs::symlink_metadata(&file) {
            Err(_) => Ok(None),
            Ok(meta) if meta.is_file() || meta.is_symlink() => {
                self.hash_of_file(&one.path, meta.is_symlink()).map(Some)
            }
            Ok(_) => Ok(Some(String::new())),
        }
    }
}

/// Returns the paths that go with a change.
fn going(content: &[Difference]) -> HashSet<&[u8]> {
    let gone = content.iter().filter(|one| one.new.is_none());
    gone.map(|one| &one.path[..]).collect()
}

/// Returns the error of a change that is on its branch while something keeps its files from following.
fn cannot_follow(hindrance: &Hindrance) -> Error {
    let (why, hint) = match hindrance {
        Hindrance::Locked(locks) => (
            format!("another git holds {}", locks.join(", ")),
            "let it end, or remove that file if none is at work; then run evolve again",
        ),
        Hindrance::Files(paths) => (
            format!(
                "something else was just staged of {}",
                text::some_of(paths, SHOWN)
            ),
            "run evolve again",
        ),
        Hindrance::Busy(why) => (why.clone(), "end that, and run evolve again"),
        Hindrance::Unwritable(why) => (
            why.clone(),
            "mend the filter of git's that fails, or what it needs, and run evolve again",
        ),
    };
    let why = format!("a kept change is on the branch, and its files cannot follow: {why}");
    Error::unsafe_repo(why).hint(hint)
}

/// Says what of the user's stayed, and what went to the quarantine.
fn told(stayed: &[Vec<u8>], quarantine: &Quarantine) -> Vec<String> {
    let stayed: Vec<String> = stayed.iter().map(text::path).collect();
    let words = (!stayed.is_empty()).then(|| {
        format!(
            "saved while the change came to the branch, and left as saved: {}",
            text::some_of(&stayed, SHOWN)
        )
    });
    words.into_iter().chain(quarantine.notes()).collect()
}

/// How many paths are named.
const SHOWN: usize = 10;
