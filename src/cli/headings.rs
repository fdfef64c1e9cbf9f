//! Under which heading `--help` lists an option of the loop or of a search, and where there; what is named nowhere stands under
//! `Options`.

use clap::Arg;

const SESSION: &str = "Session options";
const AGENT: &str = "Agent options";
const AIM: &str = "Aim options";
const STRATEGY: &str = "Strategy options";
const LIMITS: &str = "Limit options";

/// The options of the loop by their headings.
const OF_LOOP: [(&str, &[&str]); 2] = [
    (
        SESSION,
        &[
            "max_cycles",
            "max_time",
            "max_cost",
            "max_tokens",
            "idle_wait",
            "dry_run",
            "skip_baseline",
            "jobs",
        ],
    ),
    (
        AGENT,
        &[
            "agent",
            "test_first",
            "isolate",
            "prepare",
            "link",
            "sandbox",
            "require_sandbox",
        ],
    ),
];

/// Those of a search.
const OF_SEARCH: [(&str, &[&str]); 4] = [
    (
        AIM,
        &[
            "file",
            "files",
            "objective",
            "direction",
            "gate",
            "goals_as_gates",
            "holdout",
            "timeout",
        ],
    ),
    (
        STRATEGY,
        &[
            "strategy",
            "k",
            "generations",
            "lens",
            "repeats",
            "agents",
            "benchmarks",
            "seed",
        ],
    ),
    (
        LIMITS,
        &["until", "stale", "max_attempts", "max_time", "max_cost"],
    ),
    (
        AGENT,
        &["agent", "prepare", "link", "sandbox", "require_sandbox"],
    ),
];

/// Puts an option of the loop under its heading.
pub(super) fn of_loop(option: Arg) -> Arg {
    under(&OF_LOOP, option)
}

/// Puts an option of a search under its heading.
pub(super) fn of_search(option: Arg) -> Arg {
    under(&OF_SEARCH, option)
}

fn under(headings: &[(&'static str, &[&str])], option: Arg) -> Arg {
    let place = |options: &[&str]| options.iter().position(|it| option.get_id() == *it);
    let mut all = headings.iter();
    match all.find_map(|(heading, options)| Some((*heading, place(options)?))) {
        Some((heading, place)) => option.help_heading(heading).display_order(place),
        None => option,
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;
    use crate::cli::arguments::Arguments;

    fn named_and_there(command: &Command, headings: &[(&str, &[&str])]) {
        for name in headings.iter().flat_map(|(_, options)| options.iter()) {
            let mut options = command.get_arguments();
            assert!(
                options.any(|it| it.get_id() == *name),
                "{name} is no option"
            );
        }
    }

    #[test]
    fn what_has_a_heading_is_an_option() {
        let whole = Arguments::command();
        named_and_there(&whole, &OF_LOOP);
        let search = whole.find_subcommand("search").expect("there is one");
        named_and_there(search, &OF_SEARCH);
    }
}
