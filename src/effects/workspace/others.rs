//! What somebody else does to the branch and to HEAD while a cycle is at work: it is told, kept, and never undone.

use super::{Position, Start, Stock, When, Workspace};
use crate::error::Result;
use crate::model::exact;
use crate::model::gate::{Change, Suspect};
use crate::model::git::movement::{self, ByOthers, Moved};
use crate::model::text;

/// The most commits of somebody else's that are kept.
const KEPT: usize = 100;

impl Workspace<'_> {
    /// Returns what was done to the branch and to HEAD while the agent ran that cannot be told to be the agent's. Nobody but
    /// agents is at work in a slot.
    pub(super) fn movements_by_others(&self, start: &Start) -> Result<ByOthers> {
        if self.repo.is_slot {
            return Ok(ByOthers::default());
        }
        let (newest, branch_newest) = &start.newest_movements;
        let head = Moved {
            name: "HEAD".to_owned(),
            movements: self.repo.movements_since(
                "HEAD",
                &start.commit,
                newest.as_ref(),
                start.head_movements,
            ),
            now: self.repo.head().ok().and_then(|head| head.commit),
        };
        let branch = Moved {
            name: exact::short_branch(&start.branch).to_owned(),
            movements: self.repo.movements_since(
                &start.branch,
                &start.commit,
                branch_newest.as_ref(),
                start.branch_movements,
            ),
            now: self.repo.resolve(&start.branch).ok().flatten(),
        };
        let mark = start.mark();
        Ok(movement::by_others(&mark, &start.commit, &branch, &head))
    }

    /// The stock of a cycle in which somebody else moved the branch: nothing is listed, because nobody can tell whose it is.
    /// Commits of theirs that no branch leads to any more are kept.
    pub(super) fn leave_to_others(
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
    pub(super) fn position(&self, start: &Start) -> Result<Position> {
        Ok(Position {
            head: self.repo.head()?,
            branch: self.repo.resolve(&start.branch)?,
        })
    }

    /// Returns what was done to branch and HEAD since stock was taken, in words.
    pub fn moved_since(&self, start: &Start, stock: &Stock) -> Result<Vec<String>> {
        let (Some(was), now) = (&stock.position, self.position(start)?) else {
            return Ok(Vec::new());
        };
        const WHEN: &str = "while the goals were measured";
        let shown = |commit: &Option<String>| match commit {
            Some(commit) => commit.get(..10).unwrap_or(commit).to_owned(),
            None => "nothing".to_owned(),
        };
        let mut moved = Vec::new();
        if now.branch != was.branch {
            let (branch, there) = (exact::short_branch(&start.branch), shown(&now.branch));
            moved.push(format!("{branch} was moved to {there} {WHEN}"));
        }
        if now.head.branch != was.head.branch {
            let there = now.head.branch.as_deref();
            let there = there.map_or("a detached HEAD".to_owned(), |branch| {
                format!("the branch {}", exact::shown_branch(branch))
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
        for commit in commits.iter().rev().take(KEPT) {
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
        let branch = text::shell_word(exact::short_branch(&start.branch));
        let way_back = match is_checked_out {
            true => format!("git reset --keep {commit}"),
            false => format!("git branch --force {branch} {commit}"),
        };
        Ok(Some(format!(
            "{commit} is {name}; unless that was meant, `{way_back}` puts {branch} back on it"
        )))
    }
}
