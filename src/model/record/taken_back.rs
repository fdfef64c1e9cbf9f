//! Which cycles' changes a person had taken back (`evolve undo`), and by which cycle. Pure.

use std::collections::BTreeMap;

use super::{AgentReport, CycleResult, NEXT_WORK, Record, UNDO};

/// The start of the title of the work that takes a cycle back; its number follows.
pub const UNDO_CYCLE: &str = "undo cycle ";

/// The cycles that took back what others changed, by the number of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack(BTreeMap<u64, u64>);

impl Record {
    /// Returns how the agent ended, if one was called: what takes a cycle back is none.
    pub fn called_agent(&self) -> Option<&AgentReport> {
        self.agent.as_ref().filter(|agent| agent.name != UNDO)
    }

    /// Returns the number of the cycle that this one took back.
    fn takes_back(&self) -> Option<u64> {
        let is_kept = self.result == CycleResult::Harvested && !self.is_undone();
        self.agent
            .as_ref()
            .filter(|agent| is_kept && agent.name == UNDO)?;
        let title = self.goal_id.as_deref()?.strip_prefix(NEXT_WORK)?;
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
        let mut taken_back = BTreeMap::new();
        for record in records.iter().rev() {
            if taken_back.contains_key(&record.cycle) || !is_one(&record.cycle) {
                continue;
            }
            if let Some(cycle) = record.takes_back().filter(is_one) {
                taken_back.entry(cycle).or_insert(record.cycle);
            }
        }
        TakenBack(taken_back)
    }

    /// Says whether the change of the cycle with this number was taken back.
    pub fn has(&self, cycle: u64) -> bool {
        self.0.contains_key(&cycle)
    }

    /// Says of a cycle's change which cycle took it back, in words; none if it stands.
    pub fn words(&self, record: &Record) -> Option<String> {
        let by = self.0.get(&record.cycle)?;
        Some(format!("taken back by cycle {by}"))
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
            let expected = TakenBack(expected.into_iter().collect());
            assert_eq!(TakenBack::of(&records), expected);
        }
    }
}
