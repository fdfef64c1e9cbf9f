//! A search in this process: `search::next_from` says what is done, and a server that holds the tasks does it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use evolve::model::search::lineage::{
    Direction, Edited, Entry, Id, Lineage, Measure, Measured, Outcome, Plan, Request, Status,
    Strategy,
};
use evolve::search::dice::roll;
use evolve::search::standing::{Known, Standing};
use evolve::search::{Next, Task, next_from};
use tempfile::TempDir;

/// The tasks, as a program.
pub fn tasks() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/search/tasks.py"
    ))
}

/// Returns what a search of a task starts from.
pub fn start(task: &str) -> String {
    let mut python = Command::new("python3");
    let output = crate::harness::output(python.arg(tasks()).args(["init", task]));
    String::from_utf8(output.stdout).unwrap()
}

/// The tasks in a process that answers one request after another.
pub struct Server {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Server {
    pub fn new() -> Server {
        let mut python = Command::new("python3");
        python.arg(tasks()).arg("serve");
        let spawned = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.unwrap();
        Server {
            requests: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
            folder: in_memory(),
        }
    }

    pub fn score(&mut self, genome: &str) -> f64 {
        self.ask("score", genome, "").parse().unwrap()
    }

    pub fn mutate(&mut self, genome: &str, dice: u64) -> String {
        self.ask("mutate", genome, &dice.to_string());
        fs::read_to_string(self.file()).unwrap()
    }

    fn ask(&mut self, what: &str, genome: &str, words: &str) -> String {
        fs::write(self.file(), genome).unwrap();
        let request = format!("{what} {} {words}\n", self.file().display());
        self.requests.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim().to_owned()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("genome")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder in memory where there is a place for that: a disk would be waited for thousands of times.
fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() && std::env::var_os("TMPDIR").is_none() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// A search that has no end but its number of attempts.
pub fn plan(strategy: Strategy, task: &str, (seed, attempts): (u64, u64)) -> Plan {
    Plan {
        format: 1,
        strategy,
        direction: Direction::Max,
        repeats: 3,
        agents: 1,
        until: None,
        seed,
        stale: None,
        max_attempts: Some(attempts),
        lenses: Vec::new(),
        has_holdout: false,
        content: start(task),
        request: Request::default(),
    }
}

/// What a sample is beside what the genome is worth.
#[derive(Clone, Copy)]
pub enum Skew {
    /// Nothing.
    None,
    /// A number from a normal distribution with this standard deviation.
    Noise(f64),
    /// A billionth less with each attempt: of equals the older is the better one.
    Older,
}

/// Searches to the end. A mutation and a crossover vary their first parent, which is the better one; so does a fresh start,
/// whose parent is the untouched genome.
pub fn search(server: &mut Server, plan: Plan, skew: Skew) -> Lineage {
    let mut lineage = Lineage::new(plan);
    let mut known = Known::default();
    loop {
        let entry = match next_from(&mut known, &lineage, None) {
            Next::Propose(proposal) => Entry::Attempt(proposal),
            Next::Do(tasks) => perform(server, &lineage, &tasks[0], skew),
            Next::End(_) => return lineage,
        };
        lineage.take(entry).unwrap();
    }
}

fn perform(server: &mut Server, lineage: &Lineage, task: &Task, skew: Skew) -> Entry {
    match *task {
        Task::Edit { id, nth } => {
            let parent = lineage.proposal(id).unwrap().parents[0];
            let genome = lineage.content(parent).unwrap();
            let varied = server.mutate(genome, roll(lineage.plan.seed, id, "edit", nth));
            Entry::Edit {
                id,
                edited: edited((varied != genome).then_some(varied)),
            }
        }
        Task::Measure { id, what } => Entry::Measurement {
            id,
            what,
            measured: Measured {
                outcome: measure(server, lineage, (id, what), skew),
                channel: None,
                leaned_on: Vec::new(),
                duration_s: 0.0,
            },
        },
    }
}

fn edited(content: Option<String>) -> Edited {
    let status = match content {
        Some(_) => Status::Changed,
        None => Status::Unchanged,
    };
    Edited {
        status,
        content,
        commit: None,
        summary: None,
        reason: None,
        left_out: Vec::new(),
        lessons: Vec::new(),
        duration_s: 0.0,
        tokens: None,
        cost_usd: None,
    }
}

fn measure(
    server: &mut Server,
    lineage: &Lineage,
    (id, what): (Id, Measure),
    skew: Skew,
) -> Outcome {
    let mut samples = |of: Id, count: u64| {
        let worth = server.score(lineage.content(of).unwrap());
        let sample = |nth| {
            worth
                + match skew {
                    Skew::None => 0.0,
                    Skew::Noise(deviation) => {
                        let seed = lineage.plan.seed;
                        let role = format!("{what:?} of {id}");
                        deviation * normal([0, 1].map(|half| roll(seed, of, &role, 2 * nth + half)))
                    }
                    Skew::Older => id as f64 * -1e-9,
                }
        };
        (0..count as usize).map(sample).collect::<Vec<f64>>()
    };
    let repeats = match skew {
        Skew::Noise(_) => lineage.plan.repeats,
        Skew::None | Skew::Older => 1,
    };
    let (samples, beside) = match what {
        Measure::First if id == 0 => (samples(0, 3), Vec::new()),
        Measure::First | Measure::Again(_) => (samples(id, 1), Vec::new()),
        Measure::HoldOut => (samples(id, repeats), Vec::new()),
        Measure::Beside(other) => (samples(id, repeats), samples(other, repeats)),
        Measure::Last => (samples(id, repeats), samples(0, repeats)),
    };
    Outcome::Scored { samples, beside }
}

/// Makes a number of a standard normal distribution of two that are evenly distributed (Box and Muller, 1958).
fn normal(rolled: [u64; 2]) -> f64 {
    let [one, other] = rolled.map(|number| (number as f64 + 1.0) / ((1_u64 << 53) as f64 + 1.0));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Returns the best score among the first attempts, and its attempt.
pub fn best(lineage: &Lineage, attempts: Id) -> (Id, f64) {
    let standing = Standing::of(lineage);
    let best = standing.up_to(attempts).best();
    (best, standing.score(best).unwrap())
}
