//! What a session recorded: what its cycles came to, and the newest of its records. A night may have thousands of cycles; what is kept of
//! them here does not grow with them.

use std::collections::VecDeque;

use super::{CycleResult, Record};
use crate::model::text;

/// How many records are kept.
const KEPT: usize = 200;

/// The results in the order in which they are counted.
const RESULTS: [CycleResult; 7] = [
    CycleResult::Improved,
    CycleResult::Harvested,
    CycleResult::Unchanged,
    CycleResult::Regressed,
    CycleResult::Failed,
    CycleResult::Interrupted,
    CycleResult::Idle,
];

/// How many cycles came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; RESULTS.len()]);

impl Tally {
    /// Returns how many cycles there were.
    pub fn len(&self) -> usize {
        self.0.iter().sum()
    }

    /// Says whether there was none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many cycles there were and what they came to: `5 cycles: 3 improved, 1 regressed, 1 idle`.
    pub fn words(&self) -> String {
        let cycles = text::count(self.len(), "cycle");
        let counts = RESULTS.iter().zip(self.0);
        let counts = counts.filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(result, count)| format!("{count} {}", result.word()))
            .collect();
        match counts.is_empty() {
            true => cycles,
            false => format!("{cycles}: {}", counts.join(", ")),
        }
    }

    fn of(&mut self, result: CycleResult) -> &mut usize {
        let at = RESULTS.iter().position(|it| *it == result);
        &mut self.0[at.expect("BUG: each result is counted")]
    }
}

impl FromIterator<CycleResult> for Tally {
    fn from_iter<I: IntoIterator<Item = CycleResult>>(results: I) -> Tally {
        let mut tally = Tally::default();
        results.into_iter().for_each(|it| *tally.of(it) += 1);
        tally
    }
}

/// What a session recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    tally: Tally,
    newest: VecDeque<Record>,
}

impl Recorded {
    /// Adds a record.
    pub fn add(&mut self, record: Record) {
        *self.tally.of(record.result) += 1;
        self.newest.push_back(record);
        if self.newest.len() > KEPT {
            self.newest.pop_front();
        }
    }

    /// Takes the newest record back.
    pub fn take_back(&mut self) {
        if let Some(record) = self.newest.pop_back() {
            *self.tally.of(record.result) -= 1;
        }
    }

    /// Returns what all of the cycles came to.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the newest record.
    pub fn last(&self) -> Option<&Record> {
        self.newest.back()
    }

    /// Returns the newest records, oldest first.
    pub fn newest(&self) -> impl Iterator<Item = &Record> {
        self.newest.iter()
    }

    /// Returns the records that came after the first `count`, as far as they are kept.
    pub fn after(&self, count: usize) -> impl Iterator<Item = &Record> {
        let new = self.tally.len().saturating_sub(count);
        self.newest
            .iter()
            .skip(self.newest.len().saturating_sub(new))
    }

    /// Returns how many records are not kept any more.
    pub fn dropped(&self) -> usize {
        self.tally.len() - self.newest.len()
    }
}

impl FromIterator<Record> for Recorded {
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Recorded {
        let mut recorded = Recorded::default();
        records.into_iter().for_each(|it| recorded.add(it));
        recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::read_record;

    fn record(cycle: u64) -> Record {
        let result = if cycle.is_multiple_of(2) {
            "idle"
        } else {
            "failed"
        };
        read_record(&format!(
            r#"{{"cycle":{cycle},"goal_id":null,"result":"{result}","commit_sha":"c","goals_passing":0,"goals_total":1,"timestamp":"2026-02-11T21:00:00Z"}}"#
        ))
        .expect("a record")
    }

    fn cycles<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<u64> {
        records.map(|record| record.cycle).collect()
    }

    #[test]
    fn all_are_counted_and_the_newest_are_kept() {
        let mut recorded: Recorded = (1..=450).map(record).collect();
        assert_eq!(recorded.tally().words(), "450 cycles: 225 failed, 225 idle");
        assert_eq!(cycles(recorded.newest()), (251..=450).collect::<Vec<u64>>());
        assert_eq!(recorded.dropped(), 250);
        assert_eq!(cycles(recorded.after(448)), [449, 450]);
        assert_eq!(cycles(recorded.after(450)), [0; 0]);
        recorded.take_back();
        assert_eq!(recorded.tally().words(), "449 cycles: 225 failed, 224 idle");
        assert_eq!(recorded.last().map(|record| record.cycle), Some(449));
        let few: Recorded = (1..=3).map(record).collect();
        assert_eq!(cycles(few.newest()), [1, 2, 3]);
        assert_eq!(cycles(few.after(1)), [2, 3]);
        assert_eq!(few.dropped(), 0);
        assert!(Recorded::default().tally().is_empty());
        assert_eq!(Tally::default().words(), "0 cycles");
    }
}
