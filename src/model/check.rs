//! Which files of the repository a check runs, and which steer what it runs. Pure.
//!
//! Running is being the command, or the script handed to an interpreter. A file that is merely read is what a goal is about, and is
//! not named here. Only what stands literally in the text is found: `sh "$script"` names nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

mod call;
mod code;
mod commands;
mod discovery;
mod dotted;
mod interpreter;
mod lenient;
mod loads;
mod machine;
mod modules;
mod named;
mod net;
mod outward;
mod path;
mod permitted;
mod places;
mod programs;
mod root;
mod settings;
mod shell;
mod spawned;
mod steering;
mod tasks;
mod told;
mod touching;
mod unfound;
mod walk;
mod whole;
mod workspace;
mod writing;

use call::Call;
use steering::{orders, steering};
use walk::calls;

pub use call::{of_module, operands, program_name, run_by_node};
pub use code::Code;
pub use discovery::{Discovery, discovered};
pub use interpreter::{interpreter, interpreter_in_path};
pub use lenient::{always_succeeds, cannot_fail, never_fails, only_asks, passes_anyway, succeeds};
pub use loads::{loaded, tests_by_settings};
pub use machine::altering;
pub use modules::{
    Front, MISSING, code_that_looks_for, distributions, fronts, imported, is_run_at_start,
    loaded_before, packages_before,
};
pub use named::{is_pattern, lists, named};
pub use outward::{is_called_a_sender, is_called_a_server, is_sending_job};
pub use path::join;
pub use permitted::permitted;
pub use root::Root;
pub use settings::{Tool, tools};
pub use shell::{is_assignment, written};
pub use tasks::{Used, code_in, done_by_name, included, is_cut, told_in};
pub use touching::touches;
pub use unfound::{begins_with, unfound};
pub use whole::looks_at_everything;
pub use workspace::of_packages;
pub use writing::{Does, Done, changing, done, done_in, is_to_look};

/// Returns the files of the repository that `check` runs, relative to its root, in the order of the text. `is_file` says whether
/// such a path is a file of the repository.
pub fn runs(check: &str, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    runs_in(&Code::of_check(check), is_file)
}

/// Returns the files of the repository that `code` runs itself.
pub fn runs_in(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    runs_of(code.calls(), is_file)
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

/// Returns the paths of what `code` would run if it were there.
pub fn would_run(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    runs_in(code, &|path| !is_file(path) && !is_pattern(path))
}

/// Says whether `code` finds the repository by way of what lies around it: in a copy it finds the one that was copied, or none.
pub fn comes_from_outside(code: &Code) -> bool {
    code.walked().comes_from_outside
}

/// Returns the files of the repository that steer what `code` runs and that it does not run itself: a Makefile's recipes, the
/// scripts of package.json, a linter's configuration. Only `protect` can freeze them.
pub fn leaned_on_in(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    let calls = code.calls();
    let mut paths = Vec::new();
    for call in calls {
        for path in call.steered_by(is_file) {
            add(&mut paths, Some(path), is_file);
        }
    }
    let run = runs_of(calls, is_file);
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
            let tasks = tasks_of(call, &file);
            let places = call.places.clone();
            let used = Used {
                file,
                dir,
                tasks,
                places,
            };
            if !found.contains(&used) {
                found.push(used);
            }
        }
        // Settings that the tool would not find by their names.
        let set = told::set_by_option(call).into_iter();
        for file in set.filter_map(|word| call.path(&word)) {
            if is_file(&file) && found.iter().all(|used| used.file != file) {
                found.push(loads::settings(file, call.places.clone()));
            }
        }
    }
    found
}

/// Returns what a call asks of a file that it uses.
fn tasks_of(call: &Call, file: &str) -> Vec<String> {
    let (program, subcommand) = match call.brought_by.as_deref() {
        Some(by) if file.ends_with("mise.toml") => (by.to_owned(), None),
        _ => call.steered(),
    };
    if let Some(asked) = commands::asked(&program, subcommand.as_deref(), file) {
        return asked;
    }
    match (tasks::has_tasks(file), call.is_fed) {
        (true, _) => tasks::asked(call),
        (false, true) if call.is_list(file) => vec![tasks::LIST.to_owned()],
        (false, true) => vec![tasks::PIPED.to_owned()],
        (false, false) => Vec::new(),
    }
}

/// Returns the patterns of files that `code` runs, `for f in tests/*.sh; do sh "$f"; done`, as if each were one file.
pub fn runs_by_pattern(code: &Code) -> Vec<Used> {
    let mut found = Vec::new();
    for call in code.calls() {
        let scripts = call.scripts();
        let paths = scripts.iter().filter_map(|word| call.path(word));
        let paths = paths.filter(|path| is_pattern(path));
        found.extend(paths.map(|file| Used {
            dir: call.dir.clone(),
            places: call.places.clone(),
            ..Used::of(file)
        }));
    }
    found
}

/// Returns the patterns of files that `code` runs so that a new one may take the others out of the way: what one shell sources, what
/// is piped into one, and the arguments of one.
pub fn runs_together(code: &Code) -> Vec<String> {
    let mut found = Vec::new();
    for call in code.calls() {
        let paths = call.together.iter().filter_map(|word| call.path(word));
        found.extend(paths.filter(|path| is_pattern(path)));
    }
    found
}

/// Returns the patterns of files that steer what `code` runs in folders of which a pattern tells: `for d in */; do (cd $d && make)`.
pub fn steers_by_pattern(code: &Code) -> Vec<Used> {
    let mut found = Vec::new();
    for call in code.calls() {
        if !call.dir.as_deref().is_some_and(is_pattern) {
            continue;
        }
        let groups = call.choices(steering).into_iter().flatten();
        found.extend(groups.filter(|path| is_pattern(path)).map(|file| Used {
            dir: call.dir.clone(),
            tasks: tasks_of(call, &file),
            places: call.places.clone(),
            file,
        }));
    }
    found
}

/// Returns the paths, there or not, of what could steer what `code` runs.
pub fn may_steer(code: &Code) -> Vec<String> {
    let calls = code.calls();
    let groups = calls.iter().flat_map(|call| call.choices(steering));
    groups.flatten().collect()
}

/// Returns what is not there and would be taken in place of a file that is, with that file: GNUmakefile before Makefile, `c` before
/// `c.js` by `node c`.
pub fn instead(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<Instead> {
    let mut found = Vec::new();
    for call in code.calls() {
        let groups = [call.choices(steering), call.choices(orders)].concat();
        for group in groups {
            found.extend(Instead::before_first(&group, is_file));
        }
        found.extend(call.in_front(is_file));
    }
    found
}

/// Returns where in folders of the repository `code` looks for programs, there or not, with their names: `PATH=bin:$PATH grep`.
pub fn looked_for(code: &Code) -> Vec<Instead> {
    code.walked().looked_for.clone()
}

/// A file that a tool or an interpreter would take in place of another one, or a shell in place of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instead {
    /// Not there yet.
    pub path: String,
    /// The file, or the program's name, that counts as long as it is not.
    pub of: String,
}

impl Instead {
    /// Returns what stands before the first of these paths that is there.
    fn before_first(paths: &[String], is_file: &dyn Fn(&str) -> bool) -> Vec<Instead> {
        let Some(at) = paths.iter().position(|path| is_file(path)) else {
            return Vec::new();
        };
        let instead = |path: &String| Instead {
            path: path.clone(),
            of: paths[at].clone(),
        };
        paths[..at].iter().map(instead).collect()
    }

    /// Says whether this is what Python runs of a package before the file that counts, which it runs all the same: with nothing in it
    /// nothing changes.
    pub fn is_package_of(&self) -> bool {
        let folder = self.path.strip_suffix("__init__.py");
        folder.is_some_and(|folder| folder.ends_with('/') && self.of.starts_with(folder))
    }
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Instead { path, of } = self;
        match self.is_package_of() {
            true => write!(f, "{path} would be run before {of}"),
            false => write!(f, "{path} would be taken in place of {of}"),
        }
    }
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
    let mut programs: Vec<String> = calls.iter().filter_map(program_of).collect();
    programs.sort();
    programs.dedup();
    programs
}

fn program_of(call: &Call) -> Option<String> {
    let word = &call.words[0];
    let is_looked_for =
        !call.is_implied && !word.contains(['/', '$', '`']) && !BUILTINS.contains(&word.as_str());
    is_looked_for.then(|| word.clone())
}

/// A program that a package manager of Node's looks for, in node_modules/.bin before PATH.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packaged {
    /// What it is called.
    pub program: String,
    /// The folders below the root from which node_modules is looked for, upwards, the first one first.
    pub folders: Vec<String>,
}

impl Packaged {
    /// Says whether installing packages may put one in front of another: `npm install` brings the eslint that PATH had, too.
    pub fn may_be_installed(&self) -> bool {
        !settings::is_of_system(&self.program)
    }
}

impl fmt::Display for Packaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folders = self.folders.iter().map(|folder| format!("{folder}/{BIN}"));
        let folders: Vec<String> = folders.collect();
        let shown = folders.iter().map(|folder| folder.trim_start_matches('/'));
        let shown = shown.collect::<Vec<_>>().join(":");
        write!(f, "{} behind {shown}", self.program)
    }
}

/// Where package managers of Node's put programs.
pub const BIN: &str = "node_modules/.bin";

/// What finds its way into each script of a package without being named: the shell that runs it, and what runs most programs there.
const OF_PACKAGES: &[&str] = &["node", "sh"];

/// Returns the programs that `code` calls by way of a package manager of Node's.
pub fn packaged(code: &Code) -> Vec<Packaged> {
    let mut found = Vec::new();
    for call in code.calls() {
        let folders = &call.places.packages;
        if folders.is_empty() {
            continue;
        }
        let implied = OF_PACKAGES.iter().map(|name| name.to_string());
        found.extend(program_of(call).into_iter().chain(implied).map(|program| {
            let folders = folders.clone();
            Packaged { program, folders }
        }));
    }
    found
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
    let words = calls.iter().filter(|call| !call.is_implied);
    let words = words.flat_map(|call| &call.words);
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
        if call.is_implied || BUILTINS.contains(&call.words[0].as_str()) {
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

#[cfg(test)]
mod tests;
