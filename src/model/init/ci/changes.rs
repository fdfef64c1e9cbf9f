//! Steps of CI that change files, by what they run or by the name of what they call, and those that look at what others changed. Pure.

use super::super::node::Package;
use super::super::offer::is_called_a_writer;
use super::{NODE, Step};
use crate::model::{check, text};

/// Who runs tasks by their names.
const RUNNERS: [&str; 7] = ["make", "gmake", "just", "task", "rake", "tox", "nox"];
/// Words in the name of a task that formats only to look.
const LOOKS: [&str; 5] = ["check", "ci", "diff", "lint", "verify"];
/// How much is shown of a command.
const SHOWN: usize = 40;

/// Says why a step cannot be a goal, if it changes files.
pub(super) fn files(packages: &[Package], step: &Step) -> Option<String> {
    let commands = check::commands(&step.script);
    let by_task = || commands.iter().find(|it| is_task(packages, step, it));
    let command = check::changing(&step.script).or_else(|| by_task().cloned());
    if let Some(command) = command {
        let command = text::cut(&command, SHOWN);
        return Some(format!("it changes files ({command}); a goal only looks"));
    }
    let is_of_others = |it: &String| {
        ["git diff", "git status"]
            .iter()
            .any(|at| it.starts_with(at))
    };
    if !commands.is_empty() && commands.iter().all(is_of_others) {
        return Some("it goes by what earlier steps changed".to_owned());
    }
    let has_hooks = commands.iter().any(|it| it.starts_with("pre-commit run"));
    has_hooks.then(|| "its hooks change files; a goal only looks".to_owned())
}

/// Says whether a command calls a task, or a script of package.json, that changes files.
fn is_task(packages: &[Package], step: &Step, command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    if check::is_to_look(command) {
        return false;
    }
    let mut words = words.filter(|word| !word.starts_with('-'));
    if RUNNERS.contains(&program) {
        // What a task is given is no task, nor is a folder or a variable.
        let own = command.split(" -- ").next().unwrap_or_default();
        let own = own.split_whitespace().skip(1);
        let mut names = own.filter(|word| !word.starts_with('-') && !word.contains(['/', '=']));
        return names.any(is_called_so);
    }
    if !NODE.contains(&program) || program == "npx" {
        return false;
    }
    let name = words.find(|word| !["run", "run-script"].contains(word));
    let name = name.unwrap_or_default();
    let package = packages.iter().find(|package| package.home == step.folder);
    match package.and_then(|package| package.script(name)) {
        Some(script) => check::changing(script).is_some(),
        None => is_called_so(name),
    }
}

/// Says whether a task is called as one that changes files: `fmt`, but not `fmt-check`.
fn is_called_so(name: &str) -> bool {
    is_called_a_writer(name, &LOOKS)
}
