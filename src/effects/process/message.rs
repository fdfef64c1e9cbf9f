//! What `evolve` and its supervising process say to each other, and how it stands on the wire.
//!
//! The one socket that both always have carries words (`Word`), some with a descriptor. A lane is a socket of its own, on
//! which one job runs after another: its request with its descriptors, and in return how it went. `Report::Gone` is the last
//! of a job; then the lane is free for the next. Orders do not go by the lane, where nobody listens while a job runs.

use std::ffi::{CStr, CString};
use std::time::Duration;

use super::Ending;

/// Names one job: its lane, and which of that lane's jobs it is, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobId {
    /// The lane's number.
    pub lane: u32,
    /// Which of its jobs.
    pub turn: u32,
}

/// What is said on the common socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A descriptor to be kept open until nothing is left of any job: the lock.
    Hold,
    /// A lane of this number, whose socket comes along.
    Lane(u32),
    /// What is wanted of a job. It may come before the lane has read the job's request.
    Order(JobId, Order),
}

impl Word {
    /// How many bytes a word has.
    pub const LENGTH: usize = 13;

    /// Returns it as bytes: what it is, lane, turn, and a time.
    pub fn to_bytes(self) -> [u8; Word::LENGTH] {
        let (word, lane, turn, time) = match self {
            Word::Hold => (b'H', 0, 0, 0),
            Word::Lane(lane) => (b'L', lane, 0, 0),
            Word::Order(JobId { lane, turn }, order) => {
                let (word, time) = match order {
                    Order::End(grace) => (b'T', grace),
                    Order::Sweep => (b'S', 0),
                    Order::Answer => (b'A', 0),
                };
                (word, lane, turn, time)
            }
        };
        let mut bytes = [word; Word::LENGTH];
        bytes[1..5].copy_from_slice(&u32::to_le_bytes(lane));
        bytes[5..9].copy_from_slice(&u32::to_le_bytes(turn));
        bytes[9..].copy_from_slice(&u32::to_le_bytes(time));
        bytes
    }

    /// Takes a word off the front of what has come in; none until it is whole.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Word> {
        let (lane, turn, time) = (number(bytes, 1)?, number(bytes, 5)?, number(bytes, 9)?);
        let job = JobId { lane, turn };
        let word = match bytes[0] {
            b'H' => Word::Hold,
            b'L' => Word::Lane(lane),
            b'T' => Word::Order(job, Order::End(time)),
            b'A' => Word::Order(job, Order::Answer),
            _ => Word::Order(job, Order::Sweep),
        };
        bytes.drain(..Word::LENGTH);
        Some(word)
    }
}

/// What is to be started: a program in the words of `execve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Which of its lane's jobs it is.
    pub turn: u32,
    /// It has input: the first of its descriptors, before its stdout.
    pub has_stdin: bool,
    /// Its stderr is not its stdout: the last of its descriptors.
    pub has_stderr: bool,
    /// Program and arguments.
    pub argv: Vec<CString>,
    /// Its own variables as `NAME=value`; the first is its mark.
    pub env: Vec<CString>,
    /// Where it runs; empty for where the supervising process was started.
    pub folder: CString,
    /// How many milliseconds it is given if nobody ends it: `evolve` does, unless it was stopped.
    pub limit: u32,
}

impl Request {
    /// How many descriptors a request may have.
    pub const FILES: usize = 3;

    /// Returns it as bytes: their number, two counts, its time, its turn, which descriptors it has, then the strings, each with
    /// its NUL.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        put(&mut bytes, self.argv.len());
        put(&mut bytes, self.env.len());
        bytes.extend_from_slice(&self.limit.to_le_bytes());
        bytes.extend_from_slice(&self.turn.to_le_bytes());
        bytes.push(u8::from(self.has_stdin) | u8::from(self.has_stderr) << 1);
        bytes.extend_from_slice(self.folder.to_bytes_with_nul());
        for text in self.argv.iter().chain(&self.env) {
            bytes.extend_from_slice(text.to_bytes_with_nul());
        }
        let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// Takes a request off the front of what has come in; none until it is whole.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Request> {
        let length = number(bytes, 0)? as usize + 4;
        if bytes.len() < length {
            return None;
        }
        let rest = bytes.split_off(length);
        let whole = std::mem::replace(bytes, rest);
        let (argc, envc) = (number(&whole, 4)? as usize, number(&whole, 8)? as usize);
        let (limit, turn) = (number(&whole, 12)?, number(&whole, 16)?);
        let files = *whole.get(20)?;
        let strings = whole[21..].split_inclusive(|byte| *byte == 0);
        let string = |bytes| CStr::from_bytes_with_nul(bytes).map(CStr::to_owned).ok();
        let mut strings = strings.map_while(string);
        Some(Request {
            turn,
            has_stdin: files & 1 != 0,
            has_stderr: files & 2 != 0,
            folder: strings.next()?,
            argv: strings.by_ref().take(argc).collect(),
            env: strings.take(envc).collect(),
            limit,
        })
    }
}

/// What `evolve` wants of a job that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It shall end: asked first, killed after so many milliseconds.
    End(u32),
    /// Its program has ended; what else is left of it shall be killed.
    Sweep,
    /// A sign of life is wanted.
    Answer,
}

impl Order {
    /// Returns the order to end within this time.
    pub fn end_within(grace: Duration) -> Order {
        Order::End(u32::try_from(grace.as_millis()).unwrap_or(u32::MAX))
    }
}

/// What the supervising process tells of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Its program has ended or was never started. More of it may be left.
    Ended(Ending),
    /// Nothing is left of it but these, which cannot be ended. The last word.
    Gone(Vec<u32>),
    /// The supervising process is at work.
    Here,
}

impl Report {
    /// Returns it as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Report::Ended(Ending::Signalled(number)) => {
                bytes.push(b'K');
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Report::Ended(Ending::NotStarted(why)) => {
                bytes.push(b'F');
                put(&mut bytes, why.len());
                bytes.extend_from_slice(why.as_bytes());
            }
            Report::Ended(Ending::Exited(code)) => {
                bytes.push(b'E');
                bytes.extend_from_slice(&code.to_le_bytes());
            }
            Report::Ended(ending @ (Ending::TimedOut | Ending::Idle | Ending::Stopped)) => {
                unreachable!("BUG: only evolve itself knows that a job has {ending:?}")
            }
            Report::Here => bytes.extend_from_slice(b"H\0\0\0\0"),
            Report::Gone(left) => {
                bytes.push(b'G');
                put(&mut bytes, left.len());
                for pid in left {
                    bytes.extend_from_slice(&pid.to_le_bytes());
                }
            }
        }
        bytes
    }

    /// Takes a report off the front of what has come in.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Report> {
        let value = number(bytes, 1)?;
        let signed = i32::from_le_bytes(value.to_le_bytes());
        let (report, length) = match bytes[0] {
            b'E' => (Report::Ended(Ending::Exited(signed)), 5),
            b'K' => (Report::Ended(Ending::Signalled(signed)), 5),
            b'H' => (Report::Here, 5),
            b'F' => {
                let end = 5 + value as usize;
                let why = String::from_utf8_lossy(bytes.get(5..end)?).into_owned();
                (Report::Ended(Ending::NotStarted(why)), end)
            }
            _ => {
                let pids = (0..value as usize).map(|index| number(bytes, 5 + 4 * index));
                let pids: Vec<u32> = pids.collect::<Option<_>>()?;
                let length = 5 + 4 * pids.len();
                (Report::Gone(pids), length)
            }
        };
        bytes.drain(..length);
        Some(report)
    }
}

fn put(bytes: &mut Vec<u8>, count: usize) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&count.to_le_bytes());
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<CString> {
        texts
            .iter()
            .map(|text| CString::new(*text).unwrap())
            .collect()
    }

    #[test]
    fn a_request_is_read_once_it_is_whole_and_what_follows_stays() {
        let request = Request {
            turn: 7,
            has_stdin: false,
            has_stderr: true,
            argv: words(&["sh", "-c", ""]),
            env: words(&["MARK=1", "A="]),
            folder: CString::new("/tmp").unwrap(),
            limit: 600_000,
        };
        let whole = request.to_bytes();
        for length in 0..whole.len() {
            assert_eq!(Request::take(&mut whole[..length].to_vec()), None);
        }
        let mut inbox = [whole.as_slice(), b"rest"].concat();
        assert_eq!(Request::take(&mut inbox), Some(request));
        assert_eq!(inbox, b"rest");
    }

    #[test]
    fn words_and_reports_are_read_as_they_were_said() {
        let job = JobId {
            lane: 1,
            turn: 70_000,
        };
        for word in [
            Word::Hold,
            Word::Lane(300),
            Word::Order(job, Order::End(10_000)),
            Word::Order(job, Order::Sweep),
            Word::Order(job, Order::Answer),
        ] {
            let bytes = word.to_bytes();
            assert_eq!(Word::take(&mut bytes[..Word::LENGTH - 1].to_vec()), None);
            let mut twice = bytes.repeat(2);
            assert_eq!(Word::take(&mut twice), Some(word));
            assert_eq!(Word::take(&mut twice), Some(word));
            assert!(twice.is_empty());
        }
        for report in [
            Report::Ended(Ending::Exited(-1)),
            Report::Ended(Ending::Signalled(9)),
            Report::Ended(Ending::NotStarted("no such file".to_owned())),
            Report::Gone(vec![]),
            Report::Gone(vec![1, 4_000_000]),
            Report::Here,
        ] {
            let bytes = report.to_bytes();
            for length in 0..bytes.len() {
                assert_eq!(Report::take(&mut bytes[..length].to_vec()), None);
            }
            let mut twice = bytes.repeat(2);
            assert_eq!(Report::take(&mut twice), Some(report.clone()));
            assert_eq!(Report::take(&mut twice), Some(report));
            assert!(twice.is_empty());
        }
    }
}
