//! The records of a repository, as its history has them, and one line of it. Pure.

use serde::Deserialize;

use super::{CycleResult, LAST_CYCLE, Record};
use crate::model::mask::json_problem;

/// The records of a repository as read from its history, oldest first, and what could not be read.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The records of the active file, in the file's order.
    pub records: Vec<Record>,
    /// What is wrong with the file, in words, a line each.
    pub problems: Vec<String>,
}

/// How many problems of a history are named one by one; the rest is counted.
pub(super) const MOST_PROBLEMS: usize = 50;

/// The most bytes of a record that are read. None that is written comes near it: its longest lists name each goal of a file of
/// at most 256 KiB, and its words are cut.
pub(super) const LONGEST_LINE: usize = 1 << 20;
/// Reads one line of a history; the error says why it is no record.
pub fn read_record(line: &str) -> Result<Record, String> {
    if line.len() > LONGEST_LINE {
        let bytes = line.len();
        return Err(format!(
            "it has {bytes} bytes, more than the {LONGEST_LINE} that a record may have"
        ));
    }
    let record: Record = serde_json::from_str(line).map_err(|cause| json_problem(&cause))?;
    match record.cycle > LAST_CYCLE {
        true => Err(format!("{} is no number of a cycle", record.cycle)),
        false => Ok(record),
    }
}

/// Returns the lowest and the highest number of a cycle in the text of a history; none where no line has one. Of a line nothing but its
/// number is kept.
pub fn numbers(text: &str) -> Option<(u64, u64)> {
    #[derive(Deserialize)]
    struct Numbered {
        cycle: u64,
    }
    let read = |line: &str| -> Option<u64> {
        let line = line.trim_start_matches('\u{feff}');
        let numbered: Numbered = serde_json::from_str(line).ok()?;
        Some(numbered.cycle)
    };
    let all = text.lines().filter_map(read);
    all.fold(None, |range: Option<(u64, u64)>, cycle| {
        let (lowest, highest) = range.unwrap_or((cycle, cycle));
        Some((lowest.min(cycle), highest.max(cycle)))
    })
}

impl History {
    /// Reads the text of `cycle-history.jsonl`; lines that are no record are reported and left out. That several cycles have a
    /// number is no problem: branches that both ran were merged, and `evolve audit` notes which these are.
    pub fn parse(text: &str) -> History {
        let mut history = History::default();
        let mut problems = 0;
        let mut report = |line: usize, problem: String| {
            problems += 1;
            (problems <= MOST_PROBLEMS).then(|| format!("line {line}: {problem}"))
        };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() {
                continue;
            }
            let problem = match read_record(line) {
                Ok(record) => {
                    history.records.push(record);
                    None
                }
                Err(why) => Some(format!("not a record: {why}")),
            };
            let problem = problem.and_then(|problem| report(index + 1, problem));
            history.problems.extend(problem);
        }
        if problems > MOST_PROBLEMS {
            let more = problems - MOST_PROBLEMS;
            history.problems.push(format!("{more} more such lines"));
        }
        history
    }

    /// Returns the number of the next cycle: the highest so far, plus one.
    pub fn next_cycle(&self) -> u64 {
        self.records
            .iter()
            .map(|record| record.cycle)
            .max()
            .unwrap_or(0)
            + 1
    }

    /// Returns the newest record.
    pub fn newest(&self) -> Option<&Record> {
        self.records.last()
    }

    /// Returns how many idle cycles in a row, up to the newest record, found exactly `content`.
    pub fn idle_streak(&self, content: &str) -> usize {
        self.records
            .iter()
            .rev()
            .take_while(|record| {
                record.result == CycleResult::Idle && record.content.as_deref() == Some(content)
            })
            .count()
    }
}
