//! An undone cycle, and what else holds its commits: branches and tags stay where they went on to, so they are named.

use crate::compared::{MERGE, notes, refs, sh};
use crate::harness::TestRepo;

/// A repository with the branch `night` checked out, one commit before `main`, where `ok` is missing and `bad` breaks a goal.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "evolve: {sweep: []}\ngoals:\n  - {id: g, description: g, check: test -e ok, weight: 5}\n  - {id: h, description: h, check: test ! -e bad, weight: 1}\n",
    );
    repo.commit_all("first");
    sh(
        &repo,
        "git switch -qc night; git commit -q --allow-empty -m second",
    );
    repo
}

#[test]
fn an_undone_cycle_names_what_else_holds_its_commits_and_what_takes_them_out() {
    for (agent, what, way_out) in [
        (MERGE, "main", "git branch --force main"),
        (
            "git switch -q main; git merge -q --no-ff --no-edit night; git switch -q night",
            "main",
            "git branch --force main",
        ),
        ("git branch side", "side", "git branch -D side"),
        ("git tag -am x v1", "v1", "git tag -d v1"),
        (
            "git worktree add -q \"$OUT/tree\" main; git -C \"$OUT/tree\" merge -q night",
            "main",
            "git -C ",
        ),
        (
            "git worktree add -q -b side \"$OUT/tree\"",
            "side",
            "git -C ",
        ),
    ] {
        let repo = repository();
        let before = refs(&repo);
        let script = format!("touch ok bad; git add -A; git commit -qm w; {agent}");
        let run = repo.cycle(&script).expect(0);
        assert_eq!(repo.newest()["result"], "regressed", "{agent}");
        let told = notes(&repo);
        let words = format!("{what} holds commits of the undone work");
        assert!(told.contains(&words), "{agent}: {told}");
        assert!(
            repo.read(".agents/evolve/session-summary.md")
                .contains(&words),
            "{agent}"
        );
        assert!(
            format!("{}{}", run.stdout, run.stderr).contains(&words),
            "{agent}"
        );
        // The command does what it says.
        let start = told
            .find(way_out)
            .unwrap_or_else(|| panic!("{agent}: {told}"));
        let command = told[start..].split('`').next().unwrap();
        sh(&repo, command);
        assert_eq!(refs(&repo), before, "{agent}");
    }
}

#[test]
fn what_holds_no_undone_commit_is_not_named() {
    let repo = repository();
    let agent = "git branch old; git switch -q main; git commit -q --allow-empty -m more; git switch -q night; echo exit 0 >c.sh; echo 'no way' >\"$EVOLVE_GIVE_UP\"";
    repo.cycle(agent).expect(0);
    assert_eq!(repo.newest()["result"], "failed");
    assert!(!notes(&repo).contains("undone work"), "{}", notes(&repo));
}
