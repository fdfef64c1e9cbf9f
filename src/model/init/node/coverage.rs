//! How much the tests of a package of Node's run, by what it is set up for. Pure.

use std::collections::BTreeSet;

use super::super::called::Task;
use super::super::offer::{Proposal, Role};
use super::super::tasks::{TaskFiles, held};
use super::super::{Found, Look, Wishes, join, json, split, writers};
use super::{Package, TABLE, cannot_be_a_goal};
use crate::model::check;

/// Programs that run tests.
pub(super) const RUNNERS: [&str; 12] = [
    "ava",
    "borp",
    "cypress",
    "jasmine",
    "jest",
    "karma",
    "mocha",
    "playwright",
    "tap",
    "tape",
    "uvu",
    "vitest",
];

/// Proposes that tests run enough of it.
pub(super) fn propose(
    look: &dyn Look,
    tasks: &TaskFiles,
    package: &Package,
    wishes: &Wishes,
    found: &mut Found,
) {
    let test = package
        .script("test")
        .filter(|text| cannot_be_a_goal(package, tasks, "test", text).is_none());
    if let Some(runners) = test.and_then(|test| parts(package, tasks, test)) {
        let path = join(&package.home, "package.json");
        let why = format!(
            "each of {} measures a part of the tests only",
            runners.join(", ")
        );
        found.leave_out(format!("{path}: coverage: {why}"));
        return;
    }
    let run = |command: &str| {
        package
            .runs(look, Role::Coverage, "coverage-floor", command)
            .seen_in(join(&package.home, "package.json"))
    };
    let measured = test.and_then(|test| measured(package, tasks, test));
    let tells_itself = measured.is_some();
    let test_script = package.manager.script("test");
    // What the tests wait for, the number waits for, too, that they are run for.
    let as_tests = |goal: Proposal| {
        let tests = package.goal(Role::Test, "tests-pass", &test_script);
        match held(tasks, tests).missing {
            Some(why) => goal.lacks(why),
            None => goal,
        }
    };
    let goal = if tells_itself {
        as_tests(
            package
                .goal(Role::Coverage, "coverage-floor", &test_script)
                .seen_in(format!(
                    "{}: scripts.test",
                    join(&package.home, "package.json")
                )),
        )
    } else if package.depends_on("vitest") && package.calls("vitest") {
        if !["@vitest/coverage-v8", "@vitest/coverage-istanbul"]
            .iter()
            .any(|it| package.depends_on(it))
        {
            return;
        }
        // A snapshot that is missing fails there; written while goals are measured, it would be in no commit. The option for it
        // (`--update=none`) is younger than the variable.
        run("CI=1 vitest run --coverage --coverage.reporter=text")
    } else if package.depends_on("jest") {
        run("jest --ci --coverage --coverageReporters=text")
    } else if test.is_none() {
        return;
    } else if package.depends_on("c8") {
        as_tests(run(&format!("c8 --reporter=text {test_script}")))
    } else if package.depends_on("nyc") {
        as_tests(run(&format!("nyc --reporter=text {test_script}")))
    } else {
        return;
    };
    let own = own_floor(look, package);
    let own = own.or_else(|| floor_of(&measured.unwrap_or_default()));
    // A check of its own even where the same command is the tests' goal: there the exit code counts, here the number.
    let goal = goal
        .covers(own, wishes.coverage, TABLE)
        .same_as(&["--coverage", "coverage"]);
    found.proposals.push(goal);
}

/// Returns the programs that run the tests of a script, if there are several and nothing measures around them all.
fn parts(package: &Package, tasks: &TaskFiles, test: &str) -> Option<Vec<String>> {
    let texts_of = |task: &Task| tasks.texts_of(&package.home, task);
    let runner = |one: &check::Done| {
        let mut words = one.words.iter().map(String::as_str);
        let is_of_node = one.words[0] == "node" && words.clone().any(|word| word == "--test");
        let named = words.find(|word| RUNNERS.contains(&check::program_name(word)));
        let named = named.map(|word| check::program_name(word).to_owned());
        named.or_else(|| is_of_node.then(|| "node --test".to_owned()))
    };
    let reached = writers::reached(test, &texts_of);
    let runners: BTreeSet<String> = reached.iter().filter_map(runner).collect();
    let mut words = test.split_whitespace();
    let is_one = !test.contains(['&', ';', '|', '\n']);
    let is_measured = is_one && words.any(|word| matches!(word, "c8" | "nyc"));
    (runners.len() > 1 && !is_measured).then(|| runners.into_iter().collect())
}

/// Returns the words of the script, or of one that it calls, that measures what its tests run, and shows it.
fn measured(package: &Package, tasks: &TaskFiles, test: &str) -> Option<Vec<String>> {
    let texts_of = |task: &Task| tasks.texts_of(&package.home, task);
    let is_it = |text: &String| {
        let mut names = text.split_whitespace().map(|word| split(word).1);
        let measures = names.any(|it| matches!(it, "c8" | "nyc") || it.starts_with("--coverage"));
        measures && !text.contains("report")
    };
    let texts = writers::texts_reached(test, &texts_of);
    let text = texts.into_iter().map(|(text, _)| text).find(is_it)?;
    Some(text.split_whitespace().map(str::to_owned).collect())
}

/// Returns the floor that c8 or nyc is called with.
fn floor_of(words: &[String]) -> Option<f64> {
    let has = |word: &str| words.iter().any(|it| it == word);
    let value = |at: usize| match words[at].strip_prefix("--lines")? {
        "" => words.get(at + 1).map(String::as_str),
        value => value.strip_prefix('='),
    };
    let lines = || (0..words.len()).find_map(value)?.parse().ok();
    match () {
        () if has("--100") => Some(100.0),
        () if has("--check-coverage") => lines(),
        () => None,
    }
}

/// Returns the floor that the project sets itself.
fn own_floor(look: &dyn Look, package: &Package) -> Option<f64> {
    let within = [
        "/nyc/lines",
        "/c8/lines",
        "/jest/coverageThreshold/global/lines",
    ];
    let mut within = within
        .iter()
        .filter_map(|at| package.json.pointer(at)?.as_f64());
    let in_file = |name: &str| {
        json(look, &join(&package.home, name))?
            .get("lines")?
            .as_f64()
    };
    let files = [".nycrc", ".nycrc.json", ".c8rc.json", ".c8rc"];
    within
        .next()
        .or_else(|| files.iter().filter_map(|name| in_file(name)).next())
}

#[cfg(test)]
mod tests {
    use crate::model::init::propose;
    use crate::model::init::tests::{Files, PLAIN};

    #[test]
    fn tests_that_measure_what_they_run_are_not_measured_around() {
        for (scripts, expected) in [
            (
                r#""test": "npm run unit && npm run types", "unit": "c8 --100 node --test", "types": "tstyche""#,
                ("npm test --silent", 100.0, true),
            ),
            (
                r#""test": "c8 --check-coverage --lines 95 node --test""#,
                ("npm test --silent", 95.0, true),
            ),
            (
                r#""test": "npm run unit", "unit": "c8 --check-coverage --lines=90.5 node --test""#,
                ("npm test --silent", 90.5, true),
            ),
            (
                r#""test": "npm run unit", "unit": "c8 --lines 90 node --test""#,
                ("npm test --silent", 80.0, false),
            ),
            // What is written to a file shows no table.
            (
                r#""test": "npm run unit", "unit": "c8 --reporter=lcov node --test""#,
                (
                    "npx --no-install c8 --reporter=text npm test --silent",
                    80.0,
                    false,
                ),
            ),
        ] {
            let package =
                format!(r#"{{"scripts": {{{scripts}}}, "devDependencies": {{"c8": "12"}}}}"#);
            let files = Files::of(&[("package.json", &package), ("!node_modules", "")]);
            let found = propose(&files, &PLAIN);
            let mut all = found.proposals.iter().filter_map(|one| {
                let measured = one.measured.as_ref()?;
                Some((one.check.as_str(), measured.floor, measured.is_own))
            });
            assert_eq!(all.next(), Some(expected), "{scripts}");
        }
    }
}
