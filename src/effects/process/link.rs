//! `evolve`'s end of the line to its supervising process: starting that process, handing jobs over, and what is to be done
//! when it is gone.

use std::collections::HashSet;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::waitpid;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};

use super::message::{Parcel, Request};
use super::spawn::{self, Environment, Program};
use crate::effects::proc_table::{self, Children};

use super::{Job, MARK, SUPERVISE, SWEEP_LIMIT, Stdout, Watched, tree};

/// How long the supervising process is waited for when nothing is to be done any more.
const FAREWELL: Duration = Duration::from_secs(1);
/// How much longer than its time a job may run before the supervising process ends it by itself.
const OVERTIME: Duration = Duration::from_secs(5);
/// How much of a request certainly fits into a socket that nobody reads yet.
const AT_ONCE: usize = 16 * 1024;

/// The line to a supervising process.
#[derive(Debug)]
pub struct Link {
    common: UnixStream,
    /// The supervising process, a child of this one.
    pub pid: u32,
    /// Its status was taken, so that the pid may be anybody's.
    is_ended: AtomicBool,
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
        })
    }

    /// Has the supervising process keep something open until nothing is left of any job.
    pub fn hold(&self, file: impl AsFd) -> io::Result<()> {
        self.send(Parcel::Hold, &[file.as_fd()])
    }

    fn send(&self, parcel: Parcel, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(files));
        debug_assert!(fits, "BUG: more descriptors than a parcel holds");
        let byte = [parcel.to_byte()];
        let said = [IoSlice::new(&byte)];
        sendmsg(&self.common, &said, &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Says whether the supervising process is gone. Its end closes the common socket before any job's.
    pub fn is_hung_up(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match recv(&self.common, &mut [0][..], flags) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
            Ok(_) | Err(_) => true,
        }
    }

    /// Hands a job over. Returns its socket, the ends of its streams that are read here and written here, and what is still to
    /// be written to the socket.
    pub fn hand_over(&self, job: &Job) -> io::Result<Handed> {
        let request = request(job)?;
        let (mut socket, theirs) = pair()?;
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
        let parcel = Parcel::Job {
            has_stdin: stdin.is_some(),
            has_stderr: stderr.is_some(),
        };
        // Written before it is sent for, so that it is there when the socket arrives.
        let (now, later) = request.split_at(request.len().min(AT_ONCE));
        socket.write_all(now)?;
        let files = [
            Some(theirs.as_fd()),
            from_stdin.as_ref().map(AsFd::as_fd),
            Some(to_stdout.as_fd()),
            to_stderr.as_ref().map(AsFd::as_fd),
        ];
        let files: Vec<_> = files.into_iter().flatten().collect();
        self.send(parcel, &files)?;
        Ok(Handed {
            socket,
            stdin: stdin.map(OwnedFd::from),
            stdout: stdout.into(),
            stderr: stderr.map(OwnedFd::from),
            unsaid: later.to_vec(),
        })
    }

    /// Has everything killed, and waits a moment until it is.
    pub fn close(&self) {
        if self.is_ended.load(Ordering::SeqCst) {
            return;
        }
        let _ = self.common.shutdown(Shutdown::Write);
        let _ = self.common.set_read_timeout(Some(FAREWELL));
        // It says nothing on this socket; its end is the end of the process.
        if matches!((&self.common).read(&mut [0]), Ok(0)) {
            self.is_ended.store(true, Ordering::SeqCst);
            let _ = waitpid(tree::nix_pid(self.pid), None);
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

    /// Ends a supervising process that is dead or does not answer, and everything that was orphaned by that. Returns what
    /// could not be ended.
    pub fn bury(&self, bystanders: &HashSet<u32>) -> Vec<u32> {
        let children = Children::open();
        if !self.is_ended.swap(true, Ordering::SeqCst) {
            let _ = kill(tree::nix_pid(self.pid), Signal::SIGKILL);
            let _ = waitpid(tree::nix_pid(self.pid), None);
        }
        let began = Instant::now();
        loop {
            let left = tree::kill_orphans(&children, bystanders, |_| true);
            if left.is_empty() || began.elapsed() > SWEEP_LIMIT {
                return left;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

/// A job that was handed over.
#[derive(Debug)]
pub struct Handed {
    /// Where the rest is said; it does not block.
    pub socket: UnixStream,
    /// What goes to its standard input, if it has any.
    pub stdin: Option<OwnedFd>,
    /// What it prints.
    pub stdout: OwnedFd,
    /// What it prints on its standard error, unless that is merged into the former.
    pub stderr: Option<OwnedFd>,
    /// The rest of its request.
    pub unsaid: Vec<u8>,
}

/// Returns a pair of sockets on which nobody waits.
#[cfg(target_os = "linux")]
fn pair() -> io::Result<(UnixStream, UnixStream)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    Ok((one.into(), other.into()))
}

#[cfg(not(target_os = "linux"))]
fn pair() -> io::Result<(UnixStream, UnixStream)> {
    let (one, other) = UnixStream::pair()?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((one, other))
}

/// Returns the file of this very program, be it replaced or removed meanwhile.
fn own_file() -> io::Result<CString> {
    if cfg!(target_os = "linux") {
        return Ok(c"/proc/self/exe".to_owned());
    }
    let file = std::env::current_exe()?;
    spawn::text(file.as_os_str().as_bytes(), "the program's path")
}

fn request(job: &Job) -> io::Result<Vec<u8>> {
    let mut env = vec![spawn::entry(MARK.as_ref(), job.mark.as_ref())?];
    for (name, value) in &job.env {
        env.push(spawn::entry(name, value)?);
    }
    let word = |word: &std::ffi::OsString| spawn::text(word.as_bytes(), "the command line");
    let folder = job
        .folder
        .as_deref()
        .map_or(&b""[..], |folder| folder.as_os_str().as_bytes());
    let request = Request {
        argv: job.argv.iter().map(word).collect::<io::Result<_>>()?,
        env,
        folder: spawn::text(folder, "the folder's path")?,
        limit: u32::try_from(job.timeout.saturating_add(OVERTIME).as_millis()).unwrap_or(u32::MAX),
    };
    Ok(request.to_bytes())
}
