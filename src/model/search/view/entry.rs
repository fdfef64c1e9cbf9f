//! An attempt as a report tells of it: whatever others wrote is cleaned, masked and cut here, once. Pure.

use serde::Serialize;

use super::Row;
use crate::model::git::patch::Patch;
use crate::model::report::FileLine;
use crate::model::search::view::AGENT_FAILED;
use crate::model::{mask, text};

/// How many characters of a brief are told.
const BRIEF: usize = 6_000;
/// How many characters of a patch are told.
const PATCH: usize = 20_000;
/// How many files of a change are told.
const FILES: usize = 30;
/// How many characters of a reason are told.
const REASON: usize = 1_000;

/// An attempt as a report tells of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// Its number.
    pub id: u64,
    /// How it is made, and from what.
    pub made: String,
    /// Through which lens its agent looked.
    pub lens: String,
    /// What it came to.
    pub ending: String,
    /// What that means to the eye: `good`, `bad`, `odd` or `faint`.
    pub tone: &'static str,
    /// It is the best.
    pub best: bool,
    /// It is taken out of the search.
    pub pruned: bool,
    /// Its score and the difference from the baseline; empty without one.
    pub score: String,
    /// Its place; empty without one.
    pub rank: String,
    /// Why it ended so; may be empty.
    pub reason: String,
    /// What its agent changed, in its words.
    pub summary: String,
    /// What its agents used.
    pub spent: String,
    /// How it was measured, a line each.
    pub measured: Vec<String>,
    /// The files that it changes in its parent.
    pub files: Vec<FileLine>,
    /// How many more there are.
    pub more_files: usize,
    /// How the parent is changed.
    pub patch: String,
    /// What its agent was told.
    pub brief: String,
    /// What its agent changed outside the editable files.
    pub left_out: String,
    /// What it changes that its measuring leans on.
    pub leaned_on: String,
}

impl Entry {
    /// Tells of an attempt whose score is written so.
    pub fn new(row: &Row, score: String, measured: Vec<String>) -> Entry {
        let line = |words: &Option<String>| words.as_deref().map_or(String::new(), one_line);
        Entry {
            id: row.id,
            made: row.made(),
            lens: line(&row.lens),
            ending: row.ending.to_owned(),
            tone: tone(row.ending),
            best: row.best,
            pruned: row.pruned,
            score,
            rank: row.rank.map_or(String::new(), |rank| rank.to_string()),
            reason: line(&row.reason),
            summary: line(&row.summary),
            spent: match row.spent.calls {
                0 => String::new(),
                _ => format!("{}, {}", text::duration(row.agent_s), row.spent.words()),
            },
            measured: measured.iter().map(|words| one_line(words)).collect(),
            left_out: one_line(&text::some_of(&row.left_out, FILES)),
            leaned_on: one_line(&text::some_of(&row.leaned_on, FILES)),
            ..Entry::default()
        }
    }

    /// Tells what it changes.
    #[must_use]
    pub fn with_patch(mut self, patch: &Patch) -> Entry {
        let files = patch.files.iter().take(FILES);
        self.files = files
            .map(|file| FileLine {
                path: one_line(&file.path),
                added: (!file.is_binary).then_some(file.added as u64),
                removed: (!file.is_binary).then_some(file.removed as u64),
            })
            .collect();
        self.more_files = patch.files.len().saturating_sub(FILES);
        self.patch = block(&patch.text, PATCH);
        if patch.is_cut {
            self.patch.push_str("\nthe patch goes on\n");
        }
        self
    }

    /// Tells what its agent was told.
    #[must_use]
    pub fn with_brief(mut self, brief: &str) -> Entry {
        self.brief = block(brief, BRIEF);
        self
    }
}

/// Returns what an ending means to the eye.
pub fn tone(ending: &str) -> &'static str {
    match ending {
        "accepted" => "good",
        "gate failed" | "invalid" | AGENT_FAILED => "bad",
        "unconfirmed" | "refuted" | "declined" => "odd",
        _ => "faint",
    }
}

fn one_line(words: &str) -> String {
    text::cut(&mask::secrets(&text::clean_line(words)), REASON)
}

fn block(words: &str, most: usize) -> String {
    text::cut(&mask::secrets(&text::clean(words)), most)
}
