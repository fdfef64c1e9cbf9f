//! Which files of the repository a check runs, and which steer what it runs. Pure.
//!
//! Running is being the command, or the script handed to an interpreter. A file that is merely read is what a goal is about, and is
//! not named here. Only what stands literally in the text is found: `sh "$script"` names nothing.

use std::fmt;

mod modules;
mod programs;
mod shell;
mod tasks;
mod whole;

use programs::{
    Arguments, Groups, hooks, interpreter, is_shell, orders, scan, script_by_option, steering,
    wrapper,
};
use shell::{Command, Item, SELF};

pub use modules::{Front, fronts, imported};
pub use tasks::{Code, Used, code_in, included};
pub use whole::looks_at_everything;

/// How often code inside code (`sh -c "sh -c …"`) is looked into.
const MAX_NESTING: usize = 8;

/// What a path below the root begins with that does not depend on the current folder.
const ROOT: char = '\u{2}';

/// Returns the files of the repository that `check` runs, relative to its root, in the order of the text. `is_file` says whether
/// such a path is a file of the repository.
pub fn runs(check: &str, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    runs_of(&calls(check), is_file)
}

fn runs_of(calls: &[Call], is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut paths = Vec::new();
    for call in calls {
        for word in call.scripts() {
            add(&mut paths, call.path(&word), is_file);
        }
    }
    paths
}

/// Returns the files of the repository that steer what `check` runs and that it does not run itself: a Makefile's recipes, the
/// scripts of package.json, a linter's configuration. Only `protect` can freeze them.
pub fn leans_on(check: &str, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    let calls = calls(check);
    let mut paths = Vec::new();
    for call in &calls {
        for path in call.steered_by(is_file) {
            add(&mut paths, Some(path), is_file);
        }
    }
    let run = runs_of(&calls, is_file);
    paths.retain(|path| !run.contains(path));
    paths
}

/// Returns the files of the repository that `code` runs or is steered by, and what it asks of them.
pub fn uses(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<Used> {
    let mut found: Vec<Used> = Vec::new();
    for call in code.calls() {
        let scripts = call.scripts();
        let run = scripts.iter().filter_map(|word| call.path(word));
        let run = run.map(|file| (file, call.dir.clone()));
        let steering = call.steered_by(is_file).into_iter().map(|file| {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            (file.clone(), Some(folder.to_owned()))
        });
        for (file, dir) in run.chain(steering).filter(|(file, _)| is_file(file)) {
            let tasks = match tasks::has_tasks(&file) {
                true => tasks::asked(&call),
                false => Vec::new(),
            };
            let used = Used { file, dir, tasks };
            if !found.contains(&used) {
                found.push(used);
            }
        }
    }
    found
}

/// Returns the paths, there or not, of what could steer what `code` runs.
pub fn may_steer(code: &Code) -> Vec<String> {
    let calls = code.calls();
    let groups = calls.iter().flat_map(|call| call.choices(steering));
    groups.flatten().collect()
}

/// Returns what is not there and would be taken in place of a file that is, with that file: GNUmakefile before Makefile.
pub fn instead(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<Instead> {
    let mut found = Vec::new();
    for call in code.calls() {
        for group in call
            .choices(steering)
            .into_iter()
            .chain(call.choices(orders))
        {
            let Some(at) = group.iter().position(|path| is_file(path)) else {
                continue;
            };
            found.extend(group[..at].iter().map(|path| Instead {
                path: path.clone(),
                of: group[at].clone(),
            }));
        }
    }
    found
}

/// A file that a tool would take in place of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// Not there yet.
    pub path: String,
    /// The file that counts as long as it is not.
    pub of: String,
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Instead { path, of } = self;
        write!(f, "{path} would be taken in place of {of}")
    }
}

/// Says whether `path` is a file that would steer what `check` runs, there already or not: a tool finds it by its name.
pub fn is_steered_by(check: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_hooked = || {
        calls(check).iter().any(|call| {
            let (tool, program) = (call.steered().0, stem(&call.words[0]));
            hooks(&tool).contains(&name) || hooks(&program).contains(&name)
        })
    };
    !leans_on(check, &|file| file == path).is_empty() || is_hooked()
}

/// Says whether a script is one for a shell.
pub fn is_shells(name: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let file = name.rsplit('/').next().unwrap_or(name);
    match first.strip_prefix("#!") {
        Some(interpreter) => interpreter.contains("sh"),
        None => file.ends_with(".sh") || file.ends_with(".bash") || !file.contains('.'),
    }
}

/// Returns the programs that `check` looks for in PATH, each once.
pub fn programs(check: &str) -> Vec<String> {
    let calls = calls(check);
    let words = calls.iter().map(|call| call.words[0].as_str());
    let mut programs: Vec<String> = words
        .filter(|word| !word.contains(['/', '$', '`']) && !BUILTINS.contains(word))
        .map(str::to_owned)
        .collect();
    programs.sort();
    programs.dedup();
    programs
}

/// Commands of the shell itself that nobody needs a permission for.
const BUILTINS: &[&str] = &[
    ":", ".", "[", "cd", "echo", "eval", "exec", "exit", "export", "false", "printf", "read",
    "set", "test", "trap", "true", "unset", "wait",
];

/// Returns every path that a command names and may run, whether anything is there or not: words with a slash, also behind an
/// equals sign, and scripts handed to an interpreter.
pub fn called_paths(command: &str) -> Vec<String> {
    let mut paths = runs(command, &|_| true);
    let calls = calls(command);
    let words = calls.iter().flat_map(|call| &call.words);
    let behind = |word: &String| word.split_once('=').map(|(_, value)| value.to_owned());
    let words = words.flat_map(|word| [Some(word.clone()), behind(word)]);
    paths.extend(words.flatten().filter(|word| word.contains('/')));
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the programs with their arguments that `check` calls, each once, as one would type them; without the shell's own
/// commands.
pub fn commands(check: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for call in calls(check) {
        if BUILTINS.contains(&call.words[0].as_str()) {
            continue;
        }
        let words: Vec<String> = call.words.iter().map(|word| typed(word)).collect();
        let command = words.join(" ");
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// Returns a word as one would type it in a shell.
fn typed(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=,+@%^*?$~".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn add(paths: &mut Vec<String>, path: Option<String>, is_file: &dyn Fn(&str) -> bool) {
    if let Some(path) = path
        && !paths.contains(&path)
        && is_file(&path)
    {
        paths.push(path);
    }
}

/// One program that is called, and from where.
struct Call {
    /// Directory below the root, empty for the root; `None` if it lies outside.
    dir: Option<String>,
    /// Program and arguments; never empty.
    words: Vec<String>,
    stdin: Option<String>,
}

impl Call {
    /// Returns `word` as a path below the root.
    fn path(&self, word: &str) -> Option<String> {
        let dir = self.dir.as_deref().or(word.starts_with(ROOT).then_some(""));
        join(dir?, word).filter(|path| !path.is_empty())
    }

    /// Returns the files by which the tool is steered, as they are.
    fn steered_by(&self, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
        let there = |group: Vec<String>| group.into_iter().find(|path| is_file(path));
        let groups = self.choices(steering);
        groups.into_iter().filter_map(there).collect()
    }

    /// Returns the paths of files that steer the tool: in each group the first that exists counts.
    fn choices(&self, groups: fn(&str, Option<&str>) -> Groups) -> Vec<Vec<String>> {
        let (name, subcommand) = self.steered();
        if matches!(name.as_str(), "make" | "gmake") && !self.scripts().is_empty() {
            return Vec::new();
        }
        let paths = |group: &&[&str]| {
            let there = group.iter().filter_map(|name| self.path(name));
            // Most tools look upwards from where they are started.
            let mut paths: Vec<String> = there.collect();
            for name in group.iter().map(|name| name.to_string()) {
                if !paths.contains(&name) {
                    paths.push(name);
                }
            }
            paths
        };
        let groups = groups(&name, subcommand.as_deref());
        groups.iter().map(paths).collect()
    }

    /// Returns the words that name a file which is run.
    fn scripts(&self) -> Vec<String> {
        let mut scripts = Vec::new();
        let command = self.words[0].as_str();
        // A command without a slash is looked for in PATH, not in the directory.
        if command.contains('/') {
            scripts.push(command.to_string());
        }
        let name = stem(command);
        let words = arguments_of(&name, &self.words);
        if matches!(name.as_str(), "." | "source") {
            scripts.extend(self.words.get(1).cloned());
        } else if let Some(options) = script_by_option(&name) {
            scripts.extend(scan(words, &options).files);
        } else if let Some(options) = interpreter(&name) {
            let found = scan(words, &options);
            let Arguments {
                operand,
                code,
                files,
            } = found;
            scripts.extend(files);
            let script = operand
                .map(|at| words[at].clone())
                .filter(|word| word != "-");
            if code.is_none() {
                scripts.extend(script.or_else(|| self.stdin.clone()));
            }
        }
        scripts
    }

    /// Returns the tool whose configuration counts, with its first operand; of `python -m tool` that is the tool.
    fn steered(&self) -> (String, Option<String>) {
        let name = stem(&self.words[0]);
        let operand = |words: &[String]| {
            let is_plain = |word: &&String| !word.starts_with(['-', '+']);
            words.iter().skip(1).find(is_plain).cloned()
        };
        match interpreter(&name).map(|options| scan(&self.words, &options).code) {
            Some(Some(('m', module))) => (module, None),
            Some(_) | None => (name, operand(&self.words)),
        }
    }
}

/// Returns the arguments to look at for a script: `deno run FILE` and `bun run FILE` have a word in between.
fn arguments_of<'w>(name: &str, words: &'w [String]) -> &'w [String] {
    match (name, words.get(1).map(String::as_str)) {
        ("deno" | "bun", Some("run" | "test")) => &words[1..],
        _ => words,
    }
}

/// Returns the program's name: the last part of its path, without a version at its end.
fn stem(command: &str) -> String {
    let name = command.rsplit('/').next().unwrap_or(command);
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "" => name.to_string(),
        stem => stem.to_string(),
    }
}

/// Returns `path`, seen from `dir`, without `.` and `..`; `None` if it lies outside the repository.
fn join(dir: &str, path: &str) -> Option<String> {
    let (dir, path) = match path.strip_prefix(ROOT) {
        Some(path) => ("", path),
        None => (dir, path),
    };
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn calls(check: &str) -> Vec<Call> {
    Code::of_check(check).calls()
}

impl Code {
    fn calls(&self) -> Vec<Call> {
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

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
