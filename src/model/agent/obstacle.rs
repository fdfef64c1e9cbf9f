//! Why an agent cannot run, told apart from an agent that ran and failed. Pure.

use serde::Serialize;

/// An agent that cannot run: the reason, and the words that it has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotRun {
    /// The reason.
    pub kind: Obstacle,
    /// The agent's own words, in one line without secrets; for people, and for the time that it names.
    pub message: String,
}

/// Why an agent cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The program is missing or not executable.
    NotInstalled,
    /// No account or key, or one that is not accepted.
    NotLoggedIn,
    /// The program does not work in this folder until somebody trusts it.
    UntrustedFolder,
    /// It was refused what it needs for its work.
    PermissionRefused,
    /// Too many requests.
    RateLimited,
    /// What the account may use is used up.
    OutOfQuota,
    /// The other side is overloaded, or cannot be reached.
    Overloaded,
}

impl Obstacle {
    /// Says whether waiting may help; otherwise somebody has to do something.
    pub fn passes_with_time(self) -> bool {
        match self {
            Obstacle::RateLimited | Obstacle::OutOfQuota | Obstacle::Overloaded => true,
            Obstacle::NotInstalled
            | Obstacle::NotLoggedIn
            | Obstacle::UntrustedFolder
            | Obstacle::PermissionRefused => false,
        }
    }

    /// Returns the word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Obstacle::NotInstalled => "not-installed",
            Obstacle::NotLoggedIn => "not-logged-in",
            Obstacle::UntrustedFolder => "untrusted-folder",
            Obstacle::PermissionRefused => "permission-refused",
            Obstacle::RateLimited => "rate-limited",
            Obstacle::OutOfQuota => "out-of-quota",
            Obstacle::Overloaded => "overloaded",
        }
    }

    /// Returns the words for people, as in "the agent is …".
    pub fn words(self) -> &'static str {
        match self {
            Obstacle::NotInstalled => "not installed",
            Obstacle::NotLoggedIn => "not logged in",
            Obstacle::UntrustedFolder => "not trusted in this folder",
            Obstacle::PermissionRefused => "refused what it needs",
            Obstacle::RateLimited => "rate limited",
            Obstacle::OutOfQuota => "out of quota",
            Obstacle::Overloaded => "cut off: its service is overloaded or out of reach",
        }
    }
}

/// A rule that recognises an obstacle: all that it states has to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it recognises.
    pub kind: Obstacle,
    /// One of these exit codes.
    pub exit: Vec<i32>,
    /// One of these HTTP statuses.
    pub status: Vec<u16>,
    /// A regular expression for the agent's own words, in any case of letters.
    pub says: Option<String>,
}
