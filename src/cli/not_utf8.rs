//! Which word of the command line, or which variable, is refused because it is not UTF-8: the library does not say it.
//!
//! Not each that is none is refused, as a path may be anything, so the command line is read again with all but one of them made
//! readable: the one with which it is still refused is the one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::error::ErrorKind;
use clap::{Arg, Command};

use crate::error::Error;
use crate::model::{exact, text};

/// How much of what is refused is shown.
const SHOWN: usize = 80;

/// Returns the refusal that names what is not UTF-8; `read_as` makes the command line's grammar, without the variables that it
/// is asked to leave out.
pub(super) fn refusal(
    words: &[OsString],
    read_as: impl Fn(&dyn Fn(&OsStr) -> bool) -> Command,
) -> Option<Error> {
    let is_refused = |command: Command, words: &[OsString]| {
        let read = command.try_get_matches_from(words);
        read.is_err_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    let is_odd = |word: &OsString| word.to_str().is_none();
    let is_word = |index: &usize| {
        let readable = words.iter().enumerate().map(|(place, word)| match place {
            place if place == *index => word.clone(),
            _ => OsString::from(word.to_string_lossy().into_owned()),
        });
        let words: Vec<OsString> = readable.collect();
        is_odd(&words[*index]) && is_refused(read_as(&|_| true), &words)
    };
    if let Some(index) = (1..words.len()).find(is_word) {
        return Some(of_word(words, index, &read_as(&|_| true)));
    }
    let mut variables = Vec::new();
    collect(&read_as(&|_| false), &mut variables);
    variables.into_iter().find_map(|name| {
        let value = std::env::var_os(&name).filter(is_odd)?;
        let others = |other: &OsStr| other != name;
        is_refused(read_as(&others), words).then(|| of_variable(&name, &value))
    })
}

fn of_word(words: &[OsString], index: usize, grammar: &Command) -> Error {
    let bytes = words[index].as_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=');
    let (option, value) = match equals.filter(|_| bytes.starts_with(b"--")) {
        Some(at) => (Some(shown(&bytes[..at])), &bytes[at + 1..]),
        None => {
            let before = words[index - 1].to_str();
            let option = before.filter(|word| takes_value(command_of(words, grammar), word));
            (option.map(str::to_owned), bytes)
        }
    };
    let value = shown(value);
    let what = match option {
        Some(option) => format!("the value of {option}, {value},"),
        None => format!("the argument {value}"),
    };
    Error::usage(format!("{what} is not UTF-8"))
}

fn of_variable(name: &OsStr, value: &OsStr) -> Error {
    let name = name.display();
    let value = shown(value.as_bytes());
    Error::usage(format!("the variable {name}, {value}, is not UTF-8"))
        .hint(format!("set it anew, or `unset {name}`"))
}

/// Returns bytes for people, each that is no UTF-8 as in `\xff`.
pub(super) fn shown(bytes: &[u8]) -> String {
    let line = text::clean_line(&exact::shown(&exact::decode(bytes)));
    text::cut(&line, SHOWN)
}

/// Returns the command that words name.
pub(super) fn command_of<'a>(words: &[OsString], grammar: &'a Command) -> &'a Command {
    words.iter().skip(1).fold(grammar, |command, word| {
        command.find_subcommand(word).unwrap_or(command)
    })
}

/// Says whether a word is an option whose value is the next word.
fn takes_value(command: &Command, word: &str) -> bool {
    let is_named = |option: &&Arg| match word.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
        None => word
            .strip_prefix('-')
            .is_some_and(|short| option.get_short().is_some_and(|it| it.to_string() == short)),
    };
    let mut options = command.get_arguments();
    options
        .find(is_named)
        .is_some_and(|option| option.get_action().takes_values() && !option.is_require_equals_set())
}

/// Collects the variables that a command and those below it read.
fn collect(command: &Command, names: &mut Vec<OsString>) {
    for name in command.get_arguments().filter_map(Arg::get_env) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    for below in command.get_subcommands() {
        collect(below, names);
    }
}
