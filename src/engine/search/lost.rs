//! Commits of attempts that the repository has no more: somebody removed their refs, and git what nothing holds.

use super::commit;
use crate::effects::repo::Repo;
use crate::effects::search::store::Store;
use crate::error::Error;
use crate::model::lineage::{Id, Lineage, Measure};
use crate::model::search_view::name;
use crate::model::text;
use crate::search::ending::Ending;
use crate::search::standing::Standing;

/// The most attempts that are named.
const NAMED: usize = 5;

/// Returns the error of a search that cannot go on because what further attempts may be made from is gone, if it is.
pub fn of_search(repo: &Repo, store: &Store, lineage: &Lineage) -> Option<Error> {
    let first = lineage.attempt(0).measurement(Measure::First);
    let standing = first.map(|_| Standing::of(lineage));
    let is_needed = |id: &Id| {
        let settled = standing.as_ref().filter(|standing| *id < standing.len());
        settled.is_none_or(|standing| {
            let is_bad = matches!(
                standing.settled(*id).ending,
                Ending::GateFailed | Ending::Invalid | Ending::Refuted
            );
            *id == 0 || !is_bad && !standing.is_pruned(*id, Id::MAX)
        })
    };
    let needed: Vec<Id> = (0..=lineage.newest()).filter(is_needed).collect();
    of(repo, (store, lineage), &needed)
}

/// Returns the error of attempts whose commits are gone; none if all are there.
pub fn of(repo: &Repo, (store, lineage): (&Store, &Lineage), ids: &[Id]) -> Option<Error> {
    let is_gone = |id: &&Id| !repo.has_object(commit(lineage, **id));
    let gone: Vec<String> = ids.iter().filter(is_gone).map(|id| name(*id)).collect();
    let refs = format!("{}*", store.attempt_ref_prefix());
    (!gone.is_empty()).then(|| {
        Error::unsafe_repo(format!(
            "commits of search {} are gone from the repository, those of {}: nothing held them once {refs} was removed",
            store.number,
            text::some_of(&gone, NAMED)
        ))
        .hint(format!(
            "bring them back from a copy of the repository that has them: `git fetch COPY '{refs}:{refs}'`; else \
             `evolve search export` keeps what was found out, and `evolve search discard` gives the search up"
        ))
    })
}
