//! Hides what looks like a secret before it reaches a file, a brief or a screen. Pure.

use std::sync::LazyLock;

use regex::Regex;

/// Shapes of well-known tokens, after their vendors' documentation, and assignments to names that speak of secrets.
static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?x)",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"|\bglpat-[A-Za-z0-9_-]{16,}",
        r"|\bsk-[A-Za-z0-9_-]{16,}",
        r"|\bxox[abprs]-[A-Za-z0-9-]{10,}",
        r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"|\bAIza[A-Za-z0-9_-]{30,}",
        r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}",
        r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        r"|-----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)",
    ))
    .expect("BUG: the pattern of secrets does not compile")
});

static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b((?:[a-z0-9_]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|_token))["']?\s*[=:]\s*["']?|bearer\s+)([^\s"',;]{6,})"#,
    )
    .expect("BUG: the pattern of assignments does not compile")
});

/// A password in a URL.
static IN_URL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@"']*:)[^\s/?#"']+@"#)
        .expect("BUG: the pattern of passwords in URLs does not compile")
});

/// Returns the text with everything that looks like a secret replaced by `***`.
pub fn secrets(text: &str) -> String {
    let text = SECRETS.replace_all(text, "***");
    let text = IN_URL.replace_all(&text, "${1}***@");
    ASSIGNED.replace_all(&text, "${1}***").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_token_is_hidden_and_the_rest_stays() {
        for (text, masked) in [
            (
                "key ghp_0123456789abcdefghijABCDEFGHIJ012345 end",
                "key *** end",
            ),
            ("AWS AKIAABCDEFGHIJKLMNOP.", "AWS ***."),
            ("API_KEY=abcdef123456 rest", "API_KEY=*** rest"),
            ("\"password\": \"hunter2222\"", "\"password\": \"***\""),
            (
                "Authorization: Bearer abc.def.ghi",
                "Authorization: Bearer ***",
            ),
            (
                "fatal: https://ci:hunter2@git.example.org/x.git not found",
                "fatal: https://ci:***@git.example.org/x.git not found",
            ),
            (
                "postgres://u:p@ss@db:5432/x and http://127.0.0.1:80/a@b",
                "postgres://u:***@db:5432/x and http://127.0.0.1:80/a@b",
            ),
            ("assert token == 5", "assert token == 5"),
            ("src/secret.rs:3: error", "src/secret.rs:3: error"),
        ] {
            assert_eq!(secrets(text), masked);
        }
    }
}
