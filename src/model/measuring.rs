//! In which order checks run, and what the way a check ended says about its goal. Pure.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::goals::{Continuous, Goal};
use crate::model::reading::{self, Report};
use crate::model::snapshot::{CheckResult, Measurement};
use crate::model::{mask, text};

/// How much of the end of a failing check's output a snapshot keeps, in bytes.
const TAIL_BYTES: usize = 2048;
/// The line above it where more was printed before.
pub const LEFT_OUT: &str = "…\n";
/// The longest reason, in characters: it may quote a line of the output, which can be all of it.
const REASON_CHARS: usize = 1000;
/// How much of the end of the output is searched for secrets before that is cut, in bytes.
const MASKED_BYTES: usize = 64 * 1024;
/// Exit code of a shell for a command that it found and could not execute.
const NOT_EXECUTABLE: i32 = 126;
/// Exit code of a shell for a command that it did not find.
const NOT_FOUND: i32 = 127;
/// Exit code by which a test says that it was skipped (automake's convention).
const SKIPPED: i32 = 77;
/// The exit codes of a check that was not executed, or that says so itself.
pub const SKIPS: [i32; 3] = [SKIPPED, NOT_EXECUTABLE, NOT_FOUND];

/// What programs print that cannot find another machine: curl, glibc, musl, BSD, Go, Node, Java, Rust, the kernel.
const UNREACHED: [&str; 12] = [
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Name does not resolve",
    "nodename nor servname provided",
    "no such host",
    "ENOTFOUND",
    "EAI_AGAIN",
    "Unknown host",
    "UnknownHostException",
    "failed to lookup address information",
    "Network is unreachable",
];

/// Among how many of the last lines with words that is looked for: what ended the check stands there.
const LAST_LINES: usize = 20;

/// How lines begin that tell of a test which passed: TAP, mocha and its like, Go.
const GOOD: [&str; 5] = ["ok ", "✓", "✔", "PASS", "--- PASS"];

/// The order in which goals are measured, as indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Those that run side by side, in the order they start.
    pub together: Vec<usize>,
    /// Those that run one at a time, afterwards.
    pub alone: Vec<usize>,
}

/// Orders goals: the longest expected first, those never measured before all others.
pub fn order(goals: &[&Goal], expected: &HashMap<String, f64>) -> Order {
    let mut all: Vec<usize> = (0..goals.len()).collect();
    let duration = |index: &usize| {
        expected
            .get(&goals[*index].id)
            .copied()
            .unwrap_or(f64::INFINITY)
    };
    all.sort_by(|a, b| duration(b).total_cmp(&duration(a)));
    let (alone, together) = all.into_iter().partition(|index| goals[*index].alone);
    Order { together, alone }
}

/// How a check ended, with what a value can be read from.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// Its exit code, if it has one.
    pub exit: Option<i32>,
    /// Why it has none.
    pub fault: Option<&'a str>,
    /// Wall time.
    pub duration: Duration,
    /// The start or end of its stdout.
    pub stdout: &'a str,
    /// The end of stdout and stderr.
    pub combined: &'a str,
    /// The reports that the goal names, or why they cannot be read; empty if it names none.
    pub reports: Result<&'a [Report], &'a str>,
    /// What is to be said of the reports in any case.
    pub note: Option<&'a str>,
}

/// Returns the measurement of a goal whose check ended like this.
pub fn measurement(goal: &Goal, outcome: &Outcome<'_>) -> Measurement {
    let (result, value, reason) = judge(goal, outcome);
    let output_tail = (result == CheckResult::Fail && !outcome.combined.trim().is_empty())
        .then(|| output_tail(outcome.combined));
    Measurement {
        id: goal.id.clone(),
        result,
        weight: goal.weight,
        value,
        threshold: goal.threshold(),
        duration_s: (outcome.duration.as_secs_f64() * 1000.0).round() / 1000.0,
        reason: reason.map(|reason| {
            // Masked before it is cut: half a secret would not be told.
            text::cut(&mask::secrets(&text::clean_line(&reason)), REASON_CHARS)
        }),
        exit: outcome.exit,
        attempts: 1,
        flaky: false,
        tolerated: false,
        output_tail,
    }
}

fn judge(goal: &Goal, outcome: &Outcome<'_>) -> (CheckResult, Option<f64>, Option<String>) {
    let Some(exit) = outcome.exit else {
        return (CheckResult::Fail, None, outcome.fault.map(str::to_owned));
    };
    if SKIPS.contains(&exit) {
        return (
            CheckResult::Skip,
            None,
            Some(skip_reason(exit, outcome.combined)),
        );
    }
    let Some(continuous) = &goal.continuous else {
        return match exit {
            0 => (CheckResult::Pass, None, None),
            code => (CheckResult::Fail, None, Some(failed(code, outcome))),
        };
    };
    let read = reading::read_value(
        &continuous.read,
        outcome.stdout,
        outcome.combined,
        outcome.reports,
    );
    let value = read.as_ref().ok().copied();
    let (result, value, reason) = match (exit, continuous.direction, read) {
        (0, None, _) => (CheckResult::Pass, value, None),
        (0, Some(_), Ok(number)) if continuous.is_met_by(number) => {
            (CheckResult::Pass, value, None)
        }
        (0, Some(_), Ok(number)) => (CheckResult::Fail, value, Some(missed(continuous, number))),
        (0, Some(_), Err(why)) => (CheckResult::Fail, None, Some(why)),
        (code, Some(_), Ok(number)) if continuous.is_met_by(number) => {
            let number = text::number(number);
            let reason = format!("exit {code}, though {number} meets the threshold");
            (CheckResult::Fail, value, Some(reason))
        }
        (code, _, _) => (CheckResult::Fail, value, Some(failed(code, outcome))),
    };
    let noted = [reason, outcome.note.map(str::to_owned)];
    let noted: Vec<String> = noted.into_iter().flatten().collect();
    let reason = (!noted.is_empty()).then(|| noted.join("; "));
    (result, value, reason)
}

/// Returns why a check failed that ended like this, with the line of its output by which it may have been the network.
fn failed(code: i32, outcome: &Outcome<'_>) -> String {
    let output = last_bytes(outcome.combined, MASKED_BYTES);
    let has_words = |line: &&str| line.contains(char::is_alphanumeric);
    let last = output.lines().rev().filter(has_words).take(LAST_LINES);
    let is_good = |line: &str| {
        let line = line.trim_start();
        GOOD.iter().any(|mark| line.starts_with(mark))
    };
    let mut said = last.filter(|line| {
        let says = |words: &&str| line.contains(*words);
        !is_good(line) && UNREACHED.iter().any(says)
    });
    let line = said.next();
    match line {
        Some(line) => format!(
            "exit {code}, perhaps for want of a network: {}",
            line.trim()
        ),
        None => format!("exit {code}"),
    }
}

fn missed(continuous: &Continuous, number: f64) -> String {
    let threshold = continuous.threshold.unwrap_or_default();
    let metric = continuous.metric.as_deref().unwrap_or("the value");
    let direction = continuous
        .direction
        .map_or("", |direction| direction.word())
        .replace('-', " ");
    let number = unlike(number, threshold);
    let threshold = text::number(threshold);
    format!("{metric} is {number}, wanted {direction} {threshold}")
}

/// Returns a number for a message, rounded unless that would make it look like the threshold that it is not.
fn unlike(number: f64, threshold: f64) -> String {
    let short = text::number(number);
    match short == text::number(threshold) {
        true => number.to_string(),
        false => short,
    }
}

fn skip_reason(exit: i32, output: &str) -> String {
    // A line of a table's border says nothing.
    let has_words = |line: &&str| line.contains(char::is_alphanumeric);
    let last = output.lines().rfind(has_words).unwrap_or_default();
    let what = match exit {
        SKIPPED => format!("skipped by the check itself (exit {SKIPPED})"),
        code => format!("cannot be executed (exit {code})"),
    };
    match last.is_empty() {
        true => what,
        false => format!("{what}: {last}"),
    }
}

/// Returns the end of an output as a snapshot keeps it, from the start of a line where there is one, below a line that says so where
/// more was printed before. It is masked before it is cut: half a secret would not be told.
fn output_tail(output: &str) -> String {
    let masked = mask::secrets(&text::clean(last_bytes(output, MASKED_BYTES)));
    let tail = last_bytes(&masked, TAIL_BYTES);
    if tail.len() == masked.len() {
        return tail.to_owned();
    }
    let begins_a_line = masked[..masked.len() - tail.len()].ends_with('\n');
    let whole = match tail.split_once('\n') {
        Some((_, whole)) if !begins_a_line && !whole.is_empty() => whole,
        Some(_) | None => tail,
    };
    format!("{LEFT_OUT}{whole}")
}

/// Returns the last bytes of a text, at most `most`, cut at a character.
fn last_bytes(output: &str, most: usize) -> &str {
    let mut from = output.len().saturating_sub(most);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    &output[from..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;
    use proptest::prelude::*;

    /// The goal `a`, with more of its keys in YAML.
    fn goal(more: &str) -> Goal {
        let text = format!("goals:\n  - {{id: a, description: d, check: c, weight: 5{more}}}\n");
        let (goals, _) = goals::read_goals("GOALS.yaml", text.as_bytes()).expect("valid goals");
        goals.goals[0].clone()
    }

    fn outcome<'a>(exit: Option<i32>, output: &'a str) -> Outcome<'a> {
        Outcome {
            exit,
            fault: exit.is_none().then_some("timed out after 1s"),
            duration: Duration::from_micros(1_234_567),
            stdout: output,
            combined: output,
            reports: Ok(&[]),
            note: None,
        }
    }

    #[test]
    fn the_way_a_check_ended_and_its_value_decide_the_result() {
        use CheckResult::{Fail, Pass, Skip};
        let floor = ", continuous: {metric: coverage, threshold: 80, direction: at-least}";
        let shown = ", continuous: {threshold: 80}";
        for (more, exit, output, result, value, reason) in [
            ("", Some(0), "9", Pass, None, ""),
            ("", Some(1), "9", Fail, None, "exit 1"),
            (
                "",
                Some(77),
                "no browser\n",
                Skip,
                None,
                "skipped by the check itself (exit 77): no browser",
            ),
            (
                "",
                Some(126),
                "denied",
                Skip,
                None,
                "cannot be executed (exit 126): denied",
            ),
            (
                "",
                Some(127),
                "x\nnot found\n",
                Skip,
                None,
                "cannot be executed (exit 127): not found",
            ),
            (
                "",
                Some(127),
                "sh: nyc: not found\n-----|----\n\n",
                Skip,
                None,
                "cannot be executed (exit 127): sh: nyc: not found",
            ),
            (
                "",
                Some(6),
                "fetching\ncurl: (6) Could not resolve host: example.org\n",
                Fail,
                None,
                "exit 6, perhaps for want of a network: curl: (6) Could not resolve host: example.org",
            ),
            (
                "",
                Some(1),
                "ok 1 - retries after ENOTFOUND\nnot ok 2 - adds\n",
                Fail,
                None,
                "exit 1",
            ),
            ("", None, "9", Fail, None, "timed out after 1s"),
            (floor, Some(0), "80", Pass, Some(80.0), ""),
            (
                floor,
                Some(0),
                "79.5",
                Fail,
                Some(79.5),
                "coverage is 79.5, wanted at least 80",
            ),
            (floor, Some(1), "79", Fail, Some(79.0), "exit 1"),
            (
                floor,
                Some(2),
                "81.46332737",
                Fail,
                Some(81.463_327_37),
                "exit 2, though 81.4633 meets the threshold",
            ),
            (
                floor,
                Some(127),
                "81",
                Skip,
                None,
                "cannot be executed (exit 127): 81",
            ),
            (floor, None, "81", Fail, None, "timed out after 1s"),
            (shown, Some(0), "1", Pass, Some(1.0), ""),
            (shown, Some(0), "none", Pass, None, ""),
            (shown, Some(3), "99", Fail, Some(99.0), "exit 3"),
        ] {
            let measured = measurement(&goal(more), &outcome(exit, output));
            let found = (
                measured.result,
                measured.value,
                measured.reason.unwrap_or_default(),
            );
            assert_eq!(
                found,
                (result, value, reason.to_owned()),
                "{more} {exit:?} {output}"
            );
            assert_eq!(measured.exit, exit);
            assert_eq!(
                measured.output_tail.is_some(),
                result == Fail,
                "{more} {exit:?}"
            );
        }
    }

    #[test]
    fn where_a_direction_is_given_a_value_that_is_missing_or_not_finite_fails() {
        let floor = ", continuous: {threshold: 80, direction: at-least}";
        for output in ["", "none", "NaN", "inf"] {
            let measured = measurement(&goal(floor), &outcome(Some(0), output));
            let found = (measured.result, measured.value);
            assert_eq!(found, (CheckResult::Fail, None), "{output}");
            assert!(
                measured.reason.is_some_and(|reason| !reason.is_empty()),
                "{output}"
            );
        }
    }

    #[test]
    fn a_missed_threshold_is_told_in_few_digits_but_never_as_if_it_were_met() {
        for (number, threshold, shown) in [
            (100.0 / 3.0, 80.0, "33.3333"),
            (0.000_002_345_678, 1.0, "2.345678e-6"),
            (79.999_999, 80.0, "79.999999"),
            (1_234_567.0, 80.0, "1234567"),
        ] {
            assert_eq!(unlike(number, threshold), shown);
        }
    }

    #[test]
    fn a_measurement_says_what_it_was_held_against_and_how_long_it_took() {
        let measured = measurement(
            &goal(", continuous: {threshold: 80, direction: at-most}"),
            &outcome(Some(0), "81"),
        );
        let found = (measured.weight, measured.threshold, measured.duration_s);
        assert_eq!(found, (5, Some(80.0), 1.235));
        assert_eq!(
            (measured.attempts, measured.flaky, measured.tolerated),
            (1, false, false)
        );
    }

    #[test]
    fn the_kept_end_of_the_output_begins_with_a_whole_line() {
        let lines: Vec<String> = (1..=900).map(|number| format!("line {number}")).collect();
        let tail = output_tail(&lines.join("\n"));
        assert!(tail.starts_with(LEFT_OUT), "{tail}");
        let tail = tail.strip_prefix(LEFT_OUT).unwrap().to_owned();
        let first = tail.lines().next().unwrap().to_owned();
        assert!(lines.contains(&first), "{first}");
        assert!(tail.len() > TAIL_BYTES - 10 && tail.ends_with("line 900"));
        assert_eq!(output_tail("short\nand whole"), "short\nand whole");
        // One long line has no better place to begin.
        let long = "x".repeat(5000);
        let cut = LEFT_OUT.len() + TAIL_BYTES;
        assert_eq!(output_tail(&long).len(), cut);
        assert_eq!(output_tail(&format!("{long}\n")).len(), cut);
        let exact = format!("before\n{}", "y".repeat(TAIL_BYTES));
        assert_eq!(output_tail(&exact).len(), cut);
    }

    #[test]
    fn goals_never_measured_start_first_then_the_slowest_and_those_alone_come_last() {
        let named = |id: &str, more: &str| Goal {
            id: id.to_owned(),
            ..goal(more)
        };
        let goals = [
            named("quick", ""),
            named("lonely", ", alone: true"),
            named("slow", ""),
            named("new", ""),
            named("lonely-slow", ", alone: true"),
        ];
        let goals: Vec<_> = goals.iter().collect();
        let expected = [
            ("quick", 1.0),
            ("lonely", 2.0),
            ("slow", 9.0),
            ("lonely-slow", 5.0),
        ];
        let expected = expected
            .map(|(id, seconds)| (id.to_owned(), seconds))
            .into();
        let order = order(&goals, &expected);
        assert_eq!(order.together, [3, 2, 0]);
        assert_eq!(order.alone, [4, 1]);
    }

    proptest! {
        #[test]
        fn the_kept_end_of_the_output_is_bounded_and_its_last_part(output in "(\\PC|\n){0,3000}") {
            let measured = measurement(&goal(""), &outcome(Some(1), &output));
            let kept = last_bytes(&output, TAIL_BYTES);
            prop_assert!(kept.len() <= TAIL_BYTES && output.ends_with(kept));
            prop_assert!(kept.len() + 4 > TAIL_BYTES.min(output.len()));
            prop_assert_eq!(measured.output_tail.is_some(), !output.trim().is_empty());
        }

        #[test]
        fn each_goal_is_ordered_once(all in prop::collection::vec((any::<bool>(), prop::option::of(0.0..100.0f64)), 0..8)) {
            let goals: Vec<_> = all.iter().enumerate().map(|(index, (alone, _))| Goal {
                id: format!("g{index}"),
                alone: *alone,
                ..goal("")
            }).collect();
            let expected = all.iter().enumerate().filter_map(|(index, (_, seconds))| Some((format!("g{index}"), (*seconds)?))).collect();
            let order = order(&goals.iter().collect::<Vec<_>>(), &expected);
            prop_assert!(order.alone.iter().all(|index| goals[*index].alone));
            let mut ordered = [order.together, order.alone].concat();
            ordered.sort();
            prop_assert_eq!(ordered, (0..all.len()).collect::<Vec<_>>());
        }
    }
}
