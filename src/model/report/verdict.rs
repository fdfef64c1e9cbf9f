//! Where things stand, in one sentence. Pure.

use serde::Serialize;

use super::{Material, Tone, needs};
use crate::model::snapshot::Snapshot;
use crate::model::text::{count, number};

/// Where things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What it means to the eye.
    pub tone: Tone,
    /// The same in a word or two.
    pub mark: &'static str,
    /// One sentence.
    pub words: String,
}

/// Returns where things stand, with so many things that wait for a person.
pub(super) fn of(material: &Material<'_>, waiting: usize) -> Verdict {
    let human = match waiting {
        0 => "nobody is needed".to_owned(),
        1 => "one thing waits for you".to_owned(),
        waiting => format!("{waiting} things wait for you"),
    };
    let Some(newest) = material.newest else {
        return Verdict {
            tone: if waiting == 0 { Tone::Faint } else { Tone::Odd },
            mark: "Not measured yet",
            words: format!("No cycle has been recorded yet; {human}."),
        };
    };
    let is_met = newest.goals_passing == newest.goals_total;
    let open = needs::open_goals(material);
    let (tone, mark) = match (is_met, waiting, open) {
        (true, 0, _) => (Tone::Good, "All is well"),
        (false, 0, _) | (_, _, 1..) => (Tone::Odd, "Under way"),
        (true, _, 0) => (Tone::Odd, "You are needed"),
        (false, _, 0) => (Tone::Bad, "You are needed"),
    };
    let goes_on = match (waiting, open) {
        (0, _) | (_, 0) => String::new(),
        (_, open) => format!(
            ", and the loop goes on with {}",
            count(open, "failing goal")
        ),
    };
    let words = format!(
        "{}, {} in {}; {human}{goes_on}.",
        passing(newest),
        way(material.baseline, newest),
        count(material.records.len(), "cycle"),
    );
    Verdict { tone, mark, words }
}

fn passing(newest: &Snapshot) -> String {
    let (passing, total) = (newest.goals_passing, newest.goals_total);
    match (passing, total) {
        (1, 1) => "The one goal passes".to_owned(),
        (passing, total) if passing == total => format!("All {total} goals pass"),
        (0, 1) => "The one goal does not pass".to_owned(),
        (0, total) => format!("None of {total} goals passes"),
        (passing, total) => format!("{passing} of {total} goals pass"),
    }
}

fn way(baseline: Option<&Snapshot>, newest: &Snapshot) -> String {
    let now = number(newest.score);
    match baseline.map(|baseline| number(baseline.score)) {
        Some(before) if before == now => format!("with the score at {now} as at the baseline"),
        Some(before) => format!("and the score went from {before} to {now}"),
        None => format!("with the score at {now}"),
    }
}
