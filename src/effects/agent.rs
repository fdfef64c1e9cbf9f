//! Hands a brief to the external agent and takes in what it leaves: how it ended, and the three files of its outbox.

mod guard;
mod outbox;
mod resolve;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::effects::files;
use crate::effects::process::{Ending, Job, Ran, Stdout, Supervisor, TAIL_BYTES, keeper};
use crate::effects::program;
use crate::effects::sandbox::{Ground, Profile, Sandbox};
use crate::error::{Error, Result};
use crate::event::{Event, Events};
use crate::model::agent::{
    Activity, CannotRun, Fill, Finished, Format, Obstacle, Outcome, Output, Preset, Prompt,
    Transcript,
};
use crate::model::gate::AgentEnd;
use crate::model::goals::DEFAULT_AGENT_TIMEOUT;
use crate::model::record::AgentReport;
use crate::model::{mask, text};

pub use guard::git_settings;
pub use outbox::Outbox;

/// The most bytes of an agent's log: complete for all but a runaway.
const LOG_LIMIT: u64 = 1 << 30;
/// The most bytes that are read of the file in which an agent reports its use.
const USAGE_LIMIT: u64 = 1 << 20;
/// The longest reason for giving up that is recorded, in characters.
const REASON_CHARS: usize = 300;
/// How long a line that an agent prints for people stands before the next one is told.
const LINE_STANDS: Duration = Duration::from_millis(200);

/// An agent that can be called.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The preset's name, or the command as the user wrote it.
    pub name: String,
    /// Nobody named it: it is the first that was found.
    pub is_found: bool,
    way: Way,
}

/// How an agent is started and read.
#[derive(Clone, Debug)]
enum Way {
    /// By the shell, the brief on stdin; what it prints is for people.
    Line(String),
    /// By its name and arguments.
    Program(String, Box<Preset>),
}

/// What an agent's run came to.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// How it ended, for the verdict.
    pub end: AgentEnd,
    /// How it ended, for the record.
    pub report: AgentReport,
    /// Why it cannot run at all, unless it changed something.
    pub cannot_run: Option<CannotRun>,
    /// What it says of its work; none if nothing is read from what it prints.
    pub activity: Option<Activity>,
    /// Why it gave up.
    pub gave_up: Option<String>,
    /// What it learned, as written.
    pub lessons: String,
    /// What it found, as written.
    pub found: String,
    /// What it changed, in its words, as written.
    pub summary: String,
    /// Processes that could not be ended.
    pub unkillable: Vec<u32>,
    /// What was done to make the place of work fit to be read.
    pub opened: Vec<String>,
    /// What it left in the outbox that cannot be read, and why.
    pub unread: Vec<String>,
}

/// A variable of an agent's environment.
pub type Variable = (OsString, OsString);

/// One call of an agent.
pub struct Call<'a> {
    /// The root of the repository.
    pub root: &'a Path,
    /// The session, which marks its processes.
    pub session: &'a str,
    /// What the contract tells it beside the brief and the outbox, and what its git goes by.
    pub variables: Vec<Variable>,
    /// The commands of the goal's check; empty for a work item.
    pub checks: &'a [String],
    /// What is left of the session's limit of cost, in US dollars.
    pub max_cost: Option<f64>,
    /// The brief.
    pub brief: &'a str,
    /// Where the brief lies.
    pub brief_file: &'a Path,
    /// The log of its output.
    pub log: PathBuf,
    /// A private folder for what it writes beside its work.
    pub folder: &'a Path,
    /// Makes the place of work fit to be read after the agent, and says what was done; none where it is gone.
    pub open: &'a dyn Fn() -> Option<Vec<String>>,
    /// The sandbox, and the place of work for it.
    pub sandbox: (&'a Sandbox, &'a Ground),
    /// Other jobs run meanwhile: what escapes from it must be told from them.
    pub is_kept: bool,
}

impl Agent {
    /// The same under another name.
    #[must_use]
    pub fn called(self, name: &str) -> Agent {
        Agent {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns what the agent leaves in the working tree for itself, as patterns of a .gitignore.
    pub fn leaves(&self) -> &[String] {
        match &self.way {
            Way::Line(_) => &[],
            Way::Program(_, preset) => &preset.leaves,
        }
    }

    /// Says whether it may tell what its calls cost.
    pub fn tells_cost(&self) -> bool {
        match &self.way {
            Way::Line(_) => false,
            Way::Program(_, preset) => preset.output.rules.iter().any(|rule| !rule.cost.is_empty()),
        }
    }

    /// Runs the agent on a brief, supervised, bounded and logged; tells what it does while it does it.
    pub async fn work(
        &self,
        supervisor: &Supervisor,
        events: &Events,
        call: Call<'_>,
    ) -> Result<AgentRun> {
        let outbox = Outbox::empty(call.root)?;
        let mut how = match &self.way {
            Way::Line(_) => Preset::default(),
            Way::Program(_, preset) => Preset::clone(preset),
        };
        let (sandbox, ground) = call.sandbox;
        if let Some(args) = how.sandboxed_args.take().filter(|_| sandbox.is_on()) {
            how.args = args;
        }
        let (brief_file, folder) = (
            call.brief_file.to_string_lossy(),
            call.folder.to_string_lossy(),
        );
        let fill = Fill {
            brief: call.brief,
            brief_file: &brief_file,
            checks: call.checks,
            folder: &folder,
            max_cost: call.max_cost,
        };
        let beside = how.usage_file(&fill).map(PathBuf::from);
        clear(call.folder)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let stdout = match how.output == Output::default() {
            true => Stdout::SentMerged(sender),
            false => Stdout::Sent(sender),
        };
        let fence = sandbox.fence(Profile::Agent(&how.writes, call.folder), ground)?;
        let mut env = environment(&how, &fill, &call, &outbox);
        env.extend(fence.env.clone());
        let argv = fence.around(self.argv(&how, &fill));
        let job = Job {
            argv: if call.is_kept {
                keeper::around(argv)
            } else {
                argv
            },
            folder: Some(call.root.to_owned()),
            env,
            stdin: Some(match how.prompt {
                Prompt::Stdin => call.brief.as_bytes().to_vec(),
                Prompt::Arg | Prompt::File => Vec::new(),
            }),
            log: Some(call.log.clone()),
            log_limit: LOG_LIMIT,
            timeout: how.timeout.unwrap_or(DEFAULT_AGENT_TIMEOUT),
            idle_timeout: how.idle_timeout,
            tail_limit: TAIL_BYTES,
            stdout,
            mark: format!("{}/agent", call.session),
        };
        let (ran, transcript) = tokio::join!(supervisor.run(job), listen(&how, receiver, events));
        if let Some(said) = sandbox.own_sandbox_failed(&ran.tail) {
            events.warn(said);
        }
        // What still runs could do it again, and what is gone has nothing to read.
        let is_ended = ran.unkillable.is_empty();
        let opened = if is_ended { (call.open)() } else { None };
        let letters = opened.is_some().then_some(&outbox);
        let beside = beside.and_then(|path| files::read_text(&path, USAGE_LIMIT).ok());
        let outcome = transcript.finish(&Finished {
            exit: ran.ending.exit_code(),
            tail: &String::from_utf8_lossy(&ran.tail),
            usage_file: beside.as_deref(),
        });
        let run = self.run_of(ran, &how, outcome, letters);
        // What it left is read; nothing of it stays as it was written, secrets and all. Paid work is not lost over that.
        if let Some(Err(error)) = letters.map(Outbox::drop_contents) {
            tracing::warn!("{error}");
        }
        Ok(AgentRun {
            opened: opened.unwrap_or_default(),
            ..run
        })
    }

    fn argv(&self, how: &Preset, fill: &Fill<'_>) -> Vec<OsString> {
        match &self.way {
            Way::Line(line) => [program::shell(), "-c".as_ref(), line.as_ref()]
                .map(OsStr::to_owned)
                .to_vec(),
            Way::Program(program, _) => how
                .argv(program, fill)
                .into_iter()
                .map(Into::into)
                .collect(),
        }
    }

    fn run_of(
        &self,
        ran: Ran,
        how: &Preset,
        outcome: Outcome,
        letters: Option<&Outbox>,
    ) -> AgentRun {
        let (status, end) = ended(&ran, how, &outcome);
        let mut unread = Vec::new();
        let mut read = |file: fn(&Outbox) -> &PathBuf| {
            letters.map_or_else(String::new, |it| it.read(file(it), &mut unread))
        };
        let lessons = read(|it| &it.lessons);
        let found = read(|it| &it.next_work);
        let summary = read(|it| &it.summary);
        let gave_up = letters.and_then(|it| it.gave_up(&mut unread));
        AgentRun {
            end,
            report: AgentReport {
                name: text::clean_line(&self.name),
                status: status.to_owned(),
                exit: ran.ending.exit_code(),
                duration_s: (ran.duration.as_secs_f64() * 1000.0).round() / 1000.0,
                tokens: outcome.activity.tokens,
                cost_usd: outcome.activity.cost_usd,
            },
            cannot_run: cannot_run(&ran, how, &outcome),
            activity: (how.output != Output::default()).then_some(outcome.activity),
            gave_up,
            lessons,
            found,
            summary,
            unkillable: ran.unkillable,
            opened: Vec::new(),
            unread,
        }
    }
}

/// Says how an agent ended: in a word for the record, and for the verdict. What it says of itself counts where its exit code
/// does not.
fn ended(ran: &Ran, how: &Preset, outcome: &Outcome) -> (&'static str, AgentEnd) {
    let said = said(ran, how, outcome);
    let lasting = |limit| humantime::format_duration(limit);
    let (status, words) = match (&ran.ending, &outcome.failed) {
        (Ending::Exited(0), None) => return ("done", AgentEnd::Done),
        (Ending::Exited(0), Some(words)) => ("failed", format!("said that it failed: {words}")),
        (Ending::Exited(code), _) => ("failed", format!("ended with exit {code}{said}")),
        (Ending::Signalled(number), _) => ("failed", format!("was ended by signal {number}{said}")),
        (Ending::TimedOut, _) => {
            let limit = lasting(how.timeout.unwrap_or(DEFAULT_AGENT_TIMEOUT));
            ("timed out", format!("timed out after {limit}"))
        }
        (Ending::Idle, _) => {
            let limit = lasting(how.idle_timeout.unwrap_or_default());
            ("idle", format!("said nothing for {limit}"))
        }
        (Ending::Stopped, _) => ("stopped", "was stopped".to_owned()),
        (Ending::NotStarted(why), _) => ("failed", format!("could not be started: {why}")),
    };
    (status, AgentEnd::Badly(words))
}

/// Says why an agent cannot run at all.
fn cannot_run(ran: &Ran, how: &Preset, outcome: &Outcome) -> Option<CannotRun> {
    let message = match &ran.ending {
        Ending::Exited(code @ (126 | 127)) => format!("exit {code}{}", said(ran, how, outcome)),
        Ending::NotStarted(why) => why.clone(),
        Ending::Exited(_) | Ending::Signalled(_) | Ending::TimedOut | Ending::Idle => {
            return outcome.cannot_run.clone();
        }
        Ending::Stopped => return None,
    };
    let kind = Obstacle::NotInstalled;
    Some(CannotRun { kind, message })
}

/// Reads what an agent prints while it works, and tells of what it does. Of one that prints for people each line would be news.
async fn listen(
    how: &Preset,
    mut pieces: mpsc::UnboundedReceiver<Vec<u8>>,
    events: &Events,
) -> Transcript {
    let reports = how.output != Output::default();
    let rest = match reports {
        false => LINE_STANDS,
        true => Duration::ZERO,
    };
    let mut transcript = Transcript::new(how);
    let (mut is_news, mut next) = (false, Instant::now());
    loop {
        let piece = match is_news {
            true => timeout_at(next, pieces.recv()).await,
            false => Ok(pieces.recv().await),
        };
        match piece {
            Ok(Some(piece)) => is_news |= transcript.push(&piece),
            Ok(None) => break,
            Err(_) => {}
        }
        if is_news && Instant::now() >= next {
            tell(transcript.activity(), reports, events);
            (is_news, next) = (false, Instant::now() + rest);
        }
    }
    if is_news {
        tell(transcript.activity(), reports, events);
    }
    transcript
}

/// Tells of what an agent does. How often its model answered and what it touched is known of one that `reports` it.
fn tell(activity: &Activity, reports: bool, events: &Events) {
    events.send(Event::AgentActivity {
        turns: reports.then_some(activity.turns),
        files: reports.then_some(activity.files.len()),
        tokens: activity.tokens,
        cost_usd: activity.cost_usd,
        last: activity.last.clone(),
        attempt: None,
    });
}

/// Makes a folder anew, empty.
fn clear(folder: &Path) -> Result<()> {
    files::remove_all(folder).map_err(|cause| Error::io("empty", folder, cause))?;
    fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))
}

/// Returns the variables of an agent; what the contract says of them no preset can change.
fn environment(
    how: &Preset,
    fill: &Fill<'_>,
    call: &Call<'_>,
    outbox: &Outbox,
) -> Vec<(OsString, OsString)> {
    let of_preset = how.env(fill).into_iter();
    let of_contract = [
        ("EVOLVE_BRIEF", call.brief_file.into()),
        ("EVOLVE_NEXT_WORK", outbox.next_work.clone().into()),
        ("EVOLVE_LESSONS", outbox.lessons.clone().into()),
        ("EVOLVE_GIVE_UP", outbox.give_up.clone().into()),
    ]
    .map(|(name, value): (&str, OsString)| (name.into(), value));
    let of_preset = of_preset.map(|(name, value)| (name.into(), value.into()));
    let of_call = call.variables.iter().cloned();
    of_preset.chain(of_contract).chain(of_call).collect()
}

/// Returns the last thing an agent said, to be put behind how it ended: its own words for its failure, else its last line that
/// is for people.
fn said(ran: &Ran, how: &Preset, outcome: &Outcome) -> String {
    let output = String::from_utf8_lossy(&ran.tail);
    let is_event = |line: &&str| how.output.format == Format::Jsonl && line.starts_with('{');
    let last = output.trim_end().lines().rev().find(|line| !is_event(line));
    let last = outcome.failed.as_deref().or(last).unwrap_or_default();
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
