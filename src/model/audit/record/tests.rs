use super::*;
use crate::model::audit::{Kept, Recorder};
use crate::model::goals;
use crate::model::record::AgentReport;
use crate::model::snapshot::{CheckResult, Measurement};

mod commits;
mod results;
mod snapshots;
mod times;

const GOALS: &str = "version: 1\ngoals:\n  - {id: a, description: d, check: test -f a, weight: 5}\n  - {id: b, description: d, check: test -f b, weight: 3}\n";

fn measured(id: &str, passes: bool, weight: u8) -> Measurement {
    Measurement {
        id: id.to_owned(),
        result: match passes {
            true => CheckResult::Pass,
            false => CheckResult::Fail,
        },
        weight,
        value: None,
        threshold: None,
        duration_s: 0.0,
        reason: None,
        exit: Some(i32::from(!passes)),
        attempts: 1,
        flaky: false,
        tolerated: false,
        output_tail: None,
    }
}

fn kept(content: &str) -> Kept {
    Kept {
        content: content.to_owned(),
        message: String::new(),
        is_followed: true,
    }
}

/// What can be seen of a snapshot.
type SnapshotSight = Sight<Result<Snapshot, String>>;

/// Everything that is held against each other, as its owner has it.
#[derive(Clone)]
struct Case {
    record: Record,
    before: Snapshot,
    after: Option<Snapshot>,
    /// What is seen in the place of either.
    instead: [Option<SnapshotSight>; 2],
    commit: Sight<Kept>,
    start: Sight<Kept>,
    goals: Option<Goals>,
    added: Option<usize>,
    differs_in: Vec<String>,
    is_recorded: bool,
    subject: Option<&'static str>,
    /// The message of which the commit that recorded it has its trailers.
    trailers: Option<&'static str>,
    summary: Option<&'static str>,
    origin: Option<Snapshot>,
}

impl Case {
    /// A cycle after which `a` passes, that failed before; `b` passes all the time.
    fn improved() -> Case {
        let goals = goals::read_goals("GOALS.yaml", GOALS.as_bytes()).unwrap().0;
        let snapshot = |a| {
            let goals_digest = goals.digest.clone();
            let measured = vec![measured("a", a, 5), measured("b", true, 3)];
            Snapshot::new(
                Some(7),
                "2026-02-03T04:05:10Z".into(),
                Some("start".into()),
                goals_digest,
                measured,
            )
        };
        let (before, after) = (snapshot(false), snapshot(true));
        let record = Record {
            format: FORMAT,
            cycle: 7,
            goal_id: Some("a".to_owned()),
            result: CycleResult::Improved,
            commit_sha: "kept".to_owned(),
            reverted_to: None,
            goals_passing: 2,
            goals_total: 2,
            goals_added: 0,
            timestamp: "2026-02-03T04:05:20Z".to_owned(),
            score_before: Some(before.score),
            score_after: Some(after.score),
            newly_failing: vec![],
            newly_passing: vec!["a".to_owned()],
            reason: None,
            definition: goals.find("a").map(Goal::definition),
            content: Some("new".to_owned()),
            session: Some("20260203T040506Z-7188".to_owned()),
            agent: Some(AgentReport {
                name: "agent".to_owned(),
                status: "done".to_owned(),
                exit: Some(0),
                duration_s: 1.0,
                tokens: None,
                cost_usd: None,
            }),
            notes: vec![],
        };
        Case {
            record,
            before,
            after: Some(after),
            instead: [None, None],
            commit: Sight::Seen(kept("new")),
            start: Sight::Seen(kept("old")),
            goals: Some(goals),
            added: Some(0),
            differs_in: vec![],
            is_recorded: true,
            subject: None,
            trailers: None,
            summary: None,
            origin: None,
        }
    }

    /// The same with something changed; counts and trailers go with it, as a careful forger has them.
    fn with(change: impl Fn(&mut Case)) -> Case {
        let mut case = Case::improved();
        change(&mut case);
        case.before.recount();
        if let Some(after) = &mut case.after {
            after.recount();
        }
        let last = case.after.as_ref().unwrap_or(&case.before);
        case.record.goals_passing = last.goals_passing;
        case.record.score_after = case.record.score_after.map(|_| last.score);
        case
    }

    /// What disagrees, a line each.
    fn told(&self) -> Vec<String> {
        self.found().into_iter().map(|one| one.what).collect()
    }

    fn found(&self) -> Vec<Disagreement> {
        let message = self.record.message();
        let trailers = Trailers::of(self.trailers.unwrap_or(&message));
        let recorder = Recorder {
            id: "recorder",
            subject: self.subject.unwrap_or(message.lines().next().unwrap()),
            trailers: &trailers,
            time: 1_770_091_525,
            session: self.summary,
        };
        let seen = |snapshot: Option<&Snapshot>| -> SnapshotSight {
            snapshot.map_or(Sight::Gone, |it| Sight::Seen(Ok(it.clone())))
        };
        let [first, second] = self.instead.clone();
        of_record(&Witness {
            record: &self.record,
            recorder: self.is_recorded.then_some(recorder),
            commit: self.commit.clone(),
            start: self.start.clone(),
            snapshots: [
                first.unwrap_or(seen(Some(&self.before))),
                second.unwrap_or(seen(self.after.as_ref())),
            ],
            goals: self.goals.as_ref().map_or(Sight::Gone, Sight::Seen),
            origin: self
                .origin
                .clone()
                .map_or(Sight::Unseen, |it| Sight::Seen(Ok(it))),
            added: self.added,
            differs_in: self.differs_in.clone(),
        })
    }

    fn unchanged(&mut self, passes: bool) {
        self.record.result = CycleResult::Unchanged;
        self.set("a", passes);
        self.record.newly_passing = match passes {
            true => vec!["a".to_owned()],
            false => vec![],
        };
    }

    fn set(&mut self, id: &str, passes: bool) {
        let after = self.after.as_mut().unwrap();
        let weight = after.find(id).unwrap().weight;
        after.replace(measured(id, passes, weight));
    }

    fn is_not_changed(&mut self) {
        self.commit = Sight::Seen(kept("old"));
        self.record.content = Some("old".to_owned());
    }
}

#[test]
fn what_the_writer_writes_agrees() {
    agree(&[
        ("improved", Case::improved()),
        ("still failing", Case::with(|it| it.unchanged(false))),
        (
            "passing without a change",
            Case::with(|it| {
                it.unchanged(true);
                it.is_not_changed();
                it.record.reason = Some("passes without a change".to_owned());
            }),
        ),
        (
            "mended by somebody before",
            Case::with(|it| it.record.newly_passing.push("b".to_owned())),
        ),
        (
            "regressed and undone",
            Case::with(|it| {
                it.set("b", false);
                it.is_not_changed();
                it.record.result = CycleResult::Regressed;
                it.record.newly_failing = vec!["b".to_owned()];
            }),
        ),
        (
            "interrupted before its second measurement",
            Case::with(|it| {
                it.after = None;
                it.is_not_changed();
                it.record.result = CycleResult::Interrupted;
                it.record.newly_passing.clear();
            }),
        ),
        (
            "interrupted with the commits of others",
            Case::with(|it| {
                it.record.result = CycleResult::Interrupted;
                it.record.reason = Some("somebody else committed: x".to_owned());
            }),
        ),
        (
            "a work item",
            Case::with(|it| {
                it.record.goal_id = Some("next-work:tidy".to_owned());
                it.record.definition = None;
                it.record.result = CycleResult::Harvested;
            }),
        ),
        (
            "idle, with something mended",
            Case::with(|it| {
                it.after = None;
                it.is_not_changed();
                it.record.goal_id = None;
                it.record.definition = None;
                it.record.result = CycleResult::Idle;
                it.record.agent = None;
                it.record.newly_passing = vec!["b".to_owned()];
            }),
        ),
        (
            "goals added",
            Case::with(|it| (it.added, it.record.goals_added) = (Some(2), 2)),
        ),
        (
            "goals added, and others by others",
            Case::with(|it| {
                (it.added, it.record.goals_added) = (Some(3), 1);
                let note = "brought together with what somebody else committed meanwhile";
                it.record.notes.push(note.to_owned());
            }),
        ),
    ]);
}

/// A forgery, and the words by which it is named.
type Forgery = (fn(&mut Case), &'static str);

#[test]
fn a_result_that_its_snapshots_and_commits_do_not_show_is_named() {
    let forgeries: [Forgery; 18] = [
        (
            |it| {
                it.set("b", false);
                it.record.newly_failing = vec!["b".to_owned()];
            },
            "result is improved, and newly_failing has b",
        ),
        (
            |it| it.set("b", false),
            "newly_failing is [] in the record and [b] in the snapshots",
        ),
        (
            |it| {
                it.set("b", false);
                it.after.as_mut().unwrap().goals[1].tolerated = true;
            },
            "what the second snapshot tolerates is not what the start's goals file does: b",
        ),
        (
            |it| it.unchanged(true),
            "result is unchanged, and a passes in the second snapshot",
        ),
        (
            |it| {
                it.unchanged(true);
                it.record.reason = Some("passes without a change".to_owned());
            },
            "result is unchanged, and the content is not the start's",
        ),
        (
            |it| it.record.result = CycleResult::Interrupted,
            "result is interrupted, and the content is not the start's",
        ),
        (
            |it| {
                it.set("a", false);
                it.record.newly_passing.clear();
            },
            "result is improved, and a does not pass in the second snapshot",
        ),
        (
            |it| it.is_not_changed(),
            "result is improved, and the content is the start's",
        ),
        (
            |it| {
                it.record.goal_id = Some("b".to_owned());
                it.record.definition = it.goals.as_ref().unwrap().find("b").map(Goal::definition);
            },
            "the cycle worked on b, which does not fail in the first snapshot",
        ),
        (
            |it| it.record.newly_passing = vec!["b".to_owned(), "zzz".to_owned()],
            "newly_passing is [b, zzz] in the record and [a] in the snapshots",
        ),
        (
            |it| it.record.newly_passing.push("zzz".to_owned()),
            "newly_passing is [a, zzz] in the record and [a] in the snapshots",
        ),
        (
            |it| it.record.newly_passing.clear(),
            "newly_passing is [] in the record and [a] in the snapshots",
        ),
        (
            |it| it.after = None,
            "newly_passing is [a] in the record and [] in the snapshots",
        ),
        (
            |it| it.record.goals_added = 7,
            "goals_added is 7 in the record and 0 in its commits",
        ),
        (
            |it| it.added = Some(1),
            "goals_added is 0 in the record and 1 in its commits",
        ),
        (
            |it| {
                it.is_not_changed();
                it.record.result = CycleResult::Regressed;
                it.record.goals_added = 1;
            },
            "goals_added is 1 in the record and 0 in its commits",
        ),
        (
            |it| {
                it.is_not_changed();
                it.record.result = CycleResult::Unchanged;
                it.record.reverted_to = Some("start".to_owned());
            },
            "result is unchanged, and reverted_to says that it was undone",
        ),
        (
            |it| it.record.goal_id = Some("next-work:x".to_owned()),
            "result is improved, and goal_id is \"next-work:x\"",
        ),
    ];
    are_named(&forgeries);
}

#[test]
fn what_every_record_has_and_what_was_measured_cannot_be_left_out_or_exchanged() {
    let forgeries: [Forgery; 13] = [
        (|it| it.record.content = None, "content is missing"),
        (
            |it| it.record.score_before = None,
            "score_before is missing",
        ),
        (|it| it.record.score_after = None, "score_after is missing"),
        (|it| it.record.definition = None, "definition is missing"),
        (|it| it.record.session = None, "session is missing"),
        (
            |it| it.before.cycle_start_sha = None,
            "cycle_start_sha of the first snapshot is missing",
        ),
        (
            |it| it.after.as_mut().unwrap().cycle_start_sha = None,
            "cycle_start_sha of the second snapshot is missing",
        ),
        (
            |it| it.record.format = 9,
            "the record has format 9, which is not 1",
        ),
        (
            |it| it.after.as_mut().unwrap().format = 9,
            "the second snapshot has format 9, which is not 1",
        ),
        (
            |it| it.goals = None,
            "the goals_digest of the first snapshot is that of no goals file of its start; if the goals lie outside the repository, name their file with --goals",
        ),
        (
            |it| it.before.goals[0].threshold = Some(3.0),
            "thresholds of the first snapshot are not those of the start's goals file: a",
        ),
        (
            |it| it.record.definition = Some("x".to_owned()),
            "definition is x in the record and e in the start's goals file",
        ),
        (
            |it| it.subject = Some("evolve: cycle 7 — z regressed"),
            "the commit's subject is \"evolve: cycle 7 — z regressed\", the record's is \"evolve: cycle 7 — a improved\"",
        ),
    ];
    are_named(&forgeries);
}

#[track_caller]
fn are_named(forgeries: &[Forgery]) {
    let digest = Case::improved().record.definition.unwrap();
    for (forge, words) in forgeries {
        let words = words.replace(" and e in", &format!(" and {digest} in"));
        let told = Case::with(forge).told();
        assert!(told.contains(&words), "{words}: {told:#?}");
    }
}

/// Each of the cases has nothing that disagrees.
#[track_caller]
fn agree(cases: &[(&str, Case)]) {
    for (what, case) in cases {
        assert_eq!(case.told(), Vec::<String>::new(), "{what}");
    }
}
