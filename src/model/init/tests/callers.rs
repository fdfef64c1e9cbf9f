//! What a project's tasks, hooks and CI call, and what follows from it for its goals.

use super::later::workflow_of;
use super::*;

#[test]
fn a_loop_of_which_only_the_last_turn_counts_waits_be_it_in_a_function() {
    let loops = |body: &str| format!("for f in *.sh; do\n  {body}\ndone\n");
    let plain = loops("sh -n \"$f\"");
    let function = format!("lint() {{\n  {plain}}}\nlint\n");
    let why = "a loop goes on where `sh -n \"$f\"` fails: put `|| exit 1` behind that, then take the # away";
    let waits = |files: &[(&str, &str)]| {
        let found = propose(&Files::of(files), &PLAIN);
        reads_back(&found);
        let is_own = |one: &&Proposal| one.source.contains("check-a");
        let mut all = found.proposals.iter().filter(is_own);
        all.next()?.missing.clone()
    };
    for (script, is_held) in [
        (plain.clone(), true),
        (function.clone(), true),
        (format!("function lint {{\n  {plain}}}\nlint\n"), true),
        (format!("{function}lint || exit 1\n"), true),
        (
            format!(
                "lint() {{ {} }}\nlint",
                plain
                    .replace("\n", " ")
                    .replace("do ", "do ")
                    .replace("\" done", "\"; done;")
            ),
            true,
        ),
        // In a condition a function does not stop at what fails.
        (
            format!("set -e\nlint() {{\n  {plain}}}\nif ! lint; then exit 1; fi\n"),
            true,
        ),
        (
            format!("set -e\nlint() {{\n  {plain}}}\nlint || exit 1\n"),
            true,
        ),
        (format!("set -e\n{function}"), false),
        (format!("#!/bin/bash -eu\n{function}"), false),
        (format!("set -o errexit\n{plain}"), false),
        (loops("sh -n \"$f\" || exit 1"), false),
        (
            format!(
                "lint() {{\n  {}}}\nlint\n",
                loops("sh -n \"$f\" || return 1")
            ),
            false,
        ),
        (
            format!("bad=0\n{}exit $bad\n", loops("sh -n \"$f\" || bad=1")),
            false,
        ),
        (
            format!(
                "bad=0\n{}exit $bad\n",
                loops("if ! sh -n \"$f\"; then\n    bad=$((bad + 1))\n  fi")
            ),
            false,
        ),
        (loops("echo \"$f\" | grep -v x"), true),
        (loops("echo \"$f\""), false),
        (
            format!(
                "{}test -z \"$bad\"\n",
                loops("bad=\"$bad$(grep x \"$f\")\"")
            ),
            false,
        ),
        (
            "for f in *.sh; do grep x \"$f\"; done | diff - a\n".to_owned(),
            false,
        ),
        (
            "for f in *.sh; do grep x \"$f\" >> out; done\ndiff out a\n".to_owned(),
            false,
        ),
        (
            "x=$(for f in *.sh; do grep x \"$f\"; done)\ntest -z \"$x\"\n".to_owned(),
            false,
        ),
        (
            "git ls-files | while read -r f; do test -s \"$f\"; done\n".to_owned(),
            true,
        ),
        ("for f in one; do sh -n a.sh; done\n".to_owned(), false),
        (
            "for f in *.sh; do sh -n \"$f\"; done\n# set -e\n".to_owned(),
            true,
        ),
    ] {
        let files = [("scripts/check-a.sh", &*script), ("a", ""), ("a.sh", "")];
        let held = waits(&files);
        assert_eq!(held.is_some(), is_held, "{script}: {held:?}");
        if script == function {
            assert_eq!(held.as_deref(), Some(why));
        }
    }
    let make = |line: &str| format!("check-a:\n\t{line}\n");
    for (makefile, is_held) in [
        (make("for f in *.sh; do sh -n $$f; done"), true),
        (
            make("@lint() { for f in *.sh; do sh -n $$f; done; }; lint"),
            true,
        ),
        (make("set -e; for f in *.sh; do sh -n $$f; done"), false),
        (make("for f in *.sh; do sh -n $$f || exit 1; done"), false),
        (make("sh b.sh"), true),
        (
            format!(
                ".SHELLFLAGS := -ec\n{}",
                make("for f in *.sh; do sh -n $$f; done")
            ),
            false,
        ),
    ] {
        let files = [("Makefile", &*makefile), ("b.sh", &*function), ("a.sh", "")];
        let held = waits(&files);
        assert_eq!(held.is_some(), is_held, "{makefile}: {held:?}");
    }
    // What stops at the first failure has each turn count.
    let workflow = workflow_of(&serde_json::json!({}), &[plain.trim()]);
    let files = [(".github/workflows/check-a.yml", &*workflow), ("a.sh", "")];
    let goals = goals_of(&Files::of(&files), &WITH_CI);
    assert!(goals[1].starts_with("6 sh-n-f: set -e\nfor f"), "{goals:?}");
}
