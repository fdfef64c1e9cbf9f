//! When a cycle was recorded and measured, held against when its session began and when its commit was made.

use chrono::DateTime;

use super::witness::{Witness, snapshot_of};
use crate::model::record::times::{began, moment};
use crate::model::text;

/// How far two times of one history may disagree, in seconds: clocks are set while a session runs, by hours where two systems
/// share a machine.
const LEEWAY: i64 = 24 * 60 * 60;

/// Holds the times of a record and its snapshots against its session's name and its commit's date. In which of them a clock was
/// set does not matter: what lies far outside of both was made up.
pub(super) fn of_times(witness: &Witness<'_>) -> Vec<String> {
    let (record, Some(recorder)) = (witness.record, &witness.recorder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let began = record.session.as_deref().map(began);
    if began == Some(None) {
        let name = text::clean_line(record.session.as_deref().unwrap_or_default());
        found.push(format!("session is {name}, which no session is called"));
    }
    let Some(made) = moment(&record.timestamp) else {
        let timestamp = text::clean_line(&record.timestamp);
        found.push(format!("timestamp is {timestamp}, which is no time"));
        return found;
    };
    let began = began.flatten().unwrap_or(made.min(recorder.time));
    if !is_between(made, began, recorder.time) {
        found.push(format!(
            "timestamp is {} in the record, its session began at {} and its commit was made at {}",
            record.timestamp,
            shown(began),
            shown(recorder.time)
        ));
        return found;
    }
    for (which, name) in ["first", "second"].into_iter().enumerate() {
        // What was taken over is of earlier, and held against where it comes from.
        let snapshot = snapshot_of(witness, which).filter(|it| it.taken_from.is_none());
        let Some(timestamp) = snapshot.map(|snapshot| &snapshot.timestamp) else {
            continue;
        };
        match moment(timestamp) {
            Some(taken) if is_between(taken, began, made) => {}
            Some(_) => found.push(format!(
                "timestamp is {timestamp} in the {name} snapshot, its session began at {} and the record was made at {}",
                shown(began),
                record.timestamp
            )),
            None => found.push(format!(
                "timestamp is {} in the {name} snapshot, which is no time",
                text::clean_line(timestamp)
            )),
        }
    }
    found
}

fn is_between(time: i64, one: i64, other: i64) -> bool {
    let (first, last) = (one.min(other), one.max(other));
    time >= first.saturating_sub(LEEWAY) && time <= last.saturating_add(LEEWAY)
}

fn shown(seconds: i64) -> String {
    let time = DateTime::from_timestamp(seconds, 0);
    time.map_or_else(
        || seconds.to_string(),
        |time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_when_it_began() {
        let wanted = moment("2026-02-03T04:05:06Z");
        assert!(wanted.is_some());
        assert_eq!(began("20260203T040506Z-7188"), wanted);
        for name in ["", "x", "20260203T040506Z", "2026-02-03T04:05:06Z-1"] {
            assert_eq!(began(name), None, "{name}");
        }
        assert_eq!(wanted.map(shown).as_deref(), Some("2026-02-03T04:05:06Z"));
    }

    #[test]
    fn between_two_times_is_whichever_of_them_comes_first() {
        for (time, ends, is_fine) in [
            (5, (0, 10), true),
            (5, (10, 0), true),
            (-LEEWAY, (0, 10), true),
            (10 + LEEWAY, (10, 0), true),
            (-LEEWAY - 1, (0, 10), false),
            (11 + LEEWAY, (0, 10), false),
            (0, (i64::MIN, i64::MAX), true),
        ] {
            let (one, other) = ends;
            assert_eq!(is_between(time, one, other), is_fine, "{time} {ends:?}");
        }
    }
}
