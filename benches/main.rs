//! `cargo bench`: what evolve costs, each figure beside its floor measured in the same run. `cargo bench -- undo` prints
//! the figures whose name holds that word. A missed goal is said, not an error.

mod checks;
mod cycle;
mod history;
mod search;
mod support;
mod undo;

use std::process::ExitCode;

use evolve::effects::process;
use support::{Outcome, Report, peak_of};

/// One theme: its name for the filter, what is compared, and what prints its figures.
type Theme = (&'static str, &'static str, fn(&mut Report) -> Outcome);

const THEMES: [Theme; 11] = [
    (
        "checks",
        "`sh -c true` measured by the library, with logs and events; the floor starts and waits for the same at the same \
         parallelism, from as many threads, output to /dev/null. \"evolve measure\" is the whole program, its own start included",
        checks::each_check,
    ),
    (
        "schedule",
        "40 `sleep`s of 20 to 350 ms whose durations an earlier snapshot holds; the floor is computed: the longer of the \
         longest sleep and their sum divided by the jobs",
        checks::schedule,
    ),
    ("version", "the floor starts `true`", history::version),
    (
        "cycle",
        "tool time is the wall time of `evolve --max-cycles=1`, session start and end included, minus a bare run of the same \
         agent and the same checks as often as the cycle ran them (the floor); the agent leaves a file, which evolve commits",
        cycle::small,
    ),
    (
        "large",
        "the same cycle in 100,000 files; the floor is `git status`",
        cycle::large,
    ),
    (
        "undo",
        "100 files changed in 1 or 20 commits; the library prepares, carries out and verifies the undo. The floor: \
         `git update-ref` to keep the work, `read-tree -m -u` to the start, `commit`, `status` to see that the tree is clean",
        undo::undo,
    ),
    (
        "history",
        "from the start of the program to its first check, with 100,000 records in 24 segments and the active file; the floor \
         is the same without a history. The peak is that of the whole session",
        history::long,
    ),
    (
        "search-attempt",
        "40 attempts of a search whose agent and fitness command take no time, the search's start and end included, less a bare \
         run of both; the floor puts two copies on a commit and cleans them, finds, stores, commits and names the change, with \
         git alone",
        search::each_attempt,
    ),
    (
        "search-long",
        "the mean of the last hundred attempts of a search of 2,000; the floor is that of its first hundred",
        search::long,
    ),
    (
        "search-many",
        "16 attempts worked on and measured at once, none of which may fail; the floor makes the 32 copies one after another, \
         by `git clone --shared`",
        search::at_once,
    ),
    (
        "search-next",
        "what comes next is found out of a whole lineage, as at `resume`; the floor reads the edits in it",
        search::what_is_next,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The library starts the program that it is part of to supervise what it runs.
    if arguments
        .first()
        .is_some_and(|word| word == process::SUPERVISE)
    {
        return ExitCode::from(process::supervise(std::iter::empty()));
    }
    if let [flag, file, command @ ..] = arguments.as_slice()
        && flag == "--peak-of"
    {
        return peak_of(file, command);
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("these are figures, not tests: run them with `cargo bench`");
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let chosen: Vec<&Theme> = THEMES
        .iter()
        .filter(|(name, ..)| wanted.is_empty() || wanted.iter().any(|word| name.contains(*word)))
        .collect();
    let mut report = Report::begin();
    for (name, _, figures) in &chosen {
        if let Err(cause) = figures(&mut report) {
            eprintln!("error: {name}: {cause}");
            return ExitCode::FAILURE;
        }
    }
    report.end(chosen.iter().map(|(name, note, _)| (*name, *note)));
    ExitCode::SUCCESS
}
