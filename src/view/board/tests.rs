use super::*;
use crate::model::search::view::Limit;
use crate::view::samples;

const WIDE: Size = Size {
    lines: 24,
    columns: 100,
};

fn bare(lines: &[String]) -> Vec<String> {
    let bare = |line: &String| anstream::adapter::strip_str(line).to_string();
    lines.iter().map(bare).collect()
}

/// A board after these events, each a second after the one before; and the last one's time.
fn after(events: &[Event]) -> (Board, Instant) {
    let mut now = Instant::now();
    let mut board = Board::new(now);
    for event in events {
        now += Duration::from_secs(1);
        board.take(event, now);
    }
    (board, now)
}

fn started(goal_id: &str, expected_s: Option<f64>) -> Event {
    let goal_id = goal_id.to_owned();
    Event::CheckStarted {
        goal_id,
        expected_s,
    }
}

#[test]
fn every_frame_fits_on_every_screen() {
    let mut events = samples::events();
    let at = events.len() / 2;
    let crowd = (0..40).map(|index| started(&format!("目標-{index}"), Some(70.0)));
    let measuring = Event::MeasureStarted {
        checks: 40,
        longest_id: 0,
        purpose: "after",
    };
    events.splice(at..at, [measuring].into_iter().chain(crowd));
    let mut now = Instant::now();
    let mut board = Board::new(now);
    for event in &events {
        now += Duration::from_secs(61);
        board.take(event, now);
        for (lines, columns) in [(0, 0), (1, 1), (2, 10), (3, 40), (8, 80), (50, 300)] {
            let frame = bare(&board.lines(now, Size { lines, columns }));
            assert!(frame.len() <= lines.saturating_sub(1), "{frame:?}");
            assert!(frame.len() <= MOST_LINES, "{frame:?}");
            let fits = |line: &String| width(line) < columns.max(2) && !line.contains('\n');
            assert!(frame.iter().all(fits), "{columns}: {frame:?}");
        }
    }
}

#[test]
fn checks_are_shown_with_how_long_they_run_and_are_expected_to() {
    let (board, now) = after(&[
        Event::CycleStarted {
            cycle: 3,
            start: String::new(),
        },
        Event::MeasureStarted {
            checks: 4,
            longest_id: 0,
            purpose: "before",
        },
        started("docs", Some(70.0)),
        started("tests-pass", None),
        started("lint", Some(0.2)),
        Event::CheckFinished {
            measurement: samples::measurement("lint", CheckResult::Fail),
        },
    ]);
    assert_eq!(
        bare(&board.lines(now + Duration::from_secs(10), WIDE)),
        [
            "────────────────────────",
            "cycle 3",
            "  measuring (before) ━╌╌╌ 1 of 4 checks · 1 failing",
            "    docs        13 s of about 1m 10s",
            "    tests-pass  12 s",
            "  16 s",
        ]
    );
    assert_eq!(board.share(), Share::Percent(25));
}

#[test]
fn on_a_narrow_screen_the_bar_gives_way_to_the_counts() {
    let at = |purpose, columns| {
        let (board, now) = after(&[
            Event::MeasureStarted {
                checks: 30,
                longest_id: 0,
                purpose,
            },
            started("lint", None),
            Event::CheckFinished {
                measurement: samples::measurement("lint", CheckResult::Fail),
            },
        ]);
        bare(&board.lines(now, Size { lines: 24, columns }))[1].clone()
    };
    let counts = "1 of 30 checks · 1 failing";
    let bar = |wide: usize| "╌".repeat(wide);
    assert_eq!(
        at("measure", 80),
        format!("  measuring {} {counts}", bar(20))
    );
    assert_eq!(
        at("measure", 46),
        format!("  measuring {} {counts}", bar(6))
    );
    assert_eq!(at("measure", 40), format!("  measuring {counts}"));
    assert_eq!(
        at("baseline", 50),
        format!("  measuring (baseline) {counts}")
    );
}

#[test]
fn the_longest_id_leaves_room_for_the_times() {
    let id = "a-goal-of-so-many-words-".repeat(4);
    let measuring = Event::MeasureStarted {
        checks: 1,
        longest_id: 0,
        purpose: "measure",
    };
    let (board, now) = after(&[measuring, started(&id, Some(70.0))]);
    let narrow = Size {
        lines: 24,
        columns: 60,
    };
    let frame = bare(&board.lines(now + Duration::from_secs(3), narrow));
    assert!(frame[2].ends_with("…  3 s of about 1m 10s"), "{frame:?}");
}

#[test]
fn of_an_agent_is_shown_what_it_did_last_and_what_is_used_of_the_limits() {
    let mut events = samples::events();
    let at = events
        .iter()
        .position(|event| matches!(event, Event::AgentActivity { .. }));
    events.truncate(at.unwrap() + 1);
    let (board, now) = after(&events);
    let frame = bare(&board.lines(now + Duration::from_secs(65), WIDE));
    assert_eq!(
        frame,
        [
            "────────────────────────",
            "cycle 3 · tests-pass: heaviest failing goal (weight 9)",
            "  agent claude · 1m 06s · 12 turns · 4 files · 45,120 tokens, cost unknown",
            "    Edit src/lib.rs",
            "  1m 17s of 2h 00m · cycle 1 of 5 · cost unknown, limit $2.50 · 45,120 of 500,000 tokens",
        ]
    );
    assert_eq!(board.share(), Share::Unknown);
    let ended = samples::events()
        .iter()
        .position(|event| matches!(event, Event::AgentFinished { .. }));
    let (board, now) = after(&samples::events()[..=ended.unwrap()]);
    let frame = bare(&board.lines(now, WIDE));
    assert!(frame[1].starts_with("  13 s of 2h 00m"), "{frame:?}");
}

#[test]
fn however_long_the_name_of_an_agent_is_its_figures_and_the_limits_are_seen_whole() {
    let mut events = samples::events();
    let at = events
        .iter()
        .position(|event| matches!(event, Event::AgentActivity { .. }));
    events.truncate(at.unwrap() + 1);
    for event in &mut events {
        if let Event::AgentStarted { name, .. } = event {
            *name =
                "sh /home/me/scripts/agent.sh --model some-long-model-name --flag yes".to_owned();
        }
    }
    let (board, now) = after(&events);
    let lines = |columns: usize| {
        let size = Size { lines: 24, columns };
        bare(&board.lines(now + Duration::from_secs(65), size))
    };
    assert_eq!(
        lines(80)[2..],
        [
            "  agent sh /home/m… · 1m 06s · 12 turns · 4 files · 45,120 tokens, cost unknown",
            "    Edit src/lib.rs",
            "  1m 17s of 2h 00m · cycle 1 of 5 · cost unknown, limit $2.50",
            "  45,120 of 500,000 tokens",
        ]
    );
    assert_eq!(
        lines(40)[2..],
        [
            "  agent sh /home/… · 1m 06s · 12 turns",
            "    Edit src/lib.rs",
            "  1m 17s of 2h 00m · cycle 1 of 5",
            "  cost unknown, limit $2.50",
        ]
    );
}

#[test]
fn a_heading_that_a_note_stands_below_is_not_drawn_again() {
    let note = || Event::note("Ctrl-C again ends it at once");
    let mut events = vec![note()];
    events.extend(samples::events());
    let at = events
        .iter()
        .position(|event| matches!(event, Event::AgentActivity { .. }));
    events.truncate(at.unwrap() + 1);
    let heading = |events: &[Event]| {
        let (board, now) = after(events);
        let frame = bare(&board.lines(now, WIDE));
        frame.iter().any(|line| line.starts_with("cycle 3 · "))
    };
    assert!(heading(&events));
    events.push(note());
    assert!(!heading(&events));
}

#[test]
fn a_wait_counts_down_and_says_what_ends_it() {
    let (board, now) = after(&[Event::Waiting {
        seconds: 90.0,
        reason: "the agent's limit; a STOP file ends the wait".to_owned(),
    }]);
    let at = |seconds| bare(&board.lines(now + Duration::from_secs(seconds), WIDE))[1].clone();
    let reason = "the agent's limit; a STOP file ends the wait";
    assert_eq!(at(0), format!("  waiting 1m 30s more: {reason}"));
    assert_eq!(at(85), format!("  waiting 5 s more: {reason}"));
    assert_eq!(at(200), format!("  waiting 0 s more: {reason}"));
}

#[test]
fn what_an_agent_says_is_clean_and_holds_no_secret() {
    let mut events = samples::events();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    for event in &mut events {
        if let Event::AgentActivity { last, .. } = event {
            *last = Some(format!("\u{1b}[2J uses {secret}\nand more"));
        }
    }
    let at = events
        .iter()
        .position(|event| matches!(event, Event::AgentActivity { .. }));
    let (board, now) = after(&events[..=at.unwrap()]);
    let frame = board.lines(now, WIDE).join("\n");
    assert!(!frame.contains(&secret), "{frame}");
    assert!(!frame.contains("\u{1b}[2J"), "{frame}");
    assert!(frame.contains("and more"), "{frame}");
}

#[test]
fn a_search_is_shown_by_lane_with_its_best_and_what_is_used_of_its_limits() {
    let events = samples::events_of_search();
    let at = |what: fn(&Event) -> bool| events.iter().position(what).unwrap() + 1;
    let (board, now) = after(&events[..at(|event| matches!(event, Event::AgentActivity { .. }))]);
    let frame = bare(&board.lines(now, WIDE));
    assert_eq!(
        frame,
        [
            "────────────────────────",
            "search 1 · population · best: the baseline, 2",
            "  attempt 1 · mutation of the baseline · lens caching  2 s · 3 turns",
            "    Edit src/lib.rs",
            "  attempt 2 · crossover of 1 and the baseline · once more  1 s",
            "  7 s · attempt 2 of 2 · 1 of 3 without a new best · $0.20 of $2.00",
        ]
    );
    assert_eq!(board.share(), Share::Unknown);
    let (board, now) = after(&events);
    let frame = bare(&board.lines(now, WIDE));
    assert_eq!(
        frame[1..3],
        [
            "search 1 · population · best: attempt 1, 2.5 (+25.0 %)",
            "  2 attempts: 1 accepted, 1 invalid",
        ]
    );
    let mut with_generations = events.clone();
    for event in &mut with_generations {
        if let Event::SearchStarted { overview, .. } = event {
            overview.limits.insert(
                1,
                Limit {
                    name: "generations",
                    used: Some(1.0),
                    of: 5.0,
                },
            );
        }
    }
    let is_ended = |event: &Event| matches!(event, Event::GenerationEnded { .. });
    let ended = with_generations.iter().position(is_ended).unwrap();
    for (until, now_at) in [(ended, 1), (ended + 1, 2)] {
        let (board, now) = after(&with_generations[..until]);
        let frame = bare(&board.lines(now, WIDE)).join("\n");
        let told = format!(" of 2 · generation {now_at} of 5 · ");
        assert!(frame.contains(&told), "{frame}");
    }
    let mut pruned = events;
    pruned.push(Event::AttemptEnded {
        attempt: Box::new(samples::rows()[2].clone()),
        best: 0,
        best_score: Some(2.0),
        baseline: Some(2.0),
    });
    let (board, now) = after(&pruned);
    let frame = bare(&board.lines(now, WIDE));
    assert_eq!(frame[1], "search 1 · population · best: the baseline, 2");
}

#[test]
fn every_frame_of_a_search_fits_on_every_screen() {
    let mut events = samples::events_of_search();
    let crowd = (3..40).map(|attempt| Event::AttemptStarted {
        attempt,
        operator: "mutation",
        parents: vec![attempt - 1],
        lens: Some("目標".repeat(30)),
        again: false,
        lane: attempt as usize,
    });
    events.splice(6..6, crowd);
    let mut now = Instant::now();
    let mut board = Board::new(now);
    for event in &events {
        now += Duration::from_secs(61);
        board.take(event, now);
        for (lines, columns) in [(0, 0), (1, 1), (2, 10), (3, 40), (8, 80), (50, 300)] {
            let frame = bare(&board.lines(now, Size { lines, columns }));
            assert!(frame.len() <= lines.saturating_sub(1), "{frame:?}");
            assert!(frame.len() <= MOST_LINES, "{frame:?}");
            let fits = |line: &String| width(line) < columns.max(2) && !line.contains('\n');
            assert!(frame.iter().all(fits), "{columns}: {frame:?}");
        }
    }
}

#[test]
fn before_the_first_cycle_the_limit_of_cycles_is_told_and_no_cycle_0() {
    let started = samples::events()
        .into_iter()
        .find(|event| matches!(event, Event::SessionStarted { .. }));
    let (board, now) = after(&[started.unwrap()]);
    let frame = bare(&board.lines(now, WIDE)).join("\n");
    assert!(frame.contains(" · at most 5 cycles · "), "{frame}");
}
