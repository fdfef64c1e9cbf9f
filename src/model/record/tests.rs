use super::history::{LONGEST_LINE, MOST_PROBLEMS};
use super::*;
use proptest::prelude::*;

const RESULTS: [CycleResult; 7] = [
    CycleResult::Improved,
    CycleResult::Unchanged,
    CycleResult::Regressed,
    CycleResult::Failed,
    CycleResult::Harvested,
    CycleResult::Interrupted,
    CycleResult::Idle,
];

pub(super) fn record(cycle: u64, result: CycleResult) -> Record {
    Record {
        format: 1,
        cycle,
        goal_id: None,
        result,
        commit_sha: "c".repeat(40),
        reverted_to: None,
        goals_passing: 1,
        goals_total: 2,
        goals_added: 0,
        timestamp: "2026-02-11T21:00:00Z".to_owned(),
        score_before: Some(50.0),
        score_after: None,
        newly_failing: vec![],
        newly_passing: vec!["a".to_owned()],
        reason: None,
        definition: None,
        content: Some("content".to_owned()),
        session: None,
        agent: None,
        notes: vec![],
    }
}

#[test]
fn a_cycle_whose_work_is_not_on_the_branch_can_have_lost_its_start() {
    for result in RESULTS {
        let is_on_the_branch = [CycleResult::Improved, CycleResult::Harvested].contains(&result);
        let mut record = record(1, result);
        record.notes = vec!["another note".to_owned()];
        assert!(!record.has_lost_its_start(), "{result:?}");
        record.notes.push(START_IS_GONE.to_owned());
        assert_eq!(record.has_lost_its_start(), !is_on_the_branch, "{result:?}");
    }
}

fn text_of(records: &[Record]) -> String {
    let line = |record| serde_json::to_string(record).expect("JSON") + "\n";
    records.iter().map(line).collect()
}

#[test]
fn a_number_that_no_cycle_can_have_is_no_record() {
    let last = text_of(&[record(LAST_CYCLE, CycleResult::Idle)]);
    assert_eq!(History::parse(&last).next_cycle(), LAST_CYCLE + 1);
    for cycle in [LAST_CYCLE + 1, u64::MAX] {
        let history = History::parse(&text_of(&[record(cycle, CycleResult::Idle)]));
        assert_eq!((history.records.len(), history.next_cycle()), (0, 1));
        let problem = format!("line 1: not a record: {cycle} is no number of a cycle");
        assert_eq!(history.problems, [problem]);
    }
}

#[test]
fn what_is_wrong_with_a_history_is_named_in_few_clean_lines() {
    let line = format!("{{\"cycle\":\"\u{1b}[2J\u{202e}{}\"}}\n", "x".repeat(1000));
    let history = History::parse(&line.repeat(MOST_PROBLEMS + 3));
    assert_eq!(history.problems.len(), MOST_PROBLEMS + 1);
    let [first, .., last] = history.problems.as_slice() else {
        panic!("{history:?}");
    };
    assert!(first.chars().count() < 250, "{first}");
    assert!(!first.contains(['\u{1b}', '\u{202e}']), "{first}");
    assert_eq!(last, "3 more such lines");
}

#[test]
fn a_record_is_never_too_long_to_be_read_and_what_is_kept_stays_as_it_is() {
    let long = Record {
        goal_id: Some("\u{1f600}".repeat(100_000)),
        reason: Some("\"".repeat(3_000_000)),
        notes: vec!["\\".repeat(10_000); 500],
        ..record(1, CycleResult::Failed)
    };
    let text = text_of(std::slice::from_ref(&long));
    let history = History::parse(&text);
    assert!(history.records.is_empty());
    let problem = format!("line 1: not a record: it has {} bytes", text.len() - 1);
    assert!(
        history.problems[0].starts_with(&problem),
        "{:?}",
        history.problems
    );
    let kept = long.kept();
    assert_eq!(kept.clone().kept(), kept);
    assert_eq!(kept.notes.last().map(String::as_str), Some("and 487 more"));
    assert_eq!(
        History::parse(&text_of(std::slice::from_ref(&kept))).records,
        [kept]
    );
}

#[test]
fn notes_and_lines_are_kept_up_to_their_bounds_and_not_beyond() {
    let many = Record {
        notes: vec!["n".repeat(131); 2_000],
        ..record(1, CycleResult::Failed)
    };
    let kept = many.kept();
    let bytes: usize = kept.notes.iter().map(String::len).sum();
    assert!(bytes <= NOTES_BYTES, "{bytes}");
    assert_eq!(kept.clone().kept(), kept);
    let line = text_of(&[record(1, CycleResult::Idle)]);
    let line = line.trim_end();
    let padded = |bytes: usize| line.to_owned() + &" ".repeat(bytes - line.len());
    assert!(read_record(&padded(LONGEST_LINE)).is_ok());
    assert!(read_record(&padded(LONGEST_LINE + 1)).is_err());
}

#[test]
fn words_of_others_are_kept_clean_and_without_secrets() {
    let words = |what: &str| format!("{what}\u{1b}[2J\nghp_abcdefghijklmnopqrstuvwxyz0123456789");
    let agent = AgentReport {
        name: words("agent"),
        status: words("status"),
        exit: Some(3),
        duration_s: 1.0,
        tokens: Some(2),
        cost_usd: None,
    };
    let kept = Record {
        goal_id: Some(words("goal")),
        reason: Some(words("reason")),
        notes: vec![words("note")],
        agent: Some(agent),
        ..record(1, CycleResult::Failed)
    }
    .kept();
    let agent = kept.agent.unwrap_or_else(|| panic!("the agent is gone"));
    assert_eq!((agent.duration_s, agent.tokens), (1.0, Some(2)));
    let all = [
        Some(agent.name),
        Some(agent.status),
        kept.goal_id,
        kept.reason,
    ];
    let all: Vec<_> = all.into_iter().flatten().chain(kept.notes).collect();
    let starts = ["agent", "status", "goal", "reason", "note"];
    assert_eq!(all.len(), starts.len());
    for (words, start) in all.iter().zip(starts) {
        assert!(words.starts_with(start), "{words:?}");
        assert!(
            !words.contains(['\u{1b}', '\n']) && !words.contains("ghp_abc"),
            "{words:?}"
        );
    }
}

#[test]
fn without_progress_are_cycles_that_brought_nothing_by_their_own_fault() {
    let declined = "declined: no";
    let environment = "environment changed: b";
    use CycleResult::{Failed, Harvested, Idle, Improved, Interrupted, Regressed, Unchanged};
    for (result, reason, is_without_progress, is_declined) in [
        (Improved, None, false, false),
        (Harvested, None, false, false),
        (Unchanged, None, true, false),
        (Regressed, Some("goalposts moved: x"), true, false),
        (Regressed, Some(environment), false, false),
        (Failed, Some("no change"), true, false),
        (Failed, Some(declined), true, true),
        (Unchanged, Some(declined), true, false),
        (Interrupted, None, false, false),
        (Idle, None, false, false),
    ] {
        let record = Record {
            reason: reason.map(str::to_owned),
            ..record(1, result)
        };
        let found = (record.is_without_progress(), record.is_declined());
        assert_eq!(
            found,
            (is_without_progress, is_declined),
            "{result:?} {reason:?}"
        );
    }
}

#[test]
fn what_failed_without_an_undone_change_too_is_known_to_fail() {
    use crate::model::figures;
    use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
    let measurement = |id: &str, result| Measurement {
        id: id.to_owned(),
        result,
        weight: 5,
        value: Some(1.0),
        threshold: None,
        duration_s: 0.0,
        reason: None,
        exit: Some(0),
        attempts: 1,
        flaky: false,
        tolerated: false,
        output_tail: None,
    };
    let goals = [
        ("a", CheckResult::Fail),
        ("b", CheckResult::Pass),
        ("c", CheckResult::Pass),
    ];
    let goals = goals.map(|(id, result)| measurement(id, result)).to_vec();
    let before = Snapshot::new(Some(1), String::new(), None, String::new(), goals);
    let undone = |reason: String| Record {
        reason: Some(reason),
        reverted_to: Some("start".to_owned()),
        score_before: Some(66.67),
        score_after: Some(33.33),
        ..record(1, CycleResult::Regressed)
    };
    let changed = undone(environment_changed(&["c".to_owned()]));
    let since = figures::known_since(&changed, &before);
    assert_eq!((since.score, since.goals_passing), (33.33, 1));
    assert!(!since.passes("c") && since.passes("b"));
    assert_eq!(changed.score_left(), None);
    assert_eq!(changed.scores(), "measured 66.67 → 33.33, undone");
    let other = undone("passed before and no longer: c".to_owned());
    assert_eq!(figures::known_since(&other, &before), before);
    assert_eq!(other.score_left(), Some(66.67));
}

#[test]
fn a_number_that_not_every_reader_understands_is_no_cycle() {
    let highest = record(9_007_199_254_740_991, CycleResult::Idle);
    let beyond = record(9_007_199_254_740_992, CycleResult::Idle);
    let history = History::parse(&text_of(&[highest.clone(), beyond]));
    assert_eq!(history.records, [highest]);
    let problem = "line 2: not a record: 9007199254740992 is no number of a cycle";
    assert_eq!(history.problems, [problem]);
}

#[test]
fn problems_beyond_the_first_fifty_are_counted() {
    let of = |count: usize| History::parse(&"nonsense\n".repeat(count)).problems;
    assert_eq!(of(50).len(), 50);
    assert!(of(50)[49].starts_with("line 50: "), "{:?}", of(50)[49]);
    assert_eq!(of(52).len(), 51);
    assert_eq!(of(52)[50], "2 more such lines");
}

#[test]
fn a_history_keeps_what_it_understands_doubled_numbers_too_and_reports_the_rest_by_its_line() {
    let (one, two) = (record(1, CycleResult::Idle), record(2, CycleResult::Idle));
    let text = format!(
        "\u{feff}{}\nnot json\n{{\"cycle\": 3}}\n{}{}",
        text_of(std::slice::from_ref(&one)),
        text_of(std::slice::from_ref(&two)),
        text_of(std::slice::from_ref(&one)).trim_end(),
    );
    let history = History::parse(&text);
    assert_eq!(history.records, [one.clone(), two, one]);
    let starts = ["line 3: not a record: ", "line 4: not a record: "];
    assert_eq!(
        history.problems.len(),
        starts.len(),
        "{:?}",
        history.problems
    );
    for (problem, start) in history.problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}

#[test]
fn the_lines_of_the_document_that_evolve_was_asked_for_are_records() {
    let line = r#"{"cycle": 2, "goal_id": "doc-coverage", "result": "regressed", "commit_sha": "def5678", "reverted_to": "abc1234", "goals_passing": 17, "goals_total": 23, "goals_added": 0, "timestamp": "2026-02-11T21:30:00Z", "format": 1, "mine": [1]}"#;
    let history = History::parse(line);
    assert_eq!(history.problems, Vec::<String>::new());
    assert!(history.records[0].is_undone());
    assert_eq!(history.next_cycle(), 3);
    let of_then = line.replace("\"format\": 1, ", "");
    assert_eq!(History::parse(&of_then).records[0].format, 1);
}

#[test]
fn idle_cycles_count_in_a_row_and_on_the_same_content_only() {
    let idle = |cycle, content: &str| Record {
        content: Some(content.to_owned()),
        ..record(cycle, CycleResult::Idle)
    };
    for (records, streak) in [
        (vec![], 0),
        (vec![idle(1, "now")], 1),
        (vec![idle(1, "now"), idle(2, "now"), idle(3, "now")], 3),
        (vec![idle(1, "old"), idle(2, "now")], 1),
        (vec![idle(1, "now"), idle(2, "old")], 0),
        (
            vec![
                idle(1, "now"),
                record(2, CycleResult::Harvested),
                idle(3, "now"),
            ],
            1,
        ),
        (vec![idle(1, "now"), idle(2, "old"), idle(3, "now")], 1),
    ] {
        let history = History {
            records,
            problems: vec![],
        };
        assert_eq!(history.idle_streak("now"), streak, "{:?}", history.records);
    }
}

proptest! {
    #[test]
    fn a_history_is_read_as_it_was_written_and_goes_on_after_its_highest_cycle(
        cycles in prop::collection::vec((1u64..1000, prop::sample::select(RESULTS.to_vec())), 0..8)
    ) {
        let records: Vec<_> = cycles.iter().map(|(cycle, result)| record(*cycle, *result)).collect();
        let history = History::parse(&text_of(&records));
        let highest = cycles.iter().map(|(cycle, _)| *cycle).max().unwrap_or(0);
        prop_assert_eq!(history.next_cycle(), highest + 1);
        prop_assert_eq!(history.newest(), records.last());
        prop_assert_eq!(history.records, records);
    }

    #[test]
    fn no_text_makes_a_history_panic(text in "(\\PC|\n|\\{\"cycle\":1\\}){0,40}") {
        let history = History::parse(&text);
        prop_assert!(history.next_cycle() >= 1);
    }
}

#[test]
fn a_change_is_offered_where_it_is_good_and_kept_off_and_not_where_an_agent_says_so() {
    use CycleResult::{Failed, Interrupted};
    for (result, reason, is_offered) in [
        (
            Interrupted,
            "the change is good, but `a` is in its way; it stays under r",
            true,
        ),
        (
            Interrupted,
            "somebody else committed 3 times while it was measured; the change is good and stays under r",
            true,
        ),
        (Failed, "declined: the change is good, but really", false),
        (Failed, "the change is good, but really", false),
        (
            Interrupted,
            "a STOP file: the change is good, but really",
            false,
        ),
    ] {
        assert_eq!(
            super::is_offered(result, Some(reason)),
            is_offered,
            "{reason}"
        );
    }
    assert!(!super::is_offered(Interrupted, None));
}
