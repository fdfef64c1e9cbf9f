//! What a search was asked for, resolved: the header of its lineage.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::goals::Goals;
use crate::model::sandbox::Wish;
use crate::model::search::file;

/// Which way a score is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The larger number.
    #[default]
    Max,
    /// The smaller number.
    Min,
}

impl Direction {
    /// Says whether `a` is better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Direction::Max => a > b,
            Direction::Min => a < b,
        }
    }

    /// Says whether every one of `these` is better than every one of `those`, and there are both.
    pub fn are_all_better(self, these: &[f64], those: &[f64]) -> bool {
        let beats_all = |a: &f64| those.iter().all(|b| self.is_better(*a, *b));
        !these.is_empty() && !those.is_empty() && these.iter().all(beats_all)
    }

    /// Orders scores with the better first.
    pub fn better_first(self, a: f64, b: f64) -> std::cmp::Ordering {
        match self {
            Direction::Max => b.total_cmp(&a),
            Direction::Min => a.total_cmp(&b),
        }
    }

    /// Returns the word for what is better.
    pub fn better_word(self) -> &'static str {
        match self {
            Direction::Max => "higher",
            Direction::Min => "lower",
        }
    }

    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Max => "max",
            Direction::Min => "min",
        }
    }
}

/// How a search chooses what it tries next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Varies the incumbent; explores where that no longer helps.
    Climb,
    /// Generations: the better half stays, the rest is bred anew.
    Population(Population),
}

/// How large generations are, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Population {
    /// How many attempts live at once.
    pub k: u64,
    /// How many generations there are at most.
    pub generations: u64,
}

impl Strategy {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Strategy::Climb => "climb",
            Strategy::Population(_) => "population",
        }
    }
}

/// What a search was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the format.
    pub format: u32,
    /// How it chooses what it tries next.
    pub strategy: Strategy,
    /// Which way a score is better.
    pub direction: Direction,
    /// How many samples of either side confirm what looks better, where the fitness command is noisy.
    pub repeats: u64,
    /// How many attempts are under way at once; attempt n is proposed from the settled attempts up to n less this.
    pub agents: u64,
    /// The score with which the search ends.
    pub until: Option<f64>,
    /// All randomness comes from it.
    pub seed: u64,
    /// How many attempts (climb) or generations (population) there are without a new best before it counts as a plateau;
    /// none: any number.
    pub stale: Option<u64>,
    /// How many attempts there are at most.
    pub max_attempts: Option<u64>,
    /// The lenses, in the order that the seed gave them.
    pub lenses: Vec<String>,
    /// Whether a new best is held against a hold-out.
    pub has_holdout: bool,
    /// The tree of the untouched code.
    pub content: String,
    /// What is done with attempts, which decides nothing of what comes next.
    #[serde(default)]
    pub request: Request,
}

/// What is worked on, and how it is measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// When the search began, RFC 3339 in UTC.
    pub started: String,
    /// The branch that was checked out (`refs/heads/…`).
    pub branch: String,
    /// Its commit: the untouched code.
    pub base: String,
    /// The fitness command.
    pub fitness: String,
    /// What the number stands for, in the user's words.
    pub objective: Option<String>,
    /// Patterns of the files that attempts may change.
    pub files: Vec<String>,
    /// Files that attempts never change, because commands run them.
    pub frozen: Vec<String>,
    /// Those of them that only the hold-out runs, of which no agent is told.
    pub hidden: Vec<String>,
    /// Patterns of files that attempts never change.
    pub protect: Vec<String>,
    /// Commands that have to pass before an attempt is scored.
    pub gates: Vec<String>,
    /// How long those of them may take that have a limit of their own, as goals do, in seconds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gate_timeouts_s: BTreeMap<String, f64>,
    /// The command whose score a new best may not worsen.
    pub holdout: Option<String>,
    /// How many attempts are measured at once.
    pub benchmarks: u64,
    /// How long each command may take, in seconds.
    pub timeout_s: f64,
    /// The command that makes a slot ready.
    pub prepare: Option<String>,
    /// Ignored paths of the checkout that a slot is lent.
    pub link: Vec<String>,
    /// The agent, as the user named it.
    pub agent: String,
    /// How agents and commands are held back, as asked for.
    pub sandbox: Wish,
    /// The most that agents may cost, in US dollars.
    pub max_cost: Option<f64>,
    /// The longest that a session may last, in seconds.
    pub max_time_s: Option<f64>,
}

impl Request {
    /// Returns how long a gate may take, in seconds.
    pub fn gate_timeout_s(&self, gate: &str) -> f64 {
        let own = self.gate_timeouts_s.get(gate);
        own.copied().unwrap_or(self.timeout_s)
    }

    /// Returns what attempts are measured by, as goals: the fitness command, the gates, and what makes a slot ready for them.
    pub fn measured_by(&self) -> Goals {
        self.as_goals(self.gates.iter().chain([&self.fitness]))
    }

    /// Returns what a new best is held against, likewise.
    pub fn held_out_by(&self) -> Goals {
        self.as_goals(self.holdout.iter())
    }

    fn as_goals<'c>(&self, commands: impl Iterator<Item = &'c String>) -> Goals {
        let commands: Vec<String> = commands.cloned().collect();
        let mut goals = Goals::of_commands(&commands);
        goals.settings.protect.clone_from(&self.protect);
        Goals {
            prepare: self.prepare.clone(),
            ..goals
        }
    }

    /// Returns the frozen files that agents are told of.
    pub fn told_frozen(&self) -> Vec<String> {
        let is_told = |path: &&String| !self.hidden.contains(path);
        self.frozen.iter().filter(is_told).cloned().collect()
    }

    /// Returns the patterns of `protect` that agents are told of: what a person named.
    pub fn told_protect(&self) -> Vec<String> {
        let is_named = |pattern: &&String| *pattern != file::NAME;
        self.protect.iter().filter(is_named).cloned().collect()
    }
}
