//! What a slot is given beside the commit that it is on: ignored paths that are lent to it, and a command that makes it
//! ready. Pure.

use serde::{Deserialize, Serialize};

use crate::model::digest;
use crate::model::ledger;

/// Files that say what a build needs; a slot is made ready again when one of them changes.
const INPUTS: [&str; 35] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "go.mod",
    "go.sum",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    "environment.yml",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "mix.exs",
    "mix.lock",
    "build.gradle",
    "build.gradle.kts",
    "pom.xml",
    "flake.nix",
    "flake.lock",
    ".tool-versions",
];

/// What a slot is given beside its commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provisions {
    /// Ignored paths of the user's checkout that are lent to it.
    pub link: Vec<String>,
    /// The command that makes it ready.
    pub prepare: Option<String>,
}

/// Returns a path that can be lent, without a slash at its end; else says why it cannot.
pub fn lendable(path: &str) -> Result<String, &'static str> {
    let path = path.trim().trim_end_matches('/');
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.starts_with('/') {
        return Err("is not relative to the root");
    }
    if path.is_empty() || path == "." {
        return Err("is the whole repository");
    }
    if path.chars().any(char::is_control) {
        return Err("has a control character in it");
    }
    if path.split('/').any(|part| part == ".." || part.is_empty()) {
        return Err("leads out of the repository");
    }
    if path
        .split('/')
        .any(|part| part.eq_ignore_ascii_case(".git"))
    {
        return Err("is git's own");
    }
    if path == ".agents" || path == ".agents/evolve" || ledger::is_ledger_path(path.as_bytes()) {
        return Err("is evolve's own");
    }
    Ok(path.to_owned())
}

/// Returns a pattern for git's excludes that fits this path alone.
pub fn pattern(path: &str) -> String {
    let mut pattern = String::from("/");
    for letter in path.chars() {
        if "\\*?[]#! ".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Says whether a file, by its path, says what a build needs.
pub fn is_input(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_requirements = name.starts_with("requirements") && name.ends_with(".txt");
    INPUTS.contains(&name) || is_requirements
}

/// Returns the digest of what a `prepare` command depends on: the command itself, the tracked files that it names, the files
/// that say what a build needs, wherever they lie, and the commits of submodules. `files` and `modules` list what is tracked, with
/// the ids.
pub fn inputs<'a>(
    command: &str,
    files: impl Iterator<Item = (&'a str, &'a str)>,
    modules: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let words: Vec<&str> = command
        .split(|letter: char| letter.is_whitespace() || "\"';&|()<>".contains(letter))
        .map(|word| word.strip_prefix("./").unwrap_or(word))
        .collect();
    let counts = |path: &str| is_input(path) || words.contains(&path);
    let mut parts = vec![command];
    for (path, id) in files.filter(|(path, _)| counts(path)).chain(modules) {
        parts.extend([path, id]);
    }
    digest::full(parts.join("\0").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_root_that_are_nobodys_own_are_lent() {
        for (path, expected) in [
            ("node_modules", Ok("node_modules")),
            ("./target/", Ok("target")),
            ("a b/.env", Ok("a b/.env")),
            ("/etc/passwd", Err("is not relative to the root")),
            ("../other", Err("leads out of the repository")),
            ("a/../b", Err("leads out of the repository")),
            ("a//b", Err("leads out of the repository")),
            ("./", Err("is the whole repository")),
            ("", Err("is the whole repository")),
            (".git/config", Err("is git's own")),
            ("sub/.GIT", Err("is git's own")),
            (".agents/evolve", Err("is evolve's own")),
            (".agents/evolve/STOP", Err("is evolve's own")),
            ("a\nb", Err("has a control character in it")),
        ] {
            assert_eq!(lendable(path), expected.map(str::to_owned), "{path:?}");
        }
    }

    #[test]
    fn a_slot_is_made_ready_again_when_what_it_was_made_from_changes() {
        let tree = |[lock, script, code, module]: [&'static str; 4]| {
            let files = [
                ("web/package-lock.json", lock),
                ("scripts/setup.sh", script),
                ("src/main.js", code),
            ];
            let modules = [("vendor/lib", module)];
            inputs(
                "npm ci && sh ./scripts/setup.sh",
                files.into_iter(),
                modules.into_iter(),
            )
        };
        let now = tree(["1", "1", "1", "1"]);
        assert_eq!(now, tree(["1", "1", "2", "1"]));
        assert_ne!(now, tree(["2", "1", "1", "1"]));
        assert_ne!(now, tree(["1", "2", "1", "1"]));
        assert_ne!(now, tree(["1", "1", "1", "2"]));
        let none = std::iter::empty;
        assert_ne!(now, inputs("npm ci", none(), none()));
    }

    #[test]
    fn a_pattern_fits_its_path_alone() {
        assert_eq!(pattern("a b/[x]*"), "/a\\ b/\\[x\\]\\*");
    }
}
