//! Markers that somebody left: TODO, FIXME and XXX as words of their own in tracked text files, as `git grep` finds them. Pure.

use super::Finding;
use crate::model::{mask, text};

/// The arguments of git that find them; `-z` because a path may hold anything.
pub const SEARCH: [&str; 11] = [
    "grep",
    "--no-color",
    "--no-column",
    "--full-name",
    "-z",
    "-n",
    "-I",
    "-w",
    "-E",
    "-e",
    "TODO|FIXME|XXX",
];
const WORDS: [&str; 3] = ["TODO", "FIXME", "XXX"];
/// The most characters of a line that are kept.
const LONGEST: usize = 200;

/// Reads what `git grep` printed: `path NUL line NUL text` a line, or with a colon for the second NUL from older ones.
pub fn read_markers(output: &str) -> Vec<Finding> {
    output.lines().filter_map(marker).collect()
}

fn marker(line: &str) -> Option<Finding> {
    let (file, rest) = line.split_once('\0')?;
    let (number, text) = rest.split_once(['\0', ':'])?;
    let (at, word) = WORDS
        .iter()
        .filter_map(|word| Some((position(text, word)?, *word)))
        .min()?;
    let said = text[at..].trim();
    Some(Finding {
        file: file.to_owned(),
        line: number.parse().ok()?,
        rule: word.to_owned(),
        message: match said.chars().count() > LONGEST {
            // Masked before it is cut: half a secret would not be told. Else who tells of it masks it, as it is known by its words.
            true => text::cut(&mask::secrets(said), LONGEST),
            false => said.to_owned(),
        },
    })
}

/// Returns where `word` stands in the text as a word of its own.
fn position(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_secret_where_a_marker_is_cut_no_half_is_kept() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let front = format!("TODO {}", "x".repeat(LONGEST - 20));
        let found = read_markers(&format!("a\u{0}1\u{0}{front} {token} more\n"));
        assert_eq!(found[0].message, format!("{front} *** more"));
    }

    #[test]
    fn what_git_grep_printed_is_read() {
        let found = read_markers(include_str!("../../../tests/sweep_outputs/markers.txt"));
        let shown: Vec<_> = found
            .iter()
            .map(|one| format!("{}:{} {} | {}", one.file, one.line, one.rule, one.message))
            .collect();
        assert_eq!(
            shown,
            [
                "a b.txt:1 TODO | TODO b",
                "a b.txt:2 FIXME | FIXME: x",
                "a b.txt:4 XXX | XXX",
            ]
        );
    }

    #[test]
    fn an_older_git_separates_with_a_colon() {
        let found = read_markers("src/a.rs\x0012:    // TODO(me): mend, TODO_LIST is fine\n");
        assert_eq!(found[0].line, 12);
        assert_eq!(found[0].message, "TODO(me): mend, TODO_LIST is fine");
    }

    #[test]
    fn a_part_of_a_word_is_no_marker() {
        assert_eq!(position("XXXXXX MY_TODO TODOS", "TODO"), None);
        assert_eq!(position("TODOS, TODO", "TODO"), Some(7));
    }
}
