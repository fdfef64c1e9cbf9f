//! `--isolate`: the agent works in a copy of its own, and only what is kept comes back.

use std::fs;

use crate::harness::TestRepo;

/// Runs one isolated cycle with this script.
fn cycle(repo: &TestRepo, script: &str) -> crate::harness::Run {
    repo.agent_does(&[script]);
    repo.run(&["--isolate", "--max-cycles=1"])
}

#[test]
fn a_kept_change_comes_back_to_the_branch_and_into_the_tree() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let start = repo.head();
    let script = "pwd >$OUT_OF_SIGHT/where; echo good >a; git add a; git commit -qm 'the work'";
    let script = script.replace("$OUT_OF_SIGHT", &repo.outside().display().to_string());
    cycle(&repo, &script).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(
        repo.subjects()[1..],
        ["evolve: cycle 1 — a improved", "the work", "first"]
    );
    assert_eq!(repo.read("a"), "good\n");
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(repo.newest()["reverted_to"], serde_json::Value::Null);
    assert_ne!(repo.newest()["commit_sha"], start);
    let place = fs::read_to_string(repo.outside().join("where")).unwrap();
    let cache = repo.home().join(".cache/evolve").canonicalize().unwrap();
    assert!(place.starts_with(cache.to_str().unwrap()), "{place}");
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn a_regressed_cycle_leaves_no_bad_commit_on_the_branch() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("a", "");
    repo.commit_all("a");
    let start = repo.head();
    cycle(&repo, "git rm -q a; touch b; git add b; git commit -qm bad").expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(repo.newest()["reverted_to"], start);
    assert_eq!(repo.newest()["commit_sha"], start);
    assert_eq!(repo.content("HEAD"), repo.content(&start));
    assert_eq!(
        repo.subjects()[1..],
        ["evolve: cycle 1 — b regressed", "a", "first"]
    );
    let session = repo.newest()["session"].as_str().unwrap().to_owned();
    let work = format!("refs/evolve/{session}/1");
    assert_eq!(repo.git(&["log", "-1", "--format=%s", &work]), "bad");
    assert_eq!(repo.status(), Vec::<String>::new());
}
