//! The tests that Node's own runner finds and runs, where no script does. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::super::offer::{Proposal, Role};
use super::super::{Look, is_own, is_within, split};
use super::Package;
use super::coverage::RUNNERS;

/// What runs them.
pub(super) const RUNS: &str = "node --test";
/// How many files are read to tell whose tests they are.
const MOST_READ: usize = 200;
/// How a file takes what tests are written with.
static TAKES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*["']node:test(?:/[a-z]+)?["']"#)
        .expect("BUG: a pattern of ours is no pattern")
});

/// Proposes that the tests of a package pass which Node runs itself, if it has any and is set up for no other program that runs tests.
pub(super) fn tests(look: &dyn Look, package: &Package) -> Option<Proposal> {
    let is_found = |path: &&String| {
        let within = match package.home.as_str() {
            "" => Some(path.as_str()),
            home => path.strip_prefix(home).and_then(|it| it.strip_prefix('/')),
        };
        is_within(path, &package.home) && is_own(path) && within.is_some_and(is_test)
    };
    let is_of_others = RUNNERS.iter().any(|runner| package.depends_on(runner));
    let files = look.files().iter().filter(|_| !is_of_others);
    let mut tests = files.filter(is_found).take(MOST_READ);
    let first = tests.find(|path| {
        let text = look.read(path).unwrap_or_default();
        TAKES.is_match(&text)
    })?;
    let goal = package
        .goal(Role::Test, "tests-pass", RUNS)
        .says("All tests pass")
        .seen_in(first)
        .same_as(&[RUNS, "npm test", "npm run test"]);
    Some(goal.needs(look, "node", "see https://nodejs.org"))
}

/// Says whether Node takes a file for one of tests where it is told none.
fn is_test(path: &str) -> bool {
    let (folder, name) = split(path);
    let ends = [".js", ".mjs", ".cjs"];
    let Some(name) = ends.iter().find_map(|end| name.strip_suffix(end)) else {
        return false;
    };
    let is_named = [".test", "-test", "_test"]
        .iter()
        .any(|end| name.ends_with(end));
    let is_below = || folder.split('/').any(|part| part == "test");
    is_named || name == "test" || name.starts_with("test-") || is_below()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_takes_files_for_tests_by_their_names_and_the_folder_of_tests() {
        for (path, expected) in [
            ("test.js", true),
            ("src/a.test.mjs", true),
            ("a-test.cjs", true),
            ("lib/test-a.js", true),
            ("test/a.js", true),
            ("src/test/a/b.mjs", true),
            ("a.js", false),
            ("tests/a.js", false),
            ("test/a.json", false),
            ("contest.js", false),
        ] {
            assert_eq!(is_test(path), expected, "{path}");
        }
        for (text, expected) in [
            ("import test from 'node:test';", true),
            ("const { it } = require(\"node:test\");", true),
            ("import { mock } from 'node:test/reporters'", true),
            ("const t = await import('node:test')", true),
            ("import test from 'ava'", false),
            ("// node:test", false),
        ] {
            assert_eq!(TAKES.is_match(text), expected, "{text}");
        }
    }
}
