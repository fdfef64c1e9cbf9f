//! The rules of a Makefile or justfile: what a target or recipe needs first, and the lines that make it. Only what stands literally
//! in the text is known. Pure.

use std::collections::{HashMap, HashSet};

pub(in crate::model) use just::{imported, modules};
use just::{
    is_script, just_head, just_values, needed_recipes, put_values, runs_here, with_defaults,
    words_of_head,
};

mod just;
mod shells;
#[cfg(test)]
mod tests;

/// The names that make looks for, in its order.
pub(in crate::model) const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
/// How many targets or recipes that need each other are followed for one of them.
const MOST_NEEDED: usize = 32;
/// How deep values of variables stand in each other, and how long a line gets by them.
const DEEPEST: usize = 4;
const LONGEST: usize = 4 * 1024;
/// How many letters the name of a variable has that is put in.
const LONGEST_NAME: usize = 64;
/// How many targets of one head have rules of their own.
const MOST_TARGETS: usize = 32;

/// How many a target or recipe without lines of its own, and those that it reaches, may be to be told by what it calls: more of them are
/// followed together.
const MOST_CALLED: usize = 12;

/// The rules of a file, read once.
#[derive(Default)]
pub(in crate::model) struct Rules {
    rules: Vec<Rule>,
    by_name: HashMap<String, Vec<usize>>,
    names: Vec<String>,
    conditional: Vec<String>,
    with_arguments: Vec<String>,
    not_here: Vec<String>,
    /// What is made where nothing is asked for.
    first: Option<String>,
    /// The call by which make starts what runs the recipes, where a Makefile says so: `SHELL` with its `.SHELLFLAGS`.
    shell: Option<String>,
    /// It makes rules of others: `$(eval $(call rule,a))`.
    makes_rules: bool,
    /// The first of the rules that the next line of a Makefile is of.
    open: usize,
}

/// What a target or recipe needs first, and its lines as a shell gets them.
#[derive(Default)]
struct Rule {
    /// The target that its lines know as their own.
    target: Option<String>,
    needs: Vec<String>,
    lines: Vec<String>,
    /// All lines are one script.
    is_script: bool,
}

impl Rules {
    /// Reads the rules of a Makefile.
    pub(in crate::model) fn of_makefile(text: &str) -> Rules {
        let text = unfolded(text);
        let variables = Variables::of(&text);
        let mut rules = Rules {
            shell: variables.shell(),
            ..Rules::default()
        };
        for Placed { line, is_certain } in placed(&text) {
            rules.makes_rules |= line.contains("(eval ") || line.contains("{eval ");
            if let Some(line) = line.strip_prefix('\t') {
                rules.add_code(&variables.put_into(line));
                continue;
            }
            let Some((targets, needs, code)) = head(line) else {
                continue;
            };
            let (needs, code) = (variables.put_into(needs), variables.put_into(code));
            let targets = &*variables.put_into(targets);
            let named = targets.split_whitespace().filter(|it| !it.starts_with('.'));
            let named = named.filter(|it| is_plain(it)).map(str::to_owned);
            // What is indented stands under a condition, too.
            match is_certain && !line.starts_with(' ') {
                true => rules.names.extend(named),
                false => rules.conditional.extend(named),
            }
            let mut first = targets.split_whitespace().filter(|it| !it.starts_with('.'));
            let first = first.next().map(str::to_owned);
            rules.first = rules.first.or(first);
            rules.add_targets(targets, &needs);
            rules.add_code(&code);
        }
        let names: HashSet<&String> = rules.names.iter().collect();
        let mut conditional = std::mem::take(&mut rules.conditional);
        conditional.retain(|name| !names.contains(name));
        rules.conditional = conditional;
        rules
    }

    /// Reads the rules of a justfile.
    pub(in crate::model) fn of_justfile(text: &str) -> Rules {
        let values = just_values(text);
        // With the parameters of the recipe whose lines come.
        let mut known = values.clone();
        let mut rules = Rules::default();
        let mut is_open = false;
        let mut attributes = String::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let is_below = line.starts_with(['\t', ' ']);
            if line.starts_with('[') {
                attributes.push_str(line);
            }
            let is_note = line.starts_with(['#', '[']);
            match just_head(line) {
                _ if is_below && is_open => {
                    rules.add_line(unmarked(&put_values(line.trim(), &known)));
                }
                Some((head, needs)) if !is_below && !is_note && !needs.starts_with('=') => {
                    let words = words_of_head(head);
                    known = with_defaults(&values, words.get(1..).unwrap_or_default());
                    rules.add_recipe(&words, needs, &std::mem::take(&mut attributes));
                    is_open = true;
                }
                _ => is_open = false,
            }
        }
        rules
    }

    fn add_recipe(&mut self, head: &[&str], needs: &str, attributes: &str) {
        let mut words = head.iter();
        let Some(name) = words.next().map(|name| name.trim_start_matches('@')) else {
            return;
        };
        self.first.get_or_insert_with(|| name.to_owned());
        self.add([name].into_iter(), needed_recipes(needs));
        if let Some(rule) = self.rules.last_mut() {
            rule.is_script = is_script(attributes);
        }
        let needs_none = words.all(|word| word.contains('=') || word.starts_with('*'));
        match needs_none {
            _ if !is_plain(name) => {}
            _ if !runs_here(attributes) => self.not_here.push(name.to_owned()),
            true => self.names.push(name.to_owned()),
            false => self.with_arguments.push(name.to_owned()),
        }
    }

    fn add<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        needs: impl Iterator<Item = &'n str>,
    ) {
        for name in names {
            let indices = self.by_name.entry(name.to_owned()).or_default();
            indices.push(self.rules.len());
        }
        self.rules.push(Rule {
            needs: needs.map(str::to_owned).collect(),
            ..Rule::default()
        });
    }

    /// Adds what a head of a Makefile makes: each target by a rule of its own, for its recipe may name it.
    fn add_targets(&mut self, targets: &str, needs: &str) {
        let all: Vec<&str> = targets.split_whitespace().collect();
        self.open = self.rules.len();
        if all.len() > MOST_TARGETS {
            self.add(all.into_iter(), needs.split_whitespace());
            return;
        }
        for target in all {
            self.add([target].into_iter(), needs.split_whitespace());
            if let Some(rule) = self.rules.last_mut().filter(|_| is_file(target)) {
                rule.target = Some(target.to_owned());
            }
        }
    }

    /// Adds a line of a Makefile to the rules that it is of.
    fn add_code(&mut self, code: &str) {
        for rule in &mut self.rules[self.open..] {
            let line = recipe(code, rule.target.as_deref());
            rule.lines
                .extend(Some(line).filter(|line| !line.is_empty()));
        }
    }

    fn add_line(&mut self, line: String) {
        if let Some(rule) = self.rules.last_mut().filter(|_| !line.is_empty()) {
            rule.is_script |= rule.lines.is_empty() && line.starts_with("#!");
            rule.lines.push(line);
        }
    }

    /// Returns the targets or recipes that can be asked for as they stand, as far as they are written out.
    pub(in crate::model) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the targets that are there under a condition only, in the same way.
    pub(in crate::model) fn under_condition(&self) -> &[String] {
        &self.conditional
    }

    /// Returns the recipes that need an argument.
    pub(in crate::model) fn with_arguments(&self) -> &[String] {
        &self.with_arguments
    }

    /// Returns the recipes that ask somebody first, or are for another system.
    pub(in crate::model) fn not_here(&self) -> &[String] {
        &self.not_here
    }

    /// Returns the lines of a target or recipe, without what Make and just take for themselves.
    pub(in crate::model) fn lines(&self, name: &str) -> String {
        shells::joined(self.shells(name))
    }

    /// Returns what the shells get that are started for the lines of a target or recipe.
    fn shells(&self, name: &str) -> impl Iterator<Item = String> {
        self.named(name).flat_map(|rule| self.shells_of(rule))
    }

    fn shells_of(&self, rule: &Rule) -> Vec<String> {
        match rule.is_script || self.by_name.contains_key(".ONESHELL") {
            true => vec![rule.lines.join("\n")],
            false => shells::of_lines(&rule.lines),
        }
    }

    /// Says whether all lines of a rule are one script, for no shell.
    fn is_others(&self, rule: &Rule) -> bool {
        let first = rule.lines.first().and_then(|line| line.strip_prefix("#!"));
        let interpreter = first.or(self.shell.as_deref());
        interpreter.is_some_and(|interpreter| !interpreter.contains("sh"))
    }

    /// Returns the call by which make starts what runs the recipes, where a Makefile says so.
    pub(in crate::model) fn shell(&self) -> Option<&str> {
        self.shell.as_deref()
    }

    /// Returns the words of a target or recipe: what it needs first, and those of its lines.
    pub(in crate::model) fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        self.named(name).flat_map(|rule| {
            let words = rule.lines.iter().flat_map(|line| line.split_whitespace());
            rule.needs.iter().map(String::as_str).chain(words)
        })
    }

    /// Returns the lines of a target or recipe, behind those of what it needs; of what is made where nothing is asked for, if the name is
    /// empty.
    pub(in crate::model) fn whole(&self, name: &str) -> String {
        let name = match (name, &self.first) {
            ("", Some(first)) => first,
            (name, _) => name,
        };
        let (names, _) = self.needed(vec![name.to_owned()], MOST_NEEDED);
        shells::joined(names.iter().rev().flat_map(|name| self.shells(name)))
    }

    /// Returns the targets or recipes that one only calls: it has no lines of its own, and there are rules for these, not too many.
    pub(in crate::model) fn only_calls(&self, name: &str) -> Option<Vec<&str>> {
        let name = match (name, &self.first) {
            ("", Some(first)) => first,
            (name, _) => name,
        };
        let needs = self.named(name).flat_map(|rule| &rule.needs);
        let needs: Vec<&str> = needs.map(String::as_str).collect();
        let is_task = |name: &&str| self.by_name.contains_key(*name) && is_plain(name);
        let (reached, _) = self.needed(vec![name.to_owned()], MOST_NEEDED);
        let is_one = !needs.is_empty()
            && reached.len() <= MOST_CALLED
            && self.lines(name).trim().is_empty()
            && needs.iter().all(is_task);
        is_one.then_some(needs)
    }

    /// Returns what one is made of by no lines that are written down: the names that it needs, and its own, for which there are none.
    pub(in crate::model) fn without_lines(&self, name: &str) -> Vec<String> {
        let (mut names, _) = self.needed(vec![name.to_owned()], MOST_NEEDED);
        names.retain(|name| self.lines(name).trim().is_empty());
        names
    }

    /// Says whether a target or recipe is there; without a name, whether any is.
    pub(in crate::model) fn has(&self, name: &str) -> bool {
        match name {
            "" => self.first.is_some(),
            name => self.by_name.contains_key(name),
        }
    }

    /// Says whether a target or recipe is known to run nothing.
    pub(in crate::model) fn is_empty(&self, name: &str) -> bool {
        !self.makes_rules && self.whole(name).trim().is_empty()
    }

    /// Says whether the lines of all that a target or recipe needs are known.
    pub(in crate::model) fn is_whole(&self, name: &str) -> bool {
        let (names, _) = self.needed(vec![name.to_owned()], MOST_NEEDED);
        names.len() < MOST_NEEDED && names.iter().all(|name| self.by_name.contains_key(name))
    }

    /// Returns the targets that are made for `tasks`, or for none, and what the shells get that are started for them. The lines of a script
    /// in another language are told apart.
    pub(in crate::model) fn reached(&self, tasks: &[String]) -> (Vec<String>, Vec<String>) {
        let mut names = tasks.to_vec();
        if names.is_empty() {
            names.extend(self.first.clone());
        }
        let (names, taken) = self.needed(names, usize::MAX);
        let texts = |rule: &Rule| match self.is_others(rule) {
            true => rule.lines.clone(),
            false => self.shells_of(rule),
        };
        let texts = taken.iter().flat_map(|at| texts(&self.rules[*at]));
        (names, texts.filter(|text| !text.is_empty()).collect())
    }

    /// Returns the targets of a Makefile that are made for `tasks`, or for none, by lines that write nothing of that name: make takes one
    /// of them for done, and runs none of its lines, where something is called so.
    pub(in crate::model) fn actions(&self, tasks: &[String]) -> Vec<String> {
        const WRITING: [&str; 15] = [
            ">", ">>", "-o", "--output", "ar", "cp", "dd", "install", "ln", "mkdir", "mv", "rm",
            "tar", "tee", "touch",
        ];
        // What compilers write without being told a name, by its end and a word of the call.
        const NAMED_BY_TOOL: [(&str, &[&str]); 4] = [
            (".o", &["-c"]),
            (".class", &["javac"]),
            ("lex.yy.c", &["flex", "lex"]),
            ("y.tab.c", &["bison", "byacc", "yacc"]),
        ];
        let phony: HashSet<&String> = self.named(".PHONY").flat_map(|rule| &rule.needs).collect();
        let is_written = |name: &str, line: &String| {
            let words = || line.split(|c: char| c.is_whitespace() || ";&|()\"'".contains(c));
            let is_own = |word: &str| word.trim_start_matches(['>', '.', '/']) == name;
            let writes = |word: &str| WRITING.contains(&word) || word.starts_with('>');
            let is_named = ["$@", "$(@", "${@"].iter().any(|own| line.contains(own));
            let by_tool = NAMED_BY_TOOL.iter().any(|(end, tools)| {
                name.ends_with(end) && words().any(|word| tools.contains(&word))
            });
            is_named || by_tool || words().any(is_own) && words().any(writes)
        };
        let (mut names, _) = self.reached(tasks);
        names.retain(|name| {
            let mut lines = self.named(name).flat_map(|rule| &rule.lines).peekable();
            let is_action = lines.peek().is_some() && !lines.any(|line| is_written(name, line));
            is_action && is_plain(name) && !phony.contains(name)
        });
        names
    }

    /// Returns these names with what they need, up to so many, and which rules make them.
    fn needed(&self, mut names: Vec<String>, most: usize) -> (Vec<String>, Vec<usize>) {
        let mut seen: HashSet<String> = names.iter().cloned().collect();
        let mut is_taken = HashSet::new();
        let mut taken = Vec::new();
        let mut at = 0;
        while let Some(name) = names.get(at) {
            at += 1;
            let rules = self.by_name.get(name).into_iter().flatten().copied();
            let rules = rules.filter(|rule| is_taken.insert(*rule));
            let rules: Vec<usize> = rules.collect();
            for need in rules
                .iter()
                .flat_map(|at| self.rules[*at].needs.iter().take(most))
            {
                if names.len() < most && seen.insert(need.clone()) {
                    names.push(need.clone());
                }
            }
            taken.extend(rules);
        }
        (names, taken)
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Rule> {
        let all = self.by_name.get(name).into_iter().flatten();
        all.map(|at| &self.rules[*at])
    }
}

/// A line of a Makefile.
struct Placed<'t> {
    line: &'t str,
    /// It stands under no condition.
    is_certain: bool,
}

/// Returns the lines of a Makefile but those of texts that it defines and of its conditions.
fn placed(text: &str) -> impl Iterator<Item = Placed<'_>> {
    let mut conditions = 0_usize;
    let mut is_defined = false;
    text.lines().filter_map(move |line| {
        let word = line.split_whitespace().next().unwrap_or_default();
        match word {
            "endef" => is_defined = false,
            _ if is_defined || line.starts_with('\t') => {
                let is_certain = conditions == 0;
                return (!is_defined).then_some(Placed { line, is_certain });
            }
            "define" => is_defined = true,
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => conditions += 1,
            "endif" => conditions = conditions.saturating_sub(1),
            "else" => {}
            _ => {
                let is_certain = conditions == 0;
                return Some(Placed { line, is_certain });
            }
        }
        None
    })
}

/// The variables of a Makefile that have one value, whatever holds.
#[derive(Default)]
struct Variables<'t>(HashMap<&'t str, Option<&'t str>>);

impl<'t> Variables<'t> {
    fn of(text: &'t str) -> Variables<'t> {
        let mut all = Variables::default();
        for Placed { line, is_certain } in placed(text).filter(|it| !it.line.starts_with('\t')) {
            let end = line.find('#').unwrap_or(line.len());
            let Some((name, value)) = line[..end].split_once('=') else {
                continue;
            };
            let name = name.trim_end_matches([':', '?', '+']).trim();
            let name = name.strip_prefix("export ").unwrap_or(name);
            if is_plain(name) {
                let is_first = !all.0.contains_key(name);
                let value = (is_certain && is_first).then_some(value.trim());
                all.0.insert(name, value);
            }
        }
        all
    }

    /// Returns the call by which make starts what runs recipes, where they say one.
    fn shell(&self) -> Option<String> {
        let shell = self.0.get("SHELL").copied().flatten()?;
        let flags = self.0.get(".SHELLFLAGS").copied().flatten();
        Some(self.put_into(&format!("{shell} {}", flags.unwrap_or("-c"))))
    }

    /// Returns a text with the values in it, and the values in these, up to a bound.
    fn put_into(&self, text: &str) -> String {
        let mut whole = text.to_owned();
        for _ in 0..DEEPEST {
            match self.put_once(&whole).filter(|put| *put != whole) {
                Some(put) => whole = put,
                None => break,
            }
        }
        whole
    }

    /// Puts values in; none where that would get too long.
    fn put_once(&self, text: &str) -> Option<String> {
        let mut done = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            done.push_str(&rest[..at]);
            if done.len() + rest.len() > LONGEST {
                return None;
            }
            let behind = &rest[at + 1..];
            let close = match behind.chars().next() {
                Some('(') => ")",
                Some('{') => "}",
                // Two stand for one of the shell's.
                Some('$') => {
                    done.push_str("$$");
                    rest = &behind[1..];
                    continue;
                }
                Some(_) | None => {
                    done.push('$');
                    rest = behind;
                    continue;
                }
            };
            let name = named_before(&behind[1..], close);
            match name.and_then(|(name, rest)| Some(((*self.0.get(name)?)?, rest))) {
                Some((value, behind)) => {
                    done.push_str(value);
                    rest = behind;
                }
                None => {
                    done.push('$');
                    rest = behind;
                }
            }
        }
        Some(done + rest).filter(|done| done.len() <= LONGEST)
    }
}

/// Returns the name before these marks and what stands behind them, where they are near.
fn named_before<'t>(text: &'t str, marks: &str) -> Option<(&'t str, &'t str)> {
    let near = text
        .char_indices()
        .nth(LONGEST_NAME)
        .map_or(text, |(end, _)| &text[..end]);
    let at = near.find(marks)?;
    Some((&text[..at], &text[at + marks.len()..]))
}

/// Returns the words that name the files which a Makefile includes.
pub(in crate::model) fn included(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with('\t'));
    lines.flat_map(|line| {
        let mut words = line
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let includes = matches!(words.next(), Some("include" | "-include" | "sinclude"));
        words.filter(move |_| includes).filter_map(argument)
    })
}

/// Returns a word without what is left of functions around it, `mk/*.mk` of `$(sort $(wildcard mk/*.mk))`; none if it begins one.
fn argument(word: &str) -> Option<&str> {
    let count = |word: &str, brackets: [char; 2]| word.matches(brackets).count();
    let mut word = word;
    while count(word, ['(', '{']) < count(word, [')', '}']) && word.ends_with([')', '}']) {
        word = &word[..word.len() - 1];
    }
    let is_whole = count(word, ['(', '{']) == count(word, [')', '}']);
    (is_whole && !word.is_empty()).then_some(word)
}

/// Returns what a line of a Makefile makes, what that needs, and the code beside it; none if it is no rule.
fn head(line: &str) -> Option<(&str, &str, &str)> {
    // A mark for notes is one of the shell's in code.
    let end = line.find(['#', ';']).unwrap_or(line.len());
    let at = colon(&line[..end])?;
    let (targets, rest) = (&line[..at], &line[at + 1..end]);
    let needs = rest.trim_start_matches(':');
    let is_setting = targets.contains('=') || needs.starts_with('=');
    let code = line[end..].strip_prefix(';').unwrap_or_default();
    (!is_setting).then_some((targets, needs, code))
}

/// Returns where the first colon stands that is in no value or call of make's: `$(warning a: b)` is no rule.
fn colon(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            ':' if depth == 0 => return Some(at),
            '(' | '{' => depth += usize::from(depth > 0 || before == '$'),
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
    }
    None
}

fn is_plain(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !word.is_empty() && word.chars().all(is_part)
}

/// Says whether a target is the name of one file, and a word to every shell.
fn is_file(target: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
    target.chars().all(is_part)
}

/// Returns a line without the marks that make and just take for themselves. One whose failure they are to pass by does not fail.
fn unmarked(line: &str) -> String {
    let code = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
    let marks = &line[..line.len() - code.len()];
    match marks.contains('-') && !code.is_empty() {
        true => format!("{code} || true"),
        false => code.to_owned(),
    }
}

/// Returns a line of the recipe for a target as the shell gets it, where make's own variables are known.
fn recipe(line: &str, target: Option<&str>) -> String {
    unmarked(&for_shell(line, target, 0))
}

/// Returns a text of make's as text for a shell: a value or a function of which nothing is known is a variable of that name there,
/// and not a command as its parentheses would have it; what `$(shell …)` runs is one.
fn for_shell(text: &str, target: Option<&str>, depth: usize) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        done.push_str(before);
        if let Some(behind) = behind.strip_prefix('$') {
            done.push('$');
            rest = behind;
            continue;
        }
        let Some((inside, behind)) = enclosed(behind).filter(|_| depth < DEEPEST) else {
            let own = behind.chars().next().filter(|c| "@<^+%".contains(*c));
            let shown = match (own, target) {
                (Some('@'), Some(target)) => target.to_owned(),
                (Some('@') | None, _) => {
                    done.push('$');
                    rest = behind;
                    continue;
                }
                // In braces it is a variable to the shell, too.
                (Some(own), _) => format!("${{{own}}}"),
            };
            done.push_str(&shown);
            rest = &behind[1..];
            continue;
        };
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = inside.find(|c| !is_of_name(c)).unwrap_or(inside.len());
        match inside.split_at(end) {
            ("", "@") if target.is_some() => done.push_str(target.unwrap_or_default()),
            ("MAKE", "") => done.push_str("make"),
            ("CURDIR", "") => done.push('.'),
            // What keeps make from saying what it runs.
            ("AT" | "Q" | "QUIET", "") => {}
            (name, "") if program_of(name).is_some() => {
                done.push_str(&program_of(name).unwrap_or_default());
            }
            ("shell", code) => {
                let code = for_shell(code.trim(), target, depth + 1);
                done.push_str(&format!("$({code})"));
            }
            // They only say something, and make does it.
            ("info" | "warning", said) if said.starts_with(' ') => {}
            ("", _) => done.push_str("${_}"),
            (name, _) => done.push_str(&format!("${{{name}}}")),
        }
        rest = behind;
    }
    done + rest
}

/// Returns the program that a variable stands for by its name, where no value of it is known: `$(PYTHON)`, `$(SED)`.
fn program_of(name: &str) -> Option<String> {
    const NAMES: [&str; 36] = [
        "AWK", "BASH", "BLACK", "BUNDLE", "CARGO", "CC", "CMAKE", "COMPOSER", "CP", "DIFF",
        "DOCKER", "ECHO", "FIND", "FLAKE8", "GO", "GREP", "MKDIR", "MV", "MYPY", "NODE", "NPM",
        "NPX", "PERL", "PHP", "PIP", "PNPM", "POETRY", "PYTEST", "PYTHON", "PYTHON3", "RUBY",
        "RUFF", "SED", "TOX", "UV", "YARN",
    ];
    match name {
        "CXX" => Some("c++".to_owned()),
        "RM" => Some("rm -f".to_owned()),
        "SHELL" => Some("sh".to_owned()),
        name => NAMES.contains(&name).then(|| name.to_lowercase()),
    }
}

/// Returns what stands in the parentheses or braces that begin here, and what stands behind them.
fn enclosed(text: &str) -> Option<(&str, &str)> {
    let (open, close) = match text.chars().next()? {
        '(' => ('(', ')'),
        '{' => ('{', '}'),
        _ => return None,
    };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take(LONGEST) {
        depth += usize::from(c == open);
        depth -= usize::from(c == close);
        if depth == 0 {
            return Some((&text[1..at], &text[at + 1..]));
        }
    }
    None
}

/// Returns the text of a Makefile in which recipes begin as they do unless it says otherwise: `.RECIPEPREFIX = >`.
fn with_tabs(text: String) -> String {
    const NAME: &str = ".RECIPEPREFIX";
    if !text.contains(NAME) {
        return text;
    }
    let mut prefix = '\t';
    let lines = text.lines().map(|line| {
        let set = line.strip_prefix(NAME).and_then(|set| set.split_once('='));
        if let Some((_, value)) =
            set.filter(|(mark, _)| mark.trim_matches([':', '?', ' ']).is_empty())
        {
            prefix = value.trim_start().chars().next().unwrap_or('\t');
        }
        match line.strip_prefix(prefix) {
            Some(rest) => format!("\t{rest}\n"),
            None => format!("{}\n", line.trim_start_matches('\t')),
        }
    });
    lines.collect()
}

/// Joins lines of a Makefile that a backslash continues.
pub(in crate::model) fn unfolded(text: &str) -> String {
    with_tabs(text.replace("\r\n", "\n"))
        .replace("\\\n\t", " ")
        .replace("\\\n", " ")
        .replace("$(CURDIR)/", "./")
}
