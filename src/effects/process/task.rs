//! A job that runs, as `evolve` sees it: what it is told, and what is told of it.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::link::{Handed, Link};
use super::message::Report;
use super::output::Streams;

/// A job that the supervising process has taken over.
#[derive(Debug)]
pub struct Task {
    /// The line it was handed over on.
    pub link: Arc<Link>,
    socket: UnixStream,
    inbox: Vec<u8>,
    /// Its standard input, if it has any.
    pub stdin: Option<Sender>,
}

impl Task {
    /// Takes up the ends of a job's streams and socket; returns what is still to be said on the latter.
    pub fn of((link, handed): (Arc<Link>, Handed)) -> io::Result<(Task, Streams, Vec<u8>)> {
        let task = Task {
            link,
            socket: UnixStream::from_std(handed.socket)?,
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
            match self.socket.read_buf(&mut self.inbox).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Returns the next report, if it has come in.
    pub fn heard(&mut self) -> Option<Report> {
        Report::take(&mut self.inbox)
    }

    /// Says something. Whoever does not hear it is gone, which the next look at its answers tells.
    pub async fn say(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes).await;
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
