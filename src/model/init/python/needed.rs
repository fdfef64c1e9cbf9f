//! Which modules of others the tests of a project import, by themselves or by way of the project's own code. Pure.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::super::ini::values;
use super::super::{has, is_own, is_within, join, split};
use super::{Project, TESTS_READ};

/// How many files are read to tell what is imported.
const MOST_READ: usize = 2 * TESTS_READ;
/// How many modules a Python is asked for.
const MOST_ASKED: usize = 64;
/// Modules that every Python has, so that nobody asks for them.
const STANDARD: [&str; 56] = [
    "__future__",
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "builtins",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "email",
    "enum",
    "errno",
    "functools",
    "gc",
    "glob",
    "hashlib",
    "http",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "pprint",
    "queue",
    "random",
    "re",
    "shutil",
    "signal",
    "socket",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "types",
    "typing",
    "unittest",
    "warnings",
];
/// Texts over several lines, which may hold code that nobody runs.
static LONG_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)""".*?"""|'''.*?'''"#).expect("BUG: a pattern of ours is no pattern")
});
/// What a module imports whoever imports it: it stands at the beginning of a line.
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^(?:import[ \t]+(?<all>[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*)[ \t]*(?:[#;\r].*)?$|from[ \t]+(?<from>\.*[\w.]*)[ \t]+import[ \t]*(?<names>\([^)]*\)|[^\n#;(]+))",
    )
    .expect("BUG: a pattern of ours is no pattern")
});
/// A module without which a test is passed by.
static SKIPPED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"importorskip\(\s*["'](?<name>\w+)"#)
        .expect("BUG: a pattern of ours is no pattern")
});

/// What is imported from where.
struct Import {
    /// The dots in front: how many folders up.
    up: usize,
    /// The parts of the module's name.
    parts: Vec<String>,
    /// What is taken from it, each of which may be a module.
    names: Vec<String>,
}

impl Project<'_> {
    /// Returns modules that are none of the repository's and that are imported as the tests are loaded, each with a file that does; as
    /// many as it is worth asking for.
    pub(super) fn imports_of_others(&self, tests: &[&String]) -> Vec<(String, String)> {
        let places = self.testpaths();
        let is_meant = |test: &str| {
            places.is_empty() || places.iter().any(|it| it == test || is_within(test, it))
        };
        let files = self.look.files().iter().map(String::as_str);
        let conftests = files.clone().filter(|path| {
            is_own(path) && split(path).1 == "conftest.py" && is_within(path, self.home)
        });
        let tests = tests.iter().map(|it| it.as_str());
        let starts = conftests.chain(tests.filter(|test| is_meant(test)));
        self.imports_from(starts.map(str::to_owned).collect())
    }

    /// The same of these files.
    pub(super) fn imports_from(&self, mut queue: Vec<String>) -> Vec<(String, String)> {
        let files = self.look.files().iter().map(String::as_str);
        let modules = files.filter(|path| path.ends_with(".py") || path.ends_with(".pyi"));
        let own: HashSet<&str> = modules
            .flat_map(|path| path.split('/'))
            .map(|part| part.split('.').next().unwrap_or_default())
            .collect();
        let mut found: Vec<(String, String)> = Vec::new();
        let mut asked: BTreeSet<String> = BTreeSet::new();
        let mut seen: HashSet<String> = queue.iter().cloned().collect();
        let mut at = 0;
        while let Some(path) = queue.get(at).cloned().filter(|_| at < MOST_READ) {
            at += 1;
            let text = self.look.read(&path).unwrap_or_default();
            let text = LONG_TEXT.replace_all(&text, "''");
            let skipped: Vec<&str> = SKIPPED
                .captures_iter(&text)
                .filter_map(|it| Some(it.name("name")?.as_str()))
                .collect();
            for import in imports(&text) {
                let first = import.parts.first().cloned().unwrap_or_default();
                if import.up > 0 || own.contains(first.as_str()) {
                    let reached = self.files_of(&path, &import).into_iter();
                    queue.extend(reached.filter(|file| seen.insert(file.clone())));
                    continue;
                }
                let is_known = STANDARD.contains(&first.as_str()) || skipped.contains(&&*first);
                if !is_known && asked.len() < MOST_ASKED && asked.insert(first.clone()) {
                    found.push((first, path.clone()));
                }
            }
        }
        found
    }

    /// Returns the project's own files that an import runs.
    fn files_of(&self, importer: &str, import: &Import) -> Vec<String> {
        let here = split(importer).0;
        let roots: Vec<String> = match import.up {
            0 => vec![
                here.to_owned(),
                self.home.to_owned(),
                join(self.home, "src"),
            ],
            up => {
                let above = |folder: &str| split(folder).0.to_owned();
                vec![(1..up).fold(here.to_owned(), |folder, _| above(&folder))]
            }
        };
        let file_of = |path: &str| {
            let ways = [format!("{path}.py"), join(path, "__init__.py")];
            ways.into_iter().find(|way| has(self.look, way))
        };
        for root in roots {
            let mut folder = root.clone();
            let mut files: Vec<String> = Vec::new();
            for part in &import.parts {
                folder = join(&folder, part);
                files.extend(file_of(&folder));
            }
            let taken = import.names.iter();
            files.extend(taken.filter_map(|name| file_of(&join(&folder, name))));
            if !files.is_empty() {
                return files;
            }
        }
        Vec::new()
    }

    /// Returns the files and folders in which pytest looks for tests where the project says so.
    pub(super) fn testpaths(&self) -> Vec<String> {
        let lists = [
            "/tool/pytest/ini_options/testpaths",
            "/tool/pytest/testpaths",
        ];
        let listed = lists.iter().filter_map(|at| self.pyproject.pointer(at));
        let words = |value: &serde_json::Value| match value.as_array() {
            Some(all) => all
                .iter()
                .filter_map(|it| it.as_str())
                .map(str::to_owned)
                .collect(),
            None => words_of(value.as_str().unwrap_or_default()),
        };
        let mut all: Vec<String> = listed.flat_map(words).collect();
        let sections = [
            ("pytest.ini", "pytest"),
            (".pytest.ini", "pytest"),
            ("tox.ini", "pytest"),
            ("setup.cfg", "tool:pytest"),
        ];
        for (name, section) in sections {
            let text = self.look.read(&join(self.home, name)).unwrap_or_default();
            let lines = values(&text, section, "testpaths");
            all.extend(lines.into_iter().flat_map(words_of));
        }
        let plain = all.iter().map(|it| it.trim_start_matches("./"));
        let plain = plain.map(|it| it.trim_end_matches('/'));
        // Of the whole folder, and by a pattern, everything is meant.
        let plain: Vec<&str> = plain.collect();
        match plain
            .iter()
            .any(|it| matches!(*it, "" | ".") || it.contains('*'))
        {
            true => Vec::new(),
            false => plain.iter().map(|it| join(self.home, it)).collect(),
        }
    }
}

fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns what a file of Python imports wherever it is loaded.
fn imports(text: &str) -> Vec<Import> {
    let name_of = |one: &str| {
        let name = one.split_whitespace().next().unwrap_or_default();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        name.trim_matches(|c| !is_name(c)).to_owned()
    };
    let parts_of = |name: &str| {
        let parts = name.split('.').filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for one in IMPORT.captures_iter(text) {
        let group = |name: &str| one.name(name).map(|it| it.as_str()).unwrap_or_default();
        let whole = group("all").split(',').filter(|it| !it.trim().is_empty());
        all.extend(whole.map(|it| Import {
            up: 0,
            parts: parts_of(it.split_whitespace().next().unwrap_or_default()),
            names: Vec::new(),
        }));
        let from = group("from");
        if !from.is_empty() {
            let names = group("names").split([',', '\n']).map(name_of);
            all.push(Import {
                up: from.chars().take_while(|c| *c == '.').count(),
                parts: parts_of(from),
                names: names.filter(|name| !name.is_empty()).collect(),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_the_beginning_of_a_line_is_imported() {
        let text = "import os, a.b as c  # x\nfrom .d.e import (\n  f,  # y\n  g as h,\n)\nfrom .. import i\n\
            if x:\n    import j\nimport data is what it does\nfrom here to there\nimport k;\n";
        let shown: Vec<String> = imports(text)
            .iter()
            .map(|it| format!("{}{} {}", it.up, it.parts.join("."), it.names.join(",")))
            .collect();
        assert_eq!(shown, ["0os ", "0a.b ", "1d.e f,g", "2 i", "0k "]);
    }
}
