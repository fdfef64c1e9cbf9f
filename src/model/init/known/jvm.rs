//! What Maven and Gradle are asked for. Pure.

use super::readers::READS;
use super::words::{harms, is_called_a_check, is_verb_in, words_of};
use crate::model::check;

/// Phases of Maven's by which nothing leaves the repository.
const PHASES: &[&str] = &[
    "clean",
    "compile",
    "generate-resources",
    "generate-sources",
    "integration-test",
    "package",
    "prepare-package",
    "process-classes",
    "process-resources",
    "process-test-classes",
    "site",
    "test",
    "test-compile",
    "validate",
    "verify",
];
/// Goals of Maven's plugins that check or tell.
const OF_PLUGINS: &[&str] = &[
    "aggregate",
    "analyze-only",
    "cpd",
    "enforce",
    "go-offline",
    "javadoc",
    "jar",
    "pmd",
    "report",
    "resolve",
    "spotbugs",
    "test-javadoc",
    "testCompile",
];
/// Options of Maven's whose value is the next word.
const LONG_OF_MAVEN: &[&str] = &[
    "--activate-profiles",
    "--define",
    "--file",
    "--global-settings",
    "--log-file",
    "--projects",
    "--resume-from",
    "--settings",
    "--threads",
    "--toolchains",
];
/// Tasks of Gradle's that build or tell, and what they clean is what they built.
const OF_GRADLE: &[&str] = &[
    "classes",
    "clean",
    "dependencies",
    "dokkaHtml",
    "jar",
    "javadoc",
    "projects",
    "properties",
    "shadowJar",
    "tasks",
    "testClasses",
    "war",
];
/// Options of Gradle's whose value is the next word.
const TAKEN_BY_GRADLE: &[&str] = &[
    "--build-file",
    "--configuration",
    "--console",
    "--exclude-task",
    "--gradle-user-home",
    "--include-build",
    "--init-script",
    "--max-workers",
    "--project-cache-dir",
    "--project-dir",
    "--settings-file",
    "--tests",
    "--warning-mode",
    "-D",
    "-I",
    "-P",
    "-b",
    "-c",
    "-g",
    "-p",
    "-x",
];

/// Returns the goals that Maven is asked for.
pub(super) fn goals_of_maven<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let takes = [
        "-D", "-P", "-T", "-f", "-gs", "-l", "-pl", "-rf", "-s", "-t",
    ];
    check::operands(words, |word| {
        takes.contains(&word) || LONG_OF_MAVEN.contains(&word)
    })
}

/// Says whether a goal of Maven's is one of its phases that stay in the repository, or one of a plugin's that checks or tells.
pub(super) fn is_goal_of_maven(goal: &&str) -> bool {
    match goal.rsplit_once(':') {
        None => PHASES.contains(goal),
        Some((plugin, goal)) => {
            let is_own = plugin.rsplit(':').next() == Some(goal) && is_verb_in(goal);
            let tells = OF_PLUGINS.contains(&goal) || READS.contains(&goal);
            tells || is_own || is_called_a_check(goal)
        }
    }
}

/// Returns the tasks that Gradle is asked for.
pub(super) fn tasks_of_gradle<'w>(words: &[&'w str]) -> Vec<&'w str> {
    check::operands(words, |word| TAKEN_BY_GRADLE.contains(&word))
}

/// Says whether a task of Gradle's checks, builds or tells.
pub(super) fn is_task_of_gradle(task: &&str) -> bool {
    let name = task.rsplit(':').next().unwrap_or(task);
    let is_on_device = words_of(name)
        .iter()
        .any(|word| word == "connected" || word == "device");
    let is_own = OF_GRADLE.contains(&name) || READS.contains(&name);
    let reports = words_of(name).last().is_some_and(|word| word == "report");
    let builds = words_of(name)
        .first()
        .is_some_and(|word| word == "assemble");
    let is_known = is_own || is_verb_in(name) || reports || builds;
    is_known && !is_on_device && !harms(name)
}
