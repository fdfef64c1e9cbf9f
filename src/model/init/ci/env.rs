//! The variables that CI sets for a step, as far as their values stand in its file. Pure.

use serde_json::Value;

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
            self.known.retain(|(other, _)| other != name);
            self.unknown.retain(|other| other != name);
            let value = value.get("value").unwrap_or(value);
            let value = value.as_str().unwrap_or_default();
            match is_told(value) && !value.contains(['\n', '\r']) {
                true => self.known.push((name.clone(), value.to_owned())),
                false => self.unknown.push(name.clone()),
            }
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
    pub fn unknown_in(&self, script: &str) -> Option<&String> {
        self.unknown.iter().find(|name| names(script, name))
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
