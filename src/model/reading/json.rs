//! A number in a JSON document, at a JSON Pointer (RFC 6901). Pure.

use serde_json::Value;

use super::printed::number;
use super::{Report, ending, finite, shown};
use crate::model::text;

/// Returns the number at `pointer` of a report.
pub fn in_report(report: &Report, pointer: &str) -> Result<f64, String> {
    pointed_at(&parse(report)?, pointer, &report.quoted())
}

/// Returns the number at `pointer` of what was printed.
pub fn in_output(stdout: &str, pointer: &str) -> Result<f64, String> {
    pointed_at(&printed_json(stdout)?, pointer, "stdout")
}

/// Reads a whole report as JSON.
pub fn parse(report: &Report) -> Result<Value, String> {
    parse_json(&report.text).map_err(|cause| format!("{} is not JSON: {cause}", report.quoted()))
}

fn parse_json(content: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(content.trim_start_matches('\u{feff}'))
}

/// Reads stdout as JSON: all of it, or else its last line, since some tools talk before they answer.
fn printed_json(stdout: &str) -> Result<Value, String> {
    let last = stdout
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    parse_json(stdout)
        .or_else(|cause| parse_json(last).map_err(|_| cause))
        .map_err(|cause| {
            let ending = ending(stdout);
            format!("stdout, which {ending}, is not JSON: {cause}")
        })
}

/// Returns the number at `pointer` of a document; `name` is the document's, for messages.
pub fn pointed_at(document: &Value, pointer: &str, name: &str) -> Result<f64, String> {
    let Some(found) = document.pointer(pointer) else {
        let (reached, there) = deepest(document, pointer);
        return Err(format!("{name} has no `{pointer}`; `{reached}` {there}"));
    };
    let what = format!("`{}` at `{pointer}` of {name}", shown(&found.to_string()));
    let value = match found {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number(text.trim()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Some(value) => finite(value, &what),
        None => Err(format!("{what} is no number")),
    }
}

/// Returns the longest part of the pointer that leads somewhere, and what stands there.
fn deepest<'a>(document: &Value, pointer: &'a str) -> (&'a str, String) {
    let mut reached = pointer;
    while let Some(slash) = reached.rfind('/') {
        reached = &reached[..slash];
        if let Some(value) = document.pointer(reached) {
            return (reached, contents(value));
        }
    }
    ("", contents(document))
}

fn contents(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "is empty".to_owned(),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().map(String::as_str).collect();
            format!("has {}", shown(&keys.join(", ")))
        }
        Value::Array(list) => format!("has {}", text::count(list.len(), "element")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            format!("is {}", shown(&value.to_string()))
        }
    }
}
