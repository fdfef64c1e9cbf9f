//! What a project's tasks, hooks and CI call, and what follows from it for its goals.

use super::later::workflow_of;
use super::*;

#[test]
fn each_line_of_a_recipe_begins_in_the_folder_of_its_makefile() {
    let own = [("back/t", "grep a b\n"), ("front/t", "grep a b\n")];
    let goals = |lines: &str, more: &str| {
        let text = format!("check:\n{lines}{more}");
        goals_in(&[&own[..], &[("Makefile", text.as_str())]].concat())
    };
    let both = "\tcd back && sh t\n\tcd front && sh t\n";
    let check = ["9 tests-pass: make --silent check"];
    assert_eq!(goals(both, ""), check);
    assert_eq!(goals("\tcd back && sh t\n\tsh front/t\n", ""), check);
    let found = |text: &str| {
        let files = Files::of(&[&own[..], &[("Makefile", text)]].concat());
        let found = propose(&files, &PLAIN);
        let mut all = found.proposals.iter();
        all.find(|one| one.id == "tests-pass")?.missing.clone()
    };
    let one = found(&format!("check:\n{both}.ONESHELL:\n"));
    assert!(one.is_some_and(|why| why.starts_with("there is no ")));
    let lost = "\tcd back && for f in *.txt; do sh -n \"$$f\"; done\n\tsh front/t\n";
    let lost = found(&format!("check:\n{lost}"));
    assert!(lost.is_some_and(|why| why.starts_with("a loop goes on")));
}

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
                plain.replace("\n", " ").replace("\" done", "\"; done;")
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
        (
            format!(
                "bad=0\ncheck() {{\n  sh -n \"$1\" || {{ echo \"$1\"; bad=1; }}\n}}\n{}exit $bad\n",
                loops("check \"$f\"")
            ),
            false,
        ),
        (loops("sh -n \"$f\" || { echo \"$f\"; sh -n a.sh; }"), false),
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

#[test]
fn tasks_of_a_rakefile_are_goals_where_a_gemfile_is_there() {
    let of = |rakefile: &str, more: &[(&str, &str)]| {
        goals_in(&[&[("Gemfile", ""), ("Rakefile", rakefile)], more].concat())
    };
    let spec = "require 'rspec/core/rake_task'\nRSpec::Core::RakeTask.new(:spec)\n";
    let cop = "require 'rubocop/rake_task'\nRuboCop::RakeTask.new\n";
    let test = "Minitest::TestTask.create\n";
    let release = "desc 'x'\ntask :release do\n  sh 'gem push'\nend\nnamespace :a do\n  task(:b) { system 'x' }\nend\n";
    let tests = "9 tests-pass: bundle exec rake test";
    let specs = "9 tests-pass: bundle exec rake spec";
    let cops = "7 rubocop-clean: bundle exec rake rubocop";
    for (rakefile, more, expected) in [
        (
            format!("{spec}{cop}task default: %i[spec rubocop]\n"),
            &[][..],
            &[specs, cops][..],
        ),
        (
            format!("{spec}{cop}"),
            &[(".rspec", ""), (".rubocop.yml", "")],
            &[specs, cops],
        ),
        (format!("{test}{release}"), &[], &[tests]),
        (format!("{test}task check_docs: :test\n"), &[], &[tests]),
        (
            format!("RuboCop::RakeTask.new(:lint)\n{release}"),
            &[],
            &["7 lint-clean: bundle exec rake lint"],
        ),
        (
            "task :test do\n  sh 'ruby -c a.rb'\nend\ntask :lint do\n  sh 'rubocop -a'\nend\n"
                .to_owned(),
            &[],
            &[tests],
        ),
        (
            format!("{spec}task :check_it do\n  sh \"frob #{{x}}\"\nend\n"),
            &[],
            &[specs, "6 check-it: bundle exec rake check_it"],
        ),
        (spec.to_owned(), &[("config/database.yml", "")], &[]),
    ] {
        assert_eq!(of(&rakefile, more), expected, "{rakefile}");
    }
    let unread = "task :test => :compile do\n  run_them\nend\n";
    let found = propose(&Files::of(&[("Gemfile", ""), ("Rakefile", unread)]), &PLAIN);
    let goal = found.proposals.iter().find(|one| one.id == "tests-pass");
    assert_eq!(
        goal.unwrap().missing.as_deref(),
        Some("evolve does not find what `rake test` runs: look first, then take the # away")
    );
    // Without a Gemfile nobody knows by which versions it runs.
    assert_eq!(goals_in(&[("Rakefile", spec)]), [""; 0]);
    let fixes = format!("{spec}task :lint do\n  sh 'rubocop -a'\nend\ntask :pages\n");
    let left = propose(&Files::of(&[("Gemfile", ""), ("Rakefile", &fixes)]), &PLAIN).left_out;
    assert_eq!(
        left,
        [
            "Rakefile: lint: it changes files (rubocop -a); a goal only looks",
            "Rakefile: pages: not called as a check is",
        ]
    );
}

#[test]
fn prek_goes_by_its_own_file_where_that_is_there() {
    let toml = "[[repos]]\nrepo = 'builtin'\nhooks = [{ id = 'check-yaml' }]\n[[repos]]\nrepo = 'x'\nhooks = [{ id = 'typos', args = ['--diff'] }]\n";
    let fixes = "[[repos]]\nrepo = 'x'\n[[repos.hooks]]\nid = 'typos'\n";
    let yaml = "repos:\n- repo: x\n  hooks: [{id: check-json}]\n";
    let prek = ("prek.toml", toml);
    let pre_commit = (".pre-commit-config.yaml", yaml);
    let by_prek = &["7 hooks-pass: prek run --all-files"][..];
    let by_pre_commit = &["7 hooks-pass: pre-commit run --all-files"][..];
    for (files, missing, expected) in [
        (&[prek][..], &[][..], by_prek),
        (&[prek], &["pre-commit"], by_prek),
        (&[prek, pre_commit], &[], by_prek),
        (&[prek, pre_commit], &["prek"], by_pre_commit),
        (&[pre_commit], &[], by_pre_commit),
        (&[pre_commit], &["pre-commit"], by_prek),
        (&[("prek.toml", fixes)], &[], &[]),
        (&[("prek.toml", "repos = 1")], &[], &[]),
    ] {
        let files = Files::of(files).without(missing);
        assert_eq!(goals_of(&files, &PLAIN), expected, "{:?}", files.texts);
    }
    let left = |files: &[(&str, &str)]| propose(&Files::of(files), &PLAIN).left_out;
    assert_eq!(
        left(&[("prek.toml", fixes)]),
        [
            "prek.toml: it changes files (prek run --all-files: typos --write-changes); a goal only looks"
        ]
    );
    let lacking = propose(&Files::of(&[prek]).without(&["prek", "pre-commit"]), &PLAIN);
    let why = lacking.lacking().next().unwrap().missing.clone();
    assert_eq!(
        why.as_deref(),
        Some("prek is not installed: pip install prek")
    );
    let text = "[tool.ruff]\n[tool.black]\n";
    let hooks = "[[repos]]\nrepo = 'x'\nhooks = [{ id = 'ruff-format' }]\n";
    let files = [("pyproject.toml", text), ("a.py", ""), ("prek.toml", hooks)];
    let goals = goals_in(&files).join("\n");
    assert!(
        goals.contains("ruff format --check") && !goals.contains("black"),
        "{goals}"
    );
}

#[test]
fn a_script_that_node_runs_is_the_one_that_npm_runs() {
    let package = r#"{"scripts": {"lint": "eslint .", "fix": "eslint --fix .", "test": "node --test", "odd": "frob"}}"#;
    let of = |runs: &[&str]| {
        let workflow = workflow_of(&serde_json::json!({}), runs);
        let files = [
            ("package.json", package),
            ("!node_modules", ""),
            (".github/workflows/ci.yml", &*workflow),
        ];
        let found = propose(&Files::of(&files), &WITH_CI);
        reads_back(&found);
        let shown = |one: &Proposal| format!("{}: {}", one.id, one.check);
        let own = |one: &&Proposal| one.id != "no-conflict-markers";
        let runs: Vec<String> = found.runnable().filter(own).map(shown).collect();
        let waits: Vec<String> = found
            .lacking()
            .filter_map(|one| one.missing.clone())
            .collect();
        (runs, waits, found.left_out)
    };
    for by in ["npm run", "node --run"] {
        let (runs, waits, left) = of(&[
            &format!("{by} lint"),
            &format!("{by} test"),
            &format!("{by} fix"),
            &format!("{by} odd"),
        ]);
        assert_eq!(runs.len(), 2, "{by}: {runs:?}");
        assert!(runs[0].starts_with("tests-pass: "), "{runs:?}");
        assert!(runs[1].starts_with("lint-clean: "), "{runs:?}");
        assert_eq!(
            waits,
            ["evolve does not know what `frob` does: look first, then take the # away"],
            "{by}"
        );
        let fixes = format!(": it changes files ({by} fix: eslint --fix .); a goal only looks");
        assert!(left.iter().any(|one| one.ends_with(&fixes)), "{left:?}");
    }
    let alike = ["npm run", "node --run"].map(|by| {
        let runs = [
            format!("{by} lint -- --max-warnings=0"),
            format!("{by} odd"),
        ];
        let (runs, waits, left) = of(&runs.each_ref().map(String::as_str));
        (format!("{runs:?} {left:?}").replace(by, "RUN"), waits)
    });
    assert_eq!(alike[0], alike[1]);
    assert!(
        alike[0].0.contains("lint-clean: RUN lint -- --max"),
        "{alike:?}"
    );
    let (runs, _, _) = of(&["node --env-file=.env --run=test"]);
    assert_eq!(runs.len(), 2, "{runs:?}");
}

#[test]
fn a_workspace_is_tested_with_the_features_that_ci_tests_it_with() {
    let manifest = "[workspace]\nmembers = ['m']\n[package]\nname = 'a'\n[[test]]\nname = 't'\nrequired-features = ['x']\n";
    let of = |runs: &[&str]| {
        let workflow = workflow_of(&serde_json::json!({}), runs);
        let files = [
            ("Cargo.toml", manifest),
            ("m/Cargo.toml", ""),
            (".github/workflows/ci.yml", &*workflow),
        ];
        let goals = goals_in(&files).into_iter();
        let own = goals.filter_map(|one| Some(one.strip_prefix("9 tests-pass: ")?.to_owned()));
        own.collect::<Vec<_>>().join("\n")
    };
    let whole = "cargo test --quiet --workspace";
    let with = "cargo test --quiet --workspace --features x";
    for (runs, expected) in [
        (&[][..], with.to_owned()),
        (&["cargo test --workspace"], with.to_owned()),
        (
            &["cargo test --all-features --workspace --verbose"],
            format!("{whole} --all-features"),
        ),
        (
            &[
                "cargo test --workspace --features y",
                "cargo test --workspace --features y,z",
            ],
            format!("{whole} --features y,z"),
        ),
        (
            &[
                "cargo test --workspace --exclude m",
                "cargo test --workspace",
                "cargo test --workspace --features y,z",
            ],
            with.to_owned(),
        ),
        (
            &["cargo test", "cargo test --workspace --all-features"],
            format!("cargo test --quiet && {whole} --all-features"),
        ),
        (
            &["cargo test --workspace --no-default-features -F x"],
            format!("{whole} --no-default-features --features x"),
        ),
        (
            &["cargo test --workspace --exclude m"],
            format!("{whole} --exclude m --features x"),
        ),
        (
            &["cargo test --workspace", "cargo test -p m --features x"],
            format!("{whole} && cargo test --quiet -p m --features x"),
        ),
        (
            &[
                "cargo test -p a",
                "cargo test --package=m --features x -- --nocapture",
            ],
            "cargo test --quiet -p a && cargo test --quiet -p m --features x".to_owned(),
        ),
        (&["cargo test -p m --lib fast"], with.to_owned()),
        (&["cargo test -p m --features '$X'"], with.to_owned()),
    ] {
        assert_eq!(of(runs), expected, "{runs:?}");
    }
    let lints = workflow_of(
        &serde_json::json!({}),
        &["cargo clippy --workspace --exclude m --all-targets --all-features -- -D warnings"],
    );
    let files = [
        ("Cargo.toml", manifest),
        (".github/workflows/ci.yml", &*lints),
    ];
    let goals = goals_in(&files).join("\n");
    let clippy =
        "cargo clippy --quiet --workspace --all-targets --exclude m --all-features -- -D warnings";
    assert!(goals.contains(clippy), "{goals}");
    assert!(goals.contains(with), "{goals}");
}

#[test]
fn what_ci_tests_as_it_is_by_default_is_tested_so_and_with_features_beside_it() {
    let of = |wishes: &Wishes, runs: &[&str]| {
        let workflow = workflow_of(&serde_json::json!({}), runs);
        let files = [
            ("Cargo.toml", "[package]\nname = 'a'\n"),
            (".github/workflows/ci.yml", &*workflow),
        ];
        let mut goals = goals_of(&Files::of(&files), wishes);
        goals.retain(|one| one.starts_with("9 "));
        goals
    };
    let plain = "9 tests-pass: cargo test --quiet";
    for (runs, expected) in [
        (
            &["cargo test --features stub", "cargo test"][..],
            &[
                plain,
                "9 tests-pass-with-features: cargo test --quiet --features stub",
            ][..],
        ),
        (
            &["cargo test --locked -v", "cargo test --all-features"],
            &[
                plain,
                "9 tests-pass-with-features: cargo test --quiet --all-features",
            ],
        ),
        (
            &["cargo test", "cargo test --no-default-features"],
            &[plain],
        ),
        (&["cargo test"], &[plain]),
        (
            &[
                "cargo test",
                "rustup default nightly",
                "cargo test --features stub",
            ],
            &[plain],
        ),
        (
            &["cargo test --features a", "cargo test --features a,b"],
            &["9 tests-pass: cargo test --quiet --features a,b"],
        ),
    ] {
        assert_eq!(of(&PLAIN, runs), expected, "{runs:?}");
    }
    for more in ["--all-features", "--features stub"] {
        let with = format!("cargo test {more}");
        assert_eq!(
            of(&WITH_CI, &["cargo test", &with]),
            [
                "9 tests-pass: cargo test".to_owned(),
                format!("9 tests-pass-with-features: {with}"),
            ]
        );
    }
}
