//! Runs a program and waits for it in this thread, for what cannot go on without it: `evolve`'s own git.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::link::{Handed, Link};
use super::message::{Order, Report};
use super::{ANSWER, DRAIN, Ending, GRACE, Job, SWEEP_LIMIT, Supervisor};

/// What a program that was waited for came to.
#[derive(Debug)]
pub struct Said {
    /// How it ended.
    pub ending: Ending,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// All of its standard error.
    pub stderr: Vec<u8>,
}

impl Supervisor {
    /// Runs a job to its end, in this thread and unseen by what ends a session; nothing of it is left then. Heeds of the job's
    /// bounds only the time it may take, and keeps all of its output.
    pub fn run_now(&self, job: &Job) -> io::Result<Said> {
        let (link, handed) = match self.hand_over(job) {
            Ok(handed) => handed,
            Err(Ending::NotStarted(why)) => return Err(io::Error::other(why)),
            Err(_) => return Err(lost()),
        };
        let mut talk = Talk::of(handed, job)?;
        match talk.hold(job.timeout) {
            Ok(ending) => Ok(Said {
                ending,
                stdout: talk.stdout.bytes,
                stderr: talk.stderr.bytes,
            }),
            Err(cause) => {
                self.lose(&Arc::<Link>::clone(&link));
                Err(cause)
            }
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("the process that supervises it was killed")
}

/// A stream that is read to its end.
#[derive(Debug)]
struct Stream {
    file: Option<File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn of(file: Option<OwnedFd>) -> io::Result<Stream> {
        if let Some(file) = &file {
            ioctl_fionbio(file, true)?;
        }
        Ok(Stream {
            file: file.map(File::from),
            bytes: Vec::new(),
        })
    }

    fn read(&mut self) {
        let Some(file) = &mut self.file else {
            return;
        };
        match file.read_to_end(&mut self.bytes) {
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.file = None,
        }
    }
}

/// Both sides of a job at once: whichever is ready first.
#[derive(Debug)]
struct Talk<'a> {
    socket: UnixStream,
    inbox: Vec<u8>,
    stdin: Option<File>,
    input: &'a [u8],
    stdout: Stream,
    stderr: Stream,
}

impl<'a> Talk<'a> {
    fn of(handed: Handed, job: &'a Job) -> io::Result<Talk<'a>> {
        let mut socket = handed.socket;
        // The supervising process takes in whatever it is told; if it is gone, the first answer tells.
        if !handed.unsaid.is_empty() {
            socket.set_nonblocking(false)?;
            let _ = socket.write_all(&handed.unsaid);
            socket.set_nonblocking(true)?;
        }
        if let Some(stdin) = &handed.stdin {
            ioctl_fionbio(stdin, true)?;
        }
        let mut talk = Talk {
            socket,
            inbox: Vec::new(),
            stdin: handed.stdin.map(File::from),
            input: job.stdin.as_deref().unwrap_or_default(),
            stdout: Stream::of(Some(handed.stdout))?,
            stderr: Stream::of(handed.stderr)?,
        };
        talk.write();
        Ok(talk)
    }

    /// Goes on until nothing is left of the job. An error means that the supervising process gave no answer.
    fn hold(&mut self, limit: Duration) -> io::Result<Ending> {
        let mut forced = None;
        let mut ended = None;
        let mut until = Instant::now() + limit;
        let mut is_swept = false;
        loop {
            match Report::take(&mut self.inbox) {
                Some(Report::Gone(_)) => {
                    self.stdout.read();
                    self.stderr.read();
                    return forced.or(ended).ok_or_else(lost);
                }
                Some(Report::Ended(ending)) => {
                    ended = Some(ending);
                    until = Instant::now() + DRAIN;
                    continue;
                }
                None => {}
            }
            let is_silent = self.stdout.file.is_none() && self.stderr.file.is_none();
            let is_over = Instant::now() >= until;
            if ended.is_some() && !is_swept && (is_silent || is_over) {
                is_swept = true;
                let _ = self.socket.write_all(&Order::Sweep.to_bytes());
                until = Instant::now() + SWEEP_LIMIT + ANSWER;
            } else if is_over && ended.is_none() && forced.is_none() {
                forced = Some(Ending::TimedOut);
                let grace = u32::try_from(GRACE.as_millis()).unwrap_or(u32::MAX);
                let _ = self.socket.write_all(&Order::End(grace).to_bytes());
                until = Instant::now() + GRACE + SWEEP_LIMIT + ANSWER;
            } else if is_over {
                return Err(lost());
            }
            self.wait(until)?;
        }
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
        let stdin = self.stdin.iter();
        files.extend(stdin.map(|file| PollFd::new(file, PollFlags::OUT)));
        match poll(&mut files, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        let has_report = !files[0].revents().is_empty();
        drop(files);
        self.write();
        self.stdout.read();
        self.stderr.read();
        match has_report {
            true => self.hear(),
            false => Ok(()),
        }
    }

    fn hear(&mut self) -> io::Result<()> {
        let mut piece = [0; 256];
        match self.socket.read(&mut piece) {
            Ok(0) => Err(lost()),
            Ok(count) => {
                self.inbox.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    /// Writes as much of the input as fits; a program that closes its input early is its own business.
    fn write(&mut self) {
        let Some(stdin) = &mut self.stdin else {
            return;
        };
        loop {
            match stdin.write(self.input) {
                Ok(count) if count < self.input.len() => self.input = &self.input[count..],
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => break self.stdin = None,
            }
        }
    }
}
