//! The entries of a lineage: one a line.

use serde::{Deserialize, Serialize};

use super::{Id, Plan};
use crate::model::search::score::Channel;

/// How an attempt is made from its parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// One change to its parent.
    Mutation,
    /// The best of two parents in one.
    Crossover,
    /// From the untouched code, another way.
    Fresh,
}

impl Operator {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Operator::Mutation => "mutation",
            Operator::Crossover => "crossover",
            Operator::Fresh => "fresh",
        }
    }
}

/// What an attempt is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its number, from 1.
    pub id: Id,
    /// How it is made.
    pub operator: Operator,
    /// What it is made from; the first is what the agent starts from.
    pub parents: Vec<Id>,
    /// Through which lens the agent looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
}

/// What an agent's work on an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Editable files differ from the parent's.
    Changed,
    /// None does.
    Unchanged,
    /// The agent gave up.
    Declined,
    /// The agent could not be run, failed or timed out, without a change.
    Failed,
}

impl Status {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Status::Changed => "changed",
            Status::Unchanged => "unchanged",
            Status::Declined => "declined",
            Status::Failed => "failed",
        }
    }
}

/// What an agent did for an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edited {
    /// What it came to.
    pub status: Status,
    /// The digest of the editable files, where they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The attempt's commit, where they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What was changed, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why it declined or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the agent learned that nobody knew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
    /// What the agent changed outside the editable files, which stays out of the attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Wall time in seconds.
    #[serde(default)]
    pub duration_s: f64,
    /// Tokens, if the agent reported them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in US dollars, if the agent reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Why an attempt is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// For the first time: gates, then samples.
    First,
    /// Interleaved with another attempt that it looks better than.
    Beside(Id),
    /// By the hold-out.
    HoldOut,
    /// The baseline again, after so many attempts in a row up to this one came to nothing.
    Again(Id),
    /// The winner interleaved with the baseline, at the end.
    Last,
}

impl Measure {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Measure::First => "first",
            Measure::Beside(_) => "beside",
            Measure::HoldOut => "holdout",
            Measure::Again(_) => "again",
            Measure::Last => "last",
        }
    }

    /// Returns the attempt that is measured beside it, if one is.
    pub fn beside(self) -> Option<Id> {
        match self {
            Measure::Beside(other) => Some(other),
            Measure::Last => Some(0),
            Measure::First | Measure::HoldOut | Measure::Again(_) => None,
        }
    }
}

/// What measuring came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every sample is a finite number.
    Scored {
        /// The attempt's samples.
        samples: Vec<f64>,
        /// Those of the attempt beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beside: Vec<f64>,
    },
    /// A gate did not pass.
    GateFailed(String),
    /// There is no score, and why.
    Invalid(String),
}

/// A measurement of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What it came to.
    pub outcome: Outcome,
    /// Where the fitness command, or the hold-out, says the score of the untouched code; of that only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// What the attempt changes that its measuring leans on and nothing freezes: settings, tests and their like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaned_on: Vec<String>,
    /// Wall time in seconds.
    #[serde(default)]
    pub duration_s: f64,
}

/// What a person wrote while a search ran. It holds for what is proposed after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The newest attempt that was proposed when it was written.
    pub after: Id,
    /// What it says.
    pub word: Word,
}

/// What a note says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// For the agents to read.
    Instruction(String),
    /// This attempt and what was made from it are not bred from and not the best any more.
    Prune(Id),
    /// The search goes on otherwise.
    Adjust(Adjustment),
}

/// What is otherwise from now on; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adjustment {
    /// How many attempts live at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// How many generations there are at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generations: Option<u64>,
    /// When it counts as a plateau; the largest number there is: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<u64>,
    /// How many attempts there are at most; the largest number there is: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u64>,
    /// The most that all calls of agents may cost, in USD; the largest number there is: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// How long the session may take from then on, in seconds; the largest number there is: any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_s: Option<f64>,
    /// The lenses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lenses: Option<Vec<String>>,
}

impl Adjustment {
    /// Returns what is otherwise once this came and then `later`.
    pub fn and(self, later: &Adjustment) -> Adjustment {
        Adjustment {
            k: later.k.or(self.k),
            generations: later.generations.or(self.generations),
            stale: later.stale.or(self.stale),
            max_attempts: later.max_attempts.or(self.max_attempts),
            max_cost: later.max_cost.or(self.max_cost),
            max_time_s: later.max_time_s.or(self.max_time_s),
            lenses: later.lenses.clone().or(self.lenses),
        }
    }
}

/// Why a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The baseline has no score.
    NoBaseline,
    /// No new best for as long as was asked for.
    Plateau,
    /// All generations there are to be.
    Generations,
    /// The score that was asked for.
    Until,
    /// All attempts there are to be.
    MaxAttempts,
    /// The baseline cannot be measured any more.
    EnvironmentChanged,
    /// All that may be spent is spent.
    MaxCost,
    /// A person.
    Stopped,
}

impl Why {
    /// Says whether a search that ended so can go on: a person stopped it, can allow more, or can repair what
    /// ended it.
    pub fn can_go_on(self) -> bool {
        matches!(self, Why::Stopped | Why::MaxCost | Why::EnvironmentChanged)
    }

    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Why::NoBaseline => "no-baseline",
            Why::Plateau => "plateau",
            Why::Generations => "generations",
            Why::Until => "until",
            Why::MaxAttempts => "max-attempts",
            Why::EnvironmentChanged => "environment-changed",
            Why::MaxCost => "max-cost",
            Why::Stopped => "stopped",
        }
    }

    /// Says why, for people.
    pub fn words(self) -> &'static str {
        match self {
            Why::NoBaseline => "the untouched code has no score",
            Why::Plateau => "plateau: no new best for as long as --stale allows",
            Why::Generations => "all generations are done",
            Why::Until => "the score that was asked for is reached",
            Why::MaxAttempts => "all attempts are done",
            Why::EnvironmentChanged => {
                "the untouched code can no longer be measured: the environment changed"
            }
            Why::MaxCost => "stopped: the limit of cost is reached or cannot be held (--max-cost)",
            Why::Stopped => "stopped",
        }
    }
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Why it ended.
    pub why: Why,
    /// The best attempt; 0 where nothing was better than the untouched code.
    pub best: Id,
}

/// One line of a lineage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// What was asked for; the first line.
    Header(Box<Plan>),
    /// An attempt was proposed.
    Attempt(Proposal),
    /// An agent worked on it.
    Edit {
        /// The attempt.
        id: Id,
        /// What it came to.
        edited: Edited,
    },
    /// It was measured.
    Measurement {
        /// The attempt.
        id: Id,
        /// Why.
        what: Measure,
        /// What it came to.
        measured: Measured,
    },
    /// A person wrote something.
    Note(Note),
    /// It ended.
    End(End),
    /// It goes on after an end.
    Resumed {
        /// When, RFC 3339 in UTC.
        at: String,
    },
}
