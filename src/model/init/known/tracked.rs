//! What commands do to the files that git tracks: they remove them, write over them, or put others among them. Pure.

use super::{is_of_others, outputs};
use crate::model::check::{self, Does, Done};
use crate::model::init::{Look, called};

/// What tools make, so that nobody misses it.
const MADE: [&str; 11] = [
    ".coverage",
    ".mypy_cache",
    ".nyc_output",
    ".pytest_cache",
    ".ruff_cache",
    "build",
    "coverage",
    "dist",
    "htmlcov",
    "out",
    "target",
];

/// How the names of files end that compilers make.
const COMPILED: [&str; 6] = [".a", ".dylib", ".la", ".lo", ".o", ".so"];

/// Says whether a command may take away what nobody can bring back: what git does not track, and no tool makes.
pub(super) fn may_lose(name: &str, moved: &[&str]) -> bool {
    let is_made = |path: &&str| {
        let first = path.trim_start_matches("./").split('/').next();
        path.starts_with("/tmp/")
            || first.is_some_and(|first| MADE.contains(&first))
            || COMPILED.iter().any(|end| path.ends_with(end))
    };
    matches!(name, "mv" | "rm" | "rmdir" | "unlink") && !moved.iter().all(is_made)
}

/// Returns what a command removes, writes over or puts something into; none if it is none that does.
pub(super) fn moved<'w>(name: &str, rest: &'w [String]) -> Option<Vec<&'w str>> {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let mut operands = check::operands(&words, |_| false);
    match name {
        "mv" | "rm" | "rmdir" | "touch" | "unlink" => {}
        // `+x` and `-x` are no operands.
        "chmod" if words.iter().any(|word| is_mode(word)) => {}
        "chmod" => drop(operands.drain(..operands.len().min(1))),
        "cp" | "ln" if folder_of(rest).is_some() => return folder_of(rest).map(|to| vec![to]),
        "cp" | "ln" if operands.len() > 1 => drop(operands.drain(..operands.len() - 1)),
        _ => return None,
    }
    Some(operands)
}

/// Returns the folder into which a command is told to put files by an option.
fn folder_of(rest: &[String]) -> Option<&str> {
    called::value_of(rest, &["-t", "--target-directory"])
}

/// Says whether a command changes the files that another one hands it: `xargs touch`, `find -exec touch {}`.
pub(super) fn changes_handed(one: &Done) -> bool {
    const PLACE: &str = "{}";
    if one.handed.is_none() {
        return false;
    }
    let mut words = one.words.clone();
    // By themselves they stand behind all that is told.
    if !words.iter().any(|word| word == PLACE) {
        words.push(PLACE.to_owned());
    }
    let name = words[0].rsplit('/').next().unwrap_or_default();
    match moved(name, &words[1..]) {
        Some(moved) => moved.contains(&PLACE),
        None => outputs(&words).iter().any(|to| to == PLACE),
    }
}

/// Says whether a word tells chmod what to add or to take away, and looks like an option.
fn is_mode(word: &str) -> bool {
    let letters = word.strip_prefix(['+', '-']).unwrap_or_default();
    !letters.is_empty() && letters.chars().all(|c| "rwxXst".contains(c))
}

/// Says whether a path is one of a tracked file, or of a folder that holds such, or whether that cannot be told.
pub(super) fn may_be_tracked(look: &dyn Look, dir: &str, to: &str) -> bool {
    if to.starts_with(['/', '~']) {
        return is_of_others(look, to, false);
    }
    // Of `dist/*` the folder counts.
    let known = to.split(['*', '?', '[']).next().unwrap_or_default();
    let known = match known.len() == to.len() {
        true => to,
        false => known.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let path = check::join(dir, known);
    path.is_none_or(|path| is_of_others(look, &path, false) || look.has_below(&path))
}

/// Returns the command of a shell's script that changes what git tracks for sure. Where a script works in a folder that it makes for
/// itself, what is not known to lie in the root does not count.
pub(super) fn changed_by(look: &dyn Look, script: &str) -> Option<String> {
    let has_own = script.contains("mktemp");
    let is_tracked = |one: &Done, to: &str| {
        let dir = one.dir.as_deref().or(Some("").filter(|_| !has_own));
        let path = dir.and_then(|dir| check::join(dir, to));
        let is_plain = !to.contains(['$', '`', '*', '?', '[']) && !to.starts_with('-');
        is_plain && path.is_some_and(|path| look.has(&path) || look.has_below(&path))
    };
    let all = check::done(script);
    let changes = |one: &&Done| {
        let name = one.words[0].rsplit('/').next().unwrap_or_default();
        let rest = &one.words[1..];
        match moved(name, rest) {
            Some(moved) => moved.into_iter().any(|to| is_tracked(one, to)),
            None if one.does == Does::Writes => rest.iter().any(|to| is_tracked(one, to)),
            None => outputs(&one.words).iter().any(|to| is_tracked(one, to)),
        }
    };
    let into = || {
        let mut written = check::written(script).into_iter();
        let to = written.find(|to| !has_own && look.has(to.trim_start_matches("./")))?;
        Some(format!("> {to}"))
    };
    all.iter().find(changes).map(Done::typed).or_else(into)
}
