//! Reads the score of a sample: the last line of stdout, or the document that the fitness command wrote (rule S1). Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::mask;

/// The most characters of a line that is no number in a message.
const SHOWN: usize = 60;

const NOTHING: &str = "it printed nothing on stdout";
const NO_NUMBER: &str = "the last line of stdout is no finite number";

/// Why there is no score where the document is not understood.
pub const NO_RESULT: &str = "$EVOLVE_RESULT is no result";

/// Says whether this is why there is no score: what was printed is no number.
pub fn is_no_number(why: &str) -> bool {
    why.starts_with(NOTHING) || why.starts_with(NO_NUMBER)
}

/// Where a fitness command says its score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// On the last line of stdout.
    #[default]
    Stdout,
    /// In the document.
    Document,
}

/// What one run of a fitness command says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The number that is searched for.
    pub score: f64,
    /// The parts that it is made of, by name.
    #[serde(default)]
    pub tasks: BTreeMap<String, f64>,
    /// Where it was said.
    #[serde(skip)]
    pub channel: Channel,
}

impl Score {
    /// Returns the score if it was said where it is said of the untouched code. What is measured could write the document
    /// itself; says so otherwise.
    pub fn said_by(self, expected: Option<Channel>) -> Result<Score, String> {
        match (expected, self.channel) {
            (Some(Channel::Stdout), Channel::Document) => Err(
                "tampered: $EVOLVE_RESULT was written, and is not for the untouched code"
                    .to_owned(),
            ),
            (Some(Channel::Document), Channel::Stdout) => Err(
                "tampered: $EVOLVE_RESULT was not written, and is for the untouched code"
                    .to_owned(),
            ),
            (Some(_) | None, _) => Ok(self),
        }
    }
}

/// Reads a score: that of the document, where one was written, else the last line of stdout that is not empty. Says why where
/// there is none.
pub fn read(stdout: &str, document: Option<&str>) -> Result<Score, String> {
    let Some(document) = document else {
        let mut lines = stdout.lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty());
        let line = last.ok_or(NOTHING)?;
        let score = number(line).ok_or_else(|| {
            let shown = mask::line(line, SHOWN);
            format!("{NO_NUMBER}: {shown}")
        })?;
        return Ok(Score {
            score,
            tasks: BTreeMap::new(),
            channel: Channel::Stdout,
        });
    };
    // `serde_json` has no number that is not finite.
    let read: Result<Score, _> = serde_json::from_str(document);
    let read = read.map_err(|cause| {
        let cause = cause
            .to_string()
            .replace("expected f64", "expected a number");
        format!("{NO_RESULT}: {cause}")
    })?;
    Ok(Score {
        channel: Channel::Document,
        ..read
    })
}

/// Returns the finite number that a text is, alone.
pub fn number(text: &str) -> Option<f64> {
    let is_of_number = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    let number = text
        .chars()
        .all(is_of_number)
        .then(|| text.parse::<f64>().ok())?;
    number.filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_a_finite_number_alone_on_the_last_line() {
        for (stdout, expected) in [
            ("1", Some(1.0)),
            ("1e-05\n", Some(1e-5)),
            (".5", Some(0.5)),
            ("+3\n\n  \n", Some(3.0)),
            ("took 3 s\n  -2 \n", Some(-2.0)),
            ("3\r\n", Some(3.0)),
            ("NaN", None),
            ("inf", None),
            ("-Infinity", None),
            ("1e999", None),
            ("1,089", None),
            ("score: 3", None),
            ("3 points", None),
            ("0x10", None),
            ("1_000", None),
            ("", None),
            ("\n \n", None),
            ("3\ndone", None),
        ] {
            let read = read(stdout, None);
            assert_eq!(
                read.clone().ok().map(|score| score.score),
                expected,
                "{stdout:?}: {read:?}"
            );
        }
    }

    #[test]
    fn a_document_decides_alone() {
        let whole = read("7", Some(r#"{"score": 2.5, "tasks": {"a": 1}}"#)).unwrap();
        assert_eq!((whole.score, whole.tasks["a"]), (2.5, 1.0));
        assert!(whole.clone().said_by(Some(Channel::Document)).is_ok());
        let forged = whole.said_by(Some(Channel::Stdout)).unwrap_err();
        assert!(forged.starts_with("tampered: "), "{forged}");
        let silent = read("7", None).unwrap().said_by(Some(Channel::Document));
        assert!(silent.unwrap_err().starts_with("tampered: "));
        for bad in [
            "",
            "{}",
            "3",
            r#"{"score": "3"}"#,
            r#"{"score": NaN}"#,
            r#"{"score": 1e999}"#,
            r#"{"score": 1, "x": 2}"#,
        ] {
            let why = read("7", Some(bad)).unwrap_err();
            assert!(
                why.starts_with("$EVOLVE_RESULT is no result: ") && !why.contains("f64"),
                "{bad}: {why}"
            );
        }
    }
}
