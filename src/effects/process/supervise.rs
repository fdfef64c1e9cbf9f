//! `evolve __supervise`: the supervising process, one for a run of `evolve`, whose children all jobs are.
//!
//! It does nothing but start what it is asked to, tell how that ended, and end what is left. Each of its lanes is a thread
//! that starts one job after another and waits for its end (`lane`): a thread whose own child ends is woken where that child
//! ran, while one thread for all would wait for a processor behind another job. Whatever takes longer than a job by itself
//! is done by the first thread: what is left of a job, orders, and times that are over.
//!
//! It leads a session of its own and has every signal blocked, so that no terminal and no group reaches it. When `evolve`
//! dies, the common socket closes: then everything is killed, and the descriptors it holds (the lock) are let go of only when
//! nothing is left, however long that takes. Before that it notes that nothing is (`ended`).
//!
//! An agent may stop either of the two. `evolve` wakes this process; this one looks for KILL itself, and ends each job at
//! the end of its time, should `evolve` not. Where `evolve` died while this process was stopped, the kernel wakes it.

mod lane;
mod vigil;
mod ward;

use std::collections::{HashMap, HashSet};
use std::io::{self, IoSliceMut, Stdin};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::Watched;
use super::message::{JobId, Order, Report, Word};
use super::tree::{self, Living};
use crate::effects::ended::Watch;
use crate::effects::proc_table::Children;
use lane::Starter;
use vigil::Vigil;
use ward::Ward;

/// How often what was killed is looked at, should nothing be heard of it.
const POLL: Duration = Duration::from_millis(10);
/// The same once it has not gone for `SWEEP_LIMIT`.
const SLOW_POLL: Duration = Duration::from_millis(500);

/// Supervises until `evolve` goes away and nothing is left of what it started. An error means that it was not `evolve` who
/// called.
pub fn main(watched: Watched) -> io::Result<()> {
    let _ = SigSet::all().thread_block();
    tree::take_charge();
    #[cfg(target_os = "linux")]
    {
        let _ = nix::sys::prctl::set_name(c"evolve");
        // Whoever is stopped when `evolve` dies goes on.
        let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGCONT);
    }
    let watch = Watch::begin(watched.journals);
    let mut house = House::new(watched.kill_files)?;
    house.supervise();
    house.end_everything();
    watch.note_end(&house.held);
    Ok(())
}

/// What the first thread works with.
#[derive(Debug)]
struct House {
    evolve: Stdin,
    inbox: Vec<u8>,
    shared: Arc<Shared>,
    alarm: Alarm,
    vigil: Vigil,
    held: Vec<OwnedFd>,
}

/// What the lanes and the first thread share.
#[derive(Debug)]
struct Shared {
    starter: Starter,
    jobs: Mutex<Jobs>,
}

/// All jobs, and what is known of them.
#[derive(Debug)]
struct Jobs {
    wards: Vec<Ward>,
    lanes: HashMap<u32, Lane>,
    common: Common,
    /// How many programs are being started.
    starting: usize,
    /// `evolve` is gone: nothing is started any more.
    is_closing: bool,
    /// Leaders that could not be ended, whose status their lane takes should they end after all.
    stuck: HashSet<u32>,
}

/// A lane, as the first thread sees it.
#[derive(Debug)]
struct Lane {
    socket: Arc<UnixStream>,
    /// The last of its jobs that was started, or was not to be.
    turn: u32,
    /// What is wanted of a job that is yet to be started.
    wanted: Vec<(u32, Order)>,
}

/// What ending one job needs of the rest.
#[derive(Debug)]
pub struct Common {
    /// The children of the first thread: orphans, as the lanes start the jobs.
    children: Children,
    /// The leaders of jobs, whose status is taken only when nothing else of the job is left.
    leaders: HashSet<u32>,
    /// How many jobs there are, those that are being started too, and how many of them keep a command's orphans.
    count: usize,
    kept: usize,
    /// Processes that were not to be ended, and were told of once.
    given_up: HashSet<u32>,
}

impl Common {
    /// Returns the orphans that somebody has to care about; those given up are only reaped once they have ended.
    fn orphans(&mut self) -> Living {
        let mut orphans = tree::orphans(&self.children, &self.leaders);
        self.given_up.retain(|pid| orphans.pids.contains(pid));
        orphans.pids.retain(|pid| !self.given_up.contains(pid));
        orphans
    }

    /// The same, killed; returns those that are left.
    fn kill_orphans(&mut self, is_meant: impl Fn(u32) -> bool) -> Living {
        let given_up = &self.given_up;
        tree::kill_orphans(&self.children, &self.leaders, |pid| {
            !given_up.contains(&pid) && is_meant(pid)
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs
            .lock()
            .expect("BUG: a holder of the lock panicked")
    }
}

impl Jobs {
    fn new() -> io::Result<Jobs> {
        Ok(Jobs {
            wards: Vec::new(),
            lanes: HashMap::new(),
            common: Common {
                children: Children::open()?,
                leaders: HashSet::new(),
                count: 0,
                kept: 0,
                given_up: HashSet::new(),
            },
            starting: 0,
            is_closing: false,
            stuck: HashSet::new(),
        })
    }

    /// Does what `evolve` wants of a job, or notes it for one that its lane has not started yet.
    fn obey(&mut self, job: JobId, order: Order) {
        if let Some(ward) = self.wards.iter_mut().find(|ward| ward.started.job == job) {
            return ward.obey(order);
        }
        let Some(lane) = self.lanes.get_mut(&job.lane) else {
            return;
        };
        match order {
            // Its start may hang, and then nobody is to believe that it will be ended.
            Order::Answer if job.turn > lane.turn => {}
            Order::Answer => ward::tell(&lane.socket, &[Report::Here]),
            Order::End(_) | Order::Sweep if job.turn > lane.turn => {
                lane.wanted.push((job.turn, order));
            }
            // It has ended meanwhile.
            Order::End(_) | Order::Sweep => {}
        }
    }

    /// Looks after all jobs.
    fn look_after(&mut self, who_is_to_end: Option<Instant>) {
        for ward in &mut self.wards {
            if let Some(moment) = who_is_to_end {
                ward.end_if_older(moment);
            }
            ward.look_after(&mut self.common);
            self.stuck.extend(ward.stuck_leader());
        }
        self.wards.retain(|ward| !ward.is_over());
    }
}

impl House {
    fn new(kill_files: Vec<PathBuf>) -> io::Result<House> {
        let evolve = io::stdin();
        rustix::net::sockopt::socket_type(&evolve)?;
        Ok(House {
            evolve,
            inbox: Vec::new(),
            shared: Arc::new(Shared {
                starter: Starter::new()?,
                jobs: Mutex::new(Jobs::new()?),
            }),
            alarm: Alarm::new()?,
            vigil: Vigil::new(kill_files),
            held: Vec::new(),
        })
    }

    /// Looks after jobs, until the common socket closes.
    fn supervise(&mut self) {
        loop {
            let Ok(has_word) = self.wait() else {
                return;
            };
            let mut may_be_more = has_word;
            while may_be_more {
                match self.receive() {
                    Ok(received) => may_be_more = received,
                    Err(_) => return,
                }
            }
            let who_is_to_end = self.vigil.who_is_to_end();
            let mut jobs = self.shared.lock();
            jobs.look_after(who_is_to_end);
            if !has_word {
                // Takes the status of what a job left and what has ended: at a bound of processes they would count.
                jobs.common.orphans();
            }
        }
    }

    /// Waits until `evolve` has something to say, something of a job that is being ended has ended, or a time is over. Returns
    /// whether there is a word.
    fn wait(&mut self) -> io::Result<bool> {
        let (timeout, is_ending) = {
            let jobs = self.shared.lock();
            let own = jobs.wards.iter().filter_map(Ward::wake_up);
            let waiting = jobs.lanes.values().any(|lane| !lane.wanted.is_empty());
            let own = own.chain(waiting.then_some(POLL));
            let timeout = own.chain([self.vigil.wake_up()]).min();
            (timeout, jobs.wards.iter().any(Ward::is_ending))
        };
        let timeout = self.alarm.at_most(timeout, is_ending);
        let mut files = vec![PollFd::new(&self.evolve, PollFlags::IN)];
        // Who ends by itself is waited for by its lane.
        files.extend(self.alarm.file().filter(|_| is_ending));
        poll_for(&mut files, timeout)?;
        let has_word = !files[0].revents().is_empty();
        drop(files);
        if is_ending {
            self.alarm.quiet();
        }
        Ok(has_word)
    }

    /// Takes in a word; says whether there was one. An error means that `evolve` is gone.
    fn receive(&mut self) -> io::Result<bool> {
        let mut bytes = [0; Word::LENGTH];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        // No more than what a word lacks, so that a descriptor comes with its own word.
        let room = Word::LENGTH - self.inbox.len();
        let mut into = [IoSliceMut::new(&mut bytes[..room])];
        let count = match recvmsg(&self.evolve, &mut into, &mut ancillary, flags) {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::AGAIN) => return Ok(false),
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(cause) => return Err(cause.into()),
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.inbox.extend_from_slice(&bytes[..count]);
        let files = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let file = files.flatten().next();
        match (Word::take(&mut self.inbox), file) {
            (Some(Word::Hold), file) => self.held.extend(file),
            (Some(Word::Lane(number)), Some(file)) => lane::open(&self.shared, number, file.into()),
            (Some(Word::Order(job, order)), _) => self.shared.lock().obey(job, order),
            // A word that lost its descriptor on its way (none was free here) drops the lane, which tells.
            (Some(Word::Lane(_)), None) | (None, _) => {}
        }
        Ok(true)
    }

    /// Kills everything, and again, until no child is left.
    fn end_everything(&mut self) {
        let began = Instant::now();
        loop {
            if self.is_everything_ended() {
                return;
            }
            let pause = match began.elapsed() < super::SWEEP_LIMIT {
                true => POLL,
                false => SLOW_POLL,
            };
            let mut files: Vec<_> = self.alarm.file().into_iter().collect();
            if poll_for(&mut files, Some(pause)).is_err() {
                std::thread::sleep(pause);
            }
            drop(files);
            self.alarm.quiet();
        }
    }

    /// Kills what there is; says whether no child is left, and none is to come.
    fn is_everything_ended(&self) -> bool {
        let mut jobs = self.shared.lock();
        jobs.is_closing = true;
        let stuck = std::mem::take(&mut jobs.stuck);
        jobs.common.leaders.extend(stuck);
        for leader in &jobs.common.leaders {
            tree::signal_group(*leader, Signal::SIGKILL);
        }
        // What a lane started, and nobody took in, is an orphan once the lane has ended.
        tree::kill_orphans(&jobs.common.children, &HashSet::new(), |_| true);
        // From here on leaders are children like any other; the group of one whose status was taken is not touched again.
        let is_childless = tree::is_childless();
        let is_left = |leader: &u32| !tree::has_been_reaped(*leader);
        jobs.common.leaders.retain(is_left);
        is_childless && jobs.starting == 0
    }
}

fn poll_for(files: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    // Rounded up: what is waited for should be over afterwards.
    let timeout = timeout.map(|time| time + Duration::from_micros(500));
    let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
    match poll(files, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Rings when a child has ended.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Alarm(nix::sys::signalfd::SignalFd);

#[cfg(target_os = "linux")]
impl Alarm {
    fn new() -> io::Result<Alarm> {
        use nix::sys::signalfd::{SfdFlags, SignalFd};
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let file = SignalFd::with_flags(&SigSet::from(Signal::SIGCHLD), flags)?;
        Ok(Alarm(file))
    }

    fn file(&self) -> Option<PollFd<'_>> {
        Some(PollFd::new(&self.0, PollFlags::IN))
    }

    /// Takes back what has rung: one signal stands for all that came since the last was taken.
    fn quiet(&mut self) {
        let _ = self.0.read_signal();
    }

    fn at_most(&self, timeout: Option<Duration>, _is_ending: bool) -> Option<Duration> {
        timeout
    }
}

/// Where no descriptor tells of a child's end, one has to look.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Alarm;

#[cfg(not(target_os = "linux"))]
impl Alarm {
    fn new() -> io::Result<Alarm> {
        Ok(Alarm)
    }

    fn file(&self) -> Option<PollFd<'_>> {
        None
    }

    fn quiet(&mut self) {}

    fn at_most(&self, timeout: Option<Duration>, is_ending: bool) -> Option<Duration> {
        match is_ending {
            true => Some(timeout.unwrap_or(POLL).min(POLL)),
            false => timeout,
        }
    }
}
