//! Where things stand, in one sentence. Pure.

use serde::Serialize;

use super::{Material, Tone, line, needs};
use crate::model::counted::Counted;
use crate::model::record::Record;
use crate::model::snapshot::Snapshot;
use crate::model::text::{count, number};

/// How much of why the newest session ended is told, in characters.
const ENDING: usize = 120;

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
        if let Some(record) = material.records.last() {
            return of_record(record, &human);
        }
        return Verdict {
            tone: if waiting == 0 { Tone::Faint } else { Tone::Odd },
            mark: "Not measured yet",
            words: format!("No cycle has been recorded yet; {human}."),
        };
    };
    let counted = Counted::of(material.goals.ok(), newest);
    let is_met = counted.passing == counted.total;
    let is_at_work = material.state.running_since.is_some();
    let open = needs::open_goals(material);
    let unmeasured = match needs::is_kept_from_working(material) {
        true => 0,
        false => counted.unmeasured.len(),
    };
    let left = left(open, unmeasured);
    let (tone, mark) = match (is_met, waiting, &left) {
        (true, 0, _) => (Tone::Good, "All is well"),
        (false, 0, _) | (_, _, Some(_)) if is_at_work => (Tone::Odd, "Under way"),
        (_, _, Some(_)) if open > 0 => (Tone::Odd, "Work is left"),
        (false, 0, Some(_)) => (Tone::Odd, "Not all measured"),
        (false, 0, None) => (Tone::Odd, "At rest"),
        (true, 1.., _) => (Tone::Odd, "You are needed"),
        (false, 1.., _) => (Tone::Bad, "You are needed"),
    };
    let who = match (left, waiting, is_at_work) {
        (None, _, _) => human,
        (Some(left), 0, true) => format!("nobody is needed, and the loop goes on with {left}"),
        (Some(left), 1.., true) => format!("{human}, and the loop goes on with {left}"),
        (Some(left), _, false) => {
            let human = if waiting == 0 {
                String::new()
            } else {
                human + "; "
            };
            let how = how_it_ended(material);
            format!("{human}no session is at work{how}, and the next run goes on with {left}")
        }
    };
    let cycles = match material.records.len() {
        0 => ", and no cycle is recorded yet".to_owned(),
        cycles => format!(" in {}", count(cycles, "cycle")),
    };
    let words = format!(
        "{}, {}{cycles}; {who}.",
        passing(&counted),
        way(material.baseline, newest),
    );
    Verdict { tone, mark, words }
}

/// Returns where things stand by the newest record alone.
fn of_record(record: &Record, human: &str) -> Verdict {
    let score = record.score_left();
    let score = score.map_or(String::new(), |score| {
        format!(", with the score at {}", number(score))
    });
    let passing = match record.passing_left() {
        Some((passing, total)) => format!("{passing} of {total} goals pass"),
        None => "its change was undone".to_owned(),
    };
    let cycle = record.cycle;
    Verdict {
        tone: Tone::Odd,
        mark: "Not known",
        words: format!(
            "The snapshots of cycle {cycle} are not there, or not what it recorded, so that nobody knows which goals pass; by its record {passing}{score}; {human}."
        ),
    }
}

/// Says what a session works on or measures first, if there is anything.
fn left(open: usize, unmeasured: usize) -> Option<String> {
    let failing = count(open, "failing goal");
    let new = match unmeasured {
        1 => "the one that is not measured yet".to_owned(),
        _ => format!("the {unmeasured} that are not measured yet"),
    };
    match (open, unmeasured) {
        (0, 0) => None,
        (_, 0) => Some(failing),
        (0, _) => Some(new),
        (_, _) => Some(format!("{failing} and {new}")),
    }
}

/// Says how the newest session ended, as far as it said so itself.
fn how_it_ended(material: &Material<'_>) -> String {
    let ended = material.ended.map(|ended| line(&ended.reason, ENDING));
    ended.map_or(String::new(), |reason| {
        format!(" (the last one ended: {reason})")
    })
}

fn passing(counted: &Counted) -> String {
    let words = match (counted.passing, counted.total) {
        (0, 0) => "There are no goals".to_owned(),
        (1, 1) => "The one goal passes".to_owned(),
        (passing, total) if passing == total => format!("All {total} goals pass"),
        (0, 1) => "The one goal does not pass".to_owned(),
        (0, total) => format!("None of {total} goals passes"),
        (passing, total) => format!("{passing} of {total} goals pass"),
    };
    match counted.unmeasured.len() {
        0 => words,
        1 => format!("{words}, 1 is not measured yet"),
        more => format!("{words}, {more} are not measured yet"),
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
