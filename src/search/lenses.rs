//! Through which lens an agent looks: the lenses take turns in the seed's order, so that none comes twice before each came
//! once. Pure.

use crate::model::search::lineage::{Id, Lineage};

/// Returns the lens of attempt `id`; none where there are none.
pub fn next(lineage: &Lineage, id: Id) -> Option<String> {
    let adjusted = lineage.adjusted(id).lenses;
    let lenses = adjusted.as_ref().unwrap_or(&lineage.plan.lenses);
    let earlier = lineage.attempts.iter().take(id as usize);
    let looked = |attempt: &&crate::model::search::lineage::Attempt| {
        attempt
            .proposal
            .as_ref()
            .is_some_and(|proposal| proposal.lens.is_some())
    };
    let turn = earlier.filter(looked).count();
    lenses.get(turn.checked_rem(lenses.len())?).cloned()
}
