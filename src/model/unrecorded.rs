//! How a session ended that recorded nothing: no commit says so. Pure.

use serde::{Deserialize, Serialize};

use crate::model::record::Record;
use crate::model::snapshot::Snapshot;
use crate::model::summary::Ended;

/// The ending of a session without a record: an agent that could not run, a limit while it waited, nothing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unrecorded {
    /// The session.
    pub session: String,
    /// The newest cycle that was recorded by then; 0 if there was none.
    pub after_cycle: u64,
    /// When it ended, RFC 3339.
    pub ended_at: String,
    /// The ending in one word, such as `limit`.
    pub ending: String,
    /// Why.
    pub reason: String,
    /// A person has to see to it before another session gets further.
    pub is_asking: bool,
    /// Goals that wait for a person say so themselves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_goals: bool,
    /// What it measured last, if it measured anything: newer than what is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Snapshot>,
}

impl Unrecorded {
    /// Says whether nothing was recorded since.
    pub fn is_newest(&self, newest: Option<&Record>) -> bool {
        newest.is_none_or(|record| record.cycle <= self.after_cycle)
    }

    /// Returns the same without what was measured.
    #[must_use]
    pub fn without_measurement(self) -> Unrecorded {
        Unrecorded {
            measured: None,
            ..self
        }
    }

    /// Returns what a session's summary would say of its end.
    pub fn ended(&self) -> Ended {
        Ended {
            reason: self.reason.clone(),
            is_asking: self.is_asking && !self.by_goals,
        }
    }
}
