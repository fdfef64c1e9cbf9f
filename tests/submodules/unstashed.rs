//! What an agent leaves uncommitted inside a submodule and git cannot stash there: no commit holds it.

use super::{set_up, sh};
use crate::harness::TestRepo;

/// A repository whose goal wants the word `fixed` in a file of its submodule `lib`, which has a file of the user's in it.
fn repository() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: cat lib/x lib/g/* | grep -q fixed, weight: 5}\n",
    )
    .with_out();
    set_up(
        &repo,
        r#"git init -q -b trunk "$OUT/lib"; echo 1 >"$OUT/lib/x"
git -C "$OUT/lib" add .; git -C "$OUT/lib" commit -qm one
git submodule -q add "$OUT/lib" lib; git add .; git commit -qm first; echo mine >lib/mine"#,
    );
    repo
}

/// What an agent does in the submodule.
const UNSTASHED: [(&str, &str); 6] = [
    (
        "a conflict",
        "git checkout -qb p; echo p >x; commit -qam p; git checkout -qb q HEAD~1; echo q >x; commit -qam q
         git -c user.name=n -c user.email=n merge -q p; echo fixed >x",
    ),
    (
        "a merge in progress, HEAD where it was",
        "git update-ref refs/stash/x HEAD; git checkout -qb p; echo p >x; commit -qam p; git checkout -q trunk
         git merge -q --no-ff --no-commit p; echo fixed >x",
    ),
    (
        "a repository of its own",
        "git init -q inner; cd inner; echo 1 >i; git add i; commit -qm i; cd ..; echo fixed >x; git add inner",
    ),
    (
        "refs where the stash has its own",
        "git update-ref refs/stash/x HEAD; echo fixed >x; echo fixed >new; git add new",
    ),
    ("a file that git never adds", "mkdir g; echo fixed >g/git~1"),
    (
        "such a file, and another one",
        "mkdir g; echo fixed >g/git~1; echo more >new",
    ),
];

const COMMIT: &str = "commit() { git -c user.name=n -c user.email=n commit \"$@\"; }; cd lib";

#[test]
fn what_git_cannot_stash_inside_a_submodule_meets_no_goal_and_is_put_back() {
    for (what, script) in UNSTASHED {
        let repo = repository();
        let seen = |repo: &TestRepo| {
            let script = "git status --short --ignore-submodules=untracked; cd lib; git status --short | grep -v inner; \
                          git rev-parse HEAD; git symbolic-ref HEAD; git rev-parse -q --verify MERGE_HEAD; ls -A | grep -v inner; cat x mine";
            sh(repo, script)
        };
        let before = seen(&repo);
        let run = repo.cycle(&format!("{COMMIT}; {script}; true")).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {}", run.stdout);
        let reason = record["reason"].as_str().unwrap();
        let said = "left what no commit holds: changes inside lib that git cannot stash";
        assert!(reason.ends_with(said), "{what}: {reason}");
        let notes = record["notes"].to_string();
        let is_stashed = notes.contains("uncommitted changes inside lib are in its stash");
        let stashed = sh(&repo, "git -C lib stash list");
        assert_eq!(is_stashed, what.contains("another one"), "{what}: {notes}");
        assert_eq!(is_stashed, !stashed.is_empty(), "{what}: {stashed}");
        let quarantined = sh(&repo, "grep -rh fixed .git/evolve/quarantine");
        assert!(quarantined.starts_with("fixed\n"), "{what}: {notes}");
        assert_eq!(seen(&repo), before, "{what}: {notes}");
        repo.cycle("true").expect(0);
        assert_eq!(repo.newest()["goals_passing"], 0, "{what}");
    }
}
