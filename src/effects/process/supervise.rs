//! `evolve __supervise`: the supervising process, one for a run of `evolve`, whose children all jobs are.
//!
//! It has one thread and does nothing but start what it is asked to, tell how that ended, and end what is left. It leads a
//! session of its own and has every signal blocked, so that no terminal and no group reaches it. When `evolve` dies, the
//! common socket closes: then everything is killed, and the descriptors it holds (the lock) are let go of only when nothing
//! is left, however long that takes. Before that it notes that nothing is (`ended`).
//!
//! An agent may stop either of the two. `evolve` wakes this process; this one looks for KILL itself, and ends each job at
//! the end of its time, should `evolve` not. Where `evolve` died while this process was stopped, the kernel wakes it.

mod vigil;
mod ward;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, IoSliceMut, Stdin};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::Watched;
use super::message::Parcel;
use super::spawn::Environment;
use super::tree;
use crate::effects::ended::Watch;
use crate::effects::proc_table::Children;
use vigil::Vigil;
use ward::{Files, Ward};

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

/// What all jobs have in common.
#[derive(Debug)]
struct House {
    evolve: Stdin,
    wards: Vec<Ward>,
    common: Common,
    alarm: Alarm,
    vigil: Vigil,
    held: Vec<OwnedFd>,
}

/// What starting and ending one job needs of the rest.
#[derive(Debug)]
pub struct Common {
    environment: Environment,
    home: File,
    nothing: File,
    children: Children,
    /// The leaders of jobs, whose status is taken only when nothing else of the job is left.
    leaders: HashSet<u32>,
    /// Those of them that keep a command's orphans.
    keepers: HashSet<u32>,
    /// Processes that were not to be ended, and were told of once.
    given_up: HashSet<u32>,
}

impl Common {
    /// Returns the orphans that somebody has to care about; those given up are only reaped once they have ended.
    fn orphans(&mut self) -> Vec<u32> {
        let mut orphans = tree::orphans(&self.children, &self.leaders);
        self.given_up.retain(|pid| orphans.contains(pid));
        orphans.retain(|pid| !self.given_up.contains(pid));
        orphans
    }

    /// The same, killed; returns those that are left.
    fn kill_orphans(&mut self, is_meant: impl Fn(u32) -> bool) -> Vec<u32> {
        let given_up = &self.given_up;
        tree::kill_orphans(&self.children, &self.leaders, |pid| {
            !given_up.contains(&pid) && is_meant(pid)
        })
    }
}

impl House {
    fn new(kill_files: Vec<PathBuf>) -> io::Result<House> {
        let evolve = io::stdin();
        rustix::net::sockopt::socket_type(&evolve)?;
        Ok(House {
            evolve,
            wards: Vec::new(),
            common: Common {
                environment: Environment::inherited(),
                home: File::open(".")?,
                nothing: File::open("/dev/null")?,
                children: Children::open(),
                leaders: HashSet::new(),
                keepers: HashSet::new(),
                given_up: HashSet::new(),
            },
            alarm: Alarm::new()?,
            vigil: Vigil::new(kill_files),
            held: Vec::new(),
        })
    }

    /// Takes in jobs and looks after them, until the common socket closes.
    fn supervise(&mut self) {
        loop {
            let Ok((has_parcel, said)) = self.wait() else {
                return;
            };
            for (ward, said) in self.wards.iter_mut().zip(said) {
                if said {
                    ward.listen();
                }
            }
            if has_parcel && self.receive().is_err() {
                return;
            }
            if let Some(moment) = self.vigil.who_is_to_end() {
                for ward in &mut self.wards {
                    ward.end_if_older(moment);
                }
            }
            for ward in &mut self.wards {
                ward.look_after(&mut self.common);
            }
            self.wards.retain(|ward| !ward.is_over());
        }
    }

    /// Waits until somebody has something to say, a child has ended, or a time is over. Returns whether there is a parcel,
    /// and which wards were spoken to.
    fn wait(&mut self) -> io::Result<(bool, Vec<bool>)> {
        let own = self.wards.iter().filter_map(Ward::wake_up);
        let timeout = own.chain([self.vigil.wake_up()]).min();
        let timeout = self.alarm.at_most(timeout, !self.wards.is_empty());
        let mut files = vec![PollFd::new(&self.evolve, PollFlags::IN)];
        let spoken = self
            .wards
            .iter()
            .map(|ward| PollFd::from_borrowed_fd(ward.socket(), PollFlags::IN));
        files.extend(spoken);
        files.extend(self.alarm.file());
        poll_for(&mut files, timeout)?;
        let is_ready = |file: &PollFd<'_>| !file.revents().is_empty();
        let has_parcel = is_ready(&files[0]);
        let said = files[1..=self.wards.len()].iter().map(is_ready).collect();
        drop(files);
        self.alarm.quiet();
        Ok((has_parcel, said))
    }

    /// Takes in one parcel. An error means that `evolve` is gone.
    fn receive(&mut self) -> io::Result<()> {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut into = [IoSliceMut::new(&mut byte)];
        let count = match recvmsg(&self.evolve, &mut into, &mut ancillary, flags) {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(()),
            Err(cause) => return Err(cause.into()),
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut files = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let mut files = files.by_ref().flatten();
        match Parcel::of_byte(byte[0]) {
            Parcel::Hold => self.held.extend(files),
            Parcel::Job {
                has_stdin,
                has_stderr,
            } => {
                // A parcel that lost descriptors on its way (none were free here) drops the job's socket, which tells.
                let Some(socket) = files.next() else {
                    return Ok(());
                };
                let stdin = has_stdin.then(|| files.next());
                let (stdout, stderr) = (files.next(), has_stderr.then(|| files.next()));
                let files = Files::of(stdin, stdout, stderr);
                self.wards
                    .extend(Ward::new(UnixStream::from(socket), files));
            }
        }
        Ok(())
    }

    /// Kills everything, and again, until no child is left.
    fn end_everything(&mut self) {
        let began = Instant::now();
        loop {
            for leader in &self.common.leaders {
                tree::signal_group(*leader, Signal::SIGKILL);
            }
            // From here on leaders are children like any other; the group of one whose status was taken is not touched again.
            let known = HashSet::new();
            let left = tree::kill_orphans(&self.common.children, &known, |_| true);
            if left.is_empty() {
                return;
            }
            self.common.leaders.retain(|leader| left.contains(leader));
            let pause = match began.elapsed() < super::SWEEP_LIMIT {
                true => POLL,
                false => SLOW_POLL,
            };
            let mut files: Vec<_> = self.alarm.file().into_iter().collect();
            let _ = poll_for(&mut files, Some(pause));
            drop(files);
            self.alarm.quiet();
        }
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

    fn at_most(&self, timeout: Option<Duration>, _has_wards: bool) -> Option<Duration> {
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

    fn at_most(&self, timeout: Option<Duration>, has_wards: bool) -> Option<Duration> {
        match has_wards {
            true => Some(timeout.unwrap_or(POLL).min(POLL)),
            false => timeout,
        }
    }
}
