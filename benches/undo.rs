//! What an undo costs: of 1 and of 20 commits, beside the git commands that a person would undo them with.

use std::time::Duration;

use evolve::effects::repo::Repo;
use evolve::effects::workspace::{WayOut, Workspace};
use evolve::model::gate::Fate;

use super::support::{Goal, Outcome, Report, Scratch, in_turn, timed};

/// How many files the commits change in all.
const CHANGED: usize = 100;

/// Undoes 1 and 20 commits that change the same 100 of 10,000 files.
pub fn undo(report: &mut Report) -> Outcome {
    let scratch = Scratch::with_files(10_000, "")?;
    for commits in [1, 20] {
        let mut cycle = 0;
        let both = in_turn(
            11,
            || {
                cycle += 1;
                by_evolve(&scratch, commits, cycle)
            },
            || by_hand(&scratch, commits),
        )?;
        let what = format!("undo of {commits} commits in 10,000 files");
        report.time(
            &what.replace("1 commits", "1 commit"),
            both,
            Goal::Times(1.5),
        );
    }
    Ok(())
}

/// Makes commits that together change, add and delete a hundred files, with an agent's mark.
fn work(scratch: &Scratch, commits: usize, mark: &str) -> Outcome {
    for commit in 0..commits {
        for file in (commit..CHANGED).step_by(commits) {
            let name = |file: usize| format!("files/0/{file}/{file}.txt");
            match file % 10 {
                0 => scratch.write(&format!("files/0/{file}/new.txt"), "new\n")?,
                1 => std::fs::remove_file(scratch.root().join(name(file)))?,
                _ => scratch.write(&name(file), "changed\n")?,
            }
        }
        scratch.git(&["add", "--all"])?;
        let mut commit = scratch.command("git");
        commit.args(["commit", "--quiet", "--message=work"]);
        let done = commit.env("GIT_REFLOG_ACTION", mark).status()?;
        assert!(done.success(), "git commit: {done}");
    }
    Ok(())
}

fn by_evolve(scratch: &Scratch, commits: usize, cycle: u64) -> Outcome<Duration> {
    let repo = Repo::discover(&scratch.root())?;
    let workspace = Workspace { repo: &repo };
    let start = workspace.begin(&format!("bench-{commits}"), cycle, WayOut::Commit, &[])?;
    work(scratch, commits, &start.mark())?;
    let repo = Repo::discover(&scratch.root())?;
    let workspace = Workspace { repo: &repo };
    let stock = workspace.take_stock(&start)?;
    let took = timed(|| {
        let plan = workspace.plan_undo(&start, &stock, "revert", "bench")?;
        workspace.settle(&start, &stock, Fate::Undo, plan.as_ref())?;
        Ok(workspace.verify_undone(&start)?)
    })?;
    is_undone(scratch, &start.commit)?;
    Ok(took)
}

fn by_hand(scratch: &Scratch, commits: usize) -> Outcome<Duration> {
    let start = scratch.git(&["rev-parse", "HEAD"])?;
    work(scratch, commits, "by hand")?;
    let took = timed(|| {
        scratch.git(&["update-ref", "refs/kept", "HEAD"])?;
        scratch.git(&["read-tree", "-m", "-u", "HEAD", &start])?;
        scratch.git(&["commit", "--quiet", "--message=revert"])?;
        scratch.git(&["status", "--porcelain"])
    })?;
    is_undone(scratch, &start)?;
    Ok(took)
}

/// Fails unless the tree is clean and has the content of a commit.
fn is_undone(scratch: &Scratch, start: &str) -> Outcome {
    let differs = scratch.git(&["diff", "--name-only", start, "HEAD"])?;
    let dirty = scratch.git(&["status", "--porcelain"])?;
    match differs.is_empty() && dirty.is_empty() {
        true => Ok(()),
        false => Err(format!("the undo is wrong: {differs} {dirty}").into()),
    }
}
