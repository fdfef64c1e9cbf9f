//! Goals that stand in each other's way, and what makes none.

use super::*;

#[test]
fn a_goal_that_cannot_run_stands_in_nobodys_way() {
    let makefile = "lint:\n\t@ruff check\ntest:\n\tgo test ./...\nclean:\n\trm a\nfmt:\n\tx\nunit-test:\n\ty\n";
    let files = Files::of(&[
        ("Makefile", makefile),
        ("a.sh", ""),
        ("go.mod", ""),
        ("a_test.go", ""),
    ])
    .without(&["shellcheck", "go", "gofmt", "golangci-lint", "staticcheck"]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        [
            "9 unit-test: make --silent unit-test",
            "7 lint-clean: make --silent lint",
        ]
    );
    let left_out = propose(&files, &PLAIN).left_out;
    assert_eq!(
        left_out,
        [
            "Makefile: test: tests-pass may tell the same",
            "Makefile: fmt: it changes files; a goal only looks",
            "Makefile: clean: not called as a check is",
        ]
    );
    // What its recipe calls counts, too.
    let needing = "lint: style\n\t@echo linted\nstyle:\n\tgo vet\n";
    for makefile in [makefile, needing] {
        let files = Files::of(&[("Makefile", makefile)]).without(&["go"]);
        let found = propose(&files, &PLAIN);
        let lacking: Vec<_> = found.lacking().map(|one| one.missing.as_deref()).collect();
        assert_eq!(lacking[0], Some("go is not installed"));
    }
}

#[test]
fn a_target_for_formatting_is_told_by_its_recipe_before_by_its_name() {
    let said = "$(warning no golangci-lint in $(PATH), run: curl x)\n";
    let recipe = |recipe: &str| format!("{said}fmt:\n\t$(info *** formatting ***)\n\t{recipe}\n");
    let looks = recipe("@test -z $(shell gofmt -l $(SRC)) || (gofmt -d $(SRC); exit 1)");
    assert_eq!(
        goals_in(&[("Makefile", &looks)]),
        ["3 fmt-clean: make --silent fmt"]
    );
    let left = |makefile: &str, go: &'static str| {
        let files = [("Makefile", makefile), (go, "module a\n")];
        propose(&Files::of(&files), &PLAIN).left_out
    };
    assert_eq!(
        left(&looks, "go.mod"),
        ["Makefile: fmt: gofmt-clean may tell the same"]
    );
    let changes = "Makefile: fmt: it changes files (gofmt -w .); a goal only looks";
    assert_eq!(left(&recipe("gofmt -w ."), "go.mod"), [changes]);
    let by_name = "Makefile: fmt: it changes files; a goal only looks";
    assert_eq!(left(&recipe("./tidy"), "x"), [by_name]);
}

#[test]
fn scripts_that_make_no_goal_are_named() {
    let package = r#"{"scripts": {"test": "jest", "test:unit": "jest unit", "test:watch": "jest -w", "format": "prettier .",
        "start": "node .", "fix": "x --write", "clean": "rm -r dist"}}"#;
    let mut left_out = propose(&Files::of(&[("package.json", package)]), &PLAIN).left_out;
    left_out.sort();
    assert_eq!(
        left_out,
        [
            "package.json: scripts.fix: it changes files (x --write); a goal only looks",
            "package.json: scripts.format: it changes files; a goal only looks",
            "package.json: scripts.start, clean: not called as a check is",
            "package.json: scripts.test:unit: tests-pass may tell the same",
            "package.json: scripts.test:watch: it does not end by itself",
        ]
    );
}

#[test]
fn a_task_whose_recipe_changes_files_makes_no_goal_wherever_it_is_called() {
    let makefile = "lint:\n\tsed -i s/foo/bar/ f.txt\ntest: tidy\n\t./t\ntidy:\n\tgo mod tidy\n\
        lint-check:\n\truff check .\nfmt:\n\tblack --check .\ncheck-format:\n\tblack .\n";
    let justfile = "typecheck: fix\n  mypy\nfix:\n  @ruff check --fix .\n";
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: make lint\n      - run: make fmt\n      \
        - run: just typecheck\n      - run: npm run format -- --check\n";
    let package = r#"{"scripts": {"format": "prettier --write .", "check:fmt": "prettier -w ."}}"#;
    let files = [
        ("Makefile", makefile),
        ("justfile", justfile),
        ("package.json", package),
        (".github/workflows/ci.yml", workflow),
    ];
    assert_eq!(
        goals_of(&Files::of(&files), &WITH_CI),
        [
            "7 lint-clean: make --silent lint-check",
            "3 fmt-clean: make fmt"
        ]
    );
    let left_out = propose(&Files::of(&files), &WITH_CI).left_out;
    let ci = ".github/workflows/ci.yml: t";
    for (what, command) in [
        ("Makefile: lint", "sed -i s/foo/bar/ f.txt"),
        ("Makefile: test", "go mod tidy"),
        ("Makefile: check-format", "black ."),
        ("justfile: typecheck", "ruff check --fix ."),
        ("package.json: scripts.check:fmt", "prettier -w ."),
        (
            &format!("{ci}: make lint"),
            "make lint: sed -i s/foo/bar/ f.txt",
        ),
        (
            &format!("{ci}: just typecheck"),
            "just typecheck: ruff check --fix .",
        ),
        (
            &format!("{ci}: npm run format -- --check"),
            "npm run format -- --check: prettier --write . --check",
        ),
    ] {
        let line = format!("{what}: it changes files ({command}); a goal only looks");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
}

#[test]
fn a_makefile_is_read_as_make_reads_it() {
    let makefile = "V := a:b\nlint: ; black .\ntest: \\\n  tidy\n\t./t\ntidy:\n\tgo mod \\\n\ttidy\ndocs: # see; black .\n\t./d\n\
        typecheck:\n\t@${MAKE} lint\ncheck: check-links \\\n  check-words\n\t./c\ncheck-links:\n\t./l\ncheck-words:\n\t./w\n\
        check-sub:\n\t$(MAKE) -C sub lint\ncheck-cost:; test $$(./cost) -lt 5\n";
    let files = Files::of(&[("Makefile", makefile)]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        [
            "9 tests-pass: make --silent check",
            "6 check-sub: make --silent check-sub",
            "6 check-cost: make --silent check-cost",
            "4 docs-build: make --silent docs",
        ]
    );
    let left_out = propose(&files, &PLAIN).left_out;
    for expected in [
        "lint: it changes files (black .); a goal only looks",
        "test: it changes files (go mod tidy); a goal only looks",
        "typecheck: it changes files (make lint: black .); a goal only looks",
        "check-words: tests-pass may tell the same",
    ] {
        let line = format!("Makefile: {expected}");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
}

#[test]
fn a_target_is_told_from_another_one_by_what_its_recipe_calls_it() {
    let makefile = "D=sub\nall:\n\t$(MAKE) -C $(D) $@\ntest:\n\t$(MAKE) -C $(D) $@\n";
    let sub = "all: ; cc a.c\ntest: ; python -m pytest\n";
    let files = [("Makefile", makefile), ("sub/Makefile", sub)];
    assert_eq!(
        goals_in(&files),
        [
            "10 builds: make --silent all",
            "9 tests-pass: make --silent test",
        ]
    );
    let odd = propose(
        &Files::of(&[("Makefile", "test:\n\todd $@ $(X)\n")]),
        &PLAIN,
    );
    let why = odd.proposals.iter().find_map(|one| one.missing.as_deref());
    assert_eq!(
        why,
        Some("evolve does not know what `odd test ${X}` does: look first, then take the # away")
    );
}

#[test]
fn targets_under_a_condition_are_offered_and_wait() {
    let makefile = "ifneq ($(OS),x)\ntest: ; pytest\ncheck-a: ; pytest a\nodd: ; pytest b\nlint: ; ruff check\nendif\nvet: ; ruff check a\n";
    let found = propose(&Files::of(&[("Makefile", makefile)]), &PLAIN);
    let why = "it is there under a condition only: look first, then take the # away";
    let all = found.proposals.iter();
    let all = all.filter(|one| one.id != "no-conflict-markers");
    let all: Vec<_> = all
        .map(|one| (one.check.as_str(), one.missing.as_deref()))
        .collect();
    assert_eq!(
        all,
        [
            ("make --silent test", Some(why)),
            ("make --silent vet", None),
            ("make --silent lint", Some(why)),
            ("make --silent check-a", Some(why)),
        ]
    );
    let line = "Makefile: odd: not called as a check is".to_owned();
    assert!(found.left_out.contains(&line), "{:#?}", found.left_out);
}

#[test]
fn a_file_of_tasks_is_read_once_however_often_it_is_called() {
    let steps: String = (0..20)
        .map(|at| format!("      - run: make t{at}\n"))
        .collect();
    let workflow = format!("on: push\njobs:\n  t:\n    steps:\n{steps}");
    let files = [
        ("Makefile", "t1: t2\n\t./t\nt2:\n\t./u\n"),
        (".github/workflows/ci.yml", &workflow),
    ];
    let files = Files::of(&files);
    assert_eq!(goals_of(&files, &WITH_CI).len(), 20);
    let read = files.read.borrow();
    assert_eq!(read.iter().filter(|path| *path == "Makefile").count(), 1);
}

#[test]
fn the_files_are_not_looked_through_for_each_target() {
    let looked = |targets: usize| {
        let all = (0..targets).map(|at| format!("check-t{at}:\n\t./t {at}\n"));
        let makefile: String = all.collect();
        let files = Files::of(&[("Makefile", &makefile)]);
        propose(&files, &PLAIN);
        files.looked.get()
    };
    assert_eq!(looked(5), looked(500));
}

#[test]
fn of_too_many_goals_those_that_can_run_are_written_and_each_other_is_named() {
    let recipes = |program: &str| {
        let all = (0..50).map(|at| format!("check-{program}-{at}:\n\t{program} {at}\n"));
        all.collect::<String>()
    };
    let makefile = recipes("absent") + &recipes("mypy");
    let files = Files::of(&[("Makefile", &makefile)]).without(&["absent"]);
    let found = propose(&files, &PLAIN);
    assert_eq!((found.runnable().count(), found.lacking().count()), (51, 9));
    let is_rest = |line: &&String| line.ends_with(": 60 goals are enough");
    assert_eq!(found.left_out.iter().filter(is_rest).count(), 41);
}

#[test]
fn a_step_of_ci_has_the_weight_of_what_it_does_and_one_that_cannot_fail_makes_no_goal() {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: stylua --check .\n      - run: mvn spotless:check\n      \
        - run: gofmt -l .\n      - run: gofmt -l . | ./none.sh\n      - run: ./t.sh || true\n  night:\n    \
        if: github.event_name == 'schedule'\n    steps:\n      - run: ./fuzz.sh\n  push:\n    if: github.event_name != 'schedule'\n    \
        steps:\n      - run: ./pushed.sh\n      - run: ./x\n        working-directory: none\n  win:\n    runs-on: ${{ matrix.os }}\n    \
        strategy: {matrix: {os: [windows-latest, macos-14]}}\n    steps:\n      - run: ./w.sh\n";
    let files = Files::of(&[(".github/workflows/ci.yml", workflow), ("pom.xml", "")]);
    let goals = goals_of(&files, &WITH_CI);
    for goal in [
        "stylua --check .",
        "mvn spotless:check",
        "gofmt -l . | ./none.sh",
    ] {
        let is_light = |one: &&String| one.starts_with("3 ") && one.ends_with(goal);
        assert_eq!(
            goals.iter().filter(is_light).count(),
            1,
            "{goal}: {goals:#?}"
        );
    }
    assert!(
        goals.iter().any(|one| one.ends_with("./pushed.sh")),
        "{goals:#?}"
    );
    let left_out = propose(&files, &WITH_CI).left_out;
    for why in [
        "t: gofmt -l .: it succeeds whatever it finds",
        "t: ./t.sh || true: it succeeds whatever it finds",
        "push: ./x: there is no folder none",
        "win: it is for another system",
        "night: it runs on a schedule, by hand or for a release only",
    ] {
        let line = format!(".github/workflows/ci.yml: {why}");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
}

#[test]
fn what_a_makefile_includes_is_part_of_it() {
    let makefile = "-include ./mk/common.mk mk/none.mk # x\nFIX = --fix\nlint: fmt\n\tshellcheck a.sh\ncheck-style:\n\truff check $(FIX) .\n";
    let common = "include mk/more.mk Makefile mk/common.mk\nfmt:\n\tblack .\ntest:\n\t./t\n";
    let files = Files::of(&[
        ("Makefile", makefile),
        ("mk/common.mk", common),
        ("mk/more.mk", "check-links:\n\t./links\n"),
    ]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        [
            "9 tests-pass: make --silent test",
            "6 check-links: make --silent check-links",
        ]
    );
    let left_out = propose(&files, &PLAIN).left_out;
    for why in [
        "Makefile: lint: it changes files (black .); a goal only looks",
        "Makefile: check-style: it changes files (ruff check --fix .); a goal only looks",
    ] {
        assert!(left_out.contains(&why.to_owned()), "{left_out:#?}");
    }
}

#[test]
fn what_cannot_fail_makes_no_goal_and_jobs_of_gitlab_run_where_they_enter() {
    let gitlab = "default:\n  before_script: [cd sub, npm ci]\nunit:\n  script: ./t.sh\npages:\n  script: ./site.sh\n";
    let files = Files::of(&[
        (
            "Makefile",
            "check-a:\n\t@-./a.sh\ncheck-b:\n\t./b.sh || true\ncheck-c:\n\t-./b.sh\n\t./c.sh\n",
        ),
        (
            "package.json",
            r#"{"scripts": {"lint": "eslint . || exit 0", "test": "run-s test:*", "test:fix": "jest --fix"}}"#,
        ),
        (".gitlab-ci.yml", gitlab),
        ("sub/t.py", ""),
    ]);
    assert_eq!(
        goals_of(&files, &WITH_CI),
        [
            "6 check-c: make --silent check-c",
            "6 sub-unit: cd sub && ./t.sh"
        ]
    );
    let left_out = propose(&files, &WITH_CI).left_out;
    for why in [
        "Makefile: check-a: it succeeds whatever it finds",
        "Makefile: check-b: it succeeds whatever it finds",
        "package.json: scripts.lint: it succeeds whatever it finds",
        "package.json: scripts.test: it changes files (run-s test:*: jest --fix); a goal only looks",
        ".gitlab-ci.yml: pages: it sends something away",
    ] {
        assert!(left_out.contains(&why.to_owned()), "{why}: {left_out:#?}");
    }
}

#[test]
fn what_ends_well_in_any_case_makes_no_goal_unless_what_it_needs_may_fail() {
    let makefile = "check-a:\n\t@echo fine\ncheck-b:\n\tmypy . ; exit 0\ncheck-c: objects.o\n\t@echo fine\ncheck-d: own\n\t@echo fine\n\
        own:\n\t./own.sh\ncheck-e:\n\t./e.sh || echo \"not now\" >&2\ncheck-f:\n\t./f.sh || exit 1; true\n\
        check-g:\n\t./g.sh || (echo no; exit 1)\n";
    let files = Files::of(&[("Makefile", makefile)]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        ["c", "d", "f", "g"].map(|name| format!("6 check-{name}: make --silent check-{name}"))
    );
    let left_out = propose(&files, &PLAIN).left_out;
    for name in ["a", "b", "e"] {
        let why = format!("Makefile: check-{name}: it succeeds whatever it finds");
        assert!(left_out.contains(&why), "{why}: {left_out:#?}");
    }
}

#[test]
fn what_runs_around_a_script_by_itself_is_part_of_it_and_what_git_is_asked_about_was_changed() {
    let package = r#"{"scripts": {"test": "jest", "pretest": "eslint --fix .", "lint": "eslint .", "postlint": "echo ok",
        "check:gen": "gen && git diff --exit-code"}}"#;
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: npm test\n      - run: npm run lint\n      \
        - run: |\n          cargo run -p gen\n          git diff --exit-code\n      - run: black .\n";
    let files = [
        ("package.json", package),
        (".github/workflows/ci.yml", workflow),
    ];
    assert_eq!(
        goals_of(&Files::of(&files), &WITH_CI),
        ["7 lint-clean: npm run lint"]
    );
    let left_out = propose(&Files::of(&files), &WITH_CI).left_out;
    let ci = ".github/workflows/ci.yml: t";
    for (what, command) in [
        ("package.json: scripts.test", "eslint --fix ."),
        (
            "package.json: scripts.check:gen",
            "git diff --exit-code behind gen",
        ),
        (&format!("{ci}: npm test"), "npm test: eslint --fix ."),
        (
            &format!("{ci}: cargo run -p gen"),
            "git diff --exit-code behind cargo run -…",
        ),
    ] {
        let line = format!("{what}: it changes files ({command}); a goal only looks");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
    // Later versions of yarn run nothing by themselves.
    let package = package.replacen('{', r#"{"packageManager": "yarn@4.1.0", "#, 1);
    let goals = goals_of(&Files::of(&[("package.json", &package)]), &PLAIN);
    assert_eq!(
        goals,
        ["9 tests-pass: yarn run test", "7 lint-clean: yarn run lint"]
    );
}

#[test]
fn what_ruff_and_tox_do_by_their_settings_counts() {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: ruff check .\n      - run: uv run ruff check --no-fix src\n      \
        - run: tox\n      - run: tox -e style\n      - run: tox -e lint\n      - run: make\n";
    let mut files = vec![
        ("pyproject.toml", "[tool.ruff]\nfix = true\n"),
        ("a.py", ""),
        (
            "tox.ini",
            "[tox]\nenvlist = lint, style\n[testenv:style]\ncommands =\n  black .\n[testenv:lint]\ncommands = flake8\n",
        ),
        (
            "Makefile",
            "all: x\n\tisort .\nlint:\n\truff check\nx:\n\t./x\n",
        ),
        (".github/workflows/ci.yml", workflow),
    ];
    let goals = goals_of(&Files::of(&files), &WITH_CI);
    assert_eq!(
        goals,
        [
            "7 ruff-clean: ruff check --no-fix",
            "7 ruff-check-src: uv run ruff check --no-fix src",
            "7 tox-e-lint: tox -e lint"
        ]
    );
    let left_out = propose(&Files::of(&files), &WITH_CI).left_out;
    let ci = ".github/workflows/ci.yml: t";
    let by_settings = "ruff check: pyproject.toml has it fix them; --no-fix does not";
    for (what, command) in [
        (format!("{ci}: ruff check ."), by_settings),
        ("Makefile: lint".to_owned(), by_settings),
        (format!("{ci}: tox"), "tox: black ."),
        (format!("{ci}: tox -e style"), "tox -e style: black ."),
        (format!("{ci}: make"), "make: isort ."),
    ] {
        let line = format!("{what}: it changes files ({command}); a goal only looks");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
    let goals = goals_of(&Files::of(&files), &PLAIN);
    assert!(
        goals.contains(&"7 ruff-clean: ruff check --no-fix".to_owned()),
        "{goals:#?}"
    );
    // The nearest settings count.
    files.push(("ruff.toml", "line-length = 99\n"));
    let goals = goals_of(&Files::of(&files), &WITH_CI);
    assert!(
        goals.iter().any(|goal| goal.ends_with(": ruff check .")),
        "{goals:#?}"
    );
}

#[test]
fn what_a_step_runs_by_way_of_another_program_needs_that_one() {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: uv run pytest\n      - run: npx tsc --noEmit\n      \
        - run: bundle exec rake\n";
    let package = r#"{"devDependencies": {"typescript": "5"}}"#;
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        ("package.json", package),
        ("package-lock.json", ""),
    ])
    .without(&["pytest", "tsc", "bundle"]);
    assert_eq!(
        goals_of(&files, &WITH_CI),
        ["9 uv-run-pytest: uv run pytest"]
    );
    let found = propose(&files, &WITH_CI);
    let lacking: Vec<_> = found.lacking().map(|one| one.missing.as_deref()).collect();
    let packages = "the packages of package.json are not installed: npm ci";
    assert_eq!(lacking, [Some(packages), Some("bundle is not installed")]);
}

#[test]
fn jobs_of_gitlab_that_wait_for_somebody_or_a_release_make_no_goal() {
    let gitlab = "default:\n  before_script: [cd sub]\n.hand: {when: manual}\na: {extends: .hand, script: ./a}\n\
        b: {only: [tags], script: ./b}\nc: {only: {refs: [schedules, web]}, script: ./c}\n\
        d: {rules: [{if: $CI_COMMIT_TAG}, {when: never}], script: ./d}\n\
        e: {rules: [{if: '$CI_PIPELINE_SOURCE == \"schedule\"'}, {if: $CI_MERGE_REQUEST_ID}], script: ./e}\n\
        f: {only: [main, tags], script: ./f}\ng: {when: always, inherit: {default: false}, script: ./g}\n\
        h: {inherit: {default: [before_script]}, script: ./h}\n";
    let files = Files::of(&[(".gitlab-ci.yml", gitlab), ("sub/a", "")]);
    let in_sub = |name: &str| format!("6 sub-{name}: cd sub && ./{name}");
    assert_eq!(
        goals_of(&files, &WITH_CI),
        [in_sub("e"), in_sub("f"), "6 g: ./g".to_owned(), in_sub("h")]
    );
    let left_out = propose(&files, &WITH_CI).left_out;
    for name in ["a", "b", "c", "d"] {
        let why = "it runs on a schedule, by hand or for a release only";
        let why = format!(".gitlab-ci.yml: {name}: {why}");
        assert!(left_out.contains(&why), "{why}: {left_out:#?}");
    }
}

#[test]
fn what_a_justfile_imports_is_part_of_it() {
    let files = Files::of(&[
        (
            "justfile",
            "import 'other.just'\nimport? \"none.just\"\n[confirm]\ncheck-a:\n  ./a\nfmt := 'black'\nlint:\n  {{fmt}} .\n",
        ),
        ("other.just", "check-links:\n  ./links\n"),
    ]);
    assert_eq!(
        goals_of(&files, &PLAIN),
        ["6 check-links: just check-links"]
    );
    let left_out = propose(&files, &PLAIN).left_out;
    for why in [
        "justfile: lint: it changes files (black .); a goal only looks",
        "justfile: check-a: it asks somebody first, or is for another system",
    ] {
        assert!(left_out.contains(&why.to_owned()), "{left_out:#?}");
    }
}

#[test]
fn what_sends_something_away_or_goes_on_makes_no_goal_by_whichever_way_it_is_called() {
    let makefile = "deploy:\n\taws s3 sync . s3://x\ncheck-site: deploy\n\t@test -e a\nlint:\n\tgit push origin main\n\
        test:\n\tpre-commit run --all-files\ncheck-net:\n\tdocker compose up -d\n\tnpm run e2e\ncheck-docs:\n\t@make serve\n\
        serve:\n\tmdbook serve\ncheck-links:\n\t./links & ./beside\ncheck-own:\n\tgit init a && git -C a push b\n";
    let package = r#"{"scripts": {"check": "npm start", "check:deploy": "npm publish", "docs:build": "vitepress build && gh-pages -d d",
        "lint": "pre-commit run -a", "test": "npm run release", "release": "./r"}}"#;
    let files = [("Makefile", makefile), ("package.json", package)];
    assert_eq!(
        goals_of(&Files::of(&files), &PLAIN),
        ["links", "own"].map(|name| format!("6 check-{name}: make --silent check-{name}"))
    );
    let left_out = propose(&Files::of(&files), &PLAIN).left_out;
    let sends = "it sends something away";
    let serves = "it starts what does not end by itself";
    for why in [
        format!("Makefile: check-site: {sends} (aws s3 sync . s3://x)"),
        format!("Makefile: lint: {sends} (git push origin main)"),
        "Makefile: test: it changes files (pre-commit run --all-files); a goal only looks"
            .to_owned(),
        "Makefile: check-net: it starts services that go on (docker compose up -d)".to_owned(),
        format!("Makefile: check-docs: {serves} (make serve: mdbook serve)"),
        format!("package.json: scripts.check: {serves} (npm start)"),
        format!("package.json: scripts.check:deploy: {sends} (npm publish)"),
        format!("package.json: scripts.docs:build: {sends} (gh-pages -d d)"),
        "package.json: scripts.lint: it changes files (pre-commit run -a); a goal only looks"
            .to_owned(),
        format!("package.json: scripts.test: {sends} (npm run release)"),
    ] {
        assert!(left_out.contains(&why), "{why}: {left_out:#?}");
    }
}

#[test]
fn a_step_that_sends_something_away_makes_no_goal_wherever_the_command_stands() {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: make publish\n      - run: make image\n      \
        - run: |\n          make test\n          git tag v1 && git push --tags\n      - run: |\n          git config user.name bot\n          \
        git add -A\n          git commit -m x\n      - run: npx gh-pages -d dist\n      - run: ./scripts/upload-site.sh\n      \
        - run: pytest tests/test_deploy.py\n      - run: cargo test --features ssh --all\n      - run: cargo publish --dry-run\n";
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        (
            "Makefile",
            "publish:\n\t@touch a\nimage: ; docker buildx build --push -t x .\ntest: ; ./t\n",
        ),
    ]);
    let mut checks = goals_of(&files, &WITH_CI);
    checks.retain(|goal| !goal.contains("make --silent"));
    assert_eq!(
        checks,
        [
            "9 pytest-tests-test-deploy: pytest tests/test_deploy.py",
            "9 cargo-test-ssh: cargo test --features ssh --all",
            "6 cargo-publish-dry-run: cargo publish --dry-run",
        ]
    );
    let left_out = propose(&files, &WITH_CI).left_out;
    let sends = "it sends something away";
    for (step, why) in [
        ("make publish", format!("{sends} (make publish)")),
        (
            "make image",
            format!("{sends} (make image: docker buildx build --push -t x .)"),
        ),
        ("make test", format!("{sends} (git push --tags)")),
        (
            "git config user.name bot",
            "it changes files (git add -A); a goal only looks".to_owned(),
        ),
        (
            "npx gh-pages -d dist",
            format!("{sends} (gh-pages -d dist)"),
        ),
        (
            "./scripts/upload-site.sh",
            format!("{sends} (./scripts/upload-site.sh)"),
        ),
    ] {
        let line = format!(".github/workflows/ci.yml: t: {step}: {why}");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
}

#[test]
fn a_shells_script_that_sends_something_away_makes_no_goal_and_one_with_a_repository_of_its_own_does()
 {
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: ./ci/all.sh\n      - run: bash ci/own.sh\n      - run: ./ci/t.py\n";
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        ("ci/all.sh", "#!/bin/sh\nmake\nsh ci/site.sh\n"),
        ("ci/site.sh", "#!/bin/sh\nrsync -a site h:\n"),
        (
            "ci/own.sh",
            "#!/bin/sh\ncd $(mktemp -d)\ngit init\ngit commit -m x\ngit push ../b\nblack .\n",
        ),
        ("ci/t.py", "#!/usr/bin/env python3\nprint('git push')\n"),
        ("Makefile", "lint:\n\tsh ci/site.sh\n"),
        ("scripts/check-site.sh", "#!/bin/sh\n./ci/site.sh\n"),
    ]);
    let mut goals = goals_of(&files, &WITH_CI);
    goals.retain(|goal| !goal.contains("shellcheck"));
    assert_eq!(
        goals,
        ["6 bash-ci-own-sh: bash ci/own.sh", "6 ci-t-py: ./ci/t.py"]
    );
    let left_out = propose(&files, &WITH_CI).left_out;
    let sends = "it sends something away";
    for why in [
        format!(
            ".github/workflows/ci.yml: t: ./ci/all.sh: {sends} (./ci/all.sh: rsync -a site h:)"
        ),
        format!("Makefile: lint: {sends} (sh ci/site.sh: rsync -a site h:)"),
        format!("scripts/check-site.sh: {sends} (sh scripts/check-site.sh: rsync -a site h:)"),
    ] {
        assert!(left_out.contains(&why), "{why}: {left_out:#?}");
    }
}

#[test]
fn what_needs_a_secret_or_runs_for_others_makes_no_goal_and_what_may_write_is_not_run_at_once() {
    let workflow = "on: push\njobs:\n  a:\n    steps:\n      - run: ./e2e.sh\n        env: {API_KEY: '${{ secrets.API_KEY }}'}\n      - run: ./a\n  \
        b:\n    env: {NODE_AUTH_TOKEN: '${{ secrets.NPM_TOKEN }}'}\n    steps: [{run: ./b}]\n  \
        c:\n    if: false\n    steps: [{run: ./c}]\n  d:\n    if: github.ref == 'refs/heads/main'\n    steps: [{run: ./d}]\n  \
        e:\n    environment: production\n    steps: [{run: ./e}]\n  f:\n    runs-on: ${{ matrix.os }}\n    \
        strategy: {matrix: {include: [{os: windows-latest}]}}\n    steps: [{run: ./f}]\n  g:\n    \
        permissions: {contents: write}\n    steps: [{run: ./g}, {run: cargo test}]\n  test-release:\n    \
        steps: [{run: ./t, if: matrix.os == 'ubuntu-latest'}]\n";
    let gitlab = "a: {script: './check --token $MY_TOKEN'}\nb: {script: './check --token $OWN_TOKEN', variables: {OWN_TOKEN: x}}\n";
    let files = Files::of(&[
        (".github/workflows/ci.yml", workflow),
        (".gitlab-ci.yml", gitlab),
        ("g", "#!/usr/bin/env python3\n"),
    ]);
    let found = propose(&files, &WITH_CI);
    let mut checks: Vec<&str> = offered(&found).map(|one| one.check.as_str()).collect();
    checks.retain(|check| !check.starts_with('!'));
    checks.sort_unstable();
    let own = "export OWN_TOKEN=x\n./check --token $OWN_TOKEN";
    assert_eq!(checks, ["./a", "./t", "cargo test", own]);
    let mut lacking = found.lacking().map(|one| one.missing.as_deref());
    let why = "its job may write to where others see it: look first what it does";
    assert!(lacking.any(|one| one == Some(why)));
    for why in [
        ".github/workflows/ci.yml: a: ./e2e.sh: it needs a secret",
        ".github/workflows/ci.yml: b: ./b: it needs a secret",
        ".github/workflows/ci.yml: c: it never runs",
        ".github/workflows/ci.yml: d: it runs under a condition only",
        ".github/workflows/ci.yml: e: it sends something away",
        ".github/workflows/ci.yml: f: it is for another system",
        ".gitlab-ci.yml: a: it goes by MY_TOKEN, whose value only CI has",
    ] {
        assert!(
            found.left_out.contains(&why.to_owned()),
            "{why}: {:#?}",
            found.left_out
        );
    }
}

#[test]
fn what_a_target_runs_by_way_of_tox_npm_or_ruffs_settings_counts() {
    let makefile = "lint:\n\ttox\ncheck-web:\n\tnpm run lint\ncheck-ok:\n\ttox -e ok\n";
    let tox = "[tox]\nenv_list = py, style\n[testenv:{style,tidy}]\ncommands = {envpython} -m black {posargs:.}\n\
        [testenv:ok]\ncommands = black {posargs:--check} .\n[testenv:ruffy]\ncommands = ruff check .\n";
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: tox -e tidy\n      - run: tox -e ruffy\n      - run: tox -e ok\n";
    let files = Files::of(&[
        ("Makefile", makefile),
        ("tox.ini", tox),
        (
            "package.json",
            r#"{"scripts": {"lint": "pre-commit run -a"}}"#,
        ),
        ("ruff.toml", "fix = true\n"),
        (".github/workflows/ci.yml", workflow),
    ]);
    let mut goals = goals_of(&files, &WITH_CI);
    goals.retain(|goal| !goal.contains("ruff-clean"));
    assert_eq!(goals, ["6 check-ok: make --silent check-ok"]);
    let left_out = propose(&files, &WITH_CI).left_out;
    let same = ".github/workflows/ci.yml: t: tox -e ok: check-ok tells the same".to_owned();
    assert!(left_out.contains(&same), "{left_out:#?}");
    for (what, command) in [
        ("Makefile: lint", "tox: python -m black ."),
        ("Makefile: check-web", "npm run lint: pre-commit run -a"),
        (
            ".github/workflows/ci.yml: t: tox -e tidy",
            "tox -e tidy: python -m black .",
        ),
        (
            ".github/workflows/ci.yml: t: tox -e ruffy",
            "ruff check: ruff.toml has it fix them; --no-fix does not",
        ),
    ] {
        let line = format!("{what}: it changes files ({command}); a goal only looks");
        assert!(left_out.contains(&line), "{line}: {left_out:#?}");
    }
}

#[test]
fn what_is_told_to_succeed_makes_no_goal_and_what_builds_in_one_place_is_alone() {
    let makefile = "lint:\n\truff check --exit-zero .\ncheck-a:\n\tgolangci-lint run --issues-exit-code=0\n\
        check-b:\n\tblack --diff .\ncheck-c:\n\tblack --diff --check .\ncheck-d:\n\tflake8 --exit-zero && ./d\n\
        check-e:\n\ttest -z \"$(gofmt -l .)\"\n";
    let workflow = "on: push\njobs:\n  t:\n    steps:\n      - run: mvn clean install\n      - run: ./x\n      - run: python -Im coverage report\n      \
        - name: Install and test\n        run: |\n          npm ci\n          npm test\n      - name: Install it\n        run: ./install\n";
    let files = Files::of(&[
        ("Makefile", makefile),
        (".github/workflows/ci.yml", workflow),
        ("package.json", "{}"),
    ]);
    let found = propose(&files, &WITH_CI);
    let mut checks: Vec<_> = offered(&found)
        .map(|one| (one.check.as_str(), one.is_alone))
        .collect();
    checks.retain(|(check, _)| !check.starts_with('!'));
    checks.sort_unstable();
    assert_eq!(
        checks,
        [
            ("./x", false),
            ("make --silent check-c", false),
            ("make --silent check-d", false),
            ("make --silent check-e", false),
            ("mvn clean install", true),
            ("npm test", false),
        ]
    );
    for why in [
        "Makefile: lint: it succeeds whatever it finds",
        "Makefile: check-a: it succeeds whatever it finds",
        "Makefile: check-b: it succeeds whatever it finds",
        ".github/workflows/ci.yml: t: python -Im coverage report: it goes by what earlier steps wrote",
        ".github/workflows/ci.yml: t: Install it: it only sets up",
    ] {
        assert!(
            found.left_out.contains(&why.to_owned()),
            "{why}: {:#?}",
            found.left_out
        );
    }
}
