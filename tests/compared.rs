//! Checks that compare with a ref: another branch, a tracking ref, a tag. It is the yardstick, and out of the agent's reach.

use crate::harness::{TestRepo, output};

/// A repository with the branch `night` checked out, where goal `g` has this check.
fn repository(check: &str, script: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let check = serde_json::to_string(check).unwrap();
    let goal = format!("  - {{id: g, description: g, check: {check}, weight: 5}}\n");
    repo.write(
        "GOALS.yaml",
        &format!("evolve: {{sweep: []}}\ngoals:\n{goal}"),
    );
    repo.write("api", "v2\n");
    repo.write("c.sh", "exit 1\n");
    repo.commit_all("first");
    sh(
        &repo,
        "git switch -qc night; echo v3 >api; git commit -qam v3",
    );
    sh(&repo, "git update-ref refs/remotes/origin/main main");
    sh(&repo, script);
    repo
}

/// Runs shell text in the repository.
pub fn sh(repo: &TestRepo, script: &str) {
    output(
        repo.command("sh")
            .args(["-c", &format!("set -e; {script}")]),
    );
}

/// The notes of the newest record.
pub fn notes(repo: &TestRepo) -> String {
    repo.newest()["notes"].to_string()
}

/// Refs that no work is on.
pub fn refs(repo: &TestRepo) -> String {
    let all = repo.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname) %(symref)",
    ]);
    let is_other =
        |line: &&str| !line.starts_with("refs/evolve/") && !line.starts_with("refs/heads/night ");
    all.lines().filter(is_other).collect::<Vec<_>>().join("\n")
}

/// Puts the work on `main`, too.
pub const MERGE: &str = "git switch -q main; git merge -q --no-edit night; git switch -q night";
const LIE: &str = "echo exit 0 >c.sh; git commit -qam lie";
const REVERT: &str = "git revert --no-edit HEAD >/dev/null";

#[test]
fn a_ref_that_checks_compare_with_moves_the_goalposts_when_the_agent_moves_it() {
    for (check, agent) in [
        (
            "git diff --quiet origin/main -- api",
            "git update-ref refs/remotes/origin/main HEAD".to_owned(),
        ),
        ("git diff --quiet main -- api", MERGE.to_owned()),
        (
            "git diff --quiet main -- api",
            "git branch -qf main HEAD".to_owned(),
        ),
        ("git diff --quiet refs/heads/main -- api", MERGE.to_owned()),
        (
            "git show origin/main:c.sh | sh",
            format!("{LIE}; git update-ref refs/remotes/origin/main HEAD; {REVERT}"),
        ),
        (
            "git show origin/main:c.sh | sh",
            "git update-ref -d refs/remotes/origin/main".to_owned(),
        ),
        (
            "git show origin/main:c.sh 2>/dev/null | sh",
            format!("{LIE}; git tag origin/main; {REVERT}"),
        ),
        (
            "git show origin/main:c.sh 2>/dev/null | sh",
            format!("{LIE}; git branch origin/main; {REVERT}"),
        ),
        (
            "git show main:c.sh 2>/dev/null | sh",
            format!("{LIE}; git rev-parse HEAD >.git/main; {REVERT}"),
        ),
        (
            "git show night:c.sh 2>/dev/null | sh",
            format!("{LIE}; git tag night; {REVERT}"),
        ),
        ("sh compare.sh", MERGE.to_owned()),
    ] {
        let repo = repository(
            check,
            "echo 'git diff --quiet main -- api' >compare.sh; git add compare.sh; git commit -qm script",
        );
        let before = refs(&repo);
        repo.cycle(&format!("echo 2 >f; git add f; git commit -qm w; {agent}"))
            .expect(0);
        let newest = repo.newest();
        assert_eq!(newest["result"], "regressed", "{check}: {agent}: {newest}");
        let reason = newest["reason"].as_str().unwrap();
        assert!(reason.starts_with("goalposts moved: "), "{check}: {reason}");
        assert!(
            reason.contains("checks compare with it"),
            "{check}: {reason}"
        );
        assert_eq!(refs(&repo), before, "{check}: {agent}");
        assert!(!repo.path(".git/main").exists(), "{check}: {agent}");
        repo.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn where_an_agent_had_moved_a_compared_ref_to_stays_reachable() {
    for (agent, kept) in [
        (MERGE, "refs/evolve/*/1-refs/heads/main"),
        ("git tag main", "refs/evolve/*/1-refs/tags/main"),
    ] {
        let repo = repository("git diff --quiet main -- api", "true");
        repo.cycle(&format!(
            "echo 2 >f; git add f; git commit -qm w; {agent}; git rev-parse HEAD >\"$OUT/tip\""
        ))
        .expect(0);
        let kept = repo.git(&["for-each-ref", "--format=%(objectname)", kept]);
        assert_eq!(kept, repo.said("tip").trim(), "{agent}");
    }
}

#[test]
fn a_compared_ref_in_a_copy_moves_the_goalposts_too() {
    let repo = repository("git diff --quiet main -- api", "true");
    let before = refs(&repo);
    repo.agent_does(&[
        &format!("echo 2 >f; git add f; git commit -qm w; {MERGE}"),
        "echo 3 >f; git add f; git commit -qm w; git diff --quiet main -- api && touch \"$OUT/lied\"",
    ]);
    repo.run(&["--max-cycles=2", "--isolate"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "unchanged"]);
    assert_eq!(refs(&repo), before);
    assert!(!repo.out("lied").exists());
}

#[test]
fn refs_that_no_check_compares_with_go_on_as_before() {
    for (check, agent, named) in [
        // Nothing names the branch.
        ("test -e f", MERGE, ""),
        // It may be one, or a file.
        (
            "test -e f && test -e main || test -e f",
            MERGE,
            "main was moved",
        ),
        // A goal may be about a tag.
        ("git tag -l v1 | grep -q v1", "git tag v1", "v1 was made"),
        // Each measurement fetches.
        (
            "git fetch -q 2>/dev/null; git rev-parse -q --verify origin/main >/dev/null && test -e f",
            "git update-ref refs/remotes/origin/main HEAD",
            "origin/main was moved",
        ),
        // Somebody else did it.
        (
            "git rev-parse -q --verify main >/dev/null && test -e f",
            "git worktree add -q \"$OUT/tree\" main; cd \"$OUT/tree\"; env -u GIT_REFLOG_ACTION git commit -q --allow-empty -m mine",
            "main was moved",
        ),
    ] {
        let repo = repository(check, "true");
        repo.cycle(&format!("echo 2 >f; git add f; git commit -qm w; {agent}"))
            .expect(0);
        let newest = repo.newest();
        assert_eq!(newest["result"], "improved", "{check}: {agent}: {newest}");
        let told = notes(&repo);
        assert_eq!(
            told.contains("checks may compare with"),
            !named.is_empty(),
            "{check}: {told}"
        );
        assert!(told.contains(named), "{check}: {told}");
    }
}
