//! Whether what a pattern stands for is run one by one, or so that one of it may take the others out of the way. Pure.

use super::super::call::{Call, stem};
use super::super::named::{is_pattern, runs_tests};
use super::words::first_of;
use super::{MAX_TURNS, Walk};

impl Walk {
    /// Remembers the patterns of which a loop takes one after the other.
    pub fn note_turns(&mut self, written: &[String], words: &[String]) {
        match first_of(words) {
            Some("for" | "select") => self.loop_at = self.dirs.len(),
            Some("set") => {}
            Some(_) | None => return,
        }
        for pattern in written.iter().chain(words).filter(|word| is_pattern(word)) {
            if self.turns_of_loops.len() < MAX_TURNS && !self.turns_of_loops.contains(pattern) {
                self.turns_of_loops.push(pattern.clone());
            }
        }
    }

    /// Returns the words of a call that stand for files of which one may end what comes after it, or is alone run: what one shell
    /// sources, what is piped into one, and the arguments of one.
    pub fn together(&self, call: &Call) -> Vec<String> {
        let given = call.words.iter().chain(&call.piped);
        let mut given = given.chain(&call.stdin).chain(&call.dir);
        if !given.any(|word| is_pattern(word)) {
            return Vec::new();
        }
        let name = stem(&call.words[0]);
        let is_each_fed = call.is_fed && !call.is_batch;
        let has_place = call.words.iter().any(|word| word == "{}");
        if is_each_fed || has_place || runs_tests(&call.words) || matches!(&*name, "go" | "java") {
            return Vec::new();
        }
        let is_sourced = matches!(name.as_str(), "." | "source");
        let is_apart = self.dirs.len() > self.loop_at;
        let mut words = call.scripts();
        words.retain(|word| match self.is_by_turns(word) {
            true => is_sourced && !is_apart,
            false => true,
        });
        words
    }

    /// Says whether a word is one after the other of what a loop goes through; so it is where the folder is such a one.
    fn is_by_turns(&self, word: &str) -> bool {
        let mut loops = self.turns_of_loops.iter();
        !is_pattern(word) || loops.any(|pattern| word.contains(pattern.as_str()))
    }
}
