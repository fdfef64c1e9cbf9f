//! The files of a repository that a path or a pattern in a check stands for. Pure.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::MOST_SCRIPTS;
use crate::model::check::{self, Used};

/// What a repository holds, for whoever looks for what checks run.
pub struct Tree<'t> {
    /// Says whether a path is a file.
    pub is_file: &'t dyn Fn(&str) -> bool,
    /// Returns the paths of the files right in a folder; empty is the root.
    pub files_in: &'t dyn Fn(&str) -> Vec<String>,
    /// Returns the text of a file.
    pub read: &'t dyn Fn(&str) -> Option<String>,
    /// Returns the files of the repository that run a script: its interpreter, and the links that lead to one outside.
    pub run_by: &'t dyn Fn(&Used) -> Vec<String>,
}

impl Tree<'_> {
    /// Returns the files that a pattern stands for, as a shell would take it; none if it has a star in a folder's name.
    pub fn matching(&self, pattern: &str) -> Vec<String> {
        let folder = pattern.rsplit_once('/').map_or("", |(folder, _)| folder);
        if check::is_pattern(folder) {
            return Vec::new();
        }
        let set = exact_set(&[pattern.to_owned()]);
        let mut found = (self.files_in)(folder);
        found.retain(|path| set.is_match(path));
        found.sort();
        found.truncate(MOST_SCRIPTS);
        found
    }

    /// Says whether a pattern stands for something that `is_known` does not hold.
    pub fn has_other(&self, pattern: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
        let parts = pattern
            .split('/')
            .take_while(|part| !check::is_pattern(part));
        let folder = parts.collect::<Vec<_>>().join("/");
        let set = exact_set(&[pattern.to_owned()]);
        let mut found = (self.files_in)(&folder).into_iter();
        found.any(|path| set.is_match(&path) && !is_known(&path))
    }
}

/// Returns what is used, with what a pattern stands for in its place.
pub fn expanded(all: Vec<Used>, tree: &Tree) -> Vec<Used> {
    let mut found = Vec::new();
    for used in all {
        if !check::is_pattern(&used.file) || (tree.is_file)(&used.file) {
            found.push(used);
            continue;
        }
        for file in tree.matching(&used.file) {
            found.push(Used {
                file,
                ..used.clone()
            });
        }
    }
    found
}

/// Reads a pattern in which `*` stops at a slash; none if it is no pattern.
fn exact(pattern: &str) -> Option<Glob> {
    let mut glob = globset::GlobBuilder::new(pattern);
    glob.literal_separator(true).build().ok()
}

/// Builds the set of what patterns stand for, and of nothing below it.
pub fn exact_set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| exact(pattern)) {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Builds the set of patterns; `*` stops at a slash, as in .gitignore. Patterns were validated when they were read.
pub fn glob_set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Some(glob) = exact(pattern) {
            set.add(glob);
        }
        // A folder's name protects what is below it.
        if let Ok(glob) = Glob::new(&format!("{}/**", pattern.trim_end_matches('/'))) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}
