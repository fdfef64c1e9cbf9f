//! The rules of a Makefile or justfile: what a target or recipe needs first, and its lines. Pure.

mod makefile;

use std::collections::HashMap;

pub(in crate::model) use makefile::{reached, unfolded};

/// How many targets or recipes that need each other are followed.
const MOST_NEEDED: usize = 32;

/// The rules of a file, read once.
pub(in crate::model) struct Rules<'t> {
    rules: Vec<Rule<'t>>,
    by_name: HashMap<&'t str, Vec<usize>>,
}

/// What a target or recipe needs first, and its lines.
struct Rule<'t> {
    needs: Vec<&'t str>,
    lines: Vec<&'t str>,
}

impl<'t> Rules<'t> {
    /// Reads the rules of a file.
    pub(in crate::model) fn of(text: &'t str) -> Rules<'t> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut is_open = false;
        for line in text.lines().filter(|line| !line.is_empty()) {
            let is_below = line.starts_with(['\t', ' ']);
            match (line.split_once(':'), rules.last_mut()) {
                (_, Some(rule)) if is_below && is_open => {
                    rule.lines
                        .push(line.trim().trim_start_matches(['@', '-', '+']));
                }
                (Some((head, needs)), _) if !is_below && !line.starts_with('#') => {
                    for name in head.split_whitespace() {
                        let name = name.trim_start_matches('@');
                        by_name.entry(name).or_default().push(rules.len());
                    }
                    let needs = needs.split_whitespace().take(MOST_NEEDED).collect();
                    let lines = Vec::new();
                    rules.push(Rule { needs, lines });
                    is_open = true;
                }
                _ => is_open = false,
            }
        }
        Rules { rules, by_name }
    }

    /// Returns what a target or recipe needs first.
    pub(in crate::model) fn needs(&self, name: &str) -> impl Iterator<Item = &'t str> {
        self.named(name).flat_map(|rule| rule.needs.iter().copied())
    }

    /// Returns the lines of a target or recipe, without what Make and just take for themselves.
    pub(in crate::model) fn lines(&self, name: &str) -> String {
        let lines = self.named(name).flat_map(|rule| &rule.lines);
        lines.copied().collect::<Vec<_>>().join("\n")
    }

    /// Returns the lines of a target or recipe, behind those of what it needs.
    pub(in crate::model) fn whole(&self, name: &str) -> String {
        let mut names = vec![name];
        let mut at = 0;
        while let Some(name) = names.get(at) {
            for need in self.needs(name) {
                if names.len() < MOST_NEEDED && !names.contains(&need) {
                    names.push(need);
                }
            }
            at += 1;
        }
        let lines = names.iter().rev().map(|name| self.lines(name));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Rule<'t>> {
        let all = self.by_name.get(name).into_iter().flatten();
        all.map(|at| &self.rules[*at])
    }
}
