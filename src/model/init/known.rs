//! Which commands are known to look, check or build and to do nothing else, so that its goal may run at once. What is not
//! known waits until somebody has looked at it. Pure.

mod asked;
mod interpreters;
mod javascript;
mod jvm;
mod modes;
mod programs;
mod readers;
mod ready;
mod scripts;
mod tracked;
mod words;

use std::cell::Cell;

use super::called::{self, NODE, Task, TextsOf};
use super::checkers::{CHECKERS, is_among, is_checker, stem};
use super::loops;
use super::offer::{MOST_TASKS, is_check, takes_one};
use super::plainly::called_plainly;
use super::writers;
use crate::model::check::{self, Does, Done, of_module};
use crate::model::init::{Look, has, json, text_at};
use crate::model::text;
use asked::{ASKED_BY, CHECKS, LEADS, TAKES};
use interpreters::{INTERPRETERS, Interpreter};
use jvm::{goals_of_maven, is_goal_of_maven, is_task_of_gradle, tasks_of_gradle};
use programs::{COMPILERS, DRIVERS, OF_TARGETS, OF_TOOLS, WITHOUT_TARGET, WRAPPERS};
use readers::{GIT, READS, SHELL};
use scripts::Script;
use words::{harms, is_called_a_check, is_verb_in};

/// What the reader is to do about it; it ends as all such reasons do.
pub(super) const FIRST: &str = "look first, then take the # away";
/// Where what is not there comes from.
const MADE_BEFORE: &str = "an earlier step has to make it";
/// How much is shown of a command.
const SHOWN: usize = 40;

/// Says why a step had better not run before somebody has looked at what is set for it.
pub(super) fn steered(env: &[(String, String)]) -> Option<String> {
    let (name, _) = env.iter().find(|(name, _)| modes::steers(name))?;
    Some(format!("{name} says what runs: {FIRST}"))
}

/// Says why a shell's script had better not run before somebody has looked at it.
pub(super) fn strange_script(
    look: &dyn Look,
    texts_of: TextsOf,
    path: &str,
    text: &str,
) -> Option<String> {
    let left = &Cell::new(MOST_TASKS);
    scripts::strange_script(look, texts_of, path, text, &[], false, left)
}

/// Says why a check had better not run before somebody has looked at it.
pub(super) fn strange(look: &dyn Look, texts_of: TextsOf, check: &str) -> Option<String> {
    if let Some(command) = writers::hidden(check, texts_of) {
        return Some(unknown(&command));
    }
    strange_in(look, texts_of, check, &Cell::new(MOST_TASKS))
}

/// The same of the text of a task, from which so many others are followed.
fn strange_in(
    look: &dyn Look,
    texts_of: TextsOf,
    check: &str,
    left: &Cell<usize>,
) -> Option<String> {
    let all = check::done(check);
    let changes_dir = all.iter().any(|one| one.dir.as_deref() != Some(""));
    let by_options = all.iter().flat_map(|one| outputs(&one.words));
    let by_options = by_options.filter(|to| !to.starts_with('-'));
    let mut written = check::written(check).into_iter().chain(by_options);
    if let Some(to) = written.find(|to| is_of_others(look, to, changes_dir)) {
        let to = text::clean_line(&text::cut(&to, SHOWN));
        return Some(format!("it writes to {to}: {FIRST}"));
    }
    strange_text(look, texts_of, check, &all, None, left)
}

/// The same of a text by its commands; those of a script are judged by what it makes for itself, too.
fn strange_text(
    look: &dyn Look,
    texts_of: TextsOf,
    text: &str,
    all: &[Done],
    script: Option<&scripts::Script>,
    left: &Cell<usize>,
) -> Option<String> {
    let lost = match script {
        Some(script) => loops::passed_by(text, script.is_strict),
        None => loops::passed_by_lines(text),
    };
    if let Some(command) = lost {
        return Some(passing_by(&command));
    }
    let has_own = script.is_some_and(|script| script.has_own);
    if !has_own && text.split_whitespace().any(|word| word == "-delete") {
        return Some(format!("it deletes files (find -delete): {FIRST}"));
    }
    if let Some(call) = modes::code_for_packages(text) {
        return Some(unknown(&call));
    }
    let mut places = 0..all.len();
    places.find_map(|at| {
        let command = Command {
            look,
            texts_of,
            before: &all[..at],
            left,
            script,
        };
        let why = command.strange(&all[at])?;
        let why = match script {
            Some(_) => why.replace(MADE_BEFORE, FIRST),
            None => why,
        };
        Some(writers::as_written(text, &why))
    })
}

/// Says whether a file is one of the machine's, or tracked, or whether that cannot be told.
fn is_of_others(look: &dyn Look, to: &str, changes_dir: bool) -> bool {
    const ANYBODYS: [&str; 6] = [
        "/dev/null",
        "/dev/stderr",
        "/dev/stdout",
        "/dev/tty",
        "/dev/fd/",
        "/tmp/",
    ];
    let is_told = !to.contains(['$', '`', '*', '?', '[']) && !to.chars().any(char::is_control);
    if !is_told || to.split('/').any(|part| part == "..") {
        return true;
    }
    if to.starts_with(['/', '~']) {
        return !ANYBODYS.iter().any(|it| to.starts_with(it));
    }
    let to = to.trim_start_matches("./");
    let inside = format!("/{to}");
    let mut files = look.files().iter();
    has(look, to) || changes_dir && files.any(|file| file.ends_with(&inside))
}

/// Returns the files that a command is told to write to by its words.
fn outputs(words: &[String]) -> Vec<String> {
    let words = of_module(words);
    match name_of(words) {
        "tee" => words[1..].to_vec(),
        name => modes::outputs(name, &words[1..]),
    }
}

/// Returns what a command calls, without the folder.
fn name_of(words: &[String]) -> &str {
    let program = words[0].as_str();
    program.rsplit('/').next().unwrap_or(program)
}

/// A command among those of its check that come before it.
struct Command<'a> {
    look: &'a dyn Look,
    texts_of: TextsOf<'a>,
    before: &'a [Done],
    /// How many tasks are followed that it runs.
    left: &'a Cell<usize>,
    /// The shell's script in which it stands.
    script: Option<&'a Script>,
}

impl Command<'_> {
    fn strange(&self, one: &Done) -> Option<String> {
        let unknown = || Some(unknown(&one.typed()));
        if let Some(verdict) = self.script.and_then(|it| self.strange_in_script(it, one)) {
            return verdict;
        }
        let dir = match self.script {
            // Most scripts go to the root first, by ways of their own.
            Some(_) => Some(scripts::known_dir(one).unwrap_or_default()),
            None => one.dir.as_deref(),
        };
        let Some(dir) = dir else {
            return unknown();
        };
        let is_there = dir.is_empty() || check::is_pattern(dir) || self.has_folder(dir);
        if !is_there && !self.names(dir) {
            return Some(lacking(dir));
        }
        if let Some(why) = self.strange_by_handed(dir, one) {
            return Some(why);
        }
        let words = of_module(&one.words);
        if let [program, folder, ..] = words
            && program == "mkdir"
            && !folder.starts_with('-')
        {
            let folder = text::cut(folder, SHOWN);
            return Some(format!("`mkdir {folder}` fails where it ran before"));
        }
        let code = one.text.as_deref().filter(|_| takes_code(words));
        let known = match (called::tasks(one), code) {
            (Some(tasks), _) => self.knows_tasks(dir, one, &tasks),
            (None, Some(code)) => Known::of(modes::only_reads(code)),
            (None, None) => self.knows(dir, words, one.does),
        };
        match known {
            Known::Yes => None,
            Known::No => unknown(),
            Known::Lacks(path) => Some(lacking(&path)),
            Known::Waits(why) => Some(why),
            Known::Unread => Some(unread(&one.typed())),
        }
    }

    /// Says why a command waits that changes what it is handed: where that lies may be tracked, or is not told.
    fn strange_by_handed(&self, dir: &str, one: &Done) -> Option<String> {
        let places = one.handed.as_ref();
        let places = places.filter(|_| tracked::changes_handed(one))?;
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let is_tracked = |to: &&str| tracked::may_be_tracked(self.look, dir, to);
        match () {
            () if places.is_empty() || places.iter().any(is_tracked) => {
                Some(changing(&one.typed()))
            }
            () if tracked::may_lose(name_of(&one.words), &places) => Some(unknown(&one.typed())),
            () => None,
        }
    }

    /// Says what is known of the tasks that a command runs by their names: they are to be found, and to run nothing but what is known.
    /// Only of those that have no text of their own the name tells.
    fn knows_tasks(&self, dir: &str, one: &Done, tasks: &[Task]) -> Known {
        let words = of_module(&one.words);
        // Node itself reads what stands there as a file.
        let is_script = NODE[0] == tasks.first().map_or("", |task| task.program)
            && !NODE.contains(&name_of(words))
            && INTERPRETERS
                .iter()
                .any(|it| is_among(it.names, name_of(words)));
        let by_name = || match is_script {
            true => Known::Yes,
            false => self.knows(dir, words, one.does),
        };
        let texts: Vec<Vec<String>> = tasks.iter().map(self.texts_of).collect();
        let is_found = !tasks.is_empty() && texts.iter().all(|texts| !texts.is_empty());
        if !is_found {
            return match () {
                () if self.runs_otherwise(one, tasks) => by_name(),
                () => match by_name() {
                    Known::Yes => Known::Unread,
                    known => known,
                },
            };
        }
        let mut texts = texts
            .iter()
            .flatten()
            .filter(|text| !text.trim().is_empty())
            .peekable();
        if texts.peek().is_none() {
            return Known::Unread;
        }
        let strange = |text: &String| {
            let (look, texts_of, left) = (self.look, self.texts_of, self.left);
            match takes_one(left) {
                true => strange_in(look, texts_of, text, left),
                false => Some(unknown(&one.typed())),
            }
        };
        texts.find_map(strange).map_or(Known::Yes, |why| {
            Known::Waits(why.replace(MADE_BEFORE, FIRST))
        })
    }

    /// Says whether what a command asks for may be no task of a file's at all: what the program does itself, or a program, or a target in
    /// a makefile that a command before it makes.
    fn runs_otherwise(&self, one: &Done, tasks: &[Task]) -> bool {
        let program = name_of(&one.words);
        let runs = one.words.iter().any(|word| word.starts_with("run"));
        let is_own = |task: &Task| match task.program {
            "cargo" => true,
            "make" | "gmake" => self.makes_makefile(),
            _ if runs => false,
            "npm" if !NODE.contains(&program) => false,
            "npm" if program != "npm" && CHECKERS.contains(&task.name) => true,
            "npm" | "composer" => READS.contains(&task.name),
            _ => false,
        };
        let only_reads = || {
            let mut rest = one.words[1..].iter();
            rest.any(|word| READS.contains(&word.as_str()))
        };
        tasks.iter().all(is_own)
            || one.does == Does::Looks && !NODE.contains(&program)
            || only_reads()
    }

    fn knows(&self, dir: &str, words: &[String], does: Does) -> Known {
        let program = words[0].as_str();
        let name = program.rsplit('/').next().unwrap_or(program);
        if program.contains(['$', '`']) {
            return match is_checker(name) {
                true => self.knows_name(dir, name, &words[1..], does),
                false => Known::No,
            };
        }
        let is_of_system = ["/bin/", "/usr/bin/", "/usr/local/bin/"]
            .iter()
            .any(|folder| program.strip_prefix(folder) == Some(name));
        match program.contains('/') && !is_of_system {
            true => self.knows_file(dir, words, does),
            false => self.knows_name(dir, name, &words[1..], does),
        }
    }

    /// The same of a program that is a file of the repository, or one that is made there.
    fn knows_file(&self, dir: &str, words: &[String], does: Does) -> Known {
        let program = words[0].as_str();
        let name = program.rsplit('/').next().unwrap_or(program);
        let Some(path) = check::join(dir, program) else {
            return Known::No;
        };
        if check::is_pattern(&path) {
            return self.knows_files(dir, &path, words, does);
        }
        let is_tracked = has(self.look, &path);
        let is_of_tools = OF_TOOLS
            .iter()
            .any(|folder| format!("/{path}").contains(&format!("/{folder}/")));
        let is_installed = is_of_tools || is_checker(name) && self.look.is_there(&path);
        match () {
            () if !is_tracked && is_installed => self.knows_name(dir, name, &words[1..], does),
            () if !is_tracked && !self.builds() => Known::Lacks(program.to_owned()),
            () if WRAPPERS.contains(&name) => Known::of(asks(name, &words[1..], does)),
            // It was built of the repository by a command before it, as who wrote the check wants it.
            () if !is_tracked && self.script.is_none() => {
                let harms = |word: &String| words::harms(word);
                Known::of(!harms(&name.to_owned()) && !words[1..].iter().any(harms))
            }
            () => self.knows_script_by_name(dir, program, name, &words[1..]),
        }
    }

    /// The same of each file that a pattern stands for: `for t in tests/*.sh; do "$t"; done`.
    fn knows_files(&self, dir: &str, pattern: &str, words: &[String], does: Does) -> Known {
        let glob = globset::GlobBuilder::new(pattern)
            .literal_separator(true)
            .build();
        let Ok(glob) = glob.map(|glob| glob.compile_matcher()) else {
            return Known::No;
        };
        let files = self.look.files().iter();
        let mut files = files.filter(|path| glob.is_match(path)).peekable();
        if files.peek().is_none() {
            return Known::Lacks(words[0].clone());
        }
        let up = "../".repeat(dir.split('/').filter(|part| !part.is_empty()).count());
        let judged = files.map(|path| match takes_one(self.left) {
            true => {
                let called = [&[format!("{up}./{path}")], &words[1..]].concat();
                self.knows_file(dir, &called, does)
            }
            false => Known::No,
        });
        let mut other = judged.filter(|known| !matches!(known, Known::Yes));
        other.next().unwrap_or(Known::Yes)
    }

    /// The same of a script: it is to be called as one that checks, or told to look, and one of a shell is to run what is known.
    fn knows_script_by_name(&self, dir: &str, path: &str, name: &str, rest: &[String]) -> Known {
        let texts = (self.texts_of)(&Task::of_script(path, Some(dir)));
        let path = check::join(dir, path).unwrap_or_default();
        let run = texts.iter().map(|text| match rest.is_empty() {
            true => called_plainly(text),
            false => text.into(),
        });
        let mut strange = run.filter_map(|text| self.strange_file(&path, &text));
        let runs = || texts.iter().any(|text| !check::done(text).is_empty());
        match strange.next() {
            Some(why) => Known::Waits(why),
            // All that it runs is known, and looks.
            None if !texts.is_empty() && (is_check(name) || runs() && !harms(name)) => Known::Yes,
            None => Known::of(is_called_a_check(name) || check::is_to_look(rest)),
        }
    }

    /// The same of a program that is looked for by its name.
    fn knows_name(&self, dir: &str, name: &str, rest: &[String], does: Does) -> Known {
        let is_one = |all: &[&str]| is_among(all, name);
        let mut interpreters = INTERPRETERS.iter();
        if let Some(found) = interpreters.find(|it| is_one(it.names)) {
            let given = found.script(rest);
            let entry = match given {
                Given::File(file, _) if found.names[0] == "node" => self.entry_of_node(dir, file),
                _ => None,
            };
            return match (given, &entry) {
                (Given::File(_, rest), Some(file)) => {
                    self.knows_script(dir, Given::File(file, rest), does)
                }
                (given, _) => self.knows_script(dir, given, does),
            };
        }
        let tells_itself = |word: &String| READS.contains(&word.as_str());
        let is_sourced = matches!(name, "." | "source");
        if modes::does_more(name, rest) || self.empties(name, rest) {
            return Known::No;
        }
        if let Some(path) = self.lacks_ready(dir, name, rest) {
            return Known::Lacks(path);
        }
        if let Some(moved) = tracked::moved(name, rest) {
            let is_tracked = |to: &&str| tracked::may_be_tracked(self.look, dir, to);
            return match moved.iter().any(is_tracked) {
                true => Known::Waits(changing(&[&[name.to_owned()], rest].concat().join(" "))),
                false => Known::of(!tracked::may_lose(name, &moved)),
            };
        }
        Known::of(match () {
            () if is_sourced => rest.first().is_some_and(|file| {
                let path = check::join(dir, file);
                let is_there = path.is_some_and(|path| self.look.is_there(&path));
                file.ends_with("/bin/activate") && is_there
            }),
            () if name == "git" => reads_by_git(rest),
            // Who answers there an earlier step starts.
            () if name == "curl" => {
                let is_own = |it: &String| it.contains("localhost") || it.contains("127.0.0.1");
                let is_short = |it: &String| it.starts_with('-') && !it.starts_with("--");
                let keeps = |it: &String| is_short(it) && it.contains(['O', 'J', 'K']);
                !rest.iter().any(|it| is_own(it) || keeps(it))
            }
            () if name == "mkdir" => rest.iter().any(|it| it == "-p" || it == "--parents"),
            () if is_one(SHELL) || is_one(CHECKERS) || is_compiler(name) => true,
            () if name == "cmake" => {
                let acts = ["-P", "-E", "--install", "--open"];
                !rest.iter().any(|word| acts.contains(&word.as_str()))
            }
            () if is_one(DRIVERS) || is_one(OF_TARGETS) => {
                let is_whole = DRIVERS.contains(&name) || OF_TARGETS.contains(&name);
                let name = if is_whole { name } else { stem(name) };
                asks(name, rest, does)
            }
            () => rest.len() == 1 && rest.iter().all(tells_itself),
        })
    }

    /// The same of what an interpreter is given.
    fn knows_script(&self, dir: &str, script: Given, does: Does) -> Known {
        let (file, rest) = match script {
            Given::Reads => return Known::Yes,
            Given::Code(code) => return Known::of(modes::only_reads(code)),
            Given::Unknown => return Known::No,
            Given::File(file, rest) => (file, rest),
        };
        let name = file.trim_end_matches('/').rsplit('/').next();
        let name = name.unwrap_or(file);
        let Some(path) = check::join(dir, file).filter(|_| !file.contains(['$', '`'])) else {
            return Known::No;
        };
        let is_there = has(self.look, &path) || self.has_folder(&path);
        match () {
            () if !is_there && !self.builds() => Known::Lacks(file.to_owned()),
            () if WRAPPERS.contains(&name) => Known::of(asks(name, rest, does)),
            () if self.only_reads(&path, name) => Known::Yes,
            () => self.knows_script_by_name(dir, file, name, rest),
        }
    }

    /// Returns the file that Node runs for a name by which neither a file nor a folder is there, `node test`, and for where it runs, `node .`.
    fn entry_of_node(&self, dir: &str, file: &str) -> Option<String> {
        let is_file = |path: &String| has(self.look, path);
        let is_there = |file: &String| check::join(dir, file).as_ref().is_some_and(is_file);
        let path = check::join(dir, file)?;
        if is_file(&path) || self.has_folder(&path) {
            return None;
        }
        let file = file.trim_end_matches('/');
        let package = check::join(dir, &format!("{file}/package.json"))?;
        let package = json(self.look, &package);
        let main = package.as_ref().and_then(|it| text_at(it, "/main"));
        let mut entries = javascript::entries(file, main).into_iter();
        entries.find(is_there)
    }

    /// Says whether a file is a script that is known to look only.
    fn only_reads(&self, path: &str, name: &str) -> bool {
        let text = self.look.read(path).filter(|_| has(self.look, path));
        text.is_some_and(|text| javascript::only_reads(name, &text))
    }

    /// Says whether pytest is to work in a folder, which it empties first, that is not its own.
    fn empties(&self, name: &str, rest: &[String]) -> bool {
        let at = rest.iter().position(|word| word.starts_with("--basetemp"));
        let Some(at) = at.filter(|_| matches!(name, "pytest" | "py.test")) else {
            return false;
        };
        let folder = rest[at].strip_prefix("--basetemp=");
        let folder = folder.or_else(|| rest.get(at + 1).map(String::as_str));
        let folder = folder.unwrap_or(".").trim_end_matches('/');
        let is_own =
            !matches!(folder, "" | ".") && !self.has_folder(folder.trim_start_matches("./"));
        !is_own || is_of_others(self.look, folder, false)
    }

    fn has_folder(&self, folder: &str) -> bool {
        let folder = folder.trim_end_matches('/');
        !folder.is_empty() && self.look.has_below(folder)
    }

    /// Says whether a command before it names a folder that it may make.
    fn names(&self, dir: &str) -> bool {
        let first = dir.split('/').next().unwrap_or(dir);
        let is_it = |word: &String| word.split(['/', '=']).any(|part| part == first);
        let mut words = self.before.iter().flat_map(|one| &one.words[1..]);
        words.any(is_it)
    }

    /// Says whether a command before it may make a program.
    fn builds(&self) -> bool {
        let was_built = self.script.is_some_and(|script| script.is_built);
        was_built
            || self.before.iter().any(|one| {
                let name = one.words[0].rsplit('/').next().unwrap_or_default();
                let is_one = |all: &[&str]| is_among(all, name);
                is_compiler(name) || is_one(DRIVERS) || is_one(OF_TARGETS) || name == "cmake"
            })
    }
}

/// Says whether a program is a compiler, be it for another machine: `arm-none-eabi-gcc`.
fn is_compiler(name: &str) -> bool {
    let is_for_another = |it: &&str| {
        let machine = stem(name).strip_suffix(it);
        machine.is_some_and(|machine| machine.ends_with('-'))
    };
    is_among(COMPILERS, name) || COMPILERS.iter().any(is_for_another)
}

/// What is known of a command.
enum Known {
    /// It looks, checks or builds.
    Yes,
    /// Nothing.
    No,
    /// What it runs is not there.
    Lacks(String),
    /// It says what it does by the name of a task alone.
    Unread,
    /// It had better not run, for this reason.
    Waits(String),
}

impl Known {
    fn of(is_known: bool) -> Known {
        match is_known {
            true => Known::Yes,
            false => Known::No,
        }
    }
}

fn unknown(command: &str) -> String {
    let shown = text::clean_line(&text::cut(command, SHOWN));
    format!("evolve does not know what `{shown}` does: {FIRST}")
}

fn unread(command: &str) -> String {
    let shown = text::clean_line(&text::cut(command, SHOWN));
    format!("evolve does not find what `{shown}` runs: {FIRST}")
}

fn lacking(path: &str) -> String {
    format!("there is no {}: {MADE_BEFORE}", text::cut(path, SHOWN))
}

fn passing_by(command: &str) -> String {
    let shown = text::clean_line(&text::cut(command, SHOWN));
    format!(
        "a loop goes on where `{shown}` fails: put `|| exit 1` behind that, then take the # away"
    )
}

fn changing(command: &str) -> String {
    let shown = text::clean_line(&text::cut(command, SHOWN));
    format!("`{shown}` changes what git tracks: {FIRST}")
}

/// What an interpreter is given.
enum Given<'a> {
    /// It only reads it.
    Reads,
    /// Code of Python's or Perl's.
    Code(&'a str),
    /// Code of others, or nothing that is known.
    Unknown,
    /// A file, and what that is given.
    File(&'a str, &'a [String]),
}

impl Interpreter {
    fn script<'a>(&self, words: &'a [String]) -> Given<'a> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(option) = word.strip_prefix('-') else {
                return Given::File(word, &words[at..]);
            };
            if let Some(long) = option.strip_prefix('-') {
                match long {
                    "" => {}
                    "check" | "test" | "version" | "help" => return Given::Reads,
                    "eval" | "print" => return Given::Unknown,
                    "require" | "import" | "loader" => at += 1,
                    _ => {}
                }
                continue;
            }
            for (index, letter) in option.char_indices() {
                match () {
                    () if self.code.contains(letter) => {
                        let is_read = ["perl", "python"].contains(&self.names[0]);
                        let rest = &option[index + 1..];
                        let code = if rest.is_empty() {
                            words.get(at).map(String::as_str)
                        } else {
                            Some(rest)
                        };
                        let code = code.filter(|_| is_read && letter != 'i');
                        return code.map_or(Given::Unknown, Given::Code);
                    }
                    () if self.reads.contains(letter) => return Given::Reads,
                    () if self.takes.contains(letter) => {
                        at += usize::from(index + 1 == option.len());
                        break;
                    }
                    () if self.eats.contains(letter) => break,
                    () => {}
                }
            }
        }
        Given::Unknown
    }
}

/// Says whether Python takes its code from standard input: `python3 - ARGUMENTS`.
fn takes_code(words: &[String]) -> bool {
    let is_flag = |word: &&String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| "BEIObdqsu".contains(c))
    };
    let operand = words[1..].iter().find(|word| !is_flag(word));
    matches!(stem(name_of(words)), "python" | "pypy") && operand.is_none_or(|word| word == "-")
}

/// Says whether git is asked for something, and not told to change it.
fn reads_by_git(rest: &[String]) -> bool {
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let operands = check::operands(&rest, |word| matches!(word, "-C" | "-c" | "--git-dir"));
    let has = |all: &[&str]| rest.iter().any(|word| all.contains(word));
    match operands.as_slice() {
        ["config", ..] => has(&["--get", "--get-all", "--get-regexp", "--list", "-l"]),
        ["hash-object", ..] => !has(&["-w"]),
        ["branch", ..] => has(&["--list", "--show-current", "--contains", "-r", "-a"]),
        ["tag"] => true,
        ["tag", ..] => has(&["--list", "-l", "--contains", "--points-at"]),
        ["submodule", "status", ..] | ["remote"] | ["stash" | "worktree", "list"] => true,
        [first, ..] => GIT.contains(first),
        [] => has(&["--version", "--help"]),
    }
}

/// Says whether a program is asked to check or to build something by the names of what it is asked for.
fn asks(name: &str, rest: &[String], does: Does) -> bool {
    let before: Vec<&str> = rest
        .iter()
        .map(String::as_str)
        .take_while(|word| *word != "--")
        .collect();
    let mut operands = check::operands(&before, |word| TAKES.contains(&word));
    operands.retain(|word| !word.contains('='));
    // What runs tasks hands it on, or to nobody.
    let is_own = !OF_TARGETS.contains(&name) && !NODE.contains(&name);
    let packs = || matches!(before.first(), Some(&("audit" | "pack" | "publish")));
    if does == Does::Looks && (is_own || packs()) {
        return true;
    }
    match name {
        "mvn" | "mvnw" => return goals_of_maven(&before).iter().all(is_goal_of_maven),
        "gradle" | "gradlew" => return tasks_of_gradle(&before).iter().all(is_task_of_gradle),
        _ => {}
    }
    if OF_TARGETS.contains(&name) {
        return match operands.is_empty() {
            true => WITHOUT_TARGET.contains(&name),
            false => {
                let checks = operands.iter().any(|word| is_verb_in(word));
                checks && !operands.iter().any(|word| harms(word))
            }
        };
    }
    let first = match NODE.contains(&name) {
        true => {
            let words: Vec<String> = std::iter::once(name.to_owned())
                .chain(before.iter().map(|word| (*word).to_owned()))
                .collect();
            let at = called::script_at(&words);
            let rest = at.map(|at| &before[at - 1..]).unwrap_or_default();
            let mut rest = rest.iter().filter(|it| !it.starts_with('-'));
            rest.find(|word| !LEADS.contains(word)).copied()
        }
        false => {
            let mut leads = ASKED_BY.iter();
            let leads = leads.find(|(program, _)| *program == name);
            let leads = leads.map(|(_, leads)| *leads).unwrap_or_default();
            operands.into_iter().find(|word| !leads.contains(word))
        }
    };
    match first {
        Some(word) => {
            let mut checks = CHECKS.iter();
            let is_one = checks.any(|(of, words)| *of == name && words.contains(&word));
            is_one || READS.contains(&word) || is_called_a_check(word)
        }
        None => WITHOUT_TARGET.contains(&name) || before.iter().any(|word| READS.contains(word)),
    }
}
