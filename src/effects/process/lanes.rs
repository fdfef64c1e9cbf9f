//! `evolve`'s ends of the lanes: handing jobs over, and giving a lane back once nothing is left of its job.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::free::{Lane, Socket};
use super::link::{self, Link};
use super::message::{JobId, Order, Report, Request, Word};
use super::{Job, MARK, Stdout, spawn};

/// How much longer than its time a job may run before the supervising process ends it by itself.
const OVERTIME: Duration = Duration::from_secs(5);
/// How much of a request certainly fits into a socket that nobody reads yet.
const AT_ONCE: usize = 16 * 1024;

/// The line of one job. Where it is dropped before nothing is left of the job, all of that is killed.
#[derive(Debug)]
pub struct Line {
    /// Where the job was handed over.
    pub link: Arc<Link>,
    job: JobId,
    state: State,
}

/// What is known of the job of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is under way.
    UnderWay,
    /// Nothing is left of it.
    Over,
    /// Something of it could not be ended, so that its lane is not free.
    Stuck,
}

impl Line {
    /// Says what is wanted of the job.
    pub fn order(&self, order: Order) {
        self.link.order(self.job, order);
    }

    /// Takes a report off the front of what has come in on the lane.
    pub fn take(&mut self, inbox: &mut Vec<u8>) -> Option<Report> {
        let report = Report::take(inbox)?;
        if let Report::Gone(left) = &report {
            self.state = match left.is_empty() {
                true => State::Over,
                false => State::Stuck,
            };
        }
        Some(report)
    }

    /// Gives the lane back, if it is free, and nothing was said on it that was not understood.
    pub fn free(self, socket: Socket, inbox: &[u8]) {
        if self.state == State::Over && inbox.is_empty() {
            self.link.lanes.give_back(Lane {
                job: self.job,
                socket,
            });
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.state == State::UnderWay {
            self.order(Order::Sweep);
        }
    }
}

/// A job that was handed over.
#[derive(Debug)]
pub struct Handed {
    /// When it was about to be handed over, before anybody can have seen anything of it.
    pub began: Instant,
    /// What ends it.
    pub line: Line,
    /// Where the rest of its request is said, and where is told how it goes.
    pub socket: Socket,
    /// What goes to its standard input, if it has any.
    pub stdin: Option<OwnedFd>,
    /// What it prints.
    pub stdout: OwnedFd,
    /// What it prints on its standard error, unless that is merged into the former.
    pub stderr: Option<OwnedFd>,
    /// The rest of its request.
    pub unsaid: Vec<u8>,
}

/// Hands a job over, on a lane that is free or on a new one.
pub fn hand_over(link: &Arc<Link>, job: &Job) -> io::Result<Handed> {
    let began = Instant::now();
    let request = request(job)?;
    let (stdout, to_stdout) = io::pipe()?;
    let (stderr, to_stderr) = match &job.stdout {
        Stdout::Merged | Stdout::SentMerged(_) => (None, None),
        Stdout::End | Stdout::Start(_) | Stdout::Sent(_) => {
            let (stderr, to_stderr) = io::pipe()?;
            (Some(stderr), Some(to_stderr))
        }
    };
    let (from_stdin, stdin) = match job.stdin {
        Some(_) => {
            let (from_stdin, stdin) = io::pipe()?;
            (Some(from_stdin), Some(stdin))
        }
        None => (None, None),
    };
    let files = [
        from_stdin.as_ref().map(AsFd::as_fd),
        Some(to_stdout.as_fd()),
        to_stderr.as_ref().map(AsFd::as_fd),
    ];
    let files: Vec<_> = files.into_iter().flatten().collect();
    let (lane, theirs) = link.lanes.take()?;
    let JobId { lane: number, turn } = lane.job;
    let id = JobId {
        lane: number,
        turn: turn + 1,
    };
    let request = Request {
        turn: id.turn,
        has_stdin: stdin.is_some(),
        has_stderr: stderr.is_some(),
        ..request
    };
    let request = request.to_bytes();
    let now = &request[..request.len().min(AT_ONCE)];
    let said = link::send(&lane.socket, now, &files)?;
    // A new lane is sent for once the request is in it.
    if let Some(theirs) = theirs {
        link.say(Word::Lane(id.lane), &[theirs.as_fd()])?;
    }
    Ok(Handed {
        began,
        line: Line {
            link: Arc::clone(link),
            job: id,
            state: State::UnderWay,
        },
        socket: lane.socket,
        stdin: stdin.map(OwnedFd::from),
        stdout: stdout.into(),
        stderr: stderr.map(OwnedFd::from),
        unsaid: request[said..].to_vec(),
    })
}

fn request(job: &Job) -> io::Result<Request> {
    let mut env = vec![spawn::entry(MARK.as_ref(), job.mark.as_ref())?];
    for (name, value) in &job.env {
        env.push(spawn::entry(name, value)?);
    }
    let word = |word: &std::ffi::OsString| spawn::text(word.as_bytes(), "the command line");
    let folder = job
        .folder
        .as_deref()
        .map_or(&b""[..], |folder| folder.as_os_str().as_bytes());
    Ok(Request {
        argv: job.argv.iter().map(word).collect::<io::Result<_>>()?,
        env,
        folder: spawn::text(folder, "the folder's path")?,
        limit: u32::try_from(job.timeout.saturating_add(OVERTIME).as_millis()).unwrap_or(u32::MAX),
        ..Request::default()
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_job_has_begun_before_anybody_can_see_anything_of_it() {
        let (common, mut theirs) = UnixStream::pair().unwrap();
        let link = Arc::new(Link::over(common));
        let seen = std::thread::spawn(move || {
            theirs.read_exact(&mut [0; Word::LENGTH]).unwrap();
            Instant::now()
        });
        let job = Job {
            argv: vec!["true".into()],
            folder: None,
            // The rest of it is at hand long after the job was seen.
            env: vec![("LONG".into(), "x".repeat(1 << 26).into())],
            stdin: None,
            log: None,
            log_limit: 0,
            timeout: Duration::from_secs(1),
            idle_timeout: None,
            tail_limit: 0,
            stdout: Stdout::Merged,
            mark: "mark".to_owned(),
        };
        let handed = hand_over(&link, &job).unwrap();
        assert!(handed.began <= seen.join().unwrap());
    }
}
