//! Runs a program and waits for it in this thread, for what cannot go on without it: `evolve`'s own git.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::free::Socket;
use super::lanes::{Handed, Line};
use super::link::Link;
use super::message::{Order, Report};
use super::pulse::{BEAT, Pulse};
use super::task::{ROOM, Saying};
use super::{
    ANSWER, DRAIN, Ending, Job, KILL_GRACE, LAST_LOOK, LAST_LOOKS, NOT_TAKEN, SWEEP_LIMIT, Stdout,
    Supervisor,
};
use crate::effects::stop::Halt;

/// How long a call goes on that was running when a signal or the session's time ended everything: services and CI kill what
/// has not ended seconds later (GitHub Actions after 7.5).
const SIGNALLED: Duration = Duration::from_secs(5);
/// How long a call that came after the session's end may take: an undo in a large tree, with filters, takes its time.
const SETTLE: Duration = Duration::from_secs(60);
/// How long all of them together may take after KILL. The next start settles what is left then.
const SETTLE_KILLED: Duration = Duration::from_secs(10);
/// How long a call that is ended may take to remove its lock files, after it was told to end.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How much is read at once: what a pipe holds.
const PIECE: usize = 64 * 1024;
/// How often in a row. What an ended program left is less: 1 MiB at the most (`/proc/sys/fs/pipe-max-size`), unless root made
/// its pipe larger, which `evolve` would have to be run by root for.
const PIECES: usize = 64;

/// What a program that was waited for came to.
#[derive(Debug)]
pub struct Said {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output, or the start of it where only that was asked for.
    pub stdout: Vec<u8>,
    /// The same of its standard error.
    pub stderr: Vec<u8>,
}

impl Said {
    fn stopped() -> Said {
        Said {
            ending: Ending::Stopped,
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }
}

impl Supervisor {
    /// Runs a job to its end, in this thread; nothing of it is left then, or that is an error. Heeds of the job's bounds only the
    /// time it may take, and keeps all of its output, or of each stream the start where only that is asked for. What ends a
    /// session ends it, too, but not at once: it may be what settles a cycle.
    ///
    /// Input or output that breaks off is an error, however the program took it; that it closes its input early is not.
    pub fn run_now(&self, job: &Job) -> io::Result<Said> {
        if self.shared.has_given_up.load(Ordering::Relaxed) {
            return Ok(Said::stopped());
        }
        let handed = match self.hand_over(job) {
            Ok(handed) => handed,
            Err(ran) => {
                return Err(match ran.ending {
                    Ending::NotStarted(why) => io::Error::other(why),
                    _ => and_unended(lost(), &ran.unkillable),
                });
            }
        };
        let link = Arc::clone(&handed.line.link);
        if !self.has_said(&handed) {
            return Err(and_unended(lost(), &self.lose(&link)));
        }
        let began = handed.began;
        let mut talk = Talk::of(handed, job)?;
        let heard = loop {
            match talk.hold(patience(began, job.timeout, self.halted())) {
                Ok(Held::Over(ending, left)) => break Ok((ending, left)),
                Ok(Held::Beat(pulse)) => match self.is_lost(pulse, &link) {
                    true => break Err(lost()),
                    false => talk.ask_for_life(),
                },
                Ok(Held::Wait) => {}
                Err(cause) => break Err(cause),
            }
        };
        talk.line.free(talk.socket, &talk.inbox);
        match heard {
            // It could still write.
            Ok((ending, left)) if !left.is_empty() => {
                if ending == Ending::Stopped {
                    self.give_up();
                }
                let words = format!("processes of it cannot be ended: {left:?}");
                Err(io::Error::other(words))
            }
            // Where this was too late, the supervising process ended it.
            Ok((Ending::Signalled(_), _)) if self.is_killed() => Ok(self.give_up()),
            Ok((Ending::Stopped, _)) => Ok(self.give_up()),
            Ok((ending, _)) => {
                let stdin = talk.stdin.broken.map_or(Ok(()), Err);
                stdin?;
                Ok(Said {
                    ending,
                    stdout: talk.stdout.whole()?,
                    stderr: talk.stderr.whole()?,
                })
            }
            // It could not take the job, and goes on.
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof && !is_gone(&link) => {
                Err(io::Error::other(NOT_TAKEN))
            }
            Err(cause) => Err(and_unended(cause, &self.lose(&link))),
        }
    }

    /// Says the rest of a request; says whether that could be, as `Task::say` does.
    fn has_said(&self, handed: &Handed) -> bool {
        let mut saying = Saying::of(&handed.unsaid);
        while !saying.is_said(&handed.socket) {
            if self.is_lost(&mut saying.pulse, &handed.line.link) {
                return false;
            }
            std::thread::sleep(ROOM);
        }
        true
    }

    /// Runs nothing more from here: what hung once is not to hang again and again while the session ends.
    fn give_up(&self) -> Said {
        self.shared.has_given_up.store(true, Ordering::Relaxed);
        Said::stopped()
    }

    /// Says whether there was a KILL: the supervising process may have seen it first.
    pub(super) fn is_killed(&self) -> bool {
        self.stop.look_for_kill();
        self.stop.killed_at().is_some()
    }

    fn halted(&self) -> Halted {
        match (self.stop.killed_at(), self.stop.halted_at()) {
            (Some(since), _) => Halted::Killed(since),
            (None, Some((_, since))) => Halted::Ended(since),
            (None, None) => Halted::No,
        }
    }

    /// Returns what ended everything, if something did.
    pub fn halt(&self) -> Option<Halt> {
        self.stop.halt()
    }
}

/// Whether a session was ended, and since when.
#[derive(Clone, Copy, Debug)]
enum Halted {
    No,
    /// By a signal or its time.
    Ended(Instant),
    Killed(Instant),
}

/// Returns until when a call may go on, and as what it ends then. One that was running when everything was ended has a moment;
/// one that came later is to settle what had begun, and all of these together have `SETTLE_KILLED` after a KILL, each `SETTLE`
/// after anything else.
fn patience(began: Instant, limit: Duration, halted: Halted) -> (Instant, Ending) {
    let own = (began + limit, Ending::TimedOut);
    let ended = match halted {
        Halted::No => return own,
        Halted::Ended(since) if began < since => since + SIGNALLED,
        Halted::Ended(_) => began + SETTLE,
        Halted::Killed(since) if began < since => since + KILL_GRACE,
        Halted::Killed(since) => since + SETTLE_KILLED,
    };
    match ended < own.0 {
        true => (ended, Ending::Stopped),
        false => own,
    }
}

/// Says whether a supervising process that closed a lane is gone, as `hangs_up` does.
fn is_gone(link: &Link) -> bool {
    (0..LAST_LOOKS).any(|_| {
        let is_gone = link.is_hung_up();
        if !is_gone {
            std::thread::sleep(LAST_LOOK);
        }
        is_gone
    })
}

fn lost() -> io::Error {
    io::Error::other("the process that supervises it was killed")
}

/// Names what is left beside it, if something is.
fn and_unended(cause: io::Error, left: &[u32]) -> io::Error {
    match left.is_empty() {
        true => cause,
        false => io::Error::other(format!("{cause}, and processes cannot be ended: {left:?}")),
    }
}

/// A stream that is read to its end.
#[derive(Debug)]
struct Stream {
    file: Option<File>,
    bytes: Vec<u8>,
    /// How much of it is kept.
    most: usize,
    broken: Option<io::Error>,
}

impl Stream {
    fn of(file: Option<OwnedFd>, most: usize) -> io::Result<Stream> {
        if let Some(file) = &file {
            ioctl_fionbio(file, true)?;
        }
        Ok(Stream {
            file: file.map(File::from),
            bytes: Vec::new(),
            most,
            broken: None,
        })
    }

    /// Takes what is there, and no more at once than others can wait for: a program may print faster than it is read.
    fn read(&mut self) {
        let Some(file) = &mut self.file else {
            return;
        };
        let mut piece = [0; PIECE];
        let ended = 'ended: {
            for _ in 0..PIECES {
                match file.read(&mut piece) {
                    Ok(0) => break 'ended Ok(()),
                    Ok(count) => {
                        let room = self.most - self.bytes.len();
                        self.bytes.extend_from_slice(&piece[..count.min(room)]);
                    }
                    Err(cause) => match cause.kind() {
                        ErrorKind::WouldBlock => return,
                        ErrorKind::Interrupted => {}
                        _ => break 'ended Err(cause),
                    },
                }
            }
            return;
        };
        self.broken = ended.err();
        self.file = None;
    }

    fn whole(self) -> io::Result<Vec<u8>> {
        match self.broken {
            Some(cause) => Err(cause),
            None => Ok(self.bytes),
        }
    }
}

/// A program's standard input.
#[derive(Debug)]
struct Input<'a> {
    file: Option<File>,
    left: &'a [u8],
    broken: Option<io::Error>,
}

impl Input<'_> {
    fn of(file: Option<OwnedFd>, bytes: &[u8]) -> io::Result<Input<'_>> {
        if let Some(file) = &file {
            ioctl_fionbio(file, true)?;
        }
        Ok(Input {
            file: file.map(File::from),
            left: bytes,
            broken: None,
        })
    }

    /// Writes as much of it as fits; a program that closes its input early is its own business.
    fn write(&mut self) {
        let Some(file) = &mut self.file else {
            return;
        };
        let ended = loop {
            match file.write(self.left) {
                Ok(count) if count < self.left.len() => self.left = &self.left[count..],
                Ok(_) => break None,
                Err(cause) => match cause.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted => {}
                    ErrorKind::BrokenPipe => break None,
                    _ => break Some(cause),
                },
            }
        };
        self.broken = ended;
        self.file = None;
    }
}

/// Both sides of a job at once: whichever is ready first.
#[derive(Debug)]
struct Talk<'a> {
    line: Line,
    socket: Socket,
    inbox: Vec<u8>,
    stdin: Input<'a>,
    stdout: Stream,
    stderr: Stream,
    /// How it ended by itself, and as what it was ended.
    ended: Option<Ending>,
    forced: Option<Ending>,
    course: Course,
    pulse: Pulse,
}

/// How far a job has come.
#[derive(Clone, Copy, Debug)]
enum Course {
    /// Its program runs.
    Running,
    /// Its program has ended; what is left of it may print until then.
    Draining(Instant),
    /// All of it is being ended, until then.
    Ending(Instant),
}

/// What a moment of a job came to.
enum Held<'a> {
    /// Nothing is left of it but these, which cannot be ended.
    Over(Ending, Vec<u32>),
    /// The supervising process, which has to end it, was not heard of.
    Beat(&'a mut Pulse),
    /// It goes on.
    Wait,
}

impl<'a> Talk<'a> {
    fn of(handed: Handed, job: &'a Job) -> io::Result<Talk<'a>> {
        let input = job.stdin.as_deref().unwrap_or_default();
        let most = match job.stdout {
            Stdout::Start(most) => most,
            Stdout::Merged | Stdout::End | Stdout::Sent(_) | Stdout::SentMerged(_) => usize::MAX,
        };
        let mut talk = Talk {
            line: handed.line,
            socket: handed.socket,
            inbox: Vec::new(),
            stdin: Input::of(handed.stdin, input)?,
            stdout: Stream::of(Some(handed.stdout), most)?,
            stderr: Stream::of(handed.stderr, most)?,
            ended: None,
            forced: None,
            course: Course::Running,
            pulse: Pulse::from(Instant::now()),
        };
        talk.stdin.write();
        Ok(talk)
    }

    /// Goes on for a moment, at the most until it is over: then the job is ended, as what is said beside. An error means that
    /// the supervising process is gone.
    fn hold(&mut self, (over, as_what): (Instant, Ending)) -> io::Result<Held<'_>> {
        loop {
            match self.line.take(&mut self.inbox) {
                Some(Report::Gone(left)) => {
                    self.stdout.read();
                    self.stderr.read();
                    let ending = self.forced.take().or(self.ended.take());
                    let over = ending.map(|ending| Held::Over(ending, left));
                    return over.ok_or_else(lost);
                }
                Some(Report::Ended(ending)) => {
                    self.ended = Some(ending);
                    self.pulse.heard(Instant::now());
                    self.course = Course::Draining(Instant::now() + DRAIN);
                }
                Some(Report::Here) => self.pulse.heard(Instant::now()),
                None => break,
            }
        }
        let now = Instant::now();
        let is_silent = self.stdout.file.is_none() && self.stderr.file.is_none();
        match self.course {
            Course::Running if now >= over => {
                self.forced = Some(as_what);
                // It was given its time.
                self.line.order(Order::end_within(LAST_WORDS));
                self.begin_ending(LAST_WORDS);
            }
            Course::Draining(until) if is_silent || now >= until => {
                self.line.order(Order::Sweep);
                self.begin_ending(Duration::ZERO);
            }
            Course::Ending(until) if now >= until => return Err(lost()),
            Course::Running | Course::Draining(_) | Course::Ending(_) => {}
        }
        let until = match self.course {
            Course::Running => over.min(now + BEAT),
            Course::Draining(until) => until,
            Course::Ending(_) => now + BEAT,
        };
        self.wait(until)?;
        match self.course {
            // What it said is heard before its silence is judged.
            Course::Ending(_) if Instant::now() >= until && self.inbox.is_empty() => {
                Ok(Held::Beat(&mut self.pulse))
            }
            Course::Running | Course::Draining(_) | Course::Ending(_) => Ok(Held::Wait),
        }
    }

    fn begin_ending(&mut self, grace: Duration) {
        self.pulse = Pulse::from(Instant::now());
        self.course = Course::Ending(Instant::now() + grace + SWEEP_LIMIT + ANSWER);
    }

    /// Asks the supervising process for a sign of life.
    fn ask_for_life(&mut self) {
        self.line.order(Order::Answer);
    }

    /// Waits until something is ready, and takes it.
    fn wait(&mut self, until: Instant) -> io::Result<()> {
        let left = until.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        let timeout = Timespec::try_from(left).ok();
        let mut files = vec![PollFd::new(&self.socket, PollFlags::IN)];
        let readable = |file| PollFd::from_borrowed_fd(file, PollFlags::IN);
        let streams = [&self.stdout.file, &self.stderr.file];
        files.extend(
            streams
                .into_iter()
                .flatten()
                .map(|file| readable(file.as_fd())),
        );
        let stdin = self.stdin.file.iter();
        files.extend(stdin.map(|file| PollFd::new(file, PollFlags::OUT)));
        match poll(&mut files, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        let has_report = !files[0].revents().is_empty();
        drop(files);
        self.stdin.write();
        self.stdout.read();
        self.stderr.read();
        match has_report {
            true => self.hear(),
            false => Ok(()),
        }
    }

    fn hear(&mut self) -> io::Result<()> {
        let mut piece = [0; 256];
        match rustix::io::read(&self.socket, &mut piece) {
            Ok(0) | Err(rustix::io::Errno::CONNRESET) => {
                Err(io::Error::new(ErrorKind::UnexpectedEof, lost()))
            }
            Ok(count) => {
                self.inbox.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(()),
            Err(cause) => Err(cause.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_that_breaks_off_is_told_and_a_program_that_reads_none_is_no_error() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut input = Input::of(Some(full.into()), b"a path\0").unwrap();
        input.write();
        assert_eq!(input.broken.unwrap().kind(), ErrorKind::StorageFull);
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut input = Input::of(Some(writer.into()), b"a path\0").unwrap();
        input.write();
        assert!(input.broken.is_none() && input.file.is_none());
    }

    #[test]
    fn output_without_end_is_kept_as_far_as_is_asked_for_and_holds_nobody_up() {
        let endless = File::open("/dev/zero").unwrap();
        let mut output = Stream::of(Some(endless.into()), 3).unwrap();
        output.read();
        assert_eq!(output.whole().unwrap(), [0, 0, 0]);
    }

    #[test]
    fn output_that_breaks_off_is_not_taken_for_all_of_it() {
        let folder = File::open("/").unwrap();
        let mut output = Stream::of(Some(folder.into()), usize::MAX).unwrap();
        output.read();
        assert!(output.whole().is_err());
    }
}
