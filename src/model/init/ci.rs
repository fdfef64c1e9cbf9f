//! The steps of GitHub's workflows and the jobs of GitLab's as goals: what they check, as they check it. What only sets up or
//! deploys, and what goes by things that CI alone has, is left out and named. Pure.

mod changes;
mod commands;
mod env;
mod github;
mod gitlab;
mod locked;
mod matrix;
mod script;
mod shell;
mod site;
mod toolchain;
pub(super) mod uses;

use std::collections::HashMap;

use env::Env;
use serde_json::Value;

use super::called::{Task, TextsOf};
use super::node::Package;
use super::offer::{self, Proposal, Role, id_of, slug};
use super::tasks::{TaskFiles, not_found};
use super::{Found, Look, known, same, settle, split, writers};
use crate::model::check;
use crate::model::text;

/// The goals file's name for a step where it has none: so much of its command.
const SHOWN: usize = 60;
/// In how many files at most a variable is looked for.
const MOST_READ: usize = 400;
/// Who runs the scripts of package.json.
const NODE: [&str; 5] = ["npm", "npx", "pnpm", "yarn", "bun"];

/// A command that CI runs.
#[derive(Clone, Debug, Default, PartialEq)]
struct Step {
    /// The file, and where in it.
    source: String,
    /// What its author calls it.
    name: Option<String>,
    /// The command.
    script: String,
    /// Where it runs.
    folder: String,
    /// Variables that are set for it.
    env: Env,
    /// It fails where any command of a pipe does, not only the last.
    pipefail: bool,
    /// Its job is allowed to write where others see it.
    may_write: bool,
    /// Its job starts services beside it.
    has_services: bool,
    /// What it is one of several of that differ in versions only.
    choice: Option<String>,
    /// The variables that its job or itself sets to what only CI has.
    of_ci: Vec<String>,
    /// The toolchain of Rust's that its job sets up, where that is not the newest stable one.
    toolchain: Option<String>,
    /// Its job gets what another one made.
    has_artifact: bool,
}

/// Returns the CI files that can be read for goals.
pub(super) fn files(look: &dyn Look) -> Vec<&str> {
    let is_one = |path: &&str| {
        let (folder, name) = split(path);
        let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
        *path == ".gitlab-ci.yml" || (folder == ".github/workflows" && is_yaml)
    };
    look.files()
        .iter()
        .map(String::as_str)
        .filter(is_one)
        .collect()
}

/// Says whether code of the repository may read a variable: a file outside of CI has its name, or that of its kind. Of too many files that
/// is not known.
fn may_be_read(look: &dyn Look, name: &str) -> bool {
    let kind = name
        .split_once('_')
        .map_or(name.to_owned(), |(kind, _)| format!("{kind}_"));
    let is_of_ci = |path: &str| path.starts_with(".github/") || path == ".gitlab-ci.yml";
    let mut files = look.files().iter().filter(|path| !is_of_ci(path));
    look.files().len() > MOST_READ
        || files.any(|path| look.read(path).is_some_and(|text| text.contains(&kind)))
}

/// Returns the lines that each job of CI runs in a folder, be it only to set up; without those of Cargo that a nightly compiler runs,
/// as what it builds may be built by none but that.
pub(super) fn lines_of_jobs(look: &dyn Look, folder: &str) -> Vec<Vec<String>> {
    let mut jobs: Vec<(String, Vec<String>)> = Vec::new();
    for path in files(look) {
        let text = look.read(path).unwrap_or_default();
        let Ok(Some(document)) = crate::model::goals::read_plain(&text) else {
            continue;
        };
        let steps = steps_of(path, &document, &mut Found::default());
        for step in steps.into_iter().filter(|step| step.folder == folder) {
            let job = step.source.splitn(3, ": ").take(2).collect::<Vec<_>>();
            let job = job.join(": ");
            let script = step.script.replace("\\\n", " ");
            let is_elsewhere = toolchain::needs_nightly(look, &step);
            let lines = script.lines();
            let lines = lines.filter(|line| !(is_elsewhere && line.contains("cargo ")));
            let lines = lines.map(str::to_owned);
            match jobs.iter_mut().find(|(name, _)| *name == job) {
                Some((_, all)) => all.extend(lines),
                None => jobs.push((job, lines.collect())),
            }
        }
    }
    jobs.into_iter().map(|(_, lines)| lines).collect()
}

fn steps_of(path: &str, document: &Value, found: &mut Found) -> Vec<Step> {
    match path {
        ".gitlab-ci.yml" => gitlab::steps(path, document, found),
        path => github::steps(path, document, found),
    }
}

/// Makes goals of what CI runs; each takes the place of what was proposed and does the same.
pub(super) fn propose(look: &dyn Look, packages: &[Package], tasks: &TaskFiles, found: &mut Found) {
    let mut goals: Vec<Proposal> = Vec::new();
    let mut choices: HashMap<String, usize> = HashMap::new();
    let files = files(look);
    let is_read = |name: &str| may_be_read(look, name);
    if files.is_empty() {
        found.leave_out("CI: there is no file of .github/workflows, and no .gitlab-ci.yml");
    }
    for path in files {
        let Some(text) = look.read(path) else {
            found.leave_out(format!("{path}: it cannot be read"));
            continue;
        };
        let document = match crate::model::goals::read_plain(&text) {
            Ok(Some(document)) => document,
            Ok(None) => {
                found.leave_out(format!("{path}: it is empty"));
                continue;
            }
            Err(why) => {
                found.leave_out(format!("{path}:{why}"));
                continue;
            }
        };
        let steps = steps_of(path, &document, found);
        for mut step in steps {
            step.env.leave_to_others(&text, &step.script, &is_read);
            let check = script::check_of(&step);
            let texts_of = |task: &Task| tasks.texts_of(&step.folder, task);
            let why = |check: &str| {
                let why = makes_ready(&step).map(str::to_owned);
                why.or_else(|| {
                    step.has_artifact
                        .then(|| changes::MADE_ELSEWHERE.to_owned())
                })
                .or_else(|| changes::made_before(check))
                .or_else(|| lacks_folder(look, &step.folder))
                .or_else(|| changes::files(look, &texts_of, &step, check))
                .or_else(|| locked::why(look, &step.folder, check))
            };
            match check.and_then(|check| why(&check).map_or(Ok(check), Err)) {
                Ok(check) => {
                    let mut one = goal(look, tasks, packages, &step, &check);
                    one.check = site::elsewhere(look, &one.check);
                    let known = step.choice.as_ref().and_then(|choice| choices.get(choice));
                    match (known, &step.choice) {
                        // Of several versions one is enough: the first that can run here.
                        (Some(at), _) if goals[*at].missing.is_some() && one.missing.is_none() => {
                            goals[*at] = one;
                        }
                        (Some(_), _) => {}
                        (None, choice) => {
                            choices.extend(choice.clone().map(|choice| (choice, goals.len())));
                            goals.push(one);
                        }
                    }
                }
                Err(why) => found.leave_out(format!("{}: {why}", step.source)),
            }
        }
    }
    let texts_of = |task: &Task| tasks.texts_of("", task);
    settle::set_apart(&mut goals, &found.proposals);
    let goals = same::told_once(goals, &texts_of, same::GAVE_WAY, found)
        .into_iter()
        .filter_map(|one| in_place(look, one, found))
        .collect::<Vec<_>>();
    found.proposals.extend(goals);
}

fn goal(
    look: &dyn Look,
    tasks: &TaskFiles,
    packages: &[Package],
    step: &Step,
    check: &str,
) -> Proposal {
    let lines = step.script.lines().map(str::trim);
    let mut kept = lines.filter(|line| uses::use_of_one(line) == uses::Use::Checks);
    let shown = kept.find(|line| !line.starts_with('#') && check.contains(line));
    let line = shown.unwrap_or_else(|| first_line(&step.script));
    let shown = text::cut(line, SHOWN);
    let name = step.name.as_deref().filter(|name| !name.contains("${{"));
    let says = match name {
        Some(name) => format!("CI: {name}"),
        None => match step.source.split(": ").nth(1) {
            Some(job) => format!("CI: {job}: {shown}"),
            None => format!("CI: {shown}"),
        },
    };
    let role = role_of(check, name.unwrap_or_default());
    // A name in letters of which no id is made gives way to the command.
    let id = name.filter(|name| !slug(name).is_empty());
    let mut goal = Proposal::new(
        role,
        &id_of(&offer::short(id.unwrap_or(line))),
        &step.folder,
        check,
    )
    .says(says)
    .seen_in(&step.source);
    let is_of_node = |program: &String| NODE.contains(&program.as_str());
    // What `npx` brings comes from the packages, too.
    let called = [check::programs(check), check::unfound(check, &|_| false)].concat();
    let runs_script = |one: &check::Done| {
        let mut tasks = super::called::tasks(one).into_iter().flatten();
        tasks.any(|task| task.program == NODE[0])
    };
    if called.iter().any(is_of_node) || check::done(check).iter().any(runs_script) {
        let package = packages.iter().find(|package| package.home == step.folder);
        let missing = package.and_then(|package| package.missing.as_ref());
        goal.missing = missing.cloned();
    }
    let goal = match check::unfound(check, &|program| look.finds(program)).first() {
        Some(program) => goal.lacks(not_found(look, program, &shown)),
        None => goal,
    };
    let goal = match works_in_one_place(check) {
        true => goal.alone(),
        false => goal,
    };
    let is_file = |path: &str| look.files().iter().any(|file| file == path);
    let runs_own = !check::runs(&goal.check, &is_file).is_empty();
    let texts_of = |task: &Task| tasks.texts_of("", task);
    let why = match step.of_ci.first().filter(|_| runs_own) {
        _ if step.may_write && runs_own => {
            Some("its job may write to where others see it: look first what it does".to_owned())
        }
        Some(name) => Some(format!("{name} has its value from CI")),
        None => known::steered(&step.env.known)
            .or_else(|| toolchain::lacking(look, step, &goal.check))
            .or_else(|| known::strange(look, &texts_of, &goal.check))
            .or_else(|| waits_for_services(step, role, &goal.check, &texts_of)),
    };
    match why {
        Some(why) => goal.lacks(why),
        None => goal,
    }
}

/// Returns the first line of a step that says anything of what it does.
fn first_line(script: &str) -> &str {
    let lines = script.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let sets = |line: &&str| line.starts_with("set -") || line.starts_with('#');
    lines.find(|line| !sets(line)).unwrap_or(first)
}

/// Says that a step may need what its job starts beside it, if it, or a task that it runs, does more than look at the files or build them.
fn waits_for_services(step: &Step, role: Role, check: &str, texts_of: TextsOf) -> Option<String> {
    if !step.has_services {
        return None;
    }
    let reached = writers::reached(check, texts_of);
    let tests = reached
        .iter()
        .any(|one| role_of(&one.typed(), "") == Role::Test);
    let needs_none = match role {
        Role::Build | Role::Types | Role::Lint | Role::Docs | Role::Format | Role::Style => true,
        Role::Test | Role::Structure | Role::Coverage => false,
    };
    (tests || !needs_none).then(|| same::SERVICES.to_owned())
}

/// Says that a step is for later ones, where its author says so.
fn makes_ready(step: &Step) -> Option<&'static str> {
    const WORDS: [&str; 19] = [
        "install",
        "setup",
        "set",
        "download",
        "generate",
        "prepare",
        "restore",
        "cache",
        "configure",
        "start",
        "wait",
        "update",
        "enable",
        "clean",
        "create",
        "delete",
        "kill",
        "remove",
        "stop",
    ];
    let name = step.name.as_deref()?.to_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let first = words.next()?;
    let more = ["and", "check", "checks", "lint", "test", "tests"];
    // What it does besides, its commands tell.
    let does_more = words.any(|word| more.contains(&word));
    (WORDS.contains(&first) && !does_more).then_some("it only sets up")
}

/// Says whether a command builds in the one place that others of its kind build in, too, or takes away what they need.
fn works_in_one_place(check: &str) -> bool {
    const BUILDS: [&str; 8] = [
        "cmake", "gmake", "gradle", "gradlew", "make", "mvn", "mvnw", "ninja",
    ];
    let name = |one: &check::Done| {
        let program = one.words[0].as_str();
        program.rsplit('/').next().unwrap_or(program).to_owned()
    };
    let all = check::done(check);
    let cleans = |one: &check::Done| one.words.iter().any(|word| word == "clean");
    all.iter()
        .any(|one| BUILDS.contains(&name(one).as_str()) || cleans(one))
}

/// Says that the folder in which a step runs is not in the repository.
fn lacks_folder(look: &dyn Look, folder: &str) -> Option<String> {
    let inside = format!("{folder}/");
    let is_there = || look.files().iter().any(|file| file.starts_with(&inside));
    let shown = || format!("there is no folder {}", text::cut(folder, SHOWN));
    (!folder.is_empty() && !is_there()).then(shown)
}

/// Takes the place of the first goal that was proposed and does no more, and its name; drops the others. Each is named. None where such a
/// goal judges more strictly, or leaves nothing behind: then that stays.
fn in_place(look: &dyn Look, mut one: Proposal, found: &mut Found) -> Option<Proposal> {
    if let Some(id) = better(look, &one, found) {
        found.hands_on(&one.id, std::slice::from_ref(&id), false);
        found.leave_told(one.source, vec![id], offer::TOLD);
        return None;
    }
    let check = one.check.clone();
    let is_same = |other: &Proposal| {
        other.folder == one.folder
            && other.measured.is_none()
            && other
                .same
                .iter()
                .any(|same| same::covers(&check, same, &other.check))
    };
    let first = found.proposals.iter().find(|other| is_same(other)).cloned();
    if one.missing.is_some() && first.as_ref().is_some_and(|first| first.missing.is_none()) {
        // What runs here is worth more than what CI would run.
        return Some(one);
    }
    let all = std::mem::take(&mut found.proposals);
    let (gone, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(is_same);
    found.proposals = kept;
    if let Some(first) = first {
        found.hands_on(&one.id, std::slice::from_ref(&first.id), true);
        one.id = first.id;
        one.role = first.role;
        one.weight = first.weight;
        // What does more than that is told by no words of it.
        if same::is_run_by(&one.check, std::iter::once(&*first.check)) {
            one.same = first.same;
        }
        one.missing = one.missing.or(first.missing);
        one.is_alone |= first.is_alone;
    }
    for other in gone {
        if other.id != one.id {
            found.hands_on(&other.id, std::slice::from_ref(&one.id), true);
        }
        found.leave_goal_told(other, &one.id, same::GAVE_WAY);
    }
    Some(one)
}

/// Returns the goal that was proposed, does all that a step does, and lets less pass, `cargo clippy -- -D warnings` of `cargo clippy`, or
/// leaves no site among the files.
fn better(look: &dyn Look, step: &Proposal, found: &Found) -> Option<String> {
    let mut all = found.proposals.iter().filter(|one| {
        one.folder == step.folder
            && one.measured.is_none()
            && (one.missing.is_none() || step.missing.is_some())
    });
    let is_better = |one: &&Proposal| {
        let is_run = || same::is_run_by(&step.check, std::iter::once(&*one.check));
        is_run() && same::is_laxer(&step.check, &one.check)
            || site::leaves_none(look, &one.check, &step.check)
    };
    Some(all.find(is_better)?.id.clone())
}

/// Returns what a command is for, by its words, else by those of its name.
fn role_of(check: &str, name: &str) -> Role {
    const WORDS: [(Role, &[&str]); 8] = [
        (
            Role::Format,
            &[
                "alejandra",
                "autopep8",
                "black",
                "dprint",
                "fmt",
                "format",
                "gofmt",
                "gofumpt",
                "goimports",
                "isort",
                "nixfmt",
                "pint",
                "prettier",
                "rustfmt",
                "scalafmt",
                "shfmt",
                "spotless",
                "spotlesscheck",
                "stylua",
                "swiftformat",
                "treefmt",
                "yapf",
            ],
        ),
        (
            Role::Types,
            &["typecheck", "types", "mypy", "pyright", "tsc"],
        ),
        (
            Role::Lint,
            &[
                "clippy",
                "lint",
                "linter",
                "linters",
                "vet",
                "eslint",
                "shellcheck",
                "flake8",
                "ruff",
                "miri",
                "biome",
                "golangci",
                "actionlint",
                "hadolint",
            ],
        ),
        (
            Role::Structure,
            &["deny", "machete", "udeps", "audit", "semver", "msrv"],
        ),
        (
            Role::Test,
            &[
                "test", "tests", "pytest", "nextest", "unittest", "tox", "nox", "jest", "vitest",
                "spec", "rspec", "ctest",
            ],
        ),
        (
            Role::Docs,
            &["doc", "docs", "mkdocs", "sphinx", "rustdoc", "markdownlint"],
        ),
        (Role::Style, &["typos", "spelling", "codespell", "cspell"]),
        (
            Role::Build,
            &["build", "compile", "check", "make", "package"],
        ),
    ];
    let of_text = |text: &str| {
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let is_said = |all: &[&str]| all.iter().any(|word| words.contains(word));
        let mut roles = WORDS.into_iter();
        roles.find_map(|(role, all)| is_said(all).then_some(role))
    };
    // What is set for it says nothing of what it does.
    let all = check::done(check);
    let all = all.iter().filter(|one| one.words[0] != "export");
    let words: Vec<String> = all.flat_map(|one| one.words.iter().cloned()).collect();
    of_text(&words.join(" "))
        .or_else(|| of_text(name))
        .unwrap_or(Role::Structure)
}
