//! What stands in a copy when it is made ready for the next cycle: paths that lead out of it, links that are lent no more, and
//! a copy that somebody removed. What `evolve` itself does where it is called in one.

use std::fs;
use std::path::PathBuf;

use crate::harness::{TestRepo, with_git, write_program};

/// A repository that lends `deep/er/cache` to its copies, which git ignores.
fn lending() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4), ("c", 3)]).with_out();
    repo.write(".gitignore", "/deep\n");
    repo.commit_all("ignored");
    repo.write("deep/er/cache/shared", "shared\n");
    repo
}

/// A folder of the user's that no cycle may touch.
fn precious(repo: &TestRepo) -> PathBuf {
    let outside = repo.out("precious");
    for folder in ["cache", "er/cache"] {
        fs::create_dir_all(outside.join(folder)).unwrap();
        fs::write(outside.join(folder).join("p"), "precious\n").unwrap();
    }
    outside
}

fn assert_untouched(outside: &std::path::Path, what: &str) {
    for folder in ["cache", "er/cache"] {
        let folder = outside.join(folder);
        assert!(!folder.is_symlink(), "{what}: {}", folder.display());
        let kept = fs::read_to_string(folder.join("p"));
        assert_eq!(kept.unwrap_or_default(), "precious\n", "{what}");
    }
}

/// The copy that agents work in.
fn copy(repo: &TestRepo) -> PathBuf {
    let all = repo.home().join(".cache/evolve").canonicalize().unwrap();
    let mut entries = fs::read_dir(all).unwrap();
    entries.next().unwrap().unwrap().path().join("agent")
}

#[test]
fn nothing_is_removed_or_linked_behind_a_link_that_an_agent_put_where_a_lent_path_leads() {
    for place in ["deep", "deep/er"] {
        let repo = lending();
        let outside = precious(&repo);
        let plant = format!("rm -rf {place}; ln -s $OUT/precious {place}; touch a");
        repo.agent_does(&[&plant, "cp deep/er/cache/shared $OUT/lent; touch b"]);
        repo.run(&["--isolate", "--link=deep/er/cache", "--max-cycles=2"])
            .expect(0);
        assert_untouched(&outside, &plant);
        assert_eq!(repo.said("lent"), "shared\n", "{plant}");
    }
}

#[test]
fn nothing_is_linked_behind_a_link_in_the_copy_that_checks_run_in() {
    let repo = lending();
    let outside = precious(&repo);
    repo.agent_does(&[
        "rm -rf deep; ln -s $OUT/precious deep; touch a; git add -f deep a; git commit -qm a",
        "touch b",
    ]);
    repo.write(
        "GOALS.yaml",
        &format!("{}evolve: {{measure: clean}}\n", repo.read("GOALS.yaml")),
    );
    repo.commit_all("measured in a clean copy");
    repo.run(&["--isolate", "--link=deep/er/cache", "--max-cycles=2"]);
    assert_untouched(&outside, "measure: clean");
}

#[test]
fn a_link_that_is_lent_no_more_goes_and_what_it_led_to_stays() {
    let repo = lending();
    repo.write("deep/other", "other\n");
    repo.agent_does(&["touch a", "touch b", "touch c"]);
    let both = [
        "--isolate",
        "--max-cycles=1",
        "--link=deep/er/cache",
        "--link=deep/other",
    ];
    repo.run(&both).expect(0);
    let copy = copy(&repo);
    assert!(copy.join("deep/er/cache").is_symlink() && copy.join("deep/other").is_symlink());
    repo.run(&both[..3]).expect(0);
    assert!(copy.join("deep/er/cache").is_symlink() && !copy.join("deep/other").is_symlink());
    repo.run(&both[..2]).expect(0);
    assert!(!copy.join("deep/er/cache").is_symlink());
    assert_eq!(repo.read("deep/er/cache/shared"), "shared\n");
    assert_eq!(repo.read("deep/other"), "other\n");
}

#[test]
fn a_copy_that_is_removed_while_an_agent_works_is_no_fault_of_its_change() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    let remove = "rm -rf \"$HOME/.cache/evolve\"";
    for script in [
        format!("touch a; {remove}"),
        format!("touch a; git add a; git commit -qm a; {remove}"),
    ] {
        let start = repo.head();
        repo.agent_does(&[&script]);
        let run = repo.run(&["--isolate", "--max-cycles=2"]).expect(3);
        assert!(
            run.stderr.contains("was removed or replaced meanwhile"),
            "{}",
            run.stderr
        );
        assert_eq!(repo.newest()["result"], "interrupted", "{script}");
        assert_eq!(repo.newest()["commit_sha"], start);
        assert_eq!(repo.git(&["for-each-ref", "refs/evolve"]), "");
        assert_eq!(repo.status(), Vec::<String>::new());
    }
    repo.agent_does(&["touch a"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn a_copy_that_is_removed_while_checks_run_is_no_fault_of_the_change() {
    for setting in ["here", "clean"] {
        let repo = TestRepo::empty().with_out();
        let check = "if test -e a && test ! -e $OUT/once; then touch $OUT/once; rm -rf $HOME/.cache/evolve; fi; test -e a";
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{measure: {setting}}}\ngoals:\n  - {{id: a, description: a, check: '{check}', weight: 5}}\n  - {{id: kept, description: kept, check: test -e kept, weight: 9}}\n"),
        );
        repo.write("kept", "");
        repo.commit_all("first");
        repo.agent_does(&["touch a", "touch a"]);
        repo.run(&["--isolate", "--max-cycles=2"]).expect(3);
        assert_eq!(repo.each("result"), ["interrupted"], "{setting}");
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    }
}

#[test]
fn a_user_who_amends_the_commit_that_a_cycle_started_from_leaves_a_history_that_agrees() {
    for (script, result) in [
        ("touch a; git add a; git commit -qm a", "interrupted"),
        ("rm b", "regressed"),
        ("true", "unchanged"),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
        repo.write("b", "");
        repo.commit_all("b");
        let start = repo.head();
        let amend = "cd \"$OUT/../repo\" && echo mine >mine && git add mine && git commit -q --amend -m amended";
        repo.agent_does(&[&format!("({amend}); {script}"), "touch a"]);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], result, "{script}");
        if result != "unchanged" {
            assert_ne!(record["commit_sha"], start, "{script}");
            let amended = record["commit_sha"].as_str().unwrap();
            assert_eq!(repo.git(&["log", "-1", "--format=%s", amended]), "amended");
        }
        assert!(repo.has("mine") && repo.has("b") && !repo.has("a"));
        let audit = repo.evolve(&["audit"]).expect(0);
        assert!(audit.stdout.contains("no longer holds"), "{}", audit.stdout);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{script}");
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn a_cycle_whose_branch_was_renamed_or_removed_is_recorded_on_the_one_that_goes_on_from_it() {
    for gone in [
        "git branch -m other",
        "git switch -q -c other && git branch -q -D main",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        let script = format!("touch a; (cd \"$OUT/../repo\" && {gone})");
        repo.agent_does(&[&script, "touch a"]);
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(3);
        assert!(run.stderr.contains("main is gone"), "{}", run.stderr);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{gone}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{gone}");
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn a_cycle_that_no_branch_goes_on_from_leaves_nothing_and_is_said_to_be_recorded_nowhere() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let gone = "git commit -q --amend -m amended && git branch -m other";
    let script = format!("touch a; (cd \"$OUT/../repo\" && {gone})");
    repo.agent_does(&[&script, "touch a"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(3);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let said = run.stdout + &run.stderr;
    assert!(said.contains("recorded nowhere"), "{said}");
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn a_copy_is_for_its_owner_alone_as_the_repository_may_be() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
    let mode = |folder: &std::path::Path| fs::metadata(folder).unwrap().permissions().mode();
    repo.agent_does(&["touch a", "touch b"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let own = copy(&repo).parent().unwrap().to_owned();
    assert_eq!(mode(&own) & 0o777, 0o700);
    // As an earlier version made it.
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(mode(&own) & 0o777, 0o700);
}

#[test]
fn a_copy_whose_removal_shows_only_after_stock_was_taken_of_it_is_nobodys_work() {
    // What tells of the copies goes last.
    for fails in ["", "exit 1"] {
        let repo = lending();
        let copies = repo.home().join(".cache/evolve").display().to_string();
        let shim = format!(
            "case \"$*\" in *--no-write-fetch-head*) rm -f {copies}/*/owner; {fails};; esac"
        );
        let path = with_git(&repo, &shim);
        repo.agent_does(&["rm -rf *"]);
        let agent = format!("--agent={}", repo.agent());
        let options = [&agent, "--isolate", "--max-cycles=2"];
        let run = repo.evolve_with(&[("PATH", &path)], &options).expect(3);
        assert!(
            run.stderr.contains("was removed or replaced meanwhile"),
            "{}",
            run.stderr
        );
        repo.agent_does(&["touch a"]);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{fails}");
    }
}

#[test]
fn in_a_copy_nobody_steers_what_works_in_the_repository() {
    let repo = lending();
    let evolve = repo.program();
    let evolve = evolve.display();
    let commands = [
        "stop --off",
        "stop --now",
        "work add found",
        "work drop found",
        "retry a",
        "lessons drop found",
        "undo 1",
        "--agent=true --max-cycles=1",
        "search --objective 'echo 1' --files a --agent=true",
    ];
    let calls = commands.map(|words| {
        format!("{evolve} {words} >>$OUT/said 2>&1 </dev/null; echo \"= $?\" >>$OUT/said\n")
    });
    repo.agent_does(&[&format!(
        "{}{evolve} status >$OUT/status; touch a",
        calls.concat()
    )]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let said = repo.said("said");
    let error = format!(
        "error: this is a copy that evolve made of {}, and nothing comes of that here",
        repo.root().canonicalize().unwrap().display()
    );
    assert_eq!(said.matches("= 5\n").count(), commands.len(), "{said}");
    assert_eq!(said.matches(&error).count(), commands.len(), "{said}");
    assert!(repo.said("status").contains("goals"), "looking is free");
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn hooks_that_a_copy_does_not_have_are_named_once_at_the_start() {
    let hook = "#!/bin/sh\ntouch \"$OUT/ran\"\n";
    for (folder, setting, told) in [
        (".git/hooks", "", "pre-commit, commit-msg"),
        (".husky", "--local", "pre-commit, commit-msg"),
        (".git/hooks", "--global", ""),
    ] {
        let repo = lending();
        for name in [
            "pre-commit",
            "commit-msg",
            "pre-push",
            "prepare-commit-msg.sample",
        ] {
            fs::create_dir_all(repo.path(folder)).unwrap();
            write_program(&repo.path(folder).join(name), hook);
        }
        repo.write(&format!("{folder}/prepare-commit-msg"), "not active");
        if !setting.is_empty() {
            let path = repo.path(folder).display().to_string();
            repo.git(&["config", setting, "core.hooksPath", &path]);
        }
        repo.agent_does(&["touch a; git add a; git commit -qm a", "touch b"]);
        let run = repo.run(&["--isolate", "--max-cycles=2"]).expect(0);
        let words = format!(
            "hooks of this repository do not run in the copy, where the agent commits: {told};"
        );
        let times = usize::from(!told.is_empty());
        assert_eq!(
            run.stdout.matches("do not run in the copy").count(),
            times,
            "{}",
            run.stdout
        );
        assert_eq!(run.stdout.contains(&words), times == 1, "{}", run.stdout);
        assert_eq!(repo.out("ran").exists(), times == 0, "{folder} {setting}");
        let in_place = repo.run(&["--max-cycles=1"]);
        assert!(
            !in_place.stdout.contains("do not run"),
            "{}",
            in_place.stdout
        );
    }
}

#[test]
fn a_stop_file_that_an_agent_leaves_in_its_copy_ends_the_session_after_its_cycle() {
    let evolve = TestRepo::empty().program();
    let evolve = evolve.display();
    let by_command = format!("touch a; {evolve} stop because >$OUT/said");
    let by_file = "touch a; mkdir -p .agents/evolve; echo because >.agents/evolve/STOP";
    for script in [&*by_command, by_file] {
        let repo = lending();
        repo.agent_does(&[script, "touch b"]);
        let run = repo.run(&["--isolate", "--max-cycles=3"]).expect(0);
        let reason = "STOP file .agents/evolve/STOP: because (written in its copy while the agent of cycle 1 ran)\n";
        assert!(run.stdout.contains(reason), "{script}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["improved"], "{script}");
        assert!(!repo.has(".agents/evolve/STOP"), "{script}");
        // It is no word of the next agent's.
        let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert!(!run.stdout.contains("STOP"), "{script}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["improved"; 2], "{script}");
        if script == by_command {
            let said = "the loop at work in this copy stops after its running cycle: .agents/evolve/STOP\n";
            assert_eq!(repo.said("said"), said);
        }
    }
}

#[test]
fn a_stop_file_that_a_check_leaves_in_a_copy_ends_the_session_after_its_cycle() {
    // In the first cycle the agent's change has it written, in the second session nothing has.
    let check = "if test -e a; then if test ! -e $OUT/once; then touch $OUT/once; mkdir -p .agents/evolve; echo because >.agents/evolve/STOP; fi; else false; fi";
    for (flags, settings) in [
        (&["--isolate"][..], ""),
        (&["--isolate"], ", measure: clean"),
        (&[], ", measure: clean"),
    ] {
        let repo = TestRepo::empty().with_out();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{sweep: []{settings}}}\ngoals:\n  - {{id: a, description: d, check: '{check}', weight: 9}}\n  - {{id: b, description: d, check: test -e b, weight: 5}}\n"),
        );
        repo.commit_all("first");
        repo.agent_does(&["touch a", "touch b"]);
        let run = repo.run(&[flags, &["--max-cycles=3"]].concat()).expect(0);
        let reason = "STOP file .agents/evolve/STOP: because (written in its copy while goals were measured)\n";
        let case = format!("{flags:?} {settings}: {}", run.stdout);
        assert!(run.stdout.contains(reason), "{case}");
        assert_eq!(repo.each("result"), ["improved"], "{case}");
        assert!(!repo.has(".agents/evolve/STOP"), "{case}");
        let run = repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert!(!run.stdout.contains("STOP"), "{case}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["improved"; 2], "{case}");
    }
}
