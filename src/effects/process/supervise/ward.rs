//! One job, as the supervising process sees it: from its request to the moment when nothing of it is left.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{chdir, fchdir};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::{Common, POLL};
use crate::effects::proc_table;
use crate::effects::process::keeper;
use crate::effects::process::message::{Order, Report, Request};
use crate::effects::process::spawn::{self, Program};
use crate::effects::process::{Ending, GRACE, SWEEP_LIMIT, tree};

/// The descriptors that a job starts with.
#[derive(Debug)]
pub struct Files {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
}

impl Files {
    /// Puts them together; none if one is missing that was to be there.
    pub fn of(
        stdin: Option<Option<OwnedFd>>,
        stdout: Option<OwnedFd>,
        stderr: Option<Option<OwnedFd>>,
    ) -> Option<Files> {
        Some(Files {
            stdin: stdin.map_or(Some(None), |stdin| stdin.map(Some))?,
            stdout: stdout?,
            stderr: stderr.map_or(Some(None), |stderr| stderr.map(Some))?,
        })
    }
}

/// A job.
#[derive(Debug)]
pub struct Ward {
    socket: UnixStream,
    inbox: Vec<u8>,
    /// Nobody listens any more.
    is_alone: bool,
    mark: Vec<u8>,
    leader: u32,
    /// When its program was started, and when it is ended if nobody else ends it.
    time: (Instant, Instant),
    /// How its program ended, and whether that was told.
    ended: Option<Ending>,
    has_told: bool,
    course: Course,
}

/// How far a job has come.
#[derive(Debug)]
enum Course {
    /// Its request has not come in whole.
    Asked(Files),
    /// Its program runs.
    Running,
    /// Its program has ended, more of it is left, and `evolve` still reads what that prints.
    Left,
    /// It was asked to end, and has until then; `quiet` counts how often nobody of its group was found.
    Ending { until: Instant, quiet: u32 },
    /// Everything of it is being killed; what is left then is given up.
    Sweeping { until: Instant },
    /// Nothing is left of it.
    Over,
}

impl Ward {
    /// Takes a job in; none if a descriptor is missing, which whoever asked sees at the socket's end.
    pub fn new(socket: UnixStream, files: Option<Files>) -> Option<Ward> {
        let mut ward = Ward {
            socket,
            inbox: Vec::new(),
            is_alone: false,
            mark: Vec::new(),
            leader: 0,
            time: (Instant::now(), Instant::now()),
            ended: None,
            has_told: false,
            course: Course::Asked(files?),
        };
        // The request is there already, as a rule.
        ward.listen();
        Some(ward)
    }

    /// Returns what is to be listened to.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Says whether nothing is left of it.
    pub fn is_over(&self) -> bool {
        matches!(self.course, Course::Over)
    }

    /// Returns how long it may be left alone, unless something happens.
    pub fn wake_up(&self) -> Option<Duration> {
        match self.course {
            Course::Asked(_) | Course::Left | Course::Over => None,
            Course::Running => Some(self.time.1.saturating_duration_since(Instant::now())),
            Course::Ending { until, .. } => {
                Some(until.saturating_duration_since(Instant::now()).min(POLL))
            }
            Course::Sweeping { .. } => Some(POLL),
        }
    }

    /// Reads what there is to read.
    pub fn listen(&mut self) {
        let mut piece = [0; 4096];
        loop {
            match self.socket.read(&mut piece) {
                Ok(0) => break self.is_alone = true,
                Ok(count) => {
                    self.inbox.extend_from_slice(&piece[..count]);
                    if count < piece.len() {
                        break;
                    }
                }
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => break,
                Err(_) => break self.is_alone = true,
            }
        }
    }

    /// Does what is to be done now.
    pub fn look_after(&mut self, common: &mut Common) {
        if let Course::Asked(_) = self.course {
            self.start_when_asked(common);
        } else {
            self.obey();
        }
        match self.course {
            Course::Asked(_) | Course::Left | Course::Over => {}
            Course::Running => {
                self.see_whether_it_ended(common);
                if matches!(self.course, Course::Running) && Instant::now() >= self.time.1 {
                    self.ask_to_end(GRACE);
                }
            }
            Course::Ending { until, quiet } => self.wait_for_group(common, (until, quiet)),
            Course::Sweeping { .. } => {}
        }
        if let Course::Sweeping { until } = self.course {
            self.sweep(common, until);
        }
    }

    fn start_when_asked(&mut self, common: &mut Common) {
        let Some(request) = Request::take(&mut self.inbox) else {
            if self.is_alone {
                self.course = Course::Over;
            }
            return;
        };
        let Course::Asked(files) = std::mem::replace(&mut self.course, Course::Over) else {
            return;
        };
        match start(&request, &files, common) {
            Ok(leader) => {
                let now = Instant::now();
                let limit = Duration::from_millis(request.limit.into());
                self.time = (now, now + limit);
                self.leader = leader;
                self.mark = request
                    .env
                    .first()
                    .map_or(Vec::new(), |mark| mark.to_bytes().to_vec());
                common.leaders.insert(leader);
                if keeper::is_around(&request.argv) {
                    common.keepers.insert(leader);
                }
                self.course = Course::Running;
            }
            Err(cause) => {
                self.ended = Some(Ending::NotStarted(cause.to_string()));
                self.tell(&[self.end(), Report::Gone(Vec::new())]);
            }
        }
    }

    /// Does what `evolve` wants; where nobody wants anything any more, all of it ends.
    fn obey(&mut self) {
        while let Some(order) = Order::take(&mut self.inbox) {
            let is_running = matches!(self.course, Course::Running | Course::Left);
            match order {
                Order::End(grace) if is_running => {
                    self.ask_to_end(Duration::from_millis(grace.into()));
                }
                Order::End(grace) => self.hurry(Duration::from_millis(grace.into())),
                Order::Sweep if is_running => self.begin_sweep(),
                Order::Sweep => {}
                Order::Answer => self.tell(&[Report::Here]),
            }
        }
        if self.is_alone && !matches!(self.course, Course::Sweeping { .. } | Course::Over) {
            self.begin_sweep();
        }
    }

    fn ask_to_end(&mut self, grace: Duration) {
        tree::signal_group(self.leader, Signal::SIGTERM);
        tree::signal_group(self.leader, Signal::SIGCONT);
        self.course = Course::Ending {
            until: Instant::now() + grace,
            quiet: 0,
        };
    }

    /// Leaves it no more than this of the time that it was given to end.
    fn hurry(&mut self, grace: Duration) {
        if let Course::Ending { until, .. } = &mut self.course {
            *until = (Instant::now() + grace).min(*until);
        }
    }

    /// Kills all of it now, if it was started before this moment and is not being killed yet.
    pub fn end_if_older(&mut self, moment: Instant) {
        let is_there = matches!(
            self.course,
            Course::Running | Course::Left | Course::Ending { .. }
        );
        if is_there && self.time.0 < moment {
            self.begin_sweep();
        }
    }

    fn begin_sweep(&mut self) {
        self.course = Course::Sweeping {
            until: Instant::now() + SWEEP_LIMIT,
        };
    }

    /// Tells how the program ended, and at once that nothing is left of the job, where that is so.
    fn see_whether_it_ended(&mut self, common: &mut Common) {
        if !self.has_ended() {
            return;
        }
        let is_mine = self.belonging(common);
        match common.orphans().into_iter().any(is_mine) {
            true => {
                self.course = Course::Left;
                self.has_told = true;
                self.tell(&[self.end()]);
            }
            false => self.finish(common, Vec::new()),
        }
    }

    /// Gives everybody in the group their time: a shell in front of the program goes at once, and the program's own end would
    /// be cut off with it.
    fn wait_for_group(&mut self, common: &mut Common, (until, quiet): (Instant, u32)) {
        let has_ended = self.has_ended();
        let orphans = common.orphans();
        let is_empty = has_ended && !tree::has_group_member(self.leader, &orphans);
        // One look may miss a member that changes its parent just then; nobody can hide where there is no orphan.
        let quiet = if is_empty { quiet + 1 } else { 0 };
        if quiet > 1 || (is_empty && orphans.is_empty()) || Instant::now() >= until {
            self.begin_sweep();
        } else {
            self.course = Course::Ending { until, quiet };
        }
    }

    /// Kills all of it, and tells when it is gone, or what of it is left when the time is over.
    fn sweep(&mut self, common: &mut Common, until: Instant) {
        tree::signal_group(self.leader, Signal::SIGKILL);
        let is_mine = self.belonging(common);
        let mut left = common.kill_orphans(is_mine);
        if !self.has_ended() {
            left.push(self.leader);
        }
        if left.is_empty() {
            self.finish(common, left);
        } else if Instant::now() >= until {
            common.given_up.extend(&left);
            self.finish(common, left);
        }
    }

    /// Returns what tells the orphans of this job: its session or its mark. The only job that runs has to answer for all; where
    /// all jobs are kept, orphans are of one whose keeper is gone.
    fn belonging(&self, common: &Common) -> impl Fn(u32) -> bool + use<> {
        let is_only = common.leaders.len() == 1 || common.leaders.len() == common.keepers.len();
        let (leader, mark) = (self.leader, self.mark.clone());
        move |pid| {
            is_only || proc_table::session(pid) == Some(leader) || proc_table::has_entry(pid, &mark)
        }
    }

    fn finish(&mut self, common: &mut Common, left: Vec<u32>) {
        common.leaders.remove(&self.leader);
        common.keepers.remove(&self.leader);
        tree::has_been_reaped(self.leader);
        let gone = Report::Gone(left);
        let is_news = !self.has_told && self.ended.is_some();
        match is_news {
            true => self.tell(&[self.end(), gone]),
            false => self.tell(&[gone]),
        }
        self.course = Course::Over;
    }

    /// Says whether the program has ended. Its status is left to be taken: until then nobody else can get its number.
    fn has_ended(&mut self) -> bool {
        if self.ended.is_some() {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let pid = Pid::from_raw(tree::nix_pid(self.leader).as_raw());
        let pid = pid.expect("BUG: the pid of a child is not zero");
        self.ended = match waitid(WaitId::Pid(pid), options) {
            Ok(None) | Err(rustix::io::Errno::INTR) => None,
            Ok(Some(status)) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Some(Ending::Exited(code)),
                (None, number) => number.map(Ending::Signalled),
            },
            Err(cause) => {
                let why = format!("its end cannot be waited for: {cause}");
                Some(Ending::NotStarted(why))
            }
        };
        self.ended.is_some()
    }

    /// Returns the report of how the program ended.
    fn end(&self) -> Report {
        let ending = self.ended.clone();
        Report::Ended(ending.expect("BUG: only what has ended is told of"))
    }

    /// Tells, in one piece. A reader that went away is noticed when it is listened to.
    fn tell(&mut self, reports: &[Report]) {
        let bytes: Vec<u8> = reports.iter().flat_map(Report::to_bytes).collect();
        let _ = self.socket.write_all(&bytes);
    }
}

/// Starts what is asked for, in its folder.
fn start(request: &Request, files: &Files, common: &Common) -> io::Result<u32> {
    let program = request.argv.first();
    let program =
        program.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "an empty command line"))?;
    let stdin = files
        .stdin
        .as_ref()
        .map_or(common.nothing.as_fd(), AsFd::as_fd);
    let stderr = files.stderr.as_ref().unwrap_or(&files.stdout);
    let env = common.environment.with(&request.env);
    let files = [stdin, files.stdout.as_fd(), stderr.as_fd()];
    let spawn = || {
        let program = Program {
            file: program,
            argv: &request.argv,
            env: &env,
        };
        spawn::spawn(program, files, &SigSet::empty())
    };
    match request.folder.is_empty() {
        true => spawn(),
        false => inside(&common.home, &request.folder, spawn),
    }
}

/// Does something in a folder and comes back; nothing else runs in this process.
fn inside<T>(
    home: &File,
    folder: &std::ffi::CStr,
    action: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    chdir(folder).map_err(|cause| {
        let shown = std::ffi::OsStr::from_bytes(folder.to_bytes()).display();
        let why = format!("cannot enter {shown}: {}", cause.desc());
        io::Error::new(io::Error::from(cause).kind(), why)
    })?;
    let done = action();
    fchdir(home)?;
    done
}
