//! What agents learned, as a table. Text with ANSI styles.

use crate::model::lesson::{Lesson, Ranked, SHORT_ID};
use crate::model::text::clean_line;
use crate::view::style::{Cell, FAINT, ODD, STRONG};
use crate::view::width::columns_folded;

/// Where cycle and goal stand: what a narrow terminal can do without.
const SPARE: [usize; 2] = [1, 2];

/// Returns a line for each lesson in this order, within so many characters if there is a limit.
pub fn lessons_table(lessons: &[&Lesson], width: Option<usize>) -> String {
    let rows: Vec<Vec<Cell>> = lessons.iter().map(|lesson| row(lesson, None)).collect();
    columns_folded(&rows, width, &SPARE)
}

/// Returns the same for work on one goal, with what each came to there.
pub fn ranked_table(ranked: &[Ranked<'_>], width: Option<usize>) -> String {
    let rows = ranked.iter().map(|one| row(one.lesson, Some(one)));
    columns_folded(&rows.collect::<Vec<_>>(), width, &SPARE)
}

fn row(lesson: &Lesson, ranked: Option<&Ranked<'_>>) -> Vec<Cell> {
    let state = match ranked {
        Some(one) if !one.is_told => Cell(FAINT, "not told".to_owned()),
        Some(one) if one.is_sunk() => Cell(ODD, format!("sunk, failed {}×", one.failed)),
        Some(one) if one.failed > 0 => Cell(FAINT, format!("failed {}×", one.failed)),
        Some(_) | None => Cell::plain(""),
    };
    vec![
        Cell(FAINT, lesson.id().chars().take(SHORT_ID).collect()),
        Cell(FAINT, format!("cycle {}", lesson.cycle)),
        Cell(STRONG, clean_line(&lesson.goal_id)),
        state,
        Cell::plain(lesson.words()),
    ]
}
