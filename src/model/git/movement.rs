//! Whose the movements of branch and HEAD are that were made while an agent ran. Pure.
//!
//! The agent's git finds a mark in its environment and begins its notes in the reflog with it. A movement is the agent's only
//! if its note has that mark, or if git writes such notes without heeding marks and the movement brings nothing that is not
//! the agent's already. All others, and those of which there is no note, are somebody else's, or cannot be told: nothing
//! that they brought may be undone. From the start's commit on one movement has to lead to the next, up to where the branch
//! is now, so that a note that was taken out of the reflog, or never made, is missed.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// The note with which `git filter-branch` moves refs, whatever mark it is given.
pub const REWRITTEN: &str = "filter-branch: rewrite";

/// How many digits of a commit's id are shown.
const SHOWN: usize = 10;

/// One movement of a ref, from its reflog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Movement {
    /// Where it was.
    pub old: String,
    /// Where it went.
    pub new: String,
    /// What was noted.
    pub message: String,
}

/// A ref while an agent ran.
#[derive(Clone, Debug, Default)]
pub struct Moved {
    /// Its name, as people know it.
    pub name: String,
    /// The movements since, newest first.
    pub movements: Vec<Movement>,
    /// Where it is now; none if it is gone, or leads nowhere.
    pub now: Option<String>,
}

/// What somebody else may have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByOthers {
    /// Each movement in words, oldest first.
    pub words: Vec<String>,
    /// The commits that they led to.
    pub commits: Vec<String>,
    /// The agent left its mark on other movements, so that these are hardly its own.
    pub is_beside_agent: bool,
}

/// Returns what was done to the branch and to HEAD that cannot be told to be the agent's. `start` is the commit that both were
/// on.
pub fn by_others(mark: &str, start: &str, branch: &Moved, head: &Moved) -> ByOthers {
    let all = || {
        let oldest_first = |moved| Moved::oldest_first(moved);
        oldest_first(branch).chain(oldest_first(head))
    };
    let marked: HashSet<&str> = all()
        .filter(|movement| movement.message.starts_with(mark))
        .map(|movement| movement.new.as_str())
        .collect();
    let is_own =
        |movement: &Movement| movement.message.starts_with(mark) || goes_on(movement, &marked);
    let own: HashSet<&str> = all()
        .filter(|movement| is_own(movement))
        .map(|movement| movement.new.as_str())
        .chain([start])
        .collect();
    let mut others = ByOthers {
        is_beside_agent: !marked.is_empty(),
        ..ByOthers::default()
    };
    for movement in all().filter(|movement| !is_own(movement) && brings(movement, &own)) {
        others.add(&movement.new, movement.message.clone());
    }
    let mut known: HashSet<&str> = all().map(|movement| movement.new.as_str()).collect();
    known.extend([start]);
    let left = Moved::oldest_first(branch).map(|movement| ("", movement.old.as_str()));
    let now = [branch, head].map(|moved| Some((moved.name.as_str(), moved.now.as_deref()?)));
    for (name, commit) in left.chain(now.into_iter().flatten()) {
        if !is_nothing(commit) && !known.contains(commit) {
            let name = if name.is_empty() { &branch.name } else { name };
            others.add(commit, format!("{name} was moved there without a note"));
        }
    }
    others
}

impl Moved {
    fn oldest_first(&self) -> impl Iterator<Item = &Movement> {
        self.movements.iter().rev()
    }
}

impl ByOthers {
    fn add(&mut self, commit: &str, what: String) {
        // Of what was moved without a message there is no more to say.
        let words = format!("{} {what}", commit.get(..SHOWN).unwrap_or(commit));
        let words = words.trim_end().to_owned();
        if self.words.last() == Some(&words) || self.commits.iter().any(|known| known == commit) {
            return;
        }
        self.words.push(words);
        self.commits.push(commit.to_owned());
    }
}

/// Says whether the note of a movement is one of those with which `git fetch` and `git push` say where a ref is elsewhere.
pub fn is_fetched(message: &str) -> bool {
    const NOTES: [&str; 4] = [
        "fast-forward",
        "forced-update",
        "storing head",
        "update by push",
    ];
    let end = message.rsplit(": ").next();
    end.is_some_and(|end| NOTES.contains(&end))
}

/// Says whether a movement is the agent's although its note has no mark: where its own rebase or cherry-pick passes over commits
/// that need no picking; and where all of a branch is rewritten, which nobody does on a branch that an agent works on.
fn goes_on(movement: &Movement, marked: &HashSet<&str>) -> bool {
    let passes_over =
        movement.message.ends_with(": fast-forward") && marked.contains(movement.old.as_str());
    passes_over || [REWRITTEN, "initial pull"].contains(&movement.message.as_str())
}

/// Says whether a movement without a mark brings something that is not the agent's. Some commands of git heed no mark, such as
/// renaming a branch. Going to another branch is a person's choice, whatever that branch is on, and so is a reset, which heeds marks.
fn brings(movement: &Movement, own: &HashSet<&str>) -> bool {
    let is_switch = movement.message.starts_with("checkout: ");
    let is_elsewhere = movement.old != movement.new && !is_nothing(&movement.new);
    let is_reset = movement.message.starts_with("reset: ");
    is_switch || is_elsewhere && (is_reset || !own.contains(movement.new.as_str()))
}

fn is_nothing(commit: &str) -> bool {
    commit.bytes().all(|digit| digit == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "evolve-s-1";

    fn id(name: &str) -> String {
        name.repeat(40)
    }

    /// A ref whose movements are given oldest first, as in `a b commit: x`; `own` stands for the agent's mark.
    fn moved(name: &str, movements: &[&str], now: &str) -> Moved {
        let movement = |line: &&str| {
            let mut words = line.splitn(3, ' ');
            let mut next = || words.next().unwrap_or_default();
            let (old, new, message) = (next(), next(), next());
            Movement {
                old: id(old),
                new: id(new),
                message: message.replace("own", MARK),
            }
        };
        Moved {
            name: name.to_owned(),
            movements: movements.iter().rev().map(movement).collect(),
            now: (!now.is_empty()).then(|| id(now)),
        }
    }

    /// What is found where branch and HEAD made the same movements from `a` on.
    fn found(movements: &[&str], now: &str) -> ByOthers {
        let [branch, head] = ["main", "HEAD"].map(|name| moved(name, movements, now));
        by_others(MARK, &id("a"), &branch, &head)
    }

    #[test]
    fn what_has_the_mark_or_brings_nothing_is_the_agents() {
        for (movements, now) in [
            (&[][..], "a"),
            (&["a b own: x"], "b"),
            (&["a b own: x", "b c own (amend): y", "c d own: z"], "d"),
            (&["a b own: x", "b a own: updating HEAD"], "a"),
            // A stash puts HEAD where it is.
            (&["a a reset: moving to HEAD"], "a"),
            (&["a b own: x", "b c rebase: fast-forward"], "c"),
            (&["a b filter-branch: rewrite"], "b"),
            // Noted, and then the git died.
            (&["a b own: x", "b c own"], "b"),
            (&["a b own", "a c own"], "c"),
        ] {
            let found = found(movements, now);
            assert_eq!(found.words, Vec::<String>::new(), "{movements:?}");
        }
    }

    #[test]
    fn what_has_no_mark_or_no_note_at_all_is_not() {
        for (movements, now, words) in [
            (&["a b commit: x"][..], "b", &["b commit: x"][..]),
            (&["a b own: x", "b c commit: y"], "c", &["c commit: y"]),
            (&["a b commit: x", "b c own: y"], "c", &["b commit: x"]),
            (
                &["a b reset: moving to HEAD~1"],
                "b",
                &["b reset: moving to HEAD~1"],
            ),
            // The agent's commit is taken back.
            (
                &["a b own: x", "b a reset: moving to HEAD~1"],
                "a",
                &["a reset: moving to HEAD~1"],
            ),
            (
                &["a a checkout: moving from main to topic"],
                "a",
                &["a checkout: moving from main to topic"],
            ),
            (
                &["a b cherry-pick: fast-forward"],
                "b",
                &["b cherry-pick: fast-forward"],
            ),
            (&[], "b", &["b main was moved there without a note"]),
            (
                &["a b own: x"],
                "c",
                &["c main was moved there without a note"],
            ),
            (
                &["b c own: x"],
                "c",
                &["b main was moved there without a note"],
            ),
            (&["a b "], "b", &["b"]),
        ] {
            let found = found(movements, now);
            let words: Vec<_> = words
                .iter()
                .map(|words| format!("{}{}", words[..1].repeat(SHOWN), &words[1..]))
                .collect();
            assert_eq!(found.words, words, "{movements:?}");
        }
    }

    #[test]
    fn it_is_known_whether_the_agent_left_its_mark_anywhere() {
        assert!(!found(&["a b commit: x"], "b").is_beside_agent);
        let beside = found(&["a b own: x", "b c commit: y"], "c");
        assert!(beside.is_beside_agent);
        assert_eq!(beside.commits, [id("c")]);
    }

    #[test]
    fn a_branch_that_is_gone_or_leads_nowhere_brought_nothing() {
        let gone = moved("main", &[], "");
        let renamed = moved("HEAD", &["a 0 Branch: renamed", "0 a Branch: renamed"], "a");
        assert_eq!(
            by_others(MARK, &id("a"), &gone, &renamed),
            ByOthers::default()
        );
        let unborn = moved("HEAD", &[], "");
        let stays = moved("main", &[], "a");
        assert_eq!(
            by_others(MARK, &id("a"), &stays, &unborn),
            ByOthers::default()
        );
    }

    #[test]
    fn where_head_went_without_a_note_is_told_too() {
        let stays = moved("main", &[], "a");
        let found = by_others(MARK, &id("a"), &stays, &moved("HEAD", &[], "c"));
        assert_eq!(
            found.words,
            [format!(
                "{} HEAD was moved there without a note",
                "c".repeat(SHOWN)
            )]
        );
    }
}
