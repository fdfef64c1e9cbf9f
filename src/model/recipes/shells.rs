//! The shells that make and just start for a recipe: one for each line, and those that a backslash continues, or one for all. Pure.

use crate::model::check;

/// Returns the texts that shells of their own get, where each line has one.
pub(super) fn of_lines(lines: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        match all.last_mut().filter(|_| goes_on) {
            Some(last) => *last = format!("{last}\n{line}"),
            None => all.push(line.clone()),
        }
        goes_on = line.ends_with('\\');
    }
    all
}

/// Puts texts of shells of their own together as one: in parentheses what would have the next one begin in another folder.
pub(super) fn joined(all: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = all.filter(|text| !text.is_empty()).collect();
    let before = all.len().saturating_sub(1);
    for text in all[..before].iter_mut().filter(|text| leaves(text)) {
        // A note goes on up to the end of its line, and a text that is read ends by a line of its own.
        let end = match text.contains(['#', '\n']) {
            true => "\n)",
            false => ")",
        };
        *text = format!("({text}{end}");
    }
    all.join("\n")
}

/// Says whether a shell is in another folder behind a text.
fn leaves(text: &str) -> bool {
    let may = ["cd", "popd", "pushd"]
        .iter()
        .any(|name| text.contains(name));
    may && {
        let all = check::done(&format!("{text}\n:"));
        all.last()
            .is_some_and(|last| last.dir.as_deref() != Some(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_begins_where_the_one_before_has_gone() {
        for (lines, expected) in [
            (&["cd a && x", "cd b && y"][..], "(cd a && x)\ncd b && y"),
            (&["cd a", "y"], "(cd a)\ny"),
            (&["cd a && x # all", "y"], "(cd a && x # all\n)\ny"),
            (&["cd a && x || true", "y"], "(cd a && x || true)\ny"),
            (&["cd a && \\", "x", "y"], "(cd a && \\\nx\n)\ny"),
            (&["pushd $d", "y"], "(pushd $d)\ny"),
            (&["(cd a && x)", "y"], "(cd a && x)\ny"),
            (&["sh -c 'cd a && x'", "y"], "sh -c 'cd a && x'\ny"),
            (&["cd a && x && cd ..", "y"], "cd a && x && cd ..\ny"),
            (&["x", "cd a && y"], "x\ncd a && y"),
            (&["abcd", "y"], "abcd\ny"),
        ] {
            let lines: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(joined(of_lines(&lines).into_iter()), expected, "{lines:?}");
        }
    }
}
