//! Spans of time that a message names: `Retry-After: 20`, `try again in 3 hours 25 minutes`, `resets after 2h30m5s`. Pure.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

/// What stands before a span that is to be waited; a span elsewhere is something else, such as the length of a window.
const LEADS: &str = r"(?:again|retry(?:ing|[-_ ]?delay|[-_ ]?after)?|resets?|available|wait|back)";

const UNITS: &str =
    r"(?:milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)";

static SPAN: LazyLock<Regex> = LazyLock::new(|| {
    let one = format!(r"\d+(?:\.\d+)?\s*{UNITS}");
    let pattern = format!(
        r"(?i)\b{LEADS}\b\W{{0,4}}(?:(?:in|after|for|at least|about|another|please|until)\W{{1,2}}){{0,3}}({one}(?:(?:\s*,)?\s*(?:and\s+)?{one})*)\b"
    );
    Regex::new(&pattern).expect("BUG: the pattern of a span is valid")
});

static PART: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(r"(?i)(\d+(?:\.\d+)?)\s*({UNITS})");
    Regex::new(&pattern).expect("BUG: the pattern of a part is valid")
});

/// The header, where a number without a unit is seconds.
static RETRY_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\bretry[-_ ]?after(-ms)?["']?\s*[:=]?\s*["']?(\d+(?:\.\d+)?)(?:["'\s,;.})\]]|$)"#,
    )
    .expect("BUG: the pattern of the header is valid")
});

/// Returns the span that a message names.
pub fn span(message: &str) -> Option<Duration> {
    let written = SPAN.captures_iter(message).find_map(|found| sum(&found[1]));
    written.or_else(|| {
        let found = RETRY_AFTER.captures(message)?;
        let number: f64 = found[2].parse().ok()?;
        let factor = if found.get(1).is_some() { 0.001 } else { 1.0 };
        Duration::try_from_secs_f64(number * factor).ok()
    })
}

fn sum(written: &str) -> Option<Duration> {
    let seconds: f64 = PART
        .captures_iter(written)
        .filter_map(|part| {
            let number: f64 = part[1].parse().ok()?;
            Some(number * unit(&part[2].to_lowercase()))
        })
        .sum();
    Duration::try_from_secs_f64(seconds).ok()
}

fn unit(word: &str) -> f64 {
    match word {
        _ if word.starts_with("ms") || word.starts_with("mil") => 0.001,
        _ if word.starts_with('s') => 1.0,
        _ if word.starts_with('m') => 60.0,
        _ if word.starts_with('h') => 3600.0,
        _ => 86_400.0,
    }
}
