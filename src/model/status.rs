//! Where a repository stands, as one document. Pure.

use serde::Serialize;

use crate::model::ledger::KillFile;
use crate::model::record::Record;
use crate::model::sandbox::{Available, Protections};
use crate::model::select::Stuck;
use crate::model::told::Waiting;
use crate::model::unrecorded::Unrecorded;
use crate::model::work::Counts;

/// All that `evolve status` tells.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Version of the format.
    pub format: u32,
    /// The root of the repository.
    pub repository: String,
    /// The branch; none when HEAD is detached.
    pub branch: Option<String>,
    /// The commit; none before the first.
    pub head: Option<String>,
    /// How many goals there are; none if the goals file cannot be read.
    pub goals_total: Option<usize>,
    /// The name of the goals file where there are none, and whether it is there.
    #[serde(skip)]
    pub no_goals: Option<(String, bool)>,
    /// The session at work.
    pub session: Option<Running>,
    /// How the newest session ended, where it recorded nothing and none is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<Unrecorded>,
    /// What that session does now; none between two cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Now>,
    /// The newest search, if it is at work or unfinished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Searching>,
    /// What protects whom in that session, or in one that would be started here now without flags.
    pub protections: Protections,
    /// The sandboxes that could be used on this machine.
    pub sandboxes: Vec<Available>,
    /// The KILL file that is there.
    pub kill: Option<KillFile>,
    /// What the STOP file says, if it is there.
    pub stop: Option<String>,
    /// The cycle that a dead session left unsettled.
    pub interrupted_cycle: Option<u64>,
    /// How many cycles the history holds, segments included.
    pub cycles: usize,
    /// The newest record.
    pub newest: Option<Record>,
    /// The newest score of what is in the repository: its newest snapshot's, or the newest record's where that is not to be believed.
    pub score: Option<f64>,
    /// When it was measured, RFC 3339, if that was by a session that recorded nothing since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_at: Option<String>,
    /// How many of the goals pass in what is in the repository.
    pub goals_passing: Option<usize>,
    /// The goals that fail in it and are not within their tolerance, the heaviest first.
    pub failing: Vec<String>,
    /// The goals that fail in it by no more than their tolerance.
    pub tolerated: Vec<String>,
    /// The goals that failed and passed on what is in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// The goals that could not be measured in it.
    pub skipped: Vec<String>,
    /// The goals that nobody has measured yet.
    pub unmeasured: Vec<String>,
    /// The score of the baseline.
    pub baseline_score: Option<f64>,
    /// Goals that were struck.
    pub struck: Vec<String>,
    /// Goals whose agent gave up.
    pub declined: Vec<String>,
    /// Both, with the reason of each, the heaviest first.
    pub stuck: Vec<Stuck>,
    /// How much work is queued.
    pub queue: Counts,
    /// What is wrong with the ledger's files, and with the user's configuration.
    pub problems: Vec<String>,
}

/// A session at work.
#[derive(Clone, Debug, Serialize)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// When it started, RFC 3339.
    pub started_at: String,
    /// What it waits for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// What a session at work does.
#[derive(Clone, Debug, Serialize)]
pub struct Now {
    /// The cycle's number; 0 while the baseline is measured.
    pub cycle: u64,
    /// How far it has come, by the words of the journal.
    pub phase: &'static str,
    /// Since when, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// What is being worked on; none before it is chosen.
    pub goal_id: Option<String>,
    /// The agent's log; none before there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// A search that is not over.
#[derive(Clone, Debug, Serialize)]
pub struct Searching {
    /// Its number; none before it has one.
    pub number: Option<u64>,
    /// The session at work on it.
    pub session: Option<Running>,
}
