//! Rests: between idle cycles, and while an agent cannot run for a reason that passes by itself.

use std::time::Duration;

use chrono::{SecondsFormat, TimeDelta};

use crate::effects::clock;
use crate::effects::stop::Stop;
use crate::error::{Error, Kind};
use crate::event::{Event, Events};
use crate::model::agent::CannotRun;
use crate::model::told::Waiting;
use crate::session::{Cut, Ending};

/// How often a rest looks for a STOP file.
const REST_POLL: Duration = Duration::from_millis(100);

/// Rests for a while, as long as there is `still` something to wait for, and tells of it. What `asked` returns, the words of a STOP
/// file, ends the rest at once and is returned; KILL, a signal or the limit of time cuts it short.
pub async fn rest(
    stop: &Stop,
    events: &Events,
    rest: Duration,
    reason: &str,
    still: impl Fn() -> bool,
    asked: impl Fn() -> Option<String>,
) -> Result<Option<String>, Cut> {
    if rest.is_zero() || !still() {
        return Ok(None);
    }
    // What is about to end is not told as a wait.
    if let Some(words) = asked() {
        return Ok(Some(words));
    }
    events.send(Event::Waiting {
        seconds: rest.as_secs_f64(),
        reason: in_words(rest, reason),
    });
    let until = tokio::time::Instant::now() + rest;
    while tokio::time::Instant::now() < until && still() {
        if let Some(words) = asked() {
            return Ok(Some(words));
        }
        let next = until.min(tokio::time::Instant::now() + REST_POLL);
        tokio::select! {
            () = tokio::time::sleep_until(next) => {},
            () = stop.halted() => {},
        }
        if let Some(halt) = stop.halt() {
            return Err(halt.into());
        }
    }
    Ok(None)
}

/// Returns a rest that begins now, for those who look; none where it is over before they can.
pub fn waiting(rest: Duration, reason: &str) -> Option<Waiting> {
    if rest < Duration::from_secs(1) {
        return None;
    }
    let until = clock::now().checked_add_signed(TimeDelta::from_std(rest).ok()?)?;
    Some(Waiting {
        until: until.to_rfc3339_opts(SecondsFormat::Secs, true),
        reason: in_words(Duration::ZERO, reason),
    })
}

/// From how long a rest on it is said when it will be over.
const LONG: Duration = Duration::from_secs(60 * 60);

/// Says what ends a rest, when it will be over where it is long, and why it is.
fn in_words(rest: Duration, reason: &str) -> String {
    let until = TimeDelta::from_std(rest).ok().filter(|_| rest >= LONG);
    let until = until.and_then(|rest| clock::now().checked_add_signed(rest));
    match until {
        Some(until) => format!(
            "until {} UTC, STOP or KILL ends it; {reason}",
            until.format("%Y-%m-%d %H:%M")
        ),
        None => format!("STOP or KILL ends it; {reason}"),
    }
}

/// Returns the ending where an agent that cannot run would have to be waited for longer than there is time.
pub fn too_long(stop: &Stop, refusal: &CannotRun, rest: Duration) -> Option<Ending> {
    stop.remaining().filter(|left| *left < rest)?;
    let rest = humantime::format_duration(Duration::from_secs(rest.as_secs()));
    let shown = shown(refusal);
    let reason = format!("{shown}; that takes {rest}, longer than --max-time leaves");
    Some(Ending::fine("limit", reason))
}

/// Returns why an agent cannot run, as the reason of a rest.
pub fn shown(refusal: &CannotRun) -> String {
    refusal.to_string().trim_end_matches('.').to_owned()
}

/// Makes the error of an agent that cannot run (exit 4).
pub fn cannot_run(refusal: &CannotRun, agent: &str) -> Error {
    Error::new(Kind::Agent, format!("the agent cannot run: {refusal}")).hint(refusal.way_out(agent))
}
