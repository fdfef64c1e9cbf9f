//! When things happened, as the ledger's files say it. Pure.

use chrono::{DateTime, NaiveDateTime};

/// Returns a time of a document in seconds since 1970; none where it is none.
pub fn moment(text: &str) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    Some(time.timestamp())
}

/// Returns when a session began, as its name says it, in seconds since 1970.
pub fn began(session: &str) -> Option<i64> {
    let (time, _) = session.split_once('-')?;
    let time = NaiveDateTime::parse_from_str(time, "%Y%m%dT%H%M%SZ").ok()?;
    Some(time.and_utc().timestamp())
}
