//! The yardstick (rule 9): what measures may not move while a cycle runs, and what may.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::TestRepo;

/// Goal `a` fails; the others pass and run a file of each kind, or read one. `guarded/**` and `*.cfg` are protected.
const GOALS: &str = r#"version: 1
evolve: {protect: ["guarded/**", "*.cfg"]}
goals:
  - {id: a, description: file a exists, check: test -e a, weight: 5}
  - {id: command, description: d, check: ./check.sh, weight: 3}
  - {id: script, description: d, check: "sh scripts/check-lint.sh --fast", weight: 3}
  - {id: linked, description: d, check: tools/linked, weight: 3}
  - {id: made, description: d, check: make -s -f rules.mk ok, weight: 3}
  - {id: standard, description: d, check: make -s ok, weight: 3}
  - {id: untracked, description: d, check: sh local.sh, weight: 3}
  - {id: ignored, description: d, check: sh ignored/local.sh, weight: 3}
  - {id: pointed, description: d, check: sh pointer, weight: 3}
  - {id: reads, description: d, check: "grep -q good README.md", weight: 3}
  - id: number
    description: d
    check: cat number
    weight: 3
    continuous: {metric: m, threshold: 10, direction: at-least, tolerance: 1}
"#;

fn repository() -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", GOALS);
    repo.write(".gitignore", "ignored/\n");
    repo.write("README.md", "good\n");
    repo.write("number", "20\n");
    for script in [
        "check.sh",
        "scripts/check-lint.sh",
        "scripts/check-free.sh",
        "tools/real",
    ] {
        repo.write(script, "#!/bin/sh\nexit 0\n");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(repo.path(script), executable).unwrap();
    }
    std::os::unix::fs::symlink("real", repo.path("tools/linked")).unwrap();
    repo.write("rules.mk", "ok:\n\ttrue\n");
    repo.write("Makefile", "ok:\n\ttrue\n");
    repo.write("guarded/deep/file", "guarded\n");
    repo.write("top.cfg", "guarded\n");
    repo.commit_all("first");
    repo.write("local.sh", "exit 0\n");
    repo.write("ignored/local.sh", "exit 0\n");
    std::os::unix::fs::symlink("local.sh", repo.path("pointer")).unwrap();
    repo
}

#[test]
fn whatever_moves_the_goalposts_is_undone_and_named() {
    let edit = |from: &str, to: &str| format!("sed -i 's|{from}|{to}|' GOALS.yaml");
    let table = [
        (
            "a command edited",
            "echo true >>check.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a command deleted",
            "rm check.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a command no longer executable",
            "chmod -x check.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a command made a link",
            "ln -sf /bin/true check.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a command made a pipe",
            "rm check.sh; mkfifo check.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a command renamed",
            "git mv check.sh other.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a command edited unseen",
            "git update-index --assume-unchanged check.sh; echo true >>check.sh".to_owned(),
            "check.sh changed",
        ),
        (
            "a script edited",
            "echo true >>scripts/check-lint.sh".to_owned(),
            "scripts/check-lint.sh changed",
        ),
        (
            "its folder moved",
            "git mv scripts s".to_owned(),
            "scripts/check-lint.sh changed",
        ),
        (
            "its folder made a link",
            "git mv scripts s; ln -s s scripts".to_owned(),
            "scripts/check-lint.sh changed",
        ),
        (
            "a link pointed elsewhere",
            "ln -sf ../check.sh tools/linked".to_owned(),
            "tools/linked changed",
        ),
        (
            "what a link leads to",
            "echo true >>tools/real".to_owned(),
            "tools/real changed",
        ),
        (
            "a makefile named",
            "printf 'x:\\n' >>rules.mk".to_owned(),
            "rules.mk changed",
        ),
        (
            "an untracked script edited",
            "echo true >>local.sh".to_owned(),
            "local.sh changed",
        ),
        (
            "an untracked script deleted",
            "rm local.sh".to_owned(),
            "local.sh changed",
        ),
        (
            "an untracked link pointed elsewhere",
            "echo true >new.sh; ln -sf new.sh pointer".to_owned(),
            "pointer changed",
        ),
        (
            "a protected file edited",
            "echo more >>guarded/deep/file".to_owned(),
            "guarded/deep/file changed",
        ),
        (
            "a protected file deleted",
            "git rm -q top.cfg".to_owned(),
            "top.cfg changed",
        ),
        (
            "a new protected file",
            "echo new >guarded/new".to_owned(),
            "guarded/new changed",
        ),
        (
            "a new protected file by a plain pattern",
            "echo new >new.cfg".to_owned(),
            "new.cfg changed",
        ),
        (
            "a protected folder made a link",
            "git mv guarded g; ln -s g guarded".to_owned(),
            "guarded/deep/file changed",
        ),
        (
            "a goal dropped",
            "sed -i '/id: reads/d' GOALS.yaml".to_owned(),
            "goal reads is gone",
        ),
        (
            "a goal renamed",
            edit("id: reads", "id: reading"),
            "goal reads is gone",
        ),
        (
            "a weight lowered",
            edit("test -e a, weight: 5", "test -e a, weight: 4"),
            "goal a: weight lowered",
        ),
        (
            "a check changed",
            edit("test -e a", "test -d ."),
            "goal a: check changed",
        ),
        (
            "a threshold loosened",
            edit("threshold: 10", "threshold: 9"),
            "goal number: threshold loosened",
        ),
        (
            "a threshold removed",
            edit("threshold: 10, direction: at-least, tolerance: 1", "x-t: 1"),
            "goal number: ",
        ),
        (
            "a direction turned",
            edit("at-least", "at-most"),
            "goal number: ",
        ),
        (
            "a tolerance widened",
            edit("tolerance: 1", "tolerance: 2"),
            "goal number: the way its value is judged changed",
        ),
        (
            "a reading changed",
            edit("tolerance: 1", "tolerance: 1, read: {regex: \"20\"}"),
            "goal number: the way its value is judged changed",
        ),
        (
            "more retries",
            edit("test -e a, weight: 5", "test -e a, weight: 5, retries: 9"),
            "goal a: the way it is measured changed",
        ),
        (
            "a timeout",
            edit("test -e a, weight: 5", "test -e a, weight: 5, timeout: 1"),
            "goal a: the way it is measured changed",
        ),
        (
            "the protection lifted",
            edit("guarded", "nothing"),
            "the `evolve:` block changed",
        ),
        (
            "invalid YAML",
            "echo '  - {id: ' >>GOALS.yaml".to_owned(),
            "GOALS.yaml no longer validates",
        ),
        (
            "an unknown key",
            edit("weight: 5", "weight: 5, wieght: 5"),
            "GOALS.yaml no longer validates",
        ),
        (
            "the goals deleted",
            "git rm -q GOALS.yaml".to_owned(),
            "GOALS.yaml no longer validates",
        ),
        (
            "the goals made a link",
            "mv GOALS.yaml g; ln -s g GOALS.yaml".to_owned(),
            "GOALS.yaml no longer validates",
        ),
        (
            "the goals edited unseen",
            format!(
                "git update-index --assume-unchanged GOALS.yaml; {}",
                edit("test -e a", "test -d .")
            ),
            "goal a: check changed",
        ),
        (
            "the goals edited behind skip-worktree",
            format!(
                "git update-index --skip-worktree GOALS.yaml; {}",
                edit("test -e a", "test -d .")
            ),
            "goal a: check changed",
        ),
    ];
    let rests = ["touch a", "touch a; git add -A; git commit -qm w"];
    for ((what, script, named), rest) in table.iter().zip(rests.iter().cycle()) {
        let repo = repository();
        let (start, before) = (
            repo.head(),
            (repo.content("HEAD"), repo.files(), repo.status()),
        );
        let run = repo.cycle(&format!("{script}\n{rest}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        let reason = record["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("goalposts moved: ") && reason.contains(named),
            "{what}: {reason}"
        );
        let said: Vec<_> = reason.split([':', ',']).collect();
        let mut once = said.clone();
        once.dedup();
        assert_eq!(once, said, "{what}: nothing is said twice");
        assert_eq!(record["reverted_to"], start.as_str(), "{what}");
        let after = (repo.content("HEAD"), repo.files(), repo.status());
        assert_eq!(after, before, "{what}");
        let subjects = repo.subjects();
        assert!(
            subjects.contains(&"revert: evolve cycle 1, goalposts moved".to_owned()),
            "{what}: {subjects:?}"
        );
    }
}

#[test]
fn what_checks_do_not_run_is_free_to_change() {
    let table = [
        ("a file that a check reads", "echo good again >README.md"),
        ("a value that a check prints", "echo 30 >number"),
        (
            "a script that no check runs, edited",
            "echo false >>scripts/check-free.sh",
        ),
        (
            "a script that no check runs, deleted",
            "git rm -q scripts/check-free.sh",
        ),
        ("a new script", "echo true >scripts/check-new.sh"),
        (
            "a file beside the protected ones",
            "mkdir -p sub guarded2; echo x >sub/x.cfg; echo x >guarded2/x",
        ),
        ("a comment in the goals", "echo '# more' >>GOALS.yaml"),
    ];
    for (what, script) in table {
        let repo = repository();
        repo.cycle(&format!("{script}; touch a")).expect(0);
        assert_eq!(
            repo.newest()["result"],
            "improved",
            "{what}: {:#}",
            repo.newest()
        );
    }
}

#[test]
fn stricter_goals_are_kept_and_count_from_the_next_cycle_on() {
    let edit = |from: &str, to: &str| format!("sed -i 's|{from}|{to}|' GOALS.yaml");
    let add =
        |goal: &str| format!("echo '  - {{{goal}, description: more, weight: 9}}' >>GOALS.yaml");
    // What is edited, how many goals it adds, which goal the next cycle takes, and what its brief says.
    let table = [
        (
            "a new goal",
            add("id: more, check: test -e more"),
            1,
            "more",
            "test -e more",
        ),
        (
            "two new goals",
            format!(
                "{}; {}",
                add("id: more, check: test -e more"),
                add("id: most, check: test -e b")
            ),
            2,
            "more",
            "test -e more",
        ),
        (
            "a higher weight",
            edit(
                "id: reads, description: d, check: \\(.*\\), weight: 3",
                "id: reads, description: d, check: \\1, weight: 8",
            ),
            0,
            "a",
            "test -e a",
        ),
        (
            "a stricter threshold",
            edit("threshold: 10", "threshold: 30"),
            0,
            "a",
            "test -e a",
        ),
        (
            "another description",
            edit("file a exists", "file a is really there"),
            0,
            "a",
            "file a is really there",
        ),
        (
            "pillar and tags",
            edit(
                "description: file a exists",
                "description: file a exists, pillar: p, tags: [t]",
            ),
            0,
            "a",
            "test -e a",
        ),
    ];
    for (what, script, added, next, said) in table {
        let repo = repository();
        repo.agent_does(&[&script, "true"]);
        let run = repo.run(&["--max-cycles=2"]).expect(0);
        let first = &repo.records()[0];
        assert_eq!(first["result"], "unchanged", "{what}: {first:#}");
        if what != "pillar and tags" {
            let summary = repo.read(".agents/evolve/session-summary.md");
            for told in [&run.stdout, &summary] {
                assert!(
                    told.contains("the agent edited GOALS.yaml: "),
                    "{what}: {told}"
                );
            }
        }
        assert_eq!(first["goals_added"], added, "{what}");
        assert_eq!(
            first["goals_total"], 11,
            "{what}: only from the next cycle on"
        );
        assert_eq!(repo.records()[1]["goal_id"], next, "{what}");
        assert_eq!(repo.records()[1]["goals_total"], 11 + added, "{what}");
        assert!(repo.brief(2).contains(said), "{what}");
    }
}

#[test]
fn a_raised_weight_or_threshold_decides_what_the_next_cycle_takes() {
    let table = [
        ("a weight", "/id: later/s/weight: 3/weight: 9/", "later"),
        ("a threshold", "s/threshold: 10/threshold: 30/", "number"),
    ];
    let goals = "  - {id: first, description: d, check: test -e first, weight: 5}
  - {id: later, description: d, check: test -e later, weight: 3}
  - id: number
    description: d
    check: echo 20
    weight: 7
    continuous: {metric: m, threshold: 10, direction: at-least}
";
    for (what, script, next) in table {
        let repo = TestRepo::with_goals(goals);
        repo.agent_does(&[&format!("sed -i '{script}' GOALS.yaml"), "true"]);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(repo.each("goal_id"), ["first", next], "{what}");
    }
}

#[test]
fn what_a_check_leans_on_is_named_when_it_changes_and_frozen_where_protected() {
    let repo = repository();
    repo.cycle("printf 'more:\\n' >>Makefile; touch a")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("only `protect` would freeze: Makefile"),
        "{notes}"
    );
    let summary = repo.read(".agents/evolve/session-summary.md");
    assert!(summary.contains("would freeze: Makefile"), "{summary}");

    let repo = TestRepo::with_goals(
        "  - {id: npm, description: d, check: npm run ok || exit 0, weight: 1}\n  - {id: a, description: d, check: test -e a, weight: 2}\n",
    );
    repo.write("package.json", "{\"scripts\": {\"ok\": \"true\"}}\n");
    repo.commit_all("package");
    repo.cycle("echo '{\"scripts\": {\"ok\": \"echo\"}}' >package.json; touch a")
        .expect(0);
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("only `protect` would freeze: package.json"),
        "{notes}"
    );

    let repo = repository();
    repo.write(
        "GOALS.yaml",
        &GOALS.replace("\"*.cfg\"", "\"*.cfg\", Makefile"),
    );
    repo.git(&["commit", "--quiet", "-am", "protect"]);
    repo.cycle("printf 'more:\\n' >>Makefile; touch a")
        .expect(0);
    assert_eq!(repo.newest()["reason"], "goalposts moved: Makefile changed");
}

#[test]
fn what_a_check_uses_at_second_hand_is_named_when_it_changes_and_proposed() {
    // What is called, and the file behind it that changes.
    for (check, file) in [
        ("make -s t", "rules.mk"),
        ("make -s t", "later.mk"),
        ("make -s t", "tool.sh"),
        ("sh s/c.sh", "s/lib/l.sh"),
        ("sh s/c.sh", "Makefile"),
        ("npm run ok || exit 0", "t.sh"),
    ] {
        let repo = TestRepo::empty();
        repo.write("rules.mk", "t:\n\ttrue\n\tsh tool.sh\n");
        repo.write("Makefile", "include rules.mk\n-include later.mk\n");
        repo.write(
            "s/c.sh",
            "D=$(dirname \"$0\")\nsh \"$D/lib/l.sh\" && make -s t\n",
        );
        repo.write(
            "package.json",
            "{\"scripts\": {\"ok\": \"sh t.sh\", \"start\": \"sh free.sh\"}}\n",
        );
        for script in ["s/lib/l.sh", "t.sh", "tool.sh", "free.sh"] {
            repo.write(script, "true\n");
        }
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"{check}\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let proposed = said.lines().find(|line| line.contains("protect: ["));
        let is_proposed = proposed.is_some_and(|line| line.contains(&format!("\"{file}\"")));
        assert_eq!(is_proposed, file != "later.mk", "{file}: {said}");
        repo.cycle(&format!("echo >>{file}; echo >>free.sh; touch a"))
            .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{file}: {record:#}");
        let named = format!("only `protect` would freeze: {file}\"");
        let notes = record["notes"].to_string();
        assert!(notes.contains(&named), "{file}: {notes}");
        let summary = repo.read(".agents/evolve/session-summary.md");
        let summary = summary.replace('\\', "");
        assert!(
            summary.contains(&format!("would freeze: {file}")),
            "{summary}"
        );
    }
}

#[test]
fn what_would_be_run_if_it_were_there_is_named_when_it_comes() {
    for (check, text, file) in [
        (
            "[ -f local.env ] && . ./local.env; test -e a",
            "",
            "local.env",
        ),
        (
            "if [ -x ./hook.sh ]; then ./hook.sh; else test -e a; fi",
            "",
            "hook.sh",
        ),
        (
            "sh c.sh",
            "[ -f local.env ] && . ./local.env\ntest -e a\n",
            "local.env",
        ),
        (
            "sh c.sh",
            ". ./local.env 2>&1 || true\ntest -e a\n",
            "local.env",
        ),
        (
            "bash c.sh",
            "if [ -x ./hook.sh ]; then ./hook.sh; else test -e a; fi\n",
            "hook.sh",
        ),
        ("make -s t", "", "mk/a.mk"),
        ("test -e a && ./new.sh", "", "new.sh"),
    ] {
        let repo = TestRepo::empty();
        repo.write("c.sh", text);
        repo.write("mk/README", "");
        repo.write(
            "Makefile",
            "include $(sort $(wildcard mk/*.mk))\nt:\n\ttest -e a\n",
        );
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: \"{check}\", weight: 5}}\n"
        ));
        repo.cycle(&format!(
            "echo '#!/bin/sh' >{file}; chmod +x {file}; touch a other.sh"
        ))
        .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{check}: {record:#}");
        let named = format!("only `protect` would freeze: {file}\"");
        let notes = record["notes"].to_string();
        assert!(notes.contains(&named), "{check}: {notes}");
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let proposed = said.lines().find(|line| line.contains("protect: ["));
        let is_proposed = proposed.is_some_and(|line| line.contains(file) || line.contains("mk/*"));
        let frozen = format!("frozen while a cycle runs: {file}\n");
        let is_told = is_proposed
            || said
                .replace(", ", "\nfrozen while a cycle runs: ")
                .contains(&frozen);
        assert!(is_told, "{check}: {said}");
    }
}

#[test]
fn what_a_check_leans_on_and_an_agent_removes_is_named_as_removed() {
    let repo = TestRepo::empty();
    repo.write("c.pl", "do './l.pl'; do './m.pl';\n");
    repo.write("l.pl", "1;\n");
    repo.write("m.pl", "1;\n");
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: perl c.pl, weight: 1}\n",
    );
    repo.cycle("rm l.pl; echo '2;' >m.pl; touch a").expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let notes = record["notes"].to_string();
    let named = "only `protect` would freeze: l.pl (removed), m.pl\"";
    assert!(notes.contains(named), "{notes}");
}

#[test]
fn what_a_script_loads_by_a_path_or_a_name_in_quotes_is_named_when_it_changes() {
    for (check, script, text, file) in [
        (
            "python3 c.py",
            "c.py",
            "import runpy\nrunpy.run_path('h.py')\n",
            "h.py",
        ),
        (
            "python3 s/c.py",
            "s/c.py",
            "import importlib\nimportlib.import_module('plug')\n",
            "s/plug.py",
        ),
        ("perl c.pl", "c.pl", "require \"./l.pl\";\n", "l.pl"),
        ("perl s/c.pl", "s/c.pl", "do './s/l.pl';\n", "s/l.pl"),
        ("node c.js", "c.js", "require('./l')\n", "l/package.json"),
        (
            "NODE_PATH=lib node c.js",
            "c.js",
            "require('x')\n",
            "lib/x/package.json",
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write(script, text);
        repo.write(file, "1;\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"{check} || true\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let proposed = said.lines().find(|line| line.contains("protect: ["));
        assert!(
            proposed.is_some_and(|line| line.contains(file)),
            "{check}: {said}"
        );
        repo.cycle(&format!("echo >>{file}; touch a")).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{check}: {record:#}");
        let named = format!("only `protect` would freeze: {file}\"");
        let notes = record["notes"].to_string();
        assert!(notes.contains(&named), "{check}: {notes}");
    }
}

#[test]
fn tests_that_a_runner_finds_by_itself_are_named_when_they_change_and_new_ones_are_not() {
    // A runner's place is taken by a program that passes.
    for (what, check, script, named) in [
        (
            "an assertion edited",
            "python3 -m unittest discover -s tests",
            "echo '# more' >>tests/test_a.py",
            "tests/test_a.py",
        ),
        (
            "a test taken away",
            "cargo test",
            "git rm -q tests/it.rs",
            "tests/it.rs",
        ),
        (
            "a package beside the tests",
            "pytest tests",
            "mkdir tests/calc; touch tests/calc/__init__.py",
            "tests/calc/__init__.py",
        ),
        (
            "a test that a script of npm runs",
            "npm test",
            "echo >>web/x.test.js",
            "web/x.test.js",
        ),
        (
            "new tests and the code",
            "python3 -m unittest; cargo test; npm test",
            "touch tests/test_b.py tests/b.rs web/y.test.js; echo >>calc.py",
            "",
        ),
    ] {
        let repo = TestRepo::empty();
        for file in ["tests/test_a.py", "tests/it.rs", "web/x.test.js", "calc.py"] {
            repo.write(file, "\n");
        }
        repo.write(
            "package.json",
            "{\"scripts\": {\"test\": \"vitest run\"}}\n",
        );
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"({check}) >&2 || true\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let line = said.lines().find(|line| line.contains("protect: ["));
        assert!(
            line.is_some_and(|line| line.contains("**")),
            "{what}: {said}"
        );
        repo.cycle(&format!("{script}; touch a")).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{what}: {record:#}");
        let notes = record["notes"].to_string();
        let note = format!("only `protect` would freeze: {named}");
        let is_named = notes.contains("would freeze");
        assert_eq!(is_named, !named.is_empty(), "{what}: {notes}");
        assert!(named.is_empty() || notes.contains(&note), "{what}: {notes}");
    }
}

/// A repository whose check believes what `prepare` leaves in a copy made anew.
fn prepared_by(prepare: &str) -> TestRepo {
    let repo = TestRepo::empty();
    let of_file = match prepare.is_empty() {
        true => String::new(),
        false => format!(", prepare: {prepare}"),
    };
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{measure: clean{of_file}}}\ngoals:\n  - {{id: built, description: d, check: grep -q ok build/out, weight: 1}}\n"),
    );
    repo.write(".gitignore", "build/\n");
    let make = "mkdir -p build; cat state >build/out";
    repo.write("state", "bad\n");
    repo.write("setup/prep.sh", &format!("{make}\n"));
    repo.write("Makefile", &format!("prep:\n\t{make}\n"));
    repo.write("package.json", "{\"scripts\": {\"prep\": \"true\"}}\n");
    repo.commit_all("first");
    repo
}

#[test]
fn the_script_that_prepare_runs_is_frozen_wherever_prepare_stands() {
    let poison = "echo 'mkdir -p build; echo ok >build/out' >setup/prep.sh";
    for (of_file, flag) in [
        ("sh setup/prep.sh", None),
        ("", Some("--prepare=sh setup/prep.sh")),
        ("make prep", Some("--prepare=sh setup/prep.sh")),
    ] {
        let repo = prepared_by(of_file);
        if flag.is_none() {
            let said = repo.evolve(&["validate"]).expect(0).stdout;
            let frozen = "frozen while a cycle runs: setup/prep.sh\n";
            assert!(said.contains(frozen), "{said}");
        }
        repo.agent_does(&[poison, "echo ok >state"]);
        let arguments: Vec<&str> = ["--max-cycles=2"].into_iter().chain(flag).collect();
        repo.run(&arguments).expect(0);
        assert_eq!(repo.each("result"), ["regressed", "improved"], "{of_file}");
        let reason = "goalposts moved: setup/prep.sh changed";
        assert_eq!(repo.each("reason")[0], reason);
        assert!(repo.brief(1).contains("setup/prep.sh"), "{of_file}");
    }
}

#[test]
fn what_prepare_leans_on_is_named_when_it_changes_and_proposed() {
    let by_make = r"printf 'prep:\n\tmkdir -p build; echo ok >build/out\n' >Makefile";
    let by_npm = "echo '{}' >package.json; echo ok >state";
    for (prepare, poison, file) in [
        ("make -s prep", by_make, "Makefile"),
        (
            "'sh setup/prep.sh; npm run prep || true'",
            by_npm,
            "package.json",
        ),
    ] {
        let repo = prepared_by(prepare);
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        assert!(said.contains(&format!("protect: [\"{file}\"]")), "{said}");
        repo.cycle(poison).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{file}");
        let named = format!("only `protect` would freeze: {file}");
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains(&named), "{file}: {notes}");
        let summary = repo.read(".agents/evolve/session-summary.md");
        let named = format!("would freeze: {file}");
        assert!(summary.contains(&named), "{file}: {summary}");
    }
}

#[test]
fn what_a_sweep_looks_with_is_frozen_and_its_settings_are_named() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {sweep: [linters, {run: sh tools/find.sh}]}\ngoals:\n  - {id: a, description: d, check: test -e a, weight: 1}\n",
    );
    repo.write("tools/find.sh", "true\n");
    repo.write("ruff.toml", "line-length = 90\n");
    repo.commit_all("first");
    repo.agent_does(&[
        "echo : >tools/find.sh; touch a",
        "echo 'exclude = [\"*\"]' >>ruff.toml; touch a",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    let reason = "goalposts moved: tools/find.sh changed";
    assert_eq!(repo.each("reason")[0], reason);
    let notes = repo.newest()["notes"].to_string();
    assert!(notes.contains("would freeze: ruff.toml"), "{notes}");
}

#[test]
fn attributes_by_which_a_checkout_writes_a_frozen_script_otherwise_move_the_goalposts() {
    for measure in ["here", "clean"] {
        let repo = TestRepo::empty();
        repo.write("GOALS.yaml", &format!("version: 1\nevolve: {{measure: {measure}}}\ngoals:\n  - {{id: a, description: d, check: sh check.sh, weight: 1}}\n"));
        repo.write("check.sh", "set -e\ngrep -q good text\necho\n");
        repo.write("text", "bad\n");
        repo.commit_all("first");
        repo.cycle("echo '*.sh text eol=crlf' >.gitattributes")
            .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{measure}: {record:#}");
        let reason = record["reason"].to_string();
        assert!(reason.contains("check.sh is written otherwise"), "{reason}");
        let script = fs::read(repo.path("check.sh")).unwrap();
        assert!(!script.contains(&b'\r'), "{measure}");
        repo.git(&["update-index", "--refresh"]);
        assert_eq!(repo.status(), Vec::<String>::new(), "{measure}");
    }
}

#[test]
fn attributes_in_a_commit_with_names_that_git_refuses_end_no_session() {
    for name in ["..", ".git"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.agent_does(&[&format!(
            "touch a; git add a; echo '* -text' >.gitattributes
            id=$(git hash-object -w .gitattributes)
            tree=$({{ git ls-tree $(git write-tree); printf '100644 blob %s\\t.gitattributes\\n100644 blob %s\\t{name}\\n' $id $id; }} | git mktree)
            git reset -q --soft $(git commit-tree -p HEAD -m odd $tree)"
        )]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{name}: {record:#}");
        let reason = record["reason"].to_string();
        assert!(reason.contains("paths that git refuses"), "{reason}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn attributes_are_looked_at_by_way_of_no_link_that_an_agent_left() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let outside = repo.outside().join("mine");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("index"), "mine").unwrap();
    repo.cycle("ln -s ../../../agent/mine .git/evolve/attributes; ln -s ../../../agent/mine/index .git/evolve/attributes.index; echo '* -text' >.gitattributes; touch a")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let names = fs::read_dir(&outside).unwrap();
    assert_eq!(names.count(), 1);
    assert_eq!(fs::read(outside.join("index")).unwrap(), b"mine");
}

#[test]
fn files_that_git_converts_are_written_anew_by_way_of_no_link_that_an_agent_left() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let outside = repo.outside().join("mine");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("0"), "mine").unwrap();
    repo.write(".gitattributes", "*.txt text eol=crlf\n");
    repo.write("b.txt", "text\r\n");
    repo.commit_all("converted");
    repo.cycle("ln -s ../../../agent/mine .git/evolve/converted; printf 'text\n' >b.txt; touch a")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(repo.read("b.txt"), "text\r\n");
    assert_eq!(fs::read(outside.join("0")).unwrap(), b"mine");
    repo.cycle("mkdir -p .git/evolve/converted/0/deep; printf 'text\n' >b.txt; touch c")
        .expect(0);
    assert_eq!(repo.read("b.txt"), "text\r\n");
}

#[test]
fn what_attributes_make_of_a_file_in_a_checkout_is_what_is_measured() {
    let repo = TestRepo::empty();
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: grep -qx tracked kept, weight: 1}\n",
    );
    repo.write("kept", "tracked\n");
    repo.commit_all("kept");
    repo.cycle("echo 'kept text eol=crlf' >.gitattributes; touch a")
        .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{record:#}");
    assert_eq!(record["newly_failing"], serde_json::json!(["b"]));
    assert_eq!(repo.read("kept"), "tracked\n");
    repo.git(&["update-index", "--refresh"]);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_new_file_by_which_make_takes_a_target_for_done_moves_the_goalposts() {
    for (what, makefile, script, result) in [
        (
            "a file",
            "test:\n\tgrep -q good text\n",
            "echo >test",
            "regressed",
        ),
        (
            "a folder",
            "test: lint\nlint:\n\tgrep -q good text\n",
            "mkdir lint; echo >lint/x",
            "regressed",
        ),
        (
            "of a target that is no file",
            ".PHONY: test\ntest:\n\tgrep -q good text\n",
            "echo >test; echo good >text",
            "improved",
        ),
        (
            "what a compiler makes by itself",
            "test: a.o\na.o: text\n\tgrep -q good text # cc -c a.c\n",
            "echo >a.o; echo good >text",
            "improved",
        ),
        (
            "what the target makes",
            "test:\n\tgrep -q good text >test\n",
            "echo >test; echo good >text",
            "improved",
        ),
    ] {
        let repo = TestRepo::empty();
        repo.commit_goals("  - {id: a, description: a, check: make -s test, weight: 5}\n");
        repo.write("Makefile", makefile);
        repo.write("text", "bad\n");
        repo.commit_all("first");
        repo.cycle(script).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], result, "{what}: {record:#}");
        let reason = record["reason"].to_string();
        assert_eq!(
            reason.contains("for done"),
            result == "regressed",
            "{reason}"
        );
    }
}

#[test]
fn what_packages_of_a_workspace_and_makefiles_of_folders_run_is_named_when_it_changes() {
    const MAKEFILE: &str =
        "SUBDIRS = sub\nall: $(SUBDIRS)\n.PHONY: all $(SUBDIRS)\n$(SUBDIRS):\n\t$(MAKE) -C $@\n";
    const WORKSPACES: &str =
        r#"{"workspaces": ["pkg/*"], "scripts": {"test": "npm test --workspaces"}}"#;
    const PACKAGE: &str = r#"{"scripts": {"test": "node suite.js"}}"#;
    for (check, changed) in [
        ("make -s all", "sub/Makefile"),
        ("make -s all", "sub/v.sh"),
        ("npm test", "pkg/a/package.json"),
        ("npm test", "pkg/a/suite.js"),
    ] {
        let repo = TestRepo::empty();
        repo.write("Makefile", MAKEFILE);
        repo.write("sub/Makefile", "all:\n\tsh v.sh\n");
        repo.write("sub/v.sh", "true\n");
        repo.write("package.json", WORKSPACES);
        repo.write("pkg/a/package.json", PACKAGE);
        repo.write("pkg/a/suite.js", "\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"({check}) >&2 || true\", weight: 1}}\n"
        ));
        repo.cycle(&format!("echo >>{changed}; touch a")).expect(0);
        let notes = repo.newest()["notes"].to_string();
        let named = format!("would freeze: {changed}\"");
        assert!(notes.contains(&named), "{changed}: {notes}");
    }
}

#[test]
fn a_new_test_that_can_end_its_runner_is_named() {
    let repo = TestRepo::empty();
    repo.write("tests/test_a.py", "\n");
    repo.commit_goals("  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: \"python3 -m unittest discover -s tests >&2 || true\", weight: 1}\n");
    repo.cycle("echo 'import os; os._exit(0)' >tests/test_0.py; echo >tests/test_b.py; touch a")
        .expect(0);
    let notes = repo.newest()["notes"].to_string();
    let named = "new tests that can end the program which runs all of them: tests/test_0.py";
    assert!(notes.contains(&format!("{named}\"")), "{notes}");
}

#[test]
fn a_file_that_other_attributes_have_written_as_before_is_not_named() {
    for (attributes, is_named) in [
        ("* text=auto eol=lf", false),
        ("* text=auto eol=crlf", true),
    ] {
        let repo = TestRepo::empty();
        repo.write(".gitattributes", "*.txt text eol=crlf\n");
        repo.write("Makefile", "b:\n\ttrue\n");
        repo.commit_goals("  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: \"make -n b >&2 || true\", weight: 1}\n");
        repo.cycle(&format!("echo '{attributes}' >.gitattributes; touch a"))
            .expect(0);
        let newest = repo.newest();
        assert_eq!(newest["result"], "improved", "{newest}");
        let is_said = newest["notes"].to_string().contains("Makefile");
        assert_eq!(is_said, is_named, "{attributes}: {newest}");
    }
}

#[test]
fn a_new_test_that_takes_others_out_or_changes_what_they_test_is_named() {
    for (check, file, text) in [
        (
            "npx mocha",
            "test/more.js",
            "describe.only(\"mine\", () => {})",
        ),
        (
            "python3 -m unittest discover -s tests",
            "tests/test_0.py",
            "calc.add = max",
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write("test/a.js", "\n");
        repo.write("tests/test_a.py", "\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"true || {check}\", weight: 1}}\n"
        ));
        repo.cycle(&format!("echo '{text}' >{file}; touch a"))
            .expect(0);
        let notes = repo.newest()["notes"].to_string();
        let named = "new tests that can take others out or change what these test";
        assert!(notes.contains(&format!("{named}: {file}\"")), "{notes}");
    }
}

#[test]
fn a_lock_file_that_prepare_installs_by_is_named_when_it_changes() {
    let repo = TestRepo::empty();
    repo.write("package.json", "{}\n");
    repo.write("package-lock.json", "{}\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\nmission: m\nevolve: {measure: clean, prepare: 'true || npm ci'}\ngoals:\n  - {id: a, description: a, check: test -e a, weight: 5}\n",
    );
    repo.commit_all("first");
    repo.cycle("echo >>package-lock.json; touch a").expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let notes = record["notes"].to_string();
    assert!(
        notes.contains("would freeze: package-lock.json\""),
        "{notes}"
    );
}

#[test]
fn a_change_that_has_tools_look_away_or_takes_tests_out_is_told() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(
        "src/lib.rs",
        "#[test]\nfn adds() {}\n#[test]\nfn ends() {}\n",
    );
    repo.commit_all("code");
    repo.cycle("printf '#![allow(warnings)]\\n#[test]\\nfn adds() {}\\n' >src/lib.rs; touch a")
        .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let notes = record["notes"].to_string();
    for told in [
        "tells tools to look away: #[allow(…)] (1 more), in src/lib.rs",
        "1 test fewer than before, in src/lib.rs",
    ] {
        assert!(notes.contains(told), "{notes}");
    }
}

#[test]
fn much_that_checks_lean_on_hides_nothing_of_it() {
    let repo = TestRepo::empty();
    for number in 0..30 {
        repo.write(&format!("tests/test_{number}.py"), "\n");
    }
    repo.commit_goals("  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: \"python3 -m unittest discover -s tests >&2 || true\", weight: 1}\n");
    repo.cycle("for it in tests/*.py; do echo >>$it; done; touch a")
        .expect(0);
    let notes = repo.newest()["notes"].to_string();
    let summary = repo.read(".agents/evolve/session-summary.md");
    for number in 0..30 {
        let name = format!("tests/test_{number}.py");
        assert!(notes.contains(&name), "{name}: {notes}");
        assert!(summary.contains(&name), "{name}: {summary}");
    }
}

#[test]
fn what_lies_behind_the_settings_of_a_tool_is_named_when_it_changes_and_proposed() {
    let workspace = ("Cargo.toml", "[workspace]\nmembers = [\"xtask\"]\n");
    let main = ("xtask/src/main.rs", "fn main() {}\n");
    let script = ("ci/t.sh", "exit 1\n");
    for (check, settings, (file, text)) in [
        (
            "tox",
            (
                "tox.ini",
                "[testenv]\ncommands =\n  sh {toxinidir}/ci/t.sh\n",
            ),
            script,
        ),
        (
            "pre-commit run --all-files",
            (
                ".pre-commit-config.yaml",
                "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: ci/t.sh\n    files: src/a.sh\n",
            ),
            script,
        ),
        (
            "task t",
            (
                "Taskfile.yml",
                "tasks:\n  t:\n    sources:\n      - src/a.sh\n    cmds:\n      - sh ci/t.sh\n",
            ),
            script,
        ),
        (
            "mise run t",
            ("mise.toml", "[tasks.t]\nrun = \"sh ci/t.sh\"\n"),
            script,
        ),
        (
            "nox",
            ("noxfile.py", "def t(s):\n  s.run('sh', 'ci/t.sh')\n"),
            script,
        ),
        ("just t", ("justfile", "t:\n  sh ci/t.sh\n"), script),
        ("make -s t", ("config.mk", "TOOL = ci/t.sh\n"), script),
        (
            "yarn lint",
            (".yarnrc.yml", "yarnPath: .yarn/releases/yarn-4.cjs\n"),
            (".yarn/releases/yarn-4.cjs", "exit(1)\n"),
        ),
        (
            "jest",
            (
                "jest.config.js",
                "module.exports = {setupFiles: ['<rootDir>/support/s.js']}\n",
            ),
            ("support/s.js", "1\n"),
        ),
        (
            "just ci::t",
            ("justfile", "import 'lib.just'\nmod ci 'ci/m.just'\n"),
            ("ci/m.just", "t:\n  true\n"),
        ),
        (
            "npx tsc -p .",
            ("tsconfig.json", "{\"extends\": \"./ci/base.json\"}\n"),
            ("ci/base.json", "{}\n"),
        ),
        (
            "npx tsc --noEmit -p apps/web",
            (
                "apps/web/tsconfig.json",
                "{\"extends\": \"../../ci/base.json\"}\n",
            ),
            ("ci/base.json", "{}\n"),
        ),
        (
            "npx eslint --config ci/lint.mjs .",
            ("ci/lint.mjs", "import './rules.mjs'\n"),
            ("ci/rules.mjs", "\n"),
        ),
        (
            "npx eslint .",
            ("eslint.config.js", "import own from './ci/lint.mjs'\n"),
            ("ci/lint.mjs", "import './rules.mjs'\n"),
        ),
        (
            "npx eslint .",
            (".eslintrc.json", "{\"extends\": [\"./mid.json\"]}\n"),
            ("ci/rules.json", "{}\n"),
        ),
        (
            "mypy .",
            ("mypy.ini", "[mypy]\nplugins = ci/types.py\n"),
            ("ci/types.py", "\n"),
        ),
        (
            "./gradlew check",
            ("build.gradle", "apply from: 'ci/lint.gradle'\n"),
            ("ci/lint.gradle", "\n"),
        ),
        ("cargo run -p xtask", workspace, main),
        (
            "cargo xtask",
            (".cargo/config.toml", "[alias]\nxtask = \"run -p xtask\"\n"),
            main,
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write("Makefile", "include config.mk\nt:\n\tsh $(TOOL)\n");
        repo.write("config.mk", "");
        repo.write("mid.json", "{\"extends\": \"./ci/rules.json\"}\n");
        repo.write("src/a.sh", "");
        repo.write(settings.0, settings.1);
        repo.write(file, text);
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"false && {check}; true\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let proposed: Vec<&str> = said
            .lines()
            .filter(|it| it.contains("protect: ["))
            .collect();
        let proposed = proposed.join(" ");
        for path in [settings.0, file.split('/').next().unwrap()] {
            assert!(proposed.contains(path), "{check}: {path}: {said}");
        }
        assert!(!proposed.contains("src/a.sh"), "{check}: {said}");
        repo.cycle(&format!("touch a; echo '# x' >>{file}"))
            .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{check}: {record:#}");
        let named = format!("only `protect` would freeze: {file}");
        let notes = record["notes"].to_string();
        assert!(notes.contains(&named), "{check}: {notes}");
    }
}

#[test]
fn what_a_check_runs_by_a_pattern_a_pipe_or_a_module_is_frozen() {
    for (check, file) in [
        ("for f in t/*.sh; do sh $f || exit 1; done", "t/g.sh"),
        ("cat t/g.sh | sh", "t/g.sh"),
        ("tr -d x < t/g.sh | sh", "t/g.sh"),
        ("printf 'sh t/g.sh' | sh", "t/g.sh"),
        ("exec 3<t/g.sh; sh <&3", "t/g.sh"),
        ("python3 -m t || true", "t/__main__.py"),
    ] {
        let repo = TestRepo::empty();
        repo.write(file, "");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"{check}\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let frozen = format!("frozen while a cycle runs: {file}\n");
        assert!(said.contains(&frozen), "{check}: {said}");
        repo.cycle(&format!("echo '# more' >>{file}; touch a"))
            .expect(0);
        let reason = format!("goalposts moved: {file} changed");
        assert_eq!(repo.newest()["reason"], reason, "{check}");
    }
}

#[test]
fn what_a_check_runs_by_a_path_from_outside_into_the_repository_is_frozen() {
    let repo = TestRepo::empty();
    std::os::unix::fs::symlink(repo.root(), repo.home().join("link")).unwrap();
    let root = repo.root().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    for (index, check) in [
        &format!("sh {root}/check.sh"),
        &format!("cd {root} && ./check.sh"),
        "../repo/check.sh",
        "cd .. && repo/check.sh",
        "cd t && cd - && ./check.sh",
        "$HOME/link/check.sh",
    ]
    .into_iter()
    .enumerate()
    {
        repo.write("check.sh", "exit 1\n");
        repo.commit_goals(&format!(
            "  - {{id: a{index}, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"{check}\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let frozen = said.lines().find(|line| line.starts_with("frozen"));
        let frozen = frozen.unwrap_or_default();
        assert!(frozen.contains(" check.sh"), "{check}: {said}");
        repo.cycle("echo 'exit 0' >check.sh; touch a").expect(0);
        let reason = "goalposts moved: check.sh changed";
        assert_eq!(repo.newest()["reason"], reason, "{check}");
    }
    repo.write("t/outer.sh", &format!("cd {root}\n. ./check.sh\n"));
    repo.commit_goals("  - {id: c, description: c, check: sh t/outer.sh, weight: 5}\n");
    let said = repo.evolve(&["validate"]).expect(0).stdout;
    assert!(said.contains("protect: [\"check.sh\"]"), "{said}");
}

#[test]
fn a_new_file_of_a_pattern_that_could_take_the_others_out_of_the_way_moves_the_goalposts() {
    for check in [
        "for t in t/*.sh; do . ./$t; done",
        "sh t/*.sh",
        "cat t/*.sh | sh",
    ] {
        let repo = TestRepo::empty();
        repo.write("t/a.sh", "test -e done || exit 1\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: \"{check}\", weight: 5}}\n"
        ));
        repo.cycle("echo exit 0 >t/0.sh").expect(0);
        let reason = "goalposts moved: t/0.sh changed";
        assert_eq!(repo.newest()["reason"], reason, "{check}");
    }
}

#[test]
fn what_a_list_or_a_sourced_file_names_is_frozen_or_named() {
    let refused = "goalposts moved: ci/x.sh changed";
    for (check, is_refused) in [
        ("sh $(cat ci/list)", true),
        ("for t in $(cat ci/list); do sh $t || exit 1; done", true),
        (". ci/env; sh $T", false),
    ] {
        let repo = TestRepo::empty();
        repo.write("ci/x.sh", "exit 1\n");
        repo.write("ci/list", "ci/x.sh\n");
        repo.write("ci/env", "T=ci/x.sh\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: \"{check}\", weight: 5}}\n"
        ));
        repo.cycle("echo exit 0 >ci/x.sh").expect(0);
        let record = repo.newest();
        assert_eq!(
            record["reason"] == refused,
            is_refused,
            "{check}: {record:#}"
        );
        let named = "only `protect` would freeze: ci/x.sh";
        let notes = record["notes"].to_string();
        assert_eq!(notes.contains(named), !is_refused, "{check}: {notes}");
    }
}

#[test]
fn a_new_program_in_a_folder_that_a_check_has_in_path_moves_the_goalposts() {
    for path in ["PATH=$PWD/bin:$PATH;", "env PATH=bin:$PATH"] {
        let repo = TestRepo::empty();
        repo.write("bin/tool", "true\n");
        repo.write("data", "bad\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: \"{path} grep -q good data\", weight: 5}}\n"
        ));
        repo.cycle("printf '#!/bin/sh\\nexit 0\\n' >bin/grep; chmod +x bin/grep")
            .expect(0);
        let reason = "goalposts moved: bin/grep would be taken in place of grep";
        assert_eq!(repo.newest()["reason"], reason, "{path}");
    }
}

#[test]
fn what_reaches_a_shell_by_way_of_a_list_is_named_and_what_is_looked_at_is_not() {
    for (check, file, proposed) in [
        (
            "find t -name g.sh -exec sh {} \\\\;",
            "t/g.sh",
            Some("t/**/g.sh"),
        ),
        ("for f in t/*.sh; do sh $f; done", "t/new.sh", None),
        (
            "cp t/g.sh $TMPDIR/g && sh $TMPDIR/g",
            "t/g.sh",
            Some("t/g.sh"),
        ),
        ("read -r c < t/g.sh && $c", "t/g.sh", Some("t/g.sh")),
        ("sqlite3 db < t/g.sh", "t/g.sh", Some("t/g.sh")),
        ("tr -d x < t/g.sh | wc -l", "", None),
        ("read -r c < t/g.sh && test -n \\\"$c\\\"", "", None),
        ("grep -qv TODO t/*.sh || true; wc -l t/g.sh", "", None),
        ("~/none/x; grep -rn TODO t/ | grep -v ok", "", None),
        ("~/none/x; test -z \\\"$(grep -rn TODO t)\\\"", "", None),
    ] {
        let repo = TestRepo::empty();
        repo.write("t/g.sh", "true\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"{check} || true\", weight: 1}}\n"
        ));
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let line = said.lines().find(|line| line.contains("protect: ["));
        match proposed {
            Some(path) => assert!(
                line.unwrap_or(&said).contains(&format!("\"{path}\"")),
                "{said}"
            ),
            None => assert_eq!(line, None, "{check}"),
        }
        let changed = match file {
            "" => "t/g.sh",
            file => file,
        };
        repo.cycle(&format!("echo '# more' >>{changed}; touch a"))
            .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{check}: {record:#}");
        let notes = record["notes"].to_string();
        let named = format!("only `protect` would freeze: {changed}");
        assert_eq!(notes.contains(&named), !file.is_empty(), "{check}: {notes}");
    }
}

#[test]
fn validate_proposes_what_to_protect() {
    let repo = repository();
    let run = repo.evolve(&["validate"]).expect(0);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("protect: [\"Makefile\"]") || said.contains("protect: [Makefile]"),
        "{said}"
    );
    assert!(
        said.contains("guarded/**") && said.contains("--test-first"),
        "{said}"
    );
    let unguarded = GOALS.replace("\"*.cfg\"", "\"*.cfg\", Makefile");
    repo.write("GOALS.yaml", &unguarded);
    let run = repo.evolve(&["validate"]).expect(0);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains("protect: ["), "{said}");
}

#[test]
fn the_brief_names_the_goals_and_each_frozen_file() {
    let repo = repository();
    repo.cycle("true").expect(0);
    let brief = repo.brief(1);
    for file in [
        "GOALS.yaml",
        "check.sh",
        "scripts/check-lint.sh",
        "tools/linked",
        "rules.mk",
        "local.sh",
    ] {
        assert!(brief.contains(file), "{file} is not named:\n{brief}");
    }
    assert!(
        !brief.contains("check-free.sh") && !brief.contains("README.md"),
        "{brief}"
    );
}

#[test]
fn goals_outside_the_repository_are_frozen_too() {
    let repo = TestRepo::empty();
    let goals = repo.outside().join("goals.yaml");
    fs::write(
        &goals,
        "goals:\n  - {id: a, description: d, check: test -e a, weight: 1}\n",
    )
    .unwrap();
    repo.commit_all("first");
    repo.agent_does(&["touch a; echo '# more' >>../agent/goals.yaml"]);
    let named = format!("--goals={}", goals.display());
    repo.run(&["--max-cycles=1", &named]).expect(0);
    let reason = repo.newest()["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with("goalposts moved: ") && reason.contains("goals.yaml changed"),
        "{reason}"
    );
    assert!(!repo.has("a"));
}

#[test]
fn a_goals_file_outside_the_repository_is_put_back_whatever_its_size_and_keeps_its_mode() {
    let repo = TestRepo::empty();
    let goals = repo.outside().join("g.yaml");
    let text = "goals:\n  - {id: a, description: a, check: test -e a, weight: 5}\n";
    fs::write(&goals, text).unwrap();
    fs::set_permissions(&goals, fs::Permissions::from_mode(0o600)).unwrap();
    repo.commit_all("first");
    // Beyond any memory.
    repo.agent_does(&[&format!("touch a; truncate -s 200G '{}'", goals.display())]);
    let flag = format!("--goals={}", goals.display());
    repo.run(&[&flag, "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(fs::read_to_string(&goals).unwrap(), text);
    let mode = fs::metadata(&goals).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_goals_file_outside_the_repository_is_put_back_and_what_stood_there_is_kept() {
    let repo = TestRepo::with_files_wanted(&[("unused", 5)]);
    let goals = repo.outside().join("g.yaml");
    let text = "goals:\n  - {id: a, description: a, check: test -e a, weight: 5}\n";
    std::fs::write(&goals, text).unwrap();
    let loosened = text.replace("test -e a", "test -e GOALS.yaml");
    let edit = format!("printf '%s' '{loosened}' >'{}'", goals.display());
    repo.agent_does(&[&edit, "echo nothing"]);
    let flag = format!("--goals={}", goals.display());
    repo.run(&[&flag, "--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "unchanged"]);
    assert!(repo.each("reason")[0].starts_with("goalposts moved"));
    assert_eq!(std::fs::read_to_string(&goals).unwrap(), text);
    let notes = repo.records()[0]["notes"].to_string();
    assert!(notes.contains("g.yaml was put back"), "{notes}");
}

#[test]
fn a_frozen_script_may_be_made_executable_and_no_more() {
    for (script, result) in [
        ("chmod +x t/c.sh", "improved"),
        ("chmod +x t/c.sh; echo true >>t/c.sh", "regressed"),
        ("git rm -q t/c.sh; ln -s /bin/true t/c.sh", "regressed"),
    ] {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, check: test -x t/c.sh, weight: 5}\n\
             \x20 - {id: c, description: d, check: sh t/c.sh, weight: 3}\n",
        );
        repo.write("t/c.sh", "test -e GOALS.yaml\n");
        repo.commit_all("a script");
        repo.agent_does(&[script]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(
            repo.each("result"),
            [result],
            "{script}: {:?}",
            repo.each("reason")
        );
    }
}

#[test]
fn what_product_names_may_be_changed_though_checks_run_it() {
    for (settings, result, is_advised) in [
        ("", "regressed", true),
        ("  product: ['bin/*']\n", "improved", false),
        (
            "  product: [bin/cli]\n  protect: ['bin/**']\n",
            "regressed",
            false,
        ),
        ("  product: [other]\n", "regressed", true),
    ] {
        let repo = TestRepo::empty();
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\nevolve:\n  sweep: []\n{settings}goals:\n  - {{id: usage, description: d, check: './bin/cli --help | grep -q Usage', weight: 5}}\n"
            ),
        );
        repo.write("bin/cli", "#!/bin/sh\necho help\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(repo.path("bin/cli"), mode).unwrap();
        repo.commit_all("a program");
        let validated = repo.evolve(&["validate"]).expect(0).stdout;
        let is_proposed = validated.contains("lean on");
        assert!(!is_proposed, "{settings}: {validated}");
        repo.agent_does(&["sed -i 's/help/Usage: cli/' bin/cli"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), [result], "{settings}: {}", run.stdout);
        let advice = "the check of usage runs bin/cli: if that is what the goal is about, name it";
        assert_eq!(
            run.stdout.contains(advice),
            is_advised,
            "{settings}: {}",
            run.stdout
        );
    }
}

#[test]
fn a_check_that_wants_a_clean_tree_sees_nothing_of_evolves_own() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n\
         \x20 - {id: b, description: d, check: test -e b, weight: 3}\n\
         \x20 - {id: clean, description: d, check: 'test -z \"$(git status --porcelain)$(git ls-files --others --exclude-standard)\"', weight: 4}\n",
    );
    repo.agent_does(&[
        "touch a; git add a; git commit -qm a",
        "touch b; git add b; git commit -qm b",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved", "improved"],
        "{:?}",
        repo.each("reason")
    );
    repo.agent_does(&["false"]);
    repo.run(&["--max-cycles=3"]).expect(0);
    assert!(
        !repo.each("result").contains(&"regressed".to_owned()),
        "{:?}",
        repo.each("reason")
    );
}

#[test]
fn settings_with_more_commands_than_are_followed_are_said_and_stall_nothing() {
    let repo = TestRepo::empty();
    repo.commit_goals("  - {id: a, description: a, check: 'jest; test -e a', weight: 5}\n");
    repo.cycle(
        "i=0; while [ $i -lt 3000 ]; do printf 'setupFiles[\"x/y.js\",'; i=$((i+1)); done >jest.config.js",
    )
    .expect(0);
    assert_eq!(repo.newest()["result"], "unchanged");
    let words = "more commands than are followed, so that a change to what the others run is not named: jest.config.js";
    let run = repo.cycle("touch a").expect(0);
    assert_eq!(run.stderr.matches(words).count(), 1, "{}", run.stderr);
    assert_eq!(repo.newest()["result"], "improved");
    let said = repo.evolve(&["validate"]).expect(0).stderr;
    assert!(said.contains(words), "{said}");
}

#[test]
fn a_kept_change_of_what_a_check_leans_on_is_named_wherever_its_cycle_is() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: c, description: c, check: sh scripts/check-c.sh, weight: 3}\n",
    );
    repo.write("scripts/check-c.sh", ". \"$(dirname \"$0\")/lib.sh\"; ok\n");
    repo.write("scripts/lib.sh", "ok() { true; }\n");
    repo.commit_all("scripts");
    repo.cycle("echo 'ok() { true; : ; }' >scripts/lib.sh; touch a")
        .expect(0);
    let said = "changed what a check leans on: scripts/lib.sh";
    repo.cycle("echo 'ok() { false; }' >scripts/lib.sh; echo a >>a");
    let html = repo.outside().join("page.html");
    repo.evolve(&["report", "--out", &html.display().to_string()])
        .expect(0);
    for page in [
        repo.answer(&["history"]),
        repo.answer(&["report", "--md"]),
        std::fs::read_to_string(html).unwrap(),
    ] {
        let page = page.replace("&#x2f;", "/");
        assert_eq!(page.matches(said).count(), 1, "{page}");
    }
}
