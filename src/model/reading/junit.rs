//! JUnit reports, as test runners of every language write them, each in its own way. Pure.
//!
//! Test cases are counted wherever they stand. Of failures each suite has as many as it claims or as stand in it, whichever is
//! more, and what stands in it is counted in the same way: a suite that could not even start has no test case that says
//! so, and one around it may not have heard of it.

use std::collections::HashMap;

use roxmltree::{Document, Node};

use super::{Report, finite, names, time, xml};

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Test cases that failed or ended with an error.
    #[default]
    Failures,
    /// All test cases, skipped ones included.
    Tests,
    /// Test cases that were not run.
    Skipped,
    /// Seconds.
    Time,
}

/// The words for it.
pub const WORDS: &[(&str, Of)] = &[
    ("failures", Of::Failures),
    ("tests", Of::Tests),
    ("skipped", Of::Skipped),
    ("time", Of::Time),
];

/// Returns what is counted, over all reports.
pub fn value(of: Of, reports: &[Report]) -> Result<f64, String> {
    let (mut tests, mut sum) = (0, None);
    for report in reports {
        let (text, name) = (xml::clean(report), report.quoted());
        let document = xml::parse(report, &text)?;
        tests += count(&document, &name)?;
        if let Some(more) = of.in_document(&document, &name)? {
            *sum.get_or_insert(0.0) += more;
        }
    }
    match (of, sum) {
        (Of::Tests, _) => Ok(tests as f64),
        // A suite that could not start has failed without a test case.
        (Of::Failures, Some(failures)) if failures > 0.0 => Ok(failures),
        (Of::Failures | Of::Skipped | Of::Time, _) if tests == 0 => Err(format!(
            "{} holds no test case, so that no test was run",
            names(reports)
        )),
        (Of::Failures | Of::Skipped | Of::Time, Some(sum)) => finite(sum, "the sum of all times"),
        (Of::Failures | Of::Skipped | Of::Time, None) => Err(format!(
            "{} does not say how long anything took",
            names(reports)
        )),
    }
}

impl Of {
    /// Returns what one report says; none if it does not say.
    fn in_document(self, document: &Document<'_>, name: &str) -> Result<Option<f64>, String> {
        match self {
            Of::Failures => Ok(Some(failures(document) as f64)),
            Of::Tests => Ok(None),
            Of::Skipped => Ok(Some(cases(document).filter(is_skipped).count() as f64)),
            Of::Time => seconds(document, name),
        }
    }
}

/// Counts the test cases of what has to be a JUnit report.
fn count(document: &Document<'_>, name: &str) -> Result<usize, String> {
    let root = document.root_element().tag_name().name();
    match cases(document).count() {
        0 if !matches!(root, "testsuites" | "testsuite") => Err(format!(
            "{name} is no JUnit report: its root is <{root}>, and it holds no <testcase>"
        )),
        tests => Ok(tests),
    }
}

fn cases<'a, 'i>(document: &'a Document<'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    document.descendants().filter(|node| is(*node, "testcase"))
}

/// Counts what failed, from the innermost elements outwards.
fn failures(document: &Document<'_>) -> u64 {
    let mut inside = HashMap::new();
    // An element stands before all that is in it.
    for node in document.descendants().rev().filter(Node::is_element) {
        let is_failing = is(node, "testcase") && has(node, &["failure", "error"]);
        let found = inside.remove(&node.id()).unwrap_or(0_u64);
        let found = found.saturating_add(u64::from(is_failing));
        let failures = found.max(claimed(node));
        if let Some(around) = node.parent().filter(|_| failures > 0) {
            let sum = inside.entry(around.id()).or_insert(0);
            *sum = sum.saturating_add(failures);
        }
    }
    inside.remove(&document.root().id()).unwrap_or(0)
}

/// Returns the failures and errors that a suite claims; a claim that is no count is none.
fn claimed(node: Node<'_, '_>) -> u64 {
    let is_suite = is(node, "testsuites") || is(node, "testsuite");
    let count = |attribute| xml::whole(node, attribute, "").ok().flatten();
    let counts = ["failures", "errors"].into_iter().filter(|_| is_suite);
    counts.filter_map(count).fold(0, u64::saturating_add)
}

/// Adds up the times of the outermost elements that have one: a whole run takes less than its tests side by side.
fn seconds(document: &Document<'_>, name: &str) -> Result<Option<f64>, String> {
    let mut sum = None;
    let mut next = Some(document.root_element());
    while let Some(node) = next {
        let seconds = xml::number(node, "time", name)?;
        if let Some(seconds) = seconds {
            *sum.get_or_insert(0.0) += time(seconds, &format!("time=\"{seconds}\" in {name}"))?;
        }
        let inside = node.first_element_child().filter(|_| seconds.is_none());
        next = inside.or_else(|| after(node));
    }
    Ok(sum)
}

/// Returns the first element that begins after `node` has ended.
fn after<'a, 'i>(node: Node<'a, 'i>) -> Option<Node<'a, 'i>> {
    node.ancestors()
        .find_map(|node| node.next_sibling_element())
}

fn is_skipped(case: &Node<'_, '_>) -> bool {
    // googletest marks disabled tests by an attribute alone.
    has(*case, &["skipped"]) || matches!(case.attribute("status"), Some("notrun" | "disabled"))
}

fn has(case: Node<'_, '_>, names: &[&str]) -> bool {
    case.children()
        .any(|child| child.is_element() && names.contains(&child.tag_name().name()))
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}
