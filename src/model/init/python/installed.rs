//! Whether what tests import has to be installed, and is not: the project itself, or what others made. Pure.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::super::{has, is_within, join, split};
use super::{Project, Runner, TESTS_READ};

/// The module that a line of Python imports.
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*(?:from|import)[ \t]+(?<name>[A-Za-z_]\w*)")
        .expect("BUG: a pattern of ours is no pattern")
});

/// Who imports the project's modules, or what it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Pytest,
    Unittest,
    Sphinx,
    MkDocs,
    Mypy,
}

impl By {
    /// Returns the program.
    fn program(self) -> &'static str {
        match self {
            By::Pytest => "pytest",
            By::Unittest => "python",
            By::Sphinx => "sphinx-build",
            By::MkDocs => "mkdocs",
            By::Mypy => "mypy",
        }
    }

    /// Returns the package that brings it.
    fn package(self) -> &'static str {
        match self {
            By::Sphinx => "sphinx",
            By::Pytest | By::Unittest | By::MkDocs | By::Mypy => self.program(),
        }
    }
}

impl Project<'_> {
    /// Returns why tests cannot run: they import a module of the project's that is found only where the project is installed, and is not, or
    /// one of somebody else's that their Python does not find.
    pub(super) fn not_installed(&self, tests: &[&String], by: By) -> Option<String> {
        let program = self.found(by)?;
        let lacks = |module: &str| !self.look.imports(&program, module);
        let own = match self.is_installable() {
            true => self.imported(tests, by),
            false => Vec::new(),
        };
        if let Some(module) = own.iter().find(|module| lacks(module)) {
            let install = self.installing(None, false);
            let install = install.unwrap_or_else(|| "pip install --editable .".to_owned());
            return Some(format!("{module} is not installed: {install}"));
        }
        let mut others = self.imports_of_others(tests);
        if by == By::Pytest && self.measures_always() {
            others.push((
                "pytest_cov".to_owned(),
                "the configuration of pytest".to_owned(),
            ));
        }
        let (module, path) = others.iter().find(|(module, _)| lacks(module))?;
        Some(self.lacking(module, path))
    }

    /// Says that a module of others is not there, and how it is had.
    pub(super) fn lacking(&self, module: &str, path: &str) -> String {
        match self.installing(Some(module), false) {
            Some(install) => format!("{module} is not installed: {install}"),
            None => format!("{module} is not installed: {path} imports it"),
        }
    }

    /// Returns the program that is asked, if it is there.
    pub(super) fn found(&self, by: By) -> Option<String> {
        let program = self.asked(by)?;
        let is_there = self.look.finds(&program) || self.look.is_there(&program);
        is_there.then_some(program)
    }

    /// Returns the program that tells by which Python it runs; none where what runs it installs the project, or asks for it, and where it
    /// may have come with the repository: nothing of that is run before somebody wants it.
    pub(super) fn asked(&self, by: By) -> Option<String> {
        let venv = |folder: &str, name: &str| {
            let program = join(self.home, &format!("{folder}/bin/{name}"));
            let is_tracked = self.look.has_below(&join(self.home, folder));
            Some(program).filter(|_| !is_tracked)
        };
        // By these it runs only where it is one of the packages that they install.
        let is_brought = match self.runner {
            Runner::Uv | Runner::Poetry | Runner::Pdm | Runner::Pipenv => true,
            Runner::Venv(_) | Runner::Path => false,
        };
        match (self.runner, by) {
            (Runner::Venv(folder), By::Unittest) => venv(folder, by.program()),
            (_, By::Unittest) if is_brought => None,
            (_, By::Unittest) => Some("python3".to_owned()),
            (_, By::Pytest | By::Sphinx | By::MkDocs | By::Mypy) => {
                match self.own_program(by.program()) {
                    _ if is_brought && self.names(by.package()) => None,
                    Some(folder) => venv(folder, by.program()),
                    None => Some(by.program().to_owned()),
                }
            }
        }
    }

    /// Says whether pip can install the project.
    pub(super) fn is_installable(&self) -> bool {
        let has_table = |name: &&str| self.pyproject.get(*name).is_some();
        ["project", "build-system"].iter().any(has_table)
            || self.tool("poetry").is_some()
            || self.has_file("setup.py")
    }

    /// Returns the project's modules that tests import and that no path leads to from where they run.
    fn imported(&self, tests: &[&String], by: By) -> Vec<String> {
        let is_set_up = self.look.is_set("PYTHONPATH")
            || self.sections.contains("pythonpath")
            || self
                .tool("pytest")
                .is_some_and(|it| it.to_string().contains("pythonpath"));
        let files = self.look.files().iter();
        let own = files.filter(|path| is_within(path, self.home));
        let conftests = own.filter(|path| split(path).1 == "conftest.py");
        let settings =
            ["pytest.ini", ".pytest.ini", "pytest.toml"].map(|name| join(self.home, name));
        let texts: Vec<String> = conftests
            .chain(tests.iter().copied())
            .chain(&settings)
            .take(TESTS_READ)
            .filter_map(|path| self.look.read(path))
            .collect();
        let leads = |text: &String| {
            ["sys.path", "addsitedir", "pythonpath"]
                .iter()
                .any(|it| text.contains(it))
        };
        if is_set_up || texts.iter().any(leads) {
            return Vec::new();
        }
        let names = texts.iter().flat_map(|text| IMPORT.captures_iter(text));
        let names: BTreeSet<&str> = names
            .filter_map(|it| Some(it.name("name")?.as_str()))
            .collect();
        let source = join(self.home, "src");
        let begins: BTreeSet<String> = tests.iter().map(|test| self.beginning(test)).collect();
        let begins_in = |folder: &str| begins.contains(folder);
        let is_module = |folder: &str, name: &str| {
            let path = join(folder, name);
            has(self.look, &format!("{path}.py")) || self.look.has_below(&path)
        };
        let has_conftest = |folder: &str| has(self.look, &join(folder, "conftest.py"));
        let is_found = |folder: &str| begins_in(folder) || has_conftest(folder);
        // What is called as a folder of tests is one of these, most of the time.
        let is_hidden = |name: &&&str| match () {
            () if is_module(&source, name) => !is_found(&source),
            () if by == By::Unittest || name.starts_with("test") => false,
            () => self.is_package(name) && !is_found(self.home),
        };
        let hidden = names.iter().filter(is_hidden);
        hidden.map(|name| (*name).to_owned()).collect()
    }

    fn is_package(&self, name: &str) -> bool {
        self.has_file(&format!("{name}.py")) || self.has_file(&format!("{name}/__init__.py"))
    }

    /// Returns the folder that pytest has Python look in for a test: the lowest above it that is no package.
    fn beginning(&self, test: &str) -> String {
        let mut folder = split(test).0;
        while folder != self.home && has(self.look, &join(folder, "__init__.py")) {
            folder = split(folder).0;
        }
        folder.to_owned()
    }
}
