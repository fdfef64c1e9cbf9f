use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::model::goals::read_goals;
use crate::model::yardstick::Protection;

mod callers;
mod dropped;
mod known;
mod later;
mod own;
mod python;
mod scripts;
mod ways;

use later::workflow_of;

/// A repository of these files with their texts; what begins with `!` is there and ignored by git.
pub(super) struct Files {
    files: Vec<String>,
    texts: BTreeMap<String, String>,
    ignored: BTreeSet<String>,
    missing: &'static [&'static str],
    /// What was read, in order.
    read: RefCell<Vec<String>>,
    /// How often all files were looked through.
    looked: Cell<usize>,
}

impl Files {
    pub(super) fn of(all: &[(&str, &str)]) -> Files {
        let mut files = Files {
            files: Vec::new(),
            texts: BTreeMap::new(),
            ignored: BTreeSet::new(),
            missing: &[],
            read: RefCell::default(),
            looked: Cell::default(),
        };
        for (path, text) in all {
            match path.strip_prefix('!') {
                Some(path) => drop(files.ignored.insert(path.to_owned())),
                None => files.files.push((*path).to_owned()),
            }
            files.texts.insert((*path).to_owned(), (*text).to_owned());
        }
        files.files.sort();
        files
    }

    pub(super) fn without(mut self, missing: &'static [&'static str]) -> Files {
        self.missing = missing;
        self
    }
}

impl Look for Files {
    fn files(&self) -> &[String] {
        self.looked.set(self.looked.get() + 1);
        &self.files
    }

    fn has(&self, path: &str) -> bool {
        self.files.iter().any(|one| one == path)
    }

    fn has_below(&self, folder: &str) -> bool {
        let inside = format!("{folder}/");
        let mut files = self.files.iter();
        files.any(|file| folder.is_empty() || file.starts_with(&inside))
    }

    fn read(&self, path: &str) -> Option<String> {
        self.read.borrow_mut().push(path.to_owned());
        self.texts.get(path).cloned()
    }

    fn is_there(&self, path: &str) -> bool {
        self.ignored.contains(path) || self.texts.contains_key(path)
    }

    fn is_executable(&self, path: &str) -> bool {
        path.contains("gradlew") || path.contains("-x")
    }

    fn finds(&self, program: &str) -> bool {
        !self.missing.contains(&program)
    }

    fn imports(&self, program: &str, module: &str) -> bool {
        !self
            .missing
            .contains(&format!("{program}: {module}").as_str())
    }

    fn has_toolchain(&self, name: &str) -> bool {
        !self.missing.contains(&format!("rust: {name}").as_str())
    }

    fn has_target(&self, name: &str) -> bool {
        self.has_toolchain(name)
    }

    fn rust_version(&self) -> Option<&str> {
        Some("1.70.0")
    }

    fn is_set(&self, _variable: &str) -> bool {
        false
    }
}

pub(super) const PLAIN: Wishes = Wishes {
    coverage: COVERAGE,
    from_ci: false,
};
const WITH_CI: Wishes = Wishes {
    coverage: COVERAGE,
    from_ci: true,
};

/// What runs of these files, as `weight id: check`; what every repository has is left out.
fn goals_of(files: &Files, wishes: &Wishes) -> Vec<String> {
    let found = propose(files, wishes);
    reads_back(&found);
    let shown = |one: &Proposal| format!("{} {}: {}", one.weight, one.id, one.check);
    let own = offered(&found).filter(|one| one.id != "no-conflict-markers");
    own.map(shown).collect()
}

/// What runs, or waits only until somebody has looked at it.
fn offered(found: &Found) -> impl Iterator<Item = &Proposal> {
    found.proposals.iter().filter(|one| {
        let mut why = one.missing.iter();
        why.all(|why| why.contains("look first, then") || why.starts_with("there is no "))
    })
}

pub(super) fn goals_in(all: &[(&str, &str)]) -> Vec<String> {
    goals_of(&Files::of(all), &PLAIN)
}

/// Asserts that what is written is read as it was meant, without a warning.
#[track_caller]
fn reads_back(found: &Found) {
    let page = file(found, "here");
    let (goals, warnings) = read_goals("GOALS.yaml", page.as_bytes())
        .unwrap_or_else(|problems| panic!("{problems:?}\n{page}"));
    assert_eq!(warnings, vec![], "{page}");
    let read: Vec<_> = goals
        .goals
        .iter()
        .map(|goal| {
            (
                goal.id.clone(),
                goal.description.clone(),
                goal.check.trim().to_owned(),
                goal.weight,
            )
        })
        .collect();
    let meant: Vec<_> = found
        .runnable()
        .map(|one| {
            (
                one.id.clone(),
                one.description.clone(),
                one.check.trim().to_owned(),
                one.weight,
            )
        })
        .collect();
    assert_eq!(read, meant, "{page}");
    // What is commented out is one step from being a goal.
    let is_item = |line: &&str| line.trim_start().starts_with("# - id: ");
    assert_eq!(
        page.lines().filter(is_item).count(),
        found.lacking().count(),
        "{page}"
    );
}

#[test]
fn an_empty_repository_still_has_a_goal() {
    let found = propose(&Files::of(&[]), &PLAIN);
    let ids: Vec<&str> = found.proposals.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["no-conflict-markers"]);
    reads_back(&found);
}

#[test]
fn cargo_builds_tests_lints_and_documents() {
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = ['a']\n"),
        ("Cargo.lock", ""),
        ("a/Cargo.toml", ""),
    ];
    assert_eq!(
        goals_in(&files),
        [
            "10 builds: cargo build --quiet --workspace --locked",
            "9 tests-pass: cargo test --quiet --workspace --locked",
            "7 clippy-clean: cargo clippy --quiet --workspace --all-targets --locked -- -D warnings",
            "5 coverage-floor: cargo llvm-cov --quiet --workspace --locked --lcov --output-path target/coverage.info",
            "4 docs-build: RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps --locked",
            "3 fmt-clean: cargo fmt --all --check",
        ]
    );
    let set_up = [
        ("Cargo.toml", "[package]\nname = 'x'\n"),
        ("deny.toml", ""),
        (".config/nextest.toml", ""),
        ("tarpaulin.toml", "[all]\nfail-under = 91.5\n"),
    ];
    let found = propose(&Files::of(&set_up), &PLAIN);
    assert_eq!(found.name.as_deref(), Some("x"));
    let floor = found.proposals.iter().find_map(|one| one.measured.as_ref());
    assert_eq!(
        floor.map(|floor| (floor.floor, floor.is_own)),
        Some((91.5, true))
    );
    assert!(!found.asks_for_coverage());
    let goals = goals_in(&set_up).join("\n");
    assert!(
        goals.contains("cargo nextest run") && goals.contains("cargo deny"),
        "{goals}"
    );
}

#[test]
fn examples_in_the_documentation_are_tests_beside_nextest() {
    const WORKSPACE: [(&str, &str); 6] = [
        ("Cargo.toml", "[workspace]\nmembers = ['a']\n"),
        ("Cargo.lock", ""),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        (".config/nextest.toml", ""),
        ("a/src/lib.rs", ""),
        (".gitignore", "target/\n"),
    ];
    const NEXTEST: &str = "9 tests-pass: cargo nextest run --workspace --locked";
    const DOCTESTS: &str = "9 doctests-pass: cargo test --doc --quiet --workspace --locked";
    fn tests(more: &[(&str, &str)], wishes: &Wishes) -> Vec<String> {
        let files = Files::of(&[&WORKSPACE[..], more].concat());
        let goals = goals_of(&files, wishes).into_iter();
        let mut tests: Vec<String> = goals.filter(|one| one.starts_with("9 ")).collect();
        tests.sort();
        tests
    }
    assert_eq!(tests(&[], &PLAIN), [DOCTESTS, NEXTEST]);
    let files = Files::of(&WORKSPACE).without(&["cargo-nextest"]);
    let all = goals_of(&files, &PLAIN);
    assert!(!all.iter().any(|one| one.contains("--doc ")), "{all:?}");
    let all = goals_in(&[&WORKSPACE[..4], &[("a/src/main.rs", "")]].concat());
    assert!(!all.iter().any(|one| one.contains("--doc ")), "{all:?}");
    // What runs both tells nothing more, and where CI runs both at once it takes the place of both.
    let make = ("Makefile", "test:\n\tcargo test --workspace --locked\n");
    assert_eq!(tests(&[make], &PLAIN), [DOCTESTS, NEXTEST]);
    let ci = |steps: &str| {
        let text = format!("on: [push]\njobs: {{t: {{steps: [{steps}]}}}}\n");
        tests(&[(".github/workflows/ci.yml", &text)], &WITH_CI)
    };
    assert_eq!(
        ci("{run: cargo nextest run --workspace --locked}"),
        [DOCTESTS, NEXTEST]
    );
    assert_eq!(
        ci("{run: cargo nextest run --workspace}, {run: cargo test --workspace --doc}"),
        [
            "9 doctests-pass: cargo test --workspace --doc",
            "9 tests-pass: cargo nextest run --workspace"
        ]
    );
    assert_eq!(
        ci("{run: cargo test --workspace --locked}"),
        ["9 tests-pass: cargo test --workspace --locked"]
    );
    assert_eq!(
        ci("{run: cargo test --workspace --all-targets}"),
        [
            DOCTESTS,
            "9 tests-pass: cargo test --workspace --all-targets"
        ]
    );
}

#[test]
fn clippy_leaves_out_benches_that_alone_need_a_nightly_compiler_and_says_so() {
    const FEATURE: &str = "#![feature(test)]\nextern crate test;\n";
    let bench = ("benches/b.rs", FEATURE);
    let all = "--all-targets";
    for (others, expected) in [
        (vec![bench], "--bins --tests --examples"),
        (
            vec![bench, ("src/lib.rs", "")],
            "--lib --bins --tests --examples",
        ),
        (vec![bench, ("src/lib.rs", FEATURE)], all),
        (vec![bench, ("tests/a.rs", FEATURE)], all),
        (vec![bench, ("rust-toolchain", "nightly-2026-01-01")], all),
        (
            vec![
                ("benches/b.rs", "// #![feature(test)]\n"),
                ("src/lib.rs", ""),
            ],
            all,
        ),
    ] {
        let files = [vec![("Cargo.toml", "")], others].concat();
        let found = propose(&Files::of(&files), &PLAIN);
        reads_back(&found);
        let mut goals = found.proposals.iter();
        let lint = goals.find(|one| one.id == "clippy-clean").unwrap();
        assert_eq!(
            lint.check,
            format!("cargo clippy --quiet {expected} -- -D warnings"),
            "{files:?}"
        );
        let why = "Cargo.toml, without benches as benches/b.rs needs a nightly compiler";
        let source = if expected == all { "Cargo.toml" } else { why };
        assert_eq!(lint.source, source, "{files:?}");
    }
}

#[test]
fn scripts_of_package_json_are_run_by_the_manager_of_the_lock_file() {
    let package = r#"{"name": "x", "scripts": {"test": "node --test", "lint": "eslint . --fix", "lint:check": "eslint .",
        "build": "tsc", "typecheck": "tsc --noEmit", "docs:build": "typedoc --watch"}}"#;
    for (lock, run, test) in [
        ("package-lock.json", "npm run --silent", "npm test --silent"),
        ("pnpm-lock.yaml", "pnpm run", "pnpm run test"),
        ("yarn.lock", "yarn run", "yarn run test"),
        ("bun.lockb", "bun run", "bun run test"),
    ] {
        assert_eq!(
            goals_in(&[("package.json", package), (lock, "")]),
            [
                format!("10 builds: {run} build"),
                format!("9 tests-pass: {test}"),
                format!("8 types-fit: {run} typecheck"),
                format!("7 lint-clean: {run} lint:check"),
            ]
        );
    }
}

#[test]
fn what_a_package_manager_does_itself_is_no_script() {
    for (package, lock, expected) in [
        (
            r#"{"scripts": {"test": "bun test", "build": "bun build a.ts"}}"#,
            "bun.lock",
            &["10 builds: bun run build", "9 tests-pass: bun run test"][..],
        ),
        (
            r#"{"scripts": {"check-audit": "npm audit"}}"#,
            "package-lock.json",
            &["6 check-audit: npm run --silent check-audit"],
        ),
        (r#"{"scripts": {"test": "bun run test"}}"#, "bun.lock", &[]),
    ] {
        let files = [("package.json", package), (lock, ""), ("!node_modules", "")];
        assert_eq!(goals_in(&files), expected, "{package}");
    }
}

#[test]
fn a_test_script_that_says_there_is_none_and_one_that_never_ends_are_left_out() {
    let package = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1", "build": "tsc --watch"}}"#;
    let files = Files::of(&[("package.json", package)]);
    assert_eq!(goals_of(&files, &PLAIN), Vec::<String>::new());
    assert_eq!(
        propose(&files, &PLAIN).left_out,
        [
            "package.json: scripts.build: it does not end by itself",
            "package.json: scripts.test: there are no tests yet"
        ]
    );
}

#[test]
fn tests_that_node_runs_itself_are_a_goal_where_no_script_is_there_for_tests() {
    const NONE: &str = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    const ASSERTS: &str = "import test from 'node:test';\n";
    let goal = "9 tests-pass: node --test";
    for (package, path, text, expected) in [
        (NONE, "test/a.test.js", ASSERTS, Some(goal)),
        (NONE, "a.test.mjs", ASSERTS, Some(goal)),
        (NONE, "test.js", "require('node:test')", Some(goal)),
        (NONE, "test/deep/a.js", ASSERTS, Some(goal)),
        ("{}", "test/a.js", ASSERTS, Some(goal)),
        (NONE, "test/a.js", "require('assert')", None),
        (NONE, "tests/a.js", ASSERTS, None),
        (NONE, "fixtures/a.test.js", ASSERTS, None),
        (
            r#"{"scripts": {"test": "npm publish"}}"#,
            "test.js",
            ASSERTS,
            None,
        ),
        (
            r#"{"devDependencies": {"mocha": "1"}}"#,
            "test.js",
            ASSERTS,
            None,
        ),
    ] {
        let files = [
            ("package.json", package),
            (path, text),
            ("!node_modules", ""),
        ];
        let goals = goals_in(&files);
        assert_eq!(goals, Vec::from_iter(expected), "{package} {path}");
    }
    let files = [("web/package.json", NONE), ("web/test.js", ASSERTS)];
    assert_eq!(
        goals_in(&files),
        ["9 web-tests-pass: cd web && node --test"]
    );
    let found = propose(&Files::of(&files), &PLAIN);
    let told = "web/package.json: scripts.test: it says that there are none; web-tests-pass runs node --test";
    assert_eq!(found.left_out, [told]);
}

#[test]
fn packages_that_are_not_installed_make_goals_for_later() {
    let package = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}"#;
    let files = Files::of(&[("package.json", package), ("package-lock.json", "")]);
    assert_eq!(goals_of(&files, &PLAIN), Vec::<String>::new());
    let found = propose(&files, &PLAIN);
    let why: Vec<_> = found
        .lacking()
        .map(|one| (one.id.as_str(), one.missing.as_deref().unwrap()))
        .collect();
    let missing = "the packages of package.json are not installed: npm ci";
    assert_eq!(why, [("tests-pass", missing), ("coverage-floor", missing)]);
    let installed = [
        ("package.json", package),
        ("package-lock.json", ""),
        ("!node_modules", ""),
        ("!node_modules/.bin/jest", ""),
    ];
    assert_eq!(
        goals_in(&installed),
        [
            "9 tests-pass: npm test --silent",
            "5 coverage-floor: npx --no-install jest --ci --coverage --coverageReporters=text",
        ]
    );
}

#[test]
fn a_snapshot_that_is_missing_fails_where_tests_are_run_to_measure_them() {
    let package = |folder: &str| {
        let package = r#"{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "2", "@vitest/coverage-v8": "2"}}"#;
        let installed = [
            ("package.json", package),
            ("package-lock.json", ""),
            ("!node_modules", ""),
            ("!node_modules/.bin/vitest", ""),
        ];
        let place = |name: &str| match name.strip_prefix('!') {
            Some(name) => format!("!{folder}{name}"),
            None => format!("{folder}{name}"),
        };
        installed.map(|(name, text)| (place(name), text))
    };
    for (folder, expected) in [
        (
            "",
            "5 coverage-floor: CI=1 npx --no-install vitest run --coverage --coverage.reporter=text",
        ),
        (
            "web/",
            "5 web-coverage-floor: cd web && CI=1 npx --no-install vitest run --coverage --coverage.reporter=text",
        ),
    ] {
        let files = package(folder);
        let files: Vec<_> = files.iter().map(|(name, text)| (&**name, *text)).collect();
        let goals = goals_in(&files);
        assert!(goals.contains(&expected.to_owned()), "{goals:#?}");
    }
}

#[test]
fn linters_with_a_configuration_run_unless_a_script_calls_them() {
    let package = |scripts: &str| format!(r#"{{"scripts": {{{scripts}}}, "prettier": {{}}}}"#);
    let bins = [
        ("!node_modules/.bin/eslint", ""),
        ("!node_modules/.bin/prettier", ""),
    ];
    let files = |scripts: &str| {
        let json = package(scripts);
        let mut all = vec![
            ("package.json", json.as_str()),
            ("eslint.config.js", ""),
            (".yamllint", ""),
        ];
        all.extend(bins);
        goals_in(&all)
    };
    assert_eq!(
        files(""),
        [
            "7 eslint-clean: npx --no-install eslint .",
            "3 prettier-clean: npx --no-install prettier --check .",
            "2 yamllint-clean: yamllint .",
        ]
    );
    assert_eq!(
        files(r#""lint": "eslint src && prettier --check .""#),
        [
            "7 lint-clean: npm run --silent lint",
            "2 yamllint-clean: yamllint ."
        ]
    );
}

#[test]
fn yamllint_passes_by_the_goals_file_that_is_written_where_it_looks() {
    let begins = |files: &[(&str, &str)], wishes: &Wishes| {
        let page = file(&propose(&Files::of(files), wishes), "x");
        page.starts_with("# yamllint disable-file\n# yaml-language-server: ")
    };
    let workflow = workflow_of(
        &serde_json::json!({}),
        &["pip install yamllint", "yamllint -s ."],
    );
    let ci = (".github/workflows/a.yml", workflow.as_str());
    let hooks = "repos: [{repo: https://github.com/adrienverge/yamllint, rev: v1, hooks: [{id: yamllint}]}]\n";
    assert!(begins(&[(".yamllint", "")], &PLAIN));
    assert!(begins(&[(".pre-commit-config.yaml", hooks)], &PLAIN));
    assert!(begins(&[ci], &WITH_CI));
    assert!(!begins(&[ci], &PLAIN));
    assert!(!begins(&[("a.yml", "a: 1\n")], &PLAIN));
}

#[test]
fn go_modules_have_goals_each() {
    let files = [
        ("go.mod", ""),
        ("a.go", ""),
        ("testdata/b.go", ""),
        ("tools/go.mod", ""),
        (".golangci.yml", ""),
    ];
    assert_eq!(
        goals_in(&files)[..6],
        [
            "10 builds: go build ./...",
            "10 tools-builds: cd tools && go build ./...",
            "9 tests-pass: go test ./...",
            "9 tools-tests-pass: cd tools && go test ./...",
            "7 vet-clean: go vet ./...",
            "7 golangci-clean: golangci-lint run",
        ]
        .map(str::to_owned)
    );
    let goals = goals_in(&files).join("\n");
    assert!(
        goals.contains("3 gofmt-clean: ! gofmt -l . | grep -vE '(^|/)(vendor|testdata)/'"),
        "{goals}"
    );
    assert!(
        goals.contains("3 tools-gofmt-clean: cd tools && ! gofmt -l . | grep ."),
        "{goals}"
    );
}

#[test]
fn python_tools_run_as_they_are_configured() {
    let pyproject = "[project]\nname = 'x'\n[project.optional-dependencies]\ntest = ['pytest>=8', 'pytest-cov']\n\
        [dependency-groups]\ndev = ['ruff', 'mypy']\n[tool.ruff.format]\n[tool.mypy]\nfiles = ['src']\n\
        [tool.pytest.ini_options]\n[tool.coverage.report]\nfail_under = 90\n";
    let with = |lock: &'static str| {
        [
            ("pyproject.toml", pyproject),
            ("tests/test_a.py", ""),
            (lock, ""),
        ]
    };
    assert_eq!(
        goals_in(&with("uv.lock")),
        [
            "9 tests-pass: uv run --locked --extra test pytest -q",
            "8 types-fit: uv run --locked mypy",
            "7 ruff-clean: uv run --locked ruff check",
            "5 coverage-floor: uv run --locked --extra test pytest -q --cov --cov-report=term",
            "3 fmt-clean: uv run --locked ruff format --check",
        ]
    );
    assert_eq!(
        goals_in(&with("poetry.lock"))[1],
        "8 types-fit: poetry run mypy"
    );
    assert_eq!(goals_in(&with("other"))[1], "8 types-fit: mypy");
    let found = propose(
        &Files::of(&with("other")).without(&["mypy", "ruff", "coverage"]),
        &PLAIN,
    );
    let lacking: Vec<_> = found.lacking().map(|one| one.id.as_str()).collect();
    assert_eq!(
        lacking,
        ["types-fit", "ruff-clean", "coverage-floor", "fmt-clean"]
    );
}

#[test]
fn coverage_is_asked_of_pytest_unless_its_own_options_do() {
    for (file, text, expected) in [
        (
            "tox.ini",
            "[testenv]\ncommands = pytest --cov humanize\n",
            "pytest -q --cov --cov-report=term",
        ),
        (
            "setup.cfg",
            "[tool:pytest]\naddopts =\n  -q\n  --cov=a\n",
            "pytest -q --cov-report=term",
        ),
        (
            "pytest.ini",
            "[pytest]\naddopts = -v --cov-config=pyproject.toml\n",
            "pytest -q --cov --cov-report=term",
        ),
        (
            "pytest.ini",
            "[pytest]\naddopts = --cov\n",
            "pytest -q --cov-report=term",
        ),
    ] {
        let files = [
            ("pyproject.toml", "[tool.coverage.run]\n"),
            ("conftest.py", ""),
            ("test_a.py", ""),
            (file, text),
        ];
        assert_eq!(
            goals_in(&files)[1],
            format!("5 coverage-floor: {expected}"),
            "{file}"
        );
    }
}

#[test]
fn tests_of_a_python_project_wait_where_it_has_to_be_installed_and_is_not() {
    const MISSING: &[&str] = &["pytest: calc", ".venv/bin/pytest: calc", "python3: calc"];
    let project = ("pyproject.toml", "[project]\nname = 'calc'\n");
    let source = ("src/calc/__init__.py", "");
    let test = ("tests/test_a.py", "import pytest\nfrom calc import add\n");
    let lacks = |why: &str| Some(format!("calc is not installed: {why}"));
    let pip = || lacks("pip install --editable .");
    for (files, expected) in [
        (vec![project, source, test], pip()),
        (vec![project, ("src/calc.py", ""), test], pip()),
        // Without a folder of its own for sources, it depends on where the tests are.
        (vec![project, ("calc/__init__.py", ""), test], pip()),
        (
            vec![
                project,
                source,
                test,
                ("!.venv/bin/pytest", ""),
                ("!.venv/bin/python", ""),
            ],
            lacks(".venv/bin/pip install --editable ."),
        ),
        (
            vec![
                project,
                source,
                ("tests/test_a.py", "import unittest\nfrom calc.a import b\n"),
            ],
            pip(),
        ),
        (
            vec![
                project,
                source,
                test,
                (".venv/bin/pytest", ""),
                (".venv/bin/python", ""),
            ],
            None,
        ),
        (vec![("requirements.txt", ""), source, test], None),
        // Compiled, or made as it is built.
        (vec![project, test], pip()),
        (
            vec![project, source, ("tests/test_a.py", "import pytest\n")],
            None,
        ),
        (
            vec![
                project,
                source,
                test,
                ("uv.lock", ""),
                ("requirements.txt", "pytest"),
            ],
            None,
        ),
        (
            vec![
                project,
                source,
                test,
                ("pytest.ini", "[pytest]\npythonpath = src\n"),
            ],
            None,
        ),
        (
            vec![
                project,
                source,
                test,
                ("tests/conftest.py", "import sys\nsys.path.append('src')\n"),
            ],
            None,
        ),
        (
            vec![project, ("calc.py", ""), test, ("conftest.py", "")],
            None,
        ),
        (
            vec![project, ("calc.py", ""), test, ("tests/__init__.py", "")],
            None,
        ),
        (
            vec![
                project,
                ("calc.py", ""),
                ("tests/test_a.py", "import unittest, calc\n"),
            ],
            None,
        ),
    ] {
        let found = propose(&Files::of(&files).without(MISSING), &PLAIN);
        reads_back(&found);
        let tests = found.proposals.iter().find(|one| one.id == "tests-pass");
        assert_eq!(tests.unwrap().missing, expected, "{files:?}");
        let ready = propose(&Files::of(&files), &PLAIN);
        let tests = ready.proposals.iter().find(|one| one.id == "tests-pass");
        assert_eq!(tests.unwrap().missing, None, "{files:?}");
    }
}

#[test]
fn python_without_pytest_is_tested_by_unittest() {
    assert_eq!(
        goals_in(&[("setup.py", ""), ("tests/test_a.py", "import unittest")]),
        ["9 tests-pass: python3 -m unittest discover -s tests"]
    );
    assert_eq!(
        goals_in(&[("pyproject.toml", ""), ("src/lib.rs", "")]),
        Vec::<String>::new()
    );
}

#[test]
fn a_floor_for_coverage_names_the_folder_that_it_is_of() {
    let files = [
        ("lib/core/pyproject.toml", "[tool.coverage.run]\n"),
        ("lib/core/conftest.py", ""),
        ("lib/core/test_a.py", ""),
    ];
    let found = propose(&Files::of(&files), &PLAIN);
    let mut said = found.proposals.iter().map(|one| one.description.as_str());
    assert!(said.any(|said| said == "Tests run at least 80 % of the lines (in lib/core)"));
}

#[test]
fn unittest_is_proposed_where_it_runs_all_tests_and_told_where_it_finds_them() {
    let case = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
    let function = "from calc import add\n\ndef test_a():\n    assert add(1, 2) == 3\n";
    let by_pytest = "9 tests-pass: pytest -q";
    let discover = |more: &str| format!("9 tests-pass: python3 -m unittest discover{more}");
    for (files, expected) in [
        (&[("test_a.py", case)][..], discover("")),
        (
            &[("tests/a_test.py", case)],
            discover(" -s tests -p '*_test.py'"),
        ),
        (
            &[("tests/unit/test_a.py", case)],
            discover(" -s tests/unit"),
        ),
        (
            &[
                ("tests/unit/__init__.py", ""),
                ("tests/unit/test_a.py", case),
            ],
            discover(" -s tests"),
        ),
        // What is a package is imported as one, as `from .a import b` needs it.
        (
            &[("tests/__init__.py", ""), ("tests/test_a.py", case)],
            discover(" -s tests -t ."),
        ),
        (
            &[
                ("tests/__init__.py", ""),
                ("tests/unit/__init__.py", ""),
                ("tests/unit/test_a.py", case),
            ],
            discover(" -s tests -t ."),
        ),
        (&[("tests/test_a.py", function)], by_pytest.to_owned()),
        (
            &[("tests/test_a.py", case), ("tests/test_b.py", function)],
            by_pytest.to_owned(),
        ),
        (
            &[
                ("tests/test_a.py", ""),
                ("tests/test_b.py", "import pytest"),
            ],
            by_pytest.to_owned(),
        ),
    ] {
        let files = [&[("pyproject.toml", "[project]\nname = 'calc'\n")], files].concat();
        assert_eq!(goals_in(&files), [expected], "{files:?}");
    }
}

#[test]
fn maven_and_gradle_run_by_their_wrappers() {
    assert_eq!(
        goals_in(&[
            ("pom.xml", "<artifactId>spotless-maven-plugin</artifactId>"),
            ("mvnw", "")
        ]),
        [
            "10 builds: sh ./mvnw --quiet --batch-mode -DskipTests test-compile",
            "9 tests-pass: sh ./mvnw --quiet --batch-mode test",
            "3 fmt-clean: sh ./mvnw --quiet --batch-mode spotless:check",
        ]
    );
    assert_eq!(
        goals_in(&[
            ("build.gradle.kts", "id(\"detekt\")"),
            ("settings.gradle.kts", ""),
            ("gradlew", "")
        ]),
        [
            "10 builds: ./gradlew --quiet --no-daemon assemble testClasses",
            "9 tests-pass: ./gradlew --quiet --no-daemon test",
            "7 check-clean: ./gradlew --quiet --no-daemon check -x test",
        ]
    );
    let found = propose(&Files::of(&[("pom.xml", "")]).without(&["mvn"]), &PLAIN);
    assert_eq!(found.lacking().count(), 2);
}

#[test]
fn what_jacoco_covers_is_a_goal_where_its_report_can_be_read() {
    let maven = "<artifactId>jacoco-maven-plugin</artifactId>";
    for (file, text, starts) in [
        (
            "pom.xml",
            maven,
            "5 coverage-floor: mvn --quiet --batch-mode verify &&\nfind . -path '*/site/jacoco/*.csv' ",
        ),
        (
            "build.gradle",
            "id 'jacoco'\nreports { csv.required = true }",
            "5 coverage-floor: gradle --quiet --no-daemon test jacocoTestReport &&\nfind . -path '*/reports/jacoco/*/*.csv' ",
        ),
    ] {
        let goals = goals_in(&[(file, text)]);
        assert!(
            goals.iter().any(|goal| goal.starts_with(starts)),
            "{goals:?}"
        );
        reads_back(&propose(&Files::of(&[(file, text)]), &PLAIN));
    }
    let goals = goals_in(&[("build.gradle", "id 'jacoco'")]);
    assert!(
        !goals.iter().any(|goal| goal.contains("coverage")),
        "{goals:?}"
    );
}

#[test]
fn make_and_just_speak_where_nothing_else_does() {
    let makefile = "CC := gcc\nall: a.o\n\ta\ntest check: all\n\t./t\n.PHONY: test\n%.o: %.c\n";
    assert_eq!(
        goals_in(&[("Makefile", makefile)]),
        [
            "10 builds: make --silent all",
            "9 tests-pass: make --silent test",
        ]
    );
    let left_out = propose(&Files::of(&[("Makefile", makefile)]), &PLAIN).left_out;
    assert_eq!(left_out, ["Makefile: check: tests-pass tells the same"]);
    let justfile = "set shell := ['sh']\n# all\ntest:\n  ./t\nlint file='a':\n  x\nbuild target:\n  y\nstart a b='c':\n  z\n";
    assert_eq!(
        goals_in(&[("justfile", justfile)]),
        ["9 tests-pass: just test", "7 lint-clean: just lint"]
    );
    let found = propose(&Files::of(&[("justfile", justfile)]), &PLAIN);
    assert!(
        found
            .left_out
            .contains(&"justfile: build, start: they need arguments".to_owned()),
        "{:?}",
        found.left_out
    );
    let found = propose(
        &Files::of(&[("Makefile", makefile), ("go.mod", "")]),
        &PLAIN,
    );
    let make = found.proposals.iter().find(|one| one.id == "make-test");
    assert_eq!(make.unwrap().check, "make --silent test");
}

#[test]
fn what_is_called_a_check_and_changes_the_machine_is_left_out_in_scripts_recipes_and_packages() {
    for (body, told) in [
        ("crontab -r", "crontab -r"),
        ("rm -rf \"$HOME/victim\"", "rm -rf "),
        ("docker system prune -af", "docker system prune -af"),
        ("npx prisma migrate reset", "prisma migrate reset"),
    ] {
        let script = format!("#!/bin/sh\n{body}\n./look\n");
        let makefile = format!("test:\n\t{}\n\t./look\n", body.replace('$', "$$"));
        let package =
            serde_json::json!({"scripts": {"lint": format!("{body} && eslint .")}}).to_string();
        for (name, text) in [
            ("scripts/check-x.sh", script.as_str()),
            ("Makefile", &makefile),
            ("package.json", &package),
        ] {
            let found = propose(&Files::of(&[(name, text)]), &PLAIN);
            let of_it = |line: &&String| line.contains("it changes the machine");
            let left_out: Vec<&String> = found.left_out.iter().filter(of_it).collect();
            assert_eq!(left_out.len(), 1, "{name}: {body}: {:?}", found.left_out);
            assert!(left_out[0].contains(told), "{left_out:?}");
        }
    }
    let honest =
        "#!/bin/sh\nset -e\nd=$(mktemp -d)\ncp a \"$d\"\nsed -i s/a/b/ \"$d/a\"\nrm -rf \"$d\"\n";
    let files = [("scripts/check-x.sh", honest)];
    let files = Files::of(&files).without(&["shellcheck"]);
    assert_eq!(goals_of(&files, &PLAIN), ["6 check-x: scripts/check-x.sh"]);
}

#[test]
fn a_target_that_calls_more_linters_than_goals_do_is_a_goal_of_its_own() {
    let script = ("x.sh", "#!/bin/sh\n");
    for (recipe, is_own) in [
        ("shellcheck x.sh", false),
        ("@echo linting\n\t@shellcheck x.sh", false),
        ("shellcheck x.sh\n\tmypy src", true),
        ("shellcheck x.sh && ./hack/boilerplate.sh", true),
        ("./hack/lint.sh", true),
    ] {
        let makefile = format!("lint:\n\t{recipe}\n");
        let goals = goals_in(&[("Makefile", &makefile), script]);
        let has = |words: &str| goals.iter().any(|goal| goal.contains(words));
        assert!(has("shellcheck-clean"), "{goals:?}");
        assert_eq!(has("make --silent lint"), is_own, "{recipe}: {goals:?}");
    }
}

#[test]
fn tasks_that_call_each_other_many_times_over_are_followed_so_far_and_no_further() {
    let level = |level: usize| {
        let calls: Vec<String> = (0..9).map(|one| format!("a{}-{one}", level + 1)).collect();
        let one = |one| format!("a{level}-{one}:\n\tmake {}\n", calls.join(" "));
        (0..9).map(one).collect::<String>()
    };
    let last = |one| format!("a8-{one}:\n\tx || true\n");
    let levels = (0..8).map(level).chain((0..9).map(last));
    let makefile = format!("check-a:\n\tmake a0-0\n{}", levels.collect::<String>());
    let workflow = "on: push\njobs: {a: {steps: [{run: make a0-1}]}}";
    let files = Files::of(&[
        ("Makefile", &makefile),
        (".github/workflows/a.yml", workflow),
    ]);
    let goals = goals_of(&files, &WITH_CI);
    assert_eq!(
        goals,
        [
            "10 make-a0-1: make a0-1",
            "6 check-a: make --silent check-a"
        ]
    );
}

#[test]
fn whatever_is_called_a_check_is_proposed_unless_another_goal_calls_it() {
    let makefile = "test: check-units\n\t./t\ncheck-links:\n\tlychee .\ncheck-units:\n\t./u\ncheck-updates:\n\t./new\n\
        check-fix:\n\t./x --fix\ncheck-spelling:\n\tsh scripts/check-words.sh\n";
    let script = ("scripts/check-words.sh", "#!/bin/sh\n");
    let files = [("Makefile", makefile), script];
    let files = Files::of(&files).without(&["shellcheck"]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        [
            "9 tests-pass: make --silent test",
            "6 check-words: sh scripts/check-words.sh",
            "6 check-links: make --silent check-links",
        ]
    );
    let left_out = propose(&files, &PLAIN).left_out;
    for expected in [
        "Makefile: check-units: tests-pass may tell the same",
        "Makefile: check-spelling: check-words tells the same",
        "Makefile: check-fix: it changes files (./x --fix); a goal only looks",
        "Makefile: check-updates: not called as a check is",
    ] {
        assert!(left_out.contains(&expected.to_owned()), "{left_out:?}");
    }
    assert_eq!(
        goals_in(&[(
            "justfile",
            "check_links:\n  ./links\ncheck-one file:\n  ./one {{file}}\n"
        )]),
        ["6 check-links: just check_links"]
    );
    let package = r#"{"scripts": {"test": "t && npm run check:units", "check:units": "u", "check:links": "l", "check:all": "x --write"}}"#;
    assert_eq!(
        goals_in(&[("package.json", package)]),
        [
            "9 tests-pass: npm test --silent",
            "6 check-links: npm run --silent check:links",
        ]
    );
    let package = r#"{"scripts": {"check": "run-p check:*", "check:links": "l"}}"#;
    assert_eq!(
        goals_in(&[("package.json", package)]),
        ["6 checks-pass: npm run --silent check"]
    );
}

#[test]
fn scripts_that_check_say_what_for() {
    let files = [
        (
            "scripts/check-links.sh",
            "#!/usr/bin/env bash\n# Every link leads somewhere: this one, too\nset -e\n",
        ),
        ("scripts/check-x it's.sh", "#!/bin/sh\n"),
        ("scripts/build.sh", ""),
    ];
    let found = propose(&Files::of(&files).without(&["shellcheck"]), &PLAIN);
    reads_back(&found);
    let shown: Vec<_> = found
        .runnable()
        .map(|one| format!("{}: {} · {}", one.id, one.check, one.description))
        .collect();
    assert_eq!(
        shown[1..],
        [
            "check-links: bash scripts/check-links.sh · Every link leads somewhere: this one, too",
            r"check-x-it-s: 'scripts/check-x it'\''s.sh' · scripts/check-x it's.sh finds nothing",
        ]
    );
}

#[test]
fn ci_steps_become_goals_and_the_rest_is_named() {
    let workflow = "on: [push]\nenv: {RUSTFLAGS: -D warnings, CARGO_TERM_COLOR: always}\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      \
        - uses: actions/checkout@v4\n      - run: rustup component add clippy\n      - name: Clippy\n        run: cargo clippy --all --all-targets\n      \
        - run: cargo test ${{ matrix.flags }}\n      - {run: ./ci.sh, if: github.ref == 'main'}\n      - {run: make web, working-directory: web}\n  \
        publish:\n    steps: [{run: cargo publish}]\n  win:\n    runs-on: windows-latest\n    steps: [{run: cargo test}]\n";
    let release = "on: {push: {tags: [v*]}}\njobs: {a: {steps: [{run: make}]}}\n";
    let gitlab = ".base: &base\n  before_script: [apt-get update]\n.all:\n  script: [npm ci, npm test]\nunit:\n  <<: *base\n  extends: .all\n\
        pages-deploy:\n  stage: deploy\n  script: make site\nself:\n  script:\n    - !reference [.all, script]\n    - make lint\n";
    let files = Files::of(&[
        ("Cargo.toml", ""),
        (".github/workflows/ci.yml", workflow),
        (".github/workflows/release.yaml", release),
        (".gitlab-ci.yml", gitlab),
        (".github/workflows/broken.yml", "a: ["),
        ("web/a.js", ""),
    ]);
    let goals = goals_of(&files, &WITH_CI);
    assert!(
        goals.contains(
            &"7 clippy-clean: RUSTFLAGS='-D warnings' cargo clippy --all --all-targets".to_owned()
        ),
        "{goals:#?}"
    );
    assert!(
        goals.contains(&"10 web-make-web: cd web && RUSTFLAGS='-D warnings' make web".to_owned()),
        "{goals:#?}"
    );
    assert!(goals.contains(&"9 unit: npm test".to_owned()), "{goals:#?}");
    let with_reference = "7 self: |set -e|npm test|make lint".replace('|', "\n");
    let with_reference = with_reference.replacen("self: \n", "self: ", 1);
    assert!(goals.contains(&with_reference), "{goals:#?}");
    assert_eq!(
        goals
            .iter()
            .filter(|goal| goal.contains("cargo clippy"))
            .count(),
        1
    );
    let ci: Vec<_> = propose(&files, &WITH_CI).left_out;
    for left_out in [
        ".github/workflows/broken.yml:1:4: not valid YAML: this [ is not closed",
        ".github/workflows/ci.yml: test: rustup component add clippy: it only sets up",
        ".github/workflows/ci.yml: test: cargo test ${{ matrix.flags }}: it goes by what only CI has",
        ".github/workflows/ci.yml: test: ./ci.sh: it runs under a condition only",
        ".github/workflows/ci.yml: publish: it sends something away",
        ".github/workflows/ci.yml: win: it is for another system",
        ".github/workflows/release.yaml: it does not run on every change",
        ".gitlab-ci.yml: pages-deploy: it sends something away",
    ] {
        assert!(
            ci.contains(&left_out.to_owned()),
            "{left_out} is not in {ci:#?}"
        );
    }
}

#[test]
fn what_changes_files_in_ci_takes_the_place_of_no_goal_that_looks() {
    let workflow = "on: [push]\njobs:\n  t:\n    steps:\n      - run: cargo fmt\n      - run: npm run format\n      \
        - run: npm run lint\n      - run: npm run format:check\n      - run: make fmt\n      - run: make fmt-check\n      \
        - run: pre-commit run --all-files\n      - run: git diff --exit-code\n      - run: tox -e fmt\n      - run: cargo fmt --all -- --check\n";
    let package = r#"{"scripts": {"lint": "eslint --fix .", "format": "prettier -w .", "format:check": "prettier -c ."}}"#;
    let files = Files::of(&[
        ("Cargo.toml", ""),
        ("package.json", package),
        (".github/workflows/ci.yml", workflow),
    ]);
    let goals = goals_of(&files, &WITH_CI);
    for goal in [
        "3 fmt-clean: cargo fmt --all -- --check",
        "3 package-fmt-clean: npm run format:check",
    ] {
        assert!(goals.contains(&goal.to_owned()), "{goals:#?}");
    }
    let left_out = propose(&files, &WITH_CI).left_out;
    for (step, why) in [
        (
            "cargo fmt",
            "it changes files (cargo fmt); a goal only looks",
        ),
        (
            "npm run format",
            "it changes files (npm run format: prettier -w .); a goal only looks",
        ),
        (
            "npm run lint",
            "it changes files (npm run lint: eslint --fix .); a goal only looks",
        ),
        ("make fmt", "it changes files (make fmt); a goal only looks"),
        (
            "git diff --exit-code",
            "it goes by what earlier steps changed",
        ),
        (
            "tox -e fmt",
            "it changes files (tox -e fmt); a goal only looks",
        ),
        (
            "pre-commit run --all-files",
            "it changes files (pre-commit run --all-files); a goal only looks",
        ),
    ] {
        let line = format!(".github/workflows/ci.yml: t: {step}: {why}");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
    assert!(
        !left_out.iter().any(|line| line.contains("fmt-check")),
        "{left_out:#?}"
    );
}

#[test]
fn steps_that_are_told_to_look_are_goals_whatever_else_they_name() {
    let workflow = "on: push\njobs:\n  t:\n    runs-on: x\n    steps:\n      - run: yarn prettier --check .\n      \
        - run: tox -- tests/test_format.py\n      - run: make -C tools/fmt test\n      - run: terraform fmt --check\n";
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        ("package.json", "{}"),
    ]);
    let left_out = propose(&files, &WITH_CI).left_out;
    let writes = left_out
        .iter()
        .find(|line| line.contains("it changes files"));
    assert_eq!(writes, None);
}

#[test]
fn what_gitlab_refers_to_is_found_or_named_and_a_matrix_is_not_guessed() {
    let gitlab = ".x: {script: [echo hello, cargo build], variables: {A: '1'}}\n\
        test:\n  script: [!reference [.x, script], cargo test]\n  variables: !reference [.x, variables]\n\
        lost:\n  script: [!reference [.y, script], cargo doc]\n\
        many:\n  parallel: {matrix: [{V: [1, 2], W: a}]}\n  script: rake test V=$V\n\
        quiet:\n  parallel: {matrix: [{V: [1, 2]}]}\n  script: rake docs\n";
    let found = propose(&Files::of(&[(".gitlab-ci.yml", gitlab)]), &WITH_CI);
    let mut checks: Vec<&str> = offered(&found).map(|one| one.check.as_str()).collect();
    checks.retain(|check| !check.starts_with('!'));
    let test = "set -e\nexport A=1\ncargo build\ncargo test";
    assert_eq!(checks, [test, "rake docs"]);
    assert_eq!(
        found.left_out,
        [
            ".gitlab-ci.yml: lost: its !reference names nothing in this file",
            ".gitlab-ci.yml: many: it goes by V, whose value only CI has",
        ]
    );
}

#[test]
fn variables_of_ci_are_set_as_ci_sets_them() {
    let workflow = "on: [push]\nenv: {MODE: strict, TOKEN: '${{ secrets.T }}', RUST_BACKTRACE: '1'}\njobs:\n  test:\n    \
        env: {MODE: lax, LEVEL: 3}\n    steps:\n      - run: test \"$MODE\" = lax && sh t.sh\n      - {run: make it, env: {MODE: own}}\n      \
        - run: sh send.sh \"$TOKEN\"\n      - run: |\n          [[ -e a ]]\n";
    let gitlab = "include: other.yml\nvariables: {A: '1', B: $CI_X, C: {value: c}}\n.base:\n  variables: {D: d, A: '2'}\n\
        unit:\n  extends: .base\n  variables: {A: '3'}\n  script: sh unit.sh\nb:\n  script: sh b.sh $B\n";
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        (".gitlab-ci.yml", gitlab),
    ]);
    let found = propose(&files, &WITH_CI);
    let checks: Vec<&str> = offered(&found).map(|one| one.check.as_str()).collect();
    for check in [
        "export MODE=lax LEVEL=3\ntest \"$MODE\" = lax && sh t.sh",
        "LEVEL=3 MODE=own make it",
        "LEVEL=3 bash -e -c '[[ -e a ]]'",
        "C=c D=d A=3 sh unit.sh",
    ] {
        assert!(checks.contains(&check), "{check}: {checks:#?}");
    }
    for left_out in [
        ".github/workflows/ci.yml: test: sh send.sh \"$TOKEN\": it goes by TOKEN, whose value only CI has",
        ".gitlab-ci.yml: include other.yml: it is not read",
        ".gitlab-ci.yml: b: it goes by B, whose value only CI has",
    ] {
        assert!(
            found.left_out.contains(&left_out.to_owned()),
            "{left_out}: {:#?}",
            found.left_out
        );
    }
    let none = propose(&Files::of(&[]), &WITH_CI).left_out;
    assert_eq!(
        none,
        ["CI: there is no file of .github/workflows, and no .gitlab-ci.yml"]
    );
}

#[test]
fn what_gitlab_exports_before_a_script_is_set_as_its_variables_are() {
    let gitlab = "default:\n  before_script: [export MODE=all]\nvariables: {LEVEL: '1'}\n\
        .base:\n  before_script:\n    - apt-get update && export LEVEL=2\n    - export A='b c' D=\"e\"   F=g/h\n\
        \x20   - export PATH=\"$HOME/bin:$PATH\" TOKEN=$(get-token)\n    - '# export NO=1'\n\
        unit:\n  extends: .base\n  script: sh unit.sh\nplain:\n  script: sh plain.sh\n\
        send:\n  extends: .base\n  script: sh check.sh \"$TOKEN\"\n\
        if:\n  before_script: ['if [ -e x ]; then', export W=1, fi]\n  script: sh if.sh\n\
        some:\n  before_script: ['if [ -e x ]; then', export W=1, fi]\n  script: sh some.sh $W\n";
    let found = propose(&Files::of(&[(".gitlab-ci.yml", gitlab)]), &WITH_CI);
    let mut checks: Vec<&str> = offered(&found).map(|one| one.check.as_str()).collect();
    checks.retain(|check| check.contains(".sh"));
    checks.sort_unstable();
    assert_eq!(
        checks,
        [
            "LEVEL=1 MODE=all sh plain.sh",
            "LEVEL=1 sh if.sh",
            "LEVEL=2 A='b c' D=e F=g/h sh unit.sh",
        ]
    );
    for left_out in [
        ".gitlab-ci.yml: send: it goes by TOKEN, whose value only CI has",
        ".gitlab-ci.yml: some: it goes by W, whose value only CI has",
    ] {
        assert!(
            found.left_out.contains(&left_out.to_owned()),
            "{left_out}: {:#?}",
            found.left_out
        );
    }
}

#[test]
fn what_a_file_lacks_is_proposed_and_appended_and_nothing_else_changes() {
    let found = propose(&Files::of(&[("Cargo.toml", "")]), &PLAIN);
    for (before, after) in [
        ("", ""),
        ("# top\n", "x-note: [end]   # kept\n"),
        ("", "\nevolve: {jobs: 2}\n# the end"),
    ] {
        for (list, indent) in [
            (
                "goals:\n  - id: a\n    description: d\n    check: |\n      cargo  test\n\n      # all\n    weight: 3\n  # mine\n",
                "  ",
            ),
            (
                "goals:\n- {id: a, description: d, check: cargo test --all, weight: 3}\n",
                "",
            ),
            (
                "goals:\n-   id: fmt-clean\n    description: d\n    check: cargo test\n    weight: 3\n",
                "",
            ),
        ] {
            let text = format!("{before}{list}{after}");
            for text in [text.clone(), text.replace('\n', "\r\n")] {
                let (goals, _) = read_goals("g", text.as_bytes()).unwrap();
                let new = missing(&found, &goals);
                let ids: Vec<_> = new.iter().map(|one| one.id.as_str()).collect();
                assert!(
                    !ids.contains(&"tests-pass") && ids.contains(&"clippy-clean"),
                    "{ids:?}"
                );
                let whole = appended(&text, &goals, &new).unwrap_or_else(|| panic!("{text}"));
                assert!(
                    whole.contains(&format!("{indent}- id: clippy-clean")),
                    "{whole}"
                );
                let kept: Vec<&str> = text.lines().collect();
                let mut lines = whole.lines();
                assert!(
                    kept.iter().all(|line| lines.any(|it| it == *line)),
                    "{whole}"
                );
                let (both, _) = read_goals("g", whole.as_bytes()).unwrap();
                assert_eq!(missing(&found, &both), vec![]);
            }
        }
    }
    let flow = "goals: [{id: a, description: d, check: ls, weight: 3}]\n";
    let (goals, _) = read_goals("g", flow.as_bytes()).unwrap();
    assert_eq!(appended(flow, &goals, &missing(&found, &goals)), None);
}

#[test]
fn what_is_proposed_to_be_protected_reads_back_whatever_folders_are_called() {
    let files = [
        r#"we"ird/tests/x"#,
        r"back\slash/tests/x",
        "it's/tests/x",
        "[id]/a.test.ts",
        "a, b/tests/x",
        "tab\there/tests/x",
    ];
    for is_compiled in [false, true] {
        let mut all: Vec<_> = files.iter().map(|path| (*path, "")).collect();
        all.extend(is_compiled.then_some(("Cargo.toml", "")));
        let page = file(&propose(&Files::of(&all), &PLAIN), "here");
        let uncommented = page
            .replace("# evolve:", "evolve:")
            .replace("#   protect", "  protect")
            .replace("  # protect", "  protect");
        let (goals, _) = read_goals("GOALS.yaml", uncommented.as_bytes())
            .unwrap_or_else(|problems| panic!("{problems:?}\n{uncommented}"));
        let protection = Protection::of(&goals.settings.protect);
        for path in files {
            assert!(protection.is_match(path), "{path}\n{page}");
        }
    }
}

#[test]
fn hostile_manifests_are_survived_and_named() {
    let deep = "[".repeat(100_000);
    let deep_toml = format!("a = {}", "[".repeat(100_000));
    let deep_yaml = "a: ".to_owned() + &"[".repeat(5_000);
    let found = propose(
        &Files::of(&[
            ("package.json", &deep),
            ("Cargo.toml", &deep_toml),
            ("pyproject.toml", &deep_toml),
            ("a.py", ""),
            (".github/workflows/a.yml", &deep_yaml),
            (
                "scripts/check-a.sh",
                "# \u{1b}[31mred and a lot of words\u{7}\n",
            ),
        ]),
        &WITH_CI,
    );
    reads_back(&found);
    for named in [
        "package.json: it cannot be read",
        "Cargo.toml: it cannot be read",
        ".github/workflows/a.yml:1:259: nested deeper than 64 levels",
    ] {
        assert!(
            found.left_out.contains(&named.to_owned()),
            "{:?}",
            found.left_out
        );
    }
}

/// Files that something is known by, with texts that say much.
const KNOWN: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = 'a: b'\n"),
    ("Cargo.lock", ""),
    ("deny.toml", ""),
    ("tarpaulin.toml", ""),
    (
        "web/package.json",
        r#"{"scripts": {"test": "jest", "build": "x"}, "devDependencies": {"jest": "1"}}"#,
    ),
    (
        "package.json",
        r#"{"name": "@a/b", "scripts": {"test": "c8 node --test", "lint": "y"}, "eslintConfig": {}}"#,
    ),
    ("yarn.lock", ""),
    ("tsconfig.json", ""),
    ("go.mod", ""),
    ("cli/go.mod", ""),
    ("it's a folder/go.mod", ""),
    (
        "pyproject.toml",
        "[tool.ruff]\n[tool.mypy]\n[tool.black]\n[tool.isort]\n[tool.coverage]\n[tool.pytest]\n",
    ),
    ("test_a.py", "import pytest"),
    ("uv.lock", ""),
    ("mkdocs.yml", ""),
    ("pom.xml", "maven-checkstyle-plugin"),
    ("gradlew", ""),
    ("build.gradle", "spotbugs"),
    ("Makefile", "test:\nlint:\nfmt-check:\nall:\ndocs:\n"),
    ("justfile", "test:\nbuild:\n"),
    ("scripts/check-a.sh", "# Looks: \"whether\" 'it' #works\n"),
    ("scripts/check-b.sh", ""),
    (".hadolint.yaml", ""),
    ("Dockerfile", ""),
    (".markdownlint.yaml", ""),
    (".prettierrc", ""),
    (
        ".github/workflows/ci.yml",
        "on: push\njobs: {a: {steps: [{run: 'cargo test\n\n  make lint', name: 'a # b'}, {run: go vet ./..., env: {A: \"it's\"}}]}}",
    ),
    (".gitlab-ci.yml", "a: {script: ['[[ -e a ]]', npm test]}"),
];

proptest! {
    #[test]
    fn whatever_is_found_is_read_back_without_a_warning(
        picked in proptest::collection::vec(any::<bool>(), KNOWN.len()),
        has_programs in any::<bool>(),
        from_ci in any::<bool>(),
    ) {
        let all: Vec<_> = KNOWN.iter().zip(&picked).filter(|(_, is_in)| **is_in).map(|(one, _)| *one).collect();
        let missing: &[&str] = if has_programs { &[] } else { &["cargo", "npm", "go", "jest", "ruff", "uv", "make"] };
        let found = propose(&Files::of(&all).without(missing), &Wishes { coverage: 72.5, from_ci });
        reads_back(&found);
    }

    #[test]
    fn any_text_of_others_is_read_back(text in "\\PC{0,40}", name in "[ -~\u{85}\u{a0}\u{2028}\u{feff}é😀\t\n\u{7}]{0,30}") {
        let workflow = serde_json::json!({"on": "push", "jobs": {"a": {"steps": [{"run": format!("x {text}\n{name}"), "name": name}]}}});
        let package = serde_json::json!({"name": name, "scripts": {"test": text}});
        let script = format!("scripts/check-{}.sh", text.replace('/', ""));
        let files = [
            (".github/workflows/ci.yml", workflow.to_string()),
            ("package.json", package.to_string()),
            (script.as_str(), format!("# {text} some words here {name}\n")),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        reads_back(&propose(&Files::of(&files), &WITH_CI));
    }
}

#[test]
fn a_file_of_lines_that_end_either_way_keeps_each_as_it_was() {
    let found = propose(&Files::of(&[("Cargo.toml", "")]), &PLAIN);
    let text = "# mixed\r\ngoals:\n  - id: a\r\n    description: d\n    check: ls\n    weight: 3\n# end\r\n";
    let (goals, _) = read_goals("g", text.as_bytes()).unwrap();
    let new = missing(&found, &goals);
    let whole = appended(text, &goals, &new).unwrap();
    let (before, after) = text.split_at(text.len() - "# end\r\n".len());
    let added = whole
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after))
        .unwrap();
    // As the lines beside them end.
    assert!(!added.contains('\r'), "{added:?}");
    let text = "goals:\r\n  - id: a\r\n    description: d\r\n    check: ls\r\n    weight: 3";
    let (goals, _) = read_goals("g", text.as_bytes()).unwrap();
    let whole = appended(text, &goals, &new).unwrap();
    assert_eq!(whole.matches('\n').count(), whole.matches("\r\n").count());
}
