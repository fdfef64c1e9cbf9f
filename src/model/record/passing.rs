//! Whose merit it is that a goal passes since a cycle. Pure.

use super::Record;
use crate::model::snapshot::{CheckResult, Snapshot};

/// How it begins what is said of goals that passed before the cycle's agent was called.
pub const BY_OTHERS: &str = "before its agent was called: ";

impl Record {
    /// Returns the goals that pass since the cycle: those that did not in its first snapshot, and those that somebody else had
    /// mended by then. Without that snapshot, all count as the cycle's own.
    pub fn passing_since(&self, before: Option<&Snapshot>) -> (Vec<String>, Vec<String>) {
        let passed = |id: &String| {
            let earlier = before.and_then(|before| before.find(id));
            earlier.is_some_and(|earlier| earlier.result == CheckResult::Pass)
        };
        let (others, own) = self.newly_passing.iter().cloned().partition(passed);
        (own, others)
    }
}
