//! What a copy of the repository lacks, told so that what matters stands first. Pure.

use std::collections::BTreeSet;

/// Programs that need a folder which git ignores.
const NEEDED_BY: [(&str, &str); 9] = [
    ("npm", "node_modules"),
    ("npx", "node_modules"),
    ("pnpm", "node_modules"),
    ("yarn", "node_modules"),
    ("bun", "node_modules"),
    ("node", "node_modules"),
    ("uv", ".venv"),
    ("poetry", ".venv"),
    ("pdm", ".venv"),
];

/// Folds paths to the topmost folders in which nothing is tracked. Folders end with a slash.
pub fn folded(paths: &[String], is_tracked: &dyn Fn(&str) -> bool) -> Vec<String> {
    let fold = |path: &String| {
        let mut ends = path.match_indices('/').map(|(end, _)| end);
        match ends.find(|end| !is_tracked(&path[..*end])) {
            Some(end) => path[..=end].to_owned(),
            None => path.clone(),
        }
    };
    let tops: BTreeSet<String> = paths.iter().map(fold).collect();
    tops.into_iter().collect()
}

/// Puts what these commands name or call before the rest. `has_program` says whether a folder has a program of this name.
pub fn named_first(
    paths: Vec<String>,
    commands: &[&str],
    has_program: &dyn Fn(&str, &str) -> bool,
) -> Vec<String> {
    let words: BTreeSet<&str> = commands
        .iter()
        .flat_map(|command| {
            command.split(|c: char| c.is_whitespace() || "\"'`$=;&|()<>:,".contains(c))
        })
        .filter(|word| !word.is_empty())
        .collect();
    let is_named = |path: &String| {
        let top = path.trim_end_matches('/');
        let name = top.rsplit('/').next().unwrap_or(top);
        words.iter().any(|word| {
            let word = word.trim_start_matches("./");
            let is_below = word
                .strip_prefix(top)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            is_below || NEEDED_BY.contains(&(word, name)) || has_program(top, word)
        })
    };
    let (mut named, rest): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_named);
    named.extend(rest);
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn what_lies_in_a_folder_without_tracked_files_is_the_folder() {
        let paths = owned(&[
            ".mypy_cache/.gitignore",
            ".mypy_cache/3.11/",
            ".venv/",
            "src/calc.egg-info/",
            "src/new/a/b",
            ".env",
            "src/x.log",
        ]);
        let told = folded(&paths, &|folder| folder == "src");
        let expected = [
            ".env",
            ".mypy_cache/",
            ".venv/",
            "src/calc.egg-info/",
            "src/new/",
            "src/x.log",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_commands_name_or_call_stands_first() {
        let paths = owned(&[
            ".cache/",
            ".env",
            ".venv/",
            "data/x/",
            "node_modules/",
            "z.txt",
        ]);
        let has_program = |folder: &str, word: &str| (folder, word) == (".venv", "pytest");
        for (command, first) in [
            ("pytest -q", ".venv/"),
            (".venv/bin/ruff check", ".venv/"),
            ("uv run pytest2", ".venv/"),
            ("npm test", "node_modules/"),
            ("cd a && node_modules/.bin/jest", "node_modules/"),
            ("test -e ./z.txt", "z.txt"),
            ("sh -c \". '.env'; ./run\"", ".env"),
            ("grep -q x <data/x/y", "data/x/"),
            ("cat data/xy npms .environment", ".cache/"),
            ("true", ".cache/"),
        ] {
            let told = named_first(paths.clone(), &[command], &has_program);
            assert_eq!((&*told[0], told.len()), (first, paths.len()), "{command}");
        }
    }
}
