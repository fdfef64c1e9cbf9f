//! How a project calls its tools itself, and which of them its uv brings on this Python. Pure.

use serde_json::Value;

use super::super::join;
use super::venv::VENVS;
use super::{Project, Runner, names};
use crate::model::{check, text};

/// How many lines of recipes say how a tool is called.
const MOST_CALLS: usize = 20;
/// Options of linters and formatters that take no value.
const FLAGS: [&str; 10] = [
    "--check",
    "--check-only",
    "--diff",
    "--fix",
    "--no-fix",
    "--preview",
    "--quiet",
    "--verbose",
    "-q",
    "-v",
];
/// How options begin by which a tool does more than look, or says what it finds to others; with one of them a call is no goal.
const NO_GOAL: [&str; 14] = [
    "--add-noqa",
    "--exit-zero",
    "--fix",
    "--help",
    "--in-place",
    "--install-types",
    "--junit",
    "--output",
    "--report",
    "--unsafe-fixes",
    "--version",
    "--watch",
    "--write",
    "-w",
];
/// Where uv finds packages, in the order in which they count.
const LISTS: [&str; 4] = [
    "/dependency-groups",
    "/project/optional-dependencies",
    "/project",
    "/tool/uv",
];
/// What markers ask for, and what holds here but for the version of Python.
const HERE: [(&str, &str); 5] = [
    ("implementation_name", "cpython"),
    ("platform_python_implementation", "CPython"),
    ("os_name", "posix"),
    ("sys_platform", std::env::consts::OS),
    ("extra", ""),
];

/// What the project hands a tool itself.
pub(super) enum Places {
    /// These files and folders, each time.
    Told(String),
    /// All of this, options with it, each time.
    Called(String),
    /// Some each time, and not the same.
    Differ,
    /// That is not known.
    Untold,
}

impl Project<'_> {
    /// Returns the files and folders that the project's own recipes hand a tool, each time the same, as they are typed behind it; where
    /// these do not call it, what tox, nox or CI hand it.
    pub(super) fn places(&self, tool: &[&str]) -> Places {
        let mut all = self.calls.in_order().into_iter();
        let told = all.find_map(|jobs| self.places_in(jobs, tool));
        told.unwrap_or(Places::Untold)
    }

    /// The same of these lines; none where they do not call it.
    fn places_in(&self, jobs: &[Vec<String>], tool: &[&str]) -> Option<Places> {
        let mut found: Vec<Vec<String>> = Vec::new();
        let mut whole: Vec<Vec<String>> = Vec::new();
        let mut has_options = false;
        let call = tool.join(" ");
        let mut lines: Vec<&String> = jobs.iter().flatten().collect();
        lines.retain(|line| line.contains(&call));
        lines.sort();
        lines.dedup();
        let lines = lines.into_iter().take(MOST_CALLS);
        for check::Done { words, .. } in lines.flat_map(|line| check::done(line)) {
            let mut places = words.windows(tool.len());
            let Some(at) = places.position(|some| some.iter().eq(tool)) else {
                continue;
            };
            let rest = &words[at + tool.len()..];
            let is_option = |word: &&String| word.starts_with('-');
            // What others are told behind them may be for these.
            let mut options = rest.iter().filter(is_option);
            has_options |= options.any(|it| !FLAGS.contains(&it.as_str()));
            whole.push(rest.to_vec());
            found.push(rest.iter().filter(|it| !is_option(it)).cloned().collect());
        }
        if has_options {
            return Some(called(&whole));
        }
        let first = found.first()?.clone();
        let is_same = found.iter().all(|other| *other == first);
        let is_told = is_same && !first.is_empty() && first.iter().all(|it| self.is_there(it));
        let words: Vec<String> = first.iter().map(text::shell_word).collect();
        Some(match is_told {
            true => Places::Told(words.join(" ")),
            false if !is_same && found.iter().all(|some| !some.is_empty()) => Places::Differ,
            false => Places::Untold,
        })
    }

    /// Returns the marker for which uv does not bring a package on the Python that is used here.
    pub(super) fn marker_against(&self, package: &str) -> Option<String> {
        if self.runner != Runner::Uv {
            return None;
        }
        let version = self.python_version();
        let lists = LISTS.iter().filter_map(|at| self.pyproject.pointer(at));
        let lists = lists.filter_map(Value::as_object).flatten();
        let lists = lists.filter_map(|(_, list)| list.as_array());
        let of_list = |list: &Vec<Value>| {
            let named = list.iter().filter_map(Value::as_str);
            let named: Vec<String> = named
                .filter(|it| {
                    let word = it.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
                    word.into_iter()
                        .next()
                        .is_some_and(|word| names(word, package))
                })
                .map(str::to_owned)
                .collect();
            Some(named).filter(|named| !named.is_empty())
        };
        let named = lists.into_iter().find_map(of_list)?;
        let against = |one: &String| {
            let marker = one.split_once(';')?.1.trim().to_owned();
            (holds(&marker, version.as_deref()) == Some(false)).then_some(marker)
        };
        let all: Option<Vec<String>> = named.iter().map(against).collect();
        all?.into_iter().next()
    }

    /// Returns the version of Python that is used here, where a file says so.
    fn python_version(&self) -> Option<String> {
        let read = |name: &str| self.look.read(&join(self.home, name));
        let of_venv = VENVS.iter().find_map(|venv| {
            let text = read(&format!("{venv}/pyvenv.cfg"))?;
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            let (_, version) = lines.find(|(key, _)| key.trim().starts_with("version"))?;
            Some(version.trim().to_owned())
        });
        let asked = || Some(read(".python-version")?.lines().next()?.trim().to_owned());
        let version = of_venv.or_else(asked)?;
        version
            .starts_with(|c: char| c.is_ascii_digit())
            .then_some(version)
    }
}

/// Returns what a tool is called with where that is the same each time, and can be typed as it is.
fn called(whole: &[Vec<String>]) -> Places {
    let is_plain = |word: &String| {
        let is_known = !word.contains(['$', '{', '}', '`', '<', '>']);
        is_known && !NO_GOAL.iter().any(|begin| word.starts_with(begin))
    };
    match whole {
        [first, others @ ..]
            if others.iter().all(|it| it == first) && first.iter().all(is_plain) =>
        {
            let is_option = |word: &str| {
                let is_part = |c: char| c.is_ascii_alphanumeric() || "-_=./,:".contains(c);
                word.starts_with('-') && word.chars().all(is_part)
            };
            let typed = first.iter().map(|word| match is_option(word) {
                true => word.clone(),
                false => text::shell_word(word),
            });
            Places::Called(typed.collect::<Vec<_>>().join(" "))
        }
        _ => Places::Untold,
    }
}

/// Says whether a marker of a package holds; none where that cannot be told. Of a version that is not known, it is taken not to be the
/// one that is asked for alone.
fn holds(marker: &str, version: Option<&str>) -> Option<bool> {
    if marker.contains(" or ") || marker.contains(['(', ')']) {
        return None;
    }
    let of_part = |part: &str| -> Option<bool> {
        let words: Vec<&str> = part.split_whitespace().collect();
        let [name, sign, value] = words.as_slice() else {
            return None;
        };
        let value = value.trim_matches(['\'', '"']);
        if *name == "python_version" {
            let numbers = |text: &str| -> Option<Vec<u32>> {
                let parts = text.split('.').take(2).map(|part| part.parse().ok());
                parts.collect()
            };
            let Some(version) = version.and_then(numbers) else {
                return (*sign == "==").then_some(false);
            };
            let order = version.cmp(&numbers(value)?);
            return match *sign {
                "==" => Some(order.is_eq()),
                "!=" => Some(order.is_ne()),
                "<" => Some(order.is_lt()),
                "<=" => Some(order.is_le()),
                ">" => Some(order.is_gt()),
                ">=" => Some(order.is_ge()),
                _ => None,
            };
        }
        let (_, here) = HERE.iter().find(|(known, _)| known == name)?;
        match *sign {
            "==" => Some(value == *here),
            "!=" => Some(value != *here),
            _ => None,
        }
    };
    let parts: Vec<Option<bool>> = marker.split(" and ").map(of_part).collect();
    match () {
        () if parts.contains(&Some(false)) => Some(false),
        () if parts.contains(&None) => None,
        () => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_holds_or_does_not_or_cannot_be_told() {
        for (marker, version, expected) in [
            ("python_version == '3.14'", Some("3.12.1"), Some(false)),
            ("python_version == '3.14'", Some("3.14.0"), Some(true)),
            ("python_version == '3.14'", None, Some(false)),
            ("python_version >= '3.9'", None, None),
            ("python_version < \"3.9\"", Some("3.12"), Some(false)),
            (
                "python_version >= '3.9' and os_name == 'posix'",
                Some("3.10.2"),
                Some(true),
            ),
            ("os_name == 'nt' and x > '1'", None, Some(false)),
            ("os_name == 'nt' or x > '1'", None, None),
            ("implementation_name != 'cpython'", None, Some(false)),
        ] {
            assert_eq!(holds(marker, version), expected, "{marker}: {version:?}");
        }
    }
}
