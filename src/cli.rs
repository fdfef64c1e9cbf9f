//! The command line: what can be asked for, and one short function for each command.

mod audit;
mod bounds;
mod config;
mod demo;
mod inspect;
mod measure;
mod place;
mod start;
mod steer;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::effects::{ledger, process, sandbox};
use crate::error::{Error, Result};
use crate::model::sandbox::{MODES, Mode};
use crate::model::{mask, text};
use crate::view::style::{BAD, GOOD, ODD, paint};

const EXAMPLES: &str = "\
Examples:
  evolve --dry-run            measure, and say what would be worked on and why; changes nothing
  evolve --max-cycles=5       at most five cycles
  evolve                      run until dormant, stopped or out of budget
  evolve --agent codex        hand fixes to codex, not to the first known agent
  evolve --agent './fix.sh'   hand fixes to this command; the brief is on its stdin
  evolve measure              every check once; needs no agent
  evolve demo                 the loop at work on a small repository of its own
";

/// Keeps a git repository healthy while nobody is watching.
///
/// Measures every goal of GOALS.yaml, lets an agent fix the worst failing one, measures everything again, and keeps the
/// change only if nothing got worse. When nothing is wrong it stops.
#[derive(Debug, Parser)]
#[command(name = "evolve", version, before_help = EXAMPLES, max_term_width = 110)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    run: RunOptions,
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
const SHARED: [&str; 2] = ["goals", "jobs"];

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
                "--goals" | "--jobs" => format!("`{command}` has no use for {option}"),
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
struct Global {
    #[command(flatten)]
    file: GoalsOption,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    /// Errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Each check as well; twice: also what git is asked to do
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
}

impl Global {
    /// Prints an answer for people; nothing if only errors are wanted.
    fn say(&self, text: &str) {
        if !self.quiet {
            print(&mask::secrets(&text::page(text)));
        }
    }

    /// Prints a warning to stderr; nothing if only errors are wanted.
    fn warn(&self, text: &str) {
        if !self.quiet {
            let warning = mask::secrets(&text::clean_line(text));
            print_error(&format!("{} {warning}", paint(ODD, "warning:")));
        }
    }
}

/// Which goals are meant.
#[derive(Clone, Debug, Args)]
struct GoalsOption {
    /// The goals file [default: GOALS.yaml in the repository's root]
    #[arg(long, value_name = "FILE")]
    goals: Option<PathBuf>,
}

/// How much is measured at a time.
#[derive(Clone, Debug, Args)]
struct JobsOption {
    /// How many checks run at once [default: the number of cores]
    #[arg(long, value_name = "N", env = "EVOLVE_JOBS", hide_env_values = true, value_parser = at_least_one::<usize>)]
    jobs: Option<usize>,
}

/// Options of the loop.
#[derive(Clone, Debug, Args)]
struct RunOptions {
    /// Stop after N cycles of this session
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    max_cycles: Option<u64>,
    /// Measure, say what would be worked on and why, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take no baseline before the first cycle
    #[arg(long)]
    skip_baseline: bool,
    /// Ask the agent for a failing test first
    #[arg(long)]
    test_first: bool,
    /// The agent: claude, codex, gemini, opencode, aider, copilot, qwen, pi, kilo, one that the configuration adds, or a
    /// command line with the brief on its stdin [default: the first known one that is installed]
    #[arg(
        long,
        value_name = "AGENT",
        env = "EVOLVE_AGENT",
        hide_env_values = true
    )]
    agent: Option<String>,
    #[command(flatten)]
    checks: JobsOption,
    /// End the session after this time, as in 90s, 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = crate::model::duration::parse)]
    max_time: Option<Duration>,
    /// End the session once its agents have cost this many US dollars, as they report it
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,
    /// End the session once its agents have used this many tokens, as they report them; as in 500k, 2M
    #[arg(long, value_name = "N", value_parser = tokens)]
    max_tokens: Option<u64>,
    /// Let the agent work in a copy of its own, outside the repository; only what is kept comes back. Works on a dirty tree
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    isolate: Option<bool>,
    /// Command line that makes such a copy ready, as in 'npm ci'
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// Lend such a copy an ignored file or folder of the checkout; may be repeated
    #[arg(long, value_name = "PATH", value_parser = lendable)]
    link: Vec<String>,
    /// Rest this long between idle cycles [default: 0]
    #[arg(long, value_name = "TIME", value_parser = rest)]
    idle_wait: Option<Duration>,
    /// Hold the agent back: it writes only to the repository, a temporary folder and what `sandbox: write:` names; auto is bwrap
    /// if that works, else landlock [default: none]
    #[arg(long, value_name = "auto|bwrap|landlock|none", value_parser = one_of(MODES))]
    sandbox: Option<Mode>,
    /// Do not run without the sandbox that is asked for
    #[arg(long)]
    require_sandbox: bool,
    /// One event a line on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Leave the user's configuration unread: a demonstration is the same for everybody.
    #[arg(skip)]
    ignores_config: bool,
}

/// Returns a reader of one of a few words.
fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            format!("write {}", words.join(", "))
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
enum Command {
    /// Run every check, or the named ones, once; needs no agent and changes nothing
    Measure {
        /// Goals to measure [default: all]
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
    /// Every cycle so far
    History {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// One cycle: what was tried, what became of it, both snapshots
    Show {
        /// The cycle's number
        cycle: u64,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
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
    /// The queue of harvested work
    Work {
        #[command(subcommand)]
        action: WorkAction,
    },
    /// Stop the loop after its running cycle; `--now` ends the running cycle too
    Stop(steer::StopOptions),
    /// Let a goal that was struck or declined be worked on again
    Retry {
        /// The goal
        id: String,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Print a JSON Schema: of GOALS.yaml, or of a file or stream that evolve writes
    Schema {
        /// Which [omit to list them]
        name: Option<String>,
    },
    /// See the loop at work on a small repository made for it
    Demo {
        /// Where to make the repository [default: a new temporary folder]
        #[arg(long, value_name = "DIR")]
        keep_in: Option<PathBuf>,
    },
}

impl Command {
    /// Returns goals file and number of checks at once as they were written behind the command, where it has use for them.
    fn shared(&self) -> (Option<PathBuf>, Option<usize>) {
        match self {
            Command::Measure { file, checks, .. } | Command::Audit { file, checks, .. } => {
                (file.goals.clone(), checks.jobs)
            }
            Command::Validate { file }
            | Command::Status { file, .. }
            | Command::Retry { file, .. } => (file.goals.clone(), None),
            Command::History { .. }
            | Command::Show { .. }
            | Command::Work { .. }
            | Command::Stop(_)
            | Command::Schema { .. }
            | Command::Demo { .. } => (None, None),
        }
    }
}

#[derive(Debug, Subcommand)]
enum WorkAction {
    /// What is queued for this repository
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Queue a piece of work
    Add(steer::NewWork),
}

/// Does what this program asks of itself in another process, where the arguments say so; returns the exit code then.
pub fn hidden(mut arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let command = arguments.nth(1)?;
    if command == process::SUPERVISE {
        return Some(process::supervise(arguments));
    }
    (command == sandbox::COMMAND).then(|| sandbox::enter(arguments))
}

/// Does what was asked for; returns the exit code.
pub fn run(arguments: Arguments) -> Result<u8> {
    let Arguments {
        command,
        mut global,
        mut run,
    } = arguments;
    if let Some(command) = &command {
        // Behind the command they count more than before it.
        let (goals, jobs) = command.shared();
        global.file.goals = goals.or(global.file.goals);
        run.checks.jobs = jobs.or(run.checks.jobs);
    }
    mask::learn(
        std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }),
    );
    if global.verbose > 1 {
        trace();
    }
    if let Some(dir) = &global.dir {
        place::go_to(dir, command.is_none() && !run.dry_run)?;
    }
    match command {
        None if run.dry_run => measure::dry_run(&global, &run),
        None => start::run_loop(&global, &run),
        Some(Command::Measure {
            ids, json, gate, ..
        }) => measure::measure(&global, &run, &ids, (json, gate)),
        Some(Command::Validate { .. }) => inspect::validate(&global),
        Some(Command::Status { json, .. }) => inspect::status(&global, json),
        Some(Command::History { json }) => inspect::history(&global, json),
        Some(Command::Show { cycle, json }) => inspect::show(&global, cycle, json),
        Some(Command::Audit {
            json, remeasure, ..
        }) => audit::audit(&global, &run, (json, remeasure)),
        Some(Command::Work {
            action: WorkAction::List { json },
        }) => inspect::work_list(&global, json),
        Some(Command::Work {
            action: WorkAction::Add(item),
        }) => steer::work_add(&global, &item),
        Some(Command::Stop(options)) => steer::stop(&global, &options),
        Some(Command::Retry { id, .. }) => steer::retry(&global, &id),
        Some(Command::Schema { name }) => inspect::schema(name.as_deref()),
        Some(Command::Demo { keep_in }) => demo::demo(&global, keep_in.as_deref()),
    }
}

/// Returns an error as it is printed: what happened, then what to do.
pub fn shown(error: &Error) -> String {
    let safe = |text: &str| mask::secrets(&text::clean(text));
    let mut shown = format!("{} {}", paint(BAD, "error:"), safe(&error.message));
    for hint in &error.hints {
        shown.push_str(&format!("\n{} {}", paint(GOOD, "hint:"), safe(hint)));
    }
    shown
}

/// Prints a page to stdout; a reader that went away is no error.
fn print(page: &str) {
    use std::io::Write;
    let _ = write!(anstream::stdout(), "{}", text::page(page));
}

/// Prints a document as indented JSON, after checking it against its schema: with what looks like a secret masked, and what a
/// terminal would act on escaped.
fn print_document(name: &str, document: &impl serde::Serialize) -> Result<()> {
    let mut value =
        serde_json::to_value(document).map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    mask::value(&mut value);
    print(&text::json(&ledger::checked(name, &value)?));
    Ok(())
}

/// Prints a line to stderr; a reader that went away is no error.
pub fn print_error(line: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{}", text::page(line));
}

/// Where traces go: to stderr, as harmless as everything else. One trace comes in one piece.
struct Traces;

impl std::io::Write for Traces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = text::clean(&String::from_utf8_lossy(bytes));
        std::io::stderr().write_all(mask::secrets(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

fn trace() {
    tracing_subscriber::fmt()
        .with_writer(|| Traces)
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .init();
}
