//! Which files attempts may change, where nobody said: the sources that git tracks and no command runs. Pure.

use std::collections::BTreeMap;

use crate::model::init::{is_own, split};

/// What sources end with.
const ENDINGS: [&str; 36] = [
    "rs", "go", "py", "pyx", "js", "mjs", "cjs", "jsx", "ts", "tsx", "c", "h", "cc", "cpp", "cxx",
    "hpp", "hh", "java", "kt", "scala", "rb", "php", "cs", "swift", "zig", "nim", "jl", "lua",
    "ml", "hs", "ex", "exs", "erl", "clj", "pl", "sql",
];
/// Folders and words of names whose files measure, test or tell rather than do.
const ASIDE: [&str; 10] = [
    "test",
    "tests",
    "spec",
    "specs",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "docs",
    "scripts",
];
/// So few files are named each.
const FEW: usize = 3;
/// The most patterns.
const MOST: usize = 5;

/// Proposes patterns for `--files`: each of a few files, else a pattern for each folder and ending.
pub fn sources(tracked: &[String], frozen: &[String]) -> Vec<String> {
    let is_source = |path: &&String| {
        let is_code = ending(path).is_some_and(|ending| ENDINGS.contains(&ending));
        is_code && is_own(path) && !is_aside(path) && !frozen.contains(path)
    };
    let sources: Vec<&String> = tracked.iter().filter(is_source).collect();
    if sources.len() <= FEW {
        return sources.into_iter().map(|path| plain(path)).collect();
    }
    let mut groups: BTreeMap<(&str, &str), Vec<&String>> = BTreeMap::new();
    for path in sources {
        let folder = path.split_once('/').map_or("", |(folder, _)| folder);
        let key = (folder, ending(path).unwrap_or_default());
        groups.entry(key).or_default().push(path);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
    let pattern = |((folder, ending), paths): ((&str, &str), Vec<&String>)| match folder {
        _ if paths.len() == 1 => plain(paths[0]),
        "" => format!("*.{ending}"),
        folder => format!("{}/**/*.{ending}", plain(folder)),
    };
    groups.into_iter().take(MOST).map(pattern).collect()
}

fn ending(path: &str) -> Option<&str> {
    let (_, ending) = split(path).1.rsplit_once('.')?;
    Some(ending)
}

/// Says whether a file is beside what does the work, by its folders and the words of its name.
fn is_aside(path: &str) -> bool {
    let (folder, name) = split(path);
    let mut words = folder.split('/').chain(name.split(['.', '_', '-']));
    words.any(|word| ASIDE.contains(&word.to_lowercase().as_str()))
}

/// Returns a path as a pattern that names it alone.
fn plain(path: &str) -> String {
    globset::escape(path)
}
