//! Projects in the root of kinds that need little: CMake, .NET, Elixir, PHP, Ruby, Perl, Deno and Task, one line of a table for each goal, and
//! the tasks that they list. Pure.

mod cmake;
mod presets;

use super::called::{self, Task};
use super::offer::{NAMED, NO_NAME, Proposal, Role, is_check, no_goal, slug};
use super::tasks::{NAMES, TaskFiles, held, stands_for};
use super::told::MAY;
use super::{Found, Look, first_of, has, is_own, split, writers};
use crate::model::check;
use crate::model::recipes::MAKEFILES;
use crate::model::text::shell_word;

/// More names than a row of those that are known has.
const MOST_NAMES: usize = 64;

/// What else runs the tests of a program.
const ALIKE: [(&str, &[&str]); 1] = [("phpunit", &["artisan test", "paratest", "pest"])];

/// A goal of a kind of project.
struct Goal<'g> {
    role: Role,
    id: &'static str,
    says: &'static str,
    check: &'g str,
    /// Files of which one has to be there; none where the project's own is enough.
    configs: &'static [&'static str],
    /// What it lacks to run.
    lacks: Option<&'g str>,
}

impl<'g> Goal<'g> {
    const fn of(role: Role, id: &'static str, says: &'static str, check: &'g str) -> Goal<'g> {
        Goal {
            role,
            id,
            says,
            check,
            configs: &[],
            lacks: None,
        }
    }

    const fn by(self, configs: &'static [&'static str]) -> Goal<'g> {
        Goal { configs, ..self }
    }

    /// Says whether a command calls what this goal does.
    fn is_called_by(&self, typed: &str) -> bool {
        let check = self.check.trim_start_matches("bundle exec ");
        let tool = match check.strip_prefix("vendor/bin/") {
            Some(rest) => rest.split(' ').next().unwrap_or(rest),
            None => check.split(" -").next().unwrap_or(check),
        };
        let alike = ALIKE.iter().filter(|(name, _)| *name == tool);
        let mut alike = alike.flat_map(|(_, all)| *all);
        typed.contains(tool) || alike.any(|words| typed.contains(words))
    }
}

/// A kind of project.
struct Kind {
    name: &'static str,
    program: &'static str,
    install: &'static str,
    /// Where what it depends on is put, and what puts it there.
    packages: Option<(&'static str, &'static str)>,
    goals: &'static [Goal<'static>],
}

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
/// Tasks that are known by names of their own beside those that any runner has.
const ALSO: [(&str, Role, &str, &str); 2] = [
    ("spec", Role::Test, "tests-pass", "All tests pass"),
    (
        "rubocop",
        Role::Lint,
        "rubocop-clean",
        "RuboCop finds nothing",
    ),
];
const DENO: Kind = Kind {
    name: "Deno",
    program: "deno",
    install: "see https://docs.deno.com/runtime/",
    packages: None,
    goals: &[
        Goal::of(
            Role::Lint,
            "deno-lint-clean",
            "deno lint finds nothing",
            "deno lint",
        ),
        Goal::of(
            Role::Format,
            "fmt-clean",
            "Every file is formatted",
            "deno fmt --check",
        ),
    ],
};
const TASK: Kind = Kind {
    name: "Task",
    program: "task",
    install: "see https://taskfile.dev/installation/",
    packages: None,
    goals: &[],
};
const PERL: Kind = Kind {
    name: "Perl",
    program: "prove",
    install: "it comes with Perl",
    packages: None,
    goals: &[
        Goal::of(Role::Test, "tests-pass", "All tests pass", "prove -lr t").by(&[
            "Makefile.PL",
            "Build.PL",
            "dist.ini",
            "minil.toml",
            "cpanfile",
        ]),
    ],
};
/// What projects are told by below the root: what their files are called, or how these end, with their kind.
const BELOW: [(&[&str], &str); 8] = [
    (&["CMakeLists.txt"], cmake::CMAKE.name),
    (&[".csproj"], DOTNET.name),
    (&["mix.exs"], ELIXIR.name),
    (&["composer.json"], PHP.name),
    (&["Gemfile"], RUBY.name),
    (&["deno.json"], DENO.name),
    (&MAKEFILES, "Make"),
    (&["justfile", "Justfile"], "just"),
];

/// Proposes goals for these kinds.
pub(super) fn propose(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    if let Some(text) = read(look, "CMakeLists.txt") {
        cmake::propose(look, tasks, &text, found);
    }
    let ends = [".csproj", ".fsproj", ".sln", ".slnx", ".vbproj"];
    let is_project =
        |path: &String| split(path).0.is_empty() && ends.iter().any(|end| path.ends_with(end));
    if look.files().iter().any(is_project) {
        offer(look, tasks, &DOTNET, found);
        found.is_compiled = true;
    }
    if let Some(text) = read(look, "mix.exs") {
        // What is called so does more there: `test: ["ecto.create", "ecto.migrate", "test"]`.
        let is_renamed = text.contains("test: [");
        if is_renamed {
            found.leave_out("mix.exs: mix test: its alias does more than test");
        }
        offer(look, tasks, &ELIXIR, found);
        found
            .proposals
            .retain(|one| !is_renamed || one.check != "mix test");
        found.is_compiled = true;
    }
    if has(look, "composer.json") {
        listed(look, tasks, &PHP, "composer", "composer run-script", found);
        offer(look, tasks, &PHP, found);
    }
    if has(look, "Gemfile") {
        listed(look, tasks, &RUBY, "rake", "bundle exec rake", found);
        offer(look, tasks, &RUBY, found);
        if has(look, "config/database.yml") {
            found
                .proposals
                .retain(|one| one.role != Role::Test || !one.check.starts_with("bundle exec "));
            found.leave_out(
                "config/database.yml: tests of Rails change what a database holds; a goal only looks",
            );
        }
    }
    let is_test = |path: &String| path.starts_with("t/") && path.ends_with(".t");
    let by_perl = PERL.goals[0].configs;
    if let Some(config) = first_of(look, "", by_perl).filter(|_| look.files().iter().any(is_test)) {
        match look.files().iter().any(|path| path.ends_with(".xs")) {
            true => found.leave_out(format!(
                "{config}: prove: code in C is built before it is tested"
            )),
            false => offer(look, tasks, &PERL, found),
        }
    }
    if tasks.listed("deno task").is_some() {
        listed(look, tasks, &DENO, "deno task", "deno task", found);
        offer(look, tasks, &DENO, found);
    }
    if tasks.listed("task").is_some() {
        found.is_made_with(TASK.name, "");
        listed(look, tasks, &TASK, "task", "task", found);
    }
}

fn read(look: &dyn Look, path: &str) -> Option<String> {
    has(look, path).then(|| look.read(path).unwrap_or_default())
}

/// Proposes the goals of a kind.
fn offer(look: &dyn Look, tasks: &TaskFiles, kind: &Kind, found: &mut Found) {
    found.is_made_with(kind.name, "");
    for goal in kind.goals {
        add(look, tasks, kind, goal, found);
    }
}

/// Proposes a goal, if it is set up and its role is free; linters stand beside each other.
fn add(look: &dyn Look, tasks: &TaskFiles, kind: &Kind, goal: &Goal<'_>, found: &mut Found) {
    let config = first_of(look, "", goal.configs);
    if config.is_none() && !goal.configs.is_empty() {
        return;
    }
    let tool = goal.id.trim_end_matches("-clean").replace('-', " ");
    let calls_it = |one: &Proposal| one.same.iter().any(|same| same.contains(&tool));
    let texts_of = |task: &Task| tasks.texts_of("", task);
    let may_be_it = |one: &Proposal| {
        let reached = writers::reached(&one.check, &texts_of);
        let program = check::program_name(kind.program);
        let is_unknown = |one: &check::Done| {
            let mut tasks = called::tasks(one).into_iter().flatten();
            tasks.any(|task| texts_of(&task).is_empty())
        };
        // What a task of its own file runs that is not known may be it.
        let is_of_kind = check::programs(&one.check).iter().any(|it| it == program);
        calls_it(one)
            || reached.iter().any(|it| goal.is_called_by(&it.typed()))
            || is_of_kind && reached.iter().any(is_unknown)
    };
    let mut others = found.proposals.iter();
    let other = others.find(|one| {
        let is_there = one.role == goal.role && one.folder.is_empty();
        is_there
            && (if one.role == Role::Lint {
                calls_it(one)
            } else {
                may_be_it(one)
            })
    });
    if let Some(other) = other {
        let source = config.unwrap_or(kind.name);
        let id = other.id.clone();
        found.leave_told(format!("{source}: {}", goal.check), vec![id], MAY);
        return;
    }
    let one = Proposal::new(goal.role, goal.id, "", goal.check)
        .says(goal.says)
        .seen_in(config.unwrap_or(kind.name))
        .same_as(&[goal.check]);
    let one = ready(look, kind, one).alone();
    found.add(match goal.lacks {
        Some(what) => one.lacks(what),
        None => one,
    });
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

/// Proposes the tasks that are listed in a file, by their names; the others are named.
fn listed(
    look: &dyn Look,
    tasks: &TaskFiles,
    kind: &Kind,
    program: &str,
    call: &str,
    found: &mut Found,
) {
    let Some((file, names)) = tasks.listed(program) else {
        return;
    };
    let texts_of = |task: &Task| tasks.texts_of("", task);
    let (mut checks, mut rest) = (Vec::new(), Vec::new());
    for name in &names {
        match of_name(name) {
            Some(of) => checks.push((name, of)),
            None => rest.push(name.as_str()),
        }
    }
    checks.sort_by_key(|(_, (at, ..))| *at);
    for (name, (_, role, id, says)) in checks {
        let text = texts_of(&Task::named(program, name)).join("\n");
        if let Some(why) = no_goal(name, &text, &texts_of) {
            found.leave_out(format!("{file}: {name}: {why}"));
            continue;
        }
        let id = match (id, found.has_id(id)) {
            (id, false) if !id.is_empty() => id.to_owned(),
            (_, _) if !found.has_id(&slug(name)) => slug(name),
            (_, _) => slug(&format!("{program}-{name}")),
        };
        let check = format!("{call} {}", shell_word(name));
        let install = match program {
            "composer" => "see https://getcomposer.org",
            _ => kind.install,
        };
        let one = Proposal::new(role, &id, "", &check)
            .says(says)
            .seen_in(format!("{file}: {name}"))
            .same_as(&[&check, &format!("{program} {name}"), &text])
            .needs(look, call.split(' ').next().unwrap_or(call), install);
        let one = held(tasks, ready(look, kind, one));
        let same = stands_for(found, role, &text, one.missing.is_none(), &texts_of);
        match same.filter(|_| role != Role::Structure) {
            Some(same) => found.leave_told(format!("{file}: {name}"), vec![same], MAY),
            None => drop(found.add(one)),
        }
    }
    for some in rest.chunks(NAMED) {
        found.leave_out(format!("{file}: {}: {NO_NAME}", some.join(", ")));
    }
}

/// Returns what a task of this name is for: how early it is asked, its role, its goal's id and what should hold.
fn of_name(name: &str) -> Option<(usize, Role, &'static str, &'static str)> {
    let plain = name.replace([':', '_'], "-");
    let mut all = NAMES.iter().enumerate().rev();
    let known = all.find_map(|(row, (role, id, says, names))| {
        let at = names.iter().position(|it| *it == plain)?;
        Some((row * MOST_NAMES + at, *role, *id, *says))
    });
    let is_one = is_check(name) || is_check(&plain) || plain.ends_with("-check");
    let also = ALSO.iter().find(|(own, ..)| *own == plain);
    let also = also.map(|(_, role, id, says)| (usize::MAX - 1, *role, *id, *says));
    let other = (
        usize::MAX,
        Role::Structure,
        "",
        "The project's own check finds nothing",
    );
    known.or(also).or_else(|| is_one.then_some(other))
}

/// Names the first project of a kind that lies below the root, where none lies there.
pub(super) fn below(look: &dyn Look, found: &mut Found) {
    for (ends, kind) in BELOW {
        let is_it = |path: &&String| {
            let (folder, name) = split(path);
            let mut ends = ends.iter();
            let is_name =
                ends.any(|end| name == *end || end.starts_with('.') && name.ends_with(end));
            is_name && !folder.is_empty() && is_own(folder)
        };
        let first = look.files().iter().find(is_it);
        let first = first.filter(|_| !found.kinds.iter().any(|it| it == kind));
        if let Some(path) = first {
            found.leave_out(format!(
                "{path}: of {kind} only what lies in the root makes goals"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::propose;
    use super::super::tests::{Files, PLAIN, goals_in};

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
                &[("Makefile.PL", ""), ("lib/A.pm", ""), ("t/a.t", "")],
                &["9 tests-pass: prove -lr t"],
            ),
            (&[("cpanfile", ""), ("A.xs", ""), ("t/a.t", "")], &[]),
            (&[("dist.ini", ""), ("lib/A.pm", "")], &[]),
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
                &[
                    (
                        "deno.json",
                        r#"{"tasks": {"test": "deno test -A", "check": "deno check a.ts", "fmt": "deno fmt"}}"#,
                    ),
                    ("a.ts", ""),
                ],
                &[
                    "9 tests-pass: deno task test",
                    "7 deno-lint-clean: deno lint",
                    "6 checks-pass: deno task check",
                    "3 fmt-clean: deno fmt --check",
                ],
            ),
            (
                &[
                    (
                        "composer.json",
                        r#"{"scripts": {"cs-check": "ecs check", "lint": "parallel-lint src"}}"#,
                    ),
                    ("!vendor", ""),
                ],
                &[
                    "7 lint-clean: composer run-script lint",
                    "7 cs-check: composer run-script cs-check",
                ],
            ),
            (
                &[(
                    "Taskfile.yml",
                    "tasks:\n  lint: golangci-lint run\n  check:docs: markdownlint .\n  serve: x\n",
                )],
                &["7 lint-clean: task lint", "6 check-docs: task check:docs"],
            ),
            (
                &[
                    ("Gemfile", ""),
                    ("Rakefile", "Rake::TestTask.new\ntask default: :test\n"),
                ],
                &["9 tests-pass: bundle exec rake test"],
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

    #[test]
    fn what_makes_no_goal_is_named() {
        let composer = r#"{"scripts": {"test": "phpunit", "cs-fix": "phpcbf", "lint": "phpstan"}}"#;
        for (files, expected) in [
            (
                &[("cpp/CMakeLists.txt", ""), ("vendor/a/composer.json", "")][..],
                &["cpp/CMakeLists.txt: of CMake only what lies in the root makes goals"][..],
            ),
            (
                &[
                    ("a/Makefile", "test:\n\tpytest\n"),
                    ("b/justfile", ""),
                    ("b/Makefile", ""),
                ],
                &[
                    "a/Makefile: of Make only what lies in the root makes goals",
                    "b/justfile: of just only what lies in the root makes goals",
                ],
            ),
            (
                &[("a/Makefile", ""), ("makefile", "x:\n\ty\n")],
                &["makefile: x: not called as a check is"],
            ),
            (
                &[
                    ("composer.json", composer),
                    ("phpunit.xml", ""),
                    ("phpstan.neon", ""),
                ],
                &[
                    "composer.json: cs-fix: not called as a check is",
                    "phpunit.xml: vendor/bin/phpunit: tests-pass may tell the same",
                    "phpstan.neon: vendor/bin/phpstan analyse --no-progress: lint-clean may tell the same",
                ],
            ),
        ] {
            assert_eq!(propose(&Files::of(files), &PLAIN).left_out, expected);
        }
    }
}
