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
    /// The last 2 KiB of output of a failing check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
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
    after
        .with(CheckResult::Pass)
        .filter(|goal| !before.passes(&goal.id))
        .map(|goal| goal.id.clone())
        .collect()
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
