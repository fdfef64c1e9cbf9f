//! Values from output: where the number of a check stands, and what to say when it does not stand there. Pure.
//!
//! What counts as a number: `80`, `-2`, `+3`, `.5`, `1e-5`, `85.7%` (the value is 85.7), and `1,089` with its thousands
//! marked (the value is 1089). Digits that are joined to something else are no number: `utf8`, `12ms`, `v1.2.3`,
//! `2026-02-11`, `12:30:45`, `3/10`, `src/2/b`. `3,5` may be one number or two, so it is an error and not a guess.
//! `nan` and `inf` standing alone are numbers that are not finite, so that an earlier number is not taken for the result
//! of a computation that failed.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::model::goals::Reading;
use crate::model::text;

/// How much of what was found a message shows, in characters.
const SHOWN: usize = 80;

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let digits = r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)";
    let pattern = format!(r"^[+-]?(?:{digits}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?%?$");
    Regex::new(&pattern).expect("BUG: the pattern of a number is valid")
});

/// Returns the number that `reading` describes. `combined` is stdout with stderr, `file` the content of the file that
/// `reading` names, none if it could not be read. The error says what was looked for and what was found.
pub fn read_value(
    reading: &Reading,
    stdout: &str,
    combined: &str,
    file: Option<&str>,
) -> Result<f64, String> {
    match reading {
        Reading::LastNumber => last_number(stdout),
        Reading::Regex(pattern) => last_match(pattern, combined),
        Reading::Json {
            file: Some(path),
            pointer,
        } => {
            let name = format!("`{}`", path.display());
            let content =
                file.ok_or_else(|| format!("no value: {name} is missing or cannot be read"))?;
            let document = parse_json(content)
                .map_err(|cause| format!("no value: {name} is not JSON: {cause}"))?;
            pointed_at(&document, pointer, &name)
        }
        Reading::Json {
            file: None,
            pointer,
        } => pointed_at(&printed_json(stdout)?, pointer, "stdout"),
    }
}

fn last_number(stdout: &str) -> Result<f64, String> {
    // From the end, so that a long output costs no more than its last line.
    let found = stdout.rsplit(['\n', '\r']).find_map(last_in_line);
    let Some((word, number)) = found else {
        let ending = ending(stdout);
        return Err(format!("no value: no number on stdout, which {ending}"));
    };
    match number {
        Some(value) => finite(value, &format!("the last number on stdout, `{word}`,")),
        None => Err(format!(
            "no value: the last number on stdout, `{word}`, may be one or several; say where the value stands with `read`"
        )),
    }
}

/// Returns the line's last number as it is written, and its value if it can only be one number.
fn last_in_line(line: &str) -> Option<(String, Option<f64>)> {
    let words = words(&text::clean(line));
    let (word, value) = words.split_whitespace().rev().find_map(number_in)?;
    Some((word.to_owned(), value))
}

/// Puts a blank for each character that separates words, as far as numbers are concerned.
fn words(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let near = |at: Option<usize>| at.and_then(|at| chars.get(at)).copied();
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let word_char = |(at, c): (usize, &char)| {
        let (before, after) = (near(at.checked_sub(1)), near(at.checked_add(1)));
        let joins = match c {
            '_' | '@' | '%' | '/' | '\\' | '+' | '-' | '\u{2212}' => true,
            // Dot leaders, as in `lines......85`, separate.
            '.' => before != Some('.') && after != Some('.'),
            ',' | ':' => is_digit(before) && is_digit(after),
            other => other.is_alphanumeric(),
        };
        match (joins, c) {
            (true, '\u{2212}') => '-',
            (true, c) => *c,
            (false, _) => ' ',
        }
    };
    chars.iter().enumerate().map(word_char).collect()
}

/// Returns the word without what ends a sentence, and its number if it can only be one; none if it holds no number.
fn number_in(word: &str) -> Option<(&str, Option<f64>)> {
    let word = word.trim_end_matches(['.', '/', '-', '+']);
    let is_list = word.contains(',')
        && word
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | '+' | '%'));
    match number(word) {
        Some(value) => Some((word, Some(value))),
        None => is_list.then_some((word, None)),
    }
}

/// Returns the number that the whole text is.
fn number(word: &str) -> Option<f64> {
    let plain = word.to_lowercase();
    match plain.trim_start_matches(['+', '-']) {
        "nan" => Some(f64::NAN),
        "inf" | "infinity" => Some(f64::INFINITY),
        _ => NUMBER
            .is_match(word)
            .then(|| plain.replace([',', '%'], "").parse().ok())
            .flatten(),
    }
}

fn last_match(pattern: &str, output: &str) -> Result<f64, String> {
    let regex = RegexBuilder::new(pattern)
        .multi_line(true)
        .build()
        .map_err(|cause| format!("no value: the pattern `{pattern}` is not valid: {cause}"))?;
    let clean = text::clean(output);
    let Some(captures) = regex.captures_iter(&clean).last() else {
        let ending = ending(&clean);
        return Err(format!(
            "no value: nothing matches `{pattern}` in the output, which {ending}"
        ));
    };
    let found = captures.get(1).or(captures.get(0));
    let found = found.map_or("", |found| found.as_str().trim());
    let what = format!("`{}`, the last match of `{pattern}`,", shown(found));
    match number(found) {
        Some(value) => finite(value, &what),
        None => Err(format!("no value: {what} is no number")),
    }
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
            format!("no value: stdout, which {ending}, is not JSON: {cause}")
        })
}

fn pointed_at(document: &Value, pointer: &str, name: &str) -> Result<f64, String> {
    let Some(found) = document.pointer(pointer) else {
        let (reached, there) = deepest(document, pointer);
        return Err(format!(
            "no value: {name} has no `{pointer}`; `{reached}` {there}"
        ));
    };
    let what = format!("`{}` at `{pointer}` of {name}", shown(&found.to_string()));
    let value = match found {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number(text.trim()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Some(value) => finite(value, &what),
        None => Err(format!("no value: {what} is no number")),
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

fn finite(value: f64, what: &str) -> Result<f64, String> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("no value: {what} is not finite"))
    }
}

fn shown(found: &str) -> String {
    text::cut(&text::clean_line(found), SHOWN)
}

fn ending(output: &str) -> String {
    match output
        .lines()
        .rev()
        .map(shown)
        .find(|line| !line.is_empty())
    {
        Some(line) => format!("ends with `{line}`"),
        None => "is empty".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn last(stdout: &str) -> Result<f64, String> {
        read_value(&Reading::LastNumber, stdout, "", None)
    }

    fn json(pointer: &str, file: Option<&str>) -> Reading {
        Reading::Json {
            file: file.map(Into::into),
            pointer: pointer.to_owned(),
        }
    }

    #[test]
    fn the_last_number_is_read_as_people_write_it() {
        let cases = [
            ("85", 85.0),
            ("coverage: 85.7% of statements\n", 85.7),
            ("coverage:85.7%.", 85.7),
            ("a=1e-5", 1e-5),
            ("-2", -2.0),
            ("\u{2212}2", -2.0),
            (
                "+3\nutf8 v1.2.3 12ms 2026-02-11 12:30:45 3/10 src/4/b x_9 0xff 7b",
                3.0,
            ),
            ("1,089 warnings", 1089.0),
            ("1,234,567.5", 1_234_567.5),
            ("total,85.7", 85.7),
            ("[1, 2, 3]", 3.0),
            ("lines......: 12.5% (x)", 12.5),
            ("lines......85", 85.0),
            ("\u{1b}[32m85\u{1b}[0m", 85.0),
            ("10%\r20%\r30%\r\n", 30.0),
            (".5", 0.5),
            ("It took 5.", 5.0),
        ];
        for (stdout, value) in cases {
            assert_eq!(last(stdout), Ok(value), "{stdout:?}");
        }
    }

    #[test]
    fn what_is_no_finite_number_is_said_to_be_none() {
        let cases = [
            ("", "no value: no number on stdout, which is empty"),
            (
                "utf8 ok\n\n",
                "no value: no number on stdout, which ends with `utf8 ok`",
            ),
            (
                "5\nNaN",
                "no value: the last number on stdout, `NaN`, is not finite",
            ),
            (
                "-inf",
                "no value: the last number on stdout, `-inf`, is not finite",
            ),
            (
                "1e999",
                "no value: the last number on stdout, `1e999`, is not finite",
            ),
        ];
        for (stdout, message) in cases {
            assert_eq!(last(stdout), Err(message.to_owned()));
        }
        assert!(
            last("4\n85,7").is_err_and(|message| message.contains("`85,7`, may be one or several"))
        );
    }

    #[test]
    fn a_pattern_reads_its_last_match_in_the_whole_output() {
        let read = |pattern: &str, output: &str| {
            read_value(&Reading::Regex(pattern.to_owned()), "", output, None)
        };
        assert_eq!(read(r"(\d+) warnings", "3 warnings\n12 warnings"), Ok(12.0));
        assert_eq!(read(r"\d+", "a1b22"), Ok(22.0));
        assert_eq!(read(r"^(\d+)$", "1 file\n42\ndone\n"), Ok(42.0));
        assert_eq!(read(r"time (\S+)ms", "time 1,089ms"), Ok(1089.0));
        let nothing = "no value: nothing matches `x(\\d)` in the output, which ends with `hm`";
        assert_eq!(read(r"x(\d)", "hm"), Err(nothing.to_owned()));
        let word = "no value: `abc`, the last match of `[a-c]+`, is no number";
        assert_eq!(read("[a-c]+", "abc"), Err(word.to_owned()));
        assert!(read("(", "1").is_err());
    }

    #[test]
    fn a_pointer_reads_a_number_or_a_numeric_text() {
        let file = Some(r#"{"data":[{"percent":85.5,"text":"12%","no":true}],"":1}"#);
        let read = |pointer: &str| read_value(&json(pointer, Some("cov.json")), "", "", file);
        assert_eq!(read("/data/0/percent"), Ok(85.5));
        assert_eq!(read("/data/0/text"), Ok(12.0));
        let is_bool = "no value: `true` at `/data/0/no` of `cov.json` is no number";
        assert_eq!(read("/data/0/no"), Err(is_bool.to_owned()));
        let missing = "no value: `cov.json` has no `/data/1/x`; `/data` has 1 element";
        assert_eq!(read("/data/1/x"), Err(missing.to_owned()));
        let missing = "no value: `cov.json` has no `/date`; `` has data, ";
        assert_eq!(read("/date"), Err(missing.trim().to_owned()));
    }

    #[test]
    fn json_on_stdout_may_follow_other_lines() {
        let read = |stdout: &str| read_value(&json("/a", None), stdout, "", None);
        assert_eq!(read("{\n\"a\": 1\n}\n"), Ok(1.0));
        assert_eq!(read("running\n{\"a\": 2}\n\n"), Ok(2.0));
        assert!(
            read("").is_err_and(|message| message.starts_with("no value: stdout, which is empty"))
        );
        assert_eq!(read_value(&json("", None), "7", "", None), Ok(7.0));
    }

    #[test]
    fn a_missing_file_is_named() {
        let missing = "no value: `cov.json` is missing or cannot be read";
        let read = read_value(&json("/a", Some("cov.json")), "1", "1", None);
        assert_eq!(read, Err(missing.to_owned()));
    }

    proptest! {
        #[test]
        fn a_printed_number_is_read_back(value in -1e12..1e12f64, before in "[a-z0-9 .:]{0,9}") {
            prop_assert_eq!(last(&format!("{before} {value}\n")), Ok(value));
        }

        #[test]
        fn no_output_breaks_the_reading(stdout in ".*") {
            if let Ok(value) = last(&stdout) {
                prop_assert!(value.is_finite());
            }
        }
    }
}
