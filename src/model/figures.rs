//! The figures of a record, held against those of its snapshots. Pure.

use crate::model::record::{CycleResult, Record};
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};

/// Returns what is known of the repository since an undone cycle: the first measurement, but for the goals that were measured once
/// more, and failed without the change, too.
pub fn known_since(record: &Record, before: &Snapshot) -> Snapshot {
    let mut snapshot = before.clone();
    for id in record.still_failing() {
        let passed = before.find(id).filter(|_| before.passes(id)).cloned();
        if let Some(goal) = passed {
            snapshot.replace(Measurement {
                result: CheckResult::Fail,
                value: None,
                reason: Some("it failed without the undone change, too".to_owned()),
                ..goal
            });
        }
    }
    snapshot
}

/// Returns the figures of a record that are not those of the last snapshot of its cycle: field, record's, snapshot's.
pub fn counts(record: &Record, snapshot: &Snapshot) -> Vec<(&'static str, String, String)> {
    let score = record.score_after.map_or(snapshot.score, |score| score);
    [
        (
            "goals_passing",
            record.goals_passing.to_string(),
            snapshot.goals_passing.to_string(),
        ),
        (
            "goals_total",
            record.goals_total.to_string(),
            snapshot.goals_total.to_string(),
        ),
        ("score_after", score.to_string(), snapshot.score.to_string()),
    ]
    .into_iter()
    .filter(|(_, said, is)| said != is)
    .collect()
}

/// Says that a figure of a record is not that of a snapshot.
pub fn differs(
    field: &str,
    said: impl std::fmt::Display,
    name: &str,
    is: impl std::fmt::Display,
) -> String {
    format!("{field} is {said} in the record and {is} in the {name} snapshot")
}

/// Says that a snapshot does not come to its own figures.
pub fn miscounted(name: &str, snapshot: &Snapshot) -> Option<String> {
    let mut counted = snapshot.clone();
    counted.recount();
    let figures = |it: &Snapshot| (it.goals_passing, it.goals_total, it.score.to_bits());
    (figures(&counted) != figures(snapshot)).then(|| {
        format!(
            "the {name} snapshot says {} of {} and score {}, its goals come to {} of {} and score {}",
            snapshot.goals_passing,
            snapshot.goals_total,
            snapshot.score,
            counted.goals_passing,
            counted.goals_total,
            counted.score
        )
    })
}

/// Says what of a record its snapshots tell otherwise: score before the cycle, score and counts after it.
pub fn of_record(
    record: &Record,
    before: Option<&Snapshot>,
    last: Option<(&str, &Snapshot)>,
) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(said), Some(before)) = (record.score_before, before)
        && said.to_bits() != before.score.to_bits()
    {
        found.push(differs("score_before", said, "first", before.score));
    }
    // A cycle that was cut short may have measured more than its record could tell.
    let is_cut = record.result == CycleResult::Interrupted;
    let agrees_with = |snapshot: &Snapshot| counts(record, snapshot).is_empty();
    if let Some((name, last)) = last
        && !(is_cut && before.is_some_and(agrees_with))
    {
        let counts = counts(record, last).into_iter();
        found.extend(counts.map(|(field, said, is)| differs(field, said, name, is)));
    }
    found
}

/// Says what keeps the snapshots of a cycle from being those of its record, if anything does: the first of it.
pub fn contradiction(
    record: &Record,
    before: Option<&Snapshot>,
    after: Option<&Snapshot>,
) -> Option<String> {
    let last = match (before, after) {
        (_, Some(after)) => Some(("second", after)),
        (Some(before), None) => Some(("first", before)),
        (None, None) => None,
    };
    let miscounted = [("first", before), ("second", after)]
        .into_iter()
        .find_map(|(name, snapshot)| miscounted(name, snapshot?));
    miscounted.or_else(|| of_record(record, before, last).into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::read_record;
    use crate::model::snapshot::{CheckResult, Measurement};

    fn snapshot(passing: usize) -> Snapshot {
        let goal = |number: usize| Measurement {
            id: format!("g{number}"),
            result: match number < passing {
                true => CheckResult::Pass,
                false => CheckResult::Fail,
            },
            weight: 5,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: None,
            exit: None,
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        };
        let goals = (0..4).map(goal).collect();
        Snapshot::new(Some(2), "t".into(), None, "d".into(), goals)
    }

    fn record(result: &str) -> Record {
        read_record(&format!(
            r#"{{"format":1,"cycle":2,"goal_id":"g1","result":"{result}","commit_sha":"c","reverted_to":null,"goals_passing":2,"goals_total":4,"goals_added":0,"timestamp":"t","score_before":25.0,"score_after":50.0}}"#
        ))
        .expect("a record")
    }

    #[test]
    fn snapshots_that_are_not_what_was_recorded_are_found() {
        let (one, two, all) = (snapshot(1), snapshot(2), snapshot(4));
        let mut lying = two.clone();
        lying.score = 100.0;
        let record = record("improved");
        let held = |before, after| contradiction(&record, before, after);
        assert_eq!(held(Some(&one), Some(&two)), None);
        assert_eq!(held(None, Some(&two)), None);
        assert_eq!(held(None, None), None);
        for (before, after, words) in [
            (
                Some(&one),
                Some(&all),
                "goals_passing is 2 in the record and 4 in the second snapshot",
            ),
            (
                Some(&all),
                Some(&two),
                "score_before is 25 in the record and 100 in the first snapshot",
            ),
            (
                Some(&one),
                None,
                "goals_passing is 2 in the record and 1 in the first snapshot",
            ),
            (
                Some(&one),
                Some(&lying),
                "the second snapshot says 2 of 4 and score 100, its goals come to 2 of 4 and score 50",
            ),
        ] {
            assert_eq!(held(before, after).as_deref(), Some(words));
        }
    }

    #[test]
    fn a_cycle_that_was_cut_short_may_have_measured_more_than_it_tells() {
        let mut record = record("interrupted");
        (record.goals_passing, record.score_after) = (1, Some(25.0));
        let (one, two) = (snapshot(1), snapshot(2));
        assert_eq!(contradiction(&record, Some(&one), Some(&two)), None);
        assert!(contradiction(&record, Some(&two), Some(&two)).is_some());
    }
}
