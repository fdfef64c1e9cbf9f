//! What failing checks printed, each output once. Text with ANSI styles.

use std::collections::HashSet;

use crate::model::measuring;
use crate::model::snapshot::Measurement;
use crate::model::text::{clean, clean_line, count};
use crate::view::style::{BAD, FAINT, paint};
use crate::view::width::wrapped;

/// Outputs of so many lines or more may be alike; what is shorter is the same, or is printed.
const LONG: usize = 4;
/// Outputs are alike where at most one line in so many is in one of them alone.
const DIFFERENT: usize = 4;

/// How many of the last lines of an output are shown.
const SHOWN: usize = 30;

/// Returns the last output of each of these goals, and says what of it is left out. One that was printed before refers to the goal that it stands with; so does one that
/// is much like it, with the lines that it has alone.
pub fn outputs<'a>(goals: impl Iterator<Item = &'a Measurement>, width: Option<usize>) -> String {
    let mut printed: Vec<Output<'_>> = Vec::new();
    let mut page = String::new();
    for output in goals.filter_map(Output::of) {
        let name = format!("output of {}", paint(BAD, &clean_line(output.goal)));
        let alike = printed
            .iter()
            .find_map(|first| Some((clean_line(first.goal), output.beside(first)?)));
        let (how, lines) = match &alike {
            None => (
                String::new(),
                output.lines.iter().map(String::as_str).collect(),
            ),
            Some((first, Likeness::Same)) => (format!(": the same as that of {first}"), Vec::new()),
            Some((first, Likeness::Numbers)) => {
                (format!(": as that of {first}, but for numbers"), Vec::new())
            }
            Some((first, Likeness::Much(own))) if own.is_empty() => {
                (format!(": much as that of {first}"), Vec::new())
            }
            Some((first, Likeness::Much(own))) => {
                (format!(": much as that of {first}, and"), own.clone())
            }
        };
        let head = wrapped(&format!("{name}{how}"), width).join("\n");
        page.push_str(&format!("\n{head}\n"));
        let is_cut = alike.is_none() && output.is_cut;
        let (left_out, lines) = lines.split_at(lines.len().saturating_sub(SHOWN));
        if let Some(words) = left_out_words(left_out.len(), is_cut) {
            let words = wrapped(&words, width.map(|width| width.saturating_sub(4).max(1)));
            for line in words {
                page.push_str(&format!("    {}\n", paint(FAINT, &line)));
            }
        }
        for line in lines {
            page.push_str(format!("    {line}").trim_end());
            page.push('\n');
        }
        if alike.is_none() {
            printed.push(output);
        }
    }
    page
}

/// Says how much of an output is not shown; `is_cut` where only its end is known.
fn left_out_words(lines: usize, is_cut: bool) -> Option<String> {
    let lines = match (lines, is_cut) {
        (0, false) => return None,
        (0, true) => "what it printed before".to_owned(),
        (lines, false) => count(lines, "line"),
        (lines, true) => format!("{} and all before", count(lines, "line")),
    };
    Some(format!("… {lines}: run its check by itself to see that"))
}

/// How an output is like one that was printed before.
enum Likeness<'a> {
    Same,
    /// All that differs is what tells one call of a program from the next.
    Numbers,
    /// These lines, in which neither is like the other, are few.
    Much(Vec<&'a str>),
}

/// The end of what a check printed.
struct Output<'a> {
    goal: &'a str,
    /// What it printed before these lines is not known.
    is_cut: bool,
    lines: Vec<String>,
    /// The same without what differs each time that a program runs.
    shapes: Vec<String>,
}

impl<'a> Output<'a> {
    /// Returns what a check printed, if it printed anything.
    fn of(goal: &'a Measurement) -> Option<Output<'a>> {
        let tail = goal.output_tail.as_deref().map(clean).unwrap_or_default();
        let whole = tail.strip_prefix(measuring::LEFT_OUT);
        let lines = whole.unwrap_or(&tail).trim_matches('\n').lines();
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let is_empty = tail.trim().is_empty();
        (!is_empty).then(|| Output {
            goal: &goal.id,
            is_cut: whole.is_some(),
            shapes: lines.iter().map(|line| shape(line)).collect(),
            lines,
        })
    }

    /// Returns how this output is like another; none where it is not.
    fn beside(&self, first: &Output<'_>) -> Option<Likeness<'_>> {
        if self.lines == first.lines {
            return Some(Likeness::Same);
        }
        let is_long = self.lines.len().min(first.lines.len()) >= LONG;
        if !is_long {
            return None;
        }
        if let Some(own) = self.alone(&self.lines, &first.lines) {
            return Some(Likeness::Much(own));
        }
        if self.shapes == first.shapes {
            return Some(Likeness::Numbers);
        }
        self.alone(&self.shapes, &first.shapes).map(Likeness::Much)
    }

    /// Returns the lines that this output has alone, where they are few, and those of the other as well.
    fn alone(&self, own: &[String], others: &[String]) -> Option<Vec<&str>> {
        let known: HashSet<&String> = others.iter().collect();
        let lines = self.lines.iter().zip(own);
        let lines = lines.filter(|(_, told)| !known.contains(told));
        let lines: Vec<&str> = lines.map(|(line, _)| line.as_str()).collect();
        let known: HashSet<&String> = own.iter().collect();
        let missing = others.iter().filter(|told| !known.contains(told)).count();
        let few = own.len().min(others.len()) / DIFFERENT;
        (lines.len().max(missing) <= few).then_some(lines)
    }
}

/// Returns a line without its numbers: times, ports and process ids differ where nothing else does.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for letter in line.chars() {
        let letter = if letter.is_ascii_digit() { '0' } else { letter };
        if letter != '0' || !shape.ends_with('0') {
            shape.push(letter);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::CheckResult;
    use crate::view::samples::measurement;

    fn page(told: &[(&str, &str)], width: Option<usize>) -> String {
        let failing = |(id, tail): &(&str, &str)| Measurement {
            output_tail: Some((*tail).to_owned()),
            ..measurement(id, CheckResult::Fail)
        };
        let goals: Vec<Measurement> = told.iter().map(failing).collect();
        anstream::adapter::strip_str(&outputs(goals.iter(), width)).to_string()
    }

    const WALL: &str = "a: no network\nb: no network\nc: no network\nd: port 4711 refused\n";

    #[test]
    fn the_same_output_is_printed_once_and_refers_to_its_goal() {
        let said = page(
            &[
                ("builds", WALL),
                ("quiet", " \n"),
                ("vet", WALL),
                ("one", "x"),
                ("two", "\nx\n"),
            ],
            None,
        );
        let expected = "
output of builds
    a: no network
    b: no network
    c: no network
    d: port 4711 refused

output of vet: the same as that of builds

output of one
    x

output of two: the same as that of one
";
        assert_eq!(said, expected);
        let narrow = page(&[("the-first-of-all-goals", WALL), ("vet", WALL)], Some(40));
        let wanted = "\noutput of vet: the same as that of\n  the-first-of-all-goals\n";
        assert!(narrow.ends_with(wanted), "{narrow}");
    }

    #[test]
    fn of_an_output_that_is_much_like_another_the_lines_are_printed_that_it_has_alone() {
        let with = |more: &str| format!("{WALL}{more}");
        let elsewhere = WALL.replace("4711", "52");
        let everywhere = "1 a\n2 b\n3 c\n4 d\n";
        let later = "5 a\n6 b\n7 c\n8 d\n";
        for (first, second, expected) in [
            (
                WALL,
                &*with("FAIL tests\n"),
                ": much as that of a, and\n    FAIL tests\n",
            ),
            (&*with("FAIL tests\n"), WALL, ": much as that of a\n"),
            (
                WALL,
                &*elsewhere,
                ": much as that of a, and\n    d: port 52 refused\n",
            ),
            (everywhere, later, ": as that of a, but for numbers\n"),
        ] {
            let said = page(&[("a", first), ("b", second)], None);
            assert!(said.ends_with(&format!("output of b{expected}")), "{said}");
        }
    }

    #[test]
    fn of_a_long_output_the_last_lines_are_shown_and_it_is_said_what_is_left_out() {
        let lines = |all: usize| -> String { (1..=all).map(|it| format!("{it}\n")).collect() };
        for (tail, expected) in [
            (lines(30), "\n    1\n"),
            (
                lines(31),
                "\n    … 1 line: run its check by itself to see that\n    2\n",
            ),
            (
                format!("{}{}", measuring::LEFT_OUT, lines(2)),
                "\n    … what it printed before: run its check by itself to see that\n    1\n",
            ),
            (
                format!("{}{}", measuring::LEFT_OUT, lines(290)),
                "\n    … 260 lines and all before: run its check by itself to see that\n    261\n",
            ),
        ] {
            let said = page(&[("a", &tail)], None);
            let expected = format!("\noutput of a{expected}");
            assert!(said.starts_with(&expected), "{said}");
            assert!(said.lines().count() <= 3 + SHOWN, "{said}");
        }
    }

    #[test]
    fn what_is_not_alike_is_printed_whole() {
        for (first, second) in [
            ("coverage 79%", "coverage 12%"),
            ("one\ntwo\nthree\n", "one\ntwo\nfour\n"),
            (WALL, "a: no network\nb: no network\n"),
            (WALL, "e\nf\nc: no network\nd: port 4711 refused\n"),
        ] {
            let said = page(&[("a", first), ("b", second)], None);
            assert!(!said.contains("that of"), "{said}");
            let last = second.lines().last().unwrap();
            assert!(said.ends_with(&format!("    {last}\n")), "{said}");
        }
    }
}
