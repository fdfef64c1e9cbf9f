//! Runs one program under supervision: its own session and process group, bounded time and output, a complete log, and
//! nothing that it started is left when `run` returns.
//!
//! Descendants that leave the process group are found again because `evolve` is their subreaper: whatever loses its
//! parent becomes a child of `evolve`. A child that `Supervisor` did not start itself is such an orphan. It belongs to
//! the job whose session or mark it carries; one that carries neither (`env -i setsid …`) is ended by `sweep_strays` as
//! soon as no job runs.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::effects::stop::Stop;
use crate::effects::{git, proc_table};

/// How long a program may go on after SIGTERM before it is killed.
pub const GRACE: Duration = Duration::from_secs(10);
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
    /// Working directory.
    pub dir: PathBuf,
    /// Variables to set, beside the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// What is written to its standard input; empty input otherwise.
    pub stdin: Option<Vec<u8>>,
    /// Where its output goes, stdout and stderr together.
    pub log: Option<PathBuf>,
    /// The most bytes that the log takes; what comes later is read and dropped.
    pub log_limit: u64,
    /// How long it may run.
    pub timeout: Duration,
    /// How long it may be silent.
    pub idle_timeout: Option<Duration>,
    /// How many bytes of the end of its output are kept in memory, stdout and stderr together.
    pub tail_limit: usize,
    /// How many bytes of the start of stdout are kept in memory; 0 keeps its end instead.
    pub stdout_limit: usize,
    /// The value of the mark variable; unique for the job.
    pub mark: String,
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
    /// The start of stdout, up to the job's `stdout_limit`; its end if that is 0.
    pub stdout: Vec<u8>,
    /// Processes that could not be ended.
    pub unkillable: Vec<u32>,
}

/// Starts programs and ends everything that they leave behind.
#[derive(Clone, Debug)]
pub struct Supervisor {
    own: Arc<Mutex<HashSet<u32>>>,
    stop: Stop,
}

impl Supervisor {
    /// Makes this process the reaper of orphaned descendants. Only one supervisor may live in a process.
    pub fn new(stop: Stop) -> Supervisor {
        #[cfg(target_os = "linux")]
        if let Err(cause) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
            tracing::warn!("cannot become a subreaper: {cause}");
        }
        let supervisor = Supervisor {
            own: Arc::default(),
            stop,
        };
        let own = Arc::clone(&supervisor.own);
        supervisor.stop.on_second_signal(move || {
            for pid in own
                .lock()
                .expect("BUG: a holder of the lock panicked")
                .iter()
            {
                kill_group(*pid, Signal::KILL);
            }
        });
        supervisor
    }

    /// Runs `job` to its end; when this returns, none of its processes is left.
    pub async fn run(&self, job: Job) -> Ran {
        let started = Instant::now();
        let mut output = match Output::open(&job) {
            Ok(output) => output,
            Err(cause) => return not_started(format!("its log cannot be written: {cause}")),
        };
        let mut child = match spawn(&job) {
            Ok(child) => child,
            Err(cause) => return not_started(cause.to_string()),
        };
        output.streams = (child.stdout.take(), child.stderr.take());
        let pid = child.id().expect("BUG: a child just started has a pid");
        self.remember(pid);
        let feeder = child.stdin.take().zip(job.stdin.clone()).map(feed);
        let ending = self.watch(&mut child, &mut output, &job, pid).await;
        if let Some(feeder) = feeder {
            feeder.abort();
        }
        let unkillable = self.sweep(pid, &job.mark).await;
        output.drain(Duration::ZERO).await;
        self.forget(pid);
        Ran {
            ending,
            duration: started.elapsed(),
            tail: output.tail.into_bytes(),
            stdout: output.kept.into_bytes(),
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
                status = child.wait() => {
                    output.drain(DRAIN).await;
                    return ending_of(status);
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
        kill_group(pid, Signal::TERM);
        kill_group(pid, Signal::CONT);
        if !self.group_ends_within(child, output, (pid, GRACE)).await {
            kill_group(pid, Signal::KILL);
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
        kill_group(session, Signal::KILL);
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

/// Starts the job's program as the leader of a new session, without the variables that would mislead git or a nested run.
fn spawn(job: &Job) -> std::io::Result<Child> {
    let (program, arguments) = job.argv.split_first().ok_or_else(|| {
        std::io::Error::new(std::io::ErrorKind::InvalidInput, "an empty command line")
    })?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&job.dir);
    for name in git::LOCAL_ENV_VARS {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("EVOLVE_") {
            command.env_remove(name);
        }
    }
    command.env(MARK, &job.mark).envs(job.env.iter().cloned());
    command.stdin(match job.stdin {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    start_session(&mut command);
    command.spawn()
}

/// Makes the child a session leader (a terminal prompt then fails at once instead of stopping the child) that leaves no
/// core file behind.
#[expect(
    unsafe_code,
    reason = "only a hook between fork and exec can call setsid"
)]
fn start_session(command: &mut Command) {
    // SAFETY: setsid and setrlimit are async-signal-safe system calls; nothing is allocated.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            let none = rustix::process::Rlimit {
                current: Some(0),
                maximum: Some(0),
            };
            let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
            Ok(())
        });
    }
}

/// Writes the input in the background, so that a program that never reads does not hold anybody up.
fn feed((mut stdin, input): (tokio::process::ChildStdin, Vec<u8>)) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        // A program that closes its input early is its own business.
        let _ = stdin.write_all(&input).await;
        let _ = stdin.shutdown().await;
    })
}

fn kill_group(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The group is gone: that is what was wanted.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

/// Says whether a process group has no member, not even a dead one whose status nobody took.
fn is_group_empty(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process_group(pid).is_err())
}

/// Kills one orphan and takes its exit status.
fn reap(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    take_status(pid);
}

/// Takes the exit status of an orphan that has ended, so that it does not stay as a zombie.
fn take_status(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

fn ending_of(status: std::io::Result<ExitStatus>) -> Ending {
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
        },
        Err(cause) => Ending::NotStarted(cause.to_string()),
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

/// Reads what is there; none at the end of the stream.
async fn read_some<R: AsyncRead + Unpin>(
    stream: &mut Option<R>,
    buffer: &mut [u8],
) -> Option<usize> {
    let count = stream.as_mut()?.read(buffer).await.ok()?;
    (count > 0).then_some(count)
}

/// The output of a job and where it goes: a bounded log, a bounded tail, and what a reading needs of stdout.
struct Output {
    streams: (Option<ChildStdout>, Option<ChildStderr>),
    buffers: (Vec<u8>, Vec<u8>),
    log: Option<File>,
    room: u64,
    tail: Tail,
    kept: Kept,
}

impl Output {
    fn open(job: &Job) -> std::io::Result<Output> {
        if let Some(folder) = job.log.as_ref().and_then(|log| log.parent()) {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Output {
            streams: (None, None),
            buffers: (vec![0; 8 * 1024], vec![0; 8 * 1024]),
            log: job.log.as_ref().map(File::create).transpose()?,
            room: job.log_limit,
            tail: Tail::of(job.tail_limit),
            kept: match job.stdout_limit {
                0 => Kept::End(Tail::of(TAIL_BYTES)),
                limit => Kept::Start(Vec::new(), limit),
            },
        })
    }

    fn is_open(&self) -> bool {
        self.streams.0.is_some() || self.streams.1.is_some()
    }

    /// Takes in one piece of output; waits for ever once both streams have ended.
    async fn read(&mut self) {
        if !self.is_open() {
            return std::future::pending().await;
        }
        let (stdout, stderr) = &mut self.streams;
        let (read, is_stdout) = tokio::select! {
            read = read_some(stdout, &mut self.buffers.0), if stdout.is_some() => (read, true),
            read = read_some(stderr, &mut self.buffers.1), if stderr.is_some() => (read, false),
        };
        match (read, is_stdout) {
            (Some(count), _) => self.take(count, is_stdout),
            (None, true) => self.streams.0 = None,
            (None, false) => self.streams.1 = None,
        }
    }

    /// Reads until both streams end or `limit` has passed; with a limit of zero only what is already there.
    async fn drain(&mut self, limit: Duration) {
        let end = tokio::time::Instant::now() + limit;
        while self.is_open() && tokio::time::timeout_at(end, self.read()).await.is_ok() {}
    }

    fn take(&mut self, count: usize, is_stdout: bool) {
        let bytes = match is_stdout {
            true => &self.buffers.0[..count],
            false => &self.buffers.1[..count],
        };
        self.tail.push(bytes);
        if is_stdout {
            self.kept.push(bytes);
        }
        let Some(log) = &mut self.log else {
            return;
        };
        let fitting = usize::try_from(self.room).unwrap_or(usize::MAX).min(count);
        // A full disk must not end the job; the tail in memory still tells what happened.
        let _ = log.write_all(&bytes[..fitting]);
        self.room -= fitting as u64;
        if fitting > 0 && self.room == 0 {
            let _ =
                log.write_all(b"\n[evolve: the log's limit is reached; the rest is left out]\n");
        }
    }
}

/// The last bytes of a stream.
struct Tail {
    bytes: Vec<u8>,
    limit: usize,
}

impl Tail {
    fn of(limit: usize) -> Tail {
        Tail {
            bytes: Vec::new(),
            limit,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cutting only when twice as long keeps the cost per byte constant.
        if self.bytes.len() > 2 * self.limit {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..surplus);
    }

    fn into_bytes(mut self) -> Vec<u8> {
        self.cut();
        self.bytes
    }
}

/// What is kept of stdout for reading a value.
enum Kept {
    Start(Vec<u8>, usize),
    End(Tail),
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Kept::Start(kept, limit) => {
                let fitting = limit.saturating_sub(kept.len()).min(bytes.len());
                kept.extend_from_slice(&bytes[..fitting]);
            }
            Kept::End(tail) => tail.push(bytes),
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Kept::Start(kept, _) => kept,
            Kept::End(tail) => tail.into_bytes(),
        }
    }
}
