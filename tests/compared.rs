//! Checks that compare with a ref: another branch, a tracking ref, a tag. It is the yardstick, and out of the agent's reach.

use crate::agents::is_refused;
use crate::harness::{TestRepo, output, signal};

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
fn goals_are_measured_with_what_checks_compared_with_before_the_agent() {
    const UNMARKED: &str = "env -u GIT_REFLOG_ACTION git";
    for (check, agent) in [
        (
            "git diff --quiet origin/main -- api",
            "git update-ref refs/remotes/origin/main HEAD".to_owned(),
        ),
        (
            "git diff --quiet origin/main -- api",
            "git update-ref -m x refs/remotes/origin/main HEAD".to_owned(),
        ),
        (
            "git diff --quiet origin/main -- api",
            format!("{UNMARKED} fetch -q . HEAD:refs/remotes/origin/main"),
        ),
        (
            "git diff --quiet main -- api",
            format!("{UNMARKED} update-ref -m x refs/heads/main HEAD"),
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
        ("sh untracked.sh", MERGE.to_owned()),
        ("sh ignored.sh", MERGE.to_owned()),
        ("sh latin.sh", MERGE.to_owned()),
        (
            "git diff --quiet main -- api",
            "echo \"$(git rev-parse HEAD) x\" >.git/refs/tags/main".to_owned(),
        ),
        (
            "git diff --quiet main -- api",
            "echo \"$(git rev-parse HEAD) x\" >.git/main".to_owned(),
        ),
        (
            "git diff --quiet main -- api",
            "git rev-parse HEAD >.git/elsewhere; ln -s elsewhere .git/main".to_owned(),
        ),
        (
            "git diff --quiet STABLE -- api",
            "git rev-parse HEAD >.git/STABLE".to_owned(),
        ),
        (
            "git diff --quiet '@{u}' -- api",
            "git update-ref refs/remotes/origin/main HEAD".to_owned(),
        ),
        (
            "B=main; git diff --quiet origin/$B -- api",
            "git update-ref refs/remotes/origin/main HEAD".to_owned(),
        ),
        (
            "git -C \"$(git rev-parse --show-toplevel)\" diff --quiet main -- api",
            MERGE.to_owned(),
        ),
    ] {
        assert_held(check, &agent, "checks compare with it");
    }
}

#[test]
fn what_only_running_a_check_tells_is_measured_with_as_it_was_too() {
    for (check, agent) in [
        (
            "git diff --quiet \"$(git config my.base)\" -- api",
            MERGE.to_owned(),
        ),
        (
            "git show \"$(cat base)\":c.sh 2>/dev/null | sh",
            format!("{LIE}; git tag main; {REVERT}"),
        ),
        ("sh argument.sh main", MERGE.to_owned()),
        (
            "xargs -I{} git diff --quiet {} -- api <base",
            MERGE.to_owned(),
        ),
        ("python3 compare.py main", MERGE.to_owned()),
        (
            "git diff --quiet \"$(cat base)\" -- api",
            "git branch -qf main HEAD; git worktree add -q \"$OUT/tree\" main".to_owned(),
        ),
        (
            "git diff --quiet \"$(cat base)\" -- api",
            "git rev-parse HEAD >.git/main".to_owned(),
        ),
        ("make -s compare", MERGE.to_owned()),
    ] {
        assert_held(check, &agent, "checks may compare with it");
    }
}

/// Has an agent move what a check compares with: the goals are measured with what it was, the refs are as before, and it is told.
fn assert_held(check: &str, agent: &str, words: &str) {
    let repo = repository(
        check,
        "echo 'git diff --quiet main -- api' >compare.sh; git add compare.sh; git commit -qm script
         git branch STABLE main; printf '# \\344\\n' >latin.sh; cat compare.sh >>latin.sh; git add latin.sh; git commit -qm latin
         echo 'git diff --quiet \"$1\" -- api' >argument.sh; git config my.base main; echo main >base
         printf 'compare:\\n\\tgit diff --quiet main -- api\\n' >Makefile; git add Makefile
         printf 'import subprocess, sys\nsys.exit(subprocess.run([\"git\", \"diff\", \"--quiet\", sys.argv[1], \"--\", \"api\"]).returncode)\n' >compare.py
         git add argument.sh base compare.py; git commit -qm dynamic
         cp compare.sh untracked.sh; cp compare.sh ignored.sh; echo ignored.sh >>.git/info/exclude; git config remote.origin.url /nowhere
         git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; git update-ref refs/remotes/origin/other main
         git branch -q --set-upstream-to=origin/main",
    );
    let before = refs(&repo);
    repo.cycle(&format!("echo 2 >f; git add f; git commit -qm w; {agent}"))
        .expect(0);
    let newest = repo.newest();
    assert_ne!(newest["result"], "improved", "{check}: {agent}: {newest}");
    assert_eq!(newest["goals_passing"], 0, "{check}: {agent}: {newest}");
    assert_eq!(refs(&repo), before, "{check}: {agent}");
    for name in [".git/main", ".git/STABLE"] {
        assert!(!repo.path(name).exists(), "{check}: {agent}");
    }
    let told = format!("{}{newest}", notes(&repo));
    // Whatever checks compare with.
    let is_told = told.contains(words) || told.contains("would be taken for HEAD or a branch");
    assert!(is_told, "{check}: {agent}: {told}");
    repo.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn a_compared_branch_is_there_again_whatever_is_put_in_its_place() {
    const PACKED: &str = "m=$(git rev-parse main) h=$(git rev-parse HEAD); git pack-refs --all
        { echo '# pack-refs with: peeled fully-peeled sorted '; for i in 1 2 3 4 5 6 7; do echo \"$h refs/heads/main\"; done
        echo \"$h refs/heads/night\"; echo \"$m refs/heads/main\"; } >.git/packed-refs";
    for agent in [
        "git branch -qD main; git branch -q main/x HEAD",
        "rm .git/refs/heads/main; mkdir .git/refs/heads/main; echo x >.git/refs/heads/main/.x",
        "rm .git/logs/refs/heads/main; mkdir -p .git/logs/refs/heads/main/x; echo x >.git/logs/refs/heads/main/x/y; git rev-parse HEAD >.git/refs/heads/main",
        "s=${GIT_REFLOG_ACTION%-*} s=${s#evolve-}; mkdir -p .git/refs/evolve/$s/1-refs/heads/main/x; echo x >.git/refs/evolve/$s/1-refs/heads/main/x/.x; git branch -qf main HEAD",
        "s=${GIT_REFLOG_ACTION%-*} s=${s#evolve-}; git update-ref refs/evolve/$s/1-refs/heads/main/x HEAD; git branch -qf main HEAD",
        PACKED,
    ] {
        // One that is gone stays so: a fetch has it again.
        let without_tracking = "git update-ref -d refs/remotes/origin/main";
        let repo = repository("git show main:c.sh 2>/dev/null | sh", without_tracking);
        let before = refs(&repo);
        repo.agent_does(&[&format!("echo 2 >f; git add f; git commit -qm w; {agent}")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(refs(&repo), before, "{agent}");
        assert_ne!(repo.newest()["result"], "improved", "{agent}");
        repo.agent_does(&["echo 3 >g"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["goals_passing"], 0, "{agent}");
        repo.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn the_beginning_of_an_id_that_a_check_names_means_that_object_and_no_tag() {
    let repo = repository("true", "true");
    let short = repo.git(&["rev-parse", "--short", "main"]);
    let goals = repo.read("GOALS.yaml");
    let check = format!("git diff --quiet {short} -- api");
    repo.write("GOALS.yaml", &goals.replace("\"true\"", &check));
    repo.commit_all("check");
    let before = refs(&repo);
    repo.cycle(&format!("echo 2 >f; git tag {short} HEAD"))
        .expect(0);
    assert_eq!(repo.newest()["result"], "unchanged", "{}", notes(&repo));
    assert_eq!(refs(&repo), before);
}

#[test]
fn what_a_fetch_brought_makes_no_cycle_after_it_an_improvement() {
    let repo = repository(
        "git diff --quiet origin/main -- api",
        "git init -q --bare \"$OUT/remote\"; git remote add origin \"$OUT/remote\"; git push -q origin main; git fetch -q
         git clone -q \"$OUT/remote\" \"$OUT/other\" -b main; cd \"$OUT/other\"
         echo v3 >api; git -c user.name=t -c user.email=t@example.invalid commit -qam v3; git push -q origin main",
    );
    repo.agent_does(&[
        "echo 1 >f; git add f; git commit -qm w; git fetch -q",
        "echo 2 >f",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["unchanged", "idle"]);
}

#[test]
fn what_an_agent_fetched_that_could_not_run_makes_no_improvement_of_its_next_call() {
    let mut repo = repository(
        "git diff --quiet origin/main -- api",
        "git init -q --bare \"$OUT/remote\"; git remote add origin \"$OUT/remote\"; git push -q origin main; git fetch -q
         git clone -q \"$OUT/remote\" \"$OUT/other\" -b main; cd \"$OUT/other\"
         echo v3 >api; git -c user.name=t -c user.email=t@example.invalid commit -qam v3; git push -q origin main",
    );
    let refused = is_refused(429, "Rate limited, try again in 1s");
    repo.agent_does(&[&format!("git fetch -q\n{refused}"), "echo 2 >f"]);
    repo.installs("claude");
    let run = repo.evolve(&["--agent=claude", "--max-cycles=1"]).expect(0);
    let came = (repo.each("result"), repo.calls());
    assert_eq!(came, (vec!["idle".to_owned()], 1), "{}", run.stdout);
    let told = notes(&repo);
    assert!(told.contains("again where a fetch put it"), "{told}");
}

#[test]
fn a_compared_ref_that_the_change_moves_while_it_is_measured_is_no_yardstick() {
    let repo = repository(
        "sh ./do; git diff --quiet main -- api",
        "echo true >do; sed -i 's/sweep: ../&, product: [do]/' GOALS.yaml; git add -A; git commit -qm do",
    );
    let before = refs(&repo);
    repo.cycle("echo 'git branch -qf main HEAD' >do; git commit -qam do")
        .expect(0);
    let newest = repo.newest();
    assert_eq!(newest["result"], "regressed", "{newest}");
    let reason = newest["reason"].as_str().unwrap();
    assert!(reason.contains("main was moved"), "{reason}");
    assert_eq!(refs(&repo), before);
}

#[test]
fn a_check_that_fetches_lets_stand_what_a_fetch_moved_and_nothing_else() {
    let repo = repository(
        "sh ./do; git fetch -q origin 2>/dev/null; git diff --quiet origin/main -- api",
        "echo true >do; sed -i 's/sweep: ../&, product: [do]/' GOALS.yaml; git add -A; git commit -qm do",
    );
    let before = refs(&repo);
    repo.cycle("echo 'git update-ref refs/remotes/origin/main $(git commit-tree -p origin/main -m x HEAD^{tree})' >do; git commit -qam do")
        .expect(0);
    let newest = repo.newest();
    assert_eq!(newest["result"], "regressed", "{newest}");
    assert_eq!(refs(&repo), before);
}

#[test]
fn a_branch_in_front_of_a_compared_ref_is_gone_after_an_undo_also_where_head_was_on_it() {
    let repo = repository("git show origin/main:c.sh 2>/dev/null | sh", "true");
    let before = refs(&repo);
    let lie = "echo exit 0 >c.sh; git commit -qam lie";
    repo.cycle(&format!("git switch -qc origin/main main; {lie}"))
        .expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert_eq!(refs(&repo), before);
}

#[test]
fn a_cycle_that_was_cut_short_leaves_compared_refs_as_they_were() {
    for is_killed in [false, true] {
        for agent in [
            "git update-ref refs/remotes/origin/main HEAD",
            "git branch origin/main",
        ] {
            let repo = repository("git diff --quiet origin/main -- api", "true");
            let before = refs(&repo);
            repo.agent_does(&[
                &format!(
                    "echo 2 >f; git add f; git commit -qm w; {agent}; touch \"$OUT/there\"; sleep 300"
                ),
                "git diff --quiet origin/main -- api && touch \"$OUT/lied\"; true",
            ]);
            let mut child = repo.spawn_run(&["--max-cycles=1"]);
            repo.wait_for("there");
            match is_killed {
                true => child.kill().unwrap(),
                false => signal(&child, "TERM"),
            }
            child.wait().unwrap();
            repo.run(&["--max-cycles=1"]).expect(0);
            assert_eq!(refs(&repo), before, "{agent}");
            let results = repo.each("result");
            assert_eq!(results, ["interrupted", "unchanged"], "{agent}");
            assert!(!repo.out("lied").exists(), "{agent}");
            let first = repo.records()[0]["notes"].to_string();
            assert!(first.contains("checks compare with it"), "{agent}: {first}");
        }
    }
}

#[test]
fn what_a_fetch_brought_is_there_after_the_cycle_and_no_part_of_its_yardstick() {
    for (fetch, result) in [
        ("git fetch -q", "improved"),
        ("env -u GIT_REFLOG_ACTION git fetch -q --prune", "improved"),
    ] {
        let repo = repository(
            "git diff --quiet origin/main -- api && test -e f",
            "git init -q --bare \"$OUT/remote\"; git remote add origin \"$OUT/remote\"
             echo v2 >api; git commit -qam back; git push -q origin HEAD:main HEAD:topic; git fetch -q
             git clone -q \"$OUT/remote\" \"$OUT/other\" -b main; cd \"$OUT/other\"
             echo v9 >api; git -c user.name=t -c user.email=t@example.invalid commit -qam v9; git push -q origin main; git push -q origin :topic",
        );
        repo.cycle(&format!("echo 2 >f; git add f; git commit -qm w; {fetch}"))
            .expect(0);
        let newest = repo.newest();
        assert_eq!(newest["result"], result, "{fetch}: {newest}");
        let theirs = repo.git(&["ls-remote", "origin", "refs/heads/main"]);
        let ours = repo.git(&["rev-parse", "origin/main"]);
        assert!(theirs.starts_with(&ours), "{fetch}: {ours} {theirs}");
        let told = notes(&repo);
        assert!(
            told.contains("again where a fetch put it"),
            "{fetch}: {told}"
        );
    }
}

#[test]
fn nothing_is_judged_where_somebody_else_moved_what_checks_compare_with() {
    let repo = repository(
        "git rev-parse -q --verify main >/dev/null && test -e f",
        "true",
    );
    let script = "echo 2 >f; git add f; git commit -qm w; git worktree add -q \"$OUT/tree\" main
        cd \"$OUT/tree\"; env -u GIT_REFLOG_ACTION git commit -q --allow-empty -m mine";
    repo.cycle(script).expect(11);
    let newest = repo.newest();
    assert_eq!(newest["result"], "interrupted");
    let reason = newest["reason"].as_str().unwrap();
    assert!(reason.contains("main was moved"), "{reason}");
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "main"]), "mine");
}

#[test]
fn what_somebody_else_moves_is_no_reason_to_judge_nothing_where_checks_only_may_compare_with_it() {
    let repo = repository("sh argument.sh main", "true");
    repo.write(
        "argument.sh",
        "git rev-parse -q --verify \"$1\" >/dev/null && test -e f\n",
    );
    repo.commit_all("script");
    let script = "echo 2 >f; git add f; git commit -qm w; git worktree add -q \"$OUT/tree\" main
        cd \"$OUT/tree\"; env -u GIT_REFLOG_ACTION git commit -q --allow-empty -m mine";
    repo.cycle(script).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let told = notes(&repo);
    assert!(told.contains("may compare with: main was moved"), "{told}");
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "main"]), "mine");
}

#[test]
fn a_stash_and_notes_are_no_yardstick_that_only_running_tells() {
    let repo = repository(
        "sh argument.sh main",
        "echo 1 >>api; git stash -q; git worktree add -q --detach \"$OUT/tree\" main",
    );
    repo.write(
        "argument.sh",
        "git notes add -f -m \"$(date +%N)\" HEAD 2>/dev/null
        git rev-parse -q --verify \"$1\" >/dev/null && test -e f\n",
    );
    repo.commit_all("script");
    let script = "echo 2 >f; git add f; git commit -qm w
        cd \"$OUT/tree\"; echo 2 >>api; env -u GIT_REFLOG_ACTION git stash push -qm mine";
    repo.cycle(script).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", repo.newest());
    let stash = repo.git(&["stash", "list", "--format=%gs"]);
    assert_eq!(stash.lines().count(), 2, "{stash}");
    assert!(
        stash
            .lines()
            .next()
            .is_some_and(|top| top.ends_with("mine")),
        "{stash}"
    );
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
fn a_compared_ref_in_a_copy_is_measured_with_as_it_was_too() {
    let repo = repository("git diff --quiet main -- api", "true");
    let before = refs(&repo);
    repo.agent_does(&[
        &format!("echo 2 >f; git add f; git commit -qm w; {MERGE}"),
        "echo 3 >f; git add f; git commit -qm w; git diff --quiet main -- api && touch \"$OUT/lied\"",
    ]);
    repo.run(&["--max-cycles=2", "--isolate"]).expect(0);
    assert_eq!(repo.each("result"), ["unchanged", "unchanged"]);
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
        // It is no place for a ref.
        (
            "git status --porcelain main; test -e f",
            MERGE,
            "main was moved",
        ),
        ("# as git says of main\ntest -e f", MERGE, ""),
        // Git finds it out.
        (
            "git describe --tags 2>/dev/null; test -e f",
            "git tag v9",
            "v9 was made",
        ),
        (
            "test -e f; make -s x 2>/dev/null; test -e f",
            MERGE,
            "main was moved",
        ),
    ] {
        let repo = repository(
            check,
            r"printf 'x:\n\tgit diff --quiet main\n' >Makefile; git add Makefile; git commit -qm make",
        );
        repo.cycle(&format!("echo 2 >f; git add f; git commit -qm w; {agent}"))
            .expect(0);
        let newest = repo.newest();
        assert_eq!(newest["result"], "improved", "{check}: {agent}: {newest}");
        let told = notes(&repo);
        assert_eq!(
            told.contains("checks may compare with") || told.contains("checks compare with it"),
            !named.is_empty(),
            "{check}: {told}"
        );
        assert!(told.contains(named), "{check}: {told}");
    }
}

#[test]
fn commits_of_a_person_stay_on_a_branch_though_the_agent_goes_on_from_there() {
    let repo = repository("git diff --quiet main -- api", "git branch helper main");
    let script = format!(
        "echo 2 >f; git add f; git commit -qm w; \
         theirs=$(git commit-tree -p main -m theirs main^{{tree}}); \
         env -u GIT_REFLOG_ACTION git update-ref -m 'commit: theirs' refs/heads/main $theirs; \
         echo $theirs >\"$OUT/theirs\"; {MERGE}"
    );
    repo.cycle(&script).expect(11);
    repo.git(&[
        "merge-base",
        "--is-ancestor",
        repo.said("theirs").trim(),
        "main",
    ]);
    assert_eq!(repo.newest()["result"], "interrupted");
}

#[test]
fn an_old_ref_without_its_whole_history_ends_no_session() {
    let repo = repository(
        "git diff --quiet origin/main -- x; test -e f",
        "old=$(git commit-tree -p $(git commit-tree -m gone HEAD^{tree}) -m kept HEAD^{tree}); \
         git update-ref refs/remotes/up/old $old; gone=$(git rev-parse $old^); \
         rm .git/objects/$(echo $gone | cut -c1-2)/$(echo $gone | cut -c3-)",
    );
    repo.cycle("echo 2 >f; git add f; git commit -qm w; git tag own; git update-ref refs/remotes/origin/main HEAD")
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(notes(&repo).contains("origin/main was moved"));
}

#[test]
fn a_ref_beside_head_of_the_main_working_tree_is_seen_from_another_one() {
    let repo = repository("git show main:c.sh | sh", "git switch -q main");
    sh(&repo, "git worktree add -q \"$OUT/tree\" night");
    let tree = repo.out("tree").canonicalize().unwrap();
    repo.agent_does(&["echo 'exit 0' >c.sh; git commit -qam lie; \
         git rev-parse HEAD >\"$(git rev-parse --git-common-dir)/main\""]);
    let mut command = repo.command(repo.program());
    let agent = format!("--agent={}", repo.agent());
    let run = command.args([&agent, "--max-cycles=1"]).current_dir(&tree);
    output(run.env("PWD", &tree));
    assert!(!repo.has(".git/main"));
    let history = std::fs::read_to_string(tree.join(".agents/evolve/cycle-history.jsonl"));
    let history = history.unwrap();
    assert!(history.contains("checks compare with"), "{history}");
    assert!(!history.contains("\"improved\""), "{history}");
}
