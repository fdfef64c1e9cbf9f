//! What is made for the targets of a Makefile, whole. Pure.

use std::collections::{HashMap, HashSet};

/// A rule of a Makefile: what it needs, and its recipe.
#[derive(Default)]
struct Rule {
    needs: Vec<String>,
    recipe: Vec<String>,
}

/// Returns the targets that are made for `tasks`, as far as they stand literally in `text`, and their recipes' lines.
pub(in crate::model) fn reached(text: &str, tasks: &[String]) -> (Vec<String>, Vec<String>) {
    let (rules, by_target, first) = rules(text);
    let mut targets = tasks.to_vec();
    if targets.is_empty() {
        targets.extend(first);
    }
    let mut seen: HashSet<String> = targets.iter().cloned().collect();
    let mut is_taken = vec![false; rules.len()];
    let mut recipes = Vec::new();
    let mut at = 0;
    while let Some(target) = targets.get(at).cloned() {
        at += 1;
        for index in by_target.get(&target).into_iter().flatten() {
            if std::mem::replace(&mut is_taken[*index], true) {
                continue;
            }
            recipes.extend(rules[*index].recipe.iter().cloned());
            for need in &rules[*index].needs {
                if seen.insert(need.clone()) {
                    targets.push(need.clone());
                }
            }
        }
    }
    (targets, recipes)
}

type Rules = (Vec<Rule>, HashMap<String, Vec<usize>>, Option<String>);

/// Returns the rules of a Makefile, which of them make a target, and its first target.
fn rules(text: &str) -> Rules {
    let mut rules: Vec<Rule> = Vec::new();
    let mut by_target: HashMap<String, Vec<usize>> = HashMap::new();
    let mut first = None;
    for line in unfolded(text).lines() {
        if let Some(line) = line.strip_prefix('\t') {
            if let Some(rule) = rules.last_mut() {
                rule.recipe.push(recipe(line));
            }
            continue;
        }
        let line = line.split('#').next().unwrap_or_default();
        let Some((targets, rest)) = line.split_once(':') else {
            continue;
        };
        if targets.contains('=') || rest.trim_start_matches(':').starts_with('=') {
            continue;
        }
        let (needs, code) = rest.split_once(';').unwrap_or((rest, ""));
        for target in targets.split_whitespace() {
            let indices = by_target.entry(target.to_owned()).or_default();
            indices.push(rules.len());
            if first.is_none() && !target.starts_with('.') {
                first = Some(target.to_owned());
            }
        }
        rules.push(Rule {
            needs: needs.split_whitespace().map(str::to_owned).collect(),
            recipe: vec![recipe(code)],
        });
    }
    (rules, by_target, first)
}

/// Returns a recipe's line as the shell gets it, where make's own variables are known.
fn recipe(line: &str) -> String {
    line.trim_start_matches(['@', '-', '+', ' ', '\t'])
        .replace("$(MAKE)", "make")
        .replace("${MAKE}", "make")
        .replace("$(CURDIR)", ".")
        .replace("$$", "$")
}

/// Joins lines that a backslash continues.
pub(in crate::model) fn unfolded(text: &str) -> String {
    text.replace("\\\n\t", " ")
        .replace("\\\n", " ")
        .replace("$(CURDIR)/", "./")
}
