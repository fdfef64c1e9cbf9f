//! The files that make up one growing file of the ledger.

use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::ledger as names;
use crate::model::record::numbers;
use crate::model::{exact, growth};

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

/// Returns the text of an active history without the lines that its segments have, and how many these are; none if they have none
/// of them. A merge leaves such lines where one side had moved its oldest lines to a segment and the active file is the other's.
/// The segments come newest first, and are read only as far as they may have any.
pub(super) fn unmoved(
    text: &str,
    segments: impl Iterator<Item = Result<String>>,
) -> Result<Option<(String, usize)>> {
    let Some((lowest, _)) = numbers(text) else {
        return Ok(None);
    };
    let mut found: Option<(String, usize)> = None;
    for segment in segments {
        let segment = segment?;
        if numbers(&segment).is_some_and(|(_, highest)| highest < lowest) {
            break;
        }
        let (text, count) = found
            .as_ref()
            .map_or((text, 0), |(text, count)| (text, *count));
        if let Some((rest, more)) = growth::apart(text, &segment) {
            found = Some((rest, count + more));
        }
    }
    Ok(found)
}

/// Returns the text of a growing file, without the segments that are the same in an `other` tree: they are long.
pub(super) fn whole(repo: &Repo, tree: &str, name: &str, other: Option<&str>) -> Result<String> {
    let mut text = before(repo, tree, name, other)?;
    text.push_str(&exact::decode(&repo.file(tree, name)?.unwrap_or_default()));
    Ok(text)
}

/// Returns the text of the segments before a growing file, in the same way.
pub(super) fn before(repo: &Repo, tree: &str, name: &str, other: Option<&str>) -> Result<String> {
    let mut text = String::new();
    let parts = parts(|part| repo.has_file(tree, part), name)?;
    for part in parts.iter().filter(|part| *part != name) {
        let is_same = match other {
            Some(other) => repo.id_at(tree, part)? == repo.id_at(other, part)?,
            None => false,
        };
        if !is_same {
            text.push_str(&exact::decode(&repo.file(tree, part)?.unwrap_or_default()));
        }
    }
    Ok(text)
}
