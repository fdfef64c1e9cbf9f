//! The programs that shell text calls, and the folder that each is called in. Pure.

use super::call::{Call, ROOT, join, stem};
use super::programs::{self, is_shell, scan, wrapper};
use super::shell::{self, Command, Item, SELF, is_assignment};
use super::tasks::Code;

/// How often code inside code (`sh -c "sh -c …"`) is looked into.
const MAX_NESTING: usize = 8;

/// Returns the programs that a check calls.
pub fn calls(check: &str) -> Vec<Call> {
    Code::of_check(check).calls()
}

impl Code {
    /// Returns the programs that the code calls.
    pub fn calls(&self) -> Vec<Call> {
        let mut walk = Walk {
            calls: Vec::new(),
            dirs: vec![self.dir.clone()],
            nesting: 0,
            script: self.script.clone(),
        };
        walk.text(&self.text);
        walk.calls
    }
}

/// Goes through shell text, following `cd`.
struct Walk {
    calls: Vec<Call>,
    /// The directory of each open subshell, the innermost last; never empty.
    dirs: Vec<Option<String>>,
    nesting: usize,
    /// Whose text this is.
    script: Option<String>,
}

impl Walk {
    fn text(&mut self, text: &str) {
        if self.nesting >= MAX_NESTING {
            return;
        }
        self.nesting += 1;
        let open = self.dirs.len();
        for item in shell::items(text) {
            match item {
                Item::Open => self.dirs.push(self.dir()),
                Item::Close if self.dirs.len() > open => {
                    self.dirs.pop();
                }
                Item::Close => {}
                Item::Command(command) => self.command(command),
            }
        }
        self.dirs.truncate(open);
        self.nesting -= 1;
    }

    /// Reads code that runs in a shell of its own.
    fn inner_text(&mut self, text: &str) {
        let script = self.script.take();
        self.dirs.push(self.dir());
        self.text(text);
        self.dirs.pop();
        self.script = script;
    }

    /// Puts the script's path where a word has a mark for it.
    fn placed(&self, word: &str) -> String {
        match (&self.script, word.strip_prefix(SELF)) {
            (Some(script), Some(rest)) => format!("{ROOT}{script}{rest}"),
            _ => word.replace(SELF, "$"),
        }
    }

    fn dir(&self) -> Option<String> {
        self.dirs.last().cloned().flatten()
    }

    fn command(&mut self, command: Command) {
        let words = command.words.iter().map(|word| self.placed(word));
        let words = unwrap(words.collect());
        let stdin = command.stdin.map(|word| self.placed(&word));
        let Some(name) = words.first().map(|word| stem(word)) else {
            return;
        };
        match name.as_str() {
            "cd" => self.change_dir(&words),
            "eval" => self.text(&words[1..].join(" ")),
            "trap" => {
                if let Some(code) = words.get(1) {
                    self.inner_text(code);
                }
            }
            "find" => self.found(&words),
            "make" | "gmake" => self.made(words),
            name if is_shell(name) => match shell_code(&words) {
                Some(code) => self.inner_text(&code),
                None => self.call(words, stdin),
            },
            _ => self.call(words, stdin),
        }
    }

    fn call(&mut self, words: Vec<String>, stdin: Option<String>) {
        let dir = self.dir();
        self.calls.push(Call { dir, words, stdin });
    }

    fn change_dir(&mut self, words: &[String]) {
        let target = words[1..]
            .iter()
            .find(|word| !matches!(word.as_str(), "-P" | "-L" | "--" | "-e"));
        let dir = match (self.dir(), target) {
            (_, Some(target)) if target.starts_with(ROOT) => join("", target),
            (Some(dir), Some(target)) => join(&dir, target),
            // Home, or somewhere below a directory that is not known.
            (Some(_) | None, _) => None,
        };
        if let Some(last) = self.dirs.last_mut() {
            *last = dir;
        }
    }

    /// Takes the commands that `find` is told to run.
    fn found(&mut self, words: &[String]) {
        let mut rest = words;
        while let Some(at) = rest
            .iter()
            .position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
        {
            rest = &rest[at + 1..];
            let end = rest
                .iter()
                .position(|word| matches!(word.as_str(), ";" | "+"));
            let (command, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.nested(command.to_vec());
            rest = after;
        }
    }

    fn nested(&mut self, words: Vec<String>) {
        if self.nesting < MAX_NESTING {
            self.nesting += 1;
            self.command(Command { words, stdin: None });
            self.nesting -= 1;
        }
    }

    /// `make -C DIR` works in another directory.
    fn made(&mut self, words: Vec<String>) {
        let dir = words
            .iter()
            .enumerate()
            .find_map(|(at, word)| match word.as_str() {
                "-C" | "--directory" => words.get(at + 1).map(String::as_str),
                word => word
                    .strip_prefix("--directory=")
                    .or_else(|| word.strip_prefix("-C")),
            });
        let dir = match dir {
            Some(target) => self.dir().and_then(|dir| join(&dir, target)),
            None => self.dir(),
        };
        self.calls.push(Call {
            dir,
            words,
            stdin: None,
        });
    }
}

/// Returns the code of `sh -c CODE`: the first operand, wherever the `c` stands among the options.
fn shell_code(words: &[String]) -> Option<String> {
    let operand = scan(words, &programs::SHELL).operand?;
    let has_code = words[1..operand]
        .iter()
        .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'));
    has_code.then(|| words[operand].clone())
}

/// Takes away what stands before the command itself: reserved words, assignments, and programs that run another one.
fn unwrap(mut words: Vec<String>) -> Vec<String> {
    loop {
        let Some(first) = words.first() else {
            return words;
        };
        let skip = match first.as_str() {
            "!" | "{" | "if" | "then" | "elif" | "else" | "while" | "until" | "do" => 1,
            // The words of a loop or a choice are no command; what it does comes as commands of its own.
            "for" | "case" | "select" | "function" => words.len(),
            "command" => match words.get(1).map(String::as_str) {
                Some("-v" | "-V") => words.len(),
                Some("-p" | "--") => 2,
                _ => 1,
            },
            "uv" | "poetry" | "pipenv" | "bundle" | "hatch" | "pdm" | "rye" => {
                let Some(skip) = runner(&words) else {
                    return words;
                };
                // A script needs no path here, unlike a command of the shell.
                if words[skip].ends_with(".py") && !words[skip].contains('/') {
                    words[skip].insert_str(0, "./");
                }
                skip
            }
            word if is_assignment(word) => 1,
            word => match wrapper(word) {
                None => return words,
                Some((options, operands)) => match scan(&words, &options).operand {
                    Some(operand) => operand + operands,
                    None => words.len(),
                },
            },
        };
        words.drain(..skip.min(words.len()));
    }
}

/// Returns how many words stand before the command of `uv run …` and its like.
fn runner(words: &[String]) -> Option<usize> {
    let verb = words.get(1)?;
    if !matches!(verb.as_str(), "run" | "exec") {
        return None;
    }
    let options = programs::Options {
        takes: "pm",
        long_takes: &[
            "with",
            "python",
            "extra",
            "group",
            "env-file",
            "directory",
            "project",
        ],
        ..programs::Options::default()
    };
    Some(scan(&words[1..], &options).operand? + 1)
}
