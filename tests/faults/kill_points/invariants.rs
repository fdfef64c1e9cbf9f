//! What must hold after a fault, once the next start has settled it: the invariants I1 to I9.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::scenario::{Before, refs};
use crate::harness::{TestRepo, everything_below, is_alive};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";

/// What must hold at once, before anything was settled: nothing that others read is half-written.
pub fn hold_at_once(repo: &TestRepo) -> Result<(), String> {
    for name in public_files(repo) {
        let text = fs::read_to_string(&name).map_err(|cause| format!("{name:?}: {cause}"))?;
        let is_whole = match name.extension().and_then(|extension| extension.to_str()) {
            Some("json") => serde_json::from_str::<Value>(&text).is_ok(),
            Some("jsonl") => {
                text.is_empty()
                    || text.ends_with('\n')
                        && text
                            .lines()
                            .all(|line| serde_json::from_str::<Value>(line).is_ok())
            }
            _ => text.is_empty() || text.ends_with('\n'),
        };
        if !is_whole {
            return Err(format!("{} is half-written: {text:?}", name.display()));
        }
    }
    Ok(())
}

/// The ledger's files and the journal; not the temporary ones, which nobody reads.
fn public_files(repo: &TestRepo) -> Vec<PathBuf> {
    let mut found = vec![];
    for folder in [
        repo.path(".agents/evolve"),
        repo.path(".agents/rpi"),
        repo.private(),
    ] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        found.extend(paths.filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            path.is_file() && !name.starts_with('.') && name != "lock"
        }));
    }
    found
}

/// What must hold once the fault was settled.
pub fn hold_when_settled(repo: &TestRepo, before: &Before) -> Result<(), String> {
    users_bytes(repo, before)?;
    sound(repo)?;
    let content = repo.content("HEAD");
    check(before.contents.contains(&content), || {
        format!("I3: HEAD holds neither the start's nor the accepted content: {content:?}")
    })?;
    agents_commits(repo)?;
    nobody_lives(repo)
}

/// What must hold whatever the content is: a sound repository in agreement with itself.
pub fn sound(repo: &TestRepo) -> Result<(), String> {
    repo.git(&["fsck", "--strict", "--no-dangling"]);
    check(
        repo.git(&["symbolic-ref", "HEAD"]) == "refs/heads/main",
        || "HEAD is elsewhere".to_owned(),
    )?;
    let tracked = repo.git(&["status", "--porcelain", "--untracked-files=no"]);
    // Work that is queued while no session runs waits for the next one's commit.
    let dirty: Vec<_> = tracked.lines().collect();
    check(dirty.is_empty(), || {
        format!("I4: tree and index differ from HEAD: {dirty:?}")
    })?;
    history(repo)?;
    let locks = locks(&repo.path(".git"));
    check(locks.is_empty(), || {
        format!("I7: locks are left: {locks:?}")
    })?;
    check(!repo.private().join("journal.json").exists(), || {
        "the journal is left".to_owned()
    })?;
    let temporary: Vec<_> = everything_below(&repo.root())
        .into_keys()
        .filter(|path| path.to_string_lossy().ends_with(".tmp"))
        .collect();
    check(temporary.is_empty(), || {
        format!("temporary files are left: {temporary:?}")
    })
}

fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(why()),
    }
}

/// I1: every byte of the user's is in place; what somebody wrote in the way of an undo is there or in the quarantine.
fn users_bytes(repo: &TestRepo, before: &Before) -> Result<(), String> {
    for (name, bytes) in &before.users {
        let now = fs::read(repo.path(name)).ok();
        check(now.as_ref() == Some(bytes), || {
            format!("I1: {name} is {:?}", now.map(String::from_utf8))
        })?;
    }
    check(refs(repo) == before.refs, || {
        format!("I1: refs are {:?}", refs(repo))
    })?;
    if repo.out("wrote").exists() {
        let theirs = b"somebody's\n".to_vec();
        let is_there = fs::read(repo.path("folder/other")).ok() == Some(theirs.clone());
        let is_quarantined = repo
            .quarantined()
            .values()
            .any(|(_, bytes)| *bytes == theirs);
        let is_committed = repo.git(&["grep", "-h", "somebody's", "HEAD"]).is_empty();
        check(is_there || is_quarantined || is_committed, || {
            "I1: what somebody wrote during the cycle is gone".to_owned()
        })?;
    }
    Ok(())
}

/// I5: what the agent committed is reachable.
fn agents_commits(repo: &TestRepo) -> Result<(), String> {
    let commits = fs::read_to_string(repo.out("commits")).unwrap_or_default();
    let mine = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/evolve"]);
    let mut tips = vec!["HEAD"];
    tips.extend(mine.lines());
    let reachable = repo.git(&[&["rev-list"], &tips[..]].concat());
    let reachable: BTreeSet<&str> = reachable.lines().collect();
    for commit in commits.lines() {
        check(reachable.contains(commit), || {
            format!("I5: the agent's commit {commit} is reachable no more")
        })?;
    }
    Ok(())
}

/// I6: one line a cycle, each with its commit, and the file is what HEAD has.
fn history(repo: &TestRepo) -> Result<(), String> {
    let text = fs::read_to_string(repo.path(HISTORY)).unwrap_or_default();
    let committed = match repo.git(&["ls-tree", "HEAD", "--", HISTORY]).is_empty() {
        true => String::new(),
        false => repo.git(&["show", &format!("HEAD:{HISTORY}")]),
    };
    check(text.trim_end() == committed, || {
        format!("I6: the history is not HEAD's: {text:?}, {committed:?}")
    })?;
    let cycles: Vec<u64> = text
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap_or_default();
            record["cycle"].as_u64().unwrap_or_default()
        })
        .collect();
    let expected: Vec<u64> = (1..=cycles.len() as u64).collect();
    check(cycles == expected, || {
        format!("I6: the cycles are {cycles:?}")
    })?;
    let format = "--format=%(trailers:key=Evolve-Result,valueonly,separator=%x2C)|%s";
    let subjects = repo.git(&["log", "--first-parent", format]);
    let recorded = subjects
        .lines()
        .filter(|line| !line.starts_with('|') && !line.is_empty())
        .count();
    check(recorded == cycles.len(), || {
        format!("I6: {} records, {recorded} commits", cycles.len())
    })
}

fn locks(git_dir: &Path) -> Vec<PathBuf> {
    everything_below(git_dir)
        .into_keys()
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "lock")
        })
        .collect()
}

/// I9: nothing that the session had started lives.
fn nobody_lives(repo: &TestRepo) -> Result<(), String> {
    let pids = fs::read_to_string(repo.out("pids")).unwrap_or_default();
    let alive: Vec<u32> = pids
        .lines()
        .filter_map(|pid| pid.parse().ok())
        .filter(|pid| is_alive(*pid) && is_of(*pid, repo))
        .collect();
    check(alive.is_empty(), || format!("I9: alive: {alive:?}"))
}

/// Says whether a process is one of this repository's: a pid may have been given to somebody else since.
fn is_of(pid: u32, repo: &TestRepo) -> bool {
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let own = format!("OUT={}", repo.outside().display());
    environ
        .split(|byte| *byte == 0)
        .any(|entry| entry == own.as_bytes())
}
