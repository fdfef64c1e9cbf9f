//! Answers that are asked for once: a measurement, the queue. Text with ANSI styles.

use std::collections::HashMap;

use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{against, clean_line, cut_at_word, duration, number, passing};
use crate::model::work::{SHORT_ID, WorkItem};
use crate::view::outputs;
use crate::view::style::{self, BAD, Cell, FAINT, ODD, STRONG, paint};
use crate::view::width::{columns_folded, width_of};

/// How many items of the queue are shown.
const ITEMS_SHOWN: usize = 50;
/// How much of a reason is told where its output stands below, in characters.
const LONG_REASON: usize = 160;
/// A reason of more characters is told once.
const REPEATED: usize = 60;
/// So many lines are more than a terminal shows beside a table.
const MUCH: usize = 12;

/// Returns one line per goal in the file's order, the score of those that were chosen of `all`, and the last output of each goal that fails.
pub fn measure_table(snapshot: &Snapshot, all: usize, width: Option<usize>) -> String {
    let table = goals_table(snapshot, width);
    format!("{table}{}", result(snapshot, all, width))
}

/// Returns one line per goal in the file's order.
pub fn goals_table(snapshot: &Snapshot, width: Option<usize>) -> String {
    let mut reasons = Reasons::default();
    let row = |goal| goal_row(goal, reasons.remarks(goal));
    let mut rows: Vec<Vec<Cell>> = snapshot.goals.iter().map(row).collect();
    if width.is_some_and(|width| width < width_of(&rows)) {
        rows.iter_mut().for_each(join_last);
    }
    columns_folded(&rows, width, &[])
}

/// Returns the score of the goals that were chosen of `all`, and the last output of each that fails. Much output moves the score out of
/// sight: then it stands at the end, too, with the goals that fail.
pub fn result(snapshot: &Snapshot, all: usize, width: Option<usize>) -> String {
    let skipped = snapshot.with(CheckResult::Skip).count();
    let chosen = match snapshot.goals_total < all {
        true => ", of the goals measured",
        false => "",
    };
    let mut page = format!(
        "{}{chosen}: {}",
        paint(STRONG, &format!("score {}", number(snapshot.score))),
        passing(snapshot.goals_passing, snapshot.goals_total)
    );
    if skipped > 0 {
        page.push_str(&format!(", {skipped} skipped"));
    }
    page.push('\n');
    let outputs = outputs(snapshot, width);
    let again = match outputs.lines().count() > MUCH {
        true => format!("\n{}{}\n", page.trim_end(), failing(snapshot)),
        false => String::new(),
    };
    format!("{page}{outputs}{again}")
}

/// Names the goals that fail, to go on behind a score.
fn failing(snapshot: &Snapshot) -> String {
    let failing = snapshot.with(CheckResult::Fail);
    let ids: Vec<&str> = failing.map(|goal| goal.id.as_str()).collect();
    format!(
        "; {} {}",
        paint(BAD, "failing"),
        clean_line(&ids.join(", "))
    )
}

/// Returns the last output of each goal that fails.
pub fn outputs(snapshot: &Snapshot, width: Option<usize>) -> String {
    outputs::outputs(snapshot.with(CheckResult::Fail), width)
}

/// Puts the last two cells of a row into one, so that they go on below together.
fn join_last(row: &mut Vec<Cell>) {
    let last = row.split_off(row.len().saturating_sub(2));
    let texts = last.into_iter().map(|Cell(_, text)| text);
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    row.push(Cell::plain(texts.join("  ")));
}

fn goal_row(goal: &Measurement, remarks: String) -> Vec<Cell> {
    vec![
        style::mark(goal.result),
        Cell::plain(clean_line(&goal.id)),
        Cell(FAINT, duration(goal.duration_s)),
        Cell::plain(value(goal)),
        Cell::plain(remarks),
    ]
}

/// Returns the number of a goal and what it is held against.
pub(super) fn value(goal: &Measurement) -> String {
    match (goal.value, goal.threshold) {
        (Some(value), Some(threshold)) => against(value, threshold),
        (Some(value), None) => number(value),
        (None, Some(threshold)) => format!("– vs {}", number(threshold)),
        (None, None) => String::new(),
    }
}

/// Returns what is to be said of how a goal was measured. The output that a long reason is of stands elsewhere as a whole.
pub(super) fn remarks(goal: &Measurement) -> String {
    let most = if goal.output_tail.is_some() {
        LONG_REASON
    } else {
        usize::MAX
    };
    let reason = goal.reason.as_deref().map(clean_line);
    remarks_with(reason.map(|reason| cut_at_word(&reason, most)), goal)
}

fn remarks_with(reason: Option<String>, goal: &Measurement) -> String {
    let mut remarks: Vec<String> = reason.into_iter().collect();
    if goal.flaky {
        remarks.push("flaky".to_owned());
    }
    if goal.tolerated {
        remarks.push("within its tolerance".to_owned());
    }
    remarks.join(", ")
}

/// Long reasons that were told, each with the first goal that it was told of.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons {
    told: HashMap<String, String>,
}

impl Reasons {
    /// Returns what is to be said of how a goal was measured; a long reason is told once.
    pub(super) fn remarks(&mut self, goal: &Measurement) -> String {
        let is_long = |reason: &&String| reason.chars().count() > REPEATED;
        let Some(reason) = goal.reason.as_ref().filter(is_long) else {
            return remarks(goal);
        };
        match self.told.get(reason) {
            Some(first) => remarks_with(Some(format!("as {}", clean_line(first))), goal),
            None => {
                self.told.insert(reason.clone(), goal.id.clone());
                remarks(goal)
            }
        }
    }
}

/// Returns the queue of this repository: what is open in the order in which it will be worked on, then what is set aside.
pub fn work_table(open: &[WorkItem], set_aside: &[WorkItem], width: Option<usize>) -> String {
    if open.is_empty() && set_aside.is_empty() {
        return "no open work\n".to_owned();
    }
    table_of(open, set_aside, |_| Vec::new(), width)
}

/// Returns the same with the ids by which items are closed.
pub fn work_list(open: &[WorkItem], set_aside: &[WorkItem], width: Option<usize>) -> String {
    let id = |item: &WorkItem| vec![Cell(FAINT, item.id().chars().take(SHORT_ID).collect())];
    table_of(open, set_aside, id, width)
}

fn table_of(
    open: &[WorkItem],
    set_aside: &[WorkItem],
    id: impl Fn(&WorkItem) -> Vec<Cell>,
    width: Option<usize>,
) -> String {
    let all = || open.iter().chain(set_aside).take(ITEMS_SHOWN);
    let mut rows: Vec<Vec<Cell>> = all().map(|it| [id(it), work_row(it)].concat()).collect();
    if width.is_some_and(|width| width < width_of(&rows)) {
        rows = all().map(|it| [id(it), narrow_row(it)].concat()).collect();
    }
    let mut table = columns_folded(&rows, width, &[]);
    let more = (open.len() + set_aside.len()).saturating_sub(ITEMS_SHOWN);
    if more > 0 {
        table.push_str(&format!("and {more} more\n"));
    }
    table
}

fn work_row(item: &WorkItem) -> Vec<Cell> {
    vec![
        severity(item),
        Cell(STRONG, clean_line(&item.title)),
        Cell::plain(
            item.kind
                .as_deref()
                .map_or(String::new(), |kind| format!("({})", clean_line(kind))),
        ),
        Cell(ODD, state(item)),
        Cell(
            FAINT,
            item.source.as_deref().map_or(String::new(), clean_line),
        ),
    ]
}

/// Returns what a narrow terminal has room for: the title stands last, so that nothing of it is left out.
fn narrow_row(item: &WorkItem) -> Vec<Cell> {
    let title = clean_line(&item.title);
    let title = match state(item) {
        state if state.is_empty() => title,
        state => format!("{title} ({state})"),
    };
    vec![severity(item), Cell(STRONG, title)]
}

fn severity(item: &WorkItem) -> Cell {
    Cell::plain(format!("[{}]", item.severity.word()))
}

fn state(item: &WorkItem) -> String {
    match (item.is_set_aside(), item.failures) {
        (true, failures) => format!("set aside after {failures} failures"),
        (false, 0) => String::new(),
        (false, failures) => format!("tried {failures}×"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::work::Queue;
    use crate::view::samples::{measurement, snapshot};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn failing() -> Measurement {
        Measurement {
            value: Some(79.5),
            threshold: Some(80.0),
            reason: Some("79.5 is less than 80".to_owned()),
            output_tail: Some("\nline 1\u{1b}[31m\r\n  line 2\n".to_owned()),
            ..measurement("coverage", CheckResult::Fail)
        }
    }

    #[test]
    fn a_measurement_shows_each_goal_then_the_score_then_why() {
        let skipped = Measurement {
            reason: Some("shellcheck: not found".to_owned()),
            ..measurement("sh", CheckResult::Skip)
        };
        let goals = vec![
            measurement("tests-pass", CheckResult::Pass),
            failing(),
            skipped,
        ];
        let expected = "\
pass  tests-pass  0.3 s
FAIL  coverage    0.3 s  79.5 vs 80  79.5 is less than 80
skip  sh          0.3 s              shellcheck: not found
score 33.33: 1 of 3 goals pass, 1 skipped

output of coverage
    line 1
      line 2
";
        assert_eq!(plain(&measure_table(&snapshot(goals), 3, None)), expected);
    }

    #[test]
    fn on_a_narrow_terminal_the_number_of_a_goal_goes_on_below_with_what_is_said_of_it() {
        let table = goals_table(&snapshot(vec![failing()]), Some(40));
        let expected = "FAIL  coverage  0.3 s\n      79.5 vs 80  79.5 is less than 80\n";
        assert_eq!(plain(&table), expected);
    }

    #[test]
    fn a_long_reason_is_told_once_and_cut_where_its_output_stands_below() {
        let why = format!(
            "exit 1, perhaps for want of a network: {}",
            "a wall ".repeat(60)
        );
        let unreached = |id, output: bool| Measurement {
            reason: Some(why.clone()),
            output_tail: output.then(|| why.clone()),
            ..measurement(id, CheckResult::Fail)
        };
        let goals = vec![unreached("builds", true), unreached("vet", true), failing()];
        let table = plain(&goals_table(&snapshot(goals), None));
        let lines: Vec<&str> = table.lines().collect();
        assert!(
            lines[0].contains("for want of a network: a wall"),
            "{table}"
        );
        assert!(
            lines[0].ends_with('…') && lines[0].chars().count() < 200,
            "{table}"
        );
        assert!(lines[1].ends_with("  as builds"), "{table}");
        assert!(lines[2].ends_with("  79.5 is less than 80"), "{table}");
        let alone = remarks(&unreached("builds", false));
        assert_eq!(alone, clean_line(&why));
    }

    #[test]
    fn the_score_stands_behind_much_output_too() {
        let long = Measurement {
            output_tail: Some("a line\n".repeat(20)),
            ..failing()
        };
        for (goal, width, times) in [
            (long.clone(), Some(80), 2),
            (long, None, 2),
            (failing(), Some(80), 1),
        ] {
            let page = plain(&measure_table(&snapshot(vec![goal]), 1, width));
            assert_eq!(page.matches("score ").count(), times, "{page}");
        }
    }

    #[test]
    fn the_queue_is_shown_in_its_order() {
        let queue = Queue::parse(concat!(
            "{\"title\":\"tidy\\u001b[2J\",\"severity\":\"low\",\"type\":\"debt\"}\n",
            "{\"title\":\"fix\",\"severity\":\"high\",\"failures\":4,\"source\":\"sweep\"}\n",
        ));
        let expected = "\
[low]   tidy  (debt)
[high]  fix           set aside after 4 failures  sweep
";
        let table = work_table(&queue.open("x"), &queue.set_aside("x"), None);
        assert_eq!(plain(&table), expected);
        let expected = "\
[low]   tidy
[high]  fix (set aside after 4 failures)
";
        let narrow = work_table(&queue.open("x"), &queue.set_aside("x"), Some(40));
        assert_eq!(plain(&narrow), expected);
        let narrow = plain(&work_list(&[], &queue.set_aside("x"), Some(39)));
        let below = "  [high]\n      fix (set aside after 4 failures)\n";
        assert!(narrow.ends_with(below), "{narrow}");
        assert_eq!(work_table(&[], &[], None), "no open work\n");
    }
}
