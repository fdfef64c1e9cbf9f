//! Carries out a sweep: finds out what there is to run, runs it under supervision, one after the other, and hands what was
//! printed to those who can read it. A program that cannot run is a warning; one that changes tracked files has them put back.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::effects::files;
use crate::effects::process::{Ending, Job, Ran, Stdout, Supervisor, TAIL_BYTES};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Fence;
use crate::effects::stop::{Halt, Stop};
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;
use crate::event::Events;
use crate::model::ledger as names;
use crate::model::mask;
use crate::model::sweep::{self, Batch, Linter, OwnCommand, Part, SEARCH, Setup, Tracked};
use crate::model::text;
use crate::model::work::Severity;

/// The most bytes of a program's log.
const LOG_LIMIT: u64 = 16 << 20;
/// The most bytes of output that are read.
const OUTPUT_LIMIT: usize = 16 << 20;
/// How much of a file's start is looked at to tell what it is.
const HEAD_BYTES: u64 = 64 * 1024;

/// What a sweep of this repository consists of.
#[derive(Debug, Default)]
pub struct Plan {
    calls: Vec<Call>,
    /// Coverage floors are looked at too.
    pub with_floors: bool,
    tracked: HashSet<String>,
}

/// One program to run.
#[derive(Debug)]
struct Call {
    reader: Reader,
    name: String,
    folder: String,
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

/// Who understands what it prints.
#[derive(Debug)]
enum Reader {
    Linter(Linter),
    Markers,
    Own(OwnCommand),
}

/// What a sweep brought to light.
#[derive(Debug, Default)]
pub struct Swept {
    /// What each program found.
    pub batches: Vec<Batch>,
    /// The programs that did not do their work.
    pub failed: Vec<String>,
    /// A STOP file cut it short.
    pub is_cut: bool,
}

/// What running programs needs.
pub struct Sweeper<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The root of the user's working tree: paths are shown below it.
    pub home: &'a Path,
    /// Starts and ends the programs.
    pub supervisor: &'a Supervisor,
    /// What holds them back, as it does checks.
    pub fence: &'a Fence,
    /// Ends them all.
    pub stop: &'a Stop,
    /// Who is told.
    pub events: &'a Events,
    /// Where their logs go.
    pub logs: PathBuf,
    /// How long each may run.
    pub timeout: Duration,
}

impl Plan {
    /// Finds out what of `parts` can be run here.
    pub fn of(repo: &Repo, parts: &[Part]) -> Result<Plan> {
        let mut plan = Plan::default();
        let installed = installed();
        let runs_nothing = |part: &Part| *part == Part::Linters && installed.is_empty();
        if parts.iter().all(runs_nothing) {
            return Ok(plan);
        }
        let tracked = tracked(repo)?;
        for part in parts {
            match part {
                Part::Linters => {
                    let look = |path: &str| head(&repo.root.join(path));
                    let setups = sweep::set_up(&tracked, &installed, &look);
                    let calls = setups.into_iter().map(|setup| linter(repo, setup));
                    plan.calls.extend(calls);
                }
                Part::Markers => plan.calls.push(Call {
                    reader: Reader::Markers,
                    name: "markers".to_owned(),
                    folder: String::new(),
                    argv: repo.git.words(&SEARCH),
                    env: repo.git.variables(),
                }),
                Part::Floors => plan.with_floors = true,
                Part::Own(command) => plan.calls.push(Call {
                    name: command.name(),
                    argv: ["sh", "-c", &command.run].map(OsString::from).to_vec(),
                    reader: Reader::Own(command.clone()),
                    folder: String::new(),
                    env: Vec::new(),
                }),
            }
        }
        plan.tracked = tracked.into_iter().map(|file| file.path).collect();
        Ok(plan)
    }

    /// Leaves out whatever is not one of these tools.
    pub fn only(mut self, tools: &BTreeSet<&str>) -> Plan {
        self.calls.retain(|call| tools.contains(&*call.name));
        self.with_floors = false;
        self
    }

    /// Says whether there is nothing to look with.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && !self.with_floors
    }

    /// Returns what is looked with, for people.
    pub fn names(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for call in &self.calls {
            if !names.contains(&call.name.as_str()) {
                names.push(&call.name);
            }
        }
        if self.with_floors {
            names.push("floors");
        }
        text::clean_line(&names.join(", "))
    }
}

/// Returns the linters that are on the PATH.
fn installed() -> Vec<Linter> {
    let is_there = |linter: &Linter| {
        let mut programs = linter.programs().iter();
        programs.all(|name| which::which(name).is_ok())
    };
    Linter::ALL.into_iter().filter(is_there).collect()
}

/// Clippy builds; where git does not ignore cargo's folder, it builds in the private one.
fn linter(repo: &Repo, setup: Setup) -> Call {
    let target = Path::new(&setup.folder).join("target/x");
    let builds_in_sight =
        setup.linter == Linter::Clippy && !repo.is_ignored(&target.to_string_lossy());
    let env = builds_in_sight.then(|| {
        let folder = repo.private.join("sweep-target");
        ("CARGO_TARGET_DIR".into(), folder.into_os_string())
    });
    Call {
        reader: Reader::Linter(setup.linter),
        name: setup.linter.name().to_owned(),
        argv: setup.command().into_iter().map(OsString::from).collect(),
        folder: setup.folder,
        env: env.into_iter().collect(),
    }
}

/// Lists the plain tracked files; a path that is no UTF-8 is left out.
fn tracked(repo: &Repo) -> Result<Vec<Tracked>> {
    let listed = repo.git.run(&["ls-files", "--stage", "-z"])?;
    let file = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok()?;
        let (entry, path) = line.split_once('\t')?;
        let is_file = entry.starts_with("100");
        (is_file && !names::is_ledger_path(path.as_bytes())).then(|| Tracked {
            path: path.to_owned(),
            is_executable: entry.starts_with("100755"),
        })
    };
    Ok(listed.split(|byte| *byte == 0).filter_map(file).collect())
}

/// Returns the start of a file; empty if it cannot be read.
fn head(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = files::open(path) {
        let _ = file.take(HEAD_BYTES).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Sweeper<'_> {
    /// Runs what was planned, one after the other.
    pub async fn run(&self, plan: &Plan, start: &Start) -> Result<Result<Swept>, Halt> {
        let mut swept = Swept::default();
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        for (number, call) in plan.calls.iter().enumerate() {
            if self.stop.asked_to_stop().is_some() {
                swept.is_cut = true;
                break;
            }
            let log = self.logs.join(format!("{number}.log"));
            let ran = self.supervisor.run(self.job(call, &log, start)).await;
            if !ran.unkillable.is_empty() {
                let name = &call.name;
                self.events
                    .warn(format!("{name} left processes that could not be ended"));
            }
            let halt = self.stop.look_for_kill();
            let changed = (Workspace { repo: self.repo }).put_back_tracked(&mut quarantine);
            if let Ok(changed @ [_, ..]) = changed.as_deref() {
                self.events.warn(format!(
                    "{} changed tracked files, so what it found is left out; they were put back: {}",
                    call.name,
                    some_of(changed)
                ));
            }
            if let Some(halt) = halt {
                if let Err(error) = changed {
                    let name = &call.name;
                    self.events.warn(format!(
                        "what {name} changed could not be put back: {error}"
                    ));
                }
                tell(self.events, &quarantine);
                return Err(halt);
            }
            match changed {
                Ok(changed) if changed.is_empty() => {}
                Ok(_) => {
                    swept.failed.push(call.name.clone());
                    continue;
                }
                Err(error) => return Ok(Err(error)),
            }
            match self.read(call, plan, &ran) {
                Ok(batch) => swept.batches.push(batch),
                Err(why) => {
                    let log = log.strip_prefix(self.home).unwrap_or(&log);
                    self.events.warn(format!(
                        "the sweep could not use {}: {why}; see {}",
                        call.name,
                        log.display()
                    ));
                    swept.failed.push(call.name.clone());
                }
            }
        }
        swept.failed.dedup();
        tell(self.events, &quarantine);
        Ok(Ok(swept))
    }

    fn job(&self, call: &Call, log: &Path, start: &Start) -> Job {
        let (tail_limit, stdout) = match &call.reader {
            Reader::Linter(linter) if linter.prints_on_stdout() => {
                (TAIL_BYTES, Stdout::Start(OUTPUT_LIMIT))
            }
            Reader::Markers => (TAIL_BYTES, Stdout::Start(OUTPUT_LIMIT)),
            Reader::Linter(_) | Reader::Own(_) => (OUTPUT_LIMIT, Stdout::Merged),
        };
        let way = ["sh", "-c", "cd \"$0\" && exec \"$@\"", &call.folder].map(OsString::from);
        let way = (!call.folder.is_empty()).then_some(way);
        let words = way.into_iter().flatten().chain(call.argv.iter().cloned());
        let of_call = call.env.iter().cloned();
        Job {
            argv: self.fence.around(words.collect()),
            folder: Some(self.repo.root.clone()),
            env: of_call.chain(self.fence.env.clone()).collect(),
            stdin: None,
            log: Some(log.to_owned()),
            log_limit: LOG_LIMIT,
            timeout: self.timeout,
            idle_timeout: None,
            tail_limit,
            stdout,
            mark: format!("{}/sweep-{}", start.session, start.cycle),
        }
    }

    /// Reads what a program printed; an error says why it did not do its work.
    fn read(&self, call: &Call, plan: &Plan, ran: &Ran) -> Result<Batch, String> {
        let exit = exit_of(&ran.ending, self.timeout)?;
        let root = self.repo.root.to_string_lossy();
        let is_tracked = |path: &str| plan.tracked.contains(path);
        let said = |why: String| with_last_words(why, &ran.tail);
        let all = OnceCell::new();
        let output =
            |bytes| -> &str { all.get_or_init(|| String::from_utf8_lossy(bytes).into_owned()) };
        let mut batch = Batch {
            tool: call.name.clone(),
            how: String::new(),
            kind: "bug".to_owned(),
            severity: Severity::Medium,
            findings: Vec::new(),
            items: Vec::new(),
        };
        match &call.reader {
            Reader::Linter(linter) => {
                let bytes = match linter.prints_on_stdout() {
                    true => &ran.stdout,
                    false => &ran.tail,
                };
                let found = linter.read(exit, output(bytes), &root, &call.folder);
                batch.findings = found.map_err(said)?;
                batch.how = match call.folder.as_str() {
                    "" => linter.by_hand().to_owned(),
                    folder => format!("cd {folder} && {}", linter.by_hand()),
                };
            }
            Reader::Markers => {
                batch.kind = "tech-debt".to_owned();
                batch.severity = Severity::Low;
                batch.findings = sweep::read_markers(output(&ran.stdout));
                // 1 is git's word for "none".
                if exit > 1 {
                    return Err(said(format!("exit {exit}")));
                }
            }
            Reader::Own(command) => {
                batch = sweep::read_own(command, output(&ran.tail), &root, &is_tracked);
                let found_nothing = batch.findings.is_empty() && batch.items.is_empty();
                if exit != 0 && found_nothing {
                    return Err(said(format!(
                        "exit {exit}, and nothing that reads as a finding"
                    )));
                }
            }
        }
        batch.findings.retain(|finding| is_tracked(&finding.file));
        Ok(batch)
    }
}

/// Says what was moved out of the way.
fn tell(events: &Events, quarantine: &Quarantine) {
    for note in quarantine.notes() {
        events.note(note);
    }
}

/// Returns the exit code; an error if there is none, or it says that nothing could be executed.
fn exit_of(ending: &Ending, timeout: Duration) -> Result<i32, String> {
    match ending {
        Ending::Exited(code @ (126 | 127)) => Err(format!("exit {code}, it cannot be executed")),
        Ending::Exited(code) => Ok(*code),
        Ending::Signalled(number) => Err(format!("ended by signal {number}")),
        Ending::TimedOut | Ending::Idle => Err(format!(
            "timed out after {}",
            humantime::format_duration(timeout)
        )),
        Ending::Stopped => Err("stopped".to_owned()),
        Ending::NotStarted(why) => Err(format!("could not be started: {why}")),
    }
}

/// Adds the last line that a program printed.
fn with_last_words(why: String, output: &[u8]) -> String {
    let output = mask::secrets(&text::clean(&String::from_utf8_lossy(output)));
    match output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{why}, it said \"{}\"", text::cut(line.trim(), 200)),
        None => why,
    }
}
