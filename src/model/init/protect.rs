//! Where a repository's tests are, as patterns of `protect`. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many patterns are proposed at most.
const MOST: usize = 8;
/// Folders that hold nothing but tests and what these need.
const FOLDERS: [&str; 4] = ["tests", "test", "__tests__", "Tests"];
/// How the names of tests end, by language.
const ENDS: [&str; 9] = [
    ".t",
    "_test.go",
    "_test.py",
    "_spec.rb",
    "_test.rb",
    "_test.cc",
    "_test.cpp",
    "_test.c",
    "_test.dart",
];
/// How the code ends whose tests have a word of their own before that.
const SCRIPTS: [&str; 8] = ["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts"];
/// What stands for more than itself in a pattern.
const MARKS: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
/// Folders of what others wrote.
const OTHERS: [&str; 4] = ["node_modules", "vendor", "third_party", "testdata"];

/// Returns the patterns that have the tests of these files, as far as their names tell, those with most first; what is customary if
/// nothing does. Each begins with a folder that has tests: what is installed and built elsewhere is nobody's to hold still.
pub fn tests(files: &[String]) -> Vec<String> {
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for pattern in files.iter().filter_map(|path| pattern(path)) {
        *counted.entry(pattern).or_default() += 1;
    }
    let mut found: Vec<(String, usize)> = counted.into_iter().collect();
    found.sort_by_key(|(_, count)| Reverse(*count));
    found.truncate(MOST);
    match found.is_empty() {
        true => vec!["tests/**".to_owned()],
        false => found.into_iter().map(|(pattern, _)| pattern).collect(),
    }
}

/// Returns the pattern that has a test and its like; none where a path is no test's.
fn pattern(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let (name, folders) = parts.split_last()?;
    if folders
        .iter()
        .any(|folder| OTHERS.contains(folder) || folder.starts_with('.'))
    {
        return None;
    }
    let place = folders.iter().position(|folder| FOLDERS.contains(folder));
    let top = folders.first().map(|top| literally(top));
    if let Some(place) = place {
        let folder = folders[place];
        return Some(match (place, top) {
            (0, _) | (_, None) => format!("{folder}/**"),
            (1, Some(top)) => format!("{top}/{folder}/**"),
            (_, Some(top)) => format!("{top}/**/{folder}/**"),
        });
    }
    let name = named(name)?;
    Some(match top {
        None => name,
        Some(top) => format!("{top}/**/{name}"),
    })
}

/// Returns what a pattern begins with that has a folder of this name, and no other.
fn literally(folder: &str) -> String {
    let mut pattern = String::with_capacity(folder.len());
    for letter in folder.chars() {
        // What begins with that mark is no pattern.
        let is_turned = letter == '!' && pattern.is_empty();
        if is_turned || MARKS.contains(&letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Returns the pattern for the name of a test.
fn named(name: &str) -> Option<String> {
    let end = ENDS.iter().find(|end| name.ends_with(**end));
    let by_end = end.map(|end| format!("*{end}"));
    let is_python = name.starts_with("test_") && name.ends_with(".py");
    let by_begin = || is_python.then(|| "test_*.py".to_owned());
    let by_word = || {
        let (rest, code) = name.rsplit_once('.')?;
        let (of, word) = rest.rsplit_once('.')?;
        let is_one = SCRIPTS.contains(&code) && ["test", "spec"].contains(&word) && !of.is_empty();
        is_one.then(|| format!("*.{word}.*"))
    };
    by_end.or_else(by_begin).or_else(by_word)
}

#[cfg(test)]
mod tests {
    use crate::model::yardstick::Protection;

    #[test]
    fn each_test_has_a_pattern_and_no_pattern_is_without_a_test() {
        for (files, expected) in [
            (&["src/lib.rs"][..], &["tests/**"][..]),
            (&["tests/a.rs", "tests/test_b.py"], &["tests/**"]),
            (
                &[
                    "a_test.go",
                    "b/c_test.go",
                    "b/d/e_test.go",
                    "b/d/testdata/x_test.go",
                ],
                &["b/**/*_test.go", "*_test.go"],
            ),
            (
                &[
                    "src/a.test.ts",
                    "src/b/c.test.tsx",
                    "src/__tests__/b.ts",
                    "test/e.js",
                ],
                &["src/**/*.test.*", "src/__tests__/**", "test/**"],
            ),
            (&["src/app/app.spec.ts"], &["src/**/*.spec.*"]),
            (&["t/a.t", "t/b/c.t"], &["t/**/*.t"]),
            // What a library has for the tests of others is its product.
            (&["lib/testing/assertions.py"], &["tests/**"]),
            (&["core/src/test/java/A.java"], &["core/**/test/**"]),
            (&["src/test/java/A.java"], &["src/test/**"]),
            (
                &["crates/a/tests/x.rs", "crates/b/tests/y.rs"],
                &["crates/**/tests/**"],
            ),
            (
                &["pkg/test_a.py", "pkg/b_test.py"],
                &["pkg/**/*_test.py", "pkg/**/test_*.py"],
            ),
            (
                &["[id]/a.test.ts", "a{b}/tests/x.sh", "p*q/c/test/x"],
                &[
                    r"\[id\]/**/*.test.*",
                    r"a\{b\}/tests/**",
                    r"p\*q/**/test/**",
                ],
            ),
            (
                &[r#"we"ird/tests/x"#, r"back\slash/tests/x", "!a/tests/x"],
                &[
                    r"\!a/tests/**",
                    r"back\\slash/tests/**",
                    r#"we"ird/tests/**"#,
                ],
            ),
            (
                &[
                    "spec/openapi.yaml",
                    ".env.test.local",
                    "config.test.json",
                    "vendor/a/tests/b.c",
                ],
                &["tests/**"],
            ),
        ] {
            let files: Vec<String> = files.iter().map(|it| (*it).to_owned()).collect();
            let found = super::tests(&files);
            assert_eq!(found, expected, "{files:?}");
            let protection = Protection::of(&found);
            let is_test = |path: &&String| super::pattern(path).is_some();
            for path in files.iter().filter(is_test) {
                assert!(protection.is_match(path), "{path} {found:?}");
            }
            for made in [
                "dist/a.test.js",
                "node_modules/a/test/b.js",
                ".venv/lib/test_a.py",
                "i/a.test.ts",
                "pq/c/test/x",
            ] {
                assert!(!protection.is_match(made), "{made} {found:?}");
            }
        }
    }
}
