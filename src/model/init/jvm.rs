//! Maven and Gradle: it builds, its tests pass, and so do the checks that its build file sets up. By the wrapper if there is one. Pure.

use super::offer::{Proposal, Role};
use super::{Found, Look, Wishes, first_of, has, homes, join};

const GRADLE_FILES: [&str; 4] = [
    "settings.gradle",
    "settings.gradle.kts",
    "build.gradle",
    "build.gradle.kts",
];
/// What Gradle's `check` runs besides tests.
const GRADLE_LINTERS: [&str; 6] = [
    "checkstyle",
    "detekt",
    "ktlint",
    "spotbugs",
    "pmd",
    "spotless",
];

/// Adds up the lines of all modules in JaCoCo's reports as CSV, of which the eighth and ninth column are lines missed and covered
/// (<https://www.jacoco.org/jacoco/trunk/doc/>); `FOLDER` stands for where they lie.
const JACOCO: &str = r#"find . -path '*/FOLDER/*.csv' -exec cat {} + |
awk -F, '$8 ~ /^[0-9]+$/ { missed += $8; covered += $9 } END { if (missed + covered == 0) exit 1; printf "covered lines: %.2f %%\n", 100 * covered / (missed + covered) }'"#;
/// Where that says the number.
const COVERED: &str = r"{regex: 'covered lines: ([0-9.]+)'}";

/// Proposes goals for Maven and Gradle projects.
pub(super) fn propose(look: &dyn Look, wishes: &Wishes, found: &mut Found) {
    for home in homes(look, "pom.xml", found, &|_| false) {
        maven(look, &home, wishes, found);
    }
    let mut homes_of_gradle: Vec<String> = Vec::new();
    for file in GRADLE_FILES {
        for home in homes(look, file, found, &|_| false) {
            let is_known = |one: &String| super::is_within(&home, one) || *one == home;
            if !homes_of_gradle.iter().any(is_known) {
                homes_of_gradle.push(home);
            }
        }
    }
    for home in homes_of_gradle {
        gradle(look, &home, wishes, found);
    }
}

/// Returns how a wrapper is called, if there is one.
fn wrapper(look: &dyn Look, home: &str, name: &str) -> Option<String> {
    let path = join(home, name);
    has(look, &path).then(|| match look.is_executable(&path) {
        true => format!("./{name}"),
        false => format!("sh ./{name}"),
    })
}

fn maven(look: &dyn Look, home: &str, wishes: &Wishes, found: &mut Found) {
    found.is_made_with("Maven", home);
    found.is_compiled = true;
    let path = join(home, "pom.xml");
    let text = look.read(&path).unwrap_or_default();
    let wrapper = wrapper(look, home, "mvnw");
    let program = wrapper.clone().unwrap_or_else(|| "mvn".to_owned());
    let goal = |role, id: &str, words: &str| {
        let check = format!("{program} --quiet --batch-mode {words}");
        let goal = Proposal::new(role, id, home, check).seen_in(&path);
        let goal = match &wrapper {
            Some(_) => goal,
            None => goal.needs(look, "mvn", "see https://maven.apache.org/install.html"),
        };
        goal.needs(look, "java", "install a JDK")
    };
    found.proposals.extend([
        // Both write target/: never beside each other.
        goal(Role::Build, "builds", "-DskipTests test-compile")
            .says("It builds, tests included")
            .same_as(&["mvn compile", "test-compile", "mvn package", "mvnw package"])
            .alone(),
        goal(Role::Test, "tests-pass", "test")
            .says("All tests pass")
            .same_as(&[
                "mvn test",
                "mvnw test",
                "mvn verify",
                "mvnw verify",
                "--batch-mode test",
            ])
            .alone(),
    ]);
    let plugins = [
        (
            "spotless-maven-plugin",
            Role::Format,
            "fmt-clean",
            "spotless:check",
            "Every file is formatted",
        ),
        (
            "maven-checkstyle-plugin",
            Role::Lint,
            "checkstyle-clean",
            "checkstyle:check",
            "Checkstyle finds nothing",
        ),
    ];
    for (plugin, role, id, words, says) in plugins {
        if text.contains(plugin) {
            let goal = goal(role, id, words).says(says).same_as(&[words]);
            found
                .proposals
                .push(goal.seen_in(format!("{path}: {plugin}")).alone());
        }
    }
    if text.contains("jacoco-maven-plugin") {
        let words = format!("verify &&\n{}", JACOCO.replace("FOLDER", "site/jacoco"));
        found.proposals.push(
            goal(Role::Coverage, "coverage-floor", &words)
                .covers(None, wishes.coverage, COVERED)
                .same_as(&["jacoco:report", "jacoco:check"])
                .seen_in(format!("{path}: jacoco-maven-plugin")),
        );
    }
}

fn gradle(look: &dyn Look, home: &str, wishes: &Wishes, found: &mut Found) {
    found.is_made_with("Gradle", home);
    found.is_compiled = true;
    let wrapper = wrapper(look, home, "gradlew");
    let program = wrapper.clone().unwrap_or_else(|| "gradle".to_owned());
    let file = first_of(look, home, &GRADLE_FILES).unwrap_or("build.gradle");
    let source = join(home, file);
    let goal = |role, id: &str, words: &str| {
        // A daemon would be ended with the check that started it.
        let check = format!("{program} --quiet --no-daemon {words}");
        let goal = Proposal::new(role, id, home, check).seen_in(&source);
        let goal = match &wrapper {
            Some(_) => goal,
            None => goal.needs(look, "gradle", "see https://gradle.org/install"),
        };
        goal.needs(look, "java", "install a JDK").alone()
    };
    found.proposals.extend([
        goal(Role::Build, "builds", "assemble testClasses")
            .says("It builds, tests included")
            .same_as(&[
                "gradlew assemble",
                "gradle assemble",
                "gradlew build",
                "gradle build",
                "assemble",
            ]),
        goal(Role::Test, "tests-pass", "test")
            .says("All tests pass")
            .same_as(&[
                "gradlew test",
                "gradle test",
                "gradlew build",
                "gradlew check",
                "--no-daemon test",
            ]),
    ]);
    let of_build = |file: &str| look.read(&join(home, file));
    let texts: String = GRADLE_FILES
        .iter()
        .filter_map(|file| of_build(file))
        .collect();
    let linters: Vec<&str> = GRADLE_LINTERS
        .into_iter()
        .filter(|name| texts.contains(name))
        .collect();
    if !linters.is_empty() {
        found.proposals.push(
            goal(Role::Lint, "check-clean", "check -x test")
                .says(format!("{} find nothing", linters.join(", ")))
                .same_as(&["gradlew check", "gradle check", "check -x test"])
                .seen_in(format!("{source}: {}", linters.join(", "))),
        );
    }
    // Its report is HTML alone, unless that is asked for.
    if texts.contains("jacoco") && texts.contains("csv") {
        let words = format!(
            "test jacocoTestReport &&\n{}",
            JACOCO.replace("FOLDER", "reports/jacoco/*")
        );
        found.proposals.push(
            goal(Role::Coverage, "coverage-floor", &words)
                .covers(None, wishes.coverage, COVERED)
                .same_as(&["jacocoTestReport", "jacocoTestCoverageVerification"])
                .seen_in(format!("{source}: jacoco")),
        );
    }
}
