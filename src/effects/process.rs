//! Runs one program under supervision: its own session and process group, bounded time and output, a complete log, and
//! nothing that it started is left when `run` returns.
//!
//! Descendants that leave the process group are found again because `evolve` is their subreaper: whatever loses its
//! parent becomes a child of `evolve`. A child that `Supervisor` did not start itself is such an orphan. It belongs to
//! the job whose session or mark it carries; one that carries neither (`env -i setsid …`) is ended by `sweep_strays` as
//! soon as no job runs.

mod output;
mod spawn;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::sync::mpsc::UnboundedSender;

use crate::effects::proc_table;
use crate::effects::stop::{Halt, Stop};
use crate::error::{Error, Result};

use output::Output;
use spawn::{Child, Environment};

/// How long a program may go on after SIGTERM before it is killed.
pub const GRACE: Duration = Duration::from_secs(10);
/// How long it may go on after a KILL, which has to act within a second.
const KILL_GRACE: Duration = Duration::from_millis(400);
/// How long the output is waited for after the program itself has ended.
const DRAIN: Duration = Duration::from_millis(200);
/// How long killed processes are waited for before they are reported as unkillable (uninterruptible sleep).
const SWEEP_LIMIT: Duration = Duration::from_secs(20);
/// How often a group that was asked to end is looked at.
const GROUP_POLL: Duration = Duration::from_millis(10);
/// How much of the end of the output is kept in memory where nothing else asks for more.
pub const TAIL_BYTES: usize = 64 * 1024;
/// The environment variable that marks a job's processes, so that they are found again after a crash.
pub const MARK: &str = "_EVOLVE_RUN";

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
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that `evolve` did not send.
    Signalled(i32),
    /// It ran longer than it may.
    TimedOut,
    /// It was silent for longer than it may.
    Idle,
    /// KILL, a signal to `evolve` or the session's time ended it.
    Stopped,
    /// It could not be started, with the system's words.
    NotStarted(String),
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

/// Starts programs and ends everything that they leave behind.
#[derive(Clone, Debug)]
pub struct Supervisor {
    own: Arc<Mutex<HashSet<u32>>>,
    environment: Arc<Environment>,
    stop: Stop,
}

impl Supervisor {
    /// Makes this process the reaper of orphaned descendants and `root` its working directory, where every job runs. Only one
    /// supervisor may live in a process.
    pub fn new(stop: Stop, root: &Path) -> Result<Supervisor> {
        std::env::set_current_dir(root).map_err(|cause| Error::io("enter", root, cause))?;
        #[cfg(target_os = "linux")]
        if let Err(cause) = nix::sys::prctl::set_child_subreaper(true) {
            tracing::warn!("cannot become a subreaper: {cause}");
        }
        // What crashes here leaves no core file in somebody's repository.
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
        let supervisor = Supervisor {
            own: Arc::default(),
            environment: Arc::new(Environment::inherited()),
            stop,
        };
        let own = Arc::clone(&supervisor.own);
        supervisor.stop.on_second_signal(move || {
            for pid in own
                .lock()
                .expect("BUG: a holder of the lock panicked")
                .iter()
            {
                kill_group(*pid, Signal::SIGKILL);
            }
        });
        Ok(supervisor)
    }

    /// Runs `job` to its end; when this returns, none of its processes is left.
    pub async fn run(&self, job: Job) -> Ran {
        let started = Instant::now();
        let mut output = match Output::of(&job) {
            Ok(output) => output,
            Err(cause) => return not_started(format!("its log cannot be written: {cause}")),
        };
        let (mut child, streams) = match spawn::start(&job, &self.environment) {
            Ok(started) => started,
            Err(cause) => return not_started(cause.to_string()),
        };
        output.listen(streams);
        let pid = child.pid.as_raw().unsigned_abs();
        self.remember(pid);
        let feeder = child.stdin.take().zip(job.stdin.clone()).map(feed);
        let ending = self.watch(&mut child, &mut output, &job, pid).await;
        if let Some(feeder) = feeder {
            feeder.abort();
        }
        let unkillable = self.sweep(pid, &job.mark).await;
        output.drain(Duration::ZERO).await;
        self.forget(pid);
        let (tail, stdout) = output.into_bytes();
        Ran {
            ending,
            duration: started.elapsed(),
            tail,
            stdout,
            unkillable,
        }
    }

    /// Reads output until the program ends or one of its bounds ends it.
    async fn watch(&self, child: &mut Child, output: &mut Output, job: &Job, pid: u32) -> Ending {
        let deadline = tokio::time::sleep(job.timeout);
        tokio::pin!(deadline);
        let idle = tokio::time::sleep(job.idle_timeout.unwrap_or(job.timeout));
        tokio::pin!(idle);
        let forced = loop {
            tokio::select! {
                () = output.read() => if let Some(limit) = job.idle_timeout {
                    idle.as_mut().reset(tokio::time::Instant::now() + limit);
                },
                ending = child.wait() => {
                    output.drain(DRAIN).await;
                    return ending;
                },
                () = &mut deadline => break Ending::TimedOut,
                () = &mut idle, if job.idle_timeout.is_some() => break Ending::Idle,
                () = self.stop.halted() => break Ending::Stopped,
            }
        };
        self.end_gently(child, output, pid).await;
        forced
    }

    /// Asks the group to end, wakes it if it is stopped, and kills it after the grace period. Everybody in the group has
    /// that time: a shell in front of the program goes at once, and the program's own end would be cut off with it.
    async fn end_gently(&self, child: &mut Child, output: &mut Output, pid: u32) {
        kill_group(pid, Signal::SIGTERM);
        kill_group(pid, Signal::SIGCONT);
        let grace = match self.stop.halt() {
            Some(Halt::Kill(..)) => KILL_GRACE,
            Some(Halt::Signal(_) | Halt::MaxTime(_)) | None => GRACE,
        };
        if !self.group_ends_within(child, output, (pid, grace)).await {
            kill_group(pid, Signal::SIGKILL);
            self.group_ends_within(child, output, (pid, SWEEP_LIMIT))
                .await;
        }
    }

    /// Keeps reading until nobody is left in the program's group; says whether that came in time.
    async fn group_ends_within(
        &self,
        child: &mut Child,
        output: &mut Output,
        (pid, limit): (u32, Duration),
    ) -> bool {
        let over = tokio::time::sleep(limit);
        tokio::pin!(over);
        let mut has_ended = false;
        loop {
            tokio::select! {
                () = output.read() => {},
                _ = child.wait(), if !has_ended => has_ended = true,
                () = tokio::time::sleep(GROUP_POLL), if has_ended => {},
                () = &mut over => return false,
            }
            if has_ended {
                self.orphans().into_iter().for_each(take_status);
                if is_group_empty(pid) {
                    return true;
                }
            }
        }
    }

    /// Ends everything that the job with this session or mark left behind; returns what could not be ended.
    async fn sweep(&self, session: u32, mark: &str) -> Vec<u32> {
        kill_group(session, Signal::SIGKILL);
        let marked = format!("{MARK}={mark}");
        self.kill_until_none(|pid| {
            proc_table::session(pid) == Some(session) || proc_table::has_variable(pid, &marked)
        })
        .await
    }

    /// Ends every process that was orphaned to `evolve`. Only to be called while no job runs.
    pub async fn sweep_strays(&self) -> Vec<u32> {
        self.kill_until_none(|_| true).await
    }

    /// Kills orphans that `is_meant` picks, again and again: a killed parent hands its children to us.
    async fn kill_until_none(&self, is_meant: impl Fn(u32) -> bool) -> Vec<u32> {
        let began = Instant::now();
        loop {
            let left: Vec<u32> = self
                .orphans()
                .into_iter()
                .filter(|pid| is_meant(*pid))
                .collect();
            if left.is_empty() || began.elapsed() > SWEEP_LIMIT {
                return left;
            }
            for pid in &left {
                reap(*pid);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Returns our children that we did not start.
    fn orphans(&self) -> Vec<u32> {
        let own = self.own.lock().expect("BUG: a holder of the lock panicked");
        let mut children = proc_table::children();
        children.retain(|pid| !own.contains(pid));
        children
    }

    fn remember(&self, pid: u32) {
        let mut own = self.own.lock().expect("BUG: a holder of the lock panicked");
        own.insert(pid);
    }

    fn forget(&self, pid: u32) {
        let mut own = self.own.lock().expect("BUG: a holder of the lock panicked");
        own.remove(&pid);
    }
}

/// Writes the input in the background, so that a program that never reads does not hold anybody up.
fn feed((mut stdin, input): (Sender, Vec<u8>)) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        // A program that closes its input early is its own business.
        let _ = stdin.write_all(&input).await;
        let _ = stdin.shutdown().await;
    })
}

fn kill_group(pid: u32, signal: Signal) {
    // The group is gone: that is what was wanted.
    let _ = killpg(nix_pid(pid), signal);
}

/// Says whether a process group has no member, not even a dead one whose status nobody took.
fn is_group_empty(pid: u32) -> bool {
    killpg(nix_pid(pid), None).is_err()
}

/// Kills one orphan and takes its exit status.
fn reap(pid: u32) {
    let _ = kill(nix_pid(pid), Signal::SIGKILL);
    take_status(pid);
}

/// Takes the exit status of an orphan that has ended, so that it does not stay as a zombie.
fn take_status(pid: u32) {
    let _ = waitpid(nix_pid(pid), Some(WaitPidFlag::WNOHANG));
}

fn nix_pid(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).expect("BUG: a pid fits into 31 bits"))
}

/// Sends a signal to a process that is not ours to wait for; one that is gone is fine.
pub fn send(pid: u32, signal: Signal) -> Result<()> {
    match kill(nix_pid(pid), signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(cause) => Err(Error::internal(format!(
            "cannot signal process {pid}: {cause}"
        ))),
    }
}

fn not_started(why: String) -> Ran {
    Ran {
        ending: Ending::NotStarted(why),
        duration: Duration::ZERO,
        tail: Vec::new(),
        stdout: Vec::new(),
        unkillable: Vec::new(),
    }
}
