//! Packages of a repository's own that settings take by their names, as workspaces of Node's have them: `"extends": "@own/tsconfig/base.json"`,
//! `require("eslint-plugin-own")`. Pure.

use serde_json::Value;

use super::loads::{is_settings, of_keys};
use super::path::{LONGEST, join};
use super::tasks::Used;

/// Where workspaces keep packages.
const FOLDERS: &[&str] = &[
    "config", "configs", "internal", "libs", "packages", "shared", "tooling", "tools",
];
/// How many names of one file are looked for.
const MOST: usize = 128;

/// Returns the files that settings take by the name of a package of the repository's own, and patterns of all that such a package holds
/// where no file of it is named. `read` returns what stands in a file of the repository.
pub fn of_packages(used: &Used, text: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    if !is_settings(used) {
        return Vec::new();
    }
    let mut names = quoted(text);
    names.extend(of_keys(text));
    names.retain(|name| may_be_package(name));
    names.sort_unstable();
    names.dedup();
    let places = names.into_iter().take(MOST).flat_map(|name| {
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

/// Returns the strings in a text.
fn quoted(text: &str) -> Vec<&str> {
    let lines = text.lines();
    let parts = lines.flat_map(|line| line.split(['"', '\'', '`']).skip(1).step_by(2));
    parts.collect()
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
        ] {
            let found = of_packages(&Used::of(file.to_owned()), text, &read);
            assert_eq!(found.join(" "), expected, "{file}");
        }
    }
}
