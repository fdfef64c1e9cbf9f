//! What can be asked for on the command line, and what is said of what makes no sense there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

use super::commands::Command;
use super::headings;
use super::not_utf8;
use super::options::{Global, RunOptions};
use super::pages::list_of_pages;
use crate::cli::print::{print_error, shown};
use crate::cli::search;
use crate::error::Error;
use crate::model::goals::{nearest, nearest_id};
use crate::model::text;
use crate::view::width;

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
    max_term_width = 110,
    mut_args(headings::of_loop)
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

/// On a terminal that is narrower, nothing stands beside options.
const ROOMY: usize = 60;

/// Options of the loop that some commands have, too.
const SHARED: [&str; 4] = ["goals", "jobs", "progress", "junit"];

impl Arguments {
    /// Reads the command line; prints and ends the program where it asks for help or makes no sense.
    pub fn read() -> Arguments {
        let words: Vec<OsString> = std::env::args_os().collect();
        let read = without(grammar(), &is_empty).try_get_matches_from(&words);
        let matches = read.unwrap_or_else(|error| {
            refuse_mistyped(&error);
            refuse_not_utf8(&error, &words);
            in_our_words(readable(by_its_origin(error, &words), &words)).exit()
        });
        if let Some((command, _)) = matches.subcommand()
            && let Some((option, is_its_own)) = LOOP_ONLY
                .into_iter()
                .chain(SHARED)
                .filter(|option| is_typed(&matches, option))
                .map(|option| (option, has(command, option)))
                .find(|(option, is_its_own)| !(*is_its_own && SHARED.contains(option)))
        {
            let option = format!("--{}", option.replace('_', "-"));
            let said = match option.as_str() {
                "--json" => format!("write {option} after `{command}`"),
                _ if is_its_own => format!("write {option} after `{command}`"),
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

/// Returns how a command line is read. On a narrow terminal the words on an option stand below it: there is no room beside the longest.
pub(super) fn grammar() -> clap::Command {
    let width = width::of_terminal();
    Arguments::command().next_line_help(width.is_some_and(|width| width < ROOMY))
}

/// An empty variable of the environment is none.
fn is_empty(name: &OsStr) -> bool {
    std::env::var_os(name).is_some_and(|value| value.is_empty())
}

/// Returns a command line for which some variables of the environment are none.
fn without(command: clap::Command, is_none: &dyn Fn(&OsStr) -> bool) -> clap::Command {
    let own = command.mut_args(|option| match option.get_env().is_some_and(is_none) {
        true => option.env(Resettable::Reset),
        false => option,
    });
    own.mut_subcommands(|below| without(below, is_none))
}

/// Has an error show what was typed as people can read it: bytes that are no UTF-8 as in `\xff`, and nothing that steers a terminal.
fn readable(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let is_it =
        |word: &&OsString, typed: &str| word.to_str().is_none() && word.to_string_lossy() == typed;
    let shown = |typed: &str| match words.iter().find(|word| is_it(word, typed)) {
        Some(word) => not_utf8::shown(word.as_bytes()),
        None => text::clean_line(typed),
    };
    let typed = error.context().filter_map(|(kind, value)| match value {
        ContextValue::String(typed) => Some((kind, shown(typed))).filter(|(_, it)| it != typed),
        _ => None,
    });
    let typed: Vec<(ContextKind, String)> = typed.collect();
    for (kind, shown) in typed {
        error.insert(kind, ContextValue::String(shown));
    }
    error
}

/// Has an error name the variable of the environment that a value comes from, not the option that nobody wrote.
fn by_its_origin(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let option = option.split(' ').next().unwrap_or(option).to_owned();
    let is_written = |word: &OsString| word.as_bytes().starts_with(option.as_bytes());
    if error.kind() != ErrorKind::ValueValidation || words.iter().any(is_written) {
        return error;
    }
    let grammar = Arguments::command();
    let command = not_utf8::command_of(words, &grammar);
    let mut all = command.get_arguments().chain(grammar.get_arguments());
    let found = all.find(|one| one.get_long() == option.strip_prefix("--"));
    let variable = found.and_then(clap::Arg::get_env);
    if let Some(variable) = variable.map(|name| name.to_string_lossy().into_owned()) {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable));
    }
    error
}

/// Words that people take for commands, with where to find what they mean by them.
const NO_COMMANDS: [(&[&str], &str); 5] = [
    (
        &["run", "loop", "start", "cycle", "go", "exec"],
        "`evolve` alone runs the loop",
    ),
    (
        &["sweep"],
        "`evolve` alone runs the loop, which sweeps when that is due and no goal fails",
    ),
    (
        &["queue", "todo"],
        "`evolve work list` lists the queue, `evolve work add TITLE` adds to it",
    ),
    (
        &["goals", "goal", "checks", "check"],
        "`evolve validate` lists the goals of GOALS.yaml, `evolve measure` runs their checks, `evolve help goals` explains them",
    ),
    (
        &["agents", "agent"],
        "`evolve doctor` says which agent would be called, `evolve help agents` how to choose one",
    ),
];

/// Says more where the library would name a command that is like the word, and not like what is meant.
fn in_our_words(error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return with_nearest(error);
    };
    // What `work` or `search` has no command for is something else.
    let is_within = |usage: &ContextValue| !usage.to_string().contains("evolve [");
    if error.get(ContextKind::Usage).is_some_and(is_within) {
        return with_nearest(error);
    }
    let such: Vec<&str> = NO_COMMANDS
        .iter()
        .flat_map(|(words, _)| *words)
        .copied()
        .collect();
    // The library's own guess at a command goes before one at such a word.
    let is_guessed = error.get(ContextKind::SuggestedSubcommand).is_some();
    let near = nearest(word, &such).filter(|near| near == word || !is_guessed);
    let is_meant = |words: &[&str]| near.is_some_and(|near| words.contains(&near));
    let meant = NO_COMMANDS.iter().find(|(words, _)| is_meant(words));
    let Some((_, meant)) = meant else {
        return with_nearest(error);
    };
    Arguments::command().error(
        ErrorKind::InvalidSubcommand,
        format!("there is no command `{word}`: {meant}; `evolve --help` lists commands"),
    )
}

/// Names the nearest option of the command where the library finds none: it passes by short ones.
fn with_nearest(mut error: clap::Error) -> clap::Error {
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => word,
        _ => return error,
    };
    let Some(word) = typed.strip_prefix("--") else {
        return error;
    };
    if error.get(ContextKind::SuggestedArg).is_some() {
        return error;
    }
    let grammar = Arguments::command();
    let words: Vec<OsString> = std::env::args_os().collect();
    let command = not_utf8::command_of(&words, &grammar);
    let options: Vec<&str> = command
        .get_arguments()
        .filter(|option| !option.is_hide_set())
        .filter_map(clap::Arg::get_long)
        .collect();
    if let Some(near) = nearest(word, &options).or_else(|| nearest_id(word, &options)) {
        let near = ContextValue::String(format!("--{near}"));
        error.insert(ContextKind::SuggestedArg, near);
    }
    error
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
        refuse(&error);
    }
}

/// Ends the program where something is not UTF-8, and says what: the library only says that something is.
fn refuse_not_utf8(error: &clap::Error, words: &[OsString]) {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return;
    }
    let read_as = |is_none: &dyn Fn(&OsStr) -> bool| {
        without(Arguments::command(), &|name| {
            is_empty(name) || is_none(name)
        })
    };
    if let Some(error) = not_utf8::refusal(words, read_as) {
        refuse(&error);
    }
}

fn refuse(error: &Error) -> ! {
    print_error(&shown(error));
    std::process::exit(error.kind.exit_code().into())
}

/// Says whether a command has an option.
fn has(command: &str, option: &str) -> bool {
    // What was read of a command says so in a debug build only.
    let grammar = Arguments::command();
    let command = grammar.find_subcommand(command);
    command.is_some_and(|it| it.get_arguments().any(|one| one.get_id() == option))
}

fn is_typed(matches: &ArgMatches, option: &str) -> bool {
    matches.value_source(option) == Some(ValueSource::CommandLine)
}
