//! What an agent has to be permitted to run so that it can try a goal's check: each command as it stands in the check, what it wraps, and
//! the same without the options that only keep it quiet or strict, which is how agents call it. A permission of Claude Code's is for one
//! command of a list or a pipeline, each by itself, and goes by its text with the variables in front (its page on permissions). Pure.

use super::call::stem;
use super::programs::{interpreter, is_shell};
use super::settings::is_of_system;
use super::steering::steering;
use super::{calls, commands, typed};

/// How many commands of one check are permitted at most.
const MOST: usize = 64;

/// What stands before a command and is none.
const RESERVED: [&str; 9] = [
    "!", "do", "else", "elif", "if", "then", "until", "while", "{",
];
/// What ends one, and what is no command of its own.
const ENDS: [&str; 6] = ["}", "done", "esac", "fi", "for", "case"];
/// Options in front of what is asked of a tool which change nothing of that.
const QUIET: [&str; 6] = [
    "-k",
    "-q",
    "-s",
    "--no-print-directory",
    "--quiet",
    "--silent",
];
/// Programs whose first word says nothing of what is run.
const RUNNERS: [&str; 6] = ["exec", "run", "run-script", "dlx", "x", "tool"];
/// Programs that run whatever stands behind their options.
const WRAPPERS: [&str; 12] = [
    "bundle", "bunx", "hatch", "mise", "nix", "npx", "pdm", "pipenv", "poetry", "rye", "uv", "uvx",
];

/// Returns the commands, each once, as a shell's text.
pub fn permitted(check: &str) -> Vec<String> {
    let mut found = said(check);
    found.extend(commands(check));
    let called = calls(check);
    let called = called.iter().filter(|call| !call.is_implied);
    let loose = called.filter_map(|call| loosened(&call.words));
    found.extend(loose.collect::<Vec<_>>());
    let mut all: Vec<String> = Vec::new();
    for one in found {
        if !all.contains(&one) && !ENDS.contains(&one.as_str()) && all.len() < MOST {
            all.push(one);
        }
    }
    all
}

/// Returns the commands of a list or pipeline as they are written. One with a bracket is left out: a permission stands in brackets.
fn said(check: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut letters = check.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends = quote.is_none() && ";|&\n".contains(letter);
        // As in `2>&1` and `&>file`.
        let is_of_redirection = letter == '&'
            && (letters.peek() == Some(&'>') || parts.last().is_some_and(|it| it.ends_with('>')));
        let part = parts.last_mut().expect("BUG: there is always a part");
        match (letter, quote) {
            _ if ends && !is_of_redirection => {
                parts.push(String::new());
                continue;
            }
            ('\\', None | Some('"')) => {
                part.push(letter);
                part.extend(letters.next());
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
        part.push(letter);
    }
    let mut found = Vec::new();
    for part in &parts {
        let mut rest = part.trim();
        while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
            match RESERVED.contains(&word) {
                true => rest = behind.trim(),
                false => break,
            }
        }
        let first = rest.split_whitespace().next().unwrap_or_default();
        let is_none = first.is_empty() || ENDS.contains(&first) || RESERVED.contains(&first);
        if !is_none && !rest.contains(['(', ')', '\n', '\r']) {
            found.push(rest.to_owned());
        }
    }
    found
}

/// Returns the start of a command that says which tool is asked for what, without options, if that is less than all of it, and tells it
/// from what else the program can do.
fn loosened(words: &[String]) -> Option<String> {
    let name = stem(&words[0]);
    let is_quiet = |word: &&String| QUIET.contains(&word.as_str()) || is_jobs(word);
    let rest = words[1..].iter().skip_while(is_quiet);
    let mut kept: Vec<&String> = rest.take_while(|word| !word.starts_with('-')).collect();
    let module = words.get(1).filter(|word| *word == "-m").and(words.get(2));
    let is_interpreter = interpreter(&name).is_some() || is_shell(&name);
    if is_interpreter {
        let is_script = |word: &&&String| word.contains(['/', '.']);
        match (module, kept.first().filter(is_script)) {
            (Some(module), _) => {
                let said = format!("{} -m {}", typed(&words[0]), typed(module));
                return (words.len() > 3).then_some(said);
            }
            (None, Some(script)) => kept = vec![script],
            (None, None) => return None,
        }
    }
    let is_known = || !steering(&name, None).is_empty();
    let is_vague = match kept.as_slice() {
        [] => !is_known() || has_tasks(&name),
        [first, rest @ ..] => rest.is_empty() && RUNNERS.contains(&first.as_str()),
    };
    let is_foreign = WRAPPERS.contains(&name.as_str()) || is_of_system_alone(&name);
    if is_vague || is_foreign || kept.len() + 1 == words.len() {
        return None;
    }
    let kept = std::iter::once(&words[0]).chain(kept);
    Some(kept.map(|word| typed(word)).collect::<Vec<_>>().join(" "))
}

/// Says whether a word is how many jobs make is to have: `-j4`.
fn is_jobs(word: &str) -> bool {
    let count = word.strip_prefix("-j");
    count.is_some_and(|count| count.chars().all(|c| c.is_ascii_digit()))
}

/// Says whether a program does whatever its words say, and all of them are needed to tell what.
fn is_of_system_alone(name: &str) -> bool {
    let is_builder = matches!(name, "cargo" | "go" | "make" | "node" | "npm");
    let is_of_machine = matches!(
        name,
        "docker" | "kubectl" | "podman" | "ssh" | "curl" | "wget"
    );
    is_of_machine || is_of_system(name) && !is_builder && interpreter(name).is_none()
}

/// Says whether a program without words does all sorts of things, by what its file of tasks says.
fn has_tasks(name: &str) -> bool {
    matches!(
        name,
        "bun"
            | "cargo"
            | "deno"
            | "gmake"
            | "go"
            | "just"
            | "make"
            | "npm"
            | "pnpm"
            | "task"
            | "yarn"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_can_be_tried_as_it_stands_and_as_one_would_type_it() {
        for (check, expected) in [
            ("cargo test", "cargo test"),
            (
                "cargo test --quiet --locked",
                "cargo test --quiet --locked|cargo test",
            ),
            (
                "cargo clippy --all-targets -- -D warnings",
                "cargo clippy --all-targets -- -D warnings|cargo clippy",
            ),
            (
                "uv run --locked --group tests pytest -q",
                "uv run --locked --group tests pytest -q|pytest -q|pytest",
            ),
            ("poetry run pytest", "poetry run pytest|pytest"),
            (
                "npx --no-install eslint .",
                "npx --no-install eslint .|eslint .",
            ),
            ("bundle exec rspec", "bundle exec rspec|rspec"),
            (
                "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps",
                "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps|cargo doc --no-deps|cargo doc",
            ),
            ("test -f alpha", "test -f alpha"),
            (
                "git ls-files '*.sh' | xargs -0 shellcheck",
                "git ls-files '*.sh'|xargs -0 shellcheck|git ls-files *.sh|shellcheck",
            ),
            (
                "set -e; make -s lint; make fmt-check",
                "set -e|make -s lint|make fmt-check|make lint",
            ),
            ("make -j4 test", "make -j4 test|make test"),
            ("make", "make"),
            ("make -s", "make -s"),
            ("npm run --silent lint", "npm run --silent lint"),
            ("npm --silent test", "npm --silent test|npm test"),
            (
                "python -m pytest -q tests",
                "python -m pytest -q tests|python -m pytest",
            ),
            (
                "python3 scripts/check.py --all",
                "python3 scripts/check.py --all|python3 scripts/check.py",
            ),
            ("sh -c 'make x'", "sh -c 'make x'|make x"),
            (
                "if ! ruff check -q .; then exit 1; fi",
                "ruff check -q .|exit 1|ruff check",
            ),
            (
                "make x 2>&1 >log && ./t.sh",
                "make x 2>&1 >log|./t.sh|make x",
            ),
            (
                "test \"$(git status --porcelain)\" = ''",
                "git status --porcelain",
            ),
            ("rm -rf build", "rm -rf build"),
            ("docker run -t x", "docker run -t x"),
            ("echo 'a; b'", "echo 'a; b'"),
        ] {
            assert_eq!(permitted(check).join("|"), expected, "{check}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_check_is_looked_through(check in "(a|if|;|\\||&|>|'|\"|\\\\|é| |\\n|-q|make|python -m){0,40}") {
            let found = permitted(&check);
            proptest::prop_assert!(found.iter().all(|one| !one.trim().is_empty()));
        }
    }
}
