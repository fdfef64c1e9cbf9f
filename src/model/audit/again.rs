//! A recorded commit that was measured again, held against what was recorded.

use crate::model::snapshot::{Measurement, Snapshot};
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

/// Says what was recorded and what was measured now, for each goal whose result differs.
pub fn of_measured(recorded: &Snapshot, now: &[Measurement]) -> Vec<String> {
    let told = |id: &String| {
        let was = recorded
            .find(id)
            .map_or("missing", |goal| goal.result.word());
        let again = now.iter().find(|again| again.id == *id);
        let is = again.map_or("missing", |again| again.result.word());
        let why = again
            .and_then(|again| again.reason.as_deref())
            .map_or(String::new(), |why| format!(" ({})", text::clean_line(why)));
        format!("{id} is recorded as {was} and was measured again as {is}{why}")
    };
    differing(recorded, now).iter().map(told).collect()
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
        let told = [
            "a is recorded as pass and was measured again as skip (exit 1)",
            "b is recorded as fail and was measured again as pass",
            "c is recorded as pass and was measured again as missing",
        ];
        assert_eq!(of_measured(&recorded, &now), told);
        assert_eq!(differing(&recorded, &recorded.goals), Vec::<String>::new());
    }
}
