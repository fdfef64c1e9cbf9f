//! When a sweep is due, by the date that stands in `last-sweep-date`. Pure.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use regex::Regex;

/// How many days lie between two sweeps.
pub const DAYS_BETWEEN: i64 = 7;
/// How far a date may lie in the future before it is taken for a mistake.
const SLACK: TimeDelta = TimeDelta::days(1);

/// A date as most programs write it, with or without time and zone, wherever it stands in a text.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?)?",
    )
    .expect("BUG: the pattern is invalid")
});

/// Says whether a sweep is due. `file` is what stands in `last-sweep-date`, `tried` when this session swept last. Without a
/// date that can be read, as in a file that was only touched, it is due.
pub fn is_due(file: &str, tried: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    let last = newest(file).filter(|date| *date <= now + SLACK);
    last.max(tried)
        .is_none_or(|last| now - last > TimeDelta::days(DAYS_BETWEEN))
}

/// Returns the newest date that stands in a text: as RFC 3339, as a day, as seconds since 1970, or as `date` prints it.
fn newest(text: &str) -> Option<DateTime<Utc>> {
    text.lines().filter_map(date_of).max()
}

fn date_of(line: &str) -> Option<DateTime<Utc>> {
    let line = line.trim();
    if let Some(found) = DATE.captures(line) {
        let time = found.get(2).map_or("00:00:00", |time| time.as_str());
        let time = match time.len() {
            5 => format!("{time}:00"),
            _ => time.to_owned(),
        };
        let zone = match found.get(3).map(|zone| zone.as_str()) {
            None | Some("Z" | "UTC") => "+0000".to_owned(),
            Some(zone) => zone.replace(':', ""),
        };
        let whole = format!("{} {time} {zone}", &found[1]);
        return DateTime::parse_from_str(&whole, "%Y-%m-%d %H:%M:%S %z")
            .ok()
            .map(|date| date.with_timezone(&Utc));
    }
    since_1970(line)
        .or_else(|| {
            let date = DateTime::parse_from_rfc2822(line).ok()?;
            Some(date.with_timezone(&Utc))
        })
        .or_else(|| printed(line))
}

/// Reads seconds, or milliseconds, since 1970.
fn since_1970(line: &str) -> Option<DateTime<Utc>> {
    let seconds: i64 = line.split('.').next()?.parse().ok()?;
    match seconds {
        1_000_000_000..100_000_000_000 => DateTime::from_timestamp(seconds, 0),
        1_000_000_000_000..100_000_000_000_000 => DateTime::from_timestamp_millis(seconds),
        _ => None,
    }
}

/// Reads `Wed Feb 11 21:00:00 CET 2026`, as `date` prints it, and `20260211`; an hour more or less does not matter here.
fn printed(line: &str) -> Option<DateTime<Utc>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [_, month, day, time, .., year] = words.as_slice() {
        let whole = format!("{day} {month} {year} {time}");
        let date = NaiveDateTime::parse_from_str(&whole, "%d %b %Y %H:%M:%S").ok()?;
        return Some(date.and_utc());
    }
    let day = NaiveDate::parse_from_str(line, "%Y%m%d").ok()?;
    Some(day.and_hms_opt(0, 0, 0)?.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(text)
            .unwrap()
            .with_timezone(&Utc)
    }

    #[test]
    fn a_date_is_read_in_every_form_that_is_found() {
        for text in [
            "2026-02-11T21:00:00Z",
            "2026-02-11T21:00:00Z\n",
            "\"2026-02-11T22:00:00+01:00\"",
            "{\"format\":1,\"date\":\"2026-02-11T21:00:00.123Z\"}",
            "last sweep: 2026-02-11 21:00:00 UTC",
            "2026-02-11 22:00:00 +0100",
            "2026-02-11T21:00",
            "# swept\n2026-02-11 21:00:00\n",
            "2025-01-01\n2026-02-11T21:00:00Z\n2026-02-01\n",
            "1770843600",
            "1770843600000",
            "Wed, 11 Feb 2026 21:00:00 GMT",
            "Wed Feb 11 21:00:00 UTC 2026",
            "Wed Feb 11 21:00:00 2026",
        ] {
            assert_eq!(newest(text), Some(at("2026-02-11T21:00:00Z")), "{text}");
        }
        for text in ["2026-02-11", "20260211"] {
            assert_eq!(newest(text), Some(at("2026-02-11T00:00:00Z")), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "\n",
            "yesterday",
            "12",
            "2026-13-45",
            "99999999999999999999",
            "a b c d e",
        ] {
            assert_eq!(newest(text), None, "{text}");
        }
    }

    #[test]
    fn a_sweep_is_due_after_more_than_seven_days() {
        let now = at("2026-02-11T21:00:00Z");
        for (file, is_due_now) in [
            ("", true),
            ("nonsense", true),
            ("2026-02-04T21:00:00Z", false),
            ("2026-02-04T20:59:59Z", true),
            ("2026-02-12", false),
            ("2026-02-13", true),
            ("2062-02-11", true),
        ] {
            assert_eq!(is_due(file, None, now), is_due_now, "{file:?}");
        }
    }

    #[test]
    fn what_was_tried_in_this_session_is_not_tried_again_for_seven_days() {
        let now = at("2026-02-11T21:00:00Z");
        assert!(!is_due("", Some(at("2026-02-11T20:00:00Z")), now));
        assert!(is_due("", Some(at("2026-02-01T20:00:00Z")), now));
    }
}
