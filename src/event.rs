//! What happened, for whoever is watching. One way: nobody who listens can change a run.

use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::model::goals::Limits;
use crate::model::record::Record;
use crate::model::sandbox::Protections;
use crate::model::search::view::{Generation, Overview, Row, Sampled};
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::usage::Spent;
use crate::model::{mask, text};

/// How a run would work on what a dry run selected.
#[derive(Clone, Debug, Serialize)]
pub struct Planned {
    /// The goal's weight; none for a work item.
    pub weight: Option<u8>,
    /// What is wanted.
    pub description: Option<String>,
    /// The goal's check; none for a work item.
    pub check: Option<String>,
    /// The agent that would be called; none if there is none.
    pub agent: Option<String>,
    /// Why there is none.
    pub no_agent: Option<String>,
}

/// One thing that happened in a session.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A session begins.
    SessionStarted {
        /// The session's id.
        session: String,
        /// The version of the program.
        version: String,
        /// How many goals there are.
        goals: usize,
        /// The agent as the user named it; none where no agent is needed.
        agent: Option<String>,
        /// Nobody named the agent: it is the first preset that is installed.
        agent_found: bool,
        /// How many checks run at once.
        jobs: usize,
        /// What holds whom back.
        protections: Protections,
        /// Where it ends by itself.
        limits: Limits,
    },
    /// Something the user should know, that stops nothing.
    Warning {
        /// What it is.
        message: String,
    },
    /// Something worth a line, that is no problem.
    Note {
        /// What it is.
        message: String,
        /// It follows from what the cycle comes to, so it is told behind that.
        #[serde(skip)]
        follows: bool,
    },
    /// A cycle begins.
    CycleStarted {
        /// Its number.
        cycle: u64,
        /// The commit it starts from.
        start: String,
    },
    /// Checks are about to run.
    MeasureStarted {
        /// How many.
        checks: usize,
        /// How many characters the longest id of their goals has, for whoever tells of each in a column.
        #[serde(skip)]
        longest_id: usize,
        /// What for: `baseline`, `before`, `after`, `rebuilt`, `confirm`, `recheck`, `blame`, `alone` or `measure`.
        purpose: &'static str,
    },
    /// A check was started.
    CheckStarted {
        /// The goal's id.
        goal_id: String,
        /// How long it took when it was measured last, in seconds, if that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        expected_s: Option<f64>,
    },
    /// A check ended.
    CheckFinished {
        /// How it ended.
        measurement: Measurement,
    },
    /// All checks have ended.
    MeasureFinished {
        /// The weighted score.
        score: f64,
        /// How many goals pass.
        goals_passing: usize,
        /// How many there are.
        goals_total: usize,
        /// The goals that fail.
        failing: Vec<String>,
        /// The goals that could not be measured.
        skipped: Vec<String>,
        /// What it was for, as in `measure-started`.
        purpose: &'static str,
    },
    /// A sweep looks for work; it may take minutes.
    SweepStarted {
        /// The programs and parts that it looks with.
        with: String,
    },
    /// What will be worked on, and why.
    Selected {
        /// The goal, or `next-work:<title>`.
        goal_id: String,
        /// Why this one.
        reason: String,
        /// How it would be worked on, where nobody does: in a dry run.
        #[serde(skip_serializing_if = "Option::is_none")]
        planned: Option<Box<Planned>>,
    },
    /// The agent was started.
    AgentStarted {
        /// As the user named it.
        name: String,
        /// The complete log of its output, relative to the repository's root if it lies below it.
        log: String,
    },
    /// The agent did something. What it does not report of itself is unknown, not nothing.
    AgentActivity {
        /// How often its model answered; none if it does not report what it does.
        turns: Option<u64>,
        /// How many files it touched; none if it does not report what it does.
        files: Option<usize>,
        /// Tokens so far, read and written.
        tokens: Option<u64>,
        /// Cost so far in US dollars.
        cost_usd: Option<f64>,
        /// The last thing that it did or said, in one line.
        last: Option<String>,
        /// The attempt of a search that it works on.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u64>,
    },
    /// The agent ended.
    AgentFinished {
        /// `done`, `failed`, `timed out`, `idle` or `stopped`.
        status: String,
        /// Wall time in seconds.
        duration_s: f64,
        /// How many commits the change has; none where it cannot be told whose they are.
        commits: Option<usize>,
        /// The last of them is `evolve`'s own: it holds what the agent left uncommitted.
        has_leftovers: bool,
        /// How many files the change touches; none where it cannot be told who changed them.
        files: Option<usize>,
        /// How often its model answered; none if it does not report what it does.
        turns: Option<u64>,
        /// Tokens, read and written, if it reports them.
        tokens: Option<u64>,
        /// Cost in US dollars, if it reports it.
        cost_usd: Option<f64>,
    },
    /// A cycle was settled, recorded and committed.
    CycleFinished {
        /// The record.
        record: Box<Record>,
    },
    /// A search begins, or goes on.
    SearchStarted {
        /// The session's id.
        session: String,
        /// The version of the program.
        version: String,
        /// Where the search stands.
        overview: Box<Overview>,
        /// The agent as the user named it.
        agent: String,
        /// Nobody named the agent: it is the first preset that is installed.
        agent_found: bool,
        /// What holds whom back.
        protections: Protections,
    },
    /// An agent begins to work on an attempt.
    AttemptStarted {
        /// The attempt's number.
        attempt: u64,
        /// How it is made: `mutation`, `crossover` or `fresh`.
        operator: &'static str,
        /// What it is made from.
        parents: Vec<u64>,
        /// Through which lens the agent looks.
        lens: Option<String>,
        /// It is asked once more: the first one failed.
        again: bool,
        /// Which of the agents that work at once, from 1.
        lane: usize,
    },
    /// An agent's work on an attempt is over.
    AttemptEdited {
        /// The attempt's number.
        attempt: u64,
        /// `changed`, `unchanged`, `declined` or `failed`.
        status: &'static str,
        /// What was changed, in the agent's words.
        summary: Option<String>,
        /// Why it declined or failed.
        reason: Option<String>,
        /// What it changed outside the editable files.
        left_out: Vec<String>,
        /// Wall time in seconds.
        duration_s: f64,
        /// Tokens, read and written, if it reports them.
        tokens: Option<u64>,
        /// Cost in US dollars, if it reports it.
        cost_usd: Option<f64>,
    },
    /// An attempt is about to be measured.
    AttemptMeasuring {
        /// The attempt's number; the baseline has 0.
        attempt: u64,
        /// What for: `first`, `beside`, `holdout`, `again` or `last`.
        purpose: &'static str,
        /// The attempt that is measured beside it.
        beside: Option<u64>,
        /// Which of those that are measured at once, from 1.
        lane: usize,
    },
    /// An attempt was measured.
    AttemptMeasured {
        /// The attempt's number; the baseline has 0.
        attempt: u64,
        /// What for, and what it came to.
        #[serde(flatten)]
        sampled: Box<Sampled>,
    },
    /// An attempt has its ending.
    AttemptEnded {
        /// The attempt.
        attempt: Box<Row>,
        /// The best attempt now.
        best: u64,
        /// Its score.
        best_score: Option<f64>,
        /// The baseline's score.
        baseline: Option<f64>,
    },
    /// A generation of a search has its endings.
    GenerationEnded {
        /// The generation.
        generation: Box<Generation>,
    },
    /// A session of a search ended.
    SearchEnded {
        /// Why, in words.
        reason: String,
        /// The same in one word, such as `plateau`.
        ending: &'static str,
        /// The exit code that follows.
        exit_code: u8,
        /// Where the search stands.
        overview: Box<Overview>,
    },
    /// A wait begins.
    Waiting {
        /// For how many seconds.
        seconds: f64,
        /// Why, and what ends it.
        reason: String,
    },
    /// The session ended.
    SessionEnded {
        /// Why.
        reason: String,
        /// The ending in one word, such as `dormant`.
        ending: &'static str,
        /// How many cycles this session recorded.
        cycles: u64,
        /// The exit code that follows.
        exit_code: u8,
        /// Goals wait for a person, who can say that they are to be worked on again.
        #[serde(skip)]
        has_stuck: bool,
        /// The session's way, and the baseline where it did not start there, in words.
        trajectory: Option<String>,
        /// What the agents reported of their use.
        spent: Spent,
    },
}

impl Event {
    /// Returns a note.
    pub fn note(message: impl Into<String>) -> Event {
        Event::Note {
            message: message.into(),
            follows: false,
        }
    }

    /// Returns what tells that goals were measured, and what for.
    pub fn measured(snapshot: &Snapshot, purpose: &'static str) -> Event {
        let ids = |result| snapshot.with(result).map(|goal| goal.id.clone()).collect();
        Event::MeasureFinished {
            score: snapshot.score,
            goals_passing: snapshot.goals_passing,
            goals_total: snapshot.goals_total,
            failing: ids(CheckResult::Fail),
            skipped: ids(CheckResult::Skip),
            purpose,
        }
    }

    /// Returns the event as one line of JSON without its end, with what looks like a secret masked; `time` is when it happened,
    /// RFC 3339 in UTC.
    pub fn line(&self, time: &str) -> String {
        let mut line = Map::new();
        line.insert("time".to_owned(), json!(time));
        match serde_json::to_value(self).expect("BUG: an event is always JSON") {
            Value::Object(fields) => line.extend(fields),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                unreachable!("BUG: an event is a JSON object")
            }
        }
        let mut line = Value::Object(line);
        mask::value(&mut line);
        text::json(&line.to_string())
    }
}

/// How long a listener rests after each batch. To be woken for every event would cost a short check more than being
/// supervised does.
pub const REST: Duration = Duration::from_millis(5);

/// Hands on every event until nobody can send any more. Whoever waits for that may cut the last rest short (`unpark`).
pub fn listen(receiver: &Receiver<Event>, mut take: impl FnMut(Event)) {
    while let Ok(event) = receiver.recv() {
        take(event);
        receiver.try_iter().for_each(&mut take);
        std::thread::park_timeout(REST);
    }
}

/// Where events go. Cheap to clone; sending never fails and never waits.
#[derive(Clone, Debug, Default)]
pub struct Events {
    sender: Option<Sender<Event>>,
    /// The attempt of a search that an agent's activities belong to.
    attempt: Option<u64>,
}

impl Events {
    /// Sends events to `sender`.
    pub fn to(sender: Sender<Event>) -> Events {
        Events {
            sender: Some(sender),
            attempt: None,
        }
    }

    /// The same for an agent that works on an attempt of a search, beside others.
    #[must_use]
    pub fn of_attempt(&self, attempt: u64) -> Events {
        Events {
            attempt: Some(attempt),
            ..self.clone()
        }
    }

    /// Tells whoever listens; a listener that is gone is ignored.
    pub fn send(&self, mut event: Event) {
        if let Event::AgentActivity { attempt, .. } = &mut event {
            *attempt = self.attempt;
        }
        if let Some(sender) = &self.sender {
            let _ = sender.send(event);
        }
    }

    /// Sends a warning; of an agent that works on an attempt it says which.
    pub fn warn(&self, message: impl Into<String>) {
        let message = message.into();
        self.send(Event::Warning {
            message: match self.attempt {
                Some(attempt) => format!("attempt {attempt}: {message}"),
                None => message,
            },
        });
    }

    /// Sends a note.
    pub fn note(&self, message: impl Into<String>) {
        self.send(Event::note(message));
    }

    /// Sends a note of what follows from what the cycle comes to.
    pub fn note_behind(&self, message: impl Into<String>) {
        self.send(Event::Note {
            message: message.into(),
            follows: true,
        });
    }
}
