use super::*;
use crate::model::goals::{self, Goal};
use crate::model::record::AgentReport;
use crate::model::snapshot::{CheckResult, FORMAT, Measurement};
use crate::model::work::Queue;

fn measured(id: &str, result: CheckResult, value: Option<f64>) -> Measurement {
    Measurement {
        id: id.to_owned(),
        result,
        weight: 5,
        value,
        threshold: value.map(|_| 80.0),
        duration_s: 0.1,
        reason: None,
        exit: Some(0),
        attempts: 1,
        flaky: false,
        tolerated: false,
        output_tail: None,
    }
}

fn snapshot(goals: Vec<Measurement>) -> Snapshot {
    let start = Some("a".repeat(40));
    Snapshot::new(
        Some(1),
        "2026-02-11T21:00:00Z".into(),
        start,
        "d".into(),
        goals,
    )
}

fn record(cycle: u64, result: CycleResult, before: f64, after: f64) -> Record {
    Record {
        format: FORMAT,
        cycle,
        goal_id: Some("tests-pass".to_owned()),
        result,
        commit_sha: "a".repeat(40),
        reverted_to: (result == CycleResult::Regressed).then(|| "b".repeat(40)),
        goals_passing: 1,
        goals_total: 2,
        goals_added: 0,
        timestamp: "2026-02-11T21:04:05Z".to_owned(),
        score_before: Some(before),
        score_after: Some(after),
        newly_failing: vec![],
        newly_passing: vec![],
        reason: Some("because".to_owned()),
        definition: None,
        content: None,
        session: Some("s-1".to_owned()),
        agent: Some(AgentReport {
            name: "codex".to_owned(),
            status: "done".to_owned(),
            exit: Some(0),
            duration_s: 61.0,
            tokens: Some(1_000),
            cost_usd: (cycle > 1).then_some(0.5),
        }),
        notes: vec![],
    }
}

fn seen(record: Record) -> Seen {
    Seen {
        record,
        before: None,
        after: None,
        brief: String::new(),
        log: String::new(),
        change: None,
    }
}

fn material<'a>(records: &'a [Record], seen: &'a [Seen]) -> Material<'a> {
    Material {
        name: "calc",
        records,
        seen,
        baseline: None,
        newest: None,
        goals: Err(NoGoals {
            why: "there is no GOALS.yaml",
            is_there: false,
        }),
        retries: &[],
        open: &[],
        set_aside: &[],
        taken_back: Box::leak(Box::default()),
        counts: Counts::default(),
        ended: None,
        state: State::default(),
        problems: &[],
        provenance: &[],
    }
}

#[test]
fn without_a_snapshot_to_believe_the_newest_record_tells_where_things_stand() {
    let improved = record(1, CycleResult::Improved, 0.0, 50.0);
    let report = Report::new(&material(std::slice::from_ref(&improved), &[]));
    assert_eq!(report.verdict.mark, "Not known");
    let words = "by its record 1 of 2 goals pass, with the score at 50";
    assert!(report.verdict.words.contains(words), "{:?}", report.verdict);
    assert_eq!(report.figures[0].note, "by the record of cycle 1");
    let undone = Record {
        reverted_to: Some("s".to_owned()),
        ..improved
    };
    let report = Report::new(&material(std::slice::from_ref(&undone), &[]));
    assert!(report.verdict.words.contains("its change was undone"));
}

#[test]
fn the_verdict_is_one_sentence_with_the_way_and_who_is_needed() {
    use CheckResult::{Fail, Pass};
    let one = |result| snapshot(vec![measured("a", result, None)]);
    let two = |first, second| {
        snapshot(vec![
            measured("a", first, None),
            measured("b", second, None),
        ])
    };
    let records = [record(1, CycleResult::Improved, 0.0, 100.0)];
    let of = |baseline: &Snapshot, newest: &Snapshot, needs: usize| {
        let material = Material {
            baseline: Some(baseline),
            newest: Some(newest),
            ..material(&records, &[])
        };
        let verdict = verdict::of(&material, needs);
        (verdict.tone, verdict.words)
    };
    for (baseline, newest, needs, tone, words) in [
        (
            two(Fail, Fail),
            two(Pass, Pass),
            0,
            Tone::Good,
            "All 2 goals pass, and the score went from 0 to 100 in 1 cycle; nobody is needed.",
        ),
        (
            two(Pass, Fail),
            two(Pass, Fail),
            2,
            Tone::Bad,
            "1 of 2 goals pass, with the score at 50 as at the baseline in 1 cycle; 2 things wait for you.",
        ),
        (
            one(Fail),
            one(Fail),
            1,
            Tone::Bad,
            "The one goal does not pass, with the score at 0 as at the baseline in 1 cycle; one thing waits for you.",
        ),
    ] {
        assert_eq!(of(&baseline, &newest, needs), (tone, words.to_owned()));
    }
    let none = verdict::of(&material(&[], &[]), 0);
    assert_eq!(
        none.words,
        "No cycle has been recorded yet; nobody is needed."
    );
}

#[test]
fn what_waits_for_a_person_is_named_with_the_way_on() {
    let yaml = "goals: [{id: tests-pass, description: d, check: 'true', weight: 5}]";
    let (goals, _) = goals::read_goals("GOALS.yaml", yaml.as_bytes()).unwrap();
    let records: Vec<Record> = (1..=3)
        .map(|cycle| Record {
            definition: Some(goals.goals[0].definition()),
            ..record(cycle, CycleResult::Failed, 0.0, 0.0)
        })
        .collect();
    let needs = Report::new(&Material {
        goals: Ok(&goals),
        state: State {
            stop: Some("lunch\u{7}".to_owned()),
            interrupted_cycle: Some(4),
            ..State::default()
        },
        ..material(&records, &[])
    })
    .needs;
    let what: Vec<&str> = needs.iter().map(|need| need.what.as_str()).collect();
    assert_eq!(
        what,
        [
            "A STOP file keeps the loop from running",
            "Cycle 4 was cut short and is not settled",
            "tests-pass was struck after three cycles without progress",
        ]
    );
    assert_eq!(needs[0].why, "lunch");
    assert!(needs[2].way_on.ends_with("`evolve retry tests-pass`"));
}

#[test]
fn a_goal_whose_check_cannot_run_waits_for_a_person_and_one_that_skips_itself_does_not() {
    let goal = |id, exit| Measurement {
        exit: Some(exit),
        reason: Some(format!("exit {exit}")),
        ..measured(id, CheckResult::Skip, None)
    };
    let yaml = "goals: [{id: lint, description: d, check: 'true', weight: 5}, {id: only-on-mac, description: d, check: 'true', weight: 5}]";
    let (goals, _) = goals::read_goals("GOALS.yaml", yaml.as_bytes()).unwrap();
    let newest = snapshot(vec![
        goal("lint", 127),
        goal("gone", 127),
        goal("only-on-mac", 77),
        measured("a", CheckResult::Pass, None),
    ]);
    let report = Report::new(&Material {
        goals: Ok(&goals),
        newest: Some(&newest),
        ..material(&[], &[])
    });
    let what: Vec<&str> = report.needs.iter().map(|need| need.what.as_str()).collect();
    assert_eq!(what, ["lint could not be measured"]);
    assert_eq!(report.needs[0].why, "exit 127");
}

#[test]
fn where_the_loop_goes_on_with_other_goals_nobody_is_said_to_be_needed_for_that() {
    use CheckResult::{Fail, Pass};
    let goal = |id| format!("{{id: {id}, description: d, check: 'true', weight: 5}}");
    let yaml = format!("goals: [{}, {}, {}]", goal("a"), goal("b"), goal("c"));
    let (goals, _) = goals::read_goals("GOALS.yaml", yaml.as_bytes()).unwrap();
    let failed = |cycle, id: &str| Record {
        goal_id: Some(id.to_owned()),
        definition: goals.find(id).map(Goal::definition),
        ..record(cycle, CycleResult::Failed, 0.0, 0.0)
    };
    let records: Vec<Record> = (1..=3).map(|cycle| failed(cycle, "a")).collect();
    let at = |second, stop: Option<&str>, is_at_work: bool| {
        let newest = snapshot(vec![
            measured("a", Fail, None),
            measured("b", second, None),
            measured("c", Pass, None),
        ]);
        let verdict = Report::new(&Material {
            goals: Ok(&goals),
            newest: Some(&newest),
            state: State {
                stop: stop.map(str::to_owned),
                running_since: is_at_work.then(|| "2026-02-11T21:00:00Z".to_owned()),
                ..State::default()
            },
            ended: Some(&Ended {
                reason: "interrupted by a signal".to_owned(),
                is_asking: false,
            }),
            ..material(&records, &[])
        })
        .verdict;
        (verdict.mark, verdict.words)
    };
    let (mark, words) = at(Fail, None, false);
    assert_eq!(mark, "Work is left");
    let end = "; one thing waits for you; no session is at work (the last one ended: interrupted by a signal), and the next run goes on with 1 failing goal.";
    assert!(words.ends_with(end), "{words}");
    let (mark, words) = at(Fail, None, true);
    assert_eq!(mark, "Under way");
    let end = "; one thing waits for you, and the loop goes on with 1 failing goal.";
    assert!(words.ends_with(end), "{words}");
    for (second, stop) in [(Pass, None), (Fail, Some("lunch"))] {
        let (mark, words) = at(second, stop, false);
        assert_eq!(mark, "You are needed", "{words}");
        assert!(words.ends_with(" for you."), "{words}");
    }
}

#[test]
fn goals_are_counted_as_the_file_has_them_now_and_those_that_are_gone_are_marked() {
    use CheckResult::Pass;
    let goal = |id| format!("{{id: {id}, description: d, check: 'true', weight: 5}}");
    let yaml = format!("goals: [{}, {}]", goal("a"), goal("new"));
    let (goals, _) = goals::read_goals("GOALS.yaml", yaml.as_bytes()).unwrap();
    let newest = snapshot(vec![
        measured("a", Pass, None),
        measured("renamed", Pass, None),
    ]);
    let report = Report::new(&Material {
        goals: Ok(&goals),
        newest: Some(&newest),
        ..material(&[], &[])
    });
    assert_eq!(report.verdict.mark, "Not all measured");
    let words = "1 of 2 goals pass, 1 is not measured yet, with the score at 100, and no cycle is recorded yet; no session is at work, and the next run goes on with the one that is not measured yet.";
    assert_eq!(report.verdict.words, words);
    let figure = &report.figures[1];
    assert_eq!(
        (&*figure.value, &*figure.note),
        ("1 of 2", "1 not measured yet")
    );
    let rows = report.grid.rows.iter();
    let rows: Vec<_> = rows.map(|row| (&*row.goal, row.is_gone)).collect();
    assert_eq!(rows, [("a", false), ("new", false), ("renamed", true)]);
    // What stops the loop is seen to first.
    let report = Report::new(&Material {
        goals: Ok(&goals),
        newest: Some(&newest),
        state: State {
            stop: Some(String::new()),
            ..State::default()
        },
        ..material(&[], &[])
    });
    let words = report.verdict.words;
    assert!(words.ends_with("; one thing waits for you."), "{words}");
}

#[test]
fn what_waits_for_a_person_is_in_the_order_of_the_weights_with_what_takes_an_item_off() {
    let goal =
        |id, weight| format!("{{id: {id}, description: d, check: 'true', weight: {weight}}}");
    let yaml = format!("goals: [{}, {}]", goal("light", 2), goal("heavy", 8));
    let (goals, _) = goals::read_goals("GOALS.yaml", yaml.as_bytes()).unwrap();
    let failed = |cycle, id: &str| Record {
        goal_id: Some(id.to_owned()),
        definition: goals.find(id).map(Goal::definition),
        ..record(cycle, CycleResult::Failed, 0.0, 0.0)
    };
    let cycles = (1..=6).map(|cycle| failed(cycle, if cycle > 3 { "heavy" } else { "light" }));
    let records: Vec<Record> = cycles.collect();
    let queue = Queue::parse("{\"title\": \"tidy up\", \"failures\": 3}\n");
    let set_aside = queue.set_aside("calc");
    let report = Report::new(&Material {
        goals: Ok(&goals),
        set_aside: &set_aside,
        ..material(&records, &[])
    });
    let what: Vec<&str> = report.needs.iter().map(|need| need.what.as_str()).collect();
    let struck = "was struck after three cycles without progress";
    let expected = [
        format!("heavy {struck}"),
        format!("light {struck}"),
        "Work item set aside: tidy up".to_owned(),
    ];
    assert_eq!(what, expected);
    let id = &set_aside[0].id()[..6];
    for command in ["work done", "work drop"] {
        let named = format!("`evolve {command} {id}`");
        let way_on = &report.needs[2].way_on;
        assert!(way_on.contains(&named), "{way_on}");
    }
}

#[test]
fn an_undone_change_leaves_the_score_where_it_was() {
    let records = [
        record(1, CycleResult::Improved, 40.0, 60.0),
        record(2, CycleResult::Regressed, 60.0, 20.0),
    ];
    let curve = series::curve(&material(&records, &[]));
    let points: Vec<_> = curve
        .points
        .iter()
        .map(|it| (it.score, it.undone))
        .collect();
    assert_eq!(points, [(60.0, None), (60.0, Some(20.0))]);
    assert_eq!(
        curve.words,
        "From 60 to 60 over 2 cycles; the lowest was 60."
    );
}

#[test]
fn a_history_of_any_length_makes_a_report_of_bounded_size() {
    let records: Vec<Record> = (1..=5_000)
        .map(|cycle| record(cycle, CycleResult::Improved, 0.0, 50.0))
        .collect();
    let goals = (0..400).map(|id| measured(&format!("goal-{id}"), CheckResult::Pass, Some(1.0)));
    let goals = snapshot(goals.collect());
    let newest: Vec<Seen> = records[4_900..]
        .iter()
        .map(|record| Seen {
            before: Some(goals.clone()),
            after: Some(goals.clone()),
            brief: "<b>".repeat(100_000),
            log: "/".repeat(100_000),
            ..seen(record.clone())
        })
        .collect();
    let report = Report::new(&Material {
        newest: Some(&goals),
        ..material(&records, &newest)
    });
    assert_eq!((report.curve.points.len(), report.curve.each), (385, 13));
    assert_eq!((report.cycles.len(), report.older_cycles), (100, 4_900));
    assert_eq!((report.grid.rows.len(), report.grid.more_goals), (400, 0));
    assert_eq!(
        (report.grid.columns.len(), report.grid.more_cycles),
        (75, 4_925)
    );
    assert_eq!((report.series.len(), report.more_series), (100, 300));
    let has_brief = |entry: &&Entry| !entry.brief.is_empty() && !entry.is_cut;
    let told = report.cycles.iter().take_while(has_brief).count();
    assert!((30..60).contains(&told), "{told}");
    assert!(report.cycles[told..].iter().all(|entry| entry.is_cut));
}

#[test]
fn of_too_many_goals_those_that_pass_are_left_out_and_counted() {
    let goals = (0..2_500).map(|id| {
        let result = match id {
            2_498 => CheckResult::Fail,
            2_499 => CheckResult::Skip,
            _ => CheckResult::Pass,
        };
        measured(&format!("goal-{id}"), result, Some(1.0))
    });
    let newest = snapshot(goals.collect());
    let records = [record(1, CycleResult::Improved, 0.0, 50.0)];
    let seen = [Seen {
        after: Some(newest.clone()),
        ..seen(records[0].clone())
    }];
    let report = Report::new(&Material {
        newest: Some(&newest),
        ..material(&records, &seen)
    });
    let grid = &report.grid;
    let last: Vec<&str> = grid.rows.iter().map(|row| &*row.goal).collect();
    assert_eq!(last[1_997..], ["goal-1997", "goal-2498", "goal-2499"]);
    assert_eq!((grid.more_goals, grid.more_unmet), (500, 0));
    let series: Vec<&str> = report.series.iter().map(|one| &*one.goal).collect();
    assert_eq!(series[97..], ["goal-97", "goal-2498", "goal-2499"]);
}

#[test]
fn words_of_others_are_clean_and_without_secrets() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let hostile = format!("\u{1b}[31mred\u{1b}[0m {secret} \u{202e}end");
    let mut one = record(1, CycleResult::Failed, 0.0, 0.0);
    one.reason = Some(hostile.clone());
    one.notes = vec![hostile.clone()];
    one.goal_id = Some(hostile.clone());
    one.session = Some(hostile.clone());
    let newest = [Seen {
        brief: hostile.clone(),
        log: hostile.clone(),
        change: Some(Change {
            files: 1,
            listed: vec![(hostile.clone(), None)],
        }),
        ..seen(one.clone())
    }];
    let records = [one];
    let report = Report::new(&Material {
        name: &hostile,
        problems: std::slice::from_ref(&hostile),
        ended: Some(&Ended {
            reason: hostile.clone(),
            is_asking: true,
        }),
        ..material(&records, &newest)
    });
    let all = format!("{report:?}");
    assert!(all.contains("red *** end"), "{all}");
    for part in [&secret, "\\u{1b}", "\\u{202e}", "\\u{7}"] {
        assert!(!all.contains(part), "{part} is in {all}");
    }
}

#[test]
fn cycles_of_the_same_number_are_told_apart() {
    let twice = [1, 2, 1].map(|cycle| seen(record(cycle, CycleResult::Idle, 0.0, 0.0)));
    assert_eq!(cycles::anchors(&twice), ["cycle-1", "cycle-2", "cycle-1-2"]);
}

#[test]
fn what_is_used_is_told_by_session_and_by_agent_and_never_made_up() {
    let mut records = [1, 2, 3].map(|cycle| record(cycle, CycleResult::Improved, 0.0, 0.0));
    records[2].session = Some("s-2".to_owned());
    let spending = spending::of(&records);
    let rows: Vec<_> = spending
        .sessions
        .iter()
        .map(|it| {
            (
                it.name.as_str(),
                it.cycles,
                it.worked.as_str(),
                it.cost.as_str(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("s-2", 1, "1m 01s", "$0.50"),
            (
                "s-1",
                2,
                "2m 02s",
                "at least $0.50 (1 of 2 calls did not say)"
            ),
        ]
    );
    assert_eq!((spending.agents.len(), spending.agents[0].calls), (1, 3));
    assert_eq!(moment("2026-02-11T21:04:05Z"), "2026-02-11 21:04");
    assert_eq!(moment("yesterday"), "yesterday");
}
