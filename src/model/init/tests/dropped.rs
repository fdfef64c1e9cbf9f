//! What gives way to a goal: only what that goal does, too, and by the id that is written.

use super::*;

fn left_out(files: &Files, wishes: &Wishes) -> Vec<String> {
    propose(files, wishes).left_out
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
