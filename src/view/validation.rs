//! What `evolve validate` found, for people.

use crate::model::text;
use crate::model::validation::Validation;
use crate::view::width::wrapped;

/// Returns the page of a file that can be measured, within so many characters if there is a limit; warnings are not on it.
pub fn page(found: &Validation, width: Option<usize>) -> String {
    let said = |line: String| wrapped(&line, width).join("\n") + "\n";
    let count = text::count(found.goals.len(), "goal");
    let mut page = said(format!("{}: {count}, no problems", found.file));
    for goal in &found.goals {
        page += &said(format!("  {} (weight {})", goal.id, goal.weight));
    }
    if !found.frozen.is_empty() {
        let frozen = found.frozen.join(", ");
        page += &said(format!("frozen while a cycle runs: {frozen}"));
    }
    if !found.built.is_empty() {
        page += &said(format!(
            "built by checks, or by you, and put back before goals are measured (git does not track it): {}",
            found.built.join(", ")
        ));
    }
    for proposal in &found.proposals {
        page += &said(format!("hint: {}", proposal.message));
        // What is to be copied is one line, however long it is.
        page.push_str(&format!("  {}\n", proposal.add));
    }
    page.extend(protected(found).into_iter().map(said));
    page
}

/// Returns the lines on what is protected as well.
fn protected(found: &Validation) -> Vec<String> {
    if found.protect.is_empty() {
        return Vec::new();
    }
    let is_pattern = |path: &String| path.contains(['*', '?', '[', '{']);
    let (new_files, no_test) = match found.protect.iter().any(is_pattern) {
        true => (
            ", new files included",
            " — with --test-first an agent can add no test there",
        ),
        false => ("", ""),
    };
    let mut lines = vec![format!(
        "protected{new_files}: {}{no_test}",
        found.protect.join(", ")
    )];
    if !found.protect_without_file.is_empty() {
        let idle = found.protect_without_file.join(", ");
        lines.push(format!("hint: there is no file yet that is called {idle}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals::Goals;
    use crate::model::validation::Proposal;

    #[test]
    fn on_a_narrow_terminal_hints_are_broken_between_words_and_what_is_to_be_copied_is_whole() {
        let goals = Goals::of_commands(&["true".to_owned()]);
        let found = Validation {
            frozen: vec!["check.sh".to_owned(), "tests/all.sh".to_owned()],
            protect: vec!["tests/*".to_owned()],
            proposals: vec![Proposal {
                message: "checks run what they lean on, which a cycle may change".to_owned(),
                add: "protect: [\"package.json\", \"tests/**\", \"conftest.py\"]".to_owned(),
            }],
            ..Validation::of_goals("GOALS.yaml", &goals)
        };
        let expected = "\
GOALS.yaml: 1 goal, no problems
  command-1 (weight 1)
frozen while a cycle runs: check.sh,
  tests/all.sh
hint: checks run what they lean on,
  which a cycle may change
  protect: [\"package.json\", \"tests/**\", \"conftest.py\"]
protected, new files included: tests/* —
  with --test-first an agent can add no
  test there
";
        assert_eq!(page(&found, Some(40)), expected);
    }
}
