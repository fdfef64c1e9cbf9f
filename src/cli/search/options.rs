//! What a search can be asked for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use super::apply::ApplyOptions;
use super::look::options::{
    BoardOptions, DiffOptions, ReportOptions, ShowOptions, StatusOptions, Which,
};
use crate::cli::complete;
use crate::cli::headings;
use crate::cli::options::Progress;
use crate::cli::options::{agent, at_least_one, attempt, dollars, lendable, one_of, time};
use crate::model::sandbox::{MODES, Mode, Wish};
use crate::model::search::file::{
    Asked, Bound, DIRECTIONS, MOST_AT_ONCE, STRATEGIES, StrategyName,
};
use crate::model::search::lineage::{Direction, Id};

/// `evolve search`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_precedence_over_arg = true,
    mut_args(headings::of_search)
)]
pub(in crate::cli) struct SearchCommand {
    #[command(subcommand)]
    pub(super) action: Option<SearchAction>,
    #[command(flatten)]
    pub(super) options: SearchOptions,
}

/// What can be done with a search.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SearchAction {
    /// Look at the repository and write a SEARCH.yaml for it
    Init(InitOptions),
    /// Go on with a search that was cut short or stopped
    #[command(
        mut_arg("agent", |arg| arg.help("The agent, as for the loop [default: the search's own]")),
        mut_arg("max_time", |arg| arg.help("End the session after this time, as in 90s, 30m, 2h [default: the search's own]")),
        mut_arg("max_cost", |arg| arg.help("Propose nothing more once agents have cost this many US dollars, as they report it [default: the search's own]")),
        mut_arg("sandbox", |arg| arg.help("Hold agents and commands back [default: the search's own]")),
        mut_arg("number", |arg| arg.help("The newest search, named: also where evolve has not written it as it is"))
    )]
    Resume(ResumeOptions),
    /// Where it stands: what runs or comes next, the best, the limits
    Status(StatusOptions),
    /// The attempts, the best first
    Board(BoardOptions),
    /// All that is known of one attempt
    Show(ShowOptions),
    /// What an attempt changes, as a patch
    Diff(DiffOptions),
    /// One page about all of it, as a file of its own: scores, the tree of attempts, their changes and reasons
    Report(ReportOptions),
    /// Tell the agents something: it stands in every brief from now on
    Note {
        /// What
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Take an attempt, and what was made from it, out of the search
    Prune {
        /// The attempt
        #[arg(value_parser = attempt, add = ArgValueCompleter::new(complete::attempts))]
        id: Id,
    },
    /// End the search when what runs is done; `resume` goes on with it
    Stop,
    /// Bring the best attempt, or another, to the branch: merged, measured there, one merge commit
    Apply(ApplyOptions),
    /// Write the lineage to stdout or a file, one entry a line
    Export {
        /// The file
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        which: Which,
    },
    /// Give the newest search up: its attempts, refs and copies are removed
    Discard,
}

/// How a search is gone on with.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ResumeOptions {
    #[command(flatten)]
    pub(super) running: RunningOptions,
    #[command(flatten)]
    pub(super) which: Which,
}

/// What goes into a new SEARCH.yaml.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct InitOptions {
    /// The fitness command [default: what is found first that measures something]
    #[arg(long, value_name = "CMD", value_parser = filled)]
    pub(super) fitness: Option<String>,
    /// Which way its number is better [default: that of what is found, else max]
    #[arg(long, value_name = "max|min", value_parser = one_of(DIRECTIONS), add = complete::one_of(DIRECTIONS))]
    pub(super) direction: Option<Direction>,
    /// Files that attempts may change, as patterns [default: the sources that no command runs]
    #[arg(long, value_name = "GLOB", num_args = 1.., value_parser = filled)]
    pub(super) files: Vec<String>,
}

/// What a search is begun with.
#[derive(Clone, Debug, Args)]
pub(super) struct SearchOptions {
    /// The fitness command: its last line of stdout is the number [default: that of SEARCH.yaml]
    #[arg(value_parser = filled)]
    pub(super) fitness: Option<String>,
    /// The file that says what options do not [default: SEARCH.yaml in the repository's root]
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Files that attempts may change, as patterns; may be repeated
    #[arg(long, value_name = "GLOB", num_args = 1.., value_parser = filled)]
    pub(super) files: Vec<String>,
    /// How what is tried next is chosen: climb varies the best again and again, population keeps the better half of a generation
    /// and breeds the rest anew [default: climb]
    #[arg(long, value_name = "climb|population", value_parser = one_of(STRATEGIES), add = complete::one_of(STRATEGIES))]
    pub(super) strategy: Option<StrategyName>,
    /// What the number stands for, for the agents
    #[arg(long, value_name = "TEXT")]
    pub(super) objective: Option<String>,
    /// Which way the number is better [default: max]
    #[arg(long, value_name = "max|min", value_parser = one_of(DIRECTIONS), add = complete::one_of(DIRECTIONS))]
    pub(super) direction: Option<Direction>,
    /// A command that has to pass before an attempt is scored; may be repeated
    #[arg(long, value_name = "CMD", num_args = 1.., value_parser = filled)]
    pub(super) gate: Vec<String>,
    /// A command that prints a number, too, which a new best may not worsen; agents are not told of it
    #[arg(long, value_name = "CMD", value_parser = filled)]
    pub(super) holdout: Option<String>,
    /// How many samples of either side confirm what looks better, where the number is noisy [default: 3]
    #[arg(long, value_name = "N", value_parser = side_by_side)]
    pub(super) repeats: Option<u64>,
    /// How many agents work at once [default: 1]
    #[arg(long, value_name = "N", value_parser = side_by_side)]
    pub(super) agents: Option<u64>,
    /// How many attempts are measured at once [default: 1]
    #[arg(long, value_name = "N", value_parser = side_by_side)]
    pub(super) benchmarks: Option<u64>,
    /// How long each command may take [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) timeout: Option<Duration>,
    /// Command line that makes a copy of the repository ready, as in 'npm ci'
    #[arg(long, value_name = "CMD", value_parser = filled)]
    pub(super) prepare: Option<String>,
    /// Lend such a copy an ignored file or folder of the checkout; may be repeated
    #[arg(long, value_name = "PATH", value_parser = lendable)]
    pub(super) link: Vec<String>,
    /// End with this score
    #[arg(long, value_name = "SCORE", value_parser = finite, allow_negative_numbers = true)]
    pub(super) until: Option<f64>,
    /// What all randomness comes from [default: another one each time]
    #[arg(long, value_name = "S", value_parser = seed)]
    pub(super) seed: Option<u64>,
    /// So many attempts (climb) or generations (population) without a new best are a plateau, or off [default: 20, or 3]
    #[arg(long, value_name = "N|off", value_parser = or_off)]
    pub(super) stale: Option<Bound>,
    /// How many attempts there are at most, or off [default: off]
    #[arg(long, value_name = "N|off", value_parser = or_off)]
    pub(super) max_attempts: Option<Bound>,
    /// How many attempts live at once [population; default: 4]
    #[arg(short, value_name = "N", value_parser = at_least_two)]
    pub(super) k: Option<u64>,
    /// How many generations there are at most [population; default: 10]
    #[arg(short, value_name = "N", value_parser = at_least_one::<u64>)]
    pub(super) generations: Option<u64>,
    /// The goals of GOALS.yaml that pass on the untouched code have to pass, too, before an attempt is scored
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    pub(super) goals_as_gates: Option<bool>,
    /// A lens for the agents instead of all that fit the objective: the name of a built-in one, or words of your own; may be repeated
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = filled)]
    pub(super) lens: Vec<String>,
    #[command(flatten)]
    pub(super) running: RunningOptions,
}

/// How a session of a search runs.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct RunningOptions {
    /// The agent, as for the loop [default: that of SEARCH.yaml, of GOALS.yaml or of your configuration, else the first known one
    /// that is installed]
    #[arg(
        long,
        value_name = "AGENT",
        env = "EVOLVE_AGENT",
        hide_env_values = true,
        value_parser = agent,
        add = ArgValueCompleter::new(complete::agents)
    )]
    pub(super) agent: Option<String>,
    /// End the session after this time, as in 90s, 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) max_time: Option<Duration>,
    /// Propose nothing more once agents have cost this many US dollars, as they report it
    #[arg(long, value_name = "USD|off", value_parser = dollars_or_off)]
    pub(super) max_cost: Option<f64>,
    /// Hold agents and commands back [default: as SEARCH.yaml or your configuration says, else none]
    #[arg(long, value_name = "auto|bwrap|landlock|none", value_parser = one_of(MODES), add = complete::one_of(MODES))]
    pub(super) sandbox: Option<Mode>,
    /// Do not run without the sandbox that is asked for
    #[arg(long)]
    pub(super) require_sandbox: bool,
    /// How progress is shown [default: auto]
    #[arg(
        long,
        value_name = "auto|live|plain|none",
        value_enum,
        hide_possible_values = true
    )]
    pub(super) progress: Option<Progress>,
    /// Ask nothing, neither after each generation of a population, and go on
    #[arg(long)]
    pub(super) yes: bool,
    /// One event a line on stdout, as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl SearchOptions {
    /// Returns what the command line asks for.
    pub(super) fn asked(&self) -> Asked {
        let SearchOptions { running, .. } = self.clone();
        Asked {
            fitness: self.fitness.clone(),
            files: self.files.clone(),
            strategy: self.strategy,
            objective: self.objective.clone(),
            direction: self.direction,
            gates: self.gate.clone(),
            holdout: self.holdout.clone(),
            repeats: self.repeats,
            agents: self.agents,
            benchmarks: self.benchmarks,
            timeout: self.timeout,
            prepare: self.prepare.clone(),
            link: self.link.clone(),
            until: self.until,
            seed: self.seed,
            stale: self.stale,
            max_attempts: self.max_attempts,
            max_cost: running.max_cost,
            max_time: running.max_time,
            k: self.k,
            generations: self.generations,
            lenses: self.lens.clone(),
            protect: Vec::new(),
            goals_as_gates: self.goals_as_gates,
            agent: running.agent,
            sandbox: Wish {
                mode: running.sandbox,
                require: running.require_sandbox.then_some(true),
                ..Wish::default()
            },
        }
    }
}

/// Returns the names of what can be done with a search.
pub(super) fn actions() -> Vec<String> {
    let all = SearchAction::augment_subcommands(Command::new("search"));
    let names = all.get_subcommands().map(|one| one.get_name().to_owned());
    names.collect()
}

/// Takes what says something: nothing is what a variable is that is not set.
fn filled(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("it is empty; write at least a word".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn or_off(text: &str) -> Result<Bound, String> {
    match text {
        "off" => Ok(Bound::Off),
        _ => at_least_one(text)
            .map(Bound::At)
            .map_err(|why: String| format!("{why}, or off")),
    }
}

fn dollars_or_off(text: &str) -> Result<f64, String> {
    match text {
        "off" => Ok(f64::MAX),
        _ => dollars(text).map_err(|why| format!("{why}, or off")),
    }
}

fn seed(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| "write a whole number of at least 0".to_owned())
}

fn at_least_two(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number >= 2 => Ok(number),
        Ok(1) => Err("one attempt at a time is a climb: leave --strategy out".to_owned()),
        Ok(_) | Err(_) => Err("write a whole number of at least 2".to_owned()),
    }
}

fn finite(text: &str) -> Result<f64, String> {
    let number = crate::model::search::score::number(text.trim());
    number.ok_or_else(|| "write a finite number, as in 3.5 or 1e-6".to_owned())
}

/// Reads how many of something there are at a time.
fn side_by_side(text: &str) -> Result<u64, String> {
    at_least_one(text)
        .ok()
        .filter(|count| *count <= MOST_AT_ONCE)
        .ok_or_else(|| format!("write a whole number from 1 to {MOST_AT_ONCE}"))
}
