//! What is added later to a file that is there.

use super::*;

#[test]
fn pytest_in_an_environment_of_the_projects_own_is_proposed_beside_unittest() {
    let mut all = vec![("setup.py", ""), ("tests/test_a.py", "import unittest")];
    let before = propose(&Files::of(&all), &PLAIN);
    let note = &before.notes[0];
    assert!(
        note.ends_with(".venv/bin/pip install --editable ., then write .venv/bin/python for python3 in GOALS.yaml"),
        "{note}"
    );
    let (file, _) = read_goals("g", crate::model::init::file(&before, "x").as_bytes()).unwrap();
    all.push(("!.venv/bin/python", ""));
    assert_eq!(
        goals_in(&all),
        ["9 tests-pass: .venv/bin/python -m unittest discover -s tests"]
    );
    all.push(("!.venv/bin/pytest", ""));
    let new = missing(&propose(&Files::of(&all), &PLAIN), &file);
    let checks: Vec<&str> = new.iter().map(|one| one.check.as_str()).collect();
    assert_eq!(checks, [".venv/bin/pytest -q"]);
    let by_path = [("setup.py", ""), ("test_a.py", "import pytest")];
    let note = propose(&Files::of(&by_path), &PLAIN).notes.remove(0);
    assert!(
        note.ends_with("then write .venv/bin/pytest for pytest in GOALS.yaml"),
        "{note}"
    );
}

#[test]
fn what_waits_for_a_tool_is_the_check_that_runs_once_that_is_installed() {
    const TOOLS: &[&str] = &["pyright", "sphinx-build", "pytest"];
    let table = "[tool.pyright]\n[tool.pytest.ini_options]\n";
    let all = |venv: &'static str| {
        vec![
            ("pyproject.toml", table),
            ("docs/conf.py", ""),
            ("tests/test_a.py", "import pytest\nimport attr\n"),
            (venv, ""),
        ]
    };
    let waiting = |files: Vec<(&str, &str)>, missing| {
        let found = propose(&Files::of(&files).without(missing), &PLAIN);
        reads_back(&found);
        let shown = |one: &Proposal| (one.check.clone(), one.missing.clone().unwrap());
        let all: Vec<_> = found.lacking().map(shown).collect();
        all
    };
    let of = |program: &str, by: &str, words: &str, install: &str| {
        let why = format!("{program} is not installed: {install}");
        (format!("{by}{program}{words}"), why)
    };
    let docs = " -W -q docs \"$(mktemp -d)\"";
    for (venv, by, pip) in [
        ("!.venv/bin/python", ".venv/bin/", ".venv/bin/pip install"),
        ("!venv/bin/python", "venv/bin/", "venv/bin/pip install"),
        ("uv.lock", "uv run --locked ", "uv add --dev"),
        ("poetry.lock", "poetry run ", "poetry add --group dev"),
        ("a.py", "", "pip install"),
    ] {
        let expected = [
            of("pytest", by, " -q", &format!("{pip} pytest")),
            of("pyright", by, "", &format!("{pip} pyright")),
            of("sphinx-build", by, docs, &format!("{pip} sphinx")),
        ];
        assert_eq!(waiting(all(venv), TOOLS), expected, "{venv}");
    }
    // What is there already stays, and what lacks a module is put beside it.
    let table = ("requirements.txt", "attr\n");
    let files = [all("!.venv/bin/python"), vec![table]].concat();
    let expected = (
        ".venv/bin/pytest -q".to_owned(),
        "attr is not installed: .venv/bin/pip install --requirement requirements.txt pytest"
            .to_owned(),
    );
    assert_eq!(
        waiting(files, &["pytest: attr", ".venv/bin/python: attr"]),
        [expected]
    );
}

#[test]
fn the_environment_of_a_project_in_a_folder_lies_there() {
    let mut all = vec![
        (
            "my api/pyproject.toml",
            "[project]\nname = \"a\"\n[tool.pytest.ini_options]\n",
        ),
        ("my api/tests/test_a.py", "import pytest\n"),
    ];
    let found = propose(&Files::of(&all), &PLAIN);
    let note = &found.notes[0];
    let advice = ": python3 -m venv 'my api/.venv' && 'my api/.venv/bin/pip' install --editable 'my api' pytest, \
        then write .venv/bin/pytest for pytest in GOALS.yaml";
    assert!(note.ends_with(advice), "{note}");
    assert_eq!(
        goals_in(&all),
        ["9 my-api-tests-pass: cd 'my api' && pytest -q"]
    );
    all.push(("!my api/.venv/bin/python", ""));
    all.push(("!my api/.venv/bin/pytest", ""));
    assert_eq!(
        goals_in(&all),
        ["9 my-api-tests-pass: cd 'my api' && .venv/bin/pytest -q"]
    );
}

#[test]
fn what_was_commented_out_goes_when_its_goal_comes_unless_somebody_changed_it() {
    let package =
        r#"{"scripts": {"test": "jest", "lint": "eslint ."}, "devDependencies": {"jest": "1"}}"#;
    let before = Files::of(&[("package.json", package)]);
    let text = crate::model::init::file(&propose(&before, &PLAIN), "x");
    let text = text.replace(
        "check: npm run --silent lint",
        "check: npm run --silent lint   # mine",
    );
    let (goals, _) = read_goals("g", text.as_bytes()).unwrap();
    let after = Files::of(&[("package.json", package), ("!node_modules", "")]);
    let new = missing(&propose(&after, &PLAIN), &goals);
    let whole = appended(&text, &goals, &new).unwrap();
    assert!(text.contains("  # - id: tests-pass\n"), "{text}");
    assert!(!whole.contains("  # - id: tests-pass\n"), "{whole}");
    assert!(whole.contains("  - id: tests-pass\n"), "{whole}");
    assert!(whole.contains("  # - id: lint-clean\n"), "{whole}");
    assert!(whole.contains("  - id: lint-clean\n"), "{whole}");
}

#[test]
fn a_goal_that_comes_takes_the_place_of_what_was_commented_out_or_stands_below_its_heading() {
    let project = ("pyproject.toml", "[tool.pytest]\n[tool.mypy]\n");
    let docs = ("mkdocs.yml", "site_name: a\n");
    let all = [project, ("test_a.py", "import pytest\n"), docs];
    let missing_here = &["pytest", "mypy", "mkdocs"];
    let before = Files::of(&all).without(missing_here);
    let text = crate::model::init::file(&propose(&before, &PLAIN), "x");
    let venv = [
        ("!.venv/bin/python", ""),
        ("!.venv/bin/pytest", ""),
        ("ruff.toml", ""),
        (".isort.cfg", ""),
        ("sh.sh", "#!/bin/sh\n"),
    ];
    let after = Files::of(&[&all[..], &venv[..]].concat()).without(missing_here);
    for text in [
        text.clone(),
        text.replace('\n', "\r\n"),
        text.replace("check: mypy .", "check: 'mypy .'"),
        format!("{text}evolve: {{jobs: 2}}\n"),
        text.trim_end().to_owned(),
    ] {
        let (goals, _) = read_goals("g", text.as_bytes()).unwrap();
        let found = propose(&after, &PLAIN);
        let new = missing(&found, &goals);
        let whole = appended(&text, &goals, &new).unwrap();
        let (read, _) = read_goals("g", whole.as_bytes()).unwrap();
        let ids: Vec<_> = read.goals.iter().map(|it| it.id.as_str()).collect();
        let expected = [
            "tests-pass",
            "no-conflict-markers",
            "ruff-clean",
            "shellcheck-clean",
            "imports-sorted",
        ];
        assert_eq!(ids, expected, "{whole}");
        assert!(!whole.contains("# - id: tests-pass"), "{whole}");
        let whole = whole.replace("\r\n", "\n");
        let docs = whole.find("# Documentation: ").unwrap();
        let cleanup = whole.find("\n\n  # Cleanup: it is tidy.\n\n").unwrap();
        assert!(whole.find("shellcheck-clean").unwrap() < docs && docs < cleanup);
        assert!(cleanup < whole.find("imports-sorted").unwrap(), "{whole}");
        assert!(!whole.contains("\n\n\n"), "{whole}");
        let (_, changed) = with_reasons(&whole, &read, &found);
        assert_eq!(changed, 2, "{whole}");
    }
}

#[test]
fn what_waits_for_a_look_is_told_from_what_is_not_installed() {
    let of = |test: &str| {
        let package = format!(r#"{{"scripts": {{"test": "{test}"}}}}"#);
        let files = [("package.json", &*package), ("!node_modules", "")];
        propose(&Files::of(&files), &PLAIN)
    };
    for (test, is_bare, waits) in [
        ("tape test/*.js", false, false),
        ("some-runner", true, true),
    ] {
        let found = of(test);
        let told = (found.is_bare(), found.waits_for_a_look());
        assert_eq!(told, (is_bare, waits), "{test}");
    }
    let package = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}"#;
    let found = propose(&Files::of(&[("package.json", package)]), &PLAIN);
    assert!(found.is_bare() && !found.waits_for_a_look());
}

#[test]
fn what_gives_way_to_a_step_of_ci_is_named() {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: make check\n      - run: ./scripts/check-x.sh --all\n      \
        - run: make other\n";
    let files = [
        ("Makefile", "check:\n\tmypy .\nlint:\n\t./l\n"),
        ("scripts/check-x.sh", "#!/bin/sh\n"),
        (".github/workflows/ci.yml", workflow),
    ];
    let found = propose(&Files::of(&files).without(&["shellcheck"]), &WITH_CI);
    let given_way = found.left_out.iter().filter(|one| one.contains("of CI"));
    assert_eq!(
        given_way.collect::<Vec<_>>(),
        [
            "Makefile: check: tests-pass of CI tells the same",
            "scripts/check-x.sh: check-x of CI tells the same",
        ]
    );
    assert!(found.runnable().any(|one| one.check == "make check"));
}

#[test]
fn a_step_of_ci_that_does_less_takes_no_place_and_is_added_beside_what_does_all() {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: cargo test -p core\n      \
        - run: cargo clippy --all-targets -- -Dwarnings\n";
    let files = Files::of(&[("Cargo.toml", ""), (".github/workflows/ci.yml", workflow)]);
    let found = propose(&files, &WITH_CI);
    let checks = |all: &[Proposal]| -> Vec<String> {
        let all = all.iter().map(|one| one.check.clone());
        all.filter(|check| check.contains("test") || check.contains("clippy"))
            .collect()
    };
    assert_eq!(
        checks(&found.proposals),
        [
            "cargo test --quiet",
            "cargo test -p core",
            "cargo clippy --all-targets -- -Dwarnings",
        ]
    );
    let text = "goals:\n  - {id: a, description: d, check: cargo test, weight: 3}\n  \
        - {id: b, description: d, check: cargo clippy, weight: 3}\n";
    let (goals, _) = read_goals("g", text.as_bytes()).unwrap();
    let mut found = found;
    let new = missing(&found, &goals);
    assert_eq!(checks(&new), ["cargo test -p core"]);
    let gave_way = |found: &Found| {
        let mut all = found.left_out.iter();
        all.any(|line| line == "Cargo.toml: clippy-clean of CI tells the same")
    };
    assert!(gave_way(&found));
    // Neither the file nor what is added has that goal.
    leave_untold(&mut found, &goals, &new);
    assert!(!gave_way(&found));
}

#[test]
fn a_step_of_ci_that_lets_more_pass_gives_way_to_the_goal_that_is_there() {
    let workflow = "on: push\nenv: {OUT_DIRECTORY: x}\njobs:\n  t:\n    steps:\n      - run: cargo clippy --locked --all-targets\n      \
        - run: cargo fmt -- --check\n      - run: cargo test --locked\n      - run: cargo doc --no-deps\n      \
        - run: echo ${{ env.OUT_DIRECTORY }}\n";
    let files = Files::of(&[
        ("Cargo.toml", ""),
        ("Cargo.lock", ""),
        (".github/workflows/ci.yml", workflow),
    ]);
    let clippy = "7 clippy-clean: cargo clippy --quiet --all-targets --locked -- -D warnings";
    let docs = "4 docs-build: RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --locked";
    assert_eq!(
        goals_of(&files, &WITH_CI),
        [
            "10 builds: cargo build --quiet --locked",
            "9 tests-pass: cargo test --locked",
            clippy,
            "5 coverage-floor: cargo llvm-cov --quiet --locked --lcov --output-path target/coverage.info",
            docs,
            "3 fmt-clean: cargo fmt -- --check",
        ]
    );
    let found = propose(&files, &WITH_CI);
    let line = ".github/workflows/ci.yml: t: cargo clippy --locked --all-targets: clippy-clean tells the same";
    assert!(
        found.left_out.iter().any(|it| it == line),
        "{:?}",
        found.left_out
    );
    // What init writes without CI has all of it.
    let page = file(&propose(&files, &PLAIN), "x");
    let (goals, _) = read_goals("g", page.as_bytes()).unwrap();
    let new: Vec<String> = missing(&found, &goals)
        .into_iter()
        .map(|one| one.check)
        .collect();
    assert_eq!(new, [""; 0]);
}

#[test]
fn a_step_of_ci_that_does_more_is_added_by_another_id_unless_goals_tell_its_parts() {
    let script = "test: {script: [cargo test, cargo test --no-default-features]}\n";
    let files = Files::of(&[("Cargo.toml", ""), (".gitlab-ci.yml", script)]);
    let goal = |id: &str, check: &str| {
        format!("  - {{id: {id}, description: d, check: {check}, weight: 3}}\n")
    };
    let usual = goal("tests-pass", "cargo test --quiet");
    let other = goal("other", "cargo test --no-default-features --locked");
    let narrow = goal("tests-pass", "cargo test --lib");
    for (text, id, is_named) in [
        (usual.clone(), Some("gitlab-ci-tests-pass"), false),
        (goal("mine", "cargo test"), Some("tests-pass"), false),
        (goal("mine", "make"), Some("tests-pass"), true),
        (narrow, Some("gitlab-ci-tests-pass"), true),
        (usual + &other, None, false),
    ] {
        let (goals, _) = read_goals("g", format!("goals:\n{text}").as_bytes()).unwrap();
        let mut found = propose(&files, &WITH_CI);
        let new = missing(&found, &goals);
        let mut of_ci = new.iter().filter(|one| one.source.starts_with(".gitlab"));
        assert_eq!(of_ci.next().map(|one| one.id.as_str()), id, "{text}");
        leave_untold(&mut found, &goals, &new);
        let gave_way = found.left_out.iter().filter(|line| line.contains("of CI"));
        let gave_way: Vec<&String> = gave_way.collect();
        let line = id.filter(|_| is_named);
        let line = line.map(|id| format!("Cargo.toml: {id} of CI tells the same"));
        assert_eq!(gave_way, Vec::from_iter(&line), "{text}");
        let ci = [".gitlab-ci.yml".to_owned()];
        let more = ci_files_with_more(&found, &ci, &goals, "");
        assert_eq!(more.is_empty(), id.is_none(), "{text}");
    }
}

#[test]
fn ids_that_are_values_of_yaml_are_quoted() {
    for name in [
        "true", "False", "null", "no", "on", "y", "12", "1e3", "~", "0x1f",
    ] {
        let workflow = serde_json::json!({"on": "push", "jobs": {"a": {"steps": [
            {"run": "make check", "name": name}, {"run": "docker ps", "name": format!("{name} ")},
        ]}}});
        let files = [(".github/workflows/ci.yml", &*workflow.to_string())];
        reads_back(&propose(&Files::of(&files), &WITH_CI));
    }
}

#[test]
fn jobs_for_another_system_are_told_however_that_is_written() {
    let workflow = "on: push\njobs:\n  a: {runs-on: macOS-latest, steps: [{run: make a-test}]}\n  \
        b: {runs-on: Windows-2022, steps: [{run: make b-test}]}\n";
    let gitlab = "c: {tags: [windows], script: make c-test}\nd: {tags: [saas-macos-medium-m1], script: make d-test}\n\
        e: {tags: [linux], script: make e-test}\n";
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        (".gitlab-ci.yml", gitlab),
    ]);
    assert_eq!(goals_of(&files, &WITH_CI), ["9 e: make e-test"]);
}

#[test]
fn the_role_is_told_by_what_a_check_calls_and_not_by_what_is_set_for_it() {
    let gitlab = "variables: {PACKAGES: gcc black}\nunit:\n  script: meson test -C b\n";
    let files = Files::of(&[(".gitlab-ci.yml", gitlab), ("b/a.c", "")]);
    let goals = goals_of(&files, &WITH_CI);
    assert_eq!(goals, ["9 unit: PACKAGES='gcc black' meson test -C b"]);
}

#[test]
fn a_target_that_calls_another_linter_is_a_goal_and_one_that_calls_the_same_is_not() {
    let files = Files::of(&[
        ("go.mod", ""),
        ("a.go", ""),
        (
            "Makefile",
            "lint:\n\tgolangci-lint run -v\ntest:\n\tgo test ./...\n",
        ),
    ]);
    let goals = goals_of(&files, &PLAIN);
    assert!(
        goals.contains(&"7 lint-clean: make --silent lint".to_owned()),
        "{goals:?}"
    );
    let left_out = propose(&files, &PLAIN).left_out;
    let same = "Makefile: test: tests-pass may tell the same".to_owned();
    assert!(left_out.contains(&same), "{left_out:?}");
    assert!(!left_out.iter().any(|line| line.contains("lint")));
}

#[test]
fn a_task_or_script_that_changes_what_git_tracks_or_runs_what_is_not_known_waits() {
    let makefile = "check-rm:\n\trm -rf src\ncheck-cp:\n\tcp a README.md\ncheck-add:\n\tuv add x\ncheck-none:\n\
        check-own:\n\trm -rf build && mypy .\nbuild:\n\tdocker build .\ncheck-sh:\n\tsh tools/check.sh\n";
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")/..\"\n";
    let scripts = [
        "rm -rf src\n",
        "echo x > README.md\n",
        "d=$(mktemp -d)\ncd $d\ntouch a\n",
    ];
    let scripts = scripts.map(|text| format!("{script}{text}"));
    let found = propose(
        &Files::of(&[
            ("Makefile", makefile),
            ("README.md", ""),
            ("a", ""),
            ("scripts/check-a.sh", &scripts[0]),
            ("scripts/check-b.sh", &scripts[1]),
            ("scripts/check-c.sh", "#!/bin/sh\nset -e\ntrue\n"),
            ("scripts/check-d.sh", &scripts[2]),
            ("src/a", ""),
            ("tools/check.sh", &scripts[0]),
        ])
        .without(&["shellcheck"]),
        &PLAIN,
    );
    let shown = |one: &Proposal| {
        let why = one.missing.as_deref().unwrap_or("at once");
        format!(
            "{}: {}",
            one.id,
            why.trim_end_matches(": look first, then take the # away")
        )
    };
    let mut all: Vec<_> = found.proposals.iter().map(shown).collect();
    all.sort();
    assert_eq!(
        all,
        [
            "builds: evolve does not know what `docker build .` does",
            "check-a: `rm -rf src` changes what git tracks",
            "check-b: `> README.md` changes what git tracks",
            "check-cp: `cp a README.md` changes what git tracks",
            "check-d: at once",
            "check-own: at once",
            "check-rm: `rm -rf src` changes what git tracks",
            "check-sh: `rm -rf src` changes what git tracks",
            "no-conflict-markers: at once",
            "shellcheck-clean: shellcheck is not installed: see https://www.shellcheck.net",
        ]
    );
    for line in [
        "Makefile: check-add: it changes files (uv add x); a goal only looks",
        "Makefile: check-none: it runs nothing",
        "scripts/check-c.sh: it succeeds whatever it finds",
    ] {
        assert!(
            found.left_out.contains(&line.to_owned()),
            "{line}: {:#?}",
            found.left_out
        );
    }
}

/// Returns a workflow whose job has these steps.
pub(super) fn workflow_of(job: &serde_json::Value, steps: &[&str]) -> String {
    let mut job = job.clone();
    let steps = steps.iter().map(|run| serde_json::json!({"run": run}));
    job["steps"] = steps.collect();
    serde_json::json!({"on": "push", "jobs": {"a": job}}).to_string()
}

#[test]
fn what_another_goal_tells_by_any_way_is_one_goal() {
    let steps = [
        "cargo lint",
        "cd frontend && npm run lint",
        "pnpm -r check",
        "tox -e lint",
    ];
    let workflow = workflow_of(&serde_json::json!({}), &steps);
    let makefile = "check-all:\n\tpnpm -r check\nlint: ; sh scripts/check-words.sh\n\
        check-names:\n\t@./scripts/check-words.sh\ncheck-more:\n\tscripts/check-words.sh --all\n";
    let found = propose(
        &Files::of(&[
            (
                ".cargo/config.toml",
                "[alias]\nlint = \"clippy --all-targets -- -D warnings\"\n",
            ),
            (".github/workflows/ci.yml", &workflow),
            (
                ".pre-commit-config.yaml",
                "repos:\n- repo: https://x\n  hooks: [{id: flake8}]\n",
            ),
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("Makefile", makefile),
            (
                "frontend/package.json",
                r#"{"scripts": {"check": "tsc", "lint": "eslint ."}}"#,
            ),
            ("frontend/package-lock.json", ""),
            ("scripts/check-words.sh", "#!/bin/sh\n! grep -rn wrod src\n"),
            ("src/lib.rs", ""),
            (
                "tox.ini",
                "[testenv:lint]\ncommands = pre-commit run --all-files\n",
            ),
        ]),
        &WITH_CI,
    );
    let of_tasks = |one: &&Proposal| {
        let mut from = [".github", "Makefile", "scripts"].iter();
        from.any(|it| one.source.starts_with(it))
    };
    let own = found.proposals.iter().filter(of_tasks);
    let ids: Vec<&str> = own.map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["check-words", "check-more"], "{:#?}", found.left_out);
    let ci = ".github/workflows/ci.yml: a";
    for line in [
        format!("{ci}: cargo lint: clippy-clean tells the same"),
        format!("{ci}: cd frontend && npm run lint: frontend-lint-clean tells the same"),
        format!("{ci}: tox -e lint: hooks-pass tells the same"),
        "Makefile: check-all: frontend-checks-pass tells the same".to_owned(),
        "Makefile: check-names: check-words tells the same".to_owned(),
    ] {
        assert!(
            found.left_out.contains(&line),
            "{line}: {:#?}",
            found.left_out
        );
    }
}

#[test]
fn what_others_tell_in_parts_is_no_goal_unless_it_does_more() {
    let of = |check: &str| {
        let makefile = format!(
            "lint:\n\t$(shell pwd)/bin/golangci-lint run\ntest:\n\tgo test ./...\ncheck: {check}\n"
        );
        let files = [
            ("!bin/golangci-lint", ""),
            (".golangci.yml", ""),
            ("Makefile", makefile.as_str()),
            ("a_test.go", ""),
            ("go.mod", ""),
            ("scripts/check-words.sh", "#!/bin/sh\n! grep -rn wrod src\n"),
        ];
        let found = propose(&Files::of(&files), &PLAIN);
        let of_make = found
            .left_out
            .iter()
            .filter(|line| line.starts_with("Makefile: check:"));
        let of_make: Vec<String> = of_make.cloned().collect();
        let is_goal = found.proposals.iter().any(|one| one.id == "checks-pass");
        let is_lint = found.proposals.iter().any(|one| one.id == "lint-clean");
        assert!(!is_lint, "{:#?}", found.proposals);
        (is_goal, of_make)
    };
    for (check, told) in [
        ("lint test", "tests-pass, golangci-clean tell the same"),
        (
            "test\n\tscripts/check-words.sh\n\tgo vet ./...",
            "tests-pass, check-words, vet-clean tell the same",
        ),
        ("test\n\tscripts/check-words.sh\n\tmypy .", ""),
        ("\n\tscripts/check-words.sh\n\tsome-check", ""),
        ("lint\n\tGOOS=linux go test ./...", ""),
    ] {
        let (is_goal, left_out) = of(check);
        assert_eq!(is_goal, told.is_empty(), "{check}: {left_out:?}");
        let line = format!("Makefile: check: {told}");
        assert!(
            told.is_empty() || left_out == [line],
            "{check}: {left_out:?}"
        );
    }
}

#[test]
fn what_is_handed_to_a_task_or_read_or_not_known_is_no_reason_to_miss_a_check() {
    let steps = [
        "npm test -- --grep a",
        "npm test -- --grep b",
        "cargo t -p a",
        "cargo t -p b",
        "just try a",
        "just try b",
        "make suite of=a",
        "make suite of=b",
        "python3 - <<E\nimport a\nE",
        "python3 - <<E\nimport b\nE",
        "cmp - a < b",
        "cmp - a < c",
        "go test $ONE",
        "go test $TWO",
        "find . -name a | grep -q x",
        "find . -name b | grep -q x",
    ];
    let makefile = "suite:\n\t./suite $(of)\ncheck-a:\n\tGOOS=linux go vet\ncheck-b:\n\tGOOS=windows go vet\n\
        check-c:\n\tgrep -q x a || grep -q y b\ncheck-d:\n\tgrep -q x a && grep -q y b\n";
    let workflow = workflow_of(&serde_json::json!({}), &steps);
    let files = [
        (".cargo/config.toml", "[alias]\nt = \"test --quiet\"\n"),
        (".github/workflows/ci.yml", &workflow),
        ("Makefile", makefile),
        ("justfile", "try of='x':\n  ./try {{of}}\n"),
        ("package.json", r#"{"scripts": {"test": "mocha"}}"#),
    ];
    let found = propose(&Files::of(&files), &WITH_CI);
    let checks: Vec<&str> = found
        .proposals
        .iter()
        .map(|one| one.check.as_str())
        .collect();
    let of_make = ["a", "b", "c", "d"].map(|name| format!("make --silent check-{name}"));
    for check in steps
        .iter()
        .copied()
        .chain(of_make.iter().map(String::as_str))
    {
        let is_it = |one: &&str| one.trim_start_matches("set -e\n") == check;
        assert!(checks.iter().any(is_it), "{check}: {checks:#?}");
    }
}

#[test]
fn what_is_a_goal_already_does_not_wait_for_services_beside_it() {
    let job = serde_json::json!({"services": {"db": {"image": "postgres"}}});
    let workflow = workflow_of(&job, &["make test", "make e2e-test"]);
    let files = [
        (".github/workflows/ci.yml", workflow.as_str()),
        (
            "Makefile",
            "test:\n\tgo test ./...\ne2e-test:\n\tgo test -tags e2e ./...\n",
        ),
    ];
    let found = propose(&Files::of(&files), &WITH_CI);
    let shown = |one: &Proposal| (one.check.clone(), one.missing.is_some());
    let all: Vec<_> = found.proposals.iter().map(shown).collect();
    let wanted = [("make --silent test", false), ("make e2e-test", true)];
    for (check, waits) in wanted {
        assert!(all.contains(&(check.to_owned(), waits)), "{all:?}");
    }
    assert_eq!(all.len(), 3, "{all:?}");
    let line = ".github/workflows/ci.yml: a: make test: tests-pass tells the same";
    assert!(
        found.left_out.contains(&line.to_owned()),
        "{:#?}",
        found.left_out
    );
    let note = "tests-pass: CI starts services for it: if it fails without, start them first";
    assert!(found.notes.contains(&note.to_owned()), "{:?}", found.notes);
}

#[test]
fn linters_are_known_by_their_names_wherever_they_lie() {
    let makefile = "LOCALBIN ?= $(shell pwd)/bin\nlint:\n\t$(LOCALBIN)/golangci-lint run\ncheck-a:\n\t./bin/golangci-lint run --timeout 5m\n\
        check-b:\n\tnode_modules/.bin/eslint .\ncheck-c:\n\t$$(go env GOPATH)/bin/staticcheck ./...\ncheck-d:\n\t$(LOCALBIN)/setup\n\
        check-e:\n\tbin/test\ncheck-f:\n\tnode scripts/a.mjs\ncheck-g:\n\tnode scripts/b.mjs --check\ncheck-h:\n\t./bin/revive\n";
    let files = [
        ("!bin/golangci-lint", ""),
        ("!bin/test", ""),
        ("Makefile", makefile),
        ("scripts/a.mjs", ""),
        ("scripts/b.mjs", ""),
    ];
    let found = propose(&Files::of(&files), &PLAIN);
    let own = found
        .proposals
        .iter()
        .filter(|one| one.id != offer::GENERAL);
    let shown = |one: &Proposal| {
        let why = one.missing.as_deref().unwrap_or("at once");
        format!(
            "{}: {}",
            one.id,
            why.replace(": look first, then take the # away", "")
        )
    };
    let all: Vec<String> = own.map(shown).collect();
    let expected = [
        "lint-clean: at once",
        "check-a: at once",
        "check-b: at once",
        "check-c: at once",
        "check-g: at once",
        "check-d: there is no ./bin/setup",
        "check-e: there is no bin/test",
        "check-f: evolve does not know what `node scripts/a.mjs` does",
        "check-h: there is no ./bin/revive",
    ];
    assert_eq!(all, expected);
}

#[test]
fn of_what_a_target_builds_for_a_script_nobody_says_that_it_is_not_there() {
    let makefile =
        "wc2: wc2.c\n\tcc -o wc2 wc2.c\ncheck: wc2\n\tsh tests/run.sh\nlint:\n\tsh tests/run.sh\n";
    let script = "#!/bin/sh\nset -e\ntest \"$(./wc2 words)\" = 2\n";
    let files = [
        ("Makefile", makefile),
        ("tests/run.sh", script),
        ("wc2.c", ""),
    ];
    let found = propose(&Files::of(&files), &PLAIN);
    let why = |check: &str| {
        let mut all = found.proposals.iter();
        let one = all.find(|one| one.check.contains(check)).unwrap();
        one.missing.clone().unwrap_or_default()
    };
    assert!(why("make --silent check").starts_with("evolve does not know what `./wc2 words` does"));
    assert!(why("make --silent lint").starts_with("there is no ./wc2"));
}

#[test]
fn a_target_whose_recipe_make_makes_itself_waits_and_one_that_installs_packages_makes_no_goal() {
    let makefile = "define rule\n$(1):\n\t./$(1)\nendef\n$(foreach it,check-a,$(eval $(call rule,$(it))))\ncheck-a:\n\
        check-b:\n\tnpm install eslint\n\tnpx eslint .\ncheck-c:\n\tnpm i -D eslint && npx eslint .\ncheck-d:\n\tmypy .\n";
    let workflow = workflow_of(&serde_json::json!({}), &["make check-a OF=1"]);
    let files = [
        ("Makefile", makefile),
        (".github/workflows/ci.yml", &workflow),
    ];
    let found = propose(&Files::of(&files), &WITH_CI);
    let own = found
        .proposals
        .iter()
        .filter(|one| one.id != offer::GENERAL);
    let mut all: Vec<_> = own
        .map(|one| (one.check.as_str(), one.missing.as_deref()))
        .collect();
    all.sort_unstable_by_key(|(check, why)| (why.is_some(), *check));
    let unread = |shown: &str| {
        format!("evolve does not find what `{shown}` runs: look first, then take the # away")
    };
    let (by_make, by_ci) = (unread("make --silent check-a"), unread("make check-a OF=1"));
    assert_eq!(
        all,
        [
            ("make --silent check-d", None),
            ("make --silent check-a", Some(by_make.as_str())),
            ("make check-a OF=1", Some(by_ci.as_str())),
        ]
    );
    for (name, command) in [("b", "npm install eslint"), ("c", "npm i -D eslint")] {
        let line =
            format!("Makefile: check-{name}: it changes files ({command}); a goal only looks");
        assert!(found.left_out.contains(&line), "{:#?}", found.left_out);
    }
}

#[test]
fn cargo_is_told_the_features_that_the_project_tests_and_documents_itself_with() {
    let manifest = "[package]\nname = 'a'\n[package.metadata.docs.rs]\nall-features = true\n\
        [[example]]\nname = 'b'\nrequired-features = ['cli']\n";
    let files = [("Cargo.toml", manifest), ("Cargo.lock", "")];
    assert_eq!(
        goals_in(&files)[1..5],
        [
            "9 tests-pass: cargo test --quiet --features cli --locked",
            "7 clippy-clean: cargo clippy --quiet --all-targets --features cli --locked -- -D warnings",
            "5 coverage-floor: cargo llvm-cov --quiet --features cli --locked --lcov --output-path target/coverage.info",
            "4 docs-build: RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --all-features --locked",
        ]
    );
    // A step of CI without them does less, and one with all of them does more.
    for (run, stays) in [
        ("cargo test", true),
        ("cargo test --features cli", false),
        ("cargo test --all-features", false),
    ] {
        let workflow = workflow_of(&serde_json::json!({}), &[run]);
        let all = [&files[..], &[(".github/workflows/ci.yml", &*workflow)]].concat();
        let goals = goals_of(&Files::of(&all), &WITH_CI).join("\n");
        let own = goals.contains("cargo test --quiet --features cli");
        assert_eq!(own, stays, "{goals}");
        assert!(goals.contains(run), "{goals}");
    }
}

#[test]
fn coverage_of_tests_that_two_programs_run_makes_no_goal_unless_one_measures_around_both() {
    for (scripts, expected) in [
        (r#""test": "jest && node --test""#, None),
        (r#""test": "borp --coverage && jest test/jest""#, None),
        (
            r#""test": "npm run unit && npm run e2e", "unit": "jest --coverage", "e2e": "npx playwright test""#,
            None,
        ),
        (
            r#""test": "eslint . && jest""#,
            Some("npx --no-install jest --ci --coverage --coverageReporters=text"),
        ),
        (
            r#""test": "c8 npm run all", "all": "mocha && node --test""#,
            Some("npm test --silent"),
        ),
    ] {
        let package =
            format!(r#"{{"scripts": {{{scripts}}}, "devDependencies": {{"jest": "1"}}}}"#);
        let files = [
            ("package.json", &*package),
            ("!node_modules", ""),
            ("!node_modules/.bin/jest", ""),
        ];
        let found = propose(&Files::of(&files), &PLAIN);
        let mut all = found.proposals.iter();
        let floor = all.find(|one| one.measured.is_some());
        assert_eq!(floor.map(|one| one.check.as_str()), expected, "{scripts}");
        let is_named = found
            .left_out
            .iter()
            .any(|line| line.contains(": coverage: each of "));
        assert_eq!(is_named, expected.is_none(), "{scripts}");
    }
}

#[test]
fn a_script_of_javascript_that_only_looks_runs_at_once() {
    let package = r#"{"scripts": {"test": "node scripts/a.mjs"}}"#;
    for (text, waits) in [
        (
            "import fs from 'fs';\nprocess.exit(fs.existsSync('a') ? 0 : 1);\n",
            false,
        ),
        ("import fs from 'fs';\nfs.writeFileSync('a', 'b');\n", true),
    ] {
        let files = [("package.json", package), ("scripts/a.mjs", text)];
        let found = propose(&Files::of(&files), &PLAIN);
        let tests = found.proposals.iter().find(|one| one.id == "tests-pass");
        assert_eq!(tests.unwrap().missing.is_some(), waits, "{text}");
    }
}

#[test]
fn coverage_over_the_script_of_the_tests_waits_for_what_these_wait_for() {
    let waits = "evolve does not know what `mycheck --all` does: look first, then take the # away";
    for (scripts, tool, expected) in [
        (
            r#""pretest": "mycheck --all", "test": "tape 'test/**/*.js'""#,
            "nyc",
            Some(waits),
        ),
        (
            r#""pretest": "mycheck --all", "test": "tape 'test/**/*.js'""#,
            "c8",
            Some(waits),
        ),
        (
            r#""pretest": "mycheck --all", "test": "c8 tape a.js""#,
            "c8",
            Some(waits),
        ),
        (r#""test": "tape 'test/**/*.js'""#, "nyc", None),
        // Its program runs without the script.
        (
            r#""pretest": "mycheck --all", "test": "jest""#,
            "jest",
            None,
        ),
    ] {
        let package =
            format!(r#"{{"scripts": {{{scripts}}}, "devDependencies": {{"{tool}": "1"}}}}"#);
        let bin = format!("!node_modules/.bin/{tool}");
        let files = [
            ("package.json", &*package),
            ("!node_modules", ""),
            (&*bin, ""),
        ];
        let found = propose(&Files::of(&files), &PLAIN);
        let mut all = found.proposals.iter();
        let floor = all.find(|one| one.measured.is_some()).unwrap();
        assert_eq!(floor.missing.as_deref(), expected, "{scripts} {tool}");
    }
}

#[test]
fn scripts_that_a_loop_of_ci_runs_are_judged_each_and_what_sets_up_names_no_goal() {
    let workflow = "on: push\njobs:\n  a:\n    steps:\n      - run: |\n          set -e\n          for s in scripts/check-*.sh; do \"$s\"; done\n\
        \n      - run: |\n          sudo apt-get install x\n          shellcheck lib/*.sh\n";
    let of = |body: &str| {
        let files = [
            (".github/workflows/ci.yml", workflow),
            ("scripts/check-a.sh", "#!/bin/sh\ngrep x y\n"),
            ("scripts/check-b.sh", body),
        ];
        let found = propose(&Files::of(&files), &WITH_CI);
        let goals = found.proposals.iter();
        let goals = goals.filter(|one| one.source.starts_with(".github"));
        let goals = goals.map(|one| (one.id.clone(), one.missing.clone()));
        goals.collect::<Vec<_>>()
    };
    let id = |id: &str| id.to_owned();
    let shellcheck = (id("shellcheck-lib-sh"), None);
    let step = id("scripts-check");
    let known = of("#!/bin/sh\ngrep x z\n");
    assert_eq!(known, [(step.clone(), None), shellcheck.clone()]);
    let why = "evolve does not know what `frobnicate` does: look first, then take the # away";
    let odd = of("#!/bin/sh\nfrobnicate\n");
    assert_eq!(odd, [(step, Some(id(why))), shellcheck]);
}
