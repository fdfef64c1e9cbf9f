use super::*;

/// The files that steer what a check runs.
fn leans_on(check: &str, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    leaned_on_in(&Code::of_check(check), is_file)
}

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
    "tools/package.json",
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
        ("python3 -m pytest -q -p scripts.check", "scripts/check.py"),
        (
            "pytest -pscripts.check -p no:cacheprovider",
            "scripts/check.py",
        ),
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
        ("tclsh scripts/check.py x", "scripts/check.py"),
        ("tclsh <scripts/check.py", "scripts/check.py"),
        ("Rscript --vanilla scripts/check.py", "scripts/check.py"),
        ("make -f build.mk test", "build.mk"),
        ("rake -f tools/a.sh x", "tools/a.sh"),
        ("task --taskfile=tools/a.sh x", "tools/a.sh"),
        ("make test -fbuild.mk", "build.mk"),
        ("make --file=build.mk", "build.mk"),
        ("make -C tools -f sub/b.sh", "tools/sub/b.sh"),
        (". ./check.sh", "check.sh"),
        ("source scripts/check.sh", "scripts/check.sh"),
        ("awk -F: -f p.awk README.md", "p.awk"),
        ("sed -n -f p.awk README.md", "p.awk"),
        ("cmake -DX=1 -P build.mk", "build.mk"),
        ("cmake -S tools -B build", ""),
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
        (
            "A=b bash -eo pipefail -c 'cd .\n./check.sh | tee log'",
            "check.sh",
        ),
        ("sh <<< './check.sh'", "check.sh"),
        ("cat <<E\n. ./check.sh\nE", ""),
        ("tr -d '\\r' < check.sh | sh", "check.sh"),
        ("envsubst < check.sh | bash -e", "check.sh"),
        ("sed 's/a/b/' check.sh | sh", "check.sh"),
        ("grep -v x < tools/a.sh | tr -d y | sh -s a", "tools/a.sh"),
        ("grep -c x check.sh | sh tools/a.sh", "tools/a.sh"),
        ("printf 'sh check.sh' | sh", "check.sh"),
        ("printf 'sh %s\\n' check.sh | sh", "check.sh"),
        (
            "echo '. tools/a.sh; ./check.sh' | bash",
            "tools/a.sh check.sh",
        ),
        ("echo -n sh check.sh | tr -d x | sh", "check.sh"),
        ("echo 'sh check.sh' | sh tools/a.sh", "tools/a.sh"),
        ("echo 'sh check.sh' | grep x", ""),
        ("echo 'sh check.sh'; sh tools/a.sh", "tools/a.sh"),
        ("exec 3<check.sh; sh <&3", "check.sh"),
        ("sh 0<&3 3<check.sh", ""),
        ("sh 3<check.sh <&3", "check.sh"),
        ("exec 3<README.md; grep x <&3", ""),
        ("alias r='sh check.sh'; r", "check.sh"),
        (
            "PYTHONSTARTUP=scripts/check.py python3 -i",
            "scripts/check.py",
        ),
        ("git bisect run sh check.sh x", "check.sh"),
        ("git rebase -x ./check.sh main", "check.sh"),
        (
            "git submodule foreach --recursive 'sh $toplevel/check.sh'",
            "check.sh",
        ),
        ("git grep -x ./check.sh", ""),
        ("git commit -m 'bisect run' check.sh", ""),
        ("strace -o x sh check.sh", "check.sh"),
        ("bash -n check.sh", ""),
        ("node --check x.js", ""),
    ]);
}

#[test]
fn programs_that_run_another_one_are_looked_through_wherever_they_lie_and_whatever_they_take() {
    check_runs(&[
        ("/usr/bin/env ./check.sh", "check.sh"),
        ("/usr/bin/timeout 5 ./check.sh", "check.sh"),
        ("/usr/bin/time -v ./check.sh", "check.sh"),
        ("ls check.sh | /usr/bin/xargs sh", "check.sh"),
        (
            "tools/a.sh; .venv/bin/uv run scripts/check.py",
            "tools/a.sh scripts/check.py",
        ),
        ("prlimit --nproc=1000 ./check.sh", "check.sh"),
        ("dbus-run-session -- ./check.sh", "check.sh"),
        ("unbuffer ./check.sh", "check.sh"),
        ("xvfb-run -a sh check.sh", "check.sh"),
        ("taskset -c 0 ionice -c 3 ./check.sh", "check.sh"),
        ("busybox sh ./check.sh", "check.sh"),
        ("direnv exec . ./check.sh", "check.sh"),
        ("nix develop -c ./check.sh", "check.sh"),
        ("nix-shell -p x --run './check.sh a'", "check.sh"),
        ("npm exec -- ./check.sh", "check.sh"),
        ("conda run -n x python scripts/check.py", "scripts/check.py"),
        ("perf stat -e x ./check.sh", "check.sh"),
        ("env -C tools sh a.sh && ./check.sh", "tools/a.sh check.sh"),
        ("env --chdir=tools ./sub/b.sh", "tools/sub/b.sh"),
        ("env -S 'A=1 sh ./check.sh'", "check.sh"),
        ("env -S sh ./check.sh", "check.sh"),
        ("script -qec ./check.sh /dev/null", "check.sh"),
        ("script -q /dev/null ./check.sh", "check.sh"),
        ("flock -n .lock -c './check.sh x'", "check.sh"),
        ("flock .lock ./check.sh", "check.sh"),
        ("su -c ./check.sh", "check.sh"),
        ("su - user -c ./check.sh", "check.sh"),
        ("runuser -u user -- ./check.sh", "check.sh"),
        ("sh -c '\"$@\"' _ sh ./check.sh", "check.sh"),
        ("sh -c 'exec \"$0\" x' ./check.sh", "check.sh"),
        ("coproc ./check.sh; wait", "check.sh"),
        ("parallel sh ::: check.sh tools/a.sh", "check.sh tools/a.sh"),
        (
            "parallel sh tools/{}.sh ::: a sub/b",
            "tools/a.sh tools/sub/b.sh",
        ),
        ("parallel ./check.sh ::: 1 2", "check.sh"),
        ("env -u", ""),
        ("env -S", ""),
        ("parallel :::", ""),
        ("parallel ::: x", ""),
        ("flock x -c", ""),
    ]);
}

#[test]
fn the_source_that_a_compiler_runs_at_once_is_run() {
    for (check, expected) in [
        ("go run checks/x.go", "checks/x.go"),
        ("ghc -e main checks/x.hs", "checks/x.hs"),
        ("runghc -isrc checks/x.hs", "checks/x.hs"),
        ("kotlinc -script checks/x.kts -- a", "checks/x.kts"),
        ("clojure -M checks/x.clj", "checks/x.clj"),
        ("clojure -M -m x", ""),
        ("ghc -o x checks/x.hs", ""),
        ("kotlinc checks/x.kts", ""),
    ] {
        let found = runs(check, &|path| path.starts_with("checks/"));
        assert_eq!(found.join(" "), expected, "{check}");
    }
}

#[test]
fn programs_and_modules_are_looked_for_where_the_check_says() {
    let files = [
        "tools/mine",
        "src/mod/__main__.py",
        "src/mod/__init__.py",
        "mod.py",
    ];
    for (check, expected) in [
        ("PATH=$PWD/tools:$PATH mine", "tools/mine"),
        ("PATH=tools:$PATH mine; true", "tools/mine"),
        (
            "export PATH=\"$(pwd)/tools:$PATH\"; cd src; mine",
            "tools/mine",
        ),
        ("PATH=$PATH:tools; timeout 5 mine", "tools/mine"),
        ("env PATH=\"$PWD/tools:$PATH\" mine", "tools/mine"),
        ("cd src && PATH=../tools:$PATH mine", "tools/mine"),
        ("PATH=tools:$PATH sh -c 'mine x'", "tools/mine"),
        ("PATH=tools:$PATH true; mine", ""),
        ("(PATH=none; mine)", ""),
        ("PATH=/usr/tools:~/tools mine", ""),
        ("PATH=../tools:$X/tools mine", ""),
        (
            "PYTHONPATH=src python3 -m mod",
            "src/mod/__init__.py src/mod/__main__.py mod.py",
        ),
        (
            "export PYTHONPATH=src:lib; python3 -m mod",
            "src/mod/__init__.py src/mod/__main__.py mod.py",
        ),
        ("PYTHONPATH=src:$PYTHONPATH pytest -q", ""),
    ] {
        let found = runs(check, &|path| files.contains(&path));
        assert_eq!(found.join(" "), expected, "{check}");
    }
}

#[test]
fn what_a_function_is_handed_to_run_is_run() {
    check_runs(&[
        (
            "run() { echo \"+ $*\"; \"$@\"; }; run sh tools/a.sh",
            "tools/a.sh",
        ),
        (
            "step() { local n=$1; shift; \"$@\"; }\nstep one ./check.sh",
            "check.sh",
        ),
        ("log() { echo \"$@\"; }; log ./check.sh", ""),
    ]);
}

#[test]
fn braces_stand_for_each_of_their_words() {
    check_runs(&[
        ("./{check,other}.sh", "check.sh"),
        ("sh ./{check,other}.sh", "check.sh"),
        ("sh {tools,none}/a.sh", "tools/a.sh"),
        ("sh tools/{sub/b,a}.sh", "tools/sub/b.sh"),
        ("D=tools; sh \"$D\"/{a,sub/b}.sh", "tools/a.sh"),
        (
            "for f in tools/{a,sub/b}.sh; do sh $f; done",
            "tools/a.sh tools/sub/b.sh",
        ),
        ("cat {check,tools/a}.sh | sh", "check.sh tools/a.sh"),
        ("cat {tools/,}{a,check}.sh | sh", "tools/a.sh check.sh"),
        ("sh './{check,other}.sh'", ""),
        ("F={check,other}.sh; sh $F", ""),
        ("{ ./check.sh; }", "check.sh"),
        ("find tools/a.sh -exec sh {} +", "tools/a.sh"),
    ]);
}

#[test]
fn what_options_of_a_shell_and_aliases_of_git_run_is_run() {
    check_runs(&[
        ("bash --rcfile check.sh -i </dev/null", "check.sh"),
        ("bash --init-file=tools/a.sh -i -c true", "tools/a.sh"),
        ("bash --rcfile tools/a.sh check.sh", "tools/a.sh check.sh"),
        ("git -c alias.x='!./check.sh' x", "check.sh"),
        (
            "cd tools && git -c alias.x='!sh tools/a.sh' x",
            "tools/a.sh",
        ),
        ("git -c alias.x=status x", ""),
    ]);
}

#[test]
fn what_variables_tell_programs_to_load_is_run() {
    check_runs(&[
        ("NODE_OPTIONS='--require ./hook.js' node -e 1", "hook.js"),
        (
            "export NODE_OPTIONS=--import=./hook.js; npm test",
            "hook.js",
        ),
        ("BASH_ENV=tools/a.sh bash -c true", "tools/a.sh"),
        ("ENV=./check.sh sh -i -c true", "check.sh"),
        ("LD_PRELOAD=$PWD/tools/a.sh grep x y", "tools/a.sh"),
        ("CC=tools/a.sh cmake .", "tools/a.sh"),
        ("CC='tools/a.sh gcc' cmake .", "tools/a.sh"),
        ("make -s -f build.mk CC=tools/a.sh", "tools/a.sh build.mk"),
        ("MAKEFILES='build.mk' make -f- x", "build.mk"),
        ("RUSTC_WRAPPER=./check.sh cargo test", "check.sh"),
        ("CC=gcc cmake . && X=tools/a.sh true", ""),
        ("NODE_OPTIONS=--max-old-space-size=4096 node x.js", "x.js"),
    ]);
    assert_eq!(commands("NODE_OPTIONS='-r ./hook.js' a"), ["a"]);
    assert_eq!(programs("NODE_OPTIONS='-r ./hook.js' a"), ["a"]);
}

#[test]
fn arguments_and_words_of_a_shell_are_followed() {
    check_runs(&[
        (
            "set -- check.sh tools/a.sh; for t; do sh \"$t\"; done",
            "check.sh tools/a.sh",
        ),
        (
            "set -- check.sh; for t in \"$@\"; do sh $t; done",
            "check.sh",
        ),
        ("set -- check.sh x; sh \"$1\"", "check.sh"),
        ("set -e -- ./check.sh; \"$@\"", "check.sh"),
        ("set -eu; sh \"$1\" check.sh", ""),
        ("S='tools/a.sh --x'; $S", "tools/a.sh"),
        ("S='sh tools/a.sh'; $S --x", "tools/a.sh"),
        ("S='with space.sh'; sh \"./$S\"", "with space.sh"),
        ("cat<check.sh|sh", "check.sh"),
        ("sh<check.sh", "check.sh"),
        ("sh -s a < check.sh", "check.sh"),
        ("cat check.sh | bash -s -- --fast", "check.sh"),
        ("make -f- < build.mk", "build.mk"),
        ("cat build.mk | make -f - all", "build.mk"),
        ("xargs -a check.sh sh", "check.sh"),
        ("xargs -n1 sh < check.sh", "check.sh"),
        ("xargs grep x < check.sh", ""),
    ]);
}

#[test]
fn a_pattern_stands_in_a_folder_or_in_what_a_list_is_put_into() {
    for (check, expected) in [
        (
            "for d in */; do (cd \"$d\" && ./run.sh) || exit 1; done",
            "*/run.sh@*",
        ),
        (
            "for d in p/*; do cd $d; sh t/x.sh; cd -; done",
            "p/*/t/x.sh@p/*",
        ),
        (
            "for d in *; do [ -f $d/run.sh ] && sh $d/run.sh; done",
            "*/run.sh@",
        ),
        (
            "set -- tests/*.sh; for t; do sh \"$t\" || exit 1; done",
            "tests/*.sh@",
        ),
        ("ls tests | xargs -I{} sh tests/{}", "tests/*@"),
        ("ls tests | xargs -I F sh tests/F", "tests/*@"),
        ("cd tests && ls | xargs -n1 sh", "tests/*@tests"),
        ("ls | xargs -n1 wc", ""),
        ("ls tests | parallel sh tests/{}", "tests/*@"),
    ] {
        let found = runs_by_pattern(&Code::of_check(check));
        let shown = found
            .iter()
            .map(|used| format!("{}@{}", used.file, used.dir.as_deref().unwrap_or("-")));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{check}");
    }
}

#[test]
fn settings_with_names_of_their_own_steer_their_tools() {
    for (check, files) in [
        ("task t", "Taskfile.yaml"),
        ("mise run t", ".mise.toml"),
        ("inv t", "tasks.py"),
        ("prek run -a", ".pre-commit-config.yaml"),
        ("rake t", "Rakefile"),
        ("uv run poe t", "poe_tasks.toml pyproject.toml"),
        ("cargo make t", "Makefile.toml"),
        ("cargo audit", ".cargo/audit.toml"),
        ("cargo mutants", ".cargo/mutants.toml"),
        ("cargo tarpaulin", "tarpaulin.toml"),
        ("yarn t", ".pnp.cjs .yarnrc.yml"),
        ("npx tsc --noEmit", "tsconfig.base.json"),
        ("npx vitest run", "vitest.workspace.ts"),
        ("npx karma start", "karma.conf.js"),
        ("git archive HEAD | tar t", ".gitattributes"),
        ("govulncheck ./...", "go.mod"),
        ("sbt test", "build.sbt project/plugins.sbt"),
        ("lint-imports", ".importlinter"),
        ("mix credo", ".credo.exs"),
    ] {
        for file in files.split(' ') {
            let found = leans_on(check, &|path| path == file);
            assert_eq!(found, [file], "{check}");
        }
        assert!(leans_on(check, &|path| path == "src/main.py").is_empty());
    }
}

#[test]
fn a_module_or_a_folder_that_is_handed_to_an_interpreter_is_run() {
    check_runs(&[
        ("python3 -m scripts.check", "scripts/check.py"),
        ("cd scripts && python3 -m check", "scripts/check.py"),
        ("python3 -m json.tool README.md", ""),
        ("python3 -m scripts/check", ""),
        ("node x", "x.js"),
        ("node -r ./hook x", "hook.js x.js"),
        ("PATH=$PWD/tools:$PATH; . a.sh", "tools/a.sh"),
        ("PATH=$PWD/tools:$PATH bash a.sh", "tools/a.sh"),
        ("PATH=$PWD/tools:$PATH . ./a.sh", ""),
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
        (
            "pushd tools; sh a.sh; popd; ./check.sh",
            "tools/a.sh check.sh",
        ),
        (
            "for d in tools scripts; do (cd $d && ./a.sh; ./check.sh); done",
            "tools/a.sh scripts/check.sh",
        ),
        (
            "for d in tools x; do (cd ./$d && cd sub && sh b.sh); done",
            "tools/sub/b.sh",
        ),
        (
            "for d in tools x; do cd $d; sh ../check.sh; cd ..; done",
            "check.sh",
        ),
    ]);
}

#[test]
fn what_steers_a_check_is_named_if_it_is_there() {
    for (check, expected) in [
        ("make test", "Makefile"),
        ("make -C tools", "tools/Makefile"),
        ("make -Ctools", "tools/Makefile"),
        ("npm --prefix tools run x", "tools/package.json"),
        ("npm --prefix=none run x", "package.json"),
        ("pnpm -C tools test", "tools/package.json"),
        ("yarn --cwd ./tools test", "tools/package.json"),
        (
            "pnpm --filter tools test",
            "tools/package.json package.json",
        ),
        ("npm test --workspace=@me/tools", "package.json"),
        ("make -f build.mk", ""),
        ("make -f Makefile", ""),
        ("npm run test", "package.json"),
        ("node --run test", "package.json"),
        (
            "cd tools && node --env-file=a --run=x -- -v",
            "tools/package.json",
        ),
        ("node x.js --run test", ""),
        ("deno task x", "package.json"),
        ("bun test", "package.json"),
        ("pytest -q", "tests/conftest.py pyproject.toml"),
        ("python3 -m pytest", "tests/conftest.py pyproject.toml"),
        ("uv run pytest", "tests/conftest.py pyproject.toml"),
        (
            "uv run --locked --extra test pytest",
            "tests/conftest.py pyproject.toml",
        ),
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
            "pytest.toml<pyproject.toml .pytest.toml<pyproject.toml pytest.ini<pyproject.toml .pytest.ini<pyproject.toml",
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
fn what_an_interpreter_tries_before_a_script_is_known_by_its_order() {
    let found = |check: &str, files: &str| {
        let is_file = |path: &str| files.split(' ').any(|file| file == path);
        let found = instead(&Code::of_check(check), &is_file);
        let shown = found.iter().map(|one| format!("{}<{}", one.path, one.of));
        shown.collect::<Vec<_>>().join(" ")
    };
    for (check, files, expected) in [
        ("node lib/c", "lib/c.js", "lib/c<lib/c.js"),
        (
            "node lib/c",
            "lib/c/index.js",
            "lib/c<lib/c/index.js lib/c.js<lib/c/index.js lib/c.json<lib/c/index.js lib/c.node<lib/c/index.js",
        ),
        ("node lib/c.js", "lib/c.js", ""),
        ("node lib/c", "lib/c lib/c.js", ""),
        ("node -r ./h x.js", "h.js x.js", "h<h.js"),
        ("bun c", "c.ts", "c<c.ts c.tsx<c.ts c.jsx<c.ts"),
        ("PATH=bin:$PATH . c.sh", "bin/c.sh c.sh", ""),
        ("PATH=bin:$PATH; source c.sh", "c.sh", "bin/c.sh<c.sh"),
        ("PATH=bin:$PATH; source ./c.sh", "c.sh", ""),
        ("PATH=bin:$PATH bash c.sh", "bin/c.sh", "c.sh<bin/c.sh"),
        ("PATH=bin:$PATH bash c.sh", "c.sh", ""),
        ("python3 chk", "chk/__main__.py", "chk<chk/__main__.py"),
        ("python3 -m chk", "other.py", ""),
        ("python3 -m a.chk", "a/__init__.py a.py", ""),
        ("python3 -m a.chk", "a/chk.py a.py", ""),
    ] {
        assert_eq!(found(check, files), expected, "{check}: {files}");
    }
    // Of modules, without what is compiled.
    let of_source = |check: &str, files: &str| {
        let found = found(check, files);
        let words = found.split_whitespace();
        let words = words.filter(|word| word.contains(".py<"));
        words.collect::<Vec<_>>().join(" ")
    };
    for (check, files, expected) in [
        ("python3 -m chk", "chk.py", "chk/__init__.py<chk.py"),
        (
            "python3 -m a.chk",
            "a/chk.py",
            "a/__init__.py<a/chk.py a.py<a/chk.py a/chk/__init__.py<a/chk.py",
        ),
        (
            "cd s && python3 -m a.chk",
            "s/a/__init__.py s/a/chk.py",
            "s/a/chk/__init__.py<s/a/chk.py",
        ),
        (
            "PYTHONPATH=lib python3 -m chk",
            "lib/chk.py",
            "chk/__init__.py<lib/chk.py chk.py<lib/chk.py lib/chk/__init__.py<lib/chk.py",
        ),
        (
            "python3 -m a",
            "a/__main__.py",
            "a/__init__.py<a/__main__.py a.py<a/__main__.py",
        ),
        ("python3 -m a", "a/__init__.py a/__main__.py", ""),
    ] {
        assert_eq!(of_source(check, files), expected, "{check}: {files}");
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
    let before = computed();
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
        "sh {a,b}",
        "{a,b}",
        "{a",
        "{1..9999999}/",
        "git -c alias.x='!git -c alias.x=",
        "node -e 'require(\"a\")'; ",
        "cd a; cd b;",
        "cd ..; ",
        "((a",
        "[[ a =~ (b ",
        "case a in ",
        ";;",
        ";;\"a ",
    ] {
        let text = unit.repeat(20_000);
        for file in ["s/c.sh", "Makefile", "package.json"] {
            let used = Used::of(file.to_owned());
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
        lists(&Code::of_check(&text));
    }
    let took = computed() - before;
    assert!(took < 120, "{took} s");
}

/// Returns how many seconds this thread has computed: what else the machine does takes none of them.
fn computed() -> i64 {
    let clock = nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID;
    nix::time::clock_gettime(clock)
        .expect("a thread has a clock")
        .tv_sec()
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
        let code = Code::of_check(check);
        let is_steered = may_steer(&code).iter().any(|known| known == path)
            || tools(&code).iter().any(|tool| tool.goes_by(path));
        assert_eq!(is_steered, expected, "{check}: {path}");
    }
}

#[test]
fn package_managers_look_for_programs_in_node_modules_first() {
    for (check, expected) in [
        ("npm test; jest", ""),
        ("npx jest -x", "jest node sh :"),
        ("cd web && npx jest", "jest node sh :web"),
        ("pnpm exec tsc && tsc", "node sh tsc :"),
        ("/usr/bin/npm exec ./x.sh", "node sh :"),
    ] {
        let found = packaged(&Code::of_check(check));
        let found: std::collections::BTreeSet<Packaged> = found.into_iter().collect();
        let mut shown: Vec<&str> = found.iter().map(|one| one.program.as_str()).collect();
        let folders = found
            .first()
            .map(|one| format!(":{}", one.folders.join(":")));
        shown.extend(folders.as_deref());
        assert_eq!(shown.join(" "), expected, "{check}");
    }
    let package = Used {
        tasks: vec!["test".to_owned()],
        dir: Some("web".to_owned()),
        ..Used::of("web/package.json".to_owned())
    };
    let code = code_in(&package, r#"{"scripts": {"test": "cd src && sh t.sh"}}"#);
    let found = packaged(&code[0]);
    assert_eq!(found[0].to_string(), "sh behind web/node_modules/.bin");
    // What the script runs looks there, too.
    let script = &uses(&code[0], &|_| true)[0];
    assert_eq!(script.file, "web/src/t.sh");
    let found = packaged(&code_in(script, "npx jest")[0]);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let shown = "jest behind web/src/node_modules/.bin:web/node_modules/.bin";
    assert!(found.iter().any(|one| one == shown), "{found:?}");
}
