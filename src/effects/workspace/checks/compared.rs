//! Refs that checks compare with: they are the yardstick, and the goals are measured with what they were before the agent. What was
//! moved is made that again wherever a cycle is taken stock of, measured, settled or, after a crash, taken up again. What a fetch
//! brought is there once more when the cycle is settled; what somebody else moved stays where it is.

use std::collections::BTreeSet;

use crate::effects::guard::refs;
use crate::effects::guard::way::Way;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;
use crate::model::exact;
use crate::model::git::compared::{self, Fate, Other, Refs};
use crate::model::git::movement::is_fetched;
use crate::model::git::whose::{OWN, Whose};

/// How many of the agent's commits are looked for.
const COMMITS: usize = 10_000;
/// The shortest beginning of an id that git takes for an object.
const SHORTEST: usize = 4;

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
        let mut words: BTreeSet<String> =
            compared.sure.union(&compared.leaned_on).cloned().collect();
        if compared.is_dynamic {
            let there = self.repo.beside_head()?;
            let first = |word: &String| word.split('/').next().unwrap_or_default().to_owned();
            words.extend(compared::all_words(&before).filter(|it| there.contains(&first(it))));
        }
        for word in words {
            let target = start.root_ref(self.repo, &word);
            now.extend(target.map(|target| (word, target)));
        }
        let mut moves = Moves {
            repo: self.repo,
            start,
            before: &before,
            now: &now,
            whose: start.whose(),
            work: Vec::new(),
        };
        if moves.moved().next().is_none() {
            return Ok(held);
        }
        moves.work = self.new_work(start, tip, &before)?;
        let (mut names, mut named) = (BTreeSet::new(), BTreeSet::new());
        let others = |words| compared::others(words, moves.before, moves.now, &start.branch);
        let (mut held_to, mut maybe) = (others(&compared.sure), others(&compared.other));
        let sure = held_to.len();
        held_to.extend(others(&compared.leaned_on));
        if compared.is_dynamic {
            let names_object = |word: &str| self.names_object(word);
            held_to.extend(compared::any_others(
                moves.moved(),
                moves.before,
                moves.now,
                &start.branch,
                &names_object,
            ));
        }
        let mut seen = BTreeSet::new();
        let mut is_first = |other: &Other| seen.insert(other.names.clone());
        for (place, other) in held_to.iter().enumerate() {
            let is_sure = place < sure;
            if !is_first(other) && !is_sure {
                continue;
            }
            // A goal may be about a tag that is to be made, but not by the name of an object.
            if other.fate == Fate::Made && !self.names_object(&other.word) {
                named.insert(other.to_string());
                continue;
            }
            let counts = moves.counting(&other.names, when)?;
            let agents = moves.without_theirs(&counts)?;
            let compare = if is_sure { "compare" } else { "may compare" };
            let words = format!("{other}, and checks {compare} with it");
            let is_by_others = agents.is_empty() && !counts.is_empty();
            if is_by_others && !is_sure {
                named.insert(other.to_string());
            } else if is_by_others {
                held.by_others.push(words);
            } else if !agents.is_empty() || other.names.iter().any(|name| names.contains(name)) {
                held.put_back.push(words);
            }
            names.extend(agents);
        }
        maybe.retain(is_first);
        named.extend(maybe.iter().map(Other::to_string));
        if compared.asks || compared.is_dynamic {
            named.extend(moves.told(&names));
        }
        for name in &names {
            let target = moves.fetched(name)?;
            held.fetched.extend(target.map(|to| (name.clone(), to)));
        }
        held.is_only_fetched = !names.is_empty() && held.fetched.len() == names.len();
        held.notes.extend(held.put_back.iter().cloned());
        let by_others = held.by_others.iter();
        held.notes.extend(
            by_others.map(|words| format!("{words}; somebody else did that, and it stays")),
        );
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut way = Way::new(self.repo, &moves.whose, &mut quarantine);
        let put_back = refs::put_back_these(&mut way, moves.before, moves.now, &names)?;
        held.notes.extend(put_back);
        held.notes.extend(quarantine.notes());
        if !named.is_empty() {
            let named = some_of(&named.into_iter().collect::<Vec<_>>());
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

    /// Says whether a word is the beginning of an object's id, for which git takes a ref of that name.
    fn names_object(&self, word: &str) -> bool {
        // As `git describe` writes it, too.
        let word = word.rsplit_once("-g").map_or(word, |(_, id)| id);
        let is_id = word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id && self.repo.has_prefix(word)
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
        let new = self.repo.beyond(&ids, &tips)?;
        Ok(match new {
            Some(new) => new.into_iter().collect(),
            None => ids.iter().map(|id| (*id).to_owned()).collect(),
        })
    }
}

/// How refs differ from what they were before the agent, and who did that.
struct Moves<'a> {
    repo: &'a Repo,
    start: &'a Start,
    /// Before the agent.
    before: &'a Refs,
    now: &'a Refs,
    whose: Whose,
    /// The agent's newest commits.
    work: Vec<String>,
}

impl Moves<'_> {
    fn is_moved(&self, name: &str) -> bool {
        let is_own = name == self.start.branch || name.starts_with(OWN);
        !is_own && self.before.get(name) != self.now.get(name)
    }

    /// Returns the names of all refs that were moved, made or removed.
    fn moved(&self) -> impl Iterator<Item = &String> {
        let (before, now) = (self.before, self.now);
        let of_now = now.keys().filter(|name| !before.contains_key(*name));
        before
            .keys()
            .chain(of_now)
            .filter(|name| self.is_moved(name))
    }

    /// Says whether a commit leads to some of the agent's work, or may.
    fn holds(&self, commit: &str) -> Result<bool> {
        let work: Vec<&str> = self.work.iter().map(String::as_str).collect();
        let beyond = self.repo.beyond(&work, &[commit])?;
        Ok(beyond.is_none_or(|beyond| beyond.len() < work.len()))
    }

    /// Returns those of some refs that were moved. What a check's own fetch brings does not count, if there is nothing of the agent's.
    fn counting(&self, names: &BTreeSet<String>, when: When) -> Result<Vec<String>> {
        let fetches = when == When::Measured && self.start.compared.fetches;
        let mut counting = Vec::new();
        for name in names.iter().filter(|name| self.is_moved(name)) {
            let is = self.now.get(name);
            let was_fetched =
                |is: &&String| compared::is_of_remote(name) && self.was_fetched(name, is);
            let is = is.filter(|_| fetches).filter(was_fetched);
            if is.map_or(Ok(true), |is| self.holds(is))? {
                counting.push(name.clone());
            }
        }
        Ok(counting)
    }

    /// Leaves out what somebody else moved.
    fn without_theirs(&self, names: &[String]) -> Result<Vec<String>> {
        let mut agents = Vec::new();
        for name in names {
            if !self.is_theirs(name)? {
                agents.push(name.clone());
            }
        }
        Ok(agents)
    }

    /// Says whether somebody else moved a branch to where it is, or to where it was in between: their commits are not taken back,
    /// whatever the agent added. One that is checked out elsewhere is not pulled away from there.
    fn is_theirs(&self, name: &str) -> Result<bool> {
        let (before, now) = (self.before, self.now);
        if !now.contains_key(name) || self.repo.is_slot || !is_branch(name) {
            return Ok(false);
        }
        for moved in self.repo.movements(name) {
            if before.get(name) == Some(&moved.new) {
                break;
            }
            if refs::is_by_others(self.repo, &moved, &self.whose) && !self.holds(&moved.new)? {
                return Ok(true);
            }
        }
        let began = self.start.began();
        Ok(self.repo.tree_on_before(name, began).is_some())
    }

    /// Returns where a fetch put a tracking ref, if one did and there is nothing of the agent's.
    fn fetched(&self, name: &str) -> Result<Option<String>> {
        let (before, now) = (self.before, self.now);
        let may_be =
            before.contains_key(name) && !self.repo.is_slot && compared::is_of_remote(name);
        let Some(is) = now.get(name).filter(|_| may_be) else {
            return Ok(None);
        };
        Ok((self.was_fetched(name, is) && !self.holds(is)?).then(|| is.clone()))
    }

    /// Says whether the reflog says that a fetch put a ref where it is.
    fn was_fetched(&self, name: &str, is: &str) -> bool {
        let newest = self.repo.movements(name).next();
        newest.is_some_and(|newest| newest.new == is && is_fetched(&newest.message))
    }

    /// Returns what became of each ref that was moved, made or removed, but for these.
    fn told(&self, known: &BTreeSet<String>) -> impl Iterator<Item = String> {
        let (before, now) = (self.before, self.now);
        let moved = self.moved().filter(|name| !known.contains(*name));
        moved.map(|name| {
            let what = match (before.contains_key(name), now.contains_key(name)) {
                (true, true) => "was moved",
                (true, false) => "was removed",
                (false, _) => "was made",
            };
            format!("{} {what}", exact::shown(short(name)))
        })
    }
}

fn is_branch(name: &str) -> bool {
    name.starts_with("refs/heads/")
}

fn short(name: &str) -> &str {
    let kinds = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"];
    let short = kinds.iter().find_map(|kind| name.strip_prefix(kind));
    short.unwrap_or(name)
}
