//! Takes stock of what an agent left: whose commits they are, what it left uncommitted, where its work is, what it
//! changed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::change::Changed;
use super::index::restat::Untouched;
use super::leftovers::strays::Left;
use super::{Start, Stock, When, Workspace, attributes, some_of, status};
use crate::effects::repo::{Difference, Head};
use crate::effects::{files, keep};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::gate::Change;
use crate::model::output;
use crate::model::text;
use crate::model::yardstick::LEANED_ON;

/// How many bytes of the names are written down of what a check leans on.
const LEANED_ON_BYTES: usize = 16 << 10;

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
        let (mut stock, aside) = self.despite_attributes(start, || self.take_stock_once(start))?;
        if let Some(aside) = aside {
            stock.change.goalposts.push(attributes::REFUSED.to_owned());
            stock.notes.extend(aside);
        }
        Ok(stock)
    }

    fn take_stock_once(&self, start: &Start) -> Result<Stock> {
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
        let untouched = self.bring_up(start, &mut left, &mut broken)?;
        let mut found = self.follow(start)?;
        found.rewritten = broken.into_iter().next().or(found.rewritten);
        left.notes.extend(put_back);
        left.notes.append(&mut found.notes);
        self.clear_ledger(start, &mut left)?;
        let planted = self.clear_planted(start, cleared.repositories, &mut left)?;
        self.note_hiding(start, cleared.ignoring, &mut left)?;
        left.notes
            .extend(self.clear_new_unlisted(start, &cleared.unlisted)?);
        let tip = self.gather(start, &found, &mut left)?;
        left.note_planted(planted);
        let listed = left.listed.take();
        let tip_tree = self.repo.tree_of(&tip)?;
        let differences = self.repo.differences(&start.tree, &tip_tree)?;
        left.notes.extend(self.clear_dropped(start, &differences)?);
        let converted = self.converted_otherwise(start, &tip_tree, &differences)?;
        left.notes
            .extend(self.write_converted(start, &untouched, &converted, listed)?);
        let (mut change, changed) =
            self.change_at(start, &tip, &tip_tree, differences, &mut left)?;
        change.rewritten = found.rewritten;
        let removed = self.clear_hollow(start, cleared.folders, &changed.gone, &tip_tree)?;
        left.notes.extend(removed);
        let told = self.note_taken_meanwhile(start, &tip, &left.moved, &mut change)?;
        left.notes.extend(told);
        change.taken.extend(self.taken_in_submodules(start)?);
        let folders = keep::folders(&self.repo.own_places());
        change.destroyed = start.kept.destroyed(&self.repo.root, &folders);
        if !changed.links_out.is_empty() {
            left.notes.push(format!(
                "links that lead out of the repository: {}",
                some_of(&changed.links_out)
            ));
        }
        left.notes.extend(self.note_filled(start, &changed.files)?);
        change.is_made = !changed.files.is_empty();
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
            files: changed.files,
            made_executable: changed.made_executable,
            converted: converted.iter().map(|path| exact::decode(path)).collect(),
            nested: left.nested,
            unbuilt: left.unbuilt,
            left_out: left.left_out,
            loose: left.loose,
            notes: left.notes,
            compared,
            after_agent: start.kept.look_after_agent(&self.repo.root),
            position: Some(self.position(start)?),
        })
    }

    /// Lists the commits of a stock whose newest commit or files are others now.
    pub(super) fn list_commits(&self, start: &Start, stock: &mut Stock) -> Result<()> {
        let (from, tip) = (&start.commit, &stock.tip);
        stock.commits = self.repo.commits_since(from, tip, COMMITS_LISTED)?;
        stock.change.is_made = !stock.files.is_empty();
        Ok(())
    }

    /// Has the index and the tree say what is there, whatever hides it, so that git can be asked; returns the tracked files that nobody
    /// touched. `broken` says what of the repository had to be made anew.
    fn bring_up(
        &self,
        start: &Start,
        left: &mut Left,
        broken: &mut Vec<String>,
    ) -> Result<Untouched> {
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
        Ok(distrusted.untouched)
    }

    /// Gathers what the agent left beside its commits, moves away what may not stay, and commits the rest; returns the newest commit.
    fn gather(&self, start: &Start, found: &Found, left: &mut Left) -> Result<String> {
        self.take_unbuilt(start, &found.commit, left)?;
        self.look_at_protected(start, left)?;
        self.read_state(start, left)?;
        self.bring_back(start, &found.commit, left)?;
        self.clear_submodules(start, left)?;
        self.clear_unset(start, left)?;
        let unmerged = std::mem::take(&mut left.status.unmerged);
        let tip = self.commit_leftovers(start, &found.commit, found.rewritten.is_none(), left)?;
        let conflicts = unmerged.iter();
        let conflicts = conflicts.map(|path| format!("{} in conflict", text::path(path)));
        left.unheld.extend(conflicts);
        Ok(tip)
    }

    /// Says what the change from the start to a commit is, which has these `differences`, as far as the verdict looks at it, and its files.
    fn change_at(
        &self,
        start: &Start,
        tip: &str,
        tip_tree: &str,
        differences: Vec<Difference>,
        left: &mut Left,
    ) -> Result<(Change, Changed)> {
        let mut change = Change {
            goalposts: std::mem::take(&mut left.goalposts),
            unheld: self.unheld(tip, &differences, start)?,
            ..Change::default()
        };
        change
            .unheld
            .extend(self.replaced(start, &left.submodules)?);
        change.unheld.append(&mut left.unheld);
        change.unheld.extend(self.moved_modules(start, tip)?);
        left.notes.extend(self.silenced(&differences)?);
        let changed = self.changed_files(start, differences, &mut change)?;
        if !start.is_ledger_converted
            && let Some(converted) = status::converted(self.repo)
        {
            // With it no session could begin any more.
            change.goalposts.push(converted.words());
            left.notes.extend(self.clear_attributes(start, tip_tree)?);
        }
        Ok((change, changed))
    }

    /// Names new folders in a commit that only tools fill, and new files that they make: few want them there, and an agent's
    /// `git add -A` is soon made.
    fn note_filled(&self, start: &Start, files: &[String]) -> Result<Option<String>> {
        let mut filled = output::filled(files);
        let mut known = Vec::new();
        for folder in filled.keys() {
            if self.repo.is_folder(&start.tree, folder.as_bytes())? {
                known.push(*folder);
            }
        }
        filled.retain(|folder, _| !known.contains(folder));
        let is_made = |path: &&String| {
            let place = self.repo.root.join(path);
            let is_in = |folder: &&str| {
                path.strip_prefix(*folder)
                    .is_some_and(|it| it.starts_with('/'))
            };
            let is_filled = filled.keys().any(is_in);
            !is_filled
                && output::is_made(path, &files::begin_of(&place, output::TELLING))
                && !self.repo.may_have_file(&start.tree, path)
        };
        let made: Vec<String> = files.iter().filter(is_made).cloned().collect();
        let is_any = !filled.is_empty() || !made.is_empty();
        Ok(is_any.then(|| output::committed(&filled, &made)))
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
        let place = branch.as_deref().map(exact::shown_branch);
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
                exact::short_branch(&start.branch)
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
            exact::short_branch(&start.branch)
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

    /// Says whether nothing at all is at a path of the working tree; of one that is no text, that is not told.
    pub fn is_gone(&self, path: &str) -> bool {
        !path.contains(char::REPLACEMENT_CHARACTER)
            && fs::symlink_metadata(self.repo.root.join(path)).is_err()
    }

    /// Names what of a change a check leans on without freezing it: all of it, as far as it can be written down, because among much
    /// that is of no matter there may be the one file that is.
    pub fn note_leaned_on(stock: &mut Stock, changed: &[String]) {
        if !changed.is_empty() {
            let named = text::some_within(changed, LEANED_ON_BYTES);
            stock.notes.push(format!("{LEANED_ON}: {named}"));
        }
    }
}
