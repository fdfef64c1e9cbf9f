//! What went up and down: the score over all cycles, and measured values over the newest. Pure.

use std::collections::HashSet;

use serde::Serialize;

use super::grid::telling;
use super::{Material, NAME, Tone, left, line, tone};
use crate::model::goals::Direction;
use crate::model::record::Record;
use crate::model::snapshot::CheckResult;
use crate::model::text::{against, count, number};

/// How many points the score's curve has at most.
const POINTS: usize = 400;
/// How many goals with measured values are told, in some kilobytes each.
const GOALS: usize = 100;

/// The score over all cycles.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// The points, oldest first.
    pub points: Vec<Point>,
    /// How many cycles one point stands for: it is the last of them.
    pub each: usize,
    /// What the curve shows, in words.
    pub words: String,
}

/// The score after a cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The cycle; 0 is the baseline.
    pub cycle: u64,
    /// The score of what is in the repository after it.
    pub score: f64,
    /// The score of a change that was undone.
    pub undone: Option<f64>,
    /// What became of the cycle, for the eye.
    pub tone: Tone,
    /// The same in words.
    pub words: String,
}

/// The measured values of one goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The goal.
    pub goal: String,
    /// What the number is; may be empty.
    pub metric: String,
    /// Which side of the threshold is good: `at least`, `at most`, or empty where nobody says.
    pub direction: &'static str,
    /// The values, oldest first.
    pub values: Vec<Value>,
    /// The newest value and what it is held against, in words.
    pub now: String,
    /// Whether the newest value passes: pass, fail or skip.
    pub result: &'static str,
    /// What the values show, in words.
    pub words: String,
}

/// A value in what is in the repository after a cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The cycle.
    pub cycle: u64,
    /// What was measured.
    pub value: f64,
    /// What it was held against.
    pub threshold: Option<f64>,
}

/// Returns the score over all cycles, from the baseline on.
pub(super) fn curve(material: &Material<'_>) -> Curve {
    let scored = |record: &Record| record.score_left().filter(|score| score.is_finite());
    let records: Vec<_> = material
        .records
        .iter()
        .filter(|record| scored(record).is_some())
        .collect();
    let each = records.len().div_ceil(POINTS).max(1);
    let baseline = material.baseline.map(|baseline| Point {
        cycle: 0,
        score: baseline.score,
        undone: None,
        tone: Tone::Faint,
        words: format!("baseline: score {}", number(baseline.score)),
    });
    let of_cycles = records.chunks(each).filter_map(|chunk| {
        let record = chunk.last()?;
        let score = scored(record)?;
        let undone = record
            .score_after
            .filter(|_| record.is_undone() && each == 1);
        let tried = undone.map_or(String::new(), |tried| {
            format!(", after an undone change with {}", number(tried))
        });
        let goal = record.goal_id.as_deref().unwrap_or("nothing to do");
        Some(Point {
            cycle: record.cycle,
            score,
            undone: undone.filter(|tried| tried.is_finite()),
            tone: tone(record.result),
            words: format!(
                "cycle {}, {}: {}, score {}{tried}",
                record.cycle,
                line(goal, NAME),
                record.result.word(),
                number(score)
            ),
        })
    });
    let points: Vec<Point> = baseline.into_iter().chain(of_cycles).collect();
    Curve {
        words: curve_words(&points, material.records.len()),
        points,
        each,
    }
}

fn curve_words(points: &[Point], cycles: usize) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return String::new();
    };
    let lowest = points
        .iter()
        .map(|it| it.score)
        .fold(f64::INFINITY, f64::min);
    format!(
        "From {} to {} over {}; the lowest was {}.",
        number(first.score),
        number(last.score),
        count(cycles, "cycle"),
        number(lowest)
    )
}

/// Returns the measured values of each goal that has any, and how many such goals there are besides; what passes is left out first.
pub(super) fn values(material: &Material<'_>) -> (Vec<Series>, usize) {
    let snapshots = || material.seen.iter().filter_map(left);
    let mut ids: Vec<(&str, bool)> = Vec::new();
    let mut known = HashSet::new();
    let newest_first = material.newest.into_iter().chain(snapshots());
    for goal in newest_first.flat_map(|snapshot| &snapshot.goals) {
        let has_value = goal.value.is_some_and(f64::is_finite);
        if has_value && known.insert(&goal.id) {
            ids.push((&goal.id, goal.result == CheckResult::Pass));
        }
    }
    let (ids, left_out) = telling(ids, GOALS, |(_, passes)| *passes);
    let series = ids.iter().filter_map(|(id, _)| series(material, id));
    (series.collect(), left_out.len())
}

fn series(material: &Material<'_>, id: &str) -> Option<Series> {
    let mut values = Vec::new();
    let mut newest = None;
    let baseline = material
        .baseline
        .filter(|_| material.seen.len() == material.records.len());
    let of_baseline = baseline.map(|snapshot| (0, snapshot));
    let of_cycles = material
        .seen
        .iter()
        .filter_map(|seen| Some((seen.record.cycle, left(seen)?)));
    for (cycle, snapshot) in of_baseline.into_iter().chain(of_cycles) {
        let Some(goal) = snapshot.find(id) else {
            continue;
        };
        newest = Some(goal);
        if let Some(value) = goal.value.filter(|value| value.is_finite()) {
            let threshold = goal.threshold.filter(|value| value.is_finite());
            values.push(Value {
                cycle,
                value,
                threshold,
            });
        }
    }
    let (first, last) = (values.first()?.clone(), values.last()?.clone());
    let goal = material.goals.ok().and_then(|goals| goals.find(id));
    let continuous = goal.and_then(|goal| goal.continuous.as_ref());
    let direction = match continuous.and_then(|it| it.direction) {
        Some(Direction::AtLeast) => "at least",
        Some(Direction::AtMost) => "at most",
        None => "",
    };
    let metric = continuous.and_then(|it| it.metric.as_deref());
    let now = match last.threshold {
        Some(threshold) => against(last.value, threshold),
        None => number(last.value),
    };
    let result = newest.map_or(CheckResult::Skip, |goal| goal.result);
    Some(Series {
        goal: line(id, NAME),
        metric: metric.map_or(String::new(), |metric| line(metric, NAME)),
        direction,
        words: words(&first, &last, direction),
        values,
        now,
        result: result.word(),
    })
}

fn words(first: &Value, last: &Value, direction: &str) -> String {
    let held = last.threshold.map_or(String::new(), |threshold| {
        let held = match direction {
            "" => "held against",
            direction => direction,
        };
        format!("; {held} {}", number(threshold))
    });
    format!("{} → {}{held}", number(first.value), number(last.value))
}
