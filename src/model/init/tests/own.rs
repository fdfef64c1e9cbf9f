//! What a project says itself is what counts: its own calls, its own tests, what its targets only call.

use super::*;

fn left_out(files: &Files) -> Vec<String> {
    propose(files, &PLAIN).left_out
}

#[test]
fn a_tool_is_called_as_the_project_calls_it_itself() {
    let tox = |call: &str| {
        let settings = "[project]\nname = 'x'\n[tool.pyright]\n[tool.mypy]\n[tool.tox]\nenv_list = ['typing']\n";
        format!("{settings}[tool.tox.env.typing]\ncommands = [{call}]\n")
    };
    for (calls, mypy, pyright) in [
        (
            "['mypy'], ['pyright', '--ignoreexternal', '--verifytypes', 'x']",
            "mypy .",
            "pyright --ignoreexternal --verifytypes x",
        ),
        (
            "['mypy', '--strict', 'src'], ['pyright']",
            "mypy --strict src",
            "pyright",
        ),
        // What does more, or says it to others, is none.
        (
            "['mypy', '--install-types', 'src'], ['pyright', '--outputjson']",
            "mypy .",
            "pyright",
        ),
        // Nor what is called in several ways.
        (
            "['pyright', '--verifytypes', 'x'], ['pyright', '--verifytypes', 'y']",
            "mypy .",
            "pyright",
        ),
    ] {
        let files = Files::of(&[("pyproject.toml", &tox(calls)), ("src/x.py", "")]);
        let found = propose(&files, &PLAIN);
        let check = |id: &str| {
            let mut all = found.proposals.iter().filter(|one| one.id == id);
            all.next().map(|one| one.check.as_str())
        };
        assert_eq!(check("types-fit"), Some(mypy), "{calls}");
        assert_eq!(check("pyright-clean"), Some(pyright), "{calls}");
    }
    let make = [
        ("pyproject.toml", "[tool.pyright]\n"),
        ("a.py", ""),
        ("Makefile", "types:\n\tpyright --warnings src\n"),
    ];
    let checks = goals_in(&make);
    let own = "8 pyright-clean: pyright --warnings src".to_owned();
    assert!(checks.contains(&own), "{checks:?}");
}

#[test]
fn the_environment_that_is_there_is_used_where_what_would_make_one_is_not() {
    let all = [
        (
            "pyproject.toml",
            "[project]\nname = 'x'\n[dependency-groups]\ntests = ['pytest']\n",
        ),
        ("uv.lock", ""),
        ("tests/test_a.py", ""),
        ("!.venv/bin/python", ""),
        ("!.venv/bin/pytest", ""),
    ];
    let tests = |files: &Files| {
        let mut all = goals_of(files, &PLAIN);
        all.retain(|it| it.contains("tests-pass"));
        all
    };
    let without = Files::of(&all).without(&["uv"]);
    assert_eq!(tests(&without), ["9 tests-pass: .venv/bin/pytest -q"]);
    let by_uv = ["9 tests-pass: uv run --locked --group tests pytest -q"];
    assert_eq!(tests(&Files::of(&all)), by_uv);
    let neither = Files::of(&all[..3]).without(&["uv"]);
    let found = propose(&neither, &PLAIN);
    let mut lacking = found.lacking().filter_map(|one| one.missing.as_deref());
    assert!(lacking.any(|why| why.starts_with("uv is not installed")));
}

#[test]
fn of_a_module_that_the_environment_has_nobody_says_that_it_is_not_installed() {
    let all = [
        ("pyproject.toml", "[tool.mypy]\nfiles = ['a.py']\n"),
        ("a.py", "import freezegun\n"),
        ("!.venv/bin/python", ""),
    ];
    let why = |missing: &'static [&'static str]| {
        let found = propose(&Files::of(&all).without(missing), &PLAIN);
        let mut types = found.lacking().filter(|one| one.id == "types-fit");
        types.next().and_then(|one| one.missing.clone())
    };
    let of_tool = "mypy is not in .venv: .venv/bin/pip install mypy";
    assert_eq!(why(&["mypy: freezegun"]).as_deref(), Some(of_tool));
    let both = why(&["mypy: freezegun", ".venv/bin/python: freezegun"]);
    let both = both.unwrap_or_default();
    assert!(both.starts_with("freezegun is not installed"), "{both}");
}

#[test]
fn tests_that_run_what_they_build_of_the_repository_run_at_once() {
    let source = ("tool.c", "int main() {}\n");
    let by_rule = "tool: tool.c\n\t$(CC) -o $@ $<\ntest: tool\n\t./tool | grep -q ok\n";
    let by_itself = "test: tool\n\t./tool --self | grep -q ok\n";
    for text in [by_rule, by_itself] {
        let goals = goals_in(&[source, ("Makefile", text)]);
        assert_eq!(goals, ["9 tests-pass: make --silent test"], "{text}");
    }
    let runs = |files: &[(&str, &str)]| {
        let found = propose(&Files::of(files), &PLAIN);
        found.untested().is_none()
    };
    assert!(runs(&[source, ("Makefile", by_itself)]));
    // What is not built of the repository waits, and what is called as what does harm.
    assert!(!runs(&[("Makefile", by_itself)]));
    let harms = "test: tool\n\t./tool reset\n";
    assert!(!runs(&[source, ("Makefile", harms)]));
}

#[test]
fn a_target_that_only_calls_what_are_goals_is_none() {
    let makefile = "all: lint test\nlint:\n\t! grep -rn TODO src\ntest:\n\tpython3 -m unittest\n";
    let justfile = "check: lint\n\nlint:\n    ! grep -rn TODO src\n";
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: make all\n";
    let files = [
        ("Makefile", makefile),
        ("justfile", justfile),
        (".github/workflows/ci.yml", workflow),
    ];
    let expected = [
        "9 tests-pass: make --silent test",
        "7 lint-clean: make --silent lint",
    ];
    for wishes in [&PLAIN, &WITH_CI] {
        assert_eq!(goals_of(&Files::of(&files), wishes), expected);
    }
    let left_out = left_out(&Files::of(&files));
    for line in [
        "Makefile: all: tests-pass, lint-clean tell the same",
        "justfile: check: lint-clean tells the same",
        "justfile: lint: lint-clean tells the same",
    ] {
        assert!(left_out.iter().any(|it| it == line), "{left_out:?}");
    }
    // Of two names of one the known one of its role counts.
    let alone = [(
        "justfile",
        "check: lint\n\nlint:\n    ! grep -rn TODO src\n",
    )];
    assert_eq!(goals_in(&alone), ["7 lint-clean: just lint"]);
    // One with lines of its own does more.
    let more = "all: lint\n\tmypy .\nlint:\n\truff check .\n";
    let goals = goals_in(&[("Makefile", more)]);
    assert!(
        goals.contains(&"10 builds: make --silent all".to_owned()),
        "{goals:?}"
    );
}

#[test]
fn a_target_that_changes_files_is_left_out_for_that() {
    let makefile = "lint:\n\truff check .\nfmt-check:\n\truff format --check .\nfmt:\n\truff format .\nformat:\n\tclang-format -i *.c\n";
    let left_out = left_out(&Files::of(&[("Makefile", makefile), ("a.c", "")]));
    assert_eq!(
        left_out,
        [
            "Makefile: fmt: it changes files (ruff format .); a goal only looks",
            "Makefile: format: it changes files (clang-format -i *.c); a goal only looks",
        ]
    );
}

#[test]
fn the_id_of_a_step_is_a_few_telling_words() {
    for (text, expected) in [
        ("Run tests", "run-tests"),
        ("cargo fmt -- --check", "cargo-fmt-check"),
        (
            "Ensure we can import attr and attrs packages",
            "import-attr-attrs-packages",
        ),
        (
            "uvx --with=tox-uv --python $(cat .python-version) tox run -e lint",
            "tox-lint",
        ),
        (
            ".venv/bin/python -Ic 'import structlog; print(structlog.__version__)'",
            "python-import-structlog",
        ),
        (
            "Run clippy (on minimum supported rust version to prevent warnings we can't fix)",
            "clippy-minimum-supported-rust",
        ),
        (
            "Supercalifragilisticexpialidociousness",
            "supercalifragilisticexpialidoc",
        ),
        ("if the on and of to by we", "if-the-on-and-of-to-by-we"),
    ] {
        assert_eq!(offer::short(text), expected);
    }
}
