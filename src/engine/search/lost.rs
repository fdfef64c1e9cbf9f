//! What holds the commits of attempts: refs that somebody removed or moved are set again, and commits that git has collected since
//! are named.

use super::commit;
use crate::effects::repo::Repo;
use crate::effects::search::refs;
use crate::effects::search::store::Store;
use crate::error::{Error, Result};
use crate::model::search::lineage::{Id, Lineage, Measure};
use crate::model::search::view::name;
use crate::model::text;
use crate::search::ending::Ending;
use crate::search::standing::Standing;

/// The most attempts that are named.
const NAMED: usize = 5;

/// Sets the refs of attempts again that somebody removed or moved, as far as their commits are still there. Returns which.
pub fn hold(repo: &Repo, store: &Store, lineage: &Lineage) -> Result<Vec<Id>> {
    refs::make_way(repo, store)?;
    let now = repo.all_refs()?;
    let mut held = Vec::new();
    for id in 0..=lineage.newest() {
        let own = lineage.attempt(id).edited();
        let own = own.and_then(|edited| edited.commit.as_deref());
        let base = (id == 0).then_some(lineage.plan.request.base.as_str());
        let Some(commit) = own.or(base) else {
            continue;
        };
        let name = store.attempt_ref(id);
        if now.get(&name).is_none_or(|is| is != commit) && repo.has_object(commit) {
            refs::set(repo, store, id, commit)?;
            held.push(id);
        }
    }
    Ok(held)
}

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
    of(repo, store, lineage, &needed)
}

/// Returns the error of attempts whose commits are gone; none if all are there.
pub fn of(repo: &Repo, store: &Store, lineage: &Lineage, ids: &[Id]) -> Option<Error> {
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
