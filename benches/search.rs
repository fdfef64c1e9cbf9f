//! What a search costs beside its agents and its fitness command: each attempt, as the search grows long, many at once in a
//! large repository, and finding out what comes next.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use evolve::model::search::lineage::{
    Edited, Entry, Lineage, Measured, Outcome, Plan, Request, Status, Strategy,
};
use evolve::search::standing::Known;
use evolve::search::{Next, Task, next, next_from};

use super::support::{Goal, Outcome as Came, Report, Scratch, Timing, bare, in_turn, timed};

const AGENT: &str = "echo $EVOLVE_ATTEMPT >x";
const FITNESS: &str = "cat x";
/// How many attempts the long search has.
const LONG: u64 = 2000;
/// How many attempts at its begin and at its end are compared.
const PART: u64 = 100;

fn searched(scratch: &Scratch, attempts: u64, more: &[&str]) -> Came<Duration> {
    let agent = format!("--agent={AGENT}");
    let most = format!("--max-attempts={attempts}");
    let words = [
        "search",
        FITNESS,
        "--files=x",
        "--stale=off",
        "--seed=1",
        &agent,
        &most,
    ];
    let took = scratch.evolve(&[&words, more].concat(), |_| {})?;
    let refs = scratch.git(&["for-each-ref", "--format=x", "refs/evolve/search"])?;
    // One of them names the untouched code.
    match refs.lines().count() as u64 == attempts + 1 {
        true => Ok(took),
        false => Err("an attempt went wrong".into()),
    }
}

fn discard(scratch: &Scratch) -> Came {
    scratch.evolve(&["search", "discard"], |_| {}).map(|_| ())
}

/// The same work with git alone: the agent's copy and the one that is measured in are put on a commit and cleaned, the change
/// is found and stored, committed and named.
fn floor(scratch: &Scratch, attempts: u64) -> Came<Duration> {
    let copies = ["one", "two"].map(|name| scratch.beside(name));
    for copy in &copies {
        if !copy.exists() {
            let from = scratch.root().display().to_string();
            let to = copy.display().to_string();
            scratch.git(&["clone", "--quiet", "--shared", &from, &to])?;
        }
    }
    let git = |place: &Path, words: &[&str]| -> Came<String> {
        let mut command = scratch.command("git");
        let output = command.current_dir(place).args(words).output()?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into()),
        }
    };
    let user = scratch.root();
    let mut parent = scratch.git(&["rev-parse", "HEAD"])?;
    let mut spent = Duration::ZERO;
    for attempt in 1..=attempts {
        let began = Instant::now();
        git(&copies[0], &["read-tree", "--reset", "-u", &parent])?;
        git(&copies[0], &["clean", "-ffdq"])?;
        fs::write(copies[0].join("x"), format!("{attempt}\n"))?;
        git(
            &copies[0],
            &["status", "--porcelain", "-z", "--untracked-files=all"],
        )?;
        let file = copies[0].join("x").display().to_string();
        let blob = git(&user, &["hash-object", "-w", &file])?;
        let index = format!("100644,{blob},x");
        git(&copies[1], &["read-tree", "--reset", "-u", &parent])?;
        git(&copies[1], &["update-index", "--cacheinfo", &index])?;
        let tree = git(&copies[1], &["write-tree"])?;
        let commit = git(
            &user,
            &["commit-tree", &tree, "-p", &parent, "-m", "attempt"],
        );
        // The tree lies in the copy, which the user's repository does not see.
        let commit = commit.or_else(|_| {
            git(
                &copies[1],
                &["commit-tree", &tree, "-p", &parent, "-m", "attempt"],
            )
        })?;
        git(
            &copies[1],
            &["update-ref", &format!("refs/attempts/{attempt}"), &commit],
        )?;
        git(
            &copies[1],
            &["checkout-index", "--all", "--force", "--quiet"],
        )?;
        git(&copies[1], &["clean", "-ffdq"])?;
        spent += began.elapsed();
        parent = scratch.git(&["rev-parse", "HEAD"])?;
    }
    Ok(spent)
}

/// What agent and fitness command take by themselves.
fn others(scratch: &Scratch, attempts: u64) -> Came<Duration> {
    let place = scratch.root().display().to_string();
    let lines = [
        "echo 1 >/dev/null".to_owned(),
        format!("cd '{place}'; {FITNESS}"),
    ];
    let commands: Vec<&str> = (0..attempts)
        .flat_map(|_| lines.iter().map(String::as_str))
        .collect();
    bare(|| scratch.command("/bin/sh"), &commands, 1)
}

/// An attempt in a small repository.
pub fn each_attempt(report: &mut Report) -> Came {
    const MANY: u64 = 40;
    let scratch = Scratch::with_files(100, "")?;
    scratch.write("x", "0\n")?;
    scratch.commit_all()?;
    let ours = || {
        let took = searched(&scratch, MANY, &[])?;
        discard(&scratch)?;
        Ok(took.saturating_sub(others(&scratch, MANY)?))
    };
    let (ours, floor) = in_turn(3, ours, || floor(&scratch, MANY))?;
    let each = (ours.per(MANY as usize), floor.per(MANY as usize));
    report.time("an attempt, tool time", each, Goal::Times(2.0));
    Ok(())
}

/// The last attempts of a long search beside its first.
pub fn long(report: &mut Report) -> Came {
    let scratch = Scratch::with_files(100, "")?;
    scratch.write("x", "0\n")?;
    scratch.commit_all()?;
    searched(&scratch, LONG, &[])?;
    let at = |id: u64| -> Came<SystemTime> {
        let folder = scratch.root().join(format!(".git/evolve/search/1/{id}"));
        Ok(fs::metadata(folder.join("brief.txt"))?.modified()?)
    };
    let between = |first: u64, last: u64| -> Came<Timing> {
        let took = at(last)?.duration_since(at(first)?)?.as_secs_f64();
        Ok(Timing::exactly(took).per((last - first) as usize))
    };
    let ours = between(LONG - PART, LONG)?;
    let floor = between(2, 2 + PART)?;
    report.time("the 2,000th attempt", (ours, floor), Goal::Times(1.25));
    Ok(())
}

/// Sixteen attempts at once in 30,000 files.
pub fn at_once(report: &mut Report) -> Came {
    let scratch = Scratch::with_files(30_000, "")?;
    scratch.write("x", "0\n")?;
    scratch.commit_all()?;
    let ours = searched(&scratch, 16, &["--agents=16", "--benchmarks=16"])?;
    let floor = timed(|| {
        for copy in 0..32 {
            let from = scratch.root().display().to_string();
            let to = scratch
                .beside(&format!("copy-{copy}"))
                .display()
                .to_string();
            scratch.git(&["clone", "--quiet", "--shared", &from, &to])?;
        }
        Ok(())
    })?;
    let both = [ours, floor].map(|took| Timing::exactly(took.as_secs_f64()));
    report.time(
        "16 at once in 30,000 files",
        (both[0], both[1]),
        Goal::Times(2.0),
    );
    Ok(())
}

/// What comes next after 10,000 attempts.
pub fn what_is_next(report: &mut Report) -> Came {
    let lineage = climbed(10_000);
    let ours = || {
        let began = Instant::now();
        let next = next(&lineage, None);
        let took = began.elapsed();
        match next {
            Next::Propose(_) => Ok(took),
            Next::Do(_) | Next::End(_) => Err("there is another attempt to propose".into()),
        }
    };
    let file = serde_json::to_string(
        &lineage
            .attempts
            .iter()
            .map(|one| &one.edits)
            .collect::<Vec<_>>(),
    )?;
    let floor = || timed(|| Ok(serde_json::from_str::<serde_json::Value>(&file)?));
    let both = in_turn(15, ours, floor)?;
    report.time("next after 10,000 attempts", both, Goal::Seconds(0.050));
    Ok(())
}

/// A climb of so many attempts, of which one in seven is better.
fn climbed(attempts: u64) -> Lineage {
    let mut lineage = Lineage::new(plan());
    let mut known = Known::default();
    loop {
        let entry = match next_from(&mut known, &lineage, None) {
            Next::Propose(proposal) if proposal.id > attempts => return lineage,
            Next::Propose(proposal) => Entry::Attempt(proposal),
            Next::Do(tasks) => done(&tasks[0]),
            Next::End(_) => return lineage,
        };
        lineage.take(entry).expect("an entry that was asked for");
    }
}

fn done(task: &Task) -> Entry {
    match *task {
        Task::Edit { id, .. } => Entry::Edit {
            id,
            edited: Edited {
                status: Status::Changed,
                content: Some(format!("{id:040x}")),
                commit: Some(format!("{id:040x}")),
                summary: None,
                reason: None,
                left_out: Vec::new(),
                lessons: Vec::new(),
                duration_s: 0.0,
                tokens: None,
                cost_usd: None,
            },
        },
        Task::Measure { id, what } => {
            let score = if id % 7 == 0 { id as f64 } else { 0.0 };
            let outcome = Outcome::Scored {
                samples: vec![score],
                beside: Vec::new(),
            };
            let measured = Measured {
                outcome,
                channel: None,
                leaned_on: Vec::new(),
                duration_s: 0.0,
            };
            Entry::Measurement { id, what, measured }
        }
    }
}

fn plan() -> Plan {
    Plan {
        format: 1,
        strategy: Strategy::Climb,
        direction: evolve::model::search::lineage::Direction::Max,
        repeats: 3,
        agents: 1,
        until: None,
        seed: 1,
        stale: Some(20),
        max_attempts: None,
        lenses: ["a", "b", "c"].map(String::from).to_vec(),
        has_holdout: false,
        content: "start".to_owned(),
        request: Request::default(),
    }
}
