//! Hides what looks like a secret before it reaches a file, a brief or a screen. Pure, but for the values that `learn` was
//! told once.
//!
//! Four things count as secrets: the shapes of well-known tokens, after their vendors' documentation (`shapes`); what is
//! assigned to a name that speaks of a secret, unless it is plainly code or prose (`assigned`); passwords behind the name of an
//! account (`accounts`); and the secrets of this program's own environment. Digests, ids and other data stay readable.

mod accounts;
mod assigned;
mod shapes;
mod stream;
mod words;

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;
use regex::bytes::{self, Captures, Match};
use serde_json::Value;

pub use stream::Stream;

use crate::model::text;

/// What stands in the place of a secret.
const MASK: &str = "***";
/// The longest problem of a line of JSON, in characters: it may quote what stands there.
const JSON_PROBLEM: usize = 200;
/// Shorter values of the environment are no secrets, or would be found everywhere.
const SHORTEST_KNOWN: usize = 8;

/// The secrets of the environment, as one pattern.
static KNOWN: OnceLock<Option<Regex>> = OnceLock::new();

/// Says whether something in a text was masked.
pub fn is_masked(text: &str) -> bool {
    text.contains(MASK)
}

/// Returns the text with everything that looks like a secret replaced by `***`.
pub fn secrets(text: &str) -> String {
    replaced(text, &found(text))
}

/// Returns words of others as one clean line of at most so many characters, without secrets. They are masked before they are cut:
/// half a secret would not be told.
pub fn line(words: &str, most: usize) -> String {
    text::cut(&secrets(&text::clean_line(words)), most)
}

/// Masks secrets character by character, so that everything else stands where it stood.
pub fn in_place(text: &str) -> String {
    let mut masked = text.to_owned();
    for secret in found(text).into_iter().rev() {
        let stars = "*".repeat(text[secret.clone()].chars().count());
        masked.replace_range(secret, &stars);
    }
    masked
}

/// Returns what is wrong with a line of JSON, without the place: that is a line of its own to the parser. The parser quotes
/// what it found, so that is cleaned, masked and cut.
pub fn json_problem(cause: &serde_json::Error) -> String {
    let said = cause.to_string();
    let said = match said.rfind(" at line ") {
        Some(end) => &said[..end],
        None => &said,
    };
    line(said, JSON_PROBLEM)
}

/// Masks every text in a JSON document, and leaves the document one.
pub fn value(value: &mut Value) {
    match value {
        Value::String(text) => {
            let masked = secrets(text);
            if masked != *text {
                *text = masked;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(self::value),
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if assigned::is_assignment(key, text) => {
                        *text = MASK.to_owned();
                    }
                    other => self::value(other),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes in the secrets among the variables of an environment, once: their values are masked from then on, wherever they
/// stand.
pub fn learn(variables: impl Iterator<Item = (String, String)>) {
    let mut values: Vec<String> = variables
        .filter(|(name, _)| assigned::is_secret_variable(name))
        // A key may have several lines, and each of them is printed alone.
        .flat_map(|(_, value)| {
            value
                .lines()
                .map(str::trim)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|value| is_distinctive(value))
        .collect();
    // The longest first: one may begin with another.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let escaped: Vec<_> = values.iter().map(|value| regex::escape(value)).collect();
    let pattern = (!escaped.is_empty()).then(|| Regex::new(&escaped.join("|")).ok());
    let _ = KNOWN.set(pattern.flatten());
}

/// Says whether a value can be told from ordinary words: a path or a plain word is none, though its variable's name may end
/// in KEY.
fn is_distinctive(value: &str) -> bool {
    let is_word = value
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
    let is_path =
        value.starts_with(['/', '~', '.']) && value.contains('/') && !value.ends_with('=');
    value.len() >= SHORTEST_KNOWN && !(is_word && value.len() < 20) && !is_path
}

/// Compiles the patterns, which takes some milliseconds: for another thread to do while this one waits for something else.
pub fn prepare() {
    accounts::prepare();
    assigned::prepare();
    shapes::found("");
    words::found("");
}

/// Compiles a pattern that goes by bytes, but for its parts in `(?u:…)`: with the classes of Unicode long repetitions take ten times
/// the memory and the time. What it finds stands between what is ASCII, so that no character is cut.
fn pattern(text: &str) -> bytes::Regex {
    let pattern = bytes::RegexBuilder::new(text).unicode(false).build();
    pattern.expect("BUG: a pattern of secrets does not compile")
}

/// Returns what a pattern found under a name, and its words.
fn named<'t>(text: &'t str, captures: &Captures<'t>, name: &str) -> Option<(&'t str, Match<'t>)> {
    let found = captures.name(name)?;
    Some((&text[found.range()], found))
}

/// Returns where secrets stand in a text, in its order and apart from each other.
fn found(text: &str) -> Vec<Range<usize>> {
    let mut all = shapes::found(text);
    all.extend(assigned::found(text));
    all.extend(accounts::found(text));
    all.extend(words::found(text));
    if let Some(Some(known)) = KNOWN.get() {
        all.extend(known.find_iter(text).map(|found| found.range()));
    }
    all.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in all {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => apart.push(range),
        }
    }
    apart
}

fn replaced(text: &str, secrets: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        masked.push_str(&text[end..secret.start]);
        masked.push_str(MASK);
        end = secret.end;
    }
    masked.push_str(&text[end..]);
    masked
}

#[cfg(test)]
mod tests;
