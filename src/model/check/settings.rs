//! The settings that programs find by the forms of their names: most tools name them after themselves, and a tool that goes by those
//! of another one goes by that one's names. `steering` has what has a name of its own. Pure.

use super::call::stem;
use super::code::Code;
use super::programs::{interpreter, is_shell};
use super::steering::anywhere;

/// A program that is called, as one that goes by settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tool {
    name: String,
    subcommand: Option<String>,
    /// It lies in the repository, and is looked into itself.
    is_own: bool,
}

/// Programs that go by no settings of a repository: those of the shell, of coreutils and their like.
const PLAIN: &str = "\
    . : [ [[ alias ar awk base basename base64 bc break builtin bunzip2 bzip2 cat cd chgrp chmod chown cksum clear cmp column \
    comm command continue cp cut date dd declare df diff dirname do done du echo egrep env esac eval exec exit expand \
    export expr false fgrep fi file find flock fmt fold gawk getopts git grep groups gunzip gzip hash head hexdump \
    hostname id install ionice join jq kill let ln local ls md mktemp mkdir mkfifo mv nice nl nohup nproc od paste patch \
    pgrep pkill popd printenv printf ps pushd pwd read readlink readonly realpath rev rm rmdir script sed seq set setsid \
    sha1sum sha256sum sha512sum sha md5sum shift shopt shuf sleep sort source split stat stdbuf strings stty sudo sum tac \
    tail tar tee test time timeout touch tr trap tree true truncate tsort tty type typeset ulimit umask uname unexpand \
    uniq unset unxz unzip users wait wc which while who whoami xargs xxd xz yes zcat zip";

/// Programs whose settings are all known, or have their names.
const KNOWN: &str = "\
    c++ cargo cc clang clang++ g++ gcc go gofmt gmake java javac just ld make mvn node nodejs py.test pytest rake rustc \
    rustdoc rustfmt tsc unittest";

/// Programs that no package of Node's is meant to bring, beside those of the shell, of coreutils and their like.
const OF_SYSTEMS: &str =
    "cargo docker go java make node nodejs npm npx perl php pip python python3 ruby rustc";

/// Says whether a program is one of the system's: no honest package brings another of its name.
pub fn is_of_system(program: &str) -> bool {
    is_in(PLAIN, program) || is_in(OF_SYSTEMS, program) || is_shell(program)
}

fn is_in(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|one| one == name)
}

/// Returns the programs that `code` calls and that may go by settings, each once.
pub fn tools(code: &Code) -> Vec<Tool> {
    let mut found = Vec::new();
    for call in code.calls() {
        let (name, subcommand) = call.steered();
        let command = call.words[0].as_str();
        let is_own = command.contains('/') && !command.contains("bin/");
        for name in [name, stem(command)] {
            let subcommand = subcommand.clone();
            found.push(Tool {
                name,
                subcommand,
                is_own,
            });
        }
    }
    found.sort();
    found.dedup();
    found
}

impl Tool {
    /// Says whether the program finds a file by its name and goes by it.
    pub fn goes_by(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_at = |end: &&str| {
            let before = path.strip_suffix(*end);
            before.is_some_and(|it| it.is_empty() || it.ends_with('/'))
        };
        if anywhere(&self.name, self.subcommand.as_deref())
            .iter()
            .any(is_at)
        {
            return true;
        }
        let tool = self.name.as_str();
        if is_in(OF_PIP, tool) && is_of_requirements(name)
            || is_in(OF_TYPESCRIPT, tool) && is_of_typescript(name)
        {
            return true;
        }
        let is_known = || self.is_own || is_in(KNOWN, tool) || interpreter(tool).is_some();
        let is_plain = || is_in(PLAIN, tool) || is_shell(tool) || tool.contains(['$', '`', '.']);
        (is_named_after(name, tool) || is_of_settings(name) && !is_known()) && !is_plain()
    }
}

/// Programs that install what files of requirements list.
const OF_PIP: &str = "nox pip pip-compile pip-sync tox uv";
/// Programs that go by TypeScript's projects, in the folders of which each has one.
const OF_TYPESCRIPT: &str =
    "eslint jest svelte-check ts-node tsc tsd tsx type-coverage vitest vue-tsc";

/// Says whether a file lists what pip is to install: `requirements-dev.txt`, `constraints.txt`.
fn is_of_requirements(name: &str) -> bool {
    let bare = name
        .strip_suffix(".txt")
        .or_else(|| name.strip_suffix(".in"));
    bare.is_some_and(|bare| {
        ["requirements", "constraints"]
            .iter()
            .any(|it| bare.contains(it))
    })
}

/// Says whether a file holds a project of TypeScript's: `tsconfig.json`, `tsconfig.build.json`.
fn is_of_typescript(name: &str) -> bool {
    let bare = name.strip_suffix(".json");
    bare.is_some_and(|bare| bare == "tsconfig" || bare.starts_with("tsconfig."))
}

/// How the names of settings end that are named after their tool.
const ENDINGS: &[&str] = &[
    "cfg",
    "conf",
    "dist",
    "hcl",
    "ini",
    "json",
    "json5",
    "jsonc",
    "mod",
    "neon",
    "properties",
    "toml",
    "work",
    "xml",
    "yaml",
    "yml",
];

/// Says whether a file is named as the settings of a tool: `.toolrc`, `tool.toml`, `.tool.yml`, `_tool.toml`, `.toolignore`.
fn is_named_after(name: &str, tool: &str) -> bool {
    // `golangci-lint` has `.golangci.yml`.
    let key = tool.split('-').next().unwrap_or(tool).to_lowercase();
    let is_dotted = name.starts_with('.');
    let bare = name.trim_start_matches(['.', '_']).to_lowercase();
    let Some(rest) = bare.strip_prefix(&key).filter(|_| key.len() > 1) else {
        return false;
    };
    let rest = rest.strip_prefix("rc").unwrap_or(rest);
    let is_apart = !rest.starts_with(|c: char| c.is_alphanumeric()) || rest == "ignore";
    let ending = rest.rsplit_once('.').map(|(_, ending)| ending);
    is_apart && (is_dotted || ending.is_some_and(|ending| ENDINGS.contains(&ending)))
}

/// Names of settings that many tools go by.
const SHARED: &[&str] = &[
    ".editorconfig",
    ".env",
    ".tool-versions",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
];

/// Says whether a file has the name of settings, whoever goes by them: `.xrc`, `.xrc.json`, `.xignore`, `x.config.js`.
fn is_of_settings(name: &str) -> bool {
    let dotted = name
        .strip_prefix('.')
        .and_then(|name| name.split('.').next());
    let is_dotted = dotted.is_some_and(|first| {
        // What git leaves out is left out by few others: `anywhere` knows them.
        first.ends_with("rc")
            || first.ends_with("ignore") && !matches!(first, "gitignore" | "npmignore")
    });
    let scripts = [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json"];
    let is_script = || {
        scripts
            .iter()
            .any(|end| name.ends_with(&format!(".config{end}")))
    };
    is_dotted || is_script() || SHARED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_count_by_the_forms_of_their_names_for_the_programs_that_go_by_them() {
        for (check, names) in [
            ("! rg X", ".ignore .rgignore .gitignore"),
            ("ag X; fd X", ".agignore .fdignore .ignore .gitignore"),
            (
                "npx prettier --check .",
                ".prettierrc.toml .prettierrc.json5 prettier.config.mjs .gitignore",
            ),
            ("npx eslint .", "package.json eslint.config.mts"),
            (
                "npx jest",
                "babel.config.js .babelrc jest.config.json package.json",
            ),
            (
                "npm test",
                "babel.config.js jest.config.json .eslintrc.json",
            ),
            ("npx playwright test", "playwright.config.ts"),
            ("npx ava", "ava.config.js"),
            (
                "npx stylelint x.css",
                ".stylelintrc .stylelintrc.json .stylelintignore",
            ),
            (
                "npx markdownlint-cli2",
                ".markdownlint-cli2.jsonc .markdownlint-cli2.yaml",
            ),
            ("npx markdownlint .", ".markdownlintignore .markdownlintrc"),
            ("npx cspell", "cspell.json .cspell.json"),
            ("npx c8 npm test", "package.json .npmrc .c8rc.json"),
            ("npx nyc npm test", ".nycrc"),
            (
                "python3 tests/run.py",
                "sitecustomize.py src/sitecustomize/__init__.py usercustomize/__init__.py",
            ),
            ("typos", "typos.toml _typos.toml .typos.toml .gitignore"),
            ("codespell .", ".codespellrc setup.cfg"),
            ("vale .", ".vale.ini"),
            ("lychee .", "lychee.toml .lycheeignore"),
            ("mkdocs build --strict", "mkdocs.yml"),
            ("sphinx-build -W docs out", "docs/conf.py"),
            (
                "clang-format --dry-run x.c",
                ".clang-format .clang-format-ignore",
            ),
            ("clang-tidy x.c", ".clang-tidy"),
            (
                "cmake --build b",
                "CMakeLists.txt CMakePresets.json src/CMakeLists.txt",
            ),
            ("ctest", "CTestCustom.cmake"),
            ("bundle exec rspec", ".rspec spec/spec_helper.rb"),
            ("rubocop", ".rubocop_todo.yml"),
            ("prove -r t", ".proverc"),
            ("golangci-lint run", ".golangci.json"),
            ("go test ./...", "go.mod vendor/modules.txt sub/go.mod"),
            (
                "vendor/bin/phpstan analyse",
                "phpstan.neon phpstan.neon.dist",
            ),
            ("phpunit", "phpunit.dist.xml"),
            ("dotnet test", "Directory.Build.props global.json"),
            (
                "bazel test //...",
                ".bazelrc BUILD a/BUILD.bazel MODULE.bazel",
            ),
            ("mix test", "mix.exs mix.lock"),
            ("npm ci", "package-lock.json a/npm-shrinkwrap.json"),
            ("pnpm install --frozen-lockfile", "pnpm-lock.yaml"),
            ("yarn install --immutable", "yarn.lock"),
            ("uv run pytest", "uv.lock requirements.txt .coveragerc"),
            ("poetry run mypy .", "poetry.lock"),
            (
                "python3 -m pip install -r requirements/dev.txt",
                "requirements-dev.txt dev_requirements.in constraints.txt",
            ),
            ("tox", "requirements-test.txt"),
            ("bundle exec rake", "Gemfile.lock"),
            ("mvn -q verify", "pom.xml core/pom.xml"),
            ("./gradlew check", "core/build.gradle.kts gradle.properties"),
            ("npx tsc -b", "tsconfig.json packages/a/tsconfig.build.json"),
            ("zig build", "build.zig"),
            ("swift test", "Package.swift"),
            ("turbo run test", "turbo.json package.json"),
            ("npx nx test", "nx.json a/project.json"),
            ("hatch run test", "pyproject.toml hatch.toml"),
            ("uv run pytest", "uv.toml .env pytest.toml"),
            ("docker build .", "Dockerfile .dockerignore"),
            (
                "docker compose run test",
                "compose.yaml compose.override.yaml .env",
            ),
            ("Rscript tests/run.R", ".Rprofile"),
            ("mix format --check-formatted", ".formatter.exs"),
            ("cabal test", "cabal.project.local"),
            ("ng test", "angular.json"),
            ("direnv exec . make", ".envrc"),
            ("isort .", ".isort.cfg"),
            ("bandit -r .", ".bandit"),
            ("gitleaks detect", ".gitleaks.toml .gitleaksignore"),
            ("trivy fs .", ".trivyignore"),
            ("semgrep", ".semgrepignore"),
            ("commitlint", "commitlint.config.js"),
            ("knip", "knip.json"),
            ("shfmt -d .", ".editorconfig"),
            ("luacheck .", ".luacheckrc"),
            ("tflint", ".tflint.hcl"),
            ("buf lint", "buf.yaml"),
            ("sqlfluff lint", ".sqlfluff"),
            ("ansible-lint", ".ansible-lint ansible.cfg"),
            ("swiftlint", ".swiftlint.yml"),
            ("dart analyze", "analysis_options.yaml"),
            ("dart test", "dart_test.yaml pubspec.yaml"),
            ("cargo test", "Cargo.toml crates/a/Cargo.toml"),
            ("cargo nextest run; cargo clippy", "Cargo.toml"),
            ("tools/ruff check .", "src/ruff.toml .gitignore"),
            ("node_modules/.bin/xo", "package.json"),
        ] {
            let tools = tools(&Code::of_check(check));
            for path in names.split_whitespace() {
                let is_gone_by = tools.iter().any(|tool| tool.goes_by(path));
                assert!(is_gone_by, "{check}: {path}");
            }
        }
    }

    #[test]
    fn what_no_program_of_a_check_goes_by_does_not_count() {
        for (check, names) in [
            (
                "test -e .eslintrc && cat .npmrc | grep -q x",
                ".eslintrc .npmrc .ignore package.json",
            ),
            ("! git grep -n TODO", ".gitignore .ignore .gitconfig"),
            ("sh c.sh; ./c.sh; ./t/c.py", ".editorconfig .shrc"),
            (
                "cargo test",
                "Cargo.lock .npmrc package.json .gitignore cargo.rs src/config.rs",
            ),
            ("python3 c.py", "package.json .eslintrc pyproject.toml"),
            ("make test", ".eslintrc make.rs makes.toml"),
            (
                "npm test",
                ".gitignore src/app.js README.md data.json npm-notes.md .github/workflows/a.yml",
            ),
            ("rg X", "rg.rs rg.md"),
            ("go test ./...", "go.sum gone.toml main.go"),
            ("ruff check .", "src/ruff.py ruff.md"),
            ("npx tsc", "tsconfig.md src/tsconfigs.json"),
            ("pip check", "notes.txt requirements.md"),
            (
                "for f in a b; do [ -f $f ] || exit 1; done",
                "package.json .xrc",
            ),
        ] {
            let tools = tools(&Code::of_check(check));
            for path in names.split_whitespace() {
                let gone_by = tools.iter().find(|tool| tool.goes_by(path));
                assert_eq!(gone_by, None, "{check}: {path}");
            }
        }
    }
}
