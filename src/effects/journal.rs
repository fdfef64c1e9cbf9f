//! What is going on right now, written down before it begins, so that the next start can settle what a crash left.
//!
//! An agent can write to all that lies in the repository. So a running session believes only what it remembers, and the next
//! start believes a journal outside of it, `$XDG_STATE_HOME/evolve/<name and digest of the git directory's path>.journal`,
//! which is written first and removed last. The one in the private directory counts where there is none outside: no place
//! for it, or a repository that was moved; where it names the one outside of a session that had another home, that one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::effects::places::{self, Places};
use crate::effects::workspace::{Landing, Plan, Start};
use crate::effects::{clock, ended, files, ledger, proc_table};
use crate::error::{Error, Kind, Result};
use crate::model::aftermath;
use crate::model::record::Record;
use crate::model::slot::Provisions;
use crate::model::snapshot::FORMAT;

/// How far a cycle had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Checks run; nothing was changed yet.
    Measuring,
    /// A sweep's programs run, which may change tracked files.
    Sweeping,
    /// The agent runs, or its change is being measured.
    Agent,
    /// The change is being taken back.
    Undoing,
    /// The cycle is settled, and its record is being written.
    Recording,
    /// All cycles are recorded, and the session's summary is being completed.
    Closing,
}

impl Phase {
    /// Returns the word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Measuring => "measuring",
            Phase::Sweeping => "sweeping",
            Phase::Agent => "agent",
            Phase::Undoing => "undoing",
            Phase::Recording => "recording",
            Phase::Closing => "closing",
        }
    }
}

/// The cycle in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// Version of the format.
    pub format: u32,
    /// The session.
    pub session: String,
    /// The cycle's number.
    pub cycle: u64,
    /// How far it had come.
    pub phase: Phase,
    /// Which boot of which machine, and which git directory: in a copy of the repository, or after a reboot, nothing that
    /// runs here is the session's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The process that wrote it: its id, and when it was started in ticks since boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<(u32, u64)>,
    /// Where it started; absent while measuring.
    pub start: Option<Start>,
    /// What will be recorded if the cycle is cut short here, or is being recorded.
    pub record: Option<Record>,
    /// The undo that is being carried out.
    pub plan: Option<Plan>,
    /// What the slot is given in which the agent works; then nothing of the user's tree is the agent's doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Provisions>,
    /// The move of the user's branch to a change that was kept in a slot, which is being carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
    /// The ledger's files that the record's commit will take in, as blobs: what stands in the tree an agent may have changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ledger: BTreeMap<String, String>,
    /// The end of the session's processes, as a start found out that has not settled it yet, in nanoseconds since 1970 as files
    /// are dated: what has changed later is not theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
    /// Where the journal lies outside of the repository; the next start may have another home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<PathBuf>,
}

impl Journal {
    /// A cycle that is being measured.
    pub fn measuring(session: &str, cycle: u64) -> Journal {
        Journal {
            format: FORMAT,
            session: session.to_owned(),
            cycle,
            phase: Phase::Measuring,
            place: String::new(),
            writer: None,
            start: None,
            record: None,
            plan: None,
            slot: None,
            landing: None,
            ledger: BTreeMap::new(),
            ended: None,
            outside: None,
        }
    }

    /// Says whether a cycle is in progress that would have to be settled.
    pub fn is_unsettled(&self) -> bool {
        match self.phase {
            Phase::Sweeping | Phase::Agent | Phase::Undoing | Phase::Recording => true,
            Phase::Measuring | Phase::Closing => false,
        }
    }
}

/// The journal of one working tree, as a process remembers it and as it lies on the disk.
#[derive(Clone, Debug)]
pub struct JournalFile {
    git_dir: PathBuf,
    inside: PathBuf,
    outside: Option<PathBuf>,
    /// What this process wrote last, or found when it first looked; none before that.
    known: Arc<Mutex<Option<Option<Journal>>>>,
    /// The journal outside that a session with another home left.
    elsewhere: Arc<OnceLock<PathBuf>>,
}

impl JournalFile {
    /// The journal of a working tree; nothing is read yet.
    pub fn of(places: &Places) -> JournalFile {
        JournalFile {
            git_dir: places.git_dir.clone(),
            inside: places.private.join("journal.json"),
            outside: places::outside(places, "journal"),
            known: Arc::default(),
            elsewhere: Arc::default(),
        }
    }

    /// Writes the journal, each file in one step.
    pub fn write(&self, journal: &Journal) -> Result<()> {
        let own = std::process::id();
        let journal = Journal {
            place: here(&self.git_dir),
            writer: proc_table::start_time(own).map(|started| (own, started)),
            outside: self.outside.clone().filter(|path| path.to_str().is_some()),
            ..journal.clone()
        };
        let text = ledger::line("journal", &journal)?;
        self.write_outside(text.as_bytes())?;
        self.make_room()?;
        files::replace(&self.inside, text.as_bytes())?;
        self.forget_elsewhere();
        *self.known() = Some(Some(journal));
        Ok(())
    }

    /// Writes the journal outside. Where that cannot be done it goes without; but what lay there before must not stay, because
    /// it would be believed.
    fn write_outside(&self, bytes: &[u8]) -> Result<()> {
        let Some(path) = &self.outside else {
            return Ok(());
        };
        let folder = path.parent().unwrap_or(Path::new("/"));
        let make = || {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700).create(folder)
        };
        let made = make().map_err(|cause| Error::io("create", folder, cause));
        let Err(error) = made.and_then(|()| files::replace(path, bytes)) else {
            return Ok(());
        };
        tracing::debug!("the journal lies in the repository alone: {error}");
        match files::is_there(path) {
            Ok(false) => Ok(()),
            Ok(true) => remove(path).map_err(|_| error),
            Err(_) => Err(error),
        }
    }

    /// Returns the cycle in progress as this process remembers it; if it has not looked yet, as a dead session left it. To be
    /// called by who holds the lock. Refuses if the session that wrote it lives: an agent can remove the lock.
    pub fn now(&self) -> Result<Option<Journal>> {
        if let Some(known) = &*self.known() {
            return Ok(known.clone());
        }
        let found = self.read()?;
        let is_here = |found: &&Journal| found.place == here(&self.git_dir);
        let living = found.as_ref().filter(is_here);
        living.map_or(Ok(()), Journal::refuse_living)?;
        *self.known() = Some(found.clone());
        Ok(found)
    }

    /// Refuses if the session that wrote the journal outside lives, in whatever git directory lay in this place then.
    pub fn refuse_living(&self) -> Result<()> {
        let outside = self.outside.as_ref().map(|path| read(path));
        match outside.transpose()?.flatten() {
            Some(found) if found.place.starts_with(&proc_table::boot_id()) => found.refuse_living(),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns where the journal lies, the place that counts most first.
    pub fn files(&self) -> Vec<PathBuf> {
        let files = self.outside.iter().chain([&self.inside]);
        files.cloned().collect()
    }

    /// Writes down in a dead session's journal when nothing of the session was at work any more, if that is known: this start's
    /// own end will take the place of that note.
    pub fn note_end(&self, journal: &mut Journal) -> Result<()> {
        if journal.ended.is_some() {
            return Ok(());
        }
        journal.ended = self.find_end(journal);
        match journal.ended {
            Some(_) => self.write(journal),
            None => Ok(()),
        }
    }

    /// Finds out when nothing of a dead session was at work any more: by the note of its supervising process, or by the boot of
    /// the machine since.
    fn find_end(&self, journal: &Journal) -> Option<i64> {
        let (boot, place) = journal.place.split_once(' ')?;
        if place != identity(&self.git_dir) {
            return None;
        }
        let is_outside = matches!(self.read_outside(), Ok(Some(_)));
        let outside = self.outside.as_ref().filter(|_| is_outside);
        let file = outside.or(self.elsewhere.get()).unwrap_or(&self.inside);
        let is_same_boot = boot == proc_table::boot_id();
        let now = clock::clocks();
        let written = ended::times(&fs::symlink_metadata(file).ok()?).modified;
        let since = is_same_boot.then_some(now);
        let is_of = |note: &aftermath::Note| {
            let is_its = Some(note.writer) == journal.writer && note.boot == boot;
            is_its && note.can_be_of(written, since)
        };
        if let Some(note) = ended::read(file).filter(is_of) {
            return Some(note.end(since));
        }
        let is_down = !is_same_boot && !boot.is_empty();
        let by_boot = || aftermath::end_by_boot(written, now);
        is_down.then(by_boot).flatten()
    }

    /// Returns what is remembered, or on the disk, for who only looks.
    pub fn look(&self) -> Result<Option<Journal>> {
        match &*self.known() {
            Some(known) => Ok(known.clone()),
            None => self.read(),
        }
    }

    /// Returns when it was last written in the private directory: with each step that a cycle gets on.
    pub fn written_at(&self) -> Option<SystemTime> {
        let meta = fs::symlink_metadata(&self.inside).ok()?;
        meta.modified().ok()
    }

    /// Says whether a session left anything, be it still at work; also what cannot be understood.
    pub fn is_there(&self) -> bool {
        !matches!(self.look(), Ok(None))
    }

    /// Returns an unsettled cycle of which only the journal outside tells: an agent removed or replaced the private directory.
    pub fn lost(&self) -> Result<Option<Journal>> {
        let told = read(&self.inside).ok().flatten();
        let left = self.read_outside()?;
        let is_told = |left: &Journal| told.is_some_and(|told| told.session == left.session);
        Ok(left.filter(|left| left.is_unsettled() && !is_told(left)))
    }

    /// Returns what is read in words, for a message.
    pub fn shown(&self) -> String {
        let files = self.outside.iter().chain([&self.inside]);
        let there = files.filter(|path| fs::symlink_metadata(path).is_ok());
        let names: Vec<_> = there.map(|path| path.display().to_string()).collect();
        names.join(" and ")
    }

    /// Removes what an agent put where the journal belongs and is no file.
    fn make_room(&self) -> Result<()> {
        match fs::symlink_metadata(&self.inside) {
            Ok(meta) if meta.is_dir() => files::remove_all(&self.inside)
                .map_err(|cause| Error::io("remove", &self.inside, cause)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Removes the journal: nothing is in progress.
    pub fn clear(&self) -> Result<()> {
        self.make_room()?;
        remove(&self.inside)?;
        if let Some(path) = &self.outside
            && !matches!(files::is_there(path), Ok(false))
        {
            remove(path)?;
        }
        self.files()
            .iter()
            .for_each(|journal| ended::remove(journal));
        self.forget_elsewhere();
        *self.known() = Some(None);
        Ok(())
    }

    /// Removes the journal of a session with another home, once this one has what it told, or nothing is in progress.
    fn forget_elsewhere(&self) {
        if let Some(path) = self.elsewhere.get() {
            // That home may be one that this start can only read.
            let _ = remove(path);
            ended::remove(path);
        }
    }

    fn read(&self) -> Result<Option<Journal>> {
        if let Some(journal) = self.read_outside()? {
            return Ok(Some(journal));
        }
        let told = read(&self.inside)?;
        Ok(told.map(|told| self.read_elsewhere(&told).unwrap_or(told)))
    }

    /// Reads the journal outside that the one in the repository names, of the same session and for the same git directory: the session had
    /// another home than this start, or the repository lay elsewhere.
    fn read_elsewhere(&self, told: &Journal) -> Option<Journal> {
        let is_journal = |path: &&PathBuf| {
            path.is_absolute() && path.extension().is_some_and(|end| end == "journal")
        };
        let path = told.outside.as_ref().filter(is_journal)?;
        let journal = read(path).ok()??;
        let is_same = journal.session == told.session && journal.place == told.place;
        is_same.then(|| {
            // One path is enough: the first that was found is that of the session.
            let _ = self.elsewhere.set(path.clone());
            journal
        })
    }

    /// Reads the journal outside, unless it is that of another repository which lay in this place.
    fn read_outside(&self) -> Result<Option<Journal>> {
        let Some(path) = self.outside.as_ref() else {
            return Ok(None);
        };
        if !files::is_there(path).map_err(|cause| Error::io("read", path, cause))? {
            return Ok(None);
        }
        let own = identity(&self.git_dir);
        let told = || read(&self.inside).ok().flatten();
        Ok(read(path)?.filter(|journal| {
            (!own.is_empty() && journal.place.ends_with(&own))
                // Git's folder was put back from its copy.
                || told().is_some_and(|told| told.session == journal.session)
        }))
    }

    fn known(&self) -> MutexGuard<'_, Option<Option<Journal>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal {
    /// Says whether it was written on this machine since it was booted, and for this very git directory.
    pub fn is_of(&self, places: &Places) -> bool {
        self.place.is_empty() || self.place == here(&places.git_dir)
    }

    /// Refuses if the process that wrote it since this boot lives and is another one.
    fn refuse_living(&self) -> Result<()> {
        let is_at_work = |(pid, started): &(u32, u64)| {
            *pid != std::process::id() && proc_table::is_at_work(*pid, Some(*started))
        };
        let Some((pid, _)) = self.writer.filter(is_at_work) else {
            return Ok(());
        };
        let what = format!("another evolve is at work in this repository: process {pid}");
        Err(Error::new(Kind::Locked, what).hint(
            "its lock was removed, by its agent for one; wait for it, or end it with `evolve stop`",
        ))
    }
}

/// Reads one file of a journal; none if it is not there.
fn read(path: &Path) -> Result<Option<Journal>> {
    let Some(bytes) = files::read_bounded(path, 1 << 30)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|cause| {
        Error::unsafe_repo(format!("{} cannot be understood: {cause}", path.display()))
            .hint("a session was cut short and cannot be settled by itself: look at `git log` and `git status`, put the tree in order, then remove that file")
    })
}

fn remove(path: &Path) -> Result<()> {
    files::remove(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    files::sync_folder(folder).map_err(|cause| Error::io("sync", folder, cause))
}

fn here(git_dir: &Path) -> String {
    format!("{} {}", proc_table::boot_id(), identity(git_dir))
}

/// Says which git directory this is: a new one in the same place is another.
fn identity(git_dir: &Path) -> String {
    let Ok(meta) = fs::metadata(git_dir) else {
        return String::new();
    };
    let born = meta.created().ok();
    let born = born.and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    format!("{} {}", meta.ino(), born.unwrap_or_default().as_nanos())
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;
    use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

    use super::*;

    /// The journal of a folder that stands for a git directory, with another place for it beside.
    fn journal_file(folder: &Path, outside: Option<&Path>) -> JournalFile {
        fs::create_dir_all(folder).unwrap();
        JournalFile {
            git_dir: folder.to_owned(),
            inside: folder.join("journal.json"),
            outside: outside.map(Path::to_owned),
            known: Arc::default(),
            elsewhere: Arc::default(),
        }
    }

    fn session(found: Result<Option<Journal>>) -> Option<String> {
        found.unwrap().map(|journal| journal.session)
    }

    #[test]
    fn a_journal_that_is_written_anew_is_gone_at_no_moment() {
        let folder = tempfile::tempdir().unwrap();
        let journal_file = journal_file(folder.path(), None);
        journal_file.write(&Journal::measuring("first", 1)).unwrap();
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK).unwrap();
        let removed = AddWatchFlags::IN_DELETE;
        inotify.add_watch(folder.path(), removed).unwrap();
        journal_file
            .write(&Journal::measuring("second", 1))
            .unwrap();
        assert_eq!(inotify.read_events().unwrap_err(), Errno::EAGAIN);
        journal_file.clear().unwrap();
        assert_eq!(inotify.read_events().unwrap().len(), 1);
    }

    #[test]
    fn what_lies_outside_counts_for_its_own_git_folder_and_for_one_that_knows_its_session() {
        let all = tempfile::tempdir().unwrap();
        let outside = all.path().join("outside");
        let own = journal_file(&all.path().join("own"), Some(&outside));
        let other = journal_file(&all.path().join("other"), Some(&outside));
        own.write(&Journal::measuring("first", 1)).unwrap();
        fs::copy(&own.inside, all.path().join("first")).unwrap();
        own.write(&Journal::measuring("second", 1)).unwrap();
        fs::copy(&own.inside, all.path().join("second")).unwrap();
        fs::remove_file(&own.inside).unwrap();
        assert_eq!(session(own.read()).as_deref(), Some("second"));

        // It was left by a repository that lay there before.
        assert_eq!(session(other.read()), None);
        fs::copy(all.path().join("first"), &other.inside).unwrap();
        assert_eq!(session(other.read_outside()), None);
        assert_eq!(session(other.read()).as_deref(), Some("first"));
        // Git's folder was put back from its copy.
        fs::copy(all.path().join("second"), &other.inside).unwrap();
        assert_eq!(session(other.read_outside()).as_deref(), Some("second"));
    }

    #[test]
    fn what_the_journal_inside_names_counts_if_it_is_one_of_the_same_session_and_place_and_goes_with_it()
     {
        let all = tempfile::tempdir().unwrap();
        let [first, second] = ["first.journal", "second.journal"].map(|name| all.path().join(name));
        let of = |outside: &Path| journal_file(&all.path().join("own"), Some(outside));
        of(&first).write(&Journal::measuring("s", 1)).unwrap();
        let told = read(&first).unwrap().unwrap();
        let put = |path: &Path, journal: &Journal| {
            fs::write(path, serde_json::to_string(journal).unwrap()).unwrap();
        };
        let found = || of(&second).read().unwrap().map(|journal| journal.cycle);
        let mut farther = told.clone();
        farther.cycle = 2;
        put(&first, &farther);
        assert_eq!(found(), Some(2));
        let mut other = farther.clone();
        other.session = "t".to_owned();
        put(&first, &other);
        assert_eq!(found(), Some(1));
        other.session = told.session.clone();
        other.place = "another place".to_owned();
        put(&first, &other);
        assert_eq!(found(), Some(1));
        // Of the user's own files none is taken for one, and removed.
        put(&first, &farther);
        let file = all.path().join("first");
        fs::copy(&first, &file).unwrap();
        let mut naming = told.clone();
        naming.outside = Some(file);
        put(&of(&first).inside, &naming);
        assert_eq!(found(), Some(1));

        put(&of(&first).inside, &told);
        let note = all.path().join("first.ended");
        fs::write(&note, "").unwrap();
        let later = of(&second);
        assert_eq!(later.read().unwrap().map(|journal| journal.cycle), Some(2));
        later.write(&Journal::measuring("u", 1)).unwrap();
        assert!(!first.exists() && !note.exists());
    }

    #[test]
    fn a_cycle_is_lost_that_is_unsettled_and_of_which_only_the_journal_outside_tells() {
        let all = tempfile::tempdir().unwrap();
        let outside = all.path().join("outside.journal");
        let file = journal_file(&all.path().join("own"), Some(&outside));
        let mut journal = Journal::measuring("s", 1);
        for (phase, is_lost) in [(Phase::Measuring, false), (Phase::Agent, true)] {
            journal.phase = phase;
            file.write(&journal).unwrap();
            assert_eq!(session(file.lost()), None, "{phase:?}");
            fs::remove_file(&file.inside).unwrap();
            assert_eq!(file.lost().unwrap().is_some(), is_lost, "{phase:?}");
        }
        let another = serde_json::to_string(&Journal::measuring("t", 1)).unwrap();
        fs::write(&file.inside, another).unwrap();
        assert_eq!(session(file.lost()).as_deref(), Some("s"));
    }

    #[test]
    fn a_session_that_lives_is_refused_whatever_git_folder_lay_there_and_one_of_another_boot_is_not()
     {
        let all = tempfile::tempdir().unwrap();
        let outside = all.path().join("outside.journal");
        let file = journal_file(&all.path().join("own"), Some(&outside));
        file.refuse_living().unwrap();
        let mut living = std::process::Command::new("sleep")
            .arg("300")
            .spawn()
            .unwrap();
        let pid = living.id();
        let mut journal = Journal::measuring("s", 1);
        journal.writer = proc_table::start_time(pid).map(|started| (pid, started));
        let refused = [proc_table::boot_id(), "another-boot".to_owned()].map(|boot| {
            journal.place = format!("{boot} 1 1");
            fs::write(&outside, serde_json::to_string(&journal).unwrap()).unwrap();
            file.refuse_living()
        });
        living.kill().unwrap();
        living.wait().unwrap();
        assert!(matches!(&refused[0], Err(error) if error.kind == Kind::Locked));
        assert!(refused[1].is_ok());
    }

    #[test]
    fn a_journal_is_of_the_git_folder_and_the_boot_that_it_names_and_of_any_if_it_names_none() {
        let all = tempfile::tempdir().unwrap();
        let places = |name: &str| {
            let folder = all.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            Places {
                git_dir: folder.clone(),
                common: folder.clone(),
                private: folder,
            }
        };
        let (own, other) = (places("own"), places("other"));
        let mut journal = Journal::measuring("s", 1);
        assert!(journal.is_of(&own));
        journal.place = here(&own.git_dir);
        assert!(journal.is_of(&own));
        assert!(!journal.is_of(&other));
        journal.place = format!("another-boot {}", identity(&own.git_dir));
        assert!(!journal.is_of(&own));
    }
}
