//! What stands below `.agents`: history and its segments, snapshots, queue, lessons, retries, the date of the last sweep;
//! and the journal. Whatever is not understood is passed over or kept, never a panic, and never shown as it is.

use chrono::{DateTime, Utc};
use evolve::effects::journal::Journal;
use evolve::model::goals::{Goals, read_goals};
use evolve::model::lesson::{self, Lesson};
use evolve::model::limit;
use evolve::model::record::{History, Record, Recorded, TakenBack, Tally};
use evolve::model::select::{Seen, select};
use evolve::model::snapshot::{self, Snapshot};
use evolve::model::strikes::{self, Retry};
use evolve::model::summary::{self, Summary};
use evolve::model::sweep;
use evolve::model::trajectory::Trajectory;
use evolve::model::usage::{Spent, Usage};
use evolve::model::work::{Counts, Queue};
use evolve::model::{brief, exact, ledger, mask};
use evolve::view::{cycle, history, tables};
use serde_json::Value;

use crate::feed::{Format, feed};
use crate::nasty::{self, assert_clean, assert_clean_page};

const RECORD: &[u8] = include_bytes!("../formats/v1/record.jsonl");
const SNAPSHOT: &[u8] = include_bytes!("../formats/v1/snapshot.json");
const WORK: &[u8] = include_bytes!("../formats/v1/work.jsonl");

/// What stands in every format of JSON, besides the words of its own.
const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "false",
    "\"\"",
    "{}",
    "[]",
    "\n",
    "\\n",
    "\\\"",
    "\\u202e",
    "\\ud83d\\ude00",
    "1e400",
    "-0.0",
    "18446744073709551615",
    "4294967296",
    "\"format\":2,",
    "\"format\":-1,",
    "\"mine\":{\"kept\":[1,2.5,\"x\"]},",
    "\"cycle\":18446744073709551615,",
    "\"cycle\":0,",
    "\"cycle\":null,",
    "<<<<<<< HEAD\n",
    "=======\n",
    ">>>>>>> x\n",
];

fn jsonl(name: &'static str, sample: &[u8], words: &'static [&'static str]) -> Format {
    let mut samples = vec![sample.to_vec(), [b"\xef\xbb\xbf", sample].concat()];
    let lines = sample.split_inclusive(|byte| *byte == b'\n');
    samples.extend(lines.map(<[u8]>::to_vec));
    samples.push(
        sample
            .iter()
            .flat_map(|byte| match byte {
                b'\n' => b"\r\n".to_vec(),
                byte => vec![*byte],
            })
            .collect(),
    );
    samples.extend(nasty::structures());
    let words = [JSON, words].concat();
    Format {
        name,
        samples,
        words,
    }
}

fn goals() -> Goals {
    let text = include_bytes!("../formats/v1/goals.yaml");
    read_goals("GOALS.yaml", text)
        .expect("the frozen sample is valid")
        .0
}

#[test]
fn history_is_read_as_far_as_possible_and_used() {
    const WORDS: &[&str] = &[
        "\"result\":\"improved\"",
        "\"result\":\"idle\"",
        "\"result\":\"regressed\"",
        "\"result\":\"failed\"",
        "\"reason\":\"declined: x\"",
        "\"goal_id\":null",
        "\"goal_id\":\"next-work:x\"",
        "\"goals_passing\":18446744073709551615",
        "\"score_after\":1e308",
        "\"agent\":null",
        "\"tokens\":18446744073709551615",
        "\"cost_usd\":1e308",
        "\"cost_usd\":-5",
        "\"notes\":[\"\\u001b[2J\"]",
        "\"newly_failing\":[\"a\",\"a\"]",
        "\"timestamp\":\"x\"",
        "\"commit_sha\":\"\"",
        "\"format\":2",
    ];
    let goals = goals();
    let snapshot: Snapshot = serde_json::from_slice(SNAPSHOT).expect("a sample");
    feed(jsonl("history", RECORD, WORDS), move |input| {
        let text = exact::decode(input);
        assert_eq!(exact::encode(&text), input);
        let history = History::parse(&text);
        let lines = input.iter().filter(|byte| **byte == b'\n').count() + 1;
        assert!(history.records.len() <= lines);
        // Fifty lines by name, the others in one more, and the cycles that are there twice.
        assert!(history.problems.len() <= 52);
        history
            .problems
            .iter()
            .for_each(|problem| assert_clean(problem));
        let _ = (
            history.next_cycle(),
            history.newest(),
            history.idle_streak("x"),
        );
        for record in &history.records {
            assert_same_after_writing(record);
            let page = cycle::Page {
                record,
                taken_back: None,
                before: Some(&snapshot),
                after: Some(&snapshot),
                patch: None,
                brief: None,
                log: None,
            };
            assert_clean_page(&page.text(None));
            assert_clean(&record.message());
        }
        assert_clean_page(&history::history_page(
            &history.records,
            &TakenBack::of(&history.records),
            &[],
            None,
        ));
        assert_counted(&history, &goals, &snapshot);
    });
}

#[track_caller]
fn assert_same_after_writing(record: &Record) {
    let written = serde_json::to_string(record).expect("a record is JSON");
    let read: Record = serde_json::from_str(&written).expect(&written);
    assert_eq!(&read, record);
}

/// Everything that is computed of a history takes any history.
fn assert_counted(history: &History, goals: &Goals, snapshot: &Snapshot) {
    let records = &history.records;
    for goal in &goals.goals {
        let _ = strikes::standing(goal, records, &[]);
    }
    let _ = strikes::woken(
        &goals.goals,
        history,
        &[],
        "content",
        "2026-01-01T00:00:00Z",
    );
    let queue = Queue::default();
    let seen = Seen {
        goals,
        before: snapshot,
        earlier: None,
        records,
        retries: &[],
        queue: &queue,
        repository: "calc",
    };
    let _ = select(&seen);
    let mut spent = Spent::default();
    for agent in records.iter().filter_map(|record| record.agent.as_ref()) {
        spent.add(Usage {
            tokens: agent.tokens,
            cost_usd: agent.cost_usd,
        });
    }
    let _ = (
        limit::used_up(&goals.settings.limits, &spent),
        limit::left(&goals.settings.limits, &spent),
    );
    let recorded: Recorded = records.iter().cloned().collect();
    let trajectory = Trajectory {
        baseline: Some(snapshot),
        start: Some(snapshot),
        now: Some(snapshot),
        tally: recorded.tally(),
    };
    assert_clean(&trajectory.one_line());
    assert_clean(&trajectory.to_markdown());
    let page = Summary {
        is_asking: false,
        session: "s",
        started: "t",
        ended: None,
        trajectory: &trajectory.one_line(),
        recorded: &recorded,
        stuck: &[],
        queue: Counts::default(),
        spent,
    };
    assert_clean(&page.to_markdown());
}

#[test]
fn snapshots_are_read_or_passed_over() {
    const WORDS: &[&str] = &[
        "\"result\":\"skip\"",
        "\"weight\":255",
        "\"weight\":-1",
        "\"weight\":0",
        "\"value\":1e308",
        "\"duration_s\":-1",
        "\"duration_s\":1e300",
        "\"output_tail\":\"\\u001b]0;x\\u0007\"",
        "\"goals\":[]",
        "\"score\":-0.0",
        "\"attempts\":4294967295",
        "\"id\":\"\\u001b[2J\"",
        "\"threshold\":null",
    ];
    let goals = goals();
    feed(jsonl("snapshots", SNAPSHOT, WORDS), move |input| {
        let Ok(mut snapshot) = serde_json::from_slice::<Snapshot>(input) else {
            return;
        };
        let written = serde_json::to_string(&snapshot).expect("a snapshot is JSON");
        assert_eq!(
            serde_json::from_str::<Snapshot>(&written).expect(&written),
            snapshot
        );
        for width in [None, Some(60)] {
            assert_clean_page(&tables::measure_table(
                &snapshot,
                snapshot.goals.len(),
                width,
            ));
        }
        assert_clean(&summary::baseline_report(&snapshot));
        let other = snapshot.clone();
        let _ = (
            snapshot::newly_failing(&other, &snapshot),
            snapshot::newly_passing(&other, &snapshot),
        );
        let trajectory = Trajectory {
            baseline: Some(&other),
            start: None,
            now: Some(&snapshot),
            tally: Tally::default(),
        };
        assert_clean(&trajectory.to_markdown());
        snapshot.tolerate(&other, &goals);
        snapshot.recount();
        assert!(
            (0.0..=100.0).contains(&snapshot.score),
            "{}",
            snapshot.score
        );
    });
}

#[test]
fn work_keeps_every_line_and_every_key() {
    const WORDS: &[&str] = &[
        "\"items\":[",
        "\"items\":5",
        "\"title\":\"\"",
        "\"title\":7",
        "\"state\":\"in_progress\"",
        "\"state\":\"odd\"",
        "\"consumed\":\"True\"",
        "\"consumed\":true",
        "\"failures\":18446744073709551615",
        "\"failures\":-1",
        "\"target_repo\":\"*\"",
        "\"severity\":\"CRITICAL\"",
        "\"claimed_by\":\"x\"",
        "\"extra\":{\"deep\":[null]}",
        "\"findings\":[\"a\",5]",
    ];
    feed(jsonl("work", WORK, WORDS), |input| {
        let text = exact::decode(input);
        if ledger::refusal(ledger::QUEUE, &text).is_some() {
            return;
        }
        let queue = Queue::parse(&text);
        assert_eq!(
            exact::encode(&queue.to_text()),
            input,
            "what was not touched is written back"
        );
        queue
            .problems()
            .iter()
            .for_each(|problem| assert_clean(problem));
        let _ = queue.counts("calc", &TakenBack::default());
        assert_clean_page(&tables::work_table(
            &queue.open("calc"),
            &queue.set_aside("calc"),
            Some(60),
        ));
        let mut known = queue.clone();
        assert_eq!(known.merge_from(&text), 0, "nothing was added");
        assert_edits_keep_the_rest(&queue);
        assert_taken_over(&text);
    });
}

/// Claiming, failing and consuming an item leaves every key that is none of theirs as it was.
fn assert_edits_keep_the_rest(queue: &Queue) {
    const OWN: &[&str] = &[
        "state",
        "claimed_by",
        "claimed_at",
        "failed_at",
        "failures",
        "consumed",
        "consumed_by",
        "consumed_at",
    ];
    let Some(item) = queue.next("calc") else {
        return;
    };
    let mut edited = queue.clone();
    edited.claim(item.key, "session", "2026-01-01T00:00:00Z");
    edited.fail(item.key, "2026-01-01T00:00:00Z");
    edited.consume(item.key, "evolve cycle 1", "2026-01-01T00:00:00Z");
    let (before, after) = (queue.to_text(), edited.to_text());
    let line = |text: &str| -> Value {
        let line = text
            .split_inclusive('\n')
            .nth(item.key.line)
            .expect("the line is there");
        let is_blank = |c: char| c.is_ascii_whitespace() || c == '\u{feff}';
        serde_json::from_str(line.trim_matches(is_blank)).expect("it was understood")
    };
    let foreign = |mut value: Value| {
        for key in OWN {
            value.as_object_mut().map(|map| map.shift_remove(*key));
            let items = value.get_mut("items").and_then(Value::as_array_mut);
            for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
                item.shift_remove(*key);
            }
        }
        value
    };
    assert_eq!(foreign(line(&before)), foreign(line(&after)));
    assert_eq!(before.lines().count(), after.lines().count());
    let again = Queue::parse(&after);
    assert!(
        again
            .items()
            .iter()
            .any(|other| other.key == item.key && other.is_consumed())
    );
}

/// What an agent leaves as found work is bounded, clean and masked in the queue.
fn assert_taken_over(text: &str) {
    let mut queue = Queue::default();
    let (added, problems) = queue.take_found(text, "evolve cycle 1", "2026-01-01T00:00:00Z", 10);
    assert!(added <= 10 && problems.len() <= 12, "{problems:?}");
    problems.iter().for_each(|problem| assert_clean(problem));
    let written = queue.to_text();
    assert_eq!(mask::secrets(&written), written, "a secret is in the queue");
    for item in queue.items() {
        assert_clean(&item.title);
        assert_clean(item.description.as_deref().unwrap_or_default());
        assert_clean(item.evidence.as_deref().unwrap_or_default());
        assert!(item.title.chars().count() <= 200);
    }
}

#[test]
fn lessons_are_read_and_taken_in_clean() {
    const WORDS: &[&str] = &[
        "\"text\":\"",
        "\"lesson\":\"",
        "\"lesson\":5",
        "\"goal_id\":\"open-ends\"",
        "- ",
        "* ",
    ];
    let sample = include_bytes!("../formats/v1/lesson.jsonl");
    let goals = goals();
    let snapshot: Snapshot = serde_json::from_slice(SNAPSHOT).expect("a sample");
    let mut format = jsonl("lessons", sample, WORDS);
    format
        .samples
        .push(b"a plain lesson\n{\"text\": \"another\"}\n\"a third\"\n".to_vec());
    feed(format, move |input| {
        let text = String::from_utf8_lossy(input);
        let known = lesson::parse(&text);
        let taken = lesson::taken_in(&text, &known, "open-ends", 1, "t");
        assert!(taken.len() <= 20);
        for lesson in &taken {
            assert_clean(&lesson.text);
            assert_eq!(
                mask::secrets(&lesson.text),
                lesson.text,
                "a secret is in a lesson"
            );
            assert!(!lesson.text.is_empty() && !lesson.text.contains('\n'));
        }
        let all: Vec<Lesson> = known.into_iter().chain(taken).collect();
        let brief = brief_with(&all, &goals, &snapshot);
        assert_clean(&brief);
    });
}

fn brief_with(lessons: &[Lesson], goals: &Goals, before: &Snapshot) -> String {
    let task = evolve::model::select::Task::Goal("open-ends".to_owned());
    let material = brief::Material {
        task: &task,
        goals,
        goals_file: "GOALS.yaml",
        before,
        records: &[],
        broken: &[],
        lessons,
        frozen: &[],
        test_first: false,
        context: "",
    };
    let outbox = brief::Outbox {
        give_up: "/give-up",
        next_work: "/next-work",
        lessons: "/lessons",
    };
    brief::write(&material, &outbox)
}

#[test]
fn retries_are_read_line_by_line() {
    const WORDS: &[&str] = &[
        "\"after_cycle\":18446744073709551615",
        "\"reason\":\"x\"",
        "\"goal_id\":\"tests-pass\"",
    ];
    let sample = include_bytes!("../formats/v1/retry.jsonl");
    let history = History::parse(&String::from_utf8_lossy(RECORD));
    let goals = goals();
    feed(jsonl("retries", sample, WORDS), move |input| {
        let text = exact::decode(input);
        let read = |line: &str| serde_json::from_str::<Retry>(line).ok();
        let retries: Vec<Retry> = text.lines().filter_map(read).collect();
        for goal in &goals.goals {
            let _ = strikes::standing(goal, &history.records, &retries);
        }
        let _ = strikes::woken(&goals.goals, &history, &retries, "content", "t");
        for retry in &retries {
            let written = serde_json::to_string(retry).expect("a retry is JSON");
            assert_eq!(read(&written).as_ref(), Some(retry));
        }
    });
}

#[test]
fn journal_is_read_whole_or_not_at_all() {
    const WORDS: &[&str] = &[
        "\"phase\":\"agent\"",
        "\"phase\":\"undoing\"",
        "\"phase\":\"recording\"",
        "\"phase\":\"odd\"",
        "\"start\":null",
        "\"plan\":{",
        "\"ledger\":{\"../../x\":\"1\"}",
        "\"untracked\":{",
        "\"since\":-1",
    ];
    let sample = include_bytes!("../formats/v1/journal.json");
    feed(jsonl("journal", sample, WORDS), |input| {
        let Ok(journal) = serde_json::from_slice::<Journal>(input) else {
            return;
        };
        let written = serde_json::to_string(&journal).expect("a journal is JSON");
        assert_eq!(
            serde_json::from_str::<Journal>(&written).expect(&written),
            journal
        );
        let _ = journal.is_unsettled();
    });
}

#[test]
fn last_sweep_date_is_understood_or_the_sweep_is_due() {
    let now: DateTime<Utc> = "2026-02-03T04:05:06Z".parse().expect("a time");
    let samples = [
        "2026-02-01",
        "2026-02-01T00:00:00Z",
        "{\"format\":1,\"date\":\"2026-02-01\"}",
        "+262143-01-01",
        "-262143-12-31",
        "9999-99-99",
    ];
    let mut samples: Vec<Vec<u8>> = samples.map(|text| text.as_bytes().to_vec()).to_vec();
    samples.extend(nasty::structures());
    const WORDS: &[&str] = &[
        "2026-",
        "T",
        "Z",
        "-",
        "+00:00",
        "0000-00-00",
        "24:00:00",
        "W01",
    ];
    feed(
        Format {
            name: "last_sweep",
            samples,
            words: WORDS.to_vec(),
        },
        move |input| {
            let text = String::from_utf8_lossy(input);
            for tried in [
                None,
                Some(now),
                Some(DateTime::<Utc>::MIN_UTC),
                Some(DateTime::<Utc>::MAX_UTC),
            ] {
                let _ = sweep::is_due(&text, tried, now);
            }
        },
    );
}
