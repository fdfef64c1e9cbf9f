use super::*;
use chrono::FixedOffset;
use proptest::prelude::*;

const MINUTE: u64 = 60;
const HOUR: u64 = 3600;

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).unwrap()
}

fn seconds(message: &str) -> Option<f64> {
    named(message, &noon()).map(|wait| wait.as_secs_f64())
}

#[test]
fn the_time_that_a_message_names_is_waited() {
    let cases = [
        ("Retry-After: 20", 20),
        (r#"{"retry-after": "20"}"#, 20),
        ("retry_after=20 seconds", 20),
        ("retry-after-ms: 20000", 20),
        ("Please try again in 20s.", 20),
        (
            "Rate limit reached: Limit 30000, Used 29000. Please try again in 20 seconds.",
            20,
        ),
        ("Try again in 3 hours 25 minutes", 3 * HOUR + 25 * MINUTE),
        (
            "try again in 3 hours, 25 minutes and 10 seconds",
            3 * HOUR + 25 * MINUTE + 10,
        ),
        (
            "Your quota will reset after 2h30m5s.",
            2 * HOUR + 30 * MINUTE + 5,
        ),
        (r#""retryDelay": "34s""#, 34),
        ("please wait 5 minutes before retrying", 5 * MINUTE),
        (
            "You've hit your usage limit. Try again in 2 days 3 hours.",
            51 * HOUR,
        ),
        ("You've hit your limit · resets 3pm (UTC)", 3 * HOUR),
        (
            "limit reached, resets at 3:30 PM (UTC)",
            3 * HOUR + 30 * MINUTE,
        ),
        ("resets 3am", 15 * HOUR),
        ("resets 12am (UTC)", 12 * HOUR),
        ("resets 12:30pm", 30 * MINUTE),
        ("try again at 15:00 UTC", 3 * HOUR),
        (
            "Try again at Nov 22nd, 2026 3:04 PM.",
            27 * HOUR + 4 * MINUTE,
        ),
        ("resets Nov 23, 9am (UTC)", 45 * HOUR),
        ("try again after 2026-11-21T13:00:00Z", HOUR),
        ("quota resets at 2026-11-21 13:00:00+00:00", HOUR),
        ("resets at 2026-11-21T14:00+01:00", HOUR),
        ("Claude AI usage limit reached|1795266000", HOUR),
        (r#"{"resets_at": 1795266000}"#, HOUR),
        (
            "At 2026-11-21T11:59:58Z: 429. Resets 2026-11-21T13:00:00Z",
            HOUR,
        ),
    ];
    for (message, wait) in cases {
        assert_eq!(seconds(message), Some(wait as f64), "{message}");
    }
    assert_eq!(seconds("Please try again in 6ms."), Some(0.006));
    assert_eq!(seconds("try again in 1.5s"), Some(1.5));
}

#[test]
fn what_is_no_time_to_wait_for_is_not_taken_for_one() {
    for message in [
        "",
        "429 Too Many Requests",
        "exceeded 50 messages in 3 hours",
        "you may send 20 requests per 60 s",
        "Retry-After: -5",
        "try again in 0 seconds",
        "try again in 30 days",
        "try again in 99999999999999999999999999 hours",
        "resets at 2026-11-21T11:00:00Z",
        "resets at 2031-11-21T11:00:00Z",
        "usage limit reached|1",
        "usage limit reached|1395266000",
        "resets 25pm",
        "resets 13:75",
        "resets in a while",
        "try again later",
        "retry 3",
        "Resets Feb 31, 9am",
    ] {
        assert_eq!(seconds(message), None, "{message}");
    }
}

#[test]
fn a_time_of_day_without_a_zone_is_one_of_here() {
    let here = FixedOffset::east_opt(2 * 3600).unwrap();
    let now = noon().with_timezone(&here);
    let hours = |message| named(message, &now).map(|wait| wait.as_secs() / HOUR);
    assert_eq!(hours("resets 3pm"), Some(1));
    assert_eq!(hours("resets 3pm (Europe/Helsinki)"), Some(1));
    assert_eq!(hours("resets 3pm (UTC)"), Some(3));
    assert_eq!(hours("resets 2026-11-21 15:00"), Some(1));
}

#[test]
fn a_time_of_day_that_has_just_passed_is_not_taken_for_tomorrow() {
    // The limit ended at 12:00:40, say, and the program leaves out the seconds.
    let after = |seconds| noon() + chrono::TimeDelta::seconds(seconds);
    let hours = |message, now| named(message, &now).map(|wait| wait.as_secs() / HOUR);
    for seconds in [0, 2, 59, 60, 600] {
        assert_eq!(hours("or try again at 12:00 PM.", after(seconds)), None);
        assert_eq!(hours("resets 12pm (UTC)", after(seconds)), None);
    }
    assert_eq!(hours("try again at 12:00 PM.", after(700)), Some(23));
    let past_midnight = after(12 * 3600 + 5);
    assert_eq!(hours("try again at 11:59 PM.", past_midnight), None);
    assert_eq!(hours("try again at 11:40 PM.", past_midnight), Some(23));
}

#[test]
fn without_a_named_time_the_waits_grow_and_end() {
    let waits = |kind, message: &str| {
        [0, 1, 2, 3, 4, u32::MAX]
            .map(|attempt| wait(kind, message, attempt, noon()).map(|wait| wait.as_secs()))
    };
    let steps = [None, Some(60), Some(300), Some(900), None, None];
    assert_eq!(waits(Obstacle::RateLimited, "429"), steps);
    assert_eq!(waits(Obstacle::Overloaded, "529"), steps);
    let named = [None, Some(20), Some(20), Some(20), None, None];
    assert_eq!(waits(Obstacle::RateLimited, "try again in 20s"), named);
    let long = [None, Some(3600), Some(3600), Some(3600), None, None];
    assert_eq!(waits(Obstacle::OutOfQuota, "try again in 1 hour"), long);
    assert_eq!(waits(Obstacle::NotLoggedIn, "try again in 20s"), [None; 6]);
}

proptest! {
    #[test]
    fn no_message_asks_for_more_than_a_week(message in "(resets|try again|retry-after|in|at|[0-9]{1,14}|[smhdT:. |+-]|pm|nov| ){0,12}") {
        if let Some(wait) = named(&message, &noon()) {
            prop_assert!(!wait.is_zero() && wait <= LONGEST);
        }
    }
}

#[test]
fn the_words_of_real_programs_are_understood() {
    let cases = [
        (
            "You've hit your 5-hour limit · resets 7:57am (UTC) (HTTP 429)",
            20 * HOUR - 3 * MINUTE,
        ),
        (
            "You’ve hit your usage limit. Upgrade to Pro, or try again at 7:59 AM.",
            20 * HOUR - MINUTE,
        ),
        (
            "[API Error: Resource has been exhausted (e.g. check quota). Suggested retry after 60s.]",
            60,
        ),
    ];
    for (message, wait) in cases {
        assert_eq!(seconds(message), Some(wait as f64), "{message}");
    }
}
