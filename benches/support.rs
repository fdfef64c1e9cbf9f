//! What all figures share: a sealed repository, two things timed in turn, and the table.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What a measurement comes to; an error ends the run.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A repository in a temporary folder, with a home of its own beside it; both are gone when this is dropped.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// An empty repository.
    pub fn new() -> Outcome<Scratch> {
        let scratch = Scratch {
            folder: tempfile::tempdir()?,
        };
        fs::create_dir(scratch.folder.path().join("home"))?;
        fs::create_dir(scratch.root())?;
        scratch.git(&["init", "--quiet", "--initial-branch=main"])?;
        scratch.git(&["config", "user.name", "Bench"])?;
        scratch.git(&["config", "user.email", "bench@example.invalid"])?;
        scratch.git(&["config", "gc.auto", "0"])?;
        Ok(scratch)
    }

    /// A repository with so many files, a hundred in a folder, and these goals.
    pub fn with_files(count: usize, goals: &str) -> Outcome<Scratch> {
        let scratch = Scratch::new()?;
        for folder in 0..count.div_ceil(100) {
            let folder = scratch
                .root()
                .join(format!("files/{}/{}", folder / 100, folder));
            fs::create_dir_all(&folder)?;
            for file in 0..100 {
                let text = format!("{}\nthe text of file {file}\n", folder.display());
                fs::write(folder.join(format!("{file}.txt")), text)?;
            }
        }
        scratch.write("GOALS.yaml", &format!("version: 1\ngoals:\n{goals}"))?;
        scratch.commit_all()?;
        Ok(scratch)
    }

    /// The repository's root.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// A path outside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> Outcome {
        Ok(fs::write(self.root().join(name), text)?)
    }

    pub fn commit_all(&self) -> Outcome {
        // Into one pack, as in a repository that was cloned, instead of a loose object for each file.
        self.git(&["-c", "core.bigFileThreshold=1", "add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message=files"])?;
        Ok(())
    }

    /// Runs git and returns what it prints.
    pub fn git(&self, arguments: &[&str]) -> Outcome<String> {
        let output = self.command("git").args(arguments).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("git {arguments:?}: {said}").into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// A command in the repository that nothing of the caller's leaks into.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path().join("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null());
        command
    }

    /// Runs evolve to its end and hands each line that it prints to `hear`, the moment it comes.
    pub fn evolve(&self, arguments: &[&str], mut hear: impl FnMut(&str)) -> Outcome<Duration> {
        let mut command = self.command(EVOLVE);
        command.args(arguments).stdout(Stdio::piped());
        let began = Instant::now();
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or("there is no stdout")?;
        for line in BufReader::new(stdout).lines() {
            hear(&line?);
        }
        let output = child.wait_with_output()?;
        let took = began.elapsed();
        match output.status.success() {
            true => Ok(took),
            false => Err(String::from_utf8_lossy(&output.stderr).into()),
        }
    }
}

/// The program.
pub const EVOLVE: &str = env!("CARGO_BIN_EXE_evolve");

/// How many checks run at once, unless a figure says it.
pub fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Starts commands of the shell and waits for them, `jobs` at once, and nothing else; returns how long that took. `shell` starts
/// with the environment that what is compared has: what `cargo` puts there makes a shell a fifth slower. By a path, where that is
/// another than this program's own: a name is looked for by a copy of this process, which is slower still.
pub fn bare(
    shell: impl Fn() -> Command + Sync,
    commands: &[&str],
    jobs: usize,
) -> Outcome<Duration> {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let work = || {
            while let Some(line) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut command = shell();
                command.args(["-c", line]).stdin(Stdio::null());
                command.stdout(Stdio::null()).stderr(Stdio::null());
                command.status()?;
            }
            std::io::Result::Ok(())
        };
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("a worker panicked"))
    })?;
    Ok(began.elapsed())
}

/// How long something took, in seconds.
#[derive(Clone, Copy)]
pub struct Timing {
    pub best: f64,
    pub median: f64,
}

impl Timing {
    pub fn of(mut all: Vec<f64>) -> Timing {
        all.sort_by(f64::total_cmp);
        Timing {
            best: all[0],
            median: all[all.len() / 2],
        }
    }

    pub fn exactly(seconds: f64) -> Timing {
        Timing {
            best: seconds,
            median: seconds,
        }
    }

    /// The time of one of so many.
    pub fn per(self, count: usize) -> Timing {
        Timing {
            best: self.best / count as f64,
            median: self.median / count as f64,
        }
    }
}

/// Times two things in turn, so that what else the machine does meets both; the first round is not counted.
pub fn in_turn(
    rounds: usize,
    mut ours: impl FnMut() -> Outcome<Duration>,
    mut floor: impl FnMut() -> Outcome<Duration>,
) -> Outcome<(Timing, Timing)> {
    let mut times = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (one, other) = (ours()?.as_secs_f64(), floor()?.as_secs_f64());
        if round > 0 {
            times.0.push(one);
            times.1.push(other);
        }
    }
    Ok((Timing::of(times.0), Timing::of(times.1)))
}

/// Times one thing.
pub fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

/// What a figure has to stay below.
#[derive(Clone, Copy)]
pub enum Goal {
    /// So many times its floor.
    Times(f64),
    /// So many seconds.
    Seconds(f64),
}

/// The table, printed line by line.
pub struct Report {
    missed: Vec<String>,
}

impl Report {
    pub fn begin() -> Report {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        if let Some(load) = load.split(' ').next() {
            println!(
                "\n{} cores, load {load} at the start: figures count where nothing else runs.",
                jobs()
            );
        }
        println!(
            "\nThe best of several rounds, its median in brackets; evolve and its floor in turn.\n"
        );
        println!(
            "{:<34} {:>20} {:>20} {:>8}  {:<9}",
            "", "evolve", "floor", "ratio", "goal"
        );
        Report { missed: Vec::new() }
    }

    /// Prints a time beside its floor.
    pub fn time(&mut self, what: &str, (ours, floor): (Timing, Timing), goal: Goal) {
        let ratio = ours.best / floor.best;
        let (is_met, goal) = match goal {
            Goal::Times(most) => (ratio <= most, format!("≤ {most}×")),
            Goal::Seconds(most) => (ours.best < most, format!("< {}", seconds(most))),
        };
        let ratio = format!("{ratio:.2}×");
        self.line(what, (&shown(ours), &shown(floor), &ratio), (is_met, &goal));
    }

    /// Prints a peak of memory, in MB.
    pub fn memory(&mut self, what: &str, (ours, floor): (f64, f64), most: f64) {
        let words = (
            format!("{ours:.1} MB"),
            format!("{floor:.1} MB"),
            format!("{:.2}×", ours / floor),
        );
        let goal = format!("< {most} MB");
        self.line(what, (&words.0, &words.1, &words.2), (ours < most, &goal));
    }

    fn line(&mut self, what: &str, figures: (&str, &str, &str), (is_met, goal): (bool, &str)) {
        let (ours, floor, ratio) = figures;
        let word = if is_met { "met" } else { "MISSED" };
        println!("{what:<34} {ours:>20} {floor:>20} {ratio:>8}  {goal:<9} {word}");
        if !is_met {
            self.missed
                .push(format!("{what}: {ours} ({ratio}), goal {goal}"));
        }
    }

    pub fn end(self, notes: impl Iterator<Item = (&'static str, &'static str)>) {
        println!();
        for (name, note) in notes {
            println!("{name}: {note}.");
        }
        match self.missed.as_slice() {
            [] => println!("\nEvery goal is met."),
            missed => println!("\nMISSED\n  {}", missed.join("\n  ")),
        }
    }
}

fn shown(timing: Timing) -> String {
    match timing.best == timing.median {
        true => seconds(timing.best),
        false => format!("{} ({})", seconds(timing.best), seconds(timing.median)),
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        long if long >= 1.0 => format!("{long:.2} s"),
        middle if middle >= 0.01 => format!("{:.0} ms", middle * 1e3),
        short => format!("{:.2} ms", short * 1e3),
    }
}

/// Runs a command and writes the peak of its memory, in KiB, to a file. In a process of its own, because the kernel keeps
/// one peak for all the children that a process has had.
pub fn peak_of(file: &str, command: &[String]) -> ExitCode {
    use nix::sys::resource::{UsageWho, getrusage};
    let ended = Command::new(&command[0])
        .args(&command[1..])
        .stdout(Stdio::null())
        .status();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN);
    match (ended, usage) {
        (Ok(status), Ok(usage)) if status.success() => {
            let written = fs::write(file, usage.max_rss().to_string());
            ExitCode::from(u8::from(written.is_err()))
        }
        (Ok(_) | Err(_), _) => ExitCode::FAILURE,
    }
}
