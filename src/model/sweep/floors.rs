//! Coverage floors that lie well below what is reached: one item for all of them, so that they are tightened in one go. Pure.

use std::collections::HashSet;

use crate::model::digest;
use crate::model::goals::{Direction, Goal, Goals};
use crate::model::reading::Reading;
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::model::text;
use crate::model::work::{NewItem, Severity};

/// How far, in percentage points, a value may lie above its floor.
const HEADROOM: f64 = 3.0;

/// A floor with what was measured.
struct Floor<'a> {
    goal: &'a Goal,
    threshold: f64,
    value: f64,
}

/// Returns the item for all coverage floors with too much headroom that no item of the queue named before.
pub fn floors(goals: &Goals, measured: &Snapshot, known: &HashSet<String>) -> Option<NewItem> {
    let floors: Vec<Floor<'_>> = goals
        .goals
        .iter()
        .filter_map(|goal| floor(goal, measured))
        .filter(|floor| !known.contains(&key(floor)))
        .collect();
    let names: Vec<&str> = floors.iter().map(|floor| floor.goal.id.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let table: Vec<String> = floors
        .iter()
        .map(|floor| {
            format!(
                "{}: at least {}, measured {}",
                floor.goal.id,
                text::number(floor.threshold),
                text::number(floor.value)
            )
        })
        .collect();
    let number = match floors.len() {
        1 => "a coverage floor".to_owned(),
        number => format!("{number} coverage floors"),
    };
    let names = names.join(", ");
    Some(NewItem {
        title: text::cut(
            &format!("Raise {number} with more than 3 % headroom: {names}"),
            200,
        ),
        kind: "coverage-floor".to_owned(),
        severity: Severity::Medium,
        source: format!("{}floors", super::SOURCE),
        description: "What is measured lies so far above these floors that it could fall again unnoticed. Raise the \
                      `threshold` of each of them in the goals file to just below what is measured, all in one change; \
                      a stricter threshold in the same direction is allowed, everything else of these goals stays as \
                      it is. If there are parts of the code whose coverage no goal holds, add goals for them in the \
                      same change."
            .to_owned(),
        evidence: table.join("\n"),
        findings: floors.iter().map(key).collect(),
        ..NewItem::default()
    })
}

/// Returns the goal as a floor if it is one for coverage, passes, and has too much headroom.
fn floor<'a>(goal: &'a Goal, measured: &Snapshot) -> Option<Floor<'a>> {
    let continuous = goal.continuous.as_ref()?;
    if continuous.direction != Some(Direction::AtLeast) || !is_about_coverage(goal) {
        return None;
    }
    let found = measured
        .find(&goal.id)
        .filter(|found| found.result == CheckResult::Pass)?;
    let floor = Floor {
        goal,
        threshold: continuous.threshold?,
        value: found.value?,
    };
    // A share between 0 and 1 is held against the same three points of a hundred.
    let scale = match floor.threshold.abs() <= 1.0 && floor.value.abs() <= 1.0 {
        true => 100.0,
        false => 1.0,
    };
    let headroom = (floor.value - floor.threshold) * scale;
    (headroom > HEADROOM + 1e-9).then_some(floor)
}

/// Says whether the value comes from a coverage report, or `coverage`, `cov` or `covered` is a word of the goal's id, metric,
/// description or tags.
pub fn is_about_coverage(goal: &Goal) -> bool {
    let continuous = goal.continuous.as_ref();
    let reading = continuous.map(|one| &one.read);
    if let Some(Reading::Lcov { .. } | Reading::Cobertura { .. }) = reading {
        return true;
    }
    let metric = continuous.and_then(|one| one.metric.as_ref());
    [&goal.id, &goal.description]
        .into_iter()
        .chain(metric)
        .chain(&goal.tags)
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .any(|word| ["coverage", "cov", "covered"].contains(&word.to_lowercase().as_str()))
}

/// A floor that was raised is another one.
fn key(floor: &Floor<'_>) -> String {
    digest::short(&["floors", &floor.goal.id, &floor.threshold.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals::read_goals;
    use crate::model::snapshot::Measurement;

    fn goals(list: &[(&str, &str)]) -> Goals {
        let goal = |(id, continuous): &(&str, &str)| {
            format!(
                "  - {{id: {id}, description: d, check: c, weight: 5, continuous: {continuous}}}\n"
            )
        };
        let yaml: String = list.iter().map(goal).collect();
        read_goals("GOALS.yaml", format!("goals:\n{yaml}").as_bytes())
            .unwrap()
            .0
    }

    fn measured(goals: &Goals, values: &[f64]) -> Snapshot {
        let one = |(goal, value): (&Goal, &f64)| Measurement {
            id: goal.id.clone(),
            result: match goal.continuous.as_ref().unwrap().is_met_by(*value) {
                true => CheckResult::Pass,
                false => CheckResult::Fail,
            },
            weight: goal.weight,
            value: Some(*value),
            threshold: goal.threshold(),
            duration_s: 0.0,
            reason: None,
            exit: Some(0),
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        };
        let all = goals.goals.iter().zip(values).map(one).collect();
        Snapshot::new(None, "t".into(), None, "d".into(), all)
    }

    #[test]
    fn all_floors_with_headroom_are_one_item() {
        let goals = goals(&[
            ("go-coverage-floor", "{threshold: 80, direction: at-least}"),
            (
                "lines",
                "{metric: line coverage, threshold: 70, direction: at-least}",
            ),
            (
                "report",
                "{threshold: 60, direction: at-least, read: {lcov: a.info}}",
            ),
            ("cov-tight", "{threshold: 80, direction: at-least}"),
            ("cov-share", "{threshold: 0.8, direction: at-least}"),
            ("cov-share-tight", "{threshold: 0.8, direction: at-least}"),
            ("discovery", "{threshold: 1, direction: at-least}"),
            ("uncovered-cov", "{threshold: 50, direction: at-most}"),
            ("cov-failing", "{threshold: 90, direction: at-least}"),
        ]);
        let snapshot = measured(
            &goals,
            &[85.7, 74.0, 70.0, 83.0, 0.85, 0.83, 50.0, 10.0, 80.0],
        );
        let item = floors(&goals, &snapshot, &HashSet::new()).unwrap();
        assert_eq!(
            item.title,
            "Raise 4 coverage floors with more than 3 % headroom: go-coverage-floor, lines, report, cov-share"
        );
        assert_eq!(
            item.evidence,
            "go-coverage-floor: at least 80, measured 85.7\nlines: at least 70, measured 74\n\
             report: at least 60, measured 70\ncov-share: at least 0.8, measured 0.85"
        );
        let known: HashSet<String> = item.findings.iter().cloned().collect();
        assert_eq!(floors(&goals, &snapshot, &known), None);
    }

    #[test]
    fn a_raised_floor_is_another_one() {
        let old = goals(&[("cov", "{threshold: 80, direction: at-least}")]);
        let item = floors(&old, &measured(&old, &[90.0]), &HashSet::new()).unwrap();
        let known: HashSet<String> = item.findings.iter().cloned().collect();
        let new = goals(&[("cov", "{threshold: 85, direction: at-least}")]);
        assert!(floors(&new, &measured(&new, &[90.0]), &known).is_some());
        assert!(floors(&old, &measured(&old, &[99.0]), &known).is_none());
    }
}
