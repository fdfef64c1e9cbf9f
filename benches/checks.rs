//! What supervising a check costs, and how close to the best possible schedule checks run.

use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

use evolve::effects::measure::Measurer;
use evolve::effects::process::Supervisor;
use evolve::effects::sandbox::Fence;
use evolve::effects::stop::Stop;
use evolve::event::{self, Events};
use evolve::model::goals::{self, Goals};
use evolve::model::snapshot::Measurement;
use tokio::runtime::Runtime;

use super::support::{Goal, Outcome, Report, Scratch, Timing, bare, in_turn, jobs, timed};

/// Measures with the library, as the loop does.
struct Bench {
    runtime: Runtime,
    measurer: Measurer,
    scratch: Scratch,
}

impl Bench {
    fn new() -> Outcome<Bench> {
        let scratch = Scratch::new()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || event::listen(&receiver, drop));
        let measurer = runtime.block_on(async {
            let stop = Stop::watch(Vec::new())?;
            Ok::<_, evolve::error::Error>(Measurer {
                supervisor: Supervisor::new(stop.clone(), &scratch.root())?,
                stop,
                events: Events::to(sender),
                root: scratch.root(),
                jobs: jobs(),
                session: "bench".to_owned(),
                fence: Fence::default(),
            })
        })?;
        Ok(Bench {
            runtime,
            measurer,
            scratch,
        })
    }

    fn measure(&self, goals: &Goals, expected: &HashMap<String, f64>) -> Outcome<Vec<Measurement>> {
        let chosen: Vec<_> = goals.goals.iter().collect();
        let logs = self.scratch.beside("logs");
        let measuring = self.measurer.measure(goals, &chosen, expected, Some(&logs));
        self.runtime
            .block_on(measuring)
            .map_err(|halt| halt.reason().into())
    }
}

fn goals_of(checks: &[String]) -> Outcome<(String, Goals)> {
    let goal = |(index, check): (usize, &String)| {
        format!("  - {{id: g{index}, description: d, check: {check}, weight: 5}}\n")
    };
    let listed: String = checks.iter().enumerate().map(goal).collect();
    let text = format!("version: 1\ngoals:\n{listed}");
    let read = goals::read_goals("GOALS.yaml", text.as_bytes());
    let (goals, _) = read.map_err(|problems| format!("{problems:?}"))?;
    Ok((text, goals))
}

/// The cost of 10, 100 and 1,000 checks that do nothing.
pub fn each_check(report: &mut Report) -> Outcome {
    let bench = Bench::new()?;
    for (count, rounds) in [(10, 60), (100, 20), (1000, 7)] {
        let (_, goals) = goals_of(&vec!["\"true\"".to_owned(); count])?;
        let commands = vec!["true"; count];
        let (ours, floor) = in_turn(
            rounds,
            || timed(|| bench.measure(&goals, &HashMap::new())),
            || bare(|| Command::new("sh"), &commands, jobs()),
        )?;
        let both = (ours.per(count), floor.per(count));
        report.time(&format!("{count} checks, each"), both, Goal::Times(1.3));
    }
    let (text, goals) = goals_of(&vec!["\"true\"".to_owned(); 1000])?;
    bench.scratch.write("GOALS.yaml", &text)?;
    let count = goals.goals.len();
    let (ours, floor) = in_turn(
        5,
        || bench.scratch.evolve(&["measure", "--json"], |_| {}),
        || {
            bare(
                || bench.scratch.command("/bin/sh"),
                &vec!["true"; count],
                jobs(),
            )
        },
    )?;
    let both = (ours.per(count), floor.per(count));
    report.time("1000 by `evolve measure`, each", both, Goal::Times(1.3));
    Ok(())
}

/// 40 checks of mixed durations at 2 and 8 jobs.
pub fn schedule(report: &mut Report) -> Outcome {
    let mut bench = Bench::new()?;
    // 20 to 350 ms, as scattered as the durations of real checks, the same in every run.
    let milliseconds: Vec<u64> = (0..40).map(|index| 20 + (index * 137) % 331).collect();
    let check = |milliseconds: &u64| format!("sleep {:.3}", *milliseconds as f64 / 1000.0);
    let checks: Vec<String> = milliseconds.iter().map(check).collect();
    let (_, goals) = goals_of(&checks)?;
    for jobs in [2, 8] {
        bench.measurer.jobs = jobs;
        let measured = bench.measure(&goals, &HashMap::new())?;
        let expected: HashMap<_, _> = measured
            .into_iter()
            .map(|one| (one.id, one.duration_s))
            .collect();
        let mut times = Vec::new();
        for _ in 0..3 {
            times.push(timed(|| bench.measure(&goals, &expected))?.as_secs_f64());
        }
        let longest = milliseconds.iter().max().copied().unwrap_or_default();
        let share = milliseconds.iter().sum::<u64>() as f64 / jobs as f64;
        let best = share.max(Duration::from_millis(longest).as_secs_f64() * 1e3) / 1e3;
        let both = (Timing::of(times), Timing::exactly(best));
        let what = format!("40 mixed checks, {jobs} jobs");
        report.time(&what, both, Goal::Times(1.05));
    }
    Ok(())
}
