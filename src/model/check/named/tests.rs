use super::*;

#[track_caller]
fn check_named(cases: &[(&str, &str)]) {
    for (check, expected) in cases {
        let found = named(&Code::of_check(check)).join(" ");
        assert_eq!(found, *expected, "{check}");
    }
}

#[test]
fn what_reaches_a_shell_by_way_of_a_list_or_a_copy_is_named() {
    check_named(&[
        (
            "git ls-files t/g.sh | while read -r f; do sh \"$f\" || exit 1; done",
            "t/g.sh t/g.sh/**",
        ),
        (
            "git ls-files 't/*.sh' | while read f; do sh $f; done",
            "t/**/*.sh",
        ),
        ("find t -name g.sh -exec sh {} \\;", "t t/**/g.sh"),
        ("find . -name 'g*.sh' | xargs -n1 sh", "**/g*.sh"),
        ("cd t && find . -type f -exec sh -c '. $0' {} \\;", "t t/**"),
        ("cp t/g.sh /tmp/x && sh /tmp/x", "t/g.sh t/g.sh/**"),
        (
            "sed s/a/b/ t/g.sh >$TMPDIR/x; sh $TMPDIR/x",
            "**/x s/a/b s/a/b/** t/g.sh t/g.sh/** x",
        ),
        ("sh $ROOT/t/g.sh", "**/t/g.sh t/g.sh"),
        ("for f in $(ls t); do sh $f; done", "t t/**"),
        ("f=$(ls t | head -1); $f", "t t/**"),
        ("for f in t/*.sh; do sh $f; done", "t/*.sh"),
        ("x=$(cat t/g | head -1); sh $x", "t/g t/g/**"),
        ("sh $X; { cat t/g | head -1; } | sh", "t/g t/g/**"),
        ("sh $X; (cat t/g | head -1) | sh", "t/g t/g/**"),
        ("sh $X; cat t/g | { head -1; sh; }", "t/g t/g/**"),
        ("sh $X; f() { cat t/g | head -1; }; f | sh", "t/g t/g/**"),
        ("sh $X <<E\n$(cat t/g)\nE\ntest 1", "t/g t/g/**"),
        ("sh $X; test \"$(cat t/g >/tmp/g)\"", "t/g t/g/**"),
        ("sh $X; sh -c 'cat t/g | head -1' | sh", "t/g t/g/**"),
        ("ls t/*.sh | xargs sh", "t/*.sh t/*.sh/**"),
    ]);
}

#[test]
fn modules_and_settings_and_test_files_are_named() {
    check_named(&[
        (
            "python3 -c 'import t.g'",
            "t.py t/__init__.py t/g.py t/g/__init__.py",
        ),
        (
            "python3 - <<E\nimport os; exec(open('t/g.py').read())\nE",
            "os.py os/__init__.py t/g.py",
        ),
        ("node -e \"require('./t/g.js')\"", "t/g.js"),
        ("ruby -e 'load \"t/g.rb\"'", "t/g.rb"),
        (
            "python3 -m unittest t.g",
            "t.g t/__init__.py t/g.py t/g/__init__.py t/g/__main__.py unittest unittest.py unittest/__init__.py unittest/__main__.py",
        ),
        ("pytest t/test_a.py::test_x -q", "t/test_a.py"),
        ("bats t", "t t/**"),
        ("node --test a.js t/b.js", "a.js t/b.js"),
        ("node --test t", "t"),
        ("deno test -A a.ts b.ts", "a.ts b.ts test"),
        ("python3 -m unittest discover", "__init__.py"),
        (
            "python3 -m unittest discover -s ./t/a -p 'c_*.py'",
            "t/a/__init__.py",
        ),
        ("pnpm -r run x", "**/package.json"),
        ("npm test --workspaces", "**/package.json"),
        (
            "yarn workspaces foreach -A run x",
            "**/package.json .yarn/plugins/* .yarn/releases/*",
        ),
        (
            "mise run t",
            ".config/mise/tasks/* .mise/tasks/* mise-tasks/*",
        ),
        ("cd sub && rake t", "sub/rakelib/*.rake"),
        ("npx tsc -p web", "web web/tsconfig.json"),
        (
            "npx eslint --rulesdir tools/rules .",
            "tools/rules tools/rules/*",
        ),
        (
            "cargo run --example gen -- x",
            "examples/gen.rs examples/gen/*.rs",
        ),
        (
            "cargo run -q --bin=check-docs",
            "src/bin/check-docs.rs src/bin/check-docs/*.rs",
        ),
        (
            "cargo run --manifest-path tools/Cargo.toml",
            "tools/Cargo.toml tools/src/**",
        ),
        (
            "cargo run -q -p xtask -- -p cli",
            "crates/xtask/Cargo.toml crates/xtask/build.rs crates/xtask/src/** crates/xtask/src/main.rs \
             tools/xtask/Cargo.toml tools/xtask/build.rs tools/xtask/src/** tools/xtask/src/main.rs \
             xtask/Cargo.toml xtask/build.rs xtask/src/** xtask/src/main.rs",
        ),
        ("ruff check --config conf/r.toml src", "conf/r.toml"),
        ("tsc -p conf/tsconfig.json", "conf/tsconfig.json"),
        ("sha256sum -c sums.txt", "sums.txt"),
        (
            "python3 -c \"import os; os.system('sh ci/t.sh')\"",
            "ci/t.sh os.py os/__init__.py",
        ),
        ("awk 'BEGIN { exit system(\"sh ci/t.sh\") }'", "ci/t.sh"),
        (
            "node -e 'require(\"./ci/t\")()'",
            "ci/t ci/t.cjs ci/t.js ci/t.mjs ci/t.ts ci/t/index.js",
        ),
        ("sqlite3 :memory: '.read ci/x.sql'", "ci/x.sql"),
        ("grep -c 'ci/t.sh runs' log", ""),
        ("pytest @cfg.txt", "@cfg.txt cfg.txt"),
        (
            "export $(grep -v '^#' .env | xargs) && mine",
            ".env .env/** ^# ^#/**",
        ),
        ("env $(grep x .env | xargs) mine", ".env .env/** x x/**"),
        (
            "set -a; eval \"$(grep x .env)\"; mine",
            ".env .env/** x x/**",
        ),
        ("mine $(cat cfg.txt)", "cfg.txt cfg.txt/**"),
        ("while read l; do export \"$l\"; done <.env; mine", ".env"),
        ("v=$(cat VERSION); test \"$v\" = 3", ""),
        ("grep -q \"$(cat VERSION)\" README", ""),
        ("codespell -I cfg/words src", "cfg/words"),
        ("codespell --ignore-words=cfg/words src", "cfg/words"),
        ("npx jest -c=cfg/j.json", "cfg/j.json"),
        ("mvn -q -f web/pom.xml test", "web/pom.xml"),
        ("mvn -s cfg/settings.xml test", "cfg/settings.xml"),
        (
            "gradle -I cfg/init.gradle test",
            "buildSrc/** cfg/init.gradle config/checkstyle/* config/detekt/*",
        ),
        ("pip-audit -r cfg/req.txt", "cfg/req.txt"),
        (
            "semgrep --config cfg/rules --error",
            "cfg/rules cfg/rules/**",
        ),
        ("docker run image sh t/g.sh", "t/g.sh"),
        (
            "python3 -c \"import sys; sys.path.insert(0,'pkg'); import mod\"",
            "mod.py mod/__init__.py pkg/mod.py pkg/mod/__init__.py pkg/sys.py pkg/sys/__init__.py sys.py sys/__init__.py",
        ),
        (
            "PYTHONPATH=src python3 -c 'import mod'",
            "mod.py mod/__init__.py src/mod.py src/mod/__init__.py",
        ),
        ("perl -Ilib -MA::B=c -e 1", "A/B.pm lib/A/B.pm"),
        ("ruby -I lib -r./x -e 1", "lib/x.rb x.rb"),
        ("go run ./cmd/chk -x", "cmd/chk/*.go"),
    ]);
}

#[test]
fn what_is_compiled_and_run_and_what_is_read_into_variables_is_named() {
    check_named(&[
        ("read -r c < t/list && $c", "t/list"),
        ("while read c; do $c; done < t/list", ""),
        ("mapfile -t c < t/list; \"${c[@]}\"", "t/list"),
        ("cc -o /tmp/chk -x c checks/x.c && /tmp/chk", "checks/x.c"),
        ("rustc -o chk tests/x.rs && ./chk", "tests/x.rs"),
        ("g++ tests/x.cpp src/a.cpp && ./a.out", "tests/x.cpp"),
        ("sqlite3 db < x.sql", "x.sql"),
        ("psql -q <t/x.sql", "t/x.sql"),
        (
            "dotnet run --project tools/check",
            "tools/check tools/check/**",
        ),
        (
            "dotnet run --project tools/check/check.csproj",
            "tools/check/** tools/check/check.csproj",
        ),
        ("ruby -r ./x.rb -e 1", "x.rb"),
        ("PERL5LIB=checks PERL5OPT=-Mx perl -e 1", "checks/x.pm x.pm"),
        ("PERL5OPT=-Mx PERL5LIB=checks perl -e 1", "checks/x.pm x.pm"),
    ]);
}

#[test]
fn files_among_the_words_of_a_command_that_is_not_understood_are_named() {
    check_named(&[
        ("gdb -batch -x t/x.gdb", "t/x.gdb"),
        ("emacs --batch --load=t/x.el", "t/x.el"),
        ("ansible-playbook play.yml", "play.yml"),
        ("$RUN ./check.sh README.md", "check.sh"),
        ("eval \"$RUN ./check.sh\"", "check.sh"),
        ("$PYTHON t/check.py", "t/check.py"),
        (".venv/bin/tool t/check.py", "t/check.py"),
        ("cd t && mine --rules ../r.toml a.py", "r.toml t/a.py"),
    ]);
}

#[test]
fn what_is_merely_looked_at_is_not_named() {
    for check in [
        "cargo test",
        "cargo run -- --help",
        "cargo run -p cli -- check",
        "cargo run --bin cli | grep -q Usage",
        "ruff check src/",
        "grep -c TODO src/*.rs",
        "test $(grep -c TODO src/main.rs) -eq 0",
        "! git grep -n TODO -- src",
        "wc -l README.md",
        "wc -c <README.md",
        "test -e docs/x.md",
        "cat README.md | wc -l",
        "[ \"$(cat VERSION)\" = \"$(git describe)\" ]",
        "for f in src/*.rs; do grep -q Copyright \"$f\" || exit 1; done",
        "find src -name '*.sh' -exec sh -n {} \\;",
        "git ls-files '*.sh' | xargs shellcheck",
        "git ls-files '*.py' | xargs python3 -m py_compile",
        "python3 scripts/check.py src/*.py",
        "cat data.csv | sh scripts/check.sh",
        "$CARGO test && cat README.md | head",
        "python3 -c \"print(open('data.json').read())\"",
        "grep sh tests/g.sh",
        "for i in 1 2 3; do ./run.sh $i; done",
        "./check.sh src/main.rs limits.json",
        "clang-format --dry-run src/main.c",
        "cc -o /tmp/x src/main.c && /tmp/x --help | grep -q Usage",
        "cc -c tests/x.c -o x.o && ./chk",
        "ghc -o x src/Main.hs && ./x",
        "read -r v < VERSION && test \"$v\" = 1",
        "read -r v < VERSION && ~/.cargo/bin/x \"$v\"",
        "tr -d a < README.md | wc -c",
        "sed 's/a/b/' src/a.c | grep -c x",
        "grep -v x src/a.rs | head",
        "printf 'a b\\n' | grep -q a",
        "echo 'sh x.sh' | grep -q sh",
        "g++ -o /tmp/x src/main.cpp",
        "pandoc docs/x.rst -o /tmp/x",
        "mine README.md docs/x.txt --level=3 https://a.example/b.sh",
        "mine src/*.c",
        "[ -f src/x.sh ] && test -x ./x.sh && type ./x.sh",
        "sha256sum src/x.py; stat -c %s src/x.js; yq .a x.yml; python3 -m json.tool a.json",
        ". ~/.cargo/env && ! grep -rn TODO src/ | grep -v allowed",
        "~/.cargo/bin/cargo test && test \"$(grep -rc TODO src/)\" = 0",
        "/tmp/t/debug/x && if [ -n \"`git ls-files src`\" ]; then exit 1; fi",
        "n=$(cat src/*.rs | wc -l); ~/.cargo/bin/x $n",
        "sh \"$S\" && find src -name '*.rs' && test $(find src | wc -l) -lt 9",
        "sh \"$S\" && diff <(sort src/a) <(sort src/b) | head",
        "sh \"$S\" && echo \"$(head -1 src/a)\" | cat",
    ] {
        let found = named(&Code::of_check(check));
        let found: Vec<_> = found
            .iter()
            .filter(|path| !path.starts_with("py_compile"))
            .collect();
        assert_eq!(found, Vec::<&String>::new(), "{check}");
    }
}
