//! Where a repository's tests are, as patterns of `protect`. Pure.

/// Patterns, each with what says whether a path is one of its.
const TESTS: [(&str, fn(&str) -> bool); 8] = [
    ("tests/**", |path| path.starts_with("tests/")),
    ("test/**", |path| path.starts_with("test/")),
    ("spec/**", |path| path.starts_with("spec/")),
    ("**/src/test/**", |path| {
        format!("/{path}").contains("/src/test/")
    }),
    ("**/__tests__/**", |path| {
        format!("/{path}").contains("/__tests__/")
    }),
    ("**/*_test.go", |path| path.ends_with("_test.go")),
    ("**/*.test.*", |path| name(path).contains(".test.")),
    ("**/test_*.py", |path| {
        name(path).starts_with("test_") && path.ends_with(".py")
    }),
];

/// Returns the patterns that have the tests of these files, as far as their names tell, none within another; what is customary if
/// nothing does.
pub fn tests(files: &[String]) -> Vec<String> {
    let mut found: Vec<usize> = Vec::new();
    for path in files {
        // The first that has it stands for it.
        let first = TESTS.iter().position(|(_, is_test)| is_test(path));
        found.extend(first.filter(|at| !found.contains(at)));
    }
    found.sort_unstable();
    match found.is_empty() {
        true => vec!["tests/**".to_owned()],
        false => found.iter().map(|at| TESTS[*at].0.to_owned()).collect(),
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_a_pattern_and_no_pattern_is_without_a_test() {
        for (files, expected) in [
            (&["src/lib.rs"][..], &["tests/**"][..]),
            (&["tests/a.rs", "tests/test_b.py"], &["tests/**"]),
            (&["a_test.go", "b/c_test.go"], &["**/*_test.go"]),
            (
                &["src/a.test.ts", "src/__tests__/b.test.ts", "test/e.js"],
                &["test/**", "**/__tests__/**", "**/*.test.*"],
            ),
            (&["core/src/test/java/A.java"], &["**/src/test/**"]),
            (
                &["pkg/test_a.py", "test_b.py", "pkg/test_data.txt"],
                &["**/test_*.py"],
            ),
        ] {
            let files: Vec<String> = files.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(super::tests(&files), expected, "{files:?}");
        }
    }

    #[test]
    fn the_patterns_have_what_they_stand_for() {
        let paths = [
            "tests/a.rs",
            "test/a/b.js",
            "spec/a.rb",
            "src/test/A.java",
            "a/__tests__/b.ts",
            "a/b_test.go",
            "a.test.ts",
            "test_a.py",
        ];
        for (path, (pattern, is_test)) in paths.iter().zip(TESTS) {
            let protection = crate::model::yardstick::Protection::of(&[pattern.to_owned()]);
            assert!(
                is_test(path) && protection.is_match(path),
                "{pattern} {path}"
            );
        }
    }
}
