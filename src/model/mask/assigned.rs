//! Values that are assigned to a name which speaks of a secret: `password=…`, `"api_key": "…"`, `Authorization: …`, and which
//! of them are none: code, prose, paths, references to other variables. Pure.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Shorter values are not masked: they would be found in any text.
const SHORTEST: usize = 6;
/// The length of a secret access key of AWS, which may begin like a path.
const AWS_SECRET: usize = 40;

/// Words of a name that speak of a secret.
const WORDS: &str = concat!(
    r"(?i:passw(?:or)?d|passphrase|pwd|secret|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key",
    r"|signing[_-]?key|encryption[_-]?key|client[_-]?secret)(?:[_-][A-Za-z0-9_-]{1,24}|[A-Z][A-Za-z0-9]{0,24})?",
    r"|(?i:(?:auth|access|refresh|bearer|id|session|bot|user|api)[_-]?token|[_-]token)",
);

static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(
        concat!(
            // A name, with the quotes of JSON perhaps escaped, and what assigns.
            r#"(?:{words})\\?["']?(?P<sign>[ \t]{{0,8}}(?:=>|:=|=|:)[ \t]{{0,8}})"#,
            r#"(?:\\?"(?P<double>[^"\\\n]{{4,}})|'(?P<single>[^'\n]{{4,}})|(?P<bare>[^\s"',;\\]{{6,}}))"#,
            // The header, with or without its scheme.
            r#"|(?i:authorization)\\?["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\?["']?"#,
            r#"(?:(?P<scheme>(?i:bearer|basic|token|digest|apikey|negotiate))[ \t]+)?(?P<header>[^\s"',;\\]{{6,}})"#,
            // Parameters of a URL, and options of a command line.
            r#"|[?&](?i:[a-z_-]{{0,24}}(?:token|secret|password|api_?key)|sig|signature|key|x-amz-signature|code)=(?P<parameter>[^&\s"'\#]{{12,}})"#,
            r#"|--[a-z-]{{0,24}}(?:password|passphrase|token|secret|api-key)[ ]+(?P<option>[^\s"'-][^\s"']{{5,}})"#,
            // A variable of an environment that ends in one of these words alone.
            r#"|(?-u:\b)[A-Z][A-Z0-9_]{{0,60}}_(?:KEY|TOKEN|PASS|PAT)=(?P<variable>[^\s"',;\\]{{12,}})"#,
        ),
        words = WORDS
    );
    Regex::new(&pattern).expect("BUG: the pattern of assignments does not compile")
});

/// Names of variables whose value is a secret.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:token|secret|password|passwd|passphrase|credentials?|(?:^|_)(?:key|pass|pat|pwd)|apikey|secret_?key|access_?key)$")
        .expect("BUG: the pattern of variables does not compile")
});

/// Keys of a document whose value is a secret.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!("(?:{WORDS})$")).expect("BUG: the pattern of names does not compile")
});

/// A call, an index, a type with parameters, a path of names: the beginning of code.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[A-Za-z_][A-Za-z0-9_.]*(?:\(|\[|<|::|!\()")
        .expect("BUG: the pattern of code does not compile")
});

/// Compiles what is looked for here.
pub fn prepare() {
    for pattern in [&ASSIGNED, &CODE, &NAME] {
        LazyLock::force(pattern);
    }
}

/// Returns where the values of assignments stand.
pub fn found(text: &str) -> Vec<Range<usize>> {
    ASSIGNED
        .captures_iter(text)
        .filter_map(|captures| secret_in(&captures))
        .collect()
}

fn secret_in(captures: &Captures<'_>) -> Option<Range<usize>> {
    let is_tight = captures
        .name("sign")
        .is_some_and(|sign| sign.as_str() == "=");
    let has_scheme = captures.name("scheme").is_some();
    let (name, found) = [
        "double",
        "single",
        "bare",
        "header",
        "parameter",
        "option",
        "variable",
    ]
    .into_iter()
    .find_map(|name| captures.name(name).map(|found| (name, found)))?;
    let value = found.as_str();
    let is_secret = match name {
        "double" | "single" => is_quoted_secret(value),
        "parameter" => is_value(value),
        "bare" if is_tight => is_value(value),
        "header" if has_scheme => is_value(value),
        _ => is_odd_value(value),
    };
    is_secret.then(|| found.range())
}

/// Says whether a value of a JSON object is a secret by the name of its key.
pub fn is_assignment(key: &str, value: &str) -> bool {
    value.len() >= SHORTEST && NAME.is_match(key) && is_quoted_secret(value)
}

/// Says whether a variable of an environment holds a secret. The working directory is none.
pub fn is_secret_variable(name: &str) -> bool {
    !matches!(name, "PWD" | "OLDPWD") && VARIABLE.is_match(name)
}

/// What is neither hidden already, nor a reference, a path or code.
pub(super) fn is_value(value: &str) -> bool {
    let is_filler = value
        .chars()
        .all(|c| matches!(c, '*' | '.' | 'x' | 'X' | '-' | '_' | '#'));
    let is_reference = value.starts_with(['$', '<', '&', '{', '%', '=', '(', '[', '@', '|', '!']);
    let is_path =
        value.starts_with(['/', '~', '.']) && value.contains('/') && value.len() != AWS_SECRET;
    !(value.contains(super::MASK) || is_filler || is_reference || is_path || CODE.is_match(value))
}

/// A value without quotes behind `: ` may be prose or a type; a secret has digits or signs among its letters.
pub(super) fn is_odd_value(value: &str) -> bool {
    let has = |wanted: fn(char) -> bool| value.chars().any(wanted);
    let is_mixed = has(|c| c.is_ascii_alphabetic())
        && has(|c| c.is_ascii_digit() || "!@#$%^&*+/~".contains(c));
    is_value(value) && is_mixed
}

/// What stands in quotes may be a sentence.
fn is_quoted_secret(value: &str) -> bool {
    let is_prose = value.contains(' ') && !value.contains(|c: char| c.is_ascii_digit());
    is_value(value) && !is_prose
}
