//! Which programs a check calls and does not find. Pure.

use std::collections::BTreeSet;

use super::call::Call;
use super::program_of;
use super::walk::calls;

/// Words of shells that `programs` takes for names, and that no folder of PATH has to have: those that end what others begin, too.
const OF_SHELLS: &[&str] = &[
    "[[",
    "]]",
    "alias",
    "bg",
    "break",
    "builtin",
    "caller",
    "command",
    "continue",
    "declare",
    "dirs",
    "disown",
    "done",
    "enable",
    "esac",
    "fi",
    "fg",
    "function",
    "getopts",
    "hash",
    "jobs",
    "kill",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "pwd",
    "readarray",
    "readonly",
    "return",
    "select",
    "shift",
    "shopt",
    "source",
    "time",
    "times",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
];
/// What may bring programs that the PATH of now does not have.
const BRINGING: [&str; 2] = [".", "source"];

/// What cargo runs that is installed for itself. Other names may be aliases of the project's.
const OF_CARGO: [&str; 40] = [
    "about",
    "audit",
    "bloat",
    "careful",
    "check-external-types",
    "deadlinks",
    "deny",
    "docs-rs",
    "expand",
    "fuzz",
    "geiger",
    "hack",
    "hakari",
    "insta",
    "kani",
    "llvm-cov",
    "llvm-lines",
    "machete",
    "make",
    "minimal-versions",
    "miri",
    "msrv",
    "mutants",
    "ndk",
    "nextest",
    "no-dev-deps",
    "outdated",
    "public-api",
    "rdme",
    "semver-checks",
    "shear",
    "sort",
    "spellcheck",
    "sync-rdme",
    "tarpaulin",
    "test-all-features",
    "udeps",
    "vet",
    "watch",
    "zigbuild",
];

/// What stands in front of what tells something.
const PREPARING: [&str; 5] = ["cd", "exec", "export", "set", ":"];

/// Returns the programs that `check` calls and that `finds` does not find, each once; none where the check brings a PATH of its own.
pub fn unfound(check: &str, finds: &dyn Fn(&str) -> bool) -> Vec<String> {
    if brings_programs(check) {
        return Vec::new();
    }
    let is_of_path = |name: &String| {
        is_name(name)
            && !OF_SHELLS.contains(&name.as_str())
            && !is_function(check, name)
            && !is_asked_for(check, name)
            && !finds(name)
    };
    let programs: BTreeSet<String> = calls(check).into_iter().filter_map(looked_for).collect();
    let mut unfound: Vec<String> = programs.into_iter().filter(is_of_path).collect();
    // Without cargo itself, nothing can be said of what it would look for.
    if !unfound.iter().any(|name| name == "cargo") {
        let of_cargo = calls(check).iter().filter_map(of_cargo).collect::<Vec<_>>();
        unfound.extend(of_cargo.into_iter().filter(|name| !finds(name)));
    }
    unfound.dedup();
    unfound
}

/// Returns the program that PATH has to have for a call: what brings another one, be that there or not.
fn looked_for(call: Call) -> Option<String> {
    match &call.brought_by {
        Some(by) => Some(by.clone()).filter(|_| !call.is_implied),
        None if call.is_in_front => program_of(&Call {
            is_implied: false,
            ..call
        }),
        None => program_of(&call),
    }
}

/// Returns the program that cargo looks for, of those that come with neither cargo nor the project: `cargo deny` is `cargo-deny`.
fn of_cargo(call: &Call) -> Option<String> {
    let mut words = call.words.iter().map(String::as_str);
    if call.is_implied || words.next() != Some("cargo") {
        return None;
    }
    let name = words.find(|word| !word.starts_with(['-', '+']))?;
    OF_CARGO.contains(&name).then(|| format!("cargo-{name}"))
}

/// Says whether a check sets the PATH, or runs what may: as its own command, for `.` among arguments is a folder.
fn brings_programs(check: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut paths = check.match_indices("PATH=");
    let sets_path = paths.any(|(at, _)| !check[..at].ends_with(is_of_name));
    let mut words = check.split(|c: char| c.is_whitespace() || "();&|{}".contains(c));
    // What stands behind it is gone through in its place, so that no call of it is left.
    let evaluates = words.any(|word| word == "eval");
    let sources = |call: &Call| !call.is_implied && BRINGING.contains(&call.words[0].as_str());
    sets_path || evaluates || calls(check).iter().any(sources)
}

/// Says whether the first thing that `check` calls is one of these programs, so that nothing is told without it.
pub fn begins_with(check: &str, programs: &[String]) -> bool {
    let calls = calls(check);
    let mut words = calls
        .iter()
        .filter(|call| !call.is_implied)
        .filter_map(|call| call.words.first());
    let first = words.find(|word| !PREPARING.contains(&word.as_str()));
    first.is_some_and(|word| programs.contains(word))
}

/// Says whether a word looks as names of programs do.
fn is_name(word: &str) -> bool {
    word.starts_with(char::is_alphanumeric) && word.chars().all(is_of_name)
}

/// Says whether a check calls a program only where it is there: `if command -v tool; then tool; fi`.
fn is_asked_for(check: &str, name: &str) -> bool {
    let asks = ["command -v", "hash", "type", "which"];
    let lines = || check.split(['\n', ';']).map(str::trim);
    asks.iter().any(|ask| {
        let is_of = |line: &str, before: &str| {
            let rest = line.strip_prefix(&format!("{before}{ask} {name}"));
            rest.is_some_and(|rest| !rest.starts_with(is_of_name))
        };
        lines().any(|line| is_of(line, "if ") || is_of(line, "") && line.ends_with("|| exit 0"))
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.+".contains(c)
}

/// Says whether a check makes a function of this name.
fn is_function(check: &str, name: &str) -> bool {
    ["()", " ()"]
        .iter()
        .any(|mark| check.contains(&format!("{name}{mark}")))
        || check.contains(&format!("function {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_and_not_found_is_named_and_words_of_shells_are_not() {
        let finds = |name: &str| name == "git" || name == "bash";
        for (check, expected) in [
            ("cargo test --quiet", vec!["cargo"]),
            ("cd web && npm test && npm run lint", vec!["npm"]),
            ("! git grep -n x", vec![]),
            ("command -v pwd && type umask", vec![]),
            ("bash -e <<'EOF'\n[[ -e a ]] && shopt -s x\nEOF", vec![]),
            ("f() { git status; }; f", vec![]),
            ("PATH=$PWD/bin:$PATH tool", vec![]),
            (". .venv/bin/activate && pytest", vec![]),
            ("deno lint; ./own.sh", vec!["deno"]),
            ("black --check .", vec!["black"]),
            ("git x && cargo hack check", vec!["cargo"]),
            (
                "uv run --extra dev pytest && uvx ruff check",
                vec!["uv", "uvx"],
            ),
            (
                "npx --no-install eslint . && npm exec tsc",
                vec!["npm", "npx"],
            ),
            (
                "npx --no-install nyc --reporter=text npm test --silent",
                vec!["npx"],
            ),
            ("nyc npm test", vec!["npm", "nyc"]),
            ("node --run test", vec!["node"]),
            ("timeout 5 bundle exec rake", vec!["bundle", "timeout"]),
            ("git x && perf stat make", vec!["make", "perf"]),
            ("xvfb-run -a git x", vec!["xvfb-run"]),
            ("time git x", vec![]),
            ("if command -v tool >/dev/null; then tool .; fi", vec![]),
            ("command -v tool || exit 0\ntool .", vec![]),
            ("command -v tool || exit 1\ntool .", vec!["tool"]),
            (
                "bash -c 'if [[ ! $t =~ ^(feat|fix)(\\(.+\\))?: ]]; then deno; fi'",
                vec!["deno"],
            ),
            (
                "bash -c '[[ $t =~ $(deno) ]] && make'",
                vec!["deno", "make"],
            ),
            ("A=b nix develop -c make", vec!["nix"]),
            ("PYTHONPATH=src pytest .", vec!["pytest"]),
            ("source env.sh; pytest", vec![]),
            ("bash -e -c '. env.sh; pytest'", vec![]),
            ("eval \"$(tool env)\" && pytest", vec![]),
            ("env \"PATH=$PWD/bin:$PATH\" tool", vec![]),
            ("if git grep x; then exit 1; fi", vec![]),
            ("for d in a b; do\n(cd $d && make)\ndone", vec!["make"]),
            (
                "case $x in\n  a|b) make ;;\n  \"c d\") cmake;; *) exit 1\nesac",
                vec!["cmake", "make"],
            ),
            ("case $x in (a) make;; esac; deno", vec!["deno", "make"]),
            (
                "y=$(case $x in a) make;; *) deno;; esac)",
                vec!["deno", "make"],
            ),
            ("n=0; ((n++)); ((1 + 1)); ((n > 3)) && deno", vec!["deno"]),
            ("((make); (deno))", vec!["deno", "make"]),
            ("((make a; deno b))", vec!["deno", "make"]),
            (
                "bash -e <<'EOF'\na=(1 2)\nb+=($(seq 3) x)\nmake \"${a[@]}\"\nEOF",
                vec!["make", "seq"],
            ),
        ] {
            assert_eq!(unfound(check, &finds), expected, "{check}");
        }
    }

    #[test]
    fn a_program_is_looked_for_once_however_often_it_is_called() {
        let looked_for = std::cell::RefCell::new(Vec::new());
        let finds = |name: &str| {
            looked_for.borrow_mut().push(name.to_owned());
            name != "ld"
        };
        let check = "cc -c a.c\nld a.o\ncc -c b.c\nld b.o\ncc -c c.c";
        assert_eq!(unfound(check, &finds), ["ld"]);
        assert_eq!(*looked_for.borrow(), ["cc", "ld"]);
    }

    #[test]
    fn what_cargo_looks_for_is_named_unless_the_project_may_mean_something_else() {
        let finds = |name: &str| ["cargo", "cargo-deny"].contains(&name);
        for (check, expected) in [
            ("cargo +nightly hack check", vec!["cargo-hack"]),
            (
                "A=b cargo --locked nextest run && cargo nextest list",
                vec!["cargo-nextest"],
            ),
            ("cargo +nightly docs-rs", vec!["cargo-docs-rs"]),
            ("cargo deny check", vec![]),
            ("cargo xtask hack", vec![]),
            ("cargo test hack", vec![]),
        ] {
            assert_eq!(unfound(check, &finds), expected, "{check}");
        }
    }

    #[test]
    fn a_check_begins_with_what_tells_first() {
        let cargo = ["cargo".to_owned()];
        for (check, expected) in [
            ("cargo test", true),
            ("RUSTFLAGS=-Dwarnings cargo build", true),
            ("set -e\ncd a && cargo test", true),
            ("test -e a && cargo test", false),
            ("git ls-files | xargs cargo x", false),
        ] {
            assert_eq!(begins_with(check, &cargo), expected, "{check}");
        }
    }
}
