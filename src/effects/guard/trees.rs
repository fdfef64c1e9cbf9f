//! Other working trees, linked ones and the main one: what their HEAD and index alone held before an agent stays reachable,
//! whoever moved or replaced these. They are not put back: people work there while an agent works elsewhere, and what is theirs
//! looks like an agent's.

use std::path::Path;

use super::way::Way;
use super::{operations, refs};
use crate::effects::files;
use crate::effects::mirror::{Mirror, Tree};
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::exact;

/// The most bytes of a HEAD.
const HEAD: u64 = 64 << 10;

/// Keeps what was lost to each of the trees; says what and where.
pub fn keep(mirror: &Mirror, way: &mut Way<'_>) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for tree in mirror.trees() {
        notes.extend(operations::keep(&tree, way)?);
        notes.extend(keep_one(&tree, way)?);
    }
    Ok(notes)
}

fn keep_one(tree: &Tree, way: &mut Way<'_>) -> Result<Option<String>> {
    let repo = way.repo;
    let (was, is) = (Stand::of(repo, &tree.copy), Stand::of(repo, &tree.live));
    let kept = way.whose.kept_as(&format!("refs/{}", tree.name));
    // What was kept after the agent is not kept once more after the checks.
    let earlier = repo.resolve(&kept)?;
    let is_nowhere = was.commit.is_some() && is.commit.is_none();
    let lost = match &was.commit {
        Some(commit) if is_nowhere && earlier.is_none() => Some(commit.as_str()),
        Some(commit) if was.is_detached && was.commit != is.commit => {
            refs::is_lost(repo, commit, is.commit.as_deref())?.then_some(commit.as_str())
        }
        Some(_) | None => None,
    };
    let [before, now] = [&tree.copy, &tree.live].map(|folder| folder.join("index"));
    let staged = match files::is_same(&before, &now) {
        Ok(true) => Vec::new(),
        Ok(false) | Err(_) => {
            let commits = [&was.commit, &is.commit, &earlier].map(Option::as_deref);
            let commits: Vec<&str> = commits.into_iter().flatten().collect();
            repo.staged_alone(&before, &now, &commits)?
        }
    };
    let parent = earlier.as_deref().or(was.commit.as_deref());
    let parent = parent.or(way.whose.start.as_deref());
    let (commit, what) = match (parent, staged.is_empty(), lost) {
        (None, _, _) | (_, true, None) => return Ok(None),
        (_, true, Some(lost)) => (
            lost.to_owned(),
            match is_nowhere {
                true => "HEAD leads to no commit; the one that it was on is",
                false => "HEAD was moved; the commit that it was on is",
            },
        ),
        (Some(parent), false, lost) => {
            let changed: Vec<_> = staged
                .into_iter()
                .map(|(path, entry)| (path, Some(entry)))
                .collect();
            let content = repo.with_changes(&repo.tree_of(parent)?, &changed)?;
            let message = format!("evolve: what was staged in {}", tree.shown);
            let what = match lost {
                None => "the index was replaced; what was staged is in",
                Some(_) => {
                    "HEAD was moved and the index replaced; what was staged, on the commit that HEAD was on, is"
                }
            };
            (repo.store_commit(&content, parent, &message)?, what)
        }
    };
    refs::write(way, &kept, &commit)?;
    Ok(Some(format!(
        "{}: {what} {}",
        tree.shown,
        exact::shown(&kept)
    )))
}

/// Where a HEAD stands.
#[derive(Debug, Default)]
struct Stand {
    commit: Option<String>,
    is_detached: bool,
}

impl Stand {
    fn of(repo: &Repo, git_dir: &Path) -> Stand {
        let text = files::read_text(&git_dir.join("HEAD"), HEAD).unwrap_or_default();
        let text = text.trim();
        let (commit, is_detached) = match text.strip_prefix("ref:") {
            Some(name) => (repo.resolve(name.trim()).ok().flatten(), false),
            None => (Some(text.to_owned()), true),
        };
        Stand {
            commit: commit.filter(|commit| repo.find_commit(commit).unwrap_or(false)),
            is_detached,
        }
    }
}
