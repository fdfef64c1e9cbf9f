//! Secrets of letters alone, which look like any word: `password: correcthorsebattery`. Pure.
//!
//! The rule: a word of at least eight letters, all small or all capital, that ends its line (or what stands in quotes) behind
//! `password:`, `passwd:`, `passphrase:`, `secret:`, `api_key:` or their like with `=`, is masked, unless it is what
//! documentation or a tool says there: a participle (`expected`, `missing`), or one of a few words. Behind `token:` it is masked
//! where that begins the line, or has a name before it as in `auth_token:`; compilers say `unexpected token: identifier`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What stands in place of a value in documentation, messages and code.
const SAID: [&str; 34] = [
    "anything",
    "argument",
    "boolean",
    "changeme",
    "constant",
    "credential",
    "credentials",
    "delimiter",
    "disallow",
    "example",
    "function",
    "identifier",
    "immutable",
    "incorrect",
    "integer",
    "mandatory",
    "nonempty",
    "notempty",
    "nullable",
    "operator",
    "optional",
    "password",
    "passphrase",
    "placeholder",
    "plaintext",
    "punctuator",
    "readonly",
    "semicolon",
    "something",
    "sensitive",
    "undefined",
    "variable",
    "whitespace",
    "writeonly",
];
/// The longest participle that counts as one: `authenticated`.
const LONGEST_PARTICIPLE: usize = 13;

static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r#"(?m)(?:(?i:passw(?:or)?d|passphrase|secret|api[_-]?key)\\?["']?[ \t]{0,8}(?:=>|:=|=|:)"#,
        r#"|(?:^[ \t]*(?:- )?\\?["']?|[A-Za-z0-9][_-])(?i:token)\\?["']?[ \t]{0,8}:)"#,
        r#"[ \t]{0,8}(?P<value>[a-z]{8,64}|[A-Z]{8,64})(?:[ \t\r]*$|\\|["'])"#,
    );
    Regex::new(pattern).expect("BUG: the pattern of words does not compile")
});

/// Returns where such words stand.
pub fn found(text: &str) -> Vec<Range<usize>> {
    let range = |captures: Captures<'_>| {
        let value = captures.name("value")?;
        (!is_said(value.as_str())).then(|| value.range())
    };
    WORD.captures_iter(text).filter_map(range).collect()
}

/// Says whether a word is one of documentation.
fn is_said(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_participle =
        word.len() <= LONGEST_PARTICIPLE && (word.ends_with("ed") || word.ends_with("ing"));
    is_participle || SAID.contains(&word.as_str()) || word.starts_with("your")
}
