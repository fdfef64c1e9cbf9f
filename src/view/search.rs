//! A search for people: the story while it runs, the leaderboard, one attempt, where it stands, what came of it. Pure.

pub mod attempt;
pub mod board;
pub mod chart;
pub mod ended;
pub mod live;
pub mod page;
pub mod status;
pub mod story;

use anstyle::Style;

use crate::model::search::view::{AGENT_FAILED, Digits, Overview, Row, UNDER_WAY, name};
use crate::model::text::clean_line;
use crate::model::usage::dollars;
use crate::view::style::{BAD, FAINT, GOOD, ODD, PLAIN};

/// Returns the style of an ending.
fn of_ending(ending: &str) -> Style {
    match ending {
        "accepted" => GOOD,
        "gate failed" | "invalid" | AGENT_FAILED => BAD,
        "unconfirmed" | "refuted" | "declined" => ODD,
        "duplicate" | "unchanged" | "under way" => FAINT,
        _ => PLAIN,
    }
}

/// Returns a score and how far it is from the baseline's: `2.31, +0.31 (+15.5 %)`; nothing without a score.
fn score(row: &Row, digits: &Digits) -> Option<String> {
    let score = digits.show(row.score?);
    Some(match row.difference() {
        Some(difference) => format!("{score}, {difference}"),
        None => score,
    })
}

/// Returns the attempts from the baseline to the best, each with its score: `the baseline 1.9 → attempt 3 2.1`.
fn way(overview: &Overview) -> String {
    let digits = overview.digits();
    let step = |id: &u64| {
        let score = overview.row(*id).and_then(|row| row.score);
        let score = score.map_or(String::new(), |score| format!(" ({})", digits.show(score)));
        format!("{}{score}", name(*id))
    };
    let steps: Vec<String> = overview.way.iter().map(step).collect();
    steps.join(" → ")
}

/// Says how a search that is not at work goes on; one that has spent what it may has to be allowed more.
fn going_on(overview: &Overview) -> String {
    let more = match (overview.ended, overview.spent.known_cost()) {
        (Some("max-cost"), Some(spent)) => format!(
            " --max-cost USD` goes on, with more than {}",
            dollars(spent)
        ),
        (Some("max-cost"), None) => " --max-cost off` goes on".to_owned(),
        (Some(_) | None, _) => "` goes on".to_owned(),
    };
    format!("`evolve search resume{more}")
}

/// Says on which branches the best attempt is: `attempt 3 is on main`; nothing where it is on none.
fn applied(overview: &Overview) -> Option<String> {
    let branches: Vec<String> = overview
        .applied
        .iter()
        .map(|name| clean_line(name))
        .collect();
    let best = name(overview.best);
    (!branches.is_empty()).then(|| format!("{best} is on {}", branches.join(", ")))
}

/// Returns how many attempts or generations had no new best: `12 of 20 without a new best`. A climb that waited as long as was
/// asked for explores then, and ends later.
fn stale(used: u64, of: f64) -> String {
    match used as f64 > of {
        false => format!("{used} of {of} without a new best"),
        true => format!("{used} without a new best, exploring after the first {of}"),
    }
}

/// Returns how many attempts ended how: `12 attempts: 3 accepted, 9 worse`.
fn counted(total: u64, endings: &[(&'static str, u64)]) -> String {
    let total = crate::model::text::count(usize::try_from(total).unwrap_or(usize::MAX), "attempt");
    let endings = endings
        .iter()
        .map(|(ending, count)| format!("{count} {ending}"));
    let endings: Vec<String> = endings.collect();
    match endings.is_empty() {
        true => total,
        false => format!("{total}: {}", endings.join(", ")),
    }
}

/// Returns how many attempts ended how, as nobody is at work: what was under way was cut short, and is done again.
fn at_rest(endings: &[(&'static str, u64)]) -> Vec<(&'static str, u64)> {
    let at_rest = |(ending, count): &(&'static str, u64)| match *ending {
        UNDER_WAY => ("cut short", *count),
        ending => (ending, *count),
    };
    endings.iter().map(at_rest).collect()
}

#[cfg(test)]
mod tests;

/// Says what the last measurement of winner and baseline showed.
pub(super) fn shown(overview: &Overview) -> Option<(Style, String)> {
    if let Some(why) = &overview.last_failed {
        let words = format!("could not be measured once more: {}", clean_line(why));
        return Some((ODD, words));
    }
    let shown = overview.shown?;
    let digits = overview.digits().with([shown.winner, shown.baseline]);
    let (own, other) = (digits.show(shown.winner), digits.show(shown.baseline));
    let recorded = overview.row(overview.best).and_then(|row| row.score);
    let is_another = !overview.noisy && recorded.is_some_and(|score| score != shown.winner);
    Some(match shown.better {
        true if is_another => (
            ODD,
            format!(
                "the number is noisy after all: measured once more, it is {own}, and the baseline {other}"
            ),
        ),
        true => (
            PLAIN,
            format!("measured once more: {own}, the baseline {other}"),
        ),
        false => (
            ODD,
            format!(
                "no improvement shown: measured once more, it is {own}, and the baseline {other}"
            ),
        ),
    })
}
