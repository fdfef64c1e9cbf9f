//! One event of each kind, for the tests of the views.

use std::time::Duration;

use crate::event::{Event, Planned};
use crate::model::goals::Limits;
use crate::model::record::{AgentReport, CycleResult, Record};
use crate::model::sandbox::Protections;
use crate::model::search::lineage::{Direction, Operator};
use crate::model::search::view::{
    Ahead, BASELINE, Generation, Limit, Overview, Point, Row, Sampled, Shown,
};
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
        Event::note("2 items harvested"),
        Event::CycleStarted {
            cycle: 3,
            start: "a".repeat(40),
        },
        Event::MeasureStarted {
            checks: 13,
            longest_id: 0,
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
            planned: Some(Box::new(Planned {
                weight: Some(9),
                description: Some("All tests pass".to_owned()),
                check: Some("cargo test".to_owned()),
                agent: None,
                no_agent: Some("claude is missing".to_owned()),
            })),
        },
        Event::AgentStarted {
            name: "claude".to_owned(),
            log: ".git/evolve/logs/3-agent.log".to_owned(),
        },
        Event::AgentActivity {
            turns: Some(12),
            files: Some(4),
            tokens: Some(45_120),
            cost_usd: None,
            last: Some("Edit src/lib.rs\u{1b}[2J".to_owned()),
            attempt: None,
        },
        Event::AgentFinished {
            status: "done".to_owned(),
            duration_s: 187.0,
            commits: Some(1),
            has_leftovers: false,
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
            has_stuck: false,
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

/// Returns the rows of a small search: the baseline, one that is better, one that is invalid.
pub fn rows() -> Vec<Row> {
    let baseline = Row {
        ending: BASELINE,
        rank: Some(2),
        score: Some(2.0),
        delta: Some(0.0),
        percent: Some(0.0),
        ..Row::default()
    };
    let better = Row {
        id: 1,
        operator: Some(Operator::Mutation),
        parents: vec![0],
        lens: Some("caching".to_owned()),
        ending: "accepted",
        rank: Some(1),
        score: Some(2.5),
        delta: Some(0.5),
        percent: Some(25.0),
        best: true,
        new_best: true,
        summary: Some("keep what was computed\u{1b}[2J".to_owned()),
        agent_s: 61.0,
        spent: Spent {
            calls: 1,
            tokens: 1200,
            cost_usd: 0.31,
            ..Spent::default()
        },
        ..Row::default()
    };
    let invalid = Row {
        id: 2,
        operator: Some(Operator::Crossover),
        parents: vec![1, 0],
        ending: "invalid",
        reason: Some("its last line is no number: \"nan\"".to_owned()),
        left_out: vec!["bench.sh".to_owned()],
        ..Row::default()
    };
    vec![baseline, better, invalid]
}

/// Returns that search.
pub fn overview() -> Overview {
    let point = |id, score, best| Point { id, score, best };
    Overview {
        search: 1,
        strategy: "population",
        direction: Direction::Max,
        objective: Some("requests per second".to_owned()),
        fitness: "./bench.sh".to_owned(),
        agents: 2,
        seed: 7,
        started: "2026-02-11T21:00:00Z".to_owned(),
        branch: "main".to_owned(),
        noisy: false,
        best: 1,
        best_score: Some(2.5),
        baseline: Some(2.0),
        ended: Some("max-attempts"),
        ended_words: Some("all attempts are done".to_owned()),
        can_go_on: false,
        endings: vec![("accepted", 1), ("invalid", 1)],
        limits: vec![
            Limit {
                name: "attempts",
                used: Some(2.0),
                of: 2.0,
            },
            Limit {
                name: "stale",
                used: Some(1.0),
                of: 3.0,
            },
            Limit {
                name: "cost",
                used: Some(0.31),
                of: 2.0,
            },
        ],
        spent: rows()[1].spent,
        shown: Some(Shown {
            winner: 2.5,
            baseline: 2.0,
            better: true,
        }),
        last_failed: None,
        way: vec![0, 1],
        applied: Vec::new(),
        failed_log: None,
        asked_about: None,
        ahead: vec![Ahead {
            attempt: 3,
            what: "edit",
            words: "an agent works on attempt 3, fresh".to_owned(),
        }],
        rows: rows(),
        generations: vec![generation()],
        curve: vec![
            point(0, Some(2.0), Some(2.0)),
            point(1, Some(2.5), Some(2.5)),
            point(2, None, Some(2.5)),
        ],
    }
}

fn generation() -> Generation {
    Generation {
        number: 1,
        first: 1,
        last: 2,
        valid: 1,
        best: Some(2.5),
        mean: Some(2.5),
        gained: Some(0.5),
        survivors: vec![1, 0],
        stale: 0,
    }
}

/// Returns a session of that search with an event of each kind, in the order in which they happen.
pub fn events_of_search() -> Vec<Event> {
    let ended = |id: usize, best_score| Event::AttemptEnded {
        attempt: Box::new(rows()[id].clone()),
        best: 1.min(id as u64),
        best_score: Some(best_score),
        baseline: Some(2.0),
    };
    vec![
        Event::SearchStarted {
            session: "s-1".to_owned(),
            version: "0.1.0".to_owned(),
            overview: Box::new(Overview {
                rows: rows()[..1].to_vec(),
                best: 0,
                endings: Vec::new(),
                spent: Spent::default(),
                ..overview()
            }),
            agent: "claude".to_owned(),
            agent_found: false,
            protections: Protections::default(),
        },
        Event::AttemptMeasuring {
            attempt: 0,
            purpose: "first",
            beside: None,
            lane: 1,
        },
        Event::AttemptMeasured {
            attempt: 0,
            sampled: Box::new(Sampled {
                purpose: "first",
                beside: None,
                samples: vec![2.0, 2.0, 2.0],
                beside_samples: Vec::new(),
                reason: None,
                duration_s: 0.4,
            }),
        },
        ended(0, 2.0),
        Event::AttemptStarted {
            attempt: 1,
            operator: "mutation",
            parents: vec![0],
            lens: Some("caching".to_owned()),
            again: false,
            lane: 1,
        },
        Event::AttemptStarted {
            attempt: 2,
            operator: "crossover",
            parents: vec![1, 0],
            lens: None,
            again: true,
            lane: 2,
        },
        Event::AgentActivity {
            turns: Some(3),
            files: Some(1),
            tokens: Some(900),
            cost_usd: Some(0.2),
            last: Some("Edit src/lib.rs".to_owned()),
            attempt: Some(1),
        },
        Event::AttemptEdited {
            attempt: 1,
            status: "changed",
            summary: Some("keep what was computed".to_owned()),
            reason: None,
            left_out: Vec::new(),
            duration_s: 61.0,
            tokens: Some(1200),
            cost_usd: Some(0.31),
        },
        Event::AttemptMeasuring {
            attempt: 1,
            purpose: "beside",
            beside: Some(0),
            lane: 1,
        },
        ended(1, 2.5),
        ended(2, 2.5),
        Event::GenerationEnded {
            generation: Box::new(generation()),
        },
        Event::SearchEnded {
            reason: "all attempts are done".to_owned(),
            ending: "max-attempts",
            exit_code: 0,
            overview: Box::new(overview()),
        },
    ]
}
