//! Which steps of CI run at once, and what the others say.

use super::*;

const FE: &str =
    r#"{"name": "@a/fe", "scripts": {"test": "prettier --write .", "lint": "eslint ."}}"#;
const WEB: &str = r#"{"name": "web", "scripts": {"build": "tsc", "test": "jest", "types": "tsc"}}"#;
const ROOT: &str = r#"{"scripts": {"test": "jest", "lint:types": "tsc", "all": "eslint . && npm test", "types": "npm run types --workspaces", "odd": "x"}}"#;

/// What stands in the repository of these tests.
const FILES: [(&str, &str); 20] = [
    ("Cargo.toml", ""),
    ("a.txt", ""),
    ("bin/rails", ""),
    ("ci/check-links.sh", "#!/bin/sh\n"),
    ("ci/notify.py", "print(1)\n"),
    ("docs/index.md", ""),
    ("gradlew", ""),
    (
        "Makefile",
        "all test check distcheck:\n\t./runtest\ne2e:\n\tfrobnicate\n",
    ),
    ("docs/Makefile", "html check:\n\tsphinx-build . out\n"),
    (
        "fe/Makefile",
        "test:\n\tblack .\nlint: ; ruff check\nci: lint ; make test\n",
    ),
    ("fe/package.json", FE),
    ("manage.py", ""),
    ("package.json", ROOT),
    ("web/package.json", WEB),
    ("mvnw", ""),
    ("runtest", "#!/bin/sh\n"),
    ("scripts/lintAll.js", ""),
    ("setup.py", ""),
    ("tox.ini", "[testenv]\ncommands = pytest\n"),
    ("tests/deploy_test.sh", "#!/bin/sh\n"),
];

/// Returns the goals of one step.
fn of_step(step: &serde_json::Value) -> Vec<Proposal> {
    let workflow = serde_json::json!({"on": "push", "jobs": {"a": {"steps": [step]}}});
    let mut files = FILES.to_vec();
    let workflow = workflow.to_string();
    files.push((".github/workflows/ci.yml", &workflow));
    let files = Files::of(&files);
    let tasks = TaskFiles::of(&files);
    let packages = node::propose(&files, &tasks, &WITH_CI, &mut Found::default());
    // Other goals may tell the same, and are none of these tests'.
    let mut found = Found::default();
    ci::propose(&files, &packages, &tasks, &mut found);
    offer::general(&files, &mut found);
    settle::settle(&mut found);
    reads_back(&found);
    found.proposals.retain(|one| one.id != offer::GENERAL);
    found.proposals
}

/// Returns why the goal of a command does not run at once, if so.
fn why(command: &str) -> Option<String> {
    match of_step(&serde_json::json!({"run": command})).as_slice() {
        [one] => one.missing.clone(),
        other => Some(format!("{} goals", other.len())),
    }
}

/// Asserts of each command what it waits for.
#[track_caller]
fn assert_each(all: &[(&str, Option<String>)]) {
    let other = all
        .iter()
        .map(|(command, why)| (*command, why.clone(), self::why(command)));
    let other: Vec<_> = other.filter(|(_, expected, why)| expected != why).collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn what_is_known_to_look_check_or_build_runs_at_once() {
    let known = [
        "[ \"$(grep -c x a.txt)\" -eq 1 ]",
        "diff a.txt <(sort a.txt)",
        "git ls-files '*.sh' | xargs shellcheck",
        "make && find build -name '*.o' | xargs rm -f",
        "make && find build out -name '*.o' -print0 | sort -z | xargs -0 -r rm -f --",
        "make && ls build/*.o | grep -v a.o | xargs touch",
        "git ls-files '*.txt' | xargs -I% cp % build",
        "git ls-files '*.txt' | xargs cp -t build",
        "git ls-files '*.txt' | xargs -I{} touch build/{}.ok",
        "find docs -name '*.md' -exec grep -L x {} +",
        "mkdir -p out\nmake test",
        "python -Im pytest -q",
        "python3.12 -W error -m unittest",
        "uv run mypy .",
        "npx --no-install tsc --noEmit",
        "timeout 60 cargo nextest run",
        "cargo +nightly miri test",
        "cargo xtask lint",
        "cargo publish --dry-run",
        "go mod verify",
        "go vet ./... && go test ./...",
        "npm run lint:types",
        "pnpm -r --filter web run build",
        "yarn workspaces foreach -A run types",
        "npx nx run-many -t types",
        "npx playwright test",
        "if ! make test; then\n  exit 1\nfi",
        "npx cypress run --headless",
        "rebar3 as test ct",
        "rebar3 dialyzer",
        "mix sobelow --config",
        "python -m json.tool a.txt",
        "dotnet format --verify-no-changes",
        "npm run all",
        "npm run types",
        "yarn tsc --noEmit",
        "make",
        "make -j4 V=1 distcheck",
        "make -C docs html",
        "./mvnw -B verify",
        "mvn -B -P ci -T 4 clean verify checkstyle:check spotbugs:spotbugs",
        "mvn -DskipTests package javadoc:javadoc",
        "./gradlew :app:assembleDebug lintDebug test --tests Foo -x integrationTest",
        "gradle clean build koverXmlReport",
        "test -n \"${X:-$(cat a.txt)}\"",
        "grep -q x <<E\n$(cat a.txt)\nE",
        "grep -q x <<'E'\n$(rm a.txt)\nE",
        "awk '/a|b/ { n++ } END { exit n > 1 }' a.txt",
        "sed -n 's/a/b/p' a.txt | grep -q b",
        "! git -c color.ui=always grep -q a",
        "sort -o out.txt a.txt && make check",
        "go build -o /dev/null ./...",
        "go build -o bin/x ./cmd/x && ./bin/x-test",
        "pytest --basetemp=/tmp/t",
        "pytest --basetemp build/tmp",
        "bandit -r . -o bandit.json",
        "make test > out.log 2>&1 || exit 1",
        "make test &> out.log && grep -q ok out.log",
        "[[ a > $B ]] && make test",
        "bundle exec rspec",
        "bin/rails test",
        "python manage.py check",
        "python setup.py test",
        "./runtest --verbose",
        "bash ci/check-links.sh",
        "node scripts/lintAll.js",
        "node --test",
        "bash -n ci/notify.py",
        "gcc-12 -o t t.c && ./t-test",
        "cmake -S . -B build\ncmake --build build\ncd build\nctest",
        "cd docs && mkdocs build",
        "rm -rf out dist/* && cp a.txt out && make test",
        "rm -f libx.a new/*.o && make test",
        "make 2>/dev/null && ./runtest >/tmp/log",
        "terraform fmt -check",
        "tox -e py",
        "cmake -B build && ctest --test-dir build",
        "cmake --preset a && cmake --build --preset a && ctest --preset a",
        "cmake --workflow --preset a",
        "make && ctest",
        "ctest -S all.cmake",
        "dotnet test",
        "npm --prefix docs test",
        "cd docs && make html && npm test",
        "make -f docs/Makefile check",
        "mix format --check-formatted",
        "perl -ne 'exit 1 if /x/' a.txt",
        "python3 -c 'import json; json.load(open(\"a.txt\"))'",
    ];
    assert_each(&known.map(|command| (command, None)));
}

#[test]
fn what_is_not_known_waits_until_somebody_has_looked() {
    let unknown = |shown: &str| {
        format!("evolve does not know what `{shown}` does: look first, then take the # away")
    };
    let all = [
        ("docker ps -q", "docker ps -q"),
        ("pg_isready -t 3", "pg_isready -t 3"),
        ("crontab -l && make test", "crontab -l"),
        ("make test && frobnicate", "frobnicate"),
        ("make test install", "make test install"),
        ("make libc6install check", "make libc6install check"),
        ("make test-update", "make test-update"),
        ("make zstd", "make zstd"),
        ("make e2e", "frobnicate"),
        ("bash -c 'rm -rf v && make test'", "rm -rf v"),
        ("npm run odd", "x"),
        ("npx --no-install nyc npm run odd", "x"),
        ("npm run server:test-data", "npm run server:test-data"),
        ("cargo run -p x test", "cargo run -p x test"),
        ("go run ./cmd/seed", "go run ./cmd/seed"),
        ("rake import", "rake import"),
        ("bin/rails import", "bin/rails import"),
        ("python ci/notify.py", "python ci/notify.py"),
        ("python -c 'import x'", "python -c 'import x'"),
        ("node -e 'x()'", "node -e 'x()'"),
        ("ruby -Ilib -e 'x'", "ruby -Ilib -e x"),
        ("$TOOL check", "$TOOL check"),
        ("sh tests/deploy_test.sh", "sh tests/deploy_test.sh"),
        ("cmake -P x.cmake", "cmake -P x.cmake"),
        ("terraform plan", "terraform plan"),
        ("test -n \"${X:-$(frob -rf v; echo y)}\"", "frob -rf v"),
        ("test -n \"${X:-`frob x`}\"", "frob x"),
        ("test -n \"${X/a/$(frob x)}\"", "frob x"),
        ("grep -q x <<E\n$(frob -rf v)\nE", "frob -rf v"),
        (
            "awk 'BEGIN { system(\"rm x\") }'",
            "awk 'BEGIN { system(\"rm x\") }'",
        ),
        ("sed -n '1e rm x' a.txt", "sed -n '1e rm x' a.txt"),
        ("git grep -Orm x", "git grep -Orm x"),
        ("go test -exec rm ./...", "go test -exec rm ./..."),
        ("npx --yes -c 'rm x'", "npx --yes -c"),
        ("pytest --basetemp=docs", "pytest --basetemp=docs"),
        ("pytest --basetemp .", "pytest --basetemp ."),
        ("ruff check --add-noqa", "ruff check --add-noqa"),
        ("mvn test liquibase:dropAll", "mvn test liquibase:dropAll"),
        ("mvn test flyway:clean", "mvn test flyway:clean"),
        ("mvn verify sql:execute", "mvn verify sql:execute"),
        ("mvn install", "mvn install"),
        ("gradle test flywayClean", "gradle test flywayClean"),
        ("./gradlew connectedCheck", "./gradlew connectedCheck"),
    ];
    assert_each(&all.map(|(command, shown)| (command, Some(unknown(shown)))));
    let first = "look first, then take the # away";
    let changes = |shown: &str| format!("`{shown}` changes what git tracks: {first}");
    let all = [
        (
            "./build/unit-tests",
            "there is no ./build/unit-tests: an earlier step has to make it".to_owned(),
        ),
        (
            "cmake --build build",
            "there is no build: an earlier step has to make it".to_owned(),
        ),
        (
            "cmake --build --preset default",
            "there is no folder of the preset default: an earlier step has to make it".to_owned(),
        ),
        (
            "ctest --preset=default",
            "there is no folder of the preset default: an earlier step has to make it".to_owned(),
        ),
        (
            "ctest --output-on-failure",
            "there is no CTestTestfile.cmake: an earlier step has to make it".to_owned(),
        ),
        (
            "cd build && ctest",
            "there is no build: an earlier step has to make it".to_owned(),
        ),
        (
            "meson setup build\nmeson test -C build",
            "there is no build: an earlier step has to make it".to_owned(),
        ),
        (
            "ctest --test-dir build",
            "there is no build: an earlier step has to make it".to_owned(),
        ),
        (
            "meson compile -C build",
            "there is no build: an earlier step has to make it".to_owned(),
        ),
        (
            "cd ci && ../configure && make && make check",
            "there is no Makefile: an earlier step has to make it".to_owned(),
        ),
        (
            "make -C ci",
            "there is no Makefile: an earlier step has to make it".to_owned(),
        ),
        (
            "terraform init\nterraform validate",
            "there is no .terraform: an earlier step has to make it".to_owned(),
        ),
        (
            "dotnet restore\ndotnet build --no-restore",
            "there is no obj: an earlier step has to make it".to_owned(),
        ),
        (
            "dotnet test --no-build",
            "there is no bin: an earlier step has to make it".to_owned(),
        ),
        (
            "python3 gen/check.py",
            "there is no gen/check.py: an earlier step has to make it".to_owned(),
        ),
        (
            "mkdir out\nmake test",
            "`mkdir out` fails where it ran before".to_owned(),
        ),
        (
            "make test >> /srv/log",
            format!("it writes to /srv/log: {first}"),
        ),
        (
            "make test 2> \"/mnt/log\"",
            format!("it writes to /mnt/log: {first}"),
        ),
        (
            "echo x | tee /srv/x && make check",
            format!("it writes to /srv/x: {first}"),
        ),
        ("make test > a.txt", format!("it writes to a.txt: {first}")),
        ("make test > ../x", format!("it writes to ../x: {first}")),
        ("make test > \"$F\"", format!("it writes to $: {first}")),
        ("make test > $F.log", format!("it writes to $.log: {first}")),
        ("make test > a.*", format!("it writes to a.*: {first}")),
        (
            "bash -c 'make test > a.txt'",
            format!("it writes to a.txt: {first}"),
        ),
        (
            "cd docs\nmake test > ../a.txt",
            format!("it writes to ../a.txt: {first}"),
        ),
        (
            "cd docs\nmake test > index.md",
            format!("it writes to index.md: {first}"),
        ),
        (
            "sort -oa.txt a.txt && make test",
            format!("it writes to a.txt: {first}"),
        ),
        (
            "eslint --output-file=a.txt .",
            format!("it writes to a.txt: {first}"),
        ),
        (
            "uniq -c docs/index.md a.txt && make test",
            format!("it writes to a.txt: {first}"),
        ),
        (
            "python -m json.tool docs/index.md a.txt",
            format!("it writes to a.txt: {first}"),
        ),
        ("make test && cp a.txt docs/", changes("cp a.txt docs/")),
        ("make test && touch $F", changes("touch $F")),
        (
            "git ls-files '*.txt' | xargs rm -f\nmake test",
            changes("rm -f"),
        ),
        (
            "cat build/list | xargs touch && make test",
            changes("touch"),
        ),
        (
            "find docs -name '*.md' | xargs chmod 600\nmake test",
            changes("chmod 600"),
        ),
        (
            "find . -name '*.o' | sed s/o/c/ | xargs rm\nmake test",
            changes("rm"),
        ),
        (
            "find . -type f -exec touch {} + && make test",
            changes("touch '{}'"),
        ),
        (
            "git ls-files | xargs -I% cp /dev/null %\nmake test",
            changes("cp /dev/null '{}'"),
        ),
        (
            "git ls-files | xargs -n1 -I% sort -o % % && make test",
            changes("sort -o '{}' '{}'"),
        ),
        (
            "find vendor -name '*.o' | xargs rm -f && make test",
            unknown("rm -f"),
        ),
        ("make test | xargs tee -a && make check", changes("tee -a")),
        (
            "./gradlew2 build\nsh ci/check-links.sh",
            "there is no ./gradlew2: an earlier step has to make it".to_owned(),
        ),
        (
            "make test\nfind . -name x -delete",
            format!("it deletes files (find -delete): {first}"),
        ),
    ];
    assert_each(&all.map(|(command, expected)| (command, Some(expected))));
}

/// Returns the checks of a job's steps, and what each waits for.
fn of_job(job: &serde_json::Value, files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let workflow = serde_json::json!({"on": "push", "jobs": {"a": job}}).to_string();
    let all = [files, &[(".github/workflows/ci.yml", &workflow)]].concat();
    let found = propose(&Files::of(&all).without(&["python3.8", "tox"]), &WITH_CI);
    reads_back(&found);
    let of_ci = found
        .proposals
        .iter()
        .filter(|one| one.source.starts_with(".github"));
    let shown = |one: &Proposal| match &one.missing {
        Some(why) => format!("{}: {why}", one.check),
        None => one.check.clone(),
    };
    (of_ci.map(shown).collect(), found.left_out)
}

#[test]
fn of_a_job_with_services_what_only_looks_runs_at_once_and_tests_wait() {
    let job = serde_json::json!({"services": {"db": {"image": "postgres"}}, "steps": [
        {"run": "mypy ."}, {"run": "pytest"}, {"run": "go build ./..."}, {"run": "make every"},
        {"run": "rector process"},
    ]});
    let (goals, _) = of_job(
        &job,
        &[(
            "Makefile",
            "every: test\n\tgo build ./cmd\ntest:\n\tgo test\n",
        )],
    );
    let why = "its job has services: start them, then take the # away";
    let waits = |check: &str| format!("{check}: {why}");
    let all = [
        "go build ./...",
        &waits("make every"),
        &waits("pytest"),
        "mypy .",
        "rector process: evolve does not know what `rector process` does: look first, then take the # away",
    ];
    assert_eq!(goals, all);
}

#[test]
fn what_is_not_read_is_called_what_it_is() {
    let job = serde_json::json!({"steps": [
        {"uses": "./.github/actions/check"}, {"run": "uv sync --locked"}, {"run": "npx nx affected -t deploy"},
    ]});
    let (goals, left) = of_job(&job, &[]);
    assert_eq!(goals, [""; 0]);
    for (why, line) in [
        "an action of the repository's own, whose steps are not read",
        "it only sets up",
        "it sends something away",
    ]
    .iter()
    .zip(&left)
    {
        assert!(line.contains(why), "{line}");
    }
    let job = serde_json::json!({"uses": "a/b/.github/workflows/c.yml@v1"});
    let (_, left) = of_job(&job, &[]);
    assert!(
        left[0].ends_with("a workflow of another repository, which is not read"),
        "{left:?}"
    );
}

#[test]
fn values_of_a_matrix_are_put_in_and_of_several_versions_the_first_that_is_there() {
    let job = serde_json::json!({
        "strategy": {"matrix": {"py": ["3.8", "3.9"], "flags": ["--all", "--lib"], "n": ["2"]}},
        "steps": [
            {"run": "python${{ matrix.py }} -m pytest -n ${{ matrix.n }}", "name": "On ${{ matrix.py }}"},
            {"run": "cargo test ${{ matrix.flags }}"},
        ],
    });
    let (goals, _) = of_job(&job, &[]);
    assert_eq!(
        goals,
        [
            "python3.9 -m pytest -n 2",
            "cargo test --all",
            "cargo test --lib"
        ]
    );
}

#[test]
fn hooks_that_only_check_are_a_goal_and_those_that_rewrite_files_are_named() {
    let job = serde_json::json!({"steps": [{"run": "pip install pre-commit"}, {"run": "pre-commit run --all-files"}]});
    let hooks = |ids: &str| format!("repos:\n- repo: https://x\n  hooks: [{ids}]\n");
    let of = |text: &str| of_job(&job, &[(".pre-commit-config.yaml", text)]);
    let (goals, _) = of(&hooks(
        "{id: check-yaml}, {id: flake8}, {id: black, args: [--check]}",
    ));
    assert_eq!(goals, ["pre-commit run --all-files"]);
    let (goals, left_out) = of(&hooks("{id: check-yaml}, {id: end-of-file-fixer}"));
    let why = "it changes files (pre-commit run --all-files: end-of-file-fixer); a goal only looks";
    assert!(
        goals.is_empty() && left_out.iter().any(|it| it.ends_with(why)),
        "{left_out:#?}"
    );
    let (goals, _) = of(&hooks("{id: flake8}, {id: of-nobody}"));
    assert!(goals[0].contains("evolve does not know what"), "{goals:?}");
    let (goals, left_out) = of_job(&job, &[]);
    assert!(goals.is_empty(), "{goals:?} {left_out:#?}");
    let plain = |ids: &str| goals_in(&[(".pre-commit-config.yaml", &hooks(ids))]);
    assert_eq!(
        plain("{id: flake8}"),
        ["7 hooks-pass: pre-commit run --all-files"]
    );
    assert_eq!(plain("{id: black}"), Vec::<String>::new());
    let files = [(".pre-commit-config.yaml", &*hooks("{id: of-nobody}"))];
    let found = propose(&Files::of(&files), &PLAIN);
    let waits: Vec<String> = found.lacking().map(|one| one.id.clone()).collect();
    assert_eq!(waits, ["hooks-pass"]);
    let hooks = hooks("{id: flake8}");
    for (missing, expected) in [
        (&["prek"][..], "7 hooks-pass: pre-commit run --all-files"),
        (&["pre-commit"], "7 hooks-pass: prek run --all-files"),
    ] {
        let files = Files::of(&[(".pre-commit-config.yaml", &*hooks)]).without(missing);
        assert_eq!(goals_of(&files, &PLAIN), [expected]);
    }
    assert!(found.left_out.is_empty(), "{found:#?}");
}

#[test]
fn what_tells_nothing_makes_no_goal() {
    let package = r#"{"scripts": {
        "check:l": "eslint . || true", "check:m": "npm run check:l", "check:n": "npm run check:n",
        "check:o": "if ! eslint .; then echo bad; fi", "check:p": "eslint .",
        "test": "echo \"no tests\" && exit 1"}}"#;
    let makefile = "check-a:\n\tif ! ./x; then echo no; fi\ncheck-b: check-a\n\tnpm run check:l\ncheck-c:\n\t$(call f,x)\n\
        check-d:\n\t$(SED) -i s/a/b/ f\ncheck-e:\n\t$(GO) vet ./...\nTOOL ?= black\ncheck-f:\n\t$(TOOL) .\n";
    let files = [("package.json", package), ("Makefile", makefile)];
    let job = serde_json::json!({"steps": [{"run": "npm run check:m"}, {"run": "npm test"}]});
    let found = propose(&Files::of(&files), &PLAIN);
    let checks: Vec<&str> = found
        .proposals
        .iter()
        .map(|one| one.check.as_str())
        .collect();
    assert_eq!(
        checks[1..],
        ["npm run --silent check:p", "make --silent check-e"]
    );
    for why in [
        "package.json: scripts.check:l: it succeeds whatever it finds",
        "package.json: scripts.check:m: it succeeds whatever it finds",
        "package.json: scripts.check:n: it starts what does not end by itself (npm run check:n: npm run check:n)",
        "package.json: scripts.check:o: it succeeds whatever it finds",
        "package.json: scripts.test: there are no tests yet",
        "Makefile: check-a: it succeeds whatever it finds",
        "Makefile: check-b: it succeeds whatever it finds",
        "Makefile: check-c: evolve cannot tell what it runs (${call})",
        "Makefile: check-d: it changes files (sed -i s/a/b/ f); a goal only looks",
        "Makefile: check-f: it changes files (black .); a goal only looks",
    ] {
        assert!(
            found.left_out.contains(&why.to_owned()),
            "{why}: {:#?}",
            found.left_out
        );
    }
    let (goals, left_out) = of_job(&job, &files);
    assert_eq!(goals, Vec::<String>::new());
    for why in [
        "npm run check:m: it succeeds whatever it finds",
        "npm test: it only says something",
    ] {
        assert!(
            left_out.iter().any(|it| it.ends_with(why)),
            "{why}: {left_out:#?}"
        );
    }
}

#[test]
fn what_does_the_same_is_one_goal() {
    let steps = |all: &[&str]| {
        let all: Vec<_> = all
            .iter()
            .map(|run| serde_json::json!({"run": run}))
            .collect();
        serde_json::json!({"steps": all})
    };
    let files = [
        (
            "tox.ini",
            "[tox]\nenvlist = py312\n[testenv]\ncommands = pytest {posargs}\n",
        ),
        ("Makefile", "lint:\n\truff check .\n"),
        ("gradlew", ""),
    ];
    for (all, expected) in [
        (
            &[
                "cargo clippy",
                "RUSTFLAGS='-D warnings' cargo clippy --all-targets",
            ][..],
            &["RUSTFLAGS='-D warnings' cargo clippy --all-targets"][..],
        ),
        (
            &["RUSTFLAGS=-Dwarnings cargo clippy", "cargo clippy"],
            &["RUSTFLAGS=-Dwarnings cargo clippy"],
        ),
        (
            &["FEATURE=a cargo test", "cargo test"],
            &["FEATURE=a cargo test", "cargo test"],
        ),
        (&["mvn -B test", "mvn -B verify"], &["mvn -B verify"]),
        (
            &["mvn -B test", "mvn -B verify -DskipTests"],
            &["mvn -B verify -DskipTests", "mvn -B test"],
        ),
        (
            &["./gradlew build", "./gradlew check"],
            &["./gradlew build"],
        ),
        (&["pytest", "python -m tox -e py312"], &["pytest"]),
        (&["make lint", "ruff check ."], &["make lint"]),
        (
            &["pytest tests/a", "pytest tests/b"],
            &["pytest tests/a", "pytest tests/b"],
        ),
    ] {
        let job = steps(all);
        let workflow = serde_json::json!({"on": "push", "jobs": {"a": job}}).to_string();
        let all_files = [&files[..], &[(".github/workflows/ci.yml", &workflow)]].concat();
        let found = propose(&Files::of(&all_files), &WITH_CI);
        let of_ci = found
            .proposals
            .iter()
            .filter(|one| one.source.starts_with(".github"));
        let mut checks: Vec<&str> = of_ci.map(|one| one.check.as_str()).collect();
        checks.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(checks, expected, "{all:?}");
    }
}

#[test]
fn ids_are_words_of_any_language() {
    for (name, expected) in [
        ("Überprüfung", "ueberpruefung"),
        ("null", "check-null"),
        ("検査", "pytest-q"),
        ("Łódź tests", "lodz-tests"),
    ] {
        let goals = of_step(&serde_json::json!({"run": "pytest -q", "name": name}));
        assert_eq!(goals[0].id, expected, "{name}");
    }
}

#[test]
fn what_is_called_in_a_folder_is_looked_at_there() {
    let writes = Some("0 goals".to_owned());
    for command in [
        "cd fe && npm test",
        "npm --prefix fe test",
        "npm test --prefix fe",
        "yarn --cwd fe test",
        "pnpm -C fe test",
        "npm test -w fe",
        "npm test --workspace=@a/fe",
        "yarn workspace @a/fe test",
        "pnpm --filter @a/fe test",
        "npm test --workspaces",
        "pnpm -r test",
        "npx lerna run test",
        "make -C fe test",
        "make -C fe ci",
        "cd fe\nmake",
    ] {
        assert_eq!(why(command), writes, "{command}");
    }
    let unread = |shown: &str| {
        format!("evolve does not find what `{shown}` runs: look first, then take the # away")
    };
    for (command, shown) in [
        ("npm test -w other", "npm test -w other"),
        ("make nothing-test", "make nothing-test"),
        ("npm run test:none", "npm run test:none"),
        ("yarn test:none", "yarn test:none"),
        ("bundle exec rake test", "rake test"),
        ("nox -s tests", "nox -s tests"),
        ("poe test", "poe test"),
        ("composer run test", "composer run test"),
        ("task test", "task test"),
    ] {
        assert_eq!(why(command), Some(unread(shown)), "{command}");
    }
    for command in [
        "make -C fe lint",
        "cd fe && npm run lint",
        "npm run lint -w fe",
    ] {
        assert_eq!(why(command), None, "{command}");
    }
    assert!(why("npm run odd").unwrap().contains("does not know what"));
}

#[test]
fn a_script_that_is_given_what_only_ci_has_waits() {
    let step = |run: &str| serde_json::json!({"run": run, "env": {"GROUP": "${{ matrix.group }}"}});
    let missing = |run: &str| of_step(&step(run))[0].missing.clone();
    let why = Some("GROUP has its value from CI".to_owned());
    assert_eq!(missing("bash ci/check-links.sh"), why);
    assert_eq!(missing("cargo test"), None);
}

#[test]
fn what_the_workflow_itself_tells_is_put_in_place_of_its_expressions() {
    let step = serde_json::json!({
        "run": "cmake -B ${{github.workspace}}/build -DT=${{ env.BUILD }} && cmake --build ${{ github.workspace }}/build",
        "env": {"BUILD": "Release"},
    });
    let goal = &of_step(&step)[0];
    let expected = "cmake -B ./build -DT=Release && cmake --build ./build";
    assert!(goal.check.ends_with(expected), "{}", goal.check);
    let step = serde_json::json!({"run": "cmake --build ${{github.workspace}}/build"});
    let why = "there is no ./build: an earlier step has to make it";
    assert_eq!(of_step(&step)[0].missing.as_deref(), Some(why));
    let within = serde_json::json!({"run": "test -e ${{github.workspace}}/a.txt && make test", "working-directory": "docs"});
    assert!(of_step(&within)[0].check.contains("test -e ../a.txt"));
    let elsewhere = serde_json::json!({"run": "cd docs && test -e ${{github.workspace}}/a.txt"});
    assert_eq!(of_step(&elsewhere), []);
}

#[test]
fn steps_of_cmake_are_goals_where_one_makes_all_that_it_goes_by() {
    let steps = [
        "cmake --preset default",
        "cmake --build --preset default",
        "ctest --preset default",
        "cmake -B out\ncmake --build out\nctest --test-dir out",
    ];
    let workflow = super::later::workflow_of(&serde_json::json!({}), &steps);
    let files = Files::of(&[
        ("CMakeLists.txt", "enable_testing()\n"),
        (".github/workflows/a.yml", &workflow),
    ]);
    let found = propose(&files, &WITH_CI);
    reads_back(&found);
    let runs: Vec<&str> = found.runnable().map(|one| one.check.as_str()).collect();
    let of_ci = "set -e\ncmake -B out\ncmake --build out\nctest --test-dir out";
    let own = "cmake -S . -B build && cmake --build build";
    let tests = format!("{own} && ctest --test-dir build --output-on-failure");
    assert_eq!(runs.len(), 4, "{runs:?}");
    assert!(
        [own, &tests, of_ci].iter().all(|it| runs.contains(it)),
        "{runs:?}"
    );
    let left = "cmake --preset default: it only sets up";
    assert!(
        found.left_out.iter().any(|line| line.ends_with(left)),
        "{:?}",
        found.left_out
    );
    let lacking: Vec<&str> = found.lacking().map(|one| one.check.as_str()).collect();
    assert_eq!(lacking, steps[1..3]);
}

#[test]
fn actions_that_check_are_named_and_those_that_make_ready_are_not() {
    let steps: Vec<_> = [
        "actions/checkout@v4",
        "actions/setup-go@v5",
        "actions/upload-artifact@v4",
        "dtolnay/rust-toolchain@stable",
        "Swatinem/rust-cache@v2",
        "pre-commit/action@v3",
        "crate-ci/typos@v1",
    ]
    .map(|action| serde_json::json!({"uses": action}))
    .into();
    let workflow = serde_json::json!({"on": "push", "jobs": {"a": {"steps": steps}}});
    let workflow = workflow.to_string();
    let found = propose(
        &Files::of(&[(".github/workflows/ci.yml", &workflow)]),
        &WITH_CI,
    );
    let of_ci = found.left_out.iter().filter(|it| it.contains("ci.yml"));
    let named = ["pre-commit/action@v3", "crate-ci/typos@v1"].map(|action| {
        format!(
            ".github/workflows/ci.yml: a: {action}: an action of GitHub's, which only runs there"
        )
    });
    assert_eq!(of_ci.cloned().collect::<Vec<_>>(), named);
}

#[test]
fn a_step_whose_variables_say_what_runs_waits() {
    for name in ["BASH_ENV", "CARGO_TARGET_X_RUNNER", "LD_PRELOAD", "PATH"] {
        let step = serde_json::json!({"run": "cargo test", "env": {name: "x"}});
        let expected = format!("{name} says what runs: look first, then take the # away");
        assert_eq!(of_step(&step)[0].missing, Some(expected));
    }
    let step = serde_json::json!({"run": "cargo test", "env": {"RUSTFLAGS": "-D warnings"}});
    assert_eq!(of_step(&step)[0].missing, None);
}

#[test]
fn a_step_that_is_called_as_one_that_takes_away_or_creates_makes_no_goal() {
    for name in [
        "Stop containers",
        "Remove it",
        "Delete all",
        "Clean up",
        "Create it",
        "Kill it",
    ] {
        let step = |name: &str| serde_json::json!({"run": "make check", "name": name});
        assert_eq!(of_step(&step(name)), [], "{name}");
        let both = format!("{name} and test");
        assert_eq!(of_step(&step(&both)).len(), 1, "{both}");
    }
}

#[test]
fn how_many_jobs_make_runs_at_once_is_no_target_and_is_shown_as_it_is_written() {
    let job = |run: &str| serde_json::json!({"steps": [{"run": run}]});
    let makefile = [("Makefile", "check:\n\tcc -fsyntax-only a.c\n")];
    for call in [
        "make -j $(nproc) check",
        "make -j 4 check",
        "make --jobs 4 check",
        "make -j$(nproc) check",
    ] {
        assert_eq!(of_job(&job(call), &makefile).0, [call]);
    }
    let call = "A=\"$B\" make -j $(nproc) X=$(date +%s) other";
    let (goals, _) = of_job(&job(call), &makefile);
    let shown = "`make -j $(nproc) X=$(date +%s) other`";
    assert!(goals[0].contains(shown), "{goals:?}");
}

#[test]
fn a_job_of_another_toolchain_of_rusts_waits_for_that() {
    let of = |files: &[(&str, &str)], job: serde_json::Value, missing: &'static [&'static str]| {
        let workflow = serde_json::json!({"on": "push", "jobs": {"a": job}}).to_string();
        let own = [("Cargo.toml", ""), (".github/workflows/ci.yml", &*workflow)];
        let found = propose(
            &Files::of(&[&own[..], files].concat()).without(missing),
            &WITH_CI,
        );
        reads_back(&found);
        let mut of_ci = found
            .proposals
            .into_iter()
            .filter(|one| one.source.contains("ci.yml"));
        of_ci.next_back().and_then(|one| one.missing)
    };
    let job = |action: &str, with: &str, run: &str| {
        serde_json::json!({"strategy": {"matrix": {"old": ["1.60.0"], "rust": ["1.60.0", "stable"]}},
            "steps": [{"uses": action, "with": {"toolchain": with}}, {"run": run}]})
    };
    let why = |name: &str| {
        Some(format!(
            "its job runs Rust {name}, and not the toolchain that is here: `cargo +{name}` runs that one"
        ))
    };
    let build = "cargo build --all-features --lib";
    for (action, with, run, expected) in [
        ("dtolnay/rust-toolchain@1.60.0", "", build, why("1.60.0")),
        ("dtolnay/rust-toolchain@master", "1.60", build, why("1.60")),
        (
            "actions-rs/toolchain@v1",
            "nightly-2024-01-02",
            build,
            why("nightly-2024-01-02"),
        ),
        (
            "dtolnay/rust-toolchain@nightly",
            "",
            "cargo check --lib",
            why("nightly"),
        ),
        (
            "dtolnay/rust-toolchain@master",
            "${{ matrix.old }}",
            build,
            why("1.60.0"),
        ),
        (
            "dtolnay/rust-toolchain@master",
            "${{ matrix.rust }}",
            build,
            None,
        ),
        (
            "dtolnay/rust-toolchain@master",
            "${{ inputs.rust }}",
            build,
            None,
        ),
        ("dtolnay/rust-toolchain@stable", "", build, None),
        ("dtolnay/rust-toolchain@1.70", "", build, None),
        ("dtolnay/rust-toolchain@v1", "", build, None),
        (
            "dtolnay/rust-toolchain@1.60.0",
            "",
            "rustup default stable\ncargo build --lib",
            None,
        ),
        (
            "dtolnay/rust-toolchain@1.60.0",
            "",
            "cargo +stable build --lib",
            None,
        ),
        ("dtolnay/rust-toolchain@1.60.0", "", "npx eslint .", None),
        (
            "actions/setup-node@v4",
            "",
            "rustup default 1.60.0\ncargo build --lib",
            why("1.60.0"),
        ),
        (
            "actions/setup-node@v4",
            "",
            "cargo +1.60.0 build --lib",
            None,
        ),
    ] {
        assert_eq!(
            of(&[], job(action, with, run), &[]),
            expected,
            "{action} {with} {run}"
        );
    }
    let pinned = [("rust-toolchain.toml", "[toolchain]\nchannel = 'nightly'\n")];
    let nightly = job("dtolnay/rust-toolchain@nightly", "", build);
    assert_eq!(of(&pinned, nightly, &[]), None);
    let own = job("actions/setup-node@v4", "", "cargo +1.60.0 build --lib");
    let waits = "the toolchain 1.60.0 is not installed: rustup toolchain install 1.60.0";
    assert_eq!(of(&[], own, &["rust: 1.60.0"]).as_deref(), Some(waits));
    let target = |run: &str| {
        of(
            &[],
            job("actions/setup-node@v4", "", run),
            &["rust: thumbv6m-none-eabi"],
        )
    };
    let waits =
        "the target thumbv6m-none-eabi is not installed: rustup target add thumbv6m-none-eabi";
    for run in [
        "cargo check --target thumbv6m-none-eabi",
        "cargo check --target=thumbv6m-none-eabi --lib",
    ] {
        assert_eq!(target(run).as_deref(), Some(waits));
    }
    assert_eq!(
        target("cargo check --target x86_64-unknown-linux-gnu"),
        None
    );
}

#[test]
fn what_looks_at_what_another_job_made_makes_no_goal() {
    let steps = serde_json::json!([
        {"run": "make lint"},
        {"uses": "actions/download-artifact@v4", "with": {"path": "dist"}},
        {"name": "Verify", "run": "test -f dist/*.whl || exit 1"}]);
    let workflow = serde_json::json!({"on": "push", "jobs": {"a": {"steps": steps}}}).to_string();
    let files = [
        (".github/workflows/ci.yml", &*workflow),
        ("Makefile", "lint:\n\t./x\n"),
    ];
    let found = propose(&Files::of(&files), &WITH_CI);
    let sources: Vec<&str> = found
        .proposals
        .iter()
        .map(|one| one.source.as_str())
        .collect();
    assert!(
        !sources.iter().any(|it| it.contains("Verify")),
        "{sources:?}"
    );
    let why = ".github/workflows/ci.yml: a: Verify: it goes by what another job made (actions/download-artifact)";
    assert!(
        found.left_out.iter().any(|it| it == why),
        "{:#?}",
        found.left_out
    );
}

#[test]
fn what_earlier_steps_made_is_no_goal_and_takes_the_place_of_none_that_works() {
    let job = serde_json::json!({"steps": [
        {"name": "Update translations", "run": "scripts/update-translations.sh"},
        {"run": "set -e; if ! git diff --exit-code -I '^#' -- locale; then echo stale; exit 1; fi"},
        {"run": "cargo check --features backtrace"},
        {"run": "cargo generate-lockfile -Z minimal-versions"},
        {"run": "cargo check --locked --features backtrace"},
    ]});
    let files = [("Cargo.toml", ""), ("scripts/update-translations.sh", "")];
    let (goals, left_out) = of_job(&job, &files);
    assert_eq!(goals, ["cargo check --features backtrace"]);
    for why in [
        "-- locale; then e…: it goes by what earlier steps changed",
        "cargo check --locked --features backtrace: it needs a Cargo.lock (--locked), and git tracks none",
    ] {
        let is_told = left_out.iter().any(|line| line.ends_with(why));
        assert!(is_told, "{why}: {left_out:#?}");
    }
    let kept = [files[0], files[1], ("Cargo.lock", "")];
    let (goals, _) = of_job(&job, &kept);
    assert_eq!(goals, ["cargo check --locked --features backtrace"]);
}
