//! Which cycles' changes a person had taken back (`evolve undo`), and by which cycle. Pure.

use std::collections::BTreeMap;

use super::{AgentReport, CycleResult, NEXT_WORK, Record, STILL_FAILS, UNDO};
use crate::model::yardstick::LEANED_ON;

/// The start of the title of the work that takes a cycle back; its number follows.
pub const UNDO_CYCLE: &str = "undo cycle ";
/// How an undo whose change was not let in is called.
pub const REFUSED: &str = "refused";

/// The cycles that took back what others changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// By the number of the other, as it stands: who took it back.
    by: BTreeMap<u64, u64>,
    /// By their own number, also of those that were taken back themselves: what they took back.
    of: BTreeMap<u64, u64>,
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

impl TakenBack {
    /// Reads the records of all cycles, oldest first. What took something back may have been taken back itself. A number that
    /// several cycles have says nothing.
    pub fn of(records: &[Record]) -> TakenBack {
        let mut times: BTreeMap<u64, usize> = BTreeMap::new();
        for record in records {
            *times.entry(record.cycle).or_default() += 1;
        }
        let is_one = |cycle: &u64| times.get(cycle) == Some(&1);
        let mut taken_back = TakenBack::default();
        for record in records.iter().rev() {
            let number = record.cycle;
            // Only what came before can have been taken back.
            let cycle = record.takes_back().filter(|cycle| *cycle < number);
            let Some(cycle) = cycle.filter(is_one).filter(|_| is_one(&number)) else {
                continue;
            };
            taken_back.of.insert(number, cycle);
            if !taken_back.by.contains_key(&number) {
                taken_back.by.entry(cycle).or_insert(number);
            }
        }
        taken_back
    }

    /// Says whether the change of the cycle with this number was taken back.
    pub fn has(&self, cycle: u64) -> bool {
        self.by.contains_key(&cycle)
    }

    /// Says what it comes to if this cycle is taken back; none if it took nothing back itself.
    pub fn turn(&self, cycle: u64) -> Option<Turn> {
        let steps = std::iter::successors(self.of.get(&cycle), |cycle| self.of.get(cycle));
        let (number, first) = steps.fold((0, cycle), |(number, _), cycle| (number + 1, *cycle));
        match number {
            0 => None,
            odd if odd % 2 == 1 => Some(Turn::Back(first)),
            _ => Some(Turn::GoneAgain(first)),
        }
    }

    /// Says of a cycle's change which cycle took it back or brought it back, and of one that did so whose it was, in words.
    pub fn words(&self, record: &Record) -> Option<String> {
        let cycle = record.cycle;
        if let Some(by) = self.by.get(&cycle) {
            return Some(format!("taken back by cycle {by}"));
        }
        let brings_back = |(by, undo): &(&u64, &u64)| {
            !self.by.contains_key(by) && self.of.get(undo) == Some(&cycle)
        };
        if let Some((by, _)) = self.of.iter().rev().find(brings_back) {
            return Some(format!("brought back by cycle {by}"));
        }
        Some(match self.turn(*self.of.get(&cycle)?)? {
            Turn::Back(first) => format!("brings back the change of cycle {first}"),
            Turn::GoneAgain(first) => format!("takes the change of cycle {first} back again"),
        })
    }
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
            let expected: BTreeMap<u64, u64> = expected.into_iter().collect();
            assert_eq!(TakenBack::of(&records).by, expected);
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
            ("failed", Some("no change; the agent timed out"), None, false),
            ("failed", Some("declined: no"), Some("start"), true),
            ("interrupted", Some("somebody else committed"), None, false),
            ("idle", None, None, false),
        ] {
            let own = one(result, reason, back_to).own_commit().map(str::to_owned);
            assert_eq!(own.is_some(), is_own, "{result} {reason:?}");
        }
    }

    #[test]
    fn of_an_undo_that_is_taken_back_it_is_told_whose_change_comes_back() {
        let mut records = vec![record(1, "a", "improved", "claude"), undo(2, 1)];
        let told = |records: &[Record]| -> Vec<Option<String>> {
            let taken_back = TakenBack::of(records);
            records.iter().map(|one| taken_back.words(one)).collect()
        };
        let turn = |records: &[Record], cycle| TakenBack::of(records).turn(cycle);
        let some = |words: &str| Some(words.to_owned());
        assert_eq!(told(&records), [some("taken back by cycle 2"), None]);
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
