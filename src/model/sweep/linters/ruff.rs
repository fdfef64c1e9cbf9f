//! What ruff prints with `--output-format=json`: a list of diagnostics. Pure.

use serde::Deserialize;

use crate::model::sweep::Finding;

#[derive(Deserialize)]
struct Diagnostic {
    filename: String,
    /// None, or `invalid-syntax`, where the file cannot be parsed.
    code: Option<String>,
    location: Option<Location>,
    message: String,
}

#[derive(Deserialize)]
struct Location {
    row: u64,
}

/// Reads the output; an error says why it cannot be read.
pub fn read(output: &str) -> Result<Vec<Finding>, String> {
    let all: Vec<Diagnostic> =
        serde_json::from_str(output).map_err(|_| "its output is no list in JSON".to_owned())?;
    let finding = |one: Diagnostic| Finding {
        file: one.filename,
        line: one.location.map_or(0, |location| location.row),
        rule: one.code.unwrap_or_else(|| "invalid-syntax".to_owned()),
        message: one.message,
    };
    Ok(all.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_0_17_is_read() {
        let text = include_str!("../../../../tests/sweep_outputs/ruff.json");
        let shown: Vec<_> = read(text)
            .unwrap()
            .iter()
            .map(|one| format!("{}:{} {}", one.file, one.line, one.rule))
            .collect();
        assert_eq!(
            shown,
            [
                "/home/me/project/a.py:1 I001",
                "/home/me/project/a.py:2 F401",
                "/home/me/project/a.py:5 F841",
                "/home/me/project/a.py:6 F821",
                "/home/me/project/a.py:8 F811",
                "/home/me/project/a.py:8 F401",
                "/home/me/project/bad.py:1 invalid-syntax",
                "/home/me/project/bad.py:1 invalid-syntax",
                "/home/me/project/bad.py:2 invalid-syntax",
            ]
        );
    }
}
