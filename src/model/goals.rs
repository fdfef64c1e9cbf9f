//! The user's GOALS.yaml as typed values. Reading it, with a place for each problem, is `read`'s job. Pure.

mod agents;
mod edit;
pub(in crate::model) mod fields;
mod goal;
pub(in crate::model) mod node;
mod plain;
mod read;
mod reading;
pub(in crate::model) mod report;
pub(in crate::model) mod sandbox;
pub(in crate::model) mod settings;
mod sweep;
mod tree;
mod unread;
mod values;
pub(in crate::model) mod yaml;

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::model::reading::Reading;
use crate::model::sandbox::Wish;
use crate::model::slot::Provisions;
use crate::model::sweep::Part;
use crate::model::{agent, digest};

pub use agents::read_agents;
pub use edit::{Threshold, with_thresholds, written_threshold};
pub use fields::{nearest, nearest_id};
pub use plain::read_plain;
pub use read::{read_config, read_goals};
pub use report::{Problem, to_error, to_spots};
pub use unread::{Unread, unread_problems};

/// The largest goals file that is read, in bytes: the YAML parser is quadratic on hostile input.
pub const MAX_BYTES: usize = 256 * 1024;
/// The deepest nesting that is read.
pub const MAX_DEPTH: usize = 64;
/// How long a check may run unless the goal or the file says otherwise.
pub const DEFAULT_CHECK_TIMEOUT: Duration = Duration::from_secs(600);
/// How long an agent may run unless configured.
pub const DEFAULT_AGENT_TIMEOUT: Duration = Duration::from_secs(3600);
/// How often a newly failing goal is measured again unless the goal says otherwise.
pub const DEFAULT_RETRIES: u32 = 2;

/// A whole goals file.
#[derive(Clone, Debug, PartialEq)]
pub struct Goals {
    /// What the repository is for, in the user's words.
    pub mission: Option<String>,
    /// The `evolve:` block.
    pub settings: Settings,
    /// The goals in file order.
    pub goals: Vec<Goal>,
    /// What makes a copy ready that checks run in: the file's, unless a flag says otherwise.
    pub prepare: Option<String>,
    /// SHA-256 of the file's bytes, in hex.
    pub digest: String,
}

/// Returns how many characters the longest id of these goals has.
pub fn longest_id(goals: &[&Goal]) -> usize {
    let ids = goals.iter().map(|goal| goal.id.chars().count());
    ids.max().unwrap_or(0)
}

impl Goals {
    /// Returns goals that are these commands and nothing else.
    pub fn of_commands(commands: &[String]) -> Goals {
        let goal = |(number, command): (usize, &String)| Goal {
            id: format!("command-{}", number + 1),
            description: String::new(),
            check: command.clone(),
            weight: 1,
            kind: GoalKind::default(),
            pillar: None,
            tags: Vec::new(),
            timeout: None,
            alone: false,
            retries: 0,
            continuous: None,
            line: 0,
        };
        Goals {
            mission: None,
            settings: Settings {
                sweep: Some(Vec::new()),
                ..Settings::default()
            },
            goals: commands.iter().enumerate().map(goal).collect(),
            prepare: None,
            digest: String::new(),
        }
    }

    /// Returns the goal called `id`.
    pub fn find(&self, id: &str) -> Option<&Goal> {
        self.goals.iter().find(|goal| goal.id == id)
    }

    /// Returns the commands that the loop itself runs: each check; what makes copies ready, whose traces checks find; who is told of
    /// what becomes of cycles, outside of what holds an agent back; and what a sweep finds work with, and whether it is done.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let checks = self.goals.iter().map(|goal| goal.check.as_str());
        let hooks = self.settings.hooks().map(|(_, command)| command);
        let sweep = self.settings.sweep.iter().flatten();
        let own = sweep.filter_map(|part| match part {
            Part::Own(command) => Some(command.run.as_str()),
            Part::Linters | Part::Markers | Part::Floors => None,
        });
        checks
            .chain(self.prepare.as_deref())
            .chain(hooks)
            .chain(own)
    }
}

/// How the loop runs here: the `evolve:` block of GOALS.yaml, or the user's `config.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The agent to hand fixes to.
    pub agent: Option<AgentSpec>,
    /// Agents that are changed or added, in file order.
    pub agents: Vec<agent::Entry>,
    /// How many checks run at once.
    pub jobs: Option<usize>,
    /// How long a check may run.
    pub timeout: Option<Duration>,
    /// Globs of files that no cycle may change or add to.
    pub protect: Vec<String>,
    /// Globs of files that checks run and agents may change all the same: they are what the goals are about.
    pub product: Vec<String>,
    /// How agent and checks are held back.
    pub sandbox: Wish,
    /// What a sweep looks with; linters unless said.
    pub sweep: Option<Vec<Part>>,
    /// The command that is told of each cycle.
    pub on_cycle: Option<String>,
    /// The command that is told how a session ended.
    pub on_end: Option<String>,
    /// Where a session ends by itself.
    pub limits: Limits,
    /// Whether the agent works in a slot.
    pub isolate: Option<bool>,
    /// Where a cycle measures.
    pub measure: Where,
    /// The command that makes a slot ready.
    pub prepare: Option<String>,
    /// Ignored paths of the checkout that a slot is lent.
    pub link: Vec<String>,
}

impl Settings {
    /// Returns the commands that are told of what becomes of cycles, each with its key.
    pub fn hooks(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let hooks = [("on_cycle", &self.on_cycle), ("on_end", &self.on_end)];
        let hooks = hooks.into_iter();
        hooks.filter_map(|(key, command)| Some((key, command.as_deref()?)))
    }

    /// Returns what slots are given beside their commit.
    pub fn provisions(&self) -> Provisions {
        Provisions {
            link: self.link.clone(),
            prepare: self.prepare.clone(),
        }
    }
}

/// Where a cycle measures its goals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Where {
    /// Where the agent works.
    #[default]
    Here,
    /// In a slot made anew, with nothing in it but what is committed.
    Clean,
}

/// Where a session ends by itself; nothing is limited unless set.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Longest duration of a session; in documents its seconds.
    #[serde(
        rename = "max_time_s",
        skip_serializing_if = "Option::is_none",
        serialize_with = "in_seconds"
    )]
    pub max_time: Option<Duration>,
    /// Most cycles of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cycles: Option<u64>,
    /// Most that the agents of a session may cost, in US dollars as they report it.
    #[serde(rename = "max_cost_usd", skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Most tokens that the agents of a session may use, as they report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

fn in_seconds<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(to)
}

impl Limits {
    /// Returns these limits, and where one is not set, the other's.
    #[must_use]
    pub fn or(self, other: &Limits) -> Limits {
        Limits {
            max_time: self.max_time.or(other.max_time),
            max_cycles: self.max_cycles.or(other.max_cycles),
            max_cost: self.max_cost.or(other.max_cost),
            max_tokens: self.max_tokens.or(other.max_tokens),
        }
    }
}

/// Which agent is called and how.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentSpec {
    /// A command line for `sh -c`, the brief on stdin.
    Line(String),
    /// A program with its arguments, spelled out.
    Command(AgentCommand),
}

/// A program with its arguments and how the brief reaches it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCommand {
    /// Program and arguments; never empty.
    pub command: Vec<String>,
    /// How the brief goes in.
    pub prompt: agent::Prompt,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How long it may be silent (no output at all) before it counts as stuck.
    pub idle_timeout: Option<Duration>,
}

/// One thing that should hold, and the command that tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Unique, kebab-case.
    pub id: String,
    /// What should hold, for people and agents.
    pub description: String,
    /// Shell command; exit 0 passes.
    pub check: String,
    /// 1 to 10; higher is fixed first.
    pub weight: u8,
    /// What sort of goal it is.
    pub kind: GoalKind,
    /// Free text.
    pub pillar: Option<String>,
    /// Free words.
    pub tags: Vec<String>,
    /// How long the check may run; the file's default if absent.
    pub timeout: Option<Duration>,
    /// Never beside another check.
    pub alone: bool,
    /// How often it is measured again before a new failure counts.
    pub retries: u32,
    /// The measured value, if the goal has one.
    pub continuous: Option<Continuous>,
    /// 1-based line of the goal in its file.
    pub line: usize,
}

/// The sort of a goal (`type` in the file).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalKind {
    /// The code works.
    #[default]
    Health,
    /// The code is shaped well.
    Architecture,
    /// The code is good.
    Quality,
    /// The goals themselves are kept honest.
    Meta,
}

/// How a number is read from a check and what it is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Continuous {
    /// What the number is, for people.
    pub metric: Option<String>,
    /// What the number is held against.
    pub threshold: Option<f64>,
    /// Which side of the threshold is good; absent, the exit code alone decides.
    pub direction: Option<Direction>,
    /// Where the number stands.
    pub read: Reading,
    /// How far on the wrong side of the threshold a goal that passed before is left alone.
    pub tolerance: f64,
}

/// Which side of a threshold is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The value must be the threshold or more.
    AtLeast,
    /// The value must be the threshold or less.
    AtMost,
}

impl Direction {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Direction::AtLeast => "at-least",
            Direction::AtMost => "at-most",
        }
    }
}

impl Continuous {
    /// Says whether `value` meets the threshold. True without a direction or threshold: the exit code alone decides then.
    pub fn is_met_by(&self, value: f64) -> bool {
        match (self.direction, self.threshold) {
            (Some(Direction::AtLeast), Some(threshold)) => value >= threshold,
            (Some(Direction::AtMost), Some(threshold)) => value <= threshold,
            (None, _) | (_, None) => true,
        }
    }

    /// Says whether `value` misses the threshold by no more than the tolerance.
    pub fn is_within_tolerance(&self, value: f64) -> bool {
        match (self.direction, self.threshold) {
            (Some(Direction::AtLeast), Some(threshold)) => {
                value < threshold && value >= threshold - self.tolerance
            }
            (Some(Direction::AtMost), Some(threshold)) => {
                value > threshold && value <= threshold + self.tolerance
            }
            (None, _) | (_, None) => false,
        }
    }
}

impl Goal {
    /// Returns the digest of what decides whether the goal passes: check, threshold, direction.
    pub fn definition(&self) -> String {
        let (threshold, direction) = match &self.continuous {
            Some(continuous) => (continuous.threshold, continuous.direction),
            None => (None, None),
        };
        let threshold = threshold.map_or(String::new(), |value| value.to_string());
        let direction = direction.map_or("", Direction::word);
        digest::short(&[&self.check, &threshold, direction])
    }

    /// Returns the threshold, if the goal has one.
    pub fn threshold(&self) -> Option<f64> {
        self.continuous
            .as_ref()
            .and_then(|continuous| continuous.threshold)
    }
}
