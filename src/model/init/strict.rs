//! How strictly a command judges: whether one that does the same would let pass what another one does not. Pure.

use std::collections::BTreeSet;

use crate::model::check::program_name;

/// Words by which what could change files only looks at them. One stands for any of them.
const LOOKS: [&str; 9] = [
    "--check",
    "--check-formatted",
    "--check-only",
    "--diff",
    "--dry-run",
    "--list-different",
    "--no-fix",
    "--verify-no-changes",
    "-check",
];
/// Words by which warnings are mistakes, whoever is told them, each for itself: those of one program mean nothing to another. A value
/// behind `=` belongs to them.
const STRICT: [&str; 12] = [
    "--error-on-warnings",
    "--fail-on-warning",
    "--fail-on-warnings",
    "--fatal-infos",
    "--fatal-warnings",
    "--max-warnings",
    "--strict",
    "--strict-config",
    "--strict-markers",
    "--warnings-as-errors",
    "-Werror",
    "-warnaserror",
];
/// How lints of Rust's are denied: by an option and the next word, or by both in one.
const DENIES: [&str; 4] = ["-D", "--deny", "-F", "--forbid"];
/// What Cargo is asked for whose lints are what it judges by, with the variable that sets these for it.
const OF_CARGO: [(&str, &str); 3] = [
    ("clippy", "RUSTFLAGS="),
    ("doc", "RUSTDOCFLAGS="),
    ("rustdoc", "RUSTDOCFLAGS="),
];
const LOOKING: &str = "it only looks";

/// What makes a command strict.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strictness(BTreeSet<String>);

impl Strictness {
    /// Returns how strict a command of a check is, by its words and by what the check's text sets for it.
    pub(super) fn of(text: &str, words: &[String]) -> Strictness {
        let mut marks = BTreeSet::new();
        for word in words {
            let name = word.split('=').next().unwrap_or_default();
            if LOOKS.contains(&name) {
                marks.insert(LOOKING.to_owned());
            }
            if STRICT.contains(&name) {
                marks.insert(name.to_owned());
            }
        }
        let is_sphinx = program_name(&words[0]) == "sphinx-build";
        if is_sphinx && words.iter().any(|word| word == "-W") {
            marks.insert("-W".to_owned());
        }
        let asked = OF_CARGO
            .iter()
            .find(|(asked, _)| words.iter().any(|word| word == asked));
        if let Some((_, variable)) = asked.filter(|_| program_name(&words[0]) == "cargo") {
            let behind = words.iter().skip_while(|word| *word != "--");
            let handed = behind.map(String::as_str).collect::<Vec<_>>();
            marks.extend(denied(&handed));
            for (at, _) in text.match_indices(variable) {
                let value = &text[at + variable.len()..];
                let value = match value.strip_prefix(['\'', '"']) {
                    Some(rest) => rest.split(['\'', '"']).next(),
                    None => value.split_whitespace().next(),
                };
                let flags: Vec<&str> = value.unwrap_or_default().split_whitespace().collect();
                marks.extend(denied(&flags));
            }
        }
        Strictness(marks)
    }

    /// Returns how strict several are together.
    pub(super) fn of_all(all: impl Iterator<Item = Strictness>) -> Strictness {
        Strictness(all.flat_map(|one| one.0).collect())
    }

    /// Says whether it lets nothing pass that another one does not.
    pub(super) fn is_as_strict_as(&self, other: &Strictness) -> bool {
        other.0.is_subset(&self.0)
    }
}

/// Returns the words of a command without the lints that it denies, which [`Strictness`] tells.
pub(super) fn without_denied(mut words: Vec<String>) -> Vec<String> {
    let is_cargo = program_name(&words[0]) == "cargo";
    let handed = words.iter().position(|word| word == "--");
    let Some(at) = handed.filter(|_| is_cargo && words.iter().any(|word| word == "clippy")) else {
        return words;
    };
    let mut is_value = false;
    let mut handed = words.split_off(at);
    handed.retain(|word| {
        let is_option = DENIES.contains(&word.as_str());
        let is_denied = is_option || DENIES.iter().any(|option| word.starts_with(option));
        let goes = is_denied || is_value;
        is_value = is_option;
        !goes
    });
    handed.pop_if(|last| last == "--");
    words.extend(handed);
    words
}

/// Returns the lints that these words deny.
fn denied(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let lint = DENIES.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            match rest.trim_start_matches('=') {
                "" => words.get(at + 1).copied(),
                lint => Some(lint),
            }
        });
        found.extend(lint.map(|lint| format!("{} {lint}", DENIES[0])));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lets_more_pass_is_not_as_strict() {
        let of = |text: &str| {
            let words = text.split_whitespace().filter(|word| *word != "W");
            let words = words.skip_while(|word| word.contains("FLAGS=") || *word == "warnings'");
            let words: Vec<String> = words.map(str::to_owned).collect();
            Strictness::of(text, &words)
        };
        for (one, other, expected) in [
            ("cargo clippy", "cargo clippy -- -D warnings", false),
            (
                "cargo clippy -- -Dwarnings",
                "cargo clippy -- -D warnings",
                true,
            ),
            (
                "cargo clippy -- --deny=warnings",
                "cargo clippy -- -D warnings",
                true,
            ),
            (
                "cargo clippy -- -D warnings -W x",
                "cargo clippy -- -D warnings",
                true,
            ),
            (
                "cargo clippy -- -W warnings",
                "cargo clippy -- -D warnings",
                false,
            ),
            (
                "RUSTFLAGS='-D warnings' cargo clippy",
                "cargo clippy -- -D warnings",
                true,
            ),
            (
                "RUSTFLAGS=-Dwarnings cargo clippy",
                "cargo clippy -- -D warnings",
                true,
            ),
            (
                "RUSTFLAGS='-D warnings' cargo doc",
                "RUSTDOCFLAGS='-D warnings' cargo doc",
                false,
            ),
            ("cargo test", "RUSTFLAGS='-D warnings' cargo test", true),
            ("cargo fmt", "cargo fmt --check", false),
            ("cargo fmt -- --check", "cargo fmt --check", true),
            ("ruff format", "ruff format --check", false),
            ("ruff format --diff", "ruff format --check", true),
            ("eslint .", "eslint . --max-warnings=0", false),
            ("eslint . --max-warnings=0", "eslint .", true),
            ("mypy", "mypy --strict", false),
            ("sphinx-build docs out", "sphinx-build -W docs out", false),
            ("sphinx-build -W docs out", "sphinx-build docs out", true),
        ] {
            assert_eq!(
                of(one).is_as_strict_as(&of(other)),
                expected,
                "{one}: {other}"
            );
        }
    }
}
