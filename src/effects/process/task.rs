//! A job that runs, as `evolve` sees it: what it is told, and what is told of it.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::lanes::{Handed, Line};
use super::link;
use super::message::Report;
use super::output::Streams;
use super::pulse::Pulse;

/// How long is waited for room for the rest of a request: only one of over a hundred thousand bytes has to wait.
pub const ROOM: Duration = Duration::from_millis(1);

/// A job that the supervising process has taken over.
#[derive(Debug)]
pub struct Task {
    /// What it was handed over on, and what ends it.
    pub line: Line,
    socket: AsyncFd<UnixStream>,
    inbox: Vec<u8>,
    /// Its standard input, if it has any.
    pub stdin: Option<Sender>,
}

impl Task {
    /// Takes up the ends of a job's streams and lane; returns what is still to be said on the latter.
    pub fn of(handed: Handed) -> io::Result<(Task, Streams, Vec<u8>)> {
        let task = Task {
            line: handed.line,
            socket: handed.socket.listened()?,
            inbox: Vec::new(),
            stdin: handed.stdin.map(Sender::from_owned_fd).transpose()?,
        };
        let streams = Streams {
            stdout: Receiver::from_owned_fd(handed.stdout)?,
            stderr: handed.stderr.map(Receiver::from_owned_fd).transpose()?,
        };
        Ok((task, streams, handed.unsaid))
    }

    /// Waits for the next report; none if there will be no other. May be dropped and called again.
    pub async fn report(&mut self) -> Option<Report> {
        loop {
            if let Some(report) = self.heard() {
                return Some(report);
            }
            let mut ready = self.socket.readable().await.ok()?;
            let mut piece = [0; 256];
            match ready.try_io(|socket| socket.get_ref().read(&mut piece)) {
                Ok(Ok(0)) => return None,
                Ok(Ok(count)) => self.inbox.extend_from_slice(&piece[..count]),
                Ok(Err(cause)) if cause.kind() == ErrorKind::Interrupted => {}
                Ok(Err(_)) => return None,
                // It was not ready after all.
                Err(_) => {}
            }
        }
    }

    /// Returns the next report, if it has come in.
    pub fn heard(&mut self) -> Option<Report> {
        self.line.take(&mut self.inbox)
    }

    /// Says the rest of its request, unless that is given up by who judges the silence of the one that does not read it; says
    /// whether it was said.
    pub async fn say(&self, rest: &[u8], mut is_lost: impl FnMut(&mut Pulse) -> bool) -> bool {
        let mut saying = Saying::of(rest);
        while !saying.is_said(self.socket.get_ref()) {
            if is_lost(&mut saying.pulse) {
                return false;
            }
            tokio::time::sleep(ROOM).await;
        }
        true
    }

    /// Gives back what it was handed over on.
    pub fn end(self) {
        self.line.free(self.socket.into(), &self.inbox);
    }
}

/// The rest of a request that is being said.
#[derive(Debug)]
pub struct Saying<'a> {
    rest: &'a [u8],
    /// When some of it was taken in last.
    pub pulse: Pulse,
}

impl Saying<'_> {
    /// Begins to say this.
    pub fn of(rest: &[u8]) -> Saying<'_> {
        Saying {
            rest,
            pulse: Pulse::from(Instant::now()),
        }
    }

    /// Says as much as there is room for; says whether nothing is left to be said. Whoever does not hear it is gone, which the next
    /// look at its answers tells.
    pub fn is_said(&mut self, socket: impl AsFd) -> bool {
        while !self.rest.is_empty() {
            match link::send(&socket, self.rest, &[]) {
                Ok(count) => {
                    self.rest = &self.rest[count..];
                    self.pulse.heard(Instant::now());
                }
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return false,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
        }
        true
    }
}

/// Writes the input in the background, so that a program that never reads does not hold anybody up.
pub fn feed((mut stdin, input): (Sender, Vec<u8>)) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        // A program that closes its input early is its own business.
        let written = stdin.write_all(&input).await;
        let broken = written.err();
        if let Some(cause) = broken.filter(|cause| cause.kind() != io::ErrorKind::BrokenPipe) {
            tracing::warn!("a program was given only a part of its input: {cause}");
        }
        let _ = stdin.shutdown().await;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_nobody_takes_in_holds_nobody_up_and_one_that_is_read_is_said_to_its_end() {
        let (socket, mut reader) = UnixStream::pair().unwrap();
        let request = vec![b'x'; 1024 * 1024];
        let mut saying = Saying::of(&request);
        assert!(!saying.is_said(&socket));
        assert!(!saying.is_said(&socket));
        let mut taken = 0;
        while !saying.is_said(&socket) {
            taken += reader.read(&mut [0; 4096]).unwrap();
        }
        drop(socket);
        taken += reader.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(taken, request.len());
    }

    #[test]
    fn one_who_is_gone_is_told_no_more() {
        let (socket, reader) = UnixStream::pair().unwrap();
        drop(reader);
        assert!(Saying::of(b"request").is_said(&socket));
    }
}
