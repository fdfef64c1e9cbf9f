//! `evolve init`: what it writes for which repository, what it never touches, what it asks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::harness::{TestRepo, everything_below, finish, output, wait_until};

/// A repository of these files, and a PATH that has these programs; each is a script that has its arguments.
pub fn with(files: &[(&str, &str)], programs: &[(&str, &str)]) -> TestRepo {
    let mut repo = TestRepo::empty();
    repo.installs("");
    for (name, script) in programs {
        let path = repo.outside().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (path, text) in files {
        repo.write(path, text);
    }
    repo.commit_all("first");
    repo
}

const CARGO: &[(&str, &str)] = &[
    (
        "cargo",
        "[ \"$1\" != clippy ] || { echo 'warning: odd'; exit 1; }",
    ),
    ("cargo-clippy", ""),
    ("cargo-fmt", ""),
];

fn cargo() -> TestRepo {
    with(
        &[
            ("Cargo.toml", "[package]\nname = \"calc\"\n"),
            ("src/lib.rs", ""),
        ],
        CARGO,
    )
}

/// The ids of the goals that the program reads from the file it wrote.
#[track_caller]
pub fn ids(repo: &TestRepo) -> Vec<String> {
    let said = repo.answer(&["validate"]);
    let goals = said.lines().filter_map(|line| line.strip_prefix("  "));
    let ids = goals.filter_map(|line| line.split_once(" (weight"));
    ids.map(|(id, _)| id.to_owned()).collect()
}

#[test]
fn a_new_user_sees_what_was_found_what_was_written_and_how_it_stands() {
    let repo = cargo();
    assert_snapshot!(repo.answer(&["init"]), @r#"
    found: Cargo
    wrote GOALS.yaml: 6 goals

      10  builds               cargo build --quiet
       9  tests-pass           cargo test --quiet
       7  clippy-clean         cargo clippy --quiet --all-targets -- -D warnings
       7  no-conflict-markers  ! git grep -InE '^(<<<<<<<|>>>>>>>) ' -- . ':!.agents'
       4  docs-build           RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps
       3  fmt-clean            cargo fmt --check

    not now, and commented out:
      coverage-floor  cargo-llvm-cov is not installed: cargo install --locked cargo-llvm-cov

    measuring each of them once; a first build may take minutes (Ctrl-C ends it; the file stays)

    pass  builds [s]
    pass  tests-pass [s]
    FAIL  clippy-clean [s]  exit 1
    pass  no-conflict-markers [s]
    pass  docs-build [s]
    pass  fmt-clean [s]
    score 82.5: 5 of 6 goals pass

    output of clippy-clean
        warning: odd

    next:
      git add GOALS.yaml && git commit -m goals
      evolve --dry-run       what would be worked on, and why; changes nothing
      evolve doctor          what a run needs: no agent is configured and none is installed
      evolve --max-cycles=1  when there is an agent
    "#);
    assert_snapshot!(repo.read("GOALS.yaml"), @r#"
    # yaml-language-server: $schema=./schemas/goals.schema.json
    #
    # What should hold in this repository, and the commands that tell. `evolve init` wrote it; change what does not fit, then commit it.
    # For help in your editor: mkdir -p schemas && evolve schema goals >schemas/goals.schema.json

    version: 1
    mission: Keep calc healthy

    evolve:
      timeout: 20m # how long a check may run: the first build takes its time
      # Whoever may change the tests can make them pass: name what no agent is to change. `evolve validate` says what checks lean on.
      # protect: ["tests/**"]

    # A check is run by `sh -c` in the repository's root: exit 0 passes; 77, 126 and 127 skip; everything else fails. It only looks:
    # what fixes is the agent. The heaviest failing goal is worked on first (weight 1 to 10): code health before architecture, testing,
    # documentation and cleanup.
    goals:
      # Code health: it builds, works, and what looks for mistakes finds none.

      # Cargo.toml
      - id: builds
        description: It builds
        check: cargo build --quiet
        weight: 10
        pillar: code-health

      # Cargo.toml
      - id: tests-pass
        description: All tests pass
        check: cargo test --quiet
        weight: 9
        pillar: code-health

      # Cargo.toml
      - id: clippy-clean
        description: Clippy has nothing to say
        check: cargo clippy --quiet --all-targets -- -D warnings
        weight: 7
        pillar: code-health

      # any repository
      - id: no-conflict-markers
        description: No merge conflict is left over
        check: "! git grep -InE '^(<<<<<<<|>>>>>>>) ' -- . ':!.agents'"
        weight: 7
        pillar: code-health

      # Testing: a mistake would be noticed.

      # Cargo.toml; not now: cargo-llvm-cov is not installed: cargo install --locked cargo-llvm-cov
      # - id: coverage-floor
      #   description: Tests run at least 80 % of the lines
      #   check: cargo llvm-cov --quiet --lcov --output-path target/coverage.info
      #   weight: 5
      #   type: quality
      #   pillar: testing
      #   alone: true
      #   continuous:
      #     metric: covered lines, percent
      #     threshold: 80
      #     direction: at-least
      #     read: { lcov: target/coverage.info }
      #     tolerance: 0.2

      # Documentation: it can be read, and is right.

      # Cargo.toml
      - id: docs-build
        description: The documentation builds without a warning
        check: RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps
        weight: 4
        type: quality
        pillar: documentation

      # Cleanup: it is tidy.

      # Cargo.toml
      - id: fmt-clean
        description: Every file is formatted
        check: cargo fmt --check
        weight: 3
        type: quality
        pillar: cleanup
    "#);
}

#[test]
fn marks_of_a_conflict_in_a_file_that_is_no_text_are_none() {
    let repo = with(&[("a.tar", "a\0\n<<<<<<< b\n")], &[]);
    repo.answer(&["init"]);
    repo.evolve(&["measure"]).expect(0);
    repo.write("a.txt", "a\n<<<<<<< b\n");
    repo.commit_all("text");
    let run = repo.evolve(&["measure"]);
    assert!(run.stdout.contains("a.txt:2"), "{}", run.stdout);
}

#[test]
fn nothing_but_the_goals_file_is_written() {
    for arguments in [&["init"][..], &["init", "--no-measure"], &["init", "-q"]] {
        let repo = cargo();
        let before = everything_below(&repo.root());
        let home = everything_below(&repo.home());
        repo.evolve(arguments).expect(0);
        let mut after = everything_below(&repo.root());
        assert!(after.remove(&repo.path("GOALS.yaml")).is_some());
        assert_eq!(after, before, "{arguments:?}");
        assert_eq!(everything_below(&repo.home()), home);
    }
}

#[test]
fn what_checks_build_and_git_does_not_ignore_is_named_and_gitignore_stays() {
    let repo = with(
        &[("Cargo.toml", "[package]\nname = \"calc\"\n")],
        &[("cargo", ": >target/x")],
    );
    fs::create_dir(repo.path("target")).unwrap();
    let line = "note: target/ is not ignored by git: add it to .gitignore\n";
    let said = repo.answer(&["init"]);
    assert!(said.contains(line), "{said}");
    assert!(!repo.has(".gitignore"));
    // Where it was there before, a note tells of it already.
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let said = repo.answer(&["init"]);
    assert!(
        !said.contains(line) && said.contains("git does not ignore target:"),
        "{said}"
    );
    repo.write(".gitignore", "target/\n");
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    assert!(!repo.answer(&["init"]).contains("ignore"));
}

#[test]
fn tracked_files_that_its_checks_change_are_named() {
    let repo = with(
        &[
            ("Cargo.toml", "[package]\nname = \"calc\"\n"),
            ("src/lib.rs", ""),
        ],
        &[
            ("cargo", "echo >>src/lib.rs"),
            ("cargo-clippy", ""),
            ("cargo-fmt", ""),
        ],
    );
    let said = repo.evolve(&["init"]).stderr;
    assert!(
        said.contains("while the checks ran, 1 tracked file changed: src/lib.rs"),
        "{said}"
    );
}

#[test]
fn without_files_of_ci_it_says_that_there_are_none() {
    let repo = cargo();
    let none = "CI: there is no file of .github/workflows, and no .gitlab-ci.yml\n";
    let said = repo.answer(&["init", "--from-ci", "--no-measure"]);
    assert!(said.contains(none), "{said}");
    let said = repo.answer(&["init", "--add", "--from-ci"]);
    assert!(said.contains(none), "{said}");
}

#[test]
fn what_comes_next_and_a_dry_run_name_the_agent_that_there_is() {
    let repo = with(
        &[("Cargo.toml", "")],
        &[CARGO, &[("codex", "touch ../agent/started")]].concat(),
    );
    let said = repo.answer(&["init", "--no-measure"]);
    let next = "  evolve --max-cycles=1  with codex, the first known agent that is installed\n";
    assert!(said.contains(next), "{said}");
    repo.commit_all("goals");
    let said = repo.answer(&["--dry-run"]);
    let agent = "\n  agent:       codex, the first known agent that is installed\n";
    assert!(said.contains(agent), "{said}");
    let said = repo.answer(&["--dry-run", "--agent", "none-such"]);
    let agent = "\n  agent:       the agent cannot run: `none-such` is missing or not executable; `evolve doctor` looks closer\n";
    assert!(said.contains(agent), "{said}");
    assert!(!repo.out("started").exists());
}

#[test]
fn all_that_is_left_out_is_named_where_that_is_asked_for() {
    let all = (0..20).map(|at| {
        let path = format!(".github/workflows/w{at:02}.yml");
        let step = format!("      - run: mkdir made-{at}\n");
        (path, format!("on: [push]\njobs:\n  t:\n    steps:\n{step}"))
    });
    let all: Vec<_> = all.collect();
    let mut files = vec![("Cargo.toml", "")];
    files.extend(
        all.iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let repo = with(&files, CARGO);
    let call = ["init", "--from-ci", "--no-measure"];
    let said = repo.answer(&call);
    let more = "\n  and 8 more: -v names them, too\n";
    assert!(said.contains(more) && !said.contains("made-19"), "{said}");
    for call in [
        &["init", "--add", "--from-ci", "-v"][..],
        &[
            "init",
            "--goals",
            "g.yaml",
            "--from-ci",
            "--no-measure",
            "-v",
        ],
    ] {
        let said = repo.answer(call);
        assert!(said.contains("made-19: it checks nothing\n"), "{said}");
        assert!(!said.contains(" more: "), "{said}");
    }
}

#[test]
fn with_more_words_each_check_is_told_once() {
    let said = cargo().answer(&["init", "-v"]);
    let count = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!(
        (count("pass  builds"), count("FAIL  clippy-clean")),
        (1, 1),
        "{said}"
    );
    assert!(!said.contains("  pass builds"), "{said}");
}

#[test]
fn quiet_says_and_measures_nothing() {
    let repo = with(
        &[("Cargo.toml", "")],
        &[("cargo", "touch ../agent/measured")],
    );
    assert_eq!(repo.answer(&["init", "-q"]), "");
    assert!(repo.has("GOALS.yaml") && !repo.out("measured").exists());
}

#[test]
fn each_kind_of_project_has_the_goals_of_its_tools() {
    let package = r#"{"scripts": {"test": "jest", "build": "vite build", "lint": "eslint .", "typecheck": "tsc"}}"#;
    for (files, programs, expected) in [
        (
            &[("package.json", package), ("pnpm-lock.yaml", "")][..],
            &["pnpm"][..],
            &["builds", "tests-pass", "types-fit", "lint-clean"][..],
        ),
        (
            &[("go.mod", "module x\n"), ("a.go", "package x\n")],
            &["go", "gofmt"],
            &[
                "builds",
                "tests-pass",
                "vet-clean",
                "coverage-floor",
                "gofmt-clean",
            ],
        ),
        (
            &[
                (
                    "pyproject.toml",
                    "[tool.ruff]\n[tool.mypy]\n[dependency-groups]\ndev = ['pytest', 'ruff', 'mypy']\n",
                ),
                ("tests/test_a.py", ""),
                ("uv.lock", ""),
            ],
            &["uv"],
            &["tests-pass", "types-fit", "ruff-clean"],
        ),
        (
            &[
                ("manage.py", "import django\n"),
                (
                    "a/tests.py",
                    "from unittest import TestCase\nclass A(TestCase): pass\n",
                ),
            ],
            &["python3"],
            &["tests-pass", "django-clean"],
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
                ),
                ("test/a.test.js", "import test from 'node:test';\n"),
            ],
            &["node", "npm"],
            &["tests-pass"],
        ),
        (
            &[("pom.xml", "<project/>")],
            &["mvn", "java"],
            &["builds", "tests-pass"],
        ),
        (
            &[("build.gradle", ""), ("gradlew", "")],
            &["java"],
            &["builds", "tests-pass"],
        ),
        (
            &[(
                "Makefile",
                "all:\n\tcc a.c\ntest: all\n\ttest -x a.out\nlint:\n\truff check\n",
            )],
            &["make", "cc", "ruff"],
            &["builds", "tests-pass", "lint-clean"],
        ),
        (
            &[("justfile", "test:\n  pytest\n")],
            &["just", "pytest"],
            &["tests-pass"],
        ),
        (
            &[
                ("scripts/check-a.sh", "test -e a\n"),
                ("scripts/check-b.sh", "test -e b\n"),
            ],
            &[],
            &["check-a", "check-b"],
        ),
        (&[("README.md", "")], &[], &[]),
    ] {
        let programs: Vec<(&str, &str)> = programs.iter().map(|name| (*name, "")).collect();
        let repo = with(files, &programs);
        repo.evolve(&["init", "--no-measure"]).expect(0);
        let mut ids = ids(&repo);
        ids.retain(|id| id != "no-conflict-markers");
        assert_eq!(ids, expected, "{files:?}");
    }
}

#[test]
fn what_is_not_installed_stands_commented_out_with_the_reason() {
    let repo = with(&[("Cargo.toml", ""), (".yamllint", "")], &[]);
    let said = repo.answer(&["init", "--no-measure"]);
    assert!(
        said.contains("yamllint is not installed: pip install yamllint"),
        "{said}"
    );
    assert_eq!(ids(&repo), ["no-conflict-markers"]);
    let file = repo.read("GOALS.yaml");
    assert!(file.contains("  # .yamllint; not now: yamllint is not installed: pip install yamllint\n  # - id: yamllint-clean\n"), "{file}");
    // Without the marks it is a goal.
    let uncommented: String = file
        .lines()
        .map(|line| {
            line.strip_prefix("  # - ").map_or_else(
                || {
                    line.strip_prefix("  #   ")
                        .map_or(line.to_owned(), |rest| format!("    {rest}"))
                },
                |rest| format!("  - {rest}"),
            ) + "\n"
        })
        .collect();
    repo.write("GOALS.yaml", &uncommented);
    assert!(ids(&repo).contains(&"yamllint-clean".to_owned()));
}

#[test]
fn what_is_commented_out_runs_once_its_advice_was_followed() {
    let files = [
        ("pyproject.toml", "[tool.pyright]\n"),
        ("a.py", ""),
        (".gitignore", "/.venv\n"),
    ];
    let repo = with(&files, &[]);
    let install = |program: &str| {
        repo.write(&format!(".venv/bin/{program}"), "#!/bin/sh\n");
        let path = repo.path(&format!(".venv/bin/{program}"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    install("python");
    repo.answer(&["init", "--no-measure"]);
    let file = repo.read("GOALS.yaml");
    let (head, rest) = file.split_once("  # pyproject.toml: tool.pyright").unwrap();
    let advice = "; not now: pyright is not installed: .venv/bin/pip install pyright\n";
    let goal = rest.strip_prefix(advice).unwrap();
    install("pyright");
    let (goal, rest) = goal.split_once("\n\n").unwrap();
    let goal = goal.replace("# ", "");
    repo.write("GOALS.yaml", &format!("{head}{goal}\n\n{rest}"));
    let said = repo.answer(&["measure", "pyright-clean"]);
    assert!(said.contains("pass  pyright-clean"), "{said}");
}

#[test]
fn tests_that_need_the_project_installed_wait_where_python_does_not_find_it() {
    let files = [
        ("pyproject.toml", "[project]\nname = \"calc\"\n"),
        ("src/calc/__init__.py", ""),
        ("tests/test_calc.py", "import pytest\nimport calc\n"),
    ];
    let is_asked = "[ \"$1 $PWD\" = '-c /' ] && [ \"${2#*find_spec(\\'calc\\')}\" != \"$2\" ]";
    let answers = [("0", true), ("37", false), ("2", true)];
    for (answer, runs) in answers {
        let python = format!("{is_asked} && exit {answer}; exit 1");
        let repo = with(&files, &[("python3.99", &python), ("python3", "exit 37")]);
        let bin = repo.outside().join("bin");
        let script = format!("#!{}\n", bin.join("python3.99").display());
        fs::write(bin.join("pytest"), script).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(bin.join("pytest"), executable).unwrap();
        let said = repo.answer(&["init", "--no-measure"]);
        let words = "tests-pass  calc is not installed: pip install --editable .\n";
        assert_eq!(said.contains(words), !runs, "{answer}: {said}");
        assert_eq!(
            ids(&repo).contains(&"tests-pass".to_owned()),
            runs,
            "{said}"
        );
    }
}

#[test]
fn what_was_installed_into_the_tree_is_not_the_projects() {
    let repo = with(
        &[(
            "setup.py",
            "from setuptools import setup\nsetup(name='a')\n",
        )],
        &["python3", "pytest", "npm", "node"].map(|name| (name, "")),
    );
    let test = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n";
    for (path, text) in [
        (".venv/pyvenv.cfg", "home = /usr/bin\n"),
        (
            ".venv/lib/python3.11/site-packages/pip/tests/test_a.py",
            test,
        ),
        ("env/pyvenv.cfg", "home = /usr/bin\n"),
        ("env/lib/test_b.py", test),
        (
            "node_modules/a/package.json",
            "{\"scripts\": {\"test\": \"node --test\"}}",
        ),
    ] {
        repo.write(path, text);
    }
    repo.answer(&["init", "--no-measure"]);
    let goals = repo.read("GOALS.yaml");
    for installed in ["site-packages", "test_b", "node_modules", "tests-pass"] {
        assert!(!goals.contains(installed), "{goals}");
    }
}

#[test]
fn an_existing_file_is_never_written_over() {
    let repo = cargo();
    repo.write("GOALS.yaml", "# mine\n");
    assert_snapshot!(repo.error(2, &["init"]), @r#"
    error: GOALS.yaml is there already
    hint: `evolve init --add` proposes the goals that it lacks; to start anew, move it away
    "#);
    assert_eq!(repo.read("GOALS.yaml"), "# mine\n");
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    symlink("nowhere", repo.path("GOALS.yaml")).unwrap();
    repo.error(2, &["init"]);
    assert!(!repo.has("nowhere"));
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    fs::create_dir(repo.path("GOALS.yaml")).unwrap();
    repo.error(2, &["init"]);
}

const SMALL: &str = "# mine\ngoals:\n- id: tests   # kept\n  description: they pass\n  check: cargo test --all\n  weight: 3\n\nevolve: {jobs: 1}   # the end";

#[test]
fn what_a_file_lacks_is_shown_and_written_only_where_that_is_said() {
    let repo = cargo();
    repo.write("GOALS.yaml", SMALL);
    assert_snapshot!(repo.answer(&["init", "--add"]), @r#"
    GOALS.yaml has 1 goal; 5 more are proposed:

      # Cargo.toml
      - id: builds
        description: It builds
        check: cargo build --quiet
        weight: 10
        pillar: code-health

      # Cargo.toml
      - id: clippy-clean
        description: Clippy has nothing to say
        check: cargo clippy --quiet --all-targets -- -D warnings
        weight: 7
        pillar: code-health

      # any repository
      - id: no-conflict-markers
        description: No merge conflict is left over
        check: "! git grep -InE '^(<<<<<<<|>>>>>>>) ' -- . ':!.agents'"
        weight: 7
        pillar: code-health

      # Cargo.toml
      - id: docs-build
        description: The documentation builds without a warning
        check: RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps
        weight: 4
        type: quality
        pillar: documentation

      # Cargo.toml
      - id: fmt-clean
        description: Every file is formatted
        check: cargo fmt --check
        weight: 3
        type: quality
        pillar: cleanup

    could be goals, were it not for this:
      coverage-floor  cargo-llvm-cov is not installed: cargo install --locked cargo-llvm-cov

    to add them to the file: the same with --write
    "#);
    assert_eq!(repo.read("GOALS.yaml"), SMALL);
    let said = repo.answer(&["init", "--add", "--write"]);
    assert!(
        said.contains("FAIL  clippy-clean") && !said.contains("pass  tests "),
        "{said}"
    );
    let whole = repo.read("GOALS.yaml");
    let (before, after) = SMALL.split_at(SMALL.find("\n\nevolve").unwrap() + 1);
    assert!(
        whole.starts_with(before) && whole.ends_with(after),
        "{whole}"
    );
    assert_eq!(
        ids(&repo),
        [
            "tests",
            "builds",
            "clippy-clean",
            "no-conflict-markers",
            "docs-build",
            "fmt-clean"
        ]
    );
    let again = repo.answer(&["init", "--add", "--write"]);
    assert!(
        again.starts_with("GOALS.yaml has every goal that can run here now\n"),
        "{again}"
    );
    assert_eq!(repo.read("GOALS.yaml"), whole);
}

#[test]
fn goals_that_cannot_be_appended_without_a_change_elsewhere_are_left_to_the_user() {
    let repo = cargo();
    let flow = "goals: [{id: a, description: d, check: ls, weight: 3}]\n";
    repo.write("GOALS.yaml", flow);
    let run = repo.evolve(&["init", "--add", "--write"]).expect(2);
    assert!(
        run.stderr
            .contains("cannot add to GOALS.yaml and leave the rest as it is"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.read("GOALS.yaml"), flow);
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    assert_snapshot!(repo.error(2, &["init", "--add"]), @r#"
    error: there is no GOALS.yaml to add to
    hint: `evolve init` writes one
    "#);
}

const WORKFLOW: &str = "on: [push]\njobs:\n  test:\n    steps:\n      - run: rustup show\n      - name: Tests\n        run: |\n          cargo test --all\n          cargo test --doc\n      - run: cargo publish\n";

#[test]
fn nothing_is_written_under_a_loop_at_work() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let goals = repo.read("GOALS.yaml");
    repo.agent_does(&["touch a $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done"]);
    let run = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("at-work");
    let commands: [&[&str]; 3] = [
        &["init", "--add", "--write", "--no-measure"],
        &["init", "--goals=more.yaml", "--no-measure"],
        &["search", "init"],
    ];
    for command in commands {
        let said = repo.evolve(command).expect(5);
        assert!(
            said.stderr.contains("the loop is at work here"),
            "{command:?}: {}",
            said.stderr
        );
    }
    let proposed = repo.evolve(&["init", "--add"]).expect(0).stdout;
    assert!(proposed.contains("the same with --write"), "{proposed}");
    fs::write(repo.out("go"), "").unwrap();
    finish(run).expect(0);
    assert_eq!(repo.read("GOALS.yaml"), goals);
    assert!(!repo.has("more.yaml") && !repo.has("SEARCH.yaml"));
    assert_eq!(repo.newest()["notes"], serde_json::Value::Null);
    repo.evolve(&["init", "--add", "--write", "--no-measure"])
        .expect(0);
    assert_ne!(repo.read("GOALS.yaml"), goals);
}

#[test]
fn steps_of_ci_become_goals_where_that_is_said() {
    let repo = with(
        &[("Cargo.toml", ""), (".github/workflows/ci.yml", WORKFLOW)],
        CARGO,
    );
    let said = repo.answer(&["init", "--no-measure"]);
    assert!(
        said.contains(
            "`evolve init --add --from-ci` makes goals of what .github/workflows/ci.yml runs"
        ),
        "{said}"
    );
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let said = repo.answer(&["init", "--no-measure", "--from-ci"]);
    assert!(
        said.contains("\n  .github/workflows/ci.yml: test: rustup show: it only sets up\n"),
        "{said}"
    );
    assert!(
        said.contains(
            "\n  .github/workflows/ci.yml: test: cargo publish: it sends something away (cargo publish)\n"
        ),
        "{said}"
    );
    let file = repo.read("GOALS.yaml");
    let goal = "  # .github/workflows/ci.yml: test: Tests\n  - id: tests-pass\n    description: \"CI: Tests\"\n    check: |\n      set -e\n      cargo test --all\n      cargo test --doc\n    weight: 9\n";
    assert!(file.contains(goal), "{file}");
}

#[test]
fn a_step_that_goes_by_what_earlier_ones_made_is_no_goal() {
    let workflow = "on: push\njobs:\n  a:\n    steps:\n    - run: if ! git diff --exit-code; then exit 1; fi\n    \
        - run: cargo check --locked\n";
    let files = [("Cargo.toml", ""), (".github/workflows/ci.yml", workflow)];
    let said = with(&files, CARGO).answer(&["init", "--no-measure", "--from-ci"]);
    for line in [
        "a: if ! git diff --exit-code; then exit 1; fi: it goes by what earlier steps changed\n",
        "a: cargo check --locked: it needs a Cargo.lock (--locked), and git tracks none\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn what_rustup_only_has_a_word_for_is_not_installed() {
    let workflow = "on: push\njobs:\n  a:\n    steps:\n    - name: Environment info\n      run: |\n        echo && type cc && which cc\n        uname -a\n    - run: cargo miri test\n";
    let files = [(".github/workflows/ci.yml", workflow)];
    let repo = with(&files, &[("cargo", ""), ("rustup", "")]);
    let bin = repo.outside().join("bin");
    symlink("rustup", bin.join("cargo-miri")).unwrap();
    let home = repo.outside().join("rustup");
    let toolchain = home.join("toolchains/stable/bin");
    fs::create_dir_all(&toolchain).unwrap();
    let env = [("RUSTUP_HOME", home.to_str().unwrap())];
    let arguments = ["init", "--from-ci", "--no-measure"];
    let said = repo.evolve_with(&env, &arguments).expect(0).stdout;
    assert!(said.contains("  cargo-miri is not installed\n"), "{said}");
    let left = "  .github/workflows/ci.yml: a: Environment info: it only sets up\n";
    assert!(said.contains(left), "{said}");
    fs::write(toolchain.join("cargo-miri"), "").unwrap();
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let said = repo.evolve_with(&env, &arguments).expect(0).stdout;
    assert!(!said.contains("not installed"), "{said}");
}

#[test]
fn a_step_of_ci_that_the_shell_cannot_read_makes_no_goal() {
    let workflow = "on: push\njobs: {a: {steps: [{run: './t \"a'}, {run: ./u}]}}\n";
    let repo = with(&[(".github/workflows/ci.yml", workflow)], CARGO);
    let said = repo.answer(&["init", "--no-measure", "--from-ci"]);
    let left = ".github/workflows/ci.yml: a: ./t \"a: the shell cannot read it";
    assert!(said.contains(left) && said.contains("./u"), "{said}");
    repo.evolve(&["validate"]).expect(0);
}

#[test]
fn it_works_from_anywhere_and_says_how_the_file_is_named_there() {
    let repo = cargo();
    let said = repo.answer(&["-C", "src", "init", "--no-measure"]);
    assert!(said.contains("git add :/GOALS.yaml"), "{said}");
    assert!(repo.has("GOALS.yaml") && !repo.has("src/GOALS.yaml"));
    let said = repo.answer(&["init", "--no-measure", "--goals", "src/g.yaml"]);
    assert!(
        said.contains("wrote src/g.yaml") && repo.has("src/g.yaml"),
        "{said}"
    );
}

#[test]
fn what_comes_next_names_a_goals_file_that_is_not_the_one_in_the_root() {
    let repo = cargo();
    let said = repo.answer(&["init", "--no-measure", "--goals", "my goals.yaml"]);
    for command in ["evolve measure", "evolve --dry-run"] {
        let line = format!("  {command} --goals 'my goals.yaml'  ");
        assert!(said.contains(&line), "{said}");
    }
    repo.evolve(&["--dry-run", "--goals", "my goals.yaml"])
        .expect(0);
    let again = repo.evolve(&["init", "--goals", "my goals.yaml"]).expect(2);
    let hint = "`evolve init --add --goals 'my goals.yaml'` proposes the goals that it lacks";
    assert!(again.stderr.contains(hint), "{}", again.stderr);
    let said = repo.answer(&["init", "--no-measure", "--goals", "./GOALS.yaml"]);
    assert!(!said.contains("--goals"), "{said}");
}

#[test]
fn where_no_terminal_is_nothing_is_asked() {
    let repo = with(
        &[("go.mod", ""), (".gitlab-ci.yml", "a: {script: go test}")],
        &[("go", ""), ("gofmt", "")],
    );
    let mut command = repo.command(repo.program());
    command.args(["init", "--no-measure"]).stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let run = finish(child).expect(0);
    assert!(
        !run.stdout.contains('?') && run.stderr.is_empty(),
        "{}",
        run.stdout
    );
    assert!(repo.read("GOALS.yaml").contains("threshold: 80\n"));
}

#[test]
fn each_question_has_a_flag() {
    let repo = with(&[("go.mod", "")], &[("go", ""), ("gofmt", "")]);
    repo.evolve(&["init", "--no-measure", "--coverage", "72.5%"])
        .expect(0);
    assert!(repo.read("GOALS.yaml").contains("threshold: 72.5\n"));
    for odd in ["0", "101", "much", "nan"] {
        let run = repo.evolve(&["init", "--coverage", odd]).expect(2);
        assert!(
            run.stderr.contains("write a number from 1 to 100"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn on_a_terminal_what_matters_is_asked_and_answered() {
    let repo = with(
        &[
            ("go.mod", ""),
            (".gitlab-ci.yml", "unit: {script: go test -race}"),
        ],
        &[("go", ""), ("gofmt", "")],
    );
    let socket = repo.outside().join("tmux");
    let tmux = |words: &[&str]| {
        let mut command = repo.command("tmux");
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.arg("-S").arg(&socket).args(words);
        String::from_utf8_lossy(&output(&mut command).stdout).into_owned()
    };
    let bin = repo.outside().join("bin").display().to_string();
    let call = format!(
        "PATH={bin} {} init --no-measure; echo \"ended with $?\"; sleep 300",
        repo.program().display()
    );
    tmux(&["new-session", "-d", "-x", "100", "-y", "40", &call]);
    let screen = |word: &str| wait_until(word, || tmux(&["capture-pane", "-p"]).contains(word));
    screen("Make goals of what .gitlab-ci.yml runs, too? [y/N]");
    tmux(&["send-keys", "y", "Enter"]);
    screen("How many percent of the lines should tests run? [80]");
    tmux(&["send-keys", "many", "Enter"]);
    screen("write a number from 1 to 100");
    tmux(&["send-keys", "65", "Enter"]);
    screen("ended with 0");
    tmux(&["kill-server"]);
    let file = repo.read("GOALS.yaml");
    assert!(
        file.contains("threshold: 65\n") && file.contains("check: go test -race\n"),
        "{file}"
    );
}

#[test]
fn hostile_files_are_bounded_and_survived() {
    let repo = with(&[("a.py", "")], &[("npm", ""), ("cargo", ""), ("make", "")]);
    repo.write("package.json", &"[".repeat(900_000));
    repo.write("Cargo.toml", &"a".repeat(3 << 20));
    fs::write(repo.path("pyproject.toml"), b"[tool.ruff]\n\xff\xfe").unwrap();
    fs::write(repo.outside().join("makefile"), "test:\n\ttrue\n").unwrap();
    symlink(repo.outside().join("makefile"), repo.path("Makefile")).unwrap();
    repo.write("scripts/check-\u{1b}[31m.sh", "true\n");
    repo.write(
        "scripts/check-it's $(touch x).sh",
        "# \u{1b}[31mred words are here\n",
    );
    repo.commit_all("hostile");
    let said = repo.answer(&["init"]);
    assert!(
        said.contains("\n  package.json: it cannot be read\n"),
        "{said}"
    );
    assert!(
        said.contains("\n  Cargo.toml: it cannot be read\n"),
        "{said}"
    );
    assert!(!said.contains('\u{1b}') && !repo.read("GOALS.yaml").contains('\u{1b}'));
    assert_eq!(ids(&repo), ["no-conflict-markers", "check-it-s-touch-x"]);
    assert!(!repo.has("x"));
}

#[test]
fn outside_of_a_repository_it_says_so() {
    let repo = cargo();
    let outside = repo.outside().display().to_string();
    let said = repo.error(3, &["-C", &outside, "init"]);
    assert!(said.contains("hint: "), "{said}");
}
