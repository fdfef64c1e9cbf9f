//! Takes the change of one cycle back, as a cycle of its own: the loop's, with a given task, and git in the place of an agent.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::effects::agent::Agent;
use crate::effects::changed::{self, Changed};
use crate::effects::ledger::{self, Ledger};
use crate::effects::repo::{Commit, Repo, Without};
use crate::error::{Error, Kind, Result};
use crate::event::Events;
use crate::model::goals::AgentSpec;
use crate::model::mask;
use crate::model::record::{
    CycleResult, History, Record, Turn, UNDO, UNDO_CYCLE, only_change, undo_message,
};
use crate::model::text::{clean_line, some_of};
use crate::model::work::{Severity, WorkItem};
use crate::session::{Ending, Errand};

/// How many commits and paths a message names.
const NAMED: usize = 10;
/// How many commits of a cycle that was undone are looked at.
const MOST_UNDONE: usize = 1_000;
/// How much of a commit's subject a message shows, in characters.
const SUBJECT: usize = 60;
/// How many letters of a commit are shown.
const SHORT: usize = 12;

/// A change that is about to be taken back.
#[derive(Debug)]
pub struct Undo {
    /// The task.
    pub errand: Errand,
    /// Who does it.
    pub agent: Agent,
    /// The commit without the change.
    pub commit: String,
}

/// Returns the task of taking a cycle back, and who does it. Refuses what cannot be taken back alone (exit 3).
pub fn prepare(repo: &Repo, cycle: u64) -> Result<Undo> {
    let history = History::parse(&ledger::whole_history(repo)?);
    let ledger = Ledger::look(repo)?;
    let is_it = |record: &&Record| record.cycle == cycle;
    let same: Vec<&Record> = history.records.iter().filter(is_it).collect();
    // Where each of them began is told from the active file's records alone.
    let known = ledger.history.records.iter().filter(is_it).count();
    let record = match same.as_slice() {
        [] => return Err(no_such_cycle(&history, Some(cycle))),
        [one] => one,
        several => only_change(several)
            .filter(|_| several.len() == known)
            .ok_or_else(|| which_of(repo, &ledger, several))?,
    };
    let (_, head) = repo.ready_head()?;
    let taken_back = changed::taken_back(repo, &history.records);
    let turn = taken_back.turn(record);
    let first = taken_back.first(record, &history.records);
    let commit = commit_without(repo, &ledger, record, &subject(record, turn, first))?;
    if let Some(standing) = standing(repo, &commit)? {
        return Err(
            Error::unsafe_repo(format!("cycle {cycle} cannot be taken back: {standing}"))
                .hint("move them away, and run it again: nothing was changed"),
        );
    }
    // Where somebody moved the branch or went to another one meanwhile, the commit would bring along what lies between. What is
    // set for every merge of the branch, such as a strategy, is not meant for this one. It touches what it changes alone: the patterns of
    // a sparse checkout would take the ledger out of the tree.
    let line = format!(
        "test \"$(git rev-parse HEAD)\" = {head} || {{ echo 'the branch was moved meanwhile' >&2; exit 1; }}; branch=$(git symbolic-ref --quiet HEAD); git -c core.hooksPath=/dev/null -c core.sparseCheckout=false ${{branch:+-c \"branch.${{branch#refs/heads/}}.mergeoptions=\"}} merge --ff-only --no-overwrite-ignore --no-verify-signatures --no-stat --quiet {commit} || exit; test \"$(git rev-parse HEAD)\" = {commit} || {{ echo 'git merge did something else than was asked for' >&2; exit 1; }}"
    );
    let agent = Agent::resolve(
        Some(&AgentSpec::Line(line)),
        &Default::default(),
        &repo.root,
    )?;
    Ok(Undo {
        errand: errand(cycle, turn),
        agent: agent.called(UNDO),
        commit,
    })
}

/// The error of asking for a number that several cycles have: names each of them, with the commits of its change.
fn which_of(repo: &Repo, ledger: &Ledger, same: &[&Record]) -> Error {
    let first = same.first().map_or(0, |record| record.cycle);
    let candidates = same.iter().rev().take(NAMED);
    let mut candidates: Vec<String> = candidates
        .map(|record| candidate(repo, ledger, record))
        .collect();
    if same.len() > NAMED {
        candidates.push(format!("and {} more", same.len() - NAMED));
    }
    Error::unsafe_repo(format!(
        "there is more than one cycle {first}: branches with a history each were brought together"
    ))
    .hint(format!(
        "take the change of the one that is meant back by hand, the newest commit first\n  {}",
        candidates.join("\n  ")
    ))
}

/// Says of one of several cycles with the same number what it was, and how its change is taken back if it left one.
fn candidate(repo: &Repo, ledger: &Ledger, record: &Record) -> String {
    let goal = record.goal_id.as_deref().unwrap_or("nothing to do");
    let session = record.session.as_deref().unwrap_or("unknown");
    let changed = match record.left_a_change() {
        true => Changed::of(repo, ledger, record).ok().flatten(),
        false => None,
    };
    let commits = changed.map(|changed| repo.commits_since(&changed.from, &changed.to, NAMED + 1));
    let way = match commits {
        None if record.is_undone() => "its change was undone".to_owned(),
        None if !record.left_a_change() => "it changed nothing".to_owned(),
        Some(Ok(commits)) if commits.len() <= NAMED => {
            let ids: Vec<&str> = commits.iter().map(|one| one.id.as_str()).collect();
            format!("git revert {}", ids.join(" "))
        }
        None | Some(Ok(_) | Err(_)) => {
            format!("its change ends with {}", record.commit_sha)
        }
    };
    format!(
        "{} {}, session {}: {way}",
        mask::line(goal, SUBJECT),
        record.result.word(),
        clean_line(session)
    )
}

/// Returns the task of taking a cycle back: of one that took something back itself, whose change is there or gone again.
fn errand(cycle: u64, turn: Option<Turn>) -> Errand {
    let (comes_to, done, not_done) = match turn {
        None => (
            String::new(),
            format!("the change of cycle {cycle} is taken back"),
            format!("the change of cycle {cycle} stays"),
        ),
        Some(Turn::Back(first)) => (
            format!("brings back the change of cycle {first}, which cycle {cycle} took back"),
            format!("the change of cycle {first}, which cycle {cycle} took back, is there again"),
            format!("the change of cycle {first} stays taken back"),
        ),
        Some(Turn::GoneAgain(first)) => (
            format!(
                "takes the change of cycle {first}, which cycle {cycle} brought back, back again"
            ),
            format!(
                "the change of cycle {first}, which cycle {cycle} brought back, is taken back again"
            ),
            format!("the change of cycle {first} stays"),
        ),
    };
    let (reason, description) = match comes_to.is_empty() {
        true => (String::new(), String::new()),
        false => (format!(": {comes_to}"), format!(" This {comes_to}.")),
    };
    Errand {
        item: WorkItem::given(
            format!("{UNDO_CYCLE}{cycle}"),
            Severity::Unknown,
            format!("Take back the change of cycle {cycle} alone.{description}"),
        ),
        reason: format!("asked for by a person{reason}"),
        done,
        not_done,
    }
}

/// Says which files of the user's stand where the commit would put its own, if any do.
fn standing(repo: &Repo, commit: &str) -> Result<Option<String>> {
    let parents = repo.parents_of(commit)?;
    let before = parents.first().map_or(commit, String::as_str);
    let standing = repo.standing_in_the_way(&repo.tree_of(before)?, &repo.tree_of(commit)?)?;
    let name = |path: &PathBuf| clean_line(&path.to_string_lossy());
    let names: Vec<String> = standing.iter().map(name).collect();
    Ok((!names.is_empty()).then(|| {
        format!(
            "files that git does not know stand where its change would come to: {}",
            some_of(&names, NAMED)
        )
    }))
}

/// The error of asking for a cycle that is not recorded.
pub(super) fn no_such_cycle(history: &History, cycle: Option<u64>) -> Error {
    let known = match history.next_cycle() - 1 {
        0 => "no cycle is recorded yet".to_owned(),
        last => format!("the newest is {last}; `evolve history` lists them"),
    };
    let what = match cycle {
        Some(cycle) => format!("there is no cycle {cycle}"),
        None => "there is no cycle".to_owned(),
    };
    Error::usage(what).hint(known)
}

/// Stores the commit that takes a cycle's change back, on top of HEAD; nothing points to it yet.
fn commit_without(repo: &Repo, ledger: &Ledger, record: &Record, subject: &str) -> Result<String> {
    let cycle = record.cycle;
    let nothing = |why: &str| {
        Error::usage(format!(
            "there is nothing to take back of cycle {cycle}: {why}"
        ))
        .hint(format!("`evolve show {cycle}` tells what became of it"))
    };
    if record.is_refused() {
        return Err(nothing("it was an undo that was refused"));
    }
    if record.is_undone() {
        return Err(nothing("its change was undone"));
    }
    let Some(changed) = Changed::of(repo, ledger, record)? else {
        return Err(nothing(Changed::why_none(repo, ledger, record)?));
    };
    let (_, head) = repo.ready_head()?;
    // A rebase makes the commits anew: what they changed is there all the same.
    let is_here = repo.descends(&head, &changed.to)?;
    match repo.without(&head, &changed)? {
        Without::Tree(tree) if repo.changes_submodule(&head, &tree)? => Err(Error::unsafe_repo(
            format!("cycle {cycle} moved a submodule, which cannot be taken back alone"),
        )
        .hint("check the earlier commit out in the submodule, and commit that")),
        Without::Tree(tree) => {
            let taken_back = repo.commits_since(&changed.from, &changed.to, NAMED)?;
            let line = |one: &Commit| format!("{} {}", one.id, clean_line(&one.subject));
            let lines: Vec<String> = taken_back.iter().map(line).collect();
            repo.store_commit(&tree, &head, &undo_message(cycle, subject, &lines))
        }
        Without::Nothing if !is_here => Err(nothing("its change is not on this branch")),
        Without::Nothing => Err(nothing("it was taken back already")),
        Without::Changed(paths, _) if !is_here => Err(elsewhere(cycle, &paths)),
        Without::Changed(paths, commits) => {
            let commits = lasting(repo, &ledger.history, commits)?;
            Err(in_the_way(cycle, &paths, &commits))
        }
    }
}

/// Returns the first line of the commit that takes a cycle back: whose change is gone by it, or there again.
fn subject(record: &Record, turn: Option<Turn>, first: Option<&Record>) -> String {
    let goal = |record: Option<&Record>| {
        let goal = record.and_then(|record| record.goal_id.as_deref());
        goal.map_or(String::new(), |goal| {
            format!(" ({})", mask::line(goal, SUBJECT))
        })
    };
    let (cycle, of) = (record.cycle, goal(first));
    match turn {
        None => format!("take back cycle {cycle}{}", goal(Some(record))),
        Some(Turn::Back(first)) => {
            format!("bring back cycle {first}{of}, which cycle {cycle} took back")
        }
        Some(Turn::GoneAgain(first)) => {
            format!("take back cycle {first}{of} again, which cycle {cycle} brought back")
        }
    }
}

/// Leaves out the commits of cycles that were undone: what they did, their undo took back.
fn lasting(repo: &Repo, history: &History, commits: Vec<Commit>) -> Result<Vec<Commit>> {
    let mut undone = HashSet::new();
    for record in &history.records {
        let is_one = commits.iter().any(|one| one.id == record.commit_sha);
        if let Some(start) = record.reverted_to.as_deref().filter(|_| is_one) {
            let all = repo.commits_since(start, &record.commit_sha, MOST_UNDONE)?;
            undone.extend(all.into_iter().map(|one| one.id));
        }
    }
    let lasting = commits.into_iter();
    Ok(lasting.filter(|one| !undone.contains(&one.id)).collect())
}

/// The error of a change whose commits are not on this branch, and which is here in part at most.
fn elsewhere(cycle: u64, paths: &[String]) -> Error {
    let paths: Vec<String> = paths.iter().map(|path| clean_line(path)).collect();
    Error::unsafe_repo(format!(
        "cycle {cycle} cannot be taken back: its commits are not on this branch, and what it changed in {} is not here as it was",
        some_of(&paths, NAMED)
    ))
    .hint(format!(
        "go to the branch that has them, or do it by hand: `evolve show {cycle}` has the diff; nothing was changed"
    ))
}

fn in_the_way(cycle: u64, paths: &[String], commits: &[Commit]) -> Error {
    let paths: Vec<String> = paths.iter().map(|path| clean_line(path)).collect();
    let named = |one: &Commit| {
        let id: String = one.id.chars().take(10).collect();
        format!("{id} ({})", mask::line(&one.subject, SUBJECT))
    };
    let by: Vec<String> = commits.iter().map(named).collect();
    let by = match by.is_empty() {
        true => "later merges".to_owned(),
        false => some_of(&by, NAMED),
    };
    Error::unsafe_repo(format!(
        "cycle {cycle} cannot be taken back alone: the same lines of {} were changed later, by {by}",
        some_of(&paths, NAMED)
    ))
    .hint("take these back first, the newest first, or do it by hand: nothing was changed")
}

/// Returns how a session ends that was to take a cycle back: 10 where the change is still there, 3 where something stands in the
/// way of `commit`, the one without it in this repository.
pub fn ending(
    not_done: &str,
    commit: Option<(&Repo, &str)>,
    ending: Ending,
    last: Option<&Record>,
    events: &Events,
) -> Ending {
    let failed = |record: &&Record| record.result == CycleResult::Failed;
    let standing = match (last.filter(failed), commit) {
        (Some(_), Some((repo, commit))) => standing(repo, commit).ok().flatten(),
        (None, _) | (_, None) => None,
    };
    if let Some(standing) = standing {
        events.warn(format!("{not_done}: {standing}"));
        return Ending {
            exit_code: Kind::Unsafe.exit_code(),
            ..ending
        };
    }
    match last {
        Some(record) if record.result == CycleResult::Harvested => return ending,
        // Why stands in the cycle's lines, and that it stays in the last one.
        Some(record) if record.is_refused() => {
            if let Some((_, commit)) = commit {
                let commit = commit.get(..SHORT).unwrap_or(commit);
                events.note(format!(
                    "`git cherry-pick {commit}` does it all the same, whatever the goals say"
                ));
            }
        }
        Some(record) => {
            let why = record.reason.as_deref().unwrap_or(record.result.word());
            events.warn(format!("{not_done}: {why}"));
        }
        None => events.warn(format!("{not_done}: {}", ending.reason)),
    }
    match ending.exit_code {
        0 => Ending {
            exit_code: Kind::Failing.exit_code(),
            ..ending
        },
        _ => ending,
    }
}
