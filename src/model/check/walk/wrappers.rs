//! Functions of a shell that run what they are handed: `run() { echo "+ $*"; "$@"; }`. Pure.

/// A function that runs its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Its name.
    pub name: String,
    /// How many of its arguments it takes for itself, the first.
    pub taken: usize,
}

/// How many bytes of a function's body are looked at.
const LONGEST: usize = 2 << 10;
/// What stands for all arguments.
const ALL: [&str; 3] = ["\"$@\"", "\"${@}\"", "$@"];
/// What stands in front of a command.
const BEFORE: [&str; 14] = [
    ";", "{", "(", "&", "|", "!", "if", "then", "else", "do", "time", "exec", "command", "while",
];

/// Returns the functions of a shell text that run their arguments.
pub fn wrappers(text: &str) -> Vec<Wrapper> {
    let mut found = Vec::new();
    let mut rest = text;
    // Most texts have none.
    if !ALL.iter().any(|all| text.contains(all)) {
        return found;
    }
    while let Some(at) = rest.find('{') {
        let (before, body) = (&rest[..at], &rest[at + 1..]);
        rest = body;
        let Some(name) = defined(before) else {
            continue;
        };
        let body = &body[..end(body)];
        let runs = |all: &str| {
            let mut places = body.match_indices(all).map(|(at, _)| at);
            places.find(|at| begins_command(&body[..*at]))
        };
        if let Some(at) = ALL.iter().find_map(|all| runs(all)) {
            let words = body[..at].split(|c: char| c.is_whitespace() || c == ';');
            found.push(Wrapper {
                name: name.to_owned(),
                taken: words.filter(|word| *word == "shift").count(),
            });
        }
    }
    found
}

/// Returns the name of the function whose body begins behind this text.
fn defined(before: &str) -> Option<&str> {
    let before = before.trim_end();
    let head = before.strip_suffix(')').map(str::trim_end);
    let head = head
        .and_then(|head| head.strip_suffix('('))
        .map(str::trim_end);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    let name = |text: &str| {
        let mut before = text.char_indices().rev();
        let other = before.find(|(_, c)| !is_name(*c));
        other.map_or(0, |(at, c)| at + c.len_utf8())
    };
    match head {
        Some(head) => Some(&head[name(head)..]),
        None => {
            let from = name(before);
            let is_function = before[..from].trim_end().ends_with("function");
            is_function.then_some(&before[from..])
        }
    }
    .filter(|name| !name.is_empty())
}

/// Returns where a function's body ends, or as much of it as is looked at.
fn end(body: &str) -> usize {
    let mut depth = 1_usize;
    for (at, c) in body.char_indices() {
        if at >= LONGEST {
            return at;
        }
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    body.len()
}

/// Says whether what follows this text is a command.
fn begins_command(before: &str) -> bool {
    let line = before.trim_end_matches([' ', '\t']);
    let word = line.rsplit(|c: char| c.is_whitespace() || ";{(&|".contains(c));
    line.is_empty()
        || line.ends_with(['\n', ';', '{', '(', '&', '|'])
        || word.take(1).any(|word| BEFORE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_runs_its_arguments_is_told_from_one_that_only_has_them() {
        for (text, expected) in [
            ("run() { echo \"+ $*\"; \"$@\"; }", "run 0"),
            ("run () {\n  echo \"$@\"\n  \"$@\" || exit 1\n}\n", "run 0"),
            ("function step {\n  if ! $@; then exit 1; fi\n}", "step 0"),
            ("function step() { time \"${@}\"; }", "step 0"),
            (
                "named() { local what=$1; shift; ${what:+true}; \"$@\"; }",
                "named 1",
            ),
            ("log() { echo \"$@\" >&2; }", ""),
            ("a() { b; }\n{ \"$@\"; }", ""),
            ("die() { printf '%s' \"$*\"; exit 1; }", ""),
            ("a() { { \"$@\"; }; }", "a 0"),
            ("{", ""),
            ("ä{$@", ""),
            ("ä() { $@; }", ""),
        ] {
            let found = wrappers(text);
            let shown = found
                .iter()
                .map(|one| format!("{} {}", one.name, one.taken));
            assert_eq!(shown.collect::<Vec<_>>().join(", "), expected, "{text}");
        }
    }
}
