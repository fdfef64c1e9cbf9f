//! Times, sessions, agents and measurements that contradict each other.

use super::*;

#[test]
fn times_sessions_agents_and_measurements_that_contradict_each_other_are_named() {
    let forgeries: [Forgery; 13] = [
        (
            |it| it.record.timestamp = "2001-01-01T00:00:00Z".to_owned(),
            "timestamp is 2001-01-01T00:00:00Z in the record, its session began at 2026-02-03T04:05:06Z and its commit was made at 2026-02-03T04:05:25Z",
        ),
        (
            |it| it.record.timestamp = "2026-02-05T04:05:20Z".to_owned(),
            "timestamp is 2026-02-05T04:05:20Z in the record, its session began at 2026-02-03T04:05:06Z and its commit was made at 2026-02-03T04:05:25Z",
        ),
        (
            |it| it.record.timestamp = "yesterday".to_owned(),
            "timestamp is yesterday, which is no time",
        ),
        (
            |it| it.after.as_mut().unwrap().timestamp = "noon".to_owned(),
            "timestamp is noon in the second snapshot, which is no time",
        ),
        (
            |it| it.before.timestamp = "2001-01-01T00:00:00Z".to_owned(),
            "timestamp is 2001-01-01T00:00:00Z in the first snapshot, its session began at 2026-02-03T04:05:06Z and the record was made at 2026-02-03T04:05:20Z",
        ),
        (
            |it| it.record.session = Some("mine".to_owned()),
            "session is mine, which no session is called",
        ),
        (
            |it| it.summary = Some("20260203T040507Z-1"),
            "session is \"20260203T040506Z-7188\" in the record and \"20260203T040507Z-1\" in the summary that came with it",
        ),
        (|it| it.record.agent = None, "agent is missing"),
        (
            |it| it.after.as_mut().unwrap().goals[1].exit = Some(1),
            "b of the second snapshot is pass with exit 1",
        ),
        (
            |it| it.before.taken_from = Some("fitness-9.json".to_owned()),
            "the first snapshot says that it was taken over from fitness-9.json, which is no second snapshot of before",
        ),
        (
            |it| it.before.taken_from = Some("fitness-9-post.json".to_owned()),
            "the first snapshot says that it was taken over from fitness-9-post.json, which is no second snapshot of before",
        ),
        (
            |it| it.after.as_mut().unwrap().taken_from = Some("fitness-6-post.json".to_owned()),
            "the second snapshot says that it was taken over from fitness-6-post.json, which is no second snapshot of before",
        ),
        (
            |it| {
                it.origin = Some(it.before.clone());
                it.before.taken_from = Some("fitness-6-post.json".to_owned());
                it.before.timestamp = "2026-02-03T04:05:09Z".to_owned();
            },
            "the first snapshot says that it was taken over from fitness-6-post.json, and differs in timestamp",
        ),
    ];
    are_named(&forgeries);
    let taken_over = Case::with(|it| {
        it.before.timestamp = "2025-12-24T00:00:00Z".to_owned();
        it.origin = Some(it.before.clone());
        it.before.taken_from = Some("fitness-0-baseline.json".to_owned());
        it.summary = Some("20260203T040506Z-7188");
    });
    assert_eq!(taken_over.told(), Vec::<String>::new());
    let clocks = Case::with(|it| {
        it.before.timestamp = "2026-02-02T05:10:00Z".to_owned();
        it.record.timestamp = "2026-02-04T03:00:00Z".to_owned();
    });
    let what = "clocks were set by 23 hours";
    agree(&[(what, clocks)]);
}
