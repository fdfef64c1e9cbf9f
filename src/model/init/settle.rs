//! What becomes of all that was proposed: ids that differ, goals that do not say the same twice, the heaviest first. Pure.

use std::collections::{HashMap, HashSet};

use super::offer::{Part, id_of};
use super::{Found, Proposal};
use crate::model::text;

/// The longest check that is written.
const LONGEST_CHECK: usize = 8 * 1024;
/// The most goals that are written.
const MOST_GOALS: usize = 60;

/// Puts what was found in order.
pub(super) fn settle(found: &mut Found) {
    let all = std::mem::take(&mut found.proposals);
    let (kept, odd): (Vec<_>, Vec<_>) = all.into_iter().partition(is_plain);
    for one in odd {
        let what = "its command holds control characters, or is too long";
        found.leave_out(format!("{}: {what}", one.source));
    }
    let mut kept = once_each(kept, found);
    kept.sort_by_key(|one| one.missing.is_some());
    let mut rest = kept.split_off(kept.len().min(MOST_GOALS));
    for all in [&mut kept, &mut rest] {
        all.sort_by_key(|one| (one.role.part(), std::cmp::Reverse(one.weight)));
    }
    for one in rest {
        let is_named = one.source.rsplit(": ").next() == Some(one.id.as_str());
        let id = if is_named {
            String::new()
        } else {
            format!("{}: ", one.id)
        };
        found.leave_out(format!("{}: {id}{MOST_GOALS} goals are enough", one.source));
    }
    found.proposals = kept;
    let mut seen = HashSet::new();
    found.left_out.retain(|one| seen.insert(one.clone()));
}

/// Says whether a command can be written into a file and shown.
fn is_plain(one: &Proposal) -> bool {
    let is_shown = |c: char| c == '\n' || !(c.is_control() || text::is_invisible(c));
    !one.check.trim().is_empty()
        && one.check.len() <= LONGEST_CHECK
        && one.check.chars().all(is_shown)
}

/// Gives each goal an id that neither another one nor any of `others` has. Those that will be dropped, for the same command tells the
/// same in the same way, keep theirs.
pub(super) fn set_apart(all: &mut [Proposal], others: &[Proposal]) {
    let mut checks = HashSet::new();
    let mut ids = Ids::of(others.iter().map(|one| one.id.clone()));
    for one in all {
        if checks.insert((one.check.clone(), one.measured.is_some())) {
            one.id = ids.take(&one.id, &one.source);
        }
    }
}

/// Drops goals that the same command tells in the same way, and gives those with the same id others.
fn once_each(all: Vec<Proposal>, found: &mut Found) -> Vec<Proposal> {
    let mut checks = HashSet::new();
    let mut ids = Ids::default();
    let mut kept: Vec<Proposal> = Vec::new();
    for mut one in all {
        // Of one command the exit code may count, and the number that it measures.
        if !checks.insert((one.check.clone(), one.measured.is_some())) {
            let is_same = |other: &&Proposal| {
                other.check == one.check && other.measured.is_some() == one.measured.is_some()
            };
            if let Some(same) = kept.iter().find(is_same).filter(|it| it.id != one.id) {
                found.hands_on(&one.id, std::slice::from_ref(&same.id), false);
            }
            continue;
        }
        one.id = ids.take(&one.id, &one.source);
        kept.push(one);
    }
    kept
}

/// The ids that are taken.
#[derive(Default)]
pub(super) struct Ids {
    taken: HashSet<String>,
    /// The next number for an id; those before it are taken.
    numbers: HashMap<String, usize>,
}

impl Ids {
    /// Begins with ids that are taken already.
    pub(super) fn of(taken: impl Iterator<Item = String>) -> Ids {
        Ids {
            taken: taken.collect(),
            numbers: HashMap::new(),
        }
    }

    /// Takes a free id: the wished one, else one with the file or the job that it comes from in front, else one with a number.
    pub(super) fn take(&mut self, id: &str, source: &str) -> String {
        let id = id_of(id);
        // Of a workflow it is the job that stands before the step.
        let parts: Vec<&str> = source.split(": ").collect();
        let job = parts.get(1).filter(|_| parts.len() > 2).copied();
        let source = source.split([':', ',', ' ']).next().unwrap_or_default();
        let source = source.rsplit('/').next().unwrap_or_default();
        let source = source.split('.').find(|part| !part.is_empty());
        let named = id_of(&format!("{}-{id}", source.unwrap_or("other")));
        let by_job = job.map(|job| id_of(&format!("{job}-{id}")));
        let mut wished = [Some(&id), Some(&named), by_job.as_ref()]
            .into_iter()
            .flatten();
        if let Some(free) = wished.find(|id| self.taken.insert((*id).clone())) {
            return free.clone();
        }
        let number = self.numbers.entry(id.clone()).or_insert(2);
        loop {
            let numbered = format!("{id}-{number}");
            *number += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Returns the goals of a part.
pub(super) fn of_part(all: &[Proposal], part: Part) -> impl Iterator<Item = &Proposal> {
    all.iter().filter(move |one| one.role.part() == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_taken_gets_its_source_in_front_and_then_a_number() {
        let taken = ["a", "a-3"].map(str::to_owned);
        let mut ids = Ids::of(taken.into_iter());
        let given = [(); 4].map(|()| ids.take("a", "x/Makefile: a"));
        assert_eq!(given, ["makefile-a", "a-2", "a-4", "a-5"]);
        assert_eq!(ids.take("b", "Makefile"), "b");
        let given = [(); 4].map(|()| ids.take("make", "w/ci.yml: gcc: make"));
        assert_eq!(given, ["make", "ci-make", "gcc-make", "make-2"]);
    }
}
