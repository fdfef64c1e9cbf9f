//! `evolve init --add`: what it adds to a file that is there, and what it says of that. And whom `init` asks.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::init::{ids, with};

const SMALL: &str = "version: 1\nmission: m\ngoals:\n  - id: own\n    description: Own\n    check: test -d .\n    weight: 5\n";
const WORKFLOW: &str =
    "on: push\njobs:\n  a:\n    steps:\n      - run: go vet ./...\n      - run: ./odd --all\n";

#[test]
fn what_waits_for_a_look_is_appended_commented_out() {
    let repo = with(
        &[
            ("GOALS.yaml", SMALL),
            (".github/workflows/ci.yml", WORKFLOW),
            ("odd", "#!/bin/sh\n"),
        ],
        &[("go", "")],
    );
    let before = repo.read("GOALS.yaml");
    let said = repo.answer(&["init", "--add", "--from-ci"]);
    let head =
        "GOALS.yaml has 1 goal; 2 more are proposed, and 1 that waits for a look, commented out:\n";
    assert!(said.starts_with(head), "{said}");
    assert_eq!(repo.read("GOALS.yaml"), before);
    let said = repo.answer(&["init", "--add", "--from-ci", "--write"]);
    let end = "added 2 goals, and 1 commented out, to GOALS.yaml\n";
    assert!(said.contains(end), "{said}");
    let whole = repo.read("GOALS.yaml");
    let added = whole.strip_prefix(&before).unwrap();
    assert_snapshot!(added, @r#"

    # .github/workflows/ci.yml: a: go vet ./...
    - id: go-vet
      description: "CI: a: go vet ./..."
      check: go vet ./...
      weight: 7
      pillar: code-health

    # any repository
    - id: no-conflict-markers
      description: No merge conflict is left over
      check: "! git grep -InE '^(<<<<<<<|>>>>>>>) ' -- . ':!.agents'"
      weight: 7
      pillar: code-health

    # .github/workflows/ci.yml: a: ./odd --all; not now: evolve does not know what `./odd --all` does: look first, then take the # away
    # - id: odd-all
    #   description: "CI: a: ./odd --all"
    #   check: ./odd --all
    #   weight: 6
    #   type: architecture
    #   pillar: architecture
"#);
    let known = ids(&repo);
    assert_eq!(known.len(), 3, "{known:?}");
    let again = repo.answer(&["init", "--add", "--from-ci", "--write"]);
    let nothing = "GOALS.yaml has every goal that can run here now\n";
    assert!(again.starts_with(nothing), "{again}");
    assert_eq!(repo.read("GOALS.yaml"), whole);
    // Alone, it is appended as well, and nothing is measured.
    let alone = whole
        .split("\n  # .github/workflows/ci.yml: a: ./odd")
        .next();
    repo.write("GOALS.yaml", &format!("{}\n", alone.unwrap().trim_end()));
    let said = repo.answer(&["init", "--add", "--from-ci", "--write"]);
    let head = "GOALS.yaml has 3 goals; 1 that waits for a look, commented out, is proposed:\n";
    assert!(said.starts_with(head), "{said}");
    assert!(
        said.ends_with("added 1 goal, commented out, to GOALS.yaml\n"),
        "{said}"
    );
    assert_eq!(ids(&repo), known);
}

#[test]
fn a_goal_that_waits_for_something_else_by_now_says_so_in_the_file() {
    let package = "{\"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"1\"}}\n";
    let files = [("package.json", package), (".gitignore", "/node_modules\n")];
    let repo = with(&files, &[]);
    repo.answer(&["init", "--no-measure"]);
    let before = repo.read("GOALS.yaml");
    let head = "  # package.json: scripts.test; not now: npm is not installed\n";
    assert!(before.contains(head), "{before}");
    let mine = before.replace("metric: covered lines, percent", "metric: mine");
    repo.write("GOALS.yaml", &mine);
    let npm = repo.outside().join("bin/npm");
    fs::write(&npm, "#!/bin/sh\n").unwrap();
    fs::set_permissions(npm, fs::Permissions::from_mode(0o755)).unwrap();
    let said = repo.answer(&["init", "--add"]);
    assert!(!said.contains("something else"), "{said}");
    assert_eq!(repo.read("GOALS.yaml"), mine);
    let said = repo.answer(&["init", "--add", "--write"]);
    let line = "1 goal that is commented out in GOALS.yaml waits for something else now\n";
    assert!(said.ends_with(line), "{said}");
    let why = "  # package.json: scripts.test; not now: the packages of package.json are not installed: npm install\n";
    assert_eq!(repo.read("GOALS.yaml"), mine.replace(head, why));
    let again = repo.answer(&["init", "--add", "--write"]);
    assert!(!again.contains("something else"), "{again}");
}

#[test]
fn a_python_that_does_not_answer_is_asked_once() {
    let files = [
        ("setup.cfg", "[tool:pytest]\n"),
        (
            "tests/test_a.py",
            "import pytest\nimport attr\nimport yaml\n",
        ),
    ];
    let repo = with(&files, &[("pytest", "")]);
    let asked = repo.outside().join("asked");
    let python = repo.outside().join("bin/python3");
    let script = format!("#!/bin/sh\necho x >>{}\nexec sleep 60\n", asked.display());
    fs::write(&python, script).unwrap();
    fs::set_permissions(python, fs::Permissions::from_mode(0o755)).unwrap();
    repo.answer(&["init", "--no-measure"]);
    assert_eq!(fs::read_to_string(asked).unwrap(), "x\n");
    assert!(ids(&repo).contains(&"tests-pass".to_owned()));
}

#[test]
fn of_the_goals_that_were_not_measured_nothing_is_said() {
    let goals =
        "goals:\n- id: mine\n  description: It holds\n  weight: 5\n  check: test -e nothing\n";
    let repo = with(&[("GOALS.yaml", goals)], &[]);
    let said = repo.answer(&["init", "--add", "--write"]);
    let head = "\nof the goals added every one passes: the others were not measured\n\nnext:\n";
    assert!(said.contains(head), "{said}");
    assert!(said.contains("  evolve measure "), "{said}");
    assert!(said.contains("  evolve --dry-run "), "{said}");
    assert!(!said.contains("evolve work add"), "{said}");
}

#[test]
fn steps_of_ci_whose_tools_are_missing_are_named_where_others_are_added() {
    let workflow = "on: push\njobs:\n  a:\n    steps:\n      - run: go vet ./...\n      - run: shellcheck bin/a\n";
    let files = [
        ("GOALS.yaml", SMALL),
        (".github/workflows/ci.yml", workflow),
        (".github/workflows/more.yml", "on: push\njobs: {}\n"),
    ];
    let repo = with(&files, &[("go", "")]);
    let said = repo.answer(&["init", "--add", "--from-ci"]);
    let rows =
        "could be goals, were it not for this:\n  shellcheck-bin-a  shellcheck is not installed\n";
    assert!(said.contains(rows), "{said}");
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let said = repo.answer(&["init", "--no-measure"]);
    let note = "`evolve init --add --from-ci` makes goals of what .github/workflows/ci.yml runs\n";
    assert!(said.contains(note), "{said}");
}

#[test]
fn a_step_of_ci_that_does_more_than_a_goal_of_the_file_is_added_beside_it() {
    let script = "test:\n  script: [cargo test, cargo test --no-default-features]\n";
    let files = [("Cargo.toml", ""), (".gitlab-ci.yml", script)];
    let repo = with(&files, &[("cargo", "")]);
    let note = "`evolve init --add --from-ci` makes goals of what .gitlab-ci.yml runs";
    let said = repo.answer(&["init", "--no-measure"]);
    assert!(said.contains(note), "{said}");
    let said = repo.answer(&["init", "--add", "--from-ci", "--write", "--no-measure"]);
    assert!(said.contains("added 1 goal to GOALS.yaml\n"), "{said}");
    assert!(!said.contains("of CI tells the same"), "{said}");
    assert!(ids(&repo).contains(&"gitlab-ci-tests-pass".to_owned()));
    let said = repo.answer(&["init", "--add", "--from-ci"]);
    let nothing = "GOALS.yaml has every goal that can run here now\n";
    assert!(said.starts_with(nothing), "{said}");
    // What the file has already is no reason to name CI.
    repo.write(".gitlab-ci.yml", "test:\n  script: [cargo test]\n");
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let said = repo.answer(&["init", "--no-measure"]);
    assert!(!said.contains("--from-ci"), "{said}");
    let said = repo.answer(&["init", "--add", "--from-ci"]);
    assert!(
        said.starts_with(nothing) && !said.contains("of CI"),
        "{said}"
    );
}
