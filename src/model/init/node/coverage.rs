//! How much the tests of a package of Node's run, by what it is set up for. Pure.

use super::super::offer::Role;
use super::super::tasks::TaskFiles;
use super::super::{Found, Look, Wishes, join, json};
use super::{Package, TABLE, cannot_be_a_goal};

/// Proposes that tests run enough of it.
pub(super) fn propose(
    (look, tasks): (&dyn Look, &TaskFiles),
    package: &Package,
    wishes: &Wishes,
    found: &mut Found,
) {
    let test = package
        .script("test")
        .filter(|text| cannot_be_a_goal((package, tasks), "test", text).is_none());
    let run = |command: &str| {
        package
            .runs(look, (Role::Coverage, "coverage-floor"), command)
            .seen_in(join(&package.home, "package.json"))
    };
    let tells_itself = test.is_some_and(|text| {
        ["c8 ", "nyc ", "--coverage"]
            .iter()
            .any(|word| text.contains(word))
            && !text.contains("report")
    });
    let test_script = package.manager.script("test");
    let goal = if tells_itself {
        package
            .goal(Role::Coverage, "coverage-floor", &test_script)
            .seen_in(format!(
                "{}: scripts.test",
                join(&package.home, "package.json")
            ))
    } else if package.depends_on("vitest") && package.calls("vitest") {
        if !["@vitest/coverage-v8", "@vitest/coverage-istanbul"]
            .iter()
            .any(|it| package.depends_on(it))
        {
            return;
        }
        run("vitest run --coverage --coverage.reporter=text")
    } else if package.depends_on("jest") {
        run("jest --coverage --coverageReporters=text")
    } else if test.is_none() {
        return;
    } else if package.depends_on("c8") {
        run(&format!("c8 --reporter=text {test_script}"))
    } else if package.depends_on("nyc") {
        run(&format!("nyc --reporter=text {test_script}"))
    } else {
        return;
    };
    let own = own_floor(look, package);
    // A check of its own even where the same command is the tests' goal: there the exit code counts, here the number.
    let goal = goal
        .covers((own, wishes.coverage), TABLE)
        .same_as(&["--coverage", "coverage"]);
    found.proposals.push(goal);
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
