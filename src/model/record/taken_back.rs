//! Which cycles' changes a person had taken back (`evolve undo`), and by which cycle. Pure.

use std::collections::BTreeMap;

use super::{AgentReport, CycleResult, NEXT_WORK, Record, STILL_FAILS, UNDO};
use crate::model::git::whose::OWN;
use crate::model::yardstick::LEANED_ON;

/// The start of the title of the work that takes a cycle back; its number follows.
pub const UNDO_CYCLE: &str = "undo cycle ";
/// How an undo whose change was not let in is called.
pub const REFUSED: &str = "refused";
/// The line of an undo's commit that the commits follow which it takes back.
const TAKES_BACK: &str = "Takes back";

/// Returns the ref under which what an agent did in a cycle stays reachable.
pub fn work_ref(session: &str, cycle: u64) -> String {
    format!("{OWN}{session}/{cycle}")
}

/// What is said behind one that is not there.
const ABSENT: &str = ", which is not in this repository";

/// A cycle, which branches with a history each may have given a number that another one has, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Which {
    /// Its number.
    cycle: u64,
    /// What tells it from the others of its number: its time and session. Empty where there is no other.
    mark: String,
}

/// The cycles that took back what others changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// By the other, as it stands: who took it back.
    by: BTreeMap<Which, Which>,
    /// By who did it, also of those that were taken back themselves: what they took back.
    of: BTreeMap<Which, Which>,
    /// The numbers that several cycles have, and which of these left a change.
    doubled: BTreeMap<u64, Vec<Which>>,
}

/// What taking back a cycle comes to that took something back itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The change of this cycle is there again.
    Back(u64),
    /// The change of this cycle had been brought back, and is gone again.
    GoneAgain(u64),
}

impl Record {
    /// Returns how the agent ended, if one was called: what takes a cycle back is none.
    pub fn called_agent(&self) -> Option<&AgentReport> {
        self.agent.as_ref().filter(|agent| agent.name != UNDO)
    }

    /// Says whether the cycle was to take another one back, or to bring it back.
    pub fn is_undo(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.name == UNDO)
    }

    /// Says whether the cycle was to take another one back, and its change was measured or looked at, and not let in.
    pub fn is_refused(&self) -> bool {
        self.is_undo() && self.is_undone() && self.result != CycleResult::Interrupted
    }

    /// Returns what became of a change that is not in the repository, or is although its goal still fails, in a word. Who asked to have one taken back, or brought
    /// back, is not told that it was undone, nor what that would come to.
    pub fn fate(&self) -> Option<&'static str> {
        match (self.is_undone(), self.is_undo()) {
            (false, _) => self.is_kept_in_vain().then_some("kept"),
            (true, _) if self.is_refused() => Some(REFUSED),
            (true, true) => Some("not done"),
            (true, false) => Some("undone"),
        }
    }

    /// Returns the ref under which the work of an undone cycle is kept, in the repository where it was done.
    pub fn work_ref(&self) -> Option<String> {
        Some(work_ref(self.session.as_ref()?, self.cycle))
    }

    /// Returns the record for somebody who looks at a repository: behind each ref of `evolve`'s that it names and that is not
    /// there, it says so.
    #[must_use]
    pub fn with_absent_refs_told(&self, is_there: impl Fn(&str) -> bool) -> Record {
        let told = |words: &String| {
            let mut pieces = words.split(OWN);
            let mut told = pieces.next().unwrap_or_default().to_owned();
            for piece in pieces {
                let is_end = |letter: char| letter.is_whitespace() || ",;:)`".contains(letter);
                let (name, rest) = piece.split_at(piece.find(is_end).unwrap_or(piece.len()));
                let name = format!("{OWN}{name}");
                let absent = if is_there(&name) { "" } else { ABSENT };
                told.push_str(&format!("{name}{absent}{rest}"));
            }
            told
        };
        Record {
            reason: self.reason.as_ref().map(told),
            notes: self.notes.iter().map(told).collect(),
            ..self.clone()
        }
    }

    /// Returns what became of the change where the result alone does not say it.
    pub fn untold_fate(&self) -> Option<&'static str> {
        let is_untold = self.is_refused() || self.is_kept_in_vain();
        self.fate().filter(|_| is_untold)
    }

    /// Returns the commit that the cycle itself brought: the last of a kept change, or the one that undid it. None where it brought
    /// none, and `commit_sha` is somebody else's that the branch stood at.
    pub fn own_commit(&self) -> Option<&str> {
        let is_own = match (&self.reverted_to, self.result) {
            (Some(start), _) => *start != self.commit_sha,
            (None, CycleResult::Improved | CycleResult::Harvested) => true,
            (None, CycleResult::Unchanged) => self.is_kept_in_vain(),
            (
                None,
                CycleResult::Regressed
                | CycleResult::Failed
                | CycleResult::Interrupted
                | CycleResult::Idle,
            ) => false,
        };
        is_own.then_some(&self.commit_sha)
    }

    /// Says whether the cycle left a change in the repository.
    pub fn left_a_change(&self) -> bool {
        !self.is_undone() && self.own_commit().is_some()
    }

    /// Says which commit the cycle itself brought, or that it brought none, and where the branch stood then.
    pub fn commit_words(&self) -> String {
        match self.own_commit() {
            Some(own) => own.to_owned(),
            None => format!("none of its own; the branch stood at {}", self.commit_sha),
        }
    }

    /// Says whether its change stays although the goal that it was made for still fails.
    fn is_kept_in_vain(&self) -> bool {
        let reason = self.reason.as_deref().unwrap_or_default();
        self.result == CycleResult::Unchanged && reason.starts_with(STILL_FAILS)
    }

    /// Returns why the cycle came to what it did, for where only its result stands beside it.
    pub fn why(&self) -> Option<String> {
        let reason = self.reason.as_deref();
        match self.untold_fate() {
            Some(fate) => Some(reason.map_or(fate.to_owned(), |why| format!("{fate}: {why}"))),
            None => reason.map(str::to_owned),
        }
    }

    /// Says which files of the change, if that was kept, a check leans on without freezing them.
    pub fn leaned_on(&self) -> Option<String> {
        let notes = self.notes.iter().filter(|_| !self.is_undone());
        let files = notes
            .filter_map(|note| note.strip_prefix(LEANED_ON))
            .next()?;
        Some(format!("changed what a check leans on{files}"))
    }

    /// Returns the number of the cycle that this one took back.
    pub fn takes_back(&self) -> Option<u64> {
        let is_kept = self.result == CycleResult::Harvested && !self.is_undone();
        let goal = self
            .goal_id
            .as_deref()
            .filter(|_| is_kept && self.is_undo());
        let title = goal?.strip_prefix(NEXT_WORK)?;
        title.strip_prefix(UNDO_CYCLE)?.parse().ok()
    }
}

/// Returns the only one of several records; none where there are more, or none.
fn only_one<'r>(records: impl IntoIterator<Item = &'r Record>) -> Option<&'r Record> {
    let mut records = records.into_iter();
    records.next().filter(|_| records.next().is_none())
}

/// Returns the one of several cycles with the same number that left a change; none where that is not one alone.
pub fn only_change<'r>(same: &[&'r Record]) -> Option<&'r Record> {
    only_one(same.iter().copied().filter(|it| it.left_a_change()))
}

impl TakenBack {
    /// Reads the records of all cycles, oldest first. What took something back may have been taken back itself.
    pub fn of(records: &[Record]) -> TakenBack {
        TakenBack::told(records, |_| Vec::new())
    }

    /// The same where several cycles may have left a change under one number: `commits_of` returns the commits that an undo took
    /// back. Where these do not tell which of them it was, the number says nothing.
    pub fn told(records: &[Record], commits_of: impl Fn(&Record) -> Vec<String>) -> TakenBack {
        let mut times: BTreeMap<u64, usize> = BTreeMap::new();
        for record in records {
            *times.entry(record.cycle).or_default() += 1;
        }
        let doubled = times.into_iter().filter(|(_, times)| *times > 1);
        let mut taken_back = TakenBack {
            doubled: doubled.map(|(cycle, _)| (cycle, Vec::new())).collect(),
            ..TakenBack::default()
        };
        for record in records.iter().filter(|record| record.left_a_change()) {
            let which = taken_back.which(record);
            if let Some(those) = taken_back.doubled.get_mut(&record.cycle) {
                those.push(which);
            }
        }
        for (place, record) in records.iter().enumerate().rev() {
            // Only what came before can have been taken back.
            let cycle = record.takes_back().filter(|cycle| *cycle < record.cycle);
            let Some(other) = cycle.and_then(|cycle| {
                let earlier = &records[..place];
                taken_back.meant(cycle, earlier, || commits_of(record))
            }) else {
                continue;
            };
            let which = taken_back.which(record);
            taken_back.of.insert(which.clone(), other.clone());
            if !taken_back.by.contains_key(&which) {
                taken_back.by.entry(other).or_insert(which);
            }
        }
        taken_back
    }

    /// Returns which of the earlier cycles with this number was taken back: the only one that left a change, or the one whose
    /// commit it was.
    fn meant(
        &self,
        cycle: u64,
        earlier: &[Record],
        commits: impl FnOnce() -> Vec<String>,
    ) -> Option<Which> {
        if !self.doubled.contains_key(&cycle) {
            return Some(Which {
                cycle,
                mark: String::new(),
            });
        }
        let of_number = earlier.iter().filter(|record| record.cycle == cycle);
        let left: Vec<&Record> = of_number.filter(|it| it.left_a_change()).collect();
        let meant = match left.len() {
            0 | 1 => only_one(left),
            _ => {
                let commits = commits();
                only_one(
                    left.into_iter()
                        .filter(|it| commits.contains(&it.commit_sha)),
                )
            }
        };
        meant.map(|record| self.which(record))
    }

    fn which(&self, record: &Record) -> Which {
        let mark = match self.doubled.contains_key(&record.cycle) {
            true => format!(
                "{} {}",
                record.timestamp,
                record.session.as_deref().unwrap_or(&record.commit_sha)
            ),
            false => String::new(),
        };
        Which {
            cycle: record.cycle,
            mark,
        }
    }

    /// Says whether the change of the cycle with this number was taken back; of several, those of all.
    pub fn has(&self, cycle: u64) -> bool {
        match self.doubled.get(&cycle) {
            Some(those) => {
                !those.is_empty() && those.iter().all(|which| self.by.contains_key(which))
            }
            None => self.by.contains_key(&Which {
                cycle,
                mark: String::new(),
            }),
        }
    }

    /// Says what it comes to if this cycle is taken back; none if it took nothing back itself.
    pub fn turn(&self, record: &Record) -> Option<Turn> {
        self.turn_of(&self.which(record))
    }

    fn turn_of(&self, which: &Which) -> Option<Turn> {
        let (number, first) = self.steps(which);
        match number {
            0 => None,
            odd if odd % 2 == 1 => Some(Turn::Back(first.cycle)),
            _ => Some(Turn::GoneAgain(first.cycle)),
        }
    }

    /// Returns the cycle whose change was there first, of those that this one and what it took back took back one after the other.
    pub fn first<'a>(&self, record: &Record, records: &'a [Record]) -> Option<&'a Record> {
        let which = self.which(record);
        let (_, first) = self.steps(&which);
        records.iter().find(|one| self.which(one) == *first)
    }

    /// Returns how often something was taken back up to this cycle, and what that was first.
    fn steps<'a>(&'a self, which: &'a Which) -> (usize, &'a Which) {
        let steps = std::iter::successors(self.of.get(which), |cycle| self.of.get(cycle));
        steps.fold((0, which), |(number, _), cycle| (number + 1, cycle))
    }

    /// Says of a cycle's change which cycle took it back or brought it back, and of one that did so whose it was, in words.
    pub fn words(&self, record: &Record) -> Option<String> {
        let which = self.which(record);
        if let Some(by) = self.by.get(&which) {
            return Some(format!("taken back by cycle {}", by.cycle));
        }
        let brings_back = |(by, undo): &(&Which, &Which)| {
            !self.by.contains_key(by) && self.of.get(undo) == Some(&which)
        };
        if let Some((by, _)) = self.of.iter().rev().find(brings_back) {
            return Some(format!("brought back by cycle {}", by.cycle));
        }
        let undone = self.of.get(&which)?;
        Some(match self.turn_of(undone) {
            None => format!("takes back the change of cycle {}", undone.cycle),
            Some(Turn::Back(first)) => format!("brings back the change of cycle {first}"),
            Some(Turn::GoneAgain(first)) => format!("takes the change of cycle {first} back again"),
        })
    }
}

/// Returns the message of the commit that takes a cycle back, of its first line after `evolve: ` and the commits of the cycle, a line each.
pub fn undo_message(cycle: u64, subject: &str, commits: &[String]) -> String {
    let commits: String = commits.iter().map(|one| format!("{one}\n")).collect();
    format!("evolve: {subject}\n\n{TAKES_BACK}\n{commits}\nEvolve-Undoes: {cycle}\n")
}

/// Returns the commits that such a message names.
pub fn commits_taken_back(message: &str) -> Vec<String> {
    let lines = message.lines().skip_while(|line| *line != TAKES_BACK);
    let named = lines.skip(1).take_while(|line| !line.is_empty());
    let ids = named.filter_map(|line| line.split_whitespace().next());
    ids.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::read_record;
    use super::*;

    fn record(cycle: u64, goal: &str, result: &str, agent: &str) -> Record {
        let line = format!(
            r#"{{"cycle": {cycle}, "goal_id": "{goal}", "result": "{result}", "commit_sha": "c", "goals_passing": 1,
                "goals_total": 1, "timestamp": "t", "agent": {{"name": "{agent}", "status": "done", "duration_s": 1.0}}}}"#
        );
        read_record(&line).expect("a record")
    }

    fn undo(cycle: u64, of: u64) -> Record {
        record(
            cycle,
            &format!("next-work:undo cycle {of}"),
            "harvested",
            UNDO,
        )
    }

    #[test]
    fn a_change_is_taken_back_while_what_took_it_back_stands() {
        let work = |cycle| record(cycle, "a", "improved", "claude");
        for (records, expected) in [
            (vec![work(1), work(2)], vec![]),
            (vec![work(1), undo(2, 1)], vec![(1, 2)]),
            (vec![work(1), undo(2, 1), undo(3, 2)], vec![(2, 3)]),
            (
                vec![work(1), undo(2, 1), undo(3, 2), undo(4, 1)],
                vec![(1, 4), (2, 3)],
            ),
            (
                vec![work(1), undo(2, 1), undo(3, 2), undo(4, 3)],
                vec![(1, 2), (3, 4)],
            ),
            // Two branches came together.
            (vec![work(1), work(1), undo(2, 1)], vec![]),
            (
                vec![
                    work(1),
                    record(2, "next-work:undo cycle 1", "regressed", UNDO),
                ],
                vec![],
            ),
            (
                vec![
                    work(1),
                    record(2, "next-work:undo cycle 1", "harvested", "claude"),
                ],
                vec![],
            ),
        ] {
            let by = TakenBack::of(&records).by;
            let by: Vec<_> = by.iter().map(|(one, by)| (one.cycle, by.cycle)).collect();
            assert_eq!(by, expected);
        }
    }

    #[test]
    fn the_commit_that_a_cycle_only_stood_at_is_not_its_own() {
        let one = |result: &str, reason: Option<&str>, back_to: Option<&str>| Record {
            reason: reason.map(str::to_owned),
            reverted_to: back_to.map(str::to_owned),
            ..record(1, "a", result, "claude")
        };
        for (result, reason, back_to, is_own) in [
            ("improved", None, None, true),
            ("harvested", None, None, true),
            ("unchanged", Some("it still fails: exit 1"), None, true),
            ("unchanged", Some("the agent changed nothing"), None, false),
            ("regressed", Some("worse"), Some("start"), true),
            // Undone in a copy of its own.
            ("regressed", Some("worse"), Some("c"), false),
            (
                "failed",
                Some("no change; the agent timed out"),
                None,
                false,
            ),
            ("failed", Some("declined: no"), Some("start"), true),
            ("interrupted", Some("somebody else committed"), None, false),
            ("idle", None, None, false),
        ] {
            let own = one(result, reason, back_to).own_commit().map(str::to_owned);
            assert_eq!(own.is_some(), is_own, "{result} {reason:?}");
        }
    }

    #[test]
    fn of_cycles_with_one_number_the_one_is_marked_that_was_taken_back() {
        let at = |cycle, result: &str, session: &str| Record {
            session: Some(session.to_owned()),
            commit_sha: format!("{session}-{cycle}"),
            ..record(cycle, "a", result, "claude")
        };
        let undo = |cycle, of, session: &str| Record {
            session: Some(session.to_owned()),
            ..undo(cycle, of)
        };
        let told = |records: &[Record], commits: &[&str]| -> Vec<String> {
            let commits: Vec<String> = commits.iter().map(|it| (*it).to_owned()).collect();
            let taken_back = TakenBack::told(records, |_| commits.clone());
            let words = records.iter().map(|one| taken_back.words(one));
            words.map(Option::unwrap_or_default).collect()
        };
        let by_3 = "taken back by cycle 3";
        let takes_2 = "takes back the change of cycle 2";
        // One of them left no change. The number of what took the other back is doubled, too.
        let records = [
            at(2, "improved", "s"),
            undo(3, 2, "u"),
            at(2, "idle", "t"),
            at(3, "improved", "t"),
        ];
        assert_eq!(told(&records, &[]), [by_3, takes_2, "", ""]);
        assert!(TakenBack::of(&records).has(2));
        assert!(!TakenBack::of(&records).has(3));
        // Both did: the commits tell, if anything does.
        let records = [
            at(2, "improved", "s"),
            at(2, "improved", "t"),
            undo(3, 2, "u"),
        ];
        assert_eq!(told(&records, &[]), ["", "", ""]);
        assert_eq!(told(&records, &["t-2", "x"]), ["", by_3, takes_2]);
        assert_eq!(told(&records, &["s-2", "t-2"]), ["", "", ""]);
        // What came to the history behind it cannot be meant.
        let records = [
            at(2, "improved", "s"),
            undo(3, 2, "u"),
            undo(4, 3, "v"),
            at(2, "improved", "t"),
        ];
        let back = "brings back the change of cycle 2";
        assert_eq!(
            told(&records, &[]),
            ["brought back by cycle 4", "taken back by cycle 4", back, ""]
        );
        let first = TakenBack::of(&records)
            .first(&records[2], &records)
            .cloned();
        assert_eq!(first.as_ref(), Some(&records[0]));
    }

    #[test]
    fn the_commit_of_an_undo_names_what_it_takes_back() {
        let commits = ["abc shout one".to_owned(), "def two".to_owned()];
        let message = undo_message(3, "take back cycle 3", &commits);
        assert_eq!(
            message,
            "evolve: take back cycle 3\n\nTakes back\nabc shout one\ndef two\n\nEvolve-Undoes: 3\n"
        );
        assert_eq!(commits_taken_back(&message), ["abc", "def"]);
        assert_eq!(commits_taken_back("anything\n\nelse"), [""; 0]);
    }

    #[test]
    fn of_an_undo_that_is_taken_back_it_is_told_whose_change_comes_back() {
        let mut records = vec![record(1, "a", "improved", "claude"), undo(2, 1)];
        let told = |records: &[Record]| -> Vec<Option<String>> {
            let taken_back = TakenBack::of(records);
            records.iter().map(|one| taken_back.words(one)).collect()
        };
        let turn = |records: &[Record], cycle: u64| {
            let mut those = records.iter().filter(|one| one.cycle == cycle);
            TakenBack::of(records).turn(those.next().expect("a record"))
        };
        let some = |words: &str| Some(words.to_owned());
        assert_eq!(
            told(&records),
            [
                some("taken back by cycle 2"),
                some("takes back the change of cycle 1"),
            ]
        );
        assert_eq!(turn(&records, 1), None);
        assert_eq!(turn(&records, 2), Some(Turn::Back(1)));
        records.push(undo(3, 2));
        assert_eq!(
            told(&records),
            [
                some("brought back by cycle 3"),
                some("taken back by cycle 3"),
                some("brings back the change of cycle 1"),
            ]
        );
        assert_eq!(turn(&records, 3), Some(Turn::GoneAgain(1)));
        records.push(undo(4, 3));
        assert_eq!(
            told(&records),
            [
                some("taken back by cycle 2"),
                some("brought back by cycle 4"),
                some("taken back by cycle 4"),
                some("takes the change of cycle 1 back again"),
            ]
        );
        // No record can have been taken back by an earlier one.
        assert_eq!(turn(&[undo(1, 2), undo(2, 1)], 1), None);
    }
}
