//! One job, as the supervising process sees it: from its request to the moment when nothing of it is left.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rustix::net::{SendFlags, send};
use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, waitid};

use super::{Common, POLL};
use crate::effects::proc_table;
use crate::effects::process::message::{JobId, Order, Report};
use crate::effects::process::{ANSWER, DRAIN, Ending, GRACE, SWEEP_LIMIT, tree};

/// A job whose program was started.
#[derive(Debug)]
pub struct Ward {
    /// What was started.
    pub started: Started,
    socket: Arc<UnixStream>,
    /// How its program ended, and whether that was told.
    ended: Option<Ending>,
    has_told: bool,
    course: Course,
}

/// How far a job has come.
#[derive(Debug)]
enum Course {
    /// Its program runs.
    Running,
    /// Its program has ended, more of it is left, and `evolve` still reads what that prints; not beyond then, should it be stopped.
    Left { until: Instant },
    /// It was asked to end, and has until then; `quiet` counts how often nobody of its group was found.
    Ending { until: Instant, quiet: u32 },
    /// Everything of it is being killed; what is left then is given up.
    Sweeping { until: Instant },
    /// Nothing is left of it, or what is was given up.
    Over { is_leader_left: bool },
}

/// What was started.
#[derive(Debug)]
pub struct Started {
    /// Which job it is.
    pub job: JobId,
    /// The first process of it.
    pub leader: u32,
    /// What its processes are marked with.
    pub mark: Vec<u8>,
    /// When it was started, and when it is ended if nobody else ends it.
    pub time: (Instant, Instant),
    /// Its leader keeps a command's orphans.
    pub is_kept: bool,
}

impl Ward {
    /// Takes a job in that was counted; what becomes of it is told on this socket.
    pub fn new(started: Started, socket: Arc<UnixStream>, common: &mut Common) -> Ward {
        common.leaders.insert(started.leader);
        Ward {
            started,
            socket,
            ended: None,
            has_told: false,
            course: Course::Running,
        }
    }

    /// Says whether it is being ended, so that each end of a child may be news.
    pub fn is_ending(&self) -> bool {
        matches!(self.course, Course::Ending { .. } | Course::Sweeping { .. })
    }

    /// Returns its leader, should it be over though that lives on.
    pub fn stuck_leader(&self) -> Option<u32> {
        match self.course {
            Course::Over { is_leader_left } if is_leader_left => Some(self.started.leader),
            _ => None,
        }
    }

    /// Says whether nothing is left of it.
    pub fn is_over(&self) -> bool {
        matches!(self.course, Course::Over { .. })
    }

    /// Returns how long it may be left alone, unless something happens.
    pub fn wake_up(&self) -> Option<Duration> {
        match self.course {
            Course::Over { .. } => None,
            Course::Left { until } => Some(until.saturating_duration_since(Instant::now())),
            Course::Running => Some(
                self.started
                    .time
                    .1
                    .saturating_duration_since(Instant::now()),
            ),
            Course::Ending { until, .. } => {
                Some(until.saturating_duration_since(Instant::now()).min(POLL))
            }
            Course::Sweeping { .. } => Some(POLL),
        }
    }

    /// Does what is to be done now. That its program has ended by itself is seen by its lane.
    pub fn look_after(&mut self, common: &mut Common) {
        match self.course {
            Course::Running if Instant::now() >= self.started.time.1 => self.ask_to_end(GRACE),
            Course::Left { until } if Instant::now() >= until => self.begin_sweep(),
            Course::Ending { until, quiet } => self.wait_for_group(common, until, quiet),
            Course::Running
            | Course::Left { .. }
            | Course::Sweeping { .. }
            | Course::Over { .. } => {}
        }
        if let Course::Sweeping { until } = self.course {
            self.sweep(common, until);
        }
    }

    /// Does what `evolve` wants.
    pub fn obey(&mut self, order: Order) {
        let is_running = matches!(self.course, Course::Running | Course::Left { .. });
        match order {
            Order::End(grace) if is_running => {
                self.ask_to_end(Duration::from_millis(grace.into()));
            }
            Order::End(grace) => self.hurry(Duration::from_millis(grace.into())),
            Order::Sweep => self.desert(),
            Order::Answer => self.tell(&[Report::Here]),
        }
    }

    /// Kills all of it, unless that is being done: nobody wants anything of it any more.
    pub fn desert(&mut self) {
        let is_there = matches!(
            self.course,
            Course::Running | Course::Left { .. } | Course::Ending { .. }
        );
        if is_there {
            self.begin_sweep();
        }
    }

    fn ask_to_end(&mut self, grace: Duration) {
        tree::signal_group(self.started.leader, Signal::SIGTERM);
        tree::signal_group(self.started.leader, Signal::SIGCONT);
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
        if self.started.time.0 < moment {
            self.desert();
        }
    }

    fn begin_sweep(&mut self) {
        self.course = Course::Sweeping {
            until: Instant::now() + SWEEP_LIMIT,
        };
    }

    /// The program has ended, unless it was ended: tells how, and at once that nothing is left of the job, where that is so.
    pub fn has_ended_by_itself(&mut self, ending: Ending, common: &mut Common) {
        if !matches!(self.course, Course::Running) {
            return;
        }
        self.ended = Some(ending);
        let is_mine = self.belonging(common);
        let orphans = common.orphans();
        match orphans.may_be_more || orphans.pids.into_iter().any(is_mine) {
            true => {
                let until = Instant::now() + DRAIN + ANSWER;
                self.course = Course::Left { until };
                self.has_told = true;
                self.tell(&[self.end()]);
            }
            false => self.finish(common, Vec::new()),
        }
    }

    /// Gives everybody in the group their time: a shell in front of the program goes at once, and the program's own end would
    /// be cut off with it.
    fn wait_for_group(&mut self, common: &mut Common, until: Instant, quiet: u32) {
        let has_ended = self.has_ended();
        let orphans = common.orphans();
        let is_empty = has_ended && !tree::has_group_member(self.started.leader, &orphans.pids);
        // One look may miss a member that changes its parent just then; nobody can hide where there is no orphan.
        let quiet = if is_empty { quiet + 1 } else { 0 };
        if quiet > 1 || (is_empty && orphans.is_nobody()) || Instant::now() >= until {
            self.begin_sweep();
        } else {
            self.course = Course::Ending { until, quiet };
        }
    }

    /// Kills all of it, and tells when it is gone, or what of it is left when the time is over.
    fn sweep(&mut self, common: &mut Common, until: Instant) {
        tree::signal_group(self.started.leader, Signal::SIGKILL);
        let is_mine = self.belonging(common);
        let mut left = common.kill_orphans(is_mine);
        if !self.has_ended() {
            left.pids.push(self.started.leader);
        }
        if left.is_nobody() {
            self.finish(common, Vec::new());
        } else if Instant::now() >= until {
            common.given_up.extend(&left.pids);
            self.finish(common, left.names());
        }
    }

    /// Returns what tells the orphans of this job: its session or its mark. The only job that runs has to answer for all; where
    /// all jobs are kept, orphans are of one whose keeper is gone.
    fn belonging(&self, common: &Common) -> impl Fn(u32) -> bool + use<> {
        let is_only = common.count == 1 || common.count == common.kept;
        let (leader, mark) = (self.started.leader, self.started.mark.clone());
        move |pid| {
            is_only || proc_table::session(pid) == Some(leader) || proc_table::has_entry(pid, &mark)
        }
    }

    fn finish(&mut self, common: &mut Common, left: Vec<u32>) {
        common.leaders.remove(&self.started.leader);
        common.count -= 1;
        common.kept -= usize::from(self.started.is_kept);
        let is_leader_left = left.contains(&self.started.leader);
        if !is_leader_left {
            tree::has_been_reaped(self.started.leader);
        }
        let gone = Report::Gone(left);
        let is_news = !self.has_told && self.ended.is_some();
        match is_news {
            true => self.tell(&[self.end(), gone]),
            false => self.tell(&[gone]),
        }
        self.course = Course::Over { is_leader_left };
    }

    /// Says whether the program has ended. Its status is left to be taken: until then nobody else can get its number.
    fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = ending_of(self.started.leader, WaitIdOptions::NOHANG);
        }
        self.ended.is_some()
    }

    /// Returns the report of how the program ended.
    fn end(&self) -> Report {
        let ending = self.ended.clone();
        Report::Ended(ending.expect("BUG: only what has ended is told of"))
    }

    fn tell(&self, reports: &[Report]) {
        tell(&self.socket, reports);
    }
}

/// Returns how a leader ended; none if it has not, or a signal came in between.
pub fn ending_of(leader: u32, options: WaitIdOptions) -> Option<Ending> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | options;
    let pid = rustix::process::Pid::from_raw(tree::nix_pid(leader).as_raw());
    let pid = pid.expect("BUG: the pid of a child is not zero");
    let ended = |status: WaitIdStatus| match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(Ending::Exited(code)),
        (None, number) => number.map(Ending::Signalled),
    };
    match waitid(WaitId::Pid(pid), options) {
        Ok(None) | Err(rustix::io::Errno::INTR) => None,
        Ok(Some(status)) => ended(status),
        Err(cause) => {
            let why = format!("its end cannot be waited for: {cause}");
            Some(Ending::NotStarted(why))
        }
    }
}

/// Tells, in one piece. There is room for it, and nobody waits for one who does not read: beside its end no more is told of a job
/// than was asked for, and one who is stopped does not ask.
pub fn tell(socket: &UnixStream, reports: &[Report]) {
    let bytes: Vec<u8> = reports.iter().flat_map(Report::to_bytes).collect();
    let _ = send(socket, &bytes, SendFlags::DONTWAIT);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs::File;
    use std::os::fd::AsFd;

    use nix::sys::signal::SigSet;

    use super::*;
    use crate::effects::proc_table::Children;
    use crate::effects::process::spawn::{self, Program};

    #[test]
    fn what_a_job_left_is_ended_in_time_though_nobody_asks_for_that() {
        let program = Program {
            file: c"sleep",
            argv: &[c"sleep".to_owned(), c"600".to_owned()],
            env: &[],
        };
        let nothing = File::options().write(true).open("/dev/null").unwrap();
        let leader = spawn::spawn(program, [nothing.as_fd(); 3], &SigSet::empty()).unwrap();
        let now = Instant::now();
        let started = Started {
            job: JobId { lane: 1, turn: 1 },
            leader,
            mark: b"MARK=nobody".to_vec(),
            time: (now, now + Duration::from_secs(600)),
            is_kept: false,
        };
        let mut common = Common {
            children: Children::open().unwrap(),
            leaders: HashSet::new(),
            count: 2,
            kept: 0,
            given_up: HashSet::new(),
        };
        let (_evolve, socket) = UnixStream::pair().unwrap();
        let mut ward = Ward::new(started, Arc::new(socket), &mut common);
        ward.course = Course::Left { until: now };
        assert!(ward.wake_up().is_some());
        while !ward.is_over() {
            ward.look_after(&mut common);
            std::thread::yield_now();
        }
        assert!(!proc_table::is_alive(leader, None));
    }
}
