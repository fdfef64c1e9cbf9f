//! How long to wait until an agent that cannot run is called again: until the time that its message names, else a few steps.
//! Pure.

mod clock;
mod span;

use std::time::Duration;

use chrono::{DateTime, TimeZone, Utc};

use super::Obstacle;

/// The waits after the first, second and third time, where the message names none.
const STEPS: [Duration; 3] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(15 * 60),
];

/// A shorter wait than this is none: a limit that names milliseconds would use up all calls at once.
const SHORTEST: Duration = Duration::from_secs(1);

/// A message that names a longer wait than this is not believed.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Returns how long to wait before the agent is called again, after it could not run for the `attempt`-th time in a row (from 1);
/// none if that would not help, or has been tried often enough. A time of day without `UTC` is one in the zone of `now`.
pub fn wait<Zone: TimeZone>(
    kind: Obstacle,
    message: &str,
    attempt: u32,
    now: DateTime<Zone>,
) -> Option<Duration> {
    if !kind.passes_with_time() {
        return None;
    }
    let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let step = *STEPS.get(index)?;
    Some(named(message, &now).map_or(step, |named| named.max(SHORTEST)))
}

/// Returns the wait that a message names, if it can be meant.
fn named<Zone: TimeZone>(message: &str, now: &DateTime<Zone>) -> Option<Duration> {
    let message: String = message.chars().take(4000).collect();
    let until = |moment: DateTime<Utc>| (moment - now.to_utc()).to_std().ok();
    let moment = clock::moment(&message, now).and_then(until);
    let believed = |wait: &Duration| !wait.is_zero() && *wait <= LONGEST;
    let span = span::span(&message).filter(believed);
    span.or(moment.filter(believed))
}

#[cfg(test)]
mod tests;
