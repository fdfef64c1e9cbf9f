//! A snapshot's measurements, held against themselves, the goals' thresholds and the snapshot that they were taken over from.

use super::some_of;
use super::witness::{Sight, Witness};
use crate::model::goals::{Continuous, Direction, Goal, Goals};
use crate::model::ledger as names;
use crate::model::measuring::SKIPS;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text;

/// How much of a number may get lost where it is written and read again.
const LOST: f64 = 1e-12;

/// Finds measurements of a snapshot whose result is not what exit code, value and threshold come to.
pub(super) fn of_measurements(
    name: &str,
    snapshot: &Snapshot,
    goals: Option<&Goals>,
) -> Vec<String> {
    let wrong = |goal: &Measurement| {
        let known = goals.and_then(|goals| goals.find(&goal.id));
        let why = of_exit(goal).or_else(|| of_value(goal, known?))?;
        Some(format!(
            "{} of the {name} snapshot is {} {why}",
            text::clean_line(&goal.id),
            goal.result.word()
        ))
    };
    snapshot.goals.iter().filter_map(wrong).collect()
}

fn of_exit(goal: &Measurement) -> Option<String> {
    if goal.attempts == 0 {
        return Some("and was never run".to_owned());
    }
    let fits = match (goal.result, goal.exit) {
        (CheckResult::Pass, exit) => exit == Some(0),
        (CheckResult::Skip, exit) => exit.is_some_and(|code| SKIPS.contains(&code)),
        (CheckResult::Fail, exit) => exit.is_none_or(|code| !SKIPS.contains(&code)),
    };
    (!fits).then(|| match goal.exit {
        Some(code) => format!("with exit {code}"),
        None => "without an exit code".to_owned(),
    })
}

fn of_value(goal: &Measurement, known: &Goal) -> Option<String> {
    if known.continuous.is_none() && goal.value.is_some() {
        return Some("with a value, which the goal has none of".to_owned());
    }
    let with_direction = |it: &&Continuous| it.direction.is_some();
    let Some(continuous) = known.continuous.as_ref().filter(with_direction) else {
        let is_odd = goal.result == CheckResult::Fail && goal.exit == Some(0);
        return is_odd.then(|| "with exit 0".to_owned());
    };
    let threshold = text::number(continuous.threshold?);
    let direction = continuous.direction.map_or("", Direction::word);
    match (goal.result, goal.value, goal.exit) {
        (CheckResult::Pass, None, _) => Some(format!(
            "without a value, where {direction} {threshold} is wanted"
        )),
        (CheckResult::Pass, Some(value), _) if !is_met(continuous, value, bool::max) => Some(
            format!("at {value}, where {direction} {threshold} is wanted"),
        ),
        (CheckResult::Fail, Some(value), Some(0)) if is_met(continuous, value, bool::min) => Some(
            format!("at {value} and exit 0, where {direction} {threshold} is wanted"),
        ),
        _ => None,
    }
}

/// Says whether a value meets the threshold, where a number a little smaller and one a little greater may be meant: one of them
/// has to, or both.
fn is_met(continuous: &Continuous, value: f64, join: fn(bool, bool) -> bool) -> bool {
    let lost = LOST * value.abs();
    join(
        continuous.is_met_by(value - lost),
        continuous.is_met_by(value + lost),
    )
}

/// Holds goals, weights and thresholds of a snapshot against the goals that were measured.
pub(super) fn of_definitions(name: &str, snapshot: &Snapshot, goals: &Goals) -> Vec<String> {
    let mut found = Vec::new();
    let measured = snapshot
        .goals
        .iter()
        .map(|goal| (goal.id.as_str(), goal.weight));
    let wanted = goals
        .goals
        .iter()
        .map(|goal| (goal.id.as_str(), goal.weight));
    if !measured.eq(wanted) {
        found.push(format!(
            "the goals and weights of the {name} snapshot are not those of the start's goals file"
        ));
    }
    let is_moved = |goal: &&Goal| {
        let measured = snapshot.find(&goal.id);
        measured.is_some_and(|measured| measured.threshold != goal.threshold())
    };
    let moved: Vec<_> = goals.goals.iter().filter(is_moved).collect();
    if !moved.is_empty() {
        let ids: Vec<_> = moved.iter().map(|goal| goal.id.clone()).collect();
        found.push(format!(
            "thresholds of the {name} snapshot are not those of the start's goals file: {}",
            some_of(&ids)
        ));
    }
    found
}

/// Says that the goals that were measured are nowhere.
pub(super) fn of_other_goals(name: &str) -> String {
    format!(
        "the goals_digest of the {name} snapshot is that of no goals file of its start; if the goals lie outside the repository, name their file with --goals"
    )
}

/// Holds what a first snapshot took over against the snapshot that it names.
pub(super) fn of_origin(witness: &Witness<'_>, which: &str, snapshot: &Snapshot) -> Vec<String> {
    let Some(name) = &snapshot.taken_from else {
        return Vec::new();
    };
    let shown = text::clean_line(name);
    let says = format!("the {which} snapshot says that it was taken over from {shown}");
    let path = format!("{}/{name}", names::FOLDER);
    let earlier = names::cycle_of_snapshot(&path).filter(|_| name.ends_with("-post.json"));
    let is_before = earlier.is_some_and(|cycle| cycle < witness.record.cycle);
    if which != "first" || !(is_before || path == names::BASELINE) {
        return vec![format!("{says}, which is no second snapshot of before")];
    }
    match &witness.origin {
        // The oldest leave the tree.
        Sight::Gone
            if earlier.is_some_and(|it| it + names::SNAPSHOTS_KEPT <= witness.record.cycle) =>
        {
            Vec::new()
        }
        Sight::Gone => vec![format!("{says}, which is not there")],
        Sight::Unseen => Vec::new(),
        Sight::Seen(Err(why)) => vec![format!("{says}, which cannot be read: {why}")],
        Sight::Seen(Ok(origin)) => {
            let differs = differing(origin, snapshot);
            match differs.is_empty() {
                true => Vec::new(),
                false => vec![format!("{says}, and differs in {}", some_of(&differs))],
            }
        }
    }
}

/// Names what is another thing than where it was taken over from: the time, the goals file, or goals that were not measured once more.
fn differing(origin: &Snapshot, taken: &Snapshot) -> Vec<String> {
    let time = (origin.timestamp != taken.timestamp).then(|| "timestamp".to_owned());
    let is_same = |one: &Measurement, other: &Measurement| {
        (one.result, one.value.map(f64::to_bits), one.exit)
            == (other.result, other.value.map(f64::to_bits), other.exit)
    };
    let measured_once = taken.goals.iter().filter(|goal| goal.attempts < 2);
    let others = measured_once
        .filter(|goal| origin.find(&goal.id).is_none_or(|was| !is_same(was, goal)))
        .map(|goal| goal.id.clone());
    let digest = (origin.goals_digest != taken.goals_digest).then(|| "goals_digest".to_owned());
    time.into_iter().chain(digest).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;
    use crate::model::record::read_record;
    use crate::model::snapshot::CheckResult::{Fail, Pass, Skip};

    const GOALS: &str = "version: 1\ngoals:\n  - {id: a, description: d, check: c, weight: 5, continuous: {metric: m, threshold: 10, direction: at-least}}\n  - {id: b, description: d, check: c, weight: 5}\n";

    fn measured(
        id: &str,
        result: CheckResult,
        exit: Option<i32>,
        value: Option<f64>,
    ) -> Measurement {
        Measurement {
            id: id.to_owned(),
            result,
            weight: 5,
            value,
            threshold: None,
            duration_s: 0.0,
            reason: None,
            exit,
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        }
    }

    fn snapshot(goals: Vec<Measurement>) -> Snapshot {
        Snapshot::new(Some(1), "t".into(), None, "d".into(), goals)
    }

    #[test]
    fn what_was_taken_over_comes_from_a_second_snapshot_of_before_which_may_have_left_the_tree() {
        let told = |cycle: u64, name: &str, origin: Sight<Result<Snapshot, String>>| {
            let line = format!(
                r#"{{"format":1,"cycle":{cycle},"goal_id":null,"result":"idle","commit_sha":"c","reverted_to":null,"goals_passing":0,"goals_total":0,"goals_added":0,"timestamp":"t"}}"#
            );
            let record = read_record(&line).expect("a record");
            let witness = Witness {
                record: &record,
                recorder: None,
                commit: Sight::Unseen,
                start: Sight::Unseen,
                snapshots: [Sight::Unseen, Sight::Unseen],
                goals: Sight::Unseen,
                origin,
                added: None,
                differs_in: vec![],
            };
            let mut taken = snapshot(vec![]);
            taken.taken_from = Some(name.to_owned());
            of_origin(&witness, "first", &taken).join("; ")
        };
        let gone = |cycle, name| told(cycle, name, Sight::Gone);
        assert_eq!(told(7, "fitness-6-post.json", Sight::Unseen), "");
        assert!(told(7, "fitness-7-post.json", Sight::Unseen).contains("no second snapshot"));
        let oldest_kept = names::SNAPSHOTS_KEPT + 5;
        assert_eq!(gone(oldest_kept + 1, "fitness-6-post.json"), "");
        assert!(gone(oldest_kept, "fitness-6-post.json").ends_with("which is not there"));
        assert!(gone(7, "fitness-6-post.json").ends_with("which is not there"));
    }

    #[test]
    fn a_result_is_what_exit_code_value_and_threshold_come_to() {
        let goals = goals::read_goals("GOALS.yaml", GOALS.as_bytes()).unwrap().0;
        for (id, result, exit, value, wrong) in [
            ("b", Pass, Some(0), None, None),
            ("b", Pass, Some(1), None, Some("pass with exit 1")),
            ("b", Pass, None, None, Some("pass without an exit code")),
            (
                "b",
                Pass,
                Some(0),
                Some(1.0),
                Some("pass with a value, which the goal has none of"),
            ),
            ("b", Fail, None, None, None),
            ("b", Fail, Some(1), None, None),
            ("b", Fail, Some(0), None, Some("fail with exit 0")),
            ("b", Fail, Some(127), None, Some("fail with exit 127")),
            ("b", Skip, Some(77), None, None),
            ("b", Skip, Some(0), None, Some("skip with exit 0")),
            ("a", Pass, Some(0), Some(10.0), None),
            ("a", Pass, Some(0), Some(10.0 - 5e-12), None),
            (
                "a",
                Pass,
                Some(0),
                Some(1.0),
                Some("pass at 1, where at-least 10 is wanted"),
            ),
            (
                "a",
                Pass,
                Some(0),
                None,
                Some("pass without a value, where at-least 10 is wanted"),
            ),
            ("a", Fail, Some(0), Some(9.0), None),
            ("a", Fail, Some(0), None, None),
            ("a", Fail, Some(3), Some(50.0), None),
            ("a", Fail, Some(0), Some(10.0), None),
            (
                "a",
                Fail,
                Some(0),
                Some(50.0),
                Some("fail at 50 and exit 0, where at-least 10 is wanted"),
            ),
            ("unknown", Pass, Some(0), None, None),
        ] {
            let measured = snapshot(vec![measured(id, result, exit, value)]);
            let found = of_measurements("second", &measured, Some(&goals));
            let wrong = wrong.map(|wrong| format!("{id} of the second snapshot is {wrong}"));
            assert_eq!(
                found,
                Vec::from_iter(wrong),
                "{id} {result:?} {exit:?} {value:?}"
            );
        }
        let mut never = measured("b", Pass, Some(0), None);
        never.attempts = 0;
        let found = of_measurements("first", &snapshot(vec![never]), None);
        assert_eq!(found, ["b of the first snapshot is pass and was never run"]);
    }

    #[test]
    fn what_was_taken_over_is_the_same_but_for_what_was_measured_again() {
        let origin = snapshot(vec![
            measured("a", Fail, Some(1), None),
            measured("b", Pass, Some(0), None),
        ]);
        assert_eq!(differing(&origin, &origin), Vec::<String>::new());
        let mut again = origin.clone();
        again.goals[0].exit = Some(2);
        assert_eq!(differing(&origin, &again), ["a"]);
        again.goals[0].attempts = 2;
        assert_eq!(differing(&origin, &again), Vec::<String>::new());
        again.timestamp = "u".to_owned();
        again.goals[1].id = "c".to_owned();
        assert_eq!(differing(&origin, &again), ["timestamp", "c"]);
    }
}
