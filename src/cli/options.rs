//! Options that commands have in common, and how their values are read.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anstream::ColorChoice;
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::complete;
use crate::error::Result;
use crate::model::duration;
use crate::model::goals::nearest;
use crate::model::sandbox::{MODES, Mode};
use crate::model::usage;

/// Options of every command, and which goals file is meant, for those that read it.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    #[command(flatten)]
    pub(super) file: GoalsOption,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true, value_hint = clap::ValueHint::DirPath)]
    pub(super) dir: Option<PathBuf>,
    /// Errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Each check as well; twice: also what git is asked to do
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(super) verbose: u8,
    #[command(flatten)]
    pub(super) color: colorchoice_clap::Color,
}

impl Global {
    /// Has styles written where they are wanted: `--color`, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR and what the terminal can
    /// show; FORCE_COLOR, which other programs know, counts as CLICOLOR_FORCE does.
    pub(super) fn apply_color(&self) {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_forced = is_set("FORCE_COLOR")
            && std::env::var_os("FORCE_COLOR").is_some_and(|value| value != "0");
        match self.color.as_choice() {
            ColorChoice::Auto if is_forced && !is_set("NO_COLOR") => {
                ColorChoice::Always.write_global();
            }
            choice => choice.write_global(),
        }
    }
}

/// Which goals are meant.
#[derive(Clone, Debug, Args)]
pub(super) struct GoalsOption {
    /// The goals file [default: GOALS.yaml in the repository's root]
    #[arg(long, value_name = "FILE")]
    pub(super) goals: Option<PathBuf>,
}

/// How much is measured at a time.
#[derive(Clone, Debug, Args)]
pub(super) struct JobsOption {
    /// How many checks run at once [default: the number of cores]
    #[arg(long, value_name = "N", env = "EVOLVE_JOBS", hide_env_values = true, value_parser = at_least_one::<usize>)]
    pub(super) jobs: Option<usize>,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct ProgressOption {
    /// How progress is shown: live at the end of the terminal, as plain lines, or not at all; auto is live on a terminal [default:
    /// auto]
    #[arg(
        long,
        value_name = "auto|live|plain|none",
        value_enum,
        hide_possible_values = true
    )]
    pub(super) progress: Option<Progress>,
}

/// Who else is told what was measured.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct JunitOption {
    /// Write what was measured to FILE as a JUnit report, for a CI system; with -q, `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
}

/// Who fixes.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct AgentOption {
    /// The agent: claude, codex, gemini, opencode, aider, copilot, qwen, pi, kilo, one that the configuration adds, or a
    /// command line with the brief on its stdin [default: the first known one that is installed]
    #[arg(
        long,
        value_name = "AGENT",
        env = "EVOLVE_AGENT",
        hide_env_values = true,
        value_parser = agent,
        add = ArgValueCompleter::new(complete::agents)
    )]
    pub(super) agent: Option<String>,
}

/// Options of the loop.
#[derive(Clone, Debug, Args)]
pub(super) struct RunOptions {
    /// Stop after N cycles of this session
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub(super) max_cycles: Option<u64>,
    /// Measure, say what would be worked on and why, change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Take no baseline before the first cycle
    #[arg(long)]
    pub(super) skip_baseline: bool,
    /// Ask the agent for a failing test first
    #[arg(long)]
    pub(super) test_first: bool,
    #[command(flatten)]
    pub(super) agent: AgentOption,
    #[command(flatten)]
    pub(super) checks: JobsOption,
    #[command(flatten)]
    pub(super) progress: ProgressOption,
    #[command(flatten)]
    pub(super) report: JunitOption,
    /// End the session after this time, as in 90s, 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) max_time: Option<Duration>,
    /// End the session once its agents have cost this many US dollars, as they report it
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) max_cost: Option<f64>,
    /// End the session once its agents have used this many tokens, as they report them; as in 500k, 2M
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub(super) max_tokens: Option<u64>,
    /// Let the agent work in a copy of its own, outside the repository; only what is kept comes back. Works on a dirty tree
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    pub(super) isolate: Option<bool>,
    /// Command line that makes such a copy ready, as in 'npm ci'
    #[arg(long, value_name = "CMD")]
    pub(super) prepare: Option<String>,
    /// Lend such a copy an ignored file or folder of the checkout; may be repeated
    #[arg(long, value_name = "PATH", value_parser = lendable)]
    pub(super) link: Vec<String>,
    /// Rest this long between idle cycles, or until work, a retry or a commit arrives [default: 0]
    #[arg(long, value_name = "TIME", value_parser = rest)]
    pub(super) idle_wait: Option<Duration>,
    /// Hold the agent back: it writes only to the repository, a temporary folder and what `sandbox: write:` names; auto is bwrap
    /// if that works, else landlock [default: none]
    #[arg(long, value_name = "auto|bwrap|landlock|none", value_parser = one_of(MODES), add = complete::one_of(MODES))]
    pub(super) sandbox: Option<Mode>,
    /// Do not run without the sandbox that is asked for
    #[arg(long)]
    pub(super) require_sandbox: bool,
    /// One event a line on stdout, as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Leave the user's configuration unread: a demonstration is the same for everybody.
    #[arg(skip)]
    pub(super) ignores_config: bool,
    /// Take the change of this cycle back, and do nothing else.
    #[arg(skip)]
    pub(super) undo: Option<u64>,
}

/// Returns a reader of one of a few words.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let all = words.join(", ");
            match nearest(text, &words) {
                Some(near) => format!("did you mean {near}? There are {all}"),
                None => format!("write {all}"),
            }
        })
    }
}

pub(super) fn at_least_one<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    match text.parse() {
        Ok(number) if number >= N::from(1) => Ok(number),
        Ok(_) | Err(_) => Err("write a whole number of at least 1".to_owned()),
    }
}

pub(super) fn agent(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("name an agent, or write a command line".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Reads a time.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let read = duration::parse(text);
    read.map_err(|why| format!("{why}; write seconds, as in 90, or a unit, as in 20m"))
}

/// Reads the number of a cycle.
pub(super) fn cycle(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| "write its number, as `evolve history` lists it".to_owned())
}

/// Reads the number of an attempt.
pub(super) fn attempt(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| "write its number, as `evolve search board` lists it".to_owned())
}

pub(super) fn dollars(text: &str) -> Result<f64, String> {
    match text.trim().trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) | Err(_) => {
            Err("write an amount in US dollars, more than 0, as in 5 or 2.50".to_owned())
        }
    }
}

fn tokens(text: &str) -> Result<u64, String> {
    let read = usage::read_tokens(text);
    read.ok_or_else(|| "write a whole number of at least 1, as in 800000, 500k or 2M".to_owned())
}

pub(super) fn lendable(text: &str) -> Result<String, String> {
    crate::model::slot::lendable(text).map_err(|why| format!("the path {why}"))
}

fn rest(text: &str) -> Result<Duration, String> {
    if text.trim() == "0" {
        Ok(Duration::ZERO)
    } else {
        time(text)
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// Live on a terminal, else plain
    #[default]
    Auto,
    /// What goes on stands at the end of the terminal, and is drawn anew as it changes
    Live,
    /// A line for each step; with its time where it goes to no terminal
    Plain,
    /// Only what came of it
    None,
}
