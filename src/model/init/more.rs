//! Projects in the root of kinds that need little: CMake, .NET, Elixir, PHP and Ruby, one line of a table for each goal. Pure.

use super::called::{Place, Task};
use super::offer::{Proposal, Role, no_goal};
use super::tasks::TaskFiles;
use super::{Found, Look, first_of, has, split};

/// A goal of a kind of project.
struct Goal {
    role: Role,
    id: &'static str,
    says: &'static str,
    check: &'static str,
    /// Files of which one has to be there; none where the project's own is enough.
    configs: &'static [&'static str],
}

impl Goal {
    const fn of(role: Role, id: &'static str, says: &'static str, check: &'static str) -> Goal {
        Goal {
            role,
            id,
            says,
            check,
            configs: &[],
        }
    }

    const fn by(self, configs: &'static [&'static str]) -> Goal {
        Goal { configs, ..self }
    }
}

/// A kind of project.
struct Kind {
    name: &'static str,
    program: &'static str,
    install: &'static str,
    /// Where what it depends on is put, and what puts it there.
    packages: Option<(&'static str, &'static str)>,
    goals: &'static [Goal],
}

const CMAKE: Kind = Kind {
    name: "CMake",
    program: "cmake",
    install: "install it with your system's packages",
    packages: None,
    goals: &[Goal::of(
        Role::Build,
        "builds",
        "It builds",
        "cmake -S . -B build && cmake --build build",
    )],
};
const CTEST: Goal = Goal::of(
    Role::Test,
    "tests-pass",
    "All tests pass",
    "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
);
const DOTNET: Kind = Kind {
    name: ".NET",
    program: "dotnet",
    install: "see https://dotnet.microsoft.com/download",
    packages: None,
    goals: &[
        Goal::of(Role::Build, "builds", "It builds", "dotnet build"),
        Goal::of(Role::Test, "tests-pass", "All tests pass", "dotnet test"),
        Goal::of(
            Role::Format,
            "fmt-clean",
            "Every file is formatted",
            "dotnet format --verify-no-changes",
        ),
    ],
};
const ELIXIR: Kind = Kind {
    name: "Elixir",
    program: "mix",
    install: "see https://elixir-lang.org/install.html",
    packages: Some(("deps", "mix deps.get")),
    goals: &[
        Goal::of(Role::Build, "builds", "It builds", "mix compile"),
        Goal::of(Role::Test, "tests-pass", "All tests pass", "mix test"),
        Goal::of(
            Role::Lint,
            "credo-clean",
            "Credo finds nothing",
            "mix credo",
        )
        .by(&[".credo.exs"]),
        Goal::of(
            Role::Format,
            "fmt-clean",
            "Every file is formatted",
            "mix format --check-formatted",
        )
        .by(&[".formatter.exs"]),
    ],
};
const PHP: Kind = Kind {
    name: "Composer",
    program: "php",
    install: "see https://www.php.net",
    packages: Some(("vendor", "composer install")),
    goals: &[
        Goal::of(
            Role::Test,
            "tests-pass",
            "All tests pass",
            "vendor/bin/phpunit",
        )
        .by(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]),
        Goal::of(
            Role::Lint,
            "phpstan-clean",
            "PHPStan finds nothing",
            "vendor/bin/phpstan analyse --no-progress",
        )
        .by(&["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"]),
    ],
};
const RUBY: Kind = Kind {
    name: "Bundler",
    program: "bundle",
    install: "gem install bundler",
    packages: None,
    goals: &[
        Goal::of(
            Role::Test,
            "tests-pass",
            "All tests pass",
            "bundle exec rspec",
        )
        .by(&[".rspec"]),
        Goal::of(
            Role::Lint,
            "rubocop-clean",
            "RuboCop finds nothing",
            "bundle exec rubocop",
        )
        .by(&[".rubocop.yml"]),
    ],
};
/// The scripts of Composer that are goals.
const SCRIPTS: [(Role, &str, &str, &[&str]); 2] = [
    (
        Role::Test,
        "tests-pass",
        "All tests pass",
        &["test", "tests"],
    ),
    (
        Role::Lint,
        "lint-clean",
        "The linters find nothing",
        &["lint", "check-style", "cs-check", "phpstan", "analyse"],
    ),
];

/// Proposes goals for these kinds.
pub(super) fn propose(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    if let Some(text) = read(look, "CMakeLists.txt").filter(|_| !has_below(look, "build/")) {
        offer(look, &CMAKE, found);
        let is_tested = ["enable_testing(", "include(CTest)"];
        if is_tested.iter().any(|word| text.contains(word)) {
            add(look, &CMAKE, &CTEST, found);
        }
        found.is_compiled = true;
    }
    let ends = [".csproj", ".fsproj", ".sln", ".slnx", ".vbproj"];
    let is_project =
        |path: &String| split(path).0.is_empty() && ends.iter().any(|end| path.ends_with(end));
    if look.files().iter().any(is_project) {
        offer(look, &DOTNET, found);
        found.is_compiled = true;
    }
    if let Some(text) = read(look, "mix.exs") {
        // What is called so does more there: `test: ["ecto.create", "ecto.migrate", "test"]`.
        let is_renamed = text.contains("test: [");
        if is_renamed {
            found.leave_out("mix.exs: mix test: its alias does more than test");
        }
        offer(look, &ELIXIR, found);
        found
            .proposals
            .retain(|one| !is_renamed || one.check != "mix test");
        found.is_compiled = true;
    }
    if has(look, "composer.json") {
        composer(look, tasks, found);
        offer(look, &PHP, found);
    }
    if has(look, "Gemfile") {
        offer(look, &RUBY, found);
        if has(look, "config/database.yml") {
            found
                .proposals
                .retain(|one| one.check != "bundle exec rspec");
            found.leave_out(
                "config/database.yml: tests of Rails change what a database holds; a goal only looks",
            );
        }
    }
}

fn read(look: &dyn Look, path: &str) -> Option<String> {
    has(look, path).then(|| look.read(path).unwrap_or_default())
}

fn has_below(look: &dyn Look, folder: &str) -> bool {
    look.files().iter().any(|path| path.starts_with(folder))
}

/// Proposes the goals of a kind.
fn offer(look: &dyn Look, kind: &Kind, found: &mut Found) {
    found.is_made_with(kind.name, "");
    for goal in kind.goals {
        add(look, kind, goal, found);
    }
}

/// Proposes a goal whose role nothing has yet, if it is set up.
fn add(look: &dyn Look, kind: &Kind, goal: &Goal, found: &mut Found) {
    let config = first_of(look, "", goal.configs);
    if found.has(goal.role, "") || config.is_none() && !goal.configs.is_empty() {
        return;
    }
    let one = Proposal::new(goal.role, goal.id, "", goal.check)
        .says(goal.says)
        .seen_in(config.unwrap_or(kind.name))
        .same_as(&[goal.check]);
    found.proposals.push(ready(look, kind, one).alone());
}

/// Says what a goal of a kind lacks.
fn ready(look: &dyn Look, kind: &Kind, one: Proposal) -> Proposal {
    let one = one.needs(look, kind.program, kind.install);
    match kind.packages {
        Some((folder, install)) if !look.is_there(folder) => {
            one.lacks(format!("its packages are not installed: {install}"))
        }
        _ => one,
    }
}

/// Proposes scripts of Composer's.
fn composer(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    for (role, id, says, names) in SCRIPTS {
        for name in names {
            let task = Task {
                program: "composer",
                name,
                place: Place::Folder(String::new()),
                file: None,
                handed: Vec::new(),
            };
            let texts_of = |task: &Task| tasks.texts_of("", task);
            let Some(text) = texts_of(&task).pop().filter(|_| !found.has(role, "")) else {
                continue;
            };
            if let Some(why) = no_goal(name, &text, &texts_of) {
                found.leave_out(format!("composer.json: scripts.{name}: {why}"));
                continue;
            }
            let check = format!("composer run-script {name}");
            let one = Proposal::new(role, id, "", &check)
                .says(says)
                .seen_in(format!("composer.json: scripts.{name}"))
                .same_as(&[
                    &check,
                    &format!("composer {name}"),
                    &format!("composer run {name}"),
                ])
                .needs(look, "composer", "see https://getcomposer.org");
            found.proposals.push(ready(look, &PHP, one));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::goals_in;

    #[test]
    fn each_kind_has_the_goals_that_are_set_up() {
        for (files, expected) in [
            (
                &[("CMakeLists.txt", "project(x)\nenable_testing()\n")][..],
                &[
                    "10 builds: cmake -S . -B build && cmake --build build",
                    "9 tests-pass: cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
                ][..],
            ),
            (
                &[("a.sln", "")],
                &[
                    "10 builds: dotnet build",
                    "9 tests-pass: dotnet test",
                    "3 fmt-clean: dotnet format --verify-no-changes",
                ],
            ),
            (
                &[
                    ("mix.exs", "aliases: [test: [\"ecto.drop\"]]"),
                    ("!deps", ""),
                ],
                &["10 builds: mix compile"],
            ),
            (
                &[
                    (
                        "composer.json",
                        r#"{"scripts": {"test": "phpunit", "lint": "phpcbf"}}"#,
                    ),
                    ("phpstan.neon", ""),
                    ("!vendor", ""),
                ],
                &[
                    "9 tests-pass: composer run-script test",
                    "7 phpstan-clean: vendor/bin/phpstan analyse --no-progress",
                ],
            ),
            (
                &[("Gemfile", ""), (".rspec", ""), (".rubocop.yml", "")],
                &[
                    "9 tests-pass: bundle exec rspec",
                    "7 rubocop-clean: bundle exec rubocop",
                ],
            ),
            (
                &[("Gemfile", ""), (".rspec", ""), ("config/database.yml", "")],
                &[],
            ),
        ] {
            assert_eq!(goals_in(files), expected, "{files:?}");
        }
    }
}
