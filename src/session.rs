//! What every step of a run may read (`Session`); beside it what a run has learned so far (`Progress`), and why it ends.

mod ending;
mod goals_file;
mod gone;
mod measuring;
mod progress;
pub mod resting;
mod searching;
mod telling;

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::effects::agent::Agent;
use crate::effects::files::{self, Dated};
use crate::effects::gitfile::Gitfile;
use crate::effects::guard::programs::PutBack;
use crate::effects::guard::{Guarded, held};
use crate::effects::isolation::Isolation;
use crate::effects::journal::{Journal, JournalFile};
use crate::effects::keep::{self, Links};
use crate::effects::lock::Lock;
use crate::effects::logs;
use crate::effects::measure::Measurer;
use crate::effects::mirror::Mirror;
use crate::effects::modes;
use crate::effects::private;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{self, Sandbox};
use crate::effects::stop::Stop;
use crate::effects::workspace::{Start, Stock, WayOut, Workspace};
use crate::error::{Error, Kind, Result};
use crate::event::{Event, Events};
use crate::model::goals::Limits;
use crate::model::record::unseen::Span;
use crate::model::record::{CycleResult, REFUSED, Record};
use crate::model::slot::Provisions;
use crate::model::snapshot::Snapshot;
use crate::model::sweep::Part;
use crate::model::text;
use crate::model::told::Waiting;
use crate::model::work::WorkItem;

pub use ending::{Blamed, Cut, Ending, Unready};
pub use goals_file::GoalsFile;
pub use progress::{Carried, LastSweep, Progress};
pub use searching::{Searching, Site, Slots};
pub use telling::Hooks;

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
    /// The `.git` of the working tree; none where the agent has a slot.
    pub gitfile: Option<Gitfile>,
    /// What the user asked for.
    pub options: Options,
    /// What is in progress.
    pub journal_file: JournalFile,
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
    /// Who is told beside those who watch.
    pub hooks: Hooks,
    /// What is worked on, whatever fails and is queued.
    pub errand: Option<Errand>,
}

/// A piece of work that a person asks for now.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The work; it stands in no queue.
    pub item: WorkItem,
    /// Why it is done.
    pub reason: String,
    /// What is to be said once it is done.
    pub done: String,
    /// What is to be said if it is not.
    pub not_done: String,
}

impl Errand {
    /// The ending that follows from what became of it: without success, exit 10.
    pub fn ending(&self, record: &Record) -> Ending {
        match record.result {
            CycleResult::Harvested => {
                let reason = format!("{}, in cycle {}", self.done, record.cycle);
                Ending::fine("done", reason)
            }
            _ => {
                let ending = match record.is_refused() {
                    true => REFUSED,
                    false => "not-done",
                };
                Ending {
                    exit_code: Kind::Failing.exit_code(),
                    ..Ending::fine(ending, self.not_done.clone())
                }
            }
        }
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

    /// Looks at the tree before a cycle; a slot is put on the tip of the user's branch first. Tracked files were last compared by
    /// content at a moment that is `verified`, if ever.
    pub fn begin(&self, cycle: u64, verified: Option<Dated>) -> Result<Start> {
        let start = self.look_at_tree(cycle, &[])?;
        Ok(Start {
            unverified_since: verified,
            ..start
        })
    }

    /// Looks at the tree before anything else of a session. Checks of earlier ones ran in the spans that are `unseen` without that
    /// tracked files were compared by content since.
    pub fn begin_first(&self, unseen: &[Span]) -> Result<Start> {
        self.look_at_tree(0, unseen)
    }

    fn look_at_tree(&self, cycle: u64, unseen: &[Span]) -> Result<Start> {
        if let Some(isolation) = &self.isolation {
            isolation.renew()?;
        }
        let way_out = self.way_out();
        let begin = || self.workspace().begin(&self.id, cycle, way_out, unseen);
        self.with_settings_held(cycle, begin)
    }

    /// Returns what the user can do about changes that are not committed: where an errand is run, no flag makes a copy.
    pub fn way_out(&self) -> WayOut {
        match &self.options.errand {
            Some(_) => WayOut::Commit,
            None => WayOut::CommitOrCopy,
        }
    }

    /// Does something in the user's repository for which git may run filters of the user's, and puts back what they changed of git's
    /// settings: they may load what an earlier agent wrote.
    pub fn with_settings_held<T>(&self, cycle: u64, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let (done, notes) = held::hold(self.home(), (&self.id, cycle), work)?;
        notes.into_iter().for_each(|note| self.events.warn(note));
        Ok(done)
    }

    /// Makes git's settings in the user's repository what they were before the agent, if it worked there, when nothing is left to do
    /// for which git runs filters; says what had changed.
    pub fn hold_settings(&self, start: &Start) -> Result<Vec<String>> {
        match self.isolation.is_none() && self.has_git_dir() {
            true => start.hold_settings(&self.repo.own_places()),
            false => Ok(Vec::new()),
        }
    }

    /// Moves away what came among git's objects and cannot be relied on, if the agent works there; says what. To be done when goals
    /// were measured without an agent, before objects are asked or copied: checks run what earlier agents left.
    pub fn clear_objects(&self, start: &Start) -> Result<Vec<String>> {
        if self.isolation.is_some() || !self.has_git_dir() {
            return Ok(Vec::new());
        }
        let notes = start.clear_objects(&self.repo.own_places())?;
        self.repo.look_anew()?;
        Ok(notes)
    }

    /// Gives the user's untracked files a second name before checks run where an agent will work, so that none is lost to what
    /// earlier agents left.
    pub fn link_untracked(&self, start: &Start) -> Result<()> {
        self.link(start.kept.untracked_paths())
    }

    /// Does the same for those that have no copy, after the agent.
    pub fn link_uncopied(&self, start: &Start) -> Result<()> {
        self.link(start.kept.uncopied())
    }

    fn link(&self, files: impl Iterator<Item = Vec<u8>>) -> Result<()> {
        match self.isolation.is_none() && self.has_git_dir() {
            true => Links::of(&self.repo).make(files.collect()),
            false => Ok(()),
        }
    }

    /// Gives such files back that checks removed; says which. To be done when the checks have ended.
    pub fn settle_links(&self, cycle: u64) -> Result<Vec<String>> {
        if self.isolation.is_some() || !self.has_git_dir() {
            return Ok(Vec::new());
        }
        let mut quarantine = Quarantine::of(&self.repo.private, &self.id, cycle);
        Links::of(&self.repo).settle(&mut quarantine)
    }

    /// Says whether the git directory is the one that this session began in.
    pub fn has_git_dir(&self) -> bool {
        self.lock.is_in(&self.home().private)
    }

    /// Takes the private directory back after somebody was at work: what an agent took from it is there again, the lock above
    /// all; and so is `.git` itself, which is told. Refuses where all of it is gone.
    fn take_back(&self, start: &Start) -> Result<Vec<String>> {
        let gitfile = self.gitfile.as_ref();
        let put_back = gitfile.map(|gitfile| gitfile.put_back(&self.id, start.cycle));
        let mut notes = put_back.transpose()?.unwrap_or_default();
        if !self.has_git_dir() {
            modes::refuse_shut(&self.home().root)?;
            return match &self.isolation {
                // Nothing of it is needed for what happens in a slot.
                Some(_) => Ok(notes),
                None => Err(self.git_dir_is_gone()),
            };
        }
        let was_taken = self.lock.put_back(&self.home().private.join("lock"))?;
        let mut quarantine = Quarantine::of(&self.home().private, &self.id, start.cycle);
        private::clear(&self.home().own_places(), &mut quarantine)?;
        let is_misplaced = !quarantine.moved.is_empty();
        notes.extend(quarantine.notes());
        let is_lacking = was_taken || is_misplaced;
        let mirror = self.mirror.as_ref().filter(|_| is_lacking);
        if let Some(mirror) = mirror.filter(|mirror| mirror.private().is_some()) {
            mirror.lend_private()?;
        }
        Ok(notes)
    }

    /// Remembers what git holds for the user beside branch and files, and the programs of the tree that it runs, right before an
    /// agent does.
    pub fn guard_start(&self, start: &mut Start) -> Result<()> {
        start.guarded = match self.isolation.is_some() {
            true => Guarded::take_programs(self.home(), &self.repo.root)?,
            false => {
                let ignored = start.kept.ignored.iter().map(|name| keep::from_hex(name));
                let folders = start.folders.without(&ignored.collect::<Vec<_>>());
                Guarded::take(&self.repo, &folders)?
            }
        };
        Ok(())
    }

    /// Opens what an agent or a check shut by a mode, so that `evolve` can look at it; says what. None where the place of work
    /// is gone: then nothing may be read or removed there. Comes before all else after somebody was at work.
    pub fn open(&self, start: &Start) -> Option<Vec<String>> {
        match &self.isolation {
            Some(isolation) => isolation.refuse_gone().ok()?,
            None => return Some(start.open(&self.repo.own_places(), &self.repo.root)),
        }
        Some(start.open_slot(&self.repo.root))
    }

    /// Makes what git holds for the user beside branch and files what it was before the agent, wherever that was changed by
    /// what ran since; says what had changed. To be done before git is called after somebody else was at work.
    pub fn guard(&self, start: &Start) -> Result<Vec<String>> {
        let Some(mut opened) = self.open(start) else {
            return Ok(Vec::new());
        };
        opened.extend(self.take_back(start)?);
        logs::drop_links(&self.repo.private, &self.id, start.cycle)?;
        if self.isolation.is_some() {
            let mut notes = self.workspace().clear_pipes(start)?;
            notes.extend(self.put_back_programs(start)?.notes);
            notes.extend(start.hold_users(self.home())?);
            return Ok(notes);
        }
        let mut notes = opened;
        let settings = start.put_back_settings(&self.repo.own_places(), &self.repo.plain)?;
        notes.extend(settings.notes);
        self.repo.look_anew()?;
        notes.extend(self.put_back_programs(start)?.notes);
        notes.extend(self.workspace().clear_pipes(start)?);
        notes.extend(start.hold_users(&self.repo)?);
        notes.extend(start.put_back_refs(&self.repo)?);
        match settings.is_index_back {
            true => self.workspace().bring_index_to_head(start)?,
            false => notes.extend(self.workspace().mend_index(start)?),
        }
        Ok(notes)
    }

    /// Returns what the journal says of a cycle, as this session wrote it.
    pub fn journal(&self, cycle: u64) -> Result<Journal> {
        let now = self.journal_file.now()?.filter(|now| now.cycle == cycle);
        Ok(now.unwrap_or_else(|| Journal::measuring(&self.id, cycle)))
    }

    /// Adds to the notes of what will be recorded if the cycle is cut short here.
    pub fn note_in_journal(&self, cycle: u64, notes: &[String]) -> Result<()> {
        if notes.is_empty() {
            return Ok(());
        }
        let mut journal = self.journal(cycle)?;
        let record = journal.record.iter_mut();
        record.for_each(|record| record.notes.extend(notes.iter().cloned()));
        self.journal_file.write(&journal)
    }

    /// Notes that nothing is in progress any more.
    pub fn clear_journal(&self) -> Result<()> {
        self.note_settled()?;
        self.journal_file.clear()
    }

    /// Notes in the copy of the git directory that its cycle is settled. To be done before the journal stops telling of it.
    pub fn note_settled(&self) -> Result<()> {
        self.mirror.as_ref().map_or(Ok(()), Mirror::note_settled)
    }

    fn git_dir_is_gone(&self) -> Error {
        let private = self.home().private.display();
        if self.mirror.as_ref().and_then(Mirror::private).is_some() {
            let error = format!("{private} is gone or was replaced while it was needed");
            let again =
                "run evolve again: it gets the folder back from a copy and undoes the cycle";
            return Error::unsafe_repo(error).hint(match self.home().root.exists() {
                true => format!("nothing was written; {again}"),
                false => {
                    let root = text::shell_word(self.home().root.as_os_str().as_bytes());
                    format!("nothing was written; make the folder again and {again}: `mkdir -p {root} && cd {root} && evolve`")
                }
            });
        }
        let root = self.repo.root.display();
        let error = Error::unsafe_repo(format!(
            "{root} is no longer the git repository it was: its .git is gone or was replaced"
        ));
        match self.mirror.as_ref().and_then(Mirror::way_back) {
            Some(way_back) => error.hint(format!(
                "nothing was written; this puts .git back as it was before the agent, and the next run undoes the rest: {way_back}"
            )),
            None if self.home().common_path("HEAD").exists() => Error::unsafe_repo(format!(
                "{private}, which holds what the session needs, is gone or was replaced, and so is its copy"
            ))
            .hint("nothing was judged or undone: `git status` and `git diff` show what the agent left; keep it or take it back, then run evolve again"),
            None => error.hint("the files are as the agent left them, nothing was done to them"),
        }
    }

    /// Takes stock of what the agent left.
    pub fn take_stock(&self, start: &Start) -> Result<Stock> {
        let taken_back = self.take_back(start)?;
        logs::drop_links(&self.repo.private, &self.id, start.cycle)?;
        let programs = self.put_back_programs(start)?;
        let mut stock = match &self.isolation {
            Some(isolation) => {
                let changed = start.hold_users(&isolation.user)?;
                let mut stock = isolation.take_stock(start)?;
                stock.notes.extend(changed);
                stock
            }
            None => {
                let mut put_back =
                    start.put_back_settings(&self.repo.own_places(), &self.repo.plain)?;
                self.repo.look_anew()?;
                put_back.notes.extend(start.hold_users(&self.repo)?);
                let repo = self.repo.reopened()?;
                let mut stock = Workspace { repo: &repo }.take_stock(start)?;
                stock.change.rewritten = stock.change.rewritten.or(put_back.broken);
                stock.notes.extend(put_back.notes);
                stock.notes.extend(start.guarded.stashed_since(&repo)?);
                stock
            }
        };
        let words = |program: String| format!("{program}, which git runs, changed");
        let changed = programs.programs.into_iter().map(words);
        stock.change.goalposts.extend(changed);
        stock.notes.extend(programs.notes);
        stock.notes.extend(taken_back);
        Ok(stock)
    }

    /// Puts refs that checks compare with where a fetch had put them, when nothing is measured any more; says which.
    pub fn give_fetched_back(&self, start: &Start, stock: &Stock) -> Result<Vec<String>> {
        let fetched = &stock.compared.fetched;
        match self.isolation.is_none() && self.has_git_dir() {
            true => self.workspace().give_fetched_back(start, fetched),
            false => Ok(Vec::new()),
        }
    }

    fn put_back_programs(&self, start: &Start) -> Result<PutBack> {
        start.put_back_programs(&self.home().own_places())
    }

    /// Returns the words of a STOP file, if there is or was one.
    pub fn stop_file(&self) -> Option<String> {
        self.stop.asked_to_stop()
    }

    /// Returns the folder of this session's logs.
    pub fn logs(&self) -> PathBuf {
        self.repo.private.join("logs").join(&self.id)
    }

    /// Returns what is lent to the slot in which the agent works, if it works in one.
    pub fn lent_to_agent(&self) -> Option<Provisions> {
        let isolation = self.isolation.as_ref()?;
        Some(isolation.slot.provisions.clone())
    }

    /// Tells of the session's end.
    pub fn tell_end(
        &self,
        progress: &Progress,
        ending: &Ending,
        trajectory: Option<String>,
    ) -> Event {
        let ended = Event::SessionEnded {
            reason: ending.reason.clone(),
            ending: ending.word,
            cycles: progress.recorded.tally().len() as u64,
            exit_code: ending.exit_code,
            has_stuck: !ending.stuck.is_empty(),
            trajectory,
            spent: progress.spent,
        };
        self.events.send(ended.clone());
        ended
    }

    /// Tells of a whole snapshot.
    pub fn tell_measured(&self, snapshot: &Snapshot, purpose: &'static str) {
        self.events.send(Event::measured(snapshot, purpose));
    }

    /// Rests for a while, and tells of it. A STOP file ends the rest at once and its words are returned; KILL, a signal or the
    /// session's time cut it short.
    pub async fn rest(&self, rest: Duration, reason: &str) -> Result<Option<String>, Cut> {
        self.rest_while(rest, reason, || true).await
    }

    /// Rests like that, as long as there is `still` something to wait for.
    pub async fn rest_while(
        &self,
        rest: Duration,
        reason: &str,
        still: impl Fn() -> bool,
    ) -> Result<Option<String>, Cut> {
        let private = &self.home().private;
        let tell = |waiting: Option<Waiting>| {
            // It is for those who look; the wait is the same without it.
            if let Err(error) = sandbox::tell_waiting(private, waiting) {
                tracing::debug!("`evolve status` does not tell of the wait: {error}");
            }
        };
        let waiting = resting::waiting(rest, reason);
        let is_told = waiting.is_some();
        if is_told {
            tell(waiting);
        }
        let asked = || self.stop_file();
        let rested = resting::rest(&self.stop, &self.events, rest, reason, still, asked).await;
        if is_told {
            tell(None);
        }
        rested
    }

    /// Writes a file of the private directory.
    pub fn write_private(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.repo.private.join(name);
        // An agent may have left one in its place.
        if std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
            files::remove_all(&path).map_err(|cause| Error::io("remove", &path, cause))?;
        }
        files::replace(&path, bytes)?;
        Ok(path)
    }
}
