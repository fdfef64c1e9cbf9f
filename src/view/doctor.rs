//! What `evolve doctor` found, as text for people.

use crate::model::doctor::{About, Diagnosis, Finding, Level};
use crate::model::text::{clean_line, count};
use crate::view::style::{BAD, Cell, FAINT, GOOD, ODD, STRONG, paint};
use crate::view::width::{self, hanging};

/// How wide the column of levels is, and that of topics.
const LEVELS: usize = 9;
const TOPICS: usize = 13;
/// How much room there has to be beside these columns; else all is said below.
const TEXT: usize = 36;
/// How far what goes on below is indented then.
const NARROW: usize = 2;
/// How much further lines are indented that go on.
const HANG: usize = 2;

/// Returns a line for each finding, with its hints below, and what all of it comes to; within so many characters if there is a
/// limit.
pub fn page(diagnosis: &Diagnosis, width: Option<usize>) -> String {
    let findings = diagnosis.findings.iter();
    let mut page: String = findings.map(|finding| lines(finding, width)).collect();
    page.push_str(&width::page(&conclusion(diagnosis), width));
    page
}

fn lines(finding: &Finding, width: Option<usize>) -> String {
    let Cell(style, word) = level(finding.level);
    let (level, topic) = (paint(style, &word), finding.about.word());
    let behind = LEVELS + TOPICS;
    let is_narrow = width.is_some_and(|width| width < behind + TEXT);
    let (head, at) = match is_narrow {
        true => (format!("{level} {topic}: "), NARROW),
        false => {
            let gap = " ".repeat(LEVELS.saturating_sub(word.len()));
            (format!("{level}{gap}{topic:<TOPICS$}"), behind)
        }
    };
    let indent = " ".repeat(at);
    let mut message = finding.message.lines().map(clean_line);
    let first = message.next().unwrap_or_default();
    let beside = at + if is_narrow { 0 } else { HANG };
    let mut lines = hanging(&format!("{head}{first}"), beside, width);
    for line in message {
        lines.extend(hanging(&format!("{indent}{line}"), at + HANG, width));
    }
    for hint in &finding.hints {
        let mut hint = hint.lines().map(clean_line);
        let first = hint.next().unwrap_or_default();
        let first = format!("{indent}{} {first}", paint(GOOD, "hint:"));
        lines.extend(hanging(&first, at + HANG, width));
        for line in hint {
            lines.extend(hanging(
                &format!("{indent}{:HANG$}{line}", ""),
                at + HANG,
                width,
            ));
        }
    }
    lines.join("\n") + "\n"
}

fn level(level: Level) -> Cell {
    let style = match level {
        Level::Ok => FAINT,
        Level::Note => ODD,
        Level::Problem => BAD,
    };
    Cell(style, level.word().to_owned())
}

fn conclusion(diagnosis: &Diagnosis) -> String {
    let counts = [(Level::Problem, "problem"), (Level::Note, "note")];
    let counts = counts.map(|(level, noun)| (diagnosis.count(level), noun));
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts.map(|(number, noun)| count(number, noun)).collect();
    let is_of_lock = |one: &Finding| one.about == About::Lock && one.level == Level::Note;
    let verdict = match (diagnosis.can_run, diagnosis.findings.iter().any(is_of_lock)) {
        (true, false) => "the loop could run here",
        (true, true) => "the loop could run here, but for what is at work",
        (false, _) => "the loop could not run here",
    };
    match counts.is_empty() {
        true => format!("\n{}\n", paint(STRONG, verdict)),
        false => format!("\n{}: {}\n", paint(STRONG, verdict), counts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnosis() -> Diagnosis {
        let findings = vec![
            Finding::ok(About::Git, "2.53.0 at /usr/bin/git"),
            Finding::note(About::Identity, "git was told\u{1b}[2J of nobody").hint("name yourself"),
            Finding::problem(About::Goals, "G:1:1: bad\nsecond")
                .hint("one two three four five\n  six"),
        ];
        Diagnosis::new("/r".to_owned(), findings)
    }

    fn plain(width: Option<usize>) -> String {
        anstream::adapter::strip_str(&page(&diagnosis(), width)).to_string()
    }

    #[test]
    fn each_finding_has_its_hints_below_it_and_the_end_says_what_it_comes_to() {
        let expected = "\
ok       git          2.53.0 at /usr/bin/git
note     identity     git was told of nobody
                      hint: name yourself
problem  goals        G:1:1: bad
                      second
                      hint: one two three four five
                        six

the loop could not run here: 1 problem, 1 note
";
        assert_eq!(plain(None), expected);
    }

    #[test]
    fn a_narrow_terminal_breaks_lines_in_their_column_while_there_is_room() {
        let finding = Finding::note(
            About::Identity,
            "commits would be made by nobody at all, it seems",
        )
        .hint("name yourself: `git config --global user.name NAME`");
        let page = |width| anstream::adapter::strip_str(&lines(&finding, Some(width))).to_string();
        let expected = "\
note     identity     commits would be made by nobody at all,
                        it seems
                      hint: name yourself:
                        `git config --global user.name NAME`
";
        assert_eq!(page(62), expected);
        let expected = "\
note identity: commits would be made by
  nobody at all, it seems
  hint: name yourself:
    `git config --global user.name NAME`
";
        assert_eq!(page(40), expected);
        let all = plain(Some(40));
        let expected = "\
ok git: 2.53.0 at /usr/bin/git
note identity: git was told of nobody
  hint: name yourself
problem goals: G:1:1: bad
  second
  hint: one two three four five
    six
";
        assert!(all.starts_with(expected), "{all}");
    }
}
