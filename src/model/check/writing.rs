//! Which commands of a check change the files that they look at: formatters that write, and linters that are told to mend. Pure.

use super::call::{Call, stem};
use super::typed;
use super::walk::calls;

/// What writes unless it is told to look: the words it begins with, and what tells it so beside the options that tell any tool.
const WRITERS: &[(&str, &[&str])] = &[
    ("alejandra", &["-c"]),
    ("black", &["--code", "-c", "-"]),
    ("cargo fix", &[]),
    ("cargo fmt", &[]),
    ("cargo sort", &["-c"]),
    (
        "dart format",
        &[
            "--output=none",
            "--output=show",
            "--output=json",
            "--output",
            "-o",
        ],
    ),
    ("deno fmt", &["-"]),
    ("dotnet format", &[]),
    ("dprint fmt", &["--stdin"]),
    ("go fix", &[]),
    ("go fmt", &["-n"]),
    ("go mod tidy", &[]),
    ("hatch fmt", &[]),
    ("isort", &["-c", "-d", "--stdout", "-"]),
    ("mix format", &["--check-formatted", "-"]),
    ("nixpkgs-fmt", &[]),
    ("php-cs-fixer fix", &[]),
    ("pyupgrade", &[]),
    ("ruff format", &["-"]),
    ("rustfmt", &["--emit"]),
    ("scalafmt", &["--test", "--list", "--stdout"]),
    ("stylua", &["-c", "-"]),
    ("swiftformat", &["--lint", "--dryrun"]),
    ("taplo fmt", &["-"]),
    ("taplo format", &["-"]),
    ("terraform fmt", &["-write=false", "-"]),
    ("tofu fmt", &["-write=false", "-"]),
    ("uv format", &[]),
    ("zig fmt", &["--stdin"]),
];
/// Options that have any tool write.
const OPTIONS: &[&str] = &[
    "--apply",
    "--auto-correct",
    "--auto-correct-all",
    "--autocorrect",
    "--autocorrect-all",
    "--fix",
    "--fix-only",
    "--in-place",
    "--inplace",
    "--write",
    "--write-changes",
];
/// Options and operands that have these tools write.
const OF_TOOLS: &[(&str, &[&str])] = &[
    ("autoflake", &["-i"]),
    ("autopep", &["-i"]),
    ("buf", &["-w"]),
    ("clang-format", &["-i"]),
    ("codespell", &["-w"]),
    ("gofmt", &["-w"]),
    ("gofumpt", &["-w"]),
    ("goimports", &["-w"]),
    ("gradle", &["spotlessApply", "ktlintFormat"]),
    ("gradlew", &["spotlessApply", "ktlintFormat"]),
    ("ktlint", &["-F", "--format"]),
    ("mvn", &["spotless:apply"]),
    ("mvnw", &["spotless:apply"]),
    ("prettier", &["-w"]),
    ("rubocop", &["-a", "-A", "-x"]),
    ("shfmt", &["-w"]),
    ("typos", &["-w"]),
    ("yapf", &["-i"]),
];
/// What is handed such an option as text.
const TEXT: &[&str] = &[
    "ag", "awk", "echo", "git", "grep", "printf", "rg", "sed", "test", "[",
];
/// Names of options with which a tool only looks or shows, of one dash or two.
const LOOKS: &[&str] = &[
    "check",
    "check-only",
    "diff",
    "dry-run",
    "help",
    "list-different",
    "verify-no-changes",
    "version",
];

/// Returns the first command of a check that changes files, as one would type it.
pub fn changing(check: &str) -> Option<String> {
    let calls = calls(check);
    let mut own = calls.iter().filter(|call| !call.is_implied);
    let call = own.find(|call| changes(call))?;
    let words: Vec<String> = call.words.iter().map(|word| typed(word)).collect();
    Some(words.join(" "))
}

fn changes(call: &Call) -> bool {
    let has = |all: &[&str]| call.words.iter().skip(1).any(|word| all.contains(&&**word));
    if call.words.iter().skip(1).any(|word| looks(word)) {
        return false;
    }
    let (tool, operand) = call.steered();
    let tool = stem(&tool);
    let begins = begin(call, &tool, operand);
    let is_told = |(words, looks): &(&str, &[&str])| {
        let rest = begins.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) && !has(looks)
    };
    let is_its_own = |(name, options): &(&str, &[&str])| *name == tool && has(options);
    let is_asked = !TEXT.contains(&tool.as_str()) && has(OPTIONS);
    is_asked || WRITERS.iter().any(is_told) || OF_TOOLS.iter().any(is_its_own)
}

/// Says whether a word is an option that has a tool only look: `--check`, or `-check=true` as Go's flags are.
fn looks(word: &str) -> bool {
    let Some(option) = word.strip_prefix('-') else {
        return false;
    };
    let option = option.strip_prefix('-').unwrap_or(option);
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    LOOKS.contains(&name) && value != "false"
}

/// Says whether a command is told by an option to look only.
pub fn is_to_look(command: &str) -> bool {
    command.split_whitespace().skip(1).any(looks)
}

/// Returns the tool and its first operands: what it is asked to do.
fn begin(call: &Call, tool: &str, operand: Option<String>) -> String {
    let is_plain = |word: &&String| !word.starts_with(['-', '+']);
    let operands = call.words.iter().skip(1).filter(is_plain).take(2);
    let mut words = vec![tool.to_owned()];
    // Of `python -m tool` the operands come after it, and none of the tools above is asked for more than its name there.
    words.extend(operand.iter().flat_map(|_| operands.clone()).cloned());
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_formats_and_mends_is_told_from_what_looks() {
        for (check, expected) in [
            ("cargo fmt", Some("cargo fmt")),
            ("cargo +nightly fmt --all", Some("cargo +nightly fmt --all")),
            ("cargo fmt --all -- --check", None),
            ("cargo fmt --check", None),
            ("terraform fmt --check --recursive", None),
            ("terraform fmt -check=true", None),
            (
                "terraform fmt -check=false",
                Some("terraform fmt -check=false"),
            ),
            ("terraform fmt -recursive", Some("terraform fmt -recursive")),
            (
                "cargo clippy --fix --allow-dirty",
                Some("cargo clippy --fix --allow-dirty"),
            ),
            ("cd a && black .", Some("black .")),
            ("black --check .", None),
            ("black --version", None),
            ("python3 -m black src", Some("python3 -m black src")),
            ("python3 -m black --check src", None),
            ("uv run ruff format", Some("ruff format")),
            ("poetry run isort .", Some("isort .")),
            ("uv format", Some("uv format")),
            ("hatch fmt --check", None),
            ("ruff check", None),
            ("ruff check --fix --diff", None),
            ("npx prettier --write .", Some("prettier --write .")),
            ("npx prettier --check .", None),
            ("gofmt -l .", None),
            ("test -z \"$(gofmt -l -w .)\"", Some("gofmt -l -w .")),
            ("go mod tidy && git diff --exit-code", Some("go mod tidy")),
            ("go mod tidy -diff", None),
            ("go mod verify", None),
            ("./gradlew spotlessApply", Some("./gradlew spotlessApply")),
            ("bundle exec rubocop -A", Some("rubocop -A")),
            ("bundle exec rubocop", None),
            ("! grep -rn -- --fix docs", None),
            ("echo \"run cargo fmt\"", None),
            ("terraform fmt -check", None),
            ("cargo test", None),
        ] {
            assert_eq!(changing(check).as_deref(), expected, "{check}");
        }
    }
}
