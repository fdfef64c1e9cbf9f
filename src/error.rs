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

/// What to do about an index that is damaged.
pub const INDEX_WAY_OUT: &str = "remove git's index and have git make it anew of HEAD, which leaves your files as they are (what was staged has to be staged again): `rm -f \"$(git rev-parse --git-path index)\" && git reset`";
/// What to do about refs that are.
const REFS_WAY_OUT: &str = "`git fsck` names the refs that are broken; remove such a file below `.git` (in `packed-refs` the line) and put a branch back where the end of `.git/logs/refs/heads/NAME` says that it was: `git update-ref refs/heads/NAME COMMIT`";
/// What to do about the commit of a branch that is.
const TIP_WAY_OUT: &str = "the commit is missing or broken: get it from another clone (`git fetch`), or put the branch back where `.git/logs/refs/heads/NAME` says that it was before: `git update-ref refs/heads/NAME COMMIT`; `git fsck --full` says what else is broken";
/// What to do about objects that are.
pub const OBJECTS_WAY_OUT: &str = "`git fsck --full` names the objects that are missing or broken; remove broken ones below `.git/objects` and get all anew from another clone (`git fetch --refetch`, git 2.36 or later), then run evolve again";

/// What git and libgit2 say of a repository that is damaged, and the way out.
const DAMAGE: [(&str, &str); 19] = [
    ("index file smaller than expected", INDEX_WAY_OUT),
    ("index file corrupt", INDEX_WAY_OUT),
    ("bad index file", INDEX_WAY_OUT),
    ("bad signature 0x", INDEX_WAY_OUT),
    ("cache entry has null sha1", INDEX_WAY_OUT),
    ("invalid data in index", INDEX_WAY_OUT),
    ("corrupted loose reference file", REFS_WAY_OUT),
    ("corrupted packed references file", REFS_WAY_OUT),
    ("unexpected line in", REFS_WAY_OUT),
    ("unterminated line in", REFS_WAY_OUT),
    ("cannot be peeled", TIP_WAY_OUT),
    ("bad object HEAD", TIP_WAY_OUT),
    ("your current branch appears to be broken", REFS_WAY_OUT),
    ("object not found - no match for id", OBJECTS_WAY_OUT),
    ("failed to parse loose object", OBJECTS_WAY_OUT),
    ("unable to read tree", OBJECTS_WAY_OUT),
    ("unable to read sha1 file", OBJECTS_WAY_OUT),
    ("is corrupt", OBJECTS_WAY_OUT),
    ("fatal: Could not read ", OBJECTS_WAY_OUT),
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

    /// Makes it one about the repository, with the way out, where git or libgit2 said that this is damaged and nothing is known that would
    /// be to do about it.
    #[must_use]
    pub fn of_damage(self) -> Error {
        let way_out = DAMAGE
            .iter()
            .find(|(words, _)| self.message.contains(words));
        match way_out {
            Some((_, hint)) if self.hints.is_empty() => {
                let kind = Kind::Unsafe;
                Error { kind, ..self }.hint(*hint)
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_of_a_damaged_repository_is_told_as_that_with_the_way_out() {
        let told = |words: &str| Error::internal(words).advised().of_damage();
        for (words, way_out) in [
            (
                "fatal: .git/index: index file smaller than expected",
                INDEX_WAY_OUT,
            ),
            ("fatal: bad index file sha1 signature", INDEX_WAY_OUT),
            (
                "cannot read HEAD: corrupted loose reference file: refs/heads/main",
                REFS_WAY_OUT,
            ),
            (
                "fatal: unexpected line in .git/packed-refs: junk",
                REFS_WAY_OUT,
            ),
            (
                "the reference 'refs/heads/main' cannot be peeled",
                TIP_WAY_OUT,
            ),
            ("object not found - no match for id (1f)", OBJECTS_WAY_OUT),
            (
                "error: object file .git/objects/1f/2e is empty, loose object 1f2e is corrupt",
                OBJECTS_WAY_OUT,
            ),
        ] {
            let error = told(words);
            assert_eq!(
                (error.kind, &*error.hints[0]),
                (Kind::Unsafe, way_out),
                "{words}"
            );
        }
        // What the machine lacks comes first.
        let error = told("failed to parse loose object: Input/output error");
        assert_eq!((error.kind, error.hints.len()), (Kind::Internal, 1));
        let error = told("fatal: not a tree object");
        assert_eq!((error.kind, error.hints.len()), (Kind::Internal, 0));
    }
}
