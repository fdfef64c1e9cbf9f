//! The way of an attempt, the same in every strategy: an edit, gates and samples, a confirmation where the fitness command
//! is noisy, the hold-out, an ending. Pure.

use super::Task;
use super::ending::{Ending, Settled, median, outcome, own_samples, samples, scored};
use super::standing::{Known, Standing};
use crate::model::search::lineage::{Id, Lineage, Measure, Outcome, Status};

/// How it goes on with an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// This is to be done for it.
    Do(Task),
    /// Others have to come further first.
    Wait,
    /// It has its ending.
    Ended(Settled),
}

impl<'l> Standing<'l> {
    /// Finds out how a lineage stands whose baseline has a score: as far as each attempt has its ending.
    pub fn of(lineage: &'l Lineage) -> Standing<'l> {
        Standing::from(Known::default(), lineage)
    }

    /// The same, from what was known of this lineage when it was shorter.
    pub fn from(known: Known, lineage: &'l Lineage) -> Standing<'l> {
        let mut standing = Standing::begin(known, lineage);
        for id in standing.len()..=lineage.newest() {
            let Way::Ended(settled) = way(&standing, id) else {
                break;
            };
            standing.settle(id, settled);
        }
        standing
    }
}

/// Returns how it goes on with attempt `id`. All that `standing` has settled is before it.
pub fn way(standing: &Standing, id: Id) -> Way {
    let lineage = standing.lineage;
    let attempt = lineage.attempt(id);
    let Some(edited) = attempt.edited() else {
        let nth = attempt.edits.len();
        return Way::Do(Task::Edit { id, nth });
    };
    let ending = match edited.status {
        Status::Changed => return with_content(standing, id),
        Status::Unchanged => Ending::Unchanged,
        Status::Declined => Ending::Declined,
        Status::Failed => Ending::AgentFailed,
    };
    let parent = first_parent(lineage, id);
    let is_unchanged = ending == Ending::Unchanged;
    ended(
        standing,
        id,
        ending,
        standing.score(parent).filter(|_| is_unchanged),
    )
}

/// Goes on with an attempt that has a content.
fn with_content(standing: &Standing, id: Id) -> Way {
    let lineage = standing.lineage;
    let content = lineage.content(id);
    if content == lineage.content(first_parent(lineage, id)) {
        let score = standing.score(first_parent(lineage, id));
        return ended(standing, id, Ending::Unchanged, score);
    }
    // Whether it is the first with this content shows when all before it have theirs.
    if (standing.len()..id).any(|before| lineage.attempt(before).edited().is_none()) {
        return Way::Wait;
    }
    match content.and_then(|content| lineage.first_with(content)) {
        Some(first) if first < id && first < standing.len() => {
            let score = standing.score(first);
            ended(standing, id, Ending::Duplicate(first), score)
        }
        Some(first) if first < id => Way::Wait,
        _ => with_first_samples(standing, id),
    }
}

/// Goes on with an attempt of a content of its own.
fn with_first_samples(standing: &Standing, id: Id) -> Way {
    let ending = match outcome(standing.lineage, id, Measure::First) {
        None => return measure(id, Measure::First),
        Some(Outcome::Scored { .. }) => return held_against_root(standing, id),
        Some(Outcome::GateFailed(_)) => Ending::GateFailed,
        Some(Outcome::Invalid(_)) => Ending::Invalid,
    };
    ended(standing, id, ending, None)
}

/// Holds a valid attempt against its nearest accepted ancestor.
fn held_against_root(standing: &Standing, id: Id) -> Way {
    // Under noise its ancestor's score is that of all samples that were taken of it for the attempts before.
    if !standing.is_deterministic && standing.len() < id {
        return Way::Wait;
    }
    let direction = standing.lineage.plan.direction;
    let root = standing.root_of(id);
    let first = median(samples(standing.lineage, id, Measure::First));
    let (Some(score), Some(to_beat)) = (first, standing.score(root)) else {
        return ended(standing, id, Ending::Invalid, None);
    };
    if standing.is_deterministic && score == to_beat {
        return ended(standing, id, Ending::Equal, first);
    }
    if !direction.is_better(score, to_beat) {
        return ended(standing, id, Ending::Worse, first);
    }
    match confirmed(standing, id, root) {
        Confirmed::Yes => held_against_best(standing, id),
        Confirmed::No => ended(standing, id, Ending::Unconfirmed, own_score(standing, id)),
        Confirmed::Not(task) => Way::Do(task),
    }
}

/// Holds an accepted attempt against the best.
fn held_against_best(standing: &Standing, id: Id) -> Way {
    // Which one that is shows when all before it have their endings.
    if standing.len() < id {
        return Way::Wait;
    }
    let best = standing.best();
    let score = own_score(standing, id);
    let direction = standing.lineage.plan.direction;
    let is_better = |score, best| direction.is_better(score, best);
    let looks_better = score
        .zip(standing.score_beside(best, id))
        .is_some_and(|(score, best)| is_better(score, best));
    if !looks_better || standing.is_pruned(id, id) {
        return accepted(id, score, false);
    }
    match confirmed(standing, id, best) {
        Confirmed::Yes => held_against_holdout(standing, id, score),
        Confirmed::No => accepted(id, score, false),
        Confirmed::Not(task) => Way::Do(task),
    }
}

/// Holds a new best against the hold-out, if there is one.
fn held_against_holdout(standing: &Standing, id: Id, score: Option<f64>) -> Way {
    if !standing.lineage.plan.has_holdout {
        return accepted(id, score, true);
    }
    let Some(outcome) = outcome(standing.lineage, id, Measure::HoldOut) else {
        return measure(id, Measure::HoldOut);
    };
    let baseline = samples(standing.lineage, 0, Measure::HoldOut);
    let direction = standing.lineage.plan.direction;
    let is_worse = |samples: &[f64]| {
        let scores = median(samples).zip(median(baseline));
        scores.is_none_or(|(score, baseline)| direction.is_better(baseline, score))
    };
    match scored(outcome) {
        Some((samples, _)) if !is_worse(samples) => accepted(id, score, true),
        _ => ended(standing, id, Ending::Refuted, score),
    }
}

/// Whether one attempt is better than another.
enum Confirmed {
    Yes,
    No,
    /// This has to be measured first.
    Not(Task),
}

/// Says whether an attempt that looks better than another is: every sample of it, measured interleaved with the other's.
/// Where the fitness command is deterministic, what looks better is.
fn confirmed(standing: &Standing, id: Id, other: Id) -> Confirmed {
    if standing.is_deterministic {
        return Confirmed::Yes;
    }
    let what = Measure::Beside(other);
    let Some(outcome) = outcome(standing.lineage, id, what) else {
        return Confirmed::Not(Task::Measure { id, what });
    };
    let direction = standing.lineage.plan.direction;
    match scored(outcome) {
        Some((own, beside)) if direction.are_all_better(own, beside) => Confirmed::Yes,
        _ => Confirmed::No,
    }
}

/// Returns an attempt's score: the median of its own samples.
fn own_score(standing: &Standing, id: Id) -> Option<f64> {
    median(&own_samples(standing.lineage, id))
}

fn measure(id: Id, what: Measure) -> Way {
    Way::Do(Task::Measure { id, what })
}

fn accepted(id: Id, score: Option<f64>, is_new_best: bool) -> Way {
    Way::Ended(Settled {
        ending: Ending::Accepted,
        score,
        root: id,
        is_new_best,
    })
}

/// Ends an attempt that is not accepted.
fn ended(standing: &Standing, id: Id, ending: Ending, score: Option<f64>) -> Way {
    let root = match ending {
        Ending::Duplicate(first) => standing.settled(first).root,
        _ => standing.root_of(id),
    };
    Way::Ended(Settled {
        ending,
        score,
        root,
        is_new_best: false,
    })
}

fn first_parent(lineage: &Lineage, id: Id) -> Id {
    let parents = lineage.proposal(id).map(|proposal| &proposal.parents);
    parents
        .and_then(|parents| parents.first().copied())
        .unwrap_or(0)
}
