//! What checks build and then run (`make -s tool && ./tool`): it follows from the sources, which an agent may change, and an agent's
//! own version of it is not believed.

use std::fs;

use crate::harness::{TestRepo, output};

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
                    if ignored.is_empty() && (flags, settings) != PLACES[0] {
                        // An agent in a copy would commit its own one.
                        continue;
                    }
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
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{:#}", repo.newest());
    }
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
        assert_eq!(repo.each("result"), ["unchanged"], "{forge}");
        let notes = repo.newest()["notes"].to_string();
        assert!(
            notes.contains("no check built it anew: bin/tool"),
            "{forge}: {notes}"
        );
        assert_eq!(repo.files(), before, "{forge}");
    }
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
    let repo = program("evolve: {protect: [\"bin/**\"]}\n", "/bin/\n");
    make(&repo);
    repo.agent_does(&["echo exit 0 >tool.c; make -s bin/tool"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("reason"), ["goalposts moved: bin/tool changed"]);
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
        notes.contains("without a copy because git does not track it: bin/tool"),
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
    assert_eq!(repo.each("result"), ["unchanged"]);
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("no check built it anew: modules/lint/lint.js"),
        "{notes}"
    );
    assert_eq!(repo.files(), before);
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
fn a_check_that_builds_nothing_is_told_why_the_agents_build_does_not_count() {
    let repo = program("", "/bin/\n");
    make(&repo);
    repo.commit_goals("  - {id: tool, description: d, check: bin/tool 2>/dev/null, weight: 5}\n");
    repo.agent_does(&["echo exit 0 >tool.c; make -s bin/tool"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("reason"),
        [
            "it still fails: exit 1; measured as before the agent, because no check builds it: bin/tool"
        ]
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
