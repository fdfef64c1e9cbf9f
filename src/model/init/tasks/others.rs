//! What else tells what a target or recipe that checks does. Pure.

use std::collections::HashMap;

use super::super::Look;
use super::is_script;

/// The goals that call others, and the scripts that are called.
pub(super) struct Others<'o> {
    /// Each word of what is a goal already, and the goal.
    callers: HashMap<&'o str, &'o str>,
    scripts: Vec<&'o str>,
}

impl<'o> Others<'o> {
    /// Begins with the scripts of a repository.
    pub(super) fn of(look: &'o dyn Look) -> Others<'o> {
        let paths = look.files().iter().map(String::as_str);
        Others {
            callers: HashMap::new(),
            scripts: paths.filter(|path| is_script(path)).collect(),
        }
    }

    /// Adds a goal with the words of its target or recipe; the first one that has a word keeps it.
    pub(super) fn add(&mut self, id: &'o str, words: impl Iterator<Item = &'o str>) {
        for word in words {
            self.callers.entry(word).or_insert(id);
        }
    }

    /// Returns the goal that calls a target or recipe, else the script that it calls.
    pub(super) fn telling(&self, name: &str, recipe: &str) -> Option<&'o str> {
        let script = || self.scripts.iter().find(|path| recipe.contains(**path));
        self.callers.get(name).or_else(script).copied()
    }
}
