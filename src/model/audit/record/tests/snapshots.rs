//! What a record says of its snapshots, and what each says of itself.

use super::*;

/// A forgery after which nobody counted again, and all that is said of it.
type Miscount = (fn(&mut Case), &'static [&'static str]);

#[track_caller]
fn are_told(miscounts: &[Miscount]) {
    for (forge, words) in miscounts {
        let mut case = Case::improved();
        forge(&mut case);
        assert_eq!(case.told(), *words);
    }
}

impl Case {
    /// The cycle was cut short after its second measurement, and `b` got worse.
    fn cut(&mut self) {
        self.record.result = CycleResult::Interrupted;
        self.set("b", false);
        self.is_not_changed();
    }

    fn counts(&mut self, passing: usize, score: f64) {
        self.record.goals_passing = passing;
        self.record.score_after = Some(score);
    }
}

#[test]
fn figures_of_a_record_that_are_not_those_of_its_snapshots_are_told() {
    are_told(&[
        (
            |it| it.record.goals_passing = 1,
            &["goals_passing is 1 in the record and 2 in the second snapshot"],
        ),
        (
            |it| it.record.goals_total = 3,
            &["goals_total is 3 in the record and 2 in the second snapshot"],
        ),
        (
            |it| it.record.score_after = Some(99.0),
            &["score_after is 99 in the record and 100 in the second snapshot"],
        ),
        (
            |it| it.record.score_before = Some(1.5),
            &["score_before is 1.5 in the record and 37.5 in the first snapshot"],
        ),
        // Without a second one nothing was measured after the first.
        (
            |it| {
                it.after = None;
                it.record.newly_passing.clear();
            },
            &[
                "goals_passing is 2 in the record and 1 in the first snapshot",
                "score_after is 100 in the record and 37.5 in the first snapshot",
            ],
        ),
        // What cannot be seen is not held against anything.
        (|it| it.instead[1] = Some(Sight::Unseen), &[]),
    ]);
}

#[test]
fn a_cycle_that_was_cut_short_tells_the_figures_of_either_snapshot() {
    are_told(&[
        (
            |it| {
                it.cut();
                it.counts(1, 62.5);
            },
            &[],
        ),
        (
            |it| {
                it.cut();
                it.counts(1, 37.5);
            },
            &[],
        ),
        (
            |it| {
                it.cut();
                it.counts(1, 99.0);
            },
            &["score_after is 99 in the record and 62.5 in the second snapshot"],
        ),
        (
            |it| {
                it.cut();
                it.counts(1, 99.0);
                it.instead[1] = Some(Sight::Unseen);
            },
            &["score_after is 99 in the record and 37.5 in the first snapshot"],
        ),
    ]);
}

#[test]
fn a_snapshot_that_is_missing_or_cannot_be_read_is_told() {
    are_told(&[
        (
            |it| it.instead[0] = Some(Sight::Gone),
            &["the first snapshot was not committed with the record"],
        ),
        (|it| it.instead[0] = Some(Sight::Unseen), &[]),
        (
            |it| {
                it.cut();
                it.counts(1, 62.5);
                it.instead[0] = Some(Sight::Gone);
            },
            &[],
        ),
        (
            |it| it.instead[0] = Some(Sight::Seen(Err("it ends too early".to_owned()))),
            &["the first snapshot cannot be read: it ends too early"],
        ),
        (
            |it| it.instead[1] = Some(Sight::Seen(Err("it ends too early".to_owned()))),
            &["the second snapshot cannot be read: it ends too early"],
        ),
    ]);
}

#[test]
fn a_snapshot_that_contradicts_itself_or_the_other_one_is_told() {
    are_told(&[
        (
            |it| it.before.cycle = Some(6),
            &["the first snapshot is of cycle 6"],
        ),
        (
            |it| it.after.as_mut().unwrap().cycle = None,
            &["the second snapshot is of cycle none"],
        ),
        (
            |it| {
                it.before.score = 50.0;
                it.record.score_before = Some(50.0);
            },
            &[
                "the first snapshot says 1 of 2 and score 50, its goals come to 1 of 2 and score 37.5",
            ],
        ),
        (
            |it| it.after.as_mut().unwrap().cycle_start_sha = Some("else".to_owned()),
            &["the second snapshot was taken of other goals, or from another start"],
        ),
        (
            |it| it.after.as_mut().unwrap().goals_digest = "else".to_owned(),
            &["the second snapshot was taken of other goals, or from another start"],
        ),
    ]);
}

#[test]
fn a_snapshot_of_other_goals_or_weights_than_the_file_of_the_start_has_is_told() {
    let weight = Case::with(|it| {
        it.before.goals[1].weight = 4;
        it.record.score_before = Some(44.44);
    });
    let words =
        ["the goals and weights of the first snapshot are not those of the start's goals file"];
    assert_eq!(weight.told(), words);
    let order = Case::with(|it| it.before.goals.reverse());
    assert_eq!(order.told(), words);
}
