//! Shell text as the simple commands in it, words unquoted. Knows the grammar as far as needed to tell words, and never fails:
//! what it cannot make out ends up as words that name no file. Pure.

mod braces;
mod handed;
mod known;
mod lexer;

pub use known::is_assignment;
use lexer::Lexer;

/// How deep command substitutions are followed.
const MAX_DEPTH: usize = 40;

/// What stands in a word for an expansion whose value cannot be known; no path that matters has it.
pub const UNKNOWN: char = '$';

/// What stands at a word's start for the path of the script whose text this is: `$0` and its like.
pub const SELF: char = '\u{1}';

/// What stands in a word around values of which a loop takes one after the other.
pub const EACH: char = '\u{3}';

/// What stands between such values.
pub const NEXT: char = '\u{4}';

/// What stands in a word around the path of a file whose content is there: `$(cat FILE)`.
pub const PRINTED: char = '\u{6}';

/// What stands in a word where a value without quotes has a blank.
pub const SPLIT: char = '\u{5}';

/// What stands in a word around braces that stand for several words, in place of them.
pub const BRACE: char = '\u{7}';

/// How many words of a loop, or of braces, are followed.
const MOST_WORDS: usize = 64;

/// How long a known value may get, in bytes.
const LONGEST: usize = 1024;

/// How far the end of a sum, or of the patterns of a choice, is looked for, in letters.
const NEAR: usize = 512;

/// A piece of shell text, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// One simple command.
    Command(Command),
    /// A subshell begins: what `cd` does inside ends with it.
    Open,
    /// The subshell ends.
    Close,
}

/// One simple command: its words without quotes and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Reserved words and assignments included.
    pub words: Vec<String>,
    /// The file it reads as standard input.
    pub stdin: Option<String>,
    /// The text it reads as standard input: a here-document.
    pub text: Option<String>,
    /// That text stands there as the command reads it.
    pub is_verbatim: bool,
    /// What it prints goes into the next command.
    pub is_piped: bool,
    /// What it prints goes into a program, a word or a file, and could be run in the end.
    pub hands_on: bool,
    /// What it prints goes into a file or a here-document.
    is_kept: bool,
    /// In how many substitutions it stands.
    depth: usize,
    /// Number of the here-document that it reads.
    here: Option<usize>,
}

impl Command {
    /// Makes a command of these words, with nothing redirected.
    pub fn of(words: Vec<String>) -> Command {
        Command {
            words,
            ..Command::default()
        }
    }
}

/// Takes `text` apart.
pub fn items(text: &str) -> Vec<Item> {
    items_given(text, &Given::default())
}

/// What is known of a text before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// Its arguments, the first of them being its `$0`.
    pub arguments: &'a [String],
    /// What `$HOME` is, where that is known.
    pub home: Option<&'a str>,
    /// Somebody may read what it prints.
    pub is_read: bool,
}

/// Takes `text` apart of which this is known.
pub fn items_given(text: &str, given: &Given) -> Vec<Item> {
    let mut lexer = Lexer::new(text, 0);
    lexer.known.give(given.arguments, given.home);
    lexer.list(false);
    let is_read = given.is_read || lexer.reads_group;
    let mut items = lexer.finished();
    handed::tell(&mut items, is_read);
    items
}

/// Returns the files that the commands of a text write by redirection, as they are called in the end; what is not known of a path
/// is `$`. Code that is handed to a shell counts.
pub fn written(text: &str) -> Vec<String> {
    const SHELLS: [&str; 6] = ["bash", "dash", "eval", "ksh", "sh", "zsh"];
    let mut lexer = Lexer::new(text, 0);
    lexer.list(false);
    let mut found = std::mem::take(&mut lexer.written);
    for item in lexer.finished() {
        let Item::Command(command) = item else {
            continue;
        };
        let is_shell = |word: &String| SHELLS.contains(&word.as_str());
        if command.words.iter().any(is_shell) {
            let code = command.words.iter().filter(|word| word.contains('>'));
            // Of itself it holds less.
            let code = code.filter(|word| word.len() < text.len());
            found.extend(code.flat_map(|word| written(word)));
        }
    }
    found
}

#[cfg(test)]
mod tests;
