//! The files of a repository that say what tasks run, and the texts of these; Makefiles and justfiles are each read once however often
//! they are called. Pure.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::called::{HOOKS, NODE, PREK, Place, SHELL, Task};
use super::super::node::scripts;
use super::super::{Look, first_of, has, is_own, join, json, split};
use super::{listed, nox, rake, tox};
use crate::model::check;
use crate::model::recipes::{MAKEFILES, Rules, imported, included, unfolded};
use crate::model::text;

/// How many files are read as one.
const MOST_INCLUDED: usize = 32;
/// How many recipes of a file are read for what they call.
const MOST_RECIPES: usize = 200;
/// How many packages are looked through for a script.
const MOST_PACKAGES: usize = 200;
/// Of which files make builds a program by itself, and with what.
const OF_SOURCES: [(&str, &str); 4] =
    [(".c", "cc"), (".cc", "c++"), (".cpp", "c++"), (".C", "c++")];
/// Who looks for a file of tasks in the folders above, too, and runs them where it lies.
const UPWARDS: [&str; 4] = ["deno task", "just", "rake", "task"];

/// What has the shell of recipes stop at the first failure.
static STRICT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^(?:\.SHELLFLAGS[ \t]*[:?+]?=|set[ \t]+shell[ \t]*:=).*[ \t"']-[a-zA-Z]*e"#)
        .expect("BUG: a pattern of ours is no pattern")
});

/// The files of tasks.
pub(in crate::model::init) struct TaskFiles<'l> {
    look: &'l dyn Look,
    read: RefCell<HashMap<String, Rc<Rules>>>,
    /// The paths of those whose recipes stop at the first failure.
    strict: RefCell<HashSet<String>>,
    packages: OnceCell<Vec<(String, Value)>>,
}

impl<'l> TaskFiles<'l> {
    pub(in crate::model::init) fn of(look: &'l dyn Look) -> TaskFiles<'l> {
        TaskFiles {
            look,
            read: RefCell::default(),
            strict: RefCell::default(),
            packages: OnceCell::new(),
        }
    }

    /// Returns how the disk is asked.
    pub(in crate::model::init) fn look(&self) -> &'l dyn Look {
        self.look
    }

    /// Returns the name of the file in a folder that a program goes by, and its rules.
    pub(super) fn read_by(&self, program: &str, folder: &str) -> Option<(&'static str, Rc<Rules>)> {
        let name = first_of(self.look, folder, names_of(program))?;
        Some((name, self.rules(program, &join(folder, name))))
    }

    /// Returns the rules of a file, as make or just reads it.
    fn rules(&self, program: &str, path: &str) -> Rc<Rules> {
        let mut read = self.read.borrow_mut();
        let rules = read.entry(path.to_owned()).or_insert_with(|| {
            let text = self.look.read(path).unwrap_or_default();
            if STRICT.is_match(&text) {
                self.strict.borrow_mut().insert(path.to_owned());
            }
            Rc::new(match program {
                "just" => {
                    let imported = |text: &str| imported(text).map(str::to_owned).collect();
                    Rules::of_justfile(&self.with_others(path, text, &imported))
                }
                _ => {
                    let included =
                        |text: &str| included(&unfolded(text)).map(str::to_owned).collect();
                    Rules::of_makefile(&self.with_others(path, text, &included))
                }
            })
        });
        Rc::clone(rules)
    }

    /// Returns the text of a file behind which those stand that it includes; those name others from the same folder.
    fn with_others(
        &self,
        path: &str,
        text: String,
        named_in: &dyn Fn(&str) -> Vec<String>,
    ) -> String {
        let (folder, _) = split(path);
        let mut texts = vec![text];
        let mut seen = HashSet::from([path.to_owned()]);
        let mut at = 0;
        while let Some(named) = texts.get(at).map(|text| named_in(text)) {
            at += 1;
            let new = named
                .iter()
                .map(|word| join(folder, word.trim_start_matches("./")));
            let new = new.filter(|path| seen.insert(path.clone()));
            let new = new.filter_map(|path| self.look.read(&path));
            let left = MOST_INCLUDED.saturating_sub(texts.len());
            texts.extend(new.take(left).collect::<Vec<_>>());
        }
        texts.join("\n")
    }

    /// Returns the lines of each recipe in a folder's Makefile and justfile, behind those of what it needs.
    pub(in crate::model::init) fn recipes_in(&self, folder: &str) -> Vec<Vec<String>> {
        let rules = ["make", "just"].map(|program| self.read_by(program, folder));
        let mut all = Vec::new();
        for (_, rules) in rules.iter().flatten() {
            let names = [rules.names(), rules.with_arguments()].concat();
            let texts = names
                .iter()
                .take(MOST_RECIPES)
                .map(|name| rules.whole(name));
            all.extend(texts.map(|text| text.lines().map(str::to_owned).collect()));
        }
        all
    }

    /// Returns the path of the root's file by which a program goes, and the names of the tasks that it lists.
    pub(in crate::model::init) fn listed(&self, program: &str) -> Option<(String, Vec<String>)> {
        let path = first_of(self.look, "", names_of(program))?.to_owned();
        let file = self.look.read(&path)?;
        let names = match program {
            "tox" => tox::names(&path, &file),
            "nox" => nox::names(&file),
            "rake" => rake::names(&file),
            program => listed::names(program, &file)?,
        };
        Some((path, names))
    }

    /// Returns the texts of a task that is asked for in the folder `base`, as they run there, with what they are handed; none where they
    /// are not known. Of a shell's script, its text.
    pub(in crate::model::init) fn texts_of(&self, base: &str, task: &Task) -> Vec<String> {
        let found = match NODE.contains(&task.program) {
            true => self.scripts(base, task),
            false => Vec::from_iter(self.text_of(base, task)),
        };
        let handed = task.handed.iter().map(text::shell_word);
        let entered = found.into_iter().map(|(home, text)| {
            let whole: Vec<String> = std::iter::once(text).chain(handed.clone()).collect();
            let text = whole.join(" ");
            match way(base, &home) {
                way if way.is_empty() => text,
                way => format!("cd {}\n{text}", text::shell_word(&way)),
            }
        });
        entered.collect()
    }

    /// Returns the scripts that are meant, each with the folder in which it runs.
    fn scripts(&self, base: &str, task: &Task) -> Vec<(String, String)> {
        let meant = |(home, package): &(String, Value)| {
            Some((home.clone(), scripts::meant(package, task.name)?))
        };
        let all = self.packages();
        match &task.place {
            Place::Folder(folder) => {
                let folder = check::join(base, folder);
                let places = folder.iter().flat_map(|folder| above(folder));
                let mut packages =
                    places.filter_map(|place| all.iter().find(|(home, _)| home == place));
                packages.next().and_then(meant).into_iter().collect()
            }
            Place::Package(name) => {
                let is_it = |(home, package): &&(String, Value)| {
                    super::super::text_at(package, "/name") == Some(name)
                        || check::join(base, name).as_deref() == Some(home)
                };
                all.iter().find(is_it).and_then(meant).into_iter().collect()
            }
            // The root's own is the one that asks.
            Place::Packages => {
                let below = all.iter().filter(|(home, _)| !home.is_empty());
                below.filter_map(meant).collect()
            }
            Place::Unknown => Vec::new(),
        }
    }

    /// Returns the packages of Node's with their folders.
    fn packages(&self) -> &[(String, Value)] {
        self.packages.get_or_init(|| {
            let files = self.look.files().iter().map(String::as_str);
            let files = files.filter(|path| split(path).1 == "package.json" && is_own(path));
            let read = |path| Some((split(path).0.to_owned(), json(self.look, path)?));
            files.take(MOST_PACKAGES).filter_map(read).collect()
        })
    }

    /// Returns the text of a task of any other program, and the folder in which it runs.
    fn text_of(&self, base: &str, task: &Task) -> Option<(String, String)> {
        let Place::Folder(folder) = &task.place else {
            return None;
        };
        let folder = check::join(base, folder)?;
        if task.program == SHELL {
            let text = self.look.read(&check::join(&folder, task.name)?)?;
            return Some((folder, text)).filter(|(_, text)| check::is_shells(task.name, text));
        }
        let path = self.file_of(&folder, task)?;
        let folder_of_task = folder.clone();
        let home = match (task.program, task.file) {
            ("just", _) => split(&path).0.to_owned(),
            (program, None) if UPWARDS.contains(&program) => split(&path).0.to_owned(),
            (HOOKS | PREK, _) => String::new(),
            _ => folder,
        };
        let text = match task.program {
            "make" | "gmake" | "just" => {
                let rules = self.rules(task.program, &path);
                let is_strict = self.strict.borrow().contains(&path);
                let strict = if is_strict { "set -e\n" } else { "" };
                let whole = || match rules.only_calls(task.name) {
                    // What it runs is theirs, each by itself.
                    Some(others) => {
                        let calls = others.iter().map(|name| format!("{} {name}", task.program));
                        calls.collect::<Vec<_>>().join("\n")
                    }
                    None => {
                        let made = self.made_by_itself(&folder_of_task, &rules, task);
                        format!("{strict}{made}{}", rules.whole(task.name))
                    }
                };
                rules.has(task.name).then(whole)
            }
            "rake" => rake::text_of(&self.look.read(&path)?, task.name),
            "tox" => tox::text_in(&path, &self.look.read(&path)?, task.name),
            "nox" => nox::text_of(&self.look.read(&path)?, task.name),
            PREK if path.ends_with(".toml") => {
                listed::text_of(PREK, &self.look.read(&path)?, task.name)
            }
            PREK => listed::text_of(HOOKS, &self.look.read(&path)?, task.name),
            program => listed::text_of(program, &self.look.read(&path)?, task.name),
        };
        Some((home, text?))
    }

    /// Returns the commands by which make itself builds what a target needs of files with the same name, and no lines are written for.
    fn made_by_itself(&self, folder: &str, rules: &Rules, task: &Task) -> String {
        if task.program == "just" {
            return String::new();
        }
        let command = |name: &String| {
            let (source, compiler) = OF_SOURCES.iter().find_map(|(end, compiler)| {
                let source = format!("{name}{end}");
                has(self.look, &join(folder, &source)).then_some((source, compiler))
            })?;
            let (name, source) = (text::shell_word(name), text::shell_word(&source));
            Some(format!("{compiler} -o {name} {source}\n"))
        };
        let names = rules.without_lines(task.name);
        names.iter().filter_map(command).collect()
    }

    /// Returns the file that a task stands in.
    fn file_of(&self, folder: &str, task: &Task) -> Option<String> {
        if let Some(file) = task.file {
            return check::join(folder, file).filter(|path| has(self.look, path));
        }
        let names = names_of(task.program);
        let in_folder = |place: &str| first_of(self.look, place, names).map(|it| join(place, it));
        match task.program {
            HOOKS | PREK => in_folder(""),
            program if UPWARDS.contains(&program) || program == "cargo" => {
                above(folder).find_map(in_folder)
            }
            _ => in_folder(folder),
        }
    }
}

/// Returns what the files are called that a program goes by.
fn names_of(program: &str) -> &'static [&'static str] {
    match program {
        "make" | "gmake" => &MAKEFILES,
        "just" => &["justfile", "Justfile", ".justfile"],
        "task" => &[
            "Taskfile.yml",
            "taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
        ],
        "cargo" => &[".cargo/config.toml", ".cargo/config"],
        "composer" => &["composer.json"],
        "rake" => &["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"],
        "deno task" => &["deno.json", "deno.jsonc"],
        "tox" => &["tox.ini", "tox.toml", "pyproject.toml"],
        "nox" => &["noxfile.py"],
        HOOKS => &[".pre-commit-config.yaml", ".pre-commit-config.yml"],
        PREK => &[
            "prek.toml",
            ".pre-commit-config.yaml",
            ".pre-commit-config.yml",
        ],
        _ => &[],
    }
}

/// Returns a folder and those above it, up to the root.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| match folder.rsplit_once('/') {
        Some((above, _)) => Some(above),
        None => (!folder.is_empty()).then_some(""),
    })
}

/// Returns the way from one folder to another.
fn way(from: &str, to: &str) -> String {
    let parts = |path: &'_ str| -> Vec<String> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (from, to) = (parts(from), parts(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let way: Vec<String> = up.chain(to[common..].iter().cloned()).collect();
    way.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_from_one_folder_to_another() {
        for (from, to, expected) in [
            ("", "", ""),
            ("", "a/b", "a/b"),
            ("a", "", ".."),
            ("a/b", "a/c", "../c"),
        ] {
            assert_eq!(way(from, to), expected, "{from} {to}");
        }
        assert_eq!(above("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
    }
}
