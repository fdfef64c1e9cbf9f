//! Scores over attempts, drawn with characters: a dot for what an attempt scored, a line for the best so far. Pure.

use crate::model::search::lineage::Direction;
use crate::model::search::view::{Digits, Point};
use crate::view::width::wrapped;

/// How many lines the plot has.
const HEIGHT: usize = 12;
/// How wide the whole is where no terminal says so.
const WIDTH: usize = 80;
/// The narrowest plot.
const NARROWEST: usize = 10;
/// Of a hundred attempts so many of the worst may lie outside, so that they do not press the others together.
const OUTSIDE: usize = 10;

/// What stands for one or more attempts side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    /// The best score among them.
    score: Option<f64>,
    /// The best so far after them.
    best: Option<f64>,
    /// One of them made it so.
    is_new: bool,
    /// One of them has no score.
    has_failed: bool,
}

/// Returns the chart, within so many characters if there is a limit; none where nothing has a score.
pub fn page(
    points: &[Point],
    direction: Direction,
    digits: &Digits,
    width: Option<usize>,
) -> Option<String> {
    let (worst, best) = range(points, direction)?;
    let (low, high) = (worst.min(best), worst.max(best));
    let middle = low / 2.0 + high / 2.0;
    let labels = [high, middle, low].map(|level| digits.show(level));
    let gutter = labels.iter().map(|label| label.chars().count()).max()?;
    let room = width
        .unwrap_or(WIDTH)
        .saturating_sub(gutter + 3)
        .max(NARROWEST);
    let columns = columns(points, direction, room);
    let line_of = |value: f64| {
        let share = (high / 2.0 - value / 2.0) / (high / 2.0 - low / 2.0);
        let share = if share.is_finite() { share } else { 0.5 };
        (share.clamp(0.0, 1.0) * (HEIGHT - 1) as f64).round() as usize
    };
    let mut lines = vec![vec![' '; columns.len()]; HEIGHT];
    for (at, column) in columns.iter().enumerate() {
        if let Some(best) = column.best {
            lines[line_of(best)][at] = '─';
        }
        if let Some(score) = column.score {
            lines[line_of(score)][at] = if column.is_new { '●' } else { '·' };
        }
    }
    let mut page = String::new();
    for (number, line) in lines.iter().enumerate() {
        let label = match number {
            0 => &labels[0],
            _ if number == HEIGHT / 2 => &labels[1],
            _ if number == HEIGHT - 1 => &labels[2],
            _ => "",
        };
        let line: String = line.iter().collect();
        page.push_str(format!("{label:>gutter$} ┤{line}").trim_end());
        page.push('\n');
    }
    let foot = |column: &Column| if column.has_failed { '×' } else { '─' };
    let foot: String = columns.iter().map(foot).collect();
    let last = points.last().map_or(0, |point| point.id);
    let ends = format!("0{last:>room$}", room = columns.len().saturating_sub(1));
    page.push_str(&format!(
        "{:gutter$} └{foot}\n{:gutter$}  {}\n",
        "", "", ends
    ));
    let words = format!(
        "{:gutter$}  attempts{}; ● a new best, · another score, ─ the best so far, × one without a score",
        "",
        match points.len().div_ceil(columns.len()) {
            0 | 1 => String::new(),
            many => format!(", about {many} in a column, of which the best is drawn"),
        }
    );
    page.push_str(&format!("{}\n", wrapped(&words, width).join("\n")));
    Some(page)
}

/// Returns the worst and the best number that lie on the chart.
pub(in crate::view) fn range(points: &[Point], direction: Direction) -> Option<(f64, f64)> {
    let mut scores: Vec<f64> = points.iter().filter_map(|point| point.score).collect();
    scores.sort_by(|a, b| direction.better_first(*a, *b));
    let best = *scores.first()?;
    // The baseline is always on it.
    let first = points.iter().find_map(|point| point.best).unwrap_or(best);
    let last = scores[(scores.len() - 1) - (scores.len() * OUTSIDE / 100).min(scores.len() - 1)];
    let worst = if direction.is_better(first, last) {
        last
    } else {
        first
    };
    Some((worst, best))
}

/// Puts attempts into as many columns as there is room for.
fn columns(points: &[Point], direction: Direction, room: usize) -> Vec<Column> {
    let count = points.len().min(room).max(1);
    let mut columns = vec![Column::default(); count];
    let mut best = None;
    for (index, point) in points.iter().enumerate() {
        let column = &mut columns[index * count / points.len()];
        column.best = point.best;
        column.is_new |= point.best != best;
        best = point.best;
        match (point.score, column.score) {
            (None, _) => column.has_failed = true,
            (Some(score), Some(known)) if !direction.is_better(score, known) => {}
            (Some(score), _) => column.score = Some(score),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(scores: &[Option<f64>]) -> Vec<Point> {
        let mut best = f64::NEG_INFINITY;
        let point = |(id, score): (usize, &Option<f64>)| {
            best = score.map_or(best, |score| best.max(score));
            Point {
                id: id as u64,
                score: *score,
                best: Some(best),
            }
        };
        scores.iter().enumerate().map(point).collect()
    }

    #[test]
    fn a_small_chart_shows_every_attempt_and_the_best_so_far() {
        let points = points(&[Some(1.0), Some(2.0), None, Some(1.0), Some(3.0)]);
        let page = page(&points, Direction::Max, &Digits::default(), None).unwrap();
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[0], "3 ┤    ●");
        assert_eq!(lines[6], "2 ┤ ●──");
        assert_eq!(lines[11], "1 ┤●  ·");
        assert_eq!(lines[12], "  └──×──");
        assert_eq!(lines[13], "   0   4");
    }

    #[test]
    fn many_attempts_fit_into_any_width_and_smaller_is_better_where_it_is() {
        let scores: Vec<Option<f64>> = (0..500).map(|n| Some(f64::from(500 - n))).collect();
        let mut points = points(&scores);
        points.iter_mut().for_each(|point| point.best = point.score);
        let page = page(&points, Direction::Min, &Digits::default(), Some(40)).unwrap();
        assert!(
            page.lines().all(|line| line.chars().count() <= 40),
            "{page}"
        );
        let lines: Vec<&str> = page.lines().collect();
        assert!(lines[0].trim_start().starts_with("500 ┤●"), "{page}");
        assert!(lines[HEIGHT - 1].trim_start().starts_with("1 ┤"), "{page}");
    }

    #[test]
    fn without_a_score_there_is_no_chart_and_one_level_is_drawn() {
        let digits = Digits::default();
        assert_eq!(page(&points(&[None]), Direction::Max, &digits, None), None);
        let level = points(&[Some(2.0), Some(2.0)]);
        let flat = page(&level, Direction::Max, &digits, None).unwrap();
        assert!(flat.contains("●·"), "{flat}");
        let odd = points(&[f64::MAX, f64::MIN, 1e-300].map(Some));
        assert!(page(&odd, Direction::Max, &digits, None).is_some());
    }
}
