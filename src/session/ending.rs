//! Why a cycle is cut short, and why a session ends.

use std::fmt;
use std::path::PathBuf;

use crate::effects::clock;
use crate::effects::repo::Repo;
use crate::effects::stop::{self, Halt};
use crate::error::Error;
use crate::model::gate::Suspect;
use crate::model::ledger as names;
use crate::model::lent::Led;
use crate::model::mask;
use crate::model::record::{Record, START_IS_GONE};
use crate::model::select::Stuck;
use crate::model::snapshot::Snapshot;
use crate::model::unrecorded::Unrecorded;

/// Why a cycle was cut short.
#[derive(Clone, Debug)]
pub enum Cut {
    /// Something outside ended everything.
    Halt(Halt),
    /// `evolve` or the machine failed.
    Failed(Error),
    /// A slot could not be made ready to measure in, and why.
    Unprepared(Unready),
    /// It ended in good order while there was something to wait for.
    Over(Ending),
}

/// Why a slot could not be made ready.
#[derive(Clone, Debug)]
pub struct Unready {
    /// In words.
    pub why: String,
    /// What is to blame.
    pub by: Blamed,
}

/// What keeps a slot from being made ready.
#[derive(Clone, Debug)]
pub enum Blamed {
    /// The command, which has this log.
    Command(PathBuf),
    /// Something that it is lent; this can be done instead.
    Lent(String),
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Blamed::Command(log) => write!(f, "{}; see {}", self.why, log.display()),
            Blamed::Lent(_) => f.write_str(&self.why),
        }
    }
}

impl From<Led> for Unready {
    fn from(led: Led) -> Unready {
        Unready {
            why: led.words(),
            by: Blamed::Lent(led.way_out()),
        }
    }
}

impl Unready {
    /// Returns the error of a run that it ends.
    pub fn error(&self) -> Error {
        let hint = match &self.by {
            Blamed::Command(_) => "mend the command, or what it needs: `prepare`",
            Blamed::Lent(way_out) => way_out,
        };
        Error::usage(self.to_string()).hint(hint)
    }
}

impl From<Unready> for String {
    fn from(unready: Unready) -> String {
        unready.to_string()
    }
}

impl Cut {
    /// Says why, for the record.
    pub fn reason(&self) -> String {
        match self {
            Cut::Halt(halt) => halt.reason(),
            Cut::Failed(error) => format!("evolve failed: {}", error.message),
            Cut::Unprepared(unready) => unready.to_string(),
            Cut::Over(ending) => ending.reason.clone(),
        }
    }
}

impl From<Error> for Cut {
    fn from(error: Error) -> Cut {
        Cut::Failed(error)
    }
}

impl From<Halt> for Cut {
    fn from(halt: Halt) -> Cut {
        Cut::Halt(halt)
    }
}

/// The word for an ending that asks for a person.
const HUMAN_NEEDED: &str = "human-needed";
/// The word for an ending in an error.
const FAILED: &str = "failed";

/// Why a session ends.
#[derive(Clone, Debug)]
pub struct Ending {
    /// One word for it.
    pub word: &'static str,
    /// In words.
    pub reason: String,
    /// The exit code that follows.
    pub exit_code: u8,
    /// The goals that wait for a person.
    pub stuck: Vec<Stuck>,
}

impl Ending {
    /// An ending in good order.
    pub fn fine(word: &'static str, reason: impl Into<String>) -> Ending {
        Ending {
            word,
            reason: reason.into(),
            exit_code: 0,
            stuck: Vec::new(),
        }
    }

    /// An ending that asks for a person (exit 11).
    pub fn human_needed(reason: impl Into<String>, stuck: Vec<Stuck>) -> Ending {
        let exit_code = crate::error::Kind::Human.exit_code();
        Ending {
            word: HUMAN_NEEDED,
            reason: reason.into(),
            exit_code,
            stuck,
        }
    }

    /// An ending in an error.
    pub fn failed(exit_code: u8, reason: impl Into<String>) -> Ending {
        Ending {
            exit_code,
            ..Ending::fine(FAILED, reason)
        }
    }

    /// Says whether a person has to see to what ended the session, before another one gets further.
    pub fn is_for_a_person(&self) -> bool {
        matches!(self.word, HUMAN_NEEDED | FAILED)
    }

    /// The note of this ending where the session recorded nothing after this cycle.
    pub fn unrecorded(
        &self,
        session: &str,
        after_cycle: u64,
        measured: Option<Snapshot>,
    ) -> Unrecorded {
        Unrecorded {
            session: session.to_owned(),
            after_cycle,
            ended_at: clock::timestamp(),
            ending: self.word.to_owned(),
            reason: mask::secrets(&self.reason),
            is_asking: self.is_for_a_person(),
            by_goals: !self.stuck.is_empty(),
            measured,
        }
    }

    /// An ending because somebody else's commits are in the way of an undo (exit 11). Where they took the cycle's start out of the
    /// branch, no log of it shows that: then the way back is named.
    pub fn somebody_else(record: &Record, suspect: Suspect) -> Ending {
        let reason = record.reason.as_deref().unwrap_or_default();
        let back = match record.kept_start() {
            Some(kept) => format!("; {START_IS_GONE}: {kept}"),
            None => String::new(),
        };
        let way_out = "nothing was judged or undone: look at `git log` and `git status`, keep or take back what is there, then run evolve again";
        let more = match suspect {
            Suspect::Nobody => "",
            Suspect::Agent => {
                "; if the agent made these commits, let it hand GIT_REFLOG_ACTION on to its git, leave committing to evolve, or work in a copy of its own (--isolate)"
            }
            Suspect::Check => "; if a check made them, it has to stop that",
        };
        Ending::human_needed(format!("{reason} — {way_out}{back}{more}"), Vec::new())
    }

    /// The ending that a STOP file asks for. One that git tracks would stop every clone, and is said to be.
    pub fn stopped(repo: &Repo, words: &str) -> Ending {
        let head = repo.head().ok().and_then(|head| head.commit);
        let tree = head.and_then(|head| repo.tree_of(&head).ok());
        let tracked =
            match tree.is_some_and(|tree| repo.has_file(&tree, names::STOP).unwrap_or_default()) {
                true => "; git tracks it, which the next cycle's commit ends",
                false => "",
            };
        let said = match words.is_empty() {
            true => String::new(),
            false => format!(": {words}"),
        };
        let way_past = match stop::stop_file(&repo.root.join(names::STOP)) {
            Some(_) => " — `evolve stop --off` takes it away",
            None => "",
        };
        let file = names::STOP;
        Ending::fine(
            "stopped",
            format!("STOP file {file}{said}{way_past}{tracked}"),
        )
    }

    /// The ending that follows from what ended everything.
    pub fn of_halt(halt: &Halt) -> Ending {
        let reason = halt.reason();
        match halt {
            Halt::Kill(_, words) => Ending::fine(
                "killed",
                format!("{reason} — {}", names::way_past_kill(words)),
            ),
            Halt::MaxTime(_) => Ending::fine("limit", reason),
            Halt::SupervisorLost => {
                Ending::failed(crate::error::Kind::Internal.exit_code(), reason)
            }
            Halt::Now | Halt::Signal(_) => Ending {
                exit_code: halt.error("").kind.exit_code(),
                ..Ending::fine("interrupted", reason)
            },
        }
    }
}
