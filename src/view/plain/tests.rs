use super::*;
use crate::model::usage::Spent;
use crate::view::samples::{self, events, events_of_search, finished, measured, record};
use crate::view::tables;

fn told(detail: Detail, events: &[Event]) -> (String, String) {
    told_at(detail, None, events)
}

fn told_at(detail: Detail, stamp: Option<fn() -> String>, events: &[Event]) -> (String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let to_out = Stream {
        to: &mut out,
        stamp,
        width: || None,
    };
    let to_err = Stream {
        to: &mut err,
        stamp,
        width: || None,
    };
    let mut printer = Printer::new(detail, to_out, to_err);
    for event in events {
        let lines = printer.lines(event);
        printer.print(&lines).expect("written");
    }
    let plain = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("UTF-8");
        anstream::adapter::strip_str(&text).to_string()
    };
    (plain(out), plain(err))
}

#[test]
fn the_story_of_a_session_reads_from_top_to_bottom() {
    let (out, err) = told(Detail::Normal, &events());
    let story = "\
evolve 0.1.0 · session s-1 · 13 goals · agent claude, the first that is installed · 2 checks at once
protections: no sandbox: the agent may write wherever you may
2 items harvested
sweep: shellcheck, markers
cycle 3 · tests-pass: heaviest failing goal (weight 9)
  measured: score 61.5, 8 of 13 goals pass; failing tests-pass, docs; skipped lint
  agent at work, log .git/evolve/logs/3-agent.log
  agent done after 3m 07s: 12 turns, 45,120 tokens, cost unknown; 1 commit, 4 files
  improved · score 61.5 → 92.3 (8 → 12 of 13 goals)
cycle 4 · nothing to do
  idle: no goal fails and the queue is empty
waiting 5m 00s: rate limit
dormant after 2 cycles: three idle cycles in a row on the same content
score 61.5 → 92.3
agent: 1 call, 45,120 tokens, cost unknown
";
    assert_eq!(out, story);
    assert_eq!(err, "warning: lint: command not found\n");
}

#[test]
fn where_something_else_shows_what_goes_on_only_what_has_ended_is_told() {
    let (out, _) = told(Detail::Ended, &events());
    let (whole, _) = told(Detail::Normal, &events());
    let is_beginning = |line: &&str| {
        let words = ["sweep: ", "  agent at work", "waiting "];
        words.iter().any(|word| line.starts_with(word))
    };
    assert_eq!(whole.lines().filter(is_beginning).count(), 3);
    // Once it is over, nothing but its line tells what was waited for.
    let stays = |line: &&str| !is_beginning(line) || line.starts_with("waiting ");
    let ended: Vec<&str> = whole.lines().filter(stays).collect();
    assert_eq!(out.lines().collect::<Vec<_>>(), ended);
}

#[test]
fn what_is_worked_on_is_not_told_while_something_else_shows_it() {
    let events = events();
    let at = |what: fn(&Event) -> bool| events.iter().position(what).unwrap();
    let agent = at(|event| matches!(event, Event::AgentFinished { .. }));
    let heading = "cycle 3 · tests-pass: heaviest failing goal (weight 9)\n";
    for (detail, is_told) in [(Detail::Ended, false), (Detail::Normal, true)] {
        let (out, _) = told(detail, &events[..agent]);
        assert_eq!(out.contains(heading), is_told, "{out}");
    }
    let (out, _) = told(Detail::Ended, &events[..=agent]);
    assert!(out.contains(heading), "{out}");
    // How one gets away is of no use once the agent is done.
    let note = Event::note("SIGINT: what runs was asked to end");
    let (out, _) = told(Detail::Ended, &[&events[..agent], &[note]].concat());
    assert!(out.contains(heading), "{out}");
    assert!(
        out.ends_with("  SIGINT: what runs was asked to end\n"),
        "{out}"
    );
    // What ends before its agent does, does not go without one.
    let ending = ended_with("failed", 0, 1);
    let (out, _) = told(Detail::Ended, &[&events[..agent], &[ending]].concat());
    assert!(out.contains(heading), "{out}");
}

#[test]
fn without_progress_only_what_came_of_it_is_told() {
    let (out, err) = told(Detail::Results, &events());
    let story = "\
2 items harvested
cycle 3 · tests-pass: heaviest failing goal (weight 9)
  improved · score 61.5 → 92.3 (8 → 12 of 13 goals)
cycle 4 · nothing to do
  idle: no goal fails and the queue is empty
dormant after 2 cycles: three idle cycles in a row on the same content
score 61.5 → 92.3
agent: 1 call, 45,120 tokens, cost unknown
";
    assert_eq!(out, story);
    assert_eq!(err, "warning: lint: command not found\n");
    let (out, _) = told(Detail::Results, &events_of_search());
    let (whole, _) = told(Detail::Ended, &events_of_search());
    let is_first = |line: &str| line.starts_with("evolve 0.1.0 · session s-1");
    assert!(whole.lines().next().is_some_and(is_first), "{whole}");
    assert!(!out.is_empty() && whole.ends_with(&out), "{out}");
    assert!(
        !out.contains("session") && !out.contains("protections"),
        "{out}"
    );
}

#[test]
fn every_line_begins_with_its_time_where_that_is_wanted() {
    const TIME: &str = "2026-02-11T21:00:00Z";
    let ended = Event::SessionEnded {
        reason: "a goal waits:\nb".to_owned(),
        ending: "human-needed",
        cycles: 1,
        exit_code: 11,
        has_stuck: false,
        trajectory: None,
        spent: Spent::default(),
    };
    let events = [events(), vec![ended]].concat();
    let (out, err) = told_at(Detail::Normal, Some(|| TIME.to_owned()), &events);
    let text = out + &err;
    let is_stamped = |line: &str| line.starts_with(&format!("{TIME} "));
    assert!(text.lines().all(is_stamped), "{text}");
}

#[test]
fn quiet_says_nothing_and_verbose_names_each_check() {
    assert_eq!(
        told(Detail::Quiet, &events()),
        (String::new(), String::new())
    );
    let (out, _) = told(Detail::Verbose, &events());
    assert!(out.contains("\n  running 13 checks (before)\n"), "{out}");
    assert!(out.contains("\n    FAIL docs 0.3 s\n"), "{out}");
    assert!(out.contains("\n  agent: Edit src/lib.rs\n"), "{out}");
}

#[test]
fn an_undone_cycle_says_why_and_the_next_starts_from_before_it() {
    let undone = Record {
        result: CycleResult::Regressed,
        reverted_to: Some("b".repeat(40)),
        goals_passing: 7,
        reason: Some("docs fails".to_owned()),
        ..record()
    };
    let kept_under = Event::Note {
        message: "the undone work stays under r".to_owned(),
        follows: true,
    };
    let (out, _) = told(
        Detail::Normal,
        &[
            measured("baseline"),
            Event::CycleStarted {
                cycle: 3,
                start: "a".repeat(40),
            },
            kept_under,
            finished(undone),
            measured("after"),
            finished(record()),
        ],
    );
    let story = "\
baseline: score 61.5, 8 of 13 goals pass; failing tests-pass, docs; skipped lint
cycle 3 · tests-pass
  regressed · measured 61.5 → 92.3, back at 61.5 (8 of 13 goals)
  undone: docs fails
  the undone work stays under r
  improved · score 61.5 → 92.3 (8 → 12 of 13 goals)
";
    assert_eq!(out, story);
}

#[test]
fn every_result_appears_as_its_word() {
    for result in [
        CycleResult::Unchanged,
        CycleResult::Failed,
        CycleResult::Harvested,
        CycleResult::Interrupted,
    ] {
        let record = Record {
            result,
            goal_id: None,
            score_before: None,
            ..record()
        };
        let (out, _) = told(Detail::Normal, &[finished(record)]);
        assert_eq!(
            out,
            format!("  {} · score 92.3 (12 of 13 goals)\n", result.word())
        );
    }
}

#[test]
fn what_no_heading_follows_stands_for_itself() {
    let started = Event::CycleStarted {
        cycle: 8,
        start: "a".repeat(40),
    };
    let (out, _) = told(
        Detail::Normal,
        &[started, measured("before"), ended_with("dormant", 0, 0)],
    );
    assert_eq!(
        out,
        "measured: score 61.5, 8 of 13 goals pass; failing tests-pass, docs; skipped lint\ndormant: because\n"
    );
}

#[test]
fn an_error_that_is_printed_anyway_is_not_told_twice() {
    let (out, err) = told(Detail::Normal, &[ended_with("failed", 0, 1)]);
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
    let (out, _) = told(Detail::Normal, &[ended_with("failed", 2, 1)]);
    assert_eq!(out, "failed after 2 cycles\n");
    let mut paid = ended_with("failed", 0, 4);
    if let Event::SessionEnded { spent, .. } = &mut paid {
        spent.calls = 2;
        (spent.tokens, spent.cost_usd) = (7, 0.5);
    }
    let (out, _) = told(Detail::Normal, &[paid]);
    assert_eq!(out, "agent: 2 calls, 7 tokens, $0.50\n");
}

#[test]
fn an_ending_that_needs_a_person_is_an_error_even_for_the_quiet() {
    let (out, err) = told(Detail::Quiet, &[ended_with("human-needed", 1, 11)]);
    assert_eq!((out.as_str(), err.as_str()), ("", "error: because\n"));
    let (out, err) = told(Detail::Quiet, &[ended_with("dormant", 1, 0)]);
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
}

fn ended_with(ending: &'static str, cycles: u64, exit_code: u8) -> Event {
    Event::SessionEnded {
        reason: "because".to_owned(),
        ending,
        cycles,
        exit_code,
        has_stuck: false,
        trajectory: None,
        spent: Spent::default(),
    }
}

#[test]
fn the_story_of_a_search_has_a_line_for_each_step_and_says_why() {
    let (out, err) = told(Detail::Normal, &events_of_search());
    let story = "\
evolve 0.1.0 · session s-1 · search 1 · population · agent claude · 2 at once · seed 7
fitness: ./bench.sh (higher is better)
protections: no sandbox: the agent may write wherever you may
baseline · score 2
attempt 1 · mutation of the baseline · lens caching
attempt 2 · crossover of 1 and the baseline · once more
attempt 1 · accepted, the best so far · score 2.5, +0.5 (+25.0 %) · keep what was computed
attempt 2 · invalid: its last line is no number: \"nan\"
generation 1 · best 2.5, mean 2.5, 1 of 2 valid and new · the best moved by +0.5
";
    assert_eq!(out, story);
    assert_eq!(err, "");
    let (out, _) = told(Detail::Ended, &events_of_search());
    assert!(!out.contains("attempt 1 · mutation"), "{out}");
    let (out, err) = told(Detail::Quiet, &events_of_search());
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
}

#[test]
fn a_search_in_another_environment_is_an_error_that_even_the_quiet_hear_of() {
    let mut events = events_of_search();
    if let Some(Event::SearchEnded { ending, reason, .. }) = events.last_mut() {
        *ending = "environment-changed";
        *reason = "the environment changed".to_owned();
    }
    let (_, err) = told(Detail::Quiet, &events);
    assert_eq!(err, "error: the environment changed\n");
}

#[test]
fn what_evolve_committed_for_the_agent_is_not_counted_as_the_agents() {
    let told = |commits, has_leftovers| {
        let event = Event::AgentFinished {
            status: "done".to_owned(),
            duration_s: 2.0,
            commits: Some(commits),
            has_leftovers,
            files: Some(4),
            turns: None,
            tokens: None,
            cost_usd: None,
        };
        words::agent_line(&event)
    };
    assert_eq!(told(0, false), "done after 2.0 s: 0 commits, 4 files");
    assert_eq!(told(2, false), "done after 2.0 s: 2 commits, 4 files");
    assert_eq!(
        told(1, true),
        "done after 2.0 s: 4 files, committed by evolve"
    );
    assert_eq!(
        told(3, true),
        "done after 2.0 s: 2 commits and one by evolve of what was left, 4 files"
    );
}

#[test]
fn a_long_measurement_without_a_board_says_now_and_then_how_far_it_has_come() {
    let ended = |id: &str, duration_s, result| {
        let measurement = Measurement {
            duration_s,
            ..samples::measurement(id, result)
        };
        Event::CheckFinished { measurement }
    };
    let all = |purpose| {
        [
            Event::MeasureStarted {
                checks: 5,
                longest_id: 0,
                purpose,
            },
            ended("a", 0.2, CheckResult::Pass),
            ended("b", 16.0, CheckResult::Fail),
            ended("c", 9.0, CheckResult::Pass),
            ended("d", 9.0, CheckResult::Pass),
            ended("e", 60.0, CheckResult::Pass),
        ]
    };
    let (out, err) = told(Detail::Normal, &all(EACH_TOLD));
    assert_eq!(out, "");
    assert_eq!(
        err,
        "2 of 5 checks done, 1 failing\n4 of 5 checks done, 1 failing\n"
    );
    assert_eq!(told(Detail::Normal, &all("before")), Default::default());
    assert_eq!(told(Detail::Results, &all(EACH_TOLD)), Default::default());
}

#[test]
fn a_goal_that_is_told_as_its_check_ends_says_the_same_as_in_the_table_in_the_same_order() {
    let number = Measurement {
        value: Some(79.5),
        threshold: Some(80.0),
        reason: Some("79.5 is less than 80".to_owned()),
        ..samples::measurement("coverage", CheckResult::Fail)
    };
    let goals = vec![number, samples::measurement("ok", CheckResult::Pass)];
    let table = tables::goals_table(&samples::snapshot(goals.clone()), None);
    let table = anstream::adapter::strip_str(&table).to_string();
    let measuring = Event::MeasureStarted {
        checks: 2,
        longest_id: 8,
        purpose: EACH_TOLD,
    };
    let ended = goals
        .into_iter()
        .map(|measurement| Event::CheckFinished { measurement });
    let events: Vec<Event> = [measuring].into_iter().chain(ended).collect();
    let words = |page: &str| -> Vec<Vec<String>> {
        let lines = page.lines().filter(|line| !line.starts_with("running "));
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        lines.map(words).collect()
    };
    for detail in [Detail::Ended, Detail::Verbose] {
        let (out, _) = told(detail, &events);
        assert_eq!(words(&out), words(&table), "{detail:?}");
        assert!(out.contains("FAIL  coverage  0.3 s    79.5 vs 80"), "{out}");
        assert!(out.contains("pass  ok        0.3 s\n"), "{out}");
    }
}
