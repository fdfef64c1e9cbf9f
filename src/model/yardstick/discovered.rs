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

    /// Returns the patterns that stand for something that is there, and that neither `is_known` nor an earlier one holds.
    pub fn there(&self, tree: &Tree, is_known: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut patterns = self.patterns.beside.clone();
        patterns.extend_from_slice(&self.patterns.tests);
        if patterns.is_empty() {
            return patterns;
        }
        let mut files = tree.files();
        files.retain(|path| !is_known(path));
        patterns.retain(|pattern| {
            let set = exact_set(std::slice::from_ref(pattern));
            let before = files.len();
            files.retain(|path| !set.is_match(path));
            files.len() < before
        });
        patterns
    }

    /// Says whether a runner may take this file for one of tests: by its name, or by the folder that it lies in.
    pub fn may_be_test(&self, path: &str) -> bool {
        self.tests.is_match(path) || self.beside.is_match(path)
    }

    /// Says whether a change of this file is one of tests: a new test is none.
    pub fn is_changed(&self, path: &str, was_there: &dyn Fn(&str) -> bool) -> bool {
        let is_test = self.tests.is_match(path);
        let is_shadow = !is_test && self.shadows.is_match(path);
        is_shadow || (is_test || self.beside.is_match(path)) && was_there(path)
    }
}
