//! Make, just and `scripts/check-*.sh`: targets and recipes that bear a known name, where nothing else tells the same of the
//! repository, and every target, recipe and script that is called `check-…`. Pure.

mod files;
mod listed;
mod nox;
mod rake;
pub(super) mod runners;
mod scripts;
pub(super) mod sessions;
mod tox;

pub(super) use files::TaskFiles;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::called::{self, AROUND, Task, TextsOf};
use super::ci::uses;
use super::offer::{
    MOST_TASKS, NAMED, NO_NAME, Proposal, Role, TOLD, by_name, is_check, no_goal, no_goal_of_part,
    slug, takes_one,
};
use super::python::ruff;
use super::python::venv::VENVS;
use super::told::MAY;
use super::{Found, Look, known, same};
use crate::model::recipes::Rules;
use crate::model::{check, mask};

/// Why what has no recipe makes no goal.
const RUNS_NOTHING: &str = "it runs nothing";
/// Why what stands under a condition waits.
const CONDITIONAL: &str = "it is there under a condition only";
/// How much is shown of a name.
const SHOWN: usize = 40;
/// The names that are known: role, id, what should hold, names in the order of preference.
pub(super) const NAMES: [(Role, &str, &str, &[&str]); 7] = [
    (Role::Build, "builds", "It builds", &["build", "all"]),
    (
        Role::Test,
        "tests-pass",
        "All tests pass",
        &["test", "tests", "unit-test", "test-unit", "check"],
    ),
    (
        Role::Types,
        "types-fit",
        "Types fit",
        &["typecheck", "type-check", "types", "mypy"],
    ),
    (
        Role::Lint,
        "lint-clean",
        "The linters find nothing",
        &[
            "lint",
            "lint-check",
            "vet",
            "cs-check",
            "phpstan",
            "analyse",
        ],
    ),
    (
        Role::Format,
        "fmt-clean",
        "Every file is formatted",
        &[
            "fmt-check",
            "format-check",
            "check-fmt",
            "check-format",
            "check-formatting",
            "fmt",
            "format",
        ],
    ),
    (
        Role::Docs,
        "docs-build",
        "The documentation builds",
        &["docs", "doc", "docs-build"],
    ),
    (
        Role::Structure,
        "checks-pass",
        "The project's own check passes",
        &["check", "verify"],
    ),
];

/// Proposes goals for Make, just and scripts.
pub(super) fn propose(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    // What a target runs may be one of them, and its own name says more.
    scripts::propose(look, tasks, found);
    if let Some((file, rules)) = tasks.read_by("make", "") {
        found.is_made_with("Make", "");
        let make = Caller {
            program: "make",
            call: "make --silent",
            file,
        };
        named(look, tasks, &make, &rules, found);
    }
    if let Some((file, rules)) = tasks.read_by("just", "") {
        found.is_made_with("just", "");
        let just = Caller {
            program: "just",
            call: "just",
            file,
        };
        named(look, tasks, &just, &rules, found);
        let shown = rules
            .with_arguments()
            .iter()
            .map(|name| mask::line(name, SHOWN));
        let shown: Vec<String> = shown.collect();
        for some in shown.chunks(NAMED) {
            let they = match some.len() {
                1 => "it needs",
                _ => "they need",
            };
            let some = some.join(", ");
            found.leave_out(format!("{file}: {some}: {they} arguments"));
        }
        let elsewhere = rules.not_here().iter();
        let elsewhere = elsewhere.filter(|name| !rules.names().contains(name));
        for name in elsewhere.take(NAMED) {
            let shown = mask::line(name, SHOWN);
            let why = "it asks somebody first, or is for another system";
            found.leave_out(format!("{file}: {shown}: {why}"));
        }
    }
}

/// Proposes what bears a known name, for roles that nothing that runs has yet; the others are named.
fn named(
    look: &dyn Look,
    tasks: &TaskFiles,
    caller: &Caller<'_>,
    rules: &Rules,
    found: &mut Found,
) {
    let file = caller.file;
    let all = rules.names().iter().chain(rules.under_condition());
    let given: Vec<&str> = all.map(String::as_str).collect();
    let under_condition: HashSet<&String> = rules.under_condition().iter().collect();
    let is_conditional = |name: &str| under_condition.contains(&name.to_owned());
    let cannot = |name: &str| {
        let texts_of = |task: &Task| tasks.texts_of("", task);
        let of_ruff = || ruff::why_left(look, "", &rules.whole(name), &texts_of);
        cannot_be_a_goal(rules, name, &texts_of).or_else(of_ruff)
    };
    let mut used: HashSet<&str> = HashSet::new();
    // Each word of what is a goal already, with the goal that has it first.
    let mut callers: HashMap<&str, String> = HashMap::new();
    // Each with the goal that tells it, and those that are only other names of one of another role.
    let mut told: HashMap<&str, String> = HashMap::new();
    let mut aliases: Vec<(&str, &str)> = Vec::new();
    let alias_of = |name: &str| {
        let [other] = rules.only_calls(name)?[..] else {
            return None;
        };
        let is_certain = !is_conditional(name) && !is_conditional(other);
        let is_one = is_certain && is_of_another_role(name, other) && cannot(other).is_none();
        is_one.then_some(other)
    };
    for (role, id, says, names) in NAMES {
        let (conditional, certain): (Vec<&&str>, Vec<&&str>) = names
            .iter()
            .filter(|name| given.contains(name))
            .partition(|name| is_conditional(name));
        let mut is_chosen = false;
        for name in certain.into_iter().chain(conditional) {
            // Of another role by this name, or one of several that build, format or document: one of these is enough.
            if is_chosen && (!may_be_several(role) || is_named_later(role, name)) {
                continue;
            }
            if !used.insert(name) {
                continue;
            }
            if let Some(other) = alias_of(name) {
                aliases.push((name, other));
                continue;
            }
            // One that changes files is passed by for one that only looks.
            if let Some(why) = cannot(name) {
                found.leave_out(format!("{file}: {name}: {why}"));
                continue;
            }
            let what = format!("{file}: {name}");
            if let Some(same) = callers.get(name).filter(|_| is_chosen) {
                found.leave_told(what, vec![same.clone()], MAY);
                continue;
            }
            let whole = rules.whole(name);
            let id = match (is_chosen, found.has_id(id)) {
                (false, false) => id.to_owned(),
                (true, _) if !found.has_id(&slug(name)) => slug(name),
                (_, _) => format!("{}-{}", caller.program, slug(name)),
            };
            let goal = caller.goal(tasks, role, &id, name, &whole).says(says);
            let goal = placed(goal, is_conditional(name));
            let texts_of = |task: &Task| tasks.texts_of("", task);
            let same = match role {
                // Each part of it may be told by another goal.
                Role::Structure => None,
                role => stands_for(found, role, &whole, goal.missing.is_none(), &texts_of),
            };
            is_chosen = true;
            if let Some(same) = same {
                told.insert(name, same.clone());
                found.leave_told(what, vec![same], MAY);
                continue;
            }
            let id = found.add(goal);
            told.insert(name, id.clone());
            for word in rules.words(name) {
                callers.entry(word).or_insert_with(|| id.clone());
            }
        }
    }
    for name in &given {
        let is_known = NAMES.iter().any(|(_, _, _, names)| names.contains(name));
        if is_known || !is_check(name) || !used.insert(name) {
            continue;
        }
        if let Some(why) = cannot(name) {
            let shown = mask::line(name, SHOWN);
            found.leave_out(format!("{file}: {shown}: {why}"));
            continue;
        }
        if let Some(same) = callers.get(name) {
            let shown = mask::line(name, SHOWN);
            found.leave_told(format!("{file}: {shown}"), vec![same.clone()], MAY);
            continue;
        }
        let says = format!("{} {name} finds nothing", caller.program);
        let whole = rules.whole(name);
        let goal = caller.goal(tasks, Role::Structure, &slug(name), name, &whole);
        found.add(placed(goal.says(says), is_conditional(name)));
    }
    for (name, other) in aliases {
        let what = format!("{file}: {name}");
        match told.get(other) {
            Some(id) => found.leave_told(what, vec![id.clone()], TOLD),
            None => found.leave_out(format!("{what}: it only calls {other}")),
        }
    }
    left(file, &given, &used, &cannot, found);
}

/// What calls the targets or recipes of a file.
struct Caller<'a> {
    program: &'a str,
    /// The same with what a check wants of it.
    call: &'a str,
    file: &'a str,
}

impl Caller<'_> {
    /// Makes a goal that calls a target or recipe, whose lines with those of what it needs are `whole`.
    fn goal(&self, tasks: &TaskFiles, role: Role, id: &str, name: &str, whole: &str) -> Proposal {
        let install = match self.program {
            "just" => "see https://just.systems",
            _ => "install it with your system's packages",
        };
        let look = tasks.look();
        let same = format!("{} {name}", self.program);
        let short = format!("{} {name}", self.call);
        let goal = Proposal::new(role, id, "", &short)
            .seen_in(format!("{}: {name}", self.file))
            .same_as(&[&same, &short])
            .needs(look, self.program, install);
        let unfound = check::unfound(whole, &|program| look.finds(program));
        match unfound.first() {
            Some(program) => goal.lacks(not_found(look, program, &short)),
            None => held(tasks, goal),
        }
    }
}

/// Says that the PATH, by which a command finds what it calls, lacks a program, be it in the project's own environment.
pub(super) fn not_found(look: &dyn Look, program: &str, command: &str) -> String {
    let mut venvs = VENVS.into_iter();
    let own = venvs.find(|venv| look.is_there(&format!("{venv}/bin/{program}")));
    match own {
        Some(venv) => {
            let command = mask::line(command, SHOWN);
            format!(
                "{program} is in {venv}/bin, which is not on the PATH: PATH=$PWD/{venv}/bin:$PATH {command}"
            )
        }
        None => format!("{program} is not installed"),
    }
}

/// Holds back a goal of a target that is there under a condition only.
fn placed(goal: Proposal, is_conditional: bool) -> Proposal {
    match is_conditional {
        true => goal.lacks(format!("{CONDITIONAL}: {}", known::FIRST)),
        false => goal,
    }
}

/// Says whether several of a file may be goals of this role.
fn may_be_several(role: Role) -> bool {
    match role {
        Role::Test | Role::Types | Role::Lint | Role::Structure => true,
        Role::Build | Role::Coverage | Role::Docs | Role::Format | Role::Style => false,
    }
}

/// Says whether one name is known for a role, and another one for others only.
fn is_of_another_role(name: &str, other: &str) -> bool {
    let rows = |name: &str| {
        let rows = NAMES.iter().enumerate();
        let rows = rows.filter(|(_, (_, _, _, names))| names.contains(&name));
        rows.map(|(row, _)| row).collect::<Vec<_>>()
    };
    let (own, others) = (rows(name), rows(other));
    !others.is_empty() && !own.iter().any(|row| others.contains(row))
}

/// Says whether a name stands for a later role, too.
fn is_named_later(role: Role, name: &str) -> bool {
    let later = NAMES.iter().skip_while(|(it, ..)| *it != role).skip(1);
    let mut later = later.map(|(_, _, _, names)| names);
    later.any(|names| names.contains(&name))
}

/// Returns the goal that tells all that a recipe does, which runs here or does not: first one of its role. Where each command that
/// checks is called by some goal, one of them is enough to say so.
pub(super) fn stands_for(
    found: &Found,
    role: Role,
    recipe: &str,
    runs: bool,
    texts_of: TextsOf,
) -> Option<String> {
    let goals = || {
        let in_root = found.proposals.iter().filter(|one| one.folder.is_empty());
        // What cannot run here is no reason to miss what can.
        in_root.filter(|one| one.missing.is_none() || !runs)
    };
    let calls = |one: &Proposal, typed: &str| {
        let mut same = one.same.iter();
        // Of tests another choice of them is another goal.
        match one.role {
            Role::Test => same.any(|same| same::covers(typed, same, &one.check)),
            _ => same.any(|same| typed.contains(same.as_str())),
        }
    };
    let is_called = |typed: &str| goals().any(|one| calls(one, typed));
    let all = checking(recipe, &is_called, texts_of, &Cell::new(MOST_TASKS))?;
    let does_so = |one: &&Proposal| all.iter().any(|typed| calls(one, typed));
    let of_role = goals().filter(|one| one.role == role).find(does_so);
    let first = of_role.or_else(|| goals().find(does_so));
    first.map(|one| one.id.clone())
}

/// Returns the commands of a recipe that check, and in place of those that run known tasks theirs; none if one is not called by any
/// goal.
fn checking(
    recipe: &str,
    is_called: &dyn Fn(&str) -> bool,
    texts_of: TextsOf,
    left: &Cell<usize>,
) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for one in check::done(recipe) {
        let program = one.words.first().map(String::as_str);
        let typed = one.typed();
        let is_around =
            program.is_some_and(|it| AROUND.contains(&it) || matches!(it, "[" | "exit" | "test"));
        if is_around || !uses::checks(&typed) {
            continue;
        }
        if is_called(&typed) {
            found.push(typed);
            continue;
        }
        let tasks = called::tasks(&one).unwrap_or_default();
        let texts: Vec<String> = tasks.iter().flat_map(texts_of).collect();
        if texts.is_empty() || !takes_one(left) {
            return None;
        }
        for text in texts {
            found.extend(checking(&text, is_called, texts_of, left)?);
        }
    }
    Some(found)
}

/// Returns the goal that a role has in the root.
fn of_role(found: &Found, role: Role) -> Option<String> {
    let mut all = found.proposals.iter();
    let is_one = |one: &&Proposal| one.role == role && one.folder.is_empty();
    all.find(is_one).map(|one| one.id.clone())
}

/// Names the targets and recipes that make no goal.
fn left(
    file: &str,
    given: &[&str],
    used: &HashSet<&str>,
    cannot: &dyn Fn(&str) -> Option<String>,
    found: &mut Found,
) {
    let mut rest: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    // One with a dot in its name is a file that is made.
    let is_left = |name: &&&str| !used.contains(**name) && !name.contains('.');
    for name in given.iter().filter(is_left) {
        let mut known = NAMES.iter();
        let known = known.find(|(_, _, _, names)| names.contains(name));
        let goal = known.and_then(|(role, _, _, _)| of_role(found, *role));
        let shown = mask::line(name, SHOWN);
        if goal.is_some()
            && let Some(why) = cannot(name).filter(|why| why != RUNS_NOTHING)
        {
            found.leave_out(format!("{file}: {shown}: {why}"));
            continue;
        }
        match (goal, by_name(name)) {
            (Some(id), _) => found.leave_told(format!("{file}: {shown}"), vec![id], MAY),
            (None, Some(why)) => found.leave_out(format!("{file}: {shown}: {why}")),
            (None, None) if seen.insert(shown.clone()) => rest.push(shown),
            (None, None) => {}
        }
    }
    for some in rest.chunks(NAMED) {
        let some = some.join(", ");
        found.leave_out(format!("{file}: {some}: {NO_NAME}"));
    }
}

/// Says why a target or recipe makes no goal.
fn cannot_be_a_goal(rules: &Rules, name: &str, texts_of: TextsOf) -> Option<String> {
    match rules.is_whole(name) {
        true if rules.is_empty(name) => Some(RUNS_NOTHING.to_owned()),
        true => no_goal(name, &rules.whole(name), texts_of),
        false => no_goal_of_part(name, &rules.whole(name), texts_of),
    }
}

/// Holds back a goal that calls a task, if it had better not run before somebody has looked at what that does.
pub(super) fn held(tasks: &TaskFiles, goal: Proposal) -> Proposal {
    let texts_of = |task: &Task| tasks.texts_of("", task);
    match known::strange(tasks.look(), &texts_of, &goal.check) {
        Some(why) => goal.lacks(why),
        None => goal,
    }
}
