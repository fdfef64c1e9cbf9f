//! The history as a table, and the way of the fitness as a line of little bars. Text with ANSI styles.

mod course;

use crate::model::record::{Record, TakenBack};
use crate::model::text::{clean_line, cut, cut_at_word, duration, number};
use crate::model::usage::dollars;
use crate::view::style::{self, Cell, FAINT, STRONG, columns, paint};
use crate::view::width::{self, columns_folded, shown, width_of};

pub use course::{Course, Stage, course_page};

/// How much of a reason a table shows, in characters.
const REASON: usize = 80;
/// Where in the history's table commit, time, what the agent took and the number of passing goals stand: what a narrow terminal can
/// do without. The scores are what is looked for.
const SPARE: [usize; 4] = [6, 7, AGENT, 4];
const AGENT: usize = 5;
/// How wide most durations are: they stand at the right of so many characters.
const TIME: usize = 6;
/// Where the goal or the title of work stands, and how much of it is shown where there is little room, in characters.
const GOAL: usize = 2;
const GOAL_WIDTH: usize = 30;
/// Where stands what even the narrowest terminal has beside each other, if it can: cycle, result, goal, score.
const ESSENTIAL: [usize; 4] = [0, 1, GOAL, 3];
/// From the smallest bar to the largest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// How long a line with bars is where no terminal says so.
const LINE: usize = 80;

/// Returns one line per cycle, oldest first, and the way of the fitness below, all within so many characters if there is a limit.
pub fn history_page(
    records: &[Record],
    taken_back: &TakenBack,
    scores: &[f64],
    width: Option<usize>,
) -> String {
    history_table(records, taken_back, width) + &ways(&[("score", scores, None)], width)
}

/// Returns the scores of what these cycles left, behind the one that they started `from` if it is known.
pub fn scores_of<'a>(from: Option<f64>, records: impl Iterator<Item = &'a Record>) -> Vec<f64> {
    let left = records.filter_map(Record::score_left);
    from.into_iter().chain(left).collect()
}

/// Returns the ways of numbers, oldest first, each with its name and what it is held against; of a single number there is none.
fn ways(ways: &[(&str, &[f64], Option<f64>)], width: Option<usize>) -> String {
    let mut page = String::new();
    for (name, values, threshold) in ways.iter().filter(|(_, values, _)| values.len() > 1) {
        if page.is_empty() {
            page.push('\n');
        }
        page.push_str(&way(name, values, *threshold, width.unwrap_or(LINE)));
    }
    page
}

/// Returns the first number, a bar for each, and the last; of more than there is room for, the last of every few.
fn way(name: &str, values: &[f64], threshold: Option<f64>, width: usize) -> String {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return String::new();
    };
    let held = threshold.map_or(String::new(), |threshold| {
        format!(" (threshold {})", number(threshold))
    });
    let (begin, end) = (
        format!("  {} ", number(*first)),
        format!(" {}{held}", number(*last)),
    );
    let taken = name.len() + begin.chars().count() + end.chars().count();
    let room = width.saturating_sub(taken).max(1);
    cut_to(
        &[
            (FAINT, name),
            (style::PLAIN, &begin),
            (style::PLAIN, &sparkline(values, room)),
            (STRONG, &end),
        ],
        width,
    )
}

/// Returns painted pieces as one line of at most `width` characters.
fn cut_to(pieces: &[(anstyle::Style, &str)], width: usize) -> String {
    let mut left = width;
    let mut line = String::new();
    for (style, text) in pieces {
        let piece = if left == 0 {
            String::new()
        } else {
            width::cut_to(text, left, cut)
        };
        left = left.saturating_sub(shown(&piece));
        line.push_str(&paint(*style, &piece));
    }
    line.push('\n');
    line
}

/// Returns a bar for each number, the smallest for the smallest of them; where there are more than `most`, a bar stands for the last
/// of a few.
pub(super) fn sparkline(values: &[f64], most: usize) -> String {
    let shown: Vec<f64> = match values.len() <= most {
        true => values.to_vec(),
        false => (1..=most)
            .filter_map(|bar| values.get(bar * values.len() / most - 1).copied())
            .collect(),
    };
    let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bar = |value: f64| {
        // Of what never changed, neither the smallest nor the largest; but nothing is the smallest.
        let part = match high > low {
            true => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
            false if value == 0.0 => 0.0,
            false => 0.5,
        };
        let steps = (BARS.len() - 1) as f64;
        // Between 0 and 7, so that nothing is lost.
        BARS[((part * steps).round() as usize).min(BARS.len() - 1)]
    };
    shown.into_iter().map(bar).collect()
}

fn history_table(records: &[Record], taken_back: &TakenBack, width: Option<usize>) -> String {
    if records.is_empty() {
        return "no cycles yet\n".to_owned();
    }
    let names = [
        "cycle", "result", "goal", "score", "passing", "agent", "commit", "recorded", "why",
    ];
    let heading = names.map(|name| Cell(FAINT, name.to_owned())).to_vec();
    let mut rows: Vec<Vec<Cell>> = std::iter::once(heading)
        .chain(records.iter().map(|record| record_row(record, taken_back)))
        .collect();
    leave_empty(&mut rows, AGENT);
    let Some(width) = width.filter(|width| *width < width_of(&rows)) else {
        return columns(&rows);
    };
    // One title of work leaves no room for what became of all.
    for row in &mut rows {
        row[GOAL].1 = cut_at_word(&row[GOAL].1, GOAL_WIDTH);
    }
    let essential = |row: &Vec<Cell>| ESSENTIAL.map(|column| row[column].clone()).to_vec();
    let heads: Vec<Vec<Cell>> = rows.iter().map(essential).collect();
    if width_of(&heads) > width {
        rows = rows.iter().map(|row| below(row)).collect();
    }
    columns_folded(&rows, Some(width), &SPARE)
}

/// Takes the heading off a column in which nothing stands.
fn leave_empty(rows: &mut [Vec<Cell>], column: usize) {
    let cell = |row: &Vec<Cell>| row.get(column).is_some_and(|cell| !cell.1.is_empty());
    if !rows[1..].iter().any(cell) {
        rows[0][column].1.clear();
    }
}

/// Returns how long the agent of a cycle took, and what it cost if that is known.
fn agent_took(record: &Record) -> String {
    let Some(agent) = record.called_agent() else {
        return String::new();
    };
    let took = format!("{:>TIME$}", duration(agent.duration_s));
    match agent.cost_usd {
        Some(cost) => format!("{took}, {}", dollars(cost)),
        None => took,
    }
}

/// Returns a row of which the goal stands with the reason, below what became of the cycle.
fn below(row: &[Cell]) -> Vec<Cell> {
    let mut row = row.to_vec();
    let goal = std::mem::take(&mut row[GOAL].1);
    let why = row.pop().map_or(String::new(), |Cell(_, why)| why);
    let words: Vec<String> = [goal, why]
        .into_iter()
        .filter(|it| !it.is_empty())
        .collect();
    row.push(Cell::plain(words.join(": ")));
    row
}

fn record_row(record: &Record, taken_back: &TakenBack) -> Vec<Cell> {
    let passing = format!("{} of {}", record.goals_passing, record.goals_total);
    let fate = record.fate().filter(|_| record.is_undone());
    let passing = match fate.filter(|_| record.measured_way().is_some()) {
        Some(fate) => format!("{passing}, {fate}"),
        None => passing,
    };
    let measured = [Cell::plain(record.course()), Cell::plain(passing)];
    row(record, taken_back, measured, record.why().as_deref())
}

/// Returns a cycle's row: what it came to, what was `measured`, where that is kept, and why.
fn row(
    record: &Record,
    taken_back: &TakenBack,
    measured: [Cell; 2],
    reason: Option<&str>,
) -> Vec<Cell> {
    let reason = reason.map(|reason| cut_at_word(&clean_line(reason), REASON));
    let leaned_on = record.leaned_on();
    let leaned_on = leaned_on.map(|words| cut_at_word(&clean_line(&words), REASON));
    let why = taken_back.words(record).into_iter().chain(reason);
    let why: Vec<String> = why.chain(leaned_on).collect();
    let [first, second] = measured;
    vec![
        Cell(STRONG, record.cycle.to_string()),
        Cell(
            style::of_cycle(record.result),
            record.result.word().to_owned(),
        ),
        Cell::plain(record.goal_id.as_deref().map_or("–".to_owned(), clean_line)),
        first,
        second,
        Cell(FAINT, agent_took(record)),
        Cell(FAINT, record.own_commit().map_or(String::new(), short)),
        Cell(FAINT, clean_line(&record.timestamp)),
        Cell::plain(why.join("; ")),
    ]
}

fn short(commit: &str) -> String {
    clean_line(commit).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::{AgentReport, CycleResult};
    use crate::view::samples::record;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_history_is_one_line_per_cycle() {
        let idle = Record {
            cycle: 4,
            result: CycleResult::Idle,
            goal_id: None,
            reason: Some("nothing to do".to_owned()),
            score_after: None,
            ..record()
        };
        let expected = "\
cycle  result    goal        score        passing   agent   commit      recorded              why
3      improved  tests-pass  61.5 → 92.3  12 of 13  3m 07s  aaaaaaaaaa  2026-02-11T21:00:00Z
4      idle      –           61.5         12 of 13  3m 07s              2026-02-11T21:00:00Z  nothing to do
";
        assert_eq!(
            plain(&history_table(
                &[record(), idle.clone()],
                &TakenBack::default(),
                None
            )),
            expected
        );
        let narrow = "\
cycle  result    goal        score        passing   agent   why
3      improved  tests-pass  61.5 → 92.3  12 of 13  3m 07s
4      idle      –           61.5         12 of 13  3m 07s  nothing to do
";
        let narrow_table = plain(&history_table(
            &[record(), idle.clone()],
            &TakenBack::default(),
            Some(80),
        ));
        assert_eq!(narrow_table, narrow);
        let undone = Record {
            result: CycleResult::Regressed,
            reverted_to: Some("b".repeat(40)),
            agent: record().agent.map(|agent| AgentReport {
                cost_usd: Some(0.42),
                ..agent
            }),
            ..record()
        };
        let table = plain(&history_table(&[undone], &TakenBack::default(), None));
        let told = "  61.5 → 92.3 → 61.5  12 of 13, undone  3m 07s, $0.42  ";
        assert!(table.contains(told), "{table}");
        assert_eq!(
            history_table(&[], &TakenBack::default(), None),
            "no cycles yet\n"
        );
    }

    #[test]
    fn on_a_narrow_terminal_headings_and_words_are_whole() {
        let long = Record {
            goal_id: Some("no-dependency-with-known-holes".to_owned()),
            reason: Some("passed before and no longer: tests-pass (exit 101)".to_owned()),
            ..record()
        };
        let short = Record {
            goal_id: Some("tests-pass".to_owned()),
            ..long.clone()
        };
        let page = |records: &[Record], width| {
            let page = history_table(records, &TakenBack::default(), Some(width));
            let page = plain(&page);
            let fits = |line: &str| line.chars().count() <= width;
            assert!(page.lines().all(fits), "{page}");
            page
        };
        let expected = "\
cycle  result    goal        score        why
3      improved  tests-pass  61.5 → 92.3  passed before and no longer:
                                          tests-pass (exit 101)
";
        assert_eq!(page(std::slice::from_ref(&short), 72), expected);
        let expected = "\
cycle  result    goal                            score
      why
3      improved  no-dependency-with-known-holes  61.5 → 92.3
      passed before and no longer: tests-pass (exit 101)
3      improved  tests-pass                      61.5 → 92.3
      passed before and no longer: tests-pass (exit 101)
";
        assert_eq!(page(&[long.clone(), short.clone()], 60), expected);
        let expected = "\
cycle  result    score
      goal: why
3      improved  61.5 → 92.3
      no-dependency-with-known-holes:
      passed before and no longer:
      tests-pass (exit 101)
3      improved  61.5 → 92.3
      tests-pass: passed before and no
      longer: tests-pass (exit 101)
";
        assert_eq!(page(&[long, short], 40), expected);
    }

    #[test]
    fn a_long_title_of_work_leaves_room_for_what_became_of_all() {
        let work = Record {
            goal_id: Some("next-work:Teach the parser what stands in braces and quotes".to_owned()),
            reason: Some("passed before and no longer: tests-pass".to_owned()),
            ..record()
        };
        let page = history_table(&[work], &TakenBack::default(), Some(90));
        let page = plain(&page);
        assert!(page.contains("passed before and no"), "{page}");
        assert!(page.contains("next-work:Teach the parser…"), "{page}");
    }

    #[test]
    fn the_way_of_the_fitness_stands_below_and_fits_the_terminal() {
        let at = |cycle: usize, score: f64| Record {
            cycle: cycle as u64,
            score_before: Some(50.0),
            score_after: Some(score),
            ..record()
        };
        let page = |records: &[Record], baseline, width| {
            let scores = scores_of(baseline, records.iter());
            plain(&history_page(
                records,
                &TakenBack::default(),
                &scores,
                width,
            ))
        };
        let undone = Record {
            reverted_to: Some("b".repeat(40)),
            ..at(3, 10.0)
        };
        let records = [at(1, 50.0), at(2, 75.0), undone, at(4, 100.0)];
        let shown = page(&records, None, None);
        assert!(shown.ends_with("\n\nscore  50 ▁▅▁█ 100\n"), "{shown}");
        let shown = page(&records, Some(40.0), None);
        assert!(shown.ends_with("\n\nscore  40 ▁▂▅▂█ 100\n"), "{shown}");
        let many: Vec<Record> = (1..=500)
            .map(|cycle| at(cycle, (cycle % 97) as f64))
            .collect();
        for width in [40, 60, 80, 200] {
            let shown = page(&many, Some(50.0), Some(width));
            let fits = |line: &str| line.chars().count() <= width;
            assert!(shown.lines().all(fits), "{shown}");
        }
        assert!(!page(&records[..1], None, None).contains("\nscore "));
    }

    #[test]
    fn what_never_changed_is_neither_low_nor_high_and_of_many_the_last_of_each_few_is_shown() {
        assert_eq!(sparkline(&[5.0, 5.0], 10), "▅▅");
        assert_eq!(sparkline(&[0.0, 0.0], 10), "▁▁");
        assert_eq!(
            sparkline(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 8),
            "▁▂▃▄▅▆▇█"
        );
        assert_eq!(sparkline(&[0.0, 7.0, 0.0, 0.0], 2), "█▁");
        assert_eq!(sparkline(&[f64::MIN, f64::MAX], 2), "▁█");
    }
}
