//! When the checks of the last session ran after its last look at what they had changed. Pure.

use std::ops::RangeInclusive;

use super::times::{began, moment};
use super::{CycleResult, Record};

/// A span of time, in seconds since 1970.
pub type Span = RangeInclusive<i64>;

/// How many cycles are looked back on; a loop with nothing to do ends long before.
const MOST: usize = 100;

/// Returns the spans in which checks of these cycles ran without that the tracked files were compared by content since, newest
/// first: those of the newest cycle and, where no agent worked in it, of the ones before.
pub fn spans(records: &[Record]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut rest = records.iter().rev().take(MOST).peekable();
    while let Some(record) = rest.next() {
        if let Some(ended) = moment(&record.timestamp) {
            let last = rest.peek().filter(|last| last.session == record.session);
            let last = last.and_then(|last| moment(&last.timestamp));
            let began = record.session.as_deref().and_then(began);
            spans.push(last.max(began).unwrap_or(ended)..=ended);
        }
        let has_no_look = matches!(record.result, CycleResult::Idle | CycleResult::Interrupted);
        if !has_no_look {
            break;
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::tests::record;

    fn of(result: CycleResult, session: &str, time: &str) -> Record {
        Record {
            session: Some(session.to_owned()),
            timestamp: format!("2026-11-24T{time}Z"),
            ..record(1, result)
        }
    }

    /// The spans as seconds of that day.
    fn seen(records: &[Record]) -> Vec<Span> {
        let day = moment("2026-11-24T00:00:00Z").unwrap();
        let spans = spans(records).into_iter();
        spans.map(|it| it.start() - day..=it.end() - day).collect()
    }

    #[test]
    fn checks_ran_unseen_from_the_last_cycle_with_an_agent_to_the_end_of_their_sessions() {
        use CycleResult::{Idle, Improved, Interrupted};
        let (first, second) = ("20261124T000010Z-1", "20261124T000100Z-2");
        let all = [
            of(Improved, first, "00:00:20"),
            of(Improved, first, "00:00:30"),
            of(Idle, first, "00:00:35"),
            of(Interrupted, second, "00:01:10"),
            of(Idle, second, "00:01:15"),
        ];
        assert_eq!(seen(&all[..1]), [10..=20]);
        assert_eq!(seen(&all[..2]), [20..=30]);
        assert_eq!(seen(&all), [70..=75, 60..=70, 30..=35, 20..=30]);
        assert_eq!(seen(&[]), []);
    }

    #[test]
    fn a_record_that_does_not_say_when_it_began_counts_for_the_moment_it_was_made() {
        use CycleResult::{Idle, Improved};
        let odd = [
            of(Improved, "by hand", "00:00:20"),
            of(Idle, "20261124T000010Z-1", "never"),
        ];
        assert_eq!(seen(&odd), [20..=20]);
    }
}
