//! Steps of CI that do more than look, and those that look at what others changed. Pure.

use super::super::called::{self, TextsOf};
use super::super::offer;
use super::super::python::ruff;
use super::super::unclean;
use super::super::writers;
use super::Step;
use super::uses::checks;
use crate::model::check::{self, Done};
use crate::model::init::Look;

/// Why a step cannot be a goal whose job gets what another one made.
pub(super) const MADE_ELSEWHERE: &str =
    "it goes by what another job made (actions/download-artifact)";

/// Why a step cannot be a goal that asks git for what was changed.
const CHANGED: &str = "it goes by what earlier steps changed";
/// How git is asked for what was changed since the last commit.
const ASKED: [&str; 4] = ["diff", "diff-files", "diff-index", "status"];
/// What tells of what it is handed: an answer of git's, as it stands in a pipe or in a variable.
const OF_ANSWERS: [&str; 14] = [
    "[", "[[", "awk", "cut", "egrep", "grep", "head", "sed", "sort", "tail", "test", "tr", "uniq",
    "wc",
];

/// Says why a step cannot be a goal, if its check does more than look.
pub(super) fn files(
    look: &dyn Look,
    texts_of: TextsOf,
    step: &Step,
    check: &str,
) -> Option<String> {
    // What sends counts wherever it stands, be it among what only sets up.
    writers::sends(&step.script, texts_of)
        .or_else(|| goes_by_changes(check, texts_of).then(|| CHANGED.to_owned()))
        .or_else(|| writers::of_commands(check, texts_of))
        .or_else(|| offer::tells_nothing(check, texts_of).map(str::to_owned))
        .or_else(|| unclean::why(check, texts_of))
        .or_else(|| ruff::why_left(look, &step.folder, check, texts_of))
}

/// Says whether all that a check looks at is what was changed before it: it asks git, and goes by the answer. Where it runs what makes
/// the difference, it does more.
fn goes_by_changes(check: &str, texts_of: TextsOf) -> bool {
    let all = writers::reached(check, texts_of);
    let is_followed = |one: &Done| {
        let tasks = called::tasks(one).unwrap_or_default();
        !tasks.is_empty() && tasks.iter().all(|task| !texts_of(task).is_empty())
    };
    let is_around =
        |one: &Done| offer::says(one) || !checks(&one.words.join(" ")) || is_followed(one);
    let asks = |one: &Done| asks_git(one);
    all.iter().any(asks)
        && all
            .iter()
            .all(|one| asks(one) || goes_by_an_answer(one) || is_around(one))
}

/// Says whether a command asks git for what was changed.
fn asks_git(one: &Done) -> bool {
    let words: Vec<&str> = one.words.iter().map(String::as_str).collect();
    let Some((&"git", words)) = words.split_first() else {
        return false;
    };
    let operands = check::operands(words, |word| ["-C", "-c"].contains(&word));
    let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
    match operands.first() {
        // So it compares two files.
        Some(asked) if ASKED.contains(asked) => !has(&["--no-index"]),
        Some(&"ls-files") => has(&["-m", "--modified", "-o", "--others"]),
        Some(_) | None => false,
    }
}

/// Says whether a command looks at no file, only at what it is handed.
fn goes_by_an_answer(one: &Done) -> bool {
    let words: Vec<&str> = one.words.iter().map(String::as_str).collect();
    let Some((program, words)) = words.split_first() else {
        return false;
    };
    let operands = check::operands(words, |_| false);
    OF_ANSWERS.contains(program)
        && match *program {
            // A variable, or what a command prints, stands there as `$`.
            "[" | "[[" | "test" => words.iter().any(|word| word.contains('$')),
            "awk" | "egrep" | "grep" | "sed" => operands.len() < 2,
            "tr" => true,
            _ => operands.iter().all(|word| word.parse::<usize>().is_ok()),
        }
}

/// Says why a step cannot be a goal, if it only reads what earlier steps have written.
pub(super) fn made_before(check: &str) -> Option<String> {
    const READERS: [(&str, &[&str]); 5] = [
        ("c8", &["report"]),
        ("cargo", &["llvm-cov report"]),
        (
            "coverage",
            &["combine", "html", "json", "lcov", "report", "xml"],
        ),
        ("genhtml", &[""]),
        ("nyc", &["report"]),
    ];
    let reads = |command: &String| {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let Some((program, rest)) = check::of_module(&words).split_first() else {
            return false;
        };
        let rest = rest.join(" ");
        let asked = |all: &[&str]| all.iter().any(|verb| rest.starts_with(verb));
        let mut readers = READERS.iter();
        readers.any(|(name, all)| name == program && asked(all))
    };
    let commands = check::commands(check);
    let only_reads = !commands.is_empty() && commands.iter().all(reads);
    only_reads.then(|| "it goes by what earlier steps wrote".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::super::called::Task;
    use super::*;

    #[test]
    fn what_git_is_asked_about_was_changed_before_wherever_that_stands() {
        let of_make = |task: &Task| {
            let is_it = (task.program, task.name) == ("make", "is-clean");
            Vec::from_iter(is_it.then(|| "git diff --exit-code".to_owned()))
        };
        for (script, expected) in [
            ("git diff --exit-code", true),
            (
                "set -e; if ! git diff --exit-code -I '^#' -- locale; then echo stale; exit 1; fi",
                true,
            ),
            ("test -z \"$(git status --porcelain)\"", true),
            ("[ -z \"$(git diff)\" ] || { git diff; exit 1; }", true),
            ("bash -e -c '[[ -z $(git diff --stat) ]]'", true),
            ("git --no-pager diff --exit-code || (echo a && false)", true),
            (
                "c=$(git diff --name-only)\nif [ -n \"$c\" ]; then\n  exit 1\nfi",
                true,
            ),
            ("! git diff --name-only | grep -q .", true),
            ("[ `git ls-files -m | wc -l` -eq 0 ]", true),
            ("case $(git status -s) in '') ;; *) exit 1;; esac", true),
            ("make is-clean", true),
            ("make other", false),
            ("./gen && git diff --exit-code", false),
            ("git diff --exit-code && cargo test", false),
            ("git diff --exit-code; grep -rn todo src", false),
            ("git diff --exit-code; test -f a", false),
            ("git diff --no-index --exit-code a b", false),
            ("! git ls-files | grep '[.]orig$'", false),
            ("cargo test", false),
        ] {
            assert_eq!(goes_by_changes(script, &of_make), expected, "{script}");
        }
    }
}
