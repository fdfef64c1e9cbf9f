//! Passwords that stand behind a user's name: `curl -u user:password`, `user:password@host`. Pure.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::assigned::{is_odd_value, is_value};

/// The option of a program that takes `user:password`.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s"'])(?:-[A-Za-z]{0,8}[uU]|--user|--proxy-user)(?:[ \t]+|=)?\\?["']?[^\s:"'@/\\=-][^\s:"'@/\\]{0,100}:(?P<password>[^\s"'\\]+)"#,
    )
    .expect("BUG: the pattern of options does not compile")
});

/// An account at a host that is named in full, by its number, or is this one.
static AT_HOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s"'=(,])(?P<name>[A-Za-z0-9._-]{1,64}):(?P<password>[^\s:@/"'<>\\]{3,200})@(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}|localhost(?-u:\b)|\d{1,3}(?:\.\d{1,3}){3}(?-u:\b))"#,
    )
    .expect("BUG: the pattern of accounts does not compile")
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
        for captures in OPTION.captures_iter(text) {
            let (Some(whole), Some(password)) = (captures.get(0), captures.name("password")) else {
                continue;
            };
            let line = text[..whole.start()]
                .rsplit('\n')
                .next()
                .unwrap_or_default();
            let value = password.as_str();
            // Other programs have such an option for other things.
            let is_secret = match line.contains("curl") {
                true => is_value(value),
                false => is_odd_value(value),
            };
            ranges.extend(is_secret.then(|| password.range()));
        }
    }
    if text.contains('@') {
        for captures in AT_HOST.captures_iter(text) {
            let name = captures["name"].to_ascii_lowercase();
            let password = captures.name("password");
            let is_secret = |password: &regex::Match<'_>| {
                is_odd_value(password.as_str()) && !ADDRESSES.contains(&name.as_str())
            };
            ranges.extend(password.filter(is_secret).map(|found| found.range()));
        }
    }
    ranges
}
