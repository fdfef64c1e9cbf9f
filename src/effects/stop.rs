//! What ends a session from outside: the KILL and STOP files, signals, and the session's own time.
//!
//! KILL, signals and time end whatever runs (`halted`); STOP ends the session after the running cycle. Once seen, either
//! stays seen: removing the file afterwards changes nothing, and the kernel tells of a file that was there for a moment
//! only (`news`). Whatever keeps KILL from being looked for counts as KILL: a folder that is gone or cannot be read, a link
//! that leads nowhere, more news than can be kept.

mod news;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use nix::unistd::{Uid, User};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::model::text;

use news::{Happened, News};

/// How often the kill files are looked at.
const POLL: Duration = Duration::from_millis(200);
/// The most bytes of a stop file that are shown.
const REASON_BYTES: u64 = 400;

/// What ended everything that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A KILL file, with its path and what is written in it.
    Kill(PathBuf, String),
    /// A signal: 2 (INT), 15 (TERM) or 1 (HUP).
    Signal(i32),
    /// The session's time is over.
    MaxTime(Duration),
    /// The process that supervises checks and agent was killed, or does not answer.
    SupervisorLost,
}

impl Halt {
    /// Says why, for records and messages.
    pub fn reason(&self) -> String {
        match self {
            Halt::Kill(path, text) if text.is_empty() => format!("KILL file {}", path.display()),
            Halt::Kill(path, text) => format!("KILL file {}: {text}", path.display()),
            Halt::Signal(2) => "SIGINT".to_owned(),
            Halt::Signal(15) => "SIGTERM".to_owned(),
            Halt::Signal(1) => "the terminal was closed (SIGHUP)".to_owned(),
            Halt::Signal(number) => format!("signal {number}"),
            Halt::MaxTime(limit) => format!(
                "time limit reached (--max-time {})",
                humantime::format_duration(*limit)
            ),
            Halt::SupervisorLost => {
                "the process that supervises checks and agent was killed".to_owned()
            }
        }
    }
}

/// Watches for reasons to stop. Cheap to clone.
#[derive(Clone)]
pub struct Stop {
    halt: watch::Sender<Option<Halt>>,
    kill_files: Arc<Vec<PathBuf>>,
    kill_news: Arc<Mutex<News>>,
    asked: Arc<Mutex<Asked>>,
    last_words: Hook<dyn Fn() + Send>,
    acknowledge: Hook<dyn Fn(&Halt) + Send>,
    deadline: Arc<OnceLock<Instant>>,
}

/// What is known of the STOP file.
#[derive(Debug, Default)]
struct Asked {
    file: PathBuf,
    news: News,
    /// The cycle whose agent runs.
    agent: Option<u64>,
    /// What the file said when it was seen first, and who may have written it.
    seen: Option<String>,
}

type Hook<F> = Arc<Mutex<Option<Box<F>>>>;

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop")
            .field("halt", &*self.halt.borrow())
            .finish_non_exhaustive()
    }
}

impl Stop {
    /// Starts to watch signals and the given kill files.
    pub fn watch(kill_files: Vec<PathBuf>) -> Result<Stop> {
        let mut kill_news = News::new();
        for file in &kill_files {
            kill_news.add(file);
        }
        let stop = Stop {
            halt: watch::Sender::new(None),
            kill_files: Arc::new(kill_files),
            kill_news: Arc::new(Mutex::new(kill_news)),
            asked: Arc::default(),
            last_words: Hook::default(),
            acknowledge: Hook::default(),
            deadline: Arc::default(),
        };
        stop.watch_signals()?;
        let watcher = stop.clone();
        tokio::spawn(async move {
            while watcher.look_for_kill().is_none() {
                watcher.asked_to_stop();
                tokio::time::sleep(POLL).await;
            }
        });
        Ok(stop)
    }

    /// Signals are watched in a thread of their own: the second one acts whatever the others are waiting for.
    fn watch_signals(&self) -> Result<()> {
        let mut wanted = vec![(SignalKind::interrupt(), 2), (SignalKind::terminate(), 15)];
        if !is_hangup_ignored() {
            wanted.push((SignalKind::hangup(), 1));
        }
        let cannot =
            |cause: std::io::Error| Error::internal(format!("cannot watch for signals: {cause}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .map_err(cannot)?;
        let inside = runtime.enter();
        for (kind, number) in wanted {
            let mut stream = signal(kind).map_err(cannot)?;
            let stop = self.clone();
            runtime.spawn(async move {
                let mut already = false;
                while stream.recv().await.is_some() {
                    if already || matches!(*stop.halt.borrow(), Some(Halt::Signal(_))) {
                        stop.leave_at_once(number);
                    }
                    already = true;
                    stop.set(Halt::Signal(number));
                }
            });
        }
        drop(inside);
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        Ok(())
    }

    /// Ends the session when `limit` has passed.
    pub fn after(&self, limit: Duration) {
        let stop = self.clone();
        let _ = self.deadline.set(Instant::now() + limit);
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            stop.set(Halt::MaxTime(limit));
        });
    }

    /// Returns how much of the session's time is left, if it is limited.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline = self.deadline.get()?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Names what has to be done before a second signal ends the program at once. The journal stays, so that the next
    /// start settles what was left.
    pub fn on_second_signal(&self, action: impl Fn() + Send + 'static) {
        *self
            .last_words
            .lock()
            .expect("BUG: a holder of the lock panicked") = Some(Box::new(action));
    }

    /// Names what is done the moment a KILL file is seen, before anything is ended.
    pub fn on_kill(&self, action: impl Fn(&Halt) + Send + 'static) {
        *self
            .acknowledge
            .lock()
            .expect("BUG: a holder of the lock panicked") = Some(Box::new(action));
    }

    /// Ends the session: what runs cannot be supervised any more.
    pub fn supervisor_lost(&self) {
        self.set(Halt::SupervisorLost);
    }

    fn leave_at_once(&self, number: i32) {
        if let Some(action) = &*self
            .last_words
            .lock()
            .expect("BUG: a holder of the lock panicked")
        {
            action();
        }
        std::process::exit(128 + number);
    }

    /// Looks at the kill files now; what was seen once stays.
    pub fn look_for_kill(&self) -> Option<Halt> {
        if let Some((path, text)) = self.kill_files.iter().find_map(|path| kill_file(path)) {
            self.set(Halt::Kill(path, text));
        }
        let happened = self
            .kill_news
            .lock()
            .expect("BUG: a holder of the lock panicked")
            .read();
        for one in happened {
            let (path, words) = match one {
                Happened::Appeared(path) => (path, "it was taken away again at once"),
                Happened::FolderLost(folder) => (folder, "the folder was taken away or moved"),
                Happened::TooMuch => (PathBuf::from("?"), "too much happened in its folder"),
            };
            self.set(Halt::Kill(path, words.to_owned()));
        }
        self.halt()
    }

    /// Watches for a STOP file, too.
    pub fn watch_for_stop(&self, file: &Path) {
        let mut asked = self.asked();
        asked.file = file.to_owned();
        asked.news = News::new();
        asked.news.add(file);
    }

    /// Notes that the agent of a cycle runs, or none does: what appears meanwhile may be its doing.
    pub fn note_agent(&self, cycle: Option<u64>) {
        self.asked_to_stop();
        self.asked().agent = cycle;
    }

    /// Looks at the STOP file now; what was seen once stays. Returns what it says, and who may have written it.
    pub fn asked_to_stop(&self) -> Option<String> {
        let mut asked = self.asked();
        if asked.seen.is_some() || asked.file.as_os_str().is_empty() {
            return asked.seen.clone();
        }
        let is_news = |one: &Happened| matches!(one, Happened::Appeared(_) | Happened::TooMuch);
        let was_there = asked.news.read().iter().any(is_news);
        let mut words = match stop_file(&asked.file) {
            Some(words) => words,
            None if was_there => "it was taken away again".to_owned(),
            None => return None,
        };
        if let Some(cycle) = asked.agent {
            let gap = if words.is_empty() { "" } else { " " };
            words.push_str(&format!(
                "{gap}(written while the agent of cycle {cycle} ran)"
            ));
        }
        asked.seen = Some(words);
        asked.seen.clone()
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Asked> {
        self.asked
            .lock()
            .expect("BUG: a holder of the lock panicked")
    }

    fn set(&self, halt: Halt) {
        if self.halt().is_some() {
            return;
        }
        let hook = self
            .acknowledge
            .lock()
            .expect("BUG: a holder of the lock panicked");
        if let (Halt::Kill(..), Some(acknowledge)) = (&halt, &*hook) {
            acknowledge(&halt);
        }
        self.halt.send_replace(Some(halt));
    }

    /// Returns what ended everything, if something did.
    pub fn halt(&self) -> Option<Halt> {
        self.halt.borrow().clone()
    }

    /// Waits until something ends everything.
    pub async fn halted(&self) {
        let mut receiver = self.halt.subscribe();
        // The sender lives in self, so the channel cannot close.
        let _ = receiver.wait_for(Option::is_some).await;
    }
}

/// Returns the permanent kill files of this user: below the home directory, below `$XDG_CONFIG_HOME` if set, and below the
/// home that the system knows of, because a scheduler may set another one than the user's shell.
pub fn kill_files() -> Result<Vec<PathBuf>> {
    let home = std::env::home_dir()
        .filter(|home| home.is_absolute())
        .ok_or_else(|| {
            Error::internal(
                "cannot tell where the KILL file would be: this user has no home directory",
            )
            .hint("set HOME; evolve does not run where it could not be stopped")
        })?;
    let mut files = vec![home.join(".config/evolve/KILL")];
    if let Some(folder) = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from)
        && folder.is_absolute()
    {
        let file = folder.join("evolve/KILL");
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let known = User::from_uid(Uid::current()).ok().flatten();
    if let Some(file) = known.map(|user| user.dir.join(".config/evolve/KILL")) {
        // The home of a user that has none, as of some services, is no folder that could be looked into.
        let is_decidable = match fs::symlink_metadata(&file) {
            Ok(_) => true,
            Err(cause) => cause.kind() == std::io::ErrorKind::NotFound,
        };
        if is_decidable && file.is_absolute() && !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// Makes the folder of the kill file that `evolve stop --kill` writes, so that it is watched from the start. Where that is
/// not possible it is looked for all the same.
pub fn prepare(kill_files: &[PathBuf]) {
    let Some(folder) = kill_files.first().and_then(|file| file.parent()) else {
        return;
    };
    let home = folder.ancestors().nth(2);
    if home.is_some_and(|home| fs::metadata(home).is_ok_and(|meta| meta.is_dir())) {
        let _ = fs::create_dir_all(folder);
    }
}

/// Returns a kill file that is there, or whose absence cannot be told: whatever is undecidable means stop.
fn kill_file(path: &Path) -> Option<(PathBuf, String)> {
    match fs::symlink_metadata(path) {
        Ok(_) => Some((path.to_owned(), words(path))),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => None,
        Err(cause) => Some((path.to_owned(), format!("cannot be looked at: {cause}"))),
    }
}

/// Returns what a stop file says, if it is there.
pub fn stop_file(path: &Path) -> Option<String> {
    kill_file(path).map(|(_, words)| words)
}

/// Returns the start of a file's text, made harmless for a terminal; empty if it is no plain file.
fn words(path: &Path) -> String {
    use std::io::Read;
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return String::new();
    }
    let mut bytes = Vec::new();
    if let Ok(file) = fs::File::open(path) {
        let _ = file.take(REASON_BYTES).read_to_end(&mut bytes);
    }
    text::clean_line(String::from_utf8_lossy(&bytes).trim())
}

/// Says whether this process was started with SIGHUP ignored, as under nohup.
fn is_hangup_ignored() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().expect("a runtime");
        runtime.block_on(future)
    }

    #[test]
    fn a_kill_file_that_is_removed_as_fast_as_possible_is_seen_each_of_a_hundred_times() {
        for round in 0..100 {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("KILL");
            let seen = run(async {
                let stop = Stop::watch(vec![file.clone()]).expect("it watches");
                // In one go, as the program itself is not even at work meanwhile.
                fs::write(&file, "enough").expect("a file");
                fs::remove_file(&file).expect("removed");
                let halted = tokio::time::timeout(Duration::from_secs(30), stop.halted());
                halted.await.map(|()| stop.halt())
            });
            let Ok(Some(Halt::Kill(path, words))) = seen else {
                panic!("round {round}: {seen:?}");
            };
            assert_eq!(
                (path, &words[..]),
                (file, "it was taken away again at once")
            );
        }
    }

    #[test]
    fn a_folder_in_which_nothing_can_be_looked_for_any_more_is_a_kill() {
        type Attack = fn(&Path);
        let attacks: [(&str, Attack); 4] = [
            ("removed", |folder| fs::remove_dir(folder).expect("removed")),
            ("moved", |folder| {
                fs::rename(folder, folder.with_extension("x")).expect("moved");
            }),
            ("made a file", |folder| {
                fs::remove_dir(folder).expect("removed");
                fs::write(folder, "").expect("a file");
            }),
            ("made a loop of links", |folder| {
                fs::remove_dir(folder).expect("removed");
                std::os::unix::fs::symlink(folder, folder).expect("a link");
            }),
        ];
        for (what, attack) in attacks {
            let home = tempfile::tempdir().expect("a folder");
            let folder = home.path().join("evolve");
            fs::create_dir(&folder).expect("a folder");
            let halt = run(async {
                let stop = Stop::watch(vec![folder.join("KILL")]).expect("it watches");
                assert_eq!(stop.look_for_kill(), None, "{what}");
                attack(&folder);
                stop.look_for_kill()
            });
            assert!(matches!(halt, Some(Halt::Kill(..))), "{what}: {halt:?}");
        }
    }

    #[test]
    fn a_stop_file_that_was_there_for_a_moment_is_remembered_with_whose_time_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("STOP");
        for (cycle, expected) in [
            (None, "it was taken away again"),
            (
                Some(7),
                "it was taken away again (written while the agent of cycle 7 ran)",
            ),
        ] {
            run(async {
                let stop = Stop::watch(Vec::new()).expect("it watches");
                stop.watch_for_stop(&file);
                assert_eq!(stop.asked_to_stop(), None);
                stop.note_agent(cycle);
                fs::write(&file, "enough").expect("a file");
                fs::remove_file(&file).expect("removed");
                stop.note_agent(None);
                assert_eq!(stop.asked_to_stop().as_deref(), Some(expected));
            });
        }
    }

    #[test]
    fn the_home_that_the_system_knows_of_is_looked_at_whatever_the_environment_says() {
        let user = User::from_uid(Uid::current()).ok().flatten();
        let file = user.map(|user| user.dir.join(".config/evolve/KILL"));
        let files = kill_files().expect("kill files");
        assert!(file.is_none_or(|file| files.contains(&file)), "{files:?}");
    }
}
