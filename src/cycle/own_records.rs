//! Goals that may fail by evolve's own files, which no agent can mend: said once in a session, with the way out.

use crate::model::goals::Goals;
use crate::model::ledger as names;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::session::Progress;

/// Returns words on the failing goals whose output names a file of evolve's, as far as nothing was said of them.
pub fn told(progress: &mut Progress, goals: &Goals, measured: &Snapshot) -> Vec<String> {
    let failing = measured.with(CheckResult::Fail);
    let failing = failing.filter_map(|goal| Some((goal.id.clone(), words(goal, goals)?)));
    let new = failing.filter(|(id, _)| progress.own_records.insert(id.clone()));
    new.map(|(_, words)| words).collect()
}

/// Says what to do if it is evolve's own files that a goal fails by; none if its output names none of them.
fn words(goal: &Measurement, goals: &Goals) -> Option<String> {
    let output = goal.output_tail.as_deref()?;
    let named = names::named_in(output)?;
    let folder = names::passed_by(named);
    let check = goals.find(&goal.id).map(|goal| goal.check.as_str());
    let is_prettier = |text: &str| text.to_lowercase().contains("prettier");
    let example = match is_prettier(output) || check.is_some_and(is_prettier) {
        true => format!("for prettier: a line `{folder}` in .prettierignore"),
        false => "most tools have a setting for that".to_owned(),
    };
    Some(format!(
        "{} fails and names {named}, a record of evolve's own that no agent can change: have its check pass by {folder} ({example})",
        goal.id
    ))
}
