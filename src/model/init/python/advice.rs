//! What pip installs so that the tests of a project can run: the project with what it declares for its tests. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::ini::{keys, values};
use super::super::offer::{Proposal, Role};
use super::super::{Found, has, join, split, text_at};
use super::django::MANAGE;
use super::{Project, Runner, names};
use crate::model::text::shell_word;

/// What extras, groups and lists for tests are called, in the order of preference.
const FOR_TESTS: [&str; 5] = ["test", "tests", "testing", "dev", "develop"];
/// How many packages of tox are named.
const MOST_NAMED: usize = 12;
/// An extra for tests in setup.py.
static EXTRA: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["'](?<name>test|tests|testing|dev|develop)["']\s*(?::|\]\s*=)"#)
        .expect("BUG: a pattern of ours is no pattern")
});

/// What is declared for tests.
#[derive(Default)]
struct Declared {
    extras: Vec<String>,
    groups: Vec<String>,
    /// Lists of packages, by their paths from the root.
    lists: Vec<String>,
    packages: Vec<String>,
    /// All that these name.
    texts: String,
}

impl Declared {
    fn is_empty(&self) -> bool {
        let all = [&self.extras, &self.groups, &self.lists, &self.packages];
        all.iter().all(|list| list.is_empty())
    }
}

impl Project<'_> {
    /// Returns the command that installs what tests need, with pytest where that is not there; of a module that they lack it brings what
    /// the project declares. None where the project says of nothing how that is had.
    pub(super) fn installing(&self, module: Option<&str>, with_pytest: bool) -> Option<String> {
        let words = self.to_install(module, with_pytest);
        let is_told = match module {
            Some(module) => {
                let own = ["/project/name", "/tool/poetry/name"];
                let mut own = own.iter().filter_map(|at| text_at(&self.pyproject, at));
                !self.declared(None).is_empty()
                    || self.is_named(&self.dependencies, module)
                    || own.any(|own| self.is_named(own, module))
            }
            None => true,
        };
        (is_told && !words.is_empty()).then(|| format!("{} install {words}", self.pip()))
    }

    /// Says that what runs comes from anywhere: the project and what it needs may be nowhere in there.
    pub(super) fn note_on_environment(&self, found: &mut Found) {
        let is_active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .iter()
            .any(|it| self.look.is_set(it));
        if self.runner != Runner::Path || is_active {
            return;
        }
        let is_tested = |one: &&Proposal| one.role == Role::Test && one.folder == self.home;
        let tests = found.proposals.iter().find(is_tested);
        let is_of_python = |one: &Proposal| {
            let mut words = ["python3 -m unittest", MANAGE].iter();
            words.any(|word| one.check.contains(word))
        };
        let calls_pytest = |one: &Proposal| one.missing.is_none() && !is_of_python(one);
        let by_python = tests.is_some_and(is_of_python);
        let then = match tests.is_some_and(calls_pytest) {
            true => "write .venv/bin/pytest for pytest in GOALS.yaml",
            false if by_python => "write .venv/bin/python for python3 in GOALS.yaml",
            false => "evolve init --add --write",
        };
        let what = self.to_install(None, !by_python);
        if what.is_empty() {
            return;
        }
        // Its checks go to its folder first; who reads this is in the root.
        let venv = join(self.home, ".venv");
        let (folder, pip) = (shell_word(&venv), shell_word(format!("{venv}/bin/pip")));
        found.notes.push(format!(
            "no environment of {}'s own is here, so its checks run with the PATH's Python. With one they run there: \
             python3 -m venv {folder} && {pip} install {what}, then {then}",
            match self.home {
                "" => "the project",
                home => home,
            }
        ));
    }

    /// Returns the pip of the project's own environment, else that of the PATH.
    pub(super) fn pip(&self) -> String {
        match self.runner {
            Runner::Venv(venv) => join(self.home, &format!("{venv}/bin/pip")),
            Runner::Uv | Runner::Poetry | Runner::Pdm | Runner::Pipenv | Runner::Path => {
                "pip".to_owned()
            }
        }
    }

    /// Returns what pip is told to install so that the first extra or group of these names is there.
    pub(super) fn with_extra_of(&self, wished: &[&str], cfg: &str) -> Option<String> {
        let (extras, groups) = (self.extras(cfg), self.lists_at("/dependency-groups"));
        let has = |all: &[(String, String)], name: &str| all.iter().any(|(it, _)| it == name);
        let extra = wished.iter().find(|name| has(&extras, name));
        if let Some(name) = extra.filter(|_| self.is_installable()) {
            let folder = match self.home {
                "" => ".",
                home => home,
            };
            let project = shell_word(format!("{folder}[{name}]"));
            return Some(format!("--editable {project}"));
        }
        let group = wished.iter().find(|name| has(&groups, name))?;
        Some(self.group(group))
    }

    /// Returns a group as pip is told of it from the root: by its packages where these are few, for groups are known to pip only since 25.1.
    fn group(&self, name: &str) -> String {
        let mut packages = Vec::new();
        self.packages_of(name, &mut vec![], &mut packages);
        if (1..=MOST_NAMED).contains(&packages.len()) {
            let words: Vec<String> = packages.iter().map(shell_word).collect();
            return words.join(" ");
        }
        let group = match self.home {
            "" => name.to_owned(),
            home => format!("{}:{name}", join(home, "pyproject.toml")),
        };
        format!("--group {}", shell_word(group))
    }

    /// Adds the packages of a group, and of the groups that it includes.
    fn packages_of(&self, name: &str, seen: &mut Vec<String>, packages: &mut Vec<String>) {
        let plain = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
        if seen.contains(&plain(name)) {
            return;
        }
        seen.push(plain(name));
        let groups = self
            .pyproject
            .get("dependency-groups")
            .and_then(Value::as_object);
        let mut groups = groups.into_iter().flatten();
        let list = groups.find(|(group, _)| plain(group) == plain(name));
        for one in list
            .and_then(|(_, list)| list.as_array())
            .into_iter()
            .flatten()
        {
            match (one.as_str(), text_at(one, "/include-group")) {
                (Some(package), _) if !packages.iter().any(|it| it == package) => {
                    packages.push(package.to_owned());
                }
                (None, Some(other)) => self.packages_of(other, seen, packages),
                (Some(_), _) | (None, None) => {}
            }
        }
    }

    /// Returns what stands behind `pip install`.
    pub(super) fn to_install(&self, module: Option<&str>, with_pytest: bool) -> String {
        let declared = self.declared(module);
        let mut words = Vec::new();
        if self.is_installable() {
            let folder = match self.home {
                "" => ".",
                home => home,
            };
            let extras = match declared.extras.is_empty() {
                true => String::new(),
                false => format!("[{}]", declared.extras.join(",")),
            };
            words.push(format!(
                "--editable {}",
                shell_word(format!("{folder}{extras}"))
            ));
        }
        for group in &declared.groups {
            words.push(self.group(group));
        }
        let lists = declared.lists.iter();
        words.extend(lists.map(|path| format!("--requirement {}", shell_word(path))));
        words.extend(declared.packages.iter().map(shell_word));
        if with_pytest && !names(&declared.texts, "pytest") {
            words.push("pytest".to_owned());
        }
        words.join(" ")
    }

    /// Says whether a module, or the package that is called so, is named.
    fn is_named(&self, text: &str, module: &str) -> bool {
        let plain = |text: &str| text.to_lowercase().replace('_', "-");
        names(&plain(text), &plain(module))
    }

    /// Returns what the project declares for its tests, and where it has that for something else, what brings this module.
    fn declared(&self, module: Option<&str>) -> Declared {
        let mut declared = Declared::default();
        let text = |name: &str| self.look.read(&join(self.home, name)).unwrap_or_default();
        let (tox, cfg) = (text("tox.ini"), text("setup.cfg"));
        let extras = self.extras(&cfg);
        self.of_tox(&tox, &mut declared);
        declared
            .extras
            .retain(|name| extras.iter().any(|(it, _)| it == name));
        let first = |all: &[(String, String)]| {
            let mut wished = FOR_TESTS.iter();
            wished.find_map(|name| all.iter().find(|(it, _)| it == name).cloned())
        };
        if declared.extras.is_empty() {
            declared.extras.extend(first(&extras).map(|(name, _)| name));
        }
        let groups = self.lists_at("/dependency-groups");
        if declared.groups.is_empty() && declared.extras.is_empty() {
            declared.groups.extend(first(&groups).map(|(name, _)| name));
        }
        if declared.is_empty() {
            declared.lists = self.lists_for_tests();
        }
        let brings = |chosen: &[String], all: &[(String, String)]| {
            let all = all.iter().filter(|(name, _)| chosen.contains(name));
            all.map(|(_, text)| format!("{text}\n")).collect::<String>()
        };
        let read = |path: &String| self.look.read(path).unwrap_or_default();
        declared.texts = [
            brings(&declared.extras, &extras),
            brings(&declared.groups, &groups),
            declared
                .lists
                .iter()
                .map(read)
                .collect::<Vec<_>>()
                .join("\n"),
            declared.packages.join("\n"),
        ]
        .join("\n");
        let Some(module) = module else {
            return declared;
        };
        let required = self.pyproject.pointer("/project/dependencies");
        let required = required.map(Value::to_string).unwrap_or_default();
        if self.is_named(&(required + &declared.texts), module) {
            return declared;
        }
        let brings = |(_, text): &&(String, String)| self.is_named(text, module);
        match (extras.iter().find(brings), groups.iter().find(brings)) {
            (Some((name, _)), _) => declared.extras.push(name.clone()),
            (None, Some((name, _))) => declared.groups.push(name.clone()),
            (None, None) => {}
        }
        declared
    }

    /// Returns the tables of lists at a place of pyproject.toml: names, and what they hold.
    fn lists_at(&self, at: &str) -> Vec<(String, String)> {
        let lists = self.pyproject.pointer(at).and_then(Value::as_object);
        let lists = lists.into_iter().flatten();
        lists
            .map(|(name, list)| (name.clone(), list.to_string()))
            .collect()
    }

    /// Returns the extras that the project has, with what is known of what they bring.
    fn extras(&self, cfg: &str) -> Vec<(String, String)> {
        let mut all = self.lists_at("/project/optional-dependencies");
        all.extend(self.lists_at("/tool/poetry/extras"));
        let section = "options.extras_require";
        let named = keys(cfg, section).into_iter();
        all.extend(named.map(|key| (key.to_owned(), values(cfg, section, key).join("\n"))));
        let setup = self
            .look
            .read(&join(self.home, "setup.py"))
            .unwrap_or_default();
        if setup.contains("extras_require") {
            let found = EXTRA.captures_iter(&setup);
            all.extend(found.map(|it| (it["name"].to_owned(), String::new())));
        }
        all
    }

    /// Returns the extras and the groups that tox installs for the tests.
    pub(super) fn of_tox_alone(&self) -> (Vec<String>, Vec<String>) {
        let tox = self.look.read(&join(self.home, "tox.ini"));
        let mut declared = Declared::default();
        self.of_tox(&tox.unwrap_or_default(), &mut declared);
        (declared.extras, declared.groups)
    }

    /// Adds what tox installs for the tests.
    fn of_tox(&self, tox: &str, declared: &mut Declared) {
        let legacy = self.pyproject.pointer("/tool/tox/legacy_tox_ini");
        let legacy = legacy.and_then(Value::as_str).unwrap_or_default();
        let base = self.pyproject.pointer("/tool/tox/env_run_base");
        let all = |key: &str| {
            let listed = base.and_then(|base| base.get(key)?.as_array());
            let listed = listed.into_iter().flatten().filter_map(Value::as_str);
            let in_files = [tox, legacy];
            let in_files = in_files
                .iter()
                .flat_map(|file| values(file, "testenv", key));
            listed
                .chain(in_files)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let words = |lines: Vec<String>| {
            let words = lines.iter().flat_map(|line| line.split([',', ' ', '\t']));
            let words = words.filter(|word| !word.is_empty() && !word.contains(['{', '}', ':']));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        // Of those for some factors only, those for tests: `tests: tests`.
        let of_tests = |lines: Vec<String>| {
            let own = lines
                .into_iter()
                .filter_map(|line| match line.split_once(": ") {
                    Some((factors, rest)) => {
                        let mut factors = factors.split([',', '-']);
                        let is_meant = factors.any(|factor| FOR_TESTS.contains(&factor.trim()));
                        is_meant.then(|| rest.to_owned())
                    }
                    None => Some(line),
                });
            own.collect::<Vec<_>>()
        };
        declared.extras = words(of_tests(all("extras")));
        declared.groups = words(of_tests(all("dependency_groups")));
        for line in all("deps") {
            let line = line.split(" #").next().unwrap_or_default();
            let line = line.replace("{toxinidir}/", "").replace("{tox_root}/", "");
            let line = line.trim();
            let list = ["-r", "--requirement"]
                .iter()
                .find_map(|it| line.strip_prefix(it));
            let own = line.trim_start_matches("-e").trim().strip_prefix('.');
            match (list, own) {
                _ if line.contains(['{', '}']) || line.contains(": ") || line.is_empty() => {}
                (Some(list), _) => {
                    let path = join(self.home, list.trim_start_matches(['=', ' ']));
                    declared.lists.extend(has(self.look, &path).then_some(path));
                }
                (None, Some(own)) => {
                    let own = own.trim_matches(['[', ']']).split(',').map(str::trim);
                    let own = own.filter(|name| !name.is_empty());
                    declared.extras.extend(own.map(str::to_owned));
                }
                (None, None) if line.starts_with('-') => {}
                (None, None) => {
                    if declared.packages.len() < MOST_NAMED {
                        declared.packages.push(line.to_owned());
                    }
                }
            }
        }
        declared.lists.dedup();
    }

    /// Returns the list of packages that is for tests by its name, behind the one of a project that cannot be installed.
    fn lists_for_tests(&self) -> Vec<String> {
        let in_home = |path: &&String| {
            let folder = split(path).0;
            let is_near = folder == self.home || folder == join(self.home, "requirements");
            path.ends_with(".txt") && is_near
        };
        let lists: Vec<&String> = self.look.files().iter().filter(in_home).collect();
        let is_called = |path: &str, word: &str| {
            let (folder, name) = split(path);
            let stem = name.trim_end_matches(".txt");
            let is_list = stem.contains("requirements") || folder.ends_with("requirements");
            is_list && stem.split(['-', '_', '.']).any(|part| part == word)
        };
        let mut wished = FOR_TESTS.iter();
        let for_tests = wished.find_map(|word| lists.iter().find(|path| is_called(path, word)));
        let plain = join(self.home, "requirements.txt");
        let plain = lists.iter().find(|path| ***path == plain);
        let plain = plain.filter(|_| !self.is_installable());
        let all = plain.into_iter().chain(for_tests);
        all.map(|path| (*path).clone()).collect()
    }
}
