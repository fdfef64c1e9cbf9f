//! What gives way to a goal: only what that goal does, too, and by the id that is written.

use super::*;

fn left_out(files: &Files, wishes: &Wishes) -> Vec<String> {
    propose(files, wishes).left_out
}

/// The goals that run, without those of compilers and linters that are not asked for.
fn tests_of(files: &Files) -> Vec<String> {
    let mut goals = goals_of(files, &PLAIN);
    goals.retain(|goal| goal.starts_with("9 "));
    goals
}

#[test]
fn a_target_that_tests_something_else_is_a_goal_of_its_own() {
    let of_python = "test:\n\tpython3 -m unittest discover -s tests\n";
    let files = Files::of(&[
        ("go.mod", ""),
        ("package.json", r#"{"scripts": {"test": "node --test js"}}"#),
        ("js/a.test.js", ""),
        ("Makefile", of_python),
        ("tests/a.py", ""),
    ])
    .without(&["go", "gofmt"]);
    assert_eq!(
        tests_of(&files),
        [
            "9 package-tests-pass: npm test --silent",
            "9 make-test: make --silent test",
        ]
    );
    let of_node = "test:\n\tnode --test js\n";
    let files = Files::of(&[
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("tests/test_a.py", ""),
        ("js/a.test.js", ""),
        ("Makefile", of_node),
    ]);
    assert_eq!(
        tests_of(&files),
        ["9 tests-pass: pytest -q", "9 make-test: make --silent test"]
    );
}

#[test]
fn a_target_that_only_wraps_what_a_goal_runs_gives_way_to_that_by_its_id() {
    let line = |id: &str| vec![format!("Makefile: test: {id} may tell the same")];
    for recipe in [
        "go test ./...",
        "@echo testing\n\tgo test -race -count=1 ./...",
    ] {
        let makefile = format!("test:\n\t{recipe}\n");
        let files = Files::of(&[("go.mod", ""), ("Makefile", &makefile)]);
        assert_eq!(tests_of(&files), ["9 tests-pass: go test ./..."]);
        assert_eq!(left_out(&files, &PLAIN), line("tests-pass"), "{recipe}");
    }
    let package = r#"{"scripts": {"test": "node --test js"}}"#;
    let files = Files::of(&[
        ("go.mod", ""),
        ("package.json", package),
        ("js/a.test.js", ""),
        ("Makefile", "test:\n\tnpm test\n"),
    ]);
    assert_eq!(left_out(&files, &PLAIN), line("package-tests-pass"));
    let more = Files::of(&[
        ("go.mod", ""),
        ("Makefile", "test:\n\tgo test ./...\n\tmypy .\n"),
    ]);
    assert_eq!(
        tests_of(&more),
        [
            "9 tests-pass: go test ./...",
            "9 make-test: make --silent test"
        ]
    );
}

#[test]
fn a_recipe_is_no_reason_to_miss_another_that_checks_something_else() {
    let package = r#"{"scripts": {"test": "node --test", "lint": "eslint .", "check": "npm run lint && npm test"}}"#;
    let files = Files::of(&[
        ("package.json", package),
        ("justfile", "verify:\n  sh -n v.sh\n"),
        ("v.sh", ""),
    ]);
    let goals = goals_of(&files, &PLAIN);
    assert!(
        goals.contains(&"6 just-verify: just verify".to_owned()),
        "{goals:?}"
    );
    let lines = left_out(&files, &PLAIN);
    assert!(
        !lines.iter().any(|line| line.contains("verify")),
        "{lines:?}"
    );
}

#[test]
fn what_gives_way_to_a_step_of_ci_names_a_goal_that_is_written() {
    let files = Files::of(&[
        ("Makefile", "check: lint\n\techo ok\nlint:\n\tmypy .\n"),
        (
            ".github/workflows/ci.yml",
            "on: push\njobs:\n  t:\n    runs-on: x\n    steps:\n      - run: make check\n",
        ),
    ]);
    let found = propose(&files, &WITH_CI);
    let ids: Vec<&str> = found.proposals.iter().map(|one| one.id.as_str()).collect();
    assert!(!found.left_out.is_empty());
    for line in &found.left_out {
        let told = line.rsplit(": ").next().unwrap();
        let id = told.split(' ').next().unwrap();
        assert!(ids.contains(&id), "{line}: {ids:?}");
    }
}

#[test]
fn scripts_of_one_role_that_call_other_programs_are_goals_too() {
    let package = r#"{"scripts": {"test": "node --test", "test:unit": "mocha unit", "tests": "node --test a",
        "lint": "eslint .", "lint:ci": "eslint --max-warnings=0 ."}}"#;
    let files = Files::of(&[("package.json", package)]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        [
            "9 tests-pass: npm test --silent",
            "9 test-unit: npm run --silent test:unit",
            "7 lint-clean: npm run --silent lint:ci",
        ]
    );
    assert_eq!(
        left_out(&files, &PLAIN),
        [
            "package.json: scripts.tests: tests-pass may tell the same",
            "package.json: scripts.lint: lint-clean may tell the same",
        ]
    );
}

#[test]
fn a_kind_of_project_gives_way_to_no_goal_of_another() {
    let files = Files::of(&[
        ("package.json", r#"{"scripts": {"test": "node --test"}}"#),
        (
            "composer.json",
            r#"{"scripts": {"test": "@php artisan test"}}"#,
        ),
        ("phpunit.xml", ""),
        ("!vendor", ""),
    ]);
    assert_eq!(
        tests_of(&files),
        [
            "9 tests-pass: npm test --silent",
            "9 test: composer run-script test",
        ]
    );
    let files = Files::of(&[
        ("package.json", r#"{"scripts": {"test": "node --test"}}"#),
        ("composer.json", "{}"),
        ("phpunit.xml", ""),
        ("!vendor", ""),
    ]);
    assert_eq!(
        tests_of(&files),
        [
            "9 tests-pass: npm test --silent",
            "9 phpunit-tests-pass: vendor/bin/phpunit",
        ]
    );
    let files = Files::of(&[
        ("Cargo.toml", ""),
        ("configure.ac", ""),
        ("Makefile.in", "all:\n\tcc a.c\n"),
        ("!Makefile", ""),
    ]);
    let mut builds = goals_of(&files, &PLAIN);
    builds.retain(|goal| goal.starts_with("10 "));
    assert_eq!(
        builds,
        [
            "10 builds: cargo build --quiet",
            "10 configure-builds: make --silent",
        ]
    );
}

#[test]
fn what_starts_services_and_ends_is_not_said_to_go_on_itself() {
    let of = |recipe: &str| {
        let makefile = format!("test:\n\t{recipe}\n\tpytest\n");
        left_out(&Files::of(&[("Makefile", &makefile)]), &PLAIN)
    };
    for recipe in ["docker compose up -d", "docker run --detach redis"] {
        let why = format!("it starts services that go on ({recipe})");
        assert_eq!(of(recipe), [format!("Makefile: test: {why}")]);
    }
    let why = "it starts what does not end by itself (docker compose up)";
    assert_eq!(of("docker compose up"), [format!("Makefile: test: {why}")]);
}

#[test]
fn a_step_that_runs_a_script_of_what_is_known_is_a_goal() {
    let of = |body: &str| {
        let workflow = "on: push\njobs:\n  t:\n    runs-on: x\n    steps:\n      - run: sh a.sh\n";
        let files = Files::of(&[
            ("a.sh", body),
            ("README.md", ""),
            (".github/workflows/ci.yml", workflow),
        ]);
        let found = propose(&files, &WITH_CI);
        let mut all = found.proposals.into_iter();
        all.find(|one| one.check == "sh a.sh")
            .map(|one| one.missing.unwrap_or_default())
    };
    assert_eq!(of("grep -q x README.md\n"), Some(String::new()));
    let unknown = "evolve does not know what `odd x` does: look first, then take the # away";
    assert_eq!(of("odd x\n"), Some(unknown.to_owned()));
    assert_eq!(of("echo ok\n"), None);
}

#[test]
fn linters_that_are_set_up_by_a_file_of_theirs_are_goals() {
    for (files, expected) in [
        (
            &[
                ("pyproject.toml", "[tool.pylint.main]\njobs = 0\n"),
                ("a.py", ""),
            ][..],
            "7 pylint-clean: pylint $(git ls-files '*.py')",
        ),
        (
            &[("pylintrc", ""), ("a.py", "")],
            "7 pylint-clean: pylint $(git ls-files '*.py')",
        ),
        (
            &[
                (".pylintrc", ""),
                ("a.py", ""),
                ("poetry.lock", ""),
                (
                    "pyproject.toml",
                    "[tool.poetry.group.dev.dependencies]\npylint = \"3\"\n",
                ),
            ],
            "7 pylint-clean: poetry run pylint $(git ls-files '*.py')",
        ),
        (
            &[
                ("package.json", "{}"),
                (".stylelintrc.json", ""),
                ("!node_modules/.bin/stylelint", ""),
            ],
            "7 stylelint-clean: npx --no-install stylelint --allow-empty-input '**/*.{css,scss}'",
        ),
        (&[(".rubocop.yml", "")], "7 rubocop-clean: rubocop"),
        (
            &[
                (".clang-format", "BasedOnStyle: LLVM"),
                ("src/a.c", ""),
                ("src/a.h", ""),
                ("vendor/b.cpp", ""),
            ],
            "3 clang-format-clean: git ls-files -z -- '*.c' '*.h' ':(exclude,glob)**/vendor/**' | xargs -0 clang-format --dry-run --Werror",
        ),
        (
            &[(".rubocop.yml", ""), ("Gemfile", "")],
            "7 rubocop-clean: bundle exec rubocop",
        ),
    ] {
        assert_eq!(goals_in(files), [expected], "{files:?}");
    }
}

#[test]
fn coverage_and_documentation_are_called_by_what_runs_the_tests() {
    for (lock, call) in [
        ("poetry.lock", "poetry run"),
        ("pdm.lock", "pdm run"),
        ("Pipfile.lock", "pipenv run"),
        ("uv.lock", "uv run --locked"),
    ] {
        let pyproject =
            "[project]\nname = \"a\"\ndependencies = [\"pytest\"]\n[tool.coverage.run]\n";
        let files = Files::of(&[
            (lock, ""),
            ("pyproject.toml", pyproject),
            ("test_a.py", ""),
            ("docs/conf.py", ""),
        ]);
        let found = propose(&files, &PLAIN);
        for (id, expected) in [
            ("tests-pass", "pytest"),
            ("coverage-floor", "pytest -q --cov"),
            ("docs-build", "sphinx-build -W -q docs"),
        ] {
            let one = found.proposals.iter().find(|one| one.id == id).unwrap();
            let begin = format!("{call} {expected}");
            assert!(one.check.starts_with(&begin), "{}", one.check);
        }
        let files = files.without(&["sphinx-build"]);
        let found = propose(&files, &PLAIN);
        let docs = found.lacking().find(|one| one.id == "docs-build").unwrap();
        let why = docs.missing.as_deref().unwrap();
        assert!(why.starts_with("sphinx-build is not installed: "), "{why}");
    }
}
