//! What tox runs in each of its environments, as tox.ini has it. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::super::ini::values;

/// How often what stands in braces is put in.
const MOST_PUT_IN: usize = 64;
/// How long commands get by it, in bytes.
const LONGEST: usize = 16 * 1024;
/// The innermost braces.
static BRACES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{([^{}\n]*)\}").expect("BUG: a pattern of ours is no pattern"));

/// Returns the commands of an environment; without a name, the calls of those that are run where none is asked for.
pub(super) fn text_of(file: &str, name: &str) -> Option<String> {
    match name {
        "" => {
            let named = ["envlist", "env_list"].iter();
            let all = named.flat_map(|key| values(file, "tox", key));
            let names = all.flat_map(|line| line.split(','));
            // One of several factors, `py{311,312}-lint`, is called as a whole by nobody.
            let names = names
                .map(str::trim)
                .filter(|name| !name.is_empty() && !name.contains(['{', '}']));
            let calls: Vec<String> = names.map(|name| format!("tox -e {name}")).collect();
            match calls.is_empty() {
                true => text_of(file, "py"),
                false => Some(calls.join("\n")),
            }
        }
        name => {
            let own = values(file, &format!("testenv:{name}"), "commands");
            let commands = match own.is_empty() {
                true => of_factors(name, values(file, "testenv", "commands")),
                false => own.join("\n"),
            };
            let commands = put_in(file, commands);
            let commands = commands.lines().map(|line| match line.strip_prefix('-') {
                Some(line) => format!("{} || true", line.trim_start()),
                None => line.to_owned(),
            });
            let commands: Vec<String> = commands.collect();
            (!commands.is_empty()).then(|| commands.join("\n"))
        }
    }
}

/// Returns the lines that an environment of this name has: all but those of other factors, `lint,docs: ruff check`.
fn of_factors(name: &str, lines: Vec<&str>) -> String {
    let is_factor = |c: char| c.is_ascii_alphanumeric() || "-_.!,{}".contains(c);
    let own = lines.into_iter().filter_map(|line| {
        let Some((factors, rest)) = line.split_once(": ") else {
            return Some(line);
        };
        let is_meant = |some: &str| {
            let mut all = some.split('-');
            all.all(|one| match one.strip_prefix('!') {
                Some(other) => !name.split('-').any(|it| it == other),
                None => name.split('-').any(|it| it == one),
            })
        };
        match factors.chars().all(is_factor) && !factors.contains('{') {
            true => factors.split(',').any(is_meant).then_some(rest),
            false => Some(line),
        }
    });
    own.collect::<Vec<_>>().join("\n")
}

/// Puts in what stands in braces, as far as it is known: what is run where nothing is handed on, and values of other sections.
fn put_in(file: &str, mut text: String) -> String {
    let mut from = 0;
    for _ in 0..MOST_PUT_IN {
        let Some(found) = BRACES.captures_at(&text, from) else {
            break;
        };
        let (whole, inner) = (found.get(0).map(|it| it.range()), found[1].to_owned());
        let Some(range) = whole.filter(|_| text.len() < LONGEST) else {
            break;
        };
        match value_of(file, &inner) {
            Some(value) => {
                text.replace_range(range, &value);
                // It may stand in others.
                from = 0;
            }
            None => from = range.end,
        }
    }
    text
}

/// Returns what stands for the text of braces.
fn value_of(file: &str, inner: &str) -> Option<String> {
    let section = inner
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    if let Some((section, key)) = section {
        return Some(values(file, section, key).join("\n"));
    }
    let mut parts = inner.splitn(3, ':');
    match (parts.next()?, parts.next()) {
        ("posargs", _) => Some(inner.split_once(':').map_or("", |(_, it)| it).to_owned()),
        ("env", Some(_)) => parts.next().map(str::to_owned),
        ("envpython", _) => Some("python".to_owned()),
        ("toxinidir" | "tox_root", _) => Some(".".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_those_of_the_list_and_their_commands_those_of_their_section() {
        let file = "[tox]\nminversion = 4\nenv_list =\n    py3{11,12}, lint\n    # none\n    fmt\nskip = a\n\n\
            [testenv]\ncommands = pytest\n[testenv:fmt]\ndeps =\n  black\ncommands =\n  black .\n  - isort .\n[testenv:lint]\n\
            commands = ruff check .\n[other]\ncommands = x\n";
        assert_eq!(
            text_of(file, "").as_deref(),
            Some("tox -e lint\ntox -e fmt")
        );
        assert_eq!(
            text_of(file, "fmt").as_deref(),
            Some("black .\nisort . || true")
        );
        assert_eq!(text_of(file, "lint").as_deref(), Some("ruff check ."));
        assert_eq!(text_of(file, "py311").as_deref(), Some("pytest"));
        assert_eq!(text_of("", ""), None);
        let file = "[tox]\nenvlist = py{39,310}\n[testenv]\ncommands =\n  !lint: pytest {posargs}\n  lint,a-b: ruff check\n";
        assert_eq!(text_of(file, "").as_deref(), Some("pytest "));
        assert_eq!(text_of(file, "lint").as_deref(), Some("ruff check"));
    }

    #[test]
    fn braces_stand_for_what_is_run_where_nothing_is_handed_on() {
        let file = "[testenv:{fmt,format2}]\ncommands = black .\n[testenv:a]\ncommands = {envpython} -m black {posargs:.}\n\
            [testenv:b]\ncommands = {posargs:black .}\n[testenv:c]\ncommands =\n  {[testenv:a]commands}\n  - x {env:A:{[d]e}} {f}\n\
            [d]\ne = {posargs}g\n[testenv:self]\ncommands = {[testenv:self]commands} x\n";
        for (name, expected) in [
            ("fmt", "black ."),
            ("format2", "black ."),
            ("a", "python -m black ."),
            ("b", "black ."),
            ("c", "python -m black .\nx g {f} || true"),
        ] {
            assert_eq!(text_of(file, name).as_deref(), Some(expected), "{name}");
        }
        assert!(text_of(file, "self").is_some());
    }
}
