//! The tools that change files, and what has them look instead. Pure.

/// What writes unless it is told to look: the words it begins with, and what tells it so beside the options that tell any tool.
pub const WRITERS: &[(&str, &[&str])] = &[
    ("add-trailing-comma", &[]),
    ("alejandra", &["--check", "-c"]),
    ("black", &["--check", "--diff", "--code", "-c", "-"]),
    ("blacken-docs", &[]),
    ("bun add", &[]),
    ("bun remove", &[]),
    ("cargo add", &[]),
    ("cargo fix", &[]),
    ("cargo fmt", &["--check"]),
    ("cargo remove", &[]),
    ("cargo sort", &["--check", "-c"]),
    ("composer remove", &[]),
    ("composer require", &[]),
    ("dart format", &["--output", "-o", "-n"]),
    ("deno fmt", &["--check", "-"]),
    ("dotnet format", &[]),
    ("double-quote-string-fixer", &[]),
    ("dprint fmt", &["--stdin"]),
    ("end-of-file-fixer", &[]),
    ("file-contents-sorter", &[]),
    ("fix-byte-order-marker", &[]),
    ("fix-encoding-pragma", &[]),
    ("flutter format", &["--output", "-o", "-n"]),
    ("flynt", &["--dry-run", "-f"]),
    ("go fix", &["-diff", "--diff"]),
    ("go fmt", &["-n"]),
    ("go mod tidy", &["-diff", "--diff"]),
    ("golangci-lint fmt", &["--diff", "-d", "--stdin"]),
    ("hatch fmt", &["--check"]),
    ("isort", &["--check", "-c", "--diff", "-d", "--stdout", "-"]),
    ("lint-staged", &[]),
    ("mdformat", &["--check"]),
    ("mix format", &["--check-formatted", "-"]),
    ("mixed-line-ending", &["--fix=no"]),
    ("nbstripout", &[]),
    ("nixfmt", &["--check", "-c", "-"]),
    ("nixpkgs-fmt", &["--check"]),
    ("npm audit fix", &[]),
    ("npm uninstall", &[]),
    ("npm version", &[]),
    ("pdm add", &[]),
    ("pdm remove", &[]),
    ("php-cs-fixer fix", &[]),
    ("phpcbf", &[]),
    ("pint", &["--test"]),
    ("pnpm add", &[]),
    ("pnpm remove", &[]),
    ("poetry add", &[]),
    ("poetry remove", &[]),
    ("poetry-lock", &["--check"]),
    ("pyupgrade", &[]),
    ("reorder-python-imports", &[]),
    ("requirements-txt-fixer", &[]),
    ("ruff format", &["--check", "--diff", "-"]),
    ("rustfmt", &["--check", "--emit"]),
    ("rye fmt", &["--check"]),
    ("scalafmt", &["--check", "--test", "--list", "--stdout"]),
    ("setup-cfg-fmt", &[]),
    ("sort-package-json", &["--check", "-c"]),
    ("sort-simple-yaml", &[]),
    ("sqlfluff fix", &["-"]),
    ("sqlfluff format", &["-"]),
    ("stylua", &["--check", "-c", "-"]),
    ("swiftformat", &["--lint", "--dryrun"]),
    ("taplo fmt", &["--check", "--diff", "-"]),
    ("taplo format", &["--check", "--diff", "-"]),
    ("terraform fmt", &["--check", "-check", "-write=false", "-"]),
    ("tofu fmt", &["--check", "-check", "-write=false", "-"]),
    ("trailing-whitespace", &[]),
    ("treefmt", &["--stdin"]),
    ("uv add", &[]),
    ("uv format", &["--check", "--diff"]),
    ("uv lock", &["--check", "--locked"]),
    ("uv remove", &[]),
    ("uv-lock", &["--check", "--locked"]),
    ("yarn add", &[]),
    ("yarn remove", &[]),
    ("yamlfmt", &["-lint", "-dry", "--lint", "--dry"]),
    ("zig fmt", &["--check", "--stdin"]),
];
/// Options that have any tool write.
pub const OPTIONS: &[&str] = &[
    "--apply",
    "--apply-unsafe",
    "--auto-correct",
    "--auto-correct-all",
    "--autocorrect",
    "--autocorrect-all",
    "--fix",
    "--fix-dangerously",
    "--fix-only",
    "--fix-suggestions",
    "--in-place",
    "--inplace",
    "--snapshot-update",
    "--update-snapshots",
    "--updateSnapshot",
    "--write",
    "--write-changes",
];
/// Tools that write for no option where one of these stands beside it.
pub const SPARING: &[(&str, &[&str])] = &[
    ("autoflake", &["--check", "--check-diff"]),
    ("ruff", &["--diff"]),
];
/// Options whose value is the next word, and the values for which a tool writes that else prints.
pub const TAKES: [&str; 3] = ["--emit", "--output", "-o"];
/// See above; of one word with its option, too.
pub const WRITTEN: [&str; 3] = ["false", "files", "write"];
/// Programs of code that are handed what has them mend files: the option, and its value.
pub const EXTENDED: &[&str] = &["awk", "gawk"];
/// Options and operands that have these tools write, which else only look.
pub const OF_TOOLS: &[(&str, &[&str])] = &[
    ("api-extractor", &["--local", "-l"]),
    ("autoflake", &["-i"]),
    ("autopep", &["-i"]),
    ("ava", &["-u"]),
    ("biome", &[]),
    ("buf", &["-w"]),
    ("clang-format", &["-i"]),
    ("codespell", &["-w"]),
    ("gofmt", &["-w"]),
    ("gofumpt", &["-w"]),
    ("goimports", &["-w"]),
    ("gradle", &["spotlessApply", "ktlintFormat"]),
    ("gradlew", &["spotlessApply", "ktlintFormat"]),
    ("jest", &["-u"]),
    ("ktlint", &["-F", "--format"]),
    ("mvn", OF_MAVEN),
    ("mvnw", OF_MAVEN),
    ("opa", &["-w"]),
    ("prettier", &["-w"]),
    ("pretty-format-json", &["--autofix"]),
    ("rubocop", &["-a", "-A", "-x"]),
    (
        "sbt",
        &["scalafmt", "scalafmtAll", "scalafmtSbt", "scalafixAll"],
    ),
    ("shfmt", &["-w"]),
    ("typos", &["-w"]),
    ("vitest", &["-u", "--update"]),
    ("yapf", &["-i"]),
    ("yq", &["-i"]),
];
const OF_MAVEN: &[&str] = &["fmt:format", "formatter:format", "spotless:apply"];
/// A program that edits streams, and for an `i` among its letters mends files.
pub struct Editor {
    /// What it is called.
    pub names: &'static [&'static str],
    /// The letters that stand for an option without a value.
    pub flags: &'static str,
    /// Those whose value may be the next word.
    pub takes: &'static str,
    /// Its options end with its first operand: what stands behind is for the program that it runs.
    pub is_of_code: bool,
}
/// Editors of streams.
pub const IN_PLACE: &[Editor] = &[
    Editor {
        names: &["gsed", "sed"],
        flags: "Eabnrsuz",
        takes: "efl",
        is_of_code: false,
    },
    Editor {
        names: &["perl"],
        flags: "STUWXacflnpstuvw",
        takes: "EIe",
        is_of_code: true,
    },
    Editor {
        names: &["ruby"],
        flags: "SUaclnpsvwy",
        takes: "CEIer",
        is_of_code: true,
    },
];
/// What is handed such options as text.
pub const TEXT: &[&str] = &[
    "ag", "awk", "diff", "echo", "git", "grep", "ls", "printf", "rg", "test", "[",
];
/// Names of options for which no tool writes, of one dash or two.
pub const LOOKS: &[&str] = &[
    "check-only",
    "dry-run",
    "help",
    "verify-no-changes",
    "version",
];
/// Names of options that tell a tool of which nothing is known to look.
pub const MAY_LOOK: &[&str] = &["check", "diff", "lint", "list-different", "verify"];
