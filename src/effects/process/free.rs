//! The lanes on which no job runs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Handle, Id};

use super::message::JobId;

/// The lanes on which no job runs. There are as many as jobs ran at once.
#[derive(Debug, Default)]
pub struct Lanes(Mutex<Free>);

#[derive(Debug, Default)]
struct Free {
    lanes: Vec<Lane>,
    /// How many were ever opened.
    opened: u32,
}

/// A lane.
#[derive(Debug)]
pub struct Lane {
    /// The last of its jobs.
    pub job: JobId,
    /// `evolve`'s end of it.
    pub socket: Socket,
}

/// `evolve`'s end of a lane; it does not block.
#[derive(Debug)]
pub enum Socket {
    /// Nobody listens unless asked to.
    Plain(UnixStream),
    /// This runtime listens. It goes on to between jobs: to begin anew would wake it for nothing.
    Listened(AsyncFd<UnixStream>, Id),
}

impl Socket {
    /// Has the runtime at hand listen, and to nothing else: that there is room for more to be said would wake it for each job.
    pub fn listened(self) -> io::Result<AsyncFd<UnixStream>> {
        let socket = match self {
            Socket::Listened(socket, runtime) if runtime == Handle::current().id() => {
                return Ok(socket);
            }
            Socket::Listened(socket, _) => socket.into_inner(),
            Socket::Plain(socket) => socket,
        };
        #[expect(
            deprecated,
            reason = "unsound only for what changes its descriptor, which a UnixStream does not; what replaces it is unsafe"
        )]
        AsyncFd::with_interest(socket, Interest::READABLE)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Plain(socket) => socket.as_fd(),
            Socket::Listened(socket, _) => socket.get_ref().as_fd(),
        }
    }
}

impl From<AsyncFd<UnixStream>> for Socket {
    /// Takes one that the runtime at hand listens to.
    fn from(socket: AsyncFd<UnixStream>) -> Socket {
        Socket::Listened(socket, Handle::current().id())
    }
}

impl Lanes {
    /// Takes a lane, or opens one; then its other end comes along, which the supervising process has to get.
    pub fn take(&self) -> io::Result<(Lane, Option<UnixStream>)> {
        let mut free = self.lock();
        if let Some(lane) = free.lanes.pop() {
            return Ok((lane, None));
        }
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        free.opened += 1;
        let job = JobId {
            lane: free.opened,
            turn: 0,
        };
        let socket = Socket::Plain(socket);
        Ok((Lane { job, socket }, Some(theirs)))
    }

    /// Gives a lane back.
    pub fn give_back(&self, lane: Lane) {
        self.lock().lanes.push(lane);
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.0.lock().expect("BUG: a holder of the lock panicked")
    }
}
