//! Which scripts that check run at once, by what they run.

use super::*;

/// What stands in the repository of these tests.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", ""),
    ("README.md", ""),
    ("docs/index.md", ""),
    (
        "scripts/lib.sh",
        "log() { printf '%s\\n' \"$*\" >&2; }\nrepo_files() { git ls-files -- \"$@\"; }\n",
    ),
    ("scripts/check_links.py", ""),
    ("src/lib.rs", ""),
    ("tests/golden.txt", ""),
    ("tools/gen.py", ""),
    ("tools/x.sh", "#!/bin/sh\nfrobnicate\n"),
];

/// Returns what becomes of a script: why it makes no goal, or waits; nothing where it runs at once.
fn why(body: &str) -> Option<String> {
    let path = "scripts/check-it.sh";
    let body = format!("#!/usr/bin/env bash\n{body}\n");
    let mut files = FILES.to_vec();
    files.push((path, &body));
    let found = propose(&Files::of(&files), &PLAIN);
    reads_back(&found);
    let left_out = found
        .left_out
        .iter()
        .find_map(|line| line.strip_prefix(path));
    let mut goals = found.proposals.iter();
    match (goals.find(|one| one.source == path), left_out) {
        (Some(goal), None) => goal.missing.clone(),
        (None, Some(line)) => Some(format!("no goal{line}")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn scripts_that_only_look_run_at_once() {
    let all = [
        // Words that nobody wants in the code.
        "set -euo pipefail\ncd \"$(dirname \"$0\")/..\"\nstatus=0\nwhile IFS= read -r word; do\n  \
            if git grep -nwi \"$word\" -- src docs; then status=1; fi\ndone <<'EOF'\nfoo\nbar\nEOF\nexit $status",
        // Headers with licences.
        "MISSING=\"$(find src tests -name '*.rs' -print0 | xargs -0 grep -L 'SPDX-License-Identifier' || true)\"\n\
            if [ -n \"$MISSING\" ]; then\n  echo \"Missing headers in:\" >&2\n  echo \"$MISSING\" >&2\n  exit 1\nfi",
        // Functions, colours, traps and a folder of its own.
        "set -eu\nroot=$(git rev-parse --show-toplevel)\ntmp=$(mktemp -d)\ncleanup() { rm -rf \"$tmp\"; }\ntrap cleanup EXIT\n\
            RED=$(tput setaf 1)\nfail() {\n  printf '%s%s\\n' \"$RED\" \"$1\" >&2\n  exit 1\n}\ncd \"$root\"\n\
            cp -r docs \"$tmp/docs\"\nmkdir \"$tmp/out\"\n(cd \"$tmp\" && sed -i 's/a/b/' docs/index.md && touch x)\n\
            diff -r docs \"$tmp/docs\" || fail 'docs differ'",
        // Each step by a function that is handed the command.
        "set -e\nrun() {\n  echo \"+ $*\"\n  \"$@\"\n}\nstep() {\n  local name=$1; shift\n  if ! \"$@\"; then echo \"$name failed\"; exit 1; fi\n}\n\
            run cargo fmt --all -- --check\nstep Clippy cargo clippy --all-targets\nrun cargo test --doc",
        // What a library beside it has.
        "source \"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)/lib.sh\"\nfor f in $(repo_files '*.md'); do\n  \
            [[ -s $f ]] || { log \"$f is empty\"; bad=1; }\ndone\nexit ${bad:-0}",
        // Options, choices, arrays and sums.
        "declare -a bad=()\nstrict=0\nwhile getopts 's' o; do case $o in s) strict=1 ;; *) exit 2 ;; esac; done\nshift $((OPTIND - 1))\n\
            mapfile -t files < <(git ls-files '*.rs')\nfor f in \"${files[@]}\"; do\n  n=$(wc -l < \"$f\")\n  if (( n > 300 )); then bad+=(\"$f\"); fi\n  \
            let total+=n\ndone\nif ((${#bad[@]})); then printf '%s\\n' \"${bad[@]}\"; exit 1; fi",
        // Tools that are called by modules and by other scripts.
        "set -e\npython3 -m json.tool a.json >/dev/null\npython3 -m compileall -q src\npython3 scripts/check_links.py docs\n\
            python3 tools/gen.py --check\n./scripts/check-it.sh --list >/dev/null",
        // The linter of shells, where it is there.
        "if ! command -v shellcheck >/dev/null 2>&1; then\n  echo 'shellcheck is missing'\n  exit 77\nfi\n\
            git ls-files '*.sh' | xargs shellcheck --severity=warning",
        // A version that stands in two places.
        "version=$(sed -n 's/^version = \"\\(.*\\)\"/\\1/p' Cargo.toml | head -n 1)\n\
            grep -q \"^## $version\" README.md || { echo \"README lacks $version\"; exit 1; }\n\
            cargo metadata --no-deps --format-version 1 | jq -r '.packages[].version' | grep -qx \"$version\"",
        // Files that are built and compared.
        "set -euo pipefail\nout=\"${TMPDIR:-/tmp}/golden.$$\"\ncargo build --quiet\n./target/debug/app --help > \"$out\"\n\
            diff -u tests/golden.txt \"$out\"\nrm -f \"$out\"",
        // A repository of its own.
        "set -e\ndir=$(mktemp -d)\ncd \"$dir\"\ngit init -q\ngit config user.email a@b.c\necho x > a\ngit add a\ngit commit -qm a\n\
            test \"$(git rev-list --count HEAD)\" = 1",
        // Every folder by itself.
        "for d in src docs; do\n  pushd \"$d\" >/dev/null\n  ! grep -rn 'TODO' . || exit 1\n  popd >/dev/null\ndone",
        // What is found by Perl and awk.
        "bad=$(git ls-files -z | xargs -0 awk 'length > 120 { print FILENAME \":\" FNR }')\n\
            [ -z \"$bad\" ] || { echo \"$bad\"; exit 1; }\ngit diff --check\n! git ls-files | sort -f | uniq -di | grep .",
        // Another file system's rights.
        "git ls-files -s scripts | awk '$1 != \"100755\" { print $4; bad = 1 } END { exit bad }'\nstat -c %a README.md",
        // Which branch it is compared with.
        "base=${BASE_REF:-origin/main}\nchanged=$(git diff --name-only \"$(git merge-base HEAD \"$base\")\")\n\
            if echo \"$changed\" | grep -q '^src/'; then echo \"$changed\" | grep -q '^README.md$'; fi",
        // Links, and files that another language reads.
        "fail=0\nfor url in $(grep -rhoE 'https://[^ )]+' docs | sort -u); do\n  \
            code=$(curl -s -o /dev/null -w '%{http_code}' --max-time 20 \"$url\")\n  [[ $code == 2* ]] || fail=1\ndone\nexit $fail",
        "for f in $(git ls-files '*.json'); do\n  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' \"$f\" || exit 1\ndone",
        // Code of Python's that stands in it.
        "python3 - \"$1\" docs <<'EOF'\nimport json, sys\ndata = json.load(open('a.json'))\n\
            if not isinstance(data, dict):\n    print('no $dict')\n    sys.exit(1)\nEOF",
        "python3 -B <<-EOF\n\tfrom pathlib import Path\n\tassert Path('a.json').read_text()\n\tEOF\ngrep x y",
        // Loops that fail.
        "set -o pipefail\ngrep -o 'https:[^ ]*' README.md | while read -r u; do curl -sfI \"$u\" || echo \"dead: $u\"; done",
        "git ls-files | while read -r f; do test -s \"$f\" || exit 1; done",
        "for f in docs/*; do test -s $f || { echo $f; exit 1; }; done",
        "for f in docs/*; do test -s $f || echo $f; done | diff - tests/golden.txt",
        // What an argument asks for, which nobody gives.
        "set -eu\nif [ \"${1:-}\" = --fix ]; then\n  cargo fmt\n  frobnicate src\n  exit\nfi\ncargo fmt --check",
        "if [[ $1 == --update ]]; then\n  rm -rf src\nelse\n  grep x y\nfi",
        "test -z \"$(find src | xargs grep -c Apache | perl -ne 'print if s/:0$//')\"",
        // What lies in a folder of its own, or of what tools make, may go.
        "set -e\ntmp=$(mktemp -d)\ncp -r docs \"$tmp\"\nfind \"$tmp\" -name '*.md' | xargs touch\n\
            (cd \"$tmp\" && find . -name '*.md' | xargs rm -f)\nfind build -name '*.o' | xargs rm -f\ngrep x y",
        "d=$(mktemp -d)\nsort -o \"$d/a\" README.md && cmp \"$d/a\" tests/golden.txt",
        // It ends by what it finds.
        "set -e\nruff check .\nmypy .\necho \"all done\"",
        "ruff check . || exit 1\nmypy . || exit 1\necho \"all done\"",
        "ruff check .\na=$?\nmypy .\necho done\nexit $((a + $?))",
        // Node's packages.
        "npx --no-install tsc --noEmit\nnode_modules/.bin/eslint .\nnpx markdownlint '**/*.md' --ignore node_modules",
    ];
    let other: Vec<_> = all
        .iter()
        .filter_map(|body| Some((why(body)?, body)))
        .collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn scripts_that_run_what_is_not_known_wait_and_those_that_do_harm_make_no_goal() {
    let first = "look first, then take the # away";
    let unknown = |shown: &str| format!("evolve does not know what `{shown}` does: {first}");
    let changes = |shown: &str| format!("`{shown}` changes what git tracks: {first}");
    let sends =
        |shown: &str| format!("no goal: it sends something away (sh scripts/check-it.sh: {shown})");
    for (body, expected) in [
        ("frobnicate --all", unknown("frobnicate --all")),
        (
            "run() { \"$@\"; }\nrun frobnicate x",
            unknown("frobnicate x"),
        ),
        (
            "run() { echo \"$@\"; }\nfrobnicate x",
            unknown("frobnicate x"),
        ),
        ("sh tools/x.sh && grep x y", unknown("frobnicate")),
        (
            ". scripts/lib.sh\n. \"$HOME/x.sh\"\ngrep x y",
            unknown(". $HOME/x.sh"),
        ),
        ("\"$TOOL\" --version\ngrep x y", unknown("$TOOL --version")),
        (
            "python3 tools/gen.py && git diff --exit-code",
            unknown("python3 tools/gen.py"),
        ),
        (
            "python3 -c 'import x; x.run()'",
            unknown("python3 -c 'import x; x.run()'"),
        ),
        (
            "python3 - <<'EOF'\nimport os\nos.remove('a')\nEOF",
            unknown("python3 -"),
        ),
        ("python3 - <<EOF\nprint($CODE)\nEOF", unknown("python3 -")),
        (
            "cat x.py | python3 - <<'EOF'\nfrom x import *\nEOF",
            unknown("python3 -"),
        ),
        ("python3 - < x.py", unknown("python3 -")),
        (
            "if [ \"$1\" = --fix ]; then\n  frobnicate\nelse\n  rm -rf src\nfi",
            changes("rm -rf src"),
        ),
        (
            "if [ \"$1\" != --check ]; then\n  frobnicate\nfi\ngrep x y",
            unknown("frobnicate"),
        ),
        ("docker run --rm x lint", unknown("docker run --rm x lint")),
        ("cargo run -p x && grep x y", unknown("cargo run -p x")),
        (
            "curl -fsSO https://x/y\ngrep x y",
            unknown("curl -fsSO https://x/y"),
        ),
        (
            "curl -f http://localhost:1/x",
            unknown("curl -f http://localhost:1/x"),
        ),
        ("rm -rf vendor\ngrep x y", unknown("rm -rf vendor")),
        ("rm -rf src\ngrep x y", changes("rm -rf src")),
        ("git ls-files | xargs unlink\ngrep x y", changes("unlink")),
        (
            "git ls-files | xargs chmod 600\ngrep x y",
            changes("chmod 600"),
        ),
        ("git ls-files | xargs touch\ngrep x y", changes("touch")),
        ("grep x y | xargs tee < src/lib.rs", changes("tee")),
        (
            "find . -name '*.md' | xargs rm -f\ngrep x y",
            changes("rm -f"),
        ),
        (
            "git ls-files | xargs -I% cp /dev/null %\ngrep x y",
            changes("cp /dev/null '{}'"),
        ),
        (
            "find docs -type f -exec chmod 600 {} \\;\ngrep x y",
            changes("chmod 600 '{}'"),
        ),
        (
            "sort -o README.md README.md\ngrep x y",
            changes("sort -o README.md README.md"),
        ),
        (
            "cd \"$(dirname \"$0\")/..\" || exit 1\nruff check --output-file=docs/index.md",
            changes("ruff check --output-file=docs/index.md"),
        ),
        (
            "ruff check .\nmypy .\necho \"all done\"",
            "no goal: it succeeds whatever it finds".to_owned(),
        ),
        (
            "grep TODO README.md\nexit 0",
            "no goal: it succeeds whatever it finds".to_owned(),
        ),
        ("cargo fmt && git diff --exit-code", changes("cargo fmt")),
        (
            "git add -A && git diff --cached --exit-code",
            changes("git add -A"),
        ),
        (
            "find . -name '*.orig' -delete\ngrep x y",
            format!("it deletes files (find -delete): {first}"),
        ),
        ("grep x y\ngit push origin x", sends("git push origin x")),
        (
            "pip install x\nx .",
            "no goal: it changes the machine (sh scripts/check-it.sh: pip install x)".to_owned(),
        ),
        (
            "cd \"$(dirname \"$0\")/..\" || exit 1\nchmod +x docs/*\ntest -x tools/x.sh",
            changes("chmod +x docs/*"),
        ),
        (
            "chmod -x README.md\ngrep x y",
            changes("chmod -x README.md"),
        ),
        (
            "grep x y || true",
            "no goal: it succeeds whatever it finds".to_owned(),
        ),
        (
            "# dead links\ngrep -o 'https:[^ ]*' README.md | while read -r u; do curl -sfI \"$u\" >/dev/null || echo \"dead: $u\"; done",
            "no goal: it succeeds whatever it finds".to_owned(),
        ),
        (
            "git ls-files | while read -r f; do\n  test -s \"$f\" || echo \"$f\" >&2\ndone",
            "no goal: it succeeds whatever it finds".to_owned(),
        ),
        (
            "for f in docs/*; do test -s $f || echo $f; done",
            "no goal: it succeeds whatever it finds".to_owned(),
        ),
    ] {
        assert_eq!(why(body), Some(expected), "{body}");
    }
}

#[test]
fn a_branch_for_an_argument_counts_for_who_gives_one() {
    let script = "#!/bin/sh\nif [ \"$1\" = --deep ]; then\n  frobnicate\nfi\ngrep x y\n";
    for (call, id, waits) in [("", "check-it", false), (" --deep", "check-a", true)] {
        let recipe = format!("check-a:\n\tsh scripts/check-it.sh{call}\n");
        let files = [
            ("Makefile", recipe.as_str()),
            ("scripts/check-it.sh", script),
        ];
        let files = Files::of(&files).without(&["shellcheck"]);
        let found = propose(&files, &PLAIN);
        let goal = found.proposals.iter().find(|one| one.id == id);
        assert_eq!(goal.unwrap().missing.is_some(), waits, "{call}");
    }
}

#[test]
fn a_script_has_one_verdict_whoever_calls_it() {
    let body = "#!/bin/sh\nfrobnicate\n";
    let workflow = "on: push\njobs: {a: {steps: [{run: sh scripts/check-release.sh}]}}\n";
    for (body, waits) in [(body, true), ("#!/bin/sh\ngrep x y\n", false)] {
        let files = [
            (
                "Makefile",
                "check-a:\n\tsh scripts/check-release.sh --deep\n",
            ),
            (".github/workflows/ci.yml", workflow),
            ("scripts/check-release.sh", body),
        ];
        let files = Files::of(&files).without(&["shellcheck"]);
        let found = propose(&files, &WITH_CI);
        let own = found.proposals.iter();
        let own = own.filter(|one| one.id.starts_with("check-"));
        let own: Vec<_> = own
            .map(|one| (one.id.as_str(), one.missing.is_some()))
            .collect();
        let expected = [("check-a", waits), ("check-release", waits)];
        assert_eq!(own, expected, "{body}: {:#?}", found.left_out);
    }
}

#[test]
fn what_only_calls_a_script_that_goes_on_to_its_end_cannot_fail() {
    let lines = "grep TODO a.txt\nmypy .\necho done\n";
    for (call, script, can_fail) in [
        ("sh t.sh", lines.to_owned(), false),
        ("bash ./t.sh --deep", lines.to_owned(), false),
        ("./t.sh", format!("#!/bin/sh\n{lines}"), false),
        ("./t.sh", format!("#!/bin/sh -e\n{lines}"), true),
        ("./t.sh", format!("#!/usr/bin/python3\n{lines}"), true),
        ("sh -e t.sh", lines.to_owned(), true),
        ("sh t.sh", format!("set -e\n{lines}"), true),
        ("sh t.sh && mypy .", lines.to_owned(), true),
        ("sh t.sh", lines.replace("echo done", "exit 1"), true),
    ] {
        let package = format!(r#"{{"scripts": {{"check-a": "{call}"}}}}"#);
        let makefile = format!("check-a:\n\t{call}\n");
        for (file, text) in [("Makefile", &makefile), ("package.json", &package)] {
            let files = [(file, text.as_str()), ("t.sh", &script)];
            let found = propose(&Files::of(&files).without(&["shellcheck"]), &PLAIN);
            let is_goal = found.proposals.iter().any(|one| one.id == "check-a");
            let why = |line: &String| line.ends_with("it succeeds whatever it finds");
            assert_eq!(is_goal, can_fail, "{file}: {call}: {script}");
            let is_told = found.left_out.iter().any(why);
            assert_eq!(is_told, !can_fail, "{:?}", found.left_out);
        }
    }
}

#[test]
fn node_runs_what_it_takes_for_a_name_without_an_ending() {
    let why = |call: &str, file: &str, main: &str| {
        let package = format!(r#"{{"main": "{main}", "scripts": {{"test": "{call}"}}}}"#);
        let files = [("package.json", package.as_str()), (file, "import './x'")];
        let found = propose(&Files::of(&files), &PLAIN);
        let tests = found.proposals.iter().find(|one| one.id == "tests-pass");
        tests.unwrap().missing.clone().unwrap_or_default()
    };
    let first = "look first, then take the # away";
    let unknown = |call: &str| format!("evolve does not know what `{call}` does: {first}");
    for (call, file, main, expected) in [
        ("node test", "test.js", "", String::new()),
        ("node ./test", "test.json", "", String::new()),
        ("node test", "test/index.js", "", String::new()),
        ("node ./run", "run/index.js", "", unknown("node ./run")),
        ("node .", "lib/test.js", "lib/test", String::new()),
        ("node .", "test.js", "test.js", String::new()),
        ("node .", "index.js", "", unknown("node .")),
        (
            "node test",
            "test.mjs",
            "",
            format!("there is no test: {first}"),
        ),
        (
            "node ./test",
            "test.cjs",
            "",
            format!("there is no ./test: {first}"),
        ),
    ] {
        assert_eq!(why(call, file, main), expected, "{call}: {file}");
    }
}

#[test]
fn shellcheck_looks_at_the_scripts_that_a_sweep_looks_at() {
    let of = |files: &[(&str, &str)]| {
        let goals = goals_in(files).into_iter();
        let mut own =
            goals.filter_map(|one| Some(one.strip_prefix("7 shellcheck-clean: ")?.to_owned()));
        own.next()
    };
    let script = "#!/bin/sh\ncd $1\n";
    let plain = "git ls-files -z -- '*.sh' '*.bash' | xargs -0 shellcheck";
    for (files, expected) in [
        (&[("a.sh", script)][..], Some(plain)),
        (&[("a", "#!/usr/bin/python3\n"), ("b.txt", script)], None),
        (
            &[("a.sh", script), ("b.txt", script), ("c.zsh", "")],
            Some(plain),
        ),
        (
            &[
                ("a.sh", script),
                ("bin/tool", "#!/usr/bin/env bash\n"),
                ("bin/it's", script),
                ("bin/tool-x.cgi", script),
                ("bin/y", "#!/usr/bin/env python3\n"),
            ],
            Some(
                r"git ls-files -z -- '*.sh' '*.bash' 'bin/it'\''s' bin/tool bin/tool-x.cgi | xargs -0 shellcheck",
            ),
        ),
        (
            &[("a.ksh", script), ("b.dash", script)],
            Some("git ls-files -z -- '*.sh' '*.bash' '*.dash' '*.ksh' | xargs -0 shellcheck"),
        ),
        (
            &[
                ("a.sh", script),
                ("x/vendor/b.sh", script),
                ("x/vendor/c", script),
            ],
            Some(
                "git ls-files -z -- '*.sh' '*.bash' ':(exclude,glob)**/vendor/**' | xargs -0 shellcheck",
            ),
        ),
        (&[("vendor/b.sh", script)], None),
    ] {
        assert_eq!(of(files).as_deref(), expected, "{files:?}");
    }
    // What it looks at is not what it runs.
    let check = "git ls-files -z -- '*.sh' bin/tool | xargs -0 shellcheck";
    assert!(crate::model::check::runs(check, &|path| path == "bin/tool").is_empty());
}

#[test]
fn tests_that_wait_for_what_npm_runs_around_them_are_called_without_that() {
    let of = |scripts: &str| {
        let package = format!(r#"{{"scripts": {{{scripts}}}}}"#);
        let found = propose(&Files::of(&[("package.json", &package)]), &PLAIN);
        reads_back(&found);
        let tests = found
            .proposals
            .iter()
            .find(|one| one.role == offer::Role::Test);
        let tests = tests.map(|one| (one.check.clone(), one.missing.is_none()));
        (tests, found.left_out)
    };
    let only = Some(("npm run --silent tests-only".to_owned(), true));
    let (goal, left_out) = of(
        r#""lint": "eslint .", "pretest": "npm run lint", "tests-only": "nyc tape 'test/*.js'", "test": "npm run tests-only", "posttest": "aud --production""#,
    );
    assert_eq!(goal, only, "{left_out:?}");
    let why = "package.json: scripts.test: evolve does not know what `aud --production` does; tests-pass runs tests-only";
    assert!(left_out.iter().any(|it| it == why), "{left_out:#?}");
    for scripts in [
        r#""tests-only": "node --test", "test": "npm run --silent tests-only", "posttest": "npx npm@'>=10.2' audit --production""#,
        r#""tests-only": "node --test", "pretest": "frob", "test": "npm run lint && npm run tests-only""#,
    ] {
        assert_eq!(of(scripts).0, only, "{scripts}");
    }
    let unit = r#""unit": "node --test", "test": "npm run unit", "posttest": "aud --production""#;
    let expected = Some(("npm run --silent unit".to_owned(), true));
    assert_eq!(of(unit).0, expected);
    for (scripts, runs) in [
        (
            r#""tests-only": "node --test", "test": "npm run tests-only""#,
            true,
        ),
        (
            r#""tests-only": "frob", "test": "npm run tests-only", "posttest": "aud""#,
            false,
        ),
        (
            r#""tests-only": "node --test", "posttests-only": "frob", "test": "npm run tests-only""#,
            false,
        ),
    ] {
        let whole = Some(("npm test --silent".to_owned(), runs));
        assert_eq!(of(scripts).0, whole, "{scripts}");
    }
}

#[test]
fn a_command_is_named_as_it_stands_in_its_file() {
    let package = r#"{"version": "1.0.0", "scripts": {"test": "bin/run-test", "check-v": "git commit -am $npm_package_version"}}"#;
    let run = "#!/usr/bin/env bash\nif [ -z \"${BASH_VERSION-}\" ]; then exit 1; fi\nrl() {\n  greadlink -f \"$1\"\n}\nrl \"$0\" >/dev/null || true\n";
    let files = [("package.json", package), ("bin/run-test", run)];
    let found = propose(&Files::of(&files).without(&["shellcheck"]), &PLAIN);
    let tests = found.proposals.iter().find(|one| one.id == "tests-pass");
    let why = "evolve does not know what `greadlink -f $1` does: look first, then take the # away";
    assert_eq!(tests.and_then(|one| one.missing.as_deref()), Some(why));
    let why = "package.json: scripts.check-v: it changes files (git commit -am $npm_package_version); a goal only looks";
    assert!(
        found.left_out.iter().any(|it| it == why),
        "{:#?}",
        found.left_out
    );
}
