//! A change of submodules that was kept in a copy: the user's index follows. In place a move is not followed.

use super::{set_up, sh};
use crate::harness::TestRepo;

/// A repository whose goal wants a file, with a submodule that is not at its newest commit.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("good", 5)]).with_out();
    set_up(
        &repo,
        r#"git init -q -b trunk "$OUT/lib"; echo 1 >"$OUT/lib/x"
git -C "$OUT/lib" add .; git -C "$OUT/lib" commit -qm one
git submodule -q add "$OUT/lib" lib; git add .; git commit -qm first
git -C "$OUT/lib" commit -qm two --allow-empty"#,
    );
    repo
}

/// What an agent does to submodules in its copy.
const CHANGES: [(&str, &str); 4] = [
    ("added", "submodule -q add \"$OUT/lib\" folder/new"),
    (
        "moved on",
        "submodule -q update --init --remote lib; git add lib",
    ),
    ("removed", "rm -q lib"),
    ("moved", "mv lib elsewhere"),
];

#[test]
fn the_users_next_commit_takes_back_nothing_of_a_kept_change_of_submodules() {
    for (what, script) in CHANGES {
        let repo = repository();
        repo.agent_does(&[&format!(
            "git -c protocol.file.allow=always {script}; touch good; git add good; git commit -qm x"
        )]);
        repo.write("mine", "mine\n");
        repo.git(&["add", "mine"]);
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{what}: {}", run.stdout);
        let staged = repo.git(&["diff", "--cached", "--name-status"]);
        assert_eq!(staged, "A\tmine", "{what}");
        let gone = sh(&repo, "git diff --name-only --diff-filter=D");
        assert_eq!(gone, "", "{what}");
        repo.git(&["commit", "-qm", "the user's next commit"]);
        let changed = repo.git(&["show", "--name-only", "--format=", "HEAD"]);
        assert_eq!(changed, "mine", "{what}");
    }
}

#[test]
fn a_submodule_that_is_moved_where_it_is_set_up_is_back_and_git_works_as_before() {
    let repo = repository();
    let run = repo.cycle("git mv lib elsewhere; touch good; git add good; git commit -qm x");
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{}", run.expect(0).stdout);
    let said = "the move of a submodule, which evolve cannot follow: lib → elsewhere";
    assert!(record["reason"].as_str().unwrap().ends_with(said));
    let seen = sh(
        &repo,
        "git status --short; git -C lib status --short; ls lib; test ! -e elsewhere",
    );
    assert_eq!(seen, "x\n");
    repo.cycle("true").expect(0);
}
