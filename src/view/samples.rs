//! One event of each kind, for the tests of the views.

use std::time::Duration;

use crate::event::Event;
use crate::model::goals::Limits;
use crate::model::record::{AgentReport, CycleResult, Record};
use crate::model::sandbox::Protections;
use crate::model::snapshot::{CheckResult, FORMAT, Measurement, Snapshot};
use crate::model::usage::Spent;

/// Returns a measurement of a goal of weight 5.
pub fn measurement(id: &str, result: CheckResult) -> Measurement {
    Measurement {
        id: id.to_owned(),
        result,
        weight: 5,
        value: None,
        threshold: None,
        duration_s: 0.3,
        reason: None,
        exit: Some(0),
        attempts: 1,
        flaky: false,
        tolerated: false,
        output_tail: None,
    }
}

/// Returns a snapshot of these measurements.
pub fn snapshot(goals: Vec<Measurement>) -> Snapshot {
    let time = "2026-02-11T21:00:00Z".to_owned();
    Snapshot::new(Some(3), time, Some("a".repeat(40)), "d".to_owned(), goals)
}

/// Returns the record of cycle 3, which improved `tests-pass`.
pub fn record() -> Record {
    Record {
        format: FORMAT,
        cycle: 3,
        goal_id: Some("tests-pass".to_owned()),
        result: CycleResult::Improved,
        commit_sha: "a".repeat(40),
        reverted_to: None,
        goals_passing: 12,
        goals_total: 13,
        goals_added: 0,
        timestamp: "2026-02-11T21:00:00Z".to_owned(),
        score_before: Some(61.5),
        score_after: Some(92.3),
        newly_failing: vec![],
        newly_passing: vec!["tests-pass".to_owned()],
        reason: None,
        definition: None,
        content: None,
        session: Some("s-1".to_owned()),
        agent: Some(AgentReport {
            name: "claude".to_owned(),
            status: "done".to_owned(),
            exit: Some(0),
            duration_s: 187.0,
            tokens: None,
            cost_usd: None,
        }),
        notes: vec![],
    }
}

/// Returns how measuring ended: 8 of 13 goals pass.
pub fn measured(purpose: &'static str) -> Event {
    Event::MeasureFinished {
        score: 61.5,
        goals_passing: 8,
        goals_total: 13,
        failing: vec!["tests-pass".to_owned(), "docs".to_owned()],
        skipped: vec!["lint".to_owned()],
        purpose,
    }
}

/// Returns the record of `record` as an event.
pub fn finished(record: Record) -> Event {
    Event::CycleFinished {
        record: Box::new(record),
    }
}

/// Returns one session with an event of each kind, in the order in which they happen.
pub fn events() -> Vec<Event> {
    vec![
        Event::SessionStarted {
            protections: Protections::default(),
            limits: Limits {
                max_time: Some(Duration::from_secs(7200)),
                max_cycles: Some(5),
                max_cost: Some(2.5),
                max_tokens: Some(500_000),
            },
            session: "s-1".to_owned(),
            version: "0.1.0".to_owned(),
            goals: 13,
            agent: Some("claude".to_owned()),
            agent_found: true,
            jobs: 2,
        },
        Event::Warning {
            message: "lint: command not found\u{1b}[2J".to_owned(),
        },
        Event::Note {
            message: "2 items harvested".to_owned(),
        },
        Event::CycleStarted {
            cycle: 3,
            start: "a".repeat(40),
        },
        Event::MeasureStarted {
            checks: 13,
            purpose: "before",
        },
        Event::CheckStarted {
            goal_id: "docs".to_owned(),
            expected_s: Some(4.0),
        },
        Event::CheckFinished {
            measurement: measurement("docs", CheckResult::Fail),
        },
        measured("before"),
        Event::SweepStarted {
            with: "shellcheck, markers".to_owned(),
        },
        Event::Selected {
            goal_id: "tests-pass".to_owned(),
            reason: "heaviest failing goal (weight 9)".to_owned(),
        },
        Event::AgentStarted {
            name: "claude".to_owned(),
            log: ".git/evolve/logs/3-agent.log".to_owned(),
        },
        Event::AgentActivity {
            turns: 12,
            files: 4,
            tokens: Some(45_120),
            cost_usd: None,
            last: Some("Edit src/lib.rs\u{1b}[2J".to_owned()),
        },
        Event::AgentFinished {
            status: "done".to_owned(),
            duration_s: 187.0,
            commits: Some(1),
            files: Some(4),
            turns: Some(12),
            tokens: Some(45_120),
            cost_usd: None,
        },
        finished(record()),
        Event::CycleStarted {
            cycle: 4,
            start: "b".repeat(40),
        },
        finished(Record {
            cycle: 4,
            goal_id: None,
            result: CycleResult::Idle,
            reason: Some("no goal fails and the queue is empty".to_owned()),
            ..record()
        }),
        Event::Waiting {
            seconds: 300.0,
            reason: "rate limit".to_owned(),
        },
        Event::SessionEnded {
            reason: "three idle cycles in a row on the same content".to_owned(),
            ending: "dormant",
            cycles: 2,
            exit_code: 0,
            spent: Spent {
                calls: 1,
                tokens: 45_120,
                unknown_cost: 1,
                ..Spent::default()
            },
            trajectory: Some("score 61.5 → 92.3".to_owned()),
        },
    ]
}
