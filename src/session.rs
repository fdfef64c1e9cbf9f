//! What every step of a run may read (`Session`), and what a run has learned so far (`Progress`).

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::effects::agent::Agent;
use crate::effects::files;
use crate::effects::isolation::Isolation;
use crate::effects::journal::Journal;
use crate::effects::keep::Kept;
use crate::effects::ledger::Ledger;
use crate::effects::lock::Lock;
use crate::effects::logs;
use crate::effects::measure::Measurer;
use crate::effects::mirror::Mirror;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{Fence, Ground, Inmate, Sandbox};
use crate::effects::slot::{Ignored, Preparation, Prepared, Slot};
use crate::effects::stop::{Halt, Stop};
use crate::effects::workspace::{Start, Stock, Unmarked, Workspace};
use crate::error::{Error, Result};
use crate::event::{Event, Events};
use crate::model::goals::{self, Goal, Goals, Limits, Where};
use crate::model::ledger as names;
use crate::model::record::Record;
use crate::model::select::Stuck;
use crate::model::slot::Provisions;
use crate::model::snapshot::{self, CheckResult, Measurement, Snapshot};
use crate::model::sweep::Part;
use crate::model::text;
use crate::model::usage::Spent;

/// How often a rest looks for a STOP file.
const REST_POLL: Duration = Duration::from_millis(100);

/// What every step may read; nothing in here changes while a session runs.
#[derive(Debug)]
pub struct Session {
    /// The session's id.
    pub id: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// The repository that is worked in: the user's, or that of a slot.
    pub repo: Repo,
    /// Where the agent works, if that is a slot.
    pub isolation: Option<Isolation>,
    /// The goals file.
    pub goals_file: GoalsFile,
    /// The agent.
    pub agent: Agent,
    /// Runs checks.
    pub measurer: Measurer,
    /// Holds back agent and checks.
    pub sandbox: Sandbox,
    /// Ends everything.
    pub stop: Stop,
    /// Who is told.
    pub events: Events,
    /// The copy of the git directory while an agent works; none where the agent has a slot, or there is no place for it.
    pub mirror: Option<Mirror>,
    /// What the user asked for.
    pub options: Options,
    /// Held as long as the session lives.
    pub lock: Lock,
}

/// What the user asked for, on the command line or in a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the session ends by itself.
    pub limits: Limits,
    /// How long to wait between idle cycles.
    pub idle_wait: Duration,
    /// No baseline.
    pub skip_baseline: bool,
    /// Ask agents for a failing test first.
    pub test_first: bool,
    /// What the user's configuration has a sweep look with, where GOALS.yaml says nothing.
    pub sweep: Option<Vec<Part>>,
    /// What slots are given beside their commit.
    pub provisions: Provisions,
}

/// The newest sweep of this session.
#[derive(Clone, Debug)]
pub struct LastSweep {
    /// When it began.
    pub at: DateTime<Utc>,
    /// The cycle it was part of.
    pub cycle: u64,
    /// What came of it; none if it did not get as far.
    pub told: Option<String>,
}

/// Where the goals are read from.
#[derive(Clone, Debug)]
pub struct GoalsFile {
    /// The file.
    pub path: PathBuf,
    /// Its path below the repository's root; none if it lies elsewhere.
    pub in_repo: Option<String>,
    /// Its name in messages, as the user would write it.
    pub shown: String,
}

impl GoalsFile {
    /// Reads the goals; every problem of the file is reported at once. Returns warnings beside them.
    pub fn load(&self) -> Result<(Goals, Vec<String>)> {
        self.refuse_link()?;
        let bytes = match std::fs::metadata(&self.path) {
            Ok(meta) if meta.is_file() && meta.len() > goals::MAX_BYTES as u64 => {
                return Err(Error::usage(format!(
                    "{}: {} bytes are more than the {} that are read",
                    self.shown,
                    meta.len(),
                    goals::MAX_BYTES
                ))
                .hint("keep goals short; a long check can be a script of its own"));
            }
            Ok(meta) if meta.is_file() => {
                std::fs::read(&self.path).map_err(|cause| Error::io("read", &self.path, cause))?
            }
            Ok(_) => {
                return Err(Error::usage(format!("{} is no plain file", self.shown))
                    .hint("put the goals into a plain file, or name one with --goals"));
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::usage(format!("No goals to measure: there is no {}", self.shown))
                    .hint("write one with a goal or two; GOALS.example.yaml of evolve's sources shows every key, `evolve demo` a run"));
            }
            Err(cause) => return Err(Error::io("read", &self.path, cause)),
        };
        match goals::read_goals(&self.shown, &bytes) {
            Ok((goals, warnings)) => {
                let line = |one: &goals::Problem| {
                    format!(
                        "{}:{}:{}: {}",
                        self.shown, one.line, one.column, one.message
                    )
                };
                Ok((goals, warnings.iter().map(line).collect()))
            }
            Err(problems) => Err(goals::to_error(&self.shown, &problems)),
        }
    }

    /// Refuses a goals file that is there and not in a commit's tree (exit 3).
    pub fn refuse_uncommitted(&self, repo: &Repo, tree: &str) -> Result<()> {
        let Some(path) = &self.in_repo else {
            return Ok(());
        };
        if !self.path.exists() || repo.has_file(tree, path) {
            return Ok(());
        }
        let shown = &self.shown;
        Err(Error::unsafe_repo(format!(
            "{shown} is not committed, so an undo could not bring it back"
        ))
        .hint(format!(
            "commit it first: `git add {} && git commit -m 'goals'`",
            text::shell_word(shown)
        )))
    }

    /// Refuses a link in the repository: it would freeze the link, and an agent could move the goalposts behind it.
    fn refuse_link(&self) -> Result<()> {
        let is_link = || std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.is_symlink());
        match self.in_repo.is_some() && is_link() {
            true => Err(
                Error::usage(format!("{} is a link, no plain file", self.shown))
                    .hint("put the goals into the file itself, or name the other one with --goals"),
            ),
            false => Ok(()),
        }
    }
}

/// Why a cycle was cut short.
#[derive(Clone, Debug)]
pub enum Cut {
    /// Something outside ended everything.
    Halt(Halt),
    /// `evolve` or the machine failed.
    Failed(Error),
    /// A slot could not be made ready to measure in, and why.
    Unprepared(String),
}

impl Cut {
    /// Says why, for the record.
    pub fn reason(&self) -> String {
        match self {
            Cut::Halt(halt) => halt.reason(),
            Cut::Failed(error) => format!("evolve failed: {}", error.message),
            Cut::Unprepared(why) => why.clone(),
        }
    }
}

impl From<Error> for Cut {
    fn from(error: Error) -> Cut {
        Cut::Failed(error)
    }
}

impl From<Halt> for Cut {
    fn from(halt: Halt) -> Cut {
        Cut::Halt(halt)
    }
}

/// Why a session ends.
#[derive(Clone, Debug)]
pub struct Ending {
    /// One word for it.
    pub word: &'static str,
    /// In words.
    pub reason: String,
    /// The exit code that follows.
    pub exit_code: u8,
    /// The goals that wait for a person.
    pub stuck: Vec<Stuck>,
}

impl Ending {
    /// An ending in good order.
    pub fn fine(word: &'static str, reason: impl Into<String>) -> Ending {
        Ending {
            word,
            reason: reason.into(),
            exit_code: 0,
            stuck: Vec::new(),
        }
    }

    /// An ending that asks for a person (exit 11).
    pub fn human_needed(reason: impl Into<String>, stuck: Vec<Stuck>) -> Ending {
        let exit_code = crate::error::Kind::Human.exit_code();
        Ending {
            word: "human-needed",
            reason: reason.into(),
            exit_code,
            stuck,
        }
    }

    /// An ending because somebody else's commits are in the way of an undo (exit 11).
    pub fn somebody_else(reason: &str) -> Ending {
        let way_out = "the work was left as it is: look at `git log`, keep or revert what is there, then run evolve again";
        Ending::human_needed(format!("{reason} — {way_out}"), Vec::new())
    }

    /// The ending that a STOP file asks for. One that git tracks would stop every clone, and is said to be.
    pub fn stopped(repo: &Repo, words: &str) -> Ending {
        let head = repo.head().ok().and_then(|head| head.commit);
        let tree = head.and_then(|head| repo.tree_of(&head).ok());
        let tracked = match tree.is_some_and(|tree| repo.has_file(&tree, names::STOP)) {
            true => "; git tracks it, which the next cycle's commit ends",
            false => "",
        };
        let said = match words.is_empty() {
            true => String::new(),
            false => format!(": {words}"),
        };
        let file = names::STOP;
        Ending::fine(
            "stopped",
            format!("STOP file {file}{said} — `evolve stop --off` takes it away{tracked}"),
        )
    }

    /// The ending that follows from what ended everything.
    pub fn of_halt(halt: &Halt) -> Ending {
        let reason = halt.reason();
        match halt {
            Halt::Kill(..) => Ending::fine("killed", reason),
            Halt::MaxTime(_) => Ending::fine("limit", reason),
            Halt::SupervisorLost => Ending {
                exit_code: crate::error::Kind::Internal.exit_code(),
                ..Ending::fine("failed", reason)
            },
            Halt::Signal(number) => Ending {
                exit_code: u8::try_from(128 + number).unwrap_or(1),
                ..Ending::fine("interrupted", reason)
            },
        }
    }
}

/// A snapshot that may serve as the next cycle's first.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The file that holds it.
    pub file: String,
    /// The content it was measured on.
    pub content: String,
}

/// What a run has learned so far.
#[derive(Debug)]
pub struct Progress {
    /// The ledger, in memory.
    pub ledger: Ledger,
    /// The second snapshot of a cycle that kept its change, or the baseline.
    pub carried: Option<Carried>,
    /// The newest snapshot of what is in the repository.
    pub newest: Option<Snapshot>,
    /// Goals that pass at the start of this cycle and did not when the last one was recorded: somebody else mended them.
    pub mended: Vec<String>,
    /// The first snapshot of this session.
    pub first: Option<Snapshot>,
    /// What this session recorded.
    pub records: Vec<Record>,
    /// Where the last of these cycles started.
    pub start: Option<Start>,
    /// Copies of the user's untracked files, from the last cycle.
    pub kept: Option<Kept>,
    /// What the agents of this session used.
    pub spent: Spent,
    /// How often in a row an agent could not run for a reason that passes.
    pub refusals: u32,
    /// How the tree was found at the session's start, for a first cycle that follows at once.
    pub opened: Option<Start>,
    /// The newest sweep of this session, be it a vain one.
    pub last_sweep: Option<LastSweep>,
    /// It was said that there is no copy of the git directory.
    pub is_unmirrored: bool,
    /// How many cycles in a row worked on what agents left.
    pub found_in_a_row: usize,
    /// Where the programs that checks call were found first.
    pub programs: BTreeMap<String, String>,
}

impl Progress {
    /// Starts from a ledger.
    pub fn new(repo: &Repo, ledger: Ledger) -> Progress {
        let newest = ledger.history.newest().and_then(|record| {
            let post = names::post_snapshot(record.cycle);
            let snapshot = || ledger.snapshot(repo, &names::snapshot(record.cycle));
            match record.is_undone() {
                true => snapshot(),
                false => ledger.snapshot(repo, &post).or_else(snapshot),
            }
        });
        Progress {
            ledger,
            carried: None,
            newest,
            mended: Vec::new(),
            first: None,
            records: Vec::new(),
            start: None,
            kept: None,
            spent: Spent::default(),
            refusals: 0,
            opened: None,
            last_sweep: None,
            is_unmirrored: false,
            found_in_a_row: 0,
            programs: BTreeMap::new(),
        }
    }

    /// Notes the newest snapshot of what is in the repository.
    pub fn note_snapshot(&mut self, snapshot: &Snapshot) {
        self.first.get_or_insert_with(|| snapshot.clone());
        self.mended = match &self.newest {
            Some(newest) => snapshot::newly_passing(newest, snapshot),
            None => Vec::new(),
        };
        self.newest = Some(snapshot.clone());
    }

    /// Returns what came of the sweep in this cycle, if there was one.
    pub fn swept_in(&self, cycle: u64) -> Option<&str> {
        let last = self.last_sweep.as_ref();
        last.filter(|last| last.cycle == cycle)?.told.as_deref()
    }

    /// Returns how long each check took last.
    pub fn expected_durations(&self) -> HashMap<String, f64> {
        let goals = self.newest.iter().flat_map(|snapshot| &snapshot.goals);
        goals
            .map(|goal| (goal.id.clone(), goal.duration_s))
            .collect()
    }
}

impl Session {
    /// Returns the working tree.
    pub fn workspace(&self) -> Workspace<'_> {
        Workspace { repo: &self.repo }
    }

    /// Returns the user's repository: it has the ledger, and the files that stop a run.
    pub fn home(&self) -> &Repo {
        match &self.isolation {
            Some(isolation) => &isolation.user,
            None => &self.repo,
        }
    }

    /// Returns the newest commit of the user's branch that this session works for; none where HEAD is on no branch.
    pub fn tip(&self) -> Result<Option<String>> {
        match &self.isolation {
            Some(isolation) => isolation.user.resolve(&isolation.branch),
            None => {
                let head = self.repo.head()?;
                Ok(head.commit.filter(|_| head.branch.is_some()))
            }
        }
    }

    /// Looks at the tree before a cycle; a slot is put on the tip of the user's branch first.
    pub fn begin(&self, cycle: u64) -> Result<Start> {
        if let Some(isolation) = &self.isolation {
            isolation.renew()?;
        }
        self.workspace().begin(&self.id, cycle)
    }

    /// Says whether the git directory is the one that this session began in.
    pub fn has_git_dir(&self) -> bool {
        self.lock.is_at(&self.home().private.join("lock"))
    }

    /// Makes what git holds for the user beside branch and files what it was before the agent, wherever that was changed by
    /// what ran since; says what had changed. To be done before git is called after somebody else was at work.
    pub fn guard(&self, start: &Start) -> Result<Vec<String>> {
        if self.isolation.is_some() {
            logs::drop_links(&self.repo.private, &self.id, start.cycle)?;
            return Ok(Vec::new());
        }
        if !self.has_git_dir() {
            return Err(self.git_dir_is_gone());
        }
        logs::drop_links(&self.repo.private, &self.id, start.cycle)?;
        let mut notes = start.put_back_settings(&self.repo.own_places())?;
        notes.extend(start.put_back_refs(&self.repo)?);
        Ok(notes)
    }

    /// Notes that nothing is in progress any more.
    pub fn clear_journal(&self) -> Result<()> {
        self.note_settled()?;
        Journal::clear(&self.repo.private)
    }

    /// Notes in the copy of the git directory that its cycle is settled. To be done before the journal stops telling of it.
    pub fn note_settled(&self) -> Result<()> {
        self.mirror.as_ref().map_or(Ok(()), Mirror::note_settled)
    }

    fn git_dir_is_gone(&self) -> Error {
        let private = self.home().private.display();
        if self.mirror.as_ref().and_then(Mirror::private).is_some() {
            let error = format!("{private} is gone or was replaced while it was needed");
            return Error::unsafe_repo(error).hint(
                "nothing was written; run evolve again: it gets the folder back from a copy and undoes the cycle",
            );
        }
        let root = self.repo.root.display();
        let error = Error::unsafe_repo(format!(
            "{root} is no longer the git repository it was: its .git is gone or was replaced"
        ));
        match self.mirror.as_ref().and_then(Mirror::way_back) {
            Some(way_back) => error.hint(format!(
                "nothing was written; this puts .git back as it was before the agent, and the next run undoes the rest: `{way_back}`"
            )),
            None => error.hint("the files are as the agent left them, nothing was done to them"),
        }
    }

    /// Takes stock of what the agent left.
    pub fn take_stock(&self, start: &Start) -> Result<Stock> {
        match &self.isolation {
            Some(isolation) => {
                logs::drop_links(&self.repo.private, &self.id, start.cycle)?;
                isolation.take_stock(start)
            }
            None => {
                if !self.has_git_dir() {
                    return Err(self.git_dir_is_gone());
                }
                logs::drop_links(&self.repo.private, &self.id, start.cycle)?;
                let put_back = start.put_back_settings(&self.repo.own_places())?;
                let repo = self.repo.reopened()?;
                let mut stock = Workspace { repo: &repo }.take_stock(start, Unmarked::Agents)?;
                stock.notes.extend(put_back);
                Ok(stock)
            }
        }
    }

    /// Returns the words of a STOP file, if there is or was one.
    pub fn stop_file(&self) -> Option<String> {
        self.stop.asked_to_stop()
    }

    /// Returns the folder of this session's logs.
    pub fn logs(&self) -> PathBuf {
        self.repo.private.join("logs").join(&self.id)
    }

    /// Measures goals and tells of it. `purpose` names the logs and the event.
    pub async fn measure(
        &self,
        goals: &Goals,
        chosen: &[&Goal],
        expected: &HashMap<String, f64>,
        (cycle, purpose): (u64, &'static str),
    ) -> Result<Vec<Measurement>, Cut> {
        self.events.send(Event::MeasureStarted {
            checks: chosen.len(),
            purpose,
        });
        let logs = self.logs().join(format!("{cycle}-{purpose}"));
        let measurer = self.measurer_in_place(goals.settings.measure).await?;
        let measured = measurer.measure(goals, chosen, expected, Some(&logs));
        let measured = measured.await?;
        if !measurer.root.exists() {
            let root = measurer.root.display();
            return Err(
                Error::unsafe_repo(format!("{root} was removed while checks ran there"))
                    .hint("run evolve again; a copy is made anew")
                    .into(),
            );
        }
        for measurement in &measured {
            // Nothing was learned of the goal where the machine had nothing left to run its check.
            let words = measurement.reason.as_deref().unwrap_or_default();
            let words = words.strip_prefix("could not be started: ");
            let what = format!("the check of {}", measurement.id);
            if let Some(error) = words.and_then(|words| Error::of_shortage(&what, words)) {
                return Err(error.into());
            }
        }
        Ok(measured)
    }

    /// Goes where a cycle measures: where the agent works, or in a slot made anew that no agent enters.
    async fn measurer_in_place(&self, place: Where) -> Result<Measurer, Cut> {
        let home = self.home();
        let slot = match (place, &self.isolation) {
            (Where::Here, None) => return Ok(self.measurer.clone()),
            (Where::Here, Some(isolation)) => isolation.slot.clone(),
            (Where::Clean, _) => Slot::of(home, "measure", self.options.provisions.clone())?,
        };
        let head = self.repo.head()?;
        let (Some(branch), Some(commit)) = (head.branch, head.commit) else {
            return Err(Error::unsafe_repo("HEAD names no branch with a commit").into());
        };
        let measurer = match place {
            Where::Here => self.measurer.clone(),
            Where::Clean => {
                slot.remove()?;
                slot.renew(home, (&branch, &commit), Ignored::Go)?;
                let ground = Ground::of_slot(&slot.root);
                self.measurer
                    .at(&slot.root, self.sandbox.fence(Inmate::Checks, &ground)?)
            }
        };
        self.make_ready(&slot, &commit, &measurer.fence).await?;
        Ok(measurer)
    }

    /// Makes a slot on a commit ready with the user's command, unless it is.
    async fn make_ready(&self, slot: &Slot, commit: &str, fence: &Fence) -> Result<(), Cut> {
        let home = self.home();
        let log = self.logs().join("prepare.log");
        let preparation = Preparation {
            user: home,
            commit,
            supervisor: &self.measurer.supervisor,
            fence,
            log: Some(&log),
            session: &self.id,
        };
        match (slot.prepare(&preparation).await?, self.stop.halt()) {
            (Prepared::Ready, _) => Ok(()),
            (Prepared::Stopped, Some(halt)) => Err(halt.into()),
            (Prepared::Failed(why), _) => {
                let log = log.strip_prefix(&home.root).unwrap_or(&log);
                Err(Cut::Unprepared(format!("{why}; see {}", log.display())))
            }
            (Prepared::Stopped, None) => Err(Error::internal("prepare was stopped").into()),
        }
    }

    /// Returns what is lent to the slot in which the agent works, if it works in one.
    pub fn lent_to_agent(&self) -> Option<Provisions> {
        let isolation = self.isolation.as_ref()?;
        Some(isolation.slot.provisions.clone())
    }

    /// Tells of the session's end.
    pub fn tell_end(&self, progress: &Progress, ending: &Ending, trajectory: Option<String>) {
        self.events.send(Event::SessionEnded {
            reason: ending.reason.clone(),
            ending: ending.word,
            cycles: progress.records.len() as u64,
            exit_code: ending.exit_code,
            trajectory,
            spent: progress.spent,
        });
    }

    /// Tells of a whole snapshot.
    pub fn tell_measured(&self, snapshot: &Snapshot, purpose: &'static str) {
        let ids = |result| snapshot.with(result).map(|goal| goal.id.clone()).collect();
        self.events.send(Event::MeasureFinished {
            score: snapshot.score,
            goals_passing: snapshot.goals_passing,
            goals_total: snapshot.goals_total,
            failing: ids(CheckResult::Fail),
            skipped: ids(CheckResult::Skip),
            purpose,
        });
    }

    /// Rests for a while, and tells of it. A STOP file ends the rest at once and its words are returned; KILL, a signal or the
    /// session's time cut it short.
    pub async fn rest(&self, rest: Duration, reason: &str) -> Result<Option<String>, Cut> {
        if rest.is_zero() {
            return Ok(None);
        }
        self.events.send(Event::Waiting {
            seconds: rest.as_secs_f64(),
            reason: format!("{reason}; STOP or KILL ends the wait"),
        });
        let until = tokio::time::Instant::now() + rest;
        while tokio::time::Instant::now() < until {
            if let Some(words) = self.stop_file() {
                return Ok(Some(words));
            }
            let next = until.min(tokio::time::Instant::now() + REST_POLL);
            tokio::select! {
                () = tokio::time::sleep_until(next) => {},
                () = self.stop.halted() => {},
            }
            if let Some(halt) = self.stop.halt() {
                return Err(halt.into());
            }
        }
        Ok(None)
    }

    /// Writes a file of the private directory.
    pub fn write_private(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.repo.private.join(name);
        files::replace(&path, bytes)?;
        Ok(path)
    }
}
