//! What a record says became of its cycle.

use super::*;

fn result(it: &mut Case, result: CycleResult) {
    it.record.result = result;
}

fn of_item(it: &mut Case) {
    it.record.goal_id = Some("next-work:tidy".to_owned());
    it.record.definition = None;
}

fn idle(it: &mut Case) {
    it.after = None;
    it.is_not_changed();
    it.record.goal_id = None;
    it.record.definition = None;
    it.record.agent = None;
    it.record.newly_passing.clear();
    result(it, CycleResult::Idle);
}

#[test]
fn content_that_is_another_one_or_the_same_against_the_result_is_named() {
    let forgeries: [Forgery; 6] = [
        (
            |it| result(it, CycleResult::Regressed),
            "result is regressed, and the content is not the start's",
        ),
        (
            |it| result(it, CycleResult::Failed),
            "result is failed, and the content is not the start's",
        ),
        (
            |it| {
                idle(it);
                it.commit = Sight::Seen(kept("new"));
            },
            "result is idle, and the content is not the start's",
        ),
        (
            |it| {
                of_item(it);
                it.is_not_changed();
                result(it, CycleResult::Harvested);
            },
            "result is harvested, and the content is the start's",
        ),
        // Only a goal that still fails leaves its change behind.
        (
            |it| {
                of_item(it);
                it.unchanged(true);
            },
            "result is unchanged, and the content is not the start's",
        ),
        (
            |it| {
                result(it, CycleResult::Interrupted);
                it.record.reason = Some("the session died".to_owned());
            },
            "result is interrupted, and the content is not the start's",
        ),
    ];
    are_named(&forgeries);
}

#[test]
fn content_that_the_result_allows_agrees() {
    agree(&[
        (
            "an item of which nothing came",
            Case::with(|it| {
                of_item(it);
                it.unchanged(true);
                it.is_not_changed();
            }),
        ),
        (
            "interrupted, and the branch was moved",
            Case::with(|it| {
                result(it, CycleResult::Interrupted);
                let reason = "the branch no longer holds the commit that the cycle started from";
                it.record.reason = Some(reason.to_owned());
            }),
        ),
        (
            "failed, and what it changed was taken back",
            Case::with(|it| {
                result(it, CycleResult::Failed);
                it.is_not_changed();
            }),
        ),
    ]);
}

#[test]
fn a_goal_that_does_not_go_with_the_result_is_named() {
    let forgeries: [Forgery; 6] = [
        (
            |it| {
                idle(it);
                it.record.goal_id = Some("a".to_owned());
            },
            "result is idle, and goal_id is \"a\"",
        ),
        (
            |it| result(it, CycleResult::Harvested),
            "result is harvested, and goal_id is \"a\"",
        ),
        (
            |it| it.record.goal_id = None,
            "result is improved, and goal_id is missing",
        ),
        (
            |it| {
                result(it, CycleResult::Failed);
                it.record.goal_id = None;
            },
            "result is failed, and goal_id is missing",
        ),
        (
            |it| it.before.goals[0].tolerated = true,
            "the cycle worked on a, which does not fail in the first snapshot",
        ),
        (
            |it| it.before.goals[0].result = CheckResult::Skip,
            "the cycle worked on a, which does not fail in the first snapshot",
        ),
    ];
    are_named(&forgeries);
}

#[test]
fn a_cycle_that_was_cut_short_is_believed_what_nobody_could_measure_or_tell_of() {
    fn cut(it: &mut Case) {
        result(it, CycleResult::Interrupted);
        it.is_not_changed();
    }
    agree(&[
        (
            "it names no goal that got worse",
            Case::with(|it| {
                cut(it);
                it.set("b", false);
            }),
        ),
        (
            "it names the goals that got worse",
            Case::with(|it| {
                cut(it);
                it.set("b", false);
                it.record.newly_failing = vec!["b".to_owned()];
            }),
        ),
        (
            "it names none that passes anew",
            Case::with(|it| {
                cut(it);
                it.record.newly_passing.clear();
            }),
        ),
        (
            "it names one that somebody had mended before",
            Case::with(|it| {
                cut(it);
                it.record.newly_passing = vec!["b".to_owned(), "a".to_owned()];
            }),
        ),
        (
            "its second snapshot was not written",
            Case::with(|it| {
                cut(it);
                it.after = None;
                it.record.newly_failing = vec!["b".to_owned()];
                it.record.newly_passing = vec!["a".to_owned()];
            }),
        ),
    ]);
    let forgeries: [Forgery; 2] = [
        (
            |it| {
                cut(it);
                it.set("b", false);
                it.record.newly_failing = vec!["a".to_owned()];
            },
            "newly_failing is [a] in the record and [b] in the snapshots",
        ),
        (
            |it| {
                cut(it);
                it.record.newly_passing.push("zzz".to_owned());
            },
            "newly_passing is [a, zzz] in the record and [a] in the snapshots",
        ),
    ];
    are_named(&forgeries);
}

#[test]
fn goals_are_held_against_snapshots_that_can_be_seen_and_those_that_are_known_not_to_be_there() {
    agree(&[(
        "the second cannot be seen",
        Case::with(|it| {
            it.instead[1] = Some(Sight::Unseen);
            it.record.newly_passing = vec!["zzz".to_owned()];
        }),
    )]);
    agree(&[(
        "the second cannot be seen, and goals got worse",
        Case::with(|it| {
            result(it, CycleResult::Regressed);
            it.is_not_changed();
            it.instead[1] = Some(Sight::Unseen);
            it.record.newly_failing = vec!["b".to_owned()];
        }),
    )]);
    let forgeries: [Forgery; 1] = [(
        |it| {
            result(it, CycleResult::Regressed);
            it.is_not_changed();
            it.after = None;
            it.record.newly_failing = vec!["b".to_owned()];
        },
        "newly_failing is [b] in the record and [] in the snapshots",
    )];
    are_named(&forgeries);
}

#[test]
fn goals_added_are_counted_where_both_goals_files_can_be_seen_and_a_change_was_kept() {
    agree(&[
        (
            "one of the files cannot be seen",
            Case::with(|it| (it.added, it.record.goals_added) = (None, 4)),
        ),
        (
            "somebody else added them to an idle cycle's commit",
            Case::with(|it| {
                idle(it);
                it.added = Some(2);
            }),
        ),
        (
            "as many as the joined commits have",
            Case::with(|it| {
                (it.added, it.record.goals_added) = (Some(2), 2);
                it.record.notes = vec!["brought together with x".to_owned()];
            }),
        ),
    ]);
    let forgeries: [Forgery; 2] = [
        (
            |it| {
                (it.added, it.record.goals_added) = (Some(1), 2);
                it.record.notes = vec!["brought together with x".to_owned()];
            },
            "goals_added is 2 in the record and 1 in its commits",
        ),
        (
            |it| {
                (it.added, it.record.goals_added) = (Some(2), 1);
                it.record.notes = vec!["took care".to_owned()];
            },
            "goals_added is 1 in the record and 2 in its commits",
        ),
    ];
    are_named(&forgeries);
}
