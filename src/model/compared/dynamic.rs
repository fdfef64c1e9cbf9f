//! Whether a text hands git a revision that only running it tells: an argument, what the environment holds, what another program
//! prints. Pure.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::{WITHOUT_REFS, command_of_git, is_between};

/// What commands and substitutions end with, or begin.
pub(super) const ENDS: [char; 7] = ['\n', ';', '|', '&', '(', ')', '`'];
/// What is no name of a variable: a status, a process, how many arguments there are.
const NO_NAMES: [char; 4] = ['?', '$', '#', '-'];
/// Commands of git to which others hand paths, and patterns.
const OF_PATHS: [&str; 3] = ["blame", "grep", "rm"];

/// Says whether a text without comments does so. What another language puts together for git is not told by its words.
pub(super) fn hands(text: &str, is_shells: bool) -> bool {
    let parts: Vec<&str> = text.split_inclusive(ENDS).collect();
    let is_code = !is_shells || text.contains("\"git\"") || text.contains("'git'");
    let told = LazyCell::new(|| told(text));
    let is_told = |name: &str| told.get(name).is_some_and(|is_told| *is_told);
    let mut is_within = false;
    parts.iter().enumerate().any(|(at, part)| {
        let is_end = is_within && part.ends_with('`');
        is_within ^= part.ends_with('`');
        let words = words(part);
        let Some(handed) = handed(&words) else {
            return false;
        };
        // A word of its own: how far back from HEAD is no revision.
        let opened = part.strip_suffix("$(").or_else(|| part.strip_suffix('`'));
        let is_whole = |before: &str| before.ends_with(is_between);
        let puts_in = !is_end && opened.is_some_and(is_whole);
        let prints = || parts.get(at + 1).is_some_and(|next| !asks_git(next));
        is_code
            || handed.by_another
            || handed.words.iter().any(|word| is_variable(word, &is_told))
            || puts_in && handed.takes_more && prints()
    })
}

/// What a command of git is handed.
struct Handed<'w> {
    words: Vec<&'w str>,
    /// A program hands it more words: `xargs git show`.
    by_another: bool,
    /// What comes next stands where a revision does.
    takes_more: bool,
}

/// Returns what a command of git is handed that takes revisions.
fn handed<'w>(words: &[&'w str]) -> Option<Handed<'w>> {
    let (command, name) = command_of_git(words)?;
    if name == "git" || WITHOUT_REFS.contains(&name) {
        return None;
    }
    let rest = &words[command + 1..];
    let end = rest.iter().position(|word| *word == "--");
    let handed: Vec<&str> = rest[..end.unwrap_or(rest.len())].to_vec();
    let mut before = words[..command].iter();
    let by_another = before.any(|word| *word == "xargs")
        && match before.find_map(|word| word.strip_prefix("-I")) {
            Some("") => before.next().is_some_and(|mark| has(&handed, mark)),
            Some(mark) => has(&handed, mark),
            None => end.is_none() && !OF_PATHS.contains(&name),
        };
    let last = handed.iter().rfind(|word| **word != "$").copied();
    let is_value = last.is_some_and(|word| word.starts_with('-') && word.ends_with('='));
    Some(Handed {
        words: handed,
        by_another,
        takes_more: end.is_none() && !is_value,
    })
}

fn has(words: &[&str], mark: &str) -> bool {
    words.iter().any(|word| word.contains(mark))
}

fn words(part: &str) -> Vec<&str> {
    let all = part.trim_end_matches(ENDS).split(is_between);
    all.filter(|word| !word.is_empty()).collect()
}

/// Says whether a command is git's and takes revisions: its own words tell which.
fn asks_git(part: &str) -> bool {
    handed(&words(part)).is_some()
}

/// Says whether a word of git's is a variable of which the text does not say what is in it.
fn is_variable(word: &str, is_told: &dyn Fn(&str) -> bool) -> bool {
    word.split("..").any(|piece| {
        let piece = piece.trim_start_matches(['.', '^']);
        let Some(name) = piece.strip_prefix('$') else {
            return false;
        };
        let name = name.trim_start_matches(['{', '!']);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        match &name[..end.unwrap_or(name.len())] {
            "" => name.starts_with(|c| !NO_NAMES.contains(&c)),
            name => !is_told(name),
        }
    })
}

/// Returns the variables into which a text puts something, and of each whether the text says what, wherever it does.
fn told(text: &str) -> HashMap<&str, bool> {
    let mut told = HashMap::new();
    let mut note = |name, is_told| *told.entry(name).or_insert(true) &= is_told;
    for (place, _) in text.match_indices('=') {
        let name = last_name(&text[..place]);
        let is_put_in = !text[..place - name.len()].ends_with(['$', '{', '-']);
        let value = value(&text[place + 1..]);
        if is_put_in && !name.is_empty() && !value.is_empty() {
            let printed = value.strip_prefix("$(").or_else(|| value.strip_prefix('`'));
            note(name, printed.map_or(!value.contains(['$', '`']), asks_git));
        }
    }
    for (place, _) in text.match_indices(" in ") {
        let name = last_name(&text[..place]);
        let before = text[..place - name.len()].trim_end_matches(' ');
        let values = beginning(&text[place + 1..]);
        let values = values.split(['\n', ';']).next().unwrap_or(values);
        if before.ends_with("for") {
            note(name, !values.contains(['$', '`']));
        }
    }
    told
}

/// Returns the name of a variable with which a text ends.
fn last_name(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    &text[text.trim_end_matches(is_part).len()..]
}

/// Returns as much of a text as is looked at: what stands in one line of anybody's is shorter.
fn beginning(text: &str) -> &str {
    const LONGEST: usize = 1_000;
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the value that a text begins with: a word, or what a command prints, of which the beginning tells enough.
fn value(text: &str) -> &str {
    let text = beginning(text.trim_start_matches(['"', '\'']));
    let end = match text.strip_prefix("$(").or_else(|| text.strip_prefix('`')) {
        Some(_) => text[1..].find([')', '`', '|', '\n']).map(|end| end + 1),
        None => text.find(is_between),
    };
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_that_only_running_tells_is_seen() {
        for text in [
            "git diff --quiet \"$(git config my.base)\" -- api",
            "git diff `cat .base` -- api",
            "git diff \"$1\" -- api",
            "git log ${BASE}..HEAD",
            "git log HEAD...\"$BASE\"",
            "git diff ${BASE:-main}",
            "BASE=$1\ngit diff $BASE",
            "BASE=main\n[ -z \"$2\" ] || BASE=\"$2\"\ngit diff $BASE",
            "base=\"$(cat f)\"; git diff $base",
            "b=main; b=$1; git diff $b",
            "git diff --base=main $b",
            "echo ${b=main}; git diff $b",
            "for b in $ALL; do git diff \"$b\"; done",
            "cat f | while read b; do git diff $b; done",
            "echo main | xargs -I{} git diff --quiet {} -- api",
            "echo main | xargs git show",
            "echo main | xargs -n 1 -I % git show %:api",
            "git diff \"$@\"",
            "git show $B:api",
            "python3 -c 'import subprocess; subprocess.run([\"git\", \"diff\", b])'",
        ] {
            assert!(hands(text, true), "{text}");
        }
        let of_letters_of_many_bytes = format!("b={}; git diff $b$1 $2", "ü".repeat(2_000));
        assert!(hands(&of_letters_of_many_bytes, true));
        assert!(hands("spawn(`git diff ${base}`)", false));
        for text in [
            "git diff main -- \"$1\"",
            "git diff \"$(git merge-base HEAD main)\"",
            "git diff `git merge-base HEAD main` main",
            "base=main; git diff \"$base\"",
            "base=\"v1\"; git diff \"$base\"",
            "base=\"$(git merge-base HEAD main)\"; git diff \"$base\"",
            "for b in a main; do git diff \"$b\"; done",
            "git show HEAD~$n",
            "git show HEAD~$((n + 1))",
            "git log --since=\"$(date)\" main",
            "git config \"$1\"",
            "git fetch \"$1\"",
            "git ls-files | xargs git grep x",
            "git ls-files | xargs git log main --",
            "git ls-files | xargs -I{} git log main -- {}",
            "echo \"$1\"; git diff main",
            "git",
        ] {
            assert!(!hands(text, true), "{text}");
        }
        assert!(!hands("import os\nos.system('git status')", false));
    }
}
