//! A search as views show it, found from its lineage. Pure.

use super::ending::{median, scored};
use super::population::{self, generation_of};
use super::standing::Standing;
use super::{Next, Task, begins_generation, next, reason};
use crate::model::search::lineage::{
    Edited, Id, Lineage, Measure, Measured, Outcome, Proposal, Request, Strategy,
};
use crate::model::search::view::{
    Ahead, BASELINE, Generation, Limit, Overview, Point, Row, Sampled, Shown, UNDER_WAY, name,
    percent,
};
use crate::model::usage::{Spent, Usage};

/// Returns a search, called by its number, as views show it.
pub fn of(lineage: &Lineage, search: u64) -> Overview {
    let standing = has_baseline(lineage).then(|| Standing::of(lineage));
    let plan = &lineage.plan;
    let Request {
        objective,
        fitness,
        started,
        branch,
        ..
    } = plan.request.clone();
    let rows = standing.as_ref().map_or_else(|| bare_rows(lineage), rows);
    let best = standing.as_ref().map_or(0, Standing::winner);
    let end = lineage.end.as_ref();
    Overview {
        search,
        strategy: plan.strategy.word(),
        direction: plan.direction,
        objective,
        fitness,
        agents: plan.agents,
        seed: plan.seed,
        started,
        branch: branch.trim_start_matches("refs/heads/").to_owned(),
        noisy: standing.as_ref().is_some_and(|one| !one.is_deterministic),
        best,
        best_score: rows[best as usize].score,
        baseline: rows[0].score,
        ended: end.map(|end| end.why.word()),
        can_go_on: end.is_none_or(|end| end.why.can_go_on()),
        ended_words: end.map(|end| end.why.words().to_owned()),
        endings: endings(&rows),
        limits: limits(lineage, standing.as_ref()),
        spent: lineage.spent(),
        shown: last_shown(lineage, best),
        last_failed: last_failed(lineage, best),
        way: way(lineage, best),
        applied: Vec::new(),
        failed_log: None,
        ahead: ahead(lineage),
        asked_about: asked_about(lineage),
        generations: standing.as_ref().map_or_else(Vec::new, generations),
        curve: standing.as_ref().map_or_else(Vec::new, curve),
        rows,
    }
}

/// Returns the row of an attempt that has its ending, as it stands at that moment.
pub fn ended_row(standing: &Standing, id: Id) -> Row {
    let settled = standing.settled(id);
    let mut row = bare_row(standing.lineage, id);
    row.ending = match id {
        0 => BASELINE,
        _ => settled.ending.words(),
    };
    row.score = standing.score(id);
    let delta = row.score.zip(standing.score(0)).map(|(own, of)| own - of);
    row.delta = delta;
    row.percent = percent(row.score, standing.score(0));
    row.new_best = settled.is_new_best && id > 0;
    row.pruned = standing.is_pruned(id, Id::MAX);
    row.reason = reason::of(standing, id);
    row
}

/// Returns how an attempt was measured.
pub fn sampled(lineage: &Lineage, id: Id) -> Vec<Sampled> {
    let measured = lineage.attempt(id).measured.iter();
    measured
        .map(|(what, measured)| one_sampled(*what, measured))
        .collect()
}

/// Returns a measurement as views show it.
pub fn one_sampled(what: Measure, measured: &Measured) -> Sampled {
    let (samples, beside_samples, reason) = match measured.outcome.clone() {
        Outcome::Scored { samples, beside } => (samples, beside, None),
        Outcome::GateFailed(why) => (Vec::new(), Vec::new(), Some(why)),
        Outcome::Invalid(why) => (Vec::new(), Vec::new(), Some(why)),
    };
    Sampled {
        purpose: what.word(),
        beside: what.beside(),
        samples,
        beside_samples,
        reason,
        duration_s: measured.duration_s,
    }
}

/// Says whether the baseline has a score, without which nothing else has one.
fn has_baseline(lineage: &Lineage) -> bool {
    let first = lineage.attempt(0).measurement(Measure::First);
    first.is_some_and(|first| scored(&first.outcome).is_some())
}

fn bare_rows(lineage: &Lineage) -> Vec<Row> {
    (0..=lineage.newest())
        .map(|id| bare_row(lineage, id))
        .collect()
}

/// Returns what is known of an attempt without its ending.
fn bare_row(lineage: &Lineage, id: Id) -> Row {
    let attempt = lineage.attempt(id);
    let mut spent = Spent::default();
    for edited in &attempt.edits {
        spent.add(usage(edited));
    }
    let edited = attempt.edits.last();
    let proposal = attempt.proposal.as_ref();
    Row {
        id,
        operator: proposal.map(|one| one.operator),
        parents: proposal.map_or_else(Vec::new, |one| one.parents.clone()),
        lens: proposal.and_then(|one| one.lens.clone()),
        ending: UNDER_WAY,
        summary: edited.and_then(|edited| edited.summary.clone()),
        left_out: edited.map_or_else(Vec::new, |edited| edited.left_out.clone()),
        leaned_on: attempt
            .measurement(Measure::First)
            .map_or_else(Vec::new, |first| first.leaned_on.clone()),
        agent_s: sum(attempt.edits.iter().map(|edited| edited.duration_s)),
        measured_s: sum(attempt.measured.values().map(|one| one.duration_s)),
        spent,
        ..Row::default()
    }
}

/// Adds up; of nothing the sum is 0, and not the -0 that floats begin with.
fn sum(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.fold(0.0, |sum, one| sum + one)
}

fn usage(edited: &Edited) -> Usage {
    Usage {
        tokens: edited.tokens,
        cost_usd: edited.cost_usd,
    }
}

fn rows(standing: &Standing) -> Vec<Row> {
    let lineage = standing.lineage;
    let ended = (0..standing.len()).map(|id| ended_row(standing, id));
    let open = (standing.len()..=lineage.newest()).map(|id| bare_row(lineage, id));
    let mut rows: Vec<Row> = ended.chain(open).collect();
    rows[standing.winner() as usize].best = true;
    for row in &mut rows[standing.len() as usize..] {
        row.pruned = standing.is_pruned(row.id, Id::MAX);
    }
    let mut ranked = standing.ranked(0..standing.len(), Id::MAX);
    put_before_equals(&mut ranked, standing.winner(), |id| standing.score(id));
    for (place, id) in (1..).zip(ranked) {
        rows[id as usize].rank = Some(place);
    }
    rows
}

/// Moves one of ranked attempts before those that are as good as it.
fn put_before_equals(ranked: &mut [Id], one: Id, score: impl Fn(Id) -> Option<f64>) {
    let Some(at) = ranked.iter().position(|id| *id == one) else {
        return;
    };
    let better = ranked[..at].iter().rposition(|id| score(*id) != score(one));
    ranked[better.map_or(0, |at| at + 1)..=at].rotate_right(1);
}

/// Counts how the attempts ended.
fn endings(rows: &[Row]) -> Vec<(&'static str, u64)> {
    let mut counts: Vec<(&'static str, u64)> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_baseline()) {
        match counts.iter_mut().find(|(ending, _)| *ending == row.ending) {
            Some((_, count)) => *count += 1,
            None => counts.push((row.ending, 1)),
        }
    }
    counts
}

/// Returns the best score after each attempt that has its ending.
fn curve(standing: &Standing) -> Vec<Point> {
    let point = |id| Point {
        id,
        score: standing.score(id),
        best: standing.score(standing.best_after(id)),
    };
    (0..standing.len()).map(point).collect()
}

/// Returns what attempt `id` came from, the baseline first; of two parents the one that its agent started from.
fn way(lineage: &Lineage, id: Id) -> Vec<Id> {
    let mut way = vec![id];
    while let Some(proposal) = way.last().and_then(|id| lineage.proposal(*id)) {
        way.extend(proposal.parents.first());
    }
    way.reverse();
    way
}

/// Returns what the last measurement of an attempt, beside the untouched code, shows of it; none where it was not made.
pub fn last_shown(lineage: &Lineage, best: Id) -> Option<Shown> {
    let last = lineage.attempt(best).measurement(Measure::Last)?;
    let (own, beside) = scored(&last.outcome)?;
    Some(Shown {
        winner: median(own)?,
        baseline: median(beside)?,
        better: lineage.plan.direction.are_all_better(own, beside),
    })
}

/// Says why an attempt could not be measured for the last time; none where it was, or was not tried.
fn last_failed(lineage: &Lineage, best: Id) -> Option<String> {
    let last = lineage.attempt(best).measurement(Measure::Last)?;
    match &last.outcome {
        Outcome::Scored { .. } => None,
        Outcome::GateFailed(why) | Outcome::Invalid(why) => Some(why.clone()),
    }
}

/// Returns the generations so far, as far as they are settled.
pub fn generations(standing: &Standing) -> Vec<Generation> {
    let Strategy::Population(plan) = &standing.lineage.plan.strategy else {
        return Vec::new();
    };
    let mut shown = Vec::new();
    let mut generation = population::first(plan);
    while generation.last < standing.len() {
        let following = population::following(plan, standing, &generation);
        let mut row = generation_row(standing, generation.first, generation.last);
        row.number = generation.number;
        row.stale =
            match (generation.first..=generation.last).any(|id| standing.settled(id).is_new_best) {
                true => 0,
                false => generation.stale + 1,
            };
        row.survivors = following
            .as_ref()
            .map_or_else(|_| Vec::new(), |next| next.survivors.clone());
        shown.push(row);
        match following {
            Ok(next) => generation = next,
            Err(_) => break,
        }
    }
    shown
}

fn generation_row(standing: &Standing, first: Id, last: Id) -> Generation {
    let direction = standing.lineage.plan.direction;
    let valid = (first..=last).filter(|id| standing.settled(*id).ending.is_valid());
    let valid: Vec<Id> = valid.collect();
    // What a person took out counts no more, whenever that was.
    let is_in = |id: &&Id| !standing.is_pruned(**id, Id::MAX);
    let living = valid.iter().filter(is_in);
    let mut scores: Vec<f64> = living.filter_map(|id| standing.score(*id)).collect();
    scores.sort_by(|a, b| direction.better_first(*a, *b));
    let best_after = |id| standing.score(standing.winner_after(id));
    let moved = best_after(last).zip(best_after(first - 1));
    Generation {
        first,
        last,
        valid: valid.len() as u64,
        best: scores.first().copied(),
        mean: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
        gained: moved.map(|(now, before)| now - before),
        ..Generation::default()
    }
}

/// Returns what is used of the limits that there are; they are there before anything has a score.
fn limits(lineage: &Lineage, standing: Option<&Standing>) -> Vec<Limit> {
    let plan = &lineage.plan;
    let mut limits = Vec::new();
    let mut limit = |name, used: Option<f64>, of: Option<f64>| {
        limits.extend(of.map(|of| Limit { name, used, of }));
    };
    let adjusted = lineage.adjusted(Id::MAX);
    let number = |of: Option<u64>| of.filter(|of| *of < u64::MAX).map(|of| of as f64);
    let most = adjusted.max_attempts.or(plan.max_attempts);
    limit("attempts", Some(lineage.newest() as f64), number(most));
    let stale = match &plan.strategy {
        Strategy::Climb => standing.map_or(0, |standing| {
            let last = (0..standing.len())
                .rev()
                .find(|id| standing.settled(*id).is_new_best);
            standing.len() - 1 - last.unwrap_or(0)
        }),
        Strategy::Population(population) => {
            let now = standing.and_then(|standing| {
                let now = generation_of(population, standing, lineage.newest().max(1));
                now.ok().flatten()
            });
            let now = match standing {
                Some(_) => now.as_ref().map(|now| now.number as f64),
                None => Some(1.0),
            };
            let most = adjusted.generations.unwrap_or(population.generations);
            limit("generations", now, Some(most as f64));
            let last = standing.and_then(|standing| generations(standing).pop());
            last.map_or(0, |last| last.stale)
        }
    };
    limit(
        "stale",
        Some(stale as f64),
        number(adjusted.stale.or(plan.stale)),
    );
    let best = standing.and_then(|standing| standing.score(standing.winner()));
    limit("until", best, plan.until);
    let below_all = |limit: Option<f64>| limit.filter(|limit| *limit < f64::MAX);
    let max_cost = below_all(adjusted.max_cost.or(plan.request.max_cost));
    limit("cost", lineage.spent().known_cost(), max_cost);
    let max_time_s = below_all(adjusted.max_time_s.or(plan.request.max_time_s));
    limit("time", None, max_time_s);
    limits
}

/// Returns what is to be done now.
fn ahead(lineage: &Lineage) -> Vec<Ahead> {
    if lineage.end.as_ref().is_some_and(|end| !end.why.can_go_on()) {
        return Vec::new();
    }
    match next(lineage, None) {
        Next::Do(tasks) => tasks.iter().map(|task| todo(lineage, task)).collect(),
        Next::Propose(proposal) => vec![Ahead {
            attempt: proposal.id,
            what: "propose",
            words: format!("attempt {} is proposed: {}", proposal.id, made(&proposal)),
        }],
        Next::End(_) => Vec::new(),
    }
}

/// Returns the generation that comes next, where that is what comes next.
fn asked_about(lineage: &Lineage) -> Option<u64> {
    match lineage.end.is_none().then(|| next(lineage, None)) {
        Some(Next::Propose(proposal)) => begins_generation(lineage, proposal.id),
        Some(Next::Do(_) | Next::End(_)) | None => None,
    }
}

fn todo(lineage: &Lineage, task: &Task) -> Ahead {
    match *task {
        Task::Edit { id, nth } => Ahead {
            attempt: id,
            what: "edit",
            words: format!(
                "an agent works on attempt {id}{}{}",
                lineage
                    .proposal(id)
                    .map_or(String::new(), |one| format!(", {}", made(one))),
                if nth > 0 { ", once more" } else { "" }
            ),
        },
        Task::Measure { id, what } => Ahead {
            attempt: id,
            what: "measure",
            words: format!("{} is measured{}", name(id), measured_for(what)),
        },
    }
}

/// Says what an attempt is measured for, behind that it is.
fn measured_for(what: Measure) -> String {
    match what {
        Measure::First => String::new(),
        Measure::Beside(other) => format!(" again beside {}", name(other)),
        Measure::HoldOut => " by the hold-out".to_owned(),
        Measure::Again(_) => " again, to see whether the environment changed".to_owned(),
        Measure::Last => " once more beside the baseline".to_owned(),
    }
}

fn made(proposal: &Proposal) -> String {
    let row = Row {
        operator: Some(proposal.operator),
        parents: proposal.parents.clone(),
        ..Row::default()
    };
    let lens = proposal.lens.as_ref();
    let lens = lens.map_or(String::new(), |lens| format!(", lens {lens}"));
    format!("{}{lens}", row.made())
}

#[cfg(test)]
mod tests;
