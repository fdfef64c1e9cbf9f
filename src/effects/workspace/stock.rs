//! Takes stock of what an agent left: whose commits they are, what it left uncommitted, where its work is, what it
//! changed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::strays::Left;
use super::{Place, Start, Stock, Workspace, ended, some_of};
use crate::effects::files::is_beneath;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Head;
use crate::effects::{files, modes, proc_table};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::gate::{Change, Suspect};
use crate::model::ledger::is_ledger_path;
use crate::model::movement::{self, ByOthers, Moved};
use crate::model::text;
use crate::model::yardstick::LEANED_ON;

/// The most commits of a cycle that are listed.
const COMMITS_LISTED: usize = 100;
/// How long a lock file of git is waited for before it counts as left behind.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);

/// Where the agent's newest commit is.
struct Found {
    /// The commit; the start's if the branch it is on has none.
    commit: String,
    /// How history was rewritten, in words.
    rewritten: Option<String>,
    notes: Vec<String>,
}

impl Workspace<'_> {
    /// Takes stock: commits what was left uncommitted, follows the work to another branch, lists what changed.
    pub fn take_stock(&self, start: &Start) -> Result<Stock> {
        let cleared = self.clear_tree(start)?;
        self.repo.tree_of(&start.commit).map_err(|_| {
            Error::unsafe_repo(format!(
                "the commit {} that the cycle started from is no longer in .git",
                start.commit
            ))
            .hint("the agent replaced the repository; the files are as it left them, nothing was done to them")
        })?;
        let names = self.clear_names(start)?;
        let mut broken = self.mend_place(start)?;
        let others = self.movements_by_others(start)?;
        let mut put_back = start.put_back_refs(self.repo)?;
        put_back.extend(cleared.notes);
        put_back.extend(names);
        put_back.extend(broken.iter().cloned());
        if !others.words.is_empty() {
            return self.leave_to_others(start, others, put_back);
        }
        let mut left = Left {
            notes: self.clear_locks(start)?,
            ..Left::default()
        };
        if let Some(what) = self.repo.end_operation()? {
            left.notes
                .push(format!("the agent left {what} in progress; it was ended"));
        }
        let distrusted = self.distrust_index(start)?;
        let mended = distrusted.notes.first();
        broken.extend(mended.filter(|_| distrusted.is_mended).cloned());
        left.notes.extend(distrusted.notes);
        let mut found = self.follow(start)?;
        found.rewritten = broken.into_iter().next().or(found.rewritten);
        left.notes.extend(put_back);
        left.notes.extend(found.notes);
        self.clear_ledger(start, &mut left)?;
        let planted = self.clear_planted(start, cleared.repositories, &mut left)?;
        self.read_state(start, &mut left)?;
        self.clear_submodules(start, &mut left)?;
        let tip =
            self.commit_leftovers(start, &found.commit, found.rewritten.is_none(), &mut left)?;
        left.note_planted(planted);
        left.notes
            .extend(self.write_converted(start, &distrusted.untouched)?);
        let mut change = Change {
            rewritten: found.rewritten,
            ..Change::default()
        };
        let tip_tree = self.repo.tree_of(&tip)?;
        let (mut files, mut gone) = (Vec::new(), Vec::new());
        let differences = self.repo.differences(&start.tree, &tip_tree)?;
        change.unheld = self.unheld(&tip, &differences, start)?;
        for difference in differences {
            if difference.new.is_none() {
                gone.push(difference.path.clone());
            }
            if is_ledger_path(&difference.path) {
                continue;
            }
            let path = String::from_utf8_lossy(&difference.path).into_owned();
            let is_new = difference.old.is_none() && difference.new.is_some();
            let kept = &start.kept;
            if is_new && (kept.was_there(&difference.path) || kept.is_ousted_by(&difference.path)) {
                change.taken.push(path.clone());
            }
            files.push(path);
        }
        let in_commits = (&gone[..], &tip_tree[..]);
        let removed = self.clear_hollow(start, cleared.folders, in_commits)?;
        left.notes.extend(removed);
        change.taken.extend(self.taken_in_submodules(start)?);
        // A file that became a link or the reverse is listed as gone and as new.
        files.dedup();
        change.is_made = !files.is_empty();
        let commits = self
            .repo
            .commits_since(&start.commit, &tip, COMMITS_LISTED)?;
        Ok(Stock {
            change,
            tip,
            commits,
            files,
            nested: left.nested,
            notes: left.notes,
            place: Some(self.place(start)?),
        })
    }

    /// Returns what was done to the branch and to HEAD while the agent ran that cannot be told to be the agent's. Nobody but
    /// agents is at work in a slot.
    pub(super) fn movements_by_others(&self, start: &Start) -> Result<ByOthers> {
        if self.repo.is_slot {
            return Ok(ByOthers::default());
        }
        let (newest, branch_newest) = &start.newest_movements;
        let before = (newest.as_ref(), start.head_movements);
        let head = Moved {
            name: "HEAD".to_owned(),
            movements: self.repo.movements_since("HEAD", &start.commit, before),
            now: self.repo.head().ok().and_then(|head| head.commit),
        };
        let before = (branch_newest.as_ref(), start.branch_movements);
        let branch = Moved {
            name: short(&start.branch).to_owned(),
            movements: self
                .repo
                .movements_since(&start.branch, &start.commit, before),
            now: self.repo.resolve(&start.branch).ok().flatten(),
        };
        let mark = start.mark();
        Ok(movement::by_others(&mark, &start.commit, &branch, &head))
    }

    /// The stock of a cycle in which somebody else moved the branch: nothing is listed, because nobody can tell whose it is.
    /// Commits of theirs that no branch leads to any more are kept.
    fn leave_to_others(
        &self,
        start: &Start,
        others: ByOthers,
        mut notes: Vec<String>,
    ) -> Result<Stock> {
        notes.extend(self.keep_lost(start, &others.commits)?);
        let head = self.repo.head()?;
        Ok(Stock {
            change: Change {
                by_others: others.words,
                suspect: match others.is_beside_agent {
                    true => Suspect::Nobody,
                    false => Suspect::Agent,
                },
                ..Change::default()
            },
            tip: head.commit.unwrap_or_else(|| start.commit.clone()),
            notes,
            ..Stock::untouched(start)
        })
    }

    /// Returns where HEAD and the start's branch are.
    pub(super) fn place(&self, start: &Start) -> Result<Place> {
        Ok(Place {
            head: self.repo.head()?,
            branch: self.repo.resolve(&start.branch)?,
        })
    }

    /// Returns what was done to branch and HEAD since stock was taken, in words.
    pub fn moved_since(&self, start: &Start, stock: &Stock) -> Result<Vec<String>> {
        let (Some(was), now) = (&stock.place, self.place(start)?) else {
            return Ok(Vec::new());
        };
        const WHEN: &str = "while the goals were measured";
        let shown = |commit: &Option<String>| match commit {
            Some(commit) => commit.get(..10).unwrap_or(commit).to_owned(),
            None => "nothing".to_owned(),
        };
        let mut moved = Vec::new();
        if now.branch != was.branch {
            let (branch, there) = (short(&start.branch), shown(&now.branch));
            moved.push(format!("{branch} was moved to {there} {WHEN}"));
        }
        if now.head.branch != was.head.branch {
            let there = now.head.branch.as_deref();
            let there = there.map_or("a detached HEAD".to_owned(), |branch| {
                format!("the branch {}", exact::shown(short(branch)))
            });
            moved.push(format!("{there} was checked out {WHEN}"));
        } else if now.head != was.head && moved.is_empty() {
            let there = shown(&now.head.commit);
            moved.push(format!("HEAD was moved to {there} {WHEN}"));
        }
        Ok(moved)
    }

    /// Keeps the commits that neither the branch nor HEAD leads to: the agent may have taken them back.
    fn keep_lost(&self, start: &Start, commits: &[String]) -> Result<Vec<String>> {
        let places = [self.repo.resolve(&start.branch)?, self.repo.head()?.commit];
        let mut tips: Vec<String> = places.into_iter().flatten().collect();
        let mut notes = Vec::new();
        // The newest first: it leads to most of the others.
        for commit in commits.iter().rev().take(COMMITS_LISTED) {
            let leads_to = |tip: &String| self.repo.descends(tip, commit).unwrap_or(true);
            if tips.iter().any(leads_to) {
                continue;
            }
            if !self.repo.is_whole(commit, &start.commit)? {
                notes.push(format!("{commit} is no longer there in whole"));
                continue;
            }
            let name = format!("{}-others/{}", start.work_ref(), notes.len() + 1);
            let why = "evolve: somebody else's commit";
            self.repo.set_ref(&name, commit, why)?;
            notes.push(format!(
                "{commit} is no longer in the branch, and kept as {name}"
            ));
            tips.push(commit.clone());
        }
        Ok(notes)
    }

    /// Removes lock files that dead processes of the cycle left: of the index, of any ref, of whatever git writes. One that
    /// is older than the cycle is not ours, and none is ours while a git is at work here.
    pub fn clear_locks(&self, start: &Start) -> Result<Vec<String>> {
        let mut locks = self.locks_of(&["HEAD", &start.branch, &start.work_ref()]);
        let is_new = |lock: &PathBuf| !is_older(lock, start.since) && !locks.contains(lock);
        let others: Vec<_> = all_locks(self.repo.git_dir(), &self.repo.common_path(""))
            .into_iter()
            .filter(is_new)
            .collect();
        locks.extend(others);
        let left = lasting(locks);
        let mut removed = Vec::new();
        for lock in left {
            if is_older(&lock, start.since) || proc_table::works_in("git", &self.repo.root) {
                return Err(in_the_way(&lock));
            }
            files::remove(&lock)?;
            removed.push(format!(
                "removed a lock that was left behind: {}",
                lock.display()
            ));
        }
        Ok(removed)
    }

    /// Refuses a repository in which another git is at work, or was left: the agent's and our own would fail (exit 3).
    pub fn refuse_locks(&self, branch: &str) -> Result<()> {
        match self.lasting_locks(&["HEAD", branch]).first() {
            Some(lock) => Err(in_the_way(lock)),
            None => Ok(()),
        }
    }

    /// Says whether another git holds the index, HEAD or a branch just now.
    pub fn is_locked(&self, branch: &str) -> bool {
        let locks = self.locks_of(&["HEAD", branch]);
        locks.iter().any(|lock| fs::symlink_metadata(lock).is_ok())
    }

    /// Returns the lock files of the index and of these refs that do not go away.
    pub(super) fn lasting_locks(&self, refs: &[&str]) -> Vec<PathBuf> {
        lasting(self.locks_of(refs))
    }

    /// Returns the lock files that the index and these refs have while they are written.
    fn locks_of(&self, refs: &[&str]) -> Vec<PathBuf> {
        let lock = |name: &&str| match *name {
            "HEAD" => self.repo.git_dir().join("HEAD.lock"),
            name => self.repo.common_path(&format!("{name}.lock")),
        };
        [self.repo.git_dir().join("index.lock")]
            .into_iter()
            .chain(refs.iter().map(lock))
            .collect()
    }

    /// Finds the agent's newest commit. Work on another branch that descends from start and branch is taken over: the
    /// branch is fast-forwarded to it and checked out.
    fn follow(&self, start: &Start) -> Result<Found> {
        let Head { branch, commit } = self.repo.head()?;
        let Some(tip) = commit else {
            return Ok(Found {
                commit: start.commit.clone(),
                rewritten: Some("HEAD is on a branch without a commit".to_owned()),
                notes: Vec::new(),
            });
        };
        let descends = self.repo.descends(&tip, &start.commit)?;
        if branch.as_ref() == Some(&start.branch) {
            let rewritten = (!descends)
                .then(|| "the branch no longer holds the commit it started from".to_owned());
            return Ok(Found {
                commit: tip,
                rewritten,
                notes: Vec::new(),
            });
        }
        let place = branch.as_deref().map(short).map(exact::shown);
        let place = place.unwrap_or_else(|| "a detached HEAD".to_owned());
        let is_ahead = match self.repo.resolve(&start.branch)? {
            Some(now) => {
                descends
                    && self.repo.descends(&tip, &now)?
                    && self
                        .repo
                        .move_ref(&start.branch, &now, &tip, &start.mark())?
            }
            None => false,
        };
        if !is_ahead {
            let rewritten = Some(format!(
                "HEAD was left on {place}, which does not continue {}",
                short(&start.branch)
            ));
            return Ok(Found {
                commit: tip,
                rewritten,
                notes: Vec::new(),
            });
        }
        self.repo.attach_head(&start.branch, &start.mark())?;
        let note = format!(
            "the work was on {place}; {} was fast-forwarded to it",
            short(&start.branch)
        );
        Ok(Found {
            commit: tip,
            rewritten: None,
            notes: vec![note],
        })
    }

    /// Makes a commit of what the agent left uncommitted. Only if `is_on_branch` the branch moves to it; otherwise the
    /// commit merely keeps the work reachable.
    fn commit_leftovers(
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
        let staged = || -> Result<String> {
            let tree = self.staged_tree(&tip_tree)?;
            self.repo.require_whole(&tree, &tip_tree)?;
            Ok(tree)
        };
        let tree = match staged() {
            Ok(tree) => tree,
            // A git that was cut short, the agent or the machine can leave an index that names objects which are nowhere.
            Err(cause) => {
                self.repo.git.run(&["read-tree", "--reset", tip])?;
                (left.status, _, left.submodules) = self.look()?;
                self.stage_leftovers(start, left)?;
                staged().map_err(|_| cause)?
            }
        };
        if tree == tip_tree {
            return Ok(tip.to_owned());
        }
        let message = format!(
            "evolve: cycle {}, what the agent left uncommitted\n\nEvolve-Cycle: {}\n",
            start.cycle, start.cycle
        );
        let commit = self.repo.store_commit(&tree, tip, &message)?;
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
        for path in status.untracked {
            if start.kept.was_there(&path) {
                continue;
            }
            match path.ends_with(b"/") {
                true => left.note_nested(path),
                false => wanted.push(path),
            }
        }
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

    /// Stages files. A new one that git cannot take, such as one whose filter fails, goes to the quarantine: no commit can hold
    /// it, and it must not keep the cycle from being settled.
    fn add(&self, paths: &[Vec<u8>], start: &Start, left: &mut Left) -> Result<()> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let is_sparse = self.is_sparse();
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
            let name = String::from_utf8_lossy(&part[0]).into_owned();
            if self.is_in_index(&part[0])? {
                return Err(error.hint(format!(
                    "git cannot take {name} as it is: see whether the program of its filter is there (`git check-attr filter -- {0}`), then run evolve again",
                    text::shell_word(&part[0])
                )));
            }
            tracing::debug!("{error}");
            quarantine.take(&self.repo.root, &part[0])?;
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

    fn is_in_index(&self, path: &[u8]) -> Result<bool> {
        let arguments = ["ls-files", "-z", "--"].map(OsStr::new);
        let listed = self
            .repo
            .git
            .run(&[&arguments[..], &[OsStr::from_bytes(path)]].concat())?;
        Ok(!listed.is_empty())
    }

    /// Returns the digest of a file's bytes as they are on disk, behind a link too; none if there is no plain file.
    pub fn fingerprint(&self, file: &str) -> Option<String> {
        let path = self.repo.root.join(file);
        // Reading a pipe would wait for ever.
        fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let bytes = files::read(&path).ok()?;
        Some(crate::model::digest::full(&bytes))
    }

    /// Says whether a path of the working tree is a plain file, or a link to one.
    pub fn has_file_on_disk(&self, path: &[u8]) -> bool {
        fs::metadata(self.repo.root.join(OsStr::from_bytes(path))).is_ok_and(|meta| meta.is_file())
    }

    /// Names what of a change a check leans on without freezing it.
    pub fn note_leaned_on(stock: &mut Stock, leaned_on: &[String]) {
        let changed: Vec<_> = stock
            .files
            .iter()
            .filter(|file| leaned_on.contains(file))
            .cloned()
            .collect();
        if !changed.is_empty() {
            stock
                .notes
                .push(format!("{LEANED_ON}: {}", some_of(&changed)));
        }
    }
}

/// Returns every lock file that is there in the places of a repository where git makes any.
pub(super) fn all_locks(git_dir: &Path, common: &Path) -> Vec<PathBuf> {
    let mut folders = vec![git_dir.to_owned()];
    folders.extend(["", "info", "objects/info", "objects/pack"].map(|name| common.join(name)));
    let mut deep = vec![common.join("refs")];
    let mut found = Vec::new();
    while let Some((folder, is_deep)) = folders
        .pop()
        .map(|folder| (folder, false))
        .or_else(|| deep.pop().map(|folder| (folder, true)))
    {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_deep => deep.push(path),
                Ok(kind) if kind.is_file() && path.extension() == Some(OsStr::new("lock")) => {
                    found.push(path);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the lock files that do not go away.
pub(super) fn lasting(mut locks: Vec<PathBuf>) -> Vec<PathBuf> {
    let began = Instant::now();
    loop {
        locks.retain(|lock| fs::symlink_metadata(lock).is_ok());
        if locks.is_empty() || began.elapsed() > LOCK_PATIENCE {
            return locks;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Says whether a file was written before this moment, in seconds since 1970.
pub(super) fn is_older(file: &Path, since: i64) -> bool {
    let modified = fs::symlink_metadata(file).and_then(|meta| meta.modified());
    let modified = modified.unwrap_or(SystemTime::now());
    let age = modified.duration_since(UNIX_EPOCH);
    let seconds = age.map_or(0, |age| age.as_secs());
    i64::try_from(seconds).unwrap_or(0) + 1 < since
}

fn in_the_way(lock: &Path) -> Error {
    Error::unsafe_repo(format!("{} is in the way", lock.display()))
        .hint("another git is at work here; if none is, remove that file")
}

/// Returns a branch's name without `refs/heads/`.
pub fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}
