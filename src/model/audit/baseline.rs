//! A baseline, held against itself, the goals of its start, and the cycle that it was committed with.

use super::measured::{of_definitions, of_measurements, of_other_goals};
use super::witness::{Kept, Sight, is_adrift};
use crate::model::figures;
use crate::model::goals::Goals;
use crate::model::record::Record;
use crate::model::record::times::{began, moment};
use crate::model::select;
use crate::model::snapshot::{FORMAT, Snapshot};
use crate::model::text;

/// How the baseline is called.
const NAME: &str = "baseline";

/// A baseline, and everything that git holds about it.
#[derive(Clone, Debug)]
pub struct Baseline<'a> {
    /// The baseline as it was committed, or why it cannot be read.
    pub snapshot: Result<&'a Snapshot, &'a str>,
    /// The commit that it was measured on.
    pub start: Sight<Kept>,
    /// The goals that were measured, as a file of that commit has them.
    pub goals: Sight<&'a Goals>,
    /// The cycle that it was committed with; none if somebody committed it alone.
    pub cycle: Option<With<'a>>,
}

/// The cycle that a baseline was committed with.
#[derive(Clone, Debug)]
pub struct With<'a> {
    /// Its record.
    pub record: &'a Record,
    /// Its first snapshot, where it can be read.
    pub first: Option<&'a Snapshot>,
    /// The commit that it started from.
    pub start: Sight<Kept>,
}

/// Returns what does not agree with a baseline.
pub fn of_baseline(baseline: &Baseline<'_>) -> Vec<String> {
    let snapshot = match baseline.snapshot {
        Ok(snapshot) => snapshot,
        Err(why) => return vec![format!("the {NAME} cannot be read: {why}")],
    };
    let mut found = Vec::new();
    if snapshot.format != FORMAT {
        found.push(format!(
            "the {NAME} has format {}, which is not {FORMAT}",
            snapshot.format
        ));
    }
    if snapshot.cycle != Some(0) {
        found.push(format!("the {NAME} is not of cycle 0"));
    }
    if moment(&snapshot.timestamp).is_none() {
        let timestamp = text::clean_line(&snapshot.timestamp);
        found.push(format!(
            "timestamp is {timestamp} in the {NAME}, which is no time"
        ));
    }
    found.extend(figures::miscounted(NAME, snapshot));
    let goals = baseline.goals.seen().copied();
    found.extend(of_measurements(NAME, snapshot, goals));
    match baseline.goals {
        Sight::Seen(goals) => found.extend(of_definitions(NAME, snapshot, goals)),
        Sight::Gone => found.push(of_other_goals(NAME)),
        Sight::Unseen => {}
    }
    if let Some(cycle) = &baseline.cycle
        && is_of_session(snapshot, cycle.record)
    {
        found.extend(of_start(baseline, snapshot, cycle));
        found.extend(of_taking_over(baseline, snapshot, cycle));
    }
    found
}

/// Says whether the session that recorded the cycle also measured the baseline. One of an earlier session may be older than a
/// rebase. One that does not say of which session it is, of an earlier version, is told by its time.
fn is_of_session(snapshot: &Snapshot, record: &Record) -> bool {
    if snapshot.session.is_some() {
        return snapshot.session == record.session;
    }
    let session = record.session.as_deref().and_then(began);
    session.is_some_and(|began| moment(&snapshot.timestamp).is_some_and(|time| time >= began))
}

fn of_start(baseline: &Baseline<'_>, snapshot: &Snapshot, cycle: &With<'_>) -> Option<String> {
    let Some(start) = &snapshot.cycle_start_sha else {
        return Some(format!("cycle_start_sha of the {NAME} is missing"));
    };
    let start = text::clean_line(start);
    match &baseline.start {
        _ if is_adrift(cycle.record, &cycle.start) || cycle.record.has_lost_its_baseline() => None,
        Sight::Gone => Some(format!(
            "cycle_start_sha {start} of the {NAME} is no commit of this repository"
        )),
        Sight::Seen(kept) if !kept.is_followed => Some(format!(
            "cycle_start_sha {start} of the {NAME} is no ancestor of the commit that it came with"
        )),
        Sight::Seen(_) | Sight::Unseen => None,
    }
}

/// Whether the first snapshot says that it was taken over, where it has to be: a session measures the same content with the same
/// goals once, if there is something in it to work on.
fn of_taking_over(
    baseline: &Baseline<'_>,
    snapshot: &Snapshot,
    cycle: &With<'_>,
) -> Option<String> {
    let first = cycle.first?;
    let (measured, started) = (baseline.start.seen()?, cycle.start.seen()?);
    let serves = measured.content == started.content
        && snapshot.goals_digest == first.goals_digest
        && !select::failing_goals(snapshot).is_empty();
    (serves && first.taken_from.is_none()).then(|| {
        format!("the first snapshot does not say that it was taken over from the {NAME}, which was measured on the same content")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;
    use crate::model::record::read_record;
    use crate::model::snapshot::{CheckResult, Measurement};

    const GOALS: &str = "version: 1\ngoals:\n  - {id: a, description: d, check: c, weight: 5}\n";

    /// A baseline in which a fails, and the cycle that took it over.
    struct Case {
        baseline: Snapshot,
        first: Snapshot,
        start: Sight<Kept>,
        session: &'static str,
        ending: &'static str,
    }

    impl Case {
        fn found(&self) -> String {
            let (goals, _) = goals::read_goals("GOALS.yaml", GOALS.as_bytes()).unwrap();
            let (session, ending) = (self.session, self.ending);
            let line = format!(
                r#"{{"format":1,"cycle":1,"goal_id":"a",{ending},"commit_sha":"c","goals_passing":0,"goals_total":1,"goals_added":0,"timestamp":"t","session":"{session}"}}"#
            );
            let record = read_record(&line).expect("a record");
            let found = of_baseline(&Baseline {
                snapshot: Ok(&self.baseline),
                start: self.start.clone(),
                goals: match self.baseline.goals_digest == goals.digest {
                    true => Sight::Seen(&goals),
                    false => Sight::Gone,
                },
                cycle: Some(With {
                    record: &record,
                    first: Some(&self.first),
                    start: match ending.contains("reverted_to\":null") {
                        true => Sight::Seen(kept(true)),
                        false => Sight::Gone,
                    },
                }),
            });
            found.join("; ")
        }
    }

    fn kept(is_followed: bool) -> Kept {
        Kept {
            content: "content".to_owned(),
            message: String::new(),
            is_followed,
        }
    }

    fn case(change: impl Fn(&mut Case)) -> String {
        let (goals, _) = goals::read_goals("GOALS.yaml", GOALS.as_bytes()).unwrap();
        let measured = Measurement {
            id: "a".to_owned(),
            result: CheckResult::Fail,
            weight: 5,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: None,
            exit: Some(1),
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        };
        let time = "2026-02-03T04:05:10Z".to_owned();
        let start = Some("start".to_owned());
        let baseline = Snapshot::new(Some(0), time, start, goals.digest, vec![measured]);
        let mut case = Case {
            first: Snapshot {
                cycle: Some(1),
                taken_from: Some("fitness-0-baseline.json".to_owned()),
                ..baseline.clone()
            },
            baseline,
            start: Sight::Seen(kept(true)),
            session: "20260203T040506Z-7188",
            ending: r#""result":"unchanged","reverted_to":null"#,
        };
        change(&mut case);
        case.found()
    }

    #[test]
    fn a_baseline_agrees_with_itself_and_its_goals() {
        assert_eq!(case(|_| {}), "");
        for (change, wrong) in [
            (
                (|it| it.baseline.score = 100.0) as fn(&mut Case),
                "the baseline snapshot says 0 of 1 and score 100",
            ),
            (|it| it.baseline.goals_total = 77, "says 0 of 77"),
            (
                |it| it.baseline.goals[0].exit = Some(0),
                "a of the baseline snapshot is fail with exit 0",
            ),
            (
                |it| it.baseline.goals[0].weight = 6,
                "the goals and weights of the baseline snapshot",
            ),
            (
                |it| it.baseline.goals[0].threshold = Some(5.0),
                "thresholds of the baseline snapshot",
            ),
            (
                |it| it.baseline.goals_digest = "0".repeat(64),
                "the goals_digest of the baseline snapshot is that of no goals file",
            ),
            (|it| it.baseline.format = 2, "has format 2, which is not 1"),
            (|it| it.baseline.cycle = Some(1), "is not of cycle 0"),
            (
                |it| it.baseline.timestamp = "noon".to_owned(),
                "timestamp is noon in the baseline",
            ),
        ] {
            let found = case(change);
            assert!(found.contains(wrong), "{wrong}\n{found}");
        }
        let unread = Baseline {
            snapshot: Err("expected value at line 1"),
            start: Sight::Unseen,
            goals: Sight::Unseen,
            cycle: None,
        };
        assert_eq!(
            of_baseline(&unread),
            ["the baseline cannot be read: expected value at line 1"]
        );
    }

    #[test]
    fn the_start_of_a_baseline_is_demanded_of_the_session_that_measured_it() {
        let unknown = |it: &mut Case| it.start = Sight::Gone;
        assert!(case(unknown).contains("cycle_start_sha start of the baseline is no commit"));
        assert!(case(|it| it.start = Sight::Seen(kept(false))).contains("is no ancestor"));
        assert!(case(|it| it.baseline.cycle_start_sha = None).contains("is missing"));
        for fine in [
            // A shallow clone does not have it.
            (|it| it.start = Sight::Unseen) as fn(&mut Case),
            // An earlier session measured it, and a rebase came since.
            |it| (it.start, it.session) = (Sight::Gone, "20260204T040506Z-7188"),
            // Somebody took it out of the branch before the first cycle, and the record says so.
            |it| {
                it.start = Sight::Seen(kept(false));
                it.ending = r#""result":"improved","reverted_to":null,"notes":["the branch no longer holds the commit that the baseline was measured on"]"#;
            },
            // Somebody took the start out of the branch in mid-cycle.
            |it| {
                it.start = Sight::Gone;
                it.ending = r#""result":"interrupted","reverted_to":"start","notes":["the branch no longer holds the commit that the cycle started from"]"#;
            },
        ] {
            assert_eq!(case(fine), "");
        }
    }

    #[test]
    fn what_the_session_measured_once_is_said_to_be_taken_over() {
        let untied = |it: &mut Case| it.first.taken_from = None;
        assert!(case(untied).contains("does not say that it was taken over from the baseline"));
        let found = case(|it| {
            untied(it);
            it.baseline.session = Some(it.session.to_owned());
        });
        assert!(
            found.contains("does not say that it was taken over"),
            "{found}"
        );
        for fine in [
            (|it| it.session = "20260204T040506Z-7188") as fn(&mut Case),
            // An earlier one, which ended within the second in which this one began.
            |it| it.baseline.session = Some("20260203T040506Z-7187".to_owned()),
            |it| it.start = Sight::Unseen,
            |it| it.first.goals_digest = "d".to_owned(),
            |it| {
                it.baseline.goals[0].result = CheckResult::Pass;
                it.baseline.goals[0].exit = Some(0);
                it.baseline.recount();
            },
        ] {
            let found = case(|it| {
                untied(it);
                fine(it);
            });
            assert_eq!(found, "");
        }
    }
}
