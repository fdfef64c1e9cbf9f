//! Linters that are set up by a configuration of their own, in the root: one line of a table each. Those that come with packages of
//! Node's are run from there. Pure.

use std::collections::BTreeSet;

use super::called::Task;
use super::node::Package;
use super::offer::{Proposal, Role};
use super::tasks::{TaskFiles, held};
use super::writers;
use super::{Found, Look, first_of, has, is_own, join, split};
use crate::model::sweep::linters::{NOT_OWN, SHELL_ENDINGS, is_shell};
use crate::model::text;

/// How many shell scripts are named at most.
const MOST_SCRIPTS: usize = 500;
/// What would look at the goals file, too.
pub(super) const YAMLLINT: &str = "yamllint";
/// Files without an ending that are no scripts.
const NO_SCRIPTS: [&str; 6] = [
    "Dockerfile",
    "GNUmakefile",
    "LICENSE",
    "Makefile",
    "justfile",
    "makefile",
];

/// A linter that is a program on the PATH.
struct Linter {
    role: Role,
    id: &'static str,
    says: &'static str,
    program: &'static str,
    check: &'static str,
    configs: &'static [&'static str],
    install: &'static str,
}

/// One that is called for the whole repository.
const LINTERS: &[Linter] = &[
    Linter {
        role: Role::Style,
        id: "typos-clean",
        says: "Words are spelled right",
        program: "typos",
        check: "typos",
        configs: &["typos.toml", "_typos.toml", ".typos.toml"],
        install: "cargo install --locked typos-cli",
    },
    Linter {
        role: Role::Style,
        id: "codespell-clean",
        says: "Words are spelled right",
        program: "codespell",
        check: "codespell",
        configs: &[".codespellrc"],
        install: "pip install codespell",
    },
    Linter {
        role: Role::Style,
        id: "yamllint-clean",
        says: "yamllint finds nothing",
        program: YAMLLINT,
        check: "yamllint .",
        configs: &[".yamllint", ".yamllint.yml", ".yamllint.yaml"],
        install: "pip install yamllint",
    },
    Linter {
        role: Role::Style,
        id: "editorconfig-followed",
        says: "Every file follows .editorconfig",
        program: "editorconfig-checker",
        check: "editorconfig-checker",
        configs: &[".editorconfig-checker.json", ".ecrc"],
        install: "see https://editorconfig-checker.github.io",
    },
    Linter {
        role: Role::Format,
        id: "toml-formatted",
        says: "Every TOML file is formatted",
        program: "taplo",
        check: "taplo fmt --check",
        configs: &["taplo.toml", ".taplo.toml"],
        install: "cargo install --locked taplo-cli",
    },
    Linter {
        role: Role::Docs,
        id: "prose-clean",
        says: "Vale finds nothing in the prose",
        program: "vale",
        check: "vale .",
        configs: &[".vale.ini"],
        install: "see https://vale.sh",
    },
    Linter {
        role: Role::Lint,
        id: "workflows-clean",
        says: "actionlint finds nothing in the workflows",
        program: "actionlint",
        check: "actionlint",
        configs: &[".github/actionlint.yaml", ".github/actionlint.yml"],
        install: "see https://github.com/rhysd/actionlint",
    },
    Linter {
        role: Role::Lint,
        id: "protos-clean",
        says: "buf finds nothing in the protocol files",
        program: "buf",
        check: "buf lint",
        configs: &["buf.yaml"],
        install: "see https://buf.build/docs/installation",
    },
    Linter {
        role: Role::Lint,
        id: "rubocop-clean",
        says: "RuboCop finds nothing",
        program: "rubocop",
        check: "rubocop",
        configs: &[".rubocop.yml"],
        install: "gem install rubocop",
    },
];
/// Files by which a linter is one of a project's packages, and no program on the PATH.
const OF_PACKAGES: [(&str, &str); 1] = [("rubocop", "Gemfile")];

/// A linter that comes with packages of Node's.
struct Packaged {
    role: Role,
    id: &'static str,
    says: &'static str,
    command: &'static str,
    /// The folder's files, or `package.json#KEY`.
    configs: &'static [&'static str],
}

const PACKAGED: &[Packaged] = &[
    Packaged {
        role: Role::Lint,
        id: "eslint-clean",
        says: "ESLint finds nothing",
        command: "eslint .",
        configs: &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".eslintrc.yaml",
            "package.json#eslintConfig",
        ],
    },
    Packaged {
        role: Role::Lint,
        id: "biome-clean",
        says: "Biome finds nothing",
        command: "biome check .",
        configs: &["biome.json", "biome.jsonc"],
    },
    Packaged {
        role: Role::Lint,
        id: "stylelint-clean",
        says: "Stylelint finds nothing",
        command: "stylelint --allow-empty-input '**/*.{css,scss}'",
        configs: &[
            ".stylelintrc",
            ".stylelintrc.json",
            ".stylelintrc.yml",
            ".stylelintrc.yaml",
            ".stylelintrc.js",
            ".stylelintrc.cjs",
            ".stylelintrc.mjs",
            "stylelint.config.js",
            "stylelint.config.cjs",
            "stylelint.config.mjs",
            "package.json#stylelint",
        ],
    },
    Packaged {
        role: Role::Format,
        id: "prettier-clean",
        says: "Every file is formatted by Prettier",
        command: "prettier --check .",
        configs: &[
            ".prettierrc",
            ".prettierrc.json",
            ".prettierrc.yml",
            ".prettierrc.yaml",
            ".prettierrc.js",
            ".prettierrc.cjs",
            ".prettierrc.mjs",
            ".prettierrc.toml",
            "prettier.config.js",
            "prettier.config.cjs",
            "prettier.config.mjs",
            "package.json#prettier",
        ],
    },
    Packaged {
        role: Role::Style,
        id: "spelling-clean",
        says: "Words are spelled right",
        command: "cspell --no-progress .",
        configs: &["cspell.json", ".cspell.json", "cspell.config.yaml"],
    },
];

const MARKDOWN: [&str; 7] = [
    ".markdownlint.json",
    ".markdownlint.jsonc",
    ".markdownlint.yaml",
    ".markdownlint.yml",
    ".markdownlint-cli2.jsonc",
    ".markdownlint-cli2.yaml",
    ".markdownlintrc",
];

/// Proposes each linter that is set up here.
pub(super) fn propose(look: &dyn Look, packages: &[Package], tasks: &TaskFiles, found: &mut Found) {
    let is_of_package = |linter: &&Linter| {
        let mut all = OF_PACKAGES.iter();
        all.any(|(program, file)| *program == linter.program && has(look, file))
    };
    for linter in LINTERS.iter().filter(|linter| !is_of_package(linter)) {
        if let Some(file) = first_of(look, "", linter.configs) {
            found.is_yamllinted |= linter.program == YAMLLINT;
            found.proposals.push(
                Proposal::new(linter.role, linter.id, "", linter.check)
                    .says(linter.says)
                    .seen_in(file)
                    .same_as(&[linter.program])
                    .needs(look, linter.program, linter.install),
            );
        }
    }
    for package in packages {
        for linter in PACKAGED {
            found.proposals.extend(packaged(look, package, linter));
        }
    }
    found.proposals.extend(markdown(look, packages));
    found.proposals.extend(shell(look));
    found.proposals.extend(docker(look));
    found.proposals.extend(c_format(look));
    hooks(look, tasks, found);
}

/// Proposes the hooks of pre-commit, if they only look; where nobody knows what one of them does, for later.
fn hooks(look: &dyn Look, tasks: &TaskFiles, found: &mut Found) {
    let shared = first_of(
        look,
        "",
        &[".pre-commit-config.yaml", ".pre-commit-config.yml"],
    );
    // The one reads its own file before that of both.
    let own = first_of(look, "", &["prek.toml"]);
    let is_prek = match (own, shared) {
        (Some(_), Some(_)) => look.finds("prek") || !look.finds("pre-commit"),
        (Some(_), None) => true,
        (None, _) => !look.finds("pre-commit") && look.finds("prek"),
    };
    let (program, file) = match is_prek {
        true => ("prek", own.or(shared)),
        false => ("pre-commit", shared),
    };
    let Some(file) = file else { return };
    let text = look.read(file).unwrap_or_default();
    found.is_yamllinted |= text.contains(YAMLLINT);
    let call = format!("{program} run --all-files");
    let texts_of = |task: &Task| tasks.texts_of("", task);
    if let Some(why) = writers::of_commands(&call, &texts_of) {
        found.leave_out(format!("{file}: {why}"));
        return;
    }
    let goal = Proposal::new(Role::Lint, "hooks-pass", "", &call)
        .says("The hooks of pre-commit find nothing")
        .seen_in(file)
        .same_as(&["pre-commit run", "prek run"])
        .needs(look, program, &format!("pip install {program}"));
    found.proposals.push(held(tasks, goal));
}

/// Proposes a linter of a project of Node's, unless one of its scripts calls it.
fn packaged(look: &dyn Look, package: &Package, linter: &Packaged) -> Option<Proposal> {
    let program = linter.command.split(' ').next().unwrap_or_default();
    let config = linter
        .configs
        .iter()
        .find(|config| match config.split_once('#') {
            Some((_, key)) => package.json.get(key).is_some(),
            None => has(look, &join(&package.home, config)),
        })?;
    if package.calls(program) && !calls_only_to_change(package, program) {
        return None;
    }
    let goal = package.runs(look, linter.role, linter.id, linter.command);
    Some(goal.says(linter.says).seen_in(join(&package.home, config)))
}

/// Says whether all scripts that call a program have it change files, so that none of them is a goal.
fn calls_only_to_change(package: &Package, program: &str) -> bool {
    let scripts = package
        .json
        .get("scripts")
        .and_then(serde_json::Value::as_object);
    let texts = scripts
        .into_iter()
        .flatten()
        .filter_map(|(_, text)| text.as_str());
    let mut calling = texts.filter(|text| text.contains(program));
    calling.all(|text| text.contains("--fix") || text.contains("--write"))
}

fn markdown(look: &dyn Look, packages: &[Package]) -> Option<Proposal> {
    let file = first_of(look, "", &MARKDOWN)?;
    let (role, id) = (Role::Docs, "markdown-clean");
    let is_2 = file.contains("cli2");
    let (program, check) = match is_2 || look.finds("markdownlint-cli2") {
        true => (
            "markdownlint-cli2",
            "markdownlint-cli2 '**/*.md' '#node_modules' '#.git'",
        ),
        false => ("markdownlint", "markdownlint --ignore node_modules ."),
    };
    let root = packages.iter().find(|package| package.home.is_empty());
    if root.is_some_and(|root| root.calls("markdownlint")) {
        return None;
    }
    let owner = root.filter(|root| root.depends_on(program) || root.depends_on("markdownlint-cli"));
    let goal = match owner {
        Some(root) => root.runs(look, role, id, check),
        None => Proposal::new(role, id, "", check).needs(
            look,
            program,
            "npm install --global markdownlint-cli2",
        ),
    };
    Some(
        goal.says("markdownlint finds nothing")
            .seen_in(file)
            .same_as(&["markdownlint"]),
    )
}

/// Proposes shellcheck for the scripts that a sweep has it look at: by their endings, and by their first lines.
fn shell(look: &dyn Look) -> Option<Proposal> {
    let first = |path: &str| look.read(path).unwrap_or_default();
    let is_script = |path: &&String| {
        !NO_SCRIPTS.contains(&split(path).1) && is_shell(path, &|| look.is_executable(path), &first)
    };
    let all: Vec<&String> = look
        .files()
        .iter()
        .filter(is_script)
        .take(MOST_SCRIPTS)
        .collect();
    let count = all.iter().filter(|path| is_own(path)).count();
    let source = match first_of(look, "", &[".shellcheckrc", "shellcheckrc"]) {
        Some(file) => file.to_owned(),
        None if count > 0 => text_of(count),
        None => return None,
    };
    let ending = |path: &str| {
        let ending = split(path).1.rsplit_once('.').map(|(_, ending)| ending);
        let mut endings = SHELL_ENDINGS.into_iter();
        endings.find(|it| ending == Some(it))
    };
    let (others, own): (Vec<&str>, Vec<&str>) = all
        .iter()
        .map(|path| path.as_str())
        .partition(|path| is_of_others(path).is_some());
    let mut endings = vec!["sh", "bash"];
    let more: BTreeSet<&str> = own.iter().filter_map(|path| ending(path)).collect();
    endings.extend(more.into_iter().filter(|it| !matches!(*it, "sh" | "bash")));
    let folders = others.iter().filter(|path| ending(path).is_some());
    let folders: BTreeSet<String> = folders.filter_map(|path| is_of_others(path)).collect();
    let without = own.iter().filter(|path| ending(path).is_none());
    let paths = endings
        .iter()
        .map(|ending| format!("'*.{ending}'"))
        .chain(without.map(text::shell_word))
        .chain(
            folders
                .iter()
                .map(|it| format!("':(exclude,glob)**/{it}/**'")),
        );
    let check = format!(
        "git ls-files -z -- {} | xargs -0 shellcheck",
        paths.collect::<Vec<_>>().join(" ")
    );
    (count > 0).then(|| {
        Proposal::new(Role::Lint, "shellcheck-clean", "", check)
            .says("shellcheck finds nothing")
            .seen_in(source)
            .same_as(&["shellcheck"])
            .needs(look, "shellcheck", "see https://www.shellcheck.net")
    })
}

fn text_of(count: usize) -> String {
    text::count(count, "shell script")
}

/// Returns the folder of the path in which things of others lie, if there is one.
fn is_of_others(path: &str) -> Option<String> {
    let mut parts = path.split('/');
    parts.find(|part| NOT_OWN.contains(part)).map(str::to_owned)
}

/// The ends of the names of files in C and C++.
const C_ENDINGS: [&str; 7] = ["c", "cc", "cpp", "cxx", "h", "hh", "hpp"];

/// Proposes clang-format where it is configured, for the project's own files.
fn c_format(look: &dyn Look) -> Option<Proposal> {
    let config = first_of(look, "", &[".clang-format", "_clang-format"])?;
    let ending = |path: &str| {
        let (_, ending) = split(path).1.rsplit_once('.')?;
        C_ENDINGS.into_iter().find(|it| *it == ending)
    };
    let files = look.files().iter();
    let files = files.filter_map(|path| Some((ending(path)?, is_of_others(path))));
    let (others, own): (Vec<_>, Vec<_>) = files.partition(|(_, others)| others.is_some());
    let endings: BTreeSet<&str> = own.into_iter().map(|(ending, _)| ending).collect();
    if endings.is_empty() {
        return None;
    }
    let folders: BTreeSet<String> = others
        .into_iter()
        .filter_map(|(_, others)| others)
        .collect();
    let paths = endings.iter().map(|ending| format!("'*.{ending}'")).chain(
        folders
            .iter()
            .map(|it| format!("':(exclude,glob)**/{it}/**'")),
    );
    let check = format!(
        "git ls-files -z -- {} | xargs -0 clang-format --dry-run --Werror",
        paths.collect::<Vec<_>>().join(" ")
    );
    Some(
        Proposal::new(Role::Format, "clang-format-clean", "", check)
            .says("Every file in C and C++ is formatted by clang-format")
            .seen_in(config)
            .same_as(&["clang-format"])
            .needs(
                look,
                "clang-format",
                "install it with your system's packages",
            ),
    )
}

/// Proposes hadolint where it is configured.
fn docker(look: &dyn Look) -> Option<Proposal> {
    let config = first_of(look, "", &[".hadolint.yaml", ".hadolint.yml"])?;
    let is_file = |path: &&String| split(path).1 == "Dockerfile" || path.ends_with(".dockerfile");
    look.files().iter().find(is_file)?;
    let check = "git ls-files -z -- '*Dockerfile' '*.dockerfile' | xargs -0 hadolint";
    Some(
        Proposal::new(Role::Lint, "dockerfiles-clean", "", check)
            .says("hadolint finds nothing")
            .seen_in(config)
            .same_as(&["hadolint"])
            .needs(look, "hadolint", "see https://github.com/hadolint/hadolint"),
    )
}
