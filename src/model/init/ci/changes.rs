//! Steps of CI that do more than look, and those that look at what others changed. Pure.

use super::super::called::TextsOf;
use super::super::offer;
use super::super::python::ruff;
use super::super::unclean;
use super::super::writers;
use super::Step;
use crate::model::check;
use crate::model::init::Look;

/// Why a step cannot be a goal whose job gets what another one made.
pub(super) const MADE_ELSEWHERE: &str =
    "it goes by what another job made (actions/download-artifact)";

/// Says why a step cannot be a goal, if its check does more than look.
pub(super) fn files(
    look: &dyn Look,
    texts_of: TextsOf,
    step: &Step,
    check: &str,
) -> Option<String> {
    // What sends counts wherever it stands, be it among what only sets up.
    let sends = writers::sends(&step.script, texts_of);
    if let Some(why) = sends.or_else(|| writers::of_commands(check, texts_of)) {
        return Some(why);
    }
    if let Some(why) = offer::tells_nothing(check, texts_of) {
        return Some(why.to_owned());
    }
    let commands = check::commands(check);
    let asks = |it: &String| it.starts_with("git diff") || it.starts_with("git status");
    let only_asks = !commands.is_empty() && commands.iter().all(asks);
    only_asks
        .then(|| "it goes by what earlier steps changed".to_owned())
        .or_else(|| unclean::why(check, texts_of))
        .or_else(|| ruff::why_left(look, &step.folder, check, texts_of))
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
