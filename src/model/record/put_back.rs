//! Untracked files of the user's that were put back in a cycle, in the words of its notes: each is named once. Checks may remove one
//! before the agent and after it. Pure.

use std::collections::BTreeSet;

/// How the note begins that names what was put back.
pub const PUT_BACK: &str = "untracked files put back: ";
/// How that one begins that names what checks removed while there was no agent.
pub const BY_CHECKS: &str = "untracked files that checks removed, put back: ";

/// Returns the notes of a cycle with each such file named where it comes first. What a note leaves out (`and 3 more`) is not known,
/// so these stay as they are.
pub fn named_once(notes: Vec<String>) -> Vec<String> {
    let mut named = BTreeSet::new();
    let once = |note: String| {
        let begin = [PUT_BACK, BY_CHECKS];
        let begin = begin.into_iter().find(|begin| note.starts_with(begin));
        let Some(begin) = begin.filter(|_| !is_cut(&note)) else {
            return Some(note);
        };
        let names = note[begin.len()..].split(", ");
        let new: Vec<&str> = names
            .filter(|name| named.insert((*name).to_owned()))
            .collect();
        (!new.is_empty()).then(|| format!("{begin}{}", new.join(", ")))
    };
    notes.into_iter().filter_map(once).collect()
}

/// Says whether a list says only how many more there are.
fn is_cut(note: &str) -> bool {
    let count = note.strip_suffix(" more");
    let count = count.and_then(|note| note.rsplit_once(" and "));
    count.is_some_and(|(_, count)| count.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(lists: &[(&str, &str)]) -> Vec<String> {
        let notes = lists.iter();
        notes
            .map(|(begin, names)| format!("{begin}{names}"))
            .collect()
    }

    #[test]
    fn each_file_is_named_where_it_comes_first() {
        let all = [
            (BY_CHECKS, "a, b"),
            ("moved out of the way: ", "a"),
            (PUT_BACK, "a, c"),
            (PUT_BACK, "b"),
            (BY_CHECKS, "c, d"),
            ("moved out of the way: ", "b"),
        ];
        let once = [all[0], all[1], (PUT_BACK, "c"), (BY_CHECKS, "d"), all[5]];
        assert_eq!(named_once(notes(&all)), notes(&once));
        assert_eq!(named_once(notes(&once)), notes(&once));
    }

    #[test]
    fn of_a_list_that_is_cut_nothing_is_left_out() {
        let all = [(BY_CHECKS, "a"), (PUT_BACK, "a, b and 3 more")];
        assert_eq!(named_once(notes(&all)), notes(&all));
    }
}
