//! The goals of the file as it is now against what was measured last: how many pass, and which nobody measured yet. Pure.

use crate::model::goals::Goals;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};

/// How many goals there are, and how they stand as they were measured last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// All goals.
    pub total: usize,
    /// Those that pass.
    pub passing: usize,
    /// Those that fail.
    pub failing: usize,
    /// Those that were skipped.
    pub skipped: usize,
    /// The ids of those that were never measured.
    pub unmeasured: Vec<String>,
}

impl Counted {
    /// Counts the goals of the file; where that cannot be read, those that were measured.
    pub fn of(goals: Option<&Goals>, newest: &Snapshot) -> Counted {
        let mut counted = Counted::default();
        match goals {
            Some(goals) => goals
                .goals
                .iter()
                .for_each(|goal| counted.add(&goal.id, newest.find(&goal.id))),
            None => newest
                .goals
                .iter()
                .for_each(|goal| counted.add(&goal.id, Some(goal))),
        }
        counted
    }

    fn add(&mut self, id: &str, measured: Option<&Measurement>) {
        self.total += 1;
        match measured.map(|goal| goal.result) {
            Some(CheckResult::Pass) => self.passing += 1,
            Some(CheckResult::Fail) => self.failing += 1,
            Some(CheckResult::Skip) => self.skipped += 1,
            None => self.unmeasured.push(id.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals::read_goals;

    #[test]
    fn goals_are_counted_as_the_file_has_them_now() {
        let measured = |id: &str, result: &str| {
            format!(
                r#"{{"id": "{id}", "result": "{result}", "weight": 5, "value": null, "threshold": null, "duration_s": 0.1, "attempts": 1}}"#
            )
        };
        let all = [
            measured("a", "pass"),
            measured("gone", "pass"),
            measured("b", "fail"),
            measured("c", "skip"),
        ];
        let newest: Vec<Measurement> = all
            .iter()
            .map(|goal| serde_json::from_str(goal).expect("a measurement"))
            .collect();
        let newest = Snapshot::new(None, "t".into(), None, "d".into(), newest);
        let goal = |id: &str| format!("{{id: {id}, description: d, check: 'true', weight: 5}}");
        let yaml = format!("goals: [{}]", ["a", "b", "c", "new"].map(goal).join(", "));
        let (goals, _) = read_goals("GOALS.yaml", yaml.as_bytes()).expect("goals");
        let counted = Counted {
            total: 4,
            passing: 1,
            failing: 1,
            skipped: 1,
            unmeasured: vec!["new".to_owned()],
        };
        assert_eq!(Counted::of(Some(&goals), &newest), counted);
        let counted = Counted {
            passing: 2,
            unmeasured: vec![],
            ..counted
        };
        assert_eq!(Counted::of(None, &newest), counted);
    }
}
