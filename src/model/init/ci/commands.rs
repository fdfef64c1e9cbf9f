//! The commands of one line. Pure.

/// Says whether a quote is open where a line ends.
pub(super) fn spans_lines(script: &str) -> bool {
    let mut quote = None;
    let mut before = '\n';
    let mut is_escaped = false;
    let mut is_note = false;
    for c in script.chars() {
        let was_escaped = std::mem::replace(&mut is_escaped, false);
        match (c, quote) {
            ('\n', Some(_)) => return true,
            ('\n', None) => is_note = false,
            _ if was_escaped || is_note => {}
            ('\\', None | Some('"')) => is_escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('#', None) => is_note = before.is_whitespace(),
            _ => {}
        }
        before = c;
    }
    false
}

/// Splits a line where one command ends and the next begins, outside of quotes.
pub(super) fn commands_of(line: &str) -> Vec<&str> {
    let mut quote = None;
    let mut is_escaped = false;
    let is_between = |c: char| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match (c, quote) {
            _ if was_escaped => false,
            ('\'' | '"', None) => {
                quote = Some(c);
                false
            }
            (c, Some(open)) if c == open => {
                quote = None;
                false
            }
            (c, None) => "|&;".contains(c),
            (_, Some(_)) => false,
        }
    };
    let parts = line.split(is_between).map(str::trim);
    // `2>&1` is no end of a command.
    let is_command = |part: &&str| !part.is_empty() && !part.chars().all(|c| c.is_ascii_digit());
    parts.filter(is_command).collect()
}

/// Splits a line into the parts of its list, each with what stands behind it: `&&`, `;` or nothing. What stands in quotes, parentheses
/// or braces is of one part.
pub(super) fn parts_of(line: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let (mut quote, mut is_escaped, mut depth, mut begin) = (None, false, 0_usize, 0);
    for (at, c) in line.char_indices() {
        let was_escaped = std::mem::replace(&mut is_escaped, false);
        let end = match (c, quote) {
            _ if was_escaped || at < begin => None,
            ('\\', None | Some('"')) => {
                is_escaped = true;
                None
            }
            ('\'' | '"' | '`', None) => {
                quote = Some(c);
                None
            }
            (c, Some(open)) if c == open => {
                quote = None;
                None
            }
            ('(' | '{', None) => {
                depth += 1;
                None
            }
            (')' | '}', None) => {
                depth = depth.saturating_sub(1);
                None
            }
            ('&', None) if depth == 0 && line[at..].starts_with("&&") => Some("&&"),
            (';', None) if depth == 0 => Some(";"),
            _ => None,
        };
        if let Some(end) = end {
            parts.push((line[begin..at].trim(), end));
            begin = at + end.len();
        }
    }
    parts.push((line[begin..].trim(), ""));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}
