//! Why an attempt ended as it did, in a sentence for people. Pure.

use super::ending::{self, Ending, scored};
use super::standing::Standing;
use crate::model::search::lineage::{Id, Measure, Outcome};
use crate::model::search::view::{Digits, name};

/// How many samples of each side are told.
const SAMPLES: usize = 5;

/// Returns why attempt `id`, which has its ending, ended so; nothing where that needs no words.
pub fn of(standing: &Standing, id: Id) -> Option<String> {
    let lineage = standing.lineage;
    if id == 0 {
        return noise(standing);
    }
    let edited = lineage.attempt(id).edited();
    let agent_says = || edited.and_then(|edited| edited.reason.clone());
    let settled = standing.settled(id);
    let first = || problem(standing, id, Measure::First);
    match settled.ending {
        Ending::Accepted if settled.is_new_best || standing.winner() == id => None,
        Ending::Accepted => Some(not_best(standing, id)),
        Ending::Equal => Some(format!("as good as {}", name(standing.root_of(id)))),
        Ending::Worse => Some(compared(standing, id, standing.root_of(id))),
        Ending::Unconfirmed => Some(unconfirmed(standing, id, standing.root_of(id))),
        Ending::GateFailed | Ending::Invalid => first(),
        Ending::Duplicate(first) => Some(format!("the content of {}", name(first))),
        Ending::Unchanged => Some(format!(
            "the content of its parent, {}",
            parent(standing, id)
        )),
        Ending::Declined | Ending::AgentFailed => agent_says(),
        Ending::Refuted => Some(refuted(standing, id)),
    }
}

/// Says between which numbers the samples of the untouched code are, where they differ.
fn noise(standing: &Standing) -> Option<String> {
    let samples = ending::samples(standing.lineage, 0, Measure::First);
    let least = samples.iter().copied().reduce(f64::min)?;
    let most = samples.iter().copied().reduce(f64::max)?;
    let digits = Digits::of(samples.iter().copied());
    let range = format!("noisy, {} to {}", digits.show(least), digits.show(most));
    (!standing.is_deterministic).then_some(range)
}

fn parent(standing: &Standing, id: Id) -> String {
    let proposal = standing.lineage.proposal(id);
    name(
        proposal
            .and_then(|one| one.parents.first().copied())
            .unwrap_or(0),
    )
}

/// Says why an accepted attempt is not the best.
fn not_best(standing: &Standing, id: Id) -> String {
    let best = standing.best_after(id - 1);
    if standing.is_pruned(best, Id::MAX) {
        return format!("not the best: {}", not_in_its_place(standing, id));
    }
    match standing
        .lineage
        .attempt(id)
        .measurement(Measure::Beside(best))
    {
        Some(_) if best != standing.root_of(id) => {
            format!("not the best: {}", unconfirmed(standing, id, best))
        }
        _ => format!("not the best: {}", compared(standing, id, best)),
    }
}

/// Says why an accepted attempt is not the best in the place of a pruned one that was ahead of it.
fn not_in_its_place(standing: &Standing, id: Id) -> String {
    let plan = &standing.lineage.plan;
    let best = standing.winner();
    let scores = standing.score(id).zip(standing.score(best));
    match scores.is_some_and(|(own, best)| plan.direction.is_better(own, best)) {
        true if plan.has_holdout => "it was not held against the hold-out".to_owned(),
        true => unconfirmed(standing, id, best),
        false => compared(standing, id, best),
    }
}

/// Says what the other one scored.
fn compared(standing: &Standing, id: Id, other: Id) -> String {
    // Later samples may show otherwise.
    if standing.compare(id, other).is_lt() && standing.score(other).is_some() {
        return format!("{} was ahead of it then", name(other));
    }
    let scores = [standing.score(id), standing.score(other)];
    let digits = Digits::of(scores.into_iter().flatten());
    match standing.score(other) {
        Some(score) => format!("{} has {}", name(other), digits.show(score)),
        None => format!("{} has no score", name(other)),
    }
}

/// Says with which samples an attempt did not beat another one.
fn unconfirmed(standing: &Standing, id: Id, other: Id) -> String {
    let what = Measure::Beside(other);
    let Some(measured) = standing.lineage.attempt(id).measurement(what) else {
        return format!("not confirmed against {}", name(other));
    };
    match scored(&measured.outcome) {
        Some((own, beside)) => {
            let digits = Digits::of(own.iter().chain(beside).copied());
            let list = |samples: &[f64]| {
                let shown = samples.iter().take(SAMPLES);
                let shown: Vec<String> = shown.map(|one| digits.show(*one)).collect();
                let more = if samples.len() > SAMPLES { ", …" } else { "" };
                format!("{}{more}", shown.join(", "))
            };
            format!(
                "measured again beside {}: {} against {}",
                name(other),
                list(own),
                list(beside)
            )
        }
        None => format!(
            "measured again beside {}: {}",
            name(other),
            problem(standing, id, what).unwrap_or_default()
        ),
    }
}

/// Says what the hold-out found.
fn refuted(standing: &Standing, id: Id) -> String {
    let what = Measure::HoldOut;
    if let Some(why) = problem(standing, id, what) {
        return format!("the hold-out: {why}");
    }
    let middle = |id| ending::median(ending::samples(standing.lineage, id, what));
    let (Some(own), Some(baseline)) = (middle(id), middle(0)) else {
        return "the hold-out has no score".to_owned();
    };
    let digits = Digits::of([own, baseline]);
    format!(
        "the hold-out scores {}, that of the baseline {}",
        digits.show(own),
        digits.show(baseline)
    )
}

/// Returns why a measurement has no score.
fn problem(standing: &Standing, id: Id, what: Measure) -> Option<String> {
    match &standing.lineage.attempt(id).measurement(what)?.outcome {
        Outcome::GateFailed(why) | Outcome::Invalid(why) => Some(why.clone()),
        Outcome::Scored { .. } => None,
    }
}
