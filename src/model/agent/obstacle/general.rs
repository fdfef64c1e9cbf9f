//! What all agents have in common where they cannot run. Pure.

use std::sync::LazyLock;

use super::{Obstacle, Refusal};

/// Words, then statuses: a quota that is used up often comes as `429`, and the words tell it from too many requests.
static GENERAL: LazyLock<Vec<Refusal>> = LazyLock::new(|| {
    let says = |kind, words: &[&str]| Refusal {
        kind,
        exit: Vec::new(),
        status: Vec::new(),
        says: Some(words.join("|")),
    };
    let status = |kind, status: &[u16]| Refusal {
        kind,
        exit: Vec::new(),
        status: status.to_vec(),
        says: None,
    };
    vec![
        Refusal {
            kind: Obstacle::NotInstalled,
            exit: vec![126, 127],
            status: Vec::new(),
            says: None,
        },
        says(
            Obstacle::OutOfQuota,
            &[
                r"insufficient[_ ](quota|credits?|balance|funds)",
                r"(quota|credits?|usage limit|spend(ing)? limit|usage cap)\b.{0,40}\b(exceeded|exhausted|reached|used up|depleted)",
                r"(exceeded|exhausted|reached|hit|used up|used all)\b.{0,40}\b(quota|credits?|usage limit|spend(ing)? limit|daily limit|weekly limit|session limit)",
                r"(hit|reached) your\b.{0,30}\blimit",
                r"credit balance is too low|out of (credits?|quota|extra usage)|payment required",
                r"plans? (and|&) billing|billing( hard)? limit|billing (account|details)\b",
            ],
        ),
        says(
            Obstacle::RateLimited,
            &[
                r"rate[-_ ]?limit",
                r"too many requests",
                r"resource (has been )?exhausted|resource_exhausted",
                r"throttl",
            ],
        ),
        says(
            Obstacle::Overloaded,
            &[
                r"overloaded",
                r"at capacity",
                r"service (is )?(temporarily )?unavailable",
                r"high demand",
            ],
        ),
        status(Obstacle::OutOfQuota, &[402]),
        status(Obstacle::RateLimited, &[429]),
        status(Obstacle::NotLoggedIn, &[401, 403]),
        status(
            Obstacle::Overloaded,
            &[500, 502, 503, 504, 520, 521, 522, 523, 524, 529],
        ),
        says(
            Obstacle::NotLoggedIn,
            &[
                r"not (logged|signed) in|not authenticated|unauthori[sz]ed|unauthenticated",
                r"(log|sign) ?in (again|first|required)|login required|please (log|sign) ?in|/login\b|auth(entication)? (failed|required|error|method|type)",
                r"(no|missing|invalid|incorrect|expired|set an?|without an?) .{0,40}(api[-_ ]?keys?|auth[-_ ]?token|access token|credentials?|authentication)\b|missing environment variable",
                r"(api[-_ ]?keys?|auth[-_ ]?token|access token|credentials?|\w+_API_KEY)\b.{0,40}\b(missing|invalid|expired|not (set|found|valid|configured|provided)|required|revoked)",
            ],
        ),
        says(
            Obstacle::UntrustedFolder,
            &[r"(not|un)[ -]?trusted|trust this (folder|directory|workspace|project)"],
        ),
        says(
            Obstacle::Overloaded,
            &[
                r"\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b",
                r"connection (refused|reset|error|failed|timed out|closed)|(cannot|can't|could not|couldn't|unable to|failed to) (connect|reach)",
                r"network (error|is unreachable|request failed)|fetch failed|stream disconnected|getaddrinfo|error sending request",
            ],
        ),
    ]
});

/// Returns the rules that all agents share, behind their own.
pub fn general() -> &'static [Refusal] {
    &GENERAL
}
