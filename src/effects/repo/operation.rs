//! Operations in progress, such as a merge or a bisect: how one is named, ended, and given back.

use std::fs;
use std::io::Result as IoResult;
use std::path::Path;

use git2::RepositoryState;

use super::Repo;
use crate::effects::files;
use crate::error::{Error, Result};

/// Where git notes commits for a bisect.
const BISECTED: &str = "refs/bisect/";
/// The file that says that one is in progress.
const BISECT_LOG: &str = "BISECT_LOG";
/// What says nothing by itself of an operation being in progress.
const LEFT: [&str; 9] = [
    "AUTO_MERGE",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_FIRST_PARENT",
    "BISECT_HEAD",
    "BISECT_NAMES",
    "BISECT_RUN",
    "BISECT_START",
    "BISECT_TERMS",
];
/// What else of an operation lies in a git directory; what says that it is in progress comes last.
const NOTED: [&str; 9] = [
    "MERGE_MODE",
    "MERGE_MSG",
    "sequencer",
    "rebase-apply",
    "rebase-merge",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "MERGE_HEAD",
    BISECT_LOG,
];

/// Where a rebase notes the branch that it will move when it is done.
const REBASED: [&str; 2] = ["rebase-merge/head-name", "rebase-apply/head-name"];
/// The most bytes of that.
const NAME: u64 = 64 << 10;

/// Where a cherry-pick or a revert of several commits notes those that are left.
const TODO: &str = "sequencer/todo";
/// The most bytes of that: some ten thousand commits.
const COMMITS: u64 = 1 << 20;

impl Repo {
    /// Returns which operation is in progress. Of a sequence, one is between two of its commits, too.
    pub(super) fn state(&self) -> RepositoryState {
        match self.inner.state() {
            RepositoryState::Clean => self.sequence(),
            state => state,
        }
    }

    fn sequence(&self) -> RepositoryState {
        let todo = self.inner.path().join(TODO);
        let text = files::read_text(&todo, COMMITS).unwrap_or_default();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        match lines.next().and_then(|line| line.split(' ').next()) {
            Some("revert") => RepositoryState::RevertSequence,
            Some("pick" | "p") => RepositoryState::CherryPickSequence,
            Some(_) | None => RepositoryState::Clean,
        }
    }

    /// Says whether a rebase in progress in this working tree will move a branch when it is done. HEAD is detached until then; it
    /// fails where somebody else moved the branch, and one that is aborted puts the branch back on where it was.
    pub fn is_rebased(&self, branch: &str) -> bool {
        let places = REBASED.iter().map(|name| self.inner.path().join(name));
        let mut named = places.filter_map(|place| files::read_text(&place, NAME).ok());
        named.any(|name| name.trim_end() == branch)
    }

    /// Ends a merge, rebase, cherry-pick or bisect that was left in progress, with what git notes for it but refs that were there;
    /// says which it was. It can be done again wherever it was cut short.
    pub fn end_operation(&self, was_there: &dyn Fn(&str) -> bool) -> Result<Option<&'static str>> {
        let state = self.state();
        let Some((what, _)) = in_progress(state) else {
            return Ok(None);
        };
        if state == RepositoryState::Bisect {
            self.drop_bisected(was_there)?;
        }
        // Libgit2's `cleanup_state` does the same, and empties the folders behind links.
        for name in LEFT.iter().chain(&NOTED) {
            let place = self.inner.path().join(name);
            files::remove_all(&place).map_err(|cause| Error::io("remove", &place, cause))?;
        }
        Ok(Some(what))
    }

    /// Removes the refs of a bisect that were not there.
    fn drop_bisected(&self, was_there: &dyn Fn(&str) -> bool) -> Result<()> {
        let all = self.all_refs()?.into_keys();
        let mut new = all.filter(|name| name.starts_with(BISECTED) && !was_there(name));
        new.try_for_each(|name| self.remove_ref(&name))
    }

    /// Makes the operation in progress the one that was in progress in a copy of the git directory, if any was; to be done when
    /// HEAD and refs are as they were there.
    pub fn give_operation_back(&self, copy: &Repo) -> Result<()> {
        let was_there = |name: &str| copy.target_of(name).is_some();
        self.drop_bisected(&was_there)?;
        let (live, copy) = (self.inner.path(), copy.inner.path());
        for name in LEFT.iter().chain(&NOTED) {
            let place = live.join(name);
            let failed = |cause| Error::io("restore", &place, cause);
            put_back(&copy.join(name), &place).map_err(failed)?;
        }
        Ok(())
    }

    /// Gives back what git notes of a bisect that was in progress in a copy of the git directory, where it was ended; says whether it
    /// was.
    pub fn give_bisect_back(&self, copy: &Repo) -> Result<bool> {
        let (live, copy) = (self.inner.path(), copy.inner.path());
        if live.join(BISECT_LOG).exists() || !copy.join(BISECT_LOG).exists() {
            return Ok(false);
        }
        for name in LEFT.iter().chain(&[BISECT_LOG]) {
            let place = live.join(name);
            let failed = |cause| Error::io("restore", &place, cause);
            put_back(&copy.join(name), &place).map_err(failed)?;
        }
        Ok(true)
    }
}

/// Makes what stands at a place what stands at another, be it nothing, a file or a folder of files.
fn put_back(from: &Path, to: &Path) -> IoResult<()> {
    if is_same(from, to) {
        return Ok(());
    }
    files::remove_all(to)?;
    let Ok(meta) = fs::symlink_metadata(from) else {
        return Ok(());
    };
    if !meta.is_dir() {
        return files::copy(from, to);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        put_back(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::symlink_metadata(one), fs::symlink_metadata(other)) {
        (Err(_), Err(_)) => true,
        (Ok(first), Ok(second)) if first.is_file() && second.is_file() => {
            files::is_same(one, other).unwrap_or(false)
        }
        (Ok(_) | Err(_), _) => false,
    }
}

/// Names an operation in progress, with the way out of it.
pub(super) fn in_progress(state: RepositoryState) -> Option<(&'static str, &'static str)> {
    match state {
        RepositoryState::Clean => None,
        RepositoryState::Merge => Some((
            "a merge",
            "finish it with `git commit`, or end it with `git merge --abort`",
        )),
        RepositoryState::Revert | RepositoryState::RevertSequence => Some((
            "a revert",
            "finish it with `git revert --continue`, or end it with `git revert --abort`",
        )),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some((
            "a cherry-pick",
            "finish it with `git cherry-pick --continue`, or end it with `git cherry-pick --abort`",
        )),
        RepositoryState::Bisect => Some(("a bisect", "end it with `git bisect reset`")),
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge => Some((
            "a rebase",
            "finish it with `git rebase --continue`, or end it with `git rebase --abort`",
        )),
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some((
            "a `git am`",
            "finish it with `git am --continue`, or end it with `git am --abort`",
        )),
    }
}
