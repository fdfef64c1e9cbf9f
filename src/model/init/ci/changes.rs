//! Steps of CI that change files, and those that look at what others changed. Pure.

use super::super::node::Package;
use super::super::tasks::TaskFiles;
use super::super::writers;
use super::{NODE, Step};
use crate::model::check;

/// Says why a step cannot be a goal, if its check changes files.
pub(super) fn files(
    (packages, tasks): (&[Package], &TaskFiles),
    (step, check): (&Step, &str),
) -> Option<String> {
    let package = packages.iter().find(|package| package.home == step.folder);
    let text_of = |program: &str, name: &str| match NODE.contains(&program) {
        true => package?.scripts(name),
        false => tasks.text_of(&step.folder, (program, name)),
    };
    if let Some(why) = writers::of_commands(check, &text_of) {
        return Some(why);
    }
    let commands = check::commands(check);
    let begins = |it: &String, all: [&str; 2]| all.iter().any(|at| it.starts_with(at));
    if !commands.is_empty()
        && commands
            .iter()
            .all(|it| begins(it, ["git diff", "git status"]))
    {
        return Some("it goes by what earlier steps changed".to_owned());
    }
    let has_hooks = commands
        .iter()
        .any(|it| begins(it, ["pre-commit run", "prek run"]));
    has_hooks.then(|| "its hooks change files; a goal only looks".to_owned())
}
