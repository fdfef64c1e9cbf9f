//! One line of `cycle-history.jsonl`, and the history that such lines make. Pure.

use serde::{Deserialize, Serialize};

use crate::model::text::json_problem;

/// What became of a cycle (the verdict table of the README).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CycleResult {
    /// The chosen goal passes; the change is kept.
    Improved,
    /// Nothing got worse and the chosen goal still fails.
    Unchanged,
    /// The change made something worse; it is undone.
    Regressed,
    /// The agent ended badly without a change, or gave up.
    Failed,
    /// A work item was done; the change is kept.
    Harvested,
    /// The cycle was cut short.
    Interrupted,
    /// There was nothing to do.
    Idle,
}

impl CycleResult {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            CycleResult::Improved => "improved",
            CycleResult::Unchanged => "unchanged",
            CycleResult::Regressed => "regressed",
            CycleResult::Failed => "failed",
            CycleResult::Harvested => "harvested",
            CycleResult::Interrupted => "interrupted",
            CycleResult::Idle => "idle",
        }
    }
}

/// How the agent of a cycle ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    /// What was run, as the user named it.
    pub name: String,
    /// `done`, `failed`, `timed out`, `idle` or `stopped`.
    pub status: String,
    /// Its exit code, unless a signal ended it.
    pub exit: Option<i32>,
    /// Wall time in seconds.
    pub duration_s: f64,
    /// Tokens, if it reported them.
    pub tokens: Option<u64>,
    /// Cost in US dollars, if it reported it.
    pub cost_usd: Option<f64>,
}

/// What one cycle did, for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format; the records of before there was a format are read as the first.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The cycle's number, from 1.
    pub cycle: u64,
    /// The goal, `next-work:<title>` for a work item, none when idle.
    pub goal_id: Option<String>,
    /// What became of it.
    pub result: CycleResult,
    /// HEAD after settling and before this record's own commit.
    pub commit_sha: String,
    /// The cycle's start if it was undone.
    #[serde(default)]
    pub reverted_to: Option<String>,
    /// Passing goals in the last snapshot of the cycle, as measured.
    pub goals_passing: usize,
    /// All goals in that snapshot.
    pub goals_total: usize,
    /// Goals that the cycle added to GOALS.yaml.
    #[serde(default)]
    pub goals_added: usize,
    /// When the record was made, RFC 3339 in UTC.
    pub timestamp: String,
    /// Score of the first snapshot.
    #[serde(default)]
    pub score_before: Option<f64>,
    /// Score of the last snapshot, as measured.
    #[serde(default)]
    pub score_after: Option<f64>,
    /// Goals that passed before and no longer did, or that could no longer be measured.
    #[serde(default)]
    pub newly_failing: Vec<String>,
    /// Goals that pass now and did not at the last record or before the agent.
    #[serde(default)]
    pub newly_passing: Vec<String>,
    /// Why, in words.
    #[serde(default)]
    pub reason: Option<String>,
    /// Digest of the goal's check, threshold and direction.
    #[serde(default)]
    pub definition: Option<String>,
    /// Digest of the content the cycle left.
    #[serde(default)]
    pub content: Option<String>,
    /// The session that ran it.
    #[serde(default)]
    pub session: Option<String>,
    /// How the agent ended, if one ran.
    #[serde(default)]
    pub agent: Option<AgentReport>,
    /// What a reader should know besides: files named by a check that changed, ignored files that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn first_format() -> u32 {
    1
}

/// The start of the reason of an undone cycle whose regression outlived the undo.
pub const ENVIRONMENT_CHANGED: &str = "environment changed";
/// The start of the reason of a cycle whose agent gave up.
pub const DECLINED: &str = "declined: ";
/// The start of `goal_id` for a work item.
pub const NEXT_WORK: &str = "next-work:";

impl Record {
    /// Says whether the cycle counts as one without progress (rule 4). Interrupted cycles and changed environments count
    /// neither way.
    pub fn is_without_progress(&self) -> bool {
        match self.result {
            CycleResult::Regressed => !self.is_environment_change(),
            CycleResult::Unchanged | CycleResult::Failed => true,
            CycleResult::Improved
            | CycleResult::Harvested
            | CycleResult::Interrupted
            | CycleResult::Idle => false,
        }
    }

    /// Says whether the undone cycle's regression was not its own.
    pub fn is_environment_change(&self) -> bool {
        self.reason
            .as_deref()
            .is_some_and(|reason| reason.starts_with(ENVIRONMENT_CHANGED))
    }

    /// Says whether the agent of the cycle gave up.
    pub fn is_declined(&self) -> bool {
        self.result == CycleResult::Failed
            && self
                .reason
                .as_deref()
                .is_some_and(|reason| reason.starts_with(DECLINED))
    }

    /// Says whether the cycle was undone.
    pub fn is_undone(&self) -> bool {
        self.reverted_to.is_some()
    }
}

/// The records of a repository as read from its history, oldest first, and what could not be read.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The records of the active file, in the file's order.
    pub records: Vec<Record>,
    /// What is wrong with the file, in words, a line each.
    pub problems: Vec<String>,
}

impl History {
    /// Reads the text of `cycle-history.jsonl`; lines that are no record are reported and left out.
    pub fn parse(text: &str) -> History {
        let mut history = History::default();
        let mut seen = std::collections::HashSet::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() {
                continue;
            }
            match serde_json::from_str::<Record>(line) {
                Ok(record) => {
                    if !seen.insert(record.cycle) {
                        history.problems.push(format!(
                            "line {}: cycle {} is recorded more than once",
                            index + 1,
                            record.cycle
                        ));
                    }
                    history.records.push(record);
                }
                Err(cause) => history.problems.push(format!(
                    "line {}: not a record: {}",
                    index + 1,
                    json_problem(&cause)
                )),
            }
        }
        history
    }

    /// Returns the number of the next cycle: the highest so far, plus one.
    pub fn next_cycle(&self) -> u64 {
        self.records
            .iter()
            .map(|record| record.cycle)
            .max()
            .unwrap_or(0)
            + 1
    }

    /// Returns the newest record.
    pub fn newest(&self) -> Option<&Record> {
        self.records.last()
    }

    /// Returns how many idle cycles in a row, up to the newest record, found exactly `content`.
    pub fn idle_streak(&self, content: &str) -> usize {
        self.records
            .iter()
            .rev()
            .take_while(|record| {
                record.result == CycleResult::Idle && record.content.as_deref() == Some(content)
            })
            .count()
    }
}
