//! What a search is asked for, by one place: the command line, or the user's SEARCH.yaml. Reading the file, with a place for each
//! problem, is `read`'s job. Pure.

mod adjust;
mod find;
mod init;
mod read;
mod sources;

use std::time::Duration;

use crate::model::sandbox::Wish;
use crate::model::search::lineage::{Direction, Population, Strategy};

pub use adjust::{Used, adjusted, adjustment, in_words};
pub use find::{Bench, benches, gates};
pub use init::{Wishes, file, guess};
pub use read::read_search;
pub use sources::sources;

/// The name of the file, in the repository's root.
pub const NAME: &str = "SEARCH.yaml";
/// How long a command may take unless said otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(600);

/// A number, or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// So many.
    At(u64),
    /// Any number.
    Off,
}

impl Bound {
    /// Returns the number, if there is one.
    pub fn number(self) -> Option<u64> {
        match self {
            Bound::At(number) => Some(number),
            Bound::Off => None,
        }
    }
}

/// How a search chooses what it tries next, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrategyName {
    /// Vary the best again and again; explore where that no longer helps.
    #[default]
    Climb,
    /// Generations: the better half stays, the rest is bred anew.
    Population,
}

/// The words for `StrategyName`.
pub const STRATEGIES: &[(&str, StrategyName)] = &[
    ("climb", StrategyName::Climb),
    ("population", StrategyName::Population),
];

/// The words for `Direction`.
pub const DIRECTIONS: &[(&str, Direction)] = &[("max", Direction::Max), ("min", Direction::Min)];

/// The most of anything that is done side by side, or in a row for one score.
pub const MOST_AT_ONCE: u64 = 1000;

/// What one place asks for; what it does not say is none, or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The fitness command.
    pub fitness: Option<String>,
    /// Patterns of the files that attempts may change.
    pub files: Vec<String>,
    /// How what is tried next is chosen.
    pub strategy: Option<StrategyName>,
    /// What the number stands for.
    pub objective: Option<String>,
    /// Which way it is better.
    pub direction: Option<Direction>,
    /// Commands that have to pass before an attempt is scored.
    pub gates: Vec<String>,
    /// The command whose score a new best may not worsen.
    pub holdout: Option<String>,
    /// How many samples of either side confirm what looks better.
    pub repeats: Option<u64>,
    /// How many agents work at once.
    pub agents: Option<u64>,
    /// How many attempts are measured at once.
    pub benchmarks: Option<u64>,
    /// How long each command may take.
    pub timeout: Option<Duration>,
    /// The command that makes a slot ready.
    pub prepare: Option<String>,
    /// Ignored paths of the checkout that a slot is lent.
    pub link: Vec<String>,
    /// The score with which the search ends.
    pub until: Option<f64>,
    /// What all randomness comes from.
    pub seed: Option<u64>,
    /// When it counts as a plateau.
    pub stale: Option<Bound>,
    /// How many attempts there are at most.
    pub max_attempts: Option<Bound>,
    /// The most that agents may cost, in US dollars.
    pub max_cost: Option<f64>,
    /// The longest that a session may last.
    pub max_time: Option<Duration>,
    /// How many attempts of a population live at once.
    pub k: Option<u64>,
    /// How many generations of a population there are at most.
    pub generations: Option<u64>,
    /// Lenses, by name or in words.
    pub lenses: Vec<String>,
    /// Patterns of files that attempts never change.
    pub protect: Vec<String>,
    /// Whether the goals that pass on the untouched code are gates, too.
    pub goals_as_gates: Option<bool>,
    /// The agent, by name or as a command line.
    pub agent: Option<String>,
    /// How agents and commands are held back.
    pub sandbox: Wish,
}

impl Asked {
    /// Returns this, and where it says nothing, the other. A list is one thing: it is taken whole.
    #[must_use]
    pub fn or(self, other: Asked) -> Asked {
        let list = |own: Vec<String>, other| if own.is_empty() { other } else { own };
        Asked {
            fitness: self.fitness.or(other.fitness),
            files: list(self.files, other.files),
            strategy: self.strategy.or(other.strategy),
            objective: self.objective.or(other.objective),
            direction: self.direction.or(other.direction),
            gates: list(self.gates, other.gates),
            holdout: self.holdout.or(other.holdout),
            repeats: self.repeats.or(other.repeats),
            agents: self.agents.or(other.agents),
            benchmarks: self.benchmarks.or(other.benchmarks),
            timeout: self.timeout.or(other.timeout),
            prepare: self.prepare.or(other.prepare),
            link: list(self.link, other.link),
            until: self.until.or(other.until),
            seed: self.seed.or(other.seed),
            stale: self.stale.or(other.stale),
            max_attempts: self.max_attempts.or(other.max_attempts),
            max_cost: self.max_cost.or(other.max_cost),
            max_time: self.max_time.or(other.max_time),
            k: self.k.or(other.k),
            generations: self.generations.or(other.generations),
            lenses: list(self.lenses, other.lenses),
            protect: list(self.protect, other.protect),
            goals_as_gates: self.goals_as_gates.or(other.goals_as_gates),
            agent: self.agent.or(other.agent),
            sandbox: self.sandbox.or(&other.sandbox),
        }
    }

    /// Returns the strategy with all that it is told, and after how many attempts or generations without a new best it counts as a
    /// plateau.
    pub fn strategy(&self) -> (Strategy, Bound) {
        let (strategy, stale) = match self.strategy.unwrap_or_default() {
            StrategyName::Climb => (Strategy::Climb, 20),
            StrategyName::Population => {
                let population = Population {
                    k: self.k.unwrap_or(4),
                    generations: self.generations.unwrap_or(10),
                };
                (Strategy::Population(population), 3)
            }
        };
        (strategy, self.stale.unwrap_or(Bound::At(stale)))
    }

    /// Returns what is asked for that only a population knows, in the words of the command line.
    pub fn of_population(&self) -> Option<&'static str> {
        let given = [("-k", self.k.is_some()), ("-g", self.generations.is_some())];
        let given = given.into_iter().find(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
    }
}

#[cfg(test)]
mod tests;
