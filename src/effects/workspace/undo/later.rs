//! What was done to the tree after the last process of a dead session had ended: somebody's work, that an undo of the session's
//! cycle would take along (`model::aftermath` rules on it).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::effects::ended;
use crate::effects::keep;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Difference;
use crate::effects::workspace::index::staged;
use crate::effects::workspace::{Start, Workspace, ended as ended_each};
use crate::error::Result;
use crate::model::aftermath::{Ruling, Touch, rule};
use crate::model::exact;
use crate::model::ledger::is_ledger_path;

/// The most entries of a folder with a repository of its own that are looked at.
const MOST: usize = 20_000;

/// What is later than a session's end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Later {
    /// What an undo would take along.
    pub refused: BTreeSet<Vec<u8>>,
    /// What git does not track, and stays as it is.
    pub stays: BTreeSet<Vec<u8>>,
    /// What of that stands where the cycle's start has a file, which an undo brings back: it is moved then.
    pub in_the_way: BTreeSet<Vec<u8>>,
    /// Tracked files that are gone from a folder in which something was made or removed later: an undo brings them back.
    pub gone: BTreeSet<Vec<u8>>,
}

impl Later {
    fn add(&mut self, path: &[u8], is_tracked: bool, touch: Touch) {
        let list = match rule(is_tracked, touch) {
            Ruling::Agents => return,
            Ruling::Stays => &mut self.stays,
            Ruling::Refused => &mut self.refused,
        };
        list.insert(path.to_vec());
    }
}

impl Workspace<'_> {
    /// Says whether somebody else has moved branch or HEAD, so that nothing of a cycle will be undone.
    pub fn is_left_to_others(&self, start: &Start) -> Result<bool> {
        Ok(!self.movements_by_others(start)?.words.is_empty())
    }

    /// Looks for what is later than the end of a session that died in this cycle, in nanoseconds since 1970. Changes nothing.
    pub fn look_for_later(&self, start: &Start, end: i64) -> Result<Later> {
        let root = &self.repo.root;
        let (status, hidden, _) = self.look()?;
        let mut later = Later::default();
        for path in status.dirty.iter().chain(&hidden.changes) {
            if start
                .guarded
                .names_program(&root.join(OsStr::from_bytes(path)))
            {
                // A start that went before may have put it back.
                continue;
            }
            match fs::symlink_metadata(root.join(OsStr::from_bytes(path))) {
                Ok(_) => later.add(path, true, touch(root, path, end)),
                Err(_) => {
                    if is_folder_later(root, path, end) {
                        later.gone.insert(path.clone());
                    }
                }
            }
        }
        for path in self.staged_later(end)? {
            later.refused.insert(path);
        }
        later.gone.retain(|path| !later.refused.contains(path));
        let new = status.untracked.iter();
        for path in new.filter(|path| !start.kept.was_there(path)) {
            later.add(path, false, touch(root, path, end));
        }
        let unbuilt = start.kept.unbuilt(root);
        for path in self.new_protected(start)?.0.into_iter().chain(unbuilt) {
            later.add(&path, false, touch(root, &path, end));
        }
        for path in start.kept.changed(root) {
            later.add(&path, false, touch(root, &path, end));
        }
        for path in &later.stays {
            if self.repo.has_file(&start.tree, &exact::decode(path))? {
                later.in_the_way.insert(path.clone());
            }
        }
        Ok(later)
    }

    /// Returns what was staged later: the object with its content was stored, or asked for again, then.
    fn staged_later(&self, end: i64) -> Result<Vec<Vec<u8>>> {
        let is_later = |file: &Path| {
            fs::symlink_metadata(file).is_ok_and(|meta| ended::times(&meta).is_written_after(end))
        };
        // Git writes it anew whenever anything is staged.
        if !is_later(&self.repo.git_dir().join("index")) || self.repo.head()?.commit.is_none() {
            return Ok(Vec::new());
        }
        let is_staged_later = |id: &str| {
            let (folder, name) = id.split_at(id.len().min(2));
            is_later(&self.repo.common_path(&format!("objects/{folder}/{name}")))
        };
        let is_later = |one: &Difference| {
            let new = one.new.as_ref();
            new.is_some_and(|entry| is_staged_later(&entry.id))
        };
        let staged = self.staged()?.into_iter().filter(is_later);
        Ok(staged.map(|one| one.path).collect())
    }

    /// Returns what is staged, but for the ledger.
    fn staged(&self) -> Result<Vec<Difference>> {
        let arguments = [
            "diff-index",
            "--cached",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-renames",
            "--ignore-submodules=all",
            "HEAD",
        ];
        let mut staged = staged::parse(&self.repo.git.run(&arguments)?).unwrap_or_default();
        staged.retain(|one| !is_ledger_path(&one.path));
        Ok(staged)
    }

    /// Takes out of the index what the dead session's agent staged, but for files that somebody changed later: a stash of these
    /// would hold all of the index, and bring it back. No file is touched. Returns those of them with a version of the agent's in
    /// the index that is another than the one on disk.
    pub fn unstage(&self, later: &Later) -> Result<BTreeSet<Vec<u8>>> {
        if self.repo.head()?.commit.is_none() {
            return Ok(BTreeSet::new());
        }
        let staged = self.staged()?.into_iter().map(|one| one.path);
        let (theirs, agents): (Vec<_>, Vec<_>) =
            staged.partition(|path| later.refused.contains(path));
        if !agents.is_empty() {
            let from_stdin = ["--pathspec-from-file=-", "--pathspec-file-nul"];
            let arguments = ["reset", "--quiet", from_stdin[0], from_stdin[1]];
            self.repo.git.run_with(&arguments, &ended_each(&agents))?;
        }
        let edited = self.edited_since_stock()?;
        let theirs = theirs.into_iter().filter(|path| edited.contains(path));
        Ok(theirs.collect())
    }

    /// Has files that git does not track stay what somebody made of them since. Where one was there before the agent, its
    /// earlier version goes to the quarantine. Says what was done.
    pub fn leave_as_they_are(
        &self,
        start: &mut Start,
        paths: &BTreeSet<Vec<u8>>,
    ) -> Result<Vec<String>> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let folders = keep::folders(&self.repo.own_places());
        let root = &self.repo.root;
        start.kept.let_go(paths, root, &folders, &mut quarantine)?;
        Ok(quarantine.notes().collect())
    }
}

/// Says what was done after this moment to a file, or to any in a folder but its git's own.
fn touch(root: &Path, path: &[u8], end: i64) -> Touch {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let mut left = MOST;
    touch_of(&root.join(OsStr::from_bytes(path)), end, &mut left)
}

fn touch_of(path: &Path, end: i64, left: &mut usize) -> Touch {
    *left = left.saturating_sub(1);
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Touch::None;
    };
    if !meta.is_dir() {
        let folder = path.parent().and_then(|folder| folder.metadata().ok());
        return ended::times(&meta).touch_after(end, folder.as_ref().map(ended::times));
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut newest = Touch::None;
    for entry in entries.filter(|entry| entry.file_name() != ".git") {
        if *left == 0 || newest == Touch::Written {
            break;
        }
        newest = newest.max(touch_of(&entry.path(), end, left));
    }
    newest
}

/// Says whether anything was made in or removed from the folder of a path that is gone, or from the one that was left of it.
fn is_folder_later(root: &Path, path: &[u8], end: i64) -> bool {
    let file = root.join(OsStr::from_bytes(path));
    let folders = file.ancestors().skip(1);
    let there = folders
        .take_while(|folder| folder.starts_with(root))
        .find_map(|folder| fs::symlink_metadata(folder).ok());
    there.is_some_and(|meta| ended::times(&meta).is_written_after(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_folder_so_many_entries_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join("below/file"), "").unwrap();
        let look = |mut most: usize| touch_of(folder.path(), 0, &mut most);
        assert_eq!(look(1), Touch::None);
        assert_eq!(look(2), Touch::None);
        assert_eq!(look(3), Touch::Written);
    }
}
