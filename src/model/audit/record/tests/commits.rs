//! The commits that a record names, and what the one says that recorded it.

use super::*;
use crate::model::record::START_IS_GONE;

impl Case {
    /// The cycle was undone, by a commit that says so in the words of its record.
    fn undone() -> Case {
        Case::with(|it| {
            it.set("b", false);
            it.record.result = CycleResult::Regressed;
            it.record.newly_failing = vec!["b".to_owned()];
            it.record.reverted_to = Some("start".to_owned());
            it.record.reason = Some("b fails".to_owned());
            it.record.content = Some("old".to_owned());
            it.commit = Sight::Seen(Kept {
                message: "revert: evolve cycle 7 regression in b\n\nb fails\n".to_owned(),
                ..kept("old")
            });
        })
    }

    /// Somebody took the start out of the branch while the cycle ran.
    fn adrift() -> Case {
        Case::with(|it| {
            it.unchanged(false);
            it.record.notes = vec![START_IS_GONE.to_owned()];
            it.record.commit_sha = "start".to_owned();
            it.commit = Sight::Gone;
            it.start = Sight::Gone;
        })
    }

    fn and(mut self, change: impl Fn(&mut Case)) -> Case {
        change(&mut self);
        self
    }
}

fn not_followed(content: &str) -> Sight<Kept> {
    Sight::Seen(Kept {
        is_followed: false,
        ..kept(content)
    })
}

#[test]
fn a_disagreement_names_the_commit_that_recorded_the_cycle_else_the_one_of_the_record() {
    let forged = Case::improved().and(|it| it.commit = Sight::Gone);
    for (is_recorded, commit) in [(true, "recorder"), (false, "kept")] {
        let found = forged
            .clone()
            .and(|it| it.is_recorded = is_recorded)
            .found();
        assert_eq!(
            found,
            [Disagreement {
                cycle: Some(7),
                commit: Some(commit.to_owned()),
                what: "commit_sha kept is no commit of this repository".to_owned(),
            }]
        );
    }
}

#[test]
fn the_trailers_of_the_commit_are_those_of_the_record_once() {
    let with = |trailers| {
        Case::improved()
            .and(|it| it.trailers = Some(trailers))
            .told()
    };
    assert_eq!(
        with("s\n\nEvolve-Goal: b\nEvolve-Result: regressed\nEvolve-Cycle: 7"),
        [
            "the trailer Evolve-Goal is \"b\", the record has \"a\"",
            "the trailer Evolve-Result is \"regressed\", the record has \"improved\"",
            "the trailer Evolve-Score is missing, the record has \"100\"",
        ]
    );
    let twice =
        "s\n\nEvolve-Goal: a\nEvolve-Result: improved\nEvolve-Result: idle\nEvolve-Score: 100";
    assert_eq!(
        with(twice),
        ["the commit has the trailer Evolve-Result more than once"]
    );
}

#[test]
fn commits_of_which_nothing_is_wrong_agree() {
    agree(&[
        ("undone", Case::undone()),
        (
            "undone in a slot, so that the start was never left",
            Case::undone().and(|it| {
                it.record.commit_sha = "start".to_owned();
                it.commit = Sight::Seen(kept("old"));
            }),
        ),
        (
            "beyond what a shallow clone holds",
            Case::improved().and(|it| (it.commit, it.start) = (Sight::Unseen, Sight::Unseen)),
        ),
        ("its start was taken out of the branch", Case::adrift()),
        (
            "its start was taken out of the branch, and lies about somewhere",
            Case::adrift().and(|it| {
                (it.commit, it.start) = (not_followed("other"), not_followed("old"));
            }),
        ),
        (
            "undone, and its start was taken out of the branch",
            Case::undone().and(|it| {
                it.record.notes = vec![START_IS_GONE.to_owned()];
                it.start = Sight::Gone;
                it.commit = Sight::Seen(Kept {
                    message: "revert: evolve cycle 9 regression in a\n\nwhy\n".to_owned(),
                    ..kept("old")
                });
            }),
        ),
    ]);
}

#[test]
fn commits_that_are_not_there_or_not_what_the_record_says_are_named() {
    let forgeries: [Forgery; 9] = [
        (
            |it| it.commit = Sight::Gone,
            "commit_sha kept is no commit of this repository",
        ),
        (
            |it| it.commit = not_followed("new"),
            "commit_sha kept is no ancestor of the record's commit",
        ),
        (
            |it| it.commit = Sight::Seen(kept("another")),
            "content is new in the record and another in commit_sha",
        ),
        (
            |it| it.start = Sight::Gone,
            "cycle_start_sha start is no commit of this repository",
        ),
        (
            |it| it.start = not_followed("old"),
            "cycle_start_sha start is no ancestor of commit_sha",
        ),
        (
            |it| it.record.reverted_to = Some("elsewhere".to_owned()),
            "reverted_to is elsewhere, the cycle started from start",
        ),
        (
            |it| it.record.reverted_to = Some("start".to_owned()),
            "commit_sha kept is no commit that undoes the cycle",
        ),
        (
            |it| it.differs_in = vec!["src/a".to_owned(), "src/b".to_owned()],
            "the undo did not restore its start: src/a, src/b",
        ),
        // Its start is still in the branch, whatever its note says.
        (
            |it| {
                *it = Case::adrift();
                it.start = Sight::Seen(kept("old"));
            },
            "commit_sha start is no commit of this repository",
        ),
    ];
    are_named(&forgeries);
}

#[test]
fn an_undo_of_another_cycle_or_for_another_reason_is_named() {
    let forgeries: [Forgery; 2] = [
        (
            |it| {
                *it = Case::undone();
                it.record.reason = Some("c fails".to_owned());
            },
            "reason is \"c fails\" in the record and \"b fails\" in the undo commit",
        ),
        (
            |it| {
                *it = Case::undone();
                it.commit = Sight::Seen(Kept {
                    message: "revert: evolve cycle 8 regression in b\n\nb fails\n".to_owned(),
                    ..kept("old")
                });
            },
            "commit_sha kept is no commit that undoes the cycle",
        ),
    ];
    are_named(&forgeries);
}

#[test]
fn only_what_is_no_commit_of_the_start_is_looked_for_where_the_start_was_taken_away() {
    let changed = Case::adrift().and(|it| it.record.commit_sha = "change".to_owned());
    assert_eq!(
        changed.told(),
        ["commit_sha change is no commit of this repository"]
    );
}

#[test]
fn the_words_of_an_undo_are_those_of_its_record() {
    let message =
        "revert: evolve cycle 7 regression in a, b\n\nbecause\n\nThe content is again that of x.\n";
    let record = Record {
        result: CycleResult::Regressed,
        newly_failing: vec!["a".to_owned(), "b".to_owned()],
        reason: Some("because".to_owned()),
        ..Case::improved().record
    };
    assert_eq!(of_undo_words(&record, message), Vec::<String>::new());
    let forged = Record {
        newly_failing: vec!["a".to_owned()],
        reason: Some("all good".to_owned()),
        ..record.clone()
    };
    assert_eq!(
        of_undo_words(&forged, message),
        [
            "newly_failing is [a] in the record, the undo commit names a, b",
            "reason is \"all good\" in the record and \"because\" in the undo commit"
        ]
    );
    // Found out after it, told by another session, or masked in one of them.
    for (result, reason) in [
        (CycleResult::Regressed, "environment changed: a"),
        (CycleResult::Interrupted, "the session died in mid-cycle"),
        (CycleResult::Regressed, "token ***"),
    ] {
        let other = Record {
            result,
            reason: Some(reason.to_owned()),
            ..record.clone()
        };
        assert_eq!(
            of_undo_words(&other, message),
            Vec::<String>::new(),
            "{reason}"
        );
    }
}
