//! A table of Markdown as formatters write it, so that a repository whose files are checked for their format stays clean: every
//! cell of a column is as wide as the widest. Pure.

use unicode_width::UnicodeWidthStr;

use crate::model::{mask, text};

/// Tells a linter that lines are as long as what they tell.
pub const LINES: &str = "<!-- markdownlint-disable MD013 MD034 -->";
/// The most characters of a cell, before they are escaped: all others of its column are padded to it.
const CELL_CHARS: usize = 100;
/// The narrowest column: so many hyphens make a delimiter.
const NARROWEST: usize = 3;

/// To which side the cells of a column are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table that is filled row by row.
#[derive(Clone, Debug)]
pub struct Table<const COLUMNS: usize> {
    sides: [Side; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// A table with nothing but its header.
    pub fn new(header: [(&str, Side); COLUMNS]) -> Table<COLUMNS> {
        Table {
            sides: header.map(|(_, side)| side),
            rows: vec![header.map(|(name, _)| name.to_owned())],
        }
    }

    /// Adds a row of cells that are Markdown already.
    pub fn push(&mut self, row: [String; COLUMNS]) {
        self.rows.push(row);
    }

    /// Returns the table as Markdown, each row with its line end.
    pub fn to_markdown(&self) -> String {
        let mut widths = [NARROWEST; COLUMNS];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let mut page = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            page.push('|');
            for ((cell, side), width) in row.iter().zip(self.sides).zip(widths) {
                let blanks = " ".repeat(width - cell.width());
                page.push_str(&match side {
                    Side::Left => format!(" {cell}{blanks} |"),
                    Side::Right => format!(" {blanks}{cell} |"),
                });
            }
            page.push('\n');
            if index == 0 {
                page.push_str(&self.delimiters(widths));
            }
        }
        page
    }

    fn delimiters(&self, widths: [usize; COLUMNS]) -> String {
        let mut row = "|".to_owned();
        for (side, width) in self.sides.iter().zip(widths) {
            row.push_str(&match side {
                Side::Left => format!(" {} |", "-".repeat(width)),
                Side::Right => format!(" {}: |", "-".repeat(width - 1)),
            });
        }
        row.push('\n');
        row
    }
}

/// Makes text from outside a cell; says whether that is all of it.
pub fn cell(text: &str) -> (String, bool) {
    // Masked before it is cut: half a secret would not be told.
    let text = mask::secrets(&text::clean_line(text));
    let short = text::cut(&text, CELL_CHARS);
    (text::markdown(&short), short == text)
}

/// Returns a page whose tables are not padded, for tests that look for a row.
#[cfg(test)]
pub fn unpadded(page: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    let row = |line: &str| match line.starts_with('|') {
        true => words(line),
        false => format!("{line}\n"),
    };
    page.lines().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_as_wide_as_its_widest_cell_and_as_a_delimiter() {
        let mut table = Table::new([("n", Side::Right), ("goal", Side::Left), ("c", Side::Left)]);
        table.push(["7".into(), "a\\_b".into(), String::new()]);
        table.push(["1,000".into(), "中文 é".into(), "👍".into()]);
        let expected = "\
|     n | goal   | c   |
| ----: | ------ | --- |
|     7 | a\\_b   |     |
| 1,000 | 中文 é | 👍  |
";
        assert_eq!(table.to_markdown(), expected);
    }

    #[test]
    fn a_cell_is_no_longer_than_all_others_can_be_padded_to() {
        assert_eq!(cell("a|b\nc"), ("a\\|b c".to_owned(), true));
        let (long, is_all) = cell(&"_".repeat(CELL_CHARS + 1));
        assert!(!is_all && long.ends_with("\\_…"), "{long}");
        assert_eq!(long.chars().count(), 2 * (CELL_CHARS - 1) + 1);
    }
}
