//! The files that make up one growing file of the ledger.

use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::exact;
use crate::model::ledger as names;

/// Returns the files that make up a growing file, oldest first: the history has its segments before it, as far as they are
/// there.
pub(super) fn parts(is_there: impl Fn(&str) -> Result<bool>, name: &str) -> Result<Vec<String>> {
    let mut parts = Vec::new();
    for segment in (1..).map(names::segment) {
        if name != names::HISTORY || !is_there(&segment)? {
            break;
        }
        parts.push(segment);
    }
    parts.push(name.to_owned());
    Ok(parts)
}

/// Returns the text of a growing file, without the segments that are the same in an `other` tree: they are long.
pub(super) fn whole(repo: &Repo, tree: &str, name: &str, other: Option<&str>) -> Result<String> {
    let mut text = String::new();
    for part in parts(|part| repo.has_file(tree, part), name)? {
        let is_same = match other.filter(|_| part != name) {
            Some(other) => repo.id_at(tree, &part)? == repo.id_at(other, &part)?,
            None => false,
        };
        if !is_same {
            text.push_str(&exact::decode(&repo.file(tree, &part)?.unwrap_or_default()));
        }
    }
    Ok(text)
}
