//! What cannot fail: commands that succeed whatever they find, by how their text ends or by their options. Pure.

use super::done;

/// How a line ends that fails for nothing.
const IN_ANY_CASE: [&str; 4] = ["true", ":", "exit 0", "/bin/true"];
/// What only prints, and does not fail.
const PRINTS: [&str; 2] = ["echo", "printf"];

/// Says whether a line succeeds whatever its commands find, be it in a shell that stops at the first that fails.
pub fn always_succeeds(line: &str) -> bool {
    let Some((before, end)) = line.rsplit_once("||") else {
        return false;
    };
    let group = |open, close| end.trim().strip_prefix(open)?.strip_suffix(close);
    let mut parts = match group('{', '}').or_else(|| group('(', ')')) {
        Some(inside) => inside.split(';').collect(),
        None => vec![end],
    };
    parts.retain(|part| !part.trim().is_empty() || end.trim().is_empty());
    !before.contains(';') && parts.into_iter().all(succeeds)
}

/// Says whether a line succeeds whatever its commands find, in a shell that goes on: what counts is how it ends.
pub fn cannot_fail(line: &str) -> bool {
    ends_well(line) || never_fails(line)
}

/// Says whether a check passes whatever its commands find, by how its text ends: `cargo test || true`. What does nothing else, such as `true`,
/// is meant to.
pub fn passes_anyway(check: &str) -> bool {
    let mut lines = check.lines().filter(|line| !line.trim().is_empty());
    lines.clone().all(ends_well) && lines.any(|line| !succeeds(line))
}

/// Says whether a line ends well by its text alone.
fn ends_well(line: &str) -> bool {
    let gives_up = || line.trim_end().trim_end_matches("exit 0").contains("exit");
    let stops = || line.contains("set -");
    let end = line.rsplit(';').next().unwrap_or_default();
    let by_end = succeeds(end) && !gives_up() && !stops();
    always_succeeds(line) || by_end || only_asks(line)
}

/// Says whether a line, or what is left of one, only asks for something and goes on whatever the answer is:
/// `if ! t; then echo no; fi`, `for f in *; do t || echo no; done`.
pub fn only_asks(line: &str) -> bool {
    let is_part = |part: &str| {
        let mut rest = part.trim();
        loop {
            let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "for" | "if" | "elif" | "while" | "until" => return true,
                "then" | "else" | "do" | "fi" | "done" | "" => {}
                _ => return succeeds(rest) || always_succeeds(rest),
            }
            if behind.is_empty() {
                return true;
            }
            rest = behind.trim();
        }
    };
    let first = line.split_whitespace().next().unwrap_or_default();
    let words = [
        "for", "if", "elif", "while", "until", "then", "else", "do", "fi", "done",
    ];
    words.contains(&first.trim_end_matches(';')) && line.split(';').all(is_part)
}

/// Says whether all that a line calls is told to succeed whatever it finds, or only shows what it finds.
pub fn never_fails(line: &str) -> bool {
    let all = done(line);
    let is_turned = line.trim_start().starts_with('!');
    !is_turned && !all.is_empty() && all.iter().all(|one| is_lenient(&one.words))
}

/// Says whether a command succeeds whatever it finds.
fn is_lenient(words: &[String]) -> bool {
    let has = |option: &str| words.iter().any(|word| word == option);
    let is = |tools: &[&str]| {
        words
            .iter()
            .take(3)
            .any(|word| tools.contains(&word.as_str()))
    };
    let of_zero = words
        .windows(2)
        .any(|two| two == ["--issues-exit-code", "0"]);
    let told = has("--exit-zero") || has("--issues-exit-code=0") || of_zero;
    let looks = ["--check", "--check-only", "-c"].iter().any(|it| has(it));
    let shows = is(&["black", "isort"]) && has("--diff") && !looks;
    let lists = is(&["gofmt", "gofumpt", "goimports"]) && has("-l");
    told || shows || lists
}

/// Says whether one command, without others around it, cannot fail.
pub fn succeeds(command: &str) -> bool {
    let command = [">&2", "1>&2", "2>&1"]
        .iter()
        .fold(command.to_owned(), |rest, to| rest.replace(to, ""));
    let first = command.split_whitespace().next().unwrap_or_default();
    let is_alone = !command.contains(['|', '&', ';', '>', '<', '(', ')', '`', '\n']);
    IN_ANY_CASE.contains(&command.trim()) || is_alone && PRINTS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::passes_anyway;

    #[test]
    fn a_check_passes_anyway_that_is_told_to_succeed_and_not_one_that_may_fail() {
        for check in [
            "cargo test || true",
            "cargo test || :",
            "cargo test || echo broken",
            "cargo test; true",
            "cargo test; exit 0",
            "npm test || { echo broken; exit 0; }",
            "if ! cargo test; then echo broken; fi",
            "for f in *.sh; do shellcheck $f || echo $f; done",
            "cargo test || true\ncargo clippy || true\n",
        ] {
            assert!(passes_anyway(check), "{check}");
        }
        for check in [
            "true",
            "exit 0",
            "echo 3",
            "cargo test",
            "cargo test || exit 1",
            "cargo test || { echo broken; exit 1; }",
            "set -e; cargo test; true",
            "test -e a || exit 1; true",
            "if ! cargo test; then echo broken; exit 1; fi",
            "cargo test || true\ncargo clippy",
            "cargo test && true",
            "! git grep -q FIXME",
        ] {
            assert!(!passes_anyway(check), "{check}");
        }
    }
}
