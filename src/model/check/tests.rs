use super::*;

#[test]
fn the_commands_of_a_check_are_told_as_one_would_type_them() {
    let told = commands(
        "cd web && npm test -- 'a b' && [ -f x ] || FOO=1 cargo test --quiet; npm test -- 'a b'",
    );
    assert_eq!(told, ["npm test -- 'a b'", "cargo test --quiet"]);
    assert_eq!(commands("true"), Vec::<String>::new());
}
use proptest::prelude::*;

const FILES: &[&str] = &[
    "scripts/check.sh",
    "scripts/check.py",
    "tools/a.sh",
    "tools/sub/b.sh",
    "check.sh",
    "Makefile",
    "build.mk",
    "tools/Makefile",
    "package.json",
    "README.md",
    "pyproject.toml",
    "tests/conftest.py",
    ".cargo/config.toml",
    "clippy.toml",
    "with space.sh",
    "x.js",
    "hook.js",
    "p.awk",
    "cargo",
];

fn is_file(path: &str) -> bool {
    FILES.contains(&path)
}

fn check_runs(cases: &[(&str, &str)]) {
    for (check, expected) in cases {
        let found = runs(check, &is_file).join(" ");
        assert_eq!(found, *expected, "{check}");
    }
}

#[test]
fn the_command_word_is_run() {
    check_runs(&[
        ("./check.sh", "check.sh"),
        ("scripts/check.sh --fast README.md", "scripts/check.sh"),
        ("scripts/../tools/./a.sh", "tools/a.sh"),
        ("\"./with space.sh\"", "with space.sh"),
        ("./with\\ space.sh", "with space.sh"),
        ("! ./check.sh", "check.sh"),
        ("A=1 B='x y' ./check.sh", "check.sh"),
        (
            "true && ./check.sh || tools/a.sh; scripts/check.sh | cat",
            "check.sh tools/a.sh scripts/check.sh",
        ),
        (
            "if ./check.sh; then tools/a.sh; else scripts/check.sh; fi",
            "check.sh tools/a.sh scripts/check.sh",
        ),
        ("for f in a b; do ./check.sh $f; done", "check.sh"),
        (
            "while ./check.sh; do tools/a.sh; done",
            "check.sh tools/a.sh",
        ),
        ("{ ./check.sh; }", "check.sh"),
        ("(./check.sh)", "check.sh"),
        ("test -z \"$(./check.sh)\"", "check.sh"),
        ("test `./check.sh` = 1", "check.sh"),
        ("x=$(./check.sh) && echo $x", "check.sh"),
        ("\"$PWD/check.sh\"", "check.sh"),
        ("$(git rev-parse --show-toplevel)/check.sh", "check.sh"),
        ("case $x in a) ./check.sh;; esac", "check.sh"),
        ("./check.sh >README.md 2>&1 <README.md", "check.sh"),
    ]);
}

#[test]
fn what_is_merely_read_or_lies_outside_is_not_run() {
    check_runs(&[
        ("grep -q X README.md", ""),
        ("cargo test", ""),
        ("check.sh", ""),
        ("cat scripts/check.sh", ""),
        ("/repo/check.sh", ""),
        ("../check.sh", ""),
        ("sh ../check.sh", ""),
        ("echo x # ./check.sh", ""),
        ("echo './check.sh'", ""),
        ("echo \"; ./check.sh\"", ""),
        ("shellcheck scripts/check.sh", ""),
        ("test -x ./check.sh", ""),
        ("command -v ./check.sh", ""),
        ("./no-such-file.sh", ""),
        ("sh \"$script\"", ""),
        ("cat <<E\n./check.sh\nE", ""),
        ("make", ""),
        ("awk '{print}' p.awk", ""),
        ("", ""),
    ]);
}

#[test]
fn the_script_of_an_interpreter_is_run() {
    check_runs(&[
        ("sh check.sh README.md", "check.sh"),
        ("bash -euo pipefail scripts/check.sh", "scripts/check.sh"),
        ("bash -o pipefail ./check.sh", "check.sh"),
        ("bash --norc -- check.sh", "check.sh"),
        ("/bin/sh check.sh", "check.sh"),
        ("sh < check.sh", "check.sh"),
        ("python3 scripts/check.py", "scripts/check.py"),
        ("python3.12 -W error scripts/check.py", "scripts/check.py"),
        (
            ".venv/bin/python -X dev scripts/check.py",
            "scripts/check.py",
        ),
        ("python3 -c 'import x' scripts/check.py", ""),
        ("python3 -m pytest scripts/check.py", ""),
        ("node x.js", "x.js"),
        ("node -r ./hook.js x.js", "hook.js x.js"),
        ("node --require=./hook.js --test x.js", "hook.js x.js"),
        ("node -e 'code' x.js", ""),
        ("deno run -A x.js", "x.js"),
        ("bun run x.js", "x.js"),
        ("bun x.js", "x.js"),
        ("perl -w scripts/check.py", "scripts/check.py"),
        ("perl -ne 'print' scripts/check.py", ""),
        ("perl -Mstrict -I lib scripts/check.py", "scripts/check.py"),
        ("ruby -Ilib scripts/check.py", "scripts/check.py"),
        ("php -d a=b -f scripts/check.py", "scripts/check.py"),
        ("Rscript --vanilla scripts/check.py", "scripts/check.py"),
        ("make -f build.mk test", "build.mk"),
        ("make test -fbuild.mk", "build.mk"),
        ("make --file=build.mk", "build.mk"),
        ("make -C tools -f sub/b.sh", "tools/sub/b.sh"),
        (". ./check.sh", "check.sh"),
        ("source scripts/check.sh", "scripts/check.sh"),
        ("awk -F: -f p.awk README.md", "p.awk"),
        ("sed -n -f p.awk README.md", "p.awk"),
    ]);
}

#[test]
fn programs_that_run_another_one_are_looked_through() {
    check_runs(&[
        ("exec ./check.sh", "check.sh"),
        ("time -p ./check.sh", "check.sh"),
        ("nice -n 10 ./check.sh", "check.sh"),
        ("nohup sh check.sh", "check.sh"),
        ("command ./check.sh", "check.sh"),
        ("env -i A=1 PATH=/bin ./check.sh", "check.sh"),
        ("env -u A python3 scripts/check.py", "scripts/check.py"),
        ("timeout 10 ./check.sh", "check.sh"),
        ("timeout -k 5 --signal=KILL 10s bash check.sh", "check.sh"),
        ("timeout --signal KILL 10 ./check.sh", "check.sh"),
        ("git ls-files | xargs -n 1 -P4 ./check.sh", "check.sh"),
        (
            "git ls-files | xargs -I{} sh -c './check.sh {}'",
            "check.sh",
        ),
        ("sh -c 'cd tools && ./a.sh'", "tools/a.sh"),
        ("bash -euxc \"./check.sh $x\"", "check.sh"),
        ("bash -c 'bash -c \"./check.sh\"'", "check.sh"),
        ("eval './check.sh' --x", "check.sh"),
        ("trap ./check.sh EXIT", "check.sh"),
        (
            "find . -name x -exec ./check.sh {} \\; -exec tools/a.sh {} +",
            "check.sh tools/a.sh",
        ),
        (
            "uv run --with x python scripts/check.py",
            "scripts/check.py",
        ),
        ("uv run scripts/check.py", "scripts/check.py"),
        ("cd scripts && uv run check.py", "scripts/check.py"),
        ("poetry run ./check.sh", "check.sh"),
    ]);
}

#[test]
fn a_script_is_found_behind_variables_loops_and_pipes() {
    check_runs(&[
        ("f=check.sh; sh $f", "check.sh"),
        ("T=tools; $T/a.sh", "tools/a.sh"),
        ("T=tools; \"${T}/sub/b.sh\"", "tools/sub/b.sh"),
        ("${PYTHON:-python3} scripts/check.py", "scripts/check.py"),
        (
            "for f in check.sh tools/a.sh; do sh \"$f\" || exit 1; done",
            "check.sh tools/a.sh",
        ),
        (
            "for f in a sub/b; do sh tools/$f.sh; done",
            "tools/a.sh tools/sub/b.sh",
        ),
        ("for f in check.sh; do grep x $f; done", ""),
        ("for f in check.sh; do sh -n $f; done", ""),
        ("cat check.sh | sh", "check.sh"),
        ("cat check.sh | tr -d x | bash -e", "check.sh"),
        ("cat check.sh | sh tools/a.sh", "tools/a.sh"),
        ("cat check.sh | grep x", ""),
        ("cat README.md && ./check.sh | sh", "check.sh"),
        ("ls check.sh | xargs sh", "check.sh"),
        ("ls check.sh | xargs -I{} sh {}", "check.sh"),
        ("printf '%s\\n' check.sh | xargs -n1 sh", "check.sh"),
        ("printf '%s\\n' check.sh | xargs grep x", ""),
        ("find tools/a.sh -exec sh {} \\;", "tools/a.sh"),
        ("find tools/a.sh -exec grep x {} \\;", ""),
        ("sh -c \"$(cat check.sh)\"", "check.sh"),
        ("eval \"$(cat check.sh)\"", "check.sh"),
        ("echo \"$(cat check.sh)\"", ""),
        ("sh <<E\n. ./check.sh\nE", "check.sh"),
        ("sh <<< './check.sh'", "check.sh"),
        ("cat <<E\n. ./check.sh\nE", ""),
        ("strace -o x sh check.sh", "check.sh"),
        ("bash -n check.sh", ""),
        ("node --check x.js", ""),
    ]);
}

#[test]
fn a_module_or_a_folder_that_is_handed_to_an_interpreter_is_run() {
    check_runs(&[
        ("python3 -m scripts.check", "scripts/check.py"),
        ("cd scripts && python3 -m check", "scripts/check.py"),
        ("python3 -m json.tool README.md", ""),
        ("python3 -m scripts/check", ""),
        ("node x", "x.js"),
    ]);
    let is_file = |path: &str| path.ends_with("__main__.py") || path.ends_with("index.js");
    for (check, expected) in [
        ("python3 -m tests", "tests/__main__.py"),
        ("python3 tests", "tests/__main__.py"),
        ("python3 .", "__main__.py"),
        ("node .", "index.js"),
        ("node web/", "web/index.js"),
    ] {
        assert_eq!(runs(check, &is_file).join(" "), expected, "{check}");
    }
}

#[test]
fn a_change_of_directory_is_followed_and_ends_with_its_subshell() {
    check_runs(&[
        ("cd tools && ./a.sh", "tools/a.sh"),
        (
            "cd tools/sub; sh b.sh; cd .. && sh ./a.sh",
            "tools/sub/b.sh tools/a.sh",
        ),
        ("(cd tools && ./a.sh) && ./check.sh", "tools/a.sh check.sh"),
        ("x=$(cd tools && ./a.sh); ./check.sh", "tools/a.sh check.sh"),
        ("cd tools && ../check.sh", "check.sh"),
        ("cd .. && ./check.sh", ""),
        ("cd \"$x\" && ./check.sh", ""),
        ("cd && ./check.sh", ""),
        ("cd -- tools && ./a.sh", "tools/a.sh"),
    ]);
}

#[test]
fn what_steers_a_check_is_named_if_it_is_there() {
    for (check, expected) in [
        ("make test", "Makefile"),
        ("make -C tools", "tools/Makefile"),
        ("make -f build.mk", ""),
        ("make -f Makefile", ""),
        ("npm run test", "package.json"),
        ("bun test", "package.json"),
        ("pytest -q", "tests/conftest.py pyproject.toml"),
        ("python3 -m pytest", "tests/conftest.py pyproject.toml"),
        ("uv run pytest", "tests/conftest.py pyproject.toml"),
        ("cargo test", ".cargo/config.toml"),
        ("cargo clippy --all", ".cargo/config.toml clippy.toml"),
        ("cd tools && ruff check", "pyproject.toml"),
        ("npx eslint .", ""),
        ("go test ./...", ""),
        ("./check.sh && make", "Makefile"),
        ("cat Makefile", ""),
    ] {
        assert_eq!(leans_on(check, &is_file).join(" "), expected, "{check}");
    }
}

#[test]
fn what_a_tool_takes_in_place_of_a_file_is_known_by_the_order_of_its_names() {
    for (check, expected) in [
        ("make t", "GNUmakefile<Makefile makefile<Makefile"),
        ("make -f build.mk", ""),
        (
            "cargo clippy",
            ".cargo/config<.cargo/config.toml .clippy.toml<clippy.toml",
        ),
        (
            "pytest",
            "pytest.ini<pyproject.toml .pytest.ini<pyproject.toml",
        ),
        (
            "ruff check",
            ".ruff.toml<pyproject.toml ruff.toml<pyproject.toml",
        ),
        ("just t", ""),
        ("cat Makefile", ""),
    ] {
        let found = instead(&Code::of_check(check), &is_file);
        let shown = found.iter().map(|one| format!("{}<{}", one.path, one.of));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{check}");
    }
}

#[test]
fn a_here_document_without_end_ends_the_substitution_around_it() {
    let check = "sh check.sh $(cat <<E\ntext";
    assert_eq!(runs(check, &is_file), ["check.sh"]);
}

#[test]
fn hostile_text_takes_no_time() {
    // A bound on what grows out of all proportion; the figures are those of `cargo test --test fuzz`.
    let start = std::time::Instant::now();
    for unit in [
        "$(",
        "(",
        "`",
        "\"$(",
        "<(",
        "<<E\n",
        "'",
        "\\",
        "a ",
        "sh -c '",
        "${",
        "eval eval ",
        ";",
        "find -exec ",
        "D=$0/$D;",
        "D=$(dirname $0$D) ",
        "a: a b\n\t$0",
        "include $0\n",
        "for f in a b $f; do sh $f$f; ",
        "for f in a b; do sh -c '",
        "f=$f/a$f; sh $f ",
        "cat a | sh ",
        "cat a | ",
        "sh <<E\nsh x\nE\n",
        "$(cat $(cat ",
        "find a -name b -exec find c -exec sh {} ",
        "python3 -m a.",
        "node -e 'require(\"a\")'; ",
    ] {
        let text = unit.repeat(20_000);
        for file in ["s/c.sh", "Makefile", "package.json"] {
            let used = Used {
                file: file.to_owned(),
                dir: Some(String::new()),
                tasks: Vec::new(),
            };
            included(&used, &text);
            for code in code_in(&used, &text) {
                uses(&code, &is_file);
                named(&code);
                runs_by_pattern(&code);
            }
        }
        runs(&text, &is_file);
        leans_on(&text, &is_file);
        named(&Code::of_check(&text));
    }
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        runs(&text, &|_| true);
        leans_on(&text, &|_| true);
        named(&Code::of_check(&text));
    }

    #[test]
    fn no_shell_like_text_makes_it_panic(
        text in "([ \n;&|(){}<>$`'\"\\\\!#=./*-]|sh|-c|-m|cd|make|-C|-f|env|timeout|find|-exec|E|f|for|in|do|read|cat|python3|xargs|\u{1}|\u{3}|\u{4}|\u{6}){0,40}"
    ) {
        for path in runs(&text, &|_| true) {
            prop_assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."));
        }
        leans_on(&text, &|_| true);
        for path in named(&Code::of_check(&text)) {
            prop_assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."));
        }
    }
}

#[test]
fn the_files_by_which_tools_find_their_settings_are_known_by_tool() {
    for (check, path, expected) in [
        ("npm test", ".npmrc", true),
        ("cd web && npm test", "web/.npmrc", true),
        ("yarn test", ".yarnrc.yml", true),
        ("pnpm test", ".pnpmfile.cjs", true),
        ("bun test", "bunfig.toml", true),
        ("cargo test", "rust-toolchain.toml", true),
        ("cargo test", "crates/a/build.rs", true),
        ("cargo fmt --check", "build.rs", false),
        ("flake8", ".flake8", true),
        ("python3 -m flake8", ".flake8", true),
        ("npx eslint .", ".eslintignore", true),
        ("go vet ./...", "go.work", true),
        ("./mvnw verify", ".mvn/jvm.config", true),
        ("gradle test", "gradle.properties", true),
        ("ruff check .", "tests/ruff.toml", true),
        ("git diff --check", ".gitattributes", true),
        ("git diff --check", "sub/.gitattributes", true),
        ("git ls-files", ".gitattributes", false),
        ("cargo test", ".npmrc", false),
        ("cargo test", "src/lib.rs", false),
        ("cat .npmrc", ".npmrc", false),
    ] {
        assert_eq!(is_steered_by(check, path), expected, "{check}: {path}");
    }
}
