//! `evolve help`: the whole, one command, or one of the pages about what commands have in common.

use clap::{Command, CommandFactory};

use crate::cli::arguments::{Arguments, grammar};
use crate::cli::pages::{COMPLETIONS, PAGES};
use crate::cli::print::print;
use crate::error::{Error, Result};
use crate::model::goals::nearest;

/// Prints a page, or the help of a command, whose words are these; without any, the whole with the pages.
pub fn help(words: &[String]) -> Result<u8> {
    let is_asked = |(name, ..): &&(&str, &str, &str)| words == [*name];
    match PAGES.iter().find(is_asked) {
        Some((.., text)) => print(text),
        None => print(&of_command(words)?),
    }
    Ok(0)
}

/// Returns what the command says to `--help`.
fn of_command(words: &[String]) -> Result<String> {
    let whole = Arguments::command();
    let mut found = &whole;
    for word in words {
        let below = found.find_subcommand(word);
        found = below.ok_or_else(|| unknown(found, word))?;
    }
    let words = words.iter().map(String::as_str);
    let line = ["evolve"].into_iter().chain(words).chain(["--help"]);
    let asked = grammar().try_get_matches_from(line);
    let said = asked.map_or_else(|said| said.render().ansi().to_string(), |_| String::new());
    Ok(said)
}

fn unknown(command: &Command, word: &str) -> Error {
    let commands = command.get_subcommands().filter(|one| !one.is_hide_set());
    let mut known: Vec<&str> = commands.map(Command::get_name).collect();
    if command.get_name() == env!("CARGO_PKG_NAME") {
        known.extend(PAGES.map(|(name, ..)| name));
    }
    let error = Error::usage(format!("there is no help on {word}"));
    if word.starts_with("complet") {
        return error.hint(format!(
            "{COMPLETIONS} in your shell's start file has words completed, for zsh and fish, too"
        ));
    }
    match nearest(word, &known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => error.hint("`evolve help` lists commands and pages"),
        None => error.hint(format!("there is help on {}", known.join(", "))),
    }
}
