//! All measurements of one tree, with the weighted score. Pure.

use serde::{Deserialize, Serialize};

use crate::model::goals::{Goal, Goals};

/// The version of the snapshot, record and ledger formats that this program writes.
pub const FORMAT: u32 = 1;

/// How one check ended, as far as its goal is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckResult {
    /// The goal holds.
    Pass,
    /// The goal does not hold.
    Fail,
    /// The check could not be executed, so nothing is known.
    Skip,
}

impl CheckResult {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            CheckResult::Pass => "pass",
            CheckResult::Fail => "fail",
            CheckResult::Skip => "skip",
        }
    }
}

/// How one check ended: result, value, duration, why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The goal's id.
    pub id: String,
    /// Pass, fail or skip.
    pub result: CheckResult,
    /// The goal's weight when it was measured.
    pub weight: u8,
    /// The measured number, if the goal has one.
    pub value: Option<f64>,
    /// What the number was held against.
    pub threshold: Option<f64>,
    /// Wall time of the check in seconds.
    pub duration_s: f64,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The exit code of the check, unless a signal or the timeout ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// How many times the check was run for this measurement.
    pub attempts: u32,
    /// It failed and passed on the same content.
    #[serde(default, skip_serializing_if = "is_false")]
    pub flaky: bool,
    /// It fails by no more than its tolerance and passed before: neither a regression nor work.
    #[serde(default, skip_serializing_if = "is_false")]
    pub tolerated: bool,
    /// The last 2 KiB of output of a failing check, below a line that says so where there was more before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
}

impl Measurement {
    /// Says whether it was skipped because its check cannot run here, not by the check itself.
    pub fn cannot_run(&self) -> bool {
        self.result == CheckResult::Skip && matches!(self.exit, Some(126 | 127))
    }

    /// Says of a goal that is flaky what that means.
    pub fn flaky_words(&self) -> String {
        format!(
            "{} is flaky: it failed and passed on the same content",
            self.id
        )
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// All measurements of one tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of the format.
    pub format: u32,
    /// The cycle it belongs to; none for `evolve measure` outside a cycle.
    pub cycle: Option<u64>,
    /// When measuring ended, RFC 3339 in UTC.
    pub timestamp: String,
    /// The commit the cycle started from; none in a repository without a commit.
    pub cycle_start_sha: Option<String>,
    /// SHA-256 of the goals file that was measured.
    pub goals_digest: String,
    /// The snapshot file these measurements were taken over from, if they were not measured afresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<String>,
    /// The session that measured a baseline; no other snapshot says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// 100 × weight passing ÷ weight of all goals.
    pub score: f64,
    /// How many goals pass.
    pub goals_passing: usize,
    /// How many goals there are.
    pub goals_total: usize,
    /// One measurement per goal, in the file's order.
    pub goals: Vec<Measurement>,
}

impl Snapshot {
    /// Puts measurements together and computes the score.
    pub fn new(
        cycle: Option<u64>,
        timestamp: String,
        cycle_start_sha: Option<String>,
        goals_digest: String,
        goals: Vec<Measurement>,
    ) -> Snapshot {
        let mut snapshot = Snapshot {
            format: FORMAT,
            cycle,
            timestamp,
            cycle_start_sha,
            goals_digest,
            taken_from: None,
            session: None,
            score: 0.0,
            goals_passing: 0,
            goals_total: goals.len(),
            goals,
        };
        snapshot.recount();
        snapshot
    }

    /// Computes score and counts again after a measurement was replaced.
    pub fn recount(&mut self) {
        let passing = || {
            self.goals
                .iter()
                .filter(|goal| goal.result == CheckResult::Pass)
        };
        let weight = |goal: &Measurement| u32::from(goal.weight);
        let all: u32 = self.goals.iter().map(weight).sum();
        let met: u32 = passing().map(weight).sum();
        self.goals_passing = passing().count();
        self.goals_total = self.goals.len();
        self.score = if all == 0 {
            0.0
        } else {
            // Two decimals, so that the same goals give the same text on every platform.
            (f64::from(met) * 10_000.0 / f64::from(all)).round() / 100.0
        };
    }

    /// Returns the measurement of the goal called `id`.
    pub fn find(&self, id: &str) -> Option<&Measurement> {
        self.goals.iter().find(|goal| goal.id == id)
    }

    /// Puts a later measurement of a goal in the place of its first.
    pub fn replace(&mut self, measurement: Measurement) {
        if let Some(place) = self.goals.iter_mut().find(|goal| goal.id == measurement.id) {
            *place = measurement;
            self.recount();
        }
    }

    /// Says whether the goal called `id` passes.
    pub fn passes(&self, id: &str) -> bool {
        self.find(id)
            .is_some_and(|goal| goal.result == CheckResult::Pass)
    }

    /// Returns the measurements with `result`, in the file's order.
    pub fn with(&self, result: CheckResult) -> impl Iterator<Item = &Measurement> {
        self.goals.iter().filter(move |goal| goal.result == result)
    }

    /// Marks each goal that fails by no more than its tolerance and passed, or was tolerated, in `before`.
    pub fn tolerate(&mut self, before: &Snapshot, goals: &Goals) {
        for goal in &mut self.goals {
            let near = |definition: &Goal| {
                let continuous = definition.continuous.as_ref()?;
                Some(continuous.is_within_tolerance(goal.value?) && goal.exit == Some(0))
            };
            let held =
                |earlier: &Measurement| earlier.result == CheckResult::Pass || earlier.tolerated;
            goal.tolerated = goal.result == CheckResult::Fail
                && goals.find(&goal.id).and_then(near).unwrap_or(false)
                && before.find(&goal.id).is_some_and(held);
        }
    }
}

/// Returns the ids of goals that pass in `after` and did not in `before`.
pub fn newly_passing(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut passing = passing(after);
    passing.retain(|id| !before.passes(id));
    passing
}

/// Returns the ids of the goals that pass.
pub fn passing(snapshot: &Snapshot) -> Vec<String> {
    let passing = snapshot.with(CheckResult::Pass);
    passing.map(|goal| goal.id.clone()).collect()
}

/// Returns those of the goals of which none of these measurements says that they pass.
pub fn not_passing(ids: &[String], measured: &[Measurement]) -> Vec<String> {
    let passes = |id: &&String| {
        let mut of_it = measured.iter().filter(|one| one.id == **id);
        of_it.any(|one| one.result == CheckResult::Pass)
    };
    ids.iter().filter(|id| !passes(id)).cloned().collect()
}

/// Returns the ids of goals that were mended until `after`: of those that were `mended` until `before` whatever still passes, and
/// those that pass in `after` and did not in `before`.
pub fn still_mended(mended: &[String], before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let new = newly_passing(before, after);
    let is_still = |id: &&String| after.passes(id) && !new.contains(id);
    let known = mended.iter().filter(is_still).cloned();
    known.chain(new.iter().cloned()).collect()
}

/// Returns the ids of goals that got worse (rule 8): that passed in `before` and in `after` fail, are skipped or are
/// missing, or that failed and can no longer be measured. A goal within its tolerance is not among them.
pub fn newly_failing(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let got_worse = |goal: &&Measurement| {
        let later = after.find(&goal.id);
        match (goal.result, later.map(|later| later.result)) {
            (CheckResult::Pass, Some(CheckResult::Fail)) => {
                later.is_some_and(|later| !later.tolerated)
            }
            (CheckResult::Pass, Some(CheckResult::Skip) | None) => true,
            (CheckResult::Fail, Some(CheckResult::Skip)) => true,
            // What was let pass as near enough counts as passing, so that it cannot fall any further.
            (CheckResult::Fail, Some(CheckResult::Fail)) if goal.tolerated => {
                later.is_some_and(|later| !later.tolerated)
            }
            (CheckResult::Pass, Some(CheckResult::Pass))
            | (CheckResult::Fail, Some(CheckResult::Pass | CheckResult::Fail) | None)
            | (CheckResult::Skip, _) => false,
        }
    };
    before
        .goals
        .iter()
        .filter(got_worse)
        .map(|goal| goal.id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;
    use proptest::prelude::*;

    fn measured(id: &str, result: CheckResult, weight: u8) -> Measurement {
        Measurement {
            id: id.to_owned(),
            result,
            weight,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: None,
            exit: Some(0),
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
    fn the_score_is_the_weight_that_passes_and_a_skip_never_raises_it() {
        use CheckResult::{Fail, Pass, Skip};
        for (goals, score, passing) in [
            (vec![(Pass, 5), (Fail, 3)], 62.5, 1),
            (vec![(Pass, 5), (Skip, 3)], 62.5, 1),
            (vec![(Pass, 1), (Pass, 10)], 100.0, 2),
            (vec![(Fail, 1), (Skip, 10)], 0.0, 0),
            (vec![(Pass, 1), (Fail, 2)], 33.33, 1),
            (vec![], 0.0, 0),
        ] {
            let goals = goals
                .into_iter()
                .map(|(result, weight)| measured("a", result, weight));
            let snapshot = snapshot(goals.collect());
            assert_eq!((snapshot.score, snapshot.goals_passing), (score, passing));
        }
    }

    #[test]
    fn what_was_not_measured_or_failed_or_was_skipped_does_not_pass() {
        use CheckResult::{Fail, Pass, Skip};
        let measured = [
            measured("a", Pass, 1),
            measured("b", Fail, 1),
            measured("c", Skip, 1),
        ];
        let ids = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(not_passing(&ids, &measured), ["b", "c", "d"]);
        assert_eq!(not_passing(&ids[..1], &measured), Vec::<String>::new());
    }

    #[test]
    fn a_later_measurement_takes_the_place_of_the_first_and_is_counted() {
        let mut snapshot = snapshot(vec![
            measured("a", CheckResult::Fail, 5),
            measured("b", CheckResult::Pass, 5),
        ]);
        snapshot.replace(measured("a", CheckResult::Pass, 5));
        snapshot.replace(measured("unknown", CheckResult::Pass, 5));
        assert_eq!(
            (snapshot.score, snapshot.goals_passing, snapshot.goals_total),
            (100.0, 2, 2)
        );
    }

    #[test]
    fn what_got_worse_and_what_passes_anew_follow_from_both_results() {
        use CheckResult::{Fail, Pass, Skip};
        for (before, after, got_worse, passes_anew) in [
            (Some(Pass), Some(Pass), false, false),
            (Some(Pass), Some(Fail), true, false),
            (Some(Pass), Some(Skip), true, false),
            (Some(Pass), None, true, false),
            (Some(Fail), Some(Pass), false, true),
            (Some(Fail), Some(Fail), false, false),
            (Some(Fail), Some(Skip), true, false),
            (Some(Fail), None, false, false),
            (Some(Skip), Some(Pass), false, true),
            (Some(Skip), Some(Fail), false, false),
            (Some(Skip), Some(Skip), false, false),
            (None, Some(Pass), false, true),
            (None, Some(Fail), false, false),
        ] {
            let of = |result: Option<_>| {
                let goal = result.map(|result| measured("a", result, 5));
                snapshot(goal.into_iter().collect())
            };
            let (one, two) = (of(before), of(after));
            let is_in = |ids: Vec<String>| ids == ["a"];
            let found = (
                is_in(newly_failing(&one, &two)),
                is_in(newly_passing(&one, &two)),
            );
            assert_eq!(found, (got_worse, passes_anew), "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_was_mended_stays_so_while_it_passes() {
        use CheckResult::{Fail, Pass};
        for (known, before, after, is_mended) in [
            (false, Fail, Pass, true),
            (true, Fail, Pass, true),
            (true, Pass, Pass, true),
            (true, Pass, Fail, false),
            (false, Pass, Pass, false),
        ] {
            let known: Vec<String> = known.then(|| "a".to_owned()).into_iter().collect();
            let of = |result| snapshot(vec![measured("a", result, 5)]);
            let mended = still_mended(&known, &of(before), &of(after));
            assert_eq!(mended == ["a"], is_mended, "{known:?} {before:?} {after:?}");
        }
    }

    /// A goal measured before as `earlier`, now with this value and exit code.
    struct Near {
        direction: &'static str,
        earlier: (CheckResult, bool),
        value: Option<f64>,
        exit: i32,
        is_tolerated: bool,
    }

    #[test]
    fn only_a_miss_within_the_tolerance_of_a_goal_that_passed_is_tolerated() {
        let (passed, tolerated) = ((CheckResult::Pass, false), (CheckResult::Fail, true));
        let (failed, skipped) = ((CheckResult::Fail, false), (CheckResult::Skip, false));
        let near = |direction, earlier, value, exit, is_tolerated| Near {
            direction,
            earlier,
            value,
            exit,
            is_tolerated,
        };
        for near in [
            near("at-least", passed, Some(79.5), 0, true),
            near("at-least", passed, Some(79.4), 0, false),
            near("at-least", tolerated, Some(79.5), 0, true),
            near("at-least", tolerated, Some(79.4), 0, false),
            near("at-least", failed, Some(79.9), 0, false),
            near("at-least", skipped, Some(79.9), 0, false),
            near("at-least", passed, Some(79.9), 1, false),
            near("at-least", passed, None, 0, false),
            near("at-most", passed, Some(80.5), 0, true),
            near("at-most", passed, Some(80.6), 0, false),
        ] {
            let text = format!(
                "goals:\n  - {{id: a, description: d, check: c, weight: 5, \
                 continuous: {{threshold: 80, direction: {}, tolerance: 0.5}}}}\n",
                near.direction
            );
            let read = goals::read_goals("GOALS.yaml", text.as_bytes());
            let (goals, _) = read.expect("valid goals");
            let (result, was_tolerated) = near.earlier;
            let before = snapshot(vec![Measurement {
                tolerated: was_tolerated,
                ..measured("a", result, 5)
            }]);
            let mut after = snapshot(vec![Measurement {
                value: near.value,
                exit: Some(near.exit),
                ..measured("a", CheckResult::Fail, 5)
            }]);
            after.tolerate(&before, &goals);
            let found = after.goals[0].tolerated;
            assert_eq!(
                found, near.is_tolerated,
                "{} {:?} {:?}",
                near.direction, near.earlier, near.value
            );
            let held = result == CheckResult::Pass || was_tolerated;
            let is_regression = held && !near.is_tolerated;
            assert_eq!(!newly_failing(&before, &after).is_empty(), is_regression);
        }
    }

    #[test]
    fn what_is_true_of_a_goal_stands_in_the_file_and_is_read_again() {
        let odd = Measurement {
            flaky: true,
            tolerated: true,
            reason: Some("why".to_owned()),
            output_tail: Some("out".to_owned()),
            ..measured("a", CheckResult::Fail, 5)
        };
        let written = serde_json::to_string(&odd).expect("JSON");
        let read: Measurement = serde_json::from_str(&written).expect("a measurement");
        assert_eq!(read, odd);
    }

    #[test]
    fn a_result_is_called_the_same_in_words_as_in_the_file() {
        for result in [CheckResult::Pass, CheckResult::Fail, CheckResult::Skip] {
            let written = serde_json::to_value(result).expect("JSON");
            assert_eq!(written.as_str(), Some(result.word()));
        }
    }

    #[test]
    fn what_is_true_of_no_goal_is_left_out_of_the_file() {
        let plain = serde_json::to_value(measured("a", CheckResult::Pass, 5)).expect("JSON");
        for absent in ["reason", "flaky", "tolerated", "output_tail"] {
            assert!(plain.get(absent).is_none(), "{absent}");
        }
        for present in ["value", "threshold"] {
            assert!(
                plain[present].is_null() && plain.get(present).is_some(),
                "{present}"
            );
        }
    }

    fn any_goals() -> impl Strategy<Value = Vec<Measurement>> {
        let results = vec![CheckResult::Pass, CheckResult::Fail, CheckResult::Skip];
        let goal = (1u8..=10, prop::sample::select(results));
        prop::collection::vec(goal, 1..6).prop_map(|goals| {
            let goals = goals.into_iter().enumerate();
            goals
                .map(|(index, (weight, result))| measured(&format!("g{index}"), result, weight))
                .collect()
        })
    }

    proptest! {
        #[test]
        fn a_goal_that_is_skipped_instead_never_raises_the_score(goals in any_goals(), index in 0usize..6) {
            let before = snapshot(goals.clone());
            let index = index % goals.len();
            let mut after = before.clone();
            after.replace(Measurement { result: CheckResult::Skip, ..goals[index].clone() });
            prop_assert!(after.score <= before.score);
            prop_assert!((0.0..=100.0).contains(&before.score));
            prop_assert_eq!(before.score == 100.0, before.goals_passing == before.goals_total);
        }

        #[test]
        fn no_goal_gets_worse_and_passes_anew_and_nothing_changes_between_the_same(one in any_goals(), two in any_goals()) {
            let (one, two) = (snapshot(one), snapshot(two));
            let (worse, anew) = (newly_failing(&one, &two), newly_passing(&one, &two));
            prop_assert!(worse.iter().all(|id| !anew.contains(id)));
            prop_assert!(newly_failing(&one, &one).is_empty() && newly_passing(&one, &one).is_empty());
        }
    }
}
