//! What `evolve init` proposes: what a repository holds goes in, goals come out. What is on the disk is asked of a [`Look`]. Pure.
//!
//! Each tool has its own file. A goal whose tool is not there is proposed all the same and says what it lacks; what was seen and makes
//! no goal is named, with the reason.

mod add;
mod autotools;
mod called;
mod cargo;
mod checkers;
mod ci;
mod go;
mod ini;
mod jvm;
mod known;
mod linters;
mod loops;
mod more;
mod node;
mod offer;
mod plainly;
mod protect;
mod python;
mod render;
mod same;
mod settle;
mod strict;
mod tasks;
mod told;
mod unclean;
mod writers;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

use tasks::TaskFiles;

pub use add::{
    appended, ci_files_with_more, leave_untold, missing, unwritten, waiting, with_reasons,
};
pub use offer::{Measured, Part, Proposal, Role};
pub(in crate::model) use render::scalar;
pub use render::{file, goals};

/// The floor of coverage, in percent, unless the user says another.
pub const COVERAGE: f64 = 80.0;
/// Folders that hold other people's code, samples or broken examples.
const NOT_OWN: [&str; 13] = [
    "vendor",
    "node_modules",
    "third_party",
    "testdata",
    "test-data",
    "fixtures",
    "fixture",
    "examples",
    "example",
    "templates",
    "template",
    "target",
    ".agents",
];
/// How many projects of one kind get goals of their own.
const MOST_HOMES: usize = 4;
/// How many folders down a project is looked for.
const DEEPEST: usize = 2;

/// How the disk is asked. Paths are relative to the repository's root.
pub trait Look {
    /// Returns the files that git tracks or would track, sorted; those whose paths are plain text.
    fn files(&self) -> &[String];
    /// Returns the text of a file; none if it is not there, too large, or no text.
    fn read(&self, path: &str) -> Option<String>;
    /// Says whether git tracks, or would track, a file.
    fn has(&self, path: &str) -> bool {
        let files = self.files();
        files.binary_search_by(|one| one.as_str().cmp(path)).is_ok()
    }
    /// Says whether any such file lies in a folder; the root's name is empty.
    fn has_below(&self, folder: &str) -> bool {
        let inside = match folder.trim_end_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let files = self.files();
        let at = files.partition_point(|one| **one < *inside);
        files.get(at).is_some_and(|one| one.starts_with(&inside))
    }
    /// Says whether anything is there, be it ignored by git.
    fn is_there(&self, path: &str) -> bool;
    /// Says whether a file may be executed.
    fn is_executable(&self, path: &str) -> bool;
    /// Says whether a program of this name is on the PATH.
    fn finds(&self, program: &str) -> bool;
    /// Says whether the Python that a program runs by, be it Python itself, finds a module by what is installed; `true` where that is not
    /// known. The program is one on the PATH, or a path.
    fn imports(&self, program: &str, module: &str) -> bool;
    /// Says whether rustup has a toolchain; `true` where that is not known.
    fn has_toolchain(&self, _name: &str) -> bool {
        true
    }
    /// Returns the version of Rust that is called where none is named, as in `1.95.0` or `1.97.0-nightly`; none where that is not known.
    fn rust_version(&self) -> Option<&str> {
        None
    }
    /// Says whether rustup has a target for any of its toolchains; `true` where that is not known.
    fn has_target(&self, _name: &str) -> bool {
        true
    }
    /// Says whether a variable of the environment is set.
    fn is_set(&self, variable: &str) -> bool;
}

/// What the user wishes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wishes {
    /// The floor of coverage where the project has none of its own, in percent.
    pub coverage: f64,
    /// Whether the steps of CI files become goals.
    pub from_ci: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The name of the repository's main project, if it says one.
    pub name: Option<String>,
    /// What the repository is made with, for people.
    pub kinds: Vec<String>,
    /// The goals, heaviest first.
    pub proposals: Vec<Proposal>,
    /// What makes no goal, and why.
    pub left_out: Vec<String>,
    /// What of that gave way to goals.
    pub(crate) gave_way: Vec<told::GaveWay>,
    /// What deserves a look before the goals are believed.
    pub notes: Vec<String>,
    /// Whether something has to be compiled, so that checks take their time.
    pub is_compiled: bool,
    /// Whether yamllint looks at the repository's YAML.
    pub is_yamllinted: bool,
    /// Patterns of `protect` that have the tests, as far as their names tell.
    pub tests: Vec<String>,
}

impl Found {
    /// Leaves out the goals whose commands the shell cannot read, which `is_read` says.
    pub fn leave_unread(&mut self, is_read: &dyn Fn(&str) -> bool) {
        let all = std::mem::take(&mut self.proposals);
        let (kept, unread): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| is_read(&one.check));
        self.proposals = kept;
        for one in unread {
            self.leave_out(format!("{}: the shell cannot read it", one.source));
        }
    }

    /// Says whether a goal of this role stands for the project in this folder.
    fn has(&self, role: Role, folder: &str) -> bool {
        let is_it = |one: &Proposal| one.role == role && one.folder == folder;
        self.proposals.iter().any(is_it)
    }

    /// Adds a goal, by an id that no other one has, and returns that.
    fn add(&mut self, goal: Proposal) -> String {
        self.proposals.push(goal);
        settle::set_apart(&mut self.proposals, &[]);
        let last = self.proposals.last();
        last.map(|one| one.id.clone()).unwrap_or_default()
    }

    /// Says whether a goal has this id.
    fn has_id(&self, id: &str) -> bool {
        self.proposals.iter().any(|one| one.id == id)
    }

    fn is_made_with(&mut self, kind: &str, home: &str) {
        self.kinds.push(match home {
            "" => kind.to_owned(),
            home => format!("{kind} in {home}"),
        });
    }

    fn leave_out(&mut self, what: impl Into<String>) {
        self.left_out.push(what.into());
    }

    /// Says whether a note tells already that git does not ignore a folder, which ends with a slash.
    pub fn notes_on(&self, folder: &str) -> bool {
        let begin = offer::not_ignored(folder.trim_end_matches('/'));
        self.notes.iter().any(|note| note.starts_with(&begin))
    }

    /// Says whether a question about coverage has a goal that the answer counts for.
    pub fn asks_for_coverage(&self) -> bool {
        let counts = |one: &Proposal| {
            let measured = one.measured.as_ref();
            one.missing.is_none() && measured.is_some_and(|measured| !measured.is_own)
        };
        self.proposals.iter().any(counts)
    }

    /// Says whether nothing runs but what needs no tool, and something would.
    pub fn is_bare(&self) -> bool {
        self.tells_little() && self.lacking().next().is_some()
    }

    /// Says whether there is nothing but what every repository may have.
    pub fn is_unknown(&self) -> bool {
        self.tells_little() && self.lacking().next().is_none()
    }

    /// Says whether goals wait only for somebody to look at what they run.
    pub fn waits_for_a_look(&self) -> bool {
        self.lacking().any(Proposal::waits_for_a_look)
    }

    /// Returns the goal of the project's tests that would run them, where none that runs does.
    pub fn untested(&self) -> Option<&Proposal> {
        let tests = |one: &&Proposal| one.role == Role::Test;
        let is_tested = self.runnable().any(|one| tests(&one));
        self.lacking().find(tests).filter(|_| !is_tested)
    }

    fn tells_little(&self) -> bool {
        self.runnable().all(|one| one.id == offer::GENERAL)
    }

    /// Returns the goals that can run here.
    pub fn runnable(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.iter().filter(|one| one.missing.is_none())
    }

    /// Returns the goals whose tools are not there.
    pub fn lacking(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.iter().filter(|one| one.missing.is_some())
    }
}

/// Looks at a repository and says which goals it may have.
pub fn propose(look: &dyn Look, wishes: &Wishes) -> Found {
    let mut found = Found {
        tests: protect::tests(look.files()),
        ..Found::default()
    };
    cargo::propose(look, wishes, &mut found);
    go::propose(look, wishes, &mut found);
    settle::set_apart(&mut found.proposals, &[]);
    let tasks = TaskFiles::of(look);
    let packages = node::propose(look, &tasks, wishes, &mut found);
    python::propose(look, &tasks, wishes, &mut found);
    jvm::propose(look, wishes, &mut found);
    settle::set_apart(&mut found.proposals, &[]);
    more::propose(look, &tasks, &mut found);
    autotools::propose(look, &mut found);
    linters::propose(look, &packages, &tasks, &mut found);
    settle::set_apart(&mut found.proposals, &[]);
    tasks::propose(look, &tasks, &mut found);
    more::below(look, &mut found);
    tasks::runners::propose(look, &tasks, &mut found);
    if wishes.from_ci {
        ci::propose(look, &packages, &tasks, &mut found);
    }
    tasks::sessions::propose(look, &tasks, &mut found);
    let all = std::mem::take(&mut found.proposals);
    let texts_of = |task: &called::Task| tasks.texts_of("", task);
    found.proposals = same::told_once(all, &texts_of, offer::TOLD, &mut found);
    offer::general(look, &mut found);
    settle::settle(&mut found);
    found
}

/// Returns the CI files that can be read for goals.
pub fn ci_files(look: &dyn Look) -> Vec<String> {
    ci::files(look).into_iter().map(str::to_owned).collect()
}

/// Returns the folders with a project of this kind: the one that has the file, and those further down that `stands_alone` says are
/// projects of their own. Too many are left out and named.
fn homes(
    look: &dyn Look,
    file: &str,
    found: &mut Found,
    stands_alone: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let folders: BTreeSet<&str> = look
        .files()
        .iter()
        .map(|path| split(path))
        .filter(|(folder, name)| *name == file && is_own(folder) && depth(folder) <= DEEPEST)
        .map(|(folder, _)| folder)
        .collect();
    let is_below = |folder: &str| {
        let mut upper = folders.iter().filter(|upper| **upper != folder);
        upper.any(|upper| is_within(folder, upper))
    };
    let mut homes: Vec<String> = folders
        .iter()
        .filter(|folder| !is_below(folder) || stands_alone(folder))
        .map(|folder| (*folder).to_owned())
        .collect();
    if homes.len() > MOST_HOMES {
        for folder in homes.split_off(MOST_HOMES) {
            found.leave_out(format!(
                "{file} in {folder}: goals for {MOST_HOMES} projects are written"
            ));
        }
    }
    homes
}

fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

fn is_within(folder: &str, upper: &str) -> bool {
    let rest = folder.strip_prefix(upper);
    upper.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
}

pub(in crate::model) fn is_own(path: &str) -> bool {
    !path.split('/').any(|part| NOT_OWN.contains(&part))
}

/// Splits a path into its folder, empty for the root, and its name.
pub(in crate::model) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Says whether git tracks, or would track, a file.
pub(in crate::model) fn has(look: &dyn Look, path: &str) -> bool {
    look.has(path)
}

/// Returns the first of these files that is there.
fn first_of<'a>(look: &dyn Look, folder: &str, names: &[&'a str]) -> Option<&'a str> {
    let mut names = names.iter().copied();
    names.find(|name| has(look, &join(folder, name)))
}

/// Reads a TOML file; nothing if it is none.
pub(in crate::model) fn toml(look: &dyn Look, path: &str) -> Option<Value> {
    toml_of(&look.read(path)?)
}

/// Reads TOML; nothing if it is none.
fn toml_of(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

/// Reads a JSON file; nothing if it is none.
pub(in crate::model) fn json(look: &dyn Look, path: &str) -> Option<Value> {
    serde_json::from_str(&look.read(path)?).ok()
}

/// Returns the text at a place of a document.
fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}
