//! `--isolate`: the agent works in a copy of its own, and only what is kept comes back. `measure: clean`: checks see nothing
//! but what is committed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{
    Run, TestRepo, assert_gone, everything_below, finish, is_alive, pid_in, signal, wait_until,
};

/// A repository whose goals are files, with some of everything that a user may have there.
fn lived_in() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: file a exists, check: test -e a, weight: 5}\n  - {id: kept, description: the file stays, check: test -e kept, weight: 9}\n",
    );
    repo.write("kept", "kept\n");
    repo.write("edited", "old\n");
    repo.write("staged", "old\n");
    repo.write(".gitignore", "*.ignored\n.env\n");
    repo.commit_all("first");
    repo.write("edited", "stashed\n");
    repo.git(&["stash", "push", "-q", "-m", "mine"]);
    repo.git(&["tag", "mine"]);
    repo.git(&["branch", "other"]);
    repo.write("edited", "mine, not committed\n");
    repo.write("staged", "mine, staged\n");
    repo.git(&["add", "staged"]);
    repo.write("staged", "mine, staged and edited\n");
    repo.write("untracked", "mine, untracked\n");
    repo.write("folder/x.ignored", "mine, ignored\n");
    repo
}

/// Runs one isolated cycle with this script.
fn cycle(repo: &TestRepo, script: &str) -> Run {
    repo.agent_does(&[script]);
    repo.run(&["--isolate", "--max-cycles=1"])
}

#[test]
fn refs_that_the_users_settings_hide_from_others_are_taken_over() {
    for hidden in ["transfer.hideRefs", "uploadpack.hideRefs"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.git(&["config", "--global", hidden, "refs/evolve"]);
        cycle(&repo, "touch a").expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{hidden}");
    }
}

/// What of the user's nobody may touch: files, staged entries, settings, hooks, and refs but the one that is worked on.
#[derive(Debug, PartialEq)]
struct Theirs {
    files: BTreeMap<Vec<u8>, (u32, Vec<u8>)>,
    staged: Vec<String>,
    settings: String,
    hooks: BTreeMap<PathBuf, (u32, u64)>,
    refs: Vec<String>,
    stash: String,
}

fn theirs(repo: &TestRepo) -> Theirs {
    let lines = |text: String| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let mut refs = lines(repo.git(&["for-each-ref"]));
    refs.retain(|line| !line.ends_with("refs/heads/main") && !line.contains("refs/evolve/"));
    let mut files = repo.files();
    files.remove(b"a".as_slice());
    let mut staged = lines(repo.git(&["ls-files", "--stage"]));
    staged.retain(|line| !line.contains(".agents/") && !line.ends_with("\ta"));
    Theirs {
        files,
        staged,
        settings: fs::read_to_string(repo.path(".git/config")).unwrap(),
        hooks: everything_below(&repo.path(".git/hooks")),
        refs,
        stash: repo.git(&["stash", "list"]),
    }
}

/// The folder of the repository's slots.
fn slots(repo: &TestRepo) -> PathBuf {
    let all = repo.home().join(".cache/evolve").canonicalize().unwrap();
    let entries = fs::read_dir(all).unwrap();
    let mut folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

fn reason(repo: &TestRepo) -> String {
    repo.newest()["reason"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The ref under which the work of a cycle stays.
fn work_ref(repo: &TestRepo) -> String {
    let newest = repo.newest();
    format!(
        "refs/evolve/{}/{}",
        newest["session"].as_str().unwrap(),
        newest["cycle"]
    )
}

#[test]
fn a_kept_change_comes_back_to_the_branch_and_into_the_tree() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let start = repo.head();
    cycle(
        &repo,
        "pwd >$OUT/where; echo good >a; git add a; git commit -qm 'the work'; echo more >b",
    )
    .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(
        repo.subjects()[1..],
        [
            "evolve: cycle 1 — a improved",
            "evolve: cycle 1, what the agent left uncommitted",
            "the work",
            "first"
        ]
    );
    assert_eq!(
        (repo.read("a"), repo.read("b")),
        ("good\n".into(), "more\n".into())
    );
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(repo.newest()["reverted_to"], Value::Null);
    assert_ne!(repo.newest()["commit_sha"], start);
    let place = PathBuf::from(repo.said("where").trim());
    assert_eq!(place, slots(&repo).join("agent"));
    repo.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(repo.git(&["for-each-ref", "refs/evolve"]), "");
    repo.evolve(&["audit"]).expect(0);
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
    assert_eq!(
        repo.git(&["log", "-1", "--format=%s", &work_ref(&repo)]),
        "bad"
    );
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn it_works_on_a_dirty_tree_and_leaves_every_byte_of_it() {
    let repo = lived_in();
    let before = theirs(&repo);
    cycle(&repo, "test \"$(cat edited)\" = old && touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(repo.has("a"));
    assert_eq!(theirs(&repo), before);
    let mut status = repo.status();
    status.sort();
    assert_eq!(status, [" M edited", "?? untracked", "MM staged"]);
}

#[test]
fn whatever_an_agent_does_to_its_copy_nothing_of_the_users_is_touched() {
    for attack in [
        "rm -rf .git",
        "rm -rf .git; git init -q; touch a; git add a; git -c user.name=x -c user.email=x@x commit -qm new",
        "mv .git gone; touch a",
        "here=$PWD; cd ..; chmod 700 .; rm -rf \"$here\"",
        "here=$PWD; cd ..; rm -rf \"$here\"; ln -s \"$USERS\" \"$here\"",
        // Somebody removes all copies, and has not come to an end.
        "here=$PWD; rm -f ../owner *",
        "rm -rf .git; ln -s \"$USERS/.git\" .git; touch a",
        "rm -rf .git; echo \"gitdir: $USERS/.git\" >.git; touch a",
        "rm .git/index; ln -s \"$USERS/.git/index\" .git/index; touch a",
        "rm .git/refs/heads/main; ln -s \"$USERS/.git/refs/heads/main\" .git/refs/heads/main; touch a",
        "rm .git/HEAD; mkfifo .git/HEAD",
        "echo \"$USERS/.git\" >.git/commondir; touch a",
        "git clean -fdxq; git stash clear; git branch -D other; git tag -d mine; git update-ref -d refs/heads/main",
        "git commit -q --amend -m rewritten; git rm -q kept; git commit -qm bad",
        "git checkout -q --orphan fresh; git rm -rqf .; git commit -q --allow-empty -m nothing",
        "chmod -R a-w .git; chmod 000 .git/objects",
        "rm -rf .git/objects; touch a",
        "echo rubbish >.git/packed-refs; echo rubbish >.git/refs/heads/main",
    ] {
        let mut repo = lived_in();
        repo.env
            .push(("USERS".to_owned(), repo.root().display().to_string()));
        let (start, before) = (repo.head(), theirs(&repo));
        let script = format!("{attack}\necho done >$OUT/done\n");
        // Nobody can tell who removed a copy: the run ends, so that it does not go on for ever.
        let is_removed = attack.contains("here=$PWD");
        cycle(&repo, &script).expect(if is_removed { 3 } else { 0 });
        assert!(repo.out("done").exists(), "{attack}");
        assert_eq!(theirs(&repo), before, "{attack}");
        let results = repo.each("result");
        assert!(
            results.len() == 1 && !results.contains(&"improved".to_owned()),
            "{attack}: {results:?}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{attack}");
        repo.git(&["fsck", "--strict", "--no-dangling"]);
        cycle(&repo, "test -e kept && touch a").expect(0);
        assert_eq!(repo.each("result").last().unwrap(), "improved", "{attack}");
        assert_eq!(theirs(&repo), before, "{attack}");
    }
}

#[test]
fn what_an_agent_plants_in_its_copy_is_never_executed() {
    let repo = lived_in();
    let canary = "printf '#!/bin/sh\\ntouch \"$OUT/canary\"; cat 2>/dev/null\\n' >$OUT/plant; chmod +x $OUT/plant";
    let plants = [
        "for h in pre-commit post-checkout post-index-change reference-transaction post-rewrite; do cp $OUT/plant .git/hooks/$h 2>/dev/null || { mkdir -p .git/hooks; cp $OUT/plant .git/hooks/$h; }; done",
        "git config core.fsmonitor $OUT/plant; git config core.hooksPath $OUT; git config uploadpack.packObjectsHook $OUT/plant",
        "git config filter.f.clean $OUT/plant; git config filter.f.smudge $OUT/plant; mkdir -p .git/info; echo '* filter=f' >.git/info/attributes",
        "git config diff.external $OUT/plant; git config core.sshCommand $OUT/plant; git config include.path $OUT/more",
        "printf '[core]\\n\\tfsmonitor = %s\\n' \"$OUT/plant\" >$OUT/more; cp $OUT/more .git/config.worktree; git config extensions.worktreeConfig true",
    ];
    let script = format!(
        "touch a kept\n{canary}\n{}\nrm -f $OUT/canary\n",
        plants.join("\n")
    );
    cycle(&repo, &script).expect(0);
    assert!(!repo.out("canary").exists());
    assert_eq!(repo.each("result"), ["improved"]);
    cycle(&repo, "git rm -q kept; git commit -qm bad").expect(0);
    assert!(!repo.out("canary").exists());
}

#[test]
fn the_work_of_an_agent_that_removed_its_git_is_kept_from_its_files() {
    let repo = lived_in();
    cycle(&repo, "echo work >a; rm -rf .git").expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert!(
        reason(&repo).starts_with("history rewritten: the .git"),
        "{}",
        reason(&repo)
    );
    assert_eq!(
        repo.git(&["show", &format!("{}:a", work_ref(&repo))]),
        "work"
    );
}

#[test]
fn a_user_who_commits_meanwhile_gets_both() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let commit = "cd \"$OUT/../repo\" && echo mine >mine && git add mine && git commit -qm mine";
    cycle(
        &repo,
        &format!("touch a; git add a; git commit -qm work; ({commit})"),
    )
    .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(repo.has("a") && repo.read("mine") == "mine\n");
    assert_eq!(repo.status(), Vec::<String>::new());
    let tip = repo.newest()["commit_sha"].as_str().unwrap().to_owned();
    assert_eq!(
        repo.git(&["log", "-1", "--format=%s", &format!("{tip}^1")]),
        "mine"
    );
    assert_eq!(
        repo.git(&["log", "-1", "--format=%s", &format!("{tip}^2")]),
        "work"
    );
    assert_eq!(
        repo.git(&["log", "-1", "--format=%s", "HEAD~2"]),
        repo.git(&["log", "-1", "--format=%s", &tip])
    );
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn a_commit_whose_message_is_still_written_is_waited_for() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let editor = repo.out("editor");
    fs::write(
        &editor,
        "touch \"$OUT/open\"; until [ -e \"$OUT/done\" ]; do sleep 0.05; done; echo mine >\"$1\"\n",
    )
    .unwrap();
    repo.write("mine", "mine\n");
    repo.git(&["add", "mine"]);
    let mut commit = repo.command("git");
    commit.args(["-C", repo.root().to_str().unwrap(), "commit", "-q"]);
    commit.env("GIT_EDITOR", format!("sh '{}'", editor.display()));
    let mut commit = commit.spawn().unwrap();
    repo.wait_for("open");
    repo.agent_does(&["touch a"]);
    let mut child = repo.spawn_run(&["--isolate", "--max-cycles=1"]);
    let mut said = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        said.push_str(&line.unwrap());
        said.push('\n');
        if said.contains("somebody writes a commit here") && !repo.out("done").exists() {
            assert!(!repo.has("a"), "nothing moves before");
            fs::write(repo.out("done"), "").unwrap();
        }
    }
    // Where nothing was waited for the commit is let go, too, and fails.
    fs::write(repo.out("done"), "").unwrap();
    assert!(commit.wait().unwrap().success(), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(repo.has("a"), "{said}");
    assert!(
        repo.git(&["log", "--format=%s"])
            .lines()
            .any(|line| line == "mine")
    );
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_git_of_the_users_that_holds_the_index_or_a_ref_is_waited_for_and_the_change_lands_then() {
    for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        let lock = repo.path(&format!(".git/{name}"));
        repo.agent_does(&[&format!("touch a; touch \"$OUT/../repo/.git/{name}\"")]);
        let mut child = repo.spawn_run(&["--isolate", "--max-cycles=1"]);
        let mut said = String::new();
        // Once: while the change lands, evolve has locks of its own there.
        let mut is_held = true;
        let waits = format!("another git is at work here, as its {name} says");
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            said.push_str(&line.unwrap());
            said.push('\n');
            if is_held && said.contains(&waits) {
                assert!(!repo.has("a"), "nothing moves before");
                fs::remove_file(&lock).unwrap();
                is_held = false;
            }
        }
        assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
        assert_eq!(repo.each("result"), ["improved"]);
        assert!(repo.has("a"));
        assert_eq!(repo.status(), Vec::<String>::new());
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn a_stop_ends_the_wait_for_a_git_of_the_users_and_says_where_the_good_change_stays() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let lock = repo.path(".git/index.lock");
    repo.agent_does(&["touch a; (cd \"$OUT/../repo\" && mkdir -p .agents/evolve && touch .git/index.lock .agents/evolve/STOP)"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(3);
    fs::remove_file(&lock).unwrap();
    let work = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve/*/1"]);
    let said = format!(
        "the good change stays under {work}: `git merge {work}` takes it in once nothing is in its way"
    );
    assert!(run.stdout.contains(&said), "{work}: {}", run.stdout);
    assert!(run.stderr.contains("index.lock"), "{}", run.stderr);
    // The next start records what that could not.
    repo.evolve(&["stop", "--off"]).expect(0);
    repo.agent_does(&["touch a"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    let reason = repo.records()[0]["reason"].to_string();
    assert!(
        reason.contains(&format!("it stays under {work}")),
        "{reason}"
    );
}

#[test]
fn a_rebase_of_the_users_is_waited_for_and_nothing_moves_the_branch_under_it() {
    for (end, result) in [("--abort", "improved"), ("--continue", "interrupted")] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.write("two", "2\n");
        repo.commit_all("two");
        repo.agent_does(&[
            "touch a; cd \"$OUT/../repo\"; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~1",
        ]);
        let mut child = repo.spawn_run(&["--isolate", "--max-cycles=1"]);
        let mut said = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line.contains("a rebase of main is in progress here") {
                assert!(!repo.has("a"), "nothing moves before");
                repo.write("two", "3\n");
                repo.git(&["add", "two"]);
                repo.git(&["-c", "core.editor=true", "rebase", end]);
            }
            said.push_str(&line);
            said.push('\n');
        }
        assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
        assert_eq!(repo.each("result"), [result], "{said}");
        assert_eq!(repo.has("a"), result == "improved", "{said}");
        assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_eq!(repo.status(), Vec::<String>::new());
        // What does not go on from the branch that the user made anew is under a ref of its own.
        if result == "interrupted" {
            let session = repo.records()[0]["session"].as_str().unwrap().to_owned();
            repo.git(&[
                "rev-parse",
                "--verify",
                &format!("refs/evolve/{session}/1:a"),
            ]);
        }
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn a_user_who_never_stops_committing_keeps_three_changes_off_and_is_told_where_they_are() {
    // Each time that anything is measured there is another commit.
    let check = "test -e a; r=$?; git -C $OUT/../repo commit -q --allow-empty -m theirs; exit $r";
    let goal = format!("  - {{id: a, description: d, check: '{check}', weight: 5}}\n");
    let repo = TestRepo::with_goals(&goal).with_out();
    repo.agent_does(&["touch a", "touch a", "touch a"]);
    let run = repo.run(&["--isolate"]).expect(11);
    assert_eq!(repo.each("result"), ["interrupted"; 3]);
    assert!(!repo.has("a"));
    let kept: Vec<_> = repo
        .records()
        .iter()
        .map(|record| {
            let session = record["session"].as_str().unwrap();
            format!("refs/evolve/{session}/{}", record["cycle"])
        })
        .collect();
    let words = format!("they stay under {}", kept.join(", "));
    assert!(run.stdout.contains(&words), "{}", run.stdout);
    assert!(reason(&repo).contains(&kept[2]), "{}", reason(&repo));
    for work in kept {
        repo.git(&["cat-file", "-e", &format!("{work}:a")]);
    }
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn a_change_that_conflicts_with_a_commit_made_meanwhile_is_dropped_without_a_strike() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let commit =
        "cd \"$OUT/../repo\" && echo mine >shared && git add shared && git commit -qm mine";
    cycle(&repo, &format!("touch a; echo theirs >shared; ({commit})")).expect(0);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(
        reason(&repo),
        "conflicts with what was committed meanwhile: shared"
    );
    assert_eq!(repo.read("shared"), "mine\n");
    assert!(!repo.has("a"));
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(
        repo.git(&["show", &format!("{}:shared", work_ref(&repo))]),
        "theirs"
    );
}

#[test]
fn a_change_that_breaks_something_only_together_with_a_commit_made_meanwhile_is_undone() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: one, description: not both, check: '! test -e a || ! test -e mine', weight: 3}\n",
    )
    .with_out();
    let commit = "cd \"$OUT/../repo\" && echo mine >mine && git add mine && git commit -qm mine";
    cycle(&repo, &format!("touch a; ({commit})")).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(
        reason(&repo),
        "together with what was committed meanwhile it breaks one"
    );
    assert!(repo.has("mine") && !repo.has("a"));
}

#[test]
fn what_a_commit_made_meanwhile_breaks_alone_is_not_the_changes_fault() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.write("b", "");
    repo.commit_all("b");
    let commit = "cd \"$OUT/../repo\" && git rm -q b && git commit -qm oops";
    cycle(&repo, &format!("touch a; ({commit})")).expect(0);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(reason(&repo), "what was committed meanwhile breaks b");
    assert!(!repo.has("a") && !repo.has("b"));
}

#[test]
fn an_undone_cycle_does_not_touch_what_was_committed_meanwhile() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.write("b", "");
    repo.commit_all("b");
    let commit = "cd \"$OUT/../repo\" && echo mine >mine && git add mine && git commit -qm mine";
    cycle(&repo, &format!("git rm -q b; ({commit})")).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(repo.read("mine"), "mine\n");
    assert_eq!(
        repo.subjects()[1..],
        ["evolve: cycle 1 — a regressed", "mine", "b", "first"]
    );
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn an_uncommitted_edit_in_the_way_of_a_kept_change_stops_the_run_and_loses_neither() {
    for (script, prepare) in [
        ("touch a; echo theirs >edited", "echo mine >edited"),
        ("touch a; echo theirs >new", "echo mine >new"),
        (
            "touch a; echo theirs >new.ignored; git add -f new.ignored",
            "echo mine >new.ignored",
        ),
        (
            "touch a; mkdir new; echo theirs >new/file",
            "echo mine >new",
        ),
        (
            "touch a; echo theirs >new",
            "mkdir new; echo mine >new/file",
        ),
        ("touch a; git rm -q edited", "echo mine >edited"),
        (
            "touch a; echo theirs >edited",
            "echo mine >edited; git add edited; echo old >edited",
        ),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.write("edited", "old\n");
        repo.write(".gitignore", "*.ignored\n");
        repo.commit_all("more");
        let mut shell = repo.command("sh");
        assert!(shell.args(["-ec", prepare]).status().unwrap().success());
        let (before, staged) = (repo.files(), repo.git(&["ls-files", "--stage"]));
        let start = repo.head();
        cycle(&repo, script).expect(11);
        assert_eq!(repo.files(), before, "{script}");
        let listed = repo.git(&["ls-files", "--stage"]);
        let listed: Vec<_> = listed
            .lines()
            .filter(|line| !line.contains(".agents/"))
            .collect();
        assert_eq!(listed, staged.lines().collect::<Vec<_>>(), "{script}");
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{script}");
        assert_eq!(repo.each("result"), ["interrupted"], "{script}");
        let work = work_ref(&repo);
        assert!(
            reason(&repo).ends_with(&format!("it stays under {work}")),
            "{}",
            reason(&repo)
        );
        // What the ending proposes works.
        repo.git(&["stash", "push", "-q", "--all"]);
        repo.git(&["-c", "user.name=x", "merge", "-q", "--no-edit", &work]);
        assert!(repo.has("a"), "{script}");
    }
}

#[test]
fn whoever_takes_a_change_in_by_hand_is_told_what_of_it_judges() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: test -e a && make -s test, weight: 5}\n",
    )
    .with_out();
    repo.write("Makefile", "test:\n\ttrue\n");
    repo.write("tests/one", "1\n");
    repo.commit_all("more");
    repo.write("new", "mine\n");
    let run = cycle(
        &repo,
        "echo '# less' >>Makefile; rm -r tests; ln -s /nowhere/tests tests; touch a; echo theirs >new",
    );
    let run = run.expect(11);
    for told in [
        "changed what a check leans on and only `protect` would freeze: Makefile",
        "links that lead out of the repository: tests → /nowhere/tests",
        "the change is good, but what is not committed here is in the way of it: new",
    ] {
        assert!(run.stdout.contains(told), "{told}:\n{}", run.stdout);
    }
}

#[test]
fn a_branch_that_was_left_meanwhile_gets_the_change_and_the_tree_stays_as_it_is() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let switch = "cd \"$OUT/../repo\" && git switch -q -c mine && echo mine >mine";
    cycle(&repo, &format!("touch a; ({switch})")).expect(0);
    assert_eq!(repo.git(&["symbolic-ref", "--short", "HEAD"]), "mine");
    assert_eq!(repo.status(), ["?? mine"]);
    assert!(!repo.has("a"));
    assert!(!repo.has(".agents/evolve/cycle-history.jsonl"));
    repo.git(&["switch", "-q", "main"]);
    assert!(repo.has("a"));
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_session_ends_when_another_branch_is_checked_out_between_its_cycles() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.agent_does(&["touch a; (cd \"$OUT/../repo\" && git switch -q -c mine)"]);
    let run = repo.run(&["--isolate"]).expect(3);
    assert!(
        run.stderr.contains("mine is checked out now"),
        "{}",
        run.stderr
    );
    repo.git(&["switch", "-q", "main"]);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_killed_session_leaves_the_branch_alone_and_the_next_one_settles_it_with_or_without_isolation()
{
    for next in [&["--isolate", "--max-cycles=1"][..], &["--max-cycles=1"]] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        let start = repo.head();
        repo.agent_does(&[
            "echo half >half; git add half; git commit -qm half; echo $$ >\"$OUT/pid\"; sleep 300",
        ]);
        let mut child = repo.spawn_run(&["--isolate"]);
        pid_in(&repo.out("pid"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(repo.head(), start);
        assert_eq!(repo.content("HEAD"), repo.content(&start));
        repo.agent_does(&["touch a"]);
        repo.run(next).expect(0);
        assert_gone(&[repo.out("pid")]);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
        assert_eq!(repo.records()[0]["reverted_to"], start);
        let session = repo.records()[0]["session"].as_str().unwrap().to_owned();
        let work = format!("refs/evolve/{session}/1");
        assert_eq!(repo.git(&["show", &format!("{work}:half")]), "half");
        assert!(!repo.subjects().contains(&"half".to_owned()));
        assert!(repo.has("a") && !repo.has("half"));
        assert_eq!(repo.status(), Vec::<String>::new());
    }
}

#[test]
fn a_killed_session_is_settled_though_git_removed_the_objects_that_no_ref_leads_to() {
    for (is_ledger_there, next) in [
        (true, &["--isolate", "--max-cycles=1"][..]),
        (true, &["--max-cycles=1"]),
        (false, &["--isolate", "--max-cycles=1"]),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.agent_does(&["echo $$ >\"$OUT/pid\"; sleep 300"]);
        let mut child = repo.spawn_run(&["--isolate"]);
        pid_in(&repo.out("pid"));
        child.kill().unwrap();
        child.wait().unwrap();
        repo.git(&["gc", "--quiet", "--prune=now"]);
        let baseline = ".agents/evolve/fitness-0-baseline.json";
        let before = repo.read(baseline);
        if !is_ledger_there {
            fs::remove_dir_all(repo.path(".agents")).unwrap();
        }
        repo.agent_does(&["touch a"]);
        let run = repo.run(next).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
        let said = "git removed what the session that died had noted of its cycle, and the files are gone, too";
        assert_eq!(
            run.stderr.contains(said),
            !is_ledger_there,
            "{}",
            run.stderr
        );
        if is_ledger_there {
            assert_eq!(repo.read(baseline), before);
            let committed = repo.git(&["show", &format!("HEAD:{baseline}")]);
            assert_eq!(committed.trim_end(), before.trim_end());
        }
        assert_eq!(repo.status(), Vec::<String>::new());
    }
}

#[test]
fn work_that_was_queued_is_done_though_git_removed_the_objects_of_the_session_that_died_at_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("a", "");
    repo.commit_all("a");
    repo.evolve(&["work", "add", "tidy up", "--severity", "high"])
        .expect(0);
    repo.evolve(&["work", "add", "tidy more"]).expect(0);
    repo.agent_does(&["echo $$ >\"$OUT/pid\"; sleep 300"]);
    let mut child = repo.spawn_run(&["--isolate"]);
    pid_in(&repo.out("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.agent_does(&["touch tidy", "touch more"]);
    let run = repo.run(&["--isolate", "--max-cycles=2"]).expect(0);
    let is_told = |words| run.stderr.contains(words);
    assert!(
        !is_told("git removed") && !is_told("appeared"),
        "{}",
        run.stderr
    );
    assert_eq!(
        repo.each("result"),
        ["interrupted", "harvested", "harvested"]
    );
    let tidied = ["tidy up", "tidy up", "tidy more"].map(|title| format!("next-work:{title}"));
    assert_eq!(repo.each("goal_id"), tidied);
    let queue = repo.read(".agents/rpi/next-work.jsonl");
    assert!(
        !queue.contains("by-agent") && !queue.contains("claimed"),
        "{queue}"
    );
    assert_eq!(
        queue.matches("\"source\":\"evolve work add\"").count(),
        2,
        "{queue}"
    );
}

#[test]
fn whatever_shape_a_change_has_it_lands() {
    for change in [
        "mkdir new; echo x >new/x",
        "mkdir -p deep/er/still; echo x >deep/er/still/x; echo y >deep/y",
        "git mv folder moved",
        "git rm -q folder/one folder/two; echo file >folder",
        "rm name; mkdir name; echo x >name/x",
        "ln -s name link; rm -r folder; ln -s name folder",
        "rm name; ln -s folder/one name",
        "chmod +x name; echo more >>folder/one",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.write("folder/one", "1\n");
        repo.write("folder/two", "2\n");
        repo.write("name", "n\n");
        repo.commit_all("more");
        cycle(&repo, &format!("touch a; {change}")).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{change}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{change}");
        repo.git(&["diff", "--exit-code", "HEAD"]);
    }
}

#[test]
fn a_copy_that_was_removed_after_a_crash_is_said_to_be_gone_with_what_was_in_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.agent_does(&[
        "echo half >half; git add half; git commit -qm half; echo $$ >\"$OUT/pid\"; sleep 300",
    ]);
    let mut child = repo.spawn_run(&["--isolate"]);
    pid_in(&repo.out("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    let pid = pid_in(&repo.out("pid"));
    wait_until("the agent is gone", || !is_alive(pid));
    fs::remove_dir_all(slots(&repo)).unwrap();
    repo.agent_does(&["touch a"]);
    let next = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert!(
        next.stdout
            .contains("its copy was removed, and with it what the agent had done"),
        "{}",
        next.stdout
    );
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_session_that_died_while_a_change_landed_is_completed_or_had_not_begun() {
    for (call, has_moved) in [("checkout-index", false), ("update-index*--refresh", true)] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.write("edited", "old\n");
        repo.commit_all("more");
        let bin = repo.out("bin");
        fs::create_dir_all(&bin).unwrap();
        let git = which::which("git").unwrap();
        let script = format!(
            "#!/bin/sh\ncase \"$PWD $*\" in *repo\\ *{call}*) [ -e '{out}/killed' ] || {{ touch '{out}/killed'; kill -9 $PPID; exit 1; }};; esac\nexec '{git}' \"$@\"\n",
            out = repo.outside().display(),
            git = git.display()
        );
        fs::write(bin.join("git"), script).unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        repo.agent_does(&["touch a; echo new >edited", "touch a; echo new >edited"]);
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.env("PATH", &path);
        command.args([
            &format!("--agent={}", repo.agent()),
            "--isolate",
            "--max-cycles=1",
        ]);
        let status = command.status().unwrap();
        assert!(!status.success(), "{call}");
        assert!(repo.out("killed").exists(), "{call}");
        let expected = if has_moved { "new" } else { "old" };
        assert_eq!(repo.git(&["show", "HEAD:edited"]), expected, "{call}");
        assert_eq!(repo.read("edited").trim_end(), expected, "{call}");
        repo.run(&["--isolate", "--max-cycles=1"]);
        let result = if has_moved { "improved" } else { "interrupted" };
        assert_eq!(repo.each("result")[0], result, "{call}");
        assert_eq!(repo.read("edited"), "new\n", "{call}");
        assert!(repo.has("a"), "{call}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{call}");
    }
}

#[test]
fn what_a_filter_keeps_out_of_commits_is_in_the_quarantine_where_a_kept_change_takes_its_place() {
    for change in ["echo cell two >>book.nb", "git rm -q book.nb"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.git(&["config", "filter.strip.clean", "sed /^OUT/d"]);
        repo.git(&["config", "filter.strip.smudge", "cat"]);
        repo.write(".gitattributes", "*.nb filter=strip\n");
        repo.write("book.nb", "cell\n");
        repo.commit_all("book");
        repo.write("book.nb", "cell\nOUT: eight hours\n");
        repo.git(&["add", "book.nb"]);
        cycle(&repo, &format!("touch a; {change}")).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{change}");
        let kept = repo.quarantined();
        let (_, bytes) = &kept[&b"book.nb"[..]];
        assert_eq!(bytes, b"cell\nOUT: eight hours\n", "{change}");
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains("book.nb"), "{notes}");
    }
}

#[test]
fn a_kept_change_lands_where_a_sandbox_holds_git_back() {
    for sandbox in ["bwrap", "landlock"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.agent_does(&["mkdir d; touch a d/new"]);
        let sandbox = format!("--sandbox={sandbox}");
        let arguments = ["--isolate", "--max-cycles=1", &sandbox, "--require-sandbox"];
        let run = repo.run(&arguments).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
        assert!(repo.has("a") && repo.has("d/new"), "{sandbox}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{sandbox}");
    }
}

#[test]
fn a_change_of_attributes_lands_with_the_files_that_they_are_of() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write(".gitattributes", "*.txt text eol=crlf\n");
    repo.write("one.txt", "one\r\n");
    repo.write("two.txt", "two\r\n");
    repo.commit_all("crlf");
    let change =
        "echo '*.txt text eol=lf' >.gitattributes; printf 'more\\n' >one.txt; git rm -q two.txt";
    let run = cycle(&repo, &format!("touch a; {change}")).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(!run.stdout.contains("left as saved"), "{}", run.stdout);
    assert_eq!(repo.read("one.txt"), "more\n");
    assert!(!repo.has("two.txt") && repo.quarantined().is_empty());
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn what_the_user_edited_a_moment_ago_is_seen_after_a_landing() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("other", "one\n");
    repo.commit_all("other");
    // As long as the index is no younger, git tells by the bytes that a file with the same size and time is another one.
    let moment = SystemTime::now() - Duration::from_secs(60);
    let date = |file: PathBuf| {
        let file = fs::File::options().append(true).open(file).unwrap();
        file.set_modified(moment).unwrap();
    };
    date(repo.path("other"));
    repo.git(&["update-index", "--refresh"]);
    fs::write(repo.path("other"), "two\n").unwrap();
    date(repo.path("other"));
    date(repo.path(".git/index"));
    assert_eq!(repo.status(), [" M other"]);
    repo.git(&["config", "core.trustctime", "false"]);
    date(repo.path(".git/index"));
    cycle(&repo, "touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.status(), [" M other"]);
}

#[test]
fn work_that_is_queued_in_the_users_tree_is_taken_in() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("a", "");
    repo.commit_all("a");
    repo.evolve(&["work", "add", "Write b"]).expect(0);
    cycle(&repo, "touch b").expect(0);
    assert_eq!(repo.each("result"), ["harvested"]);
    assert!(repo.has("b"));
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_stop_file_is_looked_for_in_the_users_tree() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.agent_does(&["touch a; (cd \"$OUT/../repo\" && mkdir -p .agents/evolve && echo enough >.agents/evolve/STOP)"]);
    let run = repo.run(&["--isolate"]).expect(0);
    assert!(run.stdout.contains("enough"), "{}", run.stdout);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_signal_undoes_the_cycle_and_keeps_the_work() {
    let repo = lived_in();
    let before = theirs(&repo);
    repo.agent_does(&["echo half >a; echo $$ >\"$OUT/pid\"; sleep 300"]);
    let child = repo.spawn_run(&["--isolate"]);
    pid_in(&repo.out("pid"));
    signal(&child, "INT");
    finish(child).expect(130);
    assert_eq!(theirs(&repo), before);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(
        repo.git(&["show", &format!("{}:a", work_ref(&repo))]),
        "half"
    );
}

#[test]
fn isolation_is_a_setting_too_and_the_flag_goes_before_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &goals.replace("goals:", "evolve: {isolate: true}\ngoals:"),
    );
    repo.commit_all("isolate");
    repo.agent_does(&["pwd >$OUT/first; touch a", "pwd >$OUT/second; touch b"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.said("first").trim(),
        slots(&repo).join("agent").to_str().unwrap()
    );
    repo.run(&["--max-cycles=1", "--isolate=false"]).expect(0);
    assert_eq!(
        repo.said("second").trim(),
        repo.root().canonicalize().unwrap().to_str().unwrap()
    );
}

#[test]
fn a_check_that_finds_the_repository_by_where_it_lies_is_named_once_where_it_would_not_see_the_copy()
 {
    let repo = TestRepo::empty();
    let root = repo.root().canonicalize().unwrap();
    let root = root.display();
    repo.write("check.sh", "test -e b\n");
    repo.commit_goals(&format!(
        "  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: there, description: d, check: sh {root}/check.sh, weight: 1}}\n  - {{id: here, description: d, check: sh $PWD/check.sh, weight: 1}}\n"
    ));
    let goals = repo.read("GOALS.yaml");
    let said = "there: the check has a path that leads into the repository from outside, so that it measures your checkout";
    repo.agent_does(&["echo 'exit 0' >check.sh; touch a"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(run.stderr.matches(said).count(), 1, "{}", run.stderr);
    assert_eq!(reason(&repo), "goalposts moved: check.sh changed");
    let clean = goals.replace("goals:", "evolve: {measure: clean}\ngoals:");
    repo.write("GOALS.yaml", &clean);
    repo.commit_all("clean");
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(run.stderr.matches(said).count(), 1, "{}", run.stderr);
    // What a program has in it is no code of a shell's.
    repo.write("tool", &format!("\u{7f}ELF\0\nsh {root}/check.sh\n"));
    repo.write(
        "GOALS.yaml",
        &clean.replace(&format!("sh {root}/check.sh"), "./tool"),
    );
    repo.commit_all("a program");
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!run.stderr.contains("from outside"), "{}", run.stderr);
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("here");
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!run.stderr.contains("from outside"), "{}", run.stderr);
}

#[test]
fn goals_that_are_not_committed_are_refused_and_an_uncommitted_edit_of_them_does_not_count() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let goals = repo.read("GOALS.yaml");
    repo.write("GOALS.yaml", &goals.replace("test -e a", "true"));
    cycle(&repo, "touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    let repo = TestRepo::empty().with_out();
    repo.write("file", "");
    repo.commit_all("first");
    repo.write("GOALS.yaml", &goals);
    let run = repo.run(&["--isolate"]).expect(3);
    assert!(run.stderr.contains("commit it first"), "{}", run.stderr);
}

#[test]
fn what_was_built_stays_in_the_copy_from_cycle_to_cycle() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: 'echo x >>built.ignored; test -e a', weight: 5}\n  - {id: b, description: b, check: test -e b, weight: 3}\n",
    )
    .with_out();
    repo.write(".gitignore", "*.ignored\n");
    repo.write("source", "1\n");
    repo.commit_all("ignore");
    repo.agent_does(&[
        "stat -c %Y%i source >$OUT/first; touch a; rm -f built.ignored.x",
        "stat -c %Y%i source >$OUT/second; cp built.ignored $OUT/; touch b",
    ]);
    repo.run(&["--isolate", "--max-cycles=2"]).expect(0);
    assert_eq!(repo.said("first"), repo.said("second"));
    assert!(repo.said("built.ignored").lines().count() >= 2);
    assert!(!repo.has("built.ignored"));
}

#[test]
fn copies_of_a_repository_that_is_long_gone_are_removed_and_a_deleted_one_is_made_again() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    cycle(&repo, "touch a").expect(0);
    let folder = slots(&repo);
    let gone = folder.with_file_name("gone-0123456789ab");
    fs::create_dir_all(gone.join("agent")).unwrap();
    fs::write(gone.join("owner"), "/nowhere/at/all/.git").unwrap();
    let lately = folder.with_file_name("away-0123456789ab");
    fs::create_dir_all(lately.join("agent")).unwrap();
    fs::write(lately.join("owner"), "/on/a/drive/.git").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    let owner = fs::File::open(gone.join("owner")).unwrap();
    owner.set_modified(long_ago).unwrap();
    fs::remove_dir_all(folder.join("agent")).unwrap();
    cycle(&repo, "touch b").expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    wait_until("the copy is removed", || !gone.exists());
    // It may only be on a drive that is not there today.
    assert!(lately.join("agent").exists());
}

#[test]
fn a_repository_with_filters_a_linked_tree_or_no_depth_is_isolated_like_any_other() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 2)]).with_out();
    repo.git(&["config", "filter.f.clean", "tr a-z A-Z"]);
    repo.git(&["config", "filter.f.smudge", "tr A-Z a-z"]);
    repo.write(".gitattributes", "*.f filter=f\n*.crlf text eol=crlf\n");
    repo.write("x.f", "words\n");
    repo.write("x.crlf", "line\r\n");
    repo.commit_all("filters");
    cycle(
        &repo,
        "cp x.f x.crlf $OUT/; touch a; echo more >>x.f; printf 'line\\r\\nnext\\r\\n' >x.crlf",
    )
    .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(
        (repo.said("x.f"), repo.said("x.crlf")),
        ("words\n".into(), "line\r\n".into())
    );
    assert_eq!(
        (repo.read("x.f"), repo.read("x.crlf")),
        ("words\nmore\n".into(), "line\r\nnext\r\n".into())
    );
    assert_eq!(repo.git(&["show", "HEAD:x.f"]), "WORDS\nMORE");
    assert_eq!(repo.status(), Vec::<String>::new());

    let linked = repo.out("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    repo.agent_does(&["touch b"]);
    let agent = format!("--agent={}", repo.agent());
    let there = linked.to_str().unwrap();
    repo.evolve(&["-C", there, &agent, "--isolate", "--max-cycles=1"])
        .expect(0);
    assert!(linked.join("b").exists() && !repo.has("b"));
    assert_eq!(repo.git(&["-C", there, "status", "--porcelain"]), "");
    assert_eq!(repo.status(), Vec::<String>::new());

    let shallow = repo.out("shallow");
    let (from, to) = (
        format!("file://{}", repo.root().display()),
        shallow.to_str().unwrap(),
    );
    repo.git(&["clone", "-q", "--depth=1", "--branch=side", &from, to]);
    repo.agent_does(&["git commit -q --allow-empty -m empty; touch c"]);
    repo.evolve(&["-C", to, &agent, "--isolate", "--max-cycles=1"])
        .expect(0);
    assert!(shallow.join("c").exists());
    assert_eq!(repo.git(&["-C", to, "status", "--porcelain"]), "");
    repo.git(&["-C", to, "fsck", "--strict", "--no-dangling"]);
}

#[test]
fn a_filter_that_lies_in_the_tree_is_there_before_the_files_that_need_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.write("tools/turn.sh", "tr \"$1\" \"$2\"\n");
    repo.git(&["config", "filter.f.clean", "sh ./tools/turn.sh a-z A-Z"]);
    repo.git(&["config", "filter.f.smudge", "sh tools/turn.sh A-Z a-z"]);
    repo.git(&["config", "filter.f.required", "true"]);
    repo.write(".gitattributes", "*.f filter=f\n");
    repo.write("first.f", "words\n");
    repo.commit_all("filters");
    cycle(&repo, "cp first.f $OUT/; touch a; echo more >>first.f").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.said("first.f"), "words\n");
    assert_eq!(repo.git(&["show", "HEAD:first.f"]), "WORDS\nMORE");
    assert_eq!(repo.read("first.f"), "words\nmore\n");
    assert_eq!(repo.status(), Vec::<String>::new());

    repo.write("first.f", "other\n");
    repo.commit_all("other");
    repo.git(&["config", "filter.f.smudge", "false"]);
    repo.agent_does(&["touch b"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(3);
    let said = "no copy of this repository can be made: ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(
        run.stderr.contains("do without what needs one (--isolate"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_partial_clone_without_all_of_its_files_is_refused_with_the_way_to_get_them() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("big/file", "big\n");
    repo.write("small/file", "small\n");
    repo.commit_all("folders");
    let there = &repo.partial_clone(&["--filter=blob:none", "--sparse"]);
    repo.git(&["-C", there, "sparse-checkout", "set", "small"]);
    repo.agent_does(&["touch a"]);
    let agent = format!("--agent={}", repo.agent());
    let isolated = ["-C", there, &agent, "--isolate", "--max-cycles=1"];
    let run = repo.evolve(&isolated).expect(3);
    let said = "this is a partial clone, which has not all files that a copy of it needs";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(run.stderr.contains("`git fetch --refetch --no-filter`"));
    repo.git(&["-C", there, "fetch", "-q", "--refetch", "--no-filter"]);
    repo.evolve(&isolated).expect(0);
    let clone = Path::new(there);
    assert!(clone.join("a").exists() && !clone.join("big").exists());
    assert_eq!(repo.git(&["-C", there, "status", "--porcelain"]), "");
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_by_now_is_not_moved_under_that_tree() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let move_on =
        "cd \"$OUT/../repo\" && git switch -q -c mine && git worktree add -q \"$OUT/linked\" main";
    cycle(&repo, &format!("touch a; ({move_on})")).expect(11);
    let linked = repo.out("linked");
    let there = linked.to_str().unwrap();
    assert!(!linked.join("a").exists());
    let history = repo.git(&["show", "main:.agents/evolve/cycle-history.jsonl"]);
    let record: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(record["result"], "interrupted");
    assert_eq!(
        repo.git(&[
            "-C",
            there,
            "diff",
            "--name-only",
            "main",
            "--",
            ":!.agents"
        ]),
        ""
    );
}

#[test]
fn an_object_that_git_would_not_take_from_a_stranger_is_not_taken_over() {
    let repo = lived_in();
    let before = theirs(&repo);
    let script = "touch a; git add a; blob=$(echo x | git hash-object -w --stdin)\n\
        inner=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)\n\
        tree=$( (git ls-tree $(git write-tree); printf '040000 tree %s\\t.git\\n' $inner) | git mktree)\n\
        git update-ref refs/heads/main $(git commit-tree $tree -p HEAD -m evil)";
    cycle(&repo, script).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(theirs(&repo), before);
    repo.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn a_merge_that_somebody_began_meanwhile_is_named_as_what_keeps_a_change_from_the_branch() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let merge = repo.path(".git/MERGE_HEAD").display().to_string();
    repo.agent_does(&[&format!("touch a; git rev-parse HEAD >'{merge}'")]);
    let run = repo.run(&["--isolate"]).expect(11);
    let said = "the change is good, but a merge is in progress here; it stays under refs/evolve/";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert!(
        run.stdout.contains("end that, then `git merge"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_folder_that_was_shut_meanwhile_is_named_as_what_keeps_a_change_from_the_branch() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("shut/file", "old\n");
    repo.commit_all("more");
    let repo = repo.by_normal_user();
    let (shut, head) = (repo.path("shut"), repo.head());
    let script = format!(
        "touch a; echo new >shut/file; chmod 555 '{}'",
        shut.display()
    );
    let run = cycle(&repo, &script).expect(11);
    let said =
        "the change is good, but the folders of these files may not be written to: shut/file;";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert_eq!(repo.content("HEAD"), repo.content(&head));
    assert_eq!(repo.read("shut/file"), "old\n");
    assert!(!repo.has("a"));
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_change_that_a_filter_of_gits_cannot_write_here_is_undone_and_counts_as_an_attempt() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(".gitattributes", "*.bin filter=l\n");
    repo.commit_all("a filter");
    for (key, value) in [("clean", "cat"), ("smudge", "false"), ("required", "true")] {
        repo.git(&["config", &format!("filter.l.{key}"), value]);
    }
    let before = theirs(&repo);
    let script = "touch a; echo x >n.bin; git add -A; git commit -qm x";
    repo.agent_does(&[script, "touch a; git add a; git commit -qm a"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{record}");
    let reason = record["reason"].as_str().unwrap();
    let words = "git cannot write its files into the working tree: n.bin: smudge filter l failed";
    assert_eq!(reason, words);
    assert_eq!(theirs(&repo), before);
    assert!(!repo.has("a") && !repo.path(".git/evolve-landing").exists());
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    assert!(repo.has("a"));
}

#[test]
fn nothing_is_staged_for_a_branch_without_a_commit_that_the_user_went_to_meanwhile() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let user = format!(
        "env -u GIT_REFLOG_ACTION git -C '{}'",
        repo.root().display()
    );
    let script = format!("touch a; {user} checkout -q --orphan site; {user} rm -rqf .");
    repo.agent_does(&[&script]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/site");
    assert_eq!(repo.git(&["ls-files"]), "");
    assert_eq!(repo.status(), Vec::<String>::new());
    let kept = repo.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(
        kept.contains("cycle-history.jsonl") && kept.lines().any(|it| it == "a"),
        "{kept}"
    );
}
