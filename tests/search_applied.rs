//! A winner on its way to the branch: what becomes of an `apply` that was killed, and what is said of one that is done.

use crate::harness::TestRepo;

/// A repository whose search is over; its winner has a 2 in `x`.
fn searched() -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo $(($(cat x) + 1)) >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    repo
}

#[test]
fn a_search_that_begins_completes_first_what_a_killed_apply_began() {
    let repo = searched();
    let to = repo.apply_cut_short();
    repo.git(&["update-ref", "refs/heads/main", &to]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(run.stdout.contains("completed: "), "{run:?}");
    assert!(!repo.applying().exists());
    assert_eq!(repo.status(), [""; 0]);
    assert_eq!(repo.read("x"), "2\n");
    assert_eq!(repo.endings(), ["accepted 3"]);
}
