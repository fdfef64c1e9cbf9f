//! The linters that a sweep knows: how a repository shows that it uses one, how each is run, and what its output says. Pure.

mod clippy;
mod go_vet;
mod ruff;
mod shellcheck;

use std::collections::BTreeSet;

use super::{Finding, Part};

/// Folders that hold other people's code or broken examples; what is set up below them is not this repository's own.
pub(in crate::model) const NOT_OWN: [&str; 6] = [
    "vendor",
    "node_modules",
    "third_party",
    "testdata",
    "fixtures",
    ".agents",
];
/// How the names of shell scripts end that shellcheck understands.
pub(in crate::model) const SHELL_ENDINGS: [&str; 4] = ["sh", "bash", "dash", "ksh"];
/// How many shell scripts are handed to one call.
const SCRIPTS_A_CALL: usize = 500;

/// A linter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Linter {
    /// For shell scripts.
    Shellcheck,
    /// For Go.
    GoVet,
    /// For Rust.
    Clippy,
    /// For Python.
    Ruff,
}

/// A tracked file, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Its path, relative to the repository's root.
    pub path: String,
    /// It may be executed.
    pub is_executable: bool,
}

/// One call of a linter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The linter.
    pub linter: Linter,
    /// Where it runs, relative to the repository's root and empty for the root itself.
    pub folder: String,
    /// The files it looks at; empty where it finds them by itself.
    pub files: Vec<String>,
    /// What it must not change is tracked beside it (`Cargo.lock`).
    pub is_locked: bool,
}

impl Linter {
    /// All of them.
    pub const ALL: [Linter; 4] = [
        Linter::Shellcheck,
        Linter::GoVet,
        Linter::Clippy,
        Linter::Ruff,
    ];

    /// Returns the linter's name, in messages and as the source of items.
    pub fn name(self) -> &'static str {
        match self {
            Linter::Shellcheck => "shellcheck",
            Linter::GoVet => "go vet",
            Linter::Clippy => "clippy",
            Linter::Ruff => "ruff",
        }
    }

    /// Returns the programs that have to be there.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Linter::Shellcheck => &["shellcheck"],
            Linter::GoVet => &["go"],
            Linter::Clippy => &["cargo", "cargo-clippy"],
            Linter::Ruff => &["ruff"],
        }
    }

    /// Returns what a person types to see the same, in the folder where it runs; `{file}` stands for the file.
    pub fn by_hand(self) -> &'static str {
        match self {
            Linter::Shellcheck => "shellcheck {file}",
            Linter::GoVet => "go vet ./...",
            Linter::Clippy => "cargo clippy --workspace --all-targets",
            Linter::Ruff => "ruff check",
        }
    }

    /// Returns files of a repository's root one of which is there where it is set up.
    fn set_up_by(self) -> &'static [&'static str] {
        match self {
            Linter::Shellcheck => &[".shellcheckrc", "shellcheckrc"],
            Linter::GoVet => &["go.mod"],
            Linter::Clippy => &["Cargo.toml"],
            Linter::Ruff => &["ruff.toml", ".ruff.toml", "pyproject.toml"],
        }
    }

    /// Says whether its output for programs is on stdout alone.
    pub fn prints_on_stdout(self) -> bool {
        match self {
            Linter::Shellcheck | Linter::Clippy | Linter::Ruff => true,
            Linter::GoVet => false,
        }
    }

    /// Reads its output; an error says that it did not do its work. `root` is the repository's, `folder` where it ran below it.
    pub fn read(
        self,
        exit: i32,
        output: &str,
        root: &str,
        folder: &str,
    ) -> Result<Vec<Finding>, String> {
        let found = match self {
            Linter::Shellcheck => shellcheck::read(output),
            Linter::GoVet => Ok(go_vet::read(output)),
            Linter::Clippy => clippy::read(output),
            Linter::Ruff => ruff::read(output),
        };
        let odd = || format!("exit {exit}");
        let found = found.map_err(|why| format!("{}, {why}", odd()))?;
        let did_its_work = match self {
            Linter::Ruff => exit == 0 || exit == 1,
            Linter::Shellcheck | Linter::GoVet | Linter::Clippy => exit == 0 || !found.is_empty(),
        };
        if !did_its_work {
            return Err(odd());
        }
        let below = |one: Finding| {
            let file = super::path_below(&one.file, root, folder)?;
            Some(Finding { file, ..one })
        };
        Ok(found.into_iter().filter_map(below).collect())
    }
}

/// Returns the commands of the linters that a sweep with these parts looks with, as far as the root says that they are set up.
pub fn looking(parts: &[Part], is_file: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
    let all = Linter::ALL.into_iter();
    let all = all.filter(|_| parts.contains(&Part::Linters));
    let set_up = all.filter(|linter| linter.set_up_by().iter().any(|file| is_file(file)));
    set_up.map(Linter::by_hand).collect()
}

impl Setup {
    /// Returns program and arguments: output for programs, no fixing, no cache in the tree.
    pub fn command(&self) -> Vec<String> {
        let words: &[&str] = match self.linter {
            Linter::Shellcheck => &["shellcheck", "--format=json", "--"],
            Linter::GoVet => &["go", "vet", "./..."],
            Linter::Clippy => &[
                "cargo",
                "clippy",
                "--quiet",
                "--workspace",
                "--all-targets",
                "--message-format=json",
            ],
            Linter::Ruff => &[
                "ruff",
                "check",
                "--no-fix",
                "--no-cache",
                "--output-format=json",
                ".",
            ],
        };
        let locked = (self.linter == Linter::Clippy && self.is_locked).then_some("--locked");
        words
            .iter()
            .copied()
            .chain(locked)
            .map(str::to_owned)
            .chain(self.files.iter().cloned())
            .collect()
    }
}

/// Returns the calls of those of the `installed` linters that the repository is set up for. `look` returns the start of a
/// tracked file.
pub fn set_up(
    tracked: &[Tracked],
    installed: &[Linter],
    look: &dyn Fn(&str) -> String,
) -> Vec<Setup> {
    let own: Vec<&Tracked> = tracked.iter().filter(|file| is_own(&file.path)).collect();
    let named = |name: &str| -> BTreeSet<&str> {
        let files = own.iter().map(|file| split(&file.path));
        files
            .filter(|(_, file)| *file == name)
            .map(|(folder, _)| folder)
            .collect()
    };
    let locks = named("Cargo.lock");
    let at = |linter, folder: &str| Setup {
        linter,
        folder: folder.to_owned(),
        files: Vec::new(),
        is_locked: locks.contains(folder),
    };
    let mut calls = Vec::new();
    let scripts: Vec<String> = own
        .iter()
        .filter(|file| {
            installed.contains(&Linter::Shellcheck)
                && is_shell(&file.path, &|| file.is_executable, look)
        })
        .map(|file| file.path.clone())
        .collect();
    for files in scripts.chunks(SCRIPTS_A_CALL) {
        let files = files.to_vec();
        calls.push(Setup {
            files,
            ..at(Linter::Shellcheck, "")
        });
    }
    // A module of its own below another one is left out by the upper one's call.
    calls.extend(named("go.mod").iter().map(|dir| at(Linter::GoVet, dir)));
    let crates = named("Cargo.toml");
    calls.extend(topmost(&crates).map(|dir| at(Linter::Clippy, dir)));
    let names_ruff = |folder: &&str| {
        installed.contains(&Linter::Ruff) && look(&join(folder, "pyproject.toml")).contains("ruff")
    };
    let mut python: BTreeSet<&str> = named("pyproject.toml");
    python.retain(|folder| names_ruff(folder));
    python.extend(named("ruff.toml"));
    python.extend(named(".ruff.toml"));
    // One call for all: ruff takes for each file the configuration that is nearest.
    calls.extend(topmost(&python).map(|dir| at(Linter::Ruff, dir)));
    calls.retain(|call| installed.contains(&call.linter));
    calls
}

/// Returns the folders that lie in none of the others.
fn topmost<'a>(folders: &'a BTreeSet<&'a str>) -> impl Iterator<Item = &'a &'a str> {
    folders.iter().filter(|folder| {
        let is_above = |upper: &&&str| {
            let rest = folder.strip_prefix(**upper);
            **upper != **folder
                && (upper.is_empty() || rest.is_some_and(|rest| rest.starts_with('/')))
        };
        !folders.iter().any(|upper| is_above(&upper))
    })
}

fn is_own(path: &str) -> bool {
    !path.split('/').any(|part| NOT_OWN.contains(&part))
}

/// Says whether a file is a shell script that shellcheck understands: by its name, else by its first line.
pub(in crate::model) fn is_shell(
    path: &str,
    is_executable: &dyn Fn() -> bool,
    look: &dyn Fn(&str) -> String,
) -> bool {
    match split(path).1.rsplit_once('.') {
        Some((_, ending)) if SHELL_ENDINGS.contains(&ending) => true,
        Some((stem, _)) if !stem.is_empty() && !is_executable() => false,
        Some(_) | None => is_shell_line(look(path).lines().next().unwrap_or_default()),
    }
}

fn is_shell_line(line: &str) -> bool {
    let Some(words) = line.strip_prefix("#!") else {
        return false;
    };
    let mut words = words
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .skip_while(|word| *word == "env" || word.starts_with('-') || word.contains('='));
    matches!(words.next(), Some("sh" | "bash" | "dash" | "ksh"))
}

/// Splits a path into its folder, empty for the root, and its name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository of these files; a star in front makes one executable, what follows a blank is its text.
    fn calls(files: &[&str]) -> Vec<String> {
        let parse = |line: &&str| {
            let (path, text) = line.split_once(' ').unwrap_or((line, ""));
            let plain = path.trim_start_matches('*');
            let file = Tracked {
                path: plain.to_owned(),
                is_executable: plain != path,
            };
            (file, text.to_owned())
        };
        let files: Vec<(Tracked, String)> = files.iter().map(parse).collect();
        let tracked: Vec<_> = files.iter().map(|(file, _)| file.clone()).collect();
        let look = |path: &str| {
            let found = files.iter().find(|(file, _)| file.path == path);
            found.map_or(String::new(), |(_, text)| text.clone())
        };
        set_up(&tracked, &Linter::ALL, &look)
            .iter()
            .map(|call| format!("[{}] {}", call.folder, call.command().join(" ")))
            .collect()
    }

    #[test]
    fn a_repository_without_any_configuration_is_set_up_for_nothing() {
        assert_eq!(
            calls(&["a.py", "main.go", "src/lib.rs", "README.md"]),
            Vec::<String>::new()
        );
        assert_eq!(
            calls(&["pyproject.toml [tool.black]"]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn shell_scripts_are_told_by_name_or_first_line() {
        assert_eq!(
            calls(&[
                "a.sh",
                "b.bash",
                "*run #!/usr/bin/env bash",
                "hook #!/bin/sh -e",
                "*x.py #!/usr/bin/python3",
                "*y.cgi #!/usr/bin/env -S LC_ALL=C bash",
                "note.txt #!/bin/sh",
                "z.zsh",
                "*z #!/bin/zsh",
                "vendor/v.sh",
                ".profile #!/bin/sh",
            ]),
            ["[] shellcheck --format=json -- a.sh b.bash run hook y.cgi .profile"]
        );
    }

    #[test]
    fn modules_crates_and_projects_run_in_their_folders() {
        assert_eq!(
            calls(&[
                "go.mod",
                "tools/go.mod",
                "Cargo.toml",
                "Cargo.lock",
                "crates/a/Cargo.toml",
                "py/pyproject.toml [tool.ruff]",
                "py/sub/ruff.toml",
                "python/.ruff.toml",
                "tests/fixtures/bad/Cargo.toml",
            ]),
            [
                "[] go vet ./...",
                "[tools] go vet ./...",
                "[] cargo clippy --quiet --workspace --all-targets --message-format=json --locked",
                "[py] ruff check --no-fix --no-cache --output-format=json .",
                "[python] ruff check --no-fix --no-cache --output-format=json .",
            ]
        );
    }

    #[test]
    fn a_linter_that_did_not_do_its_work_is_told() {
        let (root, folder) = ("/home/me/project", "");
        for (linter, exit, output) in [
            (Linter::Shellcheck, 2, "[]"),
            (Linter::Shellcheck, 1, "no JSON"),
            (Linter::Ruff, 2, ""),
            (Linter::Ruff, 2, "[]"),
            (Linter::GoVet, 1, "go: go.mod file not found"),
            (Linter::Clippy, 101, ""),
            (Linter::Clippy, 0, ""),
            (
                Linter::Clippy,
                101,
                "{\"reason\":\"build-finished\",\"success\":false}",
            ),
        ] {
            assert!(
                linter.read(exit, output, root, folder).is_err(),
                "{linter:?} {exit}"
            );
        }
        assert_eq!(Linter::Shellcheck.read(0, "[]\n", root, folder), Ok(vec![]));
        assert_eq!(Linter::GoVet.read(0, "", root, folder), Ok(vec![]));
    }
}
