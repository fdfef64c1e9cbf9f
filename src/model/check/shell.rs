//! Shell text as the simple commands in it, words unquoted. Knows the grammar as far as needed to tell words, and never fails:
//! what it cannot make out ends up as words that name no file. Pure.

use std::collections::HashMap;

/// How deep command substitutions are followed.
const MAX_DEPTH: usize = 40;

/// What stands in a word for an expansion whose value cannot be known; no path that matters has it.
const UNKNOWN: char = '$';

/// What stands at a word's start for the path of the script whose text this is: `$0` and its like.
pub const SELF: char = '\u{1}';

/// How long a path made from the script's own may get, in bytes.
const LONGEST: usize = 1024;

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
}

/// Takes `text` apart.
pub fn items(text: &str) -> Vec<Item> {
    let mut lexer = Lexer::new(text, 0);
    lexer.list(false);
    lexer.items
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    items: Vec<Item>,
    /// Delimiters of here-documents whose bodies begin after this line, and whether their tabs are stripped.
    heredocs: Vec<(String, bool)>,
    /// Variables whose value begins with the script's own path.
    beside: HashMap<String, String>,
}

impl Lexer {
    fn new(text: &str, depth: usize) -> Lexer {
        Lexer {
            chars: text.chars().collect(),
            at: 0,
            depth,
            items: Vec::new(),
            heredocs: Vec::new(),
            beside: HashMap::new(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<char> {
        self.chars.get(self.at + 1).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Reads commands to the end, or to the parenthesis that closes a substitution.
    fn list(&mut self, is_substitution: bool) {
        let mut command = Command::default();
        let mut subshells = 0;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.peek_second() == Some('\n') => self.at += 2,
                '#' => self.skip_line(),
                '\n' => {
                    self.at += 1;
                    self.flush(&mut command);
                    self.skip_heredocs();
                }
                '&' if self.peek_second() == Some('>') => {
                    self.at += 1;
                    self.redirect(None, &mut command);
                }
                ';' | '&' | '|' => {
                    self.at += 1;
                    self.flush(&mut command);
                }
                '(' => {
                    self.at += 1;
                    self.flush(&mut command);
                    self.items.push(Item::Open);
                    subshells += 1;
                }
                ')' => {
                    self.at += 1;
                    self.flush(&mut command);
                    match subshells {
                        // The end of the substitution, or else of a pattern of `case`.
                        0 if is_substitution => return,
                        0 => {}
                        _ => {
                            self.items.push(Item::Close);
                            subshells -= 1;
                        }
                    }
                }
                '<' | '>' => self.redirect(None, &mut command),
                _ => self.word_or_descriptor(&mut command),
            }
        }
        self.flush(&mut command);
    }

    fn flush(&mut self, command: &mut Command) {
        let command = std::mem::take(command);
        if !command.words.is_empty() {
            self.items.push(Item::Command(command));
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_heredocs(&mut self) {
        for (delimiter, strips_tabs) in std::mem::take(&mut self.heredocs) {
            while self.peek().is_some() {
                let start = self.at;
                self.skip_line();
                let line: String = self.chars[start..self.at].iter().collect();
                self.at += 1;
                let line = match strips_tabs {
                    true => line.trim_start_matches('\t'),
                    false => &line,
                };
                if line == delimiter {
                    break;
                }
            }
        }
    }

    fn word_or_descriptor(&mut self, command: &mut Command) {
        let start = self.at;
        let word = self.word();
        let is_number = self.chars[start..self.at].iter().all(char::is_ascii_digit);
        match self.peek() {
            Some('<' | '>') if is_number => self.redirect(Some(word), command),
            _ => {
                self.remember(&word);
                command.words.push(word);
            }
        }
    }

    /// Remembers an assignment of the script's folder, as in `D=$(dirname "$0")`; any other one ends it.
    fn remember(&mut self, word: &str) {
        let Some((name, value)) = word.split_once('=').filter(|_| is_assignment(word)) else {
            return;
        };
        match value.starts_with(SELF) && value.len() < LONGEST {
            true => self.beside.insert(name.to_owned(), value.to_owned()),
            false => self.beside.remove(name),
        };
    }

    /// Reads a redirection with its target, the cursor on `<` or `>`.
    fn redirect(&mut self, descriptor: Option<String>, command: &mut Command) {
        if self.peek_second() == Some('(') {
            self.at += 2;
            self.substitution();
            command.words.push(UNKNOWN.to_string());
            return;
        }
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| matches!(c, '<' | '>' | '&' | '|'))
            && self.at - start < 3
        {
            self.at += 1;
        }
        let operator: String = self.chars[start..self.at].iter().collect();
        let strips_tabs = operator == "<<" && self.peek() == Some('-');
        if strips_tabs {
            self.at += 1;
        }
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.at += 1;
        }
        let target = self.word();
        match operator.as_str() {
            "<" if descriptor.is_none_or(|number| number == "0") => command.stdin = Some(target),
            "<<" => self.heredocs.push((target, strips_tabs)),
            _ => {}
        }
    }

    /// Reads one word, which may be empty if the cursor is not on one.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.at += 1;
                    word.extend(self.next().filter(|c| *c != '\n'));
                }
                '\'' => {
                    self.at += 1;
                    self.single_quoted(&mut word);
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut word);
                }
                '$' => self.expansion(&mut word),
                '`' => self.backticks(&mut word),
                c => {
                    self.at += 1;
                    word.push(c);
                }
            }
        }
        word
    }

    fn single_quoted(&mut self, word: &mut String) {
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            word.push(c);
        }
    }

    fn double_quoted(&mut self, word: &mut String) {
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') | None => {}
                        Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                        Some(c) => word.extend(['\\', c]),
                    }
                }
                '$' => self.expansion(word),
                '`' => self.backticks(word),
                c => {
                    self.at += 1;
                    word.push(c);
                }
            }
        }
    }

    /// Reads an expansion, the cursor on its `$`.
    fn expansion(&mut self, word: &mut String) {
        self.at += 1;
        let start = self.at;
        let value = match self.peek() {
            Some('(') => {
                self.at += 1;
                let before = self.items.len();
                self.substitution();
                let end = self.at.saturating_sub(1).max(start + 1);
                let code: String = self.chars[start + 1..end].iter().collect();
                printed(&self.items[before..]).or(known_directory(code.trim()))
            }
            Some('{') => {
                while self.next().is_some_and(|c| c != '}') {}
                let name: String = self.chars[start..self.at].iter().collect();
                self.value(name.trim_matches(['{', '}']))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self
                    .peek()
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.at += 1;
                }
                let name: String = self.chars[start..self.at].iter().collect();
                self.value(&name)
            }
            Some(c @ ('0'..='9' | '?' | '@' | '*' | '#' | '$' | '!' | '-')) => {
                self.at += 1;
                self.value(&c.to_string())
            }
            _ => None,
        };
        push_value(word, value);
    }

    /// Returns what a parameter stands for, with what follows its name in braces.
    fn value(&self, expression: &str) -> Option<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = expression.find(|c| !is_part(c));
        let (name, rest) = expression.split_at(end.unwrap_or(expression.len()));
        let rest = rest.strip_prefix("[0]").unwrap_or(rest);
        let value = match name {
            "0" | "BASH_SOURCE" => SELF.to_string(),
            _ => match self.beside.get(name) {
                Some(value) => value.clone(),
                None => return known_directory(expression),
            },
        };
        match rest {
            "" => Some(value),
            "%/*" => Some(value + "/.."),
            rest if rest.starts_with(":-") => Some(value),
            _ => None,
        }
    }

    /// Reads the commands of a substitution up to its closing parenthesis, the cursor behind the opening one.
    fn substitution(&mut self) {
        if self.depth >= MAX_DEPTH {
            self.at = self.chars.len();
            return;
        }
        self.depth += 1;
        self.items.push(Item::Open);
        self.list(true);
        self.items.push(Item::Close);
        self.depth -= 1;
    }

    fn backticks(&mut self, word: &mut String) {
        self.at += 1;
        let mut code = String::new();
        while let Some(c) = self.next().filter(|c| *c != '`') {
            match c {
                '\\' => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => code.push(c),
                    Some(c) => code.extend(['\\', c]),
                    None => {}
                },
                c => code.push(c),
            }
        }
        if self.depth >= MAX_DEPTH {
            word.push(UNKNOWN);
            return;
        }
        let mut inner = Lexer::new(&code, self.depth + 1);
        inner.beside.clone_from(&self.beside);
        inner.list(false);
        let as_substitution = [&[Item::Open], inner.items.as_slice(), &[Item::Close]].concat();
        push_value(
            word,
            printed(&as_substitution).or(known_directory(code.trim())),
        );
        self.items.push(Item::Open);
        self.items.append(&mut inner.items);
        self.items.push(Item::Close);
    }
}

/// Appends an expansion's value; the script's own path counts only at the start of a word or of what is assigned.
fn push_value(word: &mut String, value: Option<String>) {
    let is_start = word.is_empty() || is_assignment(word) && word.ends_with('=');
    match value.filter(|value| is_start || !value.starts_with(SELF)) {
        Some(value) => word.push_str(&value),
        None => word.push(UNKNOWN),
    }
}

/// Returns what an expansion stands for: a check starts in the repository's root, so that these name where it already is.
fn known_directory(expansion: &str) -> Option<String> {
    let is_here = matches!(expansion, "PWD" | "pwd" | "git rev-parse --show-toplevel");
    is_here.then(|| ".".to_owned())
}

/// Returns what the commands of a substitution print if that is a path made from the script's own, as of `dirname "$0"` and
/// `cd "$(dirname "$0")" && pwd`.
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
    let (path, below) = match commands.as_slice() {
        [["dirname", path]] => (path, "/.."),
        [["realpath" | "readlink", path]] | [["cd", path], ["pwd"]] => (path, ""),
        _ => return None,
    };
    let is_own = path.starts_with(SELF) && path.len() < LONGEST;
    is_own.then(|| format!("{path}{below}"))
}

/// Says whether a word sets a variable.
pub fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the items on one line: words joined by `_`, commands by a space, subshells in brackets.
    fn shown(text: &str) -> String {
        let show = |item: &Item| match item {
            Item::Command(command) => {
                let stdin = command.stdin.as_ref().map(|file| format!("<{file}"));
                command.words.join("_").replace(SELF, "~") + &stdin.unwrap_or_default()
            }
            Item::Open => "[".to_string(),
            Item::Close => "]".to_string(),
        };
        items(text).iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn shell_text_is_taken_apart_as_a_shell_does() {
        for (text, expected) in [
            ("a b; c && d || e | f & g\nh", "a_b c d e f g h"),
            ("( a ) b", "[ a ] b"),
            (r#"a 'b c' "d $x e" f\ g \"h"#, r#"a_b c_d $ e_f g_"h"#),
            ("a # b\nc#d", "a c#d"),
            ("a \\\n b", "a_b"),
            ("a $(b c) `d`", "[ b_c ] [ d ] a_$_$"),
            (r#"a "$(b "c d")" e"#, "[ b_c d ] a_$_e"),
            ("a >b 2>&1 <c 3<d >>e &>f g", "a_g<c"),
            ("a <<E b\nc\nE\nd", "a_b d"),
            ("a <<-'E'\n\tc\n\tE\nd", "a d"),
            ("a <<< b; c", "a c"),
            ("diff <(a) <(b)", "[ a ] [ b ] diff_$_$"),
            ("f() { a; }", "f [ ] {_a }"),
            ("case $x in b) c;; esac", "case_$_in_b c esac"),
            (
                "$PWD/a ${PWD}/b $(git rev-parse --show-toplevel)/c",
                "[ git_rev-parse_--show-toplevel ] ./a_./b_./c",
            ),
            ("a '' b", "a__b"),
            ("$((1 + 2))", "[ [ 1_+_2 ] ] $"),
            ("echo ${x:-y} $1 $", "echo_$_$_$"),
            ("", ""),
            ("'unclosed", "unclosed"),
            ("\"unclosed $(", "[ ] unclosed $"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn the_folder_of_a_script_is_known_however_it_is_asked_for() {
        for (text, expected) in [
            ("D=$(dirname \"$0\"); sh \"$D/l.sh\"", "~/../l.sh"),
            ("D=`dirname $0`; sh ${D}/l.sh", "~/../l.sh"),
            ("sh ${0%/*}/l.sh", "~/../l.sh"),
            ("sh \"${BASH_SOURCE[0]%/*}/l.sh\"", "~/../l.sh"),
            ("sh $(cd \"$(dirname \"$0\")\" && pwd)/l.sh", "~/../l.sh"),
            (
                "readonly D=\"$(CDPATH= cd -- \"$(dirname -- \"${BASH_SOURCE[0]:-$0}\")/..\" >/dev/null 2>&1; pwd -P)\"\nsh $D/l.sh",
                "~/../../l.sh",
            ),
            ("D=$(dirname $(readlink -f $0)); sh $D/l.sh", "~/../l.sh"),
            ("S=$BASH_SOURCE; sh ${S%/*}/l.sh", "~/../l.sh"),
            ("D=$(dirname $0); D=x; sh $D/l.sh", "$/l.sh"),
            ("sh x$0", "x$"),
            ("sh $(basename $0)/l.sh", "$/l.sh"),
            ("sh ${0##*/}", "$"),
            ("sh $1", "$"),
        ] {
            let last = shown(text).rsplit(' ').next().map(str::to_owned);
            let expected = format!("sh_{expected}");
            assert_eq!(last, Some(expected), "{text}");
        }
    }
}
