//! What can be asked for on the command line.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anstream::ColorChoice;
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use clap_complete::engine::ArgValueCompleter;

use super::commands::Command;
use super::watch::Progress;
use crate::cli::help::list_of_pages;
use crate::cli::print::{print_error, shown};
use crate::cli::{complete, search};
use crate::error::Result;
use crate::model::duration;
use crate::model::goals::nearest;
use crate::model::sandbox::{MODES, Mode};
use crate::model::usage;

const EXAMPLES: &str = "\
Examples:
  evolve --dry-run            measure, and say what would be worked on and why; changes nothing
  evolve --max-cycles=5       at most five cycles
  evolve                      run until dormant, stopped or out of budget
  evolve --agent codex        hand fixes to codex, not to the first known agent
  evolve --agent './fix.sh'   hand fixes to this command; the brief is on its stdin
  evolve measure              every check once; needs no agent
  evolve init                 write a GOALS.yaml for this repository, and measure it
  evolve demo                 the loop at work on a small repository of its own
";

/// Keeps a git repository healthy while nobody is watching.
///
/// Measures every goal of GOALS.yaml, lets an agent fix the worst failing one, measures everything again, and keeps the
/// change only if nothing got worse. When nothing is wrong it stops.
#[derive(Debug, Parser)]
#[command(
    name = "evolve",
    version,
    before_help = EXAMPLES,
    after_help = list_of_pages(),
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) global: Global,
    #[command(flatten)]
    pub(super) run: RunOptions,
}

/// Options that only the loop itself has; before a command they would say nothing.
const LOOP_ONLY: [&str; 15] = [
    "max_cycles",
    "dry_run",
    "skip_baseline",
    "test_first",
    "agent",
    "max_time",
    "max_cost",
    "max_tokens",
    "idle_wait",
    "isolate",
    "sandbox",
    "require_sandbox",
    "prepare",
    "link",
    "json",
];

/// Options of the loop that some commands have, too.
const SHARED: [&str; 4] = ["goals", "jobs", "progress", "junit"];

impl Arguments {
    /// Reads the command line; prints and ends the program where it asks for help or makes no sense.
    pub fn read() -> Arguments {
        let read = without_empty(Arguments::command()).try_get_matches();
        let matches = read.unwrap_or_else(|error| {
            refuse_mistyped(&error);
            in_our_words(error).exit()
        });
        if let Some((command, behind)) = matches.subcommand()
            && let Some(option) = LOOP_ONLY
                .into_iter()
                .chain(SHARED.into_iter().filter(|it| !has(behind, it)))
                .find(|option| is_typed(&matches, option))
        {
            let option = format!("--{}", option.replace('_', "-"));
            let said = match option.as_str() {
                "--json" => format!("write {option} after `{command}`"),
                _ if has(behind, &option[2..].replace('-', "_")) => {
                    format!("write {option} after `{command}`")
                }
                "--goals" | "--jobs" | "--progress" | "--junit" => {
                    format!("`{command}` has no use for {option}")
                }
                _ => format!(
                    "{option} is an option of the loop itself; `{command}` has no use for it"
                ),
            };
            Arguments::command()
                .error(ErrorKind::ArgumentConflict, said)
                .exit();
        }
        Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// Returns a command line for which an empty variable of the environment is none.
fn without_empty(command: clap::Command) -> clap::Command {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let own = command.mut_args(|option| match option.get_env().is_some_and(is_empty) {
        true => option.env(Resettable::Reset),
        false => option,
    });
    own.mut_subcommands(without_empty)
}

/// Words with which other programs do what this one does without any.
const RUNNING: [&str; 6] = ["run", "loop", "start", "cycle", "go", "exec"];

/// Says more where the library would name a command that is like the word, and not like what is meant.
fn in_our_words(error: clap::Error) -> clap::Error {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if RUNNING.contains(&word.as_str()) => word,
        _ => return error,
    };
    Arguments::command().error(
        ErrorKind::InvalidSubcommand,
        format!("there is no command `{word}`: `evolve` alone runs the loop, `evolve --help` lists commands"),
    )
}

/// Ends the program where what makes no sense is the name of one of the commands of `search`, mistyped: the library takes it
/// for a fitness command, and complains of what stands behind it.
fn refuse_mistyped(error: &clap::Error) {
    let is_of_it = matches!(
        error.kind(),
        ErrorKind::ArgumentConflict | ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    );
    let mut words = std::env::args_os().skip_while(|word| word != "search");
    let word = words.nth(1).filter(|_| is_of_it);
    if let Some(error) = word.and_then(|word| search::mistyped(word.to_str()?)) {
        print_error(&shown(&error));
        std::process::exit(error.kind.exit_code().into());
    }
}

/// Says whether a command has an option.
fn has(command: &ArgMatches, option: &str) -> bool {
    command.try_contains_id(option).is_ok()
}

fn is_typed(matches: &ArgMatches, option: &str) -> bool {
    matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// Options of every command, and which goals file is meant, for those that read it.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    #[command(flatten)]
    pub(super) file: GoalsOption,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
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
    /// Write what was measured to FILE as a JUnit report, for a CI system
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
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
    /// Rest this long between idle cycles [default: 0]
    #[arg(long, value_name = "TIME", value_parser = rest)]
    pub(super) idle_wait: Option<Duration>,
    /// Hold the agent back: it writes only to the repository, a temporary folder and what `sandbox: write:` names; auto is bwrap
    /// if that works, else landlock [default: none]
    #[arg(long, value_name = "auto|bwrap|landlock|none", value_parser = one_of(MODES))]
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
