//! What agents learned: listed, and dropped.

use crate::cli::arguments::Global;
use crate::cli::start::current_dir;
use crate::effects::clock;
use crate::effects::ledger::{self, Ledger};
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::lesson::{self, Lesson};
use crate::model::text;
use crate::view::lessons::{lessons_table, ranked_table};
use crate::view::width;

/// Prints what agents learned; with a goal as its next brief ranks it.
pub fn list(global: &Global, goal: Option<&str>) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo)?;
    let standing = lesson::standing(&ledger.lessons);
    let width = width::of_terminal();
    global.say(&match goal {
        _ if standing.is_empty() => "no lessons yet\n".to_owned(),
        Some(goal) => {
            let records = &ledger.history.records;
            ranked_table(&lesson::ranked(&ledger.lessons, records, goal), width)
        }
        None => lessons_table(&standing, width),
    });
    Ok(0)
}

/// Drops a lesson: it is told and learned no more.
pub fn drop(global: &Global, word: &str) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo)?;
    let found = lesson::find(word, &lesson::standing(&ledger.lessons))?;
    let dropped = Lesson {
        timestamp: clock::timestamp(),
        dropped: true,
        ..found.clone()
    };
    ledger::drop_lesson(&repo, &dropped)?;
    global.say(&format!("dropped: {}\n", text::clean_line(&found.text)));
    Ok(0)
}
