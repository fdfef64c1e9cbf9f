//! The shells that make and just start for a recipe: one for each line, and those that a backslash continues, or one for all. Pure.

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

/// The commands by which a shell goes to another folder.
const LEAVE: [&str; 3] = ["cd", "popd", "pushd"];

/// Puts texts of shells of their own together as one: in parentheses what may have the next one begin in another folder.
pub(super) fn joined(all: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = all.filter(|text| !text.is_empty()).collect();
    let before = all.len().saturating_sub(1);
    for text in all[..before].iter_mut().filter(|text| may_leave(text)) {
        // Two of them would be arithmetic to some shells.
        let begin = if text.starts_with('(') { "( " } else { "(" };
        // A note goes on up to the end of its line, and a text that is read ends by a line of its own.
        let end = match text.contains(['#', '\n']) {
            true => "\n)",
            false => ")",
        };
        *text = format!("{begin}{text}{end}");
    }
    all.join("\n")
}

/// Says whether a shell may be in another folder behind a text.
fn may_leave(text: &str) -> bool {
    let mut words =
        text.split(|letter: char| !letter.is_alphanumeric() && !"-_./".contains(letter));
    words.any(|word| LEAVE.contains(&word))
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
            (&["(cd a && x)", "y"], "( (cd a && x))\ny"),
            (&["sh -c 'cd a && x'", "y"], "(sh -c 'cd a && x')\ny"),
            (&["make -C a/cd", "y"], "make -C a/cd\ny"),
            (&["x", "cd a && y"], "x\ncd a && y"),
            (&["abcd", "y"], "abcd\ny"),
        ] {
            let lines: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(joined(of_lines(&lines).into_iter()), expected, "{lines:?}");
        }
    }
}
