//! The shapes of tokens, keys and passwords that are known by themselves, wherever they stand. Pure.
//!
//! Sources are the vendors' own pages on token formats, as of 2025; each has an example in the tests. The edges
//! of words are those of ASCII, here and beside: Unicode's are beyond the fast engines of the `regex` crate.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{named, pattern};

/// Beginnings that no other text has: these are found inside of words too, since in a log an escape such as `\n` or a colour
/// may stand right before them.
const ANYWHERE: &[&str] = &[
    // GitHub: personal, OAuth, user-to-server, server-to-server, refresh; fine-grained.
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    // GitLab: personal, project trigger, deploy, runner, CI job, feed, agent and others.
    r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|agent|imt|ffct|wt|oas)-[A-Za-z0-9_.-]{16,}",
    // Slack: bot, user, app, refresh and others; incoming webhooks.
    r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}",
    r"xapp-\d-[A-Za-z0-9-]{20,}",
    r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/+_-]{20,}",
    // Anthropic; OpenAI's that name their kind.
    r"sk-ant-[A-Za-z0-9_-]{16,}",
    r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}",
    // npm, PyPI, RubyGems, Docker Hub.
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-AgE[A-Za-z0-9_-]{20,}",
    r"rubygems_[a-f0-9]{40,}",
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
    // Stripe: secret, restricted; webhook signing.
    r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{20,}",
    // JSON Web Tokens: header and payload are JSON objects in base64.
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    // SendGrid, DigitalOcean, Shopify, Vault, Hugging Face's and others of their kind.
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"do[opr]_v1_[a-f0-9]{40,}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"hv[sbr]\.[A-Za-z0-9_-]{24,}",
    r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}",
    r"GOCSPX-[A-Za-z0-9_-]{20,}",
    r"ATATT3[A-Za-z0-9_=-]{40,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{40,}",
];

/// Beginnings that also stand in other words: these are found at the start of a word only.
const AT_A_START: &[&str] = &[
    // AWS: access keys, temporary ones and others.
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    // Google: API keys, OAuth access tokens.
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"gsk_[A-Za-z0-9]{40,}",
    r"xai-[A-Za-z0-9]{40,}",
    r"lin_api_[A-Za-z0-9]{30,}",
    r"dapi[a-f0-9]{32}(?-u:\b)",
];

/// What stands before the start of a word: nothing, what is no part of one, or an escape as programs print it.
const START: &str = r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*m)";

/// A private key, as much of it as is there: lines of base64, as they are or escaped, to the line that ends it.
const KEY: &str = concat!(
    r"-----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----",
    r"(?:(?:(?u:\s)|\\[nr])*(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]*|=?[A-Za-z0-9+/=]{16,}))*",
    r"(?:(?:(?u:\s)|\\[nr])*=?[A-Za-z0-9+/]+={0,2}(?:(?u:\s)|\\[nr])*)?",
    r"(?:(?:(?u:\s)|\\[nr])*=[A-Za-z0-9+/]{4})?",
    r"(?:(?:(?u:\s)|\\[nr])*-----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----)?",
);

/// A password in a URL, between `user:` and the last `@` before the host.
const URL: &str =
    r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]*://(?u:[^\s/?\#:@"']*):(?P<url>(?u:[^\s/?\#"']+))@"#;

/// A bearer's token without its header; one that is a word of prose has no digit.
const BEARER: &str = r"(?i:(?-u:\b)bearer)(?u:\s)+(?P<bearer>[A-Za-z0-9._~+/=-]{16,})";

/// The shape of OpenAI's older keys is also that of long names in CSS: see `is_old_key`.
const OLD_KEY: &str = r"(?P<old>sk-[A-Za-z0-9_-]{16,})";

/// What an older key begins with.
const OLD_KEY_BEGINS: &str = "sk-";

static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let text = format!(
        r"(?x) (?P<key>{KEY}) | (?P<anywhere>{}) | {START} (?:(?P<start>{}) | {OLD_KEY}) | {URL} | {BEARER}",
        ANYWHERE.join("|"),
        AT_A_START.join("|"),
    );
    pattern(&text)
});

/// Returns where secrets of these shapes stand.
pub fn found(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(captures) = SHAPES.captures_at(text.as_bytes(), from) {
        let whole = captures
            .get(0)
            .map_or(from..text.len(), |found| found.range());
        let secret = ["key", "anywhere", "start", "old", "url", "bearer"]
            .iter()
            .find_map(|name| named(text, &captures, name));
        if let Some((value, secret)) = secret {
            let is_secret = match (captures.name("old"), captures.name("bearer")) {
                (Some(_), _) => is_old_key(value),
                (None, Some(_)) => has_digit(value),
                (None, None) => !value.contains(super::MASK),
            };
            ranges.extend(is_secret.then(|| secret.range()));
        }
        from = whole.end.max(from + 1);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        if from > text.len() {
            break;
        }
    }
    ranges
}

/// Tells a key from a name of several words.
fn is_old_key(value: &str) -> bool {
    let is_one_word = !value[OLD_KEY_BEGINS.len()..].contains('-');
    is_one_word || has_digit(value) && value.contains(|c: char| c.is_ascii_uppercase())
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}
