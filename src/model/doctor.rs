//! What `evolve doctor` finds: each thing that a run needs, whether it is in order, and what to do where it is not. What was
//! seen comes in, findings go out. Pure.

mod agents;
mod login;
mod machine;
mod path;
mod repository;

use serde::Serialize;

use crate::error::Error;
use crate::model::snapshot::FORMAT;

pub use agents::{AgentSeen, AgentsSeen, agents};
pub use login::{Login, Traces, traces_of};
pub use machine::{Folder, GitSeen, Kills, Room, disk, folders, git, identity, kill, sandbox};
pub use path::{CRON, Need, SYSTEMD, Scheduler, Unfound, paths, unfound, unheard};
pub use repository::{RepositorySeen, goals, repository, stuck, unignored};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// In order.
    Ok,
    /// Worth knowing; the loop runs all the same.
    Note,
    /// The loop could not run.
    Problem,
}

impl Level {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Problem => "problem",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// The program `git`.
    Git,
    /// Whose the commits would be.
    Identity,
    /// The repository and its working tree.
    Repository,
    /// The goals file.
    Goals,
    /// The user's own configuration.
    Config,
    /// The agent programs.
    Agents,
    /// Where programs are looked for, by hand and by schedulers.
    Path,
    /// What may be written.
    Permissions,
    /// Free space.
    Disk,
    /// The kill files.
    Kill,
    /// The stop file.
    Stop,
    /// Another session.
    Lock,
    /// What can hold an agent back.
    Sandbox,
}

impl About {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            About::Git => "git",
            About::Identity => "identity",
            About::Repository => "repository",
            About::Goals => "goals",
            About::Config => "config",
            About::Agents => "agents",
            About::Path => "path",
            About::Permissions => "permissions",
            About::Disk => "disk",
            About::Kill => "kill",
            About::Stop => "stop",
            About::Lock => "lock",
            About::Sandbox => "sandbox",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub about: About,
    /// How much it matters.
    pub level: Level,
    /// What was found.
    pub message: String,
    /// What to do, a line each.
    pub hints: Vec<String>,
}

impl Finding {
    /// Makes a finding that all is in order.
    pub fn ok(about: About, message: impl Into<String>) -> Finding {
        Finding::new(about, Level::Ok, message)
    }

    /// Makes a finding that is worth knowing.
    pub fn note(about: About, message: impl Into<String>) -> Finding {
        Finding::new(about, Level::Note, message)
    }

    /// Makes a finding that keeps the loop from running.
    pub fn problem(about: About, message: impl Into<String>) -> Finding {
        Finding::new(about, Level::Problem, message)
    }

    /// Makes a problem of the error that a run would end with.
    pub fn of_error(about: About, error: &Error) -> Finding {
        Finding {
            hints: error.hints.clone(),
            ..Finding::problem(about, error.message.clone())
        }
    }

    /// Makes a finding of what took too long to be told.
    pub fn untold(about: About, level: Level) -> Finding {
        let message = format!("could not be looked at within {LOOK_SECONDS} s");
        Finding::new(about, level, message).hint(
            "a disk, a network file system or a program that git runs does not answer; look at what hangs",
        )
    }

    fn new(about: About, level: Level, message: impl Into<String>) -> Finding {
        Finding {
            about,
            level,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Finding {
        self.hints.push(hint.into());
        self
    }
}

/// How long git, and whatever is only looked at, may take, in seconds.
pub const LOOK_SECONDS: u64 = 10;
/// How long any other program may take to answer, in seconds.
pub const ANSWER_SECONDS: u64 = 2;

/// What a program that was asked something came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It ended well, having said this.
    Said(String),
    /// It did not, with the reason.
    Failed(String),
    /// It had not answered when its time was over.
    Silent,
}

/// All that `evolve doctor` tells.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Version of the format.
    pub format: u32,
    /// The version of `evolve`.
    pub version: &'static str,
    /// Where it looked.
    pub folder: String,
    /// The loop could run here now.
    pub can_run: bool,
    /// Everything that was looked at.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Draws the conclusion of all findings.
    pub fn new(folder: String, findings: Vec<Finding>) -> Diagnosis {
        Diagnosis {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            folder,
            can_run: findings.iter().all(|one| one.level != Level::Problem),
            findings,
        }
    }

    /// Returns how many findings are of this level.
    pub fn count(&self, level: Level) -> usize {
        let of_level = |one: &&Finding| one.level == level;
        self.findings.iter().filter(of_level).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_keeps_the_loop_from_running_and_notes_do_not() {
        let note = Finding::note(About::Disk, "little");
        let diagnosis = |findings| Diagnosis::new("/r".to_owned(), findings);
        assert!(diagnosis(vec![note.clone()]).can_run);
        let problem = Finding::problem(About::Kill, "there");
        let both = diagnosis(vec![note, problem]);
        assert!(!both.can_run);
        assert_eq!((both.count(Level::Note), both.count(Level::Ok)), (1, 0));
    }
}
