//! Goals that stand in each other's way, and what makes none.

use super::*;

#[test]
fn a_goal_that_cannot_run_stands_in_nobodys_way() {
    let makefile =
        "lint:\n\t@./lint.sh\ntest:\n\tgo test ./...\nclean:\n\trm a\nfmt:\n\tx\nunit-test:\n\ty\n";
    let files = Files::of(&[
        ("Makefile", makefile),
        ("a.sh", ""),
        ("go.mod", ""),
        ("a_test.go", ""),
    ])
    .without(&["shellcheck", "go", "gofmt", "golangci-lint", "staticcheck"]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        ["7 lint-clean: make --silent lint"]
    );
    let left_out = propose(&files, &PLAIN).left_out;
    assert_eq!(
        left_out,
        [
            "Makefile: test: tests-pass may tell the same",
            "Makefile: fmt: it changes files; a goal only looks",
            "Makefile: unit-test: tests-pass may tell the same",
            "Makefile: clean: not called as a check is",
        ]
    );
    // What its recipe calls counts, too.
    let files = Files::of(&[("Makefile", makefile)]).without(&["go"]);
    let found = propose(&files, &PLAIN);
    let lacking: Vec<_> = found.lacking().map(|one| one.missing.as_deref()).collect();
    assert_eq!(lacking, [Some("go is not installed")]);
}

#[test]
fn scripts_that_make_no_goal_are_named() {
    let package = r#"{"scripts": {"test": "jest", "test:unit": "jest unit", "test:watch": "jest -w", "format": "prettier .",
        "start": "node .", "fix": "x --write", "clean": "rm -r dist"}}"#;
    let mut left_out = propose(&Files::of(&[("package.json", package)]), &PLAIN).left_out;
    left_out.sort();
    assert_eq!(
        left_out,
        [
            "package.json: scripts.fix: it changes files; a goal only looks",
            "package.json: scripts.format: it changes files; a goal only looks",
            "package.json: scripts.start, clean: not called as a check is",
            "package.json: scripts.test:unit: tests-pass may tell the same",
            "package.json: scripts.test:watch: it does not end by itself",
        ]
    );
}
