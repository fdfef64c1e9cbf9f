//! Reads shell text letter by letter into simple commands. Pure.

use super::known::{Known, push_value, substituted};
use super::{
    BRACE, Command, EACH, Item, MAX_DEPTH, NEAR, PRINTED, SELF, SPLIT, UNKNOWN, braces,
    is_assignment,
};

/// How a here-document is to be read.
struct HereDocument {
    /// The line behind its last one.
    delimiter: String,
    strips_tabs: bool,
    /// Nothing in it stands for anything else.
    is_quoted: bool,
}

/// Reads one text.
pub(super) struct Lexer {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    items: Vec<Item>,
    /// The here-documents whose bodies begin after this line.
    heredocs: Vec<HereDocument>,
    /// The here-documents so far, and whether nothing in them stands for anything else.
    texts: Vec<(String, bool)>,
    /// The files that output goes into.
    pub(super) written: Vec<String>,
    /// What the commands of a subshell print goes on.
    pub(super) reads_group: bool,
    pub(super) known: Known,
}

impl Lexer {
    pub(super) fn new(text: &str, depth: usize) -> Lexer {
        Lexer {
            chars: text.chars().collect(),
            at: 0,
            depth,
            items: Vec::new(),
            heredocs: Vec::new(),
            texts: Vec::new(),
            written: Vec::new(),
            reads_group: false,
            known: Known::default(),
        }
    }

    /// Gives each command the here-document that it reads.
    pub(super) fn finished(mut self) -> Vec<Item> {
        for item in &mut self.items {
            if let Item::Command(command) = item
                && let Some(number) = command.here.take()
            {
                let (text, is_verbatim) = self.texts.get(number).cloned().unzip();
                command.text = text;
                command.is_verbatim = is_verbatim.unwrap_or_default();
            }
        }
        self.items
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
    pub(super) fn list(&mut self, is_substitution: bool) {
        let mut command = Command::default();
        let mut subshells = 0;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.peek_second() == Some('\n') => self.at += 2,
                c if c != '\n' && is_before_pattern(&command.words) => {
                    let pattern = self.pattern();
                    command.words.push(pattern);
                }
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
                '|' if self.peek_second() != Some('|') => {
                    self.at += 1;
                    self.reads_group |= command.words.is_empty();
                    command.is_piped = true;
                    self.flush(&mut command);
                }
                ';' if matches!(self.peek_second(), Some(';' | '&')) => {
                    while self.peek().is_some_and(|c| matches!(c, ';' | '&')) {
                        self.at += 1;
                    }
                    self.flush(&mut command);
                    self.skip_patterns();
                }
                ';' | '&' | '|' => {
                    self.at += 1 + usize::from(c == '|');
                    self.flush(&mut command);
                }
                '(' if self.skip_sum(command.words.last().is_some_and(|word| word == "for")) => {}
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
                _ => {
                    self.word_or_descriptor(&mut command);
                    if begins_choice(&command.words) {
                        self.flush(&mut command);
                        self.skip_patterns();
                    }
                }
            }
        }
        self.flush(&mut command);
    }

    /// Passes by the patterns of a branch of `case`, up to the parenthesis behind them; none stand where it ends.
    fn skip_patterns(&mut self) {
        let start = self.at;
        loop {
            match self.peek() {
                Some('#') => self.skip_line(),
                Some(c) if c.is_whitespace() => self.at += 1,
                _ => break,
            }
        }
        let rest: String = self.chars[self.at..].iter().take(4).collect();
        let mut quote = None;
        let end = self.at + NEAR;
        while let Some(c) = self.peek().filter(|_| rest != "esac" && self.at < end) {
            self.at += 1;
            match (c, quote) {
                ('\\', None | Some('"')) => self.at += 1,
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                (')', None) => return,
                ('\n' | ';' | '&' | '<' | '>', None) => break,
                _ => {}
            }
        }
        // There is no such thing.
        self.at = start;
    }

    /// Passes by a sum, `((n += 1))`, the cursor on a parenthesis; by three of them behind `for`. What may be commands in two
    /// subshells is none.
    fn skip_sum(&mut self, is_of_loop: bool) -> bool {
        let Some(['(', '(', rest @ ..]) = self.chars.get(self.at..) else {
            return false;
        };
        let is_one = |end: &usize| is_of_loop || is_sum(&rest[..*end]);
        let Some(end) = end_of_sum(rest, is_of_loop).filter(is_one) else {
            return false;
        };
        self.at += end + 4;
        true
    }

    fn flush(&mut self, command: &mut Command) {
        let mut command = std::mem::take(command);
        command.depth = self.depth;
        if !command.words.is_empty() {
            self.known.command(&command.words);
            self.items.push(Item::Command(command));
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_heredocs(&mut self) {
        for here in std::mem::take(&mut self.heredocs) {
            let mut text = String::new();
            while self.peek().is_some() {
                let start = self.at;
                self.skip_line();
                let line: String = self.chars[start..self.at].iter().collect();
                self.next();
                let line = match here.strips_tabs {
                    true => line.trim_start_matches('\t'),
                    false => &line,
                };
                if line == here.delimiter {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if !here.is_quoted {
                self.expand_text(&text);
            }
            let is_verbatim = here.is_quoted || !text.contains(['$', '`', '\\']);
            self.texts.push((text, is_verbatim));
        }
    }

    /// Reads the substitutions of a here-document, in which quotes are text.
    fn expand_text(&mut self, text: &str) {
        if self.depth >= MAX_DEPTH || !text.contains(['$', '`']) {
            return;
        }
        let mut inner = Lexer::new(text, self.depth + 1);
        inner.known.clone_from(&self.known);
        let mut word = String::new();
        while let Some(c) = inner.peek() {
            match c {
                '$' => inner.expansion(&mut word),
                '`' => inner.backticks(&mut word),
                '\\' => inner.at += 2,
                _ => inner.at += 1,
            }
        }
        self.written.append(&mut inner.written);
        self.reads_group |= inner.reads_group;
        let mut items = inner.finished();
        for item in &mut items {
            if let Item::Command(command) = item {
                command.is_kept = true;
            }
        }
        self.items.append(&mut items);
    }

    fn word_or_descriptor(&mut self, command: &mut Command) {
        let start = self.at;
        let word = self.word();
        let is_number = self.chars[start..self.at].iter().all(char::is_ascii_digit);
        match self.peek() {
            Some('<' | '>') if is_number => self.redirect(Some(word), command),
            _ if self.is_all_arguments(start) => {
                command.words.extend_from_slice(self.known.arguments());
            }
            _ if word.contains(BRACE) && !is_assignment(&word) => {
                let words = braces::words(&word.replace(SPLIT, " "));
                command.words.extend(words);
            }
            _ if is_assignment(&word) || !word.contains(SPLIT) => {
                let word = braces::literal(&word.replace(SPLIT, " "));
                self.known.word(&word);
                command.words.push(word);
            }
            _ => {
                let parts = word.split(SPLIT).filter(|part| !part.is_empty());
                command.words.extend(parts.map(str::to_owned));
            }
        }
    }

    /// Says whether the word read from here stands for all arguments, which are known.
    fn is_all_arguments(&self, start: usize) -> bool {
        let is_expansion = matches!(self.chars.get(start), Some('$' | '"'));
        let is_short = is_expansion && self.at - start <= 6 && !self.known.arguments().is_empty();
        is_short && {
            let word: String = self.chars[start..self.at].iter().collect();
            matches!(word.trim_matches('"'), "$@" | "$*" | "${@}" | "${*}")
        }
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
        let start = self.at;
        let target = braces::literal(&self.word().replace(SPLIT, " "));
        // In a test of bash it compares.
        let is_test = command.words.iter().any(|word| word == "[[")
            && !command.words.iter().any(|word| word == "]]");
        let is_descriptor =
            operator.ends_with('&') && target.chars().all(|c| c.is_ascii_digit() || c == '-');
        if operator.contains('>') && !is_test && !is_descriptor {
            self.written.push(target.clone());
        }
        let is_number = |wanted| descriptor.as_deref().is_none_or(|number| number == wanted);
        match operator.as_str() {
            "<" if is_number("0") => command.stdin = Some(target),
            "<" => {
                let number = descriptor.unwrap_or_default();
                self.known.open(number, target);
            }
            "<&" if is_number("0") => {
                if let Some(file) = self.known.opened(&target) {
                    command.stdin = Some(file);
                }
            }
            "<<" => {
                command.here = Some(self.texts.len() + self.heredocs.len());
                let is_quoted = self.chars[start..self.at]
                    .iter()
                    .any(|c| "'\"\\".contains(*c));
                self.heredocs.push(HereDocument {
                    delimiter: target,
                    strips_tabs,
                    is_quoted,
                });
            }
            "<<<" => {
                command.is_verbatim = !target.contains([UNKNOWN, SELF, EACH, PRINTED]);
                command.text = Some(target);
            }
            ">" | ">>" | ">|" if is_number("1") => {
                self.reads_group |= command.words.is_empty();
                command.is_kept |= target != "/dev/null";
            }
            _ => {}
        }
    }

    /// Reads one word, which may be empty if the cursor is not on one.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            match c {
                '(' if is_assigned(&word) => self.array(),
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
                '$' => {
                    let before = word.len();
                    self.expansion(&mut word);
                    if word[before..].contains(' ') {
                        let value = word.split_off(before);
                        word.push_str(&value.replace(' ', &SPLIT.to_string()));
                    }
                }
                '`' => self.backticks(&mut word),
                '{' => self.braces(&mut word),
                c => {
                    self.at += 1;
                    word.push(c);
                }
            }
        }
        word
    }

    /// Reads a pattern of bash, `^(a|b)`, in which parentheses and bars begin and end no command.
    fn pattern(&mut self) -> String {
        let mut pattern = String::new();
        let mut open = 0_usize;
        while let Some(c) = self.peek() {
            match c {
                '\n' => break,
                ' ' | '\t' | '\r' | ';' | '&' if open == 0 => break,
                '(' | ')' | '|' | '<' | '>' | ' ' | '\t' | '\r' | ';' | '&' => {
                    open += usize::from(c == '(');
                    open = open.saturating_sub(usize::from(c == ')'));
                    self.at += 1;
                    pattern.push(c);
                }
                _ => {
                    let start = self.at;
                    pattern.push_str(&self.word());
                    // Nothing is read twice.
                    self.at = self.at.max(start + 1);
                }
            }
        }
        pattern
    }

    /// Reads the values of an array, the cursor on the parenthesis before them.
    fn array(&mut self) {
        self.at += 1;
        while let Some(c) = self.peek() {
            if c == ')' {
                self.at += 1;
                return;
            }
            if self.word().is_empty() {
                self.at += 1;
            }
        }
    }

    /// Reads braces, the cursor on the first; those that stand for several words are marked.
    fn braces(&mut self, word: &mut String) {
        self.at += 1;
        let rest = &self.chars[self.at..];
        let Some(end) = braces::end_of(rest) else {
            word.push('{');
            return;
        };
        word.push(BRACE);
        word.extend(&rest[..end]);
        word.push(BRACE);
        self.at += end + 1;
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
            Some('(') if self.skip_sum(false) => None,
            Some('(') => {
                self.at += 1;
                let before = self.items.len();
                self.substitution();
                let end = self.at.saturating_sub(1).max(start + 1);
                let code: String = self.chars[start + 1..end].iter().collect();
                substituted(&self.items[before..], &code)
            }
            Some('{') => {
                self.parameter();
                let name: String = self.chars[start..self.at].iter().collect();
                self.known.value(name.trim_matches(['{', '}']))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self
                    .peek()
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.at += 1;
                }
                let name: String = self.chars[start..self.at].iter().collect();
                self.known.value(&name)
            }
            Some(c @ ('0'..='9' | '?' | '@' | '*' | '#' | '$' | '!' | '-')) => {
                self.at += 1;
                self.known.value(&c.to_string())
            }
            _ => None,
        };
        push_value(word, value);
    }

    /// Reads a parameter in braces with what stands in for it, the cursor on the first brace.
    fn parameter(&mut self) {
        self.at += 1;
        if self.depth >= MAX_DEPTH {
            self.at = self.chars.len();
            return;
        }
        self.depth += 1;
        let mut inside = String::new();
        while let Some(c) = self.peek() {
            match (c, self.chars.get(self.at + 2)) {
                ('$', _) => self.expansion(&mut inside),
                ('`', _) => self.backticks(&mut inside),
                ('"', _) => {
                    self.at += 1;
                    self.double_quoted(&mut inside);
                }
                ('\\', _) => self.at += 2,
                // One sign in quotes is that.
                ('\'', Some('\'')) => self.at += 3,
                _ => self.at += 1,
            }
            if c == '}' {
                break;
            }
        }
        self.at = self.at.min(self.chars.len());
        self.depth -= 1;
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
        inner.known.clone_from(&self.known);
        inner.list(false);
        self.written.append(&mut inner.written);
        self.reads_group |= inner.reads_group;
        let mut items = vec![Item::Open];
        items.append(&mut inner.finished());
        items.push(Item::Close);
        push_value(word, substituted(&items, &code));
        self.items.append(&mut items);
    }
}

/// Says whether what follows the words of a command is a pattern of bash: `[[ $a =~`.
fn is_before_pattern(words: &[String]) -> bool {
    words.last().is_some_and(|word| word == "=~") && words.iter().any(|word| word == "[[")
}

/// Says whether the words of a command are those before the branches of a choice.
fn begins_choice(words: &[String]) -> bool {
    let before = [
        "!", "{", "if", "then", "elif", "else", "while", "until", "do",
    ];
    let skip = words
        .iter()
        .take_while(|word| before.contains(&word.as_str()));
    matches!(&words[skip.count()..], [case, _, word] if case == "case" && word == "in")
}

/// Returns where the two parentheses stand that close a sum; none where there are commands in it.
fn end_of_sum(text: &[char], is_of_loop: bool) -> Option<usize> {
    let mut open = 0_usize;
    let mut before = ' ';
    for (at, c) in text.iter().take(NEAR).enumerate() {
        match c {
            '(' if before == '$' => return None,
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' => return (text.get(at + 1) == Some(&')')).then_some(at),
            ';' if is_of_loop => {}
            '\'' | '"' | '`' | ';' | '\n' => return None,
            _ => {}
        }
        before = *c;
    }
    None
}

/// Says whether a text begins as sums do: with a number, a sign, a value, or a name that stands alone or before an operator.
fn is_sum(text: &[char]) -> bool {
    let text: String = text.iter().collect();
    let text = text.trim_start_matches([' ', '(', '!', '-', '+', '~']);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let behind = text.trim_start_matches(is_of_name);
    let name = &text[..text.len() - behind.len()];
    let goes_on = behind.trim_start();
    match () {
        () if text.starts_with('$') || text.starts_with(|c: char| c.is_ascii_digit()) => true,
        () if name.is_empty() => false,
        () if goes_on.is_empty() => true,
        // An option of a command stands close behind its dash.
        () if goes_on.starts_with(['-', '/']) && behind != goes_on => {
            goes_on[1..].starts_with([' ', '=', '-', '('])
        }
        () => goes_on.starts_with(|c: char| "+-*/%<>=!&|^?:,[)".contains(c)),
    }
}

/// Says whether a word is `name=` or `name+=`, as in front of the values of an array.
fn is_assigned(word: &str) -> bool {
    let name = word.strip_suffix('=').unwrap_or_default();
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_of_name)
}
