//! Folders that tools fill, and that git had better not look at. Pure.

/// What they are called, whoever makes them.
const NAMES: [&str; 16] = [
    "target",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".next",
    "dist",
    "build",
    "coverage",
    "htmlcov",
    "out",
];

/// Returns those of the folders that git neither tracks nor ignores that tools fill, as lines for .gitignore. Each of `untracked` ends
/// with a slash where it is a folder.
pub fn unignored(untracked: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for folder in untracked.iter().filter_map(|path| path.strip_suffix('/')) {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        // Those of Python are everywhere.
        let line = match name.starts_with("__") || name.ends_with("_cache") {
            true => format!("{name}/"),
            false => format!("{folder}/"),
        };
        if NAMES.contains(&name) && !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

/// Says whether a path lies in such a folder.
pub fn is_of_tools(path: &str) -> bool {
    let folders = path.rsplit('/').skip(1);
    folders.into_iter().any(|name| NAMES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_tools_fill_are_lines_for_gitignore() {
        let listed = [
            "target/",
            "Cargo.lock",
            "target",
            "a/__pycache__/",
            "b/__pycache__/",
            "web/node_modules/",
            "src/",
        ];
        let lines = unignored(&listed.map(str::to_owned));
        assert_eq!(lines, ["target/", "__pycache__/", "web/node_modules/"]);
    }

    #[test]
    fn a_file_is_of_tools_below_a_folder_that_they_fill() {
        for (path, expected) in [
            ("target/debug/app", true),
            ("web/node_modules/a.js", true),
            ("target", false),
            ("src/main.c", false),
        ] {
            assert_eq!(is_of_tools(path), expected, "{path}");
        }
    }
}
