//! How fast the program starts: by itself, and on a long history.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::support::{EVOLVE, Goal, Outcome, Report, Scratch, in_turn, timed};

const GOALS: &str = "  - {id: fine, description: d, check: \"true\", weight: 5}\n";
const ARGUMENTS: [&str; 4] = [
    "--max-cycles=1",
    "--skip-baseline",
    "--agent=true",
    "--json",
];
/// How many records lie in a segment, and how many segments there are beside the active file.
const SEGMENT: usize = 4_000;
const SEGMENTS: usize = 24;

/// `evolve --version`.
pub fn version(report: &mut Report) -> Outcome {
    let run = |program: &str, argument: &str| {
        let mut command = Command::new(program);
        command.arg(argument);
        timed(|| Ok(command.output()?))
    };
    let both = in_turn(
        100,
        || run(EVOLVE, "--version"),
        || run("true", "--version"),
    )?;
    report.time("evolve --version", both, Goal::Seconds(0.010));
    Ok(())
}

/// The start of the loop with 100,000 cycles behind it.
pub fn long(report: &mut Report) -> Outcome {
    let scratch = Scratch::with_files(100, GOALS)?;
    let new = Scratch::with_files(100, GOALS)?;
    let folder = scratch.root().join(".agents/evolve");
    fs::create_dir_all(&folder)?;
    for segment in 0..=SEGMENTS {
        let name = match segment {
            SEGMENTS => "cycle-history.jsonl".to_owned(),
            older => format!("cycle-history.{:04}.jsonl", older + 1),
        };
        let first = segment * SEGMENT + 1;
        let records: String = (first..first + SEGMENT).map(record).collect();
        fs::write(folder.join(name), records)?;
    }
    scratch.commit_all()?;
    let both = in_turn(15, || start(&scratch), || start(&new))?;
    report.time("start after 100,000 cycles", both, Goal::Seconds(0.050));
    report.memory("  its peak memory", (peak(&scratch)?, peak(&new)?), 50.0);
    Ok(())
}

/// A record as the loop writes it.
fn record(cycle: usize) -> String {
    let commit = format!("{cycle:040x}");
    format!(
        r#"{{"format":1,"cycle":{cycle},"goal_id":"goal-{}","result":"unchanged","commit_sha":"{commit}","reverted_to":null,"goals_passing":22,"goals_total":23,"goals_added":0,"timestamp":"2026-02-11T21:00:00Z","score_before":95.6,"score_after":95.6,"newly_failing":[],"newly_passing":[],"reason":"it still fails, and nothing got worse","definition":"{commit}","content":"{commit}","session":"20260211T210000Z-4711","agent":{{"name":"agent","status":"done","exit":0,"duration_s":61.5,"tokens":null,"cost_usd":null}}}}"#,
        cycle % 23
    ) + "\n"
}

/// Runs the loop; returns the time from its start until it was about to run the first check.
fn start(scratch: &Scratch) -> Outcome<Duration> {
    let began = Instant::now();
    let mut first = None;
    scratch.evolve(&ARGUMENTS, |line| {
        if line.contains(r#""event":"measure-started""#) {
            first.get_or_insert_with(|| began.elapsed());
        }
    })?;
    first.ok_or_else(|| "nothing was measured".into())
}

/// Runs the loop; returns the peak of its memory in MB.
fn peak(scratch: &Scratch) -> Outcome<f64> {
    let file = scratch.beside("peak");
    let this = std::env::current_exe()?;
    let mut command = scratch.command(&this.to_string_lossy());
    command
        .arg("--peak-of")
        .arg(&file)
        .arg(EVOLVE)
        .args(ARGUMENTS);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(fs::read_to_string(file)?.parse::<f64>()? / 1024.0)
}
