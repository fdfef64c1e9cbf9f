//! Steps of CI that do more than look, and those that look at what others changed. Pure.

use super::super::node::Package;
use super::super::tasks::TaskFiles;
use super::super::writers;
use super::{NODE, Step};
use crate::model::check;

/// Says why a step cannot be a goal, if its check does more than look.
pub(super) fn files(
    (packages, tasks): (&[Package], &TaskFiles),
    (step, check): (&Step, &str),
) -> Option<String> {
    let package = packages.iter().find(|package| package.home == step.folder);
    let text_of = |program: &str, name: &str| match NODE.contains(&program) {
        true => package?.scripts(name),
        false => tasks.text_of(&step.folder, (program, name)),
    };
    // What sends counts wherever it stands, be it among what only sets up.
    let sends = writers::sends(&step.script, &text_of);
    if let Some(why) = sends.or_else(|| writers::of_commands(check, &text_of)) {
        return Some(why);
    }
    let commands = check::commands(check);
    let asks = |it: &String| it.starts_with("git diff") || it.starts_with("git status");
    let only_asks = !commands.is_empty() && commands.iter().all(asks);
    only_asks.then(|| "it goes by what earlier steps changed".to_owned())
}
