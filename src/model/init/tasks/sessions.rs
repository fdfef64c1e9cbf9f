//! The environments of tox and the sessions of nox as goals, where nothing that runs here does the same. Pure.

use super::super::called::Task;
use super::super::offer::{Proposal, Role, no_goal};
use super::super::{Found, Look};
use super::{NAMES, TaskFiles, held};
use crate::model::text::shell_word;

/// Who runs them, how one is called, and how that is had.
const RUNNERS: [(&str, &str, &str); 2] = [
    ("tox", "tox -q -e", "pip install tox"),
    ("nox", "nox -s", "pip install nox"),
];
/// What they call otherwise than other tasks are called, each with the name that is known.
const ALIKE: [(&str, &str); 10] = [
    ("py", "test"),
    ("unit", "test"),
    ("pytest", "test"),
    ("unittest", "test"),
    ("linters", "lint"),
    ("flake8", "lint"),
    ("pep8", "lint"),
    ("style", "lint"),
    ("type", "types"),
    ("typing", "types"),
];

/// Proposes the first environment or session of each role that is free.
pub(in crate::model::init) fn propose(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    for (program, call, install) in RUNNERS {
        let Some((file, names)) = tasks.listed(program) else {
            continue;
        };
        if names.is_empty() {
            continue;
        }
        found.is_made_with(program, "");
        let texts_of = |task: &Task| tasks.texts_of("", task);
        for name in &names {
            let Some((role, id, says)) = of_name(name) else {
                continue;
            };
            let task = Task::named(program, name);
            let text = texts_of(&task).join("\n");
            let stands_for = told(found, role, &text, look.finds(program));
            let why = stands_for.or_else(|| no_goal(name, &text, &texts_of));
            if let Some(why) = why {
                found.leave_out(format!("{file}: {name}: {why}"));
                continue;
            }
            let option = call.rsplit(' ').next().unwrap_or_default();
            let word = shell_word(name);
            let goal = Proposal::new(role, id, "", format!("{call} {word}"))
                .says(says)
                .seen_in(format!("{program}, {file}: {name}"))
                .same_as(&[&format!("{program} {option} {word}")])
                .needs(look, program, install);
            let goal = held(tasks, goal);
            // Of two that wait, the one that needs least is enough.
            match told(found, role, &text, goal.missing.is_none()) {
                Some(why) => found.leave_out(format!("{file}: {name}: {why}")),
                None => found.proposals.push(goal),
            }
        }
    }
}

/// Returns what an environment or session of this name is for: its role, its goal's id and what should hold.
fn of_name(name: &str) -> Option<(Role, &'static str, &'static str)> {
    let plain = name.replace('_', "-");
    let plain = plain.strip_prefix("py-").unwrap_or(&plain);
    let alike = ALIKE.iter().find(|(own, _)| *own == plain);
    let plain = alike.map_or(plain, |(_, name)| *name);
    let mut all = NAMES.iter();
    let found = all.find(|(_, _, _, names)| names.contains(&plain));
    let (role, id, says, _) = found?;
    // What they build is for those who publish it.
    (*role != Role::Build).then_some((*role, *id, *says))
}

/// Says which goal tells what an environment or session would: one that runs here, or any where that cannot run either.
fn told(found: &Found, role: Role, text: &str, runs: bool) -> Option<String> {
    let does_so = |one: &&Proposal| {
        let mut same = one.same.iter();
        one.role == role || same.any(|same| text.contains(same.as_str()))
    };
    let mut all = found.proposals.iter().filter(|one| {
        one.folder.is_empty() && one.measured.is_none() && (one.missing.is_none() || !runs)
    });
    all.find(does_so)
        .map(|one| format!("{} may tell the same", one.id))
}
