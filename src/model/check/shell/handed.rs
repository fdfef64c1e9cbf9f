//! Which commands print into something that could run it: a program that takes text apart only passes it on, and what is counted or
//! compared goes nowhere. Pure.

use super::{Command, Item, is_assignment};

/// What becomes of the text that a program is handed.
#[derive(Clone, Copy)]
enum Use {
    /// It could be run, be it later.
    Runs,
    /// It is printed again, or a part of it.
    Passes,
    /// Nothing of it is printed.
    Ends,
}

/// Tells of each command whether what it prints goes on. `is_read` says that what all of them print together may be read.
pub fn tell(items: &mut [Item], is_read: bool) {
    let is_read = is_read || items.iter().any(ends_read_group) || has_function(items);
    let mut flow = Flow {
        nearest: Vec::new(),
        is_read,
    };
    let mut level = 0_isize;
    for item in items.iter_mut().rev() {
        match item {
            Item::Open => level -= 1,
            Item::Close => level += 1,
            Item::Command(command) => {
                let goes_on = flow.goes_on(command, level);
                let is_handed = command.is_piped || command.is_kept || command.depth > 0;
                command.hands_on = goes_on && is_handed;
                flow.note(command, level, goes_on);
            }
        }
    }
}

/// A command that may take what an earlier one prints.
#[derive(Clone, Copy)]
struct Taker {
    /// How many commands stand behind it.
    number: usize,
    level: isize,
    by_pipe: Use,
    as_word: Use,
    goes_on: bool,
}

/// What is known of the commands behind the one that is looked at.
struct Flow {
    /// The nearest one so deep in substitutions.
    nearest: Vec<Option<Taker>>,
    is_read: bool,
}

impl Flow {
    fn note(&mut self, command: &Command, level: isize, goes_on: bool) {
        let number = self.nearest.iter().flatten().map(|it| it.number + 1).max();
        let depth = command.depth;
        if self.nearest.len() <= depth {
            self.nearest.resize(depth + 1, None);
        }
        self.nearest[depth] = Some(Taker {
            number: number.unwrap_or_default(),
            level,
            by_pipe: use_of(command, true),
            as_word: use_of(command, false),
            goes_on,
        });
    }

    fn goes_on(&self, command: &Command, level: isize) -> bool {
        let (depth, is_piped) = (command.depth, command.is_piped);
        let taker = match is_piped {
            _ if command.is_kept => return true,
            true => {
                let next = self.nearest.get(depth).copied().flatten();
                // Where a group of commands follows, each of them may read it.
                next.filter(|next| next.level == level)
            }
            false if depth == 0 || self.is_read => return self.is_read,
            false => {
                let outer = self.nearest.iter().take(depth).flatten();
                outer.copied().max_by_key(|taker| taker.number)
            }
        };
        taker.is_none_or(|taker| {
            let becomes = if is_piped {
                taker.by_pipe
            } else {
                taker.as_word
            };
            match becomes {
                Use::Runs => true,
                Use::Passes => taker.goes_on,
                Use::Ends => false,
            }
        })
    }
}

/// Says what a command does with text that it is handed, by a pipe or as a word.
fn use_of(command: &Command, is_by_pipe: bool) -> Use {
    let before = [
        "!", "{", "if", "then", "elif", "else", "while", "until", "do",
    ];
    let is_before = |word: &&String| !is_by_pipe && before.contains(&word.as_str());
    let words = command.words.iter().skip_while(is_before);
    let words: Vec<&str> = words.map(String::as_str).collect();
    let is_output = |word: &&str| word.starts_with("-o") || word.starts_with("--o");
    match words.first().copied().unwrap_or_default() {
        word if is_assignment(word) => Use::Runs,
        // Into a variable, or a file.
        "printf" if words.contains(&"-v") => Use::Runs,
        "sort" if words.iter().any(is_output) => Use::Runs,
        "egrep" | "fgrep" | "grep" if words.iter().any(|word| only_counts(word)) => Use::Ends,
        "basename" | "cat" | "column" | "cut" | "diff" | "dirname" | "echo" | "egrep"
        | "expand" | "fgrep" | "fold" | "grep" | "head" | "nl" | "paste" | "printf" | "rev"
        | "sort" | "tac" | "tail" | "tr" | "uniq" => Use::Passes,
        "[" | "[[" | "cksum" | "cmp" | "exit" | "false" | "md5sum" | "return" | "sha1sum"
        | "sha256sum" | "sha512sum" | "test" | "true" | "wc" => Use::Ends,
        _ => Use::Runs,
    }
}

/// Says whether an option of `grep` has it print no line.
fn only_counts(word: &str) -> bool {
    let short = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
    let takes_rest = |c: char| matches!(c, 'A' | 'B' | 'C' | 'D' | 'd' | 'e' | 'f' | 'm');
    matches!(word, "--quiet" | "--silent" | "--count")
        || short.is_some_and(|letters| {
            let own = letters.split(takes_rest).next().unwrap_or_default();
            own.contains(['q', 'c'])
        })
}

/// Says whether it ends several commands whose text goes on together.
fn ends_read_group(item: &Item) -> bool {
    let Item::Command(command) = item else {
        return false;
    };
    let is_end = |word: &String| matches!(word.as_str(), "}" | "done" | "esac" | "fi");
    command.words.first().is_some_and(is_end) && (command.is_piped || command.is_kept)
}

/// Says whether a function is made, which prints where it is called.
fn has_function(items: &[Item]) -> bool {
    let is_empty = |pair: &[Item]| matches!(pair, [Item::Open, Item::Close]);
    let is_named = |item: &Item| match item {
        Item::Command(command) => command.words.first().is_some_and(|it| it == "function"),
        Item::Open | Item::Close => false,
    };
    items.windows(2).any(is_empty) || items.iter().any(is_named)
}
