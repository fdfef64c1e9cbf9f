//! How long to wait until an agent that cannot run is called again: the time that its message names, else a few steps. Pure.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Obstacle;

/// The waits after the first, second and third time, where the message names none.
const STEPS: [Duration; 3] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(15 * 60),
];

/// Returns how long to wait before the agent is called again, after it could not run for the `attempt`-th time in a row (from 1);
/// none if that would not help, or has been tried often enough.
pub fn wait(kind: Obstacle, _message: &str, attempt: u32, _now: DateTime<Utc>) -> Option<Duration> {
    if !kind.passes_with_time() {
        return None;
    }
    let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
    STEPS.get(index).copied()
}
