//! Calls the `git` program, hardened: no hooks, no file system monitor, no editor, no prompt, no signature, no network
//! helper, literal pathspecs, and none of the variables that name another repository.
//!
//! Everything that writes the working tree or the user's index goes through here, because libgit2 runs no filters.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::error::{Error, Kind, Result};

/// What `git rev-parse --local-env-vars` prints: variables that tie a command to one repository.
pub const LOCAL_ENV_VARS: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// Settings that keep the repository's own configuration from running anything, and what git has written on the disk before
/// it says so (git 2.36; earlier ones do not know the last two and pass over them).
const HARDENING: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "protocol.ext.allow=never",
    "advice.graftFileDeprecated=false",
    "core.fsync=all",
    "core.fsyncMethod=batch",
];

/// Calls git in one working tree.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
}

impl Git {
    /// Calls git in the working tree at `root`.
    pub fn at(root: &Path) -> Git {
        Git {
            root: root.to_owned(),
        }
    }

    /// Runs git with `arguments` and returns its stdout; a failure is an error that shows the command and its words.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>> {
        self.run_with(arguments, &[])
    }

    /// Like `run`, with `input` on stdin.
    pub fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<Vec<u8>> {
        let output = self.output(arguments, input)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.failure(arguments, &output))
    }

    fn output<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<Output> {
        let mut command = self.command();
        command.args(arguments);
        tracing::debug!(command = %shown(arguments), "git");
        let mut child = command.spawn().map_err(cannot_start)?;
        let mut stdin = child.stdin.take().expect("BUG: stdin is piped");
        if input.is_empty() {
            drop(stdin);
            return child.wait_with_output().map_err(cannot_start);
        }
        // Input is written beside reading the output: either pipe may fill up first.
        let written = thread::scope(|scope| {
            let write = move || {
                let _ = stdin.write_all(input);
            };
            match thread::Builder::new().spawn_scoped(scope, write) {
                Ok(_) => child.wait_with_output(),
                // Half an input is another command than the one that was meant.
                Err(cause) => child.kill().and(child.wait()).and(Err(cause)),
            }
        });
        written.map_err(cannot_start)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.root);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in LOCAL_ENV_VARS {
            command.env_remove(name);
        }
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        command.env("GIT_LITERAL_PATHSPECS", "1");
        command.env("GIT_EDITOR", "true");
        command.env("LC_ALL", "C");
        for setting in HARDENING {
            command.args(["-c", setting]);
        }
        command
    }

    fn failure<S: AsRef<OsStr>>(&self, arguments: &[S], output: &Output) -> Error {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        let command = shown(arguments);
        let root = self.root.display();
        let error = match said.is_empty() {
            false => Error::internal(format!("`git {command}` in {root} failed: {said}")),
            true => Error::internal(format!(
                "`git {command}` in {root} failed: {}",
                output.status
            ))
            .hint("something ended it; run evolve again"),
        };
        let error = error.advised();
        match said.contains(".lock': File exists") {
            true => {
                error.hint("another git is at work here; if none is, remove the lock file it names")
            }
            false => error,
        }
    }
}

fn shown<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.as_ref().to_string_lossy())
        .collect();
    words.join(" ")
}

fn cannot_start(cause: std::io::Error) -> Error {
    match cause.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(Kind::Unsafe, "the program `git` is not on the PATH")
                .hint("install git 2.25 or later")
        }
        _ => Error::internal(format!("cannot run git: {cause}")).advised(),
    }
}
