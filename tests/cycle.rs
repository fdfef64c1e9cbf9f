//! One cycle from end to end: the verdict table, row by row, is in `verdict`.

use crate::harness::TestRepo;

#[test]
fn a_failing_goal_is_fixed_and_the_change_is_kept_and_recorded() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let start = repo.head();
    repo.cycle("touch a && git add a && git commit -qm 'make a'")
        .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved");
    assert_eq!(record["goal_id"], "a");
    assert_eq!(record["cycle"], 1);
    assert_eq!(
        record["commit_sha"],
        repo.git(&["rev-parse", "HEAD~2"]).as_str()
    );
    assert_eq!(repo.git(&["rev-parse", "HEAD~3"]), start);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_change_that_breaks_another_goal_is_undone() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    let start = repo.head();
    let before = repo.content("HEAD");
    repo.cycle("git rm -q b && touch a && git add a && git commit -qm 'a for b'")
        .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed");
    assert_eq!(record["reverted_to"], start.as_str());
    assert_eq!(record["newly_failing"][0], "b");
    assert_eq!(repo.content("HEAD"), before);
    assert!(repo.has("b") && !repo.has("a"));
    assert_eq!(repo.status(), Vec::<String>::new());
}
