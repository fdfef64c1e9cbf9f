//! `climb`: varies the incumbent, as a plain hill climb does. Where that would end, it explores as long as it waited:
//! crossovers and fresh starts in turn, each bred on once. A new best goes back to climbing. Pure.

use super::standing::Standing;
use super::{Propose, Wish, proposal};
use crate::model::search::lineage::{Id, Operator, Proposal, Why};

/// The strategy; all it knows is in the lineage.
pub struct Climb;

impl Propose for Climb {
    fn horizon(&self, standing: &Standing, id: Id) -> Option<Id> {
        Some(id.saturating_sub(standing.lineage.plan.agents.max(1)))
    }

    fn propose(&self, seen: &Standing, id: Id) -> Wish {
        let lineage = seen.lineage;
        let vary = |parent| Wish::Propose(proposal(seen, id, Operator::Mutation, vec![parent]));
        let last_best = (0..seen.len())
            .rev()
            .find(|id| seen.settled(*id).is_new_best);
        let since = last_best.unwrap_or(0) + 1;
        let Some(stale) = lineage
            .plan
            .stale
            .filter(|stale| seen.len() - since >= *stale)
        else {
            return vary(seen.incumbent_for(id));
        };
        let proposed: Vec<&Proposal> = (since..id).filter_map(|id| lineage.proposal(id)).collect();
        let explorers = proposed
            .iter()
            .filter(|one| one.operator != Operator::Mutation);
        let explorers: Vec<Id> = explorers.map(|one| one.id).collect();
        let is_bred_on = |explorer: &Id| proposed.iter().any(|one| one.parents[..] == [*explorer]);
        let mut to_breed_on = explorers.iter().filter(|explorer| {
            **explorer < seen.len()
                && seen.settled(**explorer).ending.is_valid()
                && !seen.is_pruned(**explorer, id)
                && !is_bred_on(explorer)
        });
        match to_breed_on.next() {
            Some(explorer) => vary(*explorer),
            None if (explorers.len() as u64) < stale => {
                Wish::Propose(explore(seen, id, explorers.len()))
            }
            None => Wish::End(Why::Plateau),
        }
    }
}

/// Proposes the `nth` exploring attempt of a lull: crossovers of the incumbent with one other after another, the best first,
/// and fresh starts, in turn.
fn explore(seen: &Standing, id: Id, nth: usize) -> Proposal {
    let incumbent = seen.incumbent_for(id);
    let content = seen.lineage.content(incumbent);
    let mut others = seen.ranked(0..seen.len(), id);
    others.retain(|other| seen.lineage.content(*other) != content);
    match others.get((nth / 2) % others.len().max(1)) {
        Some(other) if nth.is_multiple_of(2) => {
            proposal(seen, id, Operator::Crossover, vec![incumbent, *other])
        }
        _ => proposal(seen, id, Operator::Fresh, vec![0]),
    }
}
