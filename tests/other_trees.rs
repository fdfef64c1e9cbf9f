//! What an agent does to other working trees of the repository: the main one where `evolve` works in a linked one, and linked
//! ones. What only these held stays reachable and is told, and what git cannot do without is back.

use std::path::PathBuf;

use crate::harness::{Run, TestRepo, finish, output};

/// A repository with two linked working trees, `work` and `other`, and a branch `tmp`.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("r", "one\n");
    repo.commit_all("r");
    sh(
        &repo,
        "set -e; git branch tmp; git worktree add -q -b work \"$OUT/work\"; git worktree add -q -b other \"$OUT/other\"",
    );
    repo
}

fn sh(repo: &TestRepo, script: &str) -> String {
    let shown = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&shown).into_owned()
}

/// The main working tree and a linked one, each with its name among refs and for people.
fn others(repo: &TestRepo) -> [(PathBuf, &'static str, &'static str); 2] {
    [
        (repo.root(), "main-worktree", "the main working tree"),
        (repo.out("other"), "worktrees/other", ".git/worktrees/other"),
    ]
}

/// Runs a cycle in the tree `work`; the agent works in another tree first.
fn cycle(repo: &TestRepo, other: &str, script: &str) -> (Run, String) {
    let work = repo.out("work");
    let work = work.to_str().expect("a path in UTF-8");
    let agent = format!("--agent=W=\"$PWD\"; cd '{other}'; {script}; cd \"$W\"; touch a");
    let run = repo.evolve(&["-C", work, &agent, "--max-cycles=1"]);
    let record = sh(
        repo,
        "tail -n1 \"$OUT/work/.agents/evolve/cycle-history.jsonl\"",
    );
    let record: serde_json::Value = serde_json::from_str(&record).expect("a record");
    (run, record["notes"].to_string())
}

#[test]
fn what_only_head_and_index_of_another_tree_held_stays_reachable_and_is_told() {
    for which in 0..2 {
        let repo = repository();
        let (tree, name, shown) = others(&repo)[which].clone();
        let tree = tree.display();
        let ids = sh(
            &repo,
            &format!(
                "set -e; cd '{tree}'; git checkout -q --detach; echo m >m; git add m; git commit -qm 'only here'; git rev-parse HEAD
                 echo v1 >staged; git add staged; git rev-parse :staged; echo v2 >staged"
            ),
        );
        let (commit, blob) = ids.trim().split_once('\n').expect("two ids");
        let (run, told) = cycle(
            &repo,
            &tree.to_string(),
            "git reset -q --hard tmp; git checkout -q tmp; git reflog expire --expire=now --all; git gc -q --prune=now",
        );
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        let said = format!("{shown}: HEAD was moved and the index replaced");
        assert_eq!(told.matches(&said).count(), 1, "{name}: {told}");
        let kept = sh(
            &repo,
            &format!("git for-each-ref --format='%(refname)' --contains {commit}"),
        );
        let kept = kept.trim();
        assert!(
            kept.ends_with(&format!("-refs/{name}")) && told.contains(kept),
            "{name}: {kept}: {told}"
        );
        let staged = sh(
            &repo,
            &format!(
                "git reflog expire --expire=now --all; git gc -q --prune=now; git cat-file -p {blob}; git show {kept}:staged"
            ),
        );
        assert_eq!(staged, "v1\nv1\n", "{name}");
    }
}

#[test]
fn head_and_index_of_another_tree_are_back_where_they_are_gone_or_broken() {
    for which in 0..2 {
        for script in [
            "rm HEAD index",
            "rm index; echo junk >HEAD",
            "echo junk >index; : >HEAD",
        ] {
            let repo = repository();
            let (tree, name, shown) = others(&repo)[which].clone();
            let tree = tree.display();
            let seen =
                format!("cd '{tree}'; git symbolic-ref HEAD; git status --short; git show :st");
            sh(
                &repo,
                &format!("cd '{tree}'; echo only >st; git add st; rm st"),
            );
            let before = sh(&repo, &seen);
            let script = format!("(cd \"$(git rev-parse --git-dir)\"; {script})");
            let (run, told) = cycle(&repo, &tree.to_string(), &script);
            assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
            assert_eq!(sh(&repo, &seen), before, "{name}: {script}");
            let said = format!("what was removed from {shown} is back");
            assert!(told.contains(&said), "{name}: {script}: {told}");
        }
    }
}

#[test]
fn a_head_of_another_tree_that_leads_to_no_commit_is_told() {
    for which in 0..2 {
        let repo = repository();
        let (tree, name, shown) = others(&repo)[which].clone();
        let tree = tree.display().to_string();
        let (run, told) = cycle(&repo, &tree, "git symbolic-ref HEAD refs/heads/none");
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        let said = format!("{shown}: HEAD leads to no commit; the one that it was on is");
        assert_eq!(told.matches(&said).count(), 1, "{name}: {told}");
    }
}

#[test]
fn the_autostash_of_a_rebase_in_another_tree_stays_reachable_and_is_told() {
    for which in 0..2 {
        let repo = repository();
        let (tree, name, shown) = others(&repo)[which].clone();
        let tree = tree.display();
        let stash = sh(
            &repo,
            &format!(
                "cd '{tree}'; git switch -qc onto; echo onto >r; git commit -qam onto; git switch -qc mine HEAD~1; echo mine >r; git commit -qam mine
                 echo changed >>GOALS.yaml; git rebase --autostash onto >/dev/null 2>&1; cat \"$(git rev-parse --git-dir)/rebase-merge/autostash\""
            ),
        );
        let stash = stash.trim();
        let (run, told) = cycle(
            &repo,
            &tree.to_string(),
            "G=\"$(git rev-parse --git-dir)\"; rm -rf \"$G/rebase-merge\"; git reset -q --hard; git checkout -q tmp; git reflog expire --expire=now --all; git gc -q --prune=now",
        );
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        let said = format!("{shown}: rebase-merge/autostash is gone");
        assert_eq!(told.matches(&said).count(), 1, "{name}: {told}");
        let folder = if which == 0 { ".git" } else { shown };
        let moved = format!("as it was before the agent: {folder}/rebase-merge → ");
        assert_eq!(told.matches(&moved).count(), 1, "{name}: {told}");
        let kept = sh(
            &repo,
            &format!(
                "git gc -q --prune=now; git for-each-ref --format='%(refname)' --contains {stash}"
            ),
        );
        let end = format!("-refs/operations/{name}/rebase-merge/autostash");
        assert!(kept.trim().ends_with(&end), "{name}: {kept}");
        let files = sh(
            &repo,
            "cd \"$OUT/work\"; cat \"$(git rev-parse --git-dir)\"/evolve/quarantine/*/.git/rebase-merge/head-name \\
             \"$(git rev-parse --git-dir)\"/evolve/quarantine/*/.git/worktrees/other/rebase-merge/head-name 2>/dev/null; true",
        );
        assert_eq!(files, "refs/heads/mine\n", "{name}");
    }
}

#[test]
fn an_operation_that_goes_on_in_another_tree_is_left_alone() {
    let repo = repository();
    let tree = repo.out("other").display().to_string();
    sh(
        &repo,
        &format!(
            "cd '{tree}'; git switch -qc onto; echo onto >r; git commit -qam onto; git switch -q other; echo mine >r; git commit -qam mine; git merge onto >/dev/null; true"
        ),
    );
    let (run, told) = cycle(&repo, &tree, "true");
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(!told.contains("other"), "{told}");
    let merging = format!("cd '{tree}'; git rev-parse -q --verify MERGE_HEAD");
    assert_eq!(sh(&repo, &merging), sh(&repo, "git rev-parse onto"));
}

#[test]
fn sessions_in_two_trees_have_a_copy_each_and_take_nothing_of_the_others_for_the_agents() {
    for more in [&["--isolate"][..], &[]] {
        let repo = repository();
        let begin = |tree: &str, more: &[&str]| {
            let place = repo.out(tree).display().to_string();
            let agent = format!(
                "--agent=touch \"$OUT/{tree}-began\"; until test -e \"$OUT/{tree}-may\"; do sleep 0.05; done; touch a"
            );
            let words = ["-C", &place, &agent, "--max-cycles=1"];
            let session = repo.spawn(&[&words[..], more].concat());
            repo.wait_for(&format!("{tree}-began"));
            session
        };
        let other = begin("other", &["--isolate"]);
        let work = begin("work", more);
        for (tree, session) in [("other", other), ("work", work)] {
            std::fs::write(repo.out(&format!("{tree}-may")), "").expect("a file");
            finish(session).expect(0);
            let history = "\"/.agents/evolve/cycle-history.jsonl";
            let record = sh(&repo, &format!("tail -n1 \"$OUT/{tree}{history}"));
            let record: serde_json::Value = serde_json::from_str(&record).expect("a record");
            assert_eq!(record["result"], "improved", "{record}");
            assert!(!record.to_string().contains("refs/evolve"), "{record}");
        }
        let refs = sh(&repo, "git for-each-ref --format='%(refname)' refs/evolve");
        assert!(!refs.contains("slot") && !refs.contains("-refs"), "{refs}");
    }
}

#[test]
fn what_was_kept_of_an_earlier_session_stays_whatever_an_agent_calls_its_refs() {
    for name in ["slot-zz", "slot", "slot-other"] {
        let repo = repository();
        repo.write("keep", "");
        let goals = repo.read("GOALS.yaml")
            + "  - {id: keep, description: d, check: test -e keep, weight: 3}\n";
        repo.write("GOALS.yaml", &goals);
        repo.commit_all("keep");
        repo.evolve(&[
            "--agent=touch a; git rm -q keep",
            "--max-cycles=1",
            "--isolate",
        ])
        .expect(0);
        let kept = sh(&repo, "git for-each-ref --format='%(refname)' refs/evolve");
        let kept = kept.lines().next().expect("the undone work");
        let agent = format!(
            "--agent=touch a; git update-ref refs/evolve/{name} {kept}; git update-ref -d {kept}"
        );
        let run = repo.evolve(&[&agent, "--max-cycles=1"]).expect(0);
        let said = run.stdout + &run.stderr;
        assert!(
            said.contains(&format!("{kept} was removed and is back")),
            "{said}"
        );
    }
}

#[test]
fn a_ref_that_leaves_a_slots_no_place_is_taken_away_and_told() {
    let repo = repository();
    let agent = "--agent=touch a; git update-ref refs/evolve/slot/x HEAD; git update-ref refs/evolve/slot-other/y HEAD";
    let run = repo.evolve(&[agent, "--max-cycles=1"]).expect(0);
    for name in ["slot/x", "slot-other/y"] {
        let told =
            format!("refs/evolve/{name} was added, was in the way of evolve's own and is removed");
        assert!(run.stdout.contains(&told), "{}", run.stdout);
    }
    repo.evolve(&["--agent=true", "--max-cycles=1", "--isolate"])
        .expect(0);
}

#[test]
fn what_leaves_a_slots_ref_no_place_when_a_session_begins_is_moved_away_and_told() {
    for (plant, told) in [
        (
            "git update-ref refs/evolve/slot/x HEAD",
            "refs/evolve/slot/x was in the way of other refs and is removed: it was",
        ),
        (
            "git update-ref refs/evolve/slot/x HEAD; git pack-refs --all",
            "refs/evolve/slot/x was in the way of other refs and is removed: it was",
        ),
        (
            "git rev-parse HEAD >.git/refs/evolve",
            "refs/evolve was in the way of other refs",
        ),
        ("echo mine >.git/refs/evolve", ".git/refs/evolve"),
    ] {
        for isolated in [&["--isolate"][..], &[]] {
            let repo = repository();
            sh(&repo, plant);
            let options = [&["--agent=touch a", "--max-cycles=1"], isolated].concat();
            let run = repo.evolve(&options).expect(0);
            assert!(run.stdout.contains(told), "{plant}: {}", run.stdout);
            assert_eq!(repo.each("result"), ["improved"], "{plant}");
        }
    }
}

#[test]
fn a_working_tree_of_any_name_has_a_slot() {
    let repo = repository();
    sh(&repo, "git worktree add -q -b dotted \"$OUT/dotted.\"");
    let place = repo.out("dotted.").display().to_string();
    repo.evolve(&[
        "-C",
        &place,
        "--agent=touch a",
        "--max-cycles=1",
        "--isolate",
    ])
    .expect(0);
}
