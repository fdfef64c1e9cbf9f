//! Whether a text hands git a revision that only running it tells: an argument, what the environment holds, what another program
//! prints. Pure.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::{ENDS, WITHOUT_REFS, command_of_git, is_between, words_in};

/// Stands for what a command prints that no text tells, and for what its own words tell.
const PRINTED: &str = "$@";
const TOLD: &str = "HEAD";
/// Commands of git that print where the refs in their own words lead.
const TELLING: [&str; 6] = [
    "describe",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "symbolic-ref",
];
/// Commands of git that may bring refs of this very repository.
const BRINGING: [&str; 4] = ["clone", "fetch", "ls-remote", "pull"];
/// What is no name of a variable: a status, a process, how many arguments there are.
const NO_NAMES: [char; 4] = ['?', '$', '#', '-'];
/// Commands of git to which others hand paths, and patterns.
const OF_PATHS: [&str; 3] = ["blame", "grep", "rm"];

/// Returns a text in which what commands print that stand within others is put in by a mark, and these stand on lines of their own.
pub(super) fn unnested(text: &str) -> String {
    let (mut lines, mut open) = (String::new(), vec![(String::new(), ')')]);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let end = open.last().map_or(')', |(_, end)| *end);
        match c {
            '$' if rest.next_if_eq(&'(').is_some() => open.push((String::new(), ')')),
            '`' if end != '`' => open.push((String::new(), '`')),
            '\\' => {
                let next = rest.next();
                push(&mut open, c);
                next.into_iter().for_each(|c| push(&mut open, c));
            }
            '(' if open.len() > 1 => {
                // Its end is not that of what stands around it.
                push(&mut open, c);
                open.push((String::new(), '('));
            }
            ')' if end == '(' => {
                let (inside, _) = open.pop().unwrap_or_default();
                let around = open.last_mut().map(|(text, _)| text);
                around.into_iter().for_each(|text| {
                    text.push_str(&inside);
                    text.push(c);
                });
            }
            c if c == end && open.len() > 1 => {
                let (inside, _) = open.pop().unwrap_or_default();
                let mark = if tells(&inside) { TOLD } else { PRINTED };
                open.last_mut()
                    .into_iter()
                    .for_each(|(text, _)| text.push_str(mark));
                lines.push_str(&inside);
                lines.push('\n');
            }
            c => push(&mut open, c),
        }
    }
    for (text, _) in open {
        lines.push_str(&text);
        lines.push('\n');
    }
    lines
}

fn push(open: &mut [(String, char)], c: char) {
    open.last_mut()
        .into_iter()
        .for_each(|(text, _)| text.push(c));
}

/// Says whether what a command prints is told by its own words.
fn tells(command: &str) -> bool {
    let words = words_in(command);
    let asked = command_of_git(&words);
    !command.contains(['|', ';', '\n', '&'])
        && asked.is_some_and(|(_, name)| TELLING.contains(&name))
}

/// Says whether a text without comments does so, as `unnested` gives it. What another language puts together for git is not told by
/// its words.
pub(super) fn hands(text: &str, is_shells: bool) -> bool {
    const VALUES: [&str; 4] = ["=git ", "=\"git ", "='git ", "(git "];
    let is_code = !is_shells || text.contains("\"git\"") || text.contains("'git'");
    let is_kept = text.contains(":-git}") || VALUES.iter().any(|value| text.contains(value));
    let told = LazyCell::new(|| told(text));
    let is_told = |name: &str| told.get(name).is_some_and(|is_told| *is_told);
    is_kept && text.contains('$')
        || text.split(ENDS).any(|part| {
            let words = words_in(part);
            let Some((command, name)) = command_of_git(&words) else {
                return false;
            };
            let handed = &words[(command + 1).min(words.len())..];
            match name {
                "git" => is_code,
                name if BRINGING.contains(&name) => handed.iter().any(|word| is_here(word)),
                name if WITHOUT_REFS.contains(&name) => false,
                name => {
                    let end = handed.iter().position(|word| *word == "--");
                    let handed = (&handed[..end.unwrap_or(handed.len())], end.is_some());
                    is_code
                        || name.starts_with('$')
                        || is_handed_more(&words[..command], (name, handed))
                        || revisions(handed.0).any(|word| is_variable(word, &is_told))
                }
            }
        })
}

/// Returns the words that stand where revisions do, and not as the value of an option in quotes: `--since="$day"`.
fn revisions<'w>(handed: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    let before = std::iter::once(&"").chain(handed);
    let is_value = |before: &str| before.starts_with('-') && before.ends_with('=');
    let all = before.zip(handed);
    all.filter(move |(before, _)| !is_value(before))
        .map(|(_, word)| *word)
}

/// Says whether a word means this repository, where others are asked for refs.
fn is_here(word: &str) -> bool {
    word.starts_with(['.', '/'])
        || ["file:", "$PWD", PRINTED]
            .iter()
            .any(|it| word.starts_with(it))
}

/// Says whether git gets revisions from elsewhere than its words: `xargs git show`, `git rev-list --stdin`.
fn is_handed_more(before: &[&str], (name, (handed, has_end)): (&str, (&[&str], bool))) -> bool {
    let has = |mark: &str| handed.iter().any(|word| word.contains(mark));
    let reads = |word: &&str| *word == "--stdin" || word.starts_with("--batch");
    let mut before = before.iter();
    let by_another = before.any(|word| *word == "xargs")
        && match before.find_map(|word| word.strip_prefix("-I")) {
            Some("") => before.next().is_some_and(|mark| has(mark)),
            Some(mark) => has(mark),
            None => !has_end && !OF_PATHS.contains(&name),
        };
    by_another || handed.iter().any(reads)
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
        let value = beginning(text[place + 1..].trim_start_matches(['"', '\'']));
        let value = &value[..value.find(is_between).unwrap_or(value.len())];
        if is_put_in && !name.is_empty() && !value.is_empty() {
            note(name, !value.contains(['$', '`']));
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
    for part in text.split(ENDS) {
        let words = words_in(part);
        match words.iter().position(|word| *word == "read") {
            Some(read) => words[read..].iter().for_each(|name| note(name, false)),
            // Another file may put anything into any of them.
            None if [Some(&"."), Some(&"source")].contains(&words.first()) => {
                return HashMap::new();
            }
            None => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hands(text: &str, is_shells: bool) -> bool {
        super::hands(&unnested(text), is_shells)
    }

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
            "git diff HEAD..$(cat rev)",
            "git -C \"$(pwd)\" diff $(cat rev)",
            "B=main; [ -f f ] && read -r B <f; git diff $B",
            "B=main; . ./env; git diff $B",
            "B=$(git symbolic-ref refs/remotes/origin/HEAD | sed s@.*/@@); git diff $B",
            "B=$(git show HEAD:rev); git diff $B",
            "g() { git --no-pager \"$@\"; }; g diff main",
            "GIT=${GIT:-git}; $GIT diff main",
            "D=\"git diff --quiet\"; $D main",
            "echo main | git rev-list --stdin HEAD",
            "git fetch -q . main && git diff FETCH_HEAD",
            "subprocess.run([\n\"git\",\n\"diff\",\n\"main\"])",
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
            "git -C \"$(pwd)\" diff main",
            "(cd a && git diff $(git merge-base HEAD \"$(git rev-parse main)\"))",
            "command -v git || exit 77; git diff main",
            "git fetch -q origin main",
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
