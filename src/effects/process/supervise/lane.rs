//! A lane: a thread that starts one job after another and waits for each one's end.

use std::ffi::{CStr, OsStr};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::SigSet;
use nix::unistd::{chdir, fchdir};
use rustix::event::{PollFd, PollFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::WaitIdOptions;

use super::ward::{Started, Ward, ending_of, tell};
use super::{Jobs, Lane, Order, POLL, Shared, poll_for};
use crate::effects::process::keeper;
use crate::effects::process::message::{JobId, Report, Request};
use crate::effects::process::spawn::{self, Environment, Program};
use crate::effects::process::tree::Living;
use crate::effects::process::{Ending, NOT_TAKEN, SWEEP_LIMIT, tree};

/// How much of its stack a lane may need: several times what starting a program takes.
const STACK: usize = 128 * 1024;
/// How much of a request is read at once.
const PIECE: usize = 16 * 1024;

/// Opens a lane. Where no thread can be had, its socket closes, which tells.
pub fn open(shared: &Arc<Shared>, number: u32, socket: UnixStream) {
    let socket = Arc::new(socket);
    let lane = Lane {
        socket: Arc::clone(&socket),
        turn: 0,
        wanted: Vec::new(),
    };
    shared.lock().lanes.insert(number, lane);
    let all = Arc::clone(shared);
    let serve = move || serve(&all, number, &socket);
    let thread = thread::Builder::new().stack_size(STACK).spawn(serve);
    if thread.is_err() {
        shared.lock().lanes.remove(&number);
    }
}

/// Runs jobs, until `evolve` lets go of the lane.
fn serve(shared: &Shared, number: u32, socket: &Arc<UnixStream>) {
    let mut inbox = Vec::new();
    while let Ok((request, files)) = receive(socket, &mut inbox) {
        run(shared, number, socket, &request, files);
    }
    shared.lock().close(number);
}

/// Waits for a request and its descriptors. An error means that there will be none.
fn receive(socket: &UnixStream, inbox: &mut Vec<u8>) -> io::Result<(Request, Vec<OwnedFd>)> {
    let mut files = Vec::new();
    let mut piece = [0; PIECE];
    loop {
        // Who waits in `recvmsg` is woken as well each time the other end takes in what was told.
        poll_for(&mut [PollFd::new(socket, PollFlags::IN)], None)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(Request::FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut piece)];
        let count = match recvmsg(socket, &mut into, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::INTR) => continue,
            Err(cause) => return Err(cause.into()),
        };
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fresh) = message {
                files.extend(fresh);
            }
        }
        inbox.extend_from_slice(&piece[..count]);
        if let Some(request) = Request::take(inbox) {
            return Ok((request, files));
        }
    }
}

/// Runs one job, until its program has ended, or until nothing more is to be done here.
fn run(
    shared: &Shared,
    lane: u32,
    socket: &Arc<UnixStream>,
    request: &Request,
    files: Vec<OwnedFd>,
) {
    let job = JobId {
        lane,
        turn: request.turn,
    };
    let is_kept = keeper::is_around(&request.argv);
    if !shared.lock().begin(is_kept) {
        return;
    }
    let began = Instant::now();
    let started = shared.starter.start(request, &files);
    let mut jobs = shared.lock();
    jobs.starting -= 1;
    // It was a child like any other for who ends everything, and may have been reaped.
    if jobs.is_closing {
        return;
    }
    let leader = match started {
        Ok(leader) => leader,
        Err(cause) => {
            jobs.forget(job, is_kept);
            drop(jobs);
            let left = see_off(shared);
            let ended = Report::Ended(Ending::NotStarted(cause.to_string()));
            return tell(socket, &[ended, Report::Gone(left)]);
        }
    };
    let mark = request.env.first();
    let started = Started {
        job,
        leader,
        mark: mark.map_or(Vec::new(), |mark| mark.to_bytes().to_vec()),
        time: (began, began + Duration::from_millis(request.limit.into())),
        is_kept,
    };
    let is_to_end = jobs.take_in(started, socket);
    drop(jobs);
    if is_to_end {
        // The first thread waits for it, and may have taken its status by now.
        return;
    }
    let ending = loop {
        if let Some(ending) = ending_of(leader, WaitIdOptions::empty()) {
            break ending;
        }
    };
    shared.lock().has_ended(job, leader, ending);
    // Kept until the end was told: the end of its output would wake `evolve` for itself.
    drop(files);
}

/// Ends what has no job any more: while one was about to be started it might have been theirs. Returns what could not be ended.
fn see_off(shared: &Shared) -> Vec<u32> {
    let until = Instant::now() + SWEEP_LIMIT;
    loop {
        let left = shared.lock().kill_nobodys();
        if left.is_nobody() || Instant::now() >= until {
            return left.names();
        }
        thread::sleep(POLL);
    }
}

impl Jobs {
    /// Counts a job that is about to be started; says whether it may be.
    fn begin(&mut self, is_kept: bool) -> bool {
        if !self.is_closing {
            self.starting += 1;
            self.common.count += 1;
            self.common.kept += usize::from(is_kept);
        }
        !self.is_closing
    }

    /// Forgets a job that could not be started.
    fn forget(&mut self, job: JobId, is_kept: bool) {
        self.common.count -= 1;
        self.common.kept -= usize::from(is_kept);
        self.reach(job);
    }

    /// Kills what is left where no job is; returns those.
    fn kill_nobodys(&mut self) -> Living {
        let has_jobs = self.common.count > 0;
        self.common.kill_orphans(|_| !has_jobs)
    }

    /// Looks after a job from now on, and does what was wanted of it meanwhile; says whether something was.
    fn take_in(&mut self, started: Started, socket: &Arc<UnixStream>) -> bool {
        let job = started.job;
        let mut ward = Ward::new(started, Arc::clone(socket), &mut self.common);
        let wanted = self.reach(job);
        for order in &wanted {
            ward.obey(*order);
        }
        self.wards.push(ward);
        !wanted.is_empty()
    }

    /// A lane is no more. What is left of its job has nobody who would want it to go on.
    fn close(&mut self, number: u32) {
        self.lanes.remove(&number);
        let of_it = |ward: &&mut Ward| ward.started.job.lane == number;
        self.wards.iter_mut().filter(of_it).for_each(Ward::desert);
    }

    /// Notes how far a lane has come; returns what is wanted of this job.
    fn reach(&mut self, job: JobId) -> Vec<Order> {
        let Some(lane) = self.lanes.get_mut(&job.lane) else {
            return Vec::new();
        };
        lane.turn = job.turn;
        let wanted = lane.wanted.drain(..);
        let wanted = wanted.filter(|(turn, _)| *turn == job.turn);
        wanted.map(|(_, order)| order).collect()
    }

    /// A job's program has ended. Where the job is being ended, the first thread sees to it. Nothing is told of what ends because
    /// everything is: who is about to leave is not to make anything of it.
    fn has_ended(&mut self, job: JobId, leader: u32, ending: Ending) {
        if self.is_closing {
            return;
        }
        if let Some(ward) = self.wards.iter_mut().find(|ward| ward.started.job == job) {
            ward.has_ended_by_itself(ending, &mut self.common);
            self.wards.retain(|ward| !ward.is_over());
        } else if self.stuck.remove(&leader) {
            tree::has_been_reaped(leader);
        }
    }
}

/// What starting a program takes.
#[derive(Debug)]
pub struct Starter {
    environment: Environment,
    nothing: File,
    home: File,
    /// All lanes have one working directory, which only who holds this alone may leave.
    folder: RwLock<Folder>,
}

/// Where this process is.
#[derive(Debug)]
struct Folder {
    /// What `home` is.
    home: (u64, u64),
    /// There was no way back.
    is_away: bool,
}

impl Starter {
    /// Takes over this process's environment and working directory.
    pub fn new() -> io::Result<Starter> {
        let home = File::open(".")?;
        let metadata = home.metadata()?;
        Ok(Starter {
            environment: Environment::inherited(),
            nothing: File::open("/dev/null")?,
            home,
            folder: RwLock::new(Folder {
                home: identity(&metadata),
                is_away: false,
            }),
        })
    }

    /// Starts what is asked for, in its folder; returns its pid.
    fn start(&self, request: &Request, files: &[OwnedFd]) -> io::Result<u32> {
        let invalid = |why| io::Error::new(ErrorKind::InvalidInput, why);
        let program = request.argv.first();
        let program = program.ok_or_else(|| invalid("an empty command line"))?;
        let wanted = 1 + usize::from(request.has_stdin) + usize::from(request.has_stderr);
        if files.len() != wanted {
            return Err(io::Error::other(NOT_TAKEN));
        }
        let (stdin, outputs) = match request.has_stdin {
            true => (files[0].as_fd(), &files[1..]),
            false => (self.nothing.as_fd(), files),
        };
        let stderr = outputs.last().unwrap_or(&outputs[0]);
        let env = self.environment.with(&request.env);
        let files = [stdin, outputs[0].as_fd(), stderr.as_fd()];
        let spawn = || {
            let program = Program {
                file: program,
                argv: &request.argv,
                env: &env,
            };
            spawn::spawn(program, files, &SigSet::empty())
        };
        self.inside(&request.folder, spawn)
    }

    /// Does something in a folder.
    fn inside<T>(&self, folder: &CStr, action: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        const HELD: &str = "BUG: a holder of the lock panicked";
        {
            let here = self.folder.read().expect(HELD);
            // By a look at the path: what lies there may be another folder by now.
            let is_home = |metadata| identity(&metadata) == here.home;
            let path = OsStr::from_bytes(folder.to_bytes());
            let is_home = folder.is_empty() || fs::metadata(path).is_ok_and(is_home);
            if is_home && !here.is_away {
                return action();
            }
        }
        let mut here = self.folder.write().expect(HELD);
        let entered = match folder.is_empty() {
            true => fchdir(&self.home),
            false => chdir(folder),
        };
        entered.map_err(|cause| {
            let shown = OsStr::from_bytes(folder.to_bytes()).display();
            let why = format!("cannot enter {shown}: {}", cause.desc());
            io::Error::new(io::Error::from(cause).kind(), why)
        })?;
        let done = action();
        // What was started is not forgotten over that: who comes next sees to it.
        here.is_away = fchdir(&self.home).is_err();
        done
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Jobs with one lane, and `evolve`'s end of it.
    fn jobs() -> (Jobs, Arc<UnixStream>, UnixStream) {
        let (evolve, socket) = UnixStream::pair().unwrap();
        let socket = Arc::new(socket);
        let mut jobs = Jobs::new().unwrap();
        let lane = Lane {
            socket: Arc::clone(&socket),
            turn: 0,
            wanted: Vec::new(),
        };
        jobs.lanes.insert(1, lane);
        (jobs, socket, evolve)
    }

    fn id(turn: u32) -> JobId {
        JobId { lane: 1, turn }
    }

    /// Starts a program that goes on for long, as a lane does; returns its pid.
    fn start(jobs: &mut Jobs, socket: &Arc<UnixStream>, turn: u32) -> u32 {
        let request = Request {
            argv: [c"sleep", c"600"].map(CStr::to_owned).to_vec(),
            env: vec![c"MARK=here".to_owned()],
            ..Request::default()
        };
        assert!(jobs.begin(false));
        let nothing = File::options().write(true).open("/dev/null").unwrap();
        let starter = Starter::new().unwrap();
        let leader = starter.start(&request, &[nothing.into()]).unwrap();
        jobs.starting -= 1;
        let now = Instant::now();
        let started = Started {
            job: id(turn),
            leader,
            mark: b"MARK=here".to_vec(),
            time: (now, now + Duration::from_secs(600)),
            is_kept: false,
        };
        jobs.take_in(started, socket);
        leader
    }

    /// Looks after all jobs until none is left; returns what is told.
    fn see_out(jobs: &mut Jobs, evolve: &mut UnixStream) -> Report {
        while !jobs.wards.is_empty() {
            jobs.look_after(None);
            thread::yield_now();
        }
        let mut told = vec![0; 64];
        let count = evolve.read(&mut told).unwrap();
        told.truncate(count);
        Report::take(&mut told).unwrap()
    }

    #[test]
    fn an_order_that_comes_before_its_job_is_started_is_obeyed_then() {
        let (mut jobs, socket, mut evolve) = jobs();
        jobs.obey(id(1), Order::Sweep);
        let leader = start(&mut jobs, &socket, 1);
        let told = see_out(&mut jobs, &mut evolve);
        assert!(
            matches!(told, Report::Ended(Ending::Signalled(9))),
            "{told:?}"
        );
        assert!(!crate::effects::proc_table::is_alive(leader, None));
    }

    #[test]
    fn an_order_that_comes_after_the_end_of_its_job_does_not_meet_the_next_one() {
        let (mut jobs, socket, mut evolve) = jobs();
        start(&mut jobs, &socket, 1);
        jobs.obey(id(1), Order::Sweep);
        see_out(&mut jobs, &mut evolve);
        jobs.obey(id(1), Order::Sweep);
        let second = start(&mut jobs, &socket, 2);
        jobs.look_after(None);
        assert!(crate::effects::proc_table::is_alive(second, None));
        jobs.obey(id(2), Order::Sweep);
        see_out(&mut jobs, &mut evolve);
        assert!(!crate::effects::proc_table::is_alive(second, None));
    }

    #[test]
    fn what_is_left_of_a_job_ends_with_its_lane() {
        let (mut jobs, socket, mut evolve) = jobs();
        let leader = start(&mut jobs, &socket, 1);
        jobs.close(1);
        see_out(&mut jobs, &mut evolve);
        assert!(!crate::effects::proc_table::is_alive(leader, None));
        // An order that crossed the lane's end is about nobody.
        jobs.obey(id(1), Order::Sweep);
    }

    #[test]
    fn nothing_is_told_of_jobs_that_end_with_everything() {
        let (mut jobs, socket, mut evolve) = jobs();
        let leader = start(&mut jobs, &socket, 1);
        jobs.is_closing = true;
        tree::signal_group(leader, nix::sys::signal::Signal::SIGKILL);
        let ending = ending_of(leader, WaitIdOptions::empty()).unwrap();
        jobs.has_ended(id(1), leader, ending);
        assert!(tree::has_been_reaped(leader));
        evolve.set_nonblocking(true).unwrap();
        let none = evolve.read(&mut [0; 8]).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn a_job_whose_start_hangs_is_not_answered_for() {
        let (mut jobs, _socket, mut evolve) = jobs();
        evolve.set_nonblocking(true).unwrap();
        jobs.obey(id(1), Order::Answer);
        let none = evolve.read(&mut [0; 8]).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::WouldBlock);
        jobs.reach(id(1));
        jobs.obey(id(1), Order::Answer);
        let mut told = vec![0; 8];
        let count = evolve.read(&mut told).unwrap();
        told.truncate(count);
        assert_eq!(Report::take(&mut told), Some(Report::Here));
    }

    #[test]
    fn nothing_is_started_once_evolve_is_gone() {
        let (mut jobs, ..) = jobs();
        jobs.is_closing = true;
        assert!(!jobs.begin(false));
        assert_eq!((jobs.starting, jobs.common.count), (0, 0));
    }
}
