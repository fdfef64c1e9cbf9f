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

use crate::model::work::Severity;
use crate::model::{digest, mask, text};

pub use due::{DAYS_BETWEEN, is_due};
pub use floors::{floors, is_about_coverage};
pub use harvest::{Batch, Harvest, MOST_ITEMS, items_of, pick};
pub use linters::{Linter, Setup, Tracked, set_up};
pub use markers::{SEARCH, read_markers};
pub use own::read_own;
pub use unmended::{Unmended, tool_of, unmended};

/// What the source of a sweep's item starts with; the tool's name follows.
pub const SOURCE: &str = "sweep:";

/// The longest name of a command, in characters.
const LONGEST_NAME: usize = 40;

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
    /// Returns the command's name in messages and as the source of items: its program, or its whole line where another part of the
    /// sweep is called like that. What one finds must not be taken for the other's.
    pub fn name(&self, parts: &[Part]) -> String {
        let program = self.program();
        let is_called_so = |part: &Part| match part {
            Part::Linters => Linter::ALL.iter().any(|linter| linter.name() == program),
            Part::Markers => program == "markers",
            Part::Floors => program == "floors",
            Part::Own(own) => own.run != self.run && own.program() == program,
        };
        if !parts.iter().any(is_called_so) {
            return program;
        }
        let line = text::clean_line(&text::on_one_line(&self.run));
        let shown = text::cut(&mask::secrets(&line), LONGEST_NAME);
        match shown == self.run {
            true => shown,
            // Others may look like it.
            false => format!("{shown} ({})", digest::short(&[&self.run])),
        }
    }

    fn program(&self) -> String {
        let words = self.run.split_whitespace();
        let program = words.clone().find(|word| !word.contains('='));
        let word = program.or(words.clone().next()).unwrap_or("command");
        let name = word.rsplit('/').next().unwrap_or(word);
        text::cut(name, LONGEST_NAME)
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

    fn own(run: &str) -> OwnCommand {
        OwnCommand {
            run: run.to_owned(),
            severity: Severity::Medium,
            kind: "bug".to_owned(),
        }
    }

    #[test]
    fn a_command_whose_program_another_part_is_called_by_is_called_by_its_line() {
        let long = "python -c 'import this; print(this)' a very long line";
        let runs = ["python a.py", "python b.py", "ruff check x", "codespell"];
        let alike = [long.to_owned(), format!("{long}!")];
        let of = |run: &str| Part::Own(own(run));
        let all: Vec<Part> = runs
            .iter()
            .copied()
            .chain(alike.iter().map(String::as_str))
            .map(of)
            .collect();
        let names: Vec<_> = runs.iter().map(|run| own(run).name(&all)).collect();
        assert_eq!(names, ["python a.py", "python b.py", "ruff", "codespell"]);
        let names = alike.each_ref().map(|run| own(run).name(&all));
        assert_ne!(names[0], names[1]);
        let with_linters = [of("ruff check x"), Part::Linters];
        assert_eq!(own("ruff check x").name(&with_linters), "ruff check x");
    }

    #[test]
    fn a_command_is_called_by_its_program() {
        for (run, name) in [
            ("npx eslint .", "npx"),
            ("./scripts/find-work.sh --all", "find-work.sh"),
            ("LC_ALL=C codespell", "codespell"),
            ("A=1", "A=1"),
        ] {
            let command = own(run);
            let alone = [Part::Markers, Part::Own(command.clone())];
            assert_eq!(command.name(&alone), name, "{run}");
        }
    }
}
