//! What agents learned: listed, and dropped.

use serde_json::{Value, json};

use crate::cli::here::{current_dir, to_steer};
use crate::cli::options::Global;
use crate::cli::past::refuse_unknown;
use crate::cli::print::print_document;
use crate::effects::clock;
use crate::effects::ledger::{self, Ledger};
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::lesson::{self, Lesson, Ranked};
use crate::model::snapshot::FORMAT;
use crate::model::{schema, text};
use crate::view::lessons::{lessons_table, ranked_table};
use crate::view::width;

/// Prints what agents learned; with a goal as its next brief ranks it.
pub fn list(global: &Global, goal: Option<&str>, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo)?;
    let standing = lesson::standing(&ledger.lessons);
    if let Some(goal) = goal {
        let learned = standing.iter().map(|lesson| lesson.goal_id.as_str());
        let learned: Vec<&str> = learned.collect();
        refuse_unknown(global, &repo, goal, &ledger.history.records, &learned)?;
    }
    let ranked = goal.map(|goal| lesson::ranked(&ledger.lessons, &ledger.history.records, goal));
    if as_json {
        let lessons: Vec<Value> = match &ranked {
            Some(ranked) => ranked.iter().filter_map(ranked_document).collect(),
            None => standing.iter().filter_map(|it| document(it)).collect(),
        };
        let document = json!({"format": FORMAT, "goal_id": goal, "lessons": lessons});
        print_document("lessons", &document)?;
        return Ok(0);
    }
    let width = width::of_terminal();
    global.say(&match ranked {
        _ if standing.is_empty() => "no lessons yet\n".to_owned(),
        Some(ranked) => ranked_table(&ranked, width),
        None => lessons_table(&standing, width),
    });
    Ok(0)
}

/// Returns a lesson as it stands in a document; none if it is none that its schema describes.
fn document(lesson: &Lesson) -> Option<Value> {
    let mut value = serde_json::to_value(lesson).ok()?;
    schema::check("lesson", &value).ok()?;
    let map = value.as_object_mut()?;
    map.shift_remove("format");
    map.shift_insert(0, "id".to_owned(), json!(lesson.id()));
    Some(value)
}

/// Returns the same with what the lesson came to for a goal.
fn ranked_document(ranked: &Ranked<'_>) -> Option<Value> {
    let mut value = document(ranked.lesson)?;
    value["failed"] = json!(ranked.failed);
    value["told"] = json!(ranked.is_told);
    Some(value)
}

/// Drops a lesson: it is told and learned no more.
pub fn drop(global: &Global, word: &str) -> Result<u8> {
    let repo = to_steer()?;
    let ledger = Ledger::look(&repo)?;
    let found = lesson::find(word, &lesson::standing(&ledger.lessons))?;
    let dropped = Lesson {
        timestamp: clock::timestamp(),
        dropped: true,
        ..found.clone()
    };
    ledger::drop_lesson(&repo, &dropped)?;
    global.tell(&format!("dropped: {}\n", text::clean_line(&found.text)));
    Ok(0)
}
