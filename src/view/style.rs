//! The few colours, and text that is laid out in columns.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

use crate::model::record::CycleResult;
use crate::model::snapshot::CheckResult;

/// What is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What is not.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// What deserves a look.
pub const ODD: Style = AnsiColor::Yellow.on_default();
/// What may be overlooked.
pub const FAINT: Style = Style::new().dimmed();
/// What the eye should find first.
pub const STRONG: Style = Style::new().bold();
/// Nothing special.
pub const PLAIN: Style = Style::new();

/// Puts text in a style.
pub fn paint(style: Style, text: &str) -> String {
    if text.is_empty() || style == PLAIN {
        return text.to_owned();
    }
    format!("{style}{text}{style:#}")
}

/// Returns the style of a cycle's result.
pub fn of_cycle(result: CycleResult) -> Style {
    match result {
        CycleResult::Improved | CycleResult::Harvested => GOOD,
        CycleResult::Regressed => BAD,
        CycleResult::Unchanged | CycleResult::Failed | CycleResult::Interrupted => ODD,
        CycleResult::Idle => FAINT,
    }
}

/// Returns the mark of a check's result: a failing one stands out without colours too.
pub fn mark(result: CheckResult) -> Cell {
    match result {
        CheckResult::Pass => Cell(GOOD, "pass".to_owned()),
        CheckResult::Fail => Cell(BAD, "FAIL".to_owned()),
        CheckResult::Skip => Cell(ODD, "skip".to_owned()),
    }
}

/// Text in its style.
#[derive(Clone, Debug)]
pub struct Cell(pub Style, pub String);

impl Cell {
    /// Makes a cell without a style.
    pub fn plain(text: impl Into<String>) -> Cell {
        Cell(PLAIN, text.into())
    }
}

/// Returns how many columns of a terminal a text without styles takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Lays rows out in columns, two blanks apart; nothing trails a line.
pub fn columns(rows: &[Vec<Cell>]) -> String {
    let widest = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|Cell(_, text)| width(text))
            .max()
            .unwrap_or(0)
    };
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let mut page = String::new();
    for row in rows {
        let mut gap = 0;
        for (Cell(style, text), is) in row.iter().zip(&widths) {
            if *is == 0 {
                continue;
            }
            if !text.is_empty() {
                page.push_str(&" ".repeat(gap));
                page.push_str(&paint(*style, text));
                gap = 0;
            }
            gap += is - width(text) + 2;
        }
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_nothing_trails() {
        let row = |texts: [&str; 3]| texts.map(Cell::plain).to_vec();
        let rows = [
            row(["a", "", "long"]),
            row(["bcd", "", ""]),
            row(["", "", "x"]),
        ];
        assert_eq!(columns(&rows), "a    long\nbcd\n     x\n");
    }

    #[test]
    fn styles_do_not_move_columns() {
        let rows = [
            vec![Cell(BAD, "é".to_owned()), Cell::plain("x")],
            vec![Cell::plain("ab"), Cell::plain("y")],
        ];
        let plain = anstream::adapter::strip_str(&columns(&rows)).to_string();
        assert_eq!(plain, "é   x\nab  y\n");
    }
}
