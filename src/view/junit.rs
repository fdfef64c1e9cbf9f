//! A measurement as a JUnit report, as CI systems read it. Pure.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::mask;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{clean, clean_line};

/// Returns the report: one suite, one case for each goal.
pub fn report(snapshot: &Snapshot) -> Result<String> {
    let mut suite = TestSuite::new("evolve");
    suite.add_test_cases(snapshot.goals.iter().map(case));
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
        let text = report(&samples::snapshot(goals)).expect("written");
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
}
