//! The programs that shell text calls, and the folder that each is called in. Pure.

use super::call::{Call, ROOT, join, stem};
use super::programs::{self, is_shell, scan, wrapper};
use super::shell::{self, Command, EACH, Item, NEXT, PRINTED, SELF, UNKNOWN, is_assignment};
use super::tasks::Code;

/// How often code inside code (`sh -c "sh -c …"`) is looked into.
const MAX_NESTING: usize = 8;

/// How many words of what goes through a pipe are remembered.
const MOST_PIPED: usize = 64;

/// How often a command of a loop is taken with another value of its variable, in all.
const MAX_TURNS: usize = 1024;

/// Returns the programs that a check calls.
pub fn calls(check: &str) -> Vec<Call> {
    Code::of_check(check).calls()
}

/// What a walk through code found.
pub struct Walked {
    /// The programs that it calls.
    pub calls: Vec<Call>,
    /// The commands whose output goes on, into a program, a word or a file.
    pub handed_on: Vec<Call>,
    /// A variable in it has a value that was computed.
    pub computes: bool,
}

impl Code {
    /// Returns the programs that the code calls.
    pub fn calls(&self) -> Vec<Call> {
        self.walked().calls
    }

    /// Goes through the code.
    pub fn walked(&self) -> Walked {
        let mut walk = Walk {
            calls: Vec::new(),
            handed_on: Vec::new(),
            computes: false,
            piped: None,
            dirs: vec![self.dir.clone()],
            nesting: 0,
            turns: 0,
            script: self.script.clone(),
        };
        walk.text(&self.text);
        Walked {
            calls: walk.calls,
            handed_on: walk.handed_on,
            computes: walk.computes,
        }
    }
}

/// Goes through shell text, following `cd`.
struct Walk {
    calls: Vec<Call>,
    /// See `Walked`.
    handed_on: Vec<Call>,
    /// See `Walked`.
    computes: bool,
    /// The words of the commands whose output goes into the next one.
    piped: Option<Vec<String>>,
    /// The directory of each open subshell, the innermost last; never empty.
    dirs: Vec<Option<String>>,
    nesting: usize,
    turns: usize,
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
                Item::Command(command) => self.turns_of(command),
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
            _ if word.contains(EACH) => UNKNOWN.to_string(),
            _ => word.replace(SELF, "$"),
        }
    }

    fn dir(&self) -> Option<String> {
        self.dirs.last().cloned().flatten()
    }

    /// Takes a command once for each value of a loop's variable.
    fn turns_of(&mut self, command: Command) {
        let is_each = |word: &String| word.contains(EACH);
        let values = command.words.iter().find_map(|word| each_in(word));
        let Some(values) = values.filter(|all| self.turns + all.len() <= MAX_TURNS) else {
            return self.command(command);
        };
        self.turns += values.len();
        let whole = format!("{EACH}{}{EACH}", values.join(&NEXT.to_string()));
        for value in values {
            let mut one = command.clone();
            for word in one.words.iter_mut().filter(|word| is_each(word)) {
                *word = word.replace(&whole, &value);
            }
            self.command(one);
        }
    }

    fn command(&mut self, command: Command) {
        let piped = self.piped.take();
        let words = command.words.iter().map(|word| self.placed(word));
        let words: Vec<String> = words.collect();
        let is_set = |word: &String| is_assignment(word) && word.contains(UNKNOWN);
        self.computes |= words.iter().any(is_set)
            || matches!(words[0].as_str(), "for" | "read")
            || words.get(1).is_some_and(|word| word == "read");
        let words = unwrap(words);
        self.hand_on(&command, &words, piped.as_ref());
        let stdin = command.stdin.map(|word| self.placed(&word));
        let Some(name) = words.first().map(|word| stem(word)) else {
            return;
        };
        let call = |walk: &mut Walk, words| {
            walk.calls.push(Call {
                dir: walk.dir(),
                words: known(words),
                stdin,
                text: command.text.clone(),
                piped: piped.unwrap_or_default(),
            });
        };
        match name.as_str() {
            "cd" => self.change_dir(&words),
            "eval" => self.code(&words[1..].join(" "), false),
            "trap" => {
                if let Some(code) = words.get(1) {
                    self.inner_text(code);
                }
            }
            "find" => self.found(&words),
            "make" | "gmake" => self.made(words),
            name if is_shell(name) => match (shell_code(&words), &command.text) {
                (Some(code), _) => self.code(&code, true),
                (None, Some(text)) if scan(&words, &programs::SHELL).operand.is_none() => {
                    let text = text.clone();
                    self.inner_text(&text);
                }
                (None, _) => call(self, words),
            },
            _ => call(self, words),
        }
    }

    /// Remembers what goes on from a command, and where.
    fn hand_on(&mut self, command: &Command, words: &[String], piped: Option<&Vec<String>>) {
        let is_copy = words.first().is_some_and(|word| copies(&stem(word)));
        let is_search = words.first().is_some_and(|word| stem(word) == "find");
        if command.hands_on && !words.is_empty() || is_copy || is_search {
            self.handed_on.push(Call::of(self.dir(), words.to_vec()));
        }
        if command.is_piped {
            let mut all = piped.cloned().unwrap_or_default();
            match words.first().map(|word| stem(word)).as_deref() {
                Some("find") => all.extend_from_slice(places(words)),
                Some(name) if shows(name) => all.extend(words.iter().skip(1).cloned()),
                Some(_) | None => {}
            }
            all.truncate(MOST_PIPED);
            self.piped = Some(all);
        }
    }

    /// Reads code that is handed on as a word; what `$(cat FILE)` put there is the code of that file.
    fn code(&mut self, code: &str, is_inner: bool) {
        let mut rest = String::new();
        for (at, part) in code.split(PRINTED).enumerate() {
            match at % 2 {
                0 => rest.push_str(part),
                _ => self
                    .calls
                    .push(Call::of(self.dir(), vec!["sh".to_owned(), part.to_owned()])),
            }
        }
        match is_inner {
            true => self.inner_text(&rest),
            false => self.text(&rest),
        }
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
            self.piped = Some(places(words).to_vec());
            self.nested(command.to_vec());
            self.piped = None;
            rest = after;
        }
    }

    fn nested(&mut self, words: Vec<String>) {
        if self.nesting < MAX_NESTING {
            self.nesting += 1;
            self.command(Command::of(words));
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
        self.calls.push(Call::of(dir, known(words)));
    }
}

/// Returns words with the mark for what is not known where a file's content is.
fn known(words: Vec<String>) -> Vec<String> {
    let parts = |word: &String| word.split(PRINTED).map(str::to_owned).collect::<Vec<_>>();
    let shown = |word: String| match parts(&word).as_slice() {
        [_] => word,
        parts => parts
            .iter()
            .step_by(2)
            .cloned()
            .collect::<Vec<_>>()
            .join("$"),
    };
    words.into_iter().map(shown).collect()
}

/// Returns the values that a loop's variable in `word` takes.
fn each_in(word: &str) -> Option<Vec<String>> {
    let (_, rest) = word.split_once(EACH)?;
    let (values, _) = rest.split_once(EACH)?;
    Some(values.split(NEXT).map(str::to_owned).collect())
}

/// Returns the places in which `find` is to look.
pub fn places(words: &[String]) -> &[String] {
    let is_place = |word: &&String| !word.starts_with(['-', '(', '!']);
    let count = words.iter().skip(1).take_while(is_place).count();
    &words[1..=count]
}

/// Says whether a program prints the content of files, or their names, as they are.
fn shows(name: &str) -> bool {
    matches!(
        name,
        "cat" | "ls" | "printf" | "echo" | "git" | "head" | "tail" | "sort"
    )
}

/// Says whether a program puts files elsewhere.
fn copies(name: &str) -> bool {
    matches!(
        name,
        "cp" | "mv" | "ln" | "install" | "rsync" | "tar" | "tee" | "dd"
    )
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
            "for" | "case" | "select" | "function" | "read" => words.len(),
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
