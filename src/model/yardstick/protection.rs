//! What `protect` names, there or not. Pure.

use std::path::Path;

use globset::{Glob, GlobSet};

use super::tree::glob_set;
use crate::model::check;

/// What cannot be told of a part of a pattern by that part alone.
const OPEN: [char; 3] = ['{', '[', '\\'];

/// The patterns of `protect`, relative to the root.
#[derive(Clone, Debug)]
pub struct Protection {
    patterns: Vec<String>,
    set: GlobSet,
    /// Of those without a wildcard.
    named: GlobSet,
}

impl Protection {
    /// Reads the patterns; they were validated with the goals.
    pub fn of(patterns: &[String]) -> Protection {
        let is_name = |pattern: &&String| literal(pattern) == pattern.trim_end_matches('/');
        let names: Vec<_> = patterns.iter().filter(is_name).cloned().collect();
        Protection {
            patterns: patterns.to_vec(),
            set: glob_set(patterns),
            named: glob_set(&names),
        }
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns them as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Says whether a file is protected.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        self.set.is_match(path)
    }

    /// Says whether a file is protected by its name or that of a folder around it, and not only by a wildcard.
    pub fn is_named(&self, path: impl AsRef<Path>) -> bool {
        self.named.is_match(path)
    }

    /// Says whether a protected file may lie below this folder (without a slash at its end).
    pub fn reaches(&self, folder: &str) -> bool {
        self.patterns.iter().any(|pattern| reaches(pattern, folder))
    }

    /// Protects each link on the way to what a pattern begins with, too, and what it leads to: that is what a change to it is a change
    /// of. `leads_to` returns the links, and last where they lead; nothing where there is none.
    #[must_use]
    pub fn follow(&self, leads_to: &dyn Fn(&str) -> Vec<String>) -> Protection {
        let mut patterns = self.patterns.clone();
        for pattern in &self.patterns {
            let literal = literal(pattern);
            let mut led = leads_to(&literal);
            let Some(end) = led.pop() else {
                continue;
            };
            let rest = pattern.strip_prefix(&literal).unwrap_or_default();
            patterns.append(&mut led);
            patterns.push(format!("{}{rest}", globset::escape(&end)));
        }
        patterns.dedup();
        Protection::of(&patterns)
    }

    /// Returns the files and folders in which all protected files are, or which they are themselves; `.` is the root.
    pub fn places(&self) -> Vec<String> {
        let place = |pattern: &String| match literal(pattern) {
            literal if literal.is_empty() => ".".to_owned(),
            literal => literal,
        };
        let mut places: Vec<_> = self.patterns.iter().map(place).collect();
        places.sort();
        places.dedup();
        match places.iter().any(|place| place == ".") {
            true => vec![".".to_owned()],
            false => places,
        }
    }
}

/// Returns what a pattern begins with: whole names without a wildcard.
fn literal(pattern: &str) -> String {
    let parts = pattern.trim_end_matches('/').split('/');
    let literal = parts.take_while(|part| !check::is_pattern(part) && !part.contains(OPEN));
    literal.collect::<Vec<_>>().join("/")
}

fn reaches(pattern: &str, folder: &str) -> bool {
    let mut parts = pattern.trim_end_matches('/').split('/');
    for name in folder.split('/') {
        match parts.next() {
            // A folder's name protects what is below it.
            None => return true,
            Some(part) if part.contains("**") || part.contains(OPEN) => return true,
            Some(part) => {
                let is_name = |glob: Glob| glob.compile_matcher().is_match(name);
                if !Glob::new(part).is_ok_and(is_name) {
                    return false;
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::Protection;

    fn of(patterns: &[&str]) -> Protection {
        let patterns: Vec<_> = patterns.iter().map(|it| (*it).to_owned()).collect();
        Protection::of(&patterns)
    }

    #[test]
    fn only_folders_that_a_pattern_can_reach_are_reached() {
        for (pattern, folder, reaches) in [
            ("limit", "build", false),
            ("build/limit", "build", true),
            ("build/limit", "build/deep", false),
            ("build", "build/deep", true),
            ("build/", "build/deep", true),
            ("build/**", "build/deep/er", true),
            ("build/**", "other", false),
            ("*.cfg", "build", false),
            ("*.cfg", "a.cfg", true),
            ("*/x/*.cfg", "build", true),
            ("*/x/*.cfg", "build/y", false),
            ("**/*.cfg", "build/y", true),
            ("{a,b/c}/d", "b", true),
        ] {
            assert_eq!(
                of(&[pattern]).reaches(folder),
                reaches,
                "{pattern} {folder}"
            );
        }
    }

    #[test]
    fn only_what_is_protected_without_a_wildcard_is_named() {
        for (patterns, path, expected) in [
            (&["tests/**"][..], "tests/unit", false),
            (&["tests/unit"], "tests/unit", true),
            (&["tests/**", "tests/unit"], "tests/unit", true),
            (&["tests"], "tests/deep/unit", true),
            (&["tests/"], "tests/deep/unit", true),
            (&["tests/*.got"], "tests/a.got", false),
            (&["tests/{a,b}"], "tests/a", false),
            (&["other"], "tests/a", false),
        ] {
            let protection = of(patterns);
            assert_eq!(protection.is_named(path), expected, "{patterns:?} {path}");
        }
    }

    #[test]
    fn what_is_reached_holds_every_match() {
        for (pattern, file) in [
            ("build", "build/deep/file"),
            ("*.d", "a.d/b/c"),
            ("a/*/c", "a/b/c/d"),
            ("[ab]/x", "a/x"),
            ("**/x", "x/y/z"),
        ] {
            let protection = of(&[pattern]);
            assert!(protection.is_match(file), "{pattern} {file}");
            for (index, _) in file.match_indices('/') {
                assert!(protection.reaches(&file[..index]), "{pattern} {file}");
            }
        }
        assert!(!of(&["*.d"]).is_match("a/b.d/c"));
    }

    #[test]
    fn what_a_pattern_leads_to_is_protected_with_the_links_to_it() {
        let leads_to = |path: &str| match path {
            "cfg/limit" => vec!["cfg".to_owned(), "conf/limit".to_owned()],
            "cfg" => vec!["cfg".to_owned(), "conf".to_owned()],
            _ => Vec::new(),
        };
        for (pattern, path, expected) in [
            ("cfg/limit", "conf/limit", true),
            ("cfg/limit", "conf/other", false),
            ("cfg/limit", "cfg", true),
            ("cfg/*.x", "conf/a.x", true),
            ("cfg/*.x", "conf/a.y", false),
            ("cfg", "conf/deep/a", true),
            ("own/limit", "conf/limit", false),
        ] {
            let followed = of(&[pattern]).follow(&leads_to);
            assert_eq!(followed.is_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn the_places_are_the_parts_without_a_wildcard() {
        assert_eq!(of(&["a/b/*.c", "d", "a/b/"]).places(), ["a/b", "d"]);
        assert_eq!(of(&["a", "*.c"]).places(), ["."]);
        assert_eq!(of(&[]).places(), Vec::<String>::new());
    }
}
