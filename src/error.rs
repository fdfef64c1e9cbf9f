//! What went wrong, in the user's words: kind, message, hints, exit code.

use std::fmt;
use std::path::Path;

/// Says who has to act on an error; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `evolve` or the machine failed (1).
    Internal,
    /// The command line or a configuration file is wrong (2).
    Usage,
    /// The repository is in no state to be worked on (3).
    Unsafe,
    /// The agent program cannot run (4).
    Agent,
    /// Another living `evolve` holds the lock (5).
    Locked,
    /// Looked, and found failing (10).
    Failing,
    /// A person has to decide (11).
    Human,
    /// A signal with this number ended it (128 + number).
    Signal(i32),
    /// A KILL file ended it, as was asked for (0).
    Killed,
}

impl Kind {
    /// Returns the process exit code, as the README lists it.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Internal => 1,
            Kind::Usage => 2,
            Kind::Unsafe => 3,
            Kind::Agent => 4,
            Kind::Locked => 5,
            Kind::Failing => 10,
            Kind::Human => 11,
            Kind::Killed => 0,
            Kind::Signal(number) => u8::try_from(128 + number).unwrap_or(1),
        }
    }
}

/// The system's words where a program or file is not this user's.
const DENIED: &str = "Permission denied";

/// How it begins why a program was not started whose log could not be opened: nothing is wrong with the program.
pub const NO_LOG: &str = "its log cannot be written";

/// The system's words, as Rust, libgit2 and git pass them on, and what to do about them.
const ADVICE: [(&str, &str); 9] = [
    (
        "No space left on device",
        "free some space, then run evolve again",
    ),
    (
        // Git's own words for the same.
        "Out of diskspace",
        "free some space, then run evolve again",
    ),
    (
        "Disk quota exceeded",
        "free some space or ask for a larger quota, then run evolve again",
    ),
    (
        "Read-only file system",
        "make the file system writable, then run evolve again",
    ),
    (
        "Too many open files",
        "let it open more files (`ulimit -n`), then run evolve again",
    ),
    (
        "Input/output error",
        "the disk or its connection fails: see the system's log, save what matters, then run evolve again",
    ),
    (
        "Cannot allocate memory",
        "run evolve again when there is more memory",
    ),
    (
        "Resource temporarily unavailable",
        "too many processes run here (`ulimit -u`); run evolve again when there are fewer",
    ),
    (
        DENIED,
        "let the user that runs evolve read and write it, then run evolve again",
    ),
];

/// How it begins where git could not be run, or who supervises it was gone.
pub const NO_GIT: &str = "cannot run git: ";

/// What is said of a git that somebody ended. One that broke down has other signals.
const ENDED: [&str; 2] = ["failed: signal 9", "failed: signal 15"];

/// A place in a file that an error points to, with what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file, as its user would write it.
    pub file: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// How many characters are meant; at least one is marked.
    pub length: usize,
    /// The line as it stands in the file, or the part of it around the place.
    pub text: String,
    /// How many characters of the line stand before that part.
    pub skipped: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Spot {
    /// Returns the place and what is wrong there, in one line.
    pub fn in_words(&self) -> String {
        let Spot {
            file, line, column, ..
        } = self;
        format!("{file}:{line}:{column}: {}", self.message)
    }
}

/// One error: what happened to which thing, then what to do.
#[derive(Clone, Debug)]
pub struct Error {
    /// Who has to act.
    pub kind: Kind,
    /// What happened, to which thing.
    pub message: String,
    /// What to do about it, a line each.
    pub hints: Vec<String>,
    /// The places that it is about; whoever shows them need not show message and hints, which say the same in words.
    pub spots: Vec<Spot>,
}

/// The result type of everything that can fail for a reason the user should read.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Makes an error of `kind` without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            hints: Vec::new(),
            spots: Vec::new(),
        }
    }

    /// Makes an internal or I/O error (exit code 1).
    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(Kind::Internal, message)
    }

    /// Makes a usage or configuration error (exit code 2).
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(Kind::Usage, message)
    }

    /// Makes an error about the state of the repository (exit code 3).
    pub fn unsafe_repo(message: impl Into<String>) -> Error {
        Error::new(Kind::Unsafe, message)
    }

    /// Makes an I/O error that names what was tried and on which path.
    pub fn io(what: &str, path: &Path, cause: impl fmt::Display) -> Error {
        Error::internal(format!("cannot {what} {}: {cause}", path.display())).advised()
    }

    /// Adds what to do about what the system said, where that is known and nothing was said yet.
    #[must_use]
    pub fn advised(self) -> Error {
        let advice = ADVICE
            .iter()
            .find(|(words, _)| self.message.contains(words));
        match advice {
            Some((_, hint)) if self.hints.is_empty() => self.hint(*hint),
            Some(_) | None => self,
        }
    }

    /// Makes an error of what could not be started because the machine had nothing left for it; none if the system's words
    /// say something else, such as that there is no such program.
    pub fn of_shortage(what: &str, words: &str) -> Option<Error> {
        let is_short = |advice: &(&str, &str)| words.contains(advice.0) && advice.0 != DENIED;
        let is_its_own = !words.contains(NO_LOG) && !ADVICE.iter().any(is_short);
        let error = || Error::internal(format!("cannot start {what}: {words}")).advised();
        (!is_its_own).then(error)
    }

    /// Says whether the machine had no room, no descriptors or no memory left for it, or its disk failed.
    pub fn is_shortage(&self) -> bool {
        let is_said = |advice: &(&str, &str)| advice.0 != DENIED && self.message.contains(advice.0);
        ADVICE.iter().any(is_said)
    }

    /// Says whether it tells of the machine and not of what was looked at: of a shortage, of something that the system refused
    /// to have read, written or removed, of a git that could not be run or was ended.
    pub fn is_of_machine(&self) -> bool {
        let is_said = |words: &&str| self.message.contains(*words);
        self.is_shortage() || [DENIED, NO_GIT].iter().chain(&ENDED).any(is_said)
    }

    /// Says whether something outside ended everything.
    pub fn is_halt(&self) -> bool {
        matches!(self.kind, Kind::Signal(_) | Kind::Killed)
    }

    /// Points to places in files.
    #[must_use]
    pub fn at(mut self, spots: Vec<Spot>) -> Error {
        self.spots = spots;
        self
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
