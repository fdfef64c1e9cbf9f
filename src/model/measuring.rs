//! In which order checks run, and what the way a check ended says about its goal. Pure.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::goals::{Continuous, Goal};
use crate::model::snapshot::{CheckResult, Measurement};
use crate::model::{mask, reading, text};

/// How much of the end of a failing check's output a snapshot keeps, in bytes.
const TAIL_BYTES: usize = 2048;
/// How much of the end of the output is searched for secrets before that is cut, in bytes.
const MASKED_BYTES: usize = 64 * 1024;
/// Exit code of a shell for a command that it found and could not execute.
const NOT_EXECUTABLE: i32 = 126;
/// Exit code of a shell for a command that it did not find.
const NOT_FOUND: i32 = 127;
/// Exit code by which a test says that it was skipped (automake's convention).
const SKIPPED: i32 = 77;

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
    /// The report that the goal names, if it could be read.
    pub file: Option<&'a str>,
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
        reason: reason.map(|reason| mask::secrets(&text::clean_line(&reason))),
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
    if matches!(exit, NOT_EXECUTABLE | NOT_FOUND | SKIPPED) {
        return (
            CheckResult::Skip,
            None,
            Some(skip_reason(exit, outcome.combined)),
        );
    }
    let Some(continuous) = &goal.continuous else {
        return match exit {
            0 => (CheckResult::Pass, None, None),
            code => (CheckResult::Fail, None, Some(format!("exit {code}"))),
        };
    };
    let read = reading::read_value(
        &continuous.read,
        outcome.stdout,
        outcome.combined,
        outcome.file,
    );
    let value = read.as_ref().ok().copied();
    match (exit, continuous.direction, read) {
        (0, None, _) => (CheckResult::Pass, value, None),
        (0, Some(_), Ok(number)) if continuous.is_met_by(number) => {
            (CheckResult::Pass, value, None)
        }
        (0, Some(_), Ok(number)) => (CheckResult::Fail, value, Some(missed(continuous, number))),
        (0, Some(_), Err(why)) => (CheckResult::Fail, None, Some(why)),
        (code, Some(_), Ok(number)) if continuous.is_met_by(number) => {
            let reason = format!(
                "exit {code}, although {number} meets the threshold: a check has to end with 0 to pass"
            );
            (CheckResult::Fail, value, Some(reason))
        }
        (code, _, _) => (CheckResult::Fail, value, Some(format!("exit {code}"))),
    }
}

fn missed(continuous: &Continuous, number: f64) -> String {
    let threshold = continuous.threshold.unwrap_or_default();
    let metric = continuous.metric.as_deref().unwrap_or("the value");
    let direction = continuous
        .direction
        .map_or("", |direction| direction.word())
        .replace('-', " ");
    format!("{metric} is {number}, wanted {direction} {threshold}")
}

fn skip_reason(exit: i32, output: &str) -> String {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let what = match exit {
        SKIPPED => format!("skipped by the check itself (exit {SKIPPED})"),
        code => format!("cannot be executed (exit {code})"),
    };
    match last.is_empty() {
        true => what,
        false => format!("{what}: {last}"),
    }
}

/// Returns the end of an output as a snapshot keeps it. It is masked before it is cut: half a secret would not be told.
fn output_tail(output: &str) -> String {
    let masked = mask::secrets(&text::clean(last_bytes(output, MASKED_BYTES)));
    last_bytes(&masked, TAIL_BYTES).to_owned()
}

/// Returns the last bytes of a text, at most `most`, cut at a character.
fn last_bytes(output: &str, most: usize) -> &str {
    let mut from = output.len().saturating_sub(most);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    &output[from..]
}
