//! What a command of a step is for: it checks, it makes ready, or neither. Pure.

use crate::model::check;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It tells something.
    Checks,
    /// It tells nothing, and later ones go by it.
    Neutral,
    /// It makes ready.
    SetsUp,
}

/// Programs that make ready and tell nothing.
const ALWAYS: &[&str] = &[
    ".",
    ":",
    "apk",
    "apt",
    "apt-get",
    "autogen.sh",
    "autoreconf",
    "bootstrap",
    "bootstrap.sh",
    "brew",
    "cat",
    "choco",
    "chown",
    "configure",
    "curl",
    "date",
    "df",
    "dnf",
    "echo",
    "ensurepip",
    "env",
    "free",
    "gpg",
    "hostname",
    "id",
    "ls",
    "lscpu",
    "mv",
    "nproc",
    "nvm",
    "pacman",
    "printenv",
    "printf",
    "pwd",
    "rm",
    "rmdir",
    "sleep",
    "snap",
    "source",
    "ssh-add",
    "ssh-keygen",
    "ssh-keyscan",
    "sudo",
    "sysctl",
    "tee",
    "tree",
    "true",
    "type",
    "ulimit",
    "uname",
    "venv",
    "virtualenv",
    "wget",
    "which",
    "whoami",
    "yum",
    "zip",
    "zypper",
];
/// What programs are asked for by which they make ready and tell nothing.
const ASKED: &[(&str, &[&str])] = &[
    ("bun", OF_PACKAGES),
    ("bundle", &["add", "config", "install", "update"]),
    (
        "cargo",
        &[
            "add",
            "binstall",
            "clean",
            "fetch",
            "generate-lockfile",
            "init",
            "install",
            "llvm-cov clean",
            "miri setup",
            "new",
            "remove",
            "uninstall",
            "update",
            "vendor",
        ],
    ),
    (
        "composer",
        &["config", "i", "install", "remove", "require", "update"],
    ),
    ("conan", &["install"]),
    ("conda", OF_CONDA),
    (
        "corepack",
        &["disable", "enable", "install", "prepare", "up", "use"],
    ),
    ("cypress", &["install"]),
    (
        "docker",
        &[
            "image", "images", "info", "load", "login", "pull", "version",
        ],
    ),
    ("dart", &["pub get"]),
    ("dotnet", &["restore", "tool"]),
    ("flutter", &["pub get"]),
    ("gem", &["install", "sources", "update"]),
    (
        "git",
        &[
            "checkout",
            "branch",
            "clone",
            "config",
            "describe",
            "fetch",
            "init",
            "lfs",
            "log",
            "pull",
            "remote",
            "restore",
            "rev-parse",
            "show",
            "submodule",
            "switch",
        ],
    ),
    (
        "go",
        &[
            "clean",
            "env",
            "get",
            "install",
            "mod download",
            "mod vendor",
            "version",
        ],
    ),
    ("helm", &["dependency", "repo", "version"]),
    ("kubectl", &["version"]),
    ("lerna", &["bootstrap", "link"]),
    ("mamba", OF_CONDA),
    ("meson", &["setup"]),
    ("mix", &["deps.get", "local.hex", "local.rebar"]),
    ("micromamba", OF_CONDA),
    ("npm", OF_PACKAGES),
    (
        "pdm",
        &[
            "add", "config", "install", "lock", "remove", "sync", "update",
        ],
    ),
    (
        "pip",
        &[
            "cache",
            "config",
            "download",
            "freeze",
            "install",
            "list",
            "show",
            "uninstall",
        ],
    ),
    ("pipenv", &["install", "lock", "sync", "update"]),
    ("pipx", &["inject", "install", "upgrade"]),
    ("playwright", &["install", "install-deps"]),
    ("pod", &["install", "repo", "update"]),
    ("pnpm", OF_PACKAGES),
    (
        "poetry",
        &[
            "add", "config", "env", "install", "lock", "remove", "self", "update",
        ],
    ),
    (
        "pre-commit",
        &["autoupdate", "clean", "gc", "install", "install-hooks"],
    ),
    (
        "rustup",
        &[
            "component",
            "default",
            "install",
            "override",
            "self",
            "set",
            "show",
            "target",
            "toolchain",
            "update",
        ],
    ),
    ("setup.py", &["build_ext", "develop", "egg_info", "install"]),
    ("terraform", &["init"]),
    ("tofu", &["init"]),
    (
        "uv",
        &[
            "add",
            "cache",
            "lock",
            "pip",
            "python",
            "remove",
            "self",
            "sync",
            "tool install",
            "venv",
        ],
    ),
    ("vcpkg", &["install"]),
    ("yarn", OF_PACKAGES),
];
const OF_CONDA: &[&str] = &[
    "activate", "clean", "config", "create", "env", "info", "init", "install", "list", "remove",
    "update",
];
const OF_PACKAGES: &[&str] = &[
    "add",
    "cache",
    "ci",
    "config",
    "dedupe",
    "env",
    "fetch",
    "global",
    "i",
    "import",
    "init",
    "install",
    "link",
    "ln",
    "login",
    "playwright install",
    "plugin",
    "prune",
    "rebuild",
    "remove",
    "rm",
    "set",
    "setup",
    "store",
    "un",
    "uninstall",
    "unlink",
    "up",
    "update",
    "upgrade",
    "whoami",
];
/// What tells nothing, and later lines go by it.
const NEUTRAL: &[&str] = &[
    "case", "cd", "chmod", "cp", "declare", "done", "esac", "exit", "export", "fi", "for",
    "function", "ln", "local", "mkdir", "popd", "pushd", "read", "readonly", "return", "set",
    "shopt", "tar", "touch", "trap", "unset", "unzip",
];
/// What tells nothing, but that later lines go by the file that it writes.
const PRINTS: [&str; 4] = ["cat", "echo", "printf", "tee"];
/// What tells nothing and makes nothing ready.
const SHOWS: [&str; 11] = [
    ":", "cat", "date", "echo", "ls", "printf", "pwd", "sleep", "true", "type", "which",
];
/// What stands in front of a command, and is none.
const IN_FRONT: [&str; 13] = [
    "!", "(", "command", "do", "elif", "else", "if", "nohup", "then", "time", "until", "while", "{",
];
/// Who makes targets or runs tasks by their names.
const OF_TARGETS: [&str; 11] = [
    "bun", "gmake", "gradle", "gradlew", "just", "make", "npm", "pnpm", "rake", "task", "yarn",
];
/// Words in the name of a target by which it makes ready, and by which it looks all the same.
const READY: [&str; 14] = [
    "bootstrap",
    "clean",
    "configure",
    "deps",
    "dependencies",
    "distclean",
    "download",
    "init",
    "install",
    "mrproper",
    "prepare",
    "requirements",
    "setup",
    "venv",
];
const LOOKS: [&str; 7] = ["check", "e2e", "lint", "smoke", "test", "tests", "verify"];
/// Options whose value is the next word.
const TAKES: [&str; 12] = [
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--filter",
    "--prefix",
    "--project",
    "--workspace",
    "-C",
    "-F",
    "-c",
    "-f",
];
/// What CMake is asked for by which it does more than configure, or none of it.
const OF_CMAKE: [&str; 9] = [
    "--build",
    "--find-package",
    "--install",
    "--list-presets",
    "--open",
    "--version",
    "--workflow",
    "-E",
    "-P",
];
/// Programs that tell their version for `-v`.
const OF_VERSIONS: [&str; 13] = [
    "bun", "clang", "deno", "docker", "gcc", "git", "java", "node", "npm", "php", "pnpm", "python",
    "yarn",
];

/// Returns what one command is for; of several in a pipe, what the first is for.
pub(super) fn use_of_one(line: &str) -> Use {
    let first = line.split_whitespace().next().unwrap_or_default();
    // What a file of the project's sets, later lines may go by.
    if sources_own(line) {
        return Use::Neutral;
    }
    let (words, is_env) = words_of(line);
    let Some((program, rest)) = words.split_first() else {
        // Assignments alone last.
        return if is_env || first == "sudo" {
            Use::SetsUp
        } else {
            Use::Neutral
        };
    };
    let (program, rest) = tool(program, rest);
    match () {
        () if NEUTRAL.contains(&program) || program.ends_with("()") || program == "}" => {
            Use::Neutral
        }
        () if PRINTS.contains(&program) && prints_to_file(line) => Use::Neutral,
        () if is_configuring(program, rest) => Use::Neutral,
        () if makes_ready(program, rest) => Use::SetsUp,
        () => Use::Checks,
    }
}

/// Says whether a command neither tells anything nor makes anything ready.
pub(super) fn only_shows(command: &str) -> bool {
    let (words, _) = words_of(command);
    words.first().is_some_and(|word| SHOWS.contains(word))
}

/// Says whether a command only configures what later ones build.
pub(super) fn configures(command: &str) -> bool {
    let (words, _) = words_of(command);
    let split = words.split_first();
    split.is_some_and(|(program, rest)| {
        let (program, rest) = tool(program, rest);
        is_configuring(program, rest)
    })
}

fn is_configuring(program: &str, rest: &[&str]) -> bool {
    let does_more = |word: &&str| {
        let option = word.split('=').next().unwrap_or(word);
        OF_CMAKE.contains(&option) || option.starts_with("--help")
    };
    program == "cmake" && !rest.is_empty() && !rest.iter().any(does_more)
}

/// Says whether a command runs as another user.
pub(super) fn is_of_another_user(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let first = words.find(|word| !is_assignment(word) && !IN_FRONT.contains(word));
    matches!(first, Some("sudo" | "doas"))
}

fn makes_ready(program: &str, rest: &[&str]) -> bool {
    let operands = operands(program, rest);
    let has = |option: &str| rest.contains(&option);
    let tells_version = match rest {
        ["-v"] => OF_VERSIONS.contains(&program),
        [.., last] => {
            ["--version", "-V", "-version"].contains(last) || has("--version") || has("-vV")
        }
        [] => false,
    };
    if tells_version || ALWAYS.contains(&program) {
        return true;
    }
    let is_asked = |all: &[&str]| {
        let first = operands.first().copied().unwrap_or_default();
        let two = operands.iter().take(2).copied().collect::<Vec<_>>();
        all.contains(&first) || all.contains(&two.join(" ").as_str())
    };
    // A lock file that is only compared is a check.
    let only_compares = has("--check") || has("--locked") && is_asked(&["lock"]);
    let mut asked = ASKED.iter();
    if asked.any(|(name, all)| *name == program && is_asked(all)) {
        return !only_compares;
    }
    match program {
        "yarn" if operands.is_empty() => return true,
        "find" => {
            return !rest
                .iter()
                .any(|it| it.starts_with("-exec") || *it == "-delete");
        }
        "tox" => return has("--notest"),
        "nox" => return has("--install-only"),
        "sed" => return rest.iter().any(|word| word.starts_with("-i")),
        "mvn" | "mvnw" => {
            let mut all = operands.iter();
            return !operands.is_empty() && all.all(|goal| goal.starts_with("dependency:"));
        }
        _ => {}
    }
    let targets = match operands.split_first() {
        Some((run, names)) if ["run", "run-script"].contains(run) => names,
        _ => &operands,
    };
    let is_made = OF_TARGETS.contains(&program) && !targets.is_empty();
    is_made && targets.iter().all(|target| is_called_ready(target))
}

/// Says whether a target is called as one that makes ready or tidies up.
fn is_called_ready(name: &str) -> bool {
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    let has = |all: &[&str]| words().any(|word| all.contains(&word));
    has(&READY) && !has(&LOOKS)
}

/// Returns the words of a command without what stands in front of it, and whether that was `env`.
fn words_of(command: &str) -> (Vec<&str>, bool) {
    let command = command.trim_start_matches(['(', '{', ' ']);
    let mut words: Vec<&str> = command.split_whitespace().collect();
    let mut is_env = false;
    loop {
        let skip = match words.as_slice() {
            [first, ..] if is_assignment(first) => value_end(&words),
            [first, ..] if IN_FRONT.contains(first) => 1,
            ["env", rest @ ..] => {
                is_env = true;
                1 + options(rest, &["-C", "-u"])
            }
            ["sudo" | "doas", rest @ ..] => 1 + options(rest, &["-g", "-u"]),
            ["xvfb-run", rest @ ..] => 1 + options(rest, &["-e", "-n", "-s"]),
            ["npx" | "bunx", rest @ ..] => 1 + options(rest, &["-p"]),
            ["rustup", "run", _, _, ..] => 3,
            ["corepack", "npm" | "pnpm" | "yarn", ..] => 1,
            ["npm" | "pnpm" | "yarn", "dlx" | "exec", _, ..] => 2,
            [
                "poetry" | "pipenv" | "uv" | "pdm" | "hatch",
                "run",
                rest @ ..,
            ] => 2 + options(rest, &["--extra", "--group", "--python", "--with", "-p"]),
            _ => return (words, is_env),
        };
        words.drain(..skip.min(words.len()));
    }
}

/// Returns how many words at the beginning are options and their values.
fn options(words: &[&str], takes: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if takes.contains(word) { 2 } else { 1 };
    }
    at
}

/// Returns with how many words the value of the assignment in front ends: one in quotes may hold several.
fn value_end(words: &[&str]) -> usize {
    let value = words[0].split_once('=').map_or("", |(_, value)| value);
    let Some(quote) = value.chars().next().filter(|c| ['"', '\''].contains(c)) else {
        return 1;
    };
    let is_end = |at: usize, word: &str| word.ends_with(quote) && (at > 0 || value.len() > 1);
    let mut words = words.iter().enumerate();
    words
        .find(|(at, word)| is_end(*at, word))
        .map_or(1, |(at, _)| at + 1)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(is_part)
    })
}

/// Returns what is called in the end, and what it is given: the module that Python is to run, its script, or the program by its name.
fn tool<'w>(program: &'w str, rest: &'w [&'w str]) -> (&'w str, &'w [&'w str]) {
    let name = program.rsplit('/').next().unwrap_or(program);
    if name.starts_with("python") || name == "py" {
        let of_module = |word: &&str| word.starts_with('-') && word.ends_with('m');
        let module = rest.iter().position(of_module);
        if let Some((module, rest)) = module.and_then(|at| rest.get(at + 1..)?.split_first()) {
            return (module, rest);
        }
        if let Some((script, rest)) = rest.split_first().filter(|(it, _)| **it == "setup.py") {
            return (script, rest);
        }
        return ("python", rest);
    }
    // A script of the repository may be called as a program is.
    let is_here = program.starts_with("./") || !program.contains('/');
    let known = [
        "autogen.sh",
        "bootstrap",
        "bootstrap.sh",
        "configure",
        "gradlew",
        "mvnw",
    ];
    let is_known = known.contains(&name);
    match name {
        "pip3" => ("pip", rest),
        "pip" => (name, rest),
        _ if is_here && program.contains('/') && !is_known => (program, rest),
        _ => (name, rest),
    }
}

/// Returns the words that are neither options nor their values, nor variables.
fn operands<'w>(program: &str, words: &[&'w str]) -> Vec<&'w str> {
    let takes_value = |word: &str| TAKES.contains(&word) && !(word == "-F" && program == "cargo");
    let mut found = check::operands(words, takes_value);
    found.retain(|word| !is_assignment(word));
    found
}

/// Says whether a line prints into a file.
fn prints_to_file(line: &str) -> bool {
    let elsewhere = ["2>&1", ">&2", "2>/dev/null", ">/dev/null", "> /dev/null"];
    let rest = elsewhere
        .iter()
        .fold(line.to_owned(), |line, words| line.replace(words, ""));
    rest.contains('>') || rest.split_whitespace().any(|word| word == "tee")
}

/// Says whether a line reads a script of the project's; one that activates an environment is of this machine's making.
fn sources_own(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_sourcing = matches!(words.next(), Some("." | "source"));
    let file = words.next().unwrap_or_default().trim_matches(['"', '\'']);
    is_sourcing && !file.starts_with(['/', '~', '$']) && !file.ends_with("/activate")
}

/// Says whether a command tells something, and makes nothing ready.
pub(in crate::model::init) fn checks(command: &str) -> bool {
    use_of_one(command) == Use::Checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_ready_is_known_by_program_and_verb_whatever_stands_in_front() {
        for command in [
            "PLAYWRIGHT_SKIP=1 npm ci",
            "A='b c' D=e pip install -e .",
            "sudo -E apt-get install -y x",
            "npm --prefix web ci",
            "npm rm --save-dev connect-redis",
            "npm link",
            "npm run clean",
            "pnpm -w install",
            "yarn",
            "yarn --frozen-lockfile",
            "yarn add foo",
            "yarn global add foo",
            "npx --yes playwright install --with-deps",
            "python -Im pip install uv",
            "python3.12 -m venv .venv",
            ".venv/bin/pip3 install .",
            "python setup.py develop",
            "./configure --prefix=x",
            "make install",
            "make -C web jb_install",
            "make setup deps V=1",
            "make clean",
            "./gradlew clean",
            "terraform init -backend=false",
            "lerna bootstrap",
            "node -v",
            "rustc --version --verbose",
            "cargo -vV",
            "git log -1",
            "find . -name a",
            "pnpm exec playwright install",
            "yarn playwright install",
            "./bootstrap",
            "type cc",
            "cargo --version",
            "cargo +nightly miri setup",
            "java -version",
            "id",
            "pip list",
            "tox --notest",
            "env",
            "mvn -B dependency:go-offline",
            "corepack enable",
            "rustup show",
            "poetry run pip install x",
            "go mod download",
        ] {
            assert_eq!(use_of_one(command), Use::SetsUp, "{command}");
        }
        for command in [
            "env A=b cargo test",
            "cargo miri test",
            "sudo make test",
            "rustup run nightly cargo test",
            "corepack pnpm test",
            "npm test",
            "npm --prefix web test",
            "yarn lint",
            "pip check",
            "poetry check",
            "poetry lock --check",
            "make clean test",
            "make test-install",
            "mvn clean install",
            "pytest -v",
            "find . -name a -exec t {} +",
            "git diff --exit-code",
            "conda run pytest",
            "./install.sh",
            "go mod verify",
            "uv run pytest",
            "cmake --build build",
            "cmake --workflow --preset=ci",
            "cmake -P check.cmake",
        ] {
            assert_eq!(use_of_one(command), Use::Checks, "{command}");
        }
        for command in [
            "A=b",
            "A='b c'",
            "cd a",
            "exit 1",
            "echo a > b",
            ". ./env.sh",
            "done",
            "f() {",
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release",
            "CC=clang cmake --preset default",
        ] {
            assert_eq!(use_of_one(command), Use::Neutral, "{command}");
        }
    }
}
