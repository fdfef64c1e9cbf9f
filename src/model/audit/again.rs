//! A recorded commit that was measured again, held against what was recorded.

use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text;

/// Returns the ids of the goals whose result is not the recorded one, in the snapshot's order.
pub fn differing(recorded: &Snapshot, now: &[Measurement]) -> Vec<String> {
    let differs = |goal: &&Measurement| {
        let again = now.iter().find(|again| again.id == goal.id);
        again.is_none_or(|again| again.result != goal.result)
    };
    let goals = recorded.goals.iter().filter(differs);
    goals.map(|goal| goal.id.clone()).collect()
}

/// What measuring a recorded commit again showed, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// What was recorded and what was measured now, for each goal whose result differs.
    pub differs: Vec<String>,
    /// The goals that could not be measured, which shows nothing of what was recorded.
    pub skipped: Vec<String>,
}

/// Says what measuring again showed of each goal whose result is not the recorded one.
pub fn of_measured(recorded: &Snapshot, now: &[Measurement]) -> Shown {
    let mut shown = Shown::default();
    for id in &differing(recorded, now) {
        let was = recorded
            .find(id)
            .map_or("missing", |goal| goal.result.word());
        let again = now.iter().find(|again| again.id == *id);
        let is = again.map_or("missing", |again| again.result.word());
        let why = again
            .and_then(|again| again.reason.as_deref())
            .map_or(String::new(), |why| format!(" ({})", text::clean_line(why)));
        match again.map(|again| again.result) {
            Some(CheckResult::Skip) => shown.skipped.push(format!(
                "{id} could not be measured again: it is recorded as {was} and was skipped{why}"
            )),
            Some(_) | None => shown.differs.push(format!(
                "{id} is recorded as {was} and was measured again as {is}{why}"
            )),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::CheckResult::{self, Fail, Pass, Skip};

    fn measured(id: &str, result: CheckResult) -> Measurement {
        Measurement {
            id: id.to_owned(),
            result,
            weight: 5,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: (result != Pass).then(|| "exit 1".to_owned()),
            exit: None,
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        }
    }

    #[test]
    fn results_that_differ_are_told_and_goals_of_later_are_none_of_its_business() {
        let goals = vec![
            measured("a", Pass),
            measured("b", Fail),
            measured("c", Pass),
            measured("d", Fail),
        ];
        let recorded = Snapshot::new(Some(1), "t".into(), None, "d".into(), goals);
        let now = [
            measured("d", Fail),
            measured("a", Skip),
            measured("b", Pass),
            measured("new", Fail),
        ];
        let differs = [
            "b is recorded as fail and was measured again as pass",
            "c is recorded as pass and was measured again as missing",
        ];
        let shown = of_measured(&recorded, &now);
        assert_eq!(shown.differs, differs);
        let skipped =
            ["a could not be measured again: it is recorded as pass and was skipped (exit 1)"];
        assert_eq!(shown.skipped, skipped);
        assert_eq!(differing(&recorded, &recorded.goals), Vec::<String>::new());
    }
}
