//! What a session leaves for people to read: `session-summary.md`, and the `cycle-0-report.md` of the baseline. Pure.

use crate::model::record::{Record, Recorded};
use crate::model::select::Stuck;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::table::{self, LINES, Side, Table};
use crate::model::text::{self, markdown};
use crate::model::usage::{self, Spent};
use crate::model::work::Counts;

/// Heads what waits for a person.
const HUMAN_NEEDED: &str = "## A human is needed";
/// Stands there where it is no goal that waits.
const SEE_ABOVE: &str = "What ended the session, as told above, waits for you.";

/// Everything that `session-summary.md` tells.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The session's id.
    pub session: &'a str,
    /// When it started, RFC 3339 in UTC.
    pub started: &'a str,
    /// Why it ended; none while it runs.
    pub ended: Option<&'a str>,
    /// The session's way, and the baseline where it did not start there, in one line.
    pub trajectory: &'a str,
    /// What the session recorded.
    pub recorded: &'a Recorded,
    /// What ended it is for a person to see to.
    pub is_asking: bool,
    /// The goals that wait for a person.
    pub stuck: &'a [Stuck],
    /// How much work is queued for this repository.
    pub queue: Counts,
    /// What the agents reported of their use.
    pub spent: Spent,
}

impl Summary<'_> {
    /// Returns the text of `session-summary.md`.
    pub fn to_markdown(&self) -> String {
        let mut page = format!(
            "# Session summary\n\n{LINES}\n\n- session: {}\n- started: {}\n- ended: {}\n- {}\n- queue: {}\n",
            markdown(self.session),
            markdown(self.started),
            self.ended.map_or("running".to_owned(), markdown),
            markdown(self.trajectory),
            queue(&self.queue),
        );
        if self.spent.calls > 0 {
            let calls = usize::try_from(self.spent.calls).unwrap_or(usize::MAX);
            let calls = text::count(calls, "call");
            page.push_str(&format!("- agent: {calls}, {}\n", self.spent.words()));
        }
        page.push_str(&self.cycles());
        page.push_str(&self.stuck());
        page.push_str(&self.notes());
        page
    }

    fn cycles(&self) -> String {
        if self.recorded.tally().is_empty() {
            return "\n## Cycles\n\nNone yet.\n".to_owned();
        }
        let mut part = format!("\n## Cycles\n\n{}\n\n", self.recorded.tally().words());
        if self.recorded.dropped() > 0 {
            part.push_str("The newest of them; `evolve history` lists all.\n\n");
        }
        let mut table = Table::new([
            ("cycle", Side::Right),
            ("goal", Side::Left),
            ("result", Side::Left),
            ("score", Side::Left),
            ("tokens", Side::Right),
            ("cost", Side::Right),
            ("reason", Side::Left),
        ]);
        for record in self.recorded.newest() {
            let [tokens, cost] = used(record);
            let goal = record.goal_id.as_deref().map(|id| table::cell(id).0);
            let why = record.why().as_deref().map(|why| table::cell(why).0);
            table.push([
                record.cycle.to_string(),
                goal.unwrap_or("–".to_owned()),
                record.result.word().to_owned(),
                score(record),
                tokens,
                cost,
                why.unwrap_or_default(),
            ]);
        }
        part.push_str(&table.to_markdown());
        part
    }

    fn stuck(&self) -> String {
        if self.stuck.is_empty() && !self.is_asking {
            return String::new();
        }
        let mut part = format!("\n{HUMAN_NEEDED}\n\n");
        if self.stuck.is_empty() {
            part.push_str(&format!("{SEE_ABOVE}\n"));
        }
        for goal in self.stuck {
            let reason = &goal.reason;
            part.push_str(&format!(
                "- {} ({}): {}\n",
                markdown(&goal.goal_id),
                goal.standing,
                markdown(reason)
            ));
        }
        part
    }

    fn notes(&self) -> String {
        let mut lines = String::new();
        for record in self.recorded.newest() {
            // What is too long for the table of the cycles.
            let why = record.why();
            let long = why.as_deref().filter(|why| !table::cell(why).1);
            let notes = record.notes.iter().map(String::as_str);
            for note in long.into_iter().chain(notes) {
                lines.push_str(&format!("- cycle {}: {}\n", record.cycle, markdown(note)));
            }
        }
        if lines.is_empty() {
            return lines;
        }
        format!("\n## Notes\n\n{lines}")
    }
}

/// How a session ended, as its summary says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: String,
    /// That is for a person to see to, and no goal that waits says so.
    pub is_asking: bool,
}

/// Returns how the session ended of which this is the summary; none while it runs.
pub fn ended(summary: &str) -> Option<Ended> {
    let mut lines = summary.lines();
    let ended = lines.find_map(|line| line.strip_prefix("- ended: "))?;
    (ended != "running").then(|| Ended {
        reason: text::plain(ended),
        is_asking: summary.lines().any(|line| line == SEE_ABOVE),
    })
}

/// Returns the text of `cycle-0-report.md`.
pub fn baseline_report(baseline: &Snapshot) -> String {
    let mut listed: Vec<&Measurement> = baseline
        .goals
        .iter()
        .filter(|goal| goal.result != CheckResult::Pass)
        .collect();
    listed.sort_by_key(|goal| std::cmp::Reverse(goal.weight));
    let mut page = format!(
        "# Cycle-0 Baseline\n\n**Total goals:** {}\n**Passing:** {}\n**Failing:** {}\n",
        baseline.goals_total,
        baseline.goals_passing,
        baseline.with(CheckResult::Fail).count(),
    );
    let skipped = baseline.with(CheckResult::Skip).count();
    if skipped > 0 {
        page.push_str(&format!("**Skipped:** {skipped}\n"));
    }
    if !listed.is_empty() {
        page.push('\n');
    }
    for goal in listed {
        page.push_str(&format!(
            "- [weight {}] {}: {}\n",
            goal.weight,
            text::clean_line(&goal.id),
            goal.result.word()
        ));
    }
    page
}

fn queue(counts: &Counts) -> String {
    format!(
        "{} open, {} set aside, {}",
        counts.open,
        counts.set_aside,
        counts.off()
    )
}

/// Returns the tokens and the cost of a cycle; what its agent did not report is unknown, and without an agent there is none.
fn used(record: &Record) -> [String; 2] {
    match record.called_agent() {
        None => ["–".to_owned(), "–".to_owned()],
        Some(agent) => [
            agent.tokens.map_or("unknown".to_owned(), |tokens| {
                usage::grouped(&tokens.to_string())
            }),
            agent.cost_usd.map_or("unknown".to_owned(), usage::dollars),
        ],
    }
}

/// Returns the scores before and after a cycle, as far as they are known; of an undone one with what it is back at.
fn score(record: &Record) -> String {
    if record.is_undone() {
        return record.scores();
    }
    match (record.score_before, record.score_after) {
        (Some(before), Some(after)) => {
            format!("{} → {}", text::number(before), text::number(after))
        }
        (Some(only), None) | (None, Some(only)) => text::number(only),
        (None, None) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::CycleResult;
    use crate::model::snapshot::FORMAT;

    fn record(cycle: u64, goal_id: &str, reason: &str) -> Record {
        Record {
            format: FORMAT,
            cycle,
            goal_id: Some(goal_id.to_owned()),
            result: CycleResult::Regressed,
            commit_sha: "a".repeat(40),
            reverted_to: Some("b".repeat(40)),
            goals_passing: 1,
            goals_total: 2,
            goals_added: 0,
            timestamp: "2026-02-11T21:00:00Z".to_owned(),
            score_before: Some(50.0),
            score_after: Some(33.3),
            newly_failing: vec!["b".to_owned()],
            newly_passing: vec![],
            reason: Some(reason.to_owned()),
            definition: None,
            content: None,
            session: Some("s-1".to_owned()),
            agent: None,
            notes: vec!["Makefile changed".to_owned()],
        }
    }

    #[test]
    fn the_summary_names_cycles_goals_that_wait_and_notes() {
        let records = [
            record(1, "tests-pass", "older"),
            record(2, "next-work:fix | all\nof it", "b fails\u{7}"),
            record(3, "tests-pass", "newest"),
            record(4, "tests-pass", &"x".repeat(200)),
        ];
        let stuck = [Stuck {
            goal_id: "tests-pass".into(),
            standing: "struck",
            reason: "lint-clean broke".into(),
        }];
        let summary = Summary {
            session: "s-1",
            started: "2026-02-11T21:00:00Z",
            ended: None,
            trajectory: "score 50 → 33.3",
            recorded: &records.into_iter().collect(),
            is_asking: true,
            stuck: &stuck,
            queue: Counts {
                open: 2,
                set_aside: 1,
                consumed: 1,
                taken_back: 1,
                ..Counts::default()
            },
            spent: Spent {
                calls: 3,
                unknown_cost: 3,
                unknown_tokens: 1,
                tokens: 12_000,
                ..Spent::default()
            },
        };
        let page = table::unpadded(&summary.to_markdown());
        for line in [
            "- ended: running",
            "- queue: 2 open, 1 set aside, 0 done, 1 taken back",
            "4 cycles: 4 regressed",
            "- agent: 3 calls, at least 12,000 tokens (1 of 3 calls did not say), cost unknown",
            "| 2 | next-work:fix \\| all of it | regressed | measured 50 → 33.3, undone: back at 50 | – | – | b fails |",
            &format!(
                "| 4 | tests-pass | regressed | measured 50 → 33.3, undone: back at 50 | – | – | {}… |",
                "x".repeat(99)
            ),
            &format!("- cycle 4: {}", "x".repeat(200)),
            "- tests-pass (struck): lint-clean broke",
            "- cycle 3: Makefile changed",
        ] {
            assert!(
                page.lines().any(|found| found == line),
                "{line} is not in\n{page}"
            );
        }
    }

    #[test]
    fn of_a_long_session_the_newest_cycles_are_listed_and_all_are_counted() {
        let page = |cycles: u64| {
            let recorded = (1..=cycles).map(|cycle| record(cycle, "tests-pass", "it broke"));
            let summary = Summary {
                session: "s-1",
                started: "2026-02-11T21:00:00Z",
                ended: None,
                trajectory: "score 50",
                recorded: &recorded.collect(),
                is_asking: false,
                stuck: &[],
                queue: Counts::default(),
                spent: Spent::default(),
            };
            table::unpadded(&summary.to_markdown())
        };
        let rows = |page: &str| page.matches("| tests-pass | regressed |").count();
        let short = page(200);
        assert_eq!(rows(&short), 200);
        assert!(!short.contains("The newest of them"), "{short}");
        let long = page(1_000);
        assert_eq!(rows(&long), 200);
        assert!(
            long.contains(
                "1000 cycles: 1000 regressed\n\nThe newest of them; `evolve history` lists all.\n"
            ),
            "{long}"
        );
        assert!(long.contains("| 801 | tests-pass") && !long.contains("| 800 | tests-pass"));
    }

    #[test]
    fn how_a_session_ended_is_read_from_its_summary() {
        let of = |ended, is_asking| {
            let summary = Summary {
                session: "s-1",
                started: "2026-02-11T21:00:00Z",
                ended,
                trajectory: "score 50",
                recorded: &Recorded::default(),
                is_asking,
                stuck: &[],
                queue: Counts::default(),
                spent: Spent::default(),
            };
            super::ended(&summary.to_markdown())
        };
        assert_eq!(of(None, false), None);
        let reason = "a_b: `git log` | more";
        for is_asking in [false, true] {
            let ended = Ended {
                reason: reason.to_owned(),
                is_asking,
            };
            assert_eq!(of(Some(reason), is_asking), Some(ended));
        }
    }

    #[test]
    fn a_session_without_cycles_has_a_short_summary() {
        let summary = Summary {
            session: "s-1",
            started: "t",
            ended: Some("dormant"),
            trajectory: "score 100",
            recorded: &Recorded::default(),
            is_asking: false,
            stuck: &[],
            queue: Counts::default(),
            spent: Spent::default(),
        };
        let page = summary.to_markdown();
        assert!(
            page.contains("- ended: dormant\n") && page.ends_with("None yet.\n"),
            "{page}"
        );
        assert!(!page.contains("human"));
    }

    #[test]
    fn the_baseline_report_lists_what_does_not_pass_by_weight() {
        let goal = |id: &str, result, weight| Measurement {
            id: id.to_owned(),
            result,
            weight,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: None,
            exit: None,
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        };
        let goals = vec![
            goal("light", CheckResult::Fail, 2),
            goal("fine", CheckResult::Pass, 10),
            goal("absent", CheckResult::Skip, 4),
            goal("heavy", CheckResult::Fail, 9),
        ];
        let baseline = Snapshot::new(Some(0), "t".into(), None, "d".into(), goals);
        let expected = "# Cycle-0 Baseline\n\n**Total goals:** 4\n**Passing:** 1\n**Failing:** 2\n**Skipped:** 1\n\n\
                        - [weight 9] heavy: fail\n- [weight 4] absent: skip\n- [weight 2] light: fail\n";
        assert_eq!(baseline_report(&baseline), expected);
    }
}
