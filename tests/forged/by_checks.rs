//! The same from the checks of a later cycle, which run what an earlier agent left and what was kept: before the agent, when
//! nothing was copied yet, and after the undo.

use super::{GRAPHS, OBJECTS, PUT_PACK, assert_precious, is_ancestor, sh, with_graph, with_pack};
use crate::harness::TestRepo;

/// A place for the copy of the git directory, or none.
const COPIES: [bool; 2] = [true, false];

/// A repository whose checks run what a first cycle's agent has left in it. It does what stands in `$OUT/armed`, if anything
/// does.
fn with_kept_code(can_copy: bool) -> TestRepo {
    let check = |(file, weight): (&str, u8)| {
        let code = "[ -e code ] && sh -c \\\"$(cat code)\\\"; ";
        format!(
            "  - {{id: {file}, description: d, check: \"{code}test -e {file}\", weight: {weight}, retries: 0, alone: true}}\n"
        )
    };
    let goals = [("b", 9), ("a", 5), ("user", 1)].map(check).concat();
    let mut repo = TestRepo::with_goals(&goals).with_out();
    repo.write("user", "precious\n");
    repo.write("other", "EVIL\n");
    repo.commit_all("user");
    if !can_copy {
        // No folder can be made below a file.
        std::fs::write(repo.out("state"), "").unwrap();
        let state = repo.out("state").display().to_string();
        repo.env.push(("XDG_STATE_HOME".to_owned(), state));
    }
    repo.cycle("echo '[ ! -e \"$OUT/armed\" ] || . \"$OUT/armed\"' >code; touch b; git add code b; git commit -qm b")
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    repo
}

fn arm(repo: &TestRepo, script: &str) {
    std::fs::write(repo.out("armed"), script).unwrap();
}

#[test]
fn a_pack_that_a_check_puts_there_before_the_agent_is_moved_away_and_not_copied() {
    for can_copy in COPIES {
        let repo = with_kept_code(can_copy);
        let name = with_pack(&repo, "EVIL\n");
        arm(&repo, &format!("{OBJECTS}; n={name}; {PUT_PACK}"));
        repo.agent_does(&[
            "rm \"$OUT/armed\"; ls .git/objects/pack >\"$OUT/packs\"; git rm -q user; git commit -qm bad",
        ]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved", "regressed"]);
        assert!(!repo.said("packs").contains(&name), "{}", run.stderr);
        let file = format!(".git/objects/pack/{name}.pack");
        let moved = format!("moved out of the way: {file}");
        assert!(run.stderr.contains(&moved), "{}", run.stderr);
        assert!(repo.newest()["notes"].to_string().contains(&moved));
        assert!(!repo.has(&file));
        assert_precious(&repo, "undone");
    }
}

#[test]
fn a_graph_that_a_check_puts_there_before_the_agent_is_not_believed() {
    for can_copy in COPIES {
        for graph in GRAPHS {
            let repo = with_kept_code(can_copy);
            let (start, orphan) = (repo.head(), with_graph(&repo));
            arm(&repo, &format!("{OBJECTS}; {graph}"));
            repo.agent_does(&[&format!("rm \"$OUT/armed\"; git reset -q --hard {orphan}")]);
            let run = repo.run(&["--max-cycles=1"]);
            assert_eq!(run.code, 0, "{graph}: {}", run.stderr);
            assert_eq!(repo.each("result"), ["improved", "regressed"], "{graph}");
            assert!(is_ancestor(&repo, &start), "{graph}");
            assert!(!is_ancestor(&repo, &orphan), "{graph}");
            assert_precious(&repo, graph);
        }
    }
}

#[test]
fn a_pack_that_a_check_puts_there_in_an_idle_cycle_is_moved_away() {
    let repo = with_kept_code(true);
    repo.cycle("touch a; git add a; git commit -qm a").expect(0);
    let name = with_pack(&repo, "EVIL\n");
    arm(&repo, &format!("{OBJECTS}; n={name}; {PUT_PACK}"));
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "idle");
    assert!(!repo.has(&format!(".git/objects/pack/{name}.pack")));
    assert_precious(&repo, "idle");
}

#[test]
fn a_pack_that_a_check_puts_there_after_the_undo_is_moved_away() {
    let repo = with_kept_code(true);
    let name = with_pack(&repo, "EVIL\n");
    arm(
        &repo,
        &format!(
            "git log -1 --format=%s | grep -q ^revert || return 0; {OBJECTS}; n={name}; {PUT_PACK}"
        ),
    );
    repo.cycle("git rm -q user; git commit -qm bad").expect(0);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    assert!(!repo.has(&format!(".git/objects/pack/{name}.pack")));
    assert_precious(&repo, "undone");
}

#[test]
fn what_git_makes_between_cycles_and_while_goals_are_measured_stays() {
    for (between, meanwhile) in [
        ("git gc -q", "true"),
        ("true", "git gc -q"),
        ("true", "git repack -qadf --write-midx --write-bitmap-index"),
        ("git repack -qad", "git maintenance run --task=gc --quiet"),
        (
            "true",
            "git worktree add -q --detach \"$OUT/tree\"; git clone -q . \"$OUT/c\"; git -C \"$OUT/c\" -c user.name=o -c user.email=o commit -q --allow-empty -m e; git -c fetch.unpackLimit=1 fetch -q \"$OUT/c\" main:theirs",
        ),
    ] {
        let repo = with_kept_code(true);
        sh(&repo, between);
        let before = repo.git(&["log", "--format=%H %T"]);
        arm(&repo, &format!("rm \"$OUT/armed\"; {meanwhile}"));
        repo.cycle("touch a; git add a; git commit -qm a").expect(0);
        assert_eq!(repo.each("result"), ["improved", "improved"], "{meanwhile}");
        assert_eq!(repo.newest().get("notes"), None, "{meanwhile}");
        assert_precious(&repo, meanwhile);
        assert!(repo.git(&["log", "--format=%H %T"]).ends_with(&before));
        assert!(!repo.has(".git/evolve/quarantine"), "{meanwhile}");
    }
}
