//! Problems as they are shown: place, message, the source line with a marker, hint. Pure.

use super::MAX_BYTES;
use super::fields::Found;
use crate::error::Error;
use crate::model::text::is_invisible;

/// How many problems one error shows.
const SHOWN: usize = 20;
/// How much of a source line is shown, in characters.
const WIDTH: usize = 100;

/// What to do about a problem that says nothing of its own.
const ANY_HINT: &str = "`evolve schema goals`, or for config.yaml `evolve schema config`, prints everything that may stand there";

/// Something wrong in a file, with its place and the source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// The source line, as it stands in the file.
    pub text: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Gives each complaint its source line; in the file's order.
pub fn place_problems(bytes: &[u8], found: Found) -> Vec<Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Of a file that is too large only that is said, and no line of it is worth looking for.
    let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
    let mut complaints = found.complaints;
    complaints.sort_by_key(|complaint| complaint.place);
    let lines = lines(bytes);
    complaints
        .into_iter()
        .map(|complaint| {
            let line = lines.get(complaint.place.line - 1).copied();
            Problem {
                line: complaint.place.line,
                column: complaint.place.column,
                text: String::from_utf8_lossy(line.unwrap_or_default()).into_owned(),
                message: complaint.message,
                hint: complaint.hint,
            }
        })
        .collect()
}

/// Splits at each of the three line ends, as the YAML parser counts lines.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let ends = match byte {
            b'\n' => true,
            b'\r' => bytes.get(index + 1) != Some(&b'\n'),
            _ => false,
        };
        if ends {
            let line = &bytes[start..index];
            lines.push(line.strip_suffix(b"\r").unwrap_or(line));
            start = index + 1;
        }
    }
    lines.push(&bytes[start..]);
    lines
}

/// Makes one usage error of all `problems`.
pub fn to_error(file_name: &str, problems: &[Problem]) -> Error {
    if let [only] = problems {
        return Error::usage(without_hint(file_name, only)).hint(hint_of(only));
    }
    let shown = problems.iter().take(SHOWN).map(|problem| {
        let text = without_hint(file_name, problem);
        format!("{text}\nhint: {}", hint_of(problem))
    });
    let mut message = shown.collect::<Vec<_>>().join("\n\n");
    match problems.len().saturating_sub(SHOWN) {
        0 => {}
        1 => message.push_str("\n\nand 1 more problem"),
        more => message.push_str(&format!("\n\nand {more} more problems")),
    }
    Error::usage(message)
}

fn hint_of(problem: &Problem) -> String {
    harmless(problem.hint.as_deref().unwrap_or(ANY_HINT))
}

fn without_hint(file_name: &str, problem: &Problem) -> String {
    let head = format!(
        "{file_name}:{}:{}: {}",
        problem.line,
        problem.column,
        harmless(&problem.message)
    );
    match problem.text.trim().is_empty() {
        true => head,
        false => format!("{head}\n{}", source(problem)),
    }
}

/// Shows the source line, cut around the column, and a marker below it.
fn source(problem: &Problem) -> String {
    let column = problem.column - 1;
    let length = problem.text.chars().count();
    let from = match length > WIDTH {
        true => column.saturating_sub(WIDTH / 2).min(length - WIDTH),
        false => 0,
    };
    let before = if from > 0 { "…" } else { "" };
    let after = if from + WIDTH < length { "…" } else { "" };
    let part: String = problem.text.chars().skip(from).take(WIDTH).collect();
    let number = problem.line.to_string();
    let blank = " ".repeat(number.len());
    let indent = " ".repeat(before.chars().count() + column.saturating_sub(from));
    format!(
        "{number} | {before}{}{after}\n{blank} | {indent}^",
        harmless(&part)
    )
}

/// Replaces what a terminal would act on instead of showing it; one character stays one.
fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => '\n',
        '\t' => ' ',
        c if c.is_control() || is_invisible(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn problem(column: usize, text: &str, hint: Option<&str>) -> Problem {
        Problem {
            line: 8,
            column,
            text: text.to_string(),
            message: "weight: expected a number".to_string(),
            hint: hint.map(str::to_string),
        }
    }

    #[test]
    fn a_problem_shows_its_line_with_a_marker_and_what_to_do() {
        let error = to_error(
            "GOALS.yaml",
            &[problem(13, "    weight: x", Some("write 5"))],
        );
        assert_eq!(error.kind, Kind::Usage);
        assert_eq!(
            error.to_string(),
            "GOALS.yaml:8:13: weight: expected a number\n8 |     weight: x\n  |             ^\nhint: write 5"
        );
    }

    #[test]
    fn several_problems_keep_their_hints_beside_them() {
        let problems = [problem(1, "", Some("write 5")), problem(1, "", None)];
        assert_eq!(
            to_error("G", &problems).to_string(),
            format!(
                "G:8:1: weight: expected a number\nhint: write 5\n\nG:8:1: weight: expected a number\nhint: {ANY_HINT}"
            )
        );
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let shown = to_error("G", &[problem(4, "a\u{1b}[2Jb\u{202e}c\t", None)]).to_string();
        assert!(shown.contains("8 | a\u{fffd}[2Jb\u{fffd}c \n"), "{shown:?}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let line = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let shown = to_error("G", &[problem(5001, &line, None)]).to_string();
        let rows: Vec<&str> = shown.lines().collect();
        assert_eq!(rows[1].chars().count(), WIDTH + 6, "{shown}");
        let marker = rows[2].chars().position(|c| c == '^').unwrap();
        let marked: String = rows[1].chars().skip(marker).take(4).collect();
        assert_eq!(marked, "HERE");
    }

    #[test]
    fn more_problems_than_anybody_reads_are_counted() {
        let problems = vec![problem(1, "", None); SHOWN + 3];
        assert!(
            to_error("G", &problems)
                .message
                .ends_with("and 3 more problems")
        );
    }

    #[test]
    fn lines_end_in_three_ways() {
        assert_eq!(lines(b"a\nb\r\nc\rd"), [b"a", b"b", b"c", b"d"]);
    }
}
