//! Python: pytest, unittest or Django's tests, ruff, mypy and their like as they are configured, run through uv, poetry, pdm or pipenv where their lock
//! files are, else from `.venv`, else from the PATH. Pure.

mod advice;
mod calls;
mod django;
mod docs;
mod installed;
mod needed;
mod own;
pub(super) mod ruff;
mod tools;
mod types;
pub(super) mod venv;

use std::collections::BTreeSet;

use serde_json::Value;

use super::offer::{Proposal, Role};
use super::tasks::TaskFiles;
use super::{Found, Look, Wishes, first_of, has, homes, is_own, is_within, join, split, toml};
use crate::model::text;
use calls::Calls;
use installed::By;
use venv::VENVS;

/// What a Python project is known by.
const FILES: [&str; 6] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "tox.ini",
    "Pipfile",
];

/// Where the report of coverage.py has the number.
const OF_REPORT: &str = r"{regex: 'TOTAL\s.*?([0-9.]+)%'}";
/// How many files of tests are read to tell what runs them.
const TESTS_READ: usize = 200;

/// Who runs the tools of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Uv,
    Poetry,
    Pdm,
    Pipenv,
    /// An environment in this folder of its own.
    Venv(&'static str),
    /// Whatever the PATH has.
    Path,
}

/// What keeps a project's packages: its lock file, and its program.
const RUNNERS: [(&str, &str, Runner); 4] = [
    ("uv.lock", "uv", Runner::Uv),
    ("poetry.lock", "poetry", Runner::Poetry),
    ("pdm.lock", "pdm", Runner::Pdm),
    ("Pipfile.lock", "pipenv", Runner::Pipenv),
];

/// One Python project.
struct Project<'a> {
    look: &'a dyn Look,
    home: &'a str,
    runner: Runner,
    pyproject: Value,
    /// setup.cfg and tox.ini, which have sections.
    sections: String,
    /// Where tools may be named as dependencies.
    dependencies: String,
    calls: Calls,
}

/// Proposes goals for each Python project.
pub(super) fn propose(look: &dyn Look, tasks: &TaskFiles, wishes: &Wishes, found: &mut Found) {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for file in FILES {
        for home in homes(look, file, found, &|_| false) {
            all.insert(home);
        }
    }
    let is_djangos = |home: &String| {
        let manage = look.read(&join(home, django::MANAGE));
        manage.is_some_and(|text| django::is_django(&text))
    };
    let of_django = homes(look, django::MANAGE, found, &|_| false);
    all.extend(of_django.into_iter().filter(is_djangos));
    let is_below = |home: &String| {
        all.iter()
            .any(|upper| upper != home && is_within(home, upper))
    };
    let mut is_told = false;
    for home in all.iter().filter(|home| !is_below(home)) {
        let project = Project::of(look, tasks, home);
        if !project.is_python() {
            continue;
        }
        found.is_made_with(project.runner.kind(), home);
        is_told |= home.is_empty();
        if home.is_empty() && found.name.is_none() {
            let names = ["/project/name", "/tool/poetry/name"];
            let mut names = names
                .iter()
                .filter_map(|at| super::text_at(&project.pyproject, at));
            found.name = names.next().map(str::to_owned);
        }
        project.tests(wishes, found);
        found.proposals.extend(project.django());
        if found.has(Role::Test, home) {
            project.note_on_environment(found);
        }
        project.tools(found);
        found.proposals.extend(project.docs());
    }
    // Documentation is built by these tools in projects of any kind.
    if !is_told {
        let project = Project::of(look, tasks, "");
        found.proposals.extend(project.docs());
        found.proposals.extend(project.pylint_alone());
    }
}

impl Runner {
    fn kind(self) -> &'static str {
        match self {
            Runner::Uv => "Python (uv)",
            Runner::Poetry => "Python (poetry)",
            Runner::Pdm => "Python (pdm)",
            Runner::Pipenv => "Python (pipenv)",
            Runner::Venv(_) | Runner::Path => "Python",
        }
    }
}

impl<'a> Project<'a> {
    fn of(look: &'a dyn Look, tasks: &TaskFiles, home: &'a str) -> Project<'a> {
        let there = |name: &str| has(look, &join(home, name));
        let mut venvs = VENVS.into_iter();
        let venv = venvs.find(|venv| look.is_there(&join(home, &format!("{venv}/bin/python"))));
        let mut by_lock = RUNNERS.iter().filter(|(lock, ..)| there(lock));
        let runner = match (by_lock.next(), venv) {
            // What is there runs where what would make another one is not.
            (Some((_, program, _)), Some(venv)) if !look.finds(program) => Runner::Venv(venv),
            (Some((_, _, runner)), _) => *runner,
            (None, Some(venv)) => Runner::Venv(venv),
            (None, None) => Runner::Path,
        };
        let text = |name: &str| look.read(&join(home, name)).unwrap_or_default();
        let named = |path: &&String| {
            let (folder, name) = split(path);
            let is_list =
                name.ends_with(".txt") && (name.contains("requirements") || name.contains("dev"));
            (folder == home || folder == join(home, "requirements")) && is_list
        };
        let lists = look.files().iter().filter(named).take(10);
        let lists: Vec<String> = lists.filter_map(|path| look.read(path)).collect();
        let pyproject = toml(look, &join(home, "pyproject.toml")).unwrap_or(Value::Null);
        Project {
            look,
            home,
            runner,
            dependencies: [
                dependencies(&pyproject),
                text("setup.py"),
                text("setup.cfg"),
                text("tox.ini"),
                text("Pipfile"),
                lists.join("\n"),
            ]
            .join("\n"),
            sections: [text("setup.cfg"), text("tox.ini")].join("\n"),
            calls: Calls::of(look, tasks, home),
            pyproject,
        }
    }

    /// Says whether there is any Python: files with its settings may serve other languages.
    fn is_python(&self) -> bool {
        let files = self.look.files().iter();
        files
            .filter(|path| is_within(path, self.home))
            .any(|path| path.ends_with(".py"))
    }

    fn has_file(&self, name: &str) -> bool {
        has(self.look, &join(self.home, name))
    }

    fn tool(&self, name: &str) -> Option<&Value> {
        self.pyproject.get("tool")?.get(name)
    }

    fn has_section(&self, name: &str) -> bool {
        let head = format!("[{name}");
        self.sections.lines().any(|line| {
            let rest = line.trim().strip_prefix(&head);
            rest.is_some_and(|rest| rest.starts_with([']', '-', '.', ':']))
        })
    }

    /// Returns where a tool is configured: in one of these files, under its name in pyproject.toml, or in a section.
    fn configured(&self, tool: &str, files: &[&str]) -> Option<String> {
        if let Some(file) = first_of(self.look, self.home, files) {
            return Some(join(self.home, file));
        }
        if self.tool(tool).is_some() {
            return Some(format!(
                "{}: tool.{tool}",
                join(self.home, "pyproject.toml")
            ));
        }
        let section = [tool.to_owned(), format!("tool:{tool}")];
        let is_there = section.iter().any(|section| self.has_section(section));
        is_there.then(|| format!("{}: [{tool}]", join(self.home, "setup.cfg")))
    }

    fn names(&self, package: &str) -> bool {
        names(&self.dependencies, package)
    }

    /// Makes a goal that runs a tool of Python's, which comes with a package.
    fn runs(&self, role: Role, id: &str, command: &str, package: &str) -> Proposal {
        let program = command.split(' ').next().unwrap_or_default();
        let by = |runner: &str, words: &str| {
            Proposal::new(role, id, self.home, format!("{runner} {words}{command}")).needs(
                self.look,
                runner,
                &format!("see its documentation, or `pip install {runner}`"),
            )
        };
        let own = self.own_program(program);
        let plain = |command: &str| Proposal::new(role, id, self.home, command);
        // What measures tests, or reads the project's modules, needs what the tests do. A runner finds what is on the PATH, too.
        let needs_project = matches!(role, Role::Coverage | Role::Docs);
        let is_run = self.names(package) || needs_project;
        let goal = match (self.runner, own) {
            (Runner::Uv, _) if is_run => {
                let brought = self.brought_for(program, package);
                // Without the word it writes the lock file where that is behind.
                let goal = by("uv", &format!("run --locked {brought}"));
                match self.marker_against(package) {
                    Some(marker) => {
                        goal.lacks(format!("uv brings {package} only where {marker} holds"))
                    }
                    None => goal,
                }
            }
            (Runner::Poetry, _) if is_run => by("poetry", "run "),
            (Runner::Pdm, _) if is_run => by("pdm", "run "),
            (Runner::Pipenv, _) if is_run => by("pipenv", "run "),
            (_, Some(folder)) => plain(&format!("{folder}/bin/{command}")),
            (_, None) if self.look.finds(program) => plain(command),
            (runner, None) => {
                let what = match package {
                    "pytest" => self.to_install(None, true),
                    "mkdocs" | "sphinx" => self.for_docs().unwrap_or_else(|| package.to_owned()),
                    package => package.to_owned(),
                };
                let install = self.to_add(package);
                let install = install.unwrap_or_else(|| format!("{} install {what}", self.pip()));
                // As it is called once that is done.
                let goal = match runner {
                    Runner::Uv => by("uv", "run --locked "),
                    Runner::Poetry => by("poetry", "run "),
                    Runner::Pdm => by("pdm", "run "),
                    Runner::Pipenv => by("pipenv", "run "),
                    Runner::Venv(folder) => plain(&format!("{folder}/bin/{command}")),
                    Runner::Path => plain(command),
                };
                goal.needs(self.look, program, &install)
            }
        };
        let is_elsewhere = is_run && !self.names(package) && own.is_none();
        let goal = match self.to_add(package).filter(|_| is_elsewhere) {
            Some(add) => goal.needs(self.look, program, &add),
            None => goal,
        };
        goal.same_as(&[program])
    }

    /// Holds back a goal that lacks modules. What came from the PATH would not find them in the project's own environment: it is called
    /// there, where it is to be put with them.
    fn held_for_modules(
        &self,
        goal: Proposal,
        command: &str,
        packages: &str,
        why: Option<&str>,
    ) -> Proposal {
        let program = command.split(' ').next().unwrap_or_default();
        let is_there = || self.own_program(program).is_some();
        match (why, self.runner) {
            (Some(why), Runner::Venv(folder)) if goal.missing.is_none() && !is_there() => {
                let own = format!("{folder}/bin/{command}");
                let check = goal.check.replace(command, &own);
                // It was asked of the Python of the PATH.
                let module = why.split(' ').next().unwrap_or_default();
                if self.has_module(folder, module) {
                    let pip = self.pip();
                    let why = format!("{program} is not in {folder}: {pip} install {packages}");
                    return Proposal { check, ..goal }.lacks(why);
                }
                if !why.contains(" install ") {
                    return goal.lacks(why);
                }
                let more = packages.split(' ').filter(|it| !names(why, it));
                let words: Vec<&str> = std::iter::once(why).chain(more).collect();
                Proposal { check, ..goal }.lacks(words.join(" "))
            }
            _ => held(goal, why),
        }
    }

    /// Says whether the project's own environment has a module; not where it may have come with the repository: nothing of that is run.
    fn has_module(&self, folder: &str, module: &str) -> bool {
        let home = join(self.home, folder);
        let python = format!("{home}/bin/python");
        !self.look.has_below(&home) && self.look.imports(&python, module)
    }

    /// Returns the command by which what keeps the project's packages adds one for its developers; none where that is pip.
    fn to_add(&self, package: &str) -> Option<String> {
        let add = match self.runner {
            Runner::Uv => "uv add --dev",
            Runner::Poetry => "poetry add --group dev",
            Runner::Pdm => "pdm add --dev",
            Runner::Pipenv => "pipenv install --dev",
            Runner::Venv(_) | Runner::Path => return None,
        };
        Some(format!("{add} {package}"))
    }

    /// Returns the folder of the project's own environment that has a program.
    fn own_program(&self, program: &str) -> Option<&'static str> {
        let has = |venv: &&str| {
            let bin = join(self.home, &format!("{venv}/bin/{program}"));
            self.look.is_there(&bin)
        };
        VENVS.into_iter().find(|venv| has(venv))
    }

    /// Returns what makes uv bring the group or extra that a package is in.
    fn groups(&self, package: &str) -> String {
        let lists = |at: &str| {
            self.pyproject
                .pointer(at)
                .and_then(Value::as_object)
                .cloned()
        };
        let within = |at: &str| {
            let groups = lists(at)?;
            let mut groups = groups.into_iter();
            groups.find_map(|(group, list)| names(&list.to_string(), package).then_some(group))
        };
        if let Some(group) = within("/dependency-groups") {
            // uv brings the group dev by itself.
            return match group.as_str() {
                "dev" => String::new(),
                group => format!("--group {} ", text::shell_word(group)),
            };
        }
        let is_named = |option| self.has_list(option, Some(package));
        match within("/project/optional-dependencies") {
            Some(extra) => format!("--extra {} ", text::shell_word(extra)),
            None if is_named("--group") => format!("--group {package} "),
            None if is_named("--extra") => format!("--extra {package} "),
            None => String::new(),
        }
    }

    /// Proposes that tests pass, and that they run enough of it.
    fn tests(&self, wishes: &Wishes, found: &mut Found) {
        let settings = [
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            "conftest.py",
            "tests/conftest.py",
        ];
        let configured = self.configured("pytest", &settings);
        if let Some(goal) = self.django_tests(configured.is_some()) {
            found.proposals.push(goal);
            return;
        }
        let is_test = |path: &&String| {
            let name = split(path).1;
            let is_named = name.starts_with("test_") || name.ends_with("_test.py");
            is_within(path, self.home) && is_own(path) && is_named && name.ends_with(".py")
        };
        let tests = self.look.files().iter().filter(is_test).take(TESTS_READ);
        let tests: Vec<&String> = tests.collect();
        let Some(first) = tests.first() else {
            return;
        };
        let own = self.own_program("pytest");
        let by_pytest = configured.is_some() || self.names("pytest") || own.is_some();
        let source = configured.unwrap_or_else(|| first.to_string());
        if !by_pytest && let Some(test) = self.of_unittest(&tests) {
            let goal = self.unittest(test);
            let why = self.not_installed(&tests, By::Unittest);
            let module = goal.check.split_once(" -m ").map(|(_, module)| module);
            let coverage = self.coverage_by_itself(module.unwrap_or_default(), wishes);
            let all = std::iter::once(goal).chain(coverage);
            let all = all.map(|goal| held(goal, why.as_deref()));
            found.proposals.extend(all);
            return;
        }
        let places = self.places_of_tests();
        let command = format!("pytest -q{places}");
        let goal = self
            .runs(Role::Test, "tests-pass", &command, "pytest")
            .says("All tests pass")
            .seen_in(&source)
            .same_as(&["tox -e py"]);
        let why = self.not_installed(&tests, By::Pytest);
        let goal = self.held_for_modules(goal, &command, "pytest", why.as_deref());
        // A goal that runs outside of the environment does not tell the same as one that runs there.
        found.proposals.push(match own {
            Some(_) => goal,
            None => goal.same_as(&["unittest"]),
        });
        let is_measured = self.measures_always();
        let by_itself = match is_measured || self.names("pytest-cov") {
            true => None,
            false => self.coverage_by_itself(&command, wishes),
        };
        let why = why.as_deref();
        if let Some(goal) = by_itself {
            let packages = "pytest coverage";
            let goal = self.held_for_modules(goal, "coverage ", packages, why);
            found.proposals.push(goal);
        } else if self.names("pytest-cov")
            || self.tool("coverage").is_some()
            || self.has_file(".coveragerc")
            || is_measured
        {
            let goal = self.coverage(is_measured, wishes);
            let goal = self.held_for_modules(goal, "pytest ", "pytest-cov", why);
            found.proposals.push(goal);
        }
    }

    /// Returns what pytest is handed where its settings name no folder, with a space in front.
    fn places_of_tests(&self) -> String {
        let places = self.test_places().filter(|_| self.testpaths().is_empty());
        places.map_or(String::new(), |places| format!(" {places}"))
    }

    /// Says whether pytest's own options measure coverage already; what other commands of the project say does not count.
    fn measures_always(&self) -> bool {
        let options = self.tool("pytest").map(Value::to_string);
        let settings =
            ["pytest.ini", ".pytest.ini"].map(|name| self.look.read(&join(self.home, name)));
        let texts = [self.sections.clone()]
            .into_iter()
            .chain(settings.into_iter().flatten());
        let of_addopts = |text: String| {
            let mut lines = text.lines().skip_while(|line| !line.starts_with("addopts"));
            let first = lines.next().map(str::to_owned);
            let rest = lines
                .take_while(|line| line.starts_with([' ', '\t']))
                .map(str::to_owned);
            first
                .into_iter()
                .chain(rest)
                .any(|line| asks_for_coverage(&line))
        };
        options.is_some_and(|options| asks_for_coverage(&options))
            || texts.into_iter().any(of_addopts)
    }

    /// Returns the first test that `unittest` runs, if it runs all: of plain functions it runs none, and before Python 3.12 it
    /// passes then.
    fn of_unittest<'b>(&self, tests: &[&'b String]) -> Option<&'b str> {
        let is_pytests = |text: &str| {
            let is_function = |line: &str| {
                let line = line.strip_prefix("async ").unwrap_or(line);
                line.starts_with("def test")
            };
            text.contains("import pytest") || text.lines().any(is_function)
        };
        let mut of_unittest = None;
        for test in tests {
            let text = self.look.read(test).unwrap_or_default();
            if is_pytests(&text) {
                return None;
            }
            if text.contains("unittest") || text.contains("TestCase") {
                of_unittest.get_or_insert(test.as_str());
            }
        }
        of_unittest
    }

    /// Proposes `unittest`, told where it finds this test: below a folder it goes into packages only.
    fn unittest(&self, test: &str) -> Proposal {
        let (folder, name) = split(test);
        let folder = folder
            .strip_prefix(self.home)
            .unwrap_or(folder)
            .trim_start_matches('/');
        let mut start = folder;
        while let Some((upper, _)) = start.rsplit_once('/')
            && self.has_file(&format!("{start}/__init__.py"))
        {
            start = upper;
        }
        let mut place = match start {
            "" => String::new(),
            start => format!(" -s {}", text::shell_word(start)),
        };
        if !start.is_empty() && self.has_file(&format!("{start}/__init__.py")) {
            place.push_str(" -t .");
        }
        if !name.starts_with("test") {
            place.push_str(" -p '*_test.py'");
        }
        let arguments = format!("-m unittest discover{place}");
        self.runs_python(Role::Test, "tests-pass", &arguments)
            .says("All tests pass")
            .seen_in(test)
            .same_as(&["unittest", "pytest", "tox -e py"])
    }

    /// Makes a goal that hands the project's Python these arguments.
    fn runs_python(&self, role: Role, id: &str, arguments: &str) -> Proposal {
        let by = |python: &str| {
            let check = format!("{python} {arguments}");
            Proposal::new(role, id, self.home, check)
        };
        let install = |runner: &str| format!("see its documentation, or `pip install {runner}`");
        let of_its_own = |runner: &str, words: &str| {
            let goal = by(&format!("{runner} {words} python"));
            goal.needs(self.look, runner, &install(runner))
        };
        match self.runner {
            Runner::Uv => {
                let brought = self.brought_for("unittest", "unittest");
                of_its_own("uv", format!("run --locked {brought}").trim_end())
            }
            Runner::Poetry => of_its_own("poetry", "run"),
            Runner::Pdm => of_its_own("pdm", "run"),
            Runner::Pipenv => of_its_own("pipenv", "run"),
            Runner::Venv(folder) => by(&format!("{folder}/bin/python")),
            Runner::Path => by("python3").needs(self.look, "python3", "see https://www.python.org"),
        }
    }

    /// Returns the floor of coverage that the project sets.
    fn floor(&self) -> Option<f64> {
        let own = self
            .tool("coverage")
            .and_then(|all| all.pointer("/report/fail_under")?.as_f64());
        let in_files = [".coveragerc", "setup.cfg", "tox.ini"];
        let in_files = in_files.iter().filter_map(|name| {
            let text = self.look.read(&join(self.home, name))?;
            let line = text
                .lines()
                .find_map(|line| line.trim().strip_prefix("fail_under"))?
                .to_owned();
            line.trim_start_matches([' ', '=', ':']).trim().parse().ok()
        });
        own.or_else(|| in_files.into_iter().next())
    }

    fn coverage(&self, is_measured: bool, wishes: &Wishes) -> Proposal {
        let with = if is_measured { "" } else { " --cov" };
        let places = self.places_of_tests();
        let command = format!("pytest -q{with} --cov-report=term{places}");
        let goal = self
            .runs(Role::Coverage, "coverage-floor", &command, "pytest-cov")
            .covers(self.floor(), wishes.coverage, OF_REPORT)
            .seen_in("pytest-cov, coverage");
        // pytest-cov is no program; what it brings is.
        let is_by_hand = matches!(self.runner, Runner::Venv(_) | Runner::Path);
        // What runs the tests in an environment of its own has it there, or not at all.
        let is_elsewhere = !is_by_hand && self.names("pytest") && !self.names("pytest-cov");
        let goal = match is_elsewhere {
            true => {
                let add = self.to_add("pytest-cov").map(|add| format!(": {add}"));
                let goal = Proposal {
                    missing: None,
                    ..goal
                };
                goal.lacks(format!(
                    "pytest-cov is not among the packages that the project's tests have{}",
                    add.unwrap_or_default()
                ))
            }
            false => goal,
        };
        let goal = match is_by_hand && self.own_program("coverage").is_none() {
            true => {
                let install = format!("{} install pytest-cov", self.pip());
                let is_elsewhere = self.own_program("pytest").is_some();
                let is_lacking = is_elsewhere || !self.look.finds("coverage");
                let why = is_lacking.then(|| format!("coverage is not installed: {install}"));
                self.held_for_modules(goal, "pytest ", "pytest-cov", why.as_deref())
            }
            false => goal,
        };
        Proposal {
            same: vec!["--cov".to_owned(), "coverage".to_owned()],
            ..goal
        }
    }
}

/// Holds back a goal of tests that cannot run for this reason.
fn held(goal: Proposal, why: Option<&str>) -> Proposal {
    match why {
        Some(why) => goal.lacks(why),
        None => goal,
    }
}

/// Returns all that pyproject.toml names as dependencies.
fn dependencies(pyproject: &Value) -> String {
    let lists = [
        "/project/dependencies",
        "/project/optional-dependencies",
        "/dependency-groups",
        "/tool/uv/dev-dependencies",
        "/tool/poetry/dependencies",
        "/tool/poetry/dev-dependencies",
        "/tool/poetry/group",
        "/tool/pdm/dev-dependencies",
        "/tool/hatch/envs",
    ];
    let texts = lists.iter().filter_map(|at| pyproject.pointer(at));
    texts.map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Says whether options of pytest have it measure coverage: `--cov` or `--cov=a`, and not `--cov-config=a`.
fn asks_for_coverage(options: &str) -> bool {
    let mut words = options.split([' ', '\t', '"', '\'', ',', '[', ']']);
    words.any(|word| word == "--cov" || word.starts_with("--cov="))
}

/// Says whether a package is named as a word of its own: `pytest` is not named by `pytest-cov`.
fn names(text: &str, package: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.match_indices(package).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + package.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
