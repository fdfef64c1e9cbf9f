//! Hands a brief to the external agent and takes in what it leaves: how it ended, and the three files of its outbox.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::effects::files;
use crate::effects::process::{Ending, Job, Ran, Stdout, Supervisor, TAIL_BYTES};
use crate::effects::workspace::Start;
use crate::error::{Error, Kind, Result};
use crate::model::gate::AgentEnd;
use crate::model::goals::{AgentCommand, AgentSpec, DEFAULT_AGENT_TIMEOUT, Prompt};
use crate::model::record::AgentReport;
use crate::model::{ledger, mask, text};

/// The most bytes of an agent's log: complete for all but a runaway.
const LOG_LIMIT: u64 = 1 << 30;
/// The most bytes of an outbox file that are read.
const OUTBOX_LIMIT: u64 = 1 << 20;
/// The longest reason for giving up that is recorded, in characters.
const REASON_CHARS: usize = 300;

/// An agent that can be called.
#[derive(Clone, Debug)]
pub struct Agent {
    /// As the user named it.
    pub name: String,
    command: AgentCommand,
}

/// The files that an agent may write, below the working directory.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// `EVOLVE_GIVE_UP`.
    pub give_up: PathBuf,
    /// `EVOLVE_NEXT_WORK`.
    pub next_work: PathBuf,
    /// `EVOLVE_LESSONS`.
    pub lessons: PathBuf,
    folder: PathBuf,
}

/// What an agent's run came to.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// How it ended, for the verdict.
    pub end: AgentEnd,
    /// How it ended, for the record.
    pub report: AgentReport,
    /// Why it cannot run at all, unless it changed something.
    pub cannot_run: Option<String>,
    /// Why it gave up.
    pub gave_up: Option<String>,
    /// What it learned, as written.
    pub lessons: String,
    /// What it found, as written.
    pub found: String,
    /// Processes that could not be ended.
    pub unkillable: Vec<u32>,
}

/// One call of an agent.
#[derive(Debug)]
pub struct Call<'a> {
    /// The root of the repository.
    pub root: &'a Path,
    /// The cycle's start.
    pub start: &'a Start,
    /// The goal's id; empty for a work item.
    pub goal_id: &'a str,
    /// The brief.
    pub brief: &'a str,
    /// Where the brief lies.
    pub brief_file: &'a Path,
    /// Git's excludes while the agent runs.
    pub excludes: &'a Path,
    /// The log of its output.
    pub log: PathBuf,
}

impl Agent {
    /// Finds the program of an agent; one that is missing or not executable is an error (exit 4).
    pub fn resolve(spec: &AgentSpec, root: &Path) -> Result<Agent> {
        match spec {
            AgentSpec::Line(line) => {
                if let Some(word) = program_of(line)
                    && !is_runnable(&word, root)
                    && !is_known_to_the_shell(&word)
                {
                    return Err(missing(&word, line));
                }
                let command = AgentCommand {
                    command: vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
                    prompt: Prompt::Stdin,
                    timeout: None,
                    idle_timeout: None,
                };
                Ok(Agent {
                    name: mask::secrets(line),
                    command,
                })
            }
            AgentSpec::Command(command) => {
                let name = mask::secrets(&command.command.join(" "));
                match command.command.first() {
                    Some(program) if is_runnable(program, root) => Ok(Agent {
                        name,
                        command: command.clone(),
                    }),
                    Some(program) => Err(missing(program, &name)),
                    None => Err(Error::usage("the agent's command is empty")),
                }
            }
        }
    }

    /// Runs the agent on a brief, supervised, bounded and logged.
    pub async fn work(&self, supervisor: &Supervisor, call: Call<'_>) -> Result<AgentRun> {
        let outbox = Outbox::empty(call.root)?;
        let timeout = self.command.timeout.unwrap_or(DEFAULT_AGENT_TIMEOUT);
        let job = Job {
            argv: self.argv(&call),
            env: environment(&call, &outbox),
            stdin: Some(match self.command.prompt {
                Prompt::Stdin => call.brief.as_bytes().to_vec(),
                Prompt::Arg | Prompt::File => Vec::new(),
            }),
            log: Some(call.log.clone()),
            log_limit: LOG_LIMIT,
            timeout,
            idle_timeout: self.command.idle_timeout,
            tail_limit: TAIL_BYTES,
            stdout: Stdout::Merged,
            mark: format!("{}/agent", call.start.session),
        };
        let mut ran = supervisor.run(job).await;
        ran.unkillable.extend(supervisor.sweep_strays().await);
        Ok(self.run_of(ran, timeout, &outbox))
    }

    fn argv(&self, call: &Call<'_>) -> Vec<OsString> {
        let (placeholder, value): (&str, OsString) = match self.command.prompt {
            Prompt::Stdin => return self.command.command.iter().map(Into::into).collect(),
            Prompt::Arg => ("{brief}", call.brief.into()),
            Prompt::File => ("{brief_file}", call.brief_file.into()),
        };
        let is_placed = self.command.command.iter().any(|word| word == placeholder);
        let words = self.command.command.iter();
        let mut argv: Vec<OsString> = words
            .map(|word| {
                if word == placeholder {
                    value.clone()
                } else {
                    word.into()
                }
            })
            .collect();
        if !is_placed {
            argv.push(value);
        }
        argv
    }

    fn run_of(&self, ran: Ran, timeout: Duration, outbox: &Outbox) -> AgentRun {
        let (status, end, exit) = match &ran.ending {
            Ending::Exited(0) => ("done", AgentEnd::Done, Some(0)),
            Ending::Exited(code) => (
                "failed",
                badly(format!("ended with exit {code}"), &ran),
                Some(*code),
            ),
            Ending::Signalled(number) => (
                "failed",
                badly(format!("was ended by signal {number}"), &ran),
                None,
            ),
            Ending::TimedOut => {
                let limit = humantime::format_duration(timeout);
                (
                    "timed out",
                    AgentEnd::Badly(format!("timed out after {limit}")),
                    None,
                )
            }
            Ending::Idle => {
                let limit =
                    humantime::format_duration(self.command.idle_timeout.unwrap_or_default());
                (
                    "idle",
                    AgentEnd::Badly(format!("said nothing for {limit}")),
                    None,
                )
            }
            Ending::Stopped => ("stopped", AgentEnd::Badly("was stopped".to_owned()), None),
            Ending::NotStarted(why) => (
                "failed",
                AgentEnd::Badly(format!("could not be started: {why}")),
                None,
            ),
        };
        let cannot_run = match &ran.ending {
            Ending::Exited(code @ (126 | 127)) => Some(format!("exit {code}{}", last_line(&ran))),
            Ending::NotStarted(why) => Some(why.clone()),
            Ending::Exited(_)
            | Ending::Signalled(_)
            | Ending::TimedOut
            | Ending::Idle
            | Ending::Stopped => None,
        };
        AgentRun {
            end,
            report: AgentReport {
                name: text::clean_line(&self.name),
                status: status.to_owned(),
                exit,
                duration_s: (ran.duration.as_secs_f64() * 1000.0).round() / 1000.0,
                tokens: None,
                cost_usd: None,
            },
            cannot_run,
            gave_up: outbox.gave_up(),
            lessons: read_outbox(&outbox.lessons),
            found: read_outbox(&outbox.next_work),
            unkillable: ran.unkillable,
        }
    }
}

impl Outbox {
    /// Names the files of the outbox.
    pub fn below(root: &Path) -> Outbox {
        let folder = root.join(ledger::OUTBOX);
        Outbox {
            give_up: folder.join("give-up"),
            next_work: folder.join("next-work.jsonl"),
            lessons: folder.join("lessons"),
            folder,
        }
    }

    /// Makes the outbox anew, empty.
    fn empty(root: &Path) -> Result<Outbox> {
        let outbox = Outbox::below(root);
        let removed = match fs::symlink_metadata(&outbox.folder) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&outbox.folder),
            Ok(_) => fs::remove_file(&outbox.folder),
            Err(_) => Ok(()),
        };
        removed
            .and_then(|()| fs::create_dir_all(&outbox.folder))
            .map_err(|cause| Error::io("empty", &outbox.folder, cause))?;
        Ok(outbox)
    }

    /// Returns why the agent gave up. A file that is there and says nothing is giving up without a reason.
    fn gave_up(&self) -> Option<String> {
        fs::symlink_metadata(&self.give_up)
            .ok()
            .filter(fs::Metadata::is_file)?;
        let words = text::clean_line(read_outbox(&self.give_up).trim());
        let words: String = mask::secrets(&words).chars().take(REASON_CHARS).collect();
        Some(if words.is_empty() {
            "no reason given".to_owned()
        } else {
            words
        })
    }
}

/// Reads a file that an agent wrote: bounded, without following a link; what cannot be read is nothing.
fn read_outbox(path: &Path) -> String {
    files::read_text(path, OUTBOX_LIMIT).unwrap_or_default()
}

fn environment(call: &Call<'_>, outbox: &Outbox) -> Vec<(OsString, OsString)> {
    [
        ("EVOLVE_CYCLE", call.start.cycle.to_string().into()),
        ("EVOLVE_GOAL_ID", call.goal_id.into()),
        ("EVOLVE_BRIEF", call.brief_file.into()),
        ("EVOLVE_NEXT_WORK", outbox.next_work.clone().into()),
        ("EVOLVE_LESSONS", outbox.lessons.clone().into()),
        ("EVOLVE_GIVE_UP", outbox.give_up.clone().into()),
        // Marks the agent's movements of refs, so that somebody else's are told apart.
        ("GIT_REFLOG_ACTION", call.start.mark().into()),
        ("GIT_CONFIG_COUNT", "1".into()),
        ("GIT_CONFIG_KEY_0", "core.excludesFile".into()),
        ("GIT_CONFIG_VALUE_0", call.excludes.into()),
    ]
    .map(|(name, value): (&str, OsString)| (name.into(), value))
    .to_vec()
}

fn badly(how: String, ran: &Ran) -> AgentEnd {
    AgentEnd::Badly(format!("{how}{}", last_line(ran)))
}

/// Returns the last thing an agent said, to be put behind how it ended.
fn last_line(ran: &Ran) -> String {
    let output = String::from_utf8_lossy(&ran.tail);
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let last: String = mask::secrets(&text::clean_line(last))
        .chars()
        .take(REASON_CHARS)
        .collect();
    if last.is_empty() {
        last
    } else {
        format!(": {last}")
    }
}

/// Returns the program that a command line starts, where that can be told without a shell.
fn program_of(line: &str) -> Option<String> {
    let is_assignment = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'))
    };
    let word = line.split_whitespace().find(|word| !is_assignment(word))?;
    let is_plain = !word.contains(|letter| "\"'`$()[]{}<>|&;*?~#\\!".contains(letter));
    is_plain.then(|| word.to_owned())
}

fn is_runnable(program: &str, root: &Path) -> bool {
    which::which_in(program, std::env::var_os("PATH"), root).is_ok()
}

/// Says whether the shell knows a word as a builtin or keyword.
fn is_known_to_the_shell(word: &str) -> bool {
    let asked = Command::new("sh")
        .args(["-c", "command -v -- \"$1\"", "sh", word])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    !word.contains('/') && asked.is_ok_and(|status| status.success())
}

fn missing(program: &str, line: &str) -> Error {
    Error::new(
        Kind::Agent,
        format!("the agent cannot run: `{program}` is missing or not executable"),
    )
    .hint(format!(
        "the agent is `{line}`; install it, or name another with --agent"
    ))
}
