//! What checks build and then run (`make -s tool && ./tool`): it follows from the sources, which an agent may change, and an agent's
//! own version of it is not believed.

use std::fs;

use crate::harness::{EVOLVE_PID, TestRepo, output, with_git};

/// Where goals are measured: flags, and what stands in the goals file.
const PLACES: [(&[&str], &str); 3] = [
    (&[], ""),
    (&["--isolate"], ""),
    (&[], "evolve: {measure: clean}\n"),
];

/// A program that `make` builds, ignored by git or not, which the check of `tool` builds and runs.
fn program(settings: &str, ignored: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("tool.c", "exit 1\n");
    repo.write(
        "Makefile",
        "bin/tool: tool.c\n\tmkdir -p bin\n\tprintf '#!/bin/sh\\n\\377\\n' >$@.new; cat tool.c >>$@.new\n\tchmod +x $@.new; mv $@.new $@\n",
    );
    repo.write(".gitignore", ignored);
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\n{settings}goals:\n  - {{id: tool, description: d, check: make -s bin/tool && bin/tool 2>/dev/null, weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 3}}\n"
        ),
    );
    repo.commit_all("first");
    repo
}

/// Builds the program as the user would.
fn make(repo: &TestRepo) {
    output(repo.command("make").args(["-s", "bin/tool"]));
}

#[test]
fn an_agent_may_change_what_a_program_is_built_of_and_build_it() {
    for (flags, settings) in PLACES {
        for ignored in ["/bin/\n", ""] {
            for builds in ["make -s bin/tool", "true"] {
                for is_built in [true, false] {
                    let repo = program(settings, ignored);
                    if is_built {
                        make(&repo);
                    }
                    repo.agent_does(&[&format!("echo exit 0 >tool.c; {builds}"), "touch b"]);
                    repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
                    assert_eq!(
                        repo.each("result"),
                        ["improved", "improved"],
                        "{flags:?} {settings} {ignored:?} {builds} {is_built}: {:?}",
                        repo.each("reason")
                    );
                    let notes = &repo.records()[0]["notes"];
                    assert!(
                        ignored.is_empty() || notes.as_array().is_none_or(Vec::is_empty),
                        "{flags:?} {settings} {builds} {is_built}: {notes}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_program_is_what_it_was_after_an_undo_and_the_next_measurement_is_true() {
    for (flags, settings) in PLACES {
        let repo = program(settings, "/bin/\n");
        repo.write("tool.c", "exit 0\n");
        repo.commit_all("works");
        make(&repo);
        let before = repo.files();
        repo.agent_does(&[
            "touch b; echo exit 1 >tool.c; make -s bin/tool",
            "touch b; echo 'exit 0 # faster' >tool.c",
        ]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{flags:?} {settings}");
        assert_eq!(repo.each("newly_failing"), ["[\"tool\"]"]);
        assert_eq!(repo.files(), before, "{flags:?} {settings}");
        // Of what is built there is a new one in each cycle.
        assert!(repo.quarantined().is_empty(), "{flags:?} {settings}");
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{:#}", repo.newest());
    }
}

#[test]
fn an_undo_that_the_next_start_carries_on_puts_programs_and_empty_folders_back_too() {
    let repo = program("", "/bin/\n");
    repo.write("tool.c", "exit 0\n");
    repo.commit_all("works");
    make(&repo);
    fs::create_dir(repo.path("empty")).unwrap();
    let before = fs::read(repo.path("bin/tool")).unwrap();
    repo.agent_does(&[
        "rmdir empty; echo exit 1 >tool.c; make -s bin/tool; touch -d 2099-01-01 bin/tool",
    ]);
    // The session is killed in its undo, before a file is written.
    let shim = format!("case \"$*\" in *'restore --source'*) kill -9 {EVOLVE_PID}; exit 1;; esac");
    let path = with_git(&repo, &shim);
    let agent = format!("--agent={}", repo.agent());
    repo.evolve_with(&[("PATH", &path)], &[&agent, "--max-cycles=1"])
        .expect(137);
    assert_ne!(fs::read(repo.path("bin/tool")).unwrap(), before);
    repo.cycle("touch b").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(fs::read(repo.path("bin/tool")).unwrap(), before);
    assert!(repo.path("empty").is_dir());
}

#[test]
fn a_program_that_the_agent_writes_itself_is_not_believed() {
    for forge in [
        "printf '#!/bin/sh\\nexit 0\\n' >bin/tool",
        "printf '#!/bin/sh\\nexit 0\\n' >bin/tool; touch -d 2099-01-01 bin/tool",
        "rm bin/tool; printf '#!/bin/sh\\nexit 0\\n' >bin/tool; chmod +x bin/tool; touch -d 2099-01-01 bin/tool",
        "rm bin/tool; ln -s /bin/true bin/tool",
        "rm bin/tool; mkdir bin/tool",
    ] {
        let repo = program("", "/bin/\n");
        make(&repo);
        let before = repo.files();
        repo.agent_does(&[forge]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(
            repo.each("reason"),
            ["goalposts moved: bin/tool changed, and no check builds it"],
            "{forge}"
        );
        assert_eq!(repo.files(), before, "{forge}");
    }
}

#[test]
fn a_program_that_was_not_there_and_that_the_agent_writes_is_taken_away_and_committed_by_nobody() {
    // What does not compile is not there before the agent.
    for (flags, settings) in PLACES {
        for ignored in ["/bin/\n", ""] {
            let repo = program(settings, ignored);
            repo.write(
                "Makefile",
                &repo
                    .read("Makefile")
                    .replace("mkdir", "grep -q '^exit' tool.c\n\tmkdir"),
            );
            repo.write("tool.c", "syntax\n");
            repo.commit_all("does not compile");
            let forged = "mkdir -p bin; printf '#!/bin/sh\\n\\377\\nexit 0\\n' >bin/tool; chmod +x bin/tool; touch -d 2099-01-01 bin/tool";
            repo.agent_does(&[
                &format!("touch other; {forged}"),
                "echo exit 0 >tool.c; make -s bin/tool",
                "touch b",
            ]);
            repo.run(&[flags, &["--max-cycles=3"]].concat()).expect(0);
            let case = format!(
                "{flags:?} {settings:?} {ignored:?} {:?}",
                repo.each("reason")
            );
            assert_eq!(
                repo.each("result"),
                ["unchanged", "improved", "improved"],
                "{case}"
            );
            let notes = repo.records()[0]["notes"].to_string();
            let is_named =
                notes.contains("made by the agent, run by checks") && notes.contains("quarantine");
            // What git ignores is not in a copy where no agent was.
            let is_seen = !(settings.contains("clean") && ignored == "/bin/\n");
            assert_eq!(is_named, is_seen, "{case} {notes}");
            assert_eq!(repo.git(&["ls-files", "bin"]), "", "{case}");
        }
    }
}

#[test]
fn a_program_whose_copies_were_changed_too_is_not_believed() {
    let repo = program("", "/bin/\n");
    make(&repo);
    repo.agent_does(&[
        "printf 'exit 0\\n' >bin/tool; touch -d 2099-01-01 bin/tool\nfind .git/evolve ~/.local/state/evolve -path '*/keep/*' -type f -exec cp bin/tool {} ';'",
    ]);
    repo.run(&["--max-cycles=1"]).expect(11);
    assert_eq!(repo.each("reason"), ["goalposts moved: bin/tool changed"]);
    assert!(
        !repo.has("bin/tool"),
        "it would be believed by the next measurement"
    );
    assert!(repo.quarantined().contains_key(&b"tool"[..]));
}

#[test]
fn a_folder_of_programs_that_is_exchanged_for_a_link_moves_the_goalposts() {
    let repo = program("", "/bin\n");
    make(&repo);
    repo.agent_does(&["mv bin .bin; mkdir other; cp /bin/true other/tool; ln -s other bin"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("reason"), ["goalposts moved: bin/tool changed"]);
}

#[test]
fn what_protect_names_is_frozen_though_git_ignores_it() {
    for named in ["bin/tool", "bin", "bin/"] {
        let repo = program(&format!("evolve: {{protect: [{named}]}}\n"), "/bin/\n");
        make(&repo);
        repo.agent_does(&["echo exit 0 >tool.c; make -s bin/tool"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let reason = repo.each("reason");
        assert_eq!(reason, ["goalposts moved: bin/tool changed"], "{named}");
    }
}

#[test]
fn a_program_too_large_for_a_copy_is_named_when_it_changes() {
    let repo = program("", "/bin/\n");
    make(&repo);
    let file = fs::OpenOptions::new()
        .append(true)
        .open(repo.path("bin/tool"));
    file.unwrap().set_len(11 << 20).unwrap();
    repo.agent_does(&["echo exit 0 >tool.c; make -s bin/tool"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved"],
        "{:?}",
        repo.each("reason")
    );
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("too large for a copy (more than 10 MiB), so it was not put back: bin/tool"),
        "{notes}"
    );
    assert!(!run.stderr.contains("too large to copy"), "{}", run.stderr);
}

#[test]
fn behind_a_link_the_program_itself_is_put_back() {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "/modules/\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: lint, description: d, check: modules/.bin/lint, weight: 5}\n",
    );
    repo.commit_all("first");
    repo.write("modules/lint/lint.js", "#!/bin/sh\nexit 1\n");
    let executable: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(repo.path("modules/lint/lint.js"), executable).unwrap();
    fs::create_dir(repo.path("modules/.bin")).unwrap();
    std::os::unix::fs::symlink("../lint/lint.js", repo.path("modules/.bin/lint")).unwrap();
    let before = repo.files();
    repo.agent_does(&["echo exit 0 >modules/lint/lint.js"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: modules/lint/lint.js changed, and no check builds it"]
    );
    assert_eq!(repo.files(), before);
}

/// An environment of Python that git ignores: its interpreter is a link to a link that leads outside, and a script names it by its
/// first line. The check of `lint` runs the script, which fails.
fn environment() -> TestRepo {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "/.venv/\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: lint, description: d, check: .venv/bin/lint, weight: 3}\n  - {id: b, description: d, check: test -e b, weight: 5}\n",
    );
    repo.commit_all("first");
    output(repo.command("sh").args(["-c", MAKES_ENVIRONMENT]));
    repo
}

/// What makes the environment, also anew.
const MAKES_ENVIRONMENT: &str = "rm -rf .venv; mkdir -p .venv/bin; ln -s /bin/sh .venv/bin/python; \
    ln -s python .venv/bin/python3; \
    printf '#!%s/.venv/bin/python3 -e\\nexit 1\\n' \"$PWD\" >.venv/bin/lint; chmod +x .venv/bin/lint";

#[test]
fn the_interpreter_that_a_script_names_is_put_back_with_the_links_to_it() {
    for (exchange, changed) in [
        (
            "ln -sf /bin/true .venv/bin/python3",
            "goalposts moved: .venv/bin/python3 changed, and no check builds it",
        ),
        (
            "ln -sf /bin/true .venv/bin/python",
            "goalposts moved: .venv/bin/python changed, and no check builds it",
        ),
    ] {
        let repo = environment();
        let before = repo.files();
        repo.agent_does(&[exchange]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("reason"), [changed]);
        assert_eq!(repo.files(), before, "{exchange}");
    }
}

#[test]
fn an_environment_that_is_made_again_with_the_same_links_moves_no_goalposts() {
    let repo = environment();
    repo.agent_does(&[&format!("touch b; {MAKES_ENVIRONMENT}")]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved"],
        "{:?}",
        repo.each("reason")
    );
    assert_eq!(repo.newest()["notes"].as_array().map_or(0, Vec::len), 0);
}

#[test]
fn a_check_beside_the_one_that_builds_is_not_measured_on_what_was_put_back() {
    // Goal `a` holds until the agent breaks it; its check is quick, and the one that builds is slow to begin.
    for jobs in [1, 2] {
        let repo = TestRepo::empty();
        repo.write("v", "A=0 B=1\n");
        repo.write(
            "Makefile",
            "bin/x: v\n\tmkdir -p bin\n\tprintf '#!/bin/sh\\n%s\\nexit $$(($$1))\\n' \"`cat v`\" >$@; chmod +x $@\n",
        );
        repo.write(".gitignore", "/bin/\n");
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\nevolve: {{jobs: {jobs}}}\ngoals:\n  - {{id: a, description: d, check: bin/x A, weight: 9}}\n  - {{id: b, description: d, check: bin/x B, weight: 7}}\n  - {{id: builds, description: d, check: sleep 0.3; make -s bin/x, weight: 5}}\n"
            ),
        );
        repo.commit_all("first");
        output(repo.command("make").args(["-s", "bin/x"]));
        repo.agent_does(&[
            "echo A=1 B=0 >v; make -s bin/x",
            "echo A=0 B=0 >v; make -s bin/x",
        ]);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(
            repo.each("result"),
            ["regressed", "improved"],
            "{jobs}: {:?}",
            repo.each("reason")
        );
    }
}

#[test]
fn where_no_check_builds_what_it_runs_the_agents_build_does_not_count_and_that_is_said() {
    let repo = program("", "/bin/\n");
    make(&repo);
    repo.commit_goals("  - {id: tool, description: d, check: bin/tool 2>/dev/null, weight: 5}\n");
    repo.agent_does(&["echo exit 0 >tool.c; make -s bin/tool"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: bin/tool changed, and no check builds it"]
    );
}

#[test]
fn what_an_agent_only_removes_of_a_build_is_no_reason_against_its_change() {
    let repo = program("", "/bin/\n");
    make(&repo);
    repo.agent_does(&["rm -r bin; touch b"]);
    repo.commit_goals(
        "  - {id: b, description: d, check: test -e b, weight: 5}\n  - {id: runs, description: d, check: '! bin/tool 2>/dev/null', weight: 3}\n",
    );
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved"],
        "{:?}",
        repo.each("reason")
    );
    assert!(repo.has("bin/tool"));
}

#[test]
fn a_folder_of_builds_that_is_shut_by_its_mode_is_opened_to_put_them_back() {
    for agent in [
        "printf 'exit 0\\n' >bin/tool; touch -d 2099-01-01 bin/tool; chmod 555 bin/tool bin",
        "echo exit 0 >tool.c; make -s bin/tool; chmod 555 bin/tool bin",
    ] {
        let repo = program("", "/bin/\n");
        make(&repo);
        let repo = repo.by_normal_user();
        repo.agent_does(&[agent, "true"]);
        repo.run(&["--max-cycles=2"]).expect(0);
        let is_honest = agent.starts_with("echo");
        let wanted = match is_honest {
            true => ["improved", "unchanged"],
            false => ["regressed", "unchanged"],
        };
        assert_eq!(
            repo.each("result"),
            wanted,
            "{agent}: {:?}",
            repo.each("reason")
        );
    }
}

#[test]
fn after_a_kill_the_next_measurement_is_not_of_the_agents_build() {
    for flags in [&[][..], &["--isolate"]] {
        let repo = program("", "/bin/\n").with_out();
        make(&repo);
        repo.agent_does(&[
            "printf 'exit 0\\n' >bin/tool; touch -d 2099-01-01 bin/tool; touch \"$OUT/forged\"; sleep 300",
            "true",
        ]);
        let mut child = repo.spawn_run(flags);
        repo.wait_for("forged");
        child.kill().unwrap();
        child.wait().unwrap();
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(
            repo.each("result"),
            ["interrupted", "unchanged"],
            "{flags:?}"
        );
    }
}

#[test]
fn what_checks_built_of_an_undone_change_where_nothing_was_is_in_the_quarantine() {
    let repo = program("", "/bin/\n");
    repo.write(
        "Makefile",
        &repo
            .read("Makefile")
            .replace("mkdir", "grep -q '^exit' tool.c\n\tmkdir"),
    );
    repo.write("tool.c", "syntax\n");
    repo.write("b", "");
    repo.commit_all("does not compile");
    repo.cycle("echo exit 0 >tool.c; git rm -q b").expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert!(!repo.has("bin/tool"));
    assert_eq!(repo.quarantined().len(), 1, "{:#}", repo.newest());
}

/// A program below `out`, which git ignores and `make` builds, of a source that compiles only if it ends with `exit`; `check` runs it.
fn reached_by(check: &str, source: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("tool.c", source);
    repo.write(
        "Makefile",
        "out/tool: tool.c\n\tgrep -q '^exit' tool.c\n\tmkdir -p out; cp tool.c out/tool; chmod +x out/tool\n",
    );
    repo.write(".gitignore", "/out/\n");
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\ngoals:\n  - {{id: tool, description: d, check: '{check}', weight: 5}}\n"
        ),
    );
    std::os::unix::fs::symlink("out", repo.path("build")).unwrap();
    std::os::unix::fs::symlink("out/tool", repo.path("tool")).unwrap();
    repo.commit_all("links to what is built");
    repo
}

/// Ways to reach that program: links that git tracks, and patterns.
const WAYS: [&str; 5] = [
    "make -s out/tool && build/tool",
    "make -s out/tool && ./tool",
    "make -s out/tool && for t in out/t*; do sh $t || exit 1; done",
    "make -s out/tool && for t in build/*; do sh $t || exit 1; done",
    "make -s out/tool && ls out/* | xargs -n1 sh",
];

#[test]
fn a_forged_program_is_not_believed_whichever_way_leads_to_it() {
    let decoys = "for n in $(seq 300); do echo exit 0 >out/a$n; done";
    for check in WAYS {
        for (source, is_built) in [("syntax\n", false), ("exit 1\n", true)] {
            for extra in ["true", decoys] {
                let repo = reached_by(check, source);
                if is_built {
                    output(repo.command("make").args(["-s", "out/tool"]));
                }
                repo.agent_does(&[&format!(
                    "mkdir -p out; echo exit 0 >out/tool; chmod +x out/tool; {extra}; touch -d 2099-01-01 out/*; touch other"
                )]);
                repo.run(&["--max-cycles=2"]).expect(0);
                let case = format!("{check} {source} {extra}: {:?}", repo.each("reason"));
                assert!(
                    !repo.each("result").contains(&"improved".to_owned()),
                    "{case}"
                );
                assert_eq!(repo.newest()["score_after"], 0.0, "{case}");
            }
        }
    }
}

#[test]
fn an_agent_may_build_a_program_whichever_way_leads_to_it() {
    for check in WAYS {
        for (source, is_built) in [("syntax\n", false), ("exit 1\n", true)] {
            let repo = reached_by(check, source);
            if is_built {
                output(repo.command("make").args(["-s", "out/tool"]));
            }
            repo.agent_does(&["echo exit 0 >tool.c; make -s out/tool"]);
            repo.run(&["--max-cycles=1"]).expect(0);
            let case = format!("{check} {source}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["improved"], "{case}");
        }
    }
}

#[test]
fn a_script_that_git_ignores_is_put_back_behind_a_link_that_it_tracks() {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "/tests/\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: d, check: sh t/check.sh, weight: 5}\n",
    );
    std::os::unix::fs::symlink("tests", repo.path("t")).unwrap();
    repo.commit_all("first");
    repo.write("tests/check.sh", "exit 1\n");
    repo.agent_does(&[
        "echo exit 0 >tests/check.sh",
        "echo exit 0 >t/check.sh; touch x",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "regressed"]);
    assert_eq!(repo.read("tests/check.sh"), "exit 1\n");
}

/// A build that makes each version in a folder of its own, in the repository or beside it, and points a link to the newest.
fn versions(store: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("tool.c", "exit 1\n");
    repo.write(
        "build.sh",
        &format!(
            "to={store}/$(cksum <tool.c | tr ' ' -)\nmkdir -p out \"$to\"\ncp tool.c \"$to/tool\"\nln -sfn \"$to\" out/current\n"
        ),
    );
    repo.write(".gitignore", "/out/\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: tool, description: d, check: sh build.sh && sh out/current/tool, weight: 5}\n  - {id: b, description: d, check: test -e b, weight: 3}\n",
    );
    repo.commit_all("first");
    output(repo.command("sh").arg("build.sh"));
    repo
}

#[test]
fn a_build_may_point_a_link_to_what_it_made() {
    for store in ["\"$PWD/out\"", "\"$OUT/store\""] {
        for flags in [&[][..], &["--isolate"]] {
            let repo = versions(store);
            repo.agent_does(&["echo exit 0 >tool.c; sh build.sh", "touch b"]);
            repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
            assert_eq!(
                repo.each("result"),
                ["improved", "improved"],
                "{store} {flags:?}: {:?}",
                repo.each("reason")
            );
        }
    }
}

#[test]
fn a_link_to_a_build_that_the_agent_points_elsewhere_is_put_back() {
    for store in ["\"$PWD/out\"", "\"$OUT/store\""] {
        let repo = versions(store);
        repo.commit_goals(
            "  - {id: tool, description: d, check: sh out/current/tool, weight: 5}\n",
        );
        let before = repo.files();
        repo.agent_does(&[
            "mkdir out/fake; echo exit 0 >out/fake/tool; ln -sfn fake out/current",
            "true",
        ]);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(
            repo.each("reason")[0],
            "goalposts moved: out/current changed, and no check builds it",
            "{store}"
        );
        assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{store}");
        let mut after = repo.files();
        after.retain(|path, _| !path.starts_with(b"out/fake"));
        assert_eq!(after, before, "{store}");
    }
}

#[test]
fn a_build_that_goes_by_its_own_notes_is_not_measured_as_it_was() {
    // As `tsc --incremental`: what the notes say was built is not built again.
    let repo = program("", "/bin/\n");
    repo.write("tool.c", "exit 0\n");
    repo.write(
        "Makefile",
        ".PHONY: bin/tool\nbin/tool:\n\tmkdir -p bin; cmp -s tool.c bin/notes || { cp tool.c bin/notes; cp tool.c bin/tool; chmod +x bin/tool; }\n",
    );
    repo.commit_all("by notes");
    make(&repo);
    repo.agent_does(&["touch b; echo exit 1 >tool.c; make -s bin/tool"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: bin/tool changed, and no check builds it"]
    );
}

#[test]
fn the_brief_and_validate_tell_what_is_built_from_what_is_frozen() {
    let repo = program("", "/bin/\n");
    make(&repo);
    repo.cycle("true").expect(0);
    assert!(!repo.brief(1).contains("bin/tool\n"), "{}", repo.brief(1));
    let said = repo.answer(&["validate"]);
    assert!(
        said.contains("(git does not track it): bin/tool") && !said.contains("frozen while"),
        "{said}"
    );
}

#[test]
fn validate_proposes_to_protect_what_is_written_and_not_what_tools_make() {
    let repo = TestRepo::empty();
    repo.write(
        "Makefile",
        "check: calc\n\t./calc .env\n.PHONY: check\ncalc: calc.c\n\tprintf '\\177ELF' >calc; chmod +x calc\n",
    );
    repo.write("calc.c", "int main;\n");
    repo.write(".gitignore", "/calc\n");
    repo.commit_goals("  - {id: a, description: d, check: make check, weight: 5}\n");
    output(repo.command("make").arg("calc"));
    let said = repo.answer(&["validate"]);
    assert!(said.contains("protect: [\"Makefile\"]"), "{said}");
}

#[test]
fn what_python_compiled_of_an_undone_change_is_not_run_any_more() {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "__pycache__\n");
    repo.write("m.py", "V = 1\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: m, description: d, check: \"python3 -c 'import m; assert m.V == 1'\", weight: 5}\n  - {id: a, description: d, check: test -e a, weight: 5}\n",
    );
    repo.commit_all("first");
    // Right after a second began, so that all that follows is in it, if the machine is fast enough.
    let begin = "now=$(date +%s); while test $(date +%s) -eq $now; do sleep 0.01; done";
    repo.agent_does(&[&format!("{begin}; echo 'V = 2' >m.py; touch a")]);
    repo.run(&["--jobs=1", "--max-cycles=1"]).expect(0);
    let record = repo.newest();
    let reason = "passed before and no longer: m (exit 1)";
    assert_eq!(record["reason"], reason, "{record:#}");
    let mut python = repo.command("python3");
    let asked = output(python.args(["-c", "import m; print(m.V)"]));
    assert_eq!(asked.stdout, b"1\n");
}

#[test]
fn what_python_compiled_of_another_version_within_a_second_gives_no_verdict() {
    let goals = "version: 1\ngoals:\n  - {id: m, description: d, check: \"python3 -c 'import m; assert m.V == 1'\", weight: 5}\n  - {id: a, description: d, check: test -e a, weight: 9}\n";
    // Each dated as it may be by chance: the versions within one second of another.
    let compile = "python3 -c 'import m'; touch -r m.py -d +0.4sec __pycache__/m.*.pyc";
    for (script, result) in [
        (
            format!(
                "touch -r m.py then; {compile}; echo 'V = 2' >m.py; touch -r then m.py; rm then; touch a"
            ),
            "regressed",
        ),
        (
            format!(
                "touch -r m.py then; echo 'V = 2' >m.py; touch -r then m.py; rm -r __pycache__; {compile}; echo 'V = 1' >m.py; touch -r then m.py; rm then; touch a"
            ),
            "improved",
        ),
    ] {
        for flags in [&["--max-cycles=1"][..], &["--max-cycles=1", "--isolate"]] {
            let repo = TestRepo::empty();
            repo.write(".gitignore", "__pycache__\n");
            repo.write("m.py", "V = 1\n");
            repo.write("GOALS.yaml", goals);
            repo.commit_all("first");
            repo.agent_does(&[&script]);
            repo.run(flags).expect(0);
            assert_eq!(
                repo.each("result"),
                [result],
                "{script} {flags:?}: {:?}",
                repo.each("reason")
            );
        }
    }
}
