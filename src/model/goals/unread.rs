//! Commands of a goals file that the shell cannot read, as problems at their places. Pure.

use super::node::{Complaint, Node, Place, Shape};
use super::report::place_problems;
use super::{Problem, yaml};

/// A command that the shell cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The place of the goal in the list, counted from 0; none for a command of the `evolve:` block.
    pub goal: Option<usize>,
    /// The key under which it stands.
    pub key: &'static str,
    /// What the shell says of it.
    pub why: String,
}

/// Returns a problem for each of these commands of a goals file that can be read, in the file's order.
pub fn unread_problems(bytes: &[u8], unread: &[Unread]) -> Vec<Problem> {
    let root = yaml::parse(bytes).ok().flatten();
    let mut found = super::fields::Found::default();
    for one in unread {
        let place = root.as_ref().and_then(|root| place_of(root, one));
        let message = format!("{}: the shell cannot read it: {}", one.key, one.why);
        found.report(
            Complaint::new(place.unwrap_or(Place::new(1, 1)), message).hint(
                "each quote, bracket, `if` and `&&` needs what belongs to it; what is for bash alone can be a script of its own",
            ),
        );
    }
    place_problems(bytes, found)
}

fn place_of(root: &Node, one: &Unread) -> Option<Place> {
    let owner = match one.goal {
        None => value(root, "evolve")?,
        Some(number) => match &value(root, "goals")?.shape {
            Shape::List(items) => items.get(number)?,
            Shape::Nothing
            | Shape::Flag(_)
            | Shape::Whole(_)
            | Shape::Fraction(_)
            | Shape::Text(_)
            | Shape::Map(_) => return None,
        },
    };
    value(owner, one.key).map(|node| node.place)
}

fn value<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Shape::Map(entries) = &node.shape else {
        return None;
    };
    let mut entries = entries.iter();
    let entry = entries.find(|entry| entry.key == key);
    entry.map(|entry| &entry.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_cannot_be_read_is_a_problem_where_it_stands() {
        let text = "evolve:\n  prepare: if x\ngoals:\n  - {id: a, check: true}\n  - id: b\n    check: test -e a &&\n";
        let unread = |goal, key| Unread {
            goal,
            key,
            why: "sh: 1: odd".to_owned(),
        };
        let problems = unread_problems(
            text.as_bytes(),
            &[unread(Some(1), "check"), unread(None, "prepare")],
        );
        let told: Vec<String> = problems
            .iter()
            .map(|one| format!("{}:{}: {}", one.line, one.column, one.message))
            .collect();
        assert_eq!(
            told,
            [
                "2:12: prepare: the shell cannot read it: sh: 1: odd",
                "6:12: check: the shell cannot read it: sh: 1: odd",
            ]
        );
        assert_eq!(problems[1].text, "    check: test -e a &&");
    }
}
