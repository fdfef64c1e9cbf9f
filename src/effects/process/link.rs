//! `evolve`'s end of the line to its supervising process: starting that process, and what is to be done when it is gone.

use std::collections::HashSet;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, kill};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};

use super::free::Lanes;
use super::message::{JobId, Order, Request, Word};
use super::spawn::{self, Environment, Program};
use crate::effects::proc_table::{self, Children};

use super::{SUPERVISE, SWEEP_LIMIT, Watched, tree};

/// How long the supervising process is waited for when nothing is to be done any more.
const FAREWELL: Duration = Duration::from_secs(1);

/// How often it is looked whether something has ended.
const POLL: Duration = Duration::from_millis(2);

/// The line to a supervising process.
#[derive(Debug)]
pub struct Link {
    common: UnixStream,
    /// The supervising process, a child of this one.
    pub pid: u32,
    /// Its status was taken or is about to be, so that the pid may be anybody's.
    is_ended: AtomicBool,
    /// Orders that found no place on the common socket.
    unsaid: Mutex<Vec<(JobId, Order)>>,
    /// What could not be ended when it was buried.
    left: OnceLock<Vec<u32>>,
    /// Where jobs are handed over.
    pub lanes: Lanes,
}

impl Link {
    /// Starts a supervising process.
    ///
    /// It looks for the kill files as well: `evolve` itself may be stopped.
    pub fn start(environment: &Environment, watched: &Watched) -> io::Result<Link> {
        let (common, theirs) = UnixStream::pair()?;
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let file = own_file()?;
        let mut argv = vec![c"evolve".to_owned(), CString::new(SUPERVISE)?];
        for argument in watched.to_arguments() {
            argv.push(spawn::text(argument.as_bytes(), "a watched file's path")?);
        }
        let program = Program {
            file: &file,
            argv: &argv,
            env: &environment.with(&[]),
        };
        // From its first moment on nothing but SIGKILL reaches it.
        let files = [theirs.as_fd(), nothing.as_fd(), nothing.as_fd()];
        let pid = spawn::spawn(program, files, &SigSet::all())?;
        Ok(Link {
            common,
            pid,
            is_ended: AtomicBool::new(false),
            unsaid: Mutex::default(),
            left: OnceLock::new(),
            lanes: Lanes::default(),
        })
    }

    /// Has the supervising process keep something open until nothing is left of any job.
    pub fn hold(&self, file: impl AsFd) -> io::Result<()> {
        self.say(Word::Hold, &[file.as_fd()])
    }

    /// Says a word, with descriptors, if any. It is not waited for whoever does not listen: a word that finds no place is lost,
    /// which is an error.
    pub fn say(&self, word: Word, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        send(&self.common, &word.to_bytes(), files)?;
        Ok(())
    }

    /// Says what is wanted of a job. What finds no place, as many jobs are ended at once, is said before the next order of any
    /// job, or when it is caught up with. Whoever does not hear it is gone or stopped, which the next look at the answers tells.
    pub fn order(&self, job: JobId, order: Order) {
        self.unsaid().push((job, order));
        self.catch_up();
    }

    /// Says what found no place. A sign of life is asked for again and again while a job is to end, and needs no second try.
    pub fn catch_up(&self) {
        let mut unsaid = self.unsaid();
        let is_said =
            |(job, order): &&(JobId, Order)| self.say(Word::Order(*job, *order), &[]).is_ok();
        let said = unsaid.iter().take_while(is_said).count();
        unsaid.drain(..said);
        unsaid.retain(|(_, order)| *order != Order::Answer);
    }

    fn unsaid(&self) -> MutexGuard<'_, Vec<(JobId, Order)>> {
        self.unsaid
            .lock()
            .expect("BUG: a holder of the lock panicked")
    }

    /// Says whether the supervising process is gone. Its end closes the common socket before any lane.
    pub fn is_hung_up(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match recv(&self.common, &mut [0][..], flags) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
            Ok(_) | Err(_) => true,
        }
    }

    /// Has everything killed, and waits a moment until it is.
    pub fn close(&self) {
        if self.is_ended.load(Ordering::SeqCst) {
            return;
        }
        let _ = self.common.shutdown(Shutdown::Write);
        let _ = self.common.set_read_timeout(Some(FAREWELL));
        // It says nothing on this socket; its end is the end of the process.
        if !matches!((&self.common).read(&mut [0]), Ok(0)) {
            return;
        }
        self.is_ended.store(true, Ordering::SeqCst);
        let until = Instant::now() + FAREWELL;
        // Its status is nobody's to take as long as it is traced.
        while !tree::has_been_reaped(self.pid) && Instant::now() < until {
            std::thread::sleep(POLL);
        }
    }

    /// Has the supervising process go on if it was stopped; says whether it was.
    pub fn wake(&self) -> bool {
        let is_stopped = !self.is_ended.load(Ordering::SeqCst) && proc_table::is_stopped(self.pid);
        if is_stopped {
            // Its status was not taken, so that the pid is its own.
            let _ = kill(tree::nix_pid(self.pid), Signal::SIGCONT);
        }
        is_stopped
    }

    /// Ends a supervising process that is dead or does not answer, and everything that is orphaned by that. What could not be
    /// ended is left, the supervising process included: what it has is out of reach then.
    pub fn bury(&self, children: &Children, bystanders: &HashSet<u32>) {
        if !self.is_ended.swap(true, Ordering::SeqCst) {
            let _ = kill(tree::nix_pid(self.pid), Signal::SIGKILL);
        }
        let until = Instant::now() + SWEEP_LIMIT;
        loop {
            // Asked first: what it had is here once it has ended. Nobody may ever take its status, where it is traced.
            let has_ended = tree::has_been_reaped(self.pid) || proc_table::has_ended(self.pid);
            let mut left = tree::kill_orphans(children, bystanders, |pid| pid != self.pid);
            if !has_ended {
                left.pids.push(self.pid);
            }
            if left.is_nobody() || Instant::now() >= until {
                let _ = self.left.set(left.names());
                return;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Returns what was left when the supervising process was buried.
    pub fn left(&self) -> Vec<u32> {
        self.left.get().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
impl Link {
    /// A line to no process.
    pub fn over(common: UnixStream) -> Link {
        Link {
            common,
            pid: std::process::id(),
            is_ended: AtomicBool::new(true),
            unsaid: Mutex::default(),
            left: OnceLock::new(),
            lanes: Lanes::default(),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

/// Sends bytes with descriptors, as far as there is room; returns how many.
pub fn send(socket: impl AsFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(Request::FILES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(files));
        debug_assert!(fits, "BUG: more descriptors than a message holds");
    }
    let flags = SendFlags::DONTWAIT;
    Ok(sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut ancillary,
        flags,
    )?)
}

/// Returns the file of this very program, be it replaced or removed meanwhile.
fn own_file() -> io::Result<CString> {
    if cfg!(target_os = "linux") {
        return Ok(c"/proc/self/exe".to_owned());
    }
    let file = std::env::current_exe()?;
    spawn::text(file.as_os_str().as_bytes(), "the program's path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_found_no_place_is_said_later_though_its_job_has_nobody_any_more() {
        let (common, mut reader) = UnixStream::pair().unwrap();
        let link = Link::over(common);
        let job = JobId { lane: 1, turn: 1 };
        let mut room = 0;
        while link.say(Word::Hold, &[]).is_ok() {
            room += Word::LENGTH;
        }
        link.order(job, Order::Sweep);
        link.order(job, Order::Answer);
        reader.read_exact(&mut vec![0; room]).unwrap();
        link.catch_up();
        drop(link);
        let mut said = Vec::new();
        reader.read_to_end(&mut said).unwrap();
        assert_eq!(Word::take(&mut said), Some(Word::Order(job, Order::Sweep)));
        assert!(said.is_empty());
    }
}
