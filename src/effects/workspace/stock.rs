//! Takes stock of what an agent left: whose commits they are, what it left uncommitted, where its work is, what it
//! changed.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::leftovers::strays::Left;
use super::{Place, Start, Stock, When, Workspace, some_of};
use crate::effects::files::is_within;
use crate::effects::repo::{Difference, Head};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::gate::{Change, Suspect};
use crate::model::git::movement::{self, ByOthers, Moved};
use crate::model::ledger::is_ledger_path;
use crate::model::text;
use crate::model::yardstick::LEANED_ON;

/// The most commits of a cycle that are listed.
const COMMITS_LISTED: usize = 100;

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
        let refs = start.guarded.refs(self.repo)?;
        let was_there = |name: &str| refs.as_ref().is_none_or(|refs| refs.contains_key(name));
        if let Some(what) = self.repo.end_operation(&was_there)? {
            left.notes
                .push(format!("the agent left {what} in progress; it was ended"));
        }
        let mut distrusted = self.distrust_index(start)?;
        // Not what it lists by the end, and in a large tree much of it.
        let listed = std::mem::take(&mut distrusted.listed);
        left.notes.extend(self.bring_in(start, &listed)?);
        drop(listed);
        left.notes.extend(self.fill_emptied(start)?);
        self.distrust_within(start)?;
        let mended = distrusted.notes.first();
        broken.extend(mended.filter(|_| distrusted.is_mended).cloned());
        left.notes.extend(distrusted.notes);
        let mut found = self.follow(start)?;
        found.rewritten = broken.into_iter().next().or(found.rewritten);
        left.notes.extend(put_back);
        left.notes.extend(found.notes);
        self.clear_ledger(start, &mut left)?;
        let planted = self.clear_planted(start, cleared.repositories, &mut left)?;
        self.take_unbuilt(start, &found.commit, &mut left)?;
        self.look_at_protected(start, &mut left)?;
        self.read_state(start, &mut left)?;
        self.bring_back(start, &found.commit, &mut left)?;
        self.clear_submodules(start, &mut left)?;
        self.clear_unset(start, &mut left)?;
        let unmerged = std::mem::take(&mut left.status.unmerged);
        let tip =
            self.commit_leftovers(start, &found.commit, found.rewritten.is_none(), &mut left)?;
        left.note_planted(planted);
        let listed = left.listed.take();
        left.notes
            .extend(self.write_converted(start, &distrusted.untouched, listed)?);
        let mut change = Change {
            rewritten: found.rewritten,
            goalposts: left.goalposts,
            ..Change::default()
        };
        let tip_tree = self.repo.tree_of(&tip)?;
        let (mut files, mut gone) = (Vec::new(), Vec::new());
        let mut made_executable = Vec::new();
        let mut links_out = Vec::new();
        let differences = self.repo.differences(&start.tree, &tip_tree)?;
        change.unheld = self.unheld(&tip, &differences, start)?;
        change
            .unheld
            .extend(self.replaced(start, &left.submodules)?);
        let conflicts = unmerged.iter();
        let conflicts = conflicts.map(|path| format!("{} in conflict", text::path(path)));
        change.unheld.extend(conflicts);
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
            if is_new && kept.was_there(&difference.path) {
                change.taken.push(path.clone());
            } else if is_new && let Some(file) = kept.ousted_by(&difference.path) {
                let file = text::path(&file);
                change.ousted.push(format!(
                    "{} ({file} was there)",
                    text::path(&difference.path)
                ));
            }
            if is_made_executable(&difference) {
                made_executable.push(path.clone());
            }
            links_out.extend(self.leads_out(&difference)?);
            files.push(path);
        }
        let in_commits = (&gone[..], &tip_tree[..]);
        let removed = self.clear_hollow(start, cleared.folders, in_commits)?;
        left.notes.extend(removed);
        let told = self.note_taken_meanwhile(start, (&tip, &left.moved), &mut change)?;
        left.notes.extend(told);
        change.taken.extend(self.taken_in_submodules(start)?);
        if !links_out.is_empty() {
            left.notes.push(format!(
                "links that lead out of the repository: {}",
                some_of(&links_out)
            ));
        }
        // A file that became a link or the reverse is listed as gone and as new.
        files.dedup();
        change.is_made = !files.is_empty();
        let commits = self
            .repo
            .commits_since(&start.commit, &tip, COMMITS_LISTED)?;
        let has_leftovers = tip != found.commit && !commits.is_empty();
        let compared = self.hold_compared(start, &tip, When::Unmeasured)?;
        left.notes.extend(compared.notes.iter().cloned());
        Ok(Stock {
            change,
            tip,
            commits,
            has_leftovers,
            files,
            made_executable,
            nested: left.nested,
            unbuilt: left.unbuilt,
            notes: left.notes,
            compared,
            after_agent: start.kept.look_after_agent(&self.repo.root),
            place: Some(self.place(start)?),
        })
    }

    /// Returns a link that is new or leads elsewhere, with its target, if that is outside of the repository: what stands for it there
    /// is in no commit, and may change at any time.
    fn leads_out(&self, difference: &Difference) -> Result<Option<String>> {
        let Some(link) = difference.new.as_ref().filter(|entry| entry.is_link()) else {
            return Ok(None);
        };
        let target = self.repo.blob(&link.id)?;
        let shown = || format!("{} → {}", text::path(&difference.path), text::path(&target));
        Ok(is_outside(&difference.path, &target).then(shown))
    }

    /// Adds files of the user's that one commit of the agent's took and a later one took out again: their bytes would be
    /// published with the branch. Says so of all that was taken: an undo adds to history, and takes nothing out of it.
    fn note_taken_meanwhile(
        &self,
        start: &Start,
        (tip, moved): (&str, &[Vec<u8>]),
        change: &mut Change,
    ) -> Result<Option<String>> {
        let was_moved = |path: &[u8]| moved.iter().any(|place| is_within(path, place));
        let is_users =
            |path: &[u8]| !is_ledger_path(path) && (start.kept.was_there(path) || was_moved(path));
        let mut known: HashSet<_> = change.taken.iter().cloned().collect();
        for path in self.repo.brought_since(&start.commit, tip, is_users)? {
            let shown = String::from_utf8_lossy(&path).into_owned();
            if known.insert(shown.clone()) {
                change.taken.push(shown);
            }
        }
        let stays = !change.taken.is_empty() && change.rewritten.is_none();
        Ok(stays.then(|| {
            format!(
                "what was taken stays in the history of {} after an undo: look at the commits after {} before you publish it",
                short(&start.branch),
                start.commit
            )
        }))
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
        let tip = head.commit.unwrap_or_else(|| start.commit.clone());
        let compared = self.hold_compared(start, &tip, When::Unmeasured)?;
        notes.extend(compared.notes.iter().cloned());
        Ok(Stock {
            change: Change {
                by_others: others.words,
                suspect: match others.is_beside_agent {
                    true => Suspect::Nobody,
                    false => Suspect::Agent,
                },
                ..Change::default()
            },
            tip,
            notes,
            compared,
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

    /// Keeps the commit that the cycle started from where the branch no longer leads to it; says where, and how the branch is put
    /// back on it.
    pub fn keep_start(&self, start: &Start) -> Result<Option<String>> {
        let (commit, head) = (&start.commit, self.repo.head()?);
        let is_checked_out = head.branch.as_ref() == Some(&start.branch);
        // A branch that is gone may have another name now.
        let tip = self.repo.resolve(&start.branch)?.or(head.commit);
        if tip.is_some_and(|tip| self.repo.descends(&tip, commit).unwrap_or(false)) {
            return Ok(None);
        }
        // The cycle may begin anew, on a commit that is lost in turn.
        let name = format!(
            "{}-start/{}",
            start.work_ref(),
            commit.get(..10).unwrap_or(commit)
        );
        self.repo
            .set_ref(&name, commit, "evolve: what a cycle started from")?;
        let branch = text::shell_word(short(&start.branch));
        let way_back = match is_checked_out {
            true => format!("git reset --keep {commit}"),
            false => format!("git branch --force {branch} {commit}"),
        };
        Ok(Some(format!(
            "{commit} is {name}; unless that was meant, `{way_back}` puts {branch} back on it"
        )))
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

    /// Says whether a path of the working tree is a plain file, or a link to one.
    pub fn has_file_on_disk(&self, path: &[u8]) -> bool {
        fs::metadata(self.repo.root.join(OsStr::from_bytes(path))).is_ok_and(|meta| meta.is_file())
    }

    /// Names what of a change a check leans on without freezing it.
    pub fn note_leaned_on(stock: &mut Stock, changed: &[String]) {
        if !changed.is_empty() {
            stock
                .notes
                .push(format!("{LEANED_ON}: {}", some_of(changed)));
        }
    }
}

/// Says whether the target of a link at this path lies outside of the root, by its words alone.
fn is_outside(path: &[u8], target: &[u8]) -> bool {
    let mut depth = path.iter().filter(|byte| **byte == b'/').count();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    target.starts_with(b"/")
}

/// Says whether a file holds what it held, and nothing changed but that it can be executed now.
fn is_made_executable(difference: &Difference) -> bool {
    match (&difference.old, &difference.new) {
        (Some(old), Some(new)) => {
            (old.id == new.id) && (old.mode, new.mode) == (0o100_644, 0o100_755)
        }
        _ => false,
    }
}

/// Returns a branch's name without `refs/heads/`.
pub fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

#[cfg(test)]
mod tests {
    use super::is_outside;

    #[test]
    fn a_link_leads_out_by_its_root_or_by_more_steps_up_than_it_is_deep() {
        for (path, target, expected) in [
            ("tests", "/tmp/tests", true),
            ("tests", "../tests", true),
            ("a/b/link", "../../../x", true),
            ("a/b/link", "../../x", false),
            ("a/link", "./b/../../c", false),
            ("a/link", "b/../../../c", true),
            ("link", "a", false),
            ("link", "..name", false),
        ] {
            let found = is_outside(path.as_bytes(), target.as_bytes());
            assert_eq!(found, expected, "{path} → {target}");
        }
    }
}
