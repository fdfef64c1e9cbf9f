//! Whether a script of the shell runs from its first line to its last and ends well there, whatever its commands find. What is not certain is
//! taken to be able to fail. Pure.

use super::pieces::{End, pieces};
use super::stops;
use crate::model::check::succeeds;

/// What makes more than a line of commands, or may end the script, or have it end, before its last line.
const ENDS: [&str; 31] = [
    ".", "alias", "break", "builtin", "case", "command", "continue", "coproc", "eval", "exec",
    "exit", "for", "function", "if", "kill", "let", "readonly", "return", "select", "set", "shift",
    "shopt", "source", "suspend", "trap", "typeset", "unset", "until", "while", "{", "}",
];
/// What of these ends nothing, or ends well.
const HARMLESS: [&str; 4] = ["exit 0", "set +e", "set -v", "set -x"];

/// Says whether a script goes on where its commands fail, and ends with one that cannot.
pub(in crate::model::init) fn ends_well_anyway(script: &str) -> bool {
    let first = script.lines().next().unwrap_or_default();
    let is_told = first.starts_with("#!") && first.contains(" -");
    let pieces = pieces(script);
    let goes_on = pieces
        .iter()
        .all(|piece| matches!(piece.end, End::Line | End::Pipe) && goes_on(&piece.text));
    let Some((last, before)) = pieces.split_last() else {
        return false;
    };
    let is_alone = before.last().is_none_or(|piece| piece.end == End::Line);
    !is_told
        && !stops(script)
        && !script.contains("<<")
        && goes_on
        && is_alone
        && succeeds(&last.text)
}

/// Says whether the shell goes on behind a command, whatever comes of that.
fn goes_on(command: &str) -> bool {
    let is_set = |word: &&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let mut words = command.split_whitespace();
    let first = words.find(|word| !is_set(word) && *word != "!");
    let first = first.unwrap_or_default();
    // It may stand for any command, or for an error of the shell's own.
    let is_open = first.starts_with(['$', '`', '(', ')', '"', '\'', '\\'])
        || first.ends_with("()")
        || command.contains("$((")
        || command.contains("<(")
        || command.contains("${") && command.contains('?')
        || first == ":" && command.contains('>');
    HARMLESS.contains(&command) || !is_open && !ENDS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_goes_on_to_a_last_line_that_cannot_fail_ends_well() {
        for script in [
            "ruff check .\nmypy .\necho \"all done\"\n",
            "#!/bin/sh\n# All of it.\nruff check .\n\nprintf 'done\\n'",
            "#!/usr/bin/env bash\ngrep TODO a.txt\nexit 0",
            "set -x\nA=b mypy . | tee log; true",
            "! grep -rn TODO .\n:",
            "cd src\necho \"$(ls)\" > list\necho",
        ] {
            assert!(ends_well_anyway(script), "{script}");
        }
    }

    #[test]
    fn what_may_end_a_script_otherwise_leaves_it_able_to_fail() {
        for script in [
            "",
            "set -e\nmypy .\necho done",
            "set -euo pipefail\nmypy .\necho done",
            "set -o errexit\nmypy .\necho done",
            "set -u\nmypy $A\necho done",
            "set -o pipefail\nmypy . | tee log\necho done",
            "#!/bin/sh -e\nmypy .\necho done",
            "#!/usr/bin/env -S bash -e\nmypy .\necho done",
            "mypy .",
            "mypy . || exit 1\necho done",
            "mypy . &&\necho done",
            "mypy .\necho done | grep x",
            "mypy . | grep x",
            "if ! mypy .; then exit 1; fi\necho done",
            "for f in *.py; do mypy $f || exit 1; done\necho done",
            "mypy .\ncode=$?\necho done\nexit $code",
            "mypy .\nexit 1\necho done",
            "fail() {\n  exit 1\n}\nmypy .\necho done",
            "function fail {\n  exit 1\n}\nmypy .\necho done",
            "trap 'exit 1' EXIT\nmypy .\necho done",
            "exec mypy .\necho done",
            ". ./lib.sh\nmypy .\necho done",
            "eval \"$CODE\"\necho done",
            "$RUN .\necho done",
            "A=${B:?is not set}\necho done",
            "(exit 1)\necho done",
            "command exit 1\necho done",
            "cat <<E\n$(exit 1)\nE\necho done",
            "mypy .\necho done > log",
        ] {
            assert!(!ends_well_anyway(script), "{script}");
        }
    }
}
