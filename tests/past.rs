//! What was: the history with the way of the score, and which part of it is asked for.

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::TestRepo;

/// A goal of a number that three cycles raise, one of which breaks another goal, and a second goal.
fn raised() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: count, description: enough, check: cat number, weight: 5, continuous: {threshold: 9, direction: at-least}}\n  \
         - {id: other, description: there, check: test -e other, weight: 4}\n  \
         - {id: third, description: there, check: test -e third, weight: 1}\n",
    );
    repo.write("number", "1\n");
    repo.write("third", "");
    repo.commit_all("numbers");
    repo.agent_does(&[
        "echo 5 >number",
        "rm third; echo 8 >number",
        "echo 9 >number",
        "touch other",
    ]);
    repo.run(&["--max-cycles=4"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["unchanged", "regressed", "improved", "improved"]
    );
    repo
}

fn cycles(repo: &TestRepo, arguments: &[&str]) -> Vec<u64> {
    let arguments = [&["history", "--json"], arguments].concat();
    let document: Value = serde_json::from_str(&repo.evolve(&arguments).expect(0).stdout).unwrap();
    let records = document["records"].as_array().unwrap();
    records
        .iter()
        .map(|record| record["cycle"].as_u64().unwrap())
        .collect()
}

#[test]
fn the_history_ends_with_the_way_of_the_score_in_what_cycles_left() {
    let repo = raised();
    assert_snapshot!(repo.answer(&["history"]), @r#"
    cycle  result     goal   score     passing  commit      recorded              why
    1      unchanged  count  10        1 of 3   [id]  [time]  it still fails: the value is 5, wanted at least 9
    2      regressed  count  10 → 0    0 of 3   [id]  [time]  passed before and no longer: third (exit 1)
    3      improved   count  10 → 60   2 of 3   [id]  [time]
    4      improved   other  60 → 100  3 of 3   [id]  [time]

    score  10 ▁▁▅█ 100
    "#);
    assert_snapshot!(repo.answer(&["history", "--goal", "count"]), @r#"
    cycle  result     goal   score    passing  commit      recorded              why
    1      unchanged  count  10       1 of 3   [id]  [time]  it still fails: the value is 5, wanted at least 9
    2      regressed  count  10 → 0   0 of 3   [id]  [time]  passed before and no longer: third (exit 1)
    3      improved   count  10 → 60  2 of 3   [id]  [time]

    score  10 ▁▁█ 60
    value  5 ▁▁██ 9 (threshold 9)
    "#);
}

#[test]
fn a_part_of_the_history_is_asked_for_by_goal_and_by_cycle_or_time() {
    let repo = raised();
    assert_eq!(cycles(&repo, &[]), [1, 2, 3, 4]);
    assert_eq!(cycles(&repo, &["--goal", "other"]), [4]);
    assert_eq!(cycles(&repo, &["--goal", "count", "--since", "2"]), [2, 3]);
    assert_eq!(cycles(&repo, &["--since=1d"]), [1, 2, 3, 4]);
    assert_eq!(cycles(&repo, &["--since", "2020-01-01"]), [1, 2, 3, 4]);
    assert_eq!(cycles(&repo, &["--since", "2999-01-01"]), [0; 0]);
    assert_eq!(cycles(&repo, &["--goal", "third"]), [0; 0]);
    assert_snapshot!(repo.answer(&["history", "--goal", "third"]), @"no such cycles");
    assert_snapshot!(repo.error(2, &["history", "--goal", "cuont"]), @r#"
    error: no cycle worked on cuont, and no goal is called so
    hint: did you mean count
    "#);
    assert_snapshot!(repo.error(2, &["history", "--goal", "something"]), @r#"
    error: no cycle worked on something, and no goal is called so
    hint: `evolve history` lists all cycles, `evolve validate` the goals
    "#);
    let unread = repo.evolve(&["history", "--since", "yesterday"]).expect(2);
    assert!(
        unread.stderr.contains("a time before now, as in 3d"),
        "{}",
        unread.stderr
    );
}
