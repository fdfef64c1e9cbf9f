//! A step's commands as one check: without what only sets up, with the variables that are set for it, in the shell that it needs. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::Step;
use super::commands::{commands_of, parts_of, spans_lines};
use super::shell::in_its_shell;
use super::uses::{Use, configures, is_of_another_user, only_shows, use_of_one};
use crate::model::check::{always_succeeds, cannot_fail, never_fails};
use crate::model::init::offer::{self, SUCCEEDS};

/// What goes by things that only CI has.
const OF_CI: [&str; 8] = [
    "${{",
    "$GITHUB_",
    "${GITHUB_",
    "$RUNNER_",
    "${RUNNER_",
    "$CI_",
    "${CI_",
    "$[[",
];
/// The first words of lines that belong to each other.
const STRUCTURE: [&str; 10] = [
    "case", "done", "esac", "fi", "for", "function", "if", "select", "until", "while",
];
/// Programs that run what they are handed as code.
const RUNS_CODE: [&str; 7] = [".", "bash", "dash", "eval", "sh", "source", "zsh"];
/// Where what is fetched is run from at once.
const FETCHED: [&str; 6] = ["<(curl", "<(wget", "$(curl", "$(wget", "`curl", "`wget"];

/// The beginning of a text that stands in a script below its command, and the word that ends it.
static TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"<<-?\s*['"\\]?([A-Za-z_]\w*)"#).expect("BUG: a pattern of ours is no pattern")
});

/// Returns the check that a step comes to, or why it comes to none.
pub(super) fn check_of(step: &Step) -> Result<String, String> {
    let body = body_of(step)?;
    if let Some(name) = step.env.unknown_in(&body) {
        return Err(format!("it goes by {name}, whose value only CI has"));
    }
    Ok(in_its_shell(&body, &step.env.known, step.pipefail))
}

/// Says whether a step goes on behind what fails, and then ends well.
fn ends_well(lines: &[&str]) -> bool {
    let parts: Vec<&str> = lines.iter().flat_map(|line| line.split(';')).collect();
    let Some((end, before)) = parts.split_last() else {
        return false;
    };
    let goes_on = before.iter().any(|line| line.trim() == "set +e");
    let may_stop = |line: &&str| line.contains("exit") || line.contains("set -");
    goes_on && cannot_fail(end.trim()) && !before.iter().any(may_stop)
}

/// Says whether what counts of a line is the end of a pipe that only takes what comes.
fn ends_in_a_sink(line: &str) -> bool {
    let sinks = ["tee", "cat", "head", "tail", "sort", "wc"];
    let end = line.replace("||", "").rsplit_once('|').map(|(_, end)| {
        let is_one = sinks.contains(&end.split_whitespace().next().unwrap_or_default());
        is_one && !end.contains([';', '&', '<', '(', ')', '"', '\''])
    });
    end.unwrap_or_default()
}

/// Says whether a line only begins what goes on beside the next ones.
fn goes_on_beside(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with('&') && !line.ends_with("&&")
}

/// Returns the commands of a step without those that set up.
fn body_of(step: &Step) -> Result<String, &'static str> {
    let script = step.script.replace("\r\n", "\n");
    if OF_CI.iter().any(|word| script.contains(word)) {
        return Err("it goes by what only CI has");
    }
    let joined = script.replace("\\\n", " ");
    let lines = without_texts(&joined);
    let lines: Vec<&str> = lines.into_iter().filter(|line| !is_note(line)).collect();
    let deletes = !lines.is_empty() && lines.iter().all(|line| only_deletes(line));
    let belongs_together = lines.iter().any(|line| is_structure(line)) || spans_lines(&joined);
    let is_of_last = !step.pipefail && !joined.contains("pipefail");
    let ends_well = ends_well(&lines) || offer::ends_well(&joined);
    let gives_up = lines.iter().any(|line| gives_up(line));
    let mut kept: Vec<String> = Vec::new();
    let mut uses = Vec::new();
    let mut fetches = false;
    let mut succeeds = false;
    for line in lines {
        let (kinds, rest) = match belongs_together {
            true => (uses_among_others(line.trim(), gives_up), String::new()),
            false => {
                let (kind, rest) = reduced(line.trim());
                (vec![kind], rest)
            }
        };
        let is_sunk = is_of_last && ends_in_a_sink(line);
        let is_lost = is_sunk || ends_well || goes_on_beside(line);
        uses.extend(kinds.iter().map(|kind| match kind {
            Use::Checks if is_lost => Use::Neutral,
            kind => *kind,
        }));
        fetches |= runs_fetched(line);
        let is_passed_by = belongs_together && !gives_up && asks_for_checks(line);
        succeeds |= cannot_fail(line.trim()) || is_sunk || ends_well || is_passed_by;
        if kinds != [Use::SetsUp] {
            kept.push(rest);
        }
    }
    let is = |kind: Use| uses.contains(&kind);
    let commands = || kept.iter().flat_map(|line| commands_of(line));
    // What was fetched may have brought it.
    let is_brought = fetches && commands().any(|one| one.starts_with("./"));
    let of_another_user = |lines: &str| {
        let mut all = lines.lines().flat_map(commands_of);
        all.any(is_of_another_user)
    };
    let configures = || commands().any(configures);
    match () {
        () if deletes => return Err("it only deletes files"),
        () if is_brought || !is(Use::Checks) && fetches => {
            return Err("it fetches what it goes by");
        }
        () if !is(Use::Checks) && succeeds => return Err(SUCCEEDS),
        () if !is(Use::Checks) && !is(Use::SetsUp) && !configures() => {
            return Err("it checks nothing");
        }
        () if !is(Use::Checks) => return Err("it only sets up"),
        () if belongs_together && is(Use::SetsUp) => {
            return Err("it sets up and checks in one");
        }
        () => {}
    }
    let body = match belongs_together {
        true => script.trim_end().to_owned(),
        false => kept.join("\n"),
    };
    match of_another_user(&body) {
        true => Err("it runs as another user (sudo)"),
        false => Ok(body),
    }
}

/// Returns the lines of a script but those of texts that stand in it for commands to read.
fn without_texts(script: &str) -> Vec<&str> {
    let mut end: Option<&str> = None;
    let mut lines = Vec::new();
    for line in script.lines().map(str::trim_end) {
        match end {
            Some(word) if line.trim_start() == word => end = None,
            Some(_) => {}
            None => {
                lines.push(line);
                let text = TEXT.captures(line).filter(|_| !line.contains("<<<"));
                end = text.and_then(|text| text.get(1)).map(|word| word.as_str());
            }
        }
    }
    lines
}

/// Says whether every command of a line takes files away.
fn only_deletes(line: &str) -> bool {
    let all = commands_of(line);
    let deletes = |one: &&str| {
        let words = one.split([' ', '\t', '(', ')', '{', '}']);
        let mut words = words.filter(|word| !matches!(*word, "" | "!" | "sudo"));
        matches!(words.next(), Some("rm" | "rmdir"))
    };
    !all.is_empty() && all.iter().all(deletes)
}

fn is_note(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Says whether a line belongs together with others.
pub(super) fn is_structure(line: &str) -> bool {
    let line = line.trim();
    let first = line.split([' ', '\t', ';']).next().unwrap_or_default();
    let is_group = line.starts_with(['{', '(', '}', ')']) || first.ends_with("()");
    line.contains("<<") || is_group || STRUCTURE.contains(&first)
}

/// Returns what a line is for, and what is left of it without the parts that set up.
fn reduced(line: &str) -> (Use, String) {
    let parts = parts_of(line);
    // What is called otherwise from there on is told by the whole line.
    let renames = parts.iter().any(|(part, _)| part.starts_with("alias "));
    if parts.len() < 2 || renames {
        return (use_of(line), line.to_owned());
    }
    if runs_fetched(line) {
        return (Use::SetsUp, line.to_owned());
    }
    let mut uses: Vec<Use> = parts.iter().map(|(part, _)| use_of_part(part)).collect();
    // What asks whether to make ready tells nothing either.
    for at in (1..parts.len()).rev() {
        let (before, between) = parts[at - 1];
        let asks = ["[ ", "[[ ", "test "]
            .iter()
            .any(|it| before.starts_with(it));
        if uses[at] == Use::SetsUp && between == "&&" && asks {
            uses[at - 1] = Use::SetsUp;
        }
    }
    let all = [Use::Checks, Use::Neutral, Use::SetsUp];
    let kind = all.into_iter().find(|kind| uses.contains(kind));
    let mut kept = String::new();
    let mut between = "";
    for ((part, behind), kind) in parts.iter().zip(&uses) {
        let between = std::mem::replace(&mut between, behind);
        if *kind == Use::SetsUp {
            continue;
        }
        if !kept.is_empty() {
            kept.push_str(if between == ";" { "; " } else { " && " });
        }
        kept.push_str(part);
    }
    (kind.unwrap_or(Use::SetsUp), kept)
}

/// Returns what a part of a list is for. What ends a list well stays there.
fn use_of_part(part: &str) -> Use {
    match part {
        "true" | ":" => Use::Neutral,
        part => use_of(part),
    }
}

/// Returns what a line is for: what its commands check counts, unless something is fetched there to be run.
fn use_of(line: &str) -> Use {
    match use_of_one(line) {
        _ if runs_fetched(line) => Use::SetsUp,
        Use::Checks if always_succeeds(line) || never_fails(line) => Use::Neutral,
        Use::SetsUp | Use::Neutral if checks_too(line) => Use::Checks,
        kind => kind,
    }
}

/// Returns what the commands of a line are for among others that belong together: what it prints makes nothing ready, and what is
/// asked for, be it by what checks, tells something only where the script gives up by itself.
fn uses_among_others(line: &str, gives_up: bool) -> Vec<Use> {
    let all = commands_of(line);
    let asks = |one: &&str| !gives_up && is_condition(one);
    let told: Vec<&str> = all.iter().filter(|one| !asks(one)).copied().collect();
    let makes_ready = |one: &&str| use_of_one(one) == Use::SetsUp && !only_shows(one);
    let checks = |one: &&str| use_of_one(one) == Use::Checks;
    let kind = match use_of(line) {
        Use::Checks if !told.iter().any(checks) => Use::Neutral,
        Use::SetsUp if only_shows(line) => Use::Neutral,
        kind => kind,
    };
    let ready = told.iter().any(makes_ready).then_some(Use::SetsUp);
    [Some(kind), ready].into_iter().flatten().collect()
}

/// Says whether a command is a condition: what comes of it is not how the script ends.
fn is_condition(command: &str) -> bool {
    let mut words = command.split_whitespace().filter(|word| *word != "!");
    matches!(words.next(), Some("if" | "elif" | "while" | "until"))
}

/// Says whether what checks is only asked for in a line, and not what is there.
fn asks_for_checks(line: &str) -> bool {
    let asks = ["[", "[[", "command", "read", "test", "type", "which"];
    let checks = |one: &&str| {
        let mut words = one.split_whitespace().filter(|word| *word != "!");
        let what = words.nth(1).unwrap_or_default();
        is_condition(one) && !asks.contains(&what) && use_of_one(one) == Use::Checks
    };
    commands_of(line).iter().any(checks)
}

/// Says whether a line gives up by itself.
fn gives_up(line: &str) -> bool {
    let mut words = line
        .split([' ', '\t', ';', '(', ')', '{', '}'])
        .filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| {
        let ends = ["exit", "return"].contains(&std::mem::replace(&mut before, word));
        ends && word != "0" || word == "false"
    })
}

/// Says whether a line fetches something to run it at once.
fn runs_fetched(line: &str) -> bool {
    let all = commands_of(line);
    let fetches = |one: &&str| one.starts_with("curl ") || one.starts_with("wget ");
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_code = RUNS_CODE.contains(&first) && FETCHED.iter().any(|words| line.contains(words));
    is_code || all.iter().any(fetches) && checks_too(line)
}

/// Says whether one of several commands of a line checks.
fn checks_too(line: &str) -> bool {
    let all = commands_of(line);
    let checks = |one: &&str| use_of_one(one) == Use::Checks;
    all.len() > 1 && all.iter().any(checks)
}

#[cfg(test)]
mod tests {
    use super::super::Env;
    use super::*;

    fn check(script: &str) -> Result<String, String> {
        check_of(&Step {
            script: script.to_owned(),
            ..Step::default()
        })
    }

    #[test]
    fn what_checks_stays_and_what_sets_up_goes() {
        for (script, expected) in [
            ("cargo test", "cargo test"),
            ("npm ci && npm test", "npm test"),
            ("npm ci\nnpm test\n", "npm test"),
            ("yarn\nyarn lint", "yarn lint"),
            (
                "# all of it\ncargo test \\\n  --all\n",
                "cargo test    --all",
            ),
            ("cd web\nnpm install\nnpm test", "set -e\ncd web\nnpm test"),
            (
                "cargo fmt --check\ncargo clippy",
                "set -e\ncargo fmt --check\ncargo clippy",
            ),
            (
                "echo \"hello $NAME\" | grep -q world",
                "echo \"hello $NAME\" | grep -q world",
            ),
            ("mkdir -p a; cargo test", "set -e\nmkdir -p a; cargo test"),
            ("npm ci; npm test", "npm test"),
            (
                "if [ -n \"$(git status --porcelain)\" ]; then exit 1; fi",
                "set -e\nif [ -n \"$(git status --porcelain)\" ]; then exit 1; fi",
            ),
            ("test -f a && pip install -r a; pytest", "pytest"),
            ("cd a && npm ci; npm test", "set -e\ncd a; npm test"),
            ("set -ex; npm ci; npm test", "set -e\nset -ex; npm test"),
            ("pip install \".[test]\" && pytest", "pytest"),
            (
                "pip install 'black==1' && black --check .",
                "black --check .",
            ),
            (
                "npm ci && npm test -- --grep \"a && b\"",
                "npm test -- --grep \"a && b\"",
            ),
            ("yarn install && yarn test | grep ok", "yarn test | grep ok"),
            (
                "sudo apt-get update; sudo apt-get install -y x; ./test.sh",
                "./test.sh",
            ),
            (
                "rustup show\nfind . -name '*.rs' | xargs rustfmt --check",
                "find . -name '*.rs' | xargs rustfmt --check",
            ),
            (
                "python - <<'EOF'\nimport a\npip install b\nEOF",
                "set -e\npython - <<'EOF'\nimport a\npip install b\nEOF",
            ),
            ("alias ls='rm -rf x'; ls", "set -e\nalias ls='rm -rf x'; ls"),
            ("cargo audit; true", "set -e\ncargo audit; true"),
            (". ./env.sh && make", ". ./env.sh && make"),
            ("source .venv/bin/activate\npytest", "pytest"),
            ("source env.sh\nmake", "bash -e -c 'source env.sh\nmake'"),
            (
                "python -c 'a; b' && find . -exec t {} \\;",
                "python -c 'a; b' && find . -exec t {} \\;",
            ),
            (
                "set +e\nmake\ntest $? = 1 || exit 1\nexit 0",
                "set -e\nset +e\nmake\ntest $? = 1 || exit 1\nexit 0",
            ),
            (
                "if ! make; then\n  echo bad\n  exit 1\nfi",
                "set -e\nif ! make; then\n  echo bad\n  exit 1\nfi",
            ),
            (
                "./serve &\nnpx wait-on x\nnpm run e2e",
                "set -e\n./serve &\nnpx wait-on x\nnpm run e2e",
            ),
            ("[[ -e a ]]", "bash -e -c '[[ -e a ]]'"),
            ("t ${v//a/b}", "bash -e -c 't ${v//a/b}'"),
            ("t ${v:1}", "bash -e -c 't ${v:1}'"),
            ("t a.{b,c}", "bash -e -c 't a.{b,c}'"),
            (
                "t ${v:-a} ${#v} ${v%.*} \"$@\"",
                "t ${v:-a} ${#v} ${v%.*} \"$@\"",
            ),
            ("grep a <<< abc\nmake", "bash -e -c 'grep a <<< abc\nmake'"),
            (
                "pushd a\nmake 'b'",
                "bash -e -c 'pushd a\nmake '\\''b'\\'''",
            ),
            (
                "mkdir -p b\ncd b && \"../t\"",
                "set -e\nmkdir -p b\ncd b && \"../t\"",
            ),
            (
                "echo 1 > a\necho b\ntest -s a",
                "set -e\necho 1 > a\ntest -s a",
            ),
            (
                "t \"first\n  t hi\n# third\"\n",
                "set -e\nt \"first\n  t hi\n# third\"",
            ),
            ("# don't\nmake\n  test", "set -e\nmake\ntest"),
            ("make || true\nmake b", "set -e\nmake || true\nmake b"),
            (
                "if test -e a; then\n  make b\nfi",
                "set -e\nif test -e a; then\n  make b\nfi",
            ),
        ] {
            assert_eq!(check(script), Ok(expected.to_owned()), "{script}");
        }
    }

    #[test]
    fn a_pipe_fails_as_it_does_in_ci() {
        for (script, pipefail, expected) in [
            ("make check | grep ok", false, "make check | grep ok"),
            (
                "make check | tee log",
                true,
                "bash -eo pipefail -c 'make check | tee log'",
            ),
            ("make a || make b", true, "make a || make b"),
        ] {
            let step = Step {
                script: script.to_owned(),
                pipefail,
                ..Step::default()
            };
            assert_eq!(check_of(&step).as_deref(), Ok(expected), "{script}");
        }
    }

    #[test]
    fn what_is_left_out_has_its_reason() {
        for (script, expected) in [
            ("npm ci", "it only sets up"),
            ("cmake --preset default", "it only sets up"),
            ("mkdir b && cd b && cmake ..", "it only sets up"),
            ("sudo apt-get install -y x\nrustup show", "it only sets up"),
            ("cargo --version", "it only sets up"),
            (
                "cargo test ${{ matrix.flags }}",
                "it goes by what only CI has",
            ),
            ("cargo test >>$GITHUB_OUTPUT", "it goes by what only CI has"),
            (
                "for x in a b; do\nnpm install $x\ndone\nnpm test",
                "it sets up and checks in one",
            ),
            ("make || true", "it succeeds whatever it finds"),
            (
                "pip install x\nif [ -f a ]; then pip install -r a; fi",
                "it only sets up",
            ),
            ("ruff check --exit-zero .", "it succeeds whatever it finds"),
            ("gofmt -l .", "it succeeds whatever it finds"),
            ("exit 0", "it succeeds whatever it finds"),
            (
                "if ! pytest; then echo bad; fi",
                "it succeeds whatever it finds",
            ),
            (
                "if ! pytest; then\n  echo bad\nfi",
                "it succeeds whatever it finds",
            ),
            (
                "while ! make test; do\n  sleep 1\ndone",
                "it succeeds whatever it finds",
            ),
            (
                "pytest || { echo bad; echo more; }",
                "it succeeds whatever it finds",
            ),
            (
                "trap 'exit 0' EXIT\npytest",
                "it succeeds whatever it finds",
            ),
            ("cp a b", "it checks nothing"),
            (
                "(cd web && npm ci && npm test)",
                "it sets up and checks in one",
            ),
            ("sudo make test", "it runs as another user (sudo)"),
            ("cat <<EOF > a.txt\nhello\nEOF", "it checks nothing"),
            (
                "bash <(curl https://x)\n./actionlint",
                "it fetches what it goes by",
            ),
            (
                "sh -c \"$(curl -fsSL https://x)\"",
                "it fetches what it goes by",
            ),
            ("", "it checks nothing"),
            (
                "source ./env.sh && . .venv/bin/activate",
                "it checks nothing",
            ),
            (".venv/bin/pip install .", "it only sets up"),
            (
                "a-tool || echo \"not now\" >&2",
                "it succeeds whatever it finds",
            ),
            ("make check 2>&1 | tee log", "it succeeds whatever it finds"),
            ("set +e\nmake\nexit 0", "it succeeds whatever it finds"),
            ("set +e; make; true", "it succeeds whatever it finds"),
            (
                "node server.js &\nsleep 3\ncurl -f http://localhost",
                "it only sets up",
            ),
            ("echo 'a | b; c && d'", "it only sets up"),
            ("echo deb x | sudo tee /etc/x", "it checks nothing"),
            (
                "curl -sSf https://x | sh -s -- -y",
                "it fetches what it goes by",
            ),
            ("curl -o a \"$X\" && sh a", "it fetches what it goes by"),
            ("curl -o a https://x", "it only sets up"),
            ("which x || exit 1", "it only sets up"),
            ("mkdir a 2>&1; rm b", "it checks nothing"),
            ("sudo rm -rf / --no-preserve-root", "it only deletes files"),
            ("! rm x", "it only deletes files"),
            ("(rm x)", "it only deletes files"),
        ] {
            assert_eq!(check(script), Err(expected.to_owned()), "{script}");
        }
    }

    #[test]
    fn variables_are_set_for_the_command() {
        let step = |script: &str| Step {
            script: script.to_owned(),
            env: Env {
                known: vec![("RUSTFLAGS".to_owned(), "-D warnings".to_owned())],
                unknown: vec!["TOKEN".to_owned()],
                ..Env::default()
            },
            ..Step::default()
        };
        assert_eq!(
            check_of(&step("cargo build")).unwrap(),
            "RUSTFLAGS='-D warnings' cargo build"
        );
        assert_eq!(
            check_of(&step("a | b")).unwrap(),
            "export RUSTFLAGS='-D warnings'\na | b"
        );
        // The shell puts a value into words before it sets what stands in front of the command.
        assert_eq!(
            check_of(&step("echo one\ntest \"$RUSTFLAGS\" = x")).unwrap(),
            "export RUSTFLAGS='-D warnings'\ntest \"$RUSTFLAGS\" = x"
        );
        assert_eq!(
            check_of(&step("! grep x y")).unwrap(),
            "export RUSTFLAGS='-D warnings'\n! grep x y"
        );
        assert_eq!(
            check_of(&step("sh t.sh \"${TOKEN:-}\"")),
            Err("it goes by TOKEN, whose value only CI has".to_owned())
        );
        assert!(check_of(&step("sh t.sh $TOKENS")).is_ok());
    }
}
