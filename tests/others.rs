//! Commits that somebody else makes while a cycle runs, in the same checkout: never judged, never undone, also where it
//! cannot be told whose they are.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evolve::effects::repo::Repo;
use evolve::effects::workspace::{WayOut, Workspace};
use evolve::model::gate::Fate;

use crate::harness::{Run, TestRepo, finish, output, with_git};

/// Goal `a` fails, goal `b` passes until somebody takes `b` away; two commits, and a branch beside `main`.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    repo.write("README", "one\n");
    repo.commit_all("first");
    sh(
        &repo,
        "git switch -qc side; echo s >side; git add side; git commit -qm side; git switch -q main",
    );
    repo.write("README", "two\n");
    repo.commit_all("second");
    repo
}

fn sh(repo: &TestRepo, script: &str) {
    output(repo.command("sh").args(["-c", script]));
}

/// Words of the shell with which a person works here: as `me`, in an environment of their own.
const ME: &str = "me() { env -i HOME=\"$HOME\" PATH=\"$PATH\" \"$@\"; }\n";
/// A commit of theirs.
const MINE: &str = "echo mine >mine; me git add mine; me git commit -qm mine; me git rev-parse HEAD >\"$OUT/mine\"\n";

/// Asserts that the cycle of a script left everything as it was, and asked for a person. Returns the reason.
#[track_caller]
fn left(repo: &TestRepo, what: &str, run: Run) -> String {
    assert_eq!(run.code, 11, "{what}\n{}\n{}", run.stdout, run.stderr);
    // Whatever is checked out by now.
    let history = repo.git(&["show", "main:.agents/evolve/cycle-history.jsonl"]);
    let record: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(record["result"], "interrupted", "{what}: {record:#}");
    assert!(record["reverted_to"].is_null(), "{what}: {record:#}");
    let reason = record["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with("somebody else committed")
            || reason.starts_with("somebody else moved HEAD"),
        "{what}: {reason}"
    );
    for words in [reason.as_str(), "nothing was judged or undone", "git log"] {
        assert!(run.stdout.contains(words), "{what}: {}", run.stdout);
    }
    repo.git(&["fsck", "--strict", "--no-dangling"]);
    reason
}

/// Runs the next session, once the tree is clean, and asserts that nothing is in its way.
#[track_caller]
fn goes_on(repo: &TestRepo, what: &str) {
    sh(
        repo,
        "git add -A; git commit -q --allow-empty -m 'a person looked'",
    );
    repo.agent_does(&["touch a b; echo done >>README"]);
    let run = repo.run(&["--max-cycles=1"]);
    assert_eq!(run.code, 0, "{what}\n{}\n{}", run.stdout, run.stderr);
    assert_eq!(repo.newest()["result"], "improved", "{what}");
    let audit = repo.evolve(&["audit"]);
    assert_eq!(audit.code, 0, "{what}\n{}", audit.stdout);
}

#[test]
fn a_commit_beside_an_agent_that_only_edits_is_neither_judged_nor_undone() {
    for (what, script) in [
        ("a regression", "rm b; echo agent >README"),
        ("an improvement", "touch a"),
        ("nothing", ""),
    ] {
        let repo = repository();
        let run = repo.cycle(&format!("{ME}{MINE}{script}"));
        let told = run.stdout.clone();
        let reason = left(&repo, what, run);
        let mine = repo.said("mine").trim().to_owned();
        let words = format!(
            "somebody else committed, or the agent without its mark: {} commit: mine",
            &mine[..10]
        );
        assert_eq!(reason, words, "{what}");
        assert!(told.contains("GIT_REFLOG_ACTION"), "{told}");
        assert!(!told.contains("0 commits"), "{told}");
        assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine, "{what}");
        assert_eq!(repo.read("mine"), "mine\n");
        // The agent's edits are where it left them.
        assert_eq!(repo.has("b"), what != "a regression");
        assert_eq!(repo.has("a"), what == "an improvement");
        assert!(!repo.has(".agents/evolve/fitness-1-post.json"), "{what}");
        repo.git(&["checkout", "-q", "--", "."]);
        if repo.has("a") {
            std::fs::remove_file(repo.path("a")).unwrap();
        }
        goes_on(&repo, what);
    }
}

#[test]
fn whatever_a_person_did_to_the_branch_meanwhile_stays() {
    for (what, script) in [
        ("two commits", "echo 1 >one; me git add one; me git commit -qm one; echo 2 >>one; me git commit -qam two"),
        ("an empty commit", "me git commit -q --allow-empty -m empty"),
        ("an amended commit", "me git commit -q --amend -m amended"),
        ("a merge", "me git merge -q --no-edit side"),
        ("a fast-forward", "me git branch -q ahead; me git switch -q ahead; echo 1 >one; me git add one; me git commit -qm one
            me git switch -q main; me git merge -q ahead"),
        ("a pull", "me git pull -q --no-rebase --no-edit . side"),
        ("a rebase", "me git rebase -q side"),
        ("a cherry-pick", "me git cherry-pick side"),
        ("a revert", "me git revert --no-edit HEAD"),
        ("a reset", "me git reset -q --hard HEAD~1"),
        ("a patch", "me git format-patch -1 --stdout side >\"$OUT/p\"; me git am -q <\"$OUT/p\""),
        ("a commit by hand", "me git update-ref refs/heads/main $(me git commit-tree -p HEAD -m x HEAD^{tree})"),
        ("a commit by hand with a note", "me git update-ref -m mine refs/heads/main $(me git commit-tree -p HEAD -m x HEAD^{tree})"),
        ("a forced branch", "me git switch -q side; me git branch -qf main HEAD; me git switch -q main"),
    ] {
        let repo = repository();
        let run = repo.cycle(&format!(
            "{ME}{{ {script}; }} >/dev/null; me git rev-parse main >\"$OUT/there\"; rm -f b"
        ));
        left(&repo, what, run);
        let there = repo.said("there").trim().to_owned();
        assert_eq!(repo.git(&["rev-parse", "HEAD~2"]), there, "{what}");
        assert!(!repo.has("b"), "{what}");
    }
}

#[test]
fn commits_beside_an_agent_that_commits_are_told_apart() {
    for (what, script) in [
        (
            "before the agent's",
            format!("{MINE}git rm -q b; git commit -qm agent"),
        ),
        (
            "after the agent's",
            format!("git rm -q b; git commit -qm agent\n{MINE}"),
        ),
        (
            "between the agent's",
            format!("git commit -q --allow-empty -m e\n{MINE}git rm -q b; git commit -qm agent"),
        ),
    ] {
        let repo = repository();
        let run = repo.cycle(&format!("{ME}{script}"));
        let reason = left(&repo, what, run);
        let mine = repo.said("mine").trim().to_owned();
        let words = format!("somebody else committed: {} commit: mine", &mine[..10]);
        assert_eq!(reason, words, "{what}");
        assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine, "{what}");
        goes_on(&repo, what);
    }
}

#[test]
fn a_commit_of_the_agents_that_a_person_takes_back_is_no_attempt_of_the_agents() {
    let repo = repository();
    let start = repo.git(&["rev-parse", "HEAD"]);
    let script = "touch a; git add a; git commit -qm agent; git rev-parse HEAD >\"$OUT/agents\"";
    let run = repo.cycle(&format!("{ME}{script}; me git reset -q --hard HEAD~1"));
    let reason = left(&repo, "reset", run);
    let words = format!(
        "somebody else moved HEAD: {} reset: moving to HEAD~1",
        &start[..10]
    );
    assert_eq!(reason, words);
    let agents = repo.said("agents").trim().to_owned();
    assert_eq!(repo.git(&["cat-file", "-t", &agents]), "commit");
    goes_on(&repo, "reset");
}

#[test]
fn a_commit_that_the_agent_takes_back_is_kept_under_a_ref() {
    for (what, script) in [
        ("reset", "git reset -q --hard HEAD~1"),
        ("amended", "git commit -q --amend -m agent"),
        (
            "rebased",
            "git rebase -q --exec 'git commit -q --amend -m again' HEAD~2",
        ),
    ] {
        let repo = repository();
        let run = repo.cycle(&format!("{ME}{MINE}{script} >/dev/null 2>&1"));
        left(&repo, what, run);
        let mine = repo.said("mine").trim().to_owned();
        let kept = "refs/evolve/*/1-others/1";
        let kept = repo.git(&["for-each-ref", "--format=%(objectname) %(refname)", kept]);
        let (commit, name) = kept.split_once(' ').unwrap();
        assert_eq!(commit, mine, "{what}");
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains(name), "{what}: {notes}");
    }
}

#[test]
fn an_agent_that_leaves_no_mark_is_taken_for_somebody_else() {
    for (what, script) in [
        ("a scrubbed environment", "me git rm -q b; me git commit -qm agent"),
        ("a scrubbed variable", "git rm -q b; env -u GIT_REFLOG_ACTION git commit -qm agent"),
        ("another word", "git rm -q b; GIT_REFLOG_ACTION=mine git commit -qm agent"),
        ("no notes at all", "git rm -q b; git -c core.logAllRefUpdates=false commit -qm agent; rm -r .git/logs"),
        ("notes that were dropped", "git rm -q b; git commit -qm agent; git reflog expire --expire=now --all"),
        ("one note that was dropped", "git rm -q b; git commit -qm one; git commit -q --allow-empty -m two
            git reflog delete main@{1}; git reflog delete HEAD@{1}"),
        ("a note before it forged", "git rm -q b; me git commit -qm agent
            for log in HEAD refs/heads/main; do tail -n 2 .git/logs/$log | head -n 1 >>.git/logs/$log; done"),
        ("a file in place of the ref", "c=$(git commit-tree -p HEAD -m x HEAD^{tree}); echo $c >.git/refs/heads/main"),
        ("HEAD in another place", "git symbolic-ref HEAD refs/heads/side"),
    ] {
        let repo = repository();
        let run = repo.cycle(&format!("{ME}{script}"));
        left(&repo, what, run);
    }
}

#[test]
fn the_agents_own_mark_is_left_where_the_repository_keeps_no_notes() {
    let without_notes = || {
        let repo = repository();
        repo.git(&["config", "core.logAllRefUpdates", "false"]);
        std::fs::remove_dir_all(repo.path(".git/logs")).unwrap();
        repo
    };
    let repo = without_notes();
    repo.agent_does(&[
        "touch a; git add a; git commit -qm agent",
        "git rm -q b; git commit -qm agent",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    sh(&repo, "git rm -q a; git commit -qm gone");
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    for script in [
        MINE.to_owned(),
        format!("{MINE}touch a; git add a; git commit -qm agent"),
    ] {
        let repo = without_notes();
        let run = repo.cycle(&format!("{ME}{script}"));
        left(&repo, &script, run);
        let mine = repo.said("mine").trim().to_owned();
        assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine, "{script}");
    }
}

/// Asserts that the commit that the branch was on is kept, and named with the way back by run, record and summary; goes back.
#[track_caller]
fn leads_back(repo: &TestRepo, what: &str, (run, start): (&Run, &str)) {
    let session = repo.newest()["session"].as_str().unwrap().to_owned();
    let way_back = format!("`git reset --keep {start}`");
    let kept = repo.git(&["for-each-ref", "--contains", start, "--format=%(refname)"]);
    assert!(
        kept.starts_with(&format!("refs/evolve/{session}/")),
        "{what}: {kept}"
    );
    assert!(
        kept.ends_with(&format!("-start/{}", &start[..10])),
        "{what}: {kept}"
    );
    let notes = repo.newest()["notes"].to_string();
    let summary = repo.read(".agents/evolve/session-summary.md");
    for told in [&run.stdout, &notes, &summary] {
        let told = told.replace('\\', "");
        assert!(
            told.contains(&way_back) && told.contains(&kept),
            "{what}: {told}"
        );
    }
    repo.git(&["checkout", "-q", "--", "."]);
    repo.git(&["reset", "-q", "--keep", start]);
}

#[test]
fn commits_that_somebody_took_out_of_the_branch_are_kept_and_the_way_back_is_named() {
    for (what, script) in [
        ("a reset", "me git reset -q --hard HEAD~1"),
        ("a commit instead", "me git commit -q --amend -m amended"),
        (
            "another history",
            "c=$(me git commit-tree -m x HEAD^{tree}); me git update-ref refs/heads/main $c
            me git reflog expire --expire=now --all",
        ),
    ] {
        let repo = repository();
        let start = repo.head();
        let run = repo.cycle(&format!("{ME}{script}; rm -f b"));
        left(&repo, what, run.clone());
        let audit = repo.evolve(&["audit"]);
        assert_eq!(audit.code, 0, "{what}\n{}", audit.stdout);
        assert!(audit.stdout.contains("cycle 1"), "{}", audit.stdout);
        leads_back(&repo, what, (&run, &start));
        goes_on(&repo, what);
    }
}

#[test]
fn commits_that_a_check_took_out_of_the_branch_are_kept_whenever_it_was_measured() {
    for (what, steps) in [
        (
            "first",
            &["git reset -q --hard HEAD~1; exit 1", "exit 1"][..],
        ),
        (
            "again",
            &["exit 1", "git reset -q --hard HEAD~2; exit 1", "exit 1"],
        ),
    ] {
        let repo = repository();
        let here = format!("cd '{}'; ", repo.root().display());
        let steps: Vec<_> = steps.iter().map(|step| format!("{here}{step}")).collect();
        let steps: Vec<_> = steps.iter().map(String::as_str).collect();
        let check = repo.check_in_turn("check", &steps);
        let goals = format!("  - {{id: c, description: c, check: {check}, weight: 5}}\n");
        repo.commit_goals(&goals);
        repo.write("mine", "mine\n");
        repo.commit_file("mine");
        let start = repo.head();
        let run = repo.cycle("touch c");
        leads_back(&repo, what, (&run, &start));
    }
}

#[test]
fn a_commit_while_the_goals_are_measured_again_is_neither_judged_nor_undone() {
    for (what, step) in [("a regression", "exit 1"), ("an improvement", "exit 0")] {
        let repo = repository();
        let step = format!(
            "cd '{}' && echo mine >mine && git add mine && git commit -qm mine && git rev-parse HEAD >'{}'; {step}",
            repo.root().display(),
            repo.out("mine").display()
        );
        let check = repo.check_in_turn(
            "check",
            &["exit 0", &step, "exit 1", "exit 1", "exit 1", "exit 1"],
        );
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: c, description: c, check: {check}, weight: 5}}\n"
        ));
        let run = repo.cycle("touch a");
        let reason = left(&repo, what, run);
        assert!(reason.contains("while the goals were measured"), "{reason}");
        let mine = repo.said("mine").trim().to_owned();
        assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine, "{what}");
        assert!(repo.has("a") && repo.has("mine"), "{what}");
        assert!(!repo.has(".agents/evolve/fitness-1-post.json"), "{what}");
    }
}

#[test]
fn a_commit_while_the_goals_are_measured_first_is_measured_too_before_an_agent_is_called() {
    let repo = repository();
    let step = format!(
        "cd '{}' && echo mine >mine && git add mine && git commit -qm mine; exit 0",
        repo.root().display()
    );
    let check = repo.check_in_turn("check", &[&step, "exit 0", "exit 0", "exit 0"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: c, description: c, check: {check}, weight: 5}}\n"
    ));
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.calls(), 1);
    assert!(repo.subjects().contains(&"mine".to_owned()));
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn a_check_that_commits_whenever_it_is_measured_ends_the_session_before_an_agent_is_called() {
    let repo = repository();
    repo.commit_goals(
        "  - {id: a, description: a, check: echo x >>README; git commit -qam check; test -e a, weight: 5}\n",
    );
    let run = repo.cycle("touch a").expect(11);
    assert_eq!(repo.calls(), 0);
    assert!(
        run.stdout.contains("while the goals were measured"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("a check"), "{}", run.stdout);
}

#[test]
fn a_person_who_goes_to_another_branch_stays_there() {
    for (what, script) in [
        ("a branch beside it", "me git switch -q side"),
        ("a new branch", "me git switch -qc topic"),
        (
            "a new branch with a commit",
            "me git switch -qc topic; me git commit -q --allow-empty -m mine",
        ),
        ("a detached HEAD", "me git switch -q --detach HEAD~1"),
    ] {
        let repo = repository();
        let start = repo.head();
        let run = repo.cycle(&format!(
            "{ME}{script}; cat .git/HEAD >\"$OUT/head\"; me git rev-parse HEAD >\"$OUT/there\""
        ));
        assert_eq!(run.code, 11, "{what}\n{}\n{}", run.stdout, run.stderr);
        assert_eq!(repo.read(".git/HEAD"), repo.said("head"), "{what}");
        assert_eq!(repo.head(), repo.said("there").trim(), "{what}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        // What is to be recorded is on the branch that the cycle belongs to.
        assert_eq!(repo.git(&["rev-parse", "main~2"]), start, "{what}");
        repo.git(&["switch", "-q", "main"]);
        assert_eq!(repo.each("result"), ["interrupted"], "{what}");
        goes_on(&repo, what);
    }
}

#[test]
fn a_cycle_is_recorded_on_the_branch_that_it_worked_on_wherever_the_last_one_was() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n  - {id: b, description: d, check: 'echo >>$OUT/runs; test $(wc -l <$OUT/runs) != 3 || git switch -q side; test -e b', weight: 5, retries: 0}\n",
    )
    .with_out();
    repo.write("b", "");
    repo.commit_all("b");
    repo.git(&["branch", "side"]);
    repo.agent_does(&["git rm -q b; git commit -qm w", "touch a"]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let of = |branch: &str| {
        let subjects = repo.git(&["log", "--format=%s", branch]);
        let cycles = subjects
            .lines()
            .filter(|it| it.starts_with("evolve: cycle"));
        cycles.filter(|it| it.contains(" — ")).count()
    };
    assert_eq!((of("main"), of("side")), (1, 1), "{}", run.stdout);
    assert!(repo.has("a"));
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn a_commit_between_the_plan_of_an_undo_and_its_first_step_leaves_everything_untouched() {
    let repository = repository();
    let repo = Repo::discover(&repository.root()).unwrap();
    let workspace = Workspace { repo: &repo };
    let start = workspace.begin("session", 1, WayOut::Commit, &[]).unwrap();
    let agent = format!(
        "export GIT_REFLOG_ACTION={}; git rm -q b; git commit -qm agent",
        start.mark()
    );
    sh(&repository, &agent);
    let stock = workspace.take_stock(&start).unwrap();
    let plan = workspace
        .plan_undo(&start, &stock, "revert", "why")
        .unwrap();
    sh(
        &repository,
        &format!("OUT='{}'; {ME}{MINE}", repository.out("").display()),
    );
    let mine = repository.head();
    let settled = workspace
        .settle(&start, &stock, Fate::Undo, plan.as_ref())
        .unwrap();
    assert!(settled.was_outrun && !settled.was_undone);
    assert_eq!(settled.commit, mine);
    assert_eq!(repository.head(), mine);
    assert!(!repository.has("b") && repository.has("mine"));
    assert_eq!(repository.status(), Vec::<String>::new());
}

#[test]
fn a_commit_that_is_written_in_the_main_tree_keeps_its_lock_beside_a_session_in_a_linked_one() {
    let repo = repository();
    sh(&repo, "git worktree add -q -b night \"$OUT/tree\"");
    repo.agent_does(&[
        "touch \"$OUT/at-work\"; until [ -e \"$OUT/editing\" ]; do sleep 0.02; done; touch a",
    ]);
    let mut evolve = repo.command(env!("CARGO_BIN_EXE_evolve"));
    evolve.args([&format!("--agent={}", repo.agent()), "--max-cycles=1"]);
    evolve.current_dir(repo.out("tree")).stdout(Stdio::piped());
    let session = evolve.stderr(Stdio::piped()).spawn().unwrap();
    repo.wait_for("at-work");
    repo.write("README", "three\n");
    let editor = "touch \"$OUT/editing\"; until [ -e \"$OUT/written\" ]; do sleep 0.02; done; echo mine >\"$1\"";
    fs::write(repo.out("editor"), editor).unwrap();
    let mut commit = repo.command("git");
    commit.args(["commit", "-qa"]);
    commit.env("GIT_EDITOR", "sh \"$OUT/editor\"");
    let mut commit = commit.spawn().unwrap();
    let ran = finish(session);
    fs::write(repo.out("written"), "").unwrap();
    assert!(commit.wait().unwrap().success(), "{}", ran.stdout);
    ran.expect(0);
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]), "mine");
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_git_that_holds_the_lock_of_the_index_for_moments_is_waited_for() {
    let repo = repository();
    let lock = repo.root().join(".git/index.lock");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // As the `git status` of a prompt or an editor does, which writes down what it has read.
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                let made = fs::File::create_new(&lock).is_ok();
                std::thread::sleep(Duration::from_millis(60));
                if made {
                    fs::remove_file(&lock).unwrap();
                }
                std::thread::sleep(Duration::from_millis(60));
            }
        });
        repo.agent_does(&["rm b; touch c", "touch a"]);
        let run = repo.run(&["--max-cycles=2"]);
        is_over.store(true, Ordering::SeqCst);
        run.expect(0);
    });
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_commit_that_takes_the_record_away_before_the_index_has_it_is_put_right_by_the_same_session() {
    let mut repo = repository();
    // After the record's commit git is told of the ledger's files, which the index does not have yet. Who commits then has removed the lock.
    let path = with_git(
        &repo,
        &format!(
            "{ME}case \" $* \" in *' update-index --add '*) if [ ! -e \"$OUT/mine\" ] && grep -q recording .git/evolve/journal.json; then touch \"$OUT/mine\"; (unset GIT_INDEX_FILE; rm .git/index.lock; {MINE}); fi;; esac"
        ),
    );
    repo.env.push(("PATH".to_owned(), path));
    let run = repo.cycle("touch a").expect(0);
    let mine = repo.said("mine");
    let taken = repo.git(&["show", "--format=", "--name-status", mine.trim()]);
    assert!(
        taken.contains("D\t.agents/evolve/cycle-history.jsonl"),
        "{taken}"
    );
    assert!(
        run.stderr.contains("put right from the last ledger"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.each("result"), ["improved"]);
    let committed = repo.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    for name in [
        "cycle-history.jsonl",
        "fitness-0-baseline.json",
        "fitness-1.json",
        "fitness-1-post.json",
    ] {
        assert!(committed.contains(name), "{name}: {committed}");
    }
    assert_eq!(repo.read("mine"), "mine\n");
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.cycle("touch c").expect(0);
    assert_eq!(repo.each("cycle"), ["1", "2"]);
}
