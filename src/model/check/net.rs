//! Words of a command that is not understood further and that may be files which it runs: `gdb -x x.gdb`, `$RUN ./check.sh`. Pure.

use super::call::{Call, stem};
use super::programs::{interpreter, is_shell, script_by_option};
use super::shell::{EACH, PRINTED, UNKNOWN};
use super::steering::steering;
use super::{BUILTINS, is_pattern};

/// Programs whose operands are what a goal is about, or are made by them: they read, compare, check, compile, pack or fetch. Sorted.
const LOOKERS: &[&str] = &[
    "ack",
    "ag",
    "ar",
    "as",
    "asciidoctor",
    "awk",
    "b2sum",
    "b3sum",
    "bandit",
    "base",
    "basename",
    "bat",
    "black",
    "bsdtar",
    "bzip",
    "c++",
    "cargo",
    "cat",
    "cc",
    "chgrp",
    "chmod",
    "chown",
    "cksum",
    "clang",
    "clang++",
    "clang-format",
    "clang-tidy",
    "cloc",
    "cmp",
    "codespell",
    "column",
    "comm",
    "cp",
    "cppcheck",
    "csvlint",
    "curl",
    "cut",
    "cygpath",
    "date",
    "dd",
    "ddrescue",
    "df",
    "diff",
    "difft",
    "dirname",
    "dos2unix",
    "dot",
    "dprint",
    "du",
    "ed",
    "editorconfig-checker",
    "egrep",
    "elixirc",
    "envsubst",
    "erlc",
    "expand",
    "fd",
    "ffprobe",
    "fgrep",
    "file",
    "find",
    "flake",
    "fmt",
    "fold",
    "g++",
    "gcc",
    "getfacl",
    "gh",
    "ghc",
    "git",
    "glab",
    "gofmt",
    "goimports",
    "grep",
    "gunzip",
    "gzip",
    "hadolint",
    "head",
    "hexdump",
    "htmlhint",
    "identify",
    "img2pdf",
    "install",
    "jar",
    "javac",
    "join",
    "jq",
    "jsonlint",
    "kotlinc",
    "ld",
    "less",
    "link",
    "ln",
    "locate",
    "ls",
    "lsof",
    "lua-check",
    "luac",
    "luacheck",
    "lychee",
    "mandoc",
    "markdown-link-check",
    "markdownlint",
    "md5sum",
    "mdbook",
    "mdformat",
    "mdl",
    "mkdir",
    "mkfifo",
    "mktemp",
    "more",
    "mv",
    "mypy",
    "nasm",
    "nl",
    "nm",
    "objdump",
    "od",
    "openssl",
    "pandoc",
    "paste",
    "patch",
    "pdfinfo",
    "pdftotext",
    "php-cs-fixer",
    "prettier",
    "proselint",
    "protoc",
    "pycodestyle",
    "pydocstyle",
    "pyflakes",
    "pylint",
    "pyright",
    "qpdf",
    "ranlib",
    "readelf",
    "readlink",
    "realpath",
    "rename",
    "rev",
    "rg",
    "rm",
    "rmdir",
    "rsync",
    "ruff",
    "rustc",
    "rustfmt",
    "scc",
    "scp",
    "sed",
    "semgrep",
    "seq",
    "setfacl",
    "setfattr",
    "sha",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "shellcheck",
    "shfmt",
    "shred",
    "shuf",
    "size",
    "sleep",
    "sort",
    "split",
    "sqlfluff",
    "standard",
    "stat",
    "strings",
    "strip",
    "stylelint",
    "stylua",
    "sum",
    "swiftlint",
    "tac",
    "tail",
    "taplo",
    "tar",
    "tee",
    "test",
    "textlint",
    "tidy",
    "tokei",
    "touch",
    "tr",
    "tree",
    "truncate",
    "tsc",
    "tsort",
    "type",
    "typos",
    "ulimit",
    "umask",
    "unexpand",
    "uniq",
    "unlink",
    "unzip",
    "vale",
    "vulture",
    "wc",
    "wget",
    "which",
    "write-good",
    "xmllint",
    "xxd",
    "xz",
    "yamllint",
    "yapf",
    "yq",
    "zcat",
    "zip",
    "zstd",
];

/// Endings of what no program runs.
const PROSE: &[&str] = &[
    "adoc", "css", "csv", "gif", "html", "jpg", "lock", "log", "md", "pdf", "png", "rst", "svg",
    "tex", "tsv", "txt",
];

/// Returns the words of such a command that may name a file which it runs, also behind the equals sign of an option.
pub fn unclear(call: &Call) -> Vec<String> {
    if call.is_implied || is_understood(call) {
        return Vec::new();
    }
    let words = call.words[1..]
        .iter()
        .filter_map(|word| match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => Some(value),
            _ => Some(word.as_str()).filter(|word| !word.starts_with('-')),
        });
    words
        .filter(|word| may_be_run(word))
        .map(str::to_owned)
        .collect()
}

/// Says whether it is known what a command runs, or that it runs nothing that its words name.
fn is_understood(call: &Call) -> bool {
    let command = call.words[0].as_str();
    // What a program of the repository is told to look at is free.
    let is_installed = command.contains(".bin/") || command.contains("venv/");
    let is_own = command.contains('/') && !command.starts_with('/') && !is_installed;
    let name = stem(command);
    let looks = |name: &str| LOOKERS.binary_search(&name).is_ok();
    let is_steered = || {
        let (tool, subcommand) = call.steered();
        !steering(&tool, subcommand.as_deref()).is_empty()
    };
    is_own && !command.contains(UNKNOWN)
        || BUILTINS.contains(&command)
        || is_shell(&name)
        || interpreter(&name).is_some()
        || script_by_option(&name).is_some()
        || looks(&name)
        || looks(command)
        || is_steered()
}

fn may_be_run(word: &str) -> bool {
    let unknown = [UNKNOWN, EACH, PRINTED, '`', ' ', '\n', ':', '{', ','];
    let ending = word.rsplit('.').next().unwrap_or_default();
    word.contains(['/', '.'])
        && !word.contains(unknown)
        && !is_pattern(word)
        && !PROSE.contains(&ending.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::LOOKERS;

    #[test]
    fn the_programs_that_look_are_sorted() {
        assert!(LOOKERS.is_sorted());
    }
}
