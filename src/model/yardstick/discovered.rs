//! What test runners find by themselves, as sets of paths. Pure.

use globset::GlobSet;

use super::tree::{Tree, exact_set};
use crate::model::check::Discovery;

/// The files that test runners find by themselves.
#[derive(Clone, Debug, Default)]
pub struct Discovered {
    /// As patterns.
    pub patterns: Discovery,
    /// The same, put together.
    tests: GlobSet,
    beside: GlobSet,
    shadows: GlobSet,
}

impl Discovered {
    /// Puts the patterns together.
    pub fn set(&mut self) {
        self.tests = exact_set(&self.patterns.tests);
        self.beside = exact_set(&self.patterns.beside);
        self.shadows = exact_set(&self.patterns.shadows);
    }

    /// Returns the patterns that stand for something that is there, and that `is_known` does not hold.
    pub fn there(&self, tree: &Tree, is_known: &dyn Fn(&str) -> bool) -> Vec<String> {
        let all = self.patterns.tests.iter().chain(&self.patterns.beside);
        if all.clone().next().is_none() {
            return Vec::new();
        }
        let mut files = tree.files();
        files.retain(|path| !is_known(path));
        let is_there = |pattern: &&String| {
            let set = exact_set(std::slice::from_ref(*pattern));
            files.iter().any(|path| set.is_match(path))
        };
        all.filter(is_there).cloned().collect()
    }

    /// Says whether a change of this file is one of tests: a new test is none.
    pub fn is_changed(&self, path: &str, was_there: bool) -> bool {
        let is_test = self.tests.is_match(path);
        was_there && (is_test || self.beside.is_match(path))
            || !is_test && self.shadows.is_match(path)
    }
}
