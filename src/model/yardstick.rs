//! What may not move while a cycle runs: the goals as loaded, the files that their checks run, and what is protected.
//! Says what a change did to them (rule 9). Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::model::check::{self, Code, Front, Instead, Used};
use crate::model::goals::{Goal, Goals};

/// How the note begins that names what of a kept or undone change a check leans on.
pub const LEANED_ON: &str = "changed what a check leans on and only `protect` would freeze";

/// How many scripts that scripts run are looked into.
const MOST_SCRIPTS: usize = 200;

/// A program that a check calls and that something was put in front of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchanged {
    /// What the check calls it.
    pub program: String,
    /// Where it was found.
    pub was: String,
    /// Where it is found now.
    pub is: String,
}

impl fmt::Display for Exchanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exchanged { program, was, is } = self;
        write!(f, "{program} is {is} now and was {was}")
    }
}

/// Returns which of the programs that checks call are found elsewhere than `before`. One that was missing, or is now, is none
/// of these.
pub fn put_in_front(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<Exchanged> {
    let moved = before.iter().filter_map(|(program, was)| {
        let is = now.get(program).filter(|is| *is != was)?;
        Some(Exchanged {
            program: program.clone(),
            was: was.clone(),
            is: is.clone(),
        })
    });
    moved.collect()
}

/// Returns the modules that are taken in place of Python's own now and were not before, in words.
pub fn taken_for_own(before: &[String], now: &[String]) -> Vec<String> {
    let new = now.iter().filter(|path| !before.contains(path));
    new.map(|path| {
        format!("{path} would be taken in place of Python's own module or the tool of that name")
    })
    .collect()
}

/// What a repository holds, for whoever looks for what checks run.
pub struct Tree<'t> {
    /// Says whether a path is a file.
    pub is_file: &'t dyn Fn(&str) -> bool,
    /// Returns the paths of the files right in a folder; empty is the root.
    pub files_in: &'t dyn Fn(&str) -> Vec<String>,
    /// Returns the text of a file.
    pub read: &'t dyn Fn(&str) -> Option<String>,
}

impl Tree<'_> {
    /// Returns the files that a pattern stands for, as a shell would take it; none if it has a star in a folder's name.
    fn matching(&self, pattern: &str) -> Vec<String> {
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
    fn has_other(&self, pattern: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
        let parts = pattern
            .split('/')
            .take_while(|part| !check::is_pattern(part));
        let folder = parts.collect::<Vec<_>>().join("/");
        let set = exact_set(&[pattern.to_owned()]);
        let mut found = (self.files_in)(&folder).into_iter();
        found.any(|path| set.is_match(&path) && !is_known(&path))
    }
}

/// The frozen part of a repository.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// Files that checks run.
    pub frozen: Vec<String>,
    /// Files that checks lean on without running them; only `protect` could freeze them.
    pub leaned_on: Vec<String>,
    /// Where a module that they import could lie beside them; one that ends with a slash stands for all that is below.
    imported: Vec<String>,
    /// The folders from which Python takes modules before its own.
    pub fronts: Vec<Front>,
    /// What checks use, with what they ask of it.
    used: Vec<Used>,
    /// What could steer the code that checks hand on to, there or not.
    steering: Vec<String>,
    /// What a tool would take in place of a file that is there.
    instead: Vec<Instead>,
    /// Patterns of files that checks run.
    patterns: Vec<Used>,
    /// Paths and patterns of what checks name and hand on.
    named: Vec<String>,
    /// The same, put together.
    named_set: GlobSet,
    protected: GlobSet,
}

impl Yardstick {
    /// Finds what the checks of `goals`, and what prepares for them, run and lean on; `is_file` tells whether the repository has a file.
    pub fn of(goals: &Goals, is_file: &dyn Fn(&str) -> bool) -> Yardstick {
        let mut frozen = Vec::new();
        let mut leaned_on = Vec::new();
        let mut fronts = Vec::new();
        let mut used = Vec::new();
        let mut instead = Vec::new();
        let mut patterns = Vec::new();
        let mut named = Vec::new();
        for command in goals.commands() {
            frozen.extend(check::runs(command, is_file));
            leaned_on.extend(check::leans_on(command, is_file));
            let code = Code::of_check(command);
            fronts.extend(check::fronts(&code));
            used.extend(check::uses(&code, is_file));
            instead.extend(check::instead(&code, is_file));
            patterns.extend(check::runs_by_pattern(&code));
            named.extend(check::named(&code));
        }
        frozen.sort();
        frozen.dedup();
        let protected = glob_set(&goals.settings.protect);
        leaned_on.retain(|path| !frozen.contains(path) && !protected.is_match(path));
        leaned_on.sort();
        leaned_on.dedup();
        Yardstick {
            frozen,
            leaned_on,
            imported: Vec::new(),
            fronts,
            used,
            steering: Vec::new(),
            instead,
            patterns,
            named,
            named_set: GlobSet::empty(),
            protected,
        }
    }

    /// Freezes what checks run by a pattern, as far as it is there.
    fn freeze_patterns(&mut self, tree: &Tree) {
        for used in expanded(std::mem::take(&mut self.patterns), tree) {
            self.frozen.push(used.file.clone());
            self.used.push(used);
        }
        self.frozen.sort();
        self.frozen.dedup();
    }

    /// Finds what the scripts that checks run themselves run, source or import, and what else checks name.
    pub fn with_scripts(mut self, tree: &Tree) -> Yardstick {
        self.freeze_patterns(tree);
        let (is_file, read) = (tree.is_file, tree.read);
        let mut seen = std::mem::take(&mut self.used);
        let mut at = 0;
        while let Some(used) = seen.get(at).cloned() {
            at += 1;
            let text = read(&used.file).unwrap_or_default();
            if self.frozen.contains(&used.file) {
                self.imported.extend(check::imported(&used.file, &text));
            }
            let included = check::included(&used, &text);
            self.imported
                .extend(included.iter().map(|one| one.file.clone()));
            let mut next = expanded(included, tree);
            next.retain(|one| is_file(&one.file));
            for code in check::code_in(&used, &text) {
                next.extend(expanded(check::runs_by_pattern(&code), tree));
                self.named.extend(check::named(&code));
                next.extend(check::uses(&code, is_file));
                self.fronts.extend(check::fronts(&code));
                self.steering.extend(check::may_steer(&code));
                self.instead.extend(check::instead(&code, is_file));
            }
            for one in next {
                if seen.len() < MOST_SCRIPTS && !seen.contains(&one) {
                    seen.push(one);
                }
            }
        }
        let found = seen.into_iter().map(|used| used.file);
        let (patterns, imported): (Vec<String>, Vec<String>) = std::mem::take(&mut self.imported)
            .into_iter()
            .partition(|path| check::is_pattern(path));
        self.imported = imported;
        self.named.extend(patterns);
        self.named.sort();
        self.named.dedup();
        self.named_set = exact_set(&self.named);
        let literal = self.imported.iter().chain(&self.named);
        let literal = literal.filter(|path| is_file(path)).cloned();
        // A pattern is proposed as such where it stands for something that nothing freezes.
        let is_known = |path: &str| self.is_frozen(path);
        let patterns = self.named.iter().filter(|path| check::is_pattern(path));
        let patterns = patterns.filter(|path| tree.has_other(path, &is_known));
        let found = found.chain(literal).chain(patterns.cloned());
        let found = found.filter(|path| !self.is_frozen(path));
        let found: Vec<_> = found.collect();
        self.leaned_on.extend(found);
        self.leaned_on.sort();
        self.leaned_on.dedup();
        self
    }

    /// Returns what is there now, and was not, and would be taken in place of a file that is known; those first that would be
    /// taken in place of a frozen one.
    pub fn taken_instead(&self, is_file: &dyn Fn(&str) -> bool) -> Vec<Instead> {
        let there = self.instead.iter().filter(|one| is_file(&one.path));
        let (mut found, named): (Vec<Instead>, Vec<Instead>) =
            there.cloned().partition(|one| self.is_frozen(&one.of));
        found.extend(named);
        let mut seen = BTreeSet::new();
        found.retain(|one| seen.insert(one.path.clone()));
        found
    }

    /// Says whether a check leans on a changed or new file that nothing freezes.
    pub fn is_leaned_on(&self, goals: &Goals, path: &str) -> bool {
        let is_steering = |command: &str| check::is_steered_by(command, path);
        let is_used = || goals.commands().any(is_steering);
        let is_imported = |known: &String| match known.ends_with('/') {
            true => path.starts_with(known.as_str()),
            false => path == known,
        };
        !self.is_frozen(path)
            && (self.leaned_on.iter().any(|known| known == path)
                || self.steering.iter().any(|known| known == path)
                || self.imported.iter().any(is_imported)
                || self.named_set.is_match(path)
                || is_used())
    }

    /// Says whether a changed or new path moves the goalposts.
    pub fn is_frozen(&self, path: &str) -> bool {
        self.frozen.iter().any(|frozen| frozen == path) || self.protected.is_match(path)
    }
}

/// Returns what is used, with what a pattern stands for in its place.
fn expanded(all: Vec<Used>, tree: &Tree) -> Vec<Used> {
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

/// Builds the set of what patterns stand for, and of nothing below it.
fn exact_set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) = globset::GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
        {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Builds the set of patterns; `*` stops at a slash, as in .gitignore. Patterns were validated when they were read.
fn glob_set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) = globset::GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
        {
            set.add(glob);
        }
        // A folder's name protects what is below it.
        if let Ok(glob) = Glob::new(&format!("{}/**", pattern.trim_end_matches('/'))) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// What an edit of the goals file amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalsEdit {
    /// What moved the goalposts, in words; empty if the edit is allowed.
    pub moved: Vec<String>,
    /// How many goals were added.
    pub added: usize,
}

/// Compares the goals as loaded with an edited file. Allowed are new goals, a higher weight, a stricter threshold in the
/// same direction, and another description, pillar or tags.
pub fn compare_goals(loaded: &Goals, edited: &Goals) -> GoalsEdit {
    let mut edit = GoalsEdit::default();
    if loaded.settings != edited.settings {
        edit.moved.push("the `evolve:` block changed".to_owned());
    }
    for goal in &loaded.goals {
        match edited.find(&goal.id) {
            None => edit.moved.push(format!("goal {} is gone", goal.id)),
            Some(later) => edit.moved.extend(loosened(goal, later)),
        }
    }
    edit.added = edited
        .goals
        .iter()
        .filter(|goal| loaded.find(&goal.id).is_none())
        .count();
    edit
}

/// Says what of a goal became easier or simply other.
fn loosened(goal: &Goal, later: &Goal) -> Vec<String> {
    let mut what = Vec::new();
    if goal.check != later.check {
        what.push("check changed");
    }
    if later.weight < goal.weight {
        what.push("weight lowered");
    }
    if (goal.kind, goal.alone) != (later.kind, later.alone)
        || (goal.timeout, goal.retries) != (later.timeout, later.retries)
    {
        what.push("the way it is measured changed");
    }
    match (&goal.continuous, &later.continuous) {
        (None, None) => {}
        (Some(old), Some(new)) => {
            let is_threshold_kept_or_stricter = match (old.threshold, new.threshold) {
                (None, None) => true,
                (Some(old_threshold), Some(new_threshold)) => {
                    // The old threshold must be met by whatever just meets the new one.
                    old_threshold == new_threshold
                        || (old.direction.is_some() && old.is_met_by(new_threshold))
                }
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !is_threshold_kept_or_stricter {
                what.push("threshold loosened");
            }
            if old.direction != new.direction
                || old.read != new.read
                || new.tolerance > old.tolerance
            {
                what.push("the way its value is judged changed");
            }
        }
        (None, Some(_)) | (Some(_), None) => what.push("the way its value is judged changed"),
    }
    what.into_iter()
        .map(|words| format!("goal {}: {words}", goal.id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;

    fn goals(text: &str) -> Goals {
        let (goals, _) = goals::read_goals("GOALS.yaml", text.as_bytes()).expect("valid goals");
        goals
    }

    /// One goal with these keys beside the mandatory ones, and a check that passes.
    fn goal(keys: &str) -> Goals {
        let mandatory = "id: a, description: d";
        let check = if keys.contains("check:") {
            ""
        } else {
            "check: 'true', "
        };
        let weight = if keys.contains("weight:") {
            ""
        } else {
            "weight: 5, "
        };
        goals(&format!(
            "goals:\n  - {{{mandatory}, {check}{weight}{keys}}}\n"
        ))
    }

    fn moved(loaded: &Goals, edited: &Goals) -> String {
        compare_goals(loaded, edited).moved.join("; ")
    }

    #[test]
    fn frozen_is_what_checks_run_and_what_is_protected_and_nothing_else() {
        let goals = goals(
            "evolve: {protect: ['tests/**', lib]}\ngoals:\n  \
             - {id: a, description: d, check: sh check.sh, weight: 5}\n  \
             - {id: b, description: d, check: sh check.sh && make all && make -f tests/Makefile, weight: 5}\n",
        );
        let yardstick = Yardstick::of(&goals, &|path| {
            ["check.sh", "Makefile", "tests/Makefile", "lib/x"].contains(&path)
        });
        assert_eq!(yardstick.frozen, ["check.sh", "tests/Makefile"]);
        assert_eq!(
            yardstick.leaned_on,
            ["Makefile"],
            "neither frozen nor protected"
        );
        for (path, is_frozen) in [
            ("check.sh", true),
            ("tests/new/x.rs", true),
            ("lib/deep/x", true),
            ("lib", true),
            ("library/x", false),
            ("Makefile", false),
            ("src/main.rs", false),
        ] {
            assert_eq!(yardstick.is_frozen(path), is_frozen, "{path}");
        }
    }

    #[test]
    fn a_star_in_a_pattern_stops_at_a_slash() {
        let goals = goals(
            "evolve: {protect: ['*.toml']}\ngoals:\n  - {id: a, description: d, check: 'true', weight: 5}\n",
        );
        let yardstick = Yardstick::of(&goals, &|_| false);
        assert!(yardstick.is_frozen("Cargo.toml"));
        assert!(!yardstick.is_frozen("crates/Cargo.toml"));
    }

    #[test]
    fn what_leaned_on_files_a_protected_pattern_covers_is_not_listed_again() {
        let goals = goals(
            "evolve: {protect: [Makefile]}\ngoals:\n  - {id: a, description: d, check: make, weight: 5}\n",
        );
        let yardstick = Yardstick::of(&goals, &|path| path == "Makefile");
        assert_eq!(yardstick.leaned_on, Vec::<String>::new());
    }

    #[test]
    fn goals_may_be_added_and_made_stricter_and_told_otherwise() {
        let number = |keys: &str| goal(&format!("continuous: {{{keys}}}"));
        let at_least = |number_: &str| {
            number(&format!(
                "metric: m, threshold: {number_}, direction: at-least, tolerance: 1"
            ))
        };
        let at_most = |number_: &str| {
            number(&format!(
                "metric: m, threshold: {number_}, direction: at-most, tolerance: 1"
            ))
        };
        let plain = goal("");
        for (loaded, edited) in [
            (plain.clone(), goal("weight: 9")),
            (plain.clone(), goal("pillar: other, tags: [x]")),
            (at_least("80"), at_least("80")),
            (at_least("80"), at_least("81")),
            (at_most("80"), at_most("79")),
            (
                at_least("80"),
                number("metric: m, threshold: 80, direction: at-least, tolerance: 0"),
            ),
            (number("metric: m"), number("metric: m")),
        ] {
            assert_eq!(moved(&loaded, &edited), "");
        }
        let more = goals(
            "goals:\n  - {id: a, description: d, check: 'true', weight: 5}\n  \
             - {id: b, description: d, check: 'true', weight: 5}\n  \
             - {id: c, description: d, check: 'true', weight: 5}\n",
        );
        let edit = compare_goals(&plain, &more);
        assert_eq!((edit.moved, edit.added), (vec![], 2));
        assert_eq!(compare_goals(&more, &more).added, 0);
        assert_eq!(moved(&more, &plain), "goal b is gone; goal c is gone");
    }

    #[test]
    fn each_way_to_loosen_a_goal_is_named() {
        let number = |keys: &str| goal(&format!("continuous: {{metric: m, {keys}}}"));
        let at_least = number("threshold: 80, direction: at-least, tolerance: 1");
        let judged = "goal a: the way its value is judged changed";
        let measured = "goal a: the way it is measured changed";
        let loosened = "goal a: threshold loosened";
        let block = goals(
            "evolve: {jobs: 2}\ngoals:\n  - {id: a, description: d, check: 'true', weight: 5}\n",
        );
        for (loaded, edited, what) in [
            (goal(""), goal("check: 'false'"), "goal a: check changed"),
            (goal(""), goal("weight: 4"), "goal a: weight lowered"),
            (goal(""), goal("alone: true"), measured),
            (goal(""), goal("type: quality"), measured),
            (goal(""), goal("timeout: 1s"), measured),
            (goal(""), goal("retries: 9"), measured),
            (goal(""), block, "the `evolve:` block changed"),
            (
                at_least.clone(),
                number("threshold: 79, direction: at-least, tolerance: 1"),
                loosened,
            ),
            (
                number("threshold: 80, direction: at-most"),
                number("threshold: 81, direction: at-most"),
                loosened,
            ),
            (
                // Without a direction no threshold is stricter than another.
                number("threshold: 80"),
                number("threshold: 81"),
                loosened,
            ),
            (number("threshold: 80"), number(""), loosened),
            (number(""), number("threshold: 80"), loosened),
            (
                at_least.clone(),
                number("threshold: 80, direction: at-least, tolerance: 2"),
                judged,
            ),
            (
                at_least.clone(),
                number("threshold: 80, direction: at-least, tolerance: 1, read: {regex: '(x)'}"),
                judged,
            ),
            (
                at_least.clone(),
                number("threshold: 80, direction: at-most, tolerance: 1"),
                judged,
            ),
            (at_least.clone(), goal(""), judged),
            (goal(""), at_least, judged),
        ] {
            assert_eq!(moved(&loaded, &edited), what);
        }
    }
}
