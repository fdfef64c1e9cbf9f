//! What no commit holds in a submodule meets no goal, and is gone again after an undo: git sees no change in a submodule that
//! was emptied or never set up, in one whose repository is another, and where it was told not to look.

use std::fs;

use super::*;

/// Wants this check to pass, as the goal `fix`, and the file `b` to stay, which is there.
fn want(repo: &TestRepo, check: &str) {
    let goals = format!(
        "goals:\n  - {{id: fix, description: d, check: '{check}', weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 5}}\n"
    );
    repo.write("GOALS.yaml", &goals);
    repo.write("b", "b\n");
}

/// A repository whose goal `fix` fails until `s` of a submodule says so, and `b` passes; `sub` is set up, and `un` is not.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    want(&repo, "grep -q fixed sub/s un/s");
    set_up(
        &repo,
        r#"for name in sub un; do
    git init -q -b trunk "$OUT/$name"; echo todo >"$OUT/$name/s"; echo '*.ign' >"$OUT/$name/.gitignore"
    git -C "$OUT/$name" add .; git -C "$OUT/$name" commit -qm one
    git submodule -q add "$OUT/$name" "$name"
done
git add .; git commit -qm first; git submodule -q deinit -f un"#,
    );
    repo
}

/// What an agent does so that the goal passes in the tree, and in no commit.
const FOOLED: [(&str, &str); 16] = [
    ("emptied", "sed -i 's/todo/fixed/' sub/s; rm sub/.git"),
    (
        "removed and made anew as a folder",
        "rm -rf sub; mkdir sub; echo fixed >sub/s",
    ),
    (
        "edited and hidden inside",
        "echo fixed >sub/s; git -C sub update-index --assume-unchanged s",
    ),
    (
        "edited and skipped inside",
        "echo fixed >sub/s; git -C sub update-index --skip-worktree s",
    ),
    (
        "left out of a sparse checkout inside",
        "git -C sub sparse-checkout set --no-cone '/*' '!/s'; echo fixed >sub/s",
    ),
    (
        "taken for the same by a filter inside",
        "git -C sub config filter.x.clean 'echo todo'; mkdir -p .git/modules/sub/info; echo 's filter=x' >.git/modules/sub/info/attributes; echo fixed >sub/s; git -C sub add s",
    ),
    (
        "another repository",
        "rm sub/.git; git -C sub init -q; git -C sub fetch -q \"$OUT/sub\" trunk; git -C sub reset -q --hard FETCH_HEAD; echo fixed >sub/s",
    ),
    (
        "a copy of its repository elsewhere",
        "cp -r .git/modules/sub \"$OUT/copy\"; git config -f \"$OUT/copy/config\" core.worktree \"$PWD/sub\"; echo \"gitdir: $OUT/copy\" >sub/.git; echo fixed >sub/s",
    ),
    (
        "a file where it was not set up",
        "mkdir -p un; echo fixed >un/s",
    ),
    (
        "a link where it was not set up",
        "echo fixed >>b; ln -s ../b un/s",
    ),
    (
        "set up and edited",
        "git -c protocol.file.allow=always submodule -q update --init un; echo fixed >un/s",
    ),
    (
        "set up, edited and hidden",
        "git -c protocol.file.allow=always submodule -q update --init un; echo fixed >un/s; git -C un update-index --assume-unchanged s",
    ),
    (
        "on a branch without a commit",
        "git -C sub checkout -q --orphan none; git -C sub rm -rqf .; echo fixed >sub/s",
    ),
    (
        "on a commit that is not there",
        "echo 0000000000000000000000000000000000000001 >.git/modules/sub/HEAD; echo fixed >sub/s",
    ),
    (
        "a repository without a commit",
        "rm sub/.git; git -C sub init -q; echo fixed >sub/s",
    ),
    (
        "a file beside those of its commit",
        "rm sub/.git; git clone -q \"$OUT/sub\" new; mv new/.git sub/.git; rm -r new; git -C sub checkout -q -f; ln -s ../b sub/t",
    ),
];

/// What an agent does so in a submodule within one: `in` of `sm`, which is set up or not.
const WITHIN: [(&str, bool, &str); 6] = [
    (
        "a file where it was not set up",
        false,
        "mkdir -p sm/in; echo fixed >sm/in/s",
    ),
    (
        "set up and edited",
        false,
        "git -C sm -c protocol.file.allow=always submodule -q update --init in; echo fixed >sm/in/s",
    ),
    (
        "a repository of its own",
        false,
        "git init -q sm/in; echo fixed >sm/in/s",
    ),
    (
        "a commit that the one around it does not have",
        true,
        "echo fixed >sm/in/s; git -C sm/in -c user.name=n -c user.email=n commit -qam n",
    ),
    (
        "the same, hidden there",
        true,
        "echo fixed >sm/in/s; git -C sm/in -c user.name=n -c user.email=n commit -qam n; git -C sm update-index --assume-unchanged in",
    ),
    (
        "emptied and edited",
        true,
        "git -C sm submodule -q deinit -f in; echo fixed >sm/in/s",
    ),
];

#[test]
fn nor_does_it_in_a_submodule_within_another() {
    for (what, is_set_up, script) in WITHIN {
        for end in ["echo more >>b; git commit -qm note b", "git rm -qf b"] {
            let repo = TestRepo::empty().with_out();
            want(&repo, "grep -q fixed sm/in/s");
            set_up(
                &repo,
                r#"for name in in sm; do
    git init -q -b trunk "$OUT/$name"; echo todo >"$OUT/$name/s"
    git -C "$OUT/$name" add .; git -C "$OUT/$name" commit -qm one
done
git -C "$OUT/sm" submodule -q add "$OUT/in" in; git -C "$OUT/sm" commit -qm in
git submodule -q add "$OUT/sm" sm; git add .; git commit -qm first"#,
            );
            if is_set_up {
                sh(
                    &repo,
                    "git -c protocol.file.allow=always submodule -q update --init --recursive",
                );
            } else {
                repo.write("sm/in/mine", "mine\n");
            }
            let files = || {
                sh(
                    &repo,
                    "find sm -name .git -prune -o -type f -print | sort | xargs cat",
                )
            };
            let before = files();
            let run = repo
                .cycle(&format!("{script}; rm -f sm/in/mine; {end}"))
                .expect(0);
            let result = &repo.each("result")[0];
            match end.contains("rm") {
                true => {
                    assert_eq!(result, "regressed", "{what}: {}", run.stdout);
                    assert_eq!(files(), before, "{what}: {}", run.stdout);
                }
                false => assert_ne!(result, "improved", "{what}: {}", run.stdout),
            }
            assert_eq!(repo.has("sm/in/mine"), !is_set_up, "{what}: {}", run.stdout);
            repo.cycle("true").expect(0);
            assert!(repo.newest()["goals_passing"].as_u64() < Some(2), "{what}");
        }
    }
}

/// Everything of the working tree, and what its repositories say of it.
fn seen(repo: &TestRepo) -> String {
    sh(
        repo,
        "find . -path ./.git -prune -o -path ./.agents -prune -o -print | sort; cat sub/s sub/.git
         git ls-files -v --stage -- sub un b; git -C sub ls-files -v --stage; git -C sub status --porcelain; git -C sub rev-parse HEAD",
    )
}

#[test]
fn what_no_commit_holds_in_a_submodule_meets_no_goal() {
    for (what, script) in FOOLED {
        let repo = repository();
        let run = repo.cycle(&format!("{script}; echo more >>b; git commit -qm note b"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let result = &repo.each("result")[0];
        assert!(
            ["regressed", "unchanged"].contains(&result.as_str()),
            "{what}: {result}: {}",
            run.stdout
        );
        // Nor does the next look at the goals believe it.
        let run = repo.cycle("true");
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.newest()["goals_passing"], 1, "{what}: {}", run.stdout);
    }
}

#[test]
fn an_undo_leaves_nothing_of_it() {
    for (what, script) in FOOLED {
        let repo = repository();
        let before = seen(&repo);
        let run = repo.cycle(&format!("{script}; git rm -qf b; git commit -qm bad"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{what}: {}", run.stdout);
        assert_eq!(seen(&repo), before, "{what}: {}", run.stdout);
    }
}

#[test]
fn a_mark_hides_neither_another_commit_nor_that_a_submodule_is_gone() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let commit = "git -C sub -c user.name=n -c user.email=n commit -qam fixed";
        for (what, script) in [
            ("moved on", format!("echo fixed >sub/s; {commit}")),
            ("removed", "rm -rf sub".to_owned()),
        ] {
            let repo = repository();
            let run = repo.cycle(&format!(
                "{script}; git update-index {mark} sub; touch more"
            ));
            assert_eq!(run.code, 0, "{what}: {}", run.stderr);
            let tree = repo.git(&["ls-tree", "HEAD", "sub"]);
            let on_disk = sh(&repo, "git -C sub rev-parse HEAD 2>&1 || true");
            match what {
                "moved on" => assert!(tree.contains(on_disk.trim()), "{mark}: {tree} {on_disk}"),
                _ => assert_eq!(tree, "", "{mark}"),
            }
            let listed = repo.git(&["ls-files", "-v", "sub"]);
            assert!(listed.is_empty() || listed.starts_with("H "), "{listed}");
        }
    }
}

#[test]
fn a_submodule_that_is_set_up_as_its_commit_says_is_kept() {
    let set_up =
        "git -c protocol.file.allow=always submodule -q update --init un; echo built >un/x.ign";
    let anew = "rm sub/.git; git clone -q \"$OUT/sub\" new; mv new/.git sub/.git; rm -r new; git -C sub checkout -q -f";
    for crlf in ["false", "true"] {
        for (what, script) in [("set up", set_up), ("made anew", anew)] {
            let repo = repository();
            repo.git(&["config", "--global", "core.autocrlf", crlf]);
            sh(&repo, "rm sub/s sub/.gitignore; git -C sub checkout -q .");
            let run = repo.cycle(&format!("{script}; touch more")).expect(0);
            assert_eq!(repo.each("result"), ["unchanged"], "{what}: {}", run.stdout);
            assert!(repo.has("more"), "{what}: {}", run.stdout);
        }
    }
}

#[test]
fn what_is_taken_out_of_a_sparse_submodule_is_measured_all_the_same() {
    for script in [
        "git -C sub sparse-checkout set --no-cone '/*' '!/s'",
        "git -C sub update-index --skip-worktree s; rm sub/s",
    ] {
        for (end, result) in [("touch more", "unchanged"), ("git rm -qf b", "regressed")] {
            let repo = repository();
            want(&repo, "! grep -r todo sub");
            repo.commit_all("goals");
            sh(
                &repo,
                "git -C sub sparse-checkout set --no-cone '/*' '!/none'",
            );
            let before = seen(&repo);
            let run = repo.cycle(&format!("{script}; {end}")).expect(0);
            assert_eq!(repo.each("result"), [result], "{script}: {}", run.stdout);
            let _ = fs::remove_file(repo.path("more"));
            assert_eq!(seen(&repo), before, "{script}, {end}: {}", run.stdout);
        }
    }
}

#[test]
fn an_edit_that_a_user_hid_in_a_submodule_is_refused_like_any_other() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let repo = repository();
        repo.write("sub/s", "mine\n");
        repo.git(&["-C", "sub", "update-index", mark, "s"]);
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(run.code, 3, "{}", run.stdout);
        assert!(
            run.stderr.contains("sub/s (hidden from git"),
            "{}",
            run.stderr
        );
        assert_eq!(repo.read("sub/s"), "mine\n");
        // A mark on what is as it was committed stands in nobody's way, and stays.
        repo.write("sub/s", "todo\n");
        let run = repo.cycle("git rm -qf b; echo other >sub/s");
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{}", run.stdout);
        assert_eq!(repo.read("sub/s"), "todo\n");
        let listed = repo.git(&["-C", "sub", "ls-files", "-v", "s"]);
        assert!(!listed.starts_with('H'), "{mark}: {listed}");
    }
}

#[test]
fn files_in_the_folder_of_a_submodule_that_is_not_set_up_are_the_users() {
    for (what, script) in [
        ("removed", "rm un/mine"),
        ("overwritten", "echo theirs >un/mine"),
        (
            "where it is set up",
            "rm -rf un; git -c protocol.file.allow=always submodule -q update --init un",
        ),
        ("a file in its place", "rm -rf un; touch un; git add un"),
    ] {
        for end in ["true", "git rm -qf b"] {
            let repo = repository();
            repo.write("un/mine", "mine\n");
            let run = repo.cycle(&format!("{script}; {end}"));
            assert_eq!(run.code, 0, "{what}: {}", run.stderr);
            assert_eq!(
                repo.read("un/mine"),
                "mine\n",
                "{what}, {end}: {}",
                run.stdout
            );
        }
    }
}

#[test]
fn what_a_gitignore_hides_in_a_submodule_that_hides_itself_is_named() {
    let repo = repository();
    let hide = "mkdir sub/d; echo '*' >sub/d/.gitignore; echo fixed >sub/d/t";
    repo.cycle(&format!("{hide}; touch more")).expect(0);
    let notes = repo.newest()["notes"].to_string();
    let said = "which no commit holds and goals may be met by: sub/d/.gitignore";
    assert!(notes.contains(said), "{notes}");
}

#[test]
fn ignored_files_of_a_submodule_are_named_when_they_are_gone() {
    let repo = repository();
    repo.write("sub/x.ign", "mine\n");
    let run = repo.cycle("rm sub/x.ign; touch more").expect(0);
    let said = "ignored files that are gone: sub/x.ign";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn a_submodule_that_was_emptied_is_checked_out_again() {
    for script in [
        "git submodule deinit -f sub",
        "rm -rf sub; mkdir sub",
        "rm -rf sub .git/modules/sub; mkdir sub",
    ] {
        let repo = repository();
        let before = seen(&repo);
        let run = repo.cycle(&format!("{script}; touch more")).expect(0);
        assert_eq!(
            repo.each("result"),
            ["unchanged"],
            "{script}: {}",
            run.stdout
        );
        let said = "submodules that were emptied are checked out again: sub";
        assert!(run.stdout.contains(said), "{script}: {}", run.stdout);
        assert!(repo.has("more"), "{script}");
        fs::remove_file(repo.path("more")).unwrap();
        assert_eq!(seen(&repo), before, "{script}");
    }
}

#[test]
fn a_repository_without_a_commit_is_no_submodule_to_go_on_with() {
    let repo = repository();
    // To the repository around it nothing has changed, and nothing of it counts for a goal.
    let run = repo
        .cycle("rm sub/.git; git -C sub init -q; touch more")
        .expect(0);
    assert_eq!(repo.each("result"), ["regressed"], "{}", run.stdout);
    let run = repo.cycle("touch more").expect(0);
    assert_eq!(repo.newest()["result"], "unchanged", "{}", run.stdout);
    assert!(repo.has("more"));
}

#[test]
fn nor_does_it_in_a_copy() {
    let repo = repository();
    repo.agent_does(&["echo fixed >sub/s; echo fixed >un/s; touch more"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["unchanged"], "{}", run.stdout);
    assert!(repo.has("more") && repo.read("sub/s") == "todo\n");
}

/// The same with submodules in its copies, too.
fn prepared() -> TestRepo {
    prepare(repository())
}

/// Has submodules set up in copies.
fn prepare(repo: TestRepo) -> TestRepo {
    let goals = repo.read("GOALS.yaml");
    let settings =
        "evolve:\n  prepare: git -c protocol.file.allow=always submodule update --init\n";
    repo.write("GOALS.yaml", &format!("{settings}{goals}"));
    repo.commit_all("settings");
    repo
}

#[test]
fn nor_does_it_in_a_copy_that_has_them() {
    let repo = prepared();
    for _ in 0..2 {
        repo.agent_does(&["echo fixed >sub/s; echo more >>b"]);
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "regressed", "{}", run.stdout);
        assert_eq!(repo.newest()["goals_passing"], 1, "{}", run.stdout);
    }
    // What is built there is no change.
    repo.agent_does(&["echo built >sub/x.ign; echo more >>b"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "unchanged", "{}", run.stdout);
}

/// What the code of an agent writes in `sub` of a copy while the goals are measured, and what becomes of the file.
const WHILE_MEASURED: [&str; 4] = [
    "echo fixed >sub/s",
    "rm sub/s; ln -s ../fixed.ign sub/s; echo fixed >fixed.ign",
    "cp -p sub/s was.ign; echo fixed >sub/s; mv was.ign sub/s",
    "echo fixed >sub/s; git -C sub -c user.name=n -c user.email=n commit -qam x || true",
];

#[test]
fn nor_does_what_checks_write_there_in_a_copy() {
    for script in WHILE_MEASURED {
        for (flags, clean) in [(&["--isolate"][..], ""), (&[], ", measure: clean")] {
            let repo = repository();
            repo.write("app.sh", "true\n");
            repo.write(".gitignore", "*.ign\n");
            repo.write(
                "GOALS.yaml",
                &format!("evolve: {{jobs: 1, product: [app.sh]{clean}}}\ngoals:\n  - {{id: fix, description: d, check: grep -q fixed sub/s, weight: 5, alone: true}}\n  - {{id: run, description: d, check: sh app.sh && test -e ran, weight: 4}}\n"),
            );
            let goals = repo.read("GOALS.yaml");
            let prepare = "prepare: git -c protocol.file.allow=always submodule update --init";
            repo.write(
                "GOALS.yaml",
                &goals.replace("evolve: {", &format!("evolve: {{{prepare}, ")),
            );
            repo.commit_all("settings");
            repo.agent_does(&[&format!("echo '{script}' >app.sh; touch ran")]);
            let run = repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            let newest = repo.newest();
            let case = format!("{script} {flags:?}: {newest} {}", run.stderr);
            assert_eq!(newest["newly_passing"].to_string(), "[\"run\"]", "{case}");
            assert_ne!(newest["result"], "improved", "{case}");
        }
    }
}

#[test]
fn what_checks_build_and_write_in_a_submodule_of_a_copy_costs_no_agent_its_work() {
    for (flags, clean) in [(&["--isolate"][..], ""), (&[], ", measure: clean")] {
        for writes in [
            "echo built >sub/x.ign",
            "date +%N >sub/new",
            "date +%N >sub/s",
        ] {
            let repo = repository();
            let prepare = "prepare: git -c protocol.file.allow=always submodule update --init";
            repo.write(
                "GOALS.yaml",
                &format!("evolve: {{{prepare}{clean}}}\ngoals:\n  - {{id: fix, description: d, check: test -e fixed, weight: 5}}\n  - {{id: build, description: d, check: {writes}, weight: 4}}\n"),
            );
            repo.commit_all("settings");
            repo.agent_does(&["touch fixed"]);
            let run = repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            assert_eq!(
                repo.newest()["result"],
                "improved",
                "{writes} {flags:?}: {}",
                run.stdout
            );
        }
    }
}

#[test]
fn git_works_in_the_root_of_a_copy_that_has_them() {
    let repo = prepared();
    for cycle in 1..=2 {
        repo.agent_does(&[&format!(
            "set -e; git status --short; git diff --stat; git submodule status; echo more >>b; git add -A; git commit -qm by-agent-{cycle}; test -z \"$(git status --short)\"; cat sub/s"
        )]);
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        let newest = repo.newest();
        assert_eq!(newest["result"], "unchanged", "{}", run.stdout);
        assert_eq!(newest["agent"]["exit"], 0, "{newest}");
        let subjects = repo.git(&["log", "--format=%s"]);
        assert!(
            subjects.contains(&format!("by-agent-{cycle}")),
            "{subjects}"
        );
    }
    let changed = repo.git(&["log", "--format=", "--name-only", "--grep=by-agent"]);
    assert!(changed.lines().all(|path| path == "b"), "{changed}");
}

/// What an agent does to files of `sub` in a copy that are not of its commit, and whether that is taken away.
const BESIDE: [(&str, bool); 9] = [
    ("echo fixed >sub/t", true),
    ("ln -s ../b sub/t", true),
    ("git init -q sub/t; echo fixed >sub/t/s", true),
    ("echo '*' >sub/.git/info/exclude; echo fixed >sub/t", true),
    (
        "mkdir sub/t; echo '*' >sub/t/.gitignore; echo fixed >sub/t/s",
        true,
    ),
    ("echo fixed >>sub/made", true),
    ("echo fixed >sub/tool/.gitignore", true),
    (
        "echo fixed >sub/tool/t; echo fixed >sub/t.ign; mkdir -p sub/t",
        false,
    ),
    (
        "cp sub/made other; cp other sub/made; echo fixed >sub/t.theirs",
        false,
    ),
];

#[test]
fn nor_does_what_an_agent_puts_beside_their_files_in_a_copy() {
    for (script, is_taken) in BESIDE {
        let repo = repository();
        want(&repo, "grep -qr fixed sub");
        let made = "echo made >sub/made; mkdir -p sub/tool; echo '*' >sub/tool/.gitignore";
        let goals = repo.read("GOALS.yaml");
        repo.write("GOALS.yaml", &format!("evolve:\n  prepare: git -c protocol.file.allow=always submodule update --init; {made}\n{goals}"));
        repo.commit_all("settings");
        sh(
            &repo,
            "mkdir -p ~/.config/git; echo '*.theirs' >~/.config/git/ignore",
        );
        for _ in 0..2 {
            repo.agent_does(&[&format!("{script}; echo more >>b")]);
            let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
            let newest = repo.newest();
            let notes = newest["notes"].to_string();
            let said = "the submodule sub holds what its commit does not: sub/";
            assert_eq!(notes.contains(said), is_taken, "{script}: {notes}");
            let (result, passing) = match is_taken {
                true => ("unchanged", 1),
                false => ("improved", 2),
            };
            assert_eq!(newest["result"], result, "{script}: {}", run.stdout);
            assert_eq!(newest["goals_passing"], passing, "{script}: {}", run.stdout);
            let kept = repo.quarantined();
            let is_kept = kept.values().any(|(_, bytes)| bytes.ends_with(b"fixed\n"));
            let is_link = script.starts_with("ln ");
            assert_eq!(is_kept || is_link, is_taken, "{script}: {kept:?}");
            if !is_taken {
                break;
            }
        }
    }
}

#[test]
fn what_checks_make_in_a_submodule_of_a_copy_costs_no_agent_its_work_that_runs_them_too() {
    let repo = repository();
    want(&repo, "date +%N >sub/last.log; test -e x");
    let repo = prepare(repo);
    let tool = "mkdir -p sub/__pycache__; echo built >sub/__pycache__/s.pyc";
    repo.agent_does(&[&format!("echo >x; date +%N >sub/last.log; {tool}")]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", run.stdout);
    let kept = repo.quarantined();
    let names: Vec<_> = kept
        .keys()
        .map(|name| String::from_utf8_lossy(name))
        .collect();
    assert_eq!(names, ["last.log"]);
}

#[test]
fn more_than_the_quarantine_should_be_filled_with_has_the_cycle_undone() {
    let repo = repository();
    want(&repo, "test -e x");
    let repo = prepare(repo);
    repo.agent_does(&["echo >x; truncate -s 65M sub/large"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "regressed", "{}", run.stdout);
    let reason = repo.newest()["reason"].to_string();
    assert!(
        reason.contains("no commit holds: the submodule sub"),
        "{reason}"
    );
}

#[test]
fn nor_where_the_checkout_has_no_repository_of_it_or_the_submodule_is_within_another() {
    for (script, of_checkout) in [
        (
            "echo fixed >sm/s",
            "git submodule -q deinit -f --all; rm -rf .git/modules",
        ),
        (
            "echo fixed >sm/t",
            "git submodule -q deinit -f --all; rm -rf .git/modules",
        ),
        (
            "rm -rf .git/modules; echo fixed >sm/s",
            "git submodule -q deinit -f --all; rm -rf .git/modules",
        ),
        ("echo fixed >sm/in/s", "true"),
        ("echo fixed >sm/in/t", "true"),
    ] {
        let repo = TestRepo::empty().with_out();
        want(&repo, "grep -qr fixed sm");
        set_up(
            &repo,
            r#"for name in in sm; do
    git init -q -b trunk "$OUT/$name"; echo todo >"$OUT/$name/s"
    git -C "$OUT/$name" add .; git -C "$OUT/$name" commit -qm one
done
git -C "$OUT/sm" submodule -q add "$OUT/in" in; git -C "$OUT/sm" commit -qm in
git submodule -q add "$OUT/sm" sm; git add .; git commit -qm first"#,
        );
        let goals = repo.read("GOALS.yaml");
        let update = "git -c protocol.file.allow=always submodule update --init --recursive";
        repo.write(
            "GOALS.yaml",
            &format!("evolve:\n  prepare: {update}\n{goals}"),
        );
        repo.commit_all("settings");
        sh(&repo, &format!("{update} -q; {of_checkout}"));
        for _ in 0..2 {
            repo.agent_does(&[&format!("{script}; echo more >>b")]);
            let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
            let newest = repo.newest();
            // What is of no commit that is known is put right, and nothing needs to be undone.
            let is_right = ["regressed", "unchanged"]
                .map(Into::into)
                .contains(&newest["result"]);
            assert!(is_right, "{script}: {}", run.stdout);
            assert_eq!(newest["goals_passing"], 1, "{script}: {}", run.stdout);
        }
        repo.agent_does(&["echo more >>b"]);
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(
            repo.newest()["result"],
            "unchanged",
            "{script}: {}",
            run.stdout
        );
    }
}

#[test]
fn one_that_is_emptied_in_a_copy_is_no_change_to_keep_and_is_set_up_again() {
    let repo = prepared();
    for script in ["rm -rf sub/* sub/.gitignore", "rm -rf sub; mkdir sub"] {
        repo.agent_does(&[&format!("{script}; echo more >>b")]);
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "regressed", "{}", run.stdout);
        let reason = repo.newest()["reason"].to_string();
        assert!(reason.contains("the submodule sub was emptied"), "{reason}");
        assert_eq!(repo.newest()["goals_passing"], 1, "{}", run.stdout);
    }
}

#[test]
fn a_copy_has_the_files_of_the_commit_that_a_person_moves_a_submodule_to() {
    let repo = prepared();
    repo.agent_does(&["echo more >>b"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    repo.write("sub/new", "of the next commit\n");
    let commit = "-c user.name=n -c user.email=n commit --quiet --message=next";
    for arguments in [
        "add new",
        commit,
        "push --quiet origin HEAD:refs/heads/next",
    ] {
        let arguments: Vec<_> = ["-C", "sub"]
            .into_iter()
            .chain(arguments.split(' '))
            .collect();
        repo.git(&arguments);
    }
    repo.commit_all("a submodule moves");
    repo.agent_does(&["test -e sub/new && echo more >>b"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "unchanged", "{}", run.stdout);
    assert!(!run.stdout.contains("made anew"), "{}", run.stdout);
    assert_eq!(repo.read("b").lines().count(), 3, "{}", run.stdout);
}

#[test]
fn ignored_files_of_a_submodule_stay_where_they_are_whatever_is_staged_or_committed_there() {
    for script in [
        "git -C sub add -f x.ign",
        "echo >sub/.gitignore; git -C sub add -A",
        "git -C sub add -f x.ign; git -C sub -c user.name=n -c user.email=n commit -qm x",
    ] {
        for end in ["touch more", "git rm -qf b"] {
            let repo = repository();
            repo.write("sub/x.ign", "mine\n");
            let run = repo.cycle(&format!("{script}; {end}")).expect(0);
            assert_eq!(
                repo.read("sub/x.ign"),
                "mine\n",
                "{script}, {end}: {}",
                run.stdout
            );
        }
    }
}

#[test]
fn nor_does_a_folder_that_stands_in_its_place_in_a_copy_for_a_moment() {
    // What was waited for once is there when the goals are measured apart.
    const LOOKS: &str = "test ! -e ran || until test -e $OUT/w; do sleep 0.01; done; grep -q fixed sub/s; was=$?; test ! -e ran || touch $OUT/seen; exit $was";
    for (flags, clean) in [(&["--isolate"][..], ""), (&[], ", measure: clean")] {
        let repo = repository().with_out();
        repo.write("app.sh", "true\n");
        repo.write(".gitignore", "*.ign\n");
        let prepare = "prepare: git -c protocol.file.allow=always submodule update --init";
        repo.write(
            "GOALS.yaml",
            &format!("evolve: {{{prepare}, jobs: 2, product: [app.sh]{clean}}}\ngoals:\n  - {{id: fix, description: d, check: '{LOOKS}', weight: 5}}\n  - {{id: run, description: d, check: sh app.sh && test -e ran, weight: 4}}\n"),
        );
        repo.commit_all("settings");
        repo.agent_does(&["touch ran; cat >app.sh <<'X'
mv sub was.ign; mkdir sub; echo fixed >sub/s; touch $OUT/w
until test -e $OUT/seen; do sleep 0.01; done
rm -rf sub; mv was.ign sub
X"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let newest = repo.newest();
        assert_eq!(
            newest["newly_passing"].to_string(),
            "[\"run\"]",
            "{flags:?}: {newest}"
        );
    }
}
