//! The user's working tree around one cycle: looks at it before the agent, takes stock of what the agent did, and settles
//! it: keeps the change, or undoes it exactly (rules 10 and 11).
//!
//! Order of an undo: the branch is moved first, by compare-and-swap, so that a commit somebody else made in the meantime
//! leaves everything untouched; then the files follow. Every step can be done again after a crash.

mod again;
mod attributes;
mod change;
mod checks;
mod compiled;
mod copies;
mod in_copy;
mod index;
mod land;
mod leftovers;
pub mod locks;
mod open;
mod others;
mod own;
mod silenced;
mod start;
mod status;
mod stock;
mod submodules;
mod undo;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::effects::clock;
use crate::effects::files::{self, is_beneath};
use crate::effects::guard::Guarded;
use crate::effects::guard::users::Users;
use crate::effects::keep::{self, AfterAgent, Kept, PutBack};
use crate::effects::near::Near;
use crate::effects::pipes;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Commit, Head, Repo};
use crate::error::{Error, Result};
use crate::model::gate::{Change, Fate};
use crate::model::git::compared::Compared;
use crate::model::record::unseen::Span;
use crate::model::{exact, text};

pub use change::is_outside;
pub use checks::compared::{HeldRefs, When};
pub use copies::Held;
pub use in_copy::Noted;
pub use index::lock::LockedIndex;
pub use index::restat::Whereabouts;
pub use land::{Hindrance, Landed, Landing};
pub use leftovers::rewritten::TakenOut;
pub use start::{SettingsBack, Start};
pub use status::WayOut;
pub use submodules::{Edited, Loose};
pub use undo::Plan;
pub use undo::beside::Written;
pub use undo::later::Later;

/// What the agent left, taken stock of.
#[derive(Clone, Debug)]
pub struct Stock {
    /// What the verdict looks at.
    pub change: Change,
    /// The newest commit with all of the agent's work, leftovers included.
    pub tip: String,
    /// The commits between start and tip, newest first, at most a hundred.
    pub commits: Vec<Commit>,
    /// The newest of them is `evolve`'s own, of what the agent left uncommitted.
    pub has_leftovers: bool,
    /// The changed paths outside the ledger, for people.
    pub files: Vec<String>,
    /// Of these, the ones of which nothing changed but that they can be executed now.
    pub made_executable: Vec<String>,
    /// Tracked files that no commit changed in their content, and that a checkout writes by other attributes now.
    pub converted: Vec<String>,
    /// Folders with a repository of their own, which no commit of this one holds.
    pub nested: Vec<Vec<u8>>,
    /// What checks run, was not there before and was made by the agent: it was taken away.
    pub unbuilt: Vec<String>,
    /// What was left out of the commit of leftovers, as tools or checks make it.
    pub left_out: Vec<String>,
    /// What git ignores, only a wildcard of `protect` matches, and was not there before: it was taken away.
    pub loose: Vec<String>,
    /// What a reader of the record should know.
    pub notes: Vec<String>,
    /// What became of refs that checks compare with.
    pub compared: HeldRefs,
    /// What may be written to by others than the agent, as the agent left it.
    pub after_agent: AfterAgent,
    /// Where HEAD and the branch were then; none where nobody else is at work.
    pub position: Option<Position>,
}

/// Where HEAD and the branch that is worked on are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// HEAD.
    pub head: Head,
    /// The branch's commit; none if it is gone.
    pub branch: Option<String>,
}

impl Stock {
    /// The stock of a place in which nothing was done.
    pub fn untouched(start: &Start) -> Stock {
        Stock {
            change: Change::default(),
            tip: start.commit.clone(),
            commits: Vec::new(),
            has_leftovers: false,
            files: Vec::new(),
            made_executable: Vec::new(),
            converted: Vec::new(),
            nested: Vec::new(),
            unbuilt: Vec::new(),
            left_out: Vec::new(),
            loose: Vec::new(),
            notes: Vec::new(),
            compared: HeldRefs::default(),
            after_agent: AfterAgent::default(),
            position: None,
        }
    }
}

/// What settling came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// HEAD afterwards.
    pub commit: String,
    /// There was a change, and it was taken back.
    pub was_undone: bool,
    /// Somebody else moved the branch in the meantime, so that nothing was undone.
    pub was_outrun: bool,
    /// Untracked files that turned out to be written anew by checks, in hex.
    pub made: Vec<String>,
    /// What a reader of the record should know: what was put back or moved to the quarantine.
    pub notes: Vec<String>,
}

/// What looking through a tree came to.
struct Cleared {
    /// What was moved out of the way.
    notes: Vec<String>,
    /// The repositories below the root.
    repositories: Vec<String>,
    /// What is called `.gitignore`.
    ignoring: Vec<PathBuf>,
    /// The pipes.
    unlisted: Vec<PathBuf>,
    /// All folders, the root among them.
    folders: Vec<PathBuf>,
}

/// The working tree of a repository.
pub struct Workspace<'a> {
    /// The repository.
    pub repo: &'a Repo,
}

impl Workspace<'_> {
    /// Refuses conflicts in the ledger's files (exit 3): to git they are no operation in progress, and no change of content.
    pub fn refuse_conflicts(&self) -> Result<()> {
        status::refuse_conflicts(self.repo)
    }

    /// Refuses attributes by which git would make something else of the ledger's files (exit 3).
    pub fn refuse_converted(&self) -> Result<()> {
        status::refuse_converted(self.repo)
    }

    /// Looks at the tree before a cycle. Refuses one that has tracked changes, naming them (exit 3), also where they were hidden from
    /// git in one of the spans that are `unseen`.
    pub fn begin(
        &self,
        session: &str,
        cycle: u64,
        way_out: WayOut,
        unseen: &[Span],
    ) -> Result<Start> {
        let dated = files::dated_in(&self.repo.private);
        let mut folders = self.look_through()?;
        let (branch, commit) = self.repo.ready_head()?;
        self.refuse_locks(&branch)?;
        self.judge_strangers()?;
        let (status, hidden, whereabouts) = self.look_at_all(&mut folders, unseen)?;
        // A session looks at the tree before it measures its baseline, as of no cycle.
        status.refuse_dirty(&hidden.names(), cycle > 0, way_out)?;
        let tree = self.repo.tree_of(&commit)?;
        let untracked = status.untracked.iter().chain(&status.within);
        let kept = Kept::listed(untracked, &status.ignored);
        let newest = |name: &str| self.repo.movements(name).next();
        Ok(Start {
            session: session.to_owned(),
            cycle,
            content: self.repo.content(&tree)?,
            tree,
            head_movements: 0,
            branch_movements: 0,
            newest_movements: (newest("HEAD"), newest(&branch)),
            branch,
            commit,
            kept,
            lent: Kept::default(),
            in_modules: Arc::default(),
            flags: hidden.flags,
            guarded: Guarded::default(),
            users: Users::default(),
            compared: Compared::default(),
            refs: None,
            folders: Arc::new(folders),
            whereabouts: Some(Arc::new(whereabouts)),
            repositories: None,
            ignoring: None,
            unlisted: None,
            since: clock::now().timestamp(),
            dated,
            unverified_since: None,
            is_ledger_converted: status::converted(self.repo).is_some(),
        })
    }

    /// Moves out of the way what git would wait for in the tree. To be done before git is called after others were at work;
    /// says what was moved.
    pub fn clear_pipes(&self, start: &Start) -> Result<Vec<String>> {
        self.clear_tree(start).map(|cleared| cleared.notes)
    }

    /// The same, of all that there is; it goes to this quarantine.
    fn clear_pipes_into(&self, quarantine: &mut Quarantine) -> Result<()> {
        let (root, plain) = (&self.repo.root, &self.repo.plain);
        pipes::clear(root, plain, &mut |_| {}, quarantine).map(drop)
    }

    /// The same; returns the repositories and the folders below the root, too.
    fn clear_tree(&self, start: &Start) -> Result<Cleared> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut open = self.way_in(start);
        let mut folders = Vec::new();
        let mut enter = |folder: &Path| {
            open(folder);
            folders.push(folder.to_owned());
        };
        let met = pipes::clear(
            &self.repo.root,
            &self.repo.plain,
            &mut enter,
            &mut quarantine,
        )?;
        Ok(Cleared {
            notes: quarantine.notes().collect(),
            repositories: named(met.repositories),
            ignoring: met.ignoring,
            unlisted: met.unlisted,
            folders,
        })
    }

    /// Moves pipes, sockets and devices away that came since: no commit holds one, git shows none, and whoever reads a pipe waits; says
    /// which. A socket of somebody else's, who listens at it, stays.
    fn clear_new_unlisted(&self, start: &Start, unlisted: &[PathBuf]) -> Result<Vec<String>> {
        let root = &self.repo.root;
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut near = Near::below(root);
        let known = start.unlisted.as_deref();
        for path in unlisted {
            // Who writes to a pipe changes its times.
            if known.is_some_and(|known| known.contains(path)) {
                continue;
            }
            let seen = near.look(path.as_os_str().as_bytes());
            let is_new = seen.is_some_and(|seen| start.is_since(seen));
            if is_new && (self.repo.is_slot || !pipes::is_served(&root.join(path))) {
                quarantine.take_from(root, path, path)?;
            }
        }
        Ok(quarantine.notes().collect())
    }

    /// Returns the tracked files that differ from HEAD. What is untracked is not looked at.
    pub fn tracked_changes(&self) -> Result<BTreeSet<Vec<u8>>> {
        let status = self.tracked_state(self.repo.index().as_ref())?;
        Ok(status.dirty.into_iter().collect())
    }

    /// Returns what is dirty in the tree, for people; used where a dirty tree is no reason to refuse.
    pub fn dirty_files(&self) -> Result<Vec<String>> {
        Ok(self.state()?.dirty_files())
    }

    /// Settles a cycle according to its verdict.
    pub fn settle(
        &self,
        start: &Start,
        stock: &Stock,
        fate: Fate,
        plan: Option<&Plan>,
    ) -> Result<Settled> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut settled = Settled {
            commit: stock.tip.clone(),
            was_undone: false,
            was_outrun: false,
            made: Vec::new(),
            notes: Vec::new(),
        };
        let was_opened = self.open_shut(start);
        match fate {
            Fate::Leave => {}
            Fate::Keep => {}
            Fate::Undo => match plan {
                None => {
                    self.move_away(start, &stock.nested, &mut quarantine)?;
                    settled.notes = self.undo_submodules(start, &[], &mut quarantine)?;
                }
                Some(plan) => match self.carry_out(start, plan, &mut quarantine)? {
                    Some(notes) => {
                        settled.commit.clone_from(&plan.undo);
                        settled.was_undone = true;
                        settled.notes = notes;
                    }
                    None => settled.was_outrun = true,
                },
            },
        }
        // HEAD may have been on one of them.
        let held = self.hold_compared(start, &stock.tip, When::Measured)?;
        let is_new = |note: &String| !stock.notes.contains(note);
        settled.notes.extend(held.notes.into_iter().filter(is_new));
        let is_left = fate == Fate::Leave || settled.was_outrun;
        let fate = if is_left { Fate::Leave } else { fate };
        if fate != Fate::Leave {
            let (root, after) = (&self.repo.root, &stock.after_agent);
            settled.made = start.kept.made_since(root, after);
            let folders = keep::folders(&self.repo.own_places());
            let kept = start
                .kept
                .keep_made(root, &folders, after, &mut quarantine)?;
            settled.made.extend(kept);
        }
        let after = &stock.after_agent;
        let put_back = self.put_untracked_right(start, after, fate, &mut quarantine)?;
        let unread = self.lost_unread(start);
        if !is_left {
            self.give_hollow_back(start);
        }
        if was_opened || settled.was_undone || !put_back.notes().is_empty() {
            self.shut_again(start);
        }
        settled.notes.extend(put_back.notes());
        settled.notes.extend(unread);
        settled.notes.extend(self.lost(start));
        settled.notes.extend(quarantine.notes());
        self.give_flags_back(start)?;
        if fate == Fate::Keep {
            let note = self.note_ignored_by(start, &settled.commit)?;
            settled.notes.extend(note);
        }
        if is_left {
            // A person may have gone to another branch.
            let on_branch = self.repo.resolve(&start.branch)?;
            let now = on_branch.or(self.repo.head()?.commit);
            settled.commit = now.unwrap_or_else(|| stock.tip.clone());
        }
        Ok(settled)
    }

    /// Puts the user's untracked files right at a cycle's end, whatever became of its change: what of them is not as it was before the
    /// agent stays only where somebody else wrote it, and then its earlier bytes are in the quarantine.
    pub fn put_untracked_right(
        &self,
        start: &Start,
        after: &AfterAgent,
        fate: Fate,
        quarantine: &mut Quarantine,
    ) -> Result<PutBack> {
        let (root, folders) = (&*self.repo.root, keep::folders(&self.repo.own_places()));
        let kept = match fate {
            Fate::Keep => {
                start.kept.keep_snapshots(root, &folders, quarantine)?;
                let kept = start.kept.with_late_outputs(root, after);
                Cow::Owned(kept.into_owned().without_snapshots())
            }
            Fate::Undo | Fate::Leave => Cow::Borrowed(&start.kept),
        };
        start
            .kept
            .keep_overwritten(root, &folders, after, quarantine)?;
        start
            .kept
            .keep_earlier(root, &folders, after, &kept, quarantine)?;
        if fate == Fate::Undo {
            kept.put_back_all_built(root, &folders, quarantine)?;
            kept.take_unbuilt(root, quarantine)?;
            self.take_new_protected(start, quarantine)?;
        }
        match fate {
            Fate::Leave => kept.put_back_missing(root, &folders, quarantine),
            Fate::Keep | Fate::Undo => kept.put_back(root, &folders, quarantine),
        }
    }

    /// Says which files of the user's without a copy are gone or were changed.
    pub fn lost(&self, start: &Start) -> Vec<String> {
        let (ignored, uncopied) = start.kept.gone(&self.repo.root);
        let changed = start.kept.changed_uncopied(&self.repo.root);
        let all = [
            ("ignored files that are gone", ignored),
            ("untracked files that are gone and had no copy", uncopied),
            ("untracked files that were changed and had no copy", changed),
        ];
        let lost = all.iter().filter(|(_, files)| !files.is_empty());
        lost.map(|(what, files)| format!("{what}: {}", some_of(files)))
            .collect()
    }

    /// Says which folders are gone that could not be read. To be asked before they are made again.
    pub fn lost_unread(&self, start: &Start) -> Option<String> {
        let gone = start.kept.gone_unread(&self.repo.root);
        (!gone.is_empty()).then(|| {
            format!(
                "removed, and of what was in it there was no copy, because it could not be read: {}",
                some_of(&gone)
            )
        })
    }

    /// Moves folders of the agent's that have a repository of their own to the quarantine. That of a submodule which was not set
    /// up is empty again.
    fn move_away(
        &self,
        start: &Start,
        nested: &[Vec<u8>],
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        for folder in nested {
            let path = folder.strip_suffix(b"/").unwrap_or(folder);
            let is_there =
                std::fs::symlink_metadata(self.repo.root.join(OsStr::from_bytes(path))).is_ok();
            if is_there && is_beneath(&self.repo.root, path) {
                quarantine.take(&self.repo.root, path)?;
                match self.was_submodule(start, path)? {
                    true => files::make_folder(&self.repo.root.join(OsStr::from_bytes(path)))?,
                    false => self.remove_empty_folders(path),
                }
            }
        }
        Ok(())
    }

    /// Checks that an undo restored the start's content.
    pub fn verify_undone(&self, start: &Start) -> Result<()> {
        let (branch, commit) = self.repo.ready_head()?;
        let content = self.repo.content(&self.repo.tree_of(&commit)?)?;
        if branch != start.branch || content != start.content {
            return Err(
                Error::internal("BUG: the undo did not restore the start's content").hint(format!(
                    "the agent's work is in {}, the start is {}",
                    start.work_ref(),
                    start.commit
                )),
            );
        }
        Ok(())
    }
}

/// Returns paths as text that stands for their bytes exactly.
fn named(paths: Vec<PathBuf>) -> Vec<String> {
    let name = |path: &PathBuf| exact::decode(path.as_os_str().as_bytes());
    paths.iter().map(name).collect()
}

/// Joins paths, each ended by a NUL.
fn ended(paths: &[Vec<u8>]) -> Vec<u8> {
    paths
        .iter()
        .flat_map(|path| path.iter().copied().chain([0]))
        .collect()
}

/// Names the new files that an undo removed: one of them may have been a person's.
fn note_removed(start: &Start, removed: &[String]) -> Option<String> {
    (!removed.is_empty()).then(|| {
        format!(
            "new files that the undo removed (they are in {}): {}",
            start.work_ref(),
            some_of(removed)
        )
    })
}

/// Joins a list for people, cut where it gets long.
pub fn some_of(list: &[String]) -> String {
    const SHOWN: usize = 10;
    text::some_of(list, SHOWN)
}
