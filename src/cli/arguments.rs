//! What can be asked for on the command line.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anstream::ColorChoice;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::watch::Progress;
use crate::cli::complete;
use crate::cli::help::list_of_pages;
use crate::error::Result;
use crate::model::goals::nearest;
use crate::model::sandbox::{MODES, Mode};
use crate::model::since::Since;

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
        let matches = Arguments::command().get_matches();
        if let Some((command, behind)) = matches.subcommand()
            && let Some(option) = LOOP_ONLY
                .into_iter()
                .chain(SHARED.into_iter().filter(|it| !has(behind, it)))
                .find(|option| is_typed(&matches, option))
        {
            let option = format!("--{}", option.replace('_', "-"));
            let said = match option.as_str() {
                "--json" => format!("write {option} after `{command}`"),
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
    #[arg(long, value_name = "TIME", value_parser = crate::model::duration::parse)]
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
fn one_of<T: Copy + Send + Sync + 'static>(
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

fn at_least_one<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    match text.parse() {
        Ok(number) if number >= N::from(1) => Ok(number),
        Ok(_) | Err(_) => Err("write a whole number of at least 1".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim().trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) | Err(_) => {
            Err("write an amount in US dollars, more than 0, as in 5 or 2.50".to_owned())
        }
    }
}

fn tokens(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    match digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
    {
        Some(number) if number > 0 => Ok(number),
        Some(_) | None => {
            Err("write a whole number of at least 1, as in 800000, 500k or 2M".to_owned())
        }
    }
}

fn lendable(text: &str) -> Result<String, String> {
    crate::model::slot::lendable(text).map_err(|why| format!("the path {why}"))
}

fn rest(text: &str) -> Result<Duration, String> {
    if text.trim() == "0" {
        Ok(Duration::ZERO)
    } else {
        crate::model::duration::parse(text)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Look at the repository, write its GOALS.yaml, and measure at once
    Init(InitOptions),
    /// Run every check, or the named ones, once; needs no agent and changes nothing
    Measure {
        /// Goals to measure [default: all]
        #[arg(add = ArgValueCompleter::new(complete::goals))]
        ids: Vec<String>,
        /// Print the snapshot as JSON
        #[arg(long)]
        json: bool,
        /// Exit with 10 unless every goal passes
        #[arg(long)]
        gate: bool,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
        #[command(flatten)]
        progress: ProgressOption,
        #[command(flatten)]
        report: JunitOption,
    },
    /// Check GOALS.yaml; every problem with its place and a hint
    Validate {
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Where things stand: score, newest cycle, queue, who is at work, what would stop it
    Status {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Whether the loop could run here, and what to do where it could not; exit 10 then
    Doctor {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Every cycle so far, the newest last, and the way of the score
    History(HistoryOptions),
    /// One cycle: what was tried and changed, what became of it, both snapshots
    Show(ShowOptions),
    /// One page about all of it, as a file of its own: verdict, fitness, goals by cycle, who is needed, cost
    Report(ReportOptions),
    /// Hold every record against git: its commit, trailers, snapshots and undo; exit 10 if anything disagrees
    Audit {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        /// Measure the commits of the newest N records again, in a copy beside the repository, and compare
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        remeasure: usize,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
    },
    /// Take the change of one cycle back as a new commit, unless a goal gets worse by that; needs no agent
    Undo {
        /// The cycle's number
        #[arg(add = ArgValueCompleter::new(complete::cycles))]
        cycle: u64,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
        #[command(flatten)]
        progress: ProgressOption,
    },
    /// Show which thresholds have more than 3 % headroom, and what they can become; needs no agent
    Ratchet {
        /// Write the new thresholds to the goals file
        #[arg(long)]
        apply: bool,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
    },
    /// The queue of harvested work
    Work {
        #[command(subcommand)]
        action: WorkAction,
    },
    /// What agents learned
    Lessons {
        #[command(subcommand)]
        action: LessonAction,
    },
    /// Stop the loop after its running cycle; `--now` ends the running cycle too
    Stop(StopOptions),
    /// Let a goal that was struck or declined be worked on again
    Retry {
        /// The goal
        #[arg(add = ArgValueCompleter::new(complete::goals))]
        id: String,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Print a JSON Schema: of GOALS.yaml, or of a file or stream that evolve writes
    Schema {
        /// Which [omit to list them]
        #[arg(add = ArgValueCompleter::new(complete::schemas))]
        name: Option<String>,
    },
    /// See the loop at work on a small repository made for it
    Demo {
        /// Where to make the repository [default: a new temporary folder]
        #[arg(long, value_name = "DIR")]
        keep_in: Option<PathBuf>,
        #[command(flatten)]
        progress: ProgressOption,
    },
    /// Help on a command, or a page: goals, agents, exit-codes, files
    Help {
        /// The command or page [omit for all]
        #[arg(add = ArgValueCompleter::new(complete::topics))]
        words: Vec<String>,
    },
    /// Print the manual page, or write one for each command
    #[command(hide = true)]
    Man {
        /// The folder to write to, made if need be
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

impl Command {
    /// Returns the options that the loop has, too, as they were written behind the command, where it has use for them.
    pub(super) fn shared(&self) -> Shared {
        match self {
            Command::Measure {
                file,
                checks,
                progress,
                report,
                ..
            } => Shared {
                goals: file.goals.clone(),
                jobs: checks.jobs,
                progress: progress.progress,
                junit: report.junit.clone(),
            },
            Command::Undo {
                file,
                checks,
                progress,
                ..
            } => Shared {
                goals: file.goals.clone(),
                jobs: checks.jobs,
                progress: progress.progress,
                ..Shared::default()
            },
            Command::Init(InitOptions { file, checks, .. })
            | Command::Audit { file, checks, .. }
            | Command::Ratchet { file, checks, .. } => Shared {
                goals: file.goals.clone(),
                jobs: checks.jobs,
                ..Shared::default()
            },
            Command::Validate { file }
            | Command::Status { file, .. }
            | Command::Doctor { file, .. }
            | Command::Retry { file, .. } => Shared {
                goals: file.goals.clone(),
                ..Shared::default()
            },
            Command::Demo { progress, .. } => Shared {
                progress: progress.progress,
                ..Shared::default()
            },
            Command::Report(options) => Shared {
                goals: options.file.goals.clone(),
                ..Shared::default()
            },
            Command::History(_)
            | Command::Show(_)
            | Command::Work { .. }
            | Command::Lessons { .. }
            | Command::Stop(_)
            | Command::Schema { .. }
            | Command::Help { .. }
            | Command::Man { .. } => Shared::default(),
        }
    }
}

/// Options of the loop that some commands have, too.
#[derive(Debug, Default)]
pub(super) struct Shared {
    goals: Option<PathBuf>,
    jobs: Option<usize>,
    progress: Option<Progress>,
    junit: Option<PathBuf>,
}

impl Shared {
    /// Puts them in the place of those that stand before the command: behind it they count more.
    pub(super) fn apply(self, global: &mut Global, run: &mut RunOptions) {
        global.file.goals = self.goals.or(global.file.goals.take());
        run.checks.jobs = self.jobs.or(run.checks.jobs);
        run.progress.progress = self.progress.or(run.progress.progress);
        run.report.junit = self.junit.or(run.report.junit.take());
    }
}

/// Options of `evolve report`.
#[derive(Clone, Debug, Args)]
pub(super) struct ReportOptions {
    /// Markdown for a pull request, on stdout unless --out says otherwise
    #[arg(long)]
    pub(super) md: bool,
    /// Where to write it; - is stdout [default: report.html in evolve's private folder, .git/evolve]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Look at it in the browser
    #[arg(long, conflicts_with = "md")]
    pub(super) open: bool,
    #[command(flatten)]
    pub(super) file: GoalsOption,
}

#[derive(Debug, Subcommand)]
pub(super) enum WorkAction {
    /// What is queued for this repository
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Queue a piece of work
    Add(NewWork),
    /// Take an item off the queue that is not to be done
    Drop {
        /// Its id as `work list` shows it, its title, or how one of them begins
        item: String,
    },
    /// Take an item off the queue that is done
    Done {
        /// Its id as `work list` shows it, its title, or how one of them begins
        item: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum LessonAction {
    /// What is known, the newest last
    List {
        /// As work on this goal is told it, first what counts most, with how often it was told in vain
        #[arg(long, value_name = "ID")]
        goal: Option<String>,
    },
    /// Drop a lesson, so that no agent is told it and none learns it again
    Drop {
        /// Its id as `lessons list` shows it, or how its words begin
        lesson: String,
    },
}

/// Options of `evolve history`.
#[derive(Clone, Debug, Args)]
pub(super) struct HistoryOptions {
    /// Only cycles that worked on this goal, and the way of its value
    #[arg(long, value_name = "ID", add = ArgValueCompleter::new(complete::goals))]
    pub(super) goal: Option<String>,
    /// Only cycles from here on: a cycle's number, as in 12, a time before now, as in 3d, or a date (UTC), as in 2026-11-20
    #[arg(long, value_name = "WHEN", value_parser = crate::model::since::parse)]
    pub(super) since: Option<Since>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `evolve show`.
#[derive(Clone, Debug, Args)]
pub(super) struct ShowOptions {
    /// The cycle's number [default: the newest]
    #[arg(add = ArgValueCompleter::new(complete::cycles))]
    pub(super) cycle: Option<u64>,
    /// The whole patch as well
    #[arg(long)]
    pub(super) diff: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `evolve init`. Each question has one; where no terminal is, its default counts.
#[derive(Clone, Debug, Args)]
pub(super) struct InitOptions {
    /// Propose the goals that the file lacks; on a terminal, append them where you say so
    #[arg(long)]
    pub(super) add: bool,
    /// With --add: append them without asking; nothing else of the file changes
    #[arg(long, requires = "add")]
    pub(super) write: bool,
    /// Make goals of what GitHub's workflows and GitLab's jobs run [default: asked, else false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    pub(super) from_ci: Option<bool>,
    /// How many percent of the lines tests should run, where the project does not say [default: asked, else 80]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) coverage: Option<f64>,
    /// Measure nothing
    #[arg(long)]
    pub(super) no_measure: bool,
    #[command(flatten)]
    pub(super) file: GoalsOption,
    #[command(flatten)]
    pub(super) checks: JobsOption,
}

/// Reads percent of something, more than none.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 100.0 => Ok(number),
        Ok(_) | Err(_) => Err("write a number from 1 to 100".to_owned()),
    }
}

/// Options of `evolve stop`.
#[derive(Clone, Debug, Args)]
pub(super) struct StopOptions {
    /// Why; shown when the loop stops
    pub(super) reason: Vec<String>,
    /// End the running session at once, as Ctrl-C would; leaves no file
    #[arg(long, conflicts_with_all = ["kill", "off"])]
    pub(super) now: bool,
    /// Stop every evolve of this user within a second, for good
    #[arg(long)]
    pub(super) kill: bool,
    /// Take the stop file away (with --kill: the kill file)
    #[arg(long, conflicts_with = "reason")]
    pub(super) off: bool,
}

/// Options of `evolve work add`.
#[derive(Clone, Debug, Args)]
pub(super) struct NewWork {
    /// What is to be done, in one line
    pub(super) title: String,
    /// More about it
    #[arg(long, default_value = "")]
    pub(super) description: String,
    /// How much it matters
    #[arg(long, value_enum, default_value = "medium")]
    pub(super) severity: Level,
    /// What sort of work it is, as in bug or tech-debt
    #[arg(long = "type", default_value = "task")]
    pub(super) kind: String,
    /// The repository it is for [default: this one]
    #[arg(long)]
    pub(super) target_repo: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Level {
    Critical,
    High,
    Medium,
    Low,
}
