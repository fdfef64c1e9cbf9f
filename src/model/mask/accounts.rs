//! Passwords that stand behind a user's name: `curl -u user:password`, `user:password@host`. Pure.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::assigned::{is_odd_value, is_value};
use super::{named, pattern};

/// The option of a program that takes `user:password`.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:^|(?u:[\s"']))(?:-[A-Za-z]{0,8}[uU]|--user|--proxy-user)(?:[ \t]+|=)?\\?["']?[^\s:"'@/\\=-][^\s:"'@/\\]{0,400}:(?P<password>(?u:[^\s"'\\]+))"#,
    )
});

/// An account at a host that is named in full, by its number, or is this one.
static AT_HOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:^|(?u:[\s"'=(,]))(?P<name>[A-Za-z0-9._-]{1,64}):(?P<password>[^\s:@/"'<>\\]{3,200})@(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}|localhost(?-u:\b)|\d{1,3}(?:\.\d{1,3}){3}(?-u:\b))"#,
    )
});

/// Before these there is no password but an address.
const ADDRESSES: [&str; 11] = [
    "mailto", "sip", "sips", "xmpp", "acct", "email", "mail", "from", "to", "cc", "author",
];

/// Compiles what `found` looks for.
pub fn prepare() {
    for pattern in [&OPTION, &AT_HOST] {
        LazyLock::force(pattern);
    }
}

/// Returns where passwords of accounts stand.
pub fn found(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    if text.contains('-') && text.contains(':') {
        for captures in OPTION.captures_iter(text.as_bytes()) {
            let password = named(text, &captures, "password");
            let (Some(whole), Some((value, password))) = (captures.get(0), password) else {
                continue;
            };
            let line = text[..whole.start()]
                .rsplit('\n')
                .next()
                .unwrap_or_default();
            // Other programs have such an option for other things.
            let is_secret = match line.contains("curl") {
                true => is_value(value),
                false => is_odd_value(value),
            };
            ranges.extend(is_secret.then(|| password.range()));
        }
    }
    if text.contains('@') {
        for captures in AT_HOST.captures_iter(text.as_bytes()) {
            let of = |name| named(text, &captures, name);
            let (Some((name, _)), Some((value, password))) = (of("name"), of("password")) else {
                continue;
            };
            let is_address = ADDRESSES.contains(&name.to_ascii_lowercase().as_str());
            let is_secret = is_odd_value(value) && !is_address;
            ranges.extend(is_secret.then(|| password.range()));
        }
    }
    ranges
}
