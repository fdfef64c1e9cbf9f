//! What shellcheck prints with `--format=json`: a list of comments. Pure.

use serde::Deserialize;

use crate::model::sweep::Finding;

#[derive(Deserialize)]
struct Comment {
    file: String,
    #[serde(default)]
    line: u64,
    code: u64,
    message: String,
}

/// Reads the output; an error says why it cannot be read.
pub fn read(output: &str) -> Result<Vec<Finding>, String> {
    let comments: Vec<Comment> =
        serde_json::from_str(output).map_err(|_| "its output is no list in JSON".to_owned())?;
    let finding = |comment: Comment| Finding {
        file: comment.file,
        line: comment.line,
        rule: format!("SC{}", comment.code),
        message: comment.message,
    };
    Ok(comments.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_0_9_is_read() {
        let text = include_str!("../../../../tests/sweep_outputs/shellcheck.json");
        let found = read(text).unwrap();
        let of_a: Vec<_> = found
            .iter()
            .filter(|one| one.file == "a.sh")
            .map(|one| format!("{} {}", one.line, one.rule))
            .collect();
        assert_eq!(
            of_a,
            [
                "3 SC2086", "4 SC2045", "4 SC2006", "5 SC2086", "7 SC2034", "8 SC1091"
            ]
        );
        assert!(!found.iter().any(|one| one.file == "ok.sh"));
    }
}
