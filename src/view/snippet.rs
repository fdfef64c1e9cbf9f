//! An error that points into files: each place, the line itself, a marker below it, and what to do. Drawn as rustc draws its own.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::error::Spot;
use crate::model::mask;
use crate::model::text::{count, visible};
use crate::view::style::{BAD, FAINT, GOOD, ODD, STRONG, paint};
use crate::view::width::wrapped;

/// How many spots are drawn.
const SHOWN: usize = 20;
/// How wide a line may be where no terminal says so.
const WIDTH: usize = 110;
/// The narrowest place that a line is cut to.
const NARROWEST: usize = 40;
/// How many characters are marked where so many are meant, or more.
const MARKED: usize = 40;

/// Returns the spots of an error, one below the other, and how many more there are; lines are cut to the width of the terminal, if
/// there is one.
pub fn page(spots: &[Spot], width: Option<usize>) -> String {
    drawn(spots, width, Level::ERROR, "more problem")
}

/// Returns the same of what is only worth a warning.
pub fn warnings(spots: &[Spot], width: Option<usize>) -> String {
    drawn(spots, width, Level::WARNING, "more warning")
}

fn drawn(spots: &[Spot], width: Option<usize>, level: Level<'_>, unit: &str) -> String {
    let shown = spots.iter().take(SHOWN);
    let mut drawn: Vec<String> = shown.map(|spot| one(spot, width, level.clone())).collect();
    let more = spots.len().saturating_sub(SHOWN);
    if more > 0 {
        drawn.push(format!("and {}", count(more, unit)));
    }
    drawn.join("\n\n")
}

fn one(spot: &Spot, width: Option<usize>, level: Level<'_>) -> String {
    let renderer = Renderer::styled()
        .term_width(width.unwrap_or(WIDTH).max(NARROWEST))
        .error(BAD)
        .warning(ODD)
        .line_num(FAINT)
        .emphasis(STRONG);
    let title = level.primary_title(visible(&spot.message));
    let path = visible(&spot.file);
    let group = match spot.text.trim().is_empty() {
        true => title.element(Origin::path(path).line(spot.line).char_column(spot.column)),
        false => {
            let line = line(spot);
            let marked = marked(&line, spot);
            let source = Snippet::source(line).path(path).line_start(spot.line);
            title.element(source.annotation(AnnotationKind::Primary.span(marked)))
        }
    };
    let drawn = renderer.render(&[group]);
    let drawn = drawn.trim_end();
    let (title, place) = drawn.split_once('\n').unwrap_or((drawn, ""));
    let hint = format!("{} {}", paint(GOOD, "hint:"), visible(&spot.hint));
    let lines = [
        wrapped(title, width),
        vec![place.to_owned()],
        wrapped(&hint, width),
    ];
    lines.concat().join("\n")
}

/// Returns the line, as long as it is, so that the renderer counts its columns right: what was not kept of it is dots, and a secret is
/// as many stars, as the renderer may cut it.
fn line(spot: &Spot) -> String {
    let line = "…".repeat(spot.skipped) + &visible(&mask::in_place(&spot.text));
    let missing = spot.column.saturating_sub(line.chars().count() + 1);
    line + &" ".repeat(missing)
}

/// Returns the marked part of that, in bytes.
fn marked(line: &str, spot: &Spot) -> std::ops::Range<usize> {
    let at = |index: usize| {
        let place = line.char_indices().nth(index);
        place.map_or(line.len(), |(byte, _)| byte)
    };
    let first = spot.column.saturating_sub(1);
    at(first)..at(first + spot.length.clamp(1, MARKED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(column: usize, length: usize, text: &str) -> Spot {
        Spot {
            file: "GOALS.yaml".to_owned(),
            line: 12,
            column,
            length,
            text: text.to_owned(),
            skipped: 0,
            message: "unknown key \"wieght\"".to_owned(),
            hint: "did you mean weight?".to_owned(),
        }
    }

    fn plain(spot: Spot, width: Option<usize>) -> String {
        anstream::adapter::strip_str(&page(&[spot], width)).to_string()
    }

    #[test]
    fn a_spot_shows_its_place_its_line_a_marker_and_what_to_do() {
        let expected = "\
error: unknown key \"wieght\"
  --> GOALS.yaml:12:5
   |
12 |     wieght: 5
   |     ^^^^^^
hint: did you mean weight?";
        assert_eq!(plain(spot(5, 6, "    wieght: 5"), None), expected);
    }

    #[test]
    fn on_a_narrow_terminal_what_is_said_is_broken_between_words() {
        let long = Spot {
            message: "goals[0].timeout: \"5x\" is not a duration".to_owned(),
            hint: "write seconds, as in 90, or a number with a unit".to_owned(),
            ..spot(5, 7, "    timeout: 5x")
        };
        let expected = "\
error: goals[0].timeout: \"5x\" is not a
  duration
  --> GOALS.yaml:12:5
   |
12 |     timeout: 5x
   |     ^^^^^^^
hint: write seconds, as in 90, or a
  number with a unit";
        assert_eq!(plain(long, Some(40)), expected);
    }

    #[test]
    fn a_marker_stands_below_what_it_means_behind_wide_characters_too() {
        let page = plain(spot(4, 1, "目標 x"), None);
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[3], "12 | 目標 x");
        assert_eq!(lines[4], "   |      ^");
    }

    #[test]
    fn a_long_line_is_cut_around_its_marker_at_any_width() {
        let line = format!("{}HERE{}", "a ".repeat(300), " b".repeat(300));
        for width in [40, 80, 110, 200] {
            let page = plain(spot(601, 4, &line), Some(width));
            let lines: Vec<&str> = page.lines().collect();
            assert!(lines[3].chars().count() <= width, "{width}: {page}");
            let at = lines[4].find('^').expect("a marker");
            let marked: String = lines[3].chars().skip(at).take(4).collect();
            assert_eq!(marked, "HERE", "{page}");
        }
    }

    #[test]
    fn of_a_secret_no_half_is_shown_wherever_the_line_is_cut_and_the_marker_stays_true() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let line = format!(
            "check: {token} {} HERE {} {token}",
            "x ".repeat(20),
            "y ".repeat(20)
        );
        let at = line.find("HERE").expect("it is there") + 1;
        for width in 40..200 {
            let page = plain(spot(at, 4, &line), Some(width));
            assert!(!page.contains("ghp_") && !page.contains("a1B2"), "{page}");
            let lines: Vec<&str> = page.lines().collect();
            let at = lines[4].find('^').expect("a marker");
            let marked: String = lines[3].chars().skip(at).take(4).collect();
            assert_eq!(marked, "HERE", "{page}");
        }
    }

    #[test]
    fn of_a_line_that_was_cut_before_the_place_and_the_marker_stay_true() {
        let cut = Spot {
            skipped: 1000,
            ..spot(1004, 1, "abcXdef")
        };
        let page = plain(cut, None);
        assert!(page.contains("GOALS.yaml:12:1004\n"), "{page}");
        let lines: Vec<&str> = page.lines().collect();
        let marker = lines[4].find('^').expect("a marker");
        assert_eq!(lines[3].chars().nth(marker), Some('X'), "{page}");
    }

    #[test]
    fn nothing_of_a_file_reaches_the_terminal_uncleaned() {
        let hostile = Spot {
            message: "a\u{1b}[2J".to_owned(),
            file: "b\u{9b}".to_owned(),
            ..spot(4, 1, "c\u{1b}[2J\u{202e}d\t")
        };
        let page = plain(hostile, None);
        let is_harmless = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
        assert!(page.chars().all(is_harmless), "{page:?}");
    }

    #[test]
    fn a_place_without_a_line_or_behind_its_end_is_shown_too() {
        let page_of = plain(spot(1, 1, ""), None);
        assert!(page_of.contains("--> GOALS.yaml:12:1\nhint:"), "{page_of}");
        assert!(plain(spot(40, 9, "short"), None).contains("12 | short"));
        let many = vec![spot(1, 1, "x"); SHOWN + 1];
        assert!(page(&many, None).ends_with("\n\nand 1 more problem"));
    }
}
