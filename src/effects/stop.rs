//! What ends a session from outside: the KILL and STOP files, signals, and the session's own time.
//!
//! KILL, signals and time end whatever runs (`halted`); STOP ends the session after the running cycle. Once seen, either
//! stays seen: removing the file afterwards changes nothing, and the kernel tells of a file that was there for a moment
//! only (`news`). Whatever keeps KILL from being looked for counts as KILL: a folder that is gone or cannot be read, a link
//! that leads nowhere, more news than can be kept.

mod news;
mod switch;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::effects::files;
use crate::error::{Error, Kind, Result};
use crate::model::ledger::{KillFile, STOP};

use news::{Happened, News};
pub use switch::{KillSwitch, kill_files, prepare};

/// How often the kill files are looked at.
const POLL: Duration = Duration::from_millis(200);
/// How long an acknowledgement of a kill may hold up what it acknowledges: it looks into the repository, where anything may
/// stand by then.
const ACKNOWLEDGE: Duration = Duration::from_millis(300);
/// How long after a kill a session may go on to settle what it had begun. What takes longer is left to the next start, which
/// finds the journal. Twenty seconds of it may go to processes that cannot be ended.
const SETTLE: Duration = Duration::from_secs(30);

/// What `evolve stop --now` sends, so that it can be told from a Ctrl-C.
pub const NOW: Signal = Signal::SIGUSR1;
/// The number of SIGINT.
const INTERRUPT: i32 = Signal::SIGINT as i32;

/// What ended everything that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A KILL file, with its path and what is written in it.
    Kill(PathBuf, String),
    /// `evolve stop --now`, which ends everything as SIGINT does.
    Now,
    /// A signal: 2 (INT), 15 (TERM) or 1 (HUP).
    Signal(i32),
    /// The session's time is over.
    MaxTime(Duration),
    /// The process that supervises checks and agent was killed, or does not answer.
    SupervisorLost,
}

impl Halt {
    /// Returns the number of the signal that ends everything by the word of a person; none if something else does.
    pub fn signal(&self) -> Option<i32> {
        match self {
            Halt::Now => Some(INTERRUPT),
            Halt::Signal(number) => Some(*number),
            Halt::Kill(..) | Halt::MaxTime(_) | Halt::SupervisorLost => None,
        }
    }

    /// Returns the error of something that was ended by this.
    pub fn error(&self, what: &str) -> Error {
        let kind = match (self, self.signal()) {
            (Halt::Kill(..), _) => Kind::Killed,
            (_, Some(number)) => Kind::Signal(number),
            (_, None) => Kind::Internal,
        };
        Error::new(kind, format!("{what} was ended: {}", self.reason()))
    }

    /// Says why, for records and messages.
    pub fn reason(&self) -> String {
        match self {
            Halt::Kill(path, text) if text.is_empty() => format!("KILL file {}", path.display()),
            Halt::Kill(path, text) => format!("KILL file {}: {text}", path.display()),
            Halt::Now => "`evolve stop --now`".to_owned(),
            Halt::Signal(2) => "Ctrl-C (SIGINT)".to_owned(),
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
    halt: watch::Sender<Option<(Halt, Instant)>>,
    /// When KILL was seen, also if something else had ended everything before.
    killed: watch::Sender<Option<Instant>>,
    switch: Arc<Mutex<KillSwitch>>,
    asked: Arc<Mutex<Asked>>,
    /// A STOP file was seen.
    is_asked: watch::Sender<bool>,
    last_words: Hook<dyn Fn() -> Left + Send>,
    acknowledge: Arc<Mutex<Option<Acknowledge>>>,
    on_look: Hook<dyn Fn() + Send>,
    deadline: Arc<Mutex<Option<Instant>>>,
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
type Acknowledge = Arc<dyn Fn(&Halt) + Send + Sync>;

/// What is done before the program ends at once, whatever it is at.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// Has something done before this program ends at once, such as putting the terminal in order. It must not wait for anybody.
/// The first one counts.
pub fn before_exit(action: fn()) {
    let _ = BEFORE_EXIT.set(action);
}

/// What is done at the first signal that asks the program to end.
static AT_SIGNAL: OnceLock<fn(SignalKind)> = OnceLock::new();

/// Has something done at once when a signal asks this program to end, which may take it a while. It is told which one, and must not wait
/// for anybody. The first one counts.
pub fn at_signal(action: fn(SignalKind)) {
    let _ = AT_SIGNAL.set(action);
}

/// How much of what a second signal must not cut off is being done.
static UNCUT: AtomicUsize = AtomicUsize::new(0);
/// How long a second signal waits for that.
const UNCUT_LIMIT: Duration = Duration::from_secs(2);

/// While it is there, a second signal waits for a moment: what is being done would be left half way, in the way of the user's own git.
#[derive(Debug)]
pub struct Uncut(());

impl Uncut {
    /// Begins.
    #[must_use]
    pub fn begin() -> Uncut {
        UNCUT.fetch_add(1, Ordering::SeqCst);
        Uncut(())
    }

    fn wait_for_all() {
        let until = Instant::now() + UNCUT_LIMIT;
        while UNCUT.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Uncut {
    fn drop(&mut self) {
        UNCUT.fetch_sub(1, Ordering::SeqCst);
    }
}

fn exit(code: i32, words: &str) -> ! {
    if let Some(action) = BEFORE_EXIT.get() {
        action();
    }
    let _ = std::io::stderr().write_all(words.as_bytes());
    std::process::exit(code)
}

/// What is left to be done when the program is left at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// Processes have to be ended, which goes on without this one.
    Processes,
    /// Besides, the next start has to settle what had begun.
    Unsettled,
}

/// Holds something that several threads share; nobody panics with it in hand.
fn hold<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("BUG: a holder of the lock panicked")
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop")
            .field("halt", &self.halt())
            .finish_non_exhaustive()
    }
}

impl Stop {
    /// Starts to watch signals and the given kill files.
    pub fn watch(kill_files: Vec<PathBuf>) -> Result<Stop> {
        let stop = Stop::of(kill_files);
        stop.watch_signals()?;
        let watcher = stop.clone();
        thread::Builder::new()
            .spawn(move || watcher.keep_looking())
            .map_err(|cause| {
                Error::internal(format!("cannot start a thread: {cause}")).advised()
            })?;
        Ok(stop)
    }

    /// Watches nothing: signals do what they do by themselves, and kill files are for who comes later.
    pub fn unwatched() -> Stop {
        Stop::of(Vec::new())
    }

    /// The same, looked at only by whoever asks.
    fn of(kill_files: Vec<PathBuf>) -> Stop {
        Stop {
            halt: watch::Sender::new(None),
            killed: watch::Sender::new(None),
            switch: Arc::new(Mutex::new(KillSwitch::watch(kill_files))),
            asked: Arc::default(),
            is_asked: watch::Sender::new(false),
            last_words: Hook::default(),
            acknowledge: Arc::default(),
            on_look: Hook::default(),
            deadline: Arc::default(),
        }
    }

    /// Files are looked for in a thread of their own, too: whatever the others wait for, a kill is seen; and a session that is
    /// not settled long after it is left as it is.
    fn keep_looking(&self) {
        while self.killed_at().is_none() {
            self.look_for_kill();
            self.asked_to_stop();
            if let Some(action) = &*hold(&self.on_look) {
                action();
            }
            thread::sleep(POLL);
        }
        thread::sleep(SETTLE);
        if self.leave() != Left::Nothing {
            let words = format!(
                "error: what had begun could not be settled within {} of the kill\nhint: the next start settles it\n",
                humantime::format_duration(SETTLE)
            );
            exit(Kind::Internal.exit_code().into(), &words);
        }
    }

    /// Signals are watched in a thread of their own: the second one, but SIGHUP, acts whatever the others are waiting for.
    fn watch_signals(&self) -> Result<()> {
        let mut wanted = vec![
            (SignalKind::interrupt(), Halt::Signal(INTERRUPT)),
            (SignalKind::terminate(), Halt::Signal(15)),
            (SignalKind::from_raw(NOW as i32), Halt::Now),
        ];
        if !is_hangup_ignored() {
            wanted.push((SignalKind::hangup(), Halt::Signal(1)));
        }
        let cannot = |cause: std::io::Error| {
            Error::internal(format!("cannot watch for signals: {cause}")).advised()
        };
        let (hand_over, handed) = mpsc::channel::<Runtime>();
        let watch = move || {
            if let Ok(runtime) = handed.recv() {
                runtime.block_on(std::future::pending::<()>());
            }
        };
        thread::Builder::new().spawn(watch).map_err(cannot)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .map_err(cannot)?;
        match self.act_on_signals(&runtime, wanted) {
            Ok(()) => {
                let _ = hand_over.send(runtime);
                Ok(())
            }
            Err(cause) => {
                // Merely dropped, it would wait where nobody may.
                runtime.shutdown_background();
                Err(cannot(cause))
            }
        }
    }

    fn act_on_signals(
        &self,
        runtime: &Runtime,
        wanted: Vec<(SignalKind, Halt)>,
    ) -> std::io::Result<()> {
        let _inside = runtime.enter();
        for (kind, halt) in wanted {
            let mut stream = signal(kind)?;
            let stop = self.clone();
            runtime.spawn(async move {
                let mut already = false;
                while stream.recv().await.is_some() {
                    let is_again =
                        already || stop.halt().is_some_and(|halt| halt.signal().is_some());
                    // A terminal that is closed says so twice: its shell does, and the kernel.
                    if is_again && kind != SignalKind::hangup() {
                        Uncut::wait_for_all();
                        let words = match stop.leave() {
                            Left::Nothing | Left::Processes => "",
                            Left::Unsettled => {
                                "left at once; the next start of evolve settles what had begun\n"
                            }
                        };
                        exit(128 + halt.signal().unwrap_or(INTERRUPT), words);
                    }
                    already = true;
                    if let Some(action) = AT_SIGNAL.get() {
                        action(kind);
                    }
                    stop.set(halt.clone());
                }
            });
        }
        Ok(())
    }

    /// Ends the session when `limit` has passed, whatever limit there was before; with none it goes on.
    pub fn after(&self, limit: Option<Duration>) {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        *self.deadline() = deadline;
        let (Some(limit), Some(deadline)) = (limit, deadline) else {
            return;
        };
        let stop = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            let is_meant = *stop.deadline() == Some(deadline);
            if is_meant {
                stop.set(Halt::MaxTime(limit));
            }
        });
    }

    fn deadline(&self) -> MutexGuard<'_, Option<Instant>> {
        hold(&self.deadline)
    }

    /// Returns how much of the session's time is left, if it is limited.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline = (*self.deadline())?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Names what has to be done before the program is left at once, by a second signal or because a kill cannot be settled; it
    /// says what was left to be done. The journal stays, so that the next start settles what was left.
    pub fn on_leaving(&self, action: impl Fn() -> Left + Send + 'static) {
        *hold(&self.last_words) = Some(Box::new(action));
    }

    /// Names what is done the moment a KILL file is seen, before anything is ended; it is done now if one was seen already.
    pub fn on_kill(&self, action: impl Fn(&Halt) + Send + Sync + 'static) {
        let action: Acknowledge = Arc::new(action);
        let mut acknowledge = hold(&self.acknowledge);
        *acknowledge = Some(Arc::clone(&action));
        if let Some(halt @ Halt::Kill(..)) = self.halt() {
            try_to(action, halt);
        }
    }

    /// Names what is done each time that the kill files are looked at.
    pub fn on_look(&self, action: impl Fn() + Send + 'static) {
        *hold(&self.on_look) = Some(Box::new(action));
    }

    /// Returns where the kill files would be.
    pub fn kill_files(&self) -> Vec<PathBuf> {
        hold(&self.switch).files.clone()
    }

    /// Ends the session: what runs cannot be supervised any more.
    pub fn supervisor_lost(&self) {
        self.set(Halt::SupervisorLost);
    }

    fn leave(&self) -> Left {
        hold(&self.last_words)
            .as_ref()
            .map_or(Left::Nothing, |action| action())
    }

    /// Looks at the kill files now; what was seen once stays.
    pub fn look_for_kill(&self) -> Option<Halt> {
        let seen = hold(&self.switch).look();
        if let Some((path, words)) = seen {
            self.set(Halt::Kill(path, words));
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
        let words = match stop_file(&asked.file) {
            Some(words) => words,
            None if was_there => "it was taken away again".to_owned(),
            None => return None,
        };
        let by_agent = asked
            .agent
            .map(|cycle| format!("written {}", while_agent_of(cycle)));
        self.note_asked(&mut asked, words, by_agent);
        asked.seen.clone()
    }

    /// Takes a STOP file in a copy for one that counts: whoever works there wrote it, at a time that `when` tells.
    pub fn heed_in_copy(&self, root: &Path, when: &str) {
        let mut asked = self.asked();
        // What stands in the place of a folder above it leads elsewhere.
        let is_within = files::is_beneath(root, STOP.as_bytes());
        let is_asked = asked.seen.is_some() || !is_within;
        if let (false, Some(words)) = (is_asked, stop_file(&root.join(STOP))) {
            self.note_asked(
                &mut asked,
                words,
                Some(format!("written in its copy {when}")),
            );
        }
    }

    /// Notes that it is asked to stop, with what the file says and who may have written it.
    fn note_asked(&self, asked: &mut Asked, mut words: String, by: Option<String>) {
        if let Some(by) = by {
            let gap = if words.is_empty() { "" } else { " " };
            words.push_str(&format!("{gap}({by})"));
        }
        asked.seen = Some(words);
        self.is_asked.send_replace(true);
    }

    /// Waits until a STOP file is seen; returns what `asked_to_stop` does.
    pub async fn stop_seen(&self) -> String {
        let mut is_asked = self.is_asked.subscribe();
        // The sender lives as long as this.
        let _ = is_asked.wait_for(|is_asked| *is_asked).await;
        self.asked_to_stop().unwrap_or_default()
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        hold(&self.asked)
    }

    fn set(&self, halt: Halt) {
        // Held until it is set, so that whoever looks at the same time has seen it, too.
        let acknowledge = hold(&self.acknowledge);
        let now = Instant::now();
        if matches!(halt, Halt::Kill(..)) {
            if self.killed_at().is_some() {
                return;
            }
            if let Some(acknowledge) = &*acknowledge {
                try_to(Arc::clone(acknowledge), halt.clone());
            }
            self.killed.send_replace(Some(now));
        }
        self.halt.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert((halt, now));
            is_first
        });
    }

    /// Returns what ended everything, if something did: the first that did.
    pub fn halt(&self) -> Option<Halt> {
        self.halted_at().map(|(halt, _)| halt)
    }

    /// Returns the same and since when that is so.
    pub fn halted_at(&self) -> Option<(Halt, Instant)> {
        self.halt.borrow().clone()
    }

    /// Returns when a KILL file was seen, whatever else had ended everything before.
    pub fn killed_at(&self) -> Option<Instant> {
        *self.killed.borrow()
    }

    /// Waits until something ends everything.
    pub async fn halted(&self) {
        let mut receiver = self.halt.subscribe();
        // The sender lives in self, so the channel cannot close.
        let _ = receiver.wait_for(Option::is_some).await;
    }

    /// Waits until a KILL file is seen.
    pub async fn killed(&self) {
        let mut receiver = self.killed.subscribe();
        let _ = receiver.wait_for(Option::is_some).await;
    }
}

/// Says when the agent of a cycle wrote something.
pub fn while_agent_of(cycle: u64) -> String {
    format!("while the agent of cycle {cycle} ran")
}

/// Acknowledges a kill, in a thread that is not waited for without bound.
fn try_to(acknowledge: Acknowledge, halt: Halt) {
    let (done, is_done) = mpsc::channel();
    let acknowledging = thread::Builder::new().spawn(move || {
        acknowledge(&halt);
        let _ = done.send(());
    });
    if acknowledging.is_ok() {
        let _ = is_done.recv_timeout(ACKNOWLEDGE);
    }
}

/// Returns the KILL file that is there, or of which that cannot be told.
pub fn kill_file() -> Result<Option<KillFile>> {
    let files = kill_files()?;
    let found = files.iter().find_map(|path| switch::look_for(path));
    Ok(found.map(|(path, words)| KillFile {
        path: path.display().to_string(),
        words,
    }))
}

/// Returns what a stop file says, if it is there.
pub fn stop_file(path: &Path) -> Option<String> {
    switch::look_for(path).map(|(_, words)| words)
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
