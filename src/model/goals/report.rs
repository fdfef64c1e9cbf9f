//! Problems as an error tells them: each in words, and as a spot that can be drawn. Pure.

use super::MAX_BYTES;
use super::fields::Found;
use crate::error::{Error, Spot};
use crate::model::text::visible;

/// How many problems one error tells in words.
const SHOWN: usize = 20;
/// How many characters of a line are kept on either side of a place: a whole file can be one line.
const AROUND: usize = 400;

/// What to do about a problem that says nothing of its own.
const ANY_HINT: &str = "`evolve schema goals`, or for config.yaml `evolve schema config`, prints everything that may stand there";

/// Something wrong in a file, with its place and the source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// How many characters are meant.
    pub length: usize,
    /// The source line as it stands in the file, as far as it is near the place.
    pub text: String,
    /// How many characters of the line stand before that.
    pub skipped: usize,
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
            let place = complaint.place;
            let line = lines.get(place.line - 1).copied();
            let line = String::from_utf8_lossy(line.unwrap_or_default());
            let skipped = (place.column - 1).saturating_sub(AROUND);
            Problem {
                line: place.line,
                column: place.column,
                length: place.length,
                text: line.chars().skip(skipped).take(2 * AROUND).collect(),
                skipped,
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

/// Makes one usage error of all `problems`, which points to each of them.
pub fn to_error(file_name: &str, problems: &[Problem]) -> Error {
    let spots = to_spots(file_name, problems);
    if let [only] = problems {
        let error = Error::usage(in_words(file_name, only)).at(spots);
        return error.hint(hint_of(only));
    }
    let shown = problems.iter().take(SHOWN).map(|problem| {
        let text = in_words(file_name, problem);
        format!("{text}\nhint: {}", hint_of(problem))
    });
    let mut message = shown.collect::<Vec<_>>().join("\n\n");
    match problems.len().saturating_sub(SHOWN) {
        0 => {}
        1 => message.push_str("\n\nand 1 more problem"),
        more => message.push_str(&format!("\n\nand {more} more problems")),
    }
    Error::usage(message).at(spots)
}

/// Returns what can be drawn of `problems`, in their order.
pub fn to_spots(file_name: &str, problems: &[Problem]) -> Vec<Spot> {
    let spots = problems.iter().map(|problem| spot(file_name, problem));
    spots.collect()
}

fn spot(file_name: &str, problem: &Problem) -> Spot {
    Spot {
        file: file_name.to_owned(),
        line: problem.line,
        column: problem.column,
        length: problem.length,
        text: problem.text.clone(),
        skipped: problem.skipped,
        message: problem.message.clone(),
        hint: hint_of(problem),
    }
}

fn hint_of(problem: &Problem) -> String {
    visible(problem.hint.as_deref().unwrap_or(ANY_HINT))
}

fn in_words(file_name: &str, problem: &Problem) -> String {
    let (line, column) = (problem.line, problem.column);
    let message = visible(&problem.message);
    format!("{file_name}:{line}:{column}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::model::goals::node::{Complaint, Place};

    fn problem(hint: Option<&str>) -> Problem {
        Problem {
            line: 8,
            column: 13,
            length: 1,
            text: "    weight: x".to_string(),
            skipped: 0,
            message: "weight: expected a number".to_string(),
            hint: hint.map(str::to_string),
        }
    }

    #[test]
    fn a_problem_is_told_in_words_and_as_a_spot() {
        let error = to_error("GOALS.yaml", &[problem(Some("write 5"))]);
        assert_eq!(error.kind, Kind::Usage);
        assert_eq!(
            error.to_string(),
            "GOALS.yaml:8:13: weight: expected a number\nhint: write 5"
        );
        let spot = &error.spots[0];
        assert_eq!((spot.line, spot.column, spot.length), (8, 13, 1));
        assert_eq!(spot.hint, "write 5");
    }

    #[test]
    fn several_problems_keep_their_hints_beside_them() {
        let problems = [problem(Some("write 5")), problem(None)];
        let error = to_error("G", &problems);
        assert_eq!(
            error.to_string(),
            format!(
                "G:8:13: weight: expected a number\nhint: write 5\n\nG:8:13: weight: expected a number\nhint: {ANY_HINT}"
            )
        );
        assert_eq!(error.spots.len(), 2);
    }

    #[test]
    fn of_a_long_line_what_is_near_the_place_is_kept() {
        let line = format!("{}HERE{}", "ä".repeat(5000), "b".repeat(5000));
        let place = Place::new(1, 5001);
        let found = Complaint::new(place, "odd").into();
        let problems = place_problems(line.as_bytes(), found);
        let problem = &problems[0];
        assert_eq!(problem.text.chars().count(), 2 * AROUND);
        let from_place = problem.text.chars().skip(5000 - problem.skipped);
        assert_eq!(from_place.take(4).collect::<String>(), "HERE");
    }

    #[test]
    fn more_problems_than_anybody_reads_are_counted() {
        let problems = vec![problem(None); SHOWN + 3];
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
