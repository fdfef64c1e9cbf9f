//! Runs programs under supervision: each in a session of its own, bounded in time and output, with a log. Nothing that it
//! started is left when `run` returns, but what cannot be ended, which is named, and what cannot be told from other jobs'
//! before these have ended.
//!
//! The programs are children of one supervising process (`supervise`), which the first job starts. It is their reaper:
//! whatever loses its parent becomes its child, is known by session or mark to belong to a job, and is killed at that job's
//! end. One that carries neither (`env -i setsid …`) is ended with the last job that runs, or with its own where that is kept
//! (`keeper`). When `evolve` dies, however it dies, the supervising process kills everything; until nothing is left it holds
//! the lock. When the supervising process dies, all of it is handed to `evolve`, which kills it and ends its session: nobody
//! can say any more what was whose.

mod alone;
mod free;
pub mod keeper;
mod lanes;
pub mod leftovers;
mod link;
mod message;
mod now;
mod output;
mod pulse;
mod spawn;
mod supervise;
mod task;
mod tree;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, kill};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::MissedTickBehavior;

use crate::effects::lock::{self, Lock};
use crate::effects::proc_table::Children;
use crate::effects::stop::{Left, Stop};
use crate::error::{Error, NO_LOG, Result};

use lanes::Handed;
use link::Link;
use message::{Order, Report};
use output::Output;
use pulse::{BEAT, Pulse, Silence};
use spawn::Environment;
use task::{Task, feed};

pub use alone::run_alone;
pub use now::Said;

/// The hidden first argument that makes this program the supervising process.
pub const SUPERVISE: &str = "__supervise";
/// How long a program may go on after SIGTERM before it is killed.
pub const GRACE: Duration = Duration::from_secs(10);
/// How long it may go on after a KILL, which has to act within a second.
const KILL_GRACE: Duration = Duration::from_millis(400);
/// How long the output is waited for after the program itself has ended.
const DRAIN: Duration = Duration::from_millis(200);
/// How long killed processes are waited for before they are reported as unkillable (uninterruptible sleep).
const SWEEP_LIMIT: Duration = Duration::from_secs(20);
/// How long the supervising process has for an answer, beyond what it was given for the job: one that was stopped would
/// otherwise be waited for without end.
const ANSWER: Duration = Duration::from_secs(5);
/// How often in a row the supervising process may be found stopped, looked at and woken five times a second.
const KEPT_STOPPED: u32 = 10;
/// How often it is looked whether the supervising process is gone when it closed a lane without a word, and how long
/// after one another: several times what a program takes to start on a busy machine.
const LAST_LOOKS: u32 = 40;
const LAST_LOOK: Duration = Duration::from_millis(5);
/// Why a job whose lane was closed without a word was never started: a descriptor was lost on its way, or there was no thread for the lane.
const NOT_TAKEN: &str = "the supervising process had no file descriptor or no thread left for it";
/// How much of the end of the output is kept in memory where nothing else asks for more.
pub const TAIL_BYTES: usize = 64 * 1024;
/// The environment variable that marks a job's processes, so that they are found again after a crash.
pub const MARK: &str = "_EVOLVE_RUN";

/// Has a write beyond the limit of a file's size (`ulimit -f`) fail, which is told with the file, instead of ending this program
/// without a word. Called before there is another thread. What is started for jobs has no signal blocked.
pub fn outlive_size_limit() {
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

/// Supervises for another `evolve`, which started this one with these arguments for it; returns the exit code.
pub fn supervise(arguments: impl Iterator<Item = OsString>) -> u8 {
    match supervise::main(Watched::of_arguments(arguments)) {
        Ok(()) => 0,
        Err(cause) => {
            eprintln!("error: `{SUPERVISE}` is for evolve itself: {cause}");
            crate::error::Kind::Usage.exit_code()
        }
    }
}

/// The files that the supervising process looks at beside its jobs.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Where KILL files would be.
    pub kill_files: Vec<PathBuf>,
    /// The journals, beside the first of which that is there the end of everything is noted.
    pub journals: Vec<PathBuf>,
}

impl Watched {
    /// Returns them as arguments: how many journals, these, and the kill files.
    fn to_arguments(&self) -> Vec<OsString> {
        let count = OsString::from(self.journals.len().to_string());
        let paths = self.journals.iter().chain(&self.kill_files);
        let paths = paths.map(|path| path.clone().into_os_string());
        [count].into_iter().chain(paths).collect()
    }

    fn of_arguments(mut arguments: impl Iterator<Item = OsString>) -> Watched {
        let count = arguments.next().unwrap_or_default();
        let count = count.to_string_lossy().parse().unwrap_or(0);
        let mut paths = arguments.map(PathBuf::from);
        Watched {
            journals: paths.by_ref().take(count).collect(),
            kill_files: paths.collect(),
        }
    }
}

/// What to run and within which bounds.
#[derive(Debug)]
pub struct Job {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Where it runs, an absolute path; the supervisor's root if none is named.
    pub folder: Option<PathBuf>,
    /// Variables to set, beside the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// What is written to its standard input; empty input otherwise.
    pub stdin: Option<Vec<u8>>,
    /// Where its output goes, stdout and stderr together; not made for one that says nothing.
    pub log: Option<PathBuf>,
    /// The most bytes that the log takes; what comes later is read and dropped.
    pub log_limit: u64,
    /// How long it may run.
    pub timeout: Duration,
    /// How long it may be silent.
    pub idle_timeout: Option<Duration>,
    /// How many bytes of the end of its output are kept in memory, stdout and stderr together.
    pub tail_limit: usize,
    /// What is kept of stdout alone.
    pub stdout: Stdout,
    /// The value of the mark variable; unique for the job.
    pub mark: String,
}

/// What is kept of a program's stdout, apart from stderr, or who reads it along.
#[derive(Clone, Debug)]
pub enum Stdout {
    /// Nothing: both are one stream, in the order they were written.
    Merged,
    /// Its end.
    End,
    /// Its start, up to so many bytes.
    Start(usize),
    /// Nothing: it is sent on piece by piece as it arrives. The channel closes when the program has ended.
    Sent(UnboundedSender<Vec<u8>>),
    /// Nothing: both are one stream as with `Merged`, and it is sent on as with `Sent`.
    SentMerged(UnboundedSender<Vec<u8>>),
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal: somebody else's, or the supervising process's where `evolve` stood still when its time was over.
    Signalled(i32),
    /// It ran longer than it may.
    TimedOut,
    /// It was silent for longer than it may.
    Idle,
    /// KILL, a signal to `evolve` or the session's time ended it.
    Stopped,
    /// It could not be started, or not be waited for, with the system's words.
    NotStarted(String),
}

impl Ending {
    /// Returns the exit code, if it ended by itself.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Ending::Exited(code) => Some(*code),
            Ending::Signalled(_)
            | Ending::TimedOut
            | Ending::Idle
            | Ending::Stopped
            | Ending::NotStarted(_) => None,
        }
    }
}

/// What is known of a program that has ended.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// Wall time.
    pub duration: Duration,
    /// The end of stdout and stderr together.
    pub tail: Vec<u8>,
    /// What was kept of stdout alone.
    pub stdout: Vec<u8>,
    /// Processes that could not be ended.
    pub unkillable: Vec<u32>,
}

/// Starts programs and ends everything that they leave behind. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Supervisor {
    shared: Arc<Shared>,
    stop: Stop,
}

/// Names a supervisor without keeping it alive.
#[derive(Debug)]
pub struct Named {
    shared: Weak<Shared>,
    stop: Stop,
}

impl Named {
    /// Returns the supervisor, if it is still there.
    pub fn get(&self) -> Option<Supervisor> {
        let shared = self.shared.upgrade()?;
        let stop = self.stop.clone();
        Some(Supervisor { shared, stop })
    }
}

#[derive(Debug)]
struct Shared {
    link: Mutex<Option<Arc<Link>>>,
    environment: Environment,
    /// What the supervising process holds on to.
    held: Option<lock::Handle>,
    /// What the supervising process looks at.
    watched: Watched,
    /// How often in a row the supervising process was found stopped, though it was woken.
    found_stopped: AtomicU32,
    /// A call of `evolve`'s own git had to be ended with the session.
    has_given_up: AtomicBool,
    /// Who would be orphaned if the supervising process died.
    children: Children,
    /// Children that this process had before it started any: it may have taken the place of a shell.
    bystanders: HashSet<u32>,
}

impl Supervisor {
    /// Makes this process the reaper of orphaned descendants, should its supervising process die, and `root` its working
    /// directory, where every job runs that names no other. Only one supervisor may live in a process.
    pub fn new(stop: Stop, root: &Path) -> Result<Supervisor> {
        Supervisor::holding(stop, root, None, Vec::new())
    }

    /// The same; the lock stays held until nothing is left of any job, even if this process dies before. Beside the first of
    /// these journals that is there it is noted when that was.
    pub fn with_lock(
        stop: Stop,
        root: &Path,
        lock: &Lock,
        journals: Vec<PathBuf>,
    ) -> Result<Supervisor> {
        Supervisor::holding(stop, root, Some(lock.handle()?), journals)
    }

    fn holding(
        stop: Stop,
        root: &Path,
        held: Option<lock::Handle>,
        journals: Vec<PathBuf>,
    ) -> Result<Supervisor> {
        std::env::set_current_dir(root).map_err(|cause| Error::io("enter", root, cause))?;
        tree::take_charge();
        let cannot = |cause: io::Error| {
            Error::internal(format!("cannot list the children of this process: {cause}")).advised()
        };
        let children = Children::open().map_err(cannot)?;
        let bystanders = children.read().map_err(cannot)?;
        let supervisor = Supervisor {
            shared: Arc::new(Shared {
                link: Mutex::default(),
                environment: Environment::inherited(),
                held,
                watched: Watched {
                    kill_files: stop.kill_files(),
                    journals,
                },
                found_stopped: AtomicU32::new(0),
                has_given_up: AtomicBool::new(false),
                bystanders: bystanders.into_iter().collect(),
                children,
            }),
            stop,
        };
        let shared = Arc::downgrade(&supervisor.shared);
        supervisor.stop.on_leaving(move || {
            let shared = shared.upgrade();
            shared.map_or(Left::Nothing, |shared| shared.leave())
        });
        let (shared, stop) = (Arc::downgrade(&supervisor.shared), supervisor.stop.clone());
        supervisor.stop.on_look(move || {
            if shared
                .upgrade()
                .is_some_and(|shared| shared.is_kept_stopped())
            {
                stop.supervisor_lost();
            }
        });
        Ok(supervisor)
    }

    /// Names this supervisor.
    pub fn named(&self) -> Named {
        Named {
            shared: Arc::downgrade(&self.shared),
            stop: self.stop.clone(),
        }
    }

    /// Runs `job` to its end; when this returns, none of its processes is left but those that are named.
    pub async fn run(&self, job: Job) -> Ran {
        let started = Instant::now();
        let mut output = match Output::of(&job) {
            Ok(output) => output,
            Err(cause) => {
                let log = job.log.unwrap_or_default();
                return not_started(format!("{NO_LOG}: {}: {cause}", log.display()));
            }
        };
        let mut task = match self.start(&job, &mut output).await {
            Ok(task) => task,
            Err(ran) => return ran,
        };
        let feeder = task.stdin.take().zip(job.stdin.clone()).map(feed);
        let (ending, unkillable) = self.watch(&mut task, &mut output, &job).await;
        if let Some(feeder) = feeder {
            feeder.abort();
        }
        task.end();
        output.take_what_is_there();
        let (tail, stdout) = output.into_bytes();
        Ran {
            ending,
            duration: started.elapsed(),
            tail,
            stdout,
            unkillable,
        }
    }

    async fn start(&self, job: &Job, output: &mut Output) -> Result<Task, Ran> {
        let handed = self.hand_over(job)?;
        let task = Task::of(handed).map_err(|cause| not_started(cause.to_string()));
        let (task, streams, unsaid) = task?;
        output.listen(streams);
        let link = &task.line.link;
        match task.say(&unsaid, |pulse| self.is_lost(pulse, link)).await {
            true => Ok(task),
            false => Err(self.lost(link)),
        }
    }

    /// Hands a job to the supervising process; says how it ends if that cannot be.
    fn hand_over(&self, job: &Job) -> Result<Handed, Ran> {
        let cannot = |cause: io::Error| {
            not_started(format!(
                "the supervising process cannot be started: {cause}"
            ))
        };
        let link = self.shared.link().map_err(cannot)?;
        match lanes::hand_over(&link, job) {
            Ok(handed) => Ok(handed),
            Err(cause) if is_hung_up(&cause) => Err(self.lost(&link)),
            Err(cause) => Err(not_started(cause.to_string())),
        }
    }

    /// Reads output until the program ends or one of its bounds ends it, and until nothing of it is left.
    async fn watch(&self, task: &mut Task, output: &mut Output, job: &Job) -> (Ending, Vec<u32>) {
        let deadline = tokio::time::sleep(job.timeout);
        tokio::pin!(deadline);
        let idle = tokio::time::sleep(job.idle_timeout.unwrap_or(job.timeout));
        tokio::pin!(idle);
        let forced = loop {
            // What was told counts before a time that is over as well, where `evolve` itself did not run for a while.
            tokio::select! {
                biased;
                report = task.report() => match report {
                    Some(Report::Ended(ending)) => return self.wind_up(task, output, ending).await,
                    Some(Report::Gone(left)) => return (Ending::Stopped, left),
                    Some(Report::Here) => {},
                    None => return match hangs_up(&task.line.link).await {
                        true => (Ending::Stopped, self.lose(&task.line.link)),
                        false => (Ending::NotStarted(NOT_TAKEN.to_owned()), Vec::new()),
                    },
                },
                () = self.stop.halted() => break Ending::Stopped,
                () = &mut deadline => break Ending::TimedOut,
                () = output.read() => if let Some(limit) = job.idle_timeout {
                    idle.as_mut().reset(tokio::time::Instant::now() + limit);
                },
                () = &mut idle, if job.idle_timeout.is_some() => break Ending::Idle,
            }
        };
        let grace = match self.stop.killed_at() {
            Some(_) => KILL_GRACE,
            None => GRACE,
        };
        task.line.order(Order::end_within(grace));
        let left = self.hear_out(task, output, grace + SWEEP_LIMIT).await;
        (forced, left)
    }

    /// The program has ended: what is left of it may print for a moment, then it is killed.
    async fn wind_up(
        &self,
        task: &mut Task,
        output: &mut Output,
        ending: Ending,
    ) -> (Ending, Vec<u32>) {
        // Said with the end, as a rule: then nobody is left who could print.
        let ending = match ending {
            // The supervising process may have seen KILL first.
            Ending::Signalled(_) if self.is_killed() => Ending::Stopped,
            ending => ending,
        };
        if let Some(Report::Gone(left)) = task.heard() {
            return (ending, left);
        }
        output.drain(DRAIN).await;
        task.line.order(Order::Sweep);
        let left = self.hear_out(task, output, SWEEP_LIMIT).await;
        (ending, left)
    }

    /// Keeps reading until nothing is left of the job; returns what could not be ended. A KILL that comes meanwhile cuts its
    /// time short.
    async fn hear_out(&self, task: &mut Task, output: &mut Output, limit: Duration) -> Vec<u32> {
        let over = tokio::time::sleep(limit + ANSWER);
        tokio::pin!(over);
        let mut is_killed = self.stop.killed_at().is_some();
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pulse = Pulse::from(Instant::now());
        loop {
            // What it said is heard before its silence is judged.
            tokio::select! {
                biased;
                report = task.report() => match report {
                    Some(Report::Gone(left)) => return left,
                    Some(Report::Ended(_) | Report::Here) => pulse.heard(Instant::now()),
                    None => return self.lose(&task.line.link),
                },
                () = self.stop.killed(), if !is_killed => {
                    is_killed = true;
                    task.line.order(Order::end_within(KILL_GRACE));
                },
                _ = beat.tick() => {
                    if self.is_lost(&mut pulse, &task.line.link) {
                        return self.lose(&task.line.link);
                    }
                    task.line.order(Order::Answer);
                },
                () = &mut over => return self.lose(&task.line.link),
                () = output.read() => {},
            }
        }
    }

    /// Wakes a supervising process that is silent for longer than it should be; says whether it is to be given up.
    fn is_lost(&self, pulse: &mut Pulse, link: &Link) -> bool {
        let is_stopped = link.wake();
        let is_killed = self.stop.killed_at().is_some();
        pulse.judge(Instant::now(), is_stopped, is_killed) == Silence::Lost
    }

    /// The supervising process died or does not answer: everything is ended here, and the session with it. Returns what could
    /// not be ended.
    fn lose(&self, link: &Arc<Link>) -> Vec<u32> {
        self.stop.supervisor_lost();
        let is_current = |current: &Arc<Link>| Arc::ptr_eq(current, link);
        let mut current = self.shared.lock();
        // Whoever lost it first has buried it.
        if current.as_ref().is_some_and(is_current) {
            *current = None;
            link.bury(&self.shared.children, &self.shared.bystanders);
        }
        link.left()
    }

    /// The same, of a job that was not begun.
    fn lost(&self, link: &Arc<Link>) -> Ran {
        Ran {
            unkillable: self.lose(link),
            ..Ran::nothing(Ending::Stopped)
        }
    }
}

impl Shared {
    /// Returns the line to the supervising process, which is started if there is none, and which holds the lock: another one, if
    /// that had to be put in the place of the first.
    fn link(&self) -> io::Result<Arc<Link>> {
        let mut current = self.lock();
        if let Some(link) = &*current {
            let held = self.held.as_ref().filter(|held| held.is_new());
            let handed = held.map_or(Ok(()), |held| {
                held.hand_on(link.pid, |lock| link.hold(lock))
            });
            return match handed {
                // That it is gone is seen by whoever hands a job over.
                Err(cause) if !is_hung_up(&cause) => Err(cause),
                Ok(()) | Err(_) => Ok(Arc::clone(link)),
            };
        }
        let link = Arc::new(Link::start(&self.environment, &self.watched)?);
        if let Some(held) = &self.held {
            held.hand_on(link.pid, |lock| link.hold(lock))?;
        }
        *current = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Wakes the supervising process, should something have stopped it, and says what it has yet to hear; says whether it was
    /// stopped again and again.
    fn is_kept_stopped(&self) -> bool {
        // Whoever holds it starts that process or ends it.
        let Ok(link) = self.link.try_lock() else {
            return false;
        };
        let is_stopped = link.as_ref().is_some_and(|link| {
            link.catch_up();
            link.wake()
        });
        if !is_stopped {
            self.found_stopped.store(0, Ordering::Relaxed);
            return false;
        }
        self.found_stopped.fetch_add(1, Ordering::Relaxed) + 1 >= KEPT_STOPPED
    }

    /// Has everything killed, on the way out. Whoever waits for a job here is held up for good: nothing is to be made of how
    /// it ends. Whoever has the line may be ending everything without the supervising process, and is not waited for without bound.
    fn leave(&self) -> Left {
        let until = Instant::now() + ANSWER;
        while Instant::now() < until {
            if let Ok(link) = self.link.try_lock() {
                if let Some(link) = &*link {
                    link.close();
                }
                std::mem::forget(link);
                break;
            }
            std::thread::sleep(LAST_LOOK);
        }
        let mut journals = self.watched.journals.iter();
        match journals.any(|journal| journal.exists()) {
            true => Left::Unsettled,
            false => Left::Processes,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Link>>> {
        self.link
            .lock()
            .expect("BUG: a holder of the lock panicked")
    }
}

/// Says whether a supervising process that closed a lane is gone: a child that it was about to start holds on to its
/// end of the line for a moment.
async fn hangs_up(link: &Link) -> bool {
    for _ in 0..LAST_LOOKS {
        if link.is_hung_up() {
            return true;
        }
        tokio::time::sleep(LAST_LOOK).await;
    }
    link.is_hung_up()
}

fn is_hung_up(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::NotConnected
    )
}

/// Sends a signal to a process that is not ours to wait for; one that is gone is fine.
pub fn send(pid: u32, signal: Signal) -> Result<()> {
    match kill(tree::nix_pid(pid), signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(cause) => Err(Error::internal(format!(
            "cannot signal process {pid}: {cause}"
        ))),
    }
}

impl Ran {
    /// Nothing ran.
    fn nothing(ending: Ending) -> Ran {
        Ran {
            ending,
            duration: Duration::ZERO,
            tail: Vec::new(),
            stdout: Vec::new(),
            unkillable: Vec::new(),
        }
    }
}

fn not_started(why: String) -> Ran {
    Ran::nothing(Ending::NotStarted(why))
}
