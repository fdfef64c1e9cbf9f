//! Packages of a repository's own that settings take by their names, as workspaces of Node's have them: `"extends": "@own/tsconfig/base.json"`,
//! `require("eslint-plugin-own")`. What is the product there has its name in settings, too: among the dependencies, in aliases and paths, in
//! what a bundler takes along. So only what is loaded counts: the values of keys that load, and what code imports. Pure.

use serde_json::Value;

use super::loads::{Form, form, keys_of_packages, values};
use super::modules::quoted;
use super::path::{LONGEST, join};
use super::tasks::Used;

/// Where workspaces keep packages.
const FOLDERS: &[&str] = &[
    "config", "configs", "internal", "libs", "packages", "shared", "tooling", "tools",
];
/// How many names of one file are looked for.
const MOST: usize = 128;
/// What in a package.json are no settings of a tool: what a package is, has, needs and offers.
const OF_NPM: &[&str] = &[
    "bin",
    "browser",
    "catalog",
    "catalogs",
    "config",
    "dependencies",
    "dependenciesMeta",
    "devDependencies",
    "directories",
    "engines",
    "exports",
    "imports",
    "optionalDependencies",
    "overrides",
    "peerDependencies",
    "peerDependenciesMeta",
    "pnpm",
    "publishConfig",
    "resolutions",
    "scripts",
    "typesVersions",
    "workspaces",
];
/// Files in which a package manager notes what it installed.
const LOCKS: &[&str] = &["npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml"];
/// What stands before the name of a module that code loads.
const IMPORTS: &[&str] = &[
    "from ",
    "import ",
    "import(",
    "require(",
    "require.resolve(",
];

/// Returns the files that settings take by the name of a package of the repository's own, and patterns of all that such a package holds
/// where no file of it is named. `read` returns what stands in a file of the repository.
pub fn of_packages(used: &Used, text: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut names = names(used, text);
    names.retain(|name| may_be_package(name));
    names.sort_unstable();
    names.dedup();
    let places = names.iter().take(MOST).flat_map(|name| {
        let (package, rest) = parts(name);
        let folder = package.rsplit('/').next().unwrap_or(package);
        let folders = FOLDERS
            .iter()
            .map(move |within| format!("{within}/{folder}"));
        let own = folders.filter(move |place| {
            let manifest = read(&format!("{place}/package.json"));
            manifest.is_some_and(|text| is_called(&text, package))
        });
        own.flat_map(move |place| match rest {
            "" => vec![format!("{place}/**")],
            rest => ["", ".json", ".js"]
                .iter()
                .filter_map(|end| join(&place, &format!("{rest}{end}")))
                .collect(),
        })
    });
    places.collect()
}

/// Returns the words that may be names of packages which a file of settings loads.
fn names(used: &Used, text: &str) -> Vec<String> {
    let name = used.file.rsplit('/').next().unwrap_or(&used.file);
    let by_keys = || keys_of_packages().flat_map(|key| values(text, key));
    let words: Vec<&str> = match form(used) {
        Some(Form::Package) => return of_manifest(text),
        Some(Form::Keyed) if LOCKS.contains(&name) => Vec::new(),
        // Those of Prettier may be nothing but the name of others.
        Some(Form::Keyed) => by_keys().chain([text.trim().trim_matches('"')]).collect(),
        Some(Form::Script) => {
            let imported = text.lines().flat_map(|line| quoted(line, IMPORTS));
            by_keys().chain(imported).collect()
        }
        Some(Form::Python | Form::Cargo | Form::Gradle | Form::Xml) | None => Vec::new(),
    };
    words.into_iter().map(str::to_owned).collect()
}

/// Returns what the settings of tools in a package.json load.
fn of_manifest(text: &str) -> Vec<String> {
    let Ok(Value::Object(manifest)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, value) in &manifest {
        match value {
            Value::String(name) if key == "prettier" => found.push(name.clone()),
            _ if OF_NPM.contains(&key.as_str()) => {}
            _ => gather(value, false, &mut found),
        }
    }
    found
}

/// Gathers the strings behind keys that load.
fn gather(value: &Value, is_loaded: bool, found: &mut Vec<String>) {
    match value {
        Value::String(name) if is_loaded => found.push(name.clone()),
        Value::Array(values) => {
            for value in values {
                gather(value, is_loaded, found);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_key = keys_of_packages().any(|known| known == key);
                gather(value, is_loaded || is_key, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the name of a package, and what of it is meant.
fn parts(name: &str) -> (&str, &str) {
    let slashes = if name.starts_with('@') { 2 } else { 1 };
    match name.match_indices('/').nth(slashes - 1) {
        Some((at, _)) => (&name[..at], &name[at + 1..]),
        None => (name, ""),
    }
}

fn may_be_package(name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
    (2..LONGEST).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
        && name.chars().all(is_of_name)
        && !name.contains("..")
}

fn is_called(manifest: &str, package: &str) -> bool {
    let manifest: Option<Value> = serde_json::from_str(manifest).ok();
    manifest.is_some_and(|it| it.get("name").and_then(Value::as_str) == Some(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_repository_are_found_by_their_names() {
        let read = |path: &str| {
            let name = match path {
                "packages/tsconfig/package.json" => "@own/tsconfig",
                "tools/eslint-plugin-own/package.json" => "eslint-plugin-own",
                "packages/parser/package.json" => "@own/parser",
                "packages/app/package.json" => "@own/app",
                "packages/lib/package.json" => "lib",
                _ => return None,
            };
            Some(format!("{{\"name\": \"{name}\"}}"))
        };
        for (file, text, expected) in [
            (
                "tsconfig.json",
                r#"{"extends": "@own/tsconfig/base"}"#,
                "packages/tsconfig/base packages/tsconfig/base.json packages/tsconfig/base.js",
            ),
            (
                "eslint.config.js",
                "const own = require('eslint-plugin-own'); const p = require(\"@typescript-eslint/parser\");",
                "tools/eslint-plugin-own/**",
            ),
            (
                ".eslintrc.yml",
                "extends:\n  - '@own/tsconfig'\n",
                "packages/tsconfig/**",
            ),
            ("src/app.js", "require('eslint-plugin-own')", ""),
            (
                "packages/app/package.json",
                r#"{"name": "@own/app", "prettier": "@own/tsconfig", "jest": {"preset": "@own/parser"}, "dependencies": {"lib": "*"}}"#,
                "packages/parser/** packages/tsconfig/**",
            ),
            (
                "package.json",
                r#"{"eslintConfig": {"overrides": [{"plugins": ["eslint-plugin-own"], "files": ["lib"]}]}}"#,
                "tools/eslint-plugin-own/**",
            ),
            (
                ".prettierrc.json",
                "\"@own/tsconfig\"\n",
                "packages/tsconfig/**",
            ),
            (
                "vitest.config.ts",
                "import {own} from '@own/parser'\nexport default {test: {setupFiles: ['@own/tsconfig']}}",
                "packages/parser/** packages/tsconfig/**",
            ),
        ] {
            let found = of_packages(&Used::of(file.to_owned()), text, &read);
            assert_eq!(found.join(" "), expected, "{file}");
        }
    }

    #[test]
    fn packages_that_settings_do_not_load_are_the_product() {
        let read = |path: &str| {
            let is_there = path == "packages/lib/package.json";
            is_there.then(|| r#"{"name": "lib"}"#.to_owned())
        };
        for (file, text) in [
            ("package.json", r#"{"name": "lib", "workspaces": ["lib"]}"#),
            (
                "package.json",
                r#"{"dependencies": {"config": "lib"}, "scripts": {"require": "lib"}, "main": "lib"}"#,
            ),
            (
                "package.json",
                r#"{"jest": {"moduleNameMapper": {"x": "lib"}, "roots": ["lib"]}}"#,
            ),
            ("package.json", r#"{"eslintConfig": {"extends": "lib""#),
            (
                "package-lock.json",
                r#"{"packages": {"node_modules/extend": {"dependencies": {"lib": "1"}}}}"#,
            ),
            (
                "tsconfig.json",
                r#"{"compilerOptions": {"paths": {"lib": ["./lib"]}}, "references": [{"path": "lib"}]}"#,
            ),
            (
                ".eslintrc.json",
                r#"{"rules": {"no-restricted-imports": ["error", "lib"]}}"#,
            ),
            (
                "vite.config.ts",
                "export default {resolve: {alias: {'lib': './x'}}, optimizeDeps: {include: ['lib']}}",
            ),
            ("pnpm-workspace.yaml", "packages:\n  - 'lib'\n"),
        ] {
            let found = of_packages(&Used::of(file.to_owned()), text, &read);
            assert_eq!(found.join(" "), "", "{file}: {text}");
        }
    }
}
