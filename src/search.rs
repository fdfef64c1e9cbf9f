//! What a search does next, decided from its lineage alone: the same for whatever order things finished in, so that going
//! on after a crash is reading. Pure.

pub mod climb;
pub mod dice;
pub mod ending;
pub mod lenses;
pub mod overview;
pub mod population;
pub mod reason;
pub mod standing;
pub mod way;

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

use crate::model::search::brief::Told;
use crate::model::search::lineage::{
    Id, Lineage, Measure, Operator, Outcome, Proposal, Strategy, Why,
};
use climb::Climb;
use standing::{Known, Standing};
use way::Way;

/// So many attempts in a row that came to nothing make the environment doubtful.
const ROW: usize = 10;

/// Something to be done; it names itself, and what the lineage says of it is never done again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// An agent works on an attempt.
    Edit {
        /// The attempt.
        id: Id,
        /// The how many-th agent, from 0.
        nth: usize,
    },
    /// An attempt is measured.
    Measure {
        /// The attempt.
        id: Id,
        /// Why.
        what: Measure,
    },
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This attempt joins the lineage.
    Propose(Proposal),
    /// These may be done, in any order and at once; the search goes on when one is.
    Do(Vec<Task>),
    /// Nothing is left to do.
    End(Why),
}

/// What a strategy wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// An attempt.
    Propose(Proposal),
    /// To see how more attempts end.
    Wait,
    /// Nothing more.
    End(Why),
}

/// How a strategy is asked.
trait Propose {
    /// Returns up to which attempt all endings have to be known before attempt `id` is proposed, and from which alone it is;
    /// none if that does not show yet.
    fn horizon(&self, standing: &Standing, id: Id) -> Option<Id>;

    /// Returns what is wanted as attempt `id`, seen from the attempts that `seen` has settled.
    fn propose(&self, seen: &Standing, id: Id) -> Wish;
}

/// Returns what comes next. With `stop`, no more attempts are proposed.
pub fn next(lineage: &Lineage, stop: Option<Why>) -> Next {
    next_from(&mut Known::default(), lineage, stop)
}

/// The same for a lineage that is asked again and again while it grows: what is known of it is not found out anew.
pub fn next_from(known: &mut Known, lineage: &Lineage, stop: Option<Why>) -> Next {
    if let Some(next) = begin(lineage) {
        return next;
    }
    let mut standing = Standing::from(std::mem::take(known), lineage);
    if let Strategy::Population(plan) = &lineage.plan.strategy
        && let Ok(Some(begun)) = population::generation_of(plan, &standing, lineage.newest() + 1)
    {
        standing.generation = Some(begun);
    }
    let next = next_of(&standing, stop);
    *known = standing.into_known();
    next
}

fn next_of(standing: &Standing, stop: Option<Why>) -> Next {
    let tasks: Vec<Task> = open_tasks(standing);
    let why = match stop.map_or_else(|| wish(standing), Wish::End) {
        Wish::Propose(proposal) => return Next::Propose(proposal),
        Wish::End(why) if standing.is_settled() => why,
        Wish::Wait | Wish::End(_) => match again(standing) {
            // The environment is doubtful: nothing else is worth its while.
            Some(task) => return Next::Do(vec![task]),
            None => return Next::Do(tasks),
        },
    };
    match last(standing) {
        Some(task) if why != Why::EnvironmentChanged => Next::Do(vec![task]),
        _ => Next::End(why),
    }
}

/// Says whether equal content always has an equal score, as far as the baseline shows.
pub fn is_deterministic(lineage: &Lineage) -> bool {
    let samples = ending::samples(lineage, 0, Measure::First);
    samples.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns the generation that attempt `id`, the next one, is the first of, if it is one and not of the first generation.
pub fn begins_generation(lineage: &Lineage, id: Id) -> Option<u64> {
    let Strategy::Population(plan) = &lineage.plan.strategy else {
        return None;
    };
    let generation = population::generation_of(plan, &Standing::of(lineage), id);
    let generation = generation.ok()??;
    (generation.first == id && generation.number > 1).then_some(generation.number)
}

/// Returns how many attempts there are at most, as it stands for attempt `id`.
fn most_attempts(lineage: &Lineage, id: Id) -> Option<u64> {
    lineage
        .adjusted(id)
        .max_attempts
        .or(lineage.plan.max_attempts)
}

/// Returns how the attempts stand, for a brief.
pub fn told(lineage: &Lineage) -> Told {
    let standing = Standing::of(lineage);
    let ended = |id| (standing.settled(id).ending.words(), standing.score(id));
    Told {
        best: standing.best(),
        endings: (0..standing.len()).map(ended).collect(),
    }
}

/// Returns what has to be known of the baseline first.
fn begin(lineage: &Lineage) -> Option<Next> {
    let baseline = lineage.attempt(0);
    let mut wanted = vec![Measure::First];
    wanted.extend(lineage.plan.has_holdout.then_some(Measure::HoldOut));
    for what in wanted {
        match baseline.measurement(what).map(|measured| &measured.outcome) {
            None => return Some(Next::Do(vec![Task::Measure { id: 0, what }])),
            Some(Outcome::Scored { .. }) => {}
            Some(_) => return Some(Next::End(Why::NoBaseline)),
        }
    }
    None
}

/// Returns what can be done for the attempts that have no ending yet.
fn open_tasks(standing: &Standing) -> Vec<Task> {
    let open = standing.len()..=standing.lineage.newest();
    let ways = open.map(|id| way::way(standing, id));
    ways.filter_map(|way| match way {
        Way::Do(task) => Some(task),
        Way::Wait | Way::Ended(_) => None,
    })
    .collect()
}

/// Returns what is wanted as the next attempt.
fn wish(standing: &Standing) -> Wish {
    let lineage = standing.lineage;
    let id = lineage.newest() + 1;
    // No more than can be worked on: a limit, or a person, may end the search before the others are begun.
    let open = (standing.len()..id).filter(|id| lineage.attempt(*id).edited().is_none());
    if open.count() as u64 >= lineage.plan.agents.max(1) {
        return Wish::Wait;
    }
    match is_enough_for(standing, id) {
        Some(false) => {}
        Some(true) | None if !standing.is_settled() => return Wish::Wait,
        _ if is_enough(standing) => return Wish::End(Why::Until),
        // A person pruned it meanwhile.
        _ => {}
    }
    let strategy: &dyn Propose = match &lineage.plan.strategy {
        Strategy::Climb => &Climb,
        Strategy::Population(population) => population,
    };
    let horizon = strategy.horizon(standing, id);
    let Some(horizon) = horizon.filter(|horizon| *horizon < standing.len()) else {
        return Wish::Wait;
    };
    match wish_from(strategy, &standing.up_to(horizon), id) {
        wish @ Wish::Propose(_) => wish,
        // An end is seen from everything before it.
        _ if standing.is_settled() => wish_from(strategy, standing, id),
        _ => Wish::Wait,
    }
}

/// Says whether the score that is wanted shows before attempt `id` is proposed, in whatever round that is: as far back as there
/// are agents at work. None if it does not show yet.
fn is_enough_for(standing: &Standing, id: Id) -> Option<bool> {
    let plan = &standing.lineage.plan;
    if plan.until.is_none() {
        return Some(false);
    }
    let horizon = id.saturating_sub(plan.agents.max(1));
    (horizon < standing.len()).then(|| is_enough(&standing.up_to(horizon)))
}

/// Says whether the best has the score that is wanted.
fn is_enough(seen: &Standing) -> bool {
    let plan = &seen.lineage.plan;
    let best = seen.score(seen.best());
    let is_reached = |until| best.is_some_and(|best| !plan.direction.is_better(until, best));
    plan.until.is_some_and(is_reached)
}

fn wish_from(strategy: &dyn Propose, seen: &Standing, id: Id) -> Wish {
    if is_enough(seen) {
        return Wish::End(Why::Until);
    }
    match doubt(seen).map(|at| outcome_again(seen, at)) {
        None | Some(Some(Outcome::Scored { .. })) => {}
        Some(None) => return Wish::Wait,
        Some(Some(_)) => return Wish::End(Why::EnvironmentChanged),
    }
    match most_attempts(seen.lineage, id).is_some_and(|most| id > most) {
        true => Wish::End(Why::MaxAttempts),
        false => strategy.propose(seen, id),
    }
}

/// Returns the newest attempt with which a row of attempts that came to nothing was complete. Those that were not measured
/// for another reason say nothing of the environment.
fn doubt(seen: &Standing) -> Option<Id> {
    let mut row = 0;
    let mut at = None;
    for id in 1..seen.len() {
        let ending = seen.settled(id).ending;
        if ending.is_nothing() {
            row += 1;
        } else if ending.is_valid() {
            row = 0;
        }
        if row == ROW {
            row = 0;
            at = Some(id);
        }
    }
    at
}

fn outcome_again<'l>(seen: &Standing<'l>, at: Id) -> Option<&'l Outcome> {
    let again = seen.lineage.attempt(0).measurement(Measure::Again(at));
    again.map(|measured| &measured.outcome)
}

/// Returns the measurement that tells whether the environment changed, if one is due.
fn again(standing: &Standing) -> Option<Task> {
    let at = doubt(standing).filter(|_| standing.is_settled())?;
    let task = Task::Measure {
        id: 0,
        what: Measure::Again(at),
    };
    outcome_again(standing, at).is_none().then_some(task)
}

/// Returns the measurement that shows what the winner is worth.
fn last(standing: &Standing) -> Option<Task> {
    let best = standing.best();
    let what = Measure::Last;
    let is_open = best > 0 && standing.lineage.attempt(best).measurement(what).is_none();
    is_open.then_some(Task::Measure { id: best, what })
}

/// Puts a proposal together; a mutation looks through the next lens.
fn proposal(seen: &Standing, id: Id, operator: Operator, parents: Vec<Id>) -> Proposal {
    let lens = match operator {
        Operator::Mutation => lenses::next(seen.lineage, id),
        Operator::Crossover | Operator::Fresh => None,
    };
    Proposal {
        id,
        operator,
        parents,
        lens,
    }
}
