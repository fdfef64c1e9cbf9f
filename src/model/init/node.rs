//! npm, pnpm, yarn and bun: the scripts of package.json, called by the manager whose lock file is there; types and coverage where no
//! script tells of them. Pure.

mod coverage;
mod own;
pub(super) mod scripts;

use serde_json::Value;

use super::called::{self, NODE, Place, Task};
use super::offer::{self, NAMED, NO_NAME, Proposal, Role, is_check, no_goal, slug};
use super::tasks::{TaskFiles, held};
use super::told::MAY;
use super::{Found, Look, Wishes, first_of, has, homes, join, json, known, writers};
use crate::model::{check, mask};

/// The column of lines in the table that istanbul prints, whoever calls it.
pub(super) const TABLE: &str = r"{regex: 'All files\s*\|(?:[^|\n]*\|){3}\s*([0-9.]+)'}";
/// The scripts that are looked for, the first of each line counts: role, id, what should hold, names.
const SCRIPTS: [(Role, &str, &str, &[&str]); 7] = [
    (Role::Build, "builds", "It builds", &["build"]),
    (
        Role::Test,
        "tests-pass",
        "All tests pass",
        &["test", "test:unit", "tests"],
    ),
    (
        Role::Types,
        "types-fit",
        "Types fit",
        &[
            "typecheck",
            "type-check",
            "check-types",
            "check:types",
            "types:check",
            "tsc",
            "types",
        ],
    ),
    (
        Role::Lint,
        "lint-clean",
        "The linter finds nothing",
        &["lint:check", "lint:ci", "lint", "eslint"],
    ),
    (
        Role::Format,
        "fmt-clean",
        "Every file is formatted",
        &[
            "format:check",
            "fmt:check",
            "check:format",
            "check-format",
            "format-check",
            "prettier:check",
        ],
    ),
    (
        Role::Docs,
        "docs-build",
        "The documentation builds",
        &["docs:build", "build:docs"],
    ),
    (
        Role::Structure,
        "checks-pass",
        "The project's own check passes",
        &["check"],
    ),
];
/// What a script does that does not end by itself.
const ENDLESS: [&str; 6] = [
    "--watch",
    " watch",
    "nodemon",
    "webpack serve",
    "vite dev",
    "next dev",
];
/// How much is shown of a name.
const SHOWN: usize = 40;
/// What a script is called that runs the tests alone.
const TESTS_ALONE: &str = "tests-only";
const NONE: &str = "no test specified";
const NO_TESTS: &str = "there are no tests yet";

/// Who installs packages and runs scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    /// Returns the manager of a project: by its lock file, else by what package.json says.
    fn of(look: &dyn Look, home: &str, package: &Value) -> Manager {
        let locks = [
            ("pnpm-lock.yaml", Manager::Pnpm),
            ("yarn.lock", Manager::Yarn),
            ("bun.lock", Manager::Bun),
            ("bun.lockb", Manager::Bun),
            ("package-lock.json", Manager::Npm),
            ("npm-shrinkwrap.json", Manager::Npm),
        ];
        let mut locks = locks.into_iter();
        let locked = locks.find(|(name, _)| has(look, &join(home, name)));
        let said = super::text_at(package, "/packageManager").unwrap_or_default();
        match (locked, said.split('@').next()) {
            (Some((_, manager)), _) => manager,
            (None, Some("pnpm")) => Manager::Pnpm,
            (None, Some("yarn")) => Manager::Yarn,
            (None, Some("bun")) => Manager::Bun,
            (None, _) => Manager::Npm,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Manager::Npm => "npm",
            Manager::Pnpm => "pnpm",
            Manager::Yarn => "yarn",
            Manager::Bun => "bun",
        }
    }

    /// Returns the command that runs a script.
    fn script(self, name: &str) -> String {
        match (self, name) {
            (Manager::Npm, "test") => "npm test --silent".to_owned(),
            (Manager::Npm, name) => format!("npm run --silent {name}"),
            (Manager::Pnpm, name) => format!("pnpm run {name}"),
            (Manager::Yarn, name) => format!("yarn run {name}"),
            (Manager::Bun, name) => format!("bun run {name}"),
        }
    }

    /// Returns the command that runs a program of the packages, and installs none; a variable that is set for it stands in front.
    pub(super) fn program(self, command: &str) -> String {
        let runner = match self {
            Manager::Npm => "npx --no-install",
            Manager::Pnpm => "pnpm exec",
            Manager::Yarn => "yarn run",
            Manager::Bun => "bun run",
        };
        match command
            .split_once(' ')
            .filter(|(word, _)| check::is_assignment(word))
        {
            Some((set, command)) => format!("{set} {runner} {command}"),
            None => format!("{runner} {command}"),
        }
    }

    fn install(self, is_locked: bool) -> &'static str {
        match (self, is_locked) {
            (Manager::Npm, true) => "npm ci",
            (Manager::Npm, false) => "npm install",
            (Manager::Pnpm, _) => "pnpm install",
            (Manager::Yarn, _) => "yarn install",
            (Manager::Bun, _) => "bun install",
        }
    }
}

/// A project with a package.json.
#[derive(Clone, Debug)]
pub(super) struct Package {
    /// Its folder.
    pub home: String,
    /// Who runs its scripts.
    pub manager: Manager,
    /// Its package.json.
    pub json: Value,
    /// Why nothing of it runs here.
    pub missing: Option<String>,
}

impl Package {
    fn of(look: &dyn Look, home: String, json: Value) -> Package {
        let manager = Manager::of(look, &home, &json);
        let name = manager.name();
        let is_installed = ["node_modules", ".pnp.cjs"];
        let is_installed = is_installed
            .iter()
            .any(|it| look.is_there(&join(&home, it)));
        let needs_packages = ["dependencies", "devDependencies"].iter().any(|key| {
            let packages = json.get(key).and_then(Value::as_object);
            packages.is_some_and(|packages| !packages.is_empty())
        });
        let locks = ["package-lock.json", "npm-shrinkwrap.json"];
        let is_locked = first_of(look, &home, &locks).is_some();
        let missing = match (look.finds(name), needs_packages && !is_installed) {
            (false, _) => Some(format!("{name} is not installed")),
            (true, true) => Some(format!(
                "the packages of {} are not installed: {}",
                join(&home, "package.json"),
                manager.install(is_locked)
            )),
            (true, false) => None,
        };
        Package {
            home,
            manager,
            json,
            missing,
        }
    }

    /// Returns what a script runs.
    pub(super) fn script(&self, name: &str) -> Option<&str> {
        scripts::one(&self.json, name)
    }

    /// Says whether any script calls a program.
    pub(super) fn calls(&self, program: &str) -> bool {
        let scripts = self.json.get("scripts").and_then(Value::as_object);
        let mut texts = scripts
            .into_iter()
            .flatten()
            .filter_map(|(_, text)| text.as_str());
        texts.any(|text| text.contains(program))
    }

    /// Says whether it depends on a package.
    pub(super) fn depends_on(&self, name: &str) -> bool {
        let within = |key: &str| {
            self.json
                .get(key)
                .is_some_and(|all| all.get(name).is_some())
        };
        ["dependencies", "devDependencies"]
            .iter()
            .any(|key| within(key))
    }

    /// Makes a goal of the project.
    fn goal(&self, role: Role, id: &str, check: &str) -> Proposal {
        let goal = Proposal::new(role, id, &self.home, check);
        match &self.missing {
            Some(why) => goal.lacks(why),
            None => goal,
        }
    }

    /// Makes a goal that runs a program of its packages.
    pub(super) fn runs(&self, look: &dyn Look, role: Role, id: &str, command: &str) -> Proposal {
        let program = command.split(' ').find(|word| !check::is_assignment(word));
        let program = program.unwrap_or_default();
        let goal = self.goal(role, id, &self.manager.program(command));
        let bin = join(&self.home, &format!("node_modules/.bin/{program}"));
        let has_plug = look.is_there(&join(&self.home, ".pnp.cjs"));
        match look.is_there(&bin) || has_plug {
            true => goal,
            false => goal.lacks(format!(
                "{program} is not among the installed packages: {} {program}",
                match self.manager {
                    Manager::Npm => "npm install --save-dev",
                    Manager::Pnpm => "pnpm add --save-dev",
                    Manager::Yarn => "yarn add --dev",
                    Manager::Bun => "bun add --dev",
                }
            )),
        }
        .same_as(&[program])
    }
}

/// Proposes goals for each package.json that stands for itself; returns the projects.
pub(super) fn propose(
    look: &dyn Look,
    tasks: &TaskFiles,
    wishes: &Wishes,
    found: &mut Found,
) -> Vec<Package> {
    let locks = [
        "pnpm-lock.yaml",
        "yarn.lock",
        "bun.lock",
        "bun.lockb",
        "package-lock.json",
    ];
    let stands_alone = |folder: &str| first_of(look, folder, &locks).is_some();
    let mut packages = Vec::new();
    for home in homes(look, "package.json", found, &stands_alone) {
        let path = join(&home, "package.json");
        let Some(json) = json(look, &path).filter(Value::is_object) else {
            found.leave_out(format!("{path}: it cannot be read"));
            continue;
        };
        let package = Package::of(look, home, json);
        found.is_made_with(package.manager.name(), &package.home);
        if package.home.is_empty() && found.name.is_none() {
            found.name = super::text_at(&package.json, "/name").map(str::to_owned);
        }
        let own = own_tests(look, &package);
        scripts(&package, tasks, own.as_ref(), found);
        found.proposals.extend(own);
        types(look, &package, found);
        coverage::propose(look, tasks, &package, wishes, found);
        packages.push(package);
    }
    packages
}

/// Proposes the tests that Node runs itself, where no script is there for tests, or only the one that npm writes.
fn own_tests(look: &dyn Look, package: &Package) -> Option<Proposal> {
    let tests = SCRIPTS.iter().filter(|(role, ..)| *role == Role::Test);
    let mut names = tests.flat_map(|(_, _, _, names)| names.iter());
    let has_script = names.any(|name| {
        let script = package.script(name);
        script.is_some_and(|text| !says_none(text))
    });
    match has_script {
        true => None,
        false => own::tests(look, package),
    }
}

/// Says whether a script is the one that npm writes where there are no tests.
fn says_none(text: &str) -> bool {
    text.contains(NONE) || text.trim().is_empty()
}

/// Proposes the scripts that tell something; of the tests that Node runs itself it is told.
fn scripts(package: &Package, tasks: &TaskFiles, own: Option<&Proposal>, found: &mut Found) {
    let path = join(&package.home, "package.json");
    let mut seen: Vec<&str> = Vec::new();
    let mut proposed: Vec<(Role, String, &str)> = Vec::new();
    for (role, id, says, names) in SCRIPTS {
        let mut given = names
            .iter()
            .filter_map(|name| Some((*name, package.script(name)?)));
        // One that changes files is passed by for one that only looks.
        let chosen = given.find(|(name, text)| {
            seen.push(name);
            match cannot_be_a_goal(package, tasks, name, text) {
                Some(why) => {
                    let why = match own.filter(|_| role == Role::Test && says_none(text)) {
                        Some(own) => {
                            format!("it says that there are none; {} runs {}", own.id, own::RUNS)
                        }
                        None => why,
                    };
                    found.leave_out(format!("{path}: scripts.{name}: {why}"));
                    false
                }
                None => true,
            }
        });
        let around = match (role, chosen) {
            (Role::Test, Some(("test", _))) => waits(package, tasks, "test"),
            (Role::Test, None) => Some(String::new()),
            _ => None,
        };
        let alone = around.and_then(|why| Some((tests_alone(package, tasks)?, why)));
        if let Some(((name, _), why)) = &alone {
            seen.push(name);
            let why = why.trim_end_matches(known::FIRST).trim_end_matches(": ");
            if !why.is_empty() {
                found.leave_out(format!("{path}: scripts.test: {why}; {id} runs {name}"));
            }
        }
        let chosen = alone.map(|(alone, _)| alone).or(chosen);
        let Some((name, text)) = chosen else { continue };
        let mut check = package.manager.script(name);
        if text.contains("react-scripts test") {
            check = format!("CI=true {check}");
        }
        let goal = calling(package, role, id, name, &check).says(says);
        let id = found.add(held(tasks, goal));
        proposed.push((role, id, text));
    }
    others(package, tasks, &mut seen, &mut proposed, found);
    let given = package.json.get("scripts").and_then(Value::as_object);
    for (name, text) in given.into_iter().flatten() {
        let is_known = SCRIPTS.iter().any(|(_, _, _, all)| all.contains(&&**name));
        let text = text.as_str().unwrap_or_default();
        let is_no_goal = cannot_be_a_goal(package, tasks, name, text).is_some();
        if is_known || !is_check(name) || is_no_goal || !is_word(name) {
            continue;
        }
        seen.push(name);
        let mut callers = proposed.iter();
        if let Some((_, id, _)) = callers.find(|(.., caller)| may_call(caller, name)) {
            let what = format!("{path}: scripts.{}", mask::line(name, SHOWN));
            found.leave_told(what, vec![id.clone()], MAY);
            continue;
        }
        let check = package.manager.script(name);
        let goal = calling(package, Role::Structure, &slug(name), name, &check);
        let says = format!("{} run {name} finds nothing", package.manager.name());
        found.add(held(tasks, goal.says(says)));
    }
    left(package, tasks, &path, &seen, &proposed, found);
}

/// Proposes the other scripts that bear a known name of tests, types or linters, unless one that is proposed calls them, or one of
/// the same role calls the same programs.
fn others<'p>(
    package: &'p Package,
    tasks: &TaskFiles,
    seen: &mut Vec<&'p str>,
    proposed: &mut Vec<(Role, String, &'p str)>,
    found: &mut Found,
) {
    let path = join(&package.home, "package.json");
    let texts_of = |task: &Task| tasks.texts_of(&package.home, task);
    let programs = |text: &str| -> Vec<String> {
        let all = writers::reached(text, &texts_of).into_iter();
        let all = all.filter(|one| called::tasks(one).is_none_or(|tasks| tasks.is_empty()));
        all.map(|one| check::program_name(&one.words[0]).to_owned())
            .collect()
    };
    let roles = [Role::Test, Role::Types, Role::Lint];
    let all = SCRIPTS.iter().filter(|(role, ..)| roles.contains(role));
    for (role, _, says, name) in all.flat_map(|(role, id, says, names)| {
        let names = names.iter();
        names.map(move |name| (*role, *id, *says, *name))
    }) {
        let text = package.script(name).filter(|_| !seen.contains(&name));
        let Some(text) = text else { continue };
        if cannot_be_a_goal(package, tasks, name, text).is_some() {
            continue;
        }
        let own = programs(text);
        let is_told = |(of, _, caller): &&(Role, String, &str)| {
            let does_so = || {
                let all = programs(caller);
                own.iter().all(|program| all.contains(program))
            };
            may_call(caller, name) || *of == role && does_so()
        };
        seen.push(name);
        if let Some((_, id, _)) = proposed.iter().find(is_told) {
            let what = format!("{path}: scripts.{name}");
            found.leave_told(what, vec![id.clone()], MAY);
            continue;
        }
        let check = package.manager.script(name);
        let goal = calling(package, role, &slug(name), name, &check).says(says);
        let id = found.add(held(tasks, goal));
        proposed.push((role, id, text));
    }
}

/// Returns the script with the tests alone, of what `test` runs with more around it, where it can run at once: the one script that it
/// calls, or the one that is called so.
fn tests_alone<'p>(package: &'p Package, tasks: &TaskFiles) -> Option<(&'p str, &'p str)> {
    let all = package.json.get("scripts")?.as_object()?;
    let done = check::done(package.script("test")?);
    let is_plain = |task: &Task| {
        let is_here = matches!(&task.place, Place::Folder(folder) if folder.is_empty());
        is_here && task.handed.is_empty()
    };
    let called = match done.as_slice() {
        [one] => called::tasks(one).unwrap_or_default(),
        _ => Vec::new(),
    };
    let called = match called.as_slice() {
        [task] if task.program == NODE[0] && is_plain(task) => Some(task.name),
        _ => None,
    };
    let mut names = called.into_iter().chain([TESTS_ALONE]);
    names.find_map(|name| {
        let (name, text) = all.get_key_value(name)?;
        let text = text.as_str()?;
        let is_one = is_word(name)
            && cannot_be_a_goal(package, tasks, name, text).is_none()
            && waits(package, tasks, name).is_none();
        is_one.then_some((name.as_str(), text))
    })
}

/// Says why a goal that calls a script had better wait.
fn waits(package: &Package, tasks: &TaskFiles, name: &str) -> Option<String> {
    let texts_of = |task: &Task| tasks.texts_of(&package.home, task);
    known::strange(tasks.look(), &texts_of, &package.manager.script(name))
}

/// Makes a goal that calls a script.
fn calling(package: &Package, role: Role, id: &str, name: &str, check: &str) -> Proposal {
    let same = [
        format!("npm run {name}"),
        package.manager.script(name),
        format!("{} {name}", package.manager.name()),
    ];
    let path = join(&package.home, "package.json");
    package
        .goal(role, id, check)
        .seen_in(format!("{path}: scripts.{name}"))
        .same_as(&same.each_ref().map(String::as_str))
}

/// Says whether a script calls another one, by its name or by a pattern for names like it.
fn may_call(text: &str, name: &str) -> bool {
    let pattern = |c: char| text.contains(&format!("check{c}*"));
    text.contains(name) || name.chars().nth("check".len()).is_some_and(pattern)
}

/// Says whether a name is one word to every shell.
fn is_word(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

/// Names the scripts that make no goal.
fn left(
    package: &Package,
    tasks: &TaskFiles,
    path: &str,
    seen: &[&str],
    proposed: &[(Role, String, &str)],
    found: &mut Found,
) {
    let scripts = package.json.get("scripts").and_then(Value::as_object);
    let scripts = scripts.into_iter().flatten();
    let mut rest: Vec<String> = Vec::new();
    for (name, script) in scripts.filter(|(name, _)| !seen.contains(&name.as_str())) {
        let known = SCRIPTS.iter();
        let mut known = known.filter(|(_, _, _, names)| names.contains(&name.as_str()));
        let shown = mask::line(name, SHOWN);
        let why = cannot_be_a_goal(package, tasks, name, script.as_str().unwrap_or_default());
        let role = known.next().map(|(role, ..)| *role);
        let goal = proposed.iter().find(|(of, ..)| Some(*of) == role);
        match (goal, why) {
            (Some((_, id, _)), _) => {
                found.leave_told(format!("{path}: scripts.{shown}"), vec![id.clone()], MAY);
            }
            (None, Some(why)) => found.leave_out(format!("{path}: scripts.{shown}: {why}")),
            (None, None) => rest.push(shown),
        }
    }
    for some in rest.chunks(NAMED) {
        let some = some.join(", ");
        found.leave_out(format!("{path}: scripts.{some}: {NO_NAME}"));
    }
}

/// Says why a script tells nothing, or not without doing harm.
fn cannot_be_a_goal(
    package: &Package,
    tasks: &TaskFiles,
    name: &str,
    text: &str,
) -> Option<String> {
    let holds = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match () {
        () if says_none(text) => Some(NO_TESTS.to_owned()),
        () if name.starts_with("test") && check::done(text).iter().all(offer::says) => {
            Some(NO_TESTS.to_owned())
        }
        () if holds(&ENDLESS) => Some(offer::ENDLESS.to_owned()),
        () => {
            let whole = scripts::whole(&package.json, name);
            let whole = whole.as_deref().unwrap_or(text);
            let texts_of = |task: &Task| tasks.texts_of(&package.home, task);
            no_goal(name, whole, &texts_of)
        }
    }
}

/// Proposes that types fit, where no script tells and the build does not.
fn types(look: &dyn Look, package: &Package, found: &mut Found) {
    let path = join(&package.home, "tsconfig.json");
    let is_told = found.has(Role::Types, &package.home) || package.calls("tsc");
    if !has(look, &path) || is_told || !package.depends_on("typescript") {
        return;
    }
    let goal = package
        .runs(look, Role::Types, "types-fit", "tsc --noEmit")
        .says("Types fit")
        .seen_in(path);
    found.proposals.push(goal);
}
