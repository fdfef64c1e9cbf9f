//! Refs and stash of submodules: what is gone from them since the copy of their git directories was made is there again, by
//! the same rules as the repository's own. A branch that is checked out there is where it was left, for the commit that the
//! repository has of the submodule may need it; where it led before stays under `refs/evolve/`.
//!
//! With an undo nothing needs it: HEAD and all branches are again where they were, each moved only from where it was seen.
//! What the agent committed stays under `refs/evolve/`. A branch that somebody else moved stays, and HEAD is detached then.

use std::path::{Path, PathBuf};

use super::way::Way;
use super::{LIMIT, refs, stash};
use crate::effects::files;
use crate::effects::mirror::Mirror;
use crate::effects::places::Places;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Repo, SYMBOLIC};
use crate::error::Result;
use crate::model::exact;
use crate::model::git::movement::{self, ByOthers, Moved};
use crate::model::git::whose::Whose;
use crate::model::text;

/// HEAD, in the words of git.
const HEAD: &str = "HEAD";
/// How many movements of somebody else are named.
const NAMED: usize = 3;

/// Puts back refs and entries of the stash that are gone, and refs that the agent moved away; says which.
pub fn put_back(
    mirror: &Mirror,
    whose: &Whose,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for (live, copy, shown) in mirror.submodules() {
        // One that cannot be opened was none that anybody could work in.
        let Ok(before) = Repo::open_git_dir(&copy) else {
            continue;
        };
        let Ok(text) = refs::text(&before) else {
            continue;
        };
        let found = put_back_one(&live, &text, &before, whose, quarantine)?;
        notes.extend(found.into_iter().map(|note| format!("{shown}: {note}")));
    }
    Ok(notes)
}

fn put_back_one(
    live: &Path,
    before: &str,
    copy: &Repo,
    whose: &Whose,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let repo = Repo::open_git_dir(live)?;
    let branch = repo.symbolic_head()?.unwrap_or_default();
    // One that is gone, or leads nowhere, is like any other.
    let leads_somewhere = matches!(repo.resolve(&branch), Ok(Some(_)));
    let branch = Some(branch).filter(|_| leads_somewhere).unwrap_or_default();
    let whose = Whose {
        branch,
        start: None,
        ..whose.clone()
    };
    let mut way = Way::new(&repo, &whose, quarantine);
    let mut notes = refs::put_back(&mut way, before)?;
    notes.extend(refs::keep_reachable(&mut way, before)?);
    let places = Places {
        git_dir: live.to_owned(),
        common: live.to_owned(),
        private: repo.private.clone(),
    };
    let list = Places {
        common: copy.root.clone(),
        ..places.clone()
    };
    if let Some(list) = files::read_bounded(&stash::file(&list), LIMIT)? {
        notes.extend(stash::put_back(&mut way, &places, &list)?);
    }
    notes.append(&mut way.notes);
    if repo.give_bisect_back(copy)? {
        notes.push("a bisect was ended and is in progress again".to_owned());
    }
    Ok(notes)
}

/// A submodule's git directory, and the copy of it as it was before the agent.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The git directory, without a link in its path.
    pub live: PathBuf,
    copy: PathBuf,
}

/// Makes index and files of a submodule what a commit has; says what it could not do.
pub type Follow<'a> = dyn FnMut(&str) -> Result<Vec<String>> + 'a;

/// Where HEAD of a submodule was.
struct Was<'a> {
    /// As in `Repo::target_of`.
    target: &'a str,
    /// The branch that it stood for; none where it was detached.
    branch: Option<&'a str>,
    commit: &'a str,
}

/// Returns the git directories of which there are copies.
pub fn pairs(mirror: &Mirror) -> Vec<Pair> {
    let pair = |(live, copy, _): (PathBuf, PathBuf, String)| {
        let live = live.canonicalize().ok()?;
        Some(Pair { live, copy })
    };
    mirror.submodules().into_iter().filter_map(pair).collect()
}

/// Puts HEAD and branches back where they were before the agent; says what was done. Index and files come first where HEAD is
/// elsewhere, or `is_changed`: wherever this is cut short, it can be done again.
pub fn undo(
    pair: &Pair,
    whose: &Whose,
    is_changed: bool,
    follow: &mut Follow<'_>,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let before = Repo::open_git_dir(&pair.copy)?;
    let repo = Repo::open_git_dir(&pair.live)?;
    let refs = before.all_refs()?;
    let target = before.target_of(HEAD).unwrap_or_default();
    let branch = target.strip_prefix(SYMBOLIC);
    let commit = match branch {
        Some(branch) => refs.get(branch).map_or("", String::as_str),
        None => &target,
    };
    // On a branch without a commit there is nothing to go back to.
    if commit.is_empty() || !repo.is_commit(commit) {
        return Ok(Vec::new());
    }
    let whose = Whose {
        branch: branch.unwrap_or_default().to_owned(),
        start: None,
        ..whose.clone()
    };
    let was = Was {
        target: &target,
        branch,
        commit,
    };
    let mut notes = match is_at_start(&repo, &was) {
        true if is_changed => follow(was.commit)?,
        true => Vec::new(),
        false => undo_head(&repo, &before, &was, &whose, follow)?,
    };
    let mut way = Way::new(&repo, &whose, quarantine);
    notes.extend(refs::undo(&mut way, &refs)?);
    repo.give_operation_back(&before)?;
    Ok(notes)
}

fn is_at_start(repo: &Repo, was: &Was<'_>) -> bool {
    let is_there = |branch| repo.target_of(branch).as_deref() == Some(was.commit);
    was.branch.is_none_or(is_there) && repo.target_of(HEAD).as_deref() == Some(was.target)
}

fn undo_head(
    repo: &Repo,
    before: &Repo,
    was: &Was<'_>,
    whose: &Whose,
    follow: &mut Follow<'_>,
) -> Result<Vec<String>> {
    let tip = was.branch.and_then(|branch| repo.target_of(branch));
    let others = by_others(repo, before, was, whose)?;
    repo.end_operation(&|name| before.target_of(name).is_some())?;
    let now = repo.resolve(HEAD).ok().flatten();
    let kept = keep_work(repo, now.as_deref(), tip.as_deref(), was, whose)?;
    let mut notes = follow(was.commit)?;
    let is_put_back = others.words.is_empty() && put_branch_back(repo, tip, was, whose)?;
    notes.push(match (was.branch, is_put_back) {
        (Some(branch), true) => {
            repo.set_symbolic_ref(HEAD, branch, &whose.mark)?;
            format!("HEAD and {} are as before the agent{kept}", exact::shown_branch(branch))
        }
        (None, true) => {
            repo.set_ref(HEAD, was.commit, &whose.mark)?;
            format!("HEAD is as before the agent{kept}")
        }
        (branch, false) => {
            repo.set_ref(HEAD, was.commit, &whose.mark)?;
            let branch = branch.map_or(HEAD.to_owned(), exact::shown_branch);
            format!(
                "somebody else may have moved {branch} ({}): branches stay where they are, and HEAD is detached at the commit of the start{kept}",
                text::some_of(&others.words, NAMED)
            )
        }
    });
    Ok(notes)
}

/// Returns what was done to HEAD and its branch that cannot be told to be the agent's.
fn by_others(repo: &Repo, before: &Repo, was: &Was<'_>, whose: &Whose) -> Result<ByOthers> {
    let since = |name: &str| {
        let newest = before.movements(name).next();
        repo.movements_since(name, was.commit, newest.as_ref(), 0)
    };
    let mut head = Moved {
        name: HEAD.to_owned(),
        movements: since(HEAD),
        now: repo.resolve(HEAD).ok().flatten(),
    };
    // Going back there brings nothing, whoever did it; this may have been cut short in it.
    head.movements.retain(|movement| movement.new != was.commit);
    let branch = was.branch.map_or_else(Moved::default, |branch| Moved {
        name: exact::shown_branch(branch),
        movements: since(branch),
        now: repo.resolve(branch).ok().flatten(),
    });
    Ok(movement::by_others(&whose.mark, was.commit, &branch, &head))
}

/// Keeps the commits that HEAD and its branch are on; says where.
fn keep_work(
    repo: &Repo,
    head: Option<&str>,
    tip: Option<&str>,
    was: &Was<'_>,
    whose: &Whose,
) -> Result<String> {
    let of_branch = format!("{}-branch", whose.work_ref);
    let is_kept = |commit: &&str| *commit != was.commit && repo.is_commit(commit);
    let head = head.filter(is_kept);
    let tip = tip.filter(is_kept).filter(|tip| Some(*tip) != head);
    let mut kept = Vec::new();
    for (commit, name) in [(head, &whose.work_ref), (tip, &of_branch)] {
        if let Some(commit) = commit
            && repo.is_whole(commit, was.commit)?
        {
            repo.set_ref(name, commit, "evolve: the work of an undone cycle")?;
            kept.push(name.as_str());
        }
    }
    Ok(match kept.is_empty() {
        true => String::new(),
        false => format!("; what was committed stays under {}", kept.join(" and ")),
    })
}

/// Puts the branch back that HEAD stood for, from where it was seen; false if it is elsewhere by now.
fn put_branch_back(repo: &Repo, tip: Option<String>, was: &Was<'_>, whose: &Whose) -> Result<bool> {
    match (was.branch, tip) {
        (None, _) => Ok(true),
        (Some(_), Some(tip)) if tip == was.commit => Ok(true),
        (Some(branch), Some(tip)) if !tip.starts_with(SYMBOLIC) => {
            repo.move_ref(branch, &tip, was.commit, &whose.mark)
        }
        (Some(branch), _) => {
            repo.remove_broken_ref(branch)?;
            repo.set_ref(branch, was.commit, &whose.mark).map(|()| true)
        }
    }
}
