//! Numbers in what a check prints: the last one, or the last match of a pattern. Pure.
//!
//! What counts as a number: `80`, `-2`, `+3`, `.5`, `1e-5`, `85.7%` (the value is 85.7), and `1,089` with its thousands
//! marked (the value is 1089). Digits that are joined to something else are no number: `utf8`, `12ms`, `v1.2.3`,
//! `2026-02-11`, `12:30:45`, `3/10`, `src/2/b`. `3,5` may be one number or two, so it is an error and not a guess.
//! `nan` and `inf` standing alone are numbers that are not finite, so that an earlier number is not taken for the result
//! of a computation that failed.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::{ending, finite, shown};
use crate::model::text;

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let digits = r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)";
    let pattern = format!(r"^[+-]?(?:{digits}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?%?$");
    Regex::new(&pattern).expect("BUG: the pattern of a number is valid")
});

/// Returns the last number on stdout.
pub fn last_number(stdout: &str) -> Result<f64, String> {
    // From the end, so that a long output costs no more than its last line.
    let found = stdout.rsplit(['\n', '\r']).find_map(last_in_line);
    let Some((word, number)) = found else {
        let ending = ending(stdout);
        return Err(format!("no number on stdout, which {ending}"));
    };
    match number {
        Some(value) => finite(value, &format!("the last number on stdout, `{word}`,")),
        None => Err(format!(
            "the last number on stdout, `{word}`, may be one or several; say where the value stands with `read`"
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
pub fn number(word: &str) -> Option<f64> {
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

/// Returns what the last match of `pattern` in the output says.
pub fn last_match(pattern: &str, output: &str) -> Result<f64, String> {
    let regex = RegexBuilder::new(pattern)
        .multi_line(true)
        .build()
        .map_err(|cause| format!("the pattern `{pattern}` is not valid: {cause}"))?;
    let clean = text::clean(output);
    let Some(captures) = regex.captures_iter(&clean).last() else {
        let ending = ending(&clean);
        return Err(format!(
            "nothing matches `{pattern}` in the output, which {ending}"
        ));
    };
    let found = captures.get(1).or(captures.get(0));
    let found = found.map_or("", |found| found.as_str().trim());
    let what = format!("`{}`, the last match of `{pattern}`,", shown(found));
    match number(found) {
        Some(value) => finite(value, &what),
        None => Err(format!("{what} is no number")),
    }
}
