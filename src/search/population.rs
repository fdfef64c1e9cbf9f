//! `population`: generations, of which the better half lives on and the rest is bred anew. What bred attempts are made by
//! takes turns through the whole search. Pure.

use super::standing::{Generation, Standing};
use super::{Propose, Wish, proposal};
use crate::model::search::lineage::{Id, Operator, Population, Why};

/// What makes the bred attempts of a search, in turn: half mutations, a quarter each crossovers and fresh starts.
const OPERATORS: [Operator; 4] = [
    Operator::Mutation,
    Operator::Crossover,
    Operator::Mutation,
    Operator::Fresh,
];

impl Propose for Population {
    fn horizon(&self, standing: &Standing, id: Id) -> Option<Id> {
        match generation_of(self, standing, id) {
            Ok(generation) => generation.map(|generation| generation.first - 1),
            Err(_) => Some(id - 1),
        }
    }

    fn propose(&self, seen: &Standing, id: Id) -> Wish {
        let generation = match generation_of(self, seen, id) {
            Ok(Some(generation)) => generation,
            Ok(None) => return Wish::Wait,
            Err(why) => return Wish::End(why),
        };
        let (operator, parents) = match generation.number {
            1 => (Operator::Mutation, vec![0]),
            _ => bred(&generation, &generation.parents_for(seen, id), id),
        };
        Wish::Propose(proposal(seen, id, operator, parents))
    }
}

/// Returns the generation that attempt `id` is of, none if an earlier one is not settled, or why there is no such generation.
pub fn generation_of(
    plan: &Population,
    seen: &Standing,
    id: Id,
) -> Result<Option<Generation>, Why> {
    let known = seen.generation.clone().filter(|known| known.first <= id);
    let mut generation = known.unwrap_or_else(|| first(plan));
    while generation.last < id {
        if generation.last >= seen.len() {
            return Ok(None);
        }
        generation = following(plan, seen, &generation)?;
    }
    Ok(Some(generation))
}

/// Returns the first generation: each attempt a variation of the untouched code.
pub fn first(plan: &Population) -> Generation {
    Generation {
        number: 1,
        first: 1,
        last: plan.k,
        survivors: vec![0],
        living: vec![0],
        stale: 0,
        bred: 0,
    }
}

/// Returns the generation after one that has its endings, or why there is none.
pub fn following(
    plan: &Population,
    seen: &Standing,
    before: &Generation,
) -> Result<Generation, Why> {
    let first = before.last + 1;
    let changed = seen.lineage.adjusted(first);
    let k = changed.k.unwrap_or(plan.k).max(2);
    let stale = changed.stale.or(seen.lineage.plan.stale);
    let made = before.first..=before.last;
    let has_new_best = made.clone().any(|id| seen.settled(id).is_new_best);
    let lulls = match has_new_best {
        true => 0,
        false => before.stale + 1,
    };
    if before.number >= changed.generations.unwrap_or(plan.generations) {
        return Err(Why::Generations);
    }
    if stale.is_some_and(|stale| lulls >= stale) {
        return Err(Why::Plateau);
    }
    let survive = k.div_ceil(2);
    let lived_on = before.parents_for(seen, first);
    let mut living = seen.ranked(lived_on.into_iter().chain(made), first);
    if living.is_empty() {
        living.push(0);
    }
    let was_bred = match before.number {
        1 => 0,
        _ => before.last + 1 - before.first,
    };
    Ok(Generation {
        number: before.number + 1,
        first,
        last: before.last + (k - survive),
        survivors: living.iter().copied().take(survive as usize).collect(),
        living,
        stale: lulls,
        bred: before.bred + was_bred,
    })
}

impl Generation {
    /// Returns what attempt `id` can be made from, the better first: who lived on, and in the place of those who were pruned by then
    /// the next better ones.
    fn parents_for(&self, seen: &Standing, id: Id) -> Vec<Id> {
        let stands = |one: &Id| !seen.is_pruned(*one, id);
        let living = self.living.iter().copied().filter(stands);
        let parents: Vec<Id> = living.take(self.survivors.len()).collect();
        match parents.is_empty() {
            true => vec![0],
            false => parents,
        }
    }
}

/// Returns how an attempt of a generation after the first is made, and from which of `survivors`.
fn bred(generation: &Generation, survivors: &[Id], id: Id) -> (Operator, Vec<Id>) {
    let operator = |slot: u64| OPERATORS[((generation.bred + slot) % 4) as usize];
    let slot = id - generation.first;
    let nth = (0..slot)
        .filter(|slot| operator(*slot) == Operator::Mutation)
        .count();
    let mutation = || (Operator::Mutation, vec![survivors[nth % survivors.len()]]);
    match (operator(slot), survivors) {
        (Operator::Mutation, _) => mutation(),
        (Operator::Crossover, [best, second, ..]) => (Operator::Crossover, vec![*best, *second]),
        // There is nothing to cross the only survivor with.
        (Operator::Crossover, _) => mutation(),
        (Operator::Fresh, _) => (Operator::Fresh, vec![0]),
    }
}
