//! The leaderboard of a search: its attempts with the best first, the trend of its generations, the way of the winner.

use super::{applied, counted, of_ending, shown, way};
use crate::model::search::lens;
use crate::model::search::lineage::Operator;
use crate::model::search::view::{Digits, Overview, Row, in_percent, name, signed};
use crate::model::text::{clean_line, cut};
use crate::view::search::chart;
use crate::view::style::{Cell, FAINT, STRONG, columns, paint};
use crate::view::width::{columns_within, width_of, wrapped};

/// How many of the attempts with a rank are shown unless all are asked for.
const RANKED: usize = 20;
/// How many of the others.
const OTHERS: usize = 10;
/// How much of reason and summary is shown, in characters.
const WORDS: usize = 100;
/// How many of the generations are shown, the newest.
const GENERATIONS: usize = 20;
/// What a narrow terminal can do without: what was said, percent, rank, lens, delta.
const SPARE: [usize; 5] = [8, 4, 0, 6, 3];

/// What is asked of the leaderboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Every attempt.
    pub all: bool,
    /// The chart of the scores.
    pub chart: bool,
}

/// Returns the leaderboard, within so many characters if there is a limit.
pub fn page(overview: &Overview, wanted: Wanted, width: Option<usize>) -> String {
    let mut page = heading(overview, width);
    page.push_str(&table(overview, wanted.all, width));
    page.push_str(&generations(overview, width));
    if let Some((style, words)) = shown(overview) {
        page.push('\n');
        for line in wrapped(&format!("{}: {words}", name(overview.best)), width) {
            page.push_str(&format!("{}\n", paint(style, &line)));
        }
    }
    if overview.way.len() > 1 {
        let line = format!("way: {}", way(overview));
        page.push_str(&format!("\n{}\n", wrapped(&line, width).join("\n")));
    }
    if let Some(words) = applied(overview) {
        let line = format!("applied: {words}");
        page.push_str(&format!("\n{}\n", wrapped(&line, width).join("\n")));
    }
    if wanted.chart {
        let chart = chart::page(
            &overview.curve,
            overview.direction,
            &overview.digits(),
            width,
        );
        let chart = chart.unwrap_or_else(|| "nothing has a score yet\n".to_owned());
        page.push_str(&format!("\n{chart}"));
    }
    page
}

fn heading(overview: &Overview, width: Option<usize>) -> String {
    let objective = overview.objective.as_deref().map(clean_line);
    let name = format!("search {}", overview.search);
    let line = format!(
        "{name} · {} · {} is better · {}{}",
        overview.strategy,
        overview.direction.better_word(),
        counted(overview.attempts(), &overview.endings),
        objective.map_or(String::new(), |words| format!(" · {words}")),
    );
    let lines = wrapped(&line, width).join("\n");
    lines.replacen(&name, &paint(STRONG, &name), 1) + "\n"
}

fn table(overview: &Overview, all: bool, width: Option<usize>) -> String {
    let digits = overview.digits();
    let (ranked, others): (Vec<&Row>, Vec<&Row>) = overview
        .ranked()
        .into_iter()
        .partition(|row| row.rank.is_some());
    let most = |limit: usize| if all { usize::MAX } else { limit };
    let shown = ranked
        .iter()
        .take(most(RANKED))
        .chain(others.iter().take(most(OTHERS)));
    let titles = [
        "rank", "id", "score", "delta", "percent", "made", "lens", "ending", "",
    ];
    let shown: Vec<&&Row> = shown.collect();
    let titles = titles.map(|title| Cell(FAINT, title.to_owned())).to_vec();
    let rows = |made: &dyn Fn(&Row) -> String| -> Vec<Vec<Cell>> {
        let cells = shown
            .iter()
            .map(|row| cells(overview, row, &digits, made(row)));
        std::iter::once(titles.clone()).chain(cells).collect()
    };
    let long = rows(&|row| row.made());
    let mut page = match width.is_none_or(|width| width_of(&long) <= width) {
        true => columns(&long),
        false => columns_within(&rows(&made_shortly), width, &SPARE),
    };
    let hidden =
        ranked.len().saturating_sub(most(RANKED)) + others.len().saturating_sub(most(OTHERS));
    if hidden > 0 {
        page.push_str(&paint(
            FAINT,
            &format!("and {hidden} more; --all shows them"),
        ));
        page.push('\n');
    }
    page
}

/// Returns how an attempt is made, and from what, in few letters: `mutation 0`, `crossover 3+5`.
fn made_shortly(row: &Row) -> String {
    let parents: Vec<String> = row.parents.iter().map(u64::to_string).collect();
    let operator = row.operator.map_or("", Operator::word);
    match row.operator {
        Some(Operator::Fresh) | None => operator.to_owned(),
        Some(Operator::Mutation | Operator::Crossover) => {
            format!("{operator} {}", parents.join("+"))
        }
    }
}

fn cells(overview: &Overview, row: &Row, digits: &Digits, made: String) -> Vec<Cell> {
    let (style, more) = match (row.best, row.pruned) {
        (true, _) => (STRONG, ", best"),
        (false, true) => (FAINT, ", pruned"),
        (false, false) => (of_ending(row.ending), overview.doubt(row)),
    };
    let score = row.score.map(|score| digits.show(score));
    let ending = format!("{}{more}", row.ending);
    let delta = row.delta.filter(|_| !row.is_baseline());
    let percent = row.percent.filter(|_| !row.is_baseline());
    let or_dash = |text: Option<String>| Cell::plain(text.unwrap_or_else(|| "-".to_owned()));
    let made = match row.is_baseline() {
        true => "-".to_owned(),
        false => made,
    };
    vec![
        or_dash(row.rank.map(|rank| rank.to_string())),
        Cell::plain(row.id.to_string()),
        or_dash(score),
        or_dash(delta.map(signed)),
        or_dash(percent.map(in_percent)),
        Cell::plain(made),
        Cell::plain(
            row.lens
                .as_deref()
                .map_or(String::new(), |lens| clean_line(lens::name(lens))),
        ),
        Cell(style, ending),
        Cell(FAINT, said(row)),
    ]
}

/// Returns why it ended so, and what was changed.
fn said(row: &Row) -> String {
    let words = [&row.reason, &row.summary].into_iter().flatten();
    let words: Vec<String> = words.map(|words| clean_line(words)).collect();
    cut(&words.join(" · "), WORDS)
}

/// Returns best, mean and how far the best moved, a line for each generation.
fn generations(overview: &Overview, width: Option<usize>) -> String {
    if overview.generations.is_empty() {
        return String::new();
    }
    let scores = overview
        .generations
        .iter()
        .flat_map(|one| [one.best, one.mean]);
    let digits = Digits::of(scores.flatten());
    let show =
        |score: Option<f64>| Cell::plain(score.map_or("-".to_owned(), |score| digits.show(score)));
    let titles = [
        "generation",
        "best",
        "mean",
        "best moved",
        "valid and new",
        "attempts",
    ];
    let mut rows = vec![titles.map(|title| Cell(FAINT, title.to_owned())).to_vec()];
    let older = overview.generations.len().saturating_sub(GENERATIONS);
    for one in overview.generations.iter().skip(older) {
        rows.push(vec![
            Cell::plain(one.number.to_string()),
            show(one.best),
            show(one.mean),
            Cell::plain(one.gained.map_or("-".to_owned(), signed)),
            Cell::plain(format!("{} of {}", one.valid, one.last + 1 - one.first)),
            Cell::plain(match one.first == one.last {
                true => one.first.to_string(),
                false => format!("{}–{}", one.first, one.last),
            }),
        ]);
    }
    format!("\n{}", columns_within(&rows, width, &[5, 2]))
}
