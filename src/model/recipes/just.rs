//! Justfiles: heads of recipes, their parameters with what they stand for, and values that are written out. Pure.

use std::collections::HashMap;

use super::{LONGEST, is_plain, named_before};

/// Returns the variables of a justfile whose values are written out.
pub(super) fn just_values(text: &str) -> HashMap<&str, &str> {
    let value = |line| -> Option<(&str, &str)> {
        let (name, value) = str::split_once(line, ":=")?;
        let name = name.trim();
        let name = name.strip_prefix("export ").unwrap_or(name);
        let value = quoted(value.trim())?;
        is_plain(name).then_some((name, value))
    };
    text.lines().filter_map(value).collect()
}

/// Splits a line of a justfile where the head of a recipe ends: at the first colon outside of quotes.
pub(super) fn just_head(line: &str) -> Option<(&str, &str)> {
    let at = line.find(outside_quotes(|c| c == ':'))?;
    Some((&line[..at], &line[at + 1..]))
}

/// Returns the words of a recipe's head: its name, and its parameters with their defaults, which may have blanks in quotes.
pub(super) fn words_of_head(head: &str) -> Vec<&str> {
    let words = head.split(outside_quotes(char::is_whitespace));
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns what says of each character in turn whether it is such a one outside of quotes.
fn outside_quotes(is_meant: fn(char) -> bool) -> impl FnMut(char) -> bool {
    let mut quote = None;
    move |c| match (c, quote) {
        ('\'' | '"', None) => {
            quote = Some(c);
            false
        }
        (c, Some(open)) => {
            quote = quote.filter(|_| c != open);
            false
        }
        (c, None) => is_meant(c),
    }
}

/// Returns what is known in a recipe with these parameters where it is handed nothing: defaults that are written out, and nothing in place
/// of what need not be handed.
pub(super) fn with_defaults<'t>(
    values: &HashMap<&'t str, &'t str>,
    parameters: &[&'t str],
) -> HashMap<&'t str, &'t str> {
    let mut known = values.clone();
    for parameter in parameters {
        let (marked, default) = match parameter.split_once('=') {
            Some((marked, default)) => (marked, Some(default)),
            None => (*parameter, parameter.starts_with('*').then_some("''")),
        };
        let name = marked.trim_start_matches(['*', '+', '$']);
        let value = default.and_then(|it| quoted(it).or_else(|| values.get(it).copied()));
        match value {
            Some(value) => known.insert(name, value),
            None => known.remove(name),
        };
    }
    known
}

/// Returns a text that stands in quotes as it is.
fn quoted(value: &str) -> Option<&str> {
    let inside = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    let text = inside('\'').or_else(|| inside('"'))?;
    (!text.contains(['\'', '"', '\\'])).then_some(text)
}

/// Puts values where a line of a justfile names them: `{{name}}`.
pub(super) fn put_values(line: &str, values: &HashMap<&str, &str>) -> String {
    let mut done = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("{{") {
        done.push_str(before);
        if done.len() + rest.len() > LONGEST {
            return line.to_owned();
        }
        let named = named_before(behind, "}}");
        match named.and_then(|(name, behind)| Some((values.get(name.trim())?, behind))) {
            Some((value, behind)) => {
                done.push_str(value);
                rest = behind;
            }
            None => {
                done.push_str("{{");
                rest = behind;
            }
        }
    }
    done + rest
}

/// Says whether a recipe with these attributes, `[linux][group('a')]`, runs on this system without asking anybody.
pub(super) fn runs_here(attributes: &str) -> bool {
    const SYSTEMS: [&str; 5] = ["linux", "macos", "openbsd", "unix", "windows"];
    let here = [std::env::consts::OS, std::env::consts::FAMILY];
    let words = || attributes.split(['[', ']', ',', ' ', ':']);
    let mut systems = words().filter(|word| SYSTEMS.contains(word)).peekable();
    let is_of_here = systems.peek().is_none() || systems.any(|word| here.contains(&word));
    is_of_here && !words().any(|word| word == "confirm" || word.starts_with("confirm("))
}

/// Says whether the lines of a recipe with these attributes are one script: `[script]`, `[script('bash')]`.
pub(super) fn is_script(attributes: &str) -> bool {
    let mut words = attributes.split(|c: char| "[](), ".contains(c));
    words.any(|word| word == "script")
}

/// Returns the modules that a justfile has, each with the path that it is given, if any: `mod ci`, `mod? ci 'tools/ci.just'`.
pub(in crate::model) fn modules(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("mod")?;
        let rest = rest.strip_prefix('?').unwrap_or(rest);
        let rest = rest.strip_prefix(' ')?.trim();
        let (name, path) = rest.split_once(' ').unwrap_or((rest, ""));
        is_plain(name).then(|| (name, quoted(path.trim())))
    })
}

/// Returns the words that name the files which a justfile imports.
pub(in crate::model) fn imported(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("import")?;
        let rest = rest.strip_prefix('?').unwrap_or(rest);
        let name = rest.strip_prefix(' ')?.trim();
        let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
        quoted('\'').or_else(|| quoted('"'))
    })
}

/// Returns the recipes that one of just needs: `a (b "c") && d`, up to a note.
pub(super) fn needed_recipes(needs: &str) -> impl Iterator<Item = &str> {
    let needs = needs.split('#').next().unwrap_or_default();
    let mut is_argument = false;
    needs.split_whitespace().filter_map(move |word| {
        let stands_alone = !std::mem::replace(&mut is_argument, false);
        let name = word.trim_start_matches('(').trim_end_matches(')');
        is_argument = (!stands_alone || word.starts_with('(')) && !word.ends_with(')');
        (stands_alone && word != "&&").then_some(name)
    })
}
