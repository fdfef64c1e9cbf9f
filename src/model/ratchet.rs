//! Thresholds that have more headroom than they need, and what they can become. Pure.

use crate::model::goals::{
    Continuous, Direction, Goal, Goals, Threshold, with_thresholds, written_threshold,
};
use crate::model::reading::{Reading, junit};
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::model::sweep::is_about_coverage;

/// The headroom in percent that a threshold may have: of a share, in points of a hundred.
pub const HEADROOM: f64 = 3.0;
/// The most decimals that a new threshold is given beyond those of the old one.
const MORE_DECIMALS: usize = 4;
/// The most zeros after the point that are written out before a digit.
const MOST_ZEROS: usize = 12;

/// Words of which one says that a number is a time.
const TIMES: [&str; 14] = [
    "time",
    "times",
    "duration",
    "latency",
    "runtime",
    "seconds",
    "second",
    "secs",
    "sec",
    "milliseconds",
    "ms",
    "us",
    "ns",
    "minutes",
];

/// From here on a number has more digits than it has meaning: it is not written out.
const TOO_LARGE: f64 = 1e15;

/// What is to become of the threshold of one goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Notch {
    /// The goal.
    pub id: String,
    /// Which side of the threshold is good.
    pub direction: Direction,
    /// The threshold as it is.
    pub old: f64,
    /// What was measured, if anything was.
    pub actual: Option<f64>,
    /// The distance between both in percent (of coverage: in points), if it passes and there is one.
    pub headroom: Option<f64>,
    /// The same in percent of the threshold, whatever it is of.
    pub percent: Option<f64>,
    /// It is a time, measured once, and nothing lets a slow run pass.
    pub is_shaky: bool,
    /// What it becomes, or why it stays.
    pub new: Result<String, &'static str>,
}

/// Returns what is to become of each threshold of a goals file, whose text is `text`, in the file's order.
pub fn notches(goals: &Goals, text: &str, measured: &Snapshot) -> Vec<Notch> {
    let notch = |goal: &Goal| {
        let continuous = goal.continuous.as_ref()?;
        let (old, direction) = (continuous.threshold?, continuous.direction?);
        let found = measured.find(&goal.id)?;
        let passes = found.result == CheckResult::Pass && continuous.is_met_by(found.value?);
        let passing = found.value.filter(|_| passes);
        let headroom = passing.and_then(|value| headroom(goal, value, old));
        let percent = passing.and_then(|value| percent(value, old));
        let new = match found.value {
            _ if !passes => Err("it fails"),
            _ if found.flaky => Err("it is flaky"),
            Some(value) if is_much(headroom, value, old) => {
                new_threshold(goal, continuous, text, value)
            }
            Some(_) | None => Err("little headroom"),
        };
        Some(Notch {
            id: goal.id.clone(),
            direction,
            old,
            actual: found.value,
            headroom,
            percent,
            is_shaky: continuous.tolerance == 0.0 && is_about_time(goal, continuous),
            new,
        })
    };
    goals.goals.iter().filter_map(notch).collect()
}

/// Returns what the threshold becomes by what was measured, as it is to stand in the file; else why it stays.
fn new_threshold(
    goal: &Goal,
    continuous: &Continuous,
    text: &str,
    value: f64,
) -> Result<String, &'static str> {
    if value.abs() >= TOO_LARGE {
        return Err("it is too large to be written out");
    }
    let written = written_threshold(text, &goal.id).ok_or("an alias stands there")?;
    let new = tightened(goal, continuous, &written, value).ok_or("no number lies between")?;
    let alone = Threshold {
        id: goal.id.clone(),
        text: new.clone(),
    };
    match with_thresholds(text, &[alone]) {
        Ok(_) => Ok(new),
        Err(_) => Err("it is shared with other goals"),
    }
}

/// Returns the distance of a value from its threshold in percent; none where the threshold is nothing to measure by.
fn headroom(goal: &Goal, value: f64, threshold: f64) -> Option<f64> {
    let distance = (value - threshold).abs();
    match is_about_coverage(goal) {
        // Of a share between 0 and 1 as of one between 0 and 100.
        true if threshold.abs() <= 1.0 && value.abs() <= 1.0 => Some(distance * 100.0),
        true => Some(distance).filter(|points| points.is_finite()),
        false => percent(value, threshold),
    }
}

/// Returns the distance of a value from its threshold in percent of that; none where that is 0.
fn percent(value: f64, threshold: f64) -> Option<f64> {
    let percent = (value - threshold).abs() / threshold.abs() * 100.0;
    Some(percent).filter(|percent| threshold != 0.0 && percent.is_finite())
}

/// Says whether a goal's number is how long something takes, by where it is read or by what it is called.
fn is_about_time(goal: &Goal, continuous: &Continuous) -> bool {
    let called = [Some(goal.id.as_str()), continuous.metric.as_deref()];
    let is_called_so = || {
        let words = called.iter().flatten();
        let mut words = words.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        words.any(|word| TIMES.contains(&word.to_lowercase().as_str()))
    };
    match &continuous.read {
        Reading::Hyperfine { .. } | Reading::Criterion { .. } => true,
        Reading::Junit { of, .. } => *of == junit::Of::Time,
        Reading::Lcov { .. } | Reading::Cobertura { .. } | Reading::Sarif { .. } => false,
        Reading::LastNumber | Reading::Regex(_) | Reading::Json { .. } => is_called_so(),
    }
}

fn is_much(headroom: Option<f64>, value: f64, threshold: f64) -> bool {
    match headroom {
        Some(percent) => percent > HEADROOM + 1e-9,
        None => value != threshold,
    }
}

/// Returns the tightest threshold that `value` meets with as many decimals as the old one is written with, or a few more where that
/// would not be tighter, or would leave much headroom.
fn tightened(goal: &Goal, continuous: &Continuous, written: &str, value: f64) -> Option<String> {
    let old = continuous.threshold?;
    let direction = continuous.direction?;
    let decimals = decimals_of(written);
    // Zeros that a small number begins with say nothing.
    let zeros = match value.abs().log10() {
        log if log.is_finite() && log < 0.0 => (-log).ceil() as usize,
        _ => 0,
    };
    let most = decimals + MORE_DECIMALS + zeros.min(MOST_ZEROS);
    let candidates = (decimals..=most).filter_map(|decimals| {
        let text = rounded(value, decimals, direction)?;
        let number: f64 = text.parse().ok()?;
        let is_tighter = match direction {
            Direction::AtLeast => number > old,
            Direction::AtMost => number < old,
        };
        (is_tighter && is_met(direction, value, number)).then_some((text, number))
    });
    let mut tightest = None;
    for (text, number) in candidates {
        let is_done = !is_much(headroom(goal, value, number), value, number);
        tightest = Some(text);
        if is_done {
            break;
        }
    }
    tightest
}

fn decimals_of(written: &str) -> usize {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match written.split_once('.') {
        Some((_, part)) if digits(part) => part.len(),
        Some(_) | None => 0,
    }
}

fn is_met(direction: Direction, value: f64, threshold: f64) -> bool {
    match direction {
        Direction::AtLeast => value >= threshold,
        Direction::AtMost => value <= threshold,
    }
}

/// Returns the value with so many decimals, rounded to the side on which it meets the result.
fn rounded(value: f64, decimals: usize, direction: Direction) -> Option<String> {
    let text = format!("{value:.decimals$}");
    let near: f64 = text.parse().ok()?;
    if is_met(direction, value, near) {
        return Some(text);
    }
    let step = 10f64.powi(-i32::try_from(decimals).ok()?);
    let other = match direction {
        Direction::AtLeast => near - step,
        Direction::AtMost => near + step,
    };
    Some(format!("{other:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals::read_goals;
    use crate::model::snapshot::Measurement;
    use proptest::prelude::*;

    fn notch(id: &str, written: &str, direction: &str, value: Option<f64>, passes: bool) -> Notch {
        let text = format!(
            "goals:\n  - {{id: {id}, description: d, check: c, weight: 5, continuous: {{threshold: {written}, direction: {direction}}}}}\n"
        );
        let (goals, _) = read_goals("GOALS.yaml", text.as_bytes()).expect("valid goals");
        let measurement = Measurement {
            id: id.to_owned(),
            result: if passes {
                CheckResult::Pass
            } else {
                CheckResult::Fail
            },
            weight: 5,
            value,
            threshold: goals.goals[0].threshold(),
            duration_s: 0.0,
            reason: None,
            exit: Some(0),
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        };
        let snapshot = Snapshot::new(None, "t".into(), None, "d".into(), vec![measurement]);
        notches(&goals, &text, &snapshot).remove(0)
    }

    #[test]
    fn what_has_headroom_becomes_what_was_measured_and_never_tighter() {
        for (id, written, direction, value, expected) in [
            ("size", "80", "at-least", 85.7, Ok("85")),
            ("size", "80.0", "at-least", 85.74, Ok("85.7")),
            ("size", "80.0", "at-least", 85.75, Ok("85.7")),
            ("size", "80", "at-least", 82.4, Err("little headroom")),
            ("size", "80", "at-least", 80.0, Err("little headroom")),
            ("size", "100", "at-most", 90.2, Ok("91")),
            ("size", "3", "at-least", 4.9, Ok("4.9")),
            ("size", "1e-3", "at-most", 0.000_42, Ok("0.00042")),
            ("size", "0.50", "at-most", 0.311, Ok("0.32")),
            ("size", "1", "at-most", 0.6, Ok("0.6")),
            ("size", "1", "at-most", 0.0, Ok("0")),
            ("size", "0", "at-most", 0.0, Err("little headroom")),
            ("size", "0", "at-least", 3.0, Ok("3")),
            ("size", "0", "at-most", -3.0, Ok("-3")),
            ("size", "-10", "at-least", -5.5, Ok("-5.5")),
            // Of a share three points count, as for the sweep.
            ("coverage", "50", "at-least", 52.0, Err("little headroom")),
            ("coverage", "80", "at-least", 83.5, Ok("83")),
            ("coverage", "0.80", "at-least", 0.845, Ok("0.84")),
            ("coverage", "0.80", "at-least", 0.82, Err("little headroom")),
        ] {
            let found = notch(id, written, direction, Some(value), true);
            assert_eq!(
                found.new,
                expected.map(str::to_owned),
                "{written} {direction} {value}"
            );
        }
        assert_eq!(
            notch("a", "80", "at-least", Some(70.0), false).new,
            Err("it fails")
        );
        assert_eq!(
            notch("a", "80", "at-least", Some(90.0), false).new,
            Err("it fails")
        );
    }

    #[test]
    fn what_is_called_a_time_and_has_no_tolerance_is_shaky() {
        for (id, is_shaky) in [
            ("build-time", true),
            ("p99-latency", true),
            ("size", false),
            ("sometimes", false),
        ] {
            let found = notch(id, "10", "at-most", Some(8.123), true);
            assert_eq!(found.is_shaky, is_shaky, "{id}");
        }
        let tolerant = notch("build-time", "10, tolerance: 1", "at-most", Some(8.0), true);
        assert!(!tolerant.is_shaky);
    }

    #[test]
    fn of_coverage_points_decide_and_percent_of_the_threshold_are_known_too() {
        let found = notch("coverage", "80", "at-least", Some(88.0), true);
        assert_eq!((found.headroom, found.percent), (Some(8.0), Some(10.0)));
        let found = notch("size", "40", "at-least", Some(50.0), true);
        assert_eq!((found.headroom, found.percent), (Some(25.0), Some(25.0)));
        let found = notch("size", "0", "at-least", Some(50.0), true);
        assert_eq!((found.headroom, found.percent), (None, None));
    }

    proptest! {
        #[test]
        fn a_new_threshold_is_tighter_than_the_old_one_and_met_by_what_was_measured(
            old in -1e6f64..1e6, value in -1e6f64..1e6, is_floor: bool, decimals in 0usize..4,
        ) {
            let written = format!("{old:.decimals$}");
            let old: f64 = written.parse().expect("a number");
            let direction = if is_floor { "at-least" } else { "at-most" };
            let passes = if is_floor { value >= old } else { value <= old };
            let found = notch("size", &written, direction, Some(value), passes);
            if let Ok(written) = found.new {
                let new: f64 = written.parse().expect("a number");
                let between = match is_floor {
                    true => old < new && new <= value,
                    false => value <= new && new < old,
                };
                prop_assert!(between);
                // A second pass right after it has nothing to do.
                let again = notch("size", &written, direction, Some(value), passes);
                let is_done = again.new.is_err();
                prop_assert!(is_done, "{again:?}");
            } else {
                prop_assert!(found.headroom.is_none_or(|percent| percent <= HEADROOM + 1e-6));
            }
        }
    }
}
