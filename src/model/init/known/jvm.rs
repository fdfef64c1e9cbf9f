//! What Maven and Gradle are asked for. Pure.

/// Phases of Maven's by which nothing leaves the repository.
pub(super) const PHASES: &[&str] = &[
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
pub(super) const OF_PLUGINS: &[&str] = &[
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
pub(super) const LONG_OF_MAVEN: &[&str] = &[
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
pub(super) const OF_GRADLE: &[&str] = &[
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
pub(super) const TAKEN_BY_GRADLE: &[&str] = &[
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
