//! What a shell's script runs that is not known: its own functions, and those of the scripts that it reads, are. Pure.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::super::offer::takes_one;
use super::{Command, changing, strange_text, tracked};
use crate::model::check::{self, Does, Done};
use crate::model::init::Look;
use crate::model::init::called::TextsOf;
use crate::model::init::loops;

/// How many scripts are read that one reads.
const MOST_READ: usize = 8;

/// The head of a function, as shells write it.
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ \t]*(?:function[ \t]+(?<named>[\w.:-]+)|(?<called>[\w.:-]+)[ \t]*\([ \t]*\))",
    )
    .expect("BUG: a pattern of ours is no pattern")
});
/// What a function is handed, in the place of a command.
static RUNS_ARGUMENTS: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?:^|[;&|({!]|\b(?:if|then|else|do|while|until|time|exec|eval|timeout \S+))";
    Regex::new(&format!(r#"(?m){before}[ \t]*"?\$(?:[@*]|\{{[@*][}}:])"#))
        .expect("BUG: a pattern of ours is no pattern")
});

/// What the commands of a script are judged by.
pub(super) struct Script {
    /// Its functions, and whether each runs what it is handed.
    functions: HashMap<String, bool>,
    /// It works on files that it makes for itself.
    pub(super) has_own: bool,
    /// It makes a repository of its own.
    has_repository: bool,
    /// Its shell stops at the first failure.
    pub(super) is_strict: bool,
    /// A program may have been made before it: `make check` builds what its tests run.
    pub(super) is_built: bool,
    /// The paths of those that are followed already, its own the last.
    open: Vec<String>,
}

impl Script {
    fn of(texts: &[(String, String)], is_built: bool, open: Vec<String>) -> Script {
        let holds = |some: &[&str]| {
            let mut texts = texts.iter();
            texts.any(|(_, text)| some.iter().any(|it| text.contains(it)))
        };
        let functions = texts.iter().flat_map(|(_, text)| functions(text));
        Script {
            functions: functions.collect(),
            has_own: holds(&["mktemp", "TMPDIR", "/tmp/"]),
            has_repository: holds(&["git init", "git clone"]),
            is_strict: texts.iter().any(|(_, text)| loops::stops(text)),
            is_built,
            open,
        }
    }
}

/// Returns the folder in which a command runs, where that is known.
pub(super) fn known_dir(one: &Done) -> Option<&str> {
    one.dir.as_deref().filter(|dir| !dir.contains('$'))
}

/// Returns the functions of a script, and whether each runs what it is handed. One ends where the next begins, or a line with
/// nothing but its brace.
fn functions(text: &str) -> Vec<(String, bool)> {
    let heads: Vec<_> = FUNCTION.captures_iter(text).collect();
    let names = heads.iter().enumerate().filter_map(|(at, head)| {
        let name = head.name("named").or(head.name("called"))?;
        let next = heads.get(at + 1).and_then(|next| next.get(0));
        let body = &text[name.end()..next.map_or(text.len(), |next| next.start())];
        let body = body.split("\n}").next().unwrap_or(body);
        Some((name.as_str().to_owned(), RUNS_ARGUMENTS.is_match(body)))
    });
    names.collect()
}

/// Says why a shell's script had better not run before somebody has looked at it; it is called by those of these paths, after a
/// program may have been built.
pub(in super::super) fn strange_script(
    look: &dyn Look,
    texts_of: TextsOf,
    path: &str,
    text: &str,
    callers: &[String],
    is_built: bool,
    left: &Cell<usize>,
) -> Option<String> {
    let texts = read(look, path, text);
    let script = Script::of(&texts, is_built, [callers, &[path.to_owned()]].concat());
    let mut texts = texts.iter();
    texts.find_map(|(path, text)| {
        let changes = tracked::changed_by(look, text).map(|what| changing(&what));
        let commands = || check::done_in(path, text);
        changes.or_else(|| strange_text(look, texts_of, text, &commands(), Some(&script), left))
    })
}

/// Returns a script with its path, and those that it reads: `. "$(dirname "$0")/lib.sh"`.
fn read(look: &dyn Look, path: &str, text: &str) -> Vec<(String, String)> {
    let mut texts = vec![(path.to_owned(), text.to_owned())];
    let mut at = 0;
    while let Some((path, text)) = texts.get(at) {
        at += 1;
        let all = check::done_in(path, text);
        let named = all
            .iter()
            .filter(|one| matches!(one.words[0].as_str(), "." | "source"));
        let named: Vec<String> = named.filter_map(|one| sourced(look, one)).collect();
        for path in named {
            let is_new = !texts.iter().any(|(known, _)| *known == path);
            let text = look
                .read(&path)
                .filter(|_| is_new && texts.len() < MOST_READ);
            texts.extend(text.map(|text| (path, text)));
        }
    }
    texts
}

/// Returns the file of the repository that a command reads as part of its script.
fn sourced(look: &dyn Look, one: &Done) -> Option<String> {
    let dir = known_dir(one).unwrap_or_default();
    let path = check::join(dir, one.words.get(1)?)?;
    look.has(&path).then_some(path)
}

impl Command<'_> {
    /// Says why a command of a script waits, if what the script is tells: its functions, and its files.
    pub(super) fn strange_in_script(&self, script: &Script, one: &Done) -> Option<Option<String>> {
        let name = super::name_of(&one.words);
        let rest = &one.words[1..];
        let is_unknown = |word: &String| word.contains('$');
        match () {
            () if script.functions.get(name) == Some(&true) => {
                // What it runs may stand behind what it says of that.
                let handed = (1..=2).filter_map(|from| one.words.get(from..));
                let handed = handed.filter(|words| !words.is_empty()).map(|words| Done {
                    words: words.to_vec(),
                    ..one.clone()
                });
                let handed: Vec<Option<String>> = handed.map(|one| self.strange(&one)).collect();
                let is_known = handed.is_empty() || handed.contains(&None);
                let why = handed.into_iter().next().flatten();
                Some(why.filter(|_| !is_known))
            }
            () if script.functions.contains_key(name) => Some(None),
            () if matches!(name, "." | "source") && sourced(self.look, one).is_some() => Some(None),
            // Its callers tell.
            () if one.words[0] == "$" && script.functions.values().any(|runs| *runs) => Some(None),
            () if name == "git" && script.has_repository => Some(None),
            () if one.does == Does::Writes && !script.has_own => Some(Some(changing(&one.typed()))),
            () if one.does == Does::Writes => Some(None),
            () if script.has_own
                && (name == "mkdir"
                    || tracked::moved(name, rest).is_some()
                    || tracked::changes_handed(one)) =>
            {
                let mut named = rest.iter().chain(one.handed.iter().flatten());
                let is_own = known_dir(one).is_none() || named.any(is_unknown);
                is_own.then_some(None)
            }
            () => None,
        }
    }

    /// Says why a script that a command runs waits. One that is followed already is judged there.
    pub(super) fn strange_file(&self, path: &str, text: &str) -> Option<String> {
        let callers = self.script.map(|it| it.open.as_slice()).unwrap_or_default();
        match callers.iter().any(|caller| caller == path) {
            true => None,
            false if takes_one(self.left) => strange_script(
                self.look,
                self.texts_of,
                path,
                text,
                callers,
                self.builds(),
                self.left,
            ),
            false => Some(super::unknown(path)),
        }
    }
}
