//! How much fits on a line of the terminal, and text that is made to fit there. Where no terminal is, every line is as long as it is.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use crate::model::text::cut_at_word;
use crate::view::board::Size;
use crate::view::style::{self, Cell, FAINT, columns, paint};

/// The narrowest terminal that anything is made to fit.
const NARROWEST: usize = 40;
/// How much of a table's last column has to be seen for it to be worth the others.
const LAST: usize = 16;
/// How much room the last column needs to go on below itself.
const FOLDED: usize = 24;
/// With less than this of it, it is left out.
const LEAST: usize = 8;
/// The size of a VT100.
const FIRST: Size = Size {
    lines: 24,
    columns: 80,
};
/// The blanks between two columns.
const GAP: usize = 2;
/// How far what goes on below a row is indented.
const BELOW: usize = 6;

/// Returns how many characters a line of the terminal has that stdout leads to; none if that is no terminal, or does not say.
pub fn of_terminal() -> Option<usize> {
    of(&std::io::stdout())
}

/// The same for stderr.
pub fn of_stderr() -> Option<usize> {
    of(&std::io::stderr())
}

fn of(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    let size = match stream.is_terminal() {
        true => rustix::termios::tcgetwinsize(stream).ok()?,
        false => return None,
    };
    Some(usize::from(size.ws_col)).filter(|width| *width >= NARROWEST)
}

/// Returns how large the terminal is that stderr leads to; as large as the first ones were, if it does not say.
pub fn of_screen() -> Size {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let known = size.filter(|size| size.ws_row > 0 && size.ws_col > 0);
    known.map_or(FIRST, |size| Size {
        lines: size.ws_row.into(),
        columns: size.ws_col.into(),
    })
}

/// Returns how many columns of a terminal a text takes, its styles left aside.
pub fn shown(text: &str) -> usize {
    style::width(&anstream::adapter::strip_str(text).to_string())
}

/// Breaks a line at its blanks where it is longer than `width`; the lines that follow are indented further than it is.
pub fn wrapped(line: &str, width: Option<usize>) -> Vec<String> {
    hanging(line, indent(line) + GAP, width)
}

/// Returns how many blanks a line begins with.
pub fn indent(line: &str) -> usize {
    let line = anstream::adapter::strip_str(line).to_string();
    line.len() - line.trim_start_matches(' ').len()
}

/// Breaks a line at its blanks where it is longer than `width`; the lines that follow are indented by `hang`. Words in backquotes,
/// which people copy, stay on one line where they fit on one.
pub fn hanging(line: &str, hang: usize, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| *width < shown(line)) else {
        return vec![line.to_owned()];
    };
    let mut lines = Vec::new();
    let (mut now, mut taken) = (String::new(), 0);
    for (at, word) in pieces(line, width.saturating_sub(hang)).iter().enumerate() {
        let length = shown(word);
        let is_begun = taken > 0
            && !anstream::adapter::strip_str(&now)
                .to_string()
                .trim()
                .is_empty();
        if is_begun && length > 0 && taken + 1 + length > width {
            lines.push(now.trim_end().to_owned());
            (now, taken) = (format!("{}{word}", " ".repeat(hang)), hang + length);
            continue;
        }
        if at > 0 {
            now.push(' ');
            taken += 1;
        }
        now.push_str(word);
        taken += length;
    }
    lines.push(now);
    lines
}

/// Parts a line at its blanks, but not between backquotes where what stands there fits into `room`.
fn pieces(line: &str, room: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut words = line.split(' ').peekable();
    let opens = |word: &str| word.matches('`').count() % 2 == 1;
    while let Some(word) = words.next() {
        let mut piece = word.to_owned();
        if opens(word) {
            let rest: Vec<&str> = words.clone().collect();
            if let Some(end) = rest.iter().position(|word| opens(word)) {
                let whole = format!("{word} {}", rest[..=end].join(" "));
                if shown(&whole) <= room {
                    piece = whole;
                    words.by_ref().take(end + 1).for_each(drop);
                }
            }
        }
        pieces.push(piece);
    }
    pieces
}

/// Cuts a text `by` its characters until it takes no more than so many columns.
pub fn cut_to(text: &str, most: usize, by: fn(&str, usize) -> String) -> String {
    let mut characters = most;
    loop {
        let cut = by(text, characters);
        match shown(&cut).saturating_sub(most) {
            0 => return cut,
            _ if characters == 0 => return String::new(),
            // Each character has two columns at most.
            over => characters = characters.saturating_sub(over.div_ceil(2)),
        }
    }
}

/// Breaks each line of a page like `wrapped`.
pub fn page(page: &str, width: Option<usize>) -> String {
    let lines = page.split('\n').flat_map(|line| wrapped(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

/// Breaks a line at its blanks where it is longer than `width`, and within words where one alone is.
pub fn fitted(line: &str, width: Option<usize>) -> Vec<String> {
    let room = width.unwrap_or(usize::MAX).max(1);
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for word in line.split(' ') {
        if taken > 0 && taken + 1 + shown(word) > room {
            lines.push(String::new());
            taken = 0;
        } else if taken > 0 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            taken += 1;
        }
        for letter in word.chars() {
            let wide = style::width(letter.encode_utf8(&mut [0; 4]));
            if taken > 0 && taken + wide > room {
                lines.push(String::new());
                taken = 0;
            }
            lines
                .last_mut()
                .into_iter()
                .for_each(|line| line.push(letter));
            taken += wide;
        }
    }
    lines
}

/// Returns how wide rows are in columns.
pub fn width_of(rows: &[Vec<Cell>]) -> usize {
    total(&widths(rows))
}

/// Lays rows out in columns, like `columns`. Where they are wider than `width`, columns are left out in the order of `spare`,
/// until something is to be seen of the last one. That is cut between words, or left out where next to nothing of it would be
/// seen; then the widest is cut.
pub fn columns_within(rows: &[Vec<Cell>], width: Option<usize>, spare: &[usize]) -> String {
    let Some(width) = width.filter(|width| *width < total(&widths(rows))) else {
        return columns(rows);
    };
    let mut rows = rows.to_vec();
    leave_out(&mut rows, width, spare, LAST);
    let count = widths(&rows).len();
    let widest = |rows: &[Vec<Cell>]| {
        let widths = widths(rows);
        (0..count).max_by_key(|column| widths[*column]).unwrap_or(0)
    };
    let last = count.saturating_sub(1);
    let (taken, is) = (total(&widths(&rows)), widths(&rows)[last]);
    match taken.saturating_sub(is) + LEAST.min(is) > width && count > 1 {
        true => clear(&mut rows, last),
        false => cut_column(&mut rows, last, width),
    }
    let widest = widest(&rows);
    cut_column(&mut rows, widest, width);
    columns(&rows)
}

/// Lays rows out in columns, like `columns`. Where they are wider than `width`, columns are left out in the order of `spare`, but
/// nothing of the last one is: it goes on below itself, or below its row where it has little room there.
pub fn columns_folded(rows: &[Vec<Cell>], width: Option<usize>, spare: &[usize]) -> String {
    let is_wide = |width: &usize| *width < total(&widths(rows));
    let Some((width, last)) = width.filter(is_wide).zip(widths(rows).len().checked_sub(1)) else {
        return columns(rows);
    };
    let mut rows = rows.to_vec();
    leave_out(&mut rows, width, spare, FOLDED);
    let heads = rows.iter().map(|row| row[..row.len().min(last)].to_vec());
    let heads: Vec<Vec<Cell>> = heads.collect();
    let behind = width_of(&heads) + GAP;
    let is_beside = behind + FOLDED.min(widths(&rows)[last]) <= width;
    let at = if is_beside { behind } else { BELOW };
    let heads = columns_within(&heads, Some(width), &[]);
    let mut page = String::new();
    for (head, row) in heads.lines().zip(&rows) {
        let Some(Cell(style, text)) = row.get(last).filter(|cell| !cell.1.is_empty()) else {
            page.push_str(&format!("{head}\n"));
            continue;
        };
        let lines = fitted(text, Some(width.saturating_sub(at)));
        let mut lines = lines.iter().map(|line| paint(*style, line));
        page.push_str(head);
        if is_beside {
            page.push_str(&" ".repeat(at.saturating_sub(shown(head))));
            page.push_str(&lines.next().unwrap_or_default());
        }
        page.push('\n');
        lines.for_each(|line| page.push_str(&format!("{}{line}\n", " ".repeat(at))));
    }
    page
}

/// Lays out commands, each with what it is for, if that is to be said. Where there is too little room beside the commands it goes on
/// below them; they are to be copied, so nothing of them is cut or broken.
pub fn commands(steps: &[(&str, &str)], width: Option<usize>) -> String {
    let explained = steps.iter().filter(|(_, why)| !why.is_empty());
    let widest = explained.map(|(command, _)| shown(command)).max();
    let at = GAP + widest.unwrap_or(0) + GAP;
    let longest = steps.iter().map(|(_, why)| shown(why)).max().unwrap_or(0);
    let is_beside = width.is_none_or(|width| at + longest.min(FOLDED) <= width);
    let at = if is_beside { at } else { BELOW };
    let mut page = String::new();
    for (command, why) in steps {
        page.push_str(&format!("  {command}"));
        let mut lines = fitted(why, width.map(|width| width.saturating_sub(at))).into_iter();
        if is_beside && !why.is_empty() {
            page.push_str(&" ".repeat(at.saturating_sub(GAP + shown(command))));
            page.push_str(&paint(FAINT, &lines.next().unwrap_or_default()));
        }
        page.push('\n');
        for line in lines.filter(|line| !line.is_empty()) {
            page.push_str(&format!("{}{}\n", " ".repeat(at), paint(FAINT, &line)));
        }
    }
    page
}

/// Clears columns in this order until the last one has room, or as much as is wished for.
fn leave_out(rows: &mut [Vec<Cell>], width: usize, spare: &[usize], wished: usize) {
    for column in spare {
        let widths = widths(rows);
        let last = widths.last().copied().unwrap_or(0);
        if total(&widths) - last + last.min(wished) <= width {
            return;
        }
        clear(rows, *column);
    }
}

fn clear(rows: &mut [Vec<Cell>], column: usize) {
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
        cell.1.clear();
    }
}

/// Cuts a column by as much as the table is too wide.
fn cut_column(rows: &mut [Vec<Cell>], column: usize, width: usize) {
    let widths = widths(rows);
    let over = total(&widths).saturating_sub(width);
    let is = widths.get(column).copied().unwrap_or(0);
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
        cell.1 = cut_to(&cell.1, is.saturating_sub(over).max(1), cut_at_word);
    }
}

fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|Cell(_, text)| shown(text)).max()
    };
    (0..count)
        .map(|column| width(column).unwrap_or(0))
        .collect()
}

fn total(widths: &[usize]) -> usize {
    let seen: Vec<usize> = widths.iter().copied().filter(|width| *width > 0).collect();
    seen.iter().sum::<usize>() + GAP * seen.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_at_blanks_only_where_a_terminal_is_too_narrow() {
        let line = "one two three four";
        assert_eq!(wrapped(line, None), [line]);
        assert_eq!(wrapped(line, Some(18)), [line]);
        assert_eq!(wrapped(line, Some(9)), ["one two", "  three", "  four"]);
        assert_eq!(wrapped("abcdefghij k", Some(4)), ["abcdefghij", "  k"]);
        assert_eq!(wrapped("  one two", Some(40)), ["  one two"]);
        assert_eq!(wrapped("  one two", Some(8)), ["  one", "    two"]);
    }

    #[test]
    fn styles_take_no_room_and_what_is_to_be_copied_stays_on_one_line() {
        let styled = format!("  {} one two", paint(crate::view::style::BAD, "bad"));
        assert_eq!(wrapped(&styled, Some(13)), [styled.as_str()]);
        let lines = wrapped(&styled, Some(10));
        let plain = lines
            .iter()
            .map(|line| anstream::adapter::strip_str(line).to_string());
        assert_eq!(plain.collect::<Vec<_>>(), ["  bad one", "    two"]);
        let hint = "hint: `evolve retry ID` helps, `a b";
        assert_eq!(
            wrapped(hint, Some(20)),
            ["hint:", "  `evolve retry ID`", "  helps, `a b"]
        );
        assert_eq!(wrapped("a `b c d e`", Some(6)), ["a `b c", "  d e`"]);
        assert_eq!(wrapped("中文 中文", Some(8)), ["中文", "  中文"]);
        assert_eq!(
            hanging("name  one two", 6, Some(9)),
            ["name  one", "      two"]
        );
        assert_eq!(page("a\nb c\n", Some(2)), "a\nb\n  c\n");
    }

    #[test]
    fn what_takes_two_columns_is_counted_as_two_wherever_text_is_cut_broken_or_aligned() {
        assert_eq!(fitted("a 日本語 b", Some(6)), ["a", "日本語", "b"]);
        assert_eq!(fitted("日本語", Some(4)), ["日本", "語"]);
        for most in 1..9 {
            let cut = cut_to("日本 語 ab", most, cut_at_word);
            assert!(shown(&cut) <= most, "{most}: {cut}");
        }
        assert_eq!(cut_to("日本 語 ab", 10, cut_at_word), "日本 語 ab");
        let row = |texts: [&str; 2]| texts.map(Cell::plain).to_vec();
        let rows = [row(["日本", "a"]), row(["abc", "b"])];
        assert_eq!(columns(&rows), "日本  a\nabc   b\n");
        let narrow = columns_within(&rows, Some(6), &[]);
        assert!(narrow.lines().all(|line| shown(line) <= 6), "{narrow}");
    }

    #[test]
    fn the_last_column_of_a_table_goes_on_below() {
        let row = |texts: [&str; 3]| texts.map(Cell::plain).to_vec();
        let rows = [
            row(["pass", "goal-a", ""]),
            row(["FAIL", "b", "a reason in so many words"]),
        ];
        let folded = |width| columns_folded(&rows, Some(width), &[]);
        assert_eq!(folded(39), columns(&rows));
        assert_eq!(
            folded(38),
            "pass  goal-a\nFAIL  b       a reason in so many\n              words\n"
        );
        assert_eq!(
            folded(26),
            "pass  goal-a\nFAIL  b\n      a reason in so many\n      words\n"
        );
        assert_eq!(
            columns_folded(&rows, Some(32), &[1]),
            "pass\nFAIL  a reason in so many words\n"
        );
        assert_eq!(columns_folded(&[], Some(26), &[]), "");
    }

    #[test]
    fn a_command_is_never_cut_and_has_what_it_is_for_beside_or_below_it() {
        let steps = [
            ("git add GOALS.yaml && git commit -m goals", ""),
            ("evolve", "until nothing is left to be done"),
        ];
        let page = |width| anstream::adapter::strip_str(&commands(&steps, width)).to_string();
        let first = "  git add GOALS.yaml && git commit -m goals\n";
        let beside = format!("{first}  evolve  until nothing is left to be done\n");
        assert_eq!(page(None), beside);
        let folded = format!("{first}  evolve  until nothing is left to\n          be done\n");
        assert_eq!(page(Some(36)), folded);
        let below = format!("{first}  evolve\n      until nothing is left to\n      be done\n");
        assert_eq!(page(Some(30)), below);
        assert_eq!(commands(&[], Some(30)), "");
    }

    #[test]
    fn a_word_that_is_too_long_for_a_line_is_broken_too() {
        for (line, width, expected) in [
            ("one two three", None, &["one two three"][..]),
            ("one two three", Some(7), &["one two", "three"]),
            ("abcdefghij kl", Some(4), &["abcd", "efgh", "ij", "kl"]),
            ("a abcdef", Some(4), &["a", "abcd", "ef"]),
            ("", Some(4), &[""]),
        ] {
            assert_eq!(fitted(line, width), expected, "{line}");
        }
    }

    #[test]
    fn a_table_that_is_too_wide_loses_its_spare_columns_then_the_ends_of_the_last_and_the_widest() {
        let row = |texts: [&str; 4]| texts.map(Cell::plain).to_vec();
        let why = "a reason in so many words";
        let rows = [
            row(["1", "goal-a", "spare", why]),
            row(["22", "b", "other", ""]),
        ];
        assert_eq!(columns_within(&rows, None, &[2]), columns(&rows));
        assert_eq!(columns_within(&rows, Some(80), &[2]), columns(&rows));
        for (width, expected) in [
            (
                40,
                "1   goal-a  spare  a reason in so many…\n22  b       other\n",
            ),
            (33, "1   goal-a  a reason in so many…\n22  b\n"),
            (30, "1   goal-a  a reason in so…\n22  b\n"),
            (20, "1   goal-a  a…\n22  b\n"),
            (19, "1   goal-a\n22  b\n"),
            (9, "1   goal…\n22  b\n"),
        ] {
            let page = columns_within(&rows, Some(width), &[2]);
            assert_eq!(page, expected, "{width}");
            assert!(
                page.lines().all(|line| line.chars().count() <= width),
                "{page}"
            );
        }
    }
}
