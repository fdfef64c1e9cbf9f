//! What happens to the tree while goals are measured: to the files that checks run, by code that checks call, and to the files
//! of the user's before the agent.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::compared::sh;
use crate::harness::{TestRepo, files_below, finish, signal};

/// Where goals are measured: flags, and what stands in the goals file.
const PLACES: [(&[&str], &str); 3] = [
    (&[], ""),
    (&["--isolate"], ""),
    (&[], "evolve: {measure: clean}\n"),
];

/// The check of `mul` calls the product before it runs a script of its own.
fn calculator(settings: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("calc.sh", "exit 1\n");
    repo.write("README.md", "calculates\n");
    repo.write("tests/add.sh", "sh \"$CALC\" 1 + 2; true\n");
    repo.write("tests/mul.sh", "exit 1\n");
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\n{settings}goals:\n  - {{id: mul, description: d, check: 'CALC=calc.sh sh tests/add.sh; sh tests/mul.sh', weight: 5}}\n"
        ),
    );
    repo.commit_all("first");
    repo
}

/// What an agent does that makes this text of `calc.sh`.
fn calculates(text: &str) -> String {
    format!("cat >calc.sh <<'END'\n{text}\nEND\n")
}

#[test]
fn a_file_that_checks_run_and_that_is_changed_while_they_run_moves_the_goalposts() {
    for (flags, settings) in PLACES {
        let repo = calculator(settings);
        let before = (repo.content("HEAD"), repo.files());
        repo.agent_does(&[
            &calculates("echo exit 0 >.new; mv .new tests/mul.sh"),
            "true",
        ]);
        repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
        assert_eq!(
            repo.each("reason")[0],
            "goalposts moved: tests/mul.sh changed while the goals were measured",
            "{flags:?} {settings}"
        );
        assert_eq!(
            repo.each("result"),
            ["regressed", "unchanged"],
            "{flags:?} {settings}: the next cycle begins"
        );
        assert_eq!(
            (repo.content("HEAD"), repo.files()),
            before,
            "{flags:?} {settings}"
        );
        assert_eq!(repo.status(), Vec::<String>::new());
        if flags.is_empty() && settings.is_empty() {
            let kept = repo.quarantined();
            assert!(
                kept.values().any(|(_, bytes)| bytes == b"exit 0\n"),
                "{kept:?}"
            );
        }
    }
}

#[test]
fn a_goals_file_outside_that_is_changed_while_goals_are_measured_is_put_back() {
    let repo = calculator("");
    let goals = repo.outside().join("goals.yaml");
    let text = repo.read("GOALS.yaml");
    fs::write(&goals, &text).unwrap();
    repo.agent_does(&[&calculates("echo '# more' >>../agent/goals.yaml")]);
    let named = format!("--goals={}", goals.display());
    repo.run(&["--max-cycles=1", &named]).expect(0);
    let reason = repo.each("reason").remove(0);
    assert!(
        reason.ends_with("goals.yaml changed while the goals were measured"),
        "{reason}"
    );
    assert_eq!(fs::read_to_string(&goals).unwrap(), text);
}

#[test]
fn what_checks_build_and_write_themselves_moves_no_goalposts() {
    for (flags, settings) in PLACES {
        let repo = TestRepo::empty();
        repo.write(".gitignore", "build/\n*.cache\n");
        repo.write(
            "tests/t.sh",
            "date +%N >tests/t.cache; date +%N >report.xml\n",
        );
        repo.write("tool.in", "exit 0\n");
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\n{settings}goals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 4}}\n  - {{id: t, description: d, check: sh tests/t.sh, weight: 3}}\n  - id: tool\n    description: d\n    weight: 3\n    check: mkdir -p build && cmp -s tool.in build/tool.sh || cp tool.in build/tool.sh; sh build/tool.sh\n"
            ),
        );
        repo.commit_all("first");
        repo.agent_does(&[
            "touch a; echo true >>tool.in",
            "touch b; echo true >>tool.in",
        ]);
        repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
        assert_eq!(
            repo.each("result"),
            ["improved", "improved"],
            "{flags:?} {settings}: {:?}",
            repo.each("reason")
        );
    }
}

#[test]
fn a_file_that_checks_run_and_that_is_exchanged_only_while_they_run_moves_the_goalposts() {
    let swaps = [
        "mv tests/mul.sh .was; printf 'mv .was tests/mul.sh\\nexit 0\\n' >tests/mul.sh",
        "cp -p tests/mul.sh .was; printf 'cp -p .was tests/mul.sh; rm .was; exit 0\\n' >tests/mul.sh",
    ];
    for (flags, settings) in PLACES {
        for swap in swaps {
            let repo = calculator(settings);
            let before = (repo.content("HEAD"), repo.files());
            repo.agent_does(&[&calculates(swap)]);
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            assert_eq!(
                repo.each("reason"),
                ["goalposts moved: tests/mul.sh was changed while the goals were measured"],
                "{flags:?} {settings} {swap}"
            );
            let after = (repo.content("HEAD"), repo.files());
            assert_eq!(after, before, "{flags:?} {settings} {swap}");
        }
    }
}

#[test]
fn what_checks_do_themselves_to_what_they_run_moves_no_goalposts() {
    // In the goals that pass; in the one that fails until the agent has worked; behind a script.
    let checks = [
        ("chmod +x tests/x.sh && tests/x.sh", "test -e a"),
        ("true", "test -e a && chmod +x tests/*.sh && tests/x.sh"),
        ("sh tests/all.sh; tests/x.sh", "test -e a"),
    ];
    for (flags, settings) in PLACES {
        for (passing, failing) in checks {
            let repo = TestRepo::empty();
            repo.write("tests/x.sh", "#!/bin/sh\nexit 0\n");
            repo.write("tests/all.sh", "chmod 755 tests/x.sh\n");
            let executable: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            for script in ["tests/x.sh", "tests/all.sh"] {
                fs::set_permissions(repo.path(script), Clone::clone(&executable)).unwrap();
            }
            repo.write(
                "GOALS.yaml",
                &format!(
                    "version: 1\n{settings}goals:\n  - {{id: a, description: d, check: \"{failing}\", weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 4}}\n  - {{id: c, description: d, check: test -e c, weight: 3}}\n  - {{id: x, description: d, check: \"{passing}\", weight: 3}}\n"
                ),
            );
            repo.commit_all("first");
            repo.agent_does(&["touch a", "touch b", "touch c"]);
            repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
            // Another session begins without a baseline.
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            assert_eq!(
                repo.each("result"),
                ["improved", "improved", "improved"],
                "{flags:?} {settings} {passing} {failing}: {:?}",
                repo.each("reason")
            );
        }
    }
}

/// A repository with one recorded cycle, whose goals are measured with `check` in every further session.
fn begun(check: &str) -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("stamp", "0\n");
    repo.commit_all("stamp");
    repo.cycle("touch a").expect(0);
    repo.commit_goals(&format!(
        "  - {{id: b, description: d, check: test -e b, weight: 5}}\n  - {{id: c, description: d, check: '{check}', weight: 3}}\n"
    ));
    repo
}

#[test]
fn a_tracked_file_that_changes_before_the_agent_ends_the_run_before_one_is_paid() {
    let repo = begun("echo more >>stamp");
    let head = repo.head();
    let calls = repo.calls();
    repo.agent_does(&["touch b"]);
    let run = repo.run(&["--max-cycles=1"]).expect(3);
    assert!(
        run.stderr
            .contains("1 tracked file has uncommitted changes")
            && run.stderr.contains("\n  stamp")
            && run
                .stderr
                .contains("if a check or a sweep's command writes them"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.calls(), calls, "no agent was called");
    assert_eq!(repo.head(), head);
    assert_eq!(repo.read("stamp"), "0\nmore\n", "it may be the user's");
}

#[test]
fn in_a_slot_what_checks_change_before_the_agent_is_taken_back_and_the_run_goes_on() {
    let repo = begun("echo more >>stamp; echo more >>new");
    repo.agent_does(&["touch b; git add -A; git commit -qm work"]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{:#}", repo.newest());
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("put back: stamp"), "{said}");
    assert_eq!(repo.read("stamp"), "0\n");
    assert!(repo.has("b") && !repo.has("new"));
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn an_untracked_file_that_comes_before_the_agent_is_not_the_agents() {
    // As a person would who saves a file meanwhile.
    let repo = begun("test -e secret || echo mine >secret");
    repo.agent_does(&["touch b; echo taken >>secret; git add -A; git commit -qm work"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{:#}", repo.newest());
    assert_eq!(repo.status(), ["?? secret"]);
    assert_eq!(repo.read("secret"), "mine\n");
}

/// Adds what git does not track: files, a link, a folder that others may not enter, a repository with an empty folder.
fn with_untracked(repo: &TestRepo) {
    let script = "echo mine >mine; mkdir -p u/deep; echo key >u/deep/key; ln -s nowhere u/link
        git init -q vendor; echo code >vendor/code; rm -rf vendor/.git/hooks";
    let mut shell = repo.command("sh");
    crate::harness::output(shell.args(["-c", script]));
}

#[test]
fn untracked_files_that_checks_remove_before_the_agent_are_put_back() {
    let removes = "rm -rf mine u vendor; true";
    let first_run = |check: &str| {
        let repo = TestRepo::with_goals(&format!(
            "  - {{id: b, description: d, check: test -e b, weight: 5}}\n  - {{id: c, description: d, check: '{check}', weight: 3}}\n"
        ));
        repo.commit_all("first");
        repo
    };
    // A cycle of a later session, and the baseline of the first.
    for repo in [begun(removes), first_run(removes)] {
        with_untracked(&repo);
        let before = repo.files();
        repo.agent_does(&["true"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert!(
            run.stderr.contains(
                "untracked files that checks removed, put back: mine, u/deep/key, u/link"
            ),
            "{}",
            run.stderr
        );
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains("checks removed, put back: mine"), "{notes}");
        assert_eq!(repo.files(), before);
        assert!(repo.path("vendor/.git/refs/tags").is_dir());
        assert!(!repo.private().join("links").exists());
    }
}

#[test]
fn what_a_runner_covered_earlier_and_takes_away_itself_stays_away() {
    let check = "rm -rf coverage/tmp .nyc_output; mkdir -p coverage/tmp .nyc_output; touch coverage/tmp/coverage-$$-$(date +%s%N)-0.json .nyc_output/$$; test $(ls coverage/tmp .nyc_output | grep -c .) -eq 4";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: covers, description: d, check: '{check}', weight: 3}}\n"
    ));
    repo.commit_all("first");
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--max-cycles=3"]).expect(0);
    assert!(!run.stderr.contains("checks removed"), "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved", "idle", "idle"]);
    let shown = std::fs::read_dir(repo.path("coverage/tmp")).unwrap();
    assert_eq!(shown.count(), 1);
}

#[test]
fn an_untracked_file_that_checks_remove_is_named_once_among_the_notes_of_a_cycle() {
    for (what, check, script) in [
        ("before and after", "rm -f mine; test -e a", "touch a"),
        ("after", "test -e a && rm -f mine", "touch a"),
        ("and the agent", "rm -f mine; test -e a", "touch a; rm mine"),
        (
            "and after an undo",
            "rm -f mine; test -e a || test -e b",
            "touch a; git rm -qf b",
        ),
    ] {
        let repo = TestRepo::with_goals(&format!(
            "  - {{id: a, description: d, check: '{check}', weight: 5}}\n  - {{id: b, description: d, check: 'rm -f mine; test -e b', weight: 3}}\n"
        ));
        repo.write("b", "");
        repo.commit_all("first");
        repo.write("mine", "mine\n");
        repo.cycle(script).expect(0);
        let notes = repo.newest()["notes"].to_string();
        assert_eq!(
            notes.matches("put back: mine").count(),
            1,
            "{what}: {notes}"
        );
        assert_eq!(repo.read("mine"), "mine\n", "{what}");
    }
}

#[test]
fn untracked_files_that_checks_remove_are_put_back_where_there_is_nothing_to_do() {
    let repo = TestRepo::with_goals(
        "  - {id: c, description: d, check: rm -rf mine u; true, weight: 3}\n",
    );
    repo.commit_all("first");
    with_untracked(&repo);
    let before = repo.files();
    let inodes = || {
        let meta = |name| fs::metadata(repo.path(name)).unwrap();
        ["mine", "u/deep/key"].map(|name| std::os::unix::fs::MetadataExt::ino(&meta(name)))
    };
    let inodes_before = inodes();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.files(), before);
    assert_eq!(inodes(), inodes_before, "the same files, no copies");
    assert!(!repo.private().join("links").exists());
}

#[test]
fn where_a_check_put_something_else_an_untracked_file_goes_to_the_quarantine() {
    let repo = begun("rm -rf u; echo other >u; echo anew >mine");
    with_untracked(&repo);
    repo.agent_does(&["touch b"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(run.stderr.contains("u/deep/key → "), "{}", run.stderr);
    assert_eq!(repo.quarantined()[&b"key"[..]].1, b"key\n");
    assert_eq!(repo.read("u"), "other\n");
    assert_eq!(repo.read("mine"), "anew\n", "checks write their reports");
}

#[test]
fn untracked_files_that_a_check_removed_are_put_back_after_a_kill() {
    let repo = begun("rm -rf mine u; touch \"$OUT/gone\"; sleep 300").with_out();
    with_untracked(&repo);
    let before = repo.files();
    repo.agent_does(&["true"]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("gone");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!repo.has("mine"));
    repo.write(".agents/evolve/STOP", "");
    let run = repo.run(&[]).expect(0);
    assert!(
        run.stderr.contains("checks removed, put back: mine"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.files(), before);
}

#[test]
fn untracked_files_that_checks_remove_when_a_regression_is_measured_once_more_are_put_back() {
    for retries in [0, 1] {
        let repo = TestRepo::empty();
        repo.write("keep", "keep\n");
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\ngoals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: keep, description: d, check: 'rm -rf notes folder big; test -e keep', weight: 3, retries: {retries}}}\n"
            ),
        );
        repo.commit_all("first");
        repo.write("notes", "mine\n");
        repo.write("folder/notes", "mine, too\n");
        // Larger than what is copied.
        repo.write("big", &"x".repeat(11 << 20));
        let before = repo.files();
        repo.cycle("touch a; git rm -q keep; git add a; git commit -qm work")
            .expect(0);
        assert_eq!(repo.each("result"), ["regressed"]);
        assert_eq!(repo.files(), before, "{retries}");
    }
}

#[test]
fn of_two_checks_that_write_each_is_named_for_its_own_files_which_are_told_once() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n  \
           - {id: one, description: d, check: '! test -e a || echo 1 >>f1', weight: 3}\n  \
           - {id: two, description: d, check: '! test -e a || echo 2 >>f2', weight: 3}\n",
    );
    repo.write("f1", "");
    repo.write("f2", "");
    repo.commit_all("first");
    repo.cycle("touch a").expect(0);
    let reason = repo.newest()["reason"].to_string();
    assert!(
        reason.contains(": f1 by the check of one, f2 by the check of two (commit"),
        "{reason}"
    );
    let record = repo.newest();
    let notes = record["notes"].as_array().unwrap();
    for file in ["f1", "f2"] {
        let of_it = |note: &&serde_json::Value| {
            note.as_str()
                .unwrap()
                .starts_with(&format!("moved out of the way: {file} "))
        };
        assert_eq!(notes.iter().filter(of_it).count(), 1, "{record}");
    }
    let put_back = |note: &&serde_json::Value| note.as_str().unwrap().contains("put back: f1, f2");
    assert_eq!(notes.iter().filter(put_back).count(), 1, "{record}");
    let kept = files_below(&repo.private().join("quarantine"));
    assert_eq!(kept.len(), 2, "the same bytes are kept once: {kept:?}");
}

#[test]
fn what_checks_write_after_the_agent_and_when_a_regression_is_measured_once_more_is_told_once() {
    let repo = TestRepo::empty().with_out();
    // Writes in the first measurement after the agent, not in the second, and after the undo again.
    repo.write(
        "check.sh",
        "if [ -e a ]; then\n  [ -e \"$OUT/once\" ] || { touch \"$OUT/once\"; echo 1 >>f; }\n  exit 1\nfi\n\
         [ ! -e \"$OUT/once\" ] || echo 1 >>f\n",
    );
    repo.write("f", "");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: d, check: test -e a, weight: 5}\n  \
           - {id: b, description: d, check: sh check.sh, weight: 3}\n",
    );
    repo.commit_all("first");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(repo.read("f"), "");
    let record = repo.newest();
    let notes = record["notes"].as_array().unwrap();
    for told in ["and put back: f", "moved out of the way: f "] {
        let tells = |note: &&serde_json::Value| note.as_str().unwrap().contains(told);
        assert_eq!(notes.iter().filter(tells).count(), 1, "{told}: {record}");
    }
    let kept = files_below(&repo.private().join("quarantine"));
    assert_eq!(kept.len(), 1, "the same bytes are kept once: {kept:?}");
}

#[test]
fn what_somebody_writes_while_the_writer_is_looked_for_makes_no_check_one() {
    let repo = TestRepo::empty().with_out();
    let writes = repo.check_in_turn(
        "writes",
        &[
            "echo >>$OLDPWD/f1",
            "echo >>$OLDPWD/f1",
            "echo mine >>$OLDPWD/f2",
        ],
    );
    repo.write("f1", "");
    repo.write("f2", "");
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\ngoals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: b, description: d, check: 'test ! -e a || {writes}', weight: 3}}\n"),
    );
    repo.commit_all("first");
    repo.cycle("touch a").expect(0);
    let reason = repo.newest()["reason"].to_string();
    assert!(reason.contains("in no commit: f1 (commit"), "{reason}");
    let kept = repo.quarantined();
    assert!(
        kept.values().any(|(_, bytes)| bytes == b"mine\n"),
        "{kept:?}"
    );
}

#[test]
fn what_ends_a_session_while_the_writer_is_looked_for_interrupts_the_cycle() {
    for kills in [false, true] {
        let repo = TestRepo::empty().with_out();
        let waits = "echo >>$OLDPWD/f1; touch \"$OUT/looking\"; sleep 300";
        let writes =
            repo.check_in_turn("writes", &["echo >>$OLDPWD/f1", "echo >>$OLDPWD/f1", waits]);
        repo.write("f1", "");
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\ngoals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: b, description: d, check: 'test ! -e a || {writes}', weight: 3}}\n"),
        );
        repo.commit_all("first");
        repo.agent_does(&["touch a"]);
        let child = repo.spawn_run(&["--max-cycles=1"]);
        repo.wait_for("looking");
        match kills {
            true => repo.kill(),
            false => signal(&child, "INT"),
        }
        finish(child);
        assert_eq!(repo.newest()["result"], "interrupted", "{}", repo.newest());
        assert_eq!(repo.read("f1"), "");
        assert!(!repo.has("a"));
    }
}

/// A repository in which a check writes what is generated, as `fmt --write` or `go generate` do; there is more to do.
fn with_generated(settings: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("source", "1\n");
    repo.write("generated", "1\n");
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\n{settings}goals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 4}}\n  - {{id: generated, description: d, check: cmp -s source generated || cp source generated, weight: 3}}\n"
        ),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn a_change_on_which_checks_write_tracked_files_is_undone_and_the_night_goes_on() {
    let repo = with_generated("");
    repo.agent_does(&[
        "touch a; echo 2 >source",
        "touch a; echo 2 >source; cp source generated",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    assert_eq!(
        repo.each("reason")[0],
        "second measurement impossible: checks write tracked files, so that what is measured is in no commit: generated by the check of generated (commit what they write, have them compare, or take what is only built out of git, by `git rm --cached` and .gitignore)"
    );
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(repo.read("generated"), "2\n");
    repo.agent_does(&["touch b"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
}

#[test]
fn where_checks_run_in_a_copy_what_they_write_there_is_nothing_of_the_users() {
    for (flags, settings) in [PLACES[1], PLACES[2]] {
        let repo = with_generated(settings);
        repo.agent_does(&["touch a; echo 2 >source", "touch b"]);
        repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
        assert_eq!(
            repo.each("result"),
            ["improved", "improved"],
            "{flags:?} {settings}"
        );
        assert_eq!(repo.status(), Vec::<String>::new(), "{flags:?} {settings}");
    }
}

#[test]
fn what_one_check_writes_to_a_tracked_file_in_a_copy_meets_no_other_goal() {
    for (flags, settings) in [PLACES[1], PLACES[2]] {
        let repo = TestRepo::empty().with_out();
        repo.write("source", "1\n");
        repo.write("generated", "1\n");
        repo.write(".gitignore", "built\n");
        let goals = [
            "  - {id: a, description: d, check: cp source generated && grep -q 2 source, weight: 5}\n",
            "  - {id: b, description: d, check: grep -q 2 generated, weight: 4, alone: true}\n",
            "  - {id: build, description: d, check: cp source built, weight: 3}\n",
            "  - {id: uses, description: d, check: grep -q 2 built, weight: 2, alone: true}\n",
        ];
        let settings = match settings {
            "" => "evolve: {jobs: 1}\n".to_owned(),
            clean => clean.replace("{", "{jobs: 1, "),
        };
        let goals = goals.concat();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\n{settings}goals:\n{goals}"),
        );
        repo.commit_all("first");
        repo.agent_does(&["echo 2 >source", "cp source generated"]);
        repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
        assert_eq!(
            repo.each("newly_passing"),
            [r#"["a","uses"]"#, r#"["b"]"#],
            "{flags:?} {settings}"
        );
        repo.evolve(&["audit", "--remeasure", "2"]).expect(0);
        let after = repo.json(".agents/evolve/fitness-1-post.json");
        let reason = after["goals"][1]["reason"].as_str().unwrap_or_default();
        assert!(
            reason.ends_with(
                "; passed beside other checks, which write to generated, and not on what is committed"
            ),
            "{after}"
        );
        let notes = &repo.each("notes")[0];
        assert!(
            notes.contains(
                "tracked, and written to in the copy while the goals were measured: generated"
            ),
            "{notes}"
        );
    }
}

/// A repository whose check of `a` runs the code of the product, with a file `f` that the check of `b` reads after all others.
fn with_code(settings: &str, f: &str) -> TestRepo {
    let settings = match settings {
        "" => "evolve: {product: [app.sh]}\n".to_owned(),
        clean => clean.replace("{", "{product: [app.sh], "),
    };
    let repo = TestRepo::empty();
    repo.write("f", f);
    repo.write("app.sh", "true\n");
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\n{settings}goals:\n  - {{id: a, description: d, check: sh app.sh; test -e new, weight: 5}}\n  - {{id: b, description: d, check: grep -q good f, weight: 4, alone: true}}\n"),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn what_the_agents_code_has_git_note_in_a_copy_hides_nothing_of_what_it_wrote_there() {
    for hides in [
        "git commit -qam x",
        "git update-index --assume-unchanged f",
        "git update-index --skip-worktree f",
        "git config core.bare true",
        "git checkout -qb other; git add f",
    ] {
        for (flags, settings) in [PLACES[1], PLACES[2]] {
            let repo = with_code(settings, "bad\n");
            repo.agent_does(&[&format!("touch new; echo 'echo good >f; {hides}' >app.sh")]);
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            let case = format!("{hides} {flags:?} {settings}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["improved"], "{case}");
            assert_eq!(repo.each("newly_passing"), [r#"["a"]"#], "{case}");
            assert_eq!(repo.read("f"), "bad\n", "{case}");
        }
    }
}

#[test]
fn code_that_breaks_the_git_directory_of_its_copy_hides_nothing_and_ends_no_night() {
    for breaks in [
        "rm -rf .git",
        "rm -rf .git; git init -q; git add -A; git commit -qm x",
        "rm -rf .git/objects .git/refs",
        "touch .git/index.lock",
        "rm .git/index; mkdir .git/index",
    ] {
        for (flags, settings) in [PLACES[1], PLACES[2]] {
            let repo = with_code(settings, "bad\n");
            repo.agent_does(&[
                &format!("touch new; echo 'echo good >f; {breaks}' >app.sh"),
                "echo good >f",
            ]);
            repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
            let case = format!("{breaks} {flags:?} {settings}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["improved", "improved"], "{case}");
            assert_eq!(
                repo.each("newly_passing"),
                [r#"["a"]"#, r#"["b"]"#],
                "{case}"
            );
        }
    }
}

#[test]
fn a_goal_that_is_met_only_by_what_another_check_writes_in_a_copy_is_a_regression_where_it_was_met_before()
 {
    for (flags, settings) in [PLACES[1], PLACES[2]] {
        let repo = with_code(settings, "good\n");
        repo.agent_does(&["touch new; echo bad >f; echo 'echo good >f' >app.sh"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{flags:?} {settings}");
        assert_eq!(repo.each("newly_failing"), [r#"["b"]"#]);
    }
}

#[test]
fn what_a_check_writes_and_another_writes_back_meets_no_other_goal() {
    for (flags, settings) in PLACES {
        let settings = match settings {
            "" => "evolve: {jobs: 1}\n".to_owned(),
            clean => clean.replace("{", "{jobs: 1, "),
        };
        let repo = TestRepo::empty();
        repo.write("f", "bad\n");
        let (writes, back) = (
            "test ! -e new || cp f was.ignored; test ! -e new || echo good >f; test -e new",
            "test ! -e was.ignored || mv was.ignored f",
        );
        repo.write(".gitignore", "*.ignored\n");
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\n{settings}goals:\n  - {{id: a, description: d, check: {writes}, weight: 5}}\n  - {{id: b, description: d, check: grep -q good f, weight: 4, alone: true}}\n  - {{id: c, description: d, check: {back}, weight: 1, alone: true}}\n"),
        );
        repo.commit_all("first");
        repo.agent_does(&["touch new"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{flags:?} {settings}");
        assert_eq!(repo.each("newly_passing"), [r#"["a"]"#]);
    }
}

/// Has the check of `a` write `f` until that of `b`, which runs beside it, has looked at it.
const FOR_A_MOMENT: &str = "test ! -e new || { cp -p f was.ignored; echo good >f; touch $OUT/w; until test -e $OUT/seen; do sleep 0.01; done; mv was.ignored f; }; test -e new";
const LOOKS: &str = "until test ! -e new || test -e $OUT/w; do sleep 0.01; done; grep -q good f; r=$?; test ! -e new || touch $OUT/seen; exit $r";

/// A repository in which such checks run, and more happens after the first has written `f` back.
fn for_a_moment(settings: &str, then: &str, f: &str) -> TestRepo {
    let settings = match settings {
        "" => "evolve: {jobs: 2, product: [then.sh]}\n".to_owned(),
        clean => clean.replace("{", "{jobs: 2, product: [then.sh], "),
    };
    let repo = TestRepo::empty().with_out();
    repo.write("f", f);
    repo.write("then.sh", then);
    repo.write(".gitignore", "*.ignored\n");
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\n{settings}goals:\n  - {{id: a, description: d, check: '{FOR_A_MOMENT} && sh then.sh', weight: 5}}\n  - {{id: b, description: d, check: '{LOOKS}', weight: 4}}\n"),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn what_a_check_writes_for_a_moment_meets_no_other_goal() {
    for (flags, settings) in PLACES {
        for then in ["true", "git status", "git add f"] {
            let repo = for_a_moment(settings, then, "bad\n");
            repo.agent_does(&["touch new"]);
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            let case = format!("{then} {flags:?} {settings}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["improved"], "{case}");
            assert_eq!(repo.each("newly_passing"), [r#"["a"]"#], "{case}");
            let after = repo.json(".agents/evolve/fitness-1-post.json");
            let reason = after["goals"][1]["reason"].as_str().unwrap_or_default();
            let told =
                "; passed beside other checks, which write to f, and not on what is committed";
            assert!(reason.ends_with(told), "{case}: {after}");
            assert_eq!(repo.status(), Vec::<String>::new(), "{case}");
        }
        // It was met before on what is committed.
        let repo = for_a_moment(settings, "true", "good\n");
        repo.agent_does(&["touch new; echo bad >f"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{flags:?} {settings}");
        assert_eq!(repo.each("newly_failing"), [r#"["b"]"#]);
    }
}

#[test]
fn checks_that_touch_tracked_files_cost_no_honest_change_in_place() {
    for touches in [
        "touch f",
        "chmod g-w f; chmod g+w f",
        "cp f x.ignored; cat x.ignored >f",
        "cp f x.ignored; mv x.ignored f",
        "git stash -q; git stash pop -q; git status",
        "touch f; git update-index --refresh",
    ] {
        // Each time, and only with what the agent does.
        for when in ["true", "test -e a"] {
            let repo = TestRepo::empty();
            repo.write("f", "text\n");
            repo.write(".gitignore", "*.ignored\n");
            repo.write(
                "GOALS.yaml",
                &format!("version: 1\ngoals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 4}}\n  - {{id: f, description: d, check: '! {{ {when}; }} || {{ {touches}; true; }}', weight: 3}}\n"),
            );
            repo.commit_all("first");
            repo.agent_does(&["touch a", "touch b"]);
            repo.run(&["--max-cycles=2"]).expect(0);
            let case = format!("{touches} {when}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["improved", "improved"], "{case}");
            assert_eq!(repo.status(), Vec::<String>::new(), "{case}");
        }
    }
}

#[test]
fn what_the_agents_code_hides_from_git_in_place_is_found_and_undone() {
    for hides in [
        "git add f",
        "git update-index --assume-unchanged f",
        "git update-index --skip-worktree f",
        "git rm -q --cached f",
    ] {
        let repo = with_code("", "bad\n");
        repo.agent_does(&[&format!("touch new; echo 'echo good >f; {hides}' >app.sh")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{hides}");
        let reason = &repo.each("reason")[0];
        assert!(
            reason.contains("in no commit: f by the check of a"),
            "{hides}: {reason}"
        );
        assert_eq!(repo.read("f"), "bad\n", "{hides}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{hides}");
    }
}

#[test]
fn an_edit_while_the_goals_of_a_good_change_are_measured_is_in_the_quarantine_and_the_change_is_kept()
 {
    let repo = with_generated("");
    repo.commit_goals("  - {id: a, description: d, check: 'test -e a && { test -e $OUT/once || { echo edit >>source; touch $OUT/once; }; }', weight: 5}\n");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.read("source"), "1\n");
    assert!(
        notes(&repo).contains("put back: source"),
        "{}",
        notes(&repo)
    );
    assert_eq!(repo.quarantined().len(), 1);
    assert_eq!(repo.status(), Vec::<String>::new());
}

/// A repository whose agent breaks goal `b`, and leaves in `calc.sh` what a check then does to the tree.
fn with_files(settings: &str) -> TestRepo {
    let repo = calculator(settings);
    repo.write("b", "b\n");
    repo.write("README", "one\n");
    repo.write("dir/one", "1\n");
    repo.write("dir/two", "2\n");
    std::os::unix::fs::symlink("README", repo.path("link")).unwrap();
    repo.write(
        "GOALS.yaml",
        &format!(
            "{}  - {{id: b, description: d, check: test -e b, weight: 5, retries: 0}}\n",
            repo.read("GOALS.yaml")
        ),
    );
    repo.commit_all("more");
    repo
}

fn breaks(text: &str) -> String {
    format!("{}git rm -q b; git commit -qam work\n", calculates(text))
}

/// Asserts that the first of two cycles was undone exactly, and that the second is not held up.
#[track_caller]
fn assert_undone(repo: &TestRepo, flags: &[&str], what: &str) {
    let state = || (repo.content("HEAD"), repo.files(), repo.status());
    let before = state();
    repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{what}");
    assert_eq!(state(), before, "{what}");
}

/// The notes of the first record.
fn notes(repo: &TestRepo) -> String {
    repo.records()[0]["notes"].to_string()
}

#[test]
fn what_checks_change_beside_an_undone_cycle_is_put_back_and_each_version_is_in_the_quarantine() {
    let evil = Some("evil\n");
    let cases = [
        ("echo evil >README", "README", evil),
        ("rm -f README", "README", None),
        ("chmod +x README", "README", Some("one\n")),
        ("echo evil >README; git add README", "README", evil),
        (
            "echo evil >README; git add README; git show HEAD:README >README",
            "README",
            evil,
        ),
        ("git rm -q --cached README", "README", None),
        (
            "rm -f README; mkdir -p README; echo evil >README/x",
            "README",
            evil,
        ),
        ("rm -rf dir; echo evil >dir", "dir/one", evil),
        ("rm -rf dir; ln -s . dir", "dir/two", None),
        ("rm link; echo evil >link", "link", evil),
        (
            "touch -r README .t; echo evil >README; touch -r .t README; rm .t; git update-index --assume-unchanged README",
            "README",
            evil,
        ),
        (
            "git update-index --skip-worktree README; echo evil >README",
            "README",
            evil,
        ),
        (
            "touch -r README .t; echo two >README; touch -r .t README; rm .t",
            "README",
            Some("two\n"),
        ),
        (
            "id=$(echo evil | git hash-object -w --stdin); printf '100644 %s 1\\tREADME\\n100644 %s 2\\tREADME\\n' $id $id | git update-index --index-info",
            "README",
            evil,
        ),
    ];
    for (script, named, version) in cases {
        let repo = with_files("");
        repo.agent_does(&[&breaks(script), "true"]);
        assert_undone(&repo, &[], script);
        let notes = notes(&repo);
        assert!(
            notes.contains("and put back: ") && notes.contains(named),
            "{script}: {notes}"
        );
        let kept = repo.quarantined();
        let is_kept = |version: &str| kept.values().any(|(_, bytes)| bytes == version.as_bytes());
        assert!(version.is_none_or(is_kept), "{script}: {kept:?}");
        let is_meant = !is_kept("one\n") || version == Some("one\n");
        assert!(is_meant, "{script}: as it was: {kept:?}");
        let listed = repo.git(&["ls-files", "-v"]);
        let has_marks = listed.lines().any(|line| !line.starts_with("H "));
        assert!(!has_marks, "{script}: {listed}");
    }
}

#[test]
fn another_session_begins_after_checks_changed_the_tree_of_an_undone_cycle() {
    for (flags, settings) in PLACES {
        let repo = with_files(settings);
        let before = (repo.content("HEAD"), repo.files());
        repo.agent_does(&[&breaks("echo evil >README; rm -f dir/one"), "true"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(
            repo.each("result"),
            ["regressed", "unchanged"],
            "{flags:?} {settings}"
        );
        let after = (repo.content("HEAD"), repo.files());
        assert_eq!(after, before, "{flags:?} {settings}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{flags:?} {settings}");
    }
}

#[test]
fn what_checks_only_staged_beside_an_undone_cycle_stays_untracked() {
    let repo = with_files("");
    let stages = "echo new >fresh; ln -s fresh way; echo told >told; git add fresh way; git add --intent-to-add told";
    repo.agent_does(&[&breaks(stages), "true"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "unchanged"]);
    assert_eq!(repo.read("fresh"), "new\n");
    assert_eq!(repo.status(), ["?? fresh", "?? told", "?? way"]);
    // The files have all that was staged.
    assert!(repo.quarantined().is_empty());
}

#[test]
fn a_file_behind_a_link_that_checks_put_in_the_place_of_a_folder_stays_where_it_is() {
    let repo = with_files("");
    let other = repo.outside().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("one"), "somebody's\n").unwrap();
    let before = repo.read("dir/one");
    let link = format!("rm -rf dir; ln -s {} dir", other.display());
    repo.agent_does(&[&breaks(&link)]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    let left = fs::read_to_string(other.join("one")).unwrap();
    assert_eq!(left, "somebody's\n");
    assert_eq!(repo.read("dir/one"), before);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn what_somebody_writes_into_a_new_file_of_the_agents_is_in_the_quarantine_when_that_is_undone() {
    for (flags, settings) in [PLACES[0], PLACES[2]] {
        let repo = with_files(settings);
        let before = (repo.files(), repo.status());
        let edit = format!("echo mine >>{}", repo.path("new").display());
        let adds = "echo theirs >new; git add new";
        repo.agent_does(&[&format!("{adds}\n{}", breaks(&edit))]);
        repo.run(&[flags, &["--max-cycles=1"][..]].concat())
            .expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{settings}");
        assert_eq!((repo.files(), repo.status()), before, "{settings}");
        let kept = repo.quarantined();
        assert_eq!(kept[&b"new"[..]].1, b"theirs\nmine\n", "{settings}");
    }
}

#[test]
fn what_checks_staged_that_git_has_lost_keeps_no_undo_from_being_carried_out() {
    let repo = with_files("");
    let lost = "d95f3ad14dee633a758d2e331151e950dd13e4ed";
    let stages = format!("git update-index --add --cacheinfo 100644,{lost},README");
    repo.agent_does(&[&breaks(&stages), "true"]);
    assert_undone(&repo, &[], &stages);
}

#[test]
fn what_checks_staged_that_cannot_be_read_stops_the_run_and_is_not_lost() {
    let repo = with_files("").by_normal_user();
    let stages = "id=$(echo evil | git hash-object -w --stdin); git update-index --cacheinfo 100644,$id,README; chmod 0 .git/objects/$(echo $id | sed s,..,\\&/,)";
    repo.agent_does(&[&breaks(stages)]);
    let error = repo.run(&["--max-cycles=1"]).expect(1).stderr;
    assert!(error.contains("Permission denied"), "{error}");
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(repo.read("README"), "one\n");
    assert_eq!(repo.quarantined()[&b"README"[..]].1, b"evil\n");
}

#[test]
fn edits_in_a_tree_in_which_no_check_runs_are_left_alone_by_an_undo() {
    for (flags, settings) in &PLACES[1..] {
        let repo = with_files(settings);
        let edit = format!("echo mine >{}", repo.path("README").display());
        repo.agent_does(&[&breaks(&edit)]);
        let run = repo
            .run(&[flags, &["--max-cycles=1"][..]].concat())
            .expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{flags:?} {settings}");
        assert_eq!(repo.read("README"), "mine\n", "{flags:?} {settings}");
        assert!(repo.quarantined().is_empty(), "{flags:?} {settings}");
        let is_named = run.stderr.contains("beside the undone cycle's: README");
        assert_eq!(is_named, flags.is_empty(), "{}", run.stderr);
    }
}

#[test]
fn what_git_converts_is_put_back_as_it_was_and_nothing_else_goes_to_the_quarantine() {
    let cases = [
        ("git rm -q --cached data.big; touch lines.txt", vec![]),
        ("echo more >>data.big", vec!["plain\nmore\n"]),
        (
            "echo '* text eol=crlf' >.gitattributes",
            vec!["* text eol=crlf\n"],
        ),
    ];
    for (script, versions) in cases {
        let repo = with_files("");
        repo.git(&["config", "filter.lfs.clean", "sed s/plain/stored/"]);
        repo.git(&["config", "filter.lfs.smudge", "sed s/stored/plain/"]);
        repo.write(".gitattributes", "*.big filter=lfs\n*.txt text eol=crlf\n");
        repo.write("data.big", "plain\n");
        repo.write("lines.txt", "one\r\ntwo\r\n");
        repo.commit_all("filtered");
        repo.agent_does(&[&breaks(script), "true"]);
        assert_undone(&repo, &[], script);
        let kept = repo.quarantined();
        let is_kept = |version: &&str| kept.values().any(|(_, bytes)| bytes == version.as_bytes());
        assert!(versions.iter().all(is_kept), "{script}: {kept:?}");
        let is_meant = kept.len() == versions.len() || script.contains(".gitattributes");
        assert!(is_meant, "{script}: {kept:?}");
    }
}

#[test]
fn an_earlier_version_that_does_not_fit_into_the_quarantine_stops_the_run_too() {
    let repo = TestRepo::with_goals("  - {id: a, description: d, check: sh runner, weight: 5}\n");
    repo.write("runner", ". ./code\n");
    repo.write("code", "test -e a\n");
    repo.commit_all("code");
    repo.write("notes", "precious\n");
    let earlier = repo.private().join("quarantine/earlier-1");
    fs::create_dir_all(&earlier).unwrap();
    let large = fs::File::create(earlier.join("large")).unwrap();
    large.set_len(1 << 30).unwrap();
    repo.agent_does(&["touch a; echo 'echo x >notes; test -e a' >code", "true"]);
    let run = repo.run(&["--max-cycles=1"]).expect(11);
    assert!(run.stderr.contains("notes"), "{}", run.stderr);
    fs::remove_dir_all(&earlier).unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    let kept = repo.quarantined().into_values().map(|(_, bytes)| bytes);
    let mut held: Vec<_> = kept.chain([repo.read("notes").into_bytes()]).collect();
    held.retain(|bytes| bytes == b"precious\n");
    assert!(!held.is_empty());
}

#[test]
fn a_full_quarantine_stops_the_run_and_the_next_one_puts_back_what_checks_changed() {
    let repo = with_files("");
    let before = (repo.content("HEAD"), repo.files());
    let earlier = repo.private().join("quarantine/earlier-1");
    fs::create_dir_all(&earlier).unwrap();
    // Nothing in it but its size.
    let large = fs::File::create(earlier.join("large")).unwrap();
    large.set_len(1 << 30).unwrap();
    repo.agent_does(&[&breaks("echo evil >README; rm -f dir/one"), "true"]);
    let run = repo.run(&["--max-cycles=1"]).expect(11);
    assert!(
        run.stderr.contains("README is in the way"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.read("README"), "evil\n");
    fs::remove_dir_all(&earlier).unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "unchanged"]);
    assert!(
        notes(&repo).contains("put back: README, dir/one"),
        "{}",
        notes(&repo)
    );
    assert_eq!((repo.content("HEAD"), repo.files()), before);
    assert_eq!(repo.quarantined()[&b"README"[..]].1, b"evil\n");
}

/// A repository whose check writes what git does not see, once there is a mark, after the verdict.
fn hiding() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("x", "one\n");
    // Older than the index, so that git goes by its time.
    let x = fs::File::options().write(true).open(repo.root().join("x"));
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    x.unwrap().set_modified(long_ago).unwrap();
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: r, description: r, retries: 0, weight: 1, check: \"if [ -e $OUT/mark ] && [ ! -e bad ]; then rm $OUT/mark; touch -r x $OUT/time; echo two >x; touch -r $OUT/time x; fi; test ! -e bad\"}\n",
    );
    repo.git(&["config", "core.trustctime", "false"]);
    repo.git(&["config", "core.checkStat", "minimal"]);
    repo
}

#[test]
fn what_a_check_hides_from_git_after_the_verdict_is_found_in_the_next_cycle() {
    let repo = hiding();
    repo.agent_does(&["touch bad $OUT/mark", "touch a"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    assert_eq!(repo.read("x"), "two\n");
    assert_eq!(repo.git(&["show", "HEAD:x"]), "two");
}

#[test]
fn what_a_check_of_a_sessions_last_cycles_hides_from_git_is_found_when_the_next_session_begins() {
    for (work, results) in [
        ("touch bad $OUT/mark", &["regressed"][..]),
        ("touch a $OUT/mark", &["improved"]),
        ("touch a $OUT/mark", &["improved", "idle"]),
    ] {
        let mut repo = hiding();
        repo.env.push(("EVOLVE_CLOCK".to_owned(), String::new()));
        repo.agent_does(&[work]);
        let cycles = format!("--max-cycles={}", results.len());
        repo.run(&[&cycles]).expect(0);
        assert_eq!(repo.each("result"), results);
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        let refused = repo.run(&["--max-cycles=1"]).expect(3);
        assert!(
            refused
                .stderr
                .contains("\n  x (hidden from git until now: "),
            "{}",
            refused.stderr
        );
        assert_eq!(repo.read("x"), "two\n");
        assert_eq!(repo.status(), [" M x"]);
    }
}

/// Commits a file that git would convert now: that was committed before the attributes, and what git notes of it says that nobody
/// touched it.
const CONVERTED_SINCE: &str = "printf 'one\\r\\n' >f.txt; touch -d '1 hour ago' f.txt; git add f.txt; git commit -qm one; echo '*.txt text' >.gitattributes; git add .gitattributes; git commit -qm attributes";

#[test]
fn a_file_of_the_users_that_git_would_convert_now_is_blamed_on_nobody() {
    for is_one_session in [true, false] {
        let mut repo = TestRepo::empty();
        repo.env.push(("EVOLVE_CLOCK".to_owned(), String::new()));
        let hook = format!("[ -e f.txt ] || {{ {CONVERTED_SINCE}; }}");
        repo.write("hook.sh", &hook);
        repo.write("GOALS.yaml", "version: 1\nevolve: {on_cycle: sh hook.sh}\ngoals:\n  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: test -e b, weight: 5}\n");
        repo.commit_all("goals");
        repo.agent_does(&["touch a", "touch b"]);
        match is_one_session {
            true => drop(repo.run(&["--max-cycles=2"]).expect(0)),
            false => {
                repo.run(&["--max-cycles=1"]).expect(0);
                repo.run(&["--max-cycles=1"]).expect(0);
            }
        }
        assert_eq!(repo.each("result"), ["improved", "improved"]);
        assert_eq!(repo.read("f.txt"), "one\r\n");
        let changed = repo.git(&["log", "--format=%s", "--", "f.txt"]);
        assert_eq!(changed, "one", "{}", repo.git(&["log", "--stat"]));
    }
}

#[test]
fn so_is_what_it_hides_inside_a_submodule() {
    let repo = TestRepo::empty().with_out();
    let made = r#"git init -q "$OUT/m"; cd "$OUT/m"; echo one >x; touch -d '1 hour ago' x; git add x; git -c user.name=u -c user.email=e@x commit -qm x; cd "$OLDPWD"
        git -c protocol.file.allow=always submodule -q add "$OUT/m" m
        git -C m config core.trustctime false; git -C m config core.checkStat minimal
        touch -d '1 hour ago' m/x; git -C m update-index -q --refresh"#;
    sh(&repo, made);
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: r, description: r, retries: 0, weight: 1, check: \"if [ -e $OUT/mark ] && [ ! -e bad ]; then rm $OUT/mark; touch -r m/x $OUT/time; echo two >m/x; touch -r $OUT/time m/x; fi; test ! -e bad\"}\n",
    );
    repo.agent_does(&["touch bad $OUT/mark", "touch a"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    assert_eq!(repo.read("m/x"), "one\n");
}
