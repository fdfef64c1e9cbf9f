//! Tests of the shell: those of bats, and a script that is called as one that runs all tests. Pure.

use super::super::called::Task;
use super::super::offer::{Proposal, Role};
use super::super::told::MAY;
use super::super::{Found, Look, is_own, split, writers};
use super::{TaskFiles, scripts};
use crate::model::check::{self, program_name};

/// Where tests of bats are looked for.
const OF_BATS: [&str; 6] = ["bats", "spec", "specs", "t", "test", "tests"];
/// How bats is had.
const INSTALL: &str = "see https://bats-core.readthedocs.io";
/// What scripts are called that run all tests, and where they lie.
const NAMES: [&str; 5] = [
    "test.sh",
    "tests.sh",
    "run-tests.sh",
    "run_tests.sh",
    "runtests.sh",
];
const FOLDERS: [&str; 4] = ["", "scripts", "test", "tests"];
/// What they are called below a folder of tests only.
const BELOW: [&str; 2] = ["test/run.sh", "tests/run.sh"];
/// What is said behind the id of a goal by a script that runs tests, too.
const BESIDE: &str = " tests already; whether this tests more, evolve cannot tell";

/// Proposes that these tests pass, where no goal runs them already.
pub(in crate::model::init) fn propose(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    bats(look, tasks, found);
    for path in look.files().iter().filter(|path| is_runner(path)) {
        script(look, tasks, path, found);
    }
}

fn is_runner(path: &str) -> bool {
    let (folder, name) = split(path);
    NAMES.contains(&name) && FOLDERS.contains(&folder) || BELOW.contains(&path)
}

/// Proposes the tests of bats in the folders of the root where such lie.
fn bats(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    let tests = || {
        let all = look.files().iter();
        all.filter(|path| path.ends_with(".bats") && is_own(path))
    };
    let folder = |path: &String| Some(path.split_once('/')?.0.to_owned());
    let mut folders: Vec<String> = tests().filter_map(folder).collect();
    folders.retain(|folder| OF_BATS.contains(&folder.as_str()));
    folders.dedup();
    let Some(first) = tests().next() else { return };
    if folders.is_empty() {
        let known = OF_BATS.join(", ");
        found.leave_out(format!(
            "{first}: tests of bats are looked for in {known} only"
        ));
        return;
    }
    let check = format!("bats -r {}", folders.join(" "));
    let calls = |one: &check::Done| one.words.iter().any(|word| program_name(word) == "bats");
    if let Some(id) = calling(tasks, found, &calls) {
        found.leave_told(format!("{first}: {check}"), vec![id], MAY);
        return;
    }
    let id = match found.has_id("tests-pass") {
        true => "bats-pass",
        false => "tests-pass",
    };
    found.add(
        Proposal::new(Role::Test, id, "", &check)
            .says("All tests of bats pass")
            .seen_in(first)
            .same_as(&["bats"])
            .needs(look, "bats", INSTALL),
    );
}

/// Proposes a script that runs all tests, where nothing tests there yet.
fn script(look: &dyn Look, tasks: &TaskFiles, path: &str, found: &mut Found) {
    let is_it = |one: &check::Done| {
        let dir = one.dir.as_deref().unwrap_or_default();
        let mut words = one.words.iter();
        words.any(|word| check::join(dir, word).as_deref() == Some(path))
    };
    if calling(tasks, found, &is_it).is_some() {
        return;
    }
    let tests = |one: &&Proposal| one.role == Role::Test && one.folder.is_empty();
    let tested = found.proposals.iter().filter(tests);
    let runs = tested.clone().find(|one| one.missing.is_none());
    if let Some(id) = runs.map(|one| one.id.clone()) {
        found.leave_told(path, vec![id], BESIDE);
        return;
    }
    match scripts::goal(look, tasks, path, (Role::Test, "tests-pass")) {
        Ok(goal) => {
            if goal.description == scripts::finds_nothing(path) {
                found.add(goal.says("All tests pass"));
            } else {
                found.add(goal);
            }
        }
        Err(why) => found.leave_out(format!("{path}: {why}")),
    }
}

/// Returns the first goal that comes to a command of which this holds.
fn calling(
    tasks: &TaskFiles,
    found: &Found,
    is_it: &dyn Fn(&check::Done) -> bool,
) -> Option<String> {
    let texts_of = |task: &Task| tasks.texts_of("", task);
    let mut all = found.proposals.iter();
    let one = all.find(|one| writers::reached(&one.check, &texts_of).iter().any(is_it))?;
    Some(one.id.clone())
}

#[cfg(test)]
mod tests {
    use super::super::super::propose;
    use super::super::super::tests::{Files, PLAIN, goals_in};

    /// Other goals than those of the tests of the shell.
    fn own(all: &[(&str, &str)]) -> Vec<String> {
        let mut goals = goals_in(all);
        goals.retain(|goal| !goal.contains("shellcheck"));
        goals
    }

    #[test]
    fn tests_of_bats_are_a_goal_where_no_goal_runs_bats() {
        let tests = ("test/unit/a.bats", "@test 'a' { true; }\n");
        assert_eq!(own(&[tests]), ["9 tests-pass: bats -r test"]);
        let other = ("tests/b.bats", "");
        assert_eq!(own(&[tests, other]), ["9 tests-pass: bats -r test tests"]);
        let by_make = ("Makefile", "test:\n\tbats --tap test/unit\n");
        assert_eq!(own(&[tests, by_make]), ["9 tests-pass: make --silent test"]);
        let of_python = ("Makefile", "test:\n\tpython3 -m unittest discover -s x\n");
        assert_eq!(
            own(&[tests, of_python]),
            [
                "9 tests-pass: make --silent test",
                "9 bats-pass: bats -r test"
            ]
        );
        for (files, line) in [
            (
                vec![tests, by_make],
                "test/unit/a.bats: bats -r test: tests-pass may tell the same",
            ),
            (
                vec![("lib/a.bats", "")],
                "lib/a.bats: tests of bats are looked for in bats, spec, specs, t, test, tests only",
            ),
        ] {
            let left_out = propose(&Files::of(&files), &PLAIN).left_out;
            assert!(left_out.contains(&line.to_owned()), "{left_out:?}");
        }
        let found = propose(&Files::of(&[tests]).without(&["bats"]), &PLAIN);
        let lacking: Vec<_> = found.lacking().map(|one| one.missing.as_deref()).collect();
        let why = "bats is not installed: see https://bats-core.readthedocs.io";
        assert_eq!(lacking, [Some(why)]);
    }

    #[test]
    fn a_script_that_runs_all_tests_is_the_goal_where_nothing_tests_yet() {
        let body = "#!/bin/sh\nset -e\npython3 -m unittest discover -s a\n";
        for (path, check) in [
            ("test.sh", "sh test.sh"),
            ("scripts/run-tests.sh", "sh scripts/run-tests.sh"),
            ("tests/run_tests-x.sh", ""),
            ("tests/run.sh", "sh tests/run.sh"),
            ("lib/test.sh", ""),
        ] {
            let goals = own(&[(path, body)]);
            let expected = format!("9 tests-pass: {check}");
            let expected: Vec<&str> = match check {
                "" => Vec::new(),
                _ => vec![&expected],
            };
            assert_eq!(goals, expected, "{path}");
        }
        let left = |files: &[(&str, &str)]| propose(&Files::of(files), &PLAIN).left_out;
        let line = "test.sh: tests-pass tests already; whether this tests more, evolve cannot tell";
        let script = ("test.sh", body);
        assert_eq!(left(&[script, ("Makefile", "test:\n\tpytest\n")]), [line]);
        let none: [&str; 0] = [];
        let calling = ("Makefile", "test:\n\t./test.sh\n");
        assert_eq!(left(&[script, calling]), none);
        assert_eq!(
            own(&[script, calling]),
            ["9 tests-pass: make --silent test"]
        );
        let succeeds = ("test.sh", "#!/bin/sh\ngrep x a\necho done\n");
        let why = "test.sh: it succeeds whatever it finds";
        assert_eq!(left(&[succeeds]), [why]);
    }
}
