//! What agents learned, one line of `lessons.jsonl` each, and which of it goes into a brief. Pure.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::record::{CycleResult, Record};
use crate::model::snapshot::FORMAT;
use crate::model::{digest, goals, mask, text};

/// The longest lesson that is taken in, in characters.
const LONGEST: usize = 500;
/// How much of one is read, in characters: more than any secret takes.
const READ: usize = 8 * LONGEST;
/// How many lessons an agent may leave in one cycle.
const PER_CYCLE: usize = 20;
/// How many lessons a brief holds.
const IN_BRIEF: usize = 12;
/// How many characters of lessons a brief holds.
const CHARACTERS: usize = 3_000;
/// In how many failed attempts at a goal a lesson was told that is told last from then on.
const SINKS_AFTER: usize = 3;
/// How many attempts at a goal are looked back at.
const ATTEMPTS: usize = 50;
/// How many letters of a lesson's id are shown.
pub const SHORT_ID: usize = 6;

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
    /// A person dropped it: it is told and learned no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
}

impl Lesson {
    /// Returns what the lesson is called for short: the same for lessons that say the same.
    pub fn id(&self) -> String {
        digest::short(&[&key(&self.text)])
    }

    /// Returns the lesson in one line, without the mark of a list or heading that an earlier version kept.
    pub fn words(&self) -> String {
        unmarked(&text::clean_line(&self.text)).to_owned()
    }
}

/// Returns a line of Markdown without the marks of lists and headings that it begins with.
fn unmarked(line: &str) -> &str {
    let mut rest = line.trim();
    loop {
        let is_bar = |c: char| matches!(c, '-' | '*' | '+' | '#' | '_' | '=');
        if rest.chars().all(is_bar) {
            return "";
        }
        if let Some(words) = rest.strip_prefix("[ ] ") {
            rest = words.trim_start();
            continue;
        }
        let (mark, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let number = mark.strip_suffix(['.', ')']).unwrap_or_default();
        let is_number =
            (1..=3).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit());
        let is_heading = mark.len() <= 6 && mark.bytes().all(|byte| byte == b'#');
        let is_mark = matches!(mark, "-" | "*" | "+" | "•" | "–" | "[x]" | "[X]");
        if !(is_number || is_heading || is_mark) {
            return rest;
        }
        rest = words.trim_start();
    }
}

/// Returns what makes a lesson the same as another: its words, however they are marked, spaced and ended.
fn key(text: &str) -> String {
    let words = text::clean_line(text);
    let words = unmarked(&words).to_lowercase();
    let end = |c: char| matches!(c, '.' | '!' | '?' | ':' | ';' | ',') || c.is_whitespace();
    words.trim_end_matches(end).to_owned()
}

/// Reads `lessons.jsonl`; lines that are no lesson are left out.
pub fn parse(text: &str) -> Vec<Lesson> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line.trim()).ok())
        .collect()
}

/// Reads what an agent wrote to `EVOLVE_LESSONS`: a lesson a line, as text or as JSON with a `text` or `lesson`. What marks a line of
/// Markdown as one of a list, or as a heading, is left out.
pub fn taken_in(
    written: &str,
    known: &[Lesson],
    goal_id: &str,
    cycle: u64,
    timestamp: &str,
) -> Vec<Lesson> {
    let mut taken: Vec<Lesson> = Vec::new();
    let mut keys: Option<HashSet<String>> = None;
    for line in written.lines() {
        let lesson = words_of(unmarked(line));
        if lesson.is_empty() {
            continue;
        }
        if taken.len() >= PER_CYCLE {
            break;
        }
        let all_known = || known.iter().map(|known| key(&known.text)).collect();
        if !keys.get_or_insert_with(all_known).insert(key(&lesson)) {
            continue;
        }
        taken.push(Lesson {
            format: FORMAT,
            goal_id: goal_id.to_owned(),
            cycle,
            timestamp: timestamp.to_owned(),
            text: lesson,
            dropped: false,
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
    // Half a secret would not be told as one; and a line may be as long as the whole file.
    let words: String = words.chars().take(READ).collect();
    let words = text::clean_line(&words);
    let words = mask::secrets(unmarked(&words));
    let words: String = words.chars().take(LONGEST).collect();
    words.trim_end().to_owned()
}

/// A lesson as it stands for one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked<'a> {
    /// The lesson.
    pub lesson: &'a Lesson,
    /// In how many attempts at the goal it was told that failed, since one that did not.
    pub failed: usize,
    /// A brief for the goal has room for it.
    pub is_told: bool,
}

impl Ranked<'_> {
    /// Says whether it was told so often in vain that it is told last.
    pub fn is_sunk(&self) -> bool {
        self.failed >= SINKS_AFTER
    }
}

/// Returns the lessons that nobody dropped, each once, oldest first.
pub fn standing(lessons: &[Lesson]) -> Vec<&Lesson> {
    let dropped: HashSet<String> = lessons
        .iter()
        .filter(|lesson| lesson.dropped)
        .map(|lesson| key(&lesson.text))
        .collect();
    let mut seen = HashSet::new();
    let mut standing: Vec<&Lesson> = lessons
        .iter()
        .rev()
        .filter(|lesson| {
            let key = key(&lesson.text);
            !key.is_empty() && !dropped.contains(&key) && seen.insert(key)
        })
        .collect();
    standing.reverse();
    standing
}

/// Ranks the lessons for work on a goal: those about it before the others, the newest first, and last those that were told in three
/// attempts at it that failed. What was told follows from the records alone: each attempt was told what stood first then.
pub fn ranked<'a>(lessons: &'a [Lesson], records: &[Record], goal_id: &str) -> Vec<Ranked<'a>> {
    let standing = standing(lessons);
    let mut failed = vec![0; standing.len()];
    let attempts: Vec<&Record> = records
        .iter()
        .rev()
        .filter(|record| record.goal_id.as_deref() == Some(goal_id) && record.agent.is_some())
        .take(ATTEMPTS)
        .collect();
    for record in attempts.into_iter().rev() {
        let told = order(&standing, &failed, goal_id, record.cycle);
        for index in told
            .into_iter()
            .filter(|(_, is_told)| *is_told)
            .map(|(index, _)| index)
        {
            match record.is_without_progress() {
                true => failed[index] += 1,
                false if record.result == CycleResult::Improved => failed[index] = 0,
                false => {}
            }
        }
    }
    order(&standing, &failed, goal_id, u64::MAX)
        .into_iter()
        .map(|(index, is_told)| Ranked {
            lesson: standing[index],
            failed: failed[index],
            is_told,
        })
        .collect()
}

/// Returns the places of the lessons of before a cycle in the order in which they are told, and whether there is room for each.
fn order(standing: &[&Lesson], failed: &[usize], goal_id: &str, cycle: u64) -> Vec<(usize, bool)> {
    let mut places: Vec<usize> = (0..standing.len())
        .rev()
        .filter(|index| standing[*index].cycle < cycle)
        .collect();
    places.sort_by_key(|index| {
        (
            failed[*index] >= SINKS_AFTER,
            standing[*index].goal_id != goal_id,
        )
    });
    let (mut count, mut characters) = (0, 0);
    let has_room = |index: usize| {
        characters += standing[index].text.chars().count();
        count += 1;
        count <= IN_BRIEF && characters <= CHARACTERS
    };
    let room: Vec<bool> = places.iter().copied().map(has_room).collect();
    places.into_iter().zip(room).collect()
}

/// Returns the lessons for a brief.
pub fn relevant<'a>(lessons: &'a [Lesson], records: &[Record], goal_id: &str) -> Vec<&'a Lesson> {
    let told = ranked(lessons, records, goal_id).into_iter();
    told.filter(|one| one.is_told)
        .map(|one| one.lesson)
        .collect()
}

/// Returns the lesson that a person means: by its id or how that begins, or by how its words begin.
pub fn find<'a>(word: &str, lessons: &[&'a Lesson]) -> Result<&'a Lesson> {
    let shown = mask::line(word, SHOWN);
    let word = text::clean_line(word).to_lowercase();
    let ways: [&dyn Fn(&Lesson) -> bool; 2] =
        [&|lesson| lesson.id().starts_with(&word), &|lesson| {
            [lesson.text.to_lowercase(), lesson.words().to_lowercase()]
                .iter()
                .any(|text| text.starts_with(&word))
        }];
    for is_meant in ways.into_iter().filter(|_| !word.is_empty()) {
        let meant: Vec<&Lesson> = lessons
            .iter()
            .copied()
            .filter(|one| is_meant(one))
            .collect();
        match meant.as_slice() {
            [] => {}
            [one] => return Ok(one),
            several => {
                let list: Vec<String> = several.iter().take(NAMED).map(|one| name(one)).collect();
                let count = several.len();
                return Err(
                    Error::usage(format!("{shown} could be any of {count} lessons"))
                        .hint(format!("write more of one of\n  {}", list.join("\n  "))),
                );
            }
        }
    }
    let ids: Vec<String> = lessons.iter().map(|one| short_id(one, SHORT_ID)).collect();
    let known: Vec<&str> = ids.iter().map(String::as_str).collect();
    let near = goals::nearest(&word, &known);
    let near = lessons
        .iter()
        .find(|one| near.is_some_and(|near| one.id().starts_with(near)));
    let error = Error::usage(format!("no lesson is called {shown}"));
    Err(match near {
        Some(lesson) => error.hint(format!("did you mean {}", name(lesson))),
        None => error.hint("`evolve lessons list` shows them"),
    })
}

/// How much of a lesson a message shows, in characters.
const SHOWN: usize = 60;
/// How many lessons are named that somebody may have meant.
const NAMED: usize = 10;

fn short_id(lesson: &Lesson, letters: usize) -> String {
    lesson.id().chars().take(letters).collect()
}

fn name(lesson: &Lesson) -> String {
    format!(
        "{} ({})",
        short_id(lesson, 2 * SHORT_ID),
        mask::line(&lesson.text, SHOWN)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_secret_where_a_lesson_is_cut_no_half_is_kept() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let written = format!("{} {token} more", "x".repeat(LONGEST - 20));
        let taken = taken_in(&written, &[], "a", 1, "now");
        assert!(mask::is_masked(&taken[0].text), "{}", taken[0].text);
        assert!(!taken[0].text.contains("ghp_"), "{}", taken[0].text);
    }

    #[test]
    fn of_a_secret_where_a_message_cuts_a_lesson_no_half_is_shown() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let word = format!("{} {token}", "x".repeat(SHOWN - 20));
        let known = taken_in("another one", &[], "a", 1, "now");
        let known: Vec<&Lesson> = known.iter().collect();
        let error = find(&word, &known).unwrap_err();
        assert!(!error.message.contains("ghp_"), "{}", error.message);
        let lesson = Lesson {
            text: word,
            ..known[0].clone()
        };
        assert!(!name(&lesson).contains("ghp_"), "{}", name(&lesson));
    }

    #[test]
    fn a_lesson_may_be_text_or_json_and_is_taken_in_once() {
        let written =
            "plain words\n{\"text\": \"from json\"}\n\"a string\"\n{\"other\": 1}\n\nplain words\n";
        let taken = taken_in(written, &[], "g", 3, "2026-01-01T00:00:00Z");
        let texts: Vec<_> = taken.iter().map(|lesson| lesson.text.as_str()).collect();
        assert_eq!(texts, ["plain words", "from json", "a string"]);
        assert!(taken_in(written, &taken, "g", 4, "2026-01-01T00:00:00Z").is_empty());
    }

    fn lesson(goal_id: &str, cycle: u64, text: &str) -> Lesson {
        Lesson {
            format: 1,
            goal_id: goal_id.into(),
            cycle,
            timestamp: String::new(),
            text: text.into(),
            dropped: false,
        }
    }

    /// The record of an attempt at goal `a`.
    fn attempt(cycle: u64, result: &str) -> Record {
        let line = format!(
            r#"{{"cycle": {cycle}, "goal_id": "a", "result": "{result}", "commit_sha": "c", "goals_passing": 1, "goals_total": 1,
                "timestamp": "t", "agent": {{"name": "n", "status": "done", "duration_s": 1}}}}"#
        );
        crate::model::record::read_record(&line).expect("a record")
    }

    fn texts(lessons: &[Lesson], records: &[Record]) -> Vec<String> {
        let told = relevant(lessons, records, "a").into_iter();
        told.map(|lesson| lesson.text.clone()).collect()
    }

    #[test]
    fn lessons_about_the_goal_come_first_and_the_newest_of_them_before_the_others() {
        let lessons = [
            lesson("a", 1, "1"),
            lesson("b", 1, "2"),
            lesson("a", 1, "3"),
        ];
        assert_eq!(texts(&lessons, &[]), ["3", "1", "2"]);
    }

    #[test]
    fn what_says_the_same_is_told_once_and_what_a_person_dropped_neither_told_nor_learned() {
        let dropped = Lesson {
            dropped: true,
            ..lesson("a", 1, "Use the cache")
        };
        let lessons = [
            lesson("a", 1, "Run  the linter."),
            lesson("a", 2, "use the cache!"),
            lesson("b", 3, "run the linter"),
            dropped,
        ];
        assert_eq!(texts(&lessons, &[]), ["run the linter"]);
        let again = taken_in("use the CACHE.\nanother\n", &lessons, "a", 4, "t");
        assert_eq!(again.len(), 1);
        assert_eq!(lessons[0].id(), lessons[2].id());
    }

    #[test]
    fn marks_of_lists_and_headings_are_no_part_of_a_lesson() {
        let written = "- Use ok in files\n* Use ok in files.\nUse OK in files\n1. use ok in files!\n# Lessons\n---\n-\n\
                       - [ ] keep -x\n-x is needed\n- {\"text\": \"* from json\"}\n{\"text\": \"## From JSON:\"}\n1.5 is too little\n";
        let taken = taken_in(written, &[], "g", 3, "t");
        let texts: Vec<_> = taken.iter().map(|lesson| lesson.text.as_str()).collect();
        let expected = [
            "Use ok in files",
            "Lessons",
            "keep -x",
            "-x is needed",
            "from json",
            "1.5 is too little",
        ];
        assert_eq!(texts, expected);
        // What is stored with its mark is known all the same, and told without it.
        let stored = [
            lesson("a", 1, "* Use ok in files."),
            lesson("a", 2, "- use ok in files"),
        ];
        assert!(taken_in("Use ok in files\n", &stored, "a", 3, "t").is_empty());
        let known = standing(&stored);
        assert_eq!(known.len(), 1);
        assert_eq!(known[0].words(), "use ok in files");
        assert!(find("use ok", &known).is_ok());
    }

    #[test]
    fn a_lesson_that_was_told_in_three_failed_attempts_sinks_until_one_succeeds() {
        let lessons = [
            lesson("b", 1, "other"),
            lesson("a", 1, "first"),
            lesson("a", 4, "later"),
        ];
        let failed: Vec<Record> = [2, 3, 5].map(|cycle| attempt(cycle, "regressed")).to_vec();
        // Both that were told from the start have sunk, in their order; the later one was told once.
        assert_eq!(texts(&lessons, &failed[..2]), ["later", "first", "other"]);
        let ranked = ranked(&lessons, &failed, "a");
        let seen: Vec<_> = ranked
            .iter()
            .map(|one| (&*one.lesson.text, one.failed, one.is_sunk()))
            .collect();
        assert_eq!(
            seen,
            [("later", 1, false), ("first", 3, true), ("other", 3, true)]
        );
        let newer = [lessons.to_vec(), vec![lesson("b", 6, "news")]].concat();
        assert_eq!(texts(&newer, &failed), ["later", "news", "first", "other"]);
        let success = [failed.clone(), vec![attempt(7, "improved")]].concat();
        assert_eq!(texts(&newer, &success), ["later", "first", "news", "other"]);
        // What was cut short or fails for others counts for nothing.
        let cut = [2, 3, 5].map(|cycle| attempt(cycle, "interrupted"));
        assert_eq!(texts(&newer, &cut), ["later", "first", "news", "other"]);
    }

    #[test]
    fn a_brief_holds_so_many_lessons_and_characters_and_no_more() {
        let many: Vec<Lesson> = (0..40)
            .map(|n| lesson("a", 1, &format!("lesson {n}")))
            .collect();
        assert_eq!(texts(&many, &[]).len(), IN_BRIEF);
        let long: Vec<Lesson> = (0..9)
            .map(|n| lesson("a", 1, &format!("{n}{}", "x".repeat(499))))
            .collect();
        assert_eq!(texts(&long, &[]).len(), CHARACTERS / 500);
    }

    #[test]
    fn a_lesson_is_named_by_its_id_or_how_its_words_begin() {
        let lessons = [
            lesson("a", 1, "Run the linter"),
            lesson("a", 1, "Run the tests"),
        ];
        let known = standing(&lessons);
        let found = |word: &str| find(word, &known).map(|lesson| lesson.text.clone());
        assert_eq!(found("run the t").expect("one"), "Run the tests");
        assert_eq!(
            found(&lessons[0].id()[..SHORT_ID]).expect("one"),
            "Run the linter"
        );
        let several = found("run").expect_err("two");
        assert_eq!(several.message, "run could be any of 2 lessons");
        assert_eq!(
            found("zzz").expect_err("none").message,
            "no lesson is called zzz"
        );
    }
}
