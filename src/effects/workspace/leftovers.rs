//! Commits what an agent left uncommitted.

pub(super) mod converted;
pub(super) mod dropped;
pub(super) mod hiding;
pub(super) mod hollow;
pub(super) mod moved;
pub(super) mod planted;
pub mod rewritten;
pub(super) mod strays;
pub(super) mod whole;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::{Start, Workspace, ended};
use crate::effects::files::{self, is_beneath};
use crate::effects::git::may_refuse;
use crate::effects::modes;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::hash_file;
use crate::error::{Error, Result};
use crate::model::{output, text};
use strays::Left;

/// What git says of a name that it keeps for itself or for another system: `.gitmodules` of a link, `git~1`.
const NO_NAME: &str = "invalid path";

impl Workspace<'_> {
    /// Makes a commit of what the agent left uncommitted. Only if `is_on_branch` the branch moves to it; otherwise the
    /// commit merely keeps the work reachable.
    pub(super) fn commit_leftovers(
        &self,
        start: &Start,
        tip: &str,
        is_on_branch: bool,
        left: &mut Left,
    ) -> Result<String> {
        if !self.stage_leftovers(start, left)? {
            return Ok(tip.to_owned());
        }
        let tip_tree = self.repo.tree_of(tip)?;
        let staged = || -> Result<(String, Option<Vec<u8>>)> {
            let (tree, listed) = self.staged_tree(&tip_tree)?;
            self.repo.require_whole(&tree, &tip_tree)?;
            Ok((tree, listed))
        };
        let (tree, listed) = match staged() {
            Ok(tree) => tree,
            // A git that was cut short, the agent or the machine can leave an index that names objects which are nowhere.
            Err(cause) => {
                self.repo.git.run(&["read-tree", "--reset", tip])?;
                (left.status, _, left.submodules) = self.look()?;
                self.stage_leftovers(start, left)?;
                staged().map_err(|_| cause)?
            }
        };
        left.listed = listed;
        if tree == tip_tree {
            return Ok(tip.to_owned());
        }
        let commit = self.repo.store_commit(&tree, tip, &message(start))?;
        if is_on_branch
            && !self
                .repo
                .move_ref(&start.branch, tip, &commit, &start.mark())?
        {
            return Err(Error::internal(
                "the branch moved while the agent's leftovers were committed",
            ));
        }
        Ok(commit)
    }

    /// Stages what the agent left unstaged; says whether anything is staged then.
    fn stage_leftovers(&self, start: &Start, left: &mut Left) -> Result<bool> {
        let git = &self.repo.git;
        let status = std::mem::take(&mut left.status);
        let mut wanted = status.unstaged;
        // A branch without a commit has nothing that a file could differ from.
        let mut is_staged = !status.dirty.is_empty() || self.repo.head()?.commit.is_none();
        let mut made = Vec::new();
        for path in status.untracked {
            if start.kept.is_left_alone(&self.repo.root, &path) {
                continue;
            }
            match path.ends_with(b"/") {
                true => left.note_nested(path),
                false if self.is_made_by_tools(start, &path)? => made.push(path),
                false => wanted.push(path),
            }
        }
        self.leave_out(start, &made, left)?;
        is_staged |= !wanted.is_empty();
        // What is gone is taken out first: git adds nothing behind a link that now stands where a folder was.
        let root = &self.repo.root;
        let is_submodule = |path: &Vec<u8>| left.submodules.contains(path);
        let (mut there, mut gone, mut modules) = (Vec::new(), Vec::new(), Vec::new());
        let mut nested = Vec::new();
        for path in wanted {
            let file = root.join(OsStr::from_bytes(&path));
            let meta = fs::symlink_metadata(&file).ok();
            match meta.filter(|_| is_beneath(root, &path)) {
                Some(meta) if meta.is_dir() && is_submodule(&path) => modules.push(path),
                Some(meta) if meta.is_file() || meta.is_symlink() => {
                    modes::open_to_read(&file, 0o666);
                    if is_submodule(&path) {
                        gone.push(path.clone());
                    }
                    there.push(path);
                }
                Some(_) | None => {
                    if fs::symlink_metadata(file.join(".git")).is_ok() {
                        nested.push([&path[..], b"/"].concat());
                    }
                    gone.push(path);
                }
            }
        }
        for path in nested {
            left.note_nested(path);
        }
        if !gone.is_empty() {
            git.run_with(
                &["update-index", "--force-remove", "-z", "--stdin"],
                &ended(&gone),
            )?;
        }
        if !modules.is_empty() {
            // This looks at no more than their HEADs, unlike `git add`.
            git.run_with(&["update-index", "-z", "--stdin"], &ended(&modules))?;
        }
        if !there.is_empty() {
            self.add(&there, start, left)?;
        }
        Ok(is_staged)
    }

    /// Says whether tools made a new file: who committed it would have every check that makes it again write to a tracked file. What git
    /// knows by its bytes was only moved or copied, and what attributes give to a filter is meant to be committed.
    fn is_made_by_tools(&self, start: &Start, path: &[u8]) -> Result<bool> {
        let name = String::from_utf8_lossy(path);
        let place = self.repo.root.join(OsStr::from_bytes(path));
        let is_made = is_beneath(&self.repo.root, path)
            && output::is_made(&name, &files::begin_of(&place, output::TELLING))
            && !self.repo.may_have_file(&start.tree, &name);
        let is_known = || hash_file(&place).is_some_and(|id| self.repo.has_object(&id));
        Ok(is_made && !is_known() && !self.has_filter(path)?)
    }

    /// Puts what tools made into the quarantine, or removes it where that has become large: it can be made again. It is in no commit, so
    /// that nothing is measured with it.
    fn leave_out(&self, start: &Start, made: &[Vec<u8>], left: &mut Left) -> Result<()> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        for path in made {
            let place = self.repo.root.join(OsStr::from_bytes(path));
            match quarantine.has_room_for(&place) {
                true => quarantine.take(&self.repo.root, path)?,
                false => files::remove(&place)?,
            }
        }
        if !made.is_empty() {
            let names: Vec<_> = made.iter().map(text::path).collect();
            left.notes.push(output::left_out(&names));
            left.left_out.extend(names);
        }
        Ok(())
    }

    /// Stages files. One that git cannot take, such as a new one whose filter fails, or one with half a character of its encoding,
    /// goes to the quarantine: no commit can hold it, and it must not keep the cycle from being settled. A known file is what the
    /// index holds of it then, unless it is its filter that fails, which may be missing on this machine.
    fn add(&self, paths: &[Vec<u8>], start: &Start, left: &mut Left) -> Result<()> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        // Git heeds no such setting where there are no patterns: most repositories are not asked.
        let is_sparse = self.has_sparse_patterns() && self.is_sparse();
        let mut parts = vec![paths];
        while let Some(part) = parts.pop() {
            let Err(error) = self.try_to_add(part, is_sparse) else {
                continue;
            };
            if error.is_of_machine() || error.is_halt() {
                return Err(error);
            }
            // Git names the first at most: they are told apart by halves.
            if part.len() > 1 {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
                continue;
            }
            // A git that was killed says nothing of the file. Of a name that it keeps for itself, such as `.gitmodules` of a link, it
            // does.
            if !error.message.contains(NO_NAME) && self.can_be_taken(&part[0])? {
                return Err(error);
            }
            let name = String::from_utf8_lossy(&part[0]).into_owned();
            let is_known = self.is_in_index(&part[0])?;
            if is_known && self.has_filter(&part[0])? {
                return Err(error.hint(format!(
                    "git cannot take {name} as it is: see whether the program of its filter is there (`git check-attr filter -- {0}`), then run evolve again",
                    text::shell_word(&part[0])
                )));
            }
            tracing::debug!("{error}");
            quarantine.take(&self.repo.root, &part[0])?;
            if is_known {
                let arguments = ["checkout-index", "--force", "-z", "--stdin"];
                self.repo.git.run_with(&arguments, &ended(part))?;
            }
            left.notes.push(format!("git cannot commit {name}"));
        }
        left.notes.extend(quarantine.notes());
        Ok(())
    }

    fn try_to_add(&self, paths: &[Vec<u8>], is_sparse: bool) -> Result<()> {
        let mut arguments = vec![
            "add",
            "--all",
            "--ignore-errors",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        if is_sparse {
            // Also what the checkout leaves out: the agent left it in.
            arguments.push("--sparse");
        }
        self.repo
            .git
            .run_with(&arguments, &ended(paths))
            .map(|_| ())
    }

    /// Says whether git can make a blob of a file, as `git add` would; that needs no lock.
    fn can_be_taken(&self, path: &[u8]) -> Result<bool> {
        let file = self.repo.root.join(OsStr::from_bytes(path));
        if fs::symlink_metadata(file).is_ok_and(|meta| meta.is_symlink()) {
            return Ok(true);
        }
        // Git is strict about the encoding only of what it writes.
        let arguments = ["hash-object", "-w", "--"].map(OsStr::new);
        let path = [OsStr::from_bytes(path)];
        let said = self.repo.git.run(&[&arguments[..], &path].concat());
        Ok(may_refuse(said)?.is_some())
    }

    fn has_filter(&self, path: &[u8]) -> Result<bool> {
        let arguments = ["check-attr", "-z", "filter", "--"].map(OsStr::new);
        let said = self
            .repo
            .git
            .run(&[&arguments[..], &[OsStr::from_bytes(path)]].concat())?;
        // As in `path 0 filter 0 value 0`.
        let value = said.split(|byte| *byte == 0).nth(2).unwrap_or_default();
        Ok(![&b"unspecified"[..], b"unset"].contains(&value))
    }

    fn is_in_index(&self, path: &[u8]) -> Result<bool> {
        let arguments = ["ls-files", "-z", "--"].map(OsStr::new);
        let listed = self
            .repo
            .git
            .run(&[&arguments[..], &[OsStr::from_bytes(path)]].concat())?;
        Ok(!listed.is_empty())
    }
}

/// Returns the message of a commit of leftovers.
fn message(start: &Start) -> String {
    format!(
        "evolve: cycle {}, what the agent left uncommitted\n\nEvolve-Cycle: {}\n",
        start.cycle, start.cycle
    )
}
