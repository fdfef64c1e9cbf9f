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
