//! Names the checks that find the repository by where it lies, or by an environment that leads there: what they measure is not the
//! copy that holds the change. Tells of hooks that a copy does not have.

use crate::effects::led;
use crate::model::goals::{Goal, Goals, Where};
use crate::session::Session;

/// Warns of such checks where they run in a copy, and says what leads others to it.
pub fn warn(session: &Session, goals: &Goals) {
    if session.isolation.is_none() && goals.settings.measure != Where::Clean {
        return;
    }
    let hooks = session.home().commit_hooks();
    if session.isolation.is_some() && !hooks.is_empty() {
        session.events.note(format!(
            "hooks of this repository do not run in the copy, where the agent commits: {}; what they look for, a goal can hold",
            hooks.join(", ")
        ));
    }
    let provisions = &session.options.provisions;
    let named = |goal: &Goal| (goal.id.clone(), goal.check.clone());
    let commands: Vec<_> = goals.goals.iter().map(named).collect();
    let is_prepared = provisions.prepare.is_some();
    let root = &session.home().root;
    if let Some(words) = session.home().leads().words() {
        session.events.note(words);
    }
    for words in led::in_environment(root, &provisions.link, &commands, is_prepared) {
        session.events.warn(words);
    }
    let workspace = session.workspace();
    let is_file = |path: &str| workspace.has_file_on_disk(path.as_bytes());
    let comes_from_outside = |goal: &&Goal| {
        let alone = Goals {
            goals: vec![(*goal).clone()],
            prepare: None,
            ..goals.clone()
        };
        workspace.yardstick(&alone, &is_file).comes_from_outside
    };
    let found = goals.goals.iter().filter(comes_from_outside);
    let ids: Vec<&str> = found.map(|goal| goal.id.as_str()).collect();
    if ids.is_empty() {
        return;
    }
    session.events.warn(format!(
        "{}: the check has a path that leads into the repository from outside, so that it measures your checkout, or nothing, and not the copy with the change — write it relative to the root",
        ids.join(", ")
    ));
}
