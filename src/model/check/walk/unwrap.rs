//! What stands before a command itself: reserved words, assignments, and programs that run another one. Pure.

use super::super::call::{Call, stem};
use super::super::places::Places;
use super::super::programs::{self, scan, wrapper};
use super::super::shell::{self, Item, is_assignment};
use super::Walk;
use super::words::is_literal;

/// Variables by which tools are told what program to run: make's implicit ones (GNU make manual, 10.3), cargo's, and Git's.
const PROGRAMS: &[&str] = &[
    "AR",
    "AS",
    "CC",
    "CPP",
    "CXX",
    "FC",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "LD",
    "LEX",
    "MAKE",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTFMT",
    "SHELL",
    "YACC",
];

/// Says whether a variable tells a tool what program to run.
fn names_program(name: &str) -> bool {
    let is_cargos = |rest: &str| rest.ends_with("_LINKER") || rest.ends_with("_RUNNER");
    PROGRAMS.contains(&name)
        || name.strip_prefix("CARGO_TARGET_").is_some_and(is_cargos)
        || name.starts_with("CMAKE_") && name.ends_with("_LAUNCHER")
}

fn words_of(value: &str) -> Vec<String> {
    value.split_whitespace().map(str::to_owned).collect()
}

/// How many arguments of `parallel` are followed.
const MOST_ARGUMENTS: usize = 64;

/// How many aliases of one call of git are followed.
const MOST_ALIASES: usize = 8;

/// A command without what stands before it.
#[derive(Default)]
pub struct Inner {
    /// The program and its arguments; may be empty.
    pub words: Vec<String>,
    /// The folder that it was sent to: `env -C`.
    pub dir: Option<Option<String>>,
    /// Where it looks for programs and modules, if something before it says so.
    pub places: Option<Places>,
    /// Its arguments are read from what is piped into it.
    pub is_fed: bool,
    /// It gets as many of them at once as there are.
    pub is_batch: bool,
    /// They stand where its words have a place for them.
    pub is_placed: bool,
    /// Where the files lie whose names are piped into it, as far as that is told.
    pub found: Vec<String>,
    /// Files that hold arguments for it.
    pub lists: Vec<String>,
    /// What has it from a place of its own: `uv run`, `npx`.
    pub brought_by: Option<String>,
    /// The variables that are set for it; none where that is not known.
    pub set: Option<Vec<String>>,
}

impl Walk {
    /// Takes away what stands before the command itself. What such a program takes as code is gone through.
    pub fn unwrapped(&mut self, words: Vec<String>) -> Inner {
        let mut inner = Inner {
            words,
            set: self.set.clone(),
            ..Inner::default()
        };
        let mut set = Vec::new();
        self.unwrap(&mut inner, &mut set);
        // What they load is looked for where all of them say.
        let places = inner.places.clone();
        let before = places.map(|places| std::mem::replace(&mut self.places, places));
        set.iter().for_each(|word| self.preload(word));
        self.places = before.unwrap_or_else(|| std::mem::take(&mut self.places));
        inner
    }

    fn unwrap(&mut self, inner: &mut Inner, set: &mut Vec<String>) {
        while let Some(first) = inner.words.first() {
            let words = &inner.words;
            let skip = match first.as_str() {
                "!" | "{" | "if" | "then" | "elif" | "else" | "while" | "until" | "do"
                | "coproc" => 1,
                // The words of a loop or a choice are no command; what it does comes as commands of its own.
                "for" | "case" | "select" | "function" | "read" => words.len(),
                "command" => match words.get(1).map(String::as_str) {
                    Some("-v" | "-V") => words.len(),
                    Some("-p" | "--") => 2,
                    _ => 1,
                },
                word if is_assignment(word) => {
                    set.push(word.to_owned());
                    self.set(inner);
                    1
                }
                word => match (
                    (word.to_owned(), keeps_variables(words)),
                    self.wrapped(inner),
                ) {
                    (_, None) => return,
                    ((word, keeps), Some(skip)) => {
                        inner.set.take_if(|_| !keeps);
                        if brings(&stem(&word)) {
                            inner.brought_by.get_or_insert(word);
                        }
                        self.put_behind_packages(inner);
                        skip
                    }
                },
            };
            inner.words.drain(..skip.min(inner.words.len()));
        }
    }

    /// Notes that a package manager of Node's runs the command.
    fn put_behind_packages(&self, inner: &mut Inner) {
        let name = inner.words.first().map(|word| stem(word));
        let name = name.unwrap_or_default();
        if matches!(name.as_str(), "npx" | "bunx" | "npm" | "pnpm" | "yarn") {
            let places = inner.places.as_ref().unwrap_or(&self.places);
            let dir = inner.dir.clone().unwrap_or_else(|| self.dir());
            inner.places = Some(places.behind_packages(dir.as_deref()));
        }
    }

    /// Learns from the assignment before a command.
    fn set(&mut self, inner: &mut Inner) {
        let dir = inner.dir.clone().unwrap_or_else(|| self.dir());
        let dir = dir.filter(|dir| !dir.starts_with('/'));
        let places = inner.places.get_or_insert_with(|| self.places.clone());
        places.learn(&inner.words[0], dir.as_deref());
        inner.set.take_if(|_| !is_literal(&inner.words[0]));
        if let Some(set) = &mut inner.set {
            set.push(inner.words[0].clone());
        }
    }

    /// Remembers a file that a variable tells a program to load before all else.
    pub fn preload(&mut self, word: &str) {
        let Some((name, value)) = word.split_once('=') else {
            return;
        };
        let mut words: Vec<String> = match name {
            "BASH_ENV" | "ENV" => vec![".".to_owned(), value.to_owned()],
            "LD_PRELOAD" => vec![value.to_owned()],
            "NODE_OPTIONS" | "PERL5OPT" | "RUBYOPT" => words_of(value),
            "PYTHONSTARTUP" => vec!["python3".to_owned(), value.to_owned()],
            "MAKEFILES" => {
                for file in value.split_whitespace() {
                    self.imply(vec!["make".to_owned(), "-f".to_owned(), file.to_owned()]);
                }
                return;
            }
            name if names_program(name) => words_of(value),
            _ => return,
        };
        if words.is_empty() {
            return;
        }
        match name {
            "NODE_OPTIONS" => words.insert(0, "node".to_owned()),
            "PERL5OPT" => words.insert(0, "perl".to_owned()),
            "RUBYOPT" => words.insert(0, "ruby".to_owned()),
            _ => {}
        }
        self.imply(words);
    }

    /// Adds a call that does not stand in the text as such.
    pub fn imply(&mut self, words: Vec<String>) {
        let call = Call::of(self.dir(), words).with(&self.places);
        self.calls.push(Call {
            is_implied: true,
            ..call
        });
    }

    /// Returns how many words stand before the command that a program runs; none if it runs none.
    fn wrapped(&mut self, inner: &mut Inner) -> Option<usize> {
        let words = &inner.words;
        let name = words[0].rsplit('/').next().unwrap_or_default().to_owned();
        let skip = match name.as_str() {
            "parallel" => self.parallel(inner),
            "env" => self.environment(inner),
            "nix" => {
                let is_last = |word: &String| matches!(word.as_str(), "-c" | "--command");
                words.iter().position(is_last).map(|at| at + 1)
            }
            _ => runner(&name, words),
        };
        if let Some(skip) = skip {
            let is_run = inner.words.get(1).is_some_and(|word| word == "run");
            self.noticed(&inner.words[0], inner.brought_by.as_ref());
            // A script needs no path behind a runner, unlike a command of the shell.
            if let Some(script) = inner.words.get_mut(skip)
                && script.ends_with(".py")
                && !script.contains('/')
                && is_run
            {
                script.insert_str(0, "./");
            }
            return Some(skip);
        }
        let (options, operands) = wrapper(&name)?;
        self.noticed(&inner.words[0], inner.brought_by.as_ref());
        let words = &inner.words;
        let found = scan(words, &options);
        if let Some((_, code)) = found.code {
            self.code(&code, true);
            return Some(words.len());
        }
        let skip = found.operand.map_or(words.len(), |at| at + operands);
        match (name.as_str(), words.get(skip).map(String::as_str)) {
            ("flock", Some("-c" | "--command")) => {
                let code = words.get(skip + 1).cloned().unwrap_or_default();
                self.code(&code, true);
                return Some(words.len());
            }
            ("direnv", _) => {
                let folder = words.get(2).map_or("", String::as_str).to_owned();
                self.imply(vec![".".to_owned(), format!("{folder}/.envrc")]);
            }
            ("xargs", _) => {
                inner.is_batch = !inner.words[..skip.min(inner.words.len())]
                    .iter()
                    .any(|it| divides(it));
                feed(inner, skip, &found.files);
            }
            _ => {}
        }
        Some(skip)
    }

    /// Remembers a program that runs another one: it may lie in the repository, and has settings of its own.
    fn noticed(&mut self, command: &str, brought_by: Option<&String>) {
        self.imply(vec![command.to_owned()]);
        if let Some(call) = self.calls.last_mut() {
            call.is_in_front = true;
            call.brought_by = brought_by.cloned();
        }
        self.looked_for(command);
    }

    /// `env` may change the folder, and take a command as one word.
    fn environment(&mut self, inner: &mut Inner) -> Option<usize> {
        let options = programs::Options {
            takes: "u",
            code: "S",
            files: "C",
            long_takes: &["unset"],
            long_code: &["split-string"],
            long_files: &["chdir"],
            ..programs::Options::default()
        };
        let found = scan(&inner.words, &options);
        if let Some(target) = found.files.first() {
            let dir = inner.dir.clone().unwrap_or_else(|| self.place());
            inner.dir = Some(self.places.root.go(dir.as_deref(), target));
        }
        let Some((_, code)) = found.code else {
            return Some(found.operand.unwrap_or(inner.words.len()));
        };
        let at = inner.words.iter().position(|word| word.ends_with(&code));
        let rest = inner
            .words
            .split_off(at.map_or(inner.words.len(), |at| at + 1));
        let first = shell::items(&code).into_iter().find_map(|item| match item {
            Item::Command(command) => Some(command.words),
            Item::Open | Item::Close => None,
        });
        inner.words = first.unwrap_or_default();
        inner.words.extend(rest);
        Some(0)
    }

    /// `parallel COMMAND ::: ARGUMENTS` runs the command once for each.
    fn parallel(&mut self, inner: &mut Inner) -> Option<usize> {
        let options = programs::Options {
            takes: "jNSaInd",
            long_takes: &["jobs", "arg-file", "max-args", "timeout", "joblog"],
            ..programs::Options::default()
        };
        let start = scan(&inner.words, &options).operand?;
        let is_end = |word: &String| word.starts_with(":::");
        let Some(end) = inner
            .words
            .iter()
            .position(is_end)
            .filter(|end| start <= *end)
        else {
            feed(inner, start, &[]);
            return Some(start);
        };
        let command = inner.words[start..end].to_vec();
        let arguments = inner.words[end + 1..].iter().take(MOST_ARGUMENTS);
        let arguments: Vec<String> = arguments.cloned().collect();
        if inner.words[end].starts_with("::::") {
            inner.words.truncate(end);
            feed(inner, start, &arguments);
            return Some(start);
        }
        for argument in &arguments {
            let has_place = command.iter().any(|word| word.contains("{}"));
            let placed = command.iter().map(|word| word.replace("{}", argument));
            let mut words: Vec<String> = placed.collect();
            if !has_place {
                words.push(argument.clone());
            }
            self.nested(words);
        }
        Some(inner.words.len())
    }
}

/// Says whether a program that runs another one leaves it the variables that it has itself.
fn keeps_variables(words: &[String]) -> bool {
    let has_option = words.get(1).is_some_and(|word| word.starts_with('-'));
    match words[0].as_str() {
        "nice" | "nohup" | "time" | "timeout" => true,
        "env" | "exec" => !has_option,
        _ => false,
    }
}

/// Says whether an option of `xargs` tells how many arguments are handed on at once.
fn divides(word: &str) -> bool {
    let names = ["--max-args", "--max-lines", "--replace"];
    match word.starts_with("--") {
        true => names.iter().any(|name| word.starts_with(name)),
        false => word.starts_with('-') && word.contains(['n', 'L', 'l', 'I', 'i']),
    }
}

/// Says whether an option of `xargs` tells for what in its words an argument stands.
fn replaces(word: &str) -> bool {
    match word.starts_with("--") {
        true => word.starts_with("--replace"),
        false => word.starts_with('-') && word.contains(['I', 'i']),
    }
}

/// Marks a command that gets its arguments from a list; where an argument is but a part of a word, that is a pattern.
fn feed(inner: &mut Inner, start: usize, lists: &[String]) {
    inner.is_fed = true;
    inner.lists.extend_from_slice(lists);
    let mut mark = "{}";
    let mut options = inner.words[..start.min(inner.words.len())].iter();
    while let Some(word) = options.next() {
        mark = match word.strip_prefix("-I").or(word.strip_prefix("--replace=")) {
            Some("") => options.next().map_or(mark, String::as_str),
            Some(given) => given,
            None => mark,
        };
    }
    let mark = mark.to_owned();
    inner.is_placed = inner.words[..start.min(inner.words.len())]
        .iter()
        .any(|it| replaces(it));
    for word in inner.words.iter_mut().skip(start) {
        if *word == mark {
            "{}".clone_into(word);
        } else if !mark.is_empty() && word.contains(&mark) && word.len() < 4096 {
            *word = word.replace(&mark, "*");
            inner.is_placed = true;
        }
    }
}

/// Returns the words behind which a program runs another one from its environment.
fn verbs(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "uv" | "poetry" | "pipenv" | "bundle" | "hatch" | "pdm" | "rye" | "conda" | "mamba"
        | "micromamba" | "pixi" | "devbox" | "mise" => &["run", "exec"],
        "npm" | "pnpm" | "yarn" | "asdf" | "rbenv" | "pyenv" => &["exec"],
        "perf" => &["stat", "record"],
        _ => return None,
    })
}

/// Returns how many words stand before the command of `uv run …` and its like.
fn runner(name: &str, words: &[String]) -> Option<usize> {
    if !verbs(name)?.contains(&words.get(1)?.as_str()) {
        return None;
    }
    let options = programs::Options {
        takes: "pmneo",
        long_takes: &[
            "with",
            "python",
            "extra",
            "group",
            "env-file",
            "directory",
            "name",
            "project",
        ],
        ..programs::Options::default()
    };
    Some(scan(&words[1..], &options).operand? + 1)
}

/// Says whether what a program runs comes from a place of its own, where it installs it if need be.
fn brings(name: &str) -> bool {
    match name {
        "npx" | "bunx" | "uvx" | "nix" | "nix-shell" | "direnv" => true,
        name => verbs(name).is_some() && name != "perf",
    }
}

/// Returns the folder that a program is told by an option to work in.
pub fn sent_to(words: &[String]) -> Option<&str> {
    let names: &[&str] = match stem(words.first()?).as_str() {
        "make" | "gmake" | "ninja" => &["-C", "--directory"],
        "npm" | "pnpm" => &["--prefix", "-C", "--dir"],
        "yarn" | "bun" => &["--cwd"],
        "go" => &["-C"],
        "just" => &["-d", "--working-directory"],
        "task" => &["-d", "--dir"],
        "composer" => &["-d", "--working-dir"],
        _ => return None,
    };
    let mut options = words.iter().enumerate().skip(1);
    options.find_map(|(at, word)| {
        let mut values = names.iter().filter_map(|name| {
            let rest = word.strip_prefix(name)?;
            match (rest, name.starts_with("--")) {
                ("", _) => words.get(at + 1).map(String::as_str),
                (rest, true) => rest.strip_prefix('='),
                (rest, false) => Some(rest),
            }
        });
        values.next()
    })
}

/// Returns the code for a shell that `git` is told to run: by an alias in place of a command of its own, for each submodule, or behind
/// each commit.
pub fn codes_of_git(words: &[String]) -> Vec<String> {
    if stem(&words[0]) != "git" {
        return Vec::new();
    }
    let pairs = || words.windows(2).map(|pair| (pair[0].as_str(), &pair[1]));
    let settings = pairs().filter(|(option, _)| *option == "-c");
    let aliases = settings.filter_map(|(_, setting)| {
        let (_, code) = setting.strip_prefix("alias.")?.split_once("=!")?;
        Some(code.to_owned())
    });
    let is_rebase = words.iter().any(|word| word == "rebase");
    let behind = pairs().filter(|(option, _)| is_rebase && matches!(*option, "-x" | "--exec"));
    let behind = behind.map(|(_, code)| code.clone());
    let each = words.iter().position(|word| word == "foreach");
    let each = each.filter(|_| words.iter().any(|word| word == "submodule"));
    let each = each.map(|at| {
        let code = words[at + 1..].iter().skip_while(|it| it.starts_with('-'));
        let code = code.cloned().collect::<Vec<_>>().join(" ");
        // The root of the repository around the submodule.
        code.replace("$toplevel", ".")
    });
    aliases
        .chain(behind)
        .chain(each)
        .take(MOST_ALIASES)
        .collect()
}

/// Returns the command that `git` is told to run on each commit that it looks at.
pub fn handed_by_git(words: &[String]) -> Option<&[String]> {
    let at = words
        .windows(2)
        .position(|pair| pair == ["bisect", "run"])?;
    let handed = &words[at + 2..];
    (stem(&words[0]) == "git" && !handed.is_empty()).then_some(handed)
}

/// Says whether a package manager is told to work on all packages of a repository.
pub fn is_for_all(words: &[String]) -> bool {
    let has = |names: &[&str]| words[1..].iter().any(|word| names.contains(&word.as_str()));
    match stem(&words[0]).as_str() {
        "npm" => has(&["-r", "--workspaces", "--ws", "-ws"]),
        "pnpm" => has(&["-r", "--recursive"]),
        "yarn" => words.get(1).is_some_and(|word| word == "workspaces"),
        _ => false,
    }
}

/// Returns the folders in which a package may lie that a package manager is told to work on.
pub fn packages(words: &[String]) -> Vec<String> {
    if !matches!(stem(&words[0]).as_str(), "npm" | "pnpm" | "yarn" | "bun") {
        return Vec::new();
    }
    let is_option = |word: &str| matches!(word, "--filter" | "-F" | "--workspace" | "-w");
    let mut names: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        names.extend(match word.split_once('=') {
            Some((option, name)) => is_option(option).then_some(name),
            None if is_option(word) => words.get(at + 1).map(String::as_str),
            // `yarn workspace NAME COMMAND`.
            None if at == 1 && word == "workspace" => words.get(2).map(String::as_str),
            None => None,
        });
    }
    let mut found = Vec::new();
    if is_for_all(words) {
        found.extend(["*", "packages/*", "apps/*", "libs/*"].map(str::to_owned));
    }
    for name in names.into_iter().take(8) {
        let name = name.trim_start_matches("./");
        // A package's name may begin with that of whom it belongs to.
        let last = name.rsplit('/').next().unwrap_or(name);
        found.push(name.to_owned());
        found.extend(["packages", "apps", "libs"].map(|folder| format!("{folder}/{last}")));
    }
    found
}
