//! What a project says itself is what counts: its own calls, its own tests, what its targets only call.

use super::*;

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
