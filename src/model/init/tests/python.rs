//! Projects of Python whose tests need what is not installed.

use super::later::workflow_of;
use super::*;

const PROJECT: (&str, &str) = ("pyproject.toml", "[project]\nname = 'calc'\n");
const WITH_EXTRAS: (&str, &str) = (
    "pyproject.toml",
    "[project]\nname = 'calc'\n[project.optional-dependencies]\ncolor = ['rich']\ntests = ['hypothesis', 'pytest']\n",
);
const TEST: (&str, &str) = (
    "tests/test_a.py",
    "import os\nimport pytest\nfrom hypothesis import given\n",
);

/// Why the tests of these files wait where these modules are missing.
fn why(files: &[(&str, &str)], missing: &'static [&'static str]) -> Option<String> {
    let found = propose(&Files::of(files).without(missing), &PLAIN);
    reads_back(&found);
    let tests = found.proposals.iter().find(|one| one.id == "tests-pass");
    tests.unwrap().missing.clone()
}

#[test]
fn tests_wait_that_import_what_others_made_and_is_not_installed() {
    const MISSING: &[&str] = &["pytest: hypothesis", "pytest: rich", "pytest: pytest_cov"];
    let lacks = |what: &str, how: &str| Some(format!("{what} is not installed: {how}"));
    let named = || lacks("hypothesis", "tests/test_a.py imports it");
    let source = |text: &'static str| ("src/calc/__init__.py", text);
    let path = ("pytest.ini", "[pytest]\npythonpath = src\n");
    for (files, expected) in [
        (vec![PROJECT, TEST], named()),
        (
            vec![WITH_EXTRAS, TEST],
            lacks("hypothesis", "pip install --editable '.[tests]'"),
        ),
        // What is imported under a condition, or stands in a text, may be there or not.
        (
            vec![
                PROJECT,
                (
                    "tests/test_a.py",
                    "import pytest\ntry:\n    import hypothesis\nexcept ImportError:\n    pass\n",
                ),
            ],
            None,
        ),
        (
            vec![
                PROJECT,
                (
                    "tests/test_a.py",
                    "import pytest\nCODE = \"\"\"\nimport hypothesis\n\"\"\"\n",
                ),
            ],
            None,
        ),
        (
            vec![
                PROJECT,
                (
                    "tests/test_a.py",
                    "import pytest\npytest.importorskip('hypothesis')\nimport hypothesis\n",
                ),
            ],
            None,
        ),
        (vec![PROJECT, TEST, ("tests/hypothesis.py", "")], None),
        // What the project's own code imports is imported with it.
        (
            vec![
                WITH_EXTRAS,
                path,
                source("from .out import show\n"),
                ("src/calc/out.py", "import rich.console\n"),
                ("tests/test_a.py", "import pytest\nimport calc\n"),
            ],
            lacks("rich", "pip install --editable '.[tests,color]'"),
        ),
        (
            vec![
                PROJECT,
                path,
                source(""),
                ("src/calc/out.py", "import rich.console\n"),
                ("tests/test_a.py", "import pytest\nimport calc\n"),
            ],
            None,
        ),
        // Tests that pytest is not told to run are none.
        (
            vec![
                (
                    "pyproject.toml",
                    "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
                ),
                ("tests/test_a.py", "import pytest\n"),
                ("bench/test_b.py", "import hypothesis\n"),
            ],
            None,
        ),
        (
            vec![
                PROJECT,
                ("pytest.ini", "[pytest]\naddopts = --cov\n"),
                ("tests/test_a.py", "import pytest\n"),
            ],
            lacks("pytest_cov", "the configuration of pytest imports it"),
        ),
        (vec![WITH_EXTRAS, TEST, ("uv.lock", "")], None),
    ] {
        assert_eq!(why(&files, MISSING), expected, "{files:?}");
        assert_eq!(why(&files, &[]), None, "{files:?}");
    }
}

#[test]
fn what_is_advised_to_be_installed_is_what_the_project_declares_for_its_tests() {
    const MISSING: &[&str] = &["pytest: hypothesis"];
    let setup = "setup(name='x', extras_require={'docs': ['sphinx'], 'testing': ['hypothesis']})";
    for (files, expected) in [
        (
            vec![(
                "pyproject.toml",
                "[project]\nname = 'x'\n[dependency-groups]\ndev = ['ruff']\ntest = ['hypothesis']\n",
            )],
            "--editable . hypothesis",
        ),
        (
            vec![(
                "pyproject.toml",
                "[project]\nname = 'x'\n[dependency-groups]\ndev = ['ruff']\nfuzz = ['hypothesis']\n",
            )],
            "--editable . ruff hypothesis",
        ),
        (
            vec![(
                "pyproject.toml",
                "[project]\nname = 'x'\n[dependency-groups]\ntest_a = ['pytest>=8', {include-group = 'tests'}]\n\
                    tests = ['hypothesis', {include-group = 'test-a'}]\n",
            )],
            "--editable . hypothesis 'pytest>=8'",
        ),
        (vec![("setup.py", setup)], "--editable '.[testing]'"),
        (
            vec![
                ("setup.py", ""),
                (
                    "setup.cfg",
                    "[options.extras_require]\ndocs = sphinx\ntests =\n  hypothesis\n",
                ),
            ],
            "--editable '.[tests]'",
        ),
        (
            vec![
                WITH_EXTRAS,
                (
                    "tox.ini",
                    "[testenv]\nextras = color\ndeps =\n  -c con.txt\n  hypothesis>=6\n  py27: mock\n  coverage[toml]\n",
                ),
            ],
            "--editable '.[color]' 'hypothesis>=6' 'coverage[toml]'",
        ),
        (
            vec![(
                "pyproject.toml",
                "[project]\nname = 'x'\n[tool.tox.env_run_base]\ndeps = ['hypothesis']\n",
            )],
            "--editable . hypothesis",
        ),
        (
            vec![
                ("setup.py", ""),
                ("tox.ini", "[testenv]\ndeps = -r{toxinidir}/reqs/all.txt\n"),
                ("reqs/all.txt", "hypothesis\n"),
            ],
            "--editable . --requirement reqs/all.txt",
        ),
        (
            vec![
                PROJECT,
                (
                    "tox.ini",
                    "[testenv]\ndependency_groups =\n  tests: tests\n  mypy: typing\n",
                ),
            ],
            "--editable . --group tests",
        ),
        (
            vec![
                ("requirements.txt", "rich\n"),
                ("requirements-dev.txt", "hypothesis\n"),
            ],
            "--requirement requirements.txt --requirement requirements-dev.txt",
        ),
    ] {
        let files = [files, vec![TEST]].concat();
        let expected = format!("hypothesis is not installed: pip install {expected}");
        assert_eq!(why(&files, MISSING), Some(expected), "{files:?}");
    }
    let lacks = "pytest is not installed: pip install --editable '.[tests]'";
    let without = why(&[WITH_EXTRAS, TEST], &["pytest"]);
    assert_eq!(without.as_deref(), Some(lacks));
    let plain = why(&[PROJECT, TEST], &["pytest"]);
    let lacks = "pytest is not installed: pip install --editable . pytest";
    assert_eq!(plain.as_deref(), Some(lacks));
}

#[test]
fn tox_and_nox_are_proposed_where_nothing_that_runs_does_the_same() {
    const MISSING: &[&str] = &["pytest: hypothesis"];
    let tox = (
        "tox.ini",
        "[tox]\nenvlist = py3{11,12}, lint, docs\n[testenv]\ncommands = pytest {posargs}\n\
            [testenv:lint]\ncommands = flake8 src\n[testenv:docs]\ncommands = black .\n",
    );
    let nox = (
        "noxfile.py",
        "@nox.session\ndef tests(session):\n    session.run('python', 'a/check.py')\n\n\
            @nox.session\ndef mypy(session):\n    session.run('mypy', 'src')\n",
    );
    let table = (
        "pyproject.toml",
        "[tool.tox.env_run_base]\ncommands = [['pytest', '-q']]\n",
    );
    for (files, missing, expected) in [
        (
            vec![tox, ("a/check.py", "")],
            &[][..],
            &["9 tests-pass: tox -q -e py", "7 lint-clean: tox -q -e lint"][..],
        ),
        (
            vec![nox, ("a/check.py", "")],
            &[],
            &["9 tests-pass: nox -s tests", "8 types-fit: nox -s mypy"],
        ),
        (
            vec![tox, TEST],
            &[],
            &["9 tests-pass: pytest -q", "7 lint-clean: tox -q -e lint"],
        ),
        (vec![table, TEST], MISSING, &["9 tests-pass: tox -q -e py"]),
        (vec![table, TEST], &["pytest: hypothesis", "tox"], &[]),
        // One that waits is no better than another one.
        (
            vec![
                (
                    "pyproject.toml",
                    "[tool.tox.env_run_base]\ncommands = [['odd', 'pytest']]\n",
                ),
                TEST,
            ],
            MISSING,
            &[],
        ),
        // Of two that could, one is enough.
        (
            vec![table, nox, ("a/check.py", "")],
            &[],
            &["9 tests-pass: tox -q -e py", "8 types-fit: nox -s mypy"],
        ),
    ] {
        let files = Files::of(&files).without(missing);
        assert_eq!(goals_of(&files, &PLAIN), expected, "{:?}", files.texts);
    }
    let left_out = propose(&Files::of(&[tox, TEST]), &PLAIN).left_out;
    assert_eq!(
        left_out,
        [
            "tox.ini: py: tests-pass may tell the same",
            "tox.ini: docs: it changes files (black .); a goal only looks"
        ]
    );
    let files = Files::of(&[tox, ("a/check.py", "")]).without(&["tox"]);
    let found = propose(&files, &PLAIN);
    let mut why = found.lacking().map(|one| one.missing.clone().unwrap());
    assert_eq!(
        why.next().as_deref(),
        Some("tox is not installed: pip install tox")
    );
}

#[test]
fn a_site_that_ci_builds_among_the_files_is_built_elsewhere() {
    let job = serde_json::json!({});
    let workflow =
        super::later::workflow_of(&job, &["pip install mkdocs", "mkdocs build --strict"]);
    let files = Files::of(&[
        ("mkdocs.yml", "site_name: x\n"),
        (".github/workflows/a.yml", &workflow),
    ]);
    let own = "4 docs-build: mkdocs build --strict --site-dir \"$(mktemp -d)\"";
    assert_eq!(goals_of(&files, &WITH_CI), [own]);
    let left = propose(&files, &WITH_CI).left_out;
    let told = |line: &String| line.ends_with("mkdocs build --strict: docs-build tells the same");
    assert!(left.iter().any(told), "{left:?}");
    // What is not installed here says nothing yet.
    let files = files.without(&["mkdocs"]);
    let all = propose(&files, &WITH_CI).proposals;
    let checks: Vec<&str> = all.iter().map(|one| one.check.as_str()).collect();
    assert!(
        checks.contains(&"mkdocs build --strict --site-dir \"$(mktemp -d)\""),
        "{checks:?}"
    );
}

#[test]
fn what_sphinx_builds_in_ci_is_built_elsewhere() {
    let steps = [
        "pip install sphinx",
        "sphinx-build docs docs/_build",
        "make -C docs html",
        "sphinx-build -b linkcheck docs docs/_build",
        "sphinx-build manual out",
    ];
    let workflow = super::later::workflow_of(&serde_json::json!({}), &steps);
    let makefile =
        "SPHINXBUILD = sphinx-build\nBUILDDIR = _build\n%:\n\t$(SPHINXBUILD) -M $@ . $(BUILDDIR)\n";
    let files = Files::of(&[
        ("docs/conf.py", ""),
        ("docs/Makefile", makefile),
        ("manual/conf.py", ""),
        (".github/workflows/a.yml", &workflow),
    ]);
    assert_eq!(
        goals_of(&files, &WITH_CI),
        [
            "4 docs-build: sphinx-build -W -q docs \"$(mktemp -d)\"",
            "4 sphinx-build-linkcheck-docs: sphinx-build -b linkcheck docs \"$(mktemp -d)\"",
            "4 sphinx-build-manual-out: sphinx-build manual \"$(mktemp -d)\"",
        ]
    );
    let left = propose(&files, &WITH_CI).left_out;
    for step in &steps[1..3] {
        let told = format!("{step}: docs-build tells the same");
        assert!(left.iter().any(|line| line.ends_with(&told)), "{left:?}");
    }
}

#[test]
fn documentation_is_built_in_projects_of_any_kind_where_what_it_is_made_with_is_there() {
    const MISSING: &[&str] = &[
        "sphinx-build: myst_parser",
        "sphinx-build: sphinxcontrib.bibtex",
        "sphinx-build: furo",
        "mkdocs: material",
    ];
    let sphinx = |text: &'static str| ("docs/source/conf.py", text);
    let builds = |tool: &str| format!("4 docs-build: {tool} \"$(mktemp -d)\"");
    let by_sphinx = builds("sphinx-build -W -q docs/source");
    let by_mkdocs = builds("mkdocs build --strict --site-dir");
    let bare = "extensions = [\n  'sphinx.ext.autodoc',  # 'x'\n  # 'myst_parser',\n  'own',\n]\n";
    let myst = "extensions = ['sphinx.ext.autodoc', 'myst_parser']\n";
    let bibtex = "extensions = [\"sphinxcontrib.bibtex\"]\n";
    let theme = "html_theme = 'furo'\n";
    let material = "site_name: a\ntheme:\n  palette: x\n  name: material\n";
    for (files, expected, lacks) in [
        (vec![("go.txt", ""), sphinx("")], &by_sphinx, None),
        (vec![sphinx(bare), ("docs/own.py", "")], &by_sphinx, None),
        (
            vec![sphinx(myst)],
            &by_sphinx,
            Some("myst_parser is not installed: pip install myst-parser"),
        ),
        (
            vec![sphinx(bibtex), ("docs/requirements.txt", "")],
            &by_sphinx,
            Some(
                "sphinxcontrib.bibtex is not installed: pip install --requirement docs/requirements.txt",
            ),
        ),
        (
            vec![
                sphinx(theme),
                (
                    "pyproject.toml",
                    "[project]\nname = 'x'\n[project.optional-dependencies]\ndocs = ['furo']\n",
                ),
            ],
            &by_sphinx,
            Some("furo is not installed: pip install --editable '.[docs]'"),
        ),
        (vec![("mkdocs.yml", "")], &by_mkdocs, None),
        (
            vec![("mkdocs.yaml", material)],
            &by_mkdocs,
            Some("material is not installed: pip install mkdocs-material"),
        ),
    ] {
        let found = propose(&Files::of(&files).without(MISSING), &PLAIN);
        let docs = found.proposals.iter().find(|one| one.id == "docs-build");
        assert_eq!(docs.unwrap().missing.as_deref(), lacks, "{files:?}");
        assert_eq!(goals_in(&files), [expected.as_str()], "{files:?}");
    }
    let files = [sphinx(""), ("requirements/docs.txt", "")];
    let found = propose(&Files::of(&files).without(&["sphinx-build"]), &PLAIN);
    let why = found.lacking().next().unwrap().missing.as_deref();
    assert_eq!(
        why,
        Some("sphinx-build is not installed: pip install --requirement requirements/docs.txt")
    );
}

#[test]
fn coverage_waits_where_what_runs_the_tests_does_not_bring_it() {
    let with = |cov: &str| {
        let pyproject = format!(
            "[project]\nname = 'x'\n[dependency-groups]\ndev = ['pytest'{cov}]\n[tool.coverage.run]\n"
        );
        let files = [
            ("pyproject.toml", &*pyproject),
            ("uv.lock", ""),
            ("tests/test_a.py", "import pytest\n"),
        ];
        let found = propose(&Files::of(&files), &PLAIN);
        let mut all = found.proposals.into_iter();
        all.find(|one| one.id == "coverage-floor").unwrap()
    };
    let brought = with(", 'pytest-cov'");
    let check = "uv run --locked pytest -q --cov --cov-report=term";
    assert_eq!((&*brought.check, brought.missing), (check, None));
    let why = "pytest-cov is not among the packages that the project's tests have: uv add --dev pytest-cov";
    assert_eq!(with("").missing.as_deref(), Some(why));
}

#[test]
fn mypy_is_given_a_folder_where_its_configuration_names_no_files() {
    let with = "[mypy]\nfiles = src,\n  tests\n";
    let without = "[files]\nfiles = a\n[mypy]\nstrict = true\n[mypy-a.*]\nfiles = b\n";
    for (files, expected) in [
        (vec![("setup.cfg", with)], "mypy"),
        (vec![("setup.cfg", "[mypy]\npackages = a\n")], "mypy"),
        (vec![("setup.cfg", without)], "mypy ."),
        (vec![("setup.cfg", with), ("mypy.ini", without)], "mypy ."),
        (
            vec![
                ("setup.cfg", with),
                ("pyproject.toml", "[tool.mypy]\nstrict = true\n"),
            ],
            "mypy .",
        ),
        (
            vec![("pyproject.toml", "[tool.mypy]\nmodules = ['a']\n")],
            "mypy",
        ),
    ] {
        let all = [&files[..], &[("a/b.py", "")]].concat();
        let goal = format!("8 types-fit: {expected}");
        let goals = goals_in(&all);
        assert!(goals.contains(&goal), "{files:?} {goals:#?}");
    }
}

#[test]
fn what_only_the_environment_of_the_project_has_is_not_called_uninstalled() {
    let why = |there: &[(&str, &str)]| {
        let files = [&[("Makefile", "check: ; ruff check\n")], there].concat();
        let found = propose(&Files::of(&files).without(&["ruff"]), &PLAIN);
        let mut all = found.proposals.into_iter();
        all.find_map(|one| one.missing)
    };
    assert_eq!(why(&[]).as_deref(), Some("ruff is not installed"));
    assert_eq!(
        why(&[("!.venv/bin/ruff", "")]).as_deref(),
        Some(
            "ruff is in .venv/bin, which is not on the PATH: PATH=$PWD/.venv/bin:$PATH make --silent check"
        )
    );
}

#[test]
fn unittest_runs_where_the_projects_packages_are() {
    let case = ("tests/test_a.py", "import unittest\n");
    for (lock, expected) in [
        ("uv.lock", "uv run --locked python"),
        ("poetry.lock", "poetry run python"),
        ("pdm.lock", "pdm run python"),
        ("Pipfile.lock", "pipenv run python"),
        ("other", "python3"),
    ] {
        let files = [("pyproject.toml", ""), (lock, ""), case];
        let expected = format!("9 tests-pass: {expected} -m unittest discover -s tests");
        assert_eq!(goals_in(&files), [expected]);
    }
    // A second goal of this name is called by who runs it.
    let table = (
        "pyproject.toml",
        "[tool.tox.env_run_base]\ncommands = [['pytest', '-q']]\n",
    );
    let files = Files::of(&[table, ("uv.lock", ""), case]).without(&["uv"]);
    assert_eq!(goals_of(&files, &PLAIN), ["9 tox-tests-pass: tox -q -e py"]);
}

#[test]
fn what_uv_does_not_bring_on_this_python_waits_and_the_projects_own_places_and_extras_count() {
    let project = "[project]\nname = 'a'\n[project.optional-dependencies]\nb = ['bson']\n[dependency-groups]\nlint = ['ruff']\n\
        test = ['pytest', \"mypy; python_version == '3.14' and implementation_name == 'cpython'\"]\n\
        [tool.mypy]\n[tool.ruff.format]\n[tool.pytest]\n";
    let justfile = "lint:\n  uv run --group lint ruff check src/ tests bench\n  uv run ruff format --check src tests docs/conf.py\n\
        fix:\n  ruff check --fix src/ tests bench\ntest *args='-x':\n  uv run --all-extras --group test pytest {{args}}\n";
    let version = |version: &'static str| {
        let files = [
            ("pyproject.toml", project),
            ("uv.lock", ""),
            ("Justfile", justfile),
            ("bench/a.py", ""),
            ("docs/conf.py", ""),
            ("src/a.py", ""),
            ("tests/test_a.py", "def test_a(): pass\n"),
            ("!.venv/pyvenv.cfg", ""),
            (".python-version", version),
        ];
        propose(&Files::of(&files), &PLAIN)
    };
    let found = version("3.12");
    let shown: Vec<_> = found
        .runnable()
        .map(|one| one.check.as_str())
        .filter(|check| check.starts_with("uv"))
        .collect();
    assert_eq!(
        shown,
        [
            "uv run --locked --all-extras --group test pytest -q",
            "uv run --locked --group lint ruff check src/ tests bench",
            "uv run --locked sphinx-build -W -q docs \"$(mktemp -d)\"",
            "uv run --locked --group lint ruff format --check src tests docs/conf.py",
        ]
    );
    let waits = |found: &Found| {
        let mut all = found.lacking();
        all.find(|one| one.id == "types-fit")?.missing.clone()
    };
    let why = "uv brings mypy only where python_version == '3.14' and implementation_name == 'cpython' holds";
    assert_eq!(waits(&found).as_deref(), Some(why));
    assert_eq!(waits(&version("3.14.1\n")), None);
    assert_eq!(waits(&version("cpython\n")).as_deref(), Some(why));
}

#[test]
fn formatters_pass_by_the_environment_of_the_project_whatever_its_configuration_passes_by() {
    let of = |files: &[(&str, &str)]| {
        let files = [files, &[("a.py", "")]].concat();
        let mut goals = goals_in(&files);
        goals.retain(|one| one.contains("black") || one.contains("isort"));
        goals
    };
    let own = "[tool.black]\nexclude = 'migrations'\n[tool.isort]\nskip = ['migrations']\n";
    assert_eq!(
        of(&[("pyproject.toml", own)]),
        [
            r"3 black-clean: black --check --quiet --extend-exclude '/\.?venv/' .",
            "2 imports-sorted: isort --check-only --quiet --extend-skip .venv --extend-skip venv .",
        ]
    );
    let plain = [
        "3 black-clean: black --check --quiet .",
        "2 imports-sorted: isort --check-only --quiet .",
    ];
    let more = own
        .replace("exclude", "extend-exclude")
        .replace("skip", "extend_skip");
    let told = own.replace("migrations", ".venv");
    for own in ["[tool.black]\n[tool.isort]\n", &more, &told] {
        assert_eq!(of(&[("pyproject.toml", own)]), plain, "{own}");
    }
    let cfg = [
        ("setup.cfg", ""),
        (".isort.cfg", "[settings]\nskip = a,b\n"),
    ];
    assert_eq!(
        of(&cfg),
        ["2 imports-sorted: isort --check-only --quiet --extend-skip .venv --extend-skip venv ."]
    );
}

#[test]
fn what_keeps_the_packages_adds_one() {
    for (lock, add) in [
        ("uv.lock", "uv add --dev"),
        ("poetry.lock", "poetry add --group dev"),
        ("requirements.txt", "pip install"),
    ] {
        let table = "[tool.coverage]\n[project]\ndependencies = ['pytest']\n[tool.pytest]\n";
        let files = [
            ("pyproject.toml", table),
            (lock, ""),
            ("test_a.py", "def test_a(): pass\n"),
        ];
        let files = Files::of(&files).without(&["pytest", "coverage"]);
        let found = propose(&files, &PLAIN);
        let goal = found.lacking().find(|one| one.id == "coverage-floor");
        let why = goal.unwrap().missing.clone().unwrap();
        assert!(why.ends_with(&format!(": {add} pytest-cov")), "{why}");
    }
}

#[test]
fn one_formatter_is_proposed_the_one_that_the_project_calls_itself() {
    let of = |table: &str, more: &[(&str, &str)]| {
        let files = [&[("pyproject.toml", table), ("a.py", "")], more].concat();
        let mut goals = goals_in(&files);
        goals.retain(|one| one.starts_with("3 "));
        goals
    };
    let ruff = &["3 fmt-clean: ruff format --check"][..];
    let black = &["3 black-clean: black --check --quiet ."][..];
    let both = "[tool.black]\n[tool.ruff.format]\n";
    let ci = |run: &str| workflow_of(&serde_json::json!({}), &[run]);
    let (ci_of_ruff, ci_of_black) = (ci("uv run ruff format --check ."), ci("black --check ."));
    let workflow = ".github/workflows/ci.yml";
    let hooks = "repos:\n- repo: x\n  hooks: [{id: ruff-format}]\n";
    for (table, more, expected) in [
        (both, &[][..], ruff),
        (both, &[(workflow, &*ci_of_ruff)], ruff),
        (both, &[(workflow, &*ci_of_black)], black),
        (both, &[("Makefile", "fmt:\n\tblack .\n")], black),
        (both, &[("justfile", "fmt:\n  ruff format\n")], ruff),
        (
            both,
            &[("tox.ini", "[testenv:lint]\ncommands = black --check .\n")],
            black,
        ),
        // What CI does counts before what somebody may do by hand.
        (
            both,
            &[
                (workflow, &*ci_of_black),
                ("justfile", "fmt:\n  ruff format\n"),
            ],
            black,
        ),
        ("[tool.black]\n[tool.ruff]\n", &[], black),
        (
            "[tool.black]\n[tool.ruff]\n",
            &[(workflow, &*ci_of_ruff)],
            ruff,
        ),
        (
            "[tool.black]\n[tool.ruff]\n",
            &[(".pre-commit-config.yaml", hooks)],
            ruff,
        ),
        // What no goal comes of stands in nobody's way.
        (
            "[tool.ruff.format]\n",
            &[("tox.ini", "[testenv:x]\ncommands = black .\n")],
            ruff,
        ),
        // Where each formats a part, both are called.
        (
            both,
            &[("Makefile", "fmt:\n\truff format a\n\tblack b\n")],
            &[black[0], ruff[0]],
        ),
        (
            "[project]\nname = 'a'\n[dependency-groups]\ndev = ['black', 'ruff']\n[tool.black]\n",
            &[],
            black,
        ),
    ] {
        let mut goals = of(table, more);
        goals.sort();
        assert_eq!(goals, expected, "{table} {more:?}");
    }
    let files = [("pyproject.toml", both), ("a.py", "")];
    assert_eq!(
        propose(&Files::of(&files), &PLAIN).left_out,
        ["pyproject.toml: tool.black: fmt-clean is there for that"]
    );
}

#[test]
fn pytest_is_handed_what_the_project_hands_it_where_its_settings_name_no_folder() {
    let tests = [
        ("tests/test_a.py", "def test_a(): pass\n"),
        ("bench/test_b.py", "def test_b(): pass\n"),
    ];
    let of = |more: &[(&str, &str)]| {
        let goals = goals_in(&[&tests[..], more].concat());
        let mut goals = goals.into_iter().filter(|one| one.contains("tests-pass"));
        goals.next().unwrap_or_default()
    };
    let whole = "9 tests-pass: pytest -q";
    let some = "9 tests-pass: pytest -q tests";
    let setup = ("setup.cfg", "[metadata]\n");
    let named = ("setup.cfg", "[tool:pytest]\ntestpaths = bench\n");
    let just = (
        "justfile",
        "test *args='tests':\n  uv run pytest -n auto -p no:x --cov a --cov-report=xml {{args}}\n",
    );
    let workflow = workflow_of(&serde_json::json!({}), &["pytest -v tests/"]);
    for (more, expected) in [
        (&[setup][..], whole),
        (&[setup, just], some),
        (&[named, just], whole),
        (
            &[
                setup,
                (
                    "Makefile",
                    "ARGS ?= tests\ntest:\n\tpython -m pytest $(ARGS)\n",
                ),
            ],
            some,
        ),
        (
            &[
                setup,
                ("tox.ini", "[testenv]\ncommands = pytest {posargs:tests}\n"),
            ],
            some,
        ),
        (
            &[setup, (".github/workflows/ci.yml", &*workflow)],
            "9 tests-pass: pytest -q tests/",
        ),
        // A part of them, or one that is not there, tells nothing of the whole.
        (
            &[
                setup,
                ("justfile", "test:\n  pytest\nfast:\n  pytest tests\n"),
            ],
            whole,
        ),
        (
            &[
                setup,
                (
                    "justfile",
                    "test:\n  pytest tests\nfast:\n  pytest -k fast tests/test_a.py\n",
                ),
            ],
            some,
        ),
        (&[setup, ("justfile", "test:\n  pytest spec\n")], whole),
        (&[setup, ("justfile", "test t:\n  pytest {{t}}\n")], whole),
    ] {
        assert_eq!(of(more), expected, "{more:?}");
    }
}

#[test]
fn uv_brings_what_the_project_has_it_bring_where_it_calls_a_tool() {
    let project = "[project]\nname = 'a'\n[project.optional-dependencies]\nb = ['bson']\nc = ['numpy']\n\
        [dependency-groups]\ndev = ['ruff']\ntest = ['pytest', 'mypy']\ndocs = ['sphinx']\n[tool.mypy]\nfiles = 'a'\n[tool.pytest]\n";
    let of = |more: &[(&str, &str)]| {
        let own = [
            ("pyproject.toml", project),
            ("uv.lock", ""),
            ("tests/test_a.py", "def test_a(): pass\n"),
        ];
        let found = propose(&Files::of(&[&own[..], more].concat()), &PLAIN);
        let check = |id: &str| {
            let mut all = found.proposals.iter().filter(|one| one.id == id);
            let check = all.next().map(|one| one.check.clone()).unwrap();
            check.strip_prefix("uv run --locked ").unwrap().to_owned()
        };
        (check("tests-pass"), check("types-fit"))
    };
    let ci = |runs: &[&str]| workflow_of(&serde_json::json!({}), runs);
    let all = ci(&["uv sync --all-extras --group docs", "uv run pytest"]);
    let some = ci(&[
        "uv sync --extra b --extra odd --group=test",
        "uv run pytest",
        "uv run mypy",
    ]);
    let every = ci(&[
        "uv sync --all-groups --all-extras --locked",
        "uv run mypy .",
    ]);
    let at_once = ci(&["uv run --extra c --with x pytest"]);
    let workflow = ".github/workflows/ci.yml";
    let tox = "[testenv]\nextras = b\ndependency_groups = test\ncommands = pytest\n";
    let own = ("--group test pytest -q", "--group test mypy");
    for (more, tests, types) in [
        (&[][..], own.0, own.1),
        (
            &[(workflow, &*all)],
            "--all-extras --group docs --group test pytest -q",
            own.1,
        ),
        (
            &[(workflow, &*some)],
            "--extra b --group test pytest -q",
            "--extra b --group test mypy",
        ),
        (
            &[(workflow, &*every)],
            own.0,
            "--all-extras --all-groups mypy",
        ),
        (
            &[(workflow, &*at_once)],
            "--extra c --group test pytest -q",
            own.1,
        ),
        (
            &[(
                "justfile",
                "sync:\n  uv sync --extra b\ntest: sync\n  uv run --no-sync pytest\n",
            )],
            "--extra b --group test pytest -q",
            own.1,
        ),
        (
            &[("tox.ini", tox)],
            "--extra b --group test pytest -q",
            own.1,
        ),
        (
            &[(
                "tox.ini",
                "[testenv]\ncommands_pre = uv sync --all-extras\ncommands = pytest\n",
            )],
            own.0,
            own.1,
        ),
        (
            &[(
                "tox.ini",
                "[testenv]\ncommands =\n  uv sync --all-extras\n  uv run pytest\n",
            )],
            "--all-extras --group test pytest -q",
            own.1,
        ),
    ] {
        assert_eq!(of(more), (tests.to_owned(), types.to_owned()), "{more:?}");
    }
}

#[test]
fn coverage_is_measured_as_the_project_measures_it_itself() {
    let test = (
        "tests/test_a.py",
        "import unittest\nclass A(unittest.TestCase): pass\n",
    );
    let function = ("tests/test_a.py", "def test_a(): pass\n");
    let setup = ("setup.py", "");
    let of = |files: &[(&str, &str)]| {
        let found = propose(&Files::of(files), &PLAIN);
        reads_back(&found);
        let mut all = found.proposals.into_iter();
        let goal = all.find(|one| one.id == "coverage-floor")?;
        Some((goal.check, goal.measured?.floor, goal.missing))
    };
    let make = "coverage:\n\tcoverage run --include=\"a/*.py\" -m unittest\n\tcoverage report --show-missing --fail-under=99\n";
    let by_unittest =
        "coverage run '--include=a/*.py' -m unittest discover -s tests && coverage report";
    assert_eq!(
        of(&[setup, test, ("Makefile", make)]),
        Some((by_unittest.to_owned(), 99.0, None))
    );
    assert_eq!(of(&[setup, test]), None);
    let project = "[dependency-groups]\ntests = ['pytest']\ncov = ['coverage']\n[tool.coverage.run]\nparallel = true\n[tool.pytest]\n";
    let tox = "[testenv]\ndependency_groups = tests, cov\ncommands = coverage run -m pytest {posargs:-n auto}\n";
    let uv = "uv run --locked --group tests --group cov";
    assert_eq!(
        of(&[
            ("pyproject.toml", project),
            ("uv.lock", ""),
            ("tox.ini", tox),
            function
        ]),
        Some((
            format!(
                "{uv} coverage erase && {uv} coverage run -m pytest -q && {uv} coverage combine --quiet && {uv} coverage report"
            ),
            80.0,
            None
        ))
    );
    let of_some = tox.replace("[testenv]", "[testenv:py3{9,14}-tests]");
    let files = [
        ("pyproject.toml", project),
        ("tox.ini", &*of_some),
        function,
    ];
    let check = of(&files).unwrap().0;
    assert!(check.contains("coverage run -m pytest -q && "), "{check}");
    let of_several = of_some.replace("-tests]", "-tests{,-x}]");
    let files = [
        ("pyproject.toml", project),
        ("tox.ini", &*of_several),
        function,
    ];
    let check = of(&files).unwrap().0;
    assert!(check.contains("coverage run -m pytest -q && "), "{check}");
    // What pytest-cov is there for stays its own.
    let with = project.replace("'coverage'", "'pytest-cov'");
    let (check, ..) = of(&[("pyproject.toml", &with), ("tox.ini", tox), function]).unwrap();
    assert_eq!(check, "pytest -q --cov --cov-report=term");
    let venv = [
        setup,
        test,
        ("Makefile", make),
        ("!.venv/bin/python", ""),
        ("!.venv/bin/coverage", ""),
    ];
    let in_venv = by_unittest.replace("coverage r", ".venv/bin/coverage r");
    assert_eq!(of(&venv).unwrap().0, in_venv);
}

#[test]
fn types_are_checked_as_the_project_checks_them_itself() {
    let of = |more: &[(&str, &str)]| {
        let own = [
            ("a/b.py", ""),
            ("c/d.pyi", ""),
            ("setup.cfg", "[mypy]\nstrict = true\n"),
        ];
        let found = propose(&Files::of(&[&own[..], more].concat()), &PLAIN);
        let goal = found
            .proposals
            .into_iter()
            .find(|one| one.id == "types-fit")
            .unwrap();
        (goal.check, goal.missing)
    };
    let tox = |commands: &str| format!("[testenv:mypy]\ncommands =\n{commands}");
    let one = tox("  mypy --strict a\n");
    let two = tox("  mypy a\n  mypy c/d.pyi\n");
    let workflow = workflow_of(&serde_json::json!({}), &["python -m mypy a c"]);
    let stubs = "check:\n\tstubtest a\n";
    let why = |what: &str| Some(format!("{what}: look first, then take the # away"));
    for (more, check, missing) in [
        (&[][..], "mypy .", None),
        (&[("tox.ini", &*one)], "mypy --strict a", None),
        (
            &[(".github/workflows/ci.yml", &*workflow)],
            "mypy a c",
            None,
        ),
        (
            &[("tox.ini", &*two)],
            "mypy .",
            why("the project has mypy look at other places, in several calls"),
        ),
        (
            &[("Makefile", stubs)],
            "mypy .",
            why("the project calls stubtest, and not mypy"),
        ),
        (
            &[("Makefile", stubs), ("tox.ini", &*one)],
            "mypy --strict a",
            None,
        ),
    ] {
        assert_eq!(of(more), (check.to_owned(), missing), "{more:?}");
    }
    let project = "[dependency-groups]\nmypy = ['pytest-mypy-plugins']\n[tool.mypy]\n";
    let files = [("pyproject.toml", project), ("uv.lock", ""), ("a.py", "")];
    assert_eq!(
        goals_in(&files),
        ["8 types-fit: uv run --locked --group mypy mypy ."]
    );
}

#[test]
fn types_wait_for_the_packages_that_what_is_looked_at_imports() {
    let of = |config: &str, tox: &str, test: &str, missing: &'static [&'static str]| {
        let files = [
            ("pyproject.toml", "[project]\nname = 'foo'\nversion = '1'\n"),
            ("foo/__init__.py", "import os\n"),
            ("setup.cfg", config),
            ("tox.ini", tox),
            ("tests/test_x.py", test),
        ];
        let found = propose(&Files::of(&files).without(missing), &PLAIN);
        reads_back(&found);
        let mut all = found.proposals.into_iter();
        all.find(|one| one.id == "types-fit").unwrap().missing
    };
    let plain = "[mypy]\nstrict = true\n";
    let tox = |places: &str| {
        format!(
            "[testenv]\ndeps =\n  pytest\n  hypothesis\ncommands = pytest\n[testenv:mypy]\ncommands = mypy {places}\n"
        )
    };
    let test = "from hypothesis import given\nfrom foo import f\n";
    let missing = &["mypy: hypothesis"];
    let why = "hypothesis is not installed: pip install --editable . pytest hypothesis";
    let files = "[mypy]\nfiles = foo, tests/test_x.py\n";
    let waits = Some(why.to_owned());
    for (config, places, test, expected) in [
        (plain, "foo tests", test, waits.clone()),
        (plain, ".", test, waits.clone()),
        (plain, "foo", test, None),
        (files, "", test, waits),
        ("[mypy]\nfiles = foo\n", "", test, None),
        ("[mypy]\nignore_missing_imports = True\n", ".", test, None),
        (
            "[mypy]\n[mypy-hypothesis.*]\nignore_missing_imports = True\n",
            ".",
            test,
            None,
        ),
        (
            plain,
            ".",
            "from hypothesis import given  # type: ignore\n",
            None,
        ),
        (plain, ".", "import os\n", None),
    ] {
        assert_eq!(
            of(config, &tox(places), test, missing),
            expected,
            "{config} {places} {test}"
        );
    }
    assert_eq!(of(plain, &tox("."), test, &[]), None);
}

#[test]
fn django_tests_and_looks_at_itself_by_the_projects_python() {
    const MANAGE: &str = "import os\n\ndef main():\n    os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site.settings')\n    \
        from django.core.management import execute_from_command_line\n";
    let own = [
        ("manage.py", MANAGE),
        ("site/settings.py", "import environ\n"),
        (
            "app/tests.py",
            "from django.test import TestCase\nclass A(TestCase):\n    def test_a(self): pass\n",
        ),
        ("!.venv/bin/python", ""),
    ];
    let of = |more: &[(&'static str, &'static str)]| goals_in(&[&own, more].concat());
    let all = |python: &str| {
        [
            format!("9 tests-pass: {python} manage.py test"),
            format!("7 django-clean: {python} manage.py check"),
        ]
    };
    assert_eq!(of(&[]), all(".venv/bin/python"));
    assert_eq!(of(&[("uv.lock", "")]), all("uv run --locked python"));
    let migrations =
        "6 migrations-complete: .venv/bin/python manage.py makemigrations --check --dry-run";
    let with_models = of(&[("app/migrations/0001_initial.py", "")]);
    assert_eq!(with_models[2..], [migrations]);
    let clean = "7 django-clean: .venv/bin/python manage.py check";
    for set_up in [
        (
            "pytest.ini",
            "[pytest]\nDJANGO_SETTINGS_MODULE = site.settings\n",
        ),
        ("requirements.txt", "django\npytest-django\n"),
    ] {
        let test = ("app/test_a.py", "import pytest\n");
        let pytest = [test, set_up, ("!.venv/bin/pytest", "")];
        assert_eq!(
            of(&pytest),
            ["9 tests-pass: .venv/bin/pytest -q", clean],
            "{set_up:?}"
        );
    }
    // One of tests that have none yet, or of a manage.py of another kind, says nothing.
    let empty = ("app/tests.py", "# Create your tests here.\n");
    assert_eq!(goals_in(&[own[0], empty, own[3]]), [clean]);
    assert_eq!(goals_in(&[("manage.py", "import flask\n")]), [""; 0]);
    // Beside what asks for packages in a folder it is the project.
    assert_eq!(
        of(&[("docs/requirements.txt", "")]),
        all(".venv/bin/python")
    );
    let why = |missing, more: &[(&str, &str)]| {
        let files = Files::of(&[&own, more].concat()).without(missing);
        let found = propose(&files, &PLAIN);
        reads_back(&found);
        let all: Vec<_> = found.lacking().map(|one| one.missing.clone()).collect();
        assert_eq!(all.len(), 2, "{found:#?}");
        all.into_iter().flatten().next()
    };
    for (missing, more, expected) in [
        (
            &[".venv/bin/python: django"][..],
            &[][..],
            "django is not installed: .venv/bin/pip install django",
        ),
        (
            &[".venv/bin/python: django"],
            &[("requirements.txt", "Django>=5\n")],
            "django is not installed: .venv/bin/pip install --requirement requirements.txt",
        ),
        (
            &[".venv/bin/python: environ"],
            &[],
            "environ is not installed: site/settings.py imports it",
        ),
    ] {
        assert_eq!(why(missing, more).as_deref(), Some(expected));
    }
}
