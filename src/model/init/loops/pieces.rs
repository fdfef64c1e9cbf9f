//! A shell's text as its simple commands, each with what ends it. Quotes, substitutions and here-documents stay as they are. Pure.

/// How deep quotes and substitutions are followed that stand in each other.
const DEEPEST: usize = 40;

/// What ends a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// The end of a line, `;` or `&`.
    #[default]
    Line,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// A command as it is written, without what ends it.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    pub text: String,
    pub end: End,
}

/// Takes a text apart.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut scanner = Scanner {
        rest: text,
        text: String::new(),
        found: Vec::new(),
        documents: Vec::new(),
    };
    scanner.run();
    scanner.found
}

struct Scanner<'t> {
    rest: &'t str,
    text: String,
    found: Vec<Piece>,
    /// The lines that end the here-documents which begin below this line.
    documents: Vec<String>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            let is_new_word = self.text.is_empty() || self.text.ends_with([' ', '\t']);
            let in_test = self.text.trim_start().starts_with("[[")
                && !self.text.ends_with("]]")
                && !self.text.contains("]] ");
            match c {
                '\\' if self.rest.starts_with("\\\n") => {
                    self.rest = &self.rest[2..];
                    self.text.push(' ');
                }
                '\\' => {
                    let escaped = self.rest.chars().nth(1).map_or(1, |c| 1 + c.len_utf8());
                    self.keep(escaped);
                }
                '\'' => {
                    let inside = self.rest[1..].find('\'');
                    self.keep(inside.map_or(self.rest.len(), |at| at + 2));
                }
                '"' | '`' => self.keep(quoted(self.rest, 0)),
                '$' if self.rest.starts_with("$(") || self.rest.starts_with("${") => {
                    self.keep(1 + enclosed(&self.rest[1..], 0));
                }
                '#' if is_new_word => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                '<' if self.rest.starts_with("<<") && !self.rest.starts_with("<<<") => {
                    self.document();
                }
                '<' | '>' if self.rest[1..].starts_with('(') => {
                    self.keep(1 + enclosed(&self.rest[1..], 0));
                }
                '<' | '>' | '&'
                    if self.rest[1..].starts_with(['&', '>']) && !self.rest.starts_with("&&") =>
                {
                    self.keep(2);
                }
                '(' if self.rest.starts_with("((") && is_new_word => {
                    self.keep(enclosed(self.rest, 0));
                }
                '(' if self.rest.starts_with("()") || self.rest.starts_with("( )") => {
                    let end = self.rest.find(')').unwrap_or_default();
                    let name = self.text.trim_end().to_owned();
                    self.text = format!("{name}()");
                    self.rest = &self.rest[end + 1..];
                    self.finish(End::Line);
                }
                '(' if is_new_word && !in_test => {
                    self.finish(End::Line);
                    self.text.push('(');
                    self.rest = &self.rest[1..];
                    self.finish(End::Line);
                }
                ')' if !in_test => {
                    self.finish(End::Line);
                    self.keep(1);
                    self.text.push(' ');
                }
                '&' | '|' | ';' | '\n' if !in_test => self.separate(c),
                ' ' | '\t' | '\r' if self.text.is_empty() => self.rest = &self.rest[1..],
                c => self.keep(c.len_utf8()),
            }
        }
        self.finish(End::Line);
    }

    /// Takes so many bytes as they stand.
    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.text.push_str(kept);
        self.rest = rest;
    }

    fn finish(&mut self, end: End) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        if !text.is_empty() {
            self.found.push(Piece {
                text: text.to_owned(),
                end,
            });
        }
    }

    fn separate(&mut self, c: char) {
        let (end, length) = match c {
            '&' if self.rest.starts_with("&&") => (End::And, 2),
            '|' if self.rest.starts_with("||") => (End::Or, 2),
            '|' => (End::Pipe, 1),
            _ => (End::Line, 1),
        };
        self.finish(end);
        self.rest = &self.rest[length..];
        if c == '\n' {
            for end in std::mem::take(&mut self.documents) {
                self.pass_document(&end);
            }
        }
        // What goes on in the next line is of the same list.
        if end != End::Line {
            self.rest = self.rest.trim_start();
        }
    }

    /// Takes the beginning of a here-document.
    fn document(&mut self) {
        let behind = self.rest[2..]
            .trim_start_matches('-')
            .trim_start_matches([' ', '\t']);
        let is_of_word = |c: char| c.is_alphanumeric() || "_'\"\\-.".contains(c);
        let end = behind.find(|c| !is_of_word(c)).unwrap_or(behind.len());
        let word = behind[..end].replace(['\'', '"', '\\'], "");
        self.rest = &behind[end..];
        if !word.is_empty() {
            self.documents.push(word);
        }
    }

    fn pass_document(&mut self, end: &str) {
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            if line.trim_start_matches('\t') == end {
                break;
            }
        }
    }
}

/// Returns how long a text in double quotes or backquotes is that begins here.
fn quoted(text: &str, depth: usize) -> usize {
    let open = text.chars().next().unwrap_or('"');
    let mut at = 1;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            c if c == open => return at + 1,
            '$' if open == '"' && text[at..].starts_with("$(") => {
                at += 1 + enclosed(&text[at + 1..], depth + 1)
            }
            c => at += c.len_utf8(),
        }
    }
    text.len()
}

/// Returns how long what stands in the parentheses or braces is that begin here.
fn enclosed(text: &str, level: usize) -> usize {
    if level > DEEPEST {
        return text.len();
    }
    let (open, close) = match text.chars().next() {
        Some('{') => ('{', '}'),
        _ => ('(', ')'),
    };
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '\'' if open == '(' => {
                let inside = text[at + 1..].find('\'');
                at = inside.map_or(text.len(), |end| at + end + 2);
            }
            '"' => at += quoted(&text[at..], level),
            c => {
                at += c.len_utf8();
                depth += usize::from(c == open);
                if c == close {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_end_outside_of_quotes_and_substitutions() {
        let text = "a \"b; $(c \"d;\" | e)\" && ! f 2>&1 | g 'h;' # i; j\n\
            k() { l \\\n m; } >o\ncat <<X | n\n p; q\nX\n[[ r && s ]] ||\n t & ((u = 1 | 2)); ( v ) | w\n${x//;/} é";
        let shown: Vec<String> = pieces(text)
            .iter()
            .map(|it| format!("{} {:?}", it.text, it.end))
            .collect();
        assert_eq!(
            shown,
            [
                "a \"b; $(c \"d;\" | e)\" And",
                "! f 2>&1 Pipe",
                "g 'h;' Line",
                "k() Line",
                "{ l   m Line",
                "} >o Line",
                "cat Pipe",
                "n Line",
                "[[ r && s ]] Or",
                "t Line",
                "((u = 1 | 2)) Line",
                "( Line",
                "v Line",
                ") Pipe",
                "w Line",
                "${x//;/} é Line",
            ]
        );
        let deep = "\"$(".repeat(20_000);
        let blank = " ".repeat(100_000);
        for odd in [
            &deep, &blank, "\"", "'", "$(", "${", "`", "\\", "<<", "<<X\n", "((", "é\\é", "$(\"",
            "[[ a", "<(", ">", "&", "()",
        ] {
            pieces(odd);
            pieces(&format!("for f in {odd}; do {odd}"));
        }
    }
}
