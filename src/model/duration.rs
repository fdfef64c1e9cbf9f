//! Durations as people write them: `90`, `10m`, `1h 30m`. Pure.

use std::time::Duration;

/// What to write instead of something that is no duration.
pub const HINT: &str = r#"write seconds, as in 90, or a unit, as in "2m""#;

/// The longest duration that is taken: far beyond any run, and safe to add to any clock.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 3600);
/// The shortest duration that is taken: below it, nothing could even be started.
const SHORTEST: Duration = Duration::from_millis(1);

/// Reads a duration: a plain number is seconds, everything else has its units (`10m`, `1h 30m`). The error says what is
/// wrong, without a hint.
pub fn parse(text: &str) -> Result<Duration, String> {
    let trimmed = text.trim();
    let shown = shorten(trimmed);
    let duration = if is_plain_number(trimmed) {
        let seconds: f64 = trimmed.parse().map_err(|_| not_a_duration(&shown))?;
        // Whatever is too large for the type is larger than the longest, too.
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    } else {
        humantime::parse_duration(trimmed).map_err(|_| not_a_duration(&shown))?
    };
    if duration.is_zero() {
        return Err(format!("\"{shown}\" is no time at all"));
    }
    if duration < SHORTEST {
        return Err(format!("\"{shown}\" is shorter than a millisecond"));
    }
    if duration > LONGEST {
        return Err(format!("\"{shown}\" is longer than ten years"));
    }
    Ok(duration)
}

fn not_a_duration(shown: &str) -> String {
    format!("\"{shown}\" is not a duration")
}

/// Says whether `text` is digits with at most one point inside, so that `1e3`, `inf` and `+5` are not numbers here.
fn is_plain_number(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let all_digits =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    all_digits(whole) && all_digits(part)
}

/// Cuts `text` to what fits a message and makes control characters visible.
fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_units_are_durations() {
        for (text, milliseconds) in [
            ("90", 90_000),
            ("1.5", 1_500),
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h 30m", 5_400_000),
            ("1h30m", 5_400_000),
            (" 2m ", 120_000),
            ("250ms", 250),
            ("1day", 86_400_000),
        ] {
            assert_eq!(
                parse(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        for (text, reason) in [
            ("5x", r#""5x" is not a duration"#),
            ("", r#""" is not a duration"#),
            ("m", r#""m" is not a duration"#),
            ("-5", r#""-5" is not a duration"#),
            ("+5", r#""+5" is not a duration"#),
            ("1e3", r#""1e3" is not a duration"#),
            ("inf", r#""inf" is not a duration"#),
            (".5", r#"".5" is not a duration"#),
            ("5\u{1b}", r#""5\u{1b}" is not a duration"#),
            ("0", r#""0" is no time at all"#),
            ("0.0", r#""0.0" is no time at all"#),
            ("0s", r#""0s" is no time at all"#),
            ("1ns", r#""1ns" is shorter than a millisecond"#),
            ("1000years", r#""1000years" is longer than ten years"#),
            (
                "99999999999999999999999",
                r#""99999999999999999999999" is longer than ten years"#,
            ),
        ] {
            assert_eq!(parse(text), Err(reason.to_string()), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_cut_in_the_message() {
        let message = parse(&"9x".repeat(1000)).unwrap_err();
        assert!(message.len() < 100, "{message}");
    }
}
