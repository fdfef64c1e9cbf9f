//! A step's commands as one check: without what only sets up, with the variables that are set for it, in the shell that it needs. Pure.

use super::Step;
use super::commands::{commands_of, spans_lines};
use super::shell::in_its_shell;
use crate::model::init::offer::{SUCCEEDS, always_succeeds, cannot_fail};

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
/// How commands begin that make ready and tell nothing.
const SETUP: &[&str] = &[
    "npm ci",
    "npm install",
    "npm i",
    "npm config",
    "npm set",
    "yarn install",
    "yarn",
    "yarn config",
    "pnpm install",
    "pnpm i",
    "pnpm config",
    "bun install",
    "pip install",
    "pip3 install",
    "python -m pip",
    "python3 -m pip",
    "python -m venv",
    "python3 -m venv",
    "python -m ensurepip",
    "uv sync",
    "uv pip",
    "uv venv",
    "uv python",
    "uv tool install",
    "uv lock",
    "poetry install",
    "poetry config",
    "poetry lock",
    "pdm install",
    "pdm sync",
    "pipenv install",
    "pipx install",
    "conda",
    "mamba",
    "apt-get",
    "apt",
    "apk",
    "yum",
    "dnf",
    "brew",
    "choco",
    "snap",
    "rustup",
    "cargo install",
    "cargo binstall",
    "cargo fetch",
    "cargo generate-lockfile",
    "cargo update",
    "go install",
    "go get",
    "go mod download",
    "go env",
    "go version",
    "curl",
    "wget",
    "git config",
    "git fetch",
    "git checkout",
    "git clone",
    "git submodule",
    "git lfs",
    "corepack",
    "docker login",
    "docker pull",
    "npx playwright install",
    "npx --yes playwright install",
    "bundle install",
    "bundle config",
    "gem install",
    "composer install",
    "mv",
    "rm",
    "zip",
    "echo",
    "printf",
    "cat",
    "ls",
    "env",
    "pwd",
    "sleep",
    "which",
    "date",
    "uname",
    "df",
    "free",
    "nvm",
    "sudo",
    "source",
    ".",
    "true",
    ":",
    "tee",
    "sed -i",
    "tox --notest",
    "mvn dependency:go-offline",
    "chown",
    "ulimit",
    "sysctl",
    "gpg",
    "ssh-add",
    "ssh-keyscan",
    "dotnet restore",
];
/// What tells nothing, and later lines go by it.
const NEUTRAL: [&str; 15] = [
    "cd", "chmod", "cp", "export", "ln", "mkdir", "popd", "pushd", "set", "shopt", "tar", "touch",
    "trap", "unset", "unzip",
];
/// What tells nothing, but that later lines go by the file that it writes.
const PRINTS: [&str; 4] = ["cat", "echo", "printf", "tee"];
/// How lines begin that belong to each other.
const STRUCTURE: [&str; 9] = [
    "if ",
    "for ",
    "while ",
    "until ",
    "case ",
    "{",
    "(",
    "function ",
    "fi",
];

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Checks,
    Neutral,
    SetsUp,
}

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
    let Some((end, before)) = lines.split_last() else {
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
    let lines: Vec<&str> = joined.lines().map(str::trim_end).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| !is_note(line)).collect();
    let deletes = !lines.is_empty() && lines.iter().all(|line| only_deletes(line));
    let belongs_together = lines.iter().any(|line| is_structure(line)) || spans_lines(&joined);
    let is_of_last = !step.pipefail && !joined.contains("pipefail");
    let ends_well = ends_well(&lines);
    let mut kept: Vec<String> = Vec::new();
    let mut uses = Vec::new();
    let mut fetches = false;
    let mut succeeds = false;
    for line in lines {
        let (kind, rest) = match belongs_together {
            true => (use_among_others(line.trim()), String::new()),
            false => reduced(line.trim()),
        };
        let is_sunk = is_of_last && ends_in_a_sink(line);
        let kind = match kind {
            Use::Checks if is_sunk || ends_well || goes_on_beside(line) => Use::Neutral,
            kind => kind,
        };
        uses.push(kind);
        fetches |= is_fetched(line) && checks_too(line);
        succeeds |= always_succeeds(line) || is_sunk || ends_well;
        if kind != Use::SetsUp {
            kept.push(rest);
        }
    }
    let is = |kind: Use| uses.contains(&kind);
    match () {
        () if deletes => return Err("it only deletes files"),
        () if !is(Use::Checks) && fetches => return Err("it fetches what it goes by"),
        () if !is(Use::Checks) && succeeds => return Err(SUCCEEDS),
        () if !is(Use::Checks) => return Err("it only sets up"),
        () if belongs_together && is(Use::SetsUp) => {
            return Err("it sets up and checks in one");
        }
        () => {}
    }
    Ok(match belongs_together {
        true => script.trim_end().to_owned(),
        false => kept.join("\n"),
    })
}

/// Says whether every command of a line takes files away.
fn only_deletes(line: &str) -> bool {
    let all = commands_of(line);
    let deletes = |one: &&str| {
        let mut words = one.split_whitespace().filter(|word| *word != "sudo");
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
    line.contains("<<") || STRUCTURE.iter().any(|word| line.starts_with(word))
}

/// Returns what a line is for, and what is left of it without the parts that set up.
fn reduced(line: &str) -> (Use, String) {
    if line.contains(['\'', '"', '|', ';']) || !line.contains("&&") {
        return (use_of(line), line.to_owned());
    }
    let parts: Vec<&str> = line.split("&&").map(str::trim).collect();
    let kept: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| use_of(part) != Use::SetsUp)
        .collect();
    let uses: Vec<Use> = parts.iter().map(|part| use_of(part)).collect();
    let all = [Use::Checks, Use::Neutral, Use::SetsUp];
    let kind = all
        .into_iter()
        .find(|kind| uses.contains(kind))
        .unwrap_or(Use::SetsUp);
    (kind, kept.join(" && "))
}

/// Returns what a line is for: what its commands check counts, unless something is fetched there to be run.
fn use_of(line: &str) -> Use {
    match use_of_one(line) {
        Use::Checks if always_succeeds(line) => Use::Neutral,
        Use::SetsUp | Use::Neutral if !is_fetched(line) && checks_too(line) => Use::Checks,
        kind => kind,
    }
}

/// The same for a line of several that belong together: what it prints makes nothing ready.
fn use_among_others(line: &str) -> Use {
    let first = line.split_whitespace().next().unwrap_or_default();
    match use_of(line) {
        Use::SetsUp if PRINTS.contains(&first) || ["true", ":"].contains(&first) => Use::Neutral,
        kind => kind,
    }
}

/// Says whether a line prints into a file.
fn prints_to_file(line: &str) -> bool {
    let elsewhere = ["2>&1", ">&2", "2>/dev/null", ">/dev/null", "> /dev/null"];
    let rest = elsewhere
        .iter()
        .fold(line.to_owned(), |line, words| line.replace(words, ""));
    rest.contains('>') || rest.split_whitespace().any(|word| word == "tee")
}

fn is_fetched(line: &str) -> bool {
    let fetches = |one: &&str| one.starts_with("curl ") || one.starts_with("wget ");
    commands_of(line).iter().any(fetches)
}

/// Says whether one of several commands of a line checks.
fn checks_too(line: &str) -> bool {
    let all = commands_of(line);
    let checks = |one: &&str| !one.starts_with("exit") && use_of_one(one) == Use::Checks;
    all.len() > 1 && all.iter().any(checks)
}

fn use_of_one(line: &str) -> Use {
    let begins = |words: &str| {
        let rest = line.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_assignment = first.contains('=') && line.split_whitespace().nth(1).is_none();
    if let Some((_, program @ ("pip" | "pip3"))) = first.rsplit_once('/') {
        return use_of_one(&format!("{program}{}", &line[first.len()..]));
    }
    match () {
        // What a file of the project's sets, later lines may go by.
        () if sources_own(line) => Use::Neutral,
        () if NEUTRAL.contains(&first) || is_assignment => Use::Neutral,
        () if PRINTS.contains(&first) && prints_to_file(line) => Use::Neutral,
        () if line.ends_with("--version")
            || line.ends_with(" -V")
            || line.ends_with(" -version") =>
        {
            Use::SetsUp
        }
        () if line == "yarn" || line.starts_with("yarn --") => Use::SetsUp,
        () if begins("yarn") => match SETUP.iter().any(|words| *words != "yarn" && begins(words)) {
            true => Use::SetsUp,
            false => Use::Checks,
        },
        () if SETUP.iter().any(|words| begins(words)) => Use::SetsUp,
        () => Use::Checks,
    }
}

/// Says whether a line reads a script of the project's; one that activates an environment is of this machine's making.
fn sources_own(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_sourcing = matches!(words.next(), Some("." | "source"));
    let file = words.next().unwrap_or_default().trim_matches(['"', '\'']);
    is_sourcing && !file.starts_with(['/', '~', '$']) && !file.ends_with("/activate")
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
            ("", "it only sets up"),
            ("source ./env.sh && . .venv/bin/activate", "it only sets up"),
            (".venv/bin/pip install .", "it only sets up"),
            (
                "a-tool || echo \"not now\" >&2",
                "it succeeds whatever it finds",
            ),
            ("make check 2>&1 | tee log", "it succeeds whatever it finds"),
            ("set +e\nmake\nexit 0", "it succeeds whatever it finds"),
            (
                "node server.js &\nsleep 3\ncurl -f http://localhost",
                "it only sets up",
            ),
            ("echo 'a | b; c && d'", "it only sets up"),
            ("echo deb x | sudo tee /etc/x", "it only sets up"),
            (
                "curl -sSf https://x | sh -s -- -y",
                "it fetches what it goes by",
            ),
            ("curl -o a \"$X\" && sh a", "it fetches what it goes by"),
            ("curl -o a https://x", "it only sets up"),
            ("which x || exit 1", "it only sets up"),
            ("mkdir a 2>&1; rm b", "it only sets up"),
            ("sudo rm -rf / --no-preserve-root", "it only deletes files"),
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
