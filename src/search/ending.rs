//! What an attempt came to, and the samples that were taken of it. Pure.

use crate::model::search::lineage::{Id, Lineage, Measure, Outcome};
use crate::model::search::view::AGENT_FAILED;

/// What an attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Valid and better than its nearest accepted ancestor.
    Accepted,
    /// As good as that; only where the fitness command is deterministic.
    Equal,
    /// Valid and not better.
    Worse,
    /// It looked better, and was not when both were measured again.
    Unconfirmed,
    /// A gate did not pass.
    GateFailed,
    /// It has no score.
    Invalid,
    /// An earlier attempt, or the baseline, has the same content.
    Duplicate(Id),
    /// It has its parent's content.
    Unchanged,
    /// The agent gave up.
    Declined,
    /// The agent failed, twice.
    AgentFailed,
    /// Better by the fitness command, and worse than the baseline by the hold-out.
    Refuted,
}

impl Ending {
    /// Returns the words used in files and messages.
    pub fn words(self) -> &'static str {
        match self {
            Ending::Accepted => "accepted",
            Ending::Equal => "equal",
            Ending::Worse => "worse",
            Ending::Unconfirmed => "unconfirmed",
            Ending::GateFailed => "gate failed",
            Ending::Invalid => "invalid",
            Ending::Duplicate(_) => "duplicate",
            Ending::Unchanged => "unchanged",
            Ending::Declined => "declined",
            Ending::AgentFailed => AGENT_FAILED,
            Ending::Refuted => "refuted",
        }
    }

    /// Says whether nothing that could be measured came of it.
    pub fn is_nothing(self) -> bool {
        matches!(
            self,
            Ending::GateFailed | Ending::Invalid | Ending::AgentFailed
        )
    }

    /// Says whether it has a score and content of its own, and nothing speaks against it.
    pub fn is_valid(self) -> bool {
        match self {
            Ending::Accepted | Ending::Equal | Ending::Worse | Ending::Unconfirmed => true,
            Ending::GateFailed
            | Ending::Invalid
            | Ending::Duplicate(_)
            | Ending::Unchanged
            | Ending::Declined
            | Ending::AgentFailed
            | Ending::Refuted => false,
        }
    }
}

/// An attempt that has its ending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// What it came to.
    pub ending: Ending,
    /// Its score: that of its first one for a duplicate, its parent's where nothing changed.
    pub score: Option<f64>,
    /// Its nearest accepted ancestor, or itself where it is accepted.
    pub root: Id,
    /// Whether it was the best when it ended.
    pub is_new_best: bool,
}

/// Returns the middle of some samples, the mean of two middle ones.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len(), sorted.len() % 2) {
        (0, _) => None,
        (_, 0) => Some(sorted[middle - 1].midpoint(sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

/// Returns the samples of a measurement, if there are.
pub fn scored(outcome: &Outcome) -> Option<(&[f64], &[f64])> {
    match outcome {
        Outcome::Scored { samples, beside } => Some((samples, beside)),
        Outcome::GateFailed(_) | Outcome::Invalid(_) => None,
    }
}

/// Returns an attempt's confirming samples, else its first.
pub fn own_samples(lineage: &Lineage, id: Id) -> Vec<f64> {
    let measured = &lineage.attempt(id).measured;
    let confirming = measured
        .iter()
        .filter(|(what, _)| matches!(what, Measure::Beside(_)))
        .filter_map(|(_, measured)| scored(&measured.outcome));
    let own: Vec<f64> = confirming.flat_map(|(own, _)| own).copied().collect();
    match own.is_empty() {
        true => samples(lineage, id, Measure::First).to_vec(),
        false => own,
    }
}

/// Returns how a measurement went, none before it was done.
pub fn outcome(lineage: &Lineage, id: Id, what: Measure) -> Option<&Outcome> {
    let measured = lineage.attempt(id).measurement(what)?;
    Some(&measured.outcome)
}

/// Returns the samples of a measurement, none where there are none.
pub fn samples(lineage: &Lineage, id: Id, what: Measure) -> &[f64] {
    let outcome = outcome(lineage, id, what).and_then(scored);
    outcome.map_or(&[], |(samples, _)| samples)
}
