//! What agents learned, one line of `lessons.jsonl` each, and which of it goes into a brief. Pure.

use serde::{Deserialize, Serialize};

use crate::model::snapshot::FORMAT;
use crate::model::{mask, text};

/// The longest lesson that is taken in, in characters.
const LONGEST: usize = 500;
/// How many lessons an agent may leave in one cycle.
const PER_CYCLE: usize = 20;
/// How many lessons a brief holds.
const IN_BRIEF: usize = 12;

/// One thing that an agent learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// Version of the format.
    pub format: u32,
    /// What the agent worked on.
    pub goal_id: String,
    /// In which cycle.
    pub cycle: u64,
    /// When it was taken in, RFC 3339 in UTC.
    pub timestamp: String,
    /// The lesson.
    pub text: String,
}

/// Reads `lessons.jsonl`; lines that are no lesson are left out.
pub fn parse(text: &str) -> Vec<Lesson> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line.trim()).ok())
        .collect()
}

/// Reads what an agent wrote to `EVOLVE_LESSONS`: a lesson a line, as text or as JSON with a `text` or `lesson`.
pub fn taken_in(
    written: &str,
    known: &[Lesson],
    goal_id: &str,
    cycle: u64,
    timestamp: &str,
) -> Vec<Lesson> {
    let mut taken: Vec<Lesson> = Vec::new();
    for line in written.lines() {
        let lesson = words_of(line.trim());
        let is_known = known.iter().chain(&taken).any(|other| other.text == lesson);
        if lesson.is_empty() || is_known || taken.len() >= PER_CYCLE {
            continue;
        }
        taken.push(Lesson {
            format: FORMAT,
            goal_id: goal_id.to_owned(),
            cycle,
            timestamp: timestamp.to_owned(),
            text: lesson,
        });
    }
    taken
}

fn words_of(line: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(line).ok();
    let words = value.as_ref().and_then(|value| {
        let named = value.get("text").or_else(|| value.get("lesson"));
        named.unwrap_or(value).as_str()
    });
    let words = match (words, &value) {
        (Some(words), _) => words,
        (None, Some(serde_json::Value::Object(_))) => "",
        (None, _) => line,
    };
    let words: String = text::clean_line(words).chars().take(LONGEST).collect();
    mask::secrets(words.trim())
}

/// Returns the lessons for a brief, newest first: those about this goal, then the others.
pub fn relevant<'a>(lessons: &'a [Lesson], goal_id: &str) -> Vec<&'a Lesson> {
    let about_it = lessons
        .iter()
        .rev()
        .filter(|lesson| lesson.goal_id == goal_id);
    let others = lessons
        .iter()
        .rev()
        .filter(|lesson| lesson.goal_id != goal_id);
    about_it.chain(others).take(IN_BRIEF).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_may_be_text_or_json_and_is_taken_in_once() {
        let written =
            "plain words\n{\"text\": \"from json\"}\n\"a string\"\n{\"other\": 1}\n\nplain words\n";
        let taken = taken_in(written, &[], "g", 3, "2026-01-01T00:00:00Z");
        let texts: Vec<_> = taken.iter().map(|lesson| lesson.text.as_str()).collect();
        assert_eq!(texts, ["plain words", "from json", "a string"]);
        assert!(taken_in(written, &taken, "g", 4, "2026-01-01T00:00:00Z").is_empty());
    }

    #[test]
    fn lessons_about_the_goal_come_first_and_the_newest_of_them_before_the_others() {
        let lesson = |goal_id: &str, text: &str| Lesson {
            format: 1,
            goal_id: goal_id.into(),
            cycle: 1,
            timestamp: String::new(),
            text: text.into(),
        };
        let lessons = [lesson("a", "1"), lesson("b", "2"), lesson("a", "3")];
        let texts: Vec<_> = relevant(&lessons, "a")
            .iter()
            .map(|lesson| lesson.text.as_str())
            .collect();
        assert_eq!(texts, ["3", "1", "2"]);
    }
}
