//! A job that runs, as `evolve` sees it: what it is told, and what is told of it.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::lanes::{Handed, Line};
use super::link;
use super::message::Report;
use super::output::Streams;

/// How long is waited for room for the rest of a request: only one of over a hundred thousand bytes has to wait.
const ROOM: Duration = Duration::from_millis(1);

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

    /// Says the rest of its request. Whoever does not hear it is gone, which the next look at its answers tells.
    pub async fn say(&self, mut rest: &[u8]) {
        while !rest.is_empty() {
            match link::send(self.socket.get_ref(), rest, &[]) {
                Ok(count) => rest = &rest[count..],
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => {
                    tokio::time::sleep(ROOM).await;
                }
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Gives back what it was handed over on.
    pub fn end(self) {
        self.line.free(self.socket.into(), &self.inbox);
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
