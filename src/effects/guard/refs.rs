//! Branches, tags, notes, tracking refs and what else points to a commit: what is gone is put back, and so is what the agent
//! moved to where it does not lead on from.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::ops::Bound;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::way::Way;
use crate::effects::lock;
use crate::effects::repo::{Repo, SYMBOLIC};
use crate::error::Result;
use crate::model::exact;
use crate::model::git::compared::Refs;
use crate::model::git::movement::{Movement, REWRITTEN};
use crate::model::git::whose::{OF_SEARCHES, OWN, Whose};

/// Refs that make git take one object for another.
const REPLACED: &str = "refs/replace/";
/// Refs that say what another repository had: `git fetch --prune` removes those that are gone there.
const TRACKING: &str = "refs/remotes/";
/// Branches.
const BRANCHES: &str = "refs/heads/";
/// Tags.
const TAGS: &str = "refs/tags/";
/// How many refs are named.
const NAMED: usize = 30;
/// Why a ref is written, in its reflog.
const NOTE: &str = "evolve: as it was before the agent";

/// Returns all refs, a line each.
pub fn text(repo: &Repo) -> Result<String> {
    let refs = repo.all_refs()?;
    Ok(refs
        .iter()
        .map(|(name, target)| format!("{target} {name}\n"))
        .collect())
}

/// Puts back what is gone or was moved away; says which.
pub fn put_back(way: &mut Way<'_>, before: &str) -> Result<Vec<String>> {
    let (repo, whose) = (way.repo, way.whose);
    let before: BTreeMap<&str, &str> = before
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(target, name)| (name, target))
        .collect();
    let now = repo.all_refs()?;
    let (mut notes, mut forgotten) = (Vec::new(), Vec::new());
    for (&name, &was) in &before {
        // The branch is judged, and the stash has more to it than its newest entry.
        if name == whose.branch || name == "refs/stash" || repo.is_slot_ref_of_another(name) {
            continue;
        }
        match now.get(name) {
            Some(is) if is == was => {}
            Some(is) => notes.extend(moved(way, name, was, is)?),
            None if may_go(repo, &now, name, was) => forgotten.push((name, was)),
            None if is_let_go(repo, whose, &now, name, was)? => {}
            None => notes.extend(gone(way, name, was)?),
        }
    }
    let is_new = |(name, _): &(&String, &String)| {
        !before.contains_key(name.as_str())
            && **name != whose.branch
            && !repo.is_slot_ref_of_another(name)
    };
    let new: Vec<_> = now.iter().filter(is_new).collect();
    let known = known_before(repo, &new, &before)?;
    for (name, target) in new {
        let is_whole = !is_in_circle(&now, name)
            && (known.contains(target) || is_whole(repo, target, whose.start.as_deref())?);
        let is_taken_for_another = shadows(&before, name);
        let is_in_way = repo.is_in_way_of_slot(name);
        if is_whole && !name.starts_with(REPLACED) && !is_taken_for_another && !is_in_way {
            continue;
        }
        if is_whole {
            write(way, &whose.kept_as(name), target)?;
        }
        repo.remove_ref(name)?;
        let what = match (is_whole, is_taken_for_another) {
            (false, _) => ", led to nothing whole",
            (true, true) => ", would be taken for HEAD or a branch",
            (true, false) if is_in_way => ", was in the way of evolve's own",
            (true, false) => "",
        };
        let shown = exact::shown(name);
        notes.push(format!("{shown} was added{what} and is removed"));
    }
    notes.extend(keep_forgotten(way, &forgotten)?);
    notes.extend(remove_renamed(repo, &before, &now)?);
    notes.append(&mut way.notes);
    if let Some(more) = notes.len().checked_sub(NAMED).filter(|more| *more > 0) {
        notes.truncate(NAMED);
        notes.push(format!("and {more} more refs like these"));
    }
    Ok(notes)
}

/// Says whether a ref is a tag by whose short name git meant HEAD or a branch before: it takes the tag first.
fn shadows(before: &BTreeMap<&str, &str>, name: &str) -> bool {
    let is_branch = |short: &str| before.contains_key(format!("{BRANCHES}{short}").as_str());
    let short = name.strip_prefix(TAGS);
    short.is_some_and(|short| short == "HEAD" || is_branch(short))
}

/// Returns the commits of new refs that those of before lead to: nobody brought them now, and there may be very many.
fn known_before(
    repo: &Repo,
    new: &[(&String, &String)],
    before: &BTreeMap<&str, &str>,
) -> Result<HashSet<String>> {
    let targets = new.iter().map(|(_, target)| target.as_str());
    let commits: Vec<&str> = targets.filter(|target| repo.is_commit(target)).collect();
    if commits.is_empty() {
        return Ok(HashSet::new());
    }
    let tips: Vec<&str> = before.values().copied().collect();
    let Some(beyond) = repo.beyond(&commits, &tips)? else {
        // Each is looked at.
        return Ok(HashSet::new());
    };
    let known = commits.iter().filter(|commit| !beyond.contains(**commit));
    Ok(known.map(|commit| (*commit).to_owned()).collect())
}

/// Puts all branches back but the one that is worked on, those too that went on to newer commits; says which.
pub fn undo(way: &mut Way<'_>, before: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let (repo, whose) = (way.repo, way.whose);
    let mut notes = Vec::new();
    for (name, was) in before {
        if !name.starts_with(BRANCHES) || *name == whose.branch {
            continue;
        }
        match repo.target_of(name) {
            Some(is) if is == *was => {}
            Some(is) => notes.push(moved_away(way, name, was, &is)?),
            None => notes.extend(gone(way, name, was)?),
        }
    }
    notes.append(&mut way.notes);
    Ok(notes)
}

/// Keeps what the branch led to that nobody puts back, where it does not lead on from there; says where.
pub fn keep_reachable(way: &mut Way<'_>, before: &str) -> Result<Option<String>> {
    let (repo, whose) = (way.repo, way.whose);
    let mut lines = before.lines().filter_map(|line| line.split_once(' '));
    let Some((was, name)) = lines.find(|(_, name)| *name == whose.branch) else {
        return Ok(None);
    };
    let is = repo.resolve(name)?;
    let leads_on = |is: &String| is == was || repo.descends(is, was).unwrap_or(false);
    if was.starts_with(SYMBOLIC) || is.as_ref().is_some_and(leads_on) {
        return Ok(None);
    }
    let kept = whose.kept_as(name);
    write(way, &kept, was)?;
    Ok(Some(format!(
        "{name} was moved; what it was before is {kept}"
    )))
}

/// Says whether a ref is a tracking one that is gone for good, as one that a fetch pruned: nothing broken stands in its place, no other
/// stands for it, which git takes for broken, and others of its remote are left. With the remote itself all of them go. One that
/// stands for another, as that of a remote's HEAD, no fetch prunes, nor does it say that there was any.
fn may_go(repo: &Repo, now: &BTreeMap<String, String>, name: &str, was: &str) -> bool {
    let Some(below) = name.strip_prefix(TRACKING) else {
        return false;
    };
    let remotes = repo.remotes();
    let Some(remote) = remote_of(below, &remotes) else {
        return false;
    };
    let of_remote = format!("{TRACKING}{remote}/");
    let from_there = now.range::<str, _>((Bound::Included(&*of_remote), Bound::Unbounded));
    let mut from_there = from_there.take_while(|(other, _)| other.starts_with(&of_remote));
    let has_others = from_there.any(|(_, target)| !target.starts_with(SYMBOLIC));
    let stands_for_it = |target: &String| target.strip_prefix(SYMBOLIC) == Some(name);
    let place = OsString::from_vec(exact::encode(name));
    let place = fs::symlink_metadata(repo.common_path("").join(place));
    place.map_or(true, |meta| meta.is_dir())
        && !was.starts_with(SYMBOLIC)
        && !now.values().any(stands_for_it)
        && has_others
}

/// Says whether a ref that is gone is one of another session's, at work in another working tree, and a branch leads to its commit: a
/// session removes those of changes that are on their branch.
fn is_let_go(
    repo: &Repo,
    whose: &Whose,
    now: &BTreeMap<String, String>,
    name: &str,
    was: &str,
) -> Result<bool> {
    let is_of_session = name.starts_with(OWN) && !name.starts_with(OF_SEARCHES);
    let own = whose.work_ref.rsplit_once('/').map(|(session, _)| session);
    let is_own = own.is_some_and(|own| name.starts_with(&format!("{own}/")));
    if !is_of_session || is_own || was.starts_with(SYMBOLIC) || !is_session_elsewhere(repo) {
        return Ok(false);
    }
    let branches = now.iter().filter(|(other, _)| other.starts_with(BRANCHES));
    let tips: Vec<&str> = branches.map(|(_, target)| target.as_str()).collect();
    let beyond = repo.beyond(&[was], &tips)?;
    Ok(beyond.is_some_and(|lost| lost.is_empty()))
}

/// Says whether a session is at work in another working tree.
fn is_session_elsewhere(repo: &Repo) -> bool {
    let is_another = |git_dir: &PathBuf| git_dir.components().ne(repo.git_dir().components());
    let mut others = repo.git_dirs().filter(is_another);
    others.any(|git_dir| lock::holder(&git_dir.join("evolve/lock")).is_some())
}

/// Returns the remote that a tracking ref, by its name below `refs/remotes/`, is of: there may be slashes in its name.
fn remote_of<'a>(below: &str, remotes: &'a [String]) -> Option<&'a String> {
    let is_of = |remote: &&String| {
        let rest = below.strip_prefix(remote.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let of = remotes.iter().filter(is_of);
    of.max_by_key(|remote| remote.len())
}

/// Removes tracking refs that are of no remote and were another's, which are back: `git remote rename` moves them, and the settings,
/// which were put back before, say nothing of the new name. Those that lead elsewhere by now stay. Says of which remotes they were.
fn remove_renamed(
    repo: &Repo,
    before: &BTreeMap<&str, &str>,
    now: &BTreeMap<String, String>,
) -> Result<Vec<String>> {
    let is_new = |(name, _): &(&String, &String)| !before.contains_key(name.as_str());
    let new: BTreeMap<_, _> = now.iter().filter(is_new).collect();
    if !new.keys().any(|name| name.starts_with(TRACKING)) {
        return Ok(Vec::new());
    }
    let remotes = repo.remotes();
    // By what follows their remote's name, which is all that stays of theirs.
    let mut gone: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, was) in before.iter().filter(|(name, _)| !now.contains_key(**name)) {
        let below = name.strip_prefix(TRACKING).unwrap_or_default();
        if let Some(remote) = remote_of(below, &remotes) {
            let rest = &below[remote.len()..];
            gone.entry(rest).or_default().push((remote, was));
        }
    }
    let mut removed = BTreeSet::new();
    for (name, target) in new {
        let below = name.strip_prefix(TRACKING).unwrap_or_default();
        if remote_of(below, &remotes).is_some() {
            continue;
        }
        let is_same = |was: &str, (from, to): (&str, &str)| match was.strip_prefix(SYMBOLIC) {
            None => was == target,
            Some(other) => {
                let rest = other.strip_prefix(&format!("{TRACKING}{from}/"));
                rest.is_some_and(|rest| *target == format!("{SYMBOLIC}{TRACKING}{to}/{rest}"))
            }
        };
        let renamed = below.match_indices('/').find_map(|(index, _)| {
            let (to, rest) = below.split_at(index);
            let mut those = gone.get(rest)?.iter();
            let from = those.find(|(from, was)| is_same(was, (from, to)))?.0;
            Some((to, from))
        });
        if let Some(renamed) = renamed {
            repo.remove_ref(name)?;
            removed.insert(renamed);
        }
    }
    let note = |(to, from): (&str, &str)| {
        let [to, from] = [to, from].map(exact::shown);
        format!(
            "tracking refs of {from} were renamed to those of {to}, which is no remote, and have their names again"
        )
    };
    Ok(removed.into_iter().map(note).collect())
}

/// Keeps the commits of tracking refs that are gone, where nothing else leads to them. The refs themselves may go: whoever
/// fetches has them again, as far as there is anything to fetch.
fn keep_forgotten(way: &mut Way<'_>, forgotten: &[(&str, &str)]) -> Result<Vec<String>> {
    let (repo, whose) = (way.repo, way.whose);
    let ids: Vec<&str> = forgotten
        .iter()
        .map(|(_, was)| *was)
        .filter(|was| !was.starts_with(SYMBOLIC))
        .collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let now = repo.all_refs()?;
    let tips: Vec<&str> = now.values().map(String::as_str).collect();
    let lost = repo.beyond(&ids, &tips)?;
    // Where that cannot be told all are kept.
    let is_lost = |was: &str| lost.as_ref().is_none_or(|lost| lost.contains(was));
    let mut notes = Vec::new();
    for (name, was) in forgotten.iter().filter(|(_, was)| is_lost(was)) {
        let kept = whose.kept_as(name);
        write(way, &kept, was)?;
        notes.push(format!(
            "{} was removed; nothing else led to its commits, so they are kept as {}",
            exact::shown(name),
            exact::shown(&kept)
        ));
    }
    Ok(notes)
}

/// Makes a ref anew that is gone, unless somebody has made it meanwhile; says what was done.
fn gone(way: &mut Way<'_>, name: &str, was: &str) -> Result<Option<String>> {
    let shown = exact::shown(name);
    way.repo.remove_broken_ref(name)?;
    let made = match was.starts_with(SYMBOLIC) {
        true => write(way, name, was),
        false => way.through(name, |repo| repo.make_ref(name, was, NOTE)),
    };
    if let Err(cause) = made {
        tracing::debug!("{cause}");
        if way.repo.all_refs()?.contains_key(name) {
            return Ok(None);
        }
        let kept = way.whose.kept_as(name);
        write(way, &kept, was)?;
        return Ok(Some(format!(
            "{shown} was removed and something else is in its place; what it was is {}",
            exact::shown(&kept)
        )));
    }
    Ok(Some(format!("{shown} was removed and is back")))
}

fn moved(way: &mut Way<'_>, name: &str, was: &str, is: &str) -> Result<Option<String>> {
    let (repo, shown) = (way.repo, exact::shown(name));
    if is.starts_with(SYMBOLIC) || was.starts_with(SYMBOLIC) {
        write(way, name, was)?;
        return Ok(Some(format!("{shown} was changed and is as before")));
    }
    if !is_whole(repo, is, Some(was))? {
        write(way, name, was)?;
        for log in [name, "HEAD"] {
            repo.drop_broken_movements(log, &[&way.whose.mark, NOTE], was)?;
        }
        return Ok(Some(format!(
            "{shown} was moved to what is not there in whole, and is as before"
        )));
    }
    if goes_on(name) && repo.descends(is, was).unwrap_or(false) {
        return Ok(None);
    }
    moved_away(way, name, was, is).map(Some)
}

/// Puts back a ref that leads elsewhere, unless somebody else moved it; says what was done. A replacement has every git read another
/// object, and of those no reflog is kept that could say whose it is.
fn moved_away(way: &mut Way<'_>, name: &str, was: &str, is: &str) -> Result<String> {
    if name.starts_with(REPLACED) || !is_by_somebody_else(way.repo, name, is, way.whose) {
        return taken_back(way, name, was, is);
    }
    let kept = way.whose.kept_as(name);
    write(way, &kept, was)?;
    Ok(format!(
        "somebody else moved {}; what it was before is {}",
        exact::shown(name),
        exact::shown(&kept)
    ))
}

/// Puts back a ref that leads elsewhere, and keeps where it led, if that is there in whole; says what was done.
fn taken_back(way: &mut Way<'_>, name: &str, was: &str, is: &str) -> Result<String> {
    let shown = exact::shown(name);
    if !is_whole(way.repo, is, Some(was))? {
        write(way, name, was)?;
        return Ok(format!(
            "{shown} was moved to what is not there in whole, and is as before"
        ));
    }
    if way.repo.is_slot {
        write(way, name, was)?;
        return Ok(format!("{shown} was moved and is as before"));
    }
    let kept = way.whose.kept_as(name);
    write(way, &kept, is)?;
    if !way.through(name, |repo| repo.move_ref(name, is, was, NOTE))? {
        return Ok(format!("{shown} was moved again meanwhile, and stays"));
    }
    Ok(format!(
        "{shown} was moved and is as before; where it had been moved to is {}",
        exact::shown(&kept)
    ))
}

/// Says whether the reflog says that somebody else moved the ref to where it is.
pub fn is_by_somebody_else(repo: &Repo, name: &str, is: &str, whose: &Whose) -> bool {
    let newest = repo.movements(name).next();
    newest.is_some_and(|newest| newest.new == is && is_by_others(repo, &newest, whose))
}

/// Says whether a movement has no mark, though the command that made it heeds marks, and does not go with a rewriting of the branch
/// that is worked on: that counts as the agent's.
pub fn is_by_others(repo: &Repo, movement: &Movement, whose: &Whose) -> bool {
    let message = movement.message.as_str();
    let is_of_agent = || message == REWRITTEN && is_branch_rewritten(repo, whose);
    !message.starts_with(&whose.mark) && heeds_marks(message) && !is_of_agent()
}

/// Says whether all of the branch that is worked on was rewritten since the start.
fn is_branch_rewritten(repo: &Repo, whose: &Whose) -> bool {
    let Some(start) = &whose.start else {
        return false;
    };
    let movements = repo.movements(&whose.branch);
    let mut since = movements.take_while(|one| one.new != *start);
    since.any(|one| one.message == REWRITTEN)
}

/// Makes these refs what they were, those too that went on to newer commits or are new; says what was done. None are new where HEAD
/// is.
pub fn put_back_these(
    way: &mut Way<'_>,
    before: &Refs,
    now: &Refs,
    names: &BTreeSet<String>,
) -> Result<Vec<String>> {
    let (repo, whose) = (way.repo, way.whose);
    let head = repo.head()?.branch;
    let mut notes = Vec::new();
    for name in names.iter().filter(|name| **name != whose.branch) {
        let shown = exact::shown(name);
        match (before.get(name), now.get(name)) {
            (Some(was), Some(is)) if was == is => {}
            (Some(was), Some(is)) if [was, is].iter().any(|to| to.starts_with(SYMBOLIC)) => {
                write(way, name, was)?;
                notes.push(format!("{shown} was changed and is as before"));
            }
            (Some(was), Some(is)) => notes.push(taken_back(way, name, was, is)?),
            (Some(was), None) => notes.extend(gone(way, name, was)?),
            (None, Some(is)) if head.as_ref() != Some(name) => {
                let mut note = format!("{shown} was added and is removed");
                // Nothing in a slot stays.
                if !repo.is_slot && is_whole(repo, is, whose.start.as_deref())? {
                    let kept = whose.kept_as(name);
                    write(way, &kept, is)?;
                    note.push_str(&format!("; where it led is {}", exact::shown(&kept)));
                }
                match name.starts_with("refs/") {
                    true => repo.remove_ref(name)?,
                    false => repo.remove_root_ref(name)?,
                }
                notes.push(note);
            }
            (None, _) => {}
        }
    }
    notes.append(&mut way.notes);
    Ok(notes)
}

/// Says whether a ref's target is there, and of a commit all that came with it since another. What is no commit is there or not.
fn is_whole(repo: &Repo, target: &str, since: Option<&str>) -> Result<bool> {
    match since {
        _ if target.starts_with(SYMBOLIC) => Ok(true),
        Some(since) if repo.is_commit(target) && repo.is_commit(since) => {
            repo.is_whole(target, since)
        }
        Some(_) | None => Ok(repo.has_object(target)),
    }
}

/// Says whether refs that stand for others never come to an object, as git counts.
fn is_in_circle(all: &BTreeMap<String, String>, name: &str) -> bool {
    const DEEPEST: usize = 5;
    let next = |name: &&str| {
        let target = all.get(*name)?;
        target.strip_prefix(SYMBOLIC)
    };
    std::iter::successors(Some(name), next)
        .nth(DEEPEST + 1)
        .is_some()
}

/// Says whether a ref is of the kind that goes on to newer commits. A tag does not.
fn goes_on(name: &str) -> bool {
    ["refs/heads/", "refs/remotes/", "refs/notes/"]
        .iter()
        .any(|kind| name.starts_with(kind))
}

/// Says whether the command of git that made this note would have put the agent's mark there. `git branch -f`, `git
/// update-ref` and the like do not.
fn heeds_marks(message: &str) -> bool {
    !message.is_empty() && !message.starts_with("branch: ")
}

/// Writes a ref.
pub fn write(way: &mut Way<'_>, name: &str, target: &str) -> Result<()> {
    way.through(name, |repo| match target.strip_prefix(SYMBOLIC) {
        Some(other) => repo.set_symbolic_ref(name, other, NOTE),
        None => repo.set_ref(name, target, NOTE),
    })
}

/// Says whether neither a ref nor the HEAD that is there now leads to a commit.
pub fn is_lost(repo: &Repo, commit: &str, head: Option<&str>) -> Result<bool> {
    let refs = repo.all_refs()?;
    let tips: Vec<&str> = refs.values().map(String::as_str).chain(head).collect();
    let beyond = repo.beyond(&[commit], &tips)?;
    Ok(beyond.is_none_or(|beyond| beyond.contains(commit)))
}
