//! What failing checks printed, each output once. Text with ANSI styles.

use std::collections::HashSet;

use crate::model::snapshot::Measurement;
use crate::model::text::{clean, clean_line};
use crate::view::style::{BAD, paint};
use crate::view::width::wrapped;

/// Outputs of so many lines or more may be alike; what is shorter is the same, or is printed.
const LONG: usize = 4;
/// Outputs are alike where at most one line in so many is in one of them alone.
const DIFFERENT: usize = 4;

/// Returns the last output of each of these goals. One that was printed before refers to the goal that it stands with; so does one that
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
    lines: Vec<String>,
    /// The same without what differs each time that a program runs.
    shapes: Vec<String>,
}

impl<'a> Output<'a> {
    /// Returns what a check printed, if it printed anything.
    fn of(goal: &'a Measurement) -> Option<Output<'a>> {
        let tail = goal.output_tail.as_deref().map(clean).unwrap_or_default();
        let lines = tail.trim_matches('\n').lines().map(str::to_owned);
        let lines: Vec<String> = lines.collect();
        let is_empty = tail.trim().is_empty();
        (!is_empty).then(|| Output {
            goal: &goal.id,
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
