//! The variables that CI sets for a step, as far as their values stand in its file. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::commands::commands_of;

/// What `export` sets, each value as it is written: nothing in it stands for anything else.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let bare = r"(?<bare>[\w./:,@%+=-]*)";
    let quoted = r#"'(?<single>[^']*)'|"(?<double>[^"$`\\]*)""#;
    Regex::new(&format!(
        r"(?:^|\s)(?<name>[A-Za-z_]\w*)=(?:{quoted}|{bare})"
    ))
    .expect("BUG: a pattern of ours is no pattern")
});

/// A variable that a script names without a value in place of none.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{?([A-Z][A-Z0-9_]*)(?:\}|\b)").expect("BUG: a pattern of ours is no pattern")
});

/// Variables that change only how tools talk and what they keep; left out where the step itself does not set them.
const OF_LOOKS: [&str; 12] = [
    "CARGO_TERM_COLOR",
    "CARGO_TERM_PROGRESS_WHEN",
    "CARGO_INCREMENTAL",
    "CARGO_NET_RETRY",
    "RUSTUP_MAX_RETRIES",
    "RUST_BACKTRACE",
    "FORCE_COLOR",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "PY_COLORS",
    "TERM",
];

/// The variables of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Env {
    /// Names and values, as they are set.
    pub known: Vec<(String, String)>,
    /// Names of those whose values only CI has.
    pub unknown: Vec<String>,
}

impl Env {
    /// Adds a map of variables, which beats what was there. `is_told` says whether a value is what its text is.
    pub fn add(&mut self, map: Option<&Value>, is_told: &dyn Fn(&str) -> bool) {
        let map = map.and_then(Value::as_object);
        for (name, value) in map.into_iter().flatten() {
            if !is_name(name) {
                continue;
            }
            let value = value.get("value").unwrap_or(value);
            let value = value.as_str().unwrap_or_default();
            let is_told = is_told(value) && !value.contains(['\n', '\r']);
            self.set(name, is_told.then_some(value));
        }
    }

    /// Adds what the lines of a script that runs before the step export, which beats what was there: plain words are known. Under a
    /// condition nothing is.
    pub fn add_exports(&mut self, script: &str, is_conditional: bool) {
        let commands = script
            .lines()
            .map(str::trim)
            .filter(|it| !it.starts_with('#'));
        for command in commands.flat_map(commands_of) {
            let Some(words) = command.strip_prefix("export ") else {
                continue;
            };
            let rest = ASSIGNED.replace_all(words, "");
            let is_plain = rest.trim().is_empty() && !is_conditional;
            for assigned in ASSIGNED.captures_iter(words) {
                let value = ["bare", "single", "double"].map(|form| assigned.name(form));
                let value = value
                    .into_iter()
                    .flatten()
                    .next()
                    .map_or("", |it| it.as_str());
                // Where programs are looked for is every machine's own.
                if &assigned["name"] != "PATH" {
                    self.set(&assigned["name"], is_plain.then_some(value));
                }
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        self.known.retain(|(other, _)| other != name);
        self.unknown.retain(|other| other != name);
        match value {
            Some(value) => self.known.push((name.to_owned(), value.to_owned())),
            None => self.unknown.push(name.to_owned()),
        }
    }

    /// Leaves out what `script` does not name and what changes only how tools talk, unless `near` sets it.
    pub fn without_looks(mut self, script: &str, near: Option<&Value>) -> Env {
        let is_near = |name: &str| near.is_some_and(|map| map.get(name).is_some());
        self.known.retain(|(name, _)| {
            !OF_LOOKS.contains(&name.as_str()) || is_near(name) || names(script, name)
        });
        self
    }

    /// Returns the first variable that a script names and whose value only CI has.
    pub fn unknown_in(&self, script: &str) -> Option<String> {
        let unknown = self.unknown.iter().find(|name| names(script, name));
        unknown.cloned().or_else(|| self.secret_in(script))
    }

    /// Returns the first variable that a script names, that is called as a secret is, and that nothing sets.
    fn secret_in(&self, script: &str) -> Option<String> {
        let words = ["AUTH", "CREDENTIALS", "KEY", "PASSWORD", "SECRET", "TOKEN"];
        let is_secret = |name: &str| name.split('_').any(|word| words.contains(&word));
        let is_set = |name: &str| {
            self.known.iter().any(|(known, _)| known == name)
                || script.contains(&format!("{name}="))
        };
        let named = NAMED.captures_iter(script).map(|found| found[1].to_owned());
        let mut named = named.filter(|name| is_secret(name) && !is_set(name));
        named.next()
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_part)
}

/// Says whether a script names a variable: `$NAME` or `${NAME`.
fn names(script: &str, name: &str) -> bool {
    ["$", "${", "${#", "${!"].iter().any(|mark| {
        let word = format!("{mark}{name}");
        script.match_indices(&word).any(|(at, _)| {
            let next = script[at + word.len()..].chars().next();
            !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    })
}
