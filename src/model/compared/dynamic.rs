//! Whether a text hands git a revision that only running it tells: an argument, what the environment holds, what another program
//! prints. Pure.

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
            || handed.words.iter().any(|word| is_variable(word, text))
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
fn is_variable(word: &str, text: &str) -> bool {
    word.split("..").any(|piece| {
        let piece = piece.trim_start_matches(['.', '^']);
        let Some(name) = piece.strip_prefix('$') else {
            return false;
        };
        let name = name.trim_start_matches(['{', '!']);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        match &name[..end.unwrap_or(name.len())] {
            "" => name.starts_with(|c| !NO_NAMES.contains(&c)),
            name => !is_told(name, text),
        }
    })
}

/// Says whether a text says itself what is in a variable, wherever it puts something in.
fn is_told(name: &str, text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_${".contains(c);
    let mut values = text.match_indices(name).filter_map(|(place, _)| {
        let behind = &text[place + name.len()..];
        let is_whole = !text[..place].ends_with(is_part);
        let is_looped = text[..place].trim_end().ends_with("for");
        match behind.trim_start().strip_prefix("in ") {
            Some(values) if is_looped => Some(values.split(['\n', ';']).next().unwrap_or(values)),
            _ => behind.strip_prefix('=').map(value).filter(|_| is_whole),
        }
    });
    let mut count = 0;
    let are_told = values.all(|value| {
        count += usize::from(!value.is_empty());
        let printed = value.strip_prefix("$(").or_else(|| value.strip_prefix('`'));
        printed.map_or(!value.contains(['$', '`']), asks_git)
    });
    are_told && count > 0
}

/// Returns the value that a text begins with: a word, or the whole of what a command prints.
fn value(text: &str) -> &str {
    let text = text.trim_start_matches(['"', '\'']);
    let end = match text.strip_prefix("$(").or_else(|| text.strip_prefix('`')) {
        Some(_) => text[2..].find([')', '`', '|']).map(|end| end + 2),
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
