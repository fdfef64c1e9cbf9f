//! Refs that checks compare with: they are the yardstick, and the goals are measured with what they were before the agent. What was
//! moved is made that again wherever a cycle is taken stock of, measured, settled or, after a crash, taken up again. What a fetch
//! brought is there once more when the cycle is settled; what somebody else moved stays where it is.

use std::collections::BTreeSet;

use super::{Start, Workspace, some_of};
use crate::effects::guard::refs;
use crate::error::Result;
use crate::model::compared::{self, Fate, Refs};
use crate::model::exact;
use crate::model::movement::is_fetched;
use crate::model::whose::Whose;

/// How many of the agent's commits are looked for.
const COMMITS: usize = 100;
/// Refs that only `evolve` writes.
const OWN: &str = "refs/evolve/";

/// When refs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After the agent.
    Unmeasured,
    /// After checks, which may have fetched.
    Measured,
}

/// What became of the refs that checks compare with.
#[derive(Clone, Debug, Default)]
pub struct HeldRefs {
    /// What a reader of the record should know.
    pub notes: Vec<String>,
    /// What was not what it had been, and is again, in words.
    pub put_back: Vec<String>,
    /// What somebody else moved and stays, in words.
    pub by_others: Vec<String>,
    /// Refs that a fetch had moved, each with where to.
    pub fetched: Vec<(String, String)>,
    /// Nothing else was put back than what a fetch had moved.
    pub is_only_fetched: bool,
}

impl Workspace<'_> {
    /// Makes what checks compare with what it was before the agent, whose newest commit is `tip`; says what was not.
    pub fn hold_compared(&self, start: &Start, tip: &str, when: When) -> Result<HeldRefs> {
        let mut held = HeldRefs::default();
        let compared = &start.compared;
        let Some(before) = self.refs_before(start)?.filter(|_| !compared.is_empty()) else {
            return Ok(held);
        };
        let mut now = self.repo.all_refs()?;
        for word in &compared.sure {
            let target = start.root_ref(self.repo, word);
            now.extend(target.map(|target| (word.clone(), target)));
        }
        let is_moved = |name: &str| {
            let is_own = name == start.branch || name.starts_with(OWN);
            !is_own && before.get(name) != now.get(name)
        };
        if !before.keys().chain(now.keys()).any(|name| is_moved(name)) {
            return Ok(held);
        }
        let (whose, work) = (start.whose(), self.new_work(start, tip, &before)?);
        let is_theirs = |name: &String| -> Result<bool> {
            let may_be = now.contains_key(name) && !self.repo.is_slot && is_branch(name);
            let was = before.get(name);
            Ok(may_be && self.is_moved_by_others((name, was), &whose, &work)?)
        };
        let (mut names, mut named) = (BTreeSet::new(), BTreeSet::new());
        let words = compared.sure.iter().chain(&compared.other);
        for other in compared::others(words, (&before, &now), &start.branch) {
            // A goal may be about a tag that is to be made.
            if other.fate == Fate::Made || !compared.sure.contains(&other.word) {
                named.insert(other.to_string());
                continue;
            }
            let mut moved: Vec<_> = other.names.iter().filter(|name| is_moved(name)).collect();
            if when == When::Measured && compared.fetches {
                // A check's own fetch brings nothing of the agent's.
                let mut kept = Vec::new();
                for name in moved {
                    let is = now.get(name).filter(|_| compared::is_of_remote(name));
                    if is.map_or(Ok(true), |is| self.holds(is, &work))? {
                        kept.push(name);
                    }
                }
                moved = kept;
            }
            let mut is_others = !moved.is_empty();
            for name in moved {
                if !is_theirs(name)? {
                    names.insert(name.clone());
                    is_others = false;
                }
            }
            let words = format!("{other}, and checks compare with it");
            if is_others {
                held.by_others.push(words);
            } else if other.names.iter().any(|name| names.contains(name)) {
                held.put_back.push(words);
            }
        }
        if compared.asks {
            let moved = differences(&before, &now).filter(|(name, _)| is_moved(name));
            named.extend(moved.map(|(name, what)| format!("{} {what}", exact::shown(short(name)))));
        }
        for name in names.iter().filter(|name| compared::is_of_remote(name)) {
            if let (Some(_), Some(is), false) = (before.get(name), now.get(name), self.repo.is_slot)
                && self.was_fetched(name, is)
                && !self.holds(is, &work)?
            {
                held.fetched.push((name.clone(), is.clone()));
            }
        }
        let is_fetched = |name: &String| held.fetched.iter().any(|(fetched, _)| fetched == name);
        held.is_only_fetched = !names.is_empty() && names.iter().all(is_fetched);
        held.notes.extend(held.put_back.iter().cloned());
        let by_others = held.by_others.iter();
        held.notes.extend(
            by_others.map(|words| format!("{words}; somebody else did that, and it stays")),
        );
        let put_back = refs::put_back_these(self.repo, (&before, &now), &names, &whose)?;
        held.notes.extend(put_back);
        if !named.is_empty() {
            let named: Vec<_> = named.into_iter().collect();
            let named = some_of(&named);
            held.notes
                .push(format!("refs that checks may compare with: {named}"));
        }
        Ok(held)
    }

    /// Puts refs where a fetch had put them, unless they were moved since; says so. To be done when nothing is measured any more.
    pub fn give_fetched_back(
        &self,
        start: &Start,
        fetched: &[(String, String)],
    ) -> Result<Vec<String>> {
        let Some(before) = self.refs_before(start)?.filter(|_| !fetched.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut notes = Vec::new();
        for (name, target) in fetched {
            let why = "evolve: as it was fetched";
            if let Some(was) = before.get(name)
                && self.repo.move_ref(name, was, target, why)?
            {
                notes.push(format!(
                    "{name} is again where a fetch put it; the goals were measured with what it was before"
                ));
            }
        }
        Ok(notes)
    }

    fn refs_before(&self, start: &Start) -> Result<Option<Refs>> {
        match &start.refs {
            Some(refs) => Ok(Some(Refs::clone(refs))),
            None => start.guarded.refs(self.repo),
        }
    }

    /// Returns the agent's newest commits; those that were there before are nobody's work of this cycle, as far as that can be told.
    fn new_work(&self, start: &Start, tip: &str, before: &Refs) -> Result<Vec<String>> {
        let commits = self.repo.commits_since(&start.commit, tip, COMMITS)?;
        let ids: Vec<&str> = commits.iter().map(|commit| commit.id.as_str()).collect();
        let tips: Vec<&str> = before.values().map(String::as_str).collect();
        let new = whole(self.repo.beyond(&ids, &tips))?;
        Ok(match new {
            Some(new) => new.into_iter().collect(),
            None => ids.iter().map(|id| (*id).to_owned()).collect(),
        })
    }

    /// Says whether a commit leads to some of these, or may.
    fn holds(&self, commit: &str, work: &[String]) -> Result<bool> {
        let work: Vec<&str> = work.iter().map(String::as_str).collect();
        let beyond = whole(self.repo.beyond(&work, &[commit]))?;
        Ok(beyond.is_none_or(|beyond| beyond.len() < work.len()))
    }

    /// Says whether somebody else moved a branch to where it is, or to where it was in between: their commits are not taken back,
    /// whatever the agent added. One that is checked out elsewhere is not pulled away from there.
    fn is_moved_by_others(
        &self,
        (name, was): (&str, Option<&String>),
        whose: &Whose,
        work: &[String],
    ) -> Result<bool> {
        for moved in self.repo.movements(name) {
            if was == Some(&moved.new) {
                break;
            }
            if refs::is_by_others(&moved, whose) && !self.holds(&moved.new, work)? {
                return Ok(true);
            }
        }
        Ok(self.repo.tree_on(name).is_some())
    }

    /// Says whether the reflog says that a fetch put the ref where it is.
    fn was_fetched(&self, name: &str, is: &str) -> bool {
        let newest = self.repo.movements(name).into_iter().next();
        newest.is_some_and(|newest| newest.new == is && is_fetched(&newest.message))
    }
}

/// Returns what a walk found; nothing where some history is not there in whole.
fn whole<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(cause) if cause.is_of_machine() => Err(cause),
        Err(cause) => {
            tracing::debug!("{cause}");
            Ok(None)
        }
    }
}

fn is_branch(name: &str) -> bool {
    name.starts_with("refs/heads/")
}

/// Returns the refs that differ, with what became of each.
fn differences<'r>(
    before: &'r Refs,
    now: &'r Refs,
) -> impl Iterator<Item = (&'r String, &'static str)> {
    let made = now.iter().filter_map(|(name, is)| match before.get(name) {
        None => Some((name, "was made")),
        Some(was) if was != is => Some((name, "was moved")),
        Some(_) => None,
    });
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    made.chain(gone.map(|name| (name, "was removed")))
}

fn short(name: &str) -> &str {
    let kinds = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"];
    let short = kinds.iter().find_map(|kind| name.strip_prefix(kind));
    short.unwrap_or(name)
}
