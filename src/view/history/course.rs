//! What one goal came to in each cycle. Text with ANSI styles.

use crate::model::record::{Record, TakenBack};
use crate::model::snapshot::Measurement;
use crate::model::text::{count, number};
use crate::view::style::{self, Cell, FAINT, PLAIN, STRONG};
use crate::view::width::columns_folded;

/// Where commit and time stand, what the agent took, what the cycle worked on and what became of it: what a narrow terminal can do
/// without.
const SPARE: [usize; 5] = [6, 7, super::AGENT, 2, 1];
/// Where the goal's number stands.
const VALUE: usize = 4;

/// The way of a goal over cycles.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The goal.
    pub id: String,
    /// What it came to before the first cycle.
    pub baseline: Option<Measurement>,
    /// The cycles that measured it or worked on it, oldest first.
    pub stages: Vec<Stage>,
    /// How many cycles there are of which nothing is known of it.
    pub unknown: usize,
}

/// What a goal came to in a cycle.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The cycle's record.
    pub record: Record,
    /// What it came to before the cycle's change.
    pub before: Option<Measurement>,
    /// What it came to with that.
    pub after: Option<Measurement>,
}

impl Stage {
    /// Puts together what is known; nothing where the cycle neither measured the goal nor worked on it.
    pub fn of(
        id: &str,
        record: &Record,
        before: Option<Measurement>,
        after: Option<Measurement>,
    ) -> Option<Stage> {
        let stage = Stage {
            record: record.clone(),
            before,
            after,
        };
        let is_known = stage.before.is_some() || stage.after.is_some() || stage.is_about(id);
        is_known.then_some(stage)
    }

    /// Returns what the goal came to in what the cycle left.
    pub fn left(&self) -> Option<&Measurement> {
        match self.record.is_undone() {
            true => self.before.as_ref(),
            false => self.after.as_ref().or(self.before.as_ref()),
        }
    }

    fn is_about(&self, id: &str) -> bool {
        self.record.goal_id.as_deref() == Some(id)
    }

    fn is_moved(&self) -> bool {
        let state = |goal: &Measurement| (goal.result, goal.value.map(f64::to_bits));
        let after = self.after.as_ref();
        after.is_some() && after.map(state) != self.before.as_ref().map(state)
    }

    fn row(&self, id: &str, taken_back: &TakenBack) -> Vec<Cell> {
        let is_told = self.is_about(id) || self.is_moved();
        let reason = self.record.why().filter(|_| is_told);
        let measured = [self.mark(), Cell::plain(self.value())];
        super::row(&self.record, taken_back, measured, reason.as_deref())
    }

    fn mark(&self) -> Cell {
        let mark = |goal: &Measurement| style::mark(goal.result);
        match (
            self.before.as_ref().map(mark),
            self.after.as_ref().map(mark),
        ) {
            (Some(before), Some(after)) if before.1 != after.1 => {
                let Cell(style, word) = after;
                Cell(style, format!("{} → {word}", before.1))
            }
            (_, Some(only)) | (Some(only), None) => only,
            (None, None) => Cell(FAINT, "–".to_owned()),
        }
    }

    fn value(&self) -> String {
        let value = |goal: &Option<Measurement>| goal.as_ref()?.value.map(number);
        match (value(&self.before), value(&self.after)) {
            (Some(before), Some(after)) if before != after => format!("{before} → {after}"),
            (_, Some(only)) | (Some(only), None) => only,
            (None, None) => String::new(),
        }
    }
}

/// Returns one line per cycle, oldest first, with the baseline in front, and the ways of `scores` and of the goal's value below.
pub fn course_page(
    course: &Course,
    taken_back: &TakenBack,
    scores: &[f64],
    width: Option<usize>,
) -> String {
    let names = [
        "cycle", "result", "goal", "measured", "value", "agent", "commit", "recorded", "why",
    ];
    let heading = names.map(|name| Cell(FAINT, name.to_owned())).to_vec();
    let baseline = course.baseline.as_ref().map(|goal| {
        vec![
            Cell(STRONG, "0".to_owned()),
            Cell(FAINT, "baseline".to_owned()),
            Cell(PLAIN, String::new()),
            style::mark(goal.result),
            Cell::plain(goal.value.map_or(String::new(), number)),
        ]
    });
    let stages = course.stages.iter();
    let stages = stages.map(|stage| stage.row(&course.id, taken_back));
    let mut rows: Vec<Vec<Cell>> = [heading]
        .into_iter()
        .chain(baseline)
        .chain(stages)
        .collect();
    super::leave_empty(&mut rows, VALUE);
    super::leave_empty(&mut rows, super::AGENT);
    let mut page = columns_folded(&rows, width, &SPARE);
    if course.unknown > 0 {
        let cycles = count(course.unknown, "more cycle");
        page.push_str(&format!(
            "of {cycles} nothing is known: it was not measured, or the snapshot is gone\n"
        ));
    }
    let left = course.stages.iter().filter_map(Stage::left);
    let first = course.stages.first().and_then(|it| it.before.as_ref());
    let from = course.baseline.as_ref().or(first);
    let measured: Vec<&Measurement> = from.into_iter().chain(left).collect();
    let threshold = measured.iter().rev().find_map(|goal| goal.threshold);
    let values: Vec<f64> = measured.iter().filter_map(|goal| goal.value).collect();
    page + &super::ways(
        &[("score", scores, None), ("value", &values, threshold)],
        width,
    )
}
