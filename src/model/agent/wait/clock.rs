//! Moments that a message names: a timestamp, seconds since 1970, a time of day with or without a date. Pure.

use std::sync::LazyLock;

use chrono::{
    DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta,
    TimeZone, Utc,
};
use regex::{Captures, Regex};

static EPOCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:\||\bresets?(?:[-_ ]?(?:at|time|in))?["']?\s*[:=]?\s*)(\d{10}|\d{13})\b"#)
        .expect("BUG: the pattern of an epoch is valid")
});

static STAMP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?",
    )
    .expect("BUG: the pattern of a timestamp is valid")
});

static DAYTIME: LazyLock<Regex> = LazyLock::new(|| {
    let month = r"(?<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?";
    let date = format!(
        r"(?:{month}\s+(?<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?<year>\d{{4}}))?,?\s+(?:at\s+)?)?"
    );
    let time = r"(?<hour>\d{1,2})(?::(?<minute>\d\d))?(?::\d\d)?\s*(?<half>am|pm|a\.m\.|p\.m\.)?";
    let pattern = format!(
        r"(?i)\b(?:resets?|again|until|available|retry)\b\W{{0,3}}(?:(?:at|on|after|by)\s+)?{date}{time}(?:\s*\(?(?<zone>utc|gmt|z)\b)?"
    );
    Regex::new(&pattern).expect("BUG: the pattern of a time of day is valid")
});

/// A time of day that has passed no longer ago than this, in minutes, is not meant for tomorrow: programs leave out the seconds of
/// the moment at which a limit ends, and two clocks differ.
const JUST_NOW: i64 = 10;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Returns the next moment that a message names.
pub fn moment<Zone: TimeZone>(message: &str, now: &DateTime<Zone>) -> Option<DateTime<Utc>> {
    let here = now.with_timezone(&now.offset().fix());
    let epochs = EPOCH
        .captures_iter(message)
        .filter_map(|found| epoch(&found[1]));
    let stamps = STAMP
        .captures_iter(message)
        .filter_map(|found| stamp(&found, &here));
    let daytimes = DAYTIME
        .captures_iter(message)
        .filter_map(|found| daytime(&found, &here));
    let mut moments = epochs.chain(stamps).chain(daytimes);
    moments.find(|moment| *moment > here.to_utc())
}

fn epoch(digits: &str) -> Option<DateTime<Utc>> {
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        13 => DateTime::from_timestamp_millis(number),
        _ => DateTime::from_timestamp(number, 0),
    }
}

fn stamp(found: &Captures<'_>, here: &DateTime<FixedOffset>) -> Option<DateTime<Utc>> {
    let date: NaiveDate = found[1].parse().ok()?;
    let time = match found[2].len() {
        5 => format!("{}:00", &found[2]),
        _ => found[2].to_owned(),
    };
    let time: NaiveTime = time.parse().ok()?;
    let zone = match found.get(3).map(|zone| zone.as_str()) {
        None => *here.offset(),
        Some("Z" | "UTC" | "GMT") => Utc.fix(),
        Some(offset) => offset.parse().ok()?,
    };
    at(date.and_time(time), zone)
}

/// Reads a time of day: that of the date, else the next one unless it is just past.
fn daytime(found: &Captures<'_>, here: &DateTime<FixedOffset>) -> Option<DateTime<Utc>> {
    let zone = match found.name("zone") {
        Some(_) => Utc.fix(),
        None => *here.offset(),
    };
    let here = here.with_timezone(&zone);
    let time = time(found)?;
    if let Some(month) = found.name("month") {
        let date = date(found, month.as_str(), &here)?;
        return at(date.and_time(time), zone);
    }
    let today = at(here.date_naive().and_time(time), zone)?;
    let next = match today > here {
        true => today,
        false => today + TimeDelta::days(1),
    };
    let is_just_past = next - here.to_utc() >= TimeDelta::days(1) - TimeDelta::minutes(JUST_NOW);
    (!is_just_past).then_some(next)
}

/// Reads hours and minutes. A number alone may be anything.
fn time(found: &Captures<'_>) -> Option<NaiveTime> {
    let hour: u32 = found["hour"].parse().ok()?;
    let minute = found.name("minute").map(|minute| minute.as_str().parse());
    let minute: Option<u32> = minute.transpose().ok()?;
    let half = found.name("half").map(|half| half.as_str().to_lowercase());
    let hour = match half.as_deref().map(|half| half.starts_with('p')) {
        Some(is_afternoon) if (1..=12).contains(&hour) => {
            hour % 12 + if is_afternoon { 12 } else { 0 }
        }
        Some(_) => return None,
        None if minute.is_none() => return None,
        None => hour,
    };
    NaiveTime::from_hms_opt(hour, minute.unwrap_or(0), 0)
}

/// Reads a date; without a year, the next of that name.
fn date(found: &Captures<'_>, month: &str, here: &DateTime<FixedOffset>) -> Option<NaiveDate> {
    let month = MONTHS
        .iter()
        .position(|name| month.to_lowercase() == *name)?;
    let month = u32::try_from(month + 1).ok()?;
    let day: u32 = found["day"].parse().ok()?;
    if let Some(year) = found.name("year") {
        return NaiveDate::from_ymd_opt(year.as_str().parse().ok()?, month, day);
    }
    let this = NaiveDate::from_ymd_opt(here.year(), month, day)?;
    match this < here.date_naive() {
        true => NaiveDate::from_ymd_opt(here.year() + 1, month, day),
        false => Some(this),
    }
}

fn at(moment: NaiveDateTime, zone: FixedOffset) -> Option<DateTime<Utc>> {
    let moment = zone.from_local_datetime(&moment).single()?;
    Some(moment.to_utc())
}
