//! From where on a history is asked for, as people write it: `12`, `3d`, `2026-11-20`. Pure.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use crate::model::duration;
use crate::model::record::Record;

/// What to write instead of something that says no beginning.
pub const HINT: &str =
    "write a cycle's number, as in 12, a time before now, as in 3d, or a date, as in 2026-11-20";

/// Where a part of the history begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// At the cycle with this number.
    Cycle(u64),
    /// So long before now.
    Ago(std::time::Duration),
    /// At this moment; a date alone is its midnight in UTC, as times stand in records.
    Moment(DateTime<Utc>),
}

/// Reads where a part of the history begins: a plain number is a cycle's.
pub fn parse(text: &str) -> Result<Since, String> {
    let text = text.trim();
    let midnight = |date: NaiveDate| date.and_time(NaiveTime::MIN).and_utc();
    if let Ok(cycle) = text.parse() {
        return Ok(Since::Cycle(cycle));
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Ok(Since::Moment(midnight(date)));
    }
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Ok(Since::Moment(moment.with_timezone(&Utc)));
    }
    duration::parse(text)
        .map(Since::Ago)
        .map_err(|_| HINT.to_owned())
}

impl Since {
    /// Says whether a record belongs to the part that is asked for. One whose time cannot be read is of no time.
    pub fn holds(self, record: &Record, now: DateTime<Utc>) -> bool {
        let from = match self {
            Since::Cycle(first) => return record.cycle >= first,
            Since::Ago(time) => chrono::TimeDelta::from_std(time)
                .ok()
                .and_then(|time| now.checked_sub_signed(time)),
            Since::Moment(moment) => Some(moment),
        };
        let made = DateTime::parse_from_rfc3339(&record.timestamp);
        made.is_ok_and(|made| from.is_none_or(|from| made >= from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::read_record;

    fn noon() -> DateTime<Utc> {
        "2026-02-14T12:00:00Z".parse().expect("a time")
    }

    #[test]
    fn a_number_is_a_cycle_a_unit_a_time_before_now_and_the_rest_a_date() {
        let day = std::time::Duration::from_secs(24 * 3600);
        let date = "2026-02-11T00:00:00Z".parse().expect("a time");
        for (text, expected) in [
            ("12", Since::Cycle(12)),
            (" 0 ", Since::Cycle(0)),
            ("3d", Since::Ago(3 * day)),
            ("1day 12h", Since::Ago(day + day / 2)),
            ("2026-02-11", Since::Moment(date)),
            ("2026-02-11T01:00:00+01:00", Since::Moment(date)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in ["", "yesterday", "2026-13-01", "-3", "3 apples", "0d"] {
            assert_eq!(parse(text), Err(HINT.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_record_belongs_to_what_is_asked_for_by_its_number_or_its_time() {
        let line = r#"{"cycle": 3, "goal_id": "a", "result": "improved", "commit_sha": "c", "goals_passing": 1,
                       "goals_total": 1, "timestamp": "2026-02-11T21:00:00Z"}"#;
        let record = read_record(line).expect("a record");
        for (text, expected) in [
            ("3", true),
            ("4", false),
            ("2d", false),
            ("3d", true),
            ("2026-02-11", true),
            ("2026-02-12", false),
            ("2026-02-11T21:00:00Z", true),
            ("2026-02-11T21:00:01Z", false),
        ] {
            let since = parse(text).expect("a beginning");
            assert_eq!(since.holds(&record, noon()), expected, "{text}");
        }
        let timeless = Record {
            timestamp: "once".to_owned(),
            ..record
        };
        assert!(!Since::Moment(DateTime::UNIX_EPOCH).holds(&timeless, noon()));
        assert!(Since::Cycle(1).holds(&timeless, noon()));
    }
}
