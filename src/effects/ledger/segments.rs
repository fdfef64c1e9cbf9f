//! The files that make up one growing file of the ledger.

use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::exact;
use crate::model::ledger as names;

/// Returns the files that make up a growing file, oldest first: the history has its segments before it, as far as they are
/// there.
pub(super) fn parts(is_there: impl Fn(&str) -> bool, name: &str) -> Vec<String> {
    let mut parts: Vec<String> = match name {
        names::HISTORY => (1..)
            .map(names::segment)
            .take_while(|segment| is_there(segment))
            .collect(),
        _ => Vec::new(),
    };
    parts.push(name.to_owned());
    parts
}

/// Returns the text of a growing file, without the segments that are the same in an `other` tree: they are long.
pub(super) fn whole(repo: &Repo, tree: &str, name: &str, other: Option<&str>) -> Result<String> {
    let mut text = String::new();
    for part in parts(|part| repo.has_file(tree, part), name) {
        let is_same =
            |other: &str| part != name && repo.id_at(tree, &part) == repo.id_at(other, &part);
        if !other.is_some_and(is_same) {
            text.push_str(&exact::decode(&repo.file(tree, &part)?.unwrap_or_default()));
        }
    }
    Ok(text)
}
