//! The only place that asks what time it is.

use std::sync::atomic::{AtomicI64, Ordering};

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use nix::time::ClockId;

use crate::model::aftermath::Clocks;

/// Set by tests to an RFC 3339 time: the clock then starts there and goes on by one second each time it is asked.
const STEPPING: &str = "EVOLVE_CLOCK";

static STEPS: AtomicI64 = AtomicI64::new(0);

/// Returns the present moment.
pub fn now() -> DateTime<Utc> {
    match std::env::var(STEPPING)
        .ok()
        .and_then(|start| DateTime::parse_from_rfc3339(&start).ok())
    {
        Some(start) => {
            start.with_timezone(&Utc) + TimeDelta::seconds(STEPS.fetch_add(1, Ordering::Relaxed))
        }
        None => Utc::now(),
    }
}

/// Returns the present moment as it stands in files: RFC 3339, UTC, whole seconds.
pub fn timestamp() -> String {
    now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns when a file was written, as it stands in files.
pub fn shown(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns the present moment as the kernel dates a file that is written now. Linux takes the time of its last tick for that,
/// a few milliseconds before that of any finer clock.
pub fn file_time() -> SystemTime {
    #[cfg(target_os = "linux")]
    if let Ok(time) = ClockId::CLOCK_REALTIME_COARSE.now() {
        return SystemTime::UNIX_EPOCH + Duration::from(time);
    }
    SystemTime::now()
}

/// Returns what the machine's own clocks say, whatever tests set the other to.
pub fn clocks() -> Clocks {
    #[cfg(target_os = "linux")]
    const SINCE_BOOT: ClockId = ClockId::CLOCK_BOOTTIME;
    #[cfg(not(target_os = "linux"))]
    const SINCE_BOOT: ClockId = ClockId::CLOCK_MONOTONIC;
    let now = |clock: ClockId| {
        let time = clock.now().map(Duration::from).unwrap_or_default();
        i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
    };
    Clocks {
        wall: now(ClockId::CLOCK_REALTIME),
        since_boot: now(SINCE_BOOT),
    }
}

/// Returns a name for a session that begins now; names sort by time, and the process makes them unique.
pub fn session_id() -> String {
    format!(
        "{}-{:x}",
        now().format("%Y%m%dT%H%M%SZ"),
        std::process::id()
    )
}
