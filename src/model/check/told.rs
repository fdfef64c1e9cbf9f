//! What a command is told by files: settings by its options, further words, variables, and code on the command line that names a script.
//! Pure.

use super::call::{Call, stem};
use super::programs::is_shell;

/// Programs that only look at their words, or print them.
const LOOKING: &[&str] = &[
    "[", "[[", "ag", "case", "cat", "command", "cut", "echo", "egrep", "exit", "expr", "false",
    "fgrep", "for", "git", "grep", "head", "if", "printf", "return", "rg", "sed", "sort", "tail",
    "test", "tr", "true", "type", "uniq", "wc", "which",
];

fn only_looks(call: &Call) -> bool {
    LOOKING.contains(&stem(&call.words[0]).as_str())
}

/// Says whether words come to a program that its own text does not tell.
pub fn takes_words(call: &Call) -> bool {
    let is_unknown = |word: &String| word.contains('$');
    !call.is_implied && !only_looks(call) && call.words[1..].iter().any(is_unknown)
}

/// Says whether a command prints what stands in files, or a part of it.
pub fn reads_text(call: &Call) -> bool {
    const READING: [&str; 11] = [
        "awk", "cat", "cut", "egrep", "fgrep", "grep", "head", "sed", "sort", "tail", "tr",
    ];
    READING.contains(&stem(&call.words[0]).as_str())
}

/// Says whether a text sets variables that other programs see, or has text run as code.
pub fn sets_for_others(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || ";&|(".contains(c));
    words.any(|word| matches!(word, "declare" | "env" | "eval" | "export" | "typeset"))
}

/// How the names of files end that hold code.
const CODE: &[&str] = &[
    ".awk", ".bash", ".bc", ".cjs", ".js", ".jq", ".lua", ".mjs", ".mk", ".php", ".pl", ".pm",
    ".py", ".r", ".R", ".rb", ".sh", ".sql", ".tcl", ".ts", ".zsh",
];

/// Returns the files of code that stand in code on the command line, which may run them: `python3 -c "os.system('sh ci/t.sh')"`.
pub fn scripts_in_code(call: &Call) -> Vec<String> {
    let name = stem(&call.words[0]);
    if only_looks(call) || is_shell(&name) {
        return Vec::new();
    }
    let is_code = |word: &&String| word.contains([' ', '\n', '(', '"', '\'']);
    let is_of_path = |c: char| c.is_alphanumeric() || "_-./+".contains(c);
    let words = call.words[1..].iter().filter(is_code);
    let parts = words.flat_map(|word| word.split(|c| !is_of_path(c)));
    let mut found = Vec::new();
    for part in parts.take(MOST_PARTS) {
        if CODE.iter().any(|end| part.ends_with(end)) {
            found.push(part.to_owned());
        } else if part.starts_with("./") || part.starts_with("../") {
            // As Node asks for a module.
            let ends = [".js", ".cjs", ".mjs", ".ts", "/index.js"].into_iter();
            found.extend(ends.map(|end| format!("{part}{end}")));
        }
    }
    found
}

/// How many parts of the code on a command line are looked at.
const MOST_PARTS: usize = 1024;

/// Returns the files in which a program's further words stand: `pytest @options`.
pub fn told_by_file(call: &Call) -> Vec<String> {
    if only_looks(call) {
        return Vec::new();
    }
    let words = call.words[1..].iter();
    let files = words.filter_map(|word| word.strip_prefix('@'));
    files.map(str::to_owned).collect()
}

/// Parts of the names of options whose value is a file that decides what a tool says.
const DECIDING: &[&str] = &[
    "baseline",
    "build-file",
    "config",
    "constraint",
    "dictionary",
    "exclude-file",
    "exclude-from",
    "ignore-file",
    "ignore-path",
    "ignore-words",
    "init-script",
    "plugin",
    "project",
    "rcfile",
    "require",
    "rules",
    "schema",
    "settings",
    "suppressions",
];

/// Returns the short options of a tool that give it its settings.
fn short_options(tool: &str) -> &'static [&'static str] {
    match tool {
        "tsc" => &["-p"],
        "ansible-lint" | "cspell" | "eslint" | "golangci-lint" | "hadolint" | "jest" | "lychee"
        | "markdownlint" | "md5sum" | "nyc" | "phpstan" | "phpunit" | "pre-commit" | "pytest"
        | "rubocop" | "semgrep" | "sha1sum" | "sha256sum" | "sha512sum" | "tox" | "trivy"
        | "typos" | "vitest" | "yamllint" => &["-c"],
        "bandit" | "gitleaks" => &["-b", "-c"],
        "codespell" => &["-D", "-I", "-x"],
        "gradle" | "gradlew" => &["-I", "-b", "-c"],
        "mvn" | "mvnw" => &["-f", "-gs", "-s"],
        "pip" | "pip-audit" => &["-c", "-r"],
        "spectral" => &["-r"],
        _ => &[],
    }
}

/// Returns the values of options that give a tool its settings.
pub fn set_by_option(call: &Call) -> Vec<String> {
    let (tool, _) = call.steered();
    let short = short_options(&tool);
    let mut found = Vec::new();
    for (at, word) in call.words.iter().enumerate().skip(1) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), call.words.get(at + 1).map(String::as_str)),
        };
        let long = name.strip_prefix("--").unwrap_or_default();
        let decides = DECIDING.iter().any(|part| long.contains(part));
        if decides || short.contains(&name) {
            found.extend(value.map(str::to_owned));
            let inside = match (tool.as_str(), long) {
                ("tsc", _) => "tsconfig.json",
                ("eslint", "rulesdir") => "*",
                ("semgrep", _) => "**",
                _ => continue,
            };
            let folder = value.filter(|value| !value.ends_with(".json"));
            found.extend(folder.map(|it| format!("{}/{inside}", it.trim_end_matches('/'))));
        }
    }
    found
}
