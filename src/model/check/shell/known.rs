//! What expansions in shell text stand for, as far as the text alone tells: variables that it sets to something literal, the
//! words of a loop, the script's own folder, and what `$(cat FILE)` prints. Pure.

use std::collections::HashMap;

use super::{EACH, Item, LONGEST, MOST_WORDS, NEXT, PRINTED, SELF, UNKNOWN};

/// The variables whose values are known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    variables: HashMap<String, String>,
    /// What `$0` is, if the text is not a script's.
    zero: Option<String>,
    /// What `$@` is; empty if that is not known.
    arguments: Vec<String>,
    /// The files that are open under a number: `exec 3<FILE`.
    open: HashMap<String, String>,
}

impl Known {
    /// Learns the arguments of the text, the first of them being its `$0`, and what `$HOME` is.
    pub fn give(&mut self, arguments: &[String], home: Option<&str>) {
        if let Some(home) = home {
            self.set("HOME", home.to_owned());
        }
        let is_known = |word: &&String| !word.contains([UNKNOWN, EACH, NEXT, '{']);
        self.zero = arguments.first().filter(is_known).cloned();
        self.set_arguments(arguments.get(1..).unwrap_or_default());
    }

    /// Learns which file is open under a number.
    pub fn open(&mut self, number: String, file: String) {
        self.open.insert(number, file);
    }

    /// Returns the file that is open under a number.
    pub fn opened(&self, number: &str) -> Option<String> {
        self.open.get(number).cloned()
    }

    /// Returns what `$@` is; nothing if that is not known.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    fn set_arguments(&mut self, words: &[String]) {
        let is_plain = |word: &&String| !word.contains([UNKNOWN, EACH, NEXT, '{']);
        let plain = words.iter().filter(is_plain).take(MOST_WORDS);
        self.arguments = plain.cloned().collect();
    }

    /// Learns from a word that sets a variable. Any value that is not known ends what was known of it.
    pub fn word(&mut self, word: &str) {
        let Some((name, value)) = word.split_once('=').filter(|_| is_assignment(word)) else {
            return;
        };
        match name.strip_suffix('+') {
            Some(name) => self.forget(name),
            None => self.set(name, value.to_owned()),
        }
    }

    /// Learns from a whole command: `for NAME in WORDS`, `read NAME`, `unset NAME`, `set -- WORDS`.
    pub fn command(&mut self, words: &[String]) {
        let is_reserved = |word: &&String| matches!(word.as_str(), "do" | "while" | "until" | "if");
        let start = words.iter().take_while(is_reserved).count();
        match words[start..].first().map(String::as_str) {
            Some("for") => {
                if let Some(name) = words.get(start + 1) {
                    let values = match words.get(start + 3..) {
                        // Without a list, it is that of the arguments.
                        None => each(&self.arguments),
                        Some(values) => each(values),
                    };
                    self.set(name, values);
                }
            }
            Some("set") => {
                let rest = &words[start + 1..];
                let is_option = |word: &&String| word.starts_with(['-', '+']);
                match rest.iter().position(|word| word == "--") {
                    Some(at) => self.set_arguments(&rest[at + 1..]),
                    None if rest.first().is_some_and(|word| !is_option(&word)) => {
                        self.set_arguments(rest);
                    }
                    None => {}
                }
            }
            Some("read" | "unset") => {
                for name in &words[start + 1..] {
                    self.forget(name);
                }
            }
            Some(_) | None => {}
        }
    }

    fn set(&mut self, name: &str, value: String) {
        match value.contains(UNKNOWN) || value.len() >= LONGEST {
            true => self.forget(name),
            false => {
                self.variables.insert(name.to_owned(), value);
            }
        }
    }

    fn forget(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// Returns what a parameter stands for, with what follows its name in braces.
    pub fn value(&self, expression: &str) -> Option<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = expression.find(|c| !is_part(c));
        let (name, rest) = expression.split_at(end.unwrap_or(expression.len()));
        let rest = rest.strip_prefix("[0]").unwrap_or(rest);
        let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
        let value = match name {
            "0" if self.zero.is_some() => self.zero.clone()?,
            "0" | "BASH_SOURCE" => SELF.to_string(),
            // After a `shift`, any of them may be the first.
            "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" if !self.arguments.is_empty() => {
                each(&self.arguments)
            }
            _ => match (self.variables.get(name), known_directory(expression)) {
                (Some(value), _) => value.clone(),
                (None, Some(here)) => return Some(here),
                // What nobody sets is taken to be unset.
                (None, None) => return default.filter(|_| is_name(name)).and_then(literal),
            },
        };
        match rest {
            "" => Some(value),
            "%/*" => Some(value + "/.."),
            _ => default.map(|_| value),
        }
    }
}

/// Returns a default value that is just text.
fn literal(default: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    (!default.is_empty() && default.chars().all(is_plain)).then(|| default.to_owned())
}

/// Returns the words of a loop as one value that stands for each of them.
fn each(words: &[String]) -> String {
    let parts = words.iter().flat_map(|word| word.split_whitespace());
    let is_plain = |part: &&str| !part.contains([UNKNOWN, EACH, NEXT]);
    let parts: Vec<_> = parts.filter(is_plain).take(MOST_WORDS).collect();
    match parts.as_slice() {
        [] => UNKNOWN.to_string(),
        [one] => (*one).to_owned(),
        all => format!("{EACH}{}{EACH}", all.join(&NEXT.to_string())),
    }
}

/// Appends an expansion's value; the script's own path counts only at the start of a word or of what is assigned.
pub fn push_value(word: &mut String, value: Option<String>) {
    let is_start = word.is_empty() || is_assignment(word) && word.ends_with('=');
    let fits = |value: &String| {
        (is_start || !value.starts_with(SELF)) && word.len() + value.len() < 4 * LONGEST
    };
    match value.filter(fits) {
        Some(value) => word.push_str(&value),
        None => word.push(UNKNOWN),
    }
}

/// Returns what the code of a substitution stands for, `items` being what it was taken apart into.
pub fn substituted(items: &[Item], code: &str) -> Option<String> {
    let code = code.trim();
    let redirected = || {
        let file = code.strip_prefix('<')?.trim();
        literal(file).map(|file| format!("{PRINTED}{file}{PRINTED}"))
    };
    printed(items)
        .or_else(|| known_directory(code))
        .or_else(redirected)
}

/// Returns what an expansion stands for: a check starts in the repository's root, so that these name where it already is.
fn known_directory(expansion: &str) -> Option<String> {
    let is_here = matches!(expansion, "PWD" | "pwd" | "git rev-parse --show-toplevel");
    is_here.then(|| ".".to_owned())
}

/// Returns what the commands of a substitution print if that is a known path, as of `dirname "$0"` and
/// `cd "$(dirname "$0")" && pwd`, or the content of a file.
fn printed(substitution: &[Item]) -> Option<String> {
    let mut depth = 0;
    let mut commands = Vec::new();
    for item in substitution {
        match item {
            Item::Open => depth += 1,
            Item::Close => depth -= 1,
            Item::Command(command) if depth == 1 => {
                let words = command.words.iter().map(String::as_str);
                let counts = |word: &&str| !word.starts_with('-') && !is_assignment(word);
                commands.push(words.filter(counts).collect::<Vec<_>>());
            }
            Item::Command(_) => {}
        }
    }
    let commands: Vec<_> = commands.iter().map(Vec::as_slice).collect();
    let (path, before, below) = match commands.as_slice() {
        [["dirname", path]] => (path, "", "/.."),
        [["realpath" | "readlink" | "echo", path]] | [["cd", path], ["pwd"]] => (path, "", ""),
        [["cat", path]] => (path, "\u{6}", "\u{6}"),
        _ => return None,
    };
    let is_known = !path.contains([UNKNOWN, EACH, NEXT, PRINTED]) && path.len() < LONGEST;
    is_known.then(|| format!("{before}{path}{below}"))
}

/// Says whether a word sets a variable.
pub fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    is_name(name.strip_suffix('+').unwrap_or(name))
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
