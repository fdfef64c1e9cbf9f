//! What views show of a search, as plain values: its attempts, generations, limits, and where it stands. Pure.

mod digits;
mod entry;

use serde::Serialize;

use crate::model::search::lineage::{Direction, Id, Operator};
use crate::model::usage::Spent;

pub use digits::Digits;
pub use entry::{Entry, tone};

/// What an attempt that has no ending yet is called by.
pub const UNDER_WAY: &str = "under way";
/// What an attempt is called by whose agent failed, twice.
pub const AGENT_FAILED: &str = "agent failed";
/// What the untouched code is called by where others have their ending.
pub const BASELINE: &str = "baseline";

/// One attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its number; the baseline has 0.
    pub id: Id,
    /// How it is made; none for the baseline.
    pub operator: Option<Operator>,
    /// What it is made from.
    pub parents: Vec<Id>,
    /// Through which lens its agent looked.
    pub lens: Option<String>,
    /// What it came to: the words of its ending, `baseline`, or `under way`.
    pub ending: &'static str,
    /// Its place among the valid attempts of different content, the best first; none for others.
    pub rank: Option<u64>,
    /// Its score.
    pub score: Option<f64>,
    /// How far that is from the baseline's.
    pub delta: Option<f64>,
    /// The same in percent of the baseline's; none where that is 0.
    pub percent: Option<f64>,
    /// It is the best.
    pub best: bool,
    /// It was the best when it ended.
    pub new_best: bool,
    /// A person took it out of the search, or one that it was made from.
    pub pruned: bool,
    /// Why it ended so.
    pub reason: Option<String>,
    /// What its agent changed, in its words.
    pub summary: Option<String>,
    /// What its agent changed outside the editable files.
    pub left_out: Vec<String>,
    /// What it changes that its measuring leans on and nothing freezes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaned_on: Vec<String>,
    /// How long its agents worked, in seconds.
    pub agent_s: f64,
    /// How long it was measured, in seconds.
    pub measured_s: f64,
    /// What its agents reported of their use.
    pub spent: Spent,
}

impl Row {
    /// Says whether it is the untouched code.
    pub fn is_baseline(&self) -> bool {
        self.id == 0
    }

    /// Returns how it is made, and from what: `mutation of the baseline`, `crossover of 3 and 5`, `fresh`.
    pub fn made(&self) -> String {
        let operator = self.operator.map(Operator::word);
        operator.map_or_else(
            || "the untouched code".to_owned(),
            |operator| made(operator, &self.parents),
        )
    }

    /// Returns how far its score is from the baseline's: `+0.31 (+5.3 %)`; nothing of the baseline.
    pub fn difference(&self) -> Option<String> {
        let delta = self.delta.filter(|_| !self.is_baseline())?;
        let percent = self.percent.map_or(String::new(), |percent| {
            format!(" ({})", in_percent(percent))
        });
        Some(format!("{}{percent}", signed(delta)))
    }
}

/// Returns how an attempt is made, and from what: `mutation of the baseline`, `crossover of 3 and 5`, `fresh`.
pub fn made(operator: &str, parents: &[Id]) -> String {
    let parents: Vec<String> = parents.iter().map(|id| short_name(*id)).collect();
    match operator == Operator::Fresh.word() {
        true => operator.to_owned(),
        false => format!("{operator} of {}", parents.join(" and ")),
    }
}

/// Returns what an attempt is called in a sentence.
pub fn name(id: Id) -> String {
    match id {
        0 => "the baseline".to_owned(),
        id => format!("attempt {id}"),
    }
}

fn short_name(id: Id) -> String {
    match id {
        0 => "the baseline".to_owned(),
        id => id.to_string(),
    }
}

/// Returns a difference with its sign, in few digits: nobody compares two of them.
pub fn signed(delta: f64) -> String {
    match delta {
        0.0 => "±0".to_owned(),
        delta if delta > 0.0 => format!("+{}", few_digits(delta, DIGITS)),
        delta => format!("-{}", few_digits(-delta, DIGITS)),
    }
}

/// Returns how far a score is from the baseline's, in percent of that; none where that is 0.
pub fn percent(score: Option<f64>, baseline: Option<f64>) -> Option<f64> {
    let (score, of) = score.zip(baseline)?;
    (of != 0.0).then(|| 100.0 * (score - of) / of.abs())
}

/// Returns a share with its sign, as people read it.
pub fn in_percent(percent: f64) -> String {
    let size = percent.abs();
    let shown = match size {
        0.0 => return "±0 %".to_owned(),
        0.0..0.1 => few_digits(size, 1),
        0.1..100.0 => format!("{size:.1}"),
        _ => format!("{size:.0}"),
    };
    let sign = if percent > 0.0 { '+' } else { '-' };
    format!("{sign}{shown} %")
}

/// How many digits of a difference are shown.
const DIGITS: i32 = 3;

/// Returns a number with so many digits.
fn few_digits(value: f64, digits: i32) -> String {
    if value == 0.0 || !(1e-6..1e15).contains(&value) {
        return match value {
            0.0 => "0".to_owned(),
            _ => format!("{value:.1e}").replace(".0e", "e"),
        };
    }
    let whole = value.log10().floor() as i32 + 1;
    let decimals = usize::try_from((digits - whole).clamp(0, 8)).unwrap_or(0);
    let shown = format!("{value:.decimals$}");
    match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => shown,
    }
}

/// One generation of a population.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Generation {
    /// Its number, from 1.
    pub number: u64,
    /// Its first attempt.
    pub first: Id,
    /// Its last attempt.
    pub last: Id,
    /// How many of its attempts are valid and have a content of their own.
    pub valid: u64,
    /// The best score among these.
    pub best: Option<f64>,
    /// Their mean score.
    pub mean: Option<f64>,
    /// How far the search's best score moved with it.
    pub gained: Option<f64>,
    /// What lives on, the better first; empty where that is not known yet.
    pub survivors: Vec<Id>,
    /// How many generations up to this one had no new best, in a row.
    pub stale: u64,
}

/// One point of the curve: an attempt that has its ending.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The attempt.
    pub id: Id,
    /// Its score.
    pub score: Option<f64>,
    /// The best score after it.
    pub best: Option<f64>,
}

/// How much of a limit is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// What is limited: `attempts`, `generations`, `stale`, `cost`, `time` or `until`.
    pub name: &'static str,
    /// How much is used; none where that cannot be told.
    pub used: Option<f64>,
    /// How much there is.
    pub of: f64,
}

/// What winner and baseline scored when both were measured once more at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// The winner's middle sample.
    pub winner: f64,
    /// The baseline's.
    pub baseline: f64,
    /// Every sample of the winner was better than every one of the baseline.
    pub better: bool,
}

/// A measurement of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// What for: `first`, `beside`, `holdout`, `again` or `last`.
    pub purpose: &'static str,
    /// The attempt that was measured beside it.
    pub beside: Option<Id>,
    /// Its samples.
    pub samples: Vec<f64>,
    /// Those of the attempt beside it.
    pub beside_samples: Vec<f64>,
    /// Why there is no score.
    pub reason: Option<String>,
    /// Wall time in seconds.
    pub duration_s: f64,
}

/// What is still to be done for a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ahead {
    /// The attempt it is for.
    pub attempt: Id,
    /// What is done: `edit`, `measure` or `propose`.
    pub what: &'static str,
    /// In words.
    pub words: String,
}

/// Where a search stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// The search's number.
    pub search: u64,
    /// How it chooses what it tries next.
    pub strategy: &'static str,
    /// Which way a score is better.
    pub direction: Direction,
    /// What the number stands for.
    pub objective: Option<String>,
    /// The command that prints the number.
    pub fitness: String,
    /// How many agents work at once.
    pub agents: u64,
    /// What all randomness comes from.
    pub seed: u64,
    /// When it began.
    pub started: String,
    /// The branch that it began on, without `refs/heads/`.
    pub branch: String,
    /// The same content can have different scores.
    pub noisy: bool,
    /// The best attempt; 0 where nothing is better than the baseline.
    pub best: Id,
    /// Its score.
    pub best_score: Option<f64>,
    /// The baseline's score.
    pub baseline: Option<f64>,
    /// Why it ended, if it did: a word.
    pub ended: Option<&'static str>,
    /// The same in a sentence.
    pub ended_words: Option<String>,
    /// It can be gone on with: it has not ended, or not for good.
    #[serde(skip)]
    pub can_go_on: bool,
    /// How many attempts ended how, in the order in which endings first appeared.
    pub endings: Vec<(&'static str, u64)>,
    /// What is used of its limits.
    pub limits: Vec<Limit>,
    /// What its agents reported of their use.
    pub spent: Spent,
    /// What winner and baseline scored at the end.
    pub shown: Option<Shown>,
    /// Why they could not be measured at the end.
    pub last_failed: Option<String>,
    /// From the baseline to the best.
    pub way: Vec<Id>,
    /// Branches that the best is on, as far as somebody looked.
    #[serde(skip)]
    pub applied: Vec<String>,
    /// The log of the newest agent that failed, as far as somebody looked.
    #[serde(skip)]
    pub failed_log: Option<String>,
    /// What is under way or comes next.
    pub ahead: Vec<Ahead>,
    /// The generation that comes next: a session that is at work asks a person about it first, unless nobody wants that.
    #[serde(skip)]
    pub asked_about: Option<u64>,
    /// All attempts by their number, the baseline first.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// The generations of a population.
    pub generations: Vec<Generation>,
    /// The scores of the attempts that have their ending, and the best so far.
    #[serde(skip)]
    pub curve: Vec<Point>,
}

impl Overview {
    /// Returns an attempt's row.
    pub fn row(&self, id: Id) -> Option<&Row> {
        self.rows.get(usize::try_from(id).ok()?)
    }

    /// Says of an attempt whose score is better than that of the best, which it is not, that this may be luck: `, maybe luck`.
    pub fn doubt(&self, row: &Row) -> &'static str {
        let is_better = |(own, best)| self.direction.is_better(own, best);
        let is_ahead = row.score.zip(self.best_score).is_some_and(is_better);
        match is_ahead && row.rank.is_some() && !row.best && !row.pruned && !row.is_baseline() {
            true => ", maybe luck",
            false => "",
        }
    }

    /// Returns how many attempts there are, whatever they came to.
    pub fn attempts(&self) -> u64 {
        self.rows.len().saturating_sub(1) as u64
    }

    /// Returns the newest attempt where the agent failed in each of them; none where one came to anything else.
    pub fn failed_throughout(&self) -> Option<&Row> {
        let ended = self.rows.iter().filter(|row| row.ending != UNDER_WAY);
        let mut attempts = ended.filter(|row| !row.is_baseline());
        let newest = attempts.clone().next_back();
        newest.filter(|_| attempts.all(|row| row.ending == AGENT_FAILED))
    }

    /// Returns how scores of this search are written.
    pub fn digits(&self) -> Digits {
        let scores = self.rows.iter().filter_map(|row| row.score);
        Digits::of(scores)
    }

    /// Returns the rows in the order of a leaderboard: those with a rank first, then what else has a score, then the rest.
    pub fn ranked(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let better_first = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => self.direction.better_first(a, b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        rows.sort_by(|a, b| {
            let last = |row: &Row| row.rank.unwrap_or(u64::MAX);
            let by_score = better_first(a.score, b.score);
            last(a).cmp(&last(b)).then(by_score).then(a.id.cmp(&b.id))
        });
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_few_digits() {
        let shown = [0.0, 0.314_159, -12.0, 1234.5, -0.000_012_3, 1e-9].map(signed);
        assert_eq!(
            shown,
            ["±0", "+0.314", "-12", "+1234", "-0.0000123", "+1e-9"]
        );
        let shown = [0.0, 5.25, -0.0407, 250.4, 99.96].map(in_percent);
        assert_eq!(shown, ["±0 %", "+5.2 %", "-0.04 %", "+250 %", "+100.0 %"]);
    }

    #[test]
    fn a_row_says_how_it_is_made() {
        let row = |operator, parents: &[Id]| Row {
            operator: Some(operator),
            parents: parents.to_vec(),
            ..Row::default()
        };
        assert_eq!(
            row(Operator::Mutation, &[0]).made(),
            "mutation of the baseline"
        );
        assert_eq!(
            row(Operator::Crossover, &[3, 5]).made(),
            "crossover of 3 and 5"
        );
        assert_eq!(row(Operator::Fresh, &[0]).made(), "fresh");
        assert_eq!(Row::default().made(), "the untouched code");
    }
}
