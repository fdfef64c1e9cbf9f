//! What `evolve validate` found, for people.

use crate::model::text;
use crate::model::validation::Validation;

/// Returns the page of a file that can be measured; warnings are not on it.
pub fn page(found: &Validation) -> String {
    let mut page = format!(
        "{}: {}, no problems\n",
        found.file,
        text::count(found.goals.len(), "goal")
    );
    for goal in &found.goals {
        page.push_str(&format!("  {} (weight {})\n", goal.id, goal.weight));
    }
    if !found.frozen.is_empty() {
        let frozen = found.frozen.join(", ");
        page.push_str(&format!("frozen while a cycle runs: {frozen}\n"));
    }
    if !found.built.is_empty() {
        page.push_str(&format!(
            "built by checks, or by you, and put back before goals are measured (git does not track it): {}\n",
            found.built.join(", ")
        ));
    }
    for proposal in &found.proposals {
        page.push_str(&format!("hint: {}\n  {}\n", proposal.message, proposal.add));
    }
    page.push_str(&protected(found));
    page
}

/// Returns the lines on what is protected as well.
fn protected(found: &Validation) -> String {
    if found.protect.is_empty() {
        return String::new();
    }
    let is_pattern = |path: &String| path.contains(['*', '?', '[', '{']);
    let (new_files, no_test) = match found.protect.iter().any(is_pattern) {
        true => (
            ", new files included",
            " — with --test-first an agent can add no test there",
        ),
        false => ("", ""),
    };
    let mut lines = format!(
        "protected{new_files}: {}{no_test}\n",
        found.protect.join(", ")
    );
    if !found.protect_without_file.is_empty() {
        let idle = found.protect_without_file.join(", ");
        lines.push_str(&format!(
            "hint: there is no file yet that is called {idle}\n"
        ));
    }
    lines
}
