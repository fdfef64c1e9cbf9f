//! A measurement as a JUnit report, as CI systems read it. Pure.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::mask;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{clean, clean_line};

/// Why there is no measurement, or what a session ended with beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The exit code that tells the same.
    pub exit_code: u8,
    /// In one line.
    pub reason: String,
    /// All that is said of it, for people.
    pub text: String,
}

impl Why {
    /// What one line says.
    pub fn said(exit_code: u8, reason: &str) -> Why {
        Why {
            exit_code,
            reason: reason.to_owned(),
            text: reason.to_owned(),
        }
    }

    /// What an error says.
    pub fn of(error: &Error) -> Why {
        Why {
            exit_code: error.kind.exit_code(),
            reason: error.message.clone(),
            text: error.to_string(),
        }
    }
}

/// Returns the report: one suite, one case for each goal, and one of `evolve` itself where there is something to say why.
pub fn report(snapshot: Option<&Snapshot>, why: Option<&Why>) -> Result<String> {
    let mut suite = TestSuite::new("evolve");
    let goals = snapshot.into_iter().flat_map(|snapshot| &snapshot.goals);
    suite.add_test_cases(goals.map(case));
    suite.add_test_cases(why.map(own_case));
    let mut report = Report::new("evolve");
    report.add_test_suite(suite);
    report
        .to_string()
        .map_err(|cause| Error::internal(format!("BUG: the JUnit report: {cause}")))
}

fn case(goal: &Measurement) -> TestCase {
    let status = match goal.result {
        CheckResult::Pass => TestCaseStatus::success(),
        CheckResult::Fail => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(why(goal)).set_type("goal");
            if let Some(tail) = &goal.output_tail {
                status.set_description(mask::secrets(&clean(tail)));
            }
            status
        }
        CheckResult::Skip => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why(goal));
            status
        }
    };
    let mut case = TestCase::new(clean_line(&goal.id), status);
    case.set_classname("GOALS");
    case.set_time(Duration::try_from_secs_f64(goal.duration_s).unwrap_or_default());
    case
}

/// Returns the case of `evolve` itself: an error, or no more than skipped where that is how it was to end.
fn own_case(why: &Why) -> TestCase {
    let mut status = match why.exit_code {
        0 => TestCaseStatus::skipped(),
        _ => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    status.set_message(mask::secrets(&clean_line(&why.reason)));
    if why.exit_code != 0 {
        status.set_type(format!("exit {}", why.exit_code));
        status.set_description(mask::secrets(&clean(&why.text)));
    }
    let mut case = TestCase::new("evolve", status);
    case.set_classname("evolve");
    case
}

fn why(goal: &Measurement) -> String {
    let why = goal.reason.as_deref().unwrap_or("the check fails");
    mask::secrets(&clean_line(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples;

    #[test]
    fn each_goal_is_a_case_that_says_why_it_does_not_pass() {
        let mut failing = samples::measurement("lint", CheckResult::Fail);
        failing.reason = Some("exit <1>".to_owned());
        failing.output_tail = Some("\u{1b}[31mred\u{1b}[0m & wrong\u{0}".to_owned());
        let goals = vec![
            samples::measurement("docs", CheckResult::Pass),
            failing,
            samples::measurement("types", CheckResult::Skip),
        ];
        let text = report(Some(&samples::snapshot(goals)), None).expect("written");
        let document = roxmltree::Document::parse(&text).expect("XML");
        let suite = document
            .descendants()
            .find(|node| node.has_tag_name("testsuite"));
        let suite = suite.expect("a suite");
        for (name, number) in [("tests", "3"), ("failures", "1"), ("skipped", "1")] {
            assert_eq!(
                suite.attribute(name).or(suite.attribute("disabled")),
                Some(number),
                "{text}"
            );
        }
        let failure = document
            .descendants()
            .find(|node| node.has_tag_name("failure"));
        let failure = failure.expect("a failure");
        assert_eq!(failure.attribute("message"), Some("exit <1>"));
        assert_eq!(failure.text(), Some("red & wrong"));
    }

    #[test]
    fn where_nothing_was_measured_one_case_says_why() {
        let error = Error::unsafe_repo("1 file\n  f").hint("commit it");
        let stopped = Why {
            exit_code: 0,
            reason: "STOP".to_owned(),
            text: String::new(),
        };
        let all = [
            (Why::of(&error), "error", "1 file f", "exit 3"),
            (stopped, "skipped", "STOP", ""),
        ];
        for (why, tag, message, kind) in all {
            let text = report(None, Some(&why)).expect("written");
            let document = roxmltree::Document::parse(&text).expect("XML");
            let node = document.descendants().find(|node| node.has_tag_name(tag));
            let node = node.expect(tag);
            assert_eq!(node.attribute("message"), Some(message));
            assert_eq!(node.attribute("type").unwrap_or_default(), kind);
            let said = node.text().unwrap_or_default();
            assert_eq!(
                said,
                if tag == "error" {
                    "1 file\n  f\nhint: commit it"
                } else {
                    ""
                }
            );
        }
    }
}
