//! The output of a job and where it goes: a bounded log, a bounded tail, and what a reading needs of stdout.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc::UnboundedSender;

use super::{Job, Stdout, TAIL_BYTES};
use crate::effects::files;
use crate::model::mask;

/// How much is read at once.
const PIECE: usize = 8 * 1024;
/// How often in a row, where nobody may print any more: twice what a pipe can hold (`/proc/sys/fs/pipe-max-size`).
const PIECES: usize = 256;

/// What a program prints.
#[derive(Debug)]
pub struct Streams {
    /// Its standard output.
    pub stdout: Receiver,
    /// Its standard error, unless that is merged into the former.
    pub stderr: Option<Receiver>,
}

/// Reads what is there; none at the end of the stream.
async fn read_some<R: AsyncRead + Unpin>(
    stream: &mut Option<R>,
    buffer: &mut [u8],
) -> Option<usize> {
    let count = stream.as_mut()?.read(buffer).await.ok()?;
    (count > 0).then_some(count)
}

/// The output of a job while it runs.
pub struct Output {
    streams: (Option<Receiver>, Option<Receiver>),
    buffers: (Vec<u8>, Vec<u8>),
    log: Option<Log>,
    tail: Tail,
    kept: Kept,
}

impl Output {
    /// Makes place for the output of a job.
    pub fn of(job: &Job) -> std::io::Result<Output> {
        let log = |path: &PathBuf| Log::at(path, job.log_limit);
        Ok(Output {
            streams: (None, None),
            buffers: (vec![0; PIECE], vec![0; PIECE]),
            log: job.log.as_ref().map(log).transpose()?,
            tail: Tail::of(job.tail_limit),
            kept: match &job.stdout {
                Stdout::Merged => Kept::Nothing,
                Stdout::End => Kept::End(Tail::of(TAIL_BYTES)),
                Stdout::Start(limit) => Kept::Start(Vec::new(), *limit),
                Stdout::Sent(reader) | Stdout::SentMerged(reader) => Kept::Sent(reader.clone()),
            },
        })
    }

    /// Starts to listen to the job's program.
    pub fn listen(&mut self, streams: Streams) {
        self.streams = (Some(streams.stdout), streams.stderr);
    }

    /// Returns the end of everything, and what was kept of stdout.
    pub fn into_bytes(self) -> (Vec<u8>, Vec<u8>) {
        (self.tail.into_bytes(), self.kept.into_bytes())
    }

    fn is_open(&self) -> bool {
        self.streams.0.is_some() || self.streams.1.is_some()
    }

    /// Takes in one piece of output; waits for ever once both streams have ended.
    pub async fn read(&mut self) {
        if !self.is_open() {
            return std::future::pending().await;
        }
        let (stdout, stderr) = &mut self.streams;
        let (read, is_stdout) = tokio::select! {
            read = read_some(stdout, &mut self.buffers.0), if stdout.is_some() => (read, true),
            read = read_some(stderr, &mut self.buffers.1), if stderr.is_some() => (read, false),
        };
        match (read, is_stdout) {
            (Some(count), _) => self.take(count, is_stdout),
            (None, true) => self.streams.0 = None,
            (None, false) => self.streams.1 = None,
        }
    }

    /// Reads what is already there. The runtime is not asked: it may not have noticed yet.
    pub fn take_what_is_there(&mut self) {
        for is_stdout in [true, false] {
            for _ in 0..PIECES {
                let (stream, buffer) = match is_stdout {
                    true => (&mut self.streams.0, &mut self.buffers.0),
                    false => (&mut self.streams.1, &mut self.buffers.1),
                };
                let Some(file) = stream else {
                    break;
                };
                match rustix::io::read(&*file, buffer.as_mut_slice()) {
                    Ok(count) if count > 0 => self.take(count, is_stdout),
                    Err(rustix::io::Errno::INTR) => {}
                    Ok(_) | Err(_) => break,
                }
            }
        }
    }

    /// Reads until both streams end or `limit` has passed.
    pub async fn drain(&mut self, limit: Duration) {
        let end = tokio::time::Instant::now() + limit;
        while self.is_open() && tokio::time::timeout_at(end, self.read()).await.is_ok() {}
    }

    fn take(&mut self, count: usize, is_stdout: bool) {
        let bytes = match is_stdout {
            true => &self.buffers.0[..count],
            false => &self.buffers.1[..count],
        };
        self.tail.push(bytes);
        if is_stdout {
            self.kept.push(bytes);
        }
        if let Some(log) = &mut self.log {
            log.write(bytes);
        }
    }
}

/// The log of a job, with what looks like a secret masked. It is made with the first output: most checks that pass say
/// nothing, and making a file for each would cost as much as starting some of them.
struct Log {
    path: PathBuf,
    file: Option<File>,
    room: u64,
    masked: mask::Stream,
}

impl Log {
    /// A log at `path` for so many bytes. It takes the place of an earlier attempt's at once, and of what somebody put there.
    fn at(path: &Path, limit: u64) -> std::io::Result<Log> {
        let is_there = std::fs::symlink_metadata(path).is_ok();
        files::remove_all(path)?;
        Ok(Log {
            path: path.to_owned(),
            file: is_there.then(|| File::create_new(path)).transpose()?,
            room: limit,
            masked: mask::Stream::default(),
        })
    }

    /// Adds bytes, as many as there is room for. A full disk must not end the job; the tail in memory still tells what
    /// happened.
    fn write(&mut self, bytes: &[u8]) {
        // Beyond the limit nothing is written, and masking it would cost time for nothing.
        if self.room > 0 {
            let masked = self.masked.push(bytes);
            self.put(&masked);
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.file.is_none() {
            let _ = self.path.parent().map(std::fs::create_dir_all);
            // A link that the program put there meanwhile would lead elsewhere.
            self.file = File::create_new(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return;
        };
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let fitting = &bytes[..room.min(bytes.len())];
        let _ = file.write_all(fitting);
        self.room -= fitting.len() as u64;
        if !fitting.is_empty() && self.room == 0 {
            let _ =
                file.write_all(b"\n[evolve: the log's limit is reached; the rest is left out]\n");
        }
    }
}

impl Drop for Log {
    /// Writes what stands behind the last end of a line.
    fn drop(&mut self) {
        if self.room > 0 {
            let masked = self.masked.finish();
            self.put(&masked);
        }
    }
}

/// The last bytes of a stream.
struct Tail {
    bytes: Vec<u8>,
    limit: usize,
}

impl Tail {
    fn of(limit: usize) -> Tail {
        Tail {
            bytes: Vec::new(),
            limit,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cutting only when twice as long keeps the cost per byte constant.
        if self.bytes.len() > 2 * self.limit {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..surplus);
    }

    fn into_bytes(mut self) -> Vec<u8> {
        self.cut();
        self.bytes
    }
}

/// What is kept of stdout for reading a value, or who reads it.
enum Kept {
    Nothing,
    Start(Vec<u8>, usize),
    End(Tail),
    Sent(UnboundedSender<Vec<u8>>),
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Kept::Nothing => {}
            Kept::Start(kept, limit) => {
                let fitting = limit.saturating_sub(kept.len()).min(bytes.len());
                kept.extend_from_slice(&bytes[..fitting]);
            }
            Kept::End(tail) => tail.push(bytes),
            // A reader that went away has read enough.
            Kept::Sent(reader) => drop(reader.send(bytes.to_vec())),
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Kept::Nothing | Kept::Sent(_) => Vec::new(),
            Kept::Start(kept, _) => kept,
            Kept::End(tail) => tail.into_bytes(),
        }
    }
}
