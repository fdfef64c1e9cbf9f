//! Goals that may fail by evolve's own files, which no agent can mend: said once in a session, with the way out.

use crate::model::goals::Goals;
use crate::model::ledger as names;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::session::Progress;

/// Notes for the next record, which tells it on the screen too, the failing goals whose output names a file of evolve's.
pub fn note(progress: &mut Progress, goals: &Goals, measured: &Snapshot) {
    for goal in measured.with(CheckResult::Fail) {
        let Some(words) = words(goal, goals) else {
            continue;
        };
        if progress.own_records.insert(goal.id.clone()) {
            progress.note_for_record(&words);
        }
    }
}

/// Says what to do if it is evolve's own files that a goal fails by; none if its output names none of them.
fn words(goal: &Measurement, goals: &Goals) -> Option<String> {
    let output = goal.output_tail.as_deref()?;
    let named = names::named_in(output)?;
    let check = goals.find(&goal.id).map(|goal| goal.check.as_str());
    let is_prettier = |text: &str| text.to_lowercase().contains("prettier");
    let example = match is_prettier(output) || check.is_some_and(is_prettier) {
        true => "for prettier: a line `.agents/` in .prettierignore",
        false => "most tools have a setting for that",
    };
    Some(format!(
        "{} fails and names {named}, a record of evolve's own that no agent can change: have its check pass by .agents/ ({example})",
        goal.id
    ))
}
