//! Why an agent cannot run, told apart from an agent that ran and failed. Pure.

mod general;

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::Format;
use super::words::{Failure, shown};
use crate::model::text;
use general::general;

/// The longest line of an output that can be an error for people, in bytes.
const LONGEST_LINE: usize = 2000;
/// How much of such a line is kept, in characters.
const LINE_CHARS: usize = 500;
/// An end of an output that is as long as this begins within a line.
const CUT_TAIL: usize = 4096;

/// A line that a program prints for its own failure.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:\[?\d{4}-\d\d-\d\d\S*\s+)?(?:(?i:error|fatal|failed)\b|[\w.]*(?:Error|Exception)\b|[✗✖×]|\[API Error|API Error|[\w-]+: (?i:error|fatal)\b)")
        .expect("BUG: the pattern of an error is valid")
});

static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^\s*|\b(?:status(?:[ _]?code)?|http(?:/[\d.]+)?|(?:api |server )?error(?: code)?|code)\W{1,4})([45]\d\d)\b")
        .expect("BUG: the pattern of a status is valid")
});

/// An agent that cannot run: the reason, and the words that it has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotRun {
    /// The reason.
    pub kind: Obstacle,
    /// The agent's own words, in one line without secrets; for people, and for the time that it names. Empty if it said nothing.
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
            Obstacle::NotInstalled => "missing or not executable",
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

impl CannotRun {
    /// Says what somebody can do about it; `agent` is its name.
    pub fn way_out(&self, agent: &str) -> String {
        match self.kind {
            Obstacle::NotInstalled => format!(
                "the agent is `{agent}`; try it by hand, install it, or name another with --agent"
            ),
            Obstacle::NotLoggedIn => format!(
                "log in once by hand: start `{agent}` in a terminal, or set the key that it reads; or name another with --agent"
            ),
            Obstacle::UntrustedFolder => format!(
                "start `{agent}` once by hand in this folder and trust it, or name another with --agent"
            ),
            Obstacle::PermissionRefused => format!(
                "allow `{agent}` what it needs: its arguments are under `agents:` (see the README)"
            ),
            Obstacle::RateLimited | Obstacle::OutOfQuota | Obstacle::Overloaded => {
                format!("run evolve again later, or name another agent than `{agent}` with --agent")
            }
        }
    }
}

impl std::fmt::Display for CannotRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.words())?;
        match self.message.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", self.message),
        }
    }
}

/// How a run ended, in what the agent itself says of it.
#[derive(Debug)]
pub(super) struct Ending<'a> {
    /// What the lines of the output are.
    pub format: Format,
    /// Whether something is known of what the program says.
    pub is_known: bool,
    /// The exit code; none after a signal.
    pub exit: Option<i32>,
    /// What its last events say.
    pub failure: Option<Failure>,
    /// They say that an answer came: whatever went wrong behind it, the agent could run.
    pub is_done: bool,
    /// What it was refused.
    pub denied: Option<String>,
    /// The end of its output.
    pub tail: &'a str,
}

impl Ending<'_> {
    /// Returns the agent's own words for its failure: those of its events, those that tell why it cannot run, else the last of what
    /// it printed for people.
    pub fn failed(&self, cannot_run: Option<&CannotRun>) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(failure.message.clone());
        }
        if self.exit == Some(0) {
            return None;
        }
        let telling = cannot_run.map(|cannot_run| cannot_run.message.clone());
        let telling = telling.filter(|words| !words.is_empty());
        telling.or_else(|| self.printed().pop())
    }

    /// Returns what may tell why the agent cannot run: never what a run that ended well says.
    fn reasons(&self) -> Vec<Failure> {
        match &self.failure {
            Some(failure) => vec![failure.clone()],
            None if self.exit == Some(0) || self.is_done => Vec::new(),
            None => self.printed().into_iter().map(printed_failure).collect(),
        }
    }

    /// Returns the last lines that are the program's own. In a stream of events, they are those that are no events; among
    /// words for people, they have to look like errors, and stand at the end.
    fn printed(&self) -> Vec<String> {
        let is_cut = self.tail.len() >= CUT_TAIL;
        let lines = self.tail.lines().enumerate().filter(|(index, line)| {
            let line = line.trim();
            let is_event = (line.starts_with(['{', '[', ']', '}', '"']) || is_rest(line))
                && !ERROR.is_match(line);
            let is_piece = is_cut && *index == 0;
            !(line.is_empty() || line.len() > LONGEST_LINE || is_event || is_piece)
        });
        let lines: Vec<&str> = lines.map(|(_, line)| line).collect();
        let most = match self.format {
            Format::Jsonl => 20,
            Format::Text => 3,
        };
        let lines = lines[lines.len().saturating_sub(most)..].iter();
        let is_own =
            |line: &&&str| self.format == Format::Jsonl || ERROR.is_match(&text::clean_line(line));
        lines
            .filter(is_own)
            .map(|line| shown(line, LINE_CHARS))
            .collect()
    }
}

/// Says whether a line closes more than it opens: it is the rest of an event, and standard error came in between.
fn is_rest(line: &str) -> bool {
    let count = |bracket| line.matches(bracket).count();
    count('}') > count('{')
}

fn printed_failure(message: String) -> Failure {
    Failure {
        message,
        status: None,
    }
}

/// Returns why the agent could not run, by its own rules and then by those that all agents share.
pub(super) fn recognise(rules: &[Refusal], ending: &Ending<'_>) -> Option<CannotRun> {
    let reasons = ending.reasons();
    // Of a program of which nothing is known, words prove nothing.
    let shared = match ending.is_known {
        true => general(),
        false => &[],
    };
    let found = rules
        .iter()
        .chain(shared)
        .find_map(|rule| Some((rule.kind, rule.fits(ending, &reasons)?)));
    let denied = || Some((Obstacle::PermissionRefused, ending.denied.clone()?));
    let (kind, message) = found.or_else(denied)?;
    Some(CannotRun { kind, message })
}

impl Refusal {
    /// Returns the words in which the rule recognises its obstacle.
    fn fits(&self, ending: &Ending<'_>, reasons: &[Failure]) -> Option<String> {
        let exit = ending.exit.filter(|exit| self.exit.contains(exit));
        if !self.exit.is_empty() && exit.is_none() {
            return None;
        }
        let is_about_words = !self.status.is_empty() || self.says.is_some();
        if is_about_words && reasons.is_empty() {
            return None;
        }
        if is_about_words {
            let says = self.regex();
            let fits = |reason: &&Failure| {
                let status = reason.status.or_else(|| status_in(&reason.message));
                (self.status.is_empty() || status.is_some_and(|s| self.status.contains(&s)))
                    && says
                        .as_ref()
                        .is_none_or(|says| says.is_match(&reason.message))
            };
            return reasons
                .iter()
                .find(fits)
                .map(|reason| reason.message.clone());
        }
        exit.and(Some(ending.failed(None).unwrap_or_default()))
    }

    fn regex(&self) -> Option<Regex> {
        let says = self.says.as_deref()?;
        RegexBuilder::new(says).case_insensitive(true).build().ok()
    }
}

/// Returns the HTTP status that an error names: `401: …`, `status 401`, `(HTTP 401)`, `API Error: 401 …`.
fn status_in(message: &str) -> Option<u16> {
    STATUS.captures(message)?.get(1)?.as_str().parse().ok()
}
