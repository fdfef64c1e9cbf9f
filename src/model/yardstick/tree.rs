//! The files of a repository that a path or a pattern in a check stands for. Pure.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::MOST_SCRIPTS;
use crate::model::check::{self, Used};

/// Returns the paths of what is right in a folder.
type Names<'t> = &'t dyn Fn(&str) -> Vec<String>;

/// How many files are looked through for tests.
const MOST_FILES: usize = 10_000;

/// Folders that hold what is built or installed.
const PASSED_OVER: &[&str] = &["node_modules", "target", "vendor", "venv"];

/// What a repository holds, for whoever looks for what checks run.
pub struct Tree<'t> {
    /// Says whether a path is a file.
    pub is_file: &'t dyn Fn(&str) -> bool,
    /// Returns the paths of the files right in a folder; empty is the root.
    pub files_in: Names<'t>,
    /// Returns the paths of the folders right in a folder.
    pub folders_in: Names<'t>,
    /// Returns the text of a file.
    pub read: &'t dyn Fn(&str) -> Option<String>,
    /// Says whether a program of this name is found in PATH.
    pub is_program: &'t dyn Fn(&str) -> bool,
    /// Returns the files of the repository that run a script: its interpreter, and the links that lead to one outside.
    pub run_by: &'t dyn Fn(&Used) -> Vec<String>,
}

impl Tree<'_> {
    /// Returns the files that a pattern stands for, as a shell would take it; not more than are looked into.
    pub fn matching(&self, pattern: &str) -> Vec<String> {
        matching(pattern, self.files_in, self.folders_in, MOST_SCRIPTS)
    }

    /// Returns the files that a runner looks through for tests, as far as that goes: those of so many folders, the upper ones first.
    pub fn files(&self) -> Vec<String> {
        let mut folders = vec![String::new()];
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            at += 1;
            found.extend((self.files_in)(&folder));
            if found.len() > MOST_FILES {
                break;
            }
            let mut inner = (self.folders_in)(&folder);
            inner.retain(|path| {
                let name = path.rsplit('/').next().unwrap_or(path);
                !name.starts_with('.') && !PASSED_OVER.contains(&name)
            });
            inner.sort();
            inner.truncate(MOST_SCRIPTS.saturating_sub(folders.len()));
            folders.extend(inner);
        }
        found.truncate(MOST_FILES);
        found.retain(|path| (self.is_file)(path));
        found
    }

    /// Says whether a pattern stands for something that `is_known` does not hold.
    pub fn has_other(&self, pattern: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
        if !pattern.contains("**") {
            return self.matching(pattern).iter().any(|path| !is_known(path));
        }
        let parts = pattern
            .split('/')
            .take_while(|part| !check::is_pattern(part));
        let folder = parts.collect::<Vec<_>>().join("/");
        let set = exact_set(&[pattern.to_owned()]);
        let mut found = (self.files_in)(&folder).into_iter();
        found.any(|path| set.is_match(&path) && !is_known(&path))
    }
}

/// Returns the files that a pattern stands for, as a shell would take it: at most so many, of at most so many folders.
pub fn matching(
    pattern: &str,
    files_in: Names<'_>,
    folders_in: Names<'_>,
    most: usize,
) -> Vec<String> {
    let folder = pattern.rsplit_once('/').map_or("", |(folder, _)| folder);
    let set = exact_set(&[pattern.to_owned()]);
    let mut found = Vec::new();
    for folder in folders(folder, folders_in, most) {
        found.extend(files_in(&folder));
    }
    found.retain(|path| set.is_match(path) && !is_hidden(path, pattern));
    found.sort();
    found.truncate(most);
    found
}

/// Returns the folders that a pattern stands for; one without a star stands for itself, there or not.
fn folders(pattern: &str, folders_in: Names<'_>, most: usize) -> Vec<String> {
    let mut folders = vec![String::new()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let within = |folder: &String| format!("{folder}/{part}").trim_matches('/').to_owned();
        if !check::is_pattern(part) {
            folders = folders.iter().map(within).collect();
            continue;
        }
        let set = exact_set(&[part.to_owned()]);
        let mut next: Vec<String> = folders.iter().flat_map(|it| folders_in(it)).collect();
        next.retain(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            set.is_match(name) && !is_hidden(name, part)
        });
        next.sort();
        next.truncate(most);
        folders = next;
    }
    folders
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
            let dir = used
                .dir
                .as_deref()
                .and_then(|dir| folder_in(dir, &used.file, &file));
            found.push(Used {
                file,
                dir,
                ..used.clone()
            });
        }
    }
    found
}

/// Returns the folder that a pattern of folders stands for where a pattern of files below it stands for `file`.
fn folder_in(dir: &str, pattern: &str, file: &str) -> Option<String> {
    if !check::is_pattern(dir) {
        return Some(dir.to_owned());
    }
    pattern.strip_prefix(dir)?.strip_prefix('/')?;
    let parts = file.split('/').take(dir.split('/').count());
    Some(parts.collect::<Vec<_>>().join("/"))
}

/// Says whether a star of a pattern would stand for a name's first dot, which a shell's does not.
fn is_hidden(path: &str, pattern: &str) -> bool {
    let mut parts = path.split('/').zip(pattern.split('/'));
    parts.any(|(name, part)| name.starts_with('.') && part.starts_with(['*', '?']))
}

/// Patterns, each of them with all that it may come to stand for.
#[derive(Clone, Debug)]
pub struct Together {
    patterns: Vec<String>,
    set: GlobSet,
}

impl Together {
    /// Takes patterns; what is none is left out.
    pub fn of(patterns: &[String]) -> Together {
        let patterns = patterns.iter().filter(|pattern| exact(pattern).is_some());
        let patterns: Vec<String> = patterns.cloned().collect();
        let set = exact_set(&patterns);
        Together { patterns, set }
    }

    /// Says whether a shell would take one of the patterns for this path.
    pub fn is_match(&self, path: &str) -> bool {
        let found = self.set.matches(path).into_iter();
        let mut patterns = found.map(|at| &self.patterns[at]);
        patterns.any(|pattern| !is_hidden(path, pattern))
    }
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
        if let Some(glob) = exact(&format!("{}/**", pattern.trim_end_matches('/'))) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}
