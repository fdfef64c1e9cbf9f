//! What one whole cycle costs beside its agent and its checks, in a small repository and in one of 100,000 files.

use std::time::Duration;

use super::support::{Goal, Outcome, Report, Scratch, Timing, bare, jobs, timed};

/// What the agent does; evolve commits it.
const AGENT: &str = "echo mended >mended";
/// What the heaviest of the goals asks for.
const CHECK: &str = "test -e mended";

/// 23 goals that take no time: one is to be mended.
fn goals() -> String {
    let trivial =
        |index| format!("  - {{id: g{index}, description: d, check: \"true\", weight: 5}}\n");
    let listed: String = (1..23).map(trivial).collect();
    format!("  - {{id: mended, description: d, check: {CHECK}, weight: 9}}\n{listed}")
}

/// Runs one kept cycle; returns how long the program took, and the same agent and checks without it.
fn cycle(scratch: &Scratch) -> Outcome<(Duration, Duration)> {
    if scratch.root().join("mended").exists() {
        scratch.git(&["rm", "--quiet", "mended"])?;
        scratch.git(&["commit", "--quiet", "--message=broken"])?;
    }
    let mut said = String::new();
    let agent = format!("--agent={AGENT}");
    let arguments = ["--max-cycles=1", "--json", &agent];
    let took = scratch.evolve(&arguments, |line| said.push_str(line))?;
    if !said.contains(r#""result":"improved""#) {
        return Err(format!("the cycle went wrong: {said}").into());
    }
    let mut checks = vec!["true"; 22];
    checks.push(CHECK);
    let shell = || scratch.command("/bin/sh");
    let mut floor = bare(
        shell,
        &[&format!("cd '{}'; {AGENT}", scratch.root().display())],
        1,
    )?;
    let mut left = said.matches(r#""event":"check-finished""#).count();
    while left > 0 {
        let some = left.min(checks.len());
        floor += bare(shell, &checks[..some], jobs())?;
        left -= some;
    }
    Ok((took, floor))
}

/// Runs cycles; returns the tool time of each and what was subtracted. The first, with its baseline, is not counted.
fn cycles(
    scratch: &Scratch,
    rounds: usize,
    mut between: impl FnMut() -> Outcome,
) -> Outcome<(Timing, Timing)> {
    cycle(scratch)?;
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (took, floor) = cycle(scratch)?;
        times.0.push(took.saturating_sub(floor).as_secs_f64());
        times.1.push(floor.as_secs_f64());
        between()?;
    }
    Ok((Timing::of(times.0), Timing::of(times.1)))
}

/// One cycle in a repository of a hundred files.
pub fn small(report: &mut Report) -> Outcome {
    let scratch = Scratch::with_files(100, &goals())?;
    let both = cycles(&scratch, 15, || Ok(()))?;
    report.time(
        "one cycle of 23 goals, tool time",
        both,
        Goal::Seconds(0.150),
    );
    Ok(())
}

/// One cycle in a repository of 100,000 files.
pub fn large(report: &mut Report) -> Outcome {
    let scratch = Scratch::with_files(100_000, &goals())?;
    let mut status = Vec::new();
    let (ours, _) = cycles(&scratch, 7, || {
        let took = timed(|| scratch.git(&["status", "--porcelain"]))?;
        status.push(took.as_secs_f64());
        Ok(())
    })?;
    let both = (ours, Timing::of(status));
    report.time("the same in 100,000 files", both, Goal::Times(3.0));
    Ok(())
}
