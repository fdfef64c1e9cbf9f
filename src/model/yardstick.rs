//! What may not move while a cycle runs: the goals as loaded, the files that their checks run, and what is protected.
//! Says what a change did to them (rule 9). Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use globset::GlobSet;
use serde::{Deserialize, Serialize};

use crate::model::check::{self, Code, Front, Instead, Packaged, Root, Tool, Used};
use crate::model::goals::Goals;
use crate::model::{sweep, text};

mod discovered;
mod edit;
mod protection;
mod runner;
mod tree;

use discovered::Discovered;
pub use edit::{GoalsEdit, compare_goals};
pub use protection::Protection;
pub use runner::{changes_tests, ends_tests};
use tree::{Together, exact_set, expanded, glob_set};
pub use tree::{Tree, matching};

/// How the note begins that names what of a kept or undone change a check leans on.
pub const LEANED_ON: &str = "changed what a check leans on and only `protect` would freeze";

/// How many of what moved the goalposts are named.
const SHOWN: usize = 10;

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

/// Returns the reason that says what moved the goalposts.
pub fn moved(what: &[String]) -> String {
    format!("goalposts moved: {}", text::some_of(what, SHOWN))
}

/// Returns the modules that are taken in place of Python's own now and were not before, in words.
pub fn taken_for_own(before: &[String], now: &[String]) -> Vec<String> {
    let new = now.iter().filter(|path| !before.contains(path));
    new.map(|path| taken_for_own_words(path)).collect()
}

/// Says in place of what such a module is taken.
pub fn taken_for_own_words(path: &str) -> String {
    match check::is_run_at_start(path) {
        true => format!("{path} would be run by Python before anything that it is told to run"),
        false => {
            format!(
                "{path} would be taken in place of Python's own module or the tool of that name"
            )
        }
    }
}

/// The frozen part of a repository.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// Files that checks run, by their real places.
    pub frozen: Vec<String>,
    /// What checks call those of them that lie behind a link.
    aliases: Vec<String>,
    /// What checks, and the scripts that they run, would run if it were there.
    missing: Vec<String>,
    /// Files that checks lean on without running them; only `protect` could freeze them.
    pub leaned_on: Vec<String>,
    /// Settings of which not all code is followed, as there is too much.
    pub unfollowed: Vec<String>,
    /// What of the repository is there and run by checks, by way of whatever script, or imported by what they run.
    pub followed: Vec<String>,
    /// Where a module that they import could lie beside them; one that ends with a slash stands for all that is below.
    imported: Vec<String>,
    /// The folders from which Python takes modules before its own.
    pub fronts: Vec<Front>,
    /// The programs that checks call by way of a package manager of Node's.
    pub packaged: BTreeSet<Packaged>,
    /// The folders in which Python may find the metadata of distributions.
    pub distributions: BTreeSet<String>,
    /// What checks use, with what they ask of it.
    used: Vec<Used>,
    /// What could steer checks and the code that they hand on to, there or not.
    steering: Vec<String>,
    /// What a tool would take in place of a file that is there.
    instead: Vec<Instead>,
    /// What make would take for done by its name.
    done: Vec<Instead>,
    /// What a shell would take, from a folder of the repository in PATH, in place of a program that is found elsewhere.
    in_front: Vec<Instead>,
    /// Patterns of files that checks run.
    patterns: Vec<Used>,
    /// The same, by which also comes what was not there at first.
    pub open: Vec<String>,
    /// Those of which a new file, too, moves the goalposts: it could take the others out of the way.
    together: Together,
    /// Files in which may stand what checks run.
    lists: Vec<String>,
    /// Patterns of files that steer checks.
    steered: Vec<Used>,
    /// Paths and patterns of what checks name and hand on.
    named: Vec<String>,
    /// The same, put together.
    named_set: GlobSet,
    /// What test runners find by themselves.
    discovered: Discovered,
    /// The programs that go by what they find by its name.
    tools: Vec<Tool>,
    /// What `protect` names.
    pub protected: Protection,
    /// What `product` names: it is not frozen, whoever runs it.
    product: GlobSet,
    /// A check, or a script that it runs, finds the repository by way of what lies around it.
    pub comes_from_outside: bool,
}

impl Yardstick {
    /// Finds what the checks of `goals`, what prepares for them, and what sweeps look with run and lean on in the repository that lies at
    /// `root`; `is_file` tells whether it has a file.
    pub fn of(goals: &Goals, root: &Root, is_file: &dyn Fn(&str) -> bool) -> Yardstick {
        let mut frozen = Vec::new();
        let mut missing = Vec::new();
        let mut leaned_on = Vec::new();
        let mut fronts = Vec::new();
        let mut packaged = BTreeSet::new();
        let mut distributions = BTreeSet::new();
        let mut used = Vec::new();
        let mut instead = Vec::new();
        let mut in_front = Vec::new();
        let mut patterns = Vec::new();
        let mut together = Vec::new();
        let mut lists = Vec::new();
        let mut steered = Vec::new();
        let mut named = Vec::new();
        let mut steering = Vec::new();
        let mut discovered = Discovered::default();
        let mut tools = Vec::new();
        let mut comes_from_outside = false;
        // Whether a linter's finding is gone is told by the linter, and that goes by its settings.
        let parts = sweep::parts(goals.settings.sweep.as_deref(), None);
        let linters = sweep::looking(&parts, is_file);
        for command in goals.commands().chain(linters) {
            let code = Code::of_check(command).at(root);
            frozen.extend(check::runs_in(&code, is_file));
            missing.extend(check::would_run(&code, is_file));
            leaned_on.extend(check::leaned_on_in(&code, is_file));
            comes_from_outside |= check::comes_from_outside(&code);
            fronts.extend(check::fronts(&code, is_file));
            packaged.extend(check::packaged(&code));
            distributions.extend(check::distributions(&code));
            used.extend(check::uses(&code, is_file));
            instead.extend(check::instead(&code, is_file));
            in_front.extend(check::looked_for(&code));
            patterns.extend(check::runs_by_pattern(&code));
            together.extend(check::runs_together(&code));
            lists.extend(check::lists(&code));
            steered.extend(check::steers_by_pattern(&code));
            named.extend(check::named(&code));
            steering.extend(check::may_steer(&code));
            discovered.patterns.extend(check::discovered(&code));
            tools.extend(check::tools(&code));
        }
        frozen.sort();
        frozen.dedup();
        let protected = Protection::of(&goals.settings.protect);
        leaned_on.retain(|path| !frozen.contains(path) && !protected.is_match(path));
        leaned_on.sort();
        leaned_on.dedup();
        Yardstick {
            frozen,
            aliases: Vec::new(),
            missing,
            leaned_on,
            unfollowed: Vec::new(),
            followed: Vec::new(),
            imported: Vec::new(),
            fronts,
            packaged,
            distributions,
            used,
            steering,
            instead,
            done: Vec::new(),
            in_front,
            patterns,
            open: Vec::new(),
            together: Together::of(&together),
            lists,
            steered,
            named,
            named_set: GlobSet::empty(),
            discovered,
            tools,
            protected,
            product: glob_set(&goals.settings.product),
            comes_from_outside,
        }
    }

    /// Freezes what checks run by a pattern, as far as it is there.
    fn freeze_patterns(&mut self, tree: &Tree) {
        let patterns = std::mem::take(&mut self.patterns);
        self.note_open(&patterns);
        for used in expanded(patterns, tree) {
            self.frozen.push(used.file.clone());
            self.used.push(used);
        }
        self.frozen.sort();
        self.frozen.dedup();
    }

    /// Keeps, of where programs are looked for, what is not there and would come before one that is.
    fn keep_in_front(&mut self, tree: &Tree) {
        let all = std::mem::take(&mut self.in_front);
        let (there, missing): (Vec<Instead>, Vec<Instead>) =
            all.into_iter().partition(|one| (tree.is_file)(&one.path));
        let there: BTreeSet<String> = there.into_iter().map(|one| one.of).collect();
        let is_found = |program: &str| there.contains(program) || (tree.is_program)(program);
        let missing = missing.into_iter().filter(|one| is_found(&one.of));
        self.in_front = missing.collect();
    }

    /// Notes what an interpreter would load before a module that lies beside it.
    fn keep_beside(&mut self, is_file: &dyn Fn(&str) -> bool) {
        let known: BTreeSet<&String> = self.frozen.iter().chain(&self.imported).collect();
        let there = known.iter().filter(|path| is_file(path));
        let before = there.flat_map(|of| {
            let asked_for = |path: &str| known.contains(&path.to_owned());
            // A package of its name is taken before a module that is imported, and not before a script that is run by its path.
            let is_imported = self.imported.contains(of);
            let packages = is_imported.then(|| check::packages_before(of));
            let paths = check::loaded_before(of, &asked_for).into_iter();
            let paths = paths.chain(packages.into_iter().flatten());
            let new = paths.filter(|path| !is_file(path));
            new.map(|path| Instead {
                path,
                of: (*of).clone(),
            })
        });
        let before: Vec<Instead> = before.collect();
        self.instead.extend(before);
    }

    fn note_open(&mut self, patterns: &[Used]) {
        let files = patterns.iter().map(|used| &used.file);
        let patterns = files.filter(|file| check::is_pattern(file));
        self.open.extend(patterns.cloned());
    }

    /// Finds what the scripts that checks run themselves run, source or import, and what else checks name.
    pub fn with_scripts(mut self, tree: &Tree) -> Yardstick {
        self.freeze_patterns(tree);
        let (is_file, read) = (tree.is_file, tree.read);
        let mut seen = std::mem::take(&mut self.used);
        seen.extend(expanded(std::mem::take(&mut self.steered), tree));
        let mut at = 0;
        while let Some(used) = seen.get(at).cloned() {
            at += 1;
            let text = read(&used.file);
            if check::is_cut(&used, text.as_deref()) && !self.unfollowed.contains(&used.file) {
                self.unfollowed.push(used.file.clone());
            }
            let text = text.unwrap_or_default();
            let mut run_by = (tree.run_by)(&used);
            let looked_for = check::interpreter_in_path(&used, &text);
            run_by.extend(looked_for.iter().map(|one| one.path.clone()));
            self.in_front.extend(looked_for);
            run_by.retain(|file| is_file(file));
            if self.frozen.contains(&used.file) {
                self.imported.extend(check::imported(&used, &text));
                self.frozen.extend_from_slice(&run_by);
            }
            self.done.extend(check::done_by_name(&used, &text));
            let included = check::included(&used, &text);
            self.imported
                .extend(included.iter().map(|one| one.file.clone()));
            let mut next = expanded(included, tree);
            if !self.frozen.contains(&used.file) {
                next.extend(check::loaded(&used, &text));
            }
            self.named.extend(check::of_packages(&used, &text, read));
            let tests = check::tests_by_settings(&used, &text);
            self.discovered.patterns.tests.extend(tests);
            next.retain(|one| is_file(&one.file));
            for code in check::code_in(&used, &text) {
                if used.is_list() && self.frozen.contains(&used.file) {
                    let listed = check::uses(&code, is_file).into_iter();
                    self.frozen.extend(listed.map(|used| used.file));
                }
                let patterns = check::runs_by_pattern(&code);
                self.note_open(&patterns);
                next.extend(expanded(patterns, tree));
                next.extend(expanded(check::steers_by_pattern(&code), tree));
                self.named.extend(check::named(&code));
                self.comes_from_outside |= check::comes_from_outside(&code);
                next.extend(check::uses(&code, is_file));
                self.missing.extend(check::would_run(&code, is_file));
                // What was set for a script is not known here.
                let fronts = check::fronts(&code, is_file).into_iter();
                self.fronts.extend(fronts.map(Front::unasked));
                self.packaged.extend(check::packaged(&code));
                self.distributions.extend(check::distributions(&code));
                self.steering.extend(check::may_steer(&code));
                self.discovered.patterns.extend(check::discovered(&code));
                self.tools.extend(check::tools(&code));
                self.instead.extend(check::instead(&code, is_file));
                self.in_front.extend(check::looked_for(&code));
            }
            next.extend(run_by.into_iter().map(|file| Used {
                file,
                tasks: Vec::new(),
                ..used.clone()
            }));
            for one in next {
                if seen.len() < MOST_SCRIPTS && !seen.contains(&one) {
                    seen.push(one);
                }
            }
        }
        self.missing.sort();
        self.missing.dedup();
        self.keep_in_front(tree);
        let of_tools = self.fronts.iter().flat_map(Front::of_tool);
        self.imported.extend(of_tools);
        let of_start = self.fronts.iter().flat_map(Front::of_start);
        self.imported.extend(of_start);
        for list in std::mem::take(&mut self.lists) {
            let text = read(&list).unwrap_or_default();
            self.named.extend(check::told_in(&list, &text, is_file));
            self.named.push(list);
        }
        self.frozen.sort();
        self.frozen.dedup();
        self.keep_beside(is_file);
        let found = seen.into_iter().map(|used| used.file);
        let found: Vec<String> = found.collect();
        let imported = self.imported.iter().filter(|path| is_file(path));
        self.followed = found.iter().chain(imported).cloned().collect();
        let (patterns, imported): (Vec<String>, Vec<String>) = std::mem::take(&mut self.imported)
            .into_iter()
            .partition(|path| check::is_pattern(path));
        self.imported = imported;
        self.named.extend(patterns);
        self.named.sort();
        self.named.dedup();
        self.named_set = exact_set(&self.named);
        self.discovered.set();
        self.tools.sort();
        self.tools.dedup();
        let literal = self.imported.iter().chain(&self.named);
        let literal = literal.filter(|path| is_file(path)).cloned();
        // A pattern is proposed as such where it stands for something that nothing freezes.
        let is_known = |path: &str| self.is_frozen(path);
        let patterns = self.named.iter().filter(|path| check::is_pattern(path));
        let patterns = patterns.filter(|path| tree.has_other(path, &is_known));
        let found_by_runners = self.discovered.there(tree, &is_known);
        let patterns: Vec<String> = patterns.cloned().chain(found_by_runners).collect();
        let proposed = exact_set(&patterns);
        let found = found
            .into_iter()
            .chain(literal)
            .filter(|path| !proposed.is_match(path));
        let found = found.chain(patterns);
        let is_free = |path: &String| !self.is_frozen(path) && !self.product.is_match(path);
        let found: Vec<_> = found.filter(is_free).collect();
        self.leaned_on.extend(found);
        self.leaned_on.sort();
        self.leaned_on.dedup();
        self
    }

    /// Says of which settings not all code is followed.
    pub fn unfollowed_words(&self) -> Option<String> {
        let files = self.unfollowed.join(", ");
        (!files.is_empty()).then(|| {
            format!("more commands than are followed, so that a change to what the others run is not named: {files}")
        })
    }

    /// Freezes each link on the way to a frozen file, and what it leads to, as files of their own: one may be tracked, and the other
    /// one built. What is protected follows its links, too. `leads_to` returns the links, and last what they lead to; nothing for a
    /// file without a link on its way.
    pub fn follow(mut self, leads_to: &dyn Fn(&str) -> Vec<String>) -> Yardstick {
        let mut real = Vec::new();
        for file in std::mem::take(&mut self.frozen) {
            let led = leads_to(&file);
            if led.is_empty() {
                real.push(file);
            } else if !led.contains(&file) {
                self.aliases.push(file);
            }
            real.extend(led);
        }
        real.sort();
        real.dedup();
        self.frozen = real;
        self.protected = self.protected.follow(leads_to);
        self
    }

    /// Returns what is there now, and was not, and would be taken in place of a file that is known; those first that would be
    /// taken in place of a frozen one, or of a program.
    pub fn taken_instead(&self, is_file: &dyn Fn(&str) -> bool) -> Vec<Instead> {
        let there = self.instead().filter(|one| is_file(&one.path));
        let (mut found, mut named): (Vec<Instead>, Vec<Instead>) =
            there.cloned().partition(|one| self.is_refused(one));
        named.retain(|one| !self.product.is_match(&one.of));
        found.extend(named);
        let mut seen = BTreeSet::new();
        found.retain(|one| seen.insert(one.path.clone()));
        found
    }

    /// Returns what was not there and would be taken in place of a program, or of anything that is run or imported.
    pub fn in_front_of_followed(&self) -> Vec<Instead> {
        let all = self.instead();
        let meant = all.filter(|one| self.is_refused(one) || self.followed.contains(&one.of));
        meant.cloned().collect()
    }

    /// Says whether a runner that a check calls may take this file for one of tests.
    pub fn may_be_test(&self, path: &str) -> bool {
        self.discovered.may_be_test(path)
    }

    /// Returns what is new in these files and would have make take a target of a check's for done, in words. `was_there` says whether
    /// something was at a path.
    pub fn taken_for_done(
        &self,
        changed: &[String],
        was_there: &dyn Fn(&str) -> bool,
    ) -> BTreeSet<String> {
        let is_new = |one: &&Instead| {
            let brings = |file: &String| {
                let rest = file.strip_prefix(&one.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            changed.iter().any(brings) && !was_there(&one.path)
        };
        let words = |one: &Instead| {
            let Instead { path, of } = one;
            format!("{path} is new, so that make takes the target of that name in {of} for done")
        };
        self.done.iter().filter(is_new).map(words).collect()
    }

    /// Says whether a new file at this path would come in front of what checks run.
    pub fn is_in_front(&self, path: &str) -> bool {
        let is_done = |one: &Instead| {
            let rest = path.strip_prefix(&one.path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut instead = self.instead().filter(|one| self.is_refused(one));
        self.is_frozen(path)
            || instead.any(|one| one.path == path)
            || self.done.iter().any(is_done)
            || self.fronts.iter().any(|front| front.takes(path))
    }

    /// Says whether what Python would take in place of a module may come: the product, or what checks call by `python -m` and no Python
    /// of theirs found before. `missing` are the questions whose answer was that.
    pub fn may_begin(&self, path: &str, missing: &BTreeSet<String>) -> bool {
        let is_product = |path: &str| self.product.is_match(path);
        let fronts = self.fronts.iter().filter(|front| front.is_tool(path));
        let mut questions = fronts.map(Front::question).peekable();
        is_product(path)
            || is_product(&format!("{path}/__init__.py"))
            || questions.peek().is_some()
                && questions.all(|asked| asked.is_some_and(|asked| missing.contains(asked)))
    }

    /// Returns the programs, as they are named, that installing packages may put in front of others.
    pub fn installed(&self) -> BTreeSet<String> {
        let installed = self.packaged.iter().filter(|one| one.may_be_installed());
        installed.map(ToString::to_string).collect()
    }

    /// Returns the commands that tell whether Python finds the modules that checks call by `python -m` outside of the repository.
    pub fn questions(
        goals: &Goals,
        root: &Root,
        is_file: &dyn Fn(&str) -> bool,
    ) -> BTreeSet<String> {
        let code = goals.commands().map(|it| Code::of_check(it).at(root));
        let fronts = code.flat_map(|code| check::fronts(&code, is_file));
        let asked = fronts.filter_map(|front| front.question().map(str::to_owned));
        asked.collect()
    }

    /// Returns what was not there and would be taken in place of another one.
    fn instead(&self) -> impl Iterator<Item = &Instead> {
        self.in_front.iter().chain(&self.instead)
    }

    /// Says whether that this would be taken in place of another moves the goalposts.
    pub fn is_refused(&self, one: &Instead) -> bool {
        self.in_front.contains(one) || self.is_frozen(&one.of)
    }

    /// Says whether a check leans on a changed or new file that nothing freezes. `was_there` says whether a file is none of the new
    /// ones.
    pub fn is_leaned_on(&self, path: &str, was_there: &dyn Fn(&str) -> bool) -> bool {
        let is_imported = |known: &String| match known.ends_with('/') {
            true => path.starts_with(known.as_str()),
            false => path == known,
        };
        let is_refused = |one: &Instead| one.path == path && self.is_refused(one);
        // A submodule is changed as one; what a check leans on lies in it.
        let is_at = |known: &str| {
            let rest = known.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.is_frozen(path)
            && !self.product.is_match(path)
            && !self.instead().any(is_refused)
            && (self.leaned_on.iter().any(|known| is_at(known))
                || self.missing.iter().any(|known| known == path)
                || self.steering.iter().any(|known| known == path)
                || self.imported.iter().any(is_imported)
                || self.named_set.is_match(path)
                || self.discovered.is_changed(path, was_there)
                || self.tools.iter().any(|tool| tool.goes_by(path)))
    }

    /// Says whether a changed or new file that nothing freezes steers what checks run, or is one of the tests that they run: what they
    /// import, hand on or read may be what they are about.
    pub fn is_steering(&self, path: &str, was_there: &dyn Fn(&str) -> bool) -> bool {
        let mut known = self.missing.iter().chain(&self.steering);
        !self.is_frozen(path)
            && (known.any(|known| known == path)
                || self.discovered.is_changed(path, was_there)
                || self.tools.iter().any(|tool| tool.goes_by(path)))
    }

    /// Freezes no longer what `product` names, nor what checks build before they run it, unless `protect` names it; returns what is built.
    pub fn let_go(&mut self, is_built: &dyn Fn(&str) -> bool) -> Vec<String> {
        let (protected, product) = (&self.protected, &self.product);
        self.frozen
            .retain(|path| !product.is_match(path) || protected.is_match(path));
        let is_free = |path: &str| is_built(path) && !protected.is_match(path);
        self.aliases.retain(|path| !is_free(path));
        let is_free = |path: &mut String| is_free(path);
        self.frozen.extract_if(.., is_free).collect()
    }

    /// Says whether a changed or new path moves the goalposts.
    pub fn is_frozen(&self, path: &str) -> bool {
        let mut known = self.frozen.iter().chain(&self.aliases);
        let mut is_run = || known.any(|frozen| frozen == path) || self.together.is_match(path);
        self.protected.is_match(path) || !self.product.is_match(path) && is_run()
    }
}

#[cfg(test)]
mod tests;
