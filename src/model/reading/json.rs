//! A number in a JSON document, at a JSON Pointer (RFC 6901). Pure.

mod led;
pub mod taken;

use serde_json::Value;

use super::printed::number;
use super::{Report, ending, finite, shown};
use led::{End, follow};
use taken::{Taker, read};

/// Returns the number at `pointer` of a report.
pub fn in_report(report: &Report, pointer: &str) -> Result<f64, String> {
    in_part(report, "", pointer, &report.quoted())
}

/// Returns the number at `pointer` of the part of a report that stands at `part`; `name` is the part's, for messages.
pub fn in_part(report: &Report, part: &str, pointer: &str, name: &str) -> Result<f64, String> {
    let end = follow(&format!("{part}{pointer}"), &report.text);
    number_at(end.map_err(|cause| broken(report, &cause))?, pointer, name)
}

/// Returns the number at `pointer` of what was printed.
pub fn in_output(stdout: &str, pointer: &str) -> Result<f64, String> {
    number_at(in_printed(stdout, pointer)?, pointer, "stdout")
}

/// Has a whole report taken.
pub fn take_report<'t>(taker: &mut impl Taker<'t>, report: &'t Report) -> Result<(), String> {
    read(taker, &report.text).map_err(|cause| broken(report, &cause))
}

fn broken(report: &Report, cause: &serde_json::Error) -> String {
    format!("{} {}: {cause}", report.quoted(), what_is_wrong(cause))
}

/// Says what is wrong with a document: what `once` refuses is JSON all the same.
fn what_is_wrong(cause: &serde_json::Error) -> &'static str {
    match cause.is_data() {
        true => "is not read",
        false => "is not JSON",
    }
}

/// Follows a pointer through stdout: all of it, or else its last line, since some tools talk before they answer.
fn in_printed(stdout: &str, pointer: &str) -> Result<End, String> {
    let last = stdout
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    follow(pointer, stdout)
        .or_else(|cause| {
            follow(pointer, last).map_err(|own| if own.is_data() { own } else { cause })
        })
        .map_err(|cause| {
            let ending = ending(stdout);
            format!("stdout, which {ending}, {}: {cause}", what_is_wrong(&cause))
        })
}

/// Returns the number where a pointer ends; `name` is the document's, for messages.
fn number_at(end: End, pointer: &str, name: &str) -> Result<f64, String> {
    let (found, is_whole) = match end {
        End::There { value, is_whole } => (value, is_whole),
        End::Short { left, contents } => {
            let reached =
                (0..left).fold(pointer, |way, _| way.rsplit_once('/').map_or("", |it| it.0));
            return Err(format!("{name} has no `{pointer}`; `{reached}` {contents}"));
        }
    };
    let what = format!("`{}` at `{pointer}` of {name}", shown(&found.to_string()));
    let value = match found {
        Value::Number(number) => number.as_f64(),
        Value::String(text) if is_whole => number(text.trim()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    };
    match value {
        Some(value) => finite(value, &what),
        None => Err(format!("{what} is no number")),
    }
}
