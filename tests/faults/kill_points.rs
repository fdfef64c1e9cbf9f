//! SIGKILL at any point of a whole session: the next start settles what is left, and nothing of the user's is lost.
//!
//! One undisturbed run under `strace` tells every system call with which `evolve` and each git that it calls change
//! anything. A case kills at one of them, in the reference's own order spread evenly over all, looks at what may be looked
//! at at once, lets the next start settle it, and checks the invariants I1 to I9. A failing case prints its seed and its
//! point; `SEED=<seed>` or `POINT=<point>` runs it again.

pub mod invariants;
mod order;
pub mod points;
pub mod scenario;

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::chance::{Chance, cases, seeds};
use crate::harness::{TestRepo, finish, wait_until};

use points::{Point, Strike, strike, strike_again};
use scenario::{Before, Scenario, go_on, settle};

/// How many cases run at once.
pub const WORKERS: usize = 2;

/// Everything that cases start from.
pub struct Ground {
    scenes: Vec<(Scenario, TestRepo, Before)>,
    pub points: Vec<Point>,
}

impl Ground {
    /// Prepares each scenario and watches it once.
    pub fn new() -> Ground {
        let mut ground = Ground {
            scenes: Vec::new(),
            points: Vec::new(),
        };
        for scenario in Scenario::ALL {
            let repo = scenario.prepared();
            ground.points.extend(points::of(scenario, &repo));
            let before = Before::of(scenario, &repo);
            ground.scenes.push((scenario, repo, before));
        }
        ground
    }

    /// A fresh copy of a scenario's repository, and what must be there again.
    pub fn scene(&self, scenario: Scenario) -> (TestRepo, &Before) {
        let scene = self.scenes.iter().find(|scene| scene.0 == scenario);
        let (_, repo, before) = scene.unwrap();
        (repo.copied(), before)
    }

    /// The point of a seed: neighbouring seeds are far apart, and any run of seeds is spread evenly over all points.
    pub fn point(&self, seed: u64) -> Point {
        if let Ok(point) = std::env::var("POINT") {
            return point.parse().unwrap();
        }
        let all = self.points.len() as u64;
        let place = match seed < all {
            // The golden ratio's fraction; for a whole night every point has its turn.
            true => (u128::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * u128::from(all)) >> 64,
            false => u128::from(Chance::of(seed).below(all)),
        };
        self.points[usize::try_from(place).unwrap()].clone()
    }
}

/// Runs a case for each seed, `WORKERS` at once, and fails with all that failed.
pub fn run_all(seeds: &[u64], case: impl Fn(u64) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let mut failures = Vec::new();
            while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(*seed)));
                match ran {
                    Ok(Ok(())) => {}
                    Ok(Err(why)) => failures.push(format!("SEED={seed}: {why}")),
                    Err(panic) => failures.push(format!("SEED={seed}: {}", words(&panic))),
                }
            }
            failures
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let all = workers.into_iter().map(|worker| worker.join().unwrap());
        all.flatten().collect()
    });
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} of {} cases failed:\n{}",
        seeds.len(),
        failures.join("\n\n")
    );
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

#[test]
fn after_a_kill_at_any_point_the_next_start_puts_everything_right() {
    let ground = Ground::new();
    let points = ground.points.len();
    let seeds = seeds(cases(500, 10_000));
    eprintln!("{} of {points} points", seeds.len());
    run_all(&seeds, |seed| {
        let point = ground.point(seed);
        let (repo, before) = ground.scene(point.scenario);
        killed((&repo, before), &point, seed).map_err(|why| format!("POINT={point} {why}"))
    });
}

fn killed((repo, before): (&TestRepo, &Before), point: &Point, seed: u64) -> Result<(), String> {
    let struck = strike(repo, point, Strike::Kill);
    let mut chance = Chance::of(seed);
    if chance.one_in(4) {
        // The start that would settle it is killed, too.
        repo.write(".agents/evolve/STOP", "");
        strike_again((point.scenario, repo), &mut chance);
    }
    let said = |what: &str, run: &crate::harness::Run| {
        format!("\n--- {what}: {}\n{}{}", run.code, run.stdout, run.stderr)
    };
    if (struck.stderr.clone() + &struck.stdout).contains("panicked") {
        return Err(said("it panicked", &struck));
    }
    invariants::hold_at_once(repo).map_err(|why| why + &said("struck", &struck))?;
    let settled = settle(repo);
    let told = said("struck", &struck) + &said("settled", &settled);
    if settled.code != 0 {
        return Err(format!("the next start failed{told}"));
    }
    invariants::hold_when_settled(repo, before).map_err(|why| why + &told)?;
    let head = repo.head();
    let again = settle(repo);
    if repo.head() != head || again.code != 0 {
        return Err(format!(
            "I8: another start changed something{told}{}",
            said("again", &again)
        ));
    }
    let gone_on = go_on(repo);
    let told = told + &said("gone on", &gone_on);
    if gone_on.code != 0
        || !repo
            .content("HEAD")
            .iter()
            .any(|line| line.ends_with("\ta"))
    {
        return Err(format!("the next session failed{told}"));
    }
    invariants::sound(repo).map_err(|why| format!("after the next session: {why}{told}"))
}

#[test]
fn a_commit_that_lands_right_before_an_undo_stays_and_a_human_is_asked() {
    // The session is halted between its plan and the movement of the branch; a machine may be too busy to halt it in time.
    for _ in 0..20 {
        let repo = Scenario::Undone.prepared();
        let mut command = repo.command("strace");
        command.args(["-o", "/dev/null", "-e", "trace=rename"]);
        command.args(["-e", "inject=rename:delay_exit=300000"]);
        command.arg(env!("CARGO_BIN_EXE_evolve"));
        command.args(Scenario::Undone.arguments(&repo));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let journal = repo.private().join("journal.json");
        wait_until("the undo is planned", || {
            fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"phase\":\"undoing\""))
        });
        let lock = fs::read_to_string(repo.private().join("lock")).unwrap();
        let pid = lock.split(' ').next().unwrap().to_owned();
        let send = |signal: &str| Command::new("kill").args([signal, &pid]).status().unwrap();
        send("-STOP");
        let planned: Value = serde_json::from_str(&fs::read_to_string(&journal).unwrap()).unwrap();
        let is_in_time = repo.head() == planned["plan"]["branch_was"];
        repo.git(&["commit", "--quiet", "--allow-empty", "-m", "mine"]);
        let mine = repo.head();
        send("-CONT");
        let run = finish(child);
        if !is_in_time {
            continue;
        }
        let run = run.expect(11);
        assert!(
            run.stdout.contains("somebody else committed"),
            "{}",
            run.stdout
        );
        assert_eq!(repo.newest()["result"], "interrupted");
        assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine);
        assert!(
            repo.has("a") && repo.has("new"),
            "what the agent did was touched"
        );
        assert_eq!(repo.read("precious"), "my only copy\n");
        invariants::sound(&repo).unwrap();
        return;
    }
    panic!("the session was never halted in time");
}
