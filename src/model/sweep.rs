//! The sweep: once a week, while no goal fails, linters, markers, coverage floors and the user's own commands are looked
//! through for work that nobody queued (rule 13). What to look with, what its output says, and which items that makes. Pure.
//!
//! What was found once is never found again: each item names its findings by digests that hold neither line nor column, and
//! a finding that any item of the queue names, done or not, is known. Whether it is gone once a cycle did the item is looked
//! at and told.

mod due;
mod floors;
mod harvest;
pub(in crate::model) mod linters;
mod markers;
mod own;
mod unmended;

use serde::Serialize;

use crate::model::text;
use crate::model::work::Severity;

pub use due::{DAYS_BETWEEN, is_due};
pub use floors::{floors, is_about_coverage};
pub use harvest::{Batch, Harvest, MOST_ITEMS, items_of, pick};
pub use linters::{Linter, Setup, Tracked, looking, set_up};
pub use markers::{SEARCH, read_markers};
pub use own::read_own;
pub use unmended::{Unmended, tool_of, unmended};

/// What the source of a sweep's item starts with; the tool's name follows.
pub const SOURCE: &str = "sweep:";

/// One thing that a sweep looks with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The linters that the repository is set up for and that are installed.
    Linters,
    /// TODO, FIXME and XXX in tracked text files.
    Markers,
    /// Coverage floors that lie well below what is reached.
    Floors,
    /// A command of the user's.
    Own(OwnCommand),
}

/// A command of the user's that finds work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCommand {
    /// A command line for `sh -c`.
    pub run: String,
    /// How bad what it finds is.
    pub severity: Severity,
    /// What sort of work it finds, such as `bug`.
    pub kind: String,
}

impl OwnCommand {
    /// Returns the command's name in messages and as the source of items: its program.
    pub fn name(&self) -> String {
        let words = self.run.split_whitespace();
        let program = words.clone().find(|word| !word.contains('='));
        let word = program.or(words.clone().next()).unwrap_or("command");
        let name = word.rsplit('/').next().unwrap_or(word);
        crate::model::text::cut(name, 40)
    }
}

/// Something that a sweep found in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file, relative to the repository's root.
    pub file: String,
    /// Its line, from 1; 0 where the whole file is meant.
    pub line: u64,
    /// The linter's name for what is wrong, or the marker; empty if there is none.
    pub rule: String,
    /// What is wrong.
    pub message: String,
}

impl Finding {
    /// Returns where it is, for people: `src/a.sh:3`.
    pub fn place(&self) -> String {
        let file = text::path(self.file.as_bytes());
        match self.line {
            0 => file,
            line => format!("{file}:{line}"),
        }
    }
}

/// Returns what a sweep of this repository looks with: GOALS.yaml beats the user's configuration, and linters are the
/// default.
pub fn parts(file: Option<&[Part]>, user: Option<&[Part]>) -> Vec<Part> {
    let chosen = file.or(user).unwrap_or(&[Part::Linters]);
    let mut parts: Vec<Part> = Vec::new();
    for part in chosen {
        if !parts.contains(part) {
            parts.push(part.clone());
        }
    }
    parts
}

/// Returns a path of a program's output relative to the repository's root; none if it lies elsewhere. `folder` is where the
/// program ran, relative to the root and empty for the root itself.
fn path_below(raw: &str, root: &str, folder: &str) -> Option<String> {
    let joined = match raw.strip_prefix('/') {
        Some(_) => raw.strip_prefix(root)?.strip_prefix('/')?.to_owned(),
        None if folder.is_empty() => raw.to_owned(),
        None => format!("{folder}/{raw}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_relative_to_the_root() {
        for (raw, folder, path) in [
            ("a.sh", "", Some("a.sh")),
            ("./a.sh", "", Some("a.sh")),
            ("./a.go", "sub", Some("sub/a.go")),
            ("../b.go", "sub", Some("b.go")),
            ("/home/me/project/a.py", "sub", Some("a.py")),
            ("/home/me/projects/a.py", "", None),
            ("/usr/lib/x.rs", "", None),
            ("../../x", "sub", None),
            ("", "", None),
        ] {
            let found = path_below(raw, "/home/me/project", folder);
            assert_eq!(found.as_deref(), path, "{raw} in {folder:?}");
        }
    }

    #[test]
    fn the_file_beats_the_user_and_linters_are_the_default() {
        assert_eq!(parts(None, None), [Part::Linters]);
        assert_eq!(
            parts(None, Some(&[Part::Floors, Part::Floors])),
            [Part::Floors]
        );
        assert_eq!(parts(Some(&[]), Some(&[Part::Floors])), []);
    }

    #[test]
    fn a_command_is_called_by_its_program() {
        for (run, name) in [
            ("npx eslint .", "npx"),
            ("./scripts/find-work.sh --all", "find-work.sh"),
            ("LC_ALL=C codespell", "codespell"),
            ("A=1", "A=1"),
        ] {
            let command = OwnCommand {
                run: run.to_owned(),
                severity: Severity::Medium,
                kind: "bug".to_owned(),
            };
            assert_eq!(command.name(), name, "{run}");
        }
    }
}
