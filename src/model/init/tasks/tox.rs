//! What tox runs in each of its environments, as tox.ini has it, or a table of TOML. Pure.

mod table;

use std::sync::LazyLock;

use regex::Regex;

use super::super::ini::values;
use table::Settings;

/// How often what stands in braces is put in.
const MOST_PUT_IN: usize = 64;
/// How long commands get by it, in bytes.
const LONGEST: usize = 16 * 1024;
/// The innermost braces.
static BRACES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{([^{}\n]*)\}").expect("BUG: a pattern of ours is no pattern"));

/// Returns the names of the environments that a file has: `py` where the tests of each version run by the same commands, and of those
/// that are run where none is asked for the ones that are called like no version of Python.
pub(super) fn names(path: &str, file: &str) -> Vec<String> {
    let Some(settings) = table::settings(path, file) else {
        return Vec::new();
    };
    let is_version = |name: &str| {
        let mut begins = ["pypy", "py", "3", "2"].iter();
        let rest = begins.find_map(|it| name.strip_prefix(it));
        rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    let (base, listed) = match &settings {
        Settings::Sections(file) => (base(file), listed(file)),
        Settings::Table(table) => {
            let has_base = table::commands(table, "py").is_some();
            let base = has_base.then(|| "py".to_owned());
            (base.into_iter().collect(), table::listed(table))
        }
    };
    let others = listed.into_iter().filter(|name| !is_version(name));
    base.into_iter().chain(others).collect()
}

/// Returns the environments that stand for those of each version of Python: `py`, or of several factors, as of `py3{11,12}-{tests,mypy}`,
/// `py-tests` and `py-mypy`.
fn base(file: &str) -> Vec<String> {
    if text_of(file, "py").is_some() {
        return vec!["py".to_owned()];
    }
    let mut found: Vec<String> = Vec::new();
    for entry in entries(file) {
        let split = entry.split_once(outside_braces('-'));
        let is_of_version = |c: char| "py{},.-".contains(c) || c.is_ascii_digit();
        let Some((_, rest)) = split.filter(|(version, _)| version.chars().all(is_of_version))
        else {
            continue;
        };
        let rest = rest.trim_matches(['{', '}']);
        if rest.contains(['{', '}']) {
            continue;
        }
        let all = rest
            .split(',')
            .map(|factor| format!("py-{}", factor.trim()));
        for name in all.filter(|name| text_of(file, name).is_some()) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// Returns the environments that are run where none is asked for; one of several factors, `py{311,312}-lint`, is called as a whole by
/// nobody.
fn listed(file: &str) -> Vec<String> {
    let mut names = entries(file);
    names.retain(|name| !name.contains(['{', '}']));
    names
}

/// Returns what finds a separator in a text from its beginning on: what stands in braces holds some of its own.
fn outside_braces(separator: char) -> impl FnMut(char) -> bool {
    let mut depth = 0_usize;
    move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == separator && depth == 0
    }
}

/// Returns what the list of environments holds, as it stands there.
fn entries(file: &str) -> Vec<String> {
    let named = ["envlist", "env_list"].iter();
    let all = named.flat_map(|key| values(file, "tox", key));
    let mut entries = Vec::new();
    for line in all {
        let parts = line.split(outside_braces(','));
        entries.extend(parts.map(str::trim).map(str::to_owned));
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

/// Returns the commands of an environment as a file has them; without a name, the calls of those that are run where none is asked for.
pub(super) fn text_in(path: &str, file: &str, name: &str) -> Option<String> {
    match (table::settings(path, file)?, name) {
        (Settings::Sections(file), name) => text_of(&file, name),
        (Settings::Table(table), "") => match table::listed(&table) {
            listed if listed.is_empty() => table::commands(&table, "py"),
            listed => Some(calls(&listed)),
        },
        (Settings::Table(table), name) => table::commands(&table, name),
    }
}

fn calls(names: &[String]) -> String {
    let calls: Vec<String> = names.iter().map(|name| format!("tox -e {name}")).collect();
    calls.join("\n")
}

/// Returns the commands of an environment; without a name, the calls of those that are run where none is asked for.
fn text_of(file: &str, name: &str) -> Option<String> {
    match name {
        "" => match listed(file) {
            listed if listed.is_empty() => text_of(file, "py"),
            listed => Some(calls(&listed)),
        },
        name => {
            let own = values(file, &format!("testenv:{name}"), "commands");
            let commands = match own.is_empty() {
                true => of_factors(name, &whole(values(file, "testenv", "commands"))),
                false => whole(own).join("\n"),
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

/// Returns lines of which one that goes on in the next is one with it.
fn whole(lines: Vec<&str>) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        let (line, more) = match line.strip_suffix('\\') {
            Some(line) => (line.trim_end(), true),
            None => (line, false),
        };
        match whole.last_mut().filter(|_| goes_on) {
            Some(last) => *last = format!("{last} {line}"),
            None => whole.push(line.to_owned()),
        }
        goes_on = more;
    }
    whole
}

/// Returns the lines that an environment of this name has: all but those of other factors, `lint,docs: ruff check`.
fn of_factors(name: &str, lines: &[String]) -> String {
    let is_factor = |c: char| c.is_ascii_alphanumeric() || "-_.!,{}".contains(c);
    let own = lines.iter().map(String::as_str).filter_map(|line| {
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
    fn a_table_says_the_same_as_sections_do() {
        let file = "[tool.tox]\nenv_list = ['3.12', 'lint']\n[tool.tox.env_run_base]\n\
            commands = [['pytest', { replace = 'posargs', default = ['tests'], extend = true }], ['-', 'coverage', 'report']]\n\
            [tool.tox.env.lint]\ncommands = [['ruff', 'check', 'a b']]\n";
        let of = |name: &str| text_in("pyproject.toml", file, name);
        assert_eq!(of("").as_deref(), Some("tox -e 3.12\ntox -e lint"));
        let base = "pytest tests\ncoverage report || true";
        assert_eq!(of("py").as_deref(), Some(base));
        assert_eq!(of("lint").as_deref(), Some("ruff check 'a b'"));
        assert_eq!(names("pyproject.toml", file), ["py", "lint"]);
        let legacy = "[tool.tox]\nlegacy_tox_ini = '''\n[tox]\nenvlist = py3{11,12}, pypy3, docs\n[testenv]\ncommands = pytest\n'''\n";
        let of = |name: &str| text_in("a/pyproject.toml", legacy, name);
        assert_eq!(of("py").as_deref(), Some("pytest"));
        assert_eq!(names("pyproject.toml", legacy), ["py", "docs"]);
        assert!(names("pyproject.toml", "[tool.x]\n").is_empty());
        assert!(names("tox.ini", "[tox]\nenvlist = py3\n").is_empty());
        let factors = "[tox]\nenvlist = lint, py3{11-14}-{tests,mypy}\n  3.1{0,3}-tests-{a,b}\n[testenv]\ncommands =\n  \
            tests: pytest \\\n      --cov \\\n      {posargs}\n  mypy: mypy .\n";
        assert_eq!(names("tox.ini", factors), ["py-tests", "py-mypy", "lint"]);
        assert_eq!(
            text_of(factors, "py-tests").as_deref(),
            Some("pytest --cov ")
        );
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
